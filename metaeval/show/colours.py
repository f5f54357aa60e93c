"""One colour scale for numbers, in figures, on pages and in LaTeX, and text that can be read on it.

A number has the same colour wherever it stands: white for 0, ever darker blue up to +1, ever darker brown down to −1.
Where all numbers are positive, figures show the positive half only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_ENDS = {1: (8, 81, 156), -1: (166, 54, 3)}
_MISSING = "#EDEDED"


def shade(value: float, *, falling: bool = False) -> str:
    """Return the colour of a number between −1 and 1; of falling numbers, such as p-values, 0 is the darkest.

    >>> shade(0), shade(1), shade(-1), shade(float("nan"))
    ('#FFFFFF', '#08519C', '#A63603', '#EDEDED')
    """
    if math.isnan(value):
        return _MISSING
    # Similar rankings are what one compares: the power spreads the numbers near the ends.
    value = 1 - value if falling else value
    strength = min(1.0, abs(value)) ** 1.5
    end = _ENDS[1 if value >= 0 else -1]
    return "#{:02X}{:02X}{:02X}".format(*(round(255 + (part - 255) * strength) for part in end))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, between 0 and 1 (WCAG 2)."""
    parts = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of two colours, between 1 and 21 (WCAG 2)."""
    lighter, darker = sorted((luminance(colour), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def text_colour(background: str) -> str:
    """Return black or white, whichever can be read better; either way the contrast is at least 4.58.

    >>> text_colour(shade(0.2)), text_colour(shade(1))
    ('#000000', '#FFFFFF')
    """
    return max(("#000000", "#FFFFFF"), key=lambda colour: contrast(colour, background))


def shade_marks() -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return marks for `Table.marks` that give each number its colour."""

    def marks(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.map(lambda v: f"shade {shade(v)}" if isinstance(v, float) and not math.isnan(v) else "")

    return marks
