"""Small files that stopped a server, filled its memory or changed numbers: each ends soon, right or in one sentence."""

import gzip
import io
import json
import os
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.hostile.case import Refused
from tests.hostile.forks import run_command

TOPICS, SYSTEMS = range(1, 15), [f"sys{k}" for k in range(1, 8)]
CELLS, LINES, VALUES, SHEET_CELLS = map(
    "it has more than the {} that are read".format,
    ("16,777,216 cells", "16,777,216 lines", "8,388,608 values", "1,677,721 cells"),
)
PACKED = "more than the 268,435,456 that are read (unpack it first"


def score(run, topic):
    return (7 * len(run) * run.encode()[-1] + 3 * topic) % 97 / 100


def table(header, rows):
    return "\n".join(",".join(map(str, line)) for line in (header, *rows)) + "\n"


def scores_of(runs):
    return [(f"t{topic}", *(score(run, topic) for run in runs)) for topic in TOPICS]


def make_total():
    rows = scores_of(SYSTEMS)
    total = ("all", *(round(sum(column) / 14, 6) for column in list(zip(*rows, strict=True))[1:]))
    return table(("topic", *SYSTEMS), [*rows[:5], total, *rows[5:]])


def make_judged():
    rows = [
        (run, f"t{topic}", "" if (run, topic, judge) == ("a", 2, "x") else judge, 1 + int(50 * score(run, topic)) % 5)
        for run in "abc" for topic in range(1, 7) for judge in "xyz"
    ]  # fmt: skip
    return table(("run", "topic", "annotator", "score"), rows)


def make_rated():
    label = "comet" + "2020" * 30 + "x"
    rows = [(f"r{k}", f"t{topic}", label, score(f"r{k}", topic)) for k in range(4) for topic in TOPICS]
    return table(("run", "topic", "measure", "score"), rows)


def row(*cells, number=""):
    return f"<row{number}>" + "".join(f"<c><v>{cell}</v></c>" for cell in cells) + "</row>"


def pack(content):
    return gzip.compress(content, 1)


def pack_archive(parts):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def pack_workbook(rows, before=""):
    """Return a workbook whose sheet is these rows, under a header of topics and two runs."""
    usual = io.BytesIO()
    openpyxl.Workbook().save(usual)
    header = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("topic", "r1", "r2"))
    begin = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{before}<sheetData>'
    with zipfile.ZipFile(usual) as workbook:
        parts = {name: workbook.read(name) for name in workbook.namelist()}
    return pack_archive(
        parts | {"xl/worksheets/sheet1.xml": f"{begin}<row>{header}</row>{rows}</sheetData></worksheet>"}
    )


def make_log():
    sample = '{"id":1,"epoch":1,"scores":{"a":{"value":1}}}'
    many = f"[{f'{sample},' * 600_000}{sample}]"
    header = '{"eval": {"task": "t", "model": "m"}, "status": "success"}'
    return pack_archive({"header.json": header} | {f"samples/{part}.json": many for part in range(3)})


def make_texts():
    said = 'so, [it] is, {"' * 1_500_000
    return json.dumps([
        {"run": run, "topic": t, "score": score(run, t), "said": said * (run == "a" and t == 1)}
        for run in "ab" for t in range(1, 6)
    ])  # fmt: skip


