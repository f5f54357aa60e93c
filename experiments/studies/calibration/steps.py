"""The steps: rates from the counts that are kept, a few of them simulated again; then how reliable rankings are."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

import metaeval
from experiments.old.claims import Answer, Number, claim, every, list_claims, tabulate_claims, try_claims
from experiments.old.outcome import Outcome, Settings
from experiments.studies.calibration import FOLDER, STUDY
from experiments.studies.calibration.exchanges import find_excess
from experiments.studies.calibration.pictures import draw_errors, draw_power
from experiments.studies.calibration.rates import (
    ALPHA,
    PAPERS_TEST,
    RECOMMENDED,
    compute_rates,
    conclude,
    list_worst,
    read_counts,
    summarise_copies,
    summarise_fires,
)  # fmt: skip
from experiments.studies.calibration.reliability import average_collections, measure_reliability
from experiments.studies.calibration.simulation import KEPT, count_batch, list_cells
from metaeval.errors import MetaevalError, MetaevalWarning

PARTS = ("changes", "powers")
"""What is kept of how reliable rankings are."""

READ = "read from the results; python -m experiments.studies.calibration computes it"
"""Why a table says nothing when it equals the committed one."""

SIMULATED = {
    "intervals": {"coverage": "Share of intervals that hold the true value, with its own 95 % interval over studies."},
    "predictions": {
        "expected-tau": "Expected τ between two sets of that many topics, true and as predicted on average from n_topics, "
        "and the share of intervals that hold the true one.",
        "correlations": "Share of intervals of rank correlations that hold the true value.",
        "designs": "Share of intervals of what topic-set-size design rests on that hold the true value.",
    },
    "agreements": {
        "agreement": "Share of intervals of agreement with a reference that hold the true value.",
        "judges": "Share of intervals of judges against people that hold the true value.",
    },
    "together": {
        "together": "How often one of eight equally good measures is said to find more, or to agree better, than another; and "
        "of how many others a better one is."
    },
    "crossed": {
        "crossed": "Share of intervals that hold the expected number for other topics, and for other runs too where they say "
        "so; their mean width over that of ±1.96 standard deviations of the number over studies."
    },
    "noise": {
        "clusters": "Share of studies of equal runs with a false difference, with topics drawn by clusters or one by one.",
        "predictions": "Reliability, τ and detectable difference as predicted from half of the topics, and what the other half "
        "shows; means over splits.",
    },
    "collections": {
        "collections": "Share of intervals for other collections that hold the pooled power of all, and their mean width."
    },
    "boards": {
        "boards": "Share of simulated boards of which all claims are true, and how many ranks a run may have on average, by "
        "rank sets and by what letters leave."
    },
    "exchanges": {"rates": "How often one of two equally good measures is called better, by statistic and rule."},
}
"""Tables that `python -m experiments.studies.calibration` makes, by folder, with their captions."""

SOURCES = ["", "tests", "reliability", *SIMULATED]
PICTURES = {"tests": ("error", "power")}
FIRST = {"with_false": 1, "found": 2}
"""Columns about the first batch, without "first_", and their positions in `COUNTS` of simulation.py."""


@dataclass(frozen=True)
class Facts:
    """What the tables say: frames by name, and the rates of the tests."""

    frames: dict[str, pd.DataFrame]
    rates: pd.DataFrame

    def failures(self, test: str) -> Number:
        """Return in how many checking cells of the domain a test does not hold."""
        one = next(one for one in conclude(self.rates).checked if one.name == test)
        return Number(f"of {one.cells} cells {test} fails in", one.failed)

    def power(self, test: str) -> Number:
        """Return the mean share of true differences that a test finds in the checking half."""
        return Number(f"power of {test}", next(one.power for one in conclude(self.rates).checked if one.name == test))

    def stability(self, changed: str) -> Number:
        """Return the mean τ_b between rankings of measures by the papers' test before and after a change."""
        rows = self.frames["means"].loc[changed]
        row = rows.loc["randomised-tukey-hsd"] if "randomised-tukey-hsd" in rows.index else rows.iloc[0]
        reach = 2 * row["its error"]
        return Number(f"τ_b, {changed}", row["τ_b"], row["τ_b"] - reach, row["τ_b"] + reach)

    def coverage(self, table: str) -> tuple[Number, Number]:
        """Return the smallest and the largest share of intervals that hold the true value, over all cells of a table."""
        shares = self.frames[table]["coverage"]
        return Number("smallest share", shares.min()), Number("largest share", shares.max())


