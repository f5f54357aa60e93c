"""The layout of the pages of ACL 2021 and LQ 2021: printed numbers, conclusions, then table by table of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.audits import Check
from experiments.licences import show_data
from experiments.outcome import Outcome
from experiments.page import (
    fold,
    format_list,
    join_parts,
    show_audit,
    show_command,
    show_counts,
    show_inputs,
    show_notes,
    show_picture,
    show_table,
    show_verdicts,
)
from experiments.side_by_side import show_item
from experiments.sources import SOURCES_ARE


@dataclass(frozen=True)
class Layout:
    """What differs between the pages.

    Parameters
    ----------
    paper, title, introduction : str
    study : mapping
        study.toml, with its ``sources`` and ``inputs``.
    order : sequence of str
        Tables and figures of the paper, in its order: what the names of tables begin with.
    captions : mapping of str to str
        What a table or figure of the paper shows.
    kinds : mapping of str to mapping of str to str
        By table, which of its numbers are compared with each other, as for `show_item`.
    """

    paper: str
    title: str
    introduction: str
    study: Mapping[str, Any]
    order: Sequence[str]
    captions: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def write_source_page(
    layout: Layout,
    outcomes: Sequence[Outcome],
    checks: Iterable[Check],
    implications: Iterable[str],
    pictures: Mapping[str, Sequence[str]],
) -> str:
    """Return the page of a paper whose tables are computed from several sources of data.

    Parameters
    ----------
    layout : Layout
    outcomes : sequence of Outcome
        The audit first, then one a source.
    checks : iterable of Check
    implications : iterable of str
        What the printed numbers imply.
    pictures : mapping of str to sequence of str
        By source, the figures that are kept.

    Returns
    -------
    str
        Markdown.
    """
    audited, *sources = outcomes
    there = layout.study["sources"]
    return join_parts(
        layout.paper,
        f"# {layout.title}",
        layout.introduction,
        "Sources of data, each a folder here:",
        format_list(f"**{source}**: {SOURCES_ARE[source]}" for source in there),
        format_list(audited.notes),
        "## Printed numbers",
        show_counts(outcomes),
        "## Conclusions of the paper, by rule",
        show_verdicts([verdict for one in outcomes for verdict in one.verdicts]),
        "## Printed and reproduced, in the order of the paper",
        *(part for item in layout.order for part in _show_one(layout, item, sources, pictures)),
        "## What went in",
        show_inputs(layout.study["inputs"]),
        *show_audit(audited, checks, implications, f"experiments/{layout.paper}/printed.toml"),
        "## Caveats",
        show_notes(sources),
        "## How to make it again",
        show_command(layout.paper, "with the original score matrices: `--data FOLDER`, see docs/how-to/reproduce.md"),
        "## Data and licence",
        show_data(_list_data(there)),
    )


def _show_one(
    layout: Layout, item: str, sources: Sequence[Outcome], pictures: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return one table or figure of the paper: how near each source comes, then what each source has."""
    label = f"{item[:-1].capitalize()} {item[-1]}"
    parts = show_item(sources, label, layout.kinds.get(item))
    seen: set[str] = set()  # what does not hang on the source is shown once
    for one in sources:
        names = [name for name in one.tables if name.partition("_")[0] == item]
        shown = [show_table(one, name) for name in names if one.tables[name].to_csv() not in seen]
        seen |= {one.tables[name].to_csv() for name in names}
        if shown:
            parts.append(fold(f"{label} from {one.source}", *shown))
        parts += [
            show_picture(one, name, f"{label}, {one.source}")
            for name in pictures.get(one.source, ())
            if name.partition("_")[0] == item
        ]
    title = f"### {label}{': ' * bool(layout.captions.get(item))}{layout.captions.get(item, '')}"
    return [title, *parts] if parts else []


def _list_data(sources: Mapping[str, Mapping[str, str | Sequence[str]]]) -> list[str]:
    """Return the names of all data sets of all sources."""
    found = []
    for collections in sources.values():
        for names in collections.values():
            found += [names] if isinstance(names, str) else list(names)
    return found
