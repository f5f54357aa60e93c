"""Policies for answers that are missing or invalid: their names, and how what they did is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from metaeval.errors import DataError
from metaeval.labels import counted, listed
from metaeval.missing import told

InvalidPolicy = Literal["raise", "drop-topic", "drop-run", "clip", "worst"]
"""What to do with a label outside the classes."""

CHOOSE_MISSING = "choose what to do about it: missing=drop-topic, drop-run or worst"
CHOOSE_INVALID = "choose what to do about it: invalid=drop-topic, drop-run, clip or worst"


def farthest(centre: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the end of the scale farthest from a position on it, the last class where both are as far.

    Parameters
    ----------
    centre : ndarray, shape (...)
        Positions from 0 to K − 1.
    n_classes : int
        K.

    Returns
    -------
    ndarray of int, shape (...)

    Examples
    --------
    >>> farthest(np.array([0, 1, 2, 3, 4]), 5).tolist()
    [4, 4, 4, 0, 0]
    """
    middle = (n_classes - 1) / 2
    return np.where(centre <= middle + 1e-12, n_classes - 1, 0)  # a mean of shares is rounded


def affected(cells: np.ndarray, runs: Sequence[str], topics: Sequence[str]) -> str:
    """Return which runs and topics some cells of a run × topic array belong to, as a short phrase.

    Parameters
    ----------
    cells : ndarray of bool, shape (run, topic)
    runs, topics : sequence of str

    Returns
    -------
    str
    """
    hit_runs = [run for r, run in enumerate(runs) if cells[r].any()]
    hit_topics = [topic for t, topic in enumerate(topics) if cells[:, t].any()]
    return f"{_named('run', hit_runs)}; {_named('topic', hit_topics)}"


def in_all(count: int) -> str:
    """Return the end of a message about the first of several cells."""
    return f"; there are {count:,} such cases in all" if count > 1 else ""


def tell_dropped(keep: np.ndarray, labels: Sequence[str], what: str, policy: str) -> None:
    """Say which runs or topics a policy leaves out; that nothing is left is an error.

    Parameters
    ----------
    keep : ndarray of bool, shape (n_labels,)
    labels : sequence of str
    what : {"run", "topic"}
    policy : str
        Its printed form: ``"missing=drop-run"``.

    Raises
    ------
    DataError
        If nothing is left.
    """
    dropped = [label for label, kept in zip(labels, keep, strict=True) if not kept]
    if len(dropped) == len(labels):
        raise DataError(f"{policy} would leave no {what}")
    if dropped:
        told(f"{policy}: left out {len(dropped)} of {counted(len(labels), what)}: {listed(dropped)}")


def _named(what: str, labels: Sequence[str]) -> str:
    return f"{what}{'s' * (len(labels) != 1)} {listed(labels)}"
