"""Python objects, odd but legal or illegal, through constructors and analyses: right numbers, or one sentence."""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
import math

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from tests.hostile.case import Case, Finding, Refused, run_cases
from tests.hostile.test_metamorphic import QUESTIONS
from tests.hostile.truth import statistics as truth

LABELS = {
    "text": ["a", "b", "c"],
    "whole numbers": [3, 1, 2],
    "numbers as text": ["3", "1", "02"],
    "numpy": [np.str_("x"), np.str_("y"), np.str_("z")],
    "long": ["x" * 5000, "y" * 5000, "z" * 5000],
    "unicode": ["é", "e\u0301", "Δ"],
    "control": ["\x1b[31m", "\u202e", "a\nb"],
    "surrogates": ["\ud800", "b", "c"],
    # What has to be refused, or kept apart.
    "equal numbers": [1, 1.0, True],
    "text and number": ["1", 1, "2"],
    "none": ["a", None, "c"],
    "nan": ["a", float("nan"), "c"],
    "empty": ["a", "", "c"],
    "bytes": [b"a", "a", "b"],
    "tuples": [("a",), ("b",), "('a',)"],
    "dates": [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), "2020-01-01"],
    "nat": [pd.NaT, "b", "c"],
}
PLAIN = {"text", "whole numbers", "numbers as text", "numpy", "long", "unicode", "control", "surrogates"}

SCORES = {
    "floats": lambda n: np.linspace(0, 1, n).tolist(),
    "whole": lambda n: list(range(n)),
    "decimals": lambda n: [decimal.Decimal(k) / 8 for k in range(n)],
    "fractions": lambda n: [fractions.Fraction(k, 4) for k in range(n)],
    "numpy": lambda n: [np.float32(k / 8) for k in range(n)],
    "huge": lambda n: [1e308] * n,
    "tiny": lambda n: [5e-324] * n,
    # No numbers.
    "complex": lambda n: [complex(k, 1) for k in range(n)],
    "complex among floats": lambda n: [*map(float, range(n - 1)), 1 + 2j],
    "dates": lambda n: list(pd.date_range("2020-01-01", periods=n)),
    "durations": lambda n: list(pd.to_timedelta(range(n), unit="s")),
    "date among floats": lambda n: [*map(float, range(n - 1)), datetime.datetime(2020, 1, 1)],
    "truths": lambda n: [k % 2 == 0 for k in range(n)],
    "text": lambda n: [str(k) for k in range(n)],
    "words": lambda n: ["high"] * n,
    "none": lambda n: [None] * n,
    "nan": lambda n: [math.nan, *range(n - 1)],
    "infinite": lambda n: [math.inf, *range(n - 1)],
    "lists": lambda n: [[k] for k in range(n)],
    "too large": lambda n: [10**400] * n,
    "bytes": lambda n: [b"1"] * n,
    "categories": lambda n: pd.Categorical([str(k) for k in range(n)]),
}
NUMBERS = {"floats", "whole", "decimals", "numpy", "huge", "tiny"}
MAYBE = {"fractions", "text", "truths", "categories", "bytes"}
"""Whether these are numbers can be argued; if they are taken, each for what it says."""


