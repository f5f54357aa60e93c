"""Independent packages and hand-worked examples agree with every measure."""

import math

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

import metaeval
from metaeval.measures.closeness import CEM_ORD, proximity
from metaeval.measures.order_aware import order_aware_divergence

RNG = np.random.default_rng(2021)


def labels_of(counts):
    """The items of a confusion matrix as two lists of classes."""
    gold, predicted = np.nonzero(counts)
    times = counts[gold, predicted]
    return np.repeat(gold, times), np.repeat(predicted, times)


def random_counts(n_classes, how_many=60):
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.full(n_classes**2, 0.4), size=how_many)
    return rng.multinomial(rng.integers(2, 60, size=how_many), shares).reshape(-1, n_classes, n_classes)


MATRICES = [pytest.param(counts, id=f"K{k}-{i}") for k in (2, 3, 5) for i, counts in enumerate(random_counts(k, 25))]


@pytest.mark.parametrize("counts", MATRICES)
def test_error_accuracy_kappa_and_f_measures_agree_with_scikit_learn(counts):
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the oracle here")
    gold, predicted = labels_of(counts)
    filled = np.flatnonzero(counts.sum(axis=1))
    score = {
        name: float(metaeval.measure(name).evaluate(counts)[0]) for name in ("MAE_mu", "Accuracy", "F1_M", "kappa")
    }
    assert score["MAE_mu"] == pytest.approx(sklearn.mean_absolute_error(gold, predicted))
    assert score["Accuracy"] == pytest.approx(sklearn.accuracy_score(gold, predicted))
    f1 = sklearn.f1_score(gold, predicted, labels=filled, average="macro", zero_division=0)
    assert score["F1_M"] == pytest.approx(f1)
    precision = sklearn.precision_score(gold, predicted, labels=filled, average="macro", zero_division=0)
    recall = sklearn.recall_score(gold, predicted, labels=filled, average="macro", zero_division=0)
    harmonic = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert float(metaeval.measure("HMPR").evaluate(counts)[0]) == pytest.approx(harmonic)
    if len(set(gold) | set(predicted)) > 1:  # otherwise 0/0, where scikit-learn returns NaN
        for weights in ("linear", "quadratic"):
            expected = sklearn.cohen_kappa_score(gold, predicted, labels=range(len(counts)), weights=weights)
            got = metaeval.measure(f"kappa(weights={weights})").evaluate(counts)[0]
            assert float(got) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("counts", MATRICES)
def test_macroaveraged_error_agrees_with_imbalanced_learn(counts):
    imblearn = pytest.importorskip("imblearn.metrics", reason="imbalanced-learn is the oracle here")
    gold, predicted = labels_of(counts)
    if set(predicted) - set(gold):
        # imbalanced-learn raises here, so average what scikit-learn says class by class
        expected = np.mean([np.abs(predicted[gold == k] - k).mean() for k in set(gold)])
    else:
        expected = imblearn.macro_averaged_mean_absolute_error(gold, predicted)
    assert float(metaeval.measure("MAE_M").evaluate(counts)[0]) == pytest.approx(expected)


@pytest.mark.parametrize("counts", MATRICES)
@pytest.mark.parametrize(("name", "level"), [("alpha_ORD", "ordinal"), ("alpha_INT", "interval")])
def test_alpha_agrees_with_krippendorff(counts, name, level):
    krippendorff = pytest.importorskip("krippendorff", reason="krippendorff is the oracle here")
    data = np.array(labels_of(counts), dtype=float)
    score = float(metaeval.measure(name).evaluate(counts)[0])
    if len(np.unique(data)) == 1:
        assert score == 1.0
        return
    domain = list(range(len(counts)))
    expected = krippendorff.alpha(reliability_data=data, value_domain=domain, level_of_measurement=level)
    assert score == pytest.approx(expected, abs=1e-12)


def test_kappa_is_zero_for_a_run_that_always_returns_one_class():
    for gold in ([3, 4, 5], [0, 7, 1], [1, 0, 1]):
        for always in range(3):
            counts = np.zeros((3, 3))
            counts[:, always] = gold
            assert metaeval.measure("kappa").score(counts) == pytest.approx(0, abs=1e-15)


