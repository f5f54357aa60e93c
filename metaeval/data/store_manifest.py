"""The manifest of a score store: which file is a collection's current one, under a checksum of its own."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from typing import Any

from metaeval.data.store_files import SCHEMA, name_file
from metaeval.data.store_folder import join_name
from metaeval.errors import StoreError, format_list
from metaeval.measures.resolve import tells_direction

MANIFEST = "manifest.json"
LARGEST = 16 * 2**20
"""Bytes: a few thousand collections, while a larger file could take more memory than there is."""

Collections = dict[str, dict[str, Any]]
"""What `encode_scores` says of every collection's file, by the collection's name."""

_CONVERT = "metaeval convert FILE.parquet NEW_STORE --to store --collection NAME"
_REPAIR = f"restore it from a copy, or take every Parquet file into a new store: {_CONVERT}"


def encode_manifest(collections: Collections) -> bytes:
    """Return the content of the manifest.

    Parameters
    ----------
    collections : dict of str to dict

    Returns
    -------
    bytes

    Raises
    ------
    StoreError
        If it would be larger than `LARGEST`.
    """
    content = {"schema": SCHEMA, "checksum": _checksum(collections), "collections": collections}
    encoded = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode()
    if len(encoded) > LARGEST:
        raise StoreError(
            f"the store has {len(collections):,} collections, and its manifest would be larger than {LARGEST:,} bytes: "
            "keep further ones in another folder"
        )
    return encoded


def decode_manifest(content: bytes, folder: str) -> Collections:
    """Return what a manifest says, if it is as it was written.

    Parameters
    ----------
    content : bytes
    folder : str
        The store, for messages.

    Returns
    -------
    dict of str to dict

    Raises
    ------
    StoreError
        If it was damaged or edited, or is that of another version.
    """
    path = join_name(folder, MANIFEST)
    try:
        manifest = json.loads(content.decode())
        schema, collections = manifest["schema"], manifest["collections"]
        if schema == 1:
            raise StoreError(_how_to_convert(folder, collections))
        if schema != SCHEMA:
            raise StoreError(
                f"{path}: the store has schema {schema!r:.20}, this version of metaeval reads schema {SCHEMA}: use the "
                "version that wrote it, or a newer one"
            )
        if manifest["checksum"] != _checksum(collections):
            raise StoreError(
                f"{path}: the manifest is damaged or was edited: its checksum is not that of its content ({_REPAIR})"
            )
        for name, entry in collections.items():
            _check_entry(name, entry)
    except StoreError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise StoreError(f"{path}: this is not the manifest of a score store, or it is damaged ({_REPAIR})") from None
    found: Collections = collections
    return found


def _checksum(collections: Collections) -> str:
    """Spaces, line ends and the order of keys may change; nothing that is read may."""
    canonical = json.dumps([SCHEMA, collections], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _check_entry(collection: str, entry: Mapping[str, Any]) -> None:
    """Refuse, by the errors that `decode_manifest` knows, what no store has written, even under its right checksum."""
    kinds = {"size": int, "runs": int, "topics": int, "footer": str, "labels": str, "provenance": str}
    if not all(isinstance(entry[key], kind) for key, kind in kinds.items()) or not entry["measures"]:
        raise TypeError(collection)
    if entry["collection"] != collection or entry["file"] != name_file(collection, entry["sha256"]):
        raise ValueError(collection)
    before = 0
    for one in entry["measures"]:
        start, end = one["bytes"]
        if not before == start < end < entry["size"]:
            raise ValueError(collection)
        before = end
        low, high = one["range"]
        numbers = [limit for limit in (low, high) if limit is not None]
        if one["higher_is_better"] not in (True, False, None) or not all(
            isinstance(limit, int | float) for limit in numbers
        ):
            raise TypeError(collection)
        if not all(isinstance(one[key], str) for key in ("name", "label", "description", "source", "sha256")):
            raise TypeError(collection)


def _how_to_convert(folder: str, collections: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the sentence for a store of the layout before this one, which had no checksums but the files'."""
    name = next(iter(collections), "NAME")
    file = str(collections[name]["file"]) if collections else "FILE.parquet"
    target = folder.rstrip("/").rpartition("/")[2] if "://" in folder else folder
    command = ["metaeval", "convert", join_name(folder, file), f"{target}-new", "--to", "store"]
    command += ["--collection", name]
    others = f", and so the other {len(collections) - 1}" if len(collections) > 1 else ""
    untold = sorted(
        {
            one["name"]
            for entry in collections.values()
            for one in entry["measures"]
            if one["higher_is_better"] is not None and not tells_direction(one["name"], one["higher_is_better"])
        }
    )
    state = f"; then state the direction of {format_list(untold, 3)} again, which these files lack" if untold else ""
    return (
        f"{folder}: the store has the layout of an earlier version: convert its collection into a new store with "
        f"`{shlex.join(command)}`{others}{state}"
    )
