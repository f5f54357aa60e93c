"""Examples that papers work out, with what they print of them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

Page = Literal["closeness", "runs", "distributions"]


@cache
def find_presets(page: Page) -> dict[str, dict[str, Any]]:
    """Return the examples of a page by name.

    Parameters
    ----------
    page : {"closeness", "runs", "distributions"}

    Returns
    -------
    dict of str to dict

    Examples
    --------
    >>> len(find_presets("closeness")) > 3
    True
    """
    with (Path(__file__).parent / "presets.toml").open("rb") as file:
        return {one["name"]: one for one in tomllib.load(file)[page]}
