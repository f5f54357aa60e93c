"""Where random numbers come from, scores at a common scale, and what long work tells of itself."""

import math

import numpy as np
import pytest

from metaeval.stats import randomised_tukey
from metaeval.stats.arrays import find_exponents, scale_scores
from metaeval.stats.parallel import listen
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.streams import generator, mix, stream_key, words


def test_a_key_depends_on_the_seed_and_on_every_name_and_generators_of_two_are_unrelated():
    given = [(1,), (2,), (1, "a"), (1, "b"), (1, "a", "b"), (1, "b", "a"), (1, "ab"), (1, "", "ab")]
    keys = [stream_key(*one) for one in given]
    assert len(set(keys)) == len(keys)
    assert all(0 <= key < 2**64 for key in keys)
    assert stream_key(np.int64(1), "a") == stream_key(1, "a")
    of = [(3, "power"), (3, "power"), (3, "consistency"), (4, "power")]
    same, again, *others = (generator(*each).random(1000) for each in of)
    assert (same == again).all()
    assert all(abs(np.corrcoef(same, other)[0, 1]) < 0.15 for other in others)


def test_mixing_is_splitmix64_word_by_word():
    """The first outputs of SplitMix64 from seed 1234567, as published with the reference implementation."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert words(np.array([1234567], dtype=np.uint64), np.arange(4)).tolist() == expected
    many = np.arange(50_000, dtype=np.uint64)
    one_by_one = [mix(many[place : place + 1].copy())[0] for place in range(0, 50_000, 7001)]
    assert (mix(many.copy())[::7001] == one_by_one).all()


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
    for values in (
        make_scores(),
        np.zeros((3, 4, 2)),
        np.ldexp(rng.normal(size=(5, 8, 4)), rng.integers(-1060, 1000, (5, 8, 4))),
        np.full((2, 3, 1), 5e-324),
        np.where(rng.random((4, 8, 2)) < 0.7, 0.0, 1e308),
    ):
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
