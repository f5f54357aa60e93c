"""Which runs are better, by a judge's scores on all topics and people's on some?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_choice, check_count, check_scores, check_seed, check_share
from metaeval.analyses.corrected_result import CorrectedScores, Labelled
from metaeval.analyses.rank_result import RunRanks, find_ranks
from metaeval.data.partial_scores import PartialScores
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_list, format_option
from metaeval.io.partial_scores import read_partial
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import sign
from metaeval.stats.label_plan import find_unlike, plan_topics
from metaeval.stats.prediction_powered import (
    Corrected,
    Target,
    are_whole_topics,
    correct_means,
    correct_published,
    spread_weights,
)
from metaeval.stats.streams import generator, stream_key

Method: TypeAlias = Literal["bootstrap-t", "normal"]

FEWEST_LABELS = 5
"""Labelled topics of a run below which nothing is said."""

ENOUGH_LABELS = 20
"""Labelled topics from which on intervals hold what they promise in simulations."""

UNLIKE_P = 0.001
"""How improbable the labelled topics are before a note says that they were not chosen at random."""

OTHER_SCALE = 3.0
"""How many times as much one's scores spread as the other's before judge and people are on different scales."""


def corrected_scores(
    scores: Scores,
    *,
    people: Scores | PartialScores | pd.DataFrame,
    target: Target = "population",
    method: Method = "bootstrap-t",
    plan: int | None = None,
    pair: Sequence[str] | None = None,
    n_trials: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> CorrectedScores:
    """Which runs are better, by a judge's scores on all topics and people's on some?

    Prediction-powered inference (Angelopoulos et al. 2023) takes a run's mean from the judge's scores on all topics, and
    corrects it by how people's scores differ from the judge's where there are both. Intervals of all pairs of runs hold
    together. It is right if the labelled topics were chosen at random, or with known probabilities.

    Parameters
    ----------
    scores : Scores
        Of every run on every topic; each measure is a judge. The weights of several judges are tuned.
    people : Scores, PartialScores or DataFrame
        Scores of people on some topics: columns run, topic, score and perhaps probability; or a row per topic, a column per run.
    target : {"population", "topics"}, optional
        Whether the means are those of the population that the topics are from, or of these topics.
    method : {"bootstrap-t", "normal"}, optional
        Intervals that hold with few labels, or those published as PPI++, of a single judge.
    plan : int, optional
        Choose so many topics to label next. With --out there is a list to fill in.
    pair : sequence of str, optional
        Two runs; a note says how many labels would decide between them.
    n_trials : int, optional
        Of the bootstrap.
    confidence : float, optional
        Of all intervals together.
    seed : int, optional

    Returns
    -------
    CorrectedScores

    Raises
    ------
    DataError
        If labels are of other runs or topics than the judge's scores, or a run has fewer than five.
    MetaevalError
        If an option is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(3, 200)) + [[0], [0.1], [1]]
    >>> judge = truth + rng.normal(0, 0.5, (3, 200)) + [[0.6], [0], [0]]
    >>> scores = Scores(judge[..., None], runs=["a", "b", "c"], topics=range(200), measures=["judge"])
    >>> some = rng.choice(200, size=60, replace=False)
    >>> people = Scores(truth[:, some, None], runs=["a", "b", "c"], topics=some, measures=["people"])
    >>> corrected_scores(scores, people=people).answer()
    "c is first; people confirm all but 1 of the judge's conclusions."
    """
    check_scores(scores, topics=FEWEST_LABELS)
    check_choice("target", target, Target)
    check_choice("method", method, Method)
    check_count("n_trials", n_trials, 100)
    check_share("confidence", confidence)
    check_seed(seed)
    labels = read_partial(people)
    data = _align(scores, labels)
    _check_labels(data)
    pair = _check_pair(pair, data.runs)
    options = {"key": stream_key(seed, scores.collection, "corrected_scores"), "n_trials": n_trials, "confidence": confidence}
    if method == "normal":
        _check_published(data, target)
        found = _correct_published(data, options)
    else:
        found = _correct(data, target, options)
    signature = sign(
        "corrected_scores", scores, people=f"{labels.measure}@{labels.fingerprint}", labels=int(data.known.sum()),
        target=target, method=method, trials=n_trials, confidence=confidence, seed=seed,
    )  # fmt: skip
    about = {"collection": scores.collection, "test": method, "alpha": round(1 - confidence, 9), "signature": signature}
    measures = (*scores.measures, labels.measure, labels.measure)
    boards = {
        name: _rank_runs(each, data.runs, measure, about)
        for (name, each), measure in zip(found.items(), measures, strict=True)
    }
    result = CorrectedScores(
        scores.collection, data.runs, found, boards, _count(data), data.find_bias(), target, confidence, pair,
        signature, remarks=(*_remark_on_choice(data), *_remark_on_few(data), *_remark_on_cells(data, target)),
    )  # fmt: skip
    if plan is None:
        return result
    check_count("plan", plan, 1)
    rng = generator(seed, scores.collection, "corrected_scores", "plan")
    return replace(result, plan=_plan(data, found["both"], min(plan, len(data.topics)), rng, labels.measure))


class Data(NamedTuple):
    """Scores of judges and people whose larger values are better, in the order of labels.

    `given` and `weights` have the shape (run, topic), `judges` (judge, run, topic), `order` is where a topic stands in the file,
    `sign` is −1 where lower scores of people are better.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    given: np.ndarray
    judges: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    sign: int
    stated: bool

    @property
    def known(self) -> np.ndarray:
        """Which cells people labelled, shape (run, topic)."""
        return ~np.isnan(self.given)

    def find_bias(self) -> np.ndarray:
        """Return how much higher each judge scores each run than people do, shape (judge, run); NaN on another scale."""
        ratios = np.array([_compare_spread(judge[self.known], self.given[self.known]) for judge in self.judges])
        gaps = np.where(self.known, self.judges - np.nan_to_num(self.given), 0.0)
        bias = self.sign * (gaps * self.weights).sum(axis=2) / len(self.topics)
        return np.where((np.abs(np.log(ratios)) > np.log(OTHER_SCALE))[:, np.newaxis], np.nan, bias)


