"""How few items decide which of two runs is better? The fewest changed predictions that turn a measure's verdict."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.errors import MeasureError
from metaeval.measures.base import Measure
from metaeval.stats.arrays import check_count

Matrix = npt.NDArray[np.int64]

TIE = 1e-9
"""Scores no farther apart are equal."""

WIDTH = 500
"""If no step leads to more different matrices of a run than this, all of them are followed up, and nothing is missed."""

KEPT = 24
"""Otherwise so many of them are: those that change the score most."""


@dataclass(frozen=True, eq=False)
class Move:
    """One item of a run that is predicted as another class.

    Parameters
    ----------
    run : int
        0 for the first run, 1 for the second.
    gold, before, after : int
        Positions of its gold class, and of the class that was and is now predicted.
    """

    run: int
    gold: int
    before: int
    after: int


@dataclass(frozen=True, eq=False)
class FewestMoves:
    """Which items would have to be predicted differently for the other run to win.

    Parameters
    ----------
    measure : Measure
    difference : float
        By how much the first run is better; negative where the second one is.
    moves : tuple of Move or None
        One way of turning the verdict; None if none was found.
    exact : bool
        Whether no smaller number of moves can turn it. Otherwise the moves were found by a search that may have
        missed a shorter way.
    at_least : int
        So many moves are needed: every way with fewer was tried.
    first, second : ndarray of int, shape (K, K)
        The runs after the moves; as they were if there are none.
    turned : float
        The difference after the moves.
    """

    measure: Measure
    difference: float
    moves: tuple[Move, ...] | None
    exact: bool
    at_least: int
    first: Matrix
    second: Matrix
    turned: float


def fewest_moves(
    measure: Measure, first: npt.ArrayLike, second: npt.ArrayLike, *, most: int = 20, width: int = WIDTH
) -> FewestMoves:
    """How few items must be predicted differently for the other of two runs to score better?

    A move takes one item of either run to another predicted class; its gold class stays. One move is tried in every
    way, and so are more, as long as no step has led to more than `width` different matrices. Beyond that the few
    matrices that change the score most are followed up, and the answer is an upper bound.

    Parameters
    ----------
    measure : Measure
        Of classification, with a formula.
    first, second : array_like of int, shape (K, K)
        Confusion counts, ``[g, p]``, over the same gold: equal row sums.
    most : int, optional
        Give up beyond so many moves.
    width : int, optional

    Returns
    -------
    FewestMoves

    Raises
    ------
    MeasureError
        If the runs have another gold, or score alike, so that there is no verdict to turn.

    Examples
    --------
    >>> import metaeval
    >>> found = fewest_moves(metaeval.measure("Accuracy"), [[3, 0], [1, 2]], [[2, 1], [1, 2]])
    >>> len(found.moves), found.exact
    (2, True)
    """
    most, width = check_count(most, "moves"), check_count(width, "matrices followed up")
    runs = [_check_matrix(path) for path in (first, second)]
    if runs[0].shape != runs[1].shape or (runs[0].sum(axis=1) != runs[1].sum(axis=1)).any():
        raise MeasureError(
            "the two runs have different numbers of items in a gold class: compare runs over the same gold"
        )
    scores = _oriented(measure, np.stack(runs))
    difference = float(scores[0] - scores[1])
    if abs(difference) <= TIE:
        raise MeasureError(f"{measure} scores both runs alike: there is no verdict to turn")
    # The difference is a score of one run less a score of the other, so the runs can be followed up each on its own:
    # the winner is made worse, the loser better.
    winner = 0 if difference > 0 else 1
    paths = {
        winner: _Path(measure, runs[winner], -1.0, width),
        1 - winner: _Path(measure, runs[1 - winner], 1.0, width),
    }
    at_least = 1
    for n_moves in range(1, most + 1):
        for path in paths.values():
            path.step()
        splits = [(k, n_moves - k) for k in range(n_moves + 1)]
        gaps = [paths[winner].best(k) - paths[1 - winner].best(n) for k, n in splits]
        if min(gaps) < -TIE:
            k, n = splits[int(np.argmin(gaps))]
            moves = [*paths[winner].moves(k, winner), *paths[1 - winner].moves(n, 1 - winner)]
            changed = [paths[run].matrix(k if run == winner else n) for run in (0, 1)]
            ended = _oriented(measure, np.stack(changed))
            # All ways with fewer moves were tried if those steps were complete, be this one or not.
            exact, turned = at_least == n_moves, float(ended[0] - ended[1])
            return FewestMoves(measure, difference, tuple(moves), exact, at_least, changed[0], changed[1], turned)
        if all(path.complete_steps >= n_moves for path in paths.values()):
            at_least = n_moves + 1
    return FewestMoves(measure, difference, None, False, at_least, runs[0], runs[1], difference)


class _Path:
    """The matrices of one run that some number of moves leads to, and the best score among them.

    `toward` is +1 where the score is to rise, -1 where it is to fall; after `complete_steps` moves the best score is certain.
    """

    def __init__(self, measure: Measure, start: Matrix, toward: float, width: int) -> None:
        self.measure, self.toward, self.width = measure, toward, width
        self.complete_steps = 0
        self.truncated = False
        self.levels = [(start[None], _oriented(measure, start[None]), np.zeros(1, dtype=np.int64))]

    def step(self) -> None:
        """Add the matrices that one more move leads to."""
        reached = self.levels[-1][0]
        following, parents = _move_once(reached)
        if not len(following):  # nothing to move: the next number of moves is no better than this one
            following, parents = reached, np.arange(len(reached))
        flat = following.reshape(len(following), -1)
        _, distinct = np.unique(flat, axis=0, return_index=True)
        following, parents = following[distinct], parents[distinct]
        scores = _oriented(self.measure, following)
        # A step that is cut has still seen its best score, if what it started from was complete.
        self.complete_steps += not self.truncated
        if len(following) > self.width:
            order = np.argsort(-self.toward * scores, kind="stable")[: min(KEPT, self.width)]
            following, parents, scores = following[order], parents[order], scores[order]
            self.truncated = True
        self.levels.append((following, scores, parents))

    def best(self, n_moves: int) -> float:
        """Return the extreme score after so many moves."""
        return float(self.toward * (self.toward * self.levels[n_moves][1]).max())

    def _position(self, n_moves: int) -> int:
        return int(np.argmax(self.toward * self.levels[n_moves][1]))

    def matrix(self, n_moves: int) -> Matrix:
        """Return the matrix with the extreme score after so many moves."""
        found: Matrix = self.levels[n_moves][0][self._position(n_moves)]
        return found

    def moves(self, n_moves: int, run: int) -> list[Move]:
        """Return the moves that lead there."""
        chain, position = [], self._position(n_moves)
        for level in range(n_moves, -1, -1):
            matrices, _, parents = self.levels[level]
            chain.append(matrices[position])
            position = int(parents[position])
        steps = itertools.pairwise(chain[::-1])
        return [_find_move(before, after, run) for before, after in steps if (before != after).any()]


def _find_move(before: Matrix, after: Matrix, run: int) -> Move:
    gold, left = np.argwhere(after < before)[0]
    return Move(run, int(gold), int(left), int(np.flatnonzero(after[gold] > before[gold])[0]))


def _move_once(matrices: Matrix) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """Return every matrix that one move leads to, and which it came from."""
    n_classes = matrices.shape[-1]
    which, gold, before = np.nonzero(matrices)
    steps = np.arange(1, n_classes)
    parents = np.repeat(which, n_classes - 1)
    moved = matrices[parents]
    rows = np.arange(len(parents))
    g, p = np.repeat(gold, n_classes - 1), np.repeat(before, n_classes - 1)
    q = (p + np.tile(steps, len(which))) % n_classes
    moved[rows, g, p] -= 1
    moved[rows, g, q] += 1
    return moved, parents


def _oriented(measure: Measure, matrices: Matrix) -> npt.NDArray[np.float64]:
    """Score matrices so that higher is better."""
    return measure.sign * measure.evaluate(matrices)[0]


def _check_matrix(counts: npt.ArrayLike) -> Matrix:
    given = np.asarray(counts)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or len(given) < 2:
        raise MeasureError(f"confusion counts are of shape (K, K), not {given.shape}")
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all() or (given < 0).any() or (given % 1 != 0).any():
        raise MeasureError("confusion counts are whole numbers of items, 0 or more")
    if not given.sum():
        raise MeasureError("a matrix without items has no score")
    return given.astype(np.int64)
