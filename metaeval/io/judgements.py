"""TREC-style judgements, ``qid 0 docid label``: graded relevance as ordinal classification."""

from __future__ import annotations

from collections.abc import Iterable

from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.data.runs import ClassificationRuns
from metaeval.files import PathLike, Sources, describe_files, find_named_files, stem
from metaeval.io.classification import Labels, Rounding, classification_runs, split_items
from metaeval.io.table import read_fields


def read(
    gold: PathLike,
    runs: Sources,
    *,
    classes: Iterable[object],
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    rounding: Rounding | None = None,
    collection: str | None = None,
    parts: int | None = None,
    seed: int = 0,
) -> ClassificationRuns:
    r"""Read gold judgements and the judgements of runs from lines ``qid 0 docid label``.

    Parameters
    ----------
    gold : path
    runs : path, list of paths, mapping of run name to path, or folder
        Items are matched by topic (qid) and document, in any order.
    classes : iterable of str
        All labels in order: ``["0", "1", "2", "3"]``.
    missing, invalid : str, optional
        What to do if an item has no label, and if a label is outside the classes.
    rounding : {"nearest", "down", "up"}, optional
        Which class a real number between two classes becomes; by default it is invalid.
    collection : str, optional
        By default, the name of the gold file without suffix.
    parts : int, optional
        Divide all items at random into this many parts of equal size, which replace the topics, as Amigó et al.
        2020, §5.4, do for a task without topics. All runs are split in the same way.
    seed : int, optional
        Seed of that split.

    Returns
    -------
    ClassificationRuns

    Raises
    ------
    DataError
        If a line does not have four columns, an item occurs twice, is not in the gold or has no label, or a label
        is not one of the classes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "qrels.txt").write_text("q1 0 d1 3\nq1 0 d2 0\n")
    >>> _ = (folder / "judge.txt").write_text("q1 0 d2 1\nq1 0 d1 3\n")
    >>> read(folder / "qrels.txt", folder / "judge.txt", classes=range(4)).counts[0, 0].diagonal().tolist()
    [0, 0, 0, 1]
    """
    files = find_named_files(runs, gold=gold)
    named = stem(gold) if collection is None else collection
    truth, answers = read_labels(gold), {run: read_labels(path) for run, path in files.items()}
    if parts is not None:
        truth, answers = split_items(truth, answers, parts, seed=seed, collection=named)
    return classification_runs(
        truth,
        answers,
        classes,
        missing=missing,
        invalid=invalid,
        rounding=rounding,
        collection=named,
        provenance=describe_files([gold, *files.values()]),
    )


def read_labels(path: PathLike) -> Labels:
    """Return the labels in one file, line by line.

    Parameters
    ----------
    path : path

    Returns
    -------
    Labels

    Raises
    ------
    DataError
        If a line does not have four columns.
    """
    rows, lines = read_fields(path, separator=None, least=4, most=4, layout="qid 0 docid label")
    topics, _, items, labels = zip(*rows, strict=True)
    return Labels(str(path), topics, items, labels, lines)
