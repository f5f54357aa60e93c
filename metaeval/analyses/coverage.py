"""Does a measure capture several qualities at once? How it covers unanimous improvement (Amigó et al. 2020, §5.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import check_options, prepare
from metaeval.analyses.result import MeasureRows, tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, MetaevalWarning, format_list
from metaeval.measures.base import Measure
from metaeval.measures.registry import suggest_measures
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.show.cells import bracket_ends
from metaeval.show.charts import IntervalChart
from metaeval.show.table import Table
from metaeval.stats.arrays import Scaled
from metaeval.stats.intervals import centre_interval, explain_no_interval, vary_differences
from metaeval.stats.resampling import draw_weights
from metaeval.stats.uir import coverage_resampled, find_coverage

SAME_COVERAGE = 1e-9  # two coverages no farther apart share the top


@dataclass(frozen=True, eq=False, kw_only=True)
class Coverage(MeasureRows):
    """How closely the differences of each measure follow unanimous improvement.

    `rows` have columns measure; coverage, Spearman's ρ over ordered pairs of runs, NaN where the measure, or the UIR, tells no
    two runs apart; low and high, the interval for as many new topics; and reference, whether it is one of the reference set.
    `differences`, paired over resampled topics, say which measure covers_more, if the interval leaves 0 out.
    """

    reference: tuple[Measure, ...]
    confidence: float

    number: ClassVar[str] = "coverage"

    def answer(self) -> str:
        """Say which measure covers the reference set best, and how many may cover as much."""
        rivals, below = self._compare()
        best = rivals.iloc[0]
        if np.isnan(best["coverage"]):
            return "Coverage is not defined: no measure, or no unanimous improvement, tells runs apart."
        covers = f"{best['measure']} covers the reference set best"
        if not best["reference"]:
            covers = f"Of the measures outside the reference set, {best['measure']} covers it best"
        sentence = f"{covers} (coverage {best['coverage']:.2f}{bracket_ends(best['low'], best['high'])})"
        if len(rivals) == 1 or self.differences.empty:
            return f"{sentence}."
        return f"{sentence}, clearly better than {len(below) or 'none'} of the {len(rivals) - 1} others."

    def _compare(self) -> tuple[pd.DataFrame, list[str]]:
        """Return the rows of the measures outside the reference set, the best first, and which are clearly below it."""
        outside = self.rows[~self.rows["reference"]]
        rivals = outside if outside["coverage"].notna().any() else self.rows
        rivals = rivals.sort_values("coverage", ascending=False, kind="stable")
        first, *others = rivals["measure"]
        worse = self.differences[self.differences["covers_more"] == first]
        return rivals, [name for name in others if name in {*worse["measure_1"], *worse["measure_2"]}]

    def tables(self) -> list[Table]:
        """Return the coverage of every measure, the best first (Amigó et al. 2020, Table 3)."""
        rivals, below = self._compare()
        frame = self.rows.set_index("measure").sort_values("coverage", ascending=False, kind="stable")
        frame["reference"] = ["yes" if inside else "" for inside in frame["reference"]]
        interval = f", {100 * self.confidence:g} % interval over topics"
        if frame["low"].isna().all():
            frame, interval = frame.drop(columns=["low", "high"]), ""
        if not self.differences.empty:
            frame[f"clearly below {rivals['measure'].iloc[0]}"] = ["yes" * (name in below) for name in frame.index]
        words = pd.DataFrame("", index=frame.index, columns=frame.columns)
        words.loc[frame["coverage"] >= frame["coverage"].max() - SAME_COVERAGE, "coverage"] = "bold"
        title = f"Coverage of {', '.join(map(str, self.reference))}{interval}"
        caption = (
            f"{title}: over pairs of runs, ρ of the difference in means with the share of topics won by all references."
        )
        won = "Won: topics on which one run is as good or better by all references, less those of the other"
        legend = f"{won}. ρ: Spearman's. One reference need not reach 1. {self.no_interval}".strip()
        bold = "Bold: the best."
        return [Table(frame, caption, self.signature, marks=lambda _: words, legend=legend, marked=bold, joined=True)]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the coverage of every measure with its interval, reference measures as hollow marks."""
        (chart,) = super().charts()
        rows = [replace(row, hollow=row.name in map(str, self.reference)) for row in chart.rows]
        label = f"coverage with respect to {', '.join(measure.title for measure in self.reference)} (hollow)"
        return [replace(chart, rows=rows, label=label, row_height=0.3)]


