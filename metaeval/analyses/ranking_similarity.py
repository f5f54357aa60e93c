"""Do two measures rank the runs alike? (Sakai 2021, §5.1 and §6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_choice, check_count, check_depth, check_seed, check_share
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import Result
from metaeval.analyses.variation import list_intervals, tabulate_conclusions
from metaeval.data.scores import Scores
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import HeatMap
from metaeval.show.colours import shade_marks
from metaeval.show.signature import Signature, sign
from metaeval.show.frames import MANY, sum_up_matrix, take_upper_triangle
from metaeval.show.table import Table
from metaeval.show.text import NOTHING
from metaeval.stats.blocks import Scaled
from metaeval.stats.equivalence import Ends, judge_level
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.other_runs import CROSSED_TRIALS, ELSEWHERE, Over, vary_runs
from metaeval.stats.parallel import tell
from metaeval.stats.rank_correlation import tau_matrix
from metaeval.stats.resampling import trials_a_pass
from metaeval.stats.streams import generator
from metaeval.stats.weighted_correlation import RankCorrelation, correlation_matrix, parse_rank_correlation

INTERCHANGEABLE = 0.9
"""τ from which on a conclusion says, unless a margin is stated, that one of two measures can stand for the other."""

ALIKE = 0.8
"""τ from which on `compare` says that a measure ranks runs like another, and puts both in one group: they are of one kind."""

_CELLS = 4_000_000  # run scores held at once while resampling: 32 MB


@dataclass(frozen=True, eq=False)
class RankingSimilarity(Result):
    """The rank correlation between the run rankings of every pair of measures.

    Parameters
    ----------
    tau : ndarray, shape (measure, measure)
        ``tau[i, j]`` compares the rankings by mean score of measures i and j. If it is not the same both ways round,
        measure i is the reference.
    low, high : ndarray, shape (measure, measure)
        Ends of the interval for τ on as many new topics; NaN when it was not asked for, or `no_interval` says why.
    variant : str
        Which rank correlation: ``"tau_a"``, ``"tau_b@15"``, …
    no_interval : str
        Why there is no interval, if it was asked for: too few runs or topics.
    simultaneous : bool
        Whether the intervals of all pairs of measures hold together.
    conclusions : ndarray of str, shape (measure, measure)
        Whether two measures rank runs alike, from τ = `margin` on (see `metaeval.stats.equivalence`).
    over : {"topics", "runs and topics"}
        What intervals speak of.
    """

    measures: tuple[Measure, ...]
    tau: np.ndarray
    low: np.ndarray
    high: np.ndarray
    variant: str
    confidence: float
    signature: Signature
    no_interval: str = ""
    simultaneous: bool = True
    conclusions: np.ndarray | None = None
    margin: float = INTERCHANGEABLE
    over: Over = "topics"

    def __repr__(self) -> str:
        return f"RankingSimilarity: {self.variant} between {len(self.measures)} measures"

    def to_frame(self) -> pd.DataFrame:
        """Return τ as a square frame, measure by measure."""
        names = pd.Index([str(measure) for measure in self.measures], name="measure")
        return pd.DataFrame(self.tau, index=names, columns=names.rename(None))

    def answer(self) -> str:
        """Say which two measures rank runs most alike, and which least."""
        first, second = _pair_measures(len(self.measures), parse_rank_correlation(self.variant))
        taus = self.tau[first, second]
        if not np.isfinite(taus).any():
            return "No two measures can be compared."
        pairs = [
            f"{self.measures[first[k]]} and {self.measures[second[k]]} {how} ({self.symbol} {taus[k]:.2f})"
            for k, how in ((int(np.nanargmax(taus)), "rank runs most alike"), (int(np.nanargmin(taus)), "least"))
        ]
        return f"{', '.join(pairs[: 2 if len(taus) > 1 else 1])}."

    def intervals(self) -> pd.DataFrame:
        """Return τ with its interval, one row per pair of measures.

        Columns measure_1, measure_2, tau, low, high, and conclusion: whether they rank runs alike. If it matters
        which is the reference, that is measure_1, and every pair has two rows.
        """
        first, second = _pair_measures(len(self.measures), parse_rank_correlation(self.variant))
        names = np.array([str(measure) for measure in self.measures], dtype=object)
        numbers = {name: getattr(self, name)[first, second] for name in ("tau", "low", "high")}
        frame = pd.DataFrame({"measure_1": names[first], "measure_2": names[second], **numbers})
        return frame if self.conclusions is None else frame.assign(conclusion=self.conclusions[first, second])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return τ with its intervals, where there are any."""
        return {} if np.isnan(self.low).all() else {"intervals": self.intervals()}

    @property
    def symbol(self) -> str:
        """How the rank correlation is written."""
        return parse_rank_correlation(self.variant).symbol

    @property
    def _label(self) -> str:
        symmetric = parse_rank_correlation(self.variant).symmetric
        return self.symbol if symmetric else f"{self.symbol}; rows are the reference"

    def beside(self, measure: str) -> Table:
        """Return τ of one measure with each other one, the nearest first, with intervals."""
        frame, m = self.to_frame(), [str(other) for other in self.measures].index(measure)
        ends = [f"{low:.2f} to {high:.2f}" if low <= high else NOTHING for low, high in zip(self.low[m], self.high[m], strict=True)]
        row = pd.DataFrame({"τ": frame[measure]})
        if not self.no_interval:
            row["95 % interval"] = ends
        if self.conclusions is not None:
            row["ranks alike"] = [word.partition(":")[0] for word in self.conclusions[m]]
        caption = f"τ between the rankings of runs by {self.measures[m].title} and by each other measure. {self.no_interval}".strip()
        return Table(row.drop(index=measure).sort_values("τ", ascending=False), caption, self.signature, digits=2)

    def to_table(self) -> Table:
        """Return τ above the diagonal, as in ACL 2021, Tables 2 and 5; all of it if not symmetric."""
        frame, which = self.to_frame(), parse_rank_correlation(self.variant)
        if which.symmetric:
            frame, rows = take_upper_triangle(frame), ""
        else:
            rows = "; rows are the reference"
        of = "Kendall's " if which.name in ("tau_a", "tau_b") else ""
        caption = f"Ranking similarity: {of}{self.symbol} between rankings of runs{rows}."
        return Table(frame, caption, self.signature, marks=shade_marks(), legend=self.no_interval)

    def to_summary(self) -> Table:
        """Return the matrix, or of many measures the one that each is most like."""
        table, names = self.to_table(), [str(measure) for measure in self.measures]
        if len(names) <= MANY:
            return table
        return replace(table, frame=sum_up_matrix(names, self.tau, self.symbol), marks=None)

    def explained_tables(self) -> list[Table]:
        """Return further the intervals, and whether measures rank runs alike."""
        if np.isnan(self.low).all():
            return [self.to_table()]
        level = f"{100 * self.confidence:g} % intervals"
        caption = f"{level} of {self.symbol} {ELSEWHERE[self.over]}; alike is {self.margin:g} or more."
        listed = tabulate_conclusions(self.intervals(), "tau", self.symbol, caption, self.signature)
        return [self.to_table(), listed]

    def charts(self) -> Sequence[HeatMap]:
        """Return τ between all pairs of measures as a heat map with its numbers, and its intervals as tips."""
        names = [measure.title for measure in self.measures]
        kind = f"{self.confidence:.0%} interval over {self.over}{', of all pairs together' * self.simultaneous}"
        tips = {
            (i, j): f"{names[i]} and {names[j]}\nτ = {self.tau[i, j]:.3f}\n"
            f"{kind}: {self.low[i, j]:.3f} to {self.high[i, j]:.3f}"
            for i, j in np.ndindex(self.tau.shape)
            if i != j
        }
        return [
            HeatMap(
                self.tau, names, names, self._label, lambda tau: "–" if np.isnan(tau) else f"{tau:.2f}",
                diagonal=False, clustered=True, tips=tips,
            )
        ]  # fmt: skip


