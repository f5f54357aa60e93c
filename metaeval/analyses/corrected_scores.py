"""Which runs are better, by a judge's scores on all topics and people's on some?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import Prepared, Within, check_options, prepare
from metaeval.analyses.ranks import LETTERS, RunRanks, chart_ranks, rank_runs
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_count, format_list
from metaeval.io.partial_scores import PeopleScores, read_partial
from metaeval.measures.base import Measure
from metaeval.show.charts import IntervalChart
from metaeval.show.table import Table
from metaeval.stats.prediction_powered import (
    Corrected,
    Target,
    are_whole_topics,
    correct_means,
    find_unlike,
    spread_weights,
)
from metaeval.stats.significant_counts import name_flips

FEWEST_LABELS, ENOUGH_LABELS = 5, 20
"""Labelled topics of a run below which nothing is said, and those below which a note says that intervals hold less often."""

UNLIKE_P = 0.001
"""How improbable the labelled topics are before a note says that they were not chosen at random."""

OUT_OF_REACH = 1e100
"""Scores so large, or all as small as its inverse, cannot be squared."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CorrectedScores(Result):
    """Means of runs by a judge's scores, corrected by people's.

    `people` and `both` are what follows from people alone, and from people and judges; larger values are better there. `ranks`
    are corrected, and `boards` those by the first judge alone, by people alone, and corrected. `n_labelled` topics of a run
    are labelled, at least, and `worth` says how many labels one score of the judge is worth, with the ends of its interval; 0
    if all topics are labelled. `confidence` is of all intervals together.

    `rows`, runs by rank, have columns run, mean (corrected), error (its standard error), rank, low and high (between which
    ranks it stands), letters and judge_rank. `summary`, of each judge alone, people alone and both: evidence; decided (pairs
    of runs); reversed and open (how many of these both together reverse, or leave open); first (which run, or how many may
    be). `pairs` of runs: first, second, difference, low, high; judge, people and both, 1 where the first run is better, −1
    where the second is and 0 where it is open; flips: whether people reverse the first judge's conclusion, or one is lost or
    new.
    """

    collection: str
    judges: tuple[Measure, ...]
    measure: Measure
    people: Corrected
    both: Corrected
    ranks: RunRanks
    rows: pd.DataFrame
    summary: pd.DataFrame
    pairs: pd.DataFrame
    boards: Mapping[str, pd.DataFrame]
    n_labelled: int
    n_topics: int
    worth: tuple[float, float, float]
    target: Target
    confidence: float
    copied: tuple[str, ...] = ()

    def answer(self) -> str:
        """Say who is first, and how many other runs may be as good; before that, whether labels seem to be copied."""
        same = f"People's labels equal the scores of {format_list(self.copied)}: were they copied? " * bool(self.copied)
        return f"{same}{self.ranks.answer()}"

    def tables(self) -> list[Table]:
        """Return the runs by corrected rank, with the ranks they may have, and what is concluded from each kind of evidence."""
        board = self.ranks.leaderboard(self.measure).frame
        runs = board[["may be", "mean", "letters"]].assign(**{"judge's rank": self.rows["judge_rank"].to_numpy()})
        what = "these topics" if self.target == "topics" else "the population that the topics are from"
        legend = f"May be: as the intervals of all pairs leave it, nominally. Letters: {LETTERS}."
        level = f"; may be: the ranks of a run, at {100 * self.confidence:g} % together"
        decided, flips = int(np.count_nonzero(self.pairs["judge"])), self.pairs["flips"].tolist()
        counts = {"reverse": flips.count("reversed"), "leave open": flips.count("lost")}
        changed = " and ".join(f"{verb} {count}" for verb, count in counts.items() if count) or "change none"
        of_all = f"the judge's {format_count(decided, 'conclusion')}"
        judged = f"people {changed} of {of_all}" if decided else "the judge alone decides nothing"
        if new := flips.count("new"):
            judged += f", and add {new}" if decided else f", people add {new}"
        summary = self.summary.set_index("evidence").rename(columns={"decided": "pairs decided", "open": "left open"})
        caption = f"Conclusions about {len(self.pairs):,} pairs of runs, from judges, people, or both: {judged}."
        evidence = (
            "Decided: called different by this evidence. Reversed, left open: how many of these both together reverse or do "
            "not decide. First: which run, or how many may be."
        )
        return [
            Table(runs, f"Runs by corrected mean of {self.measure}, of {what}{level}.", self.signature, legend=legend),
            Table(summary, caption, self.signature, legend=evidence),
        ]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the ranks that runs may have by both, by the first judge alone, and by people alone."""
        return chart_ranks({title: self.boards[title] for title in ("corrected", "judge alone", "people alone")})


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
    few labels may show no error: intervals leave room for errors that they missed (docs/concepts/correction.md).

    Parameters
    ----------
    scores : Scores
        Of every run on every topic; each measure is a judge. The weights of several judges are tuned.
    people : Scores or DataFrame
        Scores of people on some topics: columns run, topic, score and perhaps probability, or a column per run.
    target : {"population", "topics"}, optional
        Whose means are meant: population, all topics that these are a sample of; or topics, only these.
    n_trials : int, optional
        How often topics are drawn anew for the intervals.
    confidence : float, optional
        Level of all intervals together.
    seed : int, optional

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
    ready = prepare(scores, "corrected_scores", seed=seed, topics=FEWEST_LABELS, oriented=True)
    check_options(target=Within(target, Target), confidence=confidence)
    # Fewer trials do not tell the ends of such intervals.
    check_options(n_trials=Within(n_trials, max(100, int(np.ceil(5 / (1 - confidence) - 1e-9)))))
    labels = read_partial(people)
    data, judges, measure = _align(ready, labels), scores.measures, labels.measure
    signature = ready.sign(
        people=f"{measure}@{labels.fingerprint}", labels=int(data.known.sum()), target=target, trials=n_trials,
        confidence=confidence, seed=seed,
    )  # fmt: skip
    options: dict[str, Any] = {"key": ready.key(), "n_trials": n_trials, "confidence": confidence}
    none, everywhere = data.judges[:0], np.ones_like(data.weights)
    alone = [correct_means(judge, none, everywhere, **options) for judge in data.judges]
    by_people = correct_means(data.given, none, data.weights, target=target, **options)
    both = correct_means(data.given, data.judges, data.weights, target=target, **options)

    names, evidence = [*(f"judge {judge} alone" for judge in judges), "people alone", "both"], [*alone, by_people, both]
    boards = [
        rank_runs(
            (measure,), data.runs, each.means[:, np.newaxis] * measure.sign, np.sign(each.differences[np.newaxis]),
            each.signs[np.newaxis] != 0, collection=scores.collection, test="bootstrap-t", alpha=1 - confidence,
            signature=signature.follow("run_ranks"),
        )
        for each in evidence
    ]  # fmt: skip
    order, rows, summary = boards[-1].order(0), boards[-1].to_frame().drop(columns=["measure", "near_first"]), []
    rows.insert(2, "error", both.errors[order])
    rows["judge_rank"] = boards[0].ranks[0][order]
    for name, each, board in zip(names, evidence, boards, strict=True):
        flips = name_flips(each.signs, both.signs).tolist()
        firsts = board.to_frame().query("near_first")["run"].tolist()
        first = firsts[0] if len(firsts) == 1 else f"one of {len(firsts)}"
        summary.append((name, np.count_nonzero(each.signs), flips.count("reversed"), flips.count("lost"), first))
    equal = [np.allclose(each[data.known], data.given[data.known], rtol=1e-9, atol=0) for each in data.judges]
    n, of = int(data.known.sum(axis=1).min()), len(scores.topics)
    worth = both.value_scores(n, of) if n < of else (0.0, 0.0, 0.0)
    first, second = np.array(data.runs, dtype=object)[np.array(np.triu_indices(len(data.runs), 1))]
    differences = data.sign * both.differences
    pairs = pd.DataFrame({"first": first, "second": second, "difference": differences})
    pairs = pairs.assign(low=differences - both.reach, high=differences + both.reach)
    pairs = pairs.assign(judge=alone[0].signs, people=by_people.signs, both=both.signs)
    return CorrectedScores(
        collection=scores.collection, judges=judges, measure=measure, people=by_people, both=both, ranks=boards[-1],
        rows=rows, pairs=pairs.assign(flips=name_flips(alone[0].signs, both.signs)),
        summary=pd.DataFrame(summary, columns=["evidence", "decided", "reversed", "open", "first"]),
        boards={"judge alone": boards[0].rows, "people alone": boards[-2].rows, "corrected": boards[-1].rows},
        n_labelled=n, n_topics=of, worth=worth, target=target, confidence=confidence, signature=signature,
        copied=tuple(str(judge) for judge, same in zip(judges, equal, strict=True) if same),
        remarks=(*_remark_labels(data, target), *_remark_judges(data, judges, worth)),
    )  # fmt: skip


class Data(NamedTuple):
    """Scores of judges and people of which larger ones are better, in the order of labels.

    `given` and `weights` have the shape (run, topic), `judges` (judge, run, topic), and `known` says which cells people
    labelled. `order` is a topic's place in the file, `unfilled` how many topics have a probability and no label, `sign` is −1
    where lower scores of people are better.
    """

    runs: tuple[str, ...]
    given: np.ndarray
    known: np.ndarray
    judges: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    sign: int
    unfilled: int


def _align(ready: Prepared, labels: PeopleScores) -> Data:
    """Return both in the order of labels, refused where labels are too few or scores out of reach."""
    scores = ready.scores
    runs, topics = tuple(sorted(scores.runs)), tuple(sorted(scores.topics))
    judges = np.moveaxis(ready.restore(ready.values, "measure"), -1, 0)
    given, probabilities = labels.align(runs, topics)
    known = ~np.isnan(given)
    counts = known.sum(axis=1)
    if counts.min() < FEWEST_LABELS:
        told = f"people labelled {counts.min()} of {len(topics)} topics of the run {runs[int(counts.argmin())]}"
        raise DataError(f"{told}; intervals need at least {FEWEST_LABELS} of every run")
    weights = spread_weights(known, probabilities)
    effective = np.square(weights.sum(axis=1)) / np.square(weights).sum(axis=1)  # Kish 1965
    worst = int(effective.argmin())
    if effective[worst] < FEWEST_LABELS - 0.01:
        raise DataError(
            f"by their probabilities the labels of the run {runs[worst]} are worth {effective[worst]:.1f} equal ones, "
            f"and intervals need {FEWEST_LABELS}: are the smallest probabilities right?"
        )
    for name, values in ((labels.measure, given), *zip(scores.measures, judges, strict=True)):
        largest = float(np.nanmax(np.abs(values)))
        if largest and not 1 / OUT_OF_REACH < largest < OUT_OF_REACH:
            raise DataError(f"{name}: scores reach {largest:.0e}, whose squares are no numbers: rescale them")
    sign = int(labels.measure.sign)
    unfilled = 0 if probabilities is None else int((~known & ~np.isnan(probabilities)).any(axis=0).sum())
    return Data(runs, given * sign, known, judges, weights, np.argsort(ready.places[1]), sign, unfilled)


def _remark_labels(data: Data, target: Target) -> Iterator[str]:
    """Yield what is doubtful about the labels, a note each."""
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


def _remark_judges(data: Data, judges: Sequence[Measure], worth: tuple[float, float, float]) -> Iterator[str]:
    """Yield which judges tell nothing, and what their scores are worth, a note each."""
    for judge, values in zip(judges, data.judges, strict=True):
        if not np.ptp(values, axis=0).any():
            yield f"{judge} gives all runs the same score on every topic: it tells nothing about them"
    n, of = int(data.known.sum(axis=1).min()), data.given.shape[1]
    if n < of:
        equal, low, high = (f"{n + each * (of - n):,.0f}" for each in worth)
        best, least, most = (f"{each + 0.0:.2f}" for each in worth)  # which is never −0
        yield (
            f"the judge makes {n} labelled topics worth {equal} ({low} to {high}): its score is worth {best} labels "
            f"({least} to {most})"
        )
        if not worth[1]:
            yield "nothing shows that the judge's scores tell more of the runs than chance would"
