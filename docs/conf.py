"""How the documentation is built: ``python -m sphinx -W -b html docs docs/_build/html``, without any network."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING

import metaeval

sys.path.insert(0, str(Path(__file__).parent))

from render_gallery import show_figure, show_gallery
from render_maths import visit_block, visit_inline
from render_notebooks import render_notebook
from render_search import add_words

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it would tell of every letter that a PDF needs

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "metaeval"
author = "The metaeval maintainers"
version = release = metaeval.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["deflist", "dollarmath"]
myst_dmath_double_inline = False
html_static_path = ["static"]
html_css_files = ["metaeval.css"]
html_math_renderer = "pictures"  # that of Sphinx asks another host for a script
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


def find_public(folder: str = "") -> dict[str, str]:
    """Return the names that users import from metaeval, functions and classes, with the modules that define them."""
    stub = (Path(metaeval.__file__).parent / "__init__.pyi").read_text("utf-8")
    found = {}
    for module, names in re.findall(r"^from \.(\S+) import (\([^)]*\)|.*)$", stub, re.MULTILINE):
        found |= dict.fromkeys(re.findall(r"\bas (\w+)", names), f"metaeval.{module}")
    return {
        name: module
        for name, module in found.items()
        if f"{module}.".startswith(f"metaeval.{folder}.".replace("..", "."))
    }


def api(folders: str) -> Iterator[str]:
    """Document the names of users that packages define: functions first, then the classes of what they return."""
    yield "```{eval-rst}\n.. currentmodule:: metaeval\n"
    for folder in folders.split():
        names = find_public(folder)
        for name in sorted(names, key=lambda name: (name[0].isupper(), list(names).index(name))):
            kind = "class" if isinstance(getattr(metaeval, name), type) else "function"
            members = "\n   :members:" if kind == "class" and not issubclass(getattr(metaeval, name), Exception) else ""
            yield f".. auto{kind}:: metaeval.{name}{members}\n"
    yield "```\n"


def modules(named: str) -> Iterator[str]:
    """Document packages, each with the modules in it, as sections of a Markdown page; what users import stands elsewhere."""
    public: dict[str, list[str]] = {}
    for name, module in find_public().items():
        public.setdefault(module, []).append(name)
    for package in named.split():
        found = pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}.")
        parts = [one.name for one in found if not one.ispkg and "._" not in one.name and one.name not in INTERNAL]
        for part in parts if package == "metaeval" else [package, *parts]:
            # Of a package, what is defined in it; what it only passes on stands below, in its own module.
            apart = f"\n   :exclude-members: {', '.join(public[part])}" if part in public else ""
            yield f"## {part}\n\n```{{eval-rst}}\n.. automodule:: {part}\n   :members:\n   :ignore-module-all:{apart}\n```\n"


def functions(named: str) -> Iterator[str]:
    """Document a module with some of its functions."""
    module, *names = named.split()
    yield f"```{{eval-rst}}\n.. automodule:: {module}\n   :members: {', '.join(names)}\n```\n"


def gallery(_: str) -> Iterator[str]:
    """Show every figure as a thumbnail."""
    yield from show_gallery(PICTURES)


def figure(name: str) -> Iterator[str]:
    """Show a figure with the command that draws it."""
    yield from show_figure(name, PICTURES)


PICTURES = Path()
"""Where pictures of pages go; set when the output folder is known."""


def rules(_: str) -> Iterator[str]:
    """State how the marks of a comparison's summary are reached, as its report does."""
    from experiments.amigo2020.simulation import simulate_runs

    runs = simulate_runs()
    runs = runs.sel(runs=[run for run in runs.runs if run.endswith(("-0.2", "-0.5"))], topics=runs.topics[:12])
    found: dict[str, str] = {}
    for measure, small, reference in (("RNADW", runs.to_quantification(), "NMD"), ("MSE", runs, None)):
        compared = metaeval.compare(measure, small, reference=reference, n_trials=10, n_permutations=10)
        found |= compared.rules()
    yield from (f"**{column}**\n: {rule}\n" for column, rule in found.items())


GENERATED: dict[str, Callable[[str], Iterator[str]]] = {
    "api": api,
    "figure": figure,
    "functions": functions,
    "gallery": gallery,
    "notebook": render_notebook,
    "modules": modules,
    "rules": rules,
}
"""What a line such as ``% modules: metaeval.stats`` of a page is replaced with; % begins a comment in MyST."""


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the lines of a page that ask for something generated, and add the words of its readers."""
    global PICTURES
    PICTURES = Path(app.outdir) / "_images"
    source[0] = re.sub(
        rf"^% ({'|'.join(GENERATED)}):(.*)$",
        lambda line: "\n".join(GENERATED[line.group(1)](line.group(2).strip())),
        add_words(page, source[0]),
        flags=re.MULTILINE,
    )


def plain_text(_: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep |x|, x_ and nDCG@10 in docstrings as they are: they are no reStructuredText, and no address of anybody."""
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = re.split(r"(``.*?``)", line)
            parts[::2] = [re.sub(r"(\||(?<=\w)_(?!\w)|(?<=\w)@(?=\w))", r"\\\1", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def left_out(_: Sphinx, what: str, name: str, obj: object, skip: bool, options: object) -> bool | None:
    """Leave out names of types such as ``tuple[str, float]``, which autodoc would take for classes."""
    return True if isinstance(obj, GenericAlias) else None


def setup(app: Sphinx) -> None:
    """Let pages be filled before they are read, and docstrings be read as the text that they are."""
    app.add_html_math_renderer("pictures", (visit_inline, None), (visit_block, None))
    app.connect("source-read", fill)
    app.connect("autodoc-process-docstring", plain_text, priority=900)
    app.connect("autodoc-skip-member", left_out)
