"""Every answer that a message spells out is typed as it stands, and what is read then is compared with a matrix made here."""

import gzip
import io
import json
import re
import shlex
from itertools import product

import numpy as np
import pandas as pd
import pytest

from metaeval import ScoreStore
from tests.cli.test_hints import OPTION

pytest.importorskip("openpyxl", reason="workbooks need openpyxl")

RUNS, TOPICS, MEASURES = ("alpha", "beta", "gamma"), ("q1", "q2", "q3", "q4"), ("BLEU", "TER")
SCORES = {key: round(0.11 + 0.01 * (7 * n % 80) + 0.001 * (n % 9), 3)
          for n, key in enumerate(product(RUNS, TOPICS, MEASURES))}  # fmt: skip
ONE = {(run, topic): score for (run, topic, measure), score in SCORES.items() if measure == "BLEU"}
OTHER = {(run, topic): score for (run, topic, measure), score in SCORES.items() if measure == "TER"}


def long(names="run,topic,score", *, sep=",", show=str, more=(), rows=ONE):
    """A row per run and topic; `more` is a name and what it holds on each."""
    lines = [sep.join([*names.split(","), *(name for name, _ in more)])]
    lines += [sep.join([run, topic, show(score), *(say(run, topic) for _, say in more)])
              for (run, topic), score in rows.items()]  # fmt: skip
    return "\n".join(lines) + "\n"


def wide(first="topic", *, call=str, sep=",", show=str, more=()):
    """Topics × runs."""
    lines = [sep.join([first, *RUNS, *(name for name, _ in more)])]
    lines += [sep.join([call(topic), *(show(ONE[run, topic]) for run in RUNS), *(say(topic) for _, say in more)])
              for topic in TOPICS]  # fmt: skip
    return "\n".join(lines) + "\n"


def twice(name, labels, names="run,topic,score"):
    """Every score once for each label of a column, larger by a half the second time."""
    first, second = (
        long(names, show=lambda score, k=k: f"{score + k / 2:.3f}", more=[(name, lambda *_, label=label: label)])
        for k, label in enumerate(labels)
    )
    return first + second.partition("\n")[2]


