"""ScoreStore: collections of scores in a folder, whole at every moment whatever happens to the writer.

The folder holds one Parquet file a collection and ``manifest.json``, which says the SHA-256 of each, under a checksum of its
own: a flipped bit is noticed wherever it is. A write makes a new Parquet file, whose name holds the first digits of its
checksum, and then replaces the manifest: that is the moment at which the write happens, so a writer killed before it leaves
the old state, after it the new one. Files that no manifest names are leftovers, cleared by the next write.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from metaeval.data.columns import COLUMNS, DIRECTION
from metaeval.data.labels import Repeats, unique_labels
from metaeval.data.scores import Scores, refuse_gaps
from metaeval.errors import DataError, MetaevalError, StoreError, format_list, format_option
from metaeval.files import PathLike, clear_leftovers, open_regular, read_bounded, write_atomically
from metaeval.measures.base import Measure
from metaeval.measures.resolve import MeasureLike, is_untold, measure_of_label

MANIFEST, SCHEMA = "manifest.json", 4
_RECORD = b"metaeval.store"
_FILE_NAME = re.compile(r"\.[0-9a-f]{16}\.parquet$")
_LOCK_SECONDS = 60
_REPAIR = "restore it from a copy, or add its scores again with replace=True"


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
        if "://" in str(path) or "\0" in str(path):
            raise StoreError(f"{path}: a store is a folder on a local disk: download it first")
        self.path = Path(os.path.expanduser(path))

    def __repr__(self) -> str:
        return f"ScoreStore: {self.path}"

    def collections(self) -> tuple[str, ...]:
        """Return the names of the collections in the store, in alphabetical order."""
        with self._as_store_errors("read"):
            return tuple(sorted(self._read_manifest()))

    def load(self, collection: str, measures: Iterable[MeasureLike] | MeasureLike | None = None) -> Scores:
        """Load a collection, bit for bit as it was added, or some of its measures in the order asked for."""
        import pyarrow
        import pyarrow.parquet

        with self._as_store_errors("read"):
            digests = self._read_manifest()
            if not isinstance(collection, str) or collection not in digests:
                content = f"it holds {format_list(sorted(digests))}" if digests else "it is empty"
                raise StoreError(f"{self.path}: there is no collection {collection!r} ({content})")
            path = self.path / _name_file(collection, digests[collection])
            try:
                with open_regular(path) as opened:
                    stream: Any = opened[0]
                    if hashlib.file_digest(stream, "sha256").hexdigest() != digests[collection]:
                        raise ValueError("it does not have the checksum in the manifest")
                    stream.seek(0)
                    file = pyarrow.parquet.ParquetFile(stream)
                    record = json.loads(file.metadata.metadata[_RECORD])
                    return _decode_scores(file, record, collection, measures)
            except FileNotFoundError:
                if self._read_manifest() != digests:  # a writer has just replaced it
                    return self.load(collection, measures)
                raise StoreError(f"{path}: the file of collection {collection} is gone: {_REPAIR}") from None
            except MetaevalError:
                raise
            except (pyarrow.ArrowException, LookupError, TypeError, ValueError, AttributeError) as error:
                problem = f"the file is damaged, or no score store has written it: {error}"
                raise StoreError(f"{path}: {problem} ({_REPAIR})") from None

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
        """
        from filelock import FileLock

        if not isinstance(scores, Scores):
            raise StoreError(f"a store keeps Scores, not {type(scores).__name__} (metaeval.io.from_frame makes them)")
        refuse_gaps(scores)
        name = scores.collection if collection is None else str(collection)
        if not name.strip():
            raise StoreError(f"these scores have no collection name: give {format_option('collection', 'NAME')}")
        with self._as_store_errors("written"):
            unique_labels([name], "collection")
            self.path.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path / ".lock", timeout=_LOCK_SECONDS):
                digests = self._read_manifest()
                try:
                    if not (self.path / MANIFEST).exists():  # from now on, scores without one mean that it was lost
                        self._write_manifest({})
                    if name in digests and not replace:
                        try:
                            scores = self.load(name).add_measures(scores, overwrite=True)
                        except DataError as error:
                            hint = "add them under another collection name, or replace the collection"
                            raise StoreError(f"{self.path}: collection {name}: {error}: {hint}") from None
                    content = _encode_scores(scores, name)
                    digests[name] = hashlib.sha256(content).hexdigest()
                    write_atomically(self.path / _name_file(name, digests[name]), content)
                    self._write_manifest(digests)
                finally:  # delete what is no part of the store; its lock says that other writers are gone
                    clear_leftovers(self.path, age=0)
                    with suppress(OSError, StoreError):
                        named = {_name_file(*entry) for entry in self._read_manifest().items()}
                        for path in {*self._list_files()} - {self.path / each for each in named}:
                            path.unlink()

    @contextmanager
    def _as_store_errors(self, done: str) -> Iterator[None]:
        """Turn whatever stands in the way of the store being "read" or "written" into a StoreError of one sentence."""
        try:
            yield
        except DataError as error:
            raise StoreError(str(error if error.file else error.changed(file=self.path))) from None
        except (MemoryError, OSError, NotImplementedError) as error:  # the last of locks that a disk does not have
            why = getattr(error, "strerror", None) or str(error) or "there is not enough memory"
            raise StoreError(f"{self.path}: the store cannot be {done}: {why}") from None

    def _list_files(self) -> list[Path]:
        return [path for path in self.path.glob("*.parquet") if _FILE_NAME.search(path.name)]

    def _read_manifest(self) -> dict[str, str]:
        """Return the SHA-256 of the file of every collection, unless the manifest is damaged, edited or an earlier one."""
        path = self.path / MANIFEST
        try:
            content = read_bounded(path)
        except FileNotFoundError:
            orphans = [file.name for file in self._list_files()]
            if not orphans or path.exists():  # a first writer makes the manifest before the scores
                return {}
            problem = f"the manifest is gone, but there are scores of a store ({format_list(orphans, 2)})"
            hint = f"put {MANIFEST} back, or use another folder"
            raise StoreError(f"{self.path}: {problem}: {hint}") from None
        problem = "this is not the manifest of a score store, or it is damaged"
        try:
            manifest = json.loads(content.decode())
            schema, digests = manifest["schema"], manifest["collections"]
            if schema != SCHEMA:
                problem = f"the store has schema {schema!r:.20}, this version of metaeval reads schema {SCHEMA}"
            elif manifest["checksum"] != _checksum(digests):
                problem = "the manifest is damaged or was edited: its checksum is not that of its content"
            # Names of files are made of digests, and whoever edits a manifest can compute the right checksum.
            elif all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests.values()):
                return dict(digests)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        convert = f"`metaeval convert {self.path}/FILE.parquet NEW_STORE --to store --collection NAME`"
        repair = f"restore it from a copy, or take each of its Parquet files into a new store: {convert}"
        raise StoreError(f"{path}: {problem}: {repair}")

    def _write_manifest(self, digests: dict[str, str]) -> None:
        content = {"schema": SCHEMA, "checksum": _checksum(digests), "collections": digests}
        write_atomically(self.path / MANIFEST, json.dumps(content, indent=1, ensure_ascii=False))


