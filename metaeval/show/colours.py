"""One colour scale for numbers, in figures, on pages and in LaTeX, and text that can be read on it.

A number has the same colour wherever it stands: white for 0, ever darker blue up to +1, ever darker brown down to −1.
Where all numbers are positive, figures show the positive half only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_ENDS = {1: (8, 81, 156), -1: (166, 54, 3)}
_MISSING = "#EDEDED"


def shade(value: float) -> str:
    """Return the colour of a number between −1 and 1.

    >>> shade(0), shade(1), shade(-1), shade(float("nan"))
    ('#FFFFFF', '#08519C', '#A63603', '#EDEDED')
    """
    if math.isnan(value):
        return _MISSING
    # Similar rankings are what one compares: the power spreads the numbers near the ends.
    strength = min(1.0, abs(value)) ** 1.5
    end = _ENDS[1 if value >= 0 else -1]
    return "#{:02X}{:02X}{:02X}".format(*(round(255 + (part - 255) * strength) for part in end))


def text_colour(background: str) -> str:
    """Return black or white, whichever can be read better; either way the contrast is at least 4.58 (WCAG 2).

    >>> text_colour(shade(0.2)), text_colour(shade(1))
    ('#000000', '#FFFFFF')
    """
    parts = (int(background[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"


def shade_marks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the marks of a table that give each number its colour."""
    return frame.map(lambda v: f"shade {shade(v)}" if isinstance(v, float) and not math.isnan(v) else "")
