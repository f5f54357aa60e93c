"""The Parquet files of a score store: tidy tables that carry the checksums of their parts.

Every measure is a row group. The footer, which Parquet writes last, holds the record of the file: whose
scores these are, and the SHA-256 of every row group. The manifest holds this record too, and the SHA-256 of
the footer. So some measures can be read alone, and no byte is decoded before its checksum was compared.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO
from urllib.parse import quote

import numpy as np

from metaeval.data.scores import COLUMNS, Scores, is_untold
from metaeval.data.scratch import make_array
from metaeval.errors import MetaevalError, StoreError
from metaeval.files import is_remote, open_regular, read_bytes
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label
from metaeval.stats import blocks
from metaeval.stats.progress import tell

SCHEMA = 2
BUFFER = 2**20
SUFFIX = ".parquet"
_RECORD = b"metaeval.store"
_DIRECTION = "higher_is_better"  # a fifth column, as tidy files have it, where names do not tell the direction
_REPAIR = "restore it from a copy, or remove the collection and add its scores again"


def encode_scores(scores: Scores, collection: str) -> tuple[bytes, dict[str, Any]]:
    """Return the content of the file that holds scores, and what the manifest says of it.

    Parameters
    ----------
    scores : Scores
    collection : str
        The name under which they are kept.

    Returns
    -------
    content : bytes
        Rows are those of the tidy table, measure by measure, run by run, topics innermost.
    entry : dict
        The record that is in the file too (schema, collection, provenance, numbers of runs and topics, the
        labels' digest; of every measure its description and the place and SHA-256 of its row group), and
        the file's name, size and SHA-256 and that of its footer.

    Raises
    ------
    StoreError
        If Parquet cannot hold them.
    """
    import pyarrow
    import pyarrow.parquet

    n_runs, n_topics, _ = scores.values.shape
    names = [str(one) for one in scores.measures]
    stated = [_direction(one) for one in scores.measures]
    label_columns = [*COLUMNS[:3], *[_DIRECTION] * any(stated)]
    label = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    schema = pyarrow.schema([*((name, label) for name in label_columns), (COLUMNS[3], pyarrow.float64())])
    cells = n_runs * n_topics
    stream = io.BytesIO()
    measures = []
    options = {"use_dictionary": label_columns, "compression": "zstd", "write_page_checksum": True}
    try:
        run = _labelled(np.repeat(np.arange(n_runs), n_topics), scores.runs)
        topic = _labelled(np.tile(np.arange(n_topics), n_runs), scores.topics)
        with pyarrow.parquet.ParquetWriter(stream, schema, **options) as writer:
            for position, measure in enumerate(scores.measures):
                columns = [run, topic, _labelled(np.full(cells, position), names)]
                if any(stated):
                    columns.append(_labelled(np.zeros(cells), [stated[position]]))
                columns.append(pyarrow.array(np.ascontiguousarray(scores.values[..., position]).ravel()))
                start = stream.tell() if position else 0  # the first includes the four bytes that begin the file
                writer.write_table(pyarrow.table(columns, schema=schema), row_group_size=2**62)
                place = [start, stream.tell()]
                digest = hashlib.sha256(stream.getbuffer()[slice(*place)]).hexdigest()
                measures.append({**describe_measure(measure), "bytes": place, "sha256": digest})
            record = {
                "schema": SCHEMA,
                "collection": collection,
                "provenance": scores.provenance,
                "runs": n_runs,
                "topics": n_topics,
                "labels": _digest_labels(scores.runs, scores.topics),
                "measures": measures,
            }
            writer.add_key_value_metadata({_RECORD: json.dumps(record)})
    except pyarrow.ArrowException as error:
        if isinstance(error, MemoryError):
            raise
        raise StoreError(f"collection {collection}: these scores cannot be written ({error})") from None
    content = stream.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    footer = hashlib.sha256(content[measures[-1]["bytes"][1] :]).hexdigest()
    file = name_file(collection, digest)
    return content, {"file": file, "size": len(content), "sha256": digest, "footer": footer, **record}


def decode_scores(path: str, entry: dict[str, Any], wanted: Sequence[int]) -> tuple[np.ndarray, list[str], list[str]]:
    """Read the scores of some measures, of which every byte is what was written.

    Parameters
    ----------
    path : str
        The file, local or remote.
    entry : dict
        What the manifest says of it.
    wanted : sequence of int
        Positions of measures in the entry.

    Returns
    -------
    values : ndarray, shape (run, topic, wanted)
    runs, topics : list of str

    Raises
    ------
    StoreError
        If anything of the file is not what the manifest says.
    FileNotFoundError
        If there is no such local file.
    """
    import pyarrow

    groups = [entry["measures"][position] for position in wanted]
    footer = {"bytes": [entry["measures"][-1]["bytes"][1], entry["size"]], "sha256": entry["footer"]}
    with _open(path) as (stream, size):
        if size != entry["size"]:
            raise StoreError(f"{path}: the file is damaged: it has {size:,} bytes, not {entry['size']:,} ({_REPAIR})")
        large = 8 * entry["runs"] * entry["topics"] * len(groups) > blocks.LARGE
        if large:
            _check_parts(stream, [footer, *groups], path)
            return _decode(path, entry, stream, lambda file: _stream_values(file, wanted, entry))
        content = _read_parts(stream, size, [footer, *groups], path)
    buffer = pyarrow.BufferReader(pyarrow.py_buffer(content))
    return _decode(path, entry, buffer, lambda file: _values(file, wanted))


def _decode(
    path: str, entry: dict[str, Any], source: Any, read: Callable[[Any], tuple[np.ndarray, list[str], list[str]]]
) -> tuple[np.ndarray, list[str], list[str]]:
    """Read from a Parquet file whose record and labels are those of the manifest."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(source, pre_buffer=False, buffer_size=BUFFER) as file:
            record = json.loads(file.metadata.metadata[_RECORD])
            for key, value in record.items():
                if entry[key] != value:
                    raise StoreError(
                        f"{path}: the file says {key} {value!r:.100}, the manifest says otherwise ({_REPAIR})"
                    )
            values, runs, topics = read(file)
    except (MemoryError, MetaevalError):
        raise
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        raise StoreError(f"{path}: the file was not written by a score store ({error})") from None
    if _digest_labels(runs, topics) != entry["labels"]:
        raise StoreError(f"{path}: the file is damaged: its labels are not those that were stored ({_REPAIR})")
    return values, runs, topics


@contextmanager
def _open(path: str) -> Iterator[tuple[BinaryIO, int]]:
    if is_remote(path):
        content = read_bytes(path)
        yield io.BytesIO(content), len(content)
    else:
        with open_regular(path) as opened:
            yield opened


def _read_parts(stream: BinaryIO, size: int, parts: Iterable[dict[str, Any]], path: str) -> np.ndarray:
    """Return the file with these parts at their places and zeros elsewhere, which take neither time nor memory."""
    content = np.zeros(size, dtype=np.uint8)
    for part in parts:
        start, end = part["bytes"]
        stream.seek(start)
        view = content.data[start:end]
        stream.readinto(view)  # type: ignore[attr-defined]
        if hashlib.sha256(view).hexdigest() != part["sha256"]:
            raise StoreError(_say_damaged(path, start, end))
    return content


def _check_parts(stream: BinaryIO, parts: Iterable[dict[str, Any]], path: str) -> None:
    """Compare the checksums of parts of a file, of which memory holds a little at a time."""
    for part in parts:
        start, end = part["bytes"]
        stream.seek(start)
        digest, left = hashlib.sha256(), end - start
        while left and (some := stream.read(min(left, BUFFER))):
            digest.update(some)
            left -= len(some)
        if digest.hexdigest() != part["sha256"]:
            raise StoreError(_say_damaged(path, start, end))


def _say_damaged(path: str, start: int, end: int) -> str:
    return (
        f"{path}: the file is damaged, or it is another one: bytes {start:,} to {end:,} do not have the "
        f"checksum in the manifest ({_REPAIR})"
    )


def _stream_values(file: Any, wanted: Sequence[int], entry: dict[str, Any]) -> tuple[np.ndarray, list[str], list[str]]:
    """Read the row groups of the wanted measures side by side into a file, some runs at a time."""
    n_runs, n_topics = entry["runs"], entry["topics"]
    rows = n_topics * max(1, blocks.CELLS_A_BLOCK // (n_topics * len(wanted)))
    # Labels repeat: topics are those of the first run.
    runs: dict[str, None] = {}
    topics: list[str] = []
    for batch in file.iter_batches(rows, row_groups=[wanted[0]], columns=["run", "topic"], use_threads=False):
        runs |= dict.fromkeys(batch.column("run").unique().to_pylist())
        if len(topics) < n_topics:
            topics = list(dict.fromkeys([*topics, *batch.column("topic").slice(0, n_topics).unique().to_pylist()]))
    values = make_array((n_runs, n_topics, len(wanted)))
    cells = values.reshape(-1, len(wanted))
    columns = [file.iter_batches(rows, row_groups=[group], columns=["score"], use_threads=False) for group in wanted]
    start = 0
    for batches in zip(*columns, strict=True):
        for position, batch in enumerate(batches):
            cells[start : start + len(batch), position] = batch.column(0).to_numpy()
        start += len(batches[0])
        tell("reading", start, len(cells))
        blocks.release(values)
    if start != len(cells):
        raise ValueError(f"{start:,} rows, not {len(cells):,}")
    return values, list(runs), topics


def _values(file: Any, wanted: Sequence[int]) -> tuple[np.ndarray, list[str], list[str]]:
    """Read the row groups of the wanted measures."""
    labels = file.read_row_group(wanted[0], columns=["run", "topic"], use_threads=False)
    runs, topics = (labels.column(name).unique().to_pylist() for name in ("run", "topic"))
    values = np.empty((len(runs), len(topics), len(wanted)))
    for position, group in enumerate(wanted):
        score = file.read_row_group(group, columns=["score"], use_threads=False).column("score").to_numpy()
        values[..., position] = score.reshape(len(runs), len(topics))
    return values, runs, topics


def _labelled(positions: np.ndarray, labels: Iterable[str]) -> Any:
    import pyarrow

    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(positions.astype(np.int32)), pyarrow.array(list(labels)))


def _digest_labels(runs: Sequence[str], topics: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps([list(runs), list(topics)]).encode()).hexdigest()


def _direction(measure: Measure) -> str:
    """Return the direction as tidy files state it, empty where the measure's name tells it."""
    return str(measure.higher_is_better).lower() if is_untold(measure) else ""


def describe_measure(measure: Measure) -> dict[str, Any]:
    """Return what is kept of a measure: enough to use its scores where its formula is not at hand."""
    low, high = measure.range
    return {
        "name": str(measure),
        "higher_is_better": measure.higher_is_better,
        "range": [low if np.isfinite(low) else None, high if np.isfinite(high) else None],
        "label": measure.label,
        "description": measure.description,
        "source": measure.source,
    }


def restore_measure(described: dict[str, Any]) -> Measure:
    """Return the measure that was described: the registered one of its name, unless its direction is another."""
    registered = measure_of_label(described["name"])
    if registered.formula is not None and registered.higher_is_better == described["higher_is_better"]:
        return registered
    low, high = described["range"]
    return Measure(
        described["name"],
        described["higher_is_better"],
        (-np.inf if low is None else low, np.inf if high is None else high),
        label=described["label"],
        description=described["description"],
        source=described["source"],
    )


def name_file(collection: str, digest: str) -> str:
    """Return the name of a collection's file: safe on every disk, and another one for other content."""
    safe = quote(collection, safe=" +,=@").replace(".", "%2E")
    if len(safe) > 150:
        safe = f"{safe[:100]}-{hashlib.sha256(collection.encode()).hexdigest()[:16]}"
    return f"{safe}.{digest[:16]}{SUFFIX}"
