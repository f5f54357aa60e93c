"""Which test holds on scores: simulated studies have the truth they say, and what is said of tests follows by rule."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

from metaeval.analyses.calibration import STANDARD_ERRORS, calibrate_tests
from metaeval.stats.error_rates import count_errors, decide
from metaeval.stats.pair_tests import all_pairs_test
from metaeval.stats.resampling import fit_scores
from metaeval.stats.streams import stream_key
from tests.analyses.made import label

KEY = stream_key(1, "calibration")


def test_runs_that_differ_in_their_mean_alone_are_one_run_when_means_are_equal():
    rng = np.random.default_rng(4)
    model = fit_scores(np.add.outer([0.0, 0.1, 0.7], rng.random(30)))
    assert model.copy_of.tolist() == [0, 0, 0]
    assert np.abs(model.draw(10, 2, rng)).max() < 1


def make_scores(n_runs=6, n_topics=40, wide=6.0, seed=0):
    values = np.random.default_rng(seed).normal(size=(n_runs, n_topics))
    values[-1] *= wide
    return label(values, ["X"], runs=range(n_runs), higher_is_better=True)


def test_simulated_scores_have_equal_means_the_spread_the_correlations_and_the_ties_of_the_scores():
    rng = np.random.default_rng(1)
    shared = rng.standard_normal(60)
    scores = np.round(np.stack([shared, shared + rng.standard_normal(60), rng.standard_exponential(60)]), 1)
    scores = np.concatenate([scores, scores[:1]])
    drawn = fit_scores(scores).draw(2000, 20, rng)
    assert (drawn[0] == drawn[3]).all()
    np.testing.assert_allclose(drawn.mean(axis=(1, 2)), 0, atol=0.02)
    np.testing.assert_allclose(drawn.std(axis=(1, 2)), scores.std(axis=1), rtol=0.05)
    expected = np.corrcoef(rankdata(scores[0]), rankdata(scores[1]))[0, 1]
    assert np.corrcoef(drawn[0].ravel(), drawn[1].ravel())[0, 1] == pytest.approx(expected, abs=0.08)


FIVE = ("bootstrap-t", "randomised-tukey-hsd", "tukey-hsd", "paired-t", "paired-bootstrap")
OTHERWISE = [("paired-t", name) for name in ("benjamini-hochberg", "bonferroni", "none")]


@pytest.mark.parametrize(("test", "correction"), [*((test, "auto") for test in FIVE), *OTHERWISE])
def test_decisions_are_those_of_the_p_values(test, correction):
    values = np.random.default_rng(2).standard_normal((5, 12, 6)) + np.arange(5)[:, None, None] / 2
    options = {"correction": correction} | ({} if test in ("paired-t", "tukey-hsd") else {"n_permutations": 1000})
    p = all_pairs_test(values, test=test, key=KEY, add_one=test == "paired-bootstrap", **options).p
    significant = decide(test, values, alpha=0.05, key=KEY, options=options)
    assert 0 < significant.mean() < 1
    if test == "paired-bootstrap":  # B is raised to what the correction needs
        assert (significant <= (p <= 0.06)).all()
    else:
        assert (significant == (p <= 0.05)).all()


def test_counts_are_those_of_a_loop():
    rng = np.random.default_rng(3)
    significant, means = rng.random((7, 10)) < 0.5, rng.integers(0, 2, (5, 7)).astype(float)
    found, pairs = count_errors(significant, means), list(itertools.combinations(range(5), 2))
    for study, told in enumerate(significant):
        same = np.array([means[i, study] == means[j, study] for i, j in pairs])
        expected = ((told & same).sum(), (told & ~same).sum(), (~same).sum())
        assert (found.false[study], found.found[study], found.differing[study]) == expected


def error_shares(result):
    """How often the recommended test errs, and the papers' one, as answers write it."""
    rows = 100 * result.rows.set_index("test").loc[["bootstrap-t", "randomised-tukey-hsd"], ["error", "low", "high"]]
    return [f"{error:.0f} % [{low:.0f}, {high:.0f}]" for error, low, high in rows.itertuples(index=False)]


def test_the_papers_test_errs_on_runs_of_unlike_spread_and_the_advice_is_a_test_that_does_not():
    result = calibrate_tests(make_scores(), tests=["randomised-tukey-hsd", "bootstrap-t"], n_permutations=200, n_jobs=1)
    assert result.rows["errs"].tolist() == [True, False]
    (right, wrong), kind = (error_shares(result), "false alarms in studies with 40 topics simulated from these scores")
    doubt = "Simulations may not show all its errors: 6 runs, fewer than 10."
    assert result.answer() == (
        f"randomised-tukey-hsd ({wrong}) raises too many {kind}; 5 % are meant. Use bootstrap-t ({right}). {doubt}"
    )
    assert result.rows["error"].between(result.rows["low"], result.rows["high"]).all()
    assert result.rows["difference"][0] == pytest.approx(STANDARD_ERRORS * np.sqrt(2 / 40), rel=0.2)
    assert 0.2 < result.rows["power"][1] < 0.9
    others = replace(result, rows=result.rows.assign(errs=[False, True]))
    assert others.answer().startswith(f"bootstrap-t ({right}) raises too many")
    assert others.answer().endswith(f"Use randomised-tukey-hsd ({wrong}). {doubt}")
    none = replace(result, rows=result.rows.assign(errs=False), outside=())
    assert none.answer() == f"No test is shown to raise too many {kind}; 5 % are meant. Use bootstrap-t ({right})."
    every = replace(result, rows=result.rows.assign(errs=True))
    assert every.answer().startswith("Every test raises too many false alarms in ")


DOMAIN = [
    (12, 40, False, ()),
    (7, 40, False, ("7 runs, fewer than 10",)),
    (101, 40, False, ("101 runs, more than 100",)),
    (12, 20, False, ("20 topics, fewer than 25",)),
    (12, 40, True, ("see the notes on runs",)),
]


@pytest.mark.parametrize(("n_runs", "n_topics", "skewed", "reasons"), DOMAIN)
def test_scores_outside_the_domain_of_the_recommended_test_are_flagged(n_runs, n_topics, skewed, reasons):
    """Few runs or topics, or what a note on pairs of runs says of the scores: here, that they are skewed."""
    scores = make_scores(n_runs, n_topics, wide=1.0)
    if skewed:
        scores = replace(scores, values=np.exp(2 * scores.values))
    result = calibrate_tests(scores, tests=["paired-t"], n_studies=20, n_jobs=1)
    assert result.outside == reasons
    assert ("may not show all its errors" in result.answer() or "Every test" in result.answer()) == bool(reasons)
    assert any("outside the domain" in note or "skewed" in note for note in result.notes()) == bool(reasons)
