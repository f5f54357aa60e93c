"""What the pages share that answer questions the papers leave open: collections, intervals, the order of a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.bounds import BOUNDS, show_bounds
from experiments.classifiers import is_kept
from experiments.licences import show_data
from experiments.outcome import Outcome, Settings
from experiments.page import format_list, join_parts, show_command, show_inputs, show_notes
from experiments.sources import SOURCES_ARE, load_runs_or_scores
from metaeval.errors import MetaevalError, MetaevalWarning

CAVEATS = {
    "skordinal": "classifiers trained here; topics are random groups of items, and numbers depend on the processor as those "
    "of [ordinal_sets](../ordinal_sets/README.md) do.",
    "semeval2017-runs": SOURCES_ARE["semeval2017-runs"],
    "stand-in": SOURCES_ARE["stand-in"],
}
"""What has to be known of a source, whatever is asked of it."""


def load_collections(names: Iterable[str], settings: Settings, lacks: list[str]) -> dict[str, Any]:
    """Return the collections that can be had; classifiers that were never trained wait for ``--full``.

    Parameters
    ----------
    names : iterable of str
    settings : Settings
    lacks : list of str
        Takes what could not be had, and why.

    Returns
    -------
    dict of str to ClassificationRuns, QuantificationRuns or Scores
    """
    found = {}
    for name in names:
        if name.startswith("ordinal-") and not settings.full and (settings.quick or not is_kept(name)):
            lacks.append(f"{name} (its classifiers are trained with --full)")
            continue
        settings.say(f"loading {name}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MetaevalWarning)  # what loading does with odd labels is said elsewhere
                found[name] = load_runs_or_scores(name, settings)
        except MetaevalError as error:
            lacks.append(f"{name} ({error})")
    return found


def find_interval(values: np.ndarray, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the mean of independent values, and the ends of its Student's t interval.

    Parameters
    ----------
    values : ndarray, shape (n,)
    confidence : float, optional

    Returns
    -------
    mean, low, high : float

    Examples
    --------
    >>> [round(one, 2) for one in find_interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.48, 4.48]
    """
    from scipy.stats import t

    mean = float(values.mean())
    reach = float(t.ppf((1 + confidence) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - reach, mean + reach


def show_claims(outcomes: Sequence[Outcome]) -> str:
    """Return the verdicts of all sources together, claim by claim, with what other looks at the data say.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    parts: dict[str, list[str]] = {}
    for one in (verdict for outcome in outcomes for verdict in outcome.verdicts):
        head = f"**“{one.claim}”** ({one.where}). *Rule:* {one.rule}"
        table = ["| data | outcome | figures | other looks |", "| :-- | :-- | :-- | :-- |"]
        row = f"| {one.data} | **{one.outcome}** | {one.describe_evidence()} | {one.describe_conditions()} |"
        parts.setdefault(head, table).append(row)
    return "\n\n".join(f"{head}\n\n" + "\n".join(table) for head, table in parts.items())


def list_data(sources: Mapping[str, Sequence[str]], outcomes: Sequence[Outcome]) -> list[str]:
    """Return the data sets of the sources that were computed."""
    there = [one.source for one in outcomes if not one.is_empty]
    return [name for source in there for name in sources[source]]


def write_answer(
    paper: str,
    title: str,
    study: Mapping[str, Any],
    outcomes: Sequence[Outcome],
    parts: Sequence[str],
    data: Iterable[str],
    *,
    note: str = "",
) -> str:
    """Return a page: the question, the answers by rule, tables and figures, inputs, how to make it again, the data.

    Parameters
    ----------
    paper, title : str
    study : mapping
        study.toml, with its question and inputs, and the names of the bounds that its rules read.
    outcomes : sequence of Outcome
    parts : sequence of str
        Markdown of the tables and figures.
    data : iterable of str
        Data sets that were read.
    note : str, optional
        What there is to say of how it is made.

    Returns
    -------
    str
        Markdown.
    """
    sources = list(dict.fromkeys(one.source for one in outcomes if not one.is_empty))
    caveats = [format_list(f"{name}: {CAVEATS[name]}" for name in sources if name in CAVEATS), show_notes(outcomes)]
    bounds = study.get("bounds", [])
    return join_parts(
        paper,
        f"# {title}",
        f"{study['question']} The papers reproduced here leave it open. Rules were fixed before the figures were "
        "computed, unless a claim or an input says otherwise.",
        "## Answers by rule",
        show_claims(outcomes),
        "### What words count as" if bounds else "",
        show_bounds({name: BOUNDS[name] for name in bounds}) if bounds else "",
        "## Figures and tables",
        *parts,
        "## What went in",
        show_inputs(study["inputs"]),
        "## Caveats" if any(caveats) else "",
        "\n".join(one for one in caveats if one),
        "## How to make it again",
        show_command(paper, note),
        "## Data and licence",
        show_data(data),
    )
