"""The command line: options and their values, names of every kind, encodings, odd paths, and interruptions."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from xml.etree import ElementTree

from tests.hostile.campaign import Finding, Outcome
from tests.hostile.forks import run_command

NAMES = [
    "plain",
    "a$b",
    "$x_1$",
    r"$\frac{",
    "$$",
    "a_b^c",
    "{",
    r"\textbf{x}",
    "%",
    "#",
    "&",
    "~",
    "<script>",
    "Δ",
    "日本語",
    "é",
    "🎉",
    "\u202eabc",
    "\x1b[31mred",
    "tab\tin",
    "line\nin",
    "a\rb",
    "x" * 300,
    "-",
    "--help",
    "-1",
    "0",
    "NA",
    "nan",
    "None",
    "true",
    " lead",
    "trail ",
    "'",
    '"',
    "a,b",
    "a;b",
    "a|b",
    "a/b",
    "..",
    "C:\\x",
    "*",
    "[x]",
    "[bold]",
    "e\u0301",
    "\u200bz",
    "=1+1",
]
ENCODINGS = ["ascii", "cp1252", "latin-1", "utf-8", "cp437"]
ANALYSES = {
    "similarity": ["--bootstrap", "20"],
    "consistency": ["--trials", "20", "-B", "50"],
    "power": ["-B", "50"],
    "overlap": ["-B", "50"],
    "contradictions": ["-B", "50"],
    "robustness": [],
    "coverage": ["-r", "AP", "--bootstrap", "10"],
    "agreement": ["-r", "AP", "--bootstrap", "10", "-B", "20"],
    "ranks": ["-B", "50"],
    "topic-set-size": ["--bootstrap", "10"],
}
FORMATS = ["text", "csv", "md", "latex", "json"]


def write_scores(rng, path, runs, measures, n_topics=6):
    """A tidy CSV file of made scores, written with the csv module."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["run", "topic", "measure", "score"])
        for position, run in enumerate(runs):
            for topic in range(n_topics):
                for measure in measures:
                    table.writerow([run, f"t{topic}", measure, round(0.1 * position + 0.3 * rng.random(), 4)])


VALUES = {
    "-B": ["20", "1", "0", "-1", "99999999999999999999", "x"],
    "--trials": ["10", "1", "0", "1e9"],
    "--seed": ["1", "-1", "99999999999999999999", "1.5"],
    "--alpha": ["0.05", "0", "1", "nan", "1e400", "0.999"],
    "--n-jobs": ["1", "2", "0", "-1"],
    "--missing": ["raise", "worst", "drop-topic", "drop-run", "x"],
    "--from": ["tidy", "wide", "sakai", "trec_eval", "store", "x"],
    "-f": ["text", "csv", "md", "latex", "json", "pdf"],
    "-m": ["AP", "RR", "nothing", "", "AP(x=1)", "("],
    "--lower-is-better": ["AP", "nothing", ""],
    "--higher-is-better": ["RR", "nothing"],
    "--collection": ["other", "", "\x1b", "\u202e"],
    "--nonsense": ["1"],
}
OWN = {
    "similarity": {
        "--bootstrap": ["5", "0", "-1"],
        "--tau": ["tau_a", "tau_b", "x"],
        "--confidence": ["0.9", "2", "nan"],
    },
    "consistency": {"--size": ["2", "3", "0", "99"], "--tau": ["tau_b", "x"]},
    "power": {
        "--test": ["tukey-hsd", "paired-t", "paired-bootstrap", "x"],
        "--engine": ["numpy", "x"],
        "--correction": ["holm", "none", "x"],
    },
    "overlap": {},
    "contradictions": {},
    "robustness": {},
    "coverage": {"--bootstrap": ["5", "-1"], "-r": ["RR", "nothing"]},
    "agreement": {
        "--statistic": ["tau_b@2", "acc_t", "tau_b@02", "tau_b@99", "spa@3", ""],
        "--weights": ["2", "0", "1,1", "nan"],
        "--reference-measure": ["AP"],
        "--run-scores": ["tiny.csv"],
        "--runs": ["shared", "x"],
    },
    "ranks": {"--test": ["max-t", "x"], "--correction": ["holm", "x"]},
    "topic-set-size": {
        "--difference": ["0.2", "1e-300", "1e300", "0", "nan"],
        "--n-runs": ["3", "1", "99999999999999999999"],
        "--target": ["0.5", "0.999999999999", "1"],
        "--beta": ["0.1", "1e-300", "0.999999", "0"],
        "--width": ["0.1", "-1"],
    },
}
DRAWS = {"consistency", "power", "overlap", "contradictions", "agreement", "ranks"}


