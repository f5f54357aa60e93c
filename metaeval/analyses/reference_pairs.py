"""Are the differences between runs that a measure finds significant right, by a reference? And words for such results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.power import DiscriminativePower
from metaeval.analyses.result import MeasureRows
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.errors import MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.show.table import Table
from metaeval.stats.intervals import interval_of_pairs
from metaeval.stats.significant_counts import count_conclusions

LIMIT, CHANCE = 0.05, 0.5
"""Share of contradicted pairs above which a reference contradicts a measure, and the share of a measure without knowledge."""

CONTRADICTED, TOLD, UNTOLD = "contradicts the reference", "better than chance", "cannot tell"
"""Words for a measure compared with a reference."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReferencePairs(MeasureRows):
    """What becomes of the pairs of runs that measures find significant, compared with those of a reference.

    Its rows have columns measure, significant, pairs (all of them); how many of the significant ones the reference confirms
    (confirmed), contradicts (contradicted), or does not find significant (only_here), and how many only the reference finds
    (missed); and the share of contradicted pairs, of those that both find significant, with low and high.
    """

    collection: str
    reference: Measure
    n_runs: int
    alpha: float
    test: str

    number: ClassVar[str] = "share"
    label: ClassVar[str] = "share contradicted, of the pairs that the reference finds significant too"

    @property
    def is_noise(self) -> bool:
        """Whether the reference finds no two runs significantly different."""
        return not self.rows[["confirmed", "contradicted", "missed"]].to_numpy().any()

    def answer(self) -> str:
        """Say whose differences the reference contradicts, or that it tells no runs apart itself."""
        if self.is_noise:
            return f"{self.reference} tells no two runs apart: whether measures are right cannot be said."
        wrong = self.rows.loc[self.rows["contradicted"] > 0, "measure"].tolist()
        if not wrong:
            return f"{self.reference} contradicts no difference that a measure finds."
        return f"{self.reference} contradicts differences that {format_list(wrong, 3)} find."

    def tables(self) -> list[Table]:
        """Return the counts beside the number of significant pairs."""
        frame = self.rows.set_index("measure")
        frame[["share", "low", "high"]] *= 100
        headings = {"significant": "#sig", "pairs": "#all", "only_here": "only here", "share": "% contradicted"}
        caption = (
            f"Significant run pairs at α = {self.alpha:g} by {self.test}, compared with those of {self.reference}."
        )
        legend = (
            f"{self.answer() if self.is_noise else ''} "
            "The reference confirms them, contradicts them, or does not find them (only here); missed: only the reference "
            "finds them. % contradicted: of the pairs that both find significant; low and high: its 95 % interval for other "
            "runs and other topics."
        ).strip()
        return [Table(frame.rename(columns=headings), caption, self.signature, digits=1, legend=legend)]


def reference_pairs(power: DiscriminativePower, reference: DiscriminativePower) -> ReferencePairs:
    """Are the differences between runs that a measure finds significant right, by a reference?"""
    if len(reference.measures) != 1:
        raise MetaevalError(f"a reference is one measure; there are {len(reference.measures)}")
    (standard,) = reference.measures
    if (power.runs, power.test, power.alpha) != (reference.runs, reference.test, reference.alpha):
        raise MetaevalError(f"{standard} was not tested as the measures were: other runs, test or alpha")
    conclusions, expected = (np.where(each.significant, each.winners, 0) for each in (power, reference))
    counts, n_runs = count_conclusions(conclusions, expected[0]), len(power.runs)
    contradicted, decided = counts[:, 1], counts[:, :2].sum(axis=1)
    low, high = interval_of_pairs(contradicted[np.newaxis], decided[np.newaxis], [n_runs])
    rows = pd.DataFrame({"measure": [str(measure) for measure in power.measures]})
    rows = rows.assign(significant=counts[:, :3].sum(axis=1), pairs=power.p_values.shape[1])
    rows[["confirmed", "contradicted", "only_here", "missed"]] = counts
    share = np.divide(contradicted, decided, out=np.full(len(low), np.nan), where=decided > 0)
    return ReferencePairs(
        measures=power.measures, rows=rows.assign(share=share, low=low, high=high), collection=power.collection,
        reference=standard, n_runs=n_runs, alpha=power.alpha, test=power.test,
        signature=power.signature.follow("reference_pairs", reference=f"{standard} of {reference.signature.data[0]}"),
        diagnostics=power.diagnostics,
    )  # fmt: skip


def grade(net: float) -> str:
    """Return the word for a net share between −1 and 1: good from a third up, poor from −1/3 down, fair, or a dash for NaN."""
    if np.isnan(net):
        return "–"
    third = 1 / 3 - 1e-12  # a third of three measures is a third, whatever rounding makes of it
    return "good" if net >= third else "poor" if net <= -third else "fair"


def rate_consistency(results: Sequence[SplitHalfConsistency]) -> np.ndarray:
    """Return how many measures each outperforms, significantly and net, as a mean share of the others, shape (measure,)."""
    ahead = np.array([each.significant & (each.means[:, None] > each.means) for each in results], dtype=float)
    net = (ahead.sum(axis=-1) - ahead.sum(axis=-2)) / max(1, ahead.shape[-1] - 1)
    return net.mean(axis=0)


def grade_reference(results: Sequence[ReferencePairs]) -> list[str]:
    """Return the word for every measure compared with the reference, with pairs added over collections."""
    contradicted = np.array([each.rows["contradicted"] for each in results])
    decided = contradicted + np.array([each.rows["confirmed"] for each in results])
    low, high = interval_of_pairs(contradicted, decided, [each.n_runs for each in results])
    return np.select([low > LIMIT, high < CHANCE], [CONTRADICTED, TOLD], UNTOLD).tolist()
