"""Simulated campaigns: their shapes, their gold, and what comes out of them that nobody put in."""

import numpy as np
import pytest

import metaeval
from experiments.simulate.campaigns import CAMPAIGNS, CLASSES, campaign
from experiments.simulate.gold import FITTED, GoldModel, fit_gold

QUANTIFICATION = [name for name, shape in CAMPAIGNS.items() if shape.kind == "quantification"]
CLASSIFICATION = [name for name, shape in CAMPAIGNS.items() if shape.kind == "classification"]
SHAPES = {
    "sem16t4c": (12, 100), "sem17t4c": (20, 125), "sem16t4e": (12, 100), "sem17t4e": (14, 125),
    "stc3-dq-a": (19, 390), "stc3-dq-e": (19, 390), "stc3-dq-s": (19, 390),
    "dialeval1-dq-a": (22, 300), "dialeval1-dq-e": (22, 300), "dialeval1-dq-s": (22, 300),
}  # fmt: skip


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_campaign_has_the_runs_topics_and_classes_of_the_papers(name):
    made = campaign(name)
    assert (len(made.runs), len(made.topics)) == SHAPES[name] == (CAMPAIGNS[name].n_runs, CAMPAIGNS[name].topics)
    assert tuple(made.classes) == CLASSES
    assert made.collection == f"simulated: {name}"


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_classes_of_the_gold_are_as_frequent_as_the_fitted_model_says(name):
    """Averaged over seeds the share of each class, counted topic by topic, is the model's to about a hundredth."""
    gold = np.concatenate([np.asarray(campaign(name, seed).gold, dtype=float) for seed in range(8)])
    shares = gold / gold.sum(axis=-1, keepdims=True)
    assert np.abs(shares.mean(axis=0) - FITTED[CAMPAIGNS[name].gold].frequencies()).max() < 0.015


@pytest.mark.parametrize("name", QUANTIFICATION)
def test_estimates_are_distributions_and_copies_of_a_baseline_are_the_same(name):
    made = campaign(name)
    assert (made.estimated >= 0).all()
    assert np.allclose(made.estimated.sum(axis=-1), 1)
    if CAMPAIGNS[name].baselines:
        by_run = dict(zip(made.runs, made.estimated, strict=True))
        for baseline in ("BL-popularity", "BL-uniform"):
            assert np.array_equal(by_run[f"{baseline}-C"], by_run[f"{baseline}-E"])
        assert np.allclose(by_run["BL-uniform-C"], 1 / len(CLASSES))
        popular = (by_run["BL-popularity-C"] * made.gold).sum(axis=-1)
        assert np.allclose(popular, made.gold.max(axis=-1))  # all on a most frequent class of the topic


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_every_run_answers_for_the_items_of_the_gold_and_constant_runs_answer_one_class(name):
    made = campaign(name)
    counts = np.asarray(made.counts)
    assert (counts.sum(axis=-1) == counts[0].sum(axis=-1)).all()
    constant = [run for run in made.runs if run.startswith("always-")]
    assert len(constant) == len(CAMPAIGNS[name].constant)
    for run in constant:
        answered = counts[made.runs.index(run)].sum(axis=(0, 1))
        assert np.flatnonzero(answered).tolist() == [CLASSES.index(run.removeprefix("always-"))]


@pytest.mark.parametrize("name", ["stc3-dq-a", "sem17t4c"])
def test_a_seed_gives_the_same_campaign_and_another_seed_another(name):
    field = "estimated" if CAMPAIGNS[name].kind == "quantification" else "counts"
    first, again, other = (np.asarray(getattr(campaign(name, seed), field)) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("name", ["stc3-dq-a", "stc3-dq-s", "dialeval1-dq-a", "dialeval1-dq-s"])
def test_nmd_prefers_popularity_where_measures_of_classes_prefer_uniform(name):
    """LQ 2021, Tables 5 to 7: nothing in the simulation knows a measure, and yet they contradict each other."""
    scores = metaeval.score(campaign(name), ["NMD", "RNSS", "JSD"])
    preference = metaeval.baseline_preference(scores, "BL-popularity-C", "BL-uniform-C").to_frame()
    prefers_popularity = preference["BL-popularity-C"] > preference["BL-uniform-C"]
    assert prefers_popularity.to_dict() == {"NMD": True, "RNSS": False, "JSD": False}
    found = metaeval.significance_contradictions(metaeval.discriminative_power(scores, n_permutations=1000))
    against_nmd = found.to_frame().query("measure_1 == 'NMD'").set_index("measure_2").contradictions
    assert (against_nmd > 0).any()
    pairs = found.run_pairs()
    involved = pairs[["run_1", "run_2"]].apply(lambda side: side.str.startswith("BL-popularity")).any(axis=1)
    assert involved.all()


@pytest.mark.parametrize("name", ["dialeval1-dq-s", "stc3-dq-s"])
def test_popularity_beats_uniform_significantly_under_nmd_and_the_reverse_under_jsd(name):
    scores = metaeval.score(campaign(name), ["NMD", "JSD"])
    found = metaeval.significance_contradictions(metaeval.discriminative_power(scores, n_permutations=1000))
    pairs = {tuple(pair) for pair in found.run_pairs()[["run_1", "run_2"]].to_numpy().tolist()}
    assert {(f"BL-popularity-{one}", f"BL-uniform-{two}") for one in "CE" for two in "CE"} <= pairs


def test_kappa_cannot_tell_constant_runs_apart():
    scores = metaeval.score(campaign("sem17t4c"), ["kappa", "Accuracy"])
    constant = [run for run in scores.runs if run.startswith("always-")]
    means = scores.means().loc[constant]
    assert np.ptp(means["kappa"]) == pytest.approx(0, abs=1e-12)
    assert np.ptp(means["Accuracy"]) > 0.1


def test_fitting_finds_the_model_that_made_the_votes():
    truth = GoldModel((-1.2, 0.0, 1.0), 0.7, 0.25, (3.0, 0.0), 20)
    rng = np.random.default_rng(1)
    location = truth.location_sd * rng.standard_normal(1500)
    width = np.exp(truth.width_sd * rng.standard_normal(1500))
    found = fit_gold(rng.multinomial(20, truth.shares(location, width)), points=31)
    assert found.thresholds == pytest.approx(truth.thresholds, abs=0.1)
    assert (found.location_sd, found.width_sd) == pytest.approx((0.7, 0.25), abs=0.08)
    assert found.fewest == 20


def test_a_campaign_that_nobody_knows_is_refused_by_name():
    with pytest.raises(metaeval.MetaevalError, match="no campaign 'sem18'"):
        campaign("sem18")
