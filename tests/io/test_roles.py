"""Which column holds runs, topics, measures and scores: told by its name and content, refused where neither tells."""

import warnings

import numpy as np
import pandas as pd
import pytest

from metaeval import Scores
from metaeval.errors import DataError, PolicyWarning
from metaeval.io import SCORE_FORMATS, from_frame, read_scores, write_scores

TREC_EVAL = "map\t{0}\t0.5\nmap\t{1}\t0.25\n"
IR_MEASURES = "{0}\tAP\t0.5\n{1}\tAP\t0.25\n"
THREE_COLUMNS = [
    # lines, format stated, topics, measures
    (TREC_EVAL.format("q1", "q2") + "map\tall\t0.375\n", None, ("q1", "q2"), ["map"]),
    (TREC_EVAL.format("301", "302"), None, ("301", "302"), ["map"]),
    ("num_q all 2\ndelight q1 0.5\n", None, ("q1",), ["delight"]),
    (IR_MEASURES.format("q1", "q2") + "all\tAP\t0.375\n", None, ("q1", "q2"), ["AP"]),
    (IR_MEASURES.format("301", "302"), None, ("301", "302"), ["AP"]),
    ("301 NumQ 1\n301 nDCG@10 0.5\nall NumQ 1\nall nDCG@10 0.5\n", None, ("301",), ["NumQ", "nDCG@10"]),
    ("AP p_1 0.5\nAP all 0.5\n", None, ("p_1",), ["AP"]),  # a topic that looks like a precision
    ("p_1 AP 0.5\nall AP 0.5\n", None, ("p_1",), ["AP"]),
    (IR_MEASURES.format("q1", "q2"), "trec_eval", ("q1", "q2"), ["AP"]),
    (IR_MEASURES.format("q1", "q2"), "ir_measures", ("q1", "q2"), ["AP"]),
    ("delight q1 0.5\n", "trec_eval", ("q1",), ["delight"]),
    ("q1 delight 0.5\n", "ir_measures", ("q1",), ["delight"]),
]


@pytest.mark.parametrize(("lines", "format", "topics", "measures"), THREE_COLUMNS)
@pytest.mark.parametrize("folder", [True, False])
def test_topics_and_measures_of_three_columns_are_never_swapped(lines, format, topics, measures, folder, tmp_path):
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "bm25.txt").write_text(lines)
    scores = read_scores(tmp_path / "e" if folder else tmp_path / "e" / "bm25.txt", format=format)
    assert (scores.runs, scores.topics, list(map(str, scores.measures))) == (("bm25",), topics, measures)


