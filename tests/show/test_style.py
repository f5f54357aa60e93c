"""Measures are told apart in every figure, and every number can be read in every colour."""

import itertools
import random
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import metaeval
from metaeval.analyses.sample_size import sample_size
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError
from metaeval.measures.registry import measures
from metaeval.show.charts import HeatMap, IntervalChart, Row
from metaeval.show.colours import contrast, shade, text_colour
from metaeval.show.drawing import draw_charts, save_figure, spread
from metaeval.show.heatmap import cluster, scale_map
from metaeval.show.looks import COLOURS, KNOWN, find_looks
from metaeval.show.names import to_html, to_latex, to_mathtext
from metaeval.show.style import WIDTHS, choose_looks, house_style

REGISTERED = [str(one) for one in measures() if one.formula.__module__.startswith("metaeval.")]
READABLE = 4.5  # the least contrast between a text and what is behind it (WCAG 2, level AA)
DARK_PAGE = "#16181D"
EVERY = list(dict.fromkeys([*REGISTERED, *itertools.chain(*KNOWN), *(f"own{n}" for n in range(30))]))


def shared(one, other):
    """How many of colour, dash and marker two looks have in common."""
    return (one.colour == other.colour) + (one.dash == other.dash) + (one.marker == other.marker)


def sets_of_measures():
    dice = random.Random(0)
    yield from (list(family) for family in KNOWN)
    yield from (dice.sample(EVERY, dice.randint(2, 24)) for _ in range(40))
    yield [str(one) for one in measures("classification")][:24]
    yield [f"own{n}" for n in range(24)]
    yield ["kappa", "OCI(beta=0.75, gamma=1)", "alpha_ORD", "OCI(beta=0.25, gamma=1)", "CEM_ORD", "R_s", "RNOD", "RNSS"]


def test_up_to_24_measures_no_two_have_two_of_colour_dash_and_marker_in_common():
    for names in sets_of_measures():
        looks = find_looks(names)
        assert all(shared(one, other) <= 1 for one, other in itertools.combinations(looks.values(), 2)), names
        assert len({one.colour for one in looks.values()}) == min(len(names), len(COLOURS))


def test_all_registered_measures_at_once_are_told_apart():
    looks = find_looks(REGISTERED)
    assert len(REGISTERED) > 30
    assert all(shared(one, other) <= 1 for one, other in itertools.combinations(looks.values(), 2))


def test_a_known_measure_keeps_its_look_in_every_part_of_its_family_and_beside_ones_own():
    for family in KNOWN[:3]:
        whole = find_looks(family)
        for number in range(1, len(family)):
            assert find_looks([*family[number:], "mine"])[family[number]] == whole[family[number]]


def test_the_order_of_measures_does_not_matter():
    names = ["mine", "kappa", "R_s", "OCI(beta=0.75, gamma=1)"]
    assert find_looks(names) == find_looks(names[::-1])


def test_looks_are_data_for_pages():
    look = find_looks(["NMD"])["NMD"]
    assert choose_looks(["NMD"])["NMD"] == {"color": look.light, "marker": look.marker, "linestyle": look.dash}


def test_every_colour_of_a_measure_can_be_read_as_text_on_its_page():
    for light, dark in COLOURS:
        assert contrast(light, "#FFFFFF") >= READABLE
        assert contrast(dark, DARK_PAGE) >= READABLE


def test_numbers_can_be_read_on_every_colour_of_the_scale():
    for value in np.linspace(-1.2, 1.2, 2401).tolist():
        assert contrast(text_colour(shade(value)), shade(value)) >= READABLE


def test_the_scale_grows_darker_to_both_ends_and_blue_is_positive():
    values = np.linspace(0, 1, 101).tolist()
    for sign in (1, -1):
        brightness = [contrast(shade(sign * value), "#000000") for value in values]
        assert np.all(np.diff(brightness) <= 0)
    red, blue = (int(shade(1)[place : place + 2], 16) for place in (1, 5))
    assert blue > red


