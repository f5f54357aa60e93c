"""Labels in CSV or TSV files with a header: one row per item of a topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError
from metaeval.files import PathLike, Sources, describe_files, find_named_files, stem
from metaeval.io.classification import Labels, classification_runs
from metaeval.io.table import Table, read_table


def read(
    gold: PathLike,
    runs: Sources | None = None,
    *,
    classes: Iterable[object],
    columns: Mapping[str, str] | None = None,
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    collection: str | None = None,
) -> ClassificationRuns:
    r"""Read labels from files with columns topic, item and label.

    Parameters
    ----------
    gold : path
        The last column may also be called ``gold``; other columns are ignored, unless there are no `runs`: then every
        other column holds the labels of a run (a judge, an annotator), which is named after it, and topic may be left
        out if all items belong to one topic.
    runs : path, list of paths, mapping of run name to path, or folder
        The last column may also be called ``predicted``. Items are matched by topic and item, in any order.
    classes : iterable of str
        All classes in order.
    columns : mapping of str to str, optional
        What the files call some of the columns: ``{"topic": "document", "item": "sentence"}``.
    missing, invalid : str, optional
        What to do if an item has no label, and if a label is outside the classes.
    collection : str, optional
        By default, the name of the gold file without suffix.

    Returns
    -------
    ClassificationRuns

    Raises
    ------
    DataError
        If a column is missing, an item occurs twice, is not in the gold or has no label, or a label is not one of
        the classes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "gold.csv").write_text("topic,item,label\nt1,1,no\nt1,2,yes\n")
    >>> _ = (folder / "team.csv").write_text("topic,item,label\nt1,2,yes\nt1,1,yes\n")
    >>> read(folder / "gold.csv", folder, classes=["no", "yes"])
    ClassificationRuns: 1 run × 1 topic, 2 classes, gold
    """
    files = {} if runs is None else find_named_files(runs, gold=gold)
    if runs is None:
        truth, answers = _read_judges(read_table(gold, columns), gold)
    else:
        truth = _read_labels(gold, "gold", columns)
        answers = {run: _read_labels(path, "predicted", columns, run) for run, path in files.items()}
    return classification_runs(
        truth,
        answers,
        classes,
        missing=missing,
        invalid=invalid,
        collection=stem(gold) if collection is None else collection,
        provenance=describe_files([gold, *files.values()]),
    )


ONE_TOPIC = "all"
"""The topic of all items if a table has no topics."""


def _read_judges(table: Table, path: PathLike) -> tuple[Labels, dict[str, Labels]]:
    """Return the gold, and by name the labels of every other column; an empty cell is no label."""
    names = [name for name in table.header if name not in ("topic", "item", "gold", "label")]
    if not names:
        hint = "name run files, or a table with columns item, gold and one for every judge"
        raise DataError("there is no column of a judge beside the gold", file=path, line=1, hint=hint)
    items = table.column("item")
    topics = table.column("topic") if "topic" in table.header else (ONE_TOPIC,) * len(items)
    _check_keys(topics, items, table.lines, path, None)
    truth = [label.strip() for label in table.column("gold", "label")]
    answers = {}
    for name in names:
        given = [(row, label.strip()) for row, label in enumerate(table.column(name)) if label.strip()]
        rows = [row for row, _ in given]
        answers[name] = Labels(
            str(path),
            [topics[row] for row in rows],
            [items[row] for row in rows],
            [label for _, label in given],
            [table.lines[row] for row in rows],
        )
    return Labels(str(path), topics, items, truth, table.lines), answers


def _check_keys(
    topics: Sequence[str], items: Sequence[str], lines: Sequence[int], path: PathLike, run: str | None
) -> None:
    for topic, item, line in zip(topics, items, lines, strict=True):
        if not topic.strip() or not item.strip():
            raise DataError(f"the {'item' if topic.strip() else 'topic'} is missing", file=path, line=line, run=run)


def _read_labels(path: PathLike, also: str, columns: Mapping[str, str] | None, run: str | None = None) -> Labels:
    table = read_table(path, columns)
    topics, items = table.column("topic"), table.column("item")
    if "label" in table.header and also in table.header:
        raise DataError(f"it has a column 'label' and a column {also!r}: leave one of them out", file=path, line=1)
    labels = [label.strip() for label in table.column("label", also)]
    _check_keys(topics, items, table.lines, path, run)
    return Labels(str(path), topics, items, labels, table.lines)
