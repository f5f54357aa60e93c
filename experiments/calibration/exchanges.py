"""How often is a measure called better than an equally good one? Exchange tests and paired intervals of agreement.

The measures of a study are the reference with noise of one size, so that none is better than another over all runs and
topics. With a run effect each favours some runs on every topic, as real measures do: on the runs of a study one is then
closer to the reference than another, but on other runs it need not be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import metaeval
from metaeval.files import write_atomically

ALPHA, TRIALS, BATCH, SEED = 0.05, 200, 10, 5

STATISTICS = (
    "pairwise_accuracy", "spa", "pearson", "spearman", "tau_a", "tau_b", "topic_pearson", "acc_t", "acc_t_cells",
    "tau_ap_b", "tau_gap",
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
    """Return a reference and measures that are equally good.

    Parameters
    ----------
    setting : Setting
    study : int
        Each has random draws of its own.
    n_measures : int, optional

    Returns
    -------
    Scores
        The first measure is the reference.
    """
    rng = np.random.default_rng([SEED, setting.n_runs, setting.n_topics, round(100 * setting.run_effect), study])
    shape = (setting.n_runs, setting.n_topics)
    reference = rng.standard_normal((setting.n_runs, 1, 1)) + rng.standard_normal((*shape, 1))
    effects = setting.run_effect * rng.standard_normal((setting.n_runs, 1, n_measures))
    values = np.concatenate([reference, reference + effects + rng.standard_normal((*shape, n_measures))], axis=-1)
    names = ["reference", *(f"measure {one}" for one in range(1, n_measures + 1))]
    return metaeval.Scores(
        values, runs=range(setting.n_runs), topics=range(setting.n_topics), measures=names, higher_is_better=True
    )


def judge_study(
    setting: Setting, study: int, statistics: Sequence[str] = STATISTICS, trials: int = TRIALS
) -> list[list[float]]:
    """Return by statistic and rule the share of wrong judgements of one study.

    Parameters
    ----------
    setting : Setting
    study : int
    statistics : sequence of str, optional
    trials : int, optional
        Exchanges, and resamples of topics.

    Returns
    -------
    list of list of float, shape (statistic, rule)
        Of `RULES`: of both directions of all pairs of measures, and for the other two of all pairs.
    """
    held = metaeval.agreement(
        simulate_measures(setting, study), reference="reference", statistics=statistics, n_permutations=trials,
        n_bootstrap=trials, alpha=ALPHA, confidence=1 - ALPHA, seed=study,
    )  # fmt: skip
    rows = []
    for _, own in held.differences().groupby("statistic", sort=False):
        p = own[["p_first", "p_second"]].to_numpy() <= ALPHA
        better = np.stack([own["low"] > 0, own["high"] < 0], axis=1)
        rows.append([float(p.mean()), float(better.any(axis=1).mean()), float((p & better).any(axis=1).mean())])
    return rows


def find_file(setting: Setting, batch: int, folder: Path) -> Path:
    """Return the file of a batch of studies."""
    return folder / f"{setting.n_runs}x{setting.n_topics}-effect-{setting.run_effect:g}-{batch:03d}.json"


def simulate_batch(setting: Setting, batch: int, folder: Path) -> None:
    """Judge the studies of a batch, and keep what is found."""
    found = [judge_study(setting, study) for study in range(batch * BATCH, (batch + 1) * BATCH)]
    write_atomically(find_file(setting, batch, folder), json.dumps(found))


def simulate_exchanges(
    folder: Path, n_jobs: int = 1, say: Callable[[str], None] = lambda _: None, settings: Sequence[Setting] = SETTINGS
) -> pd.DataFrame:
    """Do the batches that are not done, and return what all of them found.

    Parameters
    ----------
    folder : Path
        For finished batches; a run that was interrupted goes on where it was.
    n_jobs : int, optional
    say : callable, optional
        Called with a line of progress.
    settings : sequence of Setting, optional

    Returns
    -------
    DataFrame
        As from `collect_rates`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    batches = [(one, batch) for one in settings for batch in range(one.studies // BATCH)]
    batches.sort(key=lambda one: one[1])  # an interrupted simulation has as many studies of each setting
    todo = [one for one in batches if not find_file(*one, folder).exists()]
    say(f"{len(todo)} of {len(batches)} batches to do, kept in {folder}")
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(simulate_batch)(*one, folder) for one in todo)
    return collect_rates(folder, settings)


def collect_rates(folder: Path, settings: Sequence[Setting] = SETTINGS) -> pd.DataFrame:
    """Return how often each rule was wrong, from the batches that are done.

    Parameters
    ----------
    folder : Path
    settings : sequence of Setting, optional

    Returns
    -------
    DataFrame
        Columns statistic, rule, n_runs, n_topics, run_effect, alpha, rate, error (the standard error of the rate, from
        the spread between studies) and studies.
    """
    rows = []
    for setting in settings:
        files = [find_file(setting, batch, folder) for batch in range(setting.studies // BATCH)]
        done = [json.loads(path.read_text(encoding="utf-8")) for path in files if path.exists()]
        if not done:
            continue
        shares = np.concatenate(done)
        rates, errors = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
        for s, statistic in enumerate(STATISTICS):
            for r, rule in enumerate(RULES):
                place = (statistic, rule, *astuple(setting)[:3], ALPHA)
                rows.append((*place, rates[s, r], errors[s, r], len(shares)))
    columns = ["statistic", "rule", "n_runs", "n_topics", "run_effect", "alpha", "rate", "error", "studies"]
    return pd.DataFrame(rows, columns=columns)


def find_excess(rates: pd.DataFrame, rule: str, effect: bool) -> dict[str, tuple[float, float]]:
    """Return the largest rate, with its standard error, of the statistics by which a rule errs more often than α.

    Parameters
    ----------
    rates : DataFrame
        As from `collect_rates`.
    rule : str
        One of `RULES`.
    effect : bool
        Of settings with or without run effects.

    Returns
    -------
    dict of str to (rate, error)
        Statistics with a setting in which the rate is above α by more than two standard errors; the rate is the largest
        of these settings.
    """
    own = rates[(rates["rule"] == rule) & ((rates["run_effect"] > 0) == effect)]
    own = own[own["rate"] - 2 * own["error"] > own["alpha"]].sort_values("rate")
    pairs = zip(own["rate"].tolist(), own["error"].tolist(), strict=True)
    found = dict(zip(own["statistic"].tolist(), pairs, strict=True))
    return {one: found[one] for one in STATISTICS if one in found}


def describe_exchanges(rates: pd.DataFrame) -> list[str]:
    """Say how often a measure was called better than an equally good one, by each rule.

    Parameters
    ----------
    rates : DataFrame
        As from `collect_rates`.

    Returns
    -------
    list of str
    """
    sizes = rates.drop_duplicates(["n_runs", "n_topics", "run_effect"])
    named = " and ".join(dict.fromkeys(f"{one.n_runs} runs × {one.n_topics} topics" for one in sizes.itertuples()))
    studies = " or ".join(map(str, sorted(set(sizes["studies"]))))
    alpha, effects = f"{100 * rates['alpha'].iloc[0]:g} %", f"{rates['run_effect'].max():g}"
    said = [
        f"Simulated were studies of five equally good measures ({named}, {studies} of each kind), at α = {alpha}; ± is one "
        f"standard error, which is at most {100 * rates['error'].max():.1f} %. Exchange tests are one-sided; clusters "
        "test in the direction seen, so that the rates of both directions add up. The interval leaves 0 out on either side."
    ]
    rules = {"exchange test": "exchange tests", "interval": "paired intervals", "both": "both in favour of one measure"}
    for effect, where in ((False, "Noise in cells alone"), (True, f"Run effects of standard deviation {effects}")):
        for rule, what in rules.items():
            own = rates[(rates["rule"] == rule) & ((rates["run_effect"] > 0) == effect)]["rate"]
            excess = [f"`{one}` {write_rate(*pair)}" for one, pair in find_excess(rates, rule, effect).items()]
            above = f"above {alpha} by more than two standard errors: {', '.join(excess) or 'none'}"
            said.append(f"{where}, {what}: {100 * own.min():.1f} to {100 * own.max():.1f} %; {above}.")
    return said


def write_rate(rate: float, error: float) -> str:
    """Return a rate with its standard error, as ``10.8 ± 1.2 %``."""
    return f"{100 * rate:.1f} ± {100 * error:.1f} %"