def cells_of(figure):
    """Text and background of every cell of a heat map that has a text."""
    axes = figure.axes[0]
    painted = axes.images[0].get_array()
    for text in axes.texts:
        x, y = text.get_position()
        yield text.get_text(), text.get_color(), "#{:02X}{:02X}{:02X}".format(*painted[round(y), round(x)])


@pytest.mark.parametrize(("low", "high", "falling"), [(-1, 1, False), (0, 1, False), (0, 1, True)])
def test_every_text_in_a_heat_map_has_contrast(low, high, falling):
    values = np.linspace(low, high, 15 * 15).reshape(15, 15)
    names = [f"m{n}" for n in range(15)]
    figure = draw_charts(HeatMap(values, names, names, "τ_a", lambda v: f"{v:.3f}", falling=falling), None)
    cells = list(cells_of(figure))
    assert len(cells) == 225
    assert all(contrast(text, behind) >= READABLE for _, text, behind in cells)
    assert all(behind == shade(1 - v if falling else v) for (_, _, behind), v in zip(cells, values.flat, strict=True))
    bar = figure.axes[-1].collections[-1].norm
    assert (bar.vmin, bar.vmax) == (low, high)


def test_a_colour_bar_has_the_colours_of_the_cells():
    colours = scale_map(-1)
    assert [mpl.colors.to_hex(colours(place)).upper() for place in (0.0, 1.0)] == [shade(-1), shade(1)]


def test_the_dendrogram_is_that_of_average_linkage_by_hand():
    tau = np.array([[1, 0.9, 0.2], [0.9, 1, 0.4], [0.2, 0.4, 1.0]])
    tree = cluster(tau)
    assert np.allclose(tree[:, 2], [0.1, (0.8 + 0.6) / 2])
    chart = HeatMap(tau, list("abc"), list("abc"), "τ", str, clustered=True, diagonal=False)
    figure = draw_charts(chart, None)
    assert len(figure.axes[0].child_axes[0].lines) == 2
    assert cluster(tau[:2, :2]) is None


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(3).random((8, 20, 12)) + np.linspace(0, 0.6, 8)[:, None, None]
    names = [
        "CEM_ORD",
        "MAE_M",
        "tau_a",
        "OCI(beta=0.75)",
        "kappa",
        "a_b^c_$x$",
        "$\\frac",
        *(f"own{n}" for n in range(5)),
    ]
    return Scores(
        values,
        runs=[f"r{n}" for n in range(8)],
        topics=range(20),
        measures=[metaeval.Measure(one, True) for one in names],
    )


def test_names_are_typeset_and_names_from_data_are_shown_as_they_are(scores, tmp_path):
    figure = metaeval.ranking_similarity(scores, n_bootstrap=0).plot()
    (path,) = save_figure(figure, tmp_path, "names", suffixes=(".svg",))
    shown = {re.sub(r"\s+", "", "".join(re.findall(r">([^<]*)<", part))) for part in path.read_text().split("<g id=")}
    assert any("a_b^c_$x$" in one for one in shown)
    assert any("$\\frac" in one for one in shown)
    assert not any("CEM^" in one for one in shown)
    assert any("CEM" in one and "ORD" in one for one in shown)


def test_scripts_in_every_form():
    assert to_html("F1^M & τ_a") == "F1<sup>M</sup> &amp; τ<sub>a</sub>"
    assert to_latex("CEM^ORD") == r"CEM\textsuperscript{ORD}"
    assert to_latex("τ_AP,b") == r"$\tau_{\mathrm{AP,b}}$"
    for plain in ("my_measure", "P_10", "x^^y", "__", "a^", "F_beta_x", "$x^2$"):
        assert to_html(plain) == plain
        assert to_mathtext(plain) == plain.replace("$", r"\$")


