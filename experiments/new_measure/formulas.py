"""What follows from the formulas alone: order, largest value, symmetry. Computed over all cases, nothing is sampled."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

import metaeval

SLIVER = 1e-9
"""A share as good as none that still makes its class a gold class: what formulas do just before a class is empty."""

FAVOURED = 0.6
"""Share of the one frequent class where every class has some gold; the others have equal shares of the rest."""

SAME = 1e-9
CLASSES = (2, 3, 5, 7)


def list_steps(n_classes: int) -> Iterator[tuple[int, int, int]]:
    """Yield (gold, nearer, farther): every two classes on the same side of every gold class.

    Parameters
    ----------
    n_classes : int

    Yields
    ------
    (int, int, int)

    Examples
    --------
    >>> list(list_steps(3))
    [(0, 1, 2), (2, 1, 0)]
    """
    for gold in range(n_classes):
        for side in (range(gold - 1, -1, -1), range(gold + 1, n_classes)):
            for nearer, farther in itertools.combinations(side, 2):
                yield gold, nearer, farther


def favour_class(gold: int, n_classes: int, share: float) -> np.ndarray:
    """Return the distribution that gives one class a share and the others equal parts of the rest.

    Parameters
    ----------
    gold, n_classes : int
    share : float

    Returns
    -------
    ndarray, shape (class,)

    Examples
    --------
    >>> favour_class(0, 3, 0.5).tolist()
    [0.5, 0.25, 0.25]
    """
    rest = np.full(n_classes, (1 - share) / (n_classes - 1))
    rest[gold] = share
    return rest


def count_misorders(measure: metaeval.Measure, n_classes: int, share: float) -> tuple[int, int]:
    """How often is a run that answers the farther class scored better than one that answers the nearer, or the same?

    Parameters
    ----------
    measure : Measure
        Of which lower is better.
    n_classes : int
    share : float
        Gold share of the gold class, as in `favour_class`; 1: the other classes are empty.

    Returns
    -------
    (int, int)
        Out of all `list_steps`.

    Examples
    --------
    >>> count_misorders(metaeval.measure("NMD"), 5, 1.0), count_misorders(metaeval.measure("NVD"), 5, 1.0)
    ((0, 0), (0, 20))
    """
    one_class = np.eye(n_classes)
    gaps = np.array(
        [
            np.diff(measure.score(one_class[[nearer, farther]], favour_class(gold, n_classes, share)))[0]
            for gold, nearer, farther in list_steps(n_classes)
        ]
    )
    return int((gaps < -SAME).sum()), int((np.abs(gaps) <= SAME).sum())


def list_extremes(n_classes: int) -> np.ndarray:
    """Return distributions at the corners of what there is: each set of classes evenly, or one class and slivers.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    ndarray, shape (distribution, class)

    Examples
    --------
    >>> list_extremes(2).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]
    """
    found = []
    for n in range(1, n_classes + 1):
        for chosen in itertools.combinations(range(n_classes), n):
            even = np.zeros(n_classes)
            even[list(chosen)] = 1 / n
            found.append(even)
            for heavy in chosen if n > 1 else ():
                sliver = np.where(even > 0, SLIVER, 0.0)
                sliver[heavy] = 1 - (n - 1) * SLIVER
                found.append(sliver)
    return np.array(found)


def find_largest(measure: metaeval.Measure, n_classes: int) -> float:
    """Return the largest score between any two of the `list_extremes`.

    Parameters
    ----------
    measure : Measure
    n_classes : int

    Returns
    -------
    float

    Examples
    --------
    >>> round(find_largest(metaeval.measure("RNOD(distance=gold)"), 2), 6)   # 1/√2: two classes are half a topic apart
    0.707107
    """
    corners = list_extremes(n_classes)
    return float(measure.score(corners[:, None], corners).max())


def measure_asymmetry(measure: metaeval.Measure, n_classes: int) -> float:
    """Return by how much a score changes at most when two of the `list_extremes` are exchanged.

    Parameters
    ----------
    measure : Measure
    n_classes : int

    Returns
    -------
    float

    Examples
    --------
    >>> measure_asymmetry(metaeval.measure("NMD"), 5)
    0.0
    """
    corners = list_extremes(n_classes)
    there = measure.score(corners[:, None], corners)
    return float(np.abs(there - there.T).max())


def tabulate_order(names: list[str], n_classes: int = 5) -> metaeval.Table:
    """Show how often each measure scores the farther class better than the nearer one, or the same.

    Parameters
    ----------
    names : list of str
        Measures.
    n_classes : int, optional

    Returns
    -------
    Table
    """
    golds = {"all gold in one class": 1.0, f"{FAVOURED:g} in one class, the rest even": FAVOURED}
    columns = pd.MultiIndex.from_product([list(golds), ["farther better", "same"]])
    rows = [
        [n for share in golds.values() for n in count_misorders(metaeval.measure(name), n_classes, share)]
        for name in names
    ]
    frame = pd.DataFrame(rows, index=pd.Index(names, name="measure"), columns=columns)
    total = sum(1 for _ in list_steps(n_classes))
    caption = (
        f"Does a measure know the order? {n_classes} classes, {total} comparisons of two runs: both put everything "
        "into one class, on the same side of the gold class, one of them farther away. How often the farther one is "
        "scored better, and how often the same. A measure for ordered classes has zeros."
    )
    return metaeval.Table(frame, caption, _signature(f"{n_classes} classes, all {total} cases"))


def tabulate_one_class(names: list[str], n_classes: int = 5) -> metaeval.Table:
    """Show what runs that answer one class score when the gold is in the first class.

    Parameters
    ----------
    names : list of str
        Measures.
    n_classes : int, optional

    Returns
    -------
    Table
    """
    golds = {"all gold in class 1": 1.0, f"{FAVOURED:g} in class 1, the rest even": FAVOURED}
    columns = pd.MultiIndex.from_product([list(golds), [f"run: {k + 1}" for k in range(n_classes)]])
    scores = [
        np.concatenate(
            [
                metaeval.measure(name).score(np.eye(n_classes), favour_class(0, n_classes, share))
                for share in golds.values()
            ]
        )
        for name in names
    ]
    frame = pd.DataFrame(scores, index=pd.Index(names, name="measure"), columns=columns)
    caption = (
        "What a run scores that puts everything into one class (lower is better); in bold where a nearer class "
        "scores worse."
    )
    return metaeval.Table(frame, caption, _signature(f"{n_classes} classes"), marks=lambda f: _passed(f, n_classes))


def _passed(frame: pd.DataFrame, n_classes: int) -> pd.DataFrame:
    """Mark scores that a nearer class exceeds."""
    values = frame.to_numpy(dtype=float).reshape(len(frame), -1, n_classes)
    worst_before = np.maximum.accumulate(values, axis=-1)
    words = np.where(values < worst_before - SAME, "bold", "").reshape(len(frame), -1)
    return pd.DataFrame(words, index=frame.index, columns=frame.columns)


def tabulate_limits(names: list[str]) -> metaeval.Table:
    """Show the largest value and the asymmetry of every measure.

    Parameters
    ----------
    names : list of str
        Measures.

    Returns
    -------
    Table
    """
    measures = [metaeval.measure(name) for name in names]
    columns: dict[object, list[float]] = {
        ("largest value", f"K = {k}"): [find_largest(one, k) for one in measures] for k in CLASSES
    }
    columns["asymmetry", "K = 5"] = [measure_asymmetry(one, 5) for one in measures]
    frame = pd.DataFrame(columns, index=pd.Index(names, name="measure"))
    caption = (
        "The largest value, and the largest change when estimate and gold are exchanged, among all distributions that "
        f"are even on some classes or have one class and slivers ({SLIVER:g}) of others; above 1 in bold."
    )

    def marks(shown: pd.DataFrame) -> pd.DataFrame:
        return shown.map(lambda value: "bold" if value > 1 + SAME else "")

    return metaeval.Table(frame, caption, _signature(f"K = {', '.join(map(str, CLASSES))}"), digits=4, marks=marks)


def _signature(what: str) -> str:
    return f"new_measure, formulas | {what} | nothing random | metaeval {metaeval.__version__}"
