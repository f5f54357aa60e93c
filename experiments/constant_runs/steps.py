"""Add constant runs and take them out, and see which measures become less consistent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

import metaeval
from experiments.answers import load_collections
from experiments.bounds import BOUNDS
from experiments.constant_runs.consistency import Change, Prepared, choose_classes, measure_change, prepare
from experiments.constant_runs.picture import draw_curves
from experiments.constant_runs.verdicts import (
    ASKED,
    FIRST,
    MEASURES,
    PAPERS_TAU,
    STUDY,
    Changes,
    decide,
    judge,
    rank_of,
)
from experiments.outcome import Outcome, Settings
from experiments.page import SIMULATED
from metaeval.stats.rank_correlation import TauVariant

SOURCES = list(STUDY["sources"])


def run(settings: Settings) -> list[Outcome]:
    """Look at every collection that can be had.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    return [compute_source(source, names, settings) for source, names in STUDY["sources"].items()]


def compute_source(source: str, names: list[str], settings: Settings) -> Outcome:
    """Look at the collections of one source.

    Parameters
    ----------
    source : str
    names : list of str
    settings : Settings

    Returns
    -------
    Outcome
    """
    trained = any(name.startswith("ordinal-") for name in names)
    outcome = Outcome("constant_runs", source, tolerance=STUDY["tolerance"] if trained else 1e-9)
    changes: dict[str, Changes] = {}
    again: dict[str, list[Change]] = {}
    curves: dict[str, pd.DataFrame] = {}
    prepared: dict[str, Prepared] = {}
    for name, runs in load_collections(names, settings, outcome.lacks).items():
        settings.say(f"consistency with constant runs and without: {name}")
        prepared[name] = prepare(runs, MEASURES, marked=STUDY["constant"], seed=settings.seed)
        changes[name] = find_changes(prepared[name])
        again[name] = [_measure(one, *FIRST) for one in repeat(name, prepared[name], settings)]
        curves[name] = trace_curve(prepared[name])
    if changes:
        signed = (
            f"constant_runs | {', '.join(changes)} | trials {STUDY['n_trials']:,} | groups {STUDY['groups']} | "
            f"seed {settings.seed}"
        )
        outcome.tables["changes"] = tabulate_changes(prepared, changes, signed)
        outcome.tables["means"] = tabulate_means(changes, signed)
        signed = signed.replace(f"trials {STUDY['n_trials']:,}", f"trials {STUDY['n_curve']:,}")
        outcome.tables["curves"] = tabulate_curves(curves, signed)
        outcome.figures["curves"] = partial(draw_curves, curves, signed)
        outcome.verdicts = [judge(prepared[name], found, again[name]) for name, found in changes.items()]
    return outcome


def repeat(name: str, prepared: Prepared, settings: Settings) -> list[Prepared]:
    """Return the collection with the next seeds: other splits, and another campaign where it is simulated.

    Parameters
    ----------
    name : str
    prepared : Prepared
    settings : Settings

    Returns
    -------
    list of Prepared
    """
    seeds = range(settings.seed + 1, settings.seed + int(BOUNDS["seeds"].value))
    if not name.startswith(SIMULATED):
        return [replace(prepared, seed=seed) for seed in seeds]
    drawn = [load_collections([name], replace(settings, seed=seed), [])[name] for seed in seeds]
    return [
        prepare(runs, MEASURES, marked=STUDY["constant"], seed=seed) for runs, seed in zip(drawn, seeds, strict=True)
    ]


def find_changes(prepared: Prepared) -> Changes:
    """Return what constant runs change, for each size of sets and each τ.

    Parameters
    ----------
    prepared : Prepared

    Returns
    -------
    dict of (str, str) to Change
    """
    return {(label, tau): _measure(prepared, label, tau) for label in STUDY["sizes"] for tau in STUDY["tau"]}


