"""ScoreStore: collections of scores in a folder, whole at every moment whatever happens to the writer.

The folder holds one Parquet file a collection, a tidy table with a row group a measure, and ``manifest.json``, which says the
SHA-256 of every collection's file, under a checksum of its own. A flipped bit is thus noticed wherever it is. A write makes a
new Parquet file, whose name begins with the digits of its checksum, and then replaces the manifest: that replacement is the
moment at which the write happens, so a writer killed before it leaves the old state, after it the new one. Files that no
manifest names are leftovers, cleared by the next write.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace as replace_scores
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from metaeval.data.clusters import Repeats
from metaeval.data.columns import COLUMNS, DIRECTION
from metaeval.data.scores import Scores, is_untold, refuse_gaps
from metaeval.errors import DataError, MetaevalError, StoreError, format_list, format_option
from metaeval.files import (
    PathLike,
    clear_leftovers,
    is_remote,
    open_regular,
    read_bounded,
    write_atomically,
)
from metaeval.measures.base import Measure
from metaeval.measures.resolve import MeasureLike, measure_of_label, resolve_measures
from metaeval.stats.parallel import tell

MANIFEST, SCHEMA = "manifest.json", 4
LARGEST = 16 * 2**20
"""Bytes of a manifest: a hundred thousand collections, while a larger file could take more memory than there is."""

_RECORD = b"metaeval.store"
_FILE_NAME = re.compile(r"\.([0-9a-f]{16})\.parquet$")
_LOCK_SECONDS = 60
_CELLS_A_BATCH = 2**21
_REPAIR = "restore it from a copy, or remove the collection and add its scores again"


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
            If the manifest is damaged or from another version.
        """
        with self._as_store_errors("read"):
            return tuple(sorted(self._read_manifest()))

    def info(self, collection: str) -> dict[str, Any]:
        """Return what the store says of a collection: file, collection, provenance, runs, topics, clusters and measures.

        Parameters
        ----------
        collection : str

        Raises
        ------
        StoreError
            If there is no such collection, or the file is damaged.
        """
        with self._as_store_errors("read"), self._open(collection) as (name, _, record):
            return {"file": name, **record}

    def load(self, collection: str, measures: Iterable[MeasureLike] | MeasureLike | None = None) -> Scores:
        """Load a collection, or some measures of it, of which only those are decoded.

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
        with self._as_store_errors("read"), self._open(collection) as (_, file, record):
            names = [measure["name"] for measure in record["measures"]]
            chosen = names if measures is None else [str(one) for one in resolve_measures(measures, labels=names)]
            if not chosen:
                problem = f"no measure of collection {collection} was named (it has {format_list(names)})"
                raise StoreError(f"{self.path}: {problem}")
            for name in chosen:
                if name not in names:
                    problem = f"collection {collection} has no measure {name!r} (it has {format_list(names)})"
                    raise StoreError(f"{self.path}: {problem}")
            positions = [names.index(name) for name in chosen]
            return Scores(
                _read_values(file, len(record["runs"]), len(record["topics"]), positions),
                runs=record["runs"],
                topics=record["topics"],
                measures=[_restore_measure(record["measures"][position]) for position in positions],
                collection=collection,
                provenance=record["provenance"],
                clusters=record["clusters"],
                repeats={name: Repeats(**record["repeats"][name]) for name in chosen if name in record["repeats"]},
            )

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
            digests = self._read_manifest()
            if not (folder / MANIFEST).exists():
                # From now on, scores without a manifest mean that it was lost.
                write_atomically(folder / MANIFEST, _encode_manifest({}))
            if name in digests and not replace:
                scores = _merge(self.load(name), scores)
            content = _encode_scores(scores, name)
            digest = hashlib.sha256(content).hexdigest()
            manifest = _encode_manifest({**digests, name: digest})
            write_atomically(folder / _name_file(name, digest), content)
            write_atomically(folder / MANIFEST, manifest)
            if digests.get(name, digest) != digest:
                _delete(folder / _name_file(name, digests[name]))

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
        self._find_digest(collection)
        with self._writing() as folder:
            digests = self._read_manifest()
            digest = digests.pop(collection, "")
            write_atomically(folder / MANIFEST, _encode_manifest(digests))
            _delete(folder / _name_file(collection, digest))

    @contextmanager
    def _as_store_errors(self, done: str) -> Iterator[None]:
        """Turn whatever stands in the way of the store being "read" or "written" into a StoreError of one sentence."""
        try:
            yield
        except DataError as error:
            raise StoreError(str(error)) from None
        except MetaevalError:
            raise
        except (OSError, MemoryError) as error:
            why = "there is not enough memory" if isinstance(error, MemoryError) else error.strerror or error
            raise StoreError(f"{self.path}: the store cannot be {done}: {why}") from None
        except UnicodeEncodeError as error:
            wrong = error.object[error.start : error.end]
            raise StoreError(f"{self.path}: a name holds {wrong!r}, which no file can hold: rename it") from None

    @contextmanager
    def _writing(self, *, make: bool = False) -> Iterator[Path]:
        """Lock the store while it is written, and leave nothing behind that is no part of it."""
        from filelock import FileLock, Timeout

        folder = Path(self.path)
        with self._as_store_errors("written"):
            if make:
                folder.mkdir(parents=True, exist_ok=True)
            try:
                with FileLock(folder / ".lock", timeout=_LOCK_SECONDS):
                    try:
                        yield folder
                    finally:
                        clear_leftovers(folder, age=0)  # the lock says that their writers are gone
                        with suppress(OSError, StoreError):
                            current = {_name_file(*entry) for entry in self._read_manifest().items()}
                            for path in _list_files(folder):
                                _delete(path) if path.name not in current else None
            except Timeout:
                raise StoreError(f"{folder}: another process has kept the store locked for {_LOCK_SECONDS} s") from None
            except NotImplementedError:
                raise StoreError(
                    f"{folder}: files cannot be locked on this disk; use a folder on another one"
                ) from None

    def _read_manifest(self) -> dict[str, str]:
        """Return the SHA-256 of the file of every collection, unless the manifest was damaged or edited."""
        path = os.path.join(self.path, MANIFEST)
        try:
            content = read_bounded(path, LARGEST)
        except FileNotFoundError:
            orphans = [file.name for file in _list_files(Path(self.path))]
            if orphans and not os.path.exists(path):  # a first writer makes the manifest before the scores
                raise StoreError(
                    f"{self.path}: the manifest is gone, but there are scores of a store ({format_list(orphans, 2)}): "
                    f"put {MANIFEST} back, or use another folder"
                ) from None
            return {}
        except NotADirectoryError:
            raise StoreError(f"{self.path} is a file; a store is a folder") from None
        problem = "this is not the manifest of a score store, or it is damaged"
        try:
            manifest = json.loads(content.decode())
            schema, digests = manifest["schema"], manifest["collections"]
            if schema != SCHEMA:
                problem = f"the store has schema {schema!r:.20}, this version of metaeval reads schema {SCHEMA}"
            elif manifest["checksum"] != _checksum(digests):
                problem = "the manifest is damaged or was edited: its checksum is not that of its content"
            # A name of a file is made of each digest: the right checksum proves nothing, whoever edits it can compute it.
            elif all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests.values()):
                return dict(digests)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        convert = "metaeval convert FILE.parquet NEW_STORE --to store --collection NAME"
        raise StoreError(
            f"{path}: {problem} (restore it from a copy, or take every Parquet file into a new store: {convert})"
        )

    def _find_digest(self, collection: str) -> str:
        with self._as_store_errors("read"):
            digests = self._read_manifest()
        if not isinstance(collection, str) or collection not in digests:
            content = f"it holds {format_list(sorted(digests))}" if digests else "it is empty"
            raise StoreError(f"{self.path}: there is no collection {collection!r} ({content})")
        return digests[collection]

    @contextmanager
    def _open(self, collection: str) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Open the current file of a collection once its checksum is right, and yield its name, itself and its record."""
        import pyarrow
        import pyarrow.parquet

        digest = self._find_digest(collection)
        stream, name, digest = self._open_file(collection, digest)
        with stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
                problem = "the file is damaged, or it is another one: it does not have the checksum in the manifest"
                raise StoreError(f"{os.path.join(self.path, name)}: {problem} ({_REPAIR})")
            stream.seek(0)
            try:
                file = pyarrow.parquet.ParquetFile(stream)
                yield name, file, json.loads(file.metadata.metadata[_RECORD])
            except (pyarrow.ArrowException, LookupError, TypeError, ValueError) as error:
                if isinstance(error, MetaevalError):
                    raise
                raise StoreError(f"{os.path.join(self.path, name)}: no score store has written it: {error}") from None

    def _open_file(self, collection: str, digest: str) -> tuple[Any, str, str]:
        """Open the file of this checksum, or the one by which a writer has just replaced it."""
        while True:
            name = _name_file(collection, digest)
            try:
                with open_regular(os.path.join(self.path, name)) as (stream, _):
                    return os.fdopen(os.dup(stream.fileno()), "rb"), name, digest
            except FileNotFoundError:
                now = self._find_digest(collection)
                if now == digest:
                    problem = f"the file {name} of collection {collection} is gone: {_REPAIR}"
                    raise StoreError(f"{self.path}: {problem}") from None
                digest = now


