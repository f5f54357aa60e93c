"""Where does the noise of scores come from, and what should be bought next: topics, repeats, judges or tasks?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.checks import check_positive, check_seed, check_share
from metaeval.analyses.variance_result import PLURALS, VarianceComponents
from metaeval.data.ratings import GapPolicy, Ratings
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.show.signature import Signature
from metaeval.stats.split_half import expected_tau
from metaeval.stats.streams import generator, stream_key
from metaeval.stats.variance_components import (
    Components,
    detectable_difference,
    find_components,
    find_reliability,
    list_designs,
)

_SIZES = (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8)
_CURVE, _AROUND = 24, 4  # points of the curve, from the budget over this to as many times it
_FAR = 450  # powers of two from 1, beyond which scores get another unit
_LOOSE = 10  # times the variance of a single score: an interval that reaches further is a note
_FEWEST_HALVES = 4  # topics from which halves can be compared


def variance_components(
    ratings: Ratings | Scores,
    *,
    missing: GapPolicy = "raise",
    budget: float | None = None,
    prices: Mapping[str, float] | None = None,
    alpha: float = 0.05,
    beta: float = 0.2,
    confidence: float = 0.95,
    seed: int = 0,
) -> VarianceComponents:
    """Where does the noise of scores come from, and what to buy next: topics, repeats, judges or tasks?

    Parameters
    ----------
    ratings : Ratings or Scores
        At least two runs and topics; perhaps with repeats, judges and tasks.
    missing : {"raise", "drop-topic", "drop-run"}, optional
        What to do if cells of runs, topics and judges lack scores.
    budget : float, optional
        What a new collection may cost; needs prices.
    prices : mapping of str to float, optional
        Price of a topic, of a repeat of all runs on a topic, of a judge's scores of such a repeat, of a task. What has no
        price stays as it is.
    alpha : float, optional
    beta : float, optional
        Probability of missing the detectable difference.
    confidence : float, optional
        Level of the intervals, which take effects as normal.
    seed : int, optional

    Returns
    -------
    VarianceComponents

    Raises
    ------
    MetaevalError
        If cells lack scores and `missing` does not say what to do, tasks have other numbers of topics, a price is of what the
        scores do not have, or the budget does not pay for one topic.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(8, 1)) + rng.normal(size=30) + rng.normal(size=(8, 30))
    >>> scores = Scores(values[..., None], runs=list("abcdefgh"), topics=range(30), measures=["X"])
    >>> found = variance_components(scores, budget=200, prices={"topic": 10})
    >>> found.to_frame()[["component", "variance"]].round(2)
                   component  variance
    0                    run      0.26
    1                  topic      0.56
    2  run × topic and error      1.07
    >>> found.answer()
    'For 200, buy 20 topics. What you have is more reliable (Eρ² 0.88, not 0.83).'
    """
    given = Ratings.from_scores(ratings) if isinstance(ratings, Scores) else ratings
    if not isinstance(given, Ratings):
        raise MetaevalError(f"this takes Ratings or Scores, not {type(ratings).__name__}")
    given = given.balance(missing)
    for name, share in (("alpha", alpha), ("beta", beta), ("confidence", confidence)):
        check_share(name, share)
    check_seed(seed)
    frame, numbers = given.frame, _count_levels(given)
    unit = _choose_unit(frame["score"].to_numpy())
    frame = frame if unit == 1 else frame.assign(score=frame["score"] / unit)
    _check_budget(budget, prices, numbers)
    components, coefficients, errors, taus = [], np.empty((len(given.measures), 2, 3)), [], []
    for m, measure in enumerate(given.measures):
        part = frame[frame["measure"] == str(measure)]
        codes = {facet: pd.factorize(part[facet], sort=True)[0] for facet in given.facets}
        rng = generator(seed, given.collection, "variance_components")
        found = find_components(part["score"].to_numpy(), codes, rng)
        components.append(found)
        both = np.concatenate([found.variance[np.newaxis], found.drawn])
        known = find_reliability(found.effects, both, numbers)
        for position, drawn in enumerate((known.relative_coefficient, known.absolute_coefficient)):
            ends = np.nanquantile(drawn[1:], [(1 - confidence) / 2, (1 + confidence) / 2])
            coefficients[m, position] = drawn[0], *ends
        errors.append(known.relative[0])
        key = stream_key(seed, given.collection, "variance_components", "halves")
        taus.append(_expect_tau(part, coefficients[m, 0, 0], key))
    detectable = detectable_difference(errors, numbers.get("task", numbers["topic"]), alpha, beta)
    designs, curve = _plan(given.measures, components, numbers, budget, prices or {}, (alpha, beta))
    settings = {
        "measures": ", ".join(map(str, given.measures)),
        "facets": ", ".join(given.facets),
        "confidence": f"{confidence:g}", "alpha": f"{alpha:g}", "beta": f"{beta:g}", "seed": str(seed),
    }  # fmt: skip
    settings |= {} if unit == 1 else {"unit": f"{unit:.6g}"}
    if budget is not None:
        settings |= {
            "budget": f"{budget:g}",
            "prices": ", ".join(f"{part} {price:g}" for part, price in (prices or {}).items()),
        }
    size = f"{given.collection or 'ratings'}@{given.fingerprint} {given.size}"
    signature = Signature("variance_components", (size,), tuple(settings.items()), metaeval.__version__)
    return VarianceComponents(
        given.measures, tuple(components), numbers, coefficients, detectable, np.array(taus), designs, curve, confidence, alpha,
        beta, budget, signature, remarks=_remark(given.measures, components, confidence, unit),
    )  # fmt: skip


def _choose_unit(scores: np.ndarray) -> float:
    """Return 1, or the power of two near the largest score where squares of scores might be no numbers."""
    exponent = int(np.frexp(np.abs(scores).max())[1])
    return 1.0 if abs(exponent) < _FAR or not scores.any() else float(np.ldexp(1.0, exponent - 1))


def _count_levels(ratings: Ratings) -> dict[str, float]:
    """Return how many runs, tasks, topics and judges there are, and repeats in each cell."""
    frame, facets = ratings.frame, ratings.facets
    numbers = {facet: float(frame[facet].nunique()) for facet in facets}
    if "repeat" in numbers:  # which need not have the same names everywhere
        cells = [facet for facet in facets if facet != "repeat"]
        numbers["repeat"] = float(frame.groupby([*cells, "measure"]).size().iloc[0])
    return numbers


def _check_budget(budget: float | None, prices: Mapping[str, float] | None, numbers: Mapping[str, float]) -> None:
    """Refuse a budget without prices, prices without a budget, and prices of what is not there."""
    if (budget is None) != (not prices):
        lacking = format_option("prices", "topic=10") if budget is not None else format_option("budget", "100")
        raise MetaevalError(f"a budget and prices go together: give {lacking} too")
    if budget is not None and prices:
        check_positive("budget", budget)
        known = [facet for facet in numbers if facet != "run"]
        for part, price in prices.items():
            if part not in known:
                have = f"{format_list(known)} {'has' if len(known) == 1 else 'have'} one here"
                raise MetaevalError(f"{format_option('prices', part)}: the scores tell nothing of {part}; {have}")
            if isinstance(price, bool) or not isinstance(price, int | float) or not 0 < price < np.inf:
                raise MetaevalError(f"the price of a {part} is {price!r}; it is a number above 0")


def _expect_tau(part: pd.DataFrame, coefficient: float, key: int) -> float:
    """Return the expected τ of two rankings on as many new topics; with judges or tasks, that of normal runs."""
    # Two normal numbers with correlation r have τ = 2/π·arcsin r.
    means = part.pivot_table(index="run", columns="topic", values="score").to_numpy()
    if {"task", "judge"} & set(part) or means.shape[1] < _FEWEST_HALVES:
        return float(2 / np.pi * np.arcsin(coefficient))
    between, _ = expected_tau(means[..., np.newaxis], [means.shape[1]], key=key, intervals=False)
    return float(between[0, 0, 0])


def _plan(
    measures: Sequence[Measure],
    components: Sequence[Components],
    numbers: Mapping[str, float],
    budget: float | None,
    prices: Mapping[str, float],
    errors: tuple[float, float],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what a budget buys by every measure, and Eρ² by cost; without a budget, by topics."""
    present = {facet: float(max(1, round(number))) for facet, number in numbers.items() if facet != "run"}
    designs, curves = [pd.DataFrame()], []
    for measure, found in zip(measures, components, strict=True):
        if budget is None:
            topics = np.unique(np.maximum(np.rint(np.array(_SIZES) * present["topic"]), present.get("task", 1.0)))
            known = find_reliability(found.effects, found.variance[np.newaxis], {**present, "topic": topics})
            points = {"topics": topics, "coefficient": known.relative_coefficient}
            curves.append(pd.DataFrame({"measure": str(measure), "line": str(measure), **points}))
            continue
        bought = list_designs(budget, prices, present)
        known = find_reliability(found.effects, found.variance[np.newaxis], bought)
        columns: dict[str, object] = {PLURALS[facet]: bought[facet] for facet in present}
        columns |= {
            "cost": bought["cost"],
            "coefficient": known.relative_coefficient,
            "phi": known.absolute_coefficient,
        }
        columns["detectable"] = detectable_difference(known.relative, bought.get("task", bought["topic"]), *errors)
        frame = pd.DataFrame({"measure": str(measure), **columns})
        frame = frame.sort_values(["coefficient", "cost"], ascending=[False, True], kind="stable", ignore_index=True)
        designs.append(frame.assign(best=frame.index == 0))
        curves.append(_draw_curve(found, budget, prices, present).assign(measure=str(measure)))
    return pd.concat(designs, ignore_index=True), pd.concat(curves, ignore_index=True)


