"""What a shell offers when Tab is pressed: names of data sets and measures, files, and the choices of an option."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from glob import escape, glob
from pathlib import Path

Completer = Callable[[str], list[str]]


def complete_choice(choices: Sequence[str]) -> Completer:
    """Return what completes one of several words.

    >>> complete_choice(["text", "csv", "json"])("c")
    ['csv']
    """

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def complete_data_set(incomplete: str) -> list[str]:
    """Return the data sets whose names begin so."""
    from metaeval.datasets import datasets

    return [dataset.name for dataset in datasets() if dataset.name.startswith(incomplete)]


def complete_source(incomplete: str) -> list[str]:
    """Return the data sets, and the files and folders, whose names begin so."""
    return [*complete_data_set(incomplete), *_list_files(incomplete)]


def complete_measure(incomplete: str) -> list[str]:
    """Return the registered measures whose names begin so, whatever their case, and Python files."""
    from metaeval.measures import measures

    names = [measure.name for measure in measures()]
    begun = [name for name in names if name.startswith(incomplete)]
    begun = begun or [name for name in names if name.lower().startswith(incomplete.lower())]
    return [*begun, *(file for file in _list_files(incomplete) if file.endswith((".py", "/")))]


def _list_files(incomplete: str) -> list[str]:
    """Return files and folders, the latter with a slash, unless they are hidden."""
    return sorted(f"{file}/" if Path(file).is_dir() else file for file in glob(f"{escape(incomplete)}*"))
