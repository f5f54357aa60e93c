"""Do predictions about other numbers of topics come true, and do the intervals of rank correlations and designs hold?

A collection of n topics predicts the τ between two sets of half as many to four times as many. Populations and studies
are those of `experiments.calibration.intervals`; the true expected τ is known from pairs of studies of that size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

import metaeval
from experiments.calibration.intervals import NOMINAL, Cell, Numbers, draw_study, label_study
from metaeval.stats.rank_correlation import tau

TIMES = (0.5, 1, 2, 4)
"""How many times as many topics are predicted."""

CELLS = (
    Cell("stc3-dq-a", 22, 50),
    Cell("trec-web-2013", 34, 25),
    Cell("trec-web-2013", 34, 50),
    Cell("llmjudge", 33, 30),
    Cell("normal", 22, 50),
)

CORRELATIONS = {
    "τ_AP": "tau_ap", "τ_h": "tau_h", "τ_GAP": "tau_gap", "Spearman's ρ": "spearman", "τ_b@10": "tau_b@10",
}  # fmt: skip


def compute_correlations(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return the rank correlations of every two measures with their intervals, as `intervals.compute_numbers` does.

    Parameters
    ----------
    scores : Scores
    seed, resamples : int

    Returns
    -------
    mapping of str to (numbers, low, high)
    """
    found = {}
    for name, which in CORRELATIONS.items():
        one = metaeval.ranking_similarity(scores, tau=which, n_bootstrap=resamples, confidence=NOMINAL, seed=seed)
        frame = one.intervals()
        found[name] = (frame["tau"].to_numpy(), frame["low"].to_numpy(), frame["high"].to_numpy())
    return found


def compute_designs(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return what topic-set-size design rests on with its intervals, as `intervals.compute_numbers` does.

    Parameters
    ----------
    scores : Scores
    seed, resamples : int

    Returns
    -------
    mapping of str to (numbers, low, high)
    """
    found = metaeval.topic_set_size(scores, n_bootstrap=resamples, confidence=NOMINAL, seed=seed)
    named = {"V_E2": found.residual, "V_E1": found.within, "generalisability coefficient": found.coefficient}
    return {name: tuple(ends.T) for name, ends in named.items()}  # type: ignore[misc]


def measure_predictions(
    populations: Mapping[str, metaeval.Scores],
    cells: Sequence[Cell] = CELLS,
    *,
    studies: int = 60,
    studies_of_truth: int = 400,
    seed: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """How far off is expected τ, and how often does its interval hold the true value?

    Parameters
    ----------
    populations : mapping of str to Scores
    cells : sequence of Cell, optional
        Those whose population is not given are left out.
    studies : int, optional
        Studies judged, a cell.
    studies_of_truth : int, optional
        Pairs of further studies of each size, between whose rankings τ is averaged.
    seed : int, optional
    say : callable, optional
        Called with a line of progress.

    Returns
    -------
    DataFrame
        Columns population, n_runs, n_topics, topics, measure; expected and predicted, the true and the mean predicted τ;
        bias; coverage, the share of intervals that hold the true one; studies.
    """
    rows = []
    for number, cell in enumerate(one for one in cells if one.population in populations):
        say(f"{cell.population}: {cell.n_runs} runs, {cell.n_topics} topics")
        rng = np.random.default_rng([seed, number])
        population = populations[cell.population]
        values = population.values[np.sort(rng.permutation(len(population.runs))[: cell.n_runs])]
        sizes = [int(times * cell.n_topics) for times in TIMES]
        # Sums of the same scores in another order differ in the last digits: that is a tie.
        means = [
            np.stack([draw_study(values, size, rng).mean(axis=1).T for _ in range(2 * studies_of_truth)])
            for size in sizes
        ]
        expected = np.stack([tau(one[::2], one[1::2], tolerance=1e-9).mean(axis=0) for one in means])
        found = []
        for study in range(studies):
            drawn = label_study(draw_study(values, cell.n_topics, rng), cell.population)
            curves = metaeval.sample_size(
                drawn, sizes=sizes, n_samples=1, n_permutations=1, confidence=NOMINAL, seed=study
            )
            found.append(curves.expected)
        predicted, low, high = np.moveaxis(np.stack(found), -1, 0)
        held = ((low <= expected) & (expected <= high)).mean(axis=0)
        for place, size in enumerate(sizes):
            for m, measure in enumerate(population.measures):
                mean = predicted[:, place, m].mean()
                truth = expected[place, m]
                rows.append((*cell, size, str(measure), truth, mean, mean - truth, held[place, m], studies))
    columns = [
        "population",
        "n_runs",
        "n_topics",
        "topics",
        "measure",
        "expected",
        "predicted",
        "bias",
        "coverage",
        "studies",
    ]
    return pd.DataFrame(rows, columns=columns)
