"""What is simulated, table by table, and what the page is told of it. Nothing is simulated without ``--full``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

import metaeval
from experiments.page import Folder
from experiments.paper import HERE, Results, Settings
from experiments.studies.calibration import boards, clusters, intervals, measures, rank_claims, reliability
from experiments.studies.calibration.designs import STUDY, load_scores
from experiments.studies.calibration.pictures import draw_errors, draw_power
from experiments.studies.calibration.rates import (
    compute_rates,
    conclude,
    list_powers,
    list_worst,
    summarise_copies,
)
from experiments.studies.calibration.simulation import confirm_cells, count_cells, count_edges, list_cells

CAPTIONS = {
    "counts": "What was counted, test by test and cell by cell.",
    "error": "Largest family-wise error by kind of scores, half and number of runs, with 25 topics or more.",
    "power": "Share of true differences that each test finds.",
    "confirmed": "Share of fresh studies with a false difference by bootstrap-t, in every checking cell of the domain.",
    "edges": "Share of fresh studies with a false difference by bootstrap-t and by Holm's test, in cells beside both halves.",
    "changes": "Rankings of measures by discriminative power, before and after something was changed, by collection.",
    "means": "The same, averaged over the collections to which it applies, with standard errors from the spread between them: "
    "τ_b between the two rankings of measures, and the share of pairs of rankings with another measure at the top.",
    "coverage": "Share of intervals that hold the true value, with its own 95 % interval over studies.",
    "expected_tau": "Expected τ between two sets of that many topics, true and as predicted on average from n_topics, "
    "and the share of intervals that hold the true one.",
    "correlations": "Share of intervals of rank correlations that hold the true value.",
    "designs": "Share of intervals of what topic-set-size design rests on that hold the true value.",
    "agreement": "Share of intervals of agreement with a reference that hold the true value.",
    "judges": "Share of intervals of judges against people that hold the true value.",
    "exchanges": "How often one of two equally good measures is called better, by statistic and rule.",
    "together": "How often one of eight equally good measures is said to find more, or to agree better, than another; and "
    "of how many others a better one is.",
    "crossed": "Share of intervals that hold the expected number for other topics, and for other runs too where they say so; "
    "their mean width over that of ±1.96 standard deviations of the number over studies.",
    "boards": "Share of simulated boards of which all claims are true, and how many ranks a run may have on average, by "
    "rank sets and by their first step alone.",
    "rank_claims": "Share of simulated boards of which a claim is wrong, or the best run is missing, or either, and how many "
    "ranks a run may have: by rank sets, by their first step alone, and by ranks of the single task.",
    "clusters": "Share of studies of equal runs with a false difference, with topics drawn by clusters or one by one.",
    "halves": "Reliability, τ and detectable difference as predicted from half of the topics, and what the other half "
    "shows; means over splits.",
}

SIMULATED: dict[str, Callable[[int], pd.DataFrame]] = {
    "coverage": lambda _: intervals.measure_coverage(),
    "expected_tau": lambda _: intervals.measure_predictions(),
    "correlations": lambda _: intervals.measure_coverage(
        intervals.PREDICTED, intervals.compute_correlations, 60, times=4
    ),
    "designs": lambda _: intervals.measure_coverage(intervals.PREDICTED, intervals.compute_designs, 60, times=4),
    "agreement": intervals.measure_agreement,
    "judges": lambda _: intervals.measure_judges(),
    "exchanges": measures.count_exchanges,
    "together": measures.count_together,
    "crossed": measures.count_crossed,
    "boards": boards.count_boards,
    "rank_claims": rank_claims.count_rank_claims,
    "clusters": lambda _: clusters.count_clusters(),
    "halves": lambda _: clusters.predict_matrices(),
}
"""What makes the tables that stand by themselves, with so many processes; numbers are rounded."""


def run(settings: Settings) -> Results:
    """Which test errs how often, and how reliable is what is done with it? All in about two hours, or ``--only`` a table."""
    results = Results("calibration")
    if not settings.full:
        results.left_out = dict.fromkeys(CAPTIONS, "takes hours: --full simulates it, with --only this table alone")
        return results

    def compute(names: tuple[str, ...], make: Callable[[], list[pd.DataFrame]]) -> None:
        if settings.wants(*names):
            settings.say(f"calibration: {', '.join(names)}")
            try:
                for name, frame in zip(names, make(), strict=True):
                    how = "" if name in SIMULATED else f"B {STUDY['permutations']:,} | seed {STUDY['seed']}"
                    results.add(name, frame.set_index(frame.columns[0]), CAPTIONS[name], how=how)
            except metaeval.MetaevalError as error:
                results.left_out |= dict.fromkeys(names, f"needs data that cannot be loaded: {error}")

    def count() -> list[pd.DataFrame]:
        counts = count_cells(list_cells(), settings.n_jobs)
        rates = compute_rates(counts)
        return [counts, list_worst(rates), list_powers(rates)]

    def confirm() -> list[pd.DataFrame]:
        counts = Folder("calibration", HERE.parent / "results" / "calibration").read("counts")
        return [confirm_cells(compute_rates(counts), settings.n_jobs)]

    def change() -> list[pd.DataFrame]:
        scores = {name: load_scores(name, of) for name, of in STUDY["reliability"]["measures"].items()}
        changes = reliability.measure_reliability(scores)
        return [changes, reliability.average_collections(changes)]

    compute(("counts", "error", "power"), count)
    compute(("confirmed",), confirm)
    compute(("edges",), lambda: [count_edges(settings.n_jobs)])
    compute(("changes", "means"), change)
    for name, make in SIMULATED.items():
        compute((name,), lambda make=make: [make(settings.n_jobs).round(6)])  # type: ignore[misc]
    return results


PICTURES = {"error": draw_errors, "power": draw_power}


def describe(tables: Folder) -> dict[str, Any]:
    """Return what the page asks for by name: every table, the rates of the tests, and what draws conclusions from them."""
    return {
        "frames": {name: tables.read(name) for name in CAPTIONS},
        "tests": compute_rates(tables.read("counts")),
        "conclude": conclude,
        "summarise_copies": summarise_copies,
        "find_excess": measures.find_excess,
    }
