"""The command line: options, names, encodings, odd paths, interruptions, directions; right, or refused in one sentence."""

import contextlib
import csv
import io
import json
import os
import signal
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.hostile.case import Refused, chance, try_inputs
from tests.hostile.forks import LEFT_BY_US, run_command

NAMES = [
    "plain", "a$b", "$x_1$", r"$\frac{", "$$", "a_b^c", "{", r"\textbf{x}", "%", "#", "&", "~", "<script>", "Δ", "日本語",
    "é", "🎉", "\u202eabc", "\x1b[31mred", "tab\tin", "line\nin", "a\rb", "x" * 300, "-", "--help", "-1", "0", "NA",
    "nan", "None", "true", " lead", "trail ", "'", '"', "a,b", "a;b", "a|b", "a/b", "..", "C:\\x", "*", "[x]",
    "[bold]", "e\u0301", "\u200bz", "=1+1",

]  # fmt: skip
ENCODINGS = ["ascii", "cp1252", "latin-1", "utf-8", "cp437"]
ANALYSES = {
    "similarity": "--bootstrap 20",
    "consistency": "--trials 20 -B 50",
    "power": "-B 50",
    "overlap": "-B 50",
    "contradictions": "-B 50",
    "robustness": "",
    "coverage": "-r AP --bootstrap 10",
    "agreement": "-r AP --bootstrap 10 -B 20",
    "ranks": "-B 50",
    "topic-set-size": "--bootstrap 10",
}
DRAWS = {"consistency", "power", "overlap", "contradictions", "agreement", "ranks"}
OF_DRAWS = {
    "-B": "20 1 0 -1 99999999999999999999 x",
    "--trials": "10 1 0 1e9",
    "--alpha": "0.05 0 1 nan 1e400 0.999",
    "--n-jobs": "1 2 0 -1",
}
OPTIONS = {
    "--seed": "1 -1 99999999999999999999 1.5",
    "--missing": "raise worst drop-topic drop-run x",
    "--from": "tidy wide sakai trec_eval store x",
    "-f": "text csv md latex json pdf",
    "-m": "AP RR nothing  AP(x=1) (",
    "--lower-is-better": "AP nothing ",
    "--higher-is-better": "RR nothing",
    "--collection": "other  \x1b \u202e",
    "--nonsense": "1",
}
OWN = {
    "similarity": {"--bootstrap": "5 0 -1", "--tau": "tau_a tau_b x", "--confidence": "0.9 2 nan"},
    "consistency": {"--size": "2 3 0 99", "--tau": "tau_b x"},
    "power": {"--test": "tukey-hsd paired-t paired-bootstrap x", "--correction": "holm none x"},
    "coverage": {"--bootstrap": "5 -1", "-r": "RR nothing"},
    "agreement": {
        "--statistic": "tau_b@2 acc_t tau_b@02 tau_b@99 spa@3 ", "--reference-measure": "AP", "--run-scores": "tiny.csv",
        "--runs": "shared x",
    },
    "ranks": {"--test": "max-t x", "--correction": "holm x"},
    "topic-set-size": {"--difference": "0.2 1e-300 1e300 0 nan", "--target": "0.5 0.999999999999 1",
                       "--beta": "0.1 1e-300 0.999999 0"},
}  # fmt: skip


