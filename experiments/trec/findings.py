"""What the numbers say: every sentence with a number in it is made from the numbers, by the rule that it states."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

import metaeval
from metaeval.analyses.study import Study


def find_best(one: Study) -> str:
    """Return the measure that is significantly more consistent than all others, or nothing.

    Parameters
    ----------
    one : Study

    Returns
    -------
    str
    """
    alone = np.flatnonzero(one.consistency.outperforms == len(_name_measures(one)) - 1)
    return _name_measures(one)[int(alone[0])] if len(alone) and len(_name_measures(one)) > 1 else ""


def _name_measures(one: Study) -> list[str]:
    return [str(m) for m in one.scores.measures]


def describe_findings(studies: Sequence[Study], pools: dict[str, metaeval.PooledDiscriminativePower]) -> list[str]:
    """Return what came out, one sentence or two at a time.

    Parameters
    ----------
    studies : sequence of Study
    pools : dict of str to PooledDiscriminativePower

    Returns
    -------
    list of str
    """
    return [
        *_describe_power(studies, pools),
        *_describe_consistency(studies),
        *_describe_agreement(studies),
        *_describe_overlaps(studies),
    ]


def _describe_power(studies: Sequence[Study], pools: dict[str, metaeval.PooledDiscriminativePower]) -> list[str]:
    """Say which measure is most discriminative in each collection, and pooled."""
    first = Counter(_name_measures(one)[int(np.argmax(one.power.significant.sum(axis=1)))] for one in studies)
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


def _describe_consistency(studies: Sequence[Study]) -> list[str]:
    """Say which measure is alone the most, or among the least, consistent."""
    alone = Counter(find_best(one) for one in studies if find_best(one))
    listed = ", ".join(f"{name} in {n}" for name, n in alone.most_common()) or "none in any"
    last = Counter(_name_measures(one)[int(np.argmin(one.consistency.means))] for one in studies)
    worst = ", ".join(f"{name} in {n}" for name, n in last.most_common())
    return [
        f"Significantly more consistent than every other measure, of {len(studies)} collections: {listed}. Smallest "
        f"mean τ: {worst}."
    ]


def _describe_agreement(studies: Sequence[Study]) -> list[str]:
    """Say how often the more discriminative of two measures is also the more consistent one."""
    same = total = 0
    for one in studies:
        found, means = one.power.significant.sum(axis=1), one.consistency.means
        for i, j in itertools.combinations(range(len(_name_measures(one))), 2):
            total += 1
            same += int((found[i] - found[j]) * (means[i] - means[j]) > 0)
    return [
        f"The more discriminative of two measures is the more consistent one in {same} of {total} pairs of measures "
        "(all collections)."
    ]


def _describe_overlaps(studies: Sequence[Study]) -> list[str]:
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
