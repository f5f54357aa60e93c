"""The command line: names and encodings; right, or refused in one sentence."""

import csv
import io
import itertools
import json

from tests.hostile.case import by_day_and_night, try_inputs
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


@by_day_and_night("numbers", 3, 43)
def test_a_command_works_or_says_why_not_in_one_sentence(numbers, tmp_path):
    try_inputs(vary_names, numbers, tmp_path, least_equal=0.05, seconds=90)
