"""Which runs are better, by a judge's scores on all topics and people's on some?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_choice, check_count, check_scores, check_seed, check_share
from metaeval.analyses.ranks import LETTERS, RunRanks, chart_ranks, rank_runs
from metaeval.analyses.reference_pairs import name_flips
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_option
from metaeval.io.partial_scores import PeopleScores, read_partial
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import IntervalChart
from metaeval.show.signature import sign
from metaeval.show.table import Table
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


@dataclass(frozen=True, eq=False)
class CorrectedScores(Result):
    """Means of runs by a judge's scores, corrected by people's.

    Parameters
    ----------
    runs : tuple of str
        In the order of their labels.
    judges, measure : tuple of Measure, and Measure
        Of the judges, and of people.
    alone, people, both : tuple of Corrected, Corrected, Corrected
        What follows from each judge alone, from people alone, and from both; larger values are better.
    n_labelled, n_topics : int
        How many topics of a run are labelled, at least, and how many topics there are.
    bias : ndarray, shape (judge, run)
        How much higher a judge scores a run than people do; NaN where they use different scales.
    confidence : float
        Of all intervals together.
    """

    collection: str
    runs: tuple[str, ...]
    judges: tuple[Measure, ...]
    measure: Measure
    alone: tuple[Corrected, ...]
    people: Corrected
    both: Corrected
    n_labelled: int
    n_topics: int
    bias: np.ndarray
    target: Target
    confidence: float

    def __repr__(self) -> str:
        return f"CorrectedScores: {len(self.runs)} runs, {self.n_labelled} of {self.n_topics} topics labelled"

    @cached_property
    def ranks(self) -> RunRanks:
        """The corrected ranks of runs."""
        return self.rank(self.both)

    def rank(self, evidence: Corrected) -> RunRanks:
        """Return the ranks of runs that follow from one kind of evidence: one of `alone`, `people` and `both`."""
        first, second = np.triu_indices(len(self.runs), 1)
        differ, better = np.zeros((2, 1, len(self.runs), len(self.runs)), dtype=bool)
        differ[0, first, second] = differ[0, second, first] = evidence.signs != 0
        better[0, first, second], better[0, second, first] = evidence.differences > 0, evidence.differences < 0
        return rank_runs(
            (self.measure,), self.runs, evidence.means[:, np.newaxis] * find_signs((self.measure,)), better, differ,
            collection=self.collection, test="bootstrap-t", alpha=1 - self.confidence,
            signature=self.signature.follow("run_ranks"),
        )  # fmt: skip

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """What is concluded about every pair of runs, a row each.

        Columns first, second, difference, low, high; judge, people and both, which are 1 where the first run is better, −1
        where the second is and 0 where it is open; flips: whether people reverse the first judge's conclusion, or one is
        lost or new; and with how many labelled topics an open pair would be decided (missing where all would not do).
        """
        first, second = np.triu_indices(len(self.runs), 1)
        names, judge, both = np.array(self.runs, dtype=object), self.alone[0], self.both
        differences = find_signs((self.measure,))[0] * both.differences
        frame = pd.DataFrame({"first": names[first], "second": names[second], "difference": differences})
        frame = frame.assign(low=differences - both.reach, high=differences + both.reach)
        frame = frame.assign(judge=judge.signs, people=self.people.signs, both=both.signs)
        # The variance falls as 1/n − 1/N, to the part that is left when every topic is labelled.
        n, of = self.n_labelled, self.n_topics
        rest = np.maximum(both.variances - both.residual, 0.0) if self.target == "population" else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            aim = both.variances * (both.differences / both.reach) ** 2 - rest
            needed = np.ceil(1 / (aim / both.residual * (1 / n - 1 / of) + 1 / of))
        possible = (both.signs == 0) & (needed > n) & (needed <= of)
        return frame.assign(flips=name_flips(judge.signs, both.signs), topics_needed=np.where(possible, needed, np.nan))

    @cached_property
    def worth(self) -> tuple[float, float, float]:
        """How many labels of people one score of the judge is worth, and the ends of its interval; 0 if all are labelled."""
        n, of, (share, low, high) = self.n_labelled, self.n_topics, self.both.ratio
        if n >= of:
            return 0.0, 0.0, 0.0
        worth, least, most = ((1 / (1 / of + (1 / n - 1 / of) * each) - n) / (of - n) for each in (share, high, low))
        return worth, max(least, 0.0), most

    def answer(self) -> str:
        """Say who is first, and how many other runs may be as good."""
        return self.ranks.answer()

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return runs by rank, what is concluded from each judge alone, people alone and both, and every pair.

        Runs have the columns run, mean (corrected), error (its standard error), rank, low and high (between which ranks it
        stands), letters, judge_rank and bias (both by the first judge). Conclusions have evidence; decided (pairs of runs);
        reversed and open (how many of these both together reverse, or leave open); first (which run is in the first place, or
        how many may be).
        """
        order = self.ranks.order(0)
        runs = self.ranks.to_frame().drop(columns=["measure", "near_first"])
        runs.insert(2, "error", self.both.errors[order])
        judge_rank = self.rank(self.alone[0]).ranks[0][order]
        runs = runs.assign(judge_rank=judge_rank, bias=self.bias[0][order])
        names, rows = [*(f"{judge} alone" for judge in self.judges), "people alone", "both"], []
        for name, evidence in zip(names, (*self.alone, self.people, self.both), strict=True):
            flips = name_flips(evidence.signs, self.both.signs).tolist()
            firsts = self.rank(evidence).to_frame().query("near_first")["run"].tolist()
            first = firsts[0] if len(firsts) == 1 else f"one of {len(firsts)}"
            rows.append((name, np.count_nonzero(evidence.signs), flips.count("reversed"), flips.count("lost"), first))
        summary = pd.DataFrame(rows, columns=["evidence", "decided", "reversed", "open", "first"])
        return {"runs": runs, "summary": summary, "pairs": self.pairs}

    def tables(self) -> list[Table]:
        """Return the runs by corrected rank, with the ranks they may have, and what is concluded from each kind of evidence."""
        frames = self.frames()
        board = self.ranks.leaderboard(self.measure).frame
        runs = board[["may be", "mean", "letters"]].assign(**{"judge's rank": frames["runs"]["judge_rank"].to_numpy()})
        what = "these topics" if self.target == "topics" else "the population that the topics are from"
        legend = (
            f"May be: the ranks that the intervals of all pairs, together {self.confidence:.0%} sure, leave. "
            f"Letters: {LETTERS}."
        )
        counts = self.pairs["flips"].value_counts()
        if reversals := counts.get("reversed", 0):
            judged = f"people reverse {reversals} of the judge's conclusions"
        elif lost := counts.get("lost", 0):
            judged = f"people leave {lost} of the judge's conclusions open"
        elif self.pairs["judge"].any():
            judged = "people confirm all of the judge's conclusions"
        else:
            judged = "the judge alone decides nothing"
        summary = (
            frames["summary"].set_index("evidence").rename(columns={"decided": "pairs decided", "open": "left open"})
        )
        return [
            Table(runs, f"Runs by corrected mean of {self.measure}, of {what}.", self.signature, legend=legend),
            Table(summary, f"Conclusions about {len(self.pairs):,} pairs of runs: {judged}.", self.signature),
        ]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the ranks that runs may have by both, the first judge alone, and people alone."""
        shown = {"corrected": self.both, "judge alone": self.alone[0], "people alone": self.people}
        return chart_ranks({title: self.rank(evidence).to_frame() for title, evidence in shown.items()})


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
    few labels may show no error: intervals leave room for as many as the rule of three allows (docs/concepts/correction.md).

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
    none, everywhere = data.judges[:0], np.ones_like(data.weights)
    result = CorrectedScores(
        scores.collection, data.runs, scores.measures, labels.measure,
        tuple(correct_means(judge, none, everywhere, **options) for judge in data.judges),
        correct_means(data.given, none, data.weights, target=target, **options),
        correct_means(data.given, data.judges, data.weights, target=target, **options),
        int(data.known.sum(axis=1).min()), len(data.topics), _find_bias(data, find_signs(scores.measures)), target, confidence,
        signature=sign(
            "corrected_scores", scores, people=f"{labels.measure}@{labels.fingerprint}", labels=int(data.known.sum()),
            target=target, trials=n_trials, confidence=confidence, seed=seed,
        ),
    )  # fmt: skip
    remarks = (
        *_remark(data, target),
        *_remark_judges(data, scores.measures),
        *_remark_worth(result),
        *_remark_bias(result),
    )
    return replace(result, remarks=remarks)


class Data(NamedTuple):
    """Scores of judges and people of which larger ones are better, in the order of labels.

    `given` and `weights` have the shape (run, topic), `judges` (judge, run, topic), and `known` says which cells people
    labelled. `order` is a topic's place in the file, `unfilled` how many topics have a probability and no label, `sign` is −1
    where lower scores of people are better.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    given: np.ndarray
    known: np.ndarray
    judges: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    sign: int
    unfilled: int


