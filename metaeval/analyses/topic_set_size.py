"""How many topics should a new collection have? Topic-set-size design (Sakai 2016; Sakai 2018, Chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_positive, check_share
from metaeval.analyses.prepare import prepare
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import format_count, format_list
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.table import Table
from metaeval.stats.intervals import explain_no_interval
from metaeval.stats.resampling import draw_weights
from metaeval.stats.variance_components import (
    detectable_difference,
    expected_width,
    fewest_topics,
    generalisability,
    power_of_anova,
    power_of_t_test,
    resample_components,
)

DESIGNS = ("t-test", "ANOVA", "interval", "generalisability")
"""For what topics are counted."""

_LOOSE = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicSetSize(Result):
    """How many topics every measure needs, by several designs.

    Parameters
    ----------
    measures : tuple of Measure
    topics : DataFrame
        A row for each measure and each of `DESIGNS`: columns measure, design, topics, low and high; infinite where no number
        is enough.
    variances : DataFrame
        What the numbers rest on, a row for each measure: the variances V_E2 and V_E1 and the generalisability coefficient of
        the topics there are, each with its interval, and the difference of two runs that a paired t-test on them finds.
    n_topics : int
        How many topics there are.
    difference : float
        The difference to detect, in units of the measures.
    legend : str
        What each design asks for.
    unit : str
        What is counted: "topic", or "cluster" where topics come in clusters.
    """

    measures: tuple[Measure, ...]
    topics: pd.DataFrame
    variances: pd.DataFrame
    n_topics: int
    difference: float
    legend: str
    unit: str = "topic"

    def __repr__(self) -> str:
        return f"TopicSetSize: a difference of {self.difference:g}, {len(self.measures)} measures"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the topics and the variances."""
        return {"topics": self.topics, "variances": self.variances}

    def answer(self) -> str:
        """Say how many topics a paired t-test needs, by the measure that needs fewest and the one that needs most."""
        numbers = self.topics[self.topics["design"] == "t-test"].set_index("measure")["topics"]
        few, many = numbers.min(), numbers.max()
        needed = format_count(int(few), self.unit) if np.isfinite(few) else f"more {self.unit}s than can be collected"
        most = f", {numbers.idxmax()} {int(many):,}" if few < many < np.inf else ""
        return (
            f"To find a difference of {self.difference:g} between two runs by a t-test, {numbers.idxmin()} needs "
            f"{needed}{most}."
        )

    def tables(self) -> list[Table]:
        """Return the numbers of topics with their intervals, a row for each measure; with all, what this collection can do."""
        shown = self.topics[["topics", "low", "high"]].map(lambda end: "∞" if np.isinf(end) else f"{end:.0f}")
        cells = shown["topics"] + (" (" + shown["low"] + "–" + shown["high"] + ")").where(
            self.topics["low"].notna(), ""
        )
        shown = self.topics.assign(cell=cells).pivot(index="measure", columns="design", values="cell")
        shown = shown.loc[[str(measure) for measure in self.measures], list(DESIGNS)].rename_axis(columns=None)
        known = self.variances.set_index("measure")[["detectable", "coefficient"]]
        caption = f"{self.unit.title()}s needed to find a difference of {self.difference:g}, and for three other aims."
        short = Table(shown, caption, self.signature, legend=self.legend, at=("short", "paper"))
        return [short, replace(short, frame=shown.join(known.add_suffix(f" with {self.n_topics}")), at=("all",))]

    def charts(self) -> Sequence[Chart]:
        """Return how many topics a paired t-test needs by every measure, with intervals."""
        numbers = self.topics[self.topics["design"] == "t-test"][["topics", "low", "high"]].to_numpy()
        rows = [
            Row(str(measure), measure.title, number, line=None if np.isnan(low) else (low, high))
            for measure, (number, low, high) in zip(self.measures, numbers, strict=True)
        ]
        return [IntervalChart(rows, f"{self.unit}s for a paired t-test to find a difference of {self.difference:g}")]


