"""Confusion matrices and distributions that a formal property of measures compares (Amigó et al. 2020, §4.1).

Items in the same cell of a confusion matrix are exchangeable, so all matrices of N items represent all pairs of a run
and a gold with N items.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]


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


def draw_matrices(rng: np.random.Generator, n_matrices: int, n_items: int, n_classes: int) -> Counts:
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


def stretch_scale(counts: Counts) -> tuple[Counts, Counts]:
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
    >>> before, after = stretch_scale(np.array([[[1, 0, 0], [0, 0, 0], [0, 0, 1]]]))
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


def swap_roles(counts: Counts) -> tuple[Counts, Counts]:
    """Return matrices, and the same with prediction and gold swapped; of two that are each other's swap, one case.

    Parameters
    ----------
    counts : ndarray of int64, shape (matrix, K, K)

    Returns
    -------
    given, swapped : ndarray of int64, shape (case, K, K)
        Matrices that the swap leaves as they are would show nothing and are left out.

    Examples
    --------
    >>> given, swapped = swap_roles(np.array([[[1, 2], [0, 3]], [[1, 0], [2, 3]], [[1, 0], [0, 1]]]))
    >>> given.tolist(), swapped.tolist()
    ([[[1, 2], [0, 3]]], [[[1, 0], [2, 3]]])
    """
    turned = counts.swapaxes(1, 2)
    gaps = (counts - turned).reshape(len(counts), -1)
    first = np.take_along_axis(gaps, np.argmax(gaps != 0, axis=1)[:, np.newaxis], axis=1)[:, 0]
    return counts[first > 0], turned[first > 0]


def make_one_mistake(gold: Counts) -> tuple[Counts, Counts]:
    """Return runs that are right but for one item, and the same with that item in a more distant class.

    Parameters
    ----------
    gold : ndarray of int64, shape (gold, K)
        Items of every gold class.

    Returns
    -------
    near, far : ndarray of int64, shape (case, K, K)
        Both wrong classes are on the same side of the gold class.

    Examples
    --------
    >>> near, far = make_one_mistake(np.array([[2, 1, 0]]))
    >>> near.tolist(), far.tolist()
    ([[[1, 1, 0], [0, 1, 0], [0, 0, 0]]], [[[1, 0, 1], [0, 1, 0], [0, 0, 0]]])
    """
    n_classes = gold.shape[1]
    near: list[Counts] = []
    far: list[Counts] = []
    for g, nearer, farther in list_wrong_classes(n_classes):
        right = gold[gold[:, g] > 0][:, :, np.newaxis] * np.eye(n_classes, dtype=np.int64)
        for p, found in ((nearer, near), (farther, far)):
            moved = right.copy()
            moved[:, g, g] -= 1
            moved[:, g, p] += 1
            found.append(moved)
    return np.concatenate(near), np.concatenate(far)


def make_constant_runs(gold: Counts) -> Counts:
    """Return, for every gold whose classes are not all of one size, the runs that always return one class.

    Parameters
    ----------
    gold : ndarray of int64, shape (gold, K)
        Items of every gold class.

    Returns
    -------
    ndarray of int64, shape (case, K, K, K)
        ``[c, p]`` holds the counts of the run that returns class p for every item.

    Examples
    --------
    >>> make_constant_runs(np.array([[2, 1], [1, 1]])).tolist()
    [[[[2, 0], [1, 0]], [[0, 2], [0, 1]]]]
    """
    unlike = gold[np.ptp(gold, axis=1) > 0]
    n_classes = gold.shape[1]
    counts = np.zeros((len(unlike), n_classes, n_classes, n_classes), dtype=np.int64)
    for p in range(n_classes):
        counts[:, p, :, p] = unlike
    return counts


def list_wrong_classes(n_classes: int) -> npt.NDArray[np.int64]:
    """Return every gold class with every two other classes on the same side of it, the nearer one first.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    ndarray of int64, shape (case, 3)
        Columns gold, nearer, farther.

    Examples
    --------
    >>> list_wrong_classes(3).tolist()
    [[0, 1, 2], [2, 1, 0]]
    """
    found = [
        (gold, nearer, farther)
        for gold in range(n_classes)
        for side in (range(gold + 1, n_classes), range(gold - 1, -1, -1))
        for nearer, farther in itertools.combinations(side, 2)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def make_even_gold(n_classes: int, share: float) -> Shares:
    """Return distributions that give one class a share, and the other classes equal shares of the rest.

    Parameters
    ----------
    n_classes : int
    share : float

    Returns
    -------
    ndarray, shape (K, K)
        Row k favours class k.

    Examples
    --------
    >>> make_even_gold(3, 0.5).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """
    rest = (1 - share) / (n_classes - 1)
    return np.where(np.eye(n_classes) > 0, share, rest)


def draw_majority_gold(rng: np.random.Generator, n_gold: int, n_classes: int) -> Shares:
    """Draw distributions that give class k from 55 to 95 %, and the other classes random shares of the rest.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_gold, n_classes : int

    Returns
    -------
    ndarray, shape (gold, K, K)
        ``[g, k]`` favours class k.
    """
    share = rng.uniform(0.55, 0.95, size=(n_gold, 1))
    rest = (1 - share) * rng.dirichlet(np.ones(n_classes - 1), size=n_gold)
    gold = np.empty((n_gold, n_classes, n_classes))
    for k in range(n_classes):
        gold[:, k] = np.insert(rest, [k], share, axis=1)
    return gold


def make_one_class_estimates(gold: Shares) -> tuple[Shares, Shares]:
    """Return, for golds that favour one class each, two estimates that are all in one wrong class.

    Parameters
    ----------
    gold : ndarray, shape (..., K, K)
        ``[..., k, :]`` favours class k.

    Returns
    -------
    estimated, gold : ndarray, shape (case, 2, K)
        The first estimate is in the class nearer to the favoured one; both have the same gold.

    Examples
    --------
    >>> estimated, gold = make_one_class_estimates(make_even_gold(3, 0.5))
    >>> estimated.tolist()[0], gold.tolist()[0]
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
    """
    n_classes = gold.shape[-1]
    wrong = list_wrong_classes(n_classes)
    favoured = gold.reshape(-1, n_classes, n_classes)[:, wrong[:, 0]]
    shape = (*favoured.shape[:2], 2, n_classes)
    estimated = np.broadcast_to(np.eye(n_classes)[wrong[:, 1:]], shape)
    there = np.broadcast_to(favoured[:, :, np.newaxis], shape)
    return estimated.reshape(-1, 2, n_classes), there.reshape(-1, 2, n_classes)


def swap_shares(one: Shares, two: Shares) -> tuple[Shares, Shares]:
    """Return pairs of distributions as estimate and gold, and with the two swapped.

    Parameters
    ----------
    one, two : ndarray, shape (case, K)

    Returns
    -------
    estimated, gold : ndarray, shape (case, 2, K)
    """
    return np.stack([one, two], axis=1), np.stack([two, one], axis=1)
