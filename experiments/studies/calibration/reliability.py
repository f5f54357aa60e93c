"""How reliable is the ranking of measures by discriminative power: between tests, seeds, halves of topics, sets of runs?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.studies.calibration.designs import STUDY
from metaeval.stats import pair_tests
from metaeval.stats.rank_correlation import tau
from metaeval.stats.streams import generator

SETTINGS = STUDY["reliability"]
TESTS: dict[str, dict[str, str]] = {name: STUDY["tests"][name] for name in SETTINGS["tests"]}
RESAMPLING = [name for name in TESTS if TESTS[name]["test"] in pair_tests.RESAMPLING]

Power = np.ndarray
"""Share of significant pairs of runs, shape (measure,)."""


class Change(NamedTuple):
    """What is changed, with which test: pairs of rankings of the same measures."""

    changed: str
    test: str
    runs: int
    topics: int
    pairs: list[tuple[Power, Power]]


def measure_reliability(collections: Mapping[str, metaeval.Scores]) -> pd.DataFrame:
    """Compare rankings of measures by discriminative power."""
    return pd.DataFrame(
        {"changed": change.changed, "test": change.test, "collection": name} | summarise_change(change)
        for name, scores in collections.items()
        for change in list_changes(scores)
    )


def find_power(scores: metaeval.Scores, test: str, seed: int) -> Power:
    """Return the discriminative power of every measure by one of the study's tests."""
    power = metaeval.discriminative_power(
        scores, n_permutations=SETTINGS["permutations"], n_bootstrap=0, alpha=STUDY["alpha"], seed=seed, **TESTS[test]
    )
    return np.asarray(power.significant.mean(axis=1))


def find_distinct(scores: metaeval.Scores) -> list[str]:
    """Return the runs without those that have the scores of an earlier one under all measures."""
    _, first = np.unique(scores.values.reshape(len(scores.runs), -1), axis=0, return_index=True)
    return [scores.runs[row] for row in sorted(first)]


def list_changes(scores: metaeval.Scores) -> Iterator[Change]:
    """Yield what is changed: the seed, the test, the runs, the topics."""
    seeds = {test: range(SETTINGS["seeds"] if test in RESAMPLING else 1) for test in TESTS}
    powers = {test: [find_power(scores, test, seed) for seed in seeds[test]] for test in TESTS}
    size = len(scores.runs), len(scores.topics)
    for test in RESAMPLING:
        yield Change("another seed", test, *size, list(itertools.combinations(powers[test], 2)))
    reference, *others = TESTS
    for test in others:
        pairs = list(zip(powers[reference], itertools.cycle(powers[test]), strict=False))
        yield Change(f"another test than {reference}", test, *size, pairs)
    never = tuple(SETTINGS["baselines"])
    for what, runs in {
        "without baselines": [run for run in scores.runs if not run.startswith(never)],
        "distinct runs only": find_distinct(scores),
    }.items():
        for test in SETTINGS["main_tests"] if len(runs) < len(scores.runs) else ():
            again = [find_power(scores.sel(runs=runs), test, seed) for seed in seeds[test]]
            yield Change(what, test, len(runs), size[1], list(zip(powers[test], again, strict=True)))
    halves = [split_topics(scores, split) for split in range(SETTINGS["splits"])]
    for test in SETTINGS["main_tests"]:
        pairs = [
            (find_power(first, test, split), find_power(second, test, split))
            for split, (first, second) in enumerate(halves)
        ]
        yield Change(STUDY["half"], test, size[0], size[1] // 2, pairs)


def split_topics(scores: metaeval.Scores, split: int) -> tuple[metaeval.Scores, metaeval.Scores]:
    """Return the scores on two random halves of the topics; an odd one is left out."""
    topics = sorted(scores.topics)
    half = len(topics) // 2
    order = generator(STUDY["seed"], "reliability", scores.collection, str(split)).permutation(len(topics))
    first, second = (
        scores.sel(topics=[topics[t] for t in chosen]) for chosen in (order[:half], order[half : 2 * half])
    )
    return first, second


def summarise_change(change: Change) -> dict[str, object]:
    """Return how alike rankings are before and after, and how often they share no measure at the top."""
    first, second = (np.array(side) for side in zip(*change.pairs, strict=True))
    similar = tau(first, second, variant="tau_b")
    known = similar[np.isfinite(similar)]  # no ranking where all measures find as much
    tops = [(a == a.max()) & (b == b.max()) for a, b in zip(first, second, strict=True)]
    return {
        "runs": change.runs, "topics": change.topics, "measures": first.shape[1], "pairs": len(first),
        "tau": known.mean() if len(known) else np.nan, "sd": known.std(ddof=1) if len(known) > 1 else np.nan,
        "smallest": known.min(initial=1.0),
        "other top": 1 - float(np.mean([top.any() for top in tops])),
    }  # fmt: skip


def average_collections(changes: pd.DataFrame) -> pd.DataFrame:
    """Return what changed on average over collections."""
    rows = {}
    for key, group in changes.groupby(["changed", "test"], sort=False):
        n = len(group)
        rows[key] = {
            "collections": n,
            "τ_b": group["tau"].mean(),
            "its error": group["tau"].std(ddof=1) / np.sqrt(n) if n > 1 else np.nan,
            "lowest collection": group["tau"].min(),
            "other top": group["other top"].mean(),
            "error of that": group["other top"].std(ddof=1) / np.sqrt(n) if n > 1 else np.nan,
        }
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["changed", "test"]).astype({"collections": int})
    return frame.reset_index()