def make_from_frame(case):
    """Frames with labels and scores of every type."""
    rng = case.rng
    kinds = [rng.choice(list(LABELS)) if rng.random() < 0.4 else "text" for _ in range(3)]
    axes = [LABELS[kind][: rng.randint(1, 3)] if kind in PLAIN else LABELS[kind] for kind in kinds]
    keys = [(r, t, m) for r in axes[0] for t in axes[1] for m in axes[2]]
    kind = rng.choice(list(SCORES)) if rng.random() < 0.6 else "floats"
    scores = SCORES[kind](len(keys))
    columns = {name: _series([key[axis] for key in keys]) for axis, name in enumerate(("run", "topic", "measure"))}
    columns["score"] = (
        scores
        if kind == "categories"
        else _series(scores, kind in ("dates", "durations", "complex") and rng.random() < 0.5)
    )
    order = rng.sample(range(len(keys)), len(keys)) if rng.random() < 0.3 else list(range(len(keys)))
    frame = pd.DataFrame(columns).iloc[order]
    if rng.random() < 0.2:
        frame.index = rng.choice(
            [[7] * len(frame), [None] * len(frame), pd.MultiIndex.from_tuples([(1, k) for k in range(len(frame))])]
        )
    before = frame.copy(deep=True)
    missing = rng.choice(["raise", "raise", "drop-topic"])
    found, said = case.call(me.io.from_frame, frame, missing=missing)
    what = f"labels {kinds}, scores {kind}"
    pd.testing.assert_frame_equal(frame, before)
    right = all(one in PLAIN for one in kinds)
    if found is None:
        if right and kind in NUMBERS and "surrogates" not in kinds and "control" not in kinds:
            raise Finding("a right frame is refused", f"{what}: {said[0]}")
        raise Refused
    _no_merging(found, axes, what, missing)
    if kind not in NUMBERS | MAYBE | {"nan"}:
        raise Finding(f"scores that are no numbers are taken: {kind}", what)
    if kind != "nan":
        expected = {tuple(map(str, key)): float(score) for key, score in zip(keys, scores, strict=True)}
        for (run, topic, measure), value in expected.items():
            if value != found.sel(runs=[run], topics=[topic], measures=[measure]).values.item():
                raise Finding("another score than the frame holds", what)
    return


def _series(values, typed=False):
    return pd.Series(values) if typed else pd.Series(values, dtype=object)


def _no_merging(found, axes, what, missing):
    for labels, kept in zip(axes, (found.runs, found.topics, found.measures), strict=True):
        if len(kept) != len(labels) and missing == "raise":
            raise Finding("labels are merged or lost", f"{what}: {labels} became {list(map(str, kept))}")


def make_scores(case):
    """Arrays of every type and shape through the constructor."""
    rng = case.rng
    shape = (rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 2))
    plain = np.array([rng.random() for _ in range(math.prod(shape))]).reshape(shape)
    kinds = {
        "floats": lambda: plain,
        "float32": lambda: plain.astype(np.float32),
        "Fortran": lambda: np.asfortranarray(plain),
        "negative strides": lambda: plain[::-1],
        "lists": plain.tolist,
        "whole": lambda: (plain * 9).astype(int),
        "complex": lambda: plain + 1j,
        "complex without imaginary part": lambda: plain + 0j,
        "dates": lambda: np.zeros(shape, "datetime64[s]"),
        "durations": lambda: np.zeros(shape, "timedelta64[s]"),
        "masked": lambda: np.ma.masked_array(plain, mask=np.ones(shape, bool)),
        "text": lambda: plain.astype(str),
        "objects": lambda: plain.astype(object),
        "object complex": lambda: (plain + 1j).astype(object),
        "object dates": lambda: np.full(shape, datetime.datetime(2020, 1, 1), dtype=object),
        "nan": lambda: np.where(plain == plain.flat[0], np.nan, plain),
        "infinite": lambda: np.where(plain == plain.flat[0], -np.inf, plain),
        "wrong shape": lambda: plain[..., None],
        "ragged": lambda: [[[1.0], [2.0, 3.0]]],
        "none": lambda: None,
        "truths": lambda: plain > 0.5,
        "records": lambda: np.zeros(shape, dtype=[("x", float)]),
    }
    legal = {"floats", "float32", "Fortran", "negative strides", "lists", "whole", "objects"}
    kind = rng.choice(list(kinds))
    given = kinds[kind]()
    labels = {
        "runs": [f"r{k}" for k in range(shape[0])],
        "topics": range(shape[1]),
        "measures": ["AP", "RR"][: shape[2]],
    }
    found, said = case.call(me.Scores, given, **labels)
    if found is None:
        if kind in legal:
            raise Finding("right values are refused", f"{kind}: {said[0]}")
        raise Refused
    if kind not in legal | {"text", "truths"}:
        raise Finding(f"values that are no scores are taken: {kind}")
    if not np.array_equal(found.values, np.asarray(given, dtype=float)):
        raise Finding("other values than were given", kind)
    return


