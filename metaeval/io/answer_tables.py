"""Labels and distributions in CSV or TSV files with a header, or in frames.

The label may also be called gold, in the file of the gold, or predicted, in those of runs. Without files of runs every
other column of the gold holds the labels of a run (a judge, an annotator).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metaeval.data.columns import RUN_NAMES, TOPIC_NAMES, format_columns, names_topics, names_trait, plain_name
from metaeval.data.labels import unique_labels
from metaeval.data.rows import is_total
from metaeval.errors import DataError, format_list, format_option
from metaeval.io.answers import LabelRuns, Labels, ShareRuns, Shares, shares_from_text
from metaeval.io.table import Table, open_table

ONE_TOPIC = "all"
"""The topic of all items if a table has no topics."""

Columns = Mapping[str, str] | None


def labels(gold: Any, runs: Mapping[str, Any], *, classes: Iterable[object], columns: Columns = None) -> LabelRuns:
    """Read labels from files or frames with columns topic, item and label."""
    names = unique_labels(classes, "class")
    table = open_table(gold, columns, names)
    if runs:
        tables = {run: open_table(source, columns, names) for run, source in runs.items()}
        answers = {run: _read_labels(source, "predicted", run) for run, source in tables.items()}
        return _read_labels(table, "gold"), answers, names
    judges = [name for name in table.header if name not in ("topic", "item", "gold", "label")]
    for name in judges:
        if plain_name(name) in RUN_NAMES or names_trait(name):
            problem = f"the column {name!r} is not called as a judge, whose labels it would hold"
            hint = "give every run a column of its own, as pivot of pandas does, and leave out what is no label"
            raise DataError(problem, file=table.file, line=1, hint=hint)
    if not judges:
        hint = "name run files, or a table with columns item, gold and one for every judge"
        raise DataError("there is no column of a judge beside the gold", file=table.file, line=1, hint=hint)
    keys = _read_keys(table)
    refuse_index_columns(judges, table.file)
    return _take(table, keys, "gold", "label"), {name: _take(table, keys, name) for name in judges}, names


Keys = tuple[Sequence[str], Sequence[str]]
"""Topic and item of every row."""


def _read_keys(table: Table, run: str | None = None) -> Keys:
    """Return topic and item of every row; without a column of topics all items belong to one."""
    items = table.column("item")
    for name in table.header:
        # Without a column of topics items of several would become one.
        if "topic" not in table.header and plain_name(name) in TOPIC_NAMES and plain_name(name) != "item":
            problem = f"there is no column 'topic', but {name!r}: is it that of the topics?"
            hint = f"say so: {format_option('columns')} topic={name}"
            raise DataError(problem, file=table.file, line=1, run=run, hint=hint)
    topics = table.column("topic") if "topic" in table.header else (ONE_TOPIC,) * len(items)
    refuse_blank(table, {"topic": topics, "item": items}, run)
    return topics, items


def refuse_blank(table: Table, columns: Mapping[str, Sequence[str]], run: str | None = None) -> None:
    """Refuse a row without the name of a topic, an item or an annotator."""
    for what, names in columns.items():
        for row in [row for row, name in enumerate(names) if not name.strip()][:1]:
            raise DataError(f"the {what} is missing", file=table.file, line=table.lines[row], run=run)


def _read_labels(table: Table, also: str, run: str | None = None) -> Labels:
    if "label" in table.header and also in table.header:
        problem = f"it has a column 'label' and a column {also!r}: leave one of them out"
        raise DataError(problem, file=table.file, line=1)
    return _take(table, _read_keys(table, run), "label", also)


def _take(table: Table, keys: Keys, *usual: str) -> Labels:
    return Labels(table.file, *keys, [label.strip() for label in table.column(*usual)], table.lines)


def probabilities(
    gold: Any, runs: Mapping[str, Any], *, classes: Iterable[object] | None = None, columns: Columns = None
) -> ShareRuns:
    """Read distributions from files or frames with a column ``topic`` and one column per class."""
    true = open_table(gold, columns)
    names = unique_labels([name for name in true.header if name != "topic"] if classes is None else classes, "class")
    if len(names) < 2:
        raise DataError(f"classes that have a column: {len(names)}; at least two are needed", file=true.file, line=1)
    estimates = {run: _read_shares(open_table(source, columns), names, run) for run, source in runs.items()}
    return _read_shares(true, names), estimates, names


def _read_shares(table: Table, classes: tuple[str, ...], run: str | None = None) -> Shares:
    """Return the distributions in a table of topic and one column per class."""
    topics = table.column("topic")
    given = [name for name in table.header if name != "topic"]
    if {*given} != {*classes}:
        problem = f"its columns are {format_list(given, most=12)}, the classes {format_list(classes, most=12)}"
        raise DataError(problem, file=table.file, line=1, run=run)
    columns = [table.column(name) for name in classes]
    return shares_from_text(columns, classes, file=table.file, topics=topics, lines=table.lines, run=run)


def refuse_index_columns(people: Sequence[str], file: object) -> None:
    """Refuse columns of annotators or judges whose name is that of an index, of topics or of what describes them."""
    for name in [name for name in people if names_topics(name) or names_trait(name) or is_total(name)]:
        hint = f"leave it out, or say what it is: {format_columns({'topic': name})} or {format_columns({'item': name})}"
        problem = f"the column {name!r} is called as an index, topics or what describes them, not as a person or judge"
        raise DataError(problem, file=file, hint=hint)
