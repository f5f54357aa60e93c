import numpy as np
import pytest

from metaeval.datasets import baselines


@pytest.mark.parametrize(
    ("votes", "by_hand"),
    [
        ([1, 2, 10, 4, 2], [0, 0, 1, 0, 0]),
        ([7, 5, 7, 0, 0], [1 / 2, 0, 1 / 2, 0, 0]),
        ([5, 5, 5, 4, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0]),
        ([0, 19, 0, 0, 0], [0, 1, 0, 0, 0]),
    ],
)
def test_popularity_shares_its_mass_evenly_among_the_most_frequent_classes(votes, by_hand):
    np.testing.assert_array_equal(baselines.popularity(votes), by_hand)
    np.testing.assert_array_equal(baselines.popularity(np.array(votes) / 19), by_hand)


def test_a_tie_is_a_tie_however_the_shares_were_rounded():
    tie = np.array([0.1 + 0.2, 0.3, 0.4 - 0.0])
    np.testing.assert_array_equal(baselines.popularity([0.1 + 0.2, 0.3, 0.3 - 1e-12]), [1 / 3] * 3)
    np.testing.assert_array_equal(baselines.popularity(tie), [0, 0, 1])
    np.testing.assert_array_equal(baselines.popularity([10 / 19, 9 / 19]), [1, 0])


def test_popularity_is_taken_topic_by_topic():
    gold = [[[0.5, 0.5], [0.2, 0.8]], [[1.0, 0.0], [0.0, 1.0]]]
    np.testing.assert_array_equal(baselines.popularity(gold), [[[0.5, 0.5], [0, 1]], [[1, 0], [0, 1]]])


def test_uniform_gives_every_class_the_same():
    np.testing.assert_array_equal(baselines.uniform(np.eye(5)), np.full((5, 5), 0.2))
