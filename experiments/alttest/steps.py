"""Judges by the alternative annotator test on five sets of labels of people, and a judge that always says the same."""

from __future__ import annotations

import numpy as np
import pandas as pd

import metaeval
from experiments.page import Folder
from experiments.paper import Results, Settings, cell, load_groups, read_study
from metaeval.analyses.alternative_annotator_test import PASS
from metaeval.data.annotations import Annotations
from metaeval.stats.annotator_wins import choose_class

STUDY = read_study("alttest")
SETS, PRINTED = STUDY["sets"], STUDY["printed"]
ITEM = "authors' notebook"


def run(settings: Settings) -> Results:
    """Test the judges of every set, with and without one that always gives the label that people give most often."""
    results, left, cells = Results("alttest"), {}, []
    tested, constant = {}, {}
    for name, labels in load_groups(settings, {name: [name] for name in SETS}, left):
        settings.say(f"alttest: {name}")
        options = {**SETS[name], **STUDY["study"], "seed": settings.seed}
        tested[name] = metaeval.alternative_annotator_test(labels, **options)
        constant[name] = metaeval.alternative_annotator_test(add_constant_judge(labels), **options)
    if left:  # a table has a row for every judge of every set
        results.left_out = dict.fromkeys(("judges", "constant", "leads", "comparison"), f"needs {', '.join(left)}")
        return results
    for name, result in tested.items():
        rates = result.rows.set_index("judge")
        cells += [
            cell(ITEM, f"{name} {judge}", column, text, float(rates.loc[judge, column]), data=name)
            for judge, printed in PRINTED[name].items()
            for column, text in printed.items()
        ]
    results.compare("comparison", cells)
    how = " | ".join(f"{name} {value}" for name, value in STUDY["study"].items()) + f" | seed {settings.seed}"
    judges = pd.concat({name: list_judges(result) for name, result in tested.items()}, names=["set"]).reset_index(
        level=1
    )
    results.add(
        "judges", judges,
        "The alternative annotator test: ρ, how often a judge agrees with the other people as well as a person or better; ω, "
        "the share of people it wins against; it passes if that is at least 0.5. Ends of 95 % intervals over topics.", how=how,
    )  # fmt: skip
    rows = pd.DataFrame({name: describe_constant(result) for name, result in constant.items()}).T.rename_axis("set")
    results.add(
        "constant", rows, "A judge that always gives the label that people give most often, in the alternative annotator test, "
        "and how many of the real judges have a smaller ρ.", how=how,
    )  # fmt: skip
    leads = pd.concat({name: list_leads(result) for name, result in constant.items()}, names=["set"]).droplevel(1)
    results.add("leads", leads, "By how much ρ of every judge is above that of the constant one.", how=how)
    return results


def add_constant_judge(annotations: Annotations) -> Annotations:
    """Return the annotations with one more judge, who always gives the label that people give most often."""
    k = int(choose_class(annotations.votes.sum(axis=0)))
    answers = np.zeros((1, *annotations.answers.shape[1:]), dtype=np.int64)
    answers[..., k] = 1
    return Annotations(
        annotations.labels, np.concatenate([annotations.answers, answers]), annotators=annotations.annotators,
        judges=(*annotations.judges, f"always-{annotations.classes[k]}"), items=annotations.items,
        classes=annotations.classes, topics=annotations.topics, collection=annotations.collection,
    )  # fmt: skip


def list_judges(tested: metaeval.AlternativeAnnotatorTest) -> pd.DataFrame:
    """Return the judges of a set by ρ, with how people's agreement was measured, and ε."""
    frame = tested.to_table().frame.drop("(people)").iloc[:, :-1]  # without how well labels agree
    frame.insert(0, "agreement", tested.agreement)
    frame.insert(1, "ε", tested.epsilon)
    return frame


def describe_constant(tested: metaeval.AlternativeAnnotatorTest) -> dict[str, object]:
    """Return how the constant judge, the last one, does in the test."""
    constant, rows = tested.judges[-1], tested.rows
    row = rows.set_index("judge").loc[constant]
    return {
        "label": constant.removeprefix("always-"),
        **{name: float(row[column]) for name, column in (
            ("ρ", "rho"), ("ρ low", "rho_low"), ("ρ high", "rho_high"),
            ("ω", "omega"), ("ω low", "omega_low"), ("ω high", "omega_high"),
        )},
        "passes": "yes" if row["omega"] >= PASS else "no",  # by the authors' test alone
        "judges": len(rows) - 1,
        "judges below": int((rows["rho"] < row["rho"]).sum()),
    }  # fmt: skip


def list_leads(tested: metaeval.AlternativeAnnotatorTest) -> pd.DataFrame:
    """Return the differences in ρ of the judges and the constant one, with their intervals."""
    frame = tested.differences
    return frame.loc[frame["judge_2"] == tested.judges[-1], ["judge_1", "difference", "low", "high"]]


def describe(_: Folder) -> dict[str, object]:
    """Return what the page names: the data sets."""
    return {"names": list(SETS)}
