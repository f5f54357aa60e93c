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
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError, format_option
from metaeval.files import Sources
from metaeval.io.classification import Labels, classification_runs
from metaeval.io.frames import name_origins
from metaeval.io.table import Table, open_table


def read(
    gold: Any,
    runs: Sources | Mapping[str, Any] | None = None,
    *,
    classes: Iterable[object],
    columns: Mapping[str, str] | None = None,
    collection: str | None = None,
    **options: Any,
) -> ClassificationRuns:
    """Read labels from files or frames with columns topic, item and label; options as `classification_runs` takes them.

    >>> judges = {"item": [1, 2], "gold": ["no", "yes"], "ann": ["no", "no"], "bo": ["yes", "yes"]}
    >>> read(judges, classes=["no", "yes"])
    ClassificationRuns: 2 runs × 1 topic, 2 classes
    """
    files, origin = name_origins(gold, runs, collection)
    names = unique_labels(classes, "class")
    if runs is None:
        table = open_table(gold, columns, names)
        predictions = _find(table, *PREDICTED) is not None and _find(table, *TRUE, "label") is not None
        truth, answers = _read_predictions(table, origin["collection"]) if predictions else _read_judges(table)
    else:
        truth = _read_labels(open_table(gold, columns, names), "gold")
        answers = {
            run: _read_labels(open_table(source, columns, names), "predicted", run) for run, source in files.items()
        }
    return classification_runs(truth, answers, names, **origin, **options)


ONE_TOPIC = "all"
"""The topic of all items if a table has no topics."""

TOPIC_NAMES = ("topic", "topics", "topic_id", "topicid", "query", "query_id", "queryid", "qid")
"""Columns that probably hold topics, in lower case: without them items of several topics would become one."""


def read_keys(table: Table, run: str | None = None) -> tuple[Sequence[str], Sequence[str]]:
    """Return topic and item of every row; without a column of topics all items belong to one."""
    items = table.column("item")
    for name in table.header:
        if "topic" not in table.header and name.lower() in TOPIC_NAMES:
            problem = f"there is no column 'topic', but {name!r}: is it that of the topics?"
            hint = f"say so: {format_option('columns')} topic={name}"
            raise DataError(problem, file=table.file, line=1, run=run, hint=hint)
    topics = table.column("topic") if "topic" in table.header else (ONE_TOPIC,) * len(items)
    for topic, item, line in zip(topics, items, table.lines, strict=True):
        if not topic.strip() or not item.strip():
            what = "item" if topic.strip() else "topic"
            raise DataError(f"the {what} is missing", file=table.file, line=line, run=run)
    return topics, items


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


def _take_column(table: Table, topics: Sequence[str], items: Sequence[str], *usual: str) -> Labels:
    """Return the labels in the column with one of these names."""
    labels = [label.strip() for label in table.column(*usual)]
    return Labels(table.file, topics, items, labels, table.lines)


TRUE, PREDICTED = ("gold", "y_true", "true_label", "truth", "target"), ("predicted", "y_pred", "prediction", "pred")
"""What columns of true and of predicted labels are called; beside a column of predictions, label is a true one."""

PARTS = ("topic", "fold")
"""What a column of topics, or of parts of the data that take their place, is called."""


def _find(table: Table, *names: str) -> str | None:
    """Return the column with one of these names."""
    return next((name for name in table.header if plain_name(name) in names), None)


def _read_predictions(table: Table, named: str) -> tuple[Labels, dict[str, Labels]]:
    """Return true labels, and by run the predicted ones, of a table that holds both; items without a name are numbered."""
    model, part = _find(table, *RUN_NAMES), _find(table, *PARTS)
    runs = table.column(model) if model else (named or "predictions",) * table.n_rows
    topics = table.column(part) if part else (ONE_TOPIC,) * table.n_rows
    item = _find(table, "item", "id", "item_id", "index", "example_id", "sample_id")
    counts: Counter[tuple[str, str]] = Counter()
    items = []
    for row, key in enumerate(zip(runs, topics, strict=True)):
        counts[key] += 1
        items.append(table.column(item)[row] if item else str(counts[key]))
    true = _take_column(table, topics, items, str(_find(table, *TRUE, "label")))
    predicted = _take_column(table, topics, items, str(_find(table, *PREDICTED)))
    gold: dict[tuple[str, str], int] = {}
    rows: dict[str, list[int]] = {}
    for row, (run, topic, name) in enumerate(zip(runs, topics, items, strict=True)):
        for what, text in (("run", run), ("topic", topic), ("item", name)):
            if not text.strip():
                raise DataError(f"the {what} is missing", file=table.file, line=table.lines[row])
        first = gold.setdefault((topic, name), row)
        if true.labels[row] != true.labels[first]:
            problem = f"its true label is {true.labels[row]!r}, but {true.labels[first]!r} on line {table.lines[first]}"
            raise DataError(problem, **true.locate(row, run))
        rows.setdefault(run, []).append(row)
    return true.take(list(gold.values())), {run: predicted.take(chosen) for run, chosen in rows.items()}


def _read_labels(table: Table, also: str, run: str | None = None) -> Labels:
    if "label" in table.header and also in table.header:
        raise DataError(
            f"it has a column 'label' and a column {also!r}: leave one of them out", file=table.file, line=1
        )
    return _take_column(table, *read_keys(table, run), "label", also)
