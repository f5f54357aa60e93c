"""The alternative annotator test (Calderon, Reichart and Dror, ACL 2025): does a judge agree with people as people do?"""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, divide
from metaeval.stats.intervals import Ends, centre_interval

Agreement: TypeAlias = Literal["accuracy", "squared-error"]
"""How near two labels are: 1 if they are the same, else 0; or minus the square of the classes between them."""

ROUNDING = 1e-6  # difference of two sums of agreements that is due to rounding: one answer that differs makes more


def tabulate_agreement(n_classes: int, agreement: Agreement) -> IntArray:
    """Return the agreement of every two classes, shape (class, class): whole numbers, so that ties are exact."""
    gap = np.subtract.outer(np.arange(n_classes), np.arange(n_classes))
    return np.where(gap == 0, 1, 0) if agreement == "accuracy" else -(gap**2)


def _add_agreement(
    labels: IntArray, judged: IntArray, agreement: IntArray
) -> tuple[npt.NDArray[np.bool_], IntArray, IntArray]:
    """Return which labels are known, and the agreement of judge and person with all other people of the item."""
    present, classes = labels >= 0, np.arange(len(agreement))
    # What each class scores against all people; the person's own label is then taken out of both sides alike.
    against_all = (labels[..., np.newaxis] == classes).sum(axis=0) @ agreement  # agreement is symmetric
    item, rows = np.arange(labels.shape[1]), np.where(present, labels, 0)
    of_human = against_all[item, rows] - agreement[rows, rows]
    of_judge = against_all[item, judged][:, np.newaxis] - agreement[judged[:, np.newaxis], rows]
    return present & (present.sum(axis=0) > 1), of_judge, of_human


def mean_agreement(labels: IntArray, judged: IntArray, agreement: IntArray) -> tuple[FloatArray, float]:
    """How well do judges agree with people, shape (judge,), and people with each other? Means over people and their items."""
    known, of_judge, of_human = _add_agreement(labels, judged, agreement)
    others = np.maximum((labels >= 0).sum(axis=0) - 1, 1)
    count = max(1, int(known.sum()))
    return (of_judge / others * known).sum(axis=(1, 2)) / count, float((of_human / others * known).sum() / count)


def shuffle_answers(
    labels: IntArray, judged: IntArray, agreement: IntArray, n_shuffles: int, rng: np.random.Generator
) -> FloatArray:
    """How probable is it that a judge agrees as well if its answers are given to the items in random order, shape (judge,)?"""
    votes = (labels[..., np.newaxis] == np.arange(len(agreement))).sum(axis=0)  # shape (item, class)
    some = votes.sum(axis=1) > 0
    by_class = (votes @ agreement)[some] / votes[some].sum(axis=1, keepdims=True)  # of every answer to an item
    answers, items = judged[:, some], np.arange(some.sum())
    reached, observed = np.ones(len(judged)), by_class[items, answers].sum(axis=1)
    for _ in range(n_shuffles):
        shuffled = by_class[items, answers[:, rng.permutation(len(items))]].sum(axis=1)
        reached += shuffled > observed - ROUNDING
    return reached / (1 + n_shuffles)


def sum_wins(labels: IntArray, judged: IntArray, agreement: IntArray, topic: IntArray) -> FloatArray:
    """On which items of a topic does a judge, or a person, agree at least as well with the other people?

    With labels of shape (annotator, item), −1 for none, and answers (judge, item). Returns whole numbers, shape (topic, judge,
    annotator, 4): the person's items that another person labelled too, the judge's wins, the sum of the person's wins less the
    judge's, and of its squares.
    """
    known, of_judge, of_human = _add_agreement(labels, judged, agreement)
    judge, human = (of_judge >= of_human) & known, (of_human >= of_judge) & known
    gap = human.astype(np.int64) - judge
    numbers = np.stack([np.broadcast_to(known, gap.shape), judge, gap, gap**2], axis=-1).astype(np.float64)
    order = np.argsort(topic, kind="stable")
    starts = np.searchsorted(topic[order], np.arange(topic.max() + 1))
    return np.asarray(np.add.reduceat(np.moveaxis(numbers, 2, 0)[order], starts, axis=0))


