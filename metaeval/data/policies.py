"""Policies for what is missing or invalid: raise, or do what the policy says and report it in a warning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from metaeval.errors import DataError, MetaevalError, PolicyWarning, format_count, format_list, format_option

# What to do where a run has no score, or no answer; what is kept is NaN, which only analyses of boards take.
MissingPolicy = Literal["raise", "drop-topic", "drop-run", "worst", "keep"]
# What to do with a label outside the classes.
InvalidPolicy = Literal["raise", "drop-topic", "drop-run", "clip", "worst"]


def hint_missing(policies: Sequence[str] = ("drop-topic", "drop-run")) -> str:
    """Return what can be done about a missing score, for a message; of an answer of a run, worst can be chosen too."""
    gaps = format_option("gaps", "present")
    ways = [f"{gaps} or complete keeps gaps"] if gaps.startswith("-") else []
    ways += [format_option("missing", " or ".join(policies))] if policies else []
    return f"choose what to do about it: {'; or '.join(ways)}" if ways else "every run and every topic lacks some"


def report_policy(what: str, file: object = None) -> None:
    """Say on stderr what a policy did."""
    warnings.warn(f"{file}: {what}" if file is not None else what, PolicyWarning, stacklevel=4)


def check_policy(policy: str, allowed: object) -> None:
    """Refuse a policy that is not one of the `Literal` `allowed`."""
    if policy not in get_args(allowed):
        raise MetaevalError(f"there is no policy {policy!r}: use {', '.join(get_args(allowed))}")


def describe_total(count: int) -> str:
    """Return the end of a message about the first of several cells."""
    return f"; there are {count:,} such cases in all" if count > 1 else ""


def report_dropped(keep: np.ndarray, labels: Sequence[str], what: str, policy: str) -> None:
    """Say which runs or topics a policy leaves out; that nothing is left is an error."""
    dropped, n = [label for label, stays in zip(labels, keep, strict=True) if not stays], len(labels)
    if dropped and len(dropped) == n:
        raise DataError(f"{policy} would leave no {what}", hint="choose another policy, or fewer runs and measures")
    if dropped:
        why = f"(like {policy}), since scores or answers there are {'invalid' if 'invalid' in policy else 'missing'}"
        report_policy(f"left out {len(dropped)} of {format_count(n, what)}: {format_list(dropped)} {why}")


def find_complete(
    gaps: np.ndarray, runs: Sequence[str], topics: Sequence[str], policy: MissingPolicy
) -> tuple[np.ndarray, np.ndarray]:
    """Return which runs and which topics stay where a policy leaves out those with gaps, shape (run, topic), and say so."""
    keep: list[np.ndarray] = []
    for axis, (what, labels) in enumerate((("run", runs), ("topic", topics))):
        keep.append(np.logical_not(gaps.any(axis=1 - axis) & (policy == f"drop-{what}")))
        report_dropped(keep[axis], labels, what, format_option("missing", policy))
    return keep[0], keep[1]
