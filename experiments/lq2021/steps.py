"""The steps of the study: what each computes, in the order of the paper, once for every source of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.lq2021 import audit, figure3, verdicts
from experiments.lq2021.baselines import add_baselines, format_slug
from experiments.lq2021.chance import ALLOWED, PairErrors, bound_errors
from experiments.lq2021.reading import find_twins
from experiments.lq2021.tied_classes import describe_readings
from experiments.outcome import Outcome, Settings
from experiments.sources import (
    compare_collections,
    compute_sources,
    find_relation,
    find_run,
    load_runs_or_scores,
    tabulate_collections,
)
from experiments.verdicts import look_at_all
from metaeval.analyses.study import Study, study_collection

STUDY, PRINTED, MEASURES = audit.STUDY, audit.PRINTED, audit.MEASURES
SOURCES = ["", *STUDY["sources"]]
QUESTIONS = ("similarity", "consistency", "power", "robust_power", "overlap", "contradictions", "preference")


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 2 to 7 and Figures 1 to 3 from every source that can be had, and audit the printed numbers.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    audited = audit.compute_audit()
    measures = dict.fromkeys(STUDY["collections"], MEASURES)
    outcomes, notes = compute_sources("LQ 2021", STUDY, measures, compute_outcome, settings)
    audited.notes += notes
    audited.verdicts = list(verdicts.judge_print())
    return [audited, *outcomes]


def ask_paper(scores: metaeval.Scores, seed: int, settings: Settings, questions: Sequence[str] = QUESTIONS) -> Study:
    """Ask one collection what the paper asks.

    Parameters
    ----------
    scores : Scores
    seed : int
    settings : Settings
    questions : sequence of str, optional
        Some of `QUESTIONS`.

    Returns
    -------
    Study
    """
    return study_collection(
        scores, questions=questions, n_permutations=STUDY["n_permutations"], alpha=STUDY["alpha"],
        baselines=_find_baselines(scores),
        seed=seed, n_jobs=settings.n_jobs,
    )  # fmt: skip


def _find_baselines(scores: metaeval.Scores) -> tuple[str, str]:
    """Return the names of the Popularity and the Uniform baseline, empty where there is none."""
    return find_run(scores.runs, STUDY["popularity"]) or "", find_run(scores.runs, STUDY["uniform"]) or ""


def compute_tables(
    source: str, scores: dict[str, metaeval.Scores], settings: Settings, golds: Mapping[str, np.ndarray] | None = None
) -> Outcome:
    """Return the tables, figures, verdicts and comparison of one source.

    Parameters
    ----------
    source : str
    scores : dict of str to Scores
        By the paper's name of the collection in whose place they stand.
    settings : Settings
    golds : mapping of str to (ndarray, shape (topic, class)), optional
        Likewise: rules about the gold need it.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("lq2021", source)
    views = look_at_all(scores, partial(ask_paper, settings=settings), QUESTIONS, settings)
    studies = {name: one.study for name, one in views.items()}
    outcome.tables["table1"] = tabulate_measures()
    outcome.tables["table2"] = tabulate_collections(2, scores, PRINTED["table2"])
    outcome.cells += compare_collections(2, scores, PRINTED["table2"], find_relation(source))
    _add_power(outcome, studies)
    for name in STUDY["collections"]:
        _add_agreement(outcome, name, studies.get(name))
    add_baselines(outcome, studies)
    outcome.verdicts = verdicts.judge_source(source, views, golds)
    outcome.notes += [note for one in studies.values() if (note := describe_copies(one.scores))]
    return outcome


def describe_copies(scores: metaeval.Scores) -> str:
    """Say how many runs have the scores of another run on every topic; nothing where there are none."""
    copies = sum(run != twin for run, twin in find_twins(scores).items())
    if not copies:
        return ""
    return (
        f"{scores.collection}: {copies} of {len(scores.runs)} runs have the same scores as another on every topic; no test "
        "can tell such runs apart, and all weigh in shares of run pairs"
    )


def tabulate_measures() -> metaeval.Table:
    """Return Table 1: which measures know the order of classes, seen by trying rather than typed in.

    Returns
    -------
    Table
    """
    found = metaeval.properties(MEASURES, only=["ordinal", "ordinal with mixed gold"])
    rows = []
    for one in found.measures:
        checks = [found.get_check(one, name) for name in found.names]
        ordinal = checks[0] is not None and checks[0].holds
        marks = [check.mark for check in checks if check is not None]
        rows.append(("ordinal" if ordinal else "nominal", *marks, one.description.partition(":")[0], one.source))
    index = pd.Index([str(one) for one in found.measures], name="measure")
    columns = ["classes", "gold in one class", "gold in every class", "name", "defined in"]
    frame = pd.DataFrame(rows, index=index, columns=columns)
    caption = (
        "Table 1. The measures. Ordinal: when all gold is in one class, predicting a more distant class scores worse; the "
        "next two columns say in how many cases this was tried, and in how many it failed, also with gold in every class."
    )
    return metaeval.Table(frame, caption, found.signature)


