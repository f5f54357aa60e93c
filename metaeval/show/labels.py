"""Names beside the lines that they belong to, and legends where there is no room for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from metaeval.show.canvas import Canvas, typeset
from metaeval.show.names import shorten_names, to_mathtext
from metaeval.show.style import GREY

SHORT = 12
"""Characters of names that stand side by side in a column of print."""

_ALONE = 34  # and of those that do not


@dataclass(frozen=True)
class End:
    """Where a line ends, and what its label says."""

    x: float
    y: float
    text: str
    colour: str


def spread(targets: np.ndarray, sizes: np.ndarray, low: float, high: float) -> np.ndarray | None:
    """Place intervals as near as possible to where they are wanted, without overlap and within bounds.

    >>> spread(np.array([5.0, 5.0]), np.array([2.0, 2.0]), 0, 10)
    array([4., 6.])
    """
    if sizes.sum() > high - low:
        return None
    order = np.argsort(targets, kind="stable")
    # Positions less the room of all before them may not fall: the least squares of that is isotonic regression.
    before = np.cumsum(sizes[order]) - sizes[order] / 2
    blocks: list[tuple[float, int]] = []
    for value in targets[order] - before:
        blocks.append((float(value), 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (first, n), (second, m) = blocks[-2:]
            blocks[-2:] = [((first * n + second * m) / (n + m), n + m)]
    level = np.repeat([value for value, _ in blocks], [n for _, n in blocks])
    centres = np.empty(len(targets))
    centres[order] = np.clip(level, low, high - sizes.sum()) + before
    return centres


def label_right(axes: Axes, ends: Sequence[End], font_size: float) -> bool:
    """Name lines at their right ends, outside the axes; nothing is drawn if there is not enough room."""
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    box = axes.get_window_extent()
    points = np.array([axes.transData.transform((end.x, end.y))[1] for end in ends])
    step = 1.2 * font_size / 72 * axes.figure.dpi
    centres = spread(points, np.full(len(ends), step), box.y0, box.y1)
    if centres is None or not np.isfinite(points).all():
        return False
    names = shorten_names([end.text for end in ends], 24)
    for end, name, centre in zip(ends, names, centres, strict=True):
        axes.annotate(
            to_mathtext(name), (end.x, end.y), (1.04, (centre - box.y0) / box.height),
            textcoords="axes fraction", va="center", ha="left",
            fontsize=font_size, color=end.colour, parse_math=True, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": end.colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 2},
        )  # fmt: skip
    return True


def label_top(axes: Axes, ends: Sequence[End], font_size: float, note: str = "") -> bool:
    """Name lines where they enter the axes from above; nothing is drawn if there is not enough room."""
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    box = axes.get_window_extent()
    points = np.array([axes.transData.transform((end.x, end.y))[0] for end in ends])
    longest = [max(len(line) for line in end.text.split("\n")) for end in ends]
    sizes = (0.62 * np.array(longest) + 1) * font_size / 72 * axes.figure.dpi
    centres = spread(points, sizes, box.x0, box.x1)
    if centres is None or not np.isfinite(points).all():
        return False
    for end, centre in zip(ends, centres, strict=True):
        axes.annotate(
            "\n".join(to_mathtext(line) for line in end.text.split("\n")), (end.x, end.y),
            ((centre - box.x0) / box.width, 1.06), textcoords="axes fraction", va="bottom", ha="center",
            fontsize=font_size, color=end.colour, parse_math=True, annotation_clip=False, linespacing=1.05,
            arrowprops={"arrowstyle": "-", "color": end.colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 1},
        )  # fmt: skip
    if note:
        axes.text(
            -0.02, 1.06, note, transform=axes.transAxes, fontsize=font_size - 1, ha="right", va="bottom", color=GREY
        )
    return True


def count_columns(labels: Sequence[str]) -> int:
    """Return how many columns of a legend stand below a figure as wide as a column of print."""
    return 2 if max(map(len, labels), default=0) <= SHORT else 1


def place_legend(canvas: Canvas, axes: Axes, title: str = "") -> None:
    """Put the legend outside the axes: beside them, or below where a figure is narrow."""
    handles, _ = axes.get_legend_handles_labels()
    if canvas.is_narrow:
        below = axes.transAxes + ScaledTranslation(-0.4, -0.42, canvas.figure.dpi_scale_trans)
        columns = count_columns([str(handle.get_label()) for handle in handles])
        longest, place = SHORT if columns == 2 else _ALONE, {"bbox_to_anchor": (0, 0), "bbox_transform": below}
        spaces = {"columnspacing": 1, "handlelength": 2.6, "labelspacing": 0.3}
    else:
        columns, longest = 1 if len(handles) <= 24 else 2, canvas.longest
        place, spaces = {"bbox_to_anchor": (1.01, 1)}, {"handlelength": 3}
    texts = axes.legend(
        handles=handles, loc="upper left", borderaxespad=0, ncols=columns, title=title or None, alignment="left",
        title_fontsize=canvas.font_size - 1.5, **place, **spaces,
    ).get_texts()  # fmt: skip
    for text, name in zip(texts, shorten_names([text.get_text() for text in texts], longest), strict=True):
        text.set_text(name)
    typeset(*texts)
