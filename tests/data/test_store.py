"""The store: every bit kept, whole at every moment, nothing damaged, swapped or edited read as a number."""

import hashlib
import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

from metaeval import Measure, Scores, ScoreStore
from metaeval.data import store as store_module
from metaeval.errors import StoreError
from metaeval.io import read_scores
from tests.data.flip_store import flip_bits, make_store
from tests.data.kill_store import LABELS, SHAPE, judge, kill_writers

posix = pytest.mark.skipif(os.name != "posix", reason="signals and FIFOs are for POSIX systems")
whole_and_partial = pytest.mark.parametrize("measures", [None, ["NMD"]])


def make(values, measures, collection="c", **more):
    values = np.asarray(values, dtype=float)
    runs, topics = [f"r{i}" for i in range(values.shape[0])], [f"t{i}" for i in range(values.shape[1])]
    return Scores(values, runs=runs, topics=topics, measures=measures, collection=collection, **more)


def scores_of(seed, collection="c"):
    measures = ["NMD", Measure("cost", higher_is_better=False)]
    return make(np.random.default_rng(seed).random((2, 3, 2)), measures, collection)


@pytest.fixture
def empty(tmp_path):
    return ScoreStore(tmp_path / "store")


@pytest.fixture
def store(empty):
    empty.add(scores_of(1, "one"))
    empty.add(scores_of(2, "two"))
    return empty


def file_of(store, collection):
    return next(store.path.glob(f"{collection}.*.parquet"))


def parquet_files(store):
    return len(list(store.path.glob("*.parquet")))


# What is kept


@settings(max_examples=25, deadline=None)
@given(npst.arrays(float, (2, 3, 2), elements=st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)))
def test_a_round_trip_keeps_every_bit(tmp_path_factory, values):
    store, scores = ScoreStore(tmp_path_factory.mktemp("store")), make(values, ["NMD", "cost"], provenance="somewhere")
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


