"""Does a measure capture several qualities at once? UIR and coverage (Amigó et al. 2020, §5.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_seed, check_share
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import LabelOrder, orient_scores, sort_labels
from metaeval.analyses.result import Result
from metaeval.analyses.variation import tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, MetaevalWarning, format_list
from metaeval.measures.base import Measure, find_signs
from metaeval.measures.resolve import Wanted, resolve_measures
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats import _coverage_in_blocks
from metaeval.stats.blocks import is_large
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.resampling import resampled_topics
from metaeval.stats.run_pairs import are_many
from metaeval.stats.streams import stream_key
from metaeval.stats.uir import (
    all_subsets,
    at_least_as_good,
    coverage_of_sets,
    coverage_resampled,
    unanimous,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

Reference = Iterable[Wanted] | Wanted

MOST_CANDIDATES = 16
"""Reference measures of a sweep: 2¹⁶ sets are as many as fit in a table that somebody can use."""

_SAME = 1e-9  # two coverages no farther apart share the top


@dataclass(frozen=True, eq=False)
class UnanimousImprovement(Result):
    """The Unanimous Improvement Ratio of every two runs.

    Parameters
    ----------
    runs : tuple of str
    reference : tuple of Measure
    ratio : ndarray, shape (run, run)
        ``ratio[s, z]`` is UIR(s, z): the share of topics on which s is at least as good as z for every reference
        measure, less the share where z is at least as good as s. From −1 to 1, and antisymmetric.
    signature : Signature
    """

    runs: tuple[str, ...]
    reference: tuple[Measure, ...]
    ratio: np.ndarray
    signature: Signature

    def __repr__(self) -> str:
        return f"UnanimousImprovement: {len(self.runs)} runs, {len(self.reference)} reference measures"

    def to_frame(self) -> pd.DataFrame:
        """Return the ratio as a square frame, run by run.

        Returns
        -------
        DataFrame, shape (run, run)
        """
        names = pd.Index(self.runs, name="run")
        return pd.DataFrame(self.ratio, index=names, columns=names.rename(None))

    def to_table(self) -> Table:
        """Return the Unanimous Improvement Ratio of every two runs."""
        measures = ", ".join(str(one) for one in self.reference)
        caption = f"Unanimous Improvement Ratio of the row's over the column's run, for {measures}."
        return Table(self.to_frame(), caption, self.signature)

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the ratio of every two runs, the run that improves on most others first."""
        from metaeval.show.canvas import open_canvas
        from metaeval.show.heatmap import scale_map
        from metaeval.show.style import find_size

        order = np.argsort(-self.ratio.sum(axis=1), kind="stable")
        names = [self.runs[r] for r in order]
        n = len(names)
        side = min(12.0, max(3.4, 0.2 * n + 2.0))
        if isinstance(size, str):  # the cells are square
            side = find_size(size, side + 0.8, side)[0] - 0.3
        with open_canvas(ax, size, self.signature if signature else None, width=side + 0.8, height=side) as canvas:
            axes = canvas.panels[0]
            ratio = self.ratio[np.ix_(order, order)]
            image = axes.imshow(ratio, vmin=-1, vmax=1, cmap=scale_map(-1, 1), interpolation="nearest")
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
    base = orient_scores(chosen)
    n_runs, n_topics, _ = base.shape
    first, second = np.triu_indices(n_runs, 1)
    ratio = np.zeros((n_runs, n_runs))
    if is_large(base) or are_many(n_runs, n_topics):
        counts = _coverage_in_blocks.count_unanimous(base)
    else:
        (counts,) = unanimous(at_least_as_good(base), np.ones((1, len(chosen.measures)), dtype=bool))
    ratio[first, second] = counts / n_topics
    ratio -= ratio.T
    signature = sign("uir", chosen, **diagnostics.settings)
    return UnanimousImprovement(scores.runs, chosen.measures, ratio, signature, diagnostics=(diagnostics,))


