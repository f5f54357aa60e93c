r"""EvALL's ordinal classification: lines ``test case<TAB>item<TAB>value`` without a header, possibly in quotation marks."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable

from metaeval.data.cells import number
from metaeval.data.policies import InvalidPolicy, MissingPolicy, report_policy
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError
from metaeval.files import PathLike, Sources, describe_files, find_named_files, read_text, stem
from metaeval.io.classification import Labels, classification_runs


def read(
    gold: PathLike,
    runs: Sources,
    *,
    classes: Iterable[object],
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    collection: str | None = None,
) -> ClassificationRuns:
    r"""Read runs in EvALL's layout; what a run must not have is skipped, as EvALL does, with a `PolicyWarning`.

    Parameters
    ----------
    gold : path
    runs : path, list of paths, mapping of run name to path, or folder
    classes : iterable of str
        All classes in order.
    missing, invalid : str, optional
        What to do if an item has no answer, and if an answer is outside the classes.
    collection : str, optional
        By default, the name of the gold file without suffix.

    Returns
    -------
    ClassificationRuns
        Test cases are the topics.

    Raises
    ------
    DataError
        If a line of the gold does not have this form, or as the policies say.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "gold.tsv").write_text('"e1"\t"7"\t"1"\n"e1"\t"8"\t"0"\n')
    >>> _ = (folder / "run.tsv").write_text("e1\t7\t1\ne1\t8\t1\n")
    >>> read(folder / "gold.tsv", folder / "run.tsv", classes=["0", "1"])
    ClassificationRuns: 1 run × 1 topic, 2 classes, gold
    """
    files = find_named_files(runs, gold=gold)
    truth = read_gold(gold)
    return classification_runs(
        truth,
        {run: read_run(path, truth) for run, path in files.items()},
        classes,
        missing=missing,
        invalid=invalid,
        collection=stem(gold) if collection is None else collection,
        provenance=describe_files([gold, *files.values()]),
    )


def read_gold(path: PathLike) -> Labels:
    """Return the labels of a gold file.

    Parameters
    ----------
    path : path

    Returns
    -------
    Labels

    Raises
    ------
    DataError
        If a line is not test case, item and number.
    """
    kept, skipped = _read_lines(path)
    for line, problem in skipped:
        raise DataError(f"the gold has a line with {problem}", file=path, line=line)
    if not kept.items:
        raise DataError("the file is empty", file=path)
    return kept


def read_run(path: PathLike, gold: Labels) -> Labels:
    """Return the answers of a run to items of the gold, without the lines that a run must not have.

    Parameters
    ----------
    path : path
    gold : Labels

    Returns
    -------
    Labels

    Warns
    -----
    PolicyWarning
        How many lines were skipped, and why.
    """
    kept, skipped = _read_lines(path)
    wanted = set(zip(gold.topics, gold.items, strict=True))
    inside = [row for row, key in enumerate(zip(kept.topics, kept.items, strict=True)) if key in wanted]
    counts = Counter(problem for _, problem in skipped)
    counts["an item that is not in the gold"] = len(kept.items) - len(inside)
    said = ", ".join(f"{n:,} with {problem}" for problem, n in counts.items() if n)
    if said:
        report_policy(f"skipped lines: {said}", path)
    topics, items, labels = ([column[row] for row in inside] for column in (kept.topics, kept.items, kept.labels))
    return Labels(str(path), topics, items, labels, [kept.lines[row] for row in inside])


def _read_lines(path: PathLike) -> tuple[Labels, list[tuple[int, str]]]:
    """Return the lines that have the format's form, and the number and defect of every other line."""
    topics, items, labels, lines = [], [], [], []
    skipped, seen = [], set()
    for line, fields in enumerate(csv.reader(io.StringIO(read_text(path)), delimiter="\t"), start=1):
        if len(fields) != 3:
            skipped.append((line, "another number of fields than three"))
        elif not all(fields):
            skipped.append((line, "an empty field"))
        elif math.isnan(number(fields[2])):
            skipped.append((line, "a value that is no number"))
        elif (fields[0], fields[1]) in seen:
            skipped.append((line, "an item for the second time"))
        else:
            seen.add((fields[0], fields[1]))
            topics.append(fields[0])
            items.append(fields[1])
            labels.append(fields[2])
            lines.append(line)
    return Labels(str(path), topics, items, labels, lines), skipped
