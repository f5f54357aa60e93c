"""The randomised Tukey HSD test against what users would pick instead, all in one process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.streams import stream_key

KEY = stream_key(1, "benchmarks")

# Runs x topics of the eight ordinal quantification data sets of Sakai (LQ 2021), Table 2.
LQ2021 = [(12, 100), (14, 125), *[(19, 390)] * 3, *[(22, 300)] * 3]


def fastest(call: Callable[[], Any], repeats: int) -> float:
    """Give the seconds of the fastest of several calls: what other programs on the machine disturb least."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def largest_range(*runs: np.ndarray, axis: int) -> np.ndarray:
    """Give the range of the runs' means, the statistic of the test, for many resamples at once."""
    means = np.stack([run.mean(axis=axis) for run in runs])
    return means.max(axis=0) - means.min(axis=0)


def row(name: str, seconds: float, peer: float | None, demand: str) -> dict[str, Any]:
    """Make one row of the results."""
    ratio = None if peer is None else peer / seconds
    return {"name": name, "seconds": seconds, "peer seconds": peer, "ratio": ratio, "demand": demand}


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure; `quick` resamples the slow peer less often and scales its time up.

    Parameters
    ----------
    quick : bool
        Whether to spend seconds instead of a minute.

    Returns
    -------
    list of dict
        Rows of name, seconds, peer seconds, ratio and demand.
    """
    from scipy.stats import permutation_test

    n_permutations, n_measures = 5000, 6
    resamples = 500 if quick else n_permutations
    values = np.random.default_rng(0).random((22, 390, n_measures))

    def peer() -> None:
        permutation_test(
            tuple(values[..., 0]),
            largest_range,
            permutation_type="samples",
            alternative="greater",
            vectorized=True,
            n_resamples=resamples,
            batch=50,
            rng=1,
        )

    peer_seconds = fastest(peer, 2) * n_permutations / resamples
    rows = []
    randomised_tukey_hsd(values, key=KEY, n_permutations=16)  # compiles
    for n_runs, n_topics in ((22, 390), (60, 60), (110, 60)):
        values = np.random.default_rng(0).random((n_runs, n_topics, n_measures))
        seconds = fastest(lambda values=values: randomised_tukey_hsd(values, key=KEY), 5)  # type: ignore[misc]
        name = f"{n_runs} runs x {n_topics} topics x {n_measures} measures, B = 5,000"
        rows.append(row(name, seconds, n_measures * peer_seconds if n_runs == 22 else None, "at least 60 times scipy"))

    collections = [np.random.default_rng(0).random((runs, topics, 6)) for runs, topics in LQ2021]

    def all_eight() -> None:
        for collection in collections:
            randomised_tukey_hsd(collection, key=KEY)

    all_eight()
    seconds = fastest(all_eight, 5)
    rows.append(row("the eight sizes of LQ 2021, six measures", seconds, None, "at most 0.15 s"))
    large = np.random.default_rng(0).random((15, 1_000 if quick else 10_000, 8))

    def many_topics() -> None:
        randomised_tukey_hsd(large, key=KEY)

    many_topics()
    name = f"{large.shape[1]} topics x 15 runs x 8 measures"
    rows.append(row(name, fastest(many_topics, 2), None, "linear in topics"))
    return [*rows, *unpaired_peers(values[..., 0])]


def unpaired_peers(scores: np.ndarray) -> list[dict[str, Any]]:
    """Show what Tukey HSD tests that ignore the topics find: they answer another question.

    Parameters
    ----------
    scores : ndarray of float, shape (run, topic)
        Scores of runs that do not differ much, to which topic effects are added.

    Returns
    -------
    list of dict
    """
    scores = scores * 0.2 + np.random.default_rng(1).random(scores.shape[1])
    scores += np.linspace(0, 0.1, len(scores))[:, np.newaxis]
    rows = []
    start = time.perf_counter()
    counts = randomised_tukey_hsd(scores[..., np.newaxis], key=KEY)
    seconds = time.perf_counter() - start
    ours = int((counts / 5000 < 0.05).sum())
    rows.append(row(f"paired, here: {ours} of {counts.size} pairs differ", seconds, None, "shown only"))
    try:
        from statsmodels.stats.multicomp import pairwise_tukeyhsd
    except ImportError:
        pass
    else:
        labels = np.repeat(np.arange(len(scores)), scores.shape[1])
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = int(pairwise_tukeyhsd(scores.ravel(), labels).reject.sum())
        name = f"unpaired, statsmodels: {theirs} of {counts.size} pairs differ"
        rows.append(row(name, time.perf_counter() - start, None, "shown only"))
    try:
        from ranx.statistical_tests import tukey_hsd_test  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return rows
    names = [str(number) for number in range(len(scores))]
    start = time.perf_counter()
    result = tukey_hsd_test(names, list(scores), max_p=0.05)
    # It lists every pair twice, and every run with itself.
    theirs = sum(bool(pair["significant"]) for pair in result if pair["control"] != pair["treatment"]) // 2
    name = f"unpaired, ranx: {theirs} of {counts.size} pairs differ"
    return [*rows, row(name, time.perf_counter() - start, None, "shown only")]


def show(rows: list[dict[str, Any]]) -> None:
    """Print the rows."""
    for line in rows:
        ratio = "" if line["ratio"] is None else f"{line['ratio']:8.1f} times"
        print(f"{line['name']:66} {line['seconds']:10.5f} s {ratio:14}  demanded: {line['demand']}")


if __name__ == "__main__":
    show(run())
