"""Sums of scores over topics drawn anew, or with random signs: few trials and few runs at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, Scaled
from metaeval.stats.progress import tell
from metaeval.stats.resampling import resampled_topics, topic_signs

WEIGHTS_HELD = 2**25
"""Weights of topics, 256 MB, that are held at once: trials beyond them take another pass over the scores."""

SIGNS_HELD = 4_000_000
"""Signs of cells, 32 MB, that are held at once."""

_DRAWN_AT_ONCE = 2**20


def trials_a_pass(n_topics: int, n_trials: int) -> int:
    """Return for how many trials the weights of topics are held at once."""
    return max(1, min(n_trials, WEIGHTS_HELD // n_topics))


def split_trials(numbers: int, n_trials: int) -> Iterator[range]:
    """Yield the trials of one pass after the other, where each trial holds so many numbers."""
    size = trials_a_pass(numbers, n_trials)
    return (range(start, min(start + size, n_trials)) for start in range(0, n_trials, size))


class TopicSums:
    """Sums over topics with weights, of scores of shape (run, topic, measure)."""

    def __init__(self, scores: Scaled) -> None:
        self.scores = scores

    def weigh(self, weights: FloatArray, change: Callable[[FloatArray], FloatArray] | None = None) -> FloatArray:
        """Return sums over topics with the weights of each trial, shape (trial, run, measure).

        `weights` has shape (trial, topic); `change` is applied to every score, such as `numpy.abs`. Every run is summed
        over all topics at once, as if there were no blocks.
        """
        n_runs, _, n_measures = self.scores.shape
        sums = np.empty((len(weights), n_runs, n_measures))
        for runs, block in self.scores.blocks():
            by_topic = (block if change is None else change(block)).transpose(1, 0, 2).reshape(block.shape[1], -1)
            sums[:, runs] = (weights @ by_topic).reshape(len(weights), -1, n_measures)
        return sums


def draw_weights(key: int, trials: range, n_topics: int) -> FloatArray:
    """Return how often each topic is drawn, as `resampled_topics` does, shape (trial, topic)."""
    return _draw(resampled_topics, key, trials, n_topics)


def draw_signs(key: int, trials: range, n_topics: int) -> FloatArray:
    """Return the sign of each topic, as `topic_signs` does, shape (trial, topic)."""
    return _draw(topic_signs, key, trials, n_topics)


def _draw(
    draw: Callable[[int, range, int], npt.NDArray[np.integer]], key: int, trials: range, n_topics: int
) -> FloatArray:
    """Draw a few trials at a time, as whole numbers take memory beside those that are returned."""
    numbers = np.empty((len(trials), n_topics))
    few = max(1, _DRAWN_AT_ONCE // n_topics)
    for start in range(0, len(trials), few):
        numbers[start : start + few] = draw(key, trials[start : start + few], n_topics)
    return numbers


def weigh_by_topic(key: int, n_trials: int, n_topics: int, *by_topic: FloatArray, divisor: int) -> list[FloatArray]:
    """Sum numbers of topics, each of shape (column, topic), as often as topics are drawn: shapes (trial, column)."""
    sums = [np.empty((n_trials, len(numbers))) for numbers in by_topic]
    for trials in split_trials(n_topics, n_trials):
        weights = draw_weights(key, trials, n_topics)
        for total, numbers in zip(sums, by_topic, strict=True):
            total[trials.start : trials.stop] = weights @ numbers.T / divisor
        tell("resampling topics", trials.stop, n_trials)
    return sums


def add_signed(sums: FloatArray, columns: npt.NDArray[np.floating], key: int, first: int) -> None:
    """Add numbers of cells with the random signs of each trial to sums, in place.

    `sums` has shape (trial, column) and `columns` shape (cell, column); `first` is the number of the first of these cells.
    """
    # Signs come in words of 64, and few cells at a time where there are very many.
    n_trials = len(sums)
    few = max(64, SIGNS_HELD // n_trials // 64 * 64)
    for start in range(0, len(columns), few):
        some = columns[start : start + few]
        signs = topic_signs(key, range(n_trials), len(some), first=first + start).astype(columns.dtype)
        sums += signs @ some
