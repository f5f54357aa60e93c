"""The figures that rules are decided on: what a study says of measures, in a form that print has too."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

import numpy as np
import pandas as pd
from scipy.stats import studentized_range

from experiments.acl2021.audit import STUDY
from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.analyses.study import Study
from metaeval.data.scores import Scores
from metaeval.measures.base import find_signs
from metaeval.show.verdict import Evidence
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.rank_correlation import tau_matrix
from metaeval.stats.streams import generator

CONSTANT = "always-"
"""What names of runs that always answer one class hold."""

HALVES, SMALL, POWER = "halves", "small sets", "power"
"""The three criteria of the paper's recommendations."""

N_RESAMPLES = 400
"""Of topics, for the intervals of means and differences of τ."""

Between = Callable[[str, str], np.ndarray]
"""τ of two measures, of whatever shape: one number, or one a resample."""


@dataclass(frozen=True)
class Split:
    """How consistent measures are over one kind of split.

    Parameters
    ----------
    means : Series
        Mean τ by measure.
    variance : float
        V_E2.
    n_trials : int
    ahead : DataFrame of bool, shape (measure, measure)
        Whether the row is significantly more consistent than the column.
    """

    means: pd.Series[float]
    variance: float
    n_trials: int
    ahead: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Figures:
    """What one collection says of measures.

    Parameters
    ----------
    name : str
    measures : tuple of str
    tau : DataFrame, shape (measure, measure), or None
        Kendall's τ of the rankings of runs.
    similarity : RankingSimilarity or None
        Where τ is from; None in print.
    splits : mapping of str to Split
        Over `HALVES` and over `SMALL` sets.
    found : Series or None
        Significant run pairs by measure.
    finds_more : DataFrame of bool, shape (measure, measure), or None
        Whether the row finds more than the column.
    scores : Scores or None
        None in print.
    n_constant : int
        Runs that always answer one class.
    """

    name: str
    measures: tuple[str, ...]
    tau: pd.DataFrame | None = None
    similarity: RankingSimilarity | None = None
    splits: Mapping[str, Split] = field(default_factory=dict)
    found: pd.Series[int] | None = None
    finds_more: pd.DataFrame | None = None
    scores: Scores | None = None
    n_constant: int = 0

    @property
    def ahead(self) -> dict[str, pd.DataFrame]:
        """By criterion, whether the row is ahead of the column: more consistent, or finds more."""
        power = {} if self.finds_more is None else {POWER: self.finds_more}
        return {**{label: split.ahead for label, split in self.splits.items()}, **power}

    def weigh(self, name: str, statistic: Callable[[Between], np.ndarray], *, difference: bool = False) -> Evidence:
        """Return a number made of τ's, with its interval over topics.

        Parameters
        ----------
        name : str
            What it is.
        statistic : callable
            From what gives the τ of two measures to the number.
        difference : bool, optional
            Whether it is a difference, which reaches from −2 to 2, and not a τ or a mean of them.

        Returns
        -------
        Evidence
            In print both ends are the number itself; none where there are too few runs or topics.
        """
        place = {one: at for at, one in enumerate(self.measures)}

        def compute(tau: np.ndarray) -> np.ndarray:
            return np.asarray(statistic(lambda one, two: tau[..., place[one], place[two]]))

        if self.tau is None:
            return Evidence(name, math.nan)
        value = float(compute(self.tau.to_numpy()))
        if self.scores is None:
            return Evidence(name, value, (value, value))
        resampled = None if self.similarity is None else resample_tau(self.similarity, self.scores)
        if resampled is None:
            return Evidence(name, value)
        scale, n_runs = 2 if difference else 1, len(self.scores.runs)
        one_pair = 4 / (n_runs * (n_runs - 1))  # of runs, the other way round
        ends = centre_interval(value / scale, compute(resampled) / scale, len(self.scores.topics), step=one_pair)
        low, high = (scale * float(end) for end in ends)
        return Evidence(name, value, (low, high))


@lru_cache(maxsize=256)
def read_study(study: Study) -> Figures:
    """Return the figures of a study.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Figures
    """
    scores = study.scores
    names = tuple(str(one) for one in scores.measures)
    splits = {HALVES: study.consistency, SMALL: study.small_consistency}
    power = study.power
    return Figures(
        study.name,
        names,
        None if study.similarity is None else study.similarity.to_frame(),
        study.similarity,
        {label: _read_split(one) for label, one in splits.items() if one is not None},
        None if power is None else pd.Series(power.significant.sum(axis=1), index=names),
        None if power is None else _read_power(power),
        scores,
        sum(CONSTANT in run for run in scores.runs),
    )


