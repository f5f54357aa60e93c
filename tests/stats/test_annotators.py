"""What annotators do to agreement: reliability and correction by closed forms, splits and draws by enumeration."""

import itertools

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.stats.annotators import (
    covariances_of_cells,
    covariances_of_runs,
    disattenuate,
    draw_annotators,
    mean_reliability,
    split_annotators,
)
from metaeval.stats.streams import generator


def test_reliability_of_two_annotators_is_the_formula_of_spearman_and_brown():
    """For two of equal variance, α = 2r / (1 + r)."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    y = 0.6 * x + 0.8 * y
    y = (y - y.mean()) / y.std()
    r = np.corrcoef(x, y)[0, 1]
    assert mean_reliability(np.cov([x, y])) == pytest.approx(2 * r / (1 + r), abs=1e-12)


def test_reliability_is_the_mean_of_all_splits_into_halves():
    """Cronbach's theorem: α is the mean over splits of 4 cov(A, B) / var(A + B)."""
    scores = np.random.default_rng(1).normal(size=(30, 4)) + np.random.default_rng(2).normal(size=(30, 1))
    halves = []
    for half in itertools.combinations(range(4), 2):
        other = [k for k in range(4) if k not in half]
        one, two = scores[:, half].sum(axis=1), scores[:, other].sum(axis=1)
        halves.append(4 * np.cov(one, two)[0, 1] / (one + two).var(ddof=1))
    assert mean_reliability(np.cov(scores.T)) == pytest.approx(np.mean(halves), abs=1e-12)


def test_people_who_do_not_agree_have_no_reliability():
    assert np.isnan(mean_reliability([[1.0, -0.5], [-0.5, 1.0]]))
    assert np.isnan(mean_reliability(np.zeros((3, 3))))


def test_somebody_who_gives_everything_the_same_score_changes_no_reliability():
    alone = np.array([[2.0, 1.0], [1.0, 2.0]])
    beside = np.pad(alone, (0, 1))
    assert mean_reliability(beside) == pytest.approx(float(mean_reliability(alone)), abs=1e-12)


def test_a_corrected_correlation_next_to_one_has_an_interval():
    scores, people = make_people(noise=2.0, seed=3)
    truth = scores.values[..., :1]
    same = me.Scores(truth, runs=scores.runs, topics=scores.topics, measures=["good"], higher_is_better=True)
    found = me.agreement(same, reference=people, annotators=True, statistics=["pearson"], n_permutations=20)
    (row,) = found.annotators().to_dict("records")
    assert row["corrected"] <= 1
    assert row["low"] < row["corrected"] - 0.01


def test_unlike_use_of_the_scale_is_said():
    scores, people = make_people()
    half = me.Scores(people.values * [1, 1, 0.5], runs=people.runs, topics=people.topics,
                     measures=[str(one) for one in people.measures], higher_is_better=True)  # fmt: skip
    options = {"annotators": True, "statistics": ["pearson"], "n_permutations": 20}
    assert any("spread 2.0 times as much" in one for one in me.agreement(scores, reference=half, **options).remarks)
    assert not any("spread" in one for one in me.agreement(scores, reference=people, **options).remarks)


def test_covariances_with_weights_are_those_of_topics_repeated():
    people = np.random.default_rng(3).normal(size=(5, 4, 3))
    weights = np.array([[2.0, 0.0, 1.0, 1.0]])
    repeated = people[:, [0, 0, 2, 3]]
    (of_runs,), (of_cells,) = covariances_of_runs(people, weights), covariances_of_cells(people, weights)
    means = repeated.mean(axis=1)
    assert of_runs == pytest.approx(5 * np.cov(means.T, bias=True), abs=1e-12)
    assert of_cells == pytest.approx(np.cov(repeated.reshape(-1, 3).T, bias=True), abs=1e-12)


def test_corrected_correlations_find_what_errors_hide():
    """A true r of .6, and a reference with reliability 2/3: the correction of Spearman finds it."""
    rng = np.random.default_rng(4)
    n = 200_000
    truth = rng.normal(size=n)
    measure = 0.6 * truth + 0.8 * rng.normal(size=n)
    people = truth[:, None] + rng.normal(size=(n, 2))
    r = np.corrcoef(measure, people.mean(axis=1))[0, 1]
    assert r == pytest.approx(0.6 * np.sqrt(2 / 3), abs=0.01)
    assert disattenuate(r, mean_reliability(np.cov(people.T))) == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize(("n", "splits"), [(2, 1), (3, 3), (4, 3), (5, 10), (19, 50)])
def test_annotators_are_split_in_every_way_once_or_in_random_ways(n, splits):
    found = [(tuple(one), tuple(other)) for one, other in split_annotators(n, np.random.default_rng(0))]
    assert len(found) == splits
    assert all(sorted(one + other) == list(range(n)) and abs(len(one) - len(other)) <= 1 for one, other in found)
    if n < 10:
        assert len({frozenset(pair) for pair in found}) == splits