def test_adding_a_measure_keeps_the_others_and_aligns_by_label(empty):
    empty.add(make(np.arange(6).reshape(2, 3, 1), ["NMD"]))
    new = make(10 + np.arange(6).reshape(2, 3, 1), ["RNOD"]).sel(runs=["r1", "r0"], topics=["t2", "t0", "t1"])
    empty.add(new)
    both = empty.load("c")
    assert [str(m) for m in both.measures] == ["NMD", "RNOD"]
    assert both.values[..., 0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert both.values[..., 1].tolist() == [[10, 11, 12], [13, 14, 15]]


def test_a_measure_given_again_takes_the_old_ones_place(empty):
    empty.add(make(np.zeros((2, 3, 2)), ["NMD", "RNOD"]))
    empty.add(make(np.ones((2, 3, 1)), ["NMD"]))
    both = empty.load("c")
    assert [str(m) for m in both.measures] == ["NMD", "RNOD"]
    assert both.values[0, 0].tolist() == [1, 0]


def test_other_runs_or_topics_are_refused_and_change_nothing(empty):
    first = make(np.zeros((2, 3, 1)), ["NMD"])
    empty.add(first)
    with pytest.raises(StoreError, match="same topics: t2 is in one of them only: add them under another"):
        empty.add(make(np.zeros((2, 2, 1)), ["RNOD"]))
    with pytest.raises(StoreError, match="same runs: r2 is in one of them only"):
        empty.add(make(np.zeros((3, 3, 1)), ["NMD"]))
    assert empty.load("c") == first
    empty.add(make(np.zeros((3, 3, 1)), ["RNOD"]), replace=True)
    assert len(empty.load("c").runs) == 3


@pytest.mark.parametrize("rows", [6, 4])  # of a group: all of a measure, or not
def test_loading_some_measures_decodes_only_those(empty, monkeypatch, rows):
    monkeypatch.setattr(store_module, "_ROWS", rows)
    values = np.random.default_rng(0).random((2, 3, 4))
    empty.add(make(values, ["A", "B", "C", "D"]))
    groups = []
    original = pq.ParquetFile.read_row_groups

    def watch(self, chosen, columns):
        groups.append([*chosen])
        return original(self, chosen, columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", watch)
    some = empty.load("c", measures=["C", "A"])
    assert groups == ([[2], [0]] if rows == 6 else [[4, 5], [0, 1]])
    assert np.array_equal(some.values, values[..., [2, 0]])


def test_directions_and_ranges_of_own_measures_come_back(empty):
    cost = Measure("cost", higher_is_better=False, range=(0, float("inf")), label="€", source="us")
    empty.add(make(np.zeros((1, 1, 1)), [cost]))
    assert empty.load("c").measures == (cost,)


def test_the_file_is_a_plain_tidy_table_for_everybody_else(store):
    path = file_of(store, "one")
    table = pq.read_table(path)
    assert table.column_names == ["run", "topic", "measure", "higher_is_better", "score"]
    assert table["score"].to_pylist() == np.moveaxis(scores_of(1).values, 2, 0).ravel().tolist()
    assert read_scores(path, collection="one") == scores_of(1, "one")
    record = json.loads(table.schema.metadata[b"metaeval.store"])
    assert (record["collection"], record["topics"]) == ("one", ["t0", "t1", "t2"])
    assert json.loads((store.path / "manifest.json").read_text())["schema"] == 4


def test_a_removed_collection_leaves_nothing_behind(store):
    store.remove("one")
    assert store.collections() == ("two",)
    assert parquet_files(store) == 1
    with pytest.raises(StoreError, match="no collection 'one'"):
        store.remove("one")


def test_files_that_no_store_wrote_are_left_alone(empty):
    empty.path.mkdir()
    names = ("mine.parquet", "mine.0123456789abcdef.parquet", "notes.txt")
    for name in names:
        (empty.path / name).write_bytes(b"precious")
    if os.name == "posix":
        os.mkfifo(empty.path / "x.0123456789abcdef.parquet")
    for number in range(3):
        empty.add(make(np.full((1, 1, 1), number), ["X"]))
    assert {(empty.path / name).read_bytes() for name in names} == {b"precious"}
    assert len(list(empty.path.glob("c.*.parquet"))) == 1


def test_what_is_not_there_or_cannot_be_kept_is_named(empty, tmp_path):
    assert empty.collections() == ()
    with pytest.raises(StoreError, match="it is empty"):
        empty.load("c")
    empty.add(make(np.zeros((1, 1, 1)), ["X"]))
    (tmp_path / "file").write_text("x")
    for refused, message in (
        (lambda: empty.load("c", ["Y"]), "no measure 'Y'"),
        (lambda: empty.load("c", []), "at least one run, topic and measure is needed"),
        (lambda: empty.load(5), "there is no collection 5"),
        (lambda: empty.load(["c"]), "there is no collection"),
        (lambda: empty.add(make(np.zeros((1, 1, 1)), ["X"], "")), "no collection name"),
        (lambda: empty.add(scores_of(1).to_frame()), "keeps Scores, not DataFrame"),
        (lambda: ScoreStore(tmp_path / "file").collections(), "is a file"),
        (lambda: ScoreStore("a\0b"), "a folder on a local disk"),
        (lambda: ScoreStore("s3://campaign"), "a folder on a local disk: download it first"),
        (lambda: ScoreStore("~nobody-has-this-name/store"), "no such user"),
    ):
        with pytest.raises(StoreError, match=message):
            refused()
    with pytest.raises(StoreError, match="which no file can hold"):
        empty.add(make(np.zeros((1, 1, 1)), ["X"], "\ud800"))


# Several writers and readers, and writers that are killed


def add_own_measures(path, who):
    store = ScoreStore(path)
    for turn in range(15):
        store.add(make(np.full((4, 5, 1), who), [f"m{who}.{turn}"]))


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


WRITER = """
import sys
import numpy as np
from metaeval import Scores, ScoreStore
labels = dict(runs=[f"r{i}" for i in range(50)], topics=[f"t{i}" for i in range(100)], measures=["A", "B"])
for turn in range(10_000):
    ScoreStore(sys.argv[1]).add(Scores(np.full((50, 100, 2), turn), collection="c", **labels))
    print("ready", flush=True)
"""


def test_reading_while_another_process_writes_gives_a_whole_collection(empty):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(empty.path)], stdout=subprocess.PIPE)
    try:
        writer.stdout.readline()
        end, seen = time.monotonic() + 2, set()
        while time.monotonic() < end:
            values = np.unique(empty.load("c").values)
            assert len(values) == 1  # whatever was written last, it was written in one turn
            seen.add(values[0])
        assert len(seen) > 1
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()


