"""The page of findings: every sentence with a number in it is made from the numbers, by the rule that it states."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import metaeval


@dataclass(frozen=True)
class Studied:
    """The results on one collection.

    Parameters
    ----------
    scores : Scores
    consistency : SplitHalfConsistency
    power : DiscriminativePower
    overlap : SignificanceOverlap
    contradictions : SignificanceContradictions
    """

    scores: metaeval.Scores
    consistency: metaeval.SplitHalfConsistency
    power: metaeval.DiscriminativePower
    overlap: metaeval.SignificanceOverlap
    contradictions: metaeval.SignificanceContradictions

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return [str(m) for m in self.scores.measures]


def best(one: Studied) -> str:
    """Return the measure that is significantly more consistent than all others, or nothing.

    Parameters
    ----------
    one : Studied

    Returns
    -------
    str
    """
    alone = np.flatnonzero(one.consistency.outperforms == len(one.measures) - 1)
    return one.measures[int(alone[0])] if len(alone) and len(one.measures) > 1 else ""


def page(
    studies: Sequence[Studied],
    pools: dict[str, metaeval.PooledDiscriminativePower],
    tables: dict[str, metaeval.Table],
) -> str:
    """Return the page: findings, their tables and figures, and what cannot be concluded.

    Parameters
    ----------
    studies : sequence of Studied
    pools : dict of str to PooledDiscriminativePower
    tables : dict of str to Table

    Returns
    -------
    str
        Markdown.
    """
    said = [*_power(studies, pools), *_consistency(studies), *_agreement(studies), *_overlaps(studies)]
    names = [one.scores.collection for one in studies]
    parts = [
        "# AP, nDCG, ERR, P@k and RR on seven TREC collections",
        "How many significant differences between runs does each retrieval measure find, and how well does it repeat "
        "its ranking of runs on other topics? `python -m experiments trec` makes this page and everything in this "
        "folder; sentences with numbers are written by rules from the numbers (experiments/trec/findings.py).",
        "## What came out",
        "\n".join(f"- {line}" for line in said),
        tables["power"].to_markdown(),
        tables["consistency"].to_markdown(),
        *(
            f"{tables[f'pooled_{pool}'].to_markdown()}\n![Pooled over {len(one.collections)}](pooled_{pool}.png)"
            for pool, one in pools.items()
        ),
        (Path(__file__).parent / "reading.md").read_text(encoding="utf-8"),
        "## Where the rest is",
        "\n".join(
            f"- [{name}/]({name}/): consistency, power with [its curves]({name}/power.png), overlap, contradictions."
            for name in names
        ),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _power(studies: Sequence[Studied], pools: dict[str, metaeval.PooledDiscriminativePower]) -> list[str]:
    """Say which measure is most discriminative in each collection, and pooled."""
    first = Counter(one.measures[int(np.argmax(one.power.significant.sum(axis=1)))] for one in studies)
    listed = ", ".join(f"{name} in {n}" for name, n in first.most_common())
    said = [f"Most significant run pairs, of {len(studies)} collections: {listed}."]
    for one in pools.values():
        order = np.argsort(-one.power, kind="stable")
        powers = ", ".join(
            f"{one.measures[m]} {100 * one.power[m]:.1f} % [{100 * one.low[m]:.1f}, {100 * one.high[m]:.1f}]"
            for m in order
        )
        said.append(
            f"Pooled over {len(one.collections)} collections ({int(one.pairs.sum()):,} run pairs), with the interval "
            f"over runs: {powers}."
        )
    return said


def _consistency(studies: Sequence[Studied]) -> list[str]:
    """Say which measure is alone the most, or among the least, consistent."""
    alone = Counter(best(one) for one in studies if best(one))
    listed = ", ".join(f"{name} in {n}" for name, n in alone.most_common()) or "none in any"
    last = Counter(one.measures[int(np.argmin(one.consistency.means))] for one in studies)
    worst = ", ".join(f"{name} in {n}" for name, n in last.most_common())
    return [
        f"Significantly more consistent than every other measure, of {len(studies)} collections: {listed}. Smallest "
        f"mean τ: {worst}."
    ]


def _agreement(studies: Sequence[Studied]) -> list[str]:
    """Say how often the more discriminative of two measures is also the more consistent one."""
    same = total = 0
    for one in studies:
        found, means = one.power.significant.sum(axis=1), one.consistency.means
        for i, j in itertools.combinations(range(len(one.measures)), 2):
            total += 1
            same += int((found[i] - found[j]) * (means[i] - means[j]) > 0)
    return [
        f"The more discriminative of two measures is the more consistent one in {same} of {total} pairs of measures "
        "(all collections)."
    ]


def _overlaps(studies: Sequence[Studied]) -> list[str]:
    """Say which measures agree most and least on what is significant, and whether they contradict each other."""
    said = []
    for one in studies:
        frame = one.overlap.to_frame().sort_values("sso", kind="stable")
        low, high = frame.iloc[0], frame.iloc[-1]
        text = f"{100 * float(low['sso']):.0f} % ({low['measure_1']} and {low['measure_2']})"
        if len(frame) > 1:
            text += f" to {100 * float(high['sso']):.0f} % ({high['measure_1']} and {high['measure_2']})"
        said.append(f"{one.scores.collection}: overlaps of what is significant: {text}.")
    against: Counter[str] = Counter()
    for one in studies:
        frame = one.contradictions.to_frame()
        for first, second, n in zip(frame["measure_1"], frame["measure_2"], frame["contradictions"], strict=True):
            against[f"{first} and {second}"] += int(n)
    found = ", ".join(f"{pair} {n}" for pair, n in against.most_common() if n)
    said.append(f"Contradictions over all collections: {found or 'none'}.")
    return said
