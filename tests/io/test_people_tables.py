"""Tables as people lay them out: two rows of names, titles above them, a sheet a measure, objects in objects."""

import json
import subprocess
import sys

import numpy as np
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import read_scores, table
from tests.io.cases import read_with_notes

openpyxl = pytest.importorskip("openpyxl", reason="workbooks need openpyxl")

TOPICS = ["t1", "t2", "t3"]
VALUES = np.random.default_rng(3).random((2, 3, 2)).round(3)  # systems × topics × measures


def lay_out(*above):
    """Rows of names above topics × (system, measure)."""
    below = [[topic, *VALUES[:, t].ravel().tolist()] for t, topic in enumerate(TOPICS)]
    return [[*row, *[""] * (5 - len(row))] for row in above] + below


ACC_RBOG = ["acc", "rbog", "acc", "rbog"]
TWO = ["", "System 1", "", "System 2"]
PLAIN = ["topic", "a", "b", "c", "d"]
SHEETS = {
    # the rows, what is read (None: what is asked), what is left out
    "names in two rows": (lay_out(TWO, ["topic", "rbog", "acc", "rbog", "acc"]), None, ""),
    "the topic above": (lay_out(["topic", *TWO[1:]], ["", "rbog", "acc", "rbog", "acc"]), None, ""),
    "as pandas writes levels": (lay_out(["measure", *ACC_RBOG], ["run", "g4", "g4", "g5", "g5"], ["topic"]), None, ""),
    "no name of a measure is known": (lay_out(["", "g4", "", "g5"], ["topic", "x", "y", "x", "y"]), None, ""),
    "a title": (lay_out(["Table 3: results"], PLAIN), PLAIN[1:], "Table 3: results"),
    "two titles": (lay_out(["Results"], ["of 2024"], PLAIN), PLAIN[1:], "Results, of 2024"),
    "a title and names in two rows": (lay_out(["Results"], TWO, ["topic", "x", "y", "x", "y"]), None, "Results"),
}  # fmt: skip


def save(rows, path):
    if path.suffix == ".csv":
        path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        return
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([cell if cell != "" else None for cell in row])
    book.save(path)


@pytest.mark.parametrize("longest", [table._LONG, -1], ids=["short", "long"])  # by the csv module, and by Arrow
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize("what", SHEETS)
def test_names_in_two_rows_are_asked_about_and_titles_are_left_out(what, suffix, longest, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_LONG", longest)
    (rows, runs, title), path, options = SHEETS[what], tmp_path / f"s_AP.{suffix}", {}
    save(rows, path)
    if runs is None:
        with pytest.raises(DataError, match="are these 4 columns as many runs, or 2 runs by 2 measures") as refused:
            read_with_notes(read_scores, path)
        assert "format=wide; else keep those of one measure, columns={'ignore': " in refused.value.hint
        options = {"format": "wide"}
    scores, notes = read_with_notes(read_scores, path, **options)
    assert runs is None or scores.runs == tuple(runs)
    assert scores.topics == tuple(TOPICS)
    np.testing.assert_array_equal(scores.values[..., 0], VALUES.transpose(0, 2, 1).reshape(4, 3))
    assert {note.partition("names of columns: ")[2] for note in notes.splitlines()} == ({title} if title else set())


@pytest.mark.parametrize("text", [",a\nx,0.5\ny,0.25\n", "topic,a,\nx,0.5,\n", "item,gold,gold\n1,no,yes\n2,yes,no\n"])
def test_no_other_header_is_taken_for_a_title_or_two_rows(text, tmp_path):
    (tmp_path / "s_AP.csv").write_text(text)
    try:
        scores = read_scores(tmp_path / "s_AP.csv")
    except DataError as error:
        assert "has no name" in str(error) or "occurs twice" in str(error)  # noqa: PT017
    else:
        assert scores.values.ravel().tolist() == [0.5, 0.25]


def write_sheets(path, *names):
    book = openpyxl.Workbook()
    for m, name in enumerate(names):
        sheet = book.create_sheet(name)
        sheet.append(["segment", "A", "B"])
        for t, topic in enumerate(TOPICS):
            sheet.append([topic, *VALUES[:, t, m].tolist()])
    del book["Sheet"]
    book.save(path)


def test_a_sheet_for_each_measure_is_read_where_names_are_of_measures_and_else_asked_for(tmp_path):
    write_sheets(tmp_path / "s.xlsx", "BLEU", "TER")
    scores = read_scores(tmp_path / "s.xlsx")
    assert [f"{measure} {measure.higher_is_better}" for measure in scores.measures] == ["BLEU True", "TER False"]
    np.testing.assert_array_equal(scores.values, VALUES)
    write_sheets(tmp_path / "u.xlsx", "helpful", "gsm 8k")
    with pytest.raises(DataError, match=r"are they measures, or other data\? \(name one .*: measure=helpful"):
        read_scores(tmp_path / "u.xlsx")
    np.testing.assert_array_equal(read_scores(tmp_path / "u.xlsx", measure="gsm 8k").values[..., 0], VALUES[..., 1])


def test_objects_in_objects_are_said_and_refused_where_a_number_stands_elsewhere(tmp_path):
    path = tmp_path / "s.jsonl"
    records = [
        {"run": run, "topic": topic, "metrics": {"AP": VALUES[r, t, 0], "ci": {"low": 0}, "tags": ["x"]}, "meta": {}}
        for r, run in enumerate("ab") for t, topic in enumerate(TOPICS)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.warns(PolicyWarning, match="left out what holds objects or lists, not numbers: meta, ci, tags"):
        scores = read_scores(path)
    np.testing.assert_array_equal(scores.values, VALUES[..., :1])
    for first, second in ((0, 1), (1, 0)):
        mixed = [records[k] | {"metrics": {"AP": 0.5 if k % 2 == first else {"value": 0.5}}} for k in range(6)]
        path.write_text("".join(json.dumps(record) + "\n" for record in mixed))
        with pytest.raises(DataError, match=rf":{second + 1}: 'AP' is an object or a list here, and a plain value"):
            read_scores(path)


READ_LONG = """
import resource, sys, warnings
import pyarrow.csv
from metaeval.io import read_scores
warnings.simplefilter("ignore")
def read(path):
    scores = read_scores(path)
    return scores.values.nbytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
_, before = read(sys.argv[1])
size, peak = read(sys.argv[2])
print((peak - before) / size)
"""


@pytest.mark.nightly
def test_a_long_text_takes_at_most_sixteen_times_the_memory_of_its_scores(tmp_path):
    """It took eighteen times as much when the text, its cells and their codes were held together; it takes fourteen."""
    rng = np.random.default_rng(0)
    rows = [f"run{r},topic{t},AP,{rng.random():.6f}\n" for r in range(100) for t in range(10_000)]
    for name, some in (("short.csv", rows[:1]), ("long.csv", rows)):
        (tmp_path / name).write_text("run,topic,measure,score\n" + "".join(some))
    command = [sys.executable, "-c", READ_LONG, tmp_path / "short.csv", tmp_path / "long.csv"]
    assert float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) < 16
