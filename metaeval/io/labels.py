"""Labels in CSV or TSV files with a header: one row per item of a topic."""

from __future__ import annotations

from collections.abc import Iterable

from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError
from metaeval.files import PathLike, Sources, describe_files, find_named_files, stem
from metaeval.io.classification import Labels, classification_runs
from metaeval.io.table import read_table


def read(
    gold: PathLike,
    runs: Sources,
    *,
    classes: Iterable[object],
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    collection: str | None = None,
) -> ClassificationRuns:
    r"""Read labels from files with columns topic, item and label.

    Parameters
    ----------
    gold : path
        The last column may also be called ``gold``; other columns are ignored.
    runs : path, list of paths, mapping of run name to path, or folder
        The last column may also be called ``predicted``. Items are matched by topic and item, in any order.
    classes : iterable of str
        All classes in order.
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
    files = find_named_files(runs, gold=gold)
    return classification_runs(
        _read_labels(gold, "gold"),
        {run: _read_labels(path, "predicted", run) for run, path in files.items()},
        classes,
        missing=missing,
        invalid=invalid,
        collection=stem(gold) if collection is None else collection,
        provenance=describe_files([gold, *files.values()]),
    )


def _read_labels(path: PathLike, also: str, run: str | None = None) -> Labels:
    table = read_table(path)
    topics, items = table.column("topic"), table.column("item")
    if "label" in table.header and also in table.header:
        raise DataError(f"it has a column 'label' and a column {also!r}: leave one of them out", file=path, line=1)
    labels = [label.strip() for label in table.column("label", also)]
    for topic, item, line in zip(topics, items, table.lines, strict=True):
        if not topic.strip() or not item.strip():
            raise DataError(f"the {'item' if topic.strip() else 'topic'} is missing", file=path, line=line, run=run)
    return Labels(str(path), topics, items, labels, table.lines)
