"""In a figure as wide as a column of print no two texts collide and none is cut off, for 1 to 34 measures."""

import itertools
import re
from functools import cache

import numpy as np
import pytest
from matplotlib.text import Text

import metaeval
from metaeval.data.scores import Scores
from metaeval.show.drawing import fix_layout
from metaeval.show.style import WIDTHS, house_style

NAMES = [
    f"{('BLEU', 'docWMT22CometKiwiDA', 'XCOMET-QE-Ensemble', 'chrF', 'OCI(beta=0.75, gamma=1)')[n % 5]}{n}"
    for n in range(34)
]
PAGE = 9.7  # inches of a page of the ACL


@cache
def make_results(n):
    return [*ask_everything(n)]


def ask_everything(n):
    rng = np.random.default_rng(1)
    values = rng.normal(0, 0.5, (14, 1, 1)) + rng.normal(0, 0.6, (14, 30, 1)) + rng.normal(0, 1, (14, 30, n))
    measures = [metaeval.Measure(name, True) for name in NAMES[:n]]
    scores = Scores(values, runs=[f"run-{k}" for k in range(14)], topics=range(30), measures=measures, collection="c")
    power = metaeval.discriminative_power(scores, n_permutations=50, n_bootstrap=20)
    yield from (
        power,
        metaeval.run_ranks(power),
        metaeval.robustness(scores),
        metaeval.pooled_discriminative_power([power]),
    )
    yield metaeval.split_half_consistency(scores, n_trials=20, n_permutations=50)
    yield metaeval.sample_size(scores, sizes=[5, 10, 20, 30], n_trials=3)
    yield metaeval.topic_set_size(scores, n_bootstrap=20)
    yield metaeval.variance_components(scores, budget=100, prices={"topic": 5})
    yield metaeval.baseline_preference(scores, "run-0", "run-1")
    yield metaeval.calibrate_tests(scores, n_studies=20, n_permutations=20)
    if n > 1:
        yield metaeval.ranking_similarity(scores, n_bootstrap=0)
        yield metaeval.significance_overlap(power)
        yield metaeval.significance_contradictions(power)
        yield metaeval.agreement(scores, reference=NAMES[0], n_permutations=50, n_bootstrap=20)


def find_texts(figure):
    """Yield every text that can be seen, with its box; ticks beyond the ends of an axis are not drawn."""
    unseen = set()
    for axes in [*figure.axes, *(child for parent in figure.axes for child in parent.child_axes)]:
        for axis in (axes.xaxis, axes.yaxis):
            shown = axis._update_ticks() if axes.axison and axis.get_visible() else []
            ticks = {*axis.get_major_ticks(), *axis.get_minor_ticks()} - {*shown}
            unseen |= {id(label) for tick in ticks for label in (tick.label1, tick.label2)}
    for text in figure.findobj(Text):
        if (
            text.get_visible()
            and text.get_text().strip()
            and id(text) not in unseen
            and (text.axes is None or text.axes.get_visible())
        ):
            yield text, Text.get_window_extent(text)


def overlap(one, other):
    return min(one.x1, other.x1) - max(one.x0, other.x0) > 1 and min(one.y1, other.y1) - max(one.y0, other.y0) > 1


def find_collisions(figure):
    """Return texts that overlap, leave the figure or stand over axes that are not theirs; slanted ones have no upright box."""
    fix_layout(figure)
    texts = list(find_texts(figure))
    upright = [(text, box) for text, box in texts if text.get_rotation() % 90 == 0]
    found = [
        (a.get_text(), b.get_text())
        for (a, one), (b, other) in itertools.combinations(upright, 2)
        if overlap(one, other)
    ]
    for text, box in texts:
        if not figure.bbox.padded(1).containsx(box.x0) or not figure.bbox.padded(1).containsx(box.x1):
            found.append((text.get_text(), "left or right edge"))
        if not figure.bbox.padded(1).containsy(box.y0) or not figure.bbox.padded(1).containsy(box.y1):
            found.append((text.get_text(), "upper or lower edge"))
        found += [
            (text.get_text(), "axes")
            for axes in figure.axes
            if text.axes is not None
            and axes.get_visible()
            and text.axes is not axes
            and overlap(box, axes.get_window_extent())
        ]
    for axes in figure.axes:
        if axes.get_legend() is not None and overlap(axes.get_legend().get_window_extent(), axes.get_window_extent()):
            found.append(("legend", "axes"))
    return found


@pytest.mark.parametrize(
    ("n", "size"),
    [(1, "column"), (2, "page"), (12, "column"), (34, "column"), pytest.param(34, "page", marks=pytest.mark.nightly)],
)
def test_no_text_collides_or_is_cut_off_for_1_to_34_measures(n, size):
    for result in make_results(n):
        figure, name = result.plot(size=size), type(result).__name__
        with house_style(size):
            assert find_collisions(figure) == [], name
        assert figure.get_figwidth() == WIDTHS[size]
        assert figure.get_figheight() < (PAGE if size == "column" else 11), name


def test_texts_that_collide_are_found():
    figure = make_results(2)[0].plot(size="column")
    figure.axes[0].text(0.5, 0, "over the ticks", transform=figure.axes[0].transAxes, va="top")
    figure.text(0.98, 0.5, "cut off")
    with house_style("column"):
        found = find_collisions(figure)
    assert any("over the ticks" in pair for pair in found)
    assert ("cut off", "left or right edge") in found


@pytest.mark.nightly
def test_narrow_columns_of_a_heat_map_have_numbers_in_place_of_names():
    axes = make_results(34)[-3].plot(size="column").axes[0]
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert [int(re.search(r"(\d+)$", row)[1]) for row in rows] == list(range(1, 35))
    shown = [label.get_text() for label in axes.get_xticklabels() if label.get_text()]
    assert shown == ["1", "5", "10", "15", "20", "25", "30"]
