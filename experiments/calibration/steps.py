"""The steps: rates from the counts that are kept, a few of them simulated again; then how reliable rankings are."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from functools import partial

import pandas as pd

import metaeval
from experiments.calibration import conclusion
from experiments.calibration.cells import Task, list_cells
from experiments.calibration.exchanges import describe_exchanges
from experiments.calibration.pictures import draw_errors, draw_power
from experiments.calibration.rates import ALPHA, CELL, TOO_MUCH, compute_rates, read_counts
from experiments.calibration.reliability import average_collections, measure_reliability
from experiments.calibration.simulation import KEPT
from experiments.calibration.study import STUDY
from experiments.outcome import Outcome, Settings
from experiments.page import format_list
from metaeval.errors import MetaevalError, MetaevalWarning

INTERVALS = KEPT.parents[1] / "intervals" / "coverage.csv"
"""How often each interval holds the true value: kept like the counts, since it takes as long."""

PREDICTIONS = KEPT.parents[1] / "predictions"
"""How far off predictions are, and how often their intervals hold: kept, too."""

AGREEMENTS = KEPT.parents[1] / "agreements"
"""How often the intervals of agreement with a reference, and of judges against people, hold: kept, too."""

EXCHANGES = KEPT.parents[1] / "exchanges" / "rates.csv"
"""How often a measure is called better than an equally good one: kept, too."""

PARTS = ("changes", "powers")
"""What is kept of how reliable rankings are."""

SOURCES = ["tests", "reliability", "intervals", "predictions", "agreements", "exchanges"]
FIRST = {"with_false": 1, "false": 2, "found": 3}
"""Columns about the first batch, without "first_", and their places in `experiments.calibration.cells.COUNTS`."""


def run(settings: Settings) -> list[Outcome]:
    """Which test errs how often, and how reliable is what is done with it?

    Parameters
    ----------
    settings : Settings
        The hour of simulation is never repeated here: the first batches of a few cells are. Unless ``full``, the measures
        of one collection only are ranked again.

    Returns
    -------
    list of Outcome
    """
    outcomes = [study_tests(repeat_first_batches(read_counts(KEPT), settings))] if KEPT.exists() else []
    outcomes.append(study_reliability(settings))
    outcomes += [study_intervals(pd.read_csv(INTERVALS))] if INTERVALS.exists() else []
    outcomes += [study_predictions()] if PREDICTIONS.exists() else []
    outcomes += [study_agreements()] if AGREEMENTS.exists() else []
    return outcomes + ([study_exchanges(pd.read_csv(EXCHANGES))] if EXCHANGES.exists() else [])


def repeat_first_batches(counts: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Return the counts, with the first batches of a few cells as they come out now.

    Parameters
    ----------
    counts : DataFrame
    settings : Settings

    Returns
    -------
    DataFrame
    """
    quick = STUDY["quick"]
    counts = counts.copy()
    for cell in list_cells([], [group for group in STUDY["groups"] if "designs" in group]):
        if cell.name not in quick["cells"]:
            continue
        settings.say(f"calibration: {cell.name}")
        same = (counts["design"] == cell.design) & (counts["runs"] == cell.n_runs) & (counts["topics"] == cell.n_topics)
        for row in counts.index[same & (counts["effects"] == cell.effects) & counts["test"].isin(quick["tests"])]:
            batch = Task(cell, str(counts.at[row, "test"])).count_batch(0)
            for name, place in FIRST.items():
                counts.at[row, f"first_{name}"] = int(batch[place])
    return counts


