"""The steps: the tasks of every collection, task 1 over all of them, the average, and clusters of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.old.claims import list_claims, tabulate_claims, try_claims
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings, load_groups, read_toml
from experiments.old.page import format_list
from experiments.old.tables import sign_alike
from experiments.wmt2023 import claims
from experiments.wmt2023.beside import Beside, describe_beside, draw_beside, look_without_people, tabulate_beside
from experiments.wmt2023.coverage import measure_coverage
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.drawing import draw_charts
from metaeval.stats.agreement import parse_statistic
from metaeval.stats.letters import find_clusters, swap_p_values

STUDY = read_toml(Path(__file__).parent / "study.toml")
PRINTED = read_toml(Path(__file__).parent / "printed.toml")
PAIRS = tuple(name for names in STUDY["groups"].values() for name in names)
SOURCES = [""]
PICTURES = {"": ("average", "beside")}
FIRST, *OWN = STUDY["tasks"]

SHARES = ("pairwise_accuracy", "acc_t")
"""Statistics from 0 to 1, which count as they are; correlations count as (r + 1)/2."""


def run(settings: Settings) -> list[Outcome]:
    """How do 32 metrics agree with people? ``quick`` leaves out all but one collection, and what needs all of them."""
    missing: list[str] = []
    only = STUDY["quick"]["collections"] if settings.quick else None
    topics: dict[str, metaeval.Scores] = {}
    runs: dict[str, metaeval.Scores] = {}
    agreements: dict[str, metaeval.Agreement] = {}
    beside: dict[str, Beside] = {}
    for name, scores in load_groups(settings, STUDY["groups"], missing, only):
        settings.say(f"WMT 2023: {name}")
        topics[name], runs[name] = scores, settings.load(f"{name}-runs")
        statistics = [task["statistic"] for task in STUDY["tasks"]]
        agreements[name] = compute_agreement([scores], [runs[name]], statistics, settings)
        beside[name] = look_without_people(scores, agreements[name], STUDY, settings)
    outcome = Outcome("wmt2023", "", lacks=["all but one collection"] if settings.quick else missing)
    if not agreements:
        return [outcome]
    outcome.tables = tabulate_collections(agreements, beside)
    if not outcome.lacks:
        first = compute_agreement(list(topics.values()), list(runs.values()), [FIRST["statistic"]], settings)
        _add_together(outcome, first, agreements, beside)
        settings.say("WMT 2023: coverage of intervals")
        population = topics[STUDY["coverage"]["collection"]]
        outcome.tables["coverage"] = measure_coverage(population, STUDY["coverage"], settings)
    return [outcome]


def describe(_: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page names: the data sets."""
    return {"names": [part for name in PAIRS for part in (name, f"{name}-runs")]}


def compute_agreement(
    scores: list[metaeval.Scores], runs: list[metaeval.Scores], statistics: list[str], settings: Settings
) -> metaeval.Agreement:
    """Hold the metrics of some collections against the task's reference, by scores of segments and of whole runs."""
    return metaeval.agreement(
        scores, reference=STUDY["reference"], run_scores=runs, statistics=statistics,
        n_permutations=STUDY["exchanges"], alpha=STUDY["alpha"], seed=settings.seed,
    )  # fmt: skip


def tabulate_collections(
    agreements: dict[str, metaeval.Agreement], beside: dict[str, Beside]
) -> dict[str, metaeval.Table]:
    """Return what every collection says by itself: agreement of metrics, what is seen without people, and the claims."""
    frames = {}
    for name, agreement in agreements.items():  # significance is that of the shared task: clusters
        frames[name] = agreement.to_frame().drop(columns="better_than").set_index(["statistic", "measure"])
    first = next(iter(agreements.values()))
    rows = pd.concat(frames, names=["collection", "statistic", "metric"])
    caption = f"Agreement of metrics with {first.reference}, with {100 * first.confidence:g} % intervals over segments."
    single = {name: tabulate_beside([look]) for name, look in beside.items()}
    each = next(iter(single.values()))
    looks = pd.concat({name: table.frame for name, table in single.items()}, names=["collection"])
    facts = {name: claims.Facts(name, look.frame) for name, look in beside.items()}
    findings = try_claims(list_claims(claims), facts)
    return {
        "agreement": metaeval.Table(rows, caption, sign_alike(first.signature, list(agreements)[1:])),
        "beside_collections": metaeval.Table(looks, each.whole_caption, sign_alike(each.signature, list(beside)[1:])),
        "claims": tabulate_claims(
            findings, "Claims, collection by collection.", sign_alike(first.signature, list(beside)[1:])
        ),
    }


