"""Take the pictures of the docs page on the playground: ``python -m tests.app.take_pictures``."""

import io
import os
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.app.serve import FLAGS, running_app

FOLDER = Path(__file__).parents[2] / "docs" / "how-to" / "playground"
PAGES = {"two-runs": "Two runs", "two-distributions": "Two distributions", "closeness": "Closeness"}


def main():
    """Write one picture a page."""
    FOLDER.mkdir(exist_ok=True)
    with running_app() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("METAEVAL_CHROMIUM") or shutil.which("chromium"), args=FLAGS
        )
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(90_000)
        for name, title in PAGES.items():
            page.goto(f"{address}/?page={title.replace(' ', '+')}")
            page.get_by_role("radio", name="a tie").click()
            page.get_by_role("table").first.wait_for()
            page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
            taken = Image.open(io.BytesIO(page.screenshot()))
            # A page has few colours: with a palette its picture is half as large.
            taken.convert("RGB").quantize(160, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
