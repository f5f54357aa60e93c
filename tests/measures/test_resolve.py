"""One door to a measure: names, files, functions and labels come out alike wherever they are given."""

import numpy as np
import pytest

import metaeval
from metaeval.errors import DataError, MeasureError, MetaevalWarning
from metaeval.measures.registry import _MEASURES
from metaeval.measures.resolve import measure, measure_of_label, resolve_measures

PLAIN = """
import numpy as np
print("the file was run")
def gap(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)
def accuracy(counts):
    return np.trace(counts) / counts.sum()
not_a_measure = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLAIN)
    return path


def gap(estimated, gold):
    return np.abs(estimated - gold).max(axis=-1)


@pytest.fixture
def runs():
    gold = np.random.default_rng(0).dirichlet(np.ones(3), 4)
    estimated = np.stack([gold, gold[:, ::-1], np.full_like(gold, 1 / 3)])
    return metaeval.QuantificationRuns(estimated, gold, runs=list("abc"), topics=range(4), classes=range(3))


def test_what_is_assumed_about_a_plain_function_is_said(file):
    with pytest.warns(MetaevalWarning, match="gap is not decorated: taken as a quantification .* lower is better"):
        found = measure(gap)
    assert (str(found), found.kind, found.higher_is_better) == ("gap", "quantification", False)
    with pytest.warns(MetaevalWarning, match="accuracy is not decorated: taken as a classification .* higher is bett"):
        found = measure(f"{file}:accuracy")
    assert (str(found), found.kind, found.higher_is_better) == ("accuracy", "classification", True)
    counts = np.array([[[3, 1], [0, 4]], [[2, 0], [0, 2]]])
    assert found.score(counts).tolist() == [0.875, 1.0], "it takes one topic at a time, and is called so"
    space = {}
    exec("def unnamed(a, b):\n    return abs(a - b).max(axis=-1)", space)  # noqa: S102  (written above)
    with pytest.warns(MetaevalWarning, match=r"called as unnamed\(estimated, gold\)"):
        measure(space["unnamed"])


DIVERGENCE = """
import numpy as np
import metaeval

def plain({first}, {second}):
    return ({gold} * np.log(({gold} + 0.001) / ({estimated} + 0.001))).sum(axis=-1)

@metaeval.register_measure(kind="quantification", higher_is_better=False, range=(-1, 9), name="decorated_{place}")
def decorated({first}, {second}):
    return plain({first}, {second})
