"""The store: every bit kept, measures joined by label, several writers, and disks in the way."""

import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import threading
from unittest.mock import Mock

import filelock
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

from metaeval import Measure, Scores, ScoreStore
from metaeval.data import store as store_module
from metaeval.errors import StoreError
from metaeval.io import read_scores
from tests.data.conftest import content_of, file_of, scores_of

posix = pytest.mark.skipif(os.name != "posix", reason="signals and FIFOs are for POSIX systems")
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def make(values, measures, collection="c", **more):
    values = np.asarray(values, dtype=float)
    runs, topics = [f"r{i}" for i in range(values.shape[0])], [f"t{i}" for i in range(values.shape[1])]
    return Scores(values, runs=runs, topics=topics, measures=measures, collection=collection, **more)


@settings(max_examples=40, deadline=None)
@given(
    npst.arrays(float, (2, 3, 2), elements=st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)),
    st.lists(texts, min_size=2, max_size=2, unique=True),
    texts,
)
def test_every_bit_and_any_label_comes_back(tmp_path_factory, values, runs, name):
    folder = tmp_path_factory.mktemp("store")
    cost = Measure("cost", higher_is_better=False, range=(0, float("inf")), label="€", source="us")
    scores = Scores(
        values, runs=runs, topics=list("tuv"), measures=["NMD", cost], collection=name, provenance="somewhere"
    )
    ScoreStore(folder).add(scores)
    again = ScoreStore(folder).load(name)
    assert again == scores
    assert again.values.tobytes() == scores.values.tobytes()  # −0.0 and subnormal numbers too
    assert (again.provenance, again.measures[1]) == ("somewhere", cost)
    assert {path.parent for path in folder.rglob("*")} == {folder}


def test_adding_a_measure_keeps_the_others_aligns_by_label_and_takes_an_old_ones_place(empty):
    empty.add(make(np.arange(6).reshape(2, 3, 1), ["NMD"]))
    new = make(10 + np.arange(6).reshape(2, 3, 1), ["RNOD"]).sel(runs=["r1", "r0"], topics=["t2", "t0", "t1"])
    empty.add(new)
    both = empty.load("c")
    assert [str(m) for m in both.measures] == ["NMD", "RNOD"]
    assert [both.values[..., m].tolist() for m in (0, 1)] == [[[0, 1, 2], [3, 4, 5]], [[10, 11, 12], [13, 14, 15]]]
    assert empty.load("c", measures=["RNOD", "NMD"]).values[0, 1].tolist() == [11, 1], "in the order asked for"
    empty.add(make(np.ones((2, 3, 1)), ["NMD"]))
    assert empty.load("c").values[0, 0].tolist() == [1, 10]
    before = content_of(empty)
    for shape, measure, what in (((2, 2, 1), "RNOD", "topics: {} t2"), ((3, 3, 1), "NMD", "runs: {} r2")):
        with pytest.raises(StoreError, match=f"same {what.format('only one of them has')}: add them under another"):
            empty.add(make(np.zeros(shape), [measure]))
    assert content_of(empty) == before
    empty.add(make(np.zeros((3, 3, 1)), ["RNOD"]), replace=True)
    assert len(empty.load("c").runs) == 3


def test_the_file_is_a_plain_tidy_table_for_everybody_else(store):
    path = file_of(store, "one")
    table = pq.read_table(path)
    assert table.column_names == ["run", "topic", "measure", "higher_is_better", "score"]
    assert table["score"].to_pylist() == np.moveaxis(scores_of(1).values, 2, 0).ravel().tolist()
    assert read_scores(path, collection="one") == scores_of(1, "one")
    assert json.loads((store.path / "manifest.json").read_text())["schema"] == 4


def test_files_that_no_store_wrote_are_left_alone(empty):
    empty.path.mkdir()
    names = ("mine.parquet", "mine.0123456789.parquet", "notes.txt")
    for name in names:
        (empty.path / name).write_bytes(b"precious")
    for number in range(3):
        empty.add(make(np.full((1, 1, 1), number), ["X"]))
    assert {(empty.path / name).read_bytes() for name in names} == {b"precious"}
    assert len(list(empty.path.glob("c.*.parquet"))) == 1


