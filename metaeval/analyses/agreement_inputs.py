"""What is compared with what: measures, judges, their reference and scores of whole runs, joined by their labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, PolicyWarning, format_count, format_list, format_option
from metaeval.measures.base import Measure

Share: TypeAlias = Literal["all", "shared"]
"""Whether all runs or topics count, or those that scores and their reference share."""


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


def match_references(
    scores: Scores | Sequence[Scores],
    reference: Any,
    run_scores: Any,
    *,
    reference_measure: str | None,
    runs: Share,
    topics: Share,
) -> tuple[list[Scores], list[Any], list[Scores | None]]:
    """Return collections, with a reference and perhaps scores of whole runs for each.

    Several collections with one reference of its own are judges of the same runs, which become one collection.
    """
    collections = [scores] if isinstance(scores, Scores) else list(scores)
    if not collections:
        raise MetaevalError("there are no scores")
    reference = _choose_measure(reference, reference_measure)
    if isinstance(reference, Scores):
        *collections, reference = _take_shared([*collections, reference], runs, topics)
        if len(collections) > 1:
            if isinstance(run_scores, list | tuple):
                run_scores = _join_run_scores(run_scores, collections)
            collections = [_join_judges(collections, reference)]
    elif isinstance(reference, list | tuple) and all(isinstance(each, Scores) for each in reference):
        pairs = zip(collections, list_for_each(reference, collections, "reference"), strict=True)
        shared = [_take_shared(pair, runs, topics) for pair in pairs]
        collections, reference = [pair[0] for pair in shared], [pair[1] for pair in shared]
    elif "shared" in (runs, topics):
        option = format_option("runs" if runs == "shared" else "topics", "shared")
        raise MetaevalError(f"{option} is for a reference of its own: a measure has the runs and topics of the others")
    references = list_for_each(reference, collections, "reference")
    return collections, references, list_for_each(run_scores, collections, "run_scores")


def average_annotators(reference: Any, annotators: bool) -> tuple[Any, Any]:
    """Return the annotators of every reference, if its measures are some, and their means in place of the references."""
    if not annotators:
        return None, reference
    several = isinstance(reference, list | tuple)
    people = list(reference) if several else [reference]
    means = []
    for each in people:
        if not isinstance(each, Scores) or len(each.measures) < 2:
            raise MetaevalError(
                f"{format_option('annotators')} takes {format_option('reference')} to be scores of its own with a measure for "
                "each of several annotators"
            )
        directions = {measure.higher_is_better for measure in each.measures}
        if len(directions) > 1:
            raise MetaevalError("annotators score on one scale, but higher is better for some and not for others")
        (direction,) = directions
        mean = Measure("mean of annotators", direction)
        means.append(replace(each, values=each.values.mean(axis=-1, keepdims=True), measures=(mean,)))
    return reference, means if several else means[0]


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
    runs = _match_labels("runs", scores.runs, reference.runs, known, missing == "drop-run", shares)
    topics = _match_labels("topics", scores.topics, reference.topics, known, missing == "drop-topic", shares)
    scores, reference = scores.sel(runs=runs, topics=topics), reference.sel(runs=runs, topics=topics)
    if str(known) in map(str, scores.measures):
        scores = _rename_namesake(scores, reference)
    return scores.add_measures(reference, first=True), known


def _match_labels(
    axis: str, labels: Sequence[str], referenced: Sequence[str], reference: Measure, drop: bool, shares: bool
) -> list[str]:
    """Return the runs or topics of scores that a reference has too; where it lacks some, refuse or say so."""
    common = [label for label in labels if label in set(referenced)]
    lacking = [label for label in labels if label not in set(referenced)]
    if lacking and not drop:
        ways = [format_option("missing", f"drop-{axis[:-1]}")] + [format_option(axis, "shared")] * shares
        raise DataError(
            f"the reference {reference} has no score of {format_count(len(lacking), axis[:-1])}: {format_list(lacking)}",
            hint=f"{' or '.join(ways)} leaves them out",
        )
    if not common:
        raise DataError(f"the reference {reference} has none of the {axis}")
    further = [label for label in referenced if label not in set(labels)]
    left_out = [f"{format_list(lacking)} without a reference"] * bool(lacking)
    left_out += [f"{format_list(further)} with a reference alone"] * bool(further)
    if left_out:
        warnings.warn(f"{axis} left out: {'; '.join(left_out)}", PolicyWarning, stacklevel=5)
    return common


def _rename_namesake(scores: Scores, reference: Scores) -> Scores:
    """Return scores without the reference among them; other scores of its name are a judge's, and are called as it."""
    (known,) = reference.measures
    judge = scores.collection or "judge"
    if len(scores.measures) == 1:
        return _name_judge(scores, judge)
    if np.array_equal(scores.sel(measures=str(known)).values, reference.values):
        return scores.sel(measures=[str(measure) for measure in scores.measures if str(measure) != str(known)])
    renamed = tuple(
        Measure(f"{judge} {measure}", measure.higher_is_better, measure.range)
        if str(measure) == str(known)
        else measure
        for measure in scores.measures
    )
    return replace(scores, measures=renamed)


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