def test_kappa_takes_a_penalty_for_every_pair_of_classes():
    kappa = metaeval.measures.agreement.kappa
    counts = random_counts(3, 5)[0]
    linear = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert kappa(counts, weights=linear) == pytest.approx(float(kappa(counts)))
    with pytest.raises(metaeval.MeasureError, match="shape"):
        kappa(counts, weights=[[0, 1], [1, 0]])


def test_proximities_are_those_printed_in_amigo_figure_1():
    cautious = [7, 90, 193, 105, 7]  # reject, weak reject, undecided, weak accept, accept
    outspoken = [160, 10, 3, 10, 193]  # the text gives the three middle classes and the sum, 376
    assert proximity(cautious)[3, 1] == pytest.approx(0.23, abs=0.005)
    assert proximity(outspoken)[3, 1] == pytest.approx(4.38, abs=0.005)
    assert proximity(cautious)[0, 0] == pytest.approx(6.84, abs=0.005)
    assert proximity(cautious)[2, 2] == pytest.approx(2.06, abs=0.005)


def test_cem_of_the_two_runs_of_amigo_figure_3():
    """Rows of the printed tables are the run's classes, so they are transposed here."""
    a = np.array([[5, 5, 7], [1, 50, 8], [4, 5, 15]]).T
    b = np.array([[7, 12, 4], [1, 45, 8], [2, 3, 18]]).T
    prox = proximity([10, 60, 30]).T
    printed = [[4.32, 0.62, 0.07], [1.32, 1.74, 0.74], [0.23, 0.42, 2.74]]
    np.testing.assert_allclose(prox, printed, atol=0.005001)
    assert float(CEM_ORD(a)) == pytest.approx(0.7117, abs=5e-5)
    assert float(CEM_ORD(b)) == pytest.approx(0.7596, abs=5e-5)


def test_cem_follows_from_its_definition_item_by_item():
    """Sakai 2021, Eqs. 3–4, written out with loops."""

    def by_loops(counts):
        n = counts.sum(axis=1)
        total = n.sum()

        def prox(i, j):  # system's class i, gold class j
            between = n[i + 1 : j + 1].sum() if i <= j else n[j:i].sum()
            return -math.log2(max(0.5, n[i] / 2 + between) / total)

        classes = range(len(n))
        reached = sum(prox(i, j) * counts[j, i] for i in classes for j in classes)
        return reached / sum(prox(j, j) * n[j] for j in classes)

    for n_classes in (2, 3, 5, 11):
        for counts in random_counts(n_classes):
            assert float(CEM_ORD(counts)) == pytest.approx(by_loops(counts))


DISTRIBUTIONS = RNG.dirichlet(np.full(5, 0.6), size=(40, 2))


@pytest.mark.parametrize("pair", DISTRIBUTIONS)
def test_quantification_measures_agree_with_scipy_and_numpy(pair):
    estimated, gold = pair
    score = {str(m): float(m.evaluate(estimated, gold)[0]) for m in metaeval.measures.measures("quantification")}
    classes = np.arange(5)
    assert score["NMD"] == pytest.approx(scipy.stats.wasserstein_distance(classes, classes, estimated, gold) / 4)
    assert score["JSD"] == pytest.approx(scipy.spatial.distance.jensenshannon(estimated, gold, base=2) ** 2)
    assert score["NVD"] == pytest.approx(np.abs(estimated - gold).mean() * 5 / 2)
    assert score["RNSS"] == pytest.approx(np.linalg.norm(estimated - gold) / math.sqrt(2))


@pytest.mark.parametrize("pair", DISTRIBUTIONS[:10])
def test_match_distance_agrees_with_quapy(pair):
    quapy = pytest.importorskip("quapy.error", reason="QuaPy is the oracle here")
    estimated, gold = pair
    assert float(metaeval.measure("NMD").score(estimated, gold)) == pytest.approx(quapy.nmd(gold, estimated))


def by_loops_od(p, q):
    support = [i for i in range(len(q)) if q[i] > 0]
    return sum(sum(abs(i - j) * (p[j] - q[j]) ** 2 for j in range(len(p))) for i in support) / len(support)


