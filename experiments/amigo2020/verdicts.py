"""What the verdicts of this study share: the words of conclusions.toml, and how single findings become one outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from experiments.outcome import read_toml
from experiments.verdicts import Found
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

CONCLUSIONS = read_toml(Path(__file__).parent / "conclusions.toml")
"""Sentence, place and rule of every conclusion, by name."""

Seen = TypeVar("Seen")


def conclude(
    name: str, data: str, found: Found, conditions: Sequence[tuple[str, str]] = (), reason: str = ""
) -> Verdict:
    """Return a verdict with the words of its conclusion.

    Parameters
    ----------
    name : str
        Of conclusions.toml.
    data : str
        What it was tried on.
    found : (outcome, evidence)
    conditions : sequence of (str, str), optional
    reason : str, optional

    Returns
    -------
    Verdict
    """
    words = CONCLUSIONS[name]
    word, evidence = found
    return Verdict(words["claim"], words["where"], words["rule"], data, word, evidence, tuple(conditions), reason)


def judge_all(met: Iterable[bool]) -> OutcomeWord:
    """Return whether something is so in all cases, in some, or in none.

    Examples
    --------
    >>> judge_all([True, True]), judge_all([True, False]), judge_all([False])
    ('holds', 'holds in part', 'does not hold')
    """
    there = list(met)
    if all(there):
        return "holds"
    return "holds in part" if any(there) else "does not hold"


def judge_parts(words: Iterable[OutcomeWord]) -> OutcomeWord:
    """Return what several parts of one statement come to, each of which must hold.

    Examples
    --------
    >>> judge_parts(["holds", "does not hold"]), judge_parts(["holds", "cannot tell"])
    ('holds in part', 'cannot tell')
    """
    there = set(words)
    if len(there) == 1:
        return there.pop()
    if "does not hold" in there or "holds in part" in there:
        return "holds in part" if there & {"holds", "holds in part"} else "does not hold"
    return "cannot tell"


def judge_seeds(met: Iterable[bool]) -> OutcomeWord:
    """Return whether something is so in every seed; where seeds disagree it cannot be told.

    Examples
    --------
    >>> judge_seeds([True, True]), judge_seeds([True, False])
    ('holds', 'cannot tell')
    """
    word = judge_all(met)
    return "cannot tell" if word == "holds in part" else word


def agree(decide: Callable[[Seen], Found], seen: Sequence[Seen], *, of: str) -> tuple[Found, str, str]:
    """Apply a rule to what several seeds, dealings or readings give.

    Parameters
    ----------
    decide : callable
    seen : sequence
        The first one gives the figures.
    of : str
        What there are several of.

    Returns
    -------
    found : (outcome, evidence)
        "cannot tell" where they disagree.
    counts : str
        How often which outcome came out.
    reason : str
        Empty where they agree.
    """
    (word, evidence), *others = [decide(one) for one in seen]
    tried = Counter([word, *(one[0] for one in others)])
    counts = ", ".join(f"{one} {n}" for one, n in tried.items())
    if len(tried) == 1:
        return (word, evidence), counts, ""
    return ("cannot tell", evidence), counts, f"{of} disagree: {counts}"


def count_met(name: str, met: Iterable[bool]) -> tuple[Evidence, ...]:
    """Return in how many of how many cases something is so, as two figures."""
    there = np.asarray(list(met), dtype=bool)
    return Evidence(f"so in {name}", int(there.sum())), Evidence("of", int(there.size))


def span(name: str, values: np.ndarray, digits: int = 3) -> Evidence:
    """Return the mean of values with the lowest and the highest of them; a single one as it is."""
    ends = (float(values.min()), float(values.max())) if len(values) > 1 else None
    return Evidence(name, float(values.mean()), ends, digits)