def vary_options(case):
    """One analysis with options and values by chance, some of them wrong."""
    rng = case.rng
    write_scores(rng, case.folder / "tiny.csv", ["a", "b", "c", "d"], ["AP", "RR"])
    command = rng.choice(list(ANALYSES))
    words = [command, rng.choice(["tiny.csv"] * 8 + ["nowhere.csv", ""]), *ANALYSES[command]]
    values = {**VALUES, **OWN[command]}
    if command not in DRAWS:
        values = {
            name: value for name, value in values.items() if name not in ("-B", "--trials", "--n-jobs", "--alpha")
        }
    for option in rng.sample(list(values), rng.choice((1, 1, 2))):
        words += [option, rng.choice(values[option][: rng.choice((2, 2, 9))])]
    return run_command(case.folder, *words, limit=40).check()


vary_options.limit = 60


def vary_names(case):
    """Runs and measures of any name, printed in any format in any encoding: it works, and can be read back."""
    rng = case.rng
    runs = rng.sample(NAMES, 4)
    measures = ["AP", *rng.sample(NAMES, 2)]
    if any("\r" in name for name in (*runs, *measures)):
        runs, measures = ([name.replace("\r", "_") for name in names] for names in (runs, measures))
    write_scores(rng, case.folder / "tiny.csv", runs, measures)
    command, style, encoding = rng.choice(list(ANALYSES)), rng.choice(FORMATS), rng.choice(ENCODINGS)
    done = run_command(case.folder, command, "tiny.csv", *ANALYSES[command], "-f", style, encoding=encoding)
    strange = any(name.strip() != name or "\n" in name for name in (*runs, *measures)) or any(
        "(" in one for one in measures
    )
    outcome = done.check(may_fail=strange)
    if outcome.verdict == "equal":
        if not done.out.strip():
            raise Finding("nothing is printed", f"{command} -f {style}, {encoding}")
        if style == "json":
            _check_json(done.out.decode(encoding))
        if style == "csv":
            list(csv.reader(io.StringIO(done.out.decode(encoding), newline=""), strict=True))
        _check_terminal(done.out.decode(encoding) if style in ("text", "md") else "")
        _check_terminal(done.err.decode(encoding))
    return outcome


vary_names.limit = 60


def _check_json(text):
    try:
        json.loads(text)
    except ValueError as error:
        raise Finding("what is printed as JSON is none", str(error)) from None


def _check_terminal(text):
    if "\x1b" in text:
        raise Finding("a name steers the terminal", repr(text[:200]))


def draw_names(case):
    """With --out there are table, rows and figures, whatever the names are."""
    rng = case.rng
    names = [name for name in NAMES if not set("\r\n(") & set(name) and name == name.strip()]
    write_scores(rng, case.folder / "tiny.csv", rng.sample(names, 4), ["AP", *rng.sample(names, 2)])
    command = rng.choice(list(ANALYSES))
    done = run_command(
        case.folder, command, "tiny.csv", *ANALYSES[command], "--out", "out", encoding=rng.choice(ENCODINGS), limit=50
    )
    outcome = done.check(may_fail=False)
    there = {path.suffix for path in (case.folder / "out").iterdir() if path.name.startswith(command)}
    lacking = {".csv", ".md", ".tex", ".json", ".png", ".svg", ".pdf"} - there
    if lacking:
        raise Finding("--out lacks files", f"{command}: {sorted(lacking)}")
    try:
        ElementTree.parse(case.folder / "out" / f"{command}.svg")  # noqa: S314  (the file is ours)
    except ElementTree.ParseError as error:
        raise Finding("a figure is no XML", str(error)) from None
    return outcome


