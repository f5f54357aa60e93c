"""The rules on the paper's own numbers: does each sentence follow from its own table by the rule?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from experiments.acl2021.audit import PRINTED
from experiments.acl2021.figures import find_critical_difference
from experiments.acl2021.printed_figures import read_printed_split
from experiments.acl2021.verdicts import CLAIMS, RULES
from experiments.conclusions import SPEAKS
from experiments.named_data import limit, list_named
from metaeval.show.verdict import Verdict

MARKS = ("table3", "table6", "table9")
ROUNDING = 0.001
"""How far rounding may move the difference of two printed mean τ's."""


def apply_to_print() -> Iterator[Verdict]:
    """Yield what every rule says of the paper's own numbers, and whether the sentence speaks of them.

    Yields
    ------
    Verdict
    """
    for claim in CLAIMS["claims"]:
        reason = f"print does not have {claim['needs']}" if claim.get("needs") else ""
        counts = claim.get("power") and claim["kind"] == "quantification"
        source = [("significant pairs", "of LQ 2021, Table 3")] if counts else []
        for verdict in RULES[claim["name"]].apply_to_print():
            first = verdict.data.partition(": ")[2].split(", ")[0]
            said = (
                "yes"
                if first in claim["speaks_of"]
                else "yes, it denies it"
                if first in claim.get("denies", ())
                else "no"
            )
            told = replace(verdict, reason=reason, conditions=((SPEAKS, said), *source))
            yield limit(told, list_named(claim), [first])


def find_implications() -> Iterator[str]:
    """Yield where a rule does not give the paper's sentence on its own numbers, and what its marks follow from.

    Yields
    ------
    str
    """
    n, unlike = 0, []
    for one in apply_to_print():
        if one.reason or dict(one.conditions)[SPEAKS] == "no":
            continue
        n += 1
        if one.outcome != "holds":
            unlike.append(f"“{one.claim}” ({one.where}) on {one.data}: {one.outcome} ({one.describe_evidence()})")
    yield (
        f"The rules on the paper's own numbers: in {n - len(unlike)} of {n} places that a sentence speaks of, and for which "
        "print has the figures, its rule gives the sentence (or its denial, where the sentence denies it)."
    )
    yield from (f"There it does not: {line}" for line in unlike)
    for table in MARKS:
        yield _explain_marks(table)


def _explain_marks(table: str) -> str:
    """Say how many marks follow from the mean τ's and V_E2 beside them."""
    n, wrong = 0, []
    for collection, parts in PRINTED[table].items():
        for part, rows in parts.items():
            split = read_printed_split(rows)
            gap = find_critical_difference(split.means.to_numpy(), split.variance, split.n_trials)
            for name in split.means.index:
                n += 1
                differences = split.means[name] - split.means
                # Two mean τ's are printed to half a unit of the third digit each.
                fewest, mark, most = (int((differences >= gap + slack).sum()) for slack in (ROUNDING, 0, -ROUNDING))
                if not fewest <= rows[name][1] <= most:
                    wrong.append(f"{collection}, {part}, {name}: {rows[name][1]} in print, {mark} by the difference")
    said = f" Not: {'; '.join(wrong)}." if wrong else ""
    return (
        f"Table {table[-1]}: {n - len(wrong)} of {n} marks follow from the mean τ's and V_E2 by the critical difference of "
        f"the randomised Tukey HSD test for many splits, within their rounding.{said}"
    )
