"""The words of ACL 2021's Tables 4 and 7, derived from numbers by stated rules."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np

import metaeval


def groups(
    tau: Mapping[tuple[str, str], float], measures: Sequence[str], bound: float, largest: str, second: str, alone: str
) -> dict[str, str]:
    """Name the group of every measure: measures are linked where τ is at least a bound, and links add up.

    Parameters
    ----------
    tau : mapping of (str, str) to float
        The mean τ over collections of every pair.
    measures : sequence of str
    bound : float
    largest, second, alone : str
        Names of the largest group, of any other of two or more, and of a measure without links.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> tau = {("a", "b"): 0.9, ("a", "c"): 0.1, ("b", "c"): 0.2}
    >>> groups(tau, ["a", "b", "c"], 0.8, "Y", "X", "X")
    {'a': 'Y', 'b': 'Y', 'c': 'X'}
    """
    group = {name: {name} for name in measures}
    for (one, two), value in tau.items():
        if value >= bound:
            both = group[one] | group[two]
            group |= dict.fromkeys(both, both)
    most = max(map(len, group.values()))
    return {
        name: alone if len(group[name]) == 1 else largest if len(group[name]) == most else second for name in measures
    }


def consistency_words(means: Sequence[Mapping[str, float]]) -> dict[str, str]:
    """Call good what is in the upper third by mean τ in every experiment, poor what is in the lower third in every.

    Parameters
    ----------
    means : sequence of mapping of str to float
        One an experiment (full split; ten topics): mean τ, averaged over collections.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> consistency_words([{"a": 0.9, "b": 0.8, "c": 0.7}, {"a": 0.6, "b": 0.4, "c": 0.5}])
    {'a': 'good', 'b': 'fair', 'c': 'fair'}
    """
    third = len(means[0]) // 3
    orders = [sorted(one, key=lambda name: -one[name]) for one in means]
    top = set.intersection(*(set(order[:third]) for order in orders))
    bottom = set.intersection(*(set(order[-third:]) for order in orders))
    return {name: "good" if name in top else "poor" if name in bottom else "fair" for name in means[0]}


def power_words(significant: Mapping[str, int], margin: float) -> dict[str, str]:
    """Call good or poor what finds that much more or less significant pairs than the median measure.

    Parameters
    ----------
    significant : mapping of str to int
        Pooled over collections.
    margin : float
        0.1 for ten per cent.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> power_words({"a": 120, "b": 100, "c": 95, "d": 60}, 0.1)
    {'a': 'good', 'b': 'fair', 'c': 'fair', 'd': 'poor'}
    """
    middle = statistics.median(significant.values())
    return {
        name: "good" if number >= (1 + margin) * middle else "poor" if number <= (1 - margin) * middle else "fair"
        for name, number in significant.items()
    }


def handles_order(one: metaeval.Measure) -> bool:
    """Tell whether a mistake costs more the farther it is from the gold class.

    Examples
    --------
    >>> from metaeval import measure
    >>> handles_order(measure("MAE_mu")), handles_order(measure("Accuracy")), handles_order(measure("NMD"))
    (True, False, True)
    """
    if one.kind == "classification":
        counts = np.array([np.diag([4] * 5)] * 4)
        counts[:, 0, 0] -= 1
        for case in range(4):
            counts[case, 0, case + 1] += 1  # an item of the first class goes to the second, third, …
        got = np.asarray(one.score(counts), dtype=float)
    else:
        gold = np.array([1.0, 0, 0, 0, 0])
        got = np.asarray(one.score(np.eye(5)[1:], np.broadcast_to(gold, (4, 5))), dtype=float)
    return bool((np.diff(_better(one, got)) < -1e-9).all())


def handles_constant_runs(one: metaeval.Measure) -> bool:
    """Tell whether runs that always answer the same class get different scores on a topic where they should.

    Examples
    --------
    >>> from metaeval import measure
    >>> handles_constant_runs(measure("kappa")), handles_constant_runs(measure("Accuracy"))
    (False, True)
    """
    sizes = np.array([1, 2, 4, 8, 3])
    counts = np.zeros((5, 5, 5), dtype=int)
    for k in range(5):
        counts[k, :, k] = sizes
    return bool(np.ptp(np.asarray(one.score(counts), dtype=float)) > 1e-9)


def handles_imbalance(one: metaeval.Measure) -> bool:
    """Tell whether a mistake costs more in a small class than in a large one.

    Examples
    --------
    >>> from metaeval import measure
    >>> handles_imbalance(measure("MAE_M")), handles_imbalance(measure("MAE_mu"))
    (True, False)
    """
    counts = np.array([np.diag([8, 40, 8])] * 2)
    counts[0, 0] = [7, 1, 0]  # an item of the small first class taken for the second
    counts[1, 1] = [1, 39, 0]  # an item of the large second class taken for the first
    small, large = _better(one, np.asarray(one.score(counts), dtype=float))
    return bool(small < large - 1e-9)


def is_symmetric(one: metaeval.Measure) -> bool:
    """Tell whether exchanging gold and estimate leaves the score as it is, tried on distributions with empty classes.

    Examples
    --------
    >>> from metaeval import measure
    >>> is_symmetric(measure("RNOD")), is_symmetric(measure("RSNOD"))
    (False, True)
    """
    p = np.array([[0.5, 0.5, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0], [0, 0, 0, 0, 1.0]])
    q = np.array([[0.2, 0.2, 0.2, 0.2, 0.2], [0, 0, 0.5, 0.25, 0.25], [0.7, 0, 0.3, 0, 0]])
    return bool(np.allclose(one.score(p, q), one.score(q, p), atol=1e-12))


def _better(one: metaeval.Measure, scores: np.ndarray) -> np.ndarray:
    return scores if one.higher_is_better else -scores
