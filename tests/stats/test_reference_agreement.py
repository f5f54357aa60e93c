"""Agreement with a reference and between annotators: every shortcut against plain loops, scipy, statsmodels or enumeration."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.stats import kendalltau

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.stats import topic_agreement as topics
from metaeval.stats.agreement import STATISTICS, Sides, compare_halves
from metaeval.stats.arrays import scale_scores
from metaeval.stats.letters import find_clusters, swap_p_values
from metaeval.stats.resampling import draw_weights, topic_signs
from metaeval.stats.run_agreement import run_statistics, settle_ties, standardise, swap_runs

WHICH = ("pairwise_accuracy", "tau_a", "tau_b", "spearman", "pearson")


def draw(seed, n_runs=5, n_topics=7, n_measures=3, levels=None):
    """Scores of measures that follow the reference more or less; with few levels, of many ties."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=(n_runs, 1))
    reference = skill + rng.normal(size=(n_runs, n_topics))
    noise = rng.normal(size=(n_runs, n_topics, n_measures)) * [0.3 + m for m in range(n_measures)]
    values = reference[..., None] + noise
    if levels:
        return np.round(values * levels) / levels, np.round(reference * levels) / levels
    return values, reference


def beside(values, reference):
    """Measures and their reference, the last measure."""
    return scale_scores(np.concatenate([values, reference[..., None]], axis=-1))


def sides(values, reference, key=0):
    scores = beside(values, reference)
    return Sides(scores, scores.mean(axis=1), lambda purpose: key, 10, tuple(STATISTICS[name] for name in WHICH))


def topic_pearson(values, reference):
    return STATISTICS["topic_pearson"].compute(sides(values, reference))[0][0]


def plain_statistics(scores, reference):
    pairs = list(itertools.combinations(range(len(scores)), 2))
    signs = [(np.sign(scores[i] - scores[j]), np.sign(reference[i] - reference[j])) for i, j in pairs]
    found = {"pairwise_accuracy": np.mean([a == b for a, b in signs]), "tau_a": np.mean([a * b for a, b in signs])}
    of_scipy = {"tau_b": kendalltau, "spearman": scipy_stats.spearmanr, "pearson": scipy_stats.pearsonr}
    constant = np.ptp(scores) == 0 or np.ptp(reference) == 0
    return found | {name: np.nan if constant else of(scores, reference).statistic for name, of in of_scipy.items()}


def test_statistics_of_runs_are_those_of_scipy_and_of_loops_and_rounding_makes_no_difference():
    cases = [([1, 2, 3, 4], [1, 3, 2, 5]), ([1, 1, 2, 2], [3, 3, 1, 5]), ([1, 1, 1], [1, 2, 3]), ([0.2, 0.1], [1, 1])]
    for scores, reference in cases:
        found, expected = run_statistics(scores, reference, WHICH), plain_statistics(scores, reference)
        np.testing.assert_allclose([found[name] for name in WHICH], [expected[name] for name in WHICH], atol=1e-12)
    scores = settle_ties(np.array([[0.1 + 0.2], [0.3], [0.4]]))[:, 0]
    assert run_statistics(scores, [1, 1, 2], ["pairwise_accuracy"])["pairwise_accuracy"] == 1


def check_exchanges(found, signs, values, statistic, atol=1e-12):
    """Compare what every exchange of two measures gives, shape (trial, pair), with what it gives by hand."""
    for trial, kept in enumerate(signs > 0):
        for pair, (a, b) in enumerate(itertools.combinations(range(len(values)), 2)):
            one, two = (statistic(np.where(kept, values[i], values[j])) for i, j in ((a, b), (b, a)))
            np.testing.assert_allclose(found[trial, pair], one - two, atol=atol)


@pytest.mark.parametrize("name", WHICH)
def test_exchanging_the_scores_of_runs_is_done_as_by_hand(name):
    """Of the runs that count alone, with the draws of all."""
    values, reference = draw(1, levels=2)
    means, wanted = settle_ties(values.mean(axis=1)), reference.mean(axis=1)
    for places in ([0, 1, 2, 3, 4], [0, 2, 4]):
        runs = np.array(places)
        _, found = swap_runs(np.column_stack([means, wanted]), runs, [name], 5, 40)
        signs = topic_signs(5, range(40), 5)[:, runs]
        by_hand = lambda side, runs=runs: np.nan_to_num(plain_statistics(side, wanted[runs])[name])  # noqa: E731
        check_exchanges(found[name], signs, standardise(means[runs].T), by_hand, atol=1e-6)


