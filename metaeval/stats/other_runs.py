"""Numbers on other topics and of other runs: what the choice of runs adds to the spread of resampled topics.

Resampling topics answers "these runs, other topics": its variance is that of topics, and of what runs and topics do together.
For "other runs of this kind" each run is left out once: m times the variance of the number over runs left out is the
jackknife's estimate of what drawing other runs adds (Efron and Stein, Annals of Statistics 9(3), 1981). It holds what runs
and topics do together a second time. The jackknife on resampled topics holds that once more than the jackknife on the topics
themselves, so that the difference of the two is taken off. No run is ever drawn twice, so that none forms a pair with itself.
Drawing runs with replacement, or halves of them, together with topics counts three times what they do together.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from metaeval.stats.blocks import FloatArray

Over: TypeAlias = Literal["topics", "runs and topics"]

ELSEWHERE: dict[Over, str] = {"topics": "on other topics", "runs and topics": "on other topics and of other runs"}
"""What intervals speak of, in words."""

FEWEST_OTHER_RUNS = 12
"""With fewer runs, intervals for other runs were not calibrated, and none are given."""


CROSSED_TRIALS = 30
"""Resamples of topics on which each run is left out, for what runs and topics do together."""


def vary_runs(drawn: FloatArray, left_out: FloatArray, crossed: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Add to numbers on resampled topics, shape (trial, number), what they vary with other runs.

    `left_out`, of shape (run, number), are the numbers without each run, and `crossed`, of shape (run, some trials, number),
    the same on resampled topics. All numbers of a trial share their random weights, so that differences of two of them vary
    as they should. Of few runs the spread is known as well as Student's t allows for.
    """
    from scipy.special import ndtri, stdtrit

    n_runs = len(left_out)
    moved, deviations, redrawn = (np.nan_to_num(each - np.nanmean(each, axis=0)) for each in (drawn, left_out, crossed))
    deviations, redrawn = (each * np.sqrt((n_runs - 1) / n_runs) for each in (deviations, redrawn))
    added = _leave_interaction(deviations, redrawn.reshape(-1, redrawn.shape[-1]), moved)
    wider = stdtrit(n_runs - 1, 0.975) / ndtri(0.975)
    return np.asarray(drawn + wider * rng.standard_normal((len(drawn), n_runs)) @ added)


def _leave_interaction(deviations: FloatArray, redrawn: FloatArray, moved: FloatArray) -> FloatArray:
    """Shrink deviations of numbers without each run, shape (run, number), by what runs and topics do together.

    The products of the deviations are the jackknife's J. With R the mean of those on resampled topics, shape
    (some trials · run, number), runs and topics do R − J together: in no direction less than nothing or more than all of J,
    or than numbers on resampled topics, `moved` of shape (trial, number), vary. The products of the result are J less that.
    """
    left, sizes, directions = np.linalg.svd(deviations, full_matrices=False)
    some = sizes > sizes.max(initial=0.0) * 1e-9
    left, sizes, directions = left[:, some], sizes[some], directions[some]
    again, topics = (each @ directions.T / sizes for each in (redrawn, moved))  # J is 1 in every direction
    size, turned = np.linalg.eigh(again.T @ again * (len(deviations) / len(redrawn)))
    together = np.minimum(size - 1, np.square(topics @ turned).mean(axis=0))
    kept = np.sqrt(np.clip(1 - together, 0.0, 1.0))
    return np.asarray((left @ turned * kept) @ turned.T @ (sizes[:, np.newaxis] * directions))
