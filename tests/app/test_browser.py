"""The playground in a real browser: a page at three widths, links, the keyboard, and no request elsewhere."""

from urllib.parse import urlsplit

import pytest

from tests.app.serve import find_barriers, running_app

pytest.importorskip("streamlit")
sync_api = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")
PATIENCE = 600_000
"""Milliseconds after which nothing is to come any more: what is waited for is a page, however busy the machine is."""
DESK, TABLET, PHONE = ({"width": width, "height": 900} for width in (1280, 768, 390))
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


def test_a_link_holds_what_was_typed_and_the_keyboard_is_enough_at_every_width(page):
    page.get_by_role("heading", name="Which system is better?", level=1).wait_for()
    page.get_by_role("cell", name="Accuracy", exact=True).wait_for()
    page.get_by_text("Type the numbers").click()
    field = page.get_by_role("textbox", name="First run")
    sync_api.expect(field).to_have_value("3 1 / 0 4", timeout=PATIENCE)
    for size, typed in ((DESK, "2 2 / 0 4"), (TABLET, "4 0 / 0 4"), (PHONE, "2 2 / 0 4")):
        field.focus()
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
        page.keyboard.press("Control+Enter")
        page.wait_for_function("typed => new URLSearchParams(location.search).get('first') === typed", arg=typed)
        page.get_by_text("a tie: 27 of 27" if typed == "2 2 / 0 4" else "A: 26 of 27").wait_for()
        page.set_viewport_size(size)
        page.wait_for_function(  # until the page, and every table in its place, is no wider than the window
            "[document.documentElement, ...document.querySelectorAll('.me-wide')]"
            ".every(part => part.scrollWidth - part.clientWidth <= 1)"
        )


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=LATER)])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_that_keeps_anybody_out(browser, address, size, scheme):
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    for name in ("Two+runs", "Two+distributions", "Closeness"):
        opened.goto(f"{address}/?page={name}")
        opened.get_by_role("radio", name="a tie").click()
        opened.get_by_role("table").first.wait_for()
        opened.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        assert find_barriers(opened) == ""
    context.close()