def _align(scores: Scores, labels: PeopleScores) -> Data:
    """Return both in the order of labels, refused where labels are too few or scores out of reach."""
    place = {topic: number for number, topic in enumerate(scores.topics)}
    ordered = scores.sel(runs=sorted(scores.runs), topics=sorted(scores.topics))
    given, probabilities = labels.align(ordered.runs, ordered.topics)
    known = ~np.isnan(given)
    counts = known.sum(axis=1)
    if counts.min() < FEWEST_LABELS:
        raise DataError(
            f"people labelled {counts.min()} of {len(ordered.topics)} topics of the run {ordered.runs[int(counts.argmin())]}; "
            f"intervals need at least {FEWEST_LABELS} of every run"
        )
    weights = spread_weights(known, probabilities)
    effective = np.square(weights.sum(axis=1)) / np.square(weights).sum(axis=1)  # Kish 1965
    worst = int(effective.argmin())
    if effective[worst] < FEWEST_LABELS - 0.01:
        raise DataError(
            f"by their probabilities the labels of the run {ordered.runs[worst]} are worth {effective[worst]:.1f} equal ones, "
            f"and intervals need {FEWEST_LABELS}: are the smallest probabilities right?"
        )
    columns = zip(scores.measures, np.moveaxis(ordered.values, 2, 0), strict=True)
    for name, values in ((labels.measure, given), *columns):
        largest = float(np.nanmax(np.abs(values)))
        if largest and not 1 / OUT_OF_REACH < largest < OUT_OF_REACH:
            raise DataError(f"{name}: scores reach {largest:.0e}, whose squares are no numbers: rescale them")
    turn = int(find_signs((labels.measure,))[0])
    unfilled = 0 if probabilities is None else int((~known & ~np.isnan(probabilities)).any(axis=0).sum())
    return Data(
        ordered.runs, ordered.topics, given * turn, known, (ordered.values * find_signs(scores.measures)).transpose(2, 0, 1),
        weights, np.array([place[topic] for topic in ordered.topics]), turn, unfilled,
    )  # fmt: skip


