"""Where does the variance of scores come from, and what to buy next? Components of random effects, and decision studies.

A table that is balanced, each cell of runs, topics and judges with as many repeats, and each task with as many topics, has
mean squares whose expectations are sums of components with known factors (Brennan 2001, Chapter 3): the components follow
one after the other, from the finest effect on. Other tables are refused.

A decision study (Brennan 2001, Chapter 4): the components of variance stay, and each is divided by the numbers of what it
is averaged over. The relative error is what changes the differences between runs, the absolute error what changes means.

Topic-set-size design asks the same for another aim: that a paired t-test finds a difference (Sakai 2016, "Topic set size
design", Information Retrieval Journal 19; Sakai 2018, "Laboratory Experiments in Information Retrieval", Chapter 6). Sakai
approximates the noncentral t distribution by the normal one; here it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError, format_option
from metaeval.stats.arrays import FloatArray, IntArray
from metaeval.stats.split_half import expected_tau

FACETS = ("run", "task", "topic", "judge", "repeat")
"""What scores may differ by, in the order of cells. Topics lie within tasks, and repeats within cells of all others."""

N_DRAWS = 20_000  # of the components, on which intervals rest
MOST_TOPICS = 10_000_000  # aims that need more topics need infinitely many
_LARGEST = 1e150  # whose square a float holds, and that of its inverse
FEWEST_HALVES = 4  # topics from which halves can be compared
_CROSSED = (("run",), ("topic",), ("run", "task", "topic"))


class Effect(NamedTuple):
    """A random effect: the facets whose levels it has one of each, and how it is called."""

    facets: tuple[str, ...]
    name: str


class Components(NamedTuple):
    """The variance of each effect, the last one that of error, or of repeats; `raw` before negative ones were set to 0.

    `drawn`, shape (draw, effect), is what fits the data as well. `merged` names effects that the design does not separate.
    """

    effects: tuple[Effect, ...]
    variance: FloatArray
    raw: FloatArray
    drawn: FloatArray
    merged: tuple[str, ...]


def find_components(scores: npt.ArrayLike, facets: Mapping[str, IntArray], rng: np.random.Generator) -> Components:
    """How much of the variance of scores is due to runs, topics, judges, tasks, repeats, and what they have together?

    `facets` say for each facet of `FACETS` that there is, run and topic at least, which level each score has.
    """
    values, unit = _standardise(np.asarray(scores, dtype=np.float64))
    levels = {facet: np.unique(facets[facet], return_inverse=True)[1] for facet in FACETS if facet in facets}
    cells = _arrange(values, levels)
    effects, merged = _list_effects(levels, cells.shape)
    facets_of = [effect.facets for effect in effects]
    squares, freedom = _mean_squares(cells, facets_of, np.ones((1, cells.shape[FACETS.index("topic")])))
    # Generalised confidence intervals (Weerahandi 1993; Burdick, Borror and Montgomery 2005).
    chance = np.maximum(rng.chisquare(np.maximum(freedom, 1), (N_DRAWS, len(effects))), 1e-12)
    both = _separate(np.concatenate([squares, squares * freedom / chance]), facets_of, cells.shape) * unit**2
    return Components(effects, np.maximum(both[0], 0.0), both[0], np.maximum(both[1:], 0.0), merged)


def resample_components(table: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[FloatArray, np.float64]:
    """Return components of run, topic, and run × topic with error on resampled topics, shape (trial, 3), and their unit.

    Negative estimates are not set to 0. The components are in squares of the unit, which no number may hold.
    """
    values, unit = _standardise(np.asarray(table, dtype=np.float64))
    cells = values[:, np.newaxis, :, np.newaxis, np.newaxis]
    squares, _ = _mean_squares(cells, _CROSSED, np.asarray(weights, dtype=np.float64))
    return _separate(squares, _CROSSED, cells.shape), unit


def _standardise(scores: FloatArray) -> tuple[FloatArray, np.float64]:
    """Return scores less their mean, in a unit that makes the largest about 1, and that unit: a power of two."""
    far = np.ldexp(1.0, np.frexp(np.abs(scores).max())[1] - 1)
    rest = scores / far
    rest -= rest.mean()
    near = np.ldexp(1.0, np.frexp(np.abs(rest).max())[1])
    unit = np.float64(far * near)
    if not 1 / _LARGEST < unit < _LARGEST:
        raise MetaevalError(
            f"scores that lie {unit:.1g} from their mean have no variance that a number could hold: rescale them"
        )
    return rest / near, unit


def _arrange(values: FloatArray, levels: Mapping[str, IntArray]) -> FloatArray:
    """Return scores of a balanced table, shape (run, task, topic, judge, repeat); refuse others."""
    known = [facet for facet in FACETS[:-1] if facet in levels]
    shape = {facet: int(levels[facet].max()) + 1 for facet in known}
    _, counts = np.unique(np.ravel_multi_index([levels[f] for f in known], [*shape.values()]), return_counts=True)
    if "task" in levels:
        topics = np.bincount(np.unique(np.stack([levels["task"], levels["topic"]]), axis=1)[0])
        if (topics != topics[0]).any():
            raise MetaevalError(
                f"tasks have {topics.min()} to {topics.max()} topics, and components need as many of each: leave out "
                f"{format_option('tasks')}, or take tasks of one size"
            )
        shape["topic"] = int(topics[0])
    if (counts != counts[0]).any() or len(counts) != np.prod([*shape.values()]):
        raise MetaevalError("components need as many scores in every cell of runs, topics and judges")
    order = np.lexsort([levels[facet] for facet in reversed(known)])
    return values[order].reshape(*(shape.get(facet, 1) for facet in FACETS[:-1]), counts[0])


def _list_effects(known: Collection[str], shape: Sequence[int]) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """Return the effects of a design of such facets and cells, the last one error, and names of what is inseparable."""
    of_topics = [(), ("task",), ("task", "topic")] if "task" in known else [(), ("topic",)]
    of_judges = [(), ("judge",)] if "judge" in known else [()]
    effects: list[Effect] = []
    merged: list[str] = []
    combinations = [run + topics + judge for run, topics, judge in product([(), ("run",)], of_topics, of_judges)]
    for facets in sorted(combinations, key=lambda facets: (len(facets), "run" not in facets)):
        name = " × ".join(facet for facet in facets if facet != "task" or "topic" not in facets)
        size = _count_levels(facets, shape)
        coarser = [n for n, effect in enumerate(effects) if {*effect.facets} < {*facets}]
        same = [n for n in coarser if _count_levels(effects[n].facets, shape) == size]
        if same:
            merged.append(f"{effects[same[0]].name} or {name}")
            effects[same[0]] = Effect(facets, merged[-1])
        elif facets:
            effects.append(Effect(facets, name))
    finest = next((effect for effect in effects if _count_levels(effect.facets, shape) == np.prod(shape)), None)
    if finest is None:
        error = Effect((*(facet for facet in FACETS[:-1] if facet in known), "repeat"), "repeat")
        return (*effects, error), tuple(merged)
    effects.remove(finest)
    merged.append(f"{finest.name} and error")
    return (*effects, finest._replace(name=merged[-1])), tuple(merged)


def _count_levels(facets: Sequence[str], shape: Sequence[int]) -> int:
    """Return how many combinations of levels the cells of a table have."""
    return int(np.prod([shape[FACETS.index(facet)] for facet in facets]))


def _mean_squares(
    cells: FloatArray, facets: Sequence[Sequence[str]], weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean square of each effect on resampled topics, shape (trial, effect), and its degrees of freedom."""
    squares, freedom = np.empty((len(weights), len(facets))), np.empty(len(facets))
    n_topics = cells.shape[FACETS.index("topic")]
    # Topics vary within a task, unless it has one topic, and repeats within a cell.
    within_task = "task" if n_topics > 1 else "topic"
    for n, effect in enumerate(facets):
        nested = {within_task} if {"task", "topic"} <= {*effect} else set()
        if "repeat" in effect:
            nested = {*effect} - {"repeat"}
        varying = [facet for facet in effect if facet not in nested]
        rest = cells.mean(axis=tuple(a for a, f in enumerate(FACETS) if f not in (*effect, "topic")), keepdims=True)
        for facet in varying:
            rest = rest - rest.mean(axis=FACETS.index(facet), keepdims=True)
        by_topic = np.moveaxis(rest, FACETS.index("topic"), 0).reshape(n_topics, -1)
        # Means over the topics of a resample, which are not 0 where those over all topics are.
        total = ((weights @ by_topic / n_topics) ** 2).sum(axis=1)
        if "topic" in effect:
            total = weights @ (by_topic**2).sum(axis=1) - n_topics * total * ("topic" in varying)
        sizes = [cells.shape[FACETS.index(facet)] for facet in effect]
        freedom[n] = np.prod([size - (facet in varying) for facet, size in zip(effect, sizes, strict=True)])
        squares[:, n] = total * cells.size / np.prod(sizes) / max(freedom[n], 1)
    return squares, freedom


