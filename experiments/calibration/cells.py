"""The cells of the table: what is simulated, which tests are tried on it, and how their errors are counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from experiments.calibration.copula import count_topics, simulate_collection
from experiments.calibration.decisions import find_significant
from experiments.calibration.designs import Simulated, simulate_design
from experiments.calibration.study import STUDY
from metaeval.errors import MetaevalError
from metaeval.stats.streams import generator, stream_key

COUNTS = ("studies", "with_false", "false", "found", "differing", "fdp", "power")
"""What is counted in a batch, summed over studies: the studies, those with at least one false difference, false
differences, true differences found, pairs that truly differ, false discovery proportions (0 where nothing is found), and
shares of the true differences that are found (of studies with any)."""


@dataclass(frozen=True)
class Cell:
    """One kind of simulated study.

    Parameters
    ----------
    group : str
        Of study.toml.
    design : str
        Of `experiments.calibration.designs.DESIGNS`; or a collection and a measure, with a colon between them.
    n_runs : int
        0 for a real collection: as many as it has.
    n_topics : int
    effects : bool
    studies : int
        At most so many.
    variants : bool
        Whether variants of tests are tried too.
    """

    group: str
    design: str
    n_runs: int
    n_topics: int
    effects: bool
    studies: int
    variants: bool = True

    @cached_property
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

    def count_batch(self, batch: int) -> list[float]:
        """Simulate and test one batch of studies, and count errors.

        Parameters
        ----------
        batch : int
            From 0.

        Returns
        -------
        list of float
            The numbers that `COUNTS` names.
        """
        values, means = self.cell.simulate(batch)
        key = stream_key(STUDY["seed"], "calibration", self.cell.name, str(batch), "trials")
        first, second = np.triu_indices(len(values), 1)
        differs = (means[first] != means[second]).T
        significant = find_significant(self.test, values, key)
        false = (significant & ~differs).sum(axis=1)
        found = (significant & differs).sum(axis=1)
        differing = differs.sum(axis=1)
        proportions = false / np.maximum(false + found, 1)
        powers = found[differing > 0] / differing[differing > 0]
        counts = (len(false), (false > 0).sum(), false.sum(), found.sum(), differing.sum())
        return [*(float(one) for one in counts), float(proportions.sum()), float(powers.sum())]


def list_tasks(
    missing: list[str] | None = None, groups: Sequence[Mapping[str, Any]] = tuple(STUDY["groups"])
) -> list[Task]:
    """Return every test on every cell, in the order in which they are computed.

    Parameters
    ----------
    missing : list of str, optional
        Takes the collections that could not be had, and why.
    groups : sequence of mapping, optional
        Of the study; all by default.

    Returns
    -------
    list of Task
    """
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
