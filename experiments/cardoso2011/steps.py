"""The steps of the study, in the order of the paper: matrices in print, then classifiers on real sets."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pandas as pd

import metaeval
from experiments.cardoso2011 import figures
from experiments.cardoso2011.matrices import PRINTED, SHOWN, STUDY, compared, limits, sign, tables, tridiagonal_curves
from experiments.cardoso2011.synthetic import synthetic_set
from experiments.study import Outcome, Settings
from metaeval.datasets.ordinal_classifiers import ordinal_set
from metaeval.errors import DatasetError

SETTINGS = STUDY["table6"]


def run(settings: Settings) -> list[Outcome]:
    """Reproduce Tables 1 to 6 and Figures 1 to 7.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
        One of what needs no data, and one of what needs scikit-learn and skordinal.
    """
    first = in_print(settings)
    try:
        return [first, trained(settings)]
    except DatasetError as error:
        first.notes.append(f"Table 6 and Figure 7 could not be had: {error}")
        return [first]


def trained(settings: Settings) -> Outcome:
    """Return Table 6, §4.3 and Figure 7, which need scikit-learn and skordinal.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Outcome
    """
    sizes = {name: np.bincount(ordinal_set(source)[1]).tolist() for name, source in SETTINGS["sets"].items()}
    from experiments.cardoso2011 import classifiers  # scikit-learn is there by now
    from experiments.cardoso2011.repetitions import SYNTHETIC, folder_of, repetitions

    n = SETTINGS["quick_repetitions"] if settings.quick else SETTINGS["repetitions"]
    settings.say(f"finished repetitions are kept in {folder_of(settings.seed)}")
    found = {}
    for name in [*SETTINGS["sets"], SYNTHETIC]:
        settings.say(f"Algorithm 1: {name}, {n} repetitions")
        found[name] = repetitions(name, n, seed=settings.seed, n_jobs=settings.n_jobs)
    synthetic = found.pop(SYNTHETIC)
    outcome = Outcome("cardoso2011", "skordinal-quick" if settings.quick else "skordinal")
    for beta in SETTINGS["betas"]:
        outcome.tables[f"table6-beta{beta:g}"] = classifiers.table6(found, beta, settings.seed)
        outcome.cells += classifiers.cells6(found, beta)
    for name, make in {
        "table6-which-beta": classifiers.which_beta,
        "table6-never-worse": classifiers.never_worse,
    }.items():
        outcome.tables[name], sentence = make(found, settings.seed)
        outcome.notes.append(sentence)
    outcome.tables["synthetic"], cells = classifiers.synthetic_table(synthetic, settings.seed)
    outcome.cells += cells
    shown = {title: sizes.get(name) for name, title in SETTINGS["shown"].items()}
    signature = f"cardoso2011 | sets as in skordinal | metaeval {metaeval.__version__}"
    outcome.figures["figure7"] = figures.frequency_figure(shown, signature)
    outcome.notes.append("BCCT is not public")
    installed = {package: version(package) for package in SETTINGS["made_with"]}
    if installed != SETTINGS["made_with"]:
        outcome.tolerance = SETTINGS["tolerance"]
        outcome.notes.append(f"made with {installed}, the committed results with {SETTINGS['made_with']}")
    return outcome


def in_print(settings: Settings) -> Outcome:
    """Return Tables 1 to 5 and Figures 1 to 6, which need no data.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Outcome
    """
    settings.say("Tables 1 to 5, Figures 1 to 6")
    made, cells = tables()
    outcome = Outcome("cardoso2011", "print", made, cells)
    matrices = STUDY["matrices"]
    chosen = {name: np.array(matrices[name]) for name in ("B", "C", "D", "CM3", "CM11")}
    outcome.figures["figures1-3"] = figures.path_figure(
        chosen, (0.25, 0.75), sign("best paths over matrices of Tables 1, 3, 5")
    )
    single = figures.single_item_curves(**STUDY["figure4"])
    outcome.tables["figure4"] = metaeval.Table(single, "Figure 4. OC of a single item, for absolute β.", _unscaled())
    outcome.figures["figure4"] = figures.single_item_figure(single, _unscaled())
    curves = tridiagonal_curves(STUDY["figure5"]["largest"])
    ends = limits(curves)
    outcome.cells += [compared("§4.1", "K → ∞", name, text, ends[name]) for name, text in PRINTED["figure5"].items()]
    outcome.tables["figure5"] = _tridiagonal_table(curves, ends)
    outcome.figures["figure5"] = figures.tridiagonal_figure(curves, SHOWN, ends, sign("tridiagonal matrices"))
    points, classes = synthetic_set(settings.seed)
    shown = STUDY["figure6"]["points"]
    signature = (
        f"cardoso2011 | synthetic set of §4.3, first {shown} of 400 points | seed {settings.seed} | "
        f"metaeval {metaeval.__version__}"
    )
    outcome.figures["figure6"] = figures.points_figure(points[:shown], classes[:shown], signature)
    outcome.notes.append(
        "slips in print: CM4's MAE is 0.857, printed 0.85; the row CM5 of Table 4 follows from another matrix (CM5 "
        "with its second row read 0 0 1 1)"
    )
    return outcome


def _tridiagonal_table(curves: pd.DataFrame, ends: dict[str, float]) -> metaeval.Table:
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
