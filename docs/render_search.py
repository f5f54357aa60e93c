"""Readers' words for pages: a search for ``metric`` finds the pages about measures, though they say measure."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

WORDS: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))


def add_words(page: str, text: str) -> str:
    """Return a page with its words as keywords, which searches of several words need, and as entries of the index."""
    if page not in WORDS:
        return text
    keywords = ", ".join(dict.fromkeys(re.findall(r"\w+", " ".join(WORDS[page]))))
    entries = ", ".join(f"! {word}" for word in WORDS[page])
    title, _, rest = text.partition("\n")
    front = f'---\nmyst:\n  html_meta:\n    keywords: "{keywords}"\n---\n'
    return f"{front}{title}\n\n```{{index}} {entries}\n```\n{rest}"


def find_lost(folder: Path) -> list[str]:
    """Return the words that the search index of built pages does not lead to their page, each with the page."""
    text = (folder / "searchindex.js").read_text("utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = {word: {index["docnames"][place[0]] for place in places} for word, places in index["indexentries"].items()}
    return [
        f"{page}: {word}" for page, words in WORDS.items() for word in words if page not in found.get(word.lower(), ())
    ]
