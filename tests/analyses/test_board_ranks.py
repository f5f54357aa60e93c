"""Ranks of boards: LiveBench read plainly, coverage, what is refused, and what does not change a result."""

import json
import os
import warnings
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.data.scores import PartialScores
from metaeval.errors import MetaevalError
from metaeval.io import read_collections
from tests.analyses.made import label

FILE = Path(os.environ.get("METAEVAL_DATA", "")) / "evals" / "livebench" / "livebench_13012025.parquet"
needs_livebench = pytest.mark.skipif(not FILE.is_file(), reason="needs evals/ in the folder that METAEVAL_DATA names")
AGGREGATES = ["mean", "win-rate", "borda"]


def make_tasks(n_runs=6, sizes=(20, 30, 25), seed=0, steps=0.3, measure="accuracy"):
    rng = np.random.default_rng(seed)
    quality = steps * np.arange(n_runs)[::-1]
    return [
        label(
            quality[:, None] + rng.standard_normal((n_runs, size)), [me.Measure(measure, higher_is_better=True)],
            f"task{number}", topics=[f"{number}-{topic}" for topic in range(size)],
        )
        for number, size in enumerate(sizes)
    ]  # fmt: skip


def rank(tasks, **options):
    return me.board_ranks(tasks, **options).to_frame()


