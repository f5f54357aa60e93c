"""Is there something about the runs of a collection that distorts its results? Said beside every result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from metaeval.analyses.topic_noise import TopicNoise
from metaeval.data.scores import Scores
from metaeval.errors import format_count, format_list, format_option, shorten
from metaeval.measures.base import Measure
from metaeval.stats.irregular_runs import (
    ODD,
    SKEWED,
    WIDE,
    count_failures,
    equal_rows,
    far_behind,
    find_identical_runs,
    residual_spread,
    shape_of_differences,
)
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest

EXCHANGING = ("randomised-tukey-hsd", "tukey-hsd")
"""Tests that take runs to differ in their means alone."""


NOTES = {
    "spread": (
        "{run} varies {ratio:.1f} times as much as a typical run; check with {option}\nThat is by {measure}; measures by which "
        "some run varies at least {limit:g} times as much: {names}. The Tukey HSD test assumes that runs vary alike, and "
        "{recommended} does not. How often it errs where they do not: docs/concepts/discriminative-power.md."
    ),
    "hopeless": (
        "{count} the Tukey HSD test miss differences among the others\nFar behind the other runs: {runs}, with {names}. The "
        "null distribution of the largest difference widens with such runs."
    ),
    "skewness": (
        "differences between runs are skewed with {names}: any test may raise more false alarms than it should\nA typical pair "
        "of runs has the skewness {skewness:.1f} with {measure}, where {zeros:.0f} % of the differences are 0. The note looks "
        "at the median pair, from {limit:g} on: docs/concepts/which-test.md."
    ),
    "odd pair": (
        "{runs} differ much on few topics: look at these before you rely on what a test says of them, {recommended} "
        "included\nOne topic has {share:.0f} % of the squares of their differences with {measure}, and their skewness is "
        "{skewness:.1f}; from {limit:g} on tests err more often than they should. Pairs so skewed: at most {count:,} "
        "of {n_pairs:,} by one measure ({names}). If one run is a near-copy of the other, leave one of them out."
    ),
    "failures": (
        "{runs} outright on a few topics: any test may find too much between such runs and others\nWith {measure}, on {topics} "
        "at most, nearly on none else. Look at these topics: if something broke (a time limit), mend it or leave them out."
    ),
    "left out": "{count} with the scores of another run left out: {runs}",
    "identical": (
        "{count} of {n_runs} runs have the same scores as another, and the numbers depend on it; {option} keeps one of each\n"
        "Same scores throughout: {groups}. {never:,} of {n_pairs:,} run pairs always tie{so}."
    ),
}
"""What is said of each irregularity, the first line by itself; only the last two matter to rankings."""


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
    def typical(self) -> pd.DataFrame:
        """The median pair of runs of every measure: columns skewness and zeros, by its position."""
        medians = self.pairs.groupby("measure")[["skewness", "zeros"]].median()
        return medians.reindex(range(len(self.measures))).rename_axis(None)

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
        widest, typical = np.nan_to_num(self.spread_ratio, nan=-1.0).argmax(axis=1), self.typical
        ratio = self.spread_ratio[np.arange(len(self.measures)), widest]
        return pd.DataFrame(
            {
                "measure": [str(measure) for measure in self.measures],
                "spread_ratio": ratio,
                "widest_run": [None if np.isnan(r) else self.runs[w] for r, w in zip(ratio, widest, strict=True)],
                "doubtful": self.wide.any(axis=1),
                "skewness": typical["skewness"],
                "zeros": typical["zeros"],
                "skewed": typical["skewness"] >= SKEWED,
                "hopeless": [", ".join(np.array(self.runs, dtype=object)[row]) for row in self.hopeless],
            }
        )

    def describe(self, test: str = "", tau: str = "") -> list[str]:
        """Return a note for each irregularity, as it matters to the test, or to rankings and the τ that compares them."""
        found = self._describe_identical(tau)
        if test in get_args(PairedTest):
            found = {**(self._describe_runs() if test in EXCHANGING else {}), **self._describe_differences(), **found}
        notes = self.noise.describe() if self.noise else []
        notes += [NOTES[what].format(**words) for what, words in found.items()]
        return [f"{self.collection or 'scores'}: {note}" for note in notes]

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

    def _name_measures(self, some: Any, most: int = 5) -> str:
        return format_list([str(self.measures[m]) for m in np.flatnonzero(some)], most)

    def _describe_runs(self) -> dict[str, dict[str, Any]]:
        """Return what to say of runs that vary more than others or are far behind, which the Tukey HSD test minds."""
        found: dict[str, dict[str, Any]] = {}
        if self.wide.any():
            m, r = np.unravel_index(np.where(self.wide, self.spread_ratio, 0.0).argmax(), self.wide.shape)
            found["spread"] = {
                "run": shorten(self.runs[r]), "ratio": self.spread_ratio[m, r], "measure": self.measures[m], "limit": WIDE,
                "names": self._name_measures(self.wide.any(axis=1)), "recommended": RECOMMENDED,
                "option": format_option("test", RECOMMENDED),
            }  # fmt: skip
        if self.hopeless.any():
            runs = [self.runs[r] for r in np.flatnonzero(self.hopeless.any(axis=0))]
            count = f"{format_count(len(runs), 'very weak run')} {'make' if len(runs) > 1 else 'makes'}"
            names = self._name_measures(self.hopeless.any(axis=1))
            found["hopeless"] = {"count": count, "runs": format_list(runs), "names": names}
        return found

    def _describe_differences(self) -> dict[str, dict[str, Any]]:
        """Return what to say of skewed differences, pairs that differ on few topics, and runs that fail: any test minds."""
        found: dict[str, dict[str, Any]] = {}
        typical = self.typical["skewness"].fillna(0.0).to_numpy()
        if typical.max() >= SKEWED:
            m = int(typical.argmax())
            found["skewness"] = {
                "names": self._name_measures(typical >= SKEWED, 2), "skewness": typical[m], "measure": self.measures[m],
                "zeros": 100 * self.typical["zeros"][m], "limit": SKEWED,
            }  # fmt: skip
        odd = self.pairs[self.pairs["skewness"] >= ODD]
        if len(odd):
            worst, of_measures = odd.nlargest(1, "skewness").iloc[0], odd["measure"].value_counts()
            found["odd pair"] = {
                "runs": f"{shorten(worst['run_1'])} and {shorten(worst['run_2'])}", "recommended": RECOMMENDED,
                "share": 100 * worst["one_topic"], "measure": self.measures[worst["measure"]], "limit": ODD,
                "skewness": worst["skewness"], "count": of_measures.max(),
                "n_pairs": (self.pairs["measure"] == worst["measure"]).sum(),
                "names": self._name_measures(np.isin(np.arange(len(self.measures)), of_measures.index), 2),
            }  # fmt: skip
        if self.failures.any():
            m = int((self.failures > 0).sum(axis=1).argmax())
            runs = [shorten(self.runs[r]) for r in np.flatnonzero(self.failures[m])]
            found["failures"] = {
                "runs": f"{format_list(runs, most=3)} fail{'s' if len(runs) == 1 else ''}", "measure": self.measures[m],
                "topics": format_count(int(self.failures[m].max()), "topic"),
            }  # fmt: skip
        return found

    def _describe_identical(self, tau: str) -> dict[str, dict[str, Any]]:
        """Return what to say of runs with the same scores."""
        if self.distinct and self.identical:
            runs = self.left_out
            return {"left out": {"count": format_count(len(runs), "run"), "runs": format_list(runs)}}
        groups = [f"{len(group)} runs ({format_list(group, most=3)})" for group in self.identical]
        more, highest = f"; {len(groups) - 3} more groups" * (len(groups) > 3), f"{self.largest_tau_a:.3f}"
        words = {
            "count": sum(map(len, self.identical)), "n_runs": len(self.runs), "option": format_option("distinct_runs", True),
            "groups": "; ".join(groups[:3]) + more, "never": self.never_significant,
            "n_pairs": len(self.runs) * (len(self.runs) - 1) // 2,
            "so": f", so that no τ_a can exceed {highest}" * (tau == "tau_a" and highest != "1.000"),
        }  # fmt: skip
        return {"identical": words} if groups else {}


_KNOWN: WeakKeyDictionary[Scores, Diagnostics] = WeakKeyDictionary()  # a study asks many questions of the same scores


def diagnose(scores: Scores) -> Diagnostics:
    """Is there something about the runs that distorts results?"""
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
        find_identical_runs(scores.runs, scores.values), shapes,
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


def take_distinct_runs(scores: Scores, identical: Sequence[Sequence[str]]) -> Scores:
    """Return scores with the first run of each group of identical ones; the others in their order."""
    repeated = {run for group in identical for run in group[1:]}
    return scores.sel(runs=[run for run in scores.runs if run not in repeated]) if repeated else scores
