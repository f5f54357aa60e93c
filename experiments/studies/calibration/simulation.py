"""The hour of the study: every test on every cell (a kind of simulated study), batch by batch, and how errors are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd

from experiments.studies.calibration.designs import (
    DESIGNS,
    STUDY,
    Simulated,
    add_precise_copy,
    fit_collection,
    simulate_collection,
    simulate_design,
)  # fmt: skip
from metaeval.stats.error_rates import count_errors, decide
from metaeval.stats.irregular_runs import ODD, SKEWED, count_failures, shape_of_differences
from metaeval.stats.streams import generator, stream_key

BATCH = int(STUDY["batch"])


def run_all(judge: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_jobs: int) -> list[Any]:
    """Call a function with all of these arguments, so many at once, each on one processor."""
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        return list(joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(judge)(*call) for call in calls))


@dataclass(frozen=True)
class Cell:
    """One kind of simulated study; runs of a collection are drawn anew in every study. `truth` says what differs."""

    group: str
    half: str
    kind: str
    design: str
    n_runs: int
    n_topics: int
    truth: str = ""
    studies: int = 1000

    @property
    def name(self) -> str:
        """What it is called in keys."""
        return f"{self.design}, {self.n_runs} runs, {self.n_topics} topics{f', {self.truth}' if self.truth else ''}"

    def simulate(self, batch: int) -> Simulated:
        """Draw a batch of studies: the same ones for every test."""
        rng = generator(STUDY["seed"], "calibration", self.name, str(batch))
        simulate = simulate_design if self.design in DESIGNS else simulate_collection
        drawn = simulate(self.design, self.n_runs, self.n_topics, BATCH, effects=self.truth == "effects", rng=rng)
        return add_precise_copy(drawn, rng) if self.truth == "precise copy" else drawn


def list_cells(groups: Sequence[Mapping[str, Any]] = tuple(STUDY["groups"])) -> Iterator[Cell]:
    """Yield the cells of all groups, or raise a `metaeval.MetaevalError` that says which collection cannot be loaded."""
    for group in groups:
        truth = "effects" if group.get("effects") else "precise copy" if group.get("precise") else ""
        for half, kind, design, most in list_designs(group):
            for n_runs in group["runs"]:
                for n_topics in group["topics"]:
                    sizes = min(n_runs, most), n_topics
                    yield Cell(group["name"], half, kind, design, *sizes, truth, group.get("studies", STUDY["studies"]))


def list_designs(group: Mapping[str, Any]) -> Iterator[tuple[str, str, str, int]]:
    """Yield half, kind and name of the designs and collections of a group, and the most runs that they can have."""
    halves = group.get("halves", list(STUDY["collections"]))
    asked = group.get("designs", [])
    for name, design in DESIGNS.items():
        chosen = design.kind not in STUDY["special"] if asked is True else design.kind in asked
        if chosen and design.half in halves:
            yield design.half, design.kind, name, 10**6
    asked = group.get("collections", [])
    for half in halves:
        for collection, measures in STUDY["collections"][half].items():
            for measure in measures if asked is True or collection in asked else ():
                yield half, "real", f"{collection}: {measure}", len(fit_collection(collection, measure).copy_of)


def count_batch(cell: Cell, batch: int, tests: Sequence[str]) -> list[list[float]]:
    """Simulate and test one batch of studies: by test the studies, those with a false difference, and what is found.

    The last is the sum of the shares of true differences that are found; of a precise copy, the studies in which it is found.
    """
    simulated = cell.simulate(batch)
    key = stream_key(STUDY["seed"], "calibration", cell.name, str(batch), "trials")
    rows = []
    for test in tests:
        significant = find_significant(test, simulated.values, key)
        errors = count_errors(significant, simulated.means)
        shares = significant[:, 0] if cell.truth == "precise copy" else errors.found / np.maximum(errors.differing, 1)
        rows.append([float(len(significant)), float((errors.false > 0).sum()), float(shares.sum())])
    return rows


def find_significant(test: str, values: np.ndarray, key: int) -> np.ndarray:
    """Test all pairs of runs in each study, shape (study, pair)."""
    options = dict(STUDY["tests"][test])
    name = options.pop("test")
    return decide(
        name, values, alpha=STUDY["alpha"], key=key, options={"n_permutations": STUDY["permutations"], **options}
    )


def count_cells(cells: Iterable[Cell], n_jobs: int = 1) -> pd.DataFrame:
    """Return the counts of all cells, a row a cell and test.

    Cells in which the recommended test, the first, seems to err too often are simulated again with more studies.
    """
    tests, rows = list(STUDY["tests"]), []
    for cell in cells:
        n = cell.studies // BATCH
        batches = run_all(count_batch, ((cell, batch, tests) for batch in range(n)), n_jobs)
        if not cell.truth and summarise(batches, 0)["error"] > STUDY["most"]:
            batches += run_all(
                count_batch, ((cell, batch, tests) for batch in range(n, STUDY["again"] // BATCH)), n_jobs
            )
        about = {
            "group": cell.group, "half": cell.half, "kind": cell.kind, "design": cell.design, "runs": cell.n_runs,
            "topics": cell.n_topics, "truth": cell.truth,
        }  # fmt: skip
        rows += [about | {"test": test} | summarise(batches, k) for k, test in enumerate(tests)]
    return pd.DataFrame(rows)


FRESH = 1000
"""Number of the first batch of `confirm_cells`; no other study draws from it or those after it."""


def confirm_cells(rates: pd.DataFrame, n_jobs: int = 1) -> pd.DataFrame:
    """Return the errors of the recommended test in each checking cell of its domain, in as many fresh studies everywhere."""
    test, n = next(iter(STUDY["tests"])), STUDY["again"] // BATCH
    inside = rates[(rates["half"] == "checking") & rates["domain"] & (rates["truth"] == "") & (rates["test"] == test)]
    names = {*inside[["group", "design", "runs", "topics"]].itertuples(index=False, name=None)}
    rows = []
    for cell in list_cells():
        if not cell.truth and (cell.group, cell.design, cell.n_runs, cell.n_topics) in names:
            batches = run_all(count_batch, ((cell, FRESH + k, [test]) for k in range(n)), n_jobs)
            counts = summarise(batches, 0)
            rows.append((cell.design, cell.n_runs, cell.n_topics, counts["studies"], counts["error"]))
    return pd.DataFrame(rows, columns=["design", "runs", "topics", "studies", "error"])


def list_edges() -> Iterator[tuple[str, Cell]]:
    """Yield the cells that show where the words of the domain end, each with what it is about."""
    for group in STUDY["edges"]["cells"]:
        for name, design in DESIGNS.items():
            if name in group.get("designs", []) or (
                design.kind in group.get("kinds", []) and design.half in group["halves"]
            ):
                for n_runs, n_topics in group["sizes"]:
                    sizes = n_runs, n_topics, "", STUDY["edges"]["studies"]
                    yield group["about"], Cell("edges", design.half, design.kind, name, *sizes)


def count_edges(n_jobs: int = 1) -> pd.DataFrame:
    """Return the errors of the recommended test, and of Holm's, in each of these cells."""
    return pd.DataFrame([count_edge(about, cell, n_jobs) for about, cell in list_edges()])


