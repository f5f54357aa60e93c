"""Runs ranked by a judge and few labels of people: how often intervals hold."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.old.outcome import Outcome, Settings, read_toml
from experiments.studies.calibration import RESULTS, STUDY as CALIBRATION
from metaeval.analyses.qrels import parse_measures, score_judged
from metaeval.stats.prediction_powered import Corrected, correct_means, spread_weights

STUDY = read_toml(Path(__file__).with_suffix(".toml"))
SOURCES = [""]
NONE = "people alone"
NOISE = "noise"
ALL = "all together"
KEYS = ["collection", "judge", "labels"]


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


def load_hidden(name: str, settings: Settings, lacks: list[str]) -> Hidden | None:
    """Return a collection with people's scores and those of its judges; None if it cannot be loaded."""
    if name == "dl21":
        return load_dl21(settings, lacks)
    if name.startswith("made-"):
        return make_favour(name, settings.seed)
    settings.say(f"loading {name}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", metaeval.MetaevalWarning)  # odd labels are spoken of on the page of wmt2023
            loaded = settings.load(name)
    except metaeval.MetaevalError as error:
        lacks.append(f"{name} ({error})")
        return None
    scores = loaded.sel(measures=[STUDY["reference"], *STUDY["judges"]["wmt23"]])
    signs = np.array([measure.sign for measure in scores.measures])
    people, *judges = (scores.values * signs).transpose(2, 0, 1)
    return Hidden(people, dict(zip(STUDY["judges"]["wmt23"], judges, strict=True)))


def load_dl21(settings: Settings, lacks: list[str]) -> Hidden | None:
    """Return nDCG@10 of TREC Deep Learning 2021 under the judgements of people and of six judges."""
    folder = Path(settings.data or os.environ.get("METAEVAL_DATA", "")) / "dl21"
    names = ["human", *STUDY["judges"]["dl21"]]
    if not (folder / "qrels").is_dir():
        lacks.append("dl21 (its folder is not among the data)")
        return None
    try:
        measures = parse_measures(["nDCG@10"])
    except metaeval.MetaevalError as error:
        lacks.append(f"dl21 ({error})")
        return None
    judged = metaeval.io.read_judged_runs([folder / "qrels" / f"{name}.txt" for name in names], folder / "runs")
    people, *judges = score_judged(judged, measures, judged.judgements)[0].transpose(2, 0, 1)
    return Hidden(people, dict(zip(names[1:], judges, strict=True)))


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
            found = correct_means(
                people,
                given,
                weights,
                target=target,
                key=draw,
                n_trials=STUDY["n_trials"],
                confidence=STUDY["confidence"],
            )
            results[name].append(judge_draw(found, truth))
    return results


def count_draws(name: str, n: int, *, few: bool = False) -> int:
    """Return how often n labels of a collection are drawn: less often if they are few, or its runs many."""
    draws = STUDY["few_draws"] if few or n in STUDY["few"] else STUDY["draws"]
    return int(min(draws, STUDY["slow"].get(name, draws)))


def tabulate_draws(name: str, n: int, results: Mapping[str, list[Draw]]) -> Iterator[dict[str, Any]]:
    """Yield a row a judge: how often all intervals held, and how often a wrong run was called better."""
    for judge, draws in results.items():
        table = np.array(draws, dtype=float)
        alone = np.array(results[NONE], dtype=float) if NONE in results else table
        yield {
            "collection": name, "judge": judge, "labels": n, "draws": len(draws),
            "holds": int(table[:, 0].sum()), "wrong": int(table[:, 1].sum()), "decided": table[:, 2].mean(),
            "width": table[:, 3].mean() / alone[:, 3].mean(),
        }  # fmt: skip