def study_tests(counts: pd.DataFrame) -> Outcome:
    """Return the tables, pictures and sentences about the tests.

    Parameters
    ----------
    counts : DataFrame

    Returns
    -------
    Outcome
    """
    rates = compute_rates(counts)
    found = conclusion.conclude(rates)
    outcome = Outcome("calibration", "tests")
    signed = (
        f"calibration | seed {STUDY['seed']} | α {ALPHA:g} | {counts['studies'].sum():,} tests of a simulated study"
    )
    outcome.tables["counts"] = metaeval.Table(counts, "What was counted, test by test and cell by cell.", signed)
    caption = (
        "Family-wise error, false discovery rate and power of every test on every cell, with intervals that hold for all "
        "cells of a test together."
    )
    outcome.tables["rates"] = metaeval.Table(rates.round(6), caption, signed)
    outcome.tables["summary"] = metaeval.Table(summarise_tests(rates), _SUMMARY, signed)
    caption = "The recommended test by kind of scores and number of topics."
    outcome.tables["which"] = metaeval.Table(found.by_kind, caption, signed)
    titles = {
        "error": f"Family-wise error; bold: does not hold (above {ALPHA:g} by more than chance, or above {TOO_MUCH:g}).",
        "fdr": "False discovery rate: mean share of false ones among the differences found, 0 where none is found.",
        "power": "Power: mean share of the true differences that are found.",
    }
    for group in rates["group"].unique():
        own = rates[rates["group"] == group]
        for column, caption in titles.items():
            if column == "error" or own["effects"].any():
                name = f"{column}-{group.replace(',', '').replace(' ', '-')}"
                outcome.tables[name] = tabulate_rates(own, column, f"{group.capitalize()}. {caption}", signed)
    outcome.figures = {"error": partial(draw_errors, rates, signed), "power": partial(draw_power, rates, signed)}
    outcome.texts = {name: format_list(lines) for name, lines in conclusion.describe_tests(rates).items()}
    return outcome


_SUMMARY = (
    "Every test over its cells: those where it does not hold, its largest family-wise error with its interval, its largest "
    "false discovery rate, and its power on average over its own cells with true differences (not the same for all tests)."
)


