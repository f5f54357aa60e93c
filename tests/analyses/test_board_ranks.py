"""Ranks of boards: LiveBench read in plain loops, coverage, what is refused, and what does not change a result."""

import json
import os
import warnings
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.data.scores import PartialScores
from metaeval.errors import MetaevalError
from metaeval.io import read_collections

FILE = Path(os.environ.get("METAEVAL_DATA", "")) / "evals" / "livebench" / "livebench_13012025.parquet"
needs_livebench = pytest.mark.skipif(not FILE.is_file(), reason="needs evals/ in the folder that METAEVAL_DATA names")


def make_tasks(n_runs=6, sizes=(20, 30, 25), seed=0, steps=0.3, measure="accuracy"):
    rng = np.random.default_rng(seed)
    quality = steps * np.arange(n_runs)[::-1]
    return [
        me.Scores(
            (quality[:, None] + rng.standard_normal((n_runs, size)))[..., None], runs=[f"r{r}" for r in range(n_runs)],
            topics=[f"{number}-{topic}" for topic in range(size)], measures=[me.Measure(measure, higher_is_better=True)],
            collection=f"task{number}",
        )
        for number, size in enumerate(sizes)
    ]  # fmt: skip


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


def find_leads(rows):
    """The mean difference of every two runs in a task, of which there is a row per run."""
    means, leads = {run: np.nanmean(row) for run, row in rows.items()}, {}
    for one, two in combinations(rows, 2):
        lead = means[one] - means[two]
        leads[one, two], leads[two, one] = lead, -lead
    return leads


@needs_livebench
@pytest.mark.parametrize("gaps", ["complete", "present"])
def test_livebench_is_read_as_plainly(livebench, gaps):
    tasks, table = livebench
    table = table.dropna() if gaps == "complete" else table
    assert len(table) == (41 if gaps == "complete" else 93)
    wins = {run: [] for run in table.index}
    for task in tasks:
        rows = dict(zip(table.index, table[task.collection].to_numpy(), strict=True))
        leads = find_leads({run: row for run, row in rows.items() if not np.isnan(row).all()})
        for run in table.index:
            known = [lead for (one, _), lead in leads.items() if one == run and not np.isnan(lead)]
            if known:
                beaten = sum(1.0 if each > 1e-9 else 0.5 if abs(each) <= 1e-9 else 0.0 for each in known)
                wins[run].append((beaten, beaten / len(known)))
    rates = {run: np.mean([share for _, share in each]) for run, each in wins.items()}
    bordas = {run: sum(beaten for beaten, _ in each) for run, each in wins.items()}
    for aggregate, expected in (("win-rate", rates), ("borda", bordas)):
        found = me.board_ranks(tasks, aggregate=aggregate, gaps=gaps, n_bootstrap=100).to_frame().set_index("run")
        assert found["mean"].to_dict() == pytest.approx(expected, abs=1e-9)
        order = pd.Series(expected).round(9).rank(ascending=False, method="min")
        assert found["rank"].to_dict() == order.astype(int).to_dict()


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
    assert found.summary()["all_or_none"].item() == sum(
        same[topic] and table[topic].max() in (table[topic[0]].max().max(), table[topic[0]].min().min())
        for topic in same.index
    )


def test_shares_of_the_spread_sum_to_one_and_are_those_of_topics():
    found = me.board_ranks(make_tasks())
    assert found.tasks["share"].sum() == pytest.approx(1)
    by_task = found.topics.groupby("task")["share"].sum()
    assert found.tasks.set_index("task")["share"].to_dict() == pytest.approx(by_task.to_dict())


def test_a_rank_set_holds_its_rank_and_rests_on_the_claims_that_letters_show():
    for aggregate in ("mean", "win-rate", "borda"):
        frame = me.board_ranks(make_tasks(9), aggregate=aggregate).to_frame()
        apart = np.array([[not set(one) & set(two) for two in frame["letters"]] for one in frame["letters"]])
        ahead = np.triu(apart)
        assert frame["low"].tolist() == (1 + ahead.sum(axis=0)).tolist()
        assert frame["high"].tolist() == (len(frame) - ahead.sum(axis=1)).tolist()
        assert frame["rank"].between(frame["low"], frame["high"]).all()


