"""The steps of the study: ranking similarity, ranking consistency and discriminative power, for every source of data."""

from __future__ import annotations

import numpy as np

import metaeval
from experiments.acl2021 import audit, summary
from experiments.comparison import cell
from experiments.sakai import collections_cells, collections_table, gathered
from experiments.study import Outcome, Settings
from metaeval.analyses.discriminative_power import draw_power_curves

STUDY, PRINTED = audit.STUDY, audit.PRINTED
SIMILARITY = {
    "table2": ("Sem16T4C", "Sem17T4C"),
    "table5": ("DQ-A", "DQ-E", "DQ-S"),
    "table8": ("Sem16T4E", "Sem17T4E"),
}
CONSISTENCY = {"table3": SIMILARITY["table2"], "table6": SIMILARITY["table5"], "table9": SIMILARITY["table8"]}
FIGURES = {"figure1": SIMILARITY["table2"], "figure2": SIMILARITY["table5"], "figure3": SIMILARITY["table8"]}


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 1 to 9 and Figures 1 to 3 from every source, and audit the printed numbers.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    outcomes = [audit.outcome()]
    for source in ("original", "stc3") if settings.quick else STUDY["sources"]:
        settings.say(f"ACL 2021: {source}")
        found = of_source(source, settings)
        if found is None:
            outcomes[0].notes.append(f"{source}: none of its collections could be had")
        else:
            outcomes.append(found)
    return outcomes


def of_source(source: str, settings: Settings) -> Outcome | None:
    """Reproduce what one source has the data for.

    Parameters
    ----------
    source : str
        One of study.toml's.
    settings : Settings

    Returns
    -------
    Outcome or None
        None when none of its collections can be had.
    """
    measures = {name: STUDY[f"{kind}_order"] for name, kind in STUDY["collections"].items()}
    scores, missing = gathered(STUDY["sources"][source], measures, settings)
    if not scores:
        return None
    outcome = study(source, scores, settings)
    if missing:
        outcome.notes.append(f"{', '.join(missing)} could not be had ({next(iter(missing.values()))})")
    return outcome


def study(source: str, scores: dict[str, metaeval.Scores], settings: Settings) -> Outcome:
    """Return the tables, figures and comparison of one source.

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
    if source != "original":
        places = ", ".join(f"{name} = {one.collection}" for name, one in scores.items())
        outcome.notes.append(f"in place of the paper's: {places}")
    outcome.tables["table1"] = collections_table(1, scores, PRINTED["table1"])
    outcome.cells += collections_cells(1, scores, PRINTED["table1"], same_data=source == "original")
    similarity = _similarity(outcome, scores)
    consistency = _consistency(outcome, scores, settings)
    power = _power(outcome, scores, settings)
    outcome.tables |= summary.tables(similarity, consistency, power)
    return outcome


def _similarity(outcome: Outcome, scores: dict[str, metaeval.Scores]) -> dict[str, metaeval.RankingSimilarity]:
    similarity = {}
    for table, names in SIMILARITY.items():
        for name in names:
            order = STUDY[f"{STUDY['collections'][name]}_order"]
            tau = None
            if name in scores:
                found = similarity[name] = metaeval.ranking_similarity(scores[name], n_bootstrap=0)
                outcome.tables[f"{table}_{name.lower()}"] = found.to_table()
                tau = found.to_frame()
            for (one, two), printed in audit.triangle(PRINTED[table][name], order).items():
                value = None if tau is None else float(tau.loc[one, two])  # type: ignore[arg-type]
                _add(outcome, audit.label(table), name, f"{one} and {two}", printed, value, scores, digits=3)
    return similarity


def _consistency(
    outcome: Outcome, scores: dict[str, metaeval.Scores], settings: Settings
) -> dict[tuple[str, str], metaeval.SplitHalfConsistency]:
    consistency = {}
    for table, names in CONSISTENCY.items():
        for name in names:
            for split, size in (("full", None), ("ten", STUDY["size"])):
                printed = PRINTED[table][name][split]
                found = None
                if name in scores:
                    found = consistency[(name, split)] = metaeval.split_half_consistency(
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
                marks = (
                    {}
                    if found is None
                    else dict(zip(map(str, found.measures), found.outperforms.tolist(), strict=True))
                )
                for measure in (one for one in printed if one != "V_E2"):
                    row, value = f"{name}, {split}", mean.get(measure)
                    _add(outcome, audit.label(table), row, measure, printed[measure][0], value, scores, 3, error, name)
                    column, mark = f"{measure} outperforms the worst", marks.get(measure)
                    _add(outcome, audit.label(table), row, column, printed[measure][1], mark, scores, name=name)
                _variance(outcome, table, name, split, found, scores)
    return consistency


def _variance(
    outcome: Outcome,
    table: str,
    name: str,
    split: str,
    found: metaeval.SplitHalfConsistency | None,
    scores: dict[str, metaeval.Scores],
) -> None:
    """Compare V_E2, and the effect sizes that captions work out from it."""
    printed = PRINTED[table][name][split]["V_E2"]
    value = None if found is None else found.residual_variance
    # Relative standard error of a variance: √(2 / degrees of freedom); four of the difference of two, theirs and ours.
    relative = 0.0 if found is None else 8 / np.sqrt((len(found.tau) - 1) * (len(found.measures) - 1))
    item, row = audit.label(table), f"{name}, {split}"
    _add(outcome, item, row, "V_E2", printed, value, scores, 5, float(relative * (value or 0.0)), name)
    for where, collection, part, better, worse, size in PRINTED["effect_sizes"]["examples"]:
        if (where, collection, part) == (table, name, split):
            effect, error = None, 0.0
            if found is not None:
                names = [str(one) for one in found.measures]
                effect = float(found.effect_sizes[names.index(better), names.index(worse)])
                error = float(8 / np.sqrt(len(found.tau)) + relative / 2 * abs(effect))
            _add(outcome, item, row, f"effect size of {better} over {worse}", size, effect, scores, 2, error, name)


def _power(
    outcome: Outcome, scores: dict[str, metaeval.Scores], settings: Settings
) -> dict[str, metaeval.DiscriminativePower]:
    every: dict[str, metaeval.DiscriminativePower] = {}
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
        every |= powers
        if powers:
            titles = [one.collection for one in powers.values()]
            outcome.figures[figure] = draw_power_curves(list(powers.values()), titles)
        for name, power in powers.items():
            outcome.tables[f"{figure}_{name.lower()}"] = power.to_table()
        for name, printed in PRINTED[figure].items() if figure in PRINTED else ():
            found = {}
            if name in powers:
                one = powers[name]
                found = dict(zip(map(str, one.measures), one.significant.sum(axis=1).tolist(), strict=True))
            for measure, number in printed.items():
                _add(outcome, "Figure 2", name, measure, number, found.get(measure), scores)
    return every


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
