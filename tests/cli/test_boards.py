"""Ranks of several tasks on the command line: one answer, what it refuses, and ordinary ranks of a single collection."""

import json
from pathlib import Path

import numpy as np
import pytest


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


RANKS = "ranks board.csv --columns collection=task,ignore=category --all-higher-is-better"


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


def test_files_are_tasks(ok, here):
    for name in ("gsm", "arc"):
        (here / f"{name}.csv").write_text("run,topic,accuracy\na,1,1\na,2,1\na,3,0\nb,1,0\nb,2,1\nb,3,0\n")
    assert "2 tasks, 6 topics" in " ".join(ok("ranks gsm.csv arc.csv")[0].split())


REFUSED = {
    "--missing present --test max-t": "--test does nothing for a board of tasks",
    "--missing some": "there is no policy 'some'",
    "": "--missing present or complete keeps gaps",
}


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        *((f"{RANKS} {words}", message) for words, message in REFUSED.items()),
        (f"{RANKS} --missing keep".replace("ranks", "power"), "1 score is missing"),
    ],
)
def test_what_a_board_refuses_is_one_sentence_and_others_refuse_gaps_that_were_kept(refused, line, message):
    assert message in refused(line)


def write_log(name, model, right, task="arc"):
    """Write a log of Inspect with so many right answers of 40."""
    samples = [
        {"id": f"{task}{item}", "epoch": 1, "scores": {"choice": {"value": "C" if item < right else "I"}}}
        for item in range(40)
    ]
    log = {"version": 2, "status": "success", "eval": {"task": task, "model": model}, "samples": samples}
    Path(f"{name}.json").write_text(json.dumps(log))


@pytest.mark.usefixtures("here")
def test_logs_on_the_same_items_are_runs_and_logs_of_several_tasks_a_board(ok):
    for name, *log in (
        ("a", "a", 18),
        ("b", "b", 36),
        ("again", "b", 35),
        ("a2", "a", 20, "mmlu"),
        ("b2", "b", 30, "mmlu"),
    ):
        write_log(name, *log)
    out, _ = ok("ranks a.json b.json")
    assert out.startswith("b is better than a by choice (0.45 [")
    assert "Differences of runs in their means" in out
    out, _ = ok("ranks b.json again.json")
    assert "It is open whether b (b) is better than b (again) by choice (0.025 [" in " ".join(out.split())
    assert "2 tasks, 80 topics" in " ".join(ok("ranks a.json b.json a2.json b2.json")[0].split())


def test_two_tables_of_items_that_name_no_run_are_runs_called_after_their_files(ok, here):
    rng = np.random.default_rng(2)
    for name, share in (("gpt", 0.9), ("llama", 0.3)):
        rows = [json.dumps({"id": f"q{item}", "correct": int(rng.random() < share)}) for item in range(60)]
        (here / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    assert ok("ranks gpt.jsonl llama.jsonl")[0].startswith("gpt is better than llama by correct")
