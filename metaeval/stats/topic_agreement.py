"""Agreement of scores of runs on topics: Pearson over cells, correlation topic by topic, ties, and certainty of differences.

Scores have shape (run, topic, measure + 1), at a common scale; the last measure is the reference. What would be if two measures
were equally good is seen by exchanging them at random, with the same draws for all pairs of measures: differences after that
have shape (trial, measure pair). Topics of one cluster are exchanged together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, divide, round_scaled, scale_squares, split_pairs
from metaeval.stats.parallel import split_work, tell
from metaeval.stats.resampling import WEIGHTS_HELD, add_by_cluster, add_signed, draw_weights, topic_signs
from metaeval.stats.run_agreement import ByName, RunStatistic, run_statistics

_NUMBERS = 2**22  # that are held at once: 32 MB


def swap_cells(cells: FloatArray, key: int, n_trials: int, clusters: IntArray | None = None) -> FloatArray:
    """Exchange every two measures in random cells, standardised, shape (measure + 1, run, topic): differences in r, or 0.

    Sums over the cells of a mixture are those of one measure where it was kept and of the other where it was not; so sums of
    each measure alone, with random signs, give all pairs.
    """
    z, reference = cells[:-1], cells[-1]
    added = add_by_cluster(np.concatenate([z * reference, z, z**2]), clusters)
    columns = added.reshape(len(added), -1).T.copy()
    signed, total = np.zeros((n_trials, 3 * len(z))), columns.sum(axis=0)
    add_signed(signed, columns, key, 0)
    retained, given = (
        (sums / 2 / reference.size).reshape(n_trials, 3, len(z)) for sums in (total + signed, total - signed)
    )
    first, second = np.triu_indices(len(z), 1)
    sides = []
    for one, other in ((first, second), (second, first)):
        products, scores, squares = np.moveaxis(retained[..., one] + given[..., other], 1, 0)
        spread = np.sqrt(np.maximum(squares - scores**2, 0))
        sides.append(divide(products, spread * (spread > 1e-12), 0.0))
    return np.asarray(sides[0] - sides[1])


def correlate_topics(scores: FloatArray, which: Sequence[RunStatistic]) -> ByName:
    """Return how the scores of runs on each topic correlate with the reference's, shape (measure, topic) by name."""
    by_topic = round_scaled(scores).transpose(2, 1, 0)
    n_columns, n_topics, n_runs = by_topic.shape
    work = split_work(n_topics, _NUMBERS // max(1, n_runs * (n_runs - 1) // 2 * (n_columns - 1)), "topics")
    parts = [run_statistics(by_topic[:-1, some], by_topic[-1, some], which) for some in work]
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in which}


def swap_signs(columns: npt.NDArray[np.floating], key: int, n_trials: int, start: int = 0) -> FloatArray:
    """Exchange what units from number `start` on add to every two measures, shape (unit, measure): differences of sums."""
    signed = np.zeros((n_trials, columns.shape[1]))
    add_signed(signed, columns, key, start)
    first, second = np.triu_indices(columns.shape[1], 1)
    return np.asarray(signed[:, first] - signed[:, second])


class TieAccuracy(NamedTuple):
    """acc_eq* of every measure, shape (measure,), at the smallest ε that maximises it, and by topic, shape (measure, topic).

    `tied` is the share of pairs that are tied in the reference.
    """

    value: FloatArray
    threshold: FloatArray
    by_topic: FloatArray
    tied: float


def tie_accuracy(scores: FloatArray) -> TieAccuracy:
    """How often does each measure order two runs on a topic as the reference, the last one, does, at its best tie threshold?

    Of all pairs of runs on all topics, C are ordered alike and T are tied in both; acc_eq is (C + T)/all. Two scores of the
    measure are tied if they differ by no more than ε, and acc_eq* is the largest over all ε (Deutsch, Foster and Freitag,
    "Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie calibration", EMNLP 2023). Candidates for ε are
    0 and every difference of two scores. Takes scores of shape (run, topic, measure + 1).

    >>> accuracy = tie_accuracy(np.array([[[0.5, 1.0]], [[0.6, 1.0]], [[0.9, 2.0]]]))
    >>> accuracy.value.tolist(), accuracy.threshold.round(2).tolist()
    ([1.0], [0.1])
    """
    n_topics, n_measures = scores.shape[1], scores.shape[2] - 1
    order = _decide(np.concatenate([gaps for _, gaps in split_pairs(scores[..., -1])]))
    thresholds, totals, by_topic = np.empty(n_measures), np.empty(n_measures), np.empty((n_measures, n_topics))
    for measure in range(n_measures):
        gaps = np.concatenate([gaps for _, gaps in split_pairs(scores[..., measure])])
        thresholds[measure], totals[measure] = _find_threshold(gaps, order)
        by_topic[measure] = (_decide(gaps, thresholds[measure]) == order).sum(axis=0) / len(order)
        tell("tie thresholds", measure + 1, n_measures)
    return TieAccuracy(totals / order.size, thresholds, by_topic, float((order == 0).mean()))


