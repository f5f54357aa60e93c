"""Class distributions in CSV or TSV files with a header: one row per topic, one column per class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from metaeval.data.labels import unique_labels
from metaeval.errors import DataError, format_list
from metaeval.io.quantification import ShareRuns, Shares, shares_from_text
from metaeval.io.table import Table, open_table


def read(
    gold: Any,
    runs: Mapping[str, Any],
    *,
    classes: Iterable[object] | None = None,
    columns: Mapping[str, str] | None = None,
) -> ShareRuns:
    """Read distributions from files or frames with a column ``topic`` and one column per class."""
    true = open_table(gold, columns)
    names = [name for name in true.header if name != "topic"] if classes is None else classes
    stated = unique_labels(names, "class")
    if len(stated) < 2:
        raise DataError(f"there are columns of {len(stated)} classes, at least two are needed", file=true.file, line=1)
    estimates = {run: read_shares(open_table(source, columns), stated, run) for run, source in runs.items()}
    return read_shares(true, stated), estimates, stated


def read_shares(table: Table, classes: tuple[str, ...], run: str | None = None) -> Shares:
    """Return the distributions in a table of topic and one column per class."""
    topics = table.column("topic")
    for name in classes:
        if name not in table.header:
            raise DataError(f"there is no column of class {name!r}", file=table.file, line=1, run=run)
    for name in table.header:
        if name != "topic" and name not in classes:
            problem = f"the column {name!r} is none of the classes {format_list(classes, most=12)}"
            raise DataError(problem, file=table.file, line=1, run=run)
    columns = [table.column(name) for name in classes]
    return shares_from_text(columns, classes, file=table.file, topics=topics, lines=table.lines, run=run)
