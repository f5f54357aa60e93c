"""Checks of what analyses are given: sizes of scores, and options."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from metaeval.data.scores import Scores, refuse_gaps
from metaeval.errors import MetaevalError, MetaevalWarning, format_count, format_list, format_option
from metaeval.stats.pair_tests import RESAMPLING
from metaeval.stats.significant_counts import trials_needed


def check_scores(scores: Scores, *, runs: int = 2, topics: int = 2, measures: int = 1) -> None:
    """Refuse scores of fewer runs, topics or measures than an analysis can compare."""
    if not isinstance(scores, Scores):
        raise MetaevalError(
            f"analyses take Scores, not {type(scores).__name__}: see metaeval.score and metaeval.io.from_frame"
        )
    refuse_gaps(scores)
    least = {"run": runs, "topic": topics, "measure": measures}
    for (what, asked), present in zip(least.items(), scores.values.shape, strict=True):
        if present < asked:
            hint = f" (items without topics can be split at random: {format_option('parts', 10)})"
            raise MetaevalError(
                f"{scores.collection or 'the collection'} holds {format_count(present, what)}; "
                f"at least {asked} are needed to compare anything{hint if what == 'topic' else ''}"
            )


def check_share(name: str, value: float) -> None:
    """Refuse a share such as α or a confidence that is not a number strictly between 0 and 1."""
    _check_number(name, value, 1, "a number between 0 and 1", "it lies between 0 and 1, both excluded")


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a finite number above 0."""
    _check_number(name, value, np.inf, "a number above 0", "it is a finite number above 0")


def _check_number(name: str, value: float, top: float, kind: str, range_: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise MetaevalError(f"{format_option(name)} is {value!r}; it is {kind}")
    if not 0 < value < top:
        raise MetaevalError(f"{format_option(name)} is {value:g}; {range_}")


def check_choice(what: str, value: object, choices: Any) -> None:
    """Refuse what is none of the values of a `Literal`."""
    if value not in get_args(choices):
        raise MetaevalError(f"there is no {what} {value!r}: use {', '.join(get_args(choices))}")


def check_count(name: str, value: int, least: int) -> None:
    """Refuse a count that is not a whole number of at least `least`, or that no machine can count to in time."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise MetaevalError(f"{format_option(name)} is {value}; it is a whole number of at least {least}")
    if value >= 2**31:
        raise MetaevalError(f"{format_option(name)} is {value}; more than {2**31 - 1:,} are out of reach")


def check_seed(seed: int) -> None:
    """Refuse a seed that is not a whole number."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise MetaevalError(f"the seed is {seed!r}; it is a whole number")


def check_jobs(n_jobs: int) -> None:
    """Refuse a number of jobs that joblib has no meaning for."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise MetaevalError(f"{format_option('n_jobs')} is {n_jobs!r}; it is 1 or more, or -1 for all processors")


def check_trials(test: str, correction: str, n_pairs: int, n_permutations: int, alpha: float) -> tuple[str, ...]:
    """Refuse so few trials that no pair can be significant after a correction, and remark where they are scarce."""
    if test not in RESAMPLING or correction == "none":
        return ()
    least = trials_needed(n_pairs, alpha)
    what = f"{format_option('test', test)} with {correction} for {n_pairs:,} run pairs"
    better = f"{format_option('n_permutations', 10 * least)} would do, and so does {format_option('test', 'max-t')}"
    if n_permutations < least and correction != "benjamini-hochberg":
        raise MetaevalError(
            f"{what}: with {format_option('n_permutations', n_permutations)} no p can be {alpha:g} or less; "
            f"{least:,} trials are the least. {better}, which needs no correction"
        )
    if n_permutations < 10 * least:
        return (
            f"{n_permutations:,} trials are few for {what}\n"
            f"Whether a pair is significant depends on a handful of trials. {better}.",
        )
    return ()


def warn_of_constant_measures(scores: Scores) -> np.ndarray:
    """Warn of measures that give every run the same score on every topic, and return which, shape (measure,)."""
    constant = scores.values.min(axis=(0, 1)) == scores.values.max(axis=(0, 1))
    names = [str(measure) for measure, same in zip(scores.measures, constant, strict=True) if same]
    if names:
        same = f"{format_list(names)} gives all runs the same score on all topics: nothing differs, its p-values are 1"
        warnings.warn(f"{scores.collection or 'scores'}: {same}", MetaevalWarning, stacklevel=3)
    return constant


def warn_of_same_data(collections: Sequence[str], scores: Sequence[np.ndarray]) -> None:
    """Name the collections whose scores, or means of them, are all equal: the same data would count twice."""
    for (name, first), (other, second) in itertools.combinations(zip(collections, scores, strict=True), 2):
        if np.array_equal(first, second):
            same = f"{name} and {other} have the same scores: the same data under two names count twice"
            warnings.warn(same, MetaevalWarning, stacklevel=4)


def remark_shared_topics(collections: Sequence[str], topics: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Say which collections share topics: they are drawn together, and such collections are hardly a sample."""
    sets = list(map(set, topics))
    shared = {(i, j): len(sets[i] & sets[j]) for i, j in itertools.combinations(range(len(sets)), 2)}
    sharing = sorted({number for pair, count in shared.items() if count for number in pair})
    if not sharing:
        return ()
    return (
        f"{format_list([collections[number] for number in sharing])} share topics: an interval for other "
        "collections takes them as independent\n"
        f"Up to {max(shared.values()):,} topics are shared; they count in each collection.",
    )