@pytest.mark.parametrize("statistic", [*WHICH, "tau_gap", "tau_ap_b"])
@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1.0), (64.0, 1.0), (0.0, 3.0)])
def test_an_exchange_that_changes_nothing_counts(statistic, shift, factor):
    """Of two neighbours swapped, half of the exchanges keep or swap both, which changes nothing or only the sign."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        first = np.sort(rng.normal(size=12))
        second = first.copy()
        second[[5, 6]] = second[[6, 5]]
        reference = first + 0.3 * rng.normal(size=12)
        scores = np.stack([first + shift, factor * (second + shift), reference + shift], axis=-1)
        observed, exchanged = (each[statistic] for each in swap_runs(scores, np.arange(12), [statistic], seed, 400))
        p = swap_p_values(observed, exchanged)
        # A quarter of the exchanges keeps both, a quarter swaps both, and half of them makes the measures alike there.
        assert min(p[0, 1], p[1, 0]) > 0.15, seed


def plain_tie_accuracy(scores, reference, threshold):
    """Right pairs at a threshold, shape (run pair, topic)."""
    first, second = np.triu_indices(len(scores), 1)
    gap, true = scores[first] - scores[second], reference[first] - reference[second]
    return np.where(np.abs(gap) <= threshold, true == 0, np.sign(gap) == np.sign(true))


@pytest.mark.parametrize("levels", [None, 1, 3])
def test_the_best_threshold_is_the_best_of_all_differences_and_zero_and_exchanges_are_done_as_by_hand(levels):
    values, reference = draw(4, levels=levels)
    reference = np.round(reference)
    both = beside(values, reference)
    found, right = topics.tie_accuracy(both), []
    for m in range(3):
        scores = both[..., m]
        thresholds = {0.0, *np.abs(scores[:, None] - scores[None]).ravel()}
        accuracies = {one: plain_tie_accuracy(scores, reference, one).mean() for one in thresholds}
        best = max(accuracies.values())
        assert found.value[m] == pytest.approx(best)
        assert found.threshold[m] == min(one for one, value in accuracies.items() if value == best)
        right.append(plain_tie_accuracy(scores, reference, found.threshold[m]).astype(int))
        np.testing.assert_allclose(found.by_topic[m], right[m].mean(axis=0))
    exchanged = topics.swap_ties(both, found.threshold, 9, 30)
    signs = topic_signs(9, range(30), right[0].size).astype(int)
    for pair, (a, b) in enumerate(itertools.combinations(range(3), 2)):
        by_hand = signs @ (right[a] - right[b]).ravel() / right[a].size
        np.testing.assert_allclose(exchanged[:, pair], by_hand, atol=1e-15)


def test_pearson_over_cells_and_its_exchanges_are_those_of_numpy_and_a_constant_measure_has_none():
    values, reference = draw(6)
    expected = [np.corrcoef(values[..., m].ravel(), reference.ravel())[0, 1] for m in range(3)]
    np.testing.assert_allclose(topic_pearson(values, reference), expected)
    z = standardise(values.transpose(2, 0, 1).reshape(3, -1))
    found = topics.swap_cells(sides(values, reference).cells, 3, 25)
    signs = topic_signs(3, range(25), reference.size)
    check_exchanges(found, signs, z, lambda side: np.corrcoef(side, reference.ravel())[0, 1])
    values[..., 1] = 0.1
    r = topic_pearson(values, reference)
    p = swap_p_values(r, topics.swap_cells(sides(values, reference).cells, 3, 20))
    assert np.isnan(r).tolist() == [False, True, False]
    assert np.isnan(p[1]).all()
    assert np.isnan(p[:, 1]).all()
    assert np.isfinite(p[0, 2])
    assert find_clusters(r, p, 0.05)[1] == 0


def test_p_values_of_flips_are_near_those_of_all_flips_and_of_the_normal_limit():
    values, _ = draw(8, n_runs=3, n_topics=10, n_measures=2)
    found, normal = topics.flip_p_values(values, 4, 4000), topics.normal_p_values(values)
    signs = np.array(list(itertools.product([-1, 1], repeat=10)))
    for pair, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        gaps = values[i] - values[j]
        exact = np.mean(signs @ gaps >= gaps.sum(axis=0) - 1e-9, axis=0)
        assert (np.abs(found[:, pair] - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000) + 1e-9).all()
        assert (np.abs(normal[:, pair] - exact) < 0.04).all()


@pytest.mark.parametrize(("n_runs", "n_topics"), [(5, 7), (6, 9000)])  # the second is computed in several parts
def test_exchanging_cells_softly_is_done_as_by_hand(n_runs, n_topics):
    values, reference = draw(10, n_runs, n_topics)
    wanted = topics.normal_p_values(beside(values, reference))[-1]
    found = topics.swap_softly(sides(values, reference).cells[:-1], wanted, 6, 15)
    z = standardise(values.transpose(2, 0, 1).reshape(3, -1)).reshape(3, n_runs, n_topics)
    signs = topic_signs(6, range(15), reference.size).reshape(15, n_runs, n_topics)
    check_exchanges(
        found, signs, z, lambda side: topics.soft_accuracy(topics.normal_p_values(side[..., np.newaxis]), wanted)
    )


def test_topics_drawn_anew_are_topics_written_down_again():
    values, reference = draw(11)
    weights = draw_weights(2, range(6), 7).astype(int)
    whole = sides(values, reference, 2)
    runs = {name: STATISTICS[name].compute(whole, 6) for name in WHICH}
    cells, soft, tied = (STATISTICS[name].compute(whole, 6)[0] for name in ("topic_pearson", "spa", "acc_t"))
    by_topic = whole.ties.by_topic
    own = []
    for trial, weight in enumerate(weights):
        again = np.repeat(np.arange(7), weight)
        scores, gold = values[:, again], reference[:, again]
        for m in range(3):
            expected = plain_statistics(scores[..., m].mean(axis=1), gold.mean(axis=1))
            for name in WHICH:
                np.testing.assert_allclose(runs[name][0][trial, m], expected[name], atol=1e-6)
        own.append(plain_statistics(gold.mean(axis=1), reference.mean(axis=1))["tau_a"])
        np.testing.assert_allclose(cells[trial], topic_pearson(scores, gold))
        p = topics.normal_p_values(beside(scores, gold))
        np.testing.assert_allclose(soft[trial], topics.soft_accuracy(p[:-1], p[-1]))
        np.testing.assert_allclose(tied[trial], by_topic[:, again].mean(axis=1))
    assert runs["tau_a"][1] == pytest.approx(np.mean(own))


def test_a_cluster_begins_with_a_measure_that_one_of_the_last_cluster_beats():
    for observed, p, clusters in (
        ([0.9, 0.8, 0.7], [[1, 0.2, 0.01], [1, 1, 0.2], [1, 1, 1]], [1, 1, 2]),
        ([0.7, 0.9, 0.8], [[1, 1, 1], [0.01, 1, 0.01], [0.01, 1, 1]], [3, 1, 2]),
        ([0.9, 0.9], [[1, 0.5], [0.5, 1]], [1, 1]),
        ([0.9, 0.8], [[1, 0.05], [1, 1]], [1, 2]),
    ):
        assert find_clusters(np.array(observed), np.array(p), 0.05).tolist() == clusters


@pytest.mark.parametrize(("n", "splits"), [(2, 1), (3, 3), (4, 3), (5, 10), (19, 50)])
def test_annotators_are_split_in_every_way_once_or_in_random_ways(n, splits):
    """Each annotator scores on a topic of their own alone, which tells who is in a half."""
    halves = []

    class Record:
        def compute(self, half):
            halves.append([frozenset(np.flatnonzero(side)) for side in half.scores[0].T])
            return np.zeros((1, 1)), np.nan

    compare_halves([Record()], sides(*draw(1)), np.broadcast_to(np.eye(n), (3, n, n)), np.random.default_rng(0))
    assert len(halves) == splits
    assert all(one | other == set(range(n)) and abs(len(one) - len(other)) <= 1 for one, other in halves)
    if n < 10:
        assert len({frozenset(pair) for pair in halves}) == splits


def make_people(noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(14, 1)) + rng.normal(size=(14, 40))
    labels = {"runs": [f"r{i:02d}" for i in range(14)], "topics": [f"t{i:02d}" for i in range(40)]}
    given = truth[..., None] + noise * rng.normal(size=(14, 40, 3))
    judged = truth[..., None] + rng.normal(size=(14, 40, 2)) * [0.4, 1.5]
    people = me.Scores(given, measures=["ann", "bob", "cas"], higher_is_better=True, **labels)
    return me.Scores(judged, measures=["good", "bad"], higher_is_better=True, collection="made", **labels), people


def test_annotators_are_halved_averaged_over_collections_and_refused_where_they_are_no_people():
    scores, people = make_people()
    found = me.agreement(scores, reference=people, annotators=True, statistics=["tau_a", "pearson"], n_permutations=50)
    assert not found.no_interval
    assert str(found.reference) == "mean of annotators"
    frame = found.frames()["annotators"].set_index("statistic")
    own = people.values.mean(axis=1)
    rest = [np.delete(own, one, axis=1).mean(axis=1) for one in range(3)]
    for name, statistic in (("pearson", scipy_stats.pearsonr), ("tau_a", kendalltau)):
        halves = [statistic(own[:, one], rest[one]).statistic for one in range(3)]
        assert frame.loc[name, "halves"] == pytest.approx(np.mean(halves), abs=1e-12)
    pairs = [make_people(seed=seed) for seed in (0, 5)]
    scores = [replace(made, collection=name) for (made, _), name in zip(pairs, "xy", strict=True)]
    options = {"annotators": True, "statistics": ["topic_pearson"], "n_permutations": 20, "n_bootstrap": 100}
    both = me.agreement(scores, reference=[people for _, people in pairs], **options)
    alone = [me.agreement(one, reference=people, **options) for one, (_, people) in zip(scores, pairs, strict=True)]
    assert both.results[0].halves == pytest.approx(np.mean([each.results[0].halves for each in alone]))
    scores, people = make_people()
    mixed = replace(people, measures=[Measure(name, name != "cas") for name in ("ann", "bob", "cas")])
    of_each = "a measure for each"
    for reference, message in (("good", of_each), (people.sel(measures="ann"), of_each), (mixed, "one scale")):
        with pytest.raises(MetaevalError, match=message):
            me.agreement(scores, reference=reference, annotators=True)
