"""Polarities and reputations as RepLab, EvALL and joined workbooks publish them: small files."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from metaeval.datasets import evall, replab, semeval_joined
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io.runs import read_semeval_labels
from tests.io.cases import put, read_with_notes

ENTITIES = {
    "gold.txt": '"entity_id"\t"tweet_id"\t"filtering"\t"polarity"\n"E001"\t"1"\t"RELATED"\t"POSITIVE"\n'
    '"E001"\t"2"\t"UNRELATED"\t""\n"E002"\t"1"\t"RELATED"\t"NEGATIVE"\n',
    "team.txt": '"entity_id"\t"tweet_id"\t"polarity"\n"E002"\t"1"\t"NEGATIVE"\n"E001"\t"2"\t"NEUTRAL"\n'
    '"E001"\t"1"\t"NEUTRAL"\n',
}
FOLDER = {
    "labeled/E001.dat": '"tweet_id"\t"polarity"\n"1"\t"POSITIVE"\n"2"\t""\n',
    "labeled/E002.dat": '"tweet_id"\t"polarity"\n"1"\t"NEGATIVE"\n',
    "team.txt": ENTITIES["team.txt"],
}


def read_replab(folder, files, gold="gold.txt"):
    put(folder, files)
    return replab.read(folder / gold, {"team": folder / "team.txt"}, classes=("-1", "0", "1"))


@pytest.mark.parametrize(("files", "gold"), [(ENTITIES, "gold.txt"), (FOLDER, "labeled")])
def test_replabs_entities_are_topics_in_a_file_or_a_folder_and_unrelated_tweets_are_left_out(tmp_path, files, gold):
    with pytest.warns(PolicyWarning, match="left out 1 item of 3 without a polarity"):
        runs = read_replab(tmp_path, files, gold)
    assert runs.topics == ("E001", "E002")
    assert runs.counts[0].tolist() == [[[0, 0, 0], [0, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]]
    judged = {"gold.txt": "E001 0 1 1\nE002 0 1 -1\n", "team.txt": "E002 0 1 -1\nE001 0 1 0\n"}
    assert (read_replab(tmp_path, judged).counts == runs.counts).all()


WRONG = [
    # what differs from right files, what is said
    ({"gold.txt": "just words\n"}, r"gold\.txt:1"),
    ({"gold.txt": ENTITIES["gold.txt"] + '"E001"\t"1"\t"x"\t""\n'}, "gold.txt:5: topic E001, item 1: the label is missing"),
    ({"gold.txt": '"entity_id"\t"tweet_id"\t"x"\n"RL1"\t"1"\t"1"\n'}, "polarity"),
    ({"gold.txt": '"tweet_id"\t"polarity"\t"x"\n"1"\t"POSITIVE"\t"1"\n'}, "there is no column 'entity_id'"),
    ({"gold.txt": '"entity_id"\t"tweet_id"\t"polarity"\n"RL1"\t"1"\t""\n'}, "none of its items has a polarity"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
@pytest.mark.parametrize(("change", "said"), WRONG)
def test_what_is_wrong_is_said_with_its_place(tmp_path, change, said):
    with pytest.raises(DataError, match=said):
        read_replab(tmp_path, ENTITIES | change)


def read_evall(folder, gold, run=None, **options):
    put(folder, {"gold.tsv": gold, "run.tsv": run or ""})
    runs = {"run": folder / "run.tsv"} if run else {}
    return evall.read(folder / "gold.tsv", runs, classes=["-1", "0", "1"], **options)


GOLD_OF_EVALL = '"e1"\t"1"\t"-1"\n"e1"\t"2"\t"1"\n"e2"\t"1"\t"0"\n'


def test_lines_that_a_run_must_not_have_are_skipped_and_counted(tmp_path):
    lines = ["e1\t1\t0", "e1\t1\t1", "e1\t2", "e1\t\t1", "e1\t2\thola", "e1\t2\t1", "e1\t9\t1", "e2\t1\t0"]
    found, notes = read_with_notes(read_evall, tmp_path, GOLD_OF_EVALL, "\n".join(lines) + "\n")
    for problem in (
        "1 with an item for the second time", "1 with another number of fields than three", "1 with an empty field",
        "1 with a value that is no number", "1 with an item that is not in the gold",
    ):  # fmt: skip
        assert problem in notes
    assert found.counts[0, 0].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert found.topics == ("e1", "e2")


@pytest.mark.parametrize(
    ("gold", "run", "problem"),
    [
        ("e1\t1\n", None, "gold.tsv:1: the gold has a line with another number of fields"),
        ("e1\t1\t0\ne1\t1\t0\n", None, "gold.tsv:2: the gold has a line with an item for the second time"),
        ("e1\t\t0\n", None, "an empty field"),
        ("e1\t1\tyes\n", None, "a value that is no number"),
        ("", None, "empty"),
        (GOLD_OF_EVALL, "e1\t1\t-1\ne1\t2\t1\n", "e2"),  # an item without an answer
    ],
)
def test_the_gold_must_be_flawless_and_every_item_be_answered(tmp_path, gold, run, problem):
    with pytest.raises(DataError, match=problem):
        read_evall(tmp_path, gold, run)
    if run is not None:
        with pytest.warns(PolicyWarning, match="missing=worst"):
            assert read_evall(tmp_path, gold, run, missing="worst").counts[0, 1].sum() == 1


# Tweet 3 is about two topics; "two words" was lost as a topic, but its gold still joins; tweet 2 has contradictory gold.
GOLD = "1 brexit -1,2 brexit 1,3 brexit 0,3 two_words 1,4 two_words 0,3 tpp -1,5 tpp 2".replace(" ", "\t")
GOLD = GOLD.replace("_", " ").split(",")
POLARITY = ["1\tnegative\ttext", "2\tnegative\ttext", "3\tneutral\ttext", "4\tneutral\ttext", "5\tpositive\ttext"]
# answer, gold of A, gold of C, from 1: tweet 1; tweet 3 of brexit with all three labels; the same of tpp; tweet 5
ROWS = [(2, 1, 2), (4, 2, 3), (4, 2, 4), (4, 2, 2), (3, 2, 3), (3, 2, 4), (3, 2, 2), (5, 3, 5)]


def read_joined(folder, rows=ROWS, gold=GOLD, polarities=POLARITY, team="team.xlsx", **options):
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    put(folder, {"gold.txt": "\n".join(gold), "a.txt": "\n".join(polarities), "words.xlsx": "1,2,3"})
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "team.xlsx")
    return semeval_joined.read(folder / "gold.txt", {"team": folder / team}, polarity=folder / "a.txt", **options)


def test_rows_find_their_items_and_those_with_the_gold_of_another_topic_are_left_out(tmp_path):
    found = read_joined(tmp_path)
    assert (found.topics, found.runs) == (("brexit", "tpp"), ("team",))
    expected = np.zeros((2, 5, 5), dtype=int)
    expected[0, 1, 1] = expected[0, 2, 3] = expected[1, 1, 2] = expected[1, 4, 4] = 1
    np.testing.assert_array_equal(found.counts[0], expected)
    agreeing = semeval_joined.agree(np.array([0, 0, 1, 1, 1, 1, 2]), np.array([1, 3, 2, 3, 2, 1, 4]))
    answered, judged = semeval_joined.join_gold(read_semeval_labels(tmp_path / "gold.txt"), agreeing).T
    assert answered.tolist() == [0, 2, 2, 2, 5, 5, 5, 6]
    assert judged.tolist() == [0, 2, 3, 5, 2, 3, 5, 6]
    more = {"rows": [*ROWS, (3, 2, 3)], "gold": [*GOLD, "6\ttpp\t0"], "polarities": [*POLARITY, "6\tneutral\ttext"]}
    assert read_joined(tmp_path, **more, least=3).topics == ("tpp",)
    with pytest.raises(DataError, match="there are no topics"):
        read_joined(tmp_path, **more, least=4)


UNJOINED = [
    ({"rows": [*ROWS[:3], (4, 2, 3), *ROWS[4:]]}, r"team.xlsx:4: run team: its rows are not those of the gold"),
    ({"rows": ROWS[:-1]}, r"team.xlsx:8: .*7 rows, 8 expected"),
    ({"rows": [*ROWS, (1, 1, 1)]}, r"team.xlsx:9: "),
    ({"rows": [(6, 1, 2), *ROWS[1:]]}, r"team.xlsx:1: a row is answer"),
    ({"rows": [(2.5, 1, 2), *ROWS[1:]]}, r"team.xlsx:1: a row is answer"),
    ({"rows": [(2, 1), *ROWS[1:]]}, r"team.xlsx:1: a row is answer"),
    ({"team": "words.xlsx"}, r"words.xlsx: it is no workbook"),
    ({"polarities": ["1\tsad"]}, r"a.txt:1: the polarity 'sad'"),
    ({"polarities": ["1\tnegative"]}, r"gold.txt:2: .*it is not in"),
]


@pytest.mark.parametrize(("change", "problem"), UNJOINED)
def test_rows_that_are_not_those_of_the_gold_are_refused(tmp_path, change, problem):
    with pytest.raises(DataError, match=problem):
        read_joined(tmp_path, **change)


def test_without_openpyxl_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    read_joined(tmp_path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    paths = [tmp_path / name for name in ("gold.txt", "team.xlsx", "a.txt")]
    with pytest.raises(MetaevalError, match=r"workbooks need openpyxl .*pip install 'metaeval\[xlsx\]'"):
        semeval_joined.read(paths[0], {"team": paths[1]}, polarity=paths[2])


def test_the_published_baseline_always_answers_the_highest_class_so_that_it_can_be_made_here():
    pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    path = Path(os.environ.get("METAEVAL_DATA", "nowhere")) / "semeval2017-runs" / "_baseline.xlsx"
    if not path.exists():
        pytest.skip("the published baseline is not among the files")
    assert set(semeval_joined.read_columns(path, 5)[:, 0].tolist()) == {5}
