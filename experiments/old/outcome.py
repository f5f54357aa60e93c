"""What an experiment gets, what it gives back, and where its results go."""

from __future__ import annotations

import io
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import metaeval
from experiments.old.comparison import PRINTED, Cell, to_frame
from metaeval.errors import MetaevalError
from metaeval.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARISON = "comparison"
"""Name of the file that an outcome has beside its tables."""

SIMULATED = "simulated: "
"""What names of simulated collections begin with."""


@dataclass(frozen=True)
class Settings:
    """The options of the command line.

    Parameters
    ----------
    data : Path or None
        Where data sets are looked for; None: METAEVAL_DATA, or the user's cache folder, or a download.
    quick : bool
        Less than by default, for a first look.
    full : bool
        Everything, also what takes minutes.
    n_jobs : int
        Processes or threads at once.
    seed : int
    say : callable
        Takes a line of progress for the reader.
    """

    data: Path | None = None
    quick: bool = False
    full: bool = False
    n_jobs: int = 1
    seed: int = 0
    say: Callable[[str], None] = field(default=print, repr=False)

    def load(self, name: str) -> Any:
        """Load a data set, or raise a `metaeval.MetaevalError` that says why it cannot be loaded."""
        built_here = name.startswith("ordinal-")  # kept in the user's cache, not among what was published
        return metaeval.load_dataset(name, folder=None if built_here else self.data)


@dataclass
class Outcome:
    """What one experiment found with one source of data.

    Parameters
    ----------
    paper, source : str
        Results go to ``results/PAPER/SOURCE/``; the source is empty for what belongs to all of them.
    tables : dict of str to Table
        By file name.
    cells : list of Cell
        Printed against reproduced.
    notes : list of str
        What a reader has to know.
    tolerance : float
        How far numbers in tables may be from the committed ones and still pass ``--check``: by default only as
        far as another processor rounds the last bits differently.
    figures : dict of str to callable
        By file name, what draws the figure: nothing is drawn before somebody wants to see it.
    texts : dict of str to str
        Markdown for the page, made from the numbers by rules: sentences, lists.
    lacks : list of str
        Collections that were left out or could not be loaded. Every number is as it would be with them, but tables
        may have fewer rows, or be missing.
    kept : dict of str to str
        Why files are not computed anew, or only a part of them: their rows were read from the committed results, so that
        to find them equal says nothing.
    reduced : str
        Why the numbers are not those of the full study, as "2 of 50 repetitions"; they never become results.
    beside : str
        What ours are compared with, where it is not what is printed: the heading of these numbers.
    """

    paper: str
    source: str
    tables: dict[str, metaeval.Table] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tolerance: float = 1e-9
    figures: dict[str, Callable[[], Figure]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    lacks: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    reduced: str = ""
    beside: str = PRINTED

    @property
    def name(self) -> str:
        """Where it stands among the results: ``PAPER/SOURCE``."""
        return f"{self.paper}/{self.source}".rstrip("/")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was computed, so that there is nothing to write over what an earlier run found."""
        return not self.tables and all(cell.reproduced is None for cell in self.cells)

    @property
    def is_whole(self) -> bool:
        """Whether it is all that the full study has of this source."""
        return not self.lacks and not self.reduced

    def format_files(self) -> dict[str, str]:
        """Return the content of its CSV files, by file name without suffix.

        Tables called FILE/PART are the parts of one file, whose first column says which part a row is of.
        """
        files: dict[str, str] = {}
        for name, table in self.tables.items():
            file, _, part = name.partition("/")
            files[file] = join_csv(files.get(file, ""), table.to_csv(), part) if part else table.to_csv()
        if self.cells:
            files[COMPARISON] = to_frame(self.cells, self.beside).to_csv(index=False, lineterminator="\n")
        return files

    def write(self, out: Path) -> bool:
        """Write its CSV files, unless what is there was made from more.

        Parameters
        ----------
        out : Path
            The results folder.

        Returns
        -------
        bool
            Whether they were written.
        """
        folder = out / self.paper / self.source
        files = self.format_files()
        if self.is_empty or self.reduced or (self.lacks and not _covers(files, folder)):
            return False
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_atomically(folder / f"{name}.csv", text)
        return True

    def render(self, out: Path) -> None:
        """Write every table as CSV, Markdown and LaTeX, and every figure as SVG and PDF.

        Parameters
        ----------
        out : Path
        """
        from metaeval.show.drawing import save_figure

        folder = out / self.paper / self.source
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.format_files().items():
            write_atomically(folder / f"{name}.csv", text)
        for name, table in self.tables.items():
            table.write(folder, name.replace("/", "_"))
        for name, draw in self.figures.items():
            save_figure(draw(), folder, name, suffixes=(".svg", ".pdf"))


def join_csv(text: str, more: str, part: str) -> str:
    r"""Return the text of a CSV file of parts with one more part.

    Examples
    --------
    >>> print(join_csv(join_csv("", "run,score\na,1\n", "x"), "run,score\na,2\n", "y"), end="")
    part,run,score
    x,a,1
    y,a,2
    """
    head, *rows = more.splitlines()
    before = text or f"part,{head}\n"
    if before.partition("\n")[0] != f"part,{head}":
        raise MetaevalError(f"part {part} has other columns than those before it: {head}")
    return before + "".join(f"{part},{row}\n" for row in rows)


def _covers(files: Mapping[str, str], folder: Path) -> bool:
    """Tell whether there is nothing in a folder that has more rows or columns than what was computed now."""
    for path in folder.glob("*.csv"):
        if path.stem not in files:
            return False
        committed, fresh = pd.read_csv(path), pd.read_csv(io.StringIO(files[path.stem]))
        if any(before > now for before, now in zip(committed.shape, fresh.shape, strict=True)):
            return False
    return True


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of study.toml or printed.toml."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_groups(
    settings: Settings, groups: Mapping[str, Iterable[str]], missing: list[str], only: Iterable[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield the data sets that can be loaded; after the first of a group that cannot, the group is left.

    Parameters
    ----------
    settings : Settings
    groups : mapping of str to iterable of str
        Names of data sets by group: those of one group come from one place.
    missing : list of str
        Takes what could not be loaded, and why.
    only : iterable of str, optional
        Names to choose from; all by default.

    Yields
    ------
    (str, Runs or Scores)
    """
    chosen = None if only is None else set(only)
    for names in groups.values():
        for name in names:
            if chosen is not None and name not in chosen:
                continue
            try:
                data = settings.load(name)
            except MetaevalError as error:
                missing.append(f"{name} ({error})")
                break
            yield name, data
