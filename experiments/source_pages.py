"""The layout of the pages of ACL 2021 and LQ 2021: printed numbers, conclusions, the audit, then source by source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from experiments.audits import Check
from experiments.outcome import Outcome
from experiments.page import (
    format_list,
    join_parts,
    show_audit,
    show_command,
    show_counts,
    show_picture,
    show_table,
    show_verdicts,
)
from experiments.sources import ORIGINAL, SOURCES_ARE


@dataclass(frozen=True)
class Layout:
    """What differs between the pages.

    Parameters
    ----------
    paper, title, introduction : str
    order : sequence of str
        Tables and figures of the paper, in its order: what the names of tables begin with.
    captions : mapping of str to str
        Of the pictures.
    """

    paper: str
    title: str
    introduction: str
    order: Sequence[str]
    captions: Mapping[str, str] = field(default_factory=dict)


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
    parts = []
    for one in sources:
        names = [name for item in layout.order for name in one.tables if name.partition("_")[0] == item]
        parts += [
            f"## {'The original matrices' if one.source == ORIGINAL else f'Source {one.source}'}",
            format_list(one.notes),
            *(show_table(one, name) for name in names),
            *(show_picture(one, name, layout.captions[name]) for name in pictures.get(one.source, ())),
        ]
    return join_parts(
        layout.paper,
        f"# {layout.title}",
        layout.introduction,
        show_command(layout.paper, "with the original score matrices: `--data FOLDER`, see docs/how-to/reproduce.md"),
        "Sources of data, each a folder here:",
        format_list(f"**{source}**: {text}" for source, text in SOURCES_ARE.items()),
        format_list(audited.notes),
        "## Printed numbers",
        show_counts(outcomes),
        "## Conclusions of the paper on other data",
        show_verdicts([verdict for one in sources for verdict in one.verdicts]),
        *show_audit(audited, checks, implications, f"experiments/{layout.paper}/printed.toml"),
        *parts,
    )