def _add_power(outcome: Outcome, studies: dict[str, Study]) -> None:
    powers = {name: one.power for name, one in studies.items() if one.power is not None}
    pooled = metaeval.pooled_discriminative_power(list(powers.values()), n_bootstrap=0)
    outcome.tables["table3"] = pooled.to_table()
    rows = {
        name: (one.significant.sum(axis=1).tolist(), one.signature.data[0], one.mc_se) for name, one in powers.items()
    }
    of = {name: one.significant.shape[1] for name, one in powers.items()}
    of["POOLED"] = sum(of.values())
    if set(rows) == set(STUDY["collections"]):
        errors = pooled.to_frame()["mc_se"].to_numpy()
        rows["POOLED"] = (pooled.significant.sum(axis=0).tolist(), "all eight collections", errors)
    by_collection = pooled.by_collection().pivot(index="collection", columns="measure", values="significant")
    frame = by_collection.loc[[*pooled.collections, "POOLED"], MEASURES]
    caption = "Table 3 by collection: significant run pairs (S_D) of each measure."
    outcome.tables["table3_collections"] = metaeval.Table(frame, caption, pooled.signature)
    for name, printed in PRINTED["table3"].items():
        got, data, errors = rows.get(name, (None, "", np.zeros(len(MEASURES))))
        for m, measure in enumerate(MEASURES):
            value, error, said = None if got is None else got[m], float(errors[m]), printed["S_D"][m]
            outcome.cells.append(_compare(outcome, "Table 3", name, f"{measure} S_D", said, value, data, error))
            share = None if value is None else 100 * value / of[name]
            error, said = 100 * error / of.get(name, 1), printed["percent"][m]
            column = f"{measure} percent"
            outcome.cells.append(_compare(outcome, "Table 3", name, column, said, share, data, error, digits=1))


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
        outcome.tables[f"table4_{slug}"] = study.overlap.to_table()
        outcome.tables[f"table5_{slug}"] = study.contradictions.to_table()
        pairs = study.contradictions.run_pairs()
        if len(pairs):
            caption = (
                f"Table 6, in place of {name}: the first measure says the first run is significantly better, the second the "
                "reverse."
            )
            outcome.tables[f"table6_{slug}"] = metaeval.Table(
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
        for letter, said, part, sure in zip("abc", printed[1:], parts.get(pair, (None,) * 3), each, strict=True):
            outcome.cells.append(_compare(outcome, "Table 4", name, f"{column}, {letter}", said, part, data, sure))
    for pair, number in audit.read_contradictions(name).items():
        sure = errors[pair].contradictions if pair in errors else 0.0
        column = f"{pair[0]} and {pair[1]}"
        outcome.cells.append(_compare(outcome, "Table 5", name, column, number, counts.get(pair), data, sure))


def compute_outcome(source: str, scores: dict[str, metaeval.Scores], settings: Settings) -> Outcome:
    """Return what `compute_tables` does, and Figure 3 where there are distributions: score matrices have none.

    Parameters
    ----------
    source : str
    scores : dict of str to Scores
    settings : Settings

    Returns
    -------
    Outcome
    """
    runs = {
        name: found
        for name, one in scores.items()
        if all(_find_baselines(one))
        for found in [load_runs_or_scores(STUDY["sources"][source][name], settings)]
        if isinstance(found, metaeval.QuantificationRuns)
    }
    outcome = compute_tables(source, scores, settings, {name: one.gold for name, one in runs.items()})
    if source == "stc3" and (note := describe_readings(runs)):  # gold elsewhere is not the paper's
        outcome.notes.append(note)
    for name, found in runs.items():
        if name.endswith("DQ-A"):
            popularity, uniform = _find_baselines(scores[name])
            draw = partial(figure3.draw_divergent_topics, found, popularity, uniform, n_topics=2)
            outcome.figures[f"figure3_{format_slug(name)}"] = draw
    return outcome


def _compare(
    outcome: Outcome, item: str, row: str, column: str, printed: float, value: float | None, data: str, error: float,
    digits: int = 0,
) -> Cell:  # fmt: skip
    """Compare a number that rests on random trials, `error` being its Monte Carlo standard error."""
    return cell(
        item, row, column, printed, value, data=data, digits=digits, monte_carlo=ALLOWED * error,
        relation=find_relation(outcome.source),
    )  # fmt: skip