def _compare_spread(judge: np.ndarray, people: np.ndarray) -> float:
    spread = [float(each.std()) for each in (judge, people)]
    return spread[0] / spread[1] if min(spread) > 0 else 1.0


def _align(scores: Scores, labels: PartialScores) -> Data:
    """Return both in the order of labels."""
    place = {topic: number for number, topic in enumerate(scores.topics)}
    sorted_scores = scores.sel(runs=sorted(scores.runs), topics=sorted(scores.topics))
    given, probabilities = labels.align(sorted_scores.runs, sorted_scores.topics)
    sign_of_people = int(find_signs((labels.measure,))[0])
    judges = (sorted_scores.values * find_signs(scores.measures)).transpose(2, 0, 1)
    known = ~np.isnan(given)
    lacking = [run for run, has in zip(sorted_scores.runs, known.any(axis=1), strict=True) if not has]
    if lacking:
        raise DataError(f"{format_list(lacking)}: no label of people", hint="people label some topics of every run")
    return Data(
        sorted_scores.runs, sorted_scores.topics, given * sign_of_people, judges, spread_weights(known, probabilities),
        np.array([place[topic] for topic in sorted_scores.topics]), sign_of_people, probabilities is not None,
    )  # fmt: skip


def _check_labels(data: Data) -> None:
    counts = data.known.sum(axis=1)
    if counts.min() < FEWEST_LABELS:
        run = data.runs[int(counts.argmin())]
        raise DataError(
            f"people labelled {counts.min()} of {len(data.topics)} topics of the run {run}; intervals need at least "
            f"{FEWEST_LABELS} topics of every run"
        )


def _check_pair(pair: Sequence[str] | None, runs: Sequence[str]) -> tuple[str, ...]:
    named = tuple(pair or ())
    if named and (len(set(named)) != 2 or not set(named) <= set(runs)):
        raise MetaevalError(
            f"{format_option('pair')} is {format_list(named)}; name two different runs (there are {format_list(runs)})"
        )
    return named


def _check_published(data: Data, target: Target) -> None:
    """Refuse what the published estimator does not cover."""
    normal = format_option("method", "normal")
    if len(data.judges) > 1:
        raise MetaevalError(f"{normal} takes a single judge; there are {len(data.judges)} ({format_option('measure')})")
    if target == "topics" or data.stated or not are_whole_topics(data.weights):
        raise MetaevalError(
            f"{normal} is for whole topics chosen at random from a population: without {format_option('target', 'topics')}, "
            "probabilities or single cells"
        )


def _correct(data: Data, target: Target, options: dict[str, Any]) -> dict[str, Corrected]:
    """Return what each judge alone says, people alone, and both."""
    none, everywhere = data.judges[:0], np.ones_like(data.weights)
    return {
        **{str(j): correct_means(judge, none, everywhere, **options) for j, judge in enumerate(data.judges)},
        "people": correct_means(data.given, none, data.weights, target=target, **options),
        "both": correct_means(data.given, data.judges, data.weights, target=target, **options),
    }


