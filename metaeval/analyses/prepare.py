"""How analyses begin: options checked, and scores chosen and sorted by label, so that no order of rows moves a result."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import Diagnostics, diagnose, take_distinct_runs
from metaeval.analyses.topic_noise import find_noise, refuse_clusters
from metaeval.data.scores import Scores, refuse_gaps
from metaeval.errors import MetaevalError, MetaevalWarning, format_count, format_list, format_option
from metaeval.measures.base import find_signs
from metaeval.show.signature import Signature, sign
from metaeval.stats.arrays import restore_pairs
from metaeval.stats.irregular_runs import find_identical_runs
from metaeval.stats.pair_tests import RESAMPLING
from metaeval.stats.significant_counts import trials_needed
from metaeval.stats.streams import generator, rank_labels, stream_key

BOUNDS = {"n_bootstrap": 0, "n_random": 0, "difference": np.inf, "margin": np.inf}
"""The least of a count, or the top of a number, where it is not 1."""

WORDS = {"tau": "τ", "gaps": "policy for gaps", "runs": "choice of runs", "topics": "choice of topics"}
"""What an option chooses, where its name does not say it."""

Clustered: TypeAlias = Literal["refuse", "pool", "sum", "keep"]
"""What an analysis does with topics in clusters: refuse them, take their pseudo-values or sums as topics, or draw them."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Scores as arrays, in the order of their labels, and the way back to the order in which they were given.

    Runs, topics and measures are sorted as text, character by character: "10" comes before "2". Random draws belong
    to these places, and sums are made in this order. `scores` have the runs that are used, in the order given, and topics in
    clusters as the analysis takes them; `values` are sorted, and times the sign of each measure if they were oriented; `places`
    say for each run, topic and measure in the given order where it is in `values`.
    """

    analysis: str
    scores: Scores
    values: np.ndarray
    places: tuple[np.ndarray, np.ndarray, np.ndarray]
    diagnostics: Diagnostics
    seed: int = 0

    def restore(self, array: np.ndarray, *axes: str) -> np.ndarray:
        """Return an array with labels in the order given; `axes` say what each of its last axes holds.

        They are "run", "topic", "measure", "run pair" or "measure pair"; pairs are (0, 1), (0, 2), …, (1, 2), ….
        """
        for axis, what in enumerate(axes, start=array.ndim - len(axes)):
            single, _, paired = what.partition(" ")
            places = self.places[("run", "topic", "measure").index(single)]
            array = np.take(array, restore_pairs(places) if paired else places, axis=axis)
        return array

    def key(self, *purpose: str) -> int:
        """Return the key of random draws of this analysis of this collection, for a purpose."""
        return stream_key(self.seed, self.scores.collection, self.analysis, *purpose)

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the generator of random numbers of this analysis of this collection, for a purpose."""
        return generator(self.seed, self.scores.collection, self.analysis, *purpose)

    def sign(self, **settings: object) -> Signature:
        """Return the signature: everything that the numbers depend on."""
        return sign(self.analysis, self.scores, **settings, **self.diagnostics.settings)


def prepare(
    scores: Scores,
    analysis: str,
    *,
    seed: int = 0,
    distinct_runs: bool | Sequence[Sequence[str]] = False,
    runs: int = 2,
    topics: int = 2,
    measures: int = 1,
    clusters: Clustered = "refuse",
    oriented: bool = False,
) -> Prepared:
    """Return scores as an analysis uses them, refused if there are fewer runs, topics or measures than it can compare.

    Where several collections have the same runs, `distinct_runs` are the groups that are equal in all of them.
    """
    least = {"runs": runs, "topics": topics, "measures": measures}
    check_scores(scores, **least)
    check_options(seed=seed, distinct_runs=distinct_runs)
    chosen, identical = scores, tuple[tuple[str, ...], ...]()
    if distinct_runs is not False:
        groups = find_identical_runs(scores.runs, scores.values) if distinct_runs is True else distinct_runs
        identical = tuple(map(tuple, groups))
        chosen = take_distinct_runs(scores, identical=identical)
    noise = find_noise(chosen)
    if chosen.clusters:
        if clusters == "refuse":
            refuse_clusters(chosen)
        pooled = chosen.pool_clusters(sums=clusters == "sum")  # which refuses a single cluster, whatever draws them
        chosen = chosen if clusters == "keep" else pooled
    check_scores(chosen, **least)
    diagnostics = replace(diagnose(chosen), noise=noise)
    if distinct_runs is not False:
        diagnostics = replace(diagnostics, identical=identical, distinct=True)
    values, places = sort_scores(chosen, oriented=oriented)
    return Prepared(analysis, chosen, values, places, diagnostics, seed)


