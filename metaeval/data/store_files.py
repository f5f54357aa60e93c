"""The Parquet files of a score store: tidy tables that carry the checksums of what is read from them.

Every measure is a row group, so that some measures can be read alone. The footer, which Parquet writes last, holds the
record of the file: whose scores these are, and the SHA-256 of the labels and of the scores of every measure. The
manifest of the store holds the SHA-256 of the footer. A flipped bit is thus noticed wherever it is: in the footer before
it is decoded, in a page by Parquet's own checksum, and whatever that leaves out, such as the headers of pages, by
comparing what was decoded.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, BinaryIO
from urllib.parse import quote

import numpy as np

from metaeval.data.clusters import Repeats
from metaeval.data.scores import COLUMNS, Scores, is_untold
from metaeval.errors import MetaevalError, StoreError
from metaeval.files import open_regular
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label
from metaeval.stats.parallel import tell

SCHEMA = 3
CLUSTERS = "clusters"
"""What a record says of scores whose topics come in clusters: that of each topic."""
REPEATS = "repeats"
"""What a record says of a measure whose scores are means of repeats: how many, and the variance of one."""

SUFFIX = ".parquet"
_BUFFER = 2**20
_CELLS_A_BATCH = 2**21
_RECORD = b"metaeval.store"
_DIRECTION = "higher_is_better"  # a fifth column, as tidy files have it, where names do not tell the direction
_REPAIR = "restore it from a copy, or remove the collection and add its scores again"
_TAIL = 8  # bytes of a Parquet file: the length of its footer, and PAR1


def encode_scores(scores: Scores, collection: str) -> tuple[bytes, str]:
    """Return the content of the file that holds scores under a collection's name, and the SHA-256 of its footer.

    Rows are those of the tidy table, measure by measure, run by run, topics innermost.
    """
    import pyarrow
    import pyarrow.parquet

    n_runs, n_topics, _ = scores.values.shape
    names = [str(measure) for measure in scores.measures]
    # As tidy files state them, empty where the measure's name tells it.
    directions = [str(one.higher_is_better).lower() if is_untold(one) else "" for one in scores.measures]
    label_columns = [*COLUMNS[:3], *[_DIRECTION] * any(directions)]
    label = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    schema = pyarrow.schema([*((name, label) for name in label_columns), (COLUMNS[3], pyarrow.float64())])
    rows = n_runs * n_topics
    stream, measures = io.BytesIO(), []
    options = {"use_dictionary": label_columns, "compression": "zstd", "write_page_checksum": True}
    try:
        run = _labelled(np.repeat(np.arange(n_runs), n_topics), scores.runs)
        topic = _labelled(np.tile(np.arange(n_topics), n_runs), scores.topics)
        with pyarrow.parquet.ParquetWriter(stream, schema, **options) as writer:
            for position, measure in enumerate(scores.measures):
                values = np.ascontiguousarray(scores.values[..., position], dtype="<f8").ravel()
                columns = [run, topic, _labelled(np.full(rows, position), names)]
                if any(directions):
                    columns.append(_labelled(np.zeros(rows), [directions[position]]))
                columns.append(pyarrow.array(values))
                writer.write_table(pyarrow.table(columns, schema=schema), row_group_size=2**62)
                described = {**describe_measure(measure), "sha256": hashlib.sha256(values.data).hexdigest()}
                if str(measure) in scores.repeats:
                    described[REPEATS] = asdict(scores.repeats[str(measure)])
                measures.append(described)
            record = {
                "schema": SCHEMA,
                "collection": collection,
                "provenance": scores.provenance,
                "runs": n_runs,
                "topics": n_topics,
                "labels": _digest_labels(scores.runs, scores.topics),
                "measures": measures,
                **({CLUSTERS: list(scores.clusters)} if scores.clusters else {}),
            }
            writer.add_key_value_metadata({_RECORD: json.dumps(record)})
    except pyarrow.ArrowException as error:
        if isinstance(error, MemoryError):
            raise
        raise StoreError(f"collection {collection}: these scores cannot be written ({error})") from None
    return stream.getvalue(), hashlib.sha256(_read_footer(stream)).hexdigest()


@contextmanager
def open_file(path: str, collection: str, footer: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Open the Parquet file of a collection whose footer has this SHA-256, and yield it with its record.

    A FileNotFoundError says that there is no such file; whatever is not as it was written is a StoreError.
    """
    import pyarrow
    import pyarrow.parquet

    with _open(path) as stream:
        content = _read_footer(stream)
        if hashlib.sha256(content).hexdigest() != footer:
            raise StoreError(
                f"{path}: the file is damaged, or it is another one: its footer does not have the checksum in the "
                f"manifest ({_REPAIR})"
            )
        try:
            metadata = pyarrow.parquet.read_metadata(io.BytesIO(b"PAR1" + content))
            record = json.loads(metadata.metadata[_RECORD])
            _check_record(record, collection, metadata)
            with pyarrow.parquet.ParquetFile(
                stream, metadata=metadata, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True
            ) as file:
                yield file, record
        except (MemoryError, MetaevalError):
            raise
        except (pyarrow.ArrowException, OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise StoreError(f"{path}: the file is damaged, or no score store has written it: {error}") from None


def decode_scores(
    path: str, file: Any, record: dict[str, Any], positions: Sequence[int]
) -> tuple[np.ndarray, list[str], list[str]]:
    """Return the scores (run, topic, measure) of the measures at some positions of the record, and runs and topics."""
    n_rows = record["runs"] * record["topics"]
    rows_a_batch = max(1, min(n_rows, _CELLS_A_BATCH // len(positions)))
    # What room scores take is known from the labels that were read, not from what a file says of itself.
    runs, topics = _read_labels(file, positions[0], record["topics"], rows_a_batch)
    if _digest_labels(runs, topics) != record["labels"] or len(runs) * len(topics) != n_rows:
        raise StoreError(f"{path}: the file is damaged: its labels are not those that were stored ({_REPAIR})")
    values = np.empty((len(runs), len(topics), len(positions)))
    cells = values.reshape(-1, len(positions))
    digests = [hashlib.sha256() for _ in positions]
    columns = [_iterate(file, position, ["score"], rows_a_batch) for position in positions]
    start = 0
    for batches in zip(*columns, strict=True):
        for column, (batch, digest) in enumerate(zip(batches, digests, strict=True)):
            scores = np.ascontiguousarray(batch.column(0).to_numpy(), dtype="<f8")
            digest.update(scores.data)
            cells[start : start + len(scores), column] = scores
        start += len(batches[0])
        tell("reading", start, len(cells))
    for position, digest in zip(positions, digests, strict=True):
        measure = record["measures"][position]
        if digest.hexdigest() != measure["sha256"]:
            raise StoreError(
                f"{path}: the file is damaged: the scores of {measure['name']} are not those that were stored ({_REPAIR})"
            )
    return values, runs, topics


def _read_labels(file: Any, group: int, n_topics: int, rows_a_batch: int) -> tuple[list[str], list[str]]:
    """Return the labels of runs, and of topics as the first run has them."""
    runs: dict[str, None] = {}
    topics: dict[str, None] = {}
    start = 0
    for batch in _iterate(file, group, ["run", "topic"], rows_a_batch):
        runs |= dict.fromkeys(batch.column("run").unique().to_pylist())
        if start < n_topics:
            topics |= dict.fromkeys(batch.column("topic").slice(0, n_topics - start).unique().to_pylist())
        start += len(batch)
    return list(runs), list(topics)


def _iterate(file: Any, group: int, columns: list[str], rows_a_batch: int) -> Iterator[Any]:
    batches: Iterator[Any] = file.iter_batches(rows_a_batch, row_groups=[group], columns=columns, use_threads=False)
    return batches


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    with open_regular(path) as (stream, _):
        yield stream


def _read_footer(stream: BinaryIO) -> bytes:
    """Return the footer of a Parquet file to its last byte; of other files, some bytes from the end."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - _TAIL))
    length = int.from_bytes(stream.read(4), "little") + _TAIL
    stream.seek(max(0, size - length))
    return stream.read(length)


def has_footer(path: str, digits: str) -> bool:
    """Say whether the SHA-256 of a Parquet file's footer begins with these digits."""
    with _open(path) as stream:
        return hashlib.sha256(_read_footer(stream)).hexdigest().startswith(digits)


def _check_record(record: dict[str, Any], collection: str, metadata: Any) -> None:
    """Refuse, by the errors that `open_file` knows, what no store has written, even under its right checksum."""
    if record["collection"] != collection:
        raise ValueError(f"it holds the scores of collection {record['collection']!r:.100}")
    kinds = {"runs": int, "topics": int, "labels": str, "provenance": str, "measures": list}
    if not all(isinstance(record[key], kind) for key, kind in kinds.items()):
        raise TypeError("its record is not that of a score store")
    clusters = record.get(CLUSTERS, [])
    if len(clusters) not in (0, record["topics"]) or not all(isinstance(each, str) for each in clusters):
        raise ValueError("its clusters are not those of its topics")
    for measure in record["measures"]:
        if not all(isinstance(measure[key], str) for key in ("name", "label", "description", "source", "sha256")):
            raise TypeError("its record is not that of a score store")
        low, high = measure["range"]
        limits = [limit for limit in (low, high) if limit is not None]
        if not all(isinstance(limit, int | float) for limit in limits):
            raise TypeError("the range of a measure is not one of numbers")
        if measure["higher_is_better"] not in (True, False, None):
            raise TypeError("the direction of a measure is none")
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    if not rows or rows != [record["runs"] * record["topics"]] * len(record["measures"]):
        raise ValueError("it does not have as many rows as it says")


def _labelled(positions: np.ndarray, labels: Iterable[str]) -> Any:
    import pyarrow

    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(positions.astype(np.int32)), pyarrow.array(list(labels)))


def _digest_labels(runs: Sequence[str], topics: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps([list(runs), list(topics)]).encode()).hexdigest()


def describe_measure(measure: Measure) -> dict[str, Any]:
    """Return what is stored of a measure: enough to use its scores where its formula is not at hand."""
    low, high = measure.range
    return {
        "name": str(measure),
        "higher_is_better": measure.higher_is_better,
        "range": [low if np.isfinite(low) else None, high if np.isfinite(high) else None],
        "label": measure.label,
        "description": measure.description,
        "source": measure.source,
    }


def restore_repeats(described: Iterable[dict[str, Any]]) -> dict[str, Repeats]:
    """Return the repeats of those of some measures that were described with them."""
    return {
        one["name"]: Repeats(int(one[REPEATS]["count"]), float(one[REPEATS]["variance"]))
        for one in described
        if REPEATS in one
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


def name_file(collection: str, footer: str) -> str:
    """Return the name of a collection's file: safe on every disk, and another one for other content."""
    safe = quote(collection, safe=" +,=@").replace(".", "%2E")
    if len(safe) > 150:
        safe = f"{safe[:100]}-{hashlib.sha256(collection.encode()).hexdigest()[:16]}"
    return f"{safe}.{footer[:16]}{SUFFIX}"
