"""What every registered measure passes, what a newly proposed one must satisfy, and what is seen of a plain function."""

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MeasureError, UndefinedValueWarning
from metaeval.measures.conformance import conformance
from metaeval.measures.registry import is_shipped, measures

VARIANTS = ["RNOD(distance=gold)", "RNADW(distance=gold)", "kappa(weights=quadratic)", "kappa(weights=nominal)"]
VARIANTS += ["CEM(scale=ORD)", "CEM(scale=ORD, flat=True)", "CEM(scale=ORD, ties=all)", "CEM(scale=INT)"]
VARIANTS += ["Accuracy_within(n=0)", "Rennie_Srebro(thresholds=immediate)", "R_s(constant=1)"]
SHIPPED = [str(one) for one in measures() if is_shipped(one)]
CLASSES = (2, 3, 5, 11)
SHAPE = (7, 5)  # leading axes
BEST_OF_GOLD = ("MI", "tau_a", "Pearson", "R_s", "tau_b", "Reliability_Sensitivity")
"""The measures whose score for the perfect run depends on the gold; their oracles know it."""


@pytest.fixture(params=list(dict.fromkeys(SHIPPED + VARIANTS)))
def measure(request):
    return me.measure(request.param)


def data_for(measure, n_classes, seed=0):
    """Random data with empty gold classes, topics of one item and distributions in one class among them."""
    rng = np.random.default_rng((seed, n_classes))
    if measure.kind == "classification":
        shares = rng.dirichlet(np.full(n_classes**2, 0.3), size=SHAPE)
        counts = rng.multinomial(12, shares).reshape(*SHAPE, n_classes, n_classes)
        counts[0] = rng.multinomial(1, shares[0]).reshape(5, n_classes, n_classes)
        return (counts,)
    estimated, gold = rng.dirichlet(np.full(n_classes, 0.5), size=(2, *SHAPE))
    gold[0] = np.eye(n_classes)[rng.integers(n_classes, size=5)]
    estimated[1] = np.eye(n_classes)[rng.integers(n_classes, size=5)]
    return estimated, gold


def perfect(measure, data):
    if measure.kind == "classification":
        sizes = data[0].sum(axis=-1)
        return (sizes[..., None] * np.eye(sizes.shape[-1], dtype=int),)
    return data[1], data[1]


def swapped(measure, data):
    return (data[0].swapaxes(-1, -2),) if measure.kind == "classification" else data[::-1]


def test_a_measure_says_what_it_is_and_conforms_and_its_printed_form_finds_it(measure):
    assert measure.description.endswith((".", "?"))
    assert measure.source
    assert measure.written
    assert isinstance(measure.higher_is_better, bool)
    assert me.measure(str(measure)) == measure
    if str(measure) != "MI":  # how much there is to know depends on the gold
        assert conformance(measure).measure is measure


def test_scores_are_within_the_declared_range_and_none_is_better_than_the_perfect_run(measure):
    low, high = measure.range
    for n_classes in CLASSES:
        for seed in range(6):
            data = data_for(measure, n_classes, seed)
            before = [array.copy() for array in data]
            scores, _ = measure.evaluate(*data)
            assert scores.shape == SHAPE
            assert ((scores >= low - 1e-12) & (scores <= high + 1e-12)).all(), "and they are finite"
            assert all(map(np.array_equal, data, before)), "scoring does not change its input"
            best, _ = measure.evaluate(*perfect(measure, data))
            assert (measure.sign * (scores - best)).max() <= 1e-12
            if str(measure) not in BEST_OF_GOLD:
                np.testing.assert_allclose(best, measure.best, atol=1e-12)


def test_a_batch_scores_as_its_members_do_and_gold_broadcasts_over_runs(measure):
    for n_classes in CLASSES:
        data = data_for(measure, n_classes)
        scores, _ = measure.evaluate(*data)
        for index in np.ndindex(SHAPE):
            single, _ = measure.evaluate(*(array[index] for array in data))
            assert single.shape == ()
            assert single == pytest.approx(scores[index], abs=1e-14)
        if measure.kind == "quantification":
            each = np.stack([measure.evaluate(one, data[1][0])[0] for one in data[0]])
            np.testing.assert_allclose(measure.evaluate(data[0], data[1][0])[0], each, atol=1e-15)


def test_the_number_of_classes_is_the_arrays_and_symmetric_measures_do_not_tell_estimate_from_gold(measure):
    """An extra class that never occurs is part of the scale, and must not break anything; one class is none."""
    axes = 2 if measure.kind == "classification" else 1
    data = [np.pad(one, [(0, 0)] * (one.ndim - axes) + [(0, 1)] * axes) for one in data_for(measure, 3)]
    assert np.isfinite(measure.evaluate(*data)[0]).all()
    with pytest.raises(MeasureError, match="two classes"):
        measure.score(*([[3]],) if axes == 2 else ([1.0], [1.0]))
    gaps = []
    for n_classes in CLASSES:
        data = data_for(measure, n_classes)
        gaps.append(np.abs(measure.evaluate(*data)[0] - measure.evaluate(*swapped(measure, data))[0]).max())
    if measure.symmetric:
        assert max(gaps) <= 1e-12
    elif str(measure) != "RNADW":  # symmetric with its default distance only
        assert max(gaps) > 1e-6


@pytest.mark.parametrize("name", ["kappa", "alpha_ORD", "alpha_INT", "r_int"])
def test_undefined_values_are_the_documented_ones_and_are_announced(name):
    counts = [[[[1, 0], [0, 0]], [[1, 1], [0, 2]]]]
    runs = me.ClassificationRuns(counts, runs=["only"], topics=["one-item", "two"], classes=["no", "yes"])
    with pytest.warns(UndefinedValueWarning, match="run only on topic one-item"):
        assert me.score(runs, name).values[0, 0, 0] == 1.0
    with pytest.warns(UndefinedValueWarning, match=name):
        me.measure(name).score(runs.counts)


def measure_of(formula, kind="quantification", better=False, span=(0, 1)):
    return me.Measure("own", better, span, kind=kind, formula=formula)


def chebyshev(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (measure_of(chebyshev, better=True), "better than the perfect run's 0, higher being better; is higher really"),
        (measure_of(lambda p, q: p[..., 0] * 0 + 0.5), "gives 0.5 to every run"),
        (measure_of(lambda p, q: 0.25), "gives 0.25 to every topic"),
        (measure_of(lambda c: c.sum((-2, -1)), kind="classification", span=(0, 9)), r"counts \[\["),
        (me.Measure("own"), "known by its scores only"),
    ],
)
def test_a_measure_that_does_not_satisfy_its_declaration_is_refused_with_an_example(measure, message):
    with pytest.raises(MeasureError, match=message):
        conformance(measure)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"kind": "regression"}, "own: kind is classification or quantification, not 'regression'"),
        ({"higher_is_better": None}, "own: higher_is_better is True or False, not None"),
        ({"range": (1, 0)}, r"own: the range \(1, 0\) is empty"),
        ({"name": "own(a=1)"}, "not a measure's name: leave the parameters to the function"),
        ({"kind": "classification"}, r"own\(estimated, gold\) takes two arrays.* write own\(counts\)"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(declared, message):
    def own(estimated, gold):
        return chebyshev(estimated, gold)

    given = {"kind": "quantification", "higher_is_better": False, "range": (0, 1)}
    with pytest.raises(MeasureError, match=message):
        me.register_measure(**(given | declared))(own)
