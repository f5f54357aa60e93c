"""The words of Tables 4 and 7 from numbers, printed or computed, by the rules of `metaeval.analyses.grades`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from metaeval.analyses.grades import grade, group_measures, rate_consistency


def name_groups(tau: np.ndarray, order: Sequence[str], bound: float, names: Mapping[str, str]) -> dict[str, str]:
    """Return the group of every measure under the paper's names of groups.

    Parameters
    ----------
    tau : ndarray, shape (measure, measure)
        The mean τ over collections.
    order : sequence of str
        The measures.
    bound : float
        The least mean τ between two groups that are joined.
    names : mapping of str to str
        What the ``largest`` group, the ``second`` (any other of two or more) and a measure ``alone`` are called.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> tau = np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
    >>> name_groups(tau, ["a", "b", "c"], 0.8, {"largest": "Y", "second": "X", "alone": "X"})
    {'a': 'Y', 'b': 'Y', 'c': 'X'}
    """
    letters = group_measures(tau, bound)
    sizes = Counter(letters)

    def name_group(letter: str) -> str:
        return names["alone"] if sizes[letter] == 1 else names["largest" if letter == "A" else "second"]

    return {measure: name_group(letter) for measure, letter in zip(order, letters, strict=True)}


def grade_printed_consistency(parts: Sequence[Mapping[str, Sequence[float]]], order: Sequence[str]) -> dict[str, str]:
    """Return good, fair or poor for every measure from printed mean τ's and marks.

    Parameters
    ----------
    parts : sequence of mapping of str to (mean τ, k)
        One for every collection and split; k: the measure significantly outperforms the worst k measures.
    order : sequence of str
        The measures.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> grade_printed_consistency([{"a": (0.9, 2), "b": (0.8, 0), "c": (0.7, 0)}], ["a", "b", "c"])
    {'a': 'good', 'b': 'poor', 'c': 'poor'}
    """
    relations = []
    for part in parts:
        worst_first = sorted(order, key=lambda name: part[name][0])
        beaten = {name: set(worst_first[: int(part[name][1])]) for name in order}
        relations.append([[other in beaten[name] for other in order] for name in order])
    return {name: grade(net) for name, net in zip(order, rate_consistency(relations).tolist(), strict=True)}
