"""Templates of text: the filters that they may use, and filling them. Pages of results and docs/ share them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd


def format_percent(share: float, digits: int = 1) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{digits}f} %"


def format_span(values: Iterable[float], form: str = ".1f", times: float = 1) -> str:
    """Return the smallest and the largest of some values."""
    numbers = [times * value for value in values]
    low, high = (format(value, form) for value in (min(numbers), max(numbers)))
    return f"{low} to {high}" if low != high else low


def join_names(names: Iterable[object]) -> str:
    """Return names as part of a sentence."""
    *others, last = map(str, names)
    between = "; " if any("," in name for name in [*others, last]) else ", "
    return f"{between.join(others)} and {last}" if others else last


def name_cell(row: Mapping[str, Any]) -> str:
    """Return what a cell of the study of error rates is called in a sentence."""
    design = row["design"] if ": " in row["design"] else f"“{row['design']}”"
    truth = f", {row['truth']}" if row["truth"] else ""
    return f"{design}, {row['runs']} runs, {row['topics']:,} topics{truth}"


def select_outside(coverage: pd.DataFrame, limits: tuple[float, float]) -> pd.DataFrame:
    """Return the rows whose share of intervals that hold the true value is outside of some limits."""
    return coverage[~coverage["coverage"].between(*limits)]


@cache
def make_environment() -> jinja2.Environment:
    """Return what renders the templates: of pages in docs/, and of pages of results."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 (Markdown from our own tables)
    )
    environment.filters |= {
        "percent": format_percent, "span": format_span, "names": join_names, "cell": name_cell,
        "outside": select_outside, "mean": lambda values: sum(values) / len(values),
    }  # fmt: skip
    return environment


def fill_template(template: str, **facts: Any) -> str:
    """Fill a template; sentences of sentences.jinja are called as ``say.NAME(…)``."""
    environment = make_environment()
    say = environment.get_template("sentences.jinja").make_module(facts)
    text = environment.from_string(template).render(say=say, **facts)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
