"""Broken score files: a DataError that names file, line, run, topic and measure, whatever is wrong."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metaeval.errors import DataError
from metaeval.io import from_frame, read_scores
from tests.io.cases import put

HEAD = "run,topic,measure,score\n"
GOOD = HEAD + "a,t1,AP,0.5\nb,t1,AP,0.25\n"
OBJECT = {"run_id": "a", "topic_id": "t", "measure": "AP", "value": 1}
NAMES = {"tidy": "s.csv", "wide": "c_ap.csv", "trec_eval": "a.eval", "wmt": "x.seg.score"}


def line(**more):
    return json.dumps({**OBJECT, **more})


FILES = [
    # format, the text of a file called as its format has it or files by name, what the message says
    ("tidy", "", "s.csv: the file is empty"),
    ("tidy", HEAD, "s.csv: there are no rows in it"),
    ("tidy", HEAD + "a,t,AP,1\n\nb,t,AP,-inf\n", "s.csv:4: run b, topic t, measure AP: the score '-inf' is not"),
    ("tidy", HEAD + "a,t,AP,1_0\nb,t,AP,x\n", "the score '1_0' is not a finite number (2 such rows in all)"),
    ("tidy", GOOD + "a,t1,AP,0.5\n", "s.csv:4: run a, topic t1, measure AP: there is a second score, 0.5"),
    ("tidy", GOOD + "a,t2,AP,0.5\n", "s.csv: run b, topic t2, measure AP: there is no score"),
    ("tidy", GOOD + "a,t2,AP\n", "s.csv:4: the line has 3 columns, but the header has 4"),
    ("tidy", GOOD + ",t2,AP,1\n", "s.csv:4: the run is missing"),
    ("tidy", GOOD + 'a,"t\n2",AP,1\na,"t\n2",AP,1\n', r"s.csv:6: run a, topic t\n2, measure AP: there is a second"),
    ("tidy", GOOD + 'a,"t2,AP,1\n', "s.csv:4: it is not a table: unexpected end of data"),
    ("tidy", GOOD.encode() + b"caf\xe9,t1,AP,1\n", "s.csv:4: byte 0xe9 is not UTF-8"),
    ("tidy", "run,topic,measure\na,t,AP\n", "s.csv:1: there is no column 'score' (columns: run, topic, measure)"),
    ("tidy", "run,topic,run,score\na,t,b,1\n", "s.csv:1: the column 'run' occurs twice"),
    ("tidy", "run;topic;score\na;t,u;1;2\n",
     "s.csv:2: the line has 4 columns, but the header has 3 (columns are separ"),
    ("wide", "a,b\n0.5,x\n", "c_ap.csv:2: run b, topic 1, measure AP: the score 'x' is not a finite number"),
    ("wide", "topic,a,b\nt1,1,\nt2,,3\n", "c_ap.csv:2: run b, topic t1, measure AP: there is no score; 2 are missing"),
    ("wide", "topic,a\n,1\n", "c_ap.csv:2: measure AP: the topic is missing"),
    ("wide", "a,a\n1,1\n", "c_ap.csv:1: the column 'a' occurs twice"),
    ("wide", "a,,b\n1,1,1\n", "c_ap.csv:1: column 2 has no name"),
    ("wide", "topic\nt1\n", "c_ap.csv:1: there are topics, but no column of a run"),
    ("wide", {"notes.md": "x", ".x.csv": "x"}, "there is no CSV or TSV file in this folder"),
    ("wide", {".hidden.csv": "x", ".other": "x"}, "there are no files in this folder"),
    ("trec_eval", "map\tt1\n", "a.eval:1: the line has 2 columns, not measure topic value"),
    ("trec_eval", "map\tall\t1\n", "a.eval: run a: there is no score for any topic (run trec_eval with -q)"),
    ("trec_eval", {"a": "map t 1\nrunid all x\n", "x": "map t 1\n"}, "x: it is of the same run as a, x"),
    ("sakai", {"AP": "1 2\n", "RR": "1 2\n"}, "runs: there is no such file: it should hold one run name per line"),
    ("sakai", {"runs": "a\nb\n", ".x": ""}, "there is no file of a measure in this folder"),
    ("sakai", {"runs": "a\nb\na\n", "AP": "1 2 3\n"}, "runs: the run 'a' occurs twice"),
    ("sakai", {"runs": "a\nb\n", "AP": "1 2\n1\n"}, "AP:2: the line has 1 column, not a score of each of 2 runs"),
    ("sakai", {"runs": "a\n", "AP": "1\n2\n", "RR": "1\n"}, "RR: measure RR: it has 1 topics, but there are 2 in"),
    ("wmt", "a 1\n", "x.seg.score:1: the line has 1 column, not run<TAB>score"),
    ("wmt", "a\t1\n\n \t2\n", "x.seg.score:3: the run is missing"),
    ("wmt", "a\t1\na\t2\nb\t1\n", "run b, measure x: it has 1 lines, but other runs have 2"),
    ("wmt", {"x.seg.score": "a\t1\n", "y.seg.score": "a\t1\na\t2\n"}, "run a, measure y: it has 2 lines, but other ru"),
    ("tot", "a AP t 1\na AP t\n", "s.csv:2: the line has 3 columns, not run measure topic value"),
    ("tot", "a AP all 1\n", "s.csv: there is no score for any topic"),
    ("tot", "a t1 AP 0.5\n", "its second column holds topics and its third measures: the format ir_measures, not tot"),
    ("ir_measures", "a AP t1 0.5\n", "the format tot, not ir_measures"),
    ("tidy", {"x.json": "["}, "x.json:1: it is not JSON: Expecting value"),
    (None, {"x.jsonl": line() + "\n[1]\n"}, "x.jsonl:2: it is no object with names and values"),
    (None, {"x.jsonl": line(run_id="7") + "\n" + line(run_id=7)}, "the runs are of several types"),
    (None, {"x.jsonl": line()[:-1] + ', "value": 7}'}, "x.jsonl:1: the key 'value' occurs twice in one object"),
    (None, {"x.jsonl": "[" * 100_000}, "x.jsonl:1: it is not JSON that can be read: it is nested too deeply"),
    (None, {"x.jsonl": line(run_id="\ud800")}, "half a letter is escaped"),
    (None, {"x.jsonl": line(value=5).replace("5", "5" * 5000)}, "x.jsonl:1: it is not JSON that can be read: Exceeds"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "files", "message"), FILES)
def test_a_broken_file_or_folder_is_refused_with_its_place(format, files, message, tmp_path):
    source = put(tmp_path, files if isinstance(files, dict) else {NAMES.get(format, "s.csv"): files})
    with pytest.raises(DataError) as caught:
        read_scores(source, format=format)
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value) or len(files) == 2


@pytest.mark.parametrize("format", ["tidy", "wide", "sakai", "trec_eval", "wmt", "tot"])
def test_what_is_not_there_is_said_to_be_not_there(format, tmp_path):
    with pytest.raises(DataError, match=r"there is no such (file|folder)"):
        read_scores(tmp_path / "nothing", format=format)


CELL = {"run": ["a"], "topic": ["t"], "measure": ["AP"], "score": [0.5]}
EMPTY = {"run": [], "topic": [], "measure": [], "score": pa.array([], pa.float64())}
TABLES = [
    # columns that differ from one good cell, what is said of a Parquet file of them and of a frame
    ({"score": ["x"]}, "run a, topic t, measure AP: the score 'x' is not a finite number"),
    ({"score": [np.inf]}, "run a, topic t, measure AP: the score inf is not a finite number"),
    ({"score": [np.nan]}, "run a, topic t, measure AP: there is no score"),
    ({"run": [None]}, "the run is missing"),
    ({"topic": [{"x": 1}]}, "column topic holds lists or records"),
    ({"score": [[0.5]]}, "column score holds lists or records, not one score a row|is not a finite number"),
    ({"score": [{"mean": 0.5}]}, "column score holds lists or records, not one score a row|is not a finite number"),
    (EMPTY, "there are no rows in it"),
    ({name: values * 2 for name, values in CELL.items()}, "run a, topic t, measure AP: there is a second score, 0.5"),
]


@pytest.mark.parametrize(("columns", "message"), TABLES)
def test_a_parquet_file_or_frame_with_wrong_content_is_refused(columns, message, tmp_path):
    table = pa.table({**CELL, **columns})
    for source in (put(tmp_path, {"s.parquet": pack(table)}), table.to_pandas()):
        for missing in ("raise", "worst", "drop-topic") if "lists" in message else ("raise",):  # a list is no gap
            with pytest.raises(DataError, match=message):
                read_scores(source, missing=missing)


def pack(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


DAMAGED = pack(pa.table(CELL))[:4] + b"\xff" * 40 + pack(pa.table(CELL))[44:]
CLAIMS = [b"", b"PAR1", b"PAR1PAR1", b"hello", GOOD.encode(), b"\x80\x04N.", b"PK\x03\x04", DAMAGED]


@pytest.mark.parametrize("content", CLAIMS)
def test_a_file_that_only_claims_to_be_parquet_is_refused(content, tmp_path):
    with pytest.raises(DataError, match=r"s.parquet: (it is not a complete Parquet file|the file is empty)"):
        read_scores(put(tmp_path, {"s.parquet": content}))


FRAMES = [
    ({}, "no frames were given"),
    (pd.DataFrame({"a": [1]}), "taken for wide, and its measure is not named .name it: measure="),
    ({"AP": pd.DataFrame({"a": [1]}), "RR": pd.DataFrame({"b": [1]})},
     "run a, topic 0, measure RR: there is no score; 2"),
    ({"AP": pd.DataFrame({"a": ["x"]})}, "run a, topic 0, measure AP: the score 'x' is not a finite"),
    ({"AP": [1]}, "scores come as a frame, .* not as list"),
    (pd.DataFrame({"x": ["u"], "y": ["v"]}), r"its columns do not tell what they hold \(x, y\)"),
    (object(), "scores come as a frame, an array with names, or records, not as object"),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "message"), FRAMES)
def test_a_broken_frame_is_refused_with_the_place(frame, message):
    with pytest.raises(DataError, match=message):
        from_frame(frame)
