"""How far discriminative power and the differences between runs vary over topics: what their intervals rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import Prepared
from metaeval.measures.base import Measure
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.intervals import Ends, centre_interval, explain_no_interval, judge_difference
from metaeval.stats.pair_tests import MAX_T, PairedTest, PairedTestResult
from metaeval.stats.resampling import draw_weights
from metaeval.stats.significant_counts import resample_power
from metaeval.stats.streams import stream_key

MOST_CONCLUSIONS = 45
"""Rows of a table of conclusions: all pairs of ten measures."""

_OWN_ERROR = (*MAX_T, "paired-t", "paired-bootstrap")
"""Tests that divide the difference of two runs by its own standard error; the others use that of all runs."""

_OWN_NULL = 12
"""The critical value of a max-t test is drawn from the same topics and varies with them; held, its share of the
variance is missing. 12/n of the rest made up for it in simulation, where intervals without it held too seldom."""


@dataclass(frozen=True, eq=False)
class Variation:
    """How far discriminative power varies over topics, or over collections.

    Parameters
    ----------
    n : int
        Topics, or collections, that are drawn.
    shares : ndarray, shape (trial, measure)
        Discriminative power on resampled topics, the same topics for all measures; no trial if there is no interval.
    steps : ndarray, shape (measure,)
        The share of pairs that turns when two different runs do.
    confidence : float
    no_interval : str
        Why there is no interval for discriminative power, if one was asked for.
    simultaneous : bool
        Whether intervals of the differences of all pairs of measures hold together.
    few : bool
        Whether so few are drawn that the spread is known as well as Student's t allows for.
    """

    n: int
    shares: np.ndarray
    steps: np.ndarray
    confidence: float
    no_interval: str
    simultaneous: bool
    few: bool = False

    @property
    def kind(self) -> str:
        """What intervals of differences are called."""
        return "simultaneous" if self.simultaneous else "single"

    def find_power_ends(self, power: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of the interval for the power of every measure, each of shape (measure,)."""
        return centre_interval(
            power, self.shares, self.n, confidence=self.confidence, scale="share", step=self.steps, least=self.steps,
            student=self.few,
        )  # fmt: skip

    def find_difference_ends(self, power: np.ndarray, confidence: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends for the first less the second measure's power, each of shape (pair of measures,)."""
        level = self.confidence if confidence is None else confidence
        first, second = np.triu_indices(len(power), 1)
        step = np.maximum(self.steps[first], self.steps[second])
        return centre_interval(
            power[first] - power[second], self.shares[:, first] - self.shares[:, second], self.n,
            confidence=level, step=step, least=step, student=self.few, simultaneous=self.simultaneous,
        )  # fmt: skip

    def compare(self, measures: Sequence[Measure | str], power: np.ndarray, margin: float) -> pd.DataFrame:
        """Return the difference in power of every two measures, with its interval and what is known of it."""
        first, second = np.triu_indices(len(measures), 1)
        gap, level = power[first] - power[second], max(2 * self.confidence - 1, 0.0)
        ends, one_sided = (Ends(*self.find_difference_ends(power, each)) for each in (self.confidence, level))
        words = judge_difference(gap, ends, one_sided, margin, self.n)
        return tabulate_differences(measures, gap, *ends, "finds_more").assign(conclusion=words)


def measure_variation(
    ready: Prepared,
    result: PairedTestResult,
    *,
    test: PairedTest,
    alpha: float,
    n_bootstrap: int,
    confidence: float,
    simultaneous: bool,
) -> Variation:
    """Resample topics after a test of all pairs of runs; collections that share topics have the same ones drawn."""
    n_runs, n_topics, n_measures = ready.values.shape
    no_interval = explain_no_interval(n_runs, n_topics) if n_bootstrap else ""
    shares, steps = np.empty((0, n_measures)), np.zeros(n_measures)
    if n_bootstrap and not no_interval:
        key = stream_key(ready.seed, *sorted(ready.scores.topics), "discriminative_power", "interval")
        shares, steps = resample_power(
            ready.values, result.p, draw=partial(draw_weights, key, n_topics=n_topics), alpha=alpha, n_trials=n_bootstrap,
            smallest_p=0.5 / result.n_trials if result.n_trials else 1e-12, studentised=test in _OWN_ERROR,
        )  # fmt: skip
        shares, steps = (ready.restore(each, "measure") for each in (shares, steps))
        if test in MAX_T:
            centre = shares.mean(axis=0)
            shares = centre + np.sqrt(1 + _OWN_NULL / n_topics) * (shares - centre)
    return Variation(n_topics, shares, steps, confidence, no_interval, simultaneous)


def list_intervals(simultaneous: bool, margin: float, usual: float) -> dict[str, object]:
    """Return what a signature says of intervals and conclusions, where it is not as usual."""
    settings: dict[str, object] = {} if simultaneous else {"intervals": "single"}
    return settings | ({"margin": margin} if margin != usual else {})


def tabulate_conclusions(
    pairs: pd.DataFrame, value: str, heading: str, caption: str, signature: Signature, best: str = ""
) -> Table:
    """Return a table of what is known of pairs of measures: those with the best one, or else those of the largest value."""
    shown = pairs[(pairs["measure_1"] == best) | (pairs["measure_2"] == best)] if best else pairs
    shown = shown.sort_values(value, ascending=False, kind="stable")[:MOST_CONCLUSIONS]
    if len(shown) < len(pairs):
        caption = f"{caption} {len(shown):,} of {len(pairs):,} pairs: --out and --format json have all."
    ends = [f"{low:.3f} – {high:.3f}" for low, high in zip(shown["low"], shown["high"], strict=True)]
    columns = {"and": shown["measure_2"], heading: shown[value], "interval": ends, "conclusion": shown["conclusion"]}
    frame = pd.DataFrame(columns).set_index(shown["measure_1"].rename("measure"))
    return Table(frame, caption, signature)


def tabulate_differences(
    measures: Sequence[Measure | str], difference: np.ndarray, low: np.ndarray, high: np.ndarray, more: str
) -> pd.DataFrame:
    """Return the difference of every two measures, and in the column `more` which has more if the interval leaves 0 out."""
    pairs = name_pairs(measures)
    larger = np.where(low > 0, pairs["measure_1"], np.where(high < 0, pairs["measure_2"], "cannot tell"))
    return pd.DataFrame({**pairs, "difference": difference, "low": low, "high": high, more: larger})


def name_pairs(measures: Sequence[Measure | str]) -> dict[str, np.ndarray]:
    """Return the names of every two measures, the columns measure_1 and measure_2 of a table of pairs."""
    names = np.array([str(measure) for measure in measures], dtype=object)
    return dict(zip(("measure_1", "measure_2"), names[np.array(np.triu_indices(len(names), 1))], strict=True))
