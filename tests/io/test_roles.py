"""Which column holds runs, topics, measures and scores: told by its name and content, refused where neither tells."""

import re
import warnings

import pandas as pd
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import from_frame, read_scores
from metaeval.io.formats import parse_columns
from tests.io.cases import put, read_with_notes, show

TREC_EVAL, IR_MEASURES = "map\t{0}\t0.5\nmap\t{1}\t0.25\n", "{0}\tAP\t0.5\n{1}\tAP\t0.25\n"
THREE_COLUMNS = [
    # lines of the run x, format stated, what is read, None where it is asked which columns are topics and measures
    (TREC_EVAL.format("q1", "q2") + "map\tall\t0.375\n", None, "map: x 0.5 0.25 (q1 q2)"),
    (TREC_EVAL.format("301", "302"), None, "map: x 0.5 0.25 (301 302)"),
    ("num_q all 2\ndelight q1 0.5\n", None, "delight: x 0.5 (q1)"),
    (IR_MEASURES.format("q1", "q2") + "all\tAP\t0.375\n", None, "AP: x 0.5 0.25 (q1 q2)"),
    (IR_MEASURES.format("301", "302"), None, "AP: x 0.5 0.25 (301 302)"),
    ("301 NumQ 1\n301 nDCG@10 0.5\nall NumQ 1\nall nDCG@10 0.5\n", None, "NumQ: x 1; nDCG@10: x 0.5 (301)"),
    ("AP p_1 0.5\nAP all 0.5\n", None, "AP: x 0.5 (p_1)"),  # a topic that looks like a precision
    ("p_1 AP 0.5\nall AP 0.5\n", None, "AP: x 0.5 (p_1)"),
    (IR_MEASURES.format("q1", "q2"), "trec_eval", "AP: x 0.5 0.25 (q1 q2)"),
    ("delight q1 0.5\n", "trec_eval", "delight: x 0.5 (q1)"),
    ("q1 delight 0.5\n", "ir_measures", "delight: x 0.5 (q1)"),
    ("bm25 q1 0.5\nbm25 q2 0.25\n", None, None),  # run, topic, score
    ("all delight 0.5\nq1 delight 0.5\n", None, None),
    ("AP p_1 0.5\n", None, None),
]


def test_four_columns_of_which_the_first_numbers_topics_are_refused(tmp_path):
    with pytest.raises(DataError, match="its first column holds numbers, as topics do, not names of runs"):
        read_scores(put(tmp_path, {"x.txt": "q1 bm25 AP 0.5\nq2 bm25 AP 0.25\n"}))


@pytest.mark.parametrize(("lines", "format", "found"), THREE_COLUMNS)
def test_topics_and_measures_of_three_columns_are_never_swapped(lines, format, found, tmp_path):
    path = put(tmp_path / "e", {"x.txt": lines})
    for source in (path, path.parent):
        if found is None:
            asked = "may be measure, topic, value .*first: format=trec_eval; topics: format=ir_measures; if these"
            with pytest.raises(DataError, match=asked):
                read_scores(source)
        else:
            assert show(read_scores(source, format=format)) == found


def sources(frame, folder):
    """Return a matrix as a file and as a frame, each with the options that it needs."""
    frame.to_csv(folder / "c_mine.csv", index=False)
    return [(folder / "c_mine.csv", {}), (frame, {"measure": "mine"})]


FIRST_COLUMNS = [
    # the first column, two others, what is asked; None where it is a run
    ([1, 2, 3], [0.5, 0.25, 1], [0, 1, 0.5], "does 'number' (1, 2, 3, …), unlike the other columns, name or"),
    ([17, 5, 9], [0, 1, 1], [1, 1, 0], "does 'number' (17, 5, 9, …)"),
    ([301.0, 302.0], [0.5, 0.25], [0.1, 0.2], "does 'number' (301, 302, …)"),
    ([95.5, 91.5], [0.5, 0.25], [0.1, 0.2], "does 'number' (95.5, 91.5, …)"),
    ([1, 2, 3], [30, 20, 10], [5, 9, 2], "does 'number' (1, 2, 3, …)"),
    ([31, 32, 35, 39], [30, 20, 10, 25], [5, 9, 2, 7], "does 'number' (31, 32, 35, …)"),
    ([0.5, 0.25], [0.25, 0.5], [0, 0], None),
    ([0, 1], [1, 1], [0, 0], None),
    ([0.9, 0.8], [0.4, 0.3], [0.1, 0.2], None),  # the best run by far
    ([30.5, 20], [25, 28], [20, 30], None),
]


