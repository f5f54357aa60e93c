"""Every hint that a message about a file gives is typed as it stands, and leads to an answer or to another message."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from metaeval import ScoreStore

SCORES = [
    (run, f"q{topic}", (number * 3 + topic * 7) % 10 / 10) for number, run in enumerate("abcd") for topic in range(6)
]
TABLE = pd.DataFrame(SCORES, columns=["run", "topic", "score"])
WIDE = TABLE.pivot(index="topic", columns="run", values="score")
TURNED = TABLE.pivot(index="run", columns="topic", values="score").to_csv()
HINTS = {
    # what is wrong, besides what test_typed_hints.py holds: the file, its content, what is said of it
    "a run or scores of one": ("s.csv", "model,topic,x,y\n1,7,0.5,3\n2,8,0.25,4\n", ""),
    "topics or measures": ("x_AP.csv", TURNED.replace("q", "task").replace("5", "five"), ""),
    "a first column of numbers": ("x_AP.csv", WIDE.set_axis(range(300, 318, 3)).rename_axis("place").to_csv(), ""),
    "several collections": (
        "s.csv",
        pd.concat([TABLE.assign(collection=name) for name in "xy"]).to_csv(index=False),
        "",
    ),
    "one number a run": ("s.csv", "model,quality\na,0.5\nb,0.25\n", "one number a run"),
    "labels": ("s.csv", "model,id,y_true,y_pred\na,1,0,1\na,2,1,1\n", "metaeval score"),
    "words": ("s.csv", "a,b\nc,d\n", "metaeval inspect"),
    "a column that is not there": ("s.csv --columns run=system", TABLE.to_csv(index=False), "there is no column"),
    "a topic that is no column": ("x_AP.csv --columns score=a --from wide", WIDE.to_csv(), ""),
}
OPTION = r"--[a-z-]+ (?:'[^']*'|[^\s;,()':]+(?:,(?=[a-z]+=)[^\s;,()']+)*)"


def list_answers(sentence):
    """Every option, or row of options, that a message spells out."""
    found = re.findall(rf"{OPTION}(?: {OPTION})*", sentence.partition("(")[2])
    return [shlex.split(re.sub(r"\bNAME\b", "x", one)) for one in found]


@pytest.mark.parametrize("what", HINTS)
def test_a_hint_that_is_typed_leads_further(what, run, refused, here):
    words, content, said = HINTS[what]
    source, *stated = words.split()
    (here / source).write_text(content)
    refusal = refused("consistency", source, *stated)
    answers = list_answers(refusal)
    for answer in answers:
        typed = [] if answer[0] in stated else stated
        assert run("consistency", source, *typed, *answer)[2].splitlines()[-1:] != [refusal], f"{answer}: {refusal}"
    assert said in refusal if said else answers


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
