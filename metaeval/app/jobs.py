"""Long work in a process of its own: it shows progress, can be stopped, and leaves the pages quick."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from metaeval.errors import MetaevalError, shorten

MOST_FILES = 500
_NOTE = "metaeval: note: "
_PATIENCE = 3.0  # seconds that a stopped command has to clear up


class Workspace:
    """A temporary folder of one visitor, which goes with the visit.

    Whatever visitors send is written here under a name of letters, digits, dots, hyphens and underscores.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="metaeval-app-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self._results = 0

    def keep(self, files: Sequence[tuple[str, bytes]]) -> str:
        """Write files that were sent, and return what commands call them: a file, or the folder of several.

        Parameters
        ----------
        files : sequence of (str, bytes)
            Name and content.

        Returns
        -------
        str
            A path inside the folder.

        Raises
        ------
        MetaevalError
            If there are too many files, or two of the same name.
        """
        if len(files) > MOST_FILES:
            raise MetaevalError(f"there are {len(files)} files; up to {MOST_FILES} can be read at once")
        names = [clean_name(name) for name, _ in files]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise MetaevalError(f"two files are called {name}: rename one of them")
        folder = self.path if len(files) == 1 else self.path / f"files-{self._count()}"
        folder.mkdir(exist_ok=True)
        for name, (_, content) in zip(names, files, strict=True):
            (folder / name).write_bytes(content)
        return names[0] if len(files) == 1 else folder.name

    def new_folder(self) -> Path:
        """Return an empty folder for the results of a command."""
        folder = self.path / f"results-{self._count()}"
        folder.mkdir()
        return folder

    def _count(self) -> int:
        self._results += 1
        return self._results


def clean_name(name: str) -> str:
    """Return a file's name that is safe to write and no option of a command: its last part, without other letters.

    Parameters
    ----------
    name : str

    Returns
    -------
    str

    Examples
    --------
    >>> clean_name("../../etc/pass wd.csv"), clean_name("--out"), clean_name("..")
    ('pass_wd.csv', 'out', 'scores')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]+", "_", last).lstrip("-._")[-100:].lstrip("-._") or "scores"


class Job:
    """A command of metaeval that runs in the background.

    Parameters
    ----------
    words : sequence of str
        What stands after ``metaeval``.
    folder : Path
        Where it runs.
    """

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.words = list(words)
        self.began = time.monotonic()
        self._stopped = False
        self._out, self._said = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115  (open as long as the job is asked about)
        self._process = subprocess.Popen(  # noqa: S603  (a list of words, no shell)
            [sys.executable, "-m", "metaeval", *self.words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._said,
            env={**os.environ, "COLUMNS": "120", "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)},
        )
        weakref.finalize(self, _clear, self._process, self._out, self._said)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    @property
    def seconds(self) -> float:
        """For how long it has been running."""
        return time.monotonic() - self.began

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped it."""
        return self._stopped

    @property
    def succeeded(self) -> bool:
        """Whether it ended as it should."""
        return self._process.poll() == 0

    def stop(self) -> None:
        """End it, as Ctrl-C would."""
        self._stopped = True
        _end(self._process)

    def printed(self) -> str:
        """Return what it has printed."""
        return self._read(self._out)

    def lines(self) -> list[str]:
        """Return what it has said on the way: progress, warnings, errors."""
        return [line.removeprefix("metaeval: ") for line in self._read(self._said).splitlines() if line.strip()]

    def notes(self) -> list[str]:
        """Return what a reader of the results has to know."""
        return [line.removeprefix(_NOTE) for line in self._read(self._said).splitlines() if line.startswith(_NOTE)]

    def problem(self) -> str:
        """Return in a sentence why it failed."""
        said = self.lines()
        return shorten(said[-1]) if said else "the computation ended without a word"

    @staticmethod
    def _read(file: IO[bytes]) -> str:
        # The process writes at the end through a descriptor of its own, so reading from the start disturbs nothing.
        descriptor = file.fileno()
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, size, 0).decode("utf-8", "replace")


def _clear(process: subprocess.Popen[bytes], *files: IO[bytes]) -> None:
    _end(process)
    for file in files:
        file.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)
        return
    process.kill()
    process.wait()
