"""The summary of a comparison as marks, each by a stated rule, like Tables 4 and 7 of Sakai (ACL 2021)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metaeval.analyses.grades import (
    CONTRADICTED,
    LIMIT,
    UNTOLD,
    grade,
    grade_reference_results,
    group_results,
    rate_consistency_results,
)
from metaeval.analyses.ranking_similarity import ALIKE
from metaeval.analyses.study import Study
from metaeval.comparison.results import ComparisonResults, list_results
from metaeval.comparison.verdicts import compare_all_pooled, is_backed
from metaeval.show.cells import NOTHING

RULES = {
    "similarity": (
        "Measures are put into groups by average linkage: the two groups with the highest mean τ between them, averaged "
        "over collections, are joined first, as long as it is at least {threshold:g}. A is the largest group; a measure "
        "that joins no other has a letter of its own."
    ),
    "consistency": (
        "The net is the share of the other measures that a measure significantly outperforms in split-half consistency, "
        "minus the share that significantly outperform it, averaged over collections and split sizes. It is good from "
        "1/3 up and poor from −1/3 down."
    ),
    "power": (
        "The net is the share of the other measures than which a measure finds more differences, minus the share than which it "
        "finds fewer, by paired 95 % intervals over topics of the differences. It is good from 1/3 up and poor from −1/3 down; "
        "where no interval leaves out 0, it cannot tell."
    ),
    "no reference": (
        "No reference was given. Finding more is good only where the measure ranks runs like another one; otherwise it is "
        "unverified: nothing says whether the differences are right."
    ),
    "power compared with a reference": (
        "Where the measure contradicts the reference, by the rule of the column reference, that stands in place of the "
        "word; and finding more is good only where the reference confirms it better than chance."
    ),
    "reference": (
        "Of the pairs of runs that both the measure and the reference {reference} find significant, it is counted in how "
        "many the measure prefers the other run; in brackets: how many of how many, over all collections. The measure "
        "contradicts the reference where the 95 % interval of this share lies above {limit:g} %, is better than chance "
        "where it does not and lies below one half, and cannot tell otherwise. The interval is binomial (Clopper and "
        "Pearson); because pairs share runs, n pairs of m runs count as 9n/(2m + 5) independent ones."
    ),
}
"""How each mark is reached, for the reader."""


def mark_measures(comparison: ComparisonResults) -> pd.DataFrame:
    """Return one row of marks per measure: its properties, similarity, consistency, power, and against the reference."""
    names, traits = [str(measure) for measure in comparison.measures], comparison.traits
    columns: dict[str, list[str]] = {
        trait: [traits[name][trait].mark if trait in traits[name] else "–" for name in names]
        for trait in comparison.trait_names
    }
    columns["similarity"] = group_results(comparison.list_results("similarity"))
    splits = comparison.list_results("consistency", "small_consistency")
    columns["consistency"] = [grade(net) for net in rate_consistency_results(splits)]
    columns["power"] = mark_power(comparison.collections)
    if comparison.list_results("second_power"):
        columns[name_second(comparison)] = mark_power([study.by_second_test() for study in comparison.collections])
    references = comparison.list_results("reference")
    if references:
        contradicted, decided = (
            np.sum([getattr(pairs, name) for pairs in references], axis=0) for name in ("contradicted", "decided")
        )
        grades = zip(grade_reference_results(references), contradicted, decided, strict=True)
        columns["reference"] = [f"{grade} ({k:,} of {n:,})" for grade, k, n in grades]
    return pd.DataFrame(columns, index=pd.Index(names, name="measure"))


def mark_power(studies: Sequence[Study]) -> list[str]:
    """Return the word for every measure's power, by the rule of `judge_power`: good only where something backs it."""
    powers, pairs = list_results(studies, "power"), list_results(studies, "reference")
    if not powers:
        return [NOTHING] * len(studies[0].scores.measures)
    against = grade_reference_results(pairs) if pairs else [UNTOLD] * len(powers[0].measures)
    _, low, high = compare_all_pooled(powers)
    marks, n_others = [], max(1, len(low) - 1)
    for measure, reference, more, fewer in zip(
        powers[0].measures, against, (low > 0).sum(axis=1), (high < 0).sum(axis=1), strict=True
    ):
        word = grade((more - fewer) / n_others) if more or fewer else "cannot tell"
        if reference == CONTRADICTED:
            word = CONTRADICTED
        elif word == "good" and not is_backed(studies, str(measure)):
            word = "unverified"
        marks.append(word)
    return marks


def name_second(comparison: ComparisonResults) -> str:
    """Return what the column of the summary is called that rests on the second test."""
    return f"power by {comparison.second_test}"


def describe_rules(comparison: ComparisonResults) -> dict[str, str]:
    """Return, for every column of the marks, how its marks are reached."""
    described = {name: check.property for checks in comparison.traits.values() for name, check in checks.items()}
    shown = {
        name: f"✓: {described[name].description}{f' ({described[name].source}.)' * bool(described[name].source)} In "
        "brackets: how many cases were tried; ✗: in how many of them it is not so."
        for name in comparison.trait_names
    }
    numbers = {"threshold": ALIKE, "limit": 100 * LIMIT, "reference": comparison.reference}
    rules = {name: rule.format(**numbers) for name, rule in RULES.items()}
    about_reference = "no reference" if comparison.reference is None else "power compared with a reference"
    return {
        **shown,
        "similarity": rules["similarity"],
        "consistency": rules["consistency"],
        "power": f"{rules['power']} Pairs of runs are tested by {comparison.test}. {rules[about_reference]}",
        **({name_second(comparison): "As power, by another test."} if comparison.list_results("second_power") else {}),
        **({} if comparison.reference is None else {"reference": rules["reference"]}),
    }
