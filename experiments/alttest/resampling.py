"""Every judge by every measure on the whole set, and on resampled topics: what differences between judges rest on."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm, t

import metaeval
from metaeval.analyses.alternative_annotator_test import FEWEST_ITEMS
from metaeval.data.annotations import Annotations, GoldRule, choose_class, find_median
from metaeval.data.labels import rank_labels
from metaeval.errors import UndefinedValueWarning
from metaeval.stats.annotator_wins import Agreement, average_advantage, sum_wins, tabulate_agreement
from metaeval.stats.resampling import resampled_topics
from metaeval.stats.streams import stream_key

RHO: dict[str, Agreement] = {"ρ (squared error)": "squared-error", "ρ (accuracy)": "accuracy"}
"""The alternative annotator test's advantage probability, which its authors advise for choosing a judge."""


GOLDS: tuple[GoldRule, ...] = ("majority", "median")
"""The first is that of the tables; the second one is tried besides."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """Scores of judges, and of the same judges on resampled topics; higher is better in all of them.

    Parameters
    ----------
    judges, measures : tuple of str
    values : ndarray, shape (judge, measure)
    drawn : ndarray, shape (trial, judge, measure)
    n_topics : int
    """

    judges: tuple[str, ...]
    measures: tuple[str, ...]
    values: np.ndarray
    drawn: np.ndarray
    n_topics: int

    def compare(self, confidence: float) -> pd.DataFrame:
        """Return the difference of every two judges by every measure, with simultaneous intervals.

        The intervals hold all together with the stated confidence: their half-width is the same multiple of the
        standard error for all, from the quantile over resamples of the largest standardised difference.

        Parameters
        ----------
        confidence : float

        Returns
        -------
        DataFrame, shape (measure · pair of judges, 7)
            Columns measure, judge_1, judge_2, difference, low, high, better: a judge, or "cannot tell".
        """
        first, second = np.triu_indices(len(self.judges), 1)
        gap = self.values[first] - self.values[second]  # pair × measure
        drawn = self.drawn[:, first] - self.drawn[:, second]
        centred = drawn - drawn.mean(axis=0)
        error = np.sqrt((centred**2).sum(axis=0) / (len(drawn) - 1) * self.n_topics / (self.n_topics - 1))
        varies = error > 0
        largest = np.abs(np.divide(centred, error, out=np.zeros_like(centred), where=varies)).max(axis=(1, 2))
        # The errors are estimated from the same topics: Student's quantile at the level of the normal one.
        reach = t.ppf(norm.cdf(np.quantile(largest, confidence)), self.n_topics - 1) * error
        low, high = (np.where(varies, gap + side * reach, np.nan) for side in (-1, 1))
        names = np.array(self.judges, dtype=object)
        better = np.where(low > 0, names[first, None], np.where(high < 0, names[second, None], "cannot tell"))
        n_pairs, n_measures = gap.shape
        return pd.DataFrame(
            {
                "measure": np.repeat(self.measures, n_pairs),
                "judge_1": np.tile(names[first], n_measures),
                "judge_2": np.tile(names[second], n_measures),
                **{
                    name: numbers.T.ravel()
                    for name, numbers in (("difference", gap), ("low", low), ("high", high), ("better", better))
                },
            }
        )


def resample_judges(
    given: Annotations,
    classification: Sequence[str],
    quantification: Sequence[str],
    *,
    n_bootstrap: int,
    seed: int,
) -> dict[GoldRule, Resampled]:
    """Score all judges on the whole set by every measure and by ρ, and again on resampled topics.

    Parameters
    ----------
    given : Annotations
    classification : sequence of str
        Measures of the confusion counts of all items.
    quantification : sequence of str
        Measures of distributions, of which the mean over items is taken.
    n_bootstrap : int
        Resamples; the same for all measures.
    seed : int

    Returns
    -------
    dict of str to Resampled
        By the gold that measures of classification are given.
    """
    names = tuple(dict.fromkeys(given.topics))
    place = dict(zip(names, rank_labels(names).tolist(), strict=True))
    topic = np.array([place[one] for one in given.topics])
    key = stream_key(seed, given.collection, "judges by measures")
    drawn = resampled_topics(key, range(n_bootstrap), len(names))
    # The first row is the set itself. As floats, because those are what is multiplied fast; the sums stay whole.
    weights = np.concatenate([np.ones((1, len(names))), drawn])
    others = [_score_distributions(given, topic, weights, quantification), _find_advantages(given, topic, weights)]
    measures = (*classification, *quantification, *RHO)
    found: dict[GoldRule, Resampled] = {}
    for gold in GOLDS:
        confusions = _score_confusions(given, topic, weights, classification, gold)
        scores = np.concatenate([confusions, *others], axis=-1)
        found[gold] = Resampled(given.judges, measures, scores[0], scores[1:], len(names))
    return found


def _sum_over_topics(values: np.ndarray, topic: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted sums over items, shape (trial, …), of values of shape (item, …)."""
    order = np.argsort(topic, kind="stable")
    starts = np.searchsorted(topic[order], np.arange(weights.shape[1]))
    sums = np.add.reduceat(values[order], starts, axis=0, dtype=np.float64)
    return (weights @ sums.reshape(len(sums), -1)).reshape(len(weights), *values.shape[1:])


