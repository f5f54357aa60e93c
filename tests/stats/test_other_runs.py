"""Intervals for other runs: variances of the jackknife and of the analysis of variance, the same runs for all numbers."""

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.stats.other_runs import vary_runs

WIDER = (2.1448 / 1.96) ** 2  # Student's t with 14 degrees of freedom over the normal quantile


def make_scores(rng, n_runs=16, n_topics=40, effect=1.0, n_measures=3):
    reference = rng.standard_normal((n_runs, 1, 1)) + rng.standard_normal((n_runs, n_topics, 1))
    effects = effect * rng.standard_normal((n_runs, 1, n_measures))
    measures = reference + effects + rng.standard_normal((n_runs, n_topics, n_measures))
    names = ["people", *(f"m{k}" for k in range(n_measures))]
    values = np.concatenate([reference, measures], axis=-1)
    return me.Scores(values, runs=range(n_runs), topics=range(n_topics), measures=names, higher_is_better=True)


def test_where_topics_change_nothing_the_added_variance_is_that_of_the_jackknife():
    rng = np.random.default_rng(1)
    left_out = rng.standard_normal((15, 2))
    drawn = np.tile(rng.standard_normal((40_000, 1)), 2)
    varied = vary_runs(drawn, left_out, left_out[:, np.newaxis], rng)
    jackknife = 14 / 15 * np.square(left_out - left_out.mean(axis=0)).sum(axis=0)
    np.testing.assert_allclose(varied.var(axis=0), drawn.var(axis=0) + WIDER * jackknife, rtol=0.05)
    gaps = left_out[:, 0] - left_out[:, 1]
    expected = WIDER * 14 / 15 * np.square(gaps - gaps.mean()).sum()
    assert (varied[:, 0] - varied[:, 1]).var() == pytest.approx(expected, rel=0.05)


def leave_out_means(scores, trials, rng):
    """Return means of scores of shape (run, topic) without each run, and those on topics drawn anew."""
    n_runs, n_topics = scores.shape
    drawn = np.stack([scores[:, rng.integers(n_topics, size=n_topics)].mean(axis=1) for _ in range(trials)], axis=1)
    means = scores.mean(axis=1)
    return (means.sum() - means) / (n_runs - 1), (drawn.sum(axis=0) - drawn) / (n_runs - 1)


@pytest.mark.parametrize("effect", [0.6, 2.0])
def test_a_mean_varies_over_runs_as_the_two_way_analysis_of_variance_says(effect):
    rng, (n_runs, n_topics) = np.random.default_rng(6), (15, 30)
    scores = effect * rng.standard_normal((n_runs, 1)) + rng.standard_normal((n_runs, n_topics))
    left_out, crossed = leave_out_means(scores, 1000, rng)
    drawn = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), 60_000) @ scores.mean(axis=0) / n_topics
    varied = vary_runs(drawn[:, np.newaxis], left_out[:, np.newaxis], crossed[..., np.newaxis], rng)
    residuals = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    of_runs = n_topics * scores.mean(axis=1).var(ddof=1)  # mean squares
    of_both = np.square(residuals).sum() / ((n_runs - 1) * (n_topics - 1))
    expected = (of_runs - of_both * (n_topics - 1) / n_topics) / (n_runs * n_topics)
    of_topics = scores.mean(axis=0).var() / n_topics
    assert varied.var() == pytest.approx(of_topics + WIDER * expected, rel=0.03)


def test_runs_add_at_least_what_the_jackknife_has_beyond_the_topics():
    rng = np.random.default_rng(12)
    left_out, drawn = rng.standard_normal((12, 1)), 0.3 * rng.standard_normal((60_000, 1))
    varied = vary_runs(drawn, left_out, 10 * rng.standard_normal((12, 30, 1)), rng)
    wider = (2.201 / 1.96) ** 2
    jackknife = 11 / 12 * np.square(left_out - left_out.mean()).sum()
    assert varied.var() == pytest.approx(drawn.var() + wider * (jackknife - drawn.var()), rel=0.03)


