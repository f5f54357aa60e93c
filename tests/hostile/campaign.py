"""One case at a time: its random numbers, its folder, its limits, what came of it, and the counts."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

MEMORY = 1 << 30
"""Bytes of memory that nothing here may need."""

TIME_LIMIT = 20.0
"""Seconds after which a case hangs; every case takes far less than one."""


def patience():
    """How many times longer than on an idle machine things may take, now: a busy machine is no hang."""
    return max(1.0, 1.5 * os.getloadavg()[0] / (os.cpu_count() or 1))


class TimeUp(BaseException):
    """The case has run for too long."""


class Finding(Exception):
    """What must not happen has happened; `what` names the kind of defect, `detail` this case of it."""

    def __init__(self, what, detail=""):
        super().__init__(what, detail)
        self.what, self.detail = what, detail


@dataclass(frozen=True)
class Outcome:
    """How a case ended: "equal" (or as it has to be), "refused" (in one sentence), or "finding"."""

    verdict: str
    what: str = ""
    detail: str = ""


@dataclass
class Case:
    """One input: everything random comes from `rng`, all files go to `folder`."""

    part: str
    number: int
    seed: int
    folder: Path
    rng: random.Random = field(init=False)

    def __post_init__(self):
        self.rng = random.Random(f"{self.seed}:{self.part}:{self.number}")

    def call(self, function, *arguments, **options):
        """What a function of metaeval returns, and the notes it gave; (None, sentence) where it refuses.

        Anything but a MetaevalError is a finding, and so is a message that is no single short line.
        """
        from metaeval.errors import MetaevalError, MetaevalWarning

        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            try:
                found = function(*arguments, **options)
            except MetaevalError as error:
                check_sentence(str(error))
                return None, [str(error)]
            except (Exception, SystemExit) as error:
                raise Finding(f"{type(error).__name__} from {place_of(error)}", str(error)[:300]) from error
        said = [str(note.message) for note in notes if issubclass(note.category, MetaevalWarning)]
        for sentence in said:
            check_sentence(sentence)
        return found, said


def check_sentence(message):
    """Whatever is said to a user is one line, and not longer than a paragraph."""
    if not message.strip():
        raise Finding("an empty message")
    if "\n" in message.strip() or "\r" in message.strip():
        raise Finding("a message of several lines", message[:200])
    if len(message) > 2000:
        raise Finding("a message longer than 2,000 letters", f"{len(message):,}: {message[:120]}")


def place_of(error):
    """The innermost function of metaeval that an exception came through."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if f"{os.sep}metaeval{os.sep}" in one.filename]
    if not frames:
        return "outside of metaeval"
    last = frames[-1]
    return f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.name}"


def run_case(part, function, number, seed, keep=None):
    """Run one case within its limits."""
    folder = Path(keep) if keep else Path(tempfile.mkdtemp(prefix="hostile-"))
    case = Case(part, number, seed, folder)
    limit = getattr(function, "limit", TIME_LIMIT) * patience()
    reset_peak()
    try:
        with _time_limit(part, number, seed, limit):
            outcome = function(case) or Outcome("equal")
    except Finding as finding:
        outcome = Outcome("finding", finding.what, finding.detail)
    except TimeUp:
        outcome = Outcome("finding", f"takes longer than {limit:g} s")
    except MemoryError:
        outcome = Outcome("finding", "MemoryError")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        outcome = Outcome("finding", f"the campaign itself fails with {type(error).__name__} at {where}", str(error))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    used = peak()
    if outcome.verdict != "finding" and used > MEMORY:
        outcome = Outcome("finding", "needs more than 1 GB of memory", f"{used / 1e9:.1f} GB")
    return outcome


@contextlib.contextmanager
def _time_limit(part, number, seed, limit):
    def stop(*_):
        raise TimeUp

    def give_up():
        print(f"{part}:{number} (seed {seed}) hangs and cannot be stopped", file=sys.stderr, flush=True)
        os._exit(3)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    watchdog = threading.Timer(6 * limit, give_up)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        watchdog.cancel()


def reset_peak():
    """Start to measure anew how much memory this process needs at most, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak():
    """Most bytes of memory that this process has had since then."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def limit_memory(most=3 << 30):
    """Let a runaway end in a MemoryError instead of taking the machine with it."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


@dataclass
class Tally:
    """What came of all cases so far."""

    counts: dict = field(default_factory=dict)
    findings: dict = field(default_factory=dict)
    times: dict = field(default_factory=Counter)

    def add(self, part, number, outcome, seconds=0.0):
        """Count one case, and keep the first of every distinct finding."""
        self.counts.setdefault(part, Counter())[outcome.verdict] += 1
        self.times[part] += seconds
        if outcome.verdict == "finding":
            first = self.findings.setdefault((part, outcome.what), [number, outcome.detail, 0])
            first[2] += 1

    def table(self):
        """Kind, tried, equal, refused, findings: one line each, and a total."""
        rows = [("part", "tried", "equal", "refused", "findings", "seconds")]
        total = Counter()
        for part, counts in self.counts.items():
            total += counts
            rows.append(_row(part, counts, self.times[part]))
        rows.append(_row("total", total, sum(self.times.values())))
        return "\n".join(f"{row[0]:<26}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows)

    def sentences(self, seed):
        """Every distinct finding once, in one line that can be reproduced."""
        for (part, what), (number, detail, count) in self.findings.items():
            more = f" ({count} cases)" if count > 1 else ""
            shown = f": {detail}" if detail else ""
            text = f"{what}{more}{shown}"[:400]
            safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
            yield f"--seed {seed} --case {part}:{number}  {safe}".encode("ascii", "backslashreplace").decode()


def _row(name, counts, seconds):
    verdicts = [f"{counts[one]:,}" for one in ("equal", "refused", "finding")]
    return (name, f"{counts.total():,}", *verdicts, f"{seconds:.1f}")


def run_campaign(parts, shares, *, seed, seconds=None, say=print):
    """Run so many cases of every part, round by round, so that a limit of time cuts all of them alike."""
    tally, began, said = Tally(), time.monotonic(), time.monotonic()
    done, most = dict.fromkeys(parts, 0), max(shares.values(), default=0)
    for turn in range(most):
        for part, function in parts.items():
            # Part p of n cases has its case number k when k/n of the whole is done.
            while done[part] < shares[part] * (turn + 1) / most:
                if seconds is not None and time.monotonic() - began > seconds:
                    return tally
                start = time.monotonic()
                outcome = run_case(part, function, done[part], seed)
                tally.add(part, done[part], outcome, time.monotonic() - start)
                done[part] += 1
        if time.monotonic() - said > 5:
            said = time.monotonic()
            say(f"{sum(done.values()):,} of {sum(shares.values()):,}, {len(tally.findings)} distinct findings")
    return tally
