"""TREC-style judgements, ``qid 0 docid label``: graded relevance as ordinal classification."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from metaeval.data.runs import ClassificationRuns
from metaeval.files import PathLike, Sources
from metaeval.io.classification import Labels, classification_runs
from metaeval.io.frames import name_origins
from metaeval.io.table import read_fields


def read(
    gold: PathLike, runs: Sources, *, classes: Iterable[object], collection: str | None = None, **options: Any
) -> ClassificationRuns:
    """Read gold judgements and those of runs from lines ``qid 0 docid label``; options as `classification_runs` takes them."""
    files, origin = name_origins(gold, runs, collection)
    answers = {run: read_labels(path) for run, path in files.items()}
    return classification_runs(read_labels(gold), answers, classes, **origin, **options)


def read_labels(path: PathLike) -> Labels:
    """Return the labels in one file, line by line."""
    rows, lines = read_fields(path, separator=None, least=4, most=4, layout="qid 0 docid label")
    topics, _, items, labels = zip(*rows, strict=True)
    return Labels(str(path), topics, items, labels, lines)
