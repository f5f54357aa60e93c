"""Pairs of confusion matrices that a formal property of ordinal measures compares (Amigó et al. 2020, §4.1).

Items in the same cell of a confusion matrix are exchangeable, so all matrices of N items represent all pairs of a run
and a gold with N items.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def all_counts(n_items: int, n_cells: int) -> Counts:
    """Return every distribution of indistinguishable items over cells.

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
    """Return every confusion matrix with this number of items and classes, shape (matrix, K, K)."""
    return all_counts(n_items, n_classes**2).reshape(-1, n_classes, n_classes)


def random_matrices(rng: np.random.Generator, n_matrices: int, n_items: int, n_classes: int) -> Counts:
    """Draw confusion matrices of very different quality, shape (matrix, K, K).

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
    """Return pairs of matrices that differ only in the position of their unused classes (Property 1).

    In the first matrix the classes that neither gold nor run uses are at the end of the scale; in the second they lie
    between used classes, as after a strictly increasing function of the classes. Both have the same number of classes,
    so a normalisation by that number has no effect.

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
    """Return matrices with an error, and the same with one item predicted one class closer to its gold class.

    Every improvement of Property 2 is a chain of such steps, so a measure that increases with each step has the
    property.

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
    """Return runs that are correct except for one item of a larger class, and the same for a smaller class (Property 3).

    Both items are predicted in the class between the two classes.

    Parameters
    ----------
    gold : ndarray of int64, shape (gold, K)
        Number of items in each gold class.

    Returns
    -------
    large, small : ndarray of int64, shape (case, K, K)
        The wrong item is from the larger class, or from the smaller class.

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
