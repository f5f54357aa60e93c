"""The steps of the study: ranking similarity, ranking consistency and discriminative power, for every source of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import metaeval
from experiments.acl2021 import audit, claims, subset, words
from experiments.acl2021.facts import Facts, Formulas, read_print, read_study
from experiments.acl2021.study import PRINTED, STUDY, label_table, read_triangle
from experiments.old.audits import list_failures
from experiments.old.claims import FORMULAS, PRINT, bound, list_claims, tabulate_claims, try_claims
from experiments.old.comparison import cell
from experiments.old.outcome import Outcome, Settings
from experiments.old.sources import (
    ORIGINAL,
    SOURCES_ARE,
    compare_collections,
    compute_sources,
    describe_given,
    find_relation,
    list_given,
    tabulate_collections,
)
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.study import Study, study_collection
from metaeval.show.drawing import draw_charts

SOURCES = ["", *STUDY["sources"]]
PICTURES = {"stc3": ("figure2",), "semeval2017-runs": ("figure1",)}
COMPARED_ONLY = ("semeval", "stand-in")
"""Sources too far from the paper's data for more than comparison.csv."""

MEASURES = {name: STUDY[f"{kind}_order"] for name, kind in STUDY["collections"].items()}
SIMILARITY = {
    "table2": ("Sem16T4C", "Sem17T4C"),
    "table5": ("DQ-A", "DQ-E", "DQ-S"),
    "table8": ("Sem16T4E", "Sem17T4E"),
}
CONSISTENCY = {"table3": SIMILARITY["table2"], "table6": SIMILARITY["table5"], "table9": SIMILARITY["table8"]}
FIGURES = {"figure1": SIMILARITY["table2"], "figure2": SIMILARITY["table5"], "figure3": SIMILARITY["table8"]}
QUESTIONS = ("similarity", "consistency", "small_consistency", "power")


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 1 to 9 and Figures 1 to 3 from every source, try the claims, and audit the printed numbers."""
    first = audit.compute_audit()
    facts: dict[str, Facts | Formulas] = {f"{PRINT}: {name}": printed for name, printed in read_print().items()}
    facts[FORMULAS] = Formulas()
    outcomes, first.notes = compute_sources("ACL 2021", STUDY, MEASURES, partial(compute_tables, facts=facts), settings)
    findings = try_claims(list_claims(claims), facts)
    first.tables["claims"] = tabulate_claims(findings, "Claims of ACL 2021.", f"metaeval {metaeval.__version__}")
    computed = {ORIGINAL, *(outcome.source for outcome in outcomes)}
    first.lacks = [source for source in STUDY["nearest"] if source not in computed]
    return [first, *outcomes]


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page says beside tables: slips in print, what print implies, what the sources are."""
    names = [data for collections in STUDY["sources"].values() for data in collections.values()]
    names = [name for name in names if not name.startswith("acl2021-")]
    return {
        "slips": list_failures(audit.find_checks()),
        "implications": list(audit.find_implications()),
        "sources": [f"**{source}**: {SOURCES_ARE[source]}" for source in STUDY["sources"]],
        "names": names,
        "given": describe_given(outcomes),
        "given_names": list_given(outcomes),
        "subset": next((outcome for outcome in outcomes if outcome.source == subset.SOURCE), None),
    }


def compute_tables(
    source: str, scores: dict[str, metaeval.Scores], settings: Settings, facts: dict[str, Facts | Formulas]
) -> Outcome:
    """Return the tables, figures and comparison of one source, by the paper's names of collections, and add its facts."""
    outcome = Outcome("acl2021", source)
    studies = {}
    for name, collection in scores.items():
        settings.say(collection.collection)
        studies[name] = study_collection(
            collection, questions=QUESTIONS, n_trials=STUDY["n_trials"], n_permutations=STUDY["n_permutations"],
            n_bootstrap=STUDY["n_bootstrap"], alpha=STUDY["alpha"], small=STUDY["size"], seed=settings.seed,
            n_jobs=settings.n_jobs,
        )  # fmt: skip
        if source not in COMPARED_ONLY and len(collection.runs) >= bound("fewest runs"):
            facts[collection.collection] = read_study(name, studies[name])
    outcome.cells += compare_collections(1, scores, PRINTED["table1"], find_relation(source))
    _add_similarity(outcome, studies)
    _add_consistency(outcome, studies)
    _add_power(outcome, studies)
    if source in COMPARED_ONLY:
        outcome.tables, outcome.figures = {}, {}
        return outcome
    outcome.tables["table1"] = tabulate_collections(1, scores, PRINTED["table1"])
    outcome.tables |= words.tabulate_summaries(studies)
    if source == subset.SOURCE:
        subset.add_subset(outcome, settings)
    return outcome


