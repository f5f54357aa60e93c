"""The paper's claims about gold labels, tried where a source has them."""

from __future__ import annotations

from collections.abc import Mapping

import metaeval
from experiments.acl2021.verdicts import CLAIMS, PAPER
from metaeval.show.verdict import Evidence, Verdict


def judge_gold(collections: Mapping[str, metaeval.ClassificationRuns]) -> list[Verdict]:
    """Return whether some topic has a class without gold items, over all collections together.

    Parameters
    ----------
    collections : mapping of str to ClassificationRuns
        By the paper's name of the collection.

    Returns
    -------
    list of Verdict
        Empty where there is no collection.
    """
    if not collections:
        return []
    claim, evidence = CLAIMS["gold"][0], []
    for runs in collections.values():
        empty = (runs.counts[0].sum(axis=-1) == 0).any(axis=1)
        evidence.append(
            Evidence(f"{runs.collection}: topics with an empty class, of {len(runs.topics)}", int(empty.sum()))
        )
    word = "holds" if any(one.value for one in evidence) else "does not hold"
    data = ", ".join(one.collection for one in collections.values())
    conditions = (("seeds", "nothing is random"),)
    return [
        Verdict(
            claim["claim"], f"{PAPER}, {claim['where']}", claim["rule"], data, word, tuple(evidence), conditions
        )
    ]  # fmt: skip
