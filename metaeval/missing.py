"""What to do where a run has no score for a topic: raise, or an explicit policy that says what it did."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.labels import listed
from metaeval.measures.base import Measure

MissingPolicy = Literal["raise", "drop-topic", "drop-run", "worst"]


def mend_missing(
    values: np.ndarray,
    runs: Sequence[str],
    topics: Sequence[str],
    measures: Sequence[Measure],
    policy: MissingPolicy = "raise",
    file: object = None,
) -> tuple[np.ndarray, list[str], list[str]]:
    """Apply a policy to the NaN cells of a score array.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
        NaN where there is no score.
    runs, topics, measures : sequence
        Labels of its axes.
    policy : {"raise", "drop-topic", "drop-run", "worst"}, optional
        Raise; leave out every topic, or every run, with a missing score; or give the measure's worst value.
    file : path, optional
        Where the scores are from, for messages.

    Returns
    -------
    values : ndarray, shape (run, topic, measure)
        Without NaN.
    runs, topics : list of str
        What is left.

    Raises
    ------
    DataError
        If a score is missing and the policy is to raise, if nothing is left, or if the worst value of a
        measure is not known.
    """
    check_policy(policy, MissingPolicy)
    gaps = np.isnan(values)
    runs, topics = list(runs), list(topics)
    if not gaps.any():
        return values, runs, topics
    r, t, m = (int(position) for position in np.argwhere(gaps)[0])
    count = int(gaps.sum())
    if policy == "raise":
        more = f"; {count:,} are missing in all" if count > 1 else ""
        raise DataError(
            f"there is no score{more}",
            file=file,
            run=runs[r],
            topic=topics[t],
            measure=measures[m],
            hint="choose what to do about it: missing=drop-topic, drop-run or worst",
        )
    if policy == "worst":
        values = values.copy()
        for position in np.flatnonzero(gaps.any(axis=(0, 1))).tolist():
            one = measures[position]
            if one.higher_is_better is None or not np.isfinite(one.worst):
                raise DataError("its worst value is not known, so it cannot stand for a missing score", measure=one)
            values[..., position][gaps[..., position]] = one.worst
        told(f"{count:,} missing scores given the measure's worst value", file)
        return values, runs, topics
    axis = 0 if policy == "drop-run" else 1
    labels = runs if axis == 0 else topics
    keep = ~gaps.any(axis=(1 - axis, 2))
    dropped = [label for label, kept in zip(labels, keep, strict=True) if not kept]
    what = "run" if axis == 0 else "topic"
    if not keep.any():
        raise DataError(f"every {what} has a missing score: {policy} would leave nothing", file=file)
    told(f"{policy}: left out {len(dropped)} of {len(labels)} {what}s with missing scores: {listed(dropped)}", file)
    kept_labels = [label for label, kept in zip(labels, keep, strict=True) if kept]
    values = values.compress(keep, axis=axis)
    return (values, kept_labels, topics) if axis == 0 else (values, runs, kept_labels)


def told(what: str, file: object = None) -> None:
    """Say on stderr what a policy did."""
    warnings.warn(f"{file}: {what}" if file is not None else what, PolicyWarning, stacklevel=4)


def check_policy(policy: str, allowed: object) -> None:
    """Refuse a policy that is not one of the `Literal` `allowed`."""
    names = get_args(allowed)
    if policy not in names:
        raise MetaevalError(f"there is no policy {policy!r}: use {', '.join(names)}")