def _separate(squares: FloatArray, facets: Sequence[Sequence[str]], shape: Sequence[int]) -> FloatArray:
    """Return the components whose sums mean squares are expected to be, shape (..., effect)."""
    each = np.array([_count_levels(effect, shape) for effect in facets]) / np.prod(shape)
    components = squares.copy()
    for n in reversed(range(len(facets))):  # finer effects first
        finer = [m for m in range(len(facets)) if m != n and set(facets[n]) < set(facets[m])]
        components[..., n] = (components[..., n] - sum(components[..., m] / each[m] for m in finer)) * each[n]
    return components


class Reliability(NamedTuple):
    """Relative and absolute error of means of runs, Eρ² and Φ."""

    relative: FloatArray
    absolute: FloatArray
    relative_coefficient: FloatArray
    absolute_coefficient: FloatArray


def find_reliability(
    effects: Sequence[Effect], variance: npt.ArrayLike, numbers: Mapping[str, npt.ArrayLike]
) -> Reliability:
    """How much of the variance of means of runs over so many topics, … is between runs?

    Eρ² = σ²(run)/(σ²(run) + σ²(δ)) and Φ = σ²(run)/(σ²(run) + σ²(Δ)), with the relative error σ²(δ) of all other effects
    that runs take part in, and the absolute error σ²(Δ) of all other effects (Brennan 2001, Eqs. 4.19 to 4.23).
    `variance` has shape (..., effect); topics are those of all tasks together.
    """
    divisors = []
    for effect in effects:
        divisor = np.ones(())
        for facet in effect.facets:
            if facet != "run" and not (facet == "task" and "topic" in effect.facets):
                divisor = divisor * np.asarray(numbers[facet], dtype=np.float64)
        divisors.append(divisor)
    each = np.asarray(variance, dtype=np.float64) / np.stack(np.broadcast_arrays(*divisors), axis=-1)
    run = next(n for n, effect in enumerate(effects) if effect.facets == ("run",))
    with_runs = np.array(["run" in effect.facets for effect in effects])
    between, absolute = each[..., run], each.sum(axis=-1) - each[..., run]
    relative = each[..., with_runs].sum(axis=-1) - between
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [generalisability(between / error, 1) for error in (relative, absolute)]
    return Reliability(relative, absolute, *shares)


