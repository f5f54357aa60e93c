"""Tables 4 and 7: what the numbers say of every measure in one word each, by the rules of `metaeval.analyses.grades`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from string import ascii_uppercase

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import metaeval
from experiments.acl2021.study import PRINTED, STUDY
from metaeval.analyses.grades import (
    GOOD,
    POOR,
    grade,
    rate_consistency,
    rate_consistency_results,
)
from metaeval.analyses.power import DiscriminativePower
from metaeval.analyses.study import Study
from metaeval.stats.intervals import centre_interval

MARGIN = 0.05
"""Share of significant pairs by which two measures must differ before one of them counts as finding more."""

PLACES = {
    "table4": ("classification", (("Sem16T4C", "Sem17T4C"),)),
    "table7": ("quantification", (("DQ-A", "DQ-E", "DQ-S"), ("Sem16T4E", "Sem17T4E"))),
}
"""The kind of the measures, and which collections speak: the first of these sets that there is anything of."""

PROPERTIES: dict[str, dict[str, tuple[str, ...]]] = {
    "table4": {
        "(I) order of classes": ("ordinal",),
        "(II) constant runs": ("constant",),
        "(III) imbalance": ("imbalance",),
    },
    "table7": {
        "(I) order of classes": ("ordinal", "ordinal with mixed gold"),
        "(II) symmetric": ("symmetric",),
    },
}
"""The formal properties (see `metaeval.properties`) that stand for a column."""


def tabulate_summaries(studies: Mapping[str, Study]) -> dict[str, metaeval.Table]:
    """Return Tables 4 and 7, each where there is a collection of its kind."""
    tables = {}
    whole = {
        name for name, entry in studies.items() if entry.consistency is not None and entry.small_consistency is not None
    }
    for table, (kind, choices) in PLACES.items():
        names = next((available for entry in choices if (available := [name for name in entry if name in whole])), [])
        if names:
            words = _describe_measures(table, kind, [studies[name] for name in names])
            used = ", ".join(f"{name} = {studies[name].name}" for name in names)
            derived, printed = words.iloc[:, ::2], words.iloc[:, 1::2]
            unlike = int((derived.map(lambda text: text.partition(" (")[0]).to_numpy() != printed.to_numpy()).sum())
            caption = (
                f"Table {table[-1]}. Every measure in words, by the rules of `metaeval compare`, from {used}; properties "
                f"with the number of cases tried. Beside each word the printed one; {unlike} of {derived.size} differ. "
                f"The paper does not give its rules: groups from a mean τ of {STUDY['group_tau']:g}, good and poor from a net "
                f"of {GOOD:.2f} and −{-POOR:.2f}, and counts of pairs told apart from {100 * MARGIN:g} % are post hoc, "
                "chosen with its tables in view."
            )
            signature = (
                f"{studies[names[0]].require('consistency').signature}; the same for the other collections and splits"
            )
            tables[table] = metaeval.Table(words, caption, signature)
    return tables


def describe_properties(table: str, order: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return by column and measure whether the measure has the properties that stand for the column.

    Examples
    --------
    >>> describe_properties("table7", ["NMD"])["(I) order of classes"]["NMD"].startswith("yes (")
    True
    """
    columns = PROPERTIES[table]
    checked = _try_properties(tuple(order), tuple(dict.fromkeys(name for names in columns.values() for name in names)))
    return {
        title: {measure: _describe(checked, measure, names) for measure in order} for title, names in columns.items()
    }


@cache
def _try_properties(order: tuple[str, ...], names: tuple[str, ...]) -> metaeval.Properties:
    return metaeval.properties(order, only=names)


def _describe(checked: metaeval.Properties, measure: str, names: Sequence[str]) -> str:
    checks = [check for name in names if (check := checked.get_check(measure, name)) is not None]
    tried, failed = sum(check.cases for check in checks), sum(check.failed for check in checks)
    if not failed:
        return f"yes ({tried:,})"
    mark = "in part" if any(check.holds for check in checks) else "no"
    return f"{mark} ({failed:,} of {tried:,} fail)"


def _describe_measures(table: str, kind: str, studies: Sequence[Study]) -> pd.DataFrame:
    order: list[str] = STUDY[f"{kind}_order"]
    tau = np.mean([study.require("similarity").to_frame().loc[order, order] for study in studies], axis=0)
    splits = [split for study in studies for split in (study.consistency, study.small_consistency) if split is not None]
    powers = [study.power for study in studies if study.power is not None]
    by_column: dict[str, dict[str, str]] = {
        **describe_properties(table, order),
        "group": name_groups(tau, order, STUDY["group_tau"], STUDY["group_names"][kind]),
        "consistency": _grade(splits[0].measures, rate_consistency_results(splits)),
        "power": dict(zip(map(str, powers[0].measures), grade_power_results(powers), strict=True)),
    }
    names = pd.Index(list(PRINTED[table]), name="measure")
    columns: dict[str, list[str]] = {}
    for at, (title, derived) in enumerate(by_column.items()):
        columns[title] = [derived[name] for name in names]
        columns[f"{title}, printed"] = [PRINTED[table][name][at] for name in names]
    return pd.DataFrame(columns, index=names)