def find_folder(path: PathLike) -> str:
    """Return the path of a store without ``file://`` and with ``~`` replaced.

    >>> find_folder("file:///campaign/scores")
    '/campaign/scores'
    """
    text = os.fspath(path)
    if "\0" in text:
        raise StoreError(f"{text!r} cannot be the path of a folder")
    text = re.sub(r"^(file|local):(//|(?=/))", "", text) or "."
    if is_remote(text):
        raise StoreError(f"{text}: a store lies on a local disk: download it first")
    try:
        return str(Path(text).expanduser())
    except RuntimeError:
        raise StoreError(f"{text}: there is no such user") from None


def _encode_manifest(digests: dict[str, str]) -> bytes:
    content = {"schema": SCHEMA, "checksum": _checksum(digests), "collections": digests}
    encoded = json.dumps(content, indent=1, ensure_ascii=False).encode()
    if len(encoded) > LARGEST:
        raise StoreError(
            f"the store has {len(digests):,} collections, and its manifest would be larger than {LARGEST:,} bytes: "
            "keep further ones in another folder"
        )
    return encoded


def _checksum(digests: dict[str, str]) -> str:
    """Spaces, line ends and the order of keys may change; nothing that is read may."""
    return hashlib.sha256(json.dumps([SCHEMA, digests], sort_keys=True).encode()).hexdigest()


