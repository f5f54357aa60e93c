"""Rank correlations by name: those that weigh the head of a ranking, and any of them over the first k runs, as ``tau_b@15``.

All are computed from which of two runs each side puts above the other, ties as in `metaeval.stats.rank_correlation`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.arrays import FloatArray, Scaled, divide
from metaeval.stats.parallel import split_work, tell
from metaeval.stats.rank_correlation import place_intervals, tau_matrix

SYMBOLS = {
    "tau_a": "τ_a", "tau_b": "τ_b", "tau_ap": "τ_AP", "tau_ap_b": "τ_AP,b", "tau_gap": "τ_GAP", "spearman": "Spearman's ρ",
}  # fmt: skip
"""Every rank correlation, and how it is written."""

DEPTH = re.compile("[2-9]|[1-9][0-9]{1,8}")
"""What stands behind ``@``: a whole number of at least 2, without zeros before it, so that there is one way to write it."""

_CELLS = 400_000  # cells of squares of runs held at once: they stay in the cache


@dataclass(frozen=True)
class RankCorrelation:
    """Which rank correlation, of `SYMBOLS`; with a depth, of so many runs that the reference ranks first, ties included."""

    name: str
    depth: int | None = None

    def __str__(self) -> str:
        return self.name if self.depth is None else f"{self.name}@{self.depth}"

    @property
    def symbol(self) -> str:
        """How it is written."""
        return SYMBOLS[self.name] + ("" if self.depth is None else f"@{self.depth}")

    @property
    def symmetric(self) -> bool:
        """Whether it does not matter which side is the reference."""
        return self.depth is None and self.name not in ("tau_ap", "tau_gap")


def parse_rank_correlation(text: str) -> RankCorrelation:
    """Read the name of a rank correlation, such as ``tau_ap`` or ``tau_b@15``."""
    name, at, depth = str(text).partition("@")
    if name not in SYMBOLS:
        near = difflib.get_close_matches(name.lower().replace("-", "_"), SYMBOLS, n=3, cutoff=0.6)
        hint = f"did you mean {', '.join(near)}?" if near else f"use {', '.join(SYMBOLS)}"
        raise MetaevalError(f"there is no rank correlation {name!r}: {hint}")
    if not at:
        return RankCorrelation(name)
    if not DEPTH.fullmatch(depth):
        raise MetaevalError(f"{text!r}: behind @ stands how many runs count, a whole number of at least 2: {name}@15")
    return RankCorrelation(name, int(depth))


def correlate(
    reference: npt.ArrayLike,
    other: npt.ArrayLike,
    which: RankCorrelation | str,
    *,
    tolerance: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> FloatArray:
    """How alike does another score vector, shape (..., run), higher being better, rank the runs as the reference does?

    NaN where all runs are tied in a vector, but for ``tau_a``, ``tau_ap`` and ``tau_gap``; `tolerance` is that of
    `metaeval.stats.rank_correlation.tau`.

    - ``tau_a``, ``tau_b``: Kendall's; ``spearman``: Spearman's ρ, tied runs at their average rank.
    - ``tau_ap``: AP correlation (Yilmaz, Aslam and Robertson 2008). For every run but the first of `other`, the
      share of the runs above it that the reference puts above it too; twice their mean, less 1. With ties it is
      the mean over all ways to break them, which is τ_AP,a of Urbano and Marrero (2017) if the reference has none.
    - ``tau_ap_b``: τ_AP,b of Urbano and Marrero (2017), for two rankings with ties.
    - ``tau_gap``: ``tau_ap`` in which every run above weighs as much as the reference's gap between the two (after
      Gao and Oard 2015); of ties in `other`, the mean over the best and the worst way to break them.
    - With ``@k``, the same over the k runs that the reference ranks first, and those tied with the last of them.

    >>> [round(float(correlate([4, 3, 2, 1], [3, 4, 2, 1], which)), 3) for which in ("tau_a", "tau_ap", "tau_a@2")]
    [0.667, 0.333, -1.0]
    """
    chosen = parse_rank_correlation(which) if isinstance(which, str) else which
    scores = np.broadcast_arrays(np.asarray(reference, dtype=np.float64), np.asarray(other, dtype=np.float64))
    *shape, n_runs = scores[0].shape
    if chosen.depth is not None and chosen.depth > n_runs:
        raise MetaevalError(f"{chosen}: there are only {n_runs} runs")
    places: list[Any] = []
    for side, reach in zip(scores, tolerance or (None, None), strict=True):
        places.append(np.broadcast_to(place_intervals(side, reach), (*side.shape, 2)).reshape(-1, n_runs, 2))
    first = scores[0].reshape(-1, n_runs)
    values = np.empty(len(first))
    for part in split_work(len(values), _CELLS // n_runs**2):
        above = [place[part, np.newaxis, :, 0] > place[part, :, np.newaxis, 1] for place in places]
        inside = np.ones(above[0].shape[:2], dtype=np.bool_)
        if chosen.depth is not None:
            inside = above[0].sum(axis=2) < chosen.depth
            both = inside[:, :, np.newaxis] & inside[:, np.newaxis]
            above = [place & both for place in above]
        values[part] = _FORMULAS[chosen.name](_Pair((above[0], above[1]), first[part], inside))
    return values.reshape(shape)


def correlation_matrix(
    means: npt.ArrayLike, which: RankCorrelation, *, tolerance: npt.ArrayLike | None = None
) -> FloatArray:
    """Correlate the means of every two measures, shape (..., run, measure), of which ``[..., i, j]`` has i as the reference."""
    columns = np.asarray(means, dtype=np.float64).swapaxes(-1, -2)
    n_measures = columns.shape[-2]
    first, second = np.triu_indices(n_measures) if which.symmetric else np.indices((n_measures,) * 2).reshape(2, -1)
    sides = None
    if tolerance is not None:
        reach = np.broadcast_to(tolerance, np.shape(means)).swapaxes(-1, -2)
        sides = reach[..., first, :], reach[..., second, :]
    values = correlate(columns[..., first, :], columns[..., second, :], which, tolerance=sides)
    matrix = np.empty((*columns.shape[:-2], n_measures, n_measures))
    if which.symmetric:
        matrix[..., second, first] = values
    matrix[..., first, second] = values
    return matrix


class _Pair(NamedTuple):
    """Many pairs b of rankings: ``above[side][b, i, j]`` if run j is above run i, ``inside[b, i]`` if run i counts.

    The first side is the reference, whose scores are `reference`.
    """

    above: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
    reference: FloatArray
    inside: npt.NDArray[np.bool_]

    def signs(self, side: int) -> npt.NDArray[np.int8]:
        """1 where run j is above run i, -1 where it is below, 0 where they are tied."""
        left = self.above[side].view(np.int8)
        return left - left.swapaxes(1, 2)


def _kendall(pair: _Pair, *, ties: bool) -> FloatArray:
    left, right = pair.signs(0), pair.signs(1)
    balance, first, second = (
        side.sum(axis=(1, 2), dtype=np.int64) for side in (left * right, np.abs(left), np.abs(right))
    )
    n = pair.inside.sum(axis=1).astype(np.float64)
    return divide(balance, np.sqrt(first * second) if ties else n * (n - 1))


def _tau_ap(pair: _Pair) -> FloatArray:
    """Urbano and Marrero 2017, τ_AP,a: what is above a run's group of ties, and what is inside on average."""
    above, n_runs = pair.above[1], pair.inside.sum(axis=1)
    # Random breaking orders two runs that the reference ties rightly half of the time.
    right = (above * (1 + pair.signs(0))).sum(axis=2, dtype=np.int64) / 2
    before = above.sum(axis=2)
    size = np.where(pair.inside, n_runs[:, np.newaxis] - before - above.sum(axis=1), 1)  # of the run's group of ties
    sums = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, above.shape[1] + 1))])
    last = sums[before + size - 1]
    from_above = right * (last - sums[np.maximum(before - 1, 0)]) / size
    within = (size - 1 - before * (last - sums[before])) / (2 * size)
    total = np.where(pair.inside, from_above + within, 0.0).sum(axis=1)
    return np.asarray(2 * total / (n_runs - 1) - 1)