def _draw_curve(
    found: Components, budget: float, prices: Mapping[str, float], present: Mapping[str, float]
) -> pd.DataFrame:
    """Return Eρ² by cost of the best design, and of the best one with as many repeats, judges and tasks as now."""
    rows = []
    for cost in np.geomspace(budget / _AROUND, budget * _AROUND, _CURVE):
        try:
            bought = list_designs(float(cost), prices, present)
        except MetaevalError:  # it does not pay for a topic
            continue
        values = find_reliability(found.effects, found.variance[np.newaxis], bought).relative_coefficient
        as_now = np.all([bought[facet] == present[facet] for facet in present if facet != "topic"], axis=0)
        rows.append(("best design", cost, values.max()))
        if len(prices) > 1 and np.any(as_now):
            rows.append(("topics only", cost, values[as_now].max()))
    return pd.DataFrame(rows, columns=["line", "cost", "coefficient"])


def _remark(
    measures: Sequence[Measure], components: Sequence[Components], confidence: float, unit: float
) -> tuple[str, ...]:
    """Say which estimates were negative, which are hardly known, and what the design does not separate."""
    remarks = [] if unit == 1 else [f"differences are in units of {unit:.3g}, and variances in squares of it"]
    negative, loose = [], []
    for measure, found in zip(measures, components, strict=True):
        names = [f"{effect.name} ({measure})" if len(measures) > 1 else effect.name for effect in found.effects]
        lost = found.raw < 0
        high = np.quantile(found.drawn, (1 + confidence) / 2, axis=0)
        negative += np.array(names)[lost].tolist()
        loose += np.array(names)[~lost & (high > _LOOSE * found.variance.sum())].tolist()
    if loose:
        remarks.append(
            f"the data hardly bound the variance of {format_list(loose)}\n"
            f"The interval goes beyond {_LOOSE} times the variance of a single score: there are few levels, or the component "
            "is small beside the others. A design that rests on it is uncertain."
        )
    if negative:
        remarks.append(
            f"no variance was found for {format_list(negative)}; set to 0\n"
            "The estimate by mean squares was negative: there is little or none. The other components are as they were "
            "estimated."
        )
    merged = dict.fromkeys(name for found in components for name in found.merged)
    if merged:
        shown = [name.replace(" and ", " from ").replace(" or ", " from ") for name in merged]
        remarks.append(
            f"this design cannot separate {format_list(shown)}\n"
            "They have one component. Repeats of a run on a topic would separate run × topic from error."
        )
    return tuple(remarks)
