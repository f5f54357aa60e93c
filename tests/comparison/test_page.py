"""The report in a real browser: it loads without a network or a complaint, sorts, prints, and can be used by everybody."""

import re

import numpy as np
import pytest

from metaeval.comparison.new_measure import compare
from tests.analyses.made import label
from tests.app.serve import find_barriers
from tests.comparison.conftest import add_baselines, make_runs

NASTY = "<img src=x onerror=alert(1)>"
LONG = [
    *(f"A measure with a name of sixty letters, as some have, v. {number}.00" for number in (1, 2)),
    "eighteen_letters_x", "W" * 60, "日本語の評価尺度の名前" * 5, "مقياس جديد لتقييم النظم باسم طويل جدا من ستين حرفا",
    "Новая мера качества ранжирования с очень длинным именем", "unbroken-" * 7, *(f"m{number}" for number in range(7)),
]  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    runs = add_baselines(make_runs(7, 30, lowest=0.1, runs=[NASTY, *"abcdef"], collection=NASTY))
    return compare("RNADW", runs, n_trials=40, n_permutations=200).write(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def long_report(tmp_path_factory):
    rng = np.random.default_rng(2)
    quality = np.linspace(0.2, 0.8, 10)[:, None, None]
    values = quality + rng.normal(0, np.linspace(0.1, 0.6, len(LONG)), (10, 30, len(LONG)))
    runs = [f"A run whose name has about sixty letters, which is no rarity {number}" for number in range(10)]
    scores = label(values, LONG, "c" * 60, runs=runs, higher_is_better=True)
    return compare(LONG[0], scores, n_trials=20, n_permutations=100).write(tmp_path_factory.mktemp("long"))


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


def test_it_loads_from_disk_fits_the_screen_and_shows_names_as_text(page, report):
    assert page.said == []
    assert [url for url in page.asked if url != report.as_uri() and not url.startswith("data:")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert page.locator("h3", has_text=NASTY).count() > 0
    assert page.locator("img").count() == 0
    missing = page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
        ".filter(id => !document.getElementById(id))"
    )
    assert missing == []


def test_tables_sort_by_number_and_back(page):
    table = page.locator("table", has_text="#sig").first
    head = table.locator("th", has_text="#sig")
    column = head.evaluate("th => th.cellIndex")

    def shown():
        texts = table.locator(f"tbody tr > :nth-child({column + 1})").all_inner_texts()
        return [int(text.split()[0]) for text in texts]

    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown() == sorted(shown())
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert shown() == sorted(shown(), reverse=True)


def test_the_new_measure_stands_out_and_matrices_are_folded(page):
    assert page.locator("tr.new th").first.inner_text() == "RNADW"
    for anchor, head in (("similarity", "τ"), ("overlap", "overlap, %")):
        section = page.locator(f"section:has(#{anchor})")
        table = section.locator("table").first
        assert [text.strip() for text in table.locator("thead .sort").all_inner_texts()[:2]] == ["measure", head]
        numbers = [float(text) for text in table.locator("tbody tr > :nth-child(2)").all_inner_texts()]
        assert len(numbers) == 6
        assert numbers == sorted(numbers, reverse=True)
        assert section.locator(".heat table").first.is_hidden()
        assert table.locator("td", has_text=re.compile("^–$")).count() == 0


def test_light_and_dark_can_be_exchanged_and_print_has_no_navigation(page):
    def paper():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    before = paper()
    page.get_by_role("button", name="Light or dark").click()
    assert paper() != before
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()


def test_axe_finds_nothing_that_keeps_anybody_out(browser, report):
    page = browser.new_page()
    page.goto(report.as_uri())
    for width in (1440, 768, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for look in ({"color_scheme": "light"}, {"color_scheme": "dark"}, {"color_scheme": "light", "media": "print"}):
            page.emulate_media(**{"media": "screen", **look})
            assert find_barriers(page) == "", f"{width}, {look}"
    page.close()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_screen_is_complete_and_a_single_collection_is_named_once(browser, report, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(report.as_uri())
    told = [page.locator(".answer"), page.locator(".findings"), page.locator(".told .notes")]
    told += [page.locator(".panels"), page.locator(".opening table")] if width > 1000 else []
    assert page.get_by_role("heading", name="Before you rely on this").is_visible()
    for part in told:
        box = part.bounding_box()
        assert box["y"] + box["height"] <= height
    room, needed = page.locator(".opening .scroll").first.evaluate("one => [one.clientWidth, one.scrollWidth]")
    assert needed <= room
    assert page.locator(".part > h3").first.evaluate("one => one.offsetHeight") <= 1
    page.close()


CUT_OFF = """wide => {
  const cut = [], page = document.documentElement.clientWidth;
  const isShown = one => one.getClientRects().length && getComputedStyle(one).display !== "inline" && one.offsetHeight > 1;
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    const seen = svg.getBoundingClientRect();
    if (!seen.width) continue;
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (box.left < seen.left - 1 || box.right > seen.right + 1 || box.bottom > seen.bottom + 1) cut.push(text.textContent);
    }
  }
  for (const one of document.querySelectorAll("th, td, h1, h3, li, p, summary")) {
    if (isShown(one) && one.scrollWidth > one.clientWidth + 1) cut.push(one.textContent.trim());
  }
  for (const one of document.querySelectorAll(wide)) {
    if (one.getClientRects().length && one.getBoundingClientRect().right > page + 1) cut.push(one.textContent.trim());
  }
  return cut;
}"""


@pytest.mark.parametrize(("width", "media"), [(1440, "screen"), (390, "screen"), (688, "print")])
def test_names_of_sixty_letters_and_of_any_alphabet_fit(browser, long_report, width, media):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media=media)
    page.goto(long_report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    # Wide tables scroll on the screen; on paper, 182 mm of an A4 page or 688 pixels, everything must fit.
    wide = "table, svg, p, ul, figure" if media == "print" else ".scroll, .panels, figure, p"
    assert page.evaluate(CUT_OFF, wide) == []
    page.close()


def test_names_of_measures_are_typeset_on_the_page_and_plain_in_files(browser, tmp_path):
    names = ["CEM_ORD", "kappa", "HMPR", "mine_mu"]
    scores = label(np.random.default_rng(5).normal(size=(12, 30, 4)), names, higher_is_better=True)
    index = compare("CEM_ORD", scores, n_trials=20, n_permutations=50).write(tmp_path / "report")
    page = browser.new_page()
    page.goto(index.as_uri())
    for place in ("h1", "tbody", ".heat"):
        shown = page.locator(place, has_text="CEM").first
        assert shown.locator("sup").filter(has_text="ORD").count(), place
    assert page.locator("tbody th", has_text="mine_mu").count(), "a name of one's own stays as it is"
    assert (index.parent / "tables" / "summary.csv").read_text("utf-8").splitlines()[1].startswith("CEM_ORD,")
    page.close()
