"""Preferences between Popularity and Uniform by the flatness of the gold, on STC-3 and on all gold of 19 votes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

import metaeval
from experiments.answers import load_collections
from experiments.flat_gold.curves import count_peaks, find_flatness, find_switch, list_gold, prefer
from experiments.flat_gold.picture import draw_curves
from experiments.flat_gold.verdicts import CONFIDENCE, MEASURES, STUDY, Found, judge, judge_map, look_at, split_map
from experiments.outcome import Outcome, Settings

SOURCES = ["stc3", "map"]
CLASSES = 5
EDGES = np.linspace(0, 1, STUDY["bins"] + 1)
PLACES = ("at an end", "next to an end", "in the middle")


def run(settings: Settings) -> list[Outcome]:
    """Look at every topic of STC-3 that can be had, and at all gold.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    mapped = map_gold()
    return [study_topics(settings, mapped), study_map(mapped)]


def study_topics(settings: Settings, mapped: pd.DataFrame) -> Outcome:
    """Return what depends on flatness in real gold.

    Parameters
    ----------
    settings : Settings
    mapped : DataFrame
        As `map_gold` returns it, for the figure.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("flat_gold", "stc3")
    collections = load_collections(STUDY["collections"], settings, outcome.lacks)
    found = {name: look_at(runs) for name, runs in collections.items()}
    if not found:
        return outcome
    signed = f"flat_gold | {', '.join(found)} | interval {100 * CONFIDENCE:g} % over topics"
    caption = (
        "Share of topics on which each measure prefers Popularity; its logistic curve over flatness, with intervals "
        "over topics: slope, and flatness at which it crosses one half; and the one switch point that tells its preference "
        "best, with the share of topics that it tells right, ties left out."
    )
    outcome.tables["curves"] = metaeval.Table(tabulate_curves(found), caption, signed)
    caption = "By flatness: topics, and share of them on which each measure prefers Popularity, with Wilson's interval."
    bins = tabulate_bins(found)
    shape = pd.DataFrame(
        {name: {"topics": len(one.peaks), "one peak": (one.peaks == 1).mean(), "flatness": one.flatness.mean()}
         for name, one in found.items()}
    ).T.astype({"topics": int}).rename_axis("collection")  # fmt: skip
    outcome.tables["gold"] = metaeval.Table(shape, "Topics, share whose gold has one peak, and mean flatness.", signed)
    outcome.tables["bins"] = metaeval.Table(bins, caption, signed)
    outcome.figures["flatness"] = partial(draw_curves, MEASURES, bins, outcome.tables["curves"].frame, mapped, signed)
    outcome.verdicts = [judge(claim, name, one) for claim in STUDY["claims"] for name, one in found.items()]
    return outcome


def tabulate_curves(found: Mapping[str, Found]) -> pd.DataFrame:
    """Return shares, curves and switch points, indexed by collection and measure.

    Parameters
    ----------
    found : mapping of str to Found

    Returns
    -------
    DataFrame
    """
    rows = []
    for name, one in found.items():
        for m, measure in enumerate(MEASURES):
            switch, told = find_switch(one.flatness, one.preferred[:, m])
            slope, crossing = one.slope[measure], one.crossing[measure]
            slopes, crossings = slope.find_ends(CONFIDENCE), crossing.find_ends(CONFIDENCE)
            rows.append({
                "collection": name, "measure": measure, "Popularity": one.share[measure].value,
                "tied": (one.preferred[:, m] == 0).mean(),
                "slope": slope.value, "slope, low": slopes[0], "slope, high": slopes[1],
                "crossing": crossing.value, "crossing, low": crossings[0], "crossing, high": crossings[1],
                "switch": switch, "told right": told,
            })  # fmt: skip
    return pd.DataFrame(rows).set_index(["collection", "measure"])


def tabulate_bins(found: Mapping[str, Found]) -> pd.DataFrame:
    """Return the share of topics on which each measure prefers Popularity, by flatness, with Wilson's interval.

    Parameters
    ----------
    found : mapping of str to Found

    Returns
    -------
    DataFrame
        Indexed by collection, measure and the lower end of the bin.
    """
    from scipy.stats import binomtest

    rows = []
    for name, one in found.items():
        place = np.minimum(np.searchsorted(EDGES, one.flatness, side="right") - 1, len(EDGES) - 2)
        for m, measure in enumerate(MEASURES):
            for b in np.unique(place):
                inside = one.preferred[place == b, m] > 0
                ends = binomtest(int(inside.sum()), len(inside)).proportion_ci(CONFIDENCE, method="wilson")
                rows.append({
                    "collection": name, "measure": measure, "from": EDGES[b], "topics": len(inside),
                    "Popularity": inside.mean(), "low": ends.low, "high": ends.high,
                })  # fmt: skip
    return pd.DataFrame(rows).set_index(["collection", "measure", "from"])


def map_gold() -> pd.DataFrame:
    """Return the preference of every measure for every way to give the votes to five classes.

    Returns
    -------
    DataFrame
        One row a way: its flatness, where its most frequent class lies ("" if there are several), and a column a measure.
    """
    gold = list_gold(STUDY["votes"], CLASSES)
    runs = metaeval.QuantificationRuns(gold[None], gold, runs=["gold"], topics=range(len(gold)), classes=list("abcde"))
    modes = np.isclose(gold, gold.max(axis=1, keepdims=True))
    place = np.array(PLACES, dtype=object)[2 - np.abs(modes.argmax(axis=1) - 2)]
    frame = pd.DataFrame(prefer(runs, MEASURES), columns=MEASURES)
    return frame.assign(
        flatness=find_flatness(gold), peaks=count_peaks(gold), mode=np.where(modes.sum(axis=1) == 1, place, "")
    )


def study_map(mapped: pd.DataFrame) -> Outcome:
    """Return where each measure switches when all gold is looked at, by where the most frequent class lies.

    Parameters
    ----------
    mapped : DataFrame
        As `map_gold` returns it.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("flat_gold", "map")
    rows = []
    by_place = {f"most frequent class {where}": mapped[mapped["mode"] == where] for where in PLACES}
    for where, some in {**split_map(mapped), **by_place}.items():
        for measure in MEASURES:
            preferred, flatness = some[measure].to_numpy(), some["flatness"].to_numpy()
            switch, told = find_switch(flatness, preferred)
            rows.append({
                "which": where, "measure": measure, "gold": len(some),
                "Popularity": (preferred > 0).mean(), "tied": (preferred == 0).mean(),
                "Uniform from": flatness[preferred < 0].min(), "Popularity up to": flatness[preferred > 0].max(),
                "switch": switch, "told right": told,
            })  # fmt: skip
    caption = (
        f"All {len(mapped):,} ways to give {STUDY['votes']} votes to five classes, by the number of peaks and by where the "
        "most frequent class lies: share on which each measure prefers Popularity; the smallest flatness at which it prefers "
        "Uniform and the largest at which it prefers Popularity, between which flatness alone does not tell; and the one "
        "switch point that tells best, with the share that it tells right, ties left out."
    )
    signed = f"flat_gold | {STUDY['votes']} votes, {CLASSES} classes | exact | metaeval {metaeval.__version__}"
    frame = pd.DataFrame(rows).set_index(["which", "measure"])
    outcome.tables["map"] = metaeval.Table(frame, caption, signed)
    outcome.verdicts = judge_map(mapped)
    return outcome
