"""Measures of users: names, files, functions and labels are one door; what is no measure is refused and changes nothing."""

import os
import random
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MeasureError, MetaevalWarning
from metaeval.measures.registry import _MEASURES, is_shipped
from metaeval.measures.resolve import measure, resolve_measures

OWN = """
import os, random, sys, time, warnings
import numpy as np
import metaeval
calls = [0]
@metaeval.register_measure(kind="quantification", higher_is_better=False, range=(0, 1), label="Gap", source="ours",
                           undefined=0.5)
def gap(estimated, gold, *, power=1):
    "Largest difference."
    d = np.abs(estimated - gold).max(axis=-1)
    {body}
    return d**power
"""
PLAIN = """
import numpy as np
print("the file was run")
def gap(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)
def unnamed(a, b):
    return gap(a, b)
def accuracy(counts):
    return np.trace(counts) / counts.sum()
not_a_measure = 3
"""
quiet = pytest.mark.filterwarnings("ignore:.*not decorated")


def gap(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)


def scores_of(measure):
    return me.score(RUNS, measure).values[..., 0]


rng = np.random.default_rng(0)
GOLD, ESTIMATED = rng.dirichlet(np.ones(4), 7), rng.dirichlet(np.ones(4), (3, 7))
RUNS = me.QuantificationRuns(ESTIMATED, GOLD, runs=list("abc"), topics=range(7), classes=range(4))
GAP = gap(ESTIMATED, GOLD)


@pytest.fixture(autouse=True)
def known():
    """The registered measures: what a test adds goes with it."""
    with mock.patch.dict(_MEASURES) as known:
        yield known


@pytest.fixture
def write(tmp_path):
    def write(body="pass", path="own.py"):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(OWN.format(body=body))
        return f"{file}:gap"

    return write


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLAIN)
    return path


@pytest.mark.parametrize(
    ("name", "higher", "assumed"),
    [
        ("gap", False, "gap is taken as a quantification measure of which lower is better, as it was not decorated$"),
        (
            "accuracy",
            True,
            "accuracy is taken as a classification measure of which higher is better, as it was not decorated$",
        ),
        ("unnamed", False, r"lower is better, as it was not decorated, and called as unnamed\(estimated, gold\)$"),
    ],
)
def test_what_is_assumed_about_a_plain_function_is_said(name, higher, assumed, plain):
    with pytest.warns(MetaevalWarning, match=assumed):
        found = measure(f"{plain}:{name}")
    assert (str(found), found.higher_is_better) == (name, higher)


@quiet
def test_a_function_of_counts_takes_one_array_and_may_take_one_topic_at_a_time(plain):
    counts = [[[[3, 1], [0, 4]], [[2, 0], [0, 2]]]]
    runs = me.ClassificationRuns(counts, runs=["a"], topics=["t", "u"], classes=["no", "yes"])
    assert me.score(runs, f"{plain}:accuracy").values.ravel().tolist() == [0.875, 1.0]
    with pytest.raises(MeasureError, match=r"of class counts is written gap\(counts\)"):
        me.score(runs, gap)


DIVERGENCE = """
import metaeval
def plain({first}, {second}):
    return (({estimated} - {gold}) ** 2 * {gold}).sum(axis=-1)
@metaeval.register_measure(kind="quantification", higher_is_better=False, range=(0, 2))
def decorated({first}, {second}):
    return plain({first}, {second})
"""


@quiet
@pytest.mark.parametrize("gold_first", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        *("estimated gold", "predicted gold", "y_pred y_true", "p gold_shares", "est q", "predicted_gold gold"),
        *("preds labels", "yPred yTrue", "run gold_run", "systems golds", "a b"),
    ],
)
def test_a_users_arrays_are_told_apart_by_their_names(names, gold_first, tmp_path):
    estimated, gold = names.split()
    first, second = (gold, estimated) if gold_first and names != "a b" else (estimated, gold)
    file = tmp_path / "mine.py"
    file.write_text(DIVERGENCE.format(first=first, second=second, gold=gold, estimated=estimated))
    scores = me.score(RUNS, [f"{file}:plain", f"{file}:decorated"])
    expected = ((ESTIMATED - GOLD) ** 2 * GOLD).sum(axis=-1)
    np.testing.assert_allclose(scores.values, np.stack([expected, expected], axis=-1), rtol=1e-12)


@quiet
@pytest.mark.parametrize("form", ["function", "reference"])
def test_every_function_takes_a_plain_function_and_a_file(form, plain, tmp_path):
    mine = gap if form == "function" else f"{plain}:gap"
    scores = me.score(RUNS, ["NMD", mine])
    me.io.write_scores(scores, tmp_path / "scores.csv")
    for found in (scores.measures[1:], me.coverage(scores, reference=mine, n_bootstrap=0).reference,
                  me.open_scores(str(tmp_path / "scores.csv"), [mine]).measures):  # fmt: skip
        assert [str(one) for one in found] == ["gap"]
    assert np.array_equal(scores.sel(measures=mine).values[..., 0], GAP)
    assert scores.matrix(mine).equals(scores.matrix("gap"))
    assert me.properties(mine, n_random=0).measures[0].formula is not None
    assert me.Scores([[[0.5]]], runs=["a"], topics=["t"], measures=gap).measures[0].higher_is_better is False


