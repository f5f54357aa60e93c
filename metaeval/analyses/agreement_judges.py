"""Several judges of the same runs and their reference: the runs and topics that count, and the judges as measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from metaeval.data.policies import report_policy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_list, format_option
from metaeval.measures.base import Measure

Share: TypeAlias = Literal["all", "shared"]
"""Whether all runs or topics count, or those that scores and their reference share."""


def take_shared(given: Sequence[Scores], runs: Share, topics: Share) -> list[Scores]:
    """Return scores with the runs, or topics, that all of them have, and say which of each are left out.

    Parameters
    ----------
    given : sequence of Scores
    runs, topics : {"all", "shared"}

    Returns
    -------
    list of Scores

    Raises
    ------
    DataError
        If they have none in common.

    Warns
    -----
    PolicyWarning
        Which runs or topics are left out.
    """
    found = list(given)
    for what, choice in (("runs", runs), ("topics", topics)):
        if choice not in get_args(Share):
            raise MetaevalError(f"{format_option(what)} is {' or '.join(get_args(Share))}, not {choice!r}")
        if choice == "all":
            continue
        common = set.intersection(*(set(getattr(one, what)) for one in found))
        if not common:
            raise DataError(f"the scores and their reference have no {what} in common")
        for place, one in enumerate(found):
            labels = getattr(one, what)
            left_out = [label for label in labels if label not in common]
            if left_out:
                name = one.collection or format_list([str(measure) for measure in one.measures])
                report_policy(
                    f"{format_option(what, 'shared')}: left out {len(left_out)} of "
                    f"{format_count(len(labels), what[:-1])} of {name}: {format_list(left_out)}"
                )
                found[place] = one.sel(**{what: [label for label in labels if label in common]})
    return found


def join_judges(judges: Sequence[Scores], reference: Scores) -> Scores:
    """Return what several judges say of the same runs as the measures of one collection.

    Parameters
    ----------
    judges : sequence of Scores
    reference : Scores
        After whose collection the result is called.

    Returns
    -------
    Scores
        A judge's only measure is called as the judge, that is its collection; one of several ``judge measure``.

    Raises
    ------
    DataError
        If two judges have one name, or they do not have the same runs and topics.
    """
    names = [one.collection or f"judge {number}" for number, one in enumerate(judges, start=1)]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"two judges are called {name}: a judge is called as its collection, by default its file")
    found, *others = [name_judge(*pair) for pair in zip(judges, names, strict=True)]
    for other in others:
        try:
            found = found.add_measures(other)
        except DataError as error:
            hint = f"{format_option('runs', 'shared')} and {format_option('topics', 'shared')} take those that all have"
            raise DataError(error.problem, hint=hint) from None
    return replace(found, collection=reference.collection)


def join_run_scores(whole: Sequence[Scores | None], judges: Sequence[Scores]) -> Scores | None:
    """Return the scores of whole runs of several judges as those of one collection, with measures as `join_judges` has.

    Parameters
    ----------
    whole : sequence of Scores or None
        One for each judge, with one topic, or None; or a single one, whose measures are called so already.
    judges : sequence of Scores

    Returns
    -------
    Scores or None
        Of the runs that all of them have.

    Raises
    ------
    MetaevalError
        If there is neither one nor one for each judge, or one has several topics.
    """
    if len(whole) == 1:
        return whole[0]
    if len(whole) != len(judges):
        raise MetaevalError(
            f"{format_option('run_scores')}: there are {len(whole)} for {len(judges)} judges; give one for each, in their "
            "order, or a single one with measures called as the judges"
        )
    names = [one.collection or f"judge {number}" for number, one in enumerate(judges, start=1)]
    named = [name_judge(own, name) for own, name in zip(whole, names, strict=True) if own is not None]
    for one in named:
        check_whole_runs(one)
    if not named:
        return None
    common = set.intersection(*(set(one.runs) for one in named))
    if not common:
        raise DataError("the scores of whole runs of the judges have no runs in common")
    same = [replace(one.sel(runs=sorted(common)), topics=("all",)) for one in named]
    found = same[0]
    for other in same[1:]:
        found = found.add_measures(other)
    return found


def check_whole_runs(scores: Scores) -> None:
    """Refuse scores of whole runs that have several topics."""
    if len(scores.topics) != 1:
        raise DataError(
            f"scores of whole runs have one topic; {scores.collection or 'these'} have {len(scores.topics)}"
        )


def name_judge(judge: Scores, name: str) -> Scores:
    """Return the scores of a judge with measures that are called as it.

    Parameters
    ----------
    judge : Scores
    name : str

    Returns
    -------
    Scores
    """
    single = len(judge.measures) == 1
    measures = tuple(
        Measure(name if single else f"{name} {one}", one.higher_is_better, one.range) for one in judge.measures
    )
    return replace(judge, measures=measures)


def choose_measure(reference: Any, wanted: str | None) -> Any:
    """Return a reference of its own with the one measure that was chosen.

    Parameters
    ----------
    reference : Scores, sequence of Scores, Measure or str
    wanted : str or None

    Returns
    -------
    Scores, sequence of Scores, Measure or str

    Raises
    ------
    MetaevalError
        If it has no such measure, or is no scores.
    """
    if wanted is None:
        return reference
    if isinstance(reference, list | tuple):
        return [choose_measure(one, wanted) for one in reference]
    if not isinstance(reference, Scores):
        raise MetaevalError(f"{format_option('reference_measure')} chooses from scores, not from {reference}")
    return reference.sel(measures=wanted)
