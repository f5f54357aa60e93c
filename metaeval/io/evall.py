r"""EvALL's ordinal classification: lines ``test case<TAB>item<TAB>value`` without a header, possibly in quotation marks."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from metaeval.data.policies import report_policy
from metaeval.data.rows import number
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError
from metaeval.files import PathLike, Sources, read_text
from metaeval.io.classification import Labels, classification_runs
from metaeval.io.frames import name_origins


def read(
    gold: PathLike, runs: Sources, *, classes: Iterable[object], collection: str | None = None, **options: Any
) -> ClassificationRuns:
    """Read runs in EvALL's layout; what a run must not have is skipped, as EvALL does, with a `PolicyWarning`.

    Options as `classification_runs` takes them.
    """
    files, origin = name_origins(gold, runs, collection)
    truth = read_gold(gold)
    answers = {run: read_run(path, truth) for run, path in files.items()}
    return classification_runs(truth, answers, classes, **origin, **options)


def read_gold(path: PathLike) -> Labels:
    """Return the labels of a gold file."""
    labels, skipped = _read_lines(path)
    for line, problem in skipped:
        raise DataError(f"the gold has a line with {problem}", file=path, line=line)
    if not labels.items:
        raise DataError("the file is empty", file=path)
    return labels


def read_run(path: PathLike, gold: Labels) -> Labels:
    """Return the answers of a run to items of the gold, without the lines that a run must not have."""
    answers, skipped = _read_lines(path)
    known = set(zip(gold.topics, gold.items, strict=True))
    inside = [row for row, key in enumerate(zip(answers.topics, answers.items, strict=True)) if key in known]
    counts = Counter(problem for _, problem in skipped)
    counts["an item that is not in the gold"] = len(answers.items) - len(inside)
    problems = ", ".join(f"{n:,} with {problem}" for problem, n in counts.items() if n)
    if problems:
        report_policy(f"skipped lines: {problems}", path)
    return answers.take(inside)


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
