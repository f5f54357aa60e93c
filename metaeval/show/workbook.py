"""Tables as a workbook (.xlsx), in which no name from data is a formula."""

from __future__ import annotations

import datetime
import io
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from metaeval.errors import MetaevalError, visible
from metaeval.files import write_atomically
from metaeval.show.table import flat_label

MOST_ROWS = 1_048_575
"""Rows of a sheet below its head."""

_LONGEST_TEXT = 32_767  # characters of a cell


def write_workbook(path: Path, sheets: Mapping[str, pd.DataFrame], notes: Mapping[str, str]) -> None:
    """Write frames as the sheets of a workbook, after one that says what they are."""
    try:
        import openpyxl
    except ImportError as error:
        raise MetaevalError(f"workbooks need openpyxl ({error}): pip install 'metaeval[xlsx]'") from None
    book = openpyxl.Workbook()
    # The same result gives the same properties; the packing of the file still has its time.
    book.properties.created = book.properties.modified = datetime.datetime(2000, 1, 1)
    book.properties.creator = "metaeval"
    first = book.active
    first.title = "about"
    for name, text in notes.items():
        _append(first, [name, text])
    taken = {"about"}
    for name, frame in sheets.items():
        if len(frame) > MOST_ROWS:
            raise MetaevalError(f"{name}: {len(frame):,} rows are more than a sheet holds ({MOST_ROWS:,}); write CSV")
        sheet = book.create_sheet(_name_sheet(name, taken))
        if any(name is not None for name in frame.index.names):
            frame = frame.reset_index()
        _append(sheet, [flat_label(column) for column in frame.columns])
        for row in frame.itertuples(index=False, name=None):
            _append(sheet, row)
        sheet.freeze_panes = "A2"
    stream = io.BytesIO()
    book.save(stream)
    write_atomically(path, stream.getvalue())


def _append(sheet: Any, values: Any) -> None:
    row = sheet.max_row + 1 if sheet.max_row > 1 or sheet.cell(1, 1).value is not None else 1
    for column, value in enumerate(values, start=1):
        plain = _to_plain(value)
        if plain is None:
            continue
        cell = sheet.cell(row, column)
        cell.value = plain
        if isinstance(plain, str):
            # A text that looks like a formula stays a text, here and where it is copied to.
            cell.data_type = "s"
            if plain[:1] in ("=", "+", "-", "@"):
                cell.quotePrefix = True


def _to_plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, bool | int | float):
        return value
    return visible(str(value))[:_LONGEST_TEXT]


def _name_sheet(name: str, taken: set[str]) -> str:
    """Return a name that a sheet may have and no other one has."""
    stem = re.sub(r"[\[\]:*?/\\']", "-", visible(name))[:27] or "sheet"
    sheet, number = stem, 1
    while sheet.lower() in taken:
        number += 1
        sheet = f"{stem} {number}"
    taken.add(sheet.lower())
    return sheet
