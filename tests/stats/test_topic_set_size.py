"""Topic-set-size design against statsmodels, Sakai's approximations and tables, and simulation."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi, chi2, norm, t

from metaeval.stats import variance_components as design
from metaeval.stats.variance_components import generalisability


def topics_for_t_test(effect, alpha, beta):
    return design.fewest_topics(lambda n: design.power_of_t_test(n, effect, alpha) >= 1 - beta, effect)


@pytest.mark.parametrize("n", [5, 34, 200])
@pytest.mark.parametrize("effect", [0.1, 0.5, 1.2])
def test_power_is_statsmodels(n, effect):
    power = pytest.importorskip("statsmodels.stats.power")
    assert design.power_of_t_test(n, effect, 0.05) == pytest.approx(power.TTestPower().power(effect, n, 0.05))


@pytest.mark.parametrize(
    ("effect", "alpha", "beta"), list(itertools.product((0.1, 0.3, 1.0), (0.01, 0.05), (0.1, 0.2, 0.5)))
)
def test_topics_for_a_t_test_are_sakais_closed_approximation_give_or_take_one(effect, alpha, beta):
    z, z_beta = norm.isf(alpha / 2), norm.isf(beta)
    closed = ((z + z_beta) / effect) ** 2 + z**2 / 2
    assert abs(topics_for_t_test(effect, alpha, beta) - np.ceil(closed)) <= 1


def integrate_t_power(n, effect, alpha):
    """P(|T| > t) of a noncentral t, given the deviation and averaged over its χ distribution."""
    q = (np.arange(500) + 0.5) / 500
    deviation = np.sqrt(chi2.ppf(q, n - 1) / (n - 1))
    reach = t.isf(alpha / 2, n - 1) * deviation
    return (norm.sf(reach - np.sqrt(n) * effect) + norm.cdf(-reach - np.sqrt(n) * effect)).mean()


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.2), (0.01, 0.1), (0.05, 0.5)])
@pytest.mark.parametrize("effect", [0.6, 1.0])
def test_topics_are_those_of_trying_one_number_after_the_other(alpha, beta, effect):
    tried = next(n for n in itertools.count(2) if integrate_t_power(n, effect, alpha) >= 1 - beta)
    assert topics_for_t_test(effect, alpha, beta) == tried


def test_the_number_is_the_least_that_is_enough():
    effects = np.array([0.1, 0.4, 2.0])
    n = topics_for_t_test(effects, 0.05, 0.2)
    assert (design.power_of_t_test(n, effects, 0.05) >= 0.8).all()
    assert (design.power_of_t_test(n - 1, effects, 0.05) < 0.8).all()


def test_the_detectable_difference_is_the_inverse():
    # Of runs whose differences deviate by 1 from topic to topic: each has half of that variance as its error.
    detectable = design.detectable_difference(0.5 / 40, 40, 0.05, 0.2)
    assert design.power_of_t_test(40, detectable, 0.05) == pytest.approx(0.8)


def test_extremes_have_an_answer():
    assert topics_for_t_test([1e-5, np.inf, np.nan, 100], 0.05, 0.2).tolist()[:2] == [np.inf, 2]
    assert np.isnan(topics_for_t_test(np.nan, 0.05, 0.2))


@pytest.mark.parametrize("coefficient", [0.5, 0.9, 0.95, 0.999])
def test_topics_for_a_generalisability_coefficient_are_those_of_its_formula(coefficient):
    ratio = np.array([0.0013, 0.1, 0.37, 1.0, 40.0])
    needed = design.fewest_topics(lambda n: generalisability(ratio, n) >= coefficient - 1e-14, ratio, least=1)
    exact = coefficient / (1 - coefficient) / ratio
    assert needed.tolist() == np.maximum(np.ceil(exact * (1 - 1e-12)), 1).tolist()
    never = np.array([0.0, -1.0, np.nan])
    found = design.fewest_topics(lambda n: generalisability(never, n) >= coefficient, never)
    assert found[:2].tolist() == [np.inf, np.inf]
    assert np.isnan(found[2])


@pytest.mark.parametrize("alpha", [1e-3, 1e-4, 1e-5, 1e-8])
def test_power_at_small_levels_is_that_of_the_upper_tail(alpha):
    """Of a noncentral t, by its integral over the chi distribution of the standard deviation."""
    n, effect = 60, 0.6
    threshold = t.isf(alpha / 2, n - 1)

    def density(spread):
        return (
            norm.sf(threshold * spread - np.sqrt(n) * effect) * chi.pdf(spread * np.sqrt(n - 1), n - 1) * np.sqrt(n - 1)
        )

    expected = quad(density, 0, 4, points=[0.8, 1.0, 1.2])[0]
    assert float(design.power_of_t_test(n, effect, alpha)) == pytest.approx(expected, rel=1e-6)