@pytest.mark.parametrize(("n", "size"), [(6, None), (6, "column"), (12, None), (12, "page")])
def test_a_legend_never_covers_data_and_is_sorted_by_value(scores, n, size):
    power = metaeval.discriminative_power(scores.sel(measures=scores.measures[:n]), n_permutations=50)
    figure = power.plot(size=size)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    inside = axes.get_window_extent()
    if axes.get_legend() is None:
        names = [text for text in axes.texts if "\n" in text.get_text()]
        boxes = [Text.get_window_extent(text) for text in names]  # without the line to the curve
        found = [int(text.get_text().split("\n")[1]) for text in names if "significant" not in text.get_text()]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    else:
        boxes = [axes.get_legend().get_window_extent()]
        found = [int(re.search(r"\((\d+)\)$", text.get_text())[1]) for text in axes.get_legend().get_texts()]
    assert found == sorted(found, reverse=True)
    assert len(found) == n
    for box in boxes:
        assert box.y0 >= inside.y1 or box.x0 >= inside.x1 or box.y1 <= inside.y0
        assert figure.bbox.padded(1).fully_containsx(box.x0)
        assert figure.bbox.padded(1).fully_containsx(box.x1)
        assert figure.bbox.padded(1).fully_containsy(box.y0)


def test_a_figure_of_a_size_has_it_and_letters_that_can_be_read(scores, tmp_path):
    result = metaeval.split_half_consistency(scores, n_trials=5)
    for size in ("column", "page"):
        figure = result.plot(size=size, signature=False)
        assert figure.get_figwidth() == WIDTHS[size]
        assert not figure.texts
        sizes = [text.get_fontsize() for text in (*figure.axes[0].get_yticklabels(), figure.axes[0].xaxis.label)]
        assert min(sizes) >= 6
    assert result.plot(size=(4, 3)).get_size_inches().tolist() == [4, 3]
    (path,) = save_figure(figure, tmp_path, "figure", suffixes=(".pdf",))
    text = path.read_bytes()
    assert re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", text)[1] == b"%g" % (WIDTHS["page"] * 72) or b"453.5" in text
    assert b"/FontFile2" in text
    assert b"/Type3" not in text
    for wrong in ("wide", (1,), (0, 3), ("a", "b")):
        with pytest.raises(MetaevalError, match="size|drawn"):
            result.plot(size=wrong)


def test_a_result_draws_into_the_users_own_axes(scores):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert metaeval.ranking_similarity(scores, n_bootstrap=0).plot(ax=left) is figure
    assert left.images
    found = sample_size(scores, sizes=[5, 10], n_trials=5, n_permutations=20)
    assert found.plot(ax=right) is figure
    assert right.lines
    assert found.plot(ax=[left, right]) is figure
    assert not figure.texts
    with pytest.raises(MetaevalError, match="the figure has 1 panel"):
        metaeval.ranking_similarity(scores, n_bootstrap=0).plot(ax=[left, right])
    with pytest.raises(MetaevalError, match="ax is Axes"):
        found.plot(ax="left")


def test_the_users_own_settings_come_back():
    before = dict(mpl.rcParams)
    with house_style():
        assert mpl.rcParams["font.size"] == 9
    assert dict(mpl.rcParams) == before


def test_labels_are_spread_as_little_as_possible():
    targets = np.array([1.0, 1.2, 8.0])
    assert np.allclose(spread(targets, 1, 0, 10), [0.6, 1.6, 8])
    assert np.allclose(spread(np.array([0.0, 10.0]), 2, 0, 10), [1, 9])
    assert spread(targets, 4, 0, 10) is None


def test_intervals_have_the_markers_of_their_measures():
    figure = draw_charts(IntervalChart([Row("RNOD", "RNOD", 0.6), Row("NMD", "NMD", 0.5)], "x"), None)
    looks = find_looks(["NMD", "RNOD"])
    assert [line.get_marker() for line in figure.axes[0].lines] == [looks["NMD"].marker, looks["RNOD"].marker]
