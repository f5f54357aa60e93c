"""Means of runs: where they lie on other topics, and which run may be the best.

Comparisons with the best are those of Hsu ("Constrained simultaneous confidence intervals for multiple comparisons with the
best", Annals of Statistics 12(3), 1984). If a run is the best, others are ahead of it by chance only, and by more than its
largest difference from any is in resamples in a share of at most α of samples. A run that is further behind some other is not
the best: the best one, whichever it is, stays with confidence 1 − α. Differences are taken on both sides, other than by Hsu:
where scores are skewed, one side alone erred too often in simulations; and of two runs the claim is that of their pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, average
from metaeval.stats.intervals import interval_of_share
from metaeval.stats.resampling import pool_clusters

ROUNDING = 1e-12  # share of the largest mean up to which a standard error is rounding


def interval_of_means(
    values: FloatArray, *, pooled: FloatArray | None = None, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Where does the mean of each run, by itself, lie on other topics of the same kind? Ends are of shape (run,).

    Student's t interval of scores, shape (run, topic), or pseudo-values of clusters, shape (run, cluster); of scores that are
    all 0 or 1 that of Clopper and Pearson, which has a width where a run has a mean of 0 or 1, too. Of topics in clusters, this
    is for such means, with each cluster as one topic. NaN for a run that has the same score throughout, but neither 0 nor 1.
    """
    from scipy.special import stdtrit

    drawn = values if pooled is None else pooled
    n, tail = drawn.shape[1], (1 - confidence) / 2
    exponent = np.frexp(np.abs(drawn).max())[1]  # squares of huge scores are more than a float holds
    drawn = np.ldexp(drawn, -exponent)
    means, spread = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
    varies = drawn.min(axis=1) < drawn.max(axis=1)  # nothing tells how much a constant run may vary
    reach = np.where(varies, -stdtrit(n - 1, tail) * spread / np.sqrt(n), np.nan)
    low, high = np.ldexp(means - reach, exponent), np.ldexp(means + reach, exponent)
    if not np.isin(values, (0, 1)).all():
        return low, high
    share = values.mean(axis=1)
    by_clusters = (share > 0) & (share < 1) & (pooled is not None)
    exact_low, exact_high = interval_of_share(np.rint(share * n), n, confidence=confidence)
    return np.where(by_clusters, low.clip(0, 1), exact_low), np.where(by_clusters, high.clip(0, 1), exact_high)


def interval_of_tasks(
    tasks: Sequence[FloatArray], clusters: Sequence[IntArray | None], weights: FloatArray, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Where does the mean of the means of several tasks lie on other topics of these tasks, shape (run,)?

    Student's t with Satterthwaite's degrees of freedom, from scores of shape (run, topic), NaN where a run has none; NaN for a
    run with a single topic, or cluster, of a task, or without variance.
    """
    from scipy.special import stdtrit

    drawn = [
        values if codes is None else pool_clusters(values, codes) for values, codes in zip(tasks, clusters, strict=True)
    ]
    means = np.stack([average(values) for values in tasks], axis=1)
    shares = weights * ~np.isnan(means)
    shares = shares / shares.sum(axis=1, keepdims=True)
    total, slack = np.zeros((2, len(means)))
    for values, part in zip(drawn, shares.T, strict=True):
        n = np.where(part > 0, (~np.isnan(values)).sum(axis=1), 2)
        squares = np.square(np.nan_to_num(values - average(values)[:, np.newaxis])).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = part**2 * squares / (n * (n - 1))
            total, slack = total + variance, slack + variance**2 / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = -stdtrit(total**2 / slack, (1 - confidence) / 2) * np.sqrt(total)
    reach[total <= np.square(ROUNDING * np.nanmax(np.abs(means)))] = np.nan
    middle = np.nansum(shares * means, axis=1)
    return middle - reach, middle + reach


def compare_at_same_level(
    reference: FloatArray, means: FloatArray, some: npt.NDArray[np.bool_], level: float
) -> tuple[float, float]:
    """How far do some runs lie above the line of least squares of the others, from the reference's means to other ones?

    With the reach of Student's interval over runs to either side, whose quantile is `level`, by how far the others are from
    their line. NaN where the reference's means do not vary, or there are fewer than three other runs.
    """
    from scipy.special import stdtrit

    x, y = (each[~some] - each[~some].mean() for each in (reference, means))
    lead, its_lead = (each[some].mean() - each[~some].mean() for each in (reference, means))
    squares, freedom = float(x @ x) if x @ x >= 1e-12 else np.nan, max(len(x) - 2, 0) or np.nan
    slope = float(x @ y) / squares
    spread = ((y - slope * x) ** 2).sum() / freedom
    error = np.sqrt(spread * (1 / some.sum() + 1 / len(x) + lead**2 / squares))
    return float(its_lead - slope * lead), float(stdtrit(freedom, level) * error)


def find_best(
    statistics: FloatArray, rows: Callable[[], Iterator[FloatArray]], alpha: float = 0.05
) -> npt.NDArray[np.bool_]:
    """Which runs may be the best, shape (run,)? The best one is missing in a share of at most α of samples.

    ``statistics[i, j]`` says by how many standard errors run i is ahead of run j, and `rows` draws the same, of each run but
    the last and every later run, as they would be if both were equally good, shape (later run, trial).
    """
    largest = np.zeros((len(statistics), 1))
    for run, drawn in enumerate(rows()):
        if not run:
            largest = np.zeros((len(statistics), drawn.shape[1]))
        sizes = np.abs(drawn)
        np.maximum(largest[run + 1 :], sizes, out=largest[run + 1 :])
        np.maximum(largest[run], sizes.max(axis=0), out=largest[run])
    return np.asarray(statistics.max(axis=0) <= np.quantile(largest, 1 - alpha, axis=1, method="higher"))
