"""What can be seen of metrics without people: how much one separates, how consistent it is, whom it contradicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.old.outcome import Settings
from experiments.wmt2023.claims import Facts
from metaeval.analyses.reference_pairs import COUNTS, count_conclusions
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style
from metaeval.stats.pair_tests import RECOMMENDED

COLUMNS = ("significant", "consistency", "contradictions")
"""What is seen without people, and may go with agreement."""


@dataclass(frozen=True)
class Beside:
    """One collection looked at without and with people."""

    collection: str
    frame: pd.DataFrame
    """One row per metric."""
    n_pairs: int
    signature: metaeval.Signature


def look_without_people(
    scores: metaeval.Scores, agreement: metaeval.Agreement, study: Mapping[str, Any], settings: Settings
) -> Beside:
    """Test and split one collection, and hold the significant pairs of every metric against those of the reference."""
    options: dict[str, Any] = {
        "n_permutations": study["permutations"], "alpha": study["alpha"], "seed": settings.seed,
        "n_jobs": settings.n_jobs, "n_bootstrap": 0,
    }  # fmt: skip
    power = metaeval.discriminative_power(scores, **options)
    robust = metaeval.discriminative_power(scores, test=RECOMMENDED, **options)
    consistency = metaeval.split_half_consistency(
        scores, n_trials=study["splits"], seed=settings.seed, n_jobs=settings.n_jobs
    )
    names = [str(entry) for entry in agreement.measures]
    conclusions = np.where(power.significant, power.winners, 0)
    order = list(map(str, power.measures))
    mine = conclusions[[order.index(name) for name in names]]
    against = np.array([(entry * mine == -1).sum() for entry in mine])
    summary = power.summary().set_index("measure")
    shares = [(entry + low) / (1 + low) for entry, low in zip(agreement.values, _find_lows(agreement), strict=True)]
    counts = count_conclusions(mine, conclusions[order.index(str(agreement.reference))])
    frame = pd.DataFrame(
        {
            "significant": summary.loc[names, "significant"].to_numpy(),
            "mc_se": summary.loc[names, "mc_se"].to_numpy(),
            RECOMMENDED: robust.summary().set_index("measure").loc[names, "significant"].to_numpy(),
            **dict(zip(COUNTS, counts.T, strict=True)),
            "consistency": pd.Series(consistency.means, index=list(map(str, consistency.measures)))[names].to_numpy(),
            "contradictions": against,
            "agreement": np.mean(shares, axis=0),
        },
        index=pd.Index(names, name="metric"),
    )
    return Beside(scores.collection, frame, power.p_values.shape[1], power.signature)


def _find_lows(agreement: metaeval.Agreement) -> list[int]:
    """Return how far below 0 each statistic reaches: 1 for correlations."""
    return [int("pearson" in statistic) for statistic in agreement.statistics]


def tabulate_beside(looks: Sequence[Beside]) -> metaeval.Table:
    """Show what is seen without people beside agreement with them, of one collection or added over several."""
    frame = sum_looks(looks).sort_values("significant", ascending=False, kind="stable")
    shown = frame.rename(columns={"significant": "#sig", "mc_se": "±", "only_here": "only here"})
    pairs = sum(look.n_pairs for look in looks)
    caption = (
        f"Metrics by their significant pairs of runs (#sig of {pairs}, by randomised Tukey HSD, with Monte Carlo error; "
        f"then by {RECOMMENDED}); what people's significant pairs make of them; mean τ of halves; contradictions with the "
        "other metrics; and agreement, the mean of the tasks of a collection."
    )
    signature = looks[0].signature
    data = tuple(part for look in looks for part in look.signature.data)
    signed = metaeval.Signature("discriminative_power", data, signature.settings, signature.version)
    return metaeval.Table(shown, caption, signed, digits={"±": 1})


def sum_looks(looks: Sequence[Beside]) -> pd.DataFrame:
    """Add counts over collections, and average the rest."""
    frames = [each.frame for each in looks]
    total = sum(frames[1:], frames[0])
    total["mc_se"] = np.sqrt(np.sum([each["mc_se"] ** 2 for each in frames], axis=0))
    for name in ("consistency", "agreement"):
        total[name] = total[name] / len(frames)
    return total


def describe_beside(looks: Sequence[Beside], average: pd.Series) -> list[str]:
    """Return sentences about the metrics that separate most and that agree best, each made from the numbers."""
    frame, pairs = sum_looks(looks), sum(look.n_pairs for look in looks)
    by_power = frame["significant"].rank(ascending=False, method="min").astype(int)
    by_average = average.rank(ascending=False, method="min").astype(int)

    def describe(metric: str) -> str:
        row = frame.loc[metric]
        return (
            f"{metric} finds {int(row['significant'])} of {pairs} pairs of runs significant (rank {by_power[metric]} of "
            f"{len(frame)}; by {RECOMMENDED} {int(row[RECOMMENDED])}); people confirm {int(row['confirmed'])}, contradict "
            f"{int(row['contradicted'])}, and find nothing in {int(row['only_here'])}; its average is "
            f"{average[metric]:.3f} (rank {by_average[metric]})"
        )

    most, best = frame["significant"].idxmax(), average.idxmax()
    worst = frame["contradicted"].idxmax()
    sentences = [f"Separates most: {describe(most)}.", f"Agrees best: {describe(best)}."]
    if worst not in (most, best):
        sentences.append(f"Contradicted most often: {describe(worst)}.")
    for column in COLUMNS:
        correlations = "; ".join(
            f"{look.collection} {tau_b.value:.2f} [{tau_b.low:.2f}, {tau_b.high:.2f}]"
            for look in looks
            for tau_b in [Facts(look.collection, look.frame).correlation(column)]
        )
        sentences.append(f"τ_b over metrics between {column} and agreement, with jackknife intervals: {correlations}.")
    return sentences


def draw_beside(looks: Sequence[Beside]) -> Figure:
    """Draw what becomes of every metric's significant pairs, the most discriminative metric at the top."""
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
        axes.set_xlabel(f"significant pairs of runs, of {sum(look.n_pairs for look in looks)}")
        figure.legend(loc="outside upper center", ncols=3)
        return sign_figure(figure, tabulate_beside(looks).signature)