@dataclass(frozen=True, eq=False)
class Coverage(Result):
    """How closely the differences of each measure follow unanimous improvement.

    Parameters
    ----------
    measures : tuple of Measure
    reference : tuple of Measure
    coverage : ndarray, shape (measure,)
        Spearman's ρ over ordered pairs of runs; NaN where the measure, or the UIR, tells no two runs apart.
    low, high : ndarray, shape (measure,)
        Ends of the interval for the coverage on as many new topics; NaN when it was not asked for, or `no_interval`
        says why.
    confidence : float
    resampled : ndarray, shape (trial, measure)
        The coverage on resampled topics, the same for all measures; no trial where there is no interval.
    n_topics : int
    signature : Signature
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

        Returns
        -------
        DataFrame
            Columns measure, coverage, low, high and reference (whether the measure is one of the reference set).
        """
        inside = {str(one) for one in self.reference}
        names = [str(one) for one in self.measures]
        columns = {"coverage": self.coverage, "low": self.low, "high": self.high}
        return pd.DataFrame({"measure": names, **columns, "reference": [name in inside for name in names]})

    def compare_coverage(self) -> pd.DataFrame:
        """Does one measure cover more than another? The difference of every two, paired over resampled topics.

        Returns
        -------
        DataFrame, shape (pair of measures, 6)
            Columns measure_1, measure_2, difference (of the first's coverage less the second's), low, high, and
            covers_more: the measure that does if the interval leaves 0 out, and "cannot tell" otherwise.
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
        measures = ", ".join(str(one) for one in self.reference)
        caption = f"Coverage with respect to {measures}{interval}; the best in bold. {self.no_interval}".strip()
        best = frame["coverage"].max()
        words = pd.DataFrame("", index=shown.index, columns=shown.columns)
        words.loc[(frame["coverage"] >= best - _SAME).to_numpy(), "coverage"] = "bold"
        return Table(shown, caption, self.signature, marks=lambda _: words)

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the coverage of every measure with its interval, reference measures as hollow marks."""
        from metaeval.show.drawing import Interval, draw_intervals

        inside = {str(one) for one in self.reference}
        rows = [
            Interval(
                str(self.measures[m]), self.measures[m].title, self.coverage[m],
                line=(self.low[m], self.high[m]), hollow=str(self.measures[m]) in inside,
            )
            for m in np.argsort(np.nan_to_num(self.coverage, nan=-2.0), kind="stable")
        ]  # fmt: skip
        reference = ", ".join(one.title for one in self.reference)
        label = f"coverage with respect to {reference} (hollow)"
        return draw_intervals(rows, label, self.signature if signature else None, row_height=0.3, ax=ax, size=size)


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
    Unanimous Improvement Ratio. A power of two brings a typical score of each measure near to 1, and differences are
    then compared after rounding to 9 decimals, so that ties are ties.

    Parameters
    ----------
    scores : Scores
        At least two runs; every measure in it gets its coverage, the reference measures too.
    reference : names or Measures
        Any set of the measures in the scores.
    n_bootstrap : int, optional
        Resamples of the topics for the interval; 0 for none. All measures see the same resamples. With fewer than
        10 runs or 25 topics there is no interval.
    confidence : float, optional
        Level of the interval: how often it holds the expected coverage on as many new topics, for the same runs.
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
    chosen = _choose_reference(scores, reference).measures
    order = sort_labels(scores, signs=find_signs(scores.measures))
    cover = _Cover(order, order.measures[[scores.measures.index(one) for one in chosen]])
    found = cover.sets(np.ones((1, len(chosen)), dtype=bool))[0, order.measures]
    _warn_of_undefined(scores, np.isnan(found), chosen)
    low = high = np.full(len(found), np.nan)
    n_runs, n_topics = scores.values.shape[:2]
    no_interval = explain_no_interval(n_runs, n_topics) if n_bootstrap else ""
    drawn = np.empty((0, len(found)))
    if n_bootstrap and not no_interval:
        key = stream_key(seed, scores.collection, "coverage")
        drawn = cover.resample(key, n_bootstrap)[:, order.measures]
        low, high = centre_interval(found, drawn, n_topics, confidence=confidence, step=2 / (n_runs * (n_runs - 1)))
    resampling = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    signature = sign("coverage", scores, reference=", ".join(map(str, chosen)), **resampling, **diagnostics.settings)
    return Coverage(
        scores.measures, chosen, found, low, high, confidence, drawn, n_topics, signature, no_interval,
        diagnostics=(diagnostics,),
    )  # fmt: skip


_NAMED, _NAMED_IN_COLUMN = 31, 7
"""Most reference sets whose names stand below the figure; of more, it says how many measures they have."""


