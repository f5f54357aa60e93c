"""The store: every bit kept, whole at every moment, nothing of it unpickled."""

import json
import multiprocessing
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

from metaeval import Measure, Scores, ScoreStore
from metaeval.errors import StoreError


def scores_of(values, measures, collection="c", **more):
    values = np.asarray(values, dtype=float)
    runs = [f"r{i}" for i in range(values.shape[0])]
    topics = [f"t{i}" for i in range(values.shape[1])]
    return Scores(values, runs=runs, topics=topics, measures=measures, collection=collection, **more)


@pytest.fixture
def store(tmp_path):
    return ScoreStore(tmp_path / "store")


finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)


@settings(max_examples=25, deadline=None)
@given(npst.arrays(float, (2, 3, 2), elements=finite))
def test_a_round_trip_keeps_every_bit(tmp_path_factory, values):
    store = ScoreStore(tmp_path_factory.mktemp("store"))
    scores = scores_of(values, ["NMD", "cost"], provenance="somewhere")
    store.add(scores)
    again = store.load("c")
    assert again == scores
    assert again.values.tobytes() == scores.values.tobytes()  # −0.0 and subnormal numbers too
    assert again.provenance == "somewhere"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4, unique=True),
    st.text(min_size=1).filter(str.strip),
)
def test_any_label_and_any_collection_name_comes_back(tmp_path_factory, labels, name):
    folder = tmp_path_factory.mktemp("store")
    try:
        [text.encode() for text in (*labels, name)]
    except UnicodeEncodeError:
        return  # lone surrogates are no text
    scores = Scores(np.ones((len(labels), 1, 1)), runs=labels, topics=["t"], measures=["X"], collection=name)
    ScoreStore(folder).add(scores)
    assert ScoreStore(folder).load(name) == scores
    assert {path.parent for path in folder.rglob("*")} == {folder}


def test_adding_a_measure_keeps_the_others_and_aligns_by_label(store):
    store.add(scores_of(np.arange(6).reshape(2, 3, 1), ["NMD"]))
    new = scores_of(10 + np.arange(6).reshape(2, 3, 1), ["RNOD"]).sel(runs=["r1", "r0"], topics=["t2", "t0", "t1"])
    store.add(new)
    both = store.load("c")
    assert [str(m) for m in both.measures] == ["NMD", "RNOD"]
    assert both.values[..., 0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert both.values[..., 1].tolist() == [[10, 11, 12], [13, 14, 15]]


def test_a_measure_given_again_takes_the_old_ones_place(store):
    store.add(scores_of(np.zeros((2, 3, 2)), ["NMD", "RNOD"]))
    store.add(scores_of(np.ones((2, 3, 1)), ["NMD"]))
    both = store.load("c")
    assert [str(m) for m in both.measures] == ["NMD", "RNOD"]
    assert both.values[0, 0].tolist() == [1, 0]


def test_other_runs_or_topics_are_refused_and_change_nothing(store):
    first = scores_of(np.zeros((2, 3, 1)), ["NMD"])
    store.add(first)
    with pytest.raises(StoreError, match="lack topic t2"):
        store.add(scores_of(np.zeros((2, 2, 1)), ["RNOD"]))
    with pytest.raises(StoreError, match="have run r2, which it lacks"):
        store.add(scores_of(np.zeros((3, 3, 1)), ["RNOD"]))
    assert store.load("c") == first
    store.add(scores_of(np.zeros((3, 3, 1)), ["RNOD"]), replace=True)
    assert len(store.load("c").runs) == 3


def test_loading_some_measures_reads_only_those(store, monkeypatch):
    values = np.random.default_rng(0).random((2, 3, 4))
    store.add(scores_of(values, ["A", "B", "C", "D"]))
    groups = []
    original = pyarrow.parquet.ParquetFile.iter_batches

    def watch(self, *arguments, **options):
        if options["columns"] == ["score"]:
            groups.extend(options["row_groups"])
        return original(self, *arguments, **options)

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "iter_batches", watch)
    some = store.load("c", measures=["C", "A"])
    assert groups == [2, 0]
    assert np.array_equal(some.values, values[..., [2, 0]])


def test_directions_and_ranges_of_own_measures_come_back(store):
    cost = Measure("cost", higher_is_better=False, range=(0, float("inf")), label="€", source="us")
    store.add(scores_of(np.zeros((1, 1, 1)), [cost]))
    assert store.load("c").measures == (cost,)


def test_the_file_is_a_plain_tidy_table_for_everybody_else(store):
    import pandas as pd

    store.add(scores_of(np.arange(4).reshape(2, 2, 1), ["NMD"]))
    frame = pd.read_parquet(Path(store.path) / store.info("c")["file"])
    assert list(frame.columns) == ["run", "topic", "measure", "score"]
    assert frame["score"].tolist() == [0, 1, 2, 3]
    manifest = json.loads((Path(store.path) / "manifest.json").read_text())
    assert manifest["schema"] == 4
    assert store.info("c")["measures"][0]["higher_is_better"] is False


