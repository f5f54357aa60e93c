"""Figures: intervals by measure, which several analyses draw, and saving."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox, BboxBase

from metaeval.errors import visible
from metaeval.show.canvas import Axis, open_canvas, sign_figure, typeset, typeset_ticks
from metaeval.show.heatmap import draw_heatmap
from metaeval.show.names import shorten_name
from metaeval.show.signature import Signature
from metaeval.show.style import GREY, Size, choose_looks, house_style

__all__ = ["Interval", "draw_heatmap", "draw_intervals", "fix_layout", "save_figure", "sign_figure"]


def save_figure(figure: Figure, folder: Path, name: str, suffixes: Sequence[str] = (".png", ".svg")) -> list[Path]:
    """Save a figure in several formats; the same figure always gives the same bytes.

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


def fix_layout(figure: Figure) -> BboxBase:
    """Compute the layout of a figure once, not again for every file, and return the box that it covers."""
    laid_out = figure.get_layout_engine() is not None
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # What is laid out is within its figure, whose size is then exact; of others, names may stand out.
    inside: Bbox = figure.get_tightbbox().padded(0.08)
    return figure.bbox_inches if laid_out else inside


@dataclass(frozen=True)
class Interval:
    """One row of `draw_intervals`.

    Parameters
    ----------
    name, title : str
        The name of the measure, which determines its look, and its label.
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
    rows: Sequence[Interval],
    label: str,
    signature: Signature | str | None,
    *,
    row_height: float = 0.42,
    levels: Sequence[tuple[float, str]] = (),
    limits: tuple[float, float] | None = None,
    ax: Axis = None,
    size: Size = None,
) -> Figure:
    """Draw one row per measure: a marker with an interval around it; the last row is at the top.

    Parameters
    ----------
    rows : sequence of Interval
    label : str
        Label of the horizontal axis.
    signature : Signature or str
        None for no signature.
    row_height : float, optional
        In inches.
    levels : sequence of (float, str), optional
        Vertical lines: where, and in which line style.
    limits : (float, float), optional
        Of the horizontal axis.
    ax : Axes, optional
        Where to draw.
    size : {"column", "page"} or (float, float), optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    looks = choose_looks([row.name for row in rows])
    with open_canvas(ax, size, signature, width=6, height=row_height * len(rows) + 1.0) as canvas:
        axes = canvas.panels[0]
        small = size is not None
        for place, row in enumerate(rows):
            colour, marker = looks[row.name]["color"], looks[row.name]["marker"]
            if row.line is not None:
                width = 1 if row.bar is not None else 1.5
                axes.plot(row.line, [place, place], color=colour, linewidth=0.75 * width if small else width)
            if row.bar is not None:
                axes.plot(row.bar, [place, place], color=colour, linewidth=2.5 if small else 4, solid_capstyle="butt")
            face = "white" if row.hollow else colour
            axes.plot(
                row.centre, place, marker, color=colour, markerfacecolor=face, markersize=4 if small else 6,
                markeredgewidth=0.8 if small else 1,
            )  # fmt: skip
        titles = [shorten_name(row.title, canvas.longest) for row in rows]
        typeset_ticks(axes, "y", titles)
        for level, style in levels:
            axes.axvline(level, color=GREY, linewidth=0.9, linestyle=style, zorder=0)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        if limits is not None:
            axes.set_xlim(limits)
        axes.grid(axis="y", visible=False)
        across = canvas.figure.get_figwidth() if canvas.is_own else 6
        room = across - (0.055 if small else 0.075) * max(len(one) for one in titles)
        axes.set_xlabel(wrap_label(label, room, small=small))
        typeset(axes.xaxis.label)
    return canvas.figure


def wrap_label(label: str, width: float, *, small: bool = False) -> str:
    """Break the label of an axis into lines of a width in inches.

    Parameters
    ----------
    label : str
    width : float
    small : bool, optional
        Whether the letters are those of a printed figure.

    Returns
    -------
    str
    """
    import textwrap

    return "\n".join(textwrap.wrap(label, max(16, int(width * (15 if small else 12.5)))))
