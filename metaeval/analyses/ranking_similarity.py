"""Do two measures rank the runs alike? (Sakai 2021, §5.1 and §6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import Within, check_options, prepare
from metaeval.analyses.result import MeasurePairs, tabulate_conclusions
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_option
from metaeval.measures.base import Measure
from metaeval.show.cells import NOTHING, bracket_ends
from metaeval.show.charts import HeatMap
from metaeval.show.colours import shade_marks
from metaeval.show.table import MANY, Table, sum_up_matrix
from metaeval.stats.arrays import Scaled
from metaeval.stats.intervals import UNDECIDED, Ends, centre_interval, explain_no_interval, judge_level
from metaeval.stats.weighted_correlation import compare_rankings, parse_rank_correlation, resample_rankings

INTERCHANGEABLE = 0.9
"""τ from which on a conclusion says, unless a margin is stated, that one of two measures can stand for the other."""

ALIKE = 0.8
"""τ from which on `compare` says that a measure ranks runs like another, and puts both in one group: they are of one kind."""


@dataclass(frozen=True, eq=False)
class RankingSimilarity(MeasurePairs):
    """The rank correlation between the run rankings of every pair of measures.

    Its rows (`to_frame`) are a square: row i, column j compares the rankings by mean score of measures i and j, and is
    `numbers[i, j]`. `pairs` has columns measure_1, measure_2, tau; low and high, the interval for τ on as many new topics, NaN
    where there is none; and conclusion: whether two measures rank runs alike, from τ = `margin` on. If it matters to the
    `variant` of rank correlation which is the reference, that is the row, or measure_1, and every pair has two rows.
    """

    variant: str
    confidence: float
    margin: float

    @property
    def tau(self) -> np.ndarray:
        """τ of every two measures, shape (measure, measure)."""
        return self.numbers

    @property
    def heading(self) -> str:  # type: ignore[override]
        """How the rank correlation is written."""
        return parse_rank_correlation(self.variant).symbol

    def write(self, number: float) -> str:
        """Return τ as a cell shows it."""
        return "–" if np.isnan(number) else f"{number:.2f}"

    def answer(self) -> str:
        """Say which two measures rank runs most alike, and which least; of only two, how alike."""
        pairs = self.pairs.dropna(subset="tau")
        if not len(pairs):
            return "No two measures can be compared."
        level = f" Brackets: {100 * self.confidence:g} % intervals over topics." * ("intervals" in self.frames())
        if len(self.pairs) == 1:
            only, ends = pairs.iloc[0], bracket_ends(pairs["low"].iloc[0], pairs["high"].iloc[0])
            return f"The rankings of {only.measure_1} and {only.measure_2} have {self.heading} {only.tau:.2f}{ends}.{level}"
        if np.ptp(pairs["tau"]) == 0:
            return f"All measures rank runs equally alike ({self.heading} {pairs['tau'].iloc[0]:.2f})."
        rows = [pairs.iloc[pairs["tau"].argmax()], pairs.iloc[pairs["tau"].argmin()]]
        most, least = (
            f"{row.measure_1} and {row.measure_2}{how} ({self.heading} {row.tau:.2f}{bracket_ends(row.low, row.high)})"
            for row, how in zip(rows, (" rank runs most alike", " least"), strict=True)
        )
        return f"{most}, {least}.{level}"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return τ as a square, measure by measure, and where there are intervals the pairs with them."""
        names = pd.Index([str(measure) for measure in self.measures], name="measure")
        square = pd.DataFrame(self.numbers, index=names, columns=names.rename(None))
        return {"similarity": square} | ({"intervals": self.pairs} if self.pairs["low"].notna().any() else {})

    def tables(self) -> list[Table]:
        """Return τ above the diagonal, as in ACL 2021, Tables 2 and 5, or all of it; and whether measures rank runs alike.

        Of many measures, the first screen and papers show which one each is most like.
        """
        square, which = self.to_frame(), parse_rank_correlation(self.variant)
        rows = "" if which.symmetric else "; rows are the reference"
        of = "Kendall's " if which.name in ("tau_a", "tau_b") else ""
        caption = f"Ranking similarity: {of}{self.heading} between rankings of runs{rows}."
        # Papers print the cells above the diagonal, without the empty first column and last row.
        frame = square.where(np.triu(np.ones(square.shape, dtype=bool), 1)).iloc[:-1, 1:] if which.symmetric else square
        tables = [Table(frame, caption, self.signature, marks=shade_marks, legend=self.no_interval)]
        if len(self.measures) > MANY:
            summed = sum_up_matrix(square.index.tolist(), self.numbers, self.heading)
            whole = replace(tables[0], at=("all",))
            tables = [replace(whole, frame=summed, marks=None, at=("short", "paper")), whole]
        if "intervals" in self.frames():
            level = f"{100 * self.confidence:g} % intervals of {self.heading} on other topics"
            caption = f"{level}; like: one may replace the other, from {self.margin:g} on."
            about = "tau", self.heading, caption, self.confidence, self.signature
            tables.append(tabulate_conclusions(self.pairs, *about))
        return tables

    def charts(self) -> Sequence[HeatMap]:
        """Return τ between all pairs of measures as a heat map with its numbers."""
        rows = "" if parse_rank_correlation(self.variant).symmetric else "; rows are the reference"
        return [replace(chart, label=f"{self.heading}{rows}") for chart in super().charts()]

    def beside(self, measure: Measure) -> Table:
        """Return τ between a measure and each of the others, with its interval."""
        pairs = self.take_pairs(measure)[0].sort_values("tau", ascending=False, kind="stable")
        spans = pairs[["low", "high"]].to_numpy()
        ends = [f"{low:.2f} to {high:.2f}" if low <= high else NOTHING for low, high in spans]
        row = pd.DataFrame({"τ": pairs["tau"], "95 % interval": ends})
        why = f". {self.no_interval.rstrip('.')}" if self.no_interval else ""
        caption = f"τ between the rankings of runs by {measure.title} and by each other measure{why}"
        return Table(row, caption, self.signature, digits=2)


