"""Runs and their gold: runs that classify items, and runs that estimate class distributions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from metaeval.data.labels import Labelled, check_shape, find_labels, refuse_first
from metaeval.errors import DataError, format_count, format_option
from metaeval.measures.base import SUM_TOLERANCE, Kind
from metaeval.stats.arrays import as_numbers


@dataclass(frozen=True, eq=False, repr=False, init=False)
class _Runs(Labelled):
    """Labelled arrays of runs on topics: what runs of both kinds have."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    classes: tuple[str, ...]
    collection: str
    provenance: str

    kind: ClassVar[Kind]  # of the measures that apply

    def __repr__(self) -> str:
        shape = f"{format_count(len(self.runs), 'run')} × {format_count(len(self.topics), 'topic')}"
        named = f", {self.collection}" if self.collection else ""
        return f"{type(self).__name__}: {shape}, {len(self.classes)} classes{named}"

    def sel(self, *, runs: Iterable[object] | str | None = None, topics: Iterable[object] | str | None = None) -> Self:
        """Return some runs and topics, in the given order; one that is not there is an error."""
        r, t = find_labels(runs, self.runs, "run"), find_labels(topics, self.topics, "topic")
        changed: dict[str, Any] = {"runs": [self.runs[i] for i in r], "topics": [self.topics[i] for i in t]}
        places: dict[str, Any] = {"counts": np.ix_(r, t), "estimated": np.ix_(r, t), "gold": t}
        for name in places.keys() & {each.name for each in fields(self)}:
            changed[name] = getattr(self, name)[places[name]]
        return replace(self, **changed)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ClassificationRuns(_Runs):
    """Confusion counts of runs on topics.

    Parameters
    ----------
    counts : array_like of int, shape (run, topic, gold, predicted)
        Number of items of a topic and gold class that a run puts into a class: every run labels the same items.
    runs, topics : iterable of str
        Unique labels of the first two axes.
    classes : iterable of str
        All K classes in order, including classes that do not occur.
    collection, provenance : str, optional
        Name of the collection, and where the data come from.

    Examples
    --------
    >>> ClassificationRuns([[[[2, 0], [1, 3]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
    ClassificationRuns: 1 run × 1 topic, 2 classes
    """

    counts: np.ndarray

    kind: ClassVar[Kind] = "classification"

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
        sizes = self._label(collection, provenance, runs=runs, topics=topics, classes=classes)
        numbers = as_numbers(counts, "counts")
        check_shape(numbers, (*sizes, sizes[2]), "counts", "run × topic × gold × predicted")
        axes = {"run": self.runs, "topic": self.topics}
        wrong = ~np.isfinite(numbers) | (numbers < 0) | (numbers != np.floor(numbers))
        for r, t, *places in np.argwhere(wrong)[:1].tolist():
            g, p = (self.classes[place] for place in places)
            problem = f"the count of gold class {g} and predicted class {p} is {numbers[wrong][0]:g}"
            raise DataError(f"{problem}, not a whole number ≥ 0", run=self.runs[r], topic=self.topics[t])
        whole = numbers.astype(np.int64)
        gold = whole.sum(axis=-1)
        refuse_first(gold[:1].sum(axis=-1) == 0, axes, "the topic has no items")
        refuse_first(
            (gold != gold[:1]).any(axis=-1),
            axes,
            lambda r, t: f"its items have gold classes {gold[r, t]}, those of run {self.runs[0]} {gold[0, t]}",
        )
        self._set(counts=whole)

    @property
    def gold(self) -> np.ndarray:
        """Number of items in each gold class, shape (topic, class)."""
        return self.counts[0].sum(axis=-1)

    def to_quantification(self) -> QuantificationRuns:
        """Convert to class distributions: the share of items that each run puts into each class."""
        items = self.gold.sum(axis=-1, keepdims=True)
        labels = self.named("runs", "topics", "classes", "collection", "provenance")
        return QuantificationRuns(self.counts.sum(axis=-2) / items, self.gold / items, **labels)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class QuantificationRuns(_Runs):
    """Class distributions that runs estimate for topics, and the gold distributions.

    Parameters
    ----------
    estimated : array_like, shape (run, topic, class)
    gold : array_like, shape (topic, class)
        Shares of the classes, which sum to 1.
    runs, topics, classes, collection, provenance
        As for `ClassificationRuns`.
    rescale : bool, optional
        Divide every distribution by its sum. Without it, a sum further than 1e-6 from 1 is an error.

    Examples
    --------
    >>> QuantificationRuns([[[0.5, 0.5]]], [[0.25, 0.75]], runs=["a"], topics=["t"], classes=["no", "yes"])
    QuantificationRuns: 1 run × 1 topic, 2 classes
    """

    estimated: np.ndarray
    gold: np.ndarray

    kind: ClassVar[Kind] = "quantification"

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
        sizes = self._label(collection, provenance, runs=runs, topics=topics, classes=classes)
        shares, true = as_numbers(estimated, "shares"), as_numbers(gold, "shares")
        check_shape(shares, sizes, "estimated shares", "run × topic × class")
        check_shape(true, sizes[1:], "gold shares", "topic × class")
        self._set(gold=distributions(true[None], ("gold",), self.topics, self.classes, rescale=rescale)[0])
        self._set(estimated=distributions(shares, self.runs, self.topics, self.classes, rescale=rescale))

    def with_runs(self, more: dict[str, np.ndarray]) -> QuantificationRuns:
        """Return the same topics with additional runs: distributions of shape (topic, class) by run name."""
        return replace(self, estimated=np.array([*self.estimated, *more.values()]), runs=(*self.runs, *more))


Runs = ClassificationRuns | QuantificationRuns


def distributions(
    shares: np.ndarray, runs: Sequence[str], topics: Sequence[str], classes: Sequence[str], *, rescale: bool = False
) -> np.ndarray:
    """Check that every row of shares (run, topic, class) is a probability distribution, and return them."""
    axes, total = {"run": runs, "topic": topics}, shares.sum(axis=-1)
    refuse_first(
        ~np.isfinite(shares) | (shares < 0),
        axes,
        lambda r, t, k: f"the probability of class {classes[k]} is {shares[r, t, k]:g}, not a number from 0 to 1",
    )
    hint = f"rescale with {format_option('rescale', True)}; up to {SUM_TOLERANCE:g} is taken as rounding"
    refuse_first(
        (total <= 0) if rescale else np.abs(total - 1) > SUM_TOLERANCE,
        axes,
        lambda r, t: f"probabilities sum to {total[r, t]:.6g}, not 1",
        hint=None if rescale else hint,
    )
    return shares / total[..., None] if rescale else shares
