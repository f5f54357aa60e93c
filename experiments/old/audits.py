"""Audits of printed numbers: identities that they must satisfy whatever the data, and what does not satisfy them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

import metaeval


@dataclass(frozen=True)
class Check:
    """One identity, in words, tried on one place of a paper; `found` is what the numbers say where it does not hold."""

    item: str
    identity: str
    holds: bool
    where: str
    found: str = ""


def whole_pairs(tau: float, pairs: float) -> int | None:
    """Return the whole number k with k / pairs printing as τ to three digits, or None where there is none.

    Examples
    --------
    >>> whole_pairs(0.818, 66), whole_pairs(0.820, 66)
    (54, None)
    """
    k = round(tau * pairs)
    return k if abs(k / pairs - tau) <= 0.5 * 10.0**-3 + 1e-9 else None


def rounds_to(value: float, printed: float, digits: int) -> bool:
    """Tell whether a value prints as given, a half going either way.

    Examples
    --------
    >>> rounds_to(100 * 29 / 41, 70.7, 1), rounds_to(100 * 29 / 41, 70.8, 1)
    (True, False)
    """
    return abs(value - printed) <= 0.5 * 10.0**-digits + 1e-9


def tabulate_audit(title: str, checks: Iterable[Check], signature: str) -> metaeval.Table:
    """Return how many identities were tried and how many hold, one row per item and identity."""
    groups: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        groups.setdefault((check.item, check.identity), []).append(check)
    rows = [
        (item, identity, len(tried), sum(check.holds for check in tried), sum(not check.holds for check in tried))
        for (item, identity), tried in groups.items()
    ]
    rows.append(("all", "", *(sum(row[column] for row in rows) for column in (2, 3, 4))))
    frame = pd.DataFrame(rows, columns=["item", "identity", "tried", "hold", "fail"]).set_index("item")
    caption = f"{title}: the printed numbers against identities that they must satisfy whatever the data."
    return metaeval.Table(frame, caption, f"{signature} | metaeval {metaeval.__version__}")


def list_failures(checks: Iterable[Check]) -> list[str]:
    """Return one sentence for each check that fails."""
    return [
        f"{check.item}, {check.where}: {check.found} (must hold: {check.identity})"
        for check in checks
        if not check.holds
    ]
