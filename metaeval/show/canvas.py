"""What a figure is drawn on: panels of some size, in the style of metaeval, with a signature below."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from metaeval.errors import one_line
from metaeval.show.names import to_mathtext
from metaeval.show.signature import Signature
from metaeval.show.style import Size, find_size, house_style


@dataclass(frozen=True)
class Canvas:
    """Where something is drawn, and how much room there is."""

    figure: Figure
    panels: list[Axes]
    size: Size = None

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for a legend beside the axes."""
        return self.figure.get_figwidth() < 4

    @property
    def longest(self) -> int:
        """How many characters a name may have."""
        return max(18, min(40, int(4.6 * self.figure.get_figwidth())))

    @property
    def font_size(self) -> float:
        """Size of the letters, in points."""
        return 9 if self.size is None else 7.5


@contextmanager
def open_canvas(
    size: Size,
    signature: Signature | str | None,
    *,
    width: float,
    height: float,
    shape: tuple[int, int] = (1, 1),
    **grid: Any,
) -> Iterator[Canvas]:
    """Give something to draw on, in the style of metaeval, and put the signature below what was drawn."""
    with house_style(size):
        figure = Figure(figsize=find_size(size, width, height), layout="constrained")
        yield Canvas(figure, figure.subplots(*shape, squeeze=False, **grid).ravel().tolist(), size)
        if signature is not None:
            sign_figure(figure, signature, grow=not isinstance(size, tuple), font_size=6 if size is None else 5)


def sign_figure(figure: Figure, signature: Signature | str, *, grow: bool = True, font_size: float = 6) -> Figure:
    """Put the signature below a figure, wrapped to its width."""
    text = one_line(str(signature))
    lines = textwrap.wrap(text, max(20, int(figure.get_figwidth() * 110 / font_size)))  # names of measures are capitals
    note = (len(lines) * 1.25 * font_size + 7) / 72
    common = figure.get_supxlabel()
    below = note + 0.22 * bool(common)  # the layout would put it at the very bottom
    width, height = figure.get_size_inches()
    height += below * grow
    figure.set_size_inches(width, height)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, below / height, 1, 1 - below / height))  # type: ignore[call-arg]
    if common:
        figure.supxlabel(common, y=note / height, va="bottom", fontsize=9)
    top = (note - 4 / 72) / height
    figure.text(0.06 / width, top, "\n".join(lines), fontsize=font_size, color="#555555", va="top", linespacing=1.15)
    return figure


def typeset(*texts: Text | None) -> None:
    """Let labels show scripts as the papers do: ``CEM^ORD`` with a raised ORD; all else in them stays as it is."""
    for text in texts:
        if text is not None:
            text.set_text(to_mathtext(text.get_text()))
            text.set_parse_math(True)


def typeset_ticks(axes: Axes, which: str, names: Sequence[str], **settings: Any) -> None:
    """Label every whole number of an axis with a name."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    shown = [to_mathtext(name) for name in names]
    axis.set_ticks(range(len(names)), shown, **{name: value for name, value in settings.items() if value is not None})
    for tick in axis.get_major_ticks(len(names)):
        tick.label1.set_parse_math(True)
        tick.label2.set_parse_math(True)