def _name_file(collection: str, digest: str) -> str:
    """Return the name of a collection's file: safe on every disk, and another one for other content."""
    safe = quote(collection, safe=" +,=@").replace(".", "%2E")
    if len(safe) > 150:
        safe = f"{safe[:100]}-{hashlib.sha256(collection.encode()).hexdigest()[:16]}"
    return f"{safe}.{digest[:16]}.parquet"


def _list_files(folder: Path) -> list[Path]:
    """Return the files that a store wrote: their names hold the first digits of their checksums."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        match = _FILE_NAME.search(path.name)
        if match and path.is_file():
            with path.open("rb") as stream:
                found += [path] * hashlib.file_digest(stream, "sha256").hexdigest().startswith(match[1])
    return found


def _delete(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _encode_scores(scores: Scores, collection: str) -> bytes:
    """Return the content of a file: the tidy table, measure by measure, run by run, topics innermost, and its record."""
    import pyarrow
    import pyarrow.parquet

    n_runs, n_topics, _ = scores.values.shape
    names = [str(measure) for measure in scores.measures]
    # As tidy files state them, empty where the measure's name tells it.
    directions = [str(one.higher_is_better).lower() if is_untold(one) else "" for one in scores.measures]
    columns = [*COLUMNS[:3], *[DIRECTION] * any(directions)]
    label = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    record = {
        "collection": collection,
        "provenance": scores.provenance,
        "runs": list(scores.runs),
        "topics": list(scores.topics),
        "clusters": list(scores.clusters),
        "measures": [_describe_measure(measure) for measure in scores.measures],
        "repeats": {name: asdict(repeats) for name, repeats in scores.repeats.items()},
    }
    schema = pyarrow.schema(
        [*((name, label) for name in columns), (COLUMNS[3], pyarrow.float64())], metadata={_RECORD: json.dumps(record)}
    )

    def repeat(positions: np.ndarray, labels: Iterable[str]) -> Any:
        codes = pyarrow.array(positions.astype(np.int32))
        return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(list(labels)))

    stream = io.BytesIO()
    run, topic = np.repeat(np.arange(n_runs), n_topics), np.tile(np.arange(n_topics), n_runs)
    try:
        with pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd", use_dictionary=columns) as writer:
            for m, name in enumerate(names):
                cells = [repeat(run, scores.runs), repeat(topic, scores.topics), repeat(0 * run, [name])]
                cells += [repeat(0 * run, [directions[m]])] * any(directions)
                values = np.ascontiguousarray(scores.values[..., m], dtype="<f8").ravel()
                table = pyarrow.table([*cells, pyarrow.array(values)], schema=schema)
                writer.write_table(table, row_group_size=2**62)
    except pyarrow.ArrowException as error:
        if isinstance(error, MemoryError):
            raise
        raise StoreError(f"collection {collection}: these scores cannot be written ({error})") from None
    return stream.getvalue()


def _read_values(file: Any, n_runs: int, n_topics: int, positions: list[int]) -> np.ndarray:
    """Return the scores (run, topic, measure) of some row groups."""
    values = np.empty((n_runs, n_topics, len(positions)))
    cells = values.reshape(-1, len(positions))
    size = max(1, min(len(cells), _CELLS_A_BATCH // len(positions)))
    groups = [
        file.iter_batches(size, row_groups=[position], columns=["score"], use_threads=False) for position in positions
    ]
    start = 0
    for batches in zip(*groups, strict=True):
        for column, batch in enumerate(batches):
            cells[start : start + len(batch), column] = batch.column(0).to_numpy()
        start += len(batches[0])
        tell("reading", start, len(cells))
    return values


def _describe_measure(measure: Measure) -> dict[str, Any]:
    """Return what is stored of a measure: enough to use its scores where its formula is not at hand."""
    low, high = (end if np.isfinite(end) else None for end in measure.range)
    described = {name: getattr(measure, name) for name in ("higher_is_better", "label", "description", "source")}
    return {"name": str(measure), "range": [low, high], **described}


def _restore_measure(described: dict[str, Any]) -> Measure:
    """Return the measure that was described: the registered one of its name, unless its direction is another."""
    registered = measure_of_label(described["name"])
    if registered.formula is not None and registered.higher_is_better == described["higher_is_better"]:
        return registered
    low, high = described["range"]
    return Measure(**{**described, "range": (-np.inf if low is None else low, np.inf if high is None else high)})


def _merge(former: Scores, new: Scores) -> Scores:
    """Return both: the new measures, aligned by label, in place of former ones of the same name or behind them."""
    for what, labels, given in (("run", former.runs, new.runs), ("topic", former.topics, new.topics)):
        missing, extra = sorted({*labels} - {*given}), sorted({*given} - {*labels})
        if missing or extra:
            have = f"have {what} {format_list(extra, 3)}, which it lacks"
            raise StoreError(
                f"collection {former.collection} has {len(labels)} {what}s, these scores "
                f"{f'lack {what} {format_list(missing, 3)}' if missing else have}: "
                "add them under another collection name, or replace the collection"
            )
    new = new.sel(runs=former.runs, topics=former.topics)
    columns = {
        str(measure): (measure, scores.values[..., position])
        for scores in (former, new)
        for position, measure in enumerate(scores.measures)
    }
    measures, values = zip(*columns.values(), strict=True)
    provenance, clusters = former.provenance or new.provenance, former.clusters or new.clusters
    return replace_scores(
        former,
        values=np.stack(values, axis=-1),
        measures=measures,
        provenance=provenance,
        clusters=clusters,
        # What was said of the former scores of a measure goes with them.
        repeats={name: each for name, each in former.repeats.items() if name not in map(str, new.measures)}
        | dict(new.repeats),
    )