def average_advantage(sums: FloatArray) -> FloatArray:
    """Return ρ, the share of items that a judge wins, averaged over people who have any: of `sum_wins` added over topics."""
    n, wins = sums[..., 0], sums[..., 1]
    return np.asarray(divide(wins, n, 0.0).sum(axis=-1) / np.maximum((n > 0).sum(axis=-1), 1))


def find_p_values(
    n_items: npt.ArrayLike, totals: npt.ArrayLike, squares: npt.ArrayLike, epsilon: npt.ArrayLike
) -> FloatArray:
    """How probable is so low a mean if it is at least ε? The one-sided t-test, from sums of values and of their squares.

    Where values do not vary, p is 0 if they are less than ε and 1 if not; 1 for fewer than two values.
    """
    from scipy.special import stdtr

    n, total, square = (np.asarray(each, dtype=np.float64) for each in (n_items, totals, squares))
    count = np.maximum(n, 2)
    mean = total / count
    variance = (count * square - total**2) / (count * (count - 1))
    gap = mean - np.asarray(epsilon, dtype=np.float64)
    ratio = divide(gap, np.sqrt(np.maximum(variance, 0.0) / count), 0.0)
    p = np.where(variance > 0, stdtr(count - 1, ratio), np.where(gap < 0, 0.0, 1.0))
    return np.where(n < 2, 1.0, p)


def reject_by(p: FloatArray, rate: float) -> npt.NDArray[np.bool_]:
    """Return which hypotheses, on the last axis, are rejected at a false discovery rate (Benjamini and Yekutieli 2001)."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, axis=-1, method="by") <= rate)


def compare_with_people(sums: FloatArray, epsilon: float, alpha: float) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return p of every judge and person, shape (…, judge, annotator), and whether the judge wins."""
    p = find_p_values(sums[..., 0], sums[..., 2], sums[..., 3], epsilon)
    return p, reject_by(p, alpha)


def vary_rates(
    sums: FloatArray,
    weights: FloatArray,
    rho: FloatArray,
    omega: FloatArray,
    epsilon: float,
    alpha: float,
    confidence: float,
) -> tuple[Ends, Ends, FloatArray, Ends]:
    """Return the ends of ρ and of ω, and the differences of every two judges in ρ with theirs, on topics drawn anew.

    `sums` are those of `sum_wins` by topic, and `weights`, shape (trial, topic), how often each topic is drawn.
    """
    drawn = (weights @ sums.reshape(len(sums), -1)).reshape(len(weights), *sums.shape[1:])
    drawn_rho, drawn_omega = average_advantage(drawn), compare_with_people(drawn, epsilon, alpha)[1].mean(axis=-1)
    first, second = np.triu_indices(len(rho), 1)
    gaps, drawn_gaps = rho[first] - rho[second], drawn_rho[:, first] - drawn_rho[:, second]
    interval = partial(centre_interval, n_topics=max(len(sums), 2), confidence=confidence)
    rho_ends, gap_ends = interval(rho, drawn_rho, scale="share"), interval(gaps, drawn_gaps)
    step = 1 / sums.shape[2]
    omega_ends = interval(omega, drawn_omega, scale="share", step=step, least=step, student=False)
    return Ends(*rho_ends), Ends(*omega_ends), gaps, Ends(*gap_ends)


def choose_class(counts: np.ndarray) -> np.ndarray:
    """Return the most frequent class; of several, the one nearest to the lower median, and of two as near the lower.

    >>> choose_class(np.array([[0, 2, 1], [2, 1, 2], [1, 0, 1]])).tolist()
    [1, 0, 0]
    """
    k = counts.shape[-1]
    median = (2 * counts.cumsum(axis=-1) >= counts.sum(axis=-1, keepdims=True)).argmax(axis=-1)
    distance = np.abs(np.arange(k) - median[..., np.newaxis])
    return np.asarray((counts * 2 * k - distance).argmax(axis=-1))
