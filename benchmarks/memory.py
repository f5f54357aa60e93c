"""Peak memory of whole processes, as the operating system counts it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

_CASE = """
import pathlib, resource, sys
import numpy as np
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.streams import stream_key
n_runs, n_topics, n_measures, n_permutations = map(int, sys.argv[1:])
values = np.random.default_rng(0).random((n_runs, n_topics, n_measures))
randomised_tukey_hsd(values, n_permutations=n_permutations, key=stream_key(0), engine="numba")
status = pathlib.Path("/proc/self/status")
# Linux hands ru_maxrss down from the process that starts this one; VmHWM is this one's alone.
said = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")] if status.exists() else []
print((int(said[0].split()[1]) if said else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024)
"""


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure peak memory, in megabytes.

    Parameters
    ----------
    quick : bool
        Leave the largest case out.

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
    return rows
