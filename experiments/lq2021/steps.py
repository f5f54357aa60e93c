"""The steps of the study: what each computes, in the order of the paper, once for every source of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.lq2021 import audit, figure3, verdicts
from experiments.outcome import Outcome, Settings
from experiments.page import SIMULATED
from experiments.sources import (
    compare_collections,
    compute_sources,
    find_relation,
    find_run,
    load_runs_or_scores,
    tabulate_collections,
)
from experiments.tables import bold_larger, sign_alike
from experiments.verdicts import Views, apply_rules, look_at
from metaeval.analyses.study import Study, study_collection

STUDY, PRINTED, MEASURES = audit.STUDY, audit.PRINTED, audit.MEASURES
SOURCES = ["", *STUDY["sources"]]
QUESTIONS = ("power", "robust_power", "overlap", "contradictions", "preference")


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
    audited.verdicts = [one for rule in verdicts.RULES for one in rule.apply_to_print()]
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
        baselines=(find_run(scores.runs, STUDY["popularity"]) or "", find_run(scores.runs, STUDY["uniform"]) or ""),
        seed=seed, n_jobs=settings.n_jobs,
    )  # fmt: skip


def look_at_all(scores: Mapping[str, metaeval.Scores], settings: Settings) -> dict[str, Views]:
    """Study every collection, and look at the real ones with more seeds and fewer runs.

    Parameters
    ----------
    scores : mapping of str to Scores
        By the paper's name of the collection in whose place they stand.
    settings : Settings

    Returns
    -------
    dict of str to Views
    """
    again = partial(ask_paper, settings=settings, questions=[one for one in QUESTIONS if one != "robust_power"])
    found = {}
    for name, one in scores.items():
        settings.say(f"{one.collection}")
        study = ask_paper(one, settings.seed, settings)
        found[name] = look_at(study, again, settings.seed, simulated=study.name.startswith(SIMULATED))
    return found


def compute_tables(source: str, scores: dict[str, metaeval.Scores], settings: Settings) -> Outcome:
    """Return the tables, figures, verdicts and comparison of one source.

    Parameters
    ----------
    source : str
    scores : dict of str to Scores
        By the paper's name of the collection in whose place they stand.
    settings : Settings

    Returns
    -------
    Outcome
    """
    outcome = Outcome("lq2021", source)
    views = look_at_all(scores, settings)
    studies = {name: one.study for name, one in views.items()}
    outcome.tables["table1"] = tabulate_measures()
    outcome.tables["table2"] = tabulate_collections(2, scores, PRINTED["table2"])
    outcome.cells += compare_collections(2, scores, PRINTED["table2"], find_relation(source))
    _add_power(outcome, studies)
    for name in STUDY["collections"]:
        _add_agreement(outcome, name, studies.get(name))
    _add_baselines(outcome, studies)
    outcome.verdicts = apply_rules(verdicts.RULES, views)
    return outcome


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
    rows = {name: (one.significant.sum(axis=1).tolist(), one.signature.data[0]) for name, one in powers.items()}
    of = {name: one.significant.shape[1] for name, one in powers.items()}
    of["POOLED"] = sum(of.values())
    if set(rows) == set(STUDY["collections"]):
        rows["POOLED"] = (pooled.significant.sum(axis=0).tolist(), "all eight collections")
    by_collection = pooled.by_collection().pivot(index="collection", columns="measure", values="significant")
    frame = by_collection.loc[[*pooled.collections, "POOLED"], MEASURES]
    caption = "Table 3 by collection: significant run pairs (S_D) of each measure."
    outcome.tables["table3_collections"] = metaeval.Table(frame, caption, pooled.signature)
    for name, printed in PRINTED["table3"].items():
        got, data = rows.get(name, (None, ""))
        for m, measure in enumerate(MEASURES):
            value = None if got is None else got[m]
            outcome.cells.append(_compare(outcome, "Table 3", name, f"{measure} S_D", printed["S_D"][m], value, data))
            share, column = None if value is None else 100 * value / of[name], f"{measure} percent"
            outcome.cells.append(
                _compare(outcome, "Table 3", name, column, printed["percent"][m], share, data, digits=1)
            )


def _add_agreement(outcome: Outcome, name: str, study: Study | None) -> None:
    """Add Tables 4 to 6 of one collection, and compare them with print."""
    sso: dict[tuple[str, str], float] = {}
    parts: dict[tuple[str, str], tuple[int, int, int]] = {}
    counts: dict[tuple[str, str], int] = {}
    data = ""
    if study is not None and study.power and study.overlap and study.contradictions:
        data = study.power.signature.data[0]
        slug = format_slug(name)
        outcome.tables[f"table4_{slug}"] = study.overlap.to_table()
        outcome.tables[f"table5_{slug}"] = study.contradictions.to_table()
        pairs = study.contradictions.run_pairs()
        if len(pairs):
            caption = (
                f"Table 6, in place of {name}: measure 1 says run 1 is significantly better, measure 2 the reverse."
            )
            outcome.tables[f"table6_{slug}"] = metaeval.Table(
                pairs.set_index("measure_1"), caption, study.contradictions.signature
            )
        frame = study.overlap.to_frame()
        sso = {(r.measure_1, r.measure_2): 100 * r.sso for r in frame.itertuples() if pd.notna(r.sso)}
        parts = {(r.measure_1, r.measure_2): (int(r.a), int(r.b), int(r.c)) for r in frame.itertuples()}
        against = study.contradictions.to_frame()
        counts = {(r.measure_1, r.measure_2): int(r.contradictions) for r in against.itertuples()}
    for pair, printed in audit.read_overlaps(name).items():
        column = f"{pair[0]} and {pair[1]}"
        outcome.cells.append(_compare(outcome, "Table 4", name, column, printed[0], sso.get(pair), data, digits=1))
        for position, letter in enumerate("abc"):
            part = parts[pair][position] if pair in parts else None
            where = f"{column}, {letter}"
            outcome.cells.append(_compare(outcome, "Table 4", name, where, printed[1 + position], part, data))
    for pair, number in audit.read_contradictions(name).items():
        column = f"{pair[0]} and {pair[1]}"
        outcome.cells.append(_compare(outcome, "Table 5", name, column, number, counts.get(pair), data))


def _add_baselines(outcome: Outcome, studies: dict[str, Study]) -> None:
    """Add Table 7 and Figures 1 and 2, and compare Table 7 with print."""
    preferences = {name: one.preference for name, one in studies.items() if one.preference is not None}
    wins: dict[str, list[tuple[int, int]]] = {}
    for name, preference in preferences.items():
        frame = preference.to_frame().loc[STUDY["measures"]]
        won = zip(frame[preference.second], frame[preference.first], strict=True)
        wins[name] = [(int(uniform), int(popularity)) for uniform, popularity in won]
        if name.endswith("DQ-A"):
            for number in (1, 2):
                pairs = [(x, y) for x, y in STUDY[f"figure{number}"]]
                outcome.figures[f"figure{number}_{format_slug(name)}"] = partial(preference.plot, pairs)
    complete = set(wins) == set(STUDY["baseline_collections"])
    total = [tuple(map(sum, zip(*column, strict=True))) for column in zip(*wins.values(), strict=True)]
    for name in PRINTED["table7"]:
        got = total if name == "TOTAL" and complete else wins.get(name)
        data = "" if got is None else "all six collections" if name == "TOTAL" else studies[name].name
        # The gold and both baselines of STC-3 are the paper's own, whatever the other runs.
        relation = "the paper's" if outcome.source == "stc3" else find_relation(outcome.source)
        for m, measure in enumerate(STUDY["measures"]):
            for side, baseline in enumerate(("uni", "pop")):
                printed, value = PRINTED["table7"][name][m][side], None if got is None else got[m][side]
                column = f"{measure} {baseline}"
                outcome.cells.append(cell("Table 7", name, column, printed, value, data=data, relation=relation))
    if wins:
        columns = pd.MultiIndex.from_product([STUDY["measures"], ["uni", "pop"]])
        rows = {name: [number for pair in got for number in pair] for name, got in wins.items()}
        rows["TOTAL" if complete else f"TOTAL of {len(wins)}"] = [number for pair in total for number in pair]
        frame = pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="collection"), columns=columns)
        first, *others = [one.signature for one in preferences.values()]
        signature = sign_alike(first, [one.data[0] for one in others])
        caption = (
            "Table 7. Topics on which each measure prefers the Uniform baseline (uni) and the Popularity baseline "
            "(pop); the larger number of the two in bold, ties counted for neither."
        )
        outcome.tables["table7"] = metaeval.Table(frame, caption, signature, marks=bold_larger)


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
    outcome = compute_tables(source, scores, settings)
    for name, one in scores.items():
        baselines = [find_run(one.runs, STUDY[which]) for which in ("popularity", "uniform")]
        if name.endswith("DQ-A") and all(baselines):
            runs = load_runs_or_scores(STUDY["sources"][source][name], settings)
            if isinstance(runs, metaeval.QuantificationRuns):
                draw = partial(figure3.draw_divergent_topics, runs, *baselines, n_topics=2)
                outcome.figures[f"figure3_{format_slug(name)}"] = draw
    return outcome


def format_slug(name: str) -> str:
    """Return the paper's name of a collection as part of a file name.

    Examples
    --------
    >>> format_slug("STC-3 DQ-A")
    'stc-3-dq-a'
    """
    return name.lower().replace(" ", "-")


def _compare(
    outcome: Outcome, item: str, row: str, column: str, printed: float, value: float | None, data: str, digits: int = 0
) -> Cell:
    relation = find_relation(outcome.source)
    return cell(item, row, column, printed, value, data=data, digits=digits, relation=relation)
