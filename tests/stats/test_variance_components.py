"""Components of variance and designs against printed examples, statsmodels, Sakai's approximations, and simulation."""

import itertools
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import chi, norm, t

from metaeval.errors import MetaevalError
from metaeval.stats import variance_components as design

# Brennan (2001), Table 3.2, synthetic data set 4: ten persons, three tasks of four raters each.
BRENNAN = np.loadtxt(Path(__file__).with_name("brennan2001.csv"), delimiter=",")
PERSON, ITEM = np.indices(BRENNAN.shape).reshape(2, -1)


def solve(scores, **facets):
    return design.find_components(np.ravel(scores), facets, np.random.default_rng(0))


def name(found):
    return dict(zip((effect.name for effect in found.effects), found.variance, strict=True))


def simulate(n_runs, n_topics, n_third, seed=0, third="repeat"):
    rng = np.random.default_rng(seed)
    shape = n_runs, n_topics, n_third
    scores = rng.normal(size=(n_runs, 1, 1)) + 0.8 * rng.normal(size=(1, n_topics, 1))
    scores = scores + 0.5 * rng.normal(size=(n_runs, n_topics, 1)) + 0.7 * rng.normal(size=shape)
    if third == "judge":
        scores = scores + rng.normal(size=n_third) + 0.5 * rng.normal(size=(n_runs, 1, n_third))
        scores = scores + 0.5 * rng.normal(size=(n_topics, n_third))
    run, topic, last = (axis.ravel() for axis in np.indices(shape))
    return scores.ravel(), {"run": run, "topic": topic} | ({third: last} if n_third > 1 else {})


def fit_mixed_model(scores, columns):
    """Return variances by REML of statsmodels, found without derivatives to many digits."""
    mixedlm = pytest.importorskip("statsmodels.formula.api").mixedlm
    frame = pd.DataFrame({"score": scores, "all": 1, **columns})
    effects = {name: f"0 + C({name})" for name in columns}
    model = mixedlm("score ~ 1", frame, groups="all", vc_formula=effects, re_formula="0")
    with warnings.catch_warnings(action="ignore"):
        fit = model.fit(reml=True, method="powell", xtol=1e-10, ftol=1e-14, maxiter=5000)
    return dict(zip(model.exog_vc.names, fit.vcomp, strict=True)) | {"error": fit.scale}


def test_studies_are_those_of_brennan_tables_6_2_6_5_and_3_2():
    found = solve(BRENNAN, run=PERSON, topic=ITEM)
    assert found.variance == pytest.approx([0.6258, 0.8840, 2.7872], abs=5e-5)
    both = np.concatenate([found.variance[np.newaxis], found.drawn])
    known = design.find_reliability(found.effects, both, {"topic": 12})
    # As gt4ireval prints them; its 80 % intervals are those of the F distribution.
    assert known.relative_coefficient[0] == pytest.approx(0.729300196206671, abs=1e-12)
    assert known.absolute_coefficient[0] == pytest.approx(0.671635722997696, abs=1e-12)
    assert np.quantile(known.relative_coefficient[1:], [0.1, 0.9]) == pytest.approx([0.541, 0.876], abs=0.008)
    assert np.quantile(known.absolute_coefficient[1:], [0.1, 0.9]) == pytest.approx([0.457, 0.845], abs=0.012)
    ratio = found.variance[0] / found.variance[2]
    assert design.fewest_topics(lambda n: design.generalisability(ratio, n) >= 0.95, ratio) == 85
    found = solve(BRENNAN, run=PERSON, topic=ITEM, task=ITEM // 4)
    expected = {
        "run": 0.4731, "task": 0.3252, "topic": 0.6475, "run × task": 0.5596, "run × topic and error": 2.3802,
    }  # fmt: skip
    assert name(found) == pytest.approx(expected, abs=5e-5)
    known = design.find_reliability(found.effects, found.variance, {"task": 3, "topic": 12})
    assert float(known.relative) == pytest.approx(0.5596 / 3 + 2.3802 / 12, abs=1e-4)
    assert float(known.absolute - known.relative) == pytest.approx(0.3252 / 3 + 0.6475 / 12, abs=1e-4)


def test_a_resample_repeats_topics_negative_estimates_are_0_and_what_is_not_separated_is_one_component():
    table = simulate(7, 15, 1)[0].reshape(7, 15)
    drawn = [0, 0, 3, 5, 5, 5, *range(6, 15)]
    weights = np.stack([np.ones(15), np.bincount(drawn, minlength=15)])
    found, unit = design.resample_components(table, weights)
    run, topic = np.indices(table.shape).reshape(2, -1)
    for one, columns in zip(found, (table, table[:, drawn]), strict=True):
        assert one * unit**2 == pytest.approx(solve(columns, run=run, topic=topic).raw)
    found = solve([[0.0, 1.0], [1.0, 0.0]], run=np.array([0, 0, 1, 1]), topic=np.array([0, 1, 0, 1]))
    assert found.raw == pytest.approx([-0.5, -0.5, 1.0])
    assert found.variance.tolist() == [0, 0, 1]
    run, topic = np.indices((4, 6)).reshape(2, -1)
    scores = np.random.default_rng(0).normal(size=24)
    one_each = solve(scores, run=run, topic=topic, task=topic)
    assert list(name(one_each)) == ["run", "task or topic", "run × task or run × topic and error"]
    assert one_each.variance == pytest.approx(solve(scores, run=run, topic=topic).variance)


BALANCED = [
    ((8, 12, 1), "repeat", 1e-6), ((6, 10, 3), "repeat", 1e-6),
    pytest.param((6, 8, 5), "judge", 1e-4, marks=pytest.mark.nightly),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "third", "tolerance"), BALANCED)
