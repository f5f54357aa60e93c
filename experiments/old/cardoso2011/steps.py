"""The steps of the study, in the order of the paper: matrices in print, then classifiers on real sets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.cardoso2011 import claims, figures
from experiments.cardoso2011.enumeration import tabulate_properties, tabulate_triples
from experiments.cardoso2011.expectations import (
    tabulate_expectations,
    tabulate_gammas,
    tabulate_general_index,
    tabulate_turned,
)
from experiments.cardoso2011.matrices import (
    PRINTED,
    SHOWN,
    STUDY,
    compare_text,
    compute_tables,
    compute_tridiagonal_curves,
    extrapolate_limits,
    sign,
)
from experiments.cardoso2011.slips import list_slips, tabulate_slips
from experiments.cardoso2011.synthetic import synthetic_set
from experiments.old.claims import FORMULAS, list_claims, tabulate_claims, try_claims
from experiments.old.classifiers import describe_versions
from experiments.old.outcome import Outcome, Settings
from metaeval.datasets.ordinal_classifiers import ordinal_set
from metaeval.errors import DatasetError

SETTINGS = STUDY["table6"]
PRINT, TRAINED = "print", "skordinal"
SOURCES = ["", PRINT, TRAINED]
PICTURES = {PRINT: ("figure5",)}


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 1 to 6 and Figures 1 to 7, and try the claims on them."""
    in_print = compute_print(settings)
    outcomes = [in_print]
    try:
        outcomes.append(compute_trained(settings))
    except DatasetError as error:
        in_print.notes.append(f"Table 6 and Figure 7 could not be loaded: {error}")
    return [compute_claims(outcomes), *outcomes]


