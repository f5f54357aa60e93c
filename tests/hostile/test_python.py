"""Python objects, odd but legal or illegal, through constructors and analyses: right numbers, or one sentence."""

import datetime
import decimal
import fractions
import itertools
import math

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from tests.hostile.case import Refused, by_day_and_night, call, chance, result_of, try_inputs
from tests.hostile.test_metamorphic import QUESTIONS

DAY, MOMENT = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
RIGHT_LABELS = {
    "text": ["a", "b", "c"],
    "whole numbers": [3, 1, 2],
    "numbers as text": ["3", "1", "02"],
    "numpy": [np.str_("x"), np.str_("y"), np.str_("z")],
    "long": ["x" * 5000, "y" * 5000, "z" * 5000],
    "unicode": ["é", "e\u0301", "Δ"],
}
LABELS = {  # the others have to be refused, or kept apart
    **RIGHT_LABELS,
    "control": ["\x1b[31m", "\u202e", "a\nb"],
    "surrogates": ["\ud800", "b", "c"],
    "equal numbers": [1, 1.0, True],
    "text and number": ["1", 1, "2"],
    "none": ["a", None, "c"],
    "nan": ["a", math.nan, "c"],
    "empty": ["a", "", "c"],
    "bytes": [b"a", "a", "b"],
    "tuples": [("a",), ("b",), "('a',)"],
    "dates": [DAY, MOMENT, "2020-01-01"],
    "nat": [pd.NaT, "b", "c"],
}
NUMBERS = {
    "floats": lambda n: np.linspace(0, 1, n).tolist(),
    "whole": lambda n: list(range(n)),
    "decimals": lambda n: [decimal.Decimal(k) / 8 for k in range(n)],
    "numpy": lambda n: [np.float32(k / 8) for k in range(n)],
    "huge": lambda n: [1e308] * n,
    "tiny": lambda n: [5e-324] * n,
}
ARGUABLE = {  # whether these are numbers can be argued; if they are taken, each for what it says
    "fractions": lambda n: [fractions.Fraction(k, 4) for k in range(n)],
    "truths": lambda n: [k % 2 == 0 for k in range(n)],
    "text": lambda n: [str(k) for k in range(n)],
    "bytes": lambda n: [b"1"] * n,
    "categories": lambda n: pd.Categorical([str(k) for k in range(n)]),
}
NO_NUMBERS = {
    "complex": lambda n: [complex(k, 1) for k in range(n)],
    "complex among floats": lambda n: [*map(float, range(n - 1)), 1 + 2j],
    "dates": lambda n: list(pd.date_range("2020-01-01", periods=n)),
    "durations": lambda n: list(pd.to_timedelta(range(n), unit="s")),
    "date among floats": lambda n: [*map(float, range(n - 1)), MOMENT],
    "words": lambda n: ["high"] * n,
    "none": lambda n: [None] * n,
    "infinite": lambda n: [math.inf, *range(n - 1)],
    "lists": lambda n: [[k] for k in range(n)],
    "too large": lambda n: [10**400] * n,
}
GAP = {"nan": lambda n: [math.nan, *range(n - 1)]}
SCORES = {**NUMBERS, **ARGUABLE, **NO_NUMBERS, **GAP}


def make_from_frame(rng, folder):
    """Frames with labels and scores of every type."""
    kinds = [rng.choice(list(LABELS)) if chance(rng, 0.4) else "text" for _ in range(3)]
    axes = [LABELS[kind][: rng.randint(1, 3) if kind in RIGHT_LABELS else 3] for kind in kinds]
    keys = list(itertools.product(*axes))
    kind = rng.choice(list(SCORES)) if chance(rng, 0.6) else "floats"
    scores = SCORES[kind](len(keys))
    columns = {
        name: pd.Series([key[axis] for key in keys], dtype=object)
        for axis, name in enumerate(("run", "topic", "measure"))
    }
    typed = kind == "categories" or (kind in ("dates", "durations", "complex") and rng.choice([True, False]))
    columns["score"] = pd.Series(scores, dtype=None if typed else object)
    frame = pd.DataFrame(columns).iloc[rng.sample(range(len(keys)), len(keys))]
    indexes = [[7] * len(frame), [None] * len(frame), pd.MultiIndex.from_tuples([(1, k) for k in range(len(frame))])]
    frame.index = rng.choice([frame.index, frame.index, *indexes])
    before, missing = frame.copy(deep=True), rng.choice(["raise", "raise", "drop-topic"])
    found, said = call(me.io.from_frame, frame, missing=missing)
    pd.testing.assert_frame_equal(frame, before)
    if found is None:
        assert not (set(kinds) <= set(RIGHT_LABELS) and kind in NUMBERS), (
            f"a right frame is refused: {kinds}, {kind}, {said}"
        )
        raise Refused
    for labels, kept in zip(axes, (found.runs, found.topics, found.measures), strict=True):
        assert len(kept) == len(labels) or missing != "raise", f"labels are merged or lost: {labels} became {kept}"
    assert kind not in NO_NUMBERS, "scores that are no numbers are taken"
    for key, score in zip(keys, scores, strict=True) if kind not in GAP else ():
        run, topic, measure = map(str, key)
        assert found.sel(runs=[run], topics=[topic], measures=[measure]).values.item() == float(score)


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


