"""What differs significantly, shown: letters that runs share, the ranks between which they stand, clusters of measures.

*Letters* are the compact letter display: groups that share one do not differ. Piepho (2004), "An algorithm for a
letter-based representation of all-pairwise comparisons", Journal of Computational and Graphical Statistics 13(2). His
insertion and absorption leave every largest set of groups no two of which differ; here these sets grow group by group.

*Clusters* rest on tests that exchange two measures at random: if both were equally good, that would change nothing.
PERM-BOTH (Deutsch, Dror and Roth, "A statistical analysis of summarization evaluation metrics", TACL 2021) standardises
both, exchanges them in each cell with probability ½, and counts how often the difference between the two mixtures is at
least as large as that observed. The draws are the same for all pairs of measures.
"""

from __future__ import annotations

import string

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.arrays import FloatArray, IntArray, round_scaled

MOST_SETS = 5_000  # letters beyond which a display says nothing to anybody, and takes long
ROUNDING = 1e-11  # two differences that are this close are equal: one has as many trials on either side


def letter_groups(different: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which groups share which letters, (group, letter), exactly if they do not differ? Letters are ordered by first group."""
    differs = np.asarray(different).astype(bool)
    if not len(differs):
        return np.zeros((0, 0), dtype=bool)
    table = _find_largest_sets(differs)
    # His sweep removes a letter from a group if the group, and each pair that the letter joins, also share another one. A group
    # that shares only this letter with another keeps it, and so does the other: no removal makes a further one possible.
    shared = (table.astype(np.float32) @ table.T.astype(np.float32)).astype(np.int16)
    for column in table.T:
        members = np.flatnonzero(column)
        needed = ((shared[members] == 1) & column).any(axis=1)
        stay, removed = members[needed], members[~needed]
        shared[removed] -= column
        shared[np.ix_(stay, removed)] -= 1
        column[removed] = False
    table = table[:, table.any(axis=0)]
    # Sorting by the negated columns puts the letter of the first group first, and so on.
    order = sorted(range(table.shape[1]), key=lambda letter: tuple(~table[:, letter]))
    return table[:, order]


def compact_letters(different: npt.ArrayLike) -> list[str]:
    """Return the letters of each group, in the order in which they will be shown: a to z, A to Z, a2, b2 and so on."""
    table, alphabet = letter_groups(different), string.ascii_letters
    cycles = [divmod(letter, len(alphabet)) for letter in range(table.shape[1])]
    names = [f"{alphabet[position]}{cycle + 1 if cycle else ''}" for cycle, position in cycles]
    return ["".join(name for name, has in zip(names, row, strict=True) if has) for row in table]


def _find_largest_sets(differs: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return every set of groups no two of which differ that cannot be made larger, shape (group, set)."""
    # A set is the bits of a whole number. The next group joins the sets that it fits into whole; with those of another set
    # that fit, it makes a new one.
    sets: list[int] = []
    groups = np.arange(len(differs))
    for group, row in enumerate(differs):
        alike = int.from_bytes(np.packbits(~row & (groups < group), bitorder="little").tobytes(), "little")
        parts = sorted({alike & members for members in sets} or {0}, key=int.bit_count, reverse=True)
        largest: list[int] = []
        for part in parts:
            if not any(part & ~other == 0 for other in largest):
                largest.append(part)
        sets = [members for members in sets if members & ~alike] + [part | 1 << group for part in largest]
        if len(sets) > MOST_SETS:
            raise MetaevalError(
                f"It takes more than {MOST_SETS:,} letters to say which of {len(differs):,} do not differ."
            )
    n_bytes = (len(differs) + 7) // 8
    packed = np.frombuffer(b"".join(members.to_bytes(n_bytes, "little") for members in sets), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(-1, n_bytes), axis=1, count=len(differs), bitorder="little")
    return np.ascontiguousarray(bits.T).astype(bool)


def rank_intervals(better: npt.NDArray[np.bool_], significant: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return the rank of every run by its mean, and the first and last that significant differences leave, shape (run, 2).

    ``better[i, j]``: run i has the better mean; `significant`, symmetric, says whether two runs differ.
    """
    ranks = 1 + better.sum(axis=0)
    sure = better & significant
    return ranks, np.stack([1 + sure.sum(axis=0), len(better) - sure.sum(axis=1)], axis=1)


def swap_p_values(observed: FloatArray, exchanged: FloatArray) -> FloatArray:
    """How often does exchanging two measures give as large a difference in agreement as there is? Shape (measure, measure).

    Takes how each measure agrees with the reference, and the first less the second measure's agreement after each exchange,
    shape (trial, measure pair). ``p[i, j]`` is one-sided, for measure i agreeing no better than j; NaN where an agreement is
    not defined.
    """
    n_trials, n_measures = len(exchanged), len(observed)
    first, second = np.triu_indices(n_measures, 1)
    difference = observed[first] - observed[second]
    p = np.ones((n_measures, n_measures))
    p[first, second] = (1 + (exchanged >= difference - ROUNDING).sum(axis=0)) / (1 + n_trials)
    p[second, first] = (1 + (exchanged <= difference + ROUNDING).sum(axis=0)) / (1 + n_trials)
    undefined = np.isnan(observed)
    p[undefined] = np.nan
    p[:, undefined] = np.nan
    return p


def find_clusters(observed: FloatArray, p_values: FloatArray, alpha: float) -> IntArray:
    """Return the significance cluster of every measure, from 1, the best; 0 where its agreement is not defined.

    Going down the ranking, a new cluster begins with a measure that one of the current cluster beats significantly. Two
    measures of one cluster do not differ significantly; two of different clusters need not differ either.
    """
    clusters = np.zeros(len(observed), dtype=np.int64)
    current: list[int] = []
    number = 1
    for measure in np.argsort(-round_scaled(observed), kind="stable").tolist():
        if np.isnan(observed[measure]):
            continue
        if any(p_values[better, measure] <= alpha for better in current):
            number, current = number + 1, []
        current.append(measure)
        clusters[measure] = number
    return clusters
