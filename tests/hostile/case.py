"""Many inputs as one test: each has random numbers of its own, an empty folder, and limits."""

import contextlib
import os
import random
import signal
import traceback
import warnings
from pathlib import Path

import pytest
from scipy.stats import binom

from metaeval.errors import MetaevalError, MetaevalWarning

INPUTS = float(os.environ.get("HOSTILE_INPUTS", "1"))
"""How many times the usual number of inputs."""

SEED = int(os.environ["HOSTILE_SEED"])
"""Of the commit that is tested, unless it is given (conftest.py beside pyproject.toml)."""

MEMORY = 1 << 30
"""Bytes of memory that no input may need."""


class Refused(Exception):
    """The case ended, as it may, in one sentence of refusal."""


class TimeUp(BaseException):
    """The case has run for too long; nobody catches that."""


def chance(rng, share):
    """Whether something of this probability happens."""
    return rng.randrange(1000) < 1000 * share


def call(function, *arguments, **options):
    """Return what a function of metaeval returns, and its notes; (None, [sentence]) where it refuses.

    Anything but a MetaevalError is a finding, and so is a message that is no single short line.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, said = function(*arguments, **options), []
        except MetaevalError as error:
            result, said = None, [str(error)]
        except (Exception, SystemExit) as error:
            raise AssertionError(f"no sentence: {''.join(traceback.format_exception(error))[-1500:]}") from error
    said += [str(each.message) for each in caught if issubclass(each.category, MetaevalWarning)]
    for sentence in said:
        assert sentence.strip(), "an empty message"
        assert not {"\n", "\r"} & set(sentence.strip()), f"a message of several lines: {sentence[:200]!r}"
        assert len(sentence) <= 2000, f"a message of {len(sentence):,} letters: {sentence[:120]}"
    return result, said


def by_day_and_night(argument, by_day, in_all):
    """Mark a test that tries some inputs in every session, and others at night: the argument is their first and last number."""
    night = pytest.param((by_day, in_all), marks=pytest.mark.nightly, id="night")
    return pytest.mark.parametrize(argument, [pytest.param((0, by_day), id="day"), night])


def try_inputs(part, numbers, folder, *, name="", least_equal=0.1, seconds=20.0):
    """Call a part with random numbers and an empty folder, many times; it raises Refused, or is a finding if it fails.

    `numbers` are the first input's and the last one's, times HOSTILE_INPUTS; of each session at least one is tried.
    `least_equal` is the share that must not end in a refusal: a part that refuses everything tests nothing. Fewer are a
    finding where chance gives so few to one session in a million at most, since every commit draws others.
    """
    only, ends = os.environ.get("HOSTILE_CASE"), []
    first, last = (round(number * INPUTS) for number in numbers)
    for number in [int(only)] if only else range(first, max(first + 1, last)):
        place = folder / f"{number}"
        place.mkdir()
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        before = _peak()
        try:
            with limit_time(seconds * patience()):
                part(random.Random(f"{SEED}:{name or part.__name__}:{number}"), place)
            ends.append(True)
        except Refused:
            ends.append(False)
        except BaseException as finding:
            finding.add_note(f"HOSTILE_SEED={SEED} HOSTILE_CASE={number}: its files are in {place}")
            raise
        gigabytes = (_peak() - before) / 1e9
        assert gigabytes <= MEMORY / 1e9, f"HOSTILE_SEED={SEED} HOSTILE_CASE={number}: {gigabytes:.1f} GB"
    by_chance = binom.cdf(sum(ends), len(ends), least_equal)
    assert only or by_chance > 1e-6, f"nearly everything is refused: {len(ends) - sum(ends)} of {len(ends)}"


def patience():
    """How many times longer than on an idle machine things may take, now: a busy machine is no hang."""
    return max(1.0, 1.5 * os.getloadavg()[0] / (os.cpu_count() or 1))


@contextlib.contextmanager
def limit_time(seconds):
    def stop(*_):
        raise TimeUp(f"it takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _peak():
    """Return the most bytes of memory that this process has had; 0 where the system does not say."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
    return 0
