"""In a figure as wide as a column of print no two texts collide and none is cut off, for 1 to 34 measures."""

import re
from functools import cache

import numpy as np
import pytest
from matplotlib.text import Text

from metaeval.show.drawing import fix_layout
from metaeval.show.style import WIDTHS, house_style
from tests.analyses.made import ask_everything, label

USUAL = ("BLEU", "docWMT22CometKiwiDA", "XCOMET-QE-Ensemble", "chrF", "OCI(beta=0.75, gamma=1)")
LONG = ("A measure of which the name has about sixty-four letters, no. ", "over-sixty-letters-without-a-space-" * 2)
PAGE = 9.7  # inches of a page of the ACL


@cache
def make_results(n, names=USUAL):
    rng = np.random.default_rng(1)
    values = rng.normal(0, 0.5, (14, 1, 1)) + rng.normal(0, 0.6, (14, 30, 1)) + rng.normal(0, 1, (14, 30, n))
    labels = {"runs": [f"{'' if names is USUAL else 'long-' * 12}run-{k}" for k in range(14)], "higher_is_better": True}
    measures = [f"{names[k % len(names)]}{k}" for k in range(n)]
    return [*ask_everything(label(values, measures, "c" if names is USUAL else "c" * 61, **labels))]


def find_texts(figure):
    """Return every text that can be seen; ticks beyond the ends of an axis are not drawn."""
    unseen = set()
    for axes in [*figure.axes, *(child for parent in figure.axes for child in parent.child_axes)]:
        for axis in (axes.xaxis, axes.yaxis):
            shown = axis._update_ticks() if axes.axison and axis.get_visible() else []
            ticks = {*axis.get_major_ticks(), *axis.get_minor_ticks()} - {*shown}
            unseen |= {id(text) for tick in ticks for text in (tick.label1, tick.label2)}
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in texts if id(text) not in unseen and (text.axes is None or text.axes.get_visible())]


def overlap(boxes, others):
    """Which boxes share more than a point in both directions with which others?"""
    low, high = np.maximum(boxes[:, None, :2], others[:, :2]), np.minimum(boxes[:, None, 2:], others[:, 2:])
    return (high - low > 1).all(axis=-1)


def find_collisions(figure):
    """Return texts that overlap, leave the figure or stand over axes that are not theirs; slanted ones have no upright box."""
    fix_layout(figure)
    texts, areas = np.array(find_texts(figure)), [axes for axes in figure.axes if axes.get_visible()]
    boxes = np.array([Text.get_window_extent(text).extents for text in texts])
    inside = np.array([axes.get_window_extent().extents for axes in areas])
    words = np.array([text.get_text() for text in texts])
    upright = np.array([text.get_rotation() % 90 == 0 for text in texts])
    found = [(words[i], words[j]) for i, j in np.argwhere(np.triu(overlap(boxes, boxes), 1)) if upright[[i, j]].all()]
    edges = figure.bbox.padded(1).extents
    out = (boxes[:, :2] < edges[:2]) | (boxes[:, 2:] > edges[2:])
    found += [(words[n], ("left or right edge", "upper or lower edge")[side]) for n, side in np.argwhere(out)]
    over = [n for n, a in np.argwhere(overlap(boxes, inside)) if texts[n].axes not in (None, areas[a])]
    found += [(words[n], "axes") for n in over]
    for axes in figure.axes:
        if axes.get_legend() is not None:
            box = axes.get_legend().get_window_extent().extents[None]
            found += [("legend", "axes")] * int(overlap(box, axes.get_window_extent().extents[None]).item())
    return found


@pytest.mark.parametrize(
    ("n", "size", "names"),
    [
        (1, "column", USUAL), (2, "page", USUAL), (12, "column", USUAL), (12, None, USUAL), (34, "column", USUAL),
        pytest.param(34, "page", USUAL, marks=pytest.mark.nightly), (2, "page", LONG), (5, "column", LONG),
    ],
)  # fmt: skip
def test_no_text_collides_or_is_cut_off_for_1_to_34_measures_and_names_of_60_letters(n, size, names):
    for result in make_results(n, names):
        figure, name = result.plot(size=size), type(result).__name__
        with house_style(size):
            assert find_collisions(figure) == [], name
        assert figure.get_figwidth() == WIDTHS.get(size, figure.get_figwidth())
        assert figure.get_figheight() < (PAGE if size == "column" else 11), name


def test_texts_that_collide_are_found():
    figure = make_results(2)[0].plot(size="column")
    figure.axes[0].text(0.5, 0, "over the ticks", transform=figure.axes[0].transAxes, va="top")
    figure.text(0.98, 0.5, "cut off")
    with house_style("column"):
        found = find_collisions(figure)
    assert any("over the ticks" in pair for pair in found)
    assert ("cut off", "left or right edge") in found


def test_narrow_columns_of_a_heat_map_have_numbers_in_place_of_names():
    (similarity,) = (one for one in make_results(34) if type(one).__name__ == "RankingSimilarity")
    axes = similarity.plot(size="column").axes[0]
    rows = [text.get_text() for text in axes.get_yticklabels()]
    assert [int(re.search(r"(\d+)$", row)[1]) for row in rows] == list(range(1, 35))
    shown = [text.get_text() for text in axes.get_xticklabels() if text.get_text()]
    assert shown == ["1", "5", "10", "15", "20", "25", "30"]
