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
    """Return every distribution of indistinguishable items over cells, shape (way, cell)."""
    cells = np.array(list(itertools.combinations_with_replacement(range(n_cells), n_items)), dtype=np.int64)
    offset = np.arange(len(cells))[:, np.newaxis] * n_cells
    return np.bincount((cells + offset).ravel(), minlength=len(cells) * n_cells).reshape(len(cells), n_cells)


def all_matrices(n_items: int, n_classes: int) -> Counts:
    """Return every confusion matrix with this number of items and classes, shape (matrix, K, K)."""
    return all_counts(n_items, n_classes**2).reshape(-1, n_classes, n_classes)


def draw_matrices(rng: np.random.Generator, n_matrices: int, n_items: int, n_classes: int) -> Counts:
    """Draw confusion matrices of very different quality, shape (matrix, K, K)."""
    shares = rng.dirichlet(np.full(n_classes**2, 0.3), size=n_matrices).reshape(-1, n_classes, n_classes)
    right = rng.dirichlet(np.ones(n_classes), size=n_matrices)[:, :, np.newaxis] * np.eye(n_classes)
    part = rng.random(n_matrices)[:, np.newaxis, np.newaxis]
    mixed = (part * right + (1 - part) * shares).reshape(n_matrices, -1)
    return rng.multinomial(n_items, mixed).reshape(-1, n_classes, n_classes)


def no_empty_gold(counts: Counts) -> Counts:
    """Keep the matrices in which every class has gold items."""
    return counts[(counts.sum(axis=2) > 0).all(axis=1)]


def stretch_scale(counts: Counts) -> tuple[Counts, Counts]:
    """Return pairs of matrices, shape (case, K, K), that differ only in where their unused classes are (Property 1).

    In the first matrix the classes that neither gold nor run uses are at the end of the scale; in the second they lie
    between used classes, as after a strictly increasing function of the classes. Both have the same number of classes,
    so a normalisation by that number has no effect.
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

    Both items are predicted in the class between the two classes. `gold`, shape (gold, K), counts the items of each class.
    """
    n_classes = gold.shape[1]
    large = [np.empty((0, n_classes, n_classes), dtype=np.int64)]
    small = list(large)
    for middle, side in itertools.product(range(1, n_classes - 1), (-1, 1)):
        one, three = middle + side, middle - side
        there = gold[(gold[:, one] > gold[:, three]) & (gold[:, three] > 0)]
        large.append(_misplace(there, one, middle))
        small.append(_misplace(there, three, middle))
    return np.concatenate(large), np.concatenate(small)


def _misplace(gold: Counts, source: int, predicted: int) -> Counts:
    """Return runs that are right but for one item of a class, which is predicted as another."""
    counts: Counts = gold[:, :, np.newaxis] * np.eye(gold.shape[1], dtype=np.int64)
    counts[:, source, source] -= 1
    counts[:, source, predicted] += 1
    return counts


def swap_roles(counts: Counts) -> tuple[Counts, Counts]:
    """Return matrices, and the same with prediction and gold swapped; of two that are each other's swap, one case.

    Matrices that the swap leaves as they are would show nothing and are left out.
    """
    turned = counts.swapaxes(1, 2)
    gaps = (counts - turned).reshape(len(counts), -1)
    first = np.take_along_axis(gaps, np.argmax(gaps != 0, axis=1)[:, np.newaxis], axis=1)[:, 0]
    return counts[first > 0], turned[first > 0]


def make_one_mistake(gold: Counts) -> tuple[Counts, Counts]:
    """Return runs that are right but for one item, and the same with that item in a more distant class on the same side."""
    wrong = [(gold[gold[:, g] > 0], g, *both) for g, *both in list_wrong_classes(gold.shape[1])]
    near = [_misplace(there, g, nearer) for there, g, nearer, _ in wrong]
    far = [_misplace(there, g, farther) for there, g, _, farther in wrong]
    return np.concatenate(near), np.concatenate(far)


def make_constant_runs(gold: Counts) -> Counts:
    """Return, for every gold whose classes are not all of one size, the runs that always return one class.

    ``[c, p]``, of shape (K, K), holds the counts of the run that returns class p for every item.
    """
    unlike = gold[np.ptp(gold, axis=1) > 0]
    n_classes = gold.shape[1]
    counts = np.zeros((len(unlike), n_classes, n_classes, n_classes), dtype=np.int64)
    for p in range(n_classes):
        counts[:, p, :, p] = unlike
    return counts


def list_wrong_classes(n_classes: int) -> npt.NDArray[np.int64]:
    """Return every gold class with every two other classes on the same side of it: columns gold, nearer, farther."""
    found = [
        (gold, nearer, farther)
        for gold in range(n_classes)
        for side in (range(gold + 1, n_classes), range(gold - 1, -1, -1))
        for nearer, farther in itertools.combinations(side, 2)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def make_even_gold(n_classes: int, share: float) -> Shares:
    """Return distributions, shape (K, K), whose row k gives class k a share, and the others equal shares of the rest."""
    rest = (1 - share) / (n_classes - 1)
    return np.where(np.eye(n_classes) > 0, share, rest)


def draw_majority_gold(rng: np.random.Generator, n_gold: int, n_classes: int) -> Shares:
    """Draw distributions, shape (gold, K, K), that give class k from 55 to 95 %, and the others random shares of the rest."""
    share = rng.uniform(0.55, 0.95, size=(n_gold, 1))
    rest = (1 - share) * rng.dirichlet(np.ones(n_classes - 1), size=n_gold)
    gold = np.empty((n_gold, n_classes, n_classes))
    for k in range(n_classes):
        gold[:, k] = np.insert(rest, [k], share, axis=1)
    return gold


def make_one_class_estimates(gold: Shares) -> tuple[Shares, Shares]:
    """Return two estimates that are all in one wrong class, the nearer first, and their gold, shapes (case, 2, K).

    `gold`, shape (..., K, K), favours class k in ``[..., k, :]``.
    """
    n_classes = gold.shape[-1]
    wrong = list_wrong_classes(n_classes)
    favoured = gold.reshape(-1, n_classes, n_classes)[:, wrong[:, 0]]
    shape = (*favoured.shape[:2], 2, n_classes)
    estimated = np.broadcast_to(np.eye(n_classes)[wrong[:, 1:]], shape)
    there = np.broadcast_to(favoured[:, :, np.newaxis], shape)
    return estimated.reshape(-1, 2, n_classes), there.reshape(-1, 2, n_classes)


def swap_shares(one: Shares, two: Shares) -> tuple[Shares, Shares]:
    """Return pairs of distributions as estimate and gold, and with the two swapped, shapes (case, 2, K)."""
    return np.stack([one, two], axis=1), np.stack([two, one], axis=1)