def judge_alone(name: str, data: Hidden, judges: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what each judge's own scores on all topics say, as though they were people's."""
    shape = data.people.shape
    for judge in judges:
        found = correct_means(
            data.judges[judge],
            np.zeros((0, *shape)),
            np.ones(shape),
            key=0,
            n_trials=2000,
            confidence=STUDY["confidence"],
        )
        decided = found.signs != 0
        wrong = decided & (found.signs * data.truth <= 0)
        yield {
            "collection": name,
            "judge": judge,
            "pairs": len(decided),
            "decided": int(decided.sum()),
            "wrong": int(wrong.sum()),
        }


def run(settings: Settings) -> list[Outcome]:
    """Simulate all collections with ``--full``; otherwise one cell, beside what is committed."""
    outcome = Outcome("few_labels", "", tolerance=STUDY["tolerance"])
    kept = {name: read_committed(name) for name in ("coverage", "population", "alone")}
    fresh: dict[str, list[dict[str, Any]]] = {name: [] for name in kept}
    quick = STUDY["quick"]
    for name, sizes in STUDY["labels"].items():
        if not settings.full and name != quick["collection"]:
            continue
        data = load_hidden(name, settings, outcome.lacks)
        if data is None:
            continue
        if not settings.full:
            results = simulate(data, [quick["judge"], NONE], quick["labels"], STUDY["draws"], settings.seed)
            fresh["coverage"] += [row for row in tabulate_draws(name, quick["labels"], results) if row["judge"] != NONE]
            continue
        names = list(data.judges)
        for n in sizes:
            settings.say(f"{name}: {n} labels")
            results = simulate(data, [NONE, NOISE, *names], n, count_draws(name, n), settings.seed)
            fresh["coverage"] += tabulate_draws(name, n, results)
            if len(names) > 1:
                several = simulate(data, [NONE, ALL], n, count_draws(name, n, few=True), settings.seed)
                fresh["coverage"] += [row for row in tabulate_draws(name, n, several) if row["judge"] == ALL]
        fresh["alone"] += judge_alone(name, data, names)
        judge = STUDY["population"][name]
        for n in sizes:
            results = simulate(data, [NONE, judge], n, count_draws(name, n) // 2, settings.seed, target="population")
            fresh["population"] += tabulate_draws(name, n, results)
    captions = {
        "coverage": "Labels hidden again and again: in how many draws all intervals held, in how many a run was called "
        "better that is not, the share of pairs decided, and the mean width of intervals beside those of people alone.",
        "population": "The same of the population, of which the topics are a sample.",
        "alone": "What each judge's own scores on all topics decide, and how many of these pairs are wrong by people.",
    }
    for name, caption in captions.items():
        table = join_rows(kept[name], fresh[name])
        if len(fresh[name]) < len(table):
            outcome.kept[name] = (
                f"{len(fresh[name])} of {len(table)} rows were computed again, the others read from the results"
            )
        if len(table):
            signed = f"few_labels | {name} | trials {STUDY['n_trials']} | seed {settings.seed}"
            outcome.tables[name] = metaeval.Table(table.set_index("collection"), caption, signed)
    return [outcome]


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    tables = {name: table.frame.reset_index() for name, table in outcomes[0].tables.items()}
    return {"names": [name for name in STUDY["labels"] if name.startswith("wmt23")], "study": CALIBRATION, **tables}


def read_committed(name: str) -> pd.DataFrame:
    """Return a table of the committed results, without rows where there is none."""
    path = RESULTS / "few_labels" / f"{name}.csv"
    return pd.read_csv(path) if path.exists() else pd.DataFrame({"collection": []})


def join_rows(committed: pd.DataFrame, rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return what is committed with some rows as they come out now, in the committed order."""
    fresh = pd.DataFrame(list(rows))
    if committed.empty or fresh.empty:
        return fresh if committed.empty else committed
    keys = [key for key in KEYS if key in fresh]
    joined = pd.concat([committed, fresh], ignore_index=True).drop_duplicates(keys, keep="last")
    order = {tuple(row): place for place, row in enumerate(committed[keys].itertuples(index=False))}
    places = [order.get(tuple(row), len(order)) for row in joined[keys].itertuples(index=False)]
    return joined.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)