def _measure(prepared: Prepared, label: str, tau: TauVariant) -> Change:
    return measure_change(
        prepared, ASKED, n_trials=STUDY["n_trials"], size=STUDY["sizes"][label] or None, tau=tau, groups=STUDY["groups"],
        n_left=STUDY["n_left"],
    )  # fmt: skip


def trace_curve(prepared: Prepared) -> pd.DataFrame:
    """Return mean τ of every measure over halves, by the number of constant runs.

    Parameters
    ----------
    prepared : Prepared

    Returns
    -------
    DataFrame
        Indexed by the number, one column a measure.
    """
    n_classes = len(prepared.constant)
    rows = {}
    for number in range(min(STUDY["most_added"], n_classes) + 1):
        chosen = choose_classes(n_classes, number, STUDY["most_choices"], prepared.name)
        taus = [prepared.split(one, n_trials=STUDY["n_curve"], size=None, tau=PAPERS_TAU) for one in chosen]
        rows[number] = np.mean(taus, axis=(0, 1))
    return pd.DataFrame.from_dict(rows, orient="index", columns=MEASURES).rename_axis("constant runs")


def tabulate_changes(
    prepared: Mapping[str, Prepared], changes: Mapping[str, Changes], signature: str
) -> metaeval.Table:
    """Return κ's change beside the others', with both intervals, and its places.

    Parameters
    ----------
    prepared : mapping of str to Prepared
    changes : mapping of str to dict
        By collection.
    signature : str

    Returns
    -------
    Table
    """
    rows = []
    for name, found in changes.items():
        n, c = len(prepared[name].informed), len(prepared[name].own)
        for (label, tau), one in found.items():
            place = MEASURES.index(ASKED)
            rows.append({
                "collection": name, "topic sets": label, "τ": tau, "runs": n, "constant": c,
                "tied pairs": c * (c - 1) / ((n + c) * (n + c - 1)),
                "change of κ": one.with_[place] - one.without[place], "less others": one.over_topics[0],
                "splits, low": one.by_split[1], "splits, high": one.by_split[2],
                "topics, low": one.over_topics[1], "topics, high": one.over_topics[2],
                "place without": rank_of(one.without), "place with": rank_of(one.with_), "rule": decide(one),
            })  # fmt: skip
    caption = (
        "What constant runs change in κ's mean τ, and that change less the mean change of the other eight measures, with "
        "intervals over splits of these topics and over topics; κ's place of nine. “tied pairs” is the share of "
        "pairs of runs that κ cannot tell apart because both are constant: τ_a counts them as 0."
    )
    return metaeval.Table(pd.DataFrame(rows).set_index(["collection", "topic sets", "τ"]), caption, signature)


def tabulate_means(changes: Mapping[str, Changes], signature: str) -> metaeval.Table:
    """Return mean τ of every measure without constant runs and with them.

    Parameters
    ----------
    changes : mapping of str to dict
    signature : str

    Returns
    -------
    Table
    """
    rows = [
        {"collection": name, "topic sets": label, "τ": tau, "constant runs": word}
        | dict(zip(MEASURES, means, strict=True))
        for name, found in changes.items()
        for (label, tau), one in found.items()
        for word, means in (("without", one.without), ("with", one.with_))
    ]
    frame = pd.DataFrame(rows).set_index(["collection", "topic sets", "τ", "constant runs"])
    caption = "Mean τ over splits of every measure, without constant runs and with them."
    return metaeval.Table(frame, caption, signature)


def tabulate_curves(curves: Mapping[str, pd.DataFrame], signature: str) -> metaeval.Table:
    """Return mean τ by the number of constant runs.

    Parameters
    ----------
    curves : mapping of str to DataFrame
    signature : str

    Returns
    -------
    Table
    """
    caption = (
        f"Mean {PAPERS_TAU} between halves of the topics by the number of constant runs beside the others, averaged over "
        f"the classes that they answer (at most {STUDY['most_choices']} choices, {STUDY['n_curve']} splits each)."
    )
    return metaeval.Table(pd.concat(curves, names=["collection"]), caption, signature)
