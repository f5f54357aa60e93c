"""Python objects, odd but legal or illegal, through constructors and analyses: right numbers, or one sentence."""

import datetime
import itertools
import math

import numpy as np
import pytest

import metaeval as me
from tests.hostile.case import call

MOMENT = datetime.datetime(2020, 1, 1)
ARRAYS = {
    "floats": lambda plain: plain,
    "float32": lambda plain: plain.astype(np.float32),
    "Fortran": np.asfortranarray,
    "negative strides": lambda plain: plain[::-1],
    "lists": lambda plain: plain.tolist(),
    "whole": lambda plain: (plain * 9).astype(int),
    "objects": lambda plain: plain.astype(object),
    "text": lambda plain: plain.astype(str),
    "truths": lambda plain: plain > 0.5,
}
NO_ARRAYS = {
    "complex": lambda plain: plain + 1j,
    "complex without imaginary part": lambda plain: plain + 0j,
    "dates": lambda plain: np.zeros(plain.shape, "datetime64[s]"),
    "durations": lambda plain: np.zeros(plain.shape, "timedelta64[s]"),
    "masked": lambda plain: np.ma.masked_array(plain, mask=np.ones(plain.shape, bool)),
    "object complex": lambda plain: (plain + 1j).astype(object),
    "object dates": lambda plain: np.full(plain.shape, MOMENT, dtype=object),
    "nan": lambda plain: np.where(plain == plain.flat[0], np.nan, plain),
    "infinite": lambda plain: np.where(plain == plain.flat[0], -np.inf, plain),
    "wrong shape": lambda plain: plain[..., None],
    "ragged": lambda plain: [[[1.0], [2.0, 3.0]]],
    "none": lambda plain: None,
    "records": lambda plain: np.zeros(plain.shape, dtype=[("x", float)]),
}


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 2, 2)], ids=str)
@pytest.mark.parametrize("kind", [*ARRAYS, *NO_ARRAYS])
def test_an_array_of_any_type_is_scores_or_refused(kind, shape):
    given = {**ARRAYS, **NO_ARRAYS}[kind](np.random.default_rng(3).random(shape))
    labels = {"runs": list("abc")[: shape[0]], "topics": range(shape[1]), "measures": ["AP", "RR"][: shape[2]]}
    found, _ = call(me.Scores, given, **labels)
    assert found is not None or kind not in ARRAYS or kind in ("text", "truths")
    assert found is None or (kind in ARRAYS and np.array_equal(found.values, np.asarray(given, dtype=float)))


VALUES = np.random.default_rng(3).random((4, 8, 2))
SMALL = me.Scores(VALUES, runs=list("abcd"), topics=range(8), measures=["AP", "RR"])
ODD = [
    None, 0, 1, -1, 2, 3.5, math.nan, math.inf, "x", "", b"x", True, [], {}, (1, 2), 10**30, np.int64(2), np.float64(0.3),
    object(), "tau_b", 0.05,
]  # fmt: skip
CALLS = {
    me.ranking_similarity: {"tau": "tau_b", "n_bootstrap": 3, "confidence": 0.9, "seed": 0},
    me.split_half_consistency: {
        "n_trials": 5, "n_permutations": 9, "tau": "tau_a", "alpha": 0.05, "seed": 0, "n_jobs": 1, "size": None,
    },
    me.discriminative_power: {
        "n_permutations": 9, "alpha": 0.05, "seed": 0, "test": "max-t", "correction": "auto", "p_add_one": True, "n_jobs": 1,
    },
    me.coverage: {"reference": ["AP"], "n_bootstrap": 3, "confidence": 0.9, "seed": 0},
    me.sample_size: {"n_trials": 3, "sizes": [3], "confidence": 0.9, "seed": 0},
    me.Scores.sel: {"runs": ["a", "b"], "topics": None, "measures": ["AP"]},
}  # fmt: skip


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_odd_options_are_taken_or_refused_in_a_sentence(function):
    for name, value in itertools.product(CALLS[function], ODD):
        if value != 10**30 or name != "n_trials":  # as many would be tried
            call(function, SMALL, **{**CALLS[function], name: value})
    for subject in (None, VALUES, "scores", 3) if function is not me.Scores.sel else ():
        assert call(function, subject, **CALLS[function])[0] is None
