"""What to buy next: what would other numbers of topics, repeats, judges and tasks tell of the runs, and which are enough?

A decision study (Brennan 2001, Chapter 4): the components of variance stay, and each is divided by the numbers of what it
is averaged over. The relative error is what changes the differences between runs, the absolute error what changes means.

Topic-set-size design asks the same for three other aims: that a paired t-test or a one-way analysis of variance finds a
difference, and that the interval of a difference is narrow (Sakai 2016, "Topic set size design", Information Retrieval
Journal 19; Sakai 2018, "Laboratory Experiments in Information Retrieval", Chapter 6). Sakai approximates the noncentral t
and F distributions by the normal one; here they are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError, format_list, format_option
from metaeval.stats.blocks import FloatArray
from metaeval.stats.variance_components import Effect, error_divisors

LADDER = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000)
"""Numbers of repeats, judges and tasks that are tried."""

SHARED = ("repeat", "judge", "task")

MOST_TOPICS = 10_000_000
"""Aims that need more topics need infinitely many."""


@dataclass(frozen=True, eq=False)
class Reliability:
    """Of means of runs, each array of one shape: variance of runs, relative and absolute error, Eρ² and Φ."""

    universe: FloatArray
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

    Parameters
    ----------
    effects : sequence of Effect
    variance : array_like of float, shape (..., effect)
        Components, from `metaeval.stats.variance_components.find_components`.
    numbers : mapping of str to array_like of float, shape (...)
        For each facet but run, over how many a mean is taken; topics are those of all tasks together.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> effects = [Effect(("run",), "run"), Effect(("topic",), "topic"), Effect(("run", "topic"), "run × topic")]
    >>> found = find_reliability(effects, [0.2, 0.5, 1.0], {"topic": 5})
    >>> float(found.relative_coefficient), round(float(found.absolute_coefficient), 3)
    (0.5, 0.4)
    """
    each = np.asarray(variance, dtype=np.float64) / error_divisors(effects, numbers)
    runs = next(n for n, effect in enumerate(effects) if effect.facets == ("run",))
    with_runs = np.array(["run" in effect.facets for effect in effects])
    universe, absolute = each[..., runs], each.sum(axis=-1) - each[..., runs]
    relative = each[..., with_runs].sum(axis=-1) - universe
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [generalisability(universe / error, 1) for error in (relative, absolute)]
    return Reliability(universe, relative, absolute, *shares)


def generalisability(ratio: npt.ArrayLike, n_topics: npt.ArrayLike) -> FloatArray:
    """Return Eρ² = σ²_r/(σ²_r + σ²_e/n) of means over n topics from the ratio of σ²_r to σ²_e; 0 where it is not positive."""
    times = np.maximum(ratio, 0.0) * np.asarray(n_topics, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 + 1 / times))


def power_of_t_test(n_topics: npt.ArrayLike, effect: npt.ArrayLike, alpha: float) -> FloatArray:
    """How probably does a two-sided paired t-test find an effect? It is a difference over the deviation of the differences."""
    from scipy.stats import nct, t

    n, size = np.asarray(n_topics, dtype=np.float64), np.abs(np.asarray(effect, dtype=np.float64))
    threshold = t.isf(alpha / 2, n - 1)
    shift = np.sqrt(n) * size
    # SciPy cannot tell probabilities of the other tail that are next to nothing.
    other = np.nan_to_num(nct.cdf(-threshold, n - 1, shift))
    return _settle(nct.sf(threshold, n - 1, shift) + other, shift - threshold)


def power_of_anova(n_topics: npt.ArrayLike, effect: npt.ArrayLike, alpha: float, n_runs: int) -> FloatArray:
    """How probably does a one-way analysis of variance find that runs differ, with so many topics for each?

    The effect is the difference of the best and the worst run over the standard deviation of a run's scores. The others are
    taken to lie in the middle, where the test has the least power.
    """
    from scipy.stats import f, ncf

    n, size = np.asarray(n_topics, dtype=np.float64), np.asarray(effect, dtype=np.float64)
    between, within = n_runs - 1, n_runs * (n - 1)
    shift = n * size**2 / 2
    threshold = f.isf(alpha, between, within)
    return _settle(ncf.sf(threshold, between, within, shift), shift - 2 * between * threshold)


def expected_width(n_topics: npt.ArrayLike, deviation: npt.ArrayLike, alpha: float) -> FloatArray:
    """How wide is the confidence interval of the difference of two runs, on average, with so large a deviation?

    2t√(2/(n(n - 1)))·Γ(n/2)/Γ((n - 1)/2) times the standard deviation of the differences (Sakai 2018, Chapter 6).
    """
    from scipy.special import gammaln
    from scipy.stats import t

    n = np.asarray(n_topics, dtype=np.float64)
    shrink = np.sqrt(2 / (n - 1)) * np.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return np.asarray(2 * t.isf(alpha / 2, n - 1) * shrink * np.asarray(deviation, dtype=np.float64) / np.sqrt(n))