def _checksum(digests: dict[str, str]) -> str:
    """Spaces, line ends and the order of keys may change; nothing that is read may."""
    return hashlib.sha256(json.dumps([SCHEMA, digests], sort_keys=True).encode()).hexdigest()


def _name_file(collection: str, digest: str) -> str:
    """Return the name of a collection's file: safe on every disk, and another one for other content."""
    safe = quote(collection, safe=" +,=@").replace(".", "%2E")
    return f"{safe[:150]}.{digest[:16]}.parquet"


def _decode_scores(file: Any, record: Any, collection: str, measures: Any) -> Scores:
    described = {measure["name"]: measure for measure in record["measures"]}
    names, shape = list(described), (len(record["runs"]), len(record["topics"]))
    is_whole = file.metadata.num_rows == shape[0] * shape[1] * len(names) and record["collection"] == collection
    if not is_whole or str(file.schema_arrow.field("score").type) != "double":
        raise ValueError("it does not hold what it says")
    cells = file.read(columns=["score"]).column(0).to_numpy()
    known, repeats = [], {}
    for name, fields in described.items():
        if told := fields.pop("repeats", None):
            repeats[name] = Repeats(int(told["count"]), float(told["variance"]))
        low, high = fields["range"]
        fields["range"] = -np.inf if low is None else float(low), np.inf if high is None else float(high)
        registered = measure_of_label(name)
        is_same = registered.formula is not None and registered.higher_is_better == fields["higher_is_better"]
        known.append(registered if is_same else Measure(**fields))
    labels = {label: record[label] for label in ("runs", "topics", "provenance", "clusters")}
    values = np.moveaxis(cells.reshape(len(names), *shape), 0, -1)
    return Scores(values, measures=known, repeats=repeats, collection=collection, **labels).sel(measures=measures)


def _encode_scores(scores: Scores, collection: str) -> bytes:
    """Return the content of a file: the tidy table, measure by measure, run by run, topics innermost, and its record."""
    import pyarrow
    import pyarrow.parquet

    record = {"collection": collection, **scores.named("provenance", "runs", "topics", "clusters"), "measures": []}
    for measure in scores.measures:  # enough to use its scores where its formula is not at hand
        described = {name: getattr(measure, name) for name in ("higher_is_better", "label", "description", "source")}
        described |= {"name": str(measure), "range": [end if np.isfinite(end) else None for end in measure.range]}
        if str(measure) in scores.repeats:
            described["repeats"] = asdict(scores.repeats[str(measure)])
        record["measures"].append(described)
    values = np.moveaxis(scores.values, -1, 0)
    m, r, t = np.indices(values.shape, dtype=np.int32).reshape(3, -1)
    names = [str(measure) for measure in scores.measures]
    # As tidy files state directions: empty where the measure's name tells it.
    directions = [str(one.higher_is_better).lower() if is_untold(one) else "" for one in scores.measures]
    columns = {
        label: pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array([*labels]))
        for label, codes, labels in zip(COLUMNS, (r, t, m), (scores.runs, scores.topics, names), strict=False)
    }
    columns |= {DIRECTION: pyarrow.array(directions).take(m), COLUMNS[3]: values.ravel()}
    table = pyarrow.table(columns).replace_schema_metadata({_RECORD: json.dumps(record)})
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, compression="zstd", use_dictionary=[*columns][:4])
    return stream.getvalue()
