"""What `agreement` computes of one collection, on arrays: each statistic with exchanges of measures and topics drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from metaeval.analyses.agreement_in_blocks import HeldInBlocks
from metaeval.errors import MetaevalError
from metaeval.stats._ties_in_blocks import TiesFound
from metaeval.stats.cell_accuracy import cell_accuracy, resample_cell_accuracy, swap_topics
from metaeval.stats.resampled_sums import WEIGHTS_HELD
from metaeval.stats.resampling import resampled_topics
from metaeval.stats.run_agreement import (
    HEAD_WEIGHTED,
    RunStatistic,
    resample_run_statistics,
    run_statistics,
    settle_ties,
    swap_runs,
)
from metaeval.stats.run_pairs import are_many
from metaeval.stats.scale import Scaled
from metaeval.stats.soft_accuracy import (
    flip_p_values,
    normal_p_values,
    resample_soft_accuracy,
    soft_accuracy,
    swap_cells_softly,
)
from metaeval.stats.tie_accuracy import TieAccuracy, resample_tie_accuracy, swap_pairs, tie_accuracy
from metaeval.stats.topic_correlation import resample_topic_pearson, swap_cells, topic_pearson
from metaeval.stats.weighted_correlation import DEPTH

TITLES = {
    "pairwise_accuracy": "pairwise accuracy",
    "spa": "soft pairwise accuracy",
    "pearson": "Pearson, runs",
    "spearman": "Spearman, runs",
    "tau_a": "τ_a, runs",
    "tau_b": "τ_b, runs",
    "topic_pearson": "Pearson, topics",
    "acc_t": "acc-t, topics",
    "tau_ap_b": "τ_AP,b, runs",
    "tau_gap": "τ_GAP, runs",
    "acc_t_cells": "acc-t, all cells",
}
"""All statistics, and what tables call them."""

OF_RUNS: tuple[RunStatistic, ...] = ("pairwise_accuracy", "pearson", "spearman", "tau_a", "tau_b", *HEAD_WEIGHTED)
"""Statistics of whole runs, which have a form for the first k runs: ``tau_b@15``."""

BY_DEFAULT = tuple(one for one in TITLES if one not in (*HEAD_WEIGHTED, "acc_t_cells"))
"""The statistics that are computed unless others are asked for."""

SHARES = ("pairwise_accuracy", "spa", "acc_t", "acc_t_cells")
"""Statistics from 0 to 1; the others are correlations."""


@dataclass(frozen=True, eq=False)
class Found:
    """One statistic of one collection.

    Parameters
    ----------
    value : ndarray, shape (measure,)
    exchanged : ndarray, shape (trial, measure pair)
        Differences of two measures after exchanging them at random.
    drawn : ndarray, shape (trial, measure)
        The statistic on topics drawn anew; no trial if there is no interval.
    chance, ceiling : float
        NaN where not defined.
    step : float
        The smallest step between two values.
    n_pairs : int
        Pairs of runs that count.
    tested : ndarray, shape (measure,), optional
        What exchanges are compared with, where it is computed otherwise than the value.
    """

    value: np.ndarray
    exchanged: np.ndarray
    drawn: np.ndarray
    chance: float
    ceiling: float
    step: float
    n_pairs: int
    tested: np.ndarray | None = None

    @property
    def observed(self) -> np.ndarray:
        """What exchanges are compared with, shape (measure,)."""
        return self.value if self.tested is None else self.tested


@dataclass(frozen=True, eq=False)
class Held:
    """Measures beside a reference, with everything that the statistics are computed from.

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure + 1); runs and topics in the order of their labels, higher is better, the last
        measure is the reference.
    run_scores : ndarray, shape (run, measure + 1)
        Scores of whole runs; the last column is the reference's.
    key : callable
        From a purpose to the key of its random draws.
    n_permutations, n_bootstrap : int
    means : ndarray, shape (run, measure + 1), optional
        Over topics, on the measures' own scales; higher is better.
    """

    scores: Scaled
    run_scores: np.ndarray
    key: Callable[[str], int]
    n_permutations: int
    n_bootstrap: int
    means: np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        """Of the measures, shape (run, topic, measure), of scores in memory."""
        return self.scores.values[..., :-1]

    @property
    def reference(self) -> np.ndarray:
        """Of the reference, shape (run, topic), of scores in memory."""
        return self.scores.values[..., -1]

    @property
    def weights(self) -> np.ndarray:
        """How often each topic is drawn in each resample, shape (trial, topic)."""
        return resampled_topics(self.key("topics"), range(self.n_bootstrap), self.scores.shape[1])

    @property
    def in_blocks(self) -> bool:
        """Whether scores, pairs of runs or weights of topics are too many to hold all of them."""
        n_runs, n_topics, _ = self.scores.shape
        return self.scores.large or are_many(n_runs, n_topics) or self.n_bootstrap * n_topics > WEIGHTS_HELD

    @cached_property
    def blocks(self) -> HeldInBlocks:
        """What statistics share of scores that are read in blocks."""
        return HeldInBlocks(self.scores, self.key, self.n_permutations, self.n_bootstrap)


def split_statistic(statistic: str, most: int | None = None) -> tuple[str, int | None]:
    """Return the name of a statistic, and of how many first runs it is, if it says so.

    Parameters
    ----------
    statistic : str
        ``"tau_b"`` or ``"tau_b@15"``.
    most : int, optional
        How many runs there are.

    Returns
    -------
    name : str
    first : int or None

    Raises
    ------
    MetaevalError
        If there is no such statistic, or it has no such form.

    Examples
    --------
    >>> split_statistic("tau_b@15"), split_statistic("spa")
    (('tau_b', 15), ('spa', None))
    """
    name, at, first = statistic.partition("@")
    if name not in TITLES:
        raise MetaevalError(f"there is no statistic {statistic!r}: use {', '.join(TITLES)}, or one of runs as tau_b@15")
    if not at:
        return name, None
    if name not in OF_RUNS or not DEPTH.fullmatch(first):
        raise MetaevalError(f"there is no statistic {statistic!r}: {', '.join(OF_RUNS)} have a form such as tau_b@15")
    if most is not None and int(first) > most:
        raise MetaevalError(f"{statistic} needs {first} runs, there are {most}")
    return name, int(first)


def name_statistic(statistic: str) -> str:
    """Return what tables call a statistic.

    Examples
    --------
    >>> name_statistic("tau_b@15"), name_statistic("acc_t")
    ('τ_b, first 15 runs', 'acc-t, topics')
    """
    name, first = split_statistic(statistic)
    return TITLES[name] if first is None else f"{TITLES[name].removesuffix(', runs')}, first {first} runs"


def find_statistics(held: Held, wanted: Sequence[str]) -> dict[str, Found]:
    """Compute statistics of one collection.

    Parameters
    ----------
    held : Held
    wanted : sequence of str
        As in `split_statistic`.

    Returns
    -------
    dict of str to Found
    """
    if held.in_blocks:
        held.blocks.announce()
    n_runs = len(held.reference)
    found: dict[str, Found] = {}
    by_first: dict[int | None, list[Any]] = {}
    for one in wanted:
        name, first = split_statistic(one, n_runs)
        if name in OF_RUNS:
            by_first.setdefault(first, []).append(name)
    for first, names in by_first.items():
        for name, one_found in _compare_runs(held, names, first).items():
            found[name if first is None else f"{name}@{first}"] = one_found
    others = {"spa": _compare_softly, "topic_pearson": _correlate_cells, "acc_t": _compare_pairs}
    others |= {"acc_t_cells": _compare_cells}
    found |= {name: find(held) for name, find in others.items() if name in wanted}
    return {one: found[one] for one in wanted}


def _compare_runs(held: Held, which: Sequence[RunStatistic], first: int | None) -> dict[str, Found]:
    scores = settle_ties(held.run_scores)
    wanted = scores[:, -1]
    # Those that the reference puts first, in the order of labels; of tied runs those that come first there.
    runs = np.sort(np.argsort(-wanted, kind="stable")[:first])
    n_pairs = len(runs) * (len(runs) - 1) // 2
    # Rounded scores decide ties; Pearson's r and the gaps of τ_GAP are of the scores themselves.
    rounded = run_statistics(scores[runs, :-1].T, wanted[runs], which)
    exact = run_statistics(held.run_scores[runs, :-1].T, held.run_scores[runs, -1], which)
    value = {name: (exact if name in ("pearson", "tau_gap") else rounded)[name] for name in which}
    exchanged = swap_runs(scores[:, :-1], wanted, which, held.key("runs"), held.n_permutations, runs=runs)
    drawn, ceiling = dict.fromkeys(which, _no_trials(held)), dict.fromkeys(which, float("nan"))
    if held.n_bootstrap and held.in_blocks:
        drawn, ceiling = held.blocks.means.compare(which, runs)
    elif held.n_bootstrap:
        drawn, ceiling = resample_run_statistics(held.values, held.reference, held.weights, which, runs=runs)
    n = len(runs)
    steps = {"pairwise_accuracy": 1 / n_pairs, "spearman": 12 / (n**3 - n)}
    # Those that weigh the head have smaller steps, too; as much as a pair weighs on average is what an end may be off by.
    steps |= dict.fromkeys(("tau_a", "tau_b", *HEAD_WEIGHTED), 2 / n_pairs)
    place, other = np.triu_indices(n, 1)
    tied = float((wanted[runs][place] == wanted[runs][other]).mean())
    return {
        name: Found(
            value[name],
            exchanged[name],
            drawn[name],
            # A measure that ranks at random, without ties.
            (1 - tied) / 2 if name == "pairwise_accuracy" else 0.0,
            ceiling[name],
            steps.get(name, 0.0),
            n_pairs,
        )
        for name in which
    }


def _compare_softly(held: Held) -> Found:
    drawn, ceiling = _no_trials(held), float("nan")
    # Exchanges have p-values by the normal limit of the flips; so has what they are compared with, without flips' noise.
    if held.in_blocks:
        p, limit, exchanged, (drawn, ceiling) = held.blocks.compare_softly()
    else:
        both = held.scores.values
        p = flip_p_values(both, held.key("flips"), held.n_permutations)
        if held.n_bootstrap:
            drawn, ceiling = resample_soft_accuracy(held.values, held.reference, held.weights)
        exchanged = swap_cells_softly(held.values, held.reference, held.key("cells"), held.n_permutations)
        limit = normal_p_values(both)
    # The mean distance between p and a number drawn evenly from 0 to 1 is p² − p + ½.
    chance = float(1 - (p[-1] ** 2 - p[-1] + 0.5).mean())
    tested = soft_accuracy(limit[:-1], limit[-1])
    return Found(soft_accuracy(p[:-1], p[-1]), exchanged, drawn, chance, ceiling, 0.0, p.shape[1], tested)


def _correlate_cells(held: Held) -> Found:
    if held.in_blocks:
        value, exchanged, drawn = held.blocks.correlate_cells()
    else:
        value = topic_pearson(held.values, held.reference)
        exchanged = swap_cells(held.values, held.reference, held.key("cells"), held.n_permutations)
        drawn = _no_trials(held)
        if held.n_bootstrap:
            drawn = resample_topic_pearson(held.values, held.reference, held.weights)
    return Found(value, exchanged, drawn, 0.0, float("nan"), 0.0, _count_pairs(held))


def _compare_pairs(held: Held) -> Found:
    accuracy: TieAccuracy | TiesFound
    if held.in_blocks:
        accuracy, exchanged, drawn = held.blocks.compare_pairs()
    else:
        accuracy = tie_accuracy(held.values, held.reference)
        exchanged = swap_pairs(accuracy.right, held.key("pairs"), held.n_permutations)
        drawn = resample_tie_accuracy(accuracy.right, held.weights) if held.n_bootstrap else _no_trials(held)
    n_pairs = _count_pairs(held)
    step = 1 / (n_pairs * held.scores.shape[1])
    return Found(accuracy.value, exchanged, drawn, _guess_ties(accuracy.tied), float("nan"), step, n_pairs)


def _compare_cells(held: Held) -> Found:
    if held.in_blocks:
        accuracy, exchanged, drawn = held.blocks.compare_cells()
    else:
        accuracy = cell_accuracy(held.values, held.reference)
        exchanged = swap_topics(accuracy.shares, held.key("pairs of cells"), held.n_permutations)
        drawn = resample_cell_accuracy(accuracy.shares, held.weights) if held.n_bootstrap else _no_trials(held)
    n_cells = held.scores.shape[0] * held.scores.shape[1]
    step = 2 / (n_cells * (n_cells - 1))
    return Found(accuracy.value, exchanged, drawn, _guess_ties(accuracy.tied), float("nan"), step, _count_pairs(held))


def _guess_ties(tied: float) -> float:
    """Without knowledge, either all pairs are called tied, or none and half of the others are right."""
    return max(tied, (1 - tied) / 2)


def _no_trials(held: Held) -> np.ndarray:
    return np.empty((0, held.scores.shape[-1] - 1))


def _count_pairs(held: Held) -> int:
    n_runs = held.scores.shape[0]
    return n_runs * (n_runs - 1) // 2
