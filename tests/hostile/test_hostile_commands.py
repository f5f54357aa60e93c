"""The command line: names, encodings and odd paths; right, or refused in one sentence."""

import csv
import io
import itertools
import json
import os
from xml.etree import ElementTree

import pytest

from tests.hostile.case import Refused, by_day_and_night, try_inputs
from tests.hostile.forks import run_command

NAMES = [
    "plain", "a$b", "$x_1$", r"$\frac{", "$$", "a_b^c", "{", r"\textbf{x}", "%", "#", "&", "~", "<script>", "Δ", "日本語",
    "é", "🎉", "\u202eabc", "\x1b[31mred", "tab\tin", "line\nin", "a\rb", "x" * 300, "-", "--help", "-1", "0", "NA",
    "nan", "None", "true", " lead", "trail ", "'", '"', "a,b", "a;b", "a|b", "a/b", "..", "C:\\x", "*", "[x]",
    "[bold]", "e\u0301", "\u200bz", "=1+1",

]  # fmt: skip
ENCODINGS = ["ascii", "cp1252", "latin-1", "utf-8", "cp437"]
ANALYSES = {  # an analysis and what makes it quick
    "similarity": "--bootstrap 20", "consistency": "--trials 20 -B 50", "power": "-B 50", "overlap": "-B 50",
    "contradictions": "-B 50", "robustness": "", "coverage": "-r AP --bootstrap 10", "agreement": "-r AP --bootstrap 10 -B 20",
    "ranks": "-B 50", "topic-set-size": "--bootstrap 10",
}  # fmt: skip


def write_scores(rng, path, runs, measures):
    """Write a tidy file of made scores with the csv module."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["run", "topic", "measure", "score"])
        for (position, run), topic, measure in itertools.product(enumerate(runs), range(6), measures):
            table.writerow([run, f"t{topic}", measure, round(0.1 * position + 0.3 * rng.random(), 4)])


def vary_names(rng, folder):
    """Runs and measures of any name, printed in any format in any encoding: it works, and can be read back."""
    runs, measures = ([name.replace("\r", "_") for name in rng.sample(NAMES, n)] for n in (4, 2))
    write_scores(rng, folder / "tiny.csv", runs, ["AP", *measures])
    command, style, encoding = (
        rng.choice(list(each)) for each in (ANALYSES, ["text", "csv", "md", "latex", "json"], ENCODINGS)
    )
    done = run_command(folder, command, "tiny.csv", *ANALYSES[command].split(), "-f", style, encoding=encoding)
    strange = any(name.strip() != name or "\n" in name for name in (*runs, *measures))
    done.check(may_fail=strange)
    printed = done.out.decode(encoding)
    assert printed.strip(), "nothing is printed"
    if style == "json":
        json.loads(printed)
    if style == "csv":
        list(csv.reader(io.StringIO(printed, newline=""), strict=True))
    steered = (printed if style in ("text", "md") else "") + done.err.decode(encoding)
    assert "\x1b" not in steered, f"a name steers the terminal: {steered[:200]!r}"


def draw_names(rng, folder):
    """With --out there are table, rows and figures, whatever the names are."""
    names = [name for name in NAMES if not set("\r\n(") & set(name) and name == name.strip()]
    runs = [r"$\frac{", "a$b$", "$x^", "c"] if folder.name == "0" else rng.sample(names, 4)
    write_scores(rng, folder / "tiny.csv", runs, ["AP", *rng.sample(names, 2)])
    command = rng.choice(list(ANALYSES))
    words = [command, "tiny.csv", *ANALYSES[command].split(), "--out", "out"]
    run_command(folder, *words, encoding=rng.choice(ENCODINGS), limit=50).check(may_fail=False)
    there = {path.suffix for path in (folder / "out").iterdir() if path.name.startswith(command)}
    assert {".csv", ".tex", ".json", ".png", ".svg", ".pdf"} <= there
    ElementTree.parse(folder / "out" / f"{command}.svg")  # noqa: S314  (the file is ours)


TARGETS = {  # a path, and what is made there
    "fifo": os.mkfifo,
    "loop": lambda path: path.symlink_to(path),
    "dangling": lambda path: path.symlink_to("nowhere"),
    "folder": lambda path: path.mkdir(),
    "zip.xlsx": lambda path: path.write_bytes(b"PK\3\4" + bytes(100)),
    "deep.json": lambda path: path.write_text("[" * 200_000),
    "long.csv": lambda path: path.write_text("run,topic,measure,score\na,t,AP," + "x" * 200_000),
    "headers.csv": lambda path: path.write_text(",".join(f"r{i}" for i in range(3000)) + "\n" + ",".join(["0.5"] * 3000)),
    "sparse.csv": lambda path: path.write_text("run,topic,score\n" + "".join(f"r{i},t{i},0.5\n" for i in range(300))),
    **{
        f"store{k}": lambda path, content=content: (path.mkdir(), (path / "manifest.json").write_text(content))
        for k, content in enumerate(["[" * 100_000, "{}", '{"schema": 1}', "", "\0"])
    },
    **dict.fromkeys(
        ["/dev/zero", "/dev/null", "n" * 300, "/dev/full", "a\nb.csv", "\x1b[31m.csv", "/proc/self/mem", "/",
         "memory://x", "file:///nowhere"],
        lambda path: None,
    ),
}  # fmt: skip


def open_odd_paths(rng, folder):
    """Pipes, devices, folders, loops and damaged files: one sentence, soon."""
    write_scores(rng, folder / "tiny.csv", ["a", "b", "c"], ["AP", "RR"])
    target = rng.choice(list(TARGETS))
    TARGETS[target](folder / target)
    command = rng.choice([
        ["similarity", target, "--bootstrap", "5"],
        ["convert", target, "x.csv"],
        ["convert", "tiny.csv", target],
        ["score", target, target, "-l", rng.choice(["labels", "judgements", "dialogue-quality", "semeval-c"])],
        ["power", "tiny.csv", "-B", "20", "--out", target],
        ["compare", "-m", "AP", "-s", target, "-o", "report"],
        ["compare", "-m", f"{target}:f", "tiny.csv", "-o", "report"],
    ])  # fmt: skip
    if target in ("/", "/proc/self/mem", "/dev/null") and command[-1] == target:
        raise Refused  # nothing is to be written there
    run_command(folder, *command, limit=40).check()


PARTS = {vary_names: 10, draw_names: 2, open_odd_paths: 12}


@by_day_and_night("share", 0.3, 4.3)
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_a_command_works_or_says_why_not_in_one_sentence(part, share, tmp_path):
    numbers = [number * PARTS[part] for number in share]
    try_inputs(part, numbers, tmp_path, least_equal=0.05, seconds=90)
