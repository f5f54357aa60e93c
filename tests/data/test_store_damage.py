"""The store when files are damaged, swapped or edited, the disk is in the way, or the writer is ended."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metaeval import Measure, Scores, ScoreStore
from metaeval.data import store as store_module, store_manifest
from metaeval.errors import MetaevalError, StoreError
from tests.data.flip_store import flip_bits, make_store
from tests.data.kill_store import kill_writers

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


def edit_manifest(store, edit, checksum=False):
    path = Path(store.path) / "manifest.json"
    content = json.loads(path.read_text())
    edit(content["collections"])
    if checksum:
        content["checksum"] = store_manifest._checksum(content["collections"])
    path.write_text(json.dumps(content))


def test_every_bit_of_a_small_store_may_flip_and_nothing_wrong_is_read(tmp_path):
    make_store(tmp_path)
    counts = flip_bits(tmp_path, share=0.01)  # python -m tests.data.flip_store flips them all
    assert not [key for key in counts if key[2].startswith("WRONG")]
    assert counts["manifest", "whole", "detected"] > 0
    assert counts["one", "whole", "detected"] == counts["one", "", "flips"] > 100
    assert counts["one", "partial", "detected"] > counts["one", "", "flips"]


@posix
def test_killed_writers_leave_a_whole_store_and_nothing_else(tmp_path):
    counts = kill_writers(tmp_path, kills=12, seed=0)  # python -m tests.data.kill_store kills 300
    assert counts["killed"] >= 12
    assert not [what for what in counts if what.startswith(("NOT WHOLE", "STRAY"))], counts


@pytest.mark.parametrize("seed", [1, 2])
@whole_and_partial
def test_files_of_two_collections_that_were_swapped_are_refused(store, measures, seed):
    store.add(scores_of(seed, "two"), replace=True)
    one, two = file_of(store, "one"), file_of(store, "two")
    assert seed != 1 or one.stat().st_size == two.stat().st_size
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)
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
    place = table.column_names.index(column)
    changed = pa.chunked_array([pa.array(changed).cast(table.schema.field(place).type)])
    pq.write_table(table.set_column(place, table.schema.field(place), changed), path, row_group_size=6)
    with pytest.raises(StoreError, match="damaged"):
        store.load("one", measures)


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.update(three=c.pop("one")),
        lambda c: c.update(one=c["two"]),
        lambda c: c["one"].update(file=c["two"]["file"]),
        lambda c: c["one"].update(file="../../etc/passwd"),
        lambda c: c["one"].update(runs=3),
        lambda c: c["one"].update(provenance="elsewhere"),
        lambda c: c["one"]["measures"][0].update(name="RNOD"),
        lambda c: c["one"]["measures"][1].update(higher_is_better=True),
        lambda c: c["one"]["measures"][1].update(range=[0, 1]),
        lambda c: c["one"]["measures"].reverse(),
        lambda c: c["one"].update(measures=c["two"]["measures"]),
        lambda c: c["one"].update(size="large"),
        lambda c: c["one"].pop("labels"),
    ],
)
@whole_and_partial
def test_an_edited_manifest_is_refused_even_under_its_right_checksum(store, measures, edit, checksum):
    edit_manifest(store, edit, checksum)
    with pytest.raises(StoreError, match="damaged|manifest says otherwise|no (collection 'one'|measure 'NMD')"):
        store.load("one", measures)
    if not checksum:
        with pytest.raises(StoreError, match="edited: its checksum.*restore it from a copy"):
            store.collections()


def test_a_manifest_laid_out_anew_is_the_same(store):
    path = Path(store.path) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True, indent=4))
    assert store.load("one") == scores_of(1, "one")


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"schema": 2, "checksum": NaN}', '{"schema": 2}', "\ufeff{}", "\0"]
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


def test_a_damaged_collection_can_be_replaced_or_removed_and_leaves_nothing(store):
    for name, mend in (
        ("one", lambda: store.add(scores_of(3, "one"), replace=True)),
        ("two", lambda: store.remove("two")),
    ):
        path = file_of(store, name)
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        with pytest.raises(StoreError, match="damaged"):
            store.add(scores_of(3, name))
        mend()
        assert not path.exists()
    assert store.load("one") == scores_of(3, "one")
    assert len(list(Path(store.path).glob("*.parquet"))) == 1


def test_every_file_says_whose_scores_it_holds(store):
    metadata = pq.read_metadata(file_of(store, "one"))
    record = json.loads(metadata.metadata[b"metaeval.store"])
    entry = store.info("one")
    assert record == {key: entry[key] for key in record}
    assert record["collection"] == "one"
    content = file_of(store, "one").read_bytes()
    for group, one in enumerate(record["measures"]):
        start, end = one["bytes"]
        columns = [metadata.row_group(group).column(i) for i in range(metadata.num_columns)]
        first = min(
            c.data_page_offset if c.dictionary_page_offset is None else c.dictionary_page_offset for c in columns
        )
        assert first == max(start, 4)
        assert end - first == sum(column.total_compressed_size for column in columns)
    assert len(content) == entry["size"]


def test_directions_that_names_do_not_tell_stand_in_the_file(store, tmp_path):
    from metaeval.io import read_scores

    again = read_scores(file_of(store, "one"), collection="one")
    assert again == scores_of(1, "one")
    assert [one.higher_is_better for one in again.measures] == [False, False]


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


def old_store(folder):
    """Write a store as it was before files carried checksums: the manifest alone said what is what."""
    folder.mkdir()
    table = pq.read_table(file_of(make_store(folder / "made"), "one"), columns=["run", "topic", "measure", "score"])
    pq.write_table(table, folder / "my one.0123456789abcdef.parquet")
    shutil.rmtree(folder / "made")
    measures = [{"name": "NMD", "higher_is_better": False}, {"name": "cost", "higher_is_better": False}]
    entry = {"file": "my one.0123456789abcdef.parquet", "sha256": "", "runs": 2, "topics": 3, "measures": measures}
    manifest = {"schema": 1, "collections": {"my one": entry, "two": entry}}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_store_of_the_old_layout_says_how_to_convert_it_and_that_works(tmp_path):
    import shlex

    folder = tmp_path / "an old store"
    old_store(folder)
    for action in (ScoreStore(folder).collections, lambda: ScoreStore(folder).add(scores_of(1))):
        with pytest.raises(
            StoreError, match="earlier version.*and so the other 1.*state the direction of cost"
        ) as caught:
            action()
    command = shlex.split(str(caught.value).split("`")[1])
    assert command[:2] == ["metaeval", "convert"]
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True)
    converted = ScoreStore(f"{folder}-new")
    assert converted.collections() == ("my one",)
    right = make_store(tmp_path / "made").load("one")
    assert np.array_equal(converted.load("my one").values, right.values)
    assert converted.load("my one").runs == right.runs


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
    for module in (store_manifest, store_module):
        monkeypatch.setattr(module, "LARGEST", size + 100)
    with pytest.raises(StoreError, match="keep further ones in another folder"):
        store.add(scores_of(3, "three"))
    assert store.collections() == ("one", "two")
    assert len(list(Path(store.path).glob("*.parquet"))) == 2
    for module in (store_manifest, store_module):
        monkeypatch.setattr(module, "LARGEST", size - 1)
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

    monkeypatch.setattr(store_module, "encode_manifest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.add(scores_of(3, "three"))
    assert len(list(Path(store.path).glob("*.parquet"))) == 2


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), MemoryError()])
def test_what_cannot_be_read_is_one_sentence(store, monkeypatch, error):
    def fail(*_):
        raise error

    for name, actions in {
        "decode_scores": [lambda: store.load("one")],
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


@posix
def test_a_sigterm_waits_until_the_write_is_done(tmp_path):
    code = """
import os, signal, sys
import numpy as np
from metaeval import Scores, ScoreStore
from metaeval.data import store
original = store.write_atomically
def write(path, content):
    os.kill(os.getpid(), signal.SIGTERM)  # at the worst moment
    original(path, content)
store.write_atomically = write
ScoreStore(sys.argv[1]).add(Scores(np.ones((1, 1, 1)), runs=["a"], topics=["t"], measures=["X"], collection="c"))
print("survived")
"""
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGTERM, ended.stderr
    assert ended.stdout == ""
    assert ScoreStore(tmp_path).load("c").values.item() == 1
    assert not list(tmp_path.glob(".writing-*"))


@posix
def test_a_handler_of_the_users_own_is_put_back_and_obeyed(store, monkeypatch):
    obeyed = []
    before = signal.signal(signal.SIGTERM, lambda *_: obeyed.append(store.collections()))
    try:
        original = store_module.write_atomically

        def write(path, content):
            signal.raise_signal(signal.SIGTERM)
            original(path, content)

        monkeypatch.setattr(store_module, "write_atomically", write)
        store.add(scores_of(3, "three"))
        assert obeyed == [("one", "three", "two")]
    finally:
        signal.signal(signal.SIGTERM, before)


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
