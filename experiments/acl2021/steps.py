"""The steps of the study: ranking similarity, ranking consistency and discriminative power, for every source of data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

import metaeval
from experiments.acl2021 import audit, formulas, gold, on_print, subset, summary, verdicts
from experiments.comparison import cell
from experiments.outcome import Outcome, Settings
from experiments.sources import compare_collections, compute_sources, find_relation, tabulate_collections
from experiments.verdicts import look_at_all
from metaeval.analyses.discriminative_power import draw_power_curves
from metaeval.analyses.study import Study, study_collection

STUDY, PRINTED = audit.STUDY, audit.PRINTED
SOURCES = ["", *STUDY["sources"]]
MEASURES = {name: STUDY[f"{kind}_order"] for name, kind in STUDY["collections"].items()}
SIMILARITY = {
    "table2": ("Sem16T4C", "Sem17T4C"),
    "table5": ("DQ-A", "DQ-E", "DQ-S"),
    "table8": ("Sem16T4E", "Sem17T4E"),
}
CONSISTENCY = {"table3": SIMILARITY["table2"], "table6": SIMILARITY["table5"], "table9": SIMILARITY["table8"]}
FIGURES = {"figure1": SIMILARITY["table2"], "figure2": SIMILARITY["table5"], "figure3": SIMILARITY["table8"]}
GOLD = "semeval"
"""The source with the gold of all topics of SemEval's collections."""

QUESTIONS = ("similarity", "consistency", "small_consistency", "power", "robust_power")


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 1 to 9 and Figures 1 to 3 from every source, and audit the printed numbers.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    audited = audit.compute_audit()
    outcomes, notes = compute_sources("ACL 2021", STUDY, MEASURES, compute_tables, settings)
    audited.notes += notes
    audited.verdicts = [*on_print.apply_to_print(), *formulas.decide_formulas(), *formulas.list_untried()]
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
        scores, questions=questions, n_trials=STUDY["n_trials"], n_permutations=STUDY["n_permutations"],
        n_bootstrap=STUDY["n_bootstrap"], alpha=STUDY["alpha"], small=STUDY["size"], seed=seed, n_jobs=settings.n_jobs,
    )  # fmt: skip


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
    outcome = Outcome("acl2021", source)
    views = look_at_all(scores, partial(ask_paper, settings=settings), QUESTIONS, settings)
    studies = {name: one.study for name, one in views.items()}
    outcome.tables["table1"] = tabulate_collections(1, scores, PRINTED["table1"])
    outcome.cells += compare_collections(1, scores, PRINTED["table1"], find_relation(source))
    _add_similarity(outcome, studies)
    _add_consistency(outcome, studies)
    _add_power(outcome, studies)
    outcome.tables |= summary.tabulate_summaries(studies)
    outcome.verdicts = verdicts.apply_to_collections(views, find_relation(source))
    if source == GOLD:
        data = {
            name: STUDY["sources"][source][name] for name in scores if STUDY["collections"][name] == "classification"
        }
        outcome.verdicts += gold.judge_gold({name: settings.load(one) for name, one in data.items()})
    if source == subset.SOURCE:
        subset.add_subset(outcome, settings)
    return outcome


def _add_similarity(outcome: Outcome, studies: dict[str, Study]) -> None:
    for table, names in SIMILARITY.items():
        for name in names:
            order = STUDY[f"{STUDY['collections'][name]}_order"]
            found = studies[name].similarity if name in studies else None
            tau = None
            if found is not None:
                outcome.tables[f"{table}_{name.lower()}"] = found.to_table()
                tau = found.to_frame()
            for (one, two), printed in audit.read_triangle(PRINTED[table][name], order).items():
                value = None if tau is None else float(tau.loc[one, two])  # type: ignore[arg-type]
                _compare(outcome, audit.label_table(table), name, f"{one} and {two}", printed, value, studies, digits=3)


