"""The command line: options, names, encodings, odd paths, interruptions, directions; right, or refused in one sentence."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import signal
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.hostile.case import Finding, Refused, run_cases
from tests.hostile.forks import LEFT_BY_US, run_command

NAMES = [
    "plain", "a$b", "$x_1$", r"$\frac{", "$$", "a_b^c", "{", r"\textbf{x}", "%", "#", "&", "~", "<script>", "Δ", "日本語",
    "é", "🎉", "\u202eabc", "\x1b[31mred", "tab\tin", "line\nin", "a\rb", "x" * 300, "-", "--help", "-1", "0", "NA",
    "nan", "None", "true", " lead", "trail ", "'", '"', "a,b", "a;b", "a|b", "a/b", "..", "C:\\x", "*", "[x]",
    "[bold]", "e\u0301", "\u200bz", "=1+1",

]  # fmt: skip
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
    """Write a tidy CSV file of made scores with the csv module."""
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
        "--correction": ["holm", "none", "x"],
    },
    "overlap": {},
    "contradictions": {},
    "robustness": {},
    "coverage": {"--bootstrap": ["5", "-1"], "-r": ["RR", "nothing"]},
    "agreement": {
        "--statistic": ["tau_b@2", "acc_t", "tau_b@02", "tau_b@99", "spa@3", ""],
        "--reference-measure": ["AP"],
        "--run-scores": ["tiny.csv"],
        "--runs": ["shared", "x"],
    },
    "ranks": {"--test": ["max-t", "x"], "--correction": ["holm", "x"]},
    "topic-set-size": {
        "--difference": ["0.2", "1e-300", "1e300", "0", "nan"],
        "--target": ["0.5", "0.999999999999", "1"],
        "--beta": ["0.1", "1e-300", "0.999999", "0"],
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
    run_command(case.folder, *words, limit=40).check()


def vary_names(case):
    """Runs and measures of any name, printed in any format in any encoding: it works, and can be read back."""
    rng = case.rng
    runs, measures = rng.sample(NAMES, 4), ["AP", *rng.sample(NAMES, 2)]
    if any("\r" in name for name in (*runs, *measures)):
        runs, measures = ([name.replace("\r", "_") for name in names] for names in (runs, measures))
    write_scores(rng, case.folder / "tiny.csv", runs, measures)
    command, style, encoding = rng.choice(list(ANALYSES)), rng.choice(FORMATS), rng.choice(ENCODINGS)
    done = run_command(case.folder, command, "tiny.csv", *ANALYSES[command], "-f", style, encoding=encoding)
    strange = any(name.strip() != name or "\n" in name for name in (*runs, *measures)) or any(
        "(" in name for name in measures
    )
    done.check(may_fail=strange)
    printed = done.out.decode(encoding)
    if not printed.strip():
        raise Finding(f"nothing is printed: {command} -f {style}, {encoding}")
    if style == "json":
        json.loads(printed)
    if style == "csv":
        list(csv.reader(io.StringIO(printed, newline=""), strict=True))
    if "\x1b" in (printed if style in ("text", "md") else "") + done.err.decode(encoding):
        raise Finding(f"a name steers the terminal: {printed[:200]!r}")


def draw_names(case):
    """With --out there are table, rows and figures, whatever the names are."""
    rng = case.rng
    names = [name for name in NAMES if not set("\r\n(") & set(name) and name == name.strip()]
    runs = [r"$\frac{", "a$b$", "$x^", "c"] if case.number == 0 else rng.sample(names, 4)
    write_scores(rng, case.folder / "tiny.csv", runs, ["AP", *rng.sample(names, 2)])
    command = rng.choice(list(ANALYSES))
    words = [command, "tiny.csv", *ANALYSES[command], "--out", "out"]
    run_command(case.folder, *words, encoding=rng.choice(ENCODINGS), limit=50).check(may_fail=False)
    there = {path.suffix for path in (case.folder / "out").iterdir() if path.name.startswith(command)}
    lacking = {".csv", ".tex", ".json", ".png", ".svg", ".pdf"} - there
    if lacking:
        raise Finding(f"--out lacks files: {command}, {sorted(lacking)}")
    ElementTree.parse(case.folder / "out" / f"{command}.svg")  # noqa: S314  (the file is ours)


def open_odd_paths(case):
    """Pipes, devices, folders, loops and damaged files: one sentence, soon."""
    rng, folder = case.rng, case.folder
    write_scores(rng, folder / "tiny.csv", ["a", "b", "c"], ["AP", "RR"])
    targets = [
        "fifo", "/dev/zero", "/dev/null", "folder", "loop", "n" * 300, "/dev/full", "a\nb.csv", "\x1b[31m.csv",
        "dangling", "store", "zip.xlsx", "deep.json", "long.csv", "headers.csv", "/proc/self/mem", "/", "memory://x",
        "file:///nowhere", "sparse.csv",

    ]  # fmt: skip
    target = targets[case.number % len(targets)]
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
            ["score", target, target, "-l", rng.choice(["labels", "judgements", "dialogue-quality", "semeval-c"])],
            ["power", "tiny.csv", "-B", "20", "--out", target],
            ["compare", "-m", "AP", "-s", target, "-o", "report"],
            ["compare", "-m", f"{target}:f", "tiny.csv", "-o", "report"],
        ]
    )
    if target in ("/", "/proc/self/mem", "/dev/null") and command[-1] == target:
        raise Refused  # nothing is to be written there
    run_command(case.folder, *command, limit=40).check()


def interrupt_out(case):
    """A command stopped while it writes --out, or a report, leaves each file as it was or as it will be, and no others."""
    rng, folder = case.rng, case.folder
    write_scores(rng, folder / "old.csv", ["a", "b", "c"], ["AP", "RR"])
    write_scores(rng, folder / "new.csv", ["x", "y", "z"], ["AP", "RR"])
    words = "similarity {0}.csv --bootstrap 5 --collection c --out {1}"
    if case.number % 3 == 2:
        words = "compare {0}.csv -m AP --collection c -o {1} --trials 10 -B 20 --overwrite"
    if words.startswith("compare"):
        words = words.replace(" --collection c", "")
    run_command(folder, *words.format("old", "out").split(), limit=90).check(may_fail=False)
    run_command(folder, *words.format("new", "whole").split(), limit=90).check(may_fail=False)
    before, after = _contents(folder / "out"), _contents(folder / "whole")
    how = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    done = run_command(folder, *words.format("new", "out").split(), stop_after=rng.uniform(0.02, 1.2), how=how)
    now = _contents(folder / "out")
    if done.status == 0:
        return
    if words.startswith("similarity"):
        torn = [name for name in now if name in before and now[name] not in (before[name], after.get(name))]
        if torn or set(before) - set(now):
            raise Finding(f"an interrupted --out leaves torn files: {how.name}, {torn}, {set(before) - set(now)}")
    stray = {path.name for path in folder.iterdir()} - {"old.csv", "new.csv", "out", "whole", *LEFT_BY_US}
    if words.startswith("similarity"):
        stray |= set(now) - set(before) - set(after)
    if stray and how != signal.SIGKILL:
        raise Finding(f"a stopped command leaves files or folders behind: {how.name}, {sorted(stray)}")


def _contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


PARTS = {vary_options: 12, vary_names: 10, draw_names: 2, open_odd_paths: 12, interrupt_out: 3}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_a_command_works_or_says_why_not_in_one_sentence(part, tmp_path):
    run_cases(part, PARTS[part], tmp_path, least_equal=0.05, seconds=90)


def write_large_when_opened(folder):
    """Write a small Parquet file of 40 million rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2_000_000, np.int8)), pa.array(["a"]))
    table = pa.table({"run": label, "topic": label, "measure": label, "score": np.zeros(2_000_000)})
    with pq.ParquetWriter(folder / "big.parquet", table.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(table)


def write_many_keys(folder):
    """Write an object of 100,000 keys, one of them twice."""
    keys = ", ".join(f'"k{i}": 0' for i in range(100_000))
    for name in ("gold.json", "run.json"):
        (folder / name).write_text(f'[{{"id": "1", {keys}, "k99999": 1}}]')


def write_diagonal(folder):
    """Write 500 rows of 500 runs, topics and measures."""
    rows = "".join(f"r{i},t{i},m{i},0.5\n" for i in range(500))
    (folder / "diagonal.csv").write_text("run,topic,measure,score\n" + rows)


def write_many_columns(folder):
    """Write a table of 100,000 columns."""
    names = ",".join(f"run{i}" for i in range(100_000))
    (folder / "x_ap.csv").write_text(f"{names}\n{','.join(['0.5'] * 100_000)}\n")


BOUNDLESS = {
    "cells that are not there": (write_diagonal, "convert diagonal.csv out.csv"),
    "cells to drop": (write_diagonal, "convert diagonal.csv out.csv --missing drop-topic"),
    "a pipe": (lambda folder: os.mkfifo(folder / "pipe.csv"), "convert pipe.csv out.csv"),
    "a device without end": (lambda folder: None, "convert /dev/zero out.csv --from tidy"),
    "columns": (write_many_columns, "convert x_ap.csv out.csv --from wide"),
    "keys": (write_many_keys, "score gold.json run.json -l dialogue-quality --aspect A"),
    "rows": (write_large_when_opened, "convert big.parquet out.csv"),
}


@pytest.mark.parametrize("what", BOUNDLESS)
def test_a_small_file_takes_neither_all_memory_nor_all_time(what, tmp_path):
    write, command = BOUNDLESS[what]
    write(tmp_path)
    with contextlib.suppress(Refused):
        run_command(tmp_path, *command.split(), limit=30).check()


def write_two(folder, name="edits"):
    """Write scores of AP and of a measure that says the opposite with high scores."""
    with open(folder / "mt.csv", "w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["run", "topic", "measure", "score"])
        for r in range(5):
            for t in range(8):
                good = r / 8 + (t * 7 % 5) / 64
                table.writerow([f"r{r}", f"t{t}", "AP", good])
                table.writerow([f"r{r}", f"t{t}", name, 1 - good])


COMPARE = "compare mt.csv -m edits --trials 10 -B 20 -o rep"
SIMILARITY = "similarity mt.csv --bootstrap 0"


def test_compare_turns_a_measure_round_as_stated(tmp_path):
    write_two(tmp_path)
    run_command(tmp_path, *COMPARE.split(), "--lower-is-better", "edits", limit=120).check(may_fail=False)
    results = json.loads((tmp_path / "rep" / "report.json").read_text(encoding="utf-8"))["results"]
    rows = next(result["rows"] for name, result in results.items() if name.endswith("similarity"))
    assert next(row["AP"] for row in rows if row["measure"] == "edits") == 1


@pytest.mark.parametrize("command", [COMPARE, SIMILARITY, "convert mt.csv out.csv"])
@pytest.mark.parametrize(
    "words",
    [
        "--lower-is-better nothing",
        "--lower-is-better edits --higher-is-better AP --higher-is-better edits",
        "--lower-is-better",
    ],
)
def test_a_direction_of_nothing_or_both_ways_is_refused(tmp_path, command, words):
    write_two(tmp_path)
    with pytest.raises(Refused):
        run_command(tmp_path, *command.split(), *words.split(), limit=60).check()


def test_convert_keeps_a_stated_direction(tmp_path):
    write_two(tmp_path)
    run_command(tmp_path, "convert", "mt.csv", "out.csv", "--lower-is-better", "edits").check(may_fail=False)
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as stream:
        stated = {row["measure"]: row.get("higher_is_better") for row in csv.DictReader(stream)}
    assert stated["edits"].lower() == "false"


def test_json_says_which_direction_is_assumed_and_the_signature_tells_them_apart(tmp_path):
    write_two(tmp_path)
    printed = [
        run_command(tmp_path, *SIMILARITY.split(), "-f", "json", *words).check(may_fail=False).out.decode()
        for words in ([], ["--lower-is-better", "edits"], ["--all-higher-is-better"])
    ]
    assert ["assumed" in text for text in printed] == [True, False, False]
    assert len({json.loads(text)["signature"].split("@")[1].partition(" ")[2] for text in printed}) == 3


@pytest.mark.parametrize(
    ("name", "option", "tau"), [("BLEU", "--lower-is-better", 1), ("NMD", "--higher-is-better", -1)]
)
def test_a_stated_direction_wins_over_a_known_one(tmp_path, name, option, tau):
    write_two(tmp_path, name)
    done = run_command(tmp_path, *SIMILARITY.split(), "-f", "json", option, name).check(may_fail=False)
    row = next(row for row in json.loads(done.out)["rows"] if row["measure"] == "AP")
    assert row[name] == tau


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize(
    "command", ["power mt.csv -B 20", SIMILARITY, "measures", "consistency mt.csv --trials 5 -B 9"]
)
def test_results_print_whatever_stdout_can_encode(tmp_path, encoding, command):
    write_two(tmp_path)
    run_command(tmp_path, *command.split(), encoding=encoding, limit=60).check(may_fail=False)


def test_a_report_in_the_way_asks_for_overwrite_before_anything_is_computed(tmp_path):
    write_two(tmp_path)
    (tmp_path / "rep").mkdir()
    (tmp_path / "rep" / "mine.txt").write_text("precious")
    done = run_command(tmp_path, *COMPARE.split(), limit=120)
    assert done.status == 2
    assert b"--overwrite" in done.err
    assert b"studying" not in done.err
    assert b"discriminative" not in done.err
    run_command(tmp_path, *COMPARE.split(), "--overwrite", limit=120).check(may_fail=False)
    assert (tmp_path / "rep" / "index.html").exists()
    assert (tmp_path / "rep" / "mine.txt").read_text() == "precious"


def test_a_report_in_the_place_of_a_file_is_refused_before_anything_is_computed(tmp_path):
    write_two(tmp_path)
    (tmp_path / "rep").write_text("a file")
    done = run_command(tmp_path, *COMPARE.split(), limit=120)
    assert done.status == 2
    assert b"power" not in done.err
    assert b"consistency" not in done.err


def test_scores_that_metaeval_wrote_keep_the_name_of_their_collection_and_so_their_draws(tmp_path):
    import metaeval as me

    values = np.random.default_rng(0).random((4, 9, 2))
    scores = me.Scores(values, runs=list("abcd"), topics=range(9), measures=["AP", "RR"], collection="mine")
    me.io.write_scores(scores, tmp_path / "scores.csv")
    again = me.io.read_scores(tmp_path / "scores.csv")
    direct, through = (me.discriminative_power(each, n_permutations=300, n_bootstrap=0) for each in (scores, again))
    assert through.collection == "mine"
    assert np.array_equal(direct.p_values, through.p_values)
