"""The report in a real browser: it loads without a network or a complaint, sorts, hovers, and can be used by everybody."""

import os
import shutil

import numpy as np
import pytest

import metaeval as me
from metaeval.comparison.new_measure import compare

sync_api = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")
CHROMIUM = os.environ.get("METAEVAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium (Debian: apt-get install chromium)", allow_module_level=True)

NASTY = "<img src=x onerror=alert(1)>"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(4)
    gold = rng.dirichlet(np.ones(5), 30)
    weight = np.linspace(0.1, 0.9, 7)[:, None, None]
    estimated = weight * gold + (1 - weight) * rng.dirichlet(np.ones(5), (7, 30))
    top = np.eye(5)[gold.argmax(axis=1)]
    runs = me.QuantificationRuns(
        estimated, gold, runs=[NASTY, *"abcdef"], topics=range(30), classes=range(5), collection=NASTY
    ).with_runs({"BL-popularity": top, "BL-uniform": np.full_like(gold, 0.2)})
    return compare("RNADW", runs, n_trials=40, n_permutations=200).write(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["desk", "phone"])
def page(request, browser, report):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda asked: page.asked.append(asked.url))
    page.on("dialog", lambda dialog: page.said.append("a dialog opened"))
    page.goto(report.as_uri())
    yield page
    context.close()


def test_it_loads_from_disk_without_a_complaint_or_a_request(page, report):
    assert page.said == []
    assert [url for url in page.asked if url != report.as_uri() and not url.startswith("data:")] == []
    assert report.stat().st_size < 3_000_000


def test_it_fits_the_width_of_the_screen(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_names_from_data_are_shown_as_text(page):
    assert page.locator("h3", has_text=NASTY).count() > 0
    assert page.locator("img[src='x']").count() == 0
    assert page.said == []


def test_tables_sort_by_number_and_back(page):
    table = page.locator("table.data", has_text="#sig").first
    head = table.locator("th", has_text="#sig")
    column = head.evaluate("th => th.cellIndex")

    def shown():
        return [int(text) for text in table.locator(f"tbody tr > :nth-child({column + 1})").all_inner_texts()]

    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown() == sorted(shown())
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert shown() == sorted(shown(), reverse=True)


def test_curves_say_their_p_values_under_the_pointer_and_by_key(page):
    curves = page.locator("figure.curves").first
    plot, tip = curves.locator("svg[role=img]"), curves.locator(".tip")
    assert tip.is_hidden()
    plot.hover(position={"x": 120, "y": 40})
    assert "RNADW: p = " in tip.inner_text()
    page.mouse.move(0, 0)
    assert tip.is_hidden()
    plot.focus()
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    page.keyboard.press("End")
    assert tip.inner_text() != first


def test_the_heatmap_says_the_interval_under_the_pointer(page):
    heat = page.locator("table.heat").first
    heat.locator("td[data-tip]:not([data-tip=''])").first.hover()
    assert "interval over topics" in page.locator(".plot > .tip").first.inner_text()


def test_light_and_dark_can_be_exchanged(page):
    def paper():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    before = paper()
    page.get_by_role("button", name="Light or dark").click()
    assert paper() != before


def test_every_link_inside_has_a_target(page):
    missing = page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
        ".filter(id => !document.getElementById(id))"
    )
    assert missing == []


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_axe_finds_nothing_that_keeps_anybody_out(browser, report, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(report.as_uri())
    for look in ({"color_scheme": "light"}, {"color_scheme": "dark"}, {"color_scheme": "light", "media": "print"}):
        page.emulate_media(**{"media": "screen", **look})
        found = axe.run(page)
        assert found.violations_count == 0, f"{width}, {look}: {found.generate_report()}"
    page.close()


def test_the_summary_fits_a_wide_screen_and_a_single_collection_is_named_once(browser, report):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(report.as_uri())
    table = page.locator("table.data", has_text="RNADW").first
    room, needed = table.evaluate("one => [one.parentElement.clientWidth, one.parentElement.scrollWidth]")
    assert needed <= room
    assert page.locator(".part > h3").first.evaluate("one => one.offsetHeight") <= 1
    page.close()


def test_warnings_stand_on_the_first_screen_of_a_telephone(browser, report):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(report.as_uri())
    heading = page.get_by_role("heading", name="Before you rely on this")
    assert heading.bounding_box()["y"] < 844
    before = heading.evaluate("one => one.previousElementSibling.className")
    assert before == "findings"
    page.close()


def test_names_of_measures_are_typeset_and_copied_as_plain_text(browser, tmp_path):
    rng = np.random.default_rng(1)
    scores = me.Scores(
        rng.random((6, 12, 3)), runs=list("abcdef"), topics=range(12),
        measures=["CEM_ORD", "MAE_mu", me.Measure("mine_mu", True)],
    )  # fmt: skip
    result = compare("CEM_ORD", scores, n_trials=20, n_permutations=50)
    index = result.write(tmp_path / "report")
    page = browser.new_page()
    page.goto(index.as_uri())
    for place in (
        "h1",
        "table.data thead",
        "table.data tbody",
        "table.heat",
        ".legend",
        "svg .name",
    ):
        shown = page.locator(place, has_text="CEM").first
        assert shown.locator("svg, sup, tspan").filter(has_text="ORD").count(), place
        assert "CEM_ORD" not in shown.inner_text() if place != "svg .name" else True
    assert page.locator("table.data tbody th", has_text="mine_mu").count(), "a name of one's own stays as it is"
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    page.locator("button.copy").first.click()
    rows = page.evaluate("window.copied").split("\n")
    assert rows[0].startswith("measure\tτ\t")
    assert [row.split("\t")[0] for row in rows[1:]] == ["CEM^ORD", "MAE^μ", "mine_mu"]
    assert (index.parent / "tables" / "summary.csv").read_text("utf-8").splitlines()[1].startswith("CEM_ORD,")
    page.close()


def test_it_prints_without_the_navigation(page):
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
