"""The manifest of a score store: the checksum of every collection's file, under a checksum of its own."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Mapping
from typing import Any

from metaeval.data.store_files import SCHEMA
from metaeval.errors import StoreError, format_list
from metaeval.files import file_name
from metaeval.measures.resolve import tells_direction

MANIFEST = "manifest.json"
LARGEST = 16 * 2**20
"""Bytes: a hundred thousand collections, while a larger file could take more memory than there is."""

Collections = dict[str, str]
"""The SHA-256 of the footer of every collection's file, by the collection's name; the file's name follows from both."""

_DIGEST = re.compile("[0-9a-f]{64}")
_CONVERT = "metaeval convert FILE.parquet NEW_STORE --to store --collection NAME"
_REPAIR = f"restore it from a copy, or take every Parquet file into a new store: {_CONVERT}"


def encode_manifest(collections: Collections) -> bytes:
    """Return the content of the manifest, which is refused where it would be larger than `LARGEST`."""
    content = {"schema": SCHEMA, "checksum": _checksum(collections), "collections": collections}
    encoded = json.dumps(content, indent=1, ensure_ascii=False).encode()
    if len(encoded) > LARGEST:
        raise StoreError(
            f"the store has {len(collections):,} collections, and its manifest would be larger than {LARGEST:,} bytes: "
            "keep further ones in another folder"
        )
    return encoded


def decode_manifest(content: bytes, folder: str) -> Collections:
    """Return what the manifest of a store says, unless it was damaged or edited, or is that of another version."""
    path = os.path.join(folder, MANIFEST)
    try:
        manifest = json.loads(content.decode())
        schema, collections = manifest["schema"], manifest["collections"]
        if schema in (1, 2):
            raise StoreError(_explain_conversion(folder, schema, collections))
        if schema != SCHEMA:
            raise StoreError(
                f"{path}: the store has schema {schema!r:.20}, this version of metaeval reads schema {SCHEMA}: use the "
                "version that wrote it, or a newer one"
            )
        if manifest["checksum"] != _checksum(collections):
            raise StoreError(
                f"{path}: the manifest is damaged or was edited: its checksum is not that of its content ({_REPAIR})"
            )
        # The right checksum proves nothing: whoever edits a manifest can compute it.
        if all(isinstance(digest, str) and _DIGEST.fullmatch(digest) for digest in collections.values()):
            return dict(collections)
    except StoreError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise StoreError(f"{path}: this is not the manifest of a score store, or it is damaged ({_REPAIR})") from None


def _checksum(collections: Collections) -> str:
    """Spaces, line ends and the order of keys may change; nothing that is read may."""
    canonical = json.dumps([SCHEMA, collections], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _explain_conversion(folder: str, schema: int, collections: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the sentence for a store of an earlier layout, whose files are tidy tables that can be converted."""
    name = next(iter(collections), "NAME")
    file = file_name(str(collections[name]["file"])) if collections else "FILE.parquet"
    command = ["metaeval", "convert", os.path.join(folder, file), f"{folder}-new", "--to", "store"]
    command += ["--collection", name]
    others = f", and so the other {len(collections) - 1}" if len(collections) > 1 else ""
    # The files of the first layout do not hold directions.
    measures = [measure for entry in collections.values() for measure in entry["measures"] if schema == 1]
    untold = {
        measure["name"]
        for measure in measures
        if measure["higher_is_better"] is not None and not tells_direction(measure["name"], measure["higher_is_better"])
    }
    state = f"; then state the direction of {format_list(sorted(untold), 3)} again, which these files lack"
    return (
        f"{folder}: the store has the layout of an earlier version: convert its collection into a new store with "
        f"`{shlex.join(command)}`{others}{state if untold else ''} (where it only holds the scores beside a report, "
        "delete it)"
    )
