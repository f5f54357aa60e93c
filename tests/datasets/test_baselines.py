import numpy as np
import pytest

from metaeval.datasets import baselines


@pytest.mark.parametrize(
    ("gold", "by_hand"),
    [
        ([1, 2, 10, 4, 2], [0, 0, 1, 0, 0]),
        ([7, 5, 7, 0, 0], [1 / 2, 0, 1 / 2, 0, 0]),
        ([5, 5, 5, 4, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0]),
        ([0.1 + 0.2, 0.3, 0.3 - 1e-12], [1 / 3] * 3),  # a tie, however shares are rounded
        ([0.1 + 0.2, 0.3, 0.4], [0, 0, 1]),
        ([[[0.5, 0.5], [0.2, 0.8]], [[1.0, 0.0], [0.0, 1.0]]], [[[0.5, 0.5], [0, 1]], [[1, 0], [0, 1]]]),
    ],
)
def test_popularity_shares_its_mass_evenly_among_the_most_frequent_classes_of_a_topic(gold, by_hand):
    for scaled in (np.array(gold), np.array(gold) / 19):
        np.testing.assert_array_equal(baselines.popularity(scaled), by_hand)
    np.testing.assert_array_equal(baselines.uniform(gold), np.full(np.shape(gold), 1 / np.shape(gold)[-1]))
