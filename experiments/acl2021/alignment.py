"""Where the rows of a table stem from in a longer sequence: the most probable alignment, and how sure each row is.

The model is a pair hidden Markov model with three states: a row is the next item of the sequence (*match*), items of the
sequence are *skipped*, or a row is *foreign*, stemming from no item. Its most probable path is Gotoh's alignment with
affine gap penalties, the logarithms of the probabilities; summing over all paths (forward and backward) gives the
probability that a row stems from an item, and by adding up the items of a topic, from a topic: its *certainty*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from metaeval.errors import MetaevalError

TINY = 1e-250
"""Probabilities this far below the largest of their row count as 0: numbers smaller yet are slow to add."""

BLOCK = 80
"""Rows between two that are kept while going forward; those between are computed again while going backward."""

REST = 8
"""Rows after which probabilities are rescaled."""


@dataclass(frozen=True)
class GapModel:
    """Probabilities of gaps and errors; the affine gap penalties are their negative logarithms.

    Parameters
    ----------
    skip, skip_on : float
        That items are skipped after a row, and that another one is.
    foreign, foreign_on : float
        That a row is foreign, and that the one after a foreign row is too.
    error : float
        That a row which stems from an item has another symbol than the item, drawn from all symbols.
    """

    skip: float
    skip_on: float
    foreign: float
    foreign_on: float
    error: float

    @property
    def transitions(self) -> tuple[tuple[float, float, float], ...]:
        """From match, skip and foreign (rows) to match, skip and foreign; a skip never follows a foreign row.

        A skip before a foreign row says the same as one after it, so that every alignment is one path.
        """
        goes_on = 1 - self.skip_on
        return (
            (1 - self.skip - self.foreign, self.skip, self.foreign),
            (goes_on * (1 - self.foreign), self.skip_on, goes_on * self.foreign),
            (1 - self.foreign_on, 0.0, self.foreign_on),
        )

    def weigh(self, rows: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Return how much likelier a symbol is in a row if it stems from an item than if it is foreign.

        Parameters
        ----------
        rows, reference : ndarray of int, shape (row,) and (item,)
            Symbols from 0.

        Returns
        -------
        ndarray, shape (symbol, item)
        """
        counts = np.bincount(np.concatenate([rows, reference]))
        share = counts / counts.sum()
        same = np.arange(len(counts))[:, np.newaxis] == reference
        weights: np.ndarray = np.where(same, (1 - self.error) / share[reference], 0.0) + self.error
        return weights


def align(rows: np.ndarray, reference: np.ndarray, model: GapModel) -> np.ndarray:
    """Return the item that every row stems from in the most probable alignment (Gotoh, with affine gaps).

    Parameters
    ----------
    rows, reference : ndarray of int, shape (row,) and (item,)
        Symbols from 0.
    model : GapModel

    Returns
    -------
    ndarray of int, shape (row,)
        −1: a foreign row.
    """
    n, m = len(rows), len(reference)
    with np.errstate(divide="ignore"):
        weights = np.log(model.weigh(rows, reference))
        (mm, ms, mf), (sm, ss, sf), (fm, _, ff) = np.log(model.transitions)
    slope = ss * np.arange(m + 1)
    match, foreign, skip = np.full((3, m + 1), -np.inf)
    match[0] = 0.0
    came = np.zeros((n + 1, m + 1), dtype=np.uint8)  # BY_SKIP, BY_FOREIGN, FROM_SKIP, FROM_FOREIGN, BEGINS
    came[0] = BEGINS * _skip_on(match, skip, slope, ms)
    for i in range(1, n + 1):
        origin = came[i]
        best, by_skip, by_foreign = match + mm, skip + sm, foreign + fm
        origin[1:] = BY_SKIP * (by_skip > best)[:-1]
        np.maximum(best, by_skip, out=best)
        origin[1:][(by_foreign > best)[:-1]] = BY_FOREIGN
        np.maximum(best, by_foreign, out=best)
        match += mf
        skip += sf
        foreign += ff
        origin += FROM_SKIP * (skip > match)
        np.maximum(match, skip, out=match)
        last = foreign > match
        origin[last] = origin[last] % FROM_SKIP + FROM_FOREIGN
        np.maximum(match, foreign, out=foreign)
        match[0] = -np.inf
        np.add(best[:-1], weights[rows[i - 1]], out=match[1:])
        origin += BEGINS * _skip_on(match, skip, slope, ms)
    return _trace_back(came, int(np.argmax([match[m], skip[m], foreign[m]])))


BY_SKIP, BY_FOREIGN, FROM_SKIP, FROM_FOREIGN, BEGINS = (np.uint8(one) for one in (1, 2, 3, 6, 9))
"""How a cell is reached: what is before a match (nothing said: a match), before a foreign row, and where a skip begins."""


