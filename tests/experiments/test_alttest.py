"""Judges against people: the constant judge, and what the claims say of tables made for them."""

import numpy as np
import pytest

from experiments.alttest.claims import constant_does_not_pass, every_judge_beats_constant
from experiments.alttest.steps import add_constant_judge
from metaeval.data.annotations import Annotations


def test_the_constant_judge_gives_the_usual_label():
    labels, answers = [[0, 2, 2], [1, 2, -1]], [[[1, 0, 0]] * 3]
    annotations = Annotations(
        labels, answers, annotators=["a", "b"], judges=["j"], items=range(3), classes=["x", "y", "z"]
    )
    more = add_constant_judge(annotations)
    assert more.judges == ("j", "always-z")
    np.testing.assert_array_equal(more.answers[1], [[0, 0, 1]] * 3)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [([0.1, 0.05], [0.3, 0.2], "holds"), ([0.1, -0.2], [0.3, -0.1], "does not hold"), ([0.1, -0.1], [0.3, 0.1], "cannot tell")],
)  # fmt: skip
def test_every_judge_beats_the_constant_one_by_the_intervals_of_rho(low, high, word, tables):
    leads = {"set": "made", "judge_1": ["j", "k"], "difference": np.mean([low, high], axis=0), "low": low, "high": high}
    ((name, answer),) = every_judge_beats_constant.decide(tables(leads=leads))
    assert (name, answer.word) == ("made", word)


@pytest.mark.parametrize(
    ("low", "high", "word"), [(0.0, 0.4, "holds"), (0.5, 1.0, "does not hold"), (0.4, 0.6, "cannot tell")]
)
def test_the_constant_judge_passes_with_half_of_the_people(low, high, word, tables):
    row = {"set": ["made"], "label": ["x"], "ω": [(low + high) / 2], "ω low": [low], "ω high": [high]}
    ((_, answer),) = constant_does_not_pass.decide(tables(constant=row))
    assert answer.word == word
