"""Ranking similarity, consistency and discriminative power of measures on five collections that are made here."""

from __future__ import annotations

from functools import partial

import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments import classifiers, sakai
from experiments.page import Folder
from experiments.paper import Results, Settings, read_study
from metaeval.analyses.study import study_collection
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style

STUDY = read_study("ordinal_sets")
QUESTIONS = ("similarity", "consistency", "power")


def run(settings: Settings) -> Results:
    """Ask ACL 2021's questions of every set, and of all of them together; sets are trained with ``--full``, and then kept."""
    results = Results("ordinal_sets")
    if not settings.full and not all(map(classifiers.is_kept, STUDY["sets"])):
        tables = ("similarity", "consistency", "power", "pooled")
        results.left_out = dict.fromkeys(tables, "trains classifiers for a minute, once; --full does")
        return results
    studies = {}
    for name in STUDY["sets"]:
        settings.say(f"ordinal_sets: {name}")
        studies[name] = study_collection(
            metaeval.score(classifiers.load(name), STUDY["measures"]), questions=QUESTIONS, n_trials=STUDY["n_trials"],
            n_permutations=STUDY["n_permutations"], seed=settings.seed, n_jobs=settings.n_jobs,
        )  # fmt: skip
    how = f"B {STUDY['n_permutations']:,} | {STUDY['n_trials']:,} splits | seed {settings.seed}"
    add = partial(results.add, how=how, tolerance=STUDY["tolerance"])
    rows = [
        (name, *pair, float(square.loc[pair]))
        for name, study in studies.items()
        for square in [study.similarity.to_frame()]
        for pair in sakai.list_pairs([str(measure) for measure in study.similarity.measures])
    ]
    frame = pd.DataFrame(rows, columns=["collection", "measure_1", "measure_2", "tau"])
    add("similarity", frame.set_index("collection"), "τ of the rankings of runs by two measures.")
    add("consistency", sakai.tabulate_consistency(studies).drop(columns="error"), "Mean τ over halves of the topics.")
    add("power", sakai.tabulate_power(studies), "Significant pairs of runs by randomised Tukey HSD.")
    pooled = metaeval.pooled_discriminative_power([study.power for study in studies.values()])
    add("pooled", pooled.to_table().frame, "Discriminative power pooled over the five sets.")
    return results


def draw_pooled(tables: Folder) -> Figure:
    """Draw the pooled power of every measure."""
    frame = tables.read("pooled").sort_values("%")
    with house_style():
        figure = Figure(figsize=(5, 0.3 * len(frame) + 0.8), layout="constrained")
        axes = figure.subplots()
        axes.plot(frame["%"], range(len(frame)), "o", color="#333333", markersize=4)
        axes.set_yticks(range(len(frame)), frame["measure"])
        axes.set(xlabel="significant pairs of runs, in percent")
        return sign_figure(figure, tables.tables["pooled"]["signature"])


PICTURES = {"pooled": draw_pooled}
