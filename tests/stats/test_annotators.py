"""A reference of several annotators is their mean, and halves of them are compared."""

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_1samp
from statsmodels.stats.multitest import multipletests

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.stats.annotator_wins import find_p_values, reject_by


def make_people(noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(14, 1)) + rng.normal(size=(14, 40))
    labels = {"runs": [f"r{i:02d}" for i in range(14)], "topics": [f"t{i:02d}" for i in range(40)]}
    given = truth[..., None] + noise * rng.normal(size=(14, 40, 3))
    judged = truth[..., None] + rng.normal(size=(14, 40, 2)) * [0.4, 1.5]
    people = me.Scores(given, measures=["ann", "bob", "cas"], higher_is_better=True, **labels)
    return me.Scores(judged, measures=["good", "bad"], higher_is_better=True, collection="made", **labels), people


def test_halves_are_what_some_annotators_reach_against_the_others_by_plain_numpy():
    scores, people = make_people()
    found = me.agreement(scores, reference=people, annotators=True, statistics=["tau_a", "pearson"], n_permutations=50)
    assert not found.no_interval
    assert str(found.reference) == "mean of annotators"
    rest = [np.delete(people.values, one, axis=2).mean(axis=(1, 2)) for one in range(3)]
    halves = [np.corrcoef(people.values[..., one].mean(axis=1), rest[one])[0, 1] for one in range(3)]
    frame = found.frames()["annotators"].set_index("statistic")
    assert frame.loc["pearson", "halves"] == pytest.approx(np.mean(halves), abs=1e-12)
    halves = [kendalltau(people.values[..., one].mean(axis=1), rest[one]).statistic for one in range(3)]
    assert frame.loc["tau_a", "halves"] == pytest.approx(np.mean(halves), abs=1e-12)


def test_annotators_of_several_collections_are_averaged():
    pairs = [make_people(seed=seed) for seed in (0, 5)]
    scores = [me.Scores(s.values, runs=s.runs, topics=s.topics, measures=s.measures, collection=name) for (s, _), name in
              zip(pairs, "xy", strict=True)]  # fmt: skip
    options = {"annotators": True, "statistics": ["topic_pearson"], "n_permutations": 20, "n_bootstrap": 100}
    both = me.agreement(scores, reference=[people for _, people in pairs], **options)
    alone = [me.agreement(one, reference=people, **options) for one, (_, people) in zip(scores, pairs, strict=True)]
    assert both.results[0].halves == pytest.approx(np.mean([each.results[0].halves for each in alone]))


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


def test_p_values_of_the_alternative_annotator_test_are_those_of_scipy_and_rejections_those_of_statsmodels():
    rng = np.random.default_rng(5)
    gaps = rng.integers(-1, 2, (40, 15))
    p = find_p_values(15, gaps.sum(axis=1), (gaps**2).sum(axis=1), 0.2)
    assert p == pytest.approx([ttest_1samp(row, 0.2, alternative="less").pvalue for row in gaps])
    for rate in (0.05, 0.2, 0.5):
        families = np.sort(rng.random((30, 8)) ** 4)
        expected = [multipletests(family, rate, method="fdr_by")[0] for family in families]
        assert reject_by(families, rate).tolist() == np.array(expected).tolist()