def coverage(
    scores: Scores,
    *,
    reference: Iterable[MeasureLike] | MeasureLike,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
) -> Coverage:
    """Does a measure capture all the qualities that the reference measures stand for?

    Do runs that win by the measure also win by all reference measures at once? For two runs, count the topics on which the one
    is at least as good by all of them, less those on which the other is, as a share of all topics (Unanimous Improvement
    Ratio, UIR). Coverage is the rank correlation (Spearman's ρ), over all pairs of runs, of that with the difference in means.

    Parameters
    ----------
    scores : Scores
        At least two runs; every measure in it gets its coverage, the reference measures too.
    reference : names or Measures
        Reference measures, any of the measures in the scores, one for each quality.
    confidence : float, optional
        Level of the interval: how often it contains the expected coverage on as many new topics, for the same runs.
    n_bootstrap, distinct_runs, seed : as for `discriminative_power`

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
    check_options(confidence=confidence, n_bootstrap=n_bootstrap)
    measures, (n_runs, n_topics, _) = ready.scores.measures, ready.values.shape
    names = [str(measure) for measure in measures]
    wanted = [str(measure) for measure in resolve_measures(reference, labels=names)]
    if not wanted:
        raise MetaevalError("unanimous improvement needs at least one reference measure")
    if absent := [name for name in wanted if name not in names]:
        hint = suggest_measures(absent[0], names, "reference") or "score the runs with it too"
        raise MetaevalError(f"the reference {absent[0]} is not among the scores of {format_list(names, 12)} ({hint})")
    positions = [names.index(name) for name in wanted]
    every, base = Scaled(ready.values), Scaled(ready.values, ready.places[2][positions])
    result = ready.restore(find_coverage(every, base), "measure")
    if undefined := [name for name, number in zip(names, result, strict=True) if np.isnan(number)]:
        why = f"{format_list(undefined)} gives all runs the same mean score"
        if len(undefined) == len(names):
            why = f"no run improves on another unanimously for {', '.join(wanted)}, or no measure tells runs apart"
        what = f"{why}: the coverage of {format_list(undefined)} is not defined"
        warnings.warn(f"{scores.collection or 'scores'}: {what}", MetaevalWarning, stacklevel=2)
    low, high, none = *np.full((2, len(result)), np.nan), np.empty(0)
    differences = tabulate_differences((), none, none, none, "covers_more")
    no_interval = explain_no_interval(n_runs, n_topics) if n_bootstrap else ""
    if n_bootstrap and not no_interval:
        draw = partial(draw_weights, ready.key(), n_topics=n_topics)
        drawn = ready.restore(coverage_resampled(every, base, draw, n_bootstrap), "measure")
        interval = partial(centre_interval, n_topics=n_topics, confidence=confidence)
        low, high = interval(result, drawn, step=2 / (n_runs * (n_runs - 1)))
        differences = tabulate_differences(measures, *vary_differences(result, drawn, interval), "covers_more")
    resampling = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    return Coverage(
        measures=measures, differences=differences, reference=tuple(measures[m] for m in positions), confidence=confidence,
        rows=pd.DataFrame({"measure": names, "coverage": result, "low": low, "high": high}).assign(
            reference=np.isin(names, wanted)
        ),
        signature=ready.sign(reference=", ".join(wanted), **resampling), diagnostics=(ready.diagnostics,),
        no_interval=no_interval,
    )  # fmt: skip
