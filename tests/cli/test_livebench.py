"""LiveBench as it was published: doubled and missing cells, tasks; one command, which the first message spells out."""

import os
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from metaeval import ScoreStore
from metaeval.errors import PolicyWarning
from metaeval.io import inspect_scores, read_collections

FILE = Path(os.environ.get("METAEVAL_DATA", "")) / "evals" / "livebench" / "livebench_13012025.parquet"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="needs evals/ in the folder that METAEVAL_DATA names")


def test_what_is_missing_and_doubled_is_counted_and_the_first_message_spells_out_how_to_read_it(ok, refused, tmp_path):
    (facts,) = inspect_scores(FILE).collections
    assert (facts.runs, facts.topics, facts.cells, facts.missing) == (93, 1136, 105_648, 12_614)
    assert facts.doubled == 590
    words = ("convert", FILE, tmp_path / "store", "--to", "store")
    (options,) = re.findall(r"\(the latest, by 'tstamp': ([^)]*)\)", refused(*words))
    ok(*words, *shlex.split(options))
    assert len(ScoreStore(tmp_path / "store").collections()) == 18


@pytest.mark.parametrize("doubled", ["latest", "mean"])
def test_every_task_holds_what_a_plain_reading_finds(doubled):
    frame = pd.read_parquet(FILE).sort_values("tstamp", kind="stable")
    cells = frame.groupby(["task", "model", "question_id"])["score"].agg("last" if doubled == "latest" else "mean")
    columns = {"collection": "task", "ignore": "turn+category"}
    with pytest.warns(PolicyWarning) as notes:
        found = read_collections(FILE, columns=columns, doubled=doubled, missing="drop-run")
    assert any("340 cells had several scores: the " in str(note.message) for note in notes)
    assert sorted(scores.collection for scores in found) == sorted(frame["task"].unique())
    for scores in found:
        table = cells[scores.collection].unstack().dropna()
        assert set(scores.runs) == set(table.index)
        assert scores.values[..., 0] == pytest.approx(table.loc[[*scores.runs], [*scores.topics]].to_numpy(), abs=1e-12)
