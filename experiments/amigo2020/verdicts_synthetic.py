"""Whether the conclusions of §5.3 come out: over seeds, under other readings of the text, and in the printed table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.amigo2020.verdicts import agree, conclude, judge_all, judge_parts, judge_seeds, span
from experiments.bounds import BOUNDS
from experiments.verdicts import PRINT, Found
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

OWN, FLAT = "CEM_ORD", "CEM_ORD flat"
REFERENCE = ("Accuracy", "Kendall", "MI")
ERRORS = ("MAE", "MAE_m", "MSE", "MSE_m")
SAME = 1e-9
THIS = "this reading"
DATA = f"synthetic, {THIS}"

Judge = Callable[[np.ndarray, Sequence[str], Sequence[str]], Found]
"""From coverages, shape (seed, row, column), rows and columns to what came out."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What one simulation says of single runs.

    Parameters
    ----------
    means : DataFrame
        Mean score over topics, one row per run, one column per measure of Table 3; higher is better.
    centred : float
        Share of topics in which no class has more gold items than the class at the centre.
    perfect : float
        Mean τ_a of a run without mistakes; less than 1, as gold has ties.
    """

    means: pd.DataFrame
    centred: float
    perfect: float


def judge_synthetic(
    readings: Mapping[str, np.ndarray],
    printed: np.ndarray,
    runs: Sequence[Runs],
    rows: Sequence[str],
    columns: Sequence[str],
) -> list[Verdict]:
    """Return the verdicts on everything that §5.3 concludes.

    Parameters
    ----------
    readings : mapping of str to ndarray, shape (seed, row, column)
        Coverage under this reading and, if there, others.
    printed : ndarray, shape (row, column)
        As labelled.
    runs : sequence of Runs
        One for each seed.
    rows, columns : sequence of str

    Returns
    -------
    list of Verdict
    """
    judges: dict[str, Judge] = {
        "best_synthetic": judge_best,
        "reference_synthetic": judge_reference,
        "flat_synthetic": judge_flat,
        "log_synthetic": judge_flat,
        "columns_vary": judge_columns,
    }
    seeds = [("seeds", str(len(runs))), ("intervals", "the lowest and the highest of them")]
    found = []
    for name, judge in judges.items():
        found.append(conclude(name, DATA, judge(readings[THIS], rows, columns), seeds))
        others = {reading: judge(values, rows, columns)[0] for reading, values in readings.items() if reading != THIS}
        if others:
            found.append(_judge_readings(name, others, seeds))
        found.append(conclude(name, f"{PRINT}: Table 3 (left)", judge(printed[None], rows, columns)))
    single: dict[str, Callable[[Runs], Found]] = {
        "majority_class": judge_majority,
        "displacement": judge_displacement,
        "random_order": judge_random_order,
        "random_proximity": judge_random_proximity,
        "random_majority": judge_random_majority,
    }
    for conclusion, decide in single.items():
        result, counts, reason = agree(decide, runs, of="seeds")
        found.append(conclude(conclusion, DATA, result, [("seeds", counts), ("figures", "of the first seed")], reason))
    return found


def _judge_readings(name: str, words: Mapping[str, OutcomeWord], seeds: list[tuple[str, str]]) -> Verdict:
    """Return what other readings of the text come to; where they disagree it cannot be told."""
    counts = Counter(words.values())
    evidence = tuple(Evidence(f"readings: {word}", n) for word, n in counts.items())
    word, reason = next(iter(counts)), ""
    if len(counts) > 1:
        usual = counts.most_common(1)[0][0]
        unlike = "; ".join(f"{reading}: {one}" for reading, one in words.items() if one != usual)
        word, reason = "cannot tell", f"readings disagree, other than {usual}: {unlike}"
    return conclude(name, "synthetic, other readings", (word, evidence), seeds, reason)


def _judge_gaps(gaps: np.ndarray, columns: Sequence[str], name: str) -> Found:
    """Judge differences that must be above 0 in each column, shape (seed, column)."""
    words = [judge_seeds(gap > SAME) for gap in gaps.T]
    return judge_parts(words), tuple(
        span(f"{name}, {column}", gap) for column, gap in zip(columns, gaps.T, strict=True)
    )


def judge_best(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Found:
    """Is CEM_ORD above all other measures, column by column?"""
    own = rows.index(OWN)
    others = np.delete(values, own, axis=1).max(axis=1)
    return _judge_gaps(values[:, own] - others, columns, "above the best other measure by")


def judge_reference(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Found:
    """Is CEM_ORD above each of the three reference measures, column by column?"""
    best = values[:, [rows.index(row) for row in REFERENCE]].max(axis=1)
    return _judge_gaps(values[:, rows.index(OWN)] - best, columns, "above the best of the three by")


def judge_flat(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Found:
    """Is CEM_ORD above its flat version, column by column?"""
    return _judge_gaps(values[:, rows.index(OWN)] - values[:, rows.index(FLAT)], columns, "above flat by")


def judge_columns(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Found:
    """Does the coverage of some measure change substantially from column to column?"""
    change = np.ptp(values, axis=2)
    most = int(change.mean(axis=0).argmax())
    word = judge_seeds(change.max(axis=1) >= BOUNDS["substantial change of coverage"].value)
    return word, (span(f"largest change, of {rows[most]}", change[:, most]),)


def judge_majority(runs: Runs) -> Found:
    """Is the class at the centre the largest one in every topic?"""
    word: OutcomeWord = "holds" if runs.centred == 1 else "holds in part" if runs.centred else "does not hold"
    return word, (Evidence("share of topics", runs.centred, digits=2),)


def judge_displacement(runs: Runs) -> Found:
    """Has a total displacement the highest Kendall and the lowest Accuracy of all runs?"""
    kendall, accuracy = runs.means["Kendall"], runs.means["Accuracy"]
    run = "tdisp-1"
    met = kendall[run] >= kendall.max() - SAME, accuracy[run] <= accuracy.min() + SAME
    evidence = (
        Evidence(f"τ_a of {run}", float(kendall[run])),
        Evidence(f"highest, of {kendall.idxmax()}", float(kendall.max())),
        Evidence(f"Accuracy of {run}", float(accuracy[run])),
        Evidence(f"lowest, of {accuracy.idxmin()}", float(accuracy.min())),
    )
    return judge_all(met), evidence


def judge_random_order(runs: Runs) -> Found:
    """Does a run with 30 % random classes keep 70 % of Accuracy and lose more of the order?"""
    means = runs.means.loc["rand-0.3"]
    lost = 1 - means["Kendall"] / runs.perfect
    met = means["Accuracy"] >= 0.7 - SAME, lost > 1 - means["Accuracy"]
    evidence = (
        Evidence("Accuracy", float(means["Accuracy"])),
        Evidence("share of the perfect run's τ_a that is lost", float(lost)),
    )
    return judge_all(met), evidence


def _compare(runs: Runs, one: str, other: str, names: Sequence[str]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(f"{name} of {run}", float(runs.means.loc[run, name])) for name in names for run in (one, other)
    )


def judge_random_proximity(runs: Runs) -> Found:
    """Is rand-0.3 above prox-0.5 by Accuracy, and not by some error measure?"""
    one, other = "rand-0.3", "prox-0.5"
    gap = runs.means.loc[one] - runs.means.loc[other]
    not_better = [name for name in ERRORS if gap[name] <= SAME]
    return judge_all([gap["Accuracy"] > SAME, bool(not_better)]), _compare(runs, one, other, ["Accuracy", *not_better])


def judge_random_majority(runs: Runs) -> Found:
    """Is maj-0.4 above rand-0.3 by some measure, and not by MI?"""
    one, other = "maj-0.4", "rand-0.3"
    gap = runs.means.loc[one] - runs.means.loc[other]
    better = [name for name in gap.index if name != "MI" and gap[name] > SAME]
    evidence = Evidence("measures by which maj-0.4 is better", len(better)), *_compare(runs, one, other, ["MI"])
    return judge_all([bool(better), gap["MI"] <= SAME]), evidence
