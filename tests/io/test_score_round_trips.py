"""What is written comes back: every bit of a score, every character of a label."""

import itertools
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from metaeval import Scores
from metaeval.data.rows import TOTALS
from metaeval.errors import DataError, PolicyWarning
from metaeval.io import from_frame, read_scores, sakai, tidy, trec_eval, wide, write_scores

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ODD_LABELS = (
    "007",
    "NA",
    "null",
    "nan",
    "1e5",
    "True",
    'say "hi", twice',
    "a,b",
    "naïve 日本",
    "#ArianaGrande",
    " x",
    "'",
)


def bits(scores):
    return scores.values.view(np.uint64)


def assert_same(read, written, topics=True):
    assert read.runs == written.runs
    assert read.topics == written.topics
    assert list(map(str, read.measures)) == list(map(str, written.measures))
    assert (bits(read) == bits(written)).all()


def text(forbidden="\r\0"):
    return st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters=forbidden), min_size=1, max_size=8
    ).filter(lambda label: label.strip())


def bare(separator):
    """Labels that a format without quotes can hold; a last run called so is left out where it is the mean of the others."""
    labels = text("\r\n\0\ufeff" + separator)
    return labels.filter(lambda label: label == label.strip() and label.lower() not in TOTALS)


@st.composite
def matrices(draw, labels, topics=None, measures=("AP", "my measure", "OCI(beta=0.75, gamma=1)")):
    runs = draw(st.lists(labels, min_size=1, max_size=3, unique=True))
    named = draw(st.lists(topics if topics is not None else labels, min_size=1, max_size=3, unique=True))
    kept = measures[: draw(st.integers(1, len(measures)))]
    size = len(runs) * len(named) * len(kept)
    values = draw(st.lists(FLOATS, min_size=size, max_size=size))
    return Scores(np.reshape(values, (len(runs), len(named), len(kept))), runs=runs, topics=named, measures=kept)


@QUICK
@given(scores=matrices(text()), suffix=st.sampled_from([".csv", ".tsv", ".parquet"]))
def test_every_bit_and_every_label_survive_a_tidy_file(scores, suffix, tmp_path):
    path = tmp_path / f"s{suffix}"
    tidy.write(scores, path)
    assert_same(tidy.read(path), scores)


NOT_AVERAGES = text().filter(lambda label: label.strip().lower() not in TOTALS)


@QUICK
@given(scores=matrices(bare(""), topics=NOT_AVERAGES), collection=st.sampled_from(["", "web2013", "a_b", "x_ap"]))
def test_every_bit_and_every_label_survive_wide_files(scores, collection, tmp_path):
    folder = tmp_path / str(next(COUNTER))
    given = Scores(
        scores.values, runs=scores.runs, topics=scores.topics, measures=scores.measures, collection=collection
    )
    wide.write(given, folder)
    read = wide.read(folder)
    assert read.collection == collection
    assert_same(read.sel(measures=given.measures), given)


@QUICK
@given(scores=matrices(bare("\n")), named=st.booleans())
def test_every_bit_and_every_label_survive_sakais_layout(scores, named, tmp_path):
    folder = tmp_path / str(next(COUNTER))
    topics = scores.topics if named else [str(number + 1) for number in range(len(scores.topics))]
    given = Scores(scores.values, runs=scores.runs, topics=topics, measures=scores.measures)
    sakai.write(given, folder)
    assert (folder / "topics").exists() == (list(topics) != [str(n + 1) for n in range(len(topics))])
    assert_same(sakai.read(folder).sel(measures=given.measures), given)


@QUICK
@given(scores=matrices(bare("\t"), topics=bare("\t").filter(lambda topic: topic != "all")))
def test_every_bit_and_every_label_survive_trec_eval_files(scores, tmp_path):
    folder = tmp_path / str(next(COUNTER))
    with np.errstate(over="ignore"):
        trec_eval.write(scores, folder)
    assert_same(trec_eval.read(folder).sel(runs=scores.runs, topics=scores.topics), scores)


COUNTER = itertools.count()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "pq"])
def test_labels_that_look_like_something_else_stay_text(suffix, tmp_path):
    values = np.arange(len(ODD_LABELS) ** 2, dtype=float).reshape(len(ODD_LABELS), len(ODD_LABELS), 1)
    scores = Scores(values, runs=ODD_LABELS, topics=ODD_LABELS, measures=["NA"], collection="odd")
    write_scores(scores, tmp_path / f"odd.{suffix}")
    assert read_scores(tmp_path / f"odd.{suffix}") == scores


