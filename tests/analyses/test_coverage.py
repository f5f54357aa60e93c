"""Unanimous improvement and its coverage: definitions with loops, scipy, and awkward input."""

import itertools
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.stats

import metaeval
from metaeval.stats.arrays import Scaled
from metaeval.stats.uir import count_unanimous, coverage_resampled, find_coverage, signed_ranks

NAMES = ["Accuracy", "MI", "tau_a", "MAE_mu"]


def scores_of(n_runs=6, n_topics=9, seed=0, names=NAMES, digits=1):
    """Scores with many ties, in which rounding would decide if it could."""
    values = np.random.default_rng(seed).random((n_runs, n_topics, len(names))).round(digits) + 0.1 - 0.1
    runs, topics = [f"r{r}" for r in range(n_runs)], [f"t{t}" for t in range(n_topics)]
    return metaeval.Scores(values, runs=runs, topics=topics, measures=names, collection="made")


def oriented(scores):
    return scores.values * [1 if one.higher_is_better else -1 for one in scores.measures]


def uir_with_loops(values, s, z):
    """§5.1, word by word; values: run × topic × reference measure, higher being better."""
    better = sum(
        all(round(a - b, 9) >= 0 for a, b in zip(x, y, strict=True)) for x, y in zip(values[s], values[z], strict=True)
    )
    worse = sum(
        all(round(b - a, 9) >= 0 for a, b in zip(x, y, strict=True)) for x, y in zip(values[s], values[z], strict=True)
    )
    return (better - worse) / values.shape[1]


