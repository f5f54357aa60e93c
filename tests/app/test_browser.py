"""The playground in a real browser: pages at two widths, files, links, the keyboard, and no request elsewhere."""

import os
import shutil
from urllib.parse import urlsplit

import pytest

from tests.app.serve import FLAGS, running_app

pytest.importorskip("streamlit")
sync_api = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")
CHROMIUM = os.environ.get("METAEVAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium (Debian: apt-get install chromium)", allow_module_level=True)

PAGES = ("Closeness", "Two runs", "Two distributions", "Your scores")
PATIENCE = 600_000
"""Milliseconds after which nothing is to come any more: what is waited for is a page, however busy the machine is."""
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 900}
STILL = """addEventListener("DOMContentLoaded", () => {
  const style = document.createElement("style");
  style.textContent = "*, ::before, ::after {animation: none !important; transition: none !important}";
  document.head.append(style);
})"""
"""What turns while a command runs would be painted sixty times a second, without a graphics card."""
CSV = "run,topic,measure,score\n" + "".join(
    f"{run},{topic},{measure},{(3 * k + 5 * topic + len(measure) * (topic % 4)) % 11 / 11 + k / 9}\n"
    for k, run in enumerate("abcdef")
    for topic in range(12)
    for measure in ("AP", "nDCG@10")
)


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
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
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


def go(page, name):
    page.get_by_role("radiogroup").first.get_by_text(name, exact=True).click()
    page.get_by_role("heading", name=name, level=1).wait_for()
    wait_until_drawn(page)


def fit(page, size):
    """Wait until the page, and every table in its place, is no wider than a window of this size."""
    page.set_viewport_size(size)
    page.wait_for_function(
        "[document.documentElement, ...document.querySelectorAll('.me-wide')]"
        ".every(part => part.scrollWidth - part.clientWidth <= 1)"
    )


def test_a_link_holds_what_was_typed_and_the_keyboard_is_enough(page):
    page.get_by_role("heading", name="Two runs", level=1).wait_for()
    page.get_by_role("cell", name="Accuracy", exact=True).wait_for()
    field = page.get_by_role("textbox", name="First run")
    sync_api.expect(field).to_have_value("3 1 / 0 4", timeout=PATIENCE)
    for size, typed in ((DESK, "2 2 / 0 4"), (PHONE, "4 0 / 0 4")):
        page.set_viewport_size(size)
        field.focus()
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
        page.keyboard.press("Control+Enter")
        page.wait_for_function("typed => new URLSearchParams(location.search).get('first') === typed", arg=typed)
        page.get_by_text("prefer A, 0 prefer B" if typed == "4 0 / 0 4" else "score both alike").wait_for()


def test_all_pages_a_file_a_broken_file_and_a_report(page):
    sizes = [DESK, PHONE]
    for name in PAGES:
        go(page, name)
        assert page.locator('[data-testid="stException"]').count() == 0
        if name == "Two distributions":  # Streamlit takes SVG out of text that it is given as HTML
            page.get_by_role("img", name="Bars of the three distributions").wait_for()
            page.get_by_role("img", name="Curves of every measure").locator("polyline").nth(3).wait_for(
                state="attached"
            )
        for size in sizes:
            fit(page, size)
        sizes.reverse()  # every change of width draws all charts again
    send = page.locator('input[type="file"]')
    page.set_viewport_size(PHONE)
    send.set_input_files(
        {"name": "broken.csv", "mimeType": "text/csv", "buffer": b"run,topic,measure,score\na,1,AP,high\n"}
    )
    page.get_by_test_id("stAlertContentError").wait_for()
    assert "Traceback" not in page.content()
    page.get_by_text("broken.csv:2: run a, topic 1, measure AP", exact=False).wait_for()
    page.get_by_role("button", name="Remove broken.csv").click()
    send.set_input_files({"name": "small.csv", "mimeType": "text/csv", "buffer": CSV.encode()})
    page.get_by_text("6 runs × 12 topics × 2 measures").wait_for()
    wait_until_drawn(page)
    fit(page, PHONE)
    page.set_viewport_size(DESK)
    page.get_by_role("combobox", name="Question").click()
    page.get_by_role("option", name="A report on one measure").click()
    page.get_by_role("spinbutton", name="B, trials of the test").fill("200")
    page.keyboard.press("Enter")
    page.get_by_text("-B 200").wait_for()
    page.get_by_role("button", name="Answer").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="The report as a page").click()
    assert "<!doctype html>" in download.value.path().read_text(encoding="utf-8")[:200].lower()
    fit(page, PHONE)
