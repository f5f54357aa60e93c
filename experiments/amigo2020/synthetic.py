"""The synthetic half of Table 3 (§5.3): mean and spread over seeds beside the printed cells, and other readings."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import metaeval
from experiments.amigo2020.figures import draw_against_print
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings, read_toml
from experiments.simulate.synthetic import synthetic_runs
from metaeval.errors import UndefinedValueWarning
from metaeval.show.cells import NOTHING

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")

ROWS = list(STUDY["measures"])
BESIDE: dict[str, str] = STUDY["beside"]
"""Rows that print does not have: the same measure with another value for constant runs."""

COLUMNS = list(STUDY["columns"])
AS_LABELLED = np.array([PRINTED["synthetic"][row] for row in ROWS])
CLOSE = 0.03
"""How near a cell has to be to count as met."""

DEVIATIONS = 3
"""Standard deviations over seeds by which one printed draw may be away from the mean."""


def exchange_rows(table: np.ndarray, one: str, two: str) -> np.ndarray:
    """Return a table with two of its rows exchanged."""
    order = list(range(len(ROWS)))
    order[ROWS.index(one)], order[ROWS.index(two)] = ROWS.index(two), ROWS.index(one)
    return table[order]


EXCHANGED = exchange_rows(AS_LABELLED, *STUDY["exchanged"])


@dataclass(frozen=True)
class Fit:
    """How near a reproduction is to print, one number a criterion."""

    deviation: float
    close: int
    spearman: float
    columns: tuple[float, ...]

    @classmethod
    def of(cls, found: np.ndarray, printed: np.ndarray) -> Fit:
        """Compare two tables, shape (row, column)."""
        gap = np.abs(found - printed)
        by_column = tuple(float(spearmanr(a, b).statistic) for a, b in zip(found.T, printed.T, strict=True))
        close = int((gap <= CLOSE + 1e-9).sum())
        return cls(float(gap.mean()), close, float(spearmanr(found.ravel(), printed.ravel()).statistic), by_column)


def compute_coverages(
    seed: int,
    *,
    runs: dict[str, Any] | None = None,
    measures: dict[str, str] | None = None,
    without: Sequence[str] = (),
) -> np.ndarray:
    """Simulate once and return the coverage of every measure in every column."""
    taken = {**STUDY["measures"], **(measures or {})}
    reference = [taken[row] for row in ROWS if STUDY["measures"][row] in STUDY["reference"]]
    scores = _scores(seed, tuple((runs or {}).items())).sel(measures=[*taken.values(), *_list_beside(taken)])
    table = np.empty((len(scores.measures), len(COLUMNS)))
    for c, left_out in enumerate(STUDY["columns"].values()):
        kept = [run for run in scores.runs if run.rpartition("-")[0] != left_out and run not in without]
        table[:, c] = metaeval.coverage(scores.sel(runs=kept), reference=reference, n_bootstrap=0).rows["coverage"]
    return table


def _list_beside(taken: Mapping[str, str]) -> list[str]:
    """Return the measures beside those of the paper; a reading that takes one of them has it once."""
    return [one for one in BESIDE.values() if one not in taken.values()]


@functools.lru_cache(maxsize=32)
def _scores(seed: int, choices: tuple[tuple[str, Any], ...]) -> metaeval.Scores:
    """Score once what several readings look at."""
    others = [name for one in STUDY["readings"].values() for name in one.get("measures", {}).values()]
    with warnings.catch_warnings():
        # The runs that always return one class: κ and Pearson 0, as decided; the inputs of the study say so.
        warnings.simplefilter("ignore", UndefinedValueWarning)
        wanted = dict.fromkeys([*STUDY["measures"].values(), *BESIDE.values(), *others])
        return metaeval.score(synthetic_runs(seed, **dict(choices)), list(wanted))


def compute_synthetic(settings: Settings) -> tuple[Outcome, np.ndarray]:
    """Return what came out and the coverages, shape (seed, row, column); unless quick, of other readings too."""
    seeds = range(settings.seed, settings.seed + STUDY["seeds"])
    readings = {"this reading": {}} | ({} if settings.quick else STUDY["readings"])
    settings.say(f"Table 3, synthetic half: {len(seeds)} seeds, {len(readings)} readings")
    # One seed is one piece of work: readings that look at the same runs share their scores.
    by_seed = joblib.Parallel(n_jobs=settings.n_jobs)(joblib.delayed(cover_readings)(seed, readings) for seed in seeds)
    everything = {name: np.stack([one[name] for one in by_seed]) for name in readings}
    others = {name: one[:, : len(ROWS)] for name, one in everything.items()}
    found = others["this reading"]
    signature = f"coverage | {synthetic_runs(seeds[0])!r}, simulated"
    signature += f" | reference {', '.join(STUDY['reference'])} | seeds {seeds[0]} to {seeds[-1]}"
    signature += f" | metaeval {metaeval.__version__}"
    outcome = Outcome("amigo2020", "synthetic")
    outcome.cells = compare_with_print(found, AS_LABELLED)
    outcome.tables["table3"] = tabulate_cells(outcome.cells, found, signature)
    outcome.tables["table3_wide"] = tabulate_wide(everything["this reading"], signature)
    outcome.tables["by_column"] = tabulate_columns(found, signature)
    outcome.notes = describe_exchange(outcome.cells, found)
    panels = {"rows as labelled": AS_LABELLED, f"rows {' and '.join(STUDY['exchanged'])} exchanged": EXCHANGED}
    rows = [ROWS.index(row) for row in STUDY["exchanged"]]
    outcome.figures["table3"] = partial(draw_against_print, found.mean(axis=0), panels, COLUMNS, rows, CLOSE, signature)
    if settings.quick:
        outcome.lacks = ["other readings"]
    else:
        outcome.tables["readings"] = tabulate_fits(others, signature)
    return outcome, found


def cover_readings(seed: int, readings: Mapping[str, Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Return the coverages of one seed under each named reading, shape (row, column) each."""
    return {name: compute_coverages(seed, **choice) for name, choice in readings.items()}


