"""The store when files are damaged, swapped or edited, the disk is in the way, or the writer is ended."""

import json
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metaeval import Measure, Scores, ScoreStore
from metaeval.data import store as store_module
from metaeval.errors import MetaevalError, StoreError
from tests.data.flip_store import flip_bits, make_store
from tests.data.kill_store import LABELS, SHAPE, judge, kill_writers

posix = pytest.mark.skipif(os.name != "posix", reason="signals and FIFOs are for POSIX systems")
whole_and_partial = pytest.mark.parametrize("measures", [None, ["NMD"]])


def scores_of(seed, collection="c", runs="ab"):
    values = np.random.default_rng(seed).random((2, 3, 2))
    measures = ["NMD", Measure("cost", higher_is_better=False)]
    return Scores(values, runs=list(runs), topics=["1", "2", "3"], measures=measures, collection=collection)


@pytest.fixture
def store(tmp_path):
    store = ScoreStore(tmp_path / "store")
    store.add(scores_of(1, "one"))
    store.add(scores_of(2, "two"))
    return store


def file_of(store, collection):
    return Path(store.path) / store.info(collection)["file"]


def edit_manifest(store, edit, checksum=True):
    path = Path(store.path) / "manifest.json"
    content = json.loads(path.read_text())
    edit(content["collections"])
    if checksum:
        content["checksum"] = store_module._checksum(content["collections"])
    path.write_text(json.dumps(content))


def test_every_bit_of_a_small_store_may_flip_and_nothing_wrong_is_read(tmp_path):
    make_store(tmp_path)
    counts = flip_bits(tmp_path, share=0.01)  # python -m tests.data.flip_store flips them all
    assert not [key for key in counts if key[2].startswith("WRONG")]
    assert {key[2] for key in counts if key[0] == "manifest"} == {"detected", "flips"}
    for name in ("one", "two"):
        assert (
            counts[name, "whole", "detected"] > 0.7 * counts[name, "", "flips"] > 100
        )  # the others hit what is not read
        assert counts[name, "partial", "detected"] > counts[name, "", "flips"]


def test_flipping_bits_finds_a_store_that_compares_no_checksums(tmp_path, monkeypatch):
    digest = SimpleNamespace(hexdigest=lambda: "ab" * 32)
    fake = SimpleNamespace(sha256=lambda *_: digest, file_digest=lambda *_: digest)
    monkeypatch.setattr(store_module, "hashlib", fake)
    make_store(tmp_path)
    counts = flip_bits(tmp_path, share=0.01)
    assert any(key[2].startswith("WRONG load") for key in counts)


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


@pytest.mark.parametrize("seed", [1, 2])
@whole_and_partial
def test_files_of_two_collections_that_were_swapped_are_refused(store, measures, seed):
    store.add(scores_of(seed, "two"), replace=True)
    first, second = file_of(store, "one"), file_of(store, "two")
    assert seed != 1 or first.stat().st_size == second.stat().st_size
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    for name in ("one", "two"):
        with pytest.raises(StoreError, match="damaged.*restore it from a copy"):
            store.load(name, measures)


@whole_and_partial
@pytest.mark.parametrize("column", ["run", "topic", "score"])
def test_a_file_written_again_with_other_content_is_refused(store, measures, column):
    path = file_of(store, "one")
    table = pq.read_table(path)
    changed = table.column(column).to_pylist()
    changed[0], changed[3] = changed[3], changed[0]
    position = table.column_names.index(column)
    changed = pa.chunked_array([pa.array(changed).cast(table.schema.field(position).type)])
    pq.write_table(table.set_column(position, table.schema.field(position), changed), path, row_group_size=6)
    with pytest.raises(StoreError, match="damaged"):
        store.load("one", measures)


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
@pytest.mark.parametrize("action", ["remove", "replace", "load", "info"])
def test_a_forged_manifest_reaches_no_file_outside_the_store(store, tmp_path, digest, action):
    victim = tmp_path / "victim.parquet"
    victim.write_text("precious")
    edit_manifest(store, lambda collections: collections.update(one=digest))
    with pytest.raises(StoreError, match="not the manifest"):
        store.add(scores_of(3, "one"), replace=True) if action == "replace" else getattr(store, action)("one")
    assert victim.read_text() == "precious"


