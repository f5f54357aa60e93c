"""Do two measures find the same run pairs significantly different? (Sakai, LQ 2021, §5.2 and Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_measures, check_power
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.result import Result
from metaeval.analyses.variation import name_pairs
from metaeval.measures.base import Measure
from metaeval.show.charts import HeatMap
from metaeval.show.signature import Signature
from metaeval.show.frames import MANY, arrange_pairs, sum_up_matrix
from metaeval.show.table import Table
from metaeval.stats.significant_counts import count_common


@dataclass(frozen=True, eq=False)
class SignificanceOverlap(Result):
    """How the significant differences found by two measures overlap.

    Parameters
    ----------
    collection : str
    measures : tuple of Measure
    both : ndarray of int, shape (measure, measure)
        ``both[i, j]`` is b, the number of run pairs significant with both measures; the diagonal holds S_D.
    signature : Signature
    """

    collection: str
    measures: tuple[Measure, ...]
    both: np.ndarray
    signature: Signature

    def __repr__(self) -> str:
        return f"SignificanceOverlap: {len(self.measures)} measures, {self.collection or 'scores'}"

    def to_frame(self) -> pd.DataFrame:
        """Return a, b, c and SSO = b / (a + b + c) of every pair of measures: LQ 2021, Table 4.

        Columns measure_1, measure_2, a (significant with measure 1 only), b (with both), c (with measure 2 only),
        sso; sso is NaN where neither measure finds anything.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        result, b = np.diagonal(self.both), self.both[first, second]
        counts = {"a": result[first] - b, "b": b, "c": result[second] - b}
        return pd.DataFrame({**name_pairs(self.measures), **counts, "sso": self._share()[first, second]})

    def beside(self, measure: str) -> Table:
        """Return the overlap of one measure with each other one, the largest first."""
        pairs = self.to_frame().query("measure_1 == @measure or measure_2 == @measure")
        first = pairs["measure_1"] == measure
        mine, other = pairs["a"].where(first, pairs["c"]), pairs["c"].where(first, pairs["a"])
        names = pd.Index(pairs["measure_2"].where(first, pairs["measure_1"]), name="measure")
        columns = {"overlap, %": 100 * pairs["sso"], "both": pairs["b"], "only this one": mine, "only the other": other}
        row = pd.DataFrame(columns).set_index(names).sort_values("overlap, %", ascending=False)
        return Table(row, f"Run pairs that {measure} and another measure find significant.", self.signature, digits=1)

    def to_table(self) -> Table:
        """Return SSO in percent with (a/b/c); 90 and above bold, below 70 underlined (LQ 2021, Table 4)."""
        frame = self.to_frame()
        percent = 100 * frame["sso"]
        cells = [
            f"{'–' if np.isnan(p) else f'{p:.1f}'} ({a}/{b}/{c})"
            for p, a, b, c in zip(percent, frame["a"], frame["b"], frame["c"], strict=True)
        ]
        names = [str(measure) for measure in self.measures]
        words = np.select([percent >= 90, percent < 70], ["bold", "underline"], "")
        legend = (
            "SSO = b / (a + b + c) in percent; a, c: run pairs significant with the row's or the column's measure only, b: "
            "with both. 90 and above in bold, below 70 underlined."
        )
        caption = "Significance overlap of every two measures (SSO)."
        marks = arrange_pairs(names, list(words), "")
        return Table(arrange_pairs(names, cells, "–"), caption, self.signature, marks=lambda _: marks, legend=legend)

    def answer(self) -> str:
        """Say which two measures find the same differences most, and which least."""
        frame = self.to_frame().dropna(subset="sso")
        if not len(frame):
            return "No measure finds a significant difference."
        ends = [
            (frame.iloc[frame["sso"].argmax()], "agree most on which differences are significant"),
            (frame.iloc[frame["sso"].argmin()], "least"),
        ]
        parts = [f"{row.measure_1} and {row.measure_2} {what} (overlap {100 * row.sso:.0f} %)" for row, what in ends]
        return f"{', '.join(parts[: len(frame)])}."

    def _share(self) -> np.ndarray:
        """Return SSO of every two measures, shape (measure, measure); NaN where neither finds anything."""
        counts = np.diagonal(self.both)
        union = counts[:, None] + counts - self.both
        return np.divide(self.both, union, out=np.full(union.shape, np.nan), where=union > 0)

    def to_summary(self) -> Table:
        """Return SSO with its counts, or of many measures the one that each shares most with."""
        table, names = self.to_table(), [str(measure) for measure in self.measures]
        if len(names) <= MANY:
            return table
        return replace(table, frame=sum_up_matrix(names, 100 * self._share(), "SSO %"), marks=None, legend="", digits=1)

    def short_tables(self) -> list[Table]:
        """Return the summary, of few measures without counts."""
        table, names = self.to_summary(), [str(measure) for measure in self.measures]
        if len(names) > MANY:
            return [table]
        shares = [f"{100 * share:.1f}" for share in self._share()[np.triu_indices(len(names), 1)]]
        return [replace(table, frame=arrange_pairs(names, shares, "–"), marks=None, legend="")]

    def charts(self) -> Sequence[HeatMap]:
        """Return the significance overlap of all pairs of measures as a heat map."""
        names = [measure.title for measure in self.measures]
        return [
            HeatMap(
                self._share(), names, names, "significance overlap (numbers: in %)",
                lambda share: "–" if np.isnan(share) else f"{100 * share:.0f}", diagonal=False, clustered=True,
            )
        ]  # fmt: skip


def significance_overlap(power: DiscriminativePower) -> SignificanceOverlap:
    """Do two measures find the same pairs of runs significantly different?

    Parameters
    ----------
    power : DiscriminativePower
        Of two measures or more; nothing is tested again.

    Returns
    -------
    SignificanceOverlap

    Raises
    ------
    MetaevalError
        If there is one measure only.

    Examples
    --------
    >>> from metaeval.data.scores import Scores
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None] ** [1, 2]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["NMD", "RNOD"])
    >>> significance_overlap(discriminative_power(scores, n_permutations=500)).to_frame()
      measure_1 measure_2  a  b  c  sso
    0       NMD      RNOD  0  2  0  1.0
    """
    check_power(power)
    check_measures(power.measures)
    signature = power.signature.follow("significance_overlap")
    both = count_common(power.significant, power.significant)
    return SignificanceOverlap(
        power.collection, power.measures, both, signature, diagnostics=power.diagnostics, remarks=power.remarks
    )
