"""Small files that stopped a server, filled its memory or changed numbers: each ends soon, right or in one sentence."""

import gzip
import json
import os
import zipfile
from pathlib import Path

import pytest

from tests.hostile.case import Refused
from tests.hostile.forks import run_command

ATTACK = Path(os.environ.get("METAEVAL_DATA", "")) / "attack"

CASES = [
    ("ranks comet.csv --explain", "(assumed: higher is better)"),
    ("inspect comet.csv", "measures"),
    ("ranks hugerow.xlsx", "has a number above 1,048,576"),
    ("inspect hugerow.xlsx", "has a number above 1,048,576"),
    ("ranks many.xlsx", "it has more than the 1,677,721 cells that are read"),
    ("ranks bomb.csv.gz", "it has more than the 16,777,216 lines that are read"),
    ("inspect bomb.csv.gz", "it has more than the 16,777,216 lines that are read"),
    ("ranks bomb.eval", "that are read"),
    ("ranks keys.jsonl", "it has more than the 16,777,216 cells that are read"),
    ("ranks time.csv --doubled latest", "'25/11/2024' is no time, or not written as ISO 8601 has it"),
    ("variance allrow.csv", "7 runs × 14 topics"),
    ("variance meancol.csv", "7 runs × 14 topics"),
    ("variance nojudge.csv --judges annotator", "nojudge.csv:5: run a, topic t2, measure score: the judge is missing"),
    ("correct judge.csv --people few.csv --explain", "labels 56"),
    ("correct judge.csv --people fewde.csv --explain", "labels 56"),
    ("ranks aggregate.json", "there is no log of the format every-eval-ever"),
    ("ranks passwd.json", "there is no log of the format every-eval-ever"),
    ("ranks ke.csv", "0.450"),
]
"""What is typed, and what is said; files with wrong probabilities are those of tests/io/test_partial_scores.py."""

SHEET = "xl/worksheets/sheet1.xml"
PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
    'sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.'
    'openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}  # fmt: skip
HEADER = "<row>" + "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("topic", "r1", "r2")) + "</row>"


def row(*cells, number=""):
    return f"<row{number}>" + "".join(f"<c><v>{cell}</v></c>" for cell in cells) + "</row>"


