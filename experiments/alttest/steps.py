"""Judges by the alternative annotator test and by measures, on five sets of labels of people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.alttest.figures import draw_ranks
from experiments.alttest.resampling import Resampled, find_changes, resample_judges
from experiments.alttest.verdicts import (
    add_constant_judge,
    count_beaten,
    describe_findings,
    find_best,
    judge_constant,
    judge_set,
)
from experiments.comparison import cell
from experiments.outcome import Outcome, Settings, load_groups, read_toml
from experiments.page import format_list
from metaeval.data.annotations import Annotations

STUDY = read_toml(Path(__file__).parent / "study.toml")
PRINTED = read_toml(Path(__file__).parent / "printed.toml")
SETS = tuple(STUDY["sets"])
SOURCES = ["", *SETS]
ITEM = "authors' notebook"


def run(settings: Settings) -> list[Outcome]:
    """Which judge is best on each set, by each measure, and does that hang on the measure?

    Parameters
    ----------
    settings : Settings
        ``quick`` looks at the two smallest sets.

    Returns
    -------
    list of Outcome
    """
    together = Outcome("alttest", "")
    missing: list[str] = []
    single: dict[str, Outcome] = {}
    columns: dict[str, pd.Series] = {}
    constants: dict[str, dict[str, object]] = {}
    contradictions: dict[str, dict[str, int]] = {}
    resampled: dict[str, Resampled] = {}
    signatures: list[metaeval.Signature] = []
    only = STUDY["quick"] if settings.quick else None
    for name, given in load_groups(settings, {"sets": SETS}, missing, only):
        settings.say(f"alttest: {name}")
        by_gold = resample_judges(
            given,
            STUDY["classification"],
            STUDY["quantification"],
            n_bootstrap=STUDY["n_bootstrap"],
            seed=settings.seed,
        )
        scores = next(iter(by_gold.values()))
        found = scores.compare(STUDY["confidence"])
        resampled[name] = scores
        tested = _test(name, given, settings)
        signatures.append(_sign(tested, settings))
        single[name] = compute_tables(tested, scores, found, signatures[-1])
        columns[name] = list_best(scores, found)
        contradictions[name] = count_contradictions(scores, found)
        together.verdicts.append(judge_set(name, by_gold, STUDY["confidence"], settings.seed))
        constant, more = add_constant_judge(given)
        with_constant = _test(name, more, settings)
        together.verdicts.append(judge_constant(name, constant, with_constant))
        constants[name] = describe_constant(constant, with_constant)
    together.lacks = ["all but two sets"] if settings.quick else missing
    together.verdicts.sort(key=lambda one: one.claim, reverse=True)
    if not together.lacks:
        _add_together(together, signatures, columns, constants, contradictions, resampled)
    return [together, *single.values()]


def _test(name: str, given: Annotations, settings: Settings) -> metaeval.AlternativeAnnotatorTest:
    return metaeval.alternative_annotator_test(
        given, **STUDY["sets"][name], alpha=STUDY["alpha"], n_bootstrap=STUDY["n_bootstrap"],
        confidence=STUDY["confidence"], seed=settings.seed,
    )  # fmt: skip


def compute_tables(
    tested: metaeval.AlternativeAnnotatorTest, scores: Resampled, found: pd.DataFrame, signature: metaeval.Signature
) -> Outcome:
    """Return the tables of one set, and the printed rates beside those computed here.

    Parameters
    ----------
    tested : AlternativeAnnotatorTest
    scores : Resampled
    found : DataFrame
        From its `compare`.
    signature : Signature
        Of the scores.

    Returns
    -------
    Outcome
    """
    name = tested.collection
    outcome = Outcome("alttest", name)
    outcome.tables["judges"] = tested.to_table()
    outcome.figures["judges"] = tested.plot
    outcome.notes = [f"{note}." for note in tested.notes()]
    signs = np.array([metaeval.measure(one).sign if "ρ" not in one else 1 for one in scores.measures])
    shown = pd.DataFrame((scores.values * signs).T, pd.Index(scores.measures, name="measure"), list(scores.judges))
    best = pd.DataFrame("", shown.index, shown.columns)
    for measure, judge in find_best(scores).items():
        best.loc[measure, judge] = "bold"
    caption = (
        "Every judge by every measure, the best in bold: measures of classification on all items, with the label of most "
        "people as gold; means over items of measures of quantification, with the shares of people's labels as gold; and ρ."
    )
    outcome.tables["scores"] = metaeval.Table(shown, caption, signature, marks=lambda _: best)
    caption = (
        "The difference of every two judges by every measure, turned so that higher is better, with simultaneous "
        f"{STUDY['confidence']:.0%} intervals over topics, and which judge is better if its interval leaves 0 out."
    )
    outcome.tables["differences"] = metaeval.Table(found.set_index("measure"), caption, signature)
    for judge, printed in PRINTED[name].items():
        j = tested.judges.index(judge)
        for column, value in (("omega", tested.omega[j]), ("rho", tested.rho[j])):
            outcome.cells.append(
                cell(ITEM, f"{name} {judge}", column, printed[column], float(value), data=name, digits=2)
            )
    return outcome


def _sign(tested: metaeval.AlternativeAnnotatorTest, settings: Settings) -> metaeval.Signature:
    own = (
        (
            "measures",
            f"{len(STUDY['classification'])} of classification, {len(STUDY['quantification'])} of quantification, ρ",
        ),
        ("bootstrap", f"{STUDY['n_bootstrap']:,}"),
        ("confidence", f"{STUDY['confidence']:g} (simultaneous)"),
        ("seed", str(settings.seed)),
    )
    return metaeval.Signature("judges by measures", tested.signature.data, own, metaeval.__version__)


def list_best(scores: Resampled, found: pd.DataFrame) -> pd.Series:
    """Return by measure the best judge, and how many of the others it is surely better than.

    Parameters
    ----------
    scores : Resampled
    found : DataFrame

    Returns
    -------
    Series
    """
    best = find_best(scores)
    beaten, others = count_beaten(found, best), len(scores.judges) - 1
    return pd.Series({name: f"{judge} ({beaten[name]} of {others})" for name, judge in best.items()})


def count_contradictions(scores: Resampled, found: pd.DataFrame) -> dict[str, int]:
    """Return on how many pairs of judges measures contradict each other, and how many pairs of measures do.

    Parameters
    ----------
    scores : Resampled
    found : DataFrame

    Returns
    -------
    dict of str to int
    """
    changes = find_changes(found)
    judges, measures = len(scores.judges), len(scores.measures)
    return {
        "pairs of judges": judges * (judges - 1) // 2,
        "with a contradiction": len({frozenset((a, b)) for _, a, _, b in changes}),
        "pairs of measures": measures * (measures - 1) // 2,
        "that contradict each other": len({(first, second) for first, _, second, _ in changes}),
    }


def describe_constant(constant: str, tested: metaeval.AlternativeAnnotatorTest) -> dict[str, object]:
    """Return how the constant judge does in the alternative annotator test.

    Parameters
    ----------
    constant : str
    tested : AlternativeAnnotatorTest

    Returns
    -------
    dict
    """
    j = tested.judges.index(constant)
    return {
        "label": constant.removeprefix("always-"),
        "ρ": float(tested.rho[j]),
        "ρ low": float(tested.rho_ends[0][j]),
        "ρ high": float(tested.rho_ends[1][j]),
        "ω": float(tested.omega[j]),
        "passes": "yes" if tested.passes[j] else "no",
        "judges": len(tested.judges) - 1,
        "judges below": int((tested.rho < tested.rho[j]).sum()),
    }


def _add_together(
    together: Outcome,
    signatures: list[metaeval.Signature],
    columns: dict[str, pd.Series],
    constants: dict[str, dict[str, object]],
    contradictions: dict[str, dict[str, int]],
    resampled: dict[str, Resampled],
) -> None:
    (first, *_), data = signatures, tuple(part for one in signatures for part in one.data)
    signature = metaeval.Signature(first.analysis, data, first.settings, first.version)
    best = pd.DataFrame(columns).rename_axis("measure")
    together.tables["best"] = metaeval.Table(
        best,
        "The best judge by every measure on every set, and how many of the other judges it is better than with intervals "
        "that leave 0 out.",
        signature,
    )
    constant = pd.DataFrame(constants).T.rename_axis("set")
    together.tables["constant"] = metaeval.Table(
        constant,
        "A judge that always gives the label that people give most often, in the alternative annotator test, and how many of "
        "the real judges have a smaller ρ.",
        signature,
        digits=2,
    )
    together.tables["contradictions"] = metaeval.Table(
        pd.DataFrame(contradictions).T.rename_axis("set"),
        "Contradictions: pairs of judges of which one is better by one measure and the other by another, both with intervals "
        "that leave 0 out.",
        signature,
    )
    together.figures["ranks"] = lambda: draw_ranks(resampled, signature)
    together.texts["findings"] = format_list(describe_findings(best, together.verdicts, constant))
