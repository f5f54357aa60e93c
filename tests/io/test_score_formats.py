"""Score matrices: what the names of files say, which format a file is in, how files are joined."""

import json

import numpy as np
import pandas as pd
import pytest

from metaeval import Measure, Scores
from metaeval.errors import DataError, DirectionWarning, MetaevalError, MetaevalWarning, PolicyWarning
from metaeval.io import SCORE_FORMATS, read_scores, sakai, tidy, trec_eval, wide, write_scores
from metaeval.io.tables import split_stem

TIDY = "run,topic,measure,score\na,t1,AP,0.5\nb,t1,AP,0.25\n"


def put(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


STEMS = [
    ("web2013_ndcg20", "web2013", "nDCG@20"),
    ("web2013_err20", "web2013", "ERR@20"),
    ("adhoc5_ap", "adhoc5", "AP"),
    ("adhoc5_map", "adhoc5", "AP"),
    ("adhoc5_rr", "adhoc5", "RR"),
    ("adhoc5_P10", "adhoc5", "P@10"),
    ("robust_2004_recall1000", "robust_2004", "R@1000"),
    ("c_ndcg_cut_10", "c", "ndcg_cut_10"),
    ("stc3_dq_a_RNOD", "stc3_dq_a", "RNOD"),
    ("c_MAE_mu", "c", "MAE_mu"),
    ("MAE_mu", "", "MAE_mu"),
    ("ap", "", "AP"),
    ("pilot_delight", "pilot", "delight"),
    ("delight", "", "delight"),
    ("c_OCI(beta=0.75)", "c", "OCI(beta=0.75)"),
    ("c__my_measure", "c", "my_measure"),
    ("__my_measure", "", "my_measure"),
    ("trailing_", "", "trailing_"),
]


@pytest.mark.parametrize(("stem", "collection", "measure"), STEMS)
def test_a_wide_files_name_says_collection_and_measure(stem, collection, measure):
    assert split_stem(stem)[:2] == (collection, measure)


def test_known_retrieval_measures_come_with_their_direction_and_range(tmp_path):
    put(tmp_path, {"w_ndcg20.csv": "a,b\n0.1,0.2\n", "w_mine.csv": "a,b\n0.1,0.2\n"})
    ndcg, mine = wide.read([tmp_path / "w_ndcg20.csv", tmp_path / "w_mine.csv"]).measures
    assert (str(ndcg), ndcg.higher_is_better, ndcg.range) == ("nDCG@20", True, (0, 1))
    assert (str(mine), mine.higher_is_better) == ("mine", None)


def test_wide_files_are_aligned_by_the_names_of_runs_and_topics(tmp_path):
    put(tmp_path, {"c_ap.csv": "topic,a,b\nt1,1,2\nt2,3,4\n", "c_rr.csv": '"topic","b","a"\n"t2",40,30\n"t1",20,10\n'})
    scores = wide.read(tmp_path)
    assert (scores.runs, scores.topics, scores.collection) == (("a", "b"), ("t1", "t2"), "c")
    assert scores.values.tolist() == [[[1, 10], [3, 30]], [[2, 20], [4, 40]]]


def test_topics_without_a_column_are_numbered(tmp_path):
    put(tmp_path, {"c_ap.csv": "a,b\n1,2\n3,4\n\n"})
    assert wide.read(tmp_path / "c_ap.csv").topics == ("1", "2")


def test_a_first_column_without_a_name_holds_topics_as_r_and_pandas_write_it(tmp_path):
    pd.DataFrame({"a": [0.5], "b": [0.25]}, index=["t1"]).to_csv(tmp_path / "c_ap.csv")
    assert wide.read(tmp_path / "c_ap.csv").topics == ("t1",)


UNJOINABLE = [
    ("a,c\n1,2\n", r"c_rr.csv: run b, topic 1, measure RR: there is no score; 2 are missing"),
    ("a\n1\n", r"c_rr.csv: run b, topic 1, measure RR: there is no score"),
    ("a,b\n1,2\n3,4\n", r"c_ap.csv: run a, topic 2, measure AP: there is no score; 2 are missing"),
    ("topic,a,b\nt1,1,2\n", r"c_ap.csv: c_rr.csv names its topics, this table does not"),
]


@pytest.mark.parametrize("header", ["qid", "query", "id", "Topic", "query_id"])
def test_a_first_column_of_topics_is_seen_by_its_usual_names(header, tmp_path):
    put(tmp_path, {"c_ap.csv": f"{header},r1,r2\n301,0.1,0.2\n302,0.3,0.4\n"})
    scores = read_scores(tmp_path / "c_ap.csv")
    assert (scores.runs, scores.topics) == (("r1", "r2"), ("301", "302"))


def test_a_first_column_that_can_only_be_topics_is_never_taken_for_a_run(tmp_path):
    put(tmp_path, {"c_ap.csv": "number,r1,r2\n301,0.1,0.2\n302,0.3,0.4\n"})
    with pytest.raises(DataError, match="c_ap.csv:1: measure AP: does the first column, 'number' .301, 302"):
        read_scores(tmp_path / "c_ap.csv")


def test_lines_without_topics_are_not_joined_with_named_ones_by_guesswork(tmp_path):
    put(tmp_path, {"c_ap.csv": "topic,r1,r2\n2,.1,.2\n1,.3,.4\n", "c_rr.csv": "r1,r2\n.1,.2\n.3,.4\n"})
    with pytest.raises(DataError, match="c_rr.csv: c_ap.csv names its topics, this table does not"):
        read_scores(tmp_path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_direction_that_a_name_does_not_tell_survives_a_tidy_file(suffix, tmp_path):
    measures = [Measure("cost", False), Measure("gain", True), Measure("unknown"), Measure("AP", True, (0, 1))]
    scores = Scores([[[1, 2, 3, 0.5]]], runs=["a"], topics=["t"], measures=measures)
    path = tmp_path / f"s{suffix}"
    write_scores(scores, path)
    assert [one.higher_is_better for one in read_scores(path).measures] == [False, True, None, True]


def test_a_direction_that_differs_from_that_of_the_name_survives_a_tidy_file(tmp_path):
    for name, higher in (("BLEU", False), ("NMD", True)):
        with pytest.warns(DirectionWarning, match=f"{name} is known as"):
            scores = Scores(
                [[[0.5]]],
                runs=["a"],
                topics=["t"],
                measures=[name],
                lower_is_better=[name] * (not higher),
                higher_is_better=[name] * higher,
            )
        write_scores(scores, tmp_path / "s.csv")
        with pytest.warns(DirectionWarning, match=f"{name} is known as"):
            assert read_scores(tmp_path / "s.csv").measures[0].higher_is_better is higher


def test_formats_without_directions_say_so(tmp_path):
    scores = Scores([[[3, 0.5]]], runs=["a"], topics=["t"], measures=[Measure("cost", False), "AP"])
    with pytest.warns(DirectionWarning, match="of the format wide hold no directions: state that of cost when"):
        write_scores(scores, tmp_path / "c", format="wide")
    again = read_scores(tmp_path / "c", lower_is_better="cost")
    assert {str(one): one.higher_is_better for one in again.measures} == {"cost": False, "AP": True}


def test_the_worst_score_is_that_of_the_direction_that_was_stated(tmp_path):
    (tmp_path / "s.csv").write_text("run,topic,measure,score\na,t,AP,1\na,u,AP,0.2\nb,t,AP,1\n")
    with (
        pytest.warns(MetaevalWarning),
        pytest.raises(DataError, match="measure AP: missing scores would have 0, the worst of the direction that"),
    ):
        read_scores(tmp_path / "s.csv", missing="worst", lower_is_better="AP")


def test_a_direction_stated_wrongly_or_twice_is_refused(tmp_path):
    for rows, message in (
        ("a,t,X,1,yes\n", "is yes; it is true or false"),
        ("a,t,X,1,true\na,u,X,1,false\n", "false, true"),
    ):
        (tmp_path / "s.csv").write_text(f"run,topic,measure,score,higher_is_better\n{rows}")
        with pytest.raises(DataError, match=message):
            read_scores(tmp_path / "s.csv")


@pytest.mark.parametrize(("content", "message"), UNJOINABLE)
def test_wide_files_of_other_runs_or_topics_are_not_joined(content, message, tmp_path):
    put(tmp_path, {"c_ap.csv": "a,b\n1,2\n", "c_rr.csv": content})
    with pytest.raises(DataError, match=message):
        wide.read(tmp_path)


def test_of_a_folder_with_several_collections_one_is_chosen(tmp_path):
    put(tmp_path, {"c_ap.csv": "a\n1\n", "d_ap.csv": "a\n2\n", "d_rr.csv": "a\n3\n", "readme.md": "x"})
    with pytest.raises(DataError, match=r"several collections: c, d .say which: collection=c"):
        wide.read(tmp_path)
    scores = wide.read(tmp_path, collection="d")
    assert (scores.collection, scores.values.ravel().tolist()) == ("d", [2, 3])
    assert wide.read(tmp_path, collection="d", measure="RR").values.item() == 3
    with pytest.raises(DataError, match=r"d_ap.csv: measure AP: it holds the same measure as c_ap.csv|several"):
        wide.read([tmp_path / "c_ap.csv", tmp_path / "d_ap.csv"])


def test_a_mapping_says_the_measures_of_wide_files(tmp_path):
    put(tmp_path, {"c_1.csv": "a\n1\n", "c_2.csv": "a\n2\n"})
    scores = wide.read({"AP": tmp_path / "c_1.csv", "cost": tmp_path / "c_2.csv"})
    assert (list(map(str, scores.measures)), scores.collection) == (["AP", "cost"], "c")
    assert wide.read(tmp_path / "c_1.csv", measure="AP").collection == "c_1"


def test_empty_cells_of_a_wide_file_are_missing_scores(tmp_path):
    put(tmp_path, {"c_ap.csv": "topic,a,b\nt1,0.5,\nt2,0.25,NA\nt3,0.5,0.75\n"})
    with pytest.raises(DataError, match=r"c_ap.csv:2: run b, topic t1, measure AP: there is no score; 2 are missing"):
        wide.read(tmp_path / "c_ap.csv")
    with pytest.warns(PolicyWarning, match="left out 2 of 3 topics with missing scores: t1, t2"):
        assert wide.read(tmp_path / "c_ap.csv", missing="drop-topic").topics == ("t3",)
    with pytest.warns(PolicyWarning, match="2 missing scores given the measure's worst value"):
        assert wide.read(tmp_path / "c_ap.csv", missing="worst").values[1, :, 0].tolist() == [0, 0, 0.75]


def test_sakais_measures_can_be_named(tmp_path):
    put(tmp_path, {"runs": "a\nb\n", "1.txt": "0.1 0.2\n", "notes": "made by hand\n", ".DS_Store": "x"})
    with pytest.raises(DataError, match=r"notes:1: measure notes: .*name those that are with measures="):
        sakai.read(tmp_path)
    scores = sakai.read(tmp_path, measures={"1.txt": "NMD"}, collection="c")
    assert (str(scores.measures[0]), scores.topics, scores.collection) == ("NMD", ("1",), "c")


def test_trec_eval_output_is_read_as_it_is_printed(tmp_path):
    content = (
        "num_ret               \t301\t1000\nnum_rel               \t301\t474\nmap                   \t301\t0.0369\n"
        "P_10                  \t301\t0.6000\nrelstring_10          \t301\t'1010101010'\n"
        "map                   \t302\t0.1\nP_10                  \t302\t0.2\n"
        "runid                 \tall\tok8alx\nnum_q                 \tall\t2\nmap                   \tall\t0.0685\n"
        "gm_map                \tall\t0.06\n"
    )
    put(
        tmp_path,
        {"e/input.one.eval": content, "e/bm25.txt": content.replace("runid                 \tall\tok8alx\n", "")},
    )
    scores = read_scores(tmp_path / "e")
    assert scores.runs == ("bm25", "ok8alx")
    assert (scores.topics, scores.collection) == (("301", "302"), "e")
    assert [str(one) for one in scores.measures] == ["map", "P_10"]
    assert all(one.higher_is_better for one in scores.measures)
    assert scores.values[0].tolist() == [[0.0369, 0.6], [0.1, 0.2]]
    assert read_scores(tmp_path / "e", measure="P_10").values[0].tolist() == [[0.6], [0.2]]
    assert trec_eval.read({"x": tmp_path / "e/input.one.eval"}).runs == ("x",)


DETECTED = [
    ({"s.csv": TIDY}, "s.csv", "tidy"),
    ({"s.tsv": TIDY.replace(",", "\t")}, "s.tsv", "tidy"),
    ({"s.txt": TIDY.replace(",", "\t")}, "s.txt", "tidy"),
    ({"c_ap.csv": "a,b\n1,2\n"}, "c_ap.csv", "wide"),
    ({"c_ap.csv": "topic,a\nt,2\n"}, "c_ap.csv", "wide"),
    ({"c_ap.csv": "a\n1\n"}, "c_ap.csv", "wide"),
    ({"w/c_ap.csv": "a,b\n1,2\n", "w/c_rr.csv": "a,b\n1,2\n"}, "w", "wide"),
    ({"k/runs": "a\nb\n", "k/NMD": "1 2\n"}, "k", "sakai"),
    ({"k/runs": "a\nb\n", "k/NMD": "1 2\n", "k/RNOD": "1 2\n"}, "k/NMD", "sakai"),
    ({"a.eval": "map \tt1\t1\nrunid\tall\tx\n"}, "a.eval", "trec_eval"),
    ({"e/a": "map t1 1\n", "e/b": "map t1 1\n"}, "e", "trec_eval"),
    ({"w/BLEU-refA.seg.score": "a\t1\nb\t2\n", "w/BLEU-refA.sys.score": "a\t1\nb\t2\n"}, "w", "wmt"),
]


@pytest.mark.parametrize(("files", "path", "format"), DETECTED)
def test_the_format_is_seen_from_suffix_header_and_neighbours(files, path, format, tmp_path):
    put(tmp_path, files)
    seen = read_scores(tmp_path / path)
    assert len(seen.runs) in (1, 2)
    if path != "k/NMD":
        assert read_scores(tmp_path / path, format=format) == seen


UNTOLD = [
    ({"x.csv": "a,b\nc,d\n"}, "x.csv", "columns run, topic, measure, score are needed"),
    ({"x.txt": "hello world\n"}, "x.txt", r"x.txt: its format cannot be detected .*state its format with format: tidy"),
    ({"x.csv": "topic,gold,label\nt,1,2\n"}, "x.csv", "hold labels, not scores .score them first: read_runs"),
    ({"f/a.csv": TIDY, "f/b.csv": TIDY}, "f", "f: a tidy score matrix is one file, not a folder .*join them"),
    ({"f/a.csv": TIDY, "f/c_ap.csv": "a,b\n1,2\n"}, "f", r"several formats: tidy \(a.csv\) and wide \(c_ap.csv\)"),
    ({"k/runs": "a\nb\n", "k/x": "AP t1 0.5\n", "k/y.csv": "1,2\n"}, "k/y.csv", "there are no rows in it"),
    (
        {"k/runs": "a\nb\n", "k/y": "1\t0\n0\t1\n"},
        "k/y",
        r"y: it could be wide or sakai .state its format: format=wide or format=sakai",
    ),
]


@pytest.mark.parametrize(("files", "path", "message"), UNTOLD)
def test_a_format_that_cannot_be_told_is_asked_for(files, path, message, tmp_path):
    put(tmp_path, files)
    with pytest.raises(DataError, match=message):
        read_scores(tmp_path / path)


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path):
    scores = Scores([[[1.0]]], runs=["a"], topics=["t"], measures=["AP"])
    for act in (lambda: read_scores("x.csv", format="xls"), lambda: write_scores(scores, tmp_path, format="xls")):
        with pytest.raises(
            MetaevalError, match="there is no format 'xls': use tidy, measures, wide, transposed, sakai, trec_eval, wmt"
        ):
            act()
    with pytest.raises(DataError, match="the format cannot be detected from this name"):
        write_scores(scores, tmp_path / "folder")
    with pytest.raises(DataError, match="the format tidy needs a single path"):
        read_scores([tmp_path / "x.csv"], format="tidy")


@pytest.mark.parametrize("format", [name for name, format in SCORE_FORMATS.items() if format.written])
def test_every_format_writes_what_read_scores_recognises(format, tmp_path):
    values = np.array([[[0.5, 0.1], [0.25, 0.2]], [[0.75, 0.3], [1.0, 0.4]]])
    given = Scores(values, runs=["a", "b"], topics=["1", "2"], measures=["AP", "nDCG@20"], collection="pilot")
    path = tmp_path / ("pilot.csv" if format == "tidy" else "pilot")
    write_scores(given, path, format=format)
    assert read_scores(path).sel(measures=given.measures) == given
    assert read_scores(path, collection="other", measure="AP") == Scores(
        values[..., :1], runs=["a", "b"], topics=["1", "2"], measures=["AP"], collection="other"
    )


def test_a_tidy_file_without_a_column_measure_has_the_one_that_is_named_or_its_column_of_scores(tmp_path):
    put(tmp_path, {"s.csv": "run,topic,score\na,t,1\n", "map.csv": "system,topic,map\na,t,1\n"})
    assert str(read_scores(tmp_path / "s.csv", measure="AP").measures[0]) == "AP"
    assert str(read_scores(tmp_path / "s.csv").measures[0]) == "score"
    assert str(read_scores(tmp_path / "map.csv", columns={"run": "system", "score": "map"}).measures[0]) == "map"
    put(tmp_path, {"t.csv": TIDY})
    with pytest.raises(DataError, match=r"t.csv: there is no measure 'RR' \(there are AP\)"):
        tidy.read(tmp_path / "t.csv", measure="RR")


def test_one_wide_file_holds_one_measure(tmp_path):
    scores = Scores([[[1.0, 2.0]]], runs=["a"], topics=["t"], measures=["AP", "RR"])
    with pytest.raises(DataError, match=r"a wide file holds one measure, these are 2 .give a folder"):
        wide.write(scores, tmp_path / "s.csv")
    wide.write(scores.sel(measures="AP"), tmp_path / "s_ap.tsv")
    assert (tmp_path / "s_ap.tsv").read_text() == "topic\ta\nt\t1.0\n"
    assert wide.read(tmp_path / "s_ap.tsv").values.item() == 1


def test_scores_in_an_object_of_metrics_are_measures(tmp_path):
    path = tmp_path / "s.jsonl"
    keys = [(run, topic) for run in ("a", "b") for topic in ("t1", "t2")]
    lines = [{"run": run, "topic": topic, "metrics": {"acc": k, "f1": k / 2}} for k, (run, topic) in enumerate(keys)]
    path.write_text("\n".join(map(json.dumps, lines)))
    scores = read_scores(path)
    assert [str(measure) for measure in scores.measures] == ["acc", "f1"]
    assert scores.values.reshape(-1, 2).tolist() == [[k, k / 2] for k in range(len(keys))]
    path.write_text(json.dumps({**lines[0], "acc": 1}))
    with pytest.raises(DataError, match=r"s\.jsonl:1: 'acc' occurs twice, by itself and in 'metrics'"):
        read_scores(path)
