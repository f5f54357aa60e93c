"""Equal, or unknown? Two one-sided tests with a stated margin (Schuirmann, J. Pharmacokin. Biopharm. 15, 1987)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray
from metaeval.stats.other_runs import Over

LIKE, DIFFERS, NO_WORSE, NO_BETTER, UNDECIDED = "like", "differs", "no worse", "no better", "undecided"


FEASIBLE = 100
"""Times as many topics as there are that somebody may still collect: more are not named."""


class Ends(NamedTuple):
    """Both ends of intervals, each of shape (...)."""

    low: FloatArray
    high: FloatArray


def judge_difference(
    difference: npt.ArrayLike, two_sided: Ends, one_sided: Ends, margin: float, n_topics: int, over: Over = "topics"
) -> list[str]:
    """Return in a word what is known of each difference, and how many topics would decide what is not.

    `two_sided` are intervals at 1 − α, `one_sided` those at 1 − 2α, whose ends are those of one-sided tests. *like*: within
    ± `margin`, whether or not 0 lies outside. *differs*: 0 lies outside the two-sided interval. *no worse*: above −`margin`;
    *no better*: below `margin`.
    An interval is taken to become narrower as the root of the number of topics; one that speaks of other runs too, as that
    of runs and topics.
    """
    words = []
    gaps = np.atleast_1d(np.asarray(difference, dtype=np.float64))
    for gap, low, high, least, most in zip(gaps, *two_sided, *one_sided, strict=True):
        if not low <= high:
            words.append(UNDECIDED)
        elif -margin < least and most < margin:
            words.append(LIKE)
        elif low > 0 or high < 0:
            words.append(DIFFERS)
        elif least > -margin:
            words.append(NO_WORSE)
        elif most < margin:
            words.append(NO_BETTER)
        else:
            room = [(margin - abs(gap), (most - least) / 2), (abs(gap), (high - low) / 2)]
            needed = [n_topics * (reach / space) ** 2 for space, reach in room if space > 0]
            words.append(f"{UNDECIDED}{_say_topics(min(needed, default=np.inf), n_topics, over)}")
    return words


def judge_level(value: npt.ArrayLike, two_sided: Ends, one_sided: Ends, level: float, n_topics: int) -> list[str]:
    """Return the same of numbers, such as τ, that are *like* from a level on and *differ* below it."""
    words = []
    values = np.atleast_1d(np.asarray(value, dtype=np.float64))
    for number, low, high, least in zip(values, *two_sided, one_sided.low, strict=True):
        if not low <= high:
            words.append(UNDECIDED)
        elif least >= level:
            words.append(LIKE)
        elif high < level:
            words.append(DIFFERS)
        else:
            space = abs(number - level)
            needed = n_topics * ((high - low) / 2 / space) ** 2 if space > 0 else np.inf
            words.append(f"{UNDECIDED}{_say_topics(needed, n_topics)}")
    return words


def _say_topics(number: float, n_topics: int, over: Over = "topics") -> str:
    """Return how many topics would decide, with two digits; nothing where that is too many, or no more than there are."""
    if not 1.001 * n_topics < number < FEASIBLE * n_topics:
        return ""
    if over != "topics":
        times = number / n_topics
        parts = 10 if times < 10 else 1
        return f": about {np.ceil(parts * times - 1e-9) / parts:g} times the runs and topics would decide"
    scale = 10 ** max(0, len(str(int(number))) - 2)
    return f": about {int(np.ceil(number / scale - 1e-9) * scale):,} topics would decide"
