"""One conformance test that every registered measure passes, whoever registered it."""

import numpy as np
import pytest
import scipy.stats

import metaeval
from metaeval.measures.registry import measures

VARIANTS = ["RNOD(distance=gold)", "RNADW(distance=gold)", "kappa(weights=quadratic)", "kappa(weights=nominal)"]
VARIANTS += ["CEM(scale=ORD)", "CEM(scale=ORD, flat=True)", "CEM(scale=ORD, ties=all)", "CEM(scale=INT)"]
VARIANTS += ["Accuracy_within(n=0)", "Rennie_Srebro(thresholds=immediate)", "R_s(constant=1)"]


def of_kind(kind):
    variants = [variant for variant in VARIANTS if metaeval.measure(variant).kind == kind]
    return list(dict.fromkeys([str(m) for m in measures(kind)] + variants))


CLASSIFICATION, QUANTIFICATION = of_kind("classification"), of_kind("quantification")
SHAPE = (7, 5)  # leading axes


def entropy(gold):
    """The most that a run can say about the gold is all of it."""
    return scipy.stats.entropy(gold, base=2, axis=-1)


def untied_share(gold):
    """τ_a divides by all pairs of items; the perfect run orders those of different gold classes. One item: 0."""
    items = gold.sum(axis=-1)
    pairs = np.maximum(items * (items - 1), 1)
    return (items**2 - (gold**2).sum(axis=-1)) / pairs


def one_where_several_classes(gold):
    """A correlation with a gold that does not vary is 0/0 for every run, the perfect one included: 0."""
    return (np.count_nonzero(gold, axis=-1) > 1).astype(float)


BEST_OF_GOLD = {"MI": entropy, "tau_a": untied_share} | dict.fromkeys(
    ("Pearson", "R_s", "tau_b", "Reliability_Sensitivity"), one_where_several_classes
)


def counts_of(n_classes, seed=0, items=12):
    """Random confusion counts with empty gold classes among them, and one-item topics."""
    rng = np.random.default_rng((seed, n_classes))
    shares = rng.dirichlet(np.full(n_classes**2, 0.3), size=SHAPE)
    counts = rng.multinomial(items, shares).reshape(*SHAPE, n_classes, n_classes)
    counts[0] = rng.multinomial(1, shares[0]).reshape(5, n_classes, n_classes)
    return counts


def distributions_of(n_classes, seed=0):
    rng = np.random.default_rng((seed, n_classes))
    estimated, gold = rng.dirichlet(np.full(n_classes, 0.5), size=(2, *SHAPE))
    gold[0] = np.eye(n_classes)[rng.integers(n_classes, size=5)]
    estimated[1] = np.eye(n_classes)[rng.integers(n_classes, size=5)]
    return estimated, gold


def data_for(measure, n_classes, seed=0):
    if measure.kind == "classification":
        return (counts_of(n_classes, seed),)
    return distributions_of(n_classes, seed)


def perfect(measure, data):
    if measure.kind == "classification":
        sizes = data[0].sum(axis=-1)
        return (sizes[..., None] * np.eye(sizes.shape[-1], dtype=int),)
    return data[1], data[1]


@pytest.fixture(params=CLASSIFICATION + QUANTIFICATION)
def measure(request):
    return metaeval.measure(request.param)


@pytest.fixture(params=[2, 3, 5, 11])
def n_classes(request):
    return request.param


def test_the_printed_form_of_a_measure_finds_it_again(measure):
    again = metaeval.measure(str(measure))
    assert str(again) == str(measure)
    assert again == measure


def test_a_measure_says_what_it_is_and_where_it_is_from(measure):
    assert measure.description.endswith((".", "?"))
    assert measure.source
    assert isinstance(measure.higher_is_better, bool)


def test_scores_have_the_leading_axes_and_are_finite_and_within_the_declared_range(measure, n_classes):
    for seed in range(20):
        scores, _ = measure.evaluate(*data_for(measure, n_classes, seed))
        assert scores.shape == SHAPE
        assert np.isfinite(scores).all()
        low, high = measure.range
        assert scores.min() >= low - 1e-12
        assert scores.max() <= high + 1e-12


def test_no_run_scores_better_than_the_perfect_one(measure, n_classes):
    for seed in range(20):
        data = data_for(measure, n_classes, seed)
        scores, _ = measure.evaluate(*data)
        best, _ = measure.evaluate(*perfect(measure, data))
        gain = scores - best if measure.higher_is_better else best - scores
        assert gain.max() <= 1e-12


