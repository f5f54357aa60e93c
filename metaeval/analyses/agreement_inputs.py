"""What is compared with what: measures, judges, their reference and scores of whole runs, joined by their labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, PolicyWarning, format_count, format_list, format_option
from metaeval.measures.base import Measure

Share: TypeAlias = Literal["all", "shared"]
"""Whether all runs or topics count, or those that scores and their reference share."""


def match_references(
    scores: Scores | Sequence[Scores], reference: Any, run_scores: Any, annotators: bool, reference_measure: str | None,
    runs: Share, topics: Share,
) -> tuple[list[Scores], list[Any], list[Any], list[Any]]:  # fmt: skip
    """Return collections, and for each its reference, perhaps the annotators whose mean that is, and scores of whole runs.

    Several collections with one reference of its own are judges of the same runs, which become one collection.
    """
    collections = [scores] if isinstance(scores, Scores) else list(scores)
    if not collections:
        raise MetaevalError("there are no scores")
    people = list(reference) if isinstance(reference, list | tuple) else [reference]
    references = [_average_annotators(each) for each in people] if annotators else people
    if reference_measure is not None:
        for each in references:
            if not isinstance(each, Scores):
                raise MetaevalError(f"{format_option('reference_measure')} chooses from scores, not from {each}")
        references = [each.sel(measures=reference_measure) for each in references]
    stated = None
    if isinstance(reference, Scores):
        *collections, references[0] = _take_shared([*collections, *references], runs, topics)
        if len(collections) > 1:
            names = [judge.collection or f"judge {number}" for number, judge in enumerate(collections, start=1)]
            if isinstance(run_scores, list | tuple) and len(run_scores) > 1:
                stated = [_name_run_scores(run_scores, names)]
            collections = [replace(_join_judges(collections, names), collection=references[0].collection)]
    elif all(isinstance(each, Scores) for each in references):
        pairs = zip(collections, list_for_each(references, collections, "reference"), strict=True)
        shared = [_take_shared(pair, runs, topics) for pair in pairs]
        collections, references = [pair[0] for pair in shared], [pair[1] for pair in shared]
    elif "shared" in (runs, topics):
        option = format_option("runs" if runs == "shared" else "topics", "shared")
        raise MetaevalError(f"{option} is for a reference of its own: a measure has the runs and topics of the others")
    references = list_for_each(references if len(references) > 1 else references[0], collections, "reference")
    if stated is None:
        stated = [[] if each is None else [each] for each in list_for_each(run_scores, collections, "run_scores")]
    return collections, references, people if annotators else [None] * len(collections), stated


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
    """Return the mean of the measures of a reference, which are annotators."""
    if not isinstance(people, Scores) or len(people.measures) < 2:
        raise MetaevalError(
            f"{format_option('annotators')} takes {format_option('reference')} to be scores of its own with a measure for "
            "each of several annotators"
        )
    directions = {measure.higher_is_better for measure in people.measures}
    if len(directions) > 1:
        raise MetaevalError("annotators score on one scale, but higher is better for some and not for others")
    mean = Measure("mean of annotators", directions.pop())
    return replace(people, values=people.values.mean(axis=-1, keepdims=True), measures=(mean,))


def _take_shared(collections: Sequence[Scores], runs: Share, topics: Share) -> list[Scores]:
    """Return scores with the runs, or topics, that all of them have, and say which of each are left out."""
    chosen = list(collections)
    for axis, choice in (("runs", runs), ("topics", topics)):
        if choice not in get_args(Share):
            raise MetaevalError(f"{format_option(axis)} is {' or '.join(get_args(Share))}, not {choice!r}")
        if choice == "all":
            continue
        common = set.intersection(*(set(getattr(scores, axis)) for scores in chosen))
        if not common:
            raise DataError(f"the scores and their reference have no {axis} in common")
        for number, scores in enumerate(chosen):
            labels = getattr(scores, axis)
            left_out = [label for label in labels if label not in common]
            if left_out:
                name = scores.collection or format_list([str(measure) for measure in scores.measures])
                report_policy(
                    f"{format_option(axis, 'shared')}: left out {len(left_out)} of "
                    f"{format_count(len(labels), axis[:-1])} of {name}: {format_list(left_out)}"
                )
                chosen[number] = scores.sel(**{axis: [label for label in labels if label in common]})
    return chosen


def _join_judges(judges: Sequence[Scores], names: Sequence[str]) -> Scores:
    """Return what several judges say of the same runs as the measures of one collection."""
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"two judges are called {name}: a judge is called as its collection, by default its file")
    try:
        return reduce(Scores.add_measures, map(_name_judge, judges, names))
    except DataError as error:
        hint = f"{format_option('runs', 'shared')} and {format_option('topics', 'shared')} take those that all have"
        raise DataError(error.problem, hint=hint) from None


def _name_run_scores(run_scores: Sequence[Scores | None], names: Sequence[str]) -> list[Scores]:
    """Return the scores of whole runs of several judges, one for each or None, with measures called as them."""
    if len(run_scores) != len(names):
        raise MetaevalError(
            f"{format_option('run_scores')}: there are {len(run_scores)} for {len(names)} judges; give one for each, in "
            "their order, or a single one with measures called as the judges"
        )
    return [_name_judge(each, name) for each, name in zip(run_scores, names, strict=True) if each is not None]


def _name_judge(judge: Scores, name: str) -> Scores:
    """Return scores whose only measure is called as the judge; one of several is called ``judge measure``."""
    single = len(judge.measures) == 1
    measures = [
        Measure(name if single else f"{name} {each}", each.higher_is_better, each.range) for each in judge.measures
    ]
    return replace(judge, measures=tuple(measures))


def join_reference(
    scores: Scores, reference: object, missing: MissingPolicy, *, shares: bool = False
) -> tuple[Scores, Measure]:
    """Return scores that have the reference among their measures, and which it is.

    The reference is a measure, its name, or scores of one measure, which may lack runs or topics as `missing` says;
    `shares` says whether the caller could take those that both have, which the message then offers.
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
    labels = {}
    for axis in ("runs", "topics"):
        common = set(getattr(scores, axis)) & set(getattr(reference, axis))
        lacking, further = (
            [label for label in getattr(each, axis) if label not in common] for each in (scores, reference)
        )
        if lacking and missing != f"drop-{axis[:-1]}":
            ways = [format_option("missing", f"drop-{axis[:-1]}")] + [format_option(axis, "shared")] * shares
            raise DataError(
                f"the reference {known} has no score of {format_count(len(lacking), axis[:-1])}: {format_list(lacking)}",
                hint=f"{' or '.join(ways)} leaves them out",
            )
        if not common:
            raise DataError(f"the reference {known} has none of the {axis}")
        labels[axis] = [label for label in getattr(scores, axis) if label in common]
        left_out = [f"{format_list(lacking)} without a reference"] * bool(lacking)
        left_out += [f"{format_list(further)} with a reference alone"] * bool(further)
        if left_out:
            warnings.warn(f"{axis} left out: {'; '.join(left_out)}", PolicyWarning, stacklevel=4)
    scores, reference = scores.sel(**labels), reference.sel(**labels)
    names = [str(measure) for measure in scores.measures]
    if str(known) in names:  # other scores of its name are a judge's, and are called as it
        judge = scores.collection or "judge"
        if len(names) == 1:
            scores = _name_judge(scores, judge)
        elif np.array_equal(scores.sel(measures=str(known)).values, reference.values):
            scores = scores.sel(measures=[name for name in names if name != str(known)])
        else:
            measures = list(scores.measures)
            measures[names.index(str(known))] = _name_judge(
                scores.sel(measures=str(known)), f"{judge} {known}"
            ).measures[0]
            scores = replace(scores, measures=tuple(measures))
    return scores.add_measures(reference, first=True), known


