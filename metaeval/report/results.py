"""Results as the tables a paper would print, with its marks and colour bands."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import singledispatch

import numpy as np
import pandas as pd

from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.coverage import Coverage, CoverageSweep, UnanimousImprovement
from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.pooled_discriminative_power import PooledDiscriminativePower
from metaeval.analyses.properties import PROPERTIES, Properties
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.robustness import Robustness
from metaeval.analyses.sample_size import SampleSize
from metaeval.analyses.significance import SignificanceContradictions, SignificanceOverlap
from metaeval.analyses.split_half_consistency import MARKS, SplitHalfConsistency
from metaeval.report.tables import Mark, Table

TAU_BANDS = (0.8, 0.6)
"""Where the papers' colour bands of τ begin for classification measures (ACL21, Table 2); (0.9, 0.8) in Table 5."""


@singledispatch
def table_of(result: object) -> Table:
    """Return the table that shows a result.

    Parameters
    ----------
    result : a result of `metaeval.analyses`

    Returns
    -------
    Table
    """
    raise TypeError(f"there is no table of {type(result).__name__}")


@table_of.register
def similarity_table(similarity: RankingSimilarity) -> Table:
    """Show τ above the diagonal, in bands (ACL21, Tables 2 and 5)."""
    kinds = {one.kind for one in similarity.measures}
    bands = (0.9, 0.8) if kinds == {"quantification"} else TAU_BANDS
    symbol = "τ_a" if similarity.variant == "tau_a" else "τ_b"
    caption = (
        f"Ranking similarity: Kendall's {symbol} between the rankings of runs by every two measures; "
        f"bands begin at {bands[0]:g} and {bands[1]:g}."
    )
    return Table(_upper_triangle(similarity.to_frame()), caption, similarity.signature, marks=banded(*bands))


@table_of.register
def consistency_table(consistency: SplitHalfConsistency) -> Table:
    """Show mean τ with the papers' marks, best first, and V_E2 (ACL21, Tables 3 and 6)."""
    frame = consistency.to_frame()
    used = sorted({k for k in frame["outperforms"] if k})
    shown = pd.DataFrame(
        {
            "mean τ": frame["mean_tau"].to_numpy(),
            "": [_mark(k) for k in frame["outperforms"]],
            "outperforms the worst": frame["outperforms"].to_numpy(),
            "group": frame["letters"].to_numpy(),
        },
        index=pd.Index(frame["measure"], name="measure"),
    )
    a, b = consistency.sizes
    meaning = ", ".join(f"{_mark(k)} the worst {k}" for k in reversed(used))
    marks = f" Significantly outperforms {meaning}." if used else ""
    variance = f" V_E2 = {consistency.residual_variance:.3g}." if len(frame) > 1 else ""
    caption = f"Split-half consistency ({a} vs. {b} topics, {len(consistency.tau):,} splits).{marks}{variance}"
    return Table(shown, caption, consistency.signature)


def _mark(k: int) -> str:
    return MARKS[k] if k < len(MARKS) else f"+{k}"


@table_of.register
def power_table(power: DiscriminativePower) -> Table:
    """Show S_D, T_D and the percentage of significant pairs (LQ21, Table 3)."""
    return _power_table(
        power.summary(),
        f"Discriminative power at α = {power.alpha:g}: significant run pairs of all run pairs.",
        power.signature,
    )


@table_of.register
def pooled_table(pooled: PooledDiscriminativePower) -> Table:
    """Show the pooled power with its interval (LQ21, Table 3, last row)."""
    frame = pooled.to_frame().assign(low=lambda f: 100 * f["low"], high=lambda f: 100 * f["high"])
    caption = (
        f"Discriminative power pooled over {len(pooled.collections)} collections ({', '.join(pooled.collections)})."
    )
    return _power_table(frame, caption, pooled.signature)


def _power_table(frame: pd.DataFrame, caption: str, signature: object) -> Table:
    shown = frame.assign(power=100 * frame["power"]).set_index("measure")
    shown = shown.rename(columns={"significant": "#sig", "pairs": "#all", "power": "%"})
    return Table(shown, caption, signature, digits=1)  # type: ignore[arg-type]


@table_of.register
def overlap_table(overlap: SignificanceOverlap) -> Table:
    """Show SSO in percent with (a/b/c); 90 and above bold, below 70 underlined (LQ21, Table 4)."""
    frame = overlap.to_frame()
    percent = 100 * frame["sso"]
    cells = [
        f"{'–' if np.isnan(p) else f'{p:.1f}'} ({a}/{b}/{c})"
        for p, a, b, c in zip(percent, frame["a"], frame["b"], frame["c"], strict=True)
    ]
    names = [str(one) for one in overlap.measures]
    words = np.select([percent >= 90, percent < 70], ["bold", "underline"], "")
    caption = (
        "Significance overlap: SSO = b / (a + b + c) in percent; a, c: run pairs significant with the row's or the "
        "column's measure only, b: with both. 90 and above in bold, below 70 underlined."
    )
    marks = _paired(names, list(words), "")
    return Table(_paired(names, cells, "–"), caption, overlap.signature, marks=lambda _: marks)


