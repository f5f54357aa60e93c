"""Functions of users' files: they run in a process of their own, and nothing they do reaches the program."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MeasureError
from metaeval.measures import worker
from metaeval.measures.conformance import conformance
from metaeval.measures.registry import _MEASURES, is_shipped
from metaeval.measures.worker import use_time_limit

HEAD = """
import os, random, signal, sys, time, warnings
import numpy as np
import metaeval
calls = [0]
@metaeval.quantification_measure(higher_is_better=False, range=(0, 1), label="Gap", source="ours", undefined=0.5)
def gap(estimated, gold, *, power=1):
    "Largest difference."
    d = np.abs(estimated - gold).max(axis=-1)
    {body}
    return d**power
def plain(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)
"""


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
def runs():
    rng = np.random.default_rng(0)
    gold, estimated = rng.dirichlet(np.ones(4), 7), rng.dirichlet(np.ones(4), (3, 7))
    return me.QuantificationRuns(estimated, gold, runs=list("abc"), topics=range(7), classes=range(4))


def largest_gap(runs):
    return np.abs(runs.estimated - runs.gold).max(axis=-1)


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


def worker_id():
    return worker.run_in_worker("a test", os.getpid)


def test_one_process_serves_all_files_and_is_not_this_one(write, runs, tmp_path):
    me.score(runs, write(f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))"))
    process = int((tmp_path / "pid").read_text())
    assert process != os.getpid()
    me.score(runs, write("d = d + 0"))
    assert worker_id() == process


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(0)", r"gap cannot be computed: it ends the program with sys.exit\(0\)"),
        ("os._exit(0)", "own.py:gap ended its process with status 0"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "own.py:gap ended its process by SIGSEGV"),
        ("raise ValueError('a\\nb')", "ValueError: a b"),
        ("return gap.measure.formula(estimated, gold)", "RecursionError"),
        ("return d + 0j", "values of type complex128, not real numbers"),
        ("return np.ma.masked_array(d)", "a masked array"),
        ("return np.zeros(np.shape(d), 'datetime64[s]')", "datetime64"),
        ("return None", "it returned nothing"),
        ("return d.astype(str)", "values of type <U"),
        ("d = d - d.mean() + 0.5", r"gap gives 0.5 alone and 0\.\d+ with others"),
        ("d = d - (d.mean(axis=0) if d.ndim > 1 else 0)", "a measure must score every topic by itself"),
        ("d = np.argsort(np.argsort(d, axis=None)).reshape(d.shape) / d.size", "by itself"),
        ("d = d * (1 - 1e-6 * random.random())", r"first and 0\.\d+ when it was scored again .* not on chance"),
        ("d = d * (1 - 1e-6 * np.random.rand())", "not on chance"),
        ("calls[0] += 1; d = d * (1 - 1e-3 * (calls[0] > 3))", "or earlier calls"),
        ("d = d * (1 - 1e-3 * (time.time_ns() % 1009) / 1009)", "the clock"),
        ("calls.append(d.max()); d = d / calls[1]", "or earlier calls"),
        ("calls.append(d.max()); d = d / max(calls[1], 0.01) / 100", r"when it was imported anew .* or earlier calls"),
        ("estimated += 1", "read-only"),
    ],
)
def test_a_measure_that_is_none_is_refused_in_a_sentence_and_the_next_one_is_scored(body, message, write, runs):
    with pytest.raises(MeasureError, match=message) as caught:
        me.score(runs, write(body))
    assert "\n" not in str(caught.value)
    assert np.array_equal(me.score(runs, write()).values[..., 0], largest_gap(runs))


def test_a_file_that_ends_the_program_while_it_is_read_is_refused(tmp_path):
    (tmp_path / "own.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(MeasureError, match=r"own.py cannot be run: it ends the program with sys.exit\(0\)"):
        me.measure(f"{tmp_path}/own.py:gap")


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(1000)"])
def test_what_takes_too_long_is_stopped(body, write, runs):
    measure = me.measure(write(body))
    began = time.monotonic()
    with pytest.raises(MeasureError, match=r"own.py:gap takes longer than 1 s and was stopped \(time_limit\)"):
        me.score(runs, measure, time_limit=1)
    assert time.monotonic() - began < 20
    assert np.array_equal(me.score(runs, write()).values[..., 0], largest_gap(runs))
    with pytest.raises(MeasureError, match="time_limit is a positive number"), use_time_limit(0):
        pass


def test_a_call_whose_process_is_killed_is_made_once_more(write, runs, tmp_path):
    once = f"os.path.exists({str(tmp_path / 'killed')!r}) or open({str(tmp_path / 'killed')!r}, 'w').close()"
    killed = f"first = not os.path.exists({str(tmp_path / 'killed')!r}); {once}; first and os.kill(os.getpid(), 9)"
    scores = me.score(runs, write(killed))
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(scores.values[..., 0], largest_gap(runs))
    with pytest.raises(MeasureError, match="by SIGKILL"):
        me.score(runs, write("os.kill(os.getpid(), 9)"))


def test_a_measure_goes_on_after_its_process_was_killed(write, runs):
    measure = me.measure(write())
    os.kill(worker_id(), signal.SIGKILL)
    assert np.array_equal(measure.score(runs.estimated, runs.gold), largest_gap(runs))
    worker.stop_worker()
    assert np.array_equal(measure.score(runs.estimated, runs.gold), largest_gap(runs))


def test_a_measure_that_is_stopped_ends_no_call_of_another_thread(write, runs, tmp_path):
    (tmp_path / "loops.py").write_text(
        "import time\ndef plain(p, q):\n    while (p == 0.125).any(): time.sleep(0.01)\n    return abs(p - q).max(-1)\n"
    )
    with pytest.warns(me.MetaevalWarning, match="plain is not decorated"):
        loops = me.measure(f"{tmp_path}/loops.py:plain")
    measure = me.measure(write())
    with ThreadPoolExecutor(2) as threads:
        stopped = threads.submit(call_within, 1, loops.formula, np.full(8, 0.125), np.full(8, 0.125))
        time.sleep(0.2)
        scored = threads.submit(call_within, 60, measure.formula, runs.estimated, runs.gold)
        assert np.array_equal(scored.result(), largest_gap(runs))
        with pytest.raises(MeasureError, match="takes longer than 1 s"):
            stopped.result()


def call_within(seconds, formula, *arrays):
    with use_time_limit(seconds):
        return formula(*arrays)


@pytest.mark.parametrize("seconds", [float("inf"), 1e300])
def test_a_time_limit_without_end_is_none(seconds, write, runs, capfd):
    assert np.array_equal(me.score(runs, write(), time_limit=seconds).values[..., 0], largest_gap(runs))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "body",
    [
        "print(1)",
        "os.write(1, b'1')",
        "sys.stdout.close()",
        "warnings.warn('1')",
        "os.chdir('/')",
        "np.seterr(all='raise')",
        "np.random.seed(1); random.seed(1)",
        "warnings.simplefilter('error')",
    ],
)
def test_nothing_that_a_measure_does_besides_is_seen(body, write, runs, capfd):
    folder, errors, states = os.getcwd(), np.geterr(), (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        scores = me.score(runs, write(body))
        assert warnings.filters == before
    assert not said
    assert np.array_equal(scores.values[..., 0], largest_gap(runs))
    assert (os.getcwd(), np.geterr()) == (folder, errors)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
    assert capfd.readouterr() == ("", "")


def disturb(estimated, gold):
    np.seterr(all="raise")
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    warnings.simplefilter("error")
    return np.abs(estimated - gold).max(axis=-1)


def test_a_function_passed_in_python_changes_no_settings_either(runs):
    errors, states = np.geterr(), (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002
    before = list(warnings.filters)
    measure = me.Measure("own", False, (0, 1), kind="quantification", formula=disturb)
    assert np.array_equal(me.score(runs, measure).values[..., 0], largest_gap(runs))
    assert np.geterr() == errors
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
    assert warnings.filters == before


def score_function(runs, formula):
    return me.score(runs, me.Measure("own", False, (-9, 9), kind="quantification", formula=formula))


def test_scores_that_change_only_on_the_real_data_are_found_there(runs):
    """The artificial data and the tried cells never come in batches of 3 × 7, so only scoring again can see it."""
    with pytest.raises(MeasureError, match=r"own: run \w, topic \d scored 0\.\d+ with the others and 0\.\d+ alone"):
        score_function(runs, lambda p, q: np.abs(p - q).max(-1) * (0.5 if p.shape == (3, 7, 4) else 1))


def test_a_function_of_one_topic_is_called_so_in_score_too(runs):
    scores = score_function(runs, lambda p, q: float(max(abs(p - q))))
    assert np.array_equal(scores.values[..., 0], largest_gap(runs))
    with pytest.raises(MeasureError, match="gives 0.25 to every topic"):
        score_function(runs, lambda p, q: 0.25)


def test_a_measure_that_refuses_artificial_data_is_tried_on_the_real_ones(runs):
    def strict(p, q):
        if (q == 0).any():
            raise ValueError("gold is 0")
        return np.abs(p - q).max(-1)

    assert np.array_equal(score_function(runs, strict).values[..., 0], largest_gap(runs))


def test_a_program_that_has_used_a_measure_ends_without_a_word(tmp_path):
    (tmp_path / "own.py").write_text("def plain(p, q):\n    return abs(p - q).max(-1)\n")
    code = (
        "import metaeval, warnings\nwarnings.simplefilter('ignore')\n"
        f"kept = metaeval.measure({str(tmp_path / 'own.py:plain')!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_process_ends_with_the_program(tmp_path):
    (tmp_path / "own.py").write_text(HEAD.format(body="pass"))
    code = (
        "import metaeval, os, signal\n"
        f"metaeval.measure({str(tmp_path / 'own.py:gap')!r})\n"
        "from metaeval.measures.worker import run_in_worker\n"
        "print(run_in_worker('a test', os.getpid), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    process = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the child process is still there")
