"""The statistics of `metaeval.agreement`: how measures agree with a reference, how that varies, and by chance.

A statistic is one record, and what several of them need is computed once, by `Sides`. Those of scores on topics are a function
of how often each topic is drawn: equal weights give the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats import run_agreement, topic_agreement
from metaeval.stats.arrays import FloatArray, IntArray, divide, round_scaled, scale_scores
from metaeval.stats.intervals import CROSSED_TRIALS, Ends, centre_interval, judge_difference, pool, vary_runs
from metaeval.stats.letters import find_clusters, swap_p_values
from metaeval.stats.resampling import add_by_cluster, pool_clusters, weigh_by_topic
from metaeval.stats.run_agreement import RunStatistic, settle_ties
from metaeval.stats.topic_agreement import soft_accuracy
from metaeval.stats.weighted_correlation import DEPTH

MOST_SPLITS = 50  # of annotators into halves: all are tried, or as many random ones


@dataclass(frozen=True, eq=False)
class Sides:
    """Measures beside their reference in one collection, and what several statistics need of them.

    `scores` has shape (run, topic, measure + 1), at a common scale, in the order of labels; higher is better, and the last
    measure is the reference. `run_scores`, shape (run, measure + 1), are those of whole runs. `key` gives the key of the draws
    for a purpose. `given`, shape (measure + 1,), says whose run scores are no means over topics, which topics drawn anew do not
    move.
    """

    scores: FloatArray
    run_scores: FloatArray
    key: Callable[[str], int]
    n_exchanges: int
    statistics: tuple[Statistic, ...]
    clusters: IntArray | None = None
    given: np.ndarray | None = None
    _of_runs: dict[Any, Any] = field(default_factory=dict, init=False)

    @cached_property
    def flipped(self) -> FloatArray:
        """What has its sign flipped: topics, or clusters of them."""
        return self.scores if self.clusters is None else pool_clusters(self.scores, self.clusters, sums=True)

    @cached_property
    def flips(self) -> FloatArray:
        """One-sided p-values of flips, shape (measure + 1, run pair)."""
        return topic_agreement.flip_p_values(self.flipped, self.key("flips"), self.n_exchanges)

    @cached_property
    def cells(self) -> FloatArray:
        """Standardised scores of all cells, shape (measure + 1, run, topic)."""
        columns = self.scores.transpose(2, 0, 1)
        return run_agreement.standardise(columns.reshape(len(columns), -1)).reshape(columns.shape)

    @cached_property
    def ties(self) -> topic_agreement.TieAccuracy:
        """acc-t over pairs of runs on each topic."""
        return topic_agreement.tie_accuracy(self.scores)

    @cached_property
    def known(self) -> np.ndarray:
        """Whether the reference orders the runs of each topic, shape (topic,)."""
        return np.ptp(round_scaled(self.scores[..., -1]), axis=0) > 0

    @cached_property
    def by_topic(self) -> dict[RunStatistic, FloatArray]:
        """Correlation with the reference on every topic, shape (measure, topic); τ_b always: it says which topics disagree."""
        others = {each.kind for each in self.statistics if each.of == "topics"} - {"tau_b"}
        return topic_agreement.correlate_topics(self.scores, ["tau_b", *sorted(others)])

    @cached_property
    def without(self) -> list[Sides]:
        """The same without each of the runs."""
        others = [np.arange(len(self.scores)) != run for run in range(len(self.scores))]
        return [
            replace(self, scores=scale_scores(self.scores[some]), run_scores=self.run_scores[some]) for some in others
        ]

    def weigh(self, n_trials: int, *columns: FloatArray) -> list[FloatArray]:
        """Return sums over topics drawn anew, shape (trial, column); with no trials, one over the topics as they are."""
        if not n_trials:
            return [column.sum(axis=1)[np.newaxis] for column in columns]
        n_topics = self.scores.shape[1]
        return weigh_by_topic(self.key("topics"), n_trials, n_topics, *columns, divisor=1, clusters=self.clusters)

    def choose_runs(self, first: int | None) -> IntArray:
        """Return the runs that the reference puts first, in the order of labels; of tied runs those that come first there."""
        return np.sort(np.argsort(-settle_ties(self.run_scores)[:, -1], kind="stable")[:first])

    def of_runs(self, what: Literal["values", "samples", "exchanges"], first: int | None, n_trials: int = 0) -> Any:
        """Return what is asked for of all statistics of the same runs, whose signs of pairs serve all."""
        if (what, first, n_trials) in self._of_runs:
            return self._of_runs[what, first, n_trials]
        runs = self.choose_runs(first)
        which = [each.kind for each in self.statistics if each.of == "runs" and each.first == first]
        if what == "values":
            result: Any = run_agreement.compare_runs(self.run_scores[runs], which)
        elif what == "exchanges":
            result = run_agreement.swap_runs(self.run_scores, runs, which, self.key("runs"), n_trials)
        else:
            units = self.scores if self.clusters is None else pool_clusters(self.scores, self.clusters)
            result = run_agreement.resample_runs(scale_scores(units[runs]), which, self.key("topics"), n_trials)
        self._of_runs[what, first, n_trials] = result
        return result


class Estimate(NamedTuple):
    """What a statistic came to in one collection; `n_pairs` pairs of runs count, and two values differ by `step` at least.

    `value` and `observed`, with which exchanges are compared, have shape (measure,), `exchanged` (trial, measure pair), and
    `drawn`, on topics drawn anew, (trial, measure). A measure that knows nothing reaches `chance`, the reference on other
    topics `ceiling`, and half of the annotators `halves` against the other half.
    """

    value: FloatArray
    observed: FloatArray
    exchanged: FloatArray
    drawn: FloatArray
    ceiling: float
    chance: float
    step: float
    n_pairs: int
    halves: float = float("nan")


@dataclass(frozen=True)
class Statistic:
    """One way to say how well measures agree with a reference: what it is of, and by which kind of correlation."""

    name: str
    title: str
    of: Literal["runs", "certainty", "cells", "topics", "pairs"]
    kind: RunStatistic = "pearson"
    first: int | None = None

    def compute(self, sides: Sides, n_trials: int = 0) -> tuple[FloatArray, float]:
        """Return the statistic on topics drawn anew, or as they are, (trial, measure), and what the reference reaches."""
        if self.of == "runs" and n_trials:
            drawn, ceilings = sides.of_runs("samples", self.first, n_trials)
            return drawn[self.kind], ceilings[self.kind]
        if self.of == "runs":
            return sides.of_runs("values", self.first)[self.kind][np.newaxis], np.nan
        if self.of == "certainty" and n_trials:
            return topic_agreement.resample_softly(sides.flipped, sides.key("topics"), n_trials)
        if self.of == "certainty":
            return soft_accuracy(sides.flips[:-1], sides.flips[-1])[np.newaxis], np.nan
        if self.of == "cells":
            z = sides.cells
            sums = sides.weigh(n_trials, *(each.sum(axis=1) for each in (z, z**2, z * z[-1])))
            x, xx, xy = (each / z[0].size for each in sums)
            spread = np.maximum(xx - x**2, 0)
            r = divide((xy - x * x[:, -1:])[:, :-1], np.sqrt(spread[:, :-1] * spread[:, -1:]))
            return np.clip(r, -1, 1), np.nan
        if self.of == "topics":
            total, count = sides.weigh(n_trials, self._count(sides), sides.known[np.newaxis].astype(float))
            return divide(total, count), np.nan
        if n_trials:  # with ε held on other topics: its best value moves acc-t only in second order
            return sides.weigh(n_trials, sides.ties.by_topic)[0] / sides.scores.shape[1], np.nan
        return sides.ties.value[np.newaxis], np.nan

    def _count(self, sides: Sides) -> FloatArray:
        """Return what each topic adds to the summary-level correlation of Deutsch, Dror and Roth (TACL 2021), (measure, topic).

        It is 0 where a measure ties all runs, so that all are averaged over the topics on which the reference orders runs.
        """
        return np.where(sides.known, np.nan_to_num(sides.by_topic[self.kind]), 0.0)

    def exchange(self, sides: Sides, value: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what exchanges are compared with, (measure,), and the differences after them, (trial, measure pair)."""
        n_trials, clusters = sides.n_exchanges, sides.clusters
        if self.of == "runs":
            observed, exchanged = sides.of_runs("exchanges", self.first, n_trials)
            return observed[self.kind], exchanged[self.kind]
        if self.of == "certainty":  # by the normal limit of the flips, without their noise
            *measures, reference = topic_agreement.normal_p_values(sides.flipped)
            cells, key = sides.cells[:-1], sides.key("cells")
            exchanged = topic_agreement.swap_softly(cells, reference, key, n_trials, clusters)
            return soft_accuracy(np.array(measures), reference), exchanged
        if self.of == "cells":
            return value, topic_agreement.swap_cells(sides.cells, sides.key("cells"), n_trials, clusters)
        if self.of == "topics":
            columns = add_by_cluster(self._count(sides), clusters).T
            exchanged = topic_agreement.swap_signs(columns, sides.key("swaps"), n_trials)
            return value, exchanged / max(1, int(sides.known.sum()))
        threshold, key = sides.ties.threshold, sides.key("pairs")
        return value, topic_agreement.swap_ties(sides.scores, threshold, key, n_trials, clusters)

    def estimate(self, sides: Sides, n_bootstrap: int, other_runs: np.random.Generator | None = None) -> Estimate:
        """Compute the statistic in one collection; with random numbers for that, intervals are of other runs too."""
        (value,), _ = self.compute(sides)
        drawn, ceiling = self.compute(sides, n_bootstrap) if n_bootstrap else (np.empty((0, len(value))), np.nan)
        if other_runs is not None and n_bootstrap:
            few = min(n_bootstrap, CROSSED_TRIALS)
            left_out = np.array([self.compute(each)[0][0] for each in sides.without])
            crossed = np.array([self.compute(each, few)[0] for each in sides.without])
            drawn = vary_runs(drawn, left_out, crossed, other_runs)
        if self.of == "runs" and sides.given is not None:
            drawn = np.where(sides.given[:-1] | sides.given[-1], np.nan, drawn)
            ceiling = np.nan if sides.given[-1] else ceiling
        n_runs = self.first or len(sides.scores)
        n_pairs = n_runs * (n_runs - 1) // 2
        chance, step = 0.0, 0.0
        if self.kind == "pairwise_accuracy":  # of a measure that ranks at random, without ties
            gold = settle_ties(sides.run_scores)[sides.choose_runs(self.first), -1]
            run, other = np.triu_indices(len(gold), 1)
            chance, step = (1 - float((gold[run] == gold[other]).mean())) / 2, 1 / n_pairs
        elif self.of == "certainty":
            # The mean distance between p and a number drawn evenly from 0 to 1 is p² − p + ½.
            p = sides.flips[-1]
            chance = float(1 - (p**2 - p + 0.5).mean())
        elif self.of == "pairs":
            # Without knowledge, all pairs are called tied, or none and half of the others are right.
            chance, step = max(sides.ties.tied, (1 - sides.ties.tied) / 2), 1 / (n_pairs * sides.scores.shape[1])
        elif self.of == "runs" and self.kind != "pearson":
            # Those that weigh the head have smaller steps, too: an end may be off by as much as a pair weighs on average.
            step = 12 / (n_runs**3 - n_runs) if self.kind == "spearman" else 2 / n_pairs
        return Estimate(value, *self.exchange(sides, value), drawn, ceiling, chance, step, n_pairs)