@table_of.register
def contradictions_table(contradictions: SignificanceContradictions) -> Table:
    """Show how many run pairs every two measures contradict each other on (LQ21, Table 5)."""
    names = [str(one) for one in contradictions.measures]
    counts = contradictions.to_frame()["contradictions"].tolist()
    caption = "Contradictions: run pairs of which two measures say the opposite, both significantly."
    return Table(_paired(names, counts, "–"), caption, contradictions.signature)


@table_of.register
def preference_table(preference: BaselinePreference) -> Table:
    """Show the topics won by either run (LQ21, Table 7)."""
    caption = f"Topics on which each measure prefers {preference.first} or {preference.second}."
    return Table(preference.to_frame(), caption, preference.signature)


@table_of.register
def robustness_table(robustness: Robustness) -> Table:
    """Show how well rankings agree between units."""
    units = f"{len(robustness.units)} {robustness.over}"
    caption = f"Robustness: Spearman's ρ between the rankings of runs on every two of {units}."
    return Table(robustness.to_frame().set_index("measure"), caption, robustness.signature)


@table_of.register
def sample_size_table(result: SampleSize) -> Table:
    """Show mean τ and power for every number of topics."""
    frame = result.to_frame().pivot(index="topics", columns="measure", values=["mean_tau", "power"])
    names = [str(one) for one in result.measures]
    columns = pd.MultiIndex.from_product([["mean_tau", "power"], names])
    shown = frame[columns].rename(columns={"mean_tau": "τ", "power": "power"}, level=0)
    shown.index.name = "topics"
    caption = "Mean τ between two disjoint sets of so many topics, and the share of significant run pairs with so many."
    return Table(shown, caption, result.signature)


@table_of.register
def uir_table(result: UnanimousImprovement) -> Table:
    """Show the Unanimous Improvement Ratio of every two runs."""
    measures = ", ".join(str(one) for one in result.reference)
    caption = f"Unanimous Improvement Ratio of the row's over the column's run, for {measures}."
    return Table(result.to_frame(), caption, result.signature)


@table_of.register
def coverage_table(result: Coverage) -> Table:
    """Show the coverage of every measure with its interval; the best one in bold (Amigó et al. 2020, Table 3)."""
    frame = result.to_frame().set_index("measure")
    shown = frame.assign(reference=["yes" if inside else "" for inside in frame["reference"]])
    interval = f", {100 * result.confidence:g} % interval over topics" if shown["low"].notna().any() else ""
    if not interval:
        shown = shown.drop(columns=["low", "high"])
    measures = ", ".join(str(one) for one in result.reference)
    caption = f"Coverage with respect to {measures}{interval}; the best in bold."
    best = frame["coverage"].max()
    words = pd.DataFrame("", index=shown.index, columns=shown.columns)
    words.loc[(frame["coverage"] >= best - 1e-9).to_numpy(), "coverage"] = "bold"
    return Table(shown, caption, result.signature, marks=lambda _: words)


@table_of.register
def coverage_sweep_table(result: CoverageSweep) -> Table:
    """Show how often each measure is on top, whatever the reference measures."""
    measures = ", ".join(str(one) for one in result.candidates)
    caption = (
        f"Coverage under all {len(result.members):,} reference sets made of {measures}: the share of sets under which "
        "a measure has the best coverage (of all, and of those that it is not part of), and its coverage over sets."
    )
    return Table(result.to_frame().set_index("measure"), caption, result.signature)


@table_of.register
def properties_table(result: Properties) -> Table:
    """Show which properties were not refuted, with the cases tried (Amigó et al. 2020, Table 2)."""
    cells = [f"✓ ({one.cases:,})" if one.holds else "✗" for one in result.verdicts]
    rows = [cells[start : start + len(PROPERTIES)] for start in range(0, len(cells), len(PROPERTIES))]
    names = pd.Index([str(one) for one in result.measures], name="measure")
    frame = pd.DataFrame(rows, index=names, columns=list(PROPERTIES))
    caption = "Formal properties. ✓: no counterexample in so many cases, which is no proof; ✗: there is one."
    return Table(frame, caption, result.signature)


def banded(high: float, middle: float) -> Mark:
    """Return marks that colour numbers by two bounds, as the papers colour τ.

    Parameters
    ----------
    high, middle : float
        Where the upper and the middle band begin.

    Returns
    -------
    callable
        For `Table.marks`.
    """

    def marks(frame: pd.DataFrame) -> pd.DataFrame:
        def band(value: object) -> str:
            if not isinstance(value, float) or np.isnan(value):
                return ""
            return "band high" if value >= high else "band middle" if value >= middle else "band low"

        return frame.map(band)

    return marks


def _upper_triangle(square: pd.DataFrame) -> pd.DataFrame:
    """Keep what stands above the diagonal, without the empty first column and last row, as the papers print it."""
    shown = square.where(np.triu(np.ones(square.shape, dtype=bool), 1))
    return shown.iloc[:-1, 1:]


def _paired(names: list[str], cells: Sequence[str | int], empty: str) -> pd.DataFrame:
    """Lay out one cell a pair of measures, in triu order, as an upper triangle."""
    frame = pd.DataFrame(empty, index=pd.Index(names[:-1], name="measure"), columns=names[1:], dtype=object)
    for (i, j), cell in zip(itertools.combinations(range(len(names)), 2), cells, strict=True):
        frame.iat[i, j - 1] = cell
    return frame