def test_the_perfect_run_reaches_the_best_end_of_the_range(measure, n_classes):
    data = data_for(measure, n_classes)
    best, _ = measure.evaluate(*perfect(measure, data))
    end = measure.range[1] if measure.higher_is_better else measure.range[0]
    if str(measure) in BEST_OF_GOLD:
        end = BEST_OF_GOLD[str(measure)](data[0].sum(axis=-1))
    np.testing.assert_allclose(best, end, atol=1e-12)


def test_the_measures_whose_best_score_depends_on_the_gold_are_few_and_registered():
    assert set(BEST_OF_GOLD) <= {str(measure) for measure in measures()}


def test_a_batch_scores_as_its_members_do(measure, n_classes):
    data = data_for(measure, n_classes)
    scores, _ = measure.evaluate(*data)
    for index in np.ndindex(SHAPE):
        single, _ = measure.evaluate(*(array[index] for array in data))
        assert single.shape == ()
        assert single == pytest.approx(scores[index], abs=1e-14)


def test_gold_broadcasts_over_runs(n_classes):
    for name in QUANTIFICATION:
        measure = metaeval.measure(name)
        estimated, gold = data_for(measure, n_classes)
        scores, _ = measure.evaluate(estimated, gold[0])
        each = np.stack([measure.evaluate(one, gold[0])[0] for one in estimated])
        np.testing.assert_allclose(scores, each, atol=1e-15)


def test_the_number_of_classes_is_what_the_array_says_not_which_labels_occur(measure):
    """An extra class that never occurs is part of the scale, and must not break anything."""
    data = [
        np.pad(array, [(0, 0)] * (array.ndim - axes) + [(0, 1)] * axes)
        for array, axes in ((array, 2 if measure.kind == "classification" else 1) for array in data_for(measure, 3))
    ]
    scores, _ = measure.evaluate(*data)
    assert np.isfinite(scores).all()


def test_symmetric_measures_do_not_tell_estimate_from_gold(n_classes):
    found = 0
    for measure in measures():
        if not measure.symmetric:
            continue
        found += 1
        data = data_for(measure, n_classes)
        swapped = (data[0].swapaxes(-1, -2),) if measure.kind == "classification" else data[::-1]
        np.testing.assert_allclose(measure.evaluate(*data)[0], measure.evaluate(*swapped)[0], atol=1e-12)
    assert found >= 7


@pytest.mark.parametrize("name", ["CEM_ORD", "MAE_M", "F1_M", "RNOD", "RNOD(distance=gold)", "RNADW(distance=gold)"])
def test_the_measures_that_treat_gold_and_estimate_differently_do_so(name):
    measure = metaeval.measure(name)
    assert not measure.symmetric
    data = data_for(measure, 5)
    swapped = (data[0].swapaxes(-1, -2),) if measure.kind == "classification" else data[::-1]
    assert np.abs(measure.evaluate(*data)[0] - measure.evaluate(*swapped)[0]).max() > 1e-6


def test_scoring_does_not_change_its_input(measure):
    data = tuple(array.astype(np.float64) for array in data_for(measure, 5))
    before = [array.copy() for array in data]
    measure.evaluate(*data)
    for array, copy in zip(data, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_the_decorated_function_stays_a_function_of_plain_arrays():
    from metaeval.measures.agreement import kappa
    from metaeval.measures.quantification import NMD

    assert NMD([1, 0, 0], [0, 0, 1]) == 1.0
    assert kappa([[4, 0], [0, 0]]) == 1.0  # 0/0: the documented value


def test_one_class_is_refused(measure):
    data = ([[3]],) if measure.kind == "classification" else ([1.0], [1.0])
    with pytest.raises(metaeval.MeasureError, match="two classes"):
        measure.score(*data)


def test_undefined_values_are_the_documented_ones_and_are_announced():
    runs = metaeval.ClassificationRuns(
        [[[[4, 0], [0, 0]], [[1, 1], [0, 2]]]], runs=["only"], topics=["one-class", "two"], classes=["no", "yes"]
    )
    for name in ("kappa", "alpha_ORD", "alpha_INT"):
        with pytest.warns(metaeval.errors.UndefinedValueWarning, match="run only on topic one-class"):
            scores = metaeval.score(runs, name)
        assert scores.values[0, 0, 0] == 1.0
        with pytest.warns(metaeval.errors.UndefinedValueWarning):
            metaeval.measure(name).score(runs.counts)
