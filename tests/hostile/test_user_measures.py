"""Faulty measures of a user: refused, or without effect on anybody's numbers, output or settings."""

import itertools
import os
import random

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from tests.hostile.case import Refused, call
from tests.hostile.forks import run_command

HEAD = """import os, random, sys, time, warnings
import numpy as np
import pandas as pd
import metaeval
calls = [0]

{}
def f(estimated, gold):
    d = np.abs(np.cumsum(estimated - gold, -1)).sum(-1) / (np.shape(gold)[-1] - 1)
"""
REGISTERED = "@metaeval.register_measure(kind='quantification', higher_is_better=False, range=(0, 1))"

# What a faulty measure does; `d` is the normalised match distance, computed rightly.
REFUSED = {
    "raises": "raise ValueError('no')",
    "raises with lines": "raise ValueError('no\\nand\\nno')",
    "exits": "sys.exit(0)",
    "exits with a word": "sys.exit('bye')",
    "recurses": "return f(estimated, gold)",
    "not a number": "return d * np.nan",
    "not a number sometimes": "return np.where(d > 0.3, np.nan, d)",
    "infinite": "return d + np.inf",
    "another shape": "return d[..., None]",
    "one number for all": "return d.sum() if d.ndim else 0.25 + 0 * d",
    "two numbers": "return d, d",
    "nothing": "return None",
    "complex": "return d + 1j",
    "complex without imaginary part": "return d + 0j",
    "masked": "return np.ma.masked_array(d, mask=np.asarray(d) > 0.2)",
    "dates": "return np.zeros(np.shape(d), 'datetime64[s]')",
    "durations": "return np.zeros(np.shape(d), 'timedelta64[s]')",
    "centred on the batch": "return d - d.mean() + 0.5",
    "centred on topics": "return d - d.mean(axis=-1, keepdims=True) + 0.5 if d.ndim else d",
    "centred on runs": "return d - d.mean(axis=0) + 0.5 if d.ndim > 1 else d",
    "ranks": "return np.argsort(np.argsort(d, axis=None)).reshape(d.shape) / max(1, d.size)",
    "scaled by the largest": "return d / max(1e-9, d.max())",
    "by position": "return d + np.arange(d.size).reshape(d.shape) * 1e-4",
    "summed along the batch": "return np.minimum(1, np.cumsum(d, axis=-1)) if d.ndim else d",
    "turned round": "return d[..., ::-1] if d.ndim else d",
    "first cell wrong": "d = np.array(d); d.ravel()[:1] = 0.125 if d.size > 1 else d; return d",
    "by the number of runs": "return d / d.shape[0] if d.ndim > 1 else d",
    "by calls": "calls[0] += 1; return d + 1e-3 * calls[0]",
    "by calls, later": "calls[0] += 1; return d + 1e-3 * (calls[0] > 3)",
    "by turns": "calls[0] += 1; return d + 1e-3 * (calls[0] % 2)",
    "by the clock": "return d + 1e-3 * (time.time_ns() % 1_000_003) / 1e6",
    "random": "return d + 1e-3 * np.random.rand()",
    "random, each": "return d + 1e-3 * np.random.rand(*d.shape)",
    "random, of its own": "return d + 1e-3 * np.random.default_rng().random(d.shape)",
    "random, seeded": "return d + 1e-3 * np.random.RandomState(0).rand(*d.shape)",
    "Python's random": "return d + 1e-3 * random.random()",
    "out of range": "return d + 2",
}
HARMLESS = {
    "prints": "print('hello'); return d",
    "complains": "print('hello', file=sys.stderr); return d",
    "warns": "warnings.warn('hello'); return d",
    "changes warnings": "warnings.simplefilter('error'); return d",
    "changes numpy's errors": "np.seterr(all='raise'); return d",
    "seeds": "np.random.seed(1); random.seed(1); return d",
    "changes folder": "os.chdir('/'); return d",
    "returns a list": "return np.asarray(d).tolist()",
    "narrow floats": "return np.asarray(d, dtype=np.longdouble)",
    "one at a time": "return float(d)",
}
EITHER = {
    "text": "return np.asarray(d).astype(str)",
    "writes to its inputs": "estimated[...] = 0.2; gold[...] = 0.2; return d",
    "writes to its gold": "gold += 1; return d",
    "threads": "import threading; threading.Thread(target=time.sleep, args=(0.05,)).start(); return d",
    "half precision": "return np.asarray(d, dtype=np.float16)",
    "wrong direction": "return 1 - d",
    "constant": "return 0.5 + 0 * d",
}
VALUES = {"wrong direction": lambda right: 1 - right, "constant": lambda right: right * 0 + 0.5}
"""Measures that are as they say, though hardly meant."""
FAULTS = {**REFUSED, **HARMLESS, **EITHER}


