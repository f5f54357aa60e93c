import os
import sys
from pathlib import Path

import numpy as np
import pytest

from metaeval.datasets import semeval_joined
from metaeval.errors import DataError, MetaevalError
from metaeval.io.runs import read_semeval_labels

openpyxl = pytest.importorskip("openpyxl", reason="workbooks need openpyxl")

DATA = os.environ.get("METAEVAL_DATA")

# Tweet 3 is about two topics; "two words" was lost as a topic, but its gold still joins; tweet 2 has contradictory gold.
GOLD = [
    "1\tbrexit\t-1",
    "2\tbrexit\t1",
    "3\tbrexit\t0",
    "3\ttwo words\t1",
    "4\ttwo words\t0",
    "3\ttpp\t-1",
    "5\ttpp\t2",
]
POLARITY = ["1\tnegative\ttext", "2\tnegative\ttext", "3\tneutral\ttext", "4\tneutral\ttext", "5\tpositive\ttext"]
# answer, gold of A, gold of C, from 1: tweet 1; tweet 3 of brexit with all three labels; the same of tpp; tweet 5
ROWS = [(2, 1, 2), (4, 2, 3), (4, 2, 4), (4, 2, 2), (3, 2, 3), (3, 2, 4), (3, 2, 2), (5, 3, 5)]


def write(folder, rows=ROWS, gold=GOLD):
    (folder / "gold.txt").write_text("\n".join(gold) + "\n", encoding="utf-8")
    (folder / "a.txt").write_text("\n".join(POLARITY) + "\n", encoding="utf-8")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "team.xlsx")
    return folder / "gold.txt", {"team": folder / "team.xlsx"}, folder / "a.txt"


def test_rows_find_their_items_and_those_with_the_gold_of_another_topic_are_left_out(tmp_path):
    gold, run, polarity = write(tmp_path)
    found = semeval_joined.read(gold, run, polarity=polarity)
    assert found.topics == ("brexit", "tpp")
    assert found.runs == ("team",)
    expected = np.zeros((2, 5, 5), dtype=int)
    expected[0, 1, 1] = expected[0, 2, 3] = expected[1, 1, 2] = expected[1, 4, 4] = 1
    np.testing.assert_array_equal(found.counts[0], expected)
    true = read_semeval_labels(gold)
    agreeing = semeval_joined.agree(np.array([0, 0, 1, 1, 1, 1, 2]), np.array([1, 3, 2, 3, 2, 1, 4]))
    answered, judged = semeval_joined.join_gold(true, agreeing).T
    assert answered.tolist() == [0, 2, 2, 2, 5, 5, 5, 6]
    assert judged.tolist() == [0, 2, 3, 5, 2, 3, 5, 6]


def test_topics_with_few_items_are_left_out(tmp_path):
    gold, run, polarity = write(tmp_path, [*ROWS, (3, 2, 3)], [*GOLD, "6\ttpp\t0"])
    (tmp_path / "a.txt").write_text("\n".join([*POLARITY, "6\tneutral\ttext"]) + "\n", encoding="utf-8")
    assert semeval_joined.read(gold, run, polarity=polarity, least=3).topics == ("tpp",)
    with pytest.raises(DataError, match="no topic has 4 items"):
        semeval_joined.read(gold, run, polarity=polarity, least=4)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([*ROWS[:3], (4, 2, 3), *ROWS[4:]], r"team.xlsx:4: run team: its rows are not those of the gold"),
        (ROWS[:-1], r"team.xlsx:8: .*7 rows, 8 expected"),
        ([*ROWS, (1, 1, 1)], r"team.xlsx:9: "),
        ([(6, 1, 2), *ROWS[1:]], r"team.xlsx:1: a row is answer"),
        ([(2.5, 1, 2), *ROWS[1:]], r"team.xlsx:1: a row is answer"),
        ([(2, 1), *ROWS[1:]], r"team.xlsx:1: a row is answer"),
    ],
)
def test_rows_that_are_not_those_of_the_gold_are_refused(tmp_path, rows, problem):
    gold, run, polarity = write(tmp_path, rows)
    with pytest.raises(DataError, match=problem):
        semeval_joined.read(gold, run, polarity=polarity)


def test_what_is_no_workbook_or_no_gold_is_refused(tmp_path):
    gold, run, polarity = write(tmp_path)
    (tmp_path / "other.xlsx").write_text("1,2,3", encoding="utf-8")
    with pytest.raises(DataError, match=r"other.xlsx: it is no workbook"):
        semeval_joined.read(gold, {"other": tmp_path / "other.xlsx"}, polarity=polarity)
    polarity.write_text("1\tsad\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"a.txt:1: the polarity 'sad'"):
        semeval_joined.read(gold, run, polarity=polarity)
    polarity.write_text("1\tnegative\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"gold.txt:2: .*it is not in"):
        semeval_joined.read(gold, run, polarity=polarity)


def test_without_openpyxl_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    gold, run, polarity = write(tmp_path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MetaevalError, match=r"workbooks need openpyxl .*pip install 'metaeval\[xlsx\]'"):
        semeval_joined.read(gold, run, polarity=polarity)


@pytest.mark.skipif(not DATA, reason="METAEVAL_DATA does not say where the real data are")
def test_the_published_baseline_always_answers_the_highest_class_so_that_it_can_be_made_here():
    path = Path(DATA) / "semeval2017-runs" / "_baseline.xlsx"
    if not path.exists():
        pytest.skip("the published baseline is not among the files")
    assert set(semeval_joined.read_columns(path, 5)[:, 0].tolist()) == {5}
