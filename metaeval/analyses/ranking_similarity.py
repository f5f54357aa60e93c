"""Do two measures rank the runs alike? (Sakai 2021, §5.1 and §6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_seed, check_share, check_tau
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table, band_marks, take_upper_triangle
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.rank_correlation import TauVariant, tau_matrix
from metaeval.stats.scale import scale_scores
from metaeval.stats.streams import generator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLASSIFICATION_BANDS, QUANTIFICATION_BANDS = (0.8, 0.6), (0.9, 0.8)
"""Where the papers' colour bands of τ begin (ACL 2021, Tables 2 and 5)."""

_CELLS = 4_000_000  # run scores held at once while resampling: 32 MB


@dataclass(frozen=True, eq=False)
class RankingSimilarity(Result):
    """Kendall's τ between the run rankings of every pair of measures.

    Parameters
    ----------
    measures : tuple of Measure
    tau : ndarray, shape (measure, measure)
        ``tau[i, j]`` compares the rankings by mean score of measures i and j.
    low, high : ndarray, shape (measure, measure)
        Ends of the interval for τ on as many new topics; NaN when it was not asked for, or `no_interval` says why.
    variant : {"tau_a", "tau_b"}
    confidence : float
    signature : Signature
    no_interval : str
        Why there is no interval, if it was asked for: too few runs or topics.
    """

    measures: tuple[Measure, ...]
    tau: np.ndarray
    low: np.ndarray
    high: np.ndarray
    variant: TauVariant
    confidence: float
    signature: Signature
    no_interval: str = ""

    def __repr__(self) -> str:
        return f"RankingSimilarity: {self.variant} between {len(self.measures)} measures"

    def to_frame(self) -> pd.DataFrame:
        """Return τ as a square frame, measure by measure.

        Returns
        -------
        DataFrame, shape (measure, measure)
        """
        names = pd.Index([str(one) for one in self.measures], name="measure")
        return pd.DataFrame(self.tau, index=names, columns=names.rename(None))

    def intervals(self) -> pd.DataFrame:
        """Return τ with its interval, one row per pair of measures.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2, tau, low, high.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        names = np.array([str(one) for one in self.measures], dtype=object)
        numbers = {name: getattr(self, name)[first, second] for name in ("tau", "low", "high")}
        return pd.DataFrame({"measure_1": names[first], "measure_2": names[second], **numbers})

    def details(self) -> dict[str, pd.DataFrame]:
        """Return τ with its intervals, where there are any."""
        return {} if np.isnan(self.low).all() else {"intervals": self.intervals()}

    @property
    def symbol(self) -> str:
        """How the variant of τ is written."""
        return "τ_a" if self.variant == "tau_a" else "τ_b"

    def to_table(self) -> Table:
        """Return τ above the diagonal, in the papers' colour bands (ACL 2021, Tables 2 and 5)."""
        kinds = {one.kind for one in self.measures}
        bands = QUANTIFICATION_BANDS if kinds == {"quantification"} else CLASSIFICATION_BANDS
        caption = (
            f"Ranking similarity: Kendall's {self.symbol} between the rankings of runs by every two measures; "
            f"bands begin at {bands[0]:g} and {bands[1]:g}. {self.no_interval}"
        ).strip()
        return Table(take_upper_triangle(self.to_frame()), caption, self.signature, marks=band_marks(*bands))

    def plot(self) -> Figure:
        """Draw τ between all pairs of measures as a heat map with its numbers."""
        from metaeval.show.drawing import draw_heatmap

        return draw_heatmap(
            self.tau, [one.title for one in self.measures], self.symbol, self.signature,
            limits=(-1, 1), colours="PuOr_r", write=lambda tau: f"{tau:.2f}", is_dark=lambda tau: abs(tau) > 0.6,
            diagonal=False,
        )  # fmt: skip


