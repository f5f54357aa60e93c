"""RepLab 2013: what its gold and the one system published with the authors' code allow of the real half of Table 3."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

import metaeval
from experiments.amigo2020.real import MEASURES, ROWS
from experiments.old.outcome import Outcome, Settings
from metaeval.datasets import baselines, dataset, fetch
from metaeval.errors import DatasetError, PolicyWarning, UndefinedValueWarning
from metaeval.io import evall
from metaeval.io.classification import Labels, classification_runs
from metaeval.measures.closeness import proximity

NAME, SOURCE = "replab2013-cem", "replab2013"
FARTHEST, LEFT_OUT = "farthest", "left out"
POLICIES = {
    FARTHEST: "an item without an answer counts as the class farthest from its gold",
    LEFT_OUT: "an item without an answer is taken out of the gold",
}
"""What is done about items of the gold that the system has no answer for, or one outside the classes."""


def compute_replab(settings: Settings) -> Outcome:
    """Describe the gold, and score its system and the runs that always answer one class."""
    outcome = Outcome("amigo2020", SOURCE)
    try:
        found, skipped = load_policies(settings)
    except DatasetError as error:
        outcome.notes = [f"{NAME} could not be loaded ({error})"]
        return outcome
    whole, answered = found[FARTHEST], found[LEFT_OUT]
    missing = int(whole.gold.sum() - answered.gold.sum())
    signed = f"{NAME} | {whole.gold.sum():,} items | {len(whole.topics)} companies | metaeval {metaeval.__version__}"
    outcome.tables["gold"] = metaeval.Table(
        describe_gold(whole.gold, whole.classes), "RepLab 2013: the shares of classes in the gold.", signed
    )
    outcome.tables["closeness"] = metaeval.Table(
        tabulate_closeness(whole.gold, whole.classes),
        "RepLab 2013: how close an answer (column) is to the gold class (row) by CEM_ORD, in bits, all companies together.",
        signed,
    )
    outcome.tables["scores"] = metaeval.Table(
        tabulate_scores(found),
        "Scores of the one system and of runs that always answer one class by the measures of Table 3: all companies together, "
        "and averaged over companies.",
        signed,
    )
    outcome.notes = [
        f"the system's file: {', '.join(skipped)}",
        f"items of the gold without an answer: {missing} of {whole.gold.sum():,}; "
        + "; or ".join(POLICIES.values())
        + " (both are shown)",
        f"the authors' code keeps such an item in the gold and gives it no closeness: CEM_ORD is then "
        f"{score_as_published(_pool(whole), _pool(answered)):.4f} for all companies together and "
        f"{score_as_published(whole, answered):.4f} on average over companies",
        "coverage and robustness (Table 3, §5.4) compare rankings of runs and need the outputs of the other RepLab runs, "
        "which are not public: nothing of the column RepLab 2013 can be computed from one run",
    ]
    return outcome


def load_policies(settings: Settings) -> tuple[dict[str, metaeval.ClassificationRuns], list[str]]:
    """Return the counts of the system under each of `POLICIES`, and which lines of its file were skipped."""
    chosen = dataset(NAME)
    files = fetch(chosen, folder=settings.data)
    gold = evall.read_gold(files[chosen.gold])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PolicyWarning)
        system = evall.read_run(files[chosen.runs], gold)
    skipped = [re.sub(r"^.*?: skipped lines: ", "skipped ", str(one.message)) for one in told]
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolicyWarning)  # reported as numbers
        for name in POLICIES:
            truth = gold if name == FARTHEST else keep_answered(gold, system, chosen.classes)
            given = system if name == FARTHEST else keep_answered(system, truth, chosen.classes)
            found[name] = classification_runs(
                truth, {"SYS": given}, chosen.classes, missing="worst", invalid="worst", collection=NAME
            )
    return found, skipped


def keep_answered(labels: Labels, other: Labels, classes: tuple[str, ...]) -> Labels:
    """Return the items that have one of the classes in another file too."""
    keys = zip(other.topics, other.items, strict=True)
    there = {key for key, label in zip(keys, other.labels, strict=True) if label in classes}
    keep = [row for row, key in enumerate(zip(labels.topics, labels.items, strict=True)) if key in there]
    topics, items, values = ([column[row] for row in keep] for column in (labels.topics, labels.items, labels.labels))
    return Labels(labels.file, topics, items, values, [labels.lines[row] for row in keep])


def describe_gold(gold: np.ndarray, classes: tuple[str, ...]) -> pd.DataFrame:
    """Return the shares of classes: all companies together, and how they vary from company to company."""
    shares = gold / gold.sum(axis=1, keepdims=True)
    rows = {
        "all companies together": gold.sum(axis=0) / gold.sum(),
        "mean over companies": shares.mean(axis=0),
        "smallest": shares.min(axis=0),
        "largest": shares.max(axis=0),
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(classes)).rename_axis("share of class")


def tabulate_closeness(gold: np.ndarray, classes: tuple[str, ...]) -> pd.DataFrame:
    """Return CEM_ORD's closeness of every answer to every gold class, from the gold of all companies."""
    return pd.DataFrame(
        proximity(gold.sum(axis=0)), index=pd.Index(classes, name="gold"), columns=[f"answer {one}" for one in classes]
    )


def tabulate_scores(found: Mapping[str, metaeval.ClassificationRuns]) -> pd.DataFrame:
    """Return the scores of the system under each policy, and of constant runs, by the measures of Table 3."""
    columns = {}
    for policy, runs in found.items():
        columns[f"system, {policy}, together"] = _score(_pool(runs))[0]
        columns[f"system, {policy}, mean"] = _score(runs)[0]
    whole = found[FARTHEST]
    constant = np.stack([baselines.constant_class_counts(whole.gold, k) for k in range(len(whole.classes))])
    always = replace(whole, counts=constant, runs=tuple(f"always {label}" for label in whole.classes))
    columns |= {f"{run}, mean": scores for run, scores in zip(always.runs, _score(always), strict=True)}
    return pd.DataFrame(columns, index=pd.Index(ROWS, name="measure"))


def score_as_published(whole: metaeval.ClassificationRuns, answered: metaeval.ClassificationRuns) -> float:
    """Return the mean CEM_ORD of the system where items without an answer have no closeness, as in the authors' code."""
    close = proximity(whole.gold)
    reached = (close * answered.counts[0]).sum(axis=(-2, -1))
    perfect = (np.diagonal(close, axis1=-2, axis2=-1) * whole.gold).sum(axis=-1)
    return float((reached / perfect).mean())


def _pool(runs: metaeval.ClassificationRuns) -> metaeval.ClassificationRuns:
    """Return the runs with all topics as one."""
    return replace(runs, counts=runs.counts.sum(axis=1, keepdims=True), topics=("all",))


def _score(runs: metaeval.ClassificationRuns) -> np.ndarray:
    """Return the mean scores over topics, shape (run, measure)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedValueWarning)  # documented values of constant runs
        means: np.ndarray = metaeval.score(runs, MEASURES).values.mean(axis=1)
    return means
