"""Sentences of the documentation that are made from the committed counts, between marks in its pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.page import format_list

DOCS = Path(__file__).resolve().parents[2] / "docs" / "concepts"

MARKED = re.compile(r"(<!-- calibration: (?P<name>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""What is written by hand is outside of the marks."""


def renew_page(text: str, sentences: Mapping[str, Sequence[str]]) -> str:
    """Return a page with sentences as they come out now between its marks.

    Parameters
    ----------
    text : str
    sentences : mapping of str to sequence of str
        As `experiments.calibration.steps.describe_tests` returns them.

    Returns
    -------
    str

    Examples
    --------
    >>> print(renew_page("A\\n<!-- calibration: rule -->\\nold\\n<!-- end -->\\nB", {"rule": ["New."]}))
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
