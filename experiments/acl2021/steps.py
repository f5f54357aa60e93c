"""The steps of the study: ranking similarity, ranking consistency and discriminative power, for every source of data."""

from __future__ import annotations

import numpy as np

import metaeval
from experiments.acl2021 import audit
from experiments.comparison import cell
from experiments.sakai import scores_of
from experiments.study import Outcome, Settings
from metaeval.report.figures import power_panels

STUDY, PRINTED = audit.STUDY, audit.PRINTED
SIMILARITY = {
    "table2": ("Sem16T4C", "Sem17T4C"),
    "table5": ("DQ-A", "DQ-E", "DQ-S"),
    "table8": ("Sem16T4E", "Sem17T4E"),
}
CONSISTENCY = {"table3": SIMILARITY["table2"], "table6": SIMILARITY["table5"], "table9": SIMILARITY["table8"]}
FIGURES = {"figure1": SIMILARITY["table2"], "figure2": SIMILARITY["table5"], "figure3": SIMILARITY["table8"]}


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 2, 3, 5, 6, 8, 9 and Figures 1 to 3 from every source, and audit the printed numbers.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    sources = {name: STUDY["sources"][name] for name in (("original", "stc3") if settings.quick else STUDY["sources"])}
    outcomes = [audit.outcome()]
    for source, collections in sources.items():
        settings.say(f"ACL 2021: {source}")
        scores: dict[str, metaeval.Scores] = {}
        missing: list[str] = []
        for name, data in collections.items():
            order = STUDY[f"{STUDY['collections'][name]}_order"]
            try:
                scores[name] = scores_of(data, order, settings)
            except metaeval.MetaevalError:
                missing.append(name)
        if not scores:
            outcomes[0].notes.append(f"{source}: none of its collections could be had")
            continue
        outcome = Outcome("acl2021", source)
        _similarity(outcome, scores)
        _consistency(outcome, scores, settings)
        _power(outcome, scores, settings)
        if missing:
            outcome.notes.append(f"{', '.join(missing)} could not be had")
        if source != "original":
            places = ", ".join(f"{name} = {one.collection}" for name, one in scores.items())
            outcome.notes.append(f"in place of the paper's: {places}")
        outcomes.append(outcome)
    return outcomes


def _similarity(outcome: Outcome, scores: dict[str, metaeval.Scores]) -> None:
    for table, names in SIMILARITY.items():
        for name in names:
            order = STUDY[f"{STUDY['collections'][name]}_order"]
            tau = None
            if name in scores:
                found = metaeval.ranking_similarity(scores[name], n_bootstrap=0)
                outcome.tables[f"{table}_{name.lower()}"] = found.to_table()
                tau = found.to_frame()
            for (one, two), printed in audit.triangle(PRINTED[table][name], order).items():
                value = None if tau is None else float(tau.loc[one, two])  # type: ignore[arg-type]
                _add(outcome, audit.label(table), name, f"{one} and {two}", printed, value, scores, digits=3)


def _consistency(outcome: Outcome, scores: dict[str, metaeval.Scores], settings: Settings) -> None:
    for table, names in CONSISTENCY.items():
        for name in names:
            for split, size in (("full", None), ("ten", STUDY["size"])):
                printed = PRINTED[table][name][split]
                found = None
                if name in scores:
                    found = metaeval.split_half_consistency(
                        scores[name],
                        n_trials=STUDY["n_trials"],
                        size=size,
                        seed=settings.seed,
                        n_permutations=STUDY["n_permutations"],
                        alpha=STUDY["alpha"],
                        n_jobs=settings.n_jobs,
                    )
                    outcome.tables[f"{table}_{name.lower()}_{split}"] = found.to_table()
                # Two means of as many splits each, theirs and ours: four standard errors of their difference.
                error = 0.0 if found is None else 4 * float(np.sqrt(2 * found.tau.var(axis=0).max() / len(found.tau)))
                mean = {} if found is None else dict(zip(map(str, found.measures), found.means.tolist(), strict=True))
                for measure in (one for one in printed if one != "V_E2"):
                    row, value = f"{name}, {split}", mean.get(measure)
                    _add(outcome, audit.label(table), row, measure, printed[measure][0], value, scores, 3, error, name)


def _power(outcome: Outcome, scores: dict[str, metaeval.Scores], settings: Settings) -> None:
    for figure, names in FIGURES.items():
        powers = {
            name: metaeval.discriminative_power(
                scores[name],
                n_permutations=STUDY["n_permutations"],
                alpha=STUDY["alpha"],
                seed=settings.seed,
                n_jobs=settings.n_jobs,
            )
            for name in names
            if name in scores
        }
        if powers:
            titles = [one.collection for one in powers.values()]
            outcome.figures[figure] = power_panels(list(powers.values()), titles)
        for name, power in powers.items():
            outcome.tables[f"{figure}_{name.lower()}"] = power.to_table()
        for name, printed in PRINTED[figure].items() if figure in PRINTED else ():
            found = {}
            if name in powers:
                one = powers[name]
                found = dict(zip(map(str, one.measures), one.significant.sum(axis=1).tolist(), strict=True))
            for measure, number in printed.items():
                _add(outcome, "Figure 2", name, measure, number, found.get(measure), scores)


def _add(
    outcome: Outcome,
    item: str,
    row: str,
    column: str,
    printed: float,
    value: float | None,
    scores: dict[str, metaeval.Scores],
    digits: int = 0,
    monte_carlo: float = 0.0,
    name: str | None = None,
) -> None:
    data = scores[name or row].collection if value is not None else ""
    outcome.cells.append(
        cell(
            item, row, column, printed, value,
            data=data, digits=digits, monte_carlo=monte_carlo, same_data=outcome.source == "original",
        )
    )  # fmt: skip
