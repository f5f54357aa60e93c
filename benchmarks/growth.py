"""How seconds grow with runs, topics, measures and trials: exponents with their errors, beside this machine's limit.

The exponent of a size is the slope of log seconds on log size, by least squares over sizes of which each is twice the
one before; its error is the standard error of the slope. The limit is what copying memory takes on this machine, for
as many bytes as the test reads scores: a kernel that only added scores could not be faster.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.tukey import KEY
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.split_half import split_half_tau

BASE = {"runs": 16, "topics": 250, "measures": 8, "B": 2_000}
SIZES = {
    "runs": (8, 16, 32, 64, 128),
    "topics": (125, 250, 500, 1_000, 2_000),
    "measures": (8, 16, 32, 64),
    "B": (1_000, 2_000, 4_000, 8_000, 16_000),
}


def run_test(question: str, size: dict[str, int]) -> float:
    """Return the seconds of one call.

    Parameters
    ----------
    question : {"HSD", "split-half"}
    size : dict of str to int
        As `BASE`.

    Returns
    -------
    float
    """
    values = np.random.default_rng(0).random((size["runs"], size["topics"], size["measures"]))
    began = time.perf_counter()
    if question == "HSD":
        randomised_tukey_hsd(values, key=KEY, n_permutations=size["B"])
    else:
        split_half_tau(values, key=KEY, n_trials=size["B"])
    return time.perf_counter() - began


def measure_copying() -> float:
    """Return the gigabytes that this machine reads in a second when it copies memory, the fastest of several."""
    source = np.ones(2**25)
    target = np.empty_like(source)
    fastest = np.inf
    for _ in range(5):
        began = time.perf_counter()
        np.copyto(target, source)
        fastest = min(fastest, time.perf_counter() - began)
    return float(source.nbytes / fastest / 1e9)


def fit_exponent(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Return the slope of log seconds on log size, and its standard error.

    Parameters
    ----------
    sizes, seconds : ndarray, shape (size,)

    Returns
    -------
    exponent, error : float

    Examples
    --------
    >>> [round(float(one), 6) for one in fit_exponent(np.array([1.0, 2, 4]), np.array([3.0, 12, 48]))]
    [2.0, 0.0]
    """
    x, y = np.log(sizes), np.log(seconds)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    left = y - y.mean() - slope * x
    return slope, float(np.sqrt(left @ left / (len(x) - 2) / (x @ x)))


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure each size several times in turn, and keep the fastest.

    Parameters
    ----------
    quick : bool
        Once each, without the largest size.

    Returns
    -------
    list of dict
        Rows of name, what grows, size, seconds, limit (seconds of copying as many bytes), exponent and error.
    """
    copying = measure_copying()
    rows = []
    for question in ("HSD", "split-half"):
        run_test(question, BASE)
        for what, all_sizes in SIZES.items():
            sizes = all_sizes[:-1] if quick else all_sizes
            cases = [{**BASE, what: one} for one in sizes]
            if question == "HSD":
                for case in cases:
                    run_test(question, {**case, "B": 16})  # compiles
            taken = np.full(len(sizes), np.inf)
            for _ in range(1 if quick else 5):
                for number, case in enumerate(cases):
                    taken[number] = min(taken[number], run_test(question, case))
            exponent, error = fit_exponent(np.array(sizes, dtype=float), taken)
            for case, seconds in zip(cases, taken, strict=True):
                numbers = case["runs"] * case["topics"] * case["measures"] * case["B"]
                limit = numbers * (4 if question == "HSD" else 8) / copying / 1e9
                rows.append({
                    "name": question, "grows": what, "size": case[what], "seconds": seconds, "limit": limit,
                    "exponent": exponent, "error": error,
                })  # fmt: skip
    return rows
