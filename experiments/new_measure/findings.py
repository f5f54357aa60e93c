"""The page of findings: every sentence with a number in it is made from the numbers, by the rule that it states."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import metaeval
from experiments.new_measure.collection import Studied
from experiments.new_measure.formulas import FAVOURED, largest, order, steps
from experiments.new_measure.gold import gold_frame
from experiments.new_measure.pooled import beside_frame, run_pairs_frame

UNEQUAL = 0.05
"""Which side of one half a share of topics has to be on, and how far, to be called a preference."""

FEW = 0.05
"""Below which share of significant run pairs a collection has next to nothing to say about significance."""


@dataclass(frozen=True)
class Evidence:
    """Everything the page is made from.

    Parameters
    ----------
    established, new : tuple of str
    parent : str
        What the new measures are variants of.
    studies : tuple of Studied
        Collections of submitted runs.
    pooled : PooledDiscriminativePower
    preferences : dict of str to BaselinePreference
    contradictions : tuple of SignificanceContradictions
        Also of the collections that have baselines only.
    collections : dict of str to QuantificationRuns
    tables : dict of str to Table
        What the page shows.
    """

    established: tuple[str, ...]
    new: tuple[str, ...]
    parent: str
    studies: tuple[Studied, ...]
    pooled: metaeval.PooledDiscriminativePower
    preferences: dict[str, metaeval.BaselinePreference]
    contradictions: tuple[metaeval.SignificanceContradictions, ...]
    collections: dict[str, metaeval.QuantificationRuns]
    tables: dict[str, metaeval.Table]


def page(evidence: Evidence) -> str:
    """Return the page: findings, their tables, and what cannot be concluded.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    str
        Markdown.
    """
    shown = {name: table.to_markdown() for name, table in evidence.tables.items()}
    parts = [
        f"# {', '.join(evidence.new)}: is any of them worth having?",
        "LQ 2021 defines RNADW (Eqs. 7 and 8) and a distance made of gold probabilities (Eq. 11), and leaves their "
        "evaluation, and that of both together, to future work. Here they are, beside the six measures of that paper. "
        "`python -m experiments new_measure` makes this page and everything in this folder; sentences with numbers "
        "are written by rules from the numbers (experiments/new_measure/findings.py).",
        "## In short",
        "\n".join(f"- {line}" for line in (*_formulas(evidence), *_verdicts(evidence))),
        "## What the formulas say",
        _mathematics(evidence),
        shown["order"],
        shown["one_class"],
        shown["limits"],
        shown["gold"],
        "## What the runs say",
        "\n".join(f"- {line}" for line in (*_power(evidence), *_contradictions(evidence), *_preferences(evidence))),
        shown["pooled_power"],
        "![Pooled discriminative power](pooled_power.png)",
        shown["consistency"],
        shown["beside"],
        shown["run_pairs"],
        shown["preference"],
        "## What cannot be concluded",
        _limits(evidence),
        "## Where the rest is",
        "\n".join(
            f"- [{one.name}/]({one.name}/): similarity, consistency, power, overlap and contradictions of all nine, "
            "and their curves."
            for one in evidence.studies
        ),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _formulas(evidence: Evidence) -> list[str]:
    """Say of each new measure, and of its parent, whether its formula keeps the order of classes."""
    total = sum(1 for _ in steps(5))
    said = []
    for name in (evidence.parent, *evidence.new):
        measure = metaeval.measure(name)
        (worse, same), (worse_all, same_all) = order(measure, 5, 1.0), order(measure, 5, FAVOURED)
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


def _verdicts(evidence: Evidence) -> list[str]:
    """Weigh each new measure against its parent, consistency and power, and say which are worth taking instead."""
    frame = beside_frame(evidence.studies, evidence.new, evidence.parent)
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


def _power(evidence: Evidence) -> list[str]:
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
        best = [str(result.measures[int(np.argmax(result.means))]) for result in (one.halves, one.small)]
        size = one.small.sizes[0]
        said.append(f"{one.name}: most consistent are {best[0]} (halves) and {best[1]} ({size} vs. {size} topics).")
    return said


def _contradictions(evidence: Evidence) -> list[str]:
    """Say with whom each new measure contradicts itself, and on which runs."""
    pairs = run_pairs_frame(evidence.contradictions)
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


def _preferences(evidence: Evidence) -> list[str]:
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


def _mathematics(evidence: Evidence) -> str:
    """Return mathematics.md, what can be derived, with numbers of the collections; the tests check each derivation."""
    gold = gold_frame(evidence.collections)
    seen = [one.scores.sel(measures=[evidence.parent]).values.max() for one in evidence.studies]
    return _filled(
        "mathematics.md",
        empty=", ".join(f"{name} {share:.0f} %" for name, share in gold["empty"].items()),
        single=", ".join(f"{name} {share:.1f} %" for name, share in gold["one class"].items()),
        rnod=largest(metaeval.measure("RNOD"), 5),
        rnod_gold=largest(metaeval.measure("RNOD(distance=gold)"), 5),
        rnadw_gold=largest(metaeval.measure("RNADW(distance=gold)"), 5),
        seen=max(seen),
    )


def _limits(evidence: Evidence) -> str:
    """Return limits.md, what the evidence does not reach, with the sizes that say so."""
    studies, pairs = evidence.studies, int(evidence.pooled.pairs.sum())
    few = [one for one in studies if one.power.significant.mean() < FEW]
    return _filled(
        "limits.md",
        n=len(studies),
        sizes=", ".join(f"{s.name}: {len(s.scores.runs)} runs, {len(s.scores.topics)} topics" for s in studies),
        thin=", ".join(name for name in evidence.collections if name not in {one.name for one in studies}),
        few_share=100 * FEW,
        few=", ".join(one.name for one in few) or "none",
        pulled=100 * sum(one.power.p_values.shape[1] for one in few) / pairs,
    )


def _filled(name: str, **numbers: object) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8").format(**numbers)
