"""The command qrels: files as TREC has them, and what is wrong with them in one sentence."""

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ir_measures")
pytest.importorskip("pytrec_eval")

TOPICS, DOCUMENTS = [f"q{t}" for t in range(8)], [f"d{i}" for i in range(9)]


SCALES = {
    "people": lambda grade, _: grade,
    "gpt-4": lambda grade, more: min(3, grade + more),
    "binary": lambda grade, _: int(grade > 1),
    "zero": lambda *_: 0,
    "huge": lambda grade, _: 500 * grade,
    "real": lambda grade, _: grade + 0.5,
    "words": lambda *_: "good",
}


@pytest.fixture(autouse=True)
def files(here):
    """Judgements of people and of judges on three scales, three runs, one of them packed, and much that is broken."""
    rng = np.random.default_rng(0)
    grades = iter(rng.choice([0, 0, 1, 2, 3], 56).tolist())
    judged = [(q, d, next(grades), rng.integers(0, 2)) for q in TOPICS for d in DOCUMENTS[:7]]
    found = {(q, d): grade for q, d, grade, _ in judged}

    def write(name, rows):
        (here / name).write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows))

    for name, scale in SCALES.items():
        write(f"{name}.txt", [(q, 0, d, scale(grade, more)) for q, d, grade, more in judged])
    write("other.txt", [(f"x{q}", 0, "d1", 1) for q in TOPICS])
    write("half.txt", [(q, 0, "d1", 1) for q in TOPICS[:5]])
    write("parts.txt", [("q0", 1, "d1", 1), ("q0", 2, "d1", 1)])
    write("double.txt", [("q0", 0, "d1", 1), ("q0", 0, "d2", 1), ("q0", 0, "d1", 2)])
    write("prose.txt", [("a", "line", "of", "some", "text")])
    (here / "cut.gz").write_bytes(gzip.compress(b"q0 0 d1 1\n" * 1000)[:30])
    for folder, run in itertools.product(("runs", "gap", "alien"), range(3)):
        (here / folder).mkdir(exist_ok=True)
        topics = [q for q in TOPICS if (folder, run, q) != ("gap", 1, "q3")]
        name = "x" if (folder, run) == ("alien", 1) else ""
        cells = [(q, d, rng.normal(found.get((q, d), 0), 1 + run)) for q in topics for d in DOCUMENTS]
        write(f"{folder}/run{run}.txt", [(q, "Q0", f"{name}{d}", 1, score, "tag") for q, d, score in cells])
    packed = here / "runs" / "run2.txt"
    (here / "runs" / "run2.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    write("bad-run.txt", [("q0", "Q0", "d1", 1, "nan", "tag")])


QRELS = "qrels people.txt gpt-4.txt binary.txt --runs runs -B 50 --bootstrap 30"
DETAILS = {"flips", "differences", "family"}


def test_judges_are_compared_and_everything_is_written(ok):
    out, _ = ok(f"{QRELS} -m nDCG@5 --family run1=gpt-4 --out results --format json")
    printed = json.loads(out)
    assert {row["judge"] for row in printed["rows"]} == {"gpt-4", "binary"}
    assert set(printed["details"]) == DETAILS
    assert {f"qrels-{name}.csv" for name in DETAILS} <= {path.name for path in Path("results").iterdir()}
    assert {(row["judge"], row["own"]) for row in printed["details"]["family"]} == {("gpt-4", True), ("binary", False)}


def test_the_answer_comes_first_in_one_sentence_and_tables_are_narrow(ok):
    answer, _, table = ok(QRELS)[0].partition("\n\n")
    assert "most like people" in answer
    assert (answer.count(". "), answer[-1]) == (0, ".")
    assert all(len(line) <= 80 for line in table.splitlines())


@pytest.mark.parametrize(
    ("words", "size", "note"),
    [
        ("gpt-4.txt --runs runs/run0.txt --runs runs/run1.txt", "2 runs × 8 topics", ""),
        ("gpt-4.txt --runs gap --missing drop-topic", "3 runs × 7 topics", "left out 1 of"),
        ("gpt-4.txt --runs gap --missing drop-run", "2 runs × 8", "left out 1 of"),
        ("gpt-4.txt --runs gap --missing worst", "3 runs × 8 topics", "in 1 cases, which count as nothing found"),
        ("half.txt --runs runs --missing drop-topic", "3 runs × 5 topics",
         "half: --missing drop-topic: left out 3 topics of people: q5, q6, q7"),
    ],
)  # fmt: skip
def test_runs_and_gaps_are_dealt_with_as_asked(ok, words, size, note):
    out, err = ok(f"qrels people.txt {words} -B 50 --bootstrap 30")
    assert size in " ".join(out.split())
    assert note in err


BROKEN = {
    "other.txt": "other: there is no judgement of 8 topics of people",
    "half.txt": "half: there is no judgement of 3 topics of people: q5, q6, q7 (--missing drop-topic",
    "double.txt": "double.txt:3: topic q0, item d1: it has two grades, 1 and 2",
    "parts.txt": "parts.txt:2: topic q0, item d1: the second column has two words for it",
    "zero.txt": "zero: no document is relevant: every grade is 0 or less",
    "huge.txt": "is no whole number of at most 100 (round or rescale the grades first)",
    "real.txt": "real.txt:1: topic q0, item d0: ",
    "words.txt": "words.txt:1: topic q0, item d0: 'good' is no grade, a whole number",
    "cut.gz": "cut.gz: it is no whole gzip file",
    "prose.txt": "prose.txt:1: the line has 5 columns, not 4: topic 0 document grade",
    "nobody.txt": "nobody.txt: there is no such file",
    "runs": "runs: this is a folder",
    "people.txt": "people.txt: it is of the same set of judgements as people.txt",
    "": "name two files of judgements or more: first those of people, then those of models",
    "binary.txt -m AP(rel=2)": "binary: measure AP(rel=2): every run scores 0 on every topic",
}
RUNS = {
    "": "Missing option '--runs'",
    "--runs gap": "run run1, topic q3: there is no document (choose what to do about it: --missing",
    "--runs alien": "run run1: people judges none of its documents: are their names the same?",
    "--runs nowhere": "nowhere: there is no such file",
    "--runs people.txt": "people.txt:1: the line has 4 columns, not 6: topic Q0 document rank score",
    "--runs bad-run.txt": "bad-run.txt:1: topic q0, item d1: 'nan' is no score, a finite number",
    "--runs runs/run0.txt": "at least two runs are needed to compare anything, not 1",
}
OPTIONS = {
    "-m nDGC@10": "ir_measures cannot compute 'nDGC@10'",
    "-m P@3 -m AP": "runs are compared by one measure at a time, not by P@3, AP",
    "-m P@0": "ir_measures cannot compute 'P@0': its cut lies from 1 to 1,000,000",
    "-m AP(rel='x')": "ir_measures cannot compute",
    "-m nDCG@": "ir_measures cannot compute 'nDCG@'",
    "--family run9=gpt-4": "there is no run 'run9'",
    "--family run1=llama": "no judge is of the model 'llama'",
    "--family run0=A,run0=B": "--family: run0 stands twice, with A and B",
    "--family run0": "--family run0: two names each",
    "-B 5": "-B is 5; it is a whole number of at least 19",
}
WRONG = [
    *((f"people.txt {judge} --runs runs", message) for judge, message in BROKEN.items()),
    *((f"people.txt gpt-4.txt {runs}", message) for runs, message in RUNS.items()),
    *((f"people.txt gpt-4.txt --runs runs {option}", message) for option, message in OPTIONS.items()),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_what_is_wrong_is_said_in_one_sentence(refused, words, message):
    assert message in refused("qrels", *words.split())