ONE = make(np.zeros((1, 1, 1)), ["X"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: ScoreStore(store.path / "none").load("c"), "it is empty"),
        (lambda store: store.load("one", ["Y"]), "no measure 'Y'"),
        (lambda store: store.load("one", []), "there are no measures"),
        (lambda store: store.load(5), "there is no collection 5"),
        (lambda store: store.load(["one"]), "there is no collection"),
        (lambda store: store.add(ONE, collection=""), "no collection name"),
        (lambda store: store.add(ONE, collection="\ud800"), "half a letter"),
        (lambda store: store.add(ONE.to_frame()), "keeps Scores, not DataFrame"),
        (lambda store: ScoreStore(file_of(store, "one")).collections(), "Not a directory"),
        (lambda store: ScoreStore("a\0b"), "a folder on a local disk"),
        (lambda store: ScoreStore("s3://campaign"), "a folder on a local disk: download it first"),
    ],
)
def test_what_is_not_there_or_cannot_be_kept_is_named(store, call, message):
    before = content_of(store)
    with pytest.raises(StoreError, match=message):
        call(store)
    assert content_of(store) == before


def add_own_measures(path, who):
    store = ScoreStore(path)
    for turn in range(15):
        store.add(make(np.full((4, 5, 1), who), [f"m{who}.{turn}"]))


@pytest.mark.parametrize("kind", [multiprocessing.get_context("spawn").Process, threading.Thread])
def test_two_processes_or_threads_writing_one_collection_lose_nothing(kind, tmp_path):
    writers = [kind(target=add_own_measures, args=(tmp_path, who)) for who in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert getattr(writer, "exitcode", 0) == 0
    scores = ScoreStore(tmp_path).load("c")
    assert {str(m) for m in scores.measures} == {f"m{who}.{turn}" for who in (1, 2) for turn in range(15)}


@pytest.mark.parametrize("schema", [1, 5])
def test_a_store_of_another_layout_says_how_to_take_its_scores_over_and_that_works(store, schema):
    right, path = store.load("one"), store.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": schema}))
    for action in (store.collections, lambda: store.add(scores_of(1))):
        with pytest.raises(StoreError, match=f"has schema {schema}, this version of metaeval reads schema 4") as caught:
            action()
    if schema > 1:
        return
    command = str(caught.value).split("`")[1]
    for text, name in (("FILE.parquet", file_of(store, "one").name), ("NEW_STORE", "new"), ("NAME", "one")):
        command = command.replace(text, name)
    program, environment = [sys.executable, "-m", *shlex.split(command)], os.environ | {"PYTHONPATH": os.getcwd()}
    subprocess.run(program, check=True, capture_output=True, cwd=store.path, env=environment)
    assert ScoreStore(store.path / "new").load("one") == right


@posix
@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(store, kind):
    make_odd = {"folder": os.mkdir, "fifo": os.mkfifo, "device": lambda path: os.symlink("/dev/zero", path)}[kind]
    for path, actions in (
        (file_of(store, "one"), (lambda: store.load("one"), lambda: store.load("one", ["NMD"]))),
        (store.path / "manifest.json", (store.collections, lambda: store.add(scores_of(3)))),
    ):
        path.unlink()
        make_odd(path)
        for action in actions:
            with pytest.raises(StoreError, match="not a regular file"):
                action()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), "cannot be written: No space left on device"),
        (PermissionError(13, "Permission denied"), "cannot be written: Permission denied"),
        (MemoryError(), "cannot be written: there is not enough memory"),
        (KeyboardInterrupt("by hand"), "by hand"),
    ],
)
@pytest.mark.parametrize("calls", [0, 1])
def test_a_disk_in_the_way_is_one_sentence_and_leaves_the_old_state(store, monkeypatch, error, sentence, calls):
    before, original, done = content_of(store), store_module.write_atomically, []

    def fail_after(path, content):
        if len(done) == calls:
            raise error
        done.append(path)
        original(path, content)

    monkeypatch.setattr(store_module, "write_atomically", fail_after)
    with pytest.raises(StoreError if isinstance(error, Exception) else KeyboardInterrupt, match=sentence):
        store.add(scores_of(3, "three"))
    assert content_of(store) == before
    assert not list(store.path.glob(".writing-*"))


@pytest.mark.parametrize(
    ("place", "error", "sentence"),
    [
        ((store_module, "open_regular"), PermissionError(13, "Permission denied"), "be read: Permission denied"),
        ((store_module, "read_bounded"), PermissionError(13, "Permission denied"), "be read: Permission denied"),
        ((store_module, "open_regular"), MemoryError(), "be read: there is not enough memory"),
        ((filelock.FileLock, "acquire"), NotImplementedError("no flock here"), "be written: no flock here"),
    ],
)
def test_what_cannot_be_read_or_locked_is_one_sentence(store, monkeypatch, place, error, sentence):
    monkeypatch.setattr(*place, Mock(side_effect=error))
    with pytest.raises(StoreError, match=f"cannot {sentence}"):
        store.add(scores_of(3)) if "written" in sentence else store.load("one")