def make_columns():
    """Return a small Parquet file of 40 million rows."""
    label = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2_000_000, np.int8)), pa.array(["a"]))
    rows = pa.table({"run": label, "topic": label, "measure": label, "score": np.zeros(2_000_000)})
    packed = io.BytesIO()
    with pq.ParquetWriter(packed, rows.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(rows)
    return packed.getvalue()


BLANKS = b" " * ((1 << 28) + 1)
KEYS = ", ".join(f'"k{i}": 0' for i in range(100_000))
TIDY = ("run", "topic", "measure", "score")
TOTALS = [(*line, round(sum(line[1:]) / 7, 6)) for line in scores_of(SYSTEMS)]
CASES = [
    # a file, what makes it, what is said, and what is typed; wrong probabilities are tried in tests/io/test_noise_columns.py
    ("comet.csv", make_rated, "(assumed: higher is better)", "ranks {} --explain"),
    ("comet.csv", make_rated, "measures", "inspect {}"),
    ("hugerow.xlsx", lambda: pack_workbook(row(1, 0.5, 0.25) * 8 + row(1, number=' r="999999999999"')),
     "has a number above 1,048,576", "ranks {}", "inspect {}"),
    ("many.xlsx", lambda: pack_workbook(row(1, 1, 1) * 1_500_000), SHEET_CELLS, "ranks {}"),
    ("bomb.csv.gz", lambda: pack(b"topic,r1\n" + b"0,0\n" * 18_000_000), LINES, "ranks {}", "inspect {}"),
    ("bomb.eval", make_log, "that are read", "ranks {}"),
    ("keys.jsonl", lambda: "".join(f'{{"run": "a", "topic": "t{k}", "k{k}": 1}}\n' for k in range(4200)), CELLS, "ranks {}"),
    ("allrow.csv", make_total, "7 runs × 14 topics", "variance {}"),
    ("meancol.csv", lambda: table(("topic", *SYSTEMS, "mean"), TOTALS), "7 runs × 14 topics", "variance {}"),
    ("nojudge.csv", make_judged, "nojudge.csv:5: run a, topic t2, measure score: the judge is missing",
     "variance {} --judges annotator"),
    ("ke.csv", lambda: table(("topic", "r1", "r2"), [(f"t{t}", t / 10, 0.3 + t / 100) for t in range(1, 9)]), "0.450",
     "ranks {}"),
    ("dimension.xlsx", lambda: pack_workbook(row(1, 0.5, 0.25) + row(2, 0.25, 1), '<dimension ref="A1:XFD99999999"/>'), "r1",
     "ranks {}"),
    ("apart.xlsx", lambda: pack_workbook(row(1, 0.5, 1) + row(2, 0.25, 0.5, number=' r="900000"')), "r1", "ranks {}"),
    ("nothing.xlsx", lambda: pack_workbook("<row>" + "<c/>" * 7_000_000 + "</row>"), SHEET_CELLS, "ranks {}"),
    ("right.xlsx", lambda: pack_workbook("".join(f'<row><c r="XFD{k}"><v>1</v></c></row>' for k in range(2, 500))),
     SHEET_CELLS, "ranks {}"),
    ("wide.csv.gz", lambda: pack(b"topic," + b",".join(b"r%d" % run for run in range(3000)) + (b"\n1" + b",0" * 3000) * 6000),
     CELLS, "ranks {}"),
    ("empty.json.gz", lambda: pack(b"[" + b"{}," * 9_000_000 + b"{}]"), VALUES, "ranks {}"),
    ("empty.jsonl.gz", lambda: pack(b"{}\n" * 18_000_000), LINES, "ranks {}"),
    ("commas.json", make_texts, "1 column not used: said", "ranks {} --explain"),
    ("blanks.csv.gz", lambda: pack(BLANKS), PACKED, "ranks {}"),
    *((f"blanks.{kind}", lambda: pack_archive({"header.json": "{}", "summaries.json": BLANKS}), PACKED, "ranks {}")
      for kind in ("xlsx", "eval")),
    ("diagonal.csv", lambda: table(TIDY, [(f"r{i}", f"t{i}", f"m{i}", 0.5) for i in range(500)]),
     "of 125,000,000 cells of runs, topics and measures only 500 have a score",
     *(f"convert {{}} out.csv --missing {policy}" for policy in ("raise", "drop-topic", "drop-run"))),
    # Below, any answer will do, but it comes soon.
    ("pipe.csv", None, "", "convert {} out.csv"),
    ("/dev/zero", None, "", "convert {} out.csv --from tidy"),
    ("x_ap.csv", lambda: table([f"run{i}" for i in range(100_000)], [["0.5"] * 100_000]), "", "convert {} out.csv --from wide"),
    ("keys.json", lambda: f'[{{"id": "1", {KEYS}, "k99999": 1}}]', "", "score {0} {0} -l dialogue-quality --aspect A"),
    ("big.parquet", make_columns, "", "convert {} out.csv"),
]  # fmt: skip
AT_NIGHT = [
    ("board.txt.gz", lambda: pack(b"a t AP 0.5\n" * 18_000_000), LINES, "ranks {}"),
    ("words.txt.gz", lambda: pack(b"a " * 20_000_000), CELLS, "ranks {}"),
    ("cells.csv.gz", lambda: pack(b"a," * 20_000_000), CELLS, "ranks {}"),
    ("returns.csv.gz", lambda: pack(b"topic,r1\r" + b"0,0\r" * 18_000_000), LINES, "ranks {}"),
    ("nested.json.gz", lambda: pack(b"[" + (b"[" * 500 + b"]" * 500 + b",") * 20_000 + b"1]"), VALUES, "ranks {}"),
]


@pytest.mark.parametrize(
    ("name", "make", "said", "line"),
    [
        pytest.param(*case, line, id=line.format(case[0]), marks=pytest.mark.nightly if number >= len(CASES) else ())
        for number, (*case, lines) in enumerate((*case[:3], case[3:]) for case in CASES + AT_NIGHT)
        for line in lines
    ],
)
def test_a_small_file_ends_soon_in_a_right_answer_or_a_sentence(name, make, said, line, tmp_path):
    """Within 5 s of an idle machine, most of them, and 1 GB."""
    inside = tmp_path / "in"
    inside.mkdir()
    if make:
        content = make()
        (inside / name).write_bytes(content.encode() if isinstance(content, str) else content)
    elif name == "pipe.csv":
        os.mkfifo(inside / name)
    words = line.format(inside / name).split()
    try:
        done = run_command(tmp_path, *words, limit=30 if words[0] in ("convert", "score") else 5).check()
        found = f"{done.out.decode()}\n{done.message}"
    except Refused as refused:
        found = str(refused)
    assert said in " ".join(found.split())
