"""What runs in forked processes: the command line with output of its own, and writers that will be killed."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from pathlib import Path

# Imported once, in the process that all others are forked from.
import matplotlib.figure  # noqa: F401
import pyarrow.parquet  # noqa: F401
import scipy.stats  # noqa: F401

import metaeval as me
import metaeval.cli
import metaeval.cli.generate
import metaeval.comparison.new_measure
import metaeval.datasets.open
import metaeval.show.drawing
from tests.hostile.campaign import limit_memory, peak, reset_peak


def run_command(words, folder, encoding, environment):
    """Run the command line as a process of its own would, and end with its status."""
    os.setpgid(0, 0)
    limit_memory()
    reset_peak()
    os.environ.update(environment)
    os.chdir(folder)
    _redirect(folder, encoding)
    sys.argv = ["metaeval", *words]
    if environment.get("HOSTILE_KILL_WORKER"):
        threading.Thread(target=_kill_worker, daemon=True).start()
    status = 1
    try:
        from metaeval.__main__ import main

        main()
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException as error:  # what Python itself would print
        import traceback

        traceback.print_exception(error)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        status = 120
    sys.stderr.flush()
    Path(folder, ".memory").write_text(str(peak()))
    os._exit(status)


def _kill_worker():
    """Kill the first worker process of joblib that this process starts."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(path.read_text().rpartition(")")[2].split()[1])
                line = (path.parent / "cmdline").read_bytes()
            except (OSError, ValueError, IndexError):
                continue
            if parent == os.getpid() and b"loky" in line and b"tracker" not in line:
                time.sleep(1.5)  # let it get to work
                os.kill(int(path.parent.name), signal.SIGKILL)
                Path(".killed").touch()
                return
        time.sleep(0.01)


def _redirect(folder, encoding):
    for number, name in ((0, os.devnull), (1, Path(folder, ".out")), (2, Path(folder, ".err"))):
        handle = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    out, err = (io.FileIO(number, "w", closefd=False) for number in (1, 2))
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.BufferedWriter(out), encoding=encoding, errors="strict")
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(
        io.BufferedWriter(err), encoding=encoding, errors="backslashreplace", line_buffering=True
    )


def write_store(path, values, names, replace, ready):
    """Add to a store again and again, each time other numbers, until killed."""
    os.setpgid(0, 0)
    store = me.ScoreStore(path)
    open(ready, "w").close()
    for turn in range(10_000):
        for name in names:
            store.add(_scores(values + turn / 1024, name), replace=replace)


def _scores(values, name):
    runs, topics = [f"r{i}" for i in range(len(values))], [f"t{i}" for i in range(values.shape[1])]
    return me.Scores(values, runs=runs, topics=topics, measures=["A", "B"], collection=name)
