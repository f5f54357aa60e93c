"""ScoreStore: collections of scores in a folder, whole at every moment whatever happens to the writer.

The folder holds one Parquet file a collection and ``manifest.json``, which says which file is a
collection's current one. A write makes a new Parquet file under a name of its own and then replaces the
manifest: that replacement is the moment at which the write happens, so a writer killed before it leaves
the old state, after it the new one. Files that no manifest names are leftovers, cleared by the next write.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace as replace_scores
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.data.scores import Scores
from metaeval.data.store_files import SUFFIX, decode_scores, encode_scores, restore_measure
from metaeval.data.store_folder import as_store_errors, find_folder, hold_lock, join_name
from metaeval.data.store_manifest import LARGEST, MANIFEST, Collections, decode_manifest, encode_manifest
from metaeval.errors import StoreError, format_list, format_option
from metaeval.files import TEMPORARY, PathLike, is_remote, read_bounded, write_atomically
from metaeval.measures.base import Measure
from metaeval.measures.resolve import resolve_measures

_OWN_NAME = re.compile(rf"\.([0-9a-f]{{16}}){re.escape(SUFFIX)}$")


class ScoreStore:
    """Collections of scores kept in a folder.

    Parameters
    ----------
    path : path
        A folder, made by the first `add`. Any path that fsspec knows (``s3://…``) can be read.

    Examples
    --------
    >>> import tempfile
    >>> store = ScoreStore(tempfile.mkdtemp())
    >>> store.add(Scores([[[0.5], [0.2]]], runs=["a"], topics=["t1", "t2"], measures=["NMD"], collection="tiny"))
    >>> store.collections()
    ('tiny',)
    >>> store.load("tiny")
    Scores: 1 run × 2 topics × 1 measure, tiny
    """

    def __init__(self, path: PathLike) -> None:
        self.path = find_folder(path)

    def __repr__(self) -> str:
        return f"ScoreStore: {self.path}"

    def collections(self) -> tuple[str, ...]:
        """Return the names of the collections in the store, in alphabetical order.

        Returns
        -------
        tuple of str

        Raises
        ------
        StoreError
            If the manifest is damaged or from a newer version.
        """
        with as_store_errors(self.path, "read"):
            return tuple(sorted(self._manifest()))

    def info(self, collection: str) -> dict[str, Any]:
        """Return what the manifest says of a collection, without reading its scores.

        Parameters
        ----------
        collection : str

        Returns
        -------
        dict
            With keys file, size, sha256, footer, schema, collection, provenance, runs, topics, labels (a digest
            of them), measures.

        Raises
        ------
        StoreError
            If there is no such collection.
        """
        with as_store_errors(self.path, "read"):
            return self._entry(self._manifest(), collection)

    def load(self, collection: str, measures: Iterable[str | Measure] | str | Measure | None = None) -> Scores:
        """Load a collection, or some measures of it, of which only those are read.

        Parameters
        ----------
        collection : str
        measures : iterable of str or Measure, optional
            All by default.

        Returns
        -------
        Scores
            Bit for bit what was added; measures in the order asked for.

        Raises
        ------
        StoreError
            If there is no such collection or measure, or the file is damaged.
        """
        before = ""
        with as_store_errors(self.path, "read"):
            while True:
                entry = self._entry(self._manifest(), collection)
                try:
                    return self._read(entry, measures)
                except FileNotFoundError:
                    if entry["file"] == before:
                        raise StoreError(
                            f"{self.path}: the file {before} of collection {collection} is gone: restore it from a "
                            "copy, or remove the collection and add its scores again"
                        ) from None
                    before = entry["file"]  # a writer may just have replaced it: then the manifest names a new one

    def add(self, scores: Scores, *, collection: str | None = None, replace: bool = False) -> None:
        """Add scores to their collection; measures that are there already stay unless they are given again.

        Parameters
        ----------
        scores : Scores
            Its runs and topics must be those of the collection, in any order.
        collection : str, optional
            Another name than ``scores.collection``.
        replace : bool, optional
            Put these scores in the place of the whole collection.

        Raises
        ------
        StoreError
            If the collection has no name, the store cannot be written, or the collection holds other runs
            or topics.
        """
        if not isinstance(scores, Scores):
            raise StoreError(f"a store keeps Scores, not {type(scores).__name__} (metaeval.io.from_frame makes them)")
        name = scores.collection if collection is None else str(collection)
        if not name.strip():
            raise StoreError(f"these scores have no collection name: give {format_option('collection', 'NAME')}")
        with self._writing(make=True) as folder:
            manifest = self._begin(folder)
            if name in manifest and not replace:
                scores = _merged(self._read(manifest[name], None), scores)
            content, entry = encode_scores(scores, name)
            encoded = encode_manifest({**manifest, name: entry})
            write_atomically(folder / entry["file"], content)
            write_atomically(folder / MANIFEST, encoded)
            _delete_replaced(folder, manifest.get(name), entry)

    def remove(self, collection: str) -> None:
        """Take a collection out of the store.

        Parameters
        ----------
        collection : str

        Raises
        ------
        StoreError
            If there is no such collection, or the store cannot be written.
        """
        self.info(collection)
        with self._writing() as folder:
            manifest = self._manifest()
            entry = self._entry(manifest, collection)
            del manifest[collection]
            write_atomically(folder / MANIFEST, encode_manifest(manifest))
            _delete_replaced(folder, entry)

    @contextmanager
    def _writing(self, *, make: bool = False) -> Iterator[Path]:
        """Hold the store's lock while it is written, and leave nothing behind that is no part of it."""
        if is_remote(self.path):
            raise StoreError(f"{self.path}: a store can only be written on a local disk")
        folder = Path(self.path)
        with as_store_errors(self.path, "written"):
            if make:
                folder.mkdir(parents=True, exist_ok=True)
            with hold_lock(folder):
                try:
                    yield folder
                finally:
                    self._clear_leftovers(folder)

    def _begin(self, folder: Path) -> Collections:
        """Write an empty manifest before the first scores: from then on, scores without one mean that it was lost."""
        manifest = self._manifest()
        if not (folder / MANIFEST).exists():
            write_atomically(folder / MANIFEST, encode_manifest({}))
        return manifest

    def _clear_leftovers(self, folder: Path) -> None:
        """Delete what killed writers left, whom the lock says to be gone; what another program wrote stays."""
        with suppress(OSError, StoreError):
            current = {entry["file"] for entry in self._manifest().values()}
            for path in folder.iterdir():
                if path.name.startswith(TEMPORARY) or (path.name not in current and _is_ours(path)):
                    with suppress(OSError):
                        path.unlink()

    def _manifest(self) -> Collections:
        path = join_name(self.path, MANIFEST)
        try:
            return decode_manifest(read_bounded(path, LARGEST), self.path)
        except FileNotFoundError:
            folder = Path(self.path)
            orphans = [one.name for one in folder.iterdir() if _is_ours(one)] if folder.is_dir() else []
            if orphans and not Path(path).exists():  # a first writer makes the manifest before the scores
                raise StoreError(
                    f"{self.path}: the manifest is gone, but there are scores of a store ({format_list(orphans, 2)}): "
                    f"put {MANIFEST} back, or use another folder"
                ) from None
            return {}
        except NotADirectoryError:
            raise StoreError(f"{self.path} is a file; a store is a folder") from None

    def _entry(self, manifest: Collections, collection: str) -> dict[str, Any]:
        if not isinstance(collection, str) or collection not in manifest:
            there = f"it holds {format_list(sorted(manifest))}" if manifest else "it is empty"
            raise StoreError(f"{self.path}: there is no collection {collection!r} ({there})")
        return manifest[collection]

    def _read(self, entry: dict[str, Any], measures: Iterable[str | Measure] | str | Measure | None) -> Scores:
        collection = entry["collection"]
        names = [one["name"] for one in entry["measures"]]
        if isinstance(measures, str | Measure):
            measures = [measures]
        wanted = names if measures is None else [str(one) for one in resolve_measures(measures, labels=names)]
        if not wanted:
            raise StoreError(
                f"{self.path}: no measure of collection {collection} was named (it has {format_list(names)})"
            )
        for name in wanted:
            if name not in names:
                raise StoreError(
                    f"{self.path}: collection {collection} has no measure {name!r} (it has {format_list(names)})"
                )
        positions = [names.index(name) for name in wanted]
        values, runs, topics = decode_scores(join_name(self.path, entry["file"]), entry, positions)
        return Scores(
            values,
            runs=runs,
            topics=topics,
            measures=[restore_measure(entry["measures"][position]) for position in positions],
            collection=collection,
            provenance=entry["provenance"],
        )


def _merged(there: Scores, new: Scores) -> Scores:
    """Return both: the new measures, aligned by label, in place of the old ones of the same name or behind them."""
    for what, old, given in (("run", there.runs, new.runs), ("topic", there.topics, new.topics)):
        missing = [label for label in old if label not in set(given)]
        extra = [label for label in given if label not in set(old)]
        if missing or extra:
            which = (
                f"lack {what} {format_list(missing, 3)}"
                if missing
                else f"have {what} {format_list(extra, 3)}, which it lacks"
            )
            raise StoreError(
                f"collection {there.collection} has {len(old)} {what}s, these scores {which}: "
                "add them under another collection name, or replace the collection"
            )
    aligned = new.sel(runs=there.runs, topics=there.topics)
    given_names = [str(one) for one in aligned.measures]
    kept = [position for position, one in enumerate(there.measures) if str(one) not in given_names]
    order = {str(one): position for position, one in enumerate(there.measures)}
    measures = [there.measures[position] for position in kept] + list(aligned.measures)
    values = np.concatenate([there.values[..., kept], aligned.values], axis=-1)
    place = sorted(range(len(measures)), key=lambda position: order.get(str(measures[position]), len(order)))
    return replace_scores(
        there,
        values=values[..., place],
        measures=tuple(measures[position] for position in place),
        provenance=there.provenance or new.provenance,
    )


def _is_ours(path: Path) -> bool:
    """Say whether a store wrote a file: its name then holds the first digits of its content's checksum."""
    match = _OWN_NAME.search(path.name)
    if match is None or not path.is_file():
        return False
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest().startswith(match.group(1))


def _delete_replaced(folder: Path, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None = None) -> None:
    """Delete the file that was a collection's until now, which a damaged one would not be known for any more."""
    if old is not None and (new is None or new["file"] != old["file"]):
        with suppress(OSError):
            (folder / old["file"]).unlink()
