"""Tables 4 and 7: what the numbers say of every measure in one word each, by rules that hold everywhere in metaeval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

import metaeval
from experiments.acl2021 import audit
from experiments.acl2021.words import name_groups
from metaeval.analyses.grades import GOOD, MARGIN, POOR, grade, grade_power_results, rate_consistency_results
from metaeval.analyses.study import Study

STUDY, PRINTED = audit.STUDY, audit.PRINTED
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
    """Return Tables 4 and 7, each where there is a collection of its kind.

    Parameters
    ----------
    studies : mapping of str to Study
        By the paper's name of the collection; those whose questions were all answered are used.

    Returns
    -------
    dict of str to Table
        Every column is followed by what the paper prints there.
    """
    found = {}
    whole = {name for name, one in studies.items() if one.consistency is not None and one.small_consistency is not None}
    for table, (kind, choices) in PLACES.items():
        names = next((there for one in choices if (there := [name for name in one if name in whole])), [])
        if names:
            words = _describe_measures(table, kind, [studies[name] for name in names])
            used = ", ".join(f"{name} = {studies[name].name}" for name in names)
            said, printed = words.iloc[:, ::2], words.iloc[:, 1::2]
            unlike = int((said.map(lambda word: word.partition(" (")[0]).to_numpy() != printed.to_numpy()).sum())
            caption = (
                f"Table {table[-1]}. Every measure in words, by the rules of `metaeval compare`, from {used}; properties "
                f"with the number of cases tried. Beside each word the printed one; {unlike} of {said.size} differ. "
                f"The paper does not give its rules: groups from a mean τ of {STUDY['group_tau']:g}, good and poor from a net "
                f"of {GOOD:.2f} and −{-POOR:.2f}, and counts of pairs told apart from {100 * MARGIN:g} % are post hoc, "
                "chosen with its tables in view."
            )
            signature = (
                f"{studies[names[0]].require('consistency').signature}; the same for the other collections and splits"
            )
            found[table] = metaeval.Table(words, caption, signature)
    return found


def describe_properties(table: str, order: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return by column and measure whether the measure has the properties that stand for the column.

    Parameters
    ----------
    table : {"table4", "table7"}
    order : sequence of str
        Measures.

    Returns
    -------
    dict of str to dict of str to str
        ``yes``, ``no``, or ``in part`` where one of two properties holds, and how many cases were tried, or failed.

    Examples
    --------
    >>> describe_properties("table7", ["NMD"])["(I) order of classes"]["NMD"].startswith("yes (")
    True
    """
    columns = PROPERTIES[table]
    found = _try_properties(tuple(order), tuple(dict.fromkeys(name for names in columns.values() for name in names)))
    return {title: {one: _describe(found, one, names) for one in order} for title, names in columns.items()}


@cache
def _try_properties(order: tuple[str, ...], names: tuple[str, ...]) -> metaeval.Properties:
    return metaeval.properties(order, only=names)


def _describe(found: metaeval.Properties, measure: str, names: Sequence[str]) -> str:
    checks = [check for name in names if (check := found.get_check(measure, name)) is not None]
    tried, failed = sum(one.cases for one in checks), sum(one.failed for one in checks)
    if not failed:
        return f"yes ({tried:,})"
    word = "in part" if any(one.holds for one in checks) else "no"
    return f"{word} ({failed:,} of {tried:,} fail)"


def _describe_measures(table: str, kind: str, studies: Sequence[Study]) -> pd.DataFrame:
    order: list[str] = STUDY[f"{kind}_order"]
    tau = np.mean([one.require("similarity").to_frame().loc[order, order] for one in studies], axis=0)
    splits = [split for one in studies for split in (one.consistency, one.small_consistency) if split is not None]
    powers = [one.power for one in studies if one.power is not None]
    by_column: dict[str, dict[str, str]] = {
        **describe_properties(table, order),
        "group": name_groups(tau, order, STUDY["group_tau"], STUDY["group_names"][kind]),
        "consistency": _grade(splits[0].measures, rate_consistency_results(splits)),
        "power": dict(zip(map(str, powers[0].measures), grade_power_results(powers), strict=True)),
    }
    names = pd.Index(list(PRINTED[table]), name="measure")
    columns: dict[str, list[str]] = {}
    for at, (title, said) in enumerate(by_column.items()):
        columns[title] = [said[name] for name in names]
        columns[f"{title}, printed"] = [PRINTED[table][name][at] for name in names]
    return pd.DataFrame(columns, index=names)


def _grade(measures: Sequence[metaeval.Measure], nets: np.ndarray) -> dict[str, str]:
    return {str(one): grade(net) for one, net in zip(measures, nets.tolist(), strict=True)}
