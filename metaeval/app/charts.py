"""Charts of the pages as Vega-Lite specifications: data stand in them, so nothing is fetched, and marks can be pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from metaeval.show.looks import DASHES, find_looks, marker_path

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#7F7F7F"
"""Read on light and dark pages alike."""


def show_chart(spec: dict[str, Any], description: str, *, height: int = 260) -> None:
    """Show a chart as wide as its place.

    Parameters
    ----------
    spec : dict
        Vega-Lite, with its data.
    description : str
        What is to be seen, for those who cannot see it.
    height : int, optional
    """
    # As a layer: data of a whole chart would be turned into a table of pandas and of Arrow first, which takes longer to
    # import than all of the page.
    st.vega_lite_chart({"layer": [spec], "height": height}, width="stretch", alt=description)


def _finite(value: float, digits: int = 6) -> float | None:
    """Return a number as JSON can hold it: nothing where it is none."""
    return round(float(value), digits) if np.isfinite(value) else None


def _number(value: Any) -> float | None:
    return _finite(value, 12) if isinstance(value, int | float) else None


def draw_matrix(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], titles: tuple[str, str, str], digits: int = 2
) -> dict[str, Any]:
    """Return a heat map with its values written in.

    Parameters
    ----------
    values : ndarray, shape (row, column)
    rows, columns : sequence of str
    titles : tuple of str
        Of rows, columns and values.
    digits : int, optional

    Returns
    -------
    dict
    """
    there = values[np.isfinite(values)]
    least, largest = (float(there.min()), float(there.max())) if len(there) else (0.0, 1.0)
    data = [
        {
            "row": row,
            "column": column,
            "value": _finite(values[i, j]),
            "text": "–" if np.isnan(values[i, j]) else f"{values[i, j]:.{digits}f}".replace("inf", "∞"),
        }
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    row, column, value = titles
    middle = least + 0.55 * (largest - least)
    x = {
        "field": "column",
        "type": "nominal",
        "sort": list(columns),
        "title": column,
        "axis": {"orient": "top", "labelAngle": 0},
    }
    y = {"field": "row", "type": "nominal", "sort": list(rows), "title": row}
    tooltip = [
        {"field": "row", "title": row}, {"field": "column", "title": column}, {"field": "text", "title": value}
    ]  # fmt: skip
    return {
        "data": {"values": data},
        "encoding": {"x": x, "y": y, "tooltip": tooltip},
        "layer": [
            {
                "mark": "rect",
                "encoding": {
                    "color": {
                        "field": "value", "type": "quantitative", "legend": None,
                        "scale": {"range": ["#f1f6fb", "#08519c"], "domain": [least, max(largest, least + 1e-9)]},
                    }
                },
            },
            {
                "mark": {"type": "text", "fontSize": 13},
                "encoding": {
                    "text": {"field": "text"},
                    "color": {"condition": {"test": f"datum.value > {middle}", "value": "#ffffff"}, "value": "#111111"},
                },
            },
        ],
    }  # fmt: skip


def draw_shares(shares: dict[str, np.ndarray], classes: Sequence[str]) -> dict[str, Any]:
    """Return distributions side by side, class by class.

    Parameters
    ----------
    shares : dict of str to ndarray, shape (K,)
        Gold first.
    classes : sequence of str

    Returns
    -------
    dict
    """
    data = [
        {"which": name, "class": label, "share": round(float(share), 6)}
        for name, values in shares.items()
        for label, share in zip(classes, values, strict=True)
    ]
    names = list(shares)
    return {
        "data": {"values": data},
        "mark": "bar",
        "encoding": {
            "x": {"field": "class", "type": "nominal", "sort": list(classes), "title": "class", "axis": {"labelAngle": 0}},
            "xOffset": {"field": "which", "sort": names},
            "y": {"field": "share", "type": "quantitative", "title": "share", "scale": {"domainMin": 0}},
            "color": {
                "field": "which", "type": "nominal", "sort": names, "title": None,
                "scale": {"domain": names, "range": [GREY, BLUE, ORANGE][: len(names)]}, "legend": {"orient": "top"},
            },
            "tooltip": [{"field": "which"}, {"field": "class"}, {"field": "share", "format": ".3f"}],
        },
    }  # fmt: skip


def draw_lines(
    curves: dict[str, tuple[np.ndarray, np.ndarray]],
    titles: tuple[str, str],
    *,
    level: float | None = None,
    labels: dict[str, str] | None = None,
    marks: int | None = None,
) -> dict[str, Any]:
    """Return the curves of measures, which look as they do in all figures.

    Parameters
    ----------
    curves : dict of str to (ndarray, ndarray)
        x and y of every curve, by the name of its measure.
    titles : tuple of str
        Of the axes.
    level : float, optional
        Draw a line at this y.
    labels : dict of str to str, optional
        What the legend calls the measures.
    marks : int, optional
        How many points of a curve are marked, about; all by default.

    Returns
    -------
    dict
    """
    labels = labels or {name: name for name in curves}
    data = [
        {"name": labels[name], "x": float(x), "y": _finite(y), "marked": not k % max(1, len(xs) // (marks or len(xs)))}
        for name, (xs, ys) in curves.items()
        for k, (x, y) in enumerate(zip(xs, ys, strict=True))
    ]
    shown = [labels[name] for name in curves]
    by_name: dict[str, Any] = {"field": "name", "type": "nominal", "title": None, "sort": shown}
    looks = find_looks(curves).values()
    dark = st.context.theme.type == "dark"
    colours = [one.dark if dark else one.light for one in looks]
    dashes = [[int(length) for length in DASHES[one.dash].split()] for one in looks]
    shapes = [marker_path(one.marker, 1.0) for one in looks]

    def vary(values: list[Any]) -> dict[str, Any]:
        return {**by_name, "scale": {"domain": shown, "range": values}}

    axes = {
        "x": {"field": "x", "type": "quantitative", "title": titles[0]},
        "y": {"field": "y", "type": "quantitative", "title": titles[1]},
    }
    tooltip = [
        {"field": "name"}, {"field": "x", "title": titles[0], "format": ".3f"},
        {"field": "y", "title": titles[1], "format": ".4f"},
    ]  # fmt: skip
    # One legend, of markers: a dash would be drawn around them.
    legend = {
        "orient": "bottom",
        "columns": {"expr": "width > 500 ? 4 : 3"},
        "symbolDash": [1, 0],
        "symbolStrokeWidth": 0,
    }
    coloured = vary(colours) | {"legend": legend}
    layers: list[dict[str, Any]] = [
        {
            "mark": "line",
            "encoding": {**axes, "color": coloured, "strokeDash": vary(dashes) | {"legend": None}},
        },
        {
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": 40},
            "transform": [{"filter": "datum.marked"}],
            "encoding": {
                **axes,
                "color": coloured,
                "shape": vary(shapes),
                "tooltip": tooltip,
            },
        },
    ]
    if level is not None:
        layers.append(
            {
                "data": {"values": [{"y": level}]},
                "mark": {"type": "rule", "color": GREY},
                "encoding": {"y": {"field": "y", "type": "quantitative"}},
            }
        )
    return {"data": {"values": data}, "layer": layers}


def draw_surface(
    values: np.ndarray, x: np.ndarray, y: np.ndarray, titles: tuple[str, str], names: tuple[str, str]
) -> dict[str, Any]:
    """Return which of two estimates is better over a grid: a map with one colour for each, and white where they are even.

    Parameters
    ----------
    values : ndarray, shape (y, x)
        By how much the first is better; NaN where there is nothing.
    x, y : ndarray
        Ends of the grid's cells.
    titles : tuple of str
        Of the axes.
    names : tuple of str
        Of the two estimates.

    Returns
    -------
    dict
    """
    half = (float(x[1] - x[0]) / 2, float(y[1] - y[0]) / 2)
    data: list[dict[str, Any]] = [
        {
            "x": float(a) - half[0], "x2": float(a) + half[0], "y": float(b) - half[1], "y2": float(b) + half[1],
            "share_x": float(a), "share_y": float(b), "value": round(float(values[i, j]), 6),
            "better": names[0] if values[i, j] > 0 else names[1] if values[i, j] < 0 else "even",
        }
        for i, b in enumerate(y)
        for j, a in enumerate(x)
        if np.isfinite(values[i, j])
    ]  # fmt: skip
    reach = max([1e-9, *(abs(one["value"]) for one in data)])
    return {
        "data": {"values": data},
        "mark": "rect",
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": titles[0], "scale": {"nice": False}},
            "x2": {"field": "x2"},
            "y": {"field": "y", "type": "quantitative", "title": titles[1], "scale": {"nice": False}},
            "y2": {"field": "y2"},
            "color": {
                "field": "value", "type": "quantitative", "title": f"{names[0]} better by",
                "scale": {"domain": [-reach, 0, reach], "range": [ORANGE, "#ffffff", BLUE], "interpolate": "rgb"},
            },
            "tooltip": [
                {"field": "share_x", "title": titles[0], "format": ".2f"},
                {"field": "share_y", "title": titles[1], "format": ".2f"},
                {"field": "better", "title": "better"}, {"field": "value", "title": "difference", "format": ".4f"},
            ],
        },
    }  # fmt: skip


def draw_intervals(rows: Sequence[dict[str, Any]], title: str) -> dict[str, Any]:
    """Return a dot for every row, with its interval where it has one, in the order given.

    Parameters
    ----------
    rows : sequence of dict
        Keys name, value, and low and high, which may be None.
    title : str
        Of the values.

    Returns
    -------
    dict
    """
    names = list(dict.fromkeys(str(row["name"]) for row in rows))
    data = [
        {"name": str(row["name"]), **{key: _number(row.get(key)) for key in ("value", "low", "high")}} for row in rows
    ]
    y = {"field": "name", "type": "nominal", "sort": names, "title": None, "axis": {"labelLimit": 220}}
    tooltip = [{"field": "name"}, *({"field": key, "format": ".3f"} for key in ("value", "low", "high"))]
    return {
        "data": {"values": data},
        "encoding": {"y": y, "tooltip": tooltip},
        "layer": [
            {
                "mark": {"type": "rule", "color": BLUE, "strokeWidth": 2},
                "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
                "encoding": {
                    "x": {"field": "low", "type": "quantitative", "title": title, "scale": {"zero": False}},
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "color": BLUE, "opacity": 1},
                "encoding": {"x": {"field": "value", "type": "quantitative", "title": title, "scale": {"zero": False}}},
            },
        ],
    }