def ranking_similarity(
    scores: Scores,
    *,
    tau: str = "tau_a",
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    margin: float = INTERCHANGEABLE,
    distinct_runs: bool = False,
    seed: int = 0,
) -> RankingSimilarity:
    """Do two measures rank the runs alike?

    Runs are ranked by their mean score over topics, best first whatever a measure's direction.

    Parameters
    ----------
    scores : Scores
        At least two runs, two topics and two measures.
    tau : str, optional
        Which rank correlation: tau_a, tau_b or spearman; tau_ap, tau_ap_b or tau_gap, which weigh the best runs most, tau_gap
        also by how far scores differ; with @k, such as tau_b@15, over the k best runs by the first of two measures. τ_a counts
        ties as neither agreement nor disagreement, as the papers' printed values imply: where runs are tied, even a measure and
        itself have a τ_a below 1. For tau_ap, tau_gap and @k it matters which measure is the reference: the first of a pair, a
        row of the table. See `metaeval.stats.weighted_correlation.correlate`.
    confidence : float, optional
        Level of the intervals: how often they all contain the expected τ of as many new topics, for the same runs.
    margin : float, optional
        τ from which one measure may replace another; metaeval compare asks only if they rank runs alike, from 0.8 on.
    n_bootstrap, distinct_runs, seed : as for `discriminative_power`

    Examples
    --------
    >>> values = [[[0.1, 0.8], [0.2, 0.9]], [[0.3, 0.7], [0.4, 0.8]], [[0.6, 0.9], [0.5, 0.9]]]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=["t", "u"], measures=["NMD", "Accuracy"])
    >>> ranking_similarity(scores).to_frame().loc["NMD", "Accuracy"].round(3)
    np.float64(-0.333)
    """
    ready = prepare(
        scores, "ranking_similarity", seed=seed, distinct_runs=distinct_runs, measures=2, clusters="pool", oriented=True
    )
    check_options(confidence=confidence, margin=Within(margin, 1.0), n_bootstrap=n_bootstrap)
    which = parse_rank_correlation(tau)
    if which.depth is not None and which.depth > len(ready.values):
        held = f"{ready.scores.collection or 'the collection'} holds {format_count(len(ready.values), 'run')}"
        raise MetaevalError(f"{format_option('tau', which)}: {held}; use at most {which.name}@{len(ready.values)}")
    oriented, places, measures = Scaled(ready.values), ready.places[2], ready.scores.measures
    n_runs, n_topics, _ = oriented.shape
    square = compare_rankings(oriented.means(), np.abs(oriented.values).mean(axis=1), which)[np.ix_(places, places)]
    first, second = np.triu_indices(len(square), 1)
    if not which.symmetric:  # every pair both ways round
        first, second = np.nonzero(~np.eye(len(square), dtype=bool))
    taus, n_ranked = square[first, second], which.depth or n_runs
    low = high = least = np.full(len(taus), np.nan)
    no_interval = explain_no_interval(n_ranked, n_topics) if n_bootstrap else ""
    if n_bootstrap and not no_interval:
        drawn = resample_rankings(oriented, which, n_bootstrap, ready.generator(), (places[first], places[second]))
        step = 4 / (n_ranked * (n_ranked - 1))  # one pair of runs the other way round
        interval = partial(centre_interval, taus, drawn, n_topics, step=step, simultaneous=True)
        low, high = interval(confidence=confidence)
        least, _ = interval(confidence=max(2 * confidence - 1, 0.0))
    # Runs that are the same on these topics are taken to tie on any.
    largest = ready.diagnostics.largest_tau_a if str(which) == "tau_a" else 1.0
    low, high, least = (np.clip(ends, -largest, largest) for ends in (low, high, least))
    words = judge_level(Ends(low, high), Ends(least, high), margin) if largest >= margin else [UNDECIDED] * len(taus)
    names = np.array([str(measure) for measure in measures], dtype=object)
    pairs = {"measure_1": names[first], "measure_2": names[second], "tau": taus, "low": low, "high": high}
    resampling: dict[str, object] = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    resampling |= {"margin": margin} if n_bootstrap and margin != INTERCHANGEABLE else {}
    return RankingSimilarity(
        ready.scores.collection, measures, square, pd.DataFrame({**pairs, "conclusion": words}), str(which), confidence,
        margin, signature=ready.sign(tau=which, **resampling), diagnostics=(ready.diagnostics,),
        no_interval=no_interval,
    )  # fmt: skip