def test_rank_sets_hold_all_true_ranks_as_often_as_they_claim():
    boards = [make_tasks(5, (12, 18), seed=seed, steps=0) for seed in range(60)]
    ends = [me.board_ranks(board, n_bootstrap=200).to_frame()[["low", "high"]] for board in boards]
    held = [(each == [1, 5]).all(axis=None) for each in ends]
    assert np.mean(held) > 0.86  # three standard errors below .95; the study of calibration says more


@pytest.mark.parametrize("options", [{}, {"aggregate": "win-rate"}, {"gaps": "present"}, {"over": "tasks"}])
def test_the_sentence_to_paste_says_that_skewed_differences_may_make_sets_too_narrow(options):
    rng = np.random.default_rng(3)
    share = np.where(np.arange(12) < 6, 0.05, 0.5)[:, None]
    rare = [me.Scores(
        (rng.random((12, 50)) < share)[..., None] / share[..., None], runs=range(12), topics=range(50), measures=["accuracy"],
        collection=name,
    ) for name in "abc"]  # fmt: skip
    for tasks, skewed in ((rare, "over" not in options), (make_tasks(12), False)):
        found = me.board_ranks(tasks, n_bootstrap=100, **options)
        assert ("rank sets, perhaps too narrow since differences are skewed" in found.sentence) == skewed
        assert any("may miss more often than they claim" in note for note in found.notes()) == skewed


def test_a_run_with_rank_one_among_its_ranks_need_not_be_one_that_may_be_first():
    boards = [me.board_ranks(make_tasks(12, (40,), seed=seed, steps=0), n_bootstrap=200) for seed in range(20)]
    rows = [board.to_frame() for board in boards]
    assert all((each.loc[each["near_first"], "low"] == 1).all() for each in rows)
    assert any((each["low"].eq(1) & ~each["near_first"]).any() for each in rows)


def in_clusters(tasks, size=3):
    """Tasks in which each topic is a cluster of `size` topics whose scores have its score as their mean."""
    rng = np.random.default_rng(6)
    noise = [rng.normal(size=(*task.values.shape[:2], size, 1)) for task in tasks]
    values = [
        task.values[:, :, None] + each - each.mean(axis=2, keepdims=True)
        for task, each in zip(tasks, noise, strict=True)
    ]
    return [
        me.Scores(each.reshape(len(task.runs), -1, 1), runs=task.runs, measures=task.measures, collection=task.collection,
                  topics=[f"{topic}-{k}" for topic in task.topics for k in range(size)],
                  clusters=[topic for topic in task.topics for _ in range(size)])
        for task, each in zip(tasks, values, strict=True)
    ]  # fmt: skip


@pytest.mark.parametrize("aggregate", ["mean", "win-rate", "borda"])
def test_clusters_of_equal_sizes_are_drawn_as_topics_with_their_means_are(aggregate):
    tasks = make_tasks()
    alone, clustered = (me.board_ranks(each, aggregate=aggregate) for each in (tasks, in_clusters(tasks)))
    columns = ["run", "rank", "low", "high", "letters", "near_first"]
    pd.testing.assert_frame_equal(alone.to_frame()[columns], clustered.to_frame()[columns])
    n_topics = sum(len(task.topics) for task in tasks)
    assert f"clusters={n_topics} of {3 * n_topics} topics" in str(clustered.signature).replace("clusters ", "clusters=")
    notes = " ".join(clustered.notes())
    assert f"{3 * n_topics} topics come in {n_topics} clusters" in notes
    assert "it counts clusters" not in notes  # the sentence and the tasks count topics


