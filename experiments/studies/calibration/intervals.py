"""How often do intervals hold what they claim, and do predictions come true, on populations whose truth is known?

A real matrix is a population: the runs are fixed, and a study draws topics from it. The true value is the expected
value of the same number over studies of as many topics, known from many more studies than are judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd

import metaeval
from experiments.studies.calibration.exchanges import STATISTICS
from metaeval.errors import MetaevalWarning
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
    """Return the populations: real matrices with four measures each, and normal scores of correlated measures."""
    populations = {}
    for name in ("stc3-dq-a", "stc3-dq-s"):
        populations[name] = metaeval.score(metaeval.load_dataset(name), ["NMD", "RNOD", "RNSS", "JSD"])
    populations["trec-web-2013"] = metaeval.load_dataset("trec-web-2013").sel(
        measures=["AP", "ERR@20", "nDCG@20", "RR"]
    )
    populations["llmjudge"] = metaeval.score(
        metaeval.load_dataset("llmjudge"), ["CEM_ORD", "kappa", "MAE_M", "Accuracy"]
    )
    return populations | {"normal": make_normal_population()}


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
    similarity = metaeval.ranking_similarity(scores, **options, simultaneous=False).pairs
    reference = [str(measure) for measure in scores.measures[:2]]
    coverage = metaeval.coverage(scores, reference=reference, **options)
    frames = {"τ": similarity.rename(columns={"tau": "value"})}
    frames["coverage"] = coverage.to_frame().rename(columns={"coverage": "value"})
    frames["difference of coverage"] = coverage.differences.rename(columns={"difference": "value"})
    for test, title in (("randomised-tukey-hsd", "HSD"), ("bootstrap-t", "bootstrap-t")):
        power = metaeval.discriminative_power(scores, n_permutations=TRIALS, test=test, simultaneous=False, **options)
        frames[f"power, {title}"] = power.to_frame().rename(columns={"power": "value"})
        frames[f"difference of power, {title}"] = power.differences.rename(columns={"difference": "value"})
        effects = power.run_pairs()
    frames["difference of two runs"] = effects.rename(columns={"difference": "value"})
    frames["standardised difference of two runs"] = effects[["d", "d_low", "d_high"]].set_axis(
        ["value", "low", "high"], axis=1
    )
    columns = ("value", "low", "high")
    return {name: tuple(frame[column].to_numpy(float) for column in columns) for name, frame in frames.items()}  # type: ignore[misc]


def measure_coverage(
    populations: Mapping[str, metaeval.Scores],
    cells: Sequence[Cell] = CELLS,
    *,
    compute: Callable[[metaeval.Scores, int, int], Numbers] = compute_numbers,
    studies: int = 150,
    studies_of_truth: int = 450,
    seed: int = 0,
) -> pd.DataFrame:
    """How often does each kind of interval hold the true value?"""
    rows = []
    for number, cell in enumerate(cell for cell in cells if cell.population in populations):
        rng = np.random.default_rng([seed, number])
        population = populations[cell.population]
        signs = [1 if measure.higher_is_better in (True, None) else -1 for measure in population.measures]
        turned = population.values * signs
        chosen = np.sort(rng.permutation(len(turned))[: cell.n_runs])
        intervals: dict[str, list[np.ndarray]] = {}
        values: dict[str, list[np.ndarray]] = {}
        for study in range(studies + studies_of_truth):
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
    Cell("stc3-dq-a", 22, 50),
    Cell("trec-web-2013", 34, 25),
    Cell("trec-web-2013", 34, 50),
    Cell("llmjudge", 33, 30),
    Cell("normal", 22, 50),
)

CORRELATIONS = {
    "τ_AP": "tau_ap", "τ_GAP": "tau_gap", "Spearman's ρ": "spearman", "τ_b@10": "tau_b@10",
}  # fmt: skip


def compute_correlations(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return the rank correlations of every two measures with their intervals."""
    options = {"n_bootstrap": resamples, "confidence": NOMINAL, "seed": seed}
    frames = {
        name: metaeval.ranking_similarity(scores, tau=variant, simultaneous=False, **options).pairs
        for name, variant in CORRELATIONS.items()
    }
    return {
        name: tuple(frame[column].to_numpy() for column in ("tau", "low", "high")) for name, frame in frames.items()
    }  # type: ignore[return-value]


