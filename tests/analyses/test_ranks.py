"""Ranks of runs and of boards of tasks: what significant differences say of them, letters, LiveBench by pandas, gaps."""

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
from metaeval.stats import letters
from tests.analyses.made import draw_graded, label


def make_scores(n_runs=9, seed=0):
    return label(
        draw_graded(n_runs, 30, [0.15, 0.45], seed, best=0.6), ["AP", "NMD"], runs=[f"r{r}" for r in range(n_runs)]
    )


def make_power(n_runs=9, seed=0, test="randomised-tukey-hsd"):
    return me.discriminative_power(make_scores(n_runs, seed=seed), test=test, n_permutations=300)


def test_ranks_and_their_ends_are_counts_of_better_runs_and_letters_are_shared_where_they_do_not_differ():
    power = make_power(n_runs=12, seed=3, test="bootstrap-t")
    found, pairs = me.run_ranks(power).to_frame(), power.run_pairs()
    for row in found.itertuples():
        sign = 1 if row.measure == "AP" else -1
        own = pairs[(pairs["measure"] == row.measure) & ((pairs["run_a"] == row.run) | (pairs["run_b"] == row.run))]
        other = np.where(own["run_a"] == row.run, own["mean_b"], own["mean_a"])
        better, worse = sign * other > sign * row.mean, sign * other < sign * row.mean
        sure = (own["p_value"] <= 0.05).to_numpy()
        assert row.rank == 1 + better.sum()
        assert (row.low, row.high) == (1 + (better & sure).sum(), 12 - (worse & sure).sum())
        assert row.near_first == (row.low == 1)
    for _, rows in found.groupby("measure"):
        assert rows["rank"].is_monotonic_increasing
        assert rows["letters"].iloc[0].startswith("a")
    shown = found.set_index(["measure", "run"])["letters"].map(set)
    for row in pairs.itertuples():
        shared = shown[row.measure, row.run_a] & shown[row.measure, row.run_b]
        assert bool(shared) == (row.p_value > 0.05)


def test_runs_with_equal_means_have_one_rank_and_too_many_letters_are_left_out_with_the_reason(monkeypatch):
    better = np.array([[False, False, True], [False, False, True], [False, False, False]])
    ranks, ends = letters.rank_intervals(better, np.zeros((3, 3), dtype=bool))
    assert ranks.tolist() == [1, 1, 3]
    assert ends.tolist() == [[1, 3]] * 3
    monkeypatch.setattr(letters, "MOST_SETS", 50)
    differ = np.kron(np.eye(6, dtype=bool), ~np.eye(2, dtype=bool))  # from the partner of a pair only: 2⁶ largest sets
    with pytest.raises(me.MetaevalError, match="more than 50 letters"):
        letters.letter_groups(differ)


@pytest.mark.parametrize("n_runs", [60, 400])
def test_of_many_runs_the_first_ones_are_drawn_and_it_is_said(n_runs):
    power, n_pairs = make_power(4), n_runs * (n_runs - 1) // 2
    means = np.linspace(1, 0, n_runs)[:, None].repeat(2, axis=1)
    runs = tuple(f"r{run}" for run in range(n_runs))
    power = replace(power, runs=runs, means=means, p_values=np.ones((2, n_pairs)))
    for chart, ranks in zip(me.run_ranks(power).charts(), (range(1, 61), range(n_runs, n_runs - 60, -1)), strict=True):
        assert [row.title for row in chart.rows] == list(runs[:60])
        assert [row.centre for row in chart.rows] == list(ranks)
        assert {row.line for row in chart.rows} == {(1, n_runs)}
        assert ("the first 60 of 400 runs" in chart.label) == (n_runs == 400)


def test_two_runs_are_compared_in_a_sentence_whose_interval_and_p_value_say_the_same():
    for gap in (0.0, 0.5):
        values = np.random.default_rng(0).normal(size=(2, 60, 1)) + np.reshape([0.0, gap], (2, 1, 1))
        scores = label(values, ["x"], runs=["a", "b"], higher_is_better=True)
        ranks = me.run_ranks(scores)
        (pair,) = ranks.frames()["pairs"].itertuples()
        means = dict(zip(scores.runs, values.mean(axis=(1, 2)), strict=True))
        assert pair.difference == pytest.approx(means[pair.run] - means[pair.other_run])
        assert pair.difference >= 0
        assert (pair.low > 0) == (pair.p_value <= 0.05) == ranks.differ.any()
        assert ranks.answer().startswith("It is open whether " if not gap else "b is better than a by x (")
        assert [len(table.frame) for table in ranks.at("short")] == [2, 1]
        frame = ranks.to_frame()
        assert ((frame["mean_low"] < frame["mean"]) & (frame["mean"] < frame["mean_high"])).all()
    many = me.run_ranks(make_scores(7), n_permutations=300)
    assert "pairs" not in many.frames()


FILE = Path(os.environ.get("METAEVAL_DATA", "")) / "evals" / "livebench" / "livebench_13012025.parquet"
needs_livebench = pytest.mark.skipif(not FILE.is_file(), reason="needs evals/ in the folder that METAEVAL_DATA names")
AGGREGATES = ["mean", "win-rate", "borda"]


