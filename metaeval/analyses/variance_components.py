"""Where does the noise of scores come from, and what would help most: more topics, repeats, judges or tasks?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.prepare import check_options
from metaeval.analyses.result import Result, list_rows, write_ends
from metaeval.analyses.topic_noise import refuse_clusters
from metaeval.data.policies import check_policy, find_complete
from metaeval.data.ratings import Ratings
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.show.charts import IntervalChart
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.streams import generator, stream_key
from metaeval.stats.variance_components import find_components, rate_means

GapPolicy = Literal["raise", "drop-topic", "drop-run"]  # if a run, topic or judge lacks a score that others have
LITTLE = 0.005
"""What doubling a facet must add to reliability to be worth saying."""

_LOOSE = 10  # times the variance of a single score: an interval that reaches further is a note


@dataclass(frozen=True, eq=False, kw_only=True)
class VarianceComponents(Result):
    """Components of variance of every measure, and how reliable means of runs are.

    `components` have columns measure, component, variance with low and high, share, and estimate: before a negative one was
    set to 0. `reliability`: measure, Eρ² and Φ with their intervals, the detectable difference of two runs, the expected τ with
    as many new topics, and for each facet but run the Eρ² of twice as many. `numbers` say how many runs, topics, … there are.
    """

    measures: tuple[Measure, ...]
    components: pd.DataFrame
    reliability: pd.DataFrame
    numbers: Mapping[str, float]
    confidence: float
    alpha: float
    beta: float

    def answer(self) -> str:
        """Say what would help most, or how reliable means are."""
        known = self.reliability.set_index("measure")["Eρ²"]
        values, digits = known.to_numpy(), 3 if known.max() >= 0.995 else 2  # a share below 1 does not read 1.00
        shown = known.where(known == 1, known.clip(upper=0.999)).map(f"{{:.{digits}f}}".format)
        if len(values) > 1:  # what reads the same is named together
            most, least = shown.iloc[values.argmax()], shown.iloc[values.argmin()]
            high, low = (format_list([*shown.index[shown == text]], 3) for text in (most, least))
            return f"Reliability (Eρ²) is highest with {high} ({most}) and lowest with {low} ({least})."
        if not np.isfinite(values[0]):
            return "The scores do not vary."
        gains = self.reliability.iloc[0].filter(like="twice").astype(float)
        if len(gains) == 1:
            share = self.components.query("component == 'run'")["share"].item()
            means = (
                f"{100 * min(values[0], 0.999):.3g} % of the variance of means over {self.numbers['topic']:,.0f} topics"
            )
            return f"{means} is between runs, and {100 * share:.2g} % of that of a single score."
        if gains.max() - values[0] < LITTLE:
            return f"Reliability (Eρ²) is {shown.iloc[0]}; doubling anything would add little."
        more = f"More {str(gains.idxmax()).split()[-1]} would help most"
        return f"{more}: twice as many raise reliability (Eρ²) from {values[0]:.3f} to {gains.max():.3f}."

    def tables(self) -> list[Table]:
        """Return components, of several measures their shares first, and how reliable means are."""
        shown = self.components.drop(columns="estimate")
        shown["share"] = [f"{100 * share:.1f} %" for share in shown["share"]]
        many = len(self.measures) > 1
        shares = shown.pivot_table(index="component", columns="measure", values="share", sort=False, aggfunc="first")
        shares = shares[[str(measure) for measure in self.measures]].rename_axis(columns=None)
        shown = shown if many else shown.drop(columns="measure")
        legend = (
            f"Variance in squares of the measure's unit, by mean squares, with {100 * self.confidence:g} % intervals for "
            "normal effects: where means of runs are skewed, that of run is too narrow. Share: of the sum of all components, "
            "which is the variance of a single score."
        )
        interval = f"{100 * self.confidence:g} % interval"
        caption = f"Components of the variance of scores, with {interval}s."
        whole = Table(shown.set_index(shown.columns[0]), caption, self.signature, digits=4, legend=legend)
        brief = Table(shares, "Shares of the variance of a single score.", self.signature, at=("short", "paper"))
        known = self.reliability.set_index("measure").rename(columns={"expected_tau": "expected τ"})
        known[interval] = [write_ends(*ends) for ends in known[["Eρ²_low", "Eρ²_high"]].to_numpy()]
        twice = [*known.filter(like="twice")] if len(self.numbers) > 2 else []
        now = ", ".join(format_count(round(number), facet) for facet, number in self.numbers.items() if facet != "run")
        legend = (
            "The variance of topics moves all runs alike, and does not count in Eρ². Expected τ: metaeval sample-size, from "
            "random halves of its own, differs a little."
        )
        means = "Eρ²: share of their variance that is between runs; Φ: the same if the level of scores counts too"
        test = f"a paired t-test over {'tasks' if 'task' in self.numbers else 'topics'} at α = {self.alpha:g}"
        what = f"detectable: what {test} finds with probability {1 - self.beta:g}; expected τ: of rankings of runs"
        caption = f"Reliability of runs' means over {now}. {means}; {what} on as many new topics."
        tables = [brief, replace(whole, at=("all",))] if many else [whole]
        shown = known[["Eρ²", interval, "Φ", "detectable", "expected τ", *twice]]
        tables.append(Table(shown, caption, self.signature, legend=legend))
        return tables

    def charts(self) -> Sequence[IntervalChart]:
        """Return the components of a single measure with their intervals, or of several measures how reliable means are."""
        if len(self.measures) == 1:
            rows = list_rows(self.components, "variance", name="component")
            return [IntervalChart(rows, f"variance of a single score by {self.measures[0].title}")]
        known = self.reliability.rename(columns={"Eρ²_low": "low", "Eρ²_high": "high"})
        rows = list_rows(known, "Eρ²", {str(measure): measure.title for measure in self.measures})
        return [IntervalChart(rows, "Eρ² of runs' means")]


def variance_components(
    ratings: Ratings | Scores,
    *,
    missing: GapPolicy = "raise",
    alpha: float = 0.05,
    beta: float = 0.2,
    confidence: float = 0.95,
    seed: int = 0,
) -> VarianceComponents:
    """Where does the noise of scores come from, and what would help most: more topics, repeats, judges or tasks?

    Parameters
    ----------
    ratings : Ratings or Scores
        At least two runs and topics; perhaps with repeats, judges and tasks.
    missing : {"raise", "drop-topic", "drop-run"}, optional
        What to do if cells of runs, topics and judges lack scores.
    alpha : float, optional
    beta : float, optional
        Probability of missing the detectable difference.
    confidence : float, optional
        Level of the intervals, which assume normal distributions.
    seed : int, optional

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(8, 1)) + rng.normal(size=30) + rng.normal(size=(8, 30))
    >>> scores = Scores(values[..., None], runs=list("abcdefgh"), topics=range(30), measures=["X"])
    >>> found = variance_components(scores)
    >>> found.to_frame()[["component", "variance"]].round(2)
                   component  variance
    0                    run      0.26
    1                  topic      0.56
    2  run × topic and error      1.07
    >>> found.answer()
    '88 % of the variance of means over 30 topics is between runs, and 14 % of that of a single score.'
    """
    given = ratings
    if isinstance(ratings, Scores):
        refuse_clusters(ratings)
        given = Ratings(ratings.to_frame(), ratings.measures, ratings.collection)
    if not isinstance(given, Ratings):
        raise MetaevalError(f"this takes Ratings or Scores, not {type(ratings).__name__}")
    given = _balance(given, missing)
    check_options(alpha=alpha, beta=beta, confidence=confidence, seed=seed)
    frame = given.frame
    numbers = {facet: float(frame[facet].nunique()) for facet in given.facets}
    if "repeat" in numbers:  # which need not have the same names everywhere
        cells = [facet for facet in given.facets if facet != "repeat"]
        numbers["repeat"] = float(frame.groupby([*cells, "measure"]).size().iloc[0])
    components, rows, key = [], [], "variance_components"
    merged: dict[str, None] = {}  # in the order in which they come
    for measure in given.measures:
        part = frame[frame["measure"] == str(measure)]
        codes = {facet: pd.factorize(part[facet], sort=True)[0] for facet in given.facets}
        estimate = find_components(part["score"].to_numpy(), codes, generator(seed, given.collection, key))
        low, high = np.quantile(estimate.drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        share = estimate.variance / max(estimate.variance.sum(), np.finfo(float).tiny)
        columns = {"variance": estimate.variance, "low": low, "high": high, "share": share, "estimate": estimate.raw}
        names = [effect.name for effect in estimate.effects]
        components.append(pd.DataFrame({"measure": str(measure), "component": names, **columns}))
        halves = stream_key(seed, given.collection, key, "halves")
        means = part.pivot_table(index="run", columns="topic", values="score").to_numpy()
        known = rate_means(estimate, means, numbers, (alpha, beta), confidence, halves)
        rows.append({"measure": str(measure), **known})
        merged |= dict.fromkeys(estimate.merged)
    table = pd.concat(components, ignore_index=True)
    settings = {"measures": ", ".join(map(str, given.measures)), "facets": ", ".join(given.facets)}
    settings |= {"confidence": f"{confidence:g}", "alpha": f"{alpha:g}", "beta": f"{beta:g}", "seed": str(seed)}
    size = f"{given.collection or 'ratings'}@{given.fingerprint} {given.size}"
    return VarianceComponents(
        measures=given.measures, components=table, reliability=pd.DataFrame(rows),
        numbers=numbers, confidence=confidence, alpha=alpha, beta=beta,
        signature=Signature("variance_components", (size,), tuple(settings.items()), metaeval.__version__),
        remarks=_remark(table, list(merged)),
    )  # fmt: skip


def _remark(components: pd.DataFrame, merged: Sequence[str]) -> tuple[str, ...]:
    """Say which estimates were negative, which are hardly known, and what the design does not separate."""
    remarks, names = [], components["component"]
    if components["measure"].nunique() > 1:
        names = names + " (" + components["measure"] + ")"
    single = components.groupby("measure")["variance"].transform("sum")
    negative = components["estimate"] < 0
    loose = ~negative & (components["high"] > _LOOSE * single)
    if loose.any():
        remarks.append(
            f"the data hardly bound the variance of {format_list(names[loose].tolist())}\n"
            f"The interval goes beyond {_LOOSE} times the variance of a single score: there are few levels, or the component "
            "is small beside the others. A design that rests on it is uncertain."
        )
    if negative.any():
        remarks.append(
            f"no variance was found for {format_list(names[negative].tolist())}; set to 0\n"
            "The estimate by mean squares was negative: there is little or none. The other components are as they were "
            "estimated."
        )
    if merged:
        shown = [name.replace(" and ", " from ").replace(" or ", " from ") for name in merged]
        remarks.append(
            f"this design cannot separate {format_list(shown)}\n"
            "They have one component. Repeats of a run on a topic would separate run × topic from error."
        )
    return tuple(remarks)


def _balance(ratings: Ratings, missing: GapPolicy) -> Ratings:
    """Return ratings with as many scores in every cell of runs, topics, judges and measures."""
    check_policy(missing, GapPolicy)
    known = [name for name in ("run", "topic", "judge") if name in ratings.frame]
    known += ["measure"] if len(ratings.measures) > 1 else []
    every = pd.MultiIndex.from_product([ratings.frame[name].unique() for name in known], names=known)
    cells = ratings.frame.groupby(known).size().reindex(every, fill_value=0)
    usual = int(cells[cells > 0].mode().max())
    whole = cells == usual
    if whole.all():
        return ratings
    if missing == "raise":
        left = []
        for axis in ("topic", "run"):
            kept = whole.groupby(level=axis).all()
            some = f"{kept.sum():,} of {format_count(len(kept), axis)} are complete"
            left += [f"{format_option('missing', f'drop-{axis}')} ({some})"] * bool(kept.sum() > 1)
        unlike = f"{(~whole).sum():,} of {format_count(len(whole), 'cell')} of {' × '.join(known)}"
        problem = f"{unlike} have not {format_count(usual, 'score')}, and components need as many in each"
        raise DataError(problem, hint=" or ".join(left) or "choose runs, topics and judges that are complete")
    gaps = whole.groupby(level=["run", "topic"]).all().unstack("topic").eq(False)
    keep_runs, keep_topics = find_complete(gaps.to_numpy(), [*gaps.index], [*gaps.columns], missing)
    is_kept = ratings.frame["run"].isin(gaps.index[keep_runs]) & ratings.frame["topic"].isin(gaps.columns[keep_topics])
    return Ratings(ratings.frame[is_kept], ratings.measures, ratings.collection)