def _correct_published(data: Data, options: dict[str, Any]) -> dict[str, Corrected]:
    judge = data.judges[0]
    return {
        "0": correct_published(judge, judge, **options),
        "people": correct_published(data.given, np.zeros_like(judge), **options),
        "both": correct_published(data.given, judge, **options),
    }


def _rank_runs(found: Corrected, runs: tuple[str, ...], measure: Measure, about: dict[str, Any]) -> RunRanks:
    """Return the ranks of runs by one kind of evidence."""
    first, second = np.triu_indices(len(runs), 1)
    differ = np.zeros((1, len(runs), len(runs)), dtype=bool)
    better = np.zeros_like(differ)
    differ[0, first, second] = differ[0, second, first] = found.signs != 0
    better[0, first, second], better[0, second, first] = found.differences > 0, found.differences < 0
    means = found.means[:, np.newaxis] * find_signs((measure,))
    power = SimpleNamespace(runs=runs, measures=(measure,), means=means, diagnostics=(), remarks=(), **about)
    return find_ranks(power, better, differ)


def _count(data: Data) -> Labelled:
    known = data.known
    return Labelled(int(known.sum(axis=1).min()), len(data.topics), int(known.sum()))


def _remark_on_choice(data: Data) -> list[str]:
    """Say where the labelled topics are unlike the others in what is known of all."""
    overall = data.judges.mean(axis=1)
    traits = np.array([data.order, *overall, *data.judges.std(axis=1)])
    names = ["their place in the file", *["the judge's mean score"] * len(overall), *["how far the judge sees runs apart"] * len(overall)]
    p = find_unlike(data.weights.mean(axis=0), traits)
    if p.min() * len(p) > UNLIKE_P:
        return []
    return [
        f"the labelled topics were not chosen at random: they differ in {names[int(p.argmin())]}\n"
        "Corrected means are right only for a random choice, or with the probabilities of the choice in a column probability. "
        f"Ranks of labelled and all topics are compared by place in the file, mean and spread of the judge's scores; p = {p.min():.1g}."
    ]


def _remark_on_few(data: Data) -> list[str]:
    n = int(data.known.sum(axis=1).min())
    if n >= ENOUGH_LABELS:
        return []
    return [
        f"{n} labelled topics are few: intervals may hold less often than stated\n"
        f"With 5 to 10 labelled topics all intervals together held in 90 % of simulations in the worst case, not in 95 %; "
        f"from {ENOUGH_LABELS} on they hold."
    ]


def _remark_on_cells(data: Data, target: Target) -> list[str]:
    if are_whole_topics(data.weights) or target == "population":
        return []
    return ["people labelled other topics of some runs than of others: intervals are a little too wide"]


def _plan(data: Data, both: Corrected, n: int, rng: np.random.Generator, measure: Measure) -> pd.DataFrame:
    """Return what is labelled and what to label next, a row each, with the probabilities that belong to both."""
    if not are_whole_topics(data.weights):
        raise MetaevalError(f"{format_option('plan')} is for whole topics: people labelled other topics of some runs")
    left = int((data.weights[0] == 0).sum())
    if not left:
        raise MetaevalError(f"{format_option('plan')}: people labelled every topic already")
    m = len(data.runs)
    first, second = np.triu_indices(m, 1)
    importance = np.zeros((m, m))
    open_pairs = (both.signs == 0) & (both.variances > 0)
    importance[first, second] = np.where(open_pairs, 1 / np.where(open_pairs, both.variances, 1.0), 0.0)
    predicted = np.tensordot(both.weights, data.judges, axes=1)
    errors = np.where(data.known, np.nan_to_num(data.given) - predicted, 0.0)
    errors -= np.where(data.known, (errors * data.weights).sum(axis=1, keepdims=True) / len(data.topics), 0.0)
    planned = plan_topics(errors, predicted, data.weights[0], importance + importance.T, min(n, left), rng)
    rows = np.flatnonzero(~np.isnan(planned.probabilities))
    rows = rows[np.argsort(planned.drawn[rows], kind="stable")]
    return pd.DataFrame(
        {
            "run": np.tile(np.array(data.runs, dtype=object), len(rows)),
            "topic": np.repeat(np.array(data.topics, dtype=object)[rows], m),
            str(measure): data.sign * data.given.T[rows].ravel(),
            "probability": np.repeat(planned.probabilities[rows], m),
        }
    )