def compute_claims(outcomes: Sequence[Outcome]) -> Outcome:
    """Try the claims on print, on all small matrices and, where all repetitions are there, on trained classifiers."""
    tables = {name: table for outcome in outcomes if outcome.is_whole for name, table in outcome.tables.items()}
    facts: dict[str, Any] = {
        "print: Tables 1 to 5": claims.Matrices(tables["expectations"].frame),
        f"{FORMULAS}: all small cases": claims.Enumeration(tables["properties"].frame, tables["triples"].frame),
        **claims.list_printed(),
    }
    together = Outcome("cardoso2011", "")
    if "table6-differences" in tables:
        facts |= claims.list_splits(tables["table6-differences"].frame)
    else:
        together.lacks = ["all repetitions of Algorithm 1"]
    findings = try_claims(list_claims(claims), facts)
    signature = f"claims | cardoso2011 | metaeval {metaeval.__version__}"
    together.tables["claims"] = tabulate_claims(findings, "Claims, by what they were tried on.", signature)
    return together


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page says of the study of β and of methods."""
    tables = {name: table for outcome in outcomes for name, table in outcome.tables.items()}
    if "table6-differences" not in tables:
        return {"betas": "", "methods": "", "tolerance": SETTINGS["tolerance"]}
    from experiments.cardoso2011.classifiers import describe_betas, describe_methods

    return {
        "betas": describe_betas(tables["table6-which-beta"].frame),
        "methods": describe_methods(tables["table6-differences"].frame),
        "tolerance": SETTINGS["tolerance"],
    }


def compute_trained(settings: Settings) -> Outcome:
    """Return Table 6, §4.3 and Figure 7, which need scikit-learn and skordinal."""
    sets = {name: ordinal_set(source) for name, source in SETTINGS["sets"].items()}
    sizes = {name: np.bincount(gold).tolist() for name, (_, gold) in sets.items()}
    from experiments.cardoso2011 import classifiers  # scikit-learn is there by now
    from experiments.cardoso2011.repetitions import SYNTHETIC, count_kept, find_folder, repetitions

    every, names = SETTINGS["repetitions"], [*SETTINGS["sets"], SYNTHETIC]
    whole = settings.full or (not settings.quick and count_kept(names, every, seed=settings.seed) == every)
    n = every if whole else SETTINGS["quick_repetitions"]
    settings.say(f"finished repetitions are kept in {find_folder(settings.seed)}")
    found = {}
    for name in names if whole else SETTINGS["quick_sets"]:
        settings.say(f"Algorithm 1: {name}, {n} repetitions")
        found[name] = repetitions(name, n, seed=settings.seed, n_jobs=settings.n_jobs)
    synthetic = found.pop(SYNTHETIC, None)
    outcome = Outcome("cardoso2011", TRAINED, tolerance=SETTINGS["tolerance"])
    if not whole:
        outcome.reduced = f"{n} of {every} repetitions on {len(found)} of {len(names)} sets"
    for beta in SETTINGS["betas"]:
        outcome.tables[f"table6-beta{beta:g}"] = classifiers.tabulate_table6(found, beta, settings.seed)
    outcome.cells += classifiers.compare_table6(found, SETTINGS["fitted_beta"])
    outcome.tables["table6-which-beta"] = classifiers.tabulate_betas(found, settings.seed)
    outcome.tables["table6-differences"] = classifiers.compare_methods(
        found, classifiers.PAIRS, SETTINGS["betas"], settings.seed
    )
    outcome.tables["model-sizes"] = classifiers.tabulate_sizes(
        {name: (np.shape(sets[name][0])[1], len(sizes[name])) for name in found}
    )
    if synthetic is not None:
        outcome.tables["synthetic"] = classifiers.tabulate_synthetic(synthetic, settings.seed)
        outcome.tables["synthetic-differences"] = classifiers.compare_methods(
            {SYNTHETIC: synthetic}, classifiers.SYNTHETIC_PAIRS, [SETTINGS["fitted_beta"]], settings.seed
        )
    shown = {title: sizes.get(name) for name, title in SETTINGS["shown"].items()}
    signature = f"cardoso2011 | sets as in skordinal | metaeval {metaeval.__version__}"
    outcome.figures["figure7"] = partial(figures.draw_frequencies, shown, signature)
    outcome.notes = [
        "BCCT, the fifth set, is not public",
        "Intervals hardly shrink with more splits: training parts overlap, and the correction for it stays. What splits of "
        "one set cannot tell, more of them cannot either.",
        *describe_versions(SETTINGS["made_with"]),
    ]
    return outcome


def compute_print(settings: Settings) -> Outcome:
    """Return Tables 1 to 5 and Figures 1 to 6, which need no data."""
    settings.say("Tables 1 to 5, Figures 1 to 6")
    made, cells = compute_tables()
    outcome = Outcome("cardoso2011", PRINT, made, cells)
    matrices = STUDY["matrices"]
    chosen = {name: np.array(matrices[name]) for name in ("B", "C", "D", "CM3", "CM11")}
    outcome.figures["figures1-3"] = partial(
        figures.draw_paths, chosen, (0.25, 0.75), sign("best paths over matrices of Tables 1, 3, 5")
    )
    single = figures.compute_single_item_curves(**STUDY["figure4"])
    outcome.tables["figure4"] = metaeval.Table(single, "Figure 4. OC of a single item, for absolute β.", _unscaled())
    outcome.figures["figure4"] = partial(figures.draw_single_item, single, _unscaled())
    curves = compute_tridiagonal_curves(STUDY["figure5"]["largest"])
    ends = extrapolate_limits(curves)
    outcome.cells += [
        compare_text("§4.1", "K → ∞", name, text, ends[name]) for name, text in PRINTED["figure5"].items()
    ]
    outcome.tables["figure5"] = _tabulate_tridiagonal(curves, ends)
    outcome.tables["eq8"] = tabulate_general_index()
    outcome.tables["expectations"] = tabulate_expectations()
    outcome.tables["gammas"], outcome.tables["gammas-turned"] = tabulate_gammas(), tabulate_turned()
    outcome.tables["properties"], outcome.tables["triples"] = tabulate_properties(), tabulate_triples()
    outcome.tables["slips"] = tabulate_slips(list_slips())
    outcome.notes = [
        "The examples of §4.2 were “those where the relative performance as measure by OC did not agree with some of the "
        "other coefficients”, and were then judged subjectively: that OC agrees with the judgement is no independent test.",
        "Enumerations prove nothing beyond the sizes that they state; one exception disproves.",
    ]
    outcome.figures["figure5"] = partial(figures.draw_tridiagonal, curves, SHOWN, ends, sign("tridiagonal matrices"))
    points, classes = synthetic_set(settings.seed)
    shown = STUDY["figure6"]["points"]
    signature = (
        f"cardoso2011 | synthetic set of §4.3, first {shown} of 400 points | seed {settings.seed} | "
        f"metaeval {metaeval.__version__}"
    )
    outcome.figures["figure6"] = partial(figures.draw_points, points[:shown], classes[:shown], signature)
    return outcome


def _tabulate_tridiagonal(curves: pd.DataFrame, ends: dict[str, float]) -> metaeval.Table:
    kept = curves.loc[[k for k in (2, 3, 4, 5, 10, 20, 50, 100, 200) if k in curves.index]]
    kept.index = kept.index.astype(str)
    shown = pd.concat([kept, pd.DataFrame([ends], index=["∞"])[list(kept.columns)]]).rename(columns=SHOWN)
    shown.index.name = "K"
    return metaeval.Table(
        shown,
        "Figure 5. Coefficients of tridiagonal matrices of K classes; ∞: extrapolated from 100 and 200 classes.",
        sign("tridiagonal matrices"),
    )


def _unscaled() -> str:
    return f"cardoso2011 | one item | β as it is, γ = 1 | metaeval {metaeval.__version__}"
