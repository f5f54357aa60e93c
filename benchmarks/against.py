"""Two states of the code, measured in turn: ``python -m benchmarks --against COMMIT``."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_CASE = """
import sys, time
import numpy as np
from metaeval.stats.streams import stream_key
name, *shape, trials = sys.argv[1:]
values = np.random.default_rng(0).random(tuple(map(int, shape)))
key, trials = stream_key(1, "benchmarks"), int(trials)
if name == "split-half":
    from metaeval.stats.split_half import split_half_tau
    call = lambda trials: split_half_tau(values, key=key, n_trials=trials)
elif name == "max-t":
    from metaeval.stats.pair_tests import all_pairs_test
    call = lambda trials: all_pairs_test(values, test="max-t", key=key, n_permutations=trials)
else:
    from metaeval.stats.randomised_tukey import randomised_tukey_hsd
    call = lambda trials: randomised_tukey_hsd(values, key=key, n_permutations=trials)
call(32)
seconds = []
for _ in range(3):
    began = time.perf_counter()
    call(trials)
    seconds.append(time.perf_counter() - began)
print(min(seconds))
"""

CASES: dict[str, tuple[tuple[int, int, int], int]] = {
    f"{test} {runs} × {topics:,} × {measures}": ((runs, topics, measures), trials)
    for test, sizes in {
        "HSD": [(5, 50, 1, 50_000), (12, 100, 6, 20_000), (22, 390, 6, 5_000), (15, 1_976, 68, 1_000),
                (15, 10_000, 8, 1_000), (110, 249, 2, 2_000), (200, 200, 4, 1_000)],
        "split-half": [(20, 200, 8, 1_000), (22, 390, 6, 1_000), (200, 200, 4, 100)],
        "max-t": [(22, 390, 6, 2_000), (110, 249, 2, 500)],
    }.items()
    for runs, topics, measures, trials in sizes
}  # fmt: skip
"""What is measured: name, then runs × topics × measures, and trials."""


def run(commit: str, rounds: int = 5) -> list[dict[str, Any]]:
    """Measure every case with the code of a commit and with this code, in turn, in processes of their own.

    Parameters
    ----------
    commit : str
    rounds : int, optional

    Returns
    -------
    list of dict
        Rows of name, seconds, peer seconds (the commit's; both medians of rounds) and ratio, the median of the rounds'
        ratios, with the smallest and largest.
    """
    here = Path(__file__).resolve().parents[1]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder, "checkout")
        subprocess.run(["git", "-C", here, "worktree", "add", "-q", "--detach", there, commit], check=True)  # noqa: S603, S607
        try:
            for name, (shape, trials) in CASES.items():
                words = [name.split()[0], *map(str, shape), str(trials)]
                pairs = [[_measure(place, words) for place in (here, there)] for _ in range(rounds)]
                ratios = [old / new for new, old in pairs]
                new, old = (statistics.median(one) for one in zip(*pairs, strict=True))
                rows.append({
                    "name": name, "seconds": new, "peer seconds": old, "ratio": statistics.median(ratios),
                    "smallest": min(ratios), "largest": max(ratios), "demand": "at least 1, within noise",
                })  # fmt: skip
        finally:
            subprocess.run(["git", "-C", here, "worktree", "remove", "--force", there], check=True)  # noqa: S603, S607
    return rows


def _measure(place: Path, words: list[str]) -> float:
    environment = {**os.environ, "PYTHONPATH": str(place)}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _CASE, *words], cwd=place, env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)
