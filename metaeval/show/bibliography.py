"""The bibliography: what measures, analyses and data sets refer to, as BibTeX and as text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files as resources
from types import MappingProxyType

_ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n(.*?)^\}$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)
_LABELLED = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Reference:
    """One entry of the bibliography."""

    key: str
    kind: str
    label: str
    fields: Mapping[str, str] = field(hash=False)

    def to_bibtex(self) -> str:
        """Return the entry as BibTeX, in UTF-8."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"]) + "\n"

    def to_text(self) -> str:
        """Return the entry as one line: last names, title, where and when it was published.

        >>> bibliography()["Lin 1991"].to_text()
        'Lin: Divergence Measures Based on the Shannon Entropy, IEEE Transactions on Information Theory 37(1), 1991'
        """
        get = self.fields.get
        authors = ", ".join(author.partition(", ")[0] for author in get("author", "").split(" and "))
        volume = f" {get('volume')}" * ("volume" in self.fields) + f"({get('number')})" * ("number" in self.fields)
        where = get("series") or get("journal", "") + volume or get("publisher", "")
        year = "" if get("year", "") in where.split() else get("year", "")
        text = f"{authors}: {', '.join(filter(None, (get('title'), where, year)))}"
        return re.sub(r"[{}]", "", text).replace("\\_", "_").replace("--", "–")


@functools.cache
def bibliography() -> Mapping[str, Reference]:
    """Return all references by their labels, in the order of the file."""
    text = (resources("metaeval.show") / "bibliography.bib").read_text(encoding="utf-8")
    references = {}
    for kind, key, body in _ENTRY.findall(text):
        fields = dict(_FIELD.findall(body))
        label = fields.pop("label")
        references[label] = Reference(key, kind, label, MappingProxyType(fields))
    return MappingProxyType(references)


def find_labels(source: str) -> list[str]:
    """Return the labels of the references that a source names; what is not in the bibliography is left out.

    >>> find_labels("Lin 1991; Sakai 2021, Eqs. 18–19; a talk")
    ['Lin 1991', 'Sakai 2021']
    """
    named = (part.partition(",")[0].strip() for part in source.split(";"))
    return [label for label in dict.fromkeys(named) if label in bibliography()]


def fill_in_references(text: str) -> str:
    """Return a text in which every ``{label}`` is replaced by its reference."""
    return _LABELLED.sub(lambda label: bibliography()[label[1]].to_text(), text)


def list_labels(text: str) -> list[str]:
    """Return the labels that stand in braces in a text, each once."""
    return list(dict.fromkeys(_LABELLED.findall(text)))


def format_bibtex(labels: Iterable[str]) -> str:
    """Return references as BibTeX, sorted by key, each once."""
    references = {bibliography()[label] for label in labels}
    return "\n".join(each.to_bibtex() for each in sorted(references, key=lambda reference: reference.key))
