"""From counts to conclusions: on which kinds of scores the tests hold, and which test is recommended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.studies.calibration import STUDY
from metaeval.stats.irregular_runs import SKEWED

ALPHA, MOST = float(STUDY["alpha"]), float(STUDY["most"])

PAPERS_TEST, RECOMMENDED = "randomised-tukey-hsd", "bootstrap-t"


def read_counts(path: Path) -> pd.DataFrame:
    """Read the counts."""
    return pd.read_csv(path, keep_default_na=False, na_values=["nan"])


def compute_rates(counts: pd.DataFrame) -> pd.DataFrame:
    """Return errors with standard errors, whether each test holds in a cell, and whether the cell is in the domain.

    The domain is made of the kinds of scores on which the recommended test holds in every cell of the choosing half with as
    many topics as the domain begins with, but for those that were taken out after checking; kinds with few runs are kinds of
    their own.
    """
    frame = counts.copy()
    frame["error_se"] = np.sqrt(frame["error"] * (1 - frame["error"]) / frame["studies"])
    # Candidates were tried on fewer studies: they fail where they err too often by more than chance.
    chance = np.where(frame["studies"] < STUDY["studies"], 2 * frame["error_se"], 0.0)
    frame["holds"] = (frame["error"] - chance <= MOST) | (frame["truth"] != "")
    frame["scale"] = np.where(frame["runs"] < 10, "three runs", "ten runs or more")
    enough = frame["topics"] >= STUDY["enough_topics"]
    chosen = frame[(frame["half"] == "choosing") & enough & (frame["test"] == RECOMMENDED) & (frame["truth"] == "")]
    holds = chosen.groupby(["kind", "scale"])["holds"].all()
    tried = pd.MultiIndex.from_frame(frame[["kind", "scale"]])
    late = frame["kind"].isin(STUDY["excluded_after_checking"]) & (frame["scale"] != "three runs")
    frame["domain"] = enough & ~late & holds.reindex(tried).fillna(False).to_numpy(dtype=bool)
    return frame


@dataclass(frozen=True)
class TestRates:
    """What a test does over cells of equal runs: how many it fails in, of which kinds, and where it errs most."""

    name: str
    cells: int
    failed: int
    kinds: list[str]
    worst: dict[str, Any]
    power: float
    precise: float


def name_cell(row: Mapping[str, Any]) -> str:
    """Return what a cell is called in a sentence."""
    design = row["design"] if ": " in row["design"] else f"“{row['design']}”"
    truth = f", {row['truth']}" if row["truth"] else ""
    return f"{design}, {row['runs']} runs, {row['topics']:,} topics{truth}"


def summarise_test(rates: pd.DataFrame, test: str) -> TestRates:
    """Return what a test does in the cells of some rates; NaN for power where nothing differs in any of them."""
    rows = rates[rates["test"] == test]
    equal = rows[rows["truth"] == ""]
    failed = equal[~equal["holds"]]
    copies = rows[(rows["truth"] == "precise copy") & (rows["topics"] == 50)]
    return TestRates(
        test, len(equal), len(failed), list(dict.fromkeys(failed["kind"])), equal.loc[equal["error"].idxmax()].to_dict(),
        float(rows.loc[rows["truth"] == "effects", "power"].mean()), float(copies["power"].mean()),
    )  # fmt: skip


@dataclass(frozen=True)
class Conclusion:
    """Which statistic is recommended, by the choosing half, and how the recommended test did in the checking half.

    `candidates` summarise every test in the domain of the choosing half; `holding` are those that hold and find precise
    copies, the most powerful first; `excluded` are the kinds outside of the domain, `included` those inside, and `few` those
    that were tried with three runs.
    """

    candidates: list[TestRates]
    holding: tuple[str, ...]
    excluded: list[str]
    included: list[str]
    few: list[str]
    checked: list[TestRates]
    outside: list[TestRates]

    @property
    def recommended(self) -> TestRates:
        """The recommended test in the domain of the checking half."""
        return next(one for one in self.checked if one.name == RECOMMENDED)


def conclude(rates: pd.DataFrame) -> Conclusion:
    """Apply the rule to the choosing half, and look at the checking half."""
    rates = rates[rates["group"] != "less unequal spread"]
    chosen, checked = (rates[rates["half"] == half] for half in ("choosing", "checking"))
    common = chosen[chosen["group"].isin(STUDY["candidates"]["groups"])]
    domain = common[common["domain"] | (common["truth"] != "")]
    names = [name for name in dict.fromkeys(common["test"]) if name != "double bootstrap"]
    candidates = [summarise_test(domain, name) for name in names]
    holding = sorted(
        (one for one in candidates if not one.failed and one.precise >= STUDY["precise"]), key=lambda one: -one.power
    )
    tests = [test for test in STUDY["tests"] if test in set(checked["test"])]
    kinds = chosen[
        (chosen["test"] == RECOMMENDED) & (chosen["truth"] == "") & (chosen["topics"] >= STUDY["enough_topics"])
    ]
    inside, few = kinds[kinds["domain"]], kinds["scale"] == "three runs"
    return Conclusion(
        candidates,
        tuple(one.name for one in holding),
        _label_kinds(kinds[~kinds["domain"]]),
        list(dict.fromkeys(inside.loc[~few, "kind"])),
        list(dict.fromkeys(inside.loc[few, "kind"])),
        [summarise_test(checked[checked["domain"] | (checked["truth"] != "")], test) for test in tests],
        [summarise_test(rows, test) for test in tests if len(rows := checked[~checked["domain"]])],
    )


def _label_kinds(rows: pd.DataFrame) -> list[str]:
    """Return kinds of scores, those of few runs named as such."""
    pairs = dict.fromkeys(zip(rows["kind"], rows["scale"], strict=True))
    return [kind if scale != "three runs" else f"{kind} (three runs)" for kind, scale in pairs]


@dataclass(frozen=True)
class Copies:
    """Which shares of precise copies a test finds with so many topics, by kind of scores, beside Holm's test.

    `few` are the kinds of which it finds fewer than the study asks for. On the choosing half, where candidates were tried, the
    `candidate` that finds most of those that hold finds shares `best` of precise copies, and of true differences with any
    number of topics; the test finds `same`.
    """

    name: str
    topics: int
    shares: list[float]
    holm: list[float]
    few: list[str]
    candidate: str
    best: tuple[float, float]
    same: tuple[float, float]

    @property
    def least(self) -> float:
        """The smallest of the shares."""
        return min(self.shares)


def summarise_copies(rates: pd.DataFrame, test: str = RECOMMENDED) -> list[Copies]:
    """Return what the recommended test finds of precise copies, by number of topics."""
    powers = {one.name: one.power for one in conclude(rates).candidates if not one.failed}
    copies = rates[rates["truth"] == "precise copy"]
    found = []
    for topics, rows in copies.groupby("topics"):
        own, holm = (rows[rows["test"] == name] for name in (test, "paired-t, Holm"))
        chosen = rows[rows["half"] == "choosing"].groupby("test")["power"].mean()
        candidate = str(chosen.reindex([name for name in powers if name != test]).idxmax())
        found.append(
            Copies(
                test, int(str(topics)), own["power"].tolist(), holm["power"].tolist(),
                own.loc[own["power"] < STUDY["precise"], "design"].tolist(),
                candidate, (float(chosen[candidate]), powers[candidate]), (float(chosen[test]), powers[test]),
            )
        )  # fmt: skip
    return found


@dataclass(frozen=True)
class Fires:
    """Shares of studies in which the diagnostic fires: by cell of rare scores, of one very skewed run, and of the domain.

    `curve` has the least share of rare scores, and the share inside, for other limits of skewness.
    """

    rare: list[float]
    alone: list[float]
    inside: float
    often: int
    cells: int
    most: str
    limit: float
    curve: list[tuple[str, float, float]]


def summarise_fires(fires: pd.DataFrame) -> Fires:
    """Return how often the diagnostic of skewness fires inside of the domain and outside."""
    few = (fires["kind"] == "many zeros") & (fires["runs"] < 10)
    rare = fires["kind"].isin(STUDY["excluded_after_checking"]) | few
    alone = fires["kind"] == "one very skewed run"
    inside = fires[~rare & ~alone]
    return Fires(
        fires.loc[rare, "fires"].tolist(), fires.loc[alone, "fires"].tolist(), float(inside["fires"].mean()),
        int((inside["fires"] > 0.2).sum()), len(inside), str(inside.loc[inside["fires"].idxmax(), "design"]), SKEWED,
        [
            (name.removeprefix("at "), float(fires.loc[rare, name].min()), float(inside[name].mean()))
            for name in fires.columns if name.startswith("at ")
        ],
    )  # fmt: skip


def list_worst(rates: pd.DataFrame, tests: Sequence[str] = tuple(STUDY["tests"])) -> pd.DataFrame:
    """Return the largest error of every test by half and kind of scores, of at least 25 topics: what the page shows."""
    rows = rates[(rates["truth"] == "") & (rates["topics"] >= STUDY["enough_topics"]) & rates["test"].isin(tests)]
    rows = rows[rows["group"] != "less unequal spread"]
    worst = rows.groupby(["half", "scale", "kind", "test"], sort=False)["error"].max().unstack("test")
    domain = rows[rows["test"] == RECOMMENDED].groupby(["half", "scale", "kind"], sort=False)["domain"].all()
    return worst[list(tests)].assign(domain=domain).reset_index()