def lay(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def sheets(**tables):
    stream = io.BytesIO()
    with pd.ExcelWriter(stream, engine="openpyxl") as book:
        for name, rows in tables.items():
            cells = [[cell if cell != "" else None for cell in row] for row in rows]
            pd.DataFrame(cells).to_excel(book, sheet_name=name, index=False, header=False)
    return stream.getvalue()


def parquet(names):
    stream = io.BytesIO()
    pd.DataFrame([(*key, score) for key, score in ONE.items()], columns=names).to_parquet(stream)
    return stream.getvalue()


def two_rows(measures):
    upper = ["", *(name for n in range(1, 4) for name in (f"System {n}", ""))]
    return [upper, ["topic", *measures * 3], *by_measure()]


def by_measure():
    return [[topic, *(SCORES[run, topic, measure] for run in RUNS for measure in MEASURES)] for topic in TOPICS]


def lm_eval(name, values):
    samples = [{"doc_id": k, "filter": "none", "metrics": [name], name: value} for k, value in enumerate(values)]
    return "".join(json.dumps(sample) + "\n" for sample in samples)


def inspect_log(grades):
    samples = [{"id": k, "epoch": 1, "scores": {"s": {"value": grade}}} for k, grade in enumerate(grades)]
    about = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
    return json.dumps({**about, "samples": samples})


def of(measure="score", rows=ONE, add=0.0, *, topic="{}", run="{}", collection=None):
    """What is right: the scores by run, topic and measure, with a collection before them where there are several."""
    return {
        (*([collection] if collection else []), run.format(r), topic.format(t), measure): round(score + add, 3)
        for (r, t), score in rows.items()
    }


def without(what):
    return {key: score for key, score in ONE.items() if what not in key}


ENTRY = {"--columns run=entry": of()}
NUMBERS = {topic: str(299 + 3 * int(topic[1])) for topic in TOPICS}
TURNED = {(topic, run): score for (run, topic), score in ONE.items()}
PAIRS = {f"{run} {measure}": (run, measure) for run in RUNS for measure in MEASURES}
SYSTEMS = {run: f"System {n}" for n, run in enumerate(RUNS, 1)}
ALL_PAIRS = {
    (pair, topic, "AP"): SCORES[run, topic, measure] for pair, (run, measure) in PAIRS.items() for topic in TOPICS
}
GAP = long(rows=without(None)).replace(f"alpha,q1,{ONE['alpha', 'q1']}\n", "")
LESS = {"--missing drop-topic": of(rows=without("q1"))}
DATES = ("2024-01-01", "2024-02-01")
SEVERAL = {
    "topic": {**of(topic="{}/x"), **of(add=0.5, topic="{}/y")},
    "measure": {**of("x"), **of("y", add=0.5)},
    "collection": {**of(collection="x"), **of(add=0.5, collection="y")},
    "repeats": of(add=0.25),
}


def systems(upper, lower):
    """What two rows of names give: all columns as runs, or those of the first measure."""
    named = {key: f"{SYSTEMS[run]} {dict(zip(MEASURES, lower, strict=True))[m]}" for key, (run, m) in PAIRS.items()}
    both = {(named[pair], topic, measure): score for (pair, topic, measure), score in ALL_PAIRS.items()}
    gone = "+".join(f"{SYSTEMS[run]} {lower[1]}" for run in upper)
    kept = {key: score for key, score in both.items() if key[0].endswith(lower[0])}
    return {"--from wide": both, f"--columns 'ignore={gone}'": kept}


DOCS = [(run, f"d{d}", str(s), ONE[run, f"q{2 * d + s - 2}"]) for run in RUNS for d in (1, 2) for s in (1, 2)]
TASKS = [
    (run, task, f"{task}{n}", n / 10 + len(task + run) / 100) for run in RUNS for task in ("a", "bb") for n in range(8)
]
TIED = {(task, run, topic, "score"): round(score, 3) for run, task, topic, score in TASKS}
BLIND = "".join(f"{topic}\tdelight\t{ONE['alpha', topic]}\n" for topic in TOPICS)

CASES = {
    # the files, what is typed at first, and every answer with what is right if it is typed
    "runs of another name": ({"s.csv": long("entry,topic,score")}, "", ENTRY),
    "semicolons": ({"s.csv": long("entry,topic,score", sep=";")}, "", ENTRY),
    "decimal commas": ({"s.csv": long("entry,topic,score", sep=";", show=lambda s: str(s).replace(".", ","))}, "", ENTRY),
    "tabs": ({"s.tsv": long("entry,topic,score", sep="\t")}, "", ENTRY),
    "vertical bars": ({"s.csv": long("entry,topic,score", sep="|")}, "", ENTRY),
    "a mark of UTF-8": ({"s.csv": b"\xef\xbb\xbf" + long("entry,topic,score").encode()}, "", ENTRY),
    "UTF-16": ({"s.csv": long("entry,topic,score").encode("utf-16")}, "", ENTRY),
    "line ends of Windows": ({"s.csv": long("entry,topic,score").replace("\n", "\r\n")}, "", ENTRY),
    "packed": ({"s.csv.gz": gzip.compress(long("entry,topic,score").encode())}, "", ENTRY),
    "lines of JSON": ({"s.jsonl": "".join(
        json.dumps({"entry": run, "topic": topic, "score": score}) + "\n" for (run, topic), score in ONE.items())}, "", ENTRY),
    "objects in lines of JSON": ({"s.jsonl": "".join(
        json.dumps({"entry": run, "topic": topic, "metrics": {"score": score, "ci": [0, 1]}}) + "\n"
        for (run, topic), score in ONE.items())}, "", ENTRY),
    "Parquet": ({"s.parquet": parquet(["entry", "topic", "score"])}, "", ENTRY),
    "a workbook": ({"s.xlsx": sheets(s=[["entry", "topic", "score"], *([*k, v] for k, v in ONE.items())])}, "", ENTRY),
    "a title in a workbook": (
        {"s.xlsx": sheets(s=[["Table 1", "", ""], ["entry", "topic", "score"], *([*k, v] for k, v in ONE.items())])}, "", ENTRY,
    ),
    "a title in a text": ({"s.csv": "Table 1,,\n" + long("entry,topic,score")}, "", ENTRY),
    "spaces in names": ({"s.csv": long("the entry,topic,score")}, "", {"--columns 'run=the entry'": of()}),
    "topics of another name": ({"s.csv": long("run,place,score")}, "", {"--columns topic=place": of()}),
    "units in names": ({"s.csv": long("entry,topic,BLEU (%)")}, "",
                      {"--columns 'run=entry,topic=topic,score=BLEU (%)'": of("BLEU (%)")}),
    "neither": ({"s.csv": long("entry,place,score")}, "", {"--columns run=entry,topic=place,score=score": of()}),
    "nothing": ({"s.csv": long("entry,place,figure")}, "", {"--columns run=entry,topic=place,score=figure": of("figure")}),
    "topics first": (
        {"s.csv": lay([["topic", "entry", "figure"], *((t, r, s) for (r, t), s in ONE.items())])}, "",
        {"--columns run=entry,topic=topic,score=figure": of("figure")},
    ),
    "one measure or two": (
        {"s.csv": long(more=[("chrF", lambda *key: str(OTHER[key]))])}, "",
        {"--columns score=score": of(), "--from measures": {**of(), **of("chrF", OTHER)}},
    ),
    "two columns of scores": (
        {"s.csv": long("run,topic,x", more=[("y", lambda *key: str(OTHER[key])), ("measure", lambda *_: "AP")])}, "",
        {"--columns score=x": of("AP")},
    ),
    "topics in rows, or runs": (
        {"x_AP.csv": wide("place")}, "", {"--columns topic=place": of("AP"), "--from transposed": of("AP", TURNED)},
    ),
    "tasks in rows and models in columns": (
        {"x_AP.csv": wide("task")}, "", {"--columns topic=task": of("AP"), "--from transposed": of("AP", TURNED)},
    ),
    "numbered columns": (
        {"x_AP.csv": lay([["", 1, 2, 3, 4], *([run, *(ONE[run, topic] for topic in TOPICS)] for run in RUNS)])}, "",
        {"--from transposed": {(r, t[1], m): s for (r, t, m), s in of("AP").items()},
         "--from wide": {(t[1], r, m): s for (r, t, m), s in of("AP").items()}},
    ),
    "models in rows": (
        {"x_AP.csv": lay([["model", *TOPICS[:3], "other"], *([r, *(ONE[r, t] for t in TOPICS)] for r in RUNS)])}, "",
        {"--from transposed": {(r, {"q4": "other"}.get(t, t), m): s for (r, t, m), s in of("AP").items()}},
    ),
    "numbered topics": (
        {"x_AP.csv": wide("place", call=NUMBERS.get)}, "",
        {"--columns topic=place": {(r, NUMBERS[t], m): s for (r, t, m), s in of("AP").items()},
         "--columns run=place": {**{(r, t[1], m): s for (r, t, m), s in of("AP").items()},
                                 **{("place", t[1], "AP"): float(n) for t, n in NUMBERS.items()}}},
    ),
    "lengths of documents": (
        {"x_AP.csv": wide(more=[("docs", lambda topic: str(29 + int(topic[1])))])}, "",
        {"--columns ignore=docs": of("AP"),
         "--columns run=docs": {**of("AP"), **{("docs", t, "AP"): 29.0 + int(t[1]) for t in TOPICS}}},
    ),
    "a gap": ({"s.csv": GAP}, "", LESS),
    "no number": ({"s.csv": GAP + "alpha,q1,NaN\n"}, "", LESS),
    "an empty cell": (
        {"x_AP.csv": wide().replace(f"q1,{ONE['alpha', 'q1']}", "q1,")}, "",
        {"--missing drop-topic": of("AP", without("q1"))},
    ),
    "an empty cell among semicolons": (
        {"x_AP.csv": wide(sep=";").replace(f"q1;{ONE['alpha', 'q1']}", "q1;")}, "",
        {"--missing drop-topic": of("AP", without("q1"))},
    ),
    "a run without a topic": (
        {"s.jsonl": "".join(json.dumps({"run": run, "topic": topic, "metrics": {} if (run, topic) == ("beta", "q2") else
                                        {"BLEU": score}}) + "\n" for (run, topic), score in ONE.items())}, "",
        {"--missing drop-topic": of("BLEU", without("q2"))},
    ),
    "a row twice": (
        {"s.csv": long() + "alpha,q1,0.9\n"}, "",
        {"--doubled mean": {**of(), ("alpha", "q1", "score"): (ONE["alpha", "q1"] + 0.9) / 2}},
    ),
    "a row twice and a gap": (
        {"s.csv": long().replace(f"beta,q2,{ONE['beta', 'q2']}\n", "") + "alpha,q1,0.9\n"}, "",
        {"--doubled mean --missing drop-run": {
            **of(rows=without("beta")), ("alpha", "q1", "score"): (ONE["alpha", "q1"] + 0.9) / 2}},
    ),
    "two times": ({"s.csv": twice("timestamp", DATES)}, "", {"--doubled latest": of(add=0.5)}),
    "two kinds": (
        {"s.csv": twice("kind", "xy")}, "",
        {"--columns collection=kind": SEVERAL["collection"], "--columns measure=kind": SEVERAL["measure"],
         "--columns topic=topic+kind": SEVERAL["topic"], "--repeats kind": SEVERAL["repeats"]},
    ),
    "paragraphs": (
        {"s.csv": twice("paragraph", "xy", "run,doc,score")}, "", {"--columns topic=doc+paragraph": SEVERAL["topic"]},
    ),
    "numbered paragraphs": (
        {"s.csv": twice("paragraph", "12", "run,doc,score")}, "",
        {"--columns topic=doc+paragraph": {**of(topic="{}/1"), **of(add=0.5, topic="{}/2")}},
    ),
    "documents of questions": (
        {"s.csv": twice("document", "xy", "run,question,score")}, "", {"--columns topic=question+document": SEVERAL["topic"]},
    ),
    "numbered parts": (
        {"s.csv": twice("part", "12")}, "",
        {"--columns topic=topic+part": {**of(topic="{}/1"), **of(add=0.5, topic="{}/2")}, "--repeats part": of(add=0.25)},
    ),
    "seeds": ({"s.csv": twice("seed", "12")}, "", {"--repeats seed": of(add=0.25)}),
    "annotators": (
        {"s.csv": twice("annotator", "xy")}, "",
        {"--columns collection=annotator": SEVERAL["collection"], "--columns measure=annotator": SEVERAL["measure"],
         "--columns topic=topic+annotator": SEVERAL["topic"], "--repeats annotator": SEVERAL["repeats"]},
    ),
    "segments of documents in clusters": (
        {"s.csv": lay([["run", "doc", "segment", "score"], *(row for row in DOCS)])}, "--clusters doc",
        {"--columns topic=doc+segment": {(run, f"{doc}/{segment}", "score"): score for run, doc, segment, score in DOCS}},
    ),
    "benchmarks and a row twice": (
        {"s.csv": lay([["run", "benchmark", "topic", "score"], *TASKS, ("alpha", "a", "a0", 0.5)])}, "",
        {"--columns collection=benchmark --doubled mean": {
            **TIED, ("a", "alpha", "a0", "score"): (0.5 + TIED["a", "alpha", "a0", "score"]) / 2}},
    ),
    "two rows of names": ({"s_AP.csv": lay(two_rows(("rbog", "acc")))}, "", systems(RUNS, ("rbog", "acc"))),
    "two rows of names in a workbook": ({"s_AP.xlsx": sheets(s=two_rows(MEASURES))}, "", systems(RUNS, MEASURES)),
    "two rows of names that nobody knows": ({"s_AP.csv": lay(two_rows(("x", "y")))}, "", systems(RUNS, ("x", "y"))),
    "runs by measures": (
        {"s_AP.csv": lay([["topic", *PAIRS], *by_measure()])}, "",
        {"--from wide": ALL_PAIRS,
         "--columns 'ignore=alpha TER+beta TER+gamma TER'": {k: s for k, s in ALL_PAIRS.items() if "BLEU" in k[0]}},
    ),
    "measures of a run": (
        {"s_x.csv": lay([MEASURES, *([SCORES["alpha", t, m] for m in MEASURES] for t in TOPICS)])}, "",
        {"--from wide": {(m, t[1], "x"): SCORES["alpha", t, m] for m in MEASURES for t in TOPICS}},
    ),
    "a sheet a measure": (
        {"s.xlsx": sheets(**{name: [["topic", *RUNS], *([t, *(SCORES[r, t, m] for r in RUNS)] for t in TOPICS)]
                             for name, m in (("harm less", "BLEU"), ("help", "TER"))})}, "",
        {"--measure 'harm less'": of("harm less")},
    ),
    "three columns": (
        {"alpha.txt": BLIND}, "",
        {"--from trec_eval": {("alpha", "delight", t): ONE["alpha", t] for t in TOPICS},
         "--from ir_measures": {("alpha", t, "delight"): ONE["alpha", t] for t in TOPICS}},
    ),
    "a folder of files of any ending": (
        {f"{run}.compatibility": "".join(f"delight\t{topic}\t{ONE[run, topic]}\n" for topic in TOPICS) for run in RUNS}, "",
        {"--from trec_eval": of("delight"), "--from ir_measures": {(r, "delight", t): s for (r, t), s in ONE.items()}},
    ),
    "four columns": (
        {"s.txt": "".join(f"{run} delight {topic} {score}\n" for (run, topic), score in ONE.items())}, "",
        {"--from tot": of("delight"), "--from ir_measures": {(r, "delight", t): s for (r, t), s in ONE.items()}},
    ),
    "two columns of measures": (
        {"s.csv": lay([["run", "topic", "metric", "scorer", "score"],
                       *([r, t, m, m.lower(), s] for (r, t, m), s in SCORES.items())])}, "",
        {"--columns measure=metric": SCORES,
         "--columns measure=metric+scorer": {(r, t, f"{m}/{m.lower()}"): s for (r, t, m), s in SCORES.items()}},
    ),
    "rows and columns of one name": (
        {"c_AP.csv": lay([["id", *RUNS], *([run, 0.5, 0.25, 0.125] for run in RUNS)])}, "",
        {"--from wide": {(run, topic, "AP"): score for run, score in zip(RUNS, (0.5, 0.25, 0.125), strict=True)
                         for topic in RUNS}},
    ),
    "two logs of a run": (
        {"one.json": inspect_log("CI"), "two.json": inspect_log("IC")}, "",
        {"--columns run=file": {("m (one)", "0", "s"): 1, ("m (one)", "1", "s"): 0, ("m (two)", "0", "s"): 0,
                                ("m (two)", "1", "s"): 1}},
    ),
    "files of two collections": ({"c_AP.csv": wide(), "d_AP.csv": wide()}, "", {"--collection c": of("AP")}),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_what_is_typed_as_printed_gives_the_right_scores(what, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files, stated, answers = CASES[what]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    source = next(iter(files)) if len(files) == 1 else "."
    status, _, refusal = run("convert", source, "store", "--to", "store", *shlex.split(stated))
    assert status == 2, "it is read without a question"
    printed = re.findall(rf"{OPTION}(?: {OPTION})*", refusal.splitlines()[-1].partition("(")[2])
    assert printed, refusal
    assert {*printed} == {*answers}, refusal
    for number, answer in enumerate(printed):
        target = tmp_path / f"store{number}"
        status, _, err = run("convert", source, target, "--to", "store", *shlex.split(f"{stated} {answer}"))
        assert status == 0, f"{answer}: {err}"
        store, found = ScoreStore(target), {}
        names = store.collections()
        for name in names:
            for row in store.load(name).to_frame()[["run", "topic", "measure", "score"]].itertuples(index=False):
                found[(name, *row[:3]) if len(names) > 1 else tuple(row[:3])] = row[3]
        right = answers[answer]
        assert found.keys() == right.keys(), answer
        np.testing.assert_allclose([found[key] for key in right], [*right.values()], rtol=1e-12)


def test_there_are_eighty_answers_to_fifty_files():
    assert len(CASES) >= 50
    assert sum(len(answers) for _, _, answers in CASES.values()) >= 80