@pytest.mark.parametrize("reference", [["Accuracy"], ["MI", "MAE_mu"], NAMES])
@pytest.mark.parametrize("n_topics", [1, 9, 16, 40])
def test_uir_is_its_definition_word_by_word(reference, n_topics):
    scores = scores_of(n_topics=n_topics)
    values = oriented(scores)[..., [NAMES.index(name) for name in reference]]
    found = count_unanimous(Scaled(values)) / n_topics
    for (s, z), ratio in zip(itertools.combinations(range(len(values)), 2), found, strict=True):
        assert ratio == pytest.approx(uir_with_loops(values, s, z), abs=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_coverage_is_scipys_spearman_over_ordered_pairs(seed):
    scores = scores_of(seed=seed)
    values = oriented(scores)
    reference = NAMES[:3]
    pairs = list(itertools.permutations(range(len(scores.runs)), 2))
    ratios = [round(uir_with_loops(values[..., :3], s, z), 9) for s, z in pairs]
    found = metaeval.coverage(scores, reference=reference, n_bootstrap=0)
    for m in range(len(NAMES)):
        differences = [round(values[s, :, m].mean() - values[z, :, m].mean(), 9) for s, z in pairs]
        assert found.rows["coverage"][m] == pytest.approx(
            scipy.stats.spearmanr(differences, ratios).statistic, abs=1e-12
        )


def test_half_of_the_pairs_tell_all_of_the_centred_ranks():
    values = np.random.default_rng(3).integers(-4, 5, size=(50, 30)).astype(float)
    for one, ranks in zip(values, signed_ranks(values), strict=True):
        both = scipy.stats.rankdata(np.concatenate([one, -one]))
        np.testing.assert_allclose(ranks, (both - both.mean())[: len(one)])


def test_the_direction_of_a_measure_is_minded():
    scores = scores_of(names=["Accuracy", "MAE_mu"])
    turned = metaeval.Scores(
        scores.values * [1, -1], runs=scores.runs, topics=scores.topics,
        measures=["Accuracy", metaeval.Measure("turned", higher_is_better=True)],
    )  # fmt: skip
    plain = metaeval.coverage(scores, reference=["Accuracy", "MAE_mu"], n_bootstrap=0).rows["coverage"]
    np.testing.assert_array_equal(
        plain, metaeval.coverage(turned, reference=["Accuracy", "turned"], n_bootstrap=0).rows["coverage"]
    )


def test_the_interval_holds_the_coverage_and_is_the_same_for_all_orders_of_measures():
    scores = scores_of(n_runs=10, n_topics=30, digits=2)
    found = metaeval.coverage(scores, reference=NAMES[:2], n_bootstrap=200, seed=3)
    again = metaeval.coverage(scores.sel(measures=NAMES[::-1]), reference=NAMES[:2], n_bootstrap=200, seed=3)
    np.testing.assert_array_equal(found.rows["low"], again.rows["low"][::-1])
    np.testing.assert_array_equal(found.rows["high"], again.rows["high"][::-1])
    assert (found.rows["low"] < found.rows["coverage"]).all()
    assert (found.rows["coverage"] < found.rows["high"]).all()
    other = metaeval.coverage(scores, reference=NAMES[:2], n_bootstrap=200, seed=4)
    assert (found.rows["low"] != other.rows["low"]).any()
    np.testing.assert_array_equal(found.rows["coverage"], other.rows["coverage"])


def test_differences_of_coverage_are_paired_over_resamples():
    scores = scores_of(n_runs=12, n_topics=40, digits=2)
    twice = metaeval.Scores(
        np.concatenate([scores.values, scores.values[..., :1]], axis=2), runs=scores.runs, topics=scores.topics,
        measures=[*scores.measures, metaeval.Measure("again", higher_is_better=scores.measures[0].higher_is_better)],
    )  # fmt: skip
    frame = metaeval.coverage(twice, reference=NAMES[:1], n_bootstrap=200).differences
    same = frame[(frame["measure_1"] == NAMES[0]) & (frame["measure_2"] == "again")].iloc[0]
    assert [same["low"], same["difference"], same["high"]] == [0, 0, 0]
    assert same["covers_more"] == "cannot tell"
    others = frame[(frame["measure_1"] == NAMES[0]) & (frame["measure_2"] != "again")]
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


def test_rounding_does_not_decide_a_tie():
    """0.3 − 0.2 is not 0.2 − 0.1 in floating point; runs that differ by that only are equal."""
    values = np.array([[[0.1 + 0.2], [0.5]], [[0.3], [0.5]]])
    assert count_unanimous(Scaled(values)) == 0


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_topics", [40, 160])
def test_differences_that_are_equal_as_fractions_are_ties(seed, n_topics):
    """Of whole numbers, means differ by fractions that rounding to decimals can meet half-way."""
    whole = np.random.default_rng(seed).integers(10, 40, (16, n_topics, 2))
    scores = metaeval.Scores(whole, runs=range(16), topics=range(n_topics), measures=NAMES[:2])
    pairs = list(itertools.permutations(range(16), 2))
    sums = whole.sum(axis=1)
    ratios = [round(uir_with_loops(whole[..., :1], s, z) * n_topics) for s, z in pairs]
    exact = [scipy.stats.spearmanr([m[s] - m[z] for s, z in pairs], ratios).statistic for m in sums.T]
    np.testing.assert_allclose(
        metaeval.coverage(scores, reference=NAMES[0], n_bootstrap=0).rows["coverage"], exact, atol=1e-12
    )


@pytest.mark.parametrize(
    ("runs", "reference", "message"),
    [
        (None, [], "at least one reference measure"),
        (None, ["Accuracy", "kappa"], "reference measure kappa is not among the scores, which hold Accuracy"),
        (["r0"], "MI", "1 run; at least 2"),
    ],
)
def test_what_coverage_cannot_be_computed_of_is_refused(runs, reference, message):
    with pytest.raises(metaeval.MetaevalError, match=message):
        metaeval.coverage(scores_of().sel(runs=runs), reference=reference)


def test_a_measure_that_tells_no_runs_apart_has_no_coverage_and_a_warning_names_it():
    values = scores_of().values.copy()
    values[..., 3] = 0.25
    scores = metaeval.Scores(values, runs=range(6), topics=range(9), measures=NAMES)
    with pytest.warns(metaeval.MetaevalWarning, match="MAE_mu gives all runs the same mean score"):
        found = metaeval.coverage(scores, reference=NAMES[:2], n_bootstrap=50)
    assert np.isnan(found.rows["coverage"][3])
    assert np.isnan(found.rows["low"][3])
    assert np.isfinite(found.rows["coverage"][:3]).all()
    assert "–" in found.to_text()


def test_a_constant_reference_decides_nothing_and_leaves_the_others_to_decide():
    values = scores_of().values.copy()
    values[..., 0] = 0.5
    scores = metaeval.Scores(values, runs=range(6), topics=range(9), measures=NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", metaeval.MetaevalWarning)
        both = metaeval.coverage(scores, reference=["Accuracy", "MI"], n_bootstrap=0)
        alone = metaeval.coverage(scores, reference=["MI"], n_bootstrap=0)
    np.testing.assert_array_equal(both.rows["coverage"], alone.rows["coverage"])
    with pytest.warns(metaeval.MetaevalWarning, match="no run improves on another unanimously"):
        nothing = metaeval.coverage(scores, reference=["Accuracy"], n_bootstrap=0)
    assert np.isnan(nothing.rows["coverage"]).all()


def test_the_command_scores_the_reference_too_when_measures_are_named(tmp_path):
    scores_of().to_frame().to_csv(tmp_path / "scores.csv", index=False)
    line = [sys.executable, "-m", "metaeval", "coverage", str(tmp_path / "scores.csv")]
    line += ["-m", "MAE_mu", "-r", "Accuracy", "--bootstrap", "0", "-f", "csv"]
    printed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert [row.split(",")[0] for row in printed.splitlines()] == ["measure", "MAE_mu", "Accuracy"]
