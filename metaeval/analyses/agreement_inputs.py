"""Bringing measures, their reference and scores of whole runs together by their labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metaeval.analyses.agreement_judges import check_whole_runs, name_judge
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, PolicyWarning, format_count, format_list, format_option
from metaeval.measures.base import Measure


def list_for_each(given: Any, collections: Sequence[Scores], what: str) -> list[Any]:
    """Return one object for each collection: a single one that is not of Scores stands for all.

    Parameters
    ----------
    given : object or sequence of objects
    collections : sequence of Scores
    what : str
        The argument, for the message.

    Returns
    -------
    list

    Raises
    ------
    MetaevalError
        If there are not as many as collections.
    """
    several = len(collections) if not isinstance(given, Scores) else 1
    found = list(given) if isinstance(given, list | tuple) else [given] * several
    if len(found) != len(collections):
        raise MetaevalError(
            f"{format_option(what)}: there {'is' if len(found) == 1 else 'are'} {len(found)} for "
            f"{format_count(len(collections), 'collection')}; give one each, in the order of the collections"
        )
    return found


def join_reference(
    scores: Scores, reference: object, missing: MissingPolicy, *, shares: bool = False
) -> tuple[Scores, Measure]:
    """Return scores that have the reference among their measures, and which it is.

    Parameters
    ----------
    scores : Scores
    reference : str, Measure, or Scores of one measure
    missing : {"raise", "drop-topic", "drop-run"}
        What to do with topics or runs of which a reference of its own has no score.
    shares : bool, optional
        Whether the caller could take the runs or topics that both have, which the message then says.

    Returns
    -------
    scores : Scores
    reference : Measure

    Raises
    ------
    MetaevalError
        If there is no such measure, or it has no score where it must have one.

    Warns
    -----
    PolicyWarning
        Which runs or topics are left out.
    """
    if not isinstance(reference, Scores):
        named = [one for one in scores.measures if str(one) == str(reference)]
        (known,) = named or scores.sel(measures=str(reference)).measures
        return scores, known
    if len(reference.measures) != 1:
        raise MetaevalError(
            f"{format_option('reference')} holds {len(reference.measures)} measures "
            f"({format_list([str(one) for one in reference.measures])}); "
            f"it is one: choose it with {format_option('reference_measure', 'NAME')}"
        )
    chosen: dict[str, list[str]] = {}
    for what, mine, theirs, policy in (
        ("runs", scores.runs, reference.runs, "drop-run"),
        ("topics", scores.topics, reference.topics, "drop-topic"),
    ):
        kept = [label for label in mine if label in set(theirs)]
        lacking = [label for label in mine if label not in set(theirs)]
        shared = [format_option(what, "shared")] if shares else []
        if lacking and missing != policy:
            raise DataError(
                f"the reference {reference.measures[0]} has no score of {format_count(len(lacking), what[:-1])}: "
                f"{format_list(lacking)}",
                hint=f"{' or '.join([format_option('missing', policy), *shared])} leaves them out",
            )
        if not kept:
            raise DataError(f"the reference {reference.measures[0]} has none of the {what}")
        further = [label for label in theirs if label not in set(mine)]
        left_out = [f"{format_list(lacking)} without a reference"] * bool(lacking)
        left_out += [f"{format_list(further)} with a reference alone"] * bool(further)
        if left_out:
            warnings.warn(f"{what} left out: {'; '.join(left_out)}", PolicyWarning, stacklevel=4)
        chosen[what] = kept
    name = str(reference.measures[0])
    scores = scores.sel(runs=chosen["runs"], topics=chosen["topics"])
    reference = reference.sel(runs=chosen["runs"], topics=chosen["topics"])
    if name in map(str, scores.measures):
        scores = _rename_namesake(scores, reference)
    return scores.add_measures(reference, first=True), reference.measures[0]


def _rename_namesake(scores: Scores, reference: Scores) -> Scores:
    """Return scores without the reference among them; other scores of its name are a judge's, and are called as it."""
    (known,) = reference.measures
    own = scores.collection or "judge"
    if len(scores.measures) == 1:
        return name_judge(scores, own)
    if np.array_equal(scores.sel(measures=str(known)).values, reference.values):
        return scores.sel(measures=[str(one) for one in scores.measures if str(one) != str(known)])
    renamed = tuple(
        Measure(f"{own} {one}", one.higher_is_better, one.range) if str(one) == str(known) else one
        for one in scores.measures
    )
    return replace(scores, measures=renamed)


def list_measures(collections: Sequence[Scores], reference: Measure) -> tuple[Measure, ...]:
    """Return the measures to hold against the reference: all others, the same in every collection.

    Parameters
    ----------
    collections : sequence of Scores
    reference : Measure

    Returns
    -------
    tuple of Measure

    Raises
    ------
    MetaevalError
        If a collection lacks one.
    """
    measures = tuple(one for one in collections[0].measures if str(one) != str(reference))
    names = {str(one) for one in measures}
    for scores in collections[1:]:
        unlike = names ^ {str(one) for one in scores.measures if str(one) != str(reference)}
        if unlike:
            raise MetaevalError(
                f"pooled collections have the same measures, but {format_list(sorted(unlike))} "
                f"{'is' if len(unlike) == 1 else 'are'} not in all of them"
            )
    return measures


def find_run_scores(means: np.ndarray, scores: Scores, own: Scores | None, names: Sequence[str]) -> np.ndarray:
    """Return the scores of whole runs: a measure's own where it has some, otherwise its means over topics.

    Parameters
    ----------
    means : ndarray, shape (run, measure)
        Over topics; runs in the order of their labels.
    scores : Scores
        What they are from.
    own : Scores or None
        Of one topic, as the measures give them.
    names : sequence of str
        The measures of the last axis.

    Returns
    -------
    ndarray, shape (run, measure)
        Higher is better.

    Raises
    ------
    DataError
        If `own` has several topics, lacks a run, or has none of the measures.
    """
    if own is None:
        return means
    check_whole_runs(own)
    known = [str(one) for one in own.measures]
    signs = {str(one): one.sign for one in scores.measures}  # a measure has one direction
    there = [name for name in names if name in known]
    if not there:
        raise DataError(f"the scores of whole runs {own.collection} hold none of the measures ({format_list(known)})")
    lacking = [run for run in scores.runs if run not in own.runs]
    if lacking:
        raise DataError(f"the scores of whole runs {own.collection} lack {format_list(lacking)}")
    aligned = own.sel(runs=sorted(scores.runs), measures=there)
    means = means.copy()
    for column, name in enumerate(there):
        means[:, names.index(name)] = aligned.values[:, 0, column] * signs[name]
    return means


def check_weights(weights: Sequence[float] | None, n_collections: int) -> np.ndarray:
    """Return the weights of collections, 1 each by default.

    Parameters
    ----------
    weights : sequence of float or None
    n_collections : int

    Returns
    -------
    ndarray, shape (collection,)

    Raises
    ------
    MetaevalError
        If there are not as many as collections, or one is not positive.
    """
    share = np.ones(n_collections) if weights is None else np.array(weights, dtype=np.float64)
    if share.shape != (n_collections,) or not (np.isfinite(share).all() and (share > 0).all()):
        raise MetaevalError(
            f"{format_option('weights')} are {n_collections} positive numbers, one for each collection, not {weights}"
        )
    return share
