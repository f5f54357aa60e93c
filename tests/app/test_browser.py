"""The playground in a real browser: pages at two widths, files, links, the keyboard, and no request elsewhere."""

import os
import shutil
from urllib.parse import urlsplit

import pytest

from metaeval.app.presets import find_presets
from tests.app.serve import FLAGS, running_app

pytest.importorskip("streamlit")
sync_api = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")
CHROMIUM = os.environ.get("METAEVAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium (Debian: apt-get install chromium)", allow_module_level=True)

QUESTIONS = {
    "Two runs": "Which system is better?",
    "Two distributions": "Which estimate is better?",
    "Closeness": "Which mistake is smaller?",
    "Your scores": "Your scores",
}
LESSON_PAGES = {"Two runs": "runs", "Two distributions": "distributions", "Closeness": "closeness"}
UP, DOWN, MORE = "ArrowUp", "ArrowDown", "PageUp"
LESSONS = {
    "Two runs": [
        [[("B, soon (6), routine", UP, 1)], [("B, soon (6), routine", UP, 1)]],
        [[("C, 1 (4), 2", UP, 4)], [("C, 1 (4), 1", UP, 1)]],
        [[("A, neg (10), neg", UP, 1)], [("A, neg (10), neg", UP, 2)]],
        [[("D, 2 (6), 2", UP, 1)], [("D, 2 (6), 2", UP, 5), ("D, 1 (4), 1", UP, 4)]],
        [[("CM12, 5 (35), 3", UP, 1)], [("CM12, 5 (35), 5", MORE, 3), ("CM12, 4 (50), 4", MORE, 1)]],
        [[("CM11, 2 (57), 3", UP, 3)], [("CM11, 2 (57), 3", UP, 5)]],
    ],
    "Two distributions": [
        [[("System A, 3", UP, 1)], [("System A, 1", UP, 2)]],
        [[("Popularity, 2", MORE, 1), ("Popularity, 2", UP, 6)], [("Popularity, 2", UP, 5)]],
        [[("Popularity, −1", UP, 1)], [("Popularity, −1", MORE, 3), ("Popularity, −1", UP, 2)]],
        [[("gold, 0", MORE, 4)], [("gold, 0", UP, 5)]],
    ],
    "Closeness": [
        [[("items, weak reject", MORE, 2)], [("items, weak reject", DOWN, 5)]],
        [[("items, weak reject", DOWN, 1)], [("items, weak accept", DOWN, 2)]],
        [[("items, neg", MORE, 2)], [("items, neg", UP, 1)]],
    ],
}
"""For each lesson of a page, what is pressed at which bar in the second step and in the third."""
PATIENCE = 600_000
"""Milliseconds after which nothing is to come any more: what is waited for is a page, however busy the machine is."""
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 900}
LATER = pytest.mark.nightly
SIZES = [pytest.param(DESK, id="desk"), pytest.param(PHONE, id="phone", marks=LATER)]
STILL = """addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style");
  style.textContent = "*, ::before, ::after {animation: none !important; transition: none !important}";
  document.head.append(style);
})"""
"""What turns while a command runs would be painted sixty times a second, without a graphics card."""


@pytest.fixture(scope="module")
def address():
    with running_app() as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def page(browser, address):
    """One page for all: a link is opened, and whatever comes next is done there, as a visitor would."""
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.add_init_script(STILL)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda one: said.append(one.text) if one.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda one: asked.append(urlsplit(one.url).hostname))
    page.goto(f"{address}/?page=Two+runs&first=3+1+%2F+0+4&second=2+2+%2F+0+4")
    yield page
    context.close()
    assert not said
    assert {one for one in asked if one} == {"127.0.0.1"}


def wait_until_drawn(page):
    """Wait until the server has sent the whole page."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


def fit(page, size):
    """Wait until the page, and every table in its place, is no wider than a window of this size."""
    page.set_viewport_size(size)
    page.wait_for_function(
        "[document.documentElement, ...document.querySelectorAll('.me-wide')]"
        ".every(part => part.scrollWidth - part.clientWidth <= 1)"
    )


def test_a_link_holds_what_was_typed_and_the_keyboard_is_enough(page):
    page.get_by_role("heading", name=QUESTIONS["Two runs"], level=1).wait_for()
    page.get_by_role("cell", name="Accuracy", exact=True).wait_for()
    page.get_by_text("Type the numbers").click()
    field = page.get_by_role("textbox", name="First run")
    sync_api.expect(field).to_have_value("3 1 / 0 4", timeout=PATIENCE)
    for size, typed in ((DESK, "2 2 / 0 4"), (PHONE, "4 0 / 0 4")):
        page.set_viewport_size(size)
        field.focus()
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
        page.keyboard.press("Control+Enter")
        page.wait_for_function("typed => new URLSearchParams(location.search).get('first') === typed", arg=typed)
        page.get_by_text("a tie: 27 of 27" if typed == "2 2 / 0 4" else "A: 26 of 27").wait_for()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [pytest.param(name, marks=LATER if name != "Closeness" else ()) for name in LESSONS])
def test_every_lesson_can_be_played_to_its_end_by_keyboard(page, address, name, size):
    page.set_viewport_size(size)
    page.goto(f"{address}/?page={name.replace(' ', '+')}")
    assert len(LESSONS[name]) == len(find_presets(LESSON_PAGES[name]))
    for second, third in LESSONS[name]:
        heading = page.get_by_role("heading", name=f"{QUESTIONS[name]} ", level=1)
        heading.wait_for()
        title = heading.inner_text()
        sync_api.expect(page.get_by_role("table")).to_have_count(0, timeout=PATIENCE)  # no answer before the guess
        page.get_by_role("radio", name="a tie").click()
        for step, moves in ((2, second), (3, third)):
            page.get_by_text(f"{step}. ").first.wait_for()
            for label, key, times in moves:
                page.get_by_role("slider", name=label, exact=True).focus()
                for _ in range(times):
                    page.keyboard.press(key)
            page.get_by_text(f"✓ {step}.").wait_for()
        page.get_by_text("Lesson complete.").wait_for()
        fit(page, size)
        page.get_by_role("button", name="Next lesson").click()
        page.wait_for_function("before => document.querySelector('h1').innerText !== before", arg=title)
        wait_until_drawn(page)


def test_a_bar_can_be_dragged_and_stays_where_it_was_left(browser, address):
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    opened.goto(address)
    bar = opened.get_by_role("slider", name="B, soon (6), routine", exact=True)
    bar.wait_for()
    wait_until_drawn(opened)
    opened.evaluate("() => document.fonts.ready")
    bar.scroll_into_view_if_needed()  # waits until it stands still
    top, item = bar.locator(".number").bounding_box(), bar.bounding_box()["height"] / 6
    x, y = top["x"] + top["width"] / 2, top["y"] + top["height"] / 2
    opened.mouse.move(x, y)
    opened.mouse.down()
    opened.mouse.move(x, y - 2 * item, steps=4)
    opened.mouse.up()
    opened.wait_for_function("new URLSearchParams(location.search).get('second')?.split('\\n')[1] === '3 3 0'")
    wait_until_drawn(opened)
    sync_api.expect(bar).to_have_attribute("aria-valuenow", "3")
    context.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=LATER)])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_that_keeps_anybody_out(browser, address, size, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    for name in LESSONS:
        opened.goto(f"{address}/?page={name.replace(' ', '+')}")
        opened.get_by_role("radio", name="a tie").click()
        opened.get_by_role("table").first.wait_for()
        wait_until_drawn(opened)
        found = axe.run(opened)
        assert found.violations_count == 0, found.generate_report()
    context.close()
