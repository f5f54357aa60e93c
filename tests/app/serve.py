"""The playground as a process of its own, for tests in a browser and for the pictures of the docs.

``python -m tests.app.serve`` takes these pictures, one a page.
"""

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("METAEVAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests of a file."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


def find_barriers(page):
    """Return what axe finds that keeps somebody out of a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    found = axe.run(page)
    return found.generate_report() if found.violations_count else ""


def wait_for(address, process):
    """Wait until a playground answers."""
    began = time.monotonic()
    while True:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2)  # noqa: S310  (our own address)
            return
        except OSError:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() - began < 600, "the playground does not answer"
            time.sleep(0.1)


def find_free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running_app(*options):
    """Yield the address of a playground."""
    port = find_free_port()
    words = [sys.executable, "-m", "metaeval", "app", "--no-browser", "--port", str(port), *options]
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, process)
        yield address
    finally:
        process.send_signal(signal.SIGHUP)  # the terminal is closed: it ends in order, so that temporary folders go
        process.communicate(timeout=30)
        assert process.returncode == 0


def take_pictures():
    from PIL import Image
    from playwright.sync_api import sync_playwright

    folder = ROOT / "docs" / "how-to" / "playground"
    with running_app() as address, sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = opened.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(90_000)
        for title in ("Two runs", "Two distributions", "Closeness"):
            page.goto(f"{address}/?page={title.replace(' ', '+')}")
            page.get_by_role("radio", name="a tie").click()
            page.get_by_role("table").first.wait_for()
            page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
            taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            # A page has few colours: with a palette its picture is half as large.
            drawn = taken.quantize(160, dither=Image.Dither.NONE)
            drawn.save(folder / f"{title.lower().replace(' ', '-')}.png", optimize=True)


if __name__ == "__main__":
    take_pictures()
