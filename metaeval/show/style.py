"""One style for all figures, on the screen and in print; what a measure looks like is in `metaeval.show.looks`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from metaeval.errors import MetaevalError

Size = Literal["column", "page"] | tuple[float, float] | None
"""Width of a figure: of a column or of a page of a paper, its width and height in inches, or as it comes."""

WIDTHS = {"column": 7.7 / 2.54, "page": 16.0 / 2.54}
"""In inches: a column of two and the text of a page, as in the style of the ACL."""

GREY = "#757575"
"""For lines and texts that are about all measures; a text in it can be read on white."""

_SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "text.parse_math": False,  # names come from data: a dollar in one is a dollar
    "text.hinting": "none",  # letters are as wide at every resolution, so that a layout holds at all of them
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
    "svg.hashsalt": "metaeval",  # the same figure gives the same file
    "pdf.fonttype": 42,  # whole TrueType fonts; publishers refuse Type 3
}
_IN_PRINT: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.8,
    "savefig.dpi": 300,
}


@contextmanager
def house_style(size: Size = None) -> Iterator[None]:
    """Use the style of metaeval, regardless of the user's own settings of matplotlib."""
    import matplotlib as mpl  # whoever asks for colours only does not wait for it

    printed = {} if size is None else _IN_PRINT
    settings: Any = {**dict(mpl.rcParamsDefault), "backend": mpl.get_backend(), **_SETTINGS, **printed}
    with mpl.rc_context(settings):
        yield


def find_size(size: Size, width: float, height: float) -> tuple[float, float]:
    """Return the width and height of a figure in inches."""
    if size is None:
        return width, height
    if isinstance(size, str):
        if size not in WIDTHS:
            raise MetaevalError(f"there is no size {size!r}: use column, page, or (width, height) in inches")
        # Letters do not shrink as the width does, so that the height must not either.
        return WIDTHS[size], height * float(np.clip(WIDTHS[size] / width, 0.68, 1.05))
    try:
        across, down = (float(length) for length in size)
    except (TypeError, ValueError):
        raise MetaevalError(f"a size is column, page, or (width, height) in inches, not {size!r}") from None
    if not (0.5 <= across <= 100 and 0.5 <= down <= 100):
        raise MetaevalError(f"a figure of {across:g} × {down:g} inches cannot be drawn")
    return across, down
