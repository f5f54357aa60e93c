"""Score matrices: what their names and lines say, how files are joined, and whatever is wrong."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metaeval import Measure, Scores
from metaeval.errors import DataError, DirectionWarning, MetaevalError, PolicyWarning
from metaeval.io import SCORE_FORMATS, from_frame, read_scores, write_scores
from metaeval.measures.resolve import split_stem
from tests.io.cases import put, read_with_notes, show

TIDY = "run,topic,measure,score\na,t1,AP,0.5\nb,t1,AP,0.25\n"
TREC_EVAL = (
    "num_ret               \t301\t1000\nnum_rel               \t301\t474\nmap                   \t301\t0.0369\n"
    "P_10                  \t301\t0.6000\nrelstring_10          \t301\t'1010101010'\n"
    "map                   \t302\t0.1\nP_10                  \t302\t0.2\n"
    "runid                 \tall\tok8alx\nnum_q                 \tall\t2\nmap                   \tall\t0.0685\n"
    "gm_map                \tall\t0.06\n"
)
UNNAMED_RUN = TREC_EVAL.replace("runid                 \tall\tok8alx\n", "")
MQM = "a\t-1.0\na\tNone\na\t-0.5\nb\t-5.0\nb\tNone\nb\t0.0\n"
BLEU = "b\t20\nb\t30\nb\t40\na\t10\na\t50\na\t60\n"
SYNTHETIC = "synthetic_ref\t1\nsynthetic_ref\t2\nsynthetic_ref\t3\n"
METRICS = [{"run": run, "topic": "t", "metrics": {"acc": k, "f1": k / 2}} for k, run in enumerate("ab")]

TOT = "a AP t1 0.5\na AP t2 0.25\na AP all 0.375\nb AP t1 1\nb AP t2 0\nb AP all 0.5\n"
IR_MEASURES = "a t1 AP 0.5\na t2 AP 0.25\na all AP 0.375\nb t1 AP 1\nb t2 AP 0\nb all AP 0.5\n"
READ = [  # what is written, what is read (a file or folder), options, and what is found there
    ({"s.csv": TIDY}, "s.csv", {}, "AP: a 0.5, b 0.25 (t1)"),
    ({"s.tsv": TIDY.replace(",", "\t")}, "s.tsv", {}, "AP: a 0.5, b 0.25 (t1)"),
    ({"s.txt": TIDY.replace(",", "\t")}, "s.txt", {"format": "tidy"}, "AP: a 0.5, b 0.25 (t1)"),
    ({"s.csv": "run,topic,score\na,t,1\n"}, "s.csv", {"measure": "AP"}, "AP: a 1 (t)"),
    ({"s.csv": "run,topic,score\na,t,1\n"}, "s.csv", {}, "score: a 1 (t)"),
    ({"s.csv": "system,topic,map\na,t,1\n"}, "s.csv", {"columns": {"run": "system", "score": "map"}}, "map: a 1 (t)"),
    ({"c_ap.csv": "a,b\n1,2\n3,4\n\n"}, "c_ap.csv", {}, "AP: a 1 3, b 2 4 (1 2)"),
    ({"c_ap.csv": "a\n1\n"}, "c_ap.csv", {"format": "wide"}, "AP: a 1 (1)"),
    ({"c_ap.csv": ",a,b\nt1,0.5,0.25\n"}, "c_ap.csv", {}, "AP: a 0.5, b 0.25 (t1)"),  # as R and pandas write it
    ({"c_ap.csv": "topic,a,b\nt1,1,2\nt2,3,4\n", "c_rr.csv": '"topic","b","a"\n"t2",40,30\n"t1",20,10\n'}, "", {},
     "AP: a 1 3, b 2 4; RR: a 10 30, b 20 40 (t1 t2)"),
    ({"c_1.csv": "a\n1\n"}, "c_1.csv", {"measure": "AP"}, "AP: a 1 (1)"),
    ({"d_ap.csv": "a\n2\n", "d_rr.csv": "a\n3\n", "c_ap.csv": "a\n1\n"}, "", {"collection": "d"}, "AP: a 2; RR: a 3 (1)"),
    ({"k/runs": "a\nb\n", "k/NMD": "1 2\n"}, "k", {"format": "sakai"}, "NMD: a 1, b 2 (1)"),
    ({"k/runs": "a\nb\n", "k/NMD": "1 2\n", "k/RNOD": "1 2\n"}, "k/NMD", {}, "NMD: a 1, b 2 (1)"),
    ({"a.eval": "map \tt1\t1\nrunid\tall\tx\n"}, "a.eval", {"format": "trec_eval"}, "map: x 1 (t1)"),
    ({"e/input.one.eval": TREC_EVAL, "e/bm25.txt": UNNAMED_RUN}, "e", {},
     "map: bm25 0.0369 0.1, ok8alx 0.0369 0.1; P_10: bm25 0.6 0.2, ok8alx 0.6 0.2 (301 302)"),
    ({"w/BLEU-refA.seg.score": BLEU, "w/en-de.mqm.seg.score": MQM.replace("None", "7"), "w/BLEU-refA.sys.score": "a\t1\n"},
     "w", {}, "BLEU: b 20 30 40, a 10 50 60; mqm: b -5 7 0, a -1 7 -0.5 (1 2 3)"),
    ({"BLEU-refA.seg.score": "a\t1\n", "BLEU-refB.seg.score": "a\t2\n", "KIWI-src.seg.score": "a\t3\n"}, "", {},
     "BLEU-refA: a 1; BLEU-refB: a 2; KIWI: a 3 (1)"),  # scored with two references, it is two measures
    ({"x": "a delight t1 0.5\nb delight t1 0.25\n"}, "x", {"format": "tot"}, "delight: a 0.5, b 0.25 (t1)"),
    ({"x": "a t1 delight 0.5\nb t1 delight 1\n"}, "x", {"format": "ir_measures"}, "delight: a 0.5, b 1 (t1)"),
    ({"x": "a AP t1 0.5\nb AP t1 0.25\n"}, "x", {}, "AP: a 0.5, b 0.25 (t1)"),  # a topic would not be called AP
    ({"x": "a AP 301 0.5\nb AP 301 0.25\n"}, "x", {}, "AP: a 0.5, b 0.25 (301)"),  # no measure is called 301
    ({"x": "run topic measure value\na x1 delight 0.5\n"}, "x", {"format": "tot"}, "delight: a 0.5 (x1)"),
    ({"x": "run measure topic value\na delight x1 0.5\n"}, "x", {"format": "ir_measures"}, "delight: a 0.5 (x1)"),
    ({"x": "run topic measure value\na x1 delight 0.5\n"}, "x", {}, "delight: a 0.5 (x1)"),
    ({"judge": TOT}, "judge", {}, "AP: a 0.5 0.25, b 1 0 (t1 t2)"),
    ({"judge": IR_MEASURES}, "judge", {}, "AP: a 0.5 0.25, b 1 0 (t1 t2)"),
    ({"s.jsonl": json.dumps(METRICS)}, "s.jsonl", {}, "acc: a 0, b 1; f1: a 0, b 0.5 (t)"),
    ({"s.json": json.dumps(METRICS[0], indent=1)}, "s.json", {}, "acc: a 0; f1: a 0 (t)"),
    ({"s.json": json.dumps(METRICS).encode("utf-16")}, "s.json", {}, "acc: a 0, b 1; f1: a 0, b 0.5 (t)"),
    ({"s.jsonl": "\n".join(map(json.dumps, METRICS))}, "s.jsonl", {}, "acc: a 0, b 1; f1: a 0, b 0.5 (t)"),
    ({"p.csv": "name,qid,measure,value\nDPH,1,map,1\nDPH,2,map,0\n"}, "p.csv", {},
     "map: DPH 1 0 (1 2)"),  # of PyTerrier
]  # fmt: skip


@pytest.mark.parametrize(("files", "path", "options", "found"), READ)
def test_the_format_is_seen_from_suffix_header_and_neighbours(files, path, options, found, tmp_path):
    put(tmp_path, files)
    assert show(read_scores(tmp_path / path, **options)) == found
    if options.keys() == {"format"} and options["format"] not in ("tot", "ir_measures"):
        assert show(read_scores(tmp_path / path)) == found


def test_of_files_of_wmt_those_of_topics_are_read_unless_whole_runs_are_asked_for(tmp_path):
    files = {"BLEU-refA.sys.score": "a\t1\nb\t2\n", "BLEU-refA.seg.score": "a\t1\na\t3\nb\t2\nb\t5\n"}
    source = put(tmp_path, files)
    assert show(read_scores(source)) == "BLEU: a 1 3, b 2 5 (1 2)"
    assert show(SCORE_FORMATS["wmt"].read_collections(source, level="runs")[0]) == "BLEU: a 1, b 2 (all)"


def test_rows_that_sum_up_otherwise_than_by_the_mean_are_told(tmp_path):
    said = "x: run a, topic all, measure AP: its score .* is not the mean of the topics"
    with pytest.warns(PolicyWarning, match=said):
        read_scores(put(tmp_path, {"x": TOT.replace("0.375", "0.35355")}))


ASKED = [
    # what is written, what is read, what is asked or refused
    ({"x.csv": "a,b\nc,d\n"}, "x.csv", "columns run, topic, measure, score are needed"),
    ({"x.txt": "hello world\n"}, "x.txt", r"x.txt: its format cannot be detected .*state its format with format: tidy"),
    ({"f/a.csv": TIDY, "f/b.csv": TIDY}, "f", "f: a tidy score matrix is one file, not a folder .*join them"),
    ({"f/a.csv": TIDY, "f/c_ap.csv": "a,b\n1,2\n"}, "f", r"several formats: tidy \(a.csv\) and wide \(c_ap.csv\)"),
    ({"k/runs": "a\nb\n", "k/x": "AP t1 0.5\n", "k/y.csv": "1,2\n"}, "k/y.csv", "there are no rows in it"),
    ({"k/runs": "a\nb\n", "k/y": "1\t0\n0\t1\n"}, "k/y", r"y: it could be wide or sakai .state its format: format=wide or"),
    ({"x.txt": "a delight t1 0.5\nb delight t1 0.25\n"}, "x.txt", "x.txt: it could be tot or ir_measures .state its for"),
    ({"r": "301 Q0 d1 1 9.5 bm25\n301 Q0 d2 2 9.1 bm25\n"}, "r",
     "r: it holds documents, of a run or of judgements .*trec_eval -q"),
    ({"qrels.txt": "1 0 d1 2\n1 0 d2 0\n"}, "qrels.txt", "it holds documents"),
    ({"p.csv": "model,id,y_true,y_pred\na,1,0,1\nb,1,0,0\n"}, "p.csv", "y_true, y_pred hold labels, not scores"),
    ({"r.csv": ",AP,RR\nAP,1,0.9\nRR,0.9,1\n"}, "r.csv", "its rows and columns have the same names"),
    ({"c_ap.csv": "a\n1\n", "d_ap.csv": "a\n2\n"}, "", r"several collections: c, d .say which: collection=c"),
    ({"c_ap.csv": "a,b\n1,2\n", "c_rr.csv": "a\n1\n"}, "", "c_rr.csv: run b, topic 1, measure RR: there is no score"),
    ({"c_ap.csv": "topic,a\n2,1\n", "c_rr.csv": "a\n1\n"}, "",
     "c_rr.csv: c_ap.csv names its topics, this table does not, so their lines cannot be matched"),
    ({"k/runs": "a\nb\n", "k/1.txt": "0.1 0.2\n", "k/notes": "-\n"}, "k",
     "notes:1: the line has 1 column, not a score of each of 2"),
    ({"x.csv": "run,topic,measure,score,higher_is_better\na,t,X,1,yes\n"}, "x.csv", "is yes; it is true or false"),
    ({"x.csv": "run,topic,X,higher_is_better\na,t,1,true\na,u,1,false\n"}, "x.csv", "false, true; it is true or false, the"),
    ({"s.jsonl": json.dumps({**METRICS[0], "acc": 1})}, "s.jsonl", "s.jsonl:1: 'acc' occurs twice, by itself and in 'met"),
    ({"BPR.csv": "user_id,ndcg@10,recall@10\nu1,0.5,0.25\nu2,0.25,1\n"}, "BPR.csv",
     r"are its columns runs, or measures of a single run \(ndcg@10, recall@10\)\?"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "path", "message"), ASKED)
def test_what_cannot_be_told_is_asked_for(files, path, message, tmp_path):
    put(tmp_path, files)
    with pytest.raises(DataError, match=message):
        read_scores(tmp_path / path)


def test_a_mapping_says_the_measures_of_files_and_the_runs_of_trec_eval(tmp_path):
    put(tmp_path, {"c_1.csv": "a\n1\n", "c_2.csv": "a\n2\n", "a.eval": "map t 1\n"})
    scores = read_scores({"AP": tmp_path / "c_1.csv", "cost": tmp_path / "c_2.csv"})
    assert (show(scores), scores.collection) == ("AP: a 1; cost: a 2 (1)", "c")
    assert read_scores({"x": tmp_path / "a.eval"}, format="trec_eval").runs == ("x",)
    with pytest.raises(DataError, match="it is of the same measure as c_1.csv|several collections"):
        read_scores([tmp_path / "c_1.csv", tmp_path / "c_1.csv"])
    with pytest.raises(DataError, match=r"there is no measure 'RR' \(there are AP\)"):
        read_scores(put(tmp_path, {"t.csv": TIDY}), measure="RR")
    with pytest.raises(DataError, match="the format tidy needs a single path"):
        read_scores([tmp_path / "t.csv"], format="tidy")


STEMS = {
    "web2013_ndcg20": ("web2013", "nDCG@20"), "web2013_err20": ("web2013", "ERR@20"), "adhoc5_map": ("adhoc5", "AP"),
    "adhoc5_rr": ("adhoc5", "RR"), "adhoc5_P10": ("adhoc5", "P@10"), "robust_2004_recall1000": ("robust_2004", "R@1000"),
    "c_ndcg_cut_10": ("c", "ndcg_cut_10"), "stc3_dq_a_RNOD": ("stc3_dq_a", "RNOD"), "c_MAE_mu": ("c", "MAE_mu"),
    "MAE_mu": ("", "MAE_mu"), "ap": ("", "AP"), "pilot_delight": ("pilot", "delight"), "delight": ("", "delight"),
    "c_OCI(beta=0.75)": ("c", "OCI(beta=0.75)"), "c__my_measure": ("c", "my_measure"), "__my_measure": ("", "my_measure"),
    "trailing_": ("", "trailing_"),
}  # fmt: skip


def test_a_wide_files_name_says_collection_and_measure():
    assert {stem: split_stem(stem)[:2] for stem in STEMS} == STEMS


def test_directions_come_from_names_and_survive_a_tidy_file_or_are_said_to_be_lost(tmp_path):
    mine, ndcg = read_scores(put(tmp_path, {"w_ndcg20.csv": "a\n0.1\n", "w_mine.csv": "a\n0.1\n"})).measures
    assert (str(ndcg), ndcg.higher_is_better, ndcg.range) == ("nDCG@20", True, (0, 1))
    assert (str(mine), mine.higher_is_better) == ("mine", None)
    measures = [Measure("cost", False), Measure("gain", True), Measure("unknown"), Measure("AP", True, (0, 1))]
    scores = Scores([[[1, 2, 3, 0.5]]], runs=["a"], topics=["t"], measures=measures)
    for suffix in ("csv", "tsv", "parquet"):
        write_scores(scores, tmp_path / f"s.{suffix}")
        read = read_scores(tmp_path / f"s.{suffix}")
        assert [one.higher_is_better for one in read.measures] == [False, True, None, True]
    for name, higher in (("BLEU", False), ("NMD", True)):
        stated = {"higher_is_better": [name] * higher, "lower_is_better": [name] * (not higher)}
        with pytest.warns(DirectionWarning, match=f"{name} is known as"):
            scores = Scores([[[0.5]]], runs=["a"], topics=["t"], measures=[name], **stated)
        write_scores(scores, tmp_path / "s.csv")
        with pytest.warns(DirectionWarning, match=f"{name} is known as"):
            assert read_scores(tmp_path / "s.csv").measures[0].higher_is_better is higher


def test_a_format_that_is_not_known_is_refused():
    known = "there is no format 'xls': use tidy, measures, wide, transposed, sakai, trec_eval, wmt"
    with pytest.raises(MetaevalError, match=known):
        read_scores("x.csv", format="xls")


GAPS = {
    "tidy": {"s.csv": "run,topic,measure,score\na,1,AP,0.5\na,2,AP,{}\nb,1,AP,1\nb,2,AP,1\n"},
    "wide": {"c_ap.csv": "topic,a,b\n1,0.5,1\n2,{},1\n"},
    "sakai": {"runs": "a\nb\n", "AP": "0.5 1\n{} 1\n"},
    "trec_eval": {"a.eval": "AP\t1\t0.5\nAP\t2\t{}\n", "b.eval": "AP\t1\t1\nAP\t2\t1\n"},
    "wmt": {"AP.seg.score": "a\t0.5\na\t{}\nb\t1\nb\t1\n"},
    "tot": {"x": "a AP 1 0.5\na AP 2 {}\nb AP 1 1\nb AP 2 1\n"},
}
POLICIES = {
    # missing: what is read, what is said
    "drop-topic": ("AP: a 0.5, b 1 (1)", "left out 1 of 2 topics: 2"),
    "drop-run": ("AP: b 1 1 (1 2)", "left out 1 of 2 runs: a"),
    "keep": ("AP: a 0.5 nan, b 1 1 (1 2)", ""),
}


@pytest.mark.parametrize("word", ["", "NA", "NaN", "-nan", "None"])
@pytest.mark.parametrize("format", GAPS)
def test_nan_is_missing_in_every_format_and_obeys_the_policy(format, word, tmp_path):
    if not word and format in ("sakai", "trec_eval", "tot"):
        pytest.skip("columns separated by white space have no empty cells")
    source = put(tmp_path, {name: text.format(word) for name, text in GAPS[format].items()})
    for missing in ("raise", "worst"):
        with pytest.raises(DataError, match=r"run a, topic 2.*missing=drop-topic"):
            read_scores(source, format=format, missing=missing)
    for missing, (found, note) in POLICIES.items():
        scores, notes = read_with_notes(read_scores, source, format=format, missing=missing)
        assert show(scores) == found
        assert note in notes


def test_a_run_that_one_file_lacks_is_left_out_where_that_is_said(tmp_path):
    source = put(tmp_path, {"en-de.mqm.seg.score": MQM, "BLEU-refA.seg.score": BLEU + SYNTHETIC})
    with pytest.raises(DataError, match=r"mqm.seg.score:2: run a, topic 2, measure mqm: .*; 5 are missing"):
        read_scores(source)
    with pytest.raises(DataError, match="missing=drop-topic would leave no topic"):
        read_scores(source, missing="drop-topic")
    scores, notes = read_with_notes(SCORE_FORMATS["wmt"].read_collections, source, missing="drop-topic", runs="shared")
    assert show(scores[0]) == "BLEU: b 20 40, a 10 60; mqm: b -5 0, a -1 -0.5 (1 3)"
    assert notes.splitlines()[0] == "left out 1 run that not all files hold: synthetic_ref"
    source = put(tmp_path, {"en-de.mqm.seg.score": MQM.replace("None", "7"), "BLEU-refA.seg.score": BLEU + SYNTHETIC})
    scores, notes = read_with_notes(read_scores, source, missing="drop-run")
    assert show(scores) == "BLEU: b 20 30 40, a 10 50 60; mqm: b -5 7 0, a -1 7 -0.5 (1 2 3)"
    assert "left out 1 of 3 runs: synthetic_ref" in notes
    assert np.isnan(read_scores(source, missing="keep").matrix("mqm").loc["synthetic_ref"]).all()


RNG = np.random.default_rng(0)
FEW_BELOW = RNG.random((3, 8)).round(3)


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        *[(np.where([[False] * 7 + [True]] * 3, number, FEW_BELOW), f"F1 is {number:g} in some cells, far from all others")
          for number in (-1, -9, -99, -99.9, -999, -9999, 9, 51, 99, 9999, 1e9)],
        (np.where(np.arange(24).reshape(3, 8) == 10, 9.0, np.ceil(5 * FEW_BELOW)), "F1 is 9 in some cells"),
        (np.resize([2, 98, 3, 4, 5, 1, 4, 2, 99, 3, 1.0], (3, 8)), "F1 is 99 in some cells"),
        (RNG.choice([-1.0, 0.0, 1.0], (3, 8)), ""),  # wins, ties and losses
        (np.where(RNG.random((3, 8)) < 0.5, -1.0, RNG.random((3, 8))), ""),  # half of all cells
        (RNG.uniform(-1, 1, (3, 8)), ""),  # correlations
        (FEW_BELOW, ""),
    ],
)  # fmt: skip
def test_a_number_that_may_stand_for_no_score_is_said_and_scores_below_0_are_not(scores, note, tmp_path):
    frame = pd.DataFrame(scores, index=[*"abc"]).rename_axis(index="run", columns="topic").stack().rename("F1")
    frame.reset_index().to_csv(tmp_path / "s.csv", index=False)
    found, notes = read_with_notes(read_scores, tmp_path / "s.csv", higher_is_better=True)
    assert found.values[:, :, 0].tolist() == scores.tolist()
    assert note in notes if note else not notes


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
    ("tidy", "run;topic;score\na;t,u;1;2\n", "s.csv:2: the line has 4 columns, but the header has 3 (columns"),
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
    ("tot", "a t1 AP 0.5\n", "holds topics and its third measures: the format ir_measures, not tot"),
    ("ir_measures", "a AP t1 0.5\n", "the format tot, not ir_measures"),
    ("tidy", {"x.json": "["}, "x.json:1: it is not JSON: Expecting value"),
    (None, {"x.jsonl": line() + "\n[1]\n"}, "x.jsonl:2: it is no object with names and values"),
    (None, {"x.jsonl": line(run_id="7") + "\n" + line(run_id=7)}, "the runs are of several types"),
    (None, {"x.jsonl": line()[:-1] + ', "value": 7}'}, "x.jsonl:1: the key 'value' occurs twice in one object"),
    (None, {"x.jsonl": "[" * 100_000}, "x.jsonl:1: it is not JSON that can be read: it is nested too deeply"),
    (None, {"x.jsonl": line(run_id="\ud800")}, "half a letter is escaped"),
    (None, {"x.jsonl": line(value=5).replace("5", "5" * 5000)}, "x.jsonl:1: it is not JSON that can be read"),
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
    ({"score": [pd.Timedelta("1s")]}, "column score holds durations, not one score a row|is not a finite number"),
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
    ({"AP": pd.DataFrame({"a": [1]}), "RR": pd.DataFrame({"b": [1]})}, "run a, topic 0, measure RR: there is no score; 2"),
    ({"AP": pd.DataFrame({"a": ["x"]})}, "run a, topic 0, measure AP: the score 'x' is not a finite"),
    ({"AP": [1]}, "scores come as a frame, .* not as list"),
    (pd.DataFrame({"x": ["u"], "y": ["v"]}), r"its columns do not tell what they hold \(x, y\)"),
    (object(), "scores come as a frame, an array with names, or records, not as object"),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "message"), FRAMES)
def test_a_broken_frame_is_refused_with_the_place(frame, message):
    with pytest.raises(DataError, match=message):
        from_frame(frame)
