"""Check that built pages ask no other host for anything, and that search knows readers' words: ``check_offline.py FOLDER``."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

_LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}
_ELSEWHERE = re.compile(r"\s*(?:https?:)?//")
_HARMLESS = {"canonical", "license", "me"}  # kinds of links that a browser does not load


class _Loads(HTMLParser):
    """Collects what a page loads when it is opened; links that are followed by a click are none of it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if said.get("rel", "") not in _HARMLESS and _ELSEWHERE.match(said.get(_LOADED.get(tag, ""), "")):
            self.found.append(said[_LOADED[tag]])
        self.found += [url for url in find_in_styles(said.get("style", "")) if url]


def find_in_styles(text: str) -> list[str]:
    """Return addresses of other hosts that a style sheet loads: fonts, pictures and other sheets."""
    named = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)", text)
    return [url for url in named if _ELSEWHERE.match(url)]


def find_loads(folder: Path) -> list[str]:
    """Return what the pages and style sheets of a folder load from other hosts, each with its file."""
    problems = []
    for page in sorted(folder.rglob("*.html")):
        loads = _Loads()
        loads.feed(page.read_text("utf-8"))
        problems += [f"{page.relative_to(folder)}: {url}" for url in loads.found]
    for sheet in sorted(folder.rglob("*.css")):
        problems += [f"{sheet.relative_to(folder)}: {url}" for url in find_in_styles(sheet.read_text("utf-8"))]
    return problems


def main() -> int:
    """Print what is loaded from elsewhere, and words that search does not find; return 1 if there is anything."""
    from render_search import find_lost

    folder = Path(sys.argv[1])
    problems = find_loads(folder) + [f"not in the search index: {word}" for word in find_lost(folder)]
    print(*problems, sep="\n", file=sys.stderr)
    return 1 if problems or not (folder / "index.html").is_file() else 0


if __name__ == "__main__":
    sys.exit(main())
