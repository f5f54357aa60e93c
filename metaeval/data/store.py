"""ScoreStore: collections of scores in a folder, with atomic writes.

The folder holds one Parquet file per collection and ``manifest.json``, which says which file is the current
one of a collection. A write creates a new Parquet file under a new name and then replaces the manifest. That
replacement is the moment at which the write happens: if the writer is interrupted before it, the store keeps
its old content; after it, the store has the new content. Files that the manifest does not name are leftovers,
which the next write deletes.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace as replace_scores
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from metaeval.data.scores import Scores
from metaeval.errors import DataError, StoreError, format_list
from metaeval.files import TEMPORARY, PathLike, is_remote, read_bytes, write_atomically
from metaeval.measures.base import Measure
from metaeval.measures.registry import named

if TYPE_CHECKING:
    import pyarrow.parquet

SCHEMA = 1
_MANIFEST = "manifest.json"
_LOCK = ".lock"
_LOCK_SECONDS = 60
_SUFFIX = ".parquet"
_OWN_NAME = re.compile(r"\.([0-9a-f]{16})\.parquet$")
_ROW_GROUPS = b"metaeval.measures"  # in each file: the measure of every row group


class ScoreStore:
    """Collections of scores kept in a folder.

    Parameters
    ----------
    path : path
        A folder; the first `add` creates it. A store can be read from any path that fsspec supports (``s3://…``).

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
        self.path = str(path) if is_remote(path) else str(Path(path).expanduser())

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
        return tuple(sorted(self._read_manifest()))

    def info(self, collection: str) -> dict[str, Any]:
        """Return the manifest's entry for a collection, without reading the scores.

        Parameters
        ----------
        collection : str

        Returns
        -------
        dict
            With keys file, sha256, runs, topics, measures, provenance.

        Raises
        ------
        StoreError
            If there is no such collection.
        """
        return self._find_entry(self._read_manifest(), collection)

    def load(self, collection: str, measures: Iterable[str | Measure] | str | Measure | None = None) -> Scores:
        """Load a collection, or some of its measures; only the requested measures are read.

        Parameters
        ----------
        collection : str
        measures : iterable of str or Measure, optional
            All by default.

        Returns
        -------
        Scores
            Exactly the scores that were added, with the measures in the requested order.

        Raises
        ------
        StoreError
            If there is no such collection or measure, or the file is damaged.
        """
        for _ in range(5):
            entry = self._find_entry(self._read_manifest(), collection)
            try:
                return self._read(collection, entry, measures)
            except FileNotFoundError:
                continue  # a writer has just replaced this file; the manifest now names the new one
        raise StoreError(f"{self.path}: the file {entry['file']} of collection {collection} is gone")

    def add(self, scores: Scores, *, collection: str | None = None, replace: bool = False) -> None:
        """Add scores to their collection; measures of the same name are replaced, the other measures are kept.

        Parameters
        ----------
        scores : Scores
            The runs and topics must be those of the collection, in any order.
        collection : str, optional
            The name of the collection, if it is not ``scores.collection``.
        replace : bool, optional
            Replace the whole collection by these scores.

        Raises
        ------
        StoreError
            If the collection has no name or has other runs or topics, or the store cannot be written.
        """
        name = scores.collection if collection is None else collection
        if not name.strip():
            raise StoreError("these scores have no collection name: give Scores(collection=…) or add(collection=…)")
        with self._lock(make=True) as folder:
            self._write_first_manifest(folder)
            self._add(folder, name, scores, replace=replace)

    def remove(self, collection: str) -> None:
        """Remove a collection from the store.

        Parameters
        ----------
        collection : str

        Raises
        ------
        StoreError
            If there is no such collection, or the store cannot be written.
        """
        self._find_entry(self._read_manifest(), collection)
        with self._lock() as folder:
            manifest = self._read_manifest()
            self._find_entry(manifest, collection)
            del manifest[collection]
            _write_manifest(folder, manifest)
            _clear_leftovers(folder, manifest)

    @contextmanager
    def _lock(self, *, make: bool = False) -> Iterator[Path]:
        """Hold the lock of the store while it is written; turn any failure into a StoreError."""
        from filelock import FileLock, Timeout

        if is_remote(self.path):
            raise StoreError(f"{self.path}: a store can only be written on a local disk")
        folder = Path(self.path)
        try:
            if make:
                folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / _LOCK, timeout=_LOCK_SECONDS):
                yield folder
        except Timeout:
            raise StoreError(f"{self.path}: another process has kept the store locked for {_LOCK_SECONDS} s") from None
        except OSError as error:
            raise StoreError(f"{self.path}: the store cannot be written: {error.strerror or error}") from None

    def _write_first_manifest(self, folder: Path) -> None:
        """Write an empty manifest before the first scores, so that scores without a manifest show that it was lost."""
        if (folder / _MANIFEST).exists():
            return
        orphans = [path.name for path in folder.iterdir() if _is_store_file(path)]
        if orphans:
            raise StoreError(
                f"{self.path}: the manifest is gone, but the folder holds scores of a store ({format_list(orphans, 2)}): "
                "put manifest.json back, or use another folder"
            )
        _write_manifest(folder, {})

    def _add(self, folder: Path, name: str, scores: Scores, *, replace: bool) -> None:
        manifest = self._read_manifest()
        if name in manifest and not replace:
            scores = _merge(self._read(name, manifest[name], None), scores)
        content = _to_parquet(scores)
        digest = hashlib.sha256(content).hexdigest()
        file = f"{_file_stem(name)}.{digest[:16]}{_SUFFIX}"
        write_atomically(folder / file, content)
        manifest[name] = {
            "file": file,
            "sha256": digest,
            "runs": len(scores.runs),
            "topics": len(scores.topics),
            "measures": [_describe_measure(one) for one in scores.measures],
            "provenance": scores.provenance,
        }
        _write_manifest(folder, manifest)
        _clear_leftovers(folder, manifest)

    def _read_manifest(self) -> dict[str, dict[str, Any]]:
        path = _join(self.path, _MANIFEST)
        if not is_remote(path) and not Path(path).exists():
            if Path(self.path).is_file():
                raise StoreError(f"{self.path} is a file; a store is a folder")
            return {}
        try:
            content = json.loads(read_bytes(path))
            schema = content["schema"]
            if schema != SCHEMA:
                raise StoreError(
                    f"{path}: the store has schema {schema}, this version of metaeval reads schema {SCHEMA}"
                )
            collections = dict(content["collections"])
            for entry in collections.values():
                _check_entry(entry)
        except DataError as error:
            raise StoreError(str(error)) from None
        except StoreError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError):
            raise StoreError(f"{path}: this is not the manifest of a score store, or it is damaged") from None
        return collections

    def _find_entry(self, manifest: dict[str, dict[str, Any]], collection: str) -> dict[str, Any]:
        if collection not in manifest:
            there = f"it holds {format_list(sorted(manifest))}" if manifest else "it is empty"
            raise StoreError(f"{self.path}: there is no collection {collection!r} ({there})")
        return manifest[collection]

    def _read(
        self, collection: str, entry: dict[str, Any], measures: Iterable[str | Measure] | str | Measure | None
    ) -> Scores:
        known = [_restore_measure(one) for one in entry["measures"]]
        names = [str(one) for one in known]
        if isinstance(measures, str | Measure):
            measures = [measures]
        wanted = names if measures is None else [str(named(one)) for one in measures]
        if not wanted:
            raise StoreError(
                f"{self.path}: no measure of collection {collection} was named (it has {format_list(names)})"
            )
        for name in wanted:
            if name not in names:
                raise StoreError(
                    f"{self.path}: collection {collection} has no measure {name!r} (it has {format_list(names)})"
                )
        file = str(entry["file"])
        if Path(file).name != file:
            raise StoreError(f"{self.path}: the manifest names the file {file!r}, which is not one in the store")
        values, runs, topics = self._read_file(_join(self.path, file), entry, wanted)
        if (len(runs), len(topics)) != (entry["runs"], entry["topics"]):
            raise StoreError(
                f"{self.path}: the file of collection {collection} holds {len(runs)} runs × {len(topics)} topics, the "
                f"manifest says {entry['runs']} × {entry['topics']}: it is damaged"
            )
        return Scores(
            values,
            runs=runs,
            topics=topics,
            measures=[known[names.index(name)] for name in wanted],
            collection=collection,
            provenance=entry.get("provenance", ""),
        )

    def _read_file(
        self, path: str, entry: dict[str, Any], wanted: list[str]
    ) -> tuple[np.ndarray, list[str], list[str]]:
        import pyarrow
        import pyarrow.parquet

        whole = len(wanted) == len(entry["measures"])
        try:
            if is_remote(path) or whole:
                content = _read_bytes(path)
                if hashlib.sha256(content).hexdigest() != entry["sha256"]:
                    raise StoreError(f"{path}: the file is damaged: its sha256 is not the one in the manifest")
                source: Any = io.BytesIO(content)
            else:
                source = path
            with pyarrow.parquet.ParquetFile(source, page_checksum_verification=True) as file:
                return _read_values(file, wanted)
        except (FileNotFoundError, StoreError):
            raise
        except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path}: the file is damaged or was not written by a score store ({error})") from None


