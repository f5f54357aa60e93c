"""How measures are told apart in figures and on pages: a colour, a dash and a marker each, as plain data."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

COLOURS = (
    ("#0064B0", "#6CB6FF"),  # blue
    ("#BF4A00", "#FF9248"),  # orange
    ("#007A56", "#3FCF9E"),  # green
    ("#B0388A", "#F48FD0"),  # magenta
    ("#1A1A1A", "#F2F2F2"),  # black, white on a dark page
    ("#856600", "#E3C04B"),  # gold
    ("#6A4BC4", "#B59CFF"),  # violet
    ("#007C92", "#4FD8EE"),  # cyan
    ("#9C1C2E", "#FF7A85"),  # red
    ("#6E6E6E", "#A8A8A8"),  # grey
)
"""Pairs of colours, on a light and on a dark page; text in either can be read there (a contrast of 4.5)."""

DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p", ">", "h")
"""Line styles and markers of matplotlib."""

KNOWN = (
    ("kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR"),
    ("RNOD", "NMD", "RSNOD", "NVD", "RNSS", "JSD", "RNADW", "RNOD(distance=gold)", "RNADW(distance=gold)"),
    ("AP", "nDCG@20", "ERR@20", "P@10", "P@20", "RR"),
)
"""Measures that are shown together, which have looks of their own; in a mixture, an earlier list comes first."""

_LOOKS = 40  # of these, no two have two of colour, dash and marker in common

_INKS = {
    "light": "--ink: #1b1b1f; --paper: #ffffff; --line: #c9ccd4; --faint: #575b66;",
    "dark": "--ink: #e8e8ec; --paper: #16181d; --line: #4a4e59; --faint: #aab0bd;",
}


def choose_looks(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Choose the colour, marker and line style of every measure of a figure; up to 10 no two have the same colour.

    Known measures have a look of their own. One whose colour is that of another measure of the figure, and a measure
    that is not known, gets the next look that is free.
    """
    ranks = {name: (number, place) for number, family in enumerate(KNOWN) for place, name in enumerate(family)}
    used: Counter[object] = Counter()
    looks, distinct = {}, list(dict.fromkeys(names))
    for name in sorted(distinct, key=lambda name: (*ranks.get(name, (len(KNOWN), 0)), name)):
        drawn = hashlib.sha256(name.encode("utf-8", "replace")).digest()[0]
        first = ranks[name][1] if name in ranks else drawn
        turned = [(first + step) % _LOOKS for step in range(_LOOKS)]
        number = min(turned, key=lambda look: (used[look], used[f"colour {look % len(COLOURS)}"]))
        used.update([number, f"colour {number % len(COLOURS)}"])
        dash = DASHES[(number + number // len(COLOURS)) % len(DASHES)]
        marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)][0]
        looks[name] = {"color": colour, "marker": marker, "linestyle": dash}
    return {name: looks[name] for name in distinct}


def write_variables(theme: str) -> str:
    """Return the colours of charts as variables of CSS, for a light or a dark page."""
    which = ("light", "dark").index(theme)
    return " ".join([_INKS[theme], *(f"--c{number}: {pair[which]};" for number, pair in enumerate(COLOURS))])
