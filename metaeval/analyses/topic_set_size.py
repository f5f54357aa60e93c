"""How many topics should a new collection have? Topic-set-size design (Sakai 2016; Sakai 2018, Chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_positive, check_seed, check_share
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import FormerResult
from metaeval.data.scores import Scores
from metaeval.errors import format_count, format_list
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.decision_study import (
    detectable_difference,
    expected_width,
    fewest_topics,
    generalisability,
    power_of_anova,
    power_of_t_test,
)
from metaeval.stats.intervals import explain_no_interval
from metaeval.stats.resampling import draw_weights
from metaeval.stats.streams import stream_key
from metaeval.stats.variance_components import refuse_unit, resample_components

DESIGNS = ("t-test", "ANOVA", "interval", "generalisability")
"""For what topics are counted."""

_LOOSE = 100


@dataclass(frozen=True, eq=False)
class TopicSetSize(FormerResult):
    """How many topics every measure needs, by several designs.

    Parameters
    ----------
    measures : tuple of Measure
    topics : ndarray, shape (design, measure, 3)
        The number of topics for each of `DESIGNS`, and the ends of its interval; infinite where no number is enough.
    residual, within : ndarray, shape (measure, 3)
        The variances V_E2 and V_E1, with their intervals.
    coefficient : ndarray, shape (measure, 3)
        The generalisability coefficient of the topics there are, with its interval.
    detectable : ndarray, shape (measure,)
        The difference of two runs that a paired t-test on the topics there are finds with probability 1 − β.
    n_topics : int
        How many topics there are.
    n_runs : int
        How many runs the analysis of variance is to compare.
    difference, interval_width : float
        The difference to detect, and the width of the confidence interval, in units of the measures.
    alpha, beta, target, confidence : float
    signature : Signature
    no_interval : str
        Why there is no interval, if it was asked for: too few runs or topics.
    """

    measures: tuple[Measure, ...]
    topics: np.ndarray
    residual: np.ndarray
    within: np.ndarray
    coefficient: np.ndarray
    detectable: np.ndarray
    n_topics: int
    n_runs: int
    difference: float
    interval_width: float
    alpha: float
    beta: float
    target: float
    confidence: float
    signature: Signature
    no_interval: str = ""

    def __repr__(self) -> str:
        return f"TopicSetSize: a difference of {self.difference:g}, {len(self.measures)} measures"

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of topics, one row a measure and design.

        Returns
        -------
        DataFrame
            Columns measure, design, topics, low, high.
        """
        names = [str(measure) for measure in self.measures]
        number, low, high = self.topics.transpose(2, 1, 0).reshape(3, -1)
        return pd.DataFrame(
            {
                "measure": np.repeat(names, len(DESIGNS)),
                "design": list(DESIGNS) * len(names),
                "topics": number,
                "low": low,
                "high": high,
            }
        )

    def variances(self) -> pd.DataFrame:
        """Return what the numbers rest on, one row a measure.

        Returns
        -------
        DataFrame
            Columns measure, and V_E2, V_E1 and coefficient, each with its interval, and detectable.
        """
        columns: dict[str, object] = {"measure": [str(measure) for measure in self.measures]}
        for name, values in (("V_E2", self.residual), ("V_E1", self.within), ("coefficient", self.coefficient)):
            columns |= {name: values[:, 0], f"{name}_low": values[:, 1], f"{name}_high": values[:, 2]}
        return pd.DataFrame({**columns, "detectable": self.detectable})

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the variances and the generalisability coefficient."""
        return {"variances": self.variances()}

    def answer(self) -> str:
        """Say how many topics a paired t-test needs, by the measure that needs fewest and the one that needs most."""
        numbers = self.topics[0, :, 0]
        few, many = int(np.argmin(numbers)), int(np.argmax(numbers))
        found = f"To find a difference of {self.difference:g} between two runs by a t-test, {self.measures[few]} needs "
        found += (
            format_count(int(numbers[few]), "topic")
            if np.isfinite(numbers[few])
            else "more topics than can be collected"
        )
        if len(numbers) == 1 or not np.isfinite(numbers[many]) or numbers[few] == numbers[many]:
            return f"{found}."
        return f"{found}, {self.measures[many]} {int(numbers[many]):,}."

    def to_table(self) -> Table:
        """Return the numbers of topics with their intervals, one row a measure."""
        cells = [[_write_number(self.topics[d, m]) for d in range(len(DESIGNS))] for m in range(len(self.measures))]
        shown = pd.DataFrame(cells, columns=list(DESIGNS), index=pd.Index([str(measure) for measure in self.measures]))
        shown.index.name = "measure"
        here = f"with {self.n_topics}"
        shown[f"detectable {here}"], shown[f"coefficient {here}"] = self.detectable, self.coefficient[:, 0]
        legend = (
            f"T-test: to find a difference of {self.difference:g} with probability {1 - self.beta:g} at α = {self.alpha:g} by "
            f"a paired t-test. ANOVA: between the best and worst of {self.n_runs} runs. Interval: for a "
            f"{100 * (1 - self.alpha):g} % confidence interval of a difference {self.interval_width:g} wide. "
            f"Generalisability: for a coefficient of {self.target:g}. {self.no_interval}"
        ).strip()
        caption = f"Topics needed to find a difference of {self.difference:g}, and for three other aims."
        return Table(shown, caption, self.signature, legend=legend)

    def to_summary(self) -> Table:
        """Return the numbers of topics, without what this collection can do."""
        return self.to_table().take(DESIGNS)

    def charts(self) -> Sequence[Chart]:
        """Return how many topics a paired t-test needs by every measure, with intervals."""
        rows = [
            Row(str(measure), measure.title, number, line=None if np.isnan(low) else (low, high))
            for measure, (number, low, high) in zip(self.measures, self.topics[0], strict=True)
        ]
        return [IntervalChart(rows, f"topics for a paired t-test to find a difference of {self.difference:g}")]


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
        At least two runs and two topics, of the kind that the new collection will have.
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
    scores, diagnostics = choose_runs(scores, distinct_runs)
    check_positive("difference", difference)
    width = difference if interval_width is None else interval_width
    check_positive("interval_width", width)
    n_compared = len(scores.runs) if n_runs is None else n_runs
    check_count("n_runs", n_compared, 2)
    for name, share in (("alpha", alpha), ("beta", beta), ("target", target), ("confidence", confidence)):
        check_share(name, share)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_seed(seed)
    order = sort_labels(scores)
    n_topics = len(scores.topics)
    no_interval = explain_no_interval(len(scores.runs), n_topics) if n_bootstrap else ""
    weights = np.ones((1, n_topics))  # all topics, and then resamples of them
    if n_bootstrap and not no_interval:
        key = stream_key(seed, scores.collection, "topic_set_size")
        weights = np.concatenate([weights, draw_weights(key, range(n_bootstrap), n_topics)])
    values = [order.values[..., m] for m in order.measures]
    residual, within, rates = _find_variances(values, weights, confidence)
    # More variance needs more topics, and so does a smaller ratio.
    ratio = (rates[:, [0, 2, 1]] - 1) / n_topics
    deviation = np.sqrt(2 * residual)  # of the difference of two runs
    with np.errstate(divide="ignore"):
        effect, spread, relative_width = difference / deviation, difference / np.sqrt(within), width / deviation
    topics = np.stack(
        [
            fewest_topics(lambda n: power_of_t_test(n, effect, alpha) >= 1 - beta, effect),
            fewest_topics(lambda n: power_of_anova(n, spread, alpha, n_compared) >= 1 - beta, spread),
            fewest_topics(lambda n: expected_width(n, 1.0, alpha) <= relative_width, relative_width),
            # One rounding error below the target is the target.
            fewest_topics(lambda n: generalisability(ratio, n) >= target - 1e-14, ratio, least=1),
        ]
    )
    resampling = {"bootstrap": n_bootstrap, "confidence": confidence, "seed": seed} if n_bootstrap else {}
    signature = sign(
        "topic_set_size", scores, difference=difference, interval_width=width, runs_compared=n_compared, alpha=alpha, beta=beta,
        target=target, **resampling, **diagnostics.settings,
    )  # fmt: skip
    return TopicSetSize(
        scores.measures, topics, residual, within, generalisability(ratio[:, [0, 2, 1]], n_topics),
        detectable_difference(residual[:, 0] / n_topics, n_topics, alpha, beta), n_topics, n_compared, difference, width,
        alpha, beta, target, confidence, signature, no_interval, diagnostics=(diagnostics,),
        remarks=_remark(scores.measures, topics),
    )  # fmt: skip


def _find_variances(values: Sequence[np.ndarray], weights: np.ndarray, confidence: float) -> list[np.ndarray]:
    """Return V_E2, V_E1 and F of the runs, 1 + n·σ²_r/V_E2, of each measure with their intervals, shape (measure, 3)."""
    parts, units = map(np.stack, zip(*(resample_components(each, weights) for each in values), strict=True))
    for unit in units.tolist():
        refuse_unit(unit)
    between, topic, residual = np.moveaxis(parts, -1, 0)
    within = topic + residual
    residual = np.where(residual > 1e-12 * within, residual, 0.0)
    ratio = np.divide(between, residual, out=np.where(between > 0, np.inf, np.nan), where=residual > 0)
    rates = 1 + weights.shape[1] * ratio
    found = [_find_ends(each, weights.shape[1], confidence) for each in (residual, within, rates)]
    with np.errstate(over="ignore", invalid="ignore"):
        squares = units[:, np.newaxis] ** 2
        return [found[0] * squares, found[1] * squares, found[2]]


def _find_ends(numbers: np.ndarray, n_topics: int, confidence: float) -> np.ndarray:
    """Return each first number with its interval, shape (measure, 3), from those of resamples, shape (measure, trial).

    Variances and F vary in proportion to themselves: their intervals are symmetrical in the logarithm. Only the spread of the
    resamples counts, as everywhere.
    """
    from scipy.stats import t

    estimate, drawn, spread = numbers[:, 0], numbers[:, 1:], np.full(len(numbers), np.nan)
    if drawn.size:
        with np.errstate(invalid="ignore"):
            spread = np.divide(drawn.std(axis=1, ddof=1), estimate, out=np.zeros_like(spread), where=estimate > 0)
    reach = np.exp(t.ppf((1 + confidence) / 2, n_topics - 1) * np.sqrt(n_topics / (n_topics - 1)) * spread)
    return np.stack([estimate, estimate / reach, estimate * reach], axis=-1)


def _remark(measures: Sequence[Measure], topics: np.ndarray) -> tuple[str, ...]:
    """Say which numbers of topics are hardly known."""
    loose = [f"{DESIGNS[d]} ({measures[m]})" for d, m in np.argwhere(topics[..., 2] > _LOOSE * topics[..., 1])]
    if not loose:
        return ()
    return (
        f"the data hardly bound how many topics these need: {format_list(loose)}\n"
        f"The upper end of the interval is more than {_LOOSE} times the lower one.",
    )


def _write_number(ends: np.ndarray) -> str:
    number, low, high = ("∞" if np.isinf(end) else f"{end:.0f}" for end in ends)
    return number if np.isnan(ends[1]) else f"{number} ({low}–{high})"
