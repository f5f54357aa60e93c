"""Frames as files and as plain data: CSV, Parquet and JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from metaeval.errors import MetaevalError
from metaeval.files import PathLike, write_atomically


def format_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV without rounding; the index is left out unless it has a name."""
    named = any(name is not None for name in frame.index.names)
    return str(defuse_frame(flatten(frame)).to_csv(index=named, lineterminator="\n"))


def write_frame(path: PathLike, frame: pd.DataFrame) -> None:
    """Write a frame into a .csv or .parquet file, which is there whole or not at all."""
    path = check_rows_file(path)

    def write(stream: BinaryIO) -> None:
        if path.suffix == ".csv":
            defuse_frame(frame).to_csv(stream, index=False, lineterminator="\n", mode="wb")
        else:
            frame.to_parquet(stream, index=False, compression="zstd")

    try:
        write_atomically(path, write)
    except OSError as error:
        raise MetaevalError(f"{path}: it cannot be written: {error.strerror or error}") from None


def check_rows_file(path: PathLike) -> Path:
    """Return the path of a file for many rows, or refuse one whose name does not tell a format, or in no folder."""
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise MetaevalError(f"{path}: its name does not tell a format; write a .csv or .parquet file")
    if not target.absolute().parent.is_dir():
        raise MetaevalError(f"{path}: there is no folder {target.parent}")
    return target


def flatten(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose columns have one level, their labels in one text."""
    labels = (column if isinstance(column, tuple) else (column,) for column in frame.columns)
    return frame.set_axis([" ".join(filter(None, map(str, parts))) for parts in labels], axis=1)


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
        return value if math.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else value


def defuse_label(label: str) -> str:
    """Return a label, with an apostrophe before it if it begins like a formula and is no number.

    >>> defuse_label("=cmd()"), defuse_label("-0.5"), defuse_label("AP")
    ("'=cmd()", '-0.5', 'AP')
    """
    if not label.startswith(("=", "+", "-", "@", "\t", "\r")):
        return label
    try:
        float(label)
    except ValueError:
        return f"'{label}"
    return f"'{label}" if "_" in label else label


def defuse_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose columns have one level, with its texts and labels made harmless."""

    def defuse(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(defuse, value))
        return defuse_label(value) if isinstance(value, str) else value

    harmless = frame.set_axis(frame.index.map(defuse).set_names(frame.index.names)).set_axis(
        frame.columns.map(defuse), axis=1
    )
    for position, kind in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            harmless.isetitem(position, [defuse(value) for value in frame.iloc[:, position]])
    return harmless
