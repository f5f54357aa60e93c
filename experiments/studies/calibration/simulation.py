"""The hour of the study: every test on every cell (a kind of simulated study), batch by batch, and how errors are counted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from experiments.classifiers import built_folder
from experiments.studies.calibration import FOLDER, STUDY
from experiments.studies.calibration.candidates import judge_candidates, judge_twice
from experiments.studies.calibration.designs import (
    DESIGNS,
    Simulated,
    add_precise_copy,
    fit_collection,
    list_collections,
    simulate_collection,
    simulate_design,
)  # fmt: skip
from metaeval.errors import MetaevalError
from metaeval.stats.error_rates import count_errors, decide
from metaeval.stats.irregular_runs import SKEWED, shape_of_differences
from metaeval.stats.streams import generator, stream_key

ALPHA, BATCH = float(STUDY["alpha"]), int(STUDY["batch"])

KEPT = FOLDER / "tests" / "counts.csv"
"""The counts that are committed."""

COUNTS = ("studies", "with_false", "found")
"""What is counted in a batch, summed over studies: the studies, those with at least one false difference, and shares of the
true differences that are found; of a precise copy, the studies in which it is found."""

YARDSTICK = "double bootstrap"


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
        """What it is called in tables and keys."""
        return f"{self.design}, {self.n_runs} runs, {self.n_topics} topics{f', {self.truth}' if self.truth else ''}"

    def simulate(self, batch: int) -> Simulated:
        """Draw a batch of studies: the same ones for every test."""
        rng = generator(STUDY["seed"], "calibration", self.name, str(batch))
        sizes, effects = (self.n_runs, self.n_topics, BATCH), self.truth == "effects"
        if self.design in DESIGNS:
            drawn = simulate_design(self.design, *sizes, effects=effects, rng=rng)
        else:
            drawn = simulate_collection(*self.design.split(": "), *sizes, effects=effects, rng=rng)
        return add_precise_copy(drawn, rng) if self.truth == "precise copy" else drawn


def list_cells(missing: list[str], groups: Sequence[Mapping[str, Any]] = tuple(STUDY["groups"])) -> Iterator[Cell]:
    """Yield the cells of all groups; collections that cannot be loaded are named in `missing`."""
    for group in groups:
        truth = "effects" if group.get("effects") else "precise copy" if group.get("precise") else ""
        for half, kind, design, most in [*_list_designs(group), *_list_columns(group, missing)]:
            for n_runs in group["runs"]:
                if n_runs != min(group["runs"]) and n_runs > most:
                    continue  # it has no more runs than in the cell before
                for n_topics in group["topics"]:
                    yield Cell(
                        group["name"], half, kind, design, min(n_runs, most), n_topics, truth,
                        group.get("studies", STUDY["studies"]),
                    )  # fmt: skip


def _list_designs(group: Mapping[str, Any]) -> Iterator[tuple[str, str, str, int]]:
    """Yield half, kind and name of the designs of a group, and the most runs that they can have."""
    asked, halves = group.get("designs", []), group.get("halves", ["choosing", "checking"])
    for name, design in DESIGNS.items():
        everything = asked is True and design.kind not in STUDY["special"]
        if (everything or (asked is not True and design.kind in asked)) and design.half in halves:
            yield design.half, design.kind, name, 10**6


def _list_columns(group: Mapping[str, Any], missing: list[str]) -> Iterator[tuple[str, str, str, int]]:
    """Yield the same of the real collections of a group."""
    asked = group.get("collections", [])
    for half in STUDY["collections"] if asked else ():
        if half not in group.get("halves", [half]):
            continue
        for collection, measures in list_collections(half).items():
            if asked is not True and collection not in asked:
                continue
            for measure in measures:
                try:
                    model = fit_collection(collection, measure)
                except MetaevalError as error:
                    missing.append(f"{collection} ({error})")
                    break
                yield half, "real", f"{collection}: {measure}", len(model.copy_of)


def count_batch(cell: Cell, batch: int, tests: tuple[str, ...]) -> list[list[float]]:
    """Simulate and test one batch of studies, numbered from 0: for every test the numbers that `COUNTS` names."""
    simulated = cell.simulate(batch)
    key = stream_key(STUDY["seed"], "calibration", cell.name, str(batch), "trials")
    return [_count(cell, find_significant(test, simulated.values, key), simulated.means) for test in tests]


def count_candidates(cell: Cell, batch: int) -> list[list[float]]:
    """Do the same with the candidates."""
    simulated = cell.simulate(batch)
    keys = [stream_key(STUDY["seed"], "calibration", cell.name, str(batch), "candidates", str(k)) for k in range(BATCH)]
    judged = [list(judge_candidates(simulated.values[..., k], key)) for k, key in enumerate(keys)]
    return [_count(cell, np.array(significant), simulated.means) for significant in zip(*judged, strict=True)]


def count_twice(cell: Cell, batch: int) -> list[list[float]]:
    """Do the same with the double bootstrap."""
    simulated, settings = cell.simulate(batch), STUDY["yardstick"]
    keys = [stream_key(STUDY["seed"], "calibration", cell.name, str(batch), "twice", str(k)) for k in range(BATCH)]
    sizes = settings["samples"], settings["resamples"]
    significant = [judge_twice(simulated.values[..., k], key, *sizes) for k, key in enumerate(keys)]
    return [_count(cell, np.array(significant), simulated.means)]


def _count(cell: Cell, significant: np.ndarray, means: np.ndarray) -> list[float]:
    errors = count_errors(significant, means)
    shares = significant[:, 0] if cell.truth == "precise copy" else errors.found / np.maximum(errors.differing, 1)
    return [float(len(significant)), float((errors.false > 0).sum()), float(shares.sum())]


LIMITS = (0.5, 1.0, 1.25, 1.5, 2.0)
"""Other skewnesses from which on the diagnostic could fire."""


def count_fires(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return in which share of the studies of a batch the diagnostic of skewness fires, one row a cell of equal runs."""
    rows = []
    for cell in cells:
        if not cell.truth and cell.n_runs <= 22 and cell.n_topics >= STUDY["enough_topics"]:
            _, by_pair, _, _ = shape_of_differences(cell.simulate(0).values)
            skewness = np.nanmedian(np.abs(by_pair), axis=1)
            known = np.nan_to_num(skewness)
            rows.append(
                _describe(cell)
                | {"skewness": round(float(np.median(skewness)), 4), "fires": float((known >= SKEWED).mean())}
                | {f"at {limit:g}": float((known >= limit).mean()) for limit in LIMITS}
            )
    return pd.DataFrame(rows)


