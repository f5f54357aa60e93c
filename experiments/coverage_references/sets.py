"""Coverage of some measures under every reference set, on all topics and on resampled ones, and its differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import metaeval
from metaeval.analyses.label_order import sort_labels
from metaeval.measures.base import find_signs
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.resampling import resampled_topics
from metaeval.stats.scale import round_scaled
from metaeval.stats.streams import stream_key
from metaeval.stats.uir import all_subsets, coverage_of_sets, signed_ranks

TRIALS_AT_ONCE = 20


@dataclass(frozen=True)
class SetCoverage:
    """Coverage of the target measures under every reference set.

    Parameters
    ----------
    targets, candidates : tuple of str
    members : ndarray of bool, shape (set, candidate)
        Small sets first.
    coverage : ndarray, shape (set, target)
    resampled : ndarray, shape (trial, set, target)
        On resampled topics, the same for all sets; no trial where there is no interval.
    n_topics : int
    no_interval : str
        Why there is none.
    """

    targets: tuple[str, ...]
    candidates: tuple[str, ...]
    members: np.ndarray
    coverage: np.ndarray
    resampled: np.ndarray
    n_topics: int
    no_interval: str

    def name_sets(self) -> list[str]:
        """Return what each set is called."""
        names = np.array(self.candidates, dtype=object)
        return [" + ".join(names[inside]) for inside in self.members]

    def compare(self, first: str, second: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the first's coverage less the second's, and both ends of its interval, each of shape (set,)."""
        gap, gaps = (self._subtract(values, first, second) for values in (self.coverage, self.resampled))
        return self._find_ends(gap, gaps)

    def compare_mean(self, first: str, second: str, among: np.ndarray | None = None) -> tuple[float, float, float]:
        """Return the mean difference over sets, all or some, with its interval over topics."""
        chosen = slice(None) if among is None else among
        gap, gaps = (
            self._subtract(values, first, second)[..., chosen].mean(axis=-1)
            for values in (self.coverage, self.resampled)
        )
        middle, low, high = self._find_ends(gap, gaps)
        return float(middle), float(low), float(high)

    def _subtract(self, values: np.ndarray, first: str, second: str) -> np.ndarray:
        found: np.ndarray = values[..., self.targets.index(first)] - values[..., self.targets.index(second)]
        return found

    def _find_ends(self, gap: np.ndarray, gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # As in metaeval.Coverage: a difference of two numbers from −1 to 1, halved to be one of them.
        low, high = centre_interval(gap / 2, gaps / 2, self.n_topics)
        return gap, 2 * low, 2 * high


def cover_sets(
    scores: metaeval.Scores,
    targets: Sequence[str],
    candidates: Sequence[str],
    *,
    smallest: int,
    n_bootstrap: int,
    seed: int,
) -> SetCoverage:
    """Compute the coverage of measures under every set of reference measures.

    The numbers are those of `metaeval.coverage` with the same seed, set by set; here the resampled differences of runs
    are ranked once for all sets, and counts of topics are ranked by counting.

    Parameters
    ----------
    scores : Scores
        With all targets and candidates.
    targets, candidates : sequence of str
    smallest : int
        Measures in a set.
    n_bootstrap : int
    seed : int

    Returns
    -------
    SetCoverage
    """
    order = sort_labels(scores, signs=find_signs(scores.measures))
    place = {str(one): column for one, column in zip(scores.measures, order.measures, strict=True)}
    values, base = (order.values[..., [place[name] for name in names]] for names in (targets, candidates))
    members = all_subsets(len(candidates))
    members = members[members.sum(axis=1) >= smallest]
    members = members[np.argsort(members.sum(axis=1), kind="stable")]
    n_runs, n_topics = values.shape[:2]
    no_interval = explain_no_interval(n_runs, n_topics)
    n_trials = 0 if no_interval else n_bootstrap
    weights = resampled_topics(stream_key(seed, scores.collection, "coverage"), np.arange(n_trials), n_topics)
    resampled = np.empty((n_trials, len(members), len(targets)))
    improved = find_improvements(base, members)
    for begin in range(0, n_trials, TRIALS_AT_ONCE):
        part = slice(begin, begin + TRIALS_AT_ONCE)
        resampled[part] = _cover_resampled(values, improved, weights[part])
    return SetCoverage(
        tuple(targets), tuple(candidates), members, coverage_of_sets(values, base, members), resampled, n_topics,
        no_interval,
    )  # fmt: skip


def find_improvements(base: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Tell on which topics one run of a pair is at least as good as the other under all measures of a set.

    Parameters
    ----------
    base : ndarray, shape (run, topic, candidate)
        Higher is better.
    members : ndarray of bool, shape (set, candidate)

    Returns
    -------
    ndarray of float64, shape (set, pair, topic)
        1 where the first is, −1 where the second is, 0 where neither or both are.
    """
    first, second = np.triu_indices(len(base), 1)
    gap = round_scaled(base[first] - base[second])
    better, worse = gap >= 0, gap <= 0
    found = np.empty((len(members), *gap.shape[:2]))
    for place, inside in enumerate(members):
        found[place] = better[..., inside].all(axis=-1).astype(float) - worse[..., inside].all(axis=-1)
    return found


def _cover_resampled(values: np.ndarray, improved: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the coverage on some resampled topics, shape (trial, set, target)."""
    n_topics = values.shape[1]
    first, second = np.triu_indices(len(values), 1)
    counted = weights.astype(np.float64)
    means = np.einsum("bt,rtm->bmr", counted, values, optimize=True) / n_topics
    ours = signed_ranks(round_scaled(means[..., first] - means[..., second]))  # trial × target × pair
    counts = np.rint(counted @ improved.reshape(-1, n_topics).T).reshape(len(weights), *improved.shape[:2])
    theirs = rank_counts(counts.astype(np.int64), n_topics)
    product = theirs @ np.swapaxes(ours, -1, -2)
    lengths = (theirs**2).sum(axis=-1)[..., :, None] * (ours**2).sum(axis=-1)[..., None, :]
    return np.divide(product, np.sqrt(lengths), out=np.full(product.shape, np.nan), where=lengths > 0)


def rank_counts(counts: np.ndarray, most: int) -> np.ndarray:
    """Rank counts together with their negatives, as `metaeval.stats.uir.signed_ranks` does, but without sorting.

    Parameters
    ----------
    counts : ndarray of int, shape (..., pair)
        From −most to most.
    most : int

    Returns
    -------
    ndarray of float64, shape (..., pair)

    Examples
    --------
    >>> rank_counts(np.array([2, -1, 0, 2]), 2)
    array([ 3. , -1.5,  0. ,  3. ])
    """
    size = np.abs(counts).reshape(-1, counts.shape[-1])
    offset = (most + 1) * np.arange(len(size))[:, None]
    equal = np.bincount((size + offset).ravel(), minlength=(most + 1) * len(size)).reshape(len(size), -1)
    rank = np.cumsum(equal, axis=1) - equal / 2
    ranks: np.ndarray = np.sign(counts) * rank.ravel()[size + offset].reshape(counts.shape)
    return ranks
