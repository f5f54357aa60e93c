"""For which run pairs do two measures reach opposite significant conclusions? (Sakai, LQ 2021, §5.2, Tables 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_measures, check_power
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.result import Result
from metaeval.analyses.variation import name_pairs
from metaeval.errors import format_count, format_option
from metaeval.files import PathLike
from metaeval.measures.base import Measure
from metaeval.show.charts import HeatMap
from metaeval.show.signature import Signature
from metaeval.show.frames import MANY, arrange_pairs, sum_up_matrix, write_frames
from metaeval.show.table import Table
from metaeval.stats.significant_counts import count_common

MOST_LISTED = 1_000
"""Contradictions that a table and files list unasked."""

FEW_LISTED = 10
"""Contradictions that the command line prints unless it is to explain."""

_NO_PAIRS = pd.DataFrame(columns=["measure_1", "measure_2", "run_1", "run_2"], dtype=object)


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
        """Return columns measure_1, measure_2, contradictions: how many of every two measures (LQ 2021, Table 5)."""
        counts = self._count()[np.triu_indices(len(self.measures), 1)]
        return pd.DataFrame({**name_pairs(self.measures), "contradictions": counts})

    def answer(self) -> str:
        """Say which two measures contradict each other most often, or how many do."""
        frame = self.to_frame()
        counts = frame["contradictions"]
        most, n = counts.max() if len(frame) else 0, int((counts > 0).sum())
        if not most:
            return "No two measures contradict each other."
        pairs = format_count(int(most), "pair")
        if (counts == most).sum() > 1:
            contested = np.flatnonzero((self.verdicts > 0).any(axis=0) & (self.verdicts < 0).any(axis=0))
            if len(contested) == 1:
                first, second = (self.runs[side[contested[0]]] for side in np.triu_indices(len(self.runs), 1))
                pairs = f"{first} and {second}"
            else:
                pairs = f"at most {pairs} of runs"
            return f"{n} of {format_count(len(frame), 'pair')} of measures contradict each other, on {pairs}."
        (top,) = frame.nlargest(1, "contradictions").to_dict("records")
        return f"{top['measure_1']} and {top['measure_2']} contradict each other most often, on {pairs} of runs."

    def run_pairs(self, most: int | None = None) -> pd.DataFrame:
        """Return every contradiction with both conclusions: LQ 2021, Table 6.

        Parameters
        ----------
        most : int, optional
            Return only so many, the first ones.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, run_1, run_2: measure 1 says that run 1 significantly outperforms
            run 2, measure 2 says the reverse.
        """
        listed: list[pd.DataFrame] = [_NO_PAIRS]
        for frame in self.frames():
            listed.append(frame)
            if most is not None and sum(map(len, listed)) >= most:
                break
        result = pd.concat(listed, ignore_index=True)
        return result if most is None else result.head(most)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of `run_pairs` in parts: a frame for every two measures that contradict each other."""
        pair_a, pair_b = np.triu_indices(len(self.runs), 1)
        runs = np.array(self.runs, dtype=object)
        for i, j in zip(*np.triu_indices(len(self.measures), 1), strict=True):
            pairs = np.flatnonzero(self.verdicts[i] * self.verdicts[j] == -1)
            first, second = runs[pair_a[pairs]], runs[pair_b[pairs]]
            ahead = self.verdicts[i, pairs] > 0
            if len(pairs):
                measures = {"measure_1": str(self.measures[i]), "measure_2": str(self.measures[j])}
                winners, losers = np.where(ahead, first, second), np.where(ahead, second, first)
                yield pd.DataFrame({**measures, "run_1": winners, "run_2": losers})

    def write_run_pairs(self, path: PathLike) -> Path:
        """Write every contradiction to a file, as `run_pairs` returns them.

        Parameters
        ----------
        path : path
            ``.csv`` or ``.parquet``.

        Returns
        -------
        Path

        Raises
        ------
        MetaevalError
            If the name does not tell one of these formats, or the file cannot be written.
        """
        return write_frames(path, self.frames() if self.n_contradictions else [_NO_PAIRS])

    @property
    def n_contradictions(self) -> int:
        """Of all pairs of measures together."""
        return int(self.to_frame()["contradictions"].sum())

    def _list_first(self, most: int | None = None) -> tuple[pd.DataFrame, str]:
        """Return the first contradictions, as many as a file holds at most, and what to say if that is not all of them."""
        some, whole = self.run_pairs(min(most or MOST_LISTED, MOST_LISTED)), self.n_contradictions
        if len(some) == whole:
            return some, ""
        every = format_option("run_pairs", "FILE.csv")
        return some, f"The first {len(some):,} of {whole:,} contradictions; {every} writes all."

    def beside(self, measure: str) -> Table:
        """Return with which other measures one contradicts itself on most run pairs."""
        pairs = self.to_frame().query("contradictions > 0 and (measure_1 == @measure or measure_2 == @measure)")
        names = pairs["measure_2"].where(pairs["measure_1"] == measure, pairs["measure_1"])
        row = pairs[["contradictions"]].set_index(pd.Index(names, name="measure")).sort_values("contradictions", ascending=False)
        caption = f"Run pairs on which {measure} and another measure reach opposite significant conclusions."
        return Table(row, caption, self.signature)

    def to_table(self) -> Table:
        """Return on how many run pairs every two measures contradict each other (LQ 2021, Table 5)."""
        names = [str(measure) for measure in self.measures]
        counts = self.to_frame()["contradictions"].tolist()
        caption = "Contradictions: run pairs with opposite significant conclusions."
        return Table(arrange_pairs(names, counts, "–"), caption, self.signature)

    def to_summary(self) -> Table:
        """Return the counts, or of many measures whom each contradicts most."""
        table, names = self.to_table(), [str(measure) for measure in self.measures]
        if len(names) <= MANY:
            return table
        return replace(table, frame=sum_up_matrix(names, self._count(), "contradictions", total=True))

    def _count(self) -> np.ndarray:
        """Return on how many run pairs every two measures contradict each other, shape (measure, measure)."""
        ahead_and_behind = count_common(self.verdicts > 0, self.verdicts < 0)
        return ahead_and_behind + ahead_and_behind.T

    def run_pairs_table(self, most: int | None = None) -> Table:
        """Return the list of contradictions (LQ 2021, Table 6), the first ones if there are more than `most`, or 1,000."""
        listed, part = self._list_first(most)
        caption = "Measure 1 finds run 1 significantly better; measure 2 finds run 2 better."
        return Table(listed.set_index("measure_1"), caption, self.signature, legend=part)

    def detail_tables(self) -> list[Table]:
        """Return the first contradictions, if there are any."""
        return [self.run_pairs_table(FEW_LISTED)] if self.n_contradictions else []

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the contradictions with both conclusions, the first 1,000 if there are more."""
        return {"run_pairs": self._list_first()[0]}

    def notes(self, *, short: bool = False) -> list[str]:
        """Return what every result has to say, and whether not all contradictions are listed."""
        return [*super().notes(short=short), *filter(None, [self._list_first()[1]])]

    def charts(self) -> Sequence[HeatMap]:
        """Return on how many run pairs every two measures contradict each other, as a heat map."""
        counts = self._count()
        names = [measure.title for measure in self.measures]
        return [
            HeatMap(
                counts, names, names, "contradicted run pairs", lambda count: f"{count:.0f}",
                highest=float(max(1, counts.max())), diagonal=False, whole=True,
                clustered=True, opposed=True,
            )
        ]  # fmt: skip


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
    check_power(power)
    check_measures(power.measures)
    verdicts = np.where(power.significant, power.winners, 0).astype(np.int8)
    signature = power.signature.follow("significance_contradictions")
    return SignificanceContradictions(
        power.collection, power.runs, power.measures, verdicts, signature,
        diagnostics=power.diagnostics, remarks=power.remarks,
    )  # fmt: skip
