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
    """Read gold judgements and the judgements of runs from lines ``qid 0 docid label``."""
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
    """Return the labels in one file, line by line."""
    rows, lines = read_fields(path, separator=None, least=4, most=4, layout="qid 0 docid label")
    topics, _, items, labels = zip(*rows, strict=True)
    return Labels(str(path), topics, items, labels, lines)
