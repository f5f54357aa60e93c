"""Topics in clusters are drawn as a whole: copies of topics tell nothing new."""

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import DataError
from metaeval.stats.agreement import STATISTICS
from metaeval.stats.resampling import add_by_cluster, draw_weights, pool_clusters, weigh_by_topic
from tests.analyses.made import draw_graded

LABELS = {"runs": [f"r{r:02}" for r in range(12)], "measures": ["X", "Y", "human"], "higher_is_better": True}


@pytest.fixture(scope="module")
def singles():
    rng = np.random.default_rng(3)
    values = draw_graded(12, 30, [1, 1, 1]) + rng.normal(size=(12, 30, 1)) * [1, 1, 0.5]
    return me.Scores(values, topics=[f"t{t:02}" for t in range(30)], **LABELS)


@pytest.fixture(scope="module")
def copies(singles):
    """Each topic three times, and a cluster of its copies, in an order that is not theirs."""
    topics = [f"{topic}-{copy}" for copy in "cab" for topic in singles.topics[::-1]]
    values = np.tile(singles.values[:, ::-1], (1, 3, 1))
    return me.Scores(values, topics=topics, clusters=[topic[:3] for topic in topics], **LABELS)


def test_a_cluster_counts_by_its_pseudo_value_with_gaps_over_the_topics_that_a_run_has():
    rng = np.random.default_rng(0)
    clusters = rng.permutation(np.repeat(np.arange(6), [1, 2, 3, 5, 8, 13]))
    values = rng.normal(size=(4, len(clusters), 2))
    whole = values.mean(axis=1)
    pseudo = np.stack([6 * whole - 5 * values[:, clusters != c].mean(axis=1) for c in range(6)], axis=1)
    centred, means = pseudo - pseudo.mean(axis=1, keepdims=True), whole[:, np.newaxis]
    squares = [n**2 for n in (1, 2, 3, 5, 8, 13)]
    worth = sum(squares) ** 2 / sum(n**2 for n in squares)  # Carter, Schnepel and Steigerwald's effective number
    pooled = pool_clusters(values, clusters)
    np.testing.assert_allclose(pooled, means + centred * np.sqrt(5 / 6 * worth / (worth - 1)))
    np.testing.assert_allclose(pooled.mean(axis=1), whole)
    clusters, values = np.sort(clusters), rng.normal(size=(5, len(clusters)))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[1, clusters == 4] = values[2, clusters < 5] = np.nan
    pooled = pool_clusters(values, clusters)
    assert np.isnan(pooled[1, 4])
    for run, own in zip(pooled, values, strict=True):
        known = ~np.isnan(own)
        names, codes = np.unique(clusters[known], return_inverse=True)
        alone = pool_clusters(own[np.newaxis, known], codes)[0] if len(names) > 1 else [own[known].mean()]
        np.testing.assert_allclose(run[names], alone)


def test_topics_of_a_cluster_are_added_and_have_one_weight_and_a_resample_is_a_mean():
    rng = np.random.default_rng(1)
    clusters, numbers = rng.permutation(np.arange(20) % 7), rng.normal(size=(3, 20))
    expected = np.stack([numbers[:, clusters == c].sum(axis=1) for c in range(7)], axis=1)
    np.testing.assert_allclose(add_by_cluster(numbers, clusters), expected)
    clusters = np.array([0, 1, 1, 2, 2, 2, 3])
    weights = draw_weights(5, range(50), 7, clusters)
    assert all((weights[:, clusters == c] == weights[:, clusters == c][:, :1]).all() for c in range(4))
    np.testing.assert_allclose(weights.sum(axis=1), 7)
    (means,) = weigh_by_topic(5, 50, 7, np.ones((1, 7)), divisor=7, clusters=clusters)
    np.testing.assert_allclose(means, 1)


@pytest.mark.parametrize("test", ["bootstrap-t", "max-t", "randomised-tukey-hsd", "tukey-hsd", "paired-t",
                                  "paired-bootstrap", "paired-randomisation"])  # fmt: skip