@lru_cache(maxsize=64)
def resample_tau(similarity: RankingSimilarity, scores: Scores) -> np.ndarray | None:
    """Return τ on resampled topics, the same topics for all measures.

    Parameters
    ----------
    similarity : RankingSimilarity
    scores : Scores
        What it was computed from.

    Returns
    -------
    ndarray, shape (trial, measure, measure), or None
        None where there are too few runs or topics for an interval.
    """
    if explain_no_interval(len(scores.runs), len(scores.topics)):
        return None
    seed = int(dict(similarity.signature.settings).get("seed", STUDY["seed"]))
    rng = generator(seed, scores.collection, "rules on ranking similarity")
    oriented = scores.values * find_signs(scores.measures)
    n_topics = len(scores.topics)
    weights = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=N_RESAMPLES) / n_topics
    means = np.einsum("bt,rtm->brm", weights, oriented, optimize=True)
    sizes = np.einsum("bt,rtm->brm", weights, np.abs(oriented), optimize=True)
    return tau_matrix(means, variant=similarity.variant, tolerance=1e-12 * sizes + 1e-14)


def _read_split(found: SplitHalfConsistency) -> Split:
    names = [str(one) for one in found.measures]
    ahead = found.significant & (found.means[:, None] > found.means)
    means = pd.Series(found.means, index=names)
    return Split(means, found.residual_variance, len(found.tau), pd.DataFrame(ahead, index=names, columns=names))


def _read_power(power: DiscriminativePower) -> pd.DataFrame:
    names = [str(one) for one in power.measures]
    square = pd.DataFrame(False, index=names, columns=names)
    for one, two, more in power.compare_power()[["measure_1", "measure_2", "finds_more"]].itertuples(index=False):
        if more in (one, two):
            square.loc[more, two if more == one else one] = True
    return square


def average_figures(figures: Sequence[Figures]) -> Figures:
    """Return the consistency of measures averaged over collections.

    Which measure is ahead is told by the critical difference of the randomised Tukey HSD test on the averaged trials.

    Parameters
    ----------
    figures : sequence of Figures

    Returns
    -------
    Figures
        The only one, where there is one; with splits only where there are more.
    """
    if len(figures) == 1:
        return figures[0]
    first = figures[0]
    labels = [label for label in first.splits if all(label in one.splits for one in figures)]
    splits = {label: _average_splits([one.splits[label] for one in figures]) for label in labels}
    return replace(Figures(" and ".join(one.name for one in figures), first.measures), splits=splits)


def _average_splits(splits: Sequence[Split]) -> Split:
    means = sum((one.means for one in splits[1:]), splits[0].means) / len(splits)
    variance = sum(one.variance for one in splits) / len(splits) ** 2
    n_trials = min(one.n_trials for one in splits)
    gap = find_critical_difference(means.to_numpy(), variance, n_trials)
    ahead = means.to_numpy()[:, None] - means.to_numpy() >= gap
    return Split(means, variance, n_trials, pd.DataFrame(ahead, index=means.index, columns=means.index))


def find_critical_difference(means: np.ndarray, variance: float, n_trials: int) -> float:
    """Return from which difference of mean τ the randomised Tukey HSD test finds two measures to differ.

    The test deals the τ's of a trial anew among the measures: their variance within a trial is V_E2 and that of the mean
    τ's together. With hundreds of trials the means of what is dealt are normal.

    Parameters
    ----------
    means : ndarray, shape (measure,)
    variance : float
        V_E2.
    n_trials : int

    Returns
    -------
    float

    Examples
    --------
    >>> print(f"{find_critical_difference(np.array([0.9, 0.8, 0.7]), 0.002, 1000):.4f}")
    0.0115
    """
    dealt = variance + float(np.var(means, ddof=1))
    return _find_range(len(means), STUDY["alpha"]) * math.sqrt(dealt / n_trials)


@cache
def _find_range(n: int, alpha: float) -> float:
    return float(studentized_range.ppf(1 - alpha, n, np.inf))


def pair_all(first: Sequence[str], second: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """Return every pair within one group of measures, or between two.

    Examples
    --------
    >>> pair_all("abc"), pair_all("ab", "c")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('a', 'c'), ('b', 'c')])
    """
    return list(itertools.combinations(first, 2) if second is None else itertools.product(first, second))
