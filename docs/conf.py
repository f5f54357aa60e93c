"""How the documentation is built: ``python -m sphinx -W -b html docs docs/_build/html``, without any network."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import TYPE_CHECKING

import metaeval

if TYPE_CHECKING:
    import click
    from sphinx.application import Sphinx

project = "metaeval"
author = "The metaeval maintainers"
version = release = metaeval.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"metaeval {release}"
html_copy_source = False
html_show_copyright = False

# Docstrings write `name` for names of the code: those that are documented become links, the others stay plain.
default_role = "py:obj"
# Several modules have a function `read`, and several classes a `sel`: such a name stays plain too.
suppress_warnings = ["ref.python"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say in words what an argument is
autosummary_generate = False  # numpydoc brings that extension along; pages here list modules themselves
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

INTERNAL = {"metaeval.cli", "metaeval.files", "metaeval.data.labels"}
"""Modules that are not for users; so are those whose names begin with an underscore."""


def modules(named: str) -> Iterator[str]:
    """Document packages, each with the modules in it, as sections of a Markdown page."""
    for package in named.split():
        found = pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}.")
        parts = [one.name for one in found if not one.ispkg and "._" not in one.name and one.name not in INTERNAL]
        for part in parts if package == "metaeval" else [package, *parts]:
            # Of a package, what is defined in it; what it only passes on stands below, in its own module.
            yield f"## {part}\n\n```{{eval-rst}}\n.. automodule:: {part}\n   :members:\n   :ignore-module-all:\n```\n"


def measures(_: str) -> Iterator[str]:
    """List the registered measures."""
    from metaeval.measures import measures as registered

    yield "| measure | takes | better | range | what it answers | source |\n| :-- | :-- | :-- | :-- | :-- | :-- |"
    for one in registered():
        takes = "counts" if one.kind == "classification" else "distributions"
        better = "higher" if one.higher_is_better else "lower"
        span = "{:g} to {:g}".format(*one.range).replace("inf", "∞").replace("-", "−")
        cells = (f"`{one}`", takes, better, span, one.description, one.source)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def rules(_: str) -> Iterator[str]:
    """State how the marks of a comparison's summary are reached, as its report does."""
    from experiments.simulate.synthetic import synthetic_runs

    runs = synthetic_runs(n_topics=12, n_items=20, ratios=[0.2, 0.5])
    found: dict[str, str] = {}
    for measure, small, reference in (("RNADW", runs.to_quantification(), "NMD"), ("MSE", runs, None)):
        compared = metaeval.compare(measure, small, reference=reference, n_trials=10, n_permutations=10)
        found |= compared.rules()
    yield from (f"**{column}**\n: {rule}\n" for column, rule in found.items())


def commands(_: str) -> Iterator[str]:
    """Show the help of every command as sections of a Markdown page."""
    import typer

    from metaeval.cli import app

    yield from _helps(typer.main.get_command(app), "metaeval")


def _helps(command: click.Command, path: str) -> Iterator[str]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from _helps(inner, f"{path} {name}")
    if not hasattr(command, "commands"):
        context = command.make_context(path, [], resilient_parsing=True, max_content_width=88, terminal_width=88)
        yield f"## {path}\n\n```text\n{context.get_help()}\n```\n"


GENERATED: dict[str, Callable[[str], Iterator[str]]] = {
    "modules": modules,
    "measures": measures,
    "rules": rules,
    "commands": commands,
}
"""What a line such as ``% modules: metaeval.stats`` of a page is replaced with; % begins a comment in MyST."""


def fill(_: Sphinx, page: str, source: list[str]) -> None:
    """Replace the lines of a page that ask for something generated."""
    source[0] = re.sub(
        rf"^% ({'|'.join(GENERATED)}):(.*)$",
        lambda line: "\n".join(GENERATED[line.group(1)](line.group(2))),
        source[0],
        flags=re.MULTILINE,
    )


def plain_text(_: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep |x| and x_ in docstrings as they are: they are formulas there, not reStructuredText."""
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = re.split(r"(``.*?``)", line)
            parts[::2] = [re.sub(r"(\||(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def left_out(_: Sphinx, what: str, name: str, obj: object, skip: bool, options: object) -> bool | None:
    """Leave out names of types such as ``tuple[str, float]``, which autodoc would take for classes."""
    return True if isinstance(obj, GenericAlias) else None


def setup(app: Sphinx) -> None:
    """Let pages be filled before they are read, and docstrings be read as the text that they are."""
    app.connect("source-read", fill)
    app.connect("autodoc-process-docstring", plain_text, priority=900)
    app.connect("autodoc-skip-member", left_out)
