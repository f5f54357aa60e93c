"""Every answer that a message spells out is typed as it stands, and what is read then is compared with a matrix made here."""

import io
import json
import re
import shlex
from itertools import product

import pandas as pd
import pytest

from metaeval import ScoreStore
from tests.cli.conftest import make_log, write_files

pytest.importorskip("openpyxl", reason="workbooks need openpyxl")

RUNS, TOPICS, MEASURES = ("alpha", "beta", "gamma"), ("q1", "q2", "q3", "q4"), ("BLEU", "TER")
SCORES = {
    key: round(0.11 + 0.01 * (7 * n % 80) + 0.001 * (n % 9), 3) for n, key in enumerate(product(RUNS, TOPICS, MEASURES))
}
ONE = {(run, topic): score for (run, topic, measure), score in SCORES.items() if measure == "BLEU"}
OTHER = {(run, topic): score for (run, topic, measure), score in SCORES.items() if measure == "TER"}
ROWS = [[*key, score] for key, score in ONE.items()]


def lay(rows, sep=",", show=str):
    return "".join(sep.join(map(show, row)) + "\n" for row in rows)


def long(names="run,topic,score", **look):
    """A row per run and topic."""
    return lay([names.split(","), *ROWS], **look)


def wide(first="topic", call=str, **look):
    """Topics × runs."""
    return lay([[first, *RUNS], *([call(topic), *(ONE[run, topic] for run in RUNS)] for topic in TOPICS)], **look)


def turned(*head):
    """Runs × topics."""
    return lay([head, *([run, *(ONE[run, topic] for topic in TOPICS)] for run in RUNS)])


def twice(name, labels, names="run,topic,score"):
    """Every score once for each label of a further column, larger by a half the second time."""
    rows = [[*key, round(score + k / 2, 3), label] for k, label in enumerate(labels) for *key, score in ROWS]
    return lay([[*names.split(","), name], *rows])


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def sheets(**tables):
    stream = io.BytesIO()
    with pd.ExcelWriter(stream, engine="openpyxl") as book:
        for name, rows in tables.items():
            cells = [[cell if cell != "" else None for cell in row] for row in rows]
            pd.DataFrame(cells).to_excel(book, sheet_name=name, index=False, header=False)
    return stream.getvalue()


def of(measure="score", rows=ONE, add=0.0, *, topic="{}", call=str, collection=()):
    """What is right: the scores by run, topic and measure, with a collection before them where there are several."""
    return {(*collection, r, topic.format(call(t)), measure): round(score + add, 3) for (r, t), score in rows.items()}


def without(what):
    return {key: score for key, score in ONE.items() if what not in key}


def turn(scores):
    """Topics in place of runs, and runs in place of topics."""
    return {(topic, run, measure): score for (run, topic, measure), score in scores.items()}


NAMES = ["entry", "topic", "score"]
ENTRY = ",".join(NAMES)
BY_ENTRY = {"--columns run=entry": of()}
CALLED_OTHER = of("AP", call=lambda topic: topic if topic < "q4" else "other")
PLACES = list(enumerate(TOPICS))
NUMBERS = {topic: str(299 + 3 * int(topic[1])) for topic in TOPICS}
FIRST = ONE["alpha", "q1"]
GAP = long().replace(f"alpha,q1,{FIRST}\n", "")
LESS, LESS_AP = ({"--missing drop-topic": of(measure, without("q1"))} for measure in ("score", "AP"))
MEAN = {("alpha", "q1", "score"): (FIRST + 0.9) / 2}
BOTH_TIMES = of(add=0.25)
TOPIC = {**of(topic="{}/x"), **of(add=0.5, topic="{}/y")}
NUMBERED = {**of(topic="{}/1"), **of(add=0.5, topic="{}/2")}
OF_RUNS = {
    (f"{run}/{x}", *rest): score for x, add in (("x", 0), ("y", 0.5)) for (run, *rest), score in of(add=add).items()
}
OF_PARTS = {(run.replace("/x", "/1").replace("/y", "/2"), *rest): score for (run, *rest), score in OF_RUNS.items()}
KIND = {
    "--columns run=run+{}": OF_RUNS,
    "--columns collection={}": {**of(collection="x"), **of(add=0.5, collection="y")},
    "--columns measure={}": {**of("x"), **of("y", add=0.5)},
    "--columns topic=topic+{}": TOPIC,
    "--repeats {}": BOTH_TIMES,
}


def ask_kind(name):
    return {option.format(name): right for option, right in KIND.items()}


def ask_either(name):
    return {f"--columns topic={name}": of("AP"), "--from transposed": turn(of("AP"))}


def number(label):
    return label[-1]


PAIRS = list(product(RUNS, MEASURES))
BY_MEASURE = [[topic, *(SCORES[run, topic, measure] for run, measure in PAIRS)] for topic in TOPICS]


