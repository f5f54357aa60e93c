"""How many topics does a measure need to rank runs consistently? Consistency and expected τ against the number of topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import Within, check_options, prepare, warn_of_constant_measures
from metaeval.analyses.result import Result, join_names, write_ends
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.measures.base import Measure
from metaeval.show.charts import Line, LineChart
from metaeval.show.table import Table, cross
from metaeval.stats.intervals import explain_no_interval
from metaeval.stats.rank_correlation import TauVariant
from metaeval.stats.split_half import expected_tau, split_half_tau

_FURTHEST = 4  # times as many topics as there are: as far as expected τ was checked
_MODELLED = 2  # times as many: from here on expected τ is more the model than the data
_MOST = 1_000_000
_SIZES = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000)
_SHADED = 8  # measures whose intervals can be told apart
_TICKS = [step * 10**power for power in range(7) for step in (1, 2, 5)]

AIMS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Expected τ for which topics are counted: the answer is about the first one that some measure reaches."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleSize(Result):
    """Consistency and expected τ for several numbers of topics, or of clusters where topics come in clusters.

    `curves` have a row for each number of topics and measure: columns topics, measure; mean_tau between two disjoint sets of
    that many topics; expected_tau between two sets of that many new topics, and true_tau between the ranking on so many and on
    infinitely many, each with its interval. NaN where there is no such number. What lies beyond `n_topics` is predicted.
    """

    measures: tuple[Measure, ...]
    curves: pd.DataFrame
    n_topics: int
    confidence: float
    unit: str = "topic"

    def topics_needed(self) -> pd.DataFrame:
        """Return about how many topics each measure needs for each expected τ of `AIMS`, between the sizes that were tried."""
        rows = {}
        for measure, curve in self.curves.groupby("measure", sort=False):
            rising = np.maximum.accumulate(curve["expected_tau"].fillna(-np.inf))
            topics = np.exp(np.interp(AIMS, rising, np.log(curve["topics"]), right=np.nan))
            rows[measure] = [float(f"{number:.2g}") for number in topics]
        return pd.DataFrame.from_dict(rows, orient="index", columns=AIMS).rename_axis("measure")

    def answer(self) -> str:
        """Say about how many topics the measures need for the highest expected τ that one of them reaches."""
        needed, most = self.topics_needed(), self.curves["topics"].max()
        reached = needed.columns[needed.notna().any()]
        if not len(reached):
            return f"No measure reaches an expected τ of {AIMS[-1]:g} with up to {most:,} {self.unit}s."
        known = needed[reached[0]].dropna().sort_values(kind="stable")
        (first, last), (least, largest) = known.index[[0, -1]], known.iloc[[0, -1]].map("{:,.0f}".format)
        aim = f"{self.unit}s for an expected τ of {reached[0]:g}"
        answer = f"{first} needs about {least} {aim}" + f", {last} about {largest}" * (len(known) > 1)
        if self._is_beyond(known.iloc[-1]):  # a prediction does not tell which measure needs fewer
            who = f"measures need {least} to {largest}" if len(known) > 1 else f"{first} needs about {least}"
            answer = f"As a model predicts from the {self.n_topics:,} {self.unit}s there are, {who} {aim}"
        if missing := [name for name in needed.index if name not in known.index]:
            rest = "all others" if len(missing) == len(needed) - 1 > 1 else join_names(missing)
            answer += f", {rest} more than {most:,}"
        ties = any(each.never_significant for each in self.diagnostics)
        return f"{answer}.{' Identical runs, which always tie, raise these numbers.' * ties}"

    def tables(self) -> list[Table]:
        """Return the topics that each measure needs for some values of expected τ; with all, every curve."""
        needed, most = self.topics_needed(), self.curves["topics"].max()
        shown = pd.DataFrame(index=needed.index)
        for aim in reversed(needed.columns[needed.notna().any()][:4]):
            shown[f"for τ {aim:g}"] = [f"> {most:,}" if np.isnan(n) else self._write(n) for n in needed[aim]]
        ends = self.curves[["expected_low", "expected_high"]].tail(len(needed)).to_numpy()
        shown[f"τ with {self._write(most)}"] = self.curves["expected_tau"].tail(len(needed)).to_numpy()
        if np.isfinite(ends).any():
            shown[f"its {100 * self.confidence:g} % interval"] = [write_ends(low, high, 2) for low, high in ends]
        beyond = f"In brackets: predicted, beyond the {self.n_topics:,} there are." * self._is_beyond(most)
        what = f"{self.unit.title()}s needed for an expected τ (Kendall's, of the rankings of runs)"
        told = [f"{what} between two sets of new {self.unit}s, by a model fitted to halves.", beyond, self.no_interval]
        needs = Table(shown, " ".join(filter(None, told)), self.signature, digits=2)
        kinds = {"mean_tau": "τ", "expected_tau": "expected τ"}
        columns = pd.MultiIndex.from_product([kinds, needed.index])
        curves = self.curves.pivot(index="topics", columns="measure", values=list(kinds))[columns]
        legend = (
            f"τ: the mean over disjoint sets of the {self.unit}s there are. Expected τ: the mean over pairs of runs in a model "
            f"of new {self.unit}s, fitted to τ of halves. Of fewer the two may order measures otherwise: trust τ. {beyond}"
        )
        shown = curves.rename(columns=kinds, level=0).rename(index=self._write).rename_axis(f"{self.unit}s")
        caption = f"Consistency by the number of {self.unit}s."
        whole = Table(shown, caption, self.signature, legend=legend.strip(), at=("all",))
        return [needs, whole]

    def _write(self, number: float) -> str:
        """Return a number of topics, in brackets if there are fewer."""
        return f"({number:,.0f})" if self._is_beyond(number) else f"{number:,.0f}"

    def _is_beyond(self, number: float) -> bool:
        """Whether there are fewer topics, which may be a number rounded to two digits."""
        return bool(number > max(self.n_topics, float(f"{self.n_topics:.2g}")))

    def charts(self) -> Sequence[LineChart]:
        """Return consistency against the number of topics, with expected τ as thin lines in their intervals."""
        lines, titles = [], {str(measure): measure.title for measure in self.measures}
        columns = ["topics", "mean_tau", "expected_tau", "expected_low", "expected_high"]
        for name, curve in self.curves.groupby("measure", sort=False):
            sizes, tau, expected, low, high = (curve[column].to_numpy() for column in columns)
            band = (low, high) if len(titles) <= _SHADED else None
            lines.append(Line(str(name), titles[str(name)], sizes, tau, middle=expected, band=band))
        ticks = [size for size in _TICKS if sizes[0] <= size <= sizes[-1]]
        return [LineChart(lines, f"{self.unit}s in either set", "mean τ between two sets", log=True, ticks=ticks)]


def sample_size(
    scores: Scores,
    *,
    sizes: Sequence[int] | None = None,
    n_trials: int = 200,
    tau: TauVariant = "tau_a",
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
) -> SampleSize:
    """How many topics does a measure need to rank runs consistently?

    For runs like these; metaeval topic-set-size is for other runs and a difference that matters. Expected τ, the rank
    correlation between two sets of new topics, is fitted to random halves; metaeval variance, which draws others, finds nearly
    the same.

    Parameters
    ----------
    scores : Scores
        Where topics come in clusters, clusters are counted, drawn and split in place of topics.
    sizes : sequence of int, optional
        Numbers of topics; by default several from 5 to all of them. Beyond half of them there is only expected τ.
    n_trials : int, optional
        Random pairs of disjoint sets for each size, for τ; and of halves, to which expected τ is fitted.
    tau : {"tau_a", "tau_b"}, optional
    confidence : float, optional
        Level of the interval of expected τ.
    distinct_runs, seed : as for `discriminative_power`

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = np.linspace(0.2, 0.8, 5)[:, None, None] + rng.normal(0, 0.3, (5, 60, 1))
    >>> scores = Scores(values, runs=list("abcde"), topics=range(60), measures=["X"])
    >>> sample_size(scores, sizes=[5, 60, 120]).to_frame()[["topics", "mean_tau", "expected_tau"]].round(2)
       topics  mean_tau  expected_tau
    0       5       0.6          0.75
    1      60       NaN          0.97
    2     120       NaN          0.98
    """
    ready = prepare(scores, "sample_size", seed=seed, distinct_runs=distinct_runs, topics=4, clusters="pool")
    check_options(confidence=confidence, tau=Within(tau, TauVariant), n_trials=n_trials)
    warn_of_constant_measures(ready.scores)
    n_runs, n_topics, n_measures = ready.values.shape
    ladder = _choose_sizes(sizes, n_topics)
    taus = np.full((len(ladder), n_measures), np.nan)
    for position, size in enumerate(ladder):
        if 2 * size <= n_topics:
            key = ready.key(str(size), "splits")
            splits = split_half_tau(ready.values, n_trials=n_trials, size=size, key=key, variant=tau)
            taus[position] = splits.mean(axis=0)
    no_interval = explain_no_interval(n_runs, n_topics)
    expected, truth = expected_tau(
        ready.values, ladder, key=ready.key("halves"), n_trials=n_trials, variant=tau, confidence=confidence,
        group_order=ready.generator("groups").permutation(n_topics), intervals=not no_interval,
    )  # fmt: skip
    unchecked = np.array(ladder) > _FURTHEST * n_topics
    expected[unchecked] = truth[unchecked] = np.nan
    columns = {"mean_tau": ready.restore(taus, "measure")}
    for kind, array in (("expected", expected), ("true", truth)):
        of_kind = ready.restore(np.moveaxis(array, -1, 0), "measure")
        columns |= dict(zip((f"{kind}_tau", f"{kind}_low", f"{kind}_high"), of_kind, strict=True))
    curves = cross({"topics": ladder, "measure": list(map(str, ready.scores.measures))}, **columns)
    unit = "cluster" if scores.clusters else "topic"
    remarks = [
        f"expected τ of more than {_MODELLED * n_topics:,} {unit}s rests on a model of the runs\n"
        "It takes them as a random sample of one smooth distribution. Where runs form groups that lie apart, it is too "
        "high, where they stand at regular distances, too low, and its interval misses: docs/concepts/sample-size.md.",
        f"no prediction beyond {_FURTHEST * n_topics:,} {unit}s\n"
        f"Predictions were checked with up to {_FURTHEST} times as many {unit}s as there are.",
    ][: (ladder[-1] > _MODELLED * n_topics) + bool(unchecked.any())]  # who asks for the latter has the former too
    return SampleSize(
        measures=ready.scores.measures, curves=curves, n_topics=n_topics, confidence=confidence, unit=unit,
        signature=ready.sign(trials=n_trials, tau=tau, confidence=confidence, seed=seed), no_interval=no_interval,
        diagnostics=(ready.diagnostics,), remarks=tuple(remarks),
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
