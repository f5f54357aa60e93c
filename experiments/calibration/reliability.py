"""How reliable is the ranking of measures by discriminative power: between tests, seeds, halves of topics, sets of runs?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.calibration.study import STUDY
from metaeval.stats.rank_correlation import tau
from metaeval.stats.streams import generator

SETTINGS = STUDY["reliability"]
TESTS: dict[str, dict[str, str]] = {name: STUDY["tests"][name]["options"] for name in SETTINGS["tests"]}
RESAMPLING = [name for name in TESTS if "permutations" in STUDY["tests"][name]]

Power = np.ndarray
"""Share of significant pairs of runs, shape (measure,)."""


class Change(NamedTuple):
    """What is changed, with which test: pairs of rankings of the same measures.

    Attributes
    ----------
    changed : str
    test : str
    runs, topics : int
        Of the smaller side.
    pairs : list of (Power, Power)
    """

    changed: str
    test: str
    runs: int
    topics: int
    pairs: list[tuple[Power, Power]]


def measure_reliability(
    collections: Mapping[str, metaeval.Scores], say: Callable[[str], None] = lambda _: None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare rankings of measures by discriminative power.

    Parameters
    ----------
    collections : mapping of str to Scores
    say : callable, optional
        Takes a line of progress.

    Returns
    -------
    changes : DataFrame
        One row for what is changed, a test and a collection: how many pairs of rankings, the mean, standard deviation
        and smallest τ_b of a pair, and the share of pairs that have no measure in common at the top.
    powers : DataFrame
        One row for a collection and a measure, one column a test: its power, and how it varies between seeds.
    """
    changes, powers = [], []
    for name, scores in collections.items():
        say(f"reliability: {name}")
        seeds = {test: [find_power(scores, test, seed) for seed in _seeds(test)] for test in TESTS}
        for change in _list_changes(scores, seeds):
            changes.append({"changed": change.changed, "test": change.test, "collection": name} | _summarise(change))
        for m, measure in enumerate(scores.measures):
            row: dict[str, object] = {"collection": name, "measure": str(measure)}
            for test in TESTS:
                found = np.array(seeds[test])[:, m]
                row[test] = found[0]
                if test in RESAMPLING:
                    row[f"{test}, sd over seeds"] = found.std(ddof=1)
            powers.append(row)
    return pd.DataFrame(changes), pd.DataFrame(powers)


def find_power(scores: metaeval.Scores, test: str, seed: int) -> Power:
    """Return the discriminative power of every measure by one of the study's tests.

    Parameters
    ----------
    scores : Scores
    test : str
    seed : int

    Returns
    -------
    ndarray, shape (measure,)
    """
    found = metaeval.discriminative_power(
        scores, n_permutations=SETTINGS["permutations"], n_bootstrap=0, alpha=STUDY["alpha"], seed=seed, **TESTS[test]
    )
    return np.asarray(found.significant.mean(axis=1))


def is_baseline(run: str) -> bool:
    """Tell whether a run was made without looking at the items, by its name."""
    return run.startswith(tuple(SETTINGS["baselines"]))


def find_distinct(scores: metaeval.Scores) -> list[str]:
    """Return the runs without those that have the scores of an earlier one under all measures.

    Parameters
    ----------
    scores : Scores

    Returns
    -------
    list of str
    """
    _, first = np.unique(scores.values.reshape(len(scores.runs), -1), axis=0, return_index=True)
    return [scores.runs[place] for place in sorted(first)]


def _seeds(test: str) -> range:
    return range(SETTINGS["seeds"] if test in RESAMPLING else 1)


def _list_changes(scores: metaeval.Scores, seeds: Mapping[str, list[Power]]) -> Iterator[Change]:
    size = len(scores.runs), len(scores.topics)
    for test in RESAMPLING:
        yield Change("another seed", test, *size, list(itertools.combinations(seeds[test], 2)))
    reference, *others = TESTS
    for test in others:
        pairs = list(zip(seeds[reference], itertools.cycle(seeds[test]), strict=False))
        yield Change(f"another test than {reference}", test, *size, pairs)
    for what, runs in {
        "without baselines": [run for run in scores.runs if not is_baseline(run)],
        "distinct runs only": find_distinct(scores),
    }.items():
        if len(runs) < len(scores.runs):
            fewer = scores.sel(runs=runs)
            for test in SETTINGS["main_tests"]:
                again = [find_power(fewer, test, seed) for seed in _seeds(test)]
                yield Change(what, test, len(runs), size[1], list(zip(seeds[test], again, strict=True)))
    halves = [split_topics(scores, split) for split in range(SETTINGS["splits"])]
    for test in SETTINGS["main_tests"]:
        pairs = [
            (find_power(one, test, split), find_power(other, test, split)) for split, (one, other) in enumerate(halves)
        ]
        yield Change("the other half of the topics", test, size[0], size[1] // 2, pairs)


def split_topics(scores: metaeval.Scores, split: int) -> tuple[metaeval.Scores, metaeval.Scores]:
    """Return the scores on two random halves of the topics; an odd one is left out.

    Parameters
    ----------
    scores : Scores
    split : int

    Returns
    -------
    (Scores, Scores)
    """
    topics = sorted(scores.topics)
    half = len(topics) // 2
    order = generator(STUDY["seed"], "reliability", scores.collection, str(split)).permutation(len(topics))
    one, other = (
        scores.sel(topics=[topics[place] for place in chosen]) for chosen in (order[:half], order[half : 2 * half])
    )
    return one, other


def _summarise(change: Change) -> dict[str, object]:
    first, second = (np.array(side) for side in zip(*change.pairs, strict=True))
    similar = tau(first, second, variant="tau_b")
    known = similar[np.isfinite(similar)]  # no ranking where all measures find as much
    tops = [(one == one.max()) & (other == other.max()) for one, other in zip(first, second, strict=True)]
    return {
        "runs": change.runs, "topics": change.topics, "measures": first.shape[1], "pairs": len(first),
        "tau": known.mean() if len(known) else np.nan, "sd": known.std(ddof=1) if len(known) > 1 else np.nan,
        "smallest": known.min(initial=1.0),
        "other top": 1 - float(np.mean([one.any() for one in tops])),
    }  # fmt: skip


def average_collections(changes: pd.DataFrame) -> pd.DataFrame:
    """Return what changed on average over collections.

    Parameters
    ----------
    changes : DataFrame

    Returns
    -------
    DataFrame
        Indexed by what is changed and the test: collections, the mean τ_b and the standard error of it from the spread
        between collections, the smallest mean of a collection, and the mean share of pairs with another measure at the
        top, with its standard error.
    """
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
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["changed", "test"]).astype({"collections": int})
