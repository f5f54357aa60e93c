"""How often is one of equally good measures called better than another, and do intervals for other runs hold?

The measures of a study are the reference with noise of one size, so that none is better than another over all runs and
topics. With a run effect each favours some runs on every topic, as real measures do: on the runs of a study one is then
closer to the reference than another, but on other runs it need not be.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.studies.calibration.simulation import run_all
from metaeval.errors import MetaevalWarning
from metaeval.stats.intervals import Over


class Size(NamedTuple):
    """How many runs and topics a study has, and the number of studies.

    Measures have run effects of some spread, none where it is None; the noise of the first measure is so much of the others'.
    """

    n_runs: int
    n_topics: int
    studies: int
    effect: float | None = None
    first: float = 1.0


def simulate_measures(seed: int, size: Size, study: int, n_measures: int, spread: float = 0.5) -> metaeval.Scores:
    """Return a reference, whose means of runs have some spread, and measures."""
    kind = size.first if size.effect is None else size.effect
    rng = np.random.default_rng([seed, size.n_runs, size.n_topics, round(100 * kind), study])
    shape = (size.n_runs, size.n_topics)
    values = spread * rng.standard_normal((size.n_runs, 1, 1)) + rng.standard_normal((*shape, 1))
    effects = 0.0 if size.effect is None else size.effect * rng.standard_normal((size.n_runs, 1, n_measures))
    noise = rng.standard_normal((*shape, n_measures))
    noise[..., 0] *= size.first
    values = np.concatenate([values, values + effects + noise], axis=-1)
    names = ["reference", *(f"measure {m}" for m in range(1, n_measures + 1))]
    labels = {"runs": range(size.n_runs), "topics": range(size.n_topics), "measures": names}
    return metaeval.Scores(values, **labels, higher_is_better=True)


def compare_by_pairs(scores: metaeval.Scores, ask: Callable[[metaeval.Scores], pd.DataFrame]) -> pd.DataFrame:
    """Return what is known of every two measures by themselves, so that each interval is for its pair alone."""
    pairs = itertools.combinations(map(str, scores.measures), 2)
    return pd.concat([ask(scores.sel(measures=list(pair))) for pair in pairs], ignore_index=True)


def agree_by_pairs(scores: metaeval.Scores, **options: Any) -> pd.DataFrame:
    """Return the differences of every two measures in agreement with the first one, each pair with an interval for itself."""
    reference, *measures = map(str, scores.measures)
    parts = [
        metaeval.agreement(scores.sel(measures=[reference, *pair]), reference=reference, **options).differences()
        for pair in itertools.combinations(measures, 2)
    ]
    return pd.concat(parts, ignore_index=True)


# Exchange tests and paired intervals of agreement, of five equally good measures.

ALPHA = 0.05
EXCHANGED = (Size(10, 40, 100, 0.0), Size(10, 40, 100, 0.3), Size(30, 200, 70, 0.0), Size(30, 200, 70, 0.3))
STATISTICS = (
    "pairwise_accuracy", "spa", "pearson", "spearman", "tau_a", "tau_b", "topic_pearson", "topic_tau_b", "topic_spearman",
    "acc_t", "tau_ap_b", "tau_gap",
)  # fmt: skip
RULES = ("exchange test", "interval", "both")
"""One-sided p ≤ α; the paired interval at 1 − α leaves 0 out, on either side; and both in favour of one measure."""


def judge_exchanges(
    size: Size, study: int, statistics: Sequence[str] = STATISTICS, trials: int = 200
) -> list[list[float]]:
    """Return by statistic and rule the share of wrong judgements of one study."""
    differences = agree_by_pairs(
        simulate_measures(5, size, study, 5, 1.0), statistics=statistics, n_permutations=trials, n_bootstrap=trials,
        alpha=ALPHA, confidence=1 - ALPHA, seed=study,
    )  # fmt: skip
    rows = []
    for _, pairs in differences.groupby("statistic", sort=False):
        p = pairs[["p_first", "p_second"]].to_numpy() <= ALPHA
        better = np.stack([pairs["low"] > 0, pairs["high"] < 0], axis=1)
        rows.append([float(p.mean()), float(better.any(axis=1).mean()), float((p & better).any(axis=1).mean())])
    return rows


def count_exchanges(n_jobs: int = 1, sizes: Sequence[Size] = EXCHANGED) -> pd.DataFrame:
    """How often was each rule wrong? The ``error`` of a rate is its standard error, from the spread between studies."""
    rows = []
    for size in sizes:
        shares = np.array(run_all(judge_exchanges, ((size, study) for study in range(size.studies)), n_jobs))
        rates, errors = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
        for (s, statistic), (r, rule) in itertools.product(enumerate(STATISTICS), enumerate(RULES)):
            about = (statistic, rule, size.n_runs, size.n_topics, size.effect, ALPHA)
            rows.append((*about, rates[s, r], errors[s, r], len(shares)))
    columns = ["statistic", "rule", "n_runs", "n_topics", "run_effect", "alpha", "rate", "error", "studies"]
    return pd.DataFrame(rows, columns=columns)


def find_excess(rates: pd.DataFrame, rule: str, effect: bool) -> dict[str, tuple[float, float]]:
    """Return the largest rate, with its standard error, of the statistics by which a rule errs more often than α."""
    rows = rates[(rates["rule"] == rule) & ((rates["run_effect"] > 0) == effect)]
    rows = rows[rows["rate"] - 2 * rows["error"] > rows["alpha"]].sort_values("rate")
    largest = {str(row.statistic): (float(row.rate), float(row.error)) for row in rows.itertuples()}
    return {statistic: largest[statistic] for statistic in STATISTICS if statistic in largest}


# One of eight equally good measures, or of seven beside a better one.

TOGETHER = (Size(22, 50, 1000), Size(22, 50, 200, first=0.6))


def judge_together(size: Size, study: int, trials: int = 1000) -> list[tuple[str, str, float, float]]:
    """Return by question and kind of interval: whether one measure is said to be better, and of how many the first is."""
    scores = simulate_measures(8, size, study, 8)
    measures = scores.sel(measures=[str(measure) for measure in scores.measures[1:]])
    rows = []
    for simultaneous in (True, False):
        better = {}
        for test in ("randomised-tukey-hsd", "bootstrap-t"):
            options: dict[str, Any] = {"test": test, "n_permutations": trials, "n_bootstrap": trials, "seed": study}

            def ask(scores: metaeval.Scores, options: dict[str, Any] = options) -> pd.DataFrame:
                return metaeval.discriminative_power(scores, **options).differences

            better[f"power, {test}"] = (ask(measures) if simultaneous else compare_by_pairs(measures, ask))[
                "finds_more"
            ]
        statistics = ("pairwise_accuracy", "pearson", "tau_a", "topic_pearson", "acc_t")
        asked: dict[str, Any] = {"statistics": statistics, "n_permutations": 1, "n_bootstrap": trials, "seed": study}
        differences = agree_by_pairs(scores, **asked)
        if simultaneous:
            differences = metaeval.agreement(scores, reference="reference", **asked).differences()
        for statistic, pairs in differences.groupby("statistic", sort=False):
            better[f"agreement, {statistic}"] = pairs["better"]
        for question, names in better.items():
            claimed, found = float((names != "cannot tell").any()), float((names == "measure 1").sum() / 7)
            rows.append((question, "simultaneous" if simultaneous else "single", claimed, found))
    return rows


def count_together(n_jobs: int = 1, sizes: Sequence[Size] = TOGETHER) -> pd.DataFrame:
    """Return the share of studies with a false claim, or of the other measures that the first beats; ``error`` as above."""
    parts = []
    for size in sizes:
        judged = run_all(judge_together, ((size, study) for study in range(size.studies)), n_jobs)
        rows = pd.DataFrame(itertools.chain(*judged), columns=["question", "intervals", "claimed", "found"])
        by = rows.groupby(["question", "intervals"], sort=False)["claimed" if size.first == 1 else "found"]
        rates = pd.DataFrame({"rate": by.mean(), "error": by.std() / np.sqrt(size.studies)}).reset_index()
        truth = "equal" if size.first == 1 else f"first with noise {size.first:g}"
        parts.append(rates.assign(n_runs=size.n_runs, n_topics=size.n_topics, truth=truth, studies=size.studies))
    return pd.concat(parts, ignore_index=True)


# Intervals for other runs, and for the same ones.

CROSSED = tuple(Size(*sizes, 0, effect) for sizes in ((12, 40), (24, 80)) for effect in (0.0, 1 / 3))
WAYS: dict[Over, int] = {"runs and topics": 600, "topics": 1000}
"""What intervals speak of, and the number of studies."""


def judge_crossed(size: Size, study: int, over: Over, trials: int = 300) -> list[tuple[str, float, float, float]]:
    """Return numbers with their intervals: every statistic of one measure, and of two."""
    scores = simulate_measures(9, size, study, 3).sel(measures=["reference", "measure 1", "measure 2"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)
        agreement = metaeval.agreement(
            scores, reference="reference",
            statistics=("pairwise_accuracy", "spa", "pearson", "tau_a", "topic_pearson", "acc_t"),
            n_permutations=200, n_bootstrap=trials, seed=study, confidence=0.95, over=over,
        )  # fmt: skip
        of_one = agreement.to_frame().query("measure == 'measure 1'")
        of_two = agreement.differences().query("measure_1 == 'measure 1' and measure_2 == 'measure 2'")
    return [
        *((f"agreement, {row.statistic}", row.value, row.low, row.high) for row in of_one.itertuples()),
        *((f"difference, {row.statistic}", row.difference, row.low, row.high) for row in of_two.itertuples()),
    ]


def count_crossed(n_jobs: int = 1, sizes: Sequence[Size] = CROSSED, ways: dict[Over, int] = WAYS) -> pd.DataFrame:
    """How often do intervals hold the expected number, and how wide are they?

    The expected number is the mean over all studies, which have other runs and other topics; a ``width`` is the ratio of the
    mean width to that of an interval of ±1.96 standard deviations of the number over studies.
    """
    parts = []
    for size, (over, studies) in itertools.product(sizes, ways.items()):
        judged = run_all(judge_crossed, ((size, study, over) for study in range(studies)), n_jobs)
        rows = pd.DataFrame(itertools.chain(*judged), columns=["number", "value", "low", "high"])
        for number, some in rows.groupby("number", sort=False):
            expected = 0.0 if str(number).startswith("difference") else some["value"].mean()
            coverage = float(((some["low"] <= expected) & (expected <= some["high"])).mean())
            width = float((some["high"] - some["low"]).mean() / (2 * 1.96 * some["value"].std()))
            error = float(np.sqrt(coverage * (1 - coverage) / len(some)))
            effect = round(size.effect or 0.0, 2)
            parts.append((over, number, size.n_runs, size.n_topics, effect, coverage, error, width, len(some)))
    names = ["over", "number", "n_runs", "n_topics", "run_effect", "coverage", "error", "width", "studies"]
    return pd.DataFrame(parts, columns=names)
