"""Figures of results: one function a figure, one style, the signature under each."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.coverage import Coverage, CoverageSweep, UnanimousImprovement
from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.pooled_discriminative_power import PooledDiscriminativePower
from metaeval.analyses.properties import PROPERTIES, Properties
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.robustness import Robustness
from metaeval.analyses.sample_size import SampleSize
from metaeval.analyses.significance import SignificanceContradictions, SignificanceOverlap
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.measures.base import Measure
from metaeval.report.style import house_style, looks, sparse_markers
from metaeval.signature import Signature

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@singledispatch
def figure_of(result: object) -> Figure:
    """Return the figure that shows a result.

    Parameters
    ----------
    result : a result of `metaeval.analyses`

    Returns
    -------
    matplotlib.figure.Figure
        Not known to pyplot: show it in a notebook by its name, or save it with `save`.
    """
    raise TypeError(f"there is no figure of {type(result).__name__}")


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save a figure as PNG and SVG, the same figure always giving the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    folder : Path
        Made if need be.
    name : str
        File name without suffix.

    Returns
    -------
    list of Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with house_style():
        box = settled(figure)
        for suffix, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
            path = folder / f"{name}{suffix}"
            figure.savefig(path, metadata=metadata, bbox_inches=box)
            written.append(path)
    return written


def settled(figure: Figure) -> Bbox:
    """Lay a figure out once and for all, which would otherwise be done for every file, and return what it covers."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure.get_tightbbox().padded(0.08)


def _signed(figure: Figure, signature: Signature | str) -> Figure:
    """Put the signature below, wrapped to the width of the figure."""
    width = int(figure.get_figwidth() * 21)
    figure.text(0.01, -0.01, textwrap.fill(str(signature), width), fontsize=6, color="#555555", va="top")
    return figure


def _titles(measures: Sequence[Measure]) -> list[str]:
    return [one.title for one in measures]


@figure_of.register
def power_curves(power: DiscriminativePower) -> Figure:
    """Draw the discriminative power curves: p-values of all run pairs, in descending order (ACL21, Figures 1–3)."""
    with house_style():
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        _draw_curves(figure.subplots(), power)
        return _signed(figure, power.signature)