def count_edge(about: str, cell: Cell, n_jobs: int = 1) -> dict[str, Any]:
    """Return the errors of both tests in a cell, in fresh studies, with the standard error of the first, and what is noted."""
    tests = [next(iter(STUDY["tests"])), "paired-t, Holm"]
    batches = run_all(count_batch, ((cell, FRESH + k, tests) for k in range(cell.studies // BATCH)), n_jobs)
    error, holm = (summarise(batches, test)["error"] for test in range(2))
    return {
        "about": about, "kind": cell.kind, "design": cell.design, "runs": cell.n_runs, "topics": cell.n_topics,
        "studies": cell.studies, "error": error, "se": round(float(np.sqrt(error * (1 - error) / cell.studies)), 6),
        "holm": holm, "noted": share_noted(cell),
    }  # fmt: skip


def share_noted(cell: Cell) -> float:
    """Return in which share of a batch of studies a result would carry a note on the differences of runs."""
    values = cell.simulate(FRESH).values
    skewness = np.abs(shape_of_differences(values)[1])
    noted = (np.nanmedian(skewness, axis=1) >= SKEWED) | (np.nanmax(skewness, axis=1) >= ODD)
    return float((noted | count_failures(values).any(axis=1)).mean())


def summarise(batches: Sequence[Sequence[Sequence[float]]], test: int) -> dict[str, float]:
    """Return the counts of one test over batches, its error, and its power with the standard error."""
    counts = np.array([batch[test] for batch in batches])
    studies, with_false, found = counts.sum(axis=0)
    spread = counts[:, 2].std(ddof=1) / (BATCH * np.sqrt(len(counts))) if len(counts) > 1 else np.nan
    return {
        "studies": int(studies),
        "with_false": int(with_false),
        "error": round(float(with_false / studies), 6),
        "power": round(float(found / studies), 6),
        "power_se": round(float(spread), 6),
    }