@dataclass(frozen=True)
class Average:
    """The ten tasks in their order, and their weighted mean."""

    metrics: tuple[str, ...]
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
    return Average(
        tuple(str(metric) for metric in first.measures), np.array(tasks), np.array(clusters), average, p_values,
        find_clusters(average, p_values, STUDY["alpha"]),
    )  # fmt: skip


def describe_tasks(first: metaeval.Agreement, agreements: dict[str, metaeval.Agreement]) -> list[str]:
    """Say what every task is, and how much it counts."""
    parts = [(", ".join(first.collections), FIRST), *((name, task) for name in agreements for task in OWN)]
    return [
        f"task{number}: {parse_statistic(task['statistic']).title}, {where}; weight {task['weight']}"
        + ("" if task["statistic"] in SHARES else ", counted as (r + 1)/2")
        for number, (where, task) in enumerate(parts, start=1)
    ]


def _add_together(
    outcome: Outcome, first: metaeval.Agreement, agreements: dict[str, metaeval.Agreement], beside: dict[str, Beside]
) -> None:
    """Add the ten tasks, their average and its clusters, and what all collections say together to the outcome."""
    mean = average_tasks(first, agreements)
    order = np.argsort(-mean.average, kind="stable")
    index = pd.Index([mean.metrics[m] for m in order], name="metric")
    names = [f"task{number}" for number in range(1, len(mean.tasks) + 1)]
    signature = _sign([first, *agreements.values()])
    values = np.column_stack([mean.average, mean.tasks.T])[order]
    main = pd.DataFrame(values, index=index, columns=["average", *names])
    clusters = np.column_stack([mean.average_clusters, mean.clusters.T])[order]
    ranks = pd.DataFrame(clusters, index=index, columns=main.columns)
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
    marks = pd.DataFrame(np.where(clusters == 1, "bold", ""), index=index, columns=main.columns)
    outcome.tables |= {
        "main": metaeval.Table(
            main, "Agreement of metrics with MQM on every task, and their average; the first significance cluster bold.",
            signature, marks=lambda _: marks,
        ),
        "clusters": metaeval.Table(ranks, "Significance clusters of the average and of every task.", signature),
        "differences": metaeval.Table(pairs, "Differences of averages, with one-sided p-values.", signature),
        "beside": tabulate_beside(list(beside.values())),
    }  # fmt: skip
    outcome.cells, outcome.beside = compare_values(main), PRINTED["beside"]
    outcome.texts["tasks"] = format_list(describe_tasks(first, agreements))
    outcome.texts["beside"] = format_list(describe_beside(list(beside.values()), main["average"]))
    rows = [Row(mean.metrics[m], f"{mean.metrics[m]} ({mean.average_clusters[m]})", mean.average[m]) for m in order]
    label = "weighted average of all tasks; in brackets the significance cluster"
    outcome.figures = {
        "average": partial(_draw_average, rows, label, signature),
        "beside": partial(draw_beside, list(beside.values())),
    }


def _draw_average(rows: list[Row], label: str, signature: metaeval.Signature) -> Figure:
    return draw_charts(IntervalChart(rows, label, row_height=0.24), signature)


def _sign(results: list[metaeval.Agreement]) -> metaeval.Signature:
    """Sign for tasks over all collections and on each: with the names of all statistics, and all scores of runs."""
    first, last = results[0].signature, results[-1].signature
    settings = {**dict(last.settings), **{"run scores": dict(first.settings)["run scores"]}}
    return metaeval.Signature(first.analysis, first.data, tuple(settings.items()), first.version)


def compare_values(main: pd.DataFrame) -> list[Cell]:
    """Return every value beside that of the task's program."""
    return [
        cell(
            PRINTED["item"], metric, column, printed, float(main.loc[metric, column]),
            data=", ".join(PAIRS), digits=PRINTED["digits"],
        )
        for metric, values in PRINTED["values"].items()
        for column, printed in zip(PRINTED["columns"], values, strict=True)
    ]  # fmt: skip