@claim("asked here", "The randomised Tukey HSD test errs in at most 6.5 % of the studies of every kind in the domain.")
def tukey_holds(facts: Facts) -> Answer:
    """It holds in all checking cells of the domain, by the rule below."""
    return facts.failures(PAPERS_TEST) <= 0


@claim("asked here", "Bootstrap-t errs in at most 6.5 % of the studies of every kind in its domain.")
def bootstrap_t_holds(facts: Facts) -> Answer:
    """The same."""
    return facts.failures(RECOMMENDED) <= 0


@claim("asked here", "Bootstrap-t finds more true differences than the randomised Tukey HSD test.")
def bootstrap_t_finds_more(facts: Facts) -> Answer:
    """The mean share of true differences found, over the checking cells with some, is larger."""
    return facts.power(RECOMMENDED) > facts.power(PAPERS_TEST)


@claim("asked here", "The ranking of measures by discriminative power changes more with the test than with the topics.")
def ranking_depends_on_the_test(facts: Facts) -> Answer:
    """Mean τ_b with the ranking by another test is below that of two halves of the topics (± two standard errors)."""
    another, half = (facts.stability(name) for name in ("another test than randomised-tukey-hsd", STUDY["half"]))
    return another < half


@claim("asked here", "The intervals of τ, coverage and power hold what they claim.")
def intervals_hold(facts: Facts) -> Answer:
    """In every cell the share that holds the true value is within the limits set beforehand."""
    low, high = STUDY["coverage"]["limits"]
    smallest, largest = facts.coverage("coverage")
    return every([smallest >= low, largest <= high])


def run(settings: Settings) -> list[Outcome]:
    """Which test errs how often, and how reliable is what is done with it? No hour of simulation is repeated here."""
    outcomes = [study_tests(repeat_first_batches(read_counts(KEPT), settings)), study_reliability(settings)]
    outcomes += [read_simulated(source) for source in SIMULATED]
    frames = list_frames(outcomes)
    facts = {"all cells": Facts(frames, compute_rates(frames["counts"]))}
    findings = try_claims(list_claims(sys.modules[__name__]), facts)
    whole = Outcome("calibration", "", lacks=list(outcomes[1].lacks))
    whole.tables["claims"] = tabulate_claims(findings, "What came of the claims.", "calibration")
    return [whole, *outcomes]


def list_frames(outcomes: Sequence[Outcome]) -> dict[str, pd.DataFrame]:
    """Return the tables of all outcomes by name."""
    return {name: table.frame for outcome in outcomes for name, table in outcome.tables.items()}


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    frames = list_frames(outcomes)
    return {
        "frames": {name: frame.reset_index() for name, frame in frames.items()},
        "tests": compute_rates(frames["counts"]),
        "conclude": conclude,
        "summarise_fires": summarise_fires,
        "summarise_copies": summarise_copies,
        "find_excess": find_excess,
        "study": STUDY,
    }


