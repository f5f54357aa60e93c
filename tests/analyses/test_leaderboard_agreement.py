"""Leaderboards of judges compared with a leaderboard: the correlations of TREC AutoJudge's own program, to the last digits."""

from dataclasses import replace
from functools import reduce
from statistics import mean

import numpy as np
import pytest

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


def join(paths):
    """Return judges as the measures of one collection, each called as its file."""
    named = (replace(read(path), measures=[me.Measure(path.stem, higher_is_better=True)]) for path in paths)
    return reduce(me.Scores.add_measures, named)


def test_correlations_are_those_of_autojudge_evaluate(files):
    truth, judges = files
    found = me.agreement(join(judges), reference=read(truth), **QUICK)
    values = dict(zip(map(str, found.measures), found.values.T, strict=True))
    assert values.keys() == EXPECTED.keys()
    for judge, numbers in EXPECTED.items():
        same = np.array([(judge, name) != BROKEN_BY_NAME for name in THEIRS])
        np.testing.assert_allclose(values[judge][same], np.array(numbers)[same], rtol=0, atol=2e-15)


def test_every_collection_keeps_what_its_own_reference_has_and_the_rest_is_said(files):
    truth, judges = files
    given = [replace(read(path), measures=[me.Measure("quality", True)]) for path in judges[:2]]
    people, options = read(truth), {"statistics": ["tau_a"], **FEW}
    references = [people.sel(topics=people.topics[1:], runs=people.runs[1:]), people.sel(runs=people.runs[2:])]
    with pytest.raises(DataError, match=r"no score of 1 run: teamA .missing=drop-run leaves them out"):
        me.agreement(given, reference=references, **options)
    with pytest.warns(PolicyWarning) as told:
        found = me.agreement(given, reference=references, missing="drop-topic", **options)
    assert [str(one.message).partition(", which")[0] for one in told] == [
        "left out 1 of 12 runs of blunt", "left out 1 of 8 topics of blunt", "left out 2 of 12 runs of graded",
    ]  # fmt: skip
    kept = [one.sel(runs=each.runs, topics=each.topics) for one, each in zip(given, references, strict=True)]
    np.testing.assert_array_equal(found.values, me.agreement(kept, reference=references, **options).values)
    with pytest.raises(MetaevalError, match=r"there is 1 for 2 collections; .* .judges of the same runs are measures"):
        me.agreement(given, reference=people, **options)
    with pytest.raises(DataError, match="have no runs in common"):
        me.agreement(given[0].sel(runs="teamA"), reference=references[0], missing="drop-run", **options)


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


def test_the_namesake_of_the_reference_is_called_as_its_file_and_the_reference_itself_is_left_out(files):
    truth, judges = files
    text = judges[0].read_text()
    namesake = text.replace("quality", "nugget_coverage")
    for content, names in (
        (namesake, ["blunt"]),
        (text + namesake, ["quality", "blunt nugget_coverage"]),
        (text + truth.read_text(), ["quality"]),
    ):
        judges[0].write_text(content)
        found = me.agreement(read(judges[0]), reference=read(truth), statistics=["tau_b"], **FEW)
        assert [str(one) for one in found.measures] == names
        assert found.values[0].tolist() == pytest.approx([EXPECTED["blunt"][0]] * len(names))


def test_of_a_reference_with_several_measures_one_is_chosen(files):
    truth, judges = files
    text = truth.read_text()
    truth.write_text(text + text.replace("nugget_coverage", "length"))
    options, judge = {"statistics": ["tau_b"], **FEW}, read(judges[0])
    with pytest.raises(MetaevalError, match="it is one: choose it with reference_measure=NAME"):
        me.agreement(judge, reference=read(truth), **options)
    found = me.agreement(judge, reference=read(truth), reference_measure="nugget_coverage", **options)
    assert found.values.item() == pytest.approx(EXPECTED["blunt"][0])
    with pytest.raises(MetaevalError, match="reference_measure chooses from scores"):
        me.agreement(judge, reference="quality", reference_measure="x")
