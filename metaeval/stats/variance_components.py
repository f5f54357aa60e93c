"""Where does the variance of scores come from? Components of random effects, in closed form.

A table that is balanced, each cell of runs, topics and judges with as many repeats, and each task with as many topics, has
mean squares whose expectations are sums of components with known factors (Brennan 2001, Chapter 3): the components follow
one after the other, from the finest effect on. Other tables are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError, format_option
from metaeval.stats.blocks import FloatArray, IntArray

FACETS = ("run", "task", "topic", "judge", "repeat")
"""What scores may differ by, in the order of cells. Topics lie within tasks, and repeats within cells of all others."""

N_DRAWS = 20_000
"""Draws of the components on which intervals rest."""

_LARGEST = 1e150  # whose square a float holds, and that of its inverse
_CROSSED = (("run",), ("topic",), ("run", "task", "topic"))


class Effect(NamedTuple):
    """A random effect: the facets whose levels it has one of each, and how it is called."""

    facets: tuple[str, ...]
    name: str


@dataclass(frozen=True, eq=False)
class Components:
    """The variance of each effect, shape (effect,), the last one that of error, or of repeats.

    `drawn`, shape (draw, effect), says how well they are known: what fits the data as well as the estimates. `raw` are
    estimates before negative ones were set to 0. `merged` names effects that the design does not separate.
    """

    effects: tuple[Effect, ...]
    variance: FloatArray
    raw: FloatArray
    drawn: FloatArray
    merged: tuple[str, ...]


def find_components(scores: npt.ArrayLike, facets: Mapping[str, IntArray], rng: np.random.Generator) -> Components:
    """How much of the variance of scores is due to runs, topics, judges, tasks, repeats, and what they have together?

    Parameters
    ----------
    scores : array_like of float, shape (score,)
    facets : mapping of str to ndarray of int, shape (score,)
        For each facet of `FACETS` that there is, which level each score has, from 0: run and topic at least.
    rng : numpy.random.Generator
        For the draws.

    Returns
    -------
    Components
        In squares of the scores' unit.

    Raises
    ------
    MetaevalError
        If the table is not balanced.

    Examples
    --------
    >>> table = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 8.0]])
    >>> run, topic = np.indices(table.shape).reshape(2, -1)
    >>> found = find_components(table.ravel(), {"run": run, "topic": topic}, np.random.default_rng(0))
    >>> [effect.name for effect in found.effects], found.variance.round(2).tolist()
    (['run', 'topic', 'run × topic and error'], [2.33, 4.17, 1.17])
    """
    values, unit = _standardise(np.asarray(scores, dtype=np.float64))
    refuse_unit(unit)
    levels = {facet: np.unique(facets[facet], return_inverse=True)[1] for facet in FACETS if facet in facets}
    effects, merged = list_effects(levels, len(values))
    cells, facets_of = _arrange(values, levels), [effect.facets for effect in effects]
    squares, freedom = _mean_squares(cells, facets_of, np.ones((1, cells.shape[FACETS.index("topic")])))
    # Generalised confidence intervals (Weerahandi 1993; Burdick, Borror and Montgomery 2005).
    chance = np.maximum(rng.chisquare(np.maximum(freedom, 1), (N_DRAWS, len(effects))), 1e-12)
    both = _separate(np.concatenate([squares, squares * freedom / chance]), facets_of, cells.shape) * unit**2
    return Components(effects, np.maximum(both[0], 0.0), both[0], np.maximum(both[1:], 0.0), merged)


def resample_components(table: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[FloatArray, np.float64]:
    """Return components of run, topic, and run × topic with error on resampled topics, shape (trial, 3), and their unit.

    `table` has the shape (run, topic); `weights`, shape (trial, topic), say how often each topic counts, and sum to the number
    of topics. Negative estimates are not set to 0. The components are in squares of the unit, which no number may hold.
    """
    values, unit = _standardise(np.asarray(table, dtype=np.float64))
    cells = values[:, np.newaxis, :, np.newaxis, np.newaxis]
    squares, _ = _mean_squares(cells, _CROSSED, np.asarray(weights, dtype=np.float64))
    return _separate(squares, _CROSSED, cells.shape), unit


def refuse_unit(unit: float) -> None:
    """Refuse scores of a unit whose square no number holds."""
    if not 1 / _LARGEST < unit < _LARGEST:
        raise MetaevalError(
            f"scores that lie {unit:.1g} from their mean have no variance that a number could hold: rescale them"
        )


def _standardise(scores: FloatArray) -> tuple[FloatArray, np.float64]:
    """Return scores less their mean, in a unit that makes the largest about 1, and that unit: a power of two."""
    far = np.ldexp(1.0, np.frexp(np.abs(scores).max())[1] - 1)
    rest = scores / far
    rest -= rest.mean()
    near = np.ldexp(1.0, np.frexp(np.abs(rest).max())[1])
    return rest / near, np.float64(far * near)


def list_effects(levels: Mapping[str, IntArray], n_scores: int) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """Return the effects of a design, the last one error, and names of what is inseparable."""
    chains: list[list[tuple[str, ...]]] = [[(), ("run",)], [()], [()]]
    chains[1] += [("task",), ("task", "topic")] if "task" in levels else [("topic",)]
    chains[2] += [("judge",)] if "judge" in levels else []
    effects: list[Effect] = []
    codes: list[IntArray] = []
    merged: list[str] = []
    for parts in sorted(product(*chains), key=lambda parts: (sum(map(len, parts)), not parts[0])):
        facets = tuple(facet for part in parts for facet in part)
        if not facets:
            continue
        shown = [facet for facet in facets if facet != "task" or "topic" not in facets]
        name, code = " × ".join(shown), _join(levels, facets)
        same = [n for n, one in enumerate(effects) if set(one.facets) < set(facets) and codes[n].max() == code.max()]
        if same:
            name = f"{effects[same[0]].name} or {name}"
            merged.append(name)
            effects[same[0]], codes[same[0]] = Effect(facets, name), code
        else:
            effects.append(Effect(facets, name))
            codes.append(code)
    finest = next((n for n, code in enumerate(codes) if code.max() + 1 == n_scores), None)
    if finest is None:
        error = Effect((*(facet for facet in FACETS[:-1] if facet in levels), "repeat"), "repeat")
        return (*effects, error), tuple(merged)
    effect = effects.pop(finest)
    merged.append(f"{effect.name} and error")
    return (*effects, effect._replace(name=merged[-1])), tuple(merged)


def error_divisors(effects: Sequence[Effect], numbers: Mapping[str, npt.ArrayLike]) -> FloatArray:
    """By what is each variance divided in the mean of a run over so many topics, judges, repeats and tasks?

    Topics are all those of all tasks. The arrays of `numbers` have one shape, and the result has a last axis of effects.

    Examples
    --------
    >>> effects = [Effect(("run",), "run"), Effect(("run", "task", "topic"), "run × topic")]
    >>> error_divisors(effects, {"task": 2, "topic": 20}).tolist()
    [1.0, 20.0]
    """
    divisors = []
    for effect in effects:
        within = [f for f in effect.facets if f != "run" and not (f == "task" and "topic" in effect.facets)]
        divisor = np.ones(())
        for facet in within:
            divisor = divisor * np.asarray(numbers[facet], dtype=np.float64)
        divisors.append(divisor)
    return np.stack(np.broadcast_arrays(*divisors), axis=-1)


def _join(levels: Mapping[str, IntArray], facets: Sequence[str]) -> IntArray:
    """Return the number of the combination of levels that each score has."""
    joined = levels[facets[0]]
    for facet in facets[1:]:
        joined = np.unique(joined * (int(levels[facet].max()) + 1) + levels[facet], return_inverse=True)[1]
    return joined


def _arrange(values: FloatArray, levels: Mapping[str, IntArray]) -> FloatArray:
    """Return scores of a balanced table, shape (run, task, topic, judge, repeat); refuse others."""
    known = [facet for facet in FACETS[:-1] if facet in levels]
    cell = _join(levels, known)
    counts = np.bincount(cell)
    shape = {facet: int(levels[facet].max()) + 1 for facet in known}
    if "task" in levels:
        topics = np.bincount(np.unique(np.stack([levels["task"], levels["topic"]]), axis=1)[0])
        if (topics != topics[0]).any():
            raise MetaevalError(
                f"tasks have {topics.min()} to {topics.max()} topics, and components need as many of each: leave out "
                f"{format_option('tasks')}, or take tasks of one size"
            )
        shape["topic"] = int(topics[0])
    if (counts != counts[0]).any() or len(counts) != np.prod(list(shape.values())):
        raise MetaevalError("components need as many scores in every cell of runs, topics and judges")
    order = np.lexsort([levels[facet] for facet in reversed(known)])
    return values[order].reshape(*(shape.get(facet, 1) for facet in FACETS[:-1]), counts[0])


def _mean_squares(
    cells: FloatArray, facets: Sequence[Sequence[str]], weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean square of each effect on resampled topics, shape (trial, effect), and its degrees of freedom."""
    squares, freedom = np.empty((len(weights), len(facets))), np.empty(len(facets))
    n_topics = cells.shape[FACETS.index("topic")]
    for n, effect in enumerate(facets):
        # Topics vary within a task, unless it has one topic, and repeats within a cell.
        within_task = "task" if n_topics > 1 else "topic"
        nested = (
            {*effect} - {"repeat"} if "repeat" in effect else {within_task} if {"task", "topic"} <= {*effect} else {}
        )
        own = [facet for facet in effect if facet not in nested]
        rest = cells.mean(axis=tuple(a for a, f in enumerate(FACETS) if f not in (*effect, "topic")), keepdims=True)
        for facet in own:
            rest = rest - rest.mean(axis=FACETS.index(facet), keepdims=True)
        by_topic = np.moveaxis(rest, FACETS.index("topic"), 0).reshape(n_topics, -1)
        # Means over the topics of a resample, which are not 0 where those over all topics are.
        total = ((weights @ by_topic / n_topics) ** 2).sum(axis=1)
        if "topic" in effect:
            total = weights @ (by_topic**2).sum(axis=1) - n_topics * total * ("topic" in own)
        sizes = [cells.shape[FACETS.index(facet)] for facet in effect]
        freedom[n] = np.prod([size - (facet in own) for facet, size in zip(effect, sizes, strict=True)])
        squares[:, n] = total * cells.size / np.prod(sizes) / max(freedom[n], 1)
    return squares, freedom


def _separate(squares: FloatArray, facets: Sequence[Sequence[str]], shape: Sequence[int]) -> FloatArray:
    """Return the components whose sums mean squares are expected to be, shape (..., effect)."""
    each = np.array([np.prod([shape[FACETS.index(facet)] for facet in effect]) for effect in facets]) / np.prod(shape)
    found = squares.copy()
    for n in reversed(range(len(facets))):  # finer effects first
        finer = [m for m in range(len(facets)) if m != n and set(facets[n]) < set(facets[m])]
        found[..., n] = (found[..., n] - sum(found[..., m] / each[m] for m in finer)) * each[n]
    return found