def _add_consistency(outcome: Outcome, studies: dict[str, Study]) -> None:
    for table, names in CONSISTENCY.items():
        for name in names:
            for split, question in (("full", "consistency"), ("ten", "small_consistency")):
                printed = PRINTED[table][name][split]
                found: metaeval.SplitHalfConsistency | None = getattr(studies.get(name), question, None)
                # Two means of as many splits each, theirs and ours: four standard errors of their difference.
                error, mean, marks = 0.0, {}, {}
                if found is not None:
                    outcome.tables[f"{table}_{name.lower()}_{split}"] = found.to_table()
                    error = 4 * float(np.sqrt(2 * found.tau.var(axis=0).max() / len(found.tau)))
                    mean = dict(zip(map(str, found.measures), found.means.tolist(), strict=True))
                    marks = dict(zip(map(str, found.measures), found.outperforms.tolist(), strict=True))
                item, row = audit.label_table(table), f"{name}, {split}"
                for measure in (one for one in printed if one != "V_E2"):
                    value, mark = mean.get(measure), marks.get(measure)
                    _compare(outcome, item, row, measure, printed[measure][0], value, studies, 3, error, name)
                    column = f"{measure} outperforms the worst"
                    _compare(outcome, item, row, column, printed[measure][1], mark, studies, 0, 0.0, name)
                _compare_variance(outcome, table, name, split, found, studies)


def _compare_variance(
    outcome: Outcome,
    table: str,
    name: str,
    split: str,
    found: metaeval.SplitHalfConsistency | None,
    studies: dict[str, Study],
) -> None:
    """Compare V_E2, and the effect sizes that captions work out from it."""
    printed = PRINTED[table][name][split]["V_E2"]
    value = None if found is None else found.residual_variance
    # Relative standard error of a variance: √(2 / degrees of freedom); four of the difference of two, theirs and ours.
    relative = 0.0 if found is None else 8 / np.sqrt((len(found.tau) - 1) * (len(found.measures) - 1))
    item, row = audit.label_table(table), f"{name}, {split}"
    _compare(outcome, item, row, "V_E2", printed, value, studies, 5, float(relative * (value or 0.0)), name)
    for where, collection, part, better, worse, size in PRINTED["effect_sizes"]["examples"]:
        if (where, collection, part) == (table, name, split):
            effect, error = None, 0.0
            if found is not None:
                names = [str(one) for one in found.measures]
                effect = float(found.effect_sizes[names.index(better), names.index(worse)])
                error = float(8 / np.sqrt(len(found.tau)) + relative / 2 * abs(effect))
            _compare(outcome, item, row, f"effect size of {better} over {worse}", size, effect, studies, 2, error, name)


def _add_power(outcome: Outcome, studies: dict[str, Study]) -> None:
    for figure, names in FIGURES.items():
        powers = {name: studies[name].power for name in names if name in studies}
        found = {name: power for name, power in powers.items() if power is not None}
        if found:
            titles = [studies[name].name for name in found]
            outcome.figures[figure] = partial(draw_power_curves, list(found.values()), titles)
        for name, power in found.items():
            outcome.tables[f"{figure}_{name.lower()}"] = power.to_table()
        for name, printed in PRINTED[figure].items() if figure in PRINTED else ():
            numbers, errors = {}, {}
            if name in found:
                one = found[name]
                measures = [str(measure) for measure in one.measures]
                numbers = dict(zip(measures, one.significant.sum(axis=1).tolist(), strict=True))
                # Four standard errors of the difference of two such counts, theirs and ours.
                errors = dict(zip(measures, (4 * np.sqrt(2) * one.mc_se).tolist(), strict=True))
            for measure, number in printed.items():
                value, error = numbers.get(measure), errors.get(measure)
                _compare(outcome, "Figure 2", name, measure, number, value, studies, monte_carlo=error)


def _compare(
    outcome: Outcome,
    item: str,
    row: str,
    column: str,
    printed: float,
    value: float | None,
    studies: dict[str, Study],
    digits: int = 0,
    monte_carlo: float | None = None,
    name: str | None = None,
) -> None:
    data = studies[name or row].name if value is not None else ""
    outcome.cells.append(
        cell(
            item, row, column, printed, value,
            data=data, digits=digits, monte_carlo=monte_carlo, relation=find_relation(outcome.source),
        )
    )  # fmt: skip
