"""Does the choice of measure change which judge is best? And is a judge that never looks worse than all? By rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

import metaeval
from experiments.alttest.resampling import Resampled
from metaeval.data.annotations import Annotations, choose_class
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict, judge_differences

CHANGES = "The choice of measure changes which judge is best."
CHANGES_RULE = (
    "It holds if two measures have different best judges, and each of the two judges is better than the other by the measure "
    "that puts it first, both with intervals that leave 0 out. It does not hold if one judge is best by every measure, and "
    "better than every other judge with intervals that leave 0 out. Else it cannot be told."
)
CONSTANT = "By ρ, every judge is better than one that always gives the label that people give most often."
CONSTANT_RULE = (
    "It holds if the intervals of all differences in ρ lie above 0, and does not hold if one lies below. Else it cannot be "
    "told."
)
WHERE = "asked here"

Found = tuple[OutcomeWord, tuple[Evidence, ...]]


def find_best(scores: Resampled) -> dict[str, str]:
    """Return the judge with the best score by every measure.

    Parameters
    ----------
    scores : Resampled

    Returns
    -------
    dict of str to str
    """
    return {
        name: scores.judges[j] for name, j in zip(scores.measures, scores.values.argmax(axis=0).tolist(), strict=True)
    }


Gap = tuple[float, float, float]
"""A difference and the ends of its interval."""


def index_gaps(found: pd.DataFrame) -> dict[tuple[str, str, str], Gap]:
    """Return the difference of one judge less another, with its interval, by measure and the two judges in either order.

    Parameters
    ----------
    found : DataFrame
        From `Resampled.compare`.

    Returns
    -------
    dict of (measure, judge, judge) to (float, float, float)
    """
    gaps = {}
    for measure, one, other, gap, low, high in found.iloc[:, :6].itertuples(index=False):
        gaps[measure, one, other] = gap, low, high
        gaps[measure, other, one] = -gap, -high, -low
    return gaps


def count_beaten(found: pd.DataFrame, best: Mapping[str, str]) -> dict[str, int]:
    """Return by measure how many other judges its best one is better than, with intervals that leave 0 out.

    Parameters
    ----------
    found : DataFrame
        From `Resampled.compare`.
    best : mapping of str to str

    Returns
    -------
    dict of str to int
    """
    return {name: int(((found["measure"] == name) & (found["better"] == judge)).sum()) for name, judge in best.items()}


def judge_changes(scores: Resampled, found: pd.DataFrame) -> Found:
    """Return whether the best judge changes with the measure, and the figures.

    Parameters
    ----------
    scores : Resampled
    found : DataFrame
        From its `compare`.

    Returns
    -------
    (outcome, evidence)
    """
    best, gaps = find_best(scores), index_gaps(found)
    strongest, evidence = 0.0, ()
    for i, first in enumerate(scores.measures):
        for second in scores.measures[i + 1 :]:
            a, b = best[first], best[second]
            if a == b:
                continue
            ours, theirs = gaps[first, a, b], gaps[second, b, a]
            # How many half-widths each difference is from 0: above 1 the interval leaves it out.
            clear = min(gap / (high - gap) if high > gap else 0.0 for gap, _, high in (ours, theirs))
            if clear > max(strongest, 1):
                strongest = clear
                evidence = (
                    Evidence(f"{a} less {b} by {first}", ours[0], ours[1:]),
                    Evidence(f"{b} less {a} by {second}", theirs[0], theirs[1:]),
                )
    if strongest:
        return "holds", evidence
    beaten = count_beaten(found, best)
    sure = sum(n == len(scores.judges) - 1 for n in beaten.values())
    counts = (
        Evidence("judges that are best by some measure", len(set(best.values()))),
        Evidence(f"of {len(best)} measures, those whose best judge is surely better than every other", sure),
    )
    same = len(set(best.values())) == 1 and sure == len(best)
    return ("does not hold" if same else "cannot tell"), counts


def judge_set(name: str, resampled: Mapping[str, Resampled], confidence: float, seed: int) -> Verdict:
    """Return the verdict on a set, with what comes out if the gold is the median of people's labels.

    Parameters
    ----------
    name : str
    resampled : mapping of str to Resampled
        By gold; the verdict is that of the first.
    confidence : float
    seed : int

    Returns
    -------
    Verdict
    """
    words = {gold: judge_changes(one, one.compare(confidence)) for gold, one in resampled.items()}
    (word, evidence), *_ = words.values()
    others = [(f"gold by {gold}", one[0]) for gold, one in words.items()][1:]
    conditions = ((f"seed {seed}", "others not tried"), *others)
    return Verdict(CHANGES, WHERE, CHANGES_RULE, name, word, evidence, conditions)


def add_constant_judge(given: Annotations) -> tuple[str, Annotations]:
    """Return the annotations with one more judge, who always gives the label that people give most often.

    Parameters
    ----------
    given : Annotations

    Returns
    -------
    name : str
        Of that judge.
    annotations : Annotations
    """
    k = int(choose_class(given.votes.sum(axis=0)))
    answers = np.zeros((1, *given.answers.shape[1:]), dtype=np.int64)
    answers[..., k] = 1
    name = f"always-{given.classes[k]}"
    return name, Annotations(
        given.labels, np.concatenate([given.answers, answers]), annotators=given.annotators, judges=(*given.judges, name),
        items=given.items, classes=given.classes, topics=given.topics, collection=given.collection,
    )  # fmt: skip


def judge_constant(name: str, constant: str, tested: metaeval.AlternativeAnnotatorTest) -> Verdict:
    """Return whether every judge is better by ρ than the constant one.

    Parameters
    ----------
    name, constant : str
    tested : AlternativeAnnotatorTest
        Of all judges and the constant one, which is the last.

    Returns
    -------
    Verdict
    """
    frame = tested.compare_judges()
    frame = frame[frame["judge_2"] == constant]
    evidence = tuple(
        Evidence(f"ρ of {judge} less that of {constant}", float(gap), (float(low), float(high)))
        for judge, gap, low, high in zip(
            frame["judge_1"], frame["difference"], frame["low"], frame["high"], strict=True
        )
    )
    word = judge_differences(one.interval for one in evidence)
    return Verdict(CONSTANT, WHERE, CONSTANT_RULE, name, word, evidence, (("seed", "others not tried"),))


def describe_findings(best: pd.DataFrame, verdicts: Sequence[Verdict], constant: pd.DataFrame) -> list[str]:
    """Return what came out, a sentence each.

    Parameters
    ----------
    best : DataFrame
        Best judges, one row a measure, one column a set.
    verdicts : sequence of Verdict
    constant : DataFrame
        The table of constant judges.

    Returns
    -------
    list of str
    """
    said = []
    for claim in (CHANGES, CONSTANT):
        words: dict[str, list[str]] = {}
        for one in verdicts:
            if one.claim == claim:
                words.setdefault(one.outcome, []).append(one.data)
        listed = "; ".join(f"**{word}** on {', '.join(names)}" for word, names in words.items())
        said.append(f"“{claim}” {listed}.")
    for name in best.columns:
        judges = best[name].str.partition(" (")[0]
        groups = [f"{judge} by {', '.join(own.index)}" for judge, own in judges.groupby(judges, sort=False)]
        said.append(f"{name}: best is {'; '.join(groups)}.")
    for name, row in constant.iterrows():
        said.append(
            f"{name}: a judge that always answers {row['label']} has ρ = {row['ρ']:.2f}, more than {row['judges below']} of "
            f"{row['judges']} judges."
        )
    return said