def pair(names):
    """Scores of runs by measures, each pair of which is a run with such a name, and of the first measure only."""
    found = {
        (name, topic, "AP"): SCORES[run, topic, measure]
        for name, (run, measure) in zip(names, PAIRS, strict=True)
        for topic in TOPICS
    }
    gone = "+".join(names[1::2])
    return {"--from wide": found, f"--columns 'ignore={gone}'": {k: s for k, s in found.items() if k[0] in names[::2]}}


def systems(measures, file="s_AP.csv", write=lay):
    """Two rows of names, and what they give."""
    upper = ["", *(name for n in (1, 2, 3) for name in (f"System {n}", ""))]
    rows = [upper, ["topic", *measures * 3], *BY_MEASURE]
    return {file: write(rows)}, pair([f"System {n} {measure}" for n in (1, 2, 3) for measure in measures])


DOCS = [(run, f"d{d}", s, ONE[run, f"q{2 * d + s - 2}"]) for run in RUNS for d in (1, 2) for s in (1, 2)]
IN_DOCS = {(run, f"{doc}/{segment}", "score"): score for run, doc, segment, score in DOCS}
DOUBLED = {"--doubled mean": {key: score + 0.25 for key, score in IN_DOCS.items()}}


def rate_twice(*names, call=str):
    again = [(run, doc, segment, round(score + 0.5, 3)) for run, doc, segment, score in DOCS]
    rows = [(run, doc, call(f"{doc}/{segment}"), score) for run, doc, segment, score in [*DOCS, *again]]
    return lay([["run", *names, "score"], *rows])


PARAGRAPHS = {"s.csv": rate_twice("doc", "paragraph", call=number)}
TASKS = [
    (run, task, f"{task}{n}", n / 10 + len(task + run) / 100) for run in RUNS for task in ("a", "bb") for n in range(8)
]
TIED = {(task, run, topic, "score"): round(score, 3) for run, task, topic, score in TASKS}
BLIND = "".join(f"{topic}\tdelight\t{ONE['alpha', topic]}\n" for topic in TOPICS)
DELIGHT = {(run, "delight", topic): score for (run, topic), score in ONE.items()}
LEADS_ON = None

