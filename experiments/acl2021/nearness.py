"""Printed against reproduced: how near, drawn, and where it is not near, what makes the distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from experiments.bounds import BOUNDS
from experiments.comparison import Cell
from experiments.side_by_side import compare_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = " outperforms the worst"
"""What the names of columns with marks end in."""

KINDS = {
    "τ of two measures, Table 2 (II)": ("Table 2", "Sem17T4C", False),
    "mean τ over halves, Table 3 (c)": ("Table 3", "Sem17T4C, full", False),
    "mean τ over ten topics, Table 3 (d)": ("Table 3", "Sem17T4C, ten", False),
    "marks over halves, Table 3 (c)": ("Table 3", "Sem17T4C, full", True),
    "marks over ten topics, Table 3 (d)": ("Table 3", "Sem17T4C, ten", True),
}
"""Numbers that are compared with each other: table, row, and whether they are marks."""


def choose_cells(cells: Sequence[Cell], kind: str) -> list[Cell]:
    """Return the computed cells of a kind.

    Parameters
    ----------
    cells : sequence of Cell
    kind : str
        One of `KINDS`.

    Returns
    -------
    list of Cell
    """
    item, row, marks = KINDS[kind]
    found = [one for one in cells if (one.item, one.row) == (item, row) and one.reproduced is not None]
    return [
        one for one in found if one.column.endswith(MARK) == marks and not one.column.startswith(("V_E2", "effect"))
    ]


def compare_printed(cells: Sequence[Cell]) -> pd.DataFrame:
    """Return how near the numbers of every kind come to print.

    Parameters
    ----------
    cells : sequence of Cell

    Returns
    -------
    DataFrame
        Indexed by kind; Pearson's correlation, mean absolute difference, and means.
    """
    found = {}
    for kind in KINDS:
        chosen = choose_cells(cells, kind)
        n, difference, pearson = compare_numbers(chosen)
        printed, here = _split(chosen)
        found[kind] = [n, printed.mean(), here.mean(), pearson, difference]
    columns = ["numbers", "mean in print", "mean here", "Pearson", "mean |difference|"]
    return pd.DataFrame.from_dict(found, orient="index", columns=columns).rename_axis("numbers of")


def explain_distance(cells: Sequence[Cell], nearness: pd.DataFrame) -> list[str]:
    """Say for every kind whether it is near, and where it is not, what makes the distance.

    Near is a correlation and, for τ, a mean difference within the bounds of experiments/bounds.toml.

    Parameters
    ----------
    cells : sequence of Cell
    nearness : DataFrame
        From `compare_printed`.

    Returns
    -------
    list of str
        A sentence for each kind.
    """
    least, most = BOUNDS["near print: correlation"].value, BOUNDS["near print: difference"].value
    said = []
    for kind, (n, mean_printed, mean_here, pearson, difference) in zip(
        nearness.index, nearness.to_numpy(), strict=True
    ):
        head = f"{kind}: Pearson {pearson:.3f}, mean |difference| {difference:.3f} over {n:.0f} numbers"
        far = [f"Pearson is below {least:g}"] if not pearson >= least else []
        if not KINDS[kind][2] and difference > most:
            far.append(f"the mean difference is above {most:g}")
        if not far:
            said.append(f"{head}: near print.")
            continue
        chosen = choose_cells(cells, kind)
        printed, here = _split(chosen)
        measure = find_farthest(chosen)
        rest = [one for one in chosen if measure not in _name_measures(one)]
        _, rest_difference, rest_pearson = compare_numbers(rest)
        worst = max(chosen, key=lambda one: abs(one.printed - float(one.reproduced or 0)))
        said.append(
            f"{head}: {' and '.join(far)}. In print the numbers span {np.ptp(printed):.3f} and average {mean_printed:.3f}, "
            f"here {np.ptp(here):.3f} and {mean_here:.3f}{_compare_topics(cells)}. The farthest is {worst.column} "
            f"({worst.printed:g} in print, {worst.reproduced:.3f} here). {measure} differs most; without it Pearson is "
            f"{rest_pearson:.3f} and the mean |difference| {rest_difference:.3f}."
        )
    return said


def _compare_topics(cells: Sequence[Cell]) -> str:
    """Say how many topics there are here and in print: over fewer of them, rankings are less consistent."""
    found = [one for one in cells if (one.item, one.row, one.column) == ("Table 1", "Sem17T4C", "topics")]
    return f" (topics: {found[0].printed:g} and {found[0].reproduced:g})" if found else ""


def explain_choices(sensitivity: pd.DataFrame) -> list[str]:
    """Say which other choices take the τ beyond the bounds, and how many pairs of runs they concern.

    Parameters
    ----------
    sensitivity : DataFrame
        Indexed by choice, with the study's own first; columns runs, Pearson and mean |difference|.

    Returns
    -------
    list of str
        A sentence for each such choice.
    """
    least, most = BOUNDS["near print: correlation"].value, BOUNDS["near print: difference"].value
    whole = int(sensitivity["runs"].iloc[0])
    said = []
    for choice, row in sensitivity.iterrows():
        if row["Pearson"] >= least and row["mean |difference|"] <= most:
            continue
        pairs, left = whole * (whole - 1) // 2, int(row["runs"] * (row["runs"] - 1) // 2)
        why = f": {pairs - left} of {pairs} pairs of runs are not there, and print has them" if left < pairs else ""
        said.append(
            f"{choice}: Pearson {row['Pearson']:.3f}, mean |difference| {row['mean |difference|']:.3f}, beyond the bounds{why}."
        )
    return said


def find_farthest(cells: Sequence[Cell]) -> str:
    """Return the measure whose numbers differ most from print on average.

    Parameters
    ----------
    cells : sequence of Cell

    Returns
    -------
    str
    """
    distance: dict[str, list[float]] = {}
    for one in cells:
        for measure in _name_measures(one):
            distance.setdefault(measure, []).append(abs(one.printed - float(one.reproduced or 0)))
    return max(distance, key=lambda measure: float(np.mean(distance[measure])))


def draw_against_print(cells: Sequence[Cell], signature: str) -> Figure:
    """Draw every number of `KINDS`: printed across, reproduced upwards.

    Parameters
    ----------
    cells : sequence of Cell
    signature : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import house_style

    panels: Mapping[str, Sequence[str]] = {
        "τ of two measures": [kind for kind in KINDS if kind.startswith("τ")],
        "mean τ over splits": [kind for kind in KINDS if kind.startswith("mean")],
        "measures outperformed": [kind for kind in KINDS if kind.startswith("marks")],
    }
    with house_style():
        figure = Figure(figsize=(10.5, 3.8), layout="constrained")
        for axes, (title, kinds) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
            for kind, colour, marker in zip(kinds, ("#0072B2", "#D55E00"), ("o", "s"), strict=False):
                printed, here = _split(choose_cells(cells, kind))
                label = kind.partition(" over ")[2].partition(",")[0] or kind.partition(", ")[2]
                axes.plot(printed, here, marker, color=colour, markersize=4, alpha=0.8, label=label)
            ends = [min(axes.get_xlim()[0], axes.get_ylim()[0]), max(axes.get_xlim()[1], axes.get_ylim()[1])]
            axes.plot(ends, ends, color="#888888", linewidth=0.8, zorder=0)
            axes.set(xlim=ends, ylim=ends, xlabel="in print", title=title)
            axes.set_aspect("equal")
            axes.legend(loc="upper left")
        figure.axes[0].set_ylabel("from half of the tweets")
        return sign_figure(figure, signature)


def _split(cells: Sequence[Cell]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array([(one.printed, one.reproduced) for one in cells], dtype=np.float64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _name_measures(cell: Cell) -> list[str]:
    return cell.column.removesuffix(MARK).split(" and ")
