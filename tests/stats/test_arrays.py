"""Scores at a common scale, thresholds of ties, and what long work tells of itself."""

import math

import numpy as np
import pytest

import metaeval as me
from metaeval.stats import randomised_tukey
from metaeval.stats.arrays import find_exponents, scale_scores
from metaeval.stats.parallel import listen
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.resampling import topic_signs
from metaeval.stats.streams import stream_key

KEY = stream_key(3, "blocks")


def make_scores(n_runs=6, n_topics=21, n_measures=3, seed=0):
    """Scores with ties and with either sign, on scales far apart; two runs are equal, one measure is constant."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 5, (n_runs, n_topics, n_measures)) / 10 + rng.integers(0, 2, (n_runs, 1, 1)) / 5
    values[1] = values[0]
    values[..., 0] *= 1e-200
    values[..., -1] = 0.3
    return values


def test_exponents_are_those_of_the_median_magnitude_that_is_not_zero():
    rng = np.random.default_rng(1)
    cases = [
        make_scores(),
        np.zeros((3, 4, 2)),
        np.ldexp(rng.normal(size=(5, 9, 4)), rng.integers(-1060, 1000, (5, 9, 4))),
    ]
    cases += [np.full((2, 3, 1), 5e-324), np.where(rng.random((4, 8, 2)) < 0.7, 0.0, 1e308)]
    for values in cases:
        expected = []
        for column in values.reshape(-1, values.shape[-1]).T.tolist():
            known = sorted(math.frexp(score)[1] for score in column if score) or [0]
            expected.append(max(known[(len(known) - 1) // 2], known[-1] - 1000))
        assert find_exponents(values).tolist() == expected
        np.testing.assert_array_equal(np.ldexp(values, -np.array(expected)), scale_scores(values))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_long_test_tells_how_far_it_has_come_and_a_short_one_does_not(monkeypatch, n_jobs):
    values = make_scores()
    options = {"n_permutations": 12_000, "key": KEY, "n_jobs": n_jobs}
    heard = []
    with listen(lambda *what: heard.append(what)):
        whole = randomised_tukey_hsd(values, **options)
        assert not heard
        monkeypatch.setattr(randomised_tukey, "TOLD_WORK", 1)
        monkeypatch.setattr(randomised_tukey, "SMALLEST_TOLD", 700)
        np.testing.assert_array_equal(randomised_tukey_hsd(values, **options), whole)
    done = [one for what, one, total in heard if (what, total) == ("permuting", 12_000)]
    assert len(done) == len(heard) > 3
    assert done == sorted(set(done))
    assert done[-1] == 12_000


@pytest.mark.parametrize("first", [0, 1, 63, 64, 100, 640])
def test_signs_of_later_topics_are_those_of_all(first):
    everything = topic_signs(KEY, range(5), 900)
    np.testing.assert_array_equal(topic_signs(KEY, range(5), 200, first=first), everything[:, first : first + 200])


def test_agreement_in_memory_tells_how_far_it_has_come():
    heard = []
    statistics = ["tau_b", "spa", "topic_pearson", "acc_t"]
    values = np.random.default_rng(1).normal(size=(6, 9, 3))
    scores = me.Scores(values, runs=range(6), topics=range(9), measures=["MQM", "A", "B"], higher_is_better=True)
    with listen(lambda what, done, total: heard.append((what, done, total))):
        me.agreement(scores, reference="MQM", statistics=statistics, n_permutations=20)
    told = {what: (done, total) for what, done, total in heard}
    runs_and_cells = {"exchanging runs", "exchanging cells", "exchanging cells for soft pairwise accuracy"}
    assert runs_and_cells | {"exchanging pairs of runs", "topics"} <= set(told)
    assert all(done == total for done, total in told.values())
