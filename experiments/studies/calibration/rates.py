"""Rates from counts: family-wise error, false discovery and power of every test on every cell; and which test to use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri

from experiments.studies.calibration import STUDY

CONFIDENCE = 0.95
"""Of all intervals of one test together."""

ALPHA = float(STUDY["alpha"])
TOO_MUCH = float(STUDY["too_much"])
FEW_RUNS = 10
"""With fewer runs there are other conclusions: what a test borrows from other pairs is then from few of them."""

STEPS_DOWN = ", step-down"
"""What the name of a test that steps down has more than the name of its single step."""

SIZES = (10, 25, 50, 100, 400, 1000)
"""Numbers of topics for which conclusions are drawn; 390 topics count as 400."""

KINDS = {
    "normal": "equal spread",
    "normal, two 1.5x": "unequal spread",
    "normal, two 2x": "unequal spread",
    "normal, two 3x": "unequal spread",
    "exponential": "skewed",
    "exponential, two 3x": "unequal spread, skewed",
    "lognormal among normal": "unlike skewness",
    "beta of unlike skew": "unlike skewness",
    "binary of unlike p": "binary of unlike rate",
    "one hopeless run": "equal spread, one hopeless run",
    "near-identical runs": "near-identical runs",
    "discrete": "discrete",
}
"""Kinds of scores, by design; all others are simulated from real collections."""

CELL = ["group", "design", "runs", "topics", "effects"]
"""Columns that name a cell."""


def read_counts(path: Path) -> pd.DataFrame:
    """Read the counts."""
    return pd.read_csv(path)


def compute_rates(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of every test on every cell."""
    frame = counts[[*CELL, "test", "studies", "planned"]].copy()
    frame["kind"] = [KINDS.get(design, "real") for design in frame["design"]]
    sizes = np.array(SIZES)
    frame["size"] = [int(sizes[np.abs(np.log(sizes / n)).argmin()]) for n in frame["topics"]]
    frame["dispersion"] = _pool_dispersion(counts)
    frame["cells"] = frame.groupby("test")["test"].transform("size")
    outside = (1 - CONFIDENCE ** (1 / frame["cells"].to_numpy(dtype=float))) / 2
    studies = counts["studies"].to_numpy(dtype=float)
    effective = studies / frame["dispersion"].to_numpy()
    share = counts["with_false"].to_numpy(dtype=float) / studies
    frame["error"] = share
    frame["error_low"], frame["error_high"] = bound_share(share * effective, effective, outside)
    width = -ndtri(outside)
    for name, total in (("fdr", "fdp"), ("power", "power")):
        rate, error = counts[total] / studies, counts[f"{total}_se"]
        known = np.where(frame["effects"] | (name == "fdr"), 1.0, np.nan)
        frame[name] = rate * known
        frame[f"{name}_low"], frame[f"{name}_high"] = (
            ((rate + sign * width * error).clip(0, 1) * known) for sign in (-1, 1)
        )
    frame["holds"] = (frame["error_low"] <= ALPHA) & (frame["error"] <= TOO_MUCH)
    return frame