def _read_bytes(path: str) -> bytes:
    if is_remote(path):
        return read_bytes(path)
    return Path(path).read_bytes()


def _join(folder: str, file: str) -> str:
    return f"{folder.rstrip('/')}/{file}" if is_remote(folder) else str(Path(folder) / file)


def _file_stem(collection: str) -> str:
    """Make a safe file name from any collection name: percent-encoded, and cut with a checksum if it is too long."""
    safe = quote(collection, safe=" +,=@").replace(".", "%2E")
    return safe if len(safe) <= 150 else f"{safe[:100]}-{hashlib.sha256(collection.encode()).hexdigest()[:16]}"


def _merge(there: Scores, new: Scores) -> Scores:
    """Merge two sets of scores by label; new measures replace old ones of the same name, or come after them."""
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


def _to_parquet(scores: Scores) -> bytes:
    """Write a tidy table with one row group per measure, so that single measures can be read."""
    import pyarrow
    import pyarrow.parquet

    n_runs, n_topics, _ = scores.values.shape
    schema = pyarrow.schema(
        [
            *((name, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())) for name in ("run", "topic", "measure")),
            ("score", pyarrow.float64()),
        ],
        metadata={_ROW_GROUPS: json.dumps([str(one) for one in scores.measures])},
    )
    run = _encode_labels(np.repeat(np.arange(n_runs), n_topics), scores.runs)
    topic = _encode_labels(np.tile(np.arange(n_topics), n_runs), scores.topics)
    names = [str(one) for one in scores.measures]
    stream = io.BytesIO()
    options = {"use_dictionary": ["run", "topic", "measure"], "compression": "zstd", "write_page_checksum": True}
    with pyarrow.parquet.ParquetWriter(stream, schema, **options) as writer:
        for position, _name in enumerate(names):
            measure = _encode_labels(np.full(n_runs * n_topics, position), names)
            score = pyarrow.array(np.ascontiguousarray(scores.values[..., position]).ravel())
            writer.write_table(pyarrow.table([run, topic, measure, score], schema=schema), row_group_size=2**62)
    return stream.getvalue()