def summarise_tests(rates: pd.DataFrame) -> pd.DataFrame:
    """Return one row a test: how many cells, where it fails, the worst of its errors, its power.

    Parameters
    ----------
    rates : DataFrame

    Returns
    -------
    DataFrame
    """
    rows = {}
    for test, own in rates.groupby("test", sort=False):
        worst = own.loc[own["error"].idxmax()]
        rows[test] = {
            "cells": len(own),
            "do not hold": int((~own["holds"]).sum()),
            "largest error": worst["error"],
            "low": worst["error_low"],
            "high": worst["error_high"],
            "in": conclusion.name_cell(worst),
            "largest false discovery rate": own["fdr"].max(),
            "power": own["power"].mean(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")


def tabulate_rates(rates: pd.DataFrame, column: str, caption: str, signature: str) -> metaeval.Table:
    """Lay out one row a cell, one column a test.

    Parameters
    ----------
    rates : DataFrame
        Of one group.
    column : str
    caption, signature : str

    Returns
    -------
    Table
    """
    tests = [one for one in STUDY["tests"] if one in set(rates["test"])]
    place = [one for one in CELL if one not in ("group", "effects")]
    wide = rates.set_index([*place, "test"])[[column, "holds"]]
    cells = pd.MultiIndex.from_frame(rates[place].drop_duplicates())
    frame = wide[column].unstack("test").reindex(index=cells, columns=tests)
    words = (
        wide["holds"].unstack("test").reindex(index=cells, columns=tests).eq(False).replace({True: "bold", False: ""})
    )
    frame = frame.rename_axis(columns=None)
    return metaeval.Table(frame, caption, signature, marks=(lambda _: words) if column == "error" else None)


def study_reliability(settings: Settings) -> Outcome:
    """Return how much the ranking of measures by discriminative power changes.

    Parameters
    ----------
    settings : Settings
        ``full`` measures it on all collections; otherwise those that take long, and those whose data cannot be had, come
        from what is kept.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("calibration", "reliability", tolerance=STUDY["reliability"]["tolerance"])
    kept = [
        pd.read_csv(KEPT.parents[1] / "reliability" / f"{name}.csv", float_precision="round_trip") for name in PARTS
    ]
    there = set(kept[0]["collection"])
    collections = {}
    for name, measures in STUDY["reliability"]["measures"].items():
        if name in there and not settings.full and name not in STUDY["reliability"]["quick"]:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MetaevalWarning)  # what loading does with odd labels is said elsewhere
                found = settings.load(name)
                one = (
                    found.sel(measures=measures)
                    if isinstance(found, metaeval.Scores)
                    else metaeval.score(found, measures)
                )
        except MetaevalError as error:
            outcome.lacks.append(f"{name} ({error})")
        else:
            collections[name] = one
    changes, powers = (
        _replace_collections(frame, now, collections)
        for frame, now in zip(
            kept, measure_reliability(collections, settings.say) if collections else kept, strict=True
        )
    )
    trials = f"B {STUDY['reliability']['permutations']:,} | seed {STUDY['seed']}, and seeds from 0"
    signed = f"reliability | {trials} | {', '.join(STUDY['reliability']['measures'])}"
    caption = "Discriminative power by each test, with seed 0, and its standard deviation over seeds."
    outcome.tables["powers"] = metaeval.Table(powers, caption, signed)
    caption = "Rankings of measures by discriminative power, before and after something was changed, by collection."
    outcome.tables["changes"] = metaeval.Table(changes, caption, signed)
    means = average_collections(changes)
    caption = (
        "The same, averaged over the collections to which it applies, with standard errors from the spread between them: "
        "τ_b between the two rankings of measures, and the share of pairs of rankings with another measure at the top."
    )
    outcome.tables["means"] = metaeval.Table(means, caption, signed)
    outcome.texts["reliability"] = format_list(conclusion.describe_reliability(means))
    return outcome


def _replace_collections(kept: pd.DataFrame, now: pd.DataFrame, computed: Collection[str]) -> pd.DataFrame:
    """Return what is kept with the rows of some collections as they come out now, in the study's order."""
    rows = pd.concat([kept[~kept["collection"].isin(computed)], now[now["collection"].isin(computed)]])
    order = list(STUDY["reliability"]["measures"])
    return rows.sort_values("collection", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def study_intervals(coverage: pd.DataFrame) -> Outcome:
    """Return how often the intervals that analyses print hold the true value.

    Parameters
    ----------
    coverage : DataFrame
        As `experiments.calibration.intervals.measure_coverage` returns it.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("calibration", "intervals")
    signed = f"coverage of intervals | nominal {coverage['nominal'].iloc[0]:g}"
    outcome.tables["coverage"] = metaeval.Table(
        coverage.set_index("interval"),
        "Share of intervals that hold the true value, with its own 95 % interval over studies.",
        signed,
    )
    groups = coverage.groupby("interval", sort=False)["coverage"]
    summary = pd.DataFrame(
        {"cells": groups.size(), "mean": groups.mean(), "smallest": groups.min(), "largest": groups.max()}
    )
    outcome.tables["summary"] = metaeval.Table(
        summary, "The same by kind of interval: over its cells, the mean, smallest and largest share.", signed
    )
    outcome.texts["intervals"] = format_list(conclusion.describe_intervals(coverage))
    return outcome


def study_predictions() -> Outcome:
    """Return how far off predictions are, and how often the intervals of rank correlations and designs hold.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("calibration", "predictions")
    tables = {path.stem: pd.read_csv(path) for path in sorted(PREDICTIONS.glob("*.csv"))}
    outcome.tables["expected-tau"] = metaeval.Table(
        tables["expected-tau"].set_index("population"),
        "Expected τ between two sets of so many topics, true and as predicted on average from n_topics, and the share of "
        "intervals that hold the true one.",
        "predictions",
    )
    for name in ("correlations", "designs"):
        nominal = tables[name]["nominal"].iloc[0]
        outcome.tables[name] = metaeval.Table(
            tables[name].set_index("interval"),
            "Share of intervals that hold the true value, with its own 95 % interval over studies.",
            f"coverage of intervals | nominal {nominal:g}",
        )
        outcome.texts[name] = format_list(conclusion.describe_intervals(tables[name]))
    outcome.texts["expected-tau"] = format_list(conclusion.describe_predictions(tables["expected-tau"]))
    return outcome


def study_agreements() -> Outcome:
    """Return how often the intervals of agreement with a reference, and of judges against people, hold the true value.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("calibration", "agreements")
    for name in ("agreement", "judges"):
        table = pd.read_csv(AGREEMENTS / f"{name}.csv")
        outcome.tables[name] = metaeval.Table(
            table.set_index("interval"),
            "Share of intervals that hold the true value, with its own 95 % interval over studies.",
            f"coverage of intervals | nominal {table['nominal'].iloc[0]:g}",
        )
        outcome.texts[name] = format_list(conclusion.describe_intervals(table))
    return outcome


def study_exchanges(rates: pd.DataFrame) -> Outcome:
    """Return how often a measure is called better than an equally good one.

    Parameters
    ----------
    rates : DataFrame
        As from `experiments.calibration.exchanges.collect_rates`.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("calibration", "exchanges")
    outcome.tables["rates"] = metaeval.Table(
        rates.set_index("statistic"),
        "How often a measure is called better than an equally good one, with standard errors over studies.",
        f"exchange tests and paired intervals | α {rates['alpha'].iloc[0]:g}",
    )
    outcome.texts["rates"] = format_list(describe_exchanges(rates))
    return outcome
