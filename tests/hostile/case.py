"""One hostile case: its random numbers, its folder, its limits; and many of them as one test."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import traceback
import warnings
from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import binom

INPUTS = int(os.environ.get("HOSTILE_INPUTS", "1"))
"""How many times the usual number of cases: HOSTILE_INPUTS=100 for a night."""

SEED = int(os.environ["HOSTILE_SEED"])
"""Of the commit that is tested, unless it is given (conftest.py beside pyproject.toml): every commit tries other inputs."""

MEMORY = 1 << 30
"""Bytes of memory that no case may need."""


class Finding(AssertionError):
    """What must not happen has happened."""


class Refused(Exception):
    """The case ended, as it may, in one sentence of refusal."""


class _TimeUp(BaseException):
    """The case has run for too long."""


class Case:
    """One input: everything random comes from `rng`, all files go to `folder`."""

    def __init__(self, name: str, number: int, folder: Path) -> None:
        self.number, self.folder = number, folder
        self.rng = random.Random(f"{SEED}:{name}:{number}")

    def call(self, function, *arguments, **options):
        """Return what a function of metaeval returns, and its notes; (None, [sentence]) where it refuses.

        Anything but a MetaevalError is a finding, and so is a message that is no single short line.
        """
        from metaeval.errors import MetaevalError, MetaevalWarning

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = function(*arguments, **options)
            except MetaevalError as error:
                check_sentence(str(error))
                return None, [str(error)]
            except (Exception, SystemExit) as error:
                raise Finding(f"{type(error).__name__} from {_innermost(error)}: {str(error)[:300]}") from error
        notes = [str(each.message) for each in caught if issubclass(each.category, MetaevalWarning)]
        for sentence in notes:
            check_sentence(sentence)
        return result, notes

    def result_of(self, function, *arguments, **options):
        """Return what a function returns; a refusal ends the case."""
        result, notes = self.call(function, *arguments, **options)
        if result is None:
            raise Refused(notes[0] if notes else "")
        return result


def check_sentence(message: str) -> None:
    """Whatever a user is told is one line, and not longer than a paragraph."""
    if not message.strip():
        raise Finding("an empty message")
    if "\n" in message.strip() or "\r" in message.strip():
        raise Finding(f"a message of several lines: {message[:200]!r}")
    if len(message) > 2000:
        raise Finding(f"a message of {len(message):,} letters: {message[:120]}")


def _innermost(error: BaseException) -> str:
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}metaeval{os.sep}" in frame.filename
    ]
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "outside of metaeval"


def run_cases(part, inputs: int, folder: Path, *, least_equal: float = 0.1, seconds: float = 20.0) -> None:
    """Run many cases of one part, and fail with the first finding and how to see it again.

    `least_equal` is the share of cases that must not end in a refusal: a part that refuses everything tests nothing. Fewer
    are a finding where chance gives so few to one session in a million at most, since every commit draws other cases.
    """
    only = os.environ.get("HOSTILE_CASE")
    numbers = [int(only)] if only else range(inputs * INPUTS)
    ends: Counter[str] = Counter()
    for number in numbers:
        place = folder / f"{number}"
        place.mkdir()
        _reset_peak()
        before = _peak()
        try:
            with _time_limit(seconds * patience()):
                part(Case(part.__name__, number, place))
            ends["equal"] += 1
        except Refused:
            ends["refused"] += 1
        except (Finding, _TimeUp, MemoryError) as finding:
            what = f"it takes longer than {seconds:g} s" if isinstance(finding, _TimeUp) else f"{finding!r:.1000}"
            pytest.fail(f"HOSTILE_SEED={SEED} HOSTILE_CASE={number}: {what}")
        if _peak() - before > MEMORY:
            pytest.fail(f"HOSTILE_SEED={SEED} HOSTILE_CASE={number}: it takes {(_peak() - before) / 1e9:.1f} GB")
    by_chance = binom.cdf(ends["equal"], ends.total(), least_equal)
    assert only or by_chance > 1e-6, f"HOSTILE_SEED={SEED}: nearly everything is refused: {ends}"


def patience() -> float:
    """How many times longer than on an idle machine things may take, now: a busy machine is no hang."""
    return max(1.0, 1.5 * os.getloadavg()[0] / (os.cpu_count() or 1))


@contextlib.contextmanager
def _time_limit(seconds: float):
    def stop(*_):
        raise _TimeUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _reset_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """Return the most bytes of memory that this process has had since `_reset_peak`; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0
