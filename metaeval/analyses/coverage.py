"""Does a measure capture several qualities at once? Coverage of unanimous improvement (Amigó et al. 2020, §5.1)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_seed, check_share
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import LabelOrder, sort_labels
from metaeval.analyses.result import FormerResult
from metaeval.analyses.unanimous_improvement import Reference, choose_reference
from metaeval.analyses.variation import tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalWarning, format_list
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.blocks import Scaled
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.resampling import draw_weights
from metaeval.stats.streams import stream_key
from metaeval.stats.uir import coverage_resampled, find_coverage

SAME_COVERAGE = 1e-9  # two coverages no farther apart share the top


@dataclass(frozen=True, eq=False)
class Coverage(FormerResult):
    """How closely the differences of each measure follow unanimous improvement.

    Parameters
    ----------
    coverage : ndarray, shape (measure,)
        Spearman's ρ over ordered pairs of runs; NaN where the measure, or the UIR, tells no two runs apart.
    low, high : ndarray, shape (measure,)
        Ends of the interval for the coverage on as many new topics; NaN when it was not asked for, or `no_interval`
        says why.
    resampled : ndarray, shape (trial, measure)
        The coverage on resampled topics, the same for all measures; no trial where there is no interval.
    no_interval : str
        Why there is no interval, if it was asked for: too few runs or topics.
    """

    measures: tuple[Measure, ...]
    reference: tuple[Measure, ...]
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    resampled: np.ndarray
    n_topics: int
    signature: Signature
    no_interval: str = ""

    def __repr__(self) -> str:
        return f"Coverage: {len(self.measures)} measures, reference {', '.join(map(str, self.reference))}"

    def to_frame(self) -> pd.DataFrame:
        """Return the coverage of every measure with its interval.

        Columns measure, coverage, low, high and reference (whether the measure is one of the reference set).
        """
        inside = {str(measure) for measure in self.reference}
        names = [str(measure) for measure in self.measures]
        columns = {"coverage": self.coverage, "low": self.low, "high": self.high}
        return pd.DataFrame({"measure": names, **columns, "reference": [name in inside for name in names]})

    def answer(self) -> str:
        """Say which measure covers the reference best, and how many may cover as much."""
        if np.isnan(self.coverage).all():
            return "Coverage is not defined: no measure, or no unanimous improvement, tells runs apart."
        frame = self.to_frame()
        ranked = frame if frame["reference"].all() else frame[~frame["reference"]]
        if ranked["coverage"].isna().all():
            ranked = frame
        best = ranked.iloc[int(ranked["coverage"].argmax())]
        if len(frame) == 1:
            return f"{best['measure']} covers the reference (coverage {best['coverage']:.2f})."
        whom = "the reference" if len(ranked) == len(frame) else "it"
        found = f"{best['measure']} covers {whom} best (coverage {best['coverage']:.2f})"
        if whom == "it":
            found = f"Besides the reference itself, {found}"
        if frame["low"].isna().all():
            return f"{found}; whether clearly better than others is unknown."
        if len(ranked) == 1:
            return f"{found}."
        pairs = self.compare_coverage().query("covers_more == @best.measure")[["measure_1", "measure_2"]]
        clear = int(pairs.isin(ranked["measure"].tolist()).all(axis=1).sum())
        return f"{found}, clearly better than {clear or 'none'} of the {len(ranked) - 1} other measures."

    def compare_coverage(self) -> pd.DataFrame:
        """Does one measure cover more than another? The difference of every two, paired over resampled topics.

        Shape (pair of measures, 6): columns measure_1, measure_2, difference (of the first's coverage less the
        second's), low, high, and covers_more: the measure that does if the interval leaves 0 out, and "cannot tell"
        otherwise.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        # A difference of two numbers from −1 to 1, halved to be one of them.
        gap, gaps = ((values[..., first] - values[..., second]) / 2 for values in (self.coverage, self.resampled))
        low, high = centre_interval(gap, gaps, self.n_topics, confidence=self.confidence)
        return tabulate_differences(self.measures, 2 * gap, 2 * low, 2 * high, "covers_more")

    def to_table(self) -> Table:
        """Return the coverage of every measure with its interval; the best one in bold (Amigó et al. 2020, Table 3)."""
        frame = self.to_frame().set_index("measure")
        shown = frame.assign(reference=["yes" if inside else "" for inside in frame["reference"]])
        interval = f", {100 * self.confidence:g} % interval over topics" if shown["low"].notna().any() else ""
        if not interval:
            shown = shown.drop(columns=["low", "high"])
        measures = ", ".join(str(measure) for measure in self.reference)
        caption = f"Coverage with respect to {measures}{interval}."
        best = frame["coverage"].max()
        words = pd.DataFrame("", index=shown.index, columns=shown.columns)
        words.loc[(frame["coverage"] >= best - SAME_COVERAGE).to_numpy(), "coverage"] = "bold"
        legend = f"The best in bold. {self.no_interval}".strip()
        return Table(shown, caption, self.signature, marks=lambda _: words, legend=legend, joined=True)

    def short_tables(self) -> list[Table]:
        """Return the table with the measure that covers most first."""
        table = self.to_table()
        return [replace(table, frame=table.frame.sort_values("coverage", ascending=False, kind="stable"), marks=None)]

    def charts(self) -> Sequence[Chart]:
        """Return the coverage of every measure with its interval, reference measures as hollow marks."""
        inside = {str(measure) for measure in self.reference}
        rows = [
            Row(
                str(self.measures[m]), self.measures[m].title, self.coverage[m],
                line=(self.low[m], self.high[m]), hollow=str(self.measures[m]) in inside,
            )
            for m in np.argsort(np.nan_to_num(self.coverage, nan=-2.0), kind="stable")[::-1]
        ]  # fmt: skip
        reference = ", ".join(measure.title for measure in self.reference)
        return [IntervalChart(rows, f"coverage with respect to {reference} (hollow)", row_height=0.3)]


def coverage(
    scores: Scores,
    *,
    reference: Reference,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
) -> Coverage:
    """Does a measure capture all the qualities that the reference measures stand for?

    Coverage is Spearman's ρ, over ordered pairs of runs, between the difference of two runs' mean scores and their
    Unanimous Improvement Ratio. Differences that are equal up to rounding are ties.

    Parameters
    ----------
    scores : Scores
        At least two runs; every measure in it gets its coverage, the reference measures too.
    reference : names or Measures
        Reference measures, any of the measures in the scores, one for each quality.
    n_bootstrap : int, optional
        Resamples of the topics for the interval; 0 for none. All measures see the same resamples. With fewer than
        10 runs or 25 topics there is no interval.
    confidence : float, optional
        Level of the interval: how often it contains the expected coverage on as many new topics, for the same runs.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional

    Returns
    -------
    Coverage

    Raises
    ------
    MetaevalError
        If there is one run only, no reference measure, one that the scores do not hold, or an option is out of
        range.

    Warns
    -----
    MetaevalWarning
        Where a measure, or the reference set, tells no two runs apart, so that the coverage is not defined.

    Examples
    --------
    >>> values = np.stack([[[0.1, 0.4]], [[0.3, 0.2]], [[0.5, 0.3]]])
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=["t"], measures=["Accuracy", "MAE_mu"])
    >>> coverage(scores, reference=["Accuracy"], n_bootstrap=0).coverage.round(3).tolist()
    [0.905, 0.503]
    """
    scores, diagnostics = choose_runs(scores, distinct_runs, topics=1)
    check_share("confidence", confidence)
    check_seed(seed)
    check_count("n_bootstrap", n_bootstrap, 0)
    chosen = choose_reference(scores, reference).measures
    order = sort_labels(scores, signs=find_signs(scores.measures))
    every, base = scale_sides(scores, order, chosen)
    result = find_coverage(every, base)[order.measures]
    _warn_of_undefined(scores, np.isnan(result), chosen)
    low = high = np.full(len(result), np.nan)
    n_runs, n_topics = scores.values.shape[:2]
    no_interval = explain_no_interval(n_runs, n_topics) if n_bootstrap else ""
    drawn = np.empty((0, len(result)))
    if n_bootstrap and not no_interval:
        key = stream_key(seed, scores.collection, "coverage")
        draw = partial(draw_weights, key, n_topics=n_topics)
        drawn = coverage_resampled(every, base, draw, n_bootstrap)[:, order.measures]
        low, high = centre_interval(result, drawn, n_topics, confidence=confidence, step=2 / (n_runs * (n_runs - 1)))
    resampling = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    signature = sign("coverage", scores, reference=", ".join(map(str, chosen)), **resampling, **diagnostics.settings)
    return Coverage(
        scores.measures, chosen, result, low, high, confidence, drawn, n_topics, signature, no_interval,
        diagnostics=(diagnostics,),
    )  # fmt: skip


def scale_sides(scores: Scores, order: LabelOrder, reference: tuple[Measure, ...]) -> tuple[Scaled, Scaled]:
    """Return sorted scores of all measures, and of those of the reference."""
    inside = order.measures[[scores.measures.index(measure) for measure in reference]]
    return Scaled(order.values), Scaled(order.values, inside)


def _warn_of_undefined(scores: Scores, undefined: np.ndarray, reference: tuple[Measure, ...]) -> None:
    if not undefined.any():
        return
    names = [str(measure) for measure, gone in zip(scores.measures, undefined, strict=True) if gone]
    if undefined.all():
        together = ", ".join(map(str, reference))
        what = f"no run improves on another unanimously for {together}, or no measure tells runs apart"
    else:
        what = f"{format_list(names)} gives all runs the same mean score"
    warnings.warn(
        f"{scores.collection or 'scores'}: {what}: the coverage of {format_list(names)} is not defined",
        MetaevalWarning,
        stacklevel=3,
    )
