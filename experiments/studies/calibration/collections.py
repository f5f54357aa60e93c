"""Do intervals for other collections hold, and from how many collections on?"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import t

from experiments.studies.calibration.simulation import run_all
from metaeval.stats.intervals import centre_interval, redraw_collections
from metaeval.stats.resampling import draw_weights
from metaeval.stats.significant_counts import resample_power

SEED, TRIALS, STUDIES = 11, 100, 1000

NUMBERS = (3, 4, 5, 8, 12, 20)
"""Collections of a study."""

KINDS = ("spread of runs varies", "alike")
"""Of collections: whether they differ by more than the runs and topics that happen to be in them."""


def simulate_collection(kind: str, number: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return power of three measures, shape (measure,), on resampled topics, shape (trial, measure), and pairs of runs."""
    rng = np.random.default_rng([SEED, KINDS.index(kind), number])
    n_runs, n_topics = int(rng.integers(12, 40)), int(rng.choice([25, 50, 100]))
    varies = kind == KINDS[0]
    spread = rng.lognormal(-1.0, 0.5) if varies else 0.4
    noise = rng.lognormal(0.0, 0.4 if varies else 0.0, 3)
    scores = spread * rng.standard_normal((n_runs, 1, 1)) + 0.7 * rng.standard_normal((n_runs, n_topics, 1))
    scores = scores + 0.7 * noise * rng.standard_normal((n_runs, n_topics, 3))
    first, second = np.triu_indices(n_runs, 1)
    gaps = scores[first] - scores[second]
    size = gaps.mean(axis=1) / (gaps.std(axis=1, ddof=1) / np.sqrt(n_topics))
    p = np.minimum(1.0, 10 * 2 * t.sf(np.abs(size), n_topics - 1)).T  # as strict as a correction for some tens of pairs
    shares, _ = resample_power(scores, p, partial(draw_weights, number, n_topics=n_topics), TRIALS, studentised=True)
    return (p <= 0.05).mean(axis=1), shares, len(first)


def count_collections(n_jobs: int = 1, pool: int = 3000) -> pd.DataFrame:
    """How often do intervals hold the pooled power of all collections that there could be, and how wide are they?"""
    parts = []
    for kind in KINDS:
        made = run_all(simulate_collection, ((kind, c) for c in range(pool)), n_jobs)
        power, drawn, pairs = (np.array(column) for column in zip(*made, strict=True))
        truth = pairs @ power / pairs.sum()
        for n in NUMBERS:
            parts += judge_intervals(kind, n, power, drawn, pairs.astype(float), truth)
    return pd.DataFrame(parts, columns=["kind", "collections", "number", "coverage", "error", "width", "studies"])


def judge_intervals(
    kind: str, n: int, power: np.ndarray, drawn: np.ndarray, pairs: np.ndarray, truth: np.ndarray
) -> list[tuple[object, ...]]:
    """Return coverage and mean width of the interval of one measure's power, and of the difference of two."""
    rng = np.random.default_rng([SEED, n])
    held, widths = np.zeros((2, STUDIES), dtype=bool), np.zeros((2, STUDIES))
    for study in range(STUDIES):
        some = rng.choice(len(power), n, replace=False)
        value = pairs[some] @ power[some] / pairs[some].sum()
        trials = np.concatenate([redraw_collections(drawn[some], pairs[some], rng) for _ in range(5)])
        ends = [
            centre_interval(value[0], trials[:, 0], n, scale="share"),
            centre_interval(value[0] - value[1], trials[:, 0] - trials[:, 1], n),
        ]
        for row, ((low, high), true) in enumerate(zip(ends, (truth[0], truth[0] - truth[1]), strict=True)):
            held[row, study], widths[row, study] = low <= true <= high, high - low
    names = ("power", "difference, power")
    rates = held.mean(axis=1)
    return [
        (kind, n, name, rate, float(np.sqrt(rate * (1 - rate) / STUDIES)), width, STUDIES)
        for name, rate, width in zip(names, rates.tolist(), widths.mean(axis=1).tolist(), strict=True)
    ]