def test_balanced_tables_agree_with_statsmodels(shape, third, tolerance):
    scores, facets = simulate(*shape, third=third)
    crossed = {name: codes for name, codes in facets.items() if name != "repeat"}
    pairs = itertools.combinations(crossed, 2) if shape[2] > 1 else ()
    columns = crossed | {f"{one} × {other}": crossed[one] * 100 + crossed[other] for one, other in pairs}
    short = {effect: f"e{number}" for number, effect in enumerate(columns)}
    expected = fit_mixed_model(scores, {short[effect]: codes for effect, codes in columns.items()})
    found = solve(scores, **facets)
    ours = {short[effect]: name(found)[effect] for effect in columns} | {"error": found.variance[-1]}
    assert ours == pytest.approx(expected, rel=tolerance)


UNBALANCED = [
    (slice(1, None), {}, "as many scores in every cell of runs, topics and judges"),
    (slice(None), {"topic": np.arange(24)}, "as many scores in every cell"),  # each run has topics of its own
    (slice(None), {"task": np.arange(24) % 6 // 4}, "tasks have 2 to 4 topics, and components need as many of each"),
]


@pytest.mark.parametrize(("kept", "facets", "message"), UNBALANCED)
def test_a_table_that_is_not_balanced_is_refused(kept, facets, message):
    run, topic = np.indices((4, 6)).reshape(2, -1)
    codes = {facet: levels[kept] for facet, levels in ({"run": run, "topic": topic} | facets).items()}
    with pytest.raises(MetaevalError, match=message):
        solve(np.random.default_rng(0).normal(size=24)[kept], **codes)


def topics_for_t_test(effect, alpha, beta):
    return design.fewest_topics(lambda n: design.power_of_t_test(n, effect, alpha) >= 1 - beta, effect)


@pytest.mark.parametrize("effect", [0.1, 0.3, 0.5, 1.0, 1.2])
def test_power_is_statsmodels_and_topics_are_sakais_closed_approximation_give_or_take_one(effect):
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    for n in (5, 34, 200):
        assert design.power_of_t_test(n, effect, 0.05) == pytest.approx(power.power(effect, n, 0.05))
    for alpha, beta in itertools.product((0.01, 0.05), (0.1, 0.2, 0.5)):
        z, z_beta = norm.isf(alpha / 2), norm.isf(beta)
        closed = ((z + z_beta) / effect) ** 2 + z**2 / 2
        assert abs(topics_for_t_test(effect, alpha, beta) - np.ceil(closed)) <= 1


def test_the_number_is_the_least_that_is_enough_the_detectable_difference_its_inverse_and_extremes_have_an_answer():
    effects = np.array([0.1, 0.4, 2.0])
    n = topics_for_t_test(effects, 0.05, 0.2)
    assert (design.power_of_t_test(n, effects, 0.05) >= 0.8).all()
    assert (design.power_of_t_test(n - 1, effects, 0.05) < 0.8).all()
    # Of runs whose differences deviate by 1 from topic to topic: each has half of that variance as its error.
    detectable = design.detectable_difference(0.5 / 40, 40, 0.05, 0.2)
    assert design.power_of_t_test(40, detectable, 0.05) == pytest.approx(0.8)
    assert topics_for_t_test([1e-5, np.inf, np.nan, 100], 0.05, 0.2).tolist()[:2] == [np.inf, 2]
    assert np.isnan(topics_for_t_test(np.nan, 0.05, 0.2))


@pytest.mark.parametrize("alpha", [1e-3, 1e-4, 1e-5, 1e-8])
def test_power_at_small_levels_is_that_of_the_upper_tail(alpha):
    """Of a noncentral t, by its integral over the chi distribution of the standard deviation."""
    n, effect = 60, 0.6
    threshold = t.isf(alpha / 2, n - 1)

    def density(spread):
        tail = norm.sf(threshold * spread - np.sqrt(n) * effect)
        return tail * chi.pdf(spread * np.sqrt(n - 1), n - 1) * np.sqrt(n - 1)

    expected = quad(density, 0, 4, points=[0.8, 1.0, 1.2])[0]
    assert float(design.power_of_t_test(n, effect, alpha)) == pytest.approx(expected, rel=1e-6)