def test_extra_columns_are_named_and_rows_may_come_in_any_order(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("score,note,topic,run,measure\n2,x,t2,a,AP\n1,y,t1,a,AP\n3,,t1,b,AP\n4,z,t2,b,AP\n")
    with pytest.warns(PolicyWarning, match="1 column not used: note"):
        assert tidy.read(path).sel(topics=["t1", "t2"]).values[:, :, 0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("lead", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_byte_order_mark_and_line_ends_never_leak_into_names(lead, end, tmp_path):
    files = {
        "tidy.csv": "run,topic,measure,score\na,t1,AP,0.5\nb,t1,AP,0.25\n",
        "c_ap.csv": "a,b\n0.5,0.25\n",
        "a.eval": "map\tt1\t0.5\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes((lead + content.replace("\n", end)).encode())
        scores = read_scores(tmp_path / name)
        assert scores.runs in (("a", "b"), ("a",))
        assert scores.topics in (("t1",), ("1",))
        assert str(scores.measures[0]) in ("AP", "map")
    folder = tmp_path / "sakai"
    folder.mkdir()
    (folder / "runs").write_bytes((lead + "a\nb\n".replace("\n", end)).encode())
    (folder / "AP").write_bytes((lead + "0.5 0.25\n".replace("\n", end)).encode())
    assert sakai.read(folder).runs == ("a", "b")


@pytest.mark.parametrize("name", ["s.csv", "s.parquet"])
def test_a_write_that_fails_leaves_what_was_there_and_no_half_file(name, tmp_path, monkeypatch):
    path = tmp_path / name
    old = Scores([[[0.5]]], runs=["a"], topics=["t"], measures=["AP"], collection="s")
    write_scores(old, path)

    def broken(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(DataError, match=rf"{name}: it cannot be written: No space left on device"):
        write_scores(Scores([[[1.0]]], runs=["a"], topics=["t"], measures=["AP"]), path)
    monkeypatch.undo()
    assert read_scores(path) == old
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_file_on_another_machine_is_refused_with_what_to_do():
    with pytest.raises(
        DataError, match=r"s3://b/s.csv: there is no such file \(only local files are read: download it first"
    ):
        read_scores("s3://b/s.csv")


REFUSED = [
    (tidy, "s.csv", {"runs": ["a\rb"]}, "cannot be written as text"),
    (wide, "s.csv", {"runs": [" a"]}, "cannot be written here"),
    (wide, "folder", {"measures": ["a/b"]}, "cannot be the name of a file"),
    (wide, "folder", {"measures": ["x"], "collection": "a__b"}, "cannot be read back"),
    (sakai, "folder", {"runs": ["a\nb"]}, "no way to quote white space"),
    (sakai, "folder", {"measures": ["runs"]}, "has the name of the file that lists the runs"),
    (sakai, "folder", {"measures": ["../x"]}, "cannot be the name of a file"),
    (trec_eval, "folder", {"topics": ["a\tb"]}, "no way to quote white space"),
    (trec_eval, "folder", {"topics": ["all"]}, "topic all: a topic cannot have this name in this format"),
    (trec_eval, "folder", {"measures": ["num_rel"]}, "measure num_rel: a measure cannot have this name in this format"),
    (tidy, "no/such/s.csv", {}, "it cannot be written: No such file or directory"),
]


@pytest.mark.parametrize(("module", "name", "labels", "message"), REFUSED)
def test_what_a_format_cannot_hold_is_refused_before_anything_is_written(module, name, labels, message, tmp_path):
    given = {"runs": ["a"], "topics": ["t"], "measures": ["AP"], **labels}
    with pytest.raises(DataError, match=message):
        module.write(Scores([[[0.5]]], **given), tmp_path / name)
    assert not list(tmp_path.rglob("*.*"))


def test_a_run_called_after_a_path_gets_a_safe_trec_eval_file(tmp_path):
    scores = Scores([[[0.5]], [[0.25]]], runs=["org/model", "org_model"], topics=["t"], measures=["map"])
    trec_eval.write(scores, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["org_model-2.eval", "org_model.eval"]
    assert trec_eval.read(tmp_path).sel(runs=scores.runs).values.ravel().tolist() == [0.5, 0.25]


def test_a_tidy_file_names_its_collection_for_every_reader(tmp_path):
    scores = Scores([[[0.25]], [[0.5]]], runs=["a", "b"], topics=["007"], measures=["AP"], collection="web, 2013")
    for name in ("renamed.csv", "renamed.tsv", "renamed.parquet"):
        write_scores(scores, tmp_path / name)
        assert read_scores(tmp_path / name) == scores
        assert read_scores(tmp_path / name, collection="mine").collection == "mine"
    frame = pd.read_csv(tmp_path / "renamed.csv")
    assert frame["collection"].tolist() == ["web, 2013"] * 2
    assert from_frame(frame).collection == "web, 2013"


def test_of_several_collections_in_a_file_one_is_chosen(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("run,topic,measure,score,collection\na,1,AP,0.5,x\nb,1,AP,0.25,x\na,2,AP,0.125,y\nb,2,AP,1,y\n")
    with pytest.raises(DataError, match="several collections: 'x', 'y'|several collections: x, y"):
        read_scores(path)
    assert read_scores(path, collection="y").values[:, :, 0].tolist() == [[0.125], [1.0]]
    assert read_scores(path, collection="together").topics == ("1", "2")
    parquet = tmp_path / "both.parquet"
    pd.read_csv(path, dtype={"topic": str}).to_parquet(parquet)
    assert read_scores(parquet, collection="y").topics == ("2",)
    path.write_text("run,topic,measure,score,collection\na,1,AP,0.5,\nb,1,AP,0.25,\n")
    assert read_scores(path).collection == "both"
