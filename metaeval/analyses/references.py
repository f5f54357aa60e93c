"""Scores and the reference that they are compared with: brought together by label, judges side by side, annotators averaged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, TypeAlias

import numpy as np

from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import PartialScores, Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_list, format_option
from metaeval.measures.base import Measure

Share: TypeAlias = Literal["all", "shared"]
"""Whether all runs or topics count, or those that scores and their reference share."""

AXES = ("runs", "topics")


def match_references(
    scores: Scores | Sequence[Scores], reference: Any, run_scores: Any,
    *, annotators: bool, reference_measure: str | None, missing: MissingPolicy, shares: Mapping[str, Share],
) -> tuple[list[Scores], list[Measure], list[Any], list[Any]]:  # fmt: skip
    """Return collections with the reference among the measures, and for each which it is, scores of runs, and annotators.

    Several collections with one reference of its own are judges of the same runs, which become one collection.
    """
    collections = [scores] if isinstance(scores, Scores) else list(scores)
    people = list(reference) if isinstance(reference, list | tuple) else [reference]
    references = [_average_annotators(each) for each in people] if annotators else people
    judges, shared = isinstance(reference, Scores) and len(collections) > 1, [a for a in AXES if shares[a] == "shared"]
    problem = "" if collections else "there are no scores"
    if judges and isinstance(run_scores, list | tuple) and len(run_scores) > 1:
        one = f"{format_option('run_scores')} of several judges is one table, with a measure called as each judge"
        problem = f"{one}; there are {len(run_scores)}"
    if named := [each for each in references if not isinstance(each, Scores)]:
        if shared:
            option = format_option(shared[0], "shared")
            problem = f"{option} is for a reference of its own: a measure has the runs and topics of the others"
        if reference_measure is not None:
            problem = f"{format_option('reference_measure')} chooses from scores, not from {named[0]}"
    if problem:
        raise MetaevalError(problem)
    if reference_measure is not None:
        references = [each.sel(measures=reference_measure) for each in references]
    if judges:
        *collections, references[0] = _take_shared([*collections, *references], shared)
        collections = [replace(_join_judges(collections), collection=references[0].collection)]
    references = list_for_each(references if len(references) > 1 else references[0], collections, "reference")
    whole = list_for_each(run_scores, collections, "run_scores")
    pairs = zip(collections, references, strict=True)
    joined, known = zip(*(join_reference(*pair, missing, shares) for pair in pairs), strict=True)
    return list(joined), list(known), whole, people if annotators else [None] * len(joined)


def list_for_each(given: Any, collections: Sequence[Any], option: str) -> list[Any]:
    """Return one object for each collection: a single one that is not of Scores stands for all."""
    several = len(collections) if not isinstance(given, Scores) else 1
    objects = list(given) if isinstance(given, list | tuple) else [given] * several
    if len(objects) != len(collections):
        raise MetaevalError(
            f"{format_option(option)}: there {'is' if len(objects) == 1 else 'are'} {len(objects)} for "
            f"{format_count(len(collections), 'collection')}; give one each, in the order of the collections"
        )
    return objects


def _average_annotators(people: Any) -> Scores:
    """Return the mean of the measures of a reference, which are annotators: of each score, of those who gave one."""
    if not isinstance(people, Scores) or len(people.measures) < 2:
        raise MetaevalError(
            f"{format_option('annotators')} takes {format_option('reference')} to be scores of its own with a measure for "
            "each of several annotators"
        )
    directions = {measure.higher_is_better for measure in people.measures}
    if len(directions) > 1:
        raise MetaevalError("annotators score on one scale, but higher is better for some and not for others")
    for r, t in np.argwhere(np.isnan(people.values).all(axis=-1))[:1]:
        raise DataError("no annotator scored it", file=people.collection, run=people.runs[r], topic=people.topics[t])
    average = np.nanmean if isinstance(people, PartialScores) else np.mean
    mean = Measure("mean of annotators", directions.pop())
    labels = people.named(*AXES, "collection", "provenance", "clusters")
    return Scores(average(people.values, axis=-1, keepdims=True), measures=(mean,), **labels)


def _take_shared(collections: Sequence[Scores], axes: Collection[str]) -> list[Scores]:
    """Return scores with the runs, or topics, that all of them have, and say which of each are left out."""
    chosen = list(collections)
    for axis in axes:
        common = set.intersection(*(set(getattr(scores, axis)) for scores in chosen))
        if not common:
            raise DataError(f"the scores and their reference have no {axis} in common")
        for number, scores in enumerate(chosen):
            labels = getattr(scores, axis)
            if left_out := [label for label in labels if label not in common]:
                name = scores.collection or format_list([str(measure) for measure in scores.measures])
                report_policy(
                    f"left out {len(left_out)} of {format_count(len(labels), axis[:-1])} of {name}, which not all scores "
                    f"have: {format_list(left_out)}"
                )
                chosen[number] = scores.sel(**{axis: [label for label in labels if label in common]})
    return chosen


def _join_judges(judges: Sequence[Scores]) -> Scores:
    """Return what several judges say of the same runs as the measures of one collection."""
    names = [judge.collection or f"judge {number}" for number, judge in enumerate(judges, start=1)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"two judges are called {twice[0]}: a judge is called as its collection, by default its file")
    try:
        return reduce(Scores.add_measures, map(_name_judge, judges, names))
    except DataError as error:
        hint = f"{format_option('runs', 'shared')} and {format_option('topics', 'shared')} take those that all have"
        raise DataError(error.problem, hint=hint) from None


def _name_judge(judge: Scores, name: str) -> Scores:
    """Return scores whose only measure is called as the judge; one of several is called ``judge measure``."""
    single = len(judge.measures) == 1
    renamed = (Measure(name if single else f"{name} {m}", m.higher_is_better, m.range) for m in judge.measures)
    return replace(judge, measures=tuple(renamed))


def join_reference(
    scores: Scores, reference: object, missing: MissingPolicy, shares: Mapping[str, Share] | None = None
) -> tuple[Scores, Measure]:
    """Return scores that have the reference among their measures, and which it is.

    The reference is a measure, its name, or scores of one measure. What it has no score of is left out, if `missing` or
    `shares` say so, which a message offers where the caller has them; what it alone has always is.
    """
    if not isinstance(reference, Scores):
        named = [measure for measure in scores.measures if str(measure) == str(reference)]
        (known,) = named or scores.sel(measures=str(reference)).measures
        return scores, known
    if len(reference.measures) != 1:
        raise MetaevalError(
            f"{format_option('reference')} holds {len(reference.measures)} measures "
            f"({format_list([str(measure) for measure in reference.measures])}); "
            f"it is one: choose it with {format_option('reference_measure', 'NAME')}"
        )
    (known,) = reference.measures
    for axis in AXES:
        scored, drop = set(getattr(reference, axis)), f"drop-{axis[:-1]}"
        lacking = [label for label in getattr(scores, axis) if label not in scored]
        if lacking and missing != drop and (not shares or shares[axis] == "all"):
            ways = [format_option("missing", drop), *([format_option(axis, "shared")] if shares else [])]
            problem = f"the reference {known} has no score of {format_count(len(lacking), axis[:-1])}"
            raise DataError(f"{problem}: {format_list(lacking)}", hint=f"{' or '.join(ways)} leaves them out")
    scores, reference = _take_shared([scores, reference], AXES)
    names = [str(measure) for measure in scores.measures]
    if str(known) in names:  # other scores of its name are a judge's, and are called as it
        judge, namesake = scores.collection or "judge", scores.sel(measures=str(known))
        if len(names) == 1:
            scores = _name_judge(scores, judge)
        elif np.array_equal(namesake.values, reference.sel(runs=scores.runs, topics=scores.topics).values):
            scores = scores.sel(measures=[name for name in names if name != str(known)])
        else:
            (renamed,) = _name_judge(namesake, f"{judge} {known}").measures
            measures = [renamed if str(each) == str(known) else each for each in scores.measures]
            scores = replace(scores, measures=tuple(measures))
    return scores.add_measures(reference, first=True), known
