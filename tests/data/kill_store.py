"""Kill writers of a store at random moments, and see whether it is whole each time.

``python -m tests.data.kill_store`` kills 300 and prints the counts; the test-suite kills a few. One or two
writers write at once, a reader reads beside them, and each is ended by SIGKILL or SIGTERM.
"""

import argparse
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from metaeval import Scores, ScoreStore
from metaeval.errors import StoreError

SHAPE = (40, 50, 2)
LABELS = {"runs": [f"r{i}" for i in range(SHAPE[0])], "topics": [f"t{i}" for i in range(SHAPE[1])]}
# Starting a process is slow when it has to import everything first, and kills would all hit the imports.
CONTEXT = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
PRELOADED = ["metaeval.data.store", "pyarrow.parquet"]


def write(path, writer, begun, done):
    """Write turn after turn: every score of a turn has the same value, by which the turn is known."""
    store = ScoreStore(path)
    turn = done[writer]
    while True:
        turn += 1
        begun[writer] = turn
        value = 2 * turn + writer
        both = Scores(np.full(SHAPE, value), measures=["A", "B"], collection="c", **LABELS)
        store.add(both, replace=bool(turn % 2))
        done[writer] = turn


def read(path, stop, report):
    """Read without a pause, and say what was wrong, if anything was."""
    store, readings = ScoreStore(path), 0
    while not stop.is_set():
        try:
            if store.collections():
                value_of(store, "B" if readings % 3 == 0 else None)
                readings += 1
        except Exception as error:
            report.put(f"reader: {type(error).__name__}: {error}")
            return
    report.put(readings)


def value_of(store, measures=None):
    """Return the value of the turn that was written last, once all of it is known to be of one turn."""
    scores = store.load("c", measures)
    values = np.unique(scores.values)
    assert scores.values.shape[:2] == SHAPE[:2], scores
    assert len(values) == 1, f"scores of several turns: {values}"
    return int(values[0])


def kill_writers(folder, kills, seed, longest=0.12):
    """Kill writers and count what was found afterwards: whole stores, and whatever was not."""
    CONTEXT.set_forkserver_preload(PRELOADED)
    rng = random.Random(seed)
    store = ScoreStore(folder)
    begun, done = (CONTEXT.Array("q", 2, lock=False) for _ in range(2))
    stop, report = CONTEXT.Event(), CONTEXT.Queue()
    reader = CONTEXT.Process(target=read, args=(folder, stop, report))
    reader.start()
    counts = Counter(killed=0)
    while counts["killed"] < kills:
        writers = [CONTEXT.Process(target=write, args=(folder, who, begun, done)) for who in range(rng.choice((1, 2)))]
        before = sum(done)
        for writer in writers:
            writer.start()
        give_up = time.monotonic() + 60
        while sum(done) == before and rng.random() < 0.999 and time.monotonic() < give_up:
            time.sleep(0.001)  # most kills should hit a write, a few the very first moments
        time.sleep(rng.uniform(0, longest))
        number = rng.choice((signal.SIGKILL, signal.SIGTERM))
        for writer in writers:
            os.kill(writer.pid, number)
        for writer in writers:
            writer.join()
            counts["killed"] += 1
            counts[f"ended by signal {-writer.exitcode}"] += 1
        verdict = judge(store, begun, done)
        counts[verdict] += 1
    stop.set()
    answer = report.get(timeout=60)
    reader.join()
    counts["readings beside" if isinstance(answer, int) else f"NOT WHOLE {answer}"] += (
        answer if isinstance(answer, int) else 1
    )
    counts["writes"] = sum(done)
    store.add(Scores([[[0.0]]], runs=["r"], topics=["t"], measures=["A"], collection="c"), replace=True)
    names = sorted(path.name for path in Path(folder).iterdir() if path.name not in (".lock", "manifest.json"))
    counts[f"STRAY {names}" if len(names) > 1 else "nothing left after the next write"] += 1
    return counts


def judge(store, begun, done):
    try:
        if not store.collections():
            return "whole" if not any(done) else "NOT WHOLE: a write that was done is gone"
        turn, writer = divmod(value_of(store), 2)
        assert value_of(store, "A") == 2 * turn + writer
    except (StoreError, AssertionError) as error:
        return f"NOT WHOLE {error}"
    if not done[writer] <= turn <= begun[writer]:
        return f"NOT WHOLE: turn {turn} is in it, {done[writer]} were done and {begun[writer]} begun"
    return "whole"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = kill_writers(folder, options.kills, options.seed)
    for what, count in sorted(counts.items()):
        print(f"{what}: {count:,}")
    raise SystemExit(any(what.startswith(("NOT WHOLE", "STRAY")) for what in counts))


if __name__ == "__main__":
    main()
