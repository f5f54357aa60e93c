"""Parquet files as tables: a column is decoded when it is asked for, within bounds, and nothing in them is run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from metaeval.data.cells import LONGEST_LABEL
from metaeval.errors import DataError
from metaeval.files import PathLike, check_size, read_bytes
from metaeval.io.table import Table, check_header

MAGIC = b"PAR1"

_BYTES_A_ROW = 100
"""What a row takes in memory, about, while it is read."""

_MANY_ROWS = 1_000_000


def read_parquet(path: PathLike) -> Table:
    """Read the names of the columns; metadata of pandas and extension types, which could run code, are ignored."""
    columns = _guard(lambda: _Columns(read_bytes(path), path), path)
    names = [name for name in columns.names if not (name.startswith("__index_level_") and name.endswith("__"))]
    columns.names = names
    if not columns.n_rows:
        raise DataError("there are no scores in it", file=path)
    return Table(str(path), check_header(names, path), columns, (), columns.n_rows)


class _Columns(Sequence[Any]):
    """The columns of a file: labels as texts, None where one is missing, and numbers as they are."""

    def __init__(self, content: bytes, path: PathLike) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pq.read_schema(pa.BufferReader(content))
        texts = [field.name for field in schema if str(field.type) in ("string", "large_string")]
        # Labels stay in dictionaries, so that a few bytes cannot become millions of texts.
        self.file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True, read_dictionary=texts)
        self.names, self.path, self.n_rows = list(schema.names), path, self.file.metadata.num_rows
        self.kinds = {field.name: field.type for field in schema}
        self.decoded: dict[str, Any] = {}
        check_size(_BYTES_A_ROW * self.n_rows, path, "the rows in it would take")

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, position: Any) -> Any:
        name = self.names[position]
        if name not in self.decoded:
            self.decoded[name] = _guard(lambda: self._decode(name), self.path)
        return self.decoded[name]

    def keep(self, positions: Sequence[int]) -> _Columns:
        """Return some of the columns; the others are not decoded."""
        kept = copy(self)
        kept.names = [self.names[position] for position in positions]
        return kept

    def _decode(self, name: str) -> Any:
        import pyarrow as pa

        kind = self.kinds[name]
        if pa.types.is_nested(kind):
            return np.full(self.n_rows, None, dtype=object)  # no label, and no score
        column = self.file.read(columns=[name], use_threads=False).column(name)
        if len(column) != self.n_rows:
            raise ValueError(f"{self.n_rows:,} rows are announced, a column has {len(column):,}")
        if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and not column.null_count):
            return column.cast(pa.float64(), safe=False).to_numpy() if pa.types.is_floating(kind) else column.to_numpy()
        return _label_column(column, self.path)


def _guard(read: Any, path: PathLike) -> Any:
    import pyarrow as pa

    try:
        return read()
    except DataError:
        raise
    except MemoryError:
        raise DataError("there is not enough memory to read it", file=path) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        first = str(error).strip().partition("\n")[0]
        raise DataError(f"it is not a complete Parquet file: {first}", file=path) from None


def refuse_nested(table: Table, scores: Sequence[int]) -> None:
    """Refuse scores that are lists or records: each of them would be taken for a missing score."""
    columns = table.columns
    if not isinstance(columns, _Columns):
        return
    import pyarrow as pa

    for name in (columns.names[position] for position in scores):
        if pa.types.is_nested(columns.kinds[name]):
            raise DataError(f"column {name} holds lists or records, not one score a row", file=table.file)


def refuse_repeated_rows(table: Table, labels: Sequence[int]) -> None:
    """Refuse more rows than there are cells: a few bytes can stand for millions of equal rows, none of which is stored."""
    columns = table.columns
    if table.n_rows <= _MANY_ROWS or not isinstance(columns, _Columns):
        return
    names = [columns.names[position] for position in labels]
    seen: dict[str, set[object]] = {name: set() for name in names}
    for batch in columns.file.iter_batches(_MANY_ROWS // 10, columns=names, use_threads=False):
        for name in names:
            seen[name].update(batch.column(name).unique().to_pylist())
        if math.prod(map(len, seen.values())) >= table.n_rows:
            return
    n_cells = math.prod(map(len, seen.values()))
    raise DataError(
        f"it holds {table.n_rows:,} rows for {n_cells:,} cells of runs, topics and measures: there are second scores",
        file=table.file,
    )


def _label_column(column: Any, path: PathLike) -> np.ndarray:
    """Return labels as an array of text, None where one is missing; equal ones share one text."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    texts = whole.dictionary.cast(pa.string()).to_pylist()
    longest = max((len(text) for text in texts if text is not None), default=0)
    if longest > LONGEST_LABEL:
        raise DataError(f"there is a label of {longest:,} letters; up to {LONGEST_LABEL:,} can be read", file=path)
    labels = np.array([*texts, None], dtype=object)
    codes = whole.indices.fill_null(len(labels) - 1).to_numpy()
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(labels):
        raise ValueError("there is a label beyond its dictionary")
    return labels[codes]
