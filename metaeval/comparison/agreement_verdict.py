"""How well does a measure agree with the reference, beside the others? A headline, and a line with its numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metaeval.analyses.agreement_result import Agreement, StatisticAgreement
from metaeval.show.verdict import Evidence, OutcomeWord
from metaeval.stats.intervals import LIKE


class AgreementVerdict(NamedTuple):
    """What agreement with the reference says of a measure; the headline is empty where there are too few data for one."""

    headline: str
    phrase: str
    outcome: OutcomeWord
    evidence: tuple[Evidence, ...]


def judge_with_reference(agreement: Agreement, name: str) -> AgreementVerdict:
    """Say how well a measure agrees with the reference, by simultaneous intervals of pairwise accuracy."""
    result, names = agreement.results[0], [str(measure) for measure in agreement.measures]
    reference, m = agreement.reference.title, names.index(name)
    value, low, high = (float(numbers[m]) for numbers in (result.values, result.low, result.high))
    evidence = (Evidence("pairwise accuracy", value, (low, high) if low <= high else None),)
    known = low <= high
    place = int((result.values > value).sum()) + 1
    better, worse = int(result.better[:, m].sum()), int(result.better[m].sum())
    numbers = (
        f"{100 * low:.0f}–{100 * high:.0f} %; {better or 'none'} clearly better, {worse or 'none'} clearly worse"
        if known
        else "no interval"
    )
    phrase = f"Orders {100 * value:.0f} % of run pairs as {reference} does, place {place} of {len(names)} ({numbers})"
    return AgreementVerdict(
        _judge(result, m, reference) if known else "", phrase, "holds" if known else "cannot tell", evidence
    )


def _judge(result: StatisticAgreement, m: int, reference: str) -> str:
    """Return the headline."""
    if len(result.values) > 1 and (result.high < result.chance).all():
        return f"Every measure disagrees with {reference}: is its direction right?"
    if result.high[m] < result.chance:
        return f"Ranks runs opposite to {reference}: is the direction right?"
    if result.low[m] <= result.chance:
        return f"Not shown to agree with {reference} better than chance"
    return _compare(result, m, reference)


def _compare(result: StatisticAgreement, m: int, reference: str) -> str:
    """Say who agrees better with the reference."""
    n, ahead, behind = len(result.values) - 1, int(result.better[m].sum()), int(result.better[:, m].sum())
    if not n:
        return f"Agrees with {reference} better than chance"
    if 2 * behind > n:
        return f"Agrees with {reference} less than {'every other measure' if behind == n else 'most measures'}"
    if 2 * ahead > n:
        return f"Agrees with {reference} better than {'every other measure' if ahead == n else 'most measures'}"
    if behind:
        who = "1 measure is" if behind == 1 else f"{behind} measures are"
        return f"Not the best at agreeing with {reference}: {who} clearly better"
    if ahead:
        return f"Among the best at agreeing with {reference}"
    first, second = np.triu_indices(n + 1, 1)
    mine = [word for i, j, word in zip(first, second, result.conclusions, strict=True) if m in (i, j)]
    if all(word == LIKE for word in mine):
        return f"Agrees with {reference} as well as the others"
    return f"Agrees with {reference}; no measure is clearly better"
