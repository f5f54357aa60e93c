"""Scores and the reference that they are compared with: brought together by label, annotators averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metaeval.analyses.prepare import list_collections
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import PartialScores, Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_list, format_option
from metaeval.measures.base import Measure


def match_references(
    scores: Scores | Sequence[Scores], reference: Any, run_scores: Any,
    *, annotators: bool, reference_measure: str | None, missing: MissingPolicy,
) -> tuple[list[Scores], list[Measure], list[Any], list[Any]]:  # fmt: skip
    """Return collections with the reference among the measures, and for each which it is, scores of runs, and annotators."""
    collections = list_collections(scores)
    if not collections:
        raise MetaevalError("there are no scores")
    people = list_for_each(reference, collections, "reference")
    references = [_average_annotators(each) for each in people] if annotators else people
    if reference_measure is not None:
        if named := [each for each in references if not isinstance(each, Scores)]:
            option = format_option("reference_measure")
            raise MetaevalError(f"{option} chooses from scores, not from {named[0]}")
        references = [each.sel(measures=reference_measure) for each in references]
    whole = list_for_each(run_scores, collections, "run_scores")
    pairs = zip(collections, references, strict=True)
    joined, known = zip(*(join_reference(*pair, missing) for pair in pairs), strict=True)
    return list(joined), list(known), whole, people if annotators else [None] * len(joined)


def list_for_each(given: Any, collections: Sequence[Any], option: str) -> list[Any]:
    """Return one object for each collection: a single one that is not of Scores stands for all."""
    several = len(collections) if not isinstance(given, Scores) else 1
    objects = list(given) if isinstance(given, list | tuple) else [given] * several
    if len(objects) != len(collections):
        raise MetaevalError(
            f"{format_option(option)}: there {'is' if len(objects) == 1 else 'are'} {len(objects)} for "
            f"{format_count(len(collections), 'collection')}; give one each, in the order of the collections "
            "(judges of the same runs are measures of one table)"
        )
    return objects


def _average_annotators(people: Any) -> Scores:
    """Return the mean of the measures of a reference, which are annotators: of each score, of those who gave one."""
    if not isinstance(people, Scores) or len(people.measures) < 2:
        what = "to be scores of its own with a measure for each of several annotators"
        raise MetaevalError(f"{format_option('annotators')} takes {format_option('reference')} {what}")
    directions = {measure.higher_is_better for measure in people.measures}
    if len(directions) > 1:
        raise MetaevalError("annotators score on one scale, but higher is better for some and not for others")
    for r, t in np.argwhere(np.isnan(people.values).all(axis=-1))[:1]:
        raise DataError("no annotator scored it", file=people.collection, run=people.runs[r], topic=people.topics[t])
    average = np.nanmean if isinstance(people, PartialScores) else np.mean
    mean = Measure("mean of annotators", directions.pop())
    labels = people.named("runs", "topics", "collection", "provenance", "clusters")
    return Scores(average(people.values, axis=-1, keepdims=True), measures=(mean,), **labels)


def join_reference(scores: Scores, reference: object, missing: MissingPolicy) -> tuple[Scores, Measure]:
    """Return scores that have the reference among their measures, and which it is.

    The reference is a measure, its name, or scores of one measure. Runs and topics that it has no score of are left out, if
    `missing` says so, and those that it alone has always are; what is left out is said.
    """
    if not isinstance(reference, Scores):
        named = [measure for measure in scores.measures if str(measure) == str(reference)]
        (known,) = named or scores.sel(measures=str(reference)).measures
        return scores, known
    if len(reference.measures) != 1:
        held = f"{len(reference.measures)} measures ({format_list([str(measure) for measure in reference.measures])})"
        choose = f"it is one: choose it with {format_option('reference_measure', 'NAME')}"
        raise MetaevalError(f"{format_option('reference')} holds {held}; {choose}")
    (known,) = reference.measures
    for axis in ("runs", "topics"):
        own, scored = getattr(scores, axis), set(getattr(reference, axis))
        common = [label for label in own if label in scored]
        lacking = [label for label in own if label not in scored]
        if not common:
            raise DataError(f"the scores and their reference have no {axis} in common")
        if lacking and not missing.startswith("drop"):
            problem = f"the reference {known} has no score of {format_count(len(lacking), axis[:-1])}"
            hint = f"{format_option('missing', f'drop-{axis[:-1]}')} leaves them out"
            raise DataError(f"{problem}: {format_list(lacking)}", hint=hint)
        further = [label for label in getattr(reference, axis) if label not in set(common)]
        for each, left_out in ((scores, lacking), (reference, further)):
            if left_out:
                name = each.collection or format_list([str(measure) for measure in each.measures])
                report_policy(
                    f"left out {len(left_out)} of {format_count(len(getattr(each, axis)), axis[:-1])} of {name}, which not "
                    f"all scores have: {format_list(left_out)}"
                )
        scores, reference = scores.sel(**{axis: common}), reference.sel(**{axis: common})
    names = [str(measure) for measure in scores.measures]
    if str(known) in names:  # other scores of its name are called as their collection
        called, namesake = scores.collection or "judge", scores.sel(measures=str(known))
        if len(names) > 1 and np.array_equal(namesake.values, reference.values):
            scores = scores.sel(measures=[name for name in names if name != str(known)])
        else:
            title = called if len(names) == 1 else f"{called} {known}"
            renamed = Measure(title, namesake.measures[0].higher_is_better, namesake.measures[0].range)
            measures = tuple(renamed if str(each) == str(known) else each for each in scores.measures)
            scores = replace(scores, measures=measures)
    return scores.add_measures(reference, first=True), known
