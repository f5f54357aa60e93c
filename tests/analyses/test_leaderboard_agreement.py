"""Leaderboards of judges compared with a leaderboard: the correlations of TREC AutoJudge's own program, to the last digits."""

from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
from scipy import stats

import metaeval as me
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io import SCORE_FORMATS as LEADERBOARDS

THEIRS = {
    "tau_b": "kendall", "spearman": "spearman", "pearson": "pearson", "tau_ap_b": "tauap_b", "tau_gap": "tau_gap",
    "tau_b@5": "kendall@5", "pearson@5": "pearson@5", "spearman@7": "spearman@7",
}  # fmt: skip
"""What metaeval and autojudge-evaluate call the same statistic."""

# What autojudge-evaluate 1.1.0 gives for these made-up files, in the order of THEIRS.
EXPECTED = {
    "blunt": [0.42424242424242425, 0.6293706293706294, 0.6339602696212535, 0.24532336350518158, 0.3186194013184147,
              -0.4, -0.33460808999218455, 0.2857142857142857],
    "graded": [0.7693218186208295, 0.8947423499236925, 0.8960095612704368, 0.6240161353797717, 0.6373947042049037,
               0.7378647873726218, 0.9158648596383957, 0.9549937104572925],
    "sharp": [0.7878787878787878, 0.9370629370629371, 0.948421728605888, 0.6376623376623376, 0.7795406257148259,
              0.4, 0.8219598105318595, 0.8571428571428571],
}  # fmt: skip

RUNS = [f"team{letter}" for letter in "ABCDEFGHIJKL"]
TOPICS = [f"t{number}" for number in range(1, 9)]
JUDGES = {"sharp": (0.4, 61), "blunt": (1.5, 37), "graded": (0.8, 29)}
"""How far a judge is off, and a number that makes it be off elsewhere than others."""


def make_cells(spread, step, steps=None):
    """Return scores by run and topic: better the later the run, with a regular pattern in place of noise."""
    cells = {}
    for r, run in enumerate(RUNS):
        for t, topic in enumerate(TOPICS):
            noise = (step * (8 * r + t + 1) ** 3 % 101) / 101 - 0.5
            score = min(1.0, max(0.0, 0.3 + 0.03 * r + spread * noise))
            cells[run, topic] = round(score, 4) if steps is None else round(score * steps) / steps
    return cells