def _encode_labels(positions: np.ndarray, labels: Iterable[str]) -> Any:
    import pyarrow

    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(positions.astype(np.int32)), pyarrow.array(list(labels)))


def _read_values(file: pyarrow.parquet.ParquetFile, wanted: list[str]) -> tuple[np.ndarray, list[str], list[str]]:
    """Read the row groups of the wanted measures; within a group the rows are ordered by run, then by topic."""
    groups = {name: group for group, name in enumerate(json.loads(file.schema_arrow.metadata[_ROW_GROUPS]))}
    labels = file.read_row_group(groups[wanted[0]], columns=["run", "topic"])
    runs, topics = (labels.column(name).unique().to_pylist() for name in ("run", "topic"))
    values = np.empty((len(runs), len(topics), len(wanted)))
    for position, name in enumerate(wanted):
        score = file.read_row_group(groups[name], columns=["score"]).column("score").to_numpy()
        values[..., position] = score.reshape(len(runs), len(topics))
    return values, runs, topics


def _describe_measure(measure: Measure) -> dict[str, Any]:
    """Describe a measure: enough to use its scores if its formula is not available."""
    low, high = measure.range
    return {
        "name": str(measure),
        "higher_is_better": measure.higher_is_better,
        "range": [low if np.isfinite(low) else None, high if np.isfinite(high) else None],
        "label": measure.label,
        "description": measure.description,
        "source": measure.source,
    }


def _restore_measure(entry: dict[str, Any]) -> Measure:
    registered = named(entry["name"])
    if registered.formula is not None and registered.higher_is_better == entry["higher_is_better"]:
        return registered
    low, high = entry["range"]
    return Measure(
        entry["name"],
        entry["higher_is_better"],
        (-np.inf if low is None else low, np.inf if high is None else high),
        label=entry["label"],
        description=entry["description"],
        source=entry["source"],
    )


def _write_manifest(folder: Path, collections: dict[str, dict[str, Any]]) -> None:
    content = json.dumps({"schema": SCHEMA, "collections": collections}, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / _MANIFEST, content.encode())


def _check_entry(entry: dict[str, Any]) -> None:
    """Refuse an entry that `_add` cannot have written, by an exception that `ScoreStore._read_manifest` handles."""
    kinds = {"file": str, "sha256": str, "runs": int, "topics": int, "measures": list}
    for key, kind in kinds.items():
        if not isinstance(entry[key], kind):
            raise TypeError(key)
    for one in entry["measures"]:
        low, high = one["range"]
        numbers = [end for end in (low, high) if end is not None]
        if one["higher_is_better"] not in (True, False, None) or not all(
            isinstance(end, int | float) for end in numbers
        ):
            raise TypeError("measures")
        if not all(isinstance(one[key], str) for key in ("name", "label", "description", "source")):
            raise TypeError("measures")


def _is_store_file(path: Path) -> bool:
    """Tell whether a store wrote a file: its name then contains the first digits of the checksum of its content."""
    match = _OWN_NAME.search(path.name)
    if match is None or not path.is_file():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest().startswith(match.group(1))


def _clear_leftovers(folder: Path, collections: dict[str, dict[str, Any]]) -> None:
    """Delete files that no collection uses any more; called under the lock, so that no other process writes them."""
    current = {entry["file"] for entry in collections.values()}
    for path in folder.iterdir():
        if path.name.startswith(TEMPORARY) or (path.name not in current and _is_store_file(path)):
            with suppress(OSError):
                path.unlink()
