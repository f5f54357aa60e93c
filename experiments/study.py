"""What an experiment gets, what it gives back, and where its results go."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import metaeval
from experiments.comparison import Cell, to_frame
from metaeval.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    """The options of the command line.

    Parameters
    ----------
    data : Path or None
        Where data sets are looked for; None: METAEVAL_DATA, or the user's cache folder, or a download.
    out : Path
        Where results go.
    quick : bool
        Smaller, for a first look.
    n_jobs : int
        Processes or threads at once.
    seed : int
    say : callable
        Takes a line of progress for the reader.
    """

    data: Path | None = None
    out: Path = Path("results")
    quick: bool = False
    n_jobs: int = 1
    seed: int = 0
    say: Callable[[str], None] = field(default=print, repr=False)

    def load(self, name: str) -> Any:
        """Load a data set, or raise a `metaeval.MetaevalError` that says why it cannot be had."""
        built_here = name.startswith("ordinal-")  # kept in the user's cache, not among what was published
        return metaeval.load_dataset(name, folder=None if built_here else self.data)


@dataclass
class Outcome:
    """What one experiment found with one source of data.

    Parameters
    ----------
    paper, source : str
        Results go to ``results/PAPER/SOURCE/``.
    tables : dict of str to Table
        By file name.
    cells : list of Cell
        Printed against reproduced.
    notes : list of str
        What a reader has to know: what could not be had and why.
    tolerance : float
        How far numbers in tables may be from the committed ones and still pass ``--check``: by default only as
        far as another processor rounds the last bits differently.
    figures : dict of str to matplotlib.figure.Figure
        By file name; written as PNG and SVG.
    pages : dict of str to str
        Markdown by file name, made from the numbers; compared letter by letter, but for signatures.
    """

    paper: str
    source: str
    tables: dict[str, metaeval.Table] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tolerance: float = 1e-9
    figures: dict[str, Figure] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was computed, so that there is nothing to write over what an earlier run found."""
        found = self.tables or self.figures or self.pages or any(one.reproduced is not None for one in self.cells)
        return not found

    def write(self, out: Path) -> Path:
        """Write tables, figures and comparison.csv, and return the folder."""
        folder = out / self.paper / self.source
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            table.write(folder, name)
        if self.figures:
            from metaeval.show.drawing import save_figure

            for name, figure in self.figures.items():
                save_figure(figure, folder, name)
        for name, text in self.pages.items():
            write_atomically(folder / f"{name}.md", text)
        if self.cells:
            write_atomically(folder / "comparison.csv", to_frame(self.cells).to_csv(index=False, lineterminator="\n"))
        return folder


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of study.toml or printed.toml."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def differences(fresh: Outcome, out: Path) -> list[str]:
    """Compare fresh results with those kept under `out`, and list what differs beyond its tolerance.

    Parameters
    ----------
    fresh : Outcome
    out : Path
        The results folder.

    Returns
    -------
    list of str
        One line a difference; empty when all is as it was.
    """
    folder = out / fresh.paper / fresh.source
    found = []
    if fresh.cells:
        found += _cell_differences(fresh.cells, folder / "comparison.csv")
    for name, table in fresh.tables.items():
        path = folder / f"{name}.csv"
        if not path.exists():
            found.append(f"{path}: there is no such committed table")
        else:
            found += _table_differences(table.to_csv(), path, fresh.tolerance)
    for name, text in fresh.pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or _unsigned(path.read_text(encoding="utf-8")) != _unsigned(text):
            found.append(f"{path}: the committed page is not what the numbers say now")
    return found


def _unsigned(text: str) -> list[str]:
    """Return the lines of a page but its signatures, whose checksums change with the last bit of any score."""
    return [line for line in text.splitlines() if not line.startswith("<sub>")]


def _cell_differences(cells: list[Cell], path: Path) -> list[str]:
    if not path.exists():
        return [f"{path}: there is no such committed comparison"]
    kept = pd.read_csv(path, keep_default_na=False, na_values={"reproduced": [""]})
    old = {(r.item, r.row, r.column): (r.reproduced, r.verdict) for r in kept.itertuples()}
    found = []
    for one in cells:
        where = f"{path}: {one.item}, {one.row}, {one.column}"
        if (one.item, one.row, one.column) not in old:
            found.append(f"{where}: not among the committed cells")
            continue
        value, verdict = old[(one.item, one.row, one.column)]
        if (one.reproduced is None) != pd.isna(value):
            found.append(f"{where}: {verdict} was committed, {one.verdict} came out")
        elif one.reproduced is not None and abs(one.reproduced - value) > one.tolerance + 1e-9:
            found.append(f"{where}: {value:g} was committed, {one.reproduced:g} came out")
    if len(old) > len(cells):
        found.append(f"{path}: {len(old) - len(cells)} committed cells did not come out")
    return found


def _table_differences(text: str, path: Path, tolerance: float) -> list[str]:
    fresh, kept = pd.read_csv(io.StringIO(text)), pd.read_csv(path)
    if list(fresh.columns) != list(kept.columns) or len(fresh) != len(kept):
        return [f"{path}: rows or columns are not those committed"]
    found = []
    for column in fresh.columns:
        for row, (a, b) in enumerate(zip(kept[column], fresh[column], strict=True), start=1):
            same = (pd.isna(a) and pd.isna(b)) or a == b
            if not same and not (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= tolerance):
                found.append(f"{path}: row {row}, {column}: {a} was committed, {b} came out")
    return found
