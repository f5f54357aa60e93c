"""The command line as a user meets it: results on stdout, everything else on stderr, never a traceback."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import metaeval as me
from tests.analyses.made import label

ANALYSES = ("similarity", "consistency", "power", "overlap", "contradictions", "robustness")


@pytest.mark.usefixtures("score_file")
@pytest.mark.parametrize("command", ANALYSES)
def test_every_analysis_prints_in_every_format(ok, command):
    for style in ("text", "csv", "md", "latex", "json"):
        out, err = ok(f"{command} tiny.csv --format {style}")
        assert "nDCG@10" in out.replace("\\", "")
        assert ("tiny@" in out, "tiny@" in err) == (style not in ("csv", "text"), style == "csv")
        assert "5 runs × " in out or style != "text"
    assert "tiny@" in ok(f"{command} tiny.csv --explain")[0]  # the whole signature


PRINTED = {
    "sample-size tiny.csv --sizes 4,12": ["nDCG@10 needs about "],
    "sample-size tiny.csv --sizes 4,12 --explain": ["expected τ nDCG@10"],
    "baselines tiny.csv r0 r4": ["r4"],
    "measures --kind quantification": ["NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD", "RNADW"],
    "measures kappa(weights=quadratic) NMD": [
        "weights=quadratic, by default linear", "1 stands for it", "−1 to 1", "@article{cohen-1968", "Eq. 11",
    ],
    "measures RNOD --format json": [f'"{what}"' for what in ("formula", "range", "better", "0/0", "source", "BibTeX")],
    "data list": ["stc3-dq-a"],
    "data info llmjudge": ["sha256", "licence"],
    "--version": [me.__version__],
}  # fmt: skip


@pytest.mark.usefixtures("score_file")
@pytest.mark.parametrize(("line", "parts"), PRINTED.items())
def test_sample_size_baselines_measures_data_sets_and_the_version_are_printed(ok, monkeypatch, here, line, parts):
    monkeypatch.setenv("METAEVAL_DATA", str(here))
    shown = " ".join(ok(line)[0].split())
    assert [part for part in parts if part not in shown] == []


FIRST_SCREENS = {
    "sample-size": "Identical runs, which always tie, raise these numbers. Topics needed for an expected τ (Kendall's",
    "sample-size --confidence 0.9": "90 % interval",
    "topic-set-size --beta 0.1 --target 0.8": "with probability 0.9 by a paired t-test at α = 0.05, and for "
    "80 % of the variance of means to be between runs (generalisability); in brackets 95 % intervals.",
    "variance": "detectable: what a paired t-test over topics at α = 0.05 finds with probability 0.8",
    "ranks -m AP --alpha 0.1": "Low, high: 90 % interval of each mean by itself, on other topics.",
    "power": "%: of all pairs, with its 95 % interval on other topics.",
    "overlap": "agree on which differences are significant",
    "overlap --alpha 0.05": "% of run pairs found by either (α = 0.05) that both find.",
    "contradictions --alpha 0.1": "opposite significant conclusions (α = 0.1).",
    "variance -m AP": "Components of the variance of scores, with 95 % intervals.",
    "similarity": "Brackets: 95 % intervals over topics.",
    "consistency": "significantly different (α = 0.05) over these splits",
    "calibrate --topics 10 --studies 20": "low, high: 95 % interval",
    "agreement --reference AP": "Pairwise accuracy: share of pairs of runs in its order. 95 % intervals",
}


@pytest.mark.parametrize(("line", "part"), FIRST_SCREENS.items())
def test_the_first_screen_says_how_certain_it_is(ok, line, part):
    values = np.linspace(0.2, 0.8, 12)[:, None, None] + np.random.default_rng(3).normal(0, 0.1, (12, 30, 2))
    values[1] = values[0]
    me.io.write_scores(label(values, ["nDCG@10", "AP"], "twins"), "twins.csv")
    command, *options = line.split()
    out, err = ok(command, "twins.csv", *options)
    assert part in " ".join(out.split())
    assert command == "variance" or "2 of 12 runs have the same scores as another, and the numbers depend on it" in err


def test_scores_are_printed_with_the_best_run_first(ok, here):
    for name, label_of_second in {"gold": 2, "bad": 0, "good": 2, "middle": 1}.items():
        (here / f"{name}.txt").write_text(f"q1 0 d1 0\nq1 0 d2 {label_of_second}\n")
    out, _ = ok(
        "score gold.txt bad.txt good.txt middle.txt -l judgements --classes 0,1,2 -m MAE_mu -m Accuracy --format csv"
    )
    assert [line.partition(",")[0] for line in out.splitlines()] == ["run", "good", "middle", "bad"]


@pytest.mark.usefixtures("score_file")
def test_scores_go_from_format_to_format_without_losing_a_bit(ok):
    for files in ("tiny.csv a.parquet", "a.parquet store --to store --collection tiny", "store back.csv"):
        ok(f"convert {files}")
    back = me.io.read_scores("back.csv").sel(measures=["nDCG@10", "AP"])
    assert me.io.read_scores("tiny.csv").values.tobytes() == back.values.tobytes()


SCORE = "score gold.txt run.txt --layout judgements --classes 0,1,2"


@pytest.fixture
def judged(here):
    for name, (second, third) in {"gold": (2, 1), "run": (1, 1), "bad": (7, 1)}.items():
        (here / f"{name}.txt").write_text(f"q1 0 d1 0\nq1 0 d2 {second}\nq2 0 d1 {third}\nq2 0 d3 0\n")


@pytest.mark.usefixtures("judged")
def test_runs_are_scored_against_gold(ok, refused):
    assert "0.2500" in ok(f"{SCORE} -m MAE_mu -o s.csv")[0]
    assert me.io.read_scores("s.csv").values.tolist() == [[[0.5], [0.0]]]
    both = SCORE.replace("run.txt", "run.txt bad.txt")
    assert "bad.txt:2" in refused(both)
    out, err = ok(f"{both} --invalid clip -m Accuracy --format csv")
    assert "note" in err
    assert out.splitlines() == ["run,Accuracy", "bad,1.0", "run,0.75"]


OWN = """
import numpy as np, metaeval
@metaeval.register_measure(kind="classification", higher_is_better=True, range=(0, 1))
def own(counts):
    "Share of items in the first class."
    return counts[..., 0].sum(-1) / counts.sum((-2, -1))
