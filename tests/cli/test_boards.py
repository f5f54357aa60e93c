"""Ranks of several tasks on the command line: one answer, what it refuses, and ordinary ranks of a single collection."""

import json

import numpy as np
import pytest


@pytest.fixture
def board(tmp_path):
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
    path = tmp_path / "board.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


COLUMNS = ("--columns", "collection=task,ignore=category", "--all-higher-is-better")


def test_several_tasks_have_one_answer(run, board):
    status, out, err = run("ranks", board, *COLUMNS, "--missing", "present")
    assert status == 0, err
    assert out.startswith("a is first by mean of tasks.")
    assert "topics resampled" in out
    assert "1 lack some topics and 1 lack all topics" in err
    assert out.count("may be") == 2  # in the sentence, and above the column


def test_options_of_boards_reach_them(run, board):
    words = ("--missing", "complete", "--over", "tasks", "--aggregate", "borda", "--task-weights", "sums=2,nouns=0.5")
    status, out, err = run("ranks", board, *COLUMNS, *words, "--format", "json")
    assert status == 0, err
    found = json.loads(out)
    assert found["result"] == "BoardRanks"
    assert [row["run"] for row in found["rows"]] == ["a", "b"]
    assert "weights nouns 0.5, sums 2" in found["signature"]
    words = ("--columns", "collection=category+task", "--categories", "--missing", "present")
    status, out, err = run("ranks", board, *words, "--all-higher-is-better")
    assert status == 0, err


def test_files_are_tasks(run, tmp_path):
    for name in ("gsm", "arc"):
        (tmp_path / f"{name}.csv").write_text("run,topic,accuracy\na,1,1\na,2,1\na,3,0\nb,1,0\nb,2,1\nb,3,0\n")
    status, out, err = run("ranks", tmp_path / "gsm.csv", tmp_path / "arc.csv")
    assert status == 0, err
    assert "2 tasks, 6 topics" in " ".join(out.split())


REFUSED = {
    "--missing present --test max-t": "--test does nothing for a board of tasks",
    "--missing present --task-weights nix=2": "no task 'nix' to weigh",
    "--missing present --task-weights sums": "--task-weights sums: names with numbers, such as",
    "--missing present --task-weights sums=-1": "the weight of sums is -1.0",
    "--missing some": "there is no policy 'some'",
    "--missing present --categories": "--columns collection=category+task",
    "": "--missing present or complete keeps gaps",
}


@pytest.mark.parametrize("words", [*REFUSED, "--columns ignore=category+task --over tasks --missing present"])
def test_what_a_board_refuses_is_one_sentence(run, board, words):
    status, out, err = run("ranks", board, *(COLUMNS if words in REFUSED else ()), *words.split())
    assert (status, out) == (2, "")
    assert REFUSED.get(words, "--columns collection=NAME") in err.splitlines()[-1]


def test_other_commands_refuse_gaps_that_were_kept(run, board):
    status, _, err = run("power", board, *COLUMNS, "--missing", "keep")
    assert status == 2
    assert "1 score is missing" in err.splitlines()[-1]


def write_log(path, model, right, task="arc"):
    """Write a log of Inspect with so many right answers of 40."""
    samples = [
        {"id": str(item), "epoch": 1, "scores": {"choice": {"value": "C" if item < right else "I"}}}
        for item in range(40)
    ]
    log = {"version": 2, "status": "success", "eval": {"task": task, "model": model}, "samples": samples}
    path.write_text(json.dumps(log))
    return path


def test_two_logs_on_the_same_items_are_two_runs(run, tmp_path):
    logs = [write_log(tmp_path / f"{name}.json", name, right) for name, right in (("a", 18), ("b", 36))]
    status, out, err = run("ranks", *logs)
    assert status == 0, err
    assert out.startswith("b is better than a by choice (0.45 [")
    assert "Differences of runs in their means" in out
    again = write_log(tmp_path / "again.json", "b", 35)
    status, out, err = run("ranks", logs[1], again)
    assert status == 0, err
    assert "It is open whether b (b) is better than b (again) by choice (0.025 [" in " ".join(out.split())
    other = write_log(tmp_path / "other.json", "a", 20, task="mmlu")
    other.write_text(other.read_text().replace('"id": "', '"id": "m'))
    both = write_log(tmp_path / "both.json", "b", 30, task="mmlu")
    both.write_text(both.read_text().replace('"id": "', '"id": "m'))
    status, out, err = run("ranks", *logs, other, both)
    assert status == 0, err
    assert "2 tasks, 80 topics" in " ".join(out.split())


def test_two_tables_of_items_that_name_no_run_are_runs_called_after_their_files(run, tmp_path):
    rng = np.random.default_rng(2)
    for name, share in (("gpt", 0.9), ("llama", 0.3)):
        rows = [json.dumps({"id": f"q{item}", "correct": int(rng.random() < share)}) for item in range(60)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    status, out, err = run("ranks", tmp_path / "gpt.jsonl", tmp_path / "llama.jsonl")
    assert status == 0, err
    assert out.startswith("gpt is better than llama by correct")