def tabulate_cells(cells: Sequence[Cell], found: np.ndarray, signature: str) -> metaeval.Table:
    """Return one row a cell: printed as labelled and exchanged, mean, sd and error over seeds, and both verdicts."""
    exchanged = compare_with_print(found, EXCHANGED)
    spread = found.std(axis=0, ddof=1).ravel()
    rows = [
        (one.row, one.column, one.printed, other.printed, one.reproduced, sd, one.tolerance, one.verdict, other.verdict)
        for one, other, sd in zip(cells, exchanged, spread, strict=True)
    ]
    names = ["measure", "column", "printed", "printed_exchanged", "mean", "sd", "error", "verdict", "verdict_exchanged"]
    frame = pd.DataFrame(rows, columns=names).set_index("measure")
    caption = (
        f"Table 3, synthetic half: the printed coverage, the same with the rows {' and '.join(STUDY['exchanged'])} "
        f"exchanged (post hoc), mean and standard deviation over {len(found)} seeds, how far print may be from the mean, and "
        "the verdict of both."
    )
    return metaeval.Table(frame, caption, signature)


def describe_exchange(cells: Sequence[Cell], found: np.ndarray) -> list[str]:
    """Say how many printed cells are matched as labelled and exchanged, and how this exchange compares with all others."""
    means = found.mean(axis=0)
    pairs = list(itertools.combinations(ROWS, 2))
    gaps = {pair: float(np.abs(means - exchange_rows(AS_LABELLED, *pair)).mean()) for pair in pairs}
    nearest = sorted(pairs, key=gaps.__getitem__)
    rank = next(place for place, pair in enumerate(nearest, start=1) if set(pair) == set(STUDY["exchanged"]))
    exchanged = compare_with_print(found, EXCHANGED)
    as_labelled, after = (sum(one.verdict == "matches" for one in some) for some in (cells, exchanged))
    return [
        f"of {len(cells)} printed cells {as_labelled} are within the Monte Carlo error as labelled, {after} with the rows "
        f"{' and '.join(STUDY['exchanged'])} exchanged (post hoc); only the former are counted above",
        f"of all {len(pairs)} exchanges of two rows this one is, by the mean absolute deviation from print, number {rank}: "
        f"{gaps[nearest[rank - 1]]:.4f}; the nearest other one, {' and '.join(nearest[1 if rank == 1 else 0])}, has "
        f"{gaps[nearest[1 if rank == 1 else 0]]:.4f}",
    ]