def find_significant(test: str, values: np.ndarray, key: int) -> np.ndarray:
    """Test all pairs of runs in each study, shape (study, pair)."""
    options = dict(STUDY["tests"][test])
    name = options.pop("test")
    return decide(name, values, alpha=ALPHA, key=key, options={"n_permutations": STUDY["permutations"], **options})


def find_folder(root: Path | None = None) -> Path:
    """Return where finished batches are kept: a folder for each set of settings that changes what is simulated."""
    fixed = {
        name: STUDY[name] for name in ("alpha", "seed", "batch", "effects", "collections", "tests", "permutations")
    }
    digest = hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:12]
    return (root or built_folder()) / "calibration" / digest


def count_cells(cells: Iterable[Cell], folder: Path, n_jobs: int = 1, most: int | None = None) -> pd.DataFrame:
    """Do the batches that are not done, at most so many a cell, and return the counts: one row a cell and test.

    Cells in which the recommended test, the first, seems to err too often are simulated again with more studies; candidates and
    the double bootstrap are tried on cells of the choosing half.
    """
    memory = joblib.Memory(folder, verbose=0)
    work = Work(*map(memory.cache, (count_batch, count_candidates, count_twice)), n_jobs, most)
    cells = list(cells)
    return pd.DataFrame([*work.count_tests(cells), *work.count_candidates(cells), *work.count_twice(cells)])


Batches = dict[Cell, list[list[list[float]]]]
"""By cell, the numbers of every batch and test."""


