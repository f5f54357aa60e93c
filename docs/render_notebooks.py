"""Notebooks as pages: their text, code and stored outputs; nothing is executed."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "notebooks"


def render_notebook(name: str) -> Iterator[str]:
    """Yield the cells of a notebook as Markdown."""
    for cell in json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source.replace("](../docs/", "](../") + "\n"
            continue
        code = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
        yield f"```python\n{code}\n```\n"
        for output in cell["outputs"]:
            yield _render_output(output)


def _render_output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        words = html.escape("".join(data.get("text/plain", "")) or "figure", quote=True)
        return f'<p class="output"><img alt="{words}" src="data:image/png;base64,{picture}"></p>\n'
    if "text/html" in data:
        table = re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
        in_one_line = re.sub(r"\s*\n\s*", "", table)  # an empty line would end it
        return f'<div class="output">{in_one_line}</div>\n'
    return f"```text\n{''.join(data['text/plain'])}\n```\n"
