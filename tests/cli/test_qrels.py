"""The command qrels: files as TREC has them, and what is wrong with them in one sentence."""

import gzip
import json

import numpy as np
import pytest

pytest.importorskip("ir_measures")
pytest.importorskip("pytrec_eval")

TOPICS, DOCUMENTS = [f"q{t}" for t in range(8)], [f"d{i}" for i in range(9)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgements of people and of judges on three scales, three runs, one of them packed, and much that is broken."""
    rng = np.random.default_rng(0)
    grades = {q: rng.choice([0, 0, 1, 2, 3], 7).tolist() for q in TOPICS}

    def write(name, rows):
        (tmp_path / name).write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows))

    def judge(name, change):
        write(name, [(q, 0, d, change(g)) for q in TOPICS for d, g in zip(DOCUMENTS, grades[q], strict=False)])

    judge("people.txt", lambda grade: grade)
    judge("gpt-4.txt", lambda grade: min(3, grade + int(rng.integers(0, 2))))
    judge("binary.txt", lambda grade: int(grade > 1))
    judge("zero.txt", lambda grade: 0)
    judge("huge.txt", lambda grade: 500 * grade)
    judge("real.txt", lambda grade: grade + 0.5)
    judge("words.txt", lambda grade: "good")
    write("other.txt", [(f"x{q}", 0, "d1", 1) for q in TOPICS])
    write("half.txt", [(q, 0, "d1", 1) for q in TOPICS[:5]])
    write("double.txt", [("q0", 0, "d1", 1), ("q0", 0, "d2", 1), ("q0", 0, "d1", 2)])
    write("prose.txt", [("a", "line", "of", "some", "text")])
    (tmp_path / "empty.txt").touch()
    (tmp_path / "binary.bin").write_bytes(bytes(range(256)))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"q0 0 d1 1\n" * 1000)[:30])
    kinds = {"runs": {}, "gap": {"q3"}, "alien": None}
    for folder, gap in kinds.items():
        (tmp_path / folder).mkdir()
        for r in range(3):
            rows = []
            for q in TOPICS:
                if r == 1 and gap and q in gap:
                    continue
                scores = rng.normal([*grades[q], 0, 0], 1 + r)
                name = "x" if r == 1 and gap is None else ""
                rows += [(q, "Q0", f"{name}{d}", 1, s, "tag") for d, s in zip(DOCUMENTS, scores, strict=True)]
            write(f"{folder}/run{r}.txt", rows)
    packed = tmp_path / "runs" / "run2.txt"
    (tmp_path / "runs" / "run2.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    write("bad-run.txt", [("q0", "Q0", "d1", 1, "nan", "tag")])
    write("family.csv", [("run,model",), ("run1,gpt-4",)])
    write("twice.csv", [("run0", "A"), ("run0", "B")])
    write("three.csv", [("run0", "A", "B")])
    monkeypatch.chdir(tmp_path)
    return tmp_path


QUICK = ("-B", 50, "--bootstrap", 30)


def test_judges_are_compared_and_everything_is_written(run, files):
    words = ("people.txt", "gpt-4.txt", "binary.txt", "--runs", "runs", "-m", "nDCG@5", "-m", "P@3", *QUICK)
    asked = ("--family", "family.csv")
    status, out, err = run("qrels", *words, *asked, "--out", "results", "--format", "json")
    assert status == 0, err
    printed = json.loads(out)
    assert [(row["measure"], row["judge"]) for row in printed["rows"]] == [
        (measure, judge) for measure in ("nDCG@5", "P@3") for judge in ("gpt-4", "binary")
    ]
    details = {"flips", "grades", "unjudged", "differences", "runs", "topics", "family"}
    assert set(printed["details"]) == details
    assert {f"qrels-{name}.csv" for name in details} <= {path.name for path in (files / "results").iterdir()}
    assert [row["scale"] for row in printed["details"]["grades"]] == ["0–3", "0–1"]
    assert {(row["judge"], row["own"]) for row in printed["details"]["family"]} == {("gpt-4", True), ("binary", False)}


def test_the_answer_comes_first_in_twelve_words_and_tables_are_narrow(run, files):
    status, out, _ = run("qrels", "people.txt", "gpt-4.txt", "binary.txt", "--runs", "runs", *QUICK)
    answer, _, table = out.partition("\n")
    assert status == 0
    assert "most like people" in answer
    assert len(answer.split()) <= 12
    assert all(len(line) <= 80 for line in table.splitlines())
    explained = run("qrels", "people.txt", "gpt-4.txt", "binary.txt", "--runs", "runs", *QUICK, "--explain")[1]
    assert "Share of the documents down to a measure's cut without a grade" in " ".join(explained.split())
    heads = " ".join(line for line in explained.splitlines() if line.startswith("judge"))
    assert "same grade" in heads
    assert "_grade" not in explained
    assert "_of_run" not in explained


def test_runs_may_be_named_one_by_one(run, files):
    words = [word for name in ("run0.txt", "run1.txt") for word in ("--runs", f"runs/{name}")]
    status, out, _ = run("qrels", "people.txt", "gpt-4.txt", *words, *QUICK)
    assert status == 0
    assert "2 runs × 8 topics" in out


@pytest.mark.parametrize(
    ("policy", "size"),
    [("drop-topic", "3 runs × 7 topics"), ("drop-run", "2 runs × 8"), ("worst", "3 runs × 8 topics")],
)
def test_a_run_without_documents_on_a_topic_is_dealt_with_as_asked(run, files, policy, size):
    status, out, err = run("qrels", "people.txt", "gpt-4.txt", "--runs", "gap", "--missing", policy, *QUICK)
    assert status == 0
    assert size in " ".join(out.split())
    assert "left out 1 of" in err or "in 1 cases, which count as nothing found" in err


def test_topics_that_a_judge_lacks_are_left_out_if_asked_for(run, files):
    status, out, err = run("qrels", "people.txt", "half.txt", "--runs", "runs", "--missing", "drop-topic", *QUICK)
    assert status == 0
    assert "3 runs × 5 topics" in out
    assert "half: --missing drop-topic: left out 3 topics of people: q5, q6, q7" in err


BROKEN = {
    "other.txt": "other: no topic is one of people: its judgements are of other topics",
    "half.txt": "half: there is no judgement of 3 topics of people: q5, q6, q7 (--missing drop-topic",
    "double.txt": "double.txt:3: topic q0, item d1: it has two grades, 1 and 2",
    "zero.txt": "zero: no document is relevant: every grade is 0 or less",
    "huge.txt": "is no whole number of at most 100 (round or rescale the grades first)",
    "real.txt": "real.txt:1: topic q0, item d0: ",
    "words.txt": "words.txt:1: topic q0, item d0: 'good' is no grade, a whole number",
    "empty.txt": "empty.txt: the file is empty",
    "binary.bin": "binary.bin:1: the file is binary, not text",
    "cut.gz": "cut.gz: it is no whole gzip file",
    "prose.txt": "prose.txt:1: the line has 5 columns, not topic 0 document grade",
    "nobody.txt": "nobody.txt: there is no such file",
    "runs": "runs: this is a folder",
    "people.txt": "people.txt: another file is called people too",
    "": "name two files of judgements or more: first those of people, then those of models",
    "binary.txt -m AP(rel=2)": "binary: measure AP(rel=2): every run scores 0 on every topic",
}
RUNS = {
    "": "missing option '--runs'",
    "--runs gap": "run run1, topic q3: there is no document (choose what to do about it: --missing",
    "--runs alien": "run run1: people judges none of its documents: are their names the same?",
    "--runs nowhere": "nowhere: there is no such file",
    "--runs people.txt": "people.txt:1: the line has 4 columns, not topic Q0 document rank score",
    "--runs bad-run.txt": "bad-run.txt:1: topic q0, item d1: 'nan' is no score, a finite number",
    "--runs runs/run0.txt": "at least two runs are needed to compare anything, not 1",
}
OPTIONS = {
    "-m nDGC@10": "ir_measures cannot compute 'nDGC@10'",
    "-m P@0": "ir_measures cannot compute 'P@0': its cut lies from 1 to 1,000,000",
    "-m AP(rel='x')": "ir_measures cannot compute",
    "-m nDCG@": "ir_measures cannot compute 'nDCG@'",
    "--family run9=gpt-4": "there is no run 'run9'",
    "--family run1=llama": "no judge is of the model 'llama'",
    "--family twice.csv": "twice.csv:2: run run0: it stands twice, with two names",
    "--family three.csv": "three.csv:1: the line has 3 columns, not run and name",
    "--statistic kappa": "there is no statistic 'kappa'",
    "--statistic spa": "--statistic spa does not compare rankings of runs: use tau_b",
    "--statistic tau_b@9": "tau_b@9 needs 9 runs, there are 3",
    "-B 5": "-B is 5; it is a whole number of at least 19",
}
WRONG = [
    *((f"people.txt {judge} --runs runs", message) for judge, message in BROKEN.items()),
    *((f"people.txt gpt-4.txt {runs}", message) for runs, message in RUNS.items()),
    *((f"people.txt gpt-4.txt --runs runs {option}", message) for option, message in OPTIONS.items()),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_what_is_wrong_is_said_in_one_sentence(run, files, words, message):
    status, out, err = run("qrels", *words.split())
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert len([line for line in err.splitlines() if not line.endswith(" …")]) == 1