def _odd_values(rng):
    shape = (rng.randint(2, 7), rng.randint(2, 9), rng.randint(1, 4))
    generator = np.random.default_rng(rng.getrandbits(32))
    values = generator.random(shape)
    for _ in range(rng.randint(0, 3)):
        what, m = rng.randrange(11), rng.randrange(shape[2])
        if what == 0:
            values[..., m] = 0.25
        elif what == 1:
            values = np.round(values, 1)
        elif what == 2:
            values[..., m] = values[..., 0]
        elif what == 3:
            values[..., m] = 1 - values[..., 0]
        elif what == 4:
            values[0] = values[-1]
        elif what == 5:
            values[:, 0] = 0
        elif what == 6:
            values[..., m] *= 2.0 ** rng.choice([-1060, -540, -300, 300, 520, 1000])
        elif what == 7:
            values[0, 0, m] = rng.choice([1e13, 1e300, -1e13])
        elif what == 8:
            values[..., m] += 1e9
        elif what == 9:
            values[..., m] = np.nextafter(0.5, 1, dtype=float) - (values[..., m] > 0.5) * 2.0**-53
        else:
            values[..., m] = -values[..., m]
    return values if np.isfinite(values).all() else generator.random(shape)


def analyse(case):
    """Analyses of odd but legal scores: a sentence, or numbers that are possible; τ and means as counted."""
    rng = case.rng
    values = _odd_values(rng)
    measures = [me.Measure(f"m{k}", rng.random() < 0.5) for k in range(values.shape[2])]
    runs = [f"r{k}" for k in range(len(values))]
    scores = me.Scores(values, runs=runs, topics=range(values.shape[1]), measures=measures)
    question = rng.choice(list(QUESTIONS))
    ask = QUESTIONS[question](rng)
    result = case.result_of(lambda: ask(scores))
    frame = case.result_of(result.to_frame)
    for show in (result.to_text, result.to_latex, result.to_dict):
        case.call(show)
    if question == "power" and not result.run_pairs()["p_value"].between(0, 1).all():
        raise Finding(f"p-values outside of 0 to 1: {result.signature}")
    if question == "similarity":
        check_tau(values, measures, frame, result)


def check_tau(values, measures, frame, found):
    """Where no two means are close, τ_a is what counting pairs of exact means gives."""
    if "tau_a" not in str(found.signature):
        return
    with np.errstate(over="ignore"):
        means = [[truth.mean(row.tolist()) for row in values[..., m]] for m in range(values.shape[2])]
    for column in means:
        ordered = sorted(column)
        if any(b != a and b - a <= 1e-9 * max(abs(a), abs(b)) for a, b in itertools.pairwise(ordered)):
            return
        if not all(map(math.isfinite, ordered)):
            return
    for i, one in enumerate(measures):
        for j, two in enumerate(measures):
            sign = 1 if one.higher_is_better == two.higher_is_better else -1
            if i != j and abs(frame.loc[str(one), str(two)] - sign * truth.tau_a(means[i], means[j])) > 1e-9:
                raise Finding("τ is not that of the exact means", f"{means[i]} and {means[j]}"[:200])