def list_measures(collections: Sequence[Scores], reference: Measure) -> tuple[Measure, ...]:
    """Return the measures to hold against the reference: all others, which must be the same in every collection."""
    measures = tuple(measure for measure in collections[0].measures if str(measure) != str(reference))
    names = {str(measure) for measure in measures}
    for scores in collections[1:]:
        unlike = names ^ {str(measure) for measure in scores.measures if str(measure) != str(reference)}
        if unlike:
            raise MetaevalError(
                f"pooled collections have the same measures, but {format_list(sorted(unlike))} "
                f"{'is' if len(unlike) == 1 else 'are'} not in all of them"
            )
    return measures


def find_run_scores(scores: Scores, stated: Sequence[Scores], names: Sequence[str]) -> np.ndarray:
    """Return scores of whole runs, shape (run, measure), where a measure is `stated`, and NaN elsewhere; higher is better.

    Runs are in the order of their labels, and measures as `names` has them.
    """
    run_scores = np.full((len(scores.runs), len(names)), np.nan)
    signs = {str(measure): measure.sign for measure in scores.measures}
    for whole in stated:
        if len(whole.topics) != 1:
            name = whole.collection or "these"
            raise DataError(f"scores of whole runs have one topic; {name} have {len(whole.topics)}")
        known = [str(measure) for measure in whole.measures]
        shared = [name for name in names if name in known]
        if not shared:
            raise DataError(
                f"the scores of whole runs {whole.collection} hold none of the measures ({format_list(known)})"
            )
        lacking = [run for run in scores.runs if run not in whole.runs]
        if lacking:
            raise DataError(f"the scores of whole runs {whole.collection} lack {format_list(lacking)}")
        # A direction that the scores of whole runs state themselves is theirs; otherwise a measure has one direction.
        own = {str(measure): measure.sign for measure in whole.measures if measure.higher_is_better is not None}
        aligned = whole.sel(runs=sorted(scores.runs), measures=shared)
        for column, name in enumerate(shared):
            run_scores[:, names.index(name)] = aligned.values[:, 0, column] * own.get(name, signs[name])
    return run_scores
