"""Unanimous improvement and its coverage: definitions with loops, scipy, and awkward input."""

import itertools

import numpy as np
import pytest
import scipy.stats

import metaeval
from metaeval.stats.arrays import Scaled
from metaeval.stats.uir import count_unanimous, coverage_resampled, find_coverage, signed_ranks
from tests.analyses.made import label

NAMES = ["Accuracy", "MI", "tau_a", "MAE_mu"]


def scores_of(n_runs=6, n_topics=9, seed=0, names=NAMES, digits=1):
    """Scores with many ties, in which rounding would decide if it could."""
    values = np.random.default_rng(seed).random((n_runs, n_topics, len(names))).round(digits) + 0.1 - 0.1
    return label(values, names)


def oriented(scores):
    return scores.values * [1 if one.higher_is_better else -1 for one in scores.measures]


def uir_with_loops(values, s, z):
    """§5.1, word by word; values: run × topic × reference measure, higher being better."""
    gaps = [[round(a - b, 9) for a, b in zip(x, y, strict=True)] for x, y in zip(values[s], values[z], strict=True)]
    better = sum(all(gap >= 0 for gap in topic) for topic in gaps)
    worse = sum(all(gap <= 0 for gap in topic) for topic in gaps)
    return (better - worse) / values.shape[1]


