"""Item 10: terminals, names in figures, raw exceptions, interruptions, and reports that are there already."""

from __future__ import annotations

import json
import signal
import time
import zipfile
from functools import partial

from tests.hostile import commands
from tests.hostile.campaign import Finding
from tests.hostile.checks.directions import write_two
from tests.hostile.forks import run_command


def _command(case, *words, may_fail=True, **options):
    try:
        run_command(case.folder, *words, **options).check(may_fail=may_fail)
    except Finding as finding:
        return f"{finding.what}: {finding.detail}"
    return None


def encoding(name, case):
    """Results and help print whatever stdout can encode."""
    write_two(case.folder)
    for words in (
        ["power", "mt.csv", "-B", "20"],
        ["similarity", "mt.csv", "--bootstrap", "5"],
        ["measures"],
        ["consistency", "mt.csv", "--trials", "5", "-B", "9"],
    ):
        found = _command(case, *words, may_fail=False, encoding=name, limit=60)
        if found:
            return f"{words[0]}: {found}"
    return None


def dollars(case):
    """Figures show names with dollars as they are."""
    write_two(case.folder, r"$\frac{")
    text = (case.folder / "mt.csv").read_text().replace("r1", "a$b$").replace("r2", "$x^")
    (case.folder / "mt.csv").write_text(text)
    for words in (
        ["power", "mt.csv", "-B", "20"],
        ["similarity", "mt.csv", "--bootstrap", "5"],
        ["baselines", "mt.csv", "a$b$", "$x^"],
    ):
        found = _command(case, *words, "--out", "out", may_fail=False, limit=60)
        if found:
            return f"{words[0]}: {found}"
    return None


def raw_exceptions(case):
    """Long fields, archives, deep JSON, lone surrogates: a MetaevalError."""
    import metaeval as me

    folder = case.folder
    (folder / "long.csv").write_text("x" * 200_000 + ",b\n0.1,0.2\n")
    (folder / "long2.csv").write_text(f"run,topic,measure,score\n{'x' * 200_000},t,AP,0.5\n")
    with zipfile.ZipFile(folder / "whole.zip", "w") as archive:
        archive.writestr("a.csv", "run,topic,measure,score\na,t,AP,0.5\n")
    (folder / "cut.zip").write_bytes((folder / "whole.zip").read_bytes()[:40])
    (folder / "book.xlsx").write_bytes(b"PK\3\4" + bytes(60))
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "manifest.json").write_text("[" * 100_000)
    surrogate = partial(me.Scores, [[[0.5]]], runs=["\ud800"], topics=["t"], measures=["AP"], collection="c")
    calls = {
        **{
            name: partial(me.io.read_scores, folder / name)
            for name in ("long.csv", "long2.csv", "cut.zip", "book.xlsx", "deep.json")
        },
        "deep manifest": partial(me.ScoreStore(folder).collections),
        "deep dialogues": partial(
            me.io.read_runs, folder / "deep.json", folder / "deep.json", format="dialogue-quality", aspect="A"
        ),
        "a lone surrogate in CSV": lambda: me.io.write_scores(surrogate(), folder / "s.csv"),
        "a lone surrogate in Parquet": lambda: me.io.write_scores(surrogate(), folder / "s.parquet"),
        "a lone surrogate in a store": lambda: me.ScoreStore(folder / "store").add(surrogate()),
        "a lone surrogate's checksum": lambda: surrogate().sha256,
        "a name that is too long": partial(me.io.read_scores, folder / ("n" * 300 + ".csv")),
        "a NUL in a name": partial(me.io.read_scores, "a\0b.csv"),
    }
    for name, call in calls.items():
        try:
            case.call(call)
        except Finding as finding:
            return f"{name}: {finding.what}: {finding.detail[:100]}"
    return None


