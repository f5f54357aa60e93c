"""How often do the intervals hold what they claim? Every interval over topics, on populations whose truth is known.

A real matrix is a population: the runs are fixed, and a study draws topics from it. The true value is the expected
value of the same number over studies of as many topics, known from many more studies than are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

import metaeval

NOMINAL = 0.95
RESAMPLES, TRIALS = 250, 400
"""Resamples of topics for each interval, and B of the tests: fewer than a user's, whose errors are smaller."""

MIX = 0.35
"""Angle by which the residuals of one drawn topic are turned towards those of another, in `draw_study`."""

RAW_TOPICS = 200
"""Populations of so many topics are drawn from as they are, ties and all; smaller ones are smoothed."""

Numbers = Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
"""By kind of interval: the numbers of one study, and the ends of their intervals, each of shape (number,)."""


class Cell(NamedTuple):
    """One population with a number of runs and of topics."""

    population: str
    n_runs: int
    n_topics: int


CELLS = (
    Cell("stc3-dq-a", 22, 25),
    Cell("stc3-dq-a", 22, 100),
    Cell("stc3-dq-s", 10, 50),
    Cell("stc3-dq-s", 22, 390),
    Cell("trec-web-2013", 34, 25),
    Cell("trec-web-2013", 10, 50),
    Cell("trec-web-2013", 34, 100),
    Cell("llmjudge", 33, 25),
    Cell("llmjudge", 12, 50),
    Cell("normal", 10, 25),
    Cell("normal", 22, 100),
)


def load_populations() -> dict[str, metaeval.Scores]:
    """Return the populations: real matrices with four measures each, and normal scores of correlated measures.

    Returns
    -------
    dict of str to Scores
    """
    found = {}
    for name in ("stc3-dq-a", "stc3-dq-s"):
        found[name] = metaeval.score(metaeval.load_dataset(name), ["NMD", "RNOD", "RNSS", "JSD"])
    found["trec-web-2013"] = metaeval.load_dataset("trec-web-2013").sel(measures=["AP", "ERR@20", "nDCG@20", "RR"])
    found["llmjudge"] = metaeval.score(metaeval.load_dataset("llmjudge"), ["CEM_ORD", "kappa", "MAE_M", "Accuracy"])
    return found | {"normal": make_normal_population()}


def make_normal_population(n_runs: int = 22, n_topics: int = 2000, seed: int = 5) -> metaeval.Scores:
    """Return normal scores: three measures whose noise on a topic is correlated by 0.6.

    Parameters
    ----------
    n_runs, n_topics, seed : int, optional

    Returns
    -------
    Scores
    """
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.35, (n_runs, 1, 1)) + rng.normal(0, 0.08, (n_runs, 1, 3))
    common, own = rng.normal(size=(n_runs, n_topics, 1)), rng.normal(size=(n_runs, n_topics, 3))
    return label_study(quality + np.sqrt(0.6) * common + np.sqrt(0.4) * own, "normal")


def draw_study(population: np.ndarray, n_topics: int, rng: np.random.Generator) -> np.ndarray:
    """Draw topics with replacement; small populations are smoothed, means and covariances staying as they are.

    The residuals r of a drawn topic become cos φ · r ± sin φ · r' with those of another drawn topic.

    Parameters
    ----------
    population : ndarray, shape (run, topic, measure)
    n_topics : int
    rng : Generator

    Returns
    -------
    ndarray, shape (run, n_topics, measure)
    """
    one, other = rng.integers(0, population.shape[1], (2, n_topics))
    if population.shape[1] >= RAW_TOPICS:
        return population[:, one]
    mean = population.mean(axis=1, keepdims=True)
    signs = rng.choice([-1.0, 1.0], (1, n_topics, 1))
    rest = population - mean
    return np.asarray(mean + np.cos(MIX) * rest[:, one] + np.sin(MIX) * signs * rest[:, other])