def test_order_aware_measures_follow_from_their_definitions_class_by_class():
    for estimated, gold in [*DISTRIBUTIONS, ([1, 0, 0, 0, 0], [0, 0.5, 0.5, 0, 0])]:
        p, q = np.asarray(estimated, float), np.asarray(gold, float)
        od, do = by_loops_od(p, q), by_loops_od(q, p)
        everywhere = np.mean([sum(abs(i - j) * (p[j] - q[j]) ** 2 for j in range(5)) for i in range(5)])
        assert float(metaeval.measure("RNOD").score(p, q)) == pytest.approx(math.sqrt(od / 4))
        assert float(metaeval.measure("RSNOD").score(p, q)) == pytest.approx(math.sqrt((od + do) / 8))
        assert float(metaeval.measure("RNADW").score(p, q)) == pytest.approx(math.sqrt(everywhere / 4))


def test_rnod_and_rsnod_can_exceed_one_and_stay_below_the_root_of_two():
    gold, run = np.array([0, 0.98, 0, 0.01, 0.01]), np.eye(5)[0]
    assert metaeval.measure("RNOD").score(run, gold) == pytest.approx(1.0329, abs=5e-5)
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 5, 9):
        pairs = rng.dirichlet(np.full(n_classes, 0.05), size=(2, 20_000))
        for name in ("RNOD", "RSNOD"):
            assert metaeval.measure(name).score(*pairs).max() < 2**0.5


def test_gold_distances_are_the_gold_probability_in_between():
    """LQ 2021, Eq. 11, with its sums written out."""
    for p, q in DISTRIBUTIONS:
        delta = [[q[min(i, j) : max(i, j) + 1].sum() - (q[i] + q[j]) / 2 for j in range(5)] for i in range(5)]
        weighted = [sum(delta[i][j] * (p[j] - q[j]) ** 2 for j in range(5)) for i in range(5)]
        rnod = math.sqrt(np.mean([weighted[i] for i in range(5) if q[i] > 0]) / 4)
        assert float(metaeval.measure("RNOD(distance=gold)").score(p, q)) == pytest.approx(rnod)
        assert float(metaeval.measure("RNADW(distance=gold)").score(p, q)) == pytest.approx(
            math.sqrt(np.mean(weighted) / 4)
        )


def test_the_example_of_lq_2021_section_3():
    gold = np.full(4, 0.25)
    a, b = np.array([0.25, 0.35, 0.15, 0.25]), np.array([0.25, 0.25, 0.35, 0.15])
    assert order_aware_divergence(a, gold) == pytest.approx(0.020)
    assert order_aware_divergence(b, gold) == pytest.approx(0.025)
    nmd = metaeval.measure("NMD")
    assert nmd.score(a, gold) == pytest.approx(float(nmd.score(b, gold)))


def test_od_averages_over_the_support_of_the_gold_and_not_of_the_estimate():
    estimated, gold = np.array([1.0, 0, 0]), np.array([0.0, 0.5, 0.5])
    assert order_aware_divergence(estimated, gold) == pytest.approx((1.25 + 2.25) / 2)
    assert order_aware_divergence(gold, estimated) == pytest.approx(0.25 + 0.5)


two_classes = npst.arrays(float, (2,), elements=st.floats(0, 1)).map(lambda p: np.stack([p, 1 - p], axis=-1))


@given(two_classes)
def test_with_two_classes_nmd_rnod_and_rsnod_are_one_measure(pair):
    """LQ 2021, Appendix A, as printed: RNOD is √OD, K − 1 being 1."""
    values = [float(metaeval.measure(name).score(*pair)) for name in ("NMD", "RNOD", "RSNOD")]
    # √ of a square: tiny differences underflow to 0 before the root is taken.
    assert values == pytest.approx([values[0]] * 3, abs=1e-7)


@settings(max_examples=200)
@given(npst.arrays(np.int64, (3, 3), elements=st.integers(0, 6)).filter(lambda counts: counts.sum() > 0))
def test_moving_an_item_to_its_gold_class_never_lowers_an_ordinal_measure(counts):
    wrong = [(g, p) for g, p in np.argwhere(counts > 0) if g != p]
    if not wrong:
        return
    g, p = wrong[0]
    mended = counts.copy()
    mended[g, p] -= 1
    mended[g, g] += 1
    for name in ("MAE_M", "MAE_mu", "CEM_ORD", "Accuracy"):
        measure = metaeval.measure(name)
        before, after = float(measure.score(counts)), float(measure.score(mended))
        gain = after - before if measure.higher_is_better else before - after
        assert gain > 0