def ranking_similarity(
    scores: Scores,
    *,
    tau: str = "tau_a",
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    simultaneous: bool = True,
    margin: float = INTERCHANGEABLE,
    over: Over = "topics",
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
        Which rank correlation: tau_a, tau_b, tau_ap, tau_ap_sym, tau_ap_b, tau_h, tau_gap, tau_gap_sym or spearman;
        with @k, such as tau_b@15, over the k runs that the reference ranks first. τ_a counts ties as neither agreement
        nor disagreement, as the papers' printed values imply; τ_b corrects for ties. Where runs are tied, even a
        measure and itself (the diagonal) have a τ_a below 1. For tau_ap, tau_gap and @k it matters which measure is
        the reference: the first of a pair, a row of the table. See `metaeval.stats.weighted_correlation.correlate`.
    n_bootstrap : int, optional
        Resamples of the topics for the interval; 0 for none. With fewer than 10 runs or 25 topics there is none.
    confidence : float, optional
        Level of the interval: how often it contains the expected τ of as many new topics, for the same runs.
    simultaneous : bool, optional
        Make the intervals of all pairs of measures correct at once; otherwise each is for its pair alone.
    margin : float, optional
        Two measures rank runs alike if their τ is at least this.
    over : {"topics", "runs and topics"}, optional
        Make intervals for the same runs on other topics, or also for other runs of the same kind.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional

    Returns
    -------
    RankingSimilarity

    Raises
    ------
    MetaevalError
        If there are too few runs, topics or measures, or an option is out of range.

    Examples
    --------
    >>> values = [[[0.1, 0.8], [0.2, 0.9]], [[0.3, 0.7], [0.4, 0.8]], [[0.6, 0.9], [0.5, 0.9]]]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=["t", "u"], measures=["NMD", "Accuracy"])
    >>> ranking_similarity(scores).to_frame().loc["NMD", "Accuracy"].round(3)
    np.float64(-0.333)
    """
    scores, diagnostics = choose_runs(scores, distinct_runs, measures=2, clusters="pool")
    check_share("confidence", confidence)
    check_share("margin", margin)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_seed(seed)
    check_choice("over", over, Over)
    which = parse_rank_correlation(tau)
    check_depth(which, scores)
    order = sort_labels(scores, signs=find_signs(scores.measures))
    oriented = Scaled(order.values)
    means, sizes, mixed = _sum_up(oriented)
    similarity = _compare_rankings(means, sizes, which)
    low = high = least = np.full((len(scores.measures),) * 2, np.nan)
    n_ranked = which.depth or len(scores.runs)
    no_interval = explain_no_interval(n_ranked, len(scores.topics), over) if n_bootstrap else ""
    if n_bootstrap and not no_interval:
        rng = generator(seed, scores.collection, "ranking_similarity")
        drawn = _resample(oriented, mixed, which, n_bootstrap, rng)
        if over != "topics":
            pairs, runs = _pair_measures(len(scores.measures), which), np.arange(len(means))
            left_out = [_compare_rankings(means[runs != run], sizes[runs != run], which)[pairs] for run in runs]
            few = min(n_bootstrap, CROSSED_TRIALS)
            crossed = [
                _resample(oriented.without(run), mixed, which, few, generator(seed, scores.collection, "other runs"))
                for run in runs.tolist()
            ]
            drawn = vary_runs(drawn, np.array(left_out), np.array(crossed), rng)
        size = n_ranked, len(scores.topics)
        low, high = _find_ends(similarity, drawn, size, confidence, simultaneous, which)
        least, _ = _find_ends(similarity, drawn, size, max(2 * confidence - 1, 0.0), simultaneous, which)
    resampling: dict[str, object] = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    resampling |= list_intervals(over, simultaneous, margin, INTERCHANGEABLE) if n_bootstrap else {}
    signature = sign("ranking_similarity", scores, tau=which, **resampling, **diagnostics.settings)
    given = np.ix_(order.measures, order.measures)
    ends = Ends(low[given].ravel(), high[given].ravel())
    words = judge_level(
        similarity[given].ravel(), ends, Ends(least[given].ravel(), ends.high), margin, len(scores.topics), over
    )
    return RankingSimilarity(
        scores.measures, similarity[given], low[given], high[given], str(which), confidence, signature, no_interval,
        simultaneous, np.array(words, dtype=object).reshape(low.shape), margin, over, diagnostics=(diagnostics,),
    )  # fmt: skip


def _pair_measures(n_measures: int, which: RankCorrelation) -> tuple[np.ndarray, np.ndarray]:
    """Return both measures of every pair, or every pair both ways round if it matters which is the reference."""
    first, second = np.triu_indices(n_measures, 1) if which.symmetric else np.nonzero(~np.eye(n_measures, dtype=bool))
    return first, second


def _compare_rankings(means: np.ndarray, sizes: np.ndarray, which: RankCorrelation) -> np.ndarray:
    """Return the rank correlation of every pair of measures, shape (..., measure, measure)."""
    tolerance = _rounding(sizes)
    if which.name in ("tau_a", "tau_b") and which.depth is None:
        return tau_matrix(means, variant=which.name, tolerance=tolerance)  # type: ignore[arg-type]
    return correlation_matrix(means, which, tolerance=tolerance)


def _sum_up(oriented: Scaled) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return means over topics of scores and of their magnitudes, and whether a measure has scores of either sign."""
    means, sizes, below, above = [], [], [], []
    for _, block in oriented.blocks():
        means.append(block.mean(axis=1))
        sizes.append(np.abs(block).mean(axis=1))
        below.append((block < 0).any(axis=(0, 1)))
        above.append((block > 0).any(axis=(0, 1)))
    mixed = bool((np.any(below, axis=0) & np.any(above, axis=0)).any())
    return np.concatenate(means), np.concatenate(sizes), mixed