def test_other_threads_can_write_too(store):
    threads = [threading.Thread(target=store.add, args=(scores_of(n, f"thread {n}"),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.collections()) == 6


@posix
def test_killed_writers_leave_a_whole_store_and_nothing_else(tmp_path):
    counts = kill_writers(tmp_path, kills=12, seed=0)  # python -m tests.data.kill_store kills 300
    assert counts["killed"] >= 12
    assert not [what for what in counts if what.startswith(("NOT WHOLE", "STRAY"))], counts


@pytest.mark.parametrize("done", [1, 7])
@pytest.mark.parametrize("mixed", [False, True])
def test_what_judges_a_store_after_a_kill_finds_a_lost_and_a_mixed_collection(tmp_path, mixed, done):
    values = np.full(SHAPE, 2 * 3.0)  # turn 3 of writer 0
    values[0, 0, 0] += 2 * mixed
    store = ScoreStore(tmp_path)
    store.add(Scores(values, measures=["A", "B"], collection="c", **LABELS))
    verdict = judge(store, begun=[max(3, done), 0], done=[done, 0])
    assert verdict == "whole" if done == 1 and not mixed else verdict.startswith("NOT WHOLE")


# Files that are damaged, swapped or forged


def test_every_bit_of_a_small_store_may_flip_and_nothing_wrong_is_read(tmp_path):
    make_store(tmp_path)
    counts = flip_bits(tmp_path, share=0.01)  # python -m tests.data.flip_store flips them all
    assert {key[2] for key in counts} == {"detected", "flips"}
    assert min(counts[name, "whole", "detected"] for name in ("one", "two")) > 100


def test_flipping_bits_finds_a_store_that_compares_no_checksums(tmp_path, monkeypatch):
    digest = SimpleNamespace(hexdigest=lambda: "ab" * 32)
    fake = SimpleNamespace(sha256=lambda *_: digest, file_digest=lambda *_: digest)
    monkeypatch.setattr(store_module, "hashlib", fake)
    make_store(tmp_path)
    counts = flip_bits(tmp_path, share=0.01)
    assert any(key[2].startswith("WRONG load") for key in counts)


def write_again(path, column):
    """Write a file with two cells of a column exchanged."""
    table = pq.read_table(path)
    cells = table.column(column).to_pylist()
    cells[0], cells[3] = cells[3], cells[0]
    at, field = table.column_names.index(column), table.schema.field(column)
    pq.write_table(table.set_column(at, field, pa.array(cells).cast(field.type)), path, row_group_size=6)


def write_bytes(change):
    return lambda path: path.write_bytes(change(path.read_bytes()))


@whole_and_partial
@pytest.mark.parametrize(
    "damage",
    [
        write_bytes(lambda content: content[: len(content) // 2]),
        write_bytes(lambda content: content[:40] + bytes([content[40] ^ 0xFF]) + content[41:]),
        write_bytes(lambda content: content + b"PAR1"),
        write_bytes(lambda content: b"PAR1 this is no table PAR1"),
        write_bytes(lambda content: b""),
        lambda path: write_again(path, "run"),
        lambda path: write_again(path, "topic"),
        lambda path: write_again(path, "score"),
    ],
)
def test_a_damaged_collection_is_refused_and_can_be_replaced_or_removed(store, measures, damage):
    for name, mend in (
        ("one", lambda: store.add(scores_of(3, "one"), replace=True)),
        ("two", lambda: store.remove("two")),
    ):
        path = file_of(store, name)
        damage(path)
        for action in (lambda name=name: store.load(name, measures), lambda name=name: store.add(scores_of(3, name))):
            with pytest.raises(StoreError, match="damaged.*restore it from a copy"):
                action()
        mend()
        assert not path.exists()
    assert store.load("one") == scores_of(3, "one")
    assert parquet_files(store) == 1


@pytest.mark.parametrize("seed", [1, 2])
@whole_and_partial
def test_files_of_two_collections_that_were_swapped_are_refused(store, measures, seed):
    store.add(scores_of(seed, "two"), replace=True)
    first, second = file_of(store, "one"), file_of(store, "two")
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    for name in ("one", "two"):
        with pytest.raises(StoreError, match="damaged.*restore it from a copy"):
            store.load(name, measures)


def test_a_file_that_is_gone_is_named(store):
    path = file_of(store, "one")
    path.unlink()
    with pytest.raises(StoreError, match=f"the file {path.name} of collection one is gone: restore it"):
        store.load("one")


def edit_manifest(store, edit, checksum=True):
    path = store.path / "manifest.json"
    content = json.loads(path.read_text())
    edit(content["collections"])
    if checksum:
        content["checksum"] = store_module._checksum(content["collections"])
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    "edit",
    [
        lambda record, _: record.update(topics=10**9),
        lambda record, _: record.update(topics=[*map(str, range(10**5))]),
        lambda record, _: record.update(runs=["a", "b", "c"], topics=["1"]),
        lambda record, _: record.update(runs=[]),
        lambda record, _: record.update(runs="ab"),
        lambda record, _: record.update(collection="two"),
        lambda record, _: record.update(clusters=["d", "d"]),
        lambda record, _: record.update(measures=[]),
        lambda record, _: record["measures"].pop(),
        lambda record, _: record["measures"][0].update(name=5),
        lambda record, _: record["measures"][0].pop("higher_is_better"),
        lambda record, _: [each.update(range=["low", 1], higher_is_better=None) for each in record["measures"]],
        lambda record, _: record["measures"][0].update(repeats=3),
        lambda record, _: record["measures"][0].update(repeats={"count": 3, "variance": "much"}),
        lambda record, _: record["measures"][0].update(repeats={"count": 3}),
        lambda record, _: record.pop("topics"),
        lambda record, _: record.pop("provenance"),
        lambda _, table: table.slice(0, 6),
        lambda _, table: table.drop_columns("score"),
        lambda _, table: table.set_column(len(table.column_names) - 1, "score", pa.array([None] * 12, pa.float64())),
        lambda _, table: table.set_column(len(table.column_names) - 1, "score", pa.array(["1"] * 12)),
    ],
)
@whole_and_partial
def test_a_forged_file_is_refused_and_no_room_is_made_for_rows_that_it_does_not_have(
    store, monkeypatch, measures, edit
):
    path, rooms = file_of(store, "one"), []
    counting = {**vars(np), "empty": lambda shape: rooms.append(shape) or np.empty(shape)}
    monkeypatch.setattr(store_module, "np", SimpleNamespace(**counting))
    # The edited table and record get a checksum, a name and a manifest that fit.
    table = pq.read_table(path)
    record = json.loads(table.schema.metadata[b"metaeval.store"])
    edited = edit(record, table)
    table = edited if isinstance(edited, pa.Table) else table
    pq.write_table(table.replace_schema_metadata({b"metaeval.store": json.dumps(record)}), path, row_group_size=6)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.rename(path.with_name(store_module._name_file("one", digest)))
    edit_manifest(store, lambda collections: collections.update(one=digest))
    with pytest.raises(StoreError, match=f"^{store.path}"):
        store.load("one", measures)
    assert all(np.prod(shape) <= 12 for shape in rooms)


# The manifest


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.update(three=c.pop("one")),
        lambda c: c.update(one=c["two"]),
        lambda c: c.update(one="../../etc/passwd"),
        lambda c: c.update(one="/../../victim"),
        lambda c: c.update(one=c["one"].upper()),
        lambda c: c.update(one=c["one"] + "\n"),
        lambda c: c.update(one=c["one"][:16]),
        lambda c: c.update(one={"file": "two.parquet"}),
        lambda c: c.update(one=None),
    ],
)
@whole_and_partial
def test_an_edited_manifest_is_refused_even_under_its_right_checksum(store, measures, edit, checksum):
    edit_manifest(store, edit, checksum)
    with pytest.raises(StoreError, match="damaged|no collection 'one'|of collection one is gone"):
        store.load("one", measures)
    if not checksum:
        with pytest.raises(StoreError, match="edited: its checksum.*restore it from a copy"):
            store.collections()


@pytest.mark.parametrize("digest", ["/../../victim", "../victim"])
def test_a_forged_manifest_reaches_no_file_outside_the_store(store, tmp_path, digest):
    victim = tmp_path / "victim.parquet"
    victim.write_text("precious")
    edit_manifest(store, lambda collections: collections.update(one=digest))
    for action in (
        lambda: store.add(scores_of(3, "one"), replace=True),
        lambda: store.remove("one"),
        lambda: store.load("one"),
    ):
        with pytest.raises(StoreError, match="not the manifest"):
            action()
    assert victim.read_text() == "precious"


def test_a_manifest_laid_out_anew_is_the_same(store):
    path = store.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True, indent=4))
    assert store.load("one") == scores_of(1, "one")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not the manifest"),
        ("[]", "not the manifest"),
        ("", "the file is empty"),
        ("[" * 100_000, "not the manifest"),
        ('{"schema": 99, "collections": {}}', "schema 99"),
        ('{"schema": 4, "collections": {}}', "not the manifest"),
        ('{"schema": 4, "checksum": "", "collections": {}}', "edited: its checksum"),
        ('{"schema": 4, "checksum": NaN}', "not the manifest"),
        ("\ufeff{}", "not the manifest"),
        ("\0", "not the manifest"),
        (None, "the manifest is gone"),
    ],
)
def test_whatever_is_no_manifest_is_refused_in_one_line_and_changes_nothing(store, content, message):
    path = store.path / "manifest.json"
    path.write_text(content, encoding="utf-8") if content is not None else path.unlink()
    for action in (store.collections, lambda: store.add(scores_of(3)), lambda: store.remove("one")):
        with pytest.raises(StoreError, match=message) as caught:
            action()
        assert "\n" not in str(caught.value)
    assert parquet_files(store) == 2


