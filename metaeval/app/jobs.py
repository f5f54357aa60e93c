"""Long work in a process of its own: it shows progress, can be stopped, and leaves the pages quick."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import IO, Any

from metaeval.errors import MetaevalError, shorten
from metaeval.measures.user_file import LABELS_ONLY

MOST_FILES = 500
SEVERAL = "folder"
"""What commands call several files that were sent together."""
_SENT = re.compile(r"\bsent-[0-9a-f]+/")
_CODE = (*all_suffixes(), ".pyw")
"""Ends of the names of files that Python can run or import from."""
_NOTE = "metaeval: note: "
_PATIENCE = 3.0  # seconds that a stopped command has to clear up


class Workspace:
    """A temporary folder of one visitor, which goes with the visit.

    Whatever visitors send is written below it, under a name that stays there. Commands run in the folder itself, where
    nothing that was sent lies: programs read settings, and Python modules, from there.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="metaeval-app-"))
        self.job: Job | None = None
        self.opened: tuple[object, Any] = (None, None)
        """The scores that were read last, and what they were read from: they too go with the visit."""
        self._folders = 0
        self._last_sent: tuple[object, str] = (None, "")
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def close(self) -> None:
        """End what is running and remove the folder."""
        if self.job is not None:
            self.job.stop()
        self.opened = (None, None)
        self._remove()

    def keep(self, files: Sequence[tuple[str, Callable[[], bytes]]], sending: object = None) -> str:
        """Write files that were sent, and return what commands call them: a file, or the folder of several."""
        if sending is not None and sending == self._last_sent[0]:
            return self._last_sent[1]
        if len(files) > MOST_FILES:
            raise MetaevalError(f"there are {len(files)} files; up to {MOST_FILES} can be read at once")
        names = [clean_name(name) for name, _ in files]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise MetaevalError(f"two files are called {name}: rename one of them")
        if self.job is None or not self.job.running:
            for earlier in self.path.glob("sent-*"):
                shutil.rmtree(earlier, ignore_errors=True)
        folder = self.path / f"sent-{secrets.token_hex(8)}"  # which no name in a file that was sent can foresee
        folder.mkdir()
        if len(files) > 1:  # always of the same name, because draws depend on what the scores are called
            folder = folder / SEVERAL
            folder.mkdir()
        for name, (_, read) in zip(names, files, strict=True):
            (folder / name).write_bytes(read())
        source = (folder if len(files) > 1 else folder / names[0]).relative_to(self.path).as_posix()
        self._last_sent = (sending, source)
        return source

    def name_files(self, text: str) -> str:
        """Return a message that calls files as the visitor does, not by where they lie here."""
        return _SENT.sub("", text.replace(f"{self.path}{os.sep}", ""))

    def new_folder(self) -> Path:
        """Return an empty folder for the results of a command."""
        self._folders += 1
        folder = self.path / f"results-{self._folders}"
        folder.mkdir()
        return folder


class Visits:
    """The folders of all visitors, so that each goes, with what is running in it, when its visit is over."""

    def __init__(self, is_here: Callable[[str], bool], patience: float) -> None:
        self._is_here, self._patience = is_here, patience
        self._open: dict[str, weakref.ref[Workspace]] = {}
        self._seen: dict[str, float] = {}

    def add(self, visit: str, workspace: Workspace) -> None:
        """Remember whose folder it is."""
        self._seen[visit] = time.monotonic()
        self._open[visit] = weakref.ref(workspace)

    def clear(self) -> None:
        """Close the folders of those who have been away for too long."""
        now = time.monotonic()
        for visit, reference in list(self._open.items()):
            workspace = reference()
            if workspace is not None and self._is_here(visit):
                self._seen[visit] = now
            elif workspace is None or now - self._seen[visit] > self._patience:
                del self._open[visit], self._seen[visit]
                if workspace is not None:
                    workspace.close()

    def watch(self, every: float) -> None:
        """Look after them for as long as the server runs."""

        def look() -> None:
            while True:
                time.sleep(every)
                self.clear()

        threading.Thread(target=look, daemon=True).start()


def clean_name(name: str) -> str:
    """Return a file's name that is safe to write, no option and no program: its last part, the same where that will do.

    >>> clean_name("../../etc/scores (1).csv"), clean_name("--out"), clean_name(".."), clean_name("a<b>.csv")
    ('scores (1).csv', 'out', 'scores', 'a_b_.csv')
    >>> clean_name("scores.py"), clean_name("scores.cpython-312-x86_64-linux-gnu.so"), clean_name("@scores.PY")
    ('scores.txt', 'scores.cpython-312-x86_64-linux-gnu.txt', 'scores.txt')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    cleaned = re.sub(r'[<>:"|?*]+', "_", "".join(letter if letter.isprintable() else "_" for letter in last))
    cleaned = cleaned.strip().lstrip("-.@ ").rstrip(". ")
    if cleaned.lower().endswith(_CODE):
        cleaned = f"{cleaned.rpartition('.')[0]}.txt"
    stem, dot, suffix = cleaned.rpartition(".")
    if not dot or len(suffix) > 20:
        stem, dot, suffix = f"{stem}{dot}{suffix}", "", ""
    # File systems count bytes.
    return (stem.encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore") or "scores") + dot + suffix


_LONGEST_NAME = 150


class Job:
    """A command of metaeval that runs in the background; names in it may be labels of data and never lead to code."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.words = list(words)
        self.began = time.monotonic()
        self.stopped = False
        """Whether somebody stopped it."""
        self._out, self._messages = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115  (open as long as the job is asked about)
        try:
            self._process = self._start(folder)
        except (OSError, ValueError) as error:  # a name from data is too long for a command, or holds a NUL
            raise MetaevalError(f"the command cannot be started ({error}): rename what has an odd name") from None
        weakref.finalize(self, _clear, self._process, self._out, self._messages)

    def _start(self, folder: Path) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join(path for path in sys.path if path)
        return subprocess.Popen(  # noqa: S603  (a list of words, no shell)
            [sys.executable, "-P", "-m", "metaeval", *self.words],  # -P: no module is taken from the folder it runs in
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._messages,
            env={**os.environ, LABELS_ONLY: "1", "COLUMNS": "120", "PYTHONPATH": paths},
        )

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    @property
    def seconds(self) -> float:
        """For how long it has been running."""
        return time.monotonic() - self.began

    @property
    def succeeded(self) -> bool:
        """Whether it ended as it should."""
        return self._process.poll() == 0

    def stop(self) -> None:
        """End it, as Ctrl-C would."""
        self.stopped = True
        _end(self._process)

    def printed(self) -> str:
        """Return what it has printed."""
        return self._read(self._out)

    def lines(self) -> list[str]:
        """Return what it has said on the way: progress, warnings, errors."""
        return [line.removeprefix("metaeval: ") for line in self._read(self._messages).splitlines() if line.strip()]

    def notes(self) -> list[str]:
        """Return what a reader of the results has to know."""
        return [line.removeprefix(_NOTE) for line in self._read(self._messages).splitlines() if line.startswith(_NOTE)]

    def problem(self) -> str:
        """Return in a sentence why it failed."""
        messages = self.lines()
        return shorten(_SENT.sub("", messages[-1])) if messages else "the computation ended without a word"

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