def _find_threshold(gaps: FloatArray, order: npt.NDArray[np.int8]) -> tuple[float, int]:
    """Return the smallest best threshold of differences of two runs, and about how many the measure is right then."""
    sizes, ordered = np.abs(gaps), (order != 0) & (_decide(gaps) == order)
    without_ties = int(ordered.sum()) + int(((order == 0) & (sizes == 0)).sum())
    changing = ((order == 0) | ordered) & (sizes > 0)
    sizes, tied = sizes[changing], order[changing] == 0
    by_size = np.argsort(sizes)
    sizes = sizes[by_size]
    # A pair that becomes tied is right from then on if the reference ties it, and was right if it was well ordered.
    right = without_ties + np.cumsum(np.where(tied[by_size], 1, -1))
    last = np.flatnonzero(np.append(sizes[1:] != sizes[:-1], True)[: len(sizes)])
    if not len(last) or right[last].max() <= without_ties:
        return 0.0, without_ties
    best = last[right[last].argmax()]
    return float(sizes[best]), int(right[best])


def _decide(gaps: FloatArray, threshold: float = 0.0) -> npt.NDArray[np.int8]:
    """Return whether the first or the second of two runs is better, 1 or -1, or 0 where they are tied."""
    return (gaps > threshold).astype(np.int8) - (gaps < -threshold)


