"""The dialect of claims: numbers with intervals, three answers, sentences that read as what they try."""

import itertools
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments import bounds
from experiments.old.bounds import BOUNDS
from experiments.old.claims import (
    Answer,
    NotGiven,
    Number,
    Truth,
    bound,
    claim,
    every,
    list_claims,
    some,
    tabulate_claims,
    try_claims,
)
from experiments.old.outcome import Outcome
from experiments.old.page import show_claims

YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("number", "at_least", "above"),
    [
        (Number("exact", 0.8), YES, NO),
        (Number("exact", 0.9), YES, YES),
        (Number("exact", 0.7), NO, NO),
        (Number("sure", 0.9, 0.85, 0.95), YES, YES),
        (Number("touches", 0.9, 0.8, 0.95), YES, UNKNOWN),
        (Number("holds the bound", 0.9, 0.7, 0.95), UNKNOWN, UNKNOWN),
        (Number("ends at the bound", 0.7, 0.6, 0.8), UNKNOWN, NO),
        (Number("below", 0.7, 0.6, 0.75), NO, NO),
        (Number.unsure("too few runs", 0.9), UNKNOWN, UNKNOWN),
        (Number("missing", math.nan), UNKNOWN, UNKNOWN),
        (Number("last bits", 0.8 - 1e-15), YES, NO),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_number_is_told_from_a_bound_by_its_interval(number, at_least, above):
    assert (number >= 0.8).truth is at_least
    assert (number > 0.8).truth is above
    assert (number < 0.8).truth is (~Answer(at_least)).truth
    assert (number <= 0.8).truth is (~Answer(above)).truth


def test_two_numbers_are_told_apart_where_their_intervals_do_not_meet():
    low, high, between = Number("low", 1, 0, 2), Number("high", 5, 4, 6), Number("between", 3, 1, 5)
    assert (low < high).truth is YES
    assert (low > high).truth is NO
    assert (low < between).truth is UNKNOWN
    assert (low < high).numbers == (low, high)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(Truth, repeat=2)))
def test_answers_join_as_truth_and_ignorance_do(first, second):
    both, either = (Answer(first) & Answer(second)).truth, (Answer(first) | Answer(second)).truth
    if UNKNOWN not in (first, second):
        assert both is (YES if first is second is YES else NO)
        assert either is (NO if first is second is NO else YES)
    else:  # what is unknown counts only where it could change the answer
        certain = {first, second} - {UNKNOWN}
        assert both is (NO if NO in certain else UNKNOWN)
        assert either is (YES if YES in certain else UNKNOWN)
    assert every([Answer(first), Answer(second)]).truth is both
    assert some([Answer(first), Answer(second)]).truth is either


def test_an_answer_is_no_truth_value():
    with pytest.raises(TypeError, match="cannot tell"):
        bool(Answer(UNKNOWN))


@claim("§1", "A and B are similar.", about=("DQ-A",))
def similar(facts):
    """τ is at least {similar}, and below {nearly the same}."""
    return (facts.tau() >= bound("similar")) & (facts.tau() < bound("nearly the same"))


@claim("asked here", "Is A large?")
def large(facts):
    """A is above 10."""
    if facts.large is None:
        raise NotGiven("print does not have A")
    return Number("A", facts.large) > 10


def make_facts(collection, tau, large=None):
    return SimpleNamespace(collection=collection, tau=lambda: tau, large=large)


def test_claims_are_tried_on_the_collections_that_they_are_about():
    facts = {
        "print: DQ-A": make_facts("DQ-A", Number("τ", 0.85)),
        "print: DQ-E": make_facts("DQ-E", Number("τ", 0.1)),
        "stc3-dq-a": make_facts("DQ-A", Number("τ", 0.85, 0.7, 0.9), 11),
    }
    claims = list_claims(SimpleNamespace(similar=similar, large=large, bound=bound))
    findings = list(try_claims(claims, facts))
    assert [(one.data, one.answer.truth.value) for one in findings] == [
        ("print: DQ-A", "holds"),
        ("stc3-dq-a", "cannot tell"),
        ("print: DQ-A", "cannot tell"),
        ("print: DQ-E", "cannot tell"),
        ("stc3-dq-a", "holds"),
    ]
    assert [one.figures for one in findings[:3]] == ["τ 0.850", "τ 0.850 [0.700, 0.900]", "print does not have A"]
    table = tabulate_claims(findings, "Claims.", "signature")
    assert table.frame["rule"].iloc[0] == (
        f"τ is at least {BOUNDS['similar'].value:g}, and below {BOUNDS['nearly the same'].value:g}."
    )
    page = show_claims(Outcome("paper", "", {"claims": table})).splitlines()
    assert page[0] == "| claim, and when it holds | on real data | by print's own numbers |"
    assert page[2].startswith("| “A and B are similar.” (§1).")
    assert page[2].endswith("| **cannot tell** (stc3-dq-a: τ 0.850 [0.700, 0.900]) | **holds** (DQ-A: τ 0.850) |")
    assert page[3].startswith("| Is A large? (asked here).")


def test_every_bound_is_read_by_some_claim_or_study():
    code = "\n".join(path.read_text(encoding="utf-8") for path in Path(bounds.__file__).parent.rglob("*.py"))
    read = {name: (f"{{{name}}}", f'bound("{name}")', f'BOUNDS["{name}"]') for name in BOUNDS}
    assert [name for name, ways in read.items() if not any(way in code for way in ways)] == []
