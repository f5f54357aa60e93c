"""Intervals for other runs: the jackknife's variance, the same runs for all numbers, and coverage in simulation."""

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.stats.other_runs import shares_without, vary_runs


def make_scores(rng, n_runs=16, n_topics=40, effect=1.0, n_measures=3):
    reference = rng.standard_normal((n_runs, 1, 1)) + rng.standard_normal((n_runs, n_topics, 1))
    effects = effect * rng.standard_normal((n_runs, 1, n_measures))
    measures = reference + effects + rng.standard_normal((n_runs, n_topics, n_measures))
    names = ["people", *(f"m{k}" for k in range(n_measures))]
    values = np.concatenate([reference, measures], axis=-1)
    return me.Scores(values, runs=range(n_runs), topics=range(n_topics), measures=names, higher_is_better=True)


def test_the_added_variance_is_that_of_the_jackknife():
    rng = np.random.default_rng(1)
    left_out = rng.standard_normal((15, 2))
    drawn = np.tile(rng.standard_normal((40_000, 1)), 2)
    varied = vary_runs(drawn, left_out, rng)
    jackknife = 14 / 15 * np.square(left_out - left_out.mean(axis=0)).sum(axis=0)
    wider = (2.1448 / 1.96) ** 2  # Student's t with 14 degrees of freedom over the normal quantile
    np.testing.assert_allclose(varied.var(axis=0), drawn.var(axis=0) + wider * jackknife, rtol=0.05)
    gaps = left_out[:, 0] - left_out[:, 1]
    expected = wider * 14 / 15 * np.square(gaps - gaps.mean()).sum()
    assert (varied[:, 0] - varied[:, 1]).var() == pytest.approx(expected, rel=0.05)


def test_shares_without_a_run_are_those_of_the_others():
    rng = np.random.default_rng(2)
    significant = rng.random((2, 10)) < 0.5
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    for run in range(5):
        others = [p for p, pair in enumerate(pairs) if run not in pair]
        np.testing.assert_allclose(shares_without(significant, 5)[run], significant[:, others].mean(axis=1))


def test_values_without_a_run_are_those_of_the_scores_without_it():
    scores = make_scores(np.random.default_rng(3), n_runs=12)
    options = {"reference": "people", "n_permutations": 50, "n_bootstrap": 100, "seed": 4}
    wide, narrow = (me.agreement(scores, over=over, **options) for over in ("runs and topics", "topics"))
    assert (wide.values == narrow.values).all()
    assert (wide.high - wide.low > 0.95 * (narrow.high - narrow.low)).all()
    assert (wide.high - wide.low).mean() > 1.1 * (narrow.high - narrow.low).mean()
    assert "over runs and topics" in str(wide.signature)


def test_every_analysis_speaks_of_other_runs_where_it_is_asked_and_of_too_few_says_why():
    scores = make_scores(np.random.default_rng(5), n_runs=14)
    few = scores.sel(runs=scores.runs[:11])
    for ask in (
        lambda data, **options: me.ranking_similarity(data, n_bootstrap=200, **options),
        lambda data, **options: me.discriminative_power(data, n_permutations=200, n_bootstrap=200, **options),
    ):
        wide, narrow = ask(scores, over="runs and topics"), ask(scores)
        ends = [frame["high"] - frame["low"] for frame in (wide.intervals(), narrow.intervals())]
        assert (ends[0] >= 0.9 * ends[1]).all()
        assert ends[0].mean() > ends[1].mean()
        assert "over runs and topics" in str(wide.signature)
        assert ask(few, over="runs and topics").intervals()["low"].isna().all()
        assert ask(few).intervals()["low"].notna().all()
        with pytest.raises(MetaevalError, match="no over 'runs'"):
            ask(scores, over="runs")
