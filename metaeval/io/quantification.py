"""Build QuantificationRuns from the distributions in files: alignment by topic, and policies, for all formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaeval.data.labels import unique_labels
from metaeval.data.policies import (
    MissingPolicy,
    check_policy,
    describe_affected,
    describe_total,
    find_complete,
    find_farthest_end,
    hint_missing,
    report_policy,
)
from metaeval.data.rows import is_missing, number
from metaeval.data.runs import QuantificationRuns, distributions
from metaeval.errors import DataError, format_count, format_option


@dataclass(frozen=True)
class Shares:
    """The distributions in one file: ``values[i, k]`` is the share of class k in topic ``topics[i]``."""

    file: str
    topics: Sequence[str]
    values: np.ndarray
    lines: Sequence[int] | None = None

    def locate(self, row: int, run: str | None = None) -> dict[str, Any]:
        """Return the location of a row, for an error message."""
        line = None if self.lines is None else self.lines[row]
        return {"file": self.file, "line": line, "run": run, "topic": self.topics[row]}


ShareRuns = tuple[Shares, dict[str, Shares], Iterable[object]]
"""What a format of distributions reads: gold, runs by name, and classes."""


def quantification_runs(
    gold: Shares,
    runs: Mapping[str, Shares],
    classes: Iterable[object],
    *,
    rescale: bool = False,
    missing: MissingPolicy = "raise",
    collection: str = "",
    provenance: str = "",
) -> QuantificationRuns:
    """Align the estimated distributions of every run with the gold ones, topic by topic.

    For a missing distribution "worst" puts all probability on the end of the scale that is farther from the mean of the
    gold distribution, and on the last class if both are as far.

    >>> gold = Shares("gold", ["t1", "t2"], np.array([[1.0, 0.0], [0.5, 0.5]]))
    >>> run = Shares("run", ["t2", "t1"], np.array([[0.25, 0.75], [0.5, 0.5]]))
    >>> quantification_runs(gold, {"a": run}, ["no", "yes"]).estimated[0].tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    check_policy(missing, MissingPolicy)
    names = unique_labels(classes, "class")
    truth, K = _check_shares(gold, None, names, rescale), len(names)
    position = {topic: t for t, topic in enumerate(gold.topics)}
    estimated = np.full((len(runs), *truth.shape), np.nan)
    gaps = np.ones(estimated.shape[:2], dtype=bool)
    for r, (run, shares) in enumerate(runs.items()):
        for row, topic in enumerate(shares.topics):
            if topic not in position:
                raise DataError("the gold has no such topic", **shares.locate(row, run))
        rows = [position[topic] for topic in shares.topics]
        estimated[r, rows] = _check_shares(shares, run, names, rescale)
        gaps[r, rows] = False
    labels, topics, count = list(runs), list(gold.topics), int(gaps.sum())
    if count and missing == "raise":
        r, t = np.argwhere(gaps)[0]
        problem = f"there is no distribution for this topic{describe_total(count)}"
        raise DataError(problem, file=runs[labels[r]].file, run=labels[r], topic=topics[t], hint=hint_missing())
    if count and missing == "worst":
        worst = np.eye(K)[find_farthest_end(truth @ np.arange(K), K)]
        estimated[gaps] = np.broadcast_to(worst, estimated.shape)[gaps]
        given = f"{format_count(count, 'missing distribution')} given all mass on the class farthest from the gold"
        report_policy(f"{format_option('missing', missing)}: {given}: {describe_affected(gaps, labels, topics)}")
    keep_runs, keep_topics = find_complete(gaps, labels, topics, missing)
    return QuantificationRuns(
        estimated[np.ix_(keep_runs, keep_topics)],
        truth[keep_topics],
        runs=[run for run, keep in zip(labels, keep_runs, strict=True) if keep],
        topics=[topic for topic, keep in zip(topics, keep_topics, strict=True) if keep],
        classes=names,
        collection=collection,
        provenance=provenance,
    )


def shares_from_text(
    columns: Sequence[Sequence[str]],
    classes: Sequence[str],
    *,
    file: str,
    topics: Sequence[str],
    lines: Sequence[int],
    run: str | None = None,
) -> Shares:
    """Convert columns of text, one per class, to `Shares`; a run has no answer where all are empty, NA or NaN."""
    for row, topic in enumerate(topics):
        if not topic.strip():
            raise DataError("the topic is missing", file=file, line=lines[row], run=run)
    if run is not None:
        keep = [row for row, cells in enumerate(zip(*columns, strict=True)) if not all(map(is_missing, cells))]
        topics, lines = [topics[row] for row in keep], [lines[row] for row in keep]
        columns = [[column[row] for row in keep] for column in columns]
    shares = Shares(
        file, topics, np.array([list(map(number, column)) for column in columns]).reshape(len(columns), -1).T, lines
    )
    for row, k in np.argwhere(~np.isfinite(shares.values))[:1]:
        given = columns[k][row]
        problem = f"the probability of class {classes[k]} is {given!r}, not a number from 0 to 1"
        raise DataError(problem, **shares.locate(row, run), value=given)
    return shares


def _check_shares(shares: Shares, run: str | None, classes: tuple[str, ...], rescale: bool) -> np.ndarray:
    """Return distributions, one a topic, that sum to 1."""
    topics = tuple(shares.topics)
    seen: set[str] = set()
    for row, topic in enumerate(topics):
        if topic in seen:
            raise DataError("there is a second distribution for this topic", **shares.locate(row, run))
        seen.add(topic)
    try:
        return distributions(shares.values[None], (run or "gold",), topics, classes, rescale=rescale)[0]
    except DataError as error:
        # `distributions` does not know the file: add file and line to its message.
        row = topics.index(str(error.topic))
        raise DataError(error.problem, **shares.locate(row, run), value=error.value, hint=error.hint) from None
