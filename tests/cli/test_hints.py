"""Every hint that a message about a file gives is typed as it stands, and leads to an answer or to another message."""

import gzip
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from metaeval import ScoreStore

SCORES = [(run, f"q{topic}", (run_number * 3 + topic * 7) % 10 / 10)
          for run_number, run in enumerate("abcd") for topic in range(6)]  # fmt: skip


def rows(*names, more=()):
    """A table of the scores, with columns of one value each."""
    return pd.DataFrame(SCORES, columns=names).assign(**dict(more)).to_csv(index=False)


def wide(first, cell=str, extra=()):
    """A row a topic and a column a run, with a column of whole numbers."""
    matrix = pd.DataFrame(SCORES, columns=["run", "topic", "score"]).pivot(index="topic", columns="run", values="score")
    matrix.index = pd.Index([cell(topic) for topic in range(6)], name=first)
    return matrix.assign(**dict(extra)).to_csv()


def turned(first):
    table = pd.DataFrame(SCORES, columns=["run", "topic", "score"]).pivot(index="run", columns="topic", values="score")
    return table.rename_axis(first).to_csv()


TREC = "".join(f"{topic}\tdelight\t{score}\n" for run, topic, score in SCORES if run == "a")
HINTS = {
    # what is wrong: the files, the command
    "no column of runs": ({"s.csv": rows("entry", "topic", "score")}, "power s.csv"),
    "no column of topics": ({"s.csv": rows("run", "place", "score")}, "power s.csv"),
    "neither": ({"s.csv": rows("entry", "place", "figure")}, "power s.csv"),
    "one measure or several": ({"s.csv": rows("run", "topic", "score", more=[("chrF", 0.5)])}, "power s.csv"),
    "several columns of scores": (
        {"s.csv": rows("run", "topic", "x", more=[("y", 0.5), ("measure", "AP")])}, "power s.csv",
    ),
    "a run or scores of one": ({"s.csv": "model,topic,x,y\n1,7,0.5,3\n2,8,0.25,4\n"}, "power s.csv"),
    "topics or runs": ({"x_AP.csv": wide("place", lambda topic: f"q{topic}")}, "power x_AP.csv"),
    "numbered columns": ({"x_AP.csv": turned("").replace("q", "")}, "power x_AP.csv"),
    "topics or measures": ({"x_AP.csv": turned("run").replace("q", "task").replace("5", "five")}, "power x_AP.csv"),
    "a first column of numbers": ({"x_AP.csv": wide("place", lambda topic: str(300 + topic * 3))}, "power x_AP.csv"),
    "a column of whole numbers": (
        {"x_AP.csv": wide("topic", str, [("docs", range(30, 36))])}, "power x_AP.csv",
    ),
    "a missing score": ({"s.csv": rows("run", "topic", "score").replace("a,q0,0.0\n", "")}, "power s.csv"),
    "a second score": ({"s.csv": rows("run", "topic", "score") + "a,q0,0.5\n"}, "power s.csv"),
    "a second score told apart": (
        {"s.csv": rows("run", "topic", "score", more=[("kind", "x")])
         + rows("run", "topic", "score", more=[("kind", "y")]).partition("\n")[2]}, "power s.csv",
    ),
    "several collections": (
        {"s.csv": rows("run", "topic", "score", more=[("collection", "x")])
         + rows("run", "topic", "score", more=[("collection", "y")]).partition("\n")[2]}, "consistency s.csv",
    ),
    "three columns": ({"s.txt": TREC}, "ranks s.txt"),
    "four columns": ({"s.txt": "a delight t1 0.5\nb delight t1 0.25\n"}, "power s.txt"),
    "one number a run": ({"s.csv": "model,quality\na,0.5\nb,0.25\n"}, "power s.csv"),
    "labels": ({"s.csv": "model,id,y_true,y_pred\na,1,0,1\na,2,1,1\n"}, "power s.csv"),
    "words": ({"s.csv": "a,b\nc,d\n"}, "power s.csv"),
    "a packed table": ({"s.csv.gz": gzip.compress(wide("place", lambda t: f"q{t}").encode())}, "power s.csv.gz"),
    "a column that is not there": ({"s.csv": rows("run", "topic", "score")}, "power s.csv --columns run=system"),
    "a topic that is no column": ({"x_AP.csv": wide("topic", str)}, "power x_AP.csv --columns score=a --from wide"),
    "two logs of a run": (
        {f"{name}.json": '{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": ['
         '{"id": 1, "epoch": 1, "scores": {"s": {"value": "C"}}}, {"id": 2, "epoch": 1, "scores": {"s": {"value": "I"}}}]}'
         for name in ("one", "two")}, "power .",
    ),
}  # fmt: skip

