"""Writers of a store that are killed, bits that flip, files that are damaged, swapped or forged: nothing wrong is read.

HOSTILE_INPUTS=25 kills 300 writers in place of 12, HOSTILE_INPUTS=100 flips every bit.
"""

import hashlib
import json
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metaeval import Scores, ScoreStore
from metaeval.data import store as store_module
from metaeval.errors import StoreError
from tests.data.conftest import content_of, file_of, scores_of

INPUTS = float(os.environ.get("HOSTILE_INPUTS", "1"))
whole_and_partial = pytest.mark.parametrize("measures", [None, ["NMD"]])


SHAPE = (40, 50, 2)
LABELS = {"runs": range(SHAPE[0]), "topics": range(SHAPE[1]), "measures": ["A", "B"]}


def write(path, writer, begun, done):
    """Write turn after turn: every score of a turn has the same value, by which the turn is known."""
    store, turn = ScoreStore(path), done[writer]
    while True:
        turn += 1
        begun[writer] = turn
        store.add(Scores(np.full(SHAPE, 2 * turn + writer), collection="c", **LABELS), replace=bool(turn % 2))
        done[writer] = turn


def read(path, stop, report):
    """Read without a pause, and say what was wrong, if anything was, or how often it was right."""
    store, readings = ScoreStore(path), 0
    try:
        while not stop.is_set():
            if store.collections():
                value_of(store, "B" if readings % 3 == 0 else None)
                readings += 1
        report.put(readings)
    except Exception as error:
        report.put(f"{type(error).__name__}: {error}")


def value_of(store, measures=None):
    """Return the value of the turn that was written last, once all of it is known to be of one turn."""
    scores = store.load("c", measures)
    values = np.unique(scores.values)
    assert scores.values.shape[:2] == SHAPE[:2], scores
    assert len(values) == 1, f"scores of several turns: {values}"
    return int(values[0])


def assert_whole(store, begun, done):
    """Assert that a store holds one turn: one that was begun, and none before the last that was done."""
    assert store.collections() or not any(done), "a write that was done is gone"
    if store.collections():
        turn, writer = divmod(value_of(store), 2)
        assert value_of(store, "A") == 2 * turn + writer
        assert done[writer] <= turn <= begun[writer], "a lost turn, or one that nobody began"


@pytest.mark.skipif(os.name != "posix", reason="signals are for POSIX systems")
def test_killed_writers_leave_a_whole_store_and_whoever_reads_meanwhile_reads_whole_collections(tmp_path):
    # Starting a process is slow when it has to import everything first, and kills would all hit the imports.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["metaeval.data.store", "pyarrow.parquet"])
    rng, store, killed = random.Random(0), ScoreStore(tmp_path), 0
    begun, done = (context.Array("q", 2, lock=False) for _ in range(2))
    stop, report = context.Event(), context.Queue()
    reader = context.Process(target=read, args=(tmp_path, stop, report))
    reader.start()
    while killed < 12 * INPUTS:
        who = range(rng.choice((1, 2)))
        writers = [context.Process(target=write, args=(tmp_path, one, begun, done)) for one in who]
        before, give_up = sum(done), time.monotonic() + 60
        for writer in writers:
            writer.start()
        while sum(done) == before and rng.random() < 0.999 and time.monotonic() < give_up:
            time.sleep(0.001)  # most kills should hit a write, a few the very first moments
        time.sleep(rng.uniform(0, 0.12))
        number = rng.choice((signal.SIGKILL, signal.SIGTERM))
        for writer in writers:
            os.kill(writer.pid, number)
        for writer in writers:
            writer.join()
            assert writer.exitcode == -number
            killed += 1
        assert_whole(store, begun, done)
    stop.set()
    readings = report.get(timeout=60)
    reader.join()
    assert isinstance(readings, int), readings
    assert readings > 1
    store.add(Scores([[[0.0]]], runs=["r"], topics=["t"], measures=["A"], collection="c"), replace=True)
    assert len([path for path in tmp_path.iterdir() if path.name not in (".lock", "manifest.json")]) == 1


def flip_bits(store, share):
    """Flip bits one at a time and count what each read then says: refused, or a wrong answer and where."""

    reads = {"manifest": store.collections} | {
        f"{name} {measures}": partial(store.load, name, measures)
        for name in ("one", "two") for measures in (None, ["NMD"], ["cost"])
    }  # fmt: skip
    right = {what: read() for what, read in reads.items()}
    rng, counts = np.random.default_rng(0), Counter()
    for path in sorted(store.path.glob("[!.]*")):
        content, kind = path.read_bytes(), path.name.partition(".")[0]
        for position in np.flatnonzero(rng.random(8 * len(content)) < share).tolist():
            flipped = bytearray(content)
            flipped[position // 8] ^= 1 << position % 8
            path.write_bytes(flipped)
            for what in reads if kind == "manifest" else (what for what in reads if what.startswith(kind)):
                try:
                    found = reads[what]()
                    counts["harmless" if found == right[what] else f"WRONG {what} bit {position}"] += 1
                except StoreError:
                    counts[f"refused {kind}"] += 1
        path.write_bytes(content)
    return counts


def test_every_bit_of_a_small_store_may_flip_and_nothing_wrong_is_read(store):
    counts = flip_bits(store, share=0.01 * INPUTS)
    assert {*counts} == {"refused manifest", "refused one", "refused two"}
    assert min(counts["refused one"], counts["refused two"]) > 300


@whole_and_partial
@pytest.mark.parametrize(
    "damage",
    [
        lambda content, _: content[: len(content) // 2],
        lambda content, _: content + b"PAR1",
        lambda content, _: b"PAR1 this is no table PAR1",
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
        lambda record, _: record.update(runs=["a", "b", "c"], topics=["1"]),
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
        lambda record, _: record.pop("topics"),
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
    table = edited if isinstance(edited := edit(record, table), pa.Table) else table
    pq.write_table(table.replace_schema_metadata({b"metaeval.store": json.dumps(record)}), path, row_group_size=6)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.rename(path.with_name(store_module._name_file("one", digest)))
    edit_manifest(store, lambda collections: collections.update(one=digest))
    with pytest.raises(StoreError, match=f"^{store.path}"):
        store.load("one", measures)
    assert all(np.prod(shape) <= 12 for shape in rooms)


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.update(three=c.pop("one")),
        lambda c: c.update(one=c["two"]),
        lambda c: c.update(one="../../etc/passwd"),
        lambda c: c.update(one="/../../victim"),
        lambda c: c.update(one=c["one"] + "\n"),
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
        ("", "the file is empty"),
        ("[" * 100_000, "not the manifest"),
        ('{"schema": 99, "collections": {}}', "schema 99"),
        ('{"schema": 4, "collections": {}}', "not the manifest"),
        ('{"schema": 4, "checksum": "", "collections": {}}', "edited: its checksum"),
        ('{"schema": 4, "checksum": NaN}', "not the manifest"),
        ("\ufeff{}", "not the manifest"),
        (None, "the manifest is gone"),
    ],
)
def test_whatever_is_no_manifest_is_refused_in_one_line_and_changes_nothing(store, content, message):
    path = store.path / "manifest.json"
    path.write_text(content, encoding="utf-8") if content is not None else path.unlink()
    before = content_of(store)
    for action in (store.collections, lambda: store.add(scores_of(3, "three"))):
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
    with pytest.raises(StoreError, match=f"{gone}: the file of collection one is gone: restore it"):
        store.load("one")
    assert store.load("two") == scores_of(2, "two")
