"""metaeval inspect: what a file is taken for, and what is in it; and LiveBench as it was published."""

import os
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from metaeval import ScoreStore
from metaeval.io import inspect_scores

LIVEBENCH = Path(os.environ.get("METAEVAL_DATA", "")) / "evals" / "livebench" / "livebench_13012025.parquet"
needs_data = pytest.mark.skipif(not LIVEBENCH.is_file(), reason="needs evals/ in the folder that METAEVAL_DATA names")


def test_it_says_what_columns_hold_and_what_is_missing_doubled_and_assumed(ok, here):
    """Two benchmarks in one table, with a doubled cell and a missing one."""
    cells = [(m, q, task) for m in range(5) for task in ("math", "code") for q in range(8)]
    rows = [(f"m{m}", f"{task}{q}", (m * 7 + q * 3) % 11 / 10, q, task) for m, q, task in cells]
    board = pd.DataFrame(rows, columns=["model", "question_id", "score", "tstamp", "task"])
    pd.concat([board[1:], board[1:2].assign(score=0.5, tstamp=99)]).to_parquet("board.parquet")
    out, _ = ok("inspect board.parquet")
    for part in (
        "board.parquet: taken for tidy, a table with a row per score",
        "run: 'model'; topic: 'question_id'; time: 'tstamp'; scores: 'score'",
        "not used: 'task'",
        "5 runs × 16 topics × 1 measure",
        "cells without a score: 1 of 80 (1.2%)",
        "cells with several scores: 1",
    ):
        assert part in out
    # The way that is named there is the one that leads on.
    options = "--columns collection=task --doubled latest --missing drop-run"
    assert re.search(r"--columns collection=task .*?(?=[)])", out)[0] == options
    out, _ = ok(f"inspect board.parquet {options}")
    assert "math: 5 runs × 8 topics × 1 measure" in out
    assert "score (assumed: higher is better)" in out


def test_what_cannot_be_read_is_told_without_a_traceback_and_refusals_of_others_point_here(ok, refused, here):
    for content in ("", "hello world\n", "a,b\nc,d\n", "\x00\x01", "run,AP\na,0.5\nb,0.25\n"):
        (here / "my scores.csv").write_text(content)
        assert "It cannot be read as it is:" in ok("inspect 'my scores.csv'")[0]
    assert "; metaeval inspect 'my scores.csv' shows what is in it" in refused("power 'my scores.csv'")


@needs_data
def test_what_is_missing_and_doubled_is_counted_and_the_first_message_spells_out_how_to_read_it(ok, refused):
    (facts,) = inspect_scores(LIVEBENCH).collections
    assert (facts.runs, facts.topics, facts.cells) == (93, 1136, 105_648)
    assert (facts.missing, facts.doubled) == (12_614, 590)
    words = ("convert", LIVEBENCH, "store", "--to", "store")
    (options,) = re.findall(r"\(the latest, by 'tstamp': ([^)]*)\)", refused(*words))
    ok(*words, *shlex.split(options))
    assert len(ScoreStore("store").collections()) == 18
