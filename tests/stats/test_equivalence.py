"""Two one-sided tests are those of statsmodels, and the words follow from the intervals by rule."""

import numpy as np
import pytest
from scipy.stats import t
from statsmodels.stats.weightstats import ttost_paired

from metaeval.stats.equivalence import Ends, judge_difference, judge_level


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.05, 0.2, 1.0])
def test_alike_is_what_two_one_sided_tests_of_statsmodels_find_so(seed, margin):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=30)
    second = first + rng.normal(0.05, 0.3, 30)
    mean, error = (first - second).mean(), (first - second).std(ddof=1) / np.sqrt(30)
    reaches = t.ppf([0.975, 0.95], 29) * error
    two_sided, one_sided = (Ends(np.array([mean - reach]), np.array([mean + reach])) for reach in reaches)
    (word,) = judge_difference(mean, two_sided, one_sided, margin, 30)
    p, above, _ = ttost_paired(first, second, -margin, margin)
    assert (word == "like") == (p < 0.05)
    assert word in ("like", "no worse", "differs") or above[1] >= 0.05


CASES = [
    (0.0, (-0.03, 0.03), (-0.02, 0.02), "like"),
    (0.02, (0.01, 0.03), (0.012, 0.028), "like"),  # different, but by less than matters
    (0.2, (0.1, 0.3), (0.12, 0.28), "differs"),
    (-0.2, (-0.3, -0.1), (-0.28, -0.12), "differs"),
    (0.04, (-0.04, 0.12), (-0.03, 0.11), "no worse"),
    (-0.04, (-0.12, 0.04), (-0.11, 0.03), "no better"),
    (0.0, (-0.2, 0.2), (-0.16, 0.16), "undecided: about 520 topics would decide"),
    (0.1, (-0.2, 0.4), (-0.15, 0.35), "undecided: about 450 topics would decide"),
    (0.0, (np.nan, np.nan), (np.nan, np.nan), "undecided"),
]


@pytest.mark.parametrize(("gap", "two", "one", "word"), CASES)
def test_words_follow_from_the_intervals(gap, two, one, word):
    ends = [Ends(np.array([low]), np.array([high])) for low, high in (two, one)]
    assert judge_difference([gap], *ends, 0.05, 50) == [word]


def test_levels_are_reached_by_the_lower_end():
    wide, narrow = Ends(np.array([0.8, 0.5]), np.array([1.0, 0.7])), Ends(np.array([0.92, 0.52]), np.array([1.0, 0.69]))
    assert judge_level([0.95, 0.6], wide, narrow, 0.9, 50) == ["like", "differs"]
    assert judge_level([0.9], Ends(wide.low[:1], wide.high[:1]), Ends(wide.low[:1], wide.high[:1]), 0.9, 50) == [
        "undecided"
    ]


def test_for_other_runs_too_the_words_count_runs_with_topics():
    wide = Ends(np.array([-0.2]), np.array([0.24]))
    (topics,) = judge_difference([0.02], wide, wide, 0.05, 50)
    (both,) = judge_difference([0.02], wide, wide, 0.05, 50, "runs and topics")
    # An interval of half width .22 becomes .03 wide with (.22 / .03)² = 53.8 times as much.
    assert topics == "undecided: about 2,700 topics would decide"
    assert both == "undecided: about 54 times the runs and topics would decide"
