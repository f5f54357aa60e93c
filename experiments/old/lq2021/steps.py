"""The steps of the study: what each computes, in the order of the paper, once for every source of data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.lq2021 import audit, claims, figure3
from experiments.lq2021.baselines import add_baselines, format_slug
from experiments.lq2021.chance import ALLOWED, PairErrors, bound_errors
from experiments.lq2021.facts import Facts, Part, read_print, read_study
from experiments.lq2021.tied_classes import describe_readings
from experiments.old.audits import list_failures
from experiments.old.claims import PRINT, bound, list_claims, tabulate_claims, try_claims
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings
from experiments.old.sources import (
    ORIGINAL,
    SOURCES_ARE,
    compare_collections,
    compute_sources,
    describe_given,
    find_relation,
    find_run,
    list_given,
    load_runs_or_scores,
    tabulate_collections,
)
from metaeval.analyses.study import Study, study_collection

STUDY, PRINTED, MEASURES = audit.STUDY, audit.PRINTED, audit.MEASURES
SOURCES = ["", *STUDY["sources"]]
PICTURES = {"stc3": ("figure1_stc-3-dq-a",)}
COMPARED_ONLY = ("semeval", "stand-in")
"""Sources too far from the paper's data for more than comparison.csv."""

QUESTIONS = ("consistency", "power", "overlap", "contradictions", "preference")


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 2 to 7 and Figures 1 to 3 from every source, try the claims, and audit the printed numbers."""
    first = audit.compute_audit()
    first.tables["table1"] = tabulate_measures()
    measures = dict.fromkeys(STUDY["collections"], MEASURES)
    parts: dict[str, list[Part]] = {}
    outcomes, first.notes = compute_sources("LQ 2021", STUDY, measures, partial(compute_tables, parts=parts), settings)
    facts = {PRINT: read_print(), **{source: Facts(collected) for source, collected in parts.items()}}
    findings = try_claims(list_claims(claims), facts)
    first.tables["claims"] = tabulate_claims(findings, "Claims of LQ 2021.", f"metaeval {metaeval.__version__}")
    computed = {ORIGINAL, *(outcome.source for outcome in outcomes)}
    first.lacks = [source for source in STUDY["nearest"] if source not in computed]
    return [first, *outcomes]


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page says beside tables: slips in print, what print implies, what the sources are."""
    names = [name for collections in STUDY["sources"].values() for data in collections.values() for name in data]
    return {
        "slips": list_failures(audit.find_checks()),
        "implications": list(audit.find_implications()),
        "sources": [f"**{source}**: {SOURCES_ARE[source]}" for source in STUDY["sources"]],
        "names": names,
        "given": describe_given(outcomes),
        "given_names": list_given(outcomes),
        "remarks": [note for outcome in outcomes if outcome.source == "stc3" for note in outcome.notes[1:]],
        "table7": [
            cell.verdict for outcome in outcomes if outcome.source == "stc3" for cell in outcome.cells
            if cell.item == "Table 7" and cell.reproduced is not None
        ],
    }  # fmt: skip


def _find_baselines(scores: metaeval.Scores) -> tuple[str, str]:
    """Return the names of the Popularity and the Uniform baseline, empty where there is none."""
    return find_run(scores.runs, STUDY["popularity"]) or "", find_run(scores.runs, STUDY["uniform"]) or ""


