"""How often do intervals hold what they claim, and do predictions come true, on populations whose truth is known?

A real matrix is a population: the runs are fixed, and a study draws topics from it. The true value is the expected
value of the same number over studies of as many topics, known from many more studies than are judged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.studies.calibration.designs import load_scores
from experiments.studies.calibration.measures import STATISTICS, agree_by_pairs, compare_by_pairs
from experiments.studies.calibration.simulation import run_all
from metaeval.stats.rank_correlation import tau

NOMINAL = 0.95
RESAMPLES, TRIALS = 250, 400
"""Resamples of topics for each interval, and B of the tests: fewer than a user's, whose errors are smaller."""

MIX = 0.35
"""Angle by which the residuals of one drawn topic are turned towards those of another, in `draw_study`."""

RAW_TOPICS = 200
"""Populations of that many topics are drawn from as they are, ties and all; smaller ones are smoothed."""

Numbers = Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
"""By kind of interval: the numbers of one study, and the ends of their intervals, each of shape (number,)."""


class Cell(NamedTuple):
    """One population with a number of runs and of topics."""

    population: str
    n_runs: int
    n_topics: int


CELLS = (
    Cell("stc3-dq-a", 22, 25), Cell("stc3-dq-a", 22, 100), Cell("stc3-dq-s", 10, 50), Cell("stc3-dq-s", 22, 390),
    Cell("trec-web-2013", 34, 25), Cell("trec-web-2013", 10, 50), Cell("trec-web-2013", 34, 100),
    Cell("llmjudge", 33, 25), Cell("llmjudge", 12, 50), Cell("normal", 10, 25), Cell("normal", 22, 100),
)  # fmt: skip


POPULATIONS = {
    "stc3-dq-a": ("NMD", "RNOD", "RNSS", "JSD"),
    "stc3-dq-s": ("NMD", "RNOD", "RNSS", "JSD"),
    "trec-web-2013": ("AP", "ERR@20", "nDCG@20", "RR"),
    "llmjudge": ("CEM_ORD", "kappa", "MAE_M", "Accuracy"),
    "wmt23-en-de": ("mqm", "GEMBA-MQM", "XCOMET-Ensemble", "BLEU", "Random-sysname"),
}
"""Real matrices and their measures; of the shared task the reference first, two of the best, an old and a random one."""


def load_population(name: str) -> metaeval.Scores:
    """Return a population: a real matrix, or normal scores of correlated measures."""
    return make_normal_population() if name == "normal" else load_scores(name, POPULATIONS[name])


def make_normal_population(n_runs: int = 22, n_topics: int = 2000, seed: int = 5) -> metaeval.Scores:
    """Return normal scores: three measures whose noise on a topic is correlated by 0.6."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.35, (n_runs, 1, 1)) + rng.normal(0, 0.08, (n_runs, 1, 3))
    common, noise = rng.normal(size=(n_runs, n_topics, 1)), rng.normal(size=(n_runs, n_topics, 3))
    return label_study(quality + np.sqrt(0.6) * common + np.sqrt(0.4) * noise, "normal")


def draw_study(population: np.ndarray, n_topics: int, rng: np.random.Generator) -> np.ndarray:
    """Draw topics with replacement; small populations are smoothed, means and covariances staying as they are."""
    drawn, other = rng.integers(0, population.shape[1], (2, n_topics))
    if population.shape[1] >= RAW_TOPICS:
        return population[:, drawn]
    mean = population.mean(axis=1, keepdims=True)
    signs = rng.choice([-1.0, 1.0], (1, n_topics, 1))
    rest = population - mean
    return np.asarray(mean + np.cos(MIX) * rest[:, drawn] + np.sin(MIX) * signs * rest[:, other])


def compute_numbers(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return every number that has an interval, with its interval."""
    options = {"n_bootstrap": resamples, "confidence": NOMINAL, "seed": seed}
    similarity = compare_by_pairs(scores, lambda pair: metaeval.ranking_similarity(pair, **options).pairs)
    reference = [str(measure) for measure in scores.measures[:2]]
    coverage = metaeval.coverage(scores, reference=reference, **options)
    frames = {"τ": similarity.rename(columns={"tau": "value"})}
    frames["coverage"] = coverage.to_frame().rename(columns={"coverage": "value"})
    first, second = np.triu_indices(len(coverage.measures), 1)  # without resamples it has no differences
    values = coverage.to_frame()["coverage"].to_numpy()
    ends = coverage.differences.reindex(range(len(first)))
    frames["difference of coverage"] = ends.assign(value=values[first] - values[second])
    for test, title in (("randomised-tukey-hsd", "HSD"), ("bootstrap-t", "bootstrap-t")):
        ask = partial(metaeval.discriminative_power, n_permutations=TRIALS, test=test, **options)
        power, differences = ask(scores), compare_by_pairs(scores, lambda pair, ask=ask: ask(pair).differences)
        frames[f"power, {title}"] = power.to_frame().rename(columns={"power": "value"})
        frames[f"difference of power, {title}"] = differences.rename(columns={"difference": "value"})
        effects = power.run_pairs()
    frames["difference of two runs"] = effects.rename(columns={"difference": "value"})
    frames["standardised difference of two runs"] = effects[["d", "d_low", "d_high"]].set_axis(
        ["value", "low", "high"], axis=1
    )
    return {name: take_columns(frame, "value", "low", "high") for name, frame in frames.items()}


