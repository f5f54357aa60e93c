"""The command line as a user meets it: results on stdout, everything else on stderr, never a traceback."""

import csv
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import metaeval as me


def test_measures_are_listed(run):
    status, out, _ = run("measures", "--kind", "quantification", "--format", "json")
    assert status == 0
    assert {row["measure"] for row in json.loads(out)["rows"]} >= {
        *["NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD", "RNADW"]
    }


@pytest.mark.parametrize("command", ["similarity", "consistency", "power", "overlap", "contradictions", "robustness"])
@pytest.mark.parametrize("style", ["text", "csv", "md", "latex", "json"])
def test_every_analysis_prints_in_every_format(run, score_file, command, style):
    status, out, err = run(command, score_file, "--format", style)
    assert status == 0, err
    assert "nDCG@10" in out or "nDCG@10" in out.replace("\\", "")
    assert ("tiny@" in out) == (style not in ("csv", "text"))
    assert ("tiny@" in err) == (style == "csv")
    if style == "text":  # one line of the signature; the whole of it on demand
        assert "5 runs × " in out
        assert "tiny@" in run(command, score_file, "--explain")[1]


def test_an_analysis_writes_table_rows_and_figure(run, score_file, tmp_path):
    status, _, err = run("power", score_file, "-B", 200, "--out", tmp_path / "out")
    assert status == 0, err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {f"power.{suffix}" for suffix in ("csv", "tex", "json", "png", "svg", "pdf")} | {
        "power-differences.csv"
    }
    assert list(pd.read_csv(tmp_path / "out" / "power.csv")["pairs"]) == [10, 10]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_p_value_is_written_to_the_file_that_is_named_for_it(run, score_file, tmp_path, suffix):
    file, contradictions = tmp_path / f"p.{suffix}", tmp_path / f"contradictions.{suffix}"
    status, _, err = run("power", score_file, "-B", 200, "--p-values", file)
    assert (status, f"wrote {file}" in err) == (0, True), err
    frame = pd.read_csv(file) if suffix == "csv" else pd.read_parquet(file)
    assert len(frame) == 20
    assert {"measure", "run_a", "run_b", "p_value"} < set(frame.columns)
    assert run("contradictions", score_file, "-B", 200, "--run-pairs", contradictions)[0] == 0
    assert contradictions.is_file()
    for name, complaint in (("p.txt", "does not tell a format"), ("none/p.csv", "there is no folder")):
        status, out, err = run("power", score_file, "--p-values", tmp_path / name)
        assert (status, out, complaint in err) == (2, "", True)


def test_sample_size_and_baselines(run, score_file):
    status, out, _ = run("sample-size", score_file, "--sizes", "4,12")
    assert status == 0
    assert out.startswith("nDCG@10 needs about ")
    assert "expected τ nDCG@10" in " ".join(run("sample-size", score_file, "--sizes", "4,12", "--explain")[1].split())
    status, out, _ = run("baselines", score_file, "r0", "r4")
    assert status == 0
    assert "r4" in out


def test_scores_go_from_format_to_format_without_losing_a_bit(run, score_file, tmp_path):
    store = tmp_path / "store"
    assert run("convert", score_file, tmp_path / "a.parquet")[0] == 0
    assert run("convert", tmp_path / "a.parquet", store, "--to", "store", "--collection", "tiny")[0] == 0
    assert run("convert", store, tmp_path / "sakai", "--to", "sakai")[0] == 0
    assert run("convert", tmp_path / "sakai", tmp_path / "back.csv")[0] == 0
    first, last = me.io.read_scores(score_file), me.io.read_scores(tmp_path / "back.csv")
    last = last.sel(measures=["nDCG@10", "AP"])
    assert first.values.tobytes() == last.values.tobytes()


def judged(tmp_path):
    (tmp_path / "gold.txt").write_text("q1 0 d1 0\nq1 0 d2 2\nq2 0 d1 1\nq2 0 d3 0\n")
    (tmp_path / "run.txt").write_text("q1 0 d1 0\nq1 0 d2 1\nq2 0 d1 1\nq2 0 d3 0\n")
    (tmp_path / "bad.txt").write_text("q1 0 d1 0\nq1 0 d2 7\nq2 0 d1 1\nq2 0 d3 0\n")
    return tmp_path / "gold.txt", tmp_path / "run.txt", tmp_path / "bad.txt"


