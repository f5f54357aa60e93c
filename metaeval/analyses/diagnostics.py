"""Is there something about the runs of a collection that distorts its results? Said beside every result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from metaeval.analyses.topic_noise import TopicNoise
from metaeval.data.scores import Scores, find_identical_runs
from metaeval.errors import format_count, format_list, format_option, shorten
from metaeval.measures.base import Measure
from metaeval.stats.irregular_runs import (
    ODD,
    SKEWED,
    WIDE,
    count_failures,
    equal_rows,
    far_behind,
    residual_spread,
    shape_of_differences,
)
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest

EXCHANGING = ("randomised-tukey-hsd", "tukey-hsd")
"""Tests that take runs to differ in their means alone."""


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """What is irregular about the runs of a collection; arrays have shape (measure, run).

    `spread_ratio` is the spread of a run's residuals over the median of all, and `wide` says whether that is more than
    chance explains (see `metaeval.stats.irregular_runs.residual_spread`); `hopeless` runs are far behind all others; `failures`
    counts on how many topics a run fails outright, if on a few and clearly. The runs of a group of `identical` ones have the
    same scores on every topic under all measures; if `distinct`, all but the first were left out. `pairs` of different runs
    have columns measure (its position), run_1, run_2, skewness (absolute) of their differences, share of zeros, and one_topic,
    the largest share of a topic in their squares. `noise` is about clusters of topics and repeats.
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    spread_ratio: np.ndarray
    wide: np.ndarray
    hopeless: np.ndarray
    failures: np.ndarray
    identical: tuple[tuple[str, ...], ...]
    pairs: pd.DataFrame
    distinct: bool = False
    noise: TopicNoise | None = None

    @property
    def skewness(self) -> np.ndarray:
        """Absolute skewness of the differences of a typical pair of runs over topics, shape (measure,)."""
        return self._find_typical("skewness")

    @property
    def zeros(self) -> np.ndarray:
        """Share of them that is 0, shape (measure,)."""
        return self._find_typical("zeros")

    def _find_typical(self, column: str) -> np.ndarray:
        medians = self.pairs.groupby("measure")[column].median()
        return medians.reindex(range(len(self.measures))).to_numpy()

    @property
    def doubtful(self) -> np.ndarray:
        """Whether exchangeability of the runs is doubtful, shape (measure,)."""
        return np.asarray(self.wide.any(axis=1))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Runs that were left out, since another one has the same scores."""
        return tuple(run for group in self.identical for run in group[1:]) if self.distinct else ()

    @property
    def never_significant(self) -> int:
        """Pairs of identical runs among those analysed: they differ by no test."""
        return 0 if self.distinct else sum(len(group) * (len(group) - 1) // 2 for group in self.identical)

    @property
    def largest_tau_a(self) -> float:
        """Largest τ_a that two measures can reach, since identical runs are always tied; NaN for a single run."""
        n_pairs = len(self.runs) * (len(self.runs) - 1) // 2
        return 1 - self.never_significant / n_pairs if n_pairs else float("nan")

    @property
    def settings(self) -> dict[str, str]:
        """What the signature of a result says of the choice of runs."""
        return ({"runs": "distinct"} if self.distinct else {}) | (self.noise.settings if self.noise else {})

    def to_frame(self) -> pd.DataFrame:
        """Return what was found for every measure."""
        known = np.nan_to_num(self.spread_ratio, nan=-1.0)
        widest = known.argmax(axis=1)
        ratio = self.spread_ratio[np.arange(len(self.measures)), widest]
        return pd.DataFrame(
            {
                "measure": [str(measure) for measure in self.measures],
                "spread_ratio": ratio,
                "widest_run": [None if np.isnan(r) else self.runs[w] for r, w in zip(ratio, widest, strict=True)],
                "doubtful": self.doubtful,
                "skewness": self.skewness,
                "zeros": self.zeros,
                "skewed": np.nan_to_num(self.skewness) >= SKEWED,
                "hopeless": [", ".join(np.array(self.runs, dtype=object)[row]) for row in self.hopeless],
            }
        )

    def describe(self, test: str = "") -> list[str]:
        """Return a note for each irregularity, as it matters to the test; without a test only what matters to rankings."""
        notes = []
        if test in get_args(PairedTest):
            notes += [self._describe_spread(), self._describe_hopeless()] if test in EXCHANGING else []
            notes += [self._describe_skewness(), self._describe_odd_pair(), self._describe_failures()]
        notes.append(self._describe_identical())
        notes = [*(self.noise.describe() if self.noise else []), *notes]
        return [f"{self.collection or 'scores'}: {note}" for note in notes if note]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold."""
        frame = self.to_frame()
        return {
            "collection": self.collection,
            "measures": frame.astype(object).where(frame.notna(), None).to_dict("records"),
            "identical": [list(group) for group in self.identical],
            "left_out": list(self.left_out),
            "largest_tau_a": None if np.isnan(self.largest_tau_a) else self.largest_tau_a,
            "never_significant": self.never_significant,
        }

    def _name_measures(self, some: np.ndarray) -> list[str]:
        return [str(self.measures[m]) for m in np.flatnonzero(some)]

    def _describe_spread(self) -> str:
        if not self.wide.any():
            return ""
        m, r = np.unravel_index(np.where(self.wide, self.spread_ratio, 0.0).argmax(), self.wide.shape)
        names = self._name_measures(self.doubtful)
        return (
            f"{shorten(self.runs[r])} varies {self.spread_ratio[m, r]:.1f} times more than a typical run; check "
            f"with {format_option('test', RECOMMENDED)}\n"
            f"This is with {self.measures[m]}; some run varies at least {WIDE:g} times more with {format_list(names)}. "
            f"The Tukey HSD test assumes that runs vary alike, and {RECOMMENDED} does not. How often it errs where they do "
            "not: docs/concepts/discriminative-power.md."
        )

    def _describe_skewness(self) -> str:
        skewness = np.nan_to_num(self.skewness)
        if skewness.max() < SKEWED:
            return ""
        names, m = self._name_measures(skewness >= SKEWED), int(skewness.argmax())
        return (
            f"differences between runs are skewed with {format_list(names, 2)}: any test may raise more false alarms than it "
            "should\n"
            f"A typical pair of runs has the skewness {skewness[m]:.1f} with {self.measures[m]}, where "
            f"{100 * self.zeros[m]:.0f} % of the differences are 0. The note looks at the median pair, from {SKEWED:g} on: "
            "docs/concepts/which-test.md."
        )

    def _describe_odd_pair(self) -> str:
        odd = self.pairs[self.pairs["skewness"] >= ODD]
        if odd.empty:
            return ""
        worst = odd.nlargest(1, "skewness").iloc[0]
        first, second = shorten(worst["run_1"]), shorten(worst["run_2"])
        counts = odd["measure"].value_counts()
        names = [str(self.measures[measure]) for measure in sorted(counts.index)]
        n_pairs = int((self.pairs["measure"] == worst["measure"]).sum())
        return (
            f"{first} and {second} differ much on few topics: look at these before you rely on what a test says of them, "
            f"{RECOMMENDED} included\n"
            f"One topic has {100 * worst['one_topic']:.0f} % of the squares of their differences with "
            f"{self.measures[worst['measure']]}, and their skewness is {worst['skewness']:.1f}; from {ODD:g} on tests err more "
            f"often than they should. So are {counts.max():,} of {n_pairs:,} pairs, with {format_list(names, 2)}. If one run "
            "is a near-copy of the other, leave one of them out."
        )

    def _describe_failures(self) -> str:
        if not self.failures.any():
            return ""
        m = int((self.failures > 0).sum(axis=1).argmax())
        runs = [shorten(run) for run, count in zip(self.runs, self.failures[m], strict=True) if count]
        return (
            f"{format_list(runs, most=3)} fail{'s' if len(runs) == 1 else ''} outright on a few "
            "topics: any test may find too much between such runs and others\n"
            f"With {self.measures[m]}, on {format_count(int(self.failures[m].max()), 'topic')} at most, nearly on none else. "
            "Look at these topics: if something broke, such as a time limit, mend it or leave them out. A sample of topics "
            "without such a failure does not show it, so that no test allows for it."
        )

    def _describe_hopeless(self) -> str:
        if not self.hopeless.any():
            return ""
        names = self._name_measures(np.asarray(self.hopeless.any(axis=1)))
        runs = [run for run, column in zip(self.runs, self.hopeless.T, strict=True) if column.any()]
        return (
            f"{format_count(len(runs), 'very weak run')} {'make' if len(runs) > 1 else 'makes'} the Tukey HSD test miss "
            "differences among the others\n"
            f"Far behind the other runs: {format_list(runs)}, with {format_list(names)}. The null distribution of the "
            "largest difference widens with such runs."
        )

    def _describe_identical(self) -> str:
        if not self.identical:
            return ""
        if self.distinct:
            left_out = self.left_out
            return (
                f"{format_count(len(left_out), 'run')} with the scores of another run left out: {format_list(left_out)}"
            )
        groups = "; ".join(f"{len(group)} runs ({format_list(group, most=3)})" for group in self.identical[:3])
        more = f"; {len(self.identical) - 3} more groups" * (len(self.identical) > 3)
        n_pairs = len(self.runs) * (len(self.runs) - 1) // 2
        ceiling = f"No τ_a can exceed {self.largest_tau_a:.3f}, and " * (self.largest_tau_a < 0.9995)
        return (
            f"{sum(map(len, self.identical))} of {len(self.runs)} runs have the same scores as another; "
            f"{format_option('distinct_runs', True)} keeps one of each\n"
            f"They always tie. Same scores throughout: {groups}{more}. {ceiling}{self.never_significant:,} of {n_pairs:,} run "
            "pairs can never be significant."
        )


