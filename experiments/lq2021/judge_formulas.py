"""Rules on the definitions (§1, §3 and the Appendix), tried by enumeration. What each tries stands in claims.toml."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

import metaeval
from experiments.lq2021.findings import NOMINAL
from experiments.verdicts import Found
from metaeval.measures.order_aware import order_aware_divergence
from metaeval.show.verdict import Evidence, OutcomeWord

ORDINAL = ("NMD", "RNOD", "RSNOD")
SMALLEST = 1e-12
"""Differences up to this are rounding."""

Score = Callable[[np.ndarray, np.ndarray], np.ndarray]


def nominal_measures_see_no_order() -> Found:
    """Do nominal measures give the worst score to a near class as to a far one?"""
    gold, far, near = np.eye(5)[[4, 0, 3]]
    evidence, so = [], []
    for name in (*NOMINAL, *ORDINAL):
        score = metaeval.measure(name).score
        worse, better = float(score(far, gold)), float(score(near, gold))
        same = abs(worse - better) <= SMALLEST
        so.append(same and abs(worse - 1) <= SMALLEST if name in NOMINAL else better < worse)
        evidence += [Evidence(f"{name}, far", worse), Evidence("near", better)]
    return _judge(all(so)), tuple(evidence)


def two_classes_make_measures_equal() -> Found:
    """With two classes, are NMD, RNOD and RSNOD the same?"""
    estimated, gold = _list_pairs(2, 100)
    scores = [metaeval.measure(name).score(estimated, gold) for name in ORDINAL]
    scores.append(metaeval.measure("RNOD").score(gold, estimated))
    return _show_largest(len(gold), float(np.ptp(scores, axis=0).max()))


def average_weights_are_symmetric() -> Found:
    """Is RNADW symmetric?"""
    return _try_exchange(metaeval.measure("RNADW").score, lambda estimated, gold: np.full(len(gold), True))


def full_gold_makes_divergence_symmetric() -> Found:
    """Is OD symmetric where the gold has no zero?"""
    word, evidence = _try_exchange(order_aware_divergence, lambda estimated, gold: (gold > 0).all(axis=-1))
    both, found = _try_exchange(
        order_aware_divergence, lambda estimated, gold: ((gold > 0) & (estimated > 0)).all(axis=-1)
    )
    if word == "does not hold" and both == "holds":
        word = "holds in part"
    return word, (*evidence, Evidence("where the estimate has no zero either: pairs", found[0].value), *found[1:])


def single_classes_make_divergence_symmetric() -> Found:
    """Is OD symmetric where estimate and gold have one class each?"""
    tried, largest = 0, 0.0
    for n_classes in range(2, 8):
        one = np.eye(n_classes)
        estimated, gold = (np.array(side) for side in zip(*itertools.product(one, one), strict=True))
        there, back = order_aware_divergence(estimated, gold), order_aware_divergence(gold, estimated)
        tried, largest = tried + len(gold), max(largest, float(np.abs(there - back).max()))
    return _show_largest(tried, largest)


def divergence_emphasises_the_ends() -> Found:
    """Does the same shift cost more OD near an end of the scale, and the same NMD?"""
    evidence, so = [], []
    for n_classes in range(4, 8):
        gold = np.full(n_classes, 1 / n_classes)
        moved = gold + 0.1 * (np.eye(n_classes)[:-1] - np.eye(n_classes)[1:])
        od = order_aware_divergence(moved, gold)
        nmd = metaeval.measure("NMD").score(moved, gold)
        half = od[: n_classes // 2]  # from the end to the middle; the other half mirrors it
        so.append(
            bool((np.diff(half) < 0).all() and np.allclose(half, od[::-1][: len(half)]) and np.ptp(nmd) < SMALLEST)
        )
        evidence += [
            Evidence(f"{n_classes} classes: OD at the end", float(od[0])),
            Evidence("in the middle", float(half[-1])),
            Evidence("range of NMD", float(np.ptp(nmd))),
        ]
    return _judge(all(so)), tuple(evidence)


def _try_exchange(score: Score, choose: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Found:
    """Return whether a score is the same when estimate and gold are exchanged, on chosen pairs of distributions."""
    tried, largest = 0, 0.0
    for n_classes in (3, 4):
        estimated, gold = _list_pairs(n_classes, 5)
        chosen = choose(estimated, gold)
        estimated, gold = estimated[chosen], gold[chosen]
        gap = np.abs(score(estimated, gold) - score(gold, estimated))
        tried, largest = tried + len(gold), max(largest, float(gap.max()))
    return _show_largest(tried, largest)


def _list_pairs(n_classes: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return every pair of distributions whose shares are whole numbers of steps, each of shape (pair, class)."""
    counts = [one for one in itertools.product(range(steps + 1), repeat=n_classes) if sum(one) == steps]
    shares = np.array(counts) / steps
    first, second = np.divmod(np.arange(len(shares) ** 2), len(shares))
    return shares[first], shares[second]


def _show_largest(tried: int, largest: float) -> Found:
    return _judge(largest <= SMALLEST), (
        Evidence("pairs of distributions", tried),
        Evidence("largest difference", largest),
    )


def _judge(so: bool) -> OutcomeWord:
    return "holds" if so else "does not hold"
