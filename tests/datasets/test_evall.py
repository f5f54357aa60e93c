import pytest

from metaeval.datasets import evall
from metaeval.errors import DataError, PolicyWarning


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


GOLD = '"e1"\t"1"\t"-1"\n"e1"\t"2"\t"1"\n"e2"\t"1"\t"0"\n'


def test_lines_that_a_run_must_not_have_are_skipped_and_counted(tmp_path):
    gold = write(tmp_path, "gold.tsv", GOLD)
    lines = ["e1\t1\t0", "e1\t1\t1", "e1\t2", "e1\t\t1", "e1\t2\thola", "e1\t2\t1", "e1\t9\t1", "e2\t1\t0"]
    run = write(tmp_path, "run.tsv", "\n".join(lines) + "\n")
    with pytest.warns(PolicyWarning) as told:
        found = evall.read(gold, {"run": run}, classes=["-1", "0", "1"])
    text = str(told[0].message)
    for problem in (
        "1 with an item for the second time", "1 with another number of fields than three", "1 with an empty field",
        "1 with a value that is no number", "1 with an item that is not in the gold",
    ):  # fmt: skip
        assert problem in text
    assert found.counts[0, 0].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert found.topics == ("e1", "e2")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("e1\t1\n", "gold.tsv:1: the gold has a line with another number of fields"),
        ("e1\t1\t0\ne1\t1\t0\n", "gold.tsv:2: the gold has a line with an item for the second time"),
        ("e1\t\t0\n", "an empty field"),
        ("e1\t1\tyes\n", "a value that is no number"),
        ("", "empty"),
    ],
)
def test_the_gold_must_be_flawless(tmp_path, text, problem):
    with pytest.raises(DataError, match=problem):
        evall.read(write(tmp_path, "gold.tsv", text), {}, classes=["-1", "0", "1"])


def test_an_item_without_an_answer_is_an_error_unless_a_policy_says_otherwise(tmp_path):
    gold, run = write(tmp_path, "gold.tsv", GOLD), write(tmp_path, "run.tsv", "e1\t1\t-1\ne1\t2\t1\n")
    with pytest.raises(DataError, match="e2"):
        evall.read(gold, {"run": run}, classes=["-1", "0", "1"])
    with pytest.warns(PolicyWarning, match="missing=worst"):
        found = evall.read(gold, {"run": run}, classes=["-1", "0", "1"], missing="worst")
    assert found.counts[0, 1].sum() == 1