def _grade(measures: Sequence[metaeval.Measure], nets: np.ndarray) -> dict[str, str]:
    return {str(measure): grade(net) for measure, net in zip(measures, nets.tolist(), strict=True)}


def group_measures(tau: npt.ArrayLike, threshold: float) -> list[str]:
    """Return the group of every measure, by average linkage of τ: A is the largest one.

    >>> group_measures([[1, 0.2, 0.9], [0.2, 1, 0.3], [0.9, 0.3, 1]], 0.8)
    ['A', 'B', 'A']
    """
    similarity = np.nan_to_num(np.asarray(tau, dtype=float), nan=-1.0)
    numbers = np.ones(len(similarity), dtype=int)
    if len(similarity) > 1:
        distance = 1 - (similarity + similarity.T) / 2
        np.fill_diagonal(distance, 0.0)
        tree = linkage(squareform(distance, checks=False), method="average")
        numbers = fcluster(tree, 1 - threshold + 1e-12, criterion="distance")
    sizes = np.bincount(numbers)
    order = sorted(dict.fromkeys(numbers.tolist()), key=lambda number: -sizes[number])  # of two as large the first
    letters = [f"{letter}{again}" for again in ("", *range(2, 99)) for letter in ascii_uppercase]
    return [letters[order.index(number)] for number in numbers.tolist()]


def name_groups(tau: np.ndarray, order: Sequence[str], bound: float, names: Mapping[str, str]) -> dict[str, str]:
    """Return the group of every measure under the paper's names of groups.

    Examples
    --------
    >>> tau = np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
    >>> name_groups(tau, ["a", "b", "c"], 0.8, {"largest": "Y", "second": "X", "alone": "X"})
    {'a': 'Y', 'b': 'Y', 'c': 'X'}
    """
    letters = group_measures(tau, bound)
    sizes = Counter(letters)

    def name_group(letter: str) -> str:
        return names["alone"] if sizes[letter] == 1 else names["largest" if letter == "A" else "second"]

    return {measure: name_group(letter) for measure, letter in zip(order, letters, strict=True)}


def grade_printed_consistency(parts: Sequence[Mapping[str, Sequence[float]]], order: Sequence[str]) -> dict[str, str]:
    """Return good, fair or poor for every measure from printed mean τ's and marks.

    Examples
    --------
    >>> grade_printed_consistency([{"a": (0.9, 2), "b": (0.8, 0), "c": (0.7, 0)}], ["a", "b", "c"])
    {'a': 'good', 'b': 'poor', 'c': 'poor'}
    """
    relations = []
    for part in parts:
        worst_first = sorted(order, key=lambda name: part[name][0])
        beaten = {name: set(worst_first[: int(part[name][1])]) for name in order}
        relations.append([[other in beaten[name] for other in order] for name in order])
    return {name: grade(net) for name, net in zip(order, rate_consistency(relations).tolist(), strict=True)}


def grade_interval(low: float, high: float) -> str:
    """Return the word that a whole interval of the net carries, and "cannot tell" if there is none.

    Examples
    --------
    >>> [grade_interval(0.4, 0.9), grade_interval(0.2, 0.9), grade_interval(np.nan, np.nan)]
    ['good', 'cannot tell', 'cannot tell']
    """
    return grade(low) if low <= high and grade(low) == grade(high) else "cannot tell"


def rate_power(significant: npt.ArrayLike) -> np.ndarray:
    """Return how many measures find clearly fewer significant pairs, net, as a share of the others, shape (measure,).

    Examples
    --------
    >>> rate_power([50, 49, 20]).tolist()
    [0.5, 0.5, -1.0]
    """
    return _count_clearly_fewer(significant).reshape(-1, np.shape(significant)[-1]).mean(axis=0)


def _count_clearly_fewer(significant: npt.ArrayLike) -> np.ndarray:
    result = np.asarray(significant, dtype=float)
    mine, others = result[..., :, np.newaxis], result[..., np.newaxis, :]
    fewer = (others <= (1 - MARGIN) * mine) & (mine > others)
    return np.asarray((fewer.sum(axis=-1) - fewer.sum(axis=-2)) / max(1, result.shape[-1] - 1))


def grade_power_results(results: Sequence[DiscriminativePower]) -> list[str]:
    """Return the word for every measure's power that the interval of its net over topics carries."""
    variations = [result.over_topics for result in results]
    # Collections that share their topics had the same ones drawn, so the trials can be put side by side.
    trials = min((len(each.shares) for each in variations), default=0)
    net = rate_power([result.significant.sum(axis=1) for result in results])
    resampled = np.mean([_count_clearly_fewer(each.shares[:trials]) for each in variations], axis=0)
    n_topics = min(each.n for each in variations)
    step = 2 / (len(results) * max(1, len(net) - 1))
    low, high = centre_interval(net, resampled, n_topics, step=step, student=False)
    return [grade_interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
