"""How often is one of eight equally good measures said to find more, or to agree better, than another?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import metaeval

SEED, TRIALS, MEASURES = 8, 1000, 8

STATISTICS = ("pairwise_accuracy", "pearson", "tau_a", "topic_pearson", "acc_t")

TESTS = ("randomised-tukey-hsd", "bootstrap-t")


@dataclass(frozen=True)
class Size:
    """How many runs and topics a study has, and the noise of the first measure beside that of the others, 1."""

    n_runs: int
    n_topics: int
    noise: float
    studies: int


SIZES = (Size(22, 50, 1.0, 1000), Size(22, 50, 0.6, 200))


def simulate_measures(size: Size, study: int) -> metaeval.Scores:
    """Return a reference and measures with noise of one size, but for the first."""
    rng = np.random.default_rng([SEED, size.n_runs, size.n_topics, round(100 * size.noise), study])
    reference = 0.5 * rng.standard_normal((size.n_runs, 1, 1)) + rng.standard_normal((size.n_runs, size.n_topics, 1))
    noise = rng.standard_normal((size.n_runs, size.n_topics, MEASURES))
    noise[..., 0] *= size.noise
    names = ["reference", *(f"measure {m}" for m in range(1, MEASURES + 1))]
    values = np.concatenate([reference, reference + noise], axis=-1)
    return metaeval.Scores(
        values, runs=range(size.n_runs), topics=range(size.n_topics), measures=names, higher_is_better=True
    )


def judge_study(size: Size, study: int) -> list[tuple[str, str, float, float]]:
    """Return by question and kind of interval: whether one measure is said to be better, and of how many the first is."""
    scores, rows = simulate_measures(size, study), []
    measures = scores.sel(measures=[str(measure) for measure in scores.measures[1:]])
    for simultaneous in (True, False):
        kind = "simultaneous" if simultaneous else "single"
        for test in TESTS:
            power = metaeval.discriminative_power(
                measures, test=test, n_permutations=TRIALS, n_bootstrap=TRIALS, seed=study, simultaneous=simultaneous
            )
            more = power.differences["finds_more"]
            rows.append((f"power, {test}", kind, *_count(more)))
        agreement = metaeval.agreement(
            scores, reference="reference", statistics=STATISTICS, n_permutations=1, n_bootstrap=TRIALS, seed=study,
            simultaneous=simultaneous,
        )  # fmt: skip
        for statistic, pairs in agreement.differences().groupby("statistic", sort=False):
            rows.append((f"agreement, {statistic}", kind, *_count(pairs["better"])))
    return rows


def _count(better: pd.Series) -> tuple[float, float]:
    first = better == "measure 1"
    return float((better != "cannot tell").any()), float(first.sum() / (MEASURES - 1))


def count_together(folder: Path, n_jobs: int = 1, sizes: Sequence[Size] = SIZES) -> pd.DataFrame:
    """Judge the studies that are not judged yet: the share with a false claim, or of the other measures that the first beats.

    The ``error`` of a rate is its standard error over studies.
    """
    cached, parts = joblib.Memory(folder, verbose=0).cache(judge_study), []
    for size in sizes:
        with joblib.parallel_config("loky", inner_max_num_threads=1):
            judged = joblib.Parallel(n_jobs=n_jobs)(
                joblib.delayed(cached)(size, study) for study in range(size.studies)
            )
        rows = pd.DataFrame(
            [row for study in judged for row in study], columns=["question", "intervals", "claimed", "found"]
        )
        column = "claimed" if size.noise == 1 else "found"
        by = rows.groupby(["question", "intervals"], sort=False)[column]
        rates = pd.DataFrame({"rate": by.mean(), "error": by.std() / np.sqrt(size.studies)}).reset_index()
        truth = "equal" if size.noise == 1 else f"first with noise {size.noise:g}"
        parts.append(rates.assign(n_runs=size.n_runs, n_topics=size.n_topics, truth=truth, studies=size.studies))
    return pd.concat(parts, ignore_index=True)
