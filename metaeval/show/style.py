"""One style for all figures: each measure has the same colour, marker and line style everywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

# The palette of Okabe and Ito for colour-blind readers, with a darker yellow and a darker grey for white paper.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#B8860B", "#000000", "#7F7F7F", "#882255")
# The same colours, lighter, for a dark page.
_ON_DARK = ("#5AB4F0", "#FF8A3D", "#35C99A", "#E8A0C8", "#8CD0FF", "#E0B84A", "#E8E8EC", "#B0B0B0", "#D07FA8")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
_LINES = ("-", "--", "-.", ":")

# The papers' measures have fixed positions in these lists, so that a measure looks the same in every figure.
_PLACES = {
    name: place
    for names in (
        ("kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR"),
        ("RNOD", "NMD", "RSNOD", "NVD", "RNSS", "JSD", "RNADW", "RNOD(distance=gold)", "RNADW(distance=gold)"),
        ("OCI(beta=0.75, gamma=1)", "OCI(beta=0.25, gamma=1)", "r_int", "R_s", "tau_b", "MER", "MSE"),
        ("AP", "nDCG@20", "ERR@20", "P@10", "P@20", "RR"),
    )
    for place, name in enumerate(names)
}

_SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "text.parse_math": False,  # names come from data: a dollar in one is a dollar
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
    "svg.hashsalt": "metaeval",  # the same figure gives the same file
}


@contextmanager
def house_style() -> Iterator[None]:
    """Use the style of metaeval, regardless of the user's own settings of matplotlib."""
    import matplotlib as mpl  # whoever asks for colours only does not wait for it

    settings: Any = {**dict(mpl.rcParamsDefault), "backend": mpl.get_backend(), **_SETTINGS}
    with mpl.rc_context(settings):
        yield


def choose_looks(names: list[str]) -> dict[str, dict[str, Any]]:
    """Return the colour, marker and line style of each measure, which are the same in every figure.

    Parameters
    ----------
    names : list of str
        Names of measures.

    Returns
    -------
    dict of str to dict
        Keyword arguments for matplotlib's ``plot``.

    Examples
    --------
    >>> choose_looks(["NMD", "mine"])["NMD"] == choose_looks(["NMD"])["NMD"]
    True
    """
    taken: set[int] = {_PLACES[name] for name in names if name in _PLACES}
    return {name: _make_look(_find_place(name, taken)) for name in names}


def palette() -> list[tuple[str, str]]:
    """Return pairs of colours of measures: on a light page and on a dark page."""
    return list(zip(_COLOURS, _ON_DARK, strict=True))


def _find_place(name: str, taken: set[int]) -> int:
    """Return the position of a measure in the lists above; a user's measure gets one from a hash of its name.

    If another measure of the figure has its colour already, it takes the next free position.
    """
    if name in _PLACES:
        return _PLACES[name]
    colours, every = len(_COLOURS), len(_COLOURS) * len(_LINES)
    wished = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % every
    used = {place % colours for place in taken}
    places = [(wished + step) % every for step in range(every)]
    free = [place for place in places if place % colours not in used] or [p for p in places if p not in taken]
    place = free[0] if free else wished
    taken.add(place)
    return place


def _make_look(place: int) -> dict[str, Any]:
    n = len(_COLOURS)
    return {
        "color": _COLOURS[place % n],
        "marker": _MARKERS[place % n],
        "linestyle": _LINES[(place % n + place // n) % len(_LINES)],
    }


def choose_markers(points: np.ndarray, offset: int, most: int = 5) -> list[int]:
    """Choose the points of a curve that get a marker.

    Parameters
    ----------
    points : ndarray of int
        Positions of the visible points.
    offset : int
        Shift of the choice, so that markers of neighbouring curves do not hide each other.
    most : int, optional

    Returns
    -------
    list of int
    """
    step = max(1, -(-len(points) // most))
    return [int(point) for point in points[offset % step :: step]]
