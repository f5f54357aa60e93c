"""Do measures agree on which runs differ significantly? (Sakai, LQ 2021, §5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.result import Result
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.show.signature import Signature
from metaeval.show.table import Table, arrange_pairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, a (significant with measure 1 only), b (with both), c (with measure
            2 only), sso; sso is NaN where neither measure finds anything.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        names = np.array([str(one) for one in self.measures], dtype=object)
        found = np.diagonal(self.both)
        b = self.both[first, second]
        a, c = found[first] - b, found[second] - b
        union = a + b + c
        sso = np.divide(b, union, out=np.full(len(b), np.nan), where=union > 0)
        return pd.DataFrame({"measure_1": names[first], "measure_2": names[second], "a": a, "b": b, "c": c, "sso": sso})

    def to_table(self) -> Table:
        """Return SSO in percent with (a/b/c); 90 and above bold, below 70 underlined (LQ 2021, Table 4)."""
        frame = self.to_frame()
        percent = 100 * frame["sso"]
        cells = [
            f"{'–' if np.isnan(p) else f'{p:.1f}'} ({a}/{b}/{c})"
            for p, a, b, c in zip(percent, frame["a"], frame["b"], frame["c"], strict=True)
        ]
        names = [str(one) for one in self.measures]
        words = np.select([percent >= 90, percent < 70], ["bold", "underline"], "")
        caption = (
            "Significance overlap: SSO = b / (a + b + c) in percent; a, c: run pairs significant with the row's or the "
            "column's measure only, b: with both. 90 and above in bold, below 70 underlined."
        )
        marks = arrange_pairs(names, list(words), "")
        return Table(arrange_pairs(names, cells, "–"), caption, self.signature, marks=lambda _: marks)

    def plot(self) -> Figure:
        """Draw the significance overlap of all pairs of measures as a heat map."""
        from metaeval.show.drawing import draw_heatmap

        found = np.diagonal(self.both)
        union = found[:, None] + found - self.both
        sso = np.divide(self.both, union, out=np.full(union.shape, np.nan), where=union > 0)
        return draw_heatmap(
            sso, [one.title for one in self.measures], "significance overlap", self.signature,
            limits=(0, 1), colours="cividis", is_dark=lambda share: share < 0.55,
            write=lambda share: "–" if np.isnan(share) else f"{100 * share:.0f}",
        )  # fmt: skip


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
    _check_several_measures(power)
    found = power.significant.astype(np.int64)
    signature = _sign_follow_up(power, "significance_overlap")
    return SignificanceOverlap(power.collection, power.measures, found @ found.T, signature)


@dataclass(frozen=True, eq=False)
class SignificanceContradictions(Result):
    """Run pairs for which two measures reach opposite significant conclusions.

    Parameters
    ----------
    collection : str
    runs : tuple of str
    measures : tuple of Measure
    verdicts : ndarray of int, shape (measure, pair)
        +1 where the first run of a pair is significantly better, −1 where the second is, 0 otherwise.
    signature : Signature
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    verdicts: np.ndarray
    signature: Signature

    def __repr__(self) -> str:
        return f"SignificanceContradictions: {len(self.measures)} measures, {self.collection or 'scores'}"

    def to_frame(self) -> pd.DataFrame:
        """Return the number of contradictions of every pair of measures: LQ 2021, Table 5.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, contradictions.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        names = np.array([str(one) for one in self.measures], dtype=object)
        counts = (self.verdicts[first] * self.verdicts[second] == -1).sum(axis=1)
        return pd.DataFrame({"measure_1": names[first], "measure_2": names[second], "contradictions": counts})

    def run_pairs(self) -> pd.DataFrame:
        """Return every contradiction with both conclusions: LQ 2021, Table 6.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, run_1, run_2: measure 1 says that run 1 significantly outperforms
            run 2, measure 2 says the reverse.
        """
        pair_a, pair_b = np.triu_indices(len(self.runs), 1)
        rows = []
        for i, j in zip(*np.triu_indices(len(self.measures), 1), strict=True):
            for pair in np.flatnonzero(self.verdicts[i] * self.verdicts[j] == -1):
                ahead, behind = (pair_a[pair], pair_b[pair])[:: self.verdicts[i, pair]]
                rows.append((str(self.measures[i]), str(self.measures[j]), self.runs[ahead], self.runs[behind]))
        return pd.DataFrame(rows, columns=["measure_1", "measure_2", "run_1", "run_2"])

    def to_table(self) -> Table:
        """Return on how many run pairs every two measures contradict each other (LQ 2021, Table 5)."""
        names = [str(one) for one in self.measures]
        counts = self.to_frame()["contradictions"].tolist()
        caption = "Contradictions: run pairs for which two measures reach opposite significant conclusions."
        return Table(arrange_pairs(names, counts, "–"), caption, self.signature)

    def run_pairs_table(self) -> Table:
        """Return the exhaustive list of contradictions (LQ 2021, Table 6)."""
        caption = "Measure 1 says that run 1 significantly outperforms run 2; measure 2 says the reverse."
        return Table(self.run_pairs().set_index("measure_1"), caption, self.signature)

    def detail_tables(self) -> list[Table]:
        """Return the list of contradictions, if there are any."""
        table = self.run_pairs_table()
        return [table] if len(table.frame) else []

    def plot(self) -> Figure:
        """Draw on how many run pairs every two measures contradict each other."""
        from matplotlib.ticker import MaxNLocator

        from metaeval.show.drawing import draw_heatmap

        n = len(self.measures)
        counts = np.zeros((n, n), dtype=int)
        counts[np.triu_indices(n, 1)] = self.to_frame()["contradictions"].to_numpy()
        counts += counts.T
        most = max(1, counts.max())
        return draw_heatmap(
            counts, [one.title for one in self.measures], "contradictions", self.signature,
            limits=(0, most), colours="Blues", write=str, is_dark=lambda count: count > 0.5 * most,
            diagonal=False, ticks=MaxNLocator(integer=True),
        )  # fmt: skip


def significance_contradictions(power: DiscriminativePower) -> SignificanceContradictions:
    """For which run pairs do two measures reach opposite significant conclusions?

    Parameters
    ----------
    power : DiscriminativePower
        Of two measures or more; nothing is tested again.

    Returns
    -------
    SignificanceContradictions

    Raises
    ------
    MetaevalError
        If there is one measure only.

    Examples
    --------
    >>> from metaeval.data.scores import Scores
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> up = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> scores = Scores(np.concatenate([up, up], axis=-1), runs=["a", "b", "c"], topics=range(12),
    ...                 measures=["NMD", "Accuracy"])
    >>> significance_contradictions(discriminative_power(scores, n_permutations=500)).run_pairs()
      measure_1 measure_2 run_1 run_2
    0       NMD  Accuracy     a     c
    1       NMD  Accuracy     b     c
    """
    _check_several_measures(power)
    verdicts = np.where(power.significant, power.winners, 0)
    signature = _sign_follow_up(power, "significance_contradictions")
    return SignificanceContradictions(power.collection, power.runs, power.measures, verdicts, signature)


def _check_several_measures(power: DiscriminativePower) -> None:
    if len(power.measures) < 2:
        raise MetaevalError(
            f"overlap and contradictions compare two measures or more; there is {power.measures[0]} only"
        )


def _sign_follow_up(power: DiscriminativePower, analysis: str) -> Signature:
    """Return the signature of the test under the name of the analysis that follows from it."""
    return Signature(analysis, power.signature.data, power.signature.settings, power.signature.version)
