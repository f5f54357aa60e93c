"""Tables as a page of HTML that needs nothing else: no script, no style sheet, no network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Protocol

from metaeval.errors import one_line, visible
from metaeval.show.cells import Cells
from metaeval.show.names import to_html
from metaeval.show.signature import Signature

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
body { color: #111; background: #fff }
table { border-collapse: collapse; margin: .5rem 0 }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: left }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
caption { caption-side: top; text-align: left; padding: .6rem 0 }
small { color: #555; overflow-wrap: anywhere }
.wide { overflow-x: auto }
@media (prefers-color-scheme: dark) {
  body { color: #eee; background: #111 }
  th, td { border-color: #444 }
  small { color: #aaa }
}
@media print { body { color: #000; background: #fff; max-width: none } }
"""


class Captioned(Protocol):
    """What a page shows of a table: `metaeval.Table` has it."""

    @property
    def whole_caption(self) -> str:
        """What the table shows, and how to read it."""

    @property
    def signature(self) -> Signature | str:
        """How it was computed."""

    def list_cells(self, *, titles: bool = False) -> Cells:
        """Return its texts."""


def write_page(title: str, tables: Sequence[Captioned], *, answer: str = "", notes: Sequence[str] = ()) -> str:
    """Return a page with an answer, tables and notes; names from data are text in it.

    >>> import pandas as pd
    >>> from metaeval.show.table import Table
    >>> table = Table(pd.DataFrame({"mean": [0.5]}, index=pd.Index(["<b>"], name="run")), "Runs.", "signature")
    >>> "<b>" in write_page("Runs", [table]), "&lt;b&gt;" in write_page("Runs", [table])
    (False, True)
    """
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_escape(title)}</title>'
    body = f"<p><strong>{_escape(answer)}</strong></p>\n" * bool(answer) + write_fragment(tables, notes)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n'
        f"<body><h1>{_escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def write_fragment(tables: Sequence[Captioned], notes: Sequence[str] = ()) -> str:
    """Return tables and notes as a part of a page, as notebooks show it; names from data are text in it."""
    body = "\n".join(_write_table(table) for table in tables)
    listed = "".join(f"<li>{to_html(note)}</li>" for note in notes)
    return f"<div>{body}{f'<ul>{listed}</ul>' if listed else ''}</div>"


def _write_table(table: Captioned) -> str:
    cells = table.list_cells(titles=True).convert(one_line)
    classes = ["" if left else ' class="number"' for left in cells.left]
    top = "".join(
        f'<th scope="col"{c}>{to_html(label)}</th>' for c, label in zip(classes, cells.flat_head, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(f"<td{c}>{to_html(cell)}</td>" for c, cell in zip(classes, row, strict=True)) + "</tr>"
        for row in cells.rows
    )
    return (
        f'<div class="wide"><table><caption>{to_html(table.whole_caption)}</caption>\n<thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>\n<p><small>{_escape(str(table.signature))}</small></p>"
    )


def _escape(text: str) -> str:
    return html.escape(visible(text))
