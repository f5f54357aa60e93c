"""Labels in CSV or TSV files with a header, or in frames: one row per item of a topic, columns topic, item and label.

The label may also be called gold, in the file of the gold, or predicted, in those of runs. Without files of runs every
other column of the gold holds the labels of a run (a judge, an annotator); or it holds predictions, a column y_true and a
column y_pred, perhaps of several runs (model) and parts of the data (fold). Without a column topic all items belong to one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metaeval.data.columns import RUN_NAMES, plain_name, refuse_index_columns
from metaeval.data.labels import unique_labels
from metaeval.errors import DataError, format_option
from metaeval.io.classification import LabelRuns, Labels
from metaeval.io.table import Table, open_table

ONE_TOPIC = "all"
"""The topic of all items if a table has no topics."""

TOPIC_NAMES = ("topic", "topics", "topic_id", "topicid", "query", "query_id", "queryid", "qid")
"""Columns that probably hold topics, in lower case: without them items of several topics would become one."""

TRUE = ("gold", "y_true", "true_label", "truth", "target")
PREDICTED = ("predicted", "y_pred", "prediction", "pred")
"""What columns of true and of predicted labels are called; beside a column of predictions, label is a true one."""


def read(
    gold: Any, runs: Mapping[str, Any], *, classes: Iterable[object], columns: Mapping[str, str] | None = None
) -> LabelRuns:
    """Read labels from files or frames with columns topic, item and label.

    >>> judges = {"item": [1, 2], "gold": ["no", "yes"], "ann": ["no", "no"], "bo": ["yes", "yes"]}
    >>> list(read(judges, {}, classes=["no", "yes"])[1])
    ['ann', 'bo']
    """
    names = unique_labels(classes, "class")
    table = open_table(gold, columns, names)
    if runs:
        tables = {run: open_table(source, columns, names) for run, source in runs.items()}
        answers = {run: _read_labels(source, "predicted", run) for run, source in tables.items()}
        return _read_labels(table, "gold"), answers, names
    if _find(table, *PREDICTED) and _find(table, *TRUE, "label"):
        truth, answers = _read_predictions(table)
    else:
        truth, answers = _read_judges(table)
    return truth, answers, names


def read_keys(table: Table, run: str | None = None) -> tuple[Sequence[str], Sequence[str]]:
    """Return topic and item of every row; without a column of topics all items belong to one."""
    items = table.column("item")
    for name in table.header:
        if "topic" not in table.header and name.lower() in TOPIC_NAMES:
            problem = f"there is no column 'topic', but {name!r}: is it that of the topics?"
            hint = f"say so: {format_option('columns')} topic={name}"
            raise DataError(problem, file=table.file, line=1, run=run, hint=hint)
    topics = table.column("topic") if "topic" in table.header else (ONE_TOPIC,) * len(items)
    _refuse_blank(table, run, {"topic": topics, "item": items})
    return topics, items


def _refuse_blank(table: Table, run: str | None, columns: Mapping[str, Sequence[str]]) -> None:
    for row, names in enumerate(zip(*columns.values(), strict=True)):
        for what, name in zip(columns, names, strict=True):
            if not name.strip():
                raise DataError(f"the {what} is missing", file=table.file, line=table.lines[row], run=run)


def _read_labels(table: Table, also: str, run: str | None = None) -> Labels:
    if "label" in table.header and also in table.header:
        problem = f"it has a column 'label' and a column {also!r}: leave one of them out"
        raise DataError(problem, file=table.file, line=1)
    return _take_column(table, *read_keys(table, run), "label", also)


def _take_column(table: Table, topics: Sequence[str], items: Sequence[str], *usual: str) -> Labels:
    """Return the labels in the column with one of these names."""
    labels = [label.strip() for label in table.column(*usual)]
    return Labels(table.file, topics, items, labels, table.lines)


def _find(table: Table, *names: str) -> str | None:
    """Return the column with one of these names."""
    return next((name for name in table.header if plain_name(name) in names), None)


def _read_judges(table: Table) -> tuple[Labels, dict[str, Labels]]:
    """Return the gold, and by name the labels of every other column."""
    names = [name for name in table.header if name not in ("topic", "item", "gold", "label")]
    if not names:
        hint = "name run files, or a table with columns item, gold and one for every judge"
        raise DataError("there is no column of a judge beside the gold", file=table.file, line=1, hint=hint)
    topics, items = read_keys(table)
    refuse_index_columns(names, table.file)
    gold = _take_column(table, topics, items, "gold", "label")
    return gold, {name: _take_column(table, topics, items, name) for name in names}


def _read_predictions(table: Table) -> tuple[Labels, dict[str, Labels]]:
    """Return true labels, and by run the predicted ones, of a table that holds both; items without a name are numbered.

    A run without a name, the only one, is called as the collection.
    """
    model, part = _find(table, *RUN_NAMES), _find(table, "topic", "fold")
    runs = table.column(model) if model else ("",) * table.n_rows
    topics = table.column(part) if part else (ONE_TOPIC,) * table.n_rows
    item = _find(table, "item", "id", "item_id", "index", "example_id", "sample_id")
    counts: Counter[tuple[str, str]] = Counter()
    items = []
    for row, key in enumerate(zip(runs, topics, strict=True)):
        counts[key] += 1
        items.append(table.column(item)[row] if item else str(counts[key]))
    _refuse_blank(table, None, {**({"run": runs} if model else {}), "topic": topics, "item": items})
    true = _take_column(table, topics, items, str(_find(table, *TRUE, "label")))
    predicted = _take_column(table, topics, items, str(_find(table, *PREDICTED)))
    gold: dict[tuple[str, str], int] = {}
    rows: dict[str, list[int]] = {}
    for row, (run, key) in enumerate(zip(runs, true.keys, strict=True)):
        first = gold.setdefault(key, row)
        if true.labels[row] != true.labels[first]:
            label, other = true.labels[row], true.labels[first]
            problem = f"its true label is {label!r}, but {other!r} on line {table.lines[first]}"
            raise DataError(problem, **true.locate(row, run or None))
        rows.setdefault(run, []).append(row)
    return true.take(list(gold.values())), {run: predicted.take(chosen) for run, chosen in rows.items()}
