"""Columns beside scores: clusters, repeats, judges, tasks, and probabilities of labels that people gave a part of."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import DataError, PolicyWarning
from metaeval.io.partial_scores import read_partial, read_ratings
from tests.io.cases import put

pytestmark = pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")  # columns that are not used

CLUSTERED = {"run": "run", "topic": "segment", "cluster": "doc"}
ONCE = lambda table: table[table["seed"] == 1]  # noqa: E731


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    rows = [
        (run, f"d{doc}s{segment}", f"d{doc}", seed, rng.normal())
        for run in "abc" for doc in range(3) for segment in range(doc + 1) for seed in (1, 2, 3)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["run", "segment", "doc", "seed", "X"])


def write(folder, frame, name="s.csv"):
    return put(folder, {name: frame.to_csv(index=False)})


def test_scores_are_the_means_of_repeats_and_their_noise_is_the_variance_within_cells(tmp_path, table):
    scores = me.open_scores(write(tmp_path, table), columns=CLUSTERED | {"repeat": "seed"})
    cells = table.groupby(["run", "segment"])["X"]
    expected = cells.mean().unstack()[list(scores.topics)]
    np.testing.assert_allclose(scores.values[..., 0], expected)
    assert scores.repeats["X"].count == 3
    assert scores.repeats["X"].variance == pytest.approx(cells.var().mean())
    assert scores.clusters == tuple(topic[:2] for topic in scores.topics)
    notes = me.discriminative_power(scores, n_permutations=20).notes(short=True)
    assert any("scores are means of 3 repeats, which leave up to" in note for note in notes)


def test_a_note_on_repeats_names_a_share_or_says_nothing_of_one():
    """Cells that lack a repeat do not hide what the others tell; where every cell lacks one, nothing is known."""
    cells = np.random.default_rng(0).random((3, 6, 2))  # runs, topics with two repeats each, measures
    cells[0, 0] = cells[:, ::2, 1] = np.nan
    index = pd.MultiIndex.from_product([[*"abc"], range(3), range(2)], names=["run", "topic", "seed"])
    frame = pd.DataFrame(cells.reshape(-1, 2), index, columns=["X", "Y"]).reset_index()
    read = me.io.from_frame(frame, columns={"repeat": "seed"}, missing="keep")
    some, none = read.repeats["X"], read.repeats["Y"]
    pairs = cells[..., 0].reshape(-1, 2)[1:]
    assert some.variance == pytest.approx((np.diff(pairs) ** 2).mean() / 2)
    values = np.random.default_rng(1).random((3, 4, 1))
    for repeats, said in ((some, True), (none, False)):
        scores = me.Scores(values, runs=list("abc"), topics=list("wxyz"), measures=["X"], repeats={"X": repeats})
        notes = me.discriminative_power(scores, n_permutations=20, n_bootstrap=0).notes()
        assert any("% of the noise" in note for note in notes) == said
        assert not any("nan" in note for note in notes)


def test_repeats_survive_a_store_with_the_measures_they_are_of_and_count_where_scores_are_compared(tmp_path, table):
    table = table.assign(Y=table["X"] ** 2)
    repeated = me.open_scores(write(tmp_path, table), columns=CLUSTERED | {"repeat": "seed"})
    groups = table.groupby(["run", "segment"])
    expected = {name: (3, pytest.approx(groups[name].var().mean())) for name in "XY"}
    store = me.ScoreStore(tmp_path / "store")
    store.add(repeated, collection="s")
    found = store.load("s")
    assert found == repeated
    assert {name: (each.count, each.variance) for name, each in found.repeats.items()} == expected
    assert store.load("s", "Y").repeats == repeated.sel(measures="Y").repeats == {"Y": repeated.repeats["Y"]}
    told = [me.discriminative_power(scores, n_permutations=20).notes() for scores in (repeated, found)]
    assert told[0] == told[1]
    once = dataclasses.replace(repeated, repeats={})
    assert once != repeated
    store.add(once.sel(measures="X"), collection="s")  # its former scores were means of three, these are not
    assert store.load("s").repeats == {"Y": repeated.repeats["Y"]}
    store.add(once, collection="old", replace=True)
    assert store.load("old") == dataclasses.replace(once, collection="old")


def test_clusters_survive_files_and_stores(tmp_path, table):
    once = table[table["seed"] == 1].drop(columns="seed")
    scores = me.open_scores(write(tmp_path, once), columns=CLUSTERED)
    for name in ("t.csv", "t.parquet"):
        me.io.write_scores(scores, tmp_path / name)
        assert me.open_scores(tmp_path / name, columns={"cluster": "cluster"}) == scores
        assert me.open_scores(tmp_path / name).clusters == ()  # nobody said that the column holds clusters
    store = me.ScoreStore(tmp_path / "store")
    store.add(scores, collection="mine")
    assert store.load("mine").clusters == scores.clusters
    wide = once.pivot(index=["segment", "doc"], columns="run", values="X").reset_index()
    with pytest.raises(DataError, match="in a table of topics × runs no column is the cluster"):
        me.open_scores(write(tmp_path, wide, "w_ap.csv"), columns={"topic": "segment", "cluster": "doc"})


@pytest.mark.parametrize(
    ("change", "columns", "message"),
    [
        (lambda t: t[t["seed"] < 3 - (t["segment"] == "d1s0")], {"repeat": "seed"}, "topic d1s0, repeat 2.*are unequal"),
        (lambda t: t[(t["seed"] < 3) | (t["run"] != "b")], {"repeat": "seed"}, "run b, topic d0s0, repeat 3.*are unequal"),
        (ONCE, {"repeat": "seed"}, "the only repeat is '1'; at least two tell"),
        (lambda t: ONCE(t).assign(doc=t["doc"] + t["run"]), {"cluster": "doc"}, "two clusters, 'd0a' and 'd0b'"),
        (lambda t: ONCE(t).assign(doc=None), {"cluster": "doc"}, "the cluster is missing"),
        (lambda t: ONCE(t).assign(task=t["segment"].str[3:], doc="d"), {"cluster": "doc", "collection": "task"},
         "the cluster 'd' spans the collections 0 and 1"),
        (ONCE, {"cluster": "document"}, "there is no column 'document' to be the cluster"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_sentence(tmp_path, table, change, columns, message):
    columns = {"run": "run", "topic": "segment", **columns}
    with pytest.raises(DataError, match=message):
        me.datasets.open.open_collections(write(tmp_path, change(table)), columns=columns)


def test_ratings_keep_gaps_repeats_judges_and_tasks_and_settle_doubles_as_everywhere(tmp_path, table):
    table = table.assign(judge=["x", "y"] * (len(table) // 2), Y=table["X"].where(table.index % 5 > 0))
    columns = {"run": "run", "topic": "segment", "repeat": "seed", "judge": "judge", "task": "doc"}
    ratings = read_ratings(write(tmp_path, table), columns=columns)
    assert ratings.facets == ("run", "task", "topic", "judge", "repeat")
    counts = ratings.frame["measure"].value_counts()
    assert counts.to_dict() == {"X": len(table), "Y": table["Y"].notna().sum()}
    one = read_ratings(write(tmp_path, table), columns=columns, measure="Y")
    assert [str(measure) for measure in one.measures] == ["Y"]
    assert read_ratings(write(tmp_path, table), columns=columns, measure=["Y", "X"]).frame.equals(ratings.frame)
    again = write(tmp_path, pd.concat([table, table.assign(X=table["X"] + 2)]))
    mean = read_ratings(again, columns=columns, measure="X", doubled="mean").frame["score"]
    assert mean.mean() == pytest.approx(table["X"].mean() + 1)
    with pytest.raises(DataError, match="second score"):
        read_ratings(again, columns=columns)
    (tmp_path / "web_ap.csv").write_text("topic,a,b,c\n1,.1,.2,\n2,.3,,.5\n3,.1,.6,.4\n")
    gappy = read_ratings(tmp_path / "web_ap.csv")
    assert (len(gappy.frame), str(gappy.measures[0])) == (7, "AP")


@pytest.mark.parametrize(
    ("third", "rows", "message"),
    [
        ("judge", [("a", "t", "k", 1), ("a", "u", "k", 1), ("b", "t", "k", 1)], "there is one judge only, 'k'"),
        ("judge", [("a", "t", "k", 1), ("a", "t", "k", 2), ("b", "u", "l", 1)], "there is a second score, 2"),
        ("judge", [("a", "t", "k", 1), ("a", "u", "l", np.inf), ("b", "u", "l", 1)], "not a finite number"),
        ("judge", [("a", "t", "k", 1), ("a", "u", "l", 1)], "there is one run only"),
        ("task", [("a", "t", "A", 1.0), ("b", "t", "B", 1.0), ("a", "u", "A", 1.0)], "topic t: it lies in two tasks"),
    ],
)
def test_ratings_that_say_nothing_are_refused(third, rows, message):
    with pytest.raises(DataError, match=message):
        me.Ratings(pd.DataFrame(rows, columns=["run", "topic", third, "score"]))


nan = np.nan
GAPPY = "run,topic,score\na,t1,1\na,t2,\nb,t1,0.5\nb,t2,0.25\n"
LABELLED = "run topic score probability\na t1 1 0.5\na t2  0.25\nb t1 0.0 0.5\nb t2 1.0 0.25\n"
DOUBLED = "run;topic;score;probability\na;t1;1;{0}\na;t1;0;{1}\nb;t1;1;{0}\n"


def chosen(separator, point):
    """Return labels with the probabilities with which they were chosen."""
    return LABELLED.replace(" ", separator).replace(".", point)


def test_rows_without_a_score_are_gaps_in_every_layout(tmp_path):
    tidy = put(tmp_path, {"few.csv": GAPPY})
    lacking = put(tmp_path, {"tidy.csv": "run,topic,measure,score\na,t1,AP,1\nb,t1,AP,0.5\nb,t2,AP,0.25\n"})
    named = put(tmp_path, {"named.csv": "run,topic,AP\na,t1,1\nb,t1,0.5\nb,t2,0.25\n"})
    wide = put(tmp_path, {"ap.csv": "topic,a,b\nt1,1,0.5\nt2,,0.25\n"})
    for source in (tidy, lacking, named, wide, pd.read_csv(tidy), pd.read_csv(named)):
        found = read_partial(source)
        assert (found.scores.runs, found.scores.topics, found.probabilities) == (("a", "b"), ("t1", "t2"), None)
        np.testing.assert_array_equal(found.values, [[1.0, nan], [0.5, 0.25]])
    assert str(read_partial(named).measure) == "AP"
    whole = read_partial(me.Scores([[[0.5], [0.25]]], runs=["a"], topics=["t1", "t2"], measures=["AP"]))
    assert whole.values.tolist() == [[0.5, 0.25]]
    assert read_partial(whole) is whole


@pytest.mark.parametrize(("separator", "point"), [(",", "."), (";", ","), (";", ".")])
def test_probabilities_stand_beside_their_scores(separator, point, tmp_path):
    found = read_partial(put(tmp_path, chosen(separator, point)))
    np.testing.assert_array_equal(found.probabilities, [[0.5, 0.25], [0.5, 0.25]])
    np.testing.assert_array_equal(found.values, [[1, nan], [0, 1]])


MISTAKES = [
    (chosen(",", ".").replace("0.5\n", "0\n"), r"s\.csv:2: the probability is 0; it lies above 0 and is at most"),
    (chosen(";", ",").replace("0,25\n", "-0,5\n"), r"s\.csv:3: the probability is -0\.5"),
    (chosen(";", ",").replace("0,5\n", "1,5\n"), r"s\.csv:2: the probability is 1\.5"),
    (chosen(",", ".").replace("0.5\n", "half\n"), "the score 'half' is not a finite number"),
    (chosen(",", ".").replace("0.5\n", "\n"), "run a, topic t1: a label has no probability"),
    ("run,topic,AP\na,t1,1\nb,t1,1\na,t1,0\n", r"s\.csv:4: run a, topic t1, measure AP: there is a second score, 0"),
    ("run,topic,score\na,t1,\nb,t1,\n", "nothing is labelled: every score is missing"),
    ("run,topic,AP,RR\na,t1,1,0\n", r"labels of people are of one measure; there are 2 \(AP, RR\)"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_in_labels_of_a_part_is_one_sentence(text, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_partial(put(tmp_path, text))


def test_doubled_labels_can_be_averaged_unless_they_were_chosen_with_several_probabilities(tmp_path):
    with pytest.warns(PolicyWarning, match="1 cell had several scores: the mean was taken"):
        found = read_partial(put(tmp_path, DOUBLED.format("0.5", "0.5")), doubled="mean")
    assert (found.values.tolist(), found.probabilities.tolist()) == ([[0.5], [1.0]], [[0.5], [0.5]])
    message = "run a, topic t1: its labels have several probabilities .*the same for all"
    for first, second in (("0.1", "0.9"), ("0,1", "0,9"), ("0.1", "")):
        with pytest.warns(PolicyWarning), pytest.raises(DataError, match=message):
            read_partial(put(tmp_path, DOUBLED.format(first, second)), doubled="mean")
