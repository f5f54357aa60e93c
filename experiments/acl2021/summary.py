"""Tables 4 and 7: what the numbers say of every measure in one word each, by the rules of `experiments.rules`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

import metaeval
from experiments import rules
from experiments.acl2021 import audit
from metaeval.analyses.study import Study

STUDY, PRINTED = audit.STUDY, audit.PRINTED
PLACES = {
    "table4": ("classification", (("Sem16T4C", "Sem17T4C"),)),
    "table7": ("quantification", (("DQ-A", "DQ-E", "DQ-S"), ("Sem16T4E", "Sem17T4E"))),
}
"""The kind of the measures, and which collections speak: the first of these sets that there is anything of."""

PROPERTIES = {
    "table4": (
        ("(I) order of classes", rules.handles_order),
        ("(II) constant runs", rules.handles_constant_runs),
        ("(III) imbalance", rules.handles_imbalance),
    ),
    "table7": (("(I) order of classes", rules.handles_order), ("(II) symmetric", rules.is_symmetric)),
}


def tabulate_summaries(studies: Mapping[str, Study]) -> dict[str, metaeval.Table]:
    """Return Tables 4 and 7, each where there is a collection of its kind.

    Parameters
    ----------
    studies : mapping of str to Study
        By the paper's name of the collection; those whose questions were all answered are used.

    Returns
    -------
    dict of str to Table
        A word unlike the printed one is followed by the printed one in brackets.
    """
    found = {}
    whole = {name for name, one in studies.items() if one.consistency is not None and one.small_consistency is not None}
    for table, (kind, choices) in PLACES.items():
        names = next((there for one in choices if (there := [name for name in one if name in whole])), [])
        if names:
            words = _describe_measures(table, kind, [studies[name] for name in names])
            used = ", ".join(f"{name} = {studies[name].name}" for name in names)
            caption = (
                f"Table {table[-1]}. Every measure in words, by stated rules, from {used}; where the paper has another "
                "word it stands in brackets."
            )
            signature = (
                f"{studies[names[0]].require('consistency').signature}; the same for the other collections and splits"
            )
            found[table] = metaeval.Table(words, caption, signature)
    return found


def _describe_measures(table: str, kind: str, studies: Sequence[Study]) -> pd.DataFrame:
    order: list[str] = STUDY[f"{kind}_order"]
    pairs = [(one, two) for i, one in enumerate(order) for two in order[i + 1 :]]
    taus = [one.require("similarity").to_frame() for one in studies]
    tau = {(one, two): sum(float(frame.loc[one, two]) for frame in taus) / len(taus) for one, two in pairs}
    called = STUDY["group_names"][kind]
    means = [_average_means([getattr(one, which) for one in studies]) for which in ("consistency", "small_consistency")]
    pooled = dict.fromkeys(order, 0)
    for study in studies:
        if study.power is not None:
            for one, number in zip(study.power.measures, study.power.significant.sum(axis=1).tolist(), strict=True):
                pooled[str(one)] += number
    group = rules.groups(tau, order, STUDY["group_tau"], called["largest"], called["second"], called["alone"])
    by_column: dict[str, dict[str, str]] = {
        title: {name: "yes" if rule(metaeval.measure(name)) else "no" for name in order}
        for title, rule in PROPERTIES[table]
    }
    by_column |= {
        "group": group,
        "consistency": rules.consistency_words(means),
        "power": rules.power_words(pooled, STUDY["power_margin"]),
    }
    rows = {
        name: [
            said[name] if said[name] == printed else f"{said[name]} [{printed}]"
            for said, printed in zip(by_column.values(), PRINTED[table][name], strict=True)
        ]
        for name in PRINTED[table]
    }
    return pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="measure"), columns=list(by_column))


def _average_means(found: list[metaeval.SplitHalfConsistency]) -> dict[str, float]:
    """Return every measure's mean τ averaged over collections."""
    names = map(str, found[0].measures)
    return dict(zip(names, (sum(one.means for one in found) / len(found)).tolist(), strict=True))
