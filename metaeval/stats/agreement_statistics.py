"""The statistics of `agreement`: each is one record, and what several of them need is computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from metaeval.errors import MetaevalError
from metaeval.stats.arrays import IntArray, Scaled
from metaeval.stats.clusters import pool_clusters
from metaeval.stats.intervals import CROSSED_TRIALS, vary_runs
from metaeval.stats.pearson import StandardCells, resample_topic_pearson, swap_cells, topic_pearson
from metaeval.stats.run_agreement import (
    HEAD_WEIGHTED,
    ResampledMeans,
    RunStatistic,
    run_statistics,
    settle_ties,
    swap_runs,
)
from metaeval.stats.soft_accuracy import (
    flip_p_values,
    normal_p_values,
    resample_soft_accuracy,
    soft_accuracy,
    swap_cells_softly,
)
from metaeval.stats.tie_accuracy import TieAccuracy, resample_tie_accuracy, tie_accuracy
from metaeval.stats.topic_correlation import TopicCorrelation, correlate_by_topic
from metaeval.stats.weighted_correlation import DEPTH

Pair = tuple[np.ndarray, np.ndarray]

MOST_SPLITS = 50
"""Splits of annotators into halves that are tried: all, or as many random ones."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Measures beside their reference in one collection, and what several statistics need of them.

    `scores` has shape (run, topic, measure + 1) with runs and topics in the order of their labels; higher is better, and
    the last measure is the reference. `run_scores`, of shape (run, measure + 1), are those of whole runs. `key` gives the
    key of the random draws for a purpose, and `statistics` are those that are asked for. `clusters`, shape (topic,), number
    the cluster of each topic, by which topics are drawn. `given`, shape (measure + 1,), says whose run scores are not means
    over topics, so that topics drawn anew do not tell how they vary.
    """

    scores: Scaled
    run_scores: np.ndarray
    key: Callable[[str], int]
    n_permutations: int
    n_bootstrap: int
    statistics: tuple[Statistic, ...]
    n_flips: int | None = None  # by default as many as permutations
    clusters: IntArray | None = None
    given: np.ndarray | None = None
    _of_runs: dict[int | None, RunComparison] = field(default_factory=dict)

    @property
    def n_pairs(self) -> int:
        """Pairs of runs."""
        n_runs = self.scores.shape[0]
        return n_runs * (n_runs - 1) // 2

    def compare_runs(self, first: int | None) -> RunComparison:
        """Return the statistics of whole runs, all of them or the first ones."""
        if first not in self._of_runs:
            self._of_runs[first] = RunComparison(self, first)
        return self._of_runs[first]

    @cached_property
    def means(self) -> ResampledMeans:
        """Means of runs on resampled topics."""
        return ResampledMeans(self.units, self.key("topics"), self.n_bootstrap)

    @cached_property
    def units(self) -> Scaled:
        """What is drawn: topics, or clusters of them."""
        return self._pool(sums=False)

    @cached_property
    def flipped(self) -> Scaled:
        """What has its sign flipped: topics, or clusters of them."""
        return self._pool(sums=True)

    def _pool(self, *, sums: bool) -> Scaled:
        if self.clusters is None:
            return self.scores
        return Scaled(pool_clusters(self.scores.values, self.clusters, sums=sums))

    @cached_property
    def cells(self) -> StandardCells:
        """Standardised scores of all cells."""
        return StandardCells(self.scores)

    @cached_property
    def flips(self) -> np.ndarray:
        """One-sided p-values of flips, shape (measure + 1, run pair)."""
        return flip_p_values(self.flipped, self.key("flips"), self.n_flips or self.n_permutations)

    @cached_property
    def by_topic(self) -> dict[RunStatistic, TopicCorrelation]:
        """Correlation with the reference on every topic; τ_b always, as it says which topics disagree."""
        others = {each.of_topics for each in self.statistics if each.of_topics} - {"tau_b"}
        return correlate_by_topic(self.scores, ["tau_b", *sorted(others)], self.clusters)

    def leave_out(self, run: int) -> Sides:
        """Return the same without a run, for values and a few resamples of the topics."""
        few = min(self.n_bootstrap, CROSSED_TRIALS)
        return self._replace(self.scores.without(run), np.delete(self.run_scores, run, axis=0), few)

    def _replace(self, scores: Scaled, run_scores: np.ndarray, n_bootstrap: int = 0) -> Sides:
        flips = self.n_flips or self.n_permutations
        return Sides(scores, run_scores, self.key, 0, n_bootstrap, self.statistics, flips, self.clusters)

    def hold_against(self, reference: np.ndarray, measure: np.ndarray) -> Sides:
        """Return another measure beside another reference, both of shape (run, topic), for values alone."""
        values = np.stack([measure, reference], axis=-1)
        return self._replace(Scaled(values), values.mean(axis=1))

    @cached_property
    def limits(self) -> np.ndarray:
        """The same by the normal distribution that flips tend to."""
        return normal_p_values(self.flipped)

    @cached_property
    def ties(self) -> TieAccuracy:
        """acc-t over pairs of runs on each topic."""
        return tie_accuracy(self.scores, self.key("pairs"), self.n_permutations, self.clusters)


class RunComparison:
    """Statistics of the runs that the reference puts first, all that are asked for at once."""

    def __init__(self, sides: Sides, first: int | None) -> None:
        which = [each.run_statistic for each in sides.statistics if each.run_statistic and each.first == first]
        self._sides, self._which = sides, which
        settled = settle_ties(sides.run_scores)
        # In the order of labels; of tied runs those that come first there.
        runs = np.sort(np.argsort(-settled[:, -1], kind="stable")[:first])
        self._runs, self.n_runs, self.n_pairs = runs, len(runs), len(runs) * (len(runs) - 1) // 2
        # Rounded scores decide ties; Pearson's r and the gaps of τ_GAP are of the scores themselves.
        self.value = run_statistics(settled[runs, :-1].T, settled[runs, -1], which)
        exact = run_statistics(sides.run_scores[runs, :-1].T, sides.run_scores[runs, -1], which)
        self.value |= {name: exact[name] for name in which if name in ("pearson", "tau_gap")}
        if sides.n_bootstrap:
            self.drawn, self.ceiling = sides.means.compare(which, runs)
        run, other = np.triu_indices(self.n_runs, 1)
        self.tied = float((settled[runs[run], -1] == settled[runs[other], -1]).mean())

    @cached_property
    def swapped(self) -> tuple[dict[RunStatistic, np.ndarray], dict[RunStatistic, np.ndarray]]:
        """What exchanges are compared with, and the differences after each exchange."""
        *measures, reference = self._sides.run_scores.T
        key, n_trials = self._sides.key("runs"), self._sides.n_permutations
        return swap_runs(np.array(measures).T, reference, self._which, key, n_trials, runs=self._runs)


@dataclass(frozen=True)
class Statistic:
    """One way to say how well measures agree with a reference.

    `value` gives an array of shape (measure,). `exchange` gives what exchanges are compared with, of shape (measure,), and
    the differences of every two measures after each exchange, of shape (trial, measure pair). `resample` gives the value
    on topics drawn anew, of shape (trial, measure), and what the reference reaches there, NaN where that is not defined.
    `chance` is what a measure reaches that knows nothing, and `step` the smallest step between two values. A share lies
    between 0 and 1, any other statistic is a correlation.
    """

    name: str
    title: str
    value: Callable[[Sides], np.ndarray]
    exchange: Callable[[Sides], Pair]
    resample: Callable[[Sides], tuple[np.ndarray, float]]
    chance: Callable[[Sides], float] = lambda _: 0.0
    step: Callable[[Sides], float] = lambda _: 0.0
    share: bool = False
    run_statistic: RunStatistic | None = None
    first: int | None = None
    of_topics: RunStatistic | None = None

    def estimate(self, sides: Sides, without: Sequence[Sides] = (), rng: np.random.Generator | None = None) -> Estimate:
        """Compute the statistic in one collection; for other runs too where it is given without each of them."""
        n_measures = sides.scores.shape[2] - 1
        drawn, ceiling = self.resample(sides) if sides.n_bootstrap else (np.empty((0, n_measures)), float("nan"))
        if without and rng is not None and len(drawn):
            left_out, crossed = (np.array([give(each) for each in without]) for give in (self.value, self._resample))
            drawn = vary_runs(drawn, left_out, crossed, rng)
        n_pairs = sides.n_pairs if self.first is None else self.first * (self.first - 1) // 2
        if self.run_statistic and sides.given is not None:
            drawn = np.where(sides.given[:-1] | sides.given[-1], np.nan, drawn)
            ceiling = np.nan if sides.given[-1] else ceiling
        observed, exchanged = self.exchange(sides)
        return Estimate(
            self.value(sides), observed, exchanged, drawn, ceiling, self.chance(sides), self.step(sides), n_pairs
        )

    def _resample(self, sides: Sides) -> np.ndarray:
        return self.resample(sides)[0]


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a `Statistic` came to in one collection, or in several; `n_pairs` pairs of runs count.

    `halves` is what half of the annotators reach against the other half, NaN of a reference that is no mean of some.
    """

    value: np.ndarray
    observed: np.ndarray
    exchanged: np.ndarray
    drawn: np.ndarray
    ceiling: float
    chance: float
    step: float
    n_pairs: int
    halves: float = float("nan")