@pytest.mark.parametrize("reference", [["Accuracy"], ["MI", "MAE_mu"], NAMES])
@pytest.mark.parametrize("n_topics", [1, 9, 16, 40])
def test_uir_is_its_definition_word_by_word(reference, n_topics):
    scores = scores_of(n_topics=n_topics)
    values = oriented(scores)[..., [NAMES.index(name) for name in reference]]
    found = count_unanimous(Scaled(values)) / n_topics
    for (s, z), ratio in zip(itertools.combinations(range(len(values)), 2), found, strict=True):
        assert ratio == pytest.approx(uir_with_loops(values, s, z), abs=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_coverage_is_scipys_spearman_over_ordered_pairs(seed):
    scores = scores_of(seed=seed)
    values = oriented(scores)
    pairs = list(itertools.permutations(range(len(scores.runs)), 2))
    ratios = [round(uir_with_loops(values[..., :3], s, z), 9) for s, z in pairs]
    differences = np.round([values[s].mean(axis=0) - values[z].mean(axis=0) for s, z in pairs], 9)
    expected = [scipy.stats.spearmanr(column, ratios).statistic for column in differences.T]
    found = metaeval.coverage(scores, reference=NAMES[:3], n_bootstrap=0).rows["coverage"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_half_of_the_pairs_tell_all_of_the_centred_ranks():
    values = np.random.default_rng(3).integers(-4, 5, size=(50, 30)).astype(float)
    for one, ranks in zip(values, signed_ranks(values), strict=True):
        both = scipy.stats.rankdata(np.concatenate([one, -one]))
        np.testing.assert_allclose(ranks, (both - both.mean())[: len(one)])


def test_the_interval_holds_the_coverage_and_another_seed_moves_it_alone():
    scores = scores_of(n_runs=10, n_topics=30, digits=2)
    found, other = (metaeval.coverage(scores, reference=NAMES[:2], n_bootstrap=200, seed=seed).rows for seed in (3, 4))
    assert found["coverage"].between(found["low"], found["high"], inclusive="neither").all()
    assert (found["low"] != other["low"]).any()
    assert found["coverage"].equals(other["coverage"])


def test_differences_of_coverage_are_paired_over_resamples():
    scores = scores_of(n_runs=12, n_topics=40, digits=2)
    again = metaeval.Measure("again", higher_is_better=True)
    twice = label(np.dstack([scores.values, scores.values[..., :1]]), [*scores.measures, again])
    differences = metaeval.coverage(twice, reference=NAMES[0], n_bootstrap=200).differences
    frame = differences.set_index(["measure_1", "measure_2"])
    same = frame.loc[(NAMES[0], "again")]
    assert same[["low", "difference", "high", "covers_more"]].tolist() == [0, 0, 0, "cannot tell"]
    others = frame.loc[NAMES[0]].drop("again")
    assert set(others["covers_more"]) == {NAMES[0]}  # nothing covers a reference measure as well as it does itself


@pytest.mark.parametrize(
    ("topics", "trials", "said"), [(9, 0, ""), (1, 20, "it needs 10 runs and 25 topics to cover what")]
)
def test_where_there_is_no_interval_the_table_has_none_and_says_why(topics, trials, said):
    found = metaeval.coverage(scores_of(n_topics=topics), reference=NAMES[:2], n_bootstrap=trials)
    assert found.rows["low"].isna().all()
    assert "low" not in found.to_table().frame
    assert found.differences.empty
    assert {"measure_1", "measure_2", "covers_more"} <= set(found.differences)
    assert said in found.to_text()


def test_resampling_every_topic_once_gives_the_coverage_itself():
    values = oriented(scores_of())
    scores, base = Scaled(values), Scaled(values, [0, 1])
    once = coverage_resampled(scores, base, lambda trials: np.ones((len(trials), values.shape[1])), 1)
    np.testing.assert_allclose(once[0], find_coverage(scores, base), atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_topics", [40, 160])
def test_differences_that_are_equal_as_fractions_are_ties(seed, n_topics):
    """Of whole numbers, means differ by fractions that rounding to decimals can meet half-way."""
    whole = np.random.default_rng(seed).integers(10, 40, (16, n_topics, 2))
    scores = label(whole, NAMES)
    pairs = list(itertools.permutations(range(16), 2))
    sums = whole.sum(axis=1)
    ratios = [round(uir_with_loops(whole[..., :1], s, z) * n_topics) for s, z in pairs]
    exact = [scipy.stats.spearmanr([m[s] - m[z] for s, z in pairs], ratios).statistic for m in sums.T]
    found = metaeval.coverage(scores, reference=NAMES[0], n_bootstrap=0).rows["coverage"]
    np.testing.assert_allclose(found, exact, atol=1e-12)


def flatten(measure):
    """Scores of which one measure is constant."""
    values = scores_of().values.copy()
    values[..., measure] = 0.25
    return label(values, NAMES)


def test_a_measure_that_tells_no_runs_apart_has_no_coverage_and_as_a_reference_leaves_the_others_to_decide():
    with pytest.warns(metaeval.MetaevalWarning, match="MAE_mu gives all runs the same mean score"):
        found = metaeval.coverage(flatten(3), reference=NAMES[:2], n_bootstrap=50)
    assert found.rows["coverage"].isna().tolist() == [False] * 3 + [True]
    assert np.isnan(found.rows["low"][3])
    assert "–" in found.to_text()
    with pytest.warns(metaeval.MetaevalWarning, match="no run improves on another unanimously"):
        nothing = metaeval.coverage(flatten(0), reference=["Accuracy"], n_bootstrap=0)
    assert nothing.rows["coverage"].isna().all()
    with pytest.warns(metaeval.MetaevalWarning):
        both, alone = (
            metaeval.coverage(flatten(0), reference=names, n_bootstrap=0) for names in (["Accuracy", "MI"], ["MI"])
        )
    np.testing.assert_array_equal(both.rows["coverage"], alone.rows["coverage"])


def test_the_command_scores_the_reference_too_when_measures_are_named(tmp_path, run):
    scores_of().to_frame().to_csv(tmp_path / "scores.csv", index=False)
    words = ["-m", "MAE_mu", "-r", "Accuracy", "--bootstrap", "0", "-f", "csv"]
    _, printed, _ = run("coverage", tmp_path / "scores.csv", *words)
    assert [row.split(",")[0] for row in printed.splitlines()] == ["measure", "MAE_mu", "Accuracy"]
