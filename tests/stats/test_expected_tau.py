"""What τ to expect, also of more topics than there are."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import metaeval as me
from metaeval.stats.expected_tau import _agree_between, _agree_with_truth, expected_tau
from metaeval.stats.rank_correlation import tau
from metaeval.stats.split_half import split_half_tau

DATA = Path(os.environ.get("METAEVAL_DATA") or "nowhere")


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.5), (0.7, 0.01), (1.3, 2.0), (3.0, 1.0)])
def test_the_closed_forms_are_the_integrals(mean, spread):
    def integrate(agree):
        ends = (mean - 9 * spread, mean + 9 * spread)
        return scipy.integrate.quad(
            lambda x: agree(x) * scipy.stats.norm.pdf(x, mean, spread), *ends, points=[0], limit=200
        )[0]

    between = integrate(lambda x: (2 * scipy.stats.norm.cdf(x) - 1) ** 2)
    truth = integrate(lambda x: 2 * scipy.stats.norm.cdf(abs(x)) - 1)
    assert _agree_between(np.array(mean), np.array(spread)) == pytest.approx(between, abs=1e-7)
    assert _agree_with_truth(np.array(mean), np.array(spread)) == pytest.approx(truth, abs=1e-7)


def draw(rng, n_topics, quality):
    topics = rng.normal(0, 0.3, (1, n_topics))
    return quality[:, None] + topics + rng.gamma(1.0, 0.25, (len(quality), n_topics))


def test_twice_and_eight_times_as_many_topics_are_predicted():
    rng = np.random.default_rng(0)
    quality = rng.normal(0, 0.06, 20)
    sizes = [30, 60, 240]
    found = [
        expected_tau(draw(rng, 60, quality)[..., None], sizes, key=k, n_trials=100, intervals=False) for k in range(25)
    ]
    for place, size in enumerate(sizes):
        means = np.stack([draw(rng, size, quality).mean(axis=1) for _ in range(400)])
        between = tau(means[::2], means[1::2]).mean()
        truth = tau(means, quality).mean()
        # The standard error of 25 predictions is about 0.015.
        assert np.mean([one.between[place, 0, 0] for one in found]) == pytest.approx(between, abs=0.04)
        assert np.mean([one.truth[place, 0, 0] for one in found]) == pytest.approx(truth, abs=0.04)


@pytest.mark.skipif(not (DATA / "trec").is_dir(), reason="needs trec/ in the folder that METAEVAL_DATA names")
@pytest.mark.parametrize("name", ["trec-web-2013", "trec-web-2010", "trec-adhoc-7"])
def test_half_of_a_collection_predicts_the_whole(name):
    values = me.load_dataset(name).values
    half = values.shape[1] // 2
    whole = split_half_tau(values, n_trials=200, size=half, key=1).mean(axis=0)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(values.shape[1]) for _ in range(6)]
    found = [
        expected_tau(values[:, part], [half], key=k, n_trials=60, intervals=False).between[0, :, 0]
        for k, order in enumerate(orders)
        for part in (order[:half], order[half:])
    ]
    # The halves of a noisy measure vary much: the mean over so few has a standard error of 0.03.
    assert np.abs(np.mean(found, axis=0) - whole).mean() < 0.035


def test_intervals_hold_what_is_expected():
    rng = np.random.default_rng(3)
    quality = rng.normal(0, 0.08, 12)
    means = np.stack([draw(rng, 80, quality).mean(axis=1) for _ in range(600)])
    between = tau(means[::2], means[1::2]).mean()
    held = []
    for k in range(50):
        one = expected_tau(draw(rng, 40, quality)[..., None], [80], key=k, n_trials=50)
        held.append(one.between[0, 0, 1] <= between <= one.between[0, 0, 2])
    assert 0.84 <= np.mean(held) <= 1.0  # 0.95 give or take three standard errors


def test_at_half_of_the_topics_it_is_what_is_observed():
    rng = np.random.default_rng(4)
    values = draw(rng, 50, rng.normal(0, 0.1, 15))[..., None]
    found = expected_tau(values, [25], key=9, n_trials=100, intervals=False)
    assert found.between[0, 0, 0] == pytest.approx(
        split_half_tau(values, n_trials=100, size=25, key=9).mean(), abs=1e-3
    )


def test_runs_that_always_differ_by_the_same_are_ordered_and_equal_ones_never():
    base = np.random.default_rng(5).random(12)
    values = np.stack([base, base, base + 1, base + 2])[..., None]
    found = expected_tau(values, [6, 100], key=1, n_trials=20)
    assert found.between[:, 0, 0].tolist() == found.truth[:, 0, 0].tolist() == pytest.approx([5 / 6] * 2)
    assert expected_tau(values, [100], key=1, n_trials=20, variant="tau_b").between[0, 0, 0] == pytest.approx(1)


def test_where_nothing_differs_tau_a_is_0_and_tau_b_is_not_defined():
    values = np.ones((4, 8, 1))
    assert expected_tau(values, [8], key=1, n_trials=5).between[0, 0, 0] == 0
    assert np.isnan(expected_tau(values, [8], key=1, n_trials=5, variant="tau_b").between[0, 0, 0])


@pytest.mark.parametrize("offset", [1e6, 1e10, -1e12])
def test_how_far_scores_lie_from_zero_changes_no_expected_tau(offset):
    values = np.linspace(0, 1, 8)[:, None, None] + np.random.default_rng(0).normal(0, 1, (8, 60, 1))
    near, far = (expected_tau(each, [30, 240], key=1, intervals=False) for each in (values, values + offset))
    assert far.between == pytest.approx(near.between, abs=0.01, nan_ok=True)