def compare_halves(
    statistics: Sequence[Statistic], sides: Sides, people: np.ndarray, rng: np.random.Generator
) -> FloatArray:
    """Return what half of the annotators, (run, topic, annotator), reach against the other half: a mean over splits."""
    n_annotators, half = people.shape[2], people.shape[2] // 2
    if comb(n_annotators, half) <= 2 * MOST_SPLITS:
        halves = [list(some) for some in combinations(range(n_annotators), half)]
        if 2 * half == n_annotators:  # each split comes twice
            halves = halves[: len(halves) // 2]
    else:
        halves = [rng.permutation(n_annotators)[:half].tolist() for _ in range(MOST_SPLITS)]
    values = []
    for some in halves:
        chosen = np.isin(np.arange(n_annotators), some)
        means = [people[..., each].mean(axis=-1) for each in (~chosen, chosen)]
        scores = scale_scores(np.stack(means, axis=-1))
        beside = replace(sides, scores=scores, run_scores=scores.mean(axis=1))
        values.append([statistic.compute(beside)[0][0, 0] for statistic in statistics])
    return np.mean(values, axis=0)


STATISTICS = {
    record.name: record
    for record in (
        Statistic("pairwise_accuracy", "pairwise accuracy", "runs", "pairwise_accuracy"),
        Statistic("spa", "soft pairwise accuracy", "certainty"),
        Statistic("pearson", "Pearson, runs", "runs"),
        Statistic("spearman", "Spearman, runs", "runs", "spearman"),
        Statistic("tau_a", "τ_a, runs", "runs", "tau_a"),
        Statistic("tau_b", "τ_b, runs", "runs", "tau_b"),
        Statistic("topic_pearson", "Pearson, topics", "cells"),
        Statistic("topic_tau_b", "τ_b, mean over topics", "topics", "tau_b"),
        Statistic("topic_spearman", "Spearman, mean over topics", "topics", "spearman"),
        Statistic("acc_t", "acc-t, topics", "pairs"),
        Statistic("tau_ap_b", "τ_AP,b, runs", "runs", "tau_ap_b"),
        Statistic("tau_gap", "τ_GAP, runs", "runs", "tau_gap"),
    )
}
"""All statistics by name, in the order in which they are listed."""

BY_DEFAULT = tuple(STATISTICS)[:-2]
"""The statistics that are computed unless others are asked for: all but those that weigh the head of the ranking."""


def parse_statistic(text: str) -> Statistic:
    """Return the statistic of a name such as ``tau_b``, or of the first runs, such as ``tau_b@15``."""
    name, at, first = text.partition("@")
    if name not in STATISTICS:
        raise MetaevalError(f"there is no statistic {text!r}: use {', '.join(STATISTICS)}, or one of runs as tau_b@15")
    record = STATISTICS[name]
    if not at:
        return record
    if record.of != "runs" or not DEPTH.fullmatch(first):
        of_runs = [each.name for each in STATISTICS.values() if each.of == "runs"]
        raise MetaevalError(f"there is no statistic {text!r}: {', '.join(of_runs)} have a form such as tau_b@15")
    title = f"{record.title.removesuffix(', runs')}, first {first} runs"
    return replace(record, name=text, title=title, first=int(first))


@dataclass(frozen=True, eq=False)
class StatisticAgreement:
    """How measures agree with a reference by one statistic, pooled over collections; what there is not is NaN.

    `values`, `low`, `high` and `clusters`, shape (measure,): the value, its interval over topics, and the significance
    cluster by the exchange tests, from 1. `observed` is what exchanges are compared with: `values`, but for rounding and the
    noise of the flips of spa. A measure that knows nothing reaches `chance`, the reference on topics drawn anew `ceiling`, and
    half of the annotators `halves` against the others. ``p_values[i, j]``, one-sided: how often exchanging measures i and j at
    random gives i as large a lead, by `exchanged`, shape (trial, measure pair). `gap_ends`, shape (2, measure pair), is the
    interval of the first less the second measure's value, paired, and `conclusions` say whether they agree with the
    reference alike.
    """

    name: str
    title: str
    values: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    chance: float
    ceiling: float
    halves: float
    p_values: FloatArray
    clusters: IntArray
    exchanged: FloatArray
    gap_ends: FloatArray
    conclusions: tuple[str, ...]

    @property
    def better(self) -> FloatArray:
        """Whether measure i is better than measure j by the interval of their difference, shape (i, j)."""
        first, second = np.triu_indices(len(self.values), 1)
        better = np.zeros((len(self.values),) * 2, dtype=bool)
        better[first, second], better[second, first] = self.gap_ends[0] > 0, self.gap_ends[1] < 0
        return better

    @property
    def beaten(self) -> FloatArray:
        """How many measures are better than each, shape (measure,); NaN where that is not known."""
        of_pairs = np.stack(np.triu_indices(len(self.values), 1))[:, np.isfinite(self.gap_ends).all(axis=0)]
        compared = np.bincount(of_pairs.ravel(), minlength=len(self.values)) > 0
        known = ~np.isnan(self.values) & (compared | (len(self.values) == 1))
        return np.where(known, self.better.sum(axis=0), np.nan)

    @property
    def without_signal(self) -> bool:
        """Whether there are intervals, and by them no measure is better than chance."""
        return not np.isnan(self.low).all() and not (self.low > self.chance).any()

    @property
    def above_chance(self) -> npt.NDArray[np.bool_]:
        """Whether each measure is better than chance, by its interval where there is one, shape (measure,)."""
        return np.where(np.isnan(self.low), self.values, self.low) > self.chance

    def rank(self) -> list[int]:
        """Return the measures, best first; those for which the statistic is not defined come last."""
        return np.argsort(-np.nan_to_num(self.values, nan=-2.0), kind="stable").tolist()


def pool_estimates(
    statistic: Statistic,
    estimates: Sequence[Estimate],
    n_topics: int,
    *,
    alpha: float,
    confidence: float,
    margin: float,
) -> StatisticAgreement:
    """Pool one statistic over collections, the smallest of `n_topics`: pairs of runs are added, others averaged."""
    share = np.array([each.n_pairs if statistic.kind == "pairwise_accuracy" else 1.0 for each in estimates])
    n_trials = min(len(each.drawn) for each in estimates)
    columns = zip(*(each._replace(drawn=each.drawn[:n_trials]) for each in estimates), strict=True)
    mean = Estimate._make(pool(list(column), share) for column in columns)
    # A correlation r is a share (r + 1)/2, whose ends next to 1 stay near it; others are shares.
    is_share = statistic.of in ("certainty", "pairs") or statistic.kind == "pairwise_accuracy"
    base, size = (0.0, 1.0) if is_share else (-1.0, 2.0)
    step = float((share / share.sum() * [each.step for each in estimates]).min()) / size
    options: dict[str, Any] = {"step": step, "student": False}
    value, values = ((numbers - base) / size for numbers in (mean.value, mean.drawn))
    low, high = base + size * np.array(
        centre_interval(value, values, n_topics, confidence=confidence, scale="share", **options)
    )
    first, second = np.triu_indices(len(value), 1)
    gap, gaps = ((numbers[..., first] - numbers[..., second]) / size for numbers in (mean.value, mean.drawn))
    # A difference that never moves is at least a step away from the ends.
    options |= {"least": step, "simultaneous": True}
    two_sided, one_sided = (
        size * np.array(centre_interval(gap, gaps, n_topics, confidence=level, **options))
        for level in (confidence, max(2 * confidence - 1, 0.0))
    )
    gap, margin = size * gap, size * margin
    words = judge_difference(Ends(*two_sided), Ends(*one_sided), margin)
    p_values = swap_p_values(mean.observed, mean.exchanged)
    return StatisticAgreement(
        statistic.name, statistic.title, mean.value, mean.observed, low, high,
        float(mean.chance), float(mean.ceiling), float(mean.halves),
        p_values, find_clusters(mean.value, p_values, alpha), mean.exchanged, two_sided, tuple(words),
    )  # fmt: skip