@dataclass(frozen=True)
class Work:
    """What is done in a batch, each kept once it is done; on so many processes, and in so many batches a cell at most."""

    batch: Any
    candidates: Any
    twice: Any
    n_jobs: int
    most: int | None

    def count_tests(self, cells: Sequence[Cell]) -> Iterator[dict[str, object]]:
        """Count what every test does, again with more studies where the first one seems to err too often."""
        tests = tuple(STUDY["tests"])
        found = self._run([(self.batch, cell, k, (tests,)) for cell in cells for k in self._list(cell.studies)])
        doubtful = [cell for cell, b in found.items() if not cell.truth and summarise(b, 0)["error"] > STUDY["most"]]
        more = self._run(
            [
                (self.batch, cell, k, (tests,))
                for cell in doubtful
                for k in self._list(STUDY["again"], cell.studies // BATCH)
            ]
        )
        for cell, batches in found.items():
            yield from _tabulate(cell, [*batches, *more.get(cell, [])], tests)

    def count_candidates(self, cells: Sequence[Cell]) -> Iterator[dict[str, object]]:
        """Count what the candidates do on the choosing half."""
        settings = STUDY["candidates"]
        tried = [cell for cell in cells if cell.half == "choosing" and cell.group in settings["groups"]]
        sizes = [settings["studies_with_effects" if cell.truth else "studies"] for cell in tried]
        calls = [(self.candidates, cell, k, ()) for cell, n in zip(tried, sizes, strict=True) for k in self._list(n)]
        for cell, batches in self._run(calls).items():
            yield from _tabulate(cell, batches, settings["names"])

    def count_twice(self, cells: Sequence[Cell]) -> Iterator[dict[str, object]]:
        """Count what the double bootstrap does on a few cells."""
        some = [cell for cell in cells if cell.name in STUDY["yardstick"]["cells"]]
        calls = [(self.twice, cell, k, ()) for cell in some for k in self._list(STUDY["yardstick"]["studies"])]
        for cell, batches in self._run(calls).items():
            yield from _tabulate(cell, batches, [YARDSTICK])

    def _list(self, studies: int, start: int = 0) -> range:
        return range(start, min(studies // BATCH, self.most or studies))

    def _run(self, calls: list[tuple[Any, Cell, int, tuple[Any, ...]]]) -> Batches:
        with joblib.parallel_config("loky", inner_max_num_threads=1):
            counted = joblib.Parallel(n_jobs=self.n_jobs, verbose=1)(
                joblib.delayed(function)(cell, batch, *more) for function, cell, batch, more in calls
            )
        batches: Batches = {}
        for (_, cell, _, _), counts in zip(calls, counted, strict=True):
            batches.setdefault(cell, []).append(counts)
        return batches


def _tabulate(
    cell: Cell, batches: Sequence[Sequence[Sequence[float]]], tests: Sequence[str]
) -> Iterator[dict[str, object]]:
    """Yield a row for every test on a cell."""
    return (_describe(cell) | {"test": test} | summarise(batches, k) for k, test in enumerate(tests))


def _describe(cell: Cell) -> dict[str, object]:
    return {
        "group": cell.group, "half": cell.half, "kind": cell.kind, "design": cell.design, "runs": cell.n_runs,
        "topics": cell.n_topics, "truth": cell.truth,
    }  # fmt: skip


def summarise(batches: Sequence[Sequence[Sequence[float]]], test: int) -> dict[str, float]:
    """Return the counts of one test over batches, its error, its power with the standard error, and the first batch alone."""
    counts = np.array([batch[test] for batch in batches])
    studies, with_false, found = counts.sum(axis=0)
    spread = counts[:, 2].std(ddof=1) / (BATCH * np.sqrt(len(counts))) if len(counts) > 1 else np.nan
    return {
        "studies": int(studies),
        "with_false": int(with_false),
        "error": round(float(with_false / studies), 6),
        "power": round(float(found / studies), 6),
        "power_se": round(float(spread), 6),
        "first_with_false": int(counts[0, 1]),
        "first_found": round(float(counts[0, 2]), 6),
    }