@pytest.mark.parametrize(("first", "a", "b", "question"), FIRST_COLUMNS)
def test_a_first_column_that_may_be_topics_is_refused_until_the_user_says_what_it_is(first, a, b, question, tmp_path):
    for source, options in sources(pd.DataFrame({"number": first, "a": a, "b": b}), tmp_path):
        if question is not None:
            with pytest.raises(DataError, match=re.escape(question)) as asked:
                read_scores(source, **options)
            assert "columns={'topic': 'number'} names the topics, columns={'run': 'number'}" in str(asked.value)
            as_topics = read_scores(source, columns={"topic": "number"}, **options)
            assert (as_topics.runs, len(as_topics.topics)) == (("a", "b"), len(first))
        as_run = read_scores(source, columns={"run": "number"} if question else None, **options)
        assert as_run.matrix("mine").to_numpy().tolist() == [first, a, b]


ODD = [
    # the name and cells of a column between runs, what is asked of it or said to be left out
    ("year", [2019, 2020, 2020, 2019], "1 column not used: year"),
    ("cluster", [1, 1, 2, 2], "1 column not used: cluster"),
    ("year", [2019.0, 2020.0, 2020.0, 2019.0], "?does 'year' .2019, 2020, 2020, "),  # written with a point
    ("docs", [310, 15, 22, 15], "?does 'docs' .310, 15, 22, "),
]


@pytest.mark.parametrize("index", [None, "topic", "", "index"])
@pytest.mark.parametrize(("name", "values", "said"), ODD)
def test_a_column_that_may_describe_the_topics_is_left_out_or_asked_about(name, values, said, index, tmp_path):
    frame = pd.DataFrame({"a": [0.5, 0.25, 1, 0.75], name: values, "b": [0.25, 0.5, 0, 0.5]})
    if index is not None:
        frame.insert(0, index, [0, 1, 2, 3])
    for source, options in sources(frame, tmp_path):
        if said[0] != "?":
            scores, notes = read_with_notes(read_scores, source, **options)
            assert scores.runs == ("a", "b")
            assert notes.endswith(said)
            continue
        with pytest.raises(DataError, match=said[1:]) as refused:
            read_scores(source, **options)
        for role, runs in (("ignore", ("a", "b")), ("run", ("a", name, "b"))):
            assert f"columns={{'{role}': '{name}'}}" in str(refused.value)
            assert read_scores(source, columns={role: name}, **options).runs == runs