def _score_confusions(
    given: Annotations, topic: np.ndarray, weights: np.ndarray, names: Sequence[str], gold: GoldRule
) -> np.ndarray:
    k = len(given.classes)
    truth = choose_class(given.votes) if gold == "majority" else find_median(given.votes)
    cell = (truth * k + choose_class(given.answers)).T  # item × judge
    counts = _sum_over_topics(np.eye(k * k, dtype=np.int8)[cell], topic, weights)
    matrices = np.rint(counts).reshape(*counts.shape[:2], k, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedValueWarning)  # of a class that a resample may lack
        return np.stack([_score(name, matrices) for name in names], axis=-1)


def _score_distributions(
    given: Annotations, topic: np.ndarray, weights: np.ndarray, names: Sequence[str]
) -> np.ndarray:
    runs = given.to_quantification()
    by_item = np.stack([_score(name, runs.estimated, runs.gold) for name in names], axis=-1)
    sums = _sum_over_topics(np.moveaxis(by_item, 1, 0), topic, weights)
    return sums / (weights @ np.bincount(topic).astype(np.float64))[:, np.newaxis, np.newaxis]


def _find_advantages(given: Annotations, topic: np.ndarray, weights: np.ndarray) -> np.ndarray:
    found = []
    for agreement in RHO.values():
        table = tabulate_agreement(len(given.classes), agreement)
        sums = sum_wins(given.labels, choose_class(given.answers), table, topic)
        tested = sums[:, 0, :, 0].sum(axis=0) >= FEWEST_ITEMS
        kept = sums[:, :, tested]
        drawn = (weights @ kept.reshape(len(kept), -1)).reshape(len(weights), *kept.shape[1:])
        found.append(average_advantage(drawn))
    return np.stack(found, axis=-1)


def _score(name: str, *arrays: np.ndarray) -> np.ndarray:
    """Return the scores of a measure, turned so that higher is better."""
    measure = metaeval.measure(name)
    return measure.score(*arrays) * measure.sign


def find_changes(found: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """Return where two measures contradict each other about two judges: (measure, its better judge, measure, its).

    Parameters
    ----------
    found : DataFrame
        From `Resampled.compare`.

    Returns
    -------
    list of (str, str, str, str)
    """
    sure = found[found["better"] != "cannot tell"]
    changes = []
    for _, pair in sure.groupby(["judge_1", "judge_2"], sort=False):
        rows = list(zip(pair["measure"], pair["better"], strict=True))
        changes += [(*a, *b) for a, b in itertools.combinations(rows, 2) if a[1] != b[1]]
    return changes
