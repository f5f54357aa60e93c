"""Statistics of agreement pooled over collections, with tests and intervals, and what to know of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from metaeval.errors import format_list, format_option
from metaeval.stats.agreement import Estimate, Statistic
from metaeval.stats.collections import FEWEST_COLLECTIONS, pool, redraw_collections
from metaeval.stats.equivalence import Ends, judge_difference
from metaeval.stats.intervals import centre_interval
from metaeval.stats.letters import find_clusters, swap_p_values
from metaeval.stats.other_runs import Over

ENOUGH_TOPICS = 60
"""With fewer, a result says that intervals of statistics of runs may be too narrow: docs/concepts/agreement.md."""

ERRING_TESTS = ("spa", "pearson", "topic_pearson", "topic_tau_b", "topic_spearman", "acc_t", "tau_ap_b")
"""Statistics whose exchange tests call one of two equally good measures better too often: docs/concepts/agreement.md."""


@dataclass(frozen=True, eq=False)
class StatisticAgreement:
    """How measures agree with a reference by one statistic.

    Parameters
    ----------
    name, title : str
        As users ask for it, and as tables call it.
    values : ndarray, shape (measure,)
        Pooled over collections.
    observed : ndarray, shape (measure,)
        What exchanges are compared with: `values`, but for rounding and for the noise of the flips of spa.
    low, high : ndarray, shape (measure,)
        Ends of the interval over topics, for the same runs; NaN where there is none.
    chance : float
        What a measure reaches that knows nothing.
    ceiling : float
        What the reference reaches on topics drawn anew, compared with itself on all; NaN where that is not defined.
    p_values : ndarray, shape (measure, measure)
        ``p_values[i, j]``, one-sided: how often exchanging measures i and j at random gives i as large a lead.
    clusters : ndarray of int, shape (measure,)
        Significance clusters by the exchange tests, from 1, as the shared task on metrics forms them.
    exchanged : ndarray, shape (trial, measure pair)
        What the p-values rest on: differences of two measures after each exchange.
    gap_ends : ndarray, shape (2, measure pair)
        Low and high end of the interval of the first less the second measure's value, paired; NaN where there is none. Those
        of all pairs hold together, unless single ones were asked for.
    by_collection : ndarray, shape (collection, measure)
    conclusions : tuple of str
        Of every pair of measures, whether they agree with the reference alike (see `metaeval.stats.equivalence`).
    collection_ends : tuple of ndarray
        `low` and `high` where collections might be others, too; NaN with too few.
    collection_gap_ends : ndarray, shape (2, measure pair)
        The same of `gap_ends`.
    halves : float
        What half of the annotators reach against the other half, if the reference is their mean.
    """

    name: str
    title: str
    values: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    chance: float
    ceiling: float
    p_values: np.ndarray
    clusters: np.ndarray
    exchanged: np.ndarray
    gap_ends: np.ndarray
    by_collection: np.ndarray
    conclusions: tuple[str, ...]
    collection_ends: tuple[np.ndarray, np.ndarray]
    collection_gap_ends: np.ndarray
    halves: float

    @property
    def better(self) -> np.ndarray:
        """Whether measure i is better than measure j by the interval of their difference, shape (i, j)."""
        first, second = np.triu_indices(len(self.values), 1)
        better = np.zeros((len(self.values),) * 2, dtype=bool)
        better[first, second] = self.gap_ends[0] > 0
        better[second, first] = self.gap_ends[1] < 0
        return better

    @property
    def beaten(self) -> np.ndarray:
        """How many measures are better than each, shape (measure,); NaN where that is not known."""
        unknown = np.isnan(self.values)
        if len(self.values) > 1:
            first, second = np.triu_indices(len(self.values), 1)
            known = np.isfinite(self.gap_ends).all(axis=0)
            unknown |= np.bincount(np.r_[first[known], second[known]], minlength=len(unknown)) == 0
        return np.where(unknown, np.nan, self.better.sum(axis=0))

    @property
    def without_signal(self) -> bool:
        """Whether there are intervals, and by them no measure is better than chance."""
        return not np.isnan(self.low).all() and not (self.low > self.chance).any()

    @property
    def leading(self) -> np.ndarray:
        """Whether no measure is better, shape (measure,): the best alone where none is better than any, none at chance."""
        best = (self.beaten > 0).any() | (self.values == self.values[self.rank()[0]])
        return (self.beaten == 0) & best & (not self.without_signal)

    def rank(self) -> list[int]:
        """Return the measures, best first; those for which the statistic is not defined come last."""
        return np.argsort(-np.nan_to_num(self.values, nan=-2.0), kind="stable").tolist()

    def write_gaps(self, rows: Sequence[int]) -> list[str]:
        """Return the difference of measures from the best one, with its interval."""
        best = int(np.argmax(np.nan_to_num(self.values, nan=-2.0)))
        ends = np.full((2, *(len(self.values),) * 2), np.nan)
        first, second = np.triu_indices(len(self.values), 1)
        ends[:, first, second] = self.gap_ends
        ends[:, second, first] = -self.gap_ends[::-1]
        gaps = zip(rows, self.values[rows] - self.values[best], write_ends(ends[..., best], rows), strict=True)
        return ["best" if m == best else f"{gap:.3f} ({interval})" for m, gap, interval in gaps]


def write_ends(ends: Sequence[np.ndarray] | np.ndarray, rows: Sequence[int]) -> list[str]:
    """Write the intervals of some measures, or a dash where there is none."""
    low, high = ends
    return ["–" if np.isnan(low[m]) else f"{low[m]:.3f} – {high[m]:.3f}" for m in rows]


class Options(NamedTuple):
    """Of tests, intervals and conclusions, as `metaeval.agreement` takes them."""

    alpha: float
    confidence: float
    simultaneous: bool
    margin: float
    over: Over = "topics"


def pool_estimates(
    statistic: Statistic,
    estimates: Sequence[Estimate],
    weights: np.ndarray,
    n_topics: int,
    options: Options,
    rng: np.random.Generator,
) -> StatisticAgreement:
    """Pool one statistic over collections, with weights of shape (collection,): pairs of runs are added, others averaged.

    Intervals are for `n_topics`, of the smallest collection, and there are some only if every collection was resampled.
    """
    share = weights * [each.n_pairs if statistic.kind == "pairwise_accuracy" else 1 for each in estimates]
    by_collection = np.array([each.value for each in estimates])

    def mix(name: str) -> Any:
        return pool([getattr(each, name) for each in estimates], share)

    value, exchanged = mix("value"), mix("exchanged")
    n_trials = min(len(each.drawn) for each in estimates)
    drawn = [each.drawn[:n_trials] for each in estimates]
    # A correlation r is a share (r + 1)/2, whose ends next to 1 stay near it.
    base, size = (0.0, 1.0) if statistic.share else (-1.0, 2.0)
    step = float((share / share.sum() * [each.step for each in estimates]).min())
    reach = _Reach(base, size, step, options)
    of_topics = pool(drawn, share)
    elsewhere = np.empty((0, len(value)))
    if len(estimates) >= FEWEST_COLLECTIONS and n_trials:
        elsewhere = redraw_collections(drawn, share, rng)
    p_values = swap_p_values(mix("observed"), exchanged)
    gap_ends, words = reach.judge(value, of_topics, n_topics)
    return StatisticAgreement(
        statistic.name,
        statistic.title,
        value,
        mix("observed"),
        *reach.find_ends(value, of_topics, n_topics),
        float(mix("chance")),
        float(mix("ceiling")),
        p_values,
        find_clusters(value, p_values, options.alpha),
        exchanged,
        gap_ends,
        by_collection,
        words,
        reach.find_ends(value, elsewhere, max(len(estimates), 2), student=True),
        reach.find_gap_ends(value, elsewhere, max(len(estimates), 2), options.confidence, student=True),
        float(mix("halves")),
    )


class _Reach(NamedTuple):
    """Makes intervals of a statistic that lies from `base` to `base` + `size`, in steps."""

    base: float
    size: float
    step: float
    options: Options

    def find_ends(
        self, value: np.ndarray, drawn: np.ndarray, n: int, *, student: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends for every measure, from the spread of `n` topics, or collections, drawn anew."""
        ends = centre_interval(
            (value - self.base) / self.size, (drawn - self.base) / self.size, n, confidence=self.options.confidence,
            scale="share", step=self.step / self.size, student=student,
        )  # fmt: skip
        return self.base + self.size * ends[0], self.base + self.size * ends[1]

    def find_gap_ends(
        self, value: np.ndarray, drawn: np.ndarray, n: int, confidence: float, *, student: bool = False
    ) -> np.ndarray:
        """Return the same for the difference of every two measures, paired, shape (2, measure pair)."""
        first, second = np.triu_indices(len(value), 1)
        gap, gaps = ((values[..., first] - values[..., second]) / self.size for values in (value, drawn))
        step = self.step / self.size  # a difference that never moves is at least a step away from the ends
        ends = centre_interval(
            gap, gaps, n, confidence=confidence, step=step, least=step, student=student,
            simultaneous=self.options.simultaneous,
        )  # fmt: skip
        return self.size * np.array(ends)

    def judge(self, value: np.ndarray, drawn: np.ndarray, n_topics: int) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the ends of `find_gap_ends`, and whether every two measures agree with the reference alike."""
        first, second = np.triu_indices(len(value), 1)
        level = self.options.confidence
        two_sided, one_sided = (
            self.find_gap_ends(value, drawn, n_topics, each) for each in (level, max(2 * level - 1, 0.0))
        )
        margin = self.size * self.options.margin
        ends = Ends(*two_sided), Ends(*one_sided)
        words = judge_difference(value[first] - value[second], *ends, margin, n_topics, self.options.over)
        return two_sided, tuple(words)


def remark_coverage(statistics: Sequence[Statistic], n_topics: int) -> tuple[str, ...]:
    """Return what a reader has to know about the intervals of so few topics, if simulations found them too short."""
    loose = [each.name for each in statistics if each.of in ("runs", "certainty")]
    if not loose or n_topics >= ENOUGH_TOPICS:
        return ()
    return (
        f"{n_topics} topics are few for intervals of {format_list(loose, 2)}: a measure that is barely better may not be\n"
        f"With fewer than {ENOUGH_TOPICS} topics, intervals of {format_list(loose)} and of their differences may be too "
        "narrow: docs/concepts/agreement.md.",
    )


def remark_levels(statistics: Sequence[Statistic], intervals: bool, over: Over = "topics") -> tuple[str, ...]:
    """Return what a reader has to know about exchange tests, and intervals if there are any, that err more than α."""
    remarks = []
    erring = [each.name for each in statistics if (each.kind if each.of == "runs" else each.name) in ERRING_TESTS]
    if erring:
        remarks.append(
            "exchange tests, and the clusters made by them, err too often\n"
            f"Those of {format_list(erring)} do, for independent errors or where measures favour some runs: "
            "docs/concepts/agreement.md."
        )
    if intervals and over != "topics":
        remarks.append(
            "intervals, and what is called better, speak of other runs of the same kind as well as of other topics"
        )
    elif intervals:
        remarks.append(
            f"“better” speaks of these runs only; {format_option('over', 'runs and topics')} speaks of other runs too\n"
            "Measures that are equally good over all runs are often unlike on those of a study: docs/concepts/agreement.md."
        )
    return tuple(remarks)
