r"""EvALL's ordinal classification: lines ``test case<TAB>item<TAB>value`` without a header, possibly in quotation marks."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from metaeval.data.policies import report_policy
from metaeval.data.rows import number
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError
from metaeval.files import PathLike, read_text
from metaeval.io.answers import Labels, classification_runs


def read(gold: PathLike, runs: Mapping[str, PathLike], **options: Any) -> ClassificationRuns:
    """Read runs in EvALL's layout; what a run must not have is skipped, as EvALL does, with a `PolicyWarning`."""
    truth, skipped = _read_lines(gold)
    for line, problem in skipped:
        raise DataError(f"the gold has a line with {problem}", file=gold, line=line)
    known, answers = set(truth.keys), {}
    for run, path in runs.items():
        given, skipped = _read_lines(path)
        inside = [row for row, key in enumerate(given.keys) if key in known]
        counts = Counter(problem for _, problem in skipped)
        counts["an item that is not in the gold"] = len(given.items) - len(inside)
        if problems := ", ".join(f"{n:,} with {problem}" for problem, n in counts.items() if n):
            report_policy(f"skipped lines: {problems}", path)
        answers[run] = given.take(inside)
    return classification_runs(truth, answers, **options)


def _read_lines(path: PathLike) -> tuple[Labels, list[tuple[int, str]]]:
    """Return the lines that have the format's form, and the number and defect of every other line."""
    rows: dict[tuple[str, str], tuple[str, int]] = {}
    skipped = []
    for line, fields in enumerate(csv.reader(io.StringIO(read_text(path)), delimiter="\t"), start=1):
        if len(fields) != 3:
            skipped.append((line, "another number of fields than three"))
        elif not all(fields):
            skipped.append((line, "an empty field"))
        elif math.isnan(number(fields[2])):
            skipped.append((line, "a value that is no number"))
        elif (fields[0], fields[1]) in rows:
            skipped.append((line, "an item for the second time"))
        else:
            rows[fields[0], fields[1]] = fields[2], line
    topics, items = ([key[k] for key in rows] for k in (0, 1))
    labels, lines = [label for label, _ in rows.values()], [line for _, line in rows.values()]
    return Labels(str(path), topics, items, labels, lines), skipped
