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
randomised_tukey_hsd(values, n_permutations=n_permutations, key=stream_key(0))
{_PEAK}"""
_SCORES = """
import sys
import numpy as np
import metaeval as me
file, *sizes = sys.argv[1:]
n_runs, n_topics, n_measures = map(int, sizes)
rng = np.random.default_rng(0)
values = rng.normal(0.4, 0.2, (n_runs, n_topics, n_measures)) + 0.1 * rng.random((n_runs, 1, 1))
labels = {"runs": range(n_runs), "topics": range(n_topics), "measures": [f"M{m}" for m in range(n_measures)]}
me.io.write_scores(me.Scores(values.clip(0, 1).round(2), collection="many", **labels), file)
"""
_COMMAND = f"""
import pathlib, resource, sys, time
from metaeval.cli import main
sys.stdout = sys.stderr
try:
    main()
except SystemExit as ended:
    assert not ended.code
sys.stdout = sys.__stdout__
print(time.process_time())
{_PEAK}"""


def measure_commands(n_runs: int, n_topics: int, n_measures: int) -> list[dict[str, Any]]:
    """Measure peak memory and seconds of commands with many runs, as they are typed.

    Parameters
    ----------
    n_runs, n_topics, n_measures : int

    Returns
    -------
    list of dict
        As `run`.
    """
    sizes = [str(number) for number in (n_runs, n_topics, n_measures)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/many.parquet"
        subprocess.run([sys.executable, "-c", _SCORES, file, *sizes], check=True)  # noqa: S603
        for command in ("similarity", "consistency", "power"):
            printed = subprocess.run(  # noqa: S603
                [sys.executable, "-c", _COMMAND, command, file], stdout=subprocess.PIPE, text=True, check=True
            ).stdout
            seconds, megabytes = map(float, printed.split())
            what = f"{n_runs:,} runs × {n_topics} topics × {n_measures} measures, {seconds:.0f} s of processor time"
            rows.append({"name": f"`metaeval {command}`, {what}", "megabytes": megabytes, "demand": "≤ 3 GB and 60 s"})
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
    return rows if quick else [*rows, *measure_commands(2_000, 200, 4)]