def write_scores(rng, path, runs, measures):
    """Write a tidy file of made scores with the csv module."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["run", "topic", "measure", "score"])
        for position, run in enumerate(runs):
            for topic in range(6):
                table.writerows(
                    [run, f"t{topic}", one, round(0.1 * position + 0.3 * rng.random(), 4)] for one in measures
                )


def vary_options(rng, folder):
    """One analysis with options and values by chance, some of them wrong."""
    write_scores(rng, folder / "tiny.csv", ["a", "b", "c", "d"], ["AP", "RR"])
    command = rng.choice(list(ANALYSES))
    words = [command, rng.choice(["tiny.csv"] * 8 + ["nowhere.csv", ""]), *ANALYSES[command].split()]
    values = {**OPTIONS, **(OF_DRAWS if command in DRAWS else {}), **OWN.get(command, {})}
    for option in rng.sample(list(values), rng.choice((1, 1, 2))):
        words += [option, rng.choice(values[option].split(" ")[: rng.choice((2, 2, 9))])]
    run_command(folder, *words, limit=40).check()


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


def interrupt_out(rng, folder):
    """A command stopped while it writes --out, or a report, leaves each file as it was or as it will be, and no others."""
    for name, runs in (("old", "abc"), ("new", "xyz")):
        write_scores(rng, folder / f"{name}.csv", runs, ["AP", "RR"])
    is_report = chance(rng, 1 / 3)
    words = "similarity {0}.csv --bootstrap 5 --collection c --out {1}"
    words = "compare {0}.csv -m AP -o {1} --trials 10 -B 20 --overwrite" if is_report else words
    for name, out in (("old", "out"), ("new", "whole")):
        run_command(folder, *words.format(name, out).split(), limit=90).check(may_fail=False)
    read = lambda out: {path.name: path.read_bytes() for path in (folder / out).iterdir() if path.is_file()}  # noqa: E731
    before, after, how = read("out"), read("whole"), rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    done = run_command(folder, *words.format("new", "out").split(), stop_after=rng.uniform(0.02, 1.2), how=how)
    if done.status == 0:
        return
    now, stray = (
        read("out"),
        {path.name for path in folder.iterdir()} - {"old.csv", "new.csv", "out", "whole"} - LEFT_BY_US,
    )
    if not is_report:
        assert set(before) <= set(now), f"{how.name}: files are gone"
        torn = [name for name in before if now[name] not in (before[name], after.get(name))]
        assert not torn, f"an interrupted --out leaves torn files: {how.name}"
        stray |= set(now) - set(before) - set(after)
    assert not stray or how == signal.SIGKILL, f"a stopped command leaves files behind: {how.name}, {stray}"


PARTS = {vary_options: 12, vary_names: 10, draw_names: 2, open_odd_paths: 12, interrupt_out: 3}


@pytest.mark.parametrize(
    ("part", "share"),
    [
        *(pytest.param(part, 0.3, id=part.__name__) for part in PARTS),
        *(pytest.param(part, 4, id=f"{part.__name__}, many", marks=pytest.mark.nightly) for part in PARTS),
    ],
)
def test_a_command_works_or_says_why_not_in_one_sentence(part, share, tmp_path):
    try_inputs(part, PARTS[part] * share, tmp_path, least_equal=0.05, seconds=90)


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
    cells = [(r, t, r / 8 + (t * 7 % 5) / 64) for r in range(5) for t in range(8)]
    rows = "".join(f"r{r},t{t},AP,{good}\nr{r},t{t},{name},{1 - good}\n" for r, t, good in cells)
    (folder / "mt.csv").write_text("run,topic,measure,score\n" + rows)


COMPARE = "compare mt.csv -m edits --trials 10 -B 20 -o rep"
SIMILARITY = "similarity mt.csv --bootstrap 0"


def test_compare_turns_a_measure_round_as_stated(tmp_path):
    write_two(tmp_path)
    run_command(tmp_path, *COMPARE.split(), "--lower-is-better", "edits", limit=120).check(may_fail=False)
    results = json.loads((tmp_path / "rep" / "report.json").read_text(encoding="utf-8"))["results"]
    rows = next(result["rows"] for name, result in results.items() if name.endswith("similarity"))
    assert next(row["AP"] for row in rows if row["measure"] == "edits") == 1


@pytest.mark.parametrize("command", [COMPARE, SIMILARITY, "convert mt.csv out.csv"])
@pytest.mark.parametrize("words", ["nothing", "edits --higher-is-better AP --higher-is-better edits", ""])
def test_a_direction_of_nothing_or_both_ways_is_refused(tmp_path, command, words):
    write_two(tmp_path)
    with pytest.raises(Refused):
        run_command(tmp_path, *command.split(), "--lower-is-better", *words.split(), limit=60).check()


def test_convert_keeps_a_stated_direction(tmp_path):
    write_two(tmp_path)
    run_command(tmp_path, "convert", "mt.csv", "out.csv", "--lower-is-better", "edits").check(may_fail=False)
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as stream:
        stated = {row["measure"]: row.get("higher_is_better") for row in csv.DictReader(stream)}
    assert stated["edits"].lower() == "false"


@pytest.mark.parametrize(
    ("name", "option", "tau", "assumed"),
    [
        ("BLEU", "--lower-is-better BLEU", 1, False),
        ("NMD", "--higher-is-better NMD", -1, False),
        ("edits", "--lower-is-better edits", 1, False),
        ("edits", "--all-higher-is-better", -1, False),
        ("edits", "", -1, True),
    ],
)
def test_a_stated_direction_wins_over_a_known_one_and_one_that_is_assumed_is_said(tmp_path, name, option, tau, assumed):
    write_two(tmp_path, name)
    done = run_command(tmp_path, *SIMILARITY.split(), "-f", "json", *option.split()).check(may_fail=False)
    assert next(row for row in json.loads(done.out)["rows"] if row["measure"] == "AP")[name] == tau
    assert ("assumed" in done.out.decode()) == assumed


def test_the_signature_tells_stated_directions_from_assumed_ones(tmp_path):
    write_two(tmp_path)
    signatures = set()
    for option in ("", "--lower-is-better edits", "--all-higher-is-better"):
        done = run_command(tmp_path, *SIMILARITY.split(), "-f", "json", *option.split()).check(may_fail=False)
        signatures.add(json.loads(done.out)["signature"].split("@")[1].partition(" ")[2])
    assert len(signatures) == 3


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize(
    "command", ["power mt.csv -B 20", SIMILARITY, "measures", "consistency mt.csv --trials 5 -B 9"]
)
def test_results_print_whatever_stdout_can_encode(tmp_path, encoding, command):
    write_two(tmp_path)
    run_command(tmp_path, *command.split(), encoding=encoding, limit=60).check(may_fail=False)


def test_a_report_in_the_way_asks_for_overwrite_before_anything_is_computed(tmp_path):
    write_two(tmp_path)
    (tmp_path / "rep").write_text("a file")
    done = run_command(tmp_path, *COMPARE.split(), limit=120)
    assert (done.status, b"power" in done.err, b"consistency" in done.err) == (2, False, False)
    (tmp_path / "rep").unlink()
    (tmp_path / "rep").mkdir()
    (tmp_path / "rep" / "mine.txt").write_text("precious")
    done = run_command(tmp_path, *COMPARE.split(), limit=120)
    assert (done.status, b"--overwrite" in done.err) == (2, True)
    assert not {b"studying", b"discriminative"} & set(done.err.split())
    run_command(tmp_path, *COMPARE.split(), "--overwrite", limit=120).check(may_fail=False)
    assert (tmp_path / "rep" / "index.html").exists()
    assert (tmp_path / "rep" / "mine.txt").read_text() == "precious"
