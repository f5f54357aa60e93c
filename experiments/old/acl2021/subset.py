"""The half of Sem17T4C that is public: how sure its topics are, how near it comes to print, and what that hangs on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

import metaeval
from experiments.acl2021.study import PRINTED, STUDY, read_triangle
from experiments.old.outcome import Outcome, Settings
from metaeval.datasets import baselines, dataset, fetch
from metaeval.datasets.semeval_joined import JoinedRows, read_rows

SOURCE, NAME = "semeval2017-runs", "Sem17T4C"
CHOICES = STUDY["subset"]
MEASURES = STUDY["classification_order"]
TAU = read_triangle(PRINTED["table2"][NAME], MEASURES)


def add_subset(outcome: Outcome, settings: Settings) -> None:
    """Add to the outcome of the source what only this source has: what comes out with other choices, and what its rows are."""
    settings.say("semeval2017-runs: sensitivity")
    rows = load_rows(settings)
    frame, same = tabulate_sensitivity(rows)
    outcome.tables["table2_sensitivity"] = metaeval.Table(
        frame,
        "The 36 τ of Table 2 (II) with other choices of topics, rows and runs; only the first row enters comparison.csv. "
        f"The same choice as the study's, and without a row: {', '.join(same)}.",
        f"{SOURCE} | tau_a | metaeval {metaeval.__version__}",
    )
    outcome.notes.append(describe_rows(rows))


def load_rows(settings: Settings) -> JoinedRows:
    """Return the published rows."""
    chosen = dataset(SOURCE)
    files = fetch(chosen, folder=settings.data)
    gold, polarity = files[chosen.gold], files[chosen.second_gold]
    runs = {path.stem: path for path in files.values() if path not in (gold, polarity)}
    return read_rows(gold, runs, polarity=polarity, classes=chosen.classes)


def tabulate_sensitivity(rows: JoinedRows) -> tuple[pd.DataFrame, list[str]]:
    """Return how near the 36 τ come to print with other choices, and which choices are no other than the study's own.

    The first row is the study's own.
    """
    numbers: dict[str, list[float]] = {}
    same = []
    for name, topic, least, constants in _list_choices(rows):
        runs = rows.count(topic, least=least, classes=dataset(SOURCE).classes, collection=SOURCE)
        runs = add_constants(runs) if constants else runs
        sizes = [len(runs.runs), len(runs.topics), int(runs.gold.sum())]
        if any(sizes == before[:3] for before in numbers.values()):  # a choice takes rows away, or adds some
            same.append(name)
            continue
        tau = metaeval.ranking_similarity(metaeval.score(runs, MEASURES), n_bootstrap=0).to_frame()
        pairs = np.array([(printed, float(tau.loc[first, second])) for (first, second), printed in TAU.items()])  # type: ignore[arg-type]
        near = np.corrcoef(pairs.T)[0, 1], np.abs(pairs[:, 0] - pairs[:, 1]).mean()
        numbers[name] = [*sizes, *near]
    columns = ["runs", "topics", "items", "Pearson", "mean |difference|"]
    return pd.DataFrame.from_dict(numbers, orient="index", columns=columns).rename_axis("choice"), same


def _list_choices(rows: JoinedRows) -> Iterator[tuple[str, np.ndarray, int, bool]]:
    """Yield the name of a choice, the topic of every row, the least size of a topic, and whether constant runs take part."""
    least, true = CHOICES["least"], _find_topics(rows)
    chosen = np.where(rows.unmixed, true, -1)
    yield f"the study: {least} items or more, rows with their own gold", chosen, least, True
    for size in CHOICES["sizes"]:
        if size != least:
            yield f"{size} items or more", chosen, size, True
    yield "with rows that have the gold of another topic", true, least, True
    yield "without constant runs", chosen, least, False


def add_constants(runs: metaeval.ClassificationRuns) -> metaeval.ClassificationRuns:
    """Add a run for each class that always answers it."""
    constant = [baselines.constant_class_counts(runs.gold, k) for k in range(len(runs.classes))]
    names = (*runs.runs, *(f"always-{label}" for label in runs.classes))
    return replace(runs, counts=np.concatenate([runs.counts, constant]), runs=names)


def describe_rows(rows: JoinedRows) -> str:
    """Say what the published rows are, and how their topics are known."""
    true, n = _find_topics(rows), len(rows.answered)
    return (
        f"The {n:,} published rows are answers about the {len(np.unique(true))} topics of one word, joined with the gold by "
        f"tweet, without contradictory gold: this gives the published gold row by row, all {n:,} of {n:,}, and is checked "
        f"whenever the files are read. {int((~rows.unmixed).sum())} rows have the gold of another topic and are left out; "
        f"{n - len(np.unique(rows.answered))} answer an item for the second time."
    )


def _find_topics(rows: JoinedRows) -> np.ndarray:
    topics: np.ndarray = rows.topic[rows.answered]
    return topics