def permissions(case):
    """Permission denied while reading or writing: one sentence (said by the system, or by this check where it may all)."""
    from unittest import mock

    import metaeval as me

    write_two(case.folder)
    store = me.ScoreStore(case.folder / "store")
    from tests.hostile.store import scores_of

    store.add(scores_of("c"))

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    calls = {
        "reading a file": partial(me.io.read_scores, case.folder / "mt.csv"),
        "loading from a store": partial(store.load, "c"),
        "listing a store": store.collections,
        "removing from a store": partial(store.remove, "c"),
        "adding to a store": partial(store.add, scores_of("d")),
        "reading a folder": partial(me.io.read_scores, case.folder),
    }
    for name, call in calls.items():
        for method in ("pathlib.Path.read_bytes", "builtins.open", "pathlib.Path.iterdir", "pathlib.Path.stat"):
            with mock.patch(method, refuse):
                try:
                    case.call(call)
                except Finding as finding:
                    return f"{name}, {method}: {finding.what}: {finding.detail}"
    return None


def interrupted_out(how, case):
    """A command stopped at any moment of writing --out leaves the old set or the new one, and no stray folders."""
    commands.write_scores(case.rng, case.folder / "old.csv", ["a", "b", "c"], ["AP", "RR"])
    commands.write_scores(case.rng, case.folder / "new.csv", ["x", "y", "z"], ["AP", "RR"])
    words = ["--bootstrap", "5", "--out", "out"]
    run_command(case.folder, "similarity", "old.csv", *words, limit=60)
    began = time.monotonic()
    run_command(case.folder, "similarity", "old.csv", *words, limit=60)
    whole = time.monotonic() - began
    before = commands._set_of(case.folder / "out")
    for step in range(16):
        after = whole * (0.4 + 0.6 * step / 16)
        done = run_command(case.folder, "similarity", "new.csv", *words, stop_after=after, how=how)
        now = commands._set_of(case.folder / "out")
        if done.status == 0:
            continue
        changed = [name for name in before if now.get(name) != before[name]]
        new = [name for name in before if name in now and now[name] != before[name]]
        if changed and len(new) < len(before) - 1:
            return f"half of the files are new: {sorted(changed)}"
        stray = {path.name for path in case.folder.iterdir()} - {
            "old.csv",
            "new.csv",
            "out",
            ".out",
            ".err",
            ".memory",
        } | set(now) - set(before)
        if stray and how == signal.SIGTERM:
            return f"it leaves {sorted(stray)} behind"
        run_command(case.folder, "similarity", "old.csv", *words, limit=60)
    return None


def half_written(case):
    """Where a file of --out cannot be written, or not be moved into its place, all are those of the former result."""
    import os
    from unittest import mock

    import metaeval as me
    from metaeval.cli import output

    write_two(case.folder)
    scores = me.io.read_scores(case.folder / "mt.csv")
    out = case.folder / "out"
    result = lambda tau: me.ranking_similarity(scores, n_bootstrap=0, tau=tau)  # noqa: E731
    output.write_results({"similarity": result("tau_a")}, out)
    before = commands._set_of(out)
    failed = []

    def full(*_, **__):
        failed.append("fsync")
        raise OSError(28, "No space left on device")

    def held(source, target, real=os.replace, **options):
        if str(target) == str(out / "similarity.md"):
            failed.append("replace")
            raise PermissionError(13, "it is open in another program")
        return real(source, target, **options)

    for name, function in (("os.fsync", full), ("os.replace", held)):
        with mock.patch(name, function):
            try:
                output.write_results({"similarity": result("tau_b")}, out)
            except me.errors.MetaevalError:
                pass
            else:
                return f"{name} fails, and nobody says so"
        now = commands._set_of(out)
        changed = [name for name in before if now.get(name) != before[name]]
        if changed or len(now) > len(before):
            return f"{name}: {sorted(changed) or sorted(now)} are new, the others old"
        if stray := [path.name for path in out.iterdir() if path.is_dir()]:
            return f"{name}: it leaves {stray} behind"
    return None if {"fsync", "replace"} <= set(failed) else "nothing has failed"


