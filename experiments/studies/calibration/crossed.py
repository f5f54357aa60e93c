"""Do intervals for other runs hold, how wide are they, and how often is one of two equally good measures called better?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import metaeval
from metaeval.errors import MetaevalWarning
from metaeval.stats.intervals import Over

SEED, TRIALS, CONFIDENCE = 9, 300, 0.95

STATISTICS = ("pairwise_accuracy", "spa", "pearson", "tau_a", "topic_pearson", "acc_t")

WAYS: dict[Over, int] = {"runs and topics": 600, "topics": 1000}
"""What intervals speak of, and the number of studies."""


@dataclass(frozen=True)
class Size:
    """How many runs and topics a study has, and the spread of measures' run effects beside that of topics, 1."""

    n_runs: int
    n_topics: int
    effect: float


SIZES = tuple(Size(*runs_and_topics, effect) for runs_and_topics in ((12, 40), (24, 80)) for effect in (0.0, 1 / 3))


def simulate_measures(size: Size, study: int) -> metaeval.Scores:
    """Return a reference and three measures that are equally good over all runs, each of which favours some runs."""
    rng = np.random.default_rng([SEED, size.n_runs, size.n_topics, round(100 * size.effect), study])
    shape = (size.n_runs, size.n_topics)
    reference = 0.5 * rng.standard_normal((size.n_runs, 1, 1)) + rng.standard_normal((*shape, 1))
    measures = size.effect * rng.standard_normal((size.n_runs, 1, 3)) + rng.standard_normal((*shape, 3))
    values = np.concatenate([reference, reference + measures], axis=-1)
    labels = {"runs": range(size.n_runs), "topics": range(size.n_topics), "higher_is_better": True}
    return metaeval.Scores(values, measures=["reference", "a", "b", "c"], **labels)


def judge_study(size: Size, study: int, over: Over) -> list[tuple[str, float, float, float]]:
    """Return numbers with their intervals: every statistic of one measure, and of two."""
    scores = simulate_measures(size, study)
    options = {"n_bootstrap": TRIALS, "seed": study, "simultaneous": False, "confidence": CONFIDENCE, "over": over}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)
        agreement = metaeval.agreement(
            scores, reference="reference", statistics=STATISTICS, n_permutations=200, **options
        )
        of_one = agreement.to_frame().query("measure == 'a'")
        of_two = agreement.differences().query("measure_1 == 'a' and measure_2 == 'b'")
        return [
            *((f"agreement, {row.statistic}", row.value, row.low, row.high) for row in of_one.itertuples()),
            *((f"difference, {row.statistic}", row.difference, row.low, row.high) for row in of_two.itertuples()),
        ]


def count_crossed(folder: Path, n_jobs: int = 1, sizes: Sequence[Size] = SIZES) -> pd.DataFrame:
    """Judge the studies that are not judged yet: how often intervals hold the expected number, and how wide they are.

    The expected number is the mean over all studies, which have other runs and other topics; a ``width`` is the ratio of the
    mean width to that of an interval of ±1.96 standard deviations of the number over studies.
    """
    cached, parts = joblib.Memory(folder, verbose=0).cache(judge_study), []
    for size in sizes:
        with joblib.parallel_config("loky", inner_max_num_threads=1):
            judged = joblib.Parallel(n_jobs=n_jobs)(
                joblib.delayed(cached)(size, study, over) for over, studies in WAYS.items() for study in range(studies)
            )
        columns = ["over", "number", "value", "low", "high"]
        ways = [over for over, studies in WAYS.items() for _ in range(studies)]
        rows = [(over, *row) for over, study in zip(ways, judged, strict=True) for row in study]
        for (over, number), some in pd.DataFrame(rows, columns=columns).groupby(["over", "number"], sort=False):
            expected = 0.0 if number.startswith("difference") else some["value"].mean()
            coverage = float(((some["low"] <= expected) & (expected <= some["high"])).mean())
            width = float((some["high"] - some["low"]).mean() / (2 * 1.96 * some["value"].std()))
            error = float(np.sqrt(coverage * (1 - coverage) / len(some)))
            parts.append(
                (over, number, size.n_runs, size.n_topics, round(size.effect, 2), coverage, error, width, len(some))
            )
    names = ["over", "number", "n_runs", "n_topics", "run_effect", "coverage", "error", "width", "studies"]
    return pd.DataFrame(parts, columns=names)
