"""What gold and runs are called: run files or frames by name, and the collection and provenance that they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metaeval.errors import DataError
from metaeval.files import describe_files, find_named_files, stem
from metaeval.io.table import FRAME, is_column, is_frame


def is_table(given: object) -> bool:
    """Tell whether an object is a frame, or a mapping of columns of whatever names."""
    return isinstance(given, Mapping) or is_frame(given)


def name_sources(runs: Any, gold: Any) -> dict[str, Any]:
    """Return run files, or frames, by run name, as `metaeval.files.find_named_files` does for files."""
    if any(map(is_column, runs.values())) if isinstance(runs, Mapping) else is_frame(runs):
        raise DataError("the frame of a run has no name", hint='give it one: {"name": frame}')
    if isinstance(runs, Mapping) and any(is_table(source) for source in runs.values()):
        return {str(name): source for name, source in runs.items()}
    return dict(find_named_files(runs, gold=None if is_table(gold) else gold))


def name_origins(gold: Any, runs: Any, collection: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the files, or frames, of runs by run name, and the collection and provenance that these and the gold give."""
    files = {} if runs is None else name_sources(runs, gold)
    return files, {"collection": name_collection(gold, collection), "provenance": describe_sources(gold, files)}


def describe_sources(gold: Any, runs: Mapping[str, Any]) -> str:
    """Return the names of files and frames as one short line, for provenance."""
    return describe_files([FRAME if is_table(source) else source for source in (gold, *runs.values())])


def name_collection(gold: Any, collection: str | None) -> str:
    """Return the name of a collection: what the user says, or the name of the gold file; a frame has none."""
    if collection is not None:
        return collection
    return "" if is_table(gold) else stem(gold)