def test_an_earlier_manifest_put_back_names_files_that_are_gone(store):
    path = store.path / "manifest.json"
    earlier = path.read_text()
    store.add(scores_of(3, "one"), replace=True)
    path.write_text(earlier)
    with pytest.raises(StoreError, match="is gone: restore it"):
        store.load("one")
    assert store.load("two") == scores_of(2, "two")


@pytest.mark.parametrize("schema", [1, 2, 3, 5])
def test_a_store_of_another_layout_says_how_to_take_its_scores_over_and_that_works(store, schema):
    right, path = store.load("one"), store.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": schema}))
    for action in (store.collections, lambda: store.add(scores_of(1))):
        with pytest.raises(StoreError, match=f"has schema {schema}, this version of metaeval reads schema 4") as caught:
            action()
    command = str(caught.value).split("`")[1]
    for text, name in (("FILE.parquet", file_of(store, "one").name), ("NEW_STORE", "new"), ("NAME", "one")):
        command = command.replace(text, name)
    subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], check=True, capture_output=True, cwd=store.path,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert ScoreStore(store.path / "new").load("one") == right


# Disks


@posix
@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(store, kind):
    make_odd = {"folder": os.mkdir, "fifo": os.mkfifo, "device": lambda path: os.symlink("/dev/zero", path)}[kind]
    manifest = (store.collections, lambda: store.add(scores_of(3)), lambda: store.remove("one"))
    for path, actions in (
        (file_of(store, "one"), (lambda: store.load("one"), lambda: store.load("one", ["NMD"]))),
        (store.path / "manifest.json", manifest),
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
    before = {path.name: path.read_bytes() for path in store.path.glob("[!.]*")}
    original, done = store_module.write_atomically, []

    def fail_after(path, content):
        if len(done) == calls:
            raise error
        done.append(path)
        original(path, content)

    monkeypatch.setattr(store_module, "write_atomically", fail_after)
    with pytest.raises(StoreError if isinstance(error, Exception) else KeyboardInterrupt, match=sentence):
        store.add(scores_of(3, "three"))
    assert {path.name: path.read_bytes() for path in store.path.glob("[!.]*")} == before
    assert not list(store.path.glob(".writing-*"))


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), MemoryError()])
@pytest.mark.parametrize("name", ["open_regular", "read_bounded"])
def test_what_cannot_be_read_is_one_sentence(store, monkeypatch, error, name):
    def fail(*_):
        raise error

    monkeypatch.setattr(store_module, name, fail)
    for action in (lambda: store.load("one"), *[store.collections] * (name == "read_bounded")):
        with pytest.raises(StoreError, match="cannot be read: (Permission denied|there is not enough memory)"):
            action()


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_can_be_read_and_not_written(store):
    store.path.chmod(0o500)
    try:
        assert store.load("one") == scores_of(1, "one")
        with pytest.raises(StoreError, match="cannot be written: Permission denied"):
            store.add(scores_of(3))
    finally:
        store.path.chmod(0o700)


def test_a_disk_without_locks_is_said(store, monkeypatch):
    import filelock

    def refuse(self):
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with pytest.raises(StoreError, match="cannot be locked on this disk"):
        store.add(scores_of(3))