draw_names.limit = 60


def open_odd_paths(case):
    """Pipes, devices, folders, loops and damaged files: one sentence, soon."""
    rng, folder = case.rng, case.folder
    write_scores(rng, folder / "tiny.csv", ["a", "b", "c"], ["AP", "RR"])
    target = rng.choice(
        [
            "fifo",
            "/dev/zero",
            "/dev/null",
            "folder",
            "loop",
            "n" * 300,
            "/dev/full",
            "a\nb.csv",
            "\x1b[31m.csv",
            "dangling",
            "store",
            "zip.xlsx",
            "deep.json",
            "long.csv",
            "headers.csv",
            "/proc/self/mem",
            "/",
            "memory://x",
            "file:///nowhere",
            "sparse.csv",
        ]
    )
    path = folder / target
    if target == "fifo":
        os.mkfifo(path)
    elif target in ("folder", "store"):
        path.mkdir()
        if target == "store":
            (path / "manifest.json").write_text(rng.choice(["[" * 100_000, "{}", '{"schema": 1}', "", "\0"]))
    elif target == "loop":
        path.symlink_to(path)
    elif target == "dangling":
        path.symlink_to("nowhere")
    elif target == "zip.xlsx":
        path.write_bytes(b"PK\3\4" + bytes(100))
    elif target == "deep.json":
        path.write_text("[" * 200_000)
    elif target == "long.csv":
        path.write_text("run,topic,measure,score\na,t,AP," + "x" * 200_000)
    elif target == "headers.csv":
        path.write_text(",".join(f"r{i}" for i in range(3000)) + "\n" + ",".join(["0.5"] * 3000) + "\n")
    elif target == "sparse.csv":
        rows = "".join(f"r{i},t{i},m{i},0.5\n" for i in range(300))
        path.write_text("run,topic,measure,score\n" + rows)
    command = rng.choice(
        [
            ["similarity", target, "--bootstrap", "5"],
            ["convert", target, "x.csv"],
            ["convert", "tiny.csv", target],
            ["score", target, target, "-l", rng.choice(["labels", "judgements", "dialogue-quality", "polarity"])],
            ["power", "tiny.csv", "-B", "20", "--out", target],
            ["compare", "-m", "AP", "-s", target, "-o", "report"],
            ["compare", "-m", f"{target}:f", "-d", "tiny.csv", "-o", "report"],
        ]
    )
    if target in ("/", "/proc/self/mem", "/dev/null") and command[-1] == target:
        return Outcome("refused")  # nothing is to be written there
    return run_command(case.folder, *command).check()


open_odd_paths.limit = 60


def interrupt_out(case):
    """A command stopped while it writes --out leaves the old set of files or the new one, and nothing else."""
    rng, folder = case.rng, case.folder
    write_scores(rng, folder / "old.csv", ["a", "b", "c"], ["AP", "RR"])
    write_scores(rng, folder / "new.csv", ["x", "y", "z"], ["AP", "RR"])
    command = ["similarity", "--bootstrap", "5", "--out", "out"]
    run_command(folder, command[0], "old.csv", *command[1:], limit=50).check(may_fail=False)
    before = _set_of(folder / "out")
    how = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    done = run_command(folder, command[0], "new.csv", *command[1:], stop_after=rng.uniform(0.02, 1.2), how=how)
    now = _set_of(folder / "out")
    if done.status == 0:
        return Outcome("equal")
    changed = [name for name in before if now.get(name) != before[name]]
    if changed and len(changed) < len(before) - 1:
        raise Finding("an interrupted --out is half old, half new", f"{how.name}: {sorted(changed)}")
    stray = {path.name for path in folder.iterdir()} - {"old.csv", "new.csv", "out", ".out", ".err", ".memory"}
    stray |= set(now) - set(before)
    if stray and how != signal.SIGKILL:
        raise Finding("a stopped command leaves files or folders behind", f"{how.name}: {sorted(stray)}")
    return Outcome("equal")


interrupt_out.limit = 90


def _set_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