def generalisability(ratio: npt.ArrayLike, n_topics: npt.ArrayLike) -> FloatArray:
    """Return Eρ² = σ²_r/(σ²_r + σ²_e/n) of means over n topics from the ratio of σ²_r to σ²_e; 0 where it is not positive."""
    times = np.maximum(ratio, 0.0) * np.asarray(n_topics, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 + 1 / times))


def power_of_t_test(n_topics: npt.ArrayLike, effect: npt.ArrayLike, alpha: float) -> FloatArray:
    """How probably does a two-sided paired t-test find an effect? It is a difference over the deviation of the differences."""
    from scipy.stats import nct, t

    n, size = np.asarray(n_topics, dtype=np.float64), np.abs(np.asarray(effect, dtype=np.float64))
    threshold, shift = t.isf(alpha / 2, n - 1), np.sqrt(n) * size
    # SciPy cannot tell probabilities of the other tail that are next to nothing.
    power = nct.sf(threshold, n - 1, shift) + np.nan_to_num(nct.cdf(-threshold, n - 1, shift))
    # The series of a noncentral distribution that is far away fails.
    return np.where(np.isfinite(power), power, np.where(shift > threshold, 1.0, np.nan))


def fewest_topics(
    enough: Callable[[FloatArray], npt.NDArray[np.bool_]], like: npt.ArrayLike, least: int = 2
) -> FloatArray:
    """How many topics are enough, where more are as well? As many numbers as in `like`, NaN where it is, or infinite."""
    low = high = np.full(np.shape(like), float(least))
    while (short := ~enough(high) & (high < MOST_TOPICS)).any():
        low, high = np.where(short, high, low), np.where(short, np.minimum(high * 2, MOST_TOPICS), high)
    never = ~enough(high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        suffices = enough(middle)
        low, high = np.where(suffices, low, middle), np.where(suffices, middle, high)
    fewest = np.where(never, np.inf, np.where(enough(low), low, high))
    return np.where(np.isnan(like), np.nan, fewest)


def detectable_difference(
    relative: npt.ArrayLike, n_topics: npt.ArrayLike, alpha: float = 0.05, beta: float = 0.2
) -> FloatArray:
    """Which difference of two runs' means, of the relative error σ²(δ), does a paired t-test find with probability 1 - β?"""
    errors, topics = np.broadcast_arrays(np.asarray(relative, dtype=np.float64), np.asarray(n_topics))
    n, place = np.unique(np.floor(topics), return_inverse=True)
    known = np.where(n >= 2, n, 2)
    # In standard deviations of the differences, by halving.
    low, high = np.zeros(n.shape), np.ones(n.shape)
    while (short := power_of_t_test(known, high, alpha) < 1 - beta).any():
        high = np.where(short, 2 * high, high)
    for _ in range(50):
        middle = (low + high) / 2
        enough = power_of_t_test(known, middle, alpha) >= 1 - beta
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    effects = np.where(n >= 2, high, np.nan)[place.reshape(topics.shape)]
    return np.asarray(effects * np.sqrt(2 * errors * topics))


def resample_ratios(values: FloatArray, weights: FloatArray, confidence: float) -> list[FloatArray]:
    """Return V_E2, and F of the runs, 1 + n·σ²_r/V_E2, of each measure with their intervals, shape (measure, 3).

    Both vary in proportion to themselves: intervals are symmetrical in the logarithm.
    """
    from scipy.stats import t

    n_topics = weights.shape[1]
    parts, units = map(np.stack, zip(*(resample_components(each, weights) for each in values), strict=True))
    between, topic, residual = np.moveaxis(parts, -1, 0)
    residual = np.where(residual > 1e-12 * (topic + residual), residual, 0.0)
    ratio = np.divide(between, residual, out=np.where(between > 0, np.inf, np.nan), where=residual > 0)
    results = []
    for numbers, power in ((residual, 2), (1 + n_topics * ratio, 0)):
        estimate, drawn, spread = numbers[:, 0], numbers[:, 1:], np.full(len(numbers), np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            if drawn.size:
                spread = np.divide(drawn.std(axis=1, ddof=1), estimate, out=np.zeros_like(spread), where=estimate > 0)
            reach = np.exp(t.ppf((1 + confidence) / 2, n_topics - 1) * np.sqrt(n_topics / (n_topics - 1)) * spread)
            results.append(np.stack([estimate, estimate / reach, estimate * reach], axis=-1) * units[:, None] ** power)
    return results


def design_topics(
    residual: FloatArray,
    rates: FloatArray,
    n_topics: int,
    difference: float,
    errors: tuple[float, float],
    target: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return topics for a paired t-test and for a coefficient, V_E2, and the coefficient with as many topics as there are.

    `residual` and `rates` are those of `resample_ratios`; the test finds a difference with errors α and β. All results have
    shape (measure, 3): a number and the ends of its interval.
    """
    # More variance needs more topics, and so does a smaller ratio.
    (alpha, beta), ratio = errors, (rates[:, [0, 2, 1]] - 1) / n_topics
    with np.errstate(divide="ignore"):
        effect = difference / np.sqrt(2 * residual)  # over the deviation of the difference of two runs
    found = fewest_topics(lambda n: power_of_t_test(n, effect, alpha) >= 1 - beta, effect)
    # One rounding error below the target is the target.
    reliable = fewest_topics(lambda n: generalisability(ratio, n) >= target - 1e-14, ratio, least=1)
    return found, reliable, residual, generalisability(ratio[:, [0, 2, 1]], n_topics)


def rate_means(
    estimate: Components, means: FloatArray, numbers: Mapping[str, float], errors: tuple[float, float],
    confidence: float, key: int,
) -> dict[str, float]:  # fmt: skip
    """Return how reliable means of runs are, by name: coefficients and intervals, detectable difference, τ, twice of each.

    `means` have shape (run, topic), `numbers` are those of each facet, and `errors` are α and β of a paired t-test.
    """
    known = find_reliability(estimate.effects, np.concatenate([estimate.variance[np.newaxis], estimate.drawn]), numbers)
    row: dict[str, float] = {}
    for name, drawn in (("Eρ²", known.relative_coefficient), ("Φ", known.absolute_coefficient)):
        low, high = np.nanquantile(drawn[1:], [(1 - confidence) / 2, (1 + confidence) / 2])
        row |= {name: float(drawn[0]), f"{name}_low": low, f"{name}_high": high}
    row["detectable"] = float(detectable_difference(known.relative[0], numbers.get("task", numbers["topic"]), *errors))
    if {"task", "judge"} & set(numbers) or means.shape[1] < FEWEST_HALVES:
        row["expected_tau"] = float(2 / np.pi * np.arcsin(row["Eρ²"]))  # of normal numbers that correlate so
    else:
        between, _ = expected_tau(means[..., np.newaxis], [means.shape[1]], key=key, intervals=False)
        row["expected_tau"] = float(between[0, 0, 0])
    for facet in numbers:
        # A topic lies in a task: twice the tasks have twice the topics.
        more = {facet, "topic"} if facet == "task" else {facet}
        twice = {name: number * (2 if name in more else 1) for name, number in numbers.items()}
        if facet != "run":
            doubled = find_reliability(estimate.effects, estimate.variance, twice).relative_coefficient
            row[f"Eρ² with twice the {facet}s"] = float(doubled)
    return row
