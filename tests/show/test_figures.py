"""Measures are told apart in every figure, every number can be read in every colour, and pages show what paper does."""

import itertools
import os
import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matplotlib.figure import Figure

import metaeval
from metaeval.errors import MetaevalError
from metaeval.measures.registry import measures
from metaeval.show.charts import HeatMap, IntervalChart, Line, LineChart, Row, ScatterChart, highlight
from metaeval.show.colours import shade, text_colour
from metaeval.show.drawing import MOST_POINTS, draw_charts, save_figure
from metaeval.show.heatmap import cluster
from metaeval.show.looks import COLOURS, KNOWN, choose_looks, write_variables
from metaeval.show.screen import STYLE, draw_chart, make_file
from metaeval.show.style import WIDTHS, house_style
from tests.analyses.made import label

REGISTERED = [str(measure) for measure in measures() if measure.formula.__module__.startswith("metaeval.")]
READABLE = 4.5  # the least contrast between a text and what is behind it (WCAG 2, level AA)
EVERY = list(dict.fromkeys([*REGISTERED, *itertools.chain(*KNOWN), *(f"own{n}" for n in range(30))]))


def contrast(colour, other):
    """The contrast ratio of two colours by their relative luminances, between 1 and 21 (WCAG 2)."""
    dark, light = sorted(
        sum(w * (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4)
            for w, p in zip((0.2126, 0.7152, 0.0722), mpl.colors.to_rgb(one), strict=True))
        for one in (colour, other)
    )  # fmt: skip
    return (light + 0.05) / (dark + 0.05)


def check_looks(names):
    looks = choose_looks(names)
    for one, other in itertools.combinations(looks.values(), 2):
        assert sum(one[part] == other[part] for part in one) <= 1, names
    assert len({look["color"] for look in looks.values()}) == min(len(names), len(COLOURS))
    assert choose_looks(names[::-1]) == looks


@given(st.integers(2, 24).flatmap(lambda n: st.lists(st.sampled_from(EVERY), min_size=n, max_size=n, unique=True)))
@settings(max_examples=100, deadline=None)
def test_up_to_24_measures_no_two_have_two_of_colour_dash_and_marker_in_common(names):
    check_looks(names)


def test_a_known_measure_keeps_its_look_in_every_part_of_its_family_and_beside_ones_own():
    for names in (*KNOWN, REGISTERED):
        check_looks(names)
    for family in KNOWN[:3]:
        whole = choose_looks(family)
        for number in range(1, len(family)):
            assert choose_looks([*family[number:], "mine"])[family[number]] == whole[family[number]]


def test_every_colour_can_be_read_on_its_page_and_every_number_on_its_cell():
    for theme, paper in enumerate(("#FFFFFF", "#16181D")):
        assert all(contrast(pair[theme], paper) >= READABLE for pair in COLOURS)
        assert f"--c2: {COLOURS[2][theme]};" in write_variables(("light", "dark")[theme])
    assert all(contrast(text_colour(shade(v)), shade(v)) >= READABLE for v in np.linspace(-1.2, 1.2, 2401).tolist())
    for sign in (1, -1):
        brightness = [contrast(shade(sign * value), "#000000") for value in np.linspace(0, 1, 101).tolist()]
        assert np.all(np.diff(brightness) <= 0)
    red, blue = (int(shade(1)[place : place + 2], 16) for place in (1, 5))
    assert blue > red


@pytest.mark.parametrize("low", [-1, 0])
def test_every_text_in_a_heat_map_has_contrast(low):
    values, names = np.linspace(low, 1, 15 * 15).reshape(15, 15), [f"m{n}" for n in range(15)]
    figure = draw_charts(HeatMap(values, names, names, "τ_a", lambda v: f"{v:.3f}"), None)
    painted, shades = figure.axes[0].images[0].get_array(), [shade(value) for value in values.ravel().tolist()]
    for text, behind in zip(figure.axes[0].texts, shades, strict=True):
        x, y = map(round, text.get_position())
        assert mpl.colors.to_hex(painted[y, x] / 255).upper() == behind
        assert contrast(text.get_color(), behind) >= READABLE
    bar = figure.axes[-1].collections[-1]
    assert (bar.norm.vmin, bar.norm.vmax) == (low, 1)
    assert [mpl.colors.to_hex(bar.cmap(end)).upper() for end in (0.0, 1.0)] == [shade(low), shade(1)]


def test_clusters_are_those_of_average_linkage_by_hand():
    tau = np.array([[1, 0.9, 0.2], [0.9, 1, 0.4], [0.2, 0.4, 1.0]])
    assert np.allclose(cluster(tau)[:, 2], [0.1, (0.8 + 0.6) / 2])
    assert cluster(tau[:2, :2]) is None