def power_panels(powers: Sequence[DiscriminativePower], titles: Sequence[str] | None = None) -> Figure:
    """Draw the curves of several collections side by side, as in ACL21, Figure 2.

    Parameters
    ----------
    powers : sequence of DiscriminativePower
    titles : sequence of str, optional
        By default the collections' names.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with house_style():
        figure = Figure(figsize=(4.6 * len(powers), 4.2), layout="constrained")
        for axes, power, title in zip(
            figure.subplots(1, len(powers), squeeze=False)[0],
            powers,
            titles or [p.collection for p in powers],
            strict=True,
        ):
            _draw_curves(axes, power, title=title)
        return _signed(figure, "; ".join(str(one.signature) for one in powers))


def _draw_curves(axes: Axes, power: DiscriminativePower, title: str | None = None) -> None:
    curve = power.curve()
    shown = looks(list(curve.columns))
    # The most discriminative measure first, as the eye meets the curves from the left.
    order = np.argsort(curve.to_numpy().sum(axis=0), kind="stable")
    pairs = curve.index.to_numpy()
    ceiling = float(min(1.0, max(0.2, 4 * power.alpha)))
    for rank, position in enumerate(order):
        name, p = curve.columns[position], curve.iloc[:, position].to_numpy()
        found = int((p <= power.alpha).sum())
        label = f"{power.measures[position].title} ({found})"
        marked = sparse_markers(np.flatnonzero((p < ceiling) & (p > 0)), rank)
        axes.plot(pairs, p, markevery=marked, markersize=4.5, label=label, **shown[name])
    axes.axhline(power.alpha, color="#888888", linewidth=0.8)
    axes.annotate(
        f"α = {power.alpha:g}",
        (1, power.alpha),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize=7,
    )
    axes.set(ylim=(-0.01 * ceiling, ceiling), xlabel="run pairs, by p-value from large to small", ylabel="p-value")
    first = np.flatnonzero((curve.to_numpy() <= ceiling).any(axis=1))
    axes.set_xlim(left=max(0, (first[0] if len(first) else 0) - 1), right=len(pairs) + 1)
    axes.set_title(title if title is not None else power.collection)
    axes.legend(title="significant pairs in brackets", title_fontsize=7)


@figure_of.register
def similarity_heatmap(similarity: RankingSimilarity) -> Figure:
    """Draw τ between all pairs of measures as a heatmap with its numbers."""
    names = _titles(similarity.measures)
    size = max(3.2, 0.62 * len(names) + 1.4)
    with house_style():
        figure = Figure(figsize=(size, size * 0.86), layout="constrained")
        axes = figure.subplots()
        # A measure agrees with itself, so the diagonal says nothing.
        off = np.where(np.eye(len(names), dtype=bool), np.nan, similarity.tau)
        image = axes.imshow(off, vmin=-1, vmax=1, cmap="PuOr_r")
        axes.grid(False)
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
        for (i, j), value in np.ndenumerate(similarity.tau):
            if i == j:
                continue
            dark = abs(value) > 0.6
            axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="white" if dark else "black")
        figure.colorbar(image, ax=axes, shrink=0.8, label=f"{'τ_a' if similarity.variant == 'tau_a' else 'τ_b'}")
        return _signed(figure, similarity.signature)


@figure_of.register
def consistency_chart(consistency: SplitHalfConsistency) -> Figure:
    """Draw the distribution of τ over splits for every measure, from the most to the least consistent one."""
    order = np.argsort(consistency.means, kind="stable")
    names = [consistency.measures[m].title for m in order]
    shown = looks([str(one) for one in consistency.measures])
    with house_style():
        figure = Figure(figsize=(6, 0.42 * len(names) + 1.3), layout="constrained")
        axes = figure.subplots()
        middle = np.quantile(consistency.tau, [0.025, 0.25, 0.75, 0.975], axis=0)
        for row, m in enumerate(order):
            colour = shown[str(consistency.measures[m])]["color"]
            axes.plot(middle[[0, 3], m], [row, row], color=colour, linewidth=1)
            axes.plot(middle[[1, 2], m], [row, row], color=colour, linewidth=4, solid_capstyle="butt")
            axes.plot(consistency.means[m], row, "o", color="white", markeredgecolor=colour, markersize=6)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.grid(axis="y", visible=False)
        a, b = consistency.sizes
        axes.set_xlabel(f"τ between rankings on {a} and {b} other topics: mean, middle half, middle 95 %")
        return _signed(figure, consistency.signature)


@figure_of.register
def pooled_chart(pooled: PooledDiscriminativePower) -> Figure:
    """Draw the pooled discriminative power of every measure with its interval."""
    order = np.argsort(pooled.power, kind="stable")
    names = [str(one) for one in pooled.measures]
    shown = looks(names)
    with house_style():
        figure = Figure(figsize=(6, 0.42 * len(order) + 1.3), layout="constrained")
        axes = figure.subplots()
        for row, m in enumerate(order):
            colour = shown[names[m]]["color"]
            axes.plot([pooled.low[m], pooled.high[m]], [row, row], color=colour)
            axes.plot(pooled.power[m], row, "o", color=colour)
        axes.set_yticks(range(len(order)), [pooled.measures[m].title for m in order])
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(
            f"share of significant run pairs in {len(pooled.collections)} collections, with interval over runs"
        )
        return _signed(figure, pooled.signature)


@figure_of.register
def overlap_heatmap(overlap: SignificanceOverlap) -> Figure:
    """Draw the significance overlap of all pairs of measures as a heatmap."""
    names = _titles(overlap.measures)
    found = np.diagonal(overlap.both)
    union = found[:, None] + found - overlap.both
    sso = np.divide(overlap.both, union, out=np.full(union.shape, np.nan), where=union > 0)
    size = max(3.2, 0.62 * len(names) + 1.4)
    with house_style():
        figure = Figure(figsize=(size, size * 0.86), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(sso, vmin=0, vmax=1, cmap="cividis")
        axes.grid(False)
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
        for (i, j), value in np.ndenumerate(sso):
            text = "–" if np.isnan(value) else f"{100 * value:.0f}"
            axes.text(j, i, text, ha="center", va="center", fontsize=7, color="white" if value < 0.55 else "black")
        figure.colorbar(image, ax=axes, shrink=0.8, label="significance overlap")
        return _signed(figure, overlap.signature)


@figure_of.register
def contradictions_heatmap(contradictions: SignificanceContradictions) -> Figure:
    """Draw how many run pairs every two measures contradict each other on."""
    names = _titles(contradictions.measures)
    counts = np.zeros((len(names), len(names)), dtype=int)
    rows = contradictions.to_frame()["contradictions"].to_numpy()
    counts[np.triu_indices(len(names), 1)] = rows
    counts += counts.T
    size = max(3.2, 0.62 * len(names) + 1.4)
    with house_style():
        figure = Figure(figsize=(size, size * 0.86), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(counts, vmin=0, vmax=max(1, counts.max()), cmap="Blues")
        axes.grid(False)
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
        for (i, j), value in np.ndenumerate(counts):
            if i != j:
                dark = value > 0.5 * max(1, counts.max())
                axes.text(j, i, str(value), ha="center", va="center", fontsize=7, color="white" if dark else "black")
        figure.colorbar(image, ax=axes, shrink=0.8, label="contradictions", ticks=MaxNLocator(integer=True))
        return _signed(figure, contradictions.signature)


@figure_of.register
def robustness_chart(robustness: Robustness) -> Figure:
    """Draw the distribution of Spearman's ρ between units for every measure."""
    frame = robustness.to_frame()
    order = np.argsort(frame["mean"].fillna(-2).to_numpy(), kind="stable")
    names = [str(one) for one in robustness.measures]
    shown = looks(names)
    with house_style():
        figure = Figure(figsize=(6, 0.42 * len(order) + 1.3), layout="constrained")
        axes = figure.subplots()
        for row, m in enumerate(order):
            known = robustness.correlations[m][~np.isnan(robustness.correlations[m])]
            if len(known):
                colour = shown[names[m]]["color"]
                low, high = np.quantile(known, [0.25, 0.75])
                axes.plot([low, high], [row, row], color=colour, linewidth=4, solid_capstyle="butt")
                axes.plot(known.mean(), row, "o", color="white", markeredgecolor=colour)
        axes.set_yticks(range(len(order)), [robustness.measures[m].title for m in order])
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"Spearman's ρ between the rankings of two {robustness.over}: mean and middle half")
        return _signed(figure, robustness.signature)


