"""Judges by the alternative annotator test and by measures, on five sets of labels of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.alttest import claims
from experiments.alttest.resampling import GOLDS, Differences, resample_judges
from experiments.old.claims import list_claims, tabulate_claims, try_claims
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings, load_groups, read_toml
from metaeval.analyses.alternative_annotator_test import PASS
from metaeval.data.annotations import Annotations, GoldRule, choose_class

STUDY = read_toml(Path(__file__).parent / "study.toml")
PRINTED = read_toml(Path(__file__).parent / "printed.toml")
SETS = tuple(STUDY["sets"])
SOURCES = [""]
ITEM = "authors' notebook"


@dataclass(frozen=True, eq=False)
class Judged:
    """One set: its judges in the test, those and a constant one, and differences of judges by the gold's rule."""

    tested: metaeval.AlternativeAnnotatorTest
    with_constant: metaeval.AlternativeAnnotatorTest
    by_gold: Mapping[GoldRule, Differences]

    @property
    def constant(self) -> str:
        """The judge that always gives the same label."""
        return self.with_constant.judges[-1]

    @property
    def differences(self) -> Differences:
        """The differences that tables show."""
        return self.by_gold[GOLDS[0]]


def run(settings: Settings) -> list[Outcome]:
    """Which judge is best on each set, by each measure, and does that hang on the measure?"""
    missing: list[str] = []
    only = STUDY["quick"] if settings.quick else None
    judged: dict[str, Judged] = {}
    for name, labels in load_groups(settings, {"sets": SETS}, missing, only):
        settings.say(f"alttest: {name}")
        judged[name] = compare_set(name, labels, settings)
    outcome = Outcome("alttest", "", lacks=["all but two sets"] if settings.quick else missing)
    if judged:
        outcome.tables = tabulate_sets(judged, settings)
        if outcome.lacks:
            del outcome.tables["best"]  # a set is a column of it
        outcome.cells = [each for name, result in judged.items() for each in compare_rates(name, result.tested)]
        outcome.figures = {f"judges-{name}": result.tested.plot for name, result in judged.items()}
        outcome.notes = [f"{name}: {note}." for name, result in judged.items() for note in result.tested.notes()]
    return [outcome]


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page names: the data sets, how topics were resampled, and what came out of the first claim."""
    table = outcomes[0].tables.get("claims") if outcomes else None
    parts = []
    if table is not None:
        frame = table.frame.loc[[claims.measure_changes_best.sentence]]
        by_outcome = frame.groupby("outcome", sort=False)["data"].agg(", ".join)
        parts = [f"*{outcome}* on {names}" for outcome, names in by_outcome.items()]
    return {"names": SETS, "study": STUDY, "changes": "; ".join(parts)}


def compare_set(name: str, annotations: Annotations, settings: Settings) -> Judged:
    """Test the judges of a set, with and without a constant one, and compare them by every measure."""
    by_gold = resample_judges(
        annotations, STUDY["classification"], STUDY["quantification"],
        n_bootstrap=STUDY["n_bootstrap"], confidence=STUDY["confidence"], seed=settings.seed,
    )  # fmt: skip
    tested, with_constant = (
        metaeval.alternative_annotator_test(
            each, **STUDY["sets"][name], alpha=STUDY["alpha"], n_bootstrap=STUDY["n_bootstrap"],
            confidence=STUDY["confidence"], seed=settings.seed,
        )
        for each in (annotations, add_constant_judge(annotations))
    )  # fmt: skip
    return Judged(tested, with_constant, by_gold)


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


def compare_rates(name: str, tested: metaeval.AlternativeAnnotatorTest) -> list[Cell]:
    """Return the rates of a set beside those in print."""
    rates = tested.rows.set_index("judge")
    return [
        cell(
            ITEM, f"{name} {judge}", column, printed[column], float(rates.loc[judge, column]),
            data=name, digits=2,
        )
        for judge, printed in PRINTED[name].items()
        for column in ("omega", "rho")
    ]  # fmt: skip


def tabulate_sets(judged: Mapping[str, Judged], settings: Settings) -> dict[str, metaeval.Table]:
    """Return all tables, the sets below or beside each other."""
    first = next(iter(judged.values())).tested.signature
    data = tuple(part for result in judged.values() for part in result.tested.signature.data)
    n_measures = (
        f"{len(STUDY['classification'])} of classification, {len(STUDY['quantification'])} of quantification, ρ"
    )
    measured = (
        ("measures", n_measures), ("bootstrap", f"{STUDY['n_bootstrap']:,}"),
        ("confidence", f"{STUDY['confidence']:g} (simultaneous)"), ("seed", str(settings.seed)),
    )  # fmt: skip
    by_set = tuple(setting for setting in first.settings if setting[0] not in ("agreement", "epsilon"))
    test = metaeval.Signature(first.analysis, data, by_set, first.version)
    measures = metaeval.Signature("judges by measures", data, measured, first.version)
    all_differences = {name: result.differences for name, result in judged.items()}
    facts = {
        name: claims.Facts(name, result.by_gold, result.with_constant, result.constant)
        for name, result in judged.items()
    }
    tables = {
        "judges": (pd.concat({name: list_judges(result.tested) for name, result in judged.items()}, names=["set"]), test),
        "best": (pd.DataFrame({name: list_best(each) for name, each in all_differences.items()}), measures),
        "contradictions": (
            pd.DataFrame({name: each.count_contradictions() for name, each in all_differences.items()}).T, measures
        ),
        "constant": (pd.DataFrame({name: describe_constant(result) for name, result in judged.items()}).T, test),
        "scores": (pd.concat({name: list_scores(each) for name, each in all_differences.items()}, names=["set"]), measures),
        "differences": (
            pd.concat({name: each.to_frame() for name, each in all_differences.items()}, names=["set"]), measures
        ),
    }  # fmt: skip
    for name in ("contradictions", "constant"):
        tables[name][0].index.name = "set"
    captions = STUDY["captions"]
    digits = {"judges": 2, "constant": 2}
    findings = try_claims(list_claims(claims), facts)
    return {
        name: metaeval.Table(frame, captions[name], signature, digits=digits.get(name, 3))
        for name, (frame, signature) in tables.items()
    } | {"claims": tabulate_claims(findings, captions["claims"], str(measures))}


def list_judges(tested: metaeval.AlternativeAnnotatorTest) -> pd.DataFrame:
    """Return the judges of a set by ρ, with how people's agreement was measured, and ε."""
    frame = tested.to_table().frame.copy()
    frame.insert(0, "agreement", tested.agreement)
    frame.insert(1, "ε", tested.epsilon)
    return frame


