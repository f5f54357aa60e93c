"""Score stores: writers killed at any moment, single bits flipped, files and manifests exchanged."""

from __future__ import annotations

import json
import shutil
import time
from functools import cache
from pathlib import Path

import numpy as np

from tests.hostile.campaign import Finding, Outcome
from tests.hostile.forks import start, stop, wait_for

_CHUNK = 16
"""Bytes of which one case flips every bit, one at a time."""


def scores_of(name, start=0.0, n_runs=3, n_topics=4, measures=("A", "B")):
    import metaeval as me

    values = start + np.arange(n_runs * n_topics * len(measures)).reshape(n_runs, n_topics, len(measures)) / 64
    runs, topics = [f"r{i}" for i in range(n_runs)], [f"t{i}" for i in range(n_topics)]
    return me.Scores(values, runs=runs, topics=topics, measures=list(measures), collection=name)


STARTS = {"c": 0.0, "d": 10.0}
"""The first score of either collection of the store that is damaged."""


@cache
def _template():
    import atexit
    import tempfile

    import metaeval as me

    folder = Path(tempfile.mkdtemp(prefix="hostile-store-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store = me.ScoreStore(folder)
    for name, first in STARTS.items():
        store.add(scores_of(name, first))
    return folder


def _copy(case):
    import metaeval as me

    target = case.folder / "store"
    shutil.copytree(_template(), target)
    return me.ScoreStore(target), target


def check_load(case, store, what, names=("c", "d")):
    """Every whole and every partial load gives what was added, or a sentence."""
    outcome = "refused"
    for name in names:
        right = scores_of(name, STARTS[name])
        for measures in (None, ["A"], ["B"]):
            found, _ = case.call(store.load, name, measures)
            if found is None:
                continue
            outcome = "equal"
            expected = right if measures is None else right.sel(measures=measures)
            if (found.runs, found.topics) != (expected.runs, expected.topics):
                raise Finding("other labels than were stored", f"{what}, {name}, {measures}")
            if [str(m) for m in found.measures] != [str(m) for m in expected.measures]:
                raise Finding("other measures than were stored", f"{what}, {name}, {measures}")
            if not np.array_equal(found.values, expected.values):
                raise Finding("other scores than were stored", f"{what}, {name}, {measures}")
            if [m.higher_is_better for m in found.measures] != [m.higher_is_better for m in expected.measures]:
                raise Finding("another direction than was stored", f"{what}, {name}, {measures}")
    return outcome


def flip_bits(case):
    """Every bit of some bytes of a small store, one at a time; case after case goes through all of its files."""
    store, folder = _copy(case)
    files = sorted(path for path in folder.iterdir() if path.suffix in (".parquet", ".json"))
    chunks = [(path, at) for path in files for at in range(0, path.stat().st_size, _CHUNK)]
    # A stride that has no factor with the number of chunks visits each of them once a round.
    stride = next(one for one in (7919, 7927, 7933, 7937) if len(chunks) % one)
    path, at = chunks[(case.number * stride + case.seed) % len(chunks)]
    content, kind, worst = path.read_bytes(), "manifest" if path.suffix == ".json" else "Parquet file", None
    names = ("c", "d") if kind == "manifest" else ("c",) if path.name.startswith("c.") else ("d",)
    for position in range(at, min(at + _CHUNK, len(content))):
        for bit in range(8):
            changed = bytearray(content)
            changed[position] ^= 1 << bit
            path.write_bytes(bytes(changed))
            try:
                check_load(case, store, f"bit {bit} of byte {position} of the {kind}", names)
            except Finding as finding:
                # A wrong number is told rather than a long message.
                if worst is None or worst.what.startswith(("a message", "an empty")):
                    worst = finding
    if worst is not None:
        raise Finding(f"a bit flipped in the {kind}: {worst.what}", worst.detail)
    return Outcome("equal")


flip_bits.limit = 120


def flips_needed():
    """How many cases flip every bit of the store once."""
    folder = _template()
    return sum(-(-path.stat().st_size // _CHUNK) for path in folder.iterdir() if path.suffix in (".parquet", ".json"))


def kill_writer(case):
    """A writer killed at any moment: every collection is as it was before or after some write, never half."""
    import metaeval as me

    rng, target = case.rng, case.folder / "store"
    store, names = me.ScoreStore(target), rng.choice([["c"], ["c", "d"]])
    if rng.random() < 0.7:
        for name in names:
            store.add(scores_of(name, 5.0))
    ready = case.folder / "ready"
    process = start("write_store", str(target), scores_of("c").values, names, rng.random() < 0.5, str(ready))
    try:
        wait_for(ready)
        time.sleep(rng.uniform(0, 0.08))
    finally:
        stop(process)
    base = scores_of("c").values
    for name in store.collections():
        for measures in (None, ["B"], ["A"]):
            found, said = case.call(store.load, name, measures)
            if found is None:
                raise Finding("a store is not whole after a kill", said[0])
            part = base if measures is None else base[..., [("A", "B").index(measures[0])]]
            shift = np.unique(found.values - part)
            if len(shift) > 1 or (shift[0] * 1024) % 1:
                raise Finding("a store holds half a write after a kill", f"{name}, {measures}")
    _, said = case.call(store.add, scores_of("after", 3.0))
    if "after" not in store.collections():
        raise Finding("nothing can be added after a kill", str(said))
    return Outcome("equal")


kill_writer.limit = 60


def damage(case):
    """Files exchanged, cut or replaced, manifests edited: what was stored, or a sentence; so for add and remove."""
    rng = case.rng
    store, folder = _copy(case)
    manifest = json.loads((folder / "manifest.json").read_text())
    entries = manifest.get("collections", {})
    files = [folder / entry["file"] for entry in entries.values() if isinstance(entry, dict) and "file" in entry]
    what = rng.choice(
        ["swap files", "copy over", "swap entries", "edit manifest", "cut", "remove", "folder", "empty", "rewrite"]
    )
    if what == "swap files":
        contents = [path.read_bytes() for path in files]
        for path, content in zip(files, reversed(contents), strict=True):
            path.write_bytes(content)
    elif what == "copy over":
        files[0].write_bytes(files[1].read_bytes())
    elif what == "swap entries":
        names = list(entries)
        entries[names[0]], entries[names[1]] = entries[names[1]], entries[names[0]]
    elif what == "edit manifest":
        what = _edit(rng, entries)
    elif what == "rewrite":
        what = _rewrite(rng, files[0])
    else:
        path = rng.choice([*files, folder / "manifest.json"])
        what = f"{what} {path.suffix}"
        content = path.read_bytes()
        path.unlink()
        if what.startswith("folder"):
            path.mkdir()
        elif not what.startswith("remove"):
            path.write_bytes(content[: rng.randrange(len(content))] if what.startswith("cut") else b"")
    if what.startswith(("swap entries", "edit")):
        (folder / "manifest.json").write_text(json.dumps(manifest))
    try:
        outcome = check_load(case, store, what)
        found, _ = case.call(store.collections)
        for name in set(found or ()) - {"c", "d"}:
            raise Finding("a collection that was never stored", name)
        action = rng.choice(["add", "remove", "info", "none"])
        if action == "add":
            case.call(store.add, scores_of(rng.choice("ce"), 1.0, measures=("C",)))
        elif action == "remove":
            case.call(store.remove, "c")
        elif action == "info":
            case.call(store.info, "c")
    except Finding as finding:
        raise Finding(f"{what}: {finding.what}", finding.detail) from None
    return Outcome(outcome)


def _edit(rng, entries):
    entry = entries[rng.choice(list(entries))]
    key = rng.choice(list(entry))
    measures = entry.get("measures") if isinstance(entry.get("measures"), list) else []
    if measures and rng.random() < 0.6:
        change = rng.randrange(4)
        if change == 0:
            measures[0]["name"], measures[1]["name"] = measures[1]["name"], measures[0]["name"]
        elif change == 1:
            measures[0]["higher_is_better"] = not measures[0]["higher_is_better"]
        elif change == 2:
            measures.reverse()
        else:
            measures[0]["name"] = "Z"
        return f"edit measures {change}"
    entry[key] = rng.choice([None, 3, "x", [], {}, "../x", "", True, 10**30])
    return f"edit {key}"


def _rewrite(rng, path):
    """The same table, written by somebody else with another label or with its columns exchanged."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    frame = table.to_pandas()
    change = rng.choice(["label", "order", "score"])
    if change == "label":
        frame["run"] = frame["run"].astype(str).replace("r0", "x0")
    elif change == "order":
        frame["run"] = frame["run"].astype(str).replace({"r0": "r1", "r1": "r0"})
    else:
        frame.loc[0, "score"] = 99.0
    import pyarrow as pa

    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(table.schema.metadata),
        path,
        row_group_size=len(frame) // 2,
    )
    return f"rewrite {change}"