def test_columns_of_a_file_that_only_their_place_makes_runs_are_named_unless_the_user_says_so(tmp_path):
    frame = pd.DataFrame({"topic": [*"xyz"], "weight": [0.5, 0.1, 0.2], "a": [0.5, 0.25, 1], "b": [0.2, 0.3, 0]})
    (path, _), (_, named) = sources(frame, tmp_path)
    said = r"c_mine.csv: columns are read as runs: weight, a, b; columns=\{'ignore': 'NAME'\} leaves out what is none"
    for options in ({}, {"columns": {"topic": "topic"}}, {"format": "wide"}):
        with pytest.warns(PolicyWarning, match=said):
            assert read_scores(path, **options).runs == ("weight", "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_scores(path, columns={"run": "weight"}).runs == ("weight", "a", "b")
        assert read_scores(frame, **named).runs == ("weight", "a", "b")


@pytest.mark.parametrize(
    ("columns", "named"),
    [(["AP", "delight"], "AP, delight"), (["AP", "RR"], ""), (["delight", "dismay"], "delight, dismay")],
)
def test_columns_that_no_known_measure_is_called_are_named_unless_the_user_says_more_of_them(columns, named, tmp_path):
    table = "run,topic,{},{}\na,1,0.5,0.7\na,2,0.25,0\nb,1,0.1,0.2\nb,2,0.9,0.5\n".format(*columns)
    path = put(tmp_path, {"c.csv": table})
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        read_scores(path)
        read_scores(path, columns={"ignore": columns[0]})
        read_scores(path, higher_is_better=columns)
    said = f"{path}: columns are read as measures: {named}; columns={{'ignore': 'NAME'}} leaves out what is none"
    assert [str(note.message) for note in notes] == [said] * bool(named)


def test_hints_name_columns_that_are_there_or_say_name_and_read_columns_that_are_joined(tmp_path):
    content, run = "team,no,part,a\nx,1,{},0.5\nx,1,q,0.25\ny,1,p,1\ny,1,q,0\n", {"run": "team+no"}
    for part, topic in (("p", "part"), ("q", "NAME")):
        path = put(tmp_path, {f"{part}.csv": content.format(part)})
        with pytest.raises(DataError, match=f"columns={{'run': 'team\\+no', 'topic': '{topic}'}}"):
            read_scores(path, columns=run, format="measures")
    assert read_scores(path.parent / "p.csv", columns={**run, "topic": "part"}).runs == ("x/1", "y/1")


def test_several_columns_that_may_describe_the_topics_are_said_to_be_runs_together(tmp_path):
    frame = pd.DataFrame(
        {"topic": [*"wxyz"], "a": [0.5, 0.25, 1, 0.75], "docs": [310, 15, 22, 15], "b": [0.5, 0, 1, 0.1]}
    )
    frame["words"] = [7, 31, 8, 20]
    for source, options in sources(frame, tmp_path):
        with pytest.raises(DataError, match=r"columns={'run': 'docs\+words'} says that these are runs"):
            read_scores(source, **options)
        assert read_scores(source, columns={"run": "docs+words"}, **options).runs == ("a", "docs", "b", "words")


@pytest.mark.parametrize("name", ["Mean", "total"])
def test_a_column_of_the_means_over_runs_is_left_out_and_another_of_that_name_is_a_run(name, tmp_path):
    for mean, runs in ((0.375, ("a", "b")), (0.475, ("a", "b", name))):
        frame = pd.DataFrame({"topic": ["x", "y"], "a": [0.5, 0.25], "b": [0.25, 0.5], name: mean})
        for given in (frame, frame.drop(columns="topic")):
            for source, options in sources(given, tmp_path):
                scores, notes = read_with_notes(read_scores, source, **options)
                assert scores.runs == runs
                assert ("the means over runs" in notes) == (mean == 0.375)


HEADERS = [
    # first line, second line, what is asked; None where it names runs
    ("0.25,0.5", "0.5,0.75", "the first line holds numbers (0.25, 0.5), which may hold names of runs or the scores"),
    ("0,1", "0.5,0.75", "the first line holds numbers (0, 1)"),
    ("-1,2", "0.5,0.75", "the first line holds numbers"),
    ("301,0.5,0.25", "302,0.1,0.2", "the first line holds numbers"),
    ("12,47", "35,20", "the first line holds numbers"),
    ("1,2,3", "0.5,0.25,1", None),
    ("301,17,44", "0,1,0.5", None),
]


@pytest.mark.parametrize(("first", "second", "question"), HEADERS)
def test_a_matrix_without_a_header_never_loses_its_first_topic(first, second, question, tmp_path):
    path = put(tmp_path, {"c_mine.csv": f"{first}\n{second}\n"})
    if question is None:
        assert read_scores(path).runs == tuple(first.split(","))
        return
    with pytest.raises(DataError, match=re.escape(question)):
        read_scores(path, format="wide")
    with pytest.raises(DataError, match=f"{re.escape(question)}|cannot be detected"):
        read_scores(path)


def write_rows(total, score):
    """Return two runs and two topics with a total: as frames, and as files of all formats that hold topics by name."""
    rows = [[run, topic, value] for run, values in (("a", (0.5, 0.25, score)), ("b", (1.0, 0.0, 0.5)))
            for topic, value in zip(("t1", "t2", total), values, strict=True)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["run", "topic", "AP"])
    matrix = frame.pivot(index="topic", columns="run", values="AP")
    numbers = matrix.to_csv(sep=" ", header=False, index=False)
    return {
        "tidy": {"s.csv": frame.to_csv(index=False)},
        "wide": {"c_ap.csv": matrix.to_csv()},
        "sakai": {"runs": "a\nb\n", "topics": "\n".join(matrix.index), "AP": numbers},
        "parquet": {"s.parquet": frame.to_parquet()},
        "frame": frame.melt(["run", "topic"], var_name="measure", value_name="score"),
        "wide frames": {"AP": matrix},
        "a column a measure": frame,
    }


@pytest.mark.parametrize("layout", write_rows("all", 0.0))
def test_a_total_that_is_the_mean_of_the_topics_is_no_topic_in_any_format_and_another_is_refused(layout, tmp_path):
    def read(*total):
        source = write_rows(*total)[layout]
        return read_scores(put(tmp_path, source) if layout in ("tidy", "wide", "sakai", "parquet") else source)

    for name in ("all", "mean", "amean", "Average", "avg", "Overall"):
        with pytest.warns(PolicyWarning, match=f"left out the means over topics, which are called {name}"):
            assert show(read(name, 0.375)) == "AP: a 0.5 0.25, b 1 0 (t1 t2)"
    with pytest.raises(DataError, match="run a, topic all, measure AP: .* 0.425 is not the mean of the topics, 0.375"):
        read("all", 0.425)


ROWS = "".join(f"{run},q{topic},0.{topic + 1}\n" for run in "abc" for topic in range(3))
USUAL = "{}: a 0.1 0.2 0.3, b 0.1 0.2 0.3, c 0.1 0.2 0.3 (q0 q1 q2)"
MQM = "doc,seg,system,MQM\nd1,1,a,-1\nd1,2,a,-2\nd2,1,a,0\nd1,1,b,-3\nd1,2,b,0\nd2,1,b,-4\n"
TABLES = [
    # a table as a file and as a frame, options, what is read, what is said
    ("Team,Segment,value\n" + ROWS, {}, USUAL.format("value"), ""),
    ("runid,topic,compatibility\n" + ROWS, {}, USUAL.format("compatibility"), ""),
    ("system,qid,F1\n" + ROWS, {"columns": {"run": "system"}}, USUAL.format("F1"), ""),
    ("entry,place,F1\n" + ROWS, {"columns": {"run": "entry", "topic": "place"}}, USUAL.format("F1"), ""),
    (MQM, {"columns": {"topic": "doc+seg"}}, "MQM: a -1 -2 0, b -3 0 -4 (d1/1 d1/2 d2/1)", ""),
    ("system,qid,time,F1,index\n" + ROWS.replace(",0", ",8.5,0").replace("\n", ",3\n"), {}, USUAL.format("F1"),
     "used: time, index"),
    ('entry,"place, too",F1\n' + ROWS, {"columns": parse_columns("topic=place, too,run=entry")}, USUAL.format("F1"), ""),
    ("doc,seg,system,MQM\nd1,1,a,-1\nd2,1,a,0\nd1,1,b,-3\nd2,1,b,-4\n", {}, "MQM: a -1 0, b -3 -4 (d1 d2)", "used: seg"),
    ("query,BM25,DPR,label\nq1,0.5,1,easy\nq2,0,1,hard\n", {}, "mine: BM25 0.5 0, DPR 1 1 (q1 q2)", "not used: label"),
    ("model,question,correct\na,1,True\na,2,False\nb,1,true\nb,2,TRUE\n", {}, "correct: a 1 0, b 1 1 (1 2)", ""),
    ("run,topic,score,lang\na,t,0.5,de\nb,t,1,de\n", {}, "score: a 0.5, b 1 (t)", "1 column not used: lang"),
    ("run,topic,score,lang\na,t,0.5,de\n", {"columns": {"measure": "lang"}}, "de: a 0.5 (t)", ""),
    ("run,topic,BLEU\na,all,30.5\nb,all,20\n", {}, "BLEU: a 30.5, b 20 (all)", ""),  # a total alone stays
    ("run,topic,BLEU\na,1,33.337\na,2,20\na,all,26.7\nb,1,10\nb,all,5\n", {"missing": "drop-topic"},
     "BLEU: a 33.337, b 10 (1)", "left out the means"),  # printed with few digits, of a run with gaps
    ("topic,a,b,mean\nx,0.5,0.25,0.375\ny,,0.5,0.5\n", {"missing": "drop-topic"}, "mine: a 0.5, b 0.25 (x)",
     "left out the means over runs"),
    ("segment,a,b\ns1,0.5,0.25\ns2,0,1\n", {"columns": {"topic": "segment"}}, "mine: a 0.5 0, b 0.25 1 (s1 s2)", ""),
    ("place,a,b\nq1,0.5,0.25\nq2,1,0\n", {"columns": {"topic": "place"}}, "mine: a 0.5 1, b 0.25 0 (q1 q2)", ""),
    ("place,a,b\nq1,0.5,0.25\nq2,1,0\n", {"format": "transposed"}, "mine: q1 0.5 0.25, q2 1 0 (a b)", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "found", "note"), TABLES)
def test_the_usual_names_of_columns_say_what_they_hold(text, options, found, note, tmp_path):
    path = put(tmp_path, {"c_mine.csv": text})
    named = {"measure": "mine"} if found.startswith("mine") else {}
    for source, more in ((path, {}), (pd.read_csv(path), named)):
        scores, notes = read_with_notes(read_scores, source, **options, **more)
        assert show(scores) == found
        assert note in notes if note else not notes


DECIMALS = {"run;topic;AP\na;q1;0,5\nb;q1;1\n": [0.5, 1], "topic;a;b\nq1;0,5;1\nq2;1,25;10\n": [0.5, 1.25, 1, 10]}
REFUSED = [
    ("AP 401 run_a 0.5\nAP 402 run_a 0.25\nAP 401 run_b 0.5\n",
     "detected|do not tell|three columns"),  # a measure first
    ("entry topic gauge value\nr1 401 AP 0.5\nr1 402 AP 0.5\n", "detected|do not tell|no column is called"),
    ("model,topic,x,score2\n1,7,0.5,3\n2,8,0.25,4\n", "there is no score; 4 are missing"),
    (MQM, r"'seg' tells them apart: .*columns=\{'topic': 'doc\+seg'\}"),
    ("model,question,correct\na,1,True\na,2,0.5\nb,1,true\nb,2,1\n", "the score 'True' is not a finite number"),
    ("place,a,b\nq1,0.5,0.25\nq2,1,0\n", "does the first column, 'place', name topics or runs"),
    *[(f"topic;a;b\nq1;{cells}\n", "is not a finite number|do not tell")
      for cells in ("1,234;2,345", "0,5;0.5", "1,234,567;0,5", "1,2,3;1")],
    *[(f"run;topic;score\na;q1;{cell}\nb;q1;0.25\n", f"the score '{cell}' is not a finite number.*write decimals with a po")
      for cell in ("1,234", "11.5%", "1 100", "1,100.5", "0,5")],
    ("run;topic;score\na;q1;half\nb;q1;0.25\n", "the score 'half' is not a finite number$"),
    ("run,1,2\na,0.5,1\na,0.25,0\n", "no column is called as topics are"),
    ("model,BLEU,COMET\na,30,0.8\nb,20,0.7\n", "one number a run and no topics .*give the scores of every topic"),
    ("run,measure,score\na,BLEU,30\nb,BLEU,20\n", "one number a run and no topics"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_columns_that_do_not_tell_and_numbers_that_are_none_are_refused(text, message, tmp_path):
    path = put(tmp_path, {"c_mine.csv": text})
    for source in (path, pd.read_csv(path)) if "one number" in message else (path,):
        with pytest.raises(DataError, match=message):
            read_scores(source)


def test_decimal_commas_are_read_where_they_can_be_nothing_else_and_hints_name_the_column(tmp_path):
    for text, values in DECIMALS.items():
        assert read_scores(put(tmp_path, {"c_ap.csv": text})).values.ravel().tolist() == values
    path = put(tmp_path, {"c_ap.csv": "place,a,b\nq1,0.5,0.25\nq2,1,0\n"})
    with pytest.raises(DataError, match="if 'place' is the column of topics, say so: columns={'topic': 'place'}"):
        read_scores(path, format="wide")
    with pytest.raises(DataError, match="no column is the score: one is the topic"):
        read_scores(path, format="wide", columns={"topic": "place", "score": "a"})
    with pytest.raises(DataError, match="scores come as a frame, .* not as float"):
        read_scores({"a": 30.0, "b": 20.0})


KNOWN = {"run": ["a", "b"], "topic": ["t", "t"], "AP": [0.5, 0.25], "cost": [3, 4], "higher_is_better": [True] * 2}


@pytest.mark.parametrize("direction", [True, None])
@pytest.mark.parametrize("collection", ["pilot", ""])
def test_known_columns_beside_measures_keep_their_role(direction, collection):
    frame = pd.DataFrame(KNOWN if direction else {name: KNOWN[name] for name in (*KNOWN,)[:4]})
    scores = from_frame(frame.assign(collection=collection) if collection else frame)
    assert show(scores) == "AP: a 0.5, b 0.25; cost: a 3, b 4 (t)"
    assert (scores.measures[1].higher_is_better, scores.collection) == (direction, collection)
    assert show(from_frame(frame, measure="cost")) == "cost: a 3, b 4 (t)"
    for given in (frame, scores.to_frame()):
        with pytest.raises(DataError, match="there is no measure 'nope' .there are"):
            from_frame(given, measure="nope")


def test_ranks_in_place_of_scores_are_remarked_unless_a_direction_is_stated(tmp_path):
    path = put(tmp_path, {"x_ours.csv": "topic,a,b,c\nq1,1,2,3\nq2,3,1,2\nq3,2,3,1\n"})
    with pytest.warns(PolicyWarning, match="ours is 1 to 3 on every topic: if these are ranks .*lower_is_better=ours"):
        read_scores(path, columns={"topic": "topic"})
    assert read_scores(path, columns={"topic": "topic"}, lower_is_better="ours").values.shape == (3, 3, 1)