@figure_of.register
def sample_size_curves(result: SampleSize) -> Figure:
    """Draw consistency and discriminative power against the number of topics."""
    names = [str(one) for one in result.measures]
    shown = looks(names)
    with house_style():
        figure = Figure(figsize=(9.2, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for m, name in enumerate(names):
            left.plot(result.sizes, result.tau[:, m], markersize=4, **shown[name])
            right.plot(result.sizes, result.power[:, m], markersize=4, label=result.measures[m].title, **shown[name])
        known = [size for size, row in zip(result.sizes, result.tau, strict=True) if not np.isnan(row).all()]
        left.set(xlabel="topics in either set", ylabel="mean τ between two sets", xscale="log")
        right.set(xlabel="topics", ylabel="share of significant run pairs", xscale="log", ylim=(0, None))
        for axes, ticks in ((left, known), (right, list(result.sizes))):
            axes.set_xticks(_spread(ticks), [str(tick) for tick in _spread(ticks)])
            axes.minorticks_off()
        figure.legend(loc="outside right upper")
        return _signed(figure, result.signature)


@figure_of.register
def uir_heatmap(result: UnanimousImprovement) -> Figure:
    """Draw the Unanimous Improvement Ratio of every two runs, the run that improves on most others first."""
    order = np.argsort(-result.ratio.sum(axis=1), kind="stable")
    names = [result.runs[r] for r in order]
    n = len(names)
    size = min(12.0, max(3.4, 0.2 * n + 2.0))
    with house_style():
        figure = Figure(figsize=(size + 0.8, size), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(result.ratio[np.ix_(order, order)], vmin=-1, vmax=1, cmap="PuOr_r")
        axes.grid(False)
        shown = range(0, n, -(-n // 60))
        axes.set_xticks(shown, [names[r] for r in shown], rotation=90, fontsize=6)
        axes.set_yticks(shown, [names[r] for r in shown], fontsize=6)
        figure.colorbar(image, ax=axes, shrink=0.8, label="UIR of the row's over the column's run")
        return _signed(figure, result.signature)


@figure_of.register
def coverage_chart(result: Coverage) -> Figure:
    """Draw the coverage of every measure with its interval, reference measures as hollow marks."""
    order = np.argsort(np.nan_to_num(result.coverage, nan=-2.0), kind="stable")
    inside = {str(one) for one in result.reference}
    names = [str(one) for one in result.measures]
    shown = looks(names)
    with house_style():
        figure = Figure(figsize=(6, 0.3 * len(order) + 1.3), layout="constrained")
        axes = figure.subplots()
        for row, m in enumerate(order):
            colour = shown[names[m]]["color"]
            axes.plot([result.low[m], result.high[m]], [row, row], color=colour)
            face = "white" if names[m] in inside else colour
            axes.plot(result.coverage[m], row, "o", color=colour, markerfacecolor=face)
        axes.set_yticks(range(len(order)), [result.measures[m].title for m in order])
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.grid(axis="y", visible=False)
        reference = ", ".join(_titles(result.reference))
        axes.set_xlabel(f"coverage with respect to {reference} (hollow)")
        return _signed(figure, result.signature)


@figure_of.register
def coverage_sweep_heatmap(result: CoverageSweep) -> Figure:
    """Draw coverage under every reference set as a heatmap, and how often each measure is on top."""
    frame = result.to_frame()
    order = np.argsort(-frame["on_top"].to_numpy(), kind="stable")
    sizes = result.members.sum(axis=1)
    few = len(sizes) <= 31
    with house_style():
        figure = Figure(figsize=(10.5, 0.27 * len(order) + (2.9 if few else 1.7)), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(4, 1), sharey=True)
        image = left.imshow(result.coverage[:, order].T, aspect="auto", cmap="viridis", interpolation="nearest")
        left.set_yticks(range(len(order)), [result.measures[m].title for m in order])
        starts = np.flatnonzero(np.diff(sizes, prepend=0))
        for start in starts[1:]:
            left.axvline(start - 0.5, color="white", linewidth=1)
        if few:
            labels = [" + ".join(text) for text in (_members(result, i) for i in range(len(sizes)))]
            left.set_xticks(range(len(sizes)), labels, rotation=60, ha="right", fontsize=6)
        else:
            wide = [i for i, end in enumerate([*starts[1:], len(sizes)]) if end - starts[i] >= 0.02 * len(sizes)]
            middles = [(starts[i] + ([*starts[1:], len(sizes)][i])) / 2 - 0.5 for i in wide]
            left.set_xticks(middles, [str(sizes[starts[i]]) for i in wide])
            left.set_xlabel(f"all {len(sizes):,} reference sets, by the number of measures in them")
        left.grid(False)
        figure.colorbar(image, ax=left, shrink=0.8, label="coverage", location="left", pad=0.02)
        for row, m in enumerate(order):
            right.barh(row, 100 * frame["on_top"].iloc[m], color="#56B4E9", height=0.7)
            outside = 100 * frame["on_top_outside"].iloc[m]
            right.plot(outside, row, "|", color="black", markersize=9)
        right.tick_params(labelleft=False)
        right.set(xlim=(0, 105), xlabel="% of sets on top\n(stroke: of sets without it)")
        right.grid(axis="y", visible=False)
        return _signed(figure, result.signature)


@figure_of.register
def properties_grid(result: Properties) -> Figure:
    """Draw which measure has which property: a filled mark where no counterexample was found."""
    holds = result.holds()
    names = _titles(result.measures)
    with house_style():
        figure = Figure(figsize=(5.6, 0.27 * len(names) + 1.5), layout="constrained")
        axes = figure.subplots()
        for m, p in np.ndindex(holds.shape):
            marker, colour = ("o", "#0072B2") if holds[m, p] else ("x", "#D55E00")
            axes.plot(p, m, marker=marker, color=colour, markersize=6, linestyle="")
        axes.set_xticks(range(len(PROPERTIES)), [name.replace(" ", "\n") for name in PROPERTIES])
        axes.set_yticks(range(len(names)), names)
        axes.set(xlim=(-0.5, len(PROPERTIES) - 0.5), ylim=(len(names) - 0.5, -0.5))
        axes.set_xlabel("● no counterexample found   × counterexample", fontsize=8)
        axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.spines["bottom"].set_visible(False)
        return _signed(figure, result.signature)


def _members(result: CoverageSweep, position: int) -> list[str]:
    return [one.title for one, inside in zip(result.candidates, result.members[position], strict=True) if inside]


def _spread(ticks: list[int], most: int = 7) -> list[int]:
    """Pick some ticks, first and last among them, that do not collide on a logarithmic axis."""
    kept: list[int] = []
    for tick in ticks:
        if not kept or tick >= 1.45 * kept[-1]:
            kept.append(tick)
    if ticks and kept[-1] != ticks[-1]:
        kept[-1] = ticks[-1]
    return kept


@figure_of.register
def delta_scatter(preference: BaselinePreference) -> Figure:
    """Draw score deltas of every pair of measures against each other, with quadrant counts (LQ21, Figures 1–2)."""
    names = [str(one) for one in preference.measures]
    pairs = [(names[i], names[j]) for i in range(len(names)) for j in range(i + 1, len(names))]
    return delta_panels(preference, pairs[:12])


def delta_panels(preference: BaselinePreference, pairs: Sequence[tuple[str, str]]) -> Figure:
    """Draw score deltas of chosen pairs of measures against each other.

    Parameters
    ----------
    preference : BaselinePreference
    pairs : sequence of (str, str)
        Measures on the horizontal and the vertical axis of each panel.

    Returns
    -------
    matplotlib.figure.Figure
    """
    rows_by_pair = {(row["measure_1"], row["measure_2"]): row for row in preference.quadrants().to_dict("records")}
    titles = {str(one): one.title for one in preference.measures}
    position = {str(one): m for m, one in enumerate(preference.measures)}
    columns = min(4, len(pairs))
    rows = -(-len(pairs) // columns)
    with house_style():
        figure = Figure(figsize=(2.9 * columns + 0.3, 2.9 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (one, two) in zip(grid, pairs, strict=False):
            x, y = preference.deltas[:, position[one]], preference.deltas[:, position[two]]
            axes.axhline(0, color="#888888", linewidth=0.8)
            axes.axvline(0, color="#888888", linewidth=0.8)
            disagree = x * y < 0
            axes.plot(x[~disagree], y[~disagree], ".", color="#0072B2", markersize=3, alpha=0.5)
            axes.plot(x[disagree], y[disagree], "x", color="#D55E00", markersize=3.5)
            reverse = (one, two) not in rows_by_pair
            row = rows_by_pair[(two, one) if reverse else (one, two)]
            second, fourth = (row["fourth"], row["second"]) if reverse else (row["second"], row["fourth"])
            box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "#009E73", "alpha": 0.85}
            axes.text(0.03, 0.97, f"{second:.0f}", transform=axes.transAxes, va="top", fontsize=8, bbox=box)
            axes.text(0.97, 0.03, f"{fourth:.0f}", transform=axes.transAxes, ha="right", fontsize=8, bbox=box)
            axes.set_title(f"r = {row['r']:.3f} [{row['low']:.3f}, {row['high']:.3f}]", fontsize=8)
            axes.set(xlabel=f"Δ{titles[one]}", ylabel=f"Δ{titles[two]}")
        for axes in grid[len(pairs) :]:
            axes.set_visible(False)
        return _signed(figure, preference.signature)


def topic_distributions(
    gold: np.ndarray,
    estimated: dict[str, np.ndarray],
    classes: Sequence[str],
    titles: Sequence[str],
    deltas: Sequence[dict[str, float]],
    signature: Signature | str,
) -> Figure:
    """Draw the gold and the estimated distributions of chosen topics, with score deltas (LQ21, Figure 3).

    Parameters
    ----------
    gold : ndarray, shape (topic, class)
    estimated : dict of str to ndarray, shape (topic, class)
        By run.
    classes : sequence of str
    titles : sequence of str
        One a topic.
    deltas : sequence of dict
        For each topic, the delta of every measure.
    signature : Signature or str

    Returns
    -------
    matplotlib.figure.Figure
    """
    hatches = ("", "///", "...")
    colours = ("#333333", "#D55E00", "#56B4E9")
    with house_style():
        figure = Figure(figsize=(4.6 * len(titles), 3.4), layout="constrained")
        shown = {"gold": gold, **estimated}
        width = 0.8 / len(shown)
        for t, axes in enumerate(figure.subplots(1, len(titles), squeeze=False)[0]):
            for position, (name, shares) in enumerate(shown.items()):
                place = np.arange(len(classes)) + (position - (len(shown) - 1) / 2) * width
                look = {"color": colours[position % 3], "hatch": hatches[position % 3], "edgecolor": "white"}
                axes.bar(place, shares[t], width, label=name, **look)
            axes.set_xticks(range(len(classes)), classes)
            axes.set(ylim=(0, 1.02), ylabel="probability", xlabel="class")
            text = ", ".join(f"Δ{name} = {value:+.3f}" for name, value in deltas[t].items())
            axes.set_title(f"{titles[t]}\n{text}", fontsize=8)
            axes.grid(axis="x", visible=False)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(shown))
        return _signed(figure, signature)
