"""The half of Sem17T4C that is public: how sure its topics are, how near it comes to print, and what that hangs on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

import metaeval
from experiments.acl2021 import audit
from experiments.acl2021.alignment import GapModel, align, find_certainty
from experiments.acl2021.nearness import compare_printed, draw_against_print, explain_choices, explain_distance
from experiments.outcome import Outcome, Settings
from metaeval.datasets import baselines, dataset, fetch
from metaeval.io.semeval_joined import JoinedRows, agree, read_rows

STUDY, PRINTED = audit.STUDY, audit.PRINTED
SOURCE, NAME = "semeval2017-runs", "Sem17T4C"
CHOICES = STUDY["subset"]
MODELS = {name: GapModel(**(CHOICES["model"] | change)) for name, change in CHOICES["models"].items()}
MEASURES = STUDY["classification_order"]
TAU = audit.read_triangle(PRINTED["table2"][NAME], MEASURES)
BINS = (0.0, 0.5, 0.9, 0.99, 1.0)
"""Where classes of certainty begin."""


def add_subset(outcome: Outcome, settings: Settings) -> None:
    """Add to the outcome of the source what only this source has.

    Parameters
    ----------
    outcome : Outcome
        With the cells of Tables 2 and 3.
    settings : Settings
    """
    settings.say("semeval2017-runs: alignment and sensitivity")
    rows = load_rows(settings)
    aligned = align_rows(rows)
    certainty = find_row_certainty(rows)
    topics = np.where(certainty.argmax(axis=1) < len(rows.topics), certainty.argmax(axis=1), -1)
    trials = [check_certainty(rows, kind, seed) for kind in CHOICES["trials"] for seed in range(CHOICES["n_trials"])]
    nearness = compare_printed(outcome.cells)
    sensitivity = tabulate_sensitivity(rows, aligned, certainty)
    outcome.tables["table2_nearness"] = metaeval.Table(
        nearness,
        "Numbers of Sem17T4C as printed and from half of its tweets: how near.",
        _sign("compared cell by cell, see comparison.csv"),
    )
    outcome.tables["table2_sensitivity"] = metaeval.Table(
        sensitivity,
        "The 36 τ of Table 2 (II) with other choices of topics, rows and runs; only the first row enters comparison.csv.",
        _sign("tau_a"),
    )
    outcome.tables["table2_alignment"] = metaeval.Table(
        tabulate_alignments(rows, aligned),
        "Topics of rows by alignment alone, under several gap penalties, against the topics by the join.",
        _sign("Gotoh's alignment with affine gaps"),
    )
    outcome.tables["table2_certainty"] = metaeval.Table(
        tabulate_certainty([("the published rows", certainty.max(axis=1), topics == _true_topics(rows)), *trials]),
        "Certainty of a row's topic by alignment (its probability over all alignments) against how often it is right: the "
        "published rows, whose topics are known by the join, and simulated rows, whose topics are known.",
        _sign(f"{CHOICES['n_trials']} trials of {CHOICES['n_topics']} topics each"),
    )
    outcome.figures["table2_print"] = lambda: draw_against_print(outcome.cells, _sign("see comparison.csv"))
    outcome.notes += describe_rows(rows, topics, certainty)
    outcome.notes += explain_distance(outcome.cells, nearness) + explain_choices(sensitivity)


def load_rows(settings: Settings) -> JoinedRows:
    """Return the published rows.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    JoinedRows
    """
    chosen = dataset(SOURCE)
    files = fetch(chosen, folder=settings.data)
    gold, polarity = files[chosen.gold], files[chosen.second_gold]
    runs = {path.stem: path for path in files.values() if path not in (gold, polarity)}
    return read_rows(gold, runs, polarity=polarity, classes=chosen.classes)


def spell_gold(rows: JoinedRows) -> tuple[np.ndarray, np.ndarray]:
    """Return the gold of both tasks as one symbol for each row, and for each item of the official order.

    Parameters
    ----------
    rows : JoinedRows

    Returns
    -------
    rows, items : ndarray of int
    """
    items = rows.polarity * 5 + rows.label
    return items[rows.judged], items


def align_rows(rows: JoinedRows) -> dict[str, np.ndarray]:
    """Return the topic of every row by alignment, for each gap model of study.toml.

    Parameters
    ----------
    rows : JoinedRows

    Returns
    -------
    dict of str to ndarray of int, shape (row,)
        −1: the row stems from no item.
    """
    symbols, items = spell_gold(rows)
    possible = np.flatnonzero(agree(rows.polarity, rows.label))
    found = {}
    for name, model in MODELS.items():
        item = align(symbols, items[possible], model)
        found[name] = np.where(item >= 0, rows.topic[possible[item]], -1)
    return found


def find_row_certainty(rows: JoinedRows) -> np.ndarray:
    """Return the probability of every topic for every row under the first gap model, the last column: of none.

    Parameters
    ----------
    rows : JoinedRows

    Returns
    -------
    ndarray, shape (row, topic + 1)
    """
    symbols, items = spell_gold(rows)
    possible = agree(rows.polarity, rows.label)
    return find_certainty(symbols, items[possible], rows.topic[possible], next(iter(MODELS.values())))


def check_certainty(rows: JoinedRows, kind: str, seed: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Drop items of some topics of the gold at random, align what is left, and see which topics come back.

    Parameters
    ----------
    rows : JoinedRows
        Of the gold only.
    kind : str
        One of the trials of study.toml: whole topics are dropped, or single items.
    seed : int

    Returns
    -------
    kind : str
    certainty : ndarray, shape (row,)
        Of the most probable topic.
    right : ndarray of bool, shape (row,)
    """
    rng = np.random.default_rng([seed, len(kind)])
    trial = CHOICES["trials"][kind]
    model = GapModel(**(CHOICES["model"] | trial.get("model", {})))
    chosen = np.sort(rng.choice(len(rows.topics), CHOICES["n_topics"], replace=False))
    there = np.flatnonzero(agree(rows.polarity, rows.label) & np.isin(rows.topic, chosen))
    symbols, topic = spell_gold(rows)[1][there], np.searchsorted(chosen, rows.topic[there])
    unit = topic if trial["drop"] == "topics" else np.arange(len(there))
    kept = np.flatnonzero((rng.random(unit.max() + 1) >= CHOICES["dropped"])[unit])
    doubled = np.sort(np.concatenate([kept, kept[rng.random(len(kept)) < CHOICES["doubled"]]]))
    found = find_certainty(symbols[doubled], symbols, topic, model)
    return kind, found.max(axis=1), found.argmax(axis=1) == topic[doubled]