@dataclass(frozen=True, eq=False)
class CoverageSweep(Result):
    """The coverage of every measure under every reference set made of some candidates.

    Parameters
    ----------
    measures : tuple of Measure
    candidates : tuple of Measure
    members : ndarray of bool, shape (set, candidate)
        Which candidates are in each reference set: all non-empty ones, small sets first.
    coverage : ndarray, shape (set, measure)
    signature : Signature
    """

    measures: tuple[Measure, ...]
    candidates: tuple[Measure, ...]
    members: np.ndarray
    coverage: np.ndarray
    signature: Signature

    def __repr__(self) -> str:
        return f"CoverageSweep: {len(self.measures)} measures under {len(self.members):,} reference sets"

    @property
    def on_top(self) -> np.ndarray:
        """Whether a measure's coverage is the best one of a set, shape (set, measure); equals share the top."""
        known = np.where(np.isnan(self.coverage), -np.inf, self.coverage)
        best = known.max(axis=1, keepdims=True)
        return np.asarray((known >= best - _SAME) & np.isfinite(best))

    def to_frame(self) -> pd.DataFrame:
        """Return how each measure fares, whatever the reference set.

        Returns
        -------
        DataFrame
            Columns measure, on_top (share of all reference sets under which it has the best coverage),
            on_top_outside (share of the sets that it is not part of; NaN where it is part of all), mean, min and
            max of its coverage.
        """
        place = {str(one): position for position, one in enumerate(self.candidates)}
        rows = []
        for m, measure in enumerate(self.measures):
            top, values = self.on_top[:, m], self.coverage[:, m]
            inside = place.get(str(measure))
            outside = top if inside is None else top[~self.members[:, inside]]
            known = values[~np.isnan(values)]
            spread = (known.mean(), known.min(), known.max()) if len(known) else (np.nan,) * 3
            rows.append((str(measure), top.mean(), outside.mean() if len(outside) else np.nan, *spread))
        return pd.DataFrame(rows, columns=["measure", "on_top", "on_top_outside", "mean", "min", "max"])

    def sets(self) -> pd.DataFrame:
        """Return the coverage under every reference set.

        Returns
        -------
        DataFrame
            One row per set: its measures in the column reference, then one column per measure.
        """
        names = np.array([str(one) for one in self.candidates], dtype=object)
        labels = [" + ".join(names[inside]) for inside in self.members]
        frame = pd.DataFrame(self.coverage, columns=[str(one) for one in self.measures])
        frame.insert(0, "reference", labels)
        return frame

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the coverage under every reference set."""
        return {"sets": self.sets()}

    def to_table(self) -> Table:
        """Return how often each measure is on top, whatever the reference measures."""
        measures = ", ".join(str(one) for one in self.candidates)
        caption = (
            f"Coverage under all {len(self.members):,} reference sets made of {measures}: the share of sets under which "
            "a measure has the best coverage (of all, and of those that it is not part of), and its coverage over sets."
        )
        return Table(self.to_frame().set_index("measure"), caption, self.signature)

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw coverage under every reference set as a heat map, and how often each measure is on top."""
        from metaeval.show.canvas import open_canvas, typeset_ticks
        from metaeval.show.heatmap import scale_map

        frame = self.to_frame()
        order = np.argsort(-frame["on_top"].to_numpy(), kind="stable")
        # A column of print has no room for more names below each other, nor for a scale beside them.
        narrow = size == "column"
        few = len(self.members) <= (_NAMED_IN_COLUMN if narrow else _NAMED)
        height = 0.27 * len(order) + (2.9 if few else 1.7)
        said = self.signature if signature else None
        with open_canvas(
            ax, size, said, width=10.5, height=height, shape=(1, 2), width_ratios=(3 if narrow else 4, 1), sharey=True
        ) as canvas:
            left = canvas.panels[0]
            low = -1.0 if np.nanmin(self.coverage, initial=0) < 0 else 0.0
            image = left.imshow(
                self.coverage[:, order].T,
                aspect="auto",
                cmap=scale_map(low, 1),
                vmin=low,
                vmax=1,
                interpolation="nearest",
            )
            typeset_ticks(left, "y", [self.measures[m].title for m in order])
            self._label_sets(left, few, narrow)
            left.grid(False)
            place: dict[str, Any] = {"location": "top", "aspect": 30} if narrow else {"location": "left", "shrink": 0.8}
            canvas.figure.colorbar(image, ax=left, label="coverage", pad=0.02, **place)
            if len(canvas.panels) == 1:
                return canvas.figure
            right = canvas.panels[1]
            for row, m in enumerate(order):
                right.barh(row, 100 * frame["on_top"].iloc[m], color="#6CB6FF", height=0.7)
                outside = 100 * frame["on_top_outside"].iloc[m]
                right.plot(outside, row, "|", color="black", markersize=9)
            right.tick_params(labelleft=False)
            label = "% of sets on top\n(stroke: of sets without it)"
            if narrow:
                label = "% of sets\non top\n(stroke:\nof sets\nwithout it)"
            right.set(xlim=(0, 105), xlabel=label)
            right.grid(axis="y", visible=False)
        return canvas.figure

    def _label_sets(self, axes: Axes, few: bool, narrow: bool) -> None:
        """Name every reference set where they are few, and otherwise how many measures they have."""
        from metaeval.show.canvas import typeset_ticks

        sizes = self.members.sum(axis=1)
        starts = np.flatnonzero(np.diff(sizes, prepend=0))
        for start in starts[1:]:
            axes.axvline(start - 0.5, color="white", linewidth=1)
        if few:
            titles = np.array([one.title for one in self.candidates], dtype=object)
            labels = [" + ".join(titles[inside]) for inside in self.members]
            typeset_ticks(axes, "x", labels, rotation=60, ha="right", fontsize=6)
            return
        ends = [*starts[1:], len(sizes)]
        wide = [i for i, end in enumerate(ends) if end - starts[i] >= 0.02 * len(sizes)]
        middles = [(starts[i] + ends[i]) / 2 - 0.5 for i in wide]
        axes.set_xticks(middles, [str(sizes[starts[i]]) for i in wide])
        label = f"all {len(sizes):,} reference sets, by the number of measures in them"
        axes.set_xlabel(label.replace(", by the", ",\nby").removesuffix(" in them") if narrow else label)