def vary_options(case):
    """Options of analyses, right and wrong, by name."""
    rng = case.rng
    values = np.random.default_rng(3).random((4, 8, 2))
    scores = me.Scores(values, runs=list("abcd"), topics=range(8), measures=["AP", "RR"])
    odd = [
        None, 0, 1, -1, 2, 3.5, math.nan, math.inf, "x", "", b"x", True, [], {}, (1, 2), 10**30, np.int64(2),
        np.float64(0.3), object(), "tau_b", 0.05,

    ]  # fmt: skip
    calls = {
        "similarity": (me.ranking_similarity, ["tau", "n_bootstrap", "confidence", "seed"], {"n_bootstrap": 3}),
        "consistency": (
            me.split_half_consistency,
            ["tau", "n_trials", "n_permutations", "alpha", "seed", "n_jobs", "size"],
            {"n_trials": 5, "n_permutations": 9},
        ),
        "power": (
            me.discriminative_power,
            ["n_permutations", "alpha", "seed", "test", "correction", "p_add_one", "n_jobs"],
            {"n_permutations": 9},
        ),
        "coverage": (
            me.coverage,
            ["reference", "n_bootstrap", "confidence", "seed"],
            {"reference": ["AP"], "n_bootstrap": 3},
        ),
        "sample size": (
            me.sample_size,
            ["n_trials", "sizes", "confidence", "seed"],
            {"n_trials": 3},
        ),
        "select": (scores.sel.__func__, ["runs", "topics", "measures"], {}),
    }
    function, names, options = calls[rng.choice(list(calls))]
    name, value = rng.choice(names), rng.choice(odd)
    if isinstance(value, int) and value == 10**30 and name == "n_trials":
        raise Refused
    given = {**options, name: value}
    subject = scores if rng.random() < 0.9 else rng.choice([None, values, "scores", 3])
    if function is scores.sel.__func__:
        subject = scores
    try:
        case.result_of(function, subject, **given)
    except Finding as finding:
        raise Finding(f"{function.__name__}({name}={value!r}): {finding}") from None


PARTS = {make_from_frame: 100, make_scores: 70, analyse: 60, vary_options: 80}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_odd_objects_give_right_numbers_or_one_sentence(part, tmp_path):
    run_cases(part, PARTS[part], tmp_path, seconds=60)


NO_SCORES = {
    "dates": pd.date_range("2020-01-01", periods=3),
    "durations": pd.to_timedelta([1, 2, 3], unit="s"),
    "a date among floats": pd.Series([0.1, datetime.datetime(2020, 1, 1), 0.2], dtype=object),
    "complex numbers": pd.Series([1j, 1, 2]),
    "a complex number among floats": pd.Series([0.1, 1 + 2j, 0.2], dtype=object),
}


@pytest.mark.parametrize("what", NO_SCORES)
def test_what_is_no_score_is_refused(what):
    frame = pd.DataFrame({"run": list("abc"), "topic": "t", "measure": "AP", "score": NO_SCORES[what]})
    with pytest.raises(me.DataError):
        me.io.from_frame(frame)


@pytest.mark.parametrize("labels", [[1, 1.0, True], [1, "1", 2], [0, False, "x"], [1, True, 2]], ids=str)
@pytest.mark.parametrize("missing", ["raise", "worst"])
def test_labels_that_are_equal_to_python_are_not_merged(labels, missing):
    runs = pd.Series(labels, dtype=object)
    frame = pd.DataFrame({"run": runs, "topic": ["t", "t", "t"], "measure": "AP", "score": [0.1, 0.2, 0.3]})
    scores, _ = Case("labels", 0, None).call(me.io.from_frame, frame, missing=missing)
    assert scores is None or len(scores.runs) == 3


def two_collections(runs, collection="B"):
    values = np.random.default_rng(1).random((5, 9, 2)) + np.linspace(0, 0.4, 5)[:, None, None]
    options = {"topics": range(9), "measures": ["AP", "RR"]}
    return me.Scores(values, runs=list("abcde"), collection="A", **options), me.Scores(
        values, runs=runs, collection=collection, **options
    )


def test_runs_that_only_one_collection_has_are_named_or_refused():
    result, notes = Case("robustness", 0, None).call(me.robustness, list(two_collections(list("abcxy"))))
    assert result is None or any("run" in note for note in notes) or "3 shared" in result.to_text()


def test_the_same_scores_under_two_names_do_not_count_twice_in_silence():
    case, same = Case("twice", 0, None), two_collections(list("abcde"))
    powers = [case.call(me.discriminative_power, scores, n_permutations=50)[0] for scores in same]
    for function, arguments in ((me.pooled_discriminative_power, powers), (me.robustness, list(same))):
        result, notes = case.call(function, arguments)
        assert result is None or notes