def _find_bias(data: Data, signs: np.ndarray) -> np.ndarray:
    """Return how much higher each judge scores each run than people do, shape (judge, run); NaN on another scale.

    Scales differ where one spreads much more, they lie far apart, or a judge's direction, its sign, is not people's.
    """
    gaps = np.where(data.known, data.judges - np.nan_to_num(data.given), 0.0)
    bias = data.sign * (gaps * data.weights).sum(axis=2) / len(data.topics)
    people = data.given[data.known]
    for row, judge, direction in zip(bias, data.judges[:, data.known], signs, strict=True):
        narrow, wide = sorted([float(judge.std()), float(people.std())])
        far = abs(float(judge.mean() - people.mean())) > OTHER_SCALE * wide
        if wide > OTHER_SCALE * narrow or far or direction != data.sign:
            row[:] = np.nan
    return bias


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


def _remark_judges(data: Data, judges: tuple[Measure, ...]) -> Iterator[str]:
    """Yield which judges tell nothing, were copied, or order runs the other way round and not by chance, a note each."""
    n_known = np.maximum(data.known.sum(axis=0), 1)
    people, *scored = (
        np.where(data.known, each - np.where(data.known, each, 0.0).sum(axis=0) / n_known, 0.0)
        for each in (data.given, *data.judges)
    )
    for judge, values, deviations in zip(judges, data.judges, scored, strict=True):
        by_topic = (deviations * people).sum(axis=0)
        if not np.ptp(values, axis=0).any():
            yield f"{judge} gives all runs the same score on every topic: it tells nothing about them"
        elif np.allclose(values[data.known], data.given[data.known], rtol=1e-9, atol=0):
            yield f"all labels of people equal the scores of {judge}: were they copied from it?"
        elif by_topic.sum() < REVERSED * np.linalg.norm(by_topic):
            yield (
                f"{judge} scores low what people score high: check its direction\n"
                "Its λ is negative: the correction reverses its scores."
            )


def _remark_worth(result: CorrectedScores) -> Iterator[str]:
    """Yield what the judge's scores are worth in labels, and how many labels would decide the first place, a note each."""
    n, of = result.n_labelled, result.n_topics
    if n >= of:
        return
    equal, low, high = (f"{n + each * (of - n):,.0f}" for each in result.worth)
    worth, least, most = (f"{each + 0.0:.2f}" for each in result.worth)  # which is never −0
    yield (
        f"the judge makes {n} labelled topics worth {equal} ({low} to {high}): its score is worth {worth} labels "
        f"({least} to {most})"
    )
    if not result.worth[1]:
        yield "nothing shows that the judge's scores tell more of the runs than chance would"
    leader, pairs = result.runs[int(result.ranks.order(0)[0])], result.pairs
    rivals = pairs[(pairs[["first", "second"]] == leader).any(axis=1) & (pairs["both"] == 0)]
    need = rivals["topics_needed"].max(skipna=False)
    if len(rivals) and np.isnan(need):
        yield "labelling all topics would probably not decide the first place"
    elif len(rivals):
        yield f"about {need:,.0f} labelled topics would decide the first place"


def _remark_bias(result: CorrectedScores) -> Iterator[str]:
    """Yield how much higher or lower than people the first judge scores runs."""
    bias, judge = result.bias[0][np.isfinite(result.bias[0])], result.judges[0]
    if bias.any():
        mean, ends = float(bias.mean()), f"{bias.min():+.3g} to {bias.max():+.3g} by run"
        way = "higher" if mean > 0 else "lower"
        yield f"the scores of {judge} are {abs(mean):.3g} {way} than people's on average, {ends}"
    elif not len(bias) and result.alone[0].differences.any():
        yield f"{judge} uses another scale than people: its scores were rescaled, and its bias is not stated"