def topic_set_size(
    scores: Scores,
    *,
    difference: float = 0.1,
    interval_width: float | None = None,
    n_runs: int | None = None,
    alpha: float = 0.05,
    beta: float = 0.2,
    target: float = 0.95,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
) -> TopicSetSize:
    """How many topics should a new collection have, so that a measure finds a given difference between runs?

    A view of `variance_components` (metaeval variance) for runs on topics and a difference that matters. Take that one for
    repeats, judges, tasks or prices.

    Parameters
    ----------
    scores : Scores
        At least two runs and two topics, of the kind that the new collection will have. Where topics come in clusters,
        clusters are counted in place of topics.
    difference : float, optional
        The smallest difference of two runs' means that matters, in units of the measures.
    interval_width : float, optional
        How wide the confidence interval of a difference may be on average; by default as wide as `difference`.
    n_runs : int, optional
        How many runs the analysis of variance is to compare; by default as many as there are.
    alpha : float, optional
    beta : float, optional
        Probability of missing the difference.
    target : float, optional
        Generalisability coefficient to reach.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none. With fewer than 10 runs or 25 topics there is none.
    confidence : float, optional
        Level of the intervals.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional

    Returns
    -------
    TopicSetSize

    Raises
    ------
    MetaevalError
        If there are too few runs or topics, or an option is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = np.linspace(0.2, 0.8, 12)[:, None, None] + rng.normal(0, 0.2, (12, 40, 1))
    >>> scores = Scores(values, runs=list("abcdefghijkl"), topics=range(40), measures=["X"])
    >>> topic_set_size(scores, difference=0.1).to_frame()[["design", "topics", "low", "high"]]
                 design  topics    low   high
    0            t-test    69.0   60.0   80.0
    1             ANOVA   141.0  121.0  165.0
    2          interval   133.0  115.0  154.0
    3  generalisability    22.0   17.0   29.0
    """
    ready = prepare(scores, "topic_set_size", seed=seed, distinct_runs=distinct_runs, clusters="pool")
    present, n_topics, _ = ready.values.shape
    check_positive("difference", difference)
    width = difference if interval_width is None else interval_width
    check_positive("interval_width", width)
    n_compared = present if n_runs is None else n_runs
    check_count("n_runs", n_compared, 2)
    for name, share in (("alpha", alpha), ("beta", beta), ("target", target), ("confidence", confidence)):
        check_share(name, share)
    check_count("n_bootstrap", n_bootstrap, 0)
    no_interval = explain_no_interval(present, n_topics) if n_bootstrap else ""
    weights = np.ones((1, n_topics))  # all topics, and then resamples of them
    if n_bootstrap and not no_interval:
        weights = np.concatenate([weights, draw_weights(ready.key(), range(n_bootstrap), n_topics)])
    values = ready.restore(ready.values, "measure")
    residual, within, rates = _find_variances(np.moveaxis(values, -1, 0), weights, confidence)
    # More variance needs more topics, and so does a smaller ratio.
    ratio = (rates[:, [0, 2, 1]] - 1) / n_topics
    deviation = np.sqrt(2 * residual)  # of the difference of two runs
    with np.errstate(divide="ignore"):
        effect, spread, relative_width = difference / deviation, difference / np.sqrt(within), width / deviation
    needed = [
        fewest_topics(lambda n: power_of_t_test(n, effect, alpha) >= 1 - beta, effect),
        fewest_topics(lambda n: power_of_anova(n, spread, alpha, n_compared) >= 1 - beta, spread),
        fewest_topics(lambda n: expected_width(n, 1.0, alpha) <= relative_width, relative_width),
        # One rounding error below the target is the target.
        fewest_topics(lambda n: generalisability(ratio, n) >= target - 1e-14, ratio, least=1),
    ]
    names = [str(measure) for measure in ready.scores.measures]
    topics = pd.DataFrame({"measure": np.repeat(names, len(DESIGNS)), "design": [*DESIGNS] * len(names)})
    topics[["topics", "low", "high"]] = np.stack(needed, axis=1).reshape(-1, 3)
    variances = pd.DataFrame({"measure": names})
    coefficient = generalisability(ratio[:, [0, 2, 1]], n_topics)
    for name, ends in (("V_E2", residual), ("V_E1", within), ("coefficient", coefficient)):
        variances[[name, f"{name}_low", f"{name}_high"]] = ends
    variances["detectable"] = detectable_difference(residual[:, 0] / n_topics, n_topics, alpha, beta)
    legend = (
        f"T-test: to find a difference of {difference:g} with probability {1 - beta:g} at α = {alpha:g} by a paired t-test. "
        f"ANOVA: between the best and worst of {n_compared} runs. Interval: for a {100 * (1 - alpha):g} % confidence interval "
        f"of a difference {width:g} wide. Generalisability: for a coefficient of {target:g}. {no_interval}"
    ).strip()
    far = topics[topics["high"] > _LOOSE * topics["low"]]
    loose = [f"{design} ({name})" for design in DESIGNS for name in far.loc[far["design"] == design, "measure"]]
    remark = (
        f"the data hardly bound how many topics these need: {format_list(loose)}\n"
        f"The upper end of the interval is more than {_LOOSE} times the lower one."
    )
    resampling = {"bootstrap": n_bootstrap, "confidence": confidence, "seed": seed} if n_bootstrap else {}
    return TopicSetSize(
        measures=ready.scores.measures, topics=topics, variances=variances, n_topics=n_topics, difference=difference,
        legend=legend, unit="cluster" if scores.clusters else "topic", no_interval=no_interval,
        signature=ready.sign(
            difference=difference, interval_width=width, runs_compared=n_compared, alpha=alpha, beta=beta, target=target,
            **resampling,
        ),
        diagnostics=(ready.diagnostics,), remarks=(remark,) if loose else (),
    )  # fmt: skip


def _find_variances(values: np.ndarray, weights: np.ndarray, confidence: float) -> list[np.ndarray]:
    """Return V_E2, V_E1 and F of the runs, 1 + n·σ²_r/V_E2, of each measure with their intervals, shape (measure, 3).

    Variances and F vary in proportion to themselves: their intervals are symmetrical in the logarithm. Only the spread of the
    resamples counts, as everywhere.
    """
    from scipy.stats import t

    n_topics = weights.shape[1]
    parts, units = map(np.stack, zip(*(resample_components(each, weights) for each in values), strict=True))
    between, topic, residual = np.moveaxis(parts, -1, 0)
    within = topic + residual
    residual = np.where(residual > 1e-12 * within, residual, 0.0)
    ratio = np.divide(between, residual, out=np.where(between > 0, np.inf, np.nan), where=residual > 0)
    results = []
    for numbers, power in ((residual, 2), (within, 2), (1 + n_topics * ratio, 0)):
        estimate, drawn, spread = numbers[:, 0], numbers[:, 1:], np.full(len(numbers), np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            if drawn.size:
                spread = np.divide(drawn.std(axis=1, ddof=1), estimate, out=np.zeros_like(spread), where=estimate > 0)
            reach = np.exp(t.ppf((1 + confidence) / 2, n_topics - 1) * np.sqrt(n_topics / (n_topics - 1)) * spread)
            results.append(np.stack([estimate, estimate / reach, estimate * reach], axis=-1) * units[:, None] ** power)
    return results
