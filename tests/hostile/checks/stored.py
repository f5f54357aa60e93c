"""Item 8: stores whose files were damaged, exchanged or edited."""

from __future__ import annotations

import hashlib
import json
from functools import partial

import numpy as np

from tests.hostile import store as kind
from tests.hostile.campaign import Finding


def _files(folder, manifest):
    return [folder / entry["file"] for entry in manifest["collections"].values()]


def _check(case, change):
    """Change a store of two collections, and load all of it, whole and in part."""
    store, folder = kind._copy(case)
    manifest = json.loads((folder / "manifest.json").read_text())
    change(folder, manifest)
    try:
        kind.check_load(case, store, "")
    except Finding as finding:
        return f"{finding.what}{finding.detail}"
    return None


def copy_over(folder, manifest):
    """One collection's file in the place of the other's."""
    one, two = _files(folder, manifest)
    one.write_bytes(two.read_bytes())


def damage_labels(folder, manifest):
    """Every occurrence of a label in a file of labels becomes another one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = _files(folder, manifest)[0]
    table = pq.read_table(path)
    frame = table.to_pandas()
    frame["run"] = frame["run"].astype(str).replace({"r0": "r1", "r1": "r0"})
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(table.schema.metadata),
        path,
        row_group_size=len(frame) // 2,
    )


def exchange_names(folder, manifest):
    """Two measures exchange their names in the manifest."""
    measures = manifest["collections"]["c"]["measures"]
    measures[0]["name"], measures[1]["name"] = measures[1]["name"], measures[0]["name"]
    (folder / "manifest.json").write_text(json.dumps(manifest))


def turn_direction(folder, manifest):
    """The manifest states the other direction."""
    manifest["collections"]["c"]["measures"][0]["higher_is_better"] = False
    (folder / "manifest.json").write_text(json.dumps(manifest))


def exchange_entries(folder, manifest):
    """Two collections exchange their names in the manifest."""
    there = manifest["collections"]
    there["c"], there["d"] = there["d"], there["c"]
    (folder / "manifest.json").write_text(json.dumps(manifest))


def flip_labels(case):
    """No bit of the labels' pages can be flipped unseen by a partial load."""
    store, folder = kind._copy(case)
    path = _files(folder, json.loads((folder / "manifest.json").read_text()))[0]
    content = path.read_bytes()
    for position in range(4, min(400, len(content))):
        changed = bytearray(content)
        changed[position] ^= 1 << (position % 8)
        path.write_bytes(bytes(changed))
        try:
            kind.check_load(case, store, f"byte {position}", names=("c",))
        except Finding as finding:
            if not finding.what.startswith("a message"):
                return f"{finding.what}: {finding.detail}"
    return None


def remove_by_url(case):
    """`remove` on file:// removes the collection, or refuses."""
    import metaeval as me

    _, folder = kind._copy(case)
    store = me.ScoreStore(f"file://{folder}")
    found, said = case.call(store.remove, "c")
    if found is None and said:
        return None
    return "remove on file:// removes nothing" if "c" in me.ScoreStore(folder).collections() else None


def old_layout(case):
    """A store of the first layout is read, or one sentence says how to convert it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import metaeval as me

    values = np.arange(4.0)
    table = pa.table(
        {"run": ["a", "a", "b", "b"], "topic": ["t", "u"] * 2, "measure": ["X"] * 4, "score": values}
    ).replace_schema_metadata({b"metaeval.measures": b'["X"]'})
    table = table.set_column(0, "run", table["run"].dictionary_encode())
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True)
    content = bytes(sink.getvalue())
    digest = hashlib.sha256(content).hexdigest()
    measure = {
        "name": "X",
        "higher_is_better": None,
        "range": [None, None],
        "label": "",
        "description": "",
        "source": "",
    }
    entry = {
        "file": f"c.{digest[:16]}.parquet",
        "sha256": digest,
        "runs": 2,
        "topics": 2,
        "measures": [measure],
        "provenance": "",
    }
    (case.folder / entry["file"]).write_bytes(content)
    (case.folder / "manifest.json").write_text(json.dumps({"schema": 1, "collections": {"c": entry}}))
    found, said = case.call(me.ScoreStore(case.folder).load, "c")
    if found is None:
        return None if "convert" in said[0] else f"it does not say how to convert it: {said[0]}"
    return None if found.values.ravel().tolist() == values.tolist() else "other scores"


def errors_are_wrapped(case):
    """add, remove and load of a store in disorder end in a StoreError."""
    import metaeval as me

    for method in ("add", "remove", "load"):
        for disorder in ("manifest is a folder", "file is a folder", "file is gone", "lock is a folder"):
            target = case.folder / f"{method}-{disorder}".replace(" ", "-")
            store = me.ScoreStore(target)
            store.add(kind.scores_of("c"))
            victim = {"m": target / "manifest.json", "f": next(target.glob("*.parquet")), "l": target / ".lock"}[
                disorder[0]
            ]
            victim.unlink(missing_ok=True)
            if not disorder.endswith("gone"):
                victim.mkdir()
                (victim / "inside").touch()
            argument = kind.scores_of("c", measures=("N",)) if method == "add" else "c"
            try:
                case.call(getattr(store, method), argument)
            except Finding as finding:
                return f"{method} where {disorder}: {finding.what}: {finding.detail}"
    return None


CHECKS = {
    "8 a partial load takes another collection's file": partial(_check, change=copy_over),
    "8 a partial load takes damaged labels": partial(_check, change=damage_labels),
    "8 a flipped bit in labels is not seen": flip_labels,
    "8 an edited manifest: names of measures": partial(_check, change=exchange_names),
    "8 an edited manifest: a direction": partial(_check, change=turn_direction),
    "8 an edited manifest: collections": partial(_check, change=exchange_entries),
    "8 remove on file:// removes nothing": remove_by_url,
    "8 the old layout": old_layout,
    "8 errors that are not wrapped": errors_are_wrapped,
}
