"""What every result can do besides holding its numbers: show itself as a table, a figure, files, or plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from metaeval.analyses.diagnostics import Diagnostics
from metaeval.errors import head_of, lower_first, whole_note
from metaeval.files import write_atomically
from metaeval.measures.base import Measure
from metaeval.show.latex import Width
from metaeval.show.table import write_fragment, write_page
from metaeval.show.signature import Signature
from metaeval.show.frames import format_csv, to_plain, to_records
from metaeval.show.table import Table
from metaeval.show.frames import write_workbook

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size
    from metaeval.show.charts import Chart

COMMON = ("diagnostics", "remarks")
"""Fields of every result, which exports describe in their own way."""


@dataclass(frozen=True, eq=False)
class Result(ABC):
    """Base of the results of analyses: small, frozen, with a signature.

    Parameters
    ----------
    diagnostics : tuple of Diagnostics
        For each collection, what is irregular about its runs.
    remarks : tuple of str
        What else a reader has to know, a note each.
    """

    diagnostics: tuple[Diagnostics, ...] = field(default=(), repr=False, kw_only=True)
    remarks: tuple[str, ...] = field(default=(), repr=False, kw_only=True)

    if TYPE_CHECKING:  # a field of each result, whose place among its fields is its own

        @property
        def signature(self) -> Signature:
            """Exactly what was computed."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the numbers as a frame; every analysis says which columns."""

    def answer(self) -> str:
        """Return in one sentence what came out; the command line prints it first."""
        return ""

    def rows(self) -> pd.DataFrame:
        """Return the rows that files and JSON hold: those of `to_frame`, unless there is one for every two runs."""
        return self.to_frame()

    @abstractmethod
    def to_table(self) -> Table:
        """Return the result as the table a paper would print, with caption and signature."""

    def beside(self, measure: str) -> Table | None:
        """Return what the result says of one measure and each other one, the nearest first; None where `to_table` says it."""
        return None

    def to_summary(self) -> Table:
        """Return the table that a paper has room for: of at most five columns, unless they are measures."""
        return self.to_table()

    def charts(self) -> Sequence[Chart]:
        """Return what the figure shows, panel by panel: `plot` draws it on paper, reports on the screen."""
        return ()

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Return the figure that shows the result.

        It is not known to pyplot: show it in a notebook by its name, or save it with `metaeval.show.drawing.save_figure`.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            Where to draw: axes of your own, one for each panel of the figure, or fewer for the first panels only.
        size : {"column", "page"} or (float, float), optional
            Width of a column or of the text of a two-column paper (7.7 and 16 cm), or width and height in inches, with
            letters that can be read at that size.
        signature : bool, optional
            Whether the signature stands below; never in axes of your own.
        """
        from metaeval.show.drawing import draw_charts

        return draw_charts(self.charts(), self.signature if signature else None, ax=ax, size=size)

    def more_figures(self) -> dict[str, Callable[..., Figure]]:
        """Return how to draw further figures, of a size, by name: ``--out`` writes them as NAME-FIGURE.png and .svg."""
        return {}

    def detail_tables(self) -> list[Table]:
        """Return further tables that the command line prints below the first one."""
        return []

    def short_tables(self) -> list[Table]:
        """Return what the command line prints unless ``--explain`` asks for all: tables of few columns."""
        return [self.to_summary(), *self.detail_tables()]

    def explained_tables(self) -> list[Table]:
        """Return what the command line prints with ``--explain``."""
        return [self.to_table(), *self.detail_tables()]

    def details(self) -> dict[str, pd.DataFrame]:
        """Return what was computed, printed or drawn besides `rows`, by name; exports hold all of it."""
        return {}

    def write_tables(self, folder: Path, name: str, width: Width = "column") -> None:
        """Write the table as NAME.md and NAME.tex, the rows as NAME.csv, each detail as NAME-DETAIL.csv, and a page, NAME.html.

        The folder is created if it does not exist; `width` is that of the LaTeX.
        """
        folder.mkdir(parents=True, exist_ok=True)
        table = self.to_table()
        write_atomically(folder / f"{name}.md", table.to_markdown())
        write_atomically(folder / f"{name}.tex", self.to_latex(width=width))
        write_atomically(folder / f"{name}.csv", format_csv(self.rows()))
        for detail, frame in self.details().items():
            write_atomically(folder / f"{name}-{detail.replace('_', '-')}.csv", format_csv(frame))
        title = f"{name}: {collection}" if (collection := getattr(self, "collection", "")) else name
        page = write_page(title, self.page_tables(), answer=self.answer(), notes=self.notes())
        write_atomically(folder / f"{name}.html", page)

    def page_tables(self) -> list[Table]:
        """Return the tables of the page, the most important first."""
        return self.explained_tables()

    def notes(self, *, short: bool = False) -> list[str]:
        """Return what a reader has to know about runs and method, for this test; if `short`, the first line of each."""
        test = dict(self.signature.settings).get("test", "")
        notes = [*(note for diagnostic in self.diagnostics for note in diagnostic.describe(test)), *self.remarks]
        if short:  # a table says in its legend why it has no intervals, which is not printed then
            return [*filter(None, [lower_first(self.why_no_interval())]), *map(head_of, notes)]
        return list(map(whole_note, notes))

    def why_no_interval(self) -> str:
        """Return in a sentence why there is no interval, if one was asked for."""
        return str(getattr(self, "no_interval", ""))

    def to_text(self) -> str:
        """Return the table for a terminal."""
        return self.to_table().to_text()

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return self.to_table().to_markdown()

    def to_latex(self, *, width: Width = "column", label: str = "") -> str:
        """Return the table of `to_summary` as LaTeX with booktabs rules, see `metaeval.Table.to_latex`."""
        return self.to_summary().to_latex(width=width, label=label)

    def to_excel(self, path: str | Path) -> None:
        """Write a workbook (.xlsx): the table, every row, and each detail on a sheet of its own.

        Names from data are text in it, never formulas. Needs the package openpyxl.
        """
        table = self.to_table()
        sheets = {"table": table.frame, "rows": self.to_frame(), **self.details()}
        notes = {"what": table.whole_caption, "signature": str(self.signature)}
        notes |= {f"note {number}": note for number, note in enumerate(self.notes(), start=1)}
        write_workbook(Path(path), sheets, notes)

    def list_measures(self) -> list[Measure]:
        """Return the measures that the result is about, those that they are compared with among them."""
        held = [getattr(self, name, ()) for name in ("measures", "reference", "candidates")]
        listed = [each for some in held for each in (some if isinstance(some, tuple) else (some,))]
        return [each for each in listed if isinstance(each, Measure)]

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return write_fragment([self.to_table()], self.notes())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data that JSON can hold: kind, signature, directions, settings, rows, details, notes."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        settings = {
            name: [*map(to_plain, value)] if isinstance(value, tuple) else to_plain(value)
            for name, value in values.items()
            if name not in COMMON and _is_plain(value)
        }
        details = {name: to_records(frame) for name, frame in self.details().items()}
        return {
            "result": type(self).__name__,
            "signature": str(self.signature),
            "directions": {str(measure): measure.direction for measure in self.list_measures()},
            "settings": settings,
            "rows": to_records(self.rows()),
            **({"details": details} if details else {}),
            "notes": self.notes(),
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) or (
        isinstance(value, tuple) and all(isinstance(each, str | int | float) for each in value)
    )
