"""Sentences that single out some of a paper's collections: what other data can say of them, and what a denial makes true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments.comparison import Relation
from experiments.verdicts import OPPOSITE, Found, Rule
from metaeval.analyses.study import Study
from metaeval.show.verdict import Verdict


def turn(found: Found) -> Found:
    """Return what becomes of a sentence that denies what the rule says: it is true where the rule does not hold.

    Examples
    --------
    >>> turn(("does not hold", ())), turn(("cannot tell", ()))
    (('holds', ()), ('cannot tell', ()))
    """
    word, evidence = found
    return OPPOSITE.get(word, word), evidence


def deny(rule: Rule) -> Rule:
    """Return the rule for collections of which the sentence says the reverse.

    Parameters
    ----------
    rule : Rule

    Returns
    -------
    Rule
    """

    def decide(study: Study) -> Found | None:
        found = rule.decide(study)
        return None if found is None else turn(found)

    return replace(rule, decide=decide)


def limit(verdict: Verdict, about: Sequence[str], places: Sequence[str], relation: Relation = "the paper's") -> Verdict:
    """Return a verdict that says no more than data can say of a sentence about certain collections.

    On collections in other places it cannot be told. Where other data stand in the place, a sentence that comes out there
    is borne out, but one that does not is not refuted: it says nothing of these data.

    Parameters
    ----------
    verdict : Verdict
    about : sequence of str
        The collections, as the paper calls them; empty where the sentence singles none out.
    places : sequence of str
        In whose places the data stand.
    relation : str, optional
        How the data are related to those of the paper, as for `cell`.

    Returns
    -------
    Verdict
        With what the rule came to as a condition, where that is not the outcome.
    """
    refuted_elsewhere = relation == "in kind" and verdict.outcome == "does not hold"
    if not about or verdict.outcome == "cannot tell" or (set(places) <= set(about) and not refuted_elsewhere):
        return verdict
    reason = f"the sentence is about {', '.join(about)}"
    conditions = (("by the rule alone", verdict.outcome), *verdict.conditions)
    return replace(verdict, outcome="cannot tell", reason=reason, conditions=conditions)


def list_named(claim: Mapping[str, Any]) -> list[str]:
    """Return the collections that a sentence singles out, those of which it denies something too.

    Examples
    --------
    >>> list_named({"about": ["DQ-A"], "denies": ["DQ-E"]}), list_named({})
    (['DQ-A', 'DQ-E'], [])
    """
    return [*claim.get("about", ()), *claim.get("denies", ())]
