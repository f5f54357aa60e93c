"""What numpydoc docstrings of analyses say, for the help of their commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LONG = 180  # characters of help of one option, above which its first sentence is enough

_PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True)
class Docstring:
    """What a docstring says: its first line, the paragraphs before the first section, and a phrase on every parameter."""

    question: str
    details: str
    parameters: dict[str, str]


def parse_docstring(function: Callable[..., Any]) -> Docstring:
    """Return what the docstring of a function says."""
    text = _plain(inspect.getdoc(function) or "")
    head, *sections = re.split(r"\n\n(?=[A-Z]\w+\n-{3,}\n)", text)
    question, _, details = head.partition("\n\n")
    parameters: dict[str, list[str]] = {}
    body = next((section for section in sections if section.startswith("Parameters\n")), "")
    names: list[str] = []
    for line in body.splitlines()[2:]:
        if line[:1].strip():  # "first, second : str" at the margin begins a parameter; what is indented describes it
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
            parameters |= {name: [] for name in names}
        else:
            for name in names:
                parameters[name].append(line.strip())
    return Docstring(
        " ".join(question.split()), details, {name: _shorten(" ".join(lines)) for name, lines in parameters.items()}
    )


def find_question(reference: str) -> str:
    """Return the first line of a docstring from the source of "module:function", without the time of an import."""
    module, _, name = reference.partition(":")
    source = (_PACKAGE / f"{module.replace('.', '/')}.py").read_text("utf-8")
    match = re.search(rf'^def {name}\(.*?"""(.*?)(?:\n\n|""")', source, re.MULTILINE | re.DOTALL)
    return "" if match is None else " ".join(_plain(match[1]).split())


def _plain(text: str) -> str:
    return text.replace('``"', "").replace('"``', "").replace("`", "")


def _shorten(text: str) -> str:
    if len(text) > _LONG:
        text = re.split(r"(?<=\.) (?=[^a-z])", text)[0]
    return text.strip().removesuffix(".")
