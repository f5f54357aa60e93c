"""Runs with the same scores: which they are, and scores with one of each."""

from __future__ import annotations

from collections.abc import Sequence

from metaeval.data.scores import Scores
from metaeval.stats.irregular_runs import equal_rows


def find_identical_runs(*scores: Scores) -> tuple[tuple[str, ...], ...]:
    """Which runs have the same scores on every topic, under all measures?

    Parameters
    ----------
    *scores : Scores
        Several collections of the same runs in the same order: runs must then be the same in all of them.

    Returns
    -------
    tuple of tuple of str
        Groups of two or more runs, each in the order of their labels.
    """
    groups: dict[int, list[str]] = {}
    for run, first in zip(scores[0].runs, equal_rows(*(one.values for one in scores)).tolist(), strict=True):
        groups.setdefault(first, []).append(run)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1))


def distinct_runs(scores: Scores, *, identical: Sequence[Sequence[str]] | None = None) -> Scores:
    """Return the scores without runs that repeat another one.

    Of each group of runs that have the same scores on every topic, under all measures, the first in the order of their
    labels stays.

    Parameters
    ----------
    scores : Scores
    identical : sequence of groups of runs, optional
        By default they are found.

    Returns
    -------
    Scores
        The other runs in their order; the same object where there is nothing to leave out.

    Examples
    --------
    >>> scores = Scores([[[0.5]], [[0.7]], [[0.5]]], runs=["c", "b", "a"], topics=["t"], measures=["AP"])
    >>> distinct_runs(scores).runs
    ('b', 'a')
    """
    groups = find_identical_runs(scores) if identical is None else identical
    repeated = {run for group in groups for run in group[1:]}
    return scores.sel(runs=[run for run in scores.runs if run not in repeated]) if repeated else scores
