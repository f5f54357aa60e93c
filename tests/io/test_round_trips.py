"""What is written comes back: every bit of a score, every character of a label."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

from metaeval import Scores
from metaeval.errors import DataError, PolicyWarning
from metaeval.io import from_frame, read_scores, write_scores
from metaeval.stats.oddities import TOTALS
from tests.io.cases import put, show

ODD_LABELS = (
    "007", "NA", "null", "nan", "1e5", "True", 'say "hi", twice', "a,b", "naïve 日本", "#ArianaGrande", " x", "'",
)  # fmt: skip


def labels(forbidden="\r\0"):
    """Any labels but those with some characters, or with nothing to be seen."""
    letters = st.characters(exclude_categories=["Cs"], exclude_characters=forbidden)
    return st.sampled_from(ODD_LABELS) | st.text(letters, min_size=1, max_size=8).filter(str.strip)


ANY = ("AP", "my measure", "OCI(beta=0.75, gamma=1)", "NA")


@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")  # of labels like True and TRUE
@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.parquet", "s.pq"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_bit_and_every_label_survive_a_file(name, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("s") / name

    def draw(labels):
        names = labels.filter(lambda label: label.strip().lower() not in TOTALS)  # which would be left out as means
        return data.draw(st.lists(names, min_size=1, max_size=3, unique=True))

    runs, topics = draw(labels()), draw(labels())
    measures = ANY[: data.draw(st.integers(1, len(ANY)))]
    shape = (len(runs), len(topics), len(measures))
    values = data.draw(npst.arrays(float, shape, elements=st.floats(-1e300, 1e300)))  # whose means are finite
    collection = data.draw(st.sampled_from(["", "web2013", "a_b", "x_ap", "odd, 2013"]))
    written = Scores(values, runs=runs, topics=topics, measures=measures, collection=collection)
    write_scores(written, path)
    read = read_scores(path)
    assert read.values.shape == shape
    again = read.sel(runs=runs, topics=topics, measures=measures)
    assert (again.values.view(np.uint64) == values.view(np.uint64)).all()
    assert read.collection == collection or not collection


@pytest.mark.parametrize("lead", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_byte_order_mark_and_line_ends_never_leak_into_names(lead, end, tmp_path):
    files = {
        "tidy.csv": "note,run,topic,measure,score\nx,a,t1,AP,0.5\n,b,t1,AP,0.25\n",
        "c_ap.csv": "topic,a,b\nt1,0.5,0.25\n",
        "x.txt": "a AP t1 0.5\nb AP t1 0.25\n",
        "sakai/runs": "a\nb\n", "sakai/topics": "t1\n", "sakai/AP": "0.5 0.25\n",
    }  # fmt: skip
    put(tmp_path, {name: lead + text.replace("\n", end) for name, text in files.items()})
    with pytest.warns(PolicyWarning, match="1 column not used: note"):
        assert show(read_scores(tmp_path / "tidy.csv")) == "AP: a 0.5, b 0.25 (t1)"
    for name in ("c_ap.csv", "x.txt", "sakai"):
        assert show(read_scores(tmp_path / name)) == "AP: a 0.5, b 0.25 (t1)"


@pytest.mark.parametrize("name", ["s.csv", "s.parquet"])
def test_a_write_that_fails_leaves_what_was_there_and_no_half_file(name, tmp_path, monkeypatch):
    old = Scores([[[0.5]]], runs=["a"], topics=["t"], measures=["AP"], collection="s")
    write_scores(old, tmp_path / name)

    def broken(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(DataError, match=rf"{name}: it cannot be written: No space left on device"):
        write_scores(Scores([[[1.0]]], runs=["a"], topics=["t"], measures=["AP"]), tmp_path / name)
    monkeypatch.undo()
    assert read_scores(tmp_path / name) == old
    assert [path.name for path in tmp_path.iterdir()] == [name]


REFUSED = [
    ("s.csv", {"runs": ["a\rb"]}, "cannot be written as text"),
    ("no/such/s.csv", {}, "it cannot be written: No such file or directory"),
    ("folder", {}, "the format cannot be detected from this name"),
    ("s.csv", {"topics": ["t", "Mean"]}, "topic Mean: a topic cannot have this name"),
]


@pytest.mark.parametrize(("name", "labels", "message"), REFUSED)
def test_what_a_file_cannot_hold_is_refused_before_anything_is_written(name, labels, message, tmp_path):
    given = {"runs": ["a"], "topics": ["t"], "measures": ["AP"], **labels}
    with pytest.raises(DataError, match=message):
        write_scores(Scores(np.full((1, len(given["topics"]), 1), 0.5), **given), tmp_path / name)
    assert not list(tmp_path.rglob("*.*"))


def test_names_that_a_spreadsheet_would_run_are_defused_on_request_only(tmp_path):
    scores = Scores([[[0.5]], [[0.25]]], runs=["=cmd()", "-1"], topics=["@t"], measures=["AP"], collection="+c")
    write_scores(scores, tmp_path / "as.csv")
    assert show(read_scores(tmp_path / "as.csv")) == "AP: =cmd() 0.5, -1 0.25 (@t)"
    with pytest.warns(PolicyWarning, match=r"got an apostrophe: '\+c, '=cmd\(\), '@t"):
        write_scores(scores, tmp_path / "safe.csv", defuse_formulas=True)
    assert (
        show(safe := read_scores(tmp_path / "safe.csv")) == "AP: '=cmd() 0.5, -1 0.25 ('@t)"
    )  # a number is no formula
    assert safe.collection == "'+c"


def test_a_file_on_another_machine_is_refused_with_what_to_do():
    with pytest.raises(DataError, match=r"s3://b/s.csv: there is no such file \(only local files are read: download"):
        read_scores("s3://b/s.csv")


def test_of_several_collections_in_a_file_or_frame_one_is_chosen(tmp_path):
    path = put(tmp_path, {"both.csv": "run,topic,AP,collection\na,1,0.5,x\nb,1,0.25,x\na,2,0.125,y\nb,2,1,y\n"})
    frame = pd.read_csv(path, dtype={"topic": str})
    frame.to_parquet(tmp_path / "both.parquet")
    for source in (path, tmp_path / "both.parquet", frame):
        with pytest.raises(DataError, match="several collections: x, y"):
            read_scores(source)
        assert show(read_scores(source, collection="y")) == "AP: a 0.125, b 1 (2)"
        assert read_scores(source, collection="together").topics == ("1", "2")
    assert from_frame(frame[:2]).collection == "x"
    assert read_scores(put(tmp_path, {"both.csv": "run,topic,AP,collection\na,1,0.5,\n"})).collection == "both"
