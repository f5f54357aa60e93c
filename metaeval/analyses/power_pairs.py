"""What two measures make of the same pairs of runs: overlap and contradictions (Sakai, LQ 2021, §5.2, Tables 4 to 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Unpack

import numpy as np
import pandas as pd

from metaeval.analyses.power import PAPERS_TEST, DiscriminativePower, Testing, take_tests
from metaeval.analyses.result import MeasurePairs, name_pairs
from metaeval.data.scores import Scores
from metaeval.errors import format_count, format_option
from metaeval.measures.base import Measure
from metaeval.show.charts import HeatMap
from metaeval.show.table import MANY, Table, arrange_pairs
from metaeval.stats.pair_tests import PairedTest
from metaeval.stats.significant_counts import count_common, find_overlap

MOST_LISTED, FEW_LISTED = 1_000, 10
"""Contradictions that files list unasked, and those that the command line prints."""


class SignificanceOverlap(MeasurePairs):
    """How the significant differences found by two measures overlap.

    `pairs` (`to_frame`) has columns measure_1, measure_2, a (pairs of runs significant with measure 1 only), b (with both), c
    (with measure 2 only), and sso = b / (a + b + c): LQ 2021, Table 4. `numbers` holds sso, NaN where neither measure finds
    anything.
    """

    heading: ClassVar[str] = "SSO %"
    caption: ClassVar[str] = "Significance overlap (SSO): % of run pairs found by either (α = {alpha}) that both find."
    legend: ClassVar[str] = "SSO = b/(a + b + c); a: run pairs that only the row finds, c: only the column, b: both."

    def answer(self) -> str:
        """Say which two measures find the same differences most, and which least."""
        frame = self.pairs.dropna(subset="sso")
        if not len(frame):
            return "No measure finds a significant difference."
        most = " most" * (len(frame) > 1)
        how = (f"agree{most} on which differences are significant", "least")
        ends = zip((frame["sso"].argmax(), frame["sso"].argmin()), how, strict=True)
        named = [(frame.iloc[place], what) for place, what in ends]
        parts = [f"{row.measure_1} and {row.measure_2} {what} (overlap {100 * row.sso:.0f} %)" for row, what in named]
        return f"{', '.join(parts[: len(frame)])}."

    def tables(self) -> list[Table]:
        """Return SSO in percent, for papers with (a/b/c); 90 and above bold, below 70 underlined (LQ 2021, Table 4)."""
        names, percent = [str(measure) for measure in self.measures], 100 * self.pairs["sso"]
        counted = zip(percent, self.pairs["a"], self.pairs["b"], self.pairs["c"], strict=True)
        cells = [f"{self.write(p / 100)} ({a}/{b}/{c})" for p, a, b, c in counted]
        marks = arrange_pairs(names, list(np.select([percent >= 90, percent < 70], ["bold", "underline"], "")), "")
        *summed, triangle = super().tables()
        marked = "Bold: 90 and above; underlined: below 70."
        whole = replace(triangle, frame=arrange_pairs(names, cells, "–"), marks=lambda _: marks, marked=marked)
        if len(names) > MANY:
            return [*summed, whole]
        return [replace(triangle, legend="", at=("short",)), replace(whole, at=("paper", "all"))]

    def charts(self) -> Sequence[HeatMap]:
        """Return the significance overlap of all pairs of measures as a heat map."""
        (chart,) = super().charts()
        label = "significance overlap (numbers: in %)"
        return [replace(chart, label=label, write=lambda share: "–" if np.isnan(share) else f"{100 * share:.0f}")]

    def beside(self, measure: Measure) -> Table:
        """Return the overlap of a measure with each of the others, and what either of them finds alone."""
        pairs, first = self.take_pairs(measure)
        mine = np.where(first, pairs["a"], pairs["c"])
        row = pd.DataFrame({"overlap, %": 100 * pairs["sso"], "both": pairs["b"], f"only {measure.title}": mine})
        row["only the other"] = pairs["a"] + pairs["c"] - mine
        row = row.sort_values("overlap, %", ascending=False, kind="stable")
        caption = f"Run pairs that {measure.title} and another measure find significant"
        return Table(row, caption, self.signature, digits=1)


@dataclass(frozen=True, eq=False)
class SignificanceContradictions(MeasurePairs):
    """Run pairs for which two measures reach opposite significant conclusions.

    `pairs` (`to_frame`) has columns measure_1, measure_2, contradictions: how many of every two measures (LQ 2021, Table 5).
    `verdicts`, shape (measure, pair), are +1 where the first run of a pair is significantly better, −1 where the second is.
    """

    runs: tuple[str, ...]
    verdicts: np.ndarray

    heading: ClassVar[str] = "contradictions"
    caption: ClassVar[str] = "Contradictions: run pairs with opposite significant conclusions (α = {alpha})."
    whole: ClassVar[bool] = True

    def answer(self) -> str:
        """Say which two measures contradict each other most often, or how many do."""
        counts = self.pairs["contradictions"]
        most = int(counts.max())
        if not most:
            alpha = dict(self.signature.settings)["alpha"]
            return f"No two measures contradict each other significantly (α = {alpha})."
        where = f"{format_count(most, 'pair')} of runs"
        if (counts == most).sum() == 1:
            row = self.pairs.iloc[counts.argmax()]
            return f"{row.measure_1} and {row.measure_2} contradict each other most often, on {where}."
        contested = np.flatnonzero((self.verdicts > 0).any(axis=0) & (self.verdicts < 0).any(axis=0))
        runs = [self.runs[side[contested[0]]] for side in np.triu_indices(len(self.runs), 1)]
        where = " and ".join(runs) if len(contested) == 1 else f"at most {where}"
        of_all = format_count(len(counts), "pair")
        return f"{int((counts > 0).sum())} of {of_all} of measures contradict each other, on {where}."

    def run_pairs(self, most: int | None = None) -> pd.DataFrame:
        """Return every contradiction with both conclusions, or the first `most`: LQ 2021, Table 6.

        Of shape (contradiction, 4), with columns measure_1, measure_2, run_1, run_2: measure 1 says that run 1 significantly
        outperforms run 2, measure 2 says the reverse.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        # Of pairs of measures that contradict each other at all, as many as it takes.
        some = np.flatnonzero(self.pairs["contradictions"])
        counted = self.pairs["contradictions"].to_numpy()[some].cumsum()
        some = some[: None if most is None else np.searchsorted(counted, most) + 1]
        opposed = [np.flatnonzero(self.verdicts[first[k]] * self.verdicts[second[k]] == -1) for k in some]
        where, of = np.concatenate([*opposed, np.zeros(0, np.intp)]), np.repeat(some, list(map(len, opposed)))
        ahead = self.verdicts[first[of], where] > 0
        one, other = (np.array(self.runs, dtype=object)[side[where]] for side in np.triu_indices(len(self.runs), 1))
        names = self.pairs[["measure_1", "measure_2"]].iloc[of].reset_index(drop=True)
        return names.assign(run_1=np.where(ahead, one, other), run_2=np.where(ahead, other, one)).head(most or len(of))

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the counts, and the contradictions with both conclusions, the first 1,000 if there are more."""
        return super().frames() | {"run_pairs": self.run_pairs(MOST_LISTED)}

    def tables(self) -> list[Table]:
        """Return on how many run pairs every two measures contradict each other, and the first of them (LQ 2021, Table 6)."""
        n, listed = int(self.pairs["contradictions"].sum()), self.run_pairs(FEW_LISTED).set_index("measure_1")
        caption = "Measure 1 finds run 1 significantly better; measure 2 finds run 2 better."
        table = Table(listed, caption, self.signature, legend=_say_part(len(listed), n))
        return [*super().tables(), *([table] if n else [])]

    def beside(self, measure: Measure) -> Table:
        """Return how often each of the others contradicts a measure, those that do."""
        pairs, _ = self.take_pairs(measure)
        row = pairs.loc[pairs["contradictions"] > 0, ["contradictions"]]
        caption = f"Run pairs on which {measure.title} and another measure reach opposite significant conclusions"
        return Table(row.sort_values("contradictions", ascending=False, kind="stable"), caption, self.signature)


def significance_overlap(
    scores: Scores | DiscriminativePower, *, test: PairedTest = PAPERS_TEST, **options: Unpack[Testing]
) -> SignificanceOverlap:
    """Do two measures find the same pairs of runs significantly different?

    Parameters
    ----------
    scores : Scores or DiscriminativePower
        Of two measures or more; a result is not tested again.
    test, **options : as for `discriminative_power`

    Examples
    --------
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None] ** [1, 2]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["NMD", "RNOD"])
    >>> significance_overlap(scores, n_permutations=500).to_frame()
      measure_1 measure_2  a  b  c  sso
    0       NMD      RNOD  0  2  0  1.0
    """
    power = take_tests(scores, test, PAPERS_TEST, 2, **options)
    (both, alone, sso), of_pairs = find_overlap(power.significant), np.triu_indices(len(power.measures), 1)
    counts = {"a": alone[of_pairs], "b": both[of_pairs], "c": alone.T[of_pairs], "sso": sso[of_pairs]}
    return SignificanceOverlap(
        power.collection, power.measures, sso, pd.DataFrame({**name_pairs(power.measures), **counts}),
        signature=power.signature.follow("significance_overlap"), diagnostics=power.diagnostics, remarks=power.remarks,
    )  # fmt: skip


def significance_contradictions(
    scores: Scores | DiscriminativePower, *, test: PairedTest = PAPERS_TEST, **options: Unpack[Testing]
) -> SignificanceContradictions:
    """For which run pairs do two measures reach opposite significant conclusions?

    Parameters
    ----------
    scores : Scores or DiscriminativePower
        Of two measures or more; a result is not tested again.
    test, **options : as for `discriminative_power`

    Examples
    --------
    >>> up = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> scores = Scores(np.concatenate([up, up], axis=-1), runs=["a", "b", "c"], topics=range(12),
    ...                 measures=["NMD", "Accuracy"])
    >>> significance_contradictions(scores, n_permutations=500).run_pairs()
      measure_1 measure_2 run_1 run_2
    0       NMD  Accuracy     a     c
    1       NMD  Accuracy     b     c
    """
    power = take_tests(scores, test, PAPERS_TEST, 2, **options)
    verdicts = np.where(power.significant, power.winners, 0).astype(np.int8)
    ahead_and_behind = count_common(verdicts > 0, verdicts < 0)
    counts = ahead_and_behind + ahead_and_behind.T
    frame = pd.DataFrame({**name_pairs(power.measures), "contradictions": counts[np.triu_indices(len(counts), 1)]})
    n = int(frame["contradictions"].sum())
    return SignificanceContradictions(
        power.collection, power.measures, counts, frame, power.runs, verdicts,
        signature=power.signature.follow("significance_contradictions"), diagnostics=power.diagnostics,
        remarks=(*power.remarks, *filter(None, [_say_part(min(n, MOST_LISTED), n)])),
    )  # fmt: skip


def _say_part(n_listed: int, n_all: int) -> str:
    """Say that not all contradictions are listed."""
    every = format_option("run_pairs", "FILE.csv")
    return "" if n_listed == n_all else f"The first {n_listed:,} of {n_all:,} contradictions; {every} writes all."