def tabulate_wide(found: np.ndarray, signature: str) -> metaeval.Table:
    """Return the table as the paper lays it out: the mean over seeds, the printed number, and the same with rows exchanged.

    Below the rows of the paper those that print does not have.
    """
    means = found.mean(axis=0)
    names = [STUDY["shown"].get(row, row) for row in ROWS] + list(BESIDE)
    tables = {"mean": means, "print": _append_beside(AS_LABELLED), "exchanged": _append_beside(EXCHANGED)}
    columns = pd.MultiIndex.from_product([COLUMNS, list(tables)])
    values = np.stack(list(tables.values()), axis=2).reshape(len(names), -1)
    frame = pd.DataFrame(values, index=pd.Index(names, name="measure"), columns=columns)
    words = pd.DataFrame("", index=frame.index, columns=columns)
    for (c, column), (name, table) in itertools.product(enumerate(COLUMNS), tables.items()):
        best = table[: len(ROWS), c]
        for row in np.flatnonzero(best == best.max()):
            words.loc[names[row], (column, name)] = "bold"
    caption = (
        f"Table 3, synthetic half: mean coverage over {len(found)} seeds beside the printed one, and beside "
        f"it with the rows {' and '.join(STUDY['exchanged'])} exchanged (post hoc); the best of a column in bold. "
        "Spearman, constant: what a run that always returns one class scores, of which "
        "print says nothing."
    )
    return metaeval.Table(frame, caption, signature, digits=2, marks=lambda _: words)


def _append_beside(printed: np.ndarray) -> np.ndarray:
    """Return a printed table with empty rows below it for what print does not have."""
    return np.vstack([printed, np.full((len(BESIDE), len(COLUMNS)), np.nan)])


def tabulate_fits(found: dict[str, np.ndarray], signature: str) -> metaeval.Table:
    """Return how near each reading comes to print, rows as labelled and exchanged."""
    rows = {}
    for name, values in found.items():
        for which, printed in (("as labelled", AS_LABELLED), ("exchanged", EXCHANGED)):
            fit = Fit.of(values.mean(axis=0), printed)
            rows[name, which] = (
                fit.deviation,
                fit.close,
                fit.spearman,
                min(fit.columns),
                values.std(axis=0, ddof=1).max(),
            )
    index = pd.MultiIndex.from_tuples(list(rows), names=["reading", "printed rows"])
    names = [
        "mean |deviation|",
        f"cells within {CLOSE:g} of {AS_LABELLED.size}",
        "Spearman, cells",
        "least of columns",
        "largest sd",
    ]
    frame = pd.DataFrame(list(rows.values()), index=index, columns=names)
    caption = (
        "How near the mean over seeds comes to the printed cells: mean absolute deviation, cells met, Spearman's ρ "
        "over all cells and the least one of a column; and the largest standard deviation between seeds."
    )
    return metaeval.Table(frame, caption, signature)


def tabulate_columns(found: np.ndarray, signature: str) -> metaeval.Table:
    """Return, for every column, what the paper says of CEM_ORD and in how many seeds it came out."""
    own, flat = ROWS.index("CEM_ORD"), ROWS.index("CEM_ORD flat")
    reference = [r for r, row in enumerate(ROWS) if STUDY["measures"][row] in STUDY["reference"]]
    means = found.mean(axis=0)
    best = found.max(axis=1)
    rows = {}
    for c, column in enumerate(COLUMNS):
        above = [row for r, row in enumerate(ROWS) if means[r, c] > means[own, c]]
        rows[column] = (
            int((found[:, own, c] >= best[:, c] - 1e-9).sum()),
            int((found[:, own, c] > found[:, flat, c]).sum()),
            int((found[:, own, c] > found[:, reference, c].max(axis=1)).sum()),
            ", ".join(above) or NOTHING,
        )
    names = [
        "seeds: best",
        "seeds: above flat",
        "seeds: above all three reference measures",
        "above CEM_ORD on average",
    ]
    frame = pd.DataFrame(list(rows.values()), index=pd.Index(COLUMNS, name="column"), columns=names)
    caption = f"The paper's claims about CEM_ORD, column by column: in how many of {len(found)} seeds each came out."
    return metaeval.Table(frame, caption, signature)


def compare_with_print(found: np.ndarray, printed: np.ndarray) -> list[Cell]:
    """Return printed against mean; one printed draw may be three standard deviations away from the mean.

    The difference of one draw and the mean of n others has 1 + 1/n times the variance of a draw.
    """
    means, spread = found.mean(axis=0), found.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(found))
    return [
        cell("Table 3 (synthetic)", row, column, printed[r, c], float(means[r, c]), data="simulated",
             digits=2, monte_carlo=float(DEVIATIONS * spread[r, c]))
        for r, row in enumerate(ROWS)
        for c, column in enumerate(COLUMNS)
    ]  # fmt: skip