"""


@pytest.mark.usefixtures("judged")
def test_a_users_measure_is_run_because_they_name_its_file(ok, refused):
    Path("own.py").write_text(OWN)
    assert "0.5000" in ok(f"{SCORE} -m ./own.py:own -o s.csv")[0]
    assert "higher_is_better" in Path("s.csv").read_text(), "who reads the file has not the user's code"
    out, _ = ok("measures ./own.py:own")
    assert "Share of items in the first class." in out
    assert "not declared" in out
    assert "no file" in refused(f"{SCORE} -m no.py:own")
    assert "nothing called 'other'" in refused(f"{SCORE} -m own.py:other")


@pytest.mark.parametrize(
    "command",
    [
        "convert STORE x.csv",
        "convert STORE x.parquet",
        "compare STORE -m RR -B 20 --trials 5 -o report",
        "power STORE -B 20",
        "similarity STORE --bootstrap 0 --format text",
        "ranks STORE -B 20 --format md",
        "baselines STORE '\x1b[31mr\n0' '\x1b[31mr\n1'",
    ],
)
def test_escape_sequences_of_names_are_shown_spelled_out(ok, command):
    values, runs = np.random.default_rng(0).random((4, 12, 2)), [f"\x1b[31mr\n{i}" for i in range(4)]
    me.ScoreStore("STORE").add(label(values, ["AP\x1b[31m", "RR"], "c\x1b[2J\x9b2J", runs=runs))
    out, err = ok(command)
    assert not {"\x1b", "\x9b"} & {*out, *err}
    assert "\\x1b" in out + err


def test_one_data_set_that_cannot_be_had_does_not_keep_the_others(run, here, monkeypatch):
    monkeypatch.setenv("METAEVAL_DATA", str(here))
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    status, out, err = run("data fetch stc3-dq-a no-such-data stc3-dq-e")
    assert (status, out) == (2, "")
    for line, part in zip(err.splitlines(), ("stc3-dq-a", "no data set 'no-such-data'", "stc3-dq-e"), strict=True):
        assert part in line


def test_a_reader_that_has_seen_enough_is_no_error(score_file):
    command = f"{sys.executable} -m metaeval power {score_file} -B 100 --format csv | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.stdout.startswith("measure,")
    assert "Traceback" not in done.stderr


FORMULA = "=cmd|' /C calc'!A0"
WRITTEN = ("convert s.csv x.csv", "score gold.csv runs -l probabilities -m NMD --format csv -o x.csv")
RESULTS = (
    "power s.csv -B 50 --bootstrap 0 --out out",
    "similarity s.csv --bootstrap 0 --format csv",
    "baselines s.csv a b --format csv",
    "compare s.csv -m AP -B 50 --trials 5 -o report",
    *(f"{command} --defuse-formulas" for command in WRITTEN),
)


@pytest.mark.parametrize("command", [*RESULTS, *WRITTEN])
def test_results_in_csv_hold_no_formulas_and_scores_hold_none_on_request(ok, here, command):
    values = np.random.default_rng(0).random((4, 12, 2)) + np.arange(4)[:, None, None]
    labels = {"runs": ["a", "b", FORMULA, "-1"], "topics": [*range(11), "@t"]}
    me.io.write_scores(label(values, ["AP", "=RR()"], "c", **labels), "s.csv")
    (here / "runs").mkdir()
    for name in ("gold.csv", "runs/=x.csv", "runs/y.csv"):
        (here / name).write_text("topic,a,b\n=t,0.5,0.5\nu,0,1\n")
    before = {*here.rglob("*.csv")}
    out, _ = ok(f"{command} --higher-is-better '=RR()'" if " s.csv" in command else command)
    texts = [path.read_text() for path in {*here.rglob("*.csv")} - before] + [out] * ("--format csv" in command)
    cells = [cell for text in texts for row in csv.reader(text.splitlines()) for cell in row]
    assert any(cell.startswith(("=", "@")) for cell in cells) == (command in WRITTEN)
    assert command in WRITTEN or any(cell.startswith(("'=", "'@")) for cell in cells)


def test_a_report_in_the_way_asks_for_overwrite_before_anything_is_computed(ok, refused, score_file):
    line, report = "compare tiny.csv -m AP --trials 10 -B 20 -o rep", Path("rep")
    report.write_text("a file")
    assert "rep is a file" in refused(line)
    report.unlink()
    report.mkdir()
    (report / "mine.txt").write_text("precious")
    assert "--overwrite" in refused(line)
    ok(f"{line} --overwrite")
    assert (report / "index.html").exists()
    assert (report / "mine.txt").read_text() == "precious"
