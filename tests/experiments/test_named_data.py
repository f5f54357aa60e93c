"""Sentences about certain collections: other data do not refute them, and where they deny something its failing is right."""

import pytest

pytest.importorskip("experiments.named_data", reason="the experiments are not part of an installed copy")

from experiments.named_data import deny, limit
from experiments.verdicts import Rule
from metaeval.show.verdict import Evidence, Verdict


def judged(word):
    return Verdict("NMD is poor in (I).", "§6.3", "rule", "data", word, (Evidence("n", 1),), (("seed", "0"),))


@pytest.mark.parametrize(
    ("word", "place", "relation", "outcome"),
    [
        ("does not hold", "DQ-A", "the paper's", "does not hold"),
        ("does not hold", "DQ-A", "subset", "does not hold"),
        ("does not hold", "DQ-A", "stand-in", "does not hold"),
        ("does not hold", "DQ-A", "in kind", "cannot tell"),
        ("holds", "DQ-A", "in kind", "holds"),
        ("holds in part", "DQ-A", "in kind", "holds in part"),
        ("does not hold", "DQ-E", "the paper's", "cannot tell"),
        ("holds", "DQ-E", "in kind", "cannot tell"),
    ],
)
def test_only_the_collections_that_a_sentence_is_about_refute_it(word, place, relation, outcome):
    found = limit(judged(word), ["DQ-A"], [place], relation)
    assert found.outcome == outcome
    if outcome != word:
        assert found.reason == "the sentence is about DQ-A"
        assert found.conditions == (("by the rule alone", word), ("seed", "0"))


def test_a_sentence_that_singles_out_no_collection_is_tried_on_all():
    assert limit(judged("does not hold"), [], ["DQ-E"], "in kind") == judged("does not hold")


@pytest.mark.parametrize(
    ("word", "turned"),
    [("holds", "does not hold"), ("does not hold", "holds"), ("cannot tell", "cannot tell")],
)
def test_a_denial_is_right_where_the_rule_does_not_hold(word, turned):
    rule = Rule("RSNOD lies between, not in DQ-E.", "§6.1", "text", lambda study: (word, ()))
    assert deny(rule).decide(None) == (turned, ())


def test_a_denied_rule_that_does_not_apply_still_does_not():
    assert deny(Rule("c", "w", "t", lambda study: None)).decide(None) is None