def test_runs_are_scored_against_gold(run, tmp_path):
    gold, good, bad = judged(tmp_path)
    layout = ("--layout", "judgements", "--classes", "0,1,2")
    status, out, err = run("score", gold, good, *layout, "-m", "MAE_mu", "-o", tmp_path / "s.csv")
    assert status == 0, err
    assert "0.2500" in out
    assert me.io.read_scores(tmp_path / "s.csv").values.tolist() == [[[0.5], [0.0]]]
    status, out, err = run("score", gold, good, bad, *layout)
    assert status == 2
    assert "bad.txt:2" in err
    status, out, err = run("score", gold, good, bad, *layout, "--invalid", "clip", "-m", "Accuracy", "--format", "csv")
    assert status == 0
    assert "note" in err
    assert out.splitlines() == ["run,Accuracy", "run,0.75", "bad,1.0"]


OWN = """
import numpy as np, metaeval
@metaeval.register_measure(kind="classification", higher_is_better=True, range=(0, 1))
def own(counts):
    "Share of items in the first class."
    return {body}
"""


def test_a_users_measure_is_run_because_they_name_its_file(run, tmp_path):
    gold, good, _ = judged(tmp_path)
    layout = ("--layout", "judgements", "--classes", "0,1,2")
    (tmp_path / "own.py").write_text(OWN.format(body="counts[..., 0].sum(-1) / counts.sum((-2, -1))"))
    status, out, err = run("score", gold, good, *layout, "-m", f"{tmp_path}/own.py:own")
    assert status == 0, err
    assert "0.5000" in out
    status, _, err = run("score", gold, good, *layout, "-m", f"{tmp_path}/own.py:own", "-o", tmp_path / "s.csv")
    assert status == 0, err
    assert "higher_is_better" in (tmp_path / "s.csv").read_text(), "who reads the file has not the user's code"
    for body, message in (
        ("counts[..., 0, 0] * np.nan", "not a finite number"),
        ("counts.sum((-2, -1)) * 9", "outside its declared range"),
        ("counts", "returned shape"),
        ("1 / 0", "ZeroDivisionError"),
        ("undefined_name", "NameError"),
    ):
        (tmp_path / "own.py").write_text(OWN.format(body=body))
        status, out, err = run("score", gold, good, *layout, "-m", f"{tmp_path}/own.py:own")
        assert (status, out) == (2, ""), body
        assert message in err
        assert "Traceback" not in err
    for reference, message in (
        (f"{tmp_path}/no.py:own", "no file"),
        (f"{tmp_path}/own.py:other", "nothing called 'other'"),
    ):
        status, _, err = run("score", gold, good, *layout, "-m", reference)
        assert status == 2
        assert message in err


def test_policies_and_formats_can_be_stated_for_every_analysis(run, tmp_path):
    rows = [f"{r},{t},AP,0.{r}{t}" for r in range(1, 5) for t in range(1, 8) if (r, t) != (2, 3)]
    (tmp_path / "gap.txt").write_text("\n".join(["run,topic,measure,score", *rows]))
    status, out, err = run("power", tmp_path / "gap.txt", "--from", "tidy", "--missing", "drop-topic", "-B", 50)
    assert status == 0, err
    assert "4 runs × 6 topics" in out
    assert "left out 1 of 7 topics" in err


def test_names_cannot_steer_the_terminal_or_break_a_table(run, tmp_path):
    rows = [f'"\x1b[31mred{r}\nx",{t},AP,0.{r}{t}' for r in range(1, 4) for t in range(1, 5)]
    (tmp_path / "odd.csv").write_text("\n".join(["run,topic,measure,score", *rows]))
    status, out, err = run("baselines", tmp_path / "odd.csv", "\x1b[31mred1\nx", "\x1b[31mred2\nx")
    assert status == 0, err
    assert "\x1b" not in out
    status, out, err = run("baselines", tmp_path / "odd.csv", "\x1b[2J", "b")
    assert status == 2
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "command",
    [
        "convert STORE x.csv",
        "convert STORE x.parquet",
        "compare STORE -m RR -B 20 --trials 5 -o report",
        "power STORE -B 20 --p-values p.csv",
        "similarity STORE --bootstrap 0 --format text",
        "ranks STORE -B 20 --out out",
    ],
)
def test_escape_sequences_of_a_collection_are_shown_spelled_out(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).random((4, 12, 2))
    labels = {"runs": [f"\x1b[31mr{i}" for i in range(4)], "topics": range(12), "measures": ["AP\x1b[31m", "RR"]}
    me.ScoreStore("STORE").add(me.Scores(values, **labels, collection="c\x1b[2J\x9b2J"))
    status, out, err = run(*command.split())
    assert status == 0, err
    assert not {"\x1b", "\x9b"} & {*out, *err}
    assert "\\x1b" in out + err


