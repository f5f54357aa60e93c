"""Class distributions in CSV or TSV files with a header: one row per topic, one column per class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from metaeval.data.labels import unique_labels
from metaeval.data.policies import MissingPolicy
from metaeval.data.runs import QuantificationRuns
from metaeval.errors import DataError, format_list
from metaeval.files import Sources
from metaeval.io.frames import describe_sources, name_collection, name_sources, open_table
from metaeval.io.quantification import Shares, quantification_runs, shares_from_text
from metaeval.io.table import Table


def read(
    gold: Any,
    runs: Sources | Mapping[str, Any],
    *,
    classes: Iterable[object] | None = None,
    columns: Mapping[str, str] | None = None,
    rescale: bool = False,
    missing: MissingPolicy = "raise",
    collection: str | None = None,
) -> QuantificationRuns:
    r"""Read distributions from files or frames with a column ``topic`` and one column per class.

    Parameters
    ----------
    gold : path or frame
    runs : path, list of paths, mapping of run name to path or frame, or folder
        All files have the same classes; columns and rows can be in any order.
    classes : iterable of str, optional
        All classes in order; by default the columns of the gold file, in its order.
    columns : mapping of str to str, optional
        What the files call some of the columns: ``{"topic": "dialogue"}``.
    rescale : bool, optional
        Divide every distribution by its sum. Without it, a sum further than 1e-6 from 1 is an error.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no distribution for a topic.
    collection : str, optional
        By default, the name of the gold file without suffix.

    Returns
    -------
    QuantificationRuns

    Raises
    ------
    DataError
        If the columns are not the topic and the classes, a distribution does not sum to 1, or a topic occurs twice,
        is not in the gold or is missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "gold.csv").write_text("topic,low,high\nt1,0.5,0.5\n")
    >>> _ = (folder / "team.csv").write_text("topic,high,low\nt1,0.75,0.25\n")
    >>> read(folder / "gold.csv", folder).estimated.tolist()
    [[[0.25, 0.75]]]
    """
    files = name_sources(runs, gold)
    true = open_table(gold, columns)
    names = [name for name in true.header if name != "topic"] if classes is None else classes
    stated = unique_labels(names, "class")
    if len(stated) < 2:
        raise DataError(f"there are columns of {len(stated)} classes, at least two are needed", file=true.file, line=1)
    return quantification_runs(
        read_shares(true, stated),
        {run: read_shares(open_table(one, columns), stated, run) for run, one in files.items()},
        stated,
        rescale=rescale,
        missing=missing,
        collection=name_collection(gold, collection),
        provenance=describe_sources(gold, files),
    )


def read_shares(table: Table, classes: tuple[str, ...], run: str | None = None) -> Shares:
    """Return the distributions in a table of topic and one column per class.

    Parameters
    ----------
    table : Table
    classes : tuple of str
    run : str, optional
        Whose they are, for messages.

    Returns
    -------
    Shares

    Raises
    ------
    DataError
        If the columns are not the topic and the classes, or a cell is no number.
    """
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
