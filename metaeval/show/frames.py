"""Frames as text and as plain data: CSV and JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd


def format_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV without rounding; the index is left out unless it has a name."""
    named = any(name is not None for name in frame.index.names)
    return str(defuse_frame(flatten(frame)).to_csv(index=named, lineterminator="\n"))


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