def compare_halves(
    statistics: Sequence[Statistic], sides: Sides, people: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return what half of the annotators, scores of shape (run, topic, annotator), reach against the other half."""
    halves = []
    for one, other in split_annotators(people.shape[2], rng):
        half = sides.hold_against(people[..., one].mean(axis=-1), people[..., other].mean(axis=-1))
        halves.append([statistic.value(half)[0] for statistic in statistics])
    return np.mean(halves, axis=0)


def split_annotators(n_annotators: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield annotators in two halves, or nearly: every way to do so, or a random choice of ways.

    >>> [(one.tolist(), other.tolist()) for one, other in split_annotators(3, np.random.default_rng(0))]
    [([0], [1, 2]), ([1], [0, 2]), ([2], [0, 1])]
    """
    everyone, half = np.arange(n_annotators), n_annotators // 2
    if comb(n_annotators, half) <= 2 * MOST_SPLITS:
        halves = [np.array(some) for some in combinations(range(n_annotators), half)]
        if 2 * half == n_annotators:  # each split comes twice
            halves = halves[: len(halves) // 2]
    else:
        halves = [np.sort(rng.permutation(n_annotators)[:half]) for _ in range(MOST_SPLITS)]
    for some in halves:
        yield some, np.setdiff1d(everyone, some)


def _of_runs(name: RunStatistic, title: str, step: Callable[[int], float], first: int | None = None) -> Statistic:
    """Return a statistic of whole runs, all of them or the first ones."""
    share = name == "pairwise_accuracy"

    def exchange(sides: Sides) -> Pair:
        runs = sides.compare_runs(first)
        observed, exchanged = runs.swapped
        return observed[name], exchanged[name]

    def resample(sides: Sides) -> tuple[np.ndarray, float]:
        runs = sides.compare_runs(first)
        return runs.drawn[name], runs.ceiling[name]

    return Statistic(
        name if first is None else f"{name}@{first}",
        title if first is None else f"{title.removesuffix(', runs')}, first {first} runs",
        lambda sides: sides.compare_runs(first).value[name],
        exchange,
        resample,
        # A measure that ranks at random, without ties.
        (lambda sides: (1 - sides.compare_runs(first).tied) / 2) if share else (lambda _: 0.0),
        lambda sides: step(sides.compare_runs(first).n_runs),
        share,
        name,
        first,
    )


def _exchange_softly(sides: Sides) -> Pair:
    # Exchanges have p-values by the normal limit of the flips; so has what they are compared with, without flips' noise.
    *measures, reference = sides.limits
    exchanged = swap_cells_softly(
        sides.scores, sides.cells, reference, sides.key("cells"), sides.n_permutations, sides.clusters
    )
    return soft_accuracy(np.array(measures), reference), exchanged


def _guess_softly(sides: Sides) -> float:
    # The mean distance between p and a number drawn evenly from 0 to 1 is p² − p + ½.
    p = sides.flips[-1]
    return float(1 - (p**2 - p + 0.5).mean())


def _correlate_cells(sides: Sides) -> np.ndarray:
    return topic_pearson(sides.scores, sides.cells)


def _exchange_cells(sides: Sides) -> Pair:
    exchanged = swap_cells(sides.scores, sides.cells, sides.key("cells"), sides.n_permutations, sides.clusters)
    return _correlate_cells(sides), exchanged


def _of_topics(of: RunStatistic, title: str) -> Statistic:
    """Return the mean over topics of a correlation of runs' scores on one topic."""
    return Statistic(
        f"topic_{of}",
        title,
        lambda sides: sides.by_topic[of].mean(),
        lambda sides: (
            sides.by_topic[of].mean(),
            sides.by_topic[of].exchange(sides.key("swaps"), sides.n_permutations),
        ),
        lambda sides: (sides.by_topic[of].resample(sides.key("topics"), sides.n_bootstrap), float("nan")),
        of_topics=of,
    )


def _resample_ties(sides: Sides) -> tuple[np.ndarray, float]:
    # With ε held on other topics: its best value moves acc-t only in second order.
    drawn = resample_tie_accuracy(sides.ties.by_topic, sides.key("topics"), sides.n_bootstrap, sides.clusters)
    return drawn, float("nan")


def _guess_ties(sides: Sides) -> float:
    # Without knowledge, all pairs are called tied, or none and half of the others are right.
    return max(sides.ties.tied, (1 - sides.ties.tied) / 2)


# Those that weigh the head have smaller steps, too; as much as a pair weighs on average is what an end may be off by.
_OF_PAIRS: Callable[[int], float] = lambda n: 4 / (n * (n - 1))  # noqa: E731

_RUN_STATISTICS: dict[RunStatistic, tuple[str, Callable[[int], float]]] = {
    "pairwise_accuracy": ("pairwise accuracy", lambda n: 2 / (n * (n - 1))),
    "pearson": ("Pearson, runs", lambda _: 0.0),
    "spearman": ("Spearman, runs", lambda n: 12 / (n**3 - n)),
    "tau_a": ("τ_a, runs", _OF_PAIRS),
    "tau_b": ("τ_b, runs", _OF_PAIRS),
    "tau_ap_b": ("τ_AP,b, runs", _OF_PAIRS),
    "tau_gap": ("τ_GAP, runs", _OF_PAIRS),
}

_RECORDS = (
    *(_of_runs(name, *_RUN_STATISTICS[name]) for name in _RUN_STATISTICS),
    Statistic(
        "spa",
        "soft pairwise accuracy",
        lambda sides: soft_accuracy(sides.flips[:-1], sides.flips[-1]),
        _exchange_softly,
        lambda sides: resample_soft_accuracy(sides.flipped, sides.limits[-1], sides.key("topics"), sides.n_bootstrap),
        _guess_softly,
        share=True,
    ),
    Statistic(
        "topic_pearson",
        "Pearson, topics",
        _correlate_cells,
        _exchange_cells,
        lambda sides: (
            resample_topic_pearson(sides.scores, sides.cells, sides.key("topics"), sides.n_bootstrap, sides.clusters),
            float("nan"),
        ),
    ),
    _of_topics("tau_b", "τ_b, mean over topics"),
    _of_topics("spearman", "Spearman, mean over topics"),
    Statistic(
        "acc_t",
        "acc-t, topics",
        lambda sides: sides.ties.value,
        lambda sides: (sides.ties.value, sides.ties.exchanged),
        _resample_ties,
        _guess_ties,
        lambda sides: 1 / (sides.n_pairs * sides.scores.shape[1]),
        share=True,
    ),
)

BY_DEFAULT = (
    "pairwise_accuracy", "spa", "pearson", "spearman", "tau_a", "tau_b", "topic_pearson", "topic_tau_b", "topic_spearman",
    "acc_t",
)  # fmt: skip
"""The statistics that are computed unless others are asked for."""

STATISTICS = {
    name: next(record for record in _RECORDS if record.name == name) for name in (*BY_DEFAULT, *HEAD_WEIGHTED)
}
"""All statistics by name, in the order in which they are listed."""


def parse_statistic(text: str) -> Statistic:
    """Return the statistic of a name such as ``tau_b``, or of the first runs, such as ``tau_b@15``."""
    name, at, first = text.partition("@")
    if name not in STATISTICS:
        raise MetaevalError(f"there is no statistic {text!r}: use {', '.join(STATISTICS)}, or one of runs as tau_b@15")
    if not at:
        return STATISTICS[name]
    if name not in _RUN_STATISTICS or not DEPTH.fullmatch(first):
        of_runs = [each.name for each in STATISTICS.values() if each.run_statistic]
        raise MetaevalError(f"there is no statistic {text!r}: {', '.join(of_runs)} have a form such as tau_b@15")
    return _of_runs(name, *_RUN_STATISTICS[name], int(first))