def _add_similarity(outcome: Outcome, studies: dict[str, Study]) -> None:
    for table, names in SIMILARITY.items():
        for name in names:
            order = STUDY[f"{STUDY['collections'][name]}_order"]
            similarity = studies[name].similarity if name in studies else None
            tau = None
            if similarity is not None:
                outcome.tables[f"{table}/{name.lower()}"] = similarity.at("all")[0]
                tau = similarity.to_frame()
            for (first, second), printed in read_triangle(PRINTED[table][name], order).items():
                value = None if tau is None else float(tau.loc[first, second])  # type: ignore[arg-type]
                _compare(outcome, label_table(table), name, f"{first} and {second}", printed, value, studies, digits=3)


def _add_consistency(outcome: Outcome, studies: dict[str, Study]) -> None:
    for table, names in CONSISTENCY.items():
        for name in names:
            for split, question in (("full", "consistency"), ("ten", "small_consistency")):
                printed = PRINTED[table][name][split]
                consistency: metaeval.SplitHalfConsistency | None = getattr(studies.get(name), question, None)
                # Two means of as many splits each, theirs and ours: four standard errors of their difference.
                error, mean, marks = 0.0, {}, {}
                if consistency is not None:
                    outcome.tables[f"{table}/{name.lower()}_{split}"] = consistency.to_table()
                    error = 4 * float(np.sqrt(2 * consistency.tau.var(axis=0).max() / len(consistency.tau)))
                    mean = dict(zip(map(str, consistency.measures), consistency.means.tolist(), strict=True))
                    marks = dict(zip(map(str, consistency.measures), consistency.outperforms.tolist(), strict=True))
                item, row = label_table(table), f"{name}, {split}"
                for measure in (label for label in printed if label != "V_E2"):
                    value, mark = mean.get(measure), marks.get(measure)
                    _compare(outcome, item, row, measure, printed[measure][0], value, studies, 3, error, name)
                    column = f"{measure} outperforms the worst"
                    _compare(outcome, item, row, column, printed[measure][1], mark, studies, 0, 0.0, name)
                _compare_variance(outcome, table, name, split, consistency, studies)


def _compare_variance(
    outcome: Outcome,
    table: str,
    name: str,
    split: str,
    consistency: metaeval.SplitHalfConsistency | None,
    studies: dict[str, Study],
) -> None:
    """Compare V_E2, and the effect sizes that captions work out from it."""
    printed = PRINTED[table][name][split]["V_E2"]
    value = None if consistency is None else consistency.residual_variance
    # Relative standard error of a variance: √(2 / degrees of freedom); four of the difference of two, theirs and ours.
    relative = 0.0 if consistency is None else 8 / np.sqrt((len(consistency.tau) - 1) * (len(consistency.measures) - 1))
    item, row = label_table(table), f"{name}, {split}"
    _compare(outcome, item, row, "V_E2", printed, value, studies, 5, float(relative * (value or 0.0)), name)
    for where, collection, part, better, worse, size in PRINTED["effect_sizes"]["examples"]:
        if (where, collection, part) == (table, name, split):
            effect, error = None, 0.0
            if consistency is not None:
                names = [str(measure) for measure in consistency.measures]
                effect = float(consistency.effect_sizes[names.index(better), names.index(worse)])
                error = float(8 / np.sqrt(len(consistency.tau)) + relative / 2 * abs(effect))
            _compare(outcome, item, row, f"effect size of {better} over {worse}", size, effect, studies, 2, error, name)


def _draw_power_curves(powers: Sequence[DiscriminativePower], titles: Sequence[str]) -> Figure:
    """Draw the curves of one collection, or of several side by side, as in Figure 2."""
    charts = [
        replace(chart, title=title) for power, title in zip(powers, titles, strict=True) for chart in power.charts()
    ]
    return draw_charts(charts, "; ".join(str(power.signature) for power in powers))


def _add_power(outcome: Outcome, studies: dict[str, Study]) -> None:
    for figure, names in FIGURES.items():
        powers = {name: studies[name].power for name in names if name in studies}
        computed = {name: power for name, power in powers.items() if power is not None}
        if computed:
            titles = [studies[name].name for name in computed]
            outcome.figures[figure] = partial(_draw_power_curves, list(computed.values()), titles)
        for name, power in computed.items():
            outcome.tables[f"{figure}/{name.lower()}"] = power.to_table()
        for name, printed in PRINTED[figure].items() if figure in PRINTED else ():
            numbers, errors = {}, {}
            if name in computed:
                power = computed[name]
                measures = [str(measure) for measure in power.measures]
                numbers = dict(zip(measures, power.significant.sum(axis=1).tolist(), strict=True))
                # Four standard errors of the difference of two such counts, theirs and ours.
                errors = dict(zip(measures, (4 * np.sqrt(2) * power.mc_se).tolist(), strict=True))
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
