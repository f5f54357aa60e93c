"""How often is a measure called better than an equally good one? Exchange tests and paired intervals of agreement.

The measures of a study are the reference with noise of one size, so that none is better than another over all runs and
topics. With a run effect each favours some runs on every topic, as real measures do: on the runs of a study one is then
closer to the reference than another, but on other runs it need not be.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import metaeval

ALPHA, TRIALS, SEED = 0.05, 200, 5

STATISTICS = (
    "pairwise_accuracy", "spa", "pearson", "spearman", "tau_a", "tau_b", "topic_pearson", "topic_tau_b", "topic_spearman",
    "acc_t", "tau_ap_b", "tau_gap",
)  # fmt: skip

RULES = ("exchange test", "interval", "both")
"""One-sided p ≤ α; the paired interval at 1 − α leaves 0 out, on either side; and both in favour of one measure."""


@dataclass(frozen=True)
class Setting:
    """A size of study, and the standard deviation of the measures' run effects; that of all noise in a cell is 1."""

    n_runs: int
    n_topics: int
    run_effect: float
    studies: int


SETTINGS = (
    Setting(10, 40, 0.0, 100),
    Setting(10, 40, 0.3, 100),
    Setting(30, 200, 0.0, 70),
    Setting(30, 200, 0.3, 70),
)


def simulate_measures(setting: Setting, study: int, n_measures: int = 5) -> metaeval.Scores:
    """Return a reference and measures that are equally good."""
    rng = np.random.default_rng([SEED, setting.n_runs, setting.n_topics, round(100 * setting.run_effect), study])
    shape = (setting.n_runs, setting.n_topics)
    reference = rng.standard_normal((setting.n_runs, 1, 1)) + rng.standard_normal((*shape, 1))
    effects = setting.run_effect * rng.standard_normal((setting.n_runs, 1, n_measures))
    values = np.concatenate([reference, reference + effects + rng.standard_normal((*shape, n_measures))], axis=-1)
    names = ["reference", *(f"measure {m}" for m in range(1, n_measures + 1))]
    return metaeval.Scores(
        values, runs=range(setting.n_runs), topics=range(setting.n_topics), measures=names, higher_is_better=True
    )


def judge_study(
    setting: Setting, study: int, statistics: Sequence[str] = STATISTICS, trials: int = TRIALS
) -> list[list[float]]:
    """Return by statistic and rule the share of wrong judgements of one study."""
    agreement = metaeval.agreement(
        simulate_measures(setting, study), reference="reference", statistics=statistics, n_permutations=trials,
        n_bootstrap=trials, alpha=ALPHA, confidence=1 - ALPHA, simultaneous=False, seed=study,
    )  # fmt: skip
    rows = []
    for _, pairs in agreement.differences().groupby("statistic", sort=False):
        p = pairs[["p_first", "p_second"]].to_numpy() <= ALPHA
        better = np.stack([pairs["low"] > 0, pairs["high"] < 0], axis=1)
        rows.append([float(p.mean()), float(better.any(axis=1).mean()), float((p & better).any(axis=1).mean())])
    return rows


def count_exchanges(folder: Path, n_jobs: int = 1, settings: Sequence[Setting] = SETTINGS) -> pd.DataFrame:
    """Judge the studies that are not judged yet, and return how often each rule was wrong.

    The ``error`` of a rate is its standard error, from the spread between studies.
    """
    cached = joblib.Memory(folder, verbose=0).cache(judge_study)
    rows = []
    for setting in settings:
        with joblib.parallel_config("loky", inner_max_num_threads=1):
            judged = joblib.Parallel(n_jobs=n_jobs)(
                joblib.delayed(cached)(setting, study) for study in range(setting.studies)
            )
        shares = np.array(judged)
        rates, errors = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
        for (s, statistic), (r, rule) in itertools.product(enumerate(STATISTICS), enumerate(RULES)):
            labels = (statistic, rule, *astuple(setting)[:3], ALPHA)
            rows.append((*labels, rates[s, r], errors[s, r], len(shares)))
    columns = ["statistic", "rule", "n_runs", "n_topics", "run_effect", "alpha", "rate", "error", "studies"]
    return pd.DataFrame(rows, columns=columns)


def find_excess(rates: pd.DataFrame, rule: str, effect: bool) -> dict[str, tuple[float, float]]:
    """Return the largest rate, with its standard error, of the statistics by which a rule errs more often than α."""
    rows = rates[(rates["rule"] == rule) & ((rates["run_effect"] > 0) == effect)]
    rows = rows[rows["rate"] - 2 * rows["error"] > rows["alpha"]].sort_values("rate")
    largest = {str(row.statistic): (float(row.rate), float(row.error)) for row in rows.itertuples()}
    return {statistic: largest[statistic] for statistic in STATISTICS if statistic in largest}