def make_people(noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(14, 1)) + rng.normal(size=(14, 40))
    labels = {"runs": [f"r{i:02d}" for i in range(14)], "topics": [f"t{i:02d}" for i in range(40)]}
    given = truth[..., None] + noise * rng.normal(size=(14, 40, 3))
    judged = truth[..., None] + rng.normal(size=(14, 40, 2)) * [0.4, 1.5]
    people = me.Scores(given, measures=["ann", "bob", "cas"], higher_is_better=True, **labels)
    return me.Scores(judged, measures=["good", "bad"], higher_is_better=True, collection="made", **labels), people


STATISTICS = ["tau_a", "pearson", "topic_pearson", "acc_t"]


def test_agreement_with_annotators_equals_plain_numpy():
    scores, people = make_people()
    found = me.agreement(scores, reference=people, annotators=True, statistics=STATISTICS, n_permutations=50)
    assert not found.no_interval
    by_name = {result.name: result for result in found.results}
    mean = people.values.mean(axis=-1)
    assert str(found.reference) == "mean of annotators"
    r = np.corrcoef(scores.values[..., 0].ravel(), mean.ravel())[0, 1]
    alpha = mean_reliability(np.cov(people.values.reshape(-1, 3).T))
    assert by_name["topic_pearson"].noise.corrected[0] == pytest.approx(r / np.sqrt(alpha), abs=1e-12)
    r = np.corrcoef(scores.values[..., 1].mean(axis=1), mean.mean(axis=1))[0, 1]
    alpha = mean_reliability(np.cov(people.values.mean(axis=1).T))
    assert by_name["pearson"].noise.corrected[1] == pytest.approx(r / np.sqrt(alpha), abs=1e-12)
    assert np.isnan(by_name["tau_a"].noise.corrected).all()
    halves = [
        np.corrcoef(people.values[..., one].mean(axis=1), np.delete(people.values, one, axis=2).mean(axis=(1, 2)))[0, 1]
        for one in range(3)
    ]
    assert by_name["pearson"].noise.halves == pytest.approx(np.mean(halves), abs=1e-12)
    frame = found.annotators().query("statistic == 'topic_pearson'")
    assert ((frame["low"] < frame["corrected"]) & (frame["corrected"] < frame["high"])).all()


def test_verdicts_with_annotators_anew_are_those_of_a_loop():
    scores, people = make_people(noise=3.0, seed=1)
    found = me.agreement(scores, reference=people, annotators=True, statistics=["pearson"], n_permutations=50)
    (result,) = found.results
    rng = generator(0, "made", "agreement", "annotators")
    list(split_annotators(3, rng))
    values = []
    for weights in draw_annotators(3, rng):
        reference = (people.values @ weights).mean(axis=1)
        values.append([np.corrcoef(scores.values[..., m].mean(axis=1), reference)[0, 1] for m in range(2)])
    gaps = np.array(values) @ [1, -1]
    gap = result.values @ [1, -1]
    assert result.noise.turned == pytest.approx([(gaps * gap < 0).mean()])
    verdict = result.gap_ends[0, 0] > 0
    assert result.noise.kept == pytest.approx([((result.gap_ends[0, 0] + gaps - gap > 0) == verdict).mean()], abs=0.01)
    table = found.details()["differences"]
    assert {"kept", "turned"} <= set(table.columns)


def test_annotators_of_several_collections_are_averaged():
    pairs = [make_people(seed=seed) for seed in (0, 5)]
    scores = [me.Scores(s.values, runs=s.runs, topics=s.topics, measures=s.measures, collection=name) for (s, _), name in
              zip(pairs, "xy", strict=True)]  # fmt: skip
    options = {"annotators": True, "statistics": ["topic_pearson"], "n_permutations": 20, "n_bootstrap": 100}
    both = me.agreement(scores, reference=[people for _, people in pairs], **options)
    alone = [me.agreement(one, reference=people, **options) for one, (_, people) in zip(scores, pairs, strict=True)]
    expected = np.mean([each.results[0].noise.corrected for each in alone], axis=0)
    assert both.results[0].noise.corrected == pytest.approx(expected, abs=1e-12)
    assert both.results[0].noise.halves == pytest.approx(np.mean([each.results[0].noise.halves for each in alone]))


def test_annotators_need_scores_of_several_people_on_one_scale():
    scores, people = make_people()
    with pytest.raises(MetaevalError, match="a measure for each"):
        me.agreement(scores, reference="good", annotators=True)
    with pytest.raises(MetaevalError, match="a measure for each"):
        me.agreement(scores, reference=people.sel(measures="ann"), annotators=True)
    directed = [Measure(name, name != "cas") for name in ("ann", "bob", "cas")]
    mixed = me.Scores(people.values, runs=people.runs, topics=people.topics, measures=directed)
    with pytest.raises(MetaevalError, match="one scale"):
        me.agreement(scores, reference=mixed, annotators=True)
