"""Every judge by every measure on the whole set, and on resampled topics: which differences between judges are sure."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import norm, t

import metaeval
from metaeval.analyses.alternative_annotator_test import FEWEST_ITEMS
from metaeval.data.annotations import Annotations, choose_class, find_median
from metaeval.data.labels import rank_labels
from metaeval.errors import UndefinedValueWarning
from metaeval.stats.annotator_wins import Agreement, average_advantage, sum_wins, tabulate_agreement
from metaeval.stats.resampling import draw_weights
from metaeval.stats.streams import stream_key

RHO: dict[str, Agreement] = {"ρ (squared error)": "squared-error", "ρ (accuracy)": "accuracy"}
"""The alternative annotator test's advantage probability, which its authors advise for choosing a judge."""

GoldRule = Literal["majority", "median"]
"""How the labels of several people become the gold class of an item."""

GOLDS: tuple[GoldRule, ...] = ("majority", "median")
"""The first is that of the tables; the second one is tried besides."""


@dataclass(frozen=True, eq=False)
class Differences:
    """Scores of judges (judge, measure), higher is better; their differences, and half-widths (judge, judge, measure)."""

    judges: tuple[str, ...]
    measures: tuple[str, ...]
    values: np.ndarray
    gaps: np.ndarray
    reach: np.ndarray

    @property
    def best(self) -> np.ndarray:
        """The judge with the best score by every measure, shape (measure,)."""
        return self.values.argmax(axis=0)

    @property
    def surely(self) -> np.ndarray:
        """Whether the first judge is better than the second, with an interval above 0, shape (judge, judge, measure)."""
        return (self.reach > 0) & (self.gaps - self.reach > 0)

    @property
    def clearness(self) -> np.ndarray:
        """How many half-widths each difference is from 0: above 1 the interval leaves it out."""
        return np.divide(self.gaps, self.reach, out=np.zeros_like(self.gaps), where=self.reach > 0)

    @property
    def n_beaten(self) -> np.ndarray:
        """How many other judges the best one is surely better than, shape (measure,)."""
        return self.surely.sum(axis=1)[self.best, np.arange(len(self.measures))]

    def count_contradictions(self) -> dict[str, int]:
        """Return on how many pairs of judges measures contradict each other, and how many pairs of measures do."""
        judges, measures = len(self.judges), len(self.measures)
        some = self.surely.any(axis=2)
        opposed = np.einsum("jkm,kjn->mn", self.surely.astype(int), self.surely.astype(int)) > 0
        return {
            "pairs of judges": judges * (judges - 1) // 2,
            "with a contradiction": int((some & some.T).sum()) // 2,
            "pairs of measures": measures * (measures - 1) // 2,
            "that contradict each other": int(opposed.sum()) // 2,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row for every two judges and measure whose interval leaves 0 out."""
        first, second = np.triu_indices(len(self.judges), 1)
        rows = [
            (name, self.judges[j], self.judges[k], gap, gap - reach, gap + reach, self.judges[j if gap > 0 else k])
            for m, name in enumerate(self.measures)
            for j, k in zip(first, second, strict=True)
            if self.surely[j, k, m] or self.surely[k, j, m]
            for gap, reach in [(self.gaps[j, k, m], self.reach[j, k, m])]
        ]
        columns = ["measure", "judge_1", "judge_2", "difference", "low", "high", "better"]
        return pd.DataFrame(rows, columns=columns).set_index("measure")


def compare_judges(
    judges: Sequence[str],
    measures: Sequence[str],
    values: np.ndarray,
    drawn: np.ndarray,
    n_topics: int,
    confidence: float,
) -> Differences:
    """Return the differences of judges with simultaneous intervals, from their scores on the set and on resampled topics.

    The intervals hold all together with the stated confidence: their half-width is the same multiple of the standard error
    for all, from the quantile over resamples of the largest standardised difference.
    """
    gaps = values[:, np.newaxis] - values  # judge × judge × measure
    centred = drawn[:, :, np.newaxis] - drawn[:, np.newaxis]
    centred -= centred.mean(axis=0)
    error = np.sqrt((centred**2).sum(axis=0) / (len(drawn) - 1) * n_topics / (n_topics - 1))
    standardised = np.divide(centred, error, out=np.zeros_like(centred), where=error > 0)
    largest = np.abs(standardised).max(axis=(1, 2, 3))
    # The errors are estimated from the same topics: Student's quantile at the level of the normal one.
    reach = t.ppf(norm.cdf(np.quantile(largest, confidence)), n_topics - 1) * error
    return Differences(tuple(judges), tuple(measures), values, gaps, reach)


def resample_judges(
    annotations: Annotations,
    classification: Sequence[str],
    quantification: Sequence[str],
    *,
    n_bootstrap: int,
    confidence: float,
    seed: int,
) -> dict[GoldRule, Differences]:
    """Compare all judges by every measure and by ρ, for each way to choose the gold."""
    names = tuple(dict.fromkeys(annotations.topics))
    position = dict(zip(names, rank_labels(names).tolist(), strict=True))
    topic = np.array([position[name] for name in annotations.topics])
    key = stream_key(seed, annotations.collection, "judges by measures")
    drawn = draw_weights(key, range(n_bootstrap), len(names)).astype(np.int64)
    # The first row is the set itself. As floats, because those are what is multiplied fast; the sums stay whole.
    weights = np.concatenate([np.ones((1, len(names))), drawn])
    others = [
        _score_distributions(annotations, topic, weights, quantification),
        _find_advantages(annotations, topic, weights),
    ]
    measures = (*classification, *quantification, *RHO)
    by_gold = {}
    for gold in GOLDS:
        confusions = _score_confusions(annotations, topic, weights, classification, gold)
        scores = np.concatenate([confusions, *others], axis=-1)
        by_gold[gold] = compare_judges(annotations.judges, measures, scores[0], scores[1:], len(names), confidence)
    return by_gold


def _sum_over_topics(values: np.ndarray, topic: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted sums over items, shape (trial, …), of values of shape (item, …)."""
    order = np.argsort(topic, kind="stable")
    starts = np.searchsorted(topic[order], np.arange(weights.shape[1]))
    sums = np.add.reduceat(values[order], starts, axis=0, dtype=np.float64)
    return (weights @ sums.reshape(len(sums), -1)).reshape(len(weights), *values.shape[1:])


def _score_confusions(
    annotations: Annotations, topic: np.ndarray, weights: np.ndarray, names: Sequence[str], gold: GoldRule
) -> np.ndarray:
    """Return scores of classification on all items together, shape (trial, judge, measure)."""
    k = len(annotations.classes)
    truth = choose_class(annotations.votes) if gold == "majority" else find_median(annotations.votes)
    cell = (truth * k + choose_class(annotations.answers)).T  # item × judge
    counts = _sum_over_topics(np.eye(k * k, dtype=np.int8)[cell], topic, weights)
    matrices = np.rint(counts).reshape(*counts.shape[:2], k, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedValueWarning)  # of a class that a resample may lack
        return np.stack([_score(name, matrices) for name in names], axis=-1)


def _score_distributions(
    annotations: Annotations, topic: np.ndarray, weights: np.ndarray, names: Sequence[str]
) -> np.ndarray:
    """Return means over items of quantification, shape (trial, judge, measure)."""
    runs = annotations.to_quantification()
    by_item = np.stack([_score(name, runs.estimated, runs.gold) for name in names], axis=-1)
    sums = _sum_over_topics(np.moveaxis(by_item, 1, 0), topic, weights)
    return sums / (weights @ np.bincount(topic).astype(np.float64))[:, np.newaxis, np.newaxis]


def _find_advantages(annotations: Annotations, topic: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ρ by every agreement, shape (trial, judge, agreement)."""
    advantages = []
    for agreement in RHO.values():
        table = tabulate_agreement(len(annotations.classes), agreement)
        sums = sum_wins(annotations.labels, choose_class(annotations.answers), table, topic)
        tested = sums[:, 0, :, 0].sum(axis=0) >= FEWEST_ITEMS
        sums = sums[:, :, tested]
        drawn = (weights @ sums.reshape(len(sums), -1)).reshape(len(weights), *sums.shape[1:])
        advantages.append(average_advantage(drawn))
    return np.stack(advantages, axis=-1)


def _score(name: str, *arrays: np.ndarray) -> np.ndarray:
    """Return the scores of a measure, turned so that higher is better."""
    measure = metaeval.measure(name)
    return measure.score(*arrays) * measure.sign