def compute_tables(
    source: str, scores: dict[str, metaeval.Scores], settings: Settings, parts: dict[str, list[Part]]
) -> Outcome:
    """Return the tables, figures and comparison of one source, by the paper's names of collections, and add its facts."""
    outcome = Outcome("lq2021", source)
    studies = {}
    for name, collection in scores.items():
        settings.say(collection.collection)
        studies[name] = study_collection(
            collection, questions=QUESTIONS, n_permutations=STUDY["n_permutations"], alpha=STUDY["alpha"],
            baselines=_find_baselines(collection), seed=settings.seed, n_jobs=settings.n_jobs,
        )  # fmt: skip
    if source in STUDY["nearest"] and all(
        len(collection.runs) >= bound("fewest runs") for collection in scores.values()
    ):
        parts[source] = [read_study(study) for study in studies.values()]
    outcome.cells += compare_collections(2, scores, PRINTED["table2"], find_relation(source))
    _add_power(outcome, studies)
    for name in STUDY["collections"]:
        _add_agreement(outcome, name, studies.get(name))
    add_baselines(outcome, studies)
    if source in COMPARED_ONLY:
        outcome.tables, outcome.figures = {}, {}
        return outcome
    outcome.tables["table2"] = tabulate_collections(2, scores, PRINTED["table2"])
    _add_distributions(outcome, scores, settings)
    outcome.notes += [note for study in studies.values() if (note := describe_copies(study))]
    return outcome


def _add_distributions(outcome: Outcome, scores: dict[str, metaeval.Scores], settings: Settings) -> None:
    """Add Figure 3, and what Table 7 becomes by other readings, where there are distributions: score matrices have none."""
    runs = {
        name: loaded
        for name, each in scores.items()
        if all(_find_baselines(each))
        for loaded in [load_runs_or_scores(STUDY["sources"][outcome.source][name], settings)]
        if isinstance(loaded, metaeval.QuantificationRuns)
    }
    if outcome.source == "stc3" and (note := describe_readings(runs)):  # gold elsewhere is not the paper's
        outcome.notes.append(note)
    for name, each in runs.items():
        if name.endswith("DQ-A"):
            popularity, uniform = _find_baselines(scores[name])
            draw = partial(figure3.draw_divergent_topics, each, popularity, uniform, n_topics=2)
            outcome.figures[f"figure3_{format_slug(name)}"] = draw


def describe_copies(study: Study) -> str:
    """Say how many runs have the scores of another run on every topic; nothing where there are none."""
    copies = sum(len(group) - 1 for group in study.diagnostics.identical)
    if not copies:
        return ""
    return (
        f"{study.name}: {copies} of {len(study.scores.runs)} runs have the same scores as another on every topic; no test "
        "can tell such runs apart, and all weigh in shares of run pairs."
    )


def tabulate_measures() -> metaeval.Table:
    """Return Table 1: which measures know the order of classes, seen by trying rather than typed in."""
    properties = metaeval.properties(MEASURES, only=["ordinal", "ordinal with mixed gold"])
    rows = []
    for measure in properties.measures:
        checks = [properties.get_check(measure, name) for name in properties.names]
        ordinal = checks[0] is not None and checks[0].holds
        marks = [check.mark for check in checks if check is not None]
        rows.append(
            ("ordinal" if ordinal else "nominal", *marks, measure.description.partition(":")[0], measure.source)
        )
    index = pd.Index([str(measure) for measure in properties.measures], name="measure")
    columns = ["classes", "gold in one class", "gold in every class", "name", "defined in"]
    frame = pd.DataFrame(rows, index=index, columns=columns)
    caption = (
        "Table 1. The measures. Ordinal: when all gold is in one class, predicting a more distant class scores worse; the "
        "next two columns say in how many cases this was tried, and in how many it failed, also with gold in every class."
    )
    return metaeval.Table(frame, caption, properties.signature)