def take_columns(frame: pd.DataFrame, *columns: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three columns: numbers, and both ends of their intervals."""
    value, low, high = (frame[column].to_numpy(float) for column in columns)
    return value, low, high


def measure_coverage(
    cells: Sequence[Cell] = CELLS, compute: Callable[[metaeval.Scores, int, int], Numbers] = compute_numbers,
    studies: int = 150, seed: int = 0, *, times: int = 3, load: Callable[[str], metaeval.Scores] = load_population,
) -> pd.DataFrame:  # fmt: skip
    """How often does each kind of interval hold the true value, the mean of so many times as many other studies too?"""
    rows = []
    for number, cell in enumerate(cells):
        rng = np.random.default_rng([seed, number])
        population = load(cell.population)
        signs = [1 if measure.higher_is_better in (True, None) else -1 for measure in population.measures]
        turned = population.values * signs
        chosen = np.sort(rng.permutation(len(turned))[: cell.n_runs])
        intervals: dict[str, list[np.ndarray]] = {}
        values: dict[str, list[np.ndarray]] = {}
        for study in range(studies * (1 + times)):
            drawn = label_study(draw_study(turned[chosen], cell.n_topics, rng), cell.population)
            numbers = compute(drawn, study, RESAMPLES if study < studies else 0)
            for kind, (value, low, high) in numbers.items():
                values.setdefault(kind, []).append(value)
                if study < studies:
                    intervals.setdefault(kind, []).append(np.stack([low, high]))
        for kind, ends in intervals.items():
            rows.append((kind, *cell, NOMINAL, *measure_share(values[kind], ends), studies))
    columns = ["interval", "population", "n_runs", "n_topics", "nominal", "coverage", "low", "high", "studies"]
    return pd.DataFrame(rows, columns=columns)


def measure_share(values: Sequence[np.ndarray], ends: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Return which share of intervals hold the true values, and the ends of its own 95 % interval over studies."""
    low, high = np.stack(ends, axis=1)
    truth = np.mean(values, axis=0)
    known = np.isfinite(truth) & np.isfinite(low).all(axis=0)
    slack = 1e-12
    holds = ((low - slack <= truth) & (truth <= high + slack))[:, known].mean(axis=1)
    share, error = float(holds.mean()), float(1.96 * holds.std(ddof=1) / np.sqrt(len(ends)))
    return share, max(0.0, share - error), min(1.0, share + error)


def label_study(values: np.ndarray, collection: str) -> metaeval.Scores:
    """Return values as scores of a collection of this name."""
    n_runs, n_topics, n_measures = values.shape
    measures = [metaeval.Measure(f"measure {m + 1}", higher_is_better=True) for m in range(n_measures)]
    runs = [f"run {r + 1:03}" for r in range(n_runs)]
    return metaeval.Scores(
        values, runs=runs, topics=[f"{t + 1:05}" for t in range(n_topics)], measures=measures, collection=collection
    )


# Predictions about other numbers of topics, rank correlations and designs.

TIMES = (0.5, 1, 2, 4)
"""How many times as many topics are predicted."""

PREDICTED = (
    Cell("stc3-dq-a", 22, 50), Cell("trec-web-2013", 34, 25), Cell("trec-web-2013", 34, 50), Cell("llmjudge", 33, 30),
    Cell("normal", 22, 50),
)  # fmt: skip


def compute_correlations(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return the rank correlations of every two measures with their intervals."""
    options = {"n_bootstrap": resamples, "confidence": NOMINAL, "seed": seed}
    variants = {"τ_AP": "tau_ap", "τ_GAP": "tau_gap", "Spearman's ρ": "spearman", "τ_b@10": "tau_b@10"}
    numbers = {}
    for name, variant in variants.items():
        ask = partial(metaeval.ranking_similarity, tau=variant, **options)
        pairs = compare_by_pairs(scores, lambda pair, ask=ask: ask(pair).pairs)
        numbers[name] = take_columns(pairs, "tau", "low", "high")
    return numbers


def compute_designs(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return what topic-set-size design rests on with its intervals."""
    size = metaeval.topic_set_size(scores, n_bootstrap=resamples, confidence=NOMINAL, seed=seed)
    columns = {"V_E2": "V_E2", "generalisability coefficient": "coefficient"}
    return {
        name: take_columns(size.rows, column, f"{column}_low", f"{column}_high") for name, column in columns.items()
    }


def measure_predictions(
    cells: Sequence[Cell] = PREDICTED, *, studies: int = 60, studies_of_truth: int = 400, seed: int = 1,
    load: Callable[[str], metaeval.Scores] = load_population,
) -> pd.DataFrame:  # fmt: skip
    """How far off is expected τ, and how often does its interval hold the true value?"""
    rows = []
    for number, cell in enumerate(cells):
        rng = np.random.default_rng([seed, number])
        population = load(cell.population)
        values = population.values[np.sort(rng.permutation(len(population.runs))[: cell.n_runs])]
        sizes = [int(times * cell.n_topics) for times in TIMES]
        # Sums of the same scores in another order differ in the last digits: that is a tie.
        means = [
            np.stack([draw_study(values, size, rng).mean(axis=1).T for _ in range(2 * studies_of_truth)])
            for size in sizes
        ]
        expected = np.stack([tau(draws[::2], draws[1::2], tolerance=1e-9).mean(axis=0) for draws in means])
        predictions = []
        for study in range(studies):
            drawn = label_study(draw_study(values, cell.n_topics, rng), cell.population)
            curves = metaeval.sample_size(drawn, sizes=sizes, confidence=NOMINAL, seed=study)
            ends = curves.to_frame()[["expected_tau", "expected_low", "expected_high"]].to_numpy()
            predictions.append(ends.reshape(len(sizes), -1, 3))
        predicted, low, high = np.moveaxis(np.stack(predictions), -1, 0)
        share = ((low <= expected) & (expected <= high)).mean(axis=0)
        for (s, size), (m, measure) in itertools.product(enumerate(sizes), enumerate(population.measures)):
            mean, truth = predicted[:, s, m].mean(), expected[s, m]
            rows.append((*cell, size, str(measure), truth, mean, mean - truth, share[s, m], studies))
    columns = ["population", "n_runs", "n_topics", "topics", "measure", "expected", "predicted", "bias"]
    return pd.DataFrame(rows, columns=[*columns, "coverage", "studies"])


# Agreement with a reference, and judges against people.

REFERRED = (
    Cell("normal", 10, 25), Cell("normal", 22, 100), Cell("trec-web-2013", 34, 25), Cell("trec-web-2013", 10, 50),
    Cell("llmjudge", 33, 25), Cell("wmt23-en-de", 12, 60), Cell("wmt23-en-de", 12, 200),
)  # fmt: skip


JUDGED = (
    ("alttest-cebab-stars", "squared-error", 0.1, 150),
    ("alttest-cebab-stars", "squared-error", 0.1, 711),
    ("alttest-mtbench", "accuracy", 0.2, 120),
    ("alttest-summeval", "squared-error", 0.2, 30),
    ("alttest-10k-prompts", "squared-error", 0.15, 150),
    ("alttest-lesion", "squared-error", 0.15, 30),
)
"""Data set, agreement, ε, and topics of a study: items, or the documents and pictures that they are about."""


def compute_agreement(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return all statistics of agreement, and their differences, each with its interval."""
    options: dict[str, Any] = {"statistics": STATISTICS, "n_permutations": 100, "n_bootstrap": resamples}
    options |= {"confidence": NOMINAL, "seed": seed}
    agreement = metaeval.agreement(scores, reference=str(scores.measures[0]), **options)
    of_one = agreement.to_frame().groupby("statistic", sort=False)
    of_two = agree_by_pairs(scores, **options).groupby("statistic", sort=False)
    return {
        **{str(name): take_columns(rows, "value", "low", "high") for name, rows in of_one},
        **{f"difference of {name}": take_columns(rows, "difference", "low", "high") for name, rows in of_two},
    }


def measure_agreement(n_jobs: int = 1) -> pd.DataFrame:
    """How often do the intervals of agreement, and of differences between measures, hold the true value?"""
    calls = (([cell], compute_agreement, 100, 100 + number) for number, cell in enumerate(REFERRED))
    return pd.concat(run_all(partial(measure_coverage, times=2), calls, n_jobs), ignore_index=True)


def measure_judges(
    sets: Sequence[tuple[str, Any, float, int]] = JUDGED,
    *,
    studies: int = 150,
    studies_of_truth: int = 450,
    load: Callable[[str], metaeval.Annotations] = metaeval.load_dataset,
    seed: int = 2,
) -> pd.DataFrame:
    """How often do the intervals of ω and ρ hold their means over studies of as many topics?"""
    rows = []
    for number, (name, agreement, epsilon, n_topics) in enumerate(sets):
        rng = np.random.default_rng([seed, number])
        people = load(name)
        values: dict[str, list[np.ndarray]] = {"ω": [], "ρ": []}
        ends: dict[str, list[np.ndarray]] = {"ω": [], "ρ": []}
        for study in range(studies + studies_of_truth):
            judged = metaeval.alternative_annotator_test(
                draw_topics(people, n_topics, rng), agreement=agreement, epsilon=epsilon, confidence=NOMINAL, seed=study,
                n_bootstrap=RESAMPLES if study < studies else 0,
            )  # fmt: skip
            rates = judged.rows.set_index("judge").loc[list(judged.judges)]
            for kind, rate in (("ω", "omega"), ("ρ", "rho")):
                values[kind].append(rates[rate].to_numpy())
                if study < studies:
                    ends[kind].append(rates[[f"{rate}_low", f"{rate}_high"]].to_numpy().T)
        for kind, intervals in ends.items():
            share = measure_share(values[kind], intervals)
            rows.append((kind, name, len(people.annotators), n_topics, NOMINAL, *share, studies))
    columns = ["interval", "population", "annotators", "n_topics", "nominal", "coverage", "low", "high", "studies"]
    return pd.DataFrame(rows, columns=columns)


def draw_topics(people: metaeval.Annotations, n_topics: int, rng: np.random.Generator) -> metaeval.Annotations:
    """Draw topics with replacement, with all of their items; each draw is a topic of its own."""
    topic_of = np.unique(np.array(people.topics), return_inverse=True)[1]
    members = [np.flatnonzero(topic_of == topic) for topic in range(topic_of.max() + 1)]
    drawn = [members[topic] for topic in rng.integers(0, len(members), n_topics)]
    items = np.concatenate(drawn)
    return metaeval.Annotations(
        people.labels[:, items], people.answers[:, items], annotators=people.annotators, judges=people.judges,
        items=range(len(items)), topics=np.repeat(np.arange(n_topics), [len(items_of) for items_of in drawn]),
        classes=people.classes, collection=people.collection,
    )  # fmt: skip
