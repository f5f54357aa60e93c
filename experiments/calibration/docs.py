"""Sentences of the documentation that are made from the committed counts, between marks in its pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from experiments.calibration.conclusion import describe_reliability, describe_tests
from experiments.calibration.rates import compute_rates, read_counts
from experiments.page import format_list

ROOT = Path(__file__).resolve().parents[2]
DOCS, RESULTS = ROOT / "docs" / "concepts", ROOT / "results" / "calibration"

MARKED = re.compile(r"(<!-- calibration: (?P<name>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""What is written by hand is outside of the marks."""


def read_sentences(folder: Path) -> dict[str, list[str]]:
    """Return all sentences that pages may ask for, by name, from the tables that are kept.

    Parameters
    ----------
    folder : Path
        ``results/calibration``.

    Returns
    -------
    dict of str to list of str
    """
    means = pd.read_csv(folder / "reliability" / "means.csv", index_col=["changed", "test"])
    rates = compute_rates(read_counts(folder / "tests" / "counts.csv"))
    return describe_tests(rates) | {"reliability": describe_reliability(means)}


def renew_page(text: str, sentences: Mapping[str, Sequence[str]]) -> str:
    r"""Return a page with sentences as they come out now between its marks.

    Parameters
    ----------
    text : str
    sentences : mapping of str to sequence of str
        As `read_sentences` returns them.

    Returns
    -------
    str

    Examples
    --------
    >>> print(renew_page("A\n<!-- calibration: rule -->\nold\n<!-- end -->\nB", {"rule": ["New."]}))
    A
    <!-- calibration: rule -->
    New.
    <!-- end -->
    B
    """

    def write(found: re.Match[str]) -> str:
        lines = sentences[found["name"]]
        return f"{found[1]}{format_list(lines) if len(lines) > 1 else ''.join(lines)}\n{found[3]}"

    return MARKED.sub(write, text)


def list_pages() -> list[Path]:
    """Return the pages of the documentation that have such marks."""
    return [path for path in sorted(DOCS.glob("*.md")) if MARKED.search(path.read_text(encoding="utf-8"))]
