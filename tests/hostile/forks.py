"""Processes that can hang, be killed or write anywhere: forked from one that has imported everything."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.hostile.campaign import MEMORY, Finding, Outcome, patience

LIMIT = 15.0


@cache
def _context():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.hostile.child"])
    return context


@dataclass(frozen=True)
class Done:
    """How a command ended; `status` is None where it was killed for taking too long."""

    status: int | None
    out: bytes
    err: bytes
    memory: int

    def check(self, *, may_fail=True):
        """Status 0, or status 2 and one line on stderr besides notes; anything else is a finding."""
        said = self.err.decode("utf-8", "replace")
        if self.status is None:
            raise Finding("the command does not end")
        if "Traceback" in said or self.status not in (0, 2):
            last = said.strip().splitlines()[-1] if said.strip() else ""
            kind = last.partition("this is a bug: ")[2].partition(":")[0]
            raise Finding(f"the command ends with status {self.status} {kind}".rstrip(), last[:250])
        if self.memory > MEMORY:
            raise Finding("the command needs more than 1 GB", f"{self.memory / 1e9:.1f} GB")
        if self.status == 0:
            return Outcome("equal")
        errors = [line for line in said.splitlines() if line.strip()]
        if not errors or not all(line.startswith("metaeval: ") for line in errors):
            raise Finding("an error of no or several lines", said[:250])
        if len(errors[-1]) > 2500:
            raise Finding("an error longer than 2,500 letters", said[:120])
        if not may_fail:
            raise Finding("a right command is refused", errors[-1][:250])
        return Outcome("refused")


def start(name, *arguments):
    """Start a function of `tests.hostile.child` in a process of its own group."""
    from tests.hostile import child

    process = _context().Process(target=getattr(child, name), args=arguments)
    process.start()
    return process


def stop(process, with_signal=signal.SIGKILL):
    """Stop a process and those that it started; only what this campaign started is ever stopped."""
    for target in (lambda: os.killpg(process.pid, with_signal), lambda: os.kill(process.pid, with_signal)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            target()
            break
    process.join(10)


def run_command(folder, *words, encoding="utf-8", limit=LIMIT, stop_after=None, how=signal.SIGTERM, **environment):
    """Run the command line in a folder; `stop_after` so many seconds it is sent a signal."""
    for name in (".out", ".err", ".memory"):
        Path(folder, name).unlink(missing_ok=True)
    process = start("run_command", [str(word) for word in words], str(folder), encoding, environment)
    try:
        process.join(limit * patience() if stop_after is None else stop_after)
        ended = process.exitcode is not None
        if not ended and stop_after is not None:
            stop(process, how)
            ended = process.exitcode is not None
    finally:
        if process.exitcode is None:
            stop(process)
    read = lambda name: Path(folder, name).read_bytes() if Path(folder, name).exists() else b""  # noqa: E731
    return Done(process.exitcode if ended else None, read(".out"), read(".err"), int(read(".memory") or 0))


def wait_for(path, seconds=10.0):
    """Wait until a file is there."""
    end = time.monotonic() + seconds
    while not Path(path).exists() and time.monotonic() < end:
        time.sleep(0.002)