@pytest.mark.parametrize(
    "lines",
    [
        "bm25 q1 0.5\nbm25 q2 0.25\n",  # run, topic, score
        "bm25 301 0.5\nbm25 302 0.25\n",
        "bm25 301 0.5\nbm25 all 0.5\n",
        "delight q1 0.5\n",
        "all delight 0.5\nq1 delight 0.5\n",
        "AP p_1 0.5\n",
    ],
)
def test_three_columns_whose_names_do_not_tell_what_they_hold_are_refused(lines, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(lines)
    for path in (tmp_path, tmp_path / "a.txt"):
        with pytest.raises(
            DataError, match=r"may be measure, topic, value .*format=trec_eval; topics: format=ir_measures; if these"
        ):
            read_scores(path)


TOPIC_NAMES = ["segment", "doc_id", "question", "index", "Unnamed: 0", "", "id", "QID", "Query ID", "dialogue", "topic"]


@pytest.mark.parametrize("name", TOPIC_NAMES)
def test_a_first_column_with_the_name_of_topics_is_never_a_run(name, tmp_path):
    (tmp_path / "c_mine.csv").write_text(f"{name},a,b\n1,0.5,0.25\n2,0.25,0.5\n3,0,1\n")
    frame = pd.DataFrame({name: [1, 2, 3], "a": [0.5, 0.25, 0], "b": [0.25, 0.5, 1]})
    for scores in (read_scores(tmp_path / "c_mine.csv"), from_frame(frame, measure="mine")):
        assert (scores.runs, scores.topics) == (("a", "b"), ("1", "2", "3"))


FIRST_COLUMNS = [
    # the first column, two others, what the message says
    ([1, 2, 3], [0.5, 0.25, 1], [0, 1, 0.5], "does the first column, 'number' .1, 2, 3"),
    ([17, 5, 9], [0, 1, 1], [1, 1, 0], "does the first column, 'number' .17, 5, 9"),
    ([301.0, 302.0], [0.5, 0.25], [0.1, 0.2], "does the first column, 'number' .301, 302"),
    ([95.5, 91.5], [0.5, 0.25], [0.1, 0.2], "does the first column, 'number' .95.5, 91.5"),
    ([1, 2, 3], [30, 20, 10], [5, 9, 2], "name the topics, or hold the scores of a run"),
    ([31, 32, 35, 39], [30, 20, 10, 25], [5, 9, 2, 7], "name the topics, or hold the scores of a run"),
]


@pytest.mark.parametrize(("first", "a", "b", "message"), FIRST_COLUMNS)
def test_a_first_column_that_may_be_topics_is_refused_until_the_user_says_what_it_is(first, a, b, message, tmp_path):
    frame = pd.DataFrame({"number": first, "a": a, "b": b})
    path = tmp_path / "c_mine.csv"
    frame.to_csv(path, index=False)
    sources = [(path, {}), (frame, {"measure": "mine"})]
    for source, options in sources:
        with pytest.raises(DataError, match=message) as refused:
            read_scores(source, **options)
        assert "columns={'topic': 'number'}, or columns={'run': 'number'}" in str(refused.value)
        as_topics = read_scores(source, columns={"topic": "number"}, **options)
        assert (as_topics.runs, len(as_topics.topics)) == (("a", "b"), len(first))
        as_run = read_scores(source, columns={"run": "number"}, **options)
        assert as_run.runs == ("number", "a", "b")
        assert as_run.values[0, :, 0].tolist() == first


@pytest.mark.parametrize(("name", "values"), [("year", [2019, 2020, 2020, 2019]), ("cluster", [1, 1, 2, 2])])
@pytest.mark.parametrize("index", [None, "topic", "", "index"])
def test_a_column_that_usually_describes_the_topics_is_left_out_and_named(name, values, index, tmp_path):
    frame = pd.DataFrame({"a": [0.5, 0.25, 1, 0.75], name: values, "b": [0.25, 0.5, 0, 0.5]})
    if index is not None:
        frame.insert(0, index, [0, 1, 2, 3])
    path = tmp_path / "c_mine.csv"
    frame.to_csv(path, index=False)
    for source, options in [(path, {}), (frame, {"measure": "mine"})]:
        with pytest.warns(PolicyWarning, match=f"1 column not used: {name}"):
            assert read_scores(source, **options).runs == ("a", "b")
    frame[name] = frame[name].astype(float)  # a run of this name, written with a point
    frame.to_csv(path, index=False)
    for source, options in [(path, {}), (frame, {"measure": "mine"})]:
        assert read_scores(source, **options).runs == ("a", name, "b")


@pytest.mark.parametrize("index", [None, "topic", "", "index"])
def test_a_column_of_whole_numbers_among_fractions_is_no_run_until_the_user_says_so(index, tmp_path):
    frame = pd.DataFrame({"a": [0.5, 0.25, 1, 0.75], "docs": [310, 15, 22, 15], "b": [0.25, 0.5, 0, 0.5]})
    if index is not None:
        frame.insert(0, index, [0, 1, 2, 3])
    path = tmp_path / "c_mine.csv"
    frame.to_csv(path, index=False)
    for source, options in [(path, {}), (frame, {"measure": "mine"})]:
        with pytest.raises(DataError, match="the column 'docs' holds whole numbers such as") as refused:
            read_scores(source, **options)
        assert "columns={'ignore': 'docs'} leaves out, columns={'run': 'docs'} says that these are runs" in str(
            refused.value
        )
        assert read_scores(source, columns={"ignore": "docs"}, **options).runs == ("a", "b")
        assert read_scores(source, columns={"run": "docs"}, **options).runs == ("a", "docs", "b")


@pytest.mark.parametrize("index", ["", "index", "Unnamed: 0", "level_0"])
@pytest.mark.parametrize("start", [0, 1])
def test_a_count_of_the_rows_before_the_topics_is_no_run(index, start, tmp_path):
    rows = range(start, start + 3)
    frame = pd.DataFrame({index: rows, "query": ["x", "y", "z"], "a": [0.5, 0.25, 1], "b": [0.25, 0.5, 0]})
    frame.to_csv(tmp_path / "c_mine.csv", index=False)
    for scores in (read_scores(tmp_path / "c_mine.csv"), from_frame(frame, measure="mine")):
        assert (scores.runs, scores.topics) == (("a", "b"), ("x", "y", "z"))
    frame = frame.rename(columns={"query": "key"}).assign(key=[7, 8, 9])
    frame.to_csv(tmp_path / "c_mine.csv", index=False)
    for source, options in [(tmp_path / "c_mine.csv", {}), (frame, {"measure": "mine"})]:
        with pytest.raises(DataError, match="does the first column, 'key' .7, 8, 9"):
            read_scores(source, **options)
        assert read_scores(source, columns={"topic": "key"}, **options).topics == ("7", "8", "9")


@pytest.mark.parametrize("name", ["all", "Mean", "average", "total"])
@pytest.mark.parametrize("labelled", [True, False])
def test_a_column_of_the_means_over_runs_is_left_out_and_another_of_that_name_is_a_run(name, labelled, tmp_path):
    frame = pd.DataFrame({"topic": ["x", "y"], "a": [0.5, 0.25], "b": [0.25, 0.5]})
    frame[name] = [0.375, 0.375]
    frame = frame if labelled else frame.drop(columns="topic")
    for change, runs in ((0.0, ("a", "b")), (0.1, ("a", "b", name))):
        frame[name] += change
        frame.to_csv(tmp_path / "c_mine.csv", index=False)
        for source, options in [(tmp_path / "c_mine.csv", {}), (frame, {"measure": "mine"})]:
            with warnings.catch_warnings(record=True) as notes:
                warnings.simplefilter("always")
                assert read_scores(source, **options).runs == runs
            assert any("the means over runs" in str(note.message) for note in notes) == (change == 0)


@pytest.mark.filterwarnings("ignore:.*left out 1 of 2 topics")
def test_the_means_over_runs_of_a_matrix_with_gaps_are_left_out_too(tmp_path):
    (tmp_path / "c_mine.csv").write_text("topic,a,b,mean\nx,0.5,0.25,0.375\ny,,0.5,0.5\n")
    with pytest.warns(PolicyWarning, match="left out 'mean', the means over runs"):
        scores = read_scores(tmp_path / "c_mine.csv", missing="drop-topic")
    assert (scores.runs, scores.topics) == (("a", "b"), ("x",))


@pytest.mark.parametrize(
    "lines",
    [
        "AP 401 run_a 0.5\nAP 402 run_a 0.25\nAP 401 run_b 0.5\nAP 402 run_b 0.25\n",  # a measure where runs should be
        "entry topic gauge value\nr1 401 AP 0.5\nr1 402 AP 0.5\n",  # names that nobody knows
        "model,topic,x,score2\n1,7,0.5,3\n2,8,0.25,4\n",  # runs and topics are no runs
    ],
)
def test_columns_in_an_order_that_no_format_has_are_refused(lines, tmp_path):
    (tmp_path / "s.csv").write_text(lines)
    with pytest.raises(
        DataError, match="detected|do not tell|three columns|no column is called|there is no score; 4 are missing"
    ):
        read_scores(tmp_path / "s.csv")


RUNS = [
    ([0.5, 0.25], [0.25, 0.5]),
    ([0, 1], [1, 1]),
    ([0.9, 0.8], [0.4, 0.3]),  # the best run by far
    ([1, 3], [2, 4]),
    ([30.5, 20], [25, 28]),
]


@pytest.mark.parametrize(("first", "second"), RUNS)
def test_a_first_column_of_scores_is_a_run(first, second, tmp_path):
    frame = pd.DataFrame({"a": first, "b": second})
    frame.to_csv(tmp_path / "c_mine.csv", index=False)
    for scores in (read_scores(tmp_path / "c_mine.csv"), from_frame(frame, measure="mine")):
        assert scores.values[:, :, 0].tolist() == [first, second]


HEADERS = [
    # first line, second line, what the message says
    ("0.25,0.5", "0.5,0.75", "the first line holds numbers"),
    (
        "0,1",
        "0.5,0.75",
        r"the first line holds numbers \(0, 1\), which may hold names of runs or the scores of a topic",
    ),
    ("0,1", "1,0", "may hold names of runs or the scores of a topic"),
    ("-0.5,0.25", "0.5,0.75", "the first line holds numbers"),
    ("-1,2", "0.5,0.75", "the first line holds numbers"),
    ("1e+00,2e-01", "0.5,0.75", "the first line holds numbers"),
    ("301,0.5,0.25", "302,0.1,0.2", "the first line holds numbers"),
    ("301,0,1", "302,1,0", "may hold names of runs or the scores of a topic"),
    ("12,47", "35,20", "may hold names of runs"),
]


@pytest.mark.parametrize(("first", "second", "message"), HEADERS)
def test_a_matrix_without_a_header_never_loses_its_first_topic(first, second, message, tmp_path):
    (tmp_path / "c_mine.csv").write_text(f"{first}\n{second}\n")
    with pytest.raises(DataError, match=message):
        read_scores(tmp_path / "c_mine.csv", format="wide")
    with pytest.raises(DataError, match=f"{message}|cannot be detected"):
        read_scores(tmp_path / "c_mine.csv")


@pytest.mark.parametrize("header", ["1,2,3", "0,1,2", "301,17,44"])
def test_whole_numbers_beyond_the_scores_are_names_of_runs(header, tmp_path):
    (tmp_path / "c_ap.csv").write_text(f"{header}\n0.5,0.25,1\n0,1,0.5\n")
    assert read_scores(tmp_path / "c_ap.csv").runs == tuple(header.split(","))


ROWS = [("a", "t1", 0.5), ("a", "t2", 0.25), ("b", "t1", 1.0), ("b", "t2", 0.0)]


def with_totals(name, off=0.0):
    return [*ROWS, ("a", name, 0.375 + off), ("b", name, 0.5)]


def write_rows(layout, rows, folder):
    """Return a source of these rows, in one of the formats that hold topics by name."""
    frame = pd.DataFrame(
        [(run, topic, "AP", score) for run, topic, score in rows], columns=["run", "topic", "measure", "score"]
    )
    matrix = frame.pivot(index="topic", columns="run", values="score")
    if layout == "tidy":
        frame.to_csv(folder / "s.csv", index=False)
        return folder / "s.csv"
    if layout == "parquet":
        frame.to_parquet(folder / "s.parquet")
        return folder / "s.parquet"
    if layout == "wide":
        matrix.to_csv(folder / "c_ap.csv")
        return folder / "c_ap.csv"
    if layout == "sakai":
        (folder / "k").mkdir()
        (folder / "k" / "runs").write_text("a\nb\n")
        (folder / "k" / "topics").write_text("".join(f"{topic}\n" for topic in matrix.index))
        (folder / "k" / "AP").write_text("".join(f"{x} {y}\n" for x, y in matrix.to_numpy()))
        return folder / "k"
    if layout == "wide frame":
        return {"AP": matrix}
    if layout == "a column a measure":
        return frame.rename(columns={"score": "AP"}).drop(columns="measure")
    return frame


LAYOUTS = ["tidy", "parquet", "wide", "sakai", "frame", "wide frame", "a column a measure"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["all", "mean", "amean", "Average", "avg", "Overall"])
def test_a_total_that_is_the_mean_of_the_topics_is_no_topic_in_any_format(layout, name, tmp_path):
    source = write_rows(layout, with_totals(name), tmp_path)
    with pytest.warns(PolicyWarning, match=f"left out the means over topics, which are called {name}"):
        scores = read_scores(source)
    assert scores.topics == ("t1", "t2")
    assert scores.values[:, :, 0].tolist() == [[0.5, 0.25], [1, 0]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_total_that_is_something_else_is_refused_in_any_format(layout, tmp_path):
    source = write_rows(layout, with_totals("all", 0.05), tmp_path)
    message = "run a, topic all, measure AP: .* its score 0.425 is not the mean of the topics, 0.375"
    with pytest.raises(DataError, match=message):
        read_scores(source)


def test_totals_of_frames_are_left_out_and_a_total_alone_stays():
    with pytest.warns(PolicyWarning, match="left out the means"):
        scores = from_frame({"run": ["a"] * 3, "topic": ["q1", "q2", "all"], "map": [0.5, 0.25, 0.375]})
    assert scores.topics == ("q1", "q2")
    assert from_frame({"run": ["a", "b"], "topic": ["all"] * 2, "BLEU": [30.5, 20]}).topics == ("all",)


def test_a_mean_printed_with_few_digits_of_a_run_with_gaps_is_left_out(tmp_path):
    (tmp_path / "s.csv").write_text("run,topic,BLEU\na,1,33.337\na,2,20\na,all,26.7\nb,1,10\nb,all,5\n")
    with pytest.warns(PolicyWarning):
        scores = read_scores(pd.read_csv(tmp_path / "s.csv"), missing="drop-topic")
    assert scores.topics == ("1",)


@pytest.mark.parametrize("format", [name for name, format in SCORE_FORMATS.items() if format.written])
def test_no_format_writes_a_topic_that_would_be_read_as_a_total(format, tmp_path):
    scores = Scores(np.ones((1, 2, 1)), runs=["a"], topics=["1", "Mean"], measures=["AP"], collection="c")
    with pytest.raises(DataError, match="topic Mean: a topic cannot have this name"):
        write_scores(scores, tmp_path / "c", format=format)


KNOWN = {
    "run": ["a", "b"], "topic": ["t", "t"], "AP": [0.5, 0.25], "cost": [3, 4],
    "higher_is_better": [True, True], "collection": ["pilot"] * 2, "Unnamed: 0": [0, 1],
}  # fmt: skip


@pytest.mark.parametrize("drop", [[], ["higher_is_better"], ["collection"], ["higher_is_better", "collection"]])
def test_known_columns_beside_measures_keep_their_role(drop):
    scores = from_frame(pd.DataFrame(KNOWN).drop(columns=drop))
    assert [str(measure) for measure in scores.measures] == ["AP", "cost"]
    assert scores.measures[1].higher_is_better is (None if "higher_is_better" in drop else True)
    assert scores.collection == ("" if "collection" in drop else "pilot")


def test_of_a_frame_with_a_column_a_measure_one_is_chosen():
    scores = from_frame(pd.DataFrame(KNOWN), measure="cost")
    assert (list(map(str, scores.measures)), scores.values.ravel().tolist()) == (["cost"], [3, 4])
    for frame in (pd.DataFrame(KNOWN), scores.to_frame()):
        with pytest.raises(DataError, match="there is no measure 'nope' .there are"):
            from_frame(frame, measure="nope")


def test_rows_of_several_collections_are_chosen_from_a_frame_as_from_a_file(tmp_path):
    frame = pd.DataFrame({"run": ["a", "a"], "topic": ["t", "u"], "AP": [0.5, 1], "collection": ["c", "d"]})
    with pytest.raises(DataError, match="several collections: c, d"):
        from_frame(frame)
    assert from_frame(frame, collection="d").topics == ("u",)
    assert from_frame(frame, collection="both").topics == ("t", "u")


def test_true_and_false_are_scores_where_nothing_else_stands(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("model,question,correct\na,1,True\na,2,False\nb,1,true\nb,2,TRUE\n")
    for source in (path, pd.read_csv(path)):
        assert read_scores(source).values.ravel().tolist() == [1, 0, 1, 1]
    path.write_text("model,question,correct\na,1,True\na,2,0.5\nb,1,true\nb,2,1\n")
    with pytest.raises(DataError, match="the score 'True' is not a finite number"):
        read_scores(path)


def test_columns_that_are_called_as_topics_or_runs_are_no_measures(tmp_path):
    path = tmp_path / "mqm.csv"
    rows = [
        ("d1", 1, "a", -1),
        ("d1", 2, "a", -2),
        ("d2", 1, "a", 0),
        ("d1", 1, "b", -3),
        ("d1", 2, "b", 0),
        ("d2", 1, "b", -4),
    ]
    pd.DataFrame(rows, columns=["doc", "seg", "system", "MQM"]).to_csv(path, index=False)
    with (
        pytest.raises(DataError, match=r"'seg' tells them apart: .*columns=\{'topic': 'doc\+seg'\}"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        read_scores(path)
    scores = read_scores(path, columns={"topic": "doc+seg"})
    assert (scores.topics, [str(measure) for measure in scores.measures]) == (("d1/1", "d1/2", "d2/1"), ["MQM"])
    with pytest.warns(PolicyWarning, match="1 column not used: seg"):
        scores = read_scores(pd.read_csv(path).query("seg == 1"))
    assert (scores.topics, [str(measure) for measure in scores.measures]) == (("d1", "d2"), ["MQM"])


NO_SCORES = [
    # what is no table of scores, what the message says
    ("model,id,y_true,y_pred\na,1,0,1\na,2,1,1\nb,1,0,0\nb,2,1,1\n", "y_true, y_pred hold labels, not scores"),
    ("model,question_id,gold,predicted\na,1,0,1\na,2,1,1\nb,1,0,0\nb,2,1,1\n", "gold, predicted hold labels"),
    (",AP,RR\nAP,1,0.9\nRR,0.9,1\n", "its rows and columns have the same names"),
    ("1 0 d1 2\n1 0 d2 0\n", "its format cannot be detected"),
]


@pytest.mark.parametrize(("content", "message"), NO_SCORES)
def test_labels_correlations_and_judgements_are_no_scores(content, message, tmp_path):
    path = tmp_path / ("s.csv" if "," in content else "qrels.txt")
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_scores(path)


def test_a_column_of_words_beside_runs_is_left_out_and_named(tmp_path):
    path = tmp_path / "x_AP.csv"
    path.write_text("query,BM25,DPR,label\nq1,0.5,0.4,easy\nq2,0.1,0.2,hard\n")
    with pytest.warns(PolicyWarning, match="1 column not used: label"):
        assert read_scores(path).runs == ("BM25", "DPR")


@pytest.mark.parametrize("word", ["std", "Sum", "median", "Gesamt", "ALL (mean)"])
def test_a_word_among_numbered_topics_is_no_topic(word):
    rows = [(run, topic, 0.25 * number) for run in "ab" for number, topic in enumerate(("1", "2", "3", word))]
    frame = pd.DataFrame(rows, columns=["run", "topic", "AP"])
    with pytest.raises(DataError, match="it is the only topic that is no number"):
        from_frame(frame)
    assert from_frame(frame[frame["topic"] != word]).topics == ("1", "2", "3")