def _skip_on(match: np.ndarray, skip: np.ndarray, slope: np.ndarray, begin: float) -> np.ndarray:
    """Write the best score of every cell as skipped: the best match to its left and the way from there.

    Returns
    -------
    ndarray of bool
        Whether the best way begins with this very cell.
    """
    start = match - slope
    best = np.maximum.accumulate(start)
    np.add(best[:-1], slope[:-1] + begin, out=skip[1:])
    skip[0] = -np.inf
    begins = np.zeros(len(match), dtype=bool)
    np.equal(start[:-1], best[:-1], out=begins[1:])
    return begins


def _trace_back(came: np.ndarray, state: int) -> np.ndarray:
    """Return the item of every row, walking back from the last cell."""
    i, j = came.shape[0] - 1, came.shape[1] - 1
    found = np.full(i, -1, dtype=np.int64)
    while i > 0:
        origin = int(came[i, j])
        if state == 0:
            i, j = i - 1, j - 1
            found[i] = j
            state = origin % 3
        elif state == 1:
            j -= 1
            state = 0 if origin >= 9 else 1
        else:
            i -= 1
            state = origin // 3 % 3
    return found


def find_certainty(rows: np.ndarray, reference: np.ndarray, topic: np.ndarray, model: GapModel) -> np.ndarray:
    """Return the probability that a row stems from a topic, over all alignments.

    Parameters
    ----------
    rows, reference : ndarray of int, shape (row,) and (item,)
        Symbols from 0.
    topic : ndarray of int, shape (item,)
        The topic of every item, from 0.
    model : GapModel

    Returns
    -------
    ndarray, shape (row, topic + 1)
        The last column: that it is foreign. Rows sum to 1.
    """
    n, m, n_topics = len(rows), len(reference), int(topic.max()) + 1
    weights = model.weigh(rows, reference)
    first = np.zeros((3, m + 1))
    first[0, 0] = 1.0
    first[1, 1:] = model.skip * model.skip_on ** np.arange(m)
    kept = {0: first}
    state = first
    for i in range(1, n + 1):
        state = _step_forward(state, weights[rows[i - 1]], model, rescale=i % REST == 0)
        if i % BLOCK == 0:
            kept[i] = state
    found = np.empty((n, n_topics + 1))
    back = np.ones((3, m + 1))
    back[:, :m] = 0.0
    back[:2] = _skip_backward(back[:2], model)
    for start in range((n - 1) // BLOCK * BLOCK, -1, -BLOCK):
        block = [kept[start]]
        for i in range(start + 1, min(start + BLOCK, n) + 1):
            block.append(_step_forward(block[-1], weights[rows[i - 1]], model, rescale=i % REST == 0))
        for i in range(min(start + BLOCK, n), start, -1):
            there = block[i - start]
            found[i - 1, :n_topics] = np.bincount(topic, there[0, 1:] * back[0, 1:], minlength=n_topics)
            found[i - 1, n_topics] = there[2] @ back[2]
            back = _step_backward(back, weights[rows[i - 1]], model, rescale=i % REST == 0)
    total = found.sum(axis=1, keepdims=True)
    if not (total > 0).all():
        raise MetaevalError("no alignment of the rows has a probability that a computer's numbers can hold")
    return found / total


def _step_forward(before: np.ndarray, weights: np.ndarray, model: GapModel, *, rescale: bool) -> np.ndarray:
    """Return the probabilities of match, skip and foreign after one more row, up to a factor, shape (3, item + 1)."""
    to = np.array(model.transitions)
    after = np.empty_like(before)
    after[0, 0] = 0.0
    np.multiply((to[:, 0] @ before)[:-1], weights, out=after[0, 1:])
    after[2] = to[:, 2] @ before
    after[1] = lfilter([0.0, model.skip], [1.0, -model.skip_on], after[0])
    return _rescale(after) if rescale else after


def _step_backward(after: np.ndarray, weights: np.ndarray, model: GapModel, *, rescale: bool) -> np.ndarray:
    """Return the probabilities of the rest from match, skip and foreign before a row, up to a factor."""
    to = np.array(model.transitions)
    before = np.outer(to[:, 2], after[2])
    before[:, :-1] += np.outer(to[:, 0], weights * after[0, 1:])
    before[:2] = _skip_backward(before[:2], model)
    return _rescale(before) if rescale else before


def _skip_backward(without: np.ndarray, model: GapModel) -> np.ndarray:
    """Add to the probabilities from match and skip those of skipping on from there, shape (2, item + 1)."""
    skip = lfilter([1.0], [1.0, -model.skip_on], without[1, ::-1])[::-1]
    match = without[0].copy()
    match[:-1] += model.skip * skip[1:]
    return np.stack([match, skip])


def _rescale(state: np.ndarray) -> np.ndarray:
    state = state / state.max()
    state[state < TINY] = 0.0
    return state
