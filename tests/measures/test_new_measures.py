"""What a newly proposed measure must satisfy, and what is seen of a plain function."""

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import DirectionWarning, MeasureError
from metaeval.measures.conformance import conformance, measure_of_function
from metaeval.measures.registry import is_shipped


def measure_of(formula, kind="quantification", better=False, span=(0, 1)):
    return me.Measure("own", better, span, kind=kind, formula=formula)


def chebyshev(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)


class TestConformance:
    def test_every_registered_measure_passes(self):
        for measure in filter(is_shipped, me.measures.measures()):  # other tests register their own
            if measure.name != "MI":  # how much there is to know depends on the gold
                assert conformance(measure).measure is measure

    @pytest.mark.parametrize(
        ("measure", "message"),
        [
            (measure_of(lambda p, q: p[..., 0] * np.nan), "own gives nan for estimated .* not a finite number"),
            (measure_of(lambda p, q: 3 * np.abs(p - q).sum(-1)), r"outside its declared range \[0, 1\]"),
            (
                measure_of(chebyshev, better=True),
                "better than the perfect run's 0, higher being better; is higher really",
            ),
            (measure_of(lambda p, q: p - q), r"returned shape \(5,\) for one topic of shape \(5,\)"),
            (measure_of(lambda p, q: p[..., 0] * 0 + 0.5), "gives 0.5 to every run"),
            (measure_of(lambda p, q: 1 / 0), "ZeroDivisionError"),
            (measure_of(lambda p, q: "high"), "own cannot be computed"),
            (measure_of(lambda c: c.sum((-2, -1)), kind="classification", span=(0, 9)), r"counts \[\["),
            (me.Measure("own"), "known by its scores only"),
        ],
    )
    def test_a_measure_that_does_not_satisfy_its_declaration_is_refused_with_an_example(self, measure, message):
        with pytest.raises(MeasureError, match=message):
            conformance(measure)

    def test_a_function_of_one_topic_is_called_topic_by_topic_and_that_is_said(self):
        found = conformance(measure_of(lambda p, q: max(abs(a - b) for a, b in zip(p, q, strict=True))))
        assert "one topic at a time" in found.notes[0]
        p, q = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 4))
        assert np.allclose(found.measure.score(p, q), chebyshev(p, q))

    def test_a_batch_that_differs_from_its_members_is_not_trusted(self):
        """max() over everything has the right shape nowhere; a mean over topics has the right value nowhere."""
        found = conformance(
            measure_of(lambda p, q: np.abs(p - q).max(axis=-1) * np.ones(p.shape[:-1]).mean() + 0 * p.sum())
        )
        assert found.notes == ()
        blurred = measure_of(lambda p, q: np.abs(p - q).max(axis=-1) * 0 + np.abs(p - q).max(axis=-1).mean())
        with pytest.raises(MeasureError, match=r"own gives 0\.\d+ alone and 0\.\d+ with others .* by itself"):
            conformance(blurred)

    def test_kind_and_direction_of_a_plain_function_are_seen(self):
        measure, note = measure_of_function(chebyshev)
        assert (measure.kind, measure.higher_is_better) == ("quantification", False)
        assert "lower is better" in note
        measure, _ = measure_of_function(lambda counts: np.trace(counts) / counts.sum(), "acc")
        assert (measure.kind, measure.higher_is_better) == ("classification", True)
        for function, message in (
            (lambda: 1, "takes 0 arrays"),
            (lambda p, q: p[0], "direction cannot be seen"),
        ):
            with pytest.raises(MeasureError, match=message):
                measure_of_function(function, "f")

    def test_a_plain_function_of_one_topic_at_a_time_takes_leading_axes_as_a_measure(self):
        measure, _ = measure_of_function(lambda p, q: max(abs(a - b) for a, b in zip(p, q, strict=True)), "gap")
        p, q = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 4))
        assert np.allclose(measure.score(p, q), chebyshev(p, q))
        assert "one topic at a time" in conformance(measure).notes[0]

    def test_a_direction_that_nobody_stated_is_assumed_to_be_higher(self):
        closeness = me.Measure("own", kind="quantification", formula=lambda p, q: 1 - chebyshev(p, q))
        with pytest.warns(DirectionWarning, match="scores of own are assumed"):
            assert conformance(closeness).measure is closeness
        distance = me.Measure("own", kind="quantification", formula=chebyshev)
        with (
            pytest.warns(DirectionWarning),
            pytest.raises(MeasureError, match=r"higher being better \(assumed: higher is better\); is higher really"),
        ):
            conformance(distance)
