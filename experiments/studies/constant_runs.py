"""Mean τ of measures between two sets of topics, with runs that always answer one class, and without them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.bounds import BOUNDS
from experiments.claims import Answer, Number, claim, list_claims, tabulate_claims, try_claims
from experiments.outcome import Outcome, Settings, read_toml
from experiments.studies.shared import FEWEST_RUNS, describe_sources, find_interval, load_collections, take_committed
from metaeval.datasets.baselines import constant_class_counts
from metaeval.errors import MetaevalWarning
from metaeval.stats.rank_correlation import TauVariant
from metaeval.stats.split_half import split_half_tau
from metaeval.stats.streams import generator, stream_key

STUDY = read_toml(Path(__file__).with_suffix(".toml"))
MEASURES = list(STUDY["measures"])
ASKED = STUDY["asked"]
SOURCES = ["", *STUDY["sources"]]


@dataclass(frozen=True)
class Prepared:
    """A collection whose constant runs can be put in and taken out: values of shape (run, topic, measure).

    `classes` are those that its constant runs answer: its own (`has_own`), or one run for each class.
    """

    name: str
    measures: tuple[str, ...]
    informed: np.ndarray
    constant: np.ndarray
    classes: tuple[int, ...]
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


@dataclass(frozen=True)
class Change:
    """What constant runs change in the consistency of one measure beside the others; intervals are (value, low, high)."""

    without: np.ndarray
    with_: np.ndarray
    by_split: tuple[float, float, float]
    over_topics: tuple[float, float, float]


Changes = dict[tuple[str, str], Change]
"""By size of the sets of topics and variant of τ."""


def prepare(runs: metaeval.ClassificationRuns, measures: Sequence[str], *, marked: str, seed: int) -> Prepared:
    """Score runs, and one that always answers each class, and tell the collection's own constant runs apart."""
    answered = runs.counts.sum(axis=(1, 2)) > 0  # run × class
    alone = answered.sum(axis=1) == 1
    own_classes = [int(np.flatnonzero(row)[0]) for row, single in zip(answered, alone, strict=True) if single]
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
        runs.collection, tuple(measures), values[:n], values[n:], tuple(own_classes or classes), bool(own_classes), seed
    )


