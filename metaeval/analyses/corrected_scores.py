"""Which runs are better, by a judge's scores on all topics and people's on some?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_choice, check_count, check_scores, check_seed, check_share
from metaeval.analyses.corrected_result import CorrectedScores, Labelled
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_option
from metaeval.io.partial_scores import PeopleScores, read_partial
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import sign
from metaeval.stats.prediction_powered import (
    Corrected,
    Target,
    are_whole_topics,
    correct_means,
    find_unlike,
    spread_weights,
)
from metaeval.stats.streams import stream_key

FEWEST_LABELS = 5
"""Labelled topics of a run below which nothing is said."""

ENOUGH_LABELS = 20
"""Labelled topics below which a note says that intervals hold less often than they claim: docs/concepts/correction.md."""

UNLIKE_P = 0.001
"""How improbable the labelled topics are before a note says that they were not chosen at random."""

REVERSED = -3.1
"""How many standard errors a judge's covariance with people lies below 0 before a note says that it is the wrong way round."""

OUT_OF_REACH = 1e100
"""Scores so large, or all as small as its inverse, cannot be squared."""

OTHER_SCALE = 3.0
"""How many times as much one's scores spread as the other's before judge and people are on different scales."""


def corrected_scores(
    scores: Scores,
    *,
    people: Scores | pd.DataFrame,
    target: Target = "population",
    n_trials: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> CorrectedScores:
    """Which runs are better, by a judge's scores on all topics and people's on some?

    Prediction-powered inference (Angelopoulos et al. 2023) takes a run's mean from the judge's scores on all topics, and
    corrects it by how people's scores differ from the judge's where there are both. Intervals are simultaneous for all pairs
    of runs. The labelled topics must have been chosen at random, or with known probabilities. Of a judge that errs rarely,
    few labels may show no error: intervals are then too short (docs/concepts/correction.md).

    Parameters
    ----------
    scores : Scores
        Of every run on every topic; each measure is a judge. The weights of several judges are tuned.
    people : Scores or DataFrame
        Scores of people on some topics: columns run, topic, score and perhaps probability, or a column per run.
    target : {"population", "topics"}, optional
        Whether the means are those of the population that the topics are from, or of these topics.
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
    >>> scores = Scores(judge[..., None], runs=["a", "b", "c"], topics=range(200), measures=["nDCG"])
    >>> some = rng.choice(200, size=60, replace=False)
    >>> people = Scores(truth[:, some, None], runs=["a", "b", "c"], topics=some, measures=["nDCG"])
    >>> corrected_scores(scores, people=people).answer()
    'c is first by nDCG.'
    """
    check_scores(scores, topics=FEWEST_LABELS)
    check_choice("target", target, Target)
    check_count("n_trials", n_trials, 100)
    check_share("confidence", confidence)
    if n_trials * (1 - confidence) < 5 - 1e-9:
        raise MetaevalError(
            f"{n_trials:,} trials do not tell intervals of {confidence:g}: use {format_option('n_trials')} of at least "
            f"{int(np.ceil(5 / (1 - confidence) - 1e-9)):,}"
        )
    check_seed(seed)
    labels = read_partial(people)
    data = _align(scores, labels)
    key = stream_key(seed, scores.collection, "corrected_scores")
    options: dict[str, Any] = {"key": key, "n_trials": n_trials, "confidence": confidence}
    alone, by_people, both = _correct(data, target, options)
    signature = sign(
        "corrected_scores", scores, people=f"{labels.measure}@{labels.fingerprint}", labels=int(data.known.sum()),
        target=target, trials=n_trials, confidence=confidence, seed=seed,
    )  # fmt: skip
    labelled = Labelled(int(data.known.sum(axis=1).min()), len(data.topics))
    return CorrectedScores(
        scores.collection, data.runs, scores.measures, labels.measure, alone, by_people, both, labelled,
        data.find_bias(find_signs(scores.measures)), target, confidence, signature,
        remarks=(*_remark(data, target), *_remark_judges(data, scores.measures)),
    )  # fmt: skip


class Data(NamedTuple):
    """Scores of judges and people of which larger ones are better, in the order of labels.

    `given` and `weights` have the shape (run, topic), `judges` (judge, run, topic). `order` is a topic's place in the file,
    `unfilled` how many topics have a probability and no label, `sign` is −1 where lower scores of people are better.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    given: np.ndarray
    judges: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    sign: int
    stated: bool
    unfilled: int

    @property
    def known(self) -> np.ndarray:
        """Which cells people labelled, shape (run, topic)."""
        return ~np.isnan(self.given)

    def find_bias(self, signs: np.ndarray) -> np.ndarray:
        """Return how much higher each judge scores each run than people do, shape (judge, run); NaN on another scale.

        `signs` are the directions of the judges, shape (judge,): another one than people's is another scale.
        """
        gaps = np.where(self.known, self.judges - np.nan_to_num(self.given), 0.0)
        bias = self.sign * (gaps * self.weights).sum(axis=2) / len(self.topics)
        people, *judges = (each[self.known] for each in (self.given, *self.judges))
        apart = np.array([_are_apart(judge, people) for judge in judges]) | (signs != self.sign)
        return np.where(apart[:, np.newaxis], np.nan, bias)


def _are_apart(judge: np.ndarray, people: np.ndarray) -> bool:
    """Say whether scores are on different scales: one spreads much more, or they lie far apart."""
    spreads = sorted([float(judge.std()), float(people.std())])
    return spreads[1] > OTHER_SCALE * spreads[0] or abs(float(judge.mean() - people.mean())) > OTHER_SCALE * spreads[1]


def _align(scores: Scores, labels: PeopleScores) -> Data:
    """Return both in the order of labels."""
    place = {topic: number for number, topic in enumerate(scores.topics)}
    ordered = scores.sel(runs=sorted(scores.runs), topics=sorted(scores.topics))
    given, probabilities = labels.align(ordered.runs, ordered.topics)
    turn = int(find_signs((labels.measure,))[0])
    counts = (~np.isnan(given)).sum(axis=1)
    if counts.min() < FEWEST_LABELS:
        raise DataError(
            f"people labelled {counts.min()} of {len(ordered.topics)} topics of the run {ordered.runs[int(counts.argmin())]}; "
            f"intervals need at least {FEWEST_LABELS} of every run"
        )
    weights = spread_weights(~np.isnan(given), probabilities)
    _check_weights(weights, ordered.runs)
    for name, values in (
        (labels.measure, given),
        *zip(scores.measures, np.moveaxis(ordered.values, 2, 0), strict=True),
    ):
        largest = float(np.nanmax(np.abs(values)))
        if largest and not 1 / OUT_OF_REACH < largest < OUT_OF_REACH:
            raise DataError(f"{name}: scores reach {largest:.0e}, whose squares are no numbers: rescale them")
    unfilled = 0 if probabilities is None else int((np.isnan(given) & ~np.isnan(probabilities)).any(axis=0).sum())
    return Data(
        ordered.runs, ordered.topics, given * turn, (ordered.values * find_signs(scores.measures)).transpose(2, 0, 1),
        weights, np.array([place[topic] for topic in ordered.topics]), turn,
        probabilities is not None, unfilled,
    )  # fmt: skip


def _check_weights(weights: np.ndarray, runs: Sequence[str]) -> None:
    """Refuse probabilities by which a few labels stand for nearly all topics."""
    effective = np.square(weights.sum(axis=1)) / np.square(weights).sum(axis=1)  # Kish 1965
    worst = int(effective.argmin())
    if effective[worst] < FEWEST_LABELS - 0.01:
        raise DataError(
            f"by their probabilities the labels of the run {runs[worst]} are worth {effective[worst]:.1f} equal ones, and "
            f"intervals need {FEWEST_LABELS}: are the smallest probabilities right?"
        )


def _correct(data: Data, target: Target, options: dict[str, Any]) -> tuple[tuple[Corrected, ...], Corrected, Corrected]:
    """Return what follows from each judge alone, from people alone, and from both."""
    none, everywhere = data.judges[:0], np.ones_like(data.weights)
    return (
        tuple(correct_means(judge, none, everywhere, **options) for judge in data.judges),
        correct_means(data.given, none, data.weights, target=target, **options),
        correct_means(data.given, data.judges, data.weights, target=target, **options),
    )


def _remark(data: Data, target: Target) -> Iterator[str]:
    """Yield what makes the result doubtful, a note each."""
    n = int(data.known.sum(axis=1).min())
    traits = {"place in the file": data.order[np.newaxis], "the judge's mean score": data.judges.mean(axis=1)}
    traits |= {"how far the judge sees runs apart": data.judges.std(axis=1)}
    p = {name: float(find_unlike(data.weights.mean(axis=0), values).min()) for name, values in traits.items()}
    unlike = min(p, key=p.__getitem__)
    if p[unlike] * (1 + 2 * len(data.judges)) < UNLIKE_P:
        yield (
            f"the labelled topics were not chosen at random: they differ in {unlike}\n"
            "Corrected means are right only for a random choice, or with its probabilities in a column probability. Ranks of "
            "labelled and of all topics are compared by place in the file, and by mean and spread of the judge's scores; "
            f"p = {p[unlike]:.1g}."
        )
    if data.unfilled:
        topics = format_count(data.unfilled, "topic")
        yield f"{topics} of the list {'has' if data.unfilled == 1 else 'have'} no label yet: results hold when all are labelled"
    if n < ENOUGH_LABELS:
        yield f"{n} labelled topics are few: intervals hold less often than they claim (docs/concepts/correction.md)"
    if target == "topics" and not are_whole_topics(data.weights):
        yield "people labelled other topics of some runs than of others: intervals are a little too wide"


def _remark_judges(data: Data, judges: Sequence[Measure]) -> Iterator[str]:
    """Yield which judges tell nothing, were copied, or score the other way round, a note each."""
    for judge, scored in zip(judges, data.judges, strict=True):
        if not np.ptp(scored, axis=0).any():
            yield f"{judge} gives all runs the same score on every topic: it tells nothing about them"
        elif np.allclose(scored[data.known], data.given[data.known], rtol=1e-9, atol=0):
            yield f"all labels of people equal the scores of {judge}: were they copied from it?"
        elif _is_reversed(scored, data.given):
            yield (
                f"{judge} scores low what people score high: check its direction\n"
                "Its λ is negative: the correction reverses its scores."
            )


def _is_reversed(judge: np.ndarray, people: np.ndarray) -> bool:
    """Say whether a judge orders runs on labelled topics the other way round than people do, and not by chance."""
    known = ~np.isnan(people)
    mine, theirs = (
        np.where(known, scored - np.where(known, scored, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
        for scored in (judge, people)
    )
    by_topic = (mine * theirs).sum(axis=0)
    return bool(by_topic.sum() < REVERSED * np.linalg.norm(by_topic))
