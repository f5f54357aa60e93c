"""Rates from counts: family-wise error, false discovery and power of every test on every cell, with intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri

from experiments.calibration.study import STUDY

CONFIDENCE = 0.95
"""Of all intervals of one test together."""

ALPHA = float(STUDY["alpha"])
TOO_MUCH = 0.075
"""A test does not hold where its estimated error is above this, however few the studies."""

SIZES = (10, 25, 50, 100, 400, 1000)
"""Numbers of topics for which conclusions are drawn; 390 topics count as 400."""

KINDS = {
    "normal": "equal spread",
    "normal, two 1.5x": "unequal spread",
    "normal, two 2x": "unequal spread",
    "normal, two 3x": "unequal spread",
    "exponential": "skewed",
    "exponential, two 3x": "unequal spread, skewed",
    "lognormal among normal": "unlike skewness",
    "beta of unlike skew": "unlike skewness",
    "binary of unlike p": "binary of unlike rate",
    "one hopeless run": "equal spread, one hopeless run",
    "near-identical runs": "near-identical runs",
    "discrete": "discrete",
}
"""Kinds of scores, by design; all others are simulated from real collections."""

CELL = ["group", "design", "runs", "topics", "effects"]
"""Columns that name a cell."""


def read_counts(path: Path) -> pd.DataFrame:
    """Read the counts.

    Parameters
    ----------
    path : Path

    Returns
    -------
    DataFrame
        As `experiments.calibration.simulation.collect_counts` returns it.
    """
    return pd.read_csv(path)


def compute_rates(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of every test on every cell.

    Studies of a batch share their trials. How much more the number of studies with a false difference varies between
    batches than that of independent studies would is estimated once a test, over all its cells, and divides the number
    of studies in the intervals of the family-wise error (Clopper–Pearson); the others rest on the spread between
    batches. Intervals of a test hold together: each is widened for the number of its cells (Šidák).

    Parameters
    ----------
    counts : DataFrame

    Returns
    -------
    DataFrame
        `CELL`, kind, size, test, studies, planned, dispersion, cells (of the test), then error, error_low, error_high,
        fdr, fdr_low, fdr_high, power, power_low, power_high (NaN where no runs were made to differ), and holds.
    """
    frame = counts[[*CELL, "test", "studies", "planned"]].copy()
    frame["kind"] = [KINDS.get(design, "real") for design in frame["design"]]
    sizes = np.array(SIZES)
    frame["size"] = [int(sizes[np.abs(np.log(sizes / n)).argmin()]) for n in frame["topics"]]
    frame["dispersion"] = _pool_dispersion(counts)
    frame["cells"] = frame.groupby("test")["test"].transform("size")
    outside = (1 - CONFIDENCE ** (1 / frame["cells"].to_numpy(dtype=float))) / 2
    studies = counts["studies"].to_numpy(dtype=float)
    effective = studies / frame["dispersion"].to_numpy()
    share = counts["with_false"].to_numpy(dtype=float) / studies
    frame["error"] = share
    frame["error_low"], frame["error_high"] = bound_share(share * effective, effective, outside)
    width = -ndtri(outside)
    for name, total in (("fdr", "fdp"), ("power", "power")):
        rate, error = counts[total] / studies, counts[f"{total}_se"]
        known = np.where(frame["effects"] | (name == "fdr"), 1.0, np.nan)
        frame[name] = rate * known
        frame[f"{name}_low"], frame[f"{name}_high"] = (
            ((rate + sign * width * error).clip(0, 1) * known) for sign in (-1, 1)
        )
    frame["holds"] = (frame["error_low"] <= ALPHA) & (frame["error"] <= TOO_MUCH)
    return frame


def bound_share(count: np.ndarray, n: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of Clopper and Pearson for a share, also of numbers that are not whole.

    Parameters
    ----------
    count, n : ndarray
    outside : ndarray
        Probability on either side.

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> low, high = bound_share(np.array([0.0]), np.array([10.0]), np.array([0.025]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.0, 0.308)
    """
    low = np.where(count > 0, betaincinv(np.maximum(count, 1e-300), n - count + 1, outside), 0.0)
    high = np.where(count < n, betaincinv(count + 1, np.maximum(n - count, 1e-300), 1 - outside), 1.0)
    return low, high


def _pool_dispersion(counts: pd.DataFrame) -> pd.Series:
    """Return the mean dispersion of each test's cells, weighted by batches, at least 1, for every row."""
    weight = (counts["studies"] / STUDY["batch"] - 1).where(counts["dispersion"].notna(), 0.0)
    total = (counts["dispersion"].fillna(0.0) * weight).groupby(counts["test"]).transform("sum")
    mean = total / weight.groupby(counts["test"]).transform("sum").clip(lower=1.0)
    return mean.clip(lower=1.0)