def test_a_run_with_one_topic_of_a_task_is_separated_from_none():
    tasks = make_tasks()
    values = tasks[0].values.copy()
    values[0, 1:] = np.nan
    labels = {"runs": tasks[0].runs, "topics": tasks[0].topics, "measures": tasks[0].measures, "collection": "task0"}
    sparse = [PartialScores(values, **labels), *tasks[1:]]
    for aggregate in ("mean", "borda"):
        whole = me.board_ranks(tasks, aggregate=aggregate)
        found = me.board_ranks(sparse, gaps="present", aggregate=aggregate)
        frame = found.to_frame().set_index("run")
        assert frame.loc["r0", ["low", "high"]].tolist() == [1, len(frame)]
        assert any("r0 has one topic only of a task" in note for note in found.notes())
        assert found.differ.sum() >= whole.differ[0, 1:, 1:].sum() / 2  # the others are compared as before


def test_neither_the_order_of_rows_nor_that_of_tasks_changes_anything():
    tasks = make_tasks()
    turned = [task.sel(runs=task.runs[::-1], topics=task.topics[::-1]) for task in tasks[::-1]]
    for options in ({}, {"over": "topics", "aggregate": "borda"}):
        one, two = (me.board_ranks(each, **options) for each in (tasks, turned))
        pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
        pd.testing.assert_frame_equal(one.tasks, two.tasks)


def test_lower_scores_can_be_better():
    tasks = make_tasks()
    cost = [me.Measure("cost", higher_is_better=False)]
    costs = [replace(task, values=-task.values, measures=cost) for task in tasks]
    better, worse = me.board_ranks(tasks).to_frame(), me.board_ranks(costs).to_frame()
    assert better["run"].tolist() == worse["run"].tolist()
    assert better["low"].tolist() == worse["low"].tolist()
    assert worse["mean"].tolist() == pytest.approx((-better["mean"]).tolist())


def test_categories_weigh_the_same():
    tasks = make_tasks(sizes=(20, 20, 20))
    named = [replace(task, collection=name) for task, name in zip(tasks, ("a/one", "a/two", "b/three"), strict=True)]
    means = [task.values[..., 0].mean(axis=1) for task in tasks]
    expected = (means[0] + means[1]) / 4 + means[2] / 2
    found = me.board_ranks(named, categories=True).to_frame().set_index("run")["mean"]
    assert found.loc[list(tasks[0].runs)].tolist() == pytest.approx(expected.tolist())
    weighted = me.board_ranks(named, task_weights={"b/three": 2}).to_frame().set_index("run")["mean"]
    assert weighted.to_dict() == pytest.approx(found.to_dict())


def test_the_sentence_says_what_was_resampled_and_json_holds_it():
    tasks = make_tasks(sizes=(12,) * 6)
    assert "topics resampled within tasks" in me.board_ranks(tasks).sentence
    found = me.board_ranks(tasks, over="tasks")
    assert "; tasks resampled" in found.sentence
    held = json.loads(json.dumps(found.to_dict()))
    assert held["settings"]["sentence"] == found.sentence
    assert {"summary", "tasks", "topics", "aggregates"} <= set(held["details"])


def one_run(tasks):
    return [*tasks[:2], tasks[2].sel(runs=["r0"])]


