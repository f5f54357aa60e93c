"""Numbers pooled over collections: draws of collections and topics, against enumeration."""

import itertools

import numpy as np
import pytest

from metaeval.stats.collections import FEWEST_COLLECTIONS, explain_too_few, pool, redraw_collections

DRAWN = [np.array([[0.1, 0.5], [0.3, 0.4]]), np.array([[0.6, 0.2], [0.7, 0.0]]), np.array([[0.9, 0.9], [0.8, 1.0]])]
WEIGHTS = np.array([1.0, 2.0, 5.0])


def test_draws_of_collections_and_topics_are_distributed_as_enumeration_says():
    """Every choice of three collections of three, each on either of its two drawn sets of topics: 27 · 8 of one weight."""
    expected = []
    for chosen in itertools.product(range(3), repeat=3):
        for trial in itertools.product(range(2), repeat=3):
            total = sum(WEIGHTS[c] * DRAWN[c][t] for c, t in zip(chosen, trial, strict=True))
            expected.append(total / sum(WEIGHTS[list(chosen)]))
    expected = np.array(expected)
    trials = [np.tile(each, (20_000, 1)) for each in DRAWN]
    found = redraw_collections(trials, WEIGHTS, np.random.default_rng(1))
    assert found.mean(axis=0) == pytest.approx(expected.mean(axis=0), abs=0.005)
    assert np.cov(found.T) == pytest.approx(np.cov(expected.T, bias=True), rel=0.03, abs=1e-3)
    assert np.quantile(found, [0.1, 0.5, 0.9], axis=0) == pytest.approx(
        np.quantile(expected, [0.1, 0.5, 0.9], axis=0), abs=0.02
    )
    support = {tuple(row) for row in expected.round(9)}
    assert {tuple(row) for row in found.round(9)} <= support


def test_a_pool_is_the_weighted_mean_and_of_one_collection_itself():
    values = [np.array([0.2, 0.4]), np.array([0.8, 0.0])]
    assert pool(values, np.array([3.0, 1.0])) == pytest.approx([0.35, 0.3])
    assert pool(values[:1], np.array([3.0])) is values[0]


def test_few_collections_have_a_reason_and_one_needs_none():
    assert explain_too_few(1) == ""
    assert f"it needs {FEWEST_COLLECTIONS}" in explain_too_few(FEWEST_COLLECTIONS - 1)
    assert explain_too_few(FEWEST_COLLECTIONS) == ""