def _tau_ap_b(pair: _Pair) -> FloatArray:
    """Urbano and Marrero 2017, τ_AP,b: only what is above a run's group counts, not the group itself, from either side."""
    halves = []
    for above, reference in (pair.above[::-1], pair.above):
        before = above.sum(axis=2)
        shares = (above & reference).sum(axis=2) / np.maximum(before, 1)
        halves.append(divide(2 * shares.sum(axis=1), (before > 0).sum(axis=1)) - 1)
    return np.asarray((halves[0] + halves[1]) / 2)


def _tau_gap(pair: _Pair) -> FloatArray:
    """Break the other's ties as the reference orders them, and against it."""
    reference, other = pair.above
    tied = ~(other | other.swapaxes(1, 2))
    # Only runs that the reference tells apart have a gap: scores that are tied differ by rounding.
    differ = reference | reference.swapaxes(1, 2)
    gaps = np.abs(pair.reference[:, np.newaxis] - pair.reference[:, :, np.newaxis]) * differ
    ends = []
    for favoured in (reference, reference.swapaxes(1, 2)):
        above = other | (tied & favoured)
        weights = above * gaps
        shares = divide((weights * reference).sum(axis=2), weights.sum(axis=2))
        # Where no run above differs in the reference there is nothing to agree on, as if by chance.
        counted = above.any(axis=2)
        total = np.where(counted, np.where(np.isnan(shares), 0.5, shares), 0.0).sum(axis=1)
        # Runs without one above are the first, or tied with it in both.
        ends.append((2 * total + (~counted & pair.inside).sum(axis=1) - 1) / (pair.inside.sum(axis=1) - 1) - 1)
    return np.asarray((ends[0] + ends[1]) / 2)


