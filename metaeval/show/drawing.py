"""Figures: plots that several analyses share, the signature below a figure, and saving."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import Locator
from matplotlib.transforms import Bbox

from metaeval.errors import visible
from metaeval.show.signature import Signature
from metaeval.show.style import choose_looks, house_style


def save_figure(figure: Figure, folder: Path, name: str, suffixes: Sequence[str] = (".png", ".svg")) -> list[Path]:
    """Save a figure as PNG and SVG; the same figure always gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    folder : Path
        Created if it does not exist.
    name : str
        File name without suffix.
    suffixes : sequence of {".png", ".svg", ".pdf"}, optional

    Returns
    -------
    list of Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Leave out the date and the program, so that the same figure gives the same bytes.
    metadata: dict[str, dict[str, object]] = {
        ".png": {"Software": None},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    }
    written = []
    with house_style():
        box = fix_layout(figure)
        for suffix in suffixes:
            path = folder / f"{name}{suffix}"
            figure.savefig(path, metadata=metadata[suffix], bbox_inches=box)
            if suffix == ".svg":
                _spell_controls(path)
            written.append(path)
    return written


def _spell_controls(path: Path) -> None:
    """Spell out control characters, which names may hold and XML may not."""
    text = path.read_text(encoding="utf-8")
    if _CONTROLS.search(text):
        path.write_text(_CONTROLS.sub(lambda found: visible(found[0]), text), encoding="utf-8")


_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def fix_layout(figure: Figure) -> Bbox:
    """Compute the layout of a figure once, not again for every file, and return the box that it covers."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure.get_tightbbox().padded(0.08)


def sign_figure(figure: Figure, signature: Signature | str) -> Figure:
    """Put the signature below a figure, wrapped to its width."""
    width = int(figure.get_figwidth() * 21)
    figure.text(0.01, -0.01, textwrap.fill(str(signature), width), fontsize=6, color="#555555", va="top")
    return figure


@dataclass(frozen=True)
class Interval:
    """One row of `draw_intervals`.

    Parameters
    ----------
    name, title : str
        The name of the measure, which determines its colour, and its label.
    centre : float
    line, bar : (float, float), optional
        Ends of a thin line and of a thick line.
    hollow : bool, optional
        Whether the marker at the centre is hollow.
    """

    name: str
    title: str
    centre: float
    line: tuple[float, float] | None = None
    bar: tuple[float, float] | None = None
    hollow: bool = False


def draw_intervals(
    rows: Sequence[Interval], label: str, signature: Signature | str, *, row_height: float = 0.42
) -> Figure:
    """Draw one row per measure: a marker with an interval around it; the last row is at the top.

    Parameters
    ----------
    rows : sequence of Interval
    label : str
        Label of the horizontal axis.
    signature : Signature or str
    row_height : float, optional
        In inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    looks = choose_looks([row.name for row in rows])
    with house_style():
        figure = Figure(figsize=(6, row_height * len(rows) + 1.3), layout="constrained")
        axes = figure.subplots()
        for place, row in enumerate(rows):
            colour = looks[row.name]["color"]
            if row.line is not None:
                axes.plot(row.line, [place, place], color=colour, linewidth=1 if row.bar is not None else 1.5)
            if row.bar is not None:
                axes.plot(row.bar, [place, place], color=colour, linewidth=4, solid_capstyle="butt")
            face = "white" if row.hollow else colour
            axes.plot(row.centre, place, "o", color=colour, markerfacecolor=face, markersize=6)
        axes.set_yticks(range(len(rows)), [row.title for row in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(label)
        return sign_figure(figure, signature)


def draw_heatmap(
    values: np.ndarray,
    names: Sequence[str],
    label: str,
    signature: Signature | str,
    *,
    limits: tuple[float, float],
    colours: str,
    write: Callable[[float], str],
    is_dark: Callable[[float], bool],
    diagonal: bool = True,
    ticks: Locator | None = None,
) -> Figure:
    """Draw a heat map with one row and one column per measure, and the number in each cell.

    Parameters
    ----------
    values : ndarray, shape (measure, measure)
    names : sequence of str
    label : str
        Label of the colour bar.
    signature : Signature or str
    limits : (float, float)
        Values at the two ends of the colour bar.
    colours : str
        Name of a colour map of matplotlib.
    write : callable
        Returns the text of a cell for its value.
    is_dark : callable
        Tells whether the colour of a value needs white text.
    diagonal : bool, optional
        Whether to draw the diagonal, which compares each measure with itself.
    ticks : Locator, optional
        Ticks of the colour bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    size = max(3.2, 0.62 * len(names) + 1.4)
    shown = values if diagonal else np.where(np.eye(len(names), dtype=bool), np.nan, values)
    with house_style():
        figure = Figure(figsize=(size, size * 0.86), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(shown, vmin=limits[0], vmax=limits[1], cmap=colours)
        axes.grid(False)
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
        for (i, j), value in np.ndenumerate(values):
            if diagonal or i != j:
                colour = "white" if is_dark(value) else "black"
                axes.text(j, i, write(value), ha="center", va="center", fontsize=7, color=colour)
        figure.colorbar(image, ax=axes, shrink=0.8, label=label, ticks=ticks)
        return sign_figure(figure, signature)
