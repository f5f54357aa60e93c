"""Intervals over topics, runs and collections lie where they should, and words follow from them by rule."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import binomtest, t
from statsmodels.stats.weightstats import ttost_paired

import metaeval as me
from metaeval.stats import intervals


def test_the_interval_is_that_of_a_mean_on_the_transformed_scale_also_at_its_end_and_without_undefined_resamples():
    drawn = np.random.default_rng(0).normal(0.5, 0.01, 4000)
    for scale, forward in (("correlation", np.arctanh), ("share", logit)):
        low, high = intervals.centre_interval(0.4, drawn, 40, scale=scale)
        slope = (forward(0.4001) - forward(0.3999)) / 0.0002
        reach = t.ppf(0.975, 39) * drawn.std(ddof=1) * np.sqrt(40 / 39) * slope
        np.testing.assert_allclose(forward([low, high]), forward(0.4) + np.array([-reach, reach]), rtol=1e-6)
    drawn = np.random.default_rng(0).uniform(0.8, 1, (200, 2))
    low, high = intervals.centre_interval([1.0, -1.0], drawn, 50, step=0.05)
    assert low[0] < 1 == high[0]
    assert low[1] == -1 < high[1]
    low, high = intervals.centre_interval([0.2, 0.2], np.array([[0.1, np.nan], [0.3, np.nan], [np.nan, 0.2]]), 30)
    assert low[0] < 0.2 < high[0]
    assert np.isnan([low[1], high[1]]).all()
    assert intervals.explain_no_interval(10, 25) == ""
    assert all(intervals.explain_no_interval(*few) for few in ((9, 500), (500, 24)))


def test_a_share_of_pairs_of_two_runs_is_binomial_of_no_pairs_can_be_anything_and_collections_are_added():
    low, high = intervals.interval_of_pairs(np.full((1, 1), 3), np.full((1, 1), 20), [2])
    wanted = binomtest(3, 20).proportion_ci(method="exact")
    assert (low[0], high[0]) == pytest.approx((wanted.low, wanted.high))
    low, high = intervals.interval_of_pairs([[0, 0, 30]], [[0, 30, 30]], [10])
    assert low.tolist()[:2] == [0, 0]
    assert high.tolist()[0] == high.tolist()[2] == 1
    assert high[1] == pytest.approx(1 - low[2])
    together = intervals.interval_of_pairs([[4], [6]], [[10], [20]], [12, 12])
    np.testing.assert_allclose(together, intervals.interval_of_pairs([[10]], [[30]], [12]), rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.05, 0.2, 1.0])
def test_alike_is_what_two_one_sided_tests_of_statsmodels_find_so(seed, margin):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=30)
    second = first + rng.normal(0.05, 0.3, 30)
    mean, error = (first - second).mean(), (first - second).std(ddof=1) / np.sqrt(30)
    reaches = t.ppf([0.975, 0.95], 29) * error
    two_sided, one_sided = (ends_of((mean - reach, mean + reach)) for reach in reaches)
    (word,) = intervals.judge_difference(two_sided, one_sided, margin)
    p, above, _ = ttost_paired(first, second, -margin, margin)
    assert (word == "like") == (p < 0.05)
    assert word in ("like", "no worse", "differs") or above[1] >= 0.05


def ends_of(interval):
    return intervals.Ends(*np.array(interval, dtype=float).reshape(2, 1))


CASES = [
    ((-0.03, 0.03), (-0.02, 0.02), "like"),
    ((0.01, 0.03), (0.012, 0.028), "like"),  # different, but by less than matters
    ((0.1, 0.3), (0.12, 0.28), "differs"),
    ((-0.3, -0.1), (-0.28, -0.12), "differs"),
    ((-0.04, 0.12), (-0.03, 0.11), "no worse"),
    ((-0.12, 0.04), (-0.11, 0.03), "no better"),
    ((-0.2, 0.2), (-0.16, 0.16), "undecided"),
    ((np.nan, np.nan), (np.nan, np.nan), "undecided"),
]


@pytest.mark.parametrize(("two", "one", "word"), CASES)
def test_words_follow_from_the_intervals(two, one, word):
    assert intervals.judge_difference(ends_of(two), ends_of(one), 0.05) == [word]


WIDER = (2.1448 / 1.96) ** 2  # Student's t with 14 degrees of freedom over the normal quantile


@pytest.mark.parametrize("effect", [0.6, 2.0])
def test_a_mean_varies_over_runs_as_the_two_way_analysis_of_variance_says(effect):
    rng, (n_runs, n_topics) = np.random.default_rng(6), (15, 30)
    scores = effect * rng.standard_normal((n_runs, 1)) + rng.standard_normal((n_runs, n_topics))
    anew = np.stack([scores[:, rng.integers(n_topics, size=n_topics)].mean(axis=1) for _ in range(1000)], axis=1)
    # The means of all runs but one, on the topics and on topics drawn anew.
    left_out, crossed = ((one.sum(axis=0) - one) / (n_runs - 1) for one in (scores.mean(axis=1), anew))
    drawn = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), 60_000) @ scores.mean(axis=0) / n_topics
    varied = intervals.vary_runs(drawn[:, np.newaxis], left_out[:, np.newaxis], crossed[..., np.newaxis], rng)
    residuals = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    of_runs = n_topics * scores.mean(axis=1).var(ddof=1)  # mean squares
    of_both = np.square(residuals).sum() / ((n_runs - 1) * (n_topics - 1))
    expected = (of_runs - of_both * (n_topics - 1) / n_topics) / (n_runs * n_topics)
    of_topics = scores.mean(axis=0).var() / n_topics
    assert varied.var() == pytest.approx(of_topics + WIDER * expected, rel=0.03)


def test_collections_of_the_same_runs_have_the_same_ones_drawn():
    """A second collection of the same runs that says nearly the same: other runs would change both alike."""
    draw = np.random.default_rng(9).standard_normal
    people = draw((12, 1, 1)) + draw((12, 30, 1))
    values = np.concatenate([people, people + draw((12, 1, 3)) + draw((12, 30, 3))], axis=-1)
    labels = {"topics": range(30), "measures": ["people", "a", "b", "c"], "higher_is_better": True}
    one = me.Scores(values, runs=range(12), collection="one", **labels)
    two = replace(one, values=values + 1e-9 * values**2, collection="two")
    other = replace(two, runs=[f"other {run}" for run in two.runs])
    options = {"reference": "people", "statistics": ["pearson"], "n_permutations": 2, "over": "runs and topics"}
    alone, same, different = (me.agreement(each, **options) for each in (one, [one, two], [one, other]))
    widths = [float((each.high - each.low).mean()) for each in (alone, same, different)]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)
    assert widths[2] < 0.9 * widths[0]