def _spearman(pair: _Pair) -> FloatArray:
    """Twice a rank is the sum of a run's signs, up to a constant."""
    left, right = (pair.signs(side).sum(axis=2, dtype=np.float64) for side in (0, 1))
    lengths = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    return np.clip(divide((left * right).sum(axis=1), lengths), -1.0, 1.0)


_FORMULAS: dict[str, Callable[[_Pair], FloatArray]] = {
    "tau_a": partial(_kendall, ties=False),
    "tau_b": partial(_kendall, ties=True),
    "tau_ap": _tau_ap,
    "tau_ap_b": _tau_ap_b,
    "tau_gap": _tau_gap,
    "spearman": _spearman,
}


def compare_rankings(means: FloatArray, sizes: FloatArray, which: RankCorrelation) -> FloatArray:
    """Return the rank correlation of every pair of measures, shape (..., measure, measure).

    Means closer than what rounding can do are tied. Sums round in proportion to the magnitudes of what is added, whose means
    are `sizes`; scores round too, in proportion to what a measure adds and subtracts inside: one that is zero on paper can
    be 1e-17.
    """
    tolerance = 1e-12 * sizes + 1e-14
    if which.name in ("tau_a", "tau_b") and which.depth is None:
        return tau_matrix(means, variant=which.name, tolerance=tolerance)  # type: ignore[arg-type]
    return correlation_matrix(means, which, tolerance=tolerance)


def resample_rankings(
    oriented: Scaled, which: RankCorrelation, n_bootstrap: int, rng: np.random.Generator, pairs: tuple[FloatArray, ...]
) -> FloatArray:
    """Resample topics and rank anew: the rank correlation of pairs of measures, shape (trial, pair)."""
    n_runs, n_topics, n_measures = oriented.shape
    values = oriented.values
    mixed = bool(((values.min(axis=(0, 1)) < 0) & (values.max(axis=(0, 1)) > 0)).any())
    block = max(1, 4_000_000 // max(n_topics, n_measures**2 * n_runs))
    drawn = np.empty((len(pairs[0]), n_bootstrap)).T  # sums over trials are of neighbours
    for start in range(0, n_bootstrap, block):
        part = drawn[start : start + block]
        weights = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=len(part)) / n_topics
        means = oriented.weigh(weights)
        # Sums of scores of either sign round as much as their magnitudes do; those of one sign are their magnitudes.
        sizes = oriented.weigh(weights, np.abs) if mixed else np.abs(means)
        part[:] = compare_rankings(means, sizes, which)[:, pairs[0], pairs[1]]
        tell("resampling topics", start + len(part), n_bootstrap)
    return drawn
