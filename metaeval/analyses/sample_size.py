"""How many topics does a measure need? Consistency, expected τ and discriminative power against the number of topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.checks import (
    check_choice,
    check_count,
    check_jobs,
    check_seed,
    check_share,
    check_tau,
    warn_of_constant_measures,
)
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.measures.base import Measure
from metaeval.show.charts import Line, LineChart, thin
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.expected_tau import expected_tau
from metaeval.stats.intervals import explain_no_interval
from metaeval.stats.pair_tests import PairedTest, all_pairs_test
from metaeval.stats.rank_correlation import TauVariant
from metaeval.stats.split_half import split_half_tau
from metaeval.stats.streams import generator, stream_key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

_FURTHEST = 4  # times as many topics as there are: as far as expected τ was checked
_MOST = 1_000_000
_SIZES = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000)


_SHADED = 8  # measures whose intervals can be told apart


AIMS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Expected τ for which topics are counted: the answer is about the first one that some measure reaches."""


@dataclass(frozen=True, eq=False)
class SampleSize(Result):
    """Consistency, expected τ and discriminative power for several numbers of topics.

    Parameters
    ----------
    measures : tuple of Measure
    sizes : tuple of int
        Numbers of topics.
    tau : ndarray, shape (size, measure)
        Mean τ between two disjoint sets of that many topics; NaN where the collection has not twice as many.
    power : ndarray, shape (size, measure)
        Mean share of significant run pairs with so many topics; NaN where there are not so many.
    power_sd : ndarray, shape (size, measure)
        Its standard deviation over samples of topics; 0 for the whole collection.
    expected : ndarray, shape (size, measure, 3)
        Expected τ between two sets of that many new topics, and the ends of its interval; NaN where there is none.
    truth : ndarray, shape (size, measure, 3)
        The same for expected τ between the ranking on so many new topics and the one on infinitely many.
    confidence : float
    signature : Signature
    no_interval : str
        Why there is no interval, if it was asked for: too few runs or topics.
    """

    measures: tuple[Measure, ...]
    sizes: tuple[int, ...]
    tau: np.ndarray
    power: np.ndarray
    power_sd: np.ndarray
    expected: np.ndarray
    truth: np.ndarray
    confidence: float
    signature: Signature
    no_interval: str = ""

    def __repr__(self) -> str:
        return f"SampleSize: {self.sizes[0]} to {self.sizes[-1]} topics, {len(self.measures)} measures"

    def answer(self) -> str:
        """Say about how many topics the measures need for the highest expected τ that one of them reaches."""
        needed = self.topics_needed()
        reached = [aim for aim in AIMS if needed[aim].notna().any()]
        if not reached:
            return f"No measure reaches an expected τ of {AIMS[-1]:g} with up to {max(self.sizes):,} topics."
        aim = reached[0]
        known = needed[aim].dropna().sort_values(kind="stable")
        parts = [f"{known.index[0]} needs about {known.iloc[0]:,.0f} topics for an expected τ of {aim:g}"]
        if len(known) > 1:
            parts.append(f"{known.index[-1]} about {known.iloc[-1]:,.0f}")
        if missing := len(needed) - len(known):
            rest = "all others" if missing == len(needed) - 1 > 1 else f"{missing} of {len(needed)} measures"
            parts.append(f"{rest} more than {max(self.sizes):,}")
        return f"{', '.join(parts)}."

    def topics_needed(self) -> pd.DataFrame:
        """Return about how many topics each measure needs for an expected τ, between the sizes that were tried.

        Returns
        -------
        DataFrame, shape (measure, aim)
            One column an expected τ; NaN where no size that was tried reaches it.
        """
        sizes = np.log(self.sizes)
        rows = []
        for curve in self.expected[..., 0].T:
            known = np.isfinite(curve)
            rising = np.maximum.accumulate(curve[known]) if known.any() else np.full(1, -np.inf)
            at = sizes[known] if known.any() else sizes[:1]
            topics = [np.exp(np.interp(aim, rising, at)) if rising[-1] >= aim else np.nan for aim in AIMS]
            rows.append([float(f"{number:.2g}") for number in topics])
        return pd.DataFrame(
            rows, index=pd.Index([str(measure) for measure in self.measures], name="measure"), columns=[*AIMS]
        )

    def short_tables(self) -> list[Table]:
        """Return the topics that each measure needs for some values of expected τ, and the one with most topics."""
        needed = self.topics_needed()
        most = max(self.sizes)
        shown = pd.DataFrame(index=needed.index)
        for aim in reversed([aim for aim in AIMS if needed[aim].notna().any()][:4]):
            shown[f"for τ {aim:g}"] = [f"> {most:,}" if np.isnan(n) else f"{n:,.0f}" for n in needed[aim]]
        last = self.expected[-1, :, 0]
        shown[f"τ with {most:,}"] = last
        return [
            Table(shown, "Topics needed for an expected τ between two sets of new topics.", self.signature, digits=2)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return all curves, one row a number of topics and measure.

        Returns
        -------
        DataFrame
            Columns topics, measure, mean_tau, power, power_sd; expected_tau with its interval expected_low, expected_high;
            true_tau with its interval true_low, true_high.
        """
        names = [str(measure) for measure in self.measures]
        columns = {"topics": np.repeat(self.sizes, len(names)), "measure": names * len(self.sizes)}
        columns |= {"mean_tau": self.tau.ravel(), "power": self.power.ravel(), "power_sd": self.power_sd.ravel()}
        for name, curves in (("expected", self.expected), ("true", self.truth)):
            columns |= {f"{name}_{end}": curves[..., n].ravel() for n, end in enumerate(("tau", "low", "high"))}
        return pd.DataFrame(columns)

    def to_table(self) -> Table:
        """Return mean τ, expected τ and power for every number of topics."""
        kinds = {"mean_tau": "τ", "expected_tau": "expected τ", "power": "power"}
        frame = self.to_frame().pivot(index="topics", columns="measure", values=list(kinds))
        names = [str(measure) for measure in self.measures]
        columns = pd.MultiIndex.from_product([list(kinds), names])
        shown = frame[columns].rename(columns=kinds, level=0)
        shown.index.name = "topics"
        caption = "Consistency and power by the number of topics."
        legend = (
            "τ: the mean between two disjoint sets of that many topics. Expected τ: between two sets of new topics. Power: "
            f"the share of significant run pairs. {self.no_interval}"
        ).strip()
        return Table(shown, caption, self.signature, legend=legend)

    def to_summary(self) -> Table:
        """Return expected τ of every measure for up to four numbers of topics; mean τ where there is none expected."""
        known = np.isfinite(self.expected[..., 0]).any()
        values = self.expected[..., 0] if known else self.tau
        sizes = np.flatnonzero(np.isfinite(values).any(axis=1))
        shown = sizes[thin(len(sizes), 4)]
        index = pd.Index([str(measure) for measure in self.measures], name="measure")
        frame = pd.DataFrame(values[shown].T, index=index, columns=[f"{self.sizes[size]:,} topics" for size in shown])
        kind = "sets of that many new topics" if known else "disjoint sets of that many topics"
        caption = f"{'Expected' if known else 'Mean'} τ between the rankings of runs by two {kind}. {self.no_interval}"
        return Table(frame, caption.strip(), self.signature)

    def charts(self) -> Sequence[LineChart]:
        """Return consistency, with expected τ as thin lines in their intervals, and power against the number of topics."""
        sizes = np.array(self.sizes)
        known = np.flatnonzero(~np.isnan(self.power).all(axis=1))
        by_power = np.argsort(-self.power[known[-1:]].sum(axis=0), kind="stable").tolist()  # with the most topics
        consistency, power = [], []
        for m in by_power:
            name, title = str(self.measures[m]), self.measures[m].title
            middle, low, high = self.expected[:, m].T
            band = (low, high) if len(self.measures) <= _SHADED else None
            consistency.append(Line(name, title, sizes, self.tau[:, m], middle=middle, band=band))
            power.append(Line(name, title, sizes, self.power[:, m]))
        return [
            LineChart(
                consistency, "topics in either set", "mean τ between two sets", log=True, ticks=_choose_ticks(list(self.sizes)),
            ),
            LineChart(
                power, "topics", "share of significant run pairs", log=True, limits=(0.0, None), names="right",
                ticks=_choose_ticks(sizes[known].tolist()),
            ),
        ]  # fmt: skip

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw consistency and power against the number of topics, side by side, or below each other in a column."""
        from metaeval.show.drawing import draw_charts

        width, height = (9.2, 3.8) if size is None else (None, None)
        return draw_charts(
            self.charts(), self.signature if signature else None, ax=ax, size=size, width=width, height=height
        )


def sample_size(
    scores: Scores,
    *,
    sizes: Sequence[int] | None = None,
    n_trials: int = 200,
    n_samples: int = 10,
    n_permutations: int = 1000,
    test: PairedTest = "randomised-tukey-hsd",
    alpha: float = 0.05,
    tau: TauVariant = "tau_a",
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
) -> SampleSize:
    """How many topics does a measure need to rank runs consistently, and to find differences?

    Its expected τ is that of `variance_components` (metaeval variance), for any number of topics. Take `topic_set_size` for
    other runs and a difference that matters.

    Parameters
    ----------
    scores : Scores
    sizes : sequence of int, optional
        Numbers of topics; by default several from 5 to all of them. Beyond all of them there is only expected τ, no power.
    n_trials : int, optional
        Random pairs of disjoint sets for each size, for τ; and of halves, to which expected τ is fitted.
    n_samples : int, optional
        Random samples of topics for each size, for discriminative power.
    n_permutations : int, optional
        B of the test on each sample.
    test : str, optional
        The test of all pairs of runs, as for `discriminative_power`.
    alpha : float, optional
    tau : {"tau_a", "tau_b"}, optional
    confidence : float, optional
        Level of the interval of expected τ. With fewer than 10 runs or 25 topics there is none.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional
    n_jobs : int, optional
        Threads; any number gives the same results.

    Returns
    -------
    SampleSize

    Raises
    ------
    MetaevalError
        If a size is below 2, or an option is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = np.linspace(0.2, 0.8, 5)[:, None, None] + rng.normal(0, 0.3, (5, 60, 1))
    >>> scores = Scores(values, runs=list("abcde"), topics=range(60), measures=["X"])
    >>> frame = sample_size(scores, sizes=[5, 60, 120], n_samples=3).to_frame()
    >>> frame[["topics", "power", "expected_tau"]].round(2)
       topics  power  expected_tau
    0       5   0.03          0.75
    1      60   0.60          0.97
    2     120    NaN          0.98
    """
    scores, diagnostics = choose_runs(scores, distinct_runs, topics=4)
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_seed(seed)
    check_tau(tau)
    check_choice("test", test, PairedTest)
    check_jobs(n_jobs)
    for name, value in (("n_trials", n_trials), ("n_samples", n_samples), ("n_permutations", n_permutations)):
        check_count(name, value, 1)
    n_topics = len(scores.topics)
    ladder = _choose_sizes(sizes, n_topics)
    warn_of_constant_measures(scores)
    order = sort_labels(scores)
    taus = np.full((len(ladder), len(scores.measures)), np.nan)
    power, spread = np.full_like(taus, np.nan), np.full_like(taus, np.nan)
    for position, size in enumerate(ladder):
        names = (scores.collection, "sample_size", str(size))
        if 2 * size <= n_topics:
            key = stream_key(seed, *names, "splits")
            splits = split_half_tau(order.values, n_trials=n_trials, size=size, key=key, variant=tau)
            taus[position] = splits.mean(axis=0)
        if size <= n_topics:
            options = {"test": test, "n_permutations": n_permutations, "n_jobs": n_jobs}
            result = _sample_power(order.values, size, n_samples, alpha, seed, names, **options)
            power[position], spread[position] = np.mean(result, axis=0), np.std(result, axis=0)
    no_interval = explain_no_interval(len(scores.runs), n_topics)
    stream = (scores.collection, "sample_size")
    expected, truth = expected_tau(
        order.values, ladder, key=stream_key(seed, *stream, "halves"), n_trials=n_trials, variant=tau,
        group_order=generator(seed, *stream, "groups").permutation(n_topics), confidence=confidence,
        intervals=not no_interval,
    )  # fmt: skip
    unchecked = np.array(ladder) > _FURTHEST * n_topics
    expected[unchecked] = truth[unchecked] = np.nan
    signature = sign(
        "sample_size", scores, trials=n_trials, samples=n_samples, test=test, B=n_permutations, alpha=alpha, tau=tau,
        confidence=confidence, seed=seed, **diagnostics.settings,
    )  # fmt: skip
    taus, power, spread, expected, truth = (
        table[:, order.measures] for table in (taus, power, spread, expected, truth)
    )
    return SampleSize(
        scores.measures, tuple(ladder), taus, power, spread, expected, truth, confidence, signature, no_interval,
        diagnostics=(diagnostics,), remarks=_remark_on_sizes(ladder, n_topics),
    )  # fmt: skip


def _choose_sizes(sizes: Sequence[int] | None, n_topics: int) -> list[int]:
    """Return the numbers of topics in increasing order: those given, or by default a ladder up to all topics."""
    try:
        asked = [*(s for s in _SIZES if s < n_topics), n_topics] if sizes is None else [index(size) for size in sizes]
    except TypeError:
        raise MetaevalError(f"{format_option('sizes')} is {sizes!r}; it is a list of whole numbers") from None
    ladder = sorted(set(asked))
    if not ladder or ladder[0] < 2 or ladder[-1] > _MOST:
        given = format_option("sizes", ",".join(map(str, ladder)))
        raise MetaevalError(f"{given}: each size is a number of topics, from 2 to {_MOST:,}")
    return ladder


def _sample_power(
    values: np.ndarray, size: int, n_samples: int, alpha: float, seed: int, names: tuple[str, ...], **options: Any
) -> list[np.ndarray]:
    """Return the discriminative power with so many topics, shape (measure,), on random samples of them; once with all."""
    n_topics = values.shape[1]
    rng = generator(seed, *names, "samples")
    shares = []
    for sample in range(n_samples if size < n_topics else 1):
        some = np.sort(rng.choice(n_topics, size=size, replace=False))
        result = all_pairs_test(values[:, some], key=stream_key(seed, *names, "permutations", str(sample)), **options)
        shares.append((result.p <= alpha).mean(axis=1))
    return shares


def _remark_on_sizes(sizes: Sequence[int], n_topics: int) -> tuple[str, ...]:
    if sizes[-1] <= _FURTHEST * n_topics:
        return ()
    return (
        f"no prediction beyond {_FURTHEST * n_topics:,} topics\n"
        f"Predictions were checked with up to {_FURTHEST} times as many topics as there are.",
    )


def _choose_ticks(ticks: list[int]) -> list[int]:
    """Choose some ticks, first and last among them, that do not collide on a logarithmic axis."""
    retained: list[int] = []
    for tick in ticks:
        if not retained or tick >= 1.45 * retained[-1]:
            retained.append(tick)
    if ticks and retained[-1] != ticks[-1]:
        retained[-1] = ticks[-1]
    return retained