"""


@pytest.mark.filterwarnings("ignore:.*not decorated")
@pytest.mark.parametrize("place", ["here", "file"])
@pytest.mark.parametrize("gold_first", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        *("estimated gold", "predicted gold", "y_pred y_true", "p gold_shares", "est q", "predicted_gold gold"),
        *("preds labels", "yPred yTrue", "run gold_run", "systems golds", "a b"),
    ],
)
def test_a_users_arrays_are_told_apart_by_their_names(names, gold_first, place, tmp_path, runs):
    estimated, gold = names.split()
    first, second = (gold, estimated) if gold_first and names != "a b" else (estimated, gold)
    path = tmp_path / "mine.py"
    path.write_text(DIVERGENCE.format(first=first, second=second, gold=gold, estimated=estimated, place=place))
    expected = np.array([[np.sum(g * np.log((g + 0.001) / (e + 0.001))) for e, g in zip(one, runs.gold, strict=True)]
                         for one in runs.estimated])  # fmt: skip
    defined = {"__name__": "here"}
    exec(path.read_text() if place == "here" else "", defined)  # noqa: S102  (written above)
    for form in ("plain", "decorated"):
        scores = metaeval.score(runs, defined[form] if place == "here" else f"{path}:{form}")
        np.testing.assert_allclose(scores.values[..., 0], expected, rtol=1e-12, atol=1e-15)
    _MEASURES.pop(f"decorated_{place}")


@pytest.mark.parametrize("arrays", [("gold", "reference"), ("predicted", "y_hat")])
def test_arrays_with_names_of_one_side_are_asked_about_and_counts_are_one_array(arrays):
    space = {}
    exec(f"def twice({', '.join(arrays)}):\n    return 0 * {arrays[0]}[..., 0]", space)  # noqa: S102  (written above)
    with pytest.raises(
        MeasureError, match=f"which of {' and '.join(arrays)} is the gold. call them gold and estimated"
    ):
        measure(space["twice"])
    counts = metaeval.ClassificationRuns([[[[2, 0], [1, 1]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
    with pytest.warns(MetaevalWarning), pytest.raises(MeasureError, match=r"of class counts is written gap\(counts\)"):
        metaeval.score(counts, gap)


@pytest.mark.filterwarnings("ignore:.*not decorated")
@pytest.mark.parametrize("form", ["function", "reference"])
def test_every_function_takes_a_plain_function_and_a_file(form, file, tmp_path, runs):
    mine = gap if form == "function" else f"{file}:gap"
    scores = metaeval.score(runs, ["NMD", mine])
    assert [str(one) for one in scores.measures] == ["NMD", "gap"]
    assert scores.sel(measures=mine).values.shape == (3, 4, 1)
    assert scores.matrix(mine).equals(scores.matrix("gap"))
    assert [str(one) for one in metaeval.coverage(scores, reference=mine, n_bootstrap=0).reference] == ["gap"]
    assert metaeval.properties(mine, n_random=0).measures[0].formula is not None
    metaeval.io.write_scores(scores, tmp_path / "scores.csv")
    assert [str(one) for one in metaeval.open_scores(str(tmp_path / "scores.csv"), [mine]).measures] == ["gap"]
    if form == "function":
        labelled = metaeval.Scores([[[0.5]]], runs=["a"], topics=["t"], measures=mine)
        assert labelled.measures[0].higher_is_better is False


@pytest.mark.filterwarnings("ignore:.*not decorated")
def test_a_file_that_is_named_twice_is_run_once_and_what_it_prints_is_no_output(file, capfd):
    for _ in range(3):
        resolve_measures([f"{file}:gap", f"{file}:accuracy"])
    printed = capfd.readouterr()
    assert (printed.out, printed.err.count("the file was run")) == ("", 1)


def test_two_files_of_one_name_do_not_take_each_others_measures(tmp_path):
    text = (
        "import metaeval\n"
        "@metaeval.register_measure(kind='quantification', higher_is_better=False, range=(0, 1))\n"
        "def only_one_of_me(estimated, gold):\n    return abs(estimated - gold).max(axis=-1)\n"
    )
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(text)
    found = measure(f"{tmp_path}/one/mine.py:only_one_of_me")
    assert measure(f"{tmp_path}/one/mine.py:only_one_of_me") is found
    with pytest.raises(MeasureError, match="there is a measure only_one_of_me already"):
        measure(f"{tmp_path}/two/mine.py:only_one_of_me")
    _MEASURES.pop("only_one_of_me")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("{file}:nothing", "has nothing called 'nothing'"),
        ("{file}:not_a_measure", "not_a_measure is not a measure"),
        ("{folder}/none.py:gap", "there is no file"),
        ("NMDD", "did you mean NMD"),
        (3, "3 is not a measure"),
        (dict, "is not a measure"),
        ("mine.py", r"mine\.py is a file of measures: name the function in it too, as mine\.py:my_measure"),
    ],
)
def test_what_is_no_measure_is_said_in_a_sentence(wanted, message, file):
    given = wanted.format(file=file, folder=file.parent) if isinstance(wanted, str) else wanted
    with pytest.raises(MeasureError, match=message):
        measure(given)


def test_a_measure_is_given_once_and_a_label_is_known_by_its_scores_where_it_is_not_registered():
    with pytest.raises(MeasureError, match="NMD is given twice"):
        resolve_measures(["NMD", measure("NMD")])
    with pytest.raises(MeasureError, match="cost is given twice"):
        resolve_measures(["cost", "cost"], labels=())
    assert measure_of_label("NMD").formula is not None
    assert measure_of_label("nDCG@20").higher_is_better is True
    assert measure_of_label("cost") == resolve_measures("cost", labels=())[0] == metaeval.Measure("cost")
    with pytest.raises(MeasureError, match="no measure 'cost'"):
        resolve_measures("cost")


def test_a_label_from_data_never_runs_a_file(file, capsys):
    label = f"{file}:gap"
    scores = metaeval.Scores([[[0.5]], [[0.2]]], runs=["a", "b"], topics=["t"], measures=[label])
    assert [str(one) for one in scores.sel(measures=[label]).measures] == [label]
    assert scores.matrix(label).shape == (2, 1)
    assert capsys.readouterr().out == ""
    with pytest.raises(DataError, match="there is no measure 'RNOD'"):
        scores.sel(measures="RNOD")
