"""The hour of the study: every test on every cell (a kind of simulated study), batch by batch, and how errors are counted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.optimize import brentq

from experiments.studies.calibration import FOLDER, STUDY
from experiments.studies.calibration.designs import Simulated, count_topics, simulate_collection, simulate_design
from metaeval.datasets import built_folder
from metaeval.errors import MetaevalError
from metaeval.stats import paired_tests
from metaeval.stats.anova import residual_variance, studentised_range_tail
from metaeval.stats.streams import generator, stream_key

ALPHA = float(STUDY["alpha"])

KEPT = FOLDER / "tests" / "counts.csv"
"""The counts that are committed."""

COUNTS = ("studies", "with_false", "false", "found", "differing", "fdp", "power")
"""What is counted in a batch, summed over studies: the studies, those with at least one false difference, false
differences, true differences found, pairs that truly differ, false discovery proportions (0 where nothing is found), and
shares of the true differences that are found (of studies with any)."""


@dataclass(frozen=True)
class Cell:
    """One kind of simulated study."""

    group: str
    design: str
    n_runs: int
    n_topics: int
    effects: bool
    studies: int
    variants: bool = True

    @property
    def name(self) -> str:
        """What it is called in tables and keys."""
        runs = f", {self.n_runs} runs" if self.n_runs else ""
        return f"{self.design}{runs}, {self.n_topics} topics{', effects' if self.effects else ''}"

    def simulate(self, batch: int) -> Simulated:
        """Draw a batch of studies: the same ones for every test."""
        rng = generator(STUDY["seed"], "calibration", self.name, str(batch))
        if self.n_runs:
            return simulate_design(
                self.design, self.n_runs, self.n_topics, STUDY["batch"], effects=self.effects, rng=rng
            )
        collection, measure = self.design.split(": ")
        return simulate_collection(collection, measure, self.n_topics, STUDY["batch"], effects=self.effects, rng=rng)


@dataclass(frozen=True)
class Task:
    """One test on one cell."""

    cell: Cell
    test: str

    @property
    def name(self) -> str:
        """The cell and the test."""
        return f"{self.cell.name} | {self.test}"

    @property
    def n_batches(self) -> int:
        """How many batches of studies it has."""
        settings = STUDY["tests"][self.test]
        most = settings.get("studies", self.cell.studies)
        if self.cell.effects:
            most = settings.get("studies_with_effects", most)
        return min(self.cell.studies, most) // int(STUDY["batch"])


def list_tasks(
    missing: list[str] | None = None, groups: Sequence[Mapping[str, Any]] = tuple(STUDY["groups"])
) -> list[Task]:
    """Return every test on every cell, in the order in which they are computed."""
    cells = list(list_cells(missing if missing is not None else [], groups))
    tasks = [Task(cell, test) for cell in cells for test in STUDY["tests"] if _applies(test, cell)]
    return sorted(tasks, key=lambda task: STUDY["tests"][task.test].get("slow", False))


def _applies(test: str, cell: Cell) -> bool:
    settings = STUDY["tests"][test]
    has_differences = cell.effects or cell.design == "one hopeless run"
    if settings.get("steps_down") and not has_differences:
        return False
    if settings.get("variant") and not cell.variants:
        return False
    if settings.get("slow") and (not cell.n_runs or cell.n_runs > 22):
        return False  # B would be so large that a cell took hours
    return cell.n_topics in settings.get("topics", [cell.n_topics])


def list_cells(missing: list[str], groups: Sequence[Mapping[str, Any]] = tuple(STUDY["groups"])) -> Iterator[Cell]:
    """Yield the cells of all groups; collections that cannot be had are named in `missing`."""
    for group in groups:
        designs = [(design, n_runs) for design in group.get("designs", ()) for n_runs in group["runs"]]
        observed: dict[str, int] = {}
        for collection in STUDY["collections"] if group.get("collections") else ():
            try:
                observed[collection] = count_topics(collection)
            except MetaevalError as error:
                missing.append(f"{collection} ({error})")
                continue
            designs += [(f"{collection}: {measure}", 0) for measure in STUDY["collections"][collection]]
        for n_topics in group["topics"]:
            for design, n_runs in designs:
                n = observed[design.split(": ")[0]] if n_topics == "observed" else n_topics
                if n_topics == "observed" or n_runs or n != observed[design.split(": ")[0]]:
                    yield Cell(
                        group["name"], design, n_runs, n, group.get("effects", False), group["studies"],
                        group.get("variants", True),
                    )  # fmt: skip


def count_batch(task: Task, batch: int) -> list[float]:
    """Simulate and test one batch of studies, numbered from 0, and count errors: the numbers that `COUNTS` names."""
    values, means = task.cell.simulate(batch)
    key = stream_key(STUDY["seed"], "calibration", task.cell.name, str(batch), "trials")
    first, second = np.triu_indices(len(values), 1)
    differs = (means[first] != means[second]).T
    significant = find_significant(task.test, values, key)
    false = (significant & ~differs).sum(axis=1)
    true = (significant & differs).sum(axis=1)
    differing = differs.sum(axis=1)
    proportions = false / np.maximum(false + true, 1)
    powers = true[differing > 0] / differing[differing > 0]
    counts = (len(false), (false > 0).sum(), false.sum(), true.sum(), differing.sum())
    return [*(float(count) for count in counts), float(proportions.sum()), float(powers.sum())]


def find_significant(test: str, values: np.ndarray, key: int) -> np.ndarray:
    """Test all pairs of runs in each study."""
    settings = STUDY["tests"][test]
    options = dict(settings["options"])
    if options["test"] == "tukey-hsd":
        return _exceeds_critical_range(values)
    correction = options.pop("correction", None)
    if correction is not None:
        options["correction"] = "none"
    if "permutations" in settings:
        options |= {"n_permutations": count_permutations(test, len(values)), "key": key}
    p = paired_tests.all_pairs_test(values, **options).p
    return p <= ALPHA if correction is None else _is_significant_corrected(p, correction)


def count_permutations(test: str, n_runs: int) -> int:
    """Return B of a resampling test: with a correction, enough for a pair that no trial reached; 0 for other tests."""
    settings = STUDY["tests"][test]
    if "permutations" not in settings:
        return 0
    n_pairs = n_runs * (n_runs - 1) // 2
    least = 1000 * ceil(n_pairs / ALPHA / 1000) if "correction" in settings["options"] else 0
    return max(settings["permutations"], least)


def _is_significant_corrected(p: np.ndarray, correction: str) -> np.ndarray:
    """Decide as `metaeval.stats.paired_tests.correct` does, for all families at once."""
    order = np.argsort(p, axis=1)
    ordered = np.take_along_axis(p, order, axis=1)
    rank = np.arange(p.shape[1])
    if correction == "holm":
        rejected = np.logical_and.accumulate(ordered * (p.shape[1] - rank) <= ALPHA, axis=1)
    else:
        below = ordered * p.shape[1] / (rank + 1) <= ALPHA
        rejected = np.logical_or.accumulate(below[:, ::-1], axis=1)[:, ::-1]
    significant = np.empty_like(rejected)
    np.put_along_axis(significant, order, rejected, axis=1)
    return significant


def _exceeds_critical_range(values: np.ndarray) -> np.ndarray:
    """Decide as Tukey's HSD does, by its critical value: the p-value of every pair would take 400 times as long."""
    n_runs, n_topics, n_studies = values.shape
    first, second = np.triu_indices(n_runs, 1)
    means = values.mean(axis=1)
    variances = np.array([residual_variance(np.ascontiguousarray(values[..., k].T)) for k in range(n_studies)])
    critical = find_critical_range(n_runs, (n_runs - 1) * (n_topics - 1))
    return (np.abs(means[first] - means[second]) >= critical * np.sqrt(variances / n_topics)).T


