"""A judge corrected by people: the published estimate of means, and intervals that hold where the truth is known."""

import itertools

import numpy as np
import pytest
from scipy.stats import ttest_rel

from metaeval.stats.prediction_powered import correct_means, find_unlike, spread_weights

N_RUNS, N_TOPICS = 4, 120


def made(seed=0, n_labelled=40, quality=0.7, n_runs=N_RUNS, n_topics=N_TOPICS):
    """Scores of people, NaN but for some topics, all of them, and those of a judge."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n_runs, n_topics)) + rng.normal(size=n_topics) + np.arange(n_runs)[:, None] / 4
    judge = quality * truth + rng.normal(0, 0.5, truth.shape)
    people = np.where(np.isin(np.arange(n_topics), rng.permutation(n_topics)[:n_labelled]), truth, np.nan)
    return people, truth, judge


def loop(people, judge, weights, target):
    """The estimate of every mean, and the variance of every difference, as they are written down."""
    n_runs, n_topics = people.shape
    known = [[t for t in range(n_topics) if weights[r, t] > 0] for r in range(n_runs)]

    def centre(scores, r):
        mean = sum(weights[r, t] * scores[r, t] for t in known[r]) / n_topics
        return {t: scores[r, t] - mean for t in known[r]}

    rows = []
    for t in known[0]:
        factors = [w if target == "population" else np.sqrt(w * (w - 1)) for w in weights[:, t]]
        y, f = (np.array([factors[r] * centre(side, r)[t] for r in range(n_runs)]) for side in (people, judge))
        rows.append((y - y.mean(), f - f.mean()))
    lam = sum(float(y @ f) for y, f in rows) / sum(float(f @ f) for _, f in rows)
    means = [
        lam * judge[r].mean() + sum(weights[r, t] * (people[r, t] - lam * judge[r, t]) for t in known[r]) / n_topics
        for r in range(n_runs)
    ]
    return lam, means


@pytest.mark.parametrize("target", ["population", "topics"])
def test_means_and_the_weight_of_the_judge_are_a_plain_loop(target):
    people, _, judge = made(3)
    chances = np.broadcast_to(np.linspace(0.2, 0.9, N_TOPICS), people.shape)
    weights = spread_weights(~np.isnan(people), chances)
    found = correct_means(people, judge[None], weights, key=1, target=target)
    lam, means = loop(people, judge, weights, target)
    assert found.weights == pytest.approx([lam])
    assert found.means == pytest.approx(means)


def test_with_all_labels_it_is_the_classical_answer_and_a_right_judge_leaves_three_errors_open():
    _, truth, judge = made(1)
    everywhere = np.ones_like(truth)
    found = correct_means(truth, judge[None], everywhere, key=1)
    pairs = list(itertools.combinations(range(N_RUNS), 2))
    expected = [ttest_rel(truth[i], truth[k]) for i, k in pairs]
    assert found.means == pytest.approx(truth.mean(axis=1))
    assert found.differences / np.sqrt(found.variances) == pytest.approx([test.statistic for test in expected])
    known = correct_means(truth, judge[None], everywhere, key=1, target="topics")
    assert (known.reach == 0).all()
    assert (known.signs == np.sign(known.differences)).all()
    # An error is as large as the difference of two runs on a topic; 40 of 120 topics are labelled, and 80 are not.
    people, truth, _ = made(2)
    found = correct_means(people, truth[None], spread_weights(~np.isnan(people)), key=1, target="topics")
    assert found.weights == pytest.approx([1])
    assert found.means == pytest.approx(truth.mean(axis=1))
    size = np.mean([(truth[i] - truth[k]) ** 2 for i, k in itertools.permutations(range(N_RUNS), 2)])
    assert found.reach == pytest.approx(3 * np.sqrt(2 * size / 40 * (1 / 40 - 1 / 120)), rel=1e-3)
    assert found.ratio[1] == pytest.approx(0, abs=1e-6)
    assert 0 < found.ratio[0] < found.ratio[2] < 0.5


def test_a_choice_at_random_is_seldom_called_something_else_and_the_easiest_topics_always():
    _, _, judge = made(6)
    traits = np.array([np.arange(N_TOPICS), judge.mean(axis=0)])

    def compare(chosen):
        return find_unlike(spread_weights(np.isin(np.arange(N_TOPICS), chosen)[None])[0], traits)

    p = [compare(np.random.default_rng(seed).permutation(N_TOPICS)[:30]) for seed in range(400)]
    assert np.mean(np.array(p) < 0.05, axis=0) == pytest.approx([0.05, 0.05], abs=0.04)
    assert compare(np.argsort(-judge.mean(axis=0))[:30])[1] < 1e-6
