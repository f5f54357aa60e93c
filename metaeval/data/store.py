"""ScoreStore: collections of scores in a folder, whole at every moment whatever happens to the writer.

The folder holds one Parquet file a collection and ``manifest.json``, which says which file is a
collection's current one. A write makes a new Parquet file under a name of its own and then replaces the
manifest: that replacement is the moment at which the write happens, so a writer killed before it leaves
the old state, after it the new one. Files that no manifest names are leftovers, cleared by the next write.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace as replace_scores
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.data.scores import Scores, refuse_gaps
from metaeval.data.store_files import (
    CLUSTERS,
    SUFFIX,
    decode_scores,
    encode_scores,
    has_footer,
    name_file,
    open_file,
    restore_measure,
    restore_repeats,
)
from metaeval.data.store_folder import as_store_errors, find_folder, lock_folder
from metaeval.data.store_manifest import LARGEST, MANIFEST, Collections, decode_manifest, encode_manifest
from metaeval.errors import StoreError, format_list, format_option
from metaeval.files import PathLike, clear_leftovers, read_bounded, write_atomically
from metaeval.measures.resolve import MeasureLike, resolve_measures

_FILE_NAME = re.compile(rf"\.([0-9a-f]{{16}}){re.escape(SUFFIX)}$")


class ScoreStore:
    """Collections of scores kept in a folder.

    Parameters
    ----------
    path : path
        A folder, made by the first `add`.

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

        Raises
        ------
        StoreError
            If the manifest is damaged or from a newer version.
        """
        with as_store_errors(self.path, "read"):
            return tuple(sorted(self._manifest()))

    def info(self, collection: str) -> dict[str, Any]:
        """Return what the store says of a collection, without reading its scores.

        Parameters
        ----------
        collection : str

        Returns
        -------
        dict
            With keys file, footer (its SHA-256), schema, collection, provenance, runs, topics, labels (their
            SHA-256), measures.

        Raises
        ------
        StoreError
            If there is no such collection, or the file is damaged.
        """
        with as_store_errors(self.path, "read"), self._open(collection) as (_, record, footer):
            return {"file": name_file(collection, footer), "footer": footer, **record}

    def load(self, collection: str, measures: Iterable[MeasureLike] | MeasureLike | None = None) -> Scores:
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
        with as_store_errors(self.path, "read"), self._open(collection) as (file, record, footer):
            path = self._join(name_file(collection, footer))
            return _decode(path, file, record, _find_measures(self.path, record, measures))

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
        refuse_gaps(scores)
        name = scores.collection if collection is None else str(collection)
        if not name.strip():
            raise StoreError(f"these scores have no collection name: give {format_option('collection', 'NAME')}")
        with self._writing(make=True) as folder:
            collections = self._manifest()
            if not (folder / MANIFEST).exists():
                # From now on, scores without a manifest mean that it was lost.
                write_atomically(folder / MANIFEST, encode_manifest({}))
            if name in collections and not replace:
                scores = _merge(self.load(name), scores)
            content, footer = encode_scores(scores, name)
            manifest = encode_manifest({**collections, name: footer})
            write_atomically(folder / name_file(name, footer), content)
            write_atomically(folder / MANIFEST, manifest)
            if collections.get(name, footer) != footer:
                _delete(folder / name_file(name, collections[name]))

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
        with as_store_errors(self.path, "read"):
            self._footer(self._manifest(), collection)
        with self._writing() as folder:
            collections = self._manifest()
            footer = self._footer(collections, collection)
            del collections[collection]
            write_atomically(folder / MANIFEST, encode_manifest(collections))
            _delete(folder / name_file(collection, footer))

    @contextmanager
    def _writing(self, *, make: bool = False) -> Iterator[Path]:
        """Lock the store while it is written, and leave nothing behind that is no part of it."""
        folder = Path(self.path)
        with as_store_errors(self.path, "written"):
            if make:
                folder.mkdir(parents=True, exist_ok=True)
            with lock_folder(folder):
                try:
                    yield folder
                finally:
                    self._clear_leftovers(folder)

    def _clear_leftovers(self, folder: Path) -> None:
        """Delete what killed writers left, whom the lock says to be gone; what another program wrote stays."""
        clear_leftovers(folder, age=0)
        with suppress(OSError, StoreError):
            current = {name_file(*entry) for entry in self._manifest().items()}
            for path in folder.iterdir():
                if path.name not in current and _is_from_store(path):
                    _delete(path)

    def _join(self, file: str) -> str:
        return os.path.join(self.path, file)

    def _manifest(self) -> Collections:
        path = self._join(MANIFEST)
        try:
            return decode_manifest(read_bounded(path, LARGEST), self.path)
        except FileNotFoundError:
            folder = Path(self.path)
            orphans = [file.name for file in folder.iterdir() if _is_from_store(file)] if folder.is_dir() else []
            if orphans and not Path(path).exists():  # a first writer makes the manifest before the scores
                raise StoreError(
                    f"{self.path}: the manifest is gone, but there are scores of a store ({format_list(orphans, 2)}): "
                    f"put {MANIFEST} back, or use another folder"
                ) from None
            return {}
        except NotADirectoryError:
            raise StoreError(f"{self.path} is a file; a store is a folder") from None

    def _footer(self, collections: Collections, collection: str) -> str:
        if not isinstance(collection, str) or collection not in collections:
            content = f"it holds {format_list(sorted(collections))}" if collections else "it is empty"
            raise StoreError(f"{self.path}: there is no collection {collection!r} ({content})")
        return collections[collection]

    @contextmanager
    def _open(self, collection: str) -> Iterator[tuple[Any, dict[str, Any], str]]:
        """Open the current file of a collection, and yield it with its record and the SHA-256 of its footer."""
        before = ""
        with ExitStack() as stack:
            while True:
                footer = self._footer(self._manifest(), collection)
                path = self._join(name_file(collection, footer))
                try:
                    file, record = stack.enter_context(open_file(path, collection, footer))
                    break
                except FileNotFoundError:
                    if footer == before:
                        raise StoreError(
                            f"{self.path}: the file {name_file(collection, footer)} of collection {collection} is gone: "
                            "restore it from a copy, or remove the collection and add its scores again"
                        ) from None
                    before = footer  # a writer may just have replaced it: then the manifest names a new one
            yield file, record, footer


def _find_measures(
    store: str, record: dict[str, Any], measures: Iterable[MeasureLike] | MeasureLike | None
) -> list[int]:
    """Return the positions of measures in a record; of all of them where none are named."""
    collection, names = record["collection"], [measure["name"] for measure in record["measures"]]
    if measures is None:
        return list(range(len(names)))
    selected = [str(measure) for measure in resolve_measures(measures, labels=names)]
    if not selected:
        raise StoreError(f"{store}: no measure of collection {collection} was named (it has {format_list(names)})")
    for name in selected:
        if name not in names:
            raise StoreError(f"{store}: collection {collection} has no measure {name!r} (it has {format_list(names)})")
    return [names.index(name) for name in selected]


def _decode(path: str, file: Any, record: dict[str, Any], positions: Sequence[int]) -> Scores:
    values, runs, topics = decode_scores(path, file, record, positions)
    described = [record["measures"][position] for position in positions]
    return Scores(
        values,
        runs=runs,
        topics=topics,
        measures=list(map(restore_measure, described)),
        collection=record["collection"],
        provenance=record["provenance"],
        clusters=record.get(CLUSTERS, ()),
        repeats=restore_repeats(described),
    )


def _merge(former: Scores, new: Scores) -> Scores:
    """Return both: the new measures, aligned by label, in place of former ones of the same name or behind them."""
    for what, labels, given in (("run", former.runs, new.runs), ("topic", former.topics, new.topics)):
        missing = [label for label in labels if label not in set(given)]
        extra = [label for label in given if label not in set(labels)]
        if missing or extra:
            which = (
                f"lack {what} {format_list(missing, 3)}"
                if missing
                else f"have {what} {format_list(extra, 3)}, which it lacks"
            )
            raise StoreError(
                f"collection {former.collection} has {len(labels)} {what}s, these scores {which}: "
                "add them under another collection name, or replace the collection"
            )
    new = new.sel(runs=former.runs, topics=former.topics)
    named = set(map(str, new.measures))  # what was said of the former scores of these goes with them
    columns = {
        str(measure): (measure, scores.values[..., position])
        for scores in (former, new)
        for position, measure in enumerate(scores.measures)
    }
    measures, values = zip(*columns.values(), strict=True)
    return replace_scores(
        former,
        values=np.stack(values, axis=-1),
        measures=measures,
        provenance=former.provenance or new.provenance,
        clusters=former.clusters or new.clusters,
        repeats={name: each for name, each in former.repeats.items() if name not in named} | dict(new.repeats),
    )


def _is_from_store(path: Path) -> bool:
    """Say whether a store wrote a file: its name then holds the first digits of its footer's checksum."""
    match = _FILE_NAME.search(path.name)
    return match is not None and path.is_file() and has_footer(str(path), match[1])


def _delete(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
