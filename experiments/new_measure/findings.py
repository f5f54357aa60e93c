"""What the numbers say: every sentence with a number in it is made from the numbers, by the rule that it states."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import metaeval
from experiments.new_measure.formulas import FAVOURED, count_misorders, find_largest, list_steps
from experiments.new_measure.gold import describe_gold
from experiments.new_measure.pooled import compare_with_parent, list_contradictions
from metaeval.analyses.study import Study

UNEQUAL = 0.05
"""Which side of one half a share of topics has to be on, and how far, to be called a preference."""

FEW = 0.05
"""Below which share of significant run pairs a collection has next to nothing to say about significance."""


@dataclass(frozen=True)
class Evidence:
    """Everything the sentences are made from.

    Parameters
    ----------
    established, new : tuple of str
    parent : str
        What the new measures are variants of.
    studies : tuple of Study
        Collections of submitted runs.
    pooled : PooledDiscriminativePower
    preferences : dict of str to BaselinePreference
    contradictions : tuple of SignificanceContradictions
        Also of the collections that have baselines only.
    collections : dict of str to QuantificationRuns
    """

    established: tuple[str, ...]
    new: tuple[str, ...]
    parent: str
    studies: tuple[Study, ...]
    pooled: metaeval.PooledDiscriminativePower
    preferences: dict[str, metaeval.BaselinePreference]
    contradictions: tuple[metaeval.SignificanceContradictions, ...]
    collections: dict[str, metaeval.QuantificationRuns]


def judge_formulas(evidence: Evidence) -> list[str]:
    """Say of each new measure, and of its parent, whether its formula keeps the order of classes."""
    total = sum(1 for _ in list_steps(5))
    said = []
    for name in (evidence.parent, *evidence.new):
        measure = metaeval.measure(name)
        (worse, same), (worse_all, same_all) = count_misorders(measure, 5, 1.0), count_misorders(measure, 5, FAVOURED)
        if not worse + same + worse_all + same_all:
            verdict = "keeps the order of classes in every comparison"
        elif not worse + same:
            verdict = (
                "keeps the order of classes when the gold is all in one class, but not when every class has some gold "
                f"({worse_all + same_all} of {total} comparisons are wrong or undecided)"
            )
        elif same == total:
            verdict = (
                "does not know the order at all when the gold is all in one class "
                f"(all {total} comparisons undecided), and loses it in {worse_all + same_all} of {total} when every "
                "class has some"
            )
        else:
            verdict = (
                f"does not keep the order of classes ({worse + same} of {total} comparisons are wrong or undecided "
                f"with all gold in one class, {worse_all + same_all} with some in every class)"
            )
        said.append(f"**{name}** {verdict}.")
    return said


def weigh_measures(evidence: Evidence) -> list[str]:
    """Weigh each new measure against its parent, consistency and power, and say which are worth taking instead."""
    frame = compare_with_parent(evidence.studies, evidence.new, evidence.parent)
    names = [str(one) for one in evidence.pooled.measures]
    found = evidence.pooled.significant.sum(axis=0)
    said, worth = [], []
    for name in evidence.new:
        rows = frame.loc[name]
        verdicts = [*rows["halves verdict"], *rows["small verdict"]]
        better, worse = verdicts.count("better"), verdicts.count("worse")
        gain = int(found[names.index(name)] - found[names.index(evidence.parent)])
        power = "as many" if not gain else f"{abs(gain)} {'more' if gain > 0 else 'fewer'}"
        worth += [name] if better > worse and gain >= 0 else []
        said.append(
            f"**{name}** against {evidence.parent}: significantly more consistent in {better} of {len(verdicts)} "
            f"comparisons (collections × halves and small sets), less in {worse}; {power} significant run pairs of "
            f"{int(evidence.pooled.pairs.sum()):,}; τ with {evidence.parent} from {rows['tau'].min():.2f} to "
            f"{rows['tau'].max():.2f}."
        )
    answer = f"{', '.join(worth)} would be" if worth else "none of the three is"
    return [
        *said,
        f"By the rule “more often significantly more consistent than less, and no power lost” {answer} worth taking "
        f"instead of {evidence.parent} on these collections.",
    ]


def compare_powers(evidence: Evidence) -> list[str]:
    """Say how the pooled powers compare, and how consistent and how similar the measures are."""
    pooled = evidence.pooled
    order_of = np.argsort(-pooled.power, kind="stable")
    listed = ", ".join(f"{pooled.measures[m]} {100 * pooled.power[m]:.1f} %" for m in order_of)
    new = [m for m in range(len(pooled.measures)) if str(pooled.measures[m]) in evidence.new]
    parent = [str(m) for m in pooled.measures].index(evidence.parent)
    inside = all(pooled.low[m] <= pooled.power[parent] <= pooled.high[m] for m in new)
    said = [
        f"Pooled discriminative power over {len(pooled.collections)} collections: {listed}. The interval of every new "
        f"measure {'contains' if inside else 'does not always contain'} the power of {evidence.parent}."
    ]
    similar = np.mean([one.similarity.tau for one in evidence.studies], axis=0)
    names = [str(m) for m in evidence.studies[0].similarity.measures]
    for name in evidence.new:
        row = {other: float(similar[names.index(name), names.index(other)]) for other in evidence.established}
        near, far = max(row, key=row.__getitem__), min(row, key=row.__getitem__)
        said.append(
            f"{name} ranks runs most like {near} (mean τ {row[near]:.2f} over collections), least like {far} "
            f"({row[far]:.2f})."
        )
    for one in evidence.studies:
        best = [
            str(result.measures[int(np.argmax(result.means))]) for result in (one.consistency, one.small_consistency)
        ]
        size = one.small_consistency.sizes[0]
        said.append(f"{one.name}: most consistent are {best[0]} (halves) and {best[1]} ({size} vs. {size} topics).")
    return said


def describe_contradictions(evidence: Evidence) -> list[str]:
    """Say with whom each new measure contradicts itself, and on which runs."""
    pairs = list_contradictions(evidence.contradictions)
    said = []
    for name in evidence.new:
        against: dict[str, int] = {}
        for first, second in zip(pairs["for_run_1"], pairs["for_run_2"], strict=True):
            sides = (str(first).split(", "), str(second).split(", "))
            for mine, theirs in (sides, sides[::-1]):
                if name in mine:
                    for other in theirs:
                        against[other] = against.get(other, 0) + 1
        listed = ", ".join(f"{other} ({n})" for other, n in sorted(against.items()))
        said.append(f"{name} contradicts {listed}." if listed else f"{name} contradicts no other measure.")
    runs = sorted({f"{one} and {other}" for one, other in zip(pairs["run_1"], pairs["run_2"], strict=True)})
    said.append(
        f"All {len(pairs)} contradicted run pairs are between {'; '.join(runs)}." if runs else "There are none at all."
    )
    return said


def describe_preferences(evidence: Evidence) -> list[str]:
    """Say whether each measure prefers Popularity or Uniform, over all topics."""
    said = []
    for name in (*evidence.established, *evidence.new):
        uniform = popularity = 0
        for preference in evidence.preferences.values():
            gains = preference.gains[:, [str(m) for m in preference.measures].index(name)]
            popularity, uniform = popularity + int((gains > 0).sum()), uniform + int((gains < 0).sum())
        share = uniform / (uniform + popularity)
        word = "Uniform" if share >= 0.5 + UNEQUAL else "Popularity" if share <= 0.5 - UNEQUAL else "neither"
        said.append(f"{name} {word} ({uniform:,} : {popularity:,})")
    return [f"Baseline preferred over all collections (Uniform : Popularity topics): {', '.join(said)}."]


def describe_mathematics(evidence: Evidence) -> str:
    """Return mathematics.md, what can be derived, with numbers of the collections; the tests check each derivation."""
    gold = describe_gold(evidence.collections)
    seen = [one.scores.sel(measures=[evidence.parent]).values.max() for one in evidence.studies]
    return _fill_text(
        "mathematics.md",
        empty=", ".join(f"{name} {share:.0f} %" for name, share in gold["empty"].items()),
        single=", ".join(f"{name} {share:.1f} %" for name, share in gold["one class"].items()),
        rnod=find_largest(metaeval.measure("RNOD"), 5),
        rnod_gold=find_largest(metaeval.measure("RNOD(distance=gold)"), 5),
        rnadw_gold=find_largest(metaeval.measure("RNADW(distance=gold)"), 5),
        seen=max(seen),
    )


def describe_limits(evidence: Evidence) -> str:
    """Return limits.md, what the evidence does not reach, with the sizes that say so."""
    studies, pairs = evidence.studies, int(evidence.pooled.pairs.sum())
    few = [one for one in studies if one.power.significant.mean() < FEW]
    return _fill_text(
        "limits.md",
        n=len(studies),
        sizes=", ".join(f"{s.name}: {len(s.scores.runs)} runs, {len(s.scores.topics)} topics" for s in studies),
        thin=", ".join(name for name in evidence.collections if name not in {one.name for one in studies}),
        few_share=100 * FEW,
        few=", ".join(one.name for one in few) or "none",
        pulled=100 * sum(one.power.p_values.shape[1] for one in few) / pairs,
    )


def _fill_text(name: str, **numbers: object) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8").format(**numbers)
