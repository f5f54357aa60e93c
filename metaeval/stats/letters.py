"""The compact letter display: groups that share a letter do not differ significantly.

Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons", Journal of
Computational and Graphical Statistics 13(2): insert and absorb, then sweep.
"""

from __future__ import annotations

import string

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError


def letter_groups(different: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which groups share which letters?

    Parameters
    ----------
    different : array_like of bool, shape (group, group)
        Symmetric; `different[i, j]` says whether groups i and j differ significantly.

    Returns
    -------
    ndarray of bool, shape (group, letter)
        Two groups share a letter if and only if they do not differ. Letters are ordered by the first group that
        has them.

    Raises
    ------
    MetaevalError
        If the matrix is not square and symmetric, or a group differs from itself.

    Examples
    --------
    >>> letter_groups([[0, 0, 1], [0, 0, 0], [1, 0, 0]]).astype(int)
    array([[1, 0],
           [1, 1],
           [0, 1]])
    """
    differs = np.asarray(different).astype(bool)
    if differs.ndim != 2 or differs.shape[0] != differs.shape[1] or not (differs == differs.T).all():
        raise MetaevalError("Significant differences must be a square, symmetric matrix.")
    if differs.diagonal().any():
        raise MetaevalError("A group cannot differ from itself.")
    n_groups = len(differs)
    if n_groups == 0:
        return np.zeros((0, 0), dtype=bool)
    letters = [frozenset(range(n_groups))]
    for one, two in zip(*np.nonzero(np.triu(differs)), strict=True):
        letters = _separate(letters, int(one), int(two))
    table = _sweep(np.array([[group in letter for letter in letters] for group in range(n_groups)]))
    # Sorting by the negated columns puts the letter of the first group first, and so on.
    order = sorted(range(table.shape[1]), key=lambda letter: tuple(~table[:, letter]))
    return table[:, order]


def compact_letters(different: npt.ArrayLike) -> list[str]:
    """Return the letters of each group.

    Parameters
    ----------
    different : array_like of bool, shape (group, group)
        As in `letter_groups`, with the groups in the order in which they will be shown, such as by descending mean.

    Returns
    -------
    list of str
        The letters of each group: a to z, then A to Z, then a2, b2 and so on.

    Raises
    ------
    MetaevalError
        As `letter_groups`.

    Examples
    --------
    >>> compact_letters([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    ['a', 'ab', 'b']
    """
    table = letter_groups(different)
    alphabet = string.ascii_letters
    names = []
    for letter in range(table.shape[1]):
        cycle, place = divmod(letter, len(alphabet))
        names.append(alphabet[place] + (str(cycle + 1) if cycle else ""))
    return ["".join(name for name, has in zip(names, row, strict=True) if has) for row in table]


def _separate(letters: list[frozenset[int]], one: int, two: int) -> list[frozenset[int]]:
    """Split each letter that both groups share into two (insert), and drop those contained in another (absorb)."""
    kept = [letter for letter in letters if not (one in letter and two in letter)]
    halves = [letter - {gone} for letter in letters if one in letter and two in letter for gone in (one, two)]
    # Only the halves can be contained in another letter: the letters kept were not contained in larger ones
    # before.
    for half in sorted(set(halves), key=lambda letter: (-len(letter), sorted(letter))):
        if not any(half <= letter for letter in kept):
            kept.append(half)
    return kept


def _sweep(table: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Remove a letter from a group if the group, and each pair that the letter joins, also share another letter (sweep)."""
    swept = table.copy()
    shared = swept.astype(np.int64) @ swept.T.astype(np.int64)
    for letter in range(swept.shape[1]):
        for group in np.flatnonzero(swept[:, letter]):
            members = np.flatnonzero(swept[:, letter])
            if (shared[group, members] >= 2).all():
                swept[group, letter] = False
                shared[group, members] -= 1
                shared[members, group] = shared[group, members]
    return swept[:, swept.any(axis=0)]