def pack_workbook(path, rows, before=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in PARTS.items():
            archive.writestr(name, content)
        begin = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{before}<sheetData>'
        archive.writestr(SHEET, f"{begin}{HEADER}{rows}</sheetData></worksheet>")


def score(run, topic):
    return (7 * len(run) * run.encode()[-1] + 3 * topic) % 97 / 100


def table(header, rows, delimiter=","):
    return "\n".join(delimiter.join(map(str, line)) for line in (header, *rows)) + "\n"


def write_tables(folder):
    """Write the tables that change numbers."""
    topics = range(1, 15)
    runs = [f"sys{k}" for k in range(1, 8)]
    scores = {run: [score(run, topic) for topic in topics] for run in runs}
    rows = [(f"t{topic}", *(scores[run][topic - 1] for run in runs)) for topic in topics]
    total = ("all", *(round(sum(scores[run]) / 14, 6) for run in runs))
    (folder / "allrow.csv").write_text(table(("topic", *runs), [*rows[:5], total, *rows[5:]]))
    means = [(*line, round(sum(line[1:]) / 7, 6)) for line in rows]
    (folder / "meancol.csv").write_text(table(("topic", *runs, "mean"), means))
    judged = [
        (run, f"t{topic}", "" if (run, topic, judge) == ("a", 2, "x") else judge, 1 + int(50 * score(run, topic)) % 5)
        for run in "abc"
        for topic in range(1, 7)
        for judge in "xyz"
    ]
    (folder / "nojudge.csv").write_text(table(("run", "topic", "annotator", "score"), judged))
    label = "comet" + "2020" * 30 + "x"
    rated = [(f"r{k}", f"t{topic}", label, score(f"r{k}", topic)) for k in range(4) for topic in topics]
    (folder / "comet.csv").write_text(table(("run", "topic", "measure", "score"), rated))
    first = [(run, f"t{topic}", score(run, topic), "25/11/2024") for run in "abc" for topic in topics]
    again = [("a", f"t{topic}", 1.0, "01/12/2024") for topic in topics]
    (folder / "time.csv").write_text(table(("run", "topic", "score", "time"), [*first, *again]))
    (folder / "ke.csv").write_text(
        table(("topic", "r1", "r2"), [(f"t{t}", t / 10, 0.3 + t / 100) for t in range(1, 9)])
    )
    four = [f"sys{k}" for k in range(1, 5)]
    (folder / "judge.csv").write_text(
        table(("topic", *four), [(f"t{t}", *(score(r, t) for r in four)) for t in range(1, 60)])
    )
    labelled = [
        (run, f"t{topic}", score(run, topic + 1), 0.2 if topic % 2 else 0.5) for topic in topics for run in four
    ]
    text = table(("run", "topic", "score", "probability"), labelled)
    (folder / "few.csv").write_text(text)
    (folder / "fewde.csv").write_text(text.replace(",", ";").replace(".", ","))


def write_bombs(folder):
    """Write what is small and unpacks to much, and what names a file elsewhere."""
    few = "".join(row(topic, 0.5, 0.25) for topic in range(1, 9))
    pack_workbook(folder / "hugerow.xlsx", few + row(1, number=' r="999999999999"'))
    pack_workbook(folder / "many.xlsx", row(1, 1, 1) * 1_500_000)
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"topic,r1\n" + b"0,0\n" * 18_000_000, 1))
    sample = '{"id":1,"epoch":1,"scores":{"a":{"value":1}}}'
    with zipfile.ZipFile(folder / "bomb.eval", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", '{"eval": {"task": "t", "model": "m"}, "status": "success"}')
        for part in range(3):
            archive.writestr(f"samples/{part}.json", f"[{f'{sample},' * 600_000}{sample}]")
    (folder / "keys.jsonl").write_text(
        "".join(json.dumps({"run": "a", "topic": f"t{k}", f"k{k}": 1}) + "\n" for k in range(4200))
    )
    named = {"aggregate": folder.parent / "outside_samples.jsonl", "passwd": Path("/etc/passwd")}
    (folder.parent / "outside_samples.jsonl").write_text(
        "".join(
            json.dumps(
                {"evaluation_id": "x", "model_id": run, "evaluation_name": "secret", "sample_id": str(topic),
                 "evaluation": {"score": score(run, topic)}}
            ) + "\n"
            for run in "ab" for topic in range(5)
        )
    )  # fmt: skip
    for name, path in named.items():
        details = {"file_path": str(path).lstrip("/")}
        content = {
            "evaluation_results": [],
            "evaluation_id": "x",
            "model_info": {},
            "detailed_evaluation_results": details,
        }
        (folder / f"{name}.json").write_text(json.dumps(content))


@pytest.fixture(scope="module", params=["made here", pytest.param("of an attacker", marks=pytest.mark.nightly)])
def attack(request, tmp_path_factory):
    """The folder of inputs: the attacker's own, or their likes."""
    if request.param == "of an attacker":
        if not ATTACK.is_dir():
            pytest.skip("needs attack/ in the folder that METAEVAL_DATA names")
        return ATTACK
    folder = tmp_path_factory.mktemp("made") / "in"
    folder.mkdir()
    write_tables(folder)
    write_bombs(folder)
    return folder


def say(folder, words, place):
    """Run a command within 5 s of an idle machine and 1 GB, and return what it says: a result, or one sentence."""
    command, name, *options = words.split()
    paths = [str(place / word) if (place / word).is_file() else word for word in (name, *options)]
    try:
        done = run_command(folder, command, *paths, limit=5).check()
    except Refused as refused:
        return str(refused)
    return f"{done.out.decode()}\n{done.message}"


@pytest.mark.parametrize(("words", "said"), CASES, ids=[words for words, _ in CASES])
def test_a_file_of_an_attacker_ends_soon_in_a_right_answer_or_a_sentence(words, said, attack, tmp_path):
    assert said in " ".join(say(tmp_path, words, attack).split())


WORKBOOKS = {
    "a dimension of anything": (row(1, 0.5, 0.25) + row(2, 0.25, 1), '<dimension ref="A1:XFD99999999"/>', "r1"),
    "rows that are far apart": (row(1, 0.5, 1) + row(2, 0.25, 0.5, number=' r="900000"'), "", "r1"),
    "cells without a number": ("<row>" + "<c/>" * 7_000_000 + "</row>", "", "it has more than the 1,677,721 cells"),
    "cells that are far to the right": (
        "".join(f'<row><c r="XFD{k}"><v>1</v></c></row>' for k in range(2, 500)),
        "",
        "it has more than the 1,677,721 cells",
    ),
}


@pytest.mark.parametrize(("rows", "before", "said"), WORKBOOKS.values(), ids=WORKBOOKS)
def test_a_workbook_may_say_that_it_has_any_number_of_cells(rows, before, said, tmp_path):
    pack_workbook(tmp_path / "a.xlsx", rows, before)
    assert said in say(tmp_path, "ranks a.xlsx", tmp_path)


WIDE = b"topic," + b",".join(b"r%d" % run for run in range(3000)) + (b"\n1" + b",0" * 3000) * 6000

QUICK = {"columns times rows", "empty objects", "lines of nothing"}
LINES = {
    "lines of a leaderboard": ("a.txt.gz", b"a t AP 0.5\n" * 18_000_000, "16,777,216 lines"),
    "one line of words": ("a.txt.gz", b"a " * 20_000_000, "16,777,216 cells"),
    "one line of cells": ("a.csv.gz", b"a," * 20_000_000, "16,777,216 cells"),
    "columns times rows": ("a.csv.gz", WIDE, "16,777,216 cells"),
    "returns for line ends": ("a.csv.gz", b"topic,r1\r" + b"0,0\r" * 18_000_000, "16,777,216 lines"),
    "empty objects": ("a.json.gz", b"[" + b"{}," * 9_000_000 + b"{}]", "8,388,608 values"),
    "lists in lists": ("a.json.gz", b"[" + (b"[" * 500 + b"]" * 500 + b",") * 20_000 + b"1]", "8,388,608 values"),
    "lines of nothing": ("a.jsonl.gz", b"{}\n" * 18_000_000, "16,777,216 lines"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [pytest.param(*LINES[what], id=what, marks=() if what in QUICK else pytest.mark.nightly) for what in LINES],
)
def test_what_is_small_when_packed_is_bounded_by_its_cells(name, content, said, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(content, 1))
    assert f"it has more than the {said} that are read (divide it; or" in say(tmp_path, f"ranks {name}", tmp_path)


def test_commas_inside_of_texts_are_no_values(tmp_path):
    said = 'so, [it] is, {"' * 1_500_000
    records = [
        {"run": run, "topic": t, "score": score(run, t), "said": said * (run == "a" and t == 1)}
        for run in "ab"
        for t in range(1, 6)
    ]
    (tmp_path / "a.json").write_text(json.dumps(records))
    assert "1 column not used: said" in say(tmp_path, "ranks a.json --explain", tmp_path)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.xlsx", "a.eval"])
def test_what_is_packed_to_less_than_a_hundredth_is_read_up_to_a_bound(name, tmp_path):
    content, path = b" " * ((1 << 28) + 1), tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(content, 1))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("header.json", "{}")
            archive.writestr("summaries.json", content)
    assert "more than the 268,435,456 that are read (unpack it first" in say(tmp_path, f"ranks {name}", tmp_path)