@lru_cache
def find_critical_range(n_runs: int, df: int) -> float:
    """Return the studentised range that is exceeded with probability alpha."""
    return float(brentq(lambda q: float(studentised_range_tail(np.array([q]), n_runs, df)[0]) - ALPHA, 1.0, 20.0))


def find_folder(root: Path | None = None) -> Path:
    """Return where finished batches are kept: a folder for each set of settings that changes what is simulated."""
    fixed = {name: STUDY[name] for name in ("alpha", "seed", "batch", "effects", "collections", "tests")}
    digest = hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:12]
    return (root or built_folder()) / "calibration" / digest


def count_tasks(tasks: Iterable[Task], folder: Path, n_jobs: int = 1, most: int | None = None) -> pd.DataFrame:
    """Do the batches that are not done, at most so many a task, and return the counts.

    One row a test and cell: what it is, the sums of `COUNTS` over all batches, how much the number of studies with a false
    difference varies between batches (``dispersion``: variance over that of independent studies), standard errors of the
    mean of ``fdp`` and ``power`` from their spread between batches, and the first batch's counts.
    """
    cached = joblib.Memory(folder, verbose=0).cache(count_batch)
    todo = [(task, batch) for task in tasks for batch in range(min(task.n_batches, most or task.n_batches))]
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        counted = joblib.Parallel(n_jobs=n_jobs, verbose=1)(joblib.delayed(cached)(*call) for call in todo)
    batches: dict[Task, list[list[float]]] = {}
    for (task, _), counts in zip(todo, counted, strict=True):
        batches.setdefault(task, []).append(counts)
    return pd.DataFrame([_describe_task(task) | summarise_batches(np.array(rows)) for task, rows in batches.items()])


def _describe_task(task: Task) -> dict[str, object]:
    cell = task.cell
    n_runs = cell.n_runs or len(cell.simulate(0).values)
    return {
        "group": cell.group, "design": cell.design, "runs": n_runs, "topics": cell.n_topics, "effects": cell.effects,
        "test": task.test, "B": count_permutations(task.test, n_runs), "planned": task.n_batches * STUDY["batch"],
    }  # fmt: skip


def summarise_batches(batches: np.ndarray) -> dict[str, float]:
    """Return the sums over batches, what varies between them, and the first batch alone."""
    totals = dict(zip(COUNTS, batches.sum(axis=0).tolist(), strict=True))
    whole = {name: int(totals[name]) for name in COUNTS[:5]}
    n, size = len(batches), STUDY["batch"]
    share = totals["with_false"] / totals["studies"]
    expected = size * share * (1 - share)
    varies = n > 1 and expected > 0
    errors = batches[:, 5:].std(axis=0, ddof=1) / (size * np.sqrt(n)) if n > 1 else [np.nan, np.nan]
    return {
        **whole,
        "fdp": round(totals["fdp"], 6),
        "power": round(totals["power"], 6),
        "dispersion": round(float(batches[:, 1].var(ddof=1) / expected), 4) if varies else np.nan,
        "fdp_se": round(float(errors[0]), 6),
        "power_se": round(float(errors[1]), 6),
        "first_with_false": int(batches[0, 1]),
        "first_false": int(batches[0, 2]),
        "first_found": int(batches[0, 3]),
    }
