"""Runs ranked by a judge and few labels of people: labels are hidden again and again, and intervals held against the truth."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.page import Folder
from experiments.paper import Results, Settings, read_study
from metaeval.errors import DataError
from metaeval.measures.retrieval import parse_measure, score_rankings
from metaeval.stats.prediction_powered import Corrected, correct_means, spread_weights

STUDY = read_study("few_labels")
NONE, NOISE, ALL = "people alone", "noise", "all together"

CAPTIONS = {
    "coverage": "Labels hidden again and again: in how many draws all intervals held, in how many a run was called "
    "better that is not, the share of pairs decided, and the mean width of intervals beside those of people alone.",
    "population": "The same of the population, of which the topics are a sample.",
    "alone": "What each judge's own scores on all topics decide, and how many of these pairs are wrong by people.",
}


def run(settings: Settings) -> Results:
    """Simulate all collections, with ``--full`` only."""
    results = Results("few_labels")
    if not settings.full:
        results.left_out = dict.fromkeys(CAPTIONS, "takes hours: --full simulates it")
        return results
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in CAPTIONS}
    for name, sizes in STUDY["labels"].items():
        try:
            data = load_hidden(name, settings)
        except metaeval.MetaevalError as error:
            results.left_out = dict.fromkeys(CAPTIONS, f"needs {name}: {error}")
            return results
        names = list(data.judges)
        for n in sizes:
            settings.say(f"few_labels: {name}, {n} labels")
            drawn = simulate(data, [NONE, NOISE, *names], n, count_draws(name, n), settings.seed)
            rows["coverage"] += tabulate_draws(name, n, drawn)
            if len(names) > 1:
                drawn = simulate(data, [NONE, ALL], n, count_draws(name, n, few=True), settings.seed)
                rows["coverage"] += [row for row in tabulate_draws(name, n, drawn) if row["judge"] == ALL]
            judges = [NONE, STUDY["population"][name]]
            drawn = simulate(data, judges, n, count_draws(name, n) // 2, settings.seed, target="population")
            rows["population"] += tabulate_draws(name, n, drawn)
        rows["alone"] += judge_alone(name, data)
    how = f"trials {STUDY['n_trials']} | seed {settings.seed}"
    for name, caption in CAPTIONS.items():
        results.add(name, pd.DataFrame(rows[name]).set_index("collection"), caption, how=how)
    return results


class Hidden(NamedTuple):
    """Scores of people on all topics, shape (run, topic), which are hidden but for some, and those of judges by name."""

    people: np.ndarray
    judges: Mapping[str, np.ndarray]

    @property
    def truth(self) -> np.ndarray:
        """The difference of every pair of runs, shape (pair,)."""
        first, second = np.triu_indices(len(self.people), 1)
        means = self.people.mean(axis=1)
        return means[first] - means[second]


def load_hidden(name: str, settings: Settings) -> Hidden:
    """Return a collection with people's scores and those of its judges, the larger the better."""
    judges = STUDY["judges"][name.partition("-")[0]]
    if name.startswith("made-"):
        return make_favour(name, settings.seed)
    if name == "dl21":  # nDCG@10 of TREC Deep Learning 2021 under the judgements of people and of six judges
        folder = Path(settings.data or os.environ.get("METAEVAL_DATA", "")) / name
        if not (folder / "qrels").is_dir():
            raise DataError(f"its folder is not among the data: put runs/ and qrels/ into {folder}")
        qrels = [folder / "qrels" / f"{judge}.txt" for judge in ("human", *judges)]
        judged = metaeval.io.read_judged_runs(qrels, folder / "runs")
        people, *values = score_rankings(
            judged.runs, judged.judgements, judged.topics, parse_measure("nDCG@10")[1]
        ).transpose(2, 0, 1)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", metaeval.MetaevalWarning)  # odd labels are spoken of on the page of wmt2023
            scores = settings.load(name).sel(measures=[STUDY["reference"], *judges])
        signs = np.array([measure.sign for measure in scores.measures])
        people, *values = (scores.values * signs).transpose(2, 0, 1)
    return Hidden(people, dict(zip(judges, values, strict=True)))


