"""Runs and their gold: runs that classify items, and runs that estimate class distributions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metaeval.data.labels import find_labels, unique_labels
from metaeval.errors import DataError, format_count, format_option
from metaeval.measures.base import SUM_TOLERANCE, Kind


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationRuns:
    """Confusion counts of runs on topics.

    Parameters
    ----------
    counts : array_like of int, shape (run, topic, gold, predicted)
        ``counts[r, t, g, p]`` is the number of items of topic t and gold class g that run r put into class p.
        Every run labels the same items, so the gold sizes of a topic are the same for all runs.
    runs, topics : iterable of str
        Unique labels of the first two axes.
    classes : iterable of str
        All K classes in order, including classes that do not occur.
    collection, provenance : str, optional
        Name of the collection, and where the data come from.

    Raises
    ------
    DataError
        If a count is negative or not a whole number, a topic has no items, two runs disagree on the gold of a topic,
        or a shape does not fit its labels.

    Examples
    --------
    >>> ClassificationRuns([[[[2, 0], [1, 3]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
    ClassificationRuns: 1 run × 1 topic, 2 classes
    """

    counts: np.ndarray
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    classes: tuple[str, ...]
    collection: str = ""
    provenance: str = ""

    def __init__(
        self,
        counts: Any,
        *,
        runs: Iterable[object],
        topics: Iterable[object],
        classes: Iterable[object],
        collection: str = "",
        provenance: str = "",
    ) -> None:
        labels = _check_labels(runs, topics, classes)
        given = np.asarray(counts)
        _check_shape(given, (*map(len, labels), len(labels[2])), "counts", "run × topic × gold × predicted")
        try:
            numbers = given.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError("counts are numbers, run × topic × gold × predicted") from None
        wrong = np.argwhere(~np.isfinite(numbers) | (numbers < 0) | (numbers != np.floor(numbers)))
        if len(wrong):
            r, t, g, p = wrong[0]
            raise DataError(
                f"the count of gold class {labels[2][g]} and predicted class {labels[2][p]} is {given[r, t, g, p]}",
                run=labels[0][r],
                topic=labels[1][t],
                hint="counts are whole numbers ≥ 0",
            )
        whole = numbers.astype(np.int64)
        sizes = whole.sum(axis=-1)
        empty = np.flatnonzero(sizes[0].sum(axis=-1) == 0)
        if len(empty):
            raise DataError("the topic has no items", topic=labels[1][empty[0]])
        unlike = np.argwhere((sizes != sizes[:1]).any(axis=-1))
        if len(unlike):
            r, t = unlike[0]
            raise DataError(
                f"its items have gold classes {sizes[r, t].tolist()}, "
                f"those of run {labels[0][0]} {sizes[0, t].tolist()}",
                run=labels[0][r],
                topic=labels[1][t],
            )
        _freeze(self, counts=whole, labels=labels, collection=collection, provenance=provenance)

    def __repr__(self) -> str:
        return _describe(self)

    @property
    def kind(self) -> Kind:
        """Kind of the measures that apply: classification measures."""
        return "classification"

    @property
    def gold(self) -> np.ndarray:
        """Number of items in each gold class, shape (topic, class)."""
        return self.counts[0].sum(axis=-1)

    def to_quantification(self) -> QuantificationRuns:
        """Convert to class distributions: the share of items that each run puts into each class.

        Examples
        --------
        >>> runs = ClassificationRuns([[[[2, 0], [1, 1]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
        >>> runs.to_quantification().estimated.tolist()
        [[[0.75, 0.25]]]
        """
        items = self.gold.sum(axis=-1, keepdims=True)
        return QuantificationRuns(
            self.counts.sum(axis=-2) / items,
            self.gold / items,
            runs=self.runs,
            topics=self.topics,
            classes=self.classes,
            collection=self.collection,
            provenance=self.provenance,
        )

    def sel(
        self, *, runs: Iterable[object] | str | None = None, topics: Iterable[object] | str | None = None
    ) -> ClassificationRuns:
        """Return some runs and topics, in the given order.

        Parameters
        ----------
        runs, topics : iterable of labels, one label, or None for all

        Returns
        -------
        ClassificationRuns

        Raises
        ------
        DataError
            If there is no such run or topic.
        """
        r, t = find_labels(runs, self.runs, "run"), find_labels(topics, self.topics, "topic")
        kept_runs, kept_topics = tuple(self.runs[i] for i in r), tuple(self.topics[i] for i in t)
        return replace(self, counts=self.counts[np.ix_(r, t)], runs=kept_runs, topics=kept_topics)


@dataclass(frozen=True, eq=False, repr=False)
class QuantificationRuns:
    """Class distributions that runs estimate for topics, and the gold distributions.

    Parameters
    ----------
    estimated : array_like, shape (run, topic, class)
        ``estimated[r, t, k]`` is the share of class k in topic t according to run r.
    gold : array_like, shape (topic, class)
        ``gold[t, k]`` is the gold share of class k in topic t.
    runs, topics, classes : iterable of str
        Unique labels; all K classes in order, including classes that do not occur.
    collection, provenance : str, optional
        Name of the collection, and where the data come from.
    rescale : bool, optional
        Divide every distribution by its sum. Without it, a sum further than 1e-6 from 1 is an error.

    Raises
    ------
    DataError
        If a probability is negative or not finite, or a distribution does not sum to 1.

    Examples
    --------
    >>> QuantificationRuns([[[0.5, 0.5]]], [[0.25, 0.75]], runs=["a"], topics=["t"], classes=["no", "yes"])
    QuantificationRuns: 1 run × 1 topic, 2 classes
    """

    estimated: np.ndarray
    gold: np.ndarray
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    classes: tuple[str, ...]
    collection: str = ""
    provenance: str = ""

    def __init__(
        self,
        estimated: Any,
        gold: Any,
        *,
        runs: Iterable[object],
        topics: Iterable[object],
        classes: Iterable[object],
        collection: str = "",
        provenance: str = "",
        rescale: bool = False,
    ) -> None:
        labels = _check_labels(runs, topics, classes)
        shares = np.array(estimated, dtype=np.float64)
        true = np.array(gold, dtype=np.float64)
        _check_shape(shares, tuple(map(len, labels)), "estimated shares", "run × topic × class")
        _check_shape(true, tuple(map(len, labels[1:])), "gold shares", "topic × class")
        true = distributions(true[None], ("gold",), labels[1], labels[2], rescale=rescale)[0]
        shares = distributions(shares, labels[0], labels[1], labels[2], rescale=rescale)
        _freeze(self, estimated=shares, gold=true, labels=labels, collection=collection, provenance=provenance)

    def __repr__(self) -> str:
        return _describe(self)

    @property
    def kind(self) -> Kind:
        """Kind of the measures that apply: quantification measures."""
        return "quantification"

    def with_runs(self, more: dict[str, np.ndarray]) -> QuantificationRuns:
        """Return the same topics with additional runs.

        Parameters
        ----------
        more : dict of str to array_like, shape (topic, class)
            Estimated distributions by run name.

        Raises
        ------
        DataError
            If a run of this name exists already, or a distribution does not sum to 1.
        """
        added = np.stack([np.asarray(shares, dtype=np.float64) for shares in more.values()])
        return replace(self, estimated=np.concatenate([self.estimated, added]), runs=(*self.runs, *more))

    def sel(
        self, *, runs: Iterable[object] | str | None = None, topics: Iterable[object] | str | None = None
    ) -> QuantificationRuns:
        """Return some runs and topics, in the given order.

        Parameters
        ----------
        runs, topics : iterable of labels, one label, or None for all

        Returns
        -------
        QuantificationRuns

        Raises
        ------
        DataError
            If there is no such run or topic.
        """
        r, t = find_labels(runs, self.runs, "run"), find_labels(topics, self.topics, "topic")
        kept_runs, kept_topics = tuple(self.runs[i] for i in r), tuple(self.topics[i] for i in t)
        estimated = self.estimated[np.ix_(r, t)]
        return replace(self, estimated=estimated, gold=self.gold[t], runs=kept_runs, topics=kept_topics)


Runs = ClassificationRuns | QuantificationRuns


def distributions(
    shares: np.ndarray,
    runs: tuple[str, ...],
    topics: tuple[str, ...],
    classes: tuple[str, ...],
    *,
    rescale: bool = False,
) -> np.ndarray:
    """Check that every row is a probability distribution."""
    wrong = np.argwhere(~np.isfinite(shares) | (shares < 0))
    if len(wrong):
        r, t, k = wrong[0]
        problem = f"the probability of class {classes[k]} is {shares[r, t, k]:g}, not a number from 0 to 1"
        raise DataError(problem, run=runs[r], topic=topics[t], value=float(shares[r, t, k]))
    total = shares.sum(axis=-1)
    off = np.argwhere((total <= 0) if rescale else np.abs(total - 1) > SUM_TOLERANCE)
    if len(off):
        r, t = off[0]
        raise DataError(
            f"probabilities sum to {total[r, t]:.6g}, not 1",
            run=runs[r],
            topic=topics[t],
            value=float(total[r, t]),
            hint=None
            if rescale
            else f"rescale with {format_option('rescale', True)}; up to {SUM_TOLERANCE:g} is taken as rounding",
        )
    return shares / total[..., None] if rescale else shares


def _check_labels(
    runs: Iterable[object], topics: Iterable[object], classes: Iterable[object]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    labels = unique_labels(runs, "run"), unique_labels(topics, "topic"), unique_labels(classes, "class")
    if not labels[0] or not labels[1]:
        raise DataError(f"there are no {'topics' if labels[0] else 'runs'}")
    if len(labels[2]) < 2:
        raise DataError(f"there are {len(labels[2])} classes; at least two are needed")
    return labels


def _check_shape(array: np.ndarray, expected: tuple[int, ...], what: str, axes: str) -> None:
    if array.shape != expected:
        raise DataError(f"the {what} have shape {array.shape}, not {expected} ({axes})")


def _freeze(
    target: Runs, *, labels: tuple[tuple[str, ...], ...], collection: str, provenance: str, **arrays: Any
) -> None:
    for array in arrays.values():
        array.flags.writeable = False
    names = dict(zip(("runs", "topics", "classes"), labels, strict=True))
    for name, value in {**arrays, **names, "collection": str(collection), "provenance": str(provenance)}.items():
        object.__setattr__(target, name, value)


def _describe(runs: Runs) -> str:
    parts = ((len(runs.runs), "run"), (len(runs.topics), "topic"))
    shape = " × ".join(format_count(size, what) for size, what in parts)
    named = f", {runs.collection}" if runs.collection else ""
    return f"{type(runs).__name__}: {shape}, {len(runs.classes)} classes{named}"