def compute_designs(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return what topic-set-size design rests on with its intervals."""
    size = metaeval.topic_set_size(scores, n_bootstrap=resamples, confidence=NOMINAL, seed=seed)
    columns = {"V_E2": "V_E2", "generalisability coefficient": "coefficient"}
    return {
        name: tuple(size.rows[f"{column}{end}"].to_numpy() for end in ("", "_low", "_high"))
        for name, column in columns.items()
    }  # type: ignore[return-value]


def measure_predictions(
    populations: Mapping[str, metaeval.Scores],
    cells: Sequence[Cell] = PREDICTED,
    *,
    studies: int = 60,
    studies_of_truth: int = 400,
    seed: int = 1,
) -> pd.DataFrame:
    """How far off is expected τ, and how often does its interval hold the true value?"""
    rows = []
    for number, cell in enumerate(cell for cell in cells if cell.population in populations):
        rng = np.random.default_rng([seed, number])
        population = populations[cell.population]
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
            curves = metaeval.sample_size(
                drawn, sizes=sizes, n_samples=1, n_permutations=1, confidence=NOMINAL, seed=study
            )
            ends = curves.to_frame()[["expected_tau", "expected_low", "expected_high"]].to_numpy()
            predictions.append(ends.reshape(len(sizes), -1, 3))
        predicted, low, high = np.moveaxis(np.stack(predictions), -1, 0)
        share = ((low <= expected) & (expected <= high)).mean(axis=0)
        for s, size in enumerate(sizes):
            for m, measure in enumerate(population.measures):
                mean = predicted[:, s, m].mean()
                truth = expected[s, m]
                rows.append((*cell, size, str(measure), truth, mean, mean - truth, share[s, m], studies))
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


# Agreement with a reference, and judges against people.

REFERRED = (
    Cell("normal", 10, 25),
    Cell("normal", 22, 100),
    Cell("trec-web-2013", 34, 25),
    Cell("trec-web-2013", 10, 50),
    Cell("llmjudge", 33, 25),
    Cell("wmt23-en-de", 12, 60),
    Cell("wmt23-en-de", 12, 200),
)

FLIPS = 100
"""Sign flips of soft pairwise accuracy; exchanges between measures are not judged here."""

METRICS = ("mqm", "GEMBA-MQM", "XCOMET-Ensemble", "BLEU", "Random-sysname")
"""Of the shared task, the reference first: two of the best, an old one, and one that knows nothing."""

JUDGED = (
    ("alttest-cebab-stars", "squared-error", 0.1, 150),
    ("alttest-cebab-stars", "squared-error", 0.1, 711),
    ("alttest-mtbench", "accuracy", 0.2, 120),
    ("alttest-summeval", "squared-error", 0.2, 30),
    ("alttest-10k-prompts", "squared-error", 0.15, 150),
    ("alttest-lesion", "squared-error", 0.15, 30),
)
"""Data set, agreement, ε, and topics of a study: items, or the documents and pictures that they are about."""


def load_references() -> dict[str, metaeval.Scores]:
    """Return the same populations, and one of a shared task on metrics."""
    return load_populations() | {"wmt23-en-de": metaeval.load_dataset("wmt23-en-de").sel(measures=METRICS)}


def compute_agreement(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return all statistics of agreement, and their differences, each with its interval."""
    agreement = metaeval.agreement(
        scores, reference=str(scores.measures[0]), statistics=STATISTICS, n_permutations=FLIPS, n_bootstrap=resamples,
        confidence=NOMINAL, simultaneous=False, seed=seed,
    )  # fmt: skip
    numbers: dict[str, Any] = {}
    for prefix, column, frame in (
        ("", "value", agreement.to_frame()), ("difference of ", "difference", agreement.differences())
    ):  # fmt: skip
        for name, rows in frame.groupby("statistic", sort=False):
            numbers[f"{prefix}{name}"] = tuple(rows[end].to_numpy(float) for end in (column, "low", "high"))
    return numbers


def measure_agreement(
    n_jobs: int = 1, cells: Sequence[Cell] = REFERRED, *, studies: int = 100, studies_of_truth: int = 200
) -> pd.DataFrame:
    """How often do the intervals of agreement, and of differences between measures, hold the true value?"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)  # what loading leaves out is said elsewhere
        populations = load_references()
    options = {"compute": compute_agreement, "studies": studies, "studies_of_truth": studies_of_truth}
    tasks = (
        joblib.delayed(measure_coverage)(populations, [cell], seed=100 + number, **options)
        for number, cell in enumerate(cells)
    )
    return pd.concat(joblib.Parallel(n_jobs=n_jobs)(tasks), ignore_index=True)


def measure_judges(
    sets: Sequence[tuple[str, Any, float, int]] = JUDGED,
    *,
    studies: int = 150,
    studies_of_truth: int = 450,
    resamples: int = 250,
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
                n_bootstrap=resamples if study < studies else 0,
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


def measure_all_predictions(_: int) -> dict[str, pd.DataFrame]:
    """Judge predictions of expected τ, and intervals of rank correlations and designs."""
    populations = load_populations()
    tables = {"expected-tau": measure_predictions(populations)}
    for name, compute in (("correlations", compute_correlations), ("designs", compute_designs)):
        tables[name] = measure_coverage(populations, PREDICTED, compute=compute, studies=60, studies_of_truth=240)
    return tables


MEASURE: dict[str, Callable[[int], dict[str, pd.DataFrame]]] = {
    "intervals": lambda _: {"coverage": measure_coverage(load_populations())},
    "predictions": measure_all_predictions,
    "agreements": lambda n_jobs: {"judges": measure_judges(), "agreement": measure_agreement(n_jobs)},
}
"""By folder of the results, what makes its tables with so many processes."""
