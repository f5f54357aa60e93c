"""Boards and grades of judges compared with those of people: what TREC AutoJudge's own program gives, to the last digits."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from tests.analyses.made import label

THEIRS = {
    "tau_b": "kendall", "spearman": "spearman", "pearson": "pearson", "tau_ap_b": "tauap_b", "tau_gap": "tau_gap",
    "tau_b@5": "kendall@5", "pearson@5": "pearson@5", "spearman@7": "spearman@7",
}  # fmt: skip
"""What metaeval and autojudge-evaluate call the same statistic."""

# What autojudge-evaluate 1.1.0 gives for these made-up leaderboards, in the order of THEIRS.
EXPECTED = {
    "blunt": [0.42424242424242425, 0.6293706293706294, 0.6339602696212535, 0.24532336350518158, 0.3186194013184147,
              -0.4, -0.33460808999218455, 0.2857142857142857],
    "graded": [0.7693218186208295, 0.8947423499236925, 0.8960095612704368, 0.6240161353797717, 0.6373947042049037,
               0.7378647873726218, 0.9158648596383957, 0.9549937104572925],
    "sharp": [0.7878787878787878, 0.9370629370629371, 0.948421728605888, 0.6376623376623376, 0.7795406257148259,
              0.4, 0.8219598105318595, 0.8571428571428571],
}  # fmt: skip
BROKEN_BY_NAME = ("graded", "tau_gap")
"""A judge with ties: theirs breaks them by the names of runs, τ_GAP here takes the mean of the best and the worst way."""

FEW = {"n_permutations": 50, "n_bootstrap": 0}


def make_board(name, spread, step, steps=None, measure="quality"):
    """Return scores that are better the later the run, off by so much and elsewhere than others, with a regular pattern."""
    run, topic = np.indices((12, 8))
    values = np.clip(0.3 + 0.03 * run + spread * ((step * (8 * run + topic + 1) ** 3 % 101) / 101 - 0.5), 0, 1)
    rounded = np.round(values, 4) if steps is None else np.round(values * steps) / steps
    labels = {"runs": [f"team{letter}" for letter in "ABCDEFGHIJKL"], "topics": [f"t{topic}" for topic in range(1, 9)]}
    return label(rounded, [me.Measure(measure, higher_is_better=True)], name, **labels)


PEOPLE = make_board("truth", 0.3, 13, measure="nugget_coverage")
BLUNT, GRADED, SHARP = make_board("blunt", 1.5, 37), make_board("graded", 0.8, 29, 4), make_board("sharp", 0.4, 61)


def call(scores, *names):
    return replace(scores, measures=[me.Measure(name, higher_is_better=True) for name in names])


def test_correlations_are_those_of_autojudge_evaluate():
    judges = reduce(me.Scores.add_measures, [call(each, each.collection) for each in (BLUNT, GRADED, SHARP)])
    found = me.agreement(judges, reference=PEOPLE, statistics=list(THEIRS), **FEW)
    values = dict(zip(map(str, found.measures), found.values.T, strict=True))
    assert values.keys() == EXPECTED.keys()
    for judge, numbers in EXPECTED.items():
        same = np.array([(judge, name) != BROKEN_BY_NAME for name in THEIRS])
        np.testing.assert_allclose(values[judge][same], np.array(numbers)[same], rtol=0, atol=2e-15)


def test_every_collection_keeps_what_its_own_reference_has_and_the_rest_is_said():
    given, options = [BLUNT, GRADED], {"statistics": ["tau_a"], **FEW}
    references = [PEOPLE.sel(topics=PEOPLE.topics[1:], runs=PEOPLE.runs[:0:-1]), PEOPLE.sel(runs=PEOPLE.runs[2:])]
    with pytest.raises(DataError, match=r"no score of 1 run: teamA .missing=drop-run leaves them out"):
        me.agreement(given, reference=references, **options)
    with pytest.warns(PolicyWarning) as told:
        found = me.agreement(given, reference=references, missing="drop-topic", **options)
    assert [str(one.message).partition(", which")[0] for one in told] == [
        "left out 1 of 12 runs of blunt", "left out 1 of 8 topics of blunt", "left out 2 of 12 runs of graded",
    ]  # fmt: skip
    kept = [one.sel(runs=sorted(each.runs), topics=each.topics) for one, each in zip(given, references, strict=True)]
    np.testing.assert_array_equal(found.values, me.agreement(kept, reference=references, **options).values)
    with pytest.raises(MetaevalError, match=r"there is 1 for 2 collections; .* .judges of the same runs are measures"):
        me.agreement(given, reference=PEOPLE, **options)
    with pytest.raises(DataError, match="have no runs in common"):
        me.agreement(BLUNT.sel(runs="teamA"), reference=references[0], missing="drop-run", **options)


def test_the_namesake_of_the_reference_is_called_as_its_collection_and_the_reference_itself_is_left_out():
    options = {"statistics": ["tau_b"], **FEW}
    for judges, names in (
        (call(BLUNT, "nugget_coverage"), ["blunt"]),
        (BLUNT.add_measures(call(BLUNT, "nugget_coverage")), ["quality", "blunt nugget_coverage"]),
        (BLUNT.add_measures(PEOPLE), ["quality"]),
    ):
        found = me.agreement(judges, reference=PEOPLE, **options)
        assert [str(one) for one in found.measures] == names
        assert found.values[0].tolist() == pytest.approx([EXPECTED["blunt"][0]] * len(names))
    several = PEOPLE.add_measures(call(PEOPLE, "length"))
    with pytest.raises(MetaevalError, match="it is one: choose it with reference_measure=NAME"):
        me.agreement(BLUNT, reference=several, **options)
    found = me.agreement(BLUNT, reference=several, reference_measure="nugget_coverage", **options)
    assert found.values.item() == pytest.approx(EXPECTED["blunt"][0])


GRADES = {
    "truth": ("001122330012", "000011230001", "332211000011"),
    "large": ("001123330112", "000012220001", "321211100010"),
    "small": ("110023010203", "000011330001", "213022110301"),
}
"""Of every judge the grades of twelve documents on three topics."""

# What autojudge-evaluate 1.1.0 gives (its command qrel-evaluate, unrounded) for these files: Kappa_w and Kripp_a by topic.
OF_GRADES = {
    ("large", "kappa"): [0.8651685393258427, 0.8153846153846154, 0.6923076923076923],
    ("large", "alpha_ORD"): [0.9339695841092489, 0.9720156106519743, 0.816802753762408],
    ("small", "kappa"): [0.045454545454545525, 0.9154929577464789, 0.0],
    ("small", "alpha_ORD"): [0.18711583924349884, 0.9957548911037283, 0.14244913928012526],
}


def test_kappa_and_alpha_of_grades_are_those_of_autojudge_evaluate(tmp_path):
    for name, topics in GRADES.items():
        lines = [f"q{t} 0 d{d:02} {grade}" for t, grades in enumerate(topics, 1) for d, grade in enumerate(grades)]
        (tmp_path / f"{name}.qrels").write_text("\n".join(lines))
    truth, *judges = (tmp_path / f"{name}.qrels" for name in GRADES)
    runs = me.io.read_runs(truth, judges, format="judgements", classes=range(4))
    scores = me.score(runs, ["kappa", "alpha_ORD"])
    for (judge, measure), expected in OF_GRADES.items():
        found = scores.sel(runs=judge, measures=measure).values.ravel()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