def make_favour(name: str, seed: int) -> Hidden:
    """Make right and wrong answers of twelve runs to 2,000 questions, and a judge that is right but for a rare favour.

    On 3 % of the questions it calls all answers of a family of four runs right; or 4 % of the wrong answers of two runs.
    """
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=(12, 2000)) + rng.normal(size=2000) + np.linspace(-0.3, 0.3, 12)[:, np.newaxis]
    people = (skill > 0).astype(float)
    judge = people.copy()
    if name == "made-family":
        judge[:4, rng.random(2000) < 0.03] = 1.0
    else:
        judge[:2][rng.random((2, 2000)) < 0.04] = 1.0
    return Hidden(people, {"favour": judge})


class Draw(NamedTuple):
    """What came of one draw: whether all intervals hold, whether a wrong run is called better, and what is decided."""

    holds: bool
    wrong: bool
    decided: float
    width: float


def judge_draw(found: Corrected, truth: np.ndarray) -> Draw:
    """Compare what is concluded with the truth."""
    holds = bool((np.abs(found.differences - truth) <= found.reach + 1e-9).all())
    wrong = bool(((found.signs != 0) & (found.signs * truth <= 0)).any())
    return Draw(holds, wrong, float((found.signs != 0).mean()), float(found.reach.mean()))


def simulate(
    data: Hidden, judges: Sequence[str], n: int, draws: int, seed: int, *, target: Any = "topics"
) -> dict[str, list[Draw]]:
    """Hide all but n labels again and again, and correct each judge by them."""
    shape, truth = data.people.shape, data.truth
    results: dict[str, list[Draw]] = {name: [] for name in judges}
    options = {"target": target, "n_trials": STUDY["n_trials"], "confidence": STUDY["confidence"]}
    for draw in range(draws):
        rng = np.random.default_rng((seed, n, draw))
        columns = np.arange(shape[1]) if target == "topics" else rng.integers(0, shape[1], shape[1])
        known = np.zeros(shape, dtype=bool)
        known[:, rng.choice(shape[1], size=n, replace=False)] = True
        people = np.where(known, data.people[:, columns], np.nan)
        weights = spread_weights(known)
        for name in judges:
            if name == NONE:
                given = np.zeros((0, *shape))
            elif name == ALL:
                given = np.array(list(data.judges.values()))[:, :, columns]
            else:
                given = (rng.normal(size=shape) if name == NOISE else data.judges[name][:, columns])[np.newaxis]
            results[name].append(judge_draw(correct_means(people, given, weights, key=draw, **options), truth))
    return results


def count_draws(name: str, n: int, *, few: bool = False) -> int:
    """Return how often n labels of a collection are drawn: less often if they are few, or its runs many."""
    draws = STUDY["few_draws"] if few or n in STUDY["few"] else STUDY["draws"]
    return int(min(draws, STUDY["slow"].get(name, draws)))


def tabulate_draws(name: str, n: int, results: Mapping[str, list[Draw]]) -> Iterator[dict[str, Any]]:
    """Yield a row a judge: how often all intervals held, and how often a wrong run was called better."""
    alone = np.array(results[NONE], dtype=float)
    for judge, draws in results.items():
        table = np.array(draws, dtype=float)
        yield {
            "collection": name, "judge": judge, "labels": n, "draws": len(draws),
            "holds": int(table[:, 0].sum()), "wrong": int(table[:, 1].sum()), "decided": table[:, 2].mean(),
            "width": table[:, 3].mean() / alone[:, 3].mean(),
        }  # fmt: skip


def judge_alone(name: str, data: Hidden) -> Iterator[dict[str, Any]]:
    """Yield what each judge's own scores on all topics say, as though they were people's."""
    shape = data.people.shape
    for judge, scores in data.judges.items():
        found = correct_means(
            scores, np.zeros((0, *shape)), np.ones(shape), key=0, n_trials=2000, confidence=STUDY["confidence"]
        )
        decided = found.signs != 0
        wrong = int((decided & (found.signs * data.truth <= 0)).sum())
        yield {
            "collection": name,
            "judge": judge,
            "pairs": len(decided),
            "decided": int(decided.sum()),
            "wrong": wrong,
        }


def describe(tables: Folder) -> dict[str, Any]:
    """Return what the page asks for by name: its tables, and the data sets."""
    names = [name for name in STUDY["labels"] if name.startswith("wmt23")]
    return {"names": names, **{name: tables.read(name) for name in CAPTIONS}}
