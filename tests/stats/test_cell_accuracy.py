"""acc-t over the pairs of all cells, against every pair and every threshold."""

import itertools

import numpy as np
import pytest

from metaeval.stats import cell_accuracy as kernel
from metaeval.stats.blocks import Scaled
from metaeval.stats.resampling import resampled_topics, topic_signs


def draw(seed, decimals=None):
    rng = np.random.default_rng(seed)
    n_runs, n_topics = rng.integers(2, 5), rng.integers(2, 9)
    reference = np.round(rng.normal(size=(n_runs, n_topics)) * rng.choice([0.5, 1, 30]), rng.integers(0, 2))
    values = reference + rng.normal(size=reference.shape) * rng.choice([0.1, 0.5, 2])
    return values if decimals is None else np.round(values, decimals), reference


def beside(values, reference):
    """Measures and their reference, the last measure."""
    return Scaled(np.concatenate([values, reference[..., None]], axis=-1))


def plain_accuracy(scores, reference):
    """The smallest best threshold, how many pairs are right there, and how many with each cell."""
    best = (-1, 0.0, None)
    pairs = list(itertools.combinations(range(scores.size), 2))
    for threshold in sorted({0.0, *(abs(scores[i] - scores[j]) for i, j in pairs)}):
        right, by_cell = 0, np.zeros(scores.size, dtype=int)
        for i, j in pairs:
            gap = scores[i] - scores[j]
            said = 0 if abs(gap) <= threshold else np.sign(gap)
            if said == np.sign(reference[i] - reference[j]):
                right += 1
                by_cell[[i, j]] += 1
        if right > best[0]:
            best = right, float(threshold), by_cell
    return best


@pytest.mark.parametrize("listed", [5, 10**6])  # a few pairs at a time: intervals of thresholds are divided
@pytest.mark.parametrize(("seed", "decimals"), [(seed, d) for seed in range(5) for d in (None, 0, 1, 2)])
def test_the_best_threshold_is_the_best_of_all_differences_of_two_cells(listed, seed, decimals, monkeypatch):
    monkeypatch.setattr(kernel, "_LISTED", listed)
    values, reference = draw(seed, decimals)
    both = beside(values[..., None], reference)
    found = kernel.cell_accuracy(both)
    values = both.values[..., 0]
    right, threshold, by_cell = plain_accuracy(values.ravel(), reference.ravel())
    n = values.size
    assert found.value[0] == pytest.approx(right / (n * (n - 1) / 2))
    assert found.threshold[0] == threshold
    np.testing.assert_allclose(found.by_topic[0] * (n - 1), by_cell.reshape(values.shape).mean(axis=0))
    assert found.by_topic.mean() == pytest.approx(found.value[0])
    assert found.tied == np.mean([a == b for a, b in itertools.combinations(reference.ravel(), 2)])


def test_a_constant_measure_ties_all():
    _, reference = draw(1)
    found = kernel.cell_accuracy(beside(np.zeros((*reference.shape, 1)), reference))
    assert found.value.tolist() == [found.tied]
    assert found.threshold.tolist() == [0.0]


def test_topics_drawn_anew_and_exchanges_are_those_of_means_over_cells():
    values, reference = draw(3)
    both = np.stack([values, -values], axis=-1)
    found = kernel.cell_accuracy(beside(both, reference))
    by_topic = found.by_topic
    weights = resampled_topics(4, range(6), reference.shape[1])
    drawn = kernel.resample_cell_accuracy(by_topic, 4, 6)
    signed = kernel.swap_topics(by_topic, 5, 6)
    signs = topic_signs(5, range(6), reference.shape[1])
    for trial in range(6):
        again = np.repeat(np.arange(reference.shape[1]), weights[trial])
        for m in range(2):
            assert drawn[trial, m] - found.value[m] == pytest.approx(2 * (by_topic[m, again].mean() - found.value[m]))
        assert signed[trial, 0] == pytest.approx(2 * (signs[trial] * (by_topic[0] - by_topic[1])).mean())


def test_the_spread_of_topics_drawn_anew_is_near_that_of_new_topics():
    rng = np.random.default_rng(6)
    skill = rng.normal(size=(8, 1))

    def study():
        reference = np.round(2 * (skill + rng.normal(size=(1, 40)) + rng.normal(size=(8, 40))))
        return reference, (reference + rng.normal(size=(8, 40)) * 3)[..., None]

    values, estimates = [], []
    for _ in range(100):
        reference, scores = study()
        found = kernel.cell_accuracy(beside(scores, reference))
        values.append(found.value[0])
        if len(estimates) < 8:
            drawn = kernel.resample_cell_accuracy(found.by_topic, 1, 200)
            estimates.append(drawn.std())
    assert np.mean(estimates) == pytest.approx(np.std(values), rel=0.25)