def write_tot(path, cells, measure, runs=RUNS, topics=TOPICS):
    """Write a leaderboard with rows of the means."""
    lines = []
    for run in runs:
        scores = [cells[run, topic] for topic in topics]
        lines += [f"{run} {measure} {topic} {score!r}" for topic, score in zip(topics, scores, strict=True)]
        lines.append(f"{run} {measure} all {mean(scores)!r}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


FEW = {"n_permutations": 50, "n_bootstrap": 0}
QUICK = {"statistics": list(THEIRS), **FEW}
BROKEN_BY_NAME = ("graded", "tau_gap")
"""A judge with ties: theirs breaks them by the names of runs, τ_GAP here takes the mean of the best and the worst way."""


def read(path):
    return me.io.read_scores(path, format="tot", higher_is_better=True)


@pytest.fixture
def files(tmp_path):
    """Write truth and judges, and return the files."""
    truth = write_tot(tmp_path / "truth.tot", make_cells(0.3, 13), "nugget_coverage")
    judges = [
        write_tot(tmp_path / f"{name}.txt", make_cells(*noise, steps=4 if name == "graded" else None), "quality")
        for name, noise in sorted(JUDGES.items())
    ]
    return truth, judges


def test_correlations_are_those_of_autojudge_evaluate(files):
    truth, judges = files
    found = me.agreement([read(one) for one in judges], reference=read(truth), **QUICK)
    values = dict(zip(map(str, found.measures), found.values.T, strict=True))
    assert values.keys() == EXPECTED.keys()
    for judge, numbers in EXPECTED.items():
        same = np.array([(judge, name) != BROKEN_BY_NAME for name in THEIRS])
        np.testing.assert_allclose(values[judge][same], np.array(numbers)[same], rtol=0, atol=2e-15)


def test_shared_runs_and_topics_are_those_of_all_judges_and_the_reference_and_the_rest_is_said(files):
    truth, judges = files
    cells = make_cells(0.3, 13)
    cells |= {("teamZ", topic): 0.5 for topic in TOPICS}
    write_tot(truth, cells, "nugget_coverage", [*RUNS[1:], "teamZ"], TOPICS[:6])
    write_tot(judges[2], make_cells(*JUDGES["sharp"]), "quality", RUNS[:11], TOPICS[1:])
    given = [read(one) for one in judges]
    with pytest.raises(DataError, match=r"teamL is in one of them only .runs=shared and topics=shared take"):
        me.agreement(given, reference=read(truth), **QUICK)
    with pytest.warns(PolicyWarning) as told:
        found = me.agreement(given, reference=read(truth), runs="shared", topics="shared", **QUICK)
    said = [str(one.message) for one in told]
    assert said[0] == "left out 2 of 12 runs of blunt, which not all scores have: teamA, teamL"
    assert said[-1] == "left out 1 of 6 topics of truth, which not all scores have: t1"
    assert len(said) == 8
    kept = {"runs": RUNS[1:11], "topics": TOPICS[1:6]}
    alone = me.agreement([one.sel(**kept) for one in given], reference=read(truth).sel(**kept), **QUICK)
    np.testing.assert_array_equal(found.values, alone.values)


def test_rows_that_sum_up_a_run_stand_for_the_means_where_they_are_given(files):
    truth, judges = files
    path = judges[2]
    path.write_text(path.read_text().replace("teamC quality all 0.", "teamC quality all 0.9"))
    with pytest.warns(PolicyWarning, match="not the mean of the topics"):
        judge = read(path)
    own = LEADERBOARDS["tot"].read(path, level="runs")
    found = me.agreement(judge, reference=read(truth), run_scores=own, statistics=["pearson"], **FEW)
    sums, means = (LEADERBOARDS["tot"].read(one, level="runs").values.ravel() for one in (path, truth))
    assert found.values[0, 0] == pytest.approx(np.corrcoef(sums, means)[0, 1])


@pytest.mark.parametrize(
    ("names", "measures"),
    [
        (["quality", "fluency"], ["blunt quality", "blunt fluency", "graded"]),
        (["nugget_coverage"], ["blunt", "graded"]),  # as that of the reference, and no copy of it
        (["quality", "nugget_coverage"], ["blunt quality", "blunt nugget_coverage", "graded"]),
    ],
)
def test_a_judge_is_called_as_its_file_and_may_have_several_measures(files, names, measures):
    truth, judges = files
    text = judges[0].read_text()
    judges[0].write_text("".join(text.replace("quality", name) for name in names))
    options = {"reference": read(truth), "statistics": ["tau_b"], **FEW}
    found = me.agreement([read(path) for path in judges[:2]], **options)
    assert list(map(str, found.measures)) == measures
    assert found.values[0].tolist() == pytest.approx([EXPECTED[name.split()[0]][0] for name in measures])
    with pytest.raises(DataError, match="two judges are called graded"):
        me.agreement([read(judges[1])] * 2, **options)


def test_of_one_judge_the_namesake_of_the_reference_is_called_as_the_judge_and_the_reference_itself_is_left_out(files):
    truth, judges = files
    text, options = judges[0].read_text(), {"reference": read(truth), "statistics": ["tau_b"], **FEW}
    namesake = text.replace("quality", "nugget_coverage")
    for content, names in ((namesake, ["blunt"]), (text + namesake, ["quality", "blunt nugget_coverage"])):
        judges[0].write_text(content)
        found = me.agreement(read(judges[0]), **options)
        assert [str(one) for one in found.measures] == names
        assert found.values[0].tolist() == pytest.approx([EXPECTED["blunt"][0]] * len(names))
    judges[0].write_text(text + truth.read_text())
    found = me.agreement(read(judges[0]), runs="shared", topics="shared", **options)
    assert [str(one) for one in found.measures] == ["quality"]


def test_of_a_reference_with_several_measures_one_is_chosen(files):
    truth, judges = files
    text = truth.read_text()
    truth.write_text(text + text.replace("nugget_coverage", "length"))
    options = {"statistics": ["tau_b"], **FEW}
    with pytest.raises(MetaevalError, match="it is one: choose it with reference_measure=NAME"):
        me.agreement(read(judges[0]), reference=read(truth), **options)
    found = me.agreement(read(judges[0]), reference=read(truth), reference_measure="nugget_coverage", **options)
    assert found.values.item() == pytest.approx(EXPECTED["blunt"][0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "quality", "runs": "shared"}, "runs=shared is for a reference of its own"),
        ({"reference": "quality", "reference_measure": "x"}, "reference_measure chooses from scores"),
        ({"topics": "some"}, "there is no choice of topics 'some': use all, shared"),
    ],
)
def test_options_without_a_reference_of_its_own_are_refused(files, options, message):
    judge = read(files[1][0])
    with pytest.raises(MetaevalError, match=message):
        me.agreement(judge, **{"reference": judge, **options})