def measure_change(
    prepared: Prepared, asked: str, *, n_trials: int, size: int | None, tau: TauVariant, groups: int, n_left: int
) -> Change:
    """Compare consistency with a collection's constant runs and without them."""
    n_topics = prepared.informed.shape[1]
    column = prepared.measures.index(asked)

    def find(topics: np.ndarray | None, n_trials: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        without, with_ = (
            prepared.split(classes, n_trials=n_trials, size=size, tau=tau, topics=topics)
            for classes in ((), prepared.classes)
        )
        change = with_ - without
        others = np.delete(change, column, axis=1).mean(axis=1)
        return without.mean(axis=0), with_.mean(axis=0), change[:, column] - others

    without, with_, relative = find(None, n_trials)
    dealt = generator(prepared.seed, prepared.name, "constant_runs", "groups").permutation(n_topics) % groups
    left_out = np.array([find(np.flatnonzero(dealt != group), n_left)[2].mean() for group in range(groups)])
    # The jackknife: pseudo-values are independent as far as groups are, so that Student's t gives the interval.
    pseudo = groups * relative.mean() - (groups - 1) * left_out
    _, low, high = find_interval(pseudo)
    reach = (high - low) / 2
    middle = float(relative.mean())
    return Change(without, with_, find_interval(relative), (middle, middle - reach, middle + reach))


def rank_of(means: np.ndarray) -> int:
    """Return κ's rank among the measures, the most consistent one first; equal ones share the better rank."""
    return int((means > means[MEASURES.index(ASKED)] + 1e-12).sum()) + 1


@dataclass(frozen=True)
class Facts:
    """What constant runs change on one collection: a row of changes.csv."""

    row: Mapping[str, Any]

    def change(self) -> Number:
        """Return the change of κ's mean τ less the mean change of the others, with its interval over topics."""
        name = "κ's change less the others'"
        if self.row["runs"] < FEWEST_RUNS:
            return Number.unsure(name, self.row["less others"])
        return Number(name, self.row["less others"], self.row["topics, low"], self.row["topics, high"])

    def rank(self, which: str) -> Number:
        """Return κ's rank by consistency, "with" or "without" constant runs."""
        return Number(f"κ's rank of nine {which} them", int(self.row[f"place {which}"]))


WHERE = "asked here, after what ACL 2021, §5.2, supposes (reworded)"


@claim(WHERE, "Runs that always answer one class cost κ more system ranking consistency than other measures.")
def kappa_loses_more(facts: Facts) -> Answer:
    """With them and without them: the change of κ's mean τ less that of the other eight has an interval below 0."""
    return facts.change() < 0


@claim(WHERE, "Runs that always answer one class make κ one of the least consistent measures.")
def kappa_becomes_one_of_the_worst(facts: Facts) -> Answer:
    """The same, and κ is among the {least consistent} least consistent of nine with them, and not without them."""
    last = len(MEASURES) - BOUNDS["least consistent"].value
    return (facts.change() < 0) & (facts.rank("with") > last) & (facts.rank("without") <= last)


def run(settings: Settings) -> list[Outcome]:
    """Look at every collection that can be loaded."""
    outcomes = [compute_source(source, names, settings) for source, names in STUDY["sources"].items()]
    return [try_all(outcomes), *outcomes]


def try_all(outcomes: Sequence[Outcome]) -> Outcome:
    """Try the claims on every collection, by halves of the topics and the papers' τ."""
    whole = Outcome("constant_runs", "", lacks=[name for outcome in outcomes for name in outcome.lacks])
    first = next(iter(STUDY["sizes"])), STUDY["tau"][0]
    facts = {
        name: Facts(row.to_dict())
        for outcome in take_committed(outcomes)
        if outcome.tables
        for (name, *labels), row in outcome.tables["changes"].frame.iterrows()
        if tuple(labels) == first
    }
    if facts:
        findings = try_claims(list_claims(sys.modules[__name__]), facts)
        whole.tables["claims"] = tabulate_claims(findings, "What came of the claims.", "constant_runs")
    return whole


def compute_source(source: str, names: Iterable[str], settings: Settings) -> Outcome:
    """Look at the collections of one source."""
    trained = any(name.startswith("ordinal-") for name in names)
    outcome = Outcome("constant_runs", source, tolerance=STUDY["tolerance"] if trained else 1e-9)
    prepared: dict[str, Prepared] = {}
    changes: dict[str, Changes] = {}
    for name, runs in load_collections(names, settings, outcome.lacks).items():
        settings.say(f"consistency with constant runs and without: {name}")
        prepared[name] = prepare(runs, MEASURES, marked=STUDY["constant"], seed=settings.seed)
        changes[name] = find_changes(prepared[name])
    if changes:
        signed = (
            f"constant_runs | {', '.join(changes)} | trials {STUDY['n_trials']:,} | groups {STUDY['groups']} | "
            f"seed {settings.seed}"
        )
        outcome.tables["changes"] = tabulate_changes(prepared, changes, signed)
    return outcome


def find_changes(prepared: Prepared) -> Changes:
    """Return what constant runs change, for each size of sets and each τ."""
    return {
        (label, tau): measure_change(
            prepared, ASKED, n_trials=STUDY["n_trials"], size=size or None, tau=tau, groups=STUDY["groups"],
            n_left=STUDY["n_left"],
        )
        for label, size in STUDY["sizes"].items()
        for tau in STUDY["tau"]
    }  # fmt: skip


def tabulate_changes(
    prepared: Mapping[str, Prepared], changes: Mapping[str, Changes], signature: str
) -> metaeval.Table:
    """Return κ's change beside the others', with both intervals, and its ranks."""
    column = MEASURES.index(ASKED)
    rows = []
    for name, by_size in changes.items():
        n, c = len(prepared[name].informed), len(prepared[name].classes)
        for (label, tau), change in by_size.items():
            rows.append({
                "collection": name, "topic sets": label, "τ": tau, "runs": n, "constant": c,
                "tied pairs": c * (c - 1) / ((n + c) * (n + c - 1)),
                "change of κ": change.with_[column] - change.without[column], "less others": change.over_topics[0],
                "splits, low": change.by_split[1], "splits, high": change.by_split[2],
                "topics, low": change.over_topics[1], "topics, high": change.over_topics[2],
                "place without": rank_of(change.without), "place with": rank_of(change.with_),
            })  # fmt: skip
    caption = (
        "What constant runs change in κ's mean τ, and that change less the mean change of the other eight measures, with "
        "intervals over splits of these topics and over topics; κ's rank of nine. “tied pairs” is the share of "
        "pairs of runs that κ cannot tell apart because both are constant: τ_a counts them as 0."
    )
    return metaeval.Table(pd.DataFrame(rows).set_index(["collection", "topic sets", "τ"]), caption, signature)


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    return describe_sources(STUDY["sources"], outcomes)
