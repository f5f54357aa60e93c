"""Are the differences between runs that a measure finds significant right, by a reference?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.result import FormerResult
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.intervals import interval_of_pairs

COUNTS = ("confirmed", "contradicted", "only_here", "missed")
"""What becomes of significant pairs of runs, compared with those of the reference."""


@dataclass(frozen=True, eq=False)
class ReferencePairs(FormerResult):
    """What becomes of the pairs of runs that measures find significant, compared with those of a reference.

    Parameters
    ----------
    collection : str
    measures : tuple of Measure
        All but the reference.
    reference : Measure
    counts : ndarray of int, shape (measure, 4)
        Significant pairs of runs that the reference confirms, contradicts, or does not find significant, and those that
        only the reference finds.
    n_pairs, n_runs : int
    alpha, confidence : float
    test : str
    signature : Signature
    """

    collection: str
    measures: tuple[Measure, ...]
    reference: Measure
    counts: np.ndarray
    n_pairs: int
    n_runs: int
    alpha: float
    confidence: float
    test: str
    signature: Signature

    def __repr__(self) -> str:
        return f"ReferencePairs: {len(self.measures)} measures, {self.reference}, {self.collection or 'scores'}"

    @property
    def contradicted(self) -> np.ndarray:
        """Significant pairs that the reference contradicts, shape (measure,)."""
        return self.counts[:, 1]

    @property
    def decided(self) -> np.ndarray:
        """Pairs that both the measure and the reference find significant, alike or the reverse, shape (measure,)."""
        return self.counts[:, :2].sum(axis=1)

    def to_frame(self) -> pd.DataFrame:
        """Return what becomes of every measure's significant pairs of runs, shape (measure, 10)."""
        low, high = interval_of_pairs(
            self.contradicted[np.newaxis], self.decided[np.newaxis], [self.n_runs], confidence=self.confidence
        )
        share = np.divide(self.contradicted, self.decided, out=np.full(len(low), np.nan), where=self.decided > 0)
        counted = dict(zip(COUNTS, self.counts.T, strict=True))
        names = {"measure": [str(measure) for measure in self.measures]}
        result = {"significant": self.counts[:, :3].sum(axis=1), "pairs": self.n_pairs}
        return pd.DataFrame({**names, **result, **counted, "share": share, "low": low, "high": high})

    def to_table(self) -> Table:
        """Return the counts beside the number of significant pairs."""
        frame = self.to_frame().set_index("measure")
        frame[["share", "low", "high"]] *= 100
        headings = {"significant": "#sig", "pairs": "#all", "only_here": "only here", "share": "% contradicted"}
        caption = (
            f"Significant run pairs at α = {self.alpha:g} by {self.test}, compared with those of {self.reference}."
        )
        legend = (
            "The reference confirms them, contradicts them, or does not find them (only here); missed: only the reference "
            "finds them. % contradicted: of the pairs that both find significant; low and high: its "
            f"{100 * self.confidence:g} % interval for other runs and other topics."
        )
        return Table(frame.rename(columns=headings), caption, self.signature, digits=1, legend=legend)

    def charts(self) -> Sequence[Chart]:
        """Return which share of its significant pairs the reference contradicts, by measure; the line shows chance."""
        frame = self.to_frame()
        order = np.argsort(-frame["share"].fillna(2.0).to_numpy(), kind="stable")[::-1]
        rows = [
            Row(
                str(self.measures[m]), self.measures[m].title, frame["share"][m],
                line=(frame["low"][m], frame["high"][m]),
            )
            for m in order.tolist()
        ]  # fmt: skip
        label = f"share contradicted by {self.reference.title}, of the pairs that both find significant"
        height = 0.26 if len(rows) > 12 else 0.42
        return [IntervalChart(rows, label, levels=[(0.5, ":")], limits=(-0.02, 1.02), row_height=height)]


def reference_pairs(
    power: DiscriminativePower, reference: DiscriminativePower, *, confidence: float = 0.95
) -> ReferencePairs:
    """Are the differences between runs that a measure finds significant right, by a reference?

    Examples
    --------
    >>> from metaeval.data.scores import Scores
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> up = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> scores = Scores(np.concatenate([up, -up, up], axis=-1), runs=["a", "b", "c"], topics=range(12),
    ...                 measures=["good", "bad", "MQM"], higher_is_better=True)
    >>> power = discriminative_power(scores.sel(measures=["good", "bad"]), n_permutations=500)
    >>> found = reference_pairs(power, discriminative_power(scores.sel(measures="MQM"), n_permutations=500))
    >>> found.to_frame()[["measure", "significant", "confirmed", "contradicted", "only_here", "missed"]]
      measure  significant  confirmed  contradicted  only_here  missed
    0    good            2          2             0          0       0
    1     bad            2          0             2          0       0
    """
    if len(reference.measures) != 1:
        raise MetaevalError(f"a reference is one measure; there are {len(reference.measures)}")
    mine, theirs = ((each.runs, each.test, each.alpha) for each in (power, reference))
    if mine != theirs:
        raise MetaevalError(f"{reference.measures[0]} was not tested as the measures were: other runs, test or alpha")
    conclusions = [np.where(each.significant, each.winners, 0) for each in (power, reference)]
    return ReferencePairs(
        power.collection, power.measures, reference.measures[0], count_conclusions(conclusions[0], conclusions[1][0]),
        power.p_values.shape[1], len(power.runs), power.alpha, confidence, power.test,
        power.signature.follow("reference_pairs", reference=f"{reference.measures[0]} of {reference.signature.data[0]}"),
        diagnostics=power.diagnostics,
    )  # fmt: skip


def count_confirmed(power: DiscriminativePower, reference: Measure, measures: Sequence[Measure]) -> np.ndarray:
    """What becomes of the significant pairs of runs, compared with those of the reference?"""
    names = [str(measure) for measure in power.measures]
    conclusions = np.where(power.significant, power.winners, 0)
    return count_conclusions(
        conclusions[[names.index(str(measure)) for measure in measures]], conclusions[names.index(str(reference))]
    )


def count_conclusions(conclusions: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Count what becomes of conclusions about pairs of runs, compared with those of the reference, shape (measure, 4)."""
    both = conclusions * reference
    counted = [both > 0, both < 0, (conclusions != 0) & (reference == 0), (conclusions == 0) & (reference != 0)]
    return np.stack([each.sum(axis=1) for each in counted], axis=1)


def name_flips(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return what becomes of conclusions, 1, −1 or 0 where it is open: reversed, lost, new, or nothing.

    >>> name_flips(np.array([1, 1, 0, 1]), np.array([-1, 0, 1, 1])).tolist()
    ['reversed', 'lost', 'new', '']
    """
    return np.select(
        [before * after < 0, (before != 0) & (after == 0), before != after], ["reversed", "lost", "new"], ""
    )
