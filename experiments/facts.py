"""Sentences and tables about results, each made by a rule from tables that are kept; nothing is computed again."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from experiments.calibration.conclusion import (
    describe_intervals,
    describe_predictions,
    describe_reliability,
    describe_tests,
)
from experiments.calibration.exchanges import describe_exchanges
from experiments.calibration.rates import ALPHA, compute_rates, read_counts
from experiments.calibration.study import STUDY
from experiments.comparison import VERDICTS
from experiments.conclusions import explain_words as explain_conclusions
from experiments.index import tabulate_reproduction
from experiments.page import explain_words
from experiments.papers import PAPERS
from experiments.scaling import describe_scaling
from metaeval.analyses.agreement_pooling import ENOUGH_TOPICS

PAPERS_TEST = "randomised-tukey-hsd"

UNEQUAL_SPREAD = {"design": "normal, two 3x", "runs": 22, "topics": 50, "effects": False, "test": PAPERS_TEST}
"""The cell of the study of error rates that shows what unequal spread does."""

INTERVALS = {"τ": "τ", "coverage": "coverage", "power": "difference of power, HSD"}
"""Names in marks, and the intervals that they are about."""


def write_facts(root: Path) -> dict[str, list[str]]:
    """Return every sentence and table about results that a page may ask for, by the name in its mark.

    Parameters
    ----------
    root : Path
        The folder of results/, benchmarks/ and docs/.

    Returns
    -------
    dict of str to list of str
    """
    results, measured = root / "results", root / "benchmarks" / "measured"
    calibration = results / "calibration"
    rates = compute_rates(read_counts(calibration / "tests" / "counts.csv"))
    means = pd.read_csv(calibration / "reliability" / "means.csv", index_col=["changed", "test"])
    coverage = pd.read_csv(calibration / "intervals" / "coverage.csv")
    return {
        **{f"test/{name}": lines for name, lines in describe_tests(rates).items()},
        **{f"interval/{name}": describe_interval(coverage, kind) for name, kind in INTERVALS.items()},
        "interval/rank correlations": describe_intervals(pd.read_csv(calibration / "predictions" / "correlations.csv")),
        "interval/topic set size": describe_intervals(pd.read_csv(calibration / "predictions" / "designs.csv")),
        "prediction/expected τ": describe_predictions(pd.read_csv(calibration / "predictions" / "expected-tau.csv")),
        "interval/agreement": describe_agreement(pd.read_csv(results / "wmt2023" / "coverage.csv")),
        "interval/differences of agreement": describe_differences(
            pd.read_csv(calibration / "agreements" / "agreement.csv")
        ),
        "exchange tests": describe_exchanges(pd.read_csv(calibration / "exchanges" / "rates.csv")),
        "interval/judges": describe_intervals(pd.read_csv(calibration / "agreements" / "judges.csv")),
        "reproduced papers": [tabulate_reproduction(results, PAPERS, "results/")],
        "what the words mean": [explain_words(VERDICTS), explain_conclusions()],
        "reliability": describe_reliability(means),
        "reliability in short": order_changes(means),
        "unequal spread": describe_unequal_spread(rates),
        "answer": show_answer(json.loads((root / "docs" / "answer" / "answer.json").read_text("utf-8"))),
        "lq2021/table 7": compare_preferences(pd.read_csv(results / "lq2021" / "stc3" / "comparison.csv")),
        "workers": tabulate_workers(pd.read_csv(measured / "workers.csv")),
        "engines": compare_engines(pd.read_csv(measured / "tukey.csv")),
        "memory": list_memory(pd.read_csv(measured / "memory.csv")),
        **describe_scaling(measured),
    }


def describe_interval(coverage: pd.DataFrame, kind: str) -> list[str]:
    """Say in which share of simulated studies an interval held the true value, and whether that is what it claims.

    Parameters
    ----------
    coverage : DataFrame
        As `experiments.calibration.intervals.measure_coverage` returns it.
    kind : str
        One of its intervals.

    Returns
    -------
    list of str
    """
    low, high = STUDY["coverage"]["limits"]
    own = coverage[coverage["interval"] == kind]
    outside = own[~own["coverage"].between(low, high)]
    cells = [f"{row.population}, {row.n_runs} runs, {row.n_topics} topics" for row in outside.itertuples()]
    found = f"outside of them in {len(cells)} ({'; '.join(cells)})" if cells else "within them in all"
    real = ", ".join(one for one in own["population"].unique() if one != "normal")
    return [
        f"In simulations from {real} and normal scores ({len(own)} kinds of studies) the interval held the true value in "
        f"{100 * own['coverage'].min():.1f} to {100 * own['coverage'].max():.1f} % of studies, where "
        f"{100 * own['nominal'].iloc[0]:g} % was meant. Limits of {100 * low:g} and {100 * high:g} % were set beforehand; "
        f"it is {found}."
    ]


def describe_agreement(coverage: pd.DataFrame) -> list[str]:
    """Say in which share of studies intervals of agreement held the true value.

    Parameters
    ----------
    coverage : DataFrame
        results/wmt2023/coverage.csv.

    Returns
    -------
    list of str
    """
    first = coverage.iloc[0]
    shares = [f"`{row.statistic}` {100 * row.coverage:.1f} %" for row in coverage.itertuples()]
    return [
        f"In {first['studies']} studies of {first['topics']} topics, drawn from {first['population']} "
        f"({first['runs']} runs), where {100 * first['nominal']:g} % was meant, the interval held the true value in: "
        f"{', '.join(shares)}; of single measures between {100 * coverage['least'].min():.1f} and "
        f"{100 * coverage['most'].max():.1f} %."
    ]


def describe_differences(coverage: pd.DataFrame) -> list[str]:
    """Say how often intervals of agreement, and of differences between measures, held the true value.

    Parameters
    ----------
    coverage : DataFrame
        results/calibration/agreements/agreement.csv.

    Returns
    -------
    list of str
    """
    low, high = STUDY["coverage"]["limits"]
    first = coverage.iloc[0]
    differs = coverage["interval"].str.startswith("difference of ")
    said = [
        f"Studies were simulated, {first['studies']} each from {', '.join(coverage['population'].unique())} scores; "
        f"{100 * first['nominal']:g} % was meant, and limits of {100 * low:g} and {100 * high:g} % were set beforehand."
    ]
    many = coverage["n_topics"] >= ENOUGH_TOPICS
    for word, rows in ((f"{ENOUGH_TOPICS} topics or more", many), ("Fewer topics", ~many)):
        for what, chosen in (("statistics", ~differs), ("differences of two measures", differs)):
            own = coverage[rows & chosen]
            outside = own[~own["coverage"].between(low, high)]
            names = dict.fromkeys(f"`{one.removeprefix('difference of ')}`" for one in outside["interval"])
            named = f" ({', '.join(names)})" if names else ""
            shares = f"{100 * own['coverage'].min():.1f} to {100 * own['coverage'].max():.1f} %"
            said.append(
                f"{word}, {what}: the interval held the true value in {shares}; outside of the limits in {len(outside)} of "
                f"{len(own)} cells{named}."
            )
    return said


def order_changes(means: pd.DataFrame) -> list[str]:
    """Say what changes the ranking of measures by discriminative power, what changes it most first.

    Parameters
    ----------
    means : DataFrame
        As `experiments.calibration.reliability.average_collections` returns it.

    Returns
    -------
    list of str
    """
    other = means.xs("another test than " + PAPERS_TEST, drop_level=False)
    rows = pd.concat([means.xs(PAPERS_TEST, level="test", drop_level=False), other.nsmallest(1, "τ_b")])
    parts = []
    for (changed, test), row in rows.sort_values("τ_b").iterrows():
        changed = f"another test ({test})" if test != PAPERS_TEST else changed
        parts.append(f"{changed} {row['τ_b']:.2f} ± {row['its error']:.2f} ({row['collections']:g})")
    return [
        "How far the ranking of measures by discriminative power stays the same if something else changes, as mean τ_b with "
        f"the ranking by the {PAPERS_TEST} test ± standard error (and collections), what changes it most first: "
        f"{', '.join(parts)}."
    ]


def describe_unequal_spread(rates: pd.DataFrame) -> list[str]:
    """Say how often the papers' test finds a false difference where two runs vary more than the others.

    Parameters
    ----------
    rates : DataFrame
        As `experiments.calibration.rates.compute_rates` returns it.

    Returns
    -------
    list of str
    """
    (row,) = rates[(rates[list(UNEQUAL_SPREAD)] == pd.Series(UNEQUAL_SPREAD)).all(axis=1)].to_dict("records")
    return [
        f"With {row['runs']} runs of equal mean on {row['topics']} topics, two of which vary three times as much as the "
        f"others, the randomised Tukey HSD test found a false difference in {100 * row['error']:.1f} % of "
        f"{row['studies']:,} simulated studies, where α is {100 * ALPHA:g} %."
    ]


def show_answer(answer: dict[str, str]) -> list[str]:
    """Return the picture of a comparison, with its verdict and the command that makes both.

    Parameters
    ----------
    answer : dict
        docs/answer/answer.json.

    Returns
    -------
    list of str
        Markdown.
    """
    return [
        "![The answer of a comparison: how a measure ranks runs, how consistent it is, what it finds significant, and what "
        "it contradicts](docs/answer/answer.svg)\n\n"
        f"*{answer['verdict']}*\n\n"
        f"The answer of `{answer['command']}`, whose report has all tables and figures; `python docs/render_answer.py` renews "
        "it."
    ]


def compare_preferences(comparison: pd.DataFrame) -> list[str]:
    """Say how many of the numbers of topics in LQ 2021, Table 7, came out on the data of the example.

    Parameters
    ----------
    comparison : DataFrame
        results/lq2021/stc3/comparison.csv.

    Returns
    -------
    list of str
    """
    own = comparison[(comparison["item"] == "Table 7") & (comparison["data"] == "stc3-dq-a")]
    exact = int((own["verdict"] == "exact").sum())
    return [f"LQ 2021, Table 7, prints {len(own)} of these counts; {exact} of them came out."]


def tabulate_workers(workers: pd.DataFrame) -> list[str]:
    """Return how long the same test takes with threads, processes and a cluster.

    Parameters
    ----------
    workers : DataFrame
        benchmarks/measured/workers.csv.

    Returns
    -------
    list of str
        A table in Markdown.
    """
    wide = workers.pivot(index="name", columns="where", values="seconds")
    wide = wide.loc[workers["name"].unique(), workers["where"].unique()]
    lines = [f"| data | {' | '.join(wide.columns)} |", f"| :-- |{' --: |' * wide.shape[1]}"]
    for name, row in wide.iterrows():
        lines.append(f"| {name} | {' | '.join(f'{1000 * seconds:.0f} ms' for seconds in row)} |")
    return ["\n".join(lines)]


def compare_engines(tukey: pd.DataFrame) -> list[str]:
    """Say how much faster one engine is than the other.

    Parameters
    ----------
    tukey : DataFrame
        benchmarks/measured/tukey.csv.

    Returns
    -------
    list of str
    """
    own = tukey["name"].str.extract(r"^(numba|numpy), one measure")[0]
    numba, numpy = (1000 * tukey.loc[own == engine, "seconds"].iloc[0] for engine in ("numba", "numpy"))
    return [
        "In `python -m benchmarks tukey`, with the smaller size above, numba took "
        f"{numba:.1f} ms a measure and numpy {numpy:.1f} ms."
    ]


def list_memory(memory: pd.DataFrame) -> list[str]:
    """Say how much memory whole processes need.

    Parameters
    ----------
    memory : DataFrame
        benchmarks/measured/memory.csv.

    Returns
    -------
    list of str
    """
    return [f"{row.name}: {row.megabytes:.0f} MB" for row in memory.itertuples(index=False)]