def other_measure(tasks):
    return [*tasks[:2], *make_tasks(sizes=(5, 5, 5), measure="BLEU")[2:]]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (one_run, {"gaps": "present"}, "task2 has scores of r0 only"),
        (one_run, {}, r"5 of 6 runs lack scores \(5 of a whole task\)"),
        (one_run, {"gaps": "complete"}, "too few runs are complete: 1 of 6"),
        (None, {"task_weights": {"task7": 2}}, "no task 'task7' to weigh"),
        (None, {"task_weights": {"task1": 0}}, "the weight of task1 is 0; it is a finite number above 0"),
        (None, {"task_weights": {"task1": -1.5}}, "the weight of task1 is -1.5"),
        (lambda tasks: tasks[:2], {"over": "tasks"}, "over=tasks needs 3 tasks or more; there are 2"),
        (lambda tasks: tasks[0], {"over": "tasks"}, "there is 1; name the column of tasks: columns=collection=NAME"),
        (None, {"categories": True}, "task0 names no category"),
        (None, {"aggregate": "median"}, "there is no aggregate 'median'"),
        (None, {"gaps": "drop"}, "there is no policy for gaps 'drop'"),
        (None, {"n_bootstrap": 10}, "n_bootstrap is 10"),
        (other_measure, {}, "such as accuracy and BLEU, which have no mean: use aggregate=win-rate"),
        (lambda tasks: [*tasks, tasks[0]], {}, "task0 is there twice"),
        (lambda tasks: [], {}, "at least one task"),
        (lambda tasks: tasks[0].sel(topics=["0-1"]), {}, "task0 has one topic"),
        (lambda tasks: [5], {}, "a task is Scores, not int"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_a_sentence(change, options, message):
    tasks = make_tasks()
    with pytest.raises(MetaevalError, match=message):
        me.board_ranks(change(tasks) if change else tasks, **options)


def test_tasks_of_unlike_measures_can_be_ranked_by_win_rate():
    found = me.board_ranks(other_measure(make_tasks()), aggregate="win-rate")
    assert found.aggregates["aggregate"].tolist() == ["win-rate", "borda"]


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
    assert scores.fingerprint != PartialScores(
        np.where(np.isnan(scores.values), 0, scores.values), runs=scores.runs, topics=scores.topics, measures=scores.measures
    ).fingerprint  # fmt: skip
    found = me.board_ranks(scores, gaps="present", n_bootstrap=100)
    assert found.to_frame()["partial"].tolist() == [1] * 4


def test_figures_and_pages_are_drawn(tmp_path):
    found = me.board_ranks(make_tasks())
    found.write_tables(tmp_path, "ranks")
    assert (tmp_path / "ranks.tex").read_text("utf-8").count(r"\begin{table") >= 3
    (axes,) = found.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()][::-1] == found.to_frame()["run"].tolist()


@pytest.mark.parametrize("factor", [2.0**-600, 2.0**500])
def test_the_scale_of_scores_changes_nothing(factor):
    tasks = make_tasks()
    scaled = [replace(task, values=task.values * factor) for task in tasks]
    one, two = me.board_ranks(tasks).to_frame(), me.board_ranks(scaled).to_frame()
    means = ["mean", "mean_low", "mean_high"]
    pd.testing.assert_frame_equal(one.assign(**(one[means] * factor)), two)


@pytest.mark.parametrize("over", ["topics", "tasks"])
@pytest.mark.parametrize("aggregate", ["mean", "win-rate", "borda"])
def test_no_claim_is_against_the_ranking_however_the_tasks_agree(over, aggregate):
    """Runs that differ by the same in every task have no spread: neither may the worse one be called better."""
    boards = [np.add.outer([1.0, 0.0], [5.0, 6.0, 8.0]), np.add.outer([0.1, 0.0], [0.4, 0.5, 0.65])]
    boards += [np.vstack([boards[0], [1.0, 9.0, 2.0]]), np.repeat(np.arange(4.0)[:, None], 3, axis=1)]
    boards += [np.random.default_rng(seed).integers(0, 3, (4, 4)).astype(float) for seed in range(6)]
    for board in boards:
        tasks = [
            me.Scores(
                np.stack([column, column + 0.5], axis=1)[..., None], runs=[f"r{r}" for r in range(len(board))],
                topics=["1", "2"], measures=[me.Measure("AP", higher_is_better=True)], collection=f"t{t}",
            )
            for t, column in enumerate(board.T)
        ]  # fmt: skip
        frame = me.board_ranks(tasks, over=over, aggregate=aggregate, n_bootstrap=200).to_frame()
        assert ((frame["low"] <= frame["rank"]) & (frame["rank"] <= frame["high"])).all()
        if over == "tasks" and len(board) == 2:
            assert frame["high"].tolist() == [2, 2]  # three equal differences are no proof