CASES = {
    # the files; every answer with what is right if it is typed; what is typed from the start
    "runs of another name": ({"s.csv": long(ENTRY)}, BY_ENTRY),
    "lines of JSON": ({"s.jsonl": lines(dict(zip(NAMES, row, strict=True)) for row in ROWS)}, BY_ENTRY),
    "objects in lines of JSON": (
        {"s.jsonl": lines({"entry": r, "topic": t, "metrics": {"score": s, "ci": [0, 1]}} for r, t, s in ROWS)}, BY_ENTRY,
    ),
    "Parquet": ({"s.parquet": pd.DataFrame(ROWS, columns=NAMES).to_parquet()}, BY_ENTRY),
    "a workbook": ({"s.xlsx": sheets(s=[NAMES, *ROWS])}, BY_ENTRY),
    "a title in a workbook": ({"s.xlsx": sheets(s=[["Table 1", "", ""], NAMES, *ROWS])}, BY_ENTRY),
    "several measures": (
        {"s.csv": lay([["wav", "kind", "net", "PESQ", "STOI"], *((t, "x", r, s, s) for r, t, s in ROWS)])},
        {"--columns run=net,topic=wav": {**of("PESQ"), **of("STOI")}},
    ),
    "one measure or two": (
        {"s.csv": lay([["run", "topic", "score", "chrF"], *([*key, ONE[key], OTHER[key]] for key in ONE)])},
        {"--columns score=score": of(), "--from measures": {**of(), **of("chrF", OTHER)}},
    ),
    "two columns of scores": (
        {"s.csv": lay([["run", "topic", "x", "y", "measure"], *([*key, ONE[key], OTHER[key], "AP"] for key in ONE)])},
        {"--columns score=x": of("AP")},
    ),
    "topics in rows, or runs": ({"x_AP.csv": wide("place")}, ask_either("place")),
    "tasks in rows and models in columns": ({"x_AP.csv": wide("task")}, ask_either("task")),
    "numbered columns": (
        {"x_AP.csv": turned("", 1, 2, 3, 4)},
        {"--from transposed": of("AP", call=number), "--from wide": turn(of("AP", call=number))},
    ),
    "models in rows": ({"x_AP.csv": turned("model", "q1", "q2", "q3", "other")}, {"--from transposed": CALLED_OTHER}),
    "topics or measures": ({"x_AP.csv": turned("run", "q1", "q2", "q3", "other")}, {"--from transposed": CALLED_OTHER}),
    "numbered topics": (
        {"x_AP.csv": wide("place", NUMBERS.get)},
        {"--columns topic=place": of("AP", call=NUMBERS.get),
         "--columns run=place": of("AP", call=number) | {("place", t[1], "AP"): float(n) for t, n in NUMBERS.items()}},
    ),
    "lengths of documents": (
        {"x_AP.csv": lay([["topic", *RUNS, "docs"], *([t, *(ONE[r, t] for r in RUNS), 29 + int(t[1])] for t in TOPICS)])},
        {"--columns ignore=docs": of("AP"),
         "--columns run=docs": of("AP") | {("docs", t, "AP"): 29.0 + int(t[1]) for t in TOPICS}},
    ),
    "a gap": ({"s.csv": GAP}, LESS),
    "no number": ({"s.csv": GAP + "alpha,q1,NaN\n"}, LESS),
    "an empty cell": ({"x_AP.csv": wide().replace(f"q1,{FIRST}", "q1,")}, LESS_AP),
    "an empty cell among semicolons": ({"x_AP.csv": wide(sep=";").replace(f"q1;{FIRST}", "q1;")}, LESS_AP),
    "a run without a topic": (
        {"s.jsonl": lines({"run": r, "topic": t, "metrics": {"BLEU": s} if (r, t) != ("beta", "q2") else {}}
                          for r, t, s in ROWS)},
        {"--missing drop-topic": of("BLEU", without("q2"))},
    ),
    "a row twice": ({"s.csv": long() + "alpha,q1,0.9\n"}, {"--doubled mean": of() | MEAN}),
    "a row twice and a gap": (
        {"s.csv": long().replace(f"beta,q2,{ONE['beta', 'q2']}\n", "") + "alpha,q1,0.9\n"},
        {"--doubled mean --missing drop-run": of(rows=without("beta")) | MEAN},
    ),
    "two times": ({"s.csv": twice("timestamp", ("2024-01-01", "2024-02-01"))}, {"--doubled latest": of(add=0.5)}),
    "two kinds": ({"s.csv": twice("kind", "xy")}, ask_kind("kind")),
    "annotators": ({"s.csv": twice("annotator", "xy")}, ask_kind("annotator") | {"--doubled mean": of(add=0.25)}),
    "seeds": ({"s.csv": twice("seed", "12")}, {"--repeats seed": BOTH_TIMES}),
    "numbered segments of documents beside runs": (
        {"s_AP.csv": lay([["doc", "seg", *RUNS], *([*divmod(n, 2), *(ONE[r, t] for r in RUNS)] for n, t in PLACES)])},
        {"--columns topic=doc+seg": of("AP", call=lambda topic: "{}/{}".format(*divmod(int(topic[1]) - 1, 2)))},
    ),
    "folds of data sets": (
        {"s.csv": twice("fold", "12", "model,place,score")}, {"--columns run=model,topic=place --repeats fold": BOTH_TIMES},
    ),
    "a column of measures": (
        {"s.csv": lay([["entry", "place", "kind", "value"], *([*key, score] for key, score in SCORES.items())])},
        {"--columns run=entry,topic=place,measure=kind": SCORES},
    ),
    "topics in two rows, told apart by a measure": (
        {"s_AP.csv": lay([["topic", "metric", *RUNS],
                          *([t, m, *(SCORES[r, t, m] for r in RUNS)] for t in TOPICS for m in MEASURES)])},
        {"--columns topic=topic+metric": {(r, f"{t}/{m}", "AP"): score for (r, t, m), score in SCORES.items()}},
    ),
    "paragraphs": ({"s.csv": twice("paragraph", "xy", "run,doc,score")}, {"--columns topic=doc+paragraph": TOPIC}),
    "numbered paragraphs": (
        {"s.csv": twice("paragraph", "12", "run,doc,score")}, {"--columns topic=doc+paragraph": NUMBERED},
    ),
    "paragraphs rated twice": (PARAGRAPHS, {"--columns topic=doc+paragraph": LEADS_ON}),
    "paragraphs known to be rated twice": (PARAGRAPHS, DOUBLED, "--columns topic=doc+paragraph"),
    "segments of texts, rated twice": ({"s.csv": rate_twice("text", "segment")}, DOUBLED),
    "documents of questions": (
        {"s.csv": twice("document", "xy", "run,question,score")}, {"--columns topic=question+document": TOPIC},
    ),
    "numbered parts": (
        {"s.csv": twice("part", "12")}, {
            "--columns topic=topic+part": NUMBERED, "--repeats part": BOTH_TIMES,
"--columns run=run+part": OF_PARTS,
        },
    ),
    "segments of documents in clusters": (
        {"s.csv": lay([["run", "doc", "segment", "score"], *DOCS])}, {"--columns topic=doc+segment": IN_DOCS}, "--clusters doc",
    ),
    "benchmarks and a row twice": (
        {"s.csv": lay([["run", "benchmark", "topic", "score"], *TASKS, ("alpha", "a", "a0", 0.5)])},
        {"--columns collection=benchmark --doubled mean": TIED | {
            ("a", "alpha", "a0", "score"): (0.5 + TIED["a", "alpha", "a0", "score"]) / 2}},
    ),
    "two rows of names": systems(("rbog", "acc")),
    "two rows of names in a workbook": systems(MEASURES, "s_AP.xlsx", lambda rows: sheets(s=rows)),
    "two rows of names that nobody knows": systems(("x", "y")),
    "runs by measures": ({"s_AP.csv": lay([["topic", *map(" ".join, PAIRS)], *BY_MEASURE])}, pair([*map(" ".join, PAIRS)])),
    "measures of a run": (
        {"s_x.csv": lay([MEASURES, *([SCORES["alpha", t, m] for m in MEASURES] for t in TOPICS)])},
        {"--from wide": {(m, t[1], "x"): SCORES["alpha", t, m] for m in MEASURES for t in TOPICS}},
    ),
    "a sheet a measure": (
        {"s.xlsx": sheets(**{name: [["topic", *RUNS], *([t, *(SCORES[r, t, m] for r in RUNS)] for t in TOPICS)]
                             for name, m in (("harm less", "BLEU"), ("help", "TER"))})},
        {"--measure 'harm less'": of("harm less")},
    ),
    "three columns": (
        {"alpha.txt": BLIND},
        {"--from trec_eval": {("alpha", "delight", t): ONE["alpha", t] for t in TOPICS},
         "--from ir_measures": {("alpha", t, "delight"): ONE["alpha", t] for t in TOPICS}},
    ),
    "a folder of files of any ending": (
        {f"{run}.compatibility": "".join(f"delight\t{topic}\t{ONE[run, topic]}\n" for topic in TOPICS) for run in RUNS},
        {"--from trec_eval": of("delight"), "--from ir_measures": DELIGHT},
    ),
    "four columns": (
        {"s.txt": "".join(f"{run} delight {topic} {score}\n" for run, topic, score in ROWS)},
        {"--from tot": of("delight"), "--from ir_measures": DELIGHT},
    ),
    "two columns of measures": (
        {"s.csv": lay([["run", "topic", "metric", "scorer", "score"],
                       *([r, t, m, m.lower(), s] for (r, t, m), s in SCORES.items())])},
        {"--columns measure=metric": SCORES,
         "--columns measure=metric+scorer": {(r, t, f"{m}/{m.lower()}"): s for (r, t, m), s in SCORES.items()}},
    ),
    "rows and columns of one name": (
        {"c_AP.csv": lay([["id", *RUNS], *([run, 0.5, 0.25, 0.125] for run in RUNS)])},
        {"--from wide": {(r, t, "AP"): score for r, score in zip(RUNS, (0.5, 0.25, 0.125), strict=True) for t in RUNS}},
    ),
    "two logs of a run": (
        {"one.json": make_log({0: {"s": "C"}, 1: {"s": "I"}}), "two.json": make_log({0: {"s": "I"}, 1: {"s": "C"}})},
        {"--columns run=file": {(f"m ({log})", str(item), "s"): int(item == wrong)
                                for log, wrong in (("one", 0), ("two", 1)) for item in (0, 1)}},
    ),
    "files of two collections": ({"c_AP.csv": wide(), "d_AP.csv": wide()}, {"--collection c": of("AP")}),
}  # fmt: skip
OPTION = r"--[a-z-]+ (?:'[^']*'|[^\s;,()':]+(?:,(?=[a-z]+=)[^\s;,()']+)*)"


@pytest.mark.parametrize("what", CASES)
def test_what_is_typed_as_printed_gives_the_right_scores(what, run, here):
    files, answers, *stated = CASES[what]
    stated = " ".join(stated)
    source = write_files(here, files)
    status, _, refusal = run("convert", source, "store", "--to", "store", *shlex.split(stated))
    assert status == 2, "it is read without a question"
    printed = re.findall(rf"{OPTION}(?: {OPTION})*", refusal.splitlines()[-1].partition("(")[2])
    assert {*printed} == {*answers}, refusal
    for number, (answer, right) in enumerate(answers.items()):
        target = here / f"store{number}"
        status, _, err = run("convert", source, target, "--to", "store", *shlex.split(f"{stated} {answer}"))
        if right is LEADS_ON:
            assert err.splitlines()[-1] != refusal.splitlines()[-1]
            continue
        assert status == 0, f"{answer}: {err}"
        store, found = ScoreStore(target), {}
        names = store.collections()
        for name in names:
            for row in store.load(name).to_frame()[["run", "topic", "measure", "score"]].itertuples(index=False):
                found[(name, *row[:3]) if len(names) > 1 else tuple(row[:3])] = row[3]
        assert found == pytest.approx(right, rel=1e-12), answer
