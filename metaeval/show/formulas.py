"""Names that a spreadsheet would run as a formula: an apostrophe before them, where that was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pandas as pd

_DEFUSED: ContextVar[bool] = ContextVar("defused_formulas", default=False)


@contextmanager
def defused_formulas() -> Iterator[None]:
    """Let names in the CSV that is written meanwhile begin with an apostrophe where they look like a formula."""
    token = _DEFUSED.set(True)
    try:
        yield
    finally:
        _DEFUSED.reset(token)


def defuse_label(label: str) -> str:
    """Return a label, with an apostrophe before it if it begins like a formula and is no number.

    >>> defuse_label("=cmd()"), defuse_label("-0.5"), defuse_label("AP")
    ("'=cmd()", '-0.5', 'AP')
    """
    return f"'{label}" if label.startswith(("=", "+", "-", "@", "\t", "\r")) and not _is_number(label) else label


def defuse_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose columns have plain labels, with its texts and labels defused where that was asked for."""
    if not _DEFUSED.get():
        return frame
    defused = frame.copy()
    for position, column in enumerate(frame.columns):
        if not pd.api.types.is_numeric_dtype(frame[column]):
            defused.isetitem(position, [_defuse(value) for value in frame.iloc[:, position]])
    defused.columns = frame.columns.map(_defuse)
    defused.index = frame.index.map(_defuse)
    defused.index.names = frame.index.names
    return defused


def _defuse(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_defuse, value))
    return defuse_label(value) if isinstance(value, str) else value


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return "_" not in label