def bound_share(count: np.ndarray, n: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of Clopper and Pearson for a share, also of numbers that are not whole."""
    low = np.where(count > 0, betaincinv(np.maximum(count, 1e-300), n - count + 1, outside), 0.0)
    high = np.where(count < n, betaincinv(count + 1, np.maximum(n - count, 1e-300), 1 - outside), 1.0)
    return low, high


def _pool_dispersion(counts: pd.DataFrame) -> pd.Series:
    """Return the mean dispersion of each test's cells, weighted by batches, at least 1, for every row."""
    weight = (counts["studies"] / STUDY["batch"] - 1).where(counts["dispersion"].notna(), 0.0)
    total = (counts["dispersion"].fillna(0.0) * weight).groupby(counts["test"]).transform("sum")
    mean = total / weight.groupby(counts["test"]).transform("sum").clip(lower=1.0)
    return mean.clip(lower=1.0)


@dataclass(frozen=True)
class TestRates:
    """What a test does over all of its cells: how many it fails in, on which kinds of scores, and where it errs most."""

    name: str
    cells: int
    failed: int
    kinds: list[str]
    worst: dict[str, Any]
    discoveries: dict[str, Any] | None


def name_cell(row: Mapping[str, Any]) -> str:
    """Return what a cell is called in a sentence."""
    design = row["design"] if ": " in row["design"] else f"“{row['design']}”"
    return f"{design}, {row['runs']} runs, {row['topics']:,} topics{', some runs differ' * bool(row['effects'])}"


@dataclass(frozen=True)
class Conclusion:
    """Which tests hold, and so which are recommended: names of tests, the most powerful first.

    `failed` lists the cells in which the test that comes `closest` does not hold; `few_runs` are the tests that hold with
    few runs (None where none was tried), `by_size` and `by_kind` those with more; `power` is the mean share of true
    differences found.
    """

    n_cells: int
    holding: tuple[str, ...]
    closest: str
    failed: list[dict[str, Any]]
    few_runs: tuple[str, ...] | None
    by_size: dict[int, tuple[str, ...]]
    by_kind: pd.DataFrame
    power: dict[str, float]
    few: int = FEW_RUNS

    @property
    def by_holding(self) -> dict[tuple[str, ...], list[str]]:
        """The numbers of topics for which the same tests hold."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for size, holding in self.by_size.items():
            groups.setdefault(holding, []).append(f"{size:,}")
        return groups


def list_candidates(tests: Iterable[str]) -> list[str]:
    """Return the tests that can be recommended: no variants, none too slow for all cells, none that bounds another error."""
    return [
        test
        for test in dict.fromkeys(tests)
        if not (STUDY["tests"][test].get("variant") or STUDY["tests"][test].get("slow") or bounds_discoveries(test))
    ]


def bounds_discoveries(test: str) -> bool:
    """Tell whether a test bounds the false discovery rate instead of the family-wise error."""
    return bool(STUDY["tests"][test]["options"].get("correction") == "benjamini-hochberg")


def complete_rates(rates: pd.DataFrame) -> pd.DataFrame:
    """Add the cells where stepping down errs exactly as its single step does: those of equal means."""
    parts = [rates]
    for test in rates["test"].unique():
        if test.endswith(STEPS_DOWN):
            single = rates[(rates["test"] == test.removesuffix(STEPS_DOWN)) & ~rates["effects"]]
            tried = pd.MultiIndex.from_frame(rates.loc[rates["test"] == test, CELL])
            parts.append(single[~pd.MultiIndex.from_frame(single[CELL]).isin(tried)].assign(test=test))
    return pd.concat(parts, ignore_index=True)


def summarise_test(rates: pd.DataFrame, test: str) -> TestRates:
    """Return where a test fails, and how far its errors go."""
    rows = complete_rates(rates).query("test == @test")
    failed = rows[~rows["holds"]]
    worst, most = (rows.loc[rows[rate].idxmax()].to_dict() for rate in ("error", "fdr"))
    kinds = list(dict.fromkeys(failed["kind"]))
    return TestRates(test, len(rows), len(failed), kinds, worst, most if bounds_discoveries(test) else None)


def conclude(rates: pd.DataFrame) -> Conclusion:
    """Apply the rule: of the tests that hold in all cells, the one that finds most is recommended."""
    whole = complete_rates(rates)
    candidates = list_candidates(whole["test"])
    whole = whole[whole["test"].isin(candidates)]
    whole = whole[whole.groupby(CELL)["test"].transform("nunique") == len(candidates)]
    power = whole[whole["effects"]].groupby("test")["power"].mean().reindex(candidates)
    kinds = list(dict.fromkeys(whole["kind"]))
    few = whole["runs"] < FEW_RUNS
    sizes = {size: rows for size in SIZES if not (rows := whole[(whole["size"] == size) & ~few]).empty}
    failures = (~whole["holds"]).groupby(whole["test"]).sum().reindex(power.sort_values(ascending=False).index)
    closest = str(failures.idxmin())
    table = {
        size: [_recommend(_list_holding(rows[rows["kind"] == kind], power)) for kind in kinds]
        for size, rows in sizes.items()
    }
    return Conclusion(
        n_cells=len(whole[CELL].drop_duplicates()),
        holding=_list_holding(whole, power) or (),
        closest=closest,
        failed=whole[(whole["test"] == closest) & ~whole["holds"]].to_dict("records"),
        few_runs=_list_holding(whole[few], power),
        by_size={size: _list_holding(rows, power) or () for size, rows in sizes.items()},
        by_kind=pd.DataFrame(table, index=pd.Index(kinds, name="scores")),
        power={str(test): float(value) for test, value in power.items()},
    )


def _list_holding(rates: pd.DataFrame, power: pd.Series) -> tuple[str, ...] | None:
    """Return the tests that hold in all rows, the most powerful there first; None where there are no rows."""
    if rates.empty:
        return None
    holds = rates.groupby("test")["holds"].all()
    if rates["effects"].any():  # elsewhere the power in all cells decides
        power = rates[rates["effects"]].groupby("test")["power"].mean()
    ordered = power.sort_values(ascending=False, kind="stable").index
    return tuple(str(test) for test in ordered if holds.get(test, False))


def _recommend(holding: tuple[str, ...] | None) -> str:
    return "" if holding is None else holding[0] if holding else "none"
