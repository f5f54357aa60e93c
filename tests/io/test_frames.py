"""Frames of every kind and layout hold the same scores; what is no score, or no label, is refused and never guessed."""

import ast
import datetime
import io
import re
import sys
import tempfile
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

from metaeval import Measure, Scores
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.files import LARGEST_FILE_OPTION
from metaeval.io import from_frame, read_scores, table

VALUES = np.array([[[0.5, 1.0], [0.25, 0.5]], [[0.75, 0.0], [1.0, 0.125]]])
EXPECTED = Scores(VALUES, runs=["a", "b"], topics=["1", "2"], measures=["AP", "RR"])
TIDY = EXPECTED.to_frame()
INDEXED = TIDY.set_index(["run", "topic", "measure"])
WIDE = {name: EXPECTED.matrix(name).T for name in ("AP", "RR")}


def polars_frame(frame):
    """A stand-in that answers as polars does, which is not among the packages of the tests."""
    kind = type("DataFrame", (), {"__module__": "polars.dataframe.frame"})
    kind.__arrow_c_stream__ = lambda _, schema=None: arrow_table(frame).__arrow_c_stream__(schema)
    return kind()


def arrow_table(frame):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: frame[name].tolist() for name in frame.columns})


LAYOUTS = {
    "tidy": lambda: TIDY,
    "shuffled": lambda: TIDY.sample(frac=1, random_state=1),
    "polars": lambda: polars_frame(TIDY),
    "Arrow": lambda: arrow_table(TIDY),
    "a series with three levels": lambda: INDEXED["score"],
    "an index of three levels": lambda: INDEXED,
    "an index of two levels, a column a measure": lambda: INDEXED["score"].unstack("measure"),
    "a column a measure": lambda: INDEXED["score"].unstack("measure").reset_index(),
    "wide frames": lambda: WIDE,
    "records": lambda: TIDY.to_dict("records"),
    "columns in a mapping": lambda: TIDY.to_dict("list"),
    "categories": lambda: TIDY.astype({"run": "category", "measure": "category"}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_holds_the_same_scores(layout):
    scores = read_scores(LAYOUTS[layout]())
    same = scores.sel(runs=EXPECTED.runs, topics=EXPECTED.topics, measures=["AP", "RR"])
    assert (same.values == VALUES).all()
    assert scores.values.shape == VALUES.shape


JUDGED = pd.DataFrame(
    [(model, item, metric, np.sin(10 * m + 3 * i + k))
     for m, model in enumerate("xyz") for i, item in enumerate("pq") for k, metric in enumerate(["accuracy", "rubric", "f1"])],
    columns=["model", "item", "metric", "score"],
)  # fmt: skip
PIVOT = JUDGED.pivot(index="item", columns=["metric", "model"], values="score").rename_axis(columns=[None, "model"])


def test_columns_of_several_levels_are_rows_first():
    with pytest.raises(DataError, match=r"the columns have the levels None, 'model', .*frame.stack\(…\).reset_index"):
        from_frame(PIVOT)
    names = PIVOT.rename_axis(columns=["metric", "model"])
    assert from_frame(names.stack([0, 1], future_stack=True).rename("score").reset_index()).values.shape == (3, 2, 3)


BY_SYSTEM = pd.DataFrame(
    {f"System {run} {name}": np.arange(4) / 8 + run * len(name) for run in (1, 2, 3) for name in ("rbog", "acc")},
    index=pd.Index(["p", "q", "r", "s"], name="question"),
)


@pytest.mark.parametrize(
    ("rename", "asked"),
    [
        (str, "3 runs by 2 measures (rbog, acc)"),
        (lambda name: name.replace("acc", "quality"), "3 runs by 2 measures (rbog, quality)"),
        (lambda name: name.replace(" ", "-").replace("acc", "exact_match"), "3 runs by 2 measures (rbog, exact_match)"),
        (lambda name: f"{name[9:]}: {name[:8]}", "3 runs by 2 measures (rbog, acc)"),
        (lambda name: name.replace("System ", "bm").replace("acc", "title"), None),
        (lambda name: f"{name[7]}-{len(name)}", None),
    ],
)  # fmt: skip
def test_columns_that_may_be_runs_by_measures_are_asked_about(rename, asked, tmp_path):
    pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    frame = BY_SYSTEM.rename(columns=rename)
    frame.to_csv(tmp_path / "c_ap.csv")
    frame.to_excel(tmp_path / "c_ap.xlsx")
    for path in (tmp_path / "c_ap.csv", tmp_path / "c_ap.xlsx"):
        if asked is None:
            assert read_scores(path).runs == tuple(frame)
            continue
        with pytest.raises(DataError, match=re.escape(f"are these 6 columns as many runs, or {asked}")) as told:
            read_scores(path)
        assert read_scores(path, format="wide").runs == tuple(frame)
        scores = read_scores(path, columns=ast.literal_eval(told.value.hint.partition("columns=")[2]))
        kept = [name for name in frame if "rbog" in name]
        np.testing.assert_array_equal(scores.matrix("AP").loc[kept], frame[kept].T)
        assert len(scores.runs) == 3
    if asked is not None:
        with pytest.raises(DataError, match=r"or 3 runs by 2 measures .*runs: columns=\{'run': "):
            from_frame(frame, measure="AP")
        assert len(from_frame(frame, measure="AP", columns={"run": frame.columns[0]}).runs) == 6


def test_a_table_with_two_columns_that_may_name_measures_is_asked_about_unless_one_tells_nothing(tmp_path):
    both = JUDGED.assign(evaluator=[f"judge of {name}" for name in JUDGED["metric"]])
    both.to_csv(tmp_path / "s.csv", index=False)
    for given in (both, both[["evaluator", *JUDGED]], tmp_path / "s.csv"):
        with pytest.raises(DataError, match=r"which column names the measures: '\w+', '\w+'\? .*columns=\{'measure': "):
            read_scores(given)
    joined = read_scores(both, columns={"measure": "metric+evaluator"})
    assert str(joined.measures[0]) == "accuracy/judge of accuracy"
    for name in ("aaa", "zzz"):
        with pytest.warns(PolicyWarning, match="1 column not used: evaluator"):
            scores = read_scores(JUDGED.assign(evaluator=name)[["evaluator", *JUDGED]])
        assert scores.matrix("rubric").loc["y", "q"] == PIVOT.loc["q", ("rubric", "y")]


@pytest.mark.parametrize("measure", ["RR", Measure("RR", False)], ids=["name", "Measure"])
@pytest.mark.parametrize("layout", ["a column a measure", "wide frames", "an index of three levels"])
def test_a_named_measure_is_the_only_one_read_of_a_frame(layout, measure):
    scores = from_frame(LAYOUTS[layout](), measure=measure)
    assert scores.values.tolist() == VALUES[:, :, [1]].tolist()
    with pytest.raises(DataError, match=r"there is no measure 'nDCG' \(.*there are AP, RR\)"):
        from_frame(LAYOUTS[layout](), measure="nDCG")


@pytest.mark.parametrize("frame", [WIDE, WIDE["AP"], WIDE["AP"].T], ids=["by measure", "wide", "transposed"])
def test_doubled_scores_of_matrices_are_settled_as_those_of_rows_are(frame):
    doubled = lambda part: pd.concat([part, part + 1])  # noqa: E731
    more = {name: doubled(part) for name, part in frame.items()} if frame is WIDE else doubled(frame)
    options = {} if frame is WIDE else {"measure": "AP", "format": "transposed" if "a" in frame.index else "wide"}
    with pytest.raises(DataError, match="there is a second score"):
        from_frame(more, **options)
    with pytest.warns(PolicyWarning, match="cells had several scores: the mean was taken"):
        scores = from_frame(more, **options, doubled="mean")
    np.testing.assert_allclose(scores.values, from_frame(frame, **options).values + 0.5)


def test_columns_that_are_called_otherwise_are_mapped():
    names = {"run": "system", "topic": "segment", "score": "value"}
    frame = TIDY.rename(columns=names).assign(run="a column that means something else")
    with pytest.warns(PolicyWarning, match="1 column not used: run"):
        assert from_frame(frame, columns=names) == EXPECTED
    with pytest.raises(DataError, match="there is no column 'sys' to be the run .columns: system, "):
        from_frame(frame, columns={"run": "sys"})


NO_SCORES = [
    pd.date_range("2020-01-01", periods=3), pd.to_timedelta([1, 2, 3], unit="s"), [0.1, datetime.datetime(2020, 1, 1), 0.2],
    pd.Series([0.1, 1 + 2j, 0.2], dtype=object), [b"1", b"2", b"3"], [[1], [2], [3]],
]  # fmt: skip


@pytest.mark.parametrize("scores", NO_SCORES, ids=repr)
def test_what_is_no_number_is_no_score(scores):
    rows = pd.DataFrame({"run": ["a", "b", "c"], "topic": "t", "measure": "AP", "score": scores})
    for frame, options in ((rows, {}), (pd.DataFrame({"a": scores}), {"measure": "AP"})):
        with pytest.raises(DataError, match="is not a finite number"):
            from_frame(frame, **options)


@pytest.mark.parametrize("runs", [[1, 1.0, True], [1, "1", 2], [0, False, "x"], [("a",), "a", "b"], [b"a", "a", "b"]])
def test_labels_of_several_types_are_refused_and_never_merged(runs):
    labels = pd.Series(runs, dtype=object)
    with pytest.raises(DataError, match="the runs are of several types"):
        from_frame(pd.DataFrame({"run": labels, "topic": "t", "measure": "AP", "score": [1.0, 2.0, 3.0]}))


def test_dropping_topics_of_a_sparse_file_leaves_what_is_whole():
    rows = [(f"r{r}", f"t{t}", r + t / 100) for r in range(30) for t in range(2)]
    rows += [("r0", f"only{t}", 0.0) for t in range(400)]
    with pytest.warns(PolicyWarning, match="left out 400 of 402 topics"):
        scores = from_frame(pd.DataFrame(rows, columns=["run", "topic", "AP"]), missing="drop-topic")
    assert scores.topics == ("t0", "t1")
    assert scores.values[:, :, 0].tolist() == [[r, r + 0.01] for r in range(30)]


def test_a_file_beyond_the_bound_is_refused_and_the_bound_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "s.csv"
    TIDY.to_csv(path, index=False)
    monkeypatch.setenv(LARGEST_FILE_OPTION, "50")
    with pytest.raises(DataError, match="more than the 50 that are read .*METAEVAL_LARGEST_FILE"):
        read_scores(path)
    monkeypatch.setenv(LARGEST_FILE_OPTION, "many")
    with pytest.raises(MetaevalError, match="METAEVAL_LARGEST_FILE=many is not a number of bytes"):
        read_scores(path)
    monkeypatch.setenv(LARGEST_FILE_OPTION, "5000")
    assert (read_scores(path).values == VALUES).all()


def test_standard_input_is_read_once_and_its_format_told(monkeypatch):
    content = io.BytesIO(TIDY.to_csv(index=False).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    scores = read_scores("-")
    assert (scores.values == VALUES).all()
    assert scores.collection == "stdin"


CELLS = st.text(st.sampled_from("a1.,;é -_eE+'\x0b\u2028"), max_size=4)


@hypothesis.settings(deadline=None)
@hypothesis.given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.sampled_from(",;\t|"), st.booleans()
)
def test_long_texts_are_read_as_short_ones_are(rows, delimiter, ends):
    """Arrow reads what is longer than a bound; cells, lines and what is refused are those of the csv module."""
    lines = [delimiter.join(("run", "topic", "AP")), *(delimiter.join(cells) for cells in rows)]
    text = "\n".join(lines) + "\n" * ends
    found = []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "s.csv"
        path.write_text(text, encoding="utf-8", newline="")
        for bound in (1 << 20, -1):
            patch.setattr(table, "_LONG", bound)
            try:
                read = table.read_table(path)
                found.append([read.header, [list(read.columns[name]) for name in read.header], list(read.lines)])
            except DataError as error:
                found.append([str(error)])
    assert found[0] == found[1]


def test_an_array_with_names_is_a_series_first():
    with pytest.raises(DataError, match=r"to_series\(\) or to_dataframe\(\)"):
        from_frame(type("DataArray", (), {"dims": ("run", "topic")})())
    series = TIDY.set_index(["run", "topic", "measure"])["score"]
    assert (from_frame(series).sel(measures=["AP", "RR"]).values == VALUES).all()
