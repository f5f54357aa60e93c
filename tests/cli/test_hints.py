"""Every hint that a message about a file gives is typed as it stands, and leads to an answer or to another message."""

import gzip
import re
import shlex

import pandas as pd
import pytest

SCORES = [(run, f"q{topic}", (run_number * 3 + topic * 7) % 10 / 10)
          for run_number, run in enumerate("abcd") for topic in range(6)]  # fmt: skip


def rows(*names, number=lambda score: str(score), more=()):
    lines = [",".join([*names, *(name for name, _ in more)])]
    for run, topic, score in SCORES:
        lines.append(",".join([run, topic, number(score), *(value(run, topic) for _, value in more)]))
    return "\n".join(lines) + "\n"


def wide(first, cell=lambda topic: topic, extra=None):
    lines = [",".join([first, *"abcd", *([extra[0]] if extra else [])])]
    for topic in range(6):
        scores = [str(score) for run, name, score in SCORES if name == f"q{topic}"]
        lines.append(",".join([cell(topic), *scores, *([extra[1](topic)] if extra else [])]))
    return "\n".join(lines) + "\n"


def turned(first):
    table = pd.DataFrame(SCORES, columns=["run", "topic", "score"]).pivot(index="run", columns="topic", values="score")
    return table.rename_axis(first).to_csv()


TREC = "".join(f"{topic}\tdelight\t{score}\n" for run, topic, score in SCORES if run == "a")
HINTS = {
    # what is wrong: the files, the command
    "no column of runs": ({"s.csv": rows("entry", "topic", "score")}, "power s.csv"),
    "no column of topics": ({"s.csv": rows("run", "place", "score")}, "power s.csv"),
    "neither": ({"s.csv": rows("entry", "place", "figure")}, "power s.csv"),
    "one measure or several": ({"s.csv": rows("run", "topic", "score", more=[("chrF", lambda *_: "0.5")])}, "power s.csv"),
    "several columns of scores": (
        {"s.csv": rows("run", "topic", "x", more=[("y", lambda *_: "0.5"), ("measure", lambda *_: "AP")])}, "power s.csv",
    ),
    "a run or scores of one": ({"s.csv": "model,topic,x,y\n1,7,0.5,3\n2,8,0.25,4\n"}, "power s.csv"),
    "topics or runs": ({"x_AP.csv": wide("place", lambda topic: f"q{topic}")}, "power x_AP.csv"),
    "numbered columns": ({"x_AP.csv": turned("").replace("q", "")}, "power x_AP.csv"),
    "topics or measures": ({"x_AP.csv": turned("run").replace("q", "task").replace("5", "five")}, "power x_AP.csv"),
    "a first column of numbers": ({"x_AP.csv": wide("place", lambda topic: str(300 + topic * 3))}, "power x_AP.csv"),
    "a column of whole numbers": (
        {"x_AP.csv": wide("topic", str, ("docs", lambda topic: str(30 + topic)))}, "power x_AP.csv",
    ),
    "a missing score": ({"s.csv": rows("run", "topic", "score").replace("a,q0,0.0\n", "")}, "power s.csv"),
    "a second score": ({"s.csv": rows("run", "topic", "score") + "a,q0,0.5\n"}, "power s.csv"),
    "a second score told apart": (
        {"s.csv": rows("run", "topic", "score", more=[("kind", lambda *_: "x")])
         + rows("run", "topic", "score", more=[("kind", lambda *_: "y")]).partition("\n")[2]}, "power s.csv",
    ),
    "several collections": (
        {"s.csv": rows("run", "topic", "score", more=[("collection", lambda *_: "x")])
         + rows("run", "topic", "score", more=[("collection", lambda *_: "y")]).partition("\n")[2]}, "consistency s.csv",
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
def test_a_hint_that_is_typed_leads_further(what, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files, command = HINTS[what]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    first = shlex.split(command)
    status, _, refusal = run(*first)
    assert status == 2, "the file is read without a question"
    assert "Traceback" not in refusal
    answers = list_answers(refusal.splitlines()[-1])
    stated = [word for word in first if word.startswith("--")]
    for answer in answers:
        words = [word for k, word in enumerate(first) if word not in stated and (k == 0 or first[k - 1] not in stated)]
        words = words if any(word in stated for word in answer) else first
        _, _, again = run(*words, *answer)
        assert again.splitlines()[-1:] != refusal.splitlines()[-1:], f"{' '.join(answer)}: {refusal}"
    assert answers or re.search("metaeval inspect|metaeval score|metaeval.stats|there is no column", refusal), refusal
