"""Does a measure capture several qualities at once? Unanimous improvement, and how it is covered (Amigó et al. 2020, §5.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_share
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.prepare import prepare
from metaeval.analyses.result import Result
from metaeval.analyses.variation import tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, MetaevalWarning, format_list
from metaeval.measures.base import Measure, find_signs
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import sign
from metaeval.show.style import find_size
from metaeval.show.table import Table
from metaeval.stats.blocks import Scaled
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.resampling import draw_weights
from metaeval.stats.uir import count_unanimous, coverage_resampled, find_coverage

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size

Reference = Iterable[MeasureLike] | MeasureLike

SAME_COVERAGE = 1e-9  # two coverages no farther apart share the top


@dataclass(frozen=True, eq=False, kw_only=True)
class Coverage(Result):
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
    """

    measures: tuple[Measure, ...]
    reference: tuple[Measure, ...]
    coverage: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    resampled: np.ndarray
    n_topics: int

    def __repr__(self) -> str:
        return f"Coverage: {len(self.measures)} measures, reference {', '.join(map(str, self.reference))}"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the coverage of every measure with its interval.

        Columns measure, coverage, low, high and reference (whether the measure is one of the reference set).
        """
        names, inside = [str(measure) for measure in self.measures], [str(measure) for measure in self.reference]
        columns = {"coverage": self.coverage, "low": self.low, "high": self.high}
        return {
            "coverage": pd.DataFrame({"measure": names, **columns, "reference": [name in inside for name in names]})
        }

    def answer(self) -> str:
        """Say which measure covers the reference best, and how many may cover as much."""
        if np.isnan(self.coverage).all():
            return "Coverage is not defined: no measure, or no unanimous improvement, tells runs apart."
        frame = self.to_frame()
        others = frame[~frame["reference"]]
        beside = bool(others["coverage"].notna().any())
        ranked = others if beside else frame
        best = ranked.iloc[int(ranked["coverage"].argmax())]
        share = f"(coverage {best['coverage']:.2f})"
        if len(frame) == 1:
            return f"{best['measure']} covers the reference {share}."
        whom, start = ("the reference", "") if not beside else ("it", "Besides the reference itself, ")
        sentence = f"{start}{best['measure']} covers {whom} best {share}"
        if frame["low"].isna().all():
            return f"{sentence}; whether clearly better than others is unknown."
        if len(ranked) == 1:
            return f"{sentence}."
        pairs = self.compare_coverage().query("covers_more == @best.measure")[["measure_1", "measure_2"]]
        clear = int(pairs.isin(ranked["measure"].tolist()).all(axis=1).sum())
        return f"{sentence}, clearly better than {clear or 'none'} of the {len(ranked) - 1} other measures."

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

    def tables(self) -> list[Table]:
        """Return the coverage of every measure, the best one first or in bold (Amigó et al. 2020, Table 3)."""
        frame = self.to_frame().set_index("measure")
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

    def charts(self) -> Sequence[Chart]:
        """Return the coverage of every measure with its interval, reference measures as hollow marks."""
        inside = {str(measure) for measure in self.reference}
        rows = [
            Row(str(self.measures[m]), self.measures[m].title, self.coverage[m], line=(self.low[m], self.high[m]),
                hollow=str(self.measures[m]) in inside)
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
    ready = prepare(scores, "coverage", seed=seed, distinct_runs=distinct_runs, topics=1, oriented=True)
    check_share("confidence", confidence)
    check_count("n_bootstrap", n_bootstrap, 0)
    measures, n_topics = ready.scores.measures, len(ready.scores.topics)
    chosen = _choose_reference(ready.scores, reference).measures
    every = Scaled(ready.values)
    base = Scaled(ready.values, ready.places[2][[measures.index(measure) for measure in chosen]])
    result = ready.restore(find_coverage(every, base), "measure")
    _warn_of_undefined(ready.scores, np.isnan(result), chosen)
    low = high = np.full(len(result), np.nan)
    n_runs = len(ready.values)
    no_interval = explain_no_interval(n_runs, n_topics) if n_bootstrap else ""
    drawn = np.empty((0, len(result)))
    if n_bootstrap and not no_interval:
        draw = partial(draw_weights, ready.key(), n_topics=n_topics)
        drawn = coverage_resampled(every, base, draw, n_bootstrap)[:, ready.places[2]]
        low, high = centre_interval(result, drawn, n_topics, confidence=confidence, step=2 / (n_runs * (n_runs - 1)))
    resampling = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    return Coverage(
        measures=measures, reference=chosen, coverage=result, low=low, high=high, confidence=confidence, resampled=drawn,
        n_topics=n_topics, signature=ready.sign(reference=", ".join(map(str, chosen)), **resampling),
        diagnostics=(ready.diagnostics,), no_interval=no_interval,
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

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the ratio of every two runs, the run that improves on most others first."""
        from metaeval.show.canvas import open_canvas
        from metaeval.show.heatmap import scale_map

        order = np.argsort(-self.ratio.sum(axis=1), kind="stable")
        names = [self.runs[r] for r in order]
        n = len(names)
        side = min(12.0, max(3.4, 0.2 * n + 2.0))
        if isinstance(size, str):  # the cells are square
            side = find_size(size, side + 0.8, side)[0] - 0.3
        with open_canvas(ax, size, self.signature if signature else None, width=side + 0.8, height=side) as canvas:
            axes = canvas.panels[0]
            ratio = self.ratio[np.ix_(order, order)]
            image = axes.imshow(ratio, vmin=-1, vmax=1, cmap=scale_map(-1), interpolation="nearest")
            axes.grid(False)
            # As many names as can be read, in letters of 6 points.
            shown = range(0, n, max(1, -(-n // int(9 * min(canvas.figure.get_size_inches())))))
            axes.set_xticks(shown, [names[r] for r in shown], rotation=90, fontsize=6)
            axes.set_yticks(shown, [names[r] for r in shown], fontsize=6)
            axes.set(xlabel="run", ylabel="run")
            label = "UIR, row over column"
            canvas.figure.colorbar(image, ax=axes, shrink=0.8, label=label, aspect=25).outline.set_visible(False)
        return canvas.figure


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