@pytest.fixture(scope="module")
def livebench():
    """The tasks as the package reads them, and the same as a plain table of runs × (task, topic)."""
    columns = {"collection": "task", "ignore": "turn+category"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = read_collections(FILE, columns=columns, doubled="latest", missing="keep", higher_is_better=True)
    frame = pd.read_parquet(FILE).sort_values("tstamp", kind="stable")
    latest = frame.groupby(["model", "task", "question_id"])["score"].last()
    return tasks, latest.unstack(["task", "question_id"]).sort_index()


@needs_livebench
@pytest.mark.parametrize(("gaps", "n_runs"), [("complete", 41), ("present", 93)])
def test_livebench_is_read_as_plainly(livebench, gaps, n_runs):
    tasks, table = livebench
    table = table.dropna() if gaps == "complete" else table
    assert len(table) == n_runs
    beaten, others = [], []
    for task in tasks:
        means = table[task.collection].mean(axis=1).to_numpy()
        leads = means[:, None] - means[None, :]
        np.fill_diagonal(leads, np.nan)
        wins = np.where(np.abs(leads) <= 1e-9, 0.5, leads > 0)
        beaten.append(np.where(np.isnan(leads), 0, wins).sum(axis=1))
        others.append((~np.isnan(leads)).sum(axis=1))
    shares = pd.DataFrame(
        np.divide(beaten, others, where=np.array(others) > 0, out=np.full(np.shape(beaten), np.nan)).T
    )
    expected = {"win-rate": shares.mean(axis=1).to_numpy(), "borda": np.sum(beaten, axis=0)}
    for aggregate, numbers in expected.items():
        found = rank(tasks, aggregate=aggregate, gaps=gaps, n_bootstrap=100).set_index("run").loc[table.index]
        np.testing.assert_allclose(found["mean"], numbers, atol=1e-9)
        order = pd.Series(numbers).round(9).rank(ascending=False, method="min")
        assert found["rank"].tolist() == order.astype(int).tolist()


@needs_livebench
def test_livebench_counts_what_is_partial_and_lacking(livebench):
    tasks, table = livebench
    missing = table.isna().T.groupby("task").mean().T
    found = me.board_ranks(tasks, gaps="present", n_bootstrap=100)
    frame = found.to_frame().set_index("run").loc[table.index]
    assert frame["partial"].tolist() == ((missing > 0) & (missing < 1)).sum(axis=1).tolist()
    assert frame["lacking"].tolist() == (missing == 1).sum(axis=1).tolist()
    assert "160 lack some topics and 92 lack all topics" in found.notes()[0]
    same = table.nunique() == 1
    solved = found.tasks.set_index("task")[["all_solve", "none_solve"]]
    for task, counts in solved.iterrows():
        ends = table[task].max().max(), table[task].min().min()
        assert counts.tolist() == [
            sum(same[topic] and table[topic].max() == end for topic in table[[task]]) for end in ends
        ]


@pytest.mark.parametrize("options", [{}, {"aggregate": "win-rate"}, {"gaps": "present"}])
def test_the_sentence_to_paste_says_that_skewed_differences_may_make_sets_too_narrow(options):
    rng = np.random.default_rng(3)
    share = np.where(np.arange(12) < 6, 0.05, 0.5)[:, None]
    rare = [me.Scores(
        (rng.random((12, 50)) < share)[..., None] / share[..., None], runs=range(12), topics=range(50), measures=["accuracy"],
        collection=name,
    ) for name in "abc"]  # fmt: skip
    for tasks, skewed in ((rare, True), (make_tasks(12), False)):
        found = me.board_ranks(tasks, n_bootstrap=100, **options)
        assert ("rank sets, perhaps too narrow since differences are skewed" in found.sentence) == skewed
        assert any("may miss more often than they claim" in note for note in found.notes()) == skewed


def test_a_run_with_rank_one_among_its_ranks_need_not_be_one_that_may_be_first():
    boards = [me.board_ranks(make_tasks(12, (40,), seed=seed, steps=0), n_bootstrap=200) for seed in range(20)]
    rows = [board.to_frame() for board in boards]
    assert all((each.loc[each["near_first"], "low"] == 1).all() for each in rows)
    assert any((each["low"].eq(1) & ~each["near_first"]).any() for each in rows)


def in_clusters(task, rng, size=3):
    """A task in which each topic is a cluster of `size` topics whose scores have its score as their mean."""
    noise = rng.normal(size=(*task.values.shape[:2], size, 1))
    values = task.values[:, :, None] + noise - noise.mean(axis=2, keepdims=True)
    topics = [f"{topic}-{k}" for topic in task.topics for k in range(size)]
    clusters = [topic for topic in task.topics for _ in range(size)]
    flat = values.reshape(len(task.runs), -1, 1)
    return label(flat, task.measures, task.collection, runs=task.runs, topics=topics, clusters=clusters)


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_clusters_of_equal_sizes_are_drawn_as_topics_with_their_means_are(aggregate):
    tasks, rng = make_tasks(), np.random.default_rng(6)
    alone = me.board_ranks(tasks, aggregate=aggregate)
    clustered = me.board_ranks([in_clusters(task, rng) for task in tasks], aggregate=aggregate)
    columns = ["run", "rank", "low", "high", "letters", "near_first"]
    pd.testing.assert_frame_equal(alone.to_frame()[columns], clustered.to_frame()[columns])
    assert "clusters=75 of 225 topics" in str(clustered.signature).replace("clusters ", "clusters=")
    notes = " ".join(clustered.notes())
    assert "225 topics come in 75 clusters" in notes
    assert "it counts clusters" not in notes  # the sentence and the tasks count topics


@pytest.mark.parametrize("aggregate", ["mean", "borda"])
def test_a_run_with_one_topic_of_a_task_is_separated_from_none(aggregate):
    first, *others = make_tasks()
    values = first.values.copy()
    values[0, 1:] = np.nan
    labels = {"runs": first.runs, "topics": first.topics, "measures": first.measures, "collection": "task0"}
    whole = me.board_ranks([first, *others], aggregate=aggregate)
    found = me.board_ranks([PartialScores(values, **labels), *others], gaps="present", aggregate=aggregate)
    assert found.to_frame().set_index("run").loc["r00", ["low", "high"]].tolist() == [1, 6]
    assert any("of r00 there is a task with one topic" in note for note in found.notes())
    assert found.differ.sum() >= whole.differ[0, 1:, 1:].sum() / 2  # the others are compared as before


@pytest.mark.parametrize("options", [{}, {"aggregate": "borda"}])
def test_neither_the_order_of_rows_nor_that_of_tasks_changes_anything(options):
    tasks = make_tasks()
    turned = [task.sel(runs=task.runs[::-1], topics=task.topics[::-1]) for task in tasks[::-1]]
    first, second = (me.board_ranks(each, **options) for each in (tasks, turned))
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())
    pd.testing.assert_frame_equal(first.tasks, second.tasks)


@pytest.mark.parametrize("factor", [2.0**-600, 2.0**500, -1.0])
def test_neither_the_unit_nor_the_direction_of_scores_changes_anything_but_the_means(factor):
    tasks, measures = make_tasks(), [me.Measure("accuracy", higher_is_better=factor > 0)]
    first = rank(tasks)
    second = rank([replace(task, values=task.values * factor, measures=measures) for task in tasks])
    ends = ["mean", "mean_low", "mean_high"] if factor > 0 else ["mean", "mean_high", "mean_low"]
    scaled = dict(zip(["mean", "mean_low", "mean_high"], (first[ends] * factor).to_numpy().T, strict=True))
    pd.testing.assert_frame_equal(first.assign(**scaled), second)


