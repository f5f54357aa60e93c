"""On how many more topics is a run better than another for several measures at once? (Amigó et al. 2020, §5.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import orient_scores
from metaeval.analyses.result import FormerResult
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.show.signature import Signature, sign
from metaeval.show.style import find_size
from metaeval.show.table import Table
from metaeval.stats.blocks import Scaled
from metaeval.stats.uir import count_unanimous

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size

Reference = Iterable[MeasureLike] | MeasureLike


@dataclass(frozen=True, eq=False)
class UnanimousImprovement(FormerResult):
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
        """Return the ratio as a square frame, run by run, shape (run, run)."""
        names = pd.Index(self.runs, name="run")
        return pd.DataFrame(self.ratio, index=names, columns=names.rename(None))

    def to_table(self) -> Table:
        """Return the Unanimous Improvement Ratio of every two runs."""
        measures = ", ".join(str(measure) for measure in self.reference)
        caption = f"Unanimous Improvement Ratio of the row's over the column's run, for {measures}."
        return Table(self.to_frame(), caption, self.signature)

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
    chosen = choose_reference(scores, reference)
    n_runs, n_topics = chosen.values.shape[:2]
    ratio = np.zeros((n_runs, n_runs))
    ratio[np.triu_indices(n_runs, 1)] = count_unanimous(Scaled(orient_scores(chosen))) / n_topics
    ratio -= ratio.T
    signature = sign("uir", chosen, **diagnostics.settings)
    return UnanimousImprovement(scores.runs, chosen.measures, ratio, signature, diagnostics=(diagnostics,))


def choose_reference(scores: Scores, reference: Reference) -> Scores:
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