@quiet
def test_a_file_that_is_named_twice_is_run_once(plain, capfd):
    for _ in range(3):
        resolve_measures([f"{plain}:gap", f"{plain}:accuracy"])
    printed = capfd.readouterr()
    assert (printed.out, printed.err.count("the file was run")) == ("", 1)


def test_two_files_of_one_name_do_not_take_each_others_measures(write):
    one = write(path="one/own.py")
    assert measure(one) is measure(one)
    with pytest.raises(MeasureError, match="there is a measure gap already"):
        measure(write(path="two/own.py"))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("{file}:not_a_measure", "not_a_measure is not a measure"),
        ("NMDD", "did you mean NMD"),
        (3, "3 is not a measure"),
        (dict, "is not a measure"),
        ("mine.py", r"mine\.py is a file of measures: name the function in it too, as mine\.py:my_measure"),
        (lambda gold, reference: gold, "which of gold and reference is the gold. call them gold and estimated"),
        (lambda predicted, y_hat: y_hat, "which of predicted and y_hat is the gold"),
    ],
)
def test_what_is_no_measure_is_said_in_a_sentence(wanted, message, plain):
    with pytest.raises(MeasureError, match=message):
        measure(wanted.format(file=plain) if isinstance(wanted, str) else wanted)


def test_what_the_decorator_states_comes_back_and_scores_are_those_of_the_function(write):
    found = me.measure(write())
    assert (found.label, found.source, found.undefined, found.range) == ("Gap", "ours", 0.5, (0, 1))
    assert (found.higher_is_better, found.kind, found.description) == (False, "quantification", "Largest difference.")
    assert not is_shipped(found)
    assert np.array_equal(scores_of(found), GAP)
    squared = me.measure("gap(power=2)")
    assert str(squared) == "gap(power=2)"
    assert np.array_equal(squared.score(ESTIMATED, GOLD), GAP**2)
    with pytest.raises(MeasureError, match="gap has no parameter 'beta' .its parameters: power=1"):
        me.measure("gap(beta=2)")


SAID = {  # what a function does, and what is said of it
    "sys.exit(0)": r"gap cannot be computed: it ends the program with sys.exit\(0\)",
    "raise ValueError('a\\nb')": "ValueError: a b",
    "return gap.measure.formula(estimated, gold)": "RecursionError",
    "return d + 0j": "values of type complex128, not real numbers",
    "return np.ma.masked_array(d)": "a masked array",
    "return None": "it returned nothing",
    "return d.astype(str)": "values of type <U",
    "d = d - d.mean() + 0.5": r"gap gives 0.5 alone and 0\.\d+ with others",
    "d = d - (d.mean(axis=0) if d.ndim > 1 else 0)": "a measure must score every topic by itself",
    "d = d * (1 - 1e-6 * random.random())": r"first and 0\.\d+ when it was scored again .* not on chance",
    "calls[0] += 1; d = d * (1 - 1e-3 * (calls[0] > 3))": "or earlier calls",
    "d = d * (1 - 1e-3 * (time.time_ns() % 1009) / 1009)": "the clock",
    "calls.append(d.max()); d = d / max(calls[1], 0.01) / 100": r"when it was imported anew .* or earlier calls",
    "estimated += 1": "read-only",
    "gold[...] = 0.2": "read-only",
}
REFUSED = [
    "return d, d", "return d.sum() if d.ndim else 0.25 + 0 * d",
    "return np.zeros(np.shape(d), 'datetime64[s]')",
    "return np.argsort(np.argsort(d, axis=None)).reshape(d.shape) / 99", "d = d / max(1e-9, d.max())",
    "d = d - d.mean(axis=-1, keepdims=True) + 0.5 if d.ndim else d", "d = d / d.shape[0] if d.ndim > 1 else d",
    "d = d + np.arange(d.size).reshape(d.shape) * 1e-4", "d = d[..., ::-1] if d.ndim else d",
    "d = np.minimum(1, np.cumsum(d, axis=-1)) if d.ndim else d", "d = d * (1 - 1e-3 * np.random.rand(*d.shape))",
    "d = np.array(d); d.ravel()[:1] = 0.125 if d.size > 1 else d", "calls[0] += 1; d = d * (1 - 1e-3 * (calls[0] % 2))",
    "d = d * (1 - 1e-3 * np.random.default_rng().random(d.shape))",
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), [*SAID.items(), *((body, "gap") for body in REFUSED)])
def test_a_measure_that_is_none_is_refused_in_a_sentence_and_the_next_one_is_scored(body, message, write):
    before = ESTIMATED.copy(), GOLD.copy()
    with pytest.raises(MeasureError, match=message) as caught:
        scores_of(write(body))
    assert "\n" not in str(caught.value)
    assert np.array_equal(scores_of(write()), GAP)
    np.testing.assert_array_equal(RUNS.estimated, before[0])
    np.testing.assert_array_equal(RUNS.gold, before[1])


