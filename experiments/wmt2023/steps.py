"""The tasks of every collection, task 1 over all of them, the average, clusters of metrics, and whether intervals hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.page import Folder
from experiments.paper import Results, Settings, cell, load_groups, read_study
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.drawing import draw_charts
from metaeval.stats.agreement import parse_statistic
from metaeval.stats.letters import find_clusters, swap_p_values
from metaeval.stats.streams import generator

STUDY = read_study("wmt2023")
PROGRAM, COLLECTIONS = STUDY["program"], STUDY["collections"]
FIRST, *OWN = STUDY["tasks"]

SHARES = ("pairwise_accuracy", "acc_t")
"""Statistics from 0 to 1, which count as they are; correlations count as (r + 1)/2."""


def run(settings: Settings) -> Results:
    """Hold 32 metrics against people on three collections, as the shared task does."""
    results, left = Results("wmt2023"), {}
    topics, runs, agreements = {}, {}, {}
    statistics = [task["statistic"] for task in STUDY["tasks"]]
    for name, scores in load_groups(settings, {"wmt23": COLLECTIONS}, left):
        settings.say(f"wmt2023: {name}")
        topics[name], runs[name] = scores, settings.load(f"{name}-runs")
        agreements[name] = compute_agreement([scores], [runs[name]], statistics, settings)
    if left:
        tables = ("agreement", "main", "clusters", "differences", "comparison", "coverage")
        results.left_out = dict.fromkeys(tables, f"needs {', '.join(left)}")
        return results
    first = compute_agreement(list(topics.values()), list(runs.values()), [FIRST["statistic"]], settings)
    how = f"{', '.join(COLLECTIONS)} | k {STUDY['exchanges']:,} | alpha {STUDY['alpha']:g} | seed {settings.seed}"
    frames = {  # significance is that of the shared task: clusters
        name: agreement.to_frame().drop(columns="better_than").set_index(["statistic", "measure"])
        for name, agreement in agreements.items()
    }
    rows = pd.concat(frames, names=["collection", "statistic", "metric"])
    results.add(
        "agreement", rows, f"Agreement of metrics with {first.reference}, with 95 % intervals over segments.", how=how
    )
    mean = average_tasks(first, agreements)
    order = np.argsort(-mean.average, kind="stable")
    index = pd.Index([str(first.measures[m]) for m in order], name="metric")
    values = np.column_stack([mean.average, mean.tasks.T])[order]
    main = pd.DataFrame(values, index=index, columns=PROGRAM["columns"])
    results.add("main", main, "Agreement of metrics with MQM on every task, and their average.", how=how)
    clusters = np.column_stack([mean.average_clusters, mean.clusters.T])[order]
    caption = "Significance clusters of the average and of every task."
    results.add("clusters", pd.DataFrame(clusters, index=index, columns=main.columns), caption, how=how)
    first_of, second_of = np.triu_indices(len(order), 1)
    pairs = pd.DataFrame(
        {
            "metric_1": index[first_of],
            "metric_2": index[second_of],
            "difference": mean.average[order[first_of]] - mean.average[order[second_of]],
            "p_first": mean.p_values[order[first_of], order[second_of]],
            "p_second": mean.p_values[order[second_of], order[first_of]],
        }
    ).set_index(["metric_1", "metric_2"])
    results.add("differences", pairs, "Differences of averages, with one-sided p-values.", how=how)
    results.compare("comparison", compare_values(main))
    if settings.wants("coverage"):
        settings.say("wmt2023: coverage of intervals")
        study = STUDY["coverage"]
        caption = (
            f"Share of {study['studies']} studies of {study['topics']} topics, drawn from {study['collection']}, in which the "
            f"interval held the mean over all studies: over {len(study['metrics'])} metrics, the least, and the most."
        )
        how = f"{', '.join(study['metrics'])} | trials {study['trials']} | seed {settings.seed}"
        results.add("coverage", measure_coverage(topics[study["collection"]], study, settings), caption, how=how)
    return results


def compute_agreement(
    scores: list[metaeval.Scores], runs: list[metaeval.Scores], statistics: list[str], settings: Settings
) -> metaeval.Agreement:
    """Hold the metrics of some collections against the task's reference, by scores of segments and of whole runs."""
    return metaeval.agreement(
        scores, reference=STUDY["reference"], run_scores=runs, statistics=statistics,
        n_permutations=STUDY["exchanges"], alpha=STUDY["alpha"], seed=settings.seed,
    )  # fmt: skip