def ranking_similarity(
    scores: Scores,
    *,
    tau: TauVariant = "tau_a",
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
) -> RankingSimilarity:
    """Do two measures rank the runs alike?

    Runs are ranked by their mean score over topics, best first whatever a measure's direction.

    Parameters
    ----------
    scores : Scores
        At least two runs, two topics and two measures.
    tau : {"tau_a", "tau_b"}, optional
        τ_a counts ties as neither agreement nor disagreement, as the papers' printed values imply; τ_b corrects
        for ties. Where runs are tied, even a measure and itself (the diagonal) have a τ_a below 1.
    n_bootstrap : int, optional
        Resamples of the topics for the interval; 0 for none. With fewer than 10 runs or 25 topics there is none.
    confidence : float, optional
        Level of the interval: how often it holds the expected τ of as many new topics, for the same runs.
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
    scores, diagnostics = choose_runs(scores, distinct_runs, measures=2)
    check_share("confidence", confidence)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_seed(seed)
    check_tau(tau)
    order = sort_labels(scores, signs=find_signs(scores.measures))
    oriented = scale_scores(order.values)
    similarity = tau_matrix(oriented.mean(axis=1), variant=tau, tolerance=_rounding(np.abs(oriented).mean(axis=1)))
    low = high = np.full((len(scores.measures),) * 2, np.nan)
    no_interval = explain_no_interval(len(scores.runs), len(scores.topics)) if n_bootstrap else ""
    if n_bootstrap and not no_interval:
        rng = generator(seed, scores.collection, "ranking_similarity")
        drawn = _resample(oriented, tau, n_bootstrap, rng)
        low, high = _find_ends(similarity, drawn, oriented.shape[:2], confidence)
    resampling = {"bootstrap": n_bootstrap, "seed": seed} if n_bootstrap else {}
    signature = sign("ranking_similarity", scores, tau=tau, **resampling, **diagnostics.settings)
    given = np.ix_(order.measures, order.measures)
    return RankingSimilarity(
        scores.measures, similarity[given], low[given], high[given], tau, confidence, signature, no_interval,
        diagnostics=(diagnostics,),
    )  # fmt: skip


def _resample(oriented: np.ndarray, variant: TauVariant, n_bootstrap: int, rng: np.random.Generator) -> np.ndarray:
    """Resample topics and rank anew: τ of every pair of measures, shape (trial, pair); all see the same topics."""
    n_runs, n_topics, n_measures = oriented.shape
    first, second = np.triu_indices(n_measures, 1)
    by_topic = oriented.transpose(1, 0, 2).reshape(n_topics, -1)
    mixed = bool(((oriented < 0).any(axis=(0, 1)) & (oriented > 0).any(axis=(0, 1))).any())
    block = max(1, _CELLS // max(1, len(first) * n_runs))
    drawn = []
    for start in range(0, n_bootstrap, block):
        size = min(block, n_bootstrap - start)
        weights = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=size) / n_topics
        means = (weights @ by_topic).reshape(size, n_runs, n_measures)
        # Sums of scores of either sign round as much as their magnitudes do; those of one sign are their magnitudes.
        sizes = (weights @ np.abs(by_topic)).reshape(means.shape) if mixed else np.abs(means)
        drawn.append(tau_matrix(means, variant=variant, tolerance=_rounding(sizes))[:, first, second])
    return np.concatenate(drawn)


def _find_ends(
    similarity: np.ndarray, drawn: np.ndarray, size: tuple[int, ...], confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends as square arrays; the diagonal is certain."""
    n_runs, n_topics = size
    first, second = np.triu_indices(len(similarity), 1)
    step = 4 / (n_runs * (n_runs - 1))  # one pair of runs the other way round
    ends = centre_interval(similarity[first, second], drawn, n_topics, confidence=confidence, step=step)
    low, high = np.ones((2, *similarity.shape))
    for square, values in zip((low, high), ends, strict=True):
        square[first, second] = square[second, first] = values
    return low, high


def _rounding(sizes: np.ndarray) -> np.ndarray:
    """Return how far two means can lie apart by rounding, from the means of the magnitudes of scaled scores.

    Sums round in proportion to the magnitudes of what is added. Scores round too, in proportion to what a measure adds
    and subtracts inside: one that is zero on paper can be 1e-17.
    """
    return 1e-12 * sizes + 1e-14
