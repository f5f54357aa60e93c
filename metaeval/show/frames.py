"""Frames as files and plain data: CSV, Parquet, workbooks and JSON; and how frames of measures are arranged."""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaeval.errors import MetaevalError, visible
from metaeval.files import PathLike, write_atomically
from metaeval.show.formulas import defuse_frame
from metaeval.show.text import NOTHING

MANY = 8
"""Measures from which on a matrix of them is too wide for a screen, and `sum_up_matrix` is shown."""


def write_workbook(path: Path, sheets: Mapping[str, pd.DataFrame], notes: Mapping[str, str]) -> None:
    """Write frames as the sheets of a workbook (.xlsx), after one that says what they are; no name is a formula."""
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise MetaevalError(f"workbooks need openpyxl ({error}): pip install 'metaeval[xlsx]'") from None
    stream = io.BytesIO()
    about = pd.DataFrame([(name, text) for name, text in notes.items()])
    with pd.ExcelWriter(stream, engine="openpyxl") as writer:
        about.to_excel(writer, sheet_name="about", index=False, header=False)
        for name, frame in sheets.items():
            frame = flatten(frame.reset_index() if any(one is not None for one in frame.index.names) else frame)
            texts = frame.map(lambda value: visible(value) if isinstance(value, str) else value)
            texts.to_excel(
                writer, sheet_name=re.sub(r"[\[\]:*?/\\']", "-", name)[:31], index=False, freeze_panes=(1, 0)
            )
        for cell in (cell for sheet in writer.book for row in sheet.iter_rows() for cell in row):
            cell.data_type = (
                "s" if cell.data_type == "f" else cell.data_type
            )  # a text that looks like a formula is a text
    write_atomically(path, stream.getvalue())


def format_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV without rounding; the index is left out unless it has a name."""
    named = any(name is not None for name in frame.index.names)
    return str(defuse_frame(flatten(frame)).to_csv(index=named, lineterminator="\n"))


def write_frames(path: PathLike, frames: Iterable[pd.DataFrame]) -> Path:
    """Write frames, one below the other, into one .csv or .parquet file, which is there whole or not at all."""
    path = check_rows_file(path)

    def write_csv(stream: BinaryIO) -> None:
        for number, frame in enumerate(frames):
            defuse_frame(frame).to_csv(stream, index=False, header=number == 0, lineterminator="\n", mode="wb")

    def write_parquet(stream: BinaryIO) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        parts = (pa.Table.from_pandas(frame, preserve_index=False) for frame in frames)
        first = next(parts)
        with pq.ParquetWriter(stream, first.schema, compression="zstd") as writer:
            for part in itertools.chain([first], parts):
                writer.write_table(part)

    try:
        write_atomically(path, write_csv if path.suffix == ".csv" else write_parquet)
    except OSError as error:
        raise MetaevalError(f"{path}: it cannot be written: {error.strerror or error}") from None
    return path


def check_rows_file(path: PathLike) -> Path:
    """Return the path of a file for many rows, or refuse one whose name does not tell a format, or in no folder."""
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise MetaevalError(f"{path}: its name does not tell a format; write a .csv or .parquet file")
    if not target.absolute().parent.is_dir():
        raise MetaevalError(f"{path}: there is no folder {target.parent}")
    return target


def flatten(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose columns have one level."""
    return frame.set_axis([flat_label(column) for column in frame.columns], axis=1)


def flat_label(column: object) -> str:
    """Return the label of a column as one text, also if it has several levels."""
    return " ".join(filter(None, map(str, column))) if isinstance(column, tuple) else str(column)


def to_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain data for JSON, with its index unless that has no name."""
    if frame.index.name or frame.index.nlevels > 1:
        frame = frame.reset_index()
    columns = [list(map(to_plain, frame.iloc[:, c].tolist())) for c in range(frame.shape[1])]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def to_plain(value: Any) -> Any:
    """Return a number or text as JSON can hold it: nothing where it is no finite number."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None  # JSON has no word for what is not a number
    return None if value is pd.NA or value is pd.NaT else value


def take_upper_triangle(square: pd.DataFrame) -> pd.DataFrame:
    """Keep the cells above the diagonal, without the empty first column and last row, as the papers print them."""
    shown = square.where(np.triu(np.ones(square.shape, dtype=bool), 1))
    return shown.iloc[:-1, 1:]


def cross(names: Mapping[str, Sequence[Hashable]], **columns: npt.ArrayLike) -> pd.DataFrame:
    """Return one row for every two names, the second changing first, with numbers that broadcast to both of their axes.

    >>> print(*cross({"run": ["a", "b"], "measure": ["AP", "P"]}, score=[[1, 2], [3, 4]]).loc[1])
    a P 2
    """
    index = pd.MultiIndex.from_product(list(names.values()), names=list(names))
    shape = [len(some) for some in names.values()]
    numbers = {name: np.broadcast_to(column, shape).ravel() for name, column in columns.items()}
    return pd.DataFrame(numbers, index=index).reset_index()


def sum_up_matrix(names: Sequence[str], square: np.ndarray, number: str, *, total: bool = False) -> pd.DataFrame:
    """Return one row a measure: the mean, or total, of its row of a matrix, and which other measure has the largest number.

    >>> square = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.2], [0.5, 0.2, 1.0]])
    >>> print(*sum_up_matrix(["A", "B", "C"], square, "τ").loc["A"])
    0.7 B 0.9
    """
    others = np.where(np.eye(len(names), dtype=bool), np.nan, square.astype(float))
    rows = []
    for row in others:
        known = np.isfinite(row).any()
        largest = int(np.nanargmax(row)) if known else 0
        middle = (np.nansum(row) if total else np.nanmean(row)) if known else np.nan
        rows.append((middle, names[largest] if known and row[largest] else NOTHING, row[largest]))
    columns = [f"{'all' if total else 'mean'} {number}", "most with" if total else "most like", number]
    frame = pd.DataFrame(rows, index=pd.Index(names, name="measure"), columns=columns)
    return frame.astype({columns[0]: int, columns[2]: int}) if total else frame


def arrange_pairs(names: Sequence[str], cells: Sequence[str | int], empty: str) -> pd.DataFrame:
    """Arrange one cell per pair of measures, in the order of `numpy.triu_indices`, as an upper triangle."""
    frame = pd.DataFrame(empty, index=pd.Index(names[:-1], name="measure"), columns=pd.Index(names[1:]), dtype=object)
    for (i, j), cell in zip(itertools.combinations(range(len(names)), 2), cells, strict=True):
        frame.iat[i, j - 1] = cell
    return frame
