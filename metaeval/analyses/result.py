"""What every result can do besides holding its numbers: show itself as a table, a figure, or plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import pandas as pd

from metaeval.show.signature import Signature
from metaeval.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Result(ABC):
    """Base of the results of analyses: small, frozen, with a signature."""

    signature: Signature

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
        """Return the result as plain data that JSON can hold: its kind, signature and rows, and directions of measures."""
        frame = self.to_frame()
        if frame.index.name or frame.index.nlevels > 1:
            frame = frame.reset_index()
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        measures = (one for name in ("measures", "reference", "candidates") for one in getattr(self, name, ()))
        directions = {str(one): one.direction for one in measures}
        said = {"result": type(self).__name__, "signature": str(self.signature), "directions": directions}
        return {**said, "rows": rows}