def fewest_topics(
    enough: Callable[[FloatArray], npt.NDArray[np.bool_]], like: npt.ArrayLike, least: int = 2
) -> FloatArray:
    """How many topics are enough, where more of them are enough as well?

    Parameters
    ----------
    enough : callable
        Says of numbers of topics, shape (...), whether each is enough.
    like : array_like of float, shape (...)
        What topics are counted for; NaN where there is no number.
    least : int, optional
        The smallest number.

    Returns
    -------
    ndarray, shape (...)
        Whole numbers; infinite beyond MOST_TOPICS, NaN where `like` is.

    Examples
    --------
    >>> effects = np.array([0.2, 0.5])  # differences of two runs over the standard deviation of the differences
    >>> fewest_topics(lambda n: power_of_t_test(n, effects, 0.05) >= 0.8, effects)
    array([199.,  34.])
    """
    low = high = np.full(np.shape(like), float(least))
    while (short := ~enough(high) & (high < MOST_TOPICS)).any():
        low, high = np.where(short, high, low), np.where(short, np.minimum(high * 2, MOST_TOPICS), high)
    never = ~enough(high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        suffices = enough(middle)
        low, high = np.where(suffices, low, middle), np.where(suffices, middle, high)
    found = np.where(never, np.inf, np.where(enough(low), low, high))
    return np.where(np.isnan(like), np.nan, found)


def detectable_difference(
    relative: npt.ArrayLike, n_topics: npt.ArrayLike, alpha: float = 0.05, beta: float = 0.2
) -> FloatArray:
    """Which difference of two runs' means does a paired t-test over topics find with probability 1 - β?

    `relative` is the relative error of a mean, σ²(δ); NaN below two topics.

    Examples
    --------
    >>> detectable_difference([0.5 / 34], [34]).round(3).tolist()
    [0.495]
    """
    errors, topics = np.broadcast_arrays(np.asarray(relative, dtype=np.float64), np.asarray(n_topics))
    effects = {n: _detectable_effect(int(n), alpha, beta) if n >= 2 else np.nan for n in np.unique(np.floor(topics))}
    size = np.array([effects[n] for n in np.floor(topics).ravel()]).reshape(topics.shape)
    return np.asarray(size * np.sqrt(2 * errors * topics))


def _detectable_effect(n_topics: int, alpha: float, beta: float) -> float:
    """Return which difference a paired t-test finds with probability 1 - β, in standard deviations of the differences."""
    low, high = 0.0, 1.0
    while power_of_t_test(n_topics, high, alpha) < 1 - beta:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_t_test(n_topics, middle, alpha) >= 1 - beta else (middle, high)
    return high


def _settle(power: npt.ArrayLike, beyond: FloatArray) -> FloatArray:
    """Return the power, and 1 where the noncentral distribution is so far away that its series fails."""
    return np.where(np.isfinite(power), power, np.where(beyond > 0, 1.0, np.nan))


def check_prices(prices: Mapping[str, float], known: Mapping[str, float]) -> None:
    """Refuse prices of what the scores do not have, and prices that are no positive numbers."""
    for part, price in prices.items():
        if part not in known:
            have = f"{format_list(list(known))} {'has' if len(known) == 1 else 'have'} one here"
            raise MetaevalError(f"{format_option('prices', part)}: the scores tell nothing of {part}; {have}")
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 < price < np.inf:
            raise MetaevalError(f"the price of a {part} is {price!r}; it is a number above 0")


def list_designs(budget: float, prices: Mapping[str, float], present: Mapping[str, float]) -> dict[str, FloatArray]:
    """Which numbers of topics, repeats, judges and tasks does a budget pay for, as many topics as possible?

    A design costs tasks·P(task) + topics·(P(topic) + repeats·(P(repeat) + judges·P(judge))): all runs are scored, and a judge
    judges each repeat of a topic. What has no price stays as it is.

    Parameters
    ----------
    budget : float
    prices : mapping of str to float
        Of topic, repeat, judge or task.
    present : mapping of str to float
        The numbers that there are.

    Returns
    -------
    dict of str to ndarray, shape (design,)
        Numbers by facet, and the cost.

    Raises
    ------
    MetaevalError
        If the budget does not pay for a topic.

    Examples
    --------
    >>> designs = list_designs(100, {"topic": 10, "repeat": 5}, {"topic": 50, "repeat": 2})
    >>> designs["topic"][:3].tolist(), designs["repeat"][:3].tolist(), designs["cost"][:3].tolist()
    ([6.0, 5.0, 4.0], [1.0, 2.0, 3.0], [90.0, 100.0, 100.0])
    """
    tried = [LADDER if part in prices else (present.get(part, 1.0),) for part in SHARED]
    repeats, judges, tasks = np.array(list(product(*tried)), dtype=np.float64).T
    price = {part: prices.get(part, 0.0) for part in ("topic", *SHARED)}
    each = price["topic"] + repeats * (price["repeat"] + judges * price["judge"])
    fixed = tasks * price["task"]
    topics = np.full(len(each), float(present["topic"]))
    if "topic" in prices:
        topics = np.floor((budget - fixed) / each * (1 + 1e-12))
        topics -= topics % tasks if "task" in present else 0  # as many in each task
    cost = fixed + topics * each
    least = tasks if "task" in present else np.ones_like(tasks)
    possible = (topics >= least) & (cost <= budget * (1 + 1e-12))
    if not possible.any():
        cheapest = float((fixed + (least if "topic" in prices else topics) * each).min())
        what = "one topic" + " of each task" * ("task" in present) + ", which takes"
        what = what if "topic" in prices else "the present topics, which take"
        raise MetaevalError(f"{format_option('budget', f'{budget:g}')} does not pay for {what} {cheapest:g} at least")
    numbers = {"topic": topics, "repeat": repeats, "judge": judges, "task": tasks, "cost": cost}
    return {part: values[possible] for part, values in numbers.items() if part in (*present, "cost")}