def test_data_sets_are_described_and_offline_is_a_sentence(run, tmp_path, monkeypatch):
    monkeypatch.setenv("METAEVAL_DATA", str(tmp_path))
    status, out, _ = run("data", "list")
    assert status == 0
    assert "stc3-dq-a" in out
    status, out, _ = run("data", "info", "llmjudge")
    assert status == 0
    assert "sha256" in out
    assert "licence" in out


def test_one_data_set_that_cannot_be_had_does_not_keep_the_others(run, tmp_path, monkeypatch):
    monkeypatch.setenv("METAEVAL_DATA", str(tmp_path))
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    status, out, err = run("data", "fetch", "stc3-dq-a", "no-such-data", "stc3-dq-e")
    assert (status, out) == (2, "")
    first, unknown, again = err.splitlines()
    assert "stc3-dq-a" in first
    assert "no data set 'no-such-data'" in unknown
    assert "stc3-dq-e" in again


def test_a_reader_that_has_seen_enough_is_no_error(score_file):
    command = f"{sys.executable} -m metaeval power {score_file} -B 100 --format csv | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.stdout.startswith("measure,")
    assert "Traceback" not in done.stderr


def test_the_version_is_printed(run):
    assert run("--version")[:2] == (0, f"{me.__version__}\n")


@pytest.mark.parametrize(
    "options", ["--higher-is-better AP", "--all-higher-is-better", "--all-higher-is-better --higher-is-better AP"]
)
def test_stating_a_direction_that_is_known_is_no_error(run, score_file, options):
    status, out, err = run("similarity", score_file, "--bootstrap", 0, *options.split())
    assert (status, "AP" in out) == (0, True), err


FORMULA = "=cmd|' /C calc'!A0"


RESULTS = (
    "ranks s.csv -B 50 --out out",
    "power s.csv -B 50 --bootstrap 0 --p-values p.csv --out out",
    "similarity s.csv --bootstrap 0 --format csv",
    "baselines s.csv a b --format csv",
    "compare s.csv -m AP -B 50 --trials 5 --p-values -o report",
)
WRITTEN = ("convert s.csv x.csv", "score gold.csv runs -l probabilities -m NMD --format csv -o x.csv")


@pytest.mark.parametrize(
    ("command", "defused"), [*((command, False) for command in (*RESULTS, *WRITTEN)), *((one, True) for one in WRITTEN)]
)
def test_results_in_csv_hold_no_formulas_and_scores_hold_none_on_request(run, tmp_path, monkeypatch, command, defused):
    of_scores = command in WRITTEN
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).random((4, 12, 2)) + np.arange(4)[:, None, None]
    labels = {"runs": ["a", "b", FORMULA, "-1"], "topics": [*range(11), "@t"], "measures": ["AP", "=RR()"]}
    me.io.write_scores(me.Scores(values, **labels, collection="c"), "s.csv")
    (tmp_path / "runs").mkdir()
    for name in ("gold.csv", "runs/=x.csv", "runs/y.csv"):
        (tmp_path / name).write_text("topic,a,b\n=t,0.5,0.5\nu,0,1\n")
    before = {*tmp_path.rglob("*.csv")}
    status, out, err = run(*command.split(), *["--defuse-formulas"] * defused, "--higher-is-better", "=RR()") \
        if " s.csv" in command else run(*command.split(), *["--defuse-formulas"] * defused)  # fmt: skip
    assert status == 0, err
    texts = [path.read_text() for path in {*tmp_path.rglob("*.csv")} - before]
    cells = [cell for text in [*texts, *[out] * ("--format csv" in command)] for row in csv.reader(text.splitlines())
             for cell in row]  # fmt: skip
    risky = [cell for cell in cells if cell.startswith(("=", "@"))]
    assert bool(risky) == (of_scores and not defused)
    if not risky:
        assert any(cell.startswith(("'=", "'@")) for cell in cells)
