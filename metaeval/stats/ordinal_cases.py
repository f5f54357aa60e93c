"""Pairs of confusion matrices that a formal property of ordinal measures compares (Amigó et al. 2020, §4.1).

Items in one cell of a confusion matrix are exchangeable, so that all matrices of N items stand for all pairs of a run
and a gold of N items.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def all_counts(n_items: int, n_cells: int) -> Counts:
    """Return every way of putting items that cannot be told apart into cells.

    Parameters
    ----------
    n_items, n_cells : int

    Returns
    -------
    ndarray of int64, shape (way, cell)

    Examples
    --------
    >>> all_counts(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    cells = np.array(list(itertools.combinations_with_replacement(range(n_cells), n_items)), dtype=np.int64)
    offset = np.arange(len(cells))[:, np.newaxis] * n_cells
    return np.bincount((cells + offset).ravel(), minlength=len(cells) * n_cells).reshape(len(cells), n_cells)


def all_matrices(n_items: int, n_classes: int) -> Counts:
    """Return every confusion matrix of so many items and classes, shape (matrix, K, K)."""
    return all_counts(n_items, n_classes**2).reshape(-1, n_classes, n_classes)


def random_matrices(rng: np.random.Generator, n_matrices: int, n_items: int, n_classes: int) -> Counts:
    """Draw confusion matrices, some nearly perfect and some far from it, shape (matrix, K, K).

    Parameters
    ----------
    rng : numpy.random.Generator
    n_matrices, n_items, n_classes : int

    Returns
    -------
    ndarray of int64, shape (matrix, K, K)
    """
    shares = rng.dirichlet(np.full(n_classes**2, 0.3), size=n_matrices).reshape(-1, n_classes, n_classes)
    right = rng.dirichlet(np.ones(n_classes), size=n_matrices)[:, :, np.newaxis] * np.eye(n_classes)
    part = rng.random(n_matrices)[:, np.newaxis, np.newaxis]
    mixed = (part * right + (1 - part) * shares).reshape(n_matrices, -1)
    return rng.multinomial(n_items, mixed).reshape(-1, n_classes, n_classes)


def no_empty_gold(counts: Counts) -> Counts:
    """Keep the matrices in which every class has gold items."""
    return counts[(counts.sum(axis=2) > 0).all(axis=1)]


def stretched(counts: Counts) -> tuple[Counts, Counts]:
    """Return matrices with classes that neither gold nor run uses, and the same with those classes moved to the end.

    The second is the first before a strictly increasing function of the classes stretched it (Property 1). Both have
    the same number of classes, so that no normalisation by it plays a part.

    Parameters
    ----------
    counts : ndarray of int64, shape (matrix, K, K)

    Returns
    -------
    before, after : ndarray of int64, shape (case, K, K)

    Examples
    --------
    >>> before, after = stretched(np.array([[[1, 0, 0], [0, 0, 0], [0, 0, 1]]]))
    >>> before[0].tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    """
    unused = (counts.sum(axis=1) == 0) & (counts.sum(axis=2) == 0)
    order = np.argsort(unused, axis=1, kind="stable")
    before = np.take_along_axis(np.take_along_axis(counts, order[:, :, np.newaxis], 1), order[:, np.newaxis, :], 2)
    moved = (before != counts).any(axis=(1, 2))
    return before[moved], counts[moved]


def one_step_closer(counts: Counts) -> tuple[Counts, Counts]:
    """Return matrices with a mistake, and the same with one item one class nearer to its gold class.

    Every improvement that Property 2 speaks of is a chain of such steps, so that a measure that rises with each of
    them satisfies it.

    Parameters
    ----------
    counts : ndarray of int64, shape (matrix, K, K)

    Returns
    -------
    far, near : ndarray of int64, shape (case, K, K)

    Examples
    --------
    >>> far, near = one_step_closer(np.array([[[0, 0, 1], [0, 0, 0], [0, 0, 0]]]))
    >>> near.tolist()
    [[[0, 1, 0], [0, 0, 0], [0, 0, 0]]]
    """
    far, near = [], []
    n_classes = counts.shape[1]
    for g, p in itertools.permutations(range(n_classes), 2):
        there = counts[counts[:, g, p] > 0]
        moved = there.copy()
        moved[:, g, p] -= 1
        moved[:, g, p + (1 if p < g else -1)] += 1
        far.append(there)
        near.append(moved)
    return np.concatenate(far), np.concatenate(near)


def misplaced_in_the_middle(gold: Counts) -> tuple[Counts, Counts]:
    """Return runs that are right but for one item of a large class, and the same for a small class next but one.

    Both items go into the class between the two (Property 3).

    Parameters
    ----------
    gold : ndarray of int64, shape (gold, K)
        Items of every gold class.

    Returns
    -------
    large, small : ndarray of int64, shape (case, K, K)
        The item is from the larger class, or from the smaller one.

    Examples
    --------
    >>> large, small = misplaced_in_the_middle(np.array([[2, 1, 1]]))
    >>> large.tolist(), small.tolist()
    ([[[1, 1, 0], [0, 1, 0], [0, 0, 1]]], [[[2, 0, 0], [0, 1, 0], [0, 1, 0]]])
    """
    n_classes = gold.shape[1]
    large, small = (
        [np.empty((0, n_classes, n_classes), dtype=np.int64)],
        [np.empty((0, n_classes, n_classes), dtype=np.int64)],
    )
    for middle, side in itertools.product(range(1, n_classes - 1), (-1, 1)):
        one, three = middle + side, middle - side
        there = gold[(gold[:, one] > gold[:, three]) & (gold[:, three] > 0)]
        right = there[:, :, np.newaxis] * np.eye(n_classes, dtype=np.int64)
        for source, found in ((one, large), (three, small)):
            moved = right.copy()
            moved[:, source, source] -= 1
            moved[:, source, middle] += 1
            found.append(moved)
    return np.concatenate(large), np.concatenate(small)