def replace_means(means: np.ndarray, scores: Scores, whole: Scores | None, names: Sequence[str]) -> np.ndarray:
    """Return scores of whole runs, shape (run, measure): a measure's own where `whole` has some, otherwise its mean.

    `means`, of the same shape, are of `scores` over topics, with runs in the order of their labels and measures as `names`
    has them. Higher is better, in the result too.
    """
    if whole is None:
        return means
    _check_whole_runs(whole)
    known = [str(measure) for measure in whole.measures]
    signs = {str(measure): measure.sign for measure in scores.measures}
    # A direction that the scores of whole runs state themselves is theirs; otherwise a measure has one direction.
    signs |= {str(measure): measure.sign for measure in whole.measures if measure.higher_is_better is not None}
    shared = [name for name in names if name in known]
    if not shared:
        raise DataError(f"the scores of whole runs {whole.collection} hold none of the measures ({format_list(known)})")
    lacking = [run for run in scores.runs if run not in whole.runs]
    if lacking:
        raise DataError(f"the scores of whole runs {whole.collection} lack {format_list(lacking)}")
    aligned = whole.sel(runs=sorted(scores.runs), measures=shared)
    means = means.copy()
    for column, name in enumerate(shared):
        means[:, names.index(name)] = aligned.values[:, 0, column] * signs[name]
    return means


def check_weights(weights: Sequence[float] | None, n_collections: int) -> np.ndarray:
    """Return the weights of collections, shape (collection,): 1 each by default."""
    share = np.ones(n_collections) if weights is None else np.array(weights, dtype=np.float64)
    if share.shape != (n_collections,) or not (np.isfinite(share).all() and (share > 0).all()):
        raise MetaevalError(
            f"{format_option('weights')} are {n_collections} positive numbers, one for each collection, not {weights}"
        )
    return share


def _choose_measure(reference: Any, name: str | None) -> Any:
    """Return a reference of its own with the one measure of this name."""
    if name is None:
        return reference
    if isinstance(reference, list | tuple):
        return [_choose_measure(each, name) for each in reference]
    if not isinstance(reference, Scores):
        raise MetaevalError(f"{format_option('reference_measure')} chooses from scores, not from {reference}")
    return reference.sel(measures=name)


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


def _join_judges(judges: Sequence[Scores], reference: Scores) -> Scores:
    """Return what several judges say of the same runs as the measures of one collection, called as the reference's.

    A judge's only measure is called as the judge, that is its collection; one of several ``judge measure``.
    """
    names = _list_judges(judges)
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"two judges are called {name}: a judge is called as its collection, by default its file")
    joined, *others = [_name_judge(*pair) for pair in zip(judges, names, strict=True)]
    for other in others:
        try:
            joined = joined.add_measures(other)
        except DataError as error:
            hint = f"{format_option('runs', 'shared')} and {format_option('topics', 'shared')} take those that all have"
            raise DataError(error.problem, hint=hint) from None
    return replace(joined, collection=reference.collection)


def _join_run_scores(whole: Sequence[Scores | None], judges: Sequence[Scores]) -> Scores | None:
    """Return the scores of whole runs of several judges as those of one collection, with the runs that all of them have.

    There is one for each judge, or None; or a single one, whose measures are called as the judges already.
    """
    if len(whole) == 1:
        return whole[0]
    if len(whole) != len(judges):
        raise MetaevalError(
            f"{format_option('run_scores')}: there are {len(whole)} for {len(judges)} judges; give one for each, in their "
            "order, or a single one with measures called as the judges"
        )
    pairs = zip(whole, _list_judges(judges), strict=True)
    named = [_name_judge(scores, name) for scores, name in pairs if scores is not None]
    for scores in named:
        _check_whole_runs(scores)
    if not named:
        return None
    common = set.intersection(*(set(scores.runs) for scores in named))
    if not common:
        raise DataError("the scores of whole runs of the judges have no runs in common")
    joined, *others = [replace(scores.sel(runs=sorted(common)), topics=("all",)) for scores in named]
    for other in others:
        joined = joined.add_measures(other)
    return joined


def _check_whole_runs(scores: Scores) -> None:
    """Refuse scores of whole runs that have several topics."""
    if len(scores.topics) != 1:
        raise DataError(
            f"scores of whole runs have one topic; {scores.collection or 'these'} have {len(scores.topics)}"
        )


def _list_judges(judges: Sequence[Scores]) -> list[str]:
    """Return what judges are called: as their collections."""
    return [judge.collection or f"judge {number}" for number, judge in enumerate(judges, start=1)]


def _name_judge(judge: Scores, name: str) -> Scores:
    """Return the scores of a judge with measures that are called as it."""
    single = len(judge.measures) == 1
    measures = tuple(
        Measure(name if single else f"{name} {measure}", measure.higher_is_better, measure.range)
        for measure in judge.measures
    )
    return replace(judge, measures=measures)
