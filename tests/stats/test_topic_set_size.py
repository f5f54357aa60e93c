"""Topic-set-size design against statsmodels, Sakai's approximations and tables, and simulation."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution, chi, chi2, f, norm, poisson, t

from metaeval.stats import variance_components as design
from metaeval.stats.variance_components import generalisability


def topics_for_t_test(effect, alpha, beta):
    return design.fewest_topics(lambda n: design.power_of_t_test(n, effect, alpha) >= 1 - beta, effect)


def topics_for_anova(effect, alpha, beta, runs):
    return design.fewest_topics(lambda n: design.power_of_anova(n, effect, alpha, runs) >= 1 - beta, effect)


def topics_for_width(width, alpha):
    return design.fewest_topics(lambda n: design.expected_width(n, 1.0, alpha) <= width, width)


@pytest.mark.parametrize("n", [5, 34, 200])
@pytest.mark.parametrize("effect", [0.1, 0.5, 1.2])
def test_power_is_statsmodels(n, effect):
    power = pytest.importorskip("statsmodels.stats.power")
    assert design.power_of_t_test(n, effect, 0.05) == pytest.approx(power.TTestPower().power(effect, n, 0.05))
    for runs in (2, 10, 100):
        expected = power.FTestAnovaPower().power(effect / np.sqrt(2 * runs), n * runs, 0.01, k_groups=runs)
        assert design.power_of_anova(n, effect, 0.01, runs) == pytest.approx(expected)


def approximate_t(n, effect, alpha):
    """Sakai 2018, Chapter 6: the noncentral t distribution by a normal one."""
    w, phi = t.isf(alpha / 2, n - 1), n - 1
    ends = [(sign * w * (1 - 1 / (4 * phi)) - np.sqrt(n) * effect) / np.sqrt(1 + w**2 / (2 * phi)) for sign in (-1, 1)]
    return norm.cdf(ends[0]) + norm.sf(ends[1])


def approximate_f(n, effect, alpha, runs):
    """Sakai 2018, Chapter 6: the noncentral F distribution by a normal one."""
    a, e, shift = runs - 1, runs * (n - 1), n * effect**2 / 2
    w, c, phi = f.isf(alpha, a, e), (a + 2 * shift) / (a + shift), (a + shift) ** 2 / (a + 2 * shift)
    u = (np.sqrt(w / e) * np.sqrt(2 * e - 1) - np.sqrt(c / a) * np.sqrt(2 * phi - 1)) / np.sqrt(c / a + w / e)
    return norm.sf(u)


@pytest.mark.parametrize(("n", "effect"), [(20, 0.5), (50, 0.3), (100, 0.4), (200, 0.2)])
def test_sakais_approximations_are_near(n, effect):
    assert design.power_of_t_test(n, effect, 0.05) == pytest.approx(approximate_t(n, effect, 0.05), abs=0.003)
    for runs in (3, 10, 30):
        exact = design.power_of_anova(n, effect, 0.05, runs)
        assert exact == pytest.approx(approximate_f(n, effect, 0.05, runs), abs=0.01)


@pytest.mark.parametrize(
    ("effect", "alpha", "beta"), list(itertools.product((0.1, 0.3, 1.0), (0.01, 0.05), (0.1, 0.2, 0.5)))
)
def test_topics_for_a_t_test_are_sakais_closed_approximation_give_or_take_one(effect, alpha, beta):
    z, z_beta = norm.isf(alpha / 2), norm.isf(beta)
    closed = ((z + z_beta) / effect) ** 2 + z**2 / 2
    assert abs(topics_for_t_test(effect, alpha, beta) - np.ceil(closed)) <= 1


# α, β and two coefficients of Table 6.4 of Sakai 2018: n is about (x1 + x2·√(m - 1))/Δ for m runs.
# It is the only printed table that is at hand; examples of the t-test and the interval are compared with brute force below.
TABLE = [
    (0.01, 0.1, 10.439, 5.213), (0.01, 0.2, 7.736, 4.551), (0.01, 0.3, 6.030, 4.077), (0.01, 0.4, 4.733, 3.675),
    (0.01, 0.5, 3.653, 3.302), (0.05, 0.1, 7.049, 4.244), (0.05, 0.2, 4.860, 3.584), (0.05, 0.3, 3.522, 3.112),
    (0.05, 0.4, 2.543, 2.712), (0.05, 0.5, 1.765, 2.341),
]  # fmt: skip


@pytest.mark.parametrize(("alpha", "beta", "x1", "x2"), TABLE)
def test_topics_for_anova_are_those_of_the_books_table(alpha, beta, x1, x2):
    for runs, effect in itertools.product((10, 30, 100), (0.2, 0.5)):
        table = (x1 + x2 * np.sqrt(runs - 1)) / (effect**2 / 2)
        assert topics_for_anova(effect, alpha, beta, runs) == pytest.approx(table, rel=0.03, abs=3)


def integrate_t_power(n, effect, alpha):
    """P(|T| > t) of a noncentral t, given the deviation and averaged over its χ distribution."""
    q = (np.arange(500) + 0.5) / 500
    deviation = np.sqrt(chi2.ppf(q, n - 1) / (n - 1))
    reach = t.isf(alpha / 2, n - 1) * deviation
    return (norm.sf(reach - np.sqrt(n) * effect) + norm.cdf(-reach - np.sqrt(n) * effect)).mean()


def add_f_power(n, effect, alpha, runs):
    """P(F > f) of a noncentral F: central ones, weighed by a Poisson distribution."""
    between, within = runs - 1, runs * (n - 1)
    shift = n * effect**2 / 2
    more = np.arange(poisson.ppf(1e-12, shift / 2), poisson.isf(1e-12, shift / 2) + 1)
    threshold = f.isf(alpha, between, within) * between / within
    share = threshold / (1 + threshold)
    return poisson.pmf(more, shift / 2) @ beta_distribution.sf(share, between / 2 + more, within / 2)


def integrate_width(n, alpha):
    q = (np.arange(500) + 0.5) / 500
    return 2 * t.isf(alpha / 2, n - 1) / np.sqrt(n) * np.sqrt(chi2.ppf(q, n - 1) / (n - 1)).mean()


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.2), (0.01, 0.1), (0.05, 0.5)])
@pytest.mark.parametrize("effect", [0.6, 1.0])
def test_topics_are_those_of_trying_one_number_after_the_other(alpha, beta, effect):
    def count(enough):
        return next(n for n in itertools.count(2) if enough(n))

    tried = count(lambda n: integrate_t_power(n, effect, alpha) >= 1 - beta)
    assert topics_for_t_test(effect, alpha, beta) == tried
    for runs in (2, 20):
        tried = count(lambda n, runs=runs: add_f_power(n, effect, alpha, runs) >= 1 - beta)
        assert topics_for_anova(effect, alpha, beta, runs) == tried
    assert topics_for_width(effect, alpha) == count(lambda n: integrate_width(n, alpha) <= effect)


def test_the_number_is_the_least_that_is_enough():
    effects = np.array([0.1, 0.4, 2.0])
    n = topics_for_t_test(effects, 0.05, 0.2)
    assert (design.power_of_t_test(n, effects, 0.05) >= 0.8).all()
    assert (design.power_of_t_test(n - 1, effects, 0.05) < 0.8).all()
    n = topics_for_anova(effects, 0.05, 0.2, 10)
    assert (design.power_of_anova(n[:2] - 1, effects[:2], 0.05, 10) < 0.8).all()
    n = topics_for_width(effects, 0.05)
    assert (design.expected_width(n, 1, 0.05) <= effects).all()
    assert (design.expected_width(n - 1, 1, 0.05) > effects).all()


def test_a_simulation_finds_the_power_and_the_width():
    rng = np.random.default_rng(0)
    gaps = 0.1 + rng.normal(0, 0.3, (20_000, 50))
    spread = gaps.std(axis=1, ddof=1) / np.sqrt(50)
    quantile = t.isf(0.025, 49)
    found = (np.abs(gaps.mean(axis=1)) > quantile * spread).mean()
    assert design.power_of_t_test(50, 0.1 / 0.3, 0.05) == pytest.approx(found, abs=0.015)
    assert design.expected_width(50, 0.3, 0.05) == pytest.approx(2 * quantile * spread.mean(), rel=0.005)


def test_the_detectable_difference_is_the_inverse():
    # Of runs whose differences deviate by 1 from topic to topic: each has half of that variance as its error.
    detectable = design.detectable_difference(0.5 / 40, 40, 0.05, 0.2)
    assert design.power_of_t_test(40, detectable, 0.05) == pytest.approx(0.8)


def test_extremes_have_an_answer():
    assert topics_for_t_test([1e-5, np.inf, np.nan, 100], 0.05, 0.2).tolist()[:2] == [np.inf, 2]
    assert np.isnan(topics_for_t_test(np.nan, 0.05, 0.2))
    assert topics_for_anova([1e-5, np.inf], 0.05, 0.2, 10).tolist() == [np.inf, 2]
    assert topics_for_width([1e-5, np.inf], 0.05).tolist() == [np.inf, 2]


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