class Average(NamedTuple):
    """The ten tasks in their order, and their weighted mean."""

    tasks: np.ndarray
    clusters: np.ndarray
    average: np.ndarray
    p_values: np.ndarray
    average_clusters: np.ndarray


def average_tasks(first: metaeval.Agreement, agreements: dict[str, metaeval.Agreement]) -> Average:
    """Return the ten tasks and their average."""
    parts: list[tuple[Any, dict[str, Any]]] = [
        (first, FIRST),
        *((agreement, task) for agreement in agreements.values() for task in OWN),
    ]
    tasks, clusters, weighted, observed, exchanged, total = [], [], 0.0, 0.0, 0.0, 0.0
    for agreement, task in parts:
        row = agreement.statistics.index(task["statistic"])
        tasks.append(agreement.values[row])
        clusters.append(agreement.clusters[row])
        scale, shift = (1.0, 0.0) if task["statistic"] in SHARES else (0.5, 0.5)
        weighted = weighted + task["weight"] * (scale * agreement.values[row] + shift)
        observed = observed + task["weight"] * scale * agreement.results[row].observed
        exchanged = exchanged + task["weight"] * scale * agreement.exchanged[row]
        total += task["weight"]
    average = np.asarray(weighted / total)
    p_values = swap_p_values(np.asarray(observed / total), np.asarray(exchanged / total))
    found = find_clusters(average, p_values, STUDY["alpha"])
    return Average(np.array(tasks), np.array(clusters), average, p_values, found)


def compare_values(main: pd.DataFrame) -> list[dict[str, Any]]:
    """Return every value beside that of the task's program."""
    data = ", ".join(COLLECTIONS)
    return [
        cell(PROGRAM["item"], metric, column, text, float(main.loc[metric, column]), data=data)
        for metric, texts in PROGRAM["values"].items()
        for column, text in zip(PROGRAM["columns"], texts, strict=True)
    ]


def measure_coverage(scores: metaeval.Scores, study: dict[str, Any], settings: Settings) -> pd.DataFrame:
    """Draw topics with replacement many times, and count how often an interval holds the mean of all draws."""
    rng = generator(settings.seed, scores.collection, "coverage of agreement")
    chosen = scores.sel(measures=[STUDY["reference"], *study["metrics"]])
    values, low, high = [], [], []
    for number in range(study["studies"]):
        drawn = chosen.values[:, rng.integers(0, len(chosen.topics), study["topics"])]
        sample = metaeval.Scores(
            drawn, runs=chosen.runs, topics=range(study["topics"]), measures=chosen.measures, collection=str(number)
        )
        agreement = metaeval.agreement(
            sample, reference=STUDY["reference"], n_permutations=study["trials"], n_bootstrap=study["trials"],
            seed=settings.seed,
        )  # fmt: skip
        values.append(agreement.values)
        low.append(agreement.low)
        high.append(agreement.high)
    truth = np.mean(values, axis=0)
    held = ((np.array(low) <= truth + 1e-12) & (truth - 1e-12 <= np.array(high))).mean(axis=0)
    return pd.DataFrame(
        {
            "population": scores.collection,
            "runs": len(chosen.runs),
            "topics": study["topics"],
            "studies": study["studies"],
            "nominal": agreement.confidence,
            "coverage": held.mean(axis=1),
            "least": held.min(axis=1),
            "most": held.max(axis=1),
        },
        index=pd.Index(agreement.statistics, name="statistic"),
    )


def draw_average(tables: Folder) -> Figure:
    """Draw the metrics by their average, with their significance clusters."""
    main, clusters = tables.read("main"), tables.read("clusters")
    rows = [
        Row(metric, f"{metric} ({cluster})", value)
        for metric, cluster, value in zip(main["metric"], clusters["average"], main["average"], strict=True)
    ]
    label = "weighted average of all tasks; in brackets the significance cluster"
    return draw_charts(IntervalChart(rows, label, row_height=0.24), tables.tables["main"]["signature"])


PICTURES = {"average": draw_average}


def describe(_: Folder) -> dict[str, Any]:
    """Return what the page names: data sets, and what every task is and how much it counts."""
    parts = [(", ".join(COLLECTIONS), FIRST), *((name, task) for name in COLLECTIONS for task in OWN)]
    tasks = [
        f"task{number}: {parse_statistic(task['statistic']).title}, {where}; weight {task['weight']}"
        + ("" if task["statistic"] in SHARES else ", counted as (r + 1)/2")
        for number, (where, task) in enumerate(parts, start=1)
    ]
    return {"names": [part for name in COLLECTIONS for part in (name, f"{name}-runs")], "tasks": tasks}