def test_where_cells_are_small_only_the_zero_before_the_point_goes():
    """90.4 % once read 9.4 in a figure of a dozen measures."""
    values, names = np.full((24, 24), 90.4), [f"m{n}" for n in range(24)]
    values[0, 1:4] = 100, 0.5, -0.25
    figure = draw_charts(HeatMap(values, names, names, "%", "{:.4g}".format, highest=100), None, size="page")
    assert {text.get_text() for text in figure.axes[0].texts} == {"90.4", "100", ".5", "-.25"}


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(3).random((8, 20, 12)) + np.linspace(0, 0.6, 8)[:, None, None]
    known = ["CEM_ORD", "MAE_M", "tau_a", "OCI(beta=0.75)", "kappa"]
    names = [*known, "a_b^c_$x$", "$\\frac", *(f"own{n}" for n in range(5))]
    return label(values, [metaeval.Measure(name, True) for name in names])


def test_names_are_typeset_and_names_from_data_are_shown_as_they_are(scores, tmp_path):
    figure = metaeval.ranking_similarity(scores, n_bootstrap=0).plot()
    (path,) = save_figure(figure, tmp_path, "names", suffixes=(".svg",))
    shown = {re.sub(r"\s+", "", "".join(re.findall(r">([^<]*)<", part))) for part in path.read_text().split("<g id=")}
    for name, there in (("a_b^c_$x$", True), ("$\\frac", True), ("CEM^", False)):
        assert any(name in text for text in shown) is there
    assert any("CEM" in text and "ORD" in text for text in shown)


def test_a_legend_is_sorted_by_value(scores):
    """That it covers nothing is tried where figures are printed."""
    axes = metaeval.discriminative_power(scores, n_permutations=50).plot(size="column").axes[0]
    counts = [int(re.search(r"\((\d+)\)$", text.get_text())[1]) for text in axes.get_legend().get_texts()]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == 12


def test_a_figure_of_a_size_has_it_and_letters_that_can_be_read(scores, tmp_path):
    result, before = metaeval.split_half_consistency(scores, n_trials=5), dict(mpl.rcParams)
    for size in ("column", "page"):
        figure = result.plot(size=size, signature=False)
        assert figure.get_figwidth() == WIDTHS[size]
        assert not figure.texts
        texts = (*figure.axes[0].get_yticklabels(), figure.axes[0].xaxis.label)
        assert min(text.get_fontsize() for text in texts) >= 6
    assert result.plot(size=(4, 3)).get_size_inches().tolist() == [4, 3]
    text = save_figure(figure, tmp_path, "figure", suffixes=(".pdf",))[0].read_bytes()
    assert re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", text)[1] == b"%g" % (WIDTHS["page"] * 72) or b"453.5" in text
    assert (b"/FontFile2" in text, b"/Type3" in text) == (True, False)
    for wrong in ("wide", (1,), (0, 3), ("a", "b")):
        with pytest.raises(MetaevalError, match="size|drawn"):
            result.plot(size=wrong)
    with house_style():
        assert mpl.rcParams["font.size"] == 9
    assert dict(mpl.rcParams) == before, "the user's own settings come back"


def test_rows_and_curves_have_the_looks_of_their_measures_and_the_new_one_stands_out():
    rows = IntervalChart([Row("RNOD", "RNOD", 0.6), Row("NMD", "NMD", 0.5)], "x")
    looks = choose_looks(["NMD", "RNOD"])
    axes = draw_charts(highlight(rows, ["NMD"]), None).axes[0]
    assert [line.get_marker() for line in axes.lines] == [looks["NMD"]["marker"], looks["RNOD"]["marker"]]
    assert [line.get_alpha() for line in axes.lines] == [1.0, 0.35]
    assert [tick.get_fontweight() for tick in axes.get_yticklabels()] == ["bold", "normal"]
    x = np.arange(3.0)
    lines = [Line(name, name, x, x, middle=x, band=(x, x)) for name in ("NMD", "RNOD")]
    strong, other = highlight(LineChart(lines, "x", "y"), ["NMD"]).lines
    assert (strong.strong, other.strong, other.band, other.middle) == (True, False, None, None)


def test_a_long_curve_is_thinned_and_keeps_its_last_point():
    y = np.linspace(1, 0, 50_001)
    axes = draw_charts(LineChart([Line("a", "a", np.arange(50_001.0), y)], "pairs", "p"), None).axes[0]
    drawn = axes.lines[0].get_ydata()
    assert len(drawn) <= MOST_POINTS
    assert drawn[-1] == 0
    assert axes.get_xlabel() == "pairs; one of 51 drawn"


NASTY = '<img src=x onerror="alert(1)">&\x1b[31m'
HOLES = np.array([0.5, np.nan, np.inf, 0.25, 0.1])


def line(name=NASTY, y=HOLES, **settings):
    return Line(name, name, np.arange(1.0, len(y) + 1), y, **settings)