def test_a_manifest_laid_out_anew_is_the_same(store):
    path = Path(store.path) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True, indent=4))
    assert store.load("one") == scores_of(1, "one")


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"schema": 4, "checksum": NaN}', '{"schema": 4}', "\ufeff{}", "\0"]
)
def test_whatever_is_no_manifest_is_refused_in_one_line(store, content):
    (Path(store.path) / "manifest.json").write_text(content, encoding="utf-8")
    for action in (store.collections, lambda: store.add(scores_of(3)), lambda: store.remove("one")):
        with pytest.raises(StoreError, match="not the manifest") as caught:
            action()
        assert "\n" not in str(caught.value)


def test_an_earlier_manifest_put_back_names_files_that_are_gone(store):
    path = Path(store.path) / "manifest.json"
    earlier = path.read_text()
    store.add(scores_of(3, "one"), replace=True)
    path.write_text(earlier)
    with pytest.raises(StoreError, match="is gone: restore it"):
        store.load("one")
    assert store.load("two") == scores_of(2, "two")


def test_a_lost_manifest_is_not_an_empty_store_to_a_reader_either(store):
    (Path(store.path) / "manifest.json").unlink()
    with pytest.raises(StoreError, match="the manifest is gone"):
        store.load("one")


@whole_and_partial
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:40] + bytes([content[40] ^ 0xFF]) + content[41:],
        lambda content: content + b"PAR1",
        lambda content: b"PAR1 this is no table PAR1",
        lambda content: b"",
    ],
)
def test_a_damaged_collection_is_refused_and_can_be_replaced_or_removed(store, measures, damage):
    for name, mend in (
        ("one", lambda: store.add(scores_of(3, "one"), replace=True)),
        ("two", lambda: store.remove("two")),
    ):
        path = file_of(store, name)
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(StoreError, match="damaged"):
            store.load(name, measures)
        with pytest.raises(StoreError, match="damaged"):
            store.add(scores_of(3, name))
        mend()
        assert not path.exists()
    assert store.load("one") == scores_of(3, "one")
    assert len(list(Path(store.path).glob("*.parquet"))) == 1


def test_a_file_that_is_gone_is_named(store):
    path = file_of(store, "one")
    path.unlink()
    with pytest.raises(StoreError, match=f"the file {path.name} of collection one is gone: restore it"):
        store.load("one")


def test_every_file_says_whose_scores_it_holds(store):
    metadata = pq.read_metadata(file_of(store, "one"))
    record = json.loads(metadata.metadata[b"metaeval.store"])
    entry = store.info("one")
    assert record == {key: entry[key] for key in record}
    assert record["collection"] == "one"
    assert metadata.num_row_groups == len(record["measures"]) == 2


def test_directions_that_names_do_not_tell_stand_in_the_file(store, tmp_path):
    from metaeval.io import read_scores

    again = read_scores(file_of(store, "one"), collection="one")
    assert again == scores_of(1, "one")
    assert [measure.higher_is_better for measure in again.measures] == [False, False]


@pytest.mark.parametrize("scheme", ["file://", "file:", "local://"])
def test_a_file_url_is_a_local_path_for_writing_and_removing_too(tmp_path, scheme):
    store = ScoreStore(f"{scheme}{tmp_path}/store")
    assert store.path == str(tmp_path / "store")
    store.add(scores_of(1))
    assert ScoreStore(tmp_path / "store").load("c") == store.load("c", None) == scores_of(1)
    store.remove("c")
    assert not list((tmp_path / "store").glob("*.parquet"))


@pytest.mark.parametrize("path", ["a\0b", "~nobody-has-this-name/store"])
def test_a_path_that_cannot_be_is_refused(path):
    with pytest.raises(StoreError, match="cannot be the path|no such user"):
        ScoreStore(path)


def make_odd(path, kind):
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@posix
@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(store, kind):
    make_odd(file_of(store, "one"), kind)
    for measures in (None, ["NMD"]):
        with pytest.raises(StoreError, match="not a regular file"):
            store.load("one", measures)
    make_odd(Path(store.path) / "manifest.json", kind)
    for action in (store.collections, lambda: store.add(scores_of(3)), lambda: store.remove("one")):
        with pytest.raises(StoreError, match="not a regular file"):
            action()