def tabulate_certainty(parts: list[tuple[str, np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """Return how often topics are right by how certain they are said to be.

    Parameters
    ----------
    parts : list of (str, ndarray, ndarray of bool)
        What was tried, the certainty of rows, and whether their topics are right.

    Returns
    -------
    DataFrame
    """
    found = []
    for name in dict.fromkeys(part[0] for part in parts):
        certainty, right = (np.concatenate([part[k] for part in parts if part[0] == name]) for k in (1, 2))
        edges = zip(BINS, [*BINS[1:-1], np.inf], strict=False)
        for low, high in [(0.0, np.inf), *edges]:
            inside = (certainty >= low) & (certainty < high)
            label = "all" if high - low > 1e9 and low == 0 else f"from {low:g}"
            if inside.any():
                found.append([name, label, int(inside.sum()), certainty[inside].mean(), right[inside].mean()])
    columns = ["rows of", "certainty", "rows", "mean certainty", "share right"]
    return pd.DataFrame(found, columns=columns).set_index("rows of")


def tabulate_alignments(rows: JoinedRows, aligned: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return for every gap model its penalties, and how its topics compare with those by the join.

    Parameters
    ----------
    rows : JoinedRows
    aligned : mapping of str to ndarray of int, shape (row,)

    Returns
    -------
    DataFrame
    """
    found = []
    for name, topic in aligned.items():
        model, sizes = MODELS[name], np.bincount(topic[topic >= 0], minlength=len(rows.topics))
        same = topic == _true_topics(rows)
        numbers = [-np.log(model.skip), -np.log(model.skip_on), -np.log(model.foreign), -np.log(model.foreign_on)]
        found.append(
            [*numbers, int((topic >= 0).sum()), same[topic >= 0].mean(), int((sizes >= CHOICES["least"]).sum())]
        )
    penalties = ["open, skip", "extend, skip", "open, foreign", "extend, foreign"]
    columns = [*penalties, "rows aligned", "topic as by the join", f"topics of {CHOICES['least']} or more"]
    return pd.DataFrame(found, columns=columns, index=pd.Index(list(aligned), name="gap penalties"))


def tabulate_sensitivity(rows: JoinedRows, aligned: Mapping[str, np.ndarray], certainty: np.ndarray) -> pd.DataFrame:
    """Return how near the 36 τ come to print with other choices; the first row is the study's own.

    Parameters
    ----------
    rows : JoinedRows
    aligned : mapping of str to ndarray of int, shape (row,)
    certainty : ndarray, shape (row, topic + 1)

    Returns
    -------
    DataFrame
    """
    found = {}
    for name, topic, least, constants in _list_choices(rows, aligned, certainty):
        runs = rows.count(topic, least=least, classes=dataset(SOURCE).classes, collection=SOURCE)
        runs = add_constants(runs) if constants else runs
        tau = metaeval.ranking_similarity(metaeval.score(runs, MEASURES), n_bootstrap=0).to_frame()
        pairs = np.array([(printed, float(tau.loc[one, two])) for (one, two), printed in TAU.items()])  # type: ignore[arg-type]
        near = np.corrcoef(pairs.T)[0, 1], np.abs(pairs[:, 0] - pairs[:, 1]).mean()
        found[name] = [len(runs.runs), len(runs.topics), int(runs.gold.sum()), *near]
    columns = ["runs", "topics", "items", "Pearson", "mean |difference|"]
    return pd.DataFrame.from_dict(found, orient="index", columns=columns).rename_axis("choice")


def _list_choices(
    rows: JoinedRows, aligned: Mapping[str, np.ndarray], certainty: np.ndarray
) -> Iterator[tuple[str, np.ndarray, int, bool]]:
    """Yield the name of a choice, the topic of every row, the least size of a topic, and whether constant runs take part."""
    least, true = CHOICES["least"], _true_topics(rows)
    own = np.where(rows.own, true, -1)
    yield f"the study: {least} items or more, rows with their own gold", own, least, True
    for size in CHOICES["sizes"]:
        if size != least:
            yield f"{size} items or more", own, size, True
    yield "with rows that have the gold of another topic", true, least, True
    yield "without constant runs", own, least, False
    for name, topic in aligned.items():
        yield f"by alignment, {name}", topic, least, True
    best = certainty.argmax(axis=1)
    sure = (best < len(rows.topics)) & (certainty.max(axis=1) >= CHOICES["sure"])
    yield f"by alignment, rows of certainty {CHOICES['sure']:g} or more", np.where(sure, best, -1), least, True


def add_constants(runs: metaeval.ClassificationRuns) -> metaeval.ClassificationRuns:
    """Add a run for each class that always answers it.

    Parameters
    ----------
    runs : ClassificationRuns

    Returns
    -------
    ClassificationRuns
    """
    constant = [baselines.constant_class_counts(runs.gold, k) for k in range(len(runs.classes))]
    names = (*runs.runs, *(f"always-{label}" for label in runs.classes))
    return replace(runs, counts=np.concatenate([runs.counts, constant]), runs=names)


def describe_rows(rows: JoinedRows, topics: np.ndarray, certainty: np.ndarray) -> list[str]:
    """Say what the published rows are, and how sure that is.

    Parameters
    ----------
    rows : JoinedRows
    topics : ndarray of int, shape (row,)
        The most probable ones by alignment.
    certainty : ndarray, shape (row, topic + 1)

    Returns
    -------
    list of str
        Sentences.
    """
    true, n = _true_topics(rows), len(rows.answered)
    right, sure = topics == true, certainty.max(axis=1) >= CHOICES["sure"]
    doubled = n - len(np.unique(rows.answered))
    return [
        f"topics of rows: the {n:,} rows are answers about the {len(np.unique(true))} topics of one word, joined with gold by "
        f"tweet, without contradictory gold; this gives the published gold row by row, all {n:,} of {n:,}, and is checked "
        f"whenever the files are read. {int((~rows.own).sum())} rows have the gold of another topic and are left out; "
        f"{doubled} rows answer an item for the second time.",
        f"topics of rows by alignment, which knows nothing of that: {right.mean():.1%} of rows get the same topic; of the "
        f"{int(sure.sum()):,} rows of certainty {CHOICES['sure']:g} or more, {right[sure].mean():.2%}.",
        f"items: {len(np.unique(rows.answered[rows.own])):,} of the {int(np.isin(rows.topic, np.unique(true)).sum()):,} of "
        "these topics; those in which tasks A and C disagree are not among the published rows.",
    ]


def _true_topics(rows: JoinedRows) -> np.ndarray:
    topics: np.ndarray = rows.topic[rows.answered]
    return topics


def _sign(how: str) -> str:
    return f"{SOURCE} | {how} | metaeval {metaeval.__version__}"