def coverage_sweep(scores: Scores, *, candidates: Reference, distinct_runs: bool = False) -> CoverageSweep:
    """How much does coverage depend on the choice of the reference measures?

    Parameters
    ----------
    scores : Scores
        At least two runs; every measure in it gets its coverage under every set.
    candidates : names or Measures
        Up to 16 measures of the scores; every non-empty subset of them is a reference set.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.

    Returns
    -------
    CoverageSweep

    Raises
    ------
    MetaevalError
        As for `coverage`, and if there are more than 16 candidates.

    References
    ----------
    Coverage has been criticised for depending on a choice of reference measures that nothing decides (Sakai & Zeng,
    cited in Sakai 2021, §2.1). This shows how much it does.

    Examples
    --------
    >>> values = np.stack([[[0.1, 0.4]], [[0.3, 0.2]], [[0.5, 0.3]]])
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=["t"], measures=["Accuracy", "MAE_mu"])
    >>> coverage_sweep(scores, candidates=["Accuracy", "MAE_mu"]).to_frame()[["measure", "on_top"]].round(2)
        measure  on_top
    0  Accuracy    0.67
    1    MAE_mu    0.67
    """
    scores, diagnostics = choose_runs(scores, distinct_runs, topics=1)
    chosen = _choose_reference(scores, candidates).measures
    if len(chosen) > MOST_CANDIDATES:
        raise MetaevalError(f"{len(chosen)} candidates have too many subsets: at most {MOST_CANDIDATES} can be swept")
    members = all_subsets(len(chosen))
    members = members[np.argsort(members.sum(axis=1), kind="stable")]
    order = sort_labels(scores, signs=find_signs(scores.measures))
    cover = _Cover(order, order.measures[[scores.measures.index(one) for one in chosen]])
    found = cover.sets(members)[:, order.measures]
    signature = sign(
        "coverage_sweep", scores, candidates=", ".join(map(str, chosen)), sets=len(members), **diagnostics.settings
    )
    return CoverageSweep(scores.measures, chosen, members, found, signature, diagnostics=(diagnostics,))


def _choose_reference(scores: Scores, reference: Reference) -> Scores:
    """Return the scores of the reference measures alone."""
    there = [str(one) for one in scores.measures]
    wanted = resolve_measures(reference, labels=there)
    if not wanted:
        raise MetaevalError("unanimous improvement needs at least one reference measure")
    absent = [str(one) for one in wanted if str(one) not in there]
    if absent:
        raise MetaevalError(
            f"the reference measure {absent[0]} is not among the scores, which hold {format_list(there, most=12)}: "
            "score the runs with it too"
        )
    return scores.sel(measures=wanted)


class _Cover:
    """Coverage of sorted scores with respect to some of their measures, all pairs of runs at once or in blocks."""

    def __init__(self, order: LabelOrder, places: np.ndarray) -> None:
        self.values, self.places = order.values, places
        n_runs, n_topics, _ = self.values.shape
        self.in_blocks = is_large(self.values) or are_many(n_runs, n_topics)

    def sets(self, members: np.ndarray) -> np.ndarray:
        """Return the coverage under every reference set, shape (set, measure)."""
        if self.in_blocks:
            return _coverage_in_blocks.coverage_of_sets(self.values, self.places, members)
        return coverage_of_sets(self.values, self.values[..., self.places], members)

    def resample(self, key: int, n_bootstrap: int) -> np.ndarray:
        """Return the coverage on resampled topics, shape (trial, measure)."""
        if self.in_blocks:
            return _coverage_in_blocks.coverage_resampled(self.values, self.places, key, n_bootstrap)
        weights = resampled_topics(key, np.arange(n_bootstrap), self.values.shape[1])
        return coverage_resampled(self.values, self.values[..., self.places], weights)


def _warn_of_undefined(scores: Scores, undefined: np.ndarray, reference: tuple[Measure, ...]) -> None:
    if not undefined.any():
        return
    names = [str(one) for one, gone in zip(scores.measures, undefined, strict=True) if gone]
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
