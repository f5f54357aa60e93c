"""What every result can do besides holding its numbers: show itself as a table, a figure, or plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from metaeval.analyses.diagnostics import Diagnostics
from metaeval.show.signature import Signature
from metaeval.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Result(ABC):
    """Base of the results of analyses: small, frozen, with a signature.

    Parameters
    ----------
    diagnostics : tuple of Diagnostics
        For each collection, what is irregular about its runs.
    remarks : tuple of str
        What else a reader has to know, a sentence each.
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

    @abstractmethod
    def to_table(self) -> Table:
        """Return the result as the table a paper would print, with caption and signature."""

    @abstractmethod
    def plot(self) -> Figure:
        """Return the figure that shows the result, with its signature below.

        Returns
        -------
        matplotlib.figure.Figure
            Not known to pyplot: show it in a notebook by its name, or save it with
            `metaeval.show.drawing.save_figure`.
        """

    def detail_tables(self) -> list[Table]:
        """Return further tables that the command line prints below the first one."""
        return []

    def notes(self) -> list[str]:
        """Return what a reader has to know about the runs and the method, a sentence each."""
        return [*(sentence for one in self.diagnostics for sentence in one.describe()), *self.remarks]

    def to_text(self) -> str:
        """Return the table for a terminal."""
        return self.to_table().to_text()

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return self.to_table().to_markdown()

    def to_latex(self) -> str:
        """Return the table as LaTeX with booktabs rules."""
        return self.to_table().to_latex()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data that JSON can hold: its kind, signature, rows, notes and diagnostics."""
        frame = self.to_frame()
        if frame.index.name or frame.index.nlevels > 1:
            frame = frame.reset_index()
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return {
            "result": type(self).__name__,
            "signature": str(self.signature),
            "rows": rows,
            "notes": self.notes(),
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }
