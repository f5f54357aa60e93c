"""Measures of users: names, files, functions and labels are one door; what is no measure is refused and changes nothing."""

import os
import random
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import DataError, MeasureError, MetaevalWarning
from metaeval.measures.conformance import conformance
from metaeval.measures.registry import _MEASURES, is_shipped
from metaeval.measures.resolve import measure, resolve_measures

HEAD = """
import os, random, signal, sys, time, warnings
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
def accuracy(counts):
    return np.trace(counts) / counts.sum()
not_a_measure = 3
"""
quiet = pytest.mark.filterwarnings("ignore:.*not decorated")


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """One file that changes: another file could not register a measure of the same name."""
    file = tmp_path_factory.mktemp("measures") / "own.py"

    def write(body="pass"):
        file.write_text(HEAD.format(body=body))
        return f"{file}:gap"

    yield write
    _MEASURES.pop("gap", None)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLAIN)
    return path


@pytest.fixture
def runs():
    rng = np.random.default_rng(0)
    gold, estimated = rng.dirichlet(np.ones(4), 7), rng.dirichlet(np.ones(4), (3, 7))
    return me.QuantificationRuns(estimated, gold, runs=list("abc"), topics=range(7), classes=range(4))


def gap(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)


def largest_gap(runs):
    return gap(runs.estimated, runs.gold)


def define(text):
    space = {"__name__": "here"}
    exec(text, space)  # noqa: S102  (written here)
    return space


def test_what_is_assumed_about_a_plain_function_is_said(file):
    with pytest.warns(MetaevalWarning, match="gap is not decorated: taken as a quantification .* lower is better"):
        found = measure(gap)
    assert (str(found), found.kind, found.higher_is_better) == ("gap", "quantification", False)
    with pytest.warns(MetaevalWarning, match="accuracy is not decorated: taken as a classification .* higher is bett"):
        found = measure(f"{file}:accuracy")
    assert (str(found), found.kind, found.higher_is_better) == ("accuracy", "classification", True)
    counts = np.array([[[3, 1], [0, 4]], [[2, 0], [0, 2]]])
    assert found.score(counts).tolist() == [0.875, 1.0], "it takes one topic at a time, and is called so"
    with pytest.warns(MetaevalWarning, match=r"called as unnamed\(estimated, gold\)"):
        measure(define("def unnamed(a, b):\n    return abs(a - b).max(axis=-1)")["unnamed"])


DIVERGENCE = """
import numpy as np
import metaeval

def plain({first}, {second}):
    return ({gold} * np.log(({gold} + 0.001) / ({estimated} + 0.001))).sum(axis=-1)

@metaeval.register_measure(kind="quantification", higher_is_better=False, range=(-1, 9), name="decorated_{place}")
def decorated({first}, {second}):
    return plain({first}, {second})
"""


@quiet
@pytest.mark.parametrize("place", ["here", "file"])
@pytest.mark.parametrize("gold_first", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        *("estimated gold", "predicted gold", "y_pred y_true", "p gold_shares", "est q", "predicted_gold gold"),
        *("preds labels", "yPred yTrue", "run gold_run", "systems golds", "a b"),
    ],
)
def test_a_users_arrays_are_told_apart_by_their_names(names, gold_first, place, tmp_path, runs):
    estimated, gold = names.split()
    first, second = (gold, estimated) if gold_first and names != "a b" else (estimated, gold)
    path = tmp_path / "mine.py"
    path.write_text(DIVERGENCE.format(first=first, second=second, gold=gold, estimated=estimated, place=place))
    expected = np.array([[np.sum(g * np.log((g + 0.001) / (e + 0.001))) for e, g in zip(one, runs.gold, strict=True)]
                         for one in runs.estimated])  # fmt: skip
    defined = define(path.read_text() if place == "here" else "")
    for form in ("plain", "decorated"):
        scores = me.score(runs, defined[form] if place == "here" else f"{path}:{form}")
        np.testing.assert_allclose(scores.values[..., 0], expected, rtol=1e-12, atol=1e-15)
    _MEASURES.pop(f"decorated_{place}")


