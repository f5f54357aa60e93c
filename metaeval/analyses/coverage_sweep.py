"""How much does coverage depend on the choice of the reference measures?"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.coverage import SAME_COVERAGE, scale_sides
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import Result
from metaeval.analyses.unanimous_improvement import Reference, choose_reference
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.uir import all_subsets, coverage_of_sets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

MOST_CANDIDATES = 16
"""Reference measures of a sweep: 2¹⁶ sets are as many as fit in a table that somebody can use."""

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
        return np.asarray((known >= best - SAME_COVERAGE) & np.isfinite(best))

    def to_frame(self) -> pd.DataFrame:
        """Return how each measure fares, whatever the reference set.

        Returns
        -------
        DataFrame
            Columns measure, on_top (share of all reference sets under which it has the best coverage),
            on_top_outside (share of the sets that it is not part of; NaN where it is part of all), mean, min and
            max of its coverage.
        """
        index = {str(measure): position for position, measure in enumerate(self.candidates)}
        rows = []
        for m, measure in enumerate(self.measures):
            top, values = self.on_top[:, m], self.coverage[:, m]
            inside = index.get(str(measure))
            outside = top if inside is None else top[~self.members[:, inside]]
            known = values[~np.isnan(values)]
            spread = (known.mean(), known.min(), known.max()) if len(known) else (np.nan,) * 3
            rows.append((str(measure), top.mean(), outside.mean() if len(outside) else np.nan, *spread))
        return pd.DataFrame(rows, columns=["measure", "on_top", "on_top_outside", "mean", "min", "max"])

    def answer(self) -> str:
        """Say which measure has the best coverage most often."""
        shares = self.on_top.mean(axis=0)
        best = int(np.argmax(shares))
        return (
            f"{self.measures[best].title} has the best coverage under {100 * shares[best]:.0f} % of "
            f"{len(self.members):,} reference sets."
        )

    def sets(self) -> pd.DataFrame:
        """Return the coverage under every reference set.

        Returns
        -------
        DataFrame
            One row per set: its measures in the column reference, then one column per measure.
        """
        names = np.array([str(measure) for measure in self.candidates], dtype=object)
        labels = [" + ".join(names[inside]) for inside in self.members]
        frame = pd.DataFrame(self.coverage, columns=[str(measure) for measure in self.measures])
        frame.insert(0, "reference", labels)
        return frame

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the coverage under every reference set."""
        return {"sets": self.sets()}

    def to_table(self) -> Table:
        """Return how often each measure is on top, whatever the reference measures."""
        measures = ", ".join(str(measure) for measure in self.candidates)
        caption = f"Coverage under all {len(self.members):,} reference sets made of {measures}."
        legend = (
            "The share of sets under which a measure has the best coverage (of all, and of those that it is not part of), "
            "and its coverage over sets."
        )
        return Table(self.to_frame().set_index("measure"), caption, self.signature, legend=legend, joined=True)

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
        signature_text = self.signature if signature else None
        with open_canvas(
            ax,
            size,
            signature_text,
            width=10.5,
            height=height,
            shape=(1, 2),
            width_ratios=(3 if narrow else 4, 1),
            sharey=True,
        ) as canvas:
            left = canvas.panels[0]
            low = -1.0 if np.nanmin(self.coverage, initial=0) < 0 else 0.0
            image = left.imshow(
                self.coverage[:, order].T,
                aspect="auto",
                cmap=scale_map(low),
                vmin=low,
                vmax=1,
                interpolation="nearest",
            )
            typeset_ticks(left, "y", [self.measures[m].title for m in order])
            self._label_sets(left, few, narrow)
            left.grid(False)
            layout: dict[str, Any] = (
                {"location": "top", "aspect": 30} if narrow else {"location": "left", "shrink": 0.8}
            )
            canvas.figure.colorbar(image, ax=left, label="coverage", pad=0.02, **layout)
            if len(canvas.panels) == 1:
                return canvas.figure
            right = canvas.panels[1]
            for row, m in enumerate(order):
                right.barh(row, 100 * frame["on_top"].iloc[m], color="#6CB6FF", height=0.7)
                outside = 100 * frame["on_top_outside"].iloc[m]
                right.plot(outside, row, "|", color="black", markersize=9)
            right.tick_params(labelleft=False)
            room = 28 if size is None else 11 if narrow else 16
            label = "\n".join(
                textwrap.fill(part, room) for part in ("% of sets on top", "(stroke: of sets without it)")
            )
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
            titles = np.array([measure.title for measure in self.candidates], dtype=object)
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
    chosen = choose_reference(scores, candidates).measures
    if len(chosen) > MOST_CANDIDATES:
        raise MetaevalError(f"{len(chosen)} candidates have too many subsets: at most {MOST_CANDIDATES} can be swept")
    members = all_subsets(len(chosen))
    members = members[np.argsort(members.sum(axis=1), kind="stable")]
    order = sort_labels(scores, signs=find_signs(scores.measures))
    result = coverage_of_sets(*scale_sides(scores, order, chosen), members)[:, order.measures]
    signature = sign(
        "coverage_sweep", scores, candidates=", ".join(map(str, chosen)), sets=len(members), **diagnostics.settings
    )
    return CoverageSweep(scores.measures, chosen, members, result, signature, diagnostics=(diagnostics,))