CHARTS = {
    "lines": LineChart([line(), line("NMD", HOLES[::-1])], NASTY, NASTY, level=(0.2, NASTY)),
    "band": LineChart([line(middle=HOLES, band=(HOLES - 0.1, HOLES + 0.1))], "x", "y", log=True, ticks=[1, 2, 5]),
    "ceiling": LineChart([line(y=np.array([0.9, 0.3, 0.1, 0.0]), count=2)], "x", "y", limits=(0.0, 0.2), marks=5),
    "nothing seen": LineChart([line(y=np.array([0.9, 0.8]))], "x", "y", limits=(0.0, 0.2), marks=5),
    "intervals": IntervalChart(
        [Row(NASTY, NASTY, 0.5, line=(0.1, 0.9)), Row("b", "b", np.nan, bar=(0.2, np.nan))], NASTY, levels=[(0.4, "--")]
    ),
    "filled": IntervalChart([Row(NASTY, NASTY, 12.0), Row("b", "b", 0.0)], NASTY, filled=True),
    "heat": HeatMap(np.array([[1, np.nan], [-0.4, 0.2]]), [NASTY, "b"], ["c", NASTY], NASTY, "{:.2f}".format),
    "holes": HeatMap(np.array([[np.nan, np.inf]]), ["a"], ["b", "c"], "v", "{:.2f}".format, highest=2.0),
    "scatter": ScatterChart(np.array([0.1, -0.2, 0.3]), np.array([0.2, 0.1, -0.3]), NASTY, NASTY),
}  # fmt: skip


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_chart_of_a_page_is_well_formed_and_names_are_text(name):
    text = draw_chart(CHARTS[name])
    drawn = ET.fromstring(text)  # noqa: S314  (the text is our own)
    tags = {part.tag.rpartition("}")[2] for part in drawn.iter()}
    assert not tags & {"img", "script", "metadata"}
    assert "\x1b" not in text
    assert not re.search(r' (?!title|aria-label)[\w-]+="[^"]*\b(nan|inf)\b', text)
    if "svg" in tags:
        assert drawn.get("role") == "img"
        assert drawn.get("aria-label")
        file = make_file(text, NASTY)
        ET.fromstring(file)  # noqa: S314
        assert "var(" not in file


def test_variables_of_charts_have_both_themes_and_marks_say_what_they_are():
    text = draw_chart(CHARTS["intervals"]) + STYLE
    for variable in set(re.findall(r"var\((--\w+)\)", text)):
        assert all(f"{variable}: " in write_variables(theme) for theme in ("light", "dark"))
    precise = LineChart([line("a", np.array([0.125, 0.25]))], "x", "y", limits=(0.0, 0.1255), ticks=[0.1234])
    assert "<title>a</title>" in draw_chart(precise)
    assert ">0.1234</text>" in draw_chart(precise)  # digits of coordinates go, never those of numbers
    assert '<title>&lt;img src=x onerror="alert(1)"&gt;&amp;\\x1b[31m 0.500 [0.100, 0.900]</title>' in text


def test_names_with_scripts_stand_beside_their_counts_and_shortened_ones_differ():
    scripted = LineChart([Line("CEM_ORD", "CEM^ORD", np.arange(1.0, 6.0), HOLES, count=644)], "x", "y", counted="pairs")
    assert "xa0" not in draw_chart(scripted)
    names = ["Metric-XXL-ensemble (higher?)", "Metric-XXL-checkpoint (higher?)"]
    chart = IntervalChart([Row(name, name, 0.5) for name in names], "x")
    shown = re.findall(r">([^<>]*…[^<>]*)</text>", draw_chart(chart, 200))
    assert len(set(shown)) == 2


def test_a_square_of_measures_has_numbers_above_its_columns_in_the_order_of_clusters():
    alike = np.array([[1, 0.1, 0.9], [0.1, 1, 0.2], [0.9, 0.2, 1.0]])
    names = ["a", "a long name of a measure", "c"]
    for values, opposed in ((alike, False), (1 - alike, True)):
        chart = HeatMap(values, names, names, "x", "{:.2f}".format, diagonal=False, clustered=True, opposed=opposed)
        head, *rows = ET.fromstring(draw_chart(chart)).iter("tr")  # noqa: S314
        assert [cell.text for cell in head.iter("th")][1:] == ["1", "2", "3"]
        order = [names.index("".join(row.find("th").itertext())[:-2]) for row in rows]
        assert 1 in (order[0], order[2]), "a and c are alike, and stand side by side"
        shown = [["".join(cell.itertext()) for cell in row.findall("td")] for row in rows]
        assert shown == [["" if i == j else f"{values[i, j]:.2f}" for j in order] for i in order]


@pytest.mark.skipif(os.name != "posix", reason="needs a limit of the size of files")
@pytest.mark.parametrize("suffix", [".pdf", ".png", ".svg"])
def test_a_figure_that_does_not_fit_on_a_full_disk_is_an_error_of_the_system_whatever_writes_it(tmp_path, suffix):
    import resource

    figure = Figure()
    figure.subplots().plot([1, 2])
    size = save_figure(figure, tmp_path, "whole", (suffix,))[0].stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        for limit in range(0, size, size // 5):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            with pytest.raises(OSError, match="File too large"):
                save_figure(figure, tmp_path, "part", (suffix,))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
