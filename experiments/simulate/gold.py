"""Gold for simulated campaigns: a hierarchical model of ordinal votes, fitted to the gold of real campaigns.

The votes of a topic are draws from a normal distribution on a latent scale, cut into classes at thresholds that all
topics share: an ordered probit model. Where that distribution lies, and how wide it is, differs from topic to topic:

    location_t ~ N(0, location_sd²),   log width_t ~ N(0, width_sd²),   vote ~ N(location_t, width_t²), cut at thresholds.

A vote is one annotator's rating of a dialogue (STC-3), or the gold label of one tweet of a topic (SemEval).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri


@dataclass(frozen=True)
class GoldModel:
    """The fitted numbers of one campaign's gold."""

    thresholds: tuple[float, ...]
    location_sd: float
    width_sd: float
    items: tuple[float, float]
    fewest: int

    def shares(self, location: Any, width: Any) -> np.ndarray:
        """Return the class distribution of topics."""
        centre, spread = np.asarray(location, dtype=float)[..., None], np.asarray(width, dtype=float)[..., None]
        below = ndtr((np.array(self.thresholds) - centre) / spread)
        edge = np.zeros((*below.shape[:-1], 1))
        shares: np.ndarray = np.diff(np.concatenate([edge, below, edge + 1], axis=-1), axis=-1)
        return shares

    def frequencies(self, points: int = 40) -> np.ndarray:
        """Return how frequent every class is over all topics, by Gauss–Hermite quadrature."""
        location, width, weight = _nodes(points)
        shares = self.shares(self.location_sd * location, np.exp(self.width_sd * width))
        frequencies: np.ndarray = np.exp(weight) @ shares
        return frequencies


def fit_gold(votes: Any, *, points: int = 61) -> GoldModel:
    """Which hierarchical model makes the votes of a campaign the most likely?"""
    counts = np.asarray(votes, dtype=float)
    share = np.cumsum(counts.sum(axis=0))[:-1] / counts.sum()
    cut = ndtri(np.clip(share, 1e-3, 1 - 1e-3)) * 1.3
    begin = np.concatenate([cut[:1], np.log(np.maximum(np.diff(cut), 0.05)), [np.log(0.8), np.log(0.3)]])
    location, width, weight = _nodes(points)

    def loss(theta: np.ndarray) -> float:
        thresholds = np.concatenate([theta[:1], theta[0] + np.cumsum(np.exp(theta[1:-2]))])
        spread = np.exp(np.exp(theta[-1]) * width)
        ends = (thresholds - (np.exp(theta[-2]) * location)[:, None]) / spread[:, None]
        nodes = counts @ _log_shares(ends).T + weight
        return float(-logsumexp(nodes, axis=1).sum() / len(counts))

    best = minimize(loss, begin, method="BFGS", options={"gtol": 1e-5}).x
    thresholds = np.concatenate([best[:1], best[0] + np.cumsum(np.exp(best[1:-2]))])
    sizes = counts.sum(axis=1)
    logs = np.log(sizes)
    return GoldModel(
        tuple(float(threshold) for threshold in thresholds),
        float(np.exp(best[-2])),
        float(np.exp(best[-1])),
        (float(logs.mean()), float(logs.std()) if np.ptp(sizes) else 0.0),
        int(sizes.min()),
    )


def _log_shares(ends: np.ndarray) -> np.ndarray:
    """Return log probabilities of the classes between standardised thresholds, stable in both tails."""
    # P(u < z < v) = P(−v < z < −u): the side where both ends are negative loses no digits.
    first, last = log_ndtr(ends[:, :1]), log_ndtr(-ends[:, -1:])
    low, high = ends[:, :-1], ends[:, 1:]
    flip = low + high > 0
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    upper, lower = log_ndtr(b), log_ndtr(a)
    middle = upper + np.log(-np.expm1(np.minimum(lower - upper, -1e-300)))
    return np.concatenate([first, middle, last], axis=1)


def _nodes(points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a two-dimensional Gauss–Hermite grid for standard normals: both coordinates and log weights."""
    x, w = np.polynomial.hermite_e.hermegauss(points)
    weight = np.log(w / w.sum())
    location, width = (grid.ravel() for grid in np.meshgrid(x, x))
    return location, width, np.add.outer(weight, weight).ravel()


FITTED = {
    "sem16t4c": GoldModel((-2.836, -1.283, 0.441, 2.584), 0.705, 0.189, (5.260, 0.389), 70),
    "sem17t4c": GoldModel((-2.884, -0.763, 1.014, 2.994), 0.766, 0.206, (4.590, 0.120), 27),
    "stc3-dq-a": GoldModel((-1.147, -0.472, 0.881, 2.005), 0.703, 0.190, (2.944, 0.0), 19),
    "stc3-dq-e": GoldModel((-1.140, -0.582, 0.293, 1.589), 0.569, 0.045, (2.944, 0.0), 19),
    "stc3-dq-s": GoldModel((-1.224, -0.528, 0.949, 2.108), 0.741, 0.157, (2.944, 0.0), 19),
}
"""`fit_gold` on the gold of the data sets so named: tweets of SemEval's topics, 19 annotators' votes of STC-3's
dialogues, rounded to three decimals."""
