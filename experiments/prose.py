"""Numbers in prose: templates in README.md and docs/, filled from the tables in results/ and benchmarks/measured/.

A page holds a template in a comment, and below it, up to the next ``<!-- end -->``, what the template says now::

    <!-- template: {{ table("results/lq2021/power.csv").significant.max() }} pairs differ. -->
    90 pairs differ.
    <!-- end -->

``python -m experiments --docs`` fills all pages again. Sentences that several pages share are macros of sentences.jinja.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from experiments.page import tabulate_reproduction
from experiments.studies.calibration.designs import STUDY
from experiments.studies.calibration.measures import find_excess
from experiments.studies.calibration.rates import compute_rates, conclude, summarise_copies
from experiments.templates import fill_template
from metaeval.errors import DataError
from metaeval.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]

FILLED = re.compile(r"(?P<comment><!-- template: (?P<template>.*?) -->\n).*?<!-- end -->", re.DOTALL)
"""A comment with a template, and the text that it was filled with."""


def collect_facts(root: Path = ROOT) -> dict[str, Any]:
    """Return what templates of README.md and docs/ may ask for: any committed table, and what the studies conclude."""
    return {
        "table": partial(_read_table, root),
        "study": STUDY,
        "tests": compute_rates(_read_table(root, "results/calibration/counts.csv")),
        "conclude": conclude,
        "summarise_copies": summarise_copies,
        "find_excess": find_excess,
        "reproduced_papers": tabulate_reproduction(root / "results", "`results/{}/README.md`".format),
    }


def _read_table(root: Path, path: str) -> pd.DataFrame:
    """Read a table by its path in the repository."""
    return pd.read_csv(root / path)


def fill_page(text: str, facts: dict[str, Any]) -> str:
    """Return a page with all of its templates filled again."""

    def fill(match: re.Match[str]) -> str:
        try:
            filled = fill_template(match["template"], **facts)
        except jinja2.TemplateError as error:
            raise DataError(f"{match['template'][:60]!r} cannot be filled: {error}") from None
        return f"{match['comment']}{filled}\n<!-- end -->"

    return FILLED.sub(fill, text)


def list_pages(root: Path = ROOT) -> list[Path]:
    """Return all pages that hold a template, the paper among them."""
    paths = [root / "README.md", root / "paper.md", *sorted((root / "docs").rglob("*.md"))]
    return [path for path in paths if path.exists() and FILLED.search(path.read_text(encoding="utf-8"))]


def fill_pages(root: Path = ROOT) -> list[Path]:
    """Fill the templates of all pages again, and return the pages that changed."""
    facts, changed = collect_facts(root), []
    for path in list_pages(root):
        before = path.read_text(encoding="utf-8")
        text = fill_page(before, facts)
        if text != before:
            write_atomically(path, text)
            changed.append(path)
    return changed