def test_copies_of_topics_in_one_cluster_make_nothing_more_significant(singles, copies, test):
    options = {"test": test, "n_permutations": 300, "n_bootstrap": 100, "correction": "none"}
    alone, together = (me.discriminative_power(scores, **options) for scores in (singles, copies))
    np.testing.assert_allclose(together.p_values, alone.p_values, atol=1e-9)
    np.testing.assert_allclose(together.over_topics.shares, alone.over_topics.shares)
    ranks = [me.run_ranks(power).to_frame().drop(columns="mean") for power in (alone, together)]
    assert ranks[0].equals(ranks[1])
    ignored = me.discriminative_power(me.Scores(copies.values, topics=copies.topics, **LABELS), **options)
    assert (ignored.p_values <= 0.05).sum() > (alone.p_values <= 0.05).sum()


def test_copies_of_topics_change_no_similarity_no_consistency_and_no_agreement(singles, copies):
    columns = ["tau", "low", "high"]
    one, other = (me.ranking_similarity(scores, n_bootstrap=200).pairs[columns] for scores in (singles, copies))
    np.testing.assert_allclose(other, one)
    one, other = (me.split_half_consistency(scores, n_trials=50, n_permutations=50) for scores in (singles, copies))
    np.testing.assert_allclose(other.tau, one.tau)
    assert other.sizes == (15, 15)
    asked = {"reference": "human", "statistics": list(STATISTICS), "n_permutations": 60, "n_bootstrap": 60}
    one, other = (me.agreement(scores, **asked).to_frame() for scores in (singles, copies))
    columns = ["value", "low", "high", "cluster"]
    np.testing.assert_allclose(other[columns], one[columns], atol=1e-9)


def test_clusters_stay_with_their_topics_when_scores_are_chosen_and_joined(copies):
    chosen = copies.sel(topics=["t03-a", "t01-c"], measures="X")
    assert chosen.clusters == ("t03", "t01")
    other = me.Scores(chosen.values[:, ::-1] + 1, runs=copies.runs, topics=["t01-c", "t03-a"], measures=["Z"])
    assert chosen.add_measures(other).clusters == other.add_measures(chosen).clusters[::-1] == ("t03", "t01")
    assert chosen != me.Scores(chosen.values, runs=chosen.runs, topics=chosen.topics, measures=chosen.measures)
    assert copies.pool_clusters().topics == tuple(f"t{t:02}" for t in range(30))
    odd = me.Scores(other.values, runs=copies.runs, topics=other.topics, measures=["Z"], clusters=["a", "b"])
    with pytest.raises(DataError, match="two kinds of clusters"):
        chosen.add_measures(odd)


@pytest.mark.parametrize("analysis", [me.sample_size, me.topic_set_size])
def test_designs_count_clusters_in_place_of_topics(copies, singles, analysis):
    """Clusters of equal sizes are their means, and clusters of one topic are topics."""
    found, expected = analysis(copies), analysis(copies.pool_clusters())
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
    assert " clusters" in found.answer()
    assert "where this result counts topics, it counts clusters" in found.notes()[0]
    alone = me.Scores(singles.values, topics=singles.topics, clusters=singles.topics, **LABELS)
    pd.testing.assert_frame_equal(analysis(alone).to_frame(), analysis(singles).to_frame())


def test_a_single_cluster_and_clusters_of_other_topics_are_refused(singles):
    labels = {"topics": singles.topics, **LABELS}
    one = me.Scores(singles.values, clusters=["d"] * 30, **labels)
    with pytest.raises(DataError, match="all topics are in the cluster 'd'; at least two are needed to draw them"):
        me.discriminative_power(one)
    with pytest.raises(DataError, match="at least two"):
        me.agreement(one, reference="human")
    with pytest.raises(DataError, match=r"the clusters have shape .2,., not .30,."):
        me.Scores(singles.values, clusters=["d", "e"], **labels)
