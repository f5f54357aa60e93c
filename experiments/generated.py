"""What README, docs/ and the notebooks say about results: made from committed numbers, between marks in their text."""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from experiments.page import format_list
from metaeval.errors import DataError
from metaeval.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]

EXAMPLES = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Blocks of a page that tests/test_docs.py runs, and compares with what they print."""

MARKED = re.compile(r"(<!-- generated: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
"""What is written by hand is outside of the marks."""


class Printed(NamedTuple):
    """What a page shows that a test runs: code, and what it prints."""

    source: str
    output: str


Writer = Callable[[Sequence[Printed]], Sequence[str]]
"""Takes what its page prints, and returns sentences, or a table in Markdown as one."""


def collect_writers(root: Path = ROOT) -> dict[str, Writer]:
    """Return what writes the text between marks, by the name in the mark.

    Sentences about results read the tables that are kept in results/ and benchmarks/ and compute nothing again;
    sentences that read the table of an example take it from the page.

    Parameters
    ----------
    root : Path, optional
        The folder of README.md.

    Returns
    -------
    dict of str to callable
    """
    from experiments import notebook_readings, readings
    from experiments.facts import write_facts

    # What is read off the tables of results is the same on every page.
    facts: dict[str, Writer] = {name: partial(_repeat, lines) for name, lines in write_facts(root).items()}
    return {**facts, **readings.READINGS, **notebook_readings.READINGS}


def _repeat(lines: Sequence[str], _: Sequence[Printed]) -> Sequence[str]:
    return lines


def renew_text(text: str, printed: Sequence[Printed], writers: Mapping[str, Writer]) -> str:
    r"""Return a page with what its writers say now between its marks.

    Parameters
    ----------
    text : str
    printed : sequence of Printed
        What the page shows.
    writers : mapping of str to callable
        As `collect_writers` returns them.

    Returns
    -------
    str

    Examples
    --------
    >>> print(renew_text("A\n<!-- generated: rule -->\nold\n<!-- end -->\nB", [], {"rule": lambda _: ["New."]}))
    A
    <!-- generated: rule -->
    New.
    <!-- end -->
    B
    """

    def write(found: re.Match[str]) -> str:
        if found["name"] not in writers:
            known = ", ".join(sorted(writers))
            raise DataError(f"nothing generates {found['name']!r}: there are {known}")
        lines = writers[found["name"]](printed)
        return f"{found[1]}{format_list(lines) if len(lines) > 1 else ''.join(lines)}\n{found[3]}"

    return MARKED.sub(write, text)


def renew_page(path: Path, writers: Mapping[str, Writer]) -> str:
    """Return the content of a page, or of a notebook, as it is with its generated text renewed.

    Parameters
    ----------
    path : Path
    writers : mapping of str to callable

    Returns
    -------
    str
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        parser = doctest.DocTestParser()
        examples = [one for block in EXAMPLES.findall(text) for one in parser.get_examples(block)]
        return renew_text(text, [Printed(one.source, one.want) for one in examples], writers)
    notebook = json.loads(text)
    printed = [Printed("".join(one["source"]), _join_outputs(one)) for one in notebook["cells"] if "outputs" in one]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = renew_text("".join(cell["source"]), printed, writers).splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _join_outputs(cell: Mapping[str, list]) -> str:
    return "".join("".join(one.get("data", {}).get("text/plain", "")) for one in cell["outputs"])


def list_pages(root: Path = ROOT) -> list[Path]:
    """Return all pages with marks.

    Parameters
    ----------
    root : Path, optional
        The folder of README.md.

    Returns
    -------
    list of Path
    """
    paths = [root / "README.md", *sorted((root / "docs").rglob("*.md")), *sorted((root / "notebooks").glob("*.ipynb"))]
    return [path for path in paths if path.exists() and "<!-- generated: " in path.read_text(encoding="utf-8")]


def renew_pages(root: Path = ROOT) -> list[Path]:
    """Write what is generated in README.md, docs/ and notebooks/ again, and return the pages that changed.

    Parameters
    ----------
    root : Path, optional
        The folder of README.md.

    Returns
    -------
    list of Path
    """
    writers, changed = collect_writers(root), []
    for path in list_pages(root):
        text = renew_page(path, writers)
        if text != path.read_text(encoding="utf-8"):
            write_atomically(path, text)
            changed.append(path)
    return changed
