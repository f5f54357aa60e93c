"""What the rules look at: plain figures of one collection, or of several together, wherever they are from."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from experiments.lq2021 import audit
from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.show.verdict import Evidence, OutcomeWord, judge_differences

MEASURES = tuple(audit.MEASURES)
NOMINAL = ("NVD", "RNSS", "JSD")
FOUR = ("RNOD", *NOMINAL)
"""The measures that NMD contradicts, and is held against in §5.3."""

Row = TypeVar("Row", bound="tuple[int, ...]")
Item = TypeVar("Item")
Pair = tuple[str, str]
Contradiction = tuple[str, str, str, str]
"""Measures 1 and 2, runs 1 and 2: measure 1 says that run 1 is significantly better, measure 2 the reverse."""


@dataclass(frozen=True)
class Gap:
    """The power of one measure less that of another.

    Parameters
    ----------
    value : float
        As a share of all run pairs.
    interval : (float, float) or None
        Over topics.
    """

    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Findings:
    """The figures of one collection, or of several together; what there is none of is None or empty.

    Parameters
    ----------
    n_pairs : int
        Pairs of runs, T_D.
    n_topics : int
        Where both baselines are there.
    found : mapping of str to int
        Significant pairs by measure, S_D.
    overlaps : mapping of (str, str) to (int, int, int)
        a, b, c of LQ 2021, Table 4, by pair of measures in the order of `MEASURES`.
    gaps : mapping of (str, str) to Gap
        Likewise.
    contradictions : tuple of Contradiction, or None
        None where significant pairs were not asked for.
    printed : bool
        Whether they are the paper's own numbers, which have no intervals: then the numbers alone decide.
    widths : mapping of str to float
        By measure, how wide the interval of its power is.
    uncertain : float
        How far the number of contradictions may move with other trials, at most: standard deviations added up.
    twins : mapping of str to str
        By run, the run that has the same scores and comes first.
    taus : mapping of (str, str) to float
        τ of the rankings of runs.
    wins : mapping of str to (int, int)
        Topics on which a measure prefers Uniform and Popularity.
    quadrants : mapping of (str, str) to (int, int)
        Topics on which the first measure alone prefers Popularity, and the second alone.
    preferences : tuple of BaselinePreference
        Of Popularity and Uniform, one a collection.
    golds : tuple of (ndarray, shape (topic, class))
        Likewise; empty where the gold is not at hand.
    consistencies : mapping of str to float
        Mean τ of rankings from two halves of the topics.
    more_consistent : mapping of (str, str) to bool
        Whether the means of two measures differ significantly; empty where that is not known.
    parts : tuple of Findings
        The collections, where it is several together.
    """

    n_pairs: int = 0
    n_topics: int = 0
    found: Mapping[str, int] = field(default_factory=dict)
    overlaps: Mapping[Pair, tuple[int, int, int]] = field(default_factory=dict)
    gaps: Mapping[Pair, Gap] = field(default_factory=dict)
    contradictions: tuple[Contradiction, ...] | None = None
    printed: bool = False
    widths: Mapping[str, float] = field(default_factory=dict)
    uncertain: float = 0.0
    twins: Mapping[str, str] = field(default_factory=dict)
    taus: Mapping[Pair, float] = field(default_factory=dict)
    wins: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    quadrants: Mapping[Pair, tuple[int, int]] = field(default_factory=dict)
    preferences: tuple[BaselinePreference, ...] = ()
    golds: tuple[np.ndarray, ...] = ()
    consistencies: Mapping[str, float] = field(default_factory=dict)
    more_consistent: Mapping[Pair, bool] = field(default_factory=dict)
    parts: tuple[Findings, ...] = ()

    @property
    def has_baselines(self) -> bool:
        """Whether Popularity and Uniform are among the runs."""
        return bool(self.wins)

    def compare(self, first: str, second: str) -> tuple[OutcomeWord, Evidence]:
        """Return whether one measure finds more significant pairs than another, and the difference.

        Parameters
        ----------
        first, second : str

        Returns
        -------
        word : {"holds", "does not hold", "cannot tell"}
            By the interval; of printed numbers, which have none, by the numbers, as in ACL 2021.
        evidence : Evidence
        """
        turned = (first, second) not in self.gaps
        gap = self.gaps[(second, first) if turned else (first, second)]
        value, interval = gap.value, gap.interval
        if turned:
            value, interval = -value, None if interval is None else (-interval[1], -interval[0])
        evidence = Evidence(f"power of {first} less that of {second}", value, interval)
        if self.printed:
            return ("holds" if value > 0 else "does not hold" if value else "cannot tell"), evidence
        return judge_differences([interval]), evidence

    def share_overlap(self, first: str, second: str) -> float:
        """Return SSO = b / (a + b + c) of two measures; NaN where neither finds anything."""
        a, b, c = self.overlaps.get((first, second)) or self.overlaps[(second, first)]
        return b / (a + b + c) if a + b + c else float("nan")

    def get_tau(self, first: str, second: str) -> float:
        """Return τ of the rankings by two measures."""
        return self.taus.get((first, second), self.taus.get((second, first), float("nan")))

    def average(self, share: Callable[[str, str], float]) -> dict[str, float]:
        """Return, by measure, the mean of a likeness with the other five."""
        return {one: float(np.mean([share(one, two) for two in MEASURES if two != one])) for one in MEASURES}

    def count_contradictions(self, first: str, others: Sequence[str]) -> int:
        """Return on how many run pairs a measure contradicts others, added up over these."""
        pairs = Counter(frozenset(one[:2]) for one in self.contradictions or ())
        return sum(pairs[frozenset((first, other))] for other in others if other != first)


def pool(parts: Mapping[str, Findings]) -> Findings:
    """Return the figures of several collections together.

    Parameters
    ----------
    parts : mapping of str to Findings
        By name of the collection.

    Returns
    -------
    Findings
        Only what every collection has. Numbers of pairs and topics are added up, τ's averaged. Ends of intervals are
        weighted by pairs and added up: collections may share their topics (STC-3's three do), and however they depend
        on each other, the interval is wide enough.
    """
    each = list(parts.values())
    pairs = list(itertools.combinations(MEASURES, 2))
    pooled = Findings(
        parts=tuple(each),
        n_topics=sum(one.n_topics for one in each),
        printed=all(one.printed for one in each),
        taus={p: float(np.mean([one.get_tau(*p) for one in each])) for p in pairs} if all(one.taus for one in each) else {},
        wins={m: _add([one.wins[m] for one in each]) for m in MEASURES} if all(one.wins for one in each) else {},
        quadrants={p: _add([one.quadrants[p] for one in each]) for p in pairs if all(p in one.quadrants for one in each)},
        preferences=_join([one.preferences for one in each]),
        golds=_join([one.golds for one in each]),
        consistencies={m: float(np.mean([one.consistencies[m] for one in each])) for m in MEASURES}
        if all(one.consistencies for one in each) else {},
    )  # fmt: skip
    if not all(one.found for one in each):
        return pooled
    n_pairs = sum(one.n_pairs for one in each)
    weights = [one.n_pairs / n_pairs for one in each]
    return replace(
        pooled,
        n_pairs=n_pairs,
        found={m: sum(one.found[m] for one in each) for m in MEASURES},
        overlaps={pair: _add([one.overlaps[pair] for one in each]) for pair in pairs},
        gaps={pair: _pool_gaps([one.gaps[pair] for one in each], weights) for pair in pairs},
        contradictions=tuple(
            (first, second, f"{name}: {one}", f"{name}: {two}")
            for name, part in parts.items()
            for first, second, one, two in part.contradictions or ()
        ),
        uncertain=sum(one.uncertain for one in each),
        twins={f"{name}: {run}": f"{name}: {twin}" for name, part in parts.items() for run, twin in part.twins.items()},
    )


def _add(rows: Sequence[Row]) -> Row:
    return tuple(map(sum, zip(*rows, strict=True)))  # type: ignore[return-value]


def _join(parts: Sequence[tuple[Item, ...]]) -> tuple[Item, ...]:
    """Return all parts as one; nothing where one is missing."""
    return tuple(itertools.chain(*parts)) if all(parts) else ()


def _pool_gaps(gaps: Sequence[Gap], weights: Sequence[float]) -> Gap:
    value = sum(weight * gap.value for weight, gap in zip(weights, gaps, strict=True))
    ends = [gap.interval for gap in gaps if gap.interval is not None]
    if len(ends) < len(gaps):
        return Gap(value)
    low, high = np.array(weights) @ np.array(ends)
    return Gap(value, (float(low), float(high)))
