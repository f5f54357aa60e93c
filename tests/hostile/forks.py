"""Commands in processes that can hang or be killed: forked from one that has imported everything."""

import atexit
import contextlib
import multiprocessing
import os
import pkgutil
import signal
import sys
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import metaeval
from tests.hostile.case import MEMORY, Refused, patience


@dataclass(frozen=True)
class Done:
    """How a command ended; `status` is None where it was killed for taking too long."""

    status: int | None
    out: bytes
    err: bytes
    memory: int

    @property
    def message(self) -> str:
        """What stands on stderr."""
        return self.err.decode("utf-8", "replace").strip()

    def check(self, *, may_fail: bool = True) -> "Done":
        """Status 0, or status 2 and one line on stderr besides notes; anything else is a finding."""
        assert self.status is not None, "the command does not end"
        ended = "Traceback" not in self.message and self.status in (0, 2)
        assert ended, f"the command ends with status {self.status}: {self.message[-1000:]}"
        assert self.memory <= MEMORY, f"the command needs {self.memory / 1e9:.1f} GB"
        if self.status == 0:
            return self
        lines = [line for line in self.message.splitlines() if line.strip()]
        one_each = lines and all(line.startswith("metaeval: ") and len(line) <= 2500 for line in lines)
        assert one_each, f"an error of no, several or endless lines: {self.message[:500]}"
        assert may_fail, f"a right command is refused: {lines[-1]}"
        raise Refused(lines[-1])


def run_command(folder, *words, encoding="utf-8", limit=20.0) -> Done:
    """Run the command line in a folder; after `limit` seconds of an idle machine it is killed."""
    for name in (".out", ".err", ".memory"):
        Path(folder, name).unlink(missing_ok=True)
    process = _context().Process(target=_run, args=([str(word) for word in words], str(folder), encoding))
    process.start()
    try:
        process.join(limit * patience())
        status = process.exitcode
    finally:
        if process.exitcode is None:
            _kill(process)
    read = lambda name: Path(folder, name).read_bytes() if Path(folder, name).exists() else b""  # noqa: E731
    return Done(status, read(".out"), read(".err"), int(read(".memory") or 0))


@cache
def _context():
    """Return how processes are started: from one that has imported all of metaeval but the playground, and what is late."""
    names = [module.name for module in pkgutil.walk_packages(metaeval.__path__, "metaeval.")]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([
        "tests.hostile.forks", "matplotlib.figure", "pyarrow.parquet", "scipy.stats",
        *(name for name in names if not name.startswith("metaeval.app")),
    ])  # fmt: skip
    return context


def _kill(process) -> None:
    """Kill a process and those that it started."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process.pid, signal.SIGKILL)
            break
    process.join(10)


def _run(words, folder, encoding) -> None:
    """Run the command line as a process of its own would, and end with its status."""
    import resource

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_DATA, (3 << 30, 3 << 30))  # a runaway ends in a MemoryError
    os.chdir(folder)
    _redirect(folder, encoding)
    sys.argv = ["metaeval", *words]
    status = 1
    try:
        from metaeval.__main__ import main

        main()
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException as error:  # what Python itself would print
        import traceback

        traceback.print_exception(error)
    atexit._run_exitfuncs()  # as a process of its own would, before what is left open is reported
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        status = 120
    sys.stderr.flush()
    Path(folder, ".memory").write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10))
    os._exit(status)


def _redirect(folder, encoding) -> None:
    for number, name in ((0, os.devnull), (1, Path(folder, ".out")), (2, Path(folder, ".err"))):
        handle = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    out, err = (partial(open, number, "w", encoding=encoding, closefd=False) for number in (1, 2))
    sys.stdout = sys.__stdout__ = out(errors="strict")
    sys.stderr = sys.__stderr__ = err(errors="backslashreplace", buffering=1)
