"""Peak memory of whole processes, as the operating system counts it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Any

_PEAK = """
status = pathlib.Path("/proc/self/status")
# Linux hands ru_maxrss down from the process that starts this one; VmHWM is this one's alone.
said = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")] if status.exists() else []
print((int(said[0].split()[1]) if said else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024)
"""
_CASE = f"""
import pathlib, resource, sys
import numpy as np
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.streams import stream_key
n_runs, n_topics, n_measures, n_permutations = map(int, sys.argv[1:])
values = np.random.default_rng(0).random((n_runs, n_topics, n_measures))
randomised_tukey_hsd(values, n_permutations=n_permutations, key=stream_key(0), engine="numba")
{_PEAK}"""
_STORE = """
import sys
import numpy as np
import metaeval as me
folder, *sizes = sys.argv[1:]
n_runs, n_topics, n_measures = map(int, sizes)
rng = np.random.default_rng(0)
values = np.empty((n_runs, n_topics, n_measures))
for run in values:
    run[:] = np.clip(rng.normal(0.4 + 0.1 * rng.random(), 0.2, run.shape), 0, 1).round(2)
labels = {"runs": range(n_runs), "topics": range(n_topics), "measures": [f"M{m}" for m in range(n_measures)]}
me.ScoreStore(folder).add(me.Scores(values, collection="many", **labels))
"""
_COMMAND = f"""
import pathlib, resource, sys
from metaeval.cli import main
sys.stdout = sys.stderr
try:
    main()
except SystemExit as ended:
    assert not ended.code
sys.stdout = sys.__stdout__
{_PEAK}"""


_COMMANDS = {
    **{
        f"power STORE --test {test}": ["-B", "{trials}", "--bootstrap", "10"]
        for test in ("randomised-tukey-hsd", "max-t", "bootstrap-t")
    },
    "consistency STORE": ["--trials", "{trials}", "-B", "{trials}"],
    "similarity STORE": ["--bootstrap", "{trials}"],
    "coverage STORE -r M0 -r M1": ["--bootstrap", "{trials}"],
    "agreement STORE --reference M0 --statistic tau_b --statistic topic_pearson --statistic spa": [
        "-B",
        "{few}",
        "--bootstrap",
        "{few}",
    ],
}
"""Commands that read a store in parts, with options that let them resample for intervals."""

FEW = 2
"""Trials where one takes as long as many of others."""


def measure_commands(
    n_runs: int, n_topics: int, n_measures: int, n_trials: int, which: str = ""
) -> list[dict[str, Any]]:
    """Measure the peak memory of commands that read a store in parts.

    Parameters
    ----------
    n_runs, n_topics, n_measures, n_trials : int
    which : str, optional
        Only commands that begin so.

    Returns
    -------
    list of dict
        As `run`.
    """
    sizes = [str(number) for number in (n_runs, n_topics, n_measures)]
    what = f"{n_runs} runs × {n_topics:,} topics × {n_measures} measures"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", _STORE, f"{folder}/store", *sizes], check=True)  # noqa: S603
        for command, options in _COMMANDS.items():
            if not command.startswith(which):
                continue
            words = [f"{folder}/store" if word == "STORE" else word for word in command.split()]
            words += [word.format(trials=n_trials, few=FEW) for word in options]
            printed = subprocess.run(  # noqa: S603
                [sys.executable, "-c", _COMMAND, *words], stdout=subprocess.PIPE, text=True, check=True
            ).stdout
            made = FEW if "{few}" in options else n_trials
            name = f"`metaeval {command}`, {what}, {'B = ' if command.startswith('power') else 'trials: '}{made:,}"
            rows.append({"name": name, "megabytes": float(printed), "demand": "≤ 1 GB"})
    return rows


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure peak memory, in megabytes.

    Parameters
    ----------
    quick : bool
        Leave the largest cases out.

    Returns
    -------
    list of dict
        Rows of name, megabytes and demand.
    """
    cases = [((22, 390, 6, 5000), "≤ 300 MB"), ((22, 390, 6, 50_000), "≤ 300 MB")]
    if not quick:
        cases.append(((15, 10_000, 8, 5000), "≤ 1 GB"))
    rows = []
    for (n_runs, n_topics, n_measures, n_permutations), demand in cases:
        words = [str(number) for number in (n_runs, n_topics, n_measures, n_permutations)]
        printed = subprocess.run(  # noqa: S603
            [sys.executable, "-c", _CASE, *words], capture_output=True, text=True, check=True
        ).stdout
        name = f"{n_runs} runs × {n_topics:,} topics × {n_measures} measures, B = {n_permutations:,}"
        rows.append({"name": name, "megabytes": float(printed), "demand": demand})
    return rows if quick else [*rows, *measure_commands(200, 50_000, 8, 40)]
