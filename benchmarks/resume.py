"""A study over many collections whose driver is killed at random points: how much is computed again?"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tukey import KEY
from metaeval.stats.paired_tests import MAX_T, PairedTest, all_pairs_test

_DRIVER = """
import os, sys
from benchmarks.resume import Study
from metaeval.stats import _max_t_trials as max_t, blocks, randomised_tukey as tukey
from metaeval.stats.parallel import resumable
folder, log, n_jobs, test, *numbers = sys.argv[1:]
def count(compute):
    def count_and_compute(*what, **options):
        handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, b".")
        os.close(handle)
        return compute(*what, **options)
    return count_and_compute
tukey.trial_ranges, max_t.run_trials = count(tukey.trial_ranges), count(max_t.run_trials)
study = Study(test, *map(int, numbers))
tukey.KEPT_WORK, max_t.KEPT_WORK, max_t.TRIALS_A_BLOCK = study.work, 1, study.n_permutations // study.tasks
if study.in_parts:
    blocks.LARGE = 0
with resumable(folder):
    print(study.run(int(n_jobs)), flush=True)
"""


class Study(NamedTuple):
    """So many collections of one size, each tested with so many trials in so many tasks."""

    test: PairedTest
    collections: int
    n_runs: int
    n_topics: int
    n_measures: int
    n_permutations: int
    tasks: int
    in_parts: int = 0

    @property
    def n_tasks(self) -> int:
        """Tasks of all collections: scores that are taken for large are tested by max-T one measure at a time."""
        groups = self.n_measures if self.in_parts and self.test in MAX_T else 1
        return self.collections * self.tasks * groups

    @property
    def work(self) -> int:
        """Work of one task, as `metaeval.stats.randomised_tukey.KEPT_WORK` counts it."""
        return self.n_permutations // self.tasks * self.n_runs * self.n_topics * (4 + self.n_measures)

    def run(self, n_jobs: int = 1) -> str:
        """Test all collections, and return a digest of all counts.

        Parameters
        ----------
        n_jobs : int, optional

        Returns
        -------
        str
        """
        said = hashlib.sha256()
        for number in range(self.collections):
            values = np.random.default_rng(number).random((self.n_runs, self.n_topics, self.n_measures))
            options: dict[str, Any] = {"n_permutations": self.n_permutations, "engine": "numpy", "n_jobs": n_jobs}
            result = all_pairs_test(values, test=self.test, key=KEY + number, **options)
            said.update(np.ascontiguousarray(result.counts).tobytes())
        return said.hexdigest()


def kill_and_resume(study: Study, kills: int, n_jobs: int, seed: int = 0) -> tuple[int, bool]:
    """Kill the process that runs a study at random points, start it again each time, and count.

    Parameters
    ----------
    study : Study
    kills : int
    n_jobs : int
    seed : int, optional
        Of the points.

    Returns
    -------
    computed : int
        Tasks that were begun, over all processes.
    same : bool
        Whether the last one's result is that of a process that was not killed.
    """
    chance = random.Random(seed)  # noqa: S311
    n_tasks = study.n_tasks
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "begun")
        words = [str(number) for number in (Path(folder, "work"), log, n_jobs, *study)]

        def begun() -> int:
            return log.stat().st_size if log.exists() else 0

        for killed in range(kills):
            driver = subprocess.Popen([sys.executable, "-c", _DRIVER, *words], stdout=subprocess.DEVNULL)  # noqa: S603
            # What is left is shared out among the kills to come, so that each one comes in the middle of the work.
            aim = begun() + chance.randint(1, max(1, (n_tasks - begun()) // (kills - killed)))
            while begun() < aim and driver.poll() is None:
                time.sleep(0.001)
            time.sleep(chance.random() * 0.02)
            driver.kill()
            driver.wait()
        done = subprocess.run([sys.executable, "-c", _DRIVER, *words], capture_output=True, text=True, check=True)  # noqa: S603
        return begun(), done.stdout.strip() == study.run()


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Kill studies over twelve collections twenty times.

    Parameters
    ----------
    quick : bool
        Three times.

    Returns
    -------
    list of dict
        Rows of name, kills, tasks, begun (over all processes), again (of those, more than once) and same.
    """
    studies = [
        Study("randomised-tukey-hsd", 12, n_runs=12, n_topics=50, n_measures=4, n_permutations=64_000, tasks=10),
        Study("bootstrap-t", 12, n_runs=20, n_topics=200, n_measures=4, n_permutations=10_000, tasks=10),
    ]
    kills = 3 if quick else 20
    rows = []
    for study in studies:
        for n_jobs in (1, 2):
            begun, same = kill_and_resume(study, kills, n_jobs)
            n_tasks = study.n_tasks
            name = f"{study.test}, {study.collections} collections, {n_jobs} {'thread' if n_jobs == 1 else 'threads'}"
            rows.append(
                {"name": name, "kills": kills, "tasks": n_tasks, "begun": begun, "again": begun - n_tasks, "same": same}
            )
    return rows
