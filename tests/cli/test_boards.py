"""Ranks of several tasks on the command line: one answer, what it refuses, and ordinary ranks of a single collection."""

import json
import re

import numpy as np
import pytest

from tests.cli.conftest import make_log

RANKS = "ranks board.csv --columns collection=task,ignore=category --all-higher-is-better"


@pytest.fixture
def board(here):
    """A table of five tasks in two categories; run d lacks one of them, and run c a topic."""
    rng = np.random.default_rng(0)
    rows = ["model,category,task,item,accuracy"]
    for number, task in enumerate(("sums", "proofs", "verbs", "nouns", "rhymes")):
        for run, quality in zip("abcd", (0.9, 0.6, 0.5, 0.1), strict=True):
            rows += [
                f"{run},{'maths' if number < 2 else 'words'},{task},{task}{item},{int(rng.random() < quality)}"
                for item in range(12)
                if not (run == "d" and task == "verbs") and not (run == "c" and task == "sums" and item == 3)
            ]
    (here / "board.csv").write_text("\n".join(rows) + "\n")


@pytest.mark.usefixtures("board")
def test_several_tasks_have_one_answer_and_options_of_boards_reach_it(ok):
    out, err = ok(f"{RANKS} --missing present")
    assert out.startswith("a is first by mean of tasks (accuracy, higher is better).")
    assert "topics resampled" in out
    assert "1 lack some topics and 1 lack all topics" in err
    assert " ".join(out.split()).count("may be") == 2  # in the sentence, and above the column
    words = "--missing complete --aggregate borda --format json"
    found = json.loads(ok(f"{RANKS} {words}")[0])
    assert found["result"] == "BoardRanks"
    assert [row["run"] for row in found["rows"]] == ["a", "b"]
    assert "aggregate borda" in found["signature"]


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            f"{RANKS} --missing present --test max-t",
            "--test does nothing for several tasks: --bootstrap resamples topics",
        ),
        (f"{RANKS} --missing present -B 50", " does nothing for several tasks: --bootstrap resamples topics"),
        (f"{RANKS} --missing present --correction none", "--correction does nothing for several tasks"),
        (f"{RANKS} --missing some", "there is no policy 'some'"),
        (RANKS, "--missing present or complete keeps gaps"),
        (f"{RANKS} --missing keep".replace("ranks", "power"), "1 score is missing"),
    ],
)
def test_what_a_board_refuses_is_one_sentence_and_others_refuse_gaps_that_were_kept(refused, line, message):
    assert message in refused(line)


LOGS = {"a": ("a", 18, "arc"), "b": ("b", 36, "arc"), "again": ("b", 35, "arc")}
LOGS |= {"a2": ("a", 20, "mmlu"), "b2": ("b", 30, "mmlu")}
"""Logs of Inspect: the model, how many of 40 answers are right, and the task."""


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ("a.json b.json", r"b is better than a by choice \(0.45 \[.* Differences of runs in their means"),
        ("b.json again.json", r"It is open whether b \(b\) is better than b \(again\) by choice \(0.025 \["),
        ("a.json b.json a2.json b2.json", ".*2 tasks, 80 topics"),
        ("gpt.jsonl llama.jsonl", "gpt is better than llama by correct"),
        ("gsm.csv arc.csv", ".*2 tasks, 6 topics"),
    ],
)
def test_files_on_the_same_items_are_runs_and_files_of_several_tasks_a_board(ok, here, sources, said):
    """Logs of models, tables of items that name no run and are called after their files, and tables of scores."""
    rng = np.random.default_rng(2)
    for name, (model, right, task) in LOGS.items():
        grades = {f"{task}{item}": {"choice": "C" if item < right else "I"} for item in range(40)}
        (here / f"{name}.json").write_text(make_log(grades, model=model, task=task))
    for name, share in (("gpt", 0.9), ("llama", 0.3)):
        rows = [json.dumps({"id": f"q{item}", "correct": int(rng.random() < share)}) for item in range(60)]
        (here / f"{name}.jsonl").write_text("\n".join(rows))
    for name in ("gsm", "arc"):
        (here / f"{name}.csv").write_text("run,topic,accuracy\na,1,1\na,2,1\na,3,0\nb,1,0\nb,2,1\nb,3,0\n")
    out, _ = ok(f"ranks {sources}")
    assert re.match(said, " ".join(out.split()))