def sort_scores(
    scores: Scores, *, oriented: bool = False
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return scores sorted by labels, higher being better if they are oriented, and the place of each label among them."""
    runs, topics, measures = map(
        rank_labels, (scores.runs, scores.topics, [str(measure) for measure in scores.measures])
    )
    orders = [np.argsort(places) for places in (runs, topics, measures)]
    signs = find_signs(scores.measures)[orders[2]] if oriented else 1.0
    # Contiguous, because the order of the axes in memory decides in which order NumPy adds.
    return np.multiply(scores.values[np.ix_(*orders)], signs, order="C"), (runs, topics, measures)


def list_collections(scores: Scores | Iterable[Scores]) -> list[Scores]:
    """Return the scores of one collection, or of several, as a list; anything else is refused."""
    listed: list[Any] = [scores]
    if isinstance(scores, Iterable) and not isinstance(scores, str | pd.DataFrame):
        listed = list(scores)
    for each in listed:
        if not isinstance(each, Scores):
            kind = type(each).__name__
            raise MetaevalError(f"analyses take Scores, not {kind}: see metaeval.score and metaeval.io.from_frame")
    return listed


def check_scores(scores: Scores, *, runs: int = 2, topics: int = 2, measures: int = 1) -> None:
    """Refuse scores of fewer runs, topics or measures than an analysis can compare."""
    (scores,) = list_collections([scores])
    refuse_gaps(scores)
    least = {"run": runs, "topic": topics, "measure": measures}
    for (what, asked), present in zip(least.items(), scores.values.shape, strict=True):
        if present < asked:
            hint = f" (items without topics can be split at random: {format_option('parts', 10)})"
            raise MetaevalError(
                f"{scores.collection or 'the collection'} holds {format_count(present, what)}; "
                f"at least {asked} are needed to compare anything{hint if what == 'topic' else ''}"
            )


class Within(NamedTuple):
    """What an option is given, with its bound: a `Literal` of choices; a whole number, the least of a count; or another one.

    That is the top of a number that lies above 0.
    """

    value: Any
    bound: Any


def check_options(**options: Any) -> None:
    """Refuse options that are not what their names say.

    By default what begins with n_ is a count from 1, and others lie between 0 and 1, if not in `BOUNDS`.
    """
    for name, given in options.items():
        usual = 1 if name.startswith("n_") else 1.0
        value, bound = given if isinstance(given, Within) else (given, BOUNDS.get(name, usual))
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        whole = number and isinstance(value, int | np.integer)
        wrong, shown = f"{format_option(name)} is {value!r}", f"{format_option(name)} is {value}"
        if choices := get_args(bound):
            what = f"there is no {WORDS.get(name, name)} {value!r}"
            problem = "" if value in choices else f"{what}: use {', '.join(choices)}"
        elif name == "seed":
            problem = "" if whole else f"the seed is {value!r}; it is a whole number"
        elif name == "distinct_runs":
            problem = "" if isinstance(value, bool | list | tuple) else f"{wrong}; it is True or False"
        elif name == "n_jobs":
            problem = "" if whole and value else f"{wrong}; it is 1 or more, or -1 for all processors"
        elif isinstance(bound, int):
            problem = "" if whole and value >= bound else f"{shown}; it is a whole number of at least {bound}"
            if whole and value >= 2**31:
                problem = f"{shown}; more than {2**31 - 1:,} are out of reach"
        else:
            kind, lies = "a number between 0 and 1", "it lies between 0 and 1, both excluded"
            if bound != 1:
                kind, lies = "a number above 0", "it is a finite number above 0"
            problem = "" if number and 0 < value < bound else f"{wrong}; it is {kind}"
            if number and problem:
                problem = f"{format_option(name)} is {value:g}; {lies}"
        if problem:
            raise MetaevalError(problem)


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
