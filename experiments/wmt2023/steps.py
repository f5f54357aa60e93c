"""The steps: the tasks of every collection, task 1 over all of them, the average, and clusters of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.comparison import Cell, cell
from experiments.outcome import Outcome, Settings, load_groups, read_toml
from experiments.page import format_list
from experiments.wmt2023.beside import (
    Beside,
    describe_beside,
    draw_beside,
    judge_beside,
    look_without_reference,
    tabulate_beside,
)
from experiments.wmt2023.coverage import measure_coverage
from metaeval.analyses.agreement_statistics import name_statistic
from metaeval.show.drawing import Interval, draw_intervals
from metaeval.stats.swapping import find_clusters, swap_p_values

STUDY = read_toml(Path(__file__).parent / "study.toml")
PRINTED = read_toml(Path(__file__).parent / "printed.toml")
PAIRS = tuple(name for names in STUDY["groups"].values() for name in names)
SOURCES = ["", *PAIRS]
FIRST, *OWN = STUDY["tasks"]

SHARES = ("pairwise_accuracy", "acc_t")
"""Statistics from 0 to 1, which count as they are; correlations count as (r + 1)/2."""


def run(settings: Settings) -> list[Outcome]:
    """How do 32 metrics agree with people, and what do the analyses without people say of them?

    Parameters
    ----------
    settings : Settings
        ``quick`` leaves out all but one collection, and what needs all of them.

    Returns
    -------
    list of Outcome
    """
    missing: list[str] = []
    only = STUDY["quick"]["collections"] if settings.quick else None
    topics: dict[str, metaeval.Scores] = {}
    runs: dict[str, metaeval.Scores] = {}
    held: dict[str, metaeval.Agreement] = {}
    beside: dict[str, Beside] = {}
    outcomes = []
    for name, scores in load_groups(settings, STUDY["groups"], missing, only):
        settings.say(f"WMT 2023: {name}")
        topics[name], runs[name] = scores, settings.load(f"{name}-runs")
        held[name] = hold([scores], [runs[name]], [one["statistic"] for one in STUDY["tasks"]], settings)
        beside[name] = look_without_reference(scores, held[name], STUDY, settings)
        outcomes.append(compute_tables(name, held[name], beside[name]))
    together = Outcome("wmt2023", "")
    if settings.quick:
        together.lacks = ["all but one collection"]
    elif missing:
        together.lacks = missing
    else:
        first = hold(list(topics.values()), list(runs.values()), [FIRST["statistic"]], settings)
        _add_together(together, first, held, beside)
        settings.say("WMT 2023: coverage of intervals")
        population = topics[STUDY["coverage"]["collection"]]
        together.tables["coverage"] = measure_coverage(population, STUDY["coverage"], settings)
    return [together, *outcomes]


def hold(
    scores: list[metaeval.Scores], runs: list[metaeval.Scores], statistics: list[str], settings: Settings
) -> metaeval.Agreement:
    """Hold the metrics of some collections against the task's reference.

    Parameters
    ----------
    scores, runs : list of Scores
        Of segments, and of whole runs.
    statistics : list of str
    settings : Settings

    Returns
    -------
    Agreement
    """
    return metaeval.agreement(
        scores, reference=STUDY["reference"], run_scores=runs, statistics=statistics,
        n_permutations=STUDY["exchanges"], alpha=STUDY["alpha"], seed=settings.seed, n_jobs=settings.n_jobs,
    )  # fmt: skip


def compute_tables(name: str, held: metaeval.Agreement, beside: Beside) -> Outcome:
    """Return the tables of one collection.

    Parameters
    ----------
    name : str
    held : Agreement
    beside : Beside

    Returns
    -------
    Outcome
    """
    rows = held.to_frame().drop(columns="better_than")  # significance is that of the shared task: clusters
    rows = rows.set_index(["statistic", "measure"]).rename_axis(["statistic", "metric"])
    caption = f"Agreement of metrics with {held.reference}, with {100 * held.confidence:g} % intervals over segments."
    found = Outcome("wmt2023", name)
    found.tables = {
        "agreement": metaeval.Table(rows, caption, held.signature),
        "beside": tabulate_beside([beside]),
    }
    found.verdicts = judge_beside(beside)
    return found


@dataclass(frozen=True)
class Average:
    """The ten tasks in their order, and their weighted mean.

    Parameters
    ----------
    metrics : tuple of str
    tasks : ndarray, shape (task, metric)
    clusters : ndarray of int, shape (task, metric)
    average : ndarray, shape (metric,)
    p_values : ndarray, shape (metric, metric)
        Of exchange tests of the average, from the same exchanges as those of the tasks.
    average_clusters : ndarray of int, shape (metric,)
    """

    metrics: tuple[str, ...]
    tasks: np.ndarray
    clusters: np.ndarray
    average: np.ndarray
    p_values: np.ndarray
    average_clusters: np.ndarray


def average_tasks(first: metaeval.Agreement, held: dict[str, metaeval.Agreement]) -> Average:
    """Return the ten tasks and their average.

    Parameters
    ----------
    first : Agreement
        Task 1, of all collections.
    held : dict of str to Agreement
        Of each collection.

    Returns
    -------
    Average
    """
    parts: list[tuple[Any, dict[str, Any]]] = [(first, FIRST), *((one, task) for one in held.values() for task in OWN)]
    tasks, clusters, weighted, exchanged, total = [], [], 0.0, 0.0, 0.0
    for one, task in parts:
        place = one.statistics.index(task["statistic"])
        tasks.append(one.values[place])
        clusters.append(one.clusters[place])
        scale, shift = (1.0, 0.0) if task["statistic"] in SHARES else (0.5, 0.5)
        weighted = weighted + task["weight"] * (scale * one.values[place] + shift)
        exchanged = exchanged + task["weight"] * scale * one.exchanged[place]
        total += task["weight"]
    average = np.asarray(weighted / total)
    p_values = swap_p_values(average, np.asarray(exchanged / total))
    return Average(
        tuple(str(one) for one in first.measures), np.array(tasks), np.array(clusters), average, p_values,
        find_clusters(average, p_values, STUDY["alpha"]),
    )  # fmt: skip


def describe_tasks(first: metaeval.Agreement, held: dict[str, metaeval.Agreement]) -> list[str]:
    """Say what every task is, and how much it counts.

    Parameters
    ----------
    first : Agreement
        Task 1, of all collections.
    held : dict of str to Agreement
        Of each collection.

    Returns
    -------
    list of str
    """
    parts = [(", ".join(first.collections), FIRST), *((name, task) for name in held for task in OWN)]
    return [
        f"task{number}: {name_statistic(task['statistic'])}, {where}; weight {task['weight']}"
        + ("" if task["statistic"] in SHARES else ", counted as (r + 1)/2")
        for number, (where, task) in enumerate(parts, start=1)
    ]


def _add_together(
    together: Outcome, first: metaeval.Agreement, held: dict[str, metaeval.Agreement], beside: dict[str, Beside]
) -> None:
    """Add the ten tasks, their average and its clusters, and what all collections say together."""
    found = average_tasks(first, held)
    order = np.argsort(-found.average, kind="stable")
    index = pd.Index([found.metrics[m] for m in order], name="metric")
    names = [f"task{number}" for number in range(1, len(found.tasks) + 1)]
    signature = _sign([first, *held.values()])
    values = np.column_stack([found.average, found.tasks.T])[order]
    main = pd.DataFrame(values, index=index, columns=["average", *names])
    clusters = np.column_stack([found.average_clusters, found.clusters.T])[order]
    places = pd.DataFrame(clusters, index=index, columns=main.columns)
    one, two = np.triu_indices(len(order), 1)
    pairs = pd.DataFrame(
        {
            "metric_1": index[one],
            "metric_2": index[two],
            "difference": found.average[order[one]] - found.average[order[two]],
            "p_first": found.p_values[order[one], order[two]],
            "p_second": found.p_values[order[two], order[one]],
        }
    ).set_index(["metric_1", "metric_2"])
    words = pd.DataFrame(np.where(clusters == 1, "bold", ""), index=index, columns=main.columns)
    together.tables = {
        "main": metaeval.Table(
            main, "Agreement of metrics with MQM on every task, and their average; the first significance cluster bold.",
            signature, marks=lambda _: words,
        ),
        "clusters": metaeval.Table(places, "Significance clusters of the average and of every task.", signature),
        "differences": metaeval.Table(pairs, "Differences of averages, with one-sided p-values.", signature),
        "beside": tabulate_beside(list(beside.values())),
    }  # fmt: skip
    together.cells = compare_values(main)
    together.texts["tasks"] = format_list(describe_tasks(first, held))
    together.texts["beside"] = format_list(describe_beside(list(beside.values()), main["average"]))
    rows = [
        Interval(found.metrics[m], f"{found.metrics[m]} ({found.average_clusters[m]})", found.average[m])
        for m in order[::-1]
    ]
    label = "weighted average of all tasks; in brackets the significance cluster"
    together.figures = {
        "average": partial(_draw_average, rows, label, signature),
        "beside": partial(draw_beside, list(beside.values())),
    }


def _draw_average(rows: list[Interval], label: str, signature: metaeval.Signature) -> Figure:
    return draw_intervals(rows, label, signature, row_height=0.24)


def _sign(results: list[metaeval.Agreement]) -> metaeval.Signature:
    """Sign for tasks over all collections and on each: with the names of all statistics, and all scores of runs."""
    first, last = results[0].signature, results[-1].signature
    kept = {**dict(last.settings), **{"run scores": dict(first.settings)["run scores"]}}
    return metaeval.Signature(first.analysis, first.data, tuple(kept.items()), first.version)


def compare_values(main: pd.DataFrame) -> list[Cell]:
    """Return every value beside the one in print.

    Parameters
    ----------
    main : DataFrame
        One row per metric; columns average, task1, ….

    Returns
    -------
    list of Cell
    """
    return [
        cell(
            PRINTED["item"], metric, column, printed, float(main.loc[metric, column]),
            data=", ".join(PAIRS), digits=PRINTED["digits"],
        )
        for metric, values in PRINTED["values"].items()
        for column, printed in zip(PRINTED["columns"], values, strict=True)
    ]  # fmt: skip
