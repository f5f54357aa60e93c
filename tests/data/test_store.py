"""The store: every bit kept, whole at every moment, nothing damaged, swapped or edited read as a number."""

import hashlib
import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import threading
from types import SimpleNamespace

import filelock
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
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


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


def content_of(store):
    return {path.name: path.read_bytes() for path in store.path.glob("[!.]*") if path.is_file()}


# What is kept


@settings(max_examples=40, deadline=None)
@given(
    npst.arrays(float, (2, 3, 2), elements=st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)),
    st.lists(texts, min_size=2, max_size=2, unique=True),
    texts,
)
def test_every_bit_and_any_label_comes_back(tmp_path_factory, values, runs, name):
    folder = tmp_path_factory.mktemp("store")
    cost = Measure("cost", higher_is_better=False, range=(0, float("inf")), label="€", source="us")
    labels = {"runs": runs, "topics": "tuv", "measures": ["NMD", cost], "collection": name, "provenance": "somewhere"}
    scores = Scores(values, **labels | {"topics": list("tuv")})
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
    empty.add(make(np.ones((2, 3, 1)), ["NMD"]))
    assert empty.load("c").values[0, 0].tolist() == [1, 10]
    before = content_of(empty)
    for shape, measure, what in (((2, 2, 1), "RNOD", "topics: t2"), ((3, 3, 1), "NMD", "runs: r2")):
        with pytest.raises(StoreError, match=f"same {what} is in one of them only: add them under another"):
            empty.add(make(np.zeros(shape), [measure]))
    assert content_of(empty) == before
    empty.add(make(np.zeros((3, 3, 1)), ["RNOD"]), replace=True)
    assert len(empty.load("c").runs) == 3


@pytest.mark.parametrize("rows", [6, 4])  # of a group: all of a measure, or not
def test_loading_some_measures_decodes_only_those(empty, monkeypatch, rows):
    monkeypatch.setattr(store_module, "_ROWS", rows)
    values, groups, original = np.random.default_rng(0).random((2, 3, 4)), [], pq.ParquetFile.read_row_groups
    empty.add(make(values, ["A", "B", "C", "D"]))

    def watch(self, chosen, columns):
        groups.append([*chosen])
        return original(self, chosen, columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", watch)
    some = empty.load("c", measures=["C", "A"])
    assert groups == ([[2], [0]] if rows == 6 else [[4, 5], [0, 1]])
    assert np.array_equal(some.values, values[..., [2, 0]])


def test_the_file_is_a_plain_tidy_table_for_everybody_else(store):
    path = file_of(store, "one")
    table = pq.read_table(path)
    assert table.column_names == ["run", "topic", "measure", "higher_is_better", "score"]
    assert table["score"].to_pylist() == np.moveaxis(scores_of(1).values, 2, 0).ravel().tolist()
    assert read_scores(path, collection="one") == scores_of(1, "one")
    assert json.loads((store.path / "manifest.json").read_text())["schema"] == 4


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
        (lambda store: store.add(ONE, collection="\ud800"), "which no file can hold"),
        (lambda store: store.add(ONE.to_frame()), "keeps Scores, not DataFrame"),
        (lambda store: ScoreStore(file_of(store, "one")).collections(), "is a file"),
        (lambda store: ScoreStore("a\0b"), "a folder on a local disk"),
        (lambda store: ScoreStore("s3://campaign"), "a folder on a local disk: download it first"),
        (lambda store: ScoreStore("~nobody-has-this-name/store"), "no such user"),
    ],
)
def test_what_is_not_there_or_cannot_be_kept_is_named(store, call, message):
    before = content_of(store)
    with pytest.raises(StoreError, match=message):
        call(store)
    assert content_of(store) == before


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


def test_other_threads_can_write_too(store):
    threads = [threading.Thread(target=store.add, args=(scores_of(n, f"thread {n}"),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.collections()) == 6


@posix
def test_killed_writers_leave_a_whole_store_and_whoever_reads_meanwhile_reads_whole_collections(tmp_path):
    counts = kill_writers(tmp_path, kills=12, seed=0)  # python -m tests.data.kill_store kills 300
    assert counts["killed"] >= 12
    assert counts["readings beside"] > 1
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


@whole_and_partial
@pytest.mark.parametrize(
    "damage",
    [
        lambda content, _: content[: len(content) // 2],
        lambda content, _: content[:40] + bytes([content[40] ^ 0xFF]) + content[41:],
        lambda content, _: content + b"PAR1",
        lambda content, _: b"PAR1 this is no table PAR1",
        lambda content, _: b"",
        lambda _, other: other,
    ],
)
def test_a_damaged_or_swapped_collection_is_refused_and_can_be_replaced(store, measures, damage):
    path, other = file_of(store, "one"), file_of(store, "two")
    path.write_bytes(damage(path.read_bytes(), other.read_bytes()))
    for action in (lambda: store.load("one", measures), lambda: store.add(scores_of(3, "one"))):
        with pytest.raises(StoreError, match="damaged.*restore it from a copy"):
            action()
    store.add(scores_of(3, "one"), replace=True)
    assert not path.exists()
    assert (store.load("one"), store.load("two")) == (scores_of(3, "one"), scores_of(2, "two"))


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
        lambda c: c.update(one="../victim"),
        lambda c: c.update(one="/../../victim"),
        lambda c: c.update(one=c["one"].upper()),
        lambda c: c.update(one=c["one"] + "\n"),
        lambda c: c.update(one=c["one"][:16]),
        lambda c: c.update(one={"file": "two.parquet"}),
        lambda c: c.update(one=None),
    ],
)
@whole_and_partial
def test_an_edited_manifest_is_refused_even_under_its_right_checksum_and_reaches_no_other_file(
    store, tmp_path, measures, edit, checksum
):
    victim = tmp_path / "victim.parquet"
    victim.write_text("precious")
    edit_manifest(store, edit, checksum)
    with pytest.raises(StoreError, match="damaged|no collection 'one'|of collection one is gone"):
        store.load("one", measures)
    if not checksum:
        for action in (store.collections, lambda: store.add(scores_of(3, "one"), replace=True)):
            with pytest.raises(StoreError, match="edited: its checksum.*restore it from a copy"):
                action()
    assert victim.read_text() == "precious"


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
    before = content_of(store)
    for action in (store.collections, lambda: store.add(scores_of(3))):
        with pytest.raises(StoreError, match=message) as caught:
            action()
        assert "\n" not in str(caught.value)
    assert content_of(store) == before


def test_a_manifest_laid_out_anew_is_the_same_and_an_earlier_one_names_files_that_are_gone(store):
    path = store.path / "manifest.json"
    earlier = path.read_text()
    path.write_text(json.dumps(json.loads(earlier), sort_keys=True, indent=4))
    assert store.load("one") == scores_of(1, "one")
    gone = file_of(store, "one").name
    store.add(scores_of(3, "one"), replace=True)
    path.write_text(earlier)
    with pytest.raises(StoreError, match=f"the file {gone} of collection one is gone: restore it"):
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
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], check=True, capture_output=True, cwd=store.path, env=environment
    )
    assert ScoreStore(store.path / "new").load("one") == right


# Disks


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
    def refuse(self):
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with pytest.raises(StoreError, match="cannot be locked on this disk"):
        store.add(scores_of(3))
