"""Scores of runs on some topics only, and how probable it was that each was asked for: labels of people, which are few."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaeval.data.labels import unique_labels
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_count, format_list
from metaeval.measures.base import Measure
from metaeval.measures.resolve import MeasureLike, measure_of_label


@dataclass(frozen=True, eq=False)
class PartialScores:
    """Scores of one measure, of which some are missing on purpose.

    Parameters
    ----------
    values : array_like, shape (run, topic)
        NaN where there is no score.
    runs, topics : iterable of str
        Unique labels.
    measure : str or Measure
    probabilities : array_like, shape (run, topic), optional
        How probable it was that each score was asked for, above 0 and at most 1; by default the same for all.
    collection : str, optional

    Raises
    ------
    DataError
        If a shape does not fit the labels, there is no score, or a probability is none.

    Examples
    --------
    >>> PartialScores([[0.5, np.nan], [0.2, 0.3]], runs=["a", "b"], topics=["t1", "t2"], measure="AP")
    PartialScores: 3 of 4 scores by AP, 2 runs × 2 topics
    """

    values: np.ndarray
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measure: Measure
    probabilities: np.ndarray | None = None
    collection: str = ""

    def __init__(
        self,
        values: Any,
        *,
        runs: Iterable[object],
        topics: Iterable[object],
        measure: MeasureLike,
        probabilities: Any = None,
        collection: str = "",
    ) -> None:
        labels = unique_labels(runs, "run"), unique_labels(topics, "topic")
        shape = tuple(map(len, labels))
        array = np.array(values, dtype=np.float64)
        given = None if probabilities is None else np.array(probabilities, dtype=np.float64)
        for numbers in (array, given):
            if numbers is not None and numbers.shape != shape:
                raise DataError(f"the scores have shape {numbers.shape}, the labels {shape[0]} runs × {shape[1]} topics")
        known = np.isfinite(array)
        if not known.any():
            raise DataError("nothing is labelled: every score is missing")
        if given is not None:
            with np.errstate(invalid="ignore"):
                wrong = np.argwhere(known & ~((given > 0) & (given <= 1)))
            if len(wrong):
                r, t = wrong[0]
                raise DataError(
                    f"the probability is {given[r, t]:g}; that of a label lies above 0 and is at most 1",
                    run=labels[0][r],
                    topic=labels[1][t],
                )
        fields = (array, *labels, measure_of_label(measure), given, collection)
        for name, value in zip(type(self).__dataclass_fields__, fields, strict=True):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        count = f"{int(np.isfinite(self.values).sum()):,} of {self.values.size:,} scores by {self.measure}"
        return f"PartialScores: {count}, {format_count(len(self.runs), 'run')} × {format_count(len(self.topics), 'topic')}"

    @classmethod
    def of_scores(cls, scores: Scores) -> PartialScores:
        """Return the scores of one measure as partial ones of which none is missing."""
        if len(scores.measures) != 1:
            names = format_list([str(measure) for measure in scores.measures])
            raise DataError(f"labels of people are of one measure; there are {len(scores.measures)} ({names})")
        return cls(
            scores.values[..., 0], runs=scores.runs, topics=scores.topics, measure=scores.measures[0],
            collection=scores.collection,
        )  # fmt: skip

    @property
    def fingerprint(self) -> str:
        """What a signature calls these data: the start of a checksum."""
        digest = hashlib.sha256("\0".join((*self.runs, "", *self.topics)).encode("utf-8", "surrogatepass"))
        for numbers in (self.values, self.probabilities):
            if numbers is not None:
                digest.update(np.round(numbers, 8).astype("<f8").tobytes())
        return digest.hexdigest()[:12]

    def align(self, runs: tuple[str, ...], topics: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        """Return scores and probabilities as those runs and topics are ordered, shape (run, topic).

        Raises
        ------
        DataError
            If a labelled run or topic is not among them, or a run has no label.
        """
        places = []
        for what, mine, theirs in (("run", self.runs, runs), ("topic", self.topics, topics)):
            known = np.isfinite(self.values).any(axis=1 if what == "run" else 0)
            place = {label: position for position, label in enumerate(theirs)}
            strange = [label for label, has in zip(mine, known, strict=True) if has and label not in place]
            if len(strange) == known.sum():
                raise DataError(
                    f"no {what} has both a judge's score and a label of people (people: {format_list(mine)}; judge: "
                    f"{format_list(theirs)})"
                )
            if strange:
                problem = "has labels of people and no score of the judge"
                more = f" ({len(strange):,} such {what}s in all)" if len(strange) > 1 else ""
                raise DataError(f"the {what} {strange[0]} {problem}{more}", hint="the judge scores every run on every topic")
            places.append([place.get(label, -1) for label in mine])
        rows, columns = map(np.array, places)
        cells = np.ix_(rows[rows >= 0], columns[columns >= 0])
        results = []
        for numbers in (self.values, self.probabilities):
            if numbers is None:
                return results[0], None
            whole = np.full((len(runs), len(topics)), np.nan)
            whole[cells] = numbers[np.ix_(rows >= 0, columns >= 0)]
            results.append(whole)
        return results[0], results[1]
