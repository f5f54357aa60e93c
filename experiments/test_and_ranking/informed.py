"""Rankings of measures by discriminative power without the runs that never look at an item."""

from __future__ import annotations

import numpy as np
import pandas as pd

import metaeval
from experiments.answers import find_interval
from experiments.calibration.reliability import find_power, is_baseline
from experiments.test_and_ranking.verdicts import STUDY, make_verdict
from metaeval.show.verdict import Evidence, Verdict, judge_differences
from metaeval.stats.rank_correlation import tau

REFERENCE = STUDY["reference"]


def find_powers(name: str, scores: metaeval.Scores, seed: int) -> pd.DataFrame:
    """Return the power of every measure by every test without baselines; no row where there are none.

    Parameters
    ----------
    name : str
        Of the collection.
    scores : Scores
    seed : int

    Returns
    -------
    DataFrame
        Columns collection, measure, and one a test.
    """
    informed = [run for run in scores.runs if not is_baseline(run)]
    if len(informed) == len(scores.runs):
        return pd.DataFrame({"collection": [], "measure": []})
    fewer = scores.sel(runs=informed)
    powers = {test: find_power(fewer, test, seed) for test in STUDY["tests"]}
    return pd.DataFrame({"collection": name, "measure": [str(one) for one in scores.measures], **powers})


def compare_with_reference(powers: pd.DataFrame) -> dict[str, float]:
    """Return the mean τ_b between the ranking by the reference test and those by the others, by collection.

    Parameters
    ----------
    powers : DataFrame
        One row for a collection and a measure, one column a test.

    Returns
    -------
    dict of str to float
    """
    others = [test for test in STUDY["tests"] if test != REFERENCE]
    return {
        str(name): float(np.nanmean([tau(own[REFERENCE], own[test], variant="tau_b") for test in others]))
        for name, own in powers.groupby("collection", sort=False)
    }


def tabulate_informed(with_baselines: pd.DataFrame, without: pd.DataFrame) -> pd.DataFrame:
    """Return the mean τ_b between tests with baselines and without them, of collections that have some.

    Parameters
    ----------
    with_baselines, without : DataFrame
        One row for a collection and a measure, one column a test.

    Returns
    -------
    DataFrame
        Indexed by collection.
    """
    whole, fewer = compare_with_reference(with_baselines), compare_with_reference(without)
    rows = {name: {"with baselines": whole[name], "without": value} for name, value in fewer.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def judge_baselines(table: pd.DataFrame) -> Verdict:
    """Are rankings by different tests more alike without baselines?

    Parameters
    ----------
    table : DataFrame
        As `tabulate_informed` returns it.

    Returns
    -------
    Verdict
    """
    gap, low, high = find_interval((table["without"] - table["with baselines"]).to_numpy())
    evidence = (
        Evidence("mean τ_b between tests with baselines", float(table["with baselines"].mean())),
        Evidence("without them", float(table["without"].mean())),
        Evidence("without less with", gap, (low, high)),
    )
    name = f"{len(table)} collections with baselines"
    return make_verdict("baselines", name, judge_differences([(low, high)]), evidence, ("seed 0", "others not tried"))