def make_tasks(n_runs=6, sizes=(20, 30, 25), seed=0, steps=0.3, measure="accuracy"):
    """Tasks of which the first run is the best."""
    measures, worst = [me.Measure(measure, higher_is_better=True)], -steps * (n_runs - 1)
    tasks = [draw_graded(n_runs, size, [1], 9 * seed + number, worst) for number, size in enumerate(sizes)]
    topics = [[f"{number}-{topic}" for topic in range(size)] for number, size in enumerate(sizes)]
    return [label(task, measures, f"task{n}", topics=topics[n]) for n, task in enumerate(tasks)]


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
def test_livebench_is_ranked_as_by_pandas(livebench, gaps, n_runs):
    tasks, table = livebench
    table = table.dropna() if gaps == "complete" else table
    assert len(table) == n_runs
    means = table.T.groupby("task").mean().T.round(9)
    beaten, others = means.rank() - 1, means.count() - 1
    for aggregate, expected in (("win-rate", (beaten / others).mean(axis=1)), ("borda", beaten.sum(axis=1))):
        found = rank(tasks, aggregate=aggregate, gaps=gaps, n_bootstrap=100).set_index("run").loc[table.index]
        np.testing.assert_allclose(found["mean"], expected, atol=1e-9)
        assert found["rank"].tolist() == expected.round(9).rank(ascending=False, method="min").tolist()


@needs_livebench
def test_livebench_counts_what_is_partial_and_lacking(livebench):
    tasks, table = livebench
    missing = table.isna().T.groupby("task").mean().T
    found = me.board_ranks(tasks, gaps="present", n_bootstrap=100)
    frame = found.to_frame().set_index("run").loc[table.index]
    assert frame["partial"].tolist() == ((missing > 0) & (missing < 1)).sum(axis=1).tolist()
    assert frame["lacking"].tolist() == (missing == 1).sum(axis=1).tolist()
    assert "160 lack some topics and 92 lack all topics" in found.notes()[0]
    same, highest, lowest = table.nunique() == 1, table.max(), table.min()
    for task, row in found.tasks.set_index("task").iterrows():
        ends = (highest[task].max(), lowest[task].min())
        assert [row["all_solve"], row["none_solve"]] == [(same[task] & (highest[task] == end)).sum() for end in ends]


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


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_clusters_of_equal_sizes_are_drawn_as_topics_with_their_means_are(aggregate):
    """Each topic is a cluster of three topics whose scores have its score as their mean."""
    tasks, clustered, rng = make_tasks(), [], np.random.default_rng(6)
    for task in tasks:
        noise = rng.normal(size=(*task.values.shape[:2], 3))
        values = (task.values + noise - noise.mean(axis=2, keepdims=True)).reshape(len(task.runs), -1)
        topics, clusters = [f"{topic}-{k}" for topic in task.topics for k in "abc"], np.repeat(task.topics, 3)
        labels = {"runs": task.runs, "topics": topics, "clusters": clusters}
        clustered.append(label(values, task.measures, task.collection, **labels))
    alone, clustered = (me.board_ranks(each, aggregate=aggregate) for each in (tasks, clustered))
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


def test_the_sentence_says_what_was_resampled_and_counted_and_every_run_is_drawn():
    found = me.board_ranks(make_tasks(sizes=(12,) * 6))
    assert "topics resampled within tasks" in found.sentence == found.to_dict()["settings"]["sentence"]
    (axes,) = found.plot().axes
    assert [text.get_text() for text in axes.get_yticklabels()][::-1] == found.to_frame()["run"].tolist()
    unlike = [*make_tasks()[:2], *make_tasks(measure="BLEU")[2:]]
    found = me.board_ranks(unlike, aggregate="win-rate")
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


def check_claims(ranks):
    """Runs that may be the best have rank 1 among theirs, the first is one of them, and runs that share no letter differ."""
    rows = ranks.to_frame()
    assert (rows.loc[rows["near_first"], "low"] == 1).all()
    assert rows.loc[rows["rank"] == 1, "near_first"].all()
    assert ranks.summary()["near_first"].item() == rows["near_first"].sum()
    apart = np.triu([[not set(one) & set(two) for two in rows["letters"]] for one in rows["letters"]])
    assert rows["low"].tolist() == (1 + apart.sum(axis=0)).tolist()
    assert rows["high"].tolist() == (len(rows) - apart.sum(axis=1)).tolist()
    assert rows["rank"].between(rows["low"], rows["high"]).all()


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
        check_claims(me.board_ranks(tasks, aggregate=aggregate, n_bootstrap=200))


SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "skewed": lambda rng, size: rng.exponential(size=size),
    "right or wrong": lambda rng, size: (rng.random(size) < 0.8).astype(float),
    "many zeros": lambda rng, size: rng.exponential(size=size) * (rng.random(size) < 0.2),
    "unlike spreads": lambda rng, size: rng.normal(size=size) * np.linspace(0.2, 3, size[0])[:, None],
    "near-copies": lambda rng, size: rng.normal(size=size[1]) + 0.05 * rng.normal(size=size) ** 3,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_rank_set_denies_the_sentence_and_letters_show_its_claims(shape):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n_runs, n_topics = int(rng.integers(2, 9)), int(rng.integers(6, 40))
        values = SHAPES[shape](rng, (n_runs, n_topics)) + rng.choice([0, 0.3]) * np.arange(n_runs)[:, None]
        scores = label(values, ["x"], higher_is_better=True)
        power = me.discriminative_power(scores, test="max-t", n_permutations=200, n_bootstrap=0)
        check_claims(me.run_ranks(scores, n_permutations=200))
        check_claims(me.run_ranks(power))
        check_claims(me.board_ranks(scores, n_bootstrap=200))