OPTION = r"--[a-z-]+ (?:'[^']*'|[^\s;,()':]+(?:,(?=[a-z]+=)[^\s;,()']+)*)"


def list_answers(sentence):
    """Every option, or row of options, that a message spells out."""
    found = re.findall(rf"{OPTION}(?: {OPTION})*", sentence.partition("(")[2])
    return [shlex.split(re.sub(r"\bNAME\b", "x", one)) for one in found]


@pytest.mark.parametrize("what", HINTS)
def test_a_hint_that_is_typed_leads_further(what, run, refused, here):
    files, command = HINTS[what]
    for name, content in files.items():
        (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    first, refusal = shlex.split(command), refused(command)
    answers = list_answers(refusal)
    stated = [word for word in first if word.startswith("--")]
    for answer in answers:
        words = [word for k, word in enumerate(first) if word not in stated and (k == 0 or first[k - 1] not in stated)]
        words = words if any(word in stated for word in answer) else first
        assert run(*words, *answer)[2].splitlines()[-1:] != [refusal], f"{' '.join(answer)}: {refusal}"
    assert answers or re.search("metaeval inspect|metaeval score|metaeval.stats|there is no column", refusal), refusal


def rate(more, times=1):
    """A score of every system on every segment of 6 documents, with columns of what `more` says of document and segment."""
    rng = np.random.default_rng(7)
    cells = [
        (system, document, segment)
        for system in "abc"
        for document in range(6)
        for segment in range(1, 5 - document % 2)
    ]
    rows = [
        {"system": system, **{name: say(document, segment, time) for name, say in more.items()}, "score": rng.integers(100)}
        for system, document, segment in cells for time in range(times)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def name_document(document, *_):
    return f"d{document}"


def number_segment(document, segment, *_):
    return 10 * document + segment


MEANINGS = {
    # what the file holds, what every message after the other advises, by which columns its scores are to be averaged
    "paragraphs of documents": (
        rate({"doc": name_document, "paragraph": lambda _, segment, *__: segment}),
        ["--columns topic=doc+paragraph"], ["doc", "paragraph"],
    ),
    "numbered parts of documents": (
        rate({"doc": name_document, "part": lambda _, segment, *__: segment}),
        ["--columns topic=doc+part", "--repeats part"], ["doc", "part"],
    ),
    "documents retrieved for questions": (
        rate({"question": name_document, "document": lambda _, segment, *__: f"x{segment}"}),
        ["--columns topic=question+document"], ["question", "document"],
    ),
    "paragraphs rated twice": (
        rate({"doc": name_document, "paragraph": lambda _, segment, *__: segment}, times=2),
        ["--columns topic=doc+paragraph", "--doubled mean"], ["doc", "paragraph"],
    ),
    "segments of documents, rated twice": (
        rate({"segment": number_segment, "text": lambda document, *_: f"t{document // 2}"}, times=2),
        ["--doubled mean"], ["segment"],
    ),
    "segments of documents, rated twice, whose column has a usual name": (
        rate({"segment": number_segment, "doc": lambda document, *_: f"t{document // 2}"}, times=2),
        ["--doubled mean"], ["segment"],
    ),
    "questions of tasks, answered twice": (
        rate({"question": number_segment, "task": lambda document, *_: f"t{document // 2}"}, times=2),
        ["--columns collection=task --doubled mean"], ["task", "question"],
    ),
    "seeds": (rate({"item": number_segment, "seed": lambda *given: given[2]}, times=2), ["--repeats seed"], ["item"]),
}  # fmt: skip


@pytest.mark.parametrize("what", MEANINGS)
@pytest.mark.usefixtures("here")
def test_a_hint_on_several_scores_of_a_topic_keeps_apart_what_is_not_the_same(what, ok, refused):
    table, advice, keys = MEANINGS[what]
    table.to_csv("s.csv", index=False)
    line = "convert s.csv store --to store"
    several = "--repeats" in advice[-1]  # ways to read it, of which the first is typed
    for typed in advice[:1] if several else advice:
        assert list_answers(refused(line)) == [shlex.split(one) for one in (advice if several else [typed])]
        line += f" {typed}"
    ok(line)
    store = ScoreStore("store")
    found = pd.concat(part.to_frame().assign(task=part.collection) for part in map(store.load, store.collections()))
    labels = ["run", *(["task"] if "task" in keys else []), "topic"]
    wanted = table.astype(dict.fromkeys(keys, str)).groupby(["system", *keys])["score"].mean().reset_index()
    if "task" not in keys:
        wanted["topic"] = wanted[keys].agg("/".join, axis=1)
    wanted = wanted.rename(columns={"system": "run", "question": "topic"} if "task" in keys else {"system": "run"})
    read, expected = (frame.set_index(labels)["score"].to_dict() for frame in (found, wanted))
    assert read == pytest.approx(expected, abs=1e-12)
