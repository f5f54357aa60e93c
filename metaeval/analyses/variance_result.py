"""The result of `variance_components`: components, how reliable means of runs are, and what a budget buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.result import FormerResult
from metaeval.errors import format_count
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, Line, LineChart
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.decision_study import find_reliability
from metaeval.stats.variance_components import Components

LITTLE = 0.005
"""What doubling a facet must add to reliability to be worth saying."""

PLURALS = {"run": "runs", "topic": "topics", "repeat": "repeats", "judge": "judges", "task": "tasks"}


@dataclass(frozen=True, eq=False)
class VarianceComponents(FormerResult):
    """Components of variance of every measure, how reliable means of runs are, and what a budget buys.

    Parameters
    ----------
    measures : tuple of Measure
    components : tuple of Components
        One for each measure.
    numbers : mapping of str to float
        How many runs, topics, … there are.
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
            parts.append(
                pd.DataFrame(
                    {
                        "measure": str(measure),
                        "component": [effect.name for effect in found.effects],
                        "variance": found.variance,
                        "low": ends[0],
                        "high": ends[1],
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
            frame[f"Eρ² with twice the {PLURALS[facet]}"] = [self._double(found, facet) for found in self.components]
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
            answer, found = f"For {self.budget:g}, buy {self._describe(best)}{whose}.", best["coefficient"]
            less = f" What you have is more reliable (Eρ² {values[0]:.2f}, not {found:.2f})."
            return answer + less * bool(found < values[0])
        if len(self.measures) > 1:
            high, low = int(np.argmax(values)), int(np.argmin(values))
            return (
                f"{self.measures[high]} is most reliable (Eρ² {values[high]:.2f}), {self.measures[low]} least "
                f"({values[low]:.2f})."
            )
        gains = {facet: self._double(self.components[0], facet) for facet in self._bought()}
        best_facet = max(gains, key=lambda facet: gains[facet])
        if not np.isfinite(values[0]):
            return "The scores do not vary."
        if len(gains) > 1 and gains[best_facet] - values[0] < LITTLE:
            return f"Reliability (Eρ²) is {values[0]:.2f}; doubling anything would add little."
        if len(gains) > 1:
            return f"More {PLURALS[best_facet]} would help most; reliability (Eρ²) is {values[0]:.2f} now."
        return f"{100 * min(values[0], 0.999):.3g} % of the variance of runs' means is between runs."

    def _describe(self, design: pd.Series) -> str:
        bought = format_count(int(design["topics"]), "topic")
        each = [
            format_count(int(design[PLURALS[facet]]), facet)
            for facet in ("repeat", "judge")
            if PLURALS[facet] in design
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
        legend = (
            f"Variance in squares of the measure's unit, by mean squares, with {100 * self.confidence:g} % intervals for "
            "normal effects. Share: of the sum of all components, which is the variance of a single score."
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
            columns = [name for name in PLURALS.values() if name in self.designs]
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