def test_what_runs_and_topics_do_together_never_adds_to_the_jackknife_nor_takes_more_than_it():
    rng = np.random.default_rng(7)
    left_out = rng.standard_normal((12, 20)) * np.logspace(-6, 3, 20)  # more numbers than runs, of unlike size
    drawn = 1e9 * rng.standard_normal((5000, 20))
    crossed = left_out[:, np.newaxis] + rng.standard_normal((12, 30, 20)) * 0.5 * np.abs(left_out[:, np.newaxis])
    some, all_of_it, none = (
        vary_runs(drawn, left_out, each, np.random.default_rng(8)) - drawn
        for each in (crossed, left_out[:, np.newaxis], 10 * crossed)
    )
    assert (some.var(axis=0) <= all_of_it.var(axis=0) * (1 + 1e-9)).all()
    assert (none.var(axis=0) < 0.2 * all_of_it.var(axis=0)).all()
    for directions in rng.standard_normal((50, 20)) / np.logspace(-6, 3, 20):
        assert (some @ directions).var() <= (all_of_it @ directions).var() * (1 + 1e-6)
    constant = vary_runs(drawn, np.ones((12, 20)), np.ones((12, 30, 20)), rng)
    assert (constant == drawn).all()


def test_collections_of_the_same_runs_have_the_same_ones_drawn():
    scores = make_scores(np.random.default_rng(9), n_runs=12, n_topics=30)
    # A second collection of the same runs that says nearly the same: other runs would change both alike.
    one, two = (
        me.Scores(values, runs=scores.runs, topics=range(30), measures=scores.measures, collection=name)
        for name, values in (("one", scores.values), ("two", scores.values + 1e-9 * scores.values**2))
    )
    other = me.Scores(
        two.values,
        runs=[f"other {run}" for run in two.runs],
        topics=two.topics,
        measures=two.measures,
        collection="two",
    )
    options = {"reference": "people", "statistics": ["pearson"], "n_permutations": 2, "over": "runs and topics"}
    alone, same, different = (me.agreement(each, **options) for each in (one, [one, two], [one, other]))
    widths = [float((each.high - each.low).mean()) for each in (alone, same, different)]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)
    assert widths[2] < 0.9 * widths[0]


def test_values_without_a_run_are_those_of_the_scores_without_it():
    scores = make_scores(np.random.default_rng(3), n_runs=12)
    options = {"reference": "people", "n_permutations": 50, "n_bootstrap": 100, "seed": 4}
    wide, narrow = (me.agreement(scores, over=over, **options) for over in ("runs and topics", "topics"))
    assert (wide.values == narrow.values).all()
    assert (wide.high - wide.low > 0.95 * (narrow.high - narrow.low)).all()
    assert (wide.high - wide.low).mean() > 1.1 * (narrow.high - narrow.low).mean()
    assert "over runs and topics" in str(wide.signature)


def test_of_too_few_runs_it_is_said_why_there_is_no_interval_for_others():
    scores = make_scores(np.random.default_rng(5), n_runs=14)
    few = scores.sel(runs=scores.runs[:11])
    options = {"reference": "people", "statistics": ["tau_a"], "n_permutations": 20, "n_bootstrap": 50}
    assert np.isnan(me.agreement(few, over="runs and topics", **options).low).all()
    assert np.isfinite(me.agreement(few, **options).low).all()
    with pytest.raises(MetaevalError, match="no over 'runs'"):
        me.agreement(scores, over="runs", **options)


def test_captions_say_what_intervals_speak_of_and_explained_tables_what_is_known():
    scores = make_scores(np.random.default_rng(10), n_runs=14)
    options = {"n_bootstrap": 200, "seed": 1}
    words = {
        "topics": ("these runs", "topics would decide"),
        "runs and topics": ("other runs", "times the runs and topics"),
    }
    for over, (where, needed) in words.items():
        found = me.agreement(scores, reference="people", n_permutations=50, margin=0.001, over=over, **options)
        text = "\n".join(table.to_text() for table in found.at("all"))
        assert "conclusion" in text
        assert ("other runs" in text) == (over != "topics")
        assert where in text
        assert found.differences()["conclusion"].str.contains(needed).any()
