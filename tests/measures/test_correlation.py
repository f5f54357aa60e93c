"""Correlations, clustering measures, errors in values and CEM at every scale, against packages, loops and print."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

import metaeval
from metaeval.measures.closeness_scales import closer_items

CLASSES = (2, 3, 5)


def random_counts(n_classes, how_many=30):
    rng = np.random.default_rng((7, n_classes))
    shares = rng.dirichlet(np.full(n_classes**2, 0.4), size=how_many)
    return rng.multinomial(rng.integers(2, 40, size=how_many), shares).reshape(-1, n_classes, n_classes)


MATRICES = [pytest.param(counts, id=f"K{k}-{i}") for k in CLASSES for i, counts in enumerate(random_counts(k))]


def labels_of(counts):
    gold, predicted = np.nonzero(counts)
    times = counts[gold, predicted]
    return np.repeat(gold, times), np.repeat(predicted, times)


def counts_of(predicted, gold, n_classes):
    """Confusion counts of labels written as the paper writes them, from 1."""
    counts = np.zeros((n_classes, n_classes), dtype=int)
    np.add.at(counts, (np.asarray(gold) - 1, np.asarray(predicted) - 1), 1)
    return counts


def score(name, counts):
    return float(metaeval.measure(name).evaluate(counts)[0])


@pytest.mark.parametrize("counts", MATRICES)
def test_correlations_agree_with_scipy(counts):
    gold, predicted = labels_of(counts)
    if len(set(gold)) < 2 or len(set(predicted)) < 2:
        for name in ("Pearson", "R_s", "tau_b"):
            value, undefined = metaeval.measure(name).evaluate(counts)
            assert undefined
            assert value == 0
        assert score("R_s(constant=1)", counts) == 1
        return
    assert score("Pearson", counts) == pytest.approx(scipy.stats.pearsonr(gold, predicted).statistic, abs=1e-12)
    assert score("R_s", counts) == pytest.approx(scipy.stats.spearmanr(gold, predicted).statistic, abs=1e-12)
    assert score("R_s(constant=1)", counts) == score("R_s", counts)
    assert score("tau_b", counts) == pytest.approx(scipy.stats.kendalltau(gold, predicted).statistic, abs=1e-12)


@pytest.mark.parametrize("counts", MATRICES)
def test_tau_a_and_reliability_and_sensitivity_agree_with_loops_over_pairs_of_items(counts):
    items = list(zip(*labels_of(counts), strict=True))
    signs = {
        (i, j): (np.sign(a[0] - b[0]), np.sign(a[1] - b[1]))
        for (i, a), (j, b) in itertools.permutations(enumerate(items), 2)
    }
    n = len(items)
    balance = sum(g * p for g, p in signs.values()) / (n * (n - 1))
    assert score("tau_a", counts) == pytest.approx(balance, abs=1e-12)

    def precision(of, to):
        each = []
        for i in range(n):
            related = [signs[i, j] for j in range(n) if j != i and signs[i, j][of]]
            if related:
                each.append(np.mean([pair[of] == pair[to] for pair in related]))
        return np.mean(each) if each else np.nan

    reliability, sensitivity = precision(1, 0), precision(0, 1)
    both = 2 * reliability * sensitivity / (reliability + sensitivity) if reliability + sensitivity else 0.0
    for part, expected in (("reliability", reliability), ("sensitivity", sensitivity), ("both", both)):
        value, undefined = metaeval.measure(f"Reliability_Sensitivity(part={part})").evaluate(counts)
        assert undefined == np.isnan(expected)
        assert value == pytest.approx(0.0 if undefined else expected, abs=1e-12)


@pytest.mark.parametrize("counts", MATRICES)
def test_clustering_and_squared_errors_agree_with_scikit_learn(counts):
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the oracle here")
    gold, predicted = labels_of(counts)
    expected = sklearn.mutual_info_score(gold, predicted) / np.log(2)
    assert score("MI", counts) == pytest.approx(expected, abs=1e-12)
    assert score("MSE", counts) == pytest.approx(sklearn.mean_squared_error(gold, predicted))
    filled = sorted(set(gold))
    recall = sklearn.recall_score(gold, predicted, labels=filled, average="macro", zero_division=0)
    assert score("MAAC", counts) == pytest.approx(recall)
    by_class = [np.mean((predicted[gold == k] - k) ** 2) for k in filled]
    assert score("MSE_M", counts) == pytest.approx(np.mean(by_class))
    assert score("Accuracy_within(n=1)", counts) == pytest.approx(np.mean(np.abs(gold - predicted) <= 1))
    purity = [max(np.sum(gold[predicted == p] == g) for g in filled) for p in set(predicted)]
    assert score("Purity", counts) == pytest.approx(sum(purity) / len(gold))
    assert score("Inverse_Purity", counts) == pytest.approx(score("Purity", counts.T))
    assert score("Cosine", counts) == pytest.approx(
        (gold + 1) @ (predicted + 1) / (np.linalg.norm(gold + 1) * np.linalg.norm(predicted + 1))
    )


@pytest.mark.parametrize("counts", MATRICES)
def test_rennie_and_srebros_loss_is_a_hinge_at_thresholds_two_apart(counts):
    gold, predicted = labels_of(counts)
    n_classes = len(counts)

    def loss(g, p, thresholds):
        total = 0.0
        for position, threshold in enumerate(np.arange(1, n_classes) * 2.0):  # between classes at 1, 3, 5, …
            if thresholds == "immediate" and position not in (g - 1, g):
                continue
            margin = (2 * p + 1 - threshold) * (1 if position < g else -1)
            total += max(0.0, 1 - margin)
        return total

    for thresholds in ("all", "immediate"):
        expected = np.mean([loss(g, p, thresholds) for g, p in zip(gold, predicted, strict=True)])
        assert score(f"Rennie_Srebro(thresholds={thresholds})", counts) == pytest.approx(expected)


def test_accuracy_with_a_margin_of_nothing_is_accuracy_and_of_all_classes_is_1():
    for counts in random_counts(5):
        assert score("Accuracy_within(n=0)", counts) == score("Accuracy", counts)
        assert score("Accuracy_within(n=4)", counts) == 1


@pytest.mark.parametrize("counts", MATRICES)
def test_cem_at_ordinal_scale_is_cem_ord_and_every_scale_agrees_with_its_definition(counts):
    assert score("CEM(scale=ORD)", counts) == pytest.approx(score("CEM_ORD", counts), abs=1e-14)
    gold, predicted = labels_of(counts)
    closer = {  # Definition 1 and the conditions that follow it, item by item
        "NOM": lambda x, a, b: (b == x) | (b != a),
        "ORD": lambda x, a, b: ((b >= x) & (x >= a)) | ((a >= x) & (x >= b)),
        "INT": lambda x, a, b: abs(b - x) <= abs(b - a),
    }
    for scale, ties, flat in itertools.product(closer, ("half", "all"), (False, True)):

        def closeness(a, b, scale=scale, ties=ties, flat=flat):
            count = np.sum(closer[scale](gold, a, b)) - (np.sum(gold == a) / 2 if ties == "half" else 0)
            part = max(count, 0.5) / len(gold)
            return 1 - part if flat else -np.log2(part)

        reached = sum(closeness(p, g) for g, p in zip(gold, predicted, strict=True))
        perfect = sum(closeness(g, g) for g in gold)
        value, undefined = metaeval.measure(f"CEM(scale={scale}, ties={ties}, flat={flat})").evaluate(counts)
        assert undefined == (perfect == 0)
        assert value == pytest.approx(reached / perfect if perfect else 1.0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_with_equal_gold_classes_cem_at_nominal_scale_is_accuracy(n_classes, size, seed):
    """Proposition 1, with the factor that the normalisation brings: 1."""
    rng = np.random.default_rng(seed)
    counts = np.stack([rng.multinomial(size, rng.dirichlet(np.ones(n_classes))) for _ in range(n_classes)])
    assert score("CEM(scale=NOM)", counts) == pytest.approx(score("Accuracy", counts))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_with_equal_gold_classes_precision_and_recall_are_sums_of_closeness(n_classes, size, seed):
    """Proposition 2: summed over a column or a row, and divided by the largest possible sum."""
    rng = np.random.default_rng(seed)
    counts = np.stack([rng.multinomial(size, rng.dirichlet(np.ones(n_classes))) for _ in range(n_classes)])
    gold = counts.sum(axis=1)
    closeness = -np.log2(closer_items(gold, scale="NOM") / gold.sum())
    each = counts * closeness
    largest = closeness.max()
    for k in range(n_classes):
        assert each[k].sum() / (gold[k] * largest) == pytest.approx(counts[k, k] / gold[k])
        if counts[:, k].sum():
            assert each[:, k].sum() / (counts[:, k].sum() * largest) == pytest.approx(counts[k, k] / counts[:, k].sum())


APPENDIX_B = {"first": counts_of((1, 2, 2, 3), (1, 1, 2, 3), 3), "second": counts_of((1, 1, 2, 2), (1, 1, 2, 3), 3)}


@pytest.mark.parametrize(
    ("name", "first", "second", "digits"),
    [
        ("Accuracy", 3 / 4, 3 / 4, 12),
        ("Accuracy_within(n=1)", 1, 1, 12),
        ("MAE_mu", 1 / 4, 1 / 4, 12),
        ("MSE", 1 / 4, 1 / 4, 12),
        ("Pearson", 0.85, 0.9, 2),
    ],
)
def test_the_imbalance_examples_of_appendix_b_come_out(name, first, second, digits):
    assert round(score(name, APPENDIX_B["first"]), digits) == pytest.approx(first)
    assert round(score(name, APPENDIX_B["second"]), digits) == pytest.approx(second)


def test_the_cosines_of_appendix_b_are_cut_off_in_print_not_rounded():
    values = [score("Cosine", APPENDIX_B[which]) for which in ("first", "second")]
    assert [np.floor(1000 * value) / 1000 for value in values] == [0.973, 0.979]
    assert [round(value, 3) for value in values] == [0.974, 0.98]


def test_no_classification_or_correlation_measure_sees_a_step_towards_the_gold_in_appendix_b():
    far, near = counts_of((1, 2, 3), (3, 4, 5), 5), counts_of((2, 3, 4), (3, 4, 5), 5)
    # Only the gold 3 meets the same class in both; Accuracy with 1 sees the step, whatever the appendix says of
    # "all classification metrics".
    for name in ("Accuracy", "MAAC", "F1_M", "tau_a", "tau_b", "Pearson", "R_s", "MI", "Purity"):
        assert score(name, far) == pytest.approx(score(name, near)), name
    assert score("Accuracy_within(n=1)", far) < score("Accuracy_within(n=1)", near)
    assert score("CEM_ORD", far) < score("CEM_ORD", near)


def test_moving_the_class_numbers_apart_changes_what_counts_distances_in_appendix_b():
    """f(x) = 10 + x³ has gaps that nothing fills: as ordered classes it is the original, stretched."""
    before = counts_of((1, 2, 3), (3, 4, 5), 5)
    f = {k: 10 + k**3 for k in range(1, 6)}
    after = counts_of([f[k] for k in (1, 2, 3)], [f[k] for k in (3, 4, 5)], f[5])
    for name in ("MAE_mu", "MSE", "MAE_M", "MSE_M", "Pearson"):
        assert score(name, before) != pytest.approx(score(name, after)), name
    for name in ("Accuracy", "CEM_ORD", "tau_a", "tau_b", "R_s", "MI"):
        assert score(name, before) == pytest.approx(score(name, after)), name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CEM(scale=ratio)", "no scale 'ratio'"),
        ("CEM(ties=some)", "no ties 'some'"),
        ("Accuracy_within(n=-1)", "whole number of at least 0"),
        ("Accuracy_within(n=0.5)", "whole number of at least 0"),
        ("R_s(constant=2)", "from -1 to 1"),
        ("Rennie_Srebro(thresholds=none)", "use all or immediate"),
        ("Reliability_Sensitivity(part=half)", "no part 'half'"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(text, said):
    with pytest.raises(metaeval.MeasureError, match=said):
        metaeval.measure(text).score([[1, 0], [0, 1]])


def test_large_topics_lose_no_precision():
    counts = np.array([[0, 10**7, 0], [0, 0, 10**7], [0, 0, 0]])
    assert score("Pearson", counts) == pytest.approx(1.0, abs=1e-12)
    assert score("R_s", counts) == pytest.approx(1.0, abs=1e-12)
    assert score("tau_b", counts) == pytest.approx(1.0, abs=1e-12)
