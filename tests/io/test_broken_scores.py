"""Broken score files: a DataError that names file, line, run, topic and measure, whatever is wrong."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from metaeval import Scores
from metaeval.errors import DataError
from metaeval.io import read_scores, sakai, tidy, trec_eval, wide

HEAD = "run,topic,measure,score\n"
GOOD = HEAD + "a,t1,AP,0.5\nb,t1,AP,0.25\n"

TEXT = [
    # reader, file, content, what the message says after the folder
    (tidy, "s.csv", "", "s.csv: the file is empty"),
    (tidy, "s.csv", "\n \n", "s.csv: the file is empty"),
    (tidy, "s.csv", HEAD, "s.csv: there are no rows in it"),
    (
        tidy,
        "s.csv",
        HEAD + "a,t,AP,nan\n",
        "s.csv:2: run a, topic t, measure AP: there is no score",
    ),
    (tidy, "s.csv", HEAD + "a,t,AP,1\n\nb,t,AP,-inf\n", "s.csv:4: run b, topic t, measure AP: the score '-inf' is not"),
    (tidy, "s.csv", HEAD + "a,t,AP,\n", "s.csv:2: run a, topic t, measure AP: there is no score"),
    (tidy, "s.csv", HEAD + "a,t,AP,1_0\nb,t,AP,x\n", "the score '1_0' is not a finite number (2 such rows in all)"),
    (tidy, "s.csv", GOOD + "a,t1,AP,0.5\n", "s.csv:4: run a, topic t1, measure AP: there is a second score, 0.5"),
    (tidy, "s.csv", GOOD + "a,t2,AP,0.5\n", "s.csv: run b, topic t2, measure AP: there is no score"),
    (tidy, "s.csv", GOOD + "a,t2,AP\n", "s.csv:4: the line has 3 columns, but the header has 4"),
    (tidy, "s.csv", GOOD + "a,t,2,AP,1\n", "s.csv:4: the line has 5 columns, but the header has 4"),
    (tidy, "s.csv", GOOD + ",t2,AP,1\n", "s.csv:4: the run is missing"),
    (tidy, "s.csv", GOOD + "a,  ,AP,1\n", "s.csv:4: the topic is missing"),
    (
        tidy,
        "s.csv",
        GOOD + 'a,"t\n2",AP,1\na,"t\n2",AP,1\n',
        r"s.csv:6: run a, topic t\n2, measure AP: there is a second",
    ),
    (tidy, "s.csv", GOOD + 'a,"t2,AP,1\n', "s.csv:4: it is not a table: unexpected end of data"),
    (
        tidy,
        "s.csv",
        "run,topic,measure\na,t,AP\n",
        "s.csv:1: there is no column 'score' (columns: run, topic, measure)",
    ),
    (tidy, "s.csv", "run,topic,run,score\na,t,b,1\n", "s.csv:1: the column 'run' occurs twice"),
    (
        tidy,
        "s.csv",
        "run;topic;measure;score\na;t,u;AP;1;2\n",
        "s.csv:2: the line has 5 columns, but the header has 4 (columns are separated by semicolons)",
    ),
    (wide, "c_ap.csv", "a,b\n0.5\n", "c_ap.csv:2: the line has 1 column, but the header has 2"),
    (wide, "c_ap.csv", "a,b\n0.5,x\n", "c_ap.csv:2: run b, topic 1, measure AP: the score 'x' is not a finite number"),
    (wide, "c_ap.csv", "topic,a\nt1,0.5\nt2,NaN\n", "c_ap.csv:3: run a, topic t2, measure AP: there is no score"),
    (wide, "c_ap.csv", "topic,a\nt1,inf\n", "c_ap.csv:2: run a, topic t1, measure AP: the score 'inf' is not"),
    (
        wide,
        "c_ap.csv",
        "topic,a\nt1,1\nt1,1\n",
        "c_ap.csv:3: run a, topic t1, measure AP: there is a second score, 1",
    ),
    (wide, "c_ap.csv", "topic,a\n,1\n", "c_ap.csv:2: measure AP: the topic is missing"),
    (wide, "c_ap.csv", "a,a\n1,1\n", "c_ap.csv:1: the column 'a' occurs twice"),
    (wide, "c_ap.csv", "a,,b\n1,1,1\n", "c_ap.csv:1: column 2 has no name"),
    (
        wide,
        "c_ap.csv",
        "0.25,0.5\n0.5,0.75\n",
        "c_ap.csv:1: measure AP: the first line holds numbers (0.25, 0.5), which may hold names of runs",
    ),
    (wide, "c_ap.csv", "topic\nt1\n", "c_ap.csv:1: there are topics, but no column of a run"),
    (wide, "c_ap.csv", "a\n\n", "c_ap.csv: there are no rows in it"),
    (trec_eval, "a.eval", "map\tt1\n", "a.eval:1: the line has 2 columns, not measure topic value"),
    (trec_eval, "a.eval", "map\tt1\tx\n", "a.eval:1: run a, topic t1, measure map: the score 'x' is not a finite"),
    (
        trec_eval,
        "a.eval",
        "map\tt1\t1\nmap\tt1\t1\n",
        "a.eval:2: run a, topic t1, measure map: there is a second score",
    ),
    (trec_eval, "a.eval", "map\tall\t1\n", "a.eval: run a: there is no score for any topic (run trec_eval with -q)"),
]


@pytest.mark.parametrize(("reader", "name", "content", "message"), TEXT)
def test_a_broken_text_file_is_refused_with_its_place(reader, name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as caught:
        reader.read(tmp_path / name)
    assert message in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


FOLDERS = [
    (sakai, {"AP": "1 2\n"}, "runs: there is no such file: it should hold one run name per line"),
    (sakai, {"runs": "a\nb\n"}, "there is no file of a measure in this folder"),
    (sakai, {"runs": "a\nb\na\n", "AP": "1 2 3\n"}, "runs:3: the run 'a' occurs twice, first on line 1"),
    (
        sakai,
        {"runs": "a\nb\n", "AP": "1 2\n1\n"},
        "AP:2: measure AP: the line has 1 columns, there are 2 runs",
    ),
    (sakai, {"runs": "a\nb\n", "AP": "1 2\n1 nan\n"}, "AP:2: run b, topic 2, measure AP: there is no score"),
    (
        sakai,
        {"runs": "a\n", "AP": "1\n2\n", "RR": "1\n"},
        "RR: measure RR: it has 1 topics, but there are 2 in the other files",
    ),
    (
        sakai,
        {"runs": "a\n", "topics": "t\nu\n", "AP": "1\n"},
        "AP: measure AP: it has 1 topics, but there are 2 in the other files",
    ),
    (
        sakai,
        {"runs": "a\n", "topics": "t\n", "AP": "1\n2\n"},
        "AP: measure AP: it has 2 topics, but there are 1 in the other files",
    ),
    (trec_eval, {"a": "map\tt\t1\n", "b": "map\tu\t1\n"}, "/a: run a, topic u, measure map: there is no score; 2 are"),
    (trec_eval, {"a": "map\tt\t1\nrunid\tall\tx\n", "x": "map\tt\t1\n"}, "run x: "),
    (wide, {"notes.md": "x"}, "there is no CSV or TSV file in this folder"),
    (wide, {".hidden.csv": "x"}, "there are no files in this folder"),
]


@pytest.mark.parametrize(("reader", "files", "message"), FOLDERS)
def test_a_broken_folder_is_refused_with_its_place(reader, files, message, tmp_path):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as caught:
        reader.read(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize("reader", [tidy, wide, sakai, trec_eval])
def test_what_is_not_there_is_said_to_be_not_there(reader, tmp_path):
    with pytest.raises(DataError, match=r"there is no such (file|folder)"):
        reader.read(tmp_path / "nothing")


def test_an_encoding_that_is_not_utf8_is_named_with_its_line(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(GOOD.encode() + b"caf\xe9,t1,AP,1\n")
    with pytest.raises(DataError, match=r"s.csv:4: byte 0xe9 is not UTF-8"):
        read_scores(path)


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


COLUMNS = {"run": ["a"], "topic": ["t"], "measure": ["AP"], "score": [0.5]}
TABLES = [
    ({"score": ["x"]}, r"s.parquet: run a, topic t, measure AP: the score 'x' is not a finite number"),
    ({"score": [float("nan")]}, r"s.parquet: run a, topic t, measure AP: there is no score"),
    (
        {"score": [None], "topic": ["t"]},
        r"s.parquet: run a, topic t, measure AP: there is no score",
    ),
    ({"run": [None]}, r"s.parquet: the run is missing"),
    ({"topic": [{"x": 1}]}, r"s.parquet: column topic holds lists or records"),
    (
        {"run": [], "topic": [], "measure": [], "score": pa.array([], pa.float64())},
        r"s.parquet: there are no rows in it",
    ),
    (
        {name: values * 2 for name, values in COLUMNS.items()},
        r"run a, topic t, measure AP: there is a second score, 0.5",
    ),
]


@pytest.mark.parametrize(("columns", "message"), TABLES)
def test_a_parquet_file_with_wrong_content_is_refused(columns, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_scores(parquet(tmp_path / "s.parquet", **{**COLUMNS, **columns}))


@pytest.mark.parametrize("missing", ["raise", "worst", "drop-topic"])
@pytest.mark.parametrize("score", [[0.5], {"mean": 0.5}])
def test_a_score_in_a_list_or_record_of_a_parquet_file_is_no_missing_score(score, missing, tmp_path):
    columns = {"run": ["a", "b"], "topic": ["t", "t"], "measure": ["NMD", "NMD"], "score": [score, score]}
    with pytest.raises(DataError, match="column score holds lists or records, not one score a row"):
        read_scores(parquet(tmp_path / "s.parquet", **columns), missing=missing)


def test_a_foreign_parquet_file_is_refused_with_its_columns(tmp_path):
    with pytest.raises(DataError, match=r"s.parquet: its columns do not tell what they hold \(x, y\)"):
        read_scores(parquet(tmp_path / "s.parquet", x=["u"], y=["v"]))


def test_numbers_and_dictionaries_as_labels_of_a_parquet_file_are_text(tmp_path):
    labels = {"run": pa.array(["a", "b"]).dictionary_encode(), "topic": [7, 7]}
    scores = read_scores(parquet(tmp_path / "s.parquet", **labels, measure=["AP", "AP"], score=pa.array([1, 2])))
    assert (scores.runs, scores.topics, scores.values.ravel().tolist()) == (("a", "b"), ("7",), [1, 2])


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1", b"hello", GOOD.encode(), b"\x80\x04N.", b"PK\x03\x04"])
def test_a_file_that_only_claims_to_be_parquet_is_refused(content, tmp_path):
    (tmp_path / "s.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"s.parquet: (it is not a complete Parquet file|the file is empty)"):
        read_scores(tmp_path / "s.parquet")


SCORES = Scores(np.linspace(0, 1, 60).reshape(5, 6, 2), runs=[*"abcde"], topics=[*"uvwxyz"], measures=["AP", "RR"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")  # of a column whose name was damaged
def test_a_truncated_or_damaged_parquet_file_is_refused_or_read_as_it_was(data, tmp_path):
    tidy.write(SCORES, tmp_path / "s.parquet")
    content = bytearray((tmp_path / "s.parquet").read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[at:]
    else:
        content[at] ^= data.draw(st.integers(1, 255))
    (tmp_path / "damaged.parquet").write_bytes(content)
    try:
        scores = tidy.read(tmp_path / "damaged.parquet")
    except DataError:
        return
    assert_same_scores(scores)


def assert_same_scores(scores):
    assert (scores.runs, scores.topics, scores.measures) == (SCORES.runs, SCORES.topics, SCORES.measures)
    assert (scores.values == SCORES.values).all()
