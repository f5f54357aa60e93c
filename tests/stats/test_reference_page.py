"""What researchers call is documented in full, with examples; docs/reference/stats.md lists it."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import metaeval.stats

PAGE = Path(__file__).parents[2] / "docs/reference/stats.md"


def test_the_page_of_kernels_lists_what_is_documented_in_full():
    if not PAGE.exists():
        pytest.skip("the source tree is not here")
    listed = {
        (module, name)
        for module, names in re.findall(
            r"^% functions: metaeval\.stats\.(\w+) (.*)", PAGE.read_text("utf-8"), re.MULTILINE
        )
        for name in names.split()
    }
    full = set()
    for path in Path(metaeval.stats.__path__[0]).glob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and "\nParameters\n---" in (ast.get_docstring(node) or ""):
                full.add((path.stem, node.name))
    assert full == listed
    for module, name in listed:
        text = getattr(importlib.import_module(f"metaeval.stats.{module}"), name).__doc__
        assert all(f"\n{title}\n" in re.sub("\n +", "\n", text) for title in ("Returns", "Examples")), name