def test_the_sentence_says_what_was_resampled_json_holds_it_and_every_run_is_drawn(tmp_path):
    tasks = make_tasks(sizes=(12,) * 6)
    found = me.board_ranks(tasks)
    assert "topics resampled within tasks" in found.sentence
    held = json.loads(json.dumps(found.to_dict()))
    assert held["settings"]["sentence"] == found.sentence
    assert {"summary", "tasks"} <= set(held["details"])
    found.write_tables(tmp_path, "ranks")
    assert (tmp_path / "ranks.tex").read_text("utf-8").count(r"\begin{table") >= 2
    (axes,) = found.plot().axes
    assert [text.get_text() for text in axes.get_yticklabels()][::-1] == found.to_frame()["run"].tolist()


def one_run(tasks):
    return [*tasks[:2], tasks[2].sel(runs=["r00"])]


def other_measure(tasks):
    return [*tasks[:2], *make_tasks(sizes=(5, 5, 5), measure="BLEU")[2:]]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (one_run, {"gaps": "present"}, "task2 has scores of r00 only"),
        (one_run, {}, "5 of 6 runs lack scores: choose what to do with gaps=present or complete"),
        (one_run, {"gaps": "complete"}, "too few runs are complete: 1 of 6"),
        (None, {"aggregate": "median"}, "there is no aggregate 'median'"),
        (None, {"gaps": "drop"}, "there is no policy for gaps 'drop'"),
        (None, {"n_bootstrap": 10}, "n_bootstrap is 10"),
        (other_measure, {}, "such as accuracy and BLEU, which have no mean: use aggregate=win-rate"),
        (lambda tasks: [*tasks, tasks[0]], {}, "task0 is there twice"),
        (lambda tasks: [], {}, "at least one task"),
        (lambda tasks: tasks[0].sel(topics=["0-1"]), {}, "task0 has one topic"),
        (lambda tasks: [5], {}, "analyses take Scores, not int"),
        (lambda tasks: None, {}, "analyses take Scores, not NoneType"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_a_sentence(change, options, message):
    tasks = make_tasks()
    with pytest.raises(MetaevalError, match=message):
        me.board_ranks(change(tasks) if change else tasks, **options)


def test_tasks_of_unlike_measures_can_be_ranked_by_win_rate():
    found = me.board_ranks(other_measure(make_tasks()), aggregate="win-rate")
    assert found.sentence.startswith("Of 6 runs ranked by mean win rate (several measures; 3 tasks, ")


def test_scores_with_gaps_are_for_boards_only(tmp_path):
    rows = [(run, topic, run + topic) for run, topic in permutations(range(4), 2)]
    frame = pd.DataFrame(rows, columns=["run", "topic", "score"])
    (scores,) = read_collections(frame, missing="keep", measure="AP")
    assert isinstance(scores, PartialScores)
    assert np.isnan(scores.values).sum() == 4
    for refuse in (
        lambda: me.discriminative_power(scores),
        lambda: me.io.write_scores(scores, tmp_path / "scores.csv"),
        lambda: me.ScoreStore(tmp_path / "store").add(scores, collection="gappy"),
    ):
        with pytest.raises(MetaevalError, match="4 scores are missing"):
            refuse()
    assert scores.fingerprint != replace(scores, values=np.nan_to_num(scores.values)).fingerprint
    assert rank(scores, gaps="present", n_bootstrap=100)["partial"].tolist() == [1] * 4


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_no_claim_is_against_the_ranking_and_letters_show_the_claims_however_the_tasks_agree(aggregate):
    """Runs that differ by the same in every task have no spread: neither may the worse one be called better."""
    boards = [np.add.outer([1.0, 0.0], [5.0, 6.0, 8.0]), np.add.outer([0.1, 0.0], [0.4, 0.5, 0.65])]
    boards += [np.vstack([boards[0], [1.0, 9.0, 2.0]]), np.repeat(np.arange(4.0)[:, None], 3, axis=1)]
    boards += [np.random.default_rng(seed).integers(0, 3, (4, 4)).astype(float) for seed in range(6)]
    given = [
        [label(np.stack([column, column + 0.5], axis=1), [me.Measure("AP", True)], f"t{t}") for t, column in enumerate(board.T)]
        for board in boards
    ]  # fmt: skip
    for tasks in [*given, make_tasks(9)]:
        frame = rank(tasks, aggregate=aggregate, n_bootstrap=200)
        apart = np.triu([[not set(one) & set(two) for two in frame["letters"]] for one in frame["letters"]])
        assert frame["low"].tolist() == (1 + apart.sum(axis=0)).tolist()
        assert frame["high"].tolist() == (len(frame) - apart.sum(axis=1)).tolist()
        assert frame["rank"].between(frame["low"], frame["high"]).all()
