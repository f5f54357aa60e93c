"""The numbers that claims ask for, of several collections together: of studies, or as the paper prints them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import metaeval
from experiments.acl2021 import study as acl2021
from experiments.acl2021.facts import read_marks
from experiments.lq2021 import audit
from experiments.old.claims import Answer, NotGiven, Number, Truth
from metaeval.analyses.study import Study

MEASURES = tuple(audit.MEASURES)
POPULARITY, UNIFORM = "popularity", "uniform"
"""Parts of the names of the baselines."""

Pair = tuple[str, str]
Contradiction = tuple[str, str, str, str]
"""Measures 1 and 2, runs 1 and 2: measure 1 says that run 1 is significantly better, measure 2 the reverse."""


@dataclass(frozen=True, eq=False)
class Part:
    """One collection; `overlaps` holds a, b and c of Table 4, `wins` the topics of Uniform and of Popularity of Table 7."""

    n_pairs: int
    significant: Mapping[str, int]
    overlaps: Mapping[Pair, tuple[int, int, int]]
    gaps: Mapping[Pair, Number]
    contradictions: Sequence[Contradiction] = ()
    wins: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    more_consistent: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class Facts:
    """Several collections together: numbers of pairs and topics are added up."""

    parts: Sequence[Part]

    def finds_more(self, first: str, second: str) -> Number:
        """Return the pooled power of one measure less that of another, as a share of all pairs of runs.

        Ends of intervals are weighted by pairs and added up: collections may share their topics (STC-3's three do), and however
        they depend on each other, the interval is wide enough.
        """
        name = f"power of {first} less that of {second}"
        total = sum(part.n_pairs for part in self.parts)
        gaps = [(part.n_pairs / total, _turn(part.gaps, first, second)) for part in self.parts]
        value = sum(weight * gap.value for weight, gap in gaps)
        if all(gap.low is None for _, gap in gaps):
            return Number(name, value)
        ends = np.array([(weight * gap.ends[0], weight * gap.ends[1]) for weight, gap in gaps]).sum(axis=0)
        return Number(name, value, float(ends[0]), float(ends[1]))

    def overlap(self, first: str, second: str) -> Number:
        """Return SSO = b / (a + b + c) of two measures."""
        a, b, c = np.sum([_find(part.overlaps, first, second) for part in self.parts], axis=0).tolist()
        return Number(f"SSO of {first} and {second}", b / (a + b + c) if a + b + c else float("nan"))

    def average_overlap(self, measure: str) -> Number:
        """Return the mean SSO of a measure with the others."""
        shares = [self.overlap(measure, other).value for other in MEASURES if other != measure]
        return Number(f"mean SSO of {measure}", float(np.mean(shares)))

    def share_beyond(self, measure: str) -> Number:
        """Return of how many more discriminative measures a measure is no subset, as a share over all collections."""
        cases = [
            _turn_counts(part.overlaps, measure, other)[0] > 0
            for part in self.parts
            for other in MEASURES
            if part.significant[other] > part.significant[measure]
        ]
        if not cases:
            raise NotGiven(f"no measure finds more than {measure}")
        return Number(f"share of {len(cases)} cases", float(np.mean(cases)))

    def count_for_popularity(self, measure: str, other: str) -> Number:
        """Return on how many pairs a measure finds Popularity significantly better than Uniform, and another the reverse."""
        if not any(part.wins for part in self.parts):
            raise NotGiven("no run of either baseline")
        n = 0
        for part in self.parts:
            for first, second, ahead, behind in part.contradictions:
                if (second, first) == (measure, other):
                    ahead, behind = behind, ahead
                n += {first, second} == {measure, other} and POPULARITY in ahead and UNIFORM in behind
        return Number(f"with {other}", n)

    def popularity_share(self, measure: str) -> Number:
        """Return on which share of topics that are not tied a measure prefers Popularity to Uniform (Wilson's interval)."""
        wins = [part.wins[measure] for part in self.parts if part.wins]
        if not wins:
            raise NotGiven("no run of either baseline")
        uniform, popularity = map(sum, zip(*wins, strict=True))
        ends = binomtest(popularity, uniform + popularity).proportion_ci(method="wilson")
        return Number(f"share of {measure}", popularity / (uniform + popularity), float(ends.low), float(ends.high))

    def is_more_consistent(self, first: str, second: str) -> Answer:
        """Is a measure significantly more consistent over halves than another on some collection, and less on none?"""
        tables = [part.more_consistent for part in self.parts if part.more_consistent is not None]
        if not tables:
            raise NotGiven("consistency of these measures")
        ahead, behind = (sum(bool(table.loc[pair]) for table in tables) for pair in ((first, second), (second, first)))
        truth = Truth.UNKNOWN if bool(ahead) == bool(behind) else Truth.YES if ahead else Truth.NO
        numbers = (
            Number(f"more consistent than {second}, of {len(tables)} collections,", ahead),
            Number("less", behind),
        )
        return Answer(truth, numbers)


def _find(values: Mapping[Pair, tuple[int, int, int]], first: str, second: str) -> tuple[int, int, int]:
    return values[first, second] if (first, second) in values else values[second, first]


def _turn_counts(values: Mapping[Pair, tuple[int, int, int]], first: str, second: str) -> tuple[int, int, int]:
    """Return a, b and c with a of the first measure."""
    counts = _find(values, first, second)
    return counts if (first, second) in values else counts[::-1]  # type: ignore[return-value]


def _turn(gaps: Mapping[Pair, Number], first: str, second: str) -> Number:
    """Return a difference with the first measure first."""
    if (first, second) in gaps:
        return gaps[first, second]
    gap = gaps[second, first]
    if gap.low is None or gap.high is None:
        return Number(gap.name, -gap.value)
    return Number(gap.name, -gap.value, -gap.high, -gap.low)


def read_study(study: Study) -> Part:
    """Return what a study says of one collection."""
    power = study.power
    if power is None:
        raise NotGiven("discriminative power")
    summary = power.summary().set_index("measure")
    gaps = {
        (row.measure_1, row.measure_2): Number.unsure("", row.difference)
        if np.isnan(row.low)
        else Number("", row.difference, row.low, row.high)
        for row in power.differences.itertuples()
    }
    wins, consistent = {}, None
    if study.preference is not None:
        frame = study.preference.to_frame().loc[list(MEASURES), [study.preference.second, study.preference.first]]
        wins = {str(name): (int(row.iloc[0]), int(row.iloc[1])) for name, row in frame.iterrows()}
    if study.consistency is not None:
        names = [str(measure) for measure in study.consistency.measures]
        means = study.consistency.means
        ahead = study.consistency.significant & (means[:, None] > means)
        consistent = pd.DataFrame(ahead, index=names, columns=names)
    return Part(
        n_pairs=power.p_values.shape[1],
        significant={name: int(summary["significant"][name]) for name in MEASURES},
        overlaps={
            (row.measure_1, row.measure_2): (row.a, row.b, row.c)
            for row in metaeval.significance_overlap(power).to_frame().itertuples()
        },
        gaps=gaps,
        contradictions=list(metaeval.significance_contradictions(power).run_pairs().itertuples(index=False, name=None)),
        wins=wins,
        more_consistent=consistent,
    )


def read_print() -> Facts:
    """Return what is printed of all eight collections: Tables 3 to 7, and ACL 2021's marks of consistency."""
    return Facts([_read_printed(name) for name in audit.STUDY["collections"]])


def _read_printed(name: str) -> Part:
    row, wins = audit.PRINTED["table3"][name], audit.PRINTED["table7"].get(name, [])
    significant = dict(zip(MEASURES, row["S_D"], strict=True))
    short = name.removeprefix("DialEval-1 ")
    tables = [acl2021.PRINTED[table] for table in ("table6", "table9") if short in acl2021.PRINTED[table]]
    return Part(
        n_pairs=row["T_D"],
        significant=significant,
        overlaps={pair: counts[1:] for pair, counts in audit.read_overlaps(name).items()},
        gaps={
            (first, second): Number("", (significant[first] - significant[second]) / row["T_D"])
            for first, second in itertools.combinations(MEASURES, 2)
        },
        contradictions=audit.list_contradictions(name),
        wins={m: (uniform, popular) for m, (uniform, popular) in zip(audit.STUDY["measures"], wins, strict=False)},
        more_consistent=read_marks(tables[0][short]["full"]) if tables else None,
    )