def list_best(differences: Differences) -> pd.Series:
    """Return by measure the best judge, and how many of the others it is surely better than."""
    others = len(differences.judges) - 1
    texts = [
        f"{differences.judges[judge]} ({n_beaten} of {others})"
        for judge, n_beaten in zip(differences.best, differences.n_beaten, strict=True)
    ]
    return pd.Series(texts, index=pd.Index(differences.measures, name="measure"))


def list_scores(differences: Differences) -> pd.DataFrame:
    """Return every judge by every measure, errors as errors again."""
    signs = np.array([1 if "ρ" in name else metaeval.measure(name).sign for name in differences.measures])
    index = pd.Index(differences.measures, name="measure")
    return pd.DataFrame((differences.values * signs).T, index, list(differences.judges))


def describe_constant(judged: Judged) -> dict[str, object]:
    """Return how the constant judge does in the alternative annotator test."""
    rows = judged.with_constant.rows
    row = rows.set_index("judge").loc[judged.constant]
    return {
        "label": judged.constant.removeprefix("always-"),
        "ρ": float(row["rho"]),
        "ρ low": float(row["rho_low"]),
        "ρ high": float(row["rho_high"]),
        "ω": float(row["omega"]),
        "passes": "yes" if row["omega"] >= PASS else "no",  # by the authors' test alone
        "judges": len(rows) - 1,
        "judges below": int((rows["rho"] < row["rho"]).sum()),
    }
