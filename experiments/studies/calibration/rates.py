"""From counts to conclusions: on which kinds of scores the tests hold, and which test is recommended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.studies.calibration.designs import STUDY

PAPERS_TEST, RECOMMENDED = "randomised-tukey-hsd", "bootstrap-t"

FEW = "three runs"

EXCLUDED = (*STUDY["excluded_after_checking"], *STUDY["excluded_after_edges"])
"""Kinds of scores that were taken out of the domain after it had been chosen."""


def compute_rates(counts: pd.DataFrame) -> pd.DataFrame:
    """Return errors with standard errors, whether each test holds in a cell, and whether the cell is in the domain.

    The domain is made of the kinds of scores on which the recommended test holds in every cell of the choosing half with as
    many topics as the domain begins with, but for those that were taken out afterwards; kinds with few runs are kinds of
    their own.
    """
    frame = counts.assign(truth=counts["truth"].fillna(""))  # where nothing differs
    frame["error_se"] = np.sqrt(frame["error"] * (1 - frame["error"]) / frame["studies"])
    frame["holds"] = (frame["error"] <= STUDY["most"]) | (frame["truth"] != "")
    frame["scale"] = np.where(frame["runs"] < 10, FEW, "ten runs or more")
    enough = frame["topics"] >= STUDY["enough_topics"]
    chosen = frame[(frame["half"] == "choosing") & enough & (frame["test"] == RECOMMENDED) & (frame["truth"] == "")]
    holds = chosen.groupby(["kind", "scale"])["holds"].all()
    tried = pd.MultiIndex.from_frame(frame[["kind", "scale"]])
    late = frame["kind"].isin(EXCLUDED) & (frame["scale"] != FEW)
    frame["domain"] = enough & ~late & holds.reindex(tried).fillna(False).to_numpy(dtype=bool)
    return frame


class TestRates(NamedTuple):
    """What a test does over cells of equal runs: how many it fails in, of which kinds, and where it errs most."""

    name: str
    cells: int
    failed: int
    kinds: list[str]
    worst: dict[str, Any]
    power: float
    precise: float


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
    """Which test is recommended, by the choosing half, and how all did in the checking half.

    `holding` are those that hold in the domain of the choosing half and find precise copies, the most powerful first;
    `excluded` are the kinds outside of the domain, `included` those inside, `few` those that were tried with three runs, and
    `many` those with more than 22.
    """

    holding: tuple[str, ...]
    excluded: list[str]
    included: list[str]
    few: list[str]
    many: list[str]
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
    tests = list(dict.fromkeys(checked["test"]))
    common = chosen[chosen["group"].isin(STUDY["compared"]) & (chosen["domain"] | (chosen["truth"] != ""))]
    candidates = sorted((summarise_test(common, test) for test in tests), key=lambda one: -one.power)
    kinds = chosen[
        (chosen["test"] == RECOMMENDED) & (chosen["truth"] == "") & (chosen["topics"] >= STUDY["enough_topics"])
    ]
    few, inside = kinds["scale"] == FEW, kinds["domain"]
    outside = kinds["kind"].where(~few, kinds["kind"] + f" ({FEW})")[~inside]
    return Conclusion(
        tuple(one.name for one in candidates if not one.failed and one.precise >= STUDY["precise"]),
        list(dict.fromkeys(outside)),
        list(dict.fromkeys(kinds.loc[inside & ~few, "kind"])),
        list(dict.fromkeys(kinds.loc[inside & few, "kind"])),
        list(dict.fromkeys(checked.loc[checked["runs"] > 22, "kind"])),
        [summarise_test(checked[checked["domain"] | (checked["truth"] != "")], test) for test in tests],
        [summarise_test(checked[~checked["domain"]], test) for test in tests if not checked["domain"].all()],
    )


class Copies(NamedTuple):
    """Which shares of precise copies the recommended test finds with so many topics, by kind of scores, beside Holm's test.

    `few` are the kinds of which it finds fewer than the study asks for.
    """

    name: str
    topics: int
    shares: list[float]
    holm: list[float]
    few: list[str]


def summarise_copies(rates: pd.DataFrame) -> list[Copies]:
    """Return what the recommended test finds of precise copies, by number of topics."""
    found = []
    for topics, rows in rates[rates["truth"] == "precise copy"].groupby("topics"):
        own, holm = (rows[rows["test"] == name] for name in (RECOMMENDED, "paired-t, Holm"))
        few = own.loc[own["power"] < STUDY["precise"], "design"].tolist()
        found.append(Copies(RECOMMENDED, int(str(topics)), own["power"].tolist(), holm["power"].tolist(), few))
    return found


def list_worst(rates: pd.DataFrame, tests: Sequence[str] = tuple(STUDY["tests"])) -> pd.DataFrame:
    """Return the largest error of every test by kind of scores and half, of as many topics as the domain begins with."""
    rows = rates[(rates["truth"] == "") & (rates["topics"] >= STUDY["enough_topics"]) & rates["test"].isin(tests)]
    rows = rows[rows["group"] != "less unequal spread"]
    by = ["kind", "half", "scale"]
    worst = rows.groupby([*by[1:], "kind", "test"], sort=False)["error"].max().unstack("test")
    domain = rows[rows["test"] == RECOMMENDED].groupby([*by[1:], "kind"], sort=False)["domain"].all()
    frame = worst[list(tests)].assign(domain=domain).reset_index()[[*by, *tests, "domain"]]
    names = {"kind": "scores", "scale": "runs", "domain": "in the domain"}
    return frame.rename(columns=names)


def list_powers(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the share of true differences that each test finds, by kind of scores and number of topics."""
    rows = rates[rates["truth"] == "effects"]
    frame = rows.groupby(["kind", "topics", "test"], sort=False)["power"].mean().unstack("test")
    return frame.reset_index().rename(columns={"kind": "scores"})