@pytest.mark.parametrize("arrays", [("gold", "reference"), ("predicted", "y_hat")])
def test_arrays_with_names_of_one_side_are_asked_about_and_counts_are_one_array(arrays):
    message = f"which of {' and '.join(arrays)} is the gold. call them gold and estimated"
    with pytest.raises(MeasureError, match=message):
        measure(define(f"def twice({', '.join(arrays)}):\n    return 0 * {arrays[0]}[..., 0]")["twice"])
    counts = me.ClassificationRuns([[[[2, 0], [1, 1]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
    with pytest.warns(MetaevalWarning), pytest.raises(MeasureError, match=r"of class counts is written gap\(counts\)"):
        me.score(counts, gap)


@quiet
@pytest.mark.parametrize("form", ["function", "reference"])
def test_every_function_takes_a_plain_function_and_a_file(form, file, tmp_path, runs):
    mine = gap if form == "function" else f"{file}:gap"
    scores = me.score(runs, ["NMD", mine])
    assert [str(one) for one in scores.measures] == ["NMD", "gap"]
    assert scores.sel(measures=mine).values.shape == (3, 7, 1)
    assert scores.matrix(mine).equals(scores.matrix("gap"))
    assert [str(one) for one in me.coverage(scores, reference=mine, n_bootstrap=0).reference] == ["gap"]
    assert me.properties(mine, n_random=0).measures[0].formula is not None
    me.io.write_scores(scores, tmp_path / "scores.csv")
    assert [str(one) for one in me.open_scores(str(tmp_path / "scores.csv"), [mine]).measures] == ["gap"]
    if form == "function":
        labelled = me.Scores([[[0.5]]], runs=["a"], topics=["t"], measures=mine)
        assert labelled.measures[0].higher_is_better is False


@quiet
def test_a_file_that_is_named_twice_is_run_once_and_a_label_from_data_never_runs_one(file, capfd):
    label = f"{file}:gap"
    scores = me.Scores([[[0.5]], [[0.2]]], runs=["a", "b"], topics=["t"], measures=[label])
    assert [str(one) for one in scores.sel(measures=[label]).measures] == [label]
    assert scores.matrix(label).shape == (2, 1)
    with pytest.raises(DataError, match="there is no measure 'RNOD'"):
        scores.sel(measures="RNOD")
    assert capfd.readouterr() == ("", "")
    for _ in range(3):
        resolve_measures([label, f"{file}:accuracy"])
    printed = capfd.readouterr()
    assert (printed.out, printed.err.count("the file was run")) == ("", 1)


def test_two_files_of_one_name_do_not_take_each_others_measures(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(HEAD.format(body="pass").replace("def gap(", "def only_one_of_me("))
    found = measure(f"{tmp_path}/one/mine.py:only_one_of_me")
    assert measure(f"{tmp_path}/one/mine.py:only_one_of_me") is found
    with pytest.raises(MeasureError, match="there is a measure only_one_of_me already"):
        measure(f"{tmp_path}/two/mine.py:only_one_of_me")
    _MEASURES.pop("only_one_of_me")


NO_MEASURES = [
    ("{file}:nothing", "has nothing called 'nothing'"),
    ("{file}:not_a_measure", "not_a_measure is not a measure"),
    ("{folder}/none.py:gap", "there is no file"),
    ("NMDD", "did you mean NMD"),
    (3, "3 is not a measure"),
    (dict, "is not a measure"),
    ("mine.py", r"mine\.py is a file of measures: name the function in it too, as mine\.py:my_measure"),
]


@pytest.mark.parametrize(("wanted", "message"), NO_MEASURES)
def test_what_is_no_measure_is_said_in_a_sentence(wanted, message, file):
    with pytest.raises(MeasureError, match=message):
        measure(wanted.format(file=file, folder=file.parent) if isinstance(wanted, str) else wanted)


def test_what_the_decorator_states_comes_back_and_scores_are_those_of_the_function(write, runs):
    found = me.measure(write())
    assert (found.label, found.source, found.undefined, found.range) == ("Gap", "ours", 0.5, (0, 1))
    assert (found.higher_is_better, found.kind, found.description) == (False, "quantification", "Largest difference.")
    assert not is_shipped(found)
    assert np.array_equal(me.score(runs, found).values[..., 0], largest_gap(runs))
    squared = me.measure("gap(power=2)")
    assert str(squared) == "gap(power=2)"
    assert np.array_equal(squared.score(runs.estimated, runs.gold), largest_gap(runs) ** 2)
    with pytest.raises(MeasureError, match="gap has no parameter 'beta' .its parameters: power=1"):
        me.measure("gap(beta=2)")
    assert conformance(found).notes == ()


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
    "return d + 2": r"outside its declared range \[0, 1\]",
    "return d[..., None]": "returned shape",
    "d = 1 / 0": "ZeroDivisionError",
}
REFUSED = [
    "return d + np.inf", "return d, d", "return d.sum() if d.ndim else 0.25 + 0 * d", "sys.exit('bye')",
    "return np.zeros(np.shape(d), 'datetime64[s]')", "return np.zeros(np.shape(d), 'timedelta64[s]')",
    "return np.argsort(np.argsort(d, axis=None)).reshape(d.shape) / 99", "d = d / max(1e-9, d.max())",
    "d = d - d.mean(axis=-1, keepdims=True) + 0.5 if d.ndim else d", "d = d / d.shape[0] if d.ndim > 1 else d",
    "d = d + np.arange(d.size).reshape(d.shape) * 1e-4", "d = d[..., ::-1] if d.ndim else d",
    "d = np.minimum(1, np.cumsum(d, axis=-1)) if d.ndim else d", "d = d * (1 - 1e-3 * np.random.rand(*d.shape))",
    "d = np.array(d); d.ravel()[:1] = 0.125 if d.size > 1 else d", "calls[0] += 1; d = d * (1 - 1e-3 * (calls[0] % 2))",
    "d = d * (1 - 1e-3 * np.random.default_rng().random(d.shape))",
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), [*SAID.items(), *((body, "gap") for body in REFUSED)])
def test_a_measure_that_is_none_is_refused_in_a_sentence_and_the_next_one_is_scored(body, message, write, runs):
    data = runs.estimated.tobytes(), runs.gold.tobytes()
    with pytest.raises(MeasureError, match=message) as caught:
        me.score(runs, write(body))
    assert "\n" not in str(caught.value)
    assert np.array_equal(me.score(runs, write()).values[..., 0], largest_gap(runs))
    assert (runs.estimated.tobytes(), runs.gold.tobytes()) == data


CHANGES = "os.chdir('/'); np.seterr(all='raise'); np.random.seed(1); random.seed(1); warnings.simplefilter('error')"
RIGHT = ["return d.tolist()", "return d.astype(np.longdouble)", "return d.astype(np.float16)"]
RIGHT += ["import threading; threading.Thread(target=time.sleep, args=(0.05,)).start()"]


@pytest.mark.parametrize("body", ["print(1)", "print(1, file=sys.stderr)", "warnings.warn('1')", CHANGES, *RIGHT])
def test_what_a_measure_changes_is_put_back_and_what_it_prints_is_no_result(body, write, runs, capfd):
    folder, errors, states = os.getcwd(), np.geterr(), (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        scores = me.score(runs, write(body))
        assert warnings.filters == before
    assert {str(warning.message) for warning in said} == ({"1"} if "warn('1')" in body else set())
    np.testing.assert_allclose(scores.values[..., 0], largest_gap(runs), rtol=1e-3 if "float16" in body else 0)
    assert (os.getcwd(), np.geterr()) == (folder, errors)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
    printed = capfd.readouterr()
    assert (printed.out, set(printed.err.split())) == ("", {"1"} if "print" in body else set())


def test_what_shows_only_on_the_real_data_is_found_there_and_what_refuses_artificial_data_is_tried_there(runs):
    """The artificial data and the tried cells never come in batches of 3 × 7, so only scoring again can see it."""

    def score(formula):
        return me.score(runs, me.Measure("own", False, (-9, 9), kind="quantification", formula=formula)).values[..., 0]

    with pytest.raises(MeasureError, match=r"own: run \w, topic \d scored 0\.\d+ with the others and 0\.\d+ alone"):
        score(lambda p, q: gap(p, q) * (0.5 if p.shape == (3, 7, 4) else 1))
    assert np.array_equal(score(lambda p, q: [gap(p, q)][int((q == 0).any())]), largest_gap(runs))


def test_a_measure_whose_file_was_changed_is_another_one(write, runs, tmp_path):
    """Whatever its function is called now, as soon as the file is named again, and though it was written within the second."""
    first = me.measure(write("d = d * 0.25"))
    file = write("d = d * 0.75").rpartition(":")[0]
    second = me.measure(f"{file}:gap")
    assert np.array_equal(me.score(runs, first).values[..., 0], 0.25 * largest_gap(runs))
    assert np.array_equal(me.score(runs, second).values[..., 0], 0.75 * largest_gap(runs))
    assert me.measure("gap") is second
    text = HEAD.format(body="pass").replace("def gap(", "def other(").replace('label="Gap"', 'name="gap"')
    Path(file).write_text(text)
    third = me.measure(f"{file}:other")
    assert me.measure("gap") is third is not second
    for broken, why in (("sys.exit(3)", "ends the program"), ("def gap(:", "SyntaxError"), ("1 / 0", "ZeroDivisionE")):
        Path(file).write_text(f"{text}\n{broken}\n")
        with pytest.raises(MeasureError, match=f"own.py cannot be run: .*{why}"):
            me.measure(f"{file}:other")
        assert me.measure("gap") is third


def test_a_file_is_tried_anew_without_a_trace_also_by_threads_at_once(write, runs):
    found = me.measure(write())
    known, module = dict(_MEASURES), sys.modules[found.formula.__module__]
    me.score(runs, found)
    assert known.keys() == _MEASURES.keys()
    assert all(_MEASURES[name] is known[name] for name in known)
    assert sys.modules[found.formula.__module__] is module
    assert not list(Path(module.__file__).parent.glob("__pycache__"))
    out, states = sys.stdout, random.getstate()
    found = me.measure(write("time.sleep(0.001 * random.random()); print(1)"))
    with ThreadPoolExecutor(4) as threads:
        scores = list(threads.map(lambda _: found.evaluate(runs.estimated, runs.gold)[0], range(40)))
    assert all(np.array_equal(one, largest_gap(runs)) for one in scores)
    assert sys.stdout is out
    assert random.getstate() == states


@quiet
@pytest.mark.parametrize("statement", ["def plain(p, q):\n    return", "plain = lambda p, q:"])
def test_a_plain_function_that_keeps_its_first_scale_is_refused(statement, runs, tmp_path):
    body = "abs(p - q).max(-1) / seen.setdefault('scale', 2 + float(abs(p - q).max()))"
    (tmp_path / "own.py").write_text(f"seen = {{}}\n{statement} {body}\n")
    with pytest.raises(MeasureError, match="when it was imported anew .* or earlier calls"):
        me.score(runs, f"{tmp_path}/own.py:plain")
