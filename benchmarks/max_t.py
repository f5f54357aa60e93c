"""The max-T tests against the randomised Tukey HSD, and against scipy and plain NumPy with the same statistic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.tukey import KEY, fastest, row
from metaeval.stats.pair_tests import MAX_T, all_pairs_test
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.resampling import draw_weights

TESTS: dict[str, Callable[..., Any]] = {name: partial(all_pairs_test, test=name) for name in MAX_T}


def largest_statistics(signed_means: np.ndarray, squares: np.ndarray, n_topics: int) -> np.ndarray:
    """Give the largest |T| of all pairs from signed means of runs, shape (..., run), and mean squares of pairs."""
    first, second = np.triu_indices(signed_means.shape[-1], 1)
    gaps = signed_means[..., first] - signed_means[..., second]
    return (np.abs(gaps) / np.sqrt((squares - gaps**2) / (n_topics - 1))).max(axis=-1)


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure; `quick` resamples the slow peers less often and scales their time up.

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

    n_permutations = 5000
    values = np.random.default_rng(0).random((22, 390, 6))
    scores = values[..., 0].T
    n_topics = len(scores)
    first, second = np.triu_indices(22, 1)
    squares = np.square(scores[:, first] - scores[:, second]).mean(axis=0)

    def statistic(signs: np.ndarray, axis: int) -> np.ndarray:
        return largest_statistics(np.moveaxis(signs, axis, -1) @ scores / n_topics, squares, n_topics)

    def flip_with_scipy(resamples: int) -> None:
        # The signs of a sample of ones are the signs of the topics.
        permutation_test(
            (np.ones(n_topics),), statistic, permutation_type="samples", alternative="greater", vectorized=True,
            n_resamples=resamples, batch=50, rng=1,
        )  # fmt: skip

    def resample_plainly(resamples: int) -> None:
        gaps = scores[:, first] - scores[:, second]
        centred = gaps - gaps.mean(axis=0)
        added = np.median(gaps.var(axis=0)) / 4
        for drawn in draw_weights(KEY, range(resamples), n_topics).astype(np.int64):
            sample = np.repeat(centred, drawn, axis=0)
            (np.abs(sample.mean(axis=0)) / np.sqrt(sample.var(axis=0) + added)).max()

    rows = []
    few = 100 if quick else 1000
    peers = {"max-t": ("scipy.stats.permutation_test", flip_with_scipy), "bootstrap-t": ("a loop", resample_plainly)}

    randomised_tukey_hsd(values, key=KEY, n_permutations=16)
    tukey_seconds = fastest(lambda: randomised_tukey_hsd(values, key=KEY), 3)
    for name, test in TESTS.items():
        peer, call = peers[name]
        peer_seconds = fastest(lambda call=call: call(few), 2) * n_permutations / few  # type: ignore[misc]
        seconds = fastest(lambda test=test: test(values, key=KEY), 3)  # type: ignore[misc]
        what = f"{name}, 390 x 22 x 6"
        rows.append(row(f"{what}, one measure of six, against {peer}", seconds / 6, peer_seconds, "shown only"))
        allowed = {"max-t": 3, "bootstrap-t": 7}[name]
        ratio = f"{seconds / tukey_seconds:.1f} times the HSD; at most {allowed}"
        rows.append(row(f"{what}, all six", seconds, None, ratio))
    large = np.random.default_rng(0).random((110, 249, 2))
    for name, test in TESTS.items():
        seconds = fastest(lambda test=test: test(large, key=KEY), 1)  # type: ignore[misc]
        rows.append(row(f"{name}, 110 runs x 249 topics x 2", seconds, None, f"{2 if name == 'max-t' else 20} s"))
    for n_topics in (1_000, 4_000):
        many = np.random.default_rng(0).random((15, n_topics, 2))
        for name, test in TESTS.items():
            seconds = fastest(lambda test=test, many=many: test(many, key=KEY), 1)  # type: ignore[misc]
            rows.append(row(f"{name}, {n_topics} topics x 15 runs x 2", seconds, None, "linear in topics"))
    return rows
