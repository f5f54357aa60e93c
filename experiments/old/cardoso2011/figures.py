"""Figures 1 to 7: paths over matrices, a single item, tridiagonal matrices, the synthetic and the real sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.cardoso2011.synthetic import BORDERS, height
from metaeval.measures.ordinal_index import OCI, best_path
from metaeval.show.drawing import sign_figure
from metaeval.show.style import choose_looks, house_style

NOT_PUBLIC = "not public"


def choose_palette() -> list[dict[str, Any]]:
    """Return seven looks that differ in colour, mark and line: what is drawn here are no runs of a report."""
    placed = ["kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu", "Accuracy"]
    return list(choose_looks(placed).values())


def draw_path(axes: Axes, counts: np.ndarray, *, beta: float) -> None:
    """Draw a matrix with its numbers, and over it the path that `OCI` takes (as in Figures 1 to 3)."""
    counts = np.asarray(counts)
    path = best_path(counts, beta=beta)
    size = len(counts)
    axes.imshow(counts, cmap="Greys", vmin=0, vmax=2.5 * counts.max())
    axes.plot([0, size - 1], [0, size - 1], color="#888888", linestyle=":", linewidth=1)
    axes.plot(path[:, 1], path[:, 0], color="#0072B2", linewidth=7, alpha=0.35, solid_capstyle="round")
    for (g, p), items in np.ndenumerate(counts):
        axes.text(p, g, f"{items:g}", ha="center", va="center", fontsize=8)
    axes.grid(False)
    axes.set_xticks(range(size), range(1, size + 1))
    axes.set_yticks(range(size), range(1, size + 1))
    axes.set_xlabel(f"OC = {float(OCI(counts, beta=beta)):.3f}", fontsize=8)


def draw_paths(matrices: Mapping[str, np.ndarray], betas: Sequence[float], signature: str) -> Figure:
    """Draw the best paths of some matrices, a row a β."""
    with house_style():
        figure = Figure(figsize=(1.75 * len(matrices), 2.4 * len(betas)), layout="constrained")
        panels = figure.subplots(len(betas), len(matrices), squeeze=False)
        for row, beta in zip(panels, betas, strict=True):
            for axes, (name, counts) in zip(row, matrices.items(), strict=True):
                draw_path(axes, np.asarray(counts), beta=beta)
                axes.set_title(name)
            row[0].set_ylabel(f"β = {beta:g} / (N (K − 1))\ngold class")
        figure.supxlabel("predicted class", fontsize=9)
        return sign_figure(figure, signature)


def compute_single_item_curves(betas: Sequence[float], farthest: int) -> pd.DataFrame:
    """Return OC of a single item by its distance from its gold class, for absolute β (§3.2)."""
    one = np.zeros((farthest + 1, farthest + 1, farthest + 1))
    one[np.arange(farthest + 1), 0, np.arange(farthest + 1)] = 1
    curves = {f"{beta:g}": OCI(one, beta=beta, absolute=True) for beta in betas}
    return pd.DataFrame(curves, index=pd.RangeIndex(farthest + 1, name="distance"))


def draw_single_item(curves: pd.DataFrame, signature: str) -> Figure:
    """Draw OC of a single item against its distance from its gold class (Figure 4)."""
    with house_style():
        figure = Figure(figsize=(5.2, 3.6), layout="constrained")
        axes = figure.subplots()
        for style, column in zip(choose_palette(), curves, strict=False):
            axes.plot(curves.index, curves[column], label=f"β = {column}", markersize=4.5, **style)
        axes.set(xlabel="classes off, |r − c|", ylabel="OC of a single item", ylim=(-0.03, 1.05))
        axes.legend(loc="lower right")
        return sign_figure(figure, signature)


def draw_tridiagonal(
    curves: pd.DataFrame, names: Mapping[str, str], limits: Mapping[str, float], signature: str
) -> Figure:
    """Draw coefficients of tridiagonal matrices against the number of classes, with their limits (Figure 5)."""
    styles = dict(zip(curves, choose_palette(), strict=True))
    with house_style():
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        for limit in sorted({round(limit, 3) for limit in limits.values()}):
            axes.axhline(limit, color="#888888", linewidth=0.8, linestyle=":")
        for place, column in enumerate(curves):
            marked = np.unique(np.geomspace(1, len(curves) - 1, 8).astype(int) + place % 2)[:-1].tolist()
            style = styles[column]
            if column == "MAE":  # the same numbers as MER here: shown over it
                style = {**style, "linestyle": (0, (1, 3)), "linewidth": 3}
            axes.plot(
                curves.index, curves[column], markevery=marked, markersize=4, label=names.get(column, column), **style
            )
        axes.set(xscale="log", xlabel="number of classes K", ylabel="coefficient", ylim=(-0.03, 1.03))
        ticks = [2, 3, 5, 10, 20, 50, 100, 200]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        figure.legend(loc="outside right upper")
        return sign_figure(figure, signature)


def draw_points(points: np.ndarray, classes: np.ndarray, signature: str) -> Figure:
    """Draw points of the synthetic set and the borders between its classes without noise (Figure 6)."""
    x, y = np.meshgrid(*[np.linspace(0, 1, 300)] * 2)
    with house_style():
        figure = Figure(figsize=(5.0, 4.0), layout="constrained")
        axes = figure.subplots()
        axes.contour(x, y, height(np.stack([x, y], axis=-1)), levels=BORDERS, colors="#888888", linewidths=0.8)
        for k, style in enumerate(choose_palette()[:5]):
            here = classes == k
            axes.plot(
                *points[here].T,
                linestyle="",
                marker=style["marker"],
                color=style["color"],
                label=f"class {k + 1} ({here.sum()})",
            )
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="x₁", ylabel="x₂", aspect="equal")
        axes.grid(False)
        figure.legend(loc="outside right upper", title="points in brackets", title_fontsize=7)
        return sign_figure(figure, signature)


def draw_frequencies(sizes: Mapping[str, Sequence[int] | None], signature: str) -> Figure:
    """Draw how many items every class of the real sets has (Figure 7); a set without sizes is not public."""
    with house_style():
        figure = Figure(figsize=(1.75 * len(sizes), 2.3), layout="constrained")
        for axes, (name, frequencies) in zip(
            figure.subplots(1, len(sizes), squeeze=False)[0], sizes.items(), strict=True
        ):
            axes.set_title(name)
            if frequencies is None:
                axes.set_axis_off()
                axes.text(0.5, 0.5, NOT_PUBLIC, ha="center", va="center", transform=axes.transAxes, color="#555555")
                continue
            classes = np.arange(1, len(frequencies) + 1)
            axes.bar(classes, frequencies, color="#0072B2")
            axes.set_xticks(classes)
            axes.tick_params(labelsize=7)
            axes.grid(axis="x", visible=False)
            axes.set_xlabel("class")
        return sign_figure(figure, signature)