def _resample(
    oriented: Scaled, mixed: bool, which: RankCorrelation, n_bootstrap: int, rng: np.random.Generator
) -> np.ndarray:
    """Resample topics and rank anew: τ of every pair of measures, shape (trial, pair); all see the same topics."""
    n_runs, n_topics, n_measures = oriented.shape
    first, second = _pair_measures(n_measures, which)
    block = max(1, _CELLS // max(1, len(first) * n_runs))
    block = min(block, trials_a_pass(n_topics, n_bootstrap))
    weights_held, reads = 8 * block * n_topics, -(-n_bootstrap // block) * (1 + mixed)
    oriented.announce(
        f", {n_bootstrap:,} resamples: weights of {weights_held / 2**20:,.0f} MB are held in memory, and the scores are "
        f"read {reads} times in blocks of runs"
    )
    drawn = []
    for start in range(0, n_bootstrap, block):
        size = min(block, n_bootstrap - start)
        weights = _draw_shares(rng, size, n_topics)
        means = oriented.weigh(weights)
        # Sums of scores of either sign round as much as their magnitudes do; those of one sign are their magnitudes.
        sizes = oriented.weigh(weights, np.abs) if mixed else np.abs(means)
        drawn.append(_compare_rankings(means, sizes, which)[:, first, second])
        tell("resampling topics", start + size, n_bootstrap)
    return np.concatenate(drawn)


def _draw_shares(rng: np.random.Generator, size: int, n_topics: int) -> np.ndarray:
    """Draw topics anew: how often each occurs, over their number, shape (trial, topic)."""
    shares, equal = np.empty((size, n_topics)), np.full(n_topics, 1 / n_topics)
    few = max(1, 2**20 // n_topics)
    for start in range(0, size, few):
        part = shares[start : start + few]
        np.divide(rng.multinomial(n_topics, equal, size=len(part)), n_topics, out=part)
    return shares


def _find_ends(
    similarity: np.ndarray,
    drawn: np.ndarray,
    size: tuple[int, int],
    confidence: float,
    simultaneous: bool,
    which: RankCorrelation,
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends as square arrays; the diagonal is certain."""
    n_runs, n_topics = size
    first, second = _pair_measures(len(similarity), which)
    step = 4 / (n_runs * (n_runs - 1))  # one pair of runs the other way round
    ends = centre_interval(
        similarity[first, second], drawn, n_topics, confidence=confidence, step=step, simultaneous=simultaneous
    )
    low, high = np.ones((2, *similarity.shape))
    for square, values in zip((low, high), ends, strict=True):
        square[first, second] = values
        if which.symmetric:
            square[second, first] = values
    return low, high


def _rounding(sizes: np.ndarray) -> np.ndarray:
    """Return how far two means can lie apart by rounding, from the means of the magnitudes of scaled scores.

    Sums round in proportion to the magnitudes of what is added. Scores round too, in proportion to what a measure adds
    and subtracts inside: one that is zero on paper can be 1e-17.
    """
    return 1e-12 * sizes + 1e-14
