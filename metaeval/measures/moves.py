"""How few items decide which of two runs is better? The fewest changed predictions that turn a measure's verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MeasureError
from metaeval.measures.base import Measure

Matrix = npt.NDArray[np.int64]

TIE = 1e-9
"""Scores no farther apart are equal."""

MOST = 20
"""The search gives up beyond so many moves."""

WIDTH = 500
"""If no step leads to more different matrices of a run than this, all of them are followed up, and nothing is missed."""

KEPT = 24
"""Otherwise so many of them are: those that change the score most."""


class Move(NamedTuple):
    """One item of a run (0 or 1) that is predicted as another class: positions of its gold class and of both others."""

    run: int
    gold: int
    before: int
    after: int


@dataclass(frozen=True)
class FewestMoves:
    """Which items would have to be predicted differently for the other run to win.

    Parameters
    ----------
    measure : Measure
    difference : float
        By how much the first run is better; negative where the second one is.
    moves : tuple of Move or None
        One way of turning the verdict; None if none was found.
    at_least : int
        So many moves are needed: every way with fewer was tried.
    """

    measure: Measure
    difference: float
    moves: tuple[Move, ...] | None
    at_least: int

    @property
    def exact(self) -> bool:
        """Whether no smaller number of moves can turn the verdict; otherwise the search may have missed a shorter way."""
        return self.moves is not None and len(self.moves) == self.at_least


def fewest_moves(measure: Measure, first: npt.ArrayLike, second: npt.ArrayLike) -> FewestMoves:
    """How few items must be predicted differently for the other of two runs to score better?

    A move takes one item of either run to another predicted class; its gold class stays. One move is tried in every
    way, and so are more, as long as no step has led to more than `WIDTH` different matrices. Beyond that the few
    matrices that change the score most are followed up, and the answer is an upper bound.

    Parameters
    ----------
    measure : Measure
        Of classification, with a formula.
    first, second : array_like of int, shape (K, K)
        Confusion counts, ``[g, p]``, over the same gold: equal row sums.

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
    same = np.shape(first) == np.shape(second)
    given: npt.NDArray[Any] = np.array([np.asarray(first), np.asarray(second)] if same else [])
    whole = given.dtype.kind in "iuf" and np.isfinite(given).all() and (given == np.floor(np.abs(given))).all()
    if given.ndim != 3 or len(set(given.shape[1:])) > 1 or given.shape[-1] < 2 or not whole:
        raise MeasureError("confusion counts of two runs are whole numbers of items, 0 or more, in one shape (K, K)")
    sizes = given.sum(axis=2)
    if not sizes.any() or (sizes[0] != sizes[1]).any():
        raise MeasureError(
            "the two runs are without items, or have different numbers of items in a gold class: compare runs over the "
            "same gold"
        )
    runs: Matrix = given.astype(np.int64)
    scores = measure.sign * measure.evaluate(runs)[0]
    difference = float(scores[0] - scores[1])
    if abs(difference) <= TIE:
        raise MeasureError(f"{measure} scores both runs alike: there is no verdict to turn")
    # The difference is a score of one run less a score of the other, so the runs can be followed up each on its own:
    # the winner is made worse, the loser better.
    winner = 0 if difference > 0 else 1
    down = _follow(measure, winner, runs[winner], -1.0)
    up = _follow(measure, 1 - winner, runs[1 - winner], 1.0)
    worse, better = [next(down)], [next(up)]
    at_least = 1
    for n_moves in range(1, MOST + 1):
        worse.append(next(down))
        better.append(next(up))
        gaps = [worse[n].score - better[n_moves - n].score for n in range(n_moves + 1)]
        if min(gaps) < -TIE:
            n = int(np.argmin(gaps))
            return FewestMoves(measure, difference, (*worse[n].moves, *better[n_moves - n].moves), at_least)
        if worse[-1].complete and better[-1].complete:
            at_least = n_moves + 1
    return FewestMoves(measure, difference, None, at_least)


class _Reached(NamedTuple):
    """The extreme score of a run after some number of moves, the moves to it, and whether every way there was tried."""

    score: float
    moves: tuple[Move, ...]
    complete: bool


def _follow(measure: Measure, run: int, start: Matrix, toward: float) -> Iterator[_Reached]:
    """Yield what 0, 1, 2, … moves of one run make of its score (higher being better), to raise it (1) or to lower it (-1)."""
    n_classes = len(start)
    chains: list[tuple[Move, ...]] = [()]
    matrices, complete = start[None], True
    while True:
        scores = measure.sign * measure.evaluate(matrices)[0]
        best = int(np.argmax(toward * scores))
        yield _Reached(float(scores[best]), chains[best], complete)
        if len(matrices) > WIDTH:  # the best of a step that is cut was seen, that of the next one may be missed
            kept = np.argsort(-toward * scores, kind="stable")[:KEPT]
            matrices, chains, complete = matrices[kept], [chains[k] for k in kept], False
        which, gold, before = (np.repeat(index, n_classes - 1) for index in np.nonzero(matrices))
        after = (before + np.resize(np.arange(1, n_classes), len(before))) % n_classes
        rows, moved = np.arange(len(which)), matrices[which]
        moved[rows, gold, before] -= 1
        moved[rows, gold, after] += 1
        _, distinct = np.unique(moved.reshape(len(moved), -1), axis=0, return_index=True)
        matrices = moved[distinct]
        steps = zip(*(index[distinct].tolist() for index in (which, gold, before, after)), strict=True)
        chains = [(*chains[parent], Move(run, *step)) for parent, *step in steps]