def _add_power(outcome: Outcome, studies: dict[str, Study]) -> None:
    powers = {name: entry.power for name, entry in studies.items() if entry.power is not None}
    pooled = metaeval.pooled_discriminative_power(list(powers.values()))
    outcome.tables["table3"] = pooled.to_table()
    rows = {
        name: (entry.significant.sum(axis=1).tolist(), entry.signature.data[0], entry.rows["mc_se"].to_numpy())
        for name, entry in powers.items()
    }
    of = {name: entry.significant.shape[1] for name, entry in powers.items()}
    of["POOLED"] = sum(of.values())
    if set(rows) == set(STUDY["collections"]):
        errors = pooled.to_frame()["mc_se"].to_numpy()
        rows["POOLED"] = (pooled.rows["significant"].tolist(), "all eight collections", errors)
    by_collection = pooled.by_collection.pivot(index="collection", columns="measure", values="significant")
    frame = by_collection.loc[[*pooled.collections, "POOLED"], MEASURES]
    caption = "Table 3 by collection: significant run pairs (S_D) of each measure."
    outcome.tables["table3_collections"] = metaeval.Table(frame, caption, pooled.signature)
    for name, printed in PRINTED["table3"].items():
        got, data, errors = rows.get(name, (None, "", np.zeros(len(MEASURES))))
        for m, measure in enumerate(MEASURES):
            value, error, number = None if got is None else got[m], float(errors[m]), printed["S_D"][m]
            outcome.cells.append(_compare(outcome, "Table 3", name, f"{measure} S_D", number, value, data, error))
            share = None if value is None else 100 * value / of[name]
            error, number = 100 * error / of.get(name, 1), printed["percent"][m]
            column = f"{measure} percent"
            outcome.cells.append(_compare(outcome, "Table 3", name, column, number, share, data, error, digits=1))


def _add_agreement(outcome: Outcome, name: str, study: Study | None) -> None:
    """Add Tables 4 to 6 of one collection, and compare them with print."""
    sso: dict[tuple[str, str], float] = {}
    parts: dict[tuple[str, str], tuple[int, int, int]] = {}
    counts: dict[tuple[str, str], int] = {}
    errors: dict[tuple[str, str], PairErrors] = {}
    data = ""
    if study is not None and study.power and study.overlap and study.contradictions:
        data = study.power.signature.data[0]
        slug = format_slug(name)
        outcome.tables[f"table4/{slug}"] = study.overlap.to_table()
        outcome.tables[f"table5/{slug}"] = study.contradictions.to_table()
        pairs = study.contradictions.run_pairs()
        if len(pairs):
            caption = (
                f"Table 6, in place of {name}: the first measure says the first run is significantly better, the second the "
                "reverse."
            )
            outcome.tables[f"table6/{slug}"] = metaeval.Table(
                pairs.set_index("measure_1"), caption, study.contradictions.signature
            )
        frame = study.overlap.to_frame()
        sso = {(r.measure_1, r.measure_2): 100 * r.sso for r in frame.itertuples() if pd.notna(r.sso)}
        parts = {(r.measure_1, r.measure_2): (int(r.a), int(r.b), int(r.c)) for r in frame.itertuples()}
        against = study.contradictions.to_frame()
        counts = {(r.measure_1, r.measure_2): int(r.contradictions) for r in against.itertuples()}
        errors = bound_errors(study.power)
    for pair, printed in audit.read_overlaps(name).items():
        column, error = f"{pair[0]} and {pair[1]}", errors.get(pair, PairErrors(0, 0, 0, 0, 0))
        share = 100 * error.sso
        outcome.cells.append(
            _compare(outcome, "Table 4", name, column, printed[0], sso.get(pair), data, share, digits=1)
        )
        each = (error.a, error.b, error.c)
        for letter, number, part, sure in zip("abc", printed[1:], parts.get(pair, (None,) * 3), each, strict=True):
            outcome.cells.append(_compare(outcome, "Table 4", name, f"{column}, {letter}", number, part, data, sure))
    for pair, number in audit.read_contradictions(name).items():
        sure = errors[pair].contradictions if pair in errors else 0.0
        column = f"{pair[0]} and {pair[1]}"
        outcome.cells.append(_compare(outcome, "Table 5", name, column, number, counts.get(pair), data, sure))


def _compare(
    outcome: Outcome, item: str, row: str, column: str, printed: float, value: float | None, data: str, error: float,
    digits: int = 0,
) -> Cell:  # fmt: skip
    """Compare a number that rests on random trials, `error` being its Monte Carlo standard error."""
    return cell(
        item, row, column, printed, value, data=data, digits=digits, monte_carlo=ALLOWED * error,
        relation=find_relation(outcome.source),
    )  # fmt: skip
