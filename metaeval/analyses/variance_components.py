"""Where does the noise of scores come from, and what should be bought next: topics, repeats, judges or tasks?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.checks import check_positive, check_seed, check_share
from metaeval.analyses.result import Result
from metaeval.data.ratings import Ratings
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, Line, LineChart
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.decision_study import (
    check_prices,
    detectable_difference,
    find_reliability,
    list_designs,
)
from metaeval.stats.expected_tau import expected_tau
from metaeval.stats.streams import generator, stream_key
from metaeval.stats.variance_components import Components, find_components

_PLURALS = {"run": "runs", "topic": "topics", "repeat": "repeats", "judge": "judges", "task": "tasks"}
_SIZES = (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8)
_CURVE, _AROUND = 24, 4  # points of the curve, from the budget over this to as many times it
_FEWEST_HALVES = 4  # topics from which halves can be compared


@dataclass(frozen=True, eq=False)
class VarianceComponents(Result):
    """Components of variance of every measure, how reliable means of runs are, and what a budget buys.

    Parameters
    ----------
    measures : tuple of Measure
    components : tuple of Components
        One for each measure.
    numbers : mapping of str to float
        How many runs, topics, … there are; with gaps, topics of the average run.
    coefficients : ndarray, shape (measure, 2, 3)
        Eρ² and Φ, each with its interval.
    detectable, tau : ndarray, shape (measure,)
        The difference of two runs found with probability 1 − β, and the expected τ with as many new topics.
    designs : DataFrame
        What the budget buys: columns measure, topics, repeats, judges and tasks as far as there are any, cost, coefficient,
        phi, detectable and best; empty without a budget.
    curve : DataFrame
        Columns measure, line, cost (or topics, without a budget) and coefficient.
    confidence, alpha, beta : float
    budget : float or None
    signature : Signature
    """

    measures: tuple[Measure, ...]
    components: tuple[Components, ...]
    numbers: Mapping[str, float]
    coefficients: np.ndarray
    detectable: np.ndarray
    tau: np.ndarray
    designs: pd.DataFrame
    curve: pd.DataFrame
    confidence: float
    alpha: float
    beta: float
    budget: float | None
    signature: Signature

    def __repr__(self) -> str:
        return f"VarianceComponents: {len(self.components[0].effects)} components, {len(self.measures)} measures"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a measure and component.

        Returns
        -------
        DataFrame
            Columns measure, component, variance, low and high, share, and estimate: before a negative one was set to 0.
        """
        parts = []
        for measure, found in zip(self.measures, self.components, strict=True):
            ends = np.quantile(found.drawn, [(1 - self.confidence) / 2, (1 + self.confidence) / 2], axis=0)
            at_bound = ~found.balanced & (found.variance == 0)
            parts.append(
                pd.DataFrame(
                    {
                        "measure": str(measure),
                        "component": [effect.name for effect in found.effects],
                        "variance": found.variance,
                        "low": np.where(at_bound, np.nan, ends[0]),
                        "high": np.where(at_bound, np.nan, ends[1]),
                        "share": found.variance / max(found.variance.sum(), np.finfo(float).tiny),
                        "estimate": found.raw,
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def reliability(self) -> pd.DataFrame:
        """Return how reliable the means of runs are now, one row a measure.

        Returns
        -------
        DataFrame
            Columns measure, Eρ² and Φ with their intervals, detectable difference and expected τ, and for each facet but run
            the Eρ² of twice as many.
        """
        frame = pd.DataFrame({"measure": [str(measure) for measure in self.measures]})
        for position, name in enumerate(("Eρ²", "Φ")):
            for end, suffix in enumerate(("", "_low", "_high")):
                frame[f"{name}{suffix}"] = self.coefficients[:, position, end]
        frame["detectable"], frame["expected_tau"] = self.detectable, self.tau
        for facet in self._bought():
            frame[f"Eρ² with twice the {_PLURALS[facet]}"] = [self._double(found, facet) for found in self.components]
        return frame

    def _bought(self) -> list[str]:
        return [facet for facet in self.numbers if facet != "run"]

    def _double(self, found: Components, facet: str) -> float:
        # A topic lies in a task: twice the tasks have twice the topics.
        more = {facet, "topic"} if facet == "task" else {facet}
        numbers = {name: number * (2 if name in more else 1) for name, number in self.numbers.items()}
        return float(find_reliability(found.effects, found.variance, numbers).relative_coefficient)

    def details(self) -> dict[str, pd.DataFrame]:
        """Return reliability, and designs and curve where there are any."""
        more = {"designs": self.designs} if len(self.designs) else {}
        return {"reliability": self.reliability(), **more, "curve": self.curve}

    def answer(self) -> str:
        """Say what the budget buys, or else what would help most, or how reliable means are."""
        values = self.coefficients[:, 0, 0]
        if len(self.designs):
            best = self.designs[self.designs["best"]].iloc[0]
            whose = f" by {self.measures[0]}" if len(self.measures) > 1 else ""
            return f"For {self.budget:g}, buy {self._describe(best)}{whose}."
        if len(self.measures) > 1:
            high, low = int(np.argmax(values)), int(np.argmin(values))
            return (
                f"{self.measures[high]} is most reliable (Eρ² {values[high]:.2f}), {self.measures[low]} least "
                f"({values[low]:.2f})."
            )
        gains = {facet: self._double(self.components[0], facet) for facet in self._bought()}
        best_facet = max(gains, key=lambda facet: gains[facet])
        if len(gains) > 1 and np.isfinite(values[0]):
            return f"More {_PLURALS[best_facet]} would help most; reliability (Eρ²) is {values[0]:.2f} now."
        return f"{100 * min(values[0], 0.999):.3g} % of the variance of runs' means is between runs."

    def _describe(self, design: pd.Series) -> str:
        bought = format_count(int(design["topics"]), "topic")
        each = [
            format_count(int(design[_PLURALS[facet]]), facet)
            for facet in ("repeat", "judge")
            if _PLURALS[facet] in design
        ]
        bought += f" with {' and '.join(each)} each" * bool(each)
        return bought + (f" in {format_count(int(design['tasks']), 'task')}" if "tasks" in design else "")

    def to_table(self) -> Table:
        """Return components with intervals and shares."""
        frame = self.to_frame()
        shown = frame[["measure", "component", "variance", "low", "high", "share"]]
        shown = shown.assign(share=[f"{100 * share:.1f} %" for share in shown["share"]])
        shown = (
            shown.set_index("measure")
            if len(self.measures) > 1
            else shown.drop(columns="measure").set_index("component")
        )
        how = "mean squares" if all(found.balanced for found in self.components) else "REML"
        legend = (
            f"Variance in squares of the measure's unit, by {how}, with {100 * self.confidence:g} % intervals for normal "
            "effects. Share: of the sum of all components, which is the variance of a single score."
        )
        return Table(shown, "Components of the variance of scores.", self.signature, digits=4, legend=legend)

    def to_summary(self) -> Table:
        """Return the share of each component, a column for each measure; of a single measure its variances too."""
        if len(self.measures) == 1:
            return self.to_table()
        frame = self.to_frame()
        shown = frame.pivot_table(index="component", columns="measure", values="share", sort=False)
        shown = shown[[str(measure) for measure in self.measures]].map(lambda share: f"{100 * share:.1f} %")
        shown.columns.name = None
        return Table(shown, "Shares of the variance of a single score.", self.signature)

    def detail_tables(self) -> list[Table]:
        """Return how reliable means are, and what the budget buys."""
        known = self.reliability().set_index("measure").rename(columns={"expected_tau": "expected τ"})
        short = known[["Eρ²", "Φ", "detectable", "expected τ"]]
        now = ", ".join(format_count(round(number), facet) for facet, number in self.numbers.items() if facet != "run")
        legend = (
            "Eρ²: share of the variance of runs' means that is between runs. Φ: the same, where the level of scores counts "
            f"too. Detectable: the difference of two runs that a paired t-test at α = {self.alpha:g} finds with probability "
            f"{1 - self.beta:g}, over tasks where there are some. Expected τ: between two rankings on as many new topics."
        )
        tables = [Table(short, f"Reliability of runs' means over {now}.", self.signature, legend=legend)]
        if len(self.designs):
            columns = [name for name in _PLURALS.values() if name in self.designs]
            for measure, part in self.designs.groupby("measure", sort=False):
                shown = part.sort_values("coefficient", ascending=False, kind="stable").head(5)
                shown = shown[[*columns, "cost", "coefficient", "detectable"]].rename(columns={"coefficient": "Eρ²"})
                shown = shown.astype(dict.fromkeys(columns, int)).set_index(columns[0])
                title = f"Best designs for {self.budget:g}" + f" by {measure}" * (len(self.measures) > 1)
                tables.append(Table(shown, f"{title}, cheapest of equals first.", self.signature))
        return tables

    def charts(self) -> Sequence[Chart]:
        """Return Eρ² against cost, a line for each number of repeats and judges; without a budget, against topics."""
        x = "cost" if self.budget is not None else "topics"
        lines = []
        for (measure, name), part in self.curve.groupby(["measure", "line"], sort=False):
            label = str(name) if len(self.measures) == 1 or name == measure else f"{measure}, {name}"
            lines.append(Line(label, label, part[x].to_numpy(), part["coefficient"].to_numpy()))
        centre = self.numbers["topic"] if self.budget is None else self.budget
        ticks = [float(f"{centre * times:.2g}") for times in (0.25, 0.5, 1, 2, 4)]
        return [LineChart(lines, x, "Eρ² of runs' means", log=True, ticks=ticks, marks=6, names="right")]


def variance_components(
    ratings: Ratings | Scores,
    *,
    budget: float | None = None,
    prices: Mapping[str, float] | None = None,
    alpha: float = 0.05,
    beta: float = 0.2,
    confidence: float = 0.95,
    seed: int = 0,
) -> VarianceComponents:
    """Where does the noise of scores come from, and what to buy next: topics, repeats, judges or tasks?

    Parameters
    ----------
    ratings : Ratings or Scores
        At least two runs and topics; perhaps with repeats, judges and tasks. Cells may lack scores.
    budget : float, optional
        What a new collection may cost; needs prices.
    prices : mapping of str to float, optional
        Price of a topic, of a repeat of all runs on a topic, of a judge's scores of such a repeat, of a task. What has no
        price stays as it is.
    alpha : float, optional
    beta : float, optional
        Probability of missing the detectable difference.
    confidence : float, optional
        Level of the intervals, which take effects as normal.
    seed : int, optional

    Returns
    -------
    VarianceComponents

    Raises
    ------
    MetaevalError
        If a price is of what the scores do not have, or the budget does not pay for one topic.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(8, 1)) + rng.normal(size=30) + rng.normal(size=(8, 30))
    >>> scores = Scores(values[..., None], runs=list("abcdefgh"), topics=range(30), measures=["X"])
    >>> found = variance_components(scores, budget=200, prices={"topic": 10})
    >>> found.to_frame()[["component", "variance"]].round(2)
                   component  variance
    0                    run      0.64
    1                  topic      0.60
    2  run × topic and error      0.98
    >>> found.answer()
    '200 buys most with 20 topics.'
    """
    given = Ratings.from_scores(ratings) if isinstance(ratings, Scores) else ratings
    if not isinstance(given, Ratings):
        raise MetaevalError(f"this takes Ratings or Scores, not {type(ratings).__name__}")
    for name, share in (("alpha", alpha), ("beta", beta), ("confidence", confidence)):
        check_share(name, share)
    check_seed(seed)
    frame = given.frame
    numbers = {facet: float(frame[facet].nunique()) for facet in given.facets}
    _check_budget(budget, prices, numbers)
    rows = frame.groupby(["run", "measure"])["topic"].nunique()
    numbers["topic"] = float(rows.mean())
    if "repeat" in numbers:
        cells = [facet for facet in given.facets if facet != "repeat"]
        numbers["repeat"] = float(frame.groupby([*cells, "measure"]).size().mean())
    if "judge" in numbers:
        numbers["judge"] = float(frame.groupby(["run", "topic", "measure"])["judge"].nunique().mean())
    components, coefficients, taus = [], np.empty((len(given.measures), 2, 3)), []
    for m, measure in enumerate(given.measures):
        part = frame[frame["measure"] == str(measure)]
        codes = {facet: pd.factorize(part[facet], sort=True)[0] for facet in given.facets}
        rng = generator(seed, given.collection, "variance_components")
        found = find_components(part["score"].to_numpy(), codes, rng)
        components.append(found)
        both = np.concatenate([found.variance[np.newaxis], found.drawn])
        known = find_reliability(found.effects, both, numbers)
        for position, drawn in enumerate((known.relative_coefficient, known.absolute_coefficient)):
            ends = np.nanquantile(drawn[1:], [(1 - confidence) / 2, (1 + confidence) / 2])
            coefficients[m, position] = drawn[0], *ends
        taus.append(
            _expect_tau(
                part, coefficients[m, 0, 0], stream_key(seed, given.collection, "variance_components", "halves")
            )
        )
    relative = [find_reliability(one.effects, one.variance, numbers).relative for one in components]
    detectable = detectable_difference(np.array(relative), numbers.get("task", numbers["topic"]), alpha, beta)
    designs, curve = _plan(given.measures, components, numbers, budget, prices or {}, (alpha, beta))
    settings = {
        "measures": ", ".join(map(str, given.measures)),
        "facets": ", ".join(given.facets), "by": "mean squares" if all(each.balanced for each in components) else "REML",
        "confidence": f"{confidence:g}", "alpha": f"{alpha:g}", "beta": f"{beta:g}", "seed": str(seed),
    }  # fmt: skip
    if budget is not None:
        settings |= {
            "budget": f"{budget:g}",
            "prices": ", ".join(f"{part} {price:g}" for part, price in (prices or {}).items()),
        }
    size = f"{given.collection or 'ratings'}@{given.fingerprint} {given.size}"
    signature = Signature("variance_components", (size,), tuple(settings.items()), metaeval.__version__)
    return VarianceComponents(
        given.measures, tuple(components), numbers, coefficients, detectable, np.array(taus), designs, curve, confidence, alpha,
        beta, budget, signature, remarks=_remark(given.measures, components),
    )  # fmt: skip


def _check_budget(budget: float | None, prices: Mapping[str, float] | None, numbers: Mapping[str, float]) -> None:
    """Refuse a budget without prices, prices without a budget, and prices of what is not there."""
    if (budget is None) != (not prices):
        lacking = format_option("prices", "topic=10") if budget is not None else format_option("budget", "100")
        raise MetaevalError(f"a budget and prices go together: give {lacking} too")
    if budget is not None and prices:
        check_positive("budget", budget)
        check_prices(prices, {facet: number for facet, number in numbers.items() if facet != "run"})


def _expect_tau(part: pd.DataFrame, coefficient: float, key: int) -> float:
    """Return the expected τ of two rankings on as many new topics; with gaps, judges or tasks, that of normal runs."""
    # Two normal numbers with correlation r have τ = 2/π·arcsin r.
    means = part.pivot_table(index="run", columns="topic", values="score").to_numpy()
    if {"task", "judge"} & set(part) or np.isnan(means).any() or means.shape[1] < _FEWEST_HALVES:
        return float(2 / np.pi * np.arcsin(coefficient))
    found = expected_tau(means[..., np.newaxis], [means.shape[1]], key=key, intervals=False)
    return float(found.between[0, 0])


def _plan(
    measures: Sequence[Measure],
    components: Sequence[Components],
    numbers: Mapping[str, float],
    budget: float | None,
    prices: Mapping[str, float],
    errors: tuple[float, float],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what a budget buys by every measure, and Eρ² by cost; without a budget, by topics."""
    present = {facet: float(max(1, round(number))) for facet, number in numbers.items() if facet != "run"}
    designs, curves = [pd.DataFrame()], []
    for measure, found in zip(measures, components, strict=True):
        if budget is None:
            topics = np.unique(np.maximum(np.rint(np.array(_SIZES) * present["topic"]), present.get("task", 1.0)))
            known = find_reliability(found.effects, found.variance[np.newaxis], {**present, "topic": topics})
            points = {"topics": topics, "coefficient": known.relative_coefficient}
            curves.append(pd.DataFrame({"measure": str(measure), "line": str(measure), **points}))
            continue
        bought = list_designs(budget, prices, present)
        known = find_reliability(found.effects, found.variance[np.newaxis], bought)
        columns: dict[str, object] = {_PLURALS[facet]: bought[facet] for facet in present}
        columns |= {
            "cost": bought["cost"],
            "coefficient": known.relative_coefficient,
            "phi": known.absolute_coefficient,
        }
        columns["detectable"] = detectable_difference(known.relative, bought.get("task", bought["topic"]), *errors)
        frame = pd.DataFrame({"measure": str(measure), **columns})
        frame = frame.sort_values(["coefficient", "cost"], ascending=[False, True], kind="stable", ignore_index=True)
        designs.append(frame.assign(best=frame.index == 0))
        curves.append(_draw_curve(found, budget, prices, present).assign(measure=str(measure)))
    return pd.concat(designs, ignore_index=True), pd.concat(curves, ignore_index=True)


def _draw_curve(
    found: Components, budget: float, prices: Mapping[str, float], present: Mapping[str, float]
) -> pd.DataFrame:
    """Return Eρ² by cost of the best design, and of the best one with as many repeats, judges and tasks as now."""
    rows = []
    for cost in np.geomspace(budget / _AROUND, budget * _AROUND, _CURVE):
        try:
            bought = list_designs(float(cost), prices, present)
        except MetaevalError:  # it does not pay for a topic
            continue
        values = find_reliability(found.effects, found.variance[np.newaxis], bought).relative_coefficient
        as_now = np.all([bought[facet] == present[facet] for facet in present if facet != "topic"], axis=0)
        rows.append(("best design", cost, values.max()))
        if len(prices) > 1 and np.any(as_now):
            rows.append(("topics only", cost, values[as_now].max()))
    return pd.DataFrame(rows, columns=["line", "cost", "coefficient"])


def _remark(measures: Sequence[Measure], components: Sequence[Components]) -> tuple[str, ...]:
    """Say which estimates were negative, and what the design does not separate."""
    remarks = []
    negative = [
        effect.name if len(measures) == 1 else f"{effect.name} ({measure})"
        for measure, found in zip(measures, components, strict=True)
        for effect, raw, variance in zip(found.effects, found.raw, found.variance, strict=True)
        if raw < 0 or (variance == 0 and not found.balanced)
    ]
    if negative:
        remarks.append(
            f"no variance was found for {format_list(negative)}; set to 0\n"
            "The estimate by mean squares was negative, or the likelihood is largest at 0: there is little or none. The other "
            "components are as they were estimated."
        )
    merged = dict.fromkeys(name for found in components for name in found.merged)
    if merged:
        shown = [name.replace(" and ", " from ").replace(" or ", " from ") for name in merged]
        remarks.append(
            f"this design cannot separate {format_list(shown)}\n"
            "They have one component. Repeats of a run on a topic would separate run × topic from error."
        )
    return tuple(remarks)
