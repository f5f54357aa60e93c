"""Mean τ of measures between two sets of topics, with constant runs and without them, over the same splits."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import metaeval
from experiments.answers import find_interval
from metaeval.datasets.baselines import constant_class_counts
from metaeval.errors import MetaevalWarning
from metaeval.stats.rank_correlation import TauVariant
from metaeval.stats.split_half import split_half_tau
from metaeval.stats.streams import generator, stream_key


@dataclass(frozen=True)
class Prepared:
    """A collection whose constant runs can be put in and taken out.

    Parameters
    ----------
    name : str
    measures : tuple of str
    informed : ndarray, shape (run, topic, measure)
        Scores of the runs that are not constant.
    constant : ndarray, shape (class, topic, measure)
        Scores of a run that always answers this class.
    own : tuple of int
        Classes of the collection's own constant runs; all classes where it has none.
    has_own : bool
    seed : int
    """

    name: str
    measures: tuple[str, ...]
    informed: np.ndarray
    constant: np.ndarray
    own: tuple[int, ...]
    has_own: bool
    seed: int

    def split(
        self,
        classes: Sequence[int],
        *,
        n_trials: int,
        size: int | None,
        tau: TauVariant,
        topics: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return τ of every split and measure with the constant runs of some classes, shape (trial, measure)."""
        values = np.concatenate([self.informed, self.constant[list(classes)]])
        if topics is not None:
            values = values[:, topics]
        key = stream_key(self.seed, self.name, "split_half_consistency")
        return split_half_tau(values, n_trials=n_trials, size=size, key=key, variant=tau)


def prepare(runs: metaeval.ClassificationRuns, measures: Sequence[str], *, marked: str, seed: int) -> Prepared:
    """Score runs, and one that always answers each class, and tell the collection's own constant runs apart.

    Parameters
    ----------
    runs : ClassificationRuns
    measures : sequence of str
    marked : str
        What the names of constant runs begin with; a run is also constant if it only ever answers one class.
    seed : int

    Returns
    -------
    Prepared
    """
    answered = runs.counts.sum(axis=(1, 2)) > 0  # run × class
    alone = answered.sum(axis=1) == 1
    own = [int(np.flatnonzero(row)[0]) for row, single in zip(answered, alone, strict=True) if single]
    unlike = [run for run, single in zip(runs.runs, alone, strict=True) if run.startswith(marked) and not single]
    if unlike:
        raise metaeval.MetaevalError(f"{runs.collection}: {unlike[0]} answers more than one class")
    classes = range(len(runs.classes))
    constant = np.stack([constant_class_counts(runs.gold, k) for k in classes])
    labels = [run for run, single in zip(runs.runs, alone, strict=True) if not single]
    whole = metaeval.ClassificationRuns(
        np.concatenate([runs.counts[~alone], constant]), runs=[*labels, *(f"{marked}{k:02d}" for k in classes)],
        topics=runs.topics, classes=runs.classes, collection=runs.collection,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)  # documented values of constant runs
        scores = metaeval.score(whole, list(measures))
    topics = np.argsort(np.array(scores.topics), kind="stable")  # the order of lines in a file moves nothing
    values = scores.values[:, topics]
    n = len(labels)
    return Prepared(
        runs.collection, tuple(measures), values[:n], values[n:], tuple(own) if own else tuple(classes), bool(own), seed
    )


def choose_classes(n_classes: int, number: int, most: int, key: str) -> list[tuple[int, ...]]:
    """Return which classes so many constant runs answer: all choices, or some at random where there are many.

    Parameters
    ----------
    n_classes, number, most : int
    key : str
        Of the random stream.

    Returns
    -------
    list of tuple of int

    Examples
    --------
    >>> choose_classes(3, 2, 10, "tiny")
    [(0, 1), (0, 2), (1, 2)]
    """
    every = list(itertools.combinations(range(n_classes), number))
    if len(every) <= most:
        return every
    picked = generator(0, key, "constant_runs", str(number)).permutation(len(every))[:most]
    return [every[place] for place in sorted(picked)]


@dataclass(frozen=True)
class Change:
    """What constant runs change in the consistency of one measure, beside the others.

    Parameters
    ----------
    without, with_ : ndarray, shape (measure,)
        Mean τ.
    by_split : (float, float, float)
        κ's change less the mean change of the others, and the ends of its interval over splits of these topics.
    over_topics : (float, float, float)
        The same with the interval over topics.
    """

    without: np.ndarray
    with_: np.ndarray
    by_split: tuple[float, float, float]
    over_topics: tuple[float, float, float]


def measure_change(
    prepared: Prepared, asked: str, *, n_trials: int, size: int | None, tau: TauVariant, groups: int, n_left: int
) -> Change:
    """Compare consistency with a collection's constant runs and without them.

    Parameters
    ----------
    prepared : Prepared
    asked : str
        The measure whose change is held against that of the others.
    n_trials : int
    size : int or None
        Topics in either set; None for halves.
    tau : {"tau_a", "tau_b"}
    groups : int
        Of topics, left out one after the other.
    n_left : int
        Trials without a group: only how these means spread is used.

    Returns
    -------
    Change
    """
    n_topics = prepared.informed.shape[1]
    place = prepared.measures.index(asked)

    def find(topics: np.ndarray | None, n_trials: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        without, with_ = (
            prepared.split(classes, n_trials=n_trials, size=size, tau=tau, topics=topics)
            for classes in ((), prepared.own)
        )
        change = with_ - without
        others = np.delete(change, place, axis=1).mean(axis=1)
        return without.mean(axis=0), with_.mean(axis=0), change[:, place] - others

    without, with_, relative = find(None, n_trials)
    dealt = generator(prepared.seed, prepared.name, "constant_runs", "groups").permutation(n_topics) % groups
    left_out = np.array([find(np.flatnonzero(dealt != group), n_left)[2].mean() for group in range(groups)])
    # The jackknife: pseudo-values are independent as far as groups are, so that Student's t gives the interval.
    pseudo = groups * relative.mean() - (groups - 1) * left_out
    _, low, high = find_interval(pseudo)
    reach = (high - low) / 2
    middle = float(relative.mean())
    return Change(without, with_, find_interval(relative), (middle, middle - reach, middle + reach))
