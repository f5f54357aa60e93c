"""Do the intervals of agreement with a reference, and of judges against people, hold what they claim?

Populations and studies are those of `experiments.calibration.intervals`, with shared tasks on metrics besides; the first
measure of a population is the reference. For judges, a population is the items of a data set with people's labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import joblib
import numpy as np
import pandas as pd

import metaeval
from experiments.calibration.intervals import (
    NOMINAL,
    Cell,
    Numbers,
    find_share_held,
    load_populations,
    measure_coverage,
)
from metaeval.errors import MetaevalWarning

CELLS = (
    Cell("normal", 10, 25),
    Cell("normal", 22, 100),
    Cell("trec-web-2013", 34, 25),
    Cell("trec-web-2013", 10, 50),
    Cell("llmjudge", 33, 25),
    Cell("wmt23-en-de", 12, 60),
    Cell("wmt23-en-de", 12, 200),
)

TRIALS = 100
"""Sign flips of soft pairwise accuracy; exchanges between measures are not judged here."""

METRICS = ("mqm", "GEMBA-MQM", "XCOMET-Ensemble", "BLEU", "Random-sysname")
"""Of the shared task, the reference first: two of the best, an old one, and one that knows nothing."""

STATISTICS = (
    "pairwise_accuracy", "spa", "pearson", "spearman", "tau_a", "tau_b", "topic_pearson", "acc_t", "acc_t_cells",
    "tau_ap_b", "tau_gap",
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


def load_references() -> dict[str, metaeval.Scores]:
    """Return the populations of `experiments.calibration.intervals`, and one of a shared task on metrics.

    Returns
    -------
    dict of str to Scores
        The first measure is the reference.
    """
    return load_populations() | {"wmt23-en-de": metaeval.load_dataset("wmt23-en-de").sel(measures=METRICS)}


def compute_agreement(scores: metaeval.Scores, seed: int, resamples: int) -> Numbers:
    """Return all statistics of agreement, and their differences, with intervals, as `intervals.compute_numbers` does.

    Parameters
    ----------
    scores : Scores
        The first measure is the reference.
    seed, resamples : int

    Returns
    -------
    mapping of str to (numbers, low, high)
    """
    held = metaeval.agreement(
        scores, reference=str(scores.measures[0]), statistics=STATISTICS, n_permutations=TRIALS, n_bootstrap=resamples,
        confidence=NOMINAL, seed=seed,
    )  # fmt: skip
    found = {}
    columns = ["low", "high"]
    for number, frame in (("value", held.to_frame()), ("difference", held.differences())):
        for name, own in frame.groupby("statistic", sort=False):
            label = name if number == "value" else f"difference of {name}"
            found[label] = tuple(own[one].to_numpy(float) for one in (number, *columns))
    return found  # type: ignore[return-value]


def measure_agreement(
    n_jobs: int = 1, cells: Sequence[Cell] = CELLS, *, studies: int = 100, studies_of_truth: int = 200
) -> pd.DataFrame:
    """How often do the intervals of agreement, and of differences between measures, hold the true value?

    Parameters
    ----------
    n_jobs : int, optional
        Processes; each cell has random draws of its own.
    cells : sequence of Cell, optional
    studies, studies_of_truth : int, optional
        As for `intervals.measure_coverage`.

    Returns
    -------
    DataFrame
        As from `intervals.measure_coverage`.
    """
    tasks = (
        joblib.delayed(_measure_cell)(cell, studies, studies_of_truth, number) for number, cell in enumerate(cells)
    )
    return pd.concat(joblib.Parallel(n_jobs=n_jobs)(tasks), ignore_index=True)


def _measure_cell(cell: Cell, studies: int, studies_of_truth: int, number: int) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)  # what loading leaves out is said elsewhere
        populations = load_references()
    return measure_coverage(
        populations, [cell], compute=compute_agreement, studies=studies, studies_of_truth=studies_of_truth,
        seed=100 + number,
    )  # fmt: skip


def measure_judges(
    sets: Sequence[tuple[str, Any, float, int]] = JUDGED,
    *,
    studies: int = 150,
    studies_of_truth: int = 450,
    resamples: int = 250,
    load: Callable[[str], metaeval.Annotations] = metaeval.load_dataset,
    seed: int = 2,
    say: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """How often do the intervals of ω and ρ hold their means over studies of as many topics?

    Parameters
    ----------
    sets : sequence of (str, str, float, int), optional
        Data set, agreement, ε, and topics of a study.
    studies, studies_of_truth : int, optional
        Studies judged, and further ones from which the truth is known.
    resamples : int, optional
    load : callable, optional
        From a name to its annotations.
    seed : int, optional
    say : callable, optional
        Called with a line of progress.

    Returns
    -------
    DataFrame
        Columns interval, population, annotators, n_topics, nominal, coverage, low, high, studies, as
        `intervals.measure_coverage` returns them.
    """
    rows = []
    for number, (name, agreement, epsilon, n_topics) in enumerate(sets):
        say(f"{name}: {n_topics} topics")
        rng = np.random.default_rng([seed, number])
        people = load(name)
        values: dict[str, list[np.ndarray]] = {"ω": [], "ρ": []}
        ends: dict[str, list[np.ndarray]] = {"ω": [], "ρ": []}
        for study in range(studies + studies_of_truth):
            held = metaeval.alternative_annotator_test(
                draw_topics(people, n_topics, rng), agreement=agreement, epsilon=epsilon, confidence=NOMINAL, seed=study,
                n_bootstrap=resamples if study < studies else 0,
            )  # fmt: skip
            for kind, value, interval in (("ω", held.omega, held.omega_ends), ("ρ", held.rho, held.rho_ends)):
                values[kind].append(value)
                if study < studies:
                    ends[kind].append(np.stack(interval))
        for kind, own in ends.items():
            share = find_share_held(values[kind], own)
            rows.append((kind, name, len(people.annotators), n_topics, NOMINAL, *share, studies))
    columns = ["interval", "population", "annotators", "n_topics", "nominal", "coverage", "low", "high", "studies"]
    return pd.DataFrame(rows, columns=columns)


def draw_topics(people: metaeval.Annotations, n_topics: int, rng: np.random.Generator) -> metaeval.Annotations:
    """Draw topics with replacement, with all of their items; each draw is a topic of its own.

    Parameters
    ----------
    people : Annotations
    n_topics : int
    rng : Generator

    Returns
    -------
    Annotations
    """
    place = np.unique(np.array(people.topics), return_inverse=True)[1]
    members = [np.flatnonzero(place == one) for one in range(place.max() + 1)]
    drawn = [members[one] for one in rng.integers(0, len(members), n_topics)]
    items = np.concatenate(drawn)
    return metaeval.Annotations(
        people.labels[:, items], people.answers[:, items], annotators=people.annotators, judges=people.judges,
        items=range(len(items)), topics=np.repeat(np.arange(n_topics), [len(one) for one in drawn]),
        classes=people.classes, collection=people.collection,
    )  # fmt: skip