CHANGES = "os.chdir('/'); np.seterr(all='raise'); np.random.seed(1); random.seed(1); warnings.simplefilter('error')"
RIGHT = ["return d.tolist()", "return d.astype(np.longdouble)", "return d.astype(np.float16)"]
RIGHT += ["import threading; threading.Thread(target=time.sleep, args=(0.05,)).start()"]


def settings():
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002  (the global state is the point)
    return os.getcwd(), np.geterr(), list(warnings.filters), sys.stdout, states


@pytest.mark.parametrize("body", ["print(1)", "print(1, file=sys.stderr)", "warnings.warn('1')", CHANGES, *RIGHT])
def test_what_a_measure_changes_is_put_back_and_what_it_prints_is_no_result(body, write, capfd):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        before = settings()
        scores = scores_of(write(body))
        assert settings() == before
    assert {str(warning.message) for warning in said} == ({"1"} if "warn('1')" in body else set())
    np.testing.assert_allclose(scores, GAP, rtol=1e-3 if "float16" in body else 0)
    printed = capfd.readouterr()
    assert (printed.out, set(printed.err.split())) == ("", {"1"} if "print" in body else set())


def test_what_shows_only_on_the_real_data_is_found_there_and_what_refuses_artificial_data_is_tried_there():
    """The artificial data and the tried cells never come in batches of 3 × 7, so only scoring again can see it."""

    def score(formula):
        return scores_of(me.Measure("own", False, (-9, 9), kind="quantification", formula=formula))

    with pytest.raises(MeasureError, match=r"own: run \w, topic \d scored 0\.\d+ with the others and 0\.\d+ alone"):
        score(lambda p, q: gap(p, q) * (0.5 if p.shape == (3, 7, 4) else 1))
    assert np.array_equal(score(lambda p, q: [gap(p, q)][int((q == 0).any())]), GAP)


def test_a_measure_whose_file_was_changed_is_another_one_though_it_was_written_within_the_second(write):
    first, second = me.measure(write("d = d * 0.25")), me.measure(write("d = d * 0.75"))
    for found, share in ((first, 0.25), (second, 0.75)):
        assert np.array_equal(scores_of(found), share * GAP)
    assert me.measure("gap") is second
    file = Path(write().removesuffix(":gap"))
    text = file.read_text().replace("def gap(", "def other(").replace('label="Gap"', 'name="gap"')
    file.write_text(text)  # whatever its function is called now, as soon as the file is named again
    third = me.measure(f"{file}:other")
    assert me.measure("gap") is third is not second
    for broken, why in (("sys.exit(3)", "ends the program"), ("def gap(:", "SyntaxError"), ("1 / 0", "ZeroDivisionE")):
        file.write_text(f"{text}\n{broken}\n")
        with pytest.raises(MeasureError, match=f"own.py cannot be run: .*{why}"):
            me.measure(f"{file}:other")
        assert me.measure("gap") is third


def test_a_file_is_tried_anew_without_a_trace_also_by_threads_at_once(write, known):
    found = me.measure(write())
    before, module = list(known.items()), sys.modules[found.formula.__module__]
    scores_of(found)
    assert [(name, id(one)) for name, one in known.items()] == [(name, id(one)) for name, one in before]
    assert sys.modules[found.formula.__module__] is module
    assert not list(Path(module.__file__).parent.glob("__pycache__"))
    found = me.measure(write("time.sleep(0.001 * random.random()); print(1)"))
    left = settings()
    with ThreadPoolExecutor(4) as threads:
        scores = list(threads.map(lambda _: found.evaluate(ESTIMATED, GOLD)[0], range(40)))
    assert all(np.array_equal(one, GAP) for one in scores)
    assert settings() == left


@quiet
@pytest.mark.parametrize("statement", ["def plain(p, q):\n    return", "plain = lambda p, q:"])
def test_a_plain_function_that_keeps_its_first_scale_is_refused(statement, tmp_path):
    body = "abs(p - q).max(-1) / seen.setdefault('scale', 2 + float(abs(p - q).max()))"
    (tmp_path / "own.py").write_text(f"seen = {{}}\n{statement} {body}\n")
    with pytest.raises(MeasureError, match="when it was imported anew .* or earlier calls"):
        scores_of(f"{tmp_path}/own.py:plain")