def report_in_the_way(case):
    """``compare -o`` with something there asks for --overwrite before it computes; that replaces the report only."""
    write_two(case.folder)
    words = ["compare", "-m", "edits", "-s", "mt.csv", "-o", "rep", "--trials", "10", "-B", "20"]
    (case.folder / "rep").mkdir()
    (case.folder / "rep" / "mine.txt").write_text("precious")
    done = run_command(case.folder, *words, limit=120)
    if done.status != 2 or b"--overwrite" not in done.err:
        return f"status {done.status}, and nothing asks for --overwrite"
    if b"studying" in done.err or b"discriminative" in done.err:
        return "it computes before it looks"
    done = run_command(case.folder, *words, "--overwrite", limit=120)
    if done.status != 0 or not (case.folder / "rep" / "index.html").exists():
        return f"--overwrite ends with status {done.status}"
    if (case.folder / "rep" / "mine.txt").read_text() != "precious":
        return "--overwrite takes more than the report"
    return None


def report_path_first(case):
    """``compare -o FILE`` is refused before anything is computed."""
    write_two(case.folder)
    (case.folder / "rep").write_text("a file")
    done = run_command(
        case.folder, "compare", "-m", "edits", "-s", "mt.csv", "-o", "rep", "--trials", "10", "-B", "20", limit=120
    )
    if done.status != 2:
        return f"status {done.status}"
    return "it computes before it looks" if b"power" in done.err or b"consistency" in done.err else None


def stray_folders(case):
    """A report stopped by SIGTERM leaves no folder beside it."""
    write_two(case.folder)
    words = ["compare", "-m", "edits", "-s", "mt.csv", "-o", "rep", "--trials", "10", "-B", "20"]
    process_began = time.monotonic()
    run_command(case.folder, *words, limit=120)
    whole = time.monotonic() - process_began
    import shutil

    for step in range(10):
        shutil.rmtree(case.folder / "rep", ignore_errors=True)
        run_command(case.folder, *words, stop_after=whole * (0.3 + 0.07 * step), how=signal.SIGTERM)
        stray = {path.name for path in case.folder.iterdir()} - {"mt.csv", "rep", ".out", ".err", ".memory"}
        if stray:
            return f"it leaves {sorted(stray)} behind"
        if (case.folder / "rep").exists() and not (case.folder / "rep" / "index.html").exists():
            inside = sorted(path.name for path in (case.folder / "rep").iterdir())
            if inside != ["scores"] and inside:
                return f"half a report is left: {inside}"
    return None


def killed_workers(case):
    """A worker that dies while figures are drawn: the report is there all the same."""
    write_two(case.folder)
    words = ["compare", "-m", "edits", "-o", "rep", "--trials", "10", "-B", "20", "--n-jobs", "2"]
    for number in range(8):
        (case.folder / f"mt{number}.csv").write_bytes(
            (case.folder / "mt.csv").read_bytes().replace(b"0.5", b"0.%d" % number)
        )
        words += ["-s", f"mt{number}.csv"]
    done = run_command(case.folder, *words, limit=140, HOSTILE_KILL_WORKER="1")
    if done.status != 0:
        return f"status {done.status}: {done.err.decode('utf-8', 'replace').strip()[-200:]}"
    if not (case.folder / ".killed").exists():
        return "no worker was killed: this check checks nothing"
    found = json.loads((case.folder / "rep" / "report.json").read_text(encoding="utf-8"))
    lacking = [name for name in found["files"] if not (case.folder / "rep" / name).exists()]
    return f"the report lacks {lacking[:3]}" if lacking else None


CHECKS = {
    "10 stdout that is cp1252": partial(encoding, "cp1252"),
    "10 stdout that is ascii": partial(encoding, "ascii"),
    "10 dollars in names": dollars,
    "10 raw exceptions": raw_exceptions,
    "10 raw PermissionError": permissions,
    "10 a full disk leaves --out half written": half_written,
    "10 SIGTERM leaves --out half written": partial(interrupted_out, signal.SIGTERM),
    "10 SIGKILL leaves --out half written": partial(interrupted_out, signal.SIGKILL),
    "10 compare -o does not ask for --overwrite": report_in_the_way,
    "10 compare -o computes before it looks": report_path_first,
    "10 SIGTERM leaves stray folders": stray_folders,
    "10 a killed worker": killed_workers,
}
