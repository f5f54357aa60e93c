"""Audits of printed numbers: identities that they must satisfy whatever the data, and what does not satisfy them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import metaeval


@dataclass(frozen=True)
class Check:
    """One identity tried on one place of a paper.

    Parameters
    ----------
    item : str
        The table, figure or section.
    identity : str
        What must hold, in words; checks of the same item and identity are counted together.
    holds : bool
    where : str
        Which numbers.
    found : str, optional
        What they say instead, when it does not hold.
    """

    item: str
    identity: str
    holds: bool
    where: str
    found: str = ""


def whole_pairs(tau: float, pairs: float, digits: int = 3) -> int | None:
    """Return the whole number k with k / pairs printing as τ, or None where there is none.

    Parameters
    ----------
    tau : float
        As printed.
    pairs : float
        The denominator, n(n − 1)/2 for τ_a.
    digits : int, optional
        Printed digits.

    Returns
    -------
    int or None

    Examples
    --------
    >>> whole_pairs(0.818, 66), whole_pairs(0.820, 66)
    (54, None)
    """
    k = round(tau * pairs)
    return k if abs(k / pairs - tau) <= 0.5 * 10.0**-digits + 1e-9 else None


def rounds_to(value: float, printed: float, digits: int) -> bool:
    """Tell whether a value prints as given, a half going either way.

    Examples
    --------
    >>> rounds_to(100 * 29 / 41, 70.7, 1), rounds_to(100 * 29 / 41, 70.8, 1)
    (True, False)
    """
    return abs(value - printed) <= 0.5 * 10.0**-digits + 1e-9


def page(title: str, introduction: str, checks: Iterable[Check], findings: Iterable[str], signature: str) -> str:
    """Return an audit as a page of Markdown: what was checked, what failed, what follows.

    Parameters
    ----------
    title, introduction : str
    checks : iterable of Check
    findings : iterable of str
        What the numbers imply beyond right or wrong, one paragraph each.
    signature : str
        Added to the version below the page.

    Returns
    -------
    str
    """
    groups: dict[tuple[str, str], list[Check]] = {}
    for one in checks:
        groups.setdefault((one.item, one.identity), []).append(one)
    lines = [
        f"# {title}",
        "",
        introduction,
        "",
        "| item | identity | tried | hold | fail |",
        "| :-- | :-- | --: | --: | --: |",
    ]
    failed: list[Check] = []
    for (item, identity), tried in groups.items():
        wrong = [one for one in tried if not one.holds]
        failed += wrong
        lines.append(f"| {item} | {identity} | {len(tried)} | {len(tried) - len(wrong)} | {len(wrong)} |")
    total = sum(map(len, groups.values()))
    lines.append(f"| all |  | {total} | {total - len(failed)} | {len(failed)} |")
    lines += ["", "## What fails", ""]
    lines += [f"- {one.item}, {one.where}: {one.found} (must hold: {one.identity})" for one in failed] or ["None."]
    lines += ["", "## What the numbers imply", "", *(f"- {one}" for one in findings)]
    return "\n".join([*lines, "", f"<sub>{signature} | metaeval {metaeval.__version__}</sub>", ""])