def odd_values(rng):
    """Scores with up to three oddities: constants, ties, copies, mirrors, huge and tiny numbers, offsets."""
    shape = (rng.randint(2, 7), rng.randint(2, 9), rng.randint(1, 4))
    values = np.random.default_rng(rng.getrandbits(32)).random(shape)
    plain = values.copy()
    for _ in range(rng.randint(0, 3)):
        what, m = rng.randrange(11), rng.randrange(shape[2])
        column, first = values[..., m], values[..., 0].copy()
        if what < 7:
            power = 2.0 ** rng.choice([-1060, -540, -300, 300, 520, 1000])
            half = np.nextafter(0.5, 1) - (column > 0.5) * 2.0**-53
            with np.errstate(over="ignore"):
                column[...] = [0.25 + 0 * first, first, 1 - first, column * power, column + 1e9, half, -column][what]
        elif what == 7:
            values = np.round(values, 1)
        elif what == 8:
            values[0] = values[-1]
        elif what == 9:
            values[:, 0] = 0
        else:
            values[0, 0, m] = rng.choice([1e13, 1e300, -1e13])
    return values if np.isfinite(values).all() else plain


def analyse(rng, folder):
    """Analyses of odd but legal scores: a sentence, or numbers that are possible; τ and means as counted."""
    values = odd_values(rng)
    measures = [me.Measure(f"m{k}", rng.choice([True, False])) for k in range(values.shape[2])]
    runs = [f"r{k}" for k in range(len(values))]
    scores = me.Scores(values, runs=runs, topics=range(values.shape[1]), measures=measures)
    name = rng.choice(list(QUESTIONS))
    result = result_of(QUESTIONS[name](rng), scores)
    frame = result_of(result.to_frame)
    for show in (result.to_text, result.to_latex, result.to_dict):
        call(show)
    assert name != "power" or result.run_pairs()["p_value"].between(0, 1).all(), "p-values outside of 0 to 1"
    if name == "similarity" and "tau_a" in str(result.signature):
        check_tau(values, measures, frame)


def check_tau(values, measures, frame):
    """Where no two means are close, τ_a is what counting pairs of exact means gives."""
    means = []
    for m in range(len(measures)):
        means.append([sum(map(fractions.Fraction, row)) / len(row) for row in values[..., m].tolist()])
        ordered = sorted(means[-1])
        if any(b != a and b - a <= max(abs(a), abs(b)) / 10**9 for a, b in itertools.pairwise(ordered)):
            return
    pairs = list(itertools.combinations(range(len(values)), 2))
    signs = np.array([[(mean[i] > mean[j]) - (mean[i] < mean[j]) for i, j in pairs] for mean in means])
    signs *= np.array([[1 if one.higher_is_better else -1] for one in measures])
    for i, j in itertools.permutations(range(len(measures)), 2):
        tau = frame.loc[str(measures[i]), str(measures[j])]
        assert tau == pytest.approx((signs[i] * signs[j]).mean(), abs=1e-9), "τ is not that of the exact means"


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


@by_day_and_night("numbers", 40, 100)
@pytest.mark.parametrize("part", [make_from_frame, analyse])
def test_odd_objects_give_right_numbers_or_one_sentence(part, numbers, tmp_path):
    try_inputs(part, numbers, tmp_path, seconds=60)


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_odd_options_are_taken_or_refused_in_a_sentence(function):
    for name, value in itertools.product(CALLS[function], ODD):
        if value != 10**30 or name != "n_trials":  # as many would be tried
            call(function, SMALL, **{**CALLS[function], name: value})
    for subject in (None, VALUES, "scores", 3) if function is not me.Scores.sel else ():
        assert call(function, subject, **CALLS[function])[0] is None
