"""Probabilities of a dialogue are those of the classes from -2 to 2, in whatever order a file names them."""

from metaeval.io.dialogue_quality import _take_shares


def test_classes_stand_in_their_order_and_not_in_that_of_the_file():
    given = {"1": 0.1, "-2": 0.2, "0": 0.3, "2": 0.15, "-1": 0.25}
    assert _take_shares({"quality": {"A": given}}, "A", {}) == [0.2, 0.25, 0.3, 0.1, 0.15]
