"""Item 9: small files that take all memory, files without end, and messages without end."""

from __future__ import annotations

import os
import time
from functools import partial

from tests.hostile.campaign import Finding
from tests.hostile.forks import run_command


def _command(case, *words, limit=14.0):
    began = time.monotonic()
    done = run_command(case.folder, *words, limit=limit)
    try:
        done.check()
    except Finding as finding:
        return f"{finding.what}: {finding.detail} after {time.monotonic() - began:.0f} s"
    return None


def diagonal(missing, case):
    """500 rows of 500 runs, topics and measures."""
    rows = "".join(f"r{i},t{i},m{i},0.5\n" for i in range(500))
    (case.folder / "wide.csv").write_text("run,topic,measure,score\n" + rows)
    return _command(case, "convert", "wide.csv", "out.csv", "--missing", missing, limit=60)


def pipe(case):
    """A pipe that nobody writes to."""
    os.mkfifo(case.folder / "pipe.csv")
    return _command(case, "convert", "pipe.csv", "out.csv")


def endless(case):
    """A device that never ends."""
    return _command(case, "convert", "/dev/zero", "out.csv", "--from", "tidy")


def many_columns(case):
    """100,000 columns."""
    names = ",".join(f"run{i}" for i in range(100_000))
    (case.folder / "x_ap.csv").write_text(f"{names}\n{','.join(['0.5'] * 100_000)}\n")
    return _command(case, "convert", "x_ap.csv", "out.csv", "--from", "wide", limit=30)


def many_keys(case):
    """An object of 100,000 keys, one of them twice."""
    keys = ", ".join(f'"k{i}": 0' for i in range(100_000))
    text = f'[{{"id": "1", {keys}, "k99999": 1}}]'
    for name in ("gold.json", "run.json"):
        (case.folder / name).write_text(text)
    return _command(case, "score", "gold.json", "run.json", "-l", "dialogue-quality", "--aspect", "A", limit=30)


def large_when_opened(case):
    """A small Parquet file of 40 million rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2_000_000, np.int8)), pa.array(["a"]))
    table = pa.table({"run": label, "topic": label, "measure": label, "score": np.zeros(2_000_000)})
    with pq.ParquetWriter(case.folder / "big.parquet", table.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(table)
    return _command(case, "convert", "big.parquet", "out.csv", limit=60)


def long_messages(case):
    """A label of 100,000 letters, and one of several lines, in a message."""
    import metaeval as me

    for label in ("x" * 100_000, "a\nb"):
        path = case.folder / "pilot.csv"
        path.write_text(f'run,topic,measure,score\n"{label}",t,AP,high\n')
        try:
            case.call(me.io.read_scores, path)
        except Finding as finding:
            return f"{finding.what}: {finding.detail[:100]}"
    return None


CHECKS = {
    "9 memory of a sparse file": partial(diagonal, "raise"),
    "9 memory of a sparse file, drop-topic": partial(diagonal, "drop-topic"),
    "9 a pipe hangs": pipe,
    "9 a device never ends": endless,
    "9 many columns take long": many_columns,
    "9 many keys take long": many_keys,
    "9 a small file of many rows": large_when_opened,
    "9 messages without end": long_messages,
}