def write_measure(name, registered):
    """Return the text of a file with a faulty measure f."""
    steps = "".join(f"    {step.strip()}\n" for step in FAULTS[name].split("; "))
    return HEAD.format(REGISTERED if registered else "") + steps


def make_shares(name):
    """Return gold by topic and estimates by run and topic: whole sixteenths, whose sums are exactly 1."""
    rng = random.Random(name)
    cuts = np.array([[sorted(rng.choices(range(17), k=3)) for _ in range(rng.randint(3, 8))]] * rng.randint(3, 5))
    cuts = np.sort((cuts + np.random.default_rng(len(name)).integers(0, 16, cuts.shape)) % 17, axis=-1)
    shares = np.diff(cuts, axis=-1, prepend=0, append=16) / 16
    return shares[0], shares[1:]


def expect(gold, runs, name=None):
    """Scores by run and topic: the normalised match distance in a loop, or what the faulty measure says it is."""
    right = np.zeros(runs.shape[:2])
    for r, t in np.ndindex(right.shape):
        gaps = itertools.accumulate(e - g for e, g in zip(runs[r, t], gold[t], strict=True))
        right[r, t] = sum(map(abs, gaps)) / (len(gold[t]) - 1)
    return VALUES.get(name, lambda right: right)(right)


def precision(name):
    return 1e-3 if name == "half precision" else 1e-9


BY_DAY = {
    *HARMLESS, *EITHER, "raises", "exits", "recurses", "complex", "masked", "ranks", "by calls", "random", "out of range",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in BY_DAY else pytest.mark.nightly) for name in FAULTS]
)
def test_a_measure_in_a_file_is_scored_right_or_refused(tmp_path, name):
    (tmp_path / "plug.py").write_text(write_measure(name, name == "out of range" or len(name) % 3))
    gold, runs = make_shares(name)
    for stem, rows in {"gold": gold, **{f"run{r}": rows for r, rows in enumerate(runs)}}.items():
        lines = (",".join([f"t{t}", *map(str, row)]) for t, row in enumerate(rows.tolist()))
        (tmp_path / f"{stem}.csv").write_text("\n".join(["topic,c0,c1,c2,c3", *lines]))
    paths = [f"run{r}.csv" for r in range(len(runs))]
    words = ["score", "gold.csv", *paths, *["-l", "probabilities", "-m", "NMD", "-m", "plug.py:f", "-o", "scores.csv"]]
    try:
        done = run_command(tmp_path, *words, limit=60).check(may_fail=name not in HARMLESS)
    except Refused:
        assert not (tmp_path / "scores.csv").exists()
        return
    assert name not in REFUSED
    assert b"hello" not in done.out
    found = pd.read_csv(tmp_path / "scores.csv").pivot(index="run", columns=["measure", "topic"], values="score")
    np.testing.assert_allclose(found["NMD"], expect(gold, runs), atol=1e-9)
    np.testing.assert_allclose(found["f"], expect(gold, runs, name), atol=precision(name))


def make_measure(name):
    space = {}
    exec(compile(write_measure(name, False), "plug.py", "exec"), space)  # noqa: S102  (written above)
    return me.Measure("f", False, (0, 1), kind="quantification", formula=space["f"])


@pytest.mark.parametrize("name", FAULTS)
def test_a_measure_in_python_is_scored_right_or_refused_and_changes_nothing(name, capfd):
    gold, runs = make_shares(name)
    labels = {"runs": [f"run{r}" for r in range(len(runs))], "topics": [f"t{t}" for t in range(len(gold))]}
    data = me.QuantificationRuns(runs, gold, **labels, classes=list("abcd"))
    before = data.estimated.tobytes(), data.gold.tobytes(), np.geterr(), os.getcwd()
    scores, notes = call(me.score, data, ["NMD", make_measure(name)])
    errors = np.geterr()
    np.seterr(**before[2])
    assert (data.estimated.tobytes(), data.gold.tobytes(), errors, os.getcwd()) == before
    assert "hello" not in capfd.readouterr().out
    if scores is None:
        assert name not in HARMLESS or name == "one at a time", notes
        return
    assert name not in REFUSED
    np.testing.assert_allclose(scores.values[..., 0], expect(gold, runs), atol=1e-9)
    np.testing.assert_allclose(scores.values[..., 1], expect(gold, runs, name), atol=precision(name))


@pytest.mark.parametrize("name", ["centred on the batch", "ranks"])
def test_conformance_refuses_what_depends_on_its_batch(name):
    result, notes = call(me.conformance, make_measure(name))
    assert result.notes if result is not None else "perfect" not in notes[0]