def test_a_removed_collection_leaves_nothing_behind(store):
    store.add(scores_of(np.zeros((1, 1, 1)), ["X"]))
    store.remove("c")
    assert store.collections() == ()
    assert not list(Path(store.path).glob("*.parquet"))
    with pytest.raises(StoreError, match="no collection 'c'"):
        store.remove("c")


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("{", "not the manifest"),
        ("[]", "not the manifest"),
        ("", "the file is empty"),
        ('{"schema": 99, "collections": {}}', "schema 99"),
        ('{"schema": 4, "collections": {}}', "not the manifest"),
        ('{"schema": 4, "checksum": "", "collections": {}}', "edited: its checksum"),
    ],
)
def test_a_broken_manifest_is_an_error_that_says_so(tmp_path, manifest, message):
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(StoreError, match=message):
        store = ScoreStore(tmp_path)
        store.collections()
        store.load("c")


def test_files_that_no_store_wrote_are_left_alone(tmp_path):
    for name in ("mine.parquet", "mine.0123456789abcdef.parquet", "notes.txt"):
        (tmp_path / name).write_bytes(b"precious")
    store = ScoreStore(tmp_path)
    for number in range(3):
        store.add(scores_of(np.full((1, 1, 1), number), ["X"]))
    for name in ("mine.parquet", "mine.0123456789abcdef.parquet", "notes.txt"):
        assert (tmp_path / name).read_bytes() == b"precious"
    assert len(list(tmp_path.glob("c.*.parquet"))) == 1


def test_a_lost_manifest_is_not_taken_for_an_empty_store(store):
    store.add(scores_of(np.zeros((1, 1, 1)), ["X"]))
    (Path(store.path) / "manifest.json").unlink()
    with pytest.raises(StoreError, match="the manifest is gone"):
        store.add(scores_of(np.ones((1, 1, 1)), ["X"], collection="d"))
    assert len(list(Path(store.path).glob("c.*.parquet"))) == 1


def test_loading_no_measure_is_refused(store):
    store.add(scores_of(np.zeros((1, 1, 1)), ["X"]))
    with pytest.raises(StoreError, match="no measure of collection c was named"):
        store.load("c", [])


def test_what_is_not_there_is_named(store, tmp_path):
    assert store.collections() == ()
    with pytest.raises(StoreError, match="it is empty"):
        store.load("c")
    store.add(scores_of(np.zeros((1, 1, 1)), ["X"]))
    with pytest.raises(StoreError, match="no measure 'Y'"):
        store.load("c", ["Y"])
    with pytest.raises(StoreError, match="no collection name"):
        store.add(scores_of(np.zeros((1, 1, 1)), ["X"], collection=""))
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        ScoreStore(tmp_path / "file").collections()


def test_a_store_on_another_machine_is_refused_with_what_to_do():
    with pytest.raises(StoreError, match="s3://campaign: a store lies on a local disk: download it first"):
        ScoreStore("s3://campaign")


WRITER = """
import sys
import numpy as np
from metaeval import Scores, ScoreStore
store, seed = ScoreStore(sys.argv[1]), int(sys.argv[2])
labels = dict(runs=[f"r{i}" for i in range(50)], topics=[f"t{i}" for i in range(100)])
store.add(Scores(np.full((50, 100, 2), seed), measures=["A", "B"], collection="c", **labels))
print("ready", flush=True)
for turn in range(10_000):
    values = np.full((50, 100, 2), seed + turn / 10_000)
    store.add(Scores(values, measures=["A", "B"], collection="c", **labels))
"""


def whole(store):
    """Whatever was written last, it was written by one writer in one turn."""
    scores = store.load("c")
    assert scores.values.shape == (50, 100, 2)
    assert len(np.unique(scores.values)) == 1
    return scores.values.flat[0]


def add_own_measures(path, who):
    store = ScoreStore(path)
    for turn in range(15):
        store.add(scores_of(np.full((4, 5, 1), who), [f"m{who}.{turn}"]))


def test_two_processes_writing_one_collection_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=add_own_measures, args=(tmp_path, who)) for who in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    scores = ScoreStore(tmp_path).load("c")
    assert {str(m) for m in scores.measures} == {f"m{who}.{turn}" for who in (1, 2) for turn in range(15)}


def test_reading_while_another_process_writes_gives_a_whole_collection(tmp_path):
    store = ScoreStore(tmp_path)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), "1"], stdout=subprocess.PIPE)
    try:
        writer.stdout.readline()
        end = time.monotonic() + 2
        seen = set()
        while time.monotonic() < end:
            if store.collections():
                seen.add(whole(store))
        assert len(seen) > 1
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