def repeat_first_batches(counts: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Return the counts, with the first batches of a few cells as they come out now."""
    quick = STUDY["quick"]
    counts = counts.copy()
    for cell in list_cells([], [group for group in STUDY["groups"] if "designs" in group]):
        if cell.name not in quick["cells"]:
            continue
        settings.say(f"calibration: {cell.name}")
        same = (counts["design"] == cell.design) & (counts["runs"] == cell.n_runs) & (counts["topics"] == cell.n_topics)
        same &= (counts["truth"] == cell.truth) & (counts["group"] == cell.group)
        batch = count_batch(cell, 0, tuple(quick["tests"]))
        for test, numbers in zip(quick["tests"], batch, strict=True):
            for name, position in FIRST.items():
                counts.loc[same & (counts["test"] == test), f"first_{name}"] = round(numbers[position], 6)
    return counts


def study_tests(counts: pd.DataFrame) -> Outcome:
    """Return the tables and pictures about the tests."""
    rates = compute_rates(counts)
    again = f"the first batches of {len(STUDY['quick']['cells'])} cells were simulated again, the others {READ}"
    outcome = Outcome("calibration", "tests", kept={"counts": again, "diagnostic": READ})
    signed = (
        f"calibration | seed {STUDY['seed']} | α {ALPHA:g} | {counts['studies'].sum():,} tests of a simulated study"
    )
    outcome.tables["counts"] = metaeval.Table(counts, "What was counted, test by test and cell by cell.", signed)
    caption = "Largest family-wise error by half, number of runs and kind of scores, with 25 topics or more."
    worst = list_worst(rates).rename(columns={"scale": "runs", "kind": "scores", "domain": "in the domain"})
    outcome.tables["worst"] = metaeval.Table(worst.set_index("scores"), caption, signed)
    diagnostic = pd.read_csv(FOLDER / "tests" / "diagnostic.csv")
    caption = (
        "How often the diagnostic of skewness fires, and the skewness of a typical pair, by kind of simulated scores."
    )
    outcome.tables["diagnostic"] = metaeval.Table(diagnostic.set_index("group"), caption, signed)
    found = conclude(rates)
    rows = [(one.name, one.cells, one.failed, one.worst["error"], one.power, one.precise) for one in found.candidates]
    columns = ["test", "cells", "failed", "largest error", "power", "precise copies found"]
    caption = "Candidates in the domain of the choosing half: cells in which they err too often, and what they find."
    candidates = pd.DataFrame(rows, columns=columns).set_index("test")
    outcome.tables["candidates"] = metaeval.Table(candidates, caption, signed)
    outcome.figures = {"error": partial(draw_errors, rates, signed), "power": partial(draw_power, rates, signed)}
    return outcome


def study_reliability(settings: Settings) -> Outcome:
    """Return how much the ranking of measures by discriminative power changes; only ``full`` computes all collections."""
    outcome = Outcome("calibration", "reliability", tolerance=STUDY["reliability"]["tolerance"])
    committed = [pd.read_csv(FOLDER / "reliability" / f"{name}.csv", float_precision="round_trip") for name in PARTS]
    known = set(committed[0]["collection"])
    collections = {}
    for name, measures in STUDY["reliability"]["measures"].items():
        if name in known and not settings.full and name not in STUDY["reliability"]["quick"]:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MetaevalWarning)  # what loading does with odd labels is said elsewhere
                data = settings.load(name)
                is_scored = isinstance(data, metaeval.Scores)
                collections[name] = data.sel(measures=measures) if is_scored else metaeval.score(data, measures)
        except MetaevalError as error:
            outcome.lacks.append(f"{name} ({error})")
    fresh = measure_reliability(collections, settings.say) if collections else committed
    if set(collections) < set(STUDY["reliability"]["measures"]):
        names = ", ".join(collections) or "no collection"
        again = f"rows of {names} were computed again, the others read from the results; --full does all"
        outcome.kept = dict.fromkeys(PARTS, again)
    changes, powers = (
        _replace_collections(before, now, collections) for before, now in zip(committed, fresh, strict=True)
    )
    trials = f"B {STUDY['reliability']['permutations']:,} | seed {STUDY['seed']}, and seeds from 0"
    signed = f"reliability | {trials} | {', '.join(STUDY['reliability']['measures'])}"
    caption = "Discriminative power by each test, with seed 0, and its standard deviation over seeds."
    outcome.tables["powers"] = metaeval.Table(powers, caption, signed)
    caption = "Rankings of measures by discriminative power, before and after something was changed, by collection."
    outcome.tables["changes"] = metaeval.Table(changes, caption, signed)
    caption = (
        "The same, averaged over the collections to which it applies, with standard errors from the spread between them: "
        "τ_b between the two rankings of measures, and the share of pairs of rankings with another measure at the top."
    )
    outcome.tables["means"] = metaeval.Table(average_collections(changes), caption, signed)
    return outcome


def _replace_collections(committed: pd.DataFrame, now: pd.DataFrame, computed: Collection[str]) -> pd.DataFrame:
    """Return what is committed with the rows of some collections as they come out now, in the study's order."""
    rows = pd.concat([committed[~committed["collection"].isin(computed)], now[now["collection"].isin(computed)]])
    order = list(STUDY["reliability"]["measures"])
    return rows.sort_values("collection", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def read_simulated(source: str) -> Outcome:
    """Return the tables of one folder, which `python -m experiments.studies.calibration` makes."""
    outcome = Outcome("calibration", source, kept=dict.fromkeys(SIMULATED[source], READ))
    for name, caption in SIMULATED[source].items():
        frame = pd.read_csv(FOLDER / source / f"{name}.csv")
        outcome.tables[name] = metaeval.Table(frame.set_index(frame.columns[0]), caption, "calibration")
    return outcome
