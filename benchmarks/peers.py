"""Ours and what users would pick instead, side by side in one run: medians of five, smallest, largest, and versions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.tukey import KEY, largest_range
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.split_half import split_half_tau, splits

ROUNDS = 5
LEAST_SECONDS = 0.25
"""A call that is shorter is repeated for this long, and its mean counts: what ran before it would slow it down."""
HSD, SPLIT_HALF = "randomised Tukey HSD, 22 × 390, B = 5,000, per measure of six", "1,000 split halves, 20 × 200 × 8"


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure every peer in turn, round by round.

    Parameters
    ----------
    quick : bool
        One round.

    Returns
    -------
    list of dict
        Rows of name (what is computed), peer, version, seconds (median), smallest, largest, ratio (median of the ratios to
        ours in the same round) and demand.
    """
    calls = list_calls()
    for _, _, call, _, ours in calls:
        if ours:
            call()
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(1 if quick else ROUNDS):
        for (_, _, call, share, _), seconds in zip(calls, taken, strict=True):
            seconds.append(measure(call) * share)
    rows = []
    for (name, peer, *_), seconds in zip(calls, taken, strict=True):
        own = next(taken[n] for n, one in enumerate(calls) if one[0] == name and one[4])
        rows.append(
            {
                "name": name,
                "peer": peer,
                "version": find_version(peer.split(".")[0].split(",")[0]),
                "seconds": statistics.median(seconds),
                "smallest": min(seconds),
                "largest": max(seconds),
                "ratio": statistics.median(a / b for a, b in zip(seconds, own, strict=True)),
                "demand": DEMANDS.get(peer, ""),
            }
        )
    return rows


def measure(call: Callable[[], Any]) -> float:
    """Return the mean seconds of a call, repeated until `LEAST_SECONDS` have passed."""
    began, calls, passed = time.perf_counter(), 0, 0.0
    while passed < LEAST_SECONDS:
        call()
        calls, passed = calls + 1, time.perf_counter() - began
    return passed / calls


DEMANDS = {"scipy.stats.permutation_test": "at least 60 times", "scipy.stats.kendalltau": "at least 400 times"}


def find_version(distribution: str) -> str:
    """Return the version of a distribution that is installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        import metaeval

        return metaeval.__version__


def list_calls() -> list[tuple[str, str, Callable[[], Any], float, bool]]:
    """Return what is computed, by which peer, how, which share of the time counts, and whether it is ours."""
    from scipy.stats import kendalltau, permutation_test

    values = np.random.default_rng(0).random((22, 390, 6))
    scores = values[..., 0]
    halves = np.random.default_rng(0).random((20, 200, 8))
    first, second = splits(KEY, 1000, 200)

    def by_scipy() -> None:
        permutation_test(
            tuple(scores), largest_range, permutation_type="samples", alternative="greater", vectorized=True,
            n_resamples=5000, batch=50, rng=1,
        )  # fmt: skip

    def by_loop() -> None:
        rng, largest = np.random.default_rng(1), np.empty(5000)
        for trial in range(5000):
            means = rng.permuted(scores, axis=0).mean(axis=1)
            largest[trial] = means.max() - means.min()

    def by_kendalltau() -> None:
        for one, other in zip(first, second, strict=True):
            for measure in range(8):
                by_run = halves[..., measure]
                kendalltau(by_run[:, one].mean(axis=1), by_run[:, other].mean(axis=1))

    return [
        (HSD, "metaeval", lambda: randomised_tukey_hsd(values, key=KEY), 1 / 6, True),
        (HSD, "scipy.stats.permutation_test", by_scipy, 1.0, False),
        (HSD, "numpy, a loop over trials", by_loop, 1.0, False),
        (SPLIT_HALF, "metaeval", lambda: split_half_tau(halves, key=KEY, n_trials=1000), 1.0, True),
        (SPLIT_HALF, "scipy.stats.kendalltau", by_kendalltau, 1.0, False),
    ]
