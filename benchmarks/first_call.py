"""From the command to its answer: whole processes, beside one that only imports pandas, measured in turn."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import metaeval as me

CALLS = {
    "import pandas": (["-c", "import pandas"], ""),
    "import metaeval; metaeval.Scores": (["-c", "import metaeval; metaeval.Scores"], "at most 1 time pandas"),
    "metaeval --help": (["-m", "metaeval", "--help"], ""),
    "metaeval power, 22 × 390 × 6, CSV": (["-m", "metaeval", "power", "c.csv"], "at most 2.9 times pandas"),
    "the same, no kernel kept": (["-m", "metaeval", "power", "c.csv"], ""),
}


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure every call in turn, after one that is not counted: bytecode and the kernel are kept then.

    Parameters
    ----------
    quick : bool
        Fewer rounds.

    Returns
    -------
    list of dict
        Rows of name, seconds (median), ratio (median of the seconds over those of ``import pandas`` in the same round)
        and demand.
    """
    values = np.random.default_rng(0).random((22, 390, 6)) * 0.2
    values += np.linspace(0, 0.2, 22)[:, np.newaxis, np.newaxis]
    names = ["NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD"]
    taken: dict[str, list[float]] = {name: [] for name in CALLS}
    with tempfile.TemporaryDirectory() as folder:
        scores = me.Scores(values, runs=range(22), topics=range(390), measures=names, collection="c")
        me.io.write_scores(scores, Path(folder, "c.csv"))
        root = str(Path(__file__).resolve().parents[1])
        kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        common = {**os.environ, **kept, "PYTHONPATH": root, "NUMBA_CACHE_DIR": f"{folder}/kernels"}
        for number in range(4 if quick else 12):
            for name, (words, _) in CALLS.items():
                more = {"NUMBA_CACHE_DIR": f"{folder}/kernels{number}"} if name.startswith("the same") else {}
                began = time.perf_counter()
                subprocess.run(  # noqa: S603
                    [sys.executable, *words], cwd=folder, env=common | more, check=True, capture_output=True
                )
                if number:
                    taken[name].append(time.perf_counter() - began)
    pandas = taken["import pandas"]
    return [
        {
            "name": name,
            "seconds": statistics.median(own),
            "ratio": statistics.median([one / other for one, other in zip(own, pandas, strict=True)]),
            "demand": CALLS[name][1],
        }
        for name, own in taken.items()
    ]