def test_which_runs_and_topics_disagree_is_listed_the_worst_first(files):
    truth, judges = files
    given = [read(one) for one in judges]
    found = me.agreement(given, reference=read(truth), statistics=["tau_b"], **FEW)
    runs, topics = (found.frames()[what] for what in ("runs", "topics"))
    assert len(runs) == 3 * len(RUNS)
    assert len(topics) == 3 * len(TOPICS)
    assert (runs["difference"] == runs["rank"] - runs["reference_rank"]).all()
    assert runs["difference"].abs().is_monotonic_decreasing
    assert topics["tau_b"].is_monotonic_increasing
    means = given[2].means()["quality"]
    sharp = runs[runs["measure"] == "sharp"].set_index("run").loc[list(means.index)]
    np.testing.assert_allclose(sharp["score"], means)
    np.testing.assert_array_equal(sharp["rank"], means.rank(ascending=False))
    one = topics[(topics["measure"] == "graded") & (topics["topic"] == "t3")]["tau_b"].item()
    sides = [scores.sel(topics=["t3"]).values.ravel() for scores in (given[1], read(truth))]
    assert one == pytest.approx(stats.kendalltau(*sides).statistic)


def test_judges_bring_their_own_scores_of_whole_runs_in_one_table(files):
    truth, judges = files
    given, options = [read(one) for one in judges], {"statistics": ["tau_a", "acc_t"], **FEW}
    names, runs = [one.collection for one in given], given[0].runs[::-1]
    means = [one.sel(runs=runs).values.mean(axis=1) for one in given]
    whole = me.Scores(np.stack(means, axis=-1) * [1, -1, 1], runs=runs, topics=["all"], measures=names)
    plain, own, some = (
        me.agreement(given, reference=read(truth), run_scores=scores, **options)
        for scores in (None, whole, whole.sel(measures=names[1]))
    )
    np.testing.assert_allclose(own.values[0], plain.values[0] * [1, -1, 1])
    np.testing.assert_allclose(own.values[1], plain.values[1])
    np.testing.assert_allclose(some.values, own.values)
    for wrong, message in (
        ([whole] * 3, "of several judges is one table, with a measure called as each judge; there are 3"),
        (given[0], "scores of whole runs have one topic"),
        (whole.sel(runs=runs[1:]), "the scores of whole runs .* lack"),
    ):
        with pytest.raises(MetaevalError, match=message):
            me.agreement(given, reference=read(truth), run_scores=wrong, **options)


def test_every_collection_shares_what_it_has_with_its_own_reference(files):
    truth, judges = files
    given = [replace(read(path), measures=(me.Measure("quality", True),)) for path in judges[:2]]
    people, shared = read(truth), {"runs": "shared", "topics": "shared", "statistics": ["tau_a"], **FEW}
    references = [people.sel(topics=people.topics[1:]), people.sel(runs=people.runs[2:])]
    with pytest.warns(PolicyWarning, match="1 of 8 topics"), pytest.warns(PolicyWarning, match="2 of 12 runs"):
        found = me.agreement(given, reference=references, **shared)
    first = me.agreement(given[0].sel(topics=people.topics[1:]), reference=references[0], **shared)
    np.testing.assert_allclose(found.by_collection[0], first.values)
