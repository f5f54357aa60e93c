"""Examples that papers work out, with what they print of them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

Page = Literal["closeness", "runs", "distributions"]


@cache
def find_presets(page: Page) -> dict[str, dict[str, Any]]:
    """Return the examples of a page by name."""
    with (Path(__file__).parent / "presets.toml").open("rb") as file:
        return {example["name"]: example for example in tomllib.load(file)[page]}
