"""Does a measure capture several qualities at once? Unanimous improvement, and how it is covered (Amigó et al. 2020, §5.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_share
from metaeval.analyses.prepare import choose_runs, prepare
from metaeval.analyses.result import MeasureRows, Result
from metaeval.analyses.variation import tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, MetaevalWarning, format_list
from metaeval.measures.base import Measure, find_signs
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.show.charts import HeatMap, IntervalChart
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.arrays import Scaled
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.resampling import draw_weights
from metaeval.stats.uir import count_unanimous, coverage_resampled, find_coverage

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size

Reference = Iterable[MeasureLike] | MeasureLike

SAME_COVERAGE = 1e-9  # two coverages no farther apart share the top


@dataclass(frozen=True, eq=False, kw_only=True)
class Coverage(MeasureRows):
    """How closely the differences of each measure follow unanimous improvement.

    Its rows (`to_frame`) have columns measure; coverage, Spearman's ρ over ordered pairs of runs, NaN where the measure, or the
    UIR, tells no two runs apart; low and high, the interval for as many new topics; and reference, whether the measure is one
    of the reference set. Its `differences`, paired over resampled topics, have columns measure_1, measure_2, difference (of the
    first's coverage less the second's), low, high, and covers_more: the measure that does if the interval leaves 0 out, and
    "cannot tell" otherwise.

    Parameters
    ----------
    reference : tuple of Measure
    confidence : float
    """

    reference: tuple[Measure, ...]
    confidence: float

    number: ClassVar[str] = "coverage"

    def __repr__(self) -> str:
        return f"Coverage: {len(self.measures)} measures, reference {', '.join(map(str, self.reference))}"

    @property
    def label(self) -> str:  # type: ignore[override]
        """What the figure shows."""
        return f"coverage with respect to {', '.join(measure.title for measure in self.reference)} (hollow)"

    def answer(self) -> str:
        """Say which measure covers the reference best, and how many may cover as much."""
        if self.rows["coverage"].isna().all():
            return "Coverage is not defined: no measure, or no unanimous improvement, tells runs apart."
        others = self.rows[~self.rows["reference"] & self.rows["coverage"].notna()]
        ranked = others if len(others) else self.rows
        best = ranked.iloc[int(ranked["coverage"].argmax())]
        share = f"(coverage {best['coverage']:.2f})"
        if len(self.rows) == 1:
            return f"{best['measure']} covers the reference {share}."
        sentence = f"{best['measure']} covers the reference best {share}"
        if len(others):
            sentence = f"Besides the reference itself, {best['measure']} covers it best {share}"
        if self.differences.empty:
            return f"{sentence}; whether clearly better than others is unknown."
        n_others = int((~self.rows["reference"]).sum() if len(others) else len(self.rows)) - 1
        if not n_others:
            return f"{sentence}."
        worse = self.differences.query("covers_more == @best.measure")[["measure_1", "measure_2"]]
        clear = int(worse.isin(ranked["measure"].tolist()).all(axis=1).sum())
        return f"{sentence}, clearly better than {clear or 'none'} of the {n_others} other measures."

    def tables(self) -> list[Table]:
        """Return the coverage of every measure, the best one first or in bold (Amigó et al. 2020, Table 3)."""
        frame = self.rows.set_index("measure")
        best = (frame["coverage"] >= frame["coverage"].max() - SAME_COVERAGE).to_numpy()
        frame["reference"] = ["yes" if inside else "" for inside in frame["reference"]]
        interval = f", {100 * self.confidence:g} % interval over topics"
        if frame["low"].isna().all():
            frame, interval = frame.drop(columns=["low", "high"]), ""
        words = pd.DataFrame("", index=frame.index, columns=frame.columns)
        words.loc[best, "coverage"] = "bold"
        caption = f"Coverage with respect to {', '.join(map(str, self.reference))}{interval}."
        legend = f"The best in bold. {self.no_interval}".strip()
        whole = Table(
            frame, caption, self.signature, marks=lambda _: words, legend=legend, joined=True, at=("paper", "all")
        )
        ranked = frame.sort_values("coverage", ascending=False, kind="stable")
        return [replace(whole, frame=ranked, marks=None, at=("short",)), whole]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the coverage of every measure with its interval, reference measures as hollow marks."""
        inside = {str(measure) for measure in self.reference}
        (chart,) = super().charts()
        rows = [replace(row, hollow=row.name in inside) for row in chart.rows]
        return [replace(chart, rows=rows, row_height=0.3)]


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
    >>> coverage(scores, reference=["Accuracy"], n_bootstrap=0).rows["coverage"].round(3).tolist()
    [0.905, 0.503]
    """
    ready = prepare(scores, "coverage", seed=seed, distinct_runs=distinct_runs, topics=1, oriented=True)
    check_share("confidence", confidence)
    check_count("n_bootstrap", n_bootstrap, 0)
    measures, (n_runs, n_topics, _) = ready.scores.measures, ready.values.shape
    chosen, names = _choose_reference(ready.scores, reference).measures, [str(measure) for measure in measures]
    every = Scaled(ready.values)
    base = Scaled(ready.values, ready.places[2][[measures.index(measure) for measure in chosen]])
    result = ready.restore(find_coverage(every, base), "measure")
    _warn_of_undefined(ready.scores, np.isnan(result), chosen)
    low = high = np.full(len(result), np.nan)
    differences = pd.DataFrame()
    no_interval = explain_no_interval(n_runs, n_topics) if n_bootstrap else ""
    if n_bootstrap and not no_interval:
        draw = partial(draw_weights, ready.key(), n_topics=n_topics)
        drawn = coverage_resampled(every, base, draw, n_bootstrap)[:, ready.places[2]]
        interval = partial(centre_interval, n_topics=n_topics, confidence=confidence)
        low, high = interval(result, drawn, step=2 / (n_runs * (n_runs - 1)))
        first, second = np.triu_indices(len(names), 1)
        # A difference of two numbers from −1 to 1, halved to be one of them.
        gap, gaps = ((values[..., first] - values[..., second]) / 2 for values in (result, drawn))
        ends = interval(gap, gaps)
        differences = tabulate_differences(measures, 2 * gap, 2 * ends[0], 2 * ends[1], "covers_more")
    inside = [measure in chosen for measure in measures]
    rows = pd.DataFrame({"measure": names, "coverage": result, "low": low, "high": high, "reference": inside})
    resampling = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    return Coverage(
        measures=measures, rows=rows, differences=differences, reference=chosen, confidence=confidence,
        signature=ready.sign(reference=", ".join(map(str, chosen)), **resampling), diagnostics=(ready.diagnostics,),
        no_interval=no_interval,
    )  # fmt: skip


def _warn_of_undefined(scores: Scores, undefined: np.ndarray, reference: tuple[Measure, ...]) -> None:
    """Name the measures whose coverage is not defined, and say why."""
    if not undefined.any():
        return
    names = format_list([str(measure) for measure, missing in zip(scores.measures, undefined, strict=True) if missing])
    what = f"{names} gives all runs the same mean score"
    if undefined.all():
        together = ", ".join(map(str, reference))
        what = f"no run improves on another unanimously for {together}, or no measure tells runs apart"
    name = scores.collection or "scores"
    warnings.warn(f"{name}: {what}: the coverage of {names} is not defined", MetaevalWarning, stacklevel=3)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnanimousImprovement(Result):
    """The Unanimous Improvement Ratio of every two runs.

    Parameters
    ----------
    runs : tuple of str
    reference : tuple of Measure
    ratio : ndarray, shape (run, run)
        ``ratio[s, z]`` is UIR(s, z): the share of topics on which s is at least as good as z for every reference
        measure, less the share where z is at least as good as s. From −1 to 1, and antisymmetric.
    """

    runs: tuple[str, ...]
    reference: tuple[Measure, ...]
    ratio: np.ndarray

    def __repr__(self) -> str:
        return f"UnanimousImprovement: {len(self.runs)} runs, {len(self.reference)} reference measures"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the ratio as a square frame, run by run."""
        names = pd.Index(self.runs, name="run")
        return {"uir": pd.DataFrame(self.ratio, index=names, columns=names.rename(None))}

    def tables(self) -> list[Table]:
        """Return the ratio of every two runs."""
        measures = ", ".join(str(measure) for measure in self.reference)
        caption = f"Unanimous Improvement Ratio of the row's over the column's run, for {measures}."
        return [Table(self.to_frame(), caption, self.signature)]

    def charts(self) -> Sequence[HeatMap]:
        """Return the ratio of every two runs, the run that improves on most others first."""
        order = np.argsort(-self.ratio.sum(axis=1), kind="stable")
        names = [self.runs[run] for run in order]
        return [HeatMap(self.ratio[np.ix_(order, order)], names, names, "UIR, row over column", "{:.2f}".format)]

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the chart, no larger than 12 inches however many runs there are."""
        side = min(12.0, max(3.4, 0.62 * len(self.runs) + 1.4))
        return super().plot(ax=ax, size=(side + 0.4, side) if size is None else size, signature=signature)


def uir(scores: Scores, *, reference: Reference, distinct_runs: bool = False) -> UnanimousImprovement:
    """On how many more topics than the reverse is a run better than another for all reference measures at once?

    Parameters
    ----------
    scores : Scores
        At least two runs.
    reference : names or Measures
        Of the scores. With ≥ for every one of them, as the paper prints it: a topic on which two runs are equal in
        all of them counts for both and cancels out.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.

    Returns
    -------
    UnanimousImprovement

    Raises
    ------
    MetaevalError
        If there is one run only, no reference measure, or one that the scores do not hold.

    Examples
    --------
    >>> values = [[[0.5, 0.9], [0.2, 0.2]], [[0.4, 0.8], [0.4, 0.1]]]
    >>> scores = Scores(values, runs=["a", "b"], topics=["t", "u"], measures=["Accuracy", "MI"])
    >>> uir(scores, reference=["Accuracy", "MI"]).to_frame().loc["a", "b"]   # better on t, undecided on u
    np.float64(0.5)
    """
    scores, diagnostics = choose_runs(scores, distinct_runs, topics=1)
    chosen = _choose_reference(scores, reference)
    n_runs, n_topics = chosen.values.shape[:2]
    ratio = np.zeros((n_runs, n_runs))
    oriented = Scaled(chosen.values * find_signs(chosen.measures))
    ratio[np.triu_indices(n_runs, 1)] = count_unanimous(oriented) / n_topics
    ratio -= ratio.T
    return UnanimousImprovement(
        runs=scores.runs, reference=chosen.measures, ratio=ratio, signature=sign("uir", chosen, **diagnostics.settings),
        diagnostics=(diagnostics,),
    )  # fmt: skip


def _choose_reference(scores: Scores, reference: Reference) -> Scores:
    """Return the scores of the reference measures alone."""
    labels = [str(measure) for measure in scores.measures]
    measures = resolve_measures(reference, labels=labels)
    if not measures:
        raise MetaevalError("unanimous improvement needs at least one reference measure")
    absent = [str(measure) for measure in measures if str(measure) not in labels]
    if absent:
        raise MetaevalError(
            f"the reference measure {absent[0]} is not among the scores, which hold {format_list(labels, most=12)}: "
            "score the runs with it too"
        )
    return scores.sel(measures=measures)