def swap_ties(
    scores: FloatArray, thresholds: FloatArray, key: int, n_trials: int, clusters: IntArray | None = None
) -> FloatArray:
    """Exchange who of two measures is right about random pairs of runs on random topics, each at its own ε.

    The signs of a trial are the same for all measures, so that all pairs of measures need one matrix product.
    """
    columns, (first, second) = np.ascontiguousarray(np.moveaxis(scores, -1, 0)), np.triu_indices(len(scores), 1)
    size, n_measures = _NUMBERS // (len(thresholds) * scores.shape[1]), len(thresholds)
    exchanged = np.zeros((n_trials, n_measures * (n_measures - 1) // 2))
    for some in split_work(len(first), size, "exchanging pairs of runs"):
        gaps = columns[:, first[some]] - columns[:, second[some]]
        order = _decide(gaps[-1])
        right = [_decide(gap, limit) == order for gap, limit in zip(gaps[:-1], thresholds, strict=True)]
        # Sums of so few signs are whole numbers that four bytes hold exactly.
        added = add_by_cluster(np.array(right, dtype=np.float32), clusters)
        exchanged += swap_signs(added.reshape(len(added), -1).T, key, n_trials, some.start * added.shape[-1])
    return np.asarray(exchanged / (len(first) * scores.shape[1]))


def flip_p_values(scores: FloatArray, key: int, n_trials: int) -> FloatArray:
    """How often do random signs of topics favour the first of two runs as much as scores do? (measure, run pair)."""
    n_runs, n_topics, n_columns = scores.shape
    by_topic = scores.transpose(1, 0, 2).reshape(n_topics, -1)
    flipped = np.empty((n_trials, n_runs, n_columns))
    for trials in split_work(n_trials, WEIGHTS_HELD // n_topics, "flipping topics"):
        signs = topic_signs(key, range(trials.start, trials.stop), n_topics).astype(np.float64)
        flipped[trials] = (signs @ by_topic).reshape(-1, n_runs, n_columns)
    total, size = scores.sum(axis=1), np.abs(scores).sum(axis=1)
    rows = []
    for run in range(n_runs - 1):
        observed = total[run] - total[run + 1 :] - 1e-12 * n_topics * (size[run] + size[run + 1 :])
        rows.append((flipped[:, run, np.newaxis] - flipped[:, run + 1 :] >= observed).mean(axis=0))
    return np.concatenate(rows).T


def soft_accuracy(p_values: FloatArray, reference: FloatArray) -> FloatArray:
    """Return 1 − the mean difference of one-sided p-values, shape (..., run pair): Thompson et al. (WMT 2024)."""
    return np.asarray(1 - np.abs(p_values - reference).mean(axis=-1))


def _find_tail(sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Return P(N(0, Σd²) ≥ Σd); 1 where all d are 0, as flips never change their sum."""
    from scipy.special import ndtr

    spread = np.sqrt(np.maximum(squares, 0))
    return np.asarray(ndtr(-np.divide(sums, spread, out=np.full(sums.shape, -np.inf), where=spread > 1e-12)))


def _list_tails(scores: FloatArray, weights: FloatArray) -> Iterator[tuple[slice, list[FloatArray]]]:
    """Yield p-values by the normal distribution with weights of the topics: of some pairs of runs, (trial, pair) a measure."""
    first, second = np.triu_indices(len(scores), 1)
    size = _NUMBERS // max(weights.shape)
    for pairs in split_work(len(first), size, "certainty of differences, pairs of runs"):
        tails = []
        for column in np.moveaxis(scores, -1, 0):
            gap = scale_squares(column[first[pairs]] - column[second[pairs]], axis=1).T
            tails.append(_find_tail(weights @ gap, weights @ gap**2))
        yield pairs, tails


def normal_p_values(scores: FloatArray) -> FloatArray:
    """Return what `flip_p_values` tends to with many topics, tails of a normal distribution, shape (measure, run pair)."""
    whole = np.ones((1, scores.shape[1]))
    return np.concatenate([np.concatenate(tails) for _, tails in _list_tails(scores, whole)], axis=1)


def resample_softly(scores: FloatArray, key: int, n_trials: int) -> tuple[FloatArray, float]:
    """Return soft accuracy by normal p-values on topics drawn anew, (trial, measure), and the reference's own."""
    n_topics, n_columns = scores.shape[1:]
    reference = normal_p_values(scores[..., -1:])[0]
    apart = np.zeros((n_trials, n_columns))
    for trials in split_work(n_trials, WEIGHTS_HELD // n_topics):
        for pairs, tails in _list_tails(scores, draw_weights(key, range(trials.start, trials.stop), n_topics)):
            for column, tail in enumerate(tails):
                other = tails[-1] if column < n_columns - 1 else reference[pairs]
                apart[trials, column] += np.abs(tail - other).sum(axis=1)
    soft = 1 - apart / len(reference)
    return soft[:, :-1], float(soft[:, -1].mean())


def swap_softly(
    cells: FloatArray, reference: FloatArray, key: int, n_trials: int, clusters: IntArray | None = None
) -> FloatArray:
    """Exchange every two measures in random cells, standardised, shape (measure, run, topic): differences in soft accuracy.

    `reference`, shape (run pair,), are its normal p-values. A mixture of two measures is their mean and, with a random sign s
    in each cell, half of their difference h; the other mixture is the mean less that. So for runs i and j, whose means differ
    by g, its differences g + s_i h_i − s_j h_j and their squares add up to products of signs, s_i, s_j and s_i s_j, with what
    does not depend on the trial.
    """
    z = add_by_cluster(cells, clusters)
    n_measures, n_runs, n_units = z.shape
    first, second = np.triu_indices(n_measures, 1)
    starts = np.cumsum([0, *range(n_runs - 1, 0, -1)])  # of the pairs of a run with later ones
    apart = np.zeros((2, n_trials, len(first)))
    # So few that they stay in the cache; threads of the matrix product would cost more than they gain.
    size = min(2**15, _NUMBERS // n_runs) // n_units
    for trials in split_work(n_trials, size, "exchanging cells for soft pairwise accuracy"):
        numbers = range(trials.start, trials.stop)
        drawn = topic_signs(key, numbers, n_runs * n_units).reshape(len(numbers), n_runs, n_units)
        signs = np.ascontiguousarray(drawn.transpose(1, 0, 2), dtype=np.float64)
        few = max(1, 2**17 // (n_units * max(len(numbers), len(first))))
        for run in range(n_runs - 1):
            for start in range(run + 1, n_runs, few):
                later = slice(start, min(start + few, n_runs))
                both = [z[:, some].transpose(1, 2, 0) for some in (slice(run, run + 1), later)]
                half, half_later = ((side[..., first] - side[..., second]) / 2 for side in both)
                mean, mean_later = ((side[..., first] + side[..., second]) / 2 for side in both)
                gap = mean - mean_later
                moved = signs[run] @ half - signs[later] @ half_later
                crossed = 2 * (signs[run] @ (gap * half) - signs[later] @ (gap * half_later))
                fixed = (gap**2 + half**2 + half_later**2).sum(axis=1, keepdims=True)
                squares = fixed - 2 * ((signs[run] * signs[later]) @ (half * half_later))
                place = starts[run] + start - run - 1
                expected = reference[place : place + later.stop - start, np.newaxis, np.newaxis]
                for side, sign in enumerate((1, -1)):
                    tails = _find_tail(gap.sum(axis=1, keepdims=True) + sign * moved, squares + sign * crossed)
                    apart[side, trials] += np.abs(tails - expected).sum(axis=0)
    return (apart[1] - apart[0]) / len(reference)