_KNOWN: WeakKeyDictionary[Scores, Diagnostics] = WeakKeyDictionary()  # a study asks many questions of the same scores


def diagnose(scores: Scores) -> Diagnostics:
    """Is there something about the runs that distorts results?

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(5, 60, 1)) * [[[1]], [[1]], [[1]], [[1]], [[4]]]
    >>> scores = Scores(noise, runs=list("abcde"), topics=range(60), measures=["AP"], collection="tiny")
    >>> diagnose(scores).to_frame()[["measure", "widest_run", "doubtful"]]
      measure widest_run  doubtful
    0      AP          e      True
    """
    if scores in _KNOWN:
        return _KNOWN[scores]
    # Medians are of different runs: many equal ones would make any other run seem unusual.
    one_of_each, position = np.unique(equal_rows(scores.values), return_inverse=True)
    values = scores.values if len(one_of_each) == len(scores.runs) else scores.values[one_of_each]
    signs = np.array([measure.sign for measure in scores.measures])
    with np.errstate(over="ignore", invalid="ignore"):  # means of scores near the largest float
        behind = far_behind(values.mean(axis=1) * signs)
    ratio, wide = residual_spread(values)
    failures = np.zeros((len(scores.measures), len(scores.runs)), dtype=np.int64)
    failures[:, one_of_each] = count_failures(values * signs)
    pairs, skewness, zeros, one_topic = shape_of_differences(values)
    names = np.array(scores.runs, dtype=object)[one_of_each][pairs]
    shapes = pd.DataFrame(
        {
            "measure": np.repeat(np.arange(len(skewness)), len(pairs)), "run_1": np.tile(names[:, 0], len(skewness)),
            "run_2": np.tile(names[:, 1], len(skewness)), "skewness": np.abs(skewness).ravel(), "zeros": zeros.ravel(),
            "one_topic": one_topic.ravel(),
        }
    )  # fmt: skip
    _KNOWN[scores] = Diagnostics(
        scores.collection, scores.runs, scores.measures, ratio[:, position], wide[:, position], behind[:, position], failures,
        find_identical_runs(scores), shapes,
    )  # fmt: skip
    return _KNOWN[scores]


def remark_copies(*collections: Scores) -> tuple[str, ...]:
    """Name the measures that have the same scores: they count as several, though they say the same."""
    groups: dict[tuple[str, ...], None] = {}
    for scores in collections:
        values, names = scores.values, [str(measure) for measure in scores.measures]
        first = equal_rows(values.mean(axis=1).T)  # of many measures few have the same means
        for m in np.unique(first).tolist():
            same = [n for n in np.flatnonzero(first == m).tolist() if (values[..., m] == values[..., n]).all()]
            groups |= {tuple(names[n] for n in same): None} if len(same) > 1 else {}
    return tuple(f"{format_list(group)} are one measure: their scores are the same on every topic" for group in groups)
