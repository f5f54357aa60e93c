"""What can be seen without people, how much a metric separates, how consistent it is, whom it contradicts; does it tell?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.outcome import Settings
from metaeval.analyses.reference_counts import COUNTS, count_confirmed
from metaeval.analyses.study import ROBUST_TEST
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict, judge_differences
from metaeval.stats.rank_correlation import tau

HERE = "this study"
LEVEL = 0.95
LOOKS = {
    "significant": ("Metrics that find more significant differences agree better with people.", 1),
    "consistency": ("Metrics that rank runs more consistently agree better with people.", 1),
    "contradictions": ("Metrics that contradict other metrics more often agree worse with people.", -1),
}
"""Columns of the table, a claim about each, and with which sign it should go with agreement."""


@dataclass(frozen=True)
class Beside:
    """One collection looked at without and with people.

    Parameters
    ----------
    collection : str
    frame : DataFrame
        One row per metric: significant, mc_se, significant by another test, the four `COUNTS`, consistency,
        contradictions, agreement.
    n_pairs : int
        Pairs of runs.
    signature : Signature
    """

    collection: str
    frame: pd.DataFrame
    n_pairs: int
    signature: metaeval.Signature


def look_without_reference(
    scores: metaeval.Scores, held: metaeval.Agreement, study: Mapping[str, Any], settings: Settings
) -> Beside:
    """Test and split one collection, and hold the significant pairs of every metric against those of the reference.

    Parameters
    ----------
    scores : Scores
    held : Agreement
    study : mapping
        B, splits, and α.
    settings : Settings

    Returns
    -------
    Beside
    """
    options: dict[str, Any] = {
        "n_permutations": study["permutations"], "alpha": study["alpha"], "seed": settings.seed,
        "n_jobs": settings.n_jobs, "n_bootstrap": 0,
    }  # fmt: skip
    power = metaeval.discriminative_power(scores, **options)
    robust = metaeval.discriminative_power(scores, test=ROBUST_TEST, **options)
    consistency = metaeval.split_half_consistency(
        scores, n_trials=study["splits"], seed=settings.seed, n_jobs=settings.n_jobs
    )
    names = [str(one) for one in held.measures]
    conclusions = np.where(power.significant, power.winners, 0)
    mine = conclusions[[list(map(str, power.measures)).index(name) for name in names]]
    against = np.array([(one * mine == -1).sum() for one in mine])
    summary = power.summary().set_index("measure")
    shares = [(one + low) / (1 + low) for one, low in zip(held.values, _find_lows(held), strict=True)]
    counts = count_confirmed(power, held.reference, held.measures)
    frame = pd.DataFrame(
        {
            "significant": summary.loc[names, "significant"].to_numpy(),
            "mc_se": summary.loc[names, "mc_se"].to_numpy(),
            ROBUST_TEST: robust.summary().set_index("measure").loc[names, "significant"].to_numpy(),
            **dict(zip(COUNTS, counts.T, strict=True)),
            "consistency": pd.Series(consistency.means, index=list(map(str, consistency.measures)))[names].to_numpy(),
            "contradictions": against,
            "agreement": np.mean(shares, axis=0),
        },
        index=pd.Index(names, name="metric"),
    )
    return Beside(scores.collection, frame, power.p_values.shape[1], power.signature)


def _find_lows(held: metaeval.Agreement) -> list[int]:
    """Return how far below 0 each statistic reaches: 1 for correlations."""
    return [int("pearson" in one) for one in held.statistics]


def tabulate_beside(looks: Sequence[Beside]) -> metaeval.Table:
    """Show what is seen without people beside agreement with them, of one collection or added over several.

    Parameters
    ----------
    looks : sequence of Beside

    Returns
    -------
    Table
    """
    frame = sum_looks(looks).sort_values("significant", ascending=False, kind="stable")
    shown = frame.rename(columns={"significant": "#sig", "mc_se": "±", "only_here": "only here"})
    pairs = sum(one.n_pairs for one in looks)
    caption = (
        f"Metrics by their significant pairs of runs (#sig of {pairs}, by randomised Tukey HSD, with Monte Carlo error; "
        f"then by {ROBUST_TEST}); what people's significant pairs make of them; mean τ of halves; contradictions with the "
        "other metrics; and agreement, the mean of the tasks of a collection."
    )
    signature = looks[0].signature
    data = tuple(part for one in looks for part in one.signature.data)
    signed = metaeval.Signature("discriminative_power", data, signature.settings, signature.version)
    return metaeval.Table(shown, caption, signed, digits={"±": 1})


def sum_looks(looks: Sequence[Beside]) -> pd.DataFrame:
    """Add counts over collections, and average the rest.

    Parameters
    ----------
    looks : sequence of Beside

    Returns
    -------
    DataFrame
    """
    frames = [one.frame for one in looks]
    total = sum(frames[1:], frames[0])
    total["mc_se"] = np.sqrt(np.sum([one["mc_se"] ** 2 for one in frames], axis=0))
    for name in ("consistency", "agreement"):
        total[name] = total[name] / len(frames)
    return total


def correlate_looks(frame: pd.DataFrame, column: str) -> tuple[float, float, float]:
    """Return Kendall's τ_b over metrics between a column and agreement, with its jackknife interval over metrics.

    Parameters
    ----------
    frame : DataFrame
        As of `Beside`.
    column : str

    Returns
    -------
    (float, float, float)
        τ_b, and both ends.
    """
    from scipy.stats import t

    one, two = frame[column].to_numpy(dtype=float), frame["agreement"].to_numpy()
    n = len(one)
    left = [float(tau(np.delete(one, i), np.delete(two, i), variant="tau_b")) for i in range(n)]
    error = float(np.sqrt((n - 1) / n * ((np.array(left) - np.mean(left)) ** 2).sum()))
    found = float(tau(one, two, variant="tau_b"))
    reach = float(t.ppf((1 + LEVEL) / 2, n - 1)) * error
    return found, max(found - reach, -1.0), min(found + reach, 1.0)


def find_largest(frame: pd.DataFrame) -> list[str]:
    """Return the metrics with the most significant pairs, as far as the trials tell: less than two errors apart."""
    top = frame["significant"].idxmax()
    reach = 2 * np.hypot(frame["mc_se"], frame.loc[top, "mc_se"])
    return list(frame.index[frame["significant"] >= frame.loc[top, "significant"] - reach])


def judge_beside(look: Beside) -> list[Verdict]:
    """Try, on one collection, whether what is seen without people tells how well a metric agrees with them.

    Parameters
    ----------
    look : Beside

    Returns
    -------
    list of Verdict
    """
    largest = look.frame.loc[find_largest(look.frame)]
    wrong = largest["contradicted"] > 0
    outcome: OutcomeWord = "does not hold" if wrong.all() else "holds in part" if wrong.any() else "holds"
    verdicts = [
        Verdict(
            "The metric that finds the most significant differences is right about them.",
            HERE,
            "MQM contradicts none of its significant pairs. Metrics less than two Monte Carlo errors of the difference "
            "below the first count as first too; it holds in part if it holds for some of them.",
            look.collection,
            outcome,
            tuple(
                Evidence(f"{name}: {what.replace('_', ' ')}", int(row[what]))
                for name, row in largest.iterrows()
                for what in ("significant", *COUNTS[:3])
            ),
            (("bootstrap-t", _name_robust(look.frame)),),
        )
    ]
    for column, (claim, direction) in LOOKS.items():
        found, low, high = correlate_looks(look.frame, column)
        ends = (low, high) if direction > 0 else (-high, -low)
        first = find_largest(look.frame)[0]
        others = correlate_looks(look.frame.drop(index=first), column)
        verdicts.append(
            Verdict(
                claim,
                HERE,
                f"τ_b between {column} and agreement, over metrics, is {'above' if direction > 0 else 'below'} 0, "
                f"and so is its {100 * LEVEL:g} % jackknife interval over metrics.",
                look.collection,
                judge_differences([ends]),
                (Evidence("τ_b", found, (low, high)),),
                ((f"without {first}", f"τ_b {others[0]:.3f} [{others[1]:.3f}, {others[2]:.3f}]"),),
            )
        )
    return verdicts


def _name_robust(frame: pd.DataFrame) -> str:
    top = frame[ROBUST_TEST].idxmax()
    return f"most: {top}, {frame.loc[top, ROBUST_TEST]}"


def describe_beside(looks: Sequence[Beside], average: pd.Series) -> list[str]:
    """Return sentences about the metrics that separate most and that agree best, each made from the numbers.

    Parameters
    ----------
    looks : sequence of Beside
    average : Series
        Of all tasks, by metric.

    Returns
    -------
    list of str
    """
    frame, pairs = sum_looks(looks), sum(one.n_pairs for one in looks)
    by_power = frame["significant"].rank(ascending=False, method="min").astype(int)
    by_average = average.rank(ascending=False, method="min").astype(int)

    def describe(metric: str) -> str:
        row = frame.loc[metric]
        return (
            f"{metric} finds {int(row['significant'])} of {pairs} pairs of runs significant (rank {by_power[metric]} of "
            f"{len(frame)}; by {ROBUST_TEST} {int(row[ROBUST_TEST])}); people confirm {int(row['confirmed'])}, contradict "
            f"{int(row['contradicted'])}, and find nothing in {int(row['only_here'])}; its average is "
            f"{average[metric]:.3f} (rank {by_average[metric]})"
        )

    most, best = frame["significant"].idxmax(), average.idxmax()
    worst = frame["contradicted"].idxmax()
    said = [f"Separates most: {describe(most)}.", f"Agrees best: {describe(best)}."]
    if worst not in (most, best):
        said.append(f"Contradicted most often: {describe(worst)}.")
    for column in LOOKS:
        found = "; ".join(
            f"{one.collection} {tau_b:.2f} [{low:.2f}, {high:.2f}]"
            for one in looks
            for tau_b, low, high in [correlate_looks(one.frame, column)]
        )
        said.append(f"τ_b over metrics between {column} and agreement, with jackknife intervals: {found}.")
    return said


def draw_beside(looks: Sequence[Beside]) -> Figure:
    """Draw what becomes of every metric's significant pairs, the most discriminative metric at the top.

    Parameters
    ----------
    looks : sequence of Beside

    Returns
    -------
    matplotlib.figure.Figure
    """
    frame = sum_looks(looks).sort_values("significant", kind="stable")
    shades = {"confirmed": "#0072b2", "only_here": "#bbbbbb", "contradicted": "#d55e00"}
    with house_style():
        figure = Figure(figsize=(6.4, 0.24 * len(frame) + 1.3), layout="constrained")
        axes = figure.subplots()
        start = np.zeros(len(frame))
        for name, colour in shades.items():
            label = {
                "confirmed": "confirmed by people",
                "only_here": "people find nothing",
                "contradicted": "contradicted",
            }
            axes.barh(range(len(frame)), frame[name], left=start, color=colour, height=0.75, label=label[name])
            start = start + frame[name].to_numpy()
        axes.set_yticks(range(len(frame)), list(frame.index))
        axes.set_ylim(-0.6, len(frame) - 0.4)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"significant pairs of runs, of {sum(one.n_pairs for one in looks)}")
        figure.legend(loc="outside upper center", ncols=3)
        return sign_figure(figure, tabulate_beside(looks).signature)