@posix
def test_odd_files_beside_the_scores_are_left_alone(store):
    odd = Path(store.path) / "x.0123456789abcdef.parquet"
    os.mkfifo(odd)
    store.add(scores_of(3))
    assert odd.exists()


def test_a_manifest_has_a_largest_size_for_readers_and_writers(store, monkeypatch):
    size = (Path(store.path) / "manifest.json").stat().st_size
    monkeypatch.setattr(store_module, "LARGEST", size + 50)
    with pytest.raises(StoreError, match="keep further ones in another folder"):
        store.add(scores_of(3, "three"))
    assert store.collections() == ("one", "two")
    assert len(list(Path(store.path).glob("*.parquet"))) == 2
    monkeypatch.setattr(store_module, "LARGEST", size - 1)
    with pytest.raises(StoreError, match="is larger than"):
        store.collections()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), "cannot be written: No space left on device"),
        (PermissionError(13, "Permission denied"), "cannot be written: Permission denied"),
        (MemoryError(), "cannot be written: there is not enough memory"),
    ],
)
@pytest.mark.parametrize("calls", [0, 1])
def test_a_disk_in_the_way_is_one_sentence_and_leaves_the_old_state(store, monkeypatch, error, sentence, calls):
    before = {path.name: path.read_bytes() for path in Path(store.path).glob("[!.]*")}
    original, done = store_module.write_atomically, []

    def fail_after(path, content):
        if len(done) == calls:
            raise error
        done.append(path)
        original(path, content)

    monkeypatch.setattr(store_module, "write_atomically", fail_after)
    with pytest.raises(StoreError, match=sentence):
        store.add(scores_of(3, "three"))
    assert {path.name: path.read_bytes() for path in Path(store.path).glob("[!.]*")} == before
    assert not list(Path(store.path).glob(".writing-*"))


def test_an_interrupted_write_leaves_nothing_behind(store, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(store_module, "_encode_manifest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.add(scores_of(3, "three"))
    assert len(list(Path(store.path).glob("*.parquet"))) == 2


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), MemoryError()])
def test_what_cannot_be_read_is_one_sentence(store, monkeypatch, error):
    def fail(*_):
        raise error

    for name, actions in {
        "open_regular": [lambda: store.load("one"), lambda: store.info("one")],
        "read_bounded": [store.collections, lambda: store.info("one"), lambda: store.load("one")],
    }.items():
        monkeypatch.setattr(store_module, name, fail)
        for action in actions:
            with pytest.raises(StoreError, match="cannot be read: (Permission denied|there is not enough memory)"):
                action()


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_can_be_read_and_not_written(store):
    Path(store.path).chmod(0o500)
    try:
        assert store.load("one") == scores_of(1, "one")
        with pytest.raises(StoreError, match="cannot be written: Permission denied"):
            store.add(scores_of(3))
    finally:
        Path(store.path).chmod(0o700)


@pytest.mark.parametrize("what", ["runs", "collection"])
def test_names_that_no_file_can_hold_are_refused(store, what):
    with pytest.raises(MetaevalError, match=r"which no file can hold|run number 2 has a name with half a letter"):
        store.add(scores_of(3, runs="a\ud800") if what == "runs" else scores_of(3, "\ud800"))


def test_what_is_not_scores_is_refused(store):
    with pytest.raises(StoreError, match="keeps Scores, not DataFrame"):
        store.add(scores_of(1).to_frame())
    for name in (None, 5, ["one"]):
        with pytest.raises(StoreError, match="there is no collection"):
            store.load(name)


def test_a_disk_without_locks_is_said(store, monkeypatch):
    import filelock

    def refuse(self):
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with pytest.raises(StoreError, match="cannot be locked on this disk"):
        store.add(scores_of(3))


def test_other_threads_can_write_too(store):
    failed = []

    def add(number):
        try:
            store.add(scores_of(number, f"thread {number}"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(store.collections()) == 6