def compute_numbers(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return every number that has an interval, with its interval.

    Parameters
    ----------
    scores : Scores
    seed : int
    resamples : int
        0 for the numbers alone.

    Returns
    -------
    mapping of str to (numbers, low, high)
    """
    options = {"n_bootstrap": resamples, "confidence": NOMINAL, "seed": seed}
    similarity = metaeval.ranking_similarity(scores, **options).intervals()
    reference = [str(one) for one in scores.measures[:2]]
    coverage = metaeval.coverage(scores, reference=reference, **options)
    found = {"τ": similarity.rename(columns={"tau": "value"})}
    found["coverage"] = coverage.to_frame().rename(columns={"coverage": "value"})
    found["difference of coverage"] = coverage.compare_coverage().rename(columns={"difference": "value"})
    for test, word in (("randomised-tukey-hsd", "HSD"), ("bootstrap-t", "bootstrap-t")):
        power = metaeval.discriminative_power(scores, n_permutations=TRIALS, test=test, engine="numpy", **options)
        found[f"power, {word}"] = power.intervals().rename(columns={"power": "value"})
        found[f"difference of power, {word}"] = power.compare_power().rename(columns={"difference": "value"})
        effects = power.to_frame()
    found["difference of two runs"] = effects.rename(columns={"difference": "value"})
    found["standardised difference of two runs"] = effects[["d", "d_low", "d_high"]].set_axis(
        ["value", "low", "high"], axis=1
    )
    columns = ("value", "low", "high")
    return {name: tuple(frame[one].to_numpy(float) for one in columns) for name, frame in found.items()}  # type: ignore[misc]


def measure_coverage(
    populations: Mapping[str, metaeval.Scores],
    cells: Sequence[Cell] = CELLS,
    *,
    compute: Callable[[metaeval.Scores, int, int], Numbers] = compute_numbers,
    studies: int = 150,
    studies_of_truth: int = 450,
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """How often does each kind of interval hold the true value?

    Parameters
    ----------
    populations : mapping of str to Scores
    cells : sequence of Cell, optional
        Those whose population is not given are left out.
    compute : callable, optional
        From scores, a seed and a number of resamples, the numbers with their intervals.
    studies : int, optional
        Studies judged, a cell.
    studies_of_truth : int, optional
        Further studies, from which the true value is known, together with the judged ones.
    seed : int, optional
    say : callable, optional
        Called with a line of progress.

    Returns
    -------
    DataFrame
        Columns interval, population, n_runs, n_topics, nominal, coverage, low, high, studies. ``coverage`` is the
        share of intervals that hold the true value, over studies and over all numbers of the kind (pairs of
        measures, measures, pairs of runs); low and high are the ends of its own 95 % interval over studies.
    """
    rows = []
    for number, cell in enumerate(one for one in cells if one.population in populations):
        say(f"{cell.population}: {cell.n_runs} runs, {cell.n_topics} topics")
        rng = np.random.default_rng([seed, number])
        population = populations[cell.population]
        turned = population.values * [1 if one.higher_is_better in (True, None) else -1 for one in population.measures]
        chosen = np.sort(rng.permutation(len(turned))[: cell.n_runs])
        found: dict[str, list[np.ndarray]] = {}
        values: dict[str, list[np.ndarray]] = {}
        for study in range(studies + studies_of_truth):
            drawn = label_study(draw_study(turned[chosen], cell.n_topics, rng), cell.population)
            numbers = compute(drawn, study, RESAMPLES if study < studies else 0)
            for kind, (value, low, high) in numbers.items():
                values.setdefault(kind, []).append(value)
                if study < studies:
                    found.setdefault(kind, []).append(np.stack([low, high]))
        for kind, ends in found.items():
            rows.append((kind, *cell, NOMINAL, *find_share_held(values[kind], ends), studies))
    columns = ["interval", "population", "n_runs", "n_topics", "nominal", "coverage", "low", "high", "studies"]
    return pd.DataFrame(rows, columns=columns)


def find_share_held(values: Sequence[np.ndarray], ends: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Return which share of intervals hold the true values, and the ends of its own 95 % interval over studies.

    Parameters
    ----------
    values : sequence of ndarray, shape (number,)
        Of every study; their mean is the true value. A number that is not defined in some study has none, and is left
        out.
    ends : sequence of ndarray, shape (2, number)
        Of the intervals, of every study that is judged.

    Returns
    -------
    share, low, high : float

    Examples
    --------
    >>> find_share_held([np.array([1.0]), np.array([3.0])], [np.array([[0.0], [2.5]]), np.array([[2.5], [4.0]])])
    (0.5, 0.0, 1.0)
    """
    low, high = np.stack(ends, axis=1)
    truth = np.mean(values, axis=0)
    known = np.isfinite(truth) & np.isfinite(low).all(axis=0)
    slack = 1e-12
    held = ((low - slack <= truth) & (truth <= high + slack))[:, known].mean(axis=1)
    share, error = float(held.mean()), float(1.96 * held.std(ddof=1) / np.sqrt(len(ends)))
    return share, max(0.0, share - error), min(1.0, share + error)


def label_study(values: np.ndarray, collection: str) -> metaeval.Scores:
    """Return values as scores of a collection of this name.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    collection : str

    Returns
    -------
    Scores
    """
    n_runs, n_topics, n_measures = values.shape
    measures = [metaeval.Measure(f"measure {one + 1}", higher_is_better=True) for one in range(n_measures)]
    runs = [f"run {one + 1:03}" for one in range(n_runs)]
    return metaeval.Scores(
        values, runs=runs, topics=[f"{one + 1:05}" for one in range(n_topics)], measures=measures, collection=collection
    )
