"""Faulty measures of a user: refused, or without effect on anybody's numbers, output or settings."""

from __future__ import annotations

import contextlib
import csv
import io
from functools import cache

import numpy as np

from tests.hostile.campaign import Finding, Outcome
from tests.hostile.forks import run_command
from tests.hostile.truth.measures import nmd

_HEAD = """import os, random, sys, time, warnings
import numpy as np
calls = [0]
"""

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
ONLY_COMMAND = {
    "loops": "while True: pass",
    "sleeps": "time.sleep(1000)",
    "ends the process": "os._exit(0)",
    "ends the process badly": "os.abort()",
    "takes all memory": "return d + sum(len(np.ones(10**8)) for _ in iter(int, 1))",
}
HARMLESS = {
    "prints": "print('hello'); return d",
    "prints below Python": "os.write(1, b'hello'); return d",
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
    "closes stdout": "sys.stdout.close(); return d",
    "closes file 1": "os.close(1); return d",
    "threads": "import threading; threading.Thread(target=time.sleep, args=(0.05,)).start(); return d",
    "half precision": "return np.asarray(d, dtype=np.float16)",
    "wrong direction": "return 1 - d",
    "constant": "return 0.5 + 0 * d",
}
VALUES = {"wrong direction": lambda right: 1 - right, "constant": lambda right: right * 0 + 0.5}
"""Measures that are as they say, though hardly meant."""
FAULTS = {**REFUSED, **ONLY_COMMAND, **HARMLESS, **EITHER}


def write_measure(body, decorated):
    """The text of a file with a faulty measure f."""
    head = _HEAD
    if decorated:
        head += "import metaeval\n\n@metaeval.quantification_measure(higher_is_better=False, range=(0, 1))\n"
    steps = "".join(f"    {step.strip()}\n" for step in body.split("; "))
    return (
        f"{head}def f(estimated, gold):\n    d = np.abs(np.cumsum(estimated - gold, -1)).sum(-1) / (np.shape(gold)[-1] - 1)\n"
        f"{steps}"
    )


def made_shares(rng, n_runs, n_topics, K=4):
    """Distributions with sums of exactly 1: gold by topic, estimates by run and topic."""

    def shares():
        cuts = sorted(rng.randint(0, 16) for _ in range(K - 1))
        return [(b - a) / 16 for a, b in zip([0, *cuts], [*cuts, 16], strict=True)]

    gold = [shares() for _ in range(n_topics)]
    return gold, [[shares() for _ in range(n_topics)] for _ in range(n_runs)]


@cache
def _time_limit_options(folder):
    help_text = run_command(folder, "score", "--help", limit=60).out.decode()
    return ("--time-limit", "5") if "--time-limit" in help_text else ()


def score_by_command(case):
    """``metaeval score -m file.py:f``: numbers that are right, or status 2 and a sentence."""
    rng, folder = case.rng, case.folder
    name = list(FAULTS)[case.number % len(FAULTS)]
    (folder / "plug.py").write_text(write_measure(FAULTS[name], rng.random() < 0.7))
    gold, runs = made_shares(rng, rng.randint(2, 4), rng.randint(3, 8))
    _write_shares(folder / "gold.csv", gold)
    paths = []
    for r, rows in enumerate(runs):
        paths.append(f"run{r}.csv")
        _write_shares(folder / paths[-1], rows)
    more = _time_limit_options(folder) if name in ONLY_COMMAND else ()
    words = [
        "score",
        "gold.csv",
        *paths,
        "-l",
        "probabilities",
        "-m",
        "NMD",
        "-m",
        "plug.py:f",
        "-o",
        "scores.csv",
        *more,
    ]
    done = run_command(folder, *words, limit=60)
    try:
        return _judge(name, done, folder / "scores.csv", gold, runs)
    except Finding as finding:
        raise Finding(f"{name}: {finding.what}", finding.detail) from None


score_by_command.limit = 100


def _judge(name, done, target, gold, runs):
    outcome = done.check(may_fail=name not in HARMLESS)
    if outcome.verdict == "refused":
        if target.exists():
            raise Finding("refused, but scores are written")
        return outcome
    if not target.exists():
        raise Finding("status 0 without scores")
    if name in REFUSED or name in ONLY_COMMAND:
        raise Finding("a measure like this is scored")
    if b"hello" in done.out:
        raise Finding("it prints to stdout")
    with open(target, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            expected = nmd(runs[int(row["run"][3:])][int(row["topic"][1:])], gold[int(row["topic"][1:])])
            expected = VALUES[name](expected) if name in VALUES and row["measure"] == "f" else expected
            tolerance = 1e-3 if name == "half precision" and row["measure"] == "f" else 1e-9
            if abs(float(row["score"]) - expected) > tolerance:
                raise Finding("other scores than the formula gives", f"{row}, not {expected}")
    return outcome


def _write_shares(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["topic", *(f"c{k}" for k in range(len(rows[0])))])
        table.writerows([f"t{t}", *map(repr, row)] for t, row in enumerate(rows))


def score_in_process(case):
    """The same measures as Python functions: right numbers, or a MetaevalError, and nothing else changes."""
    import metaeval as me

    rng = case.rng
    known = [
        name
        for name in FAULTS
        if name not in ONLY_COMMAND
        and name not in ("changes folder", "closes stdout", "closes file 1", "prints below Python")
    ]
    name = known[case.number % len(known)]
    space = {}
    exec(compile(write_measure(FAULTS[name], False), "plug.py", "exec"), space)  # noqa: S102  (written above)
    gold, runs = made_shares(rng, rng.randint(2, 4), rng.randint(3, 8))
    labels = {
        "runs": [f"run{r}" for r in range(len(runs))],
        "topics": [f"t{t}" for t in range(len(gold))],
        "classes": "abcd",
    }
    labels["classes"] = list(labels["classes"])
    data = me.QuantificationRuns(runs, gold, **labels)
    measure = me.Measure("f", False, (0, 1), kind="quantification", formula=space["f"])
    before = _state(data)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found, said = case.call(me.score, data, ["NMD", measure])
    if _state(data) != before:
        after = _state(data)
        _restore(before)
        changed = [key for key in before if before[key] != after[key]]
        raise Finding(f"{name}: it changes {', '.join(changed)}")
    if found is None:
        if name in HARMLESS and name != "one at a time":
            raise Finding(f"{name}: a harmless measure is refused", said[0])
        return Outcome("refused")
    if name in REFUSED:
        raise Finding(f"{name}: a measure like this is scored")
    right = np.array([[nmd(e, g) for e, g in zip(rows, gold, strict=True)] for rows in runs])
    formula = VALUES[name](right) if name in VALUES else right
    tolerance = 1e-3 if name == "half precision" else 1e-9
    if np.abs(found.values[..., 0] - right).max() > 1e-9 or np.abs(found.values[..., 1] - formula).max() > tolerance:
        raise Finding(f"{name}: other scores than the formula gives")
    return Outcome("equal")


def _state(data):
    return {
        "its inputs": (data.estimated.tobytes(), data.gold.tobytes()),
        "numpy's error settings": tuple(sorted(np.geterr().items())),
    }


def _restore(before):
    np.seterr(**dict(before["numpy's error settings"]))
