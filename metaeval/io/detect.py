"""Detect the format of a score matrix from names, headers and neighbouring files; an ambiguous format is an error."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from metaeval.errors import DataError, format_list, format_option
from metaeval.files import (
    PathLike,
    Sources,
    file_name,
    find_paths,
    is_folder,
    list_files,
    plain_path,
)
from metaeval.io import sakai, trec_eval
from metaeval.io.formats import LOG_FORMATS, READ_FORMATS, SCORE_FORMATS, ScoreFormat
from metaeval.io.layout import hint_columns
from metaeval.io.logs.rows import walk
from metaeval.io.sample import Sample
from metaeval.io.table import ColumnsError


class FormatError(DataError):
    """The format of a file cannot be detected."""


def find_format(sources: Sources, columns: Mapping[str, str] | None = None) -> ScoreFormat:
    """Detect the format of a file, of several, or of a folder; `columns` are what a file calls some of its columns."""
    if isinstance(sources, Mapping):
        return _find_common(list(sources.values()), columns)
    if not isinstance(sources, str | Path):
        return _find_common(find_paths(sources), columns)
    if not is_folder(sources):
        return _find_format(Sample(sources, columns))
    if os.path.isfile(os.path.join(sources, sakai.RUNS)):
        return SCORE_FORMATS["sakai"]
    log = _find_logs(sources)
    if log is not None:
        return log
    files = list_files(sources)
    return _find_common(files, columns, sources)


def _find_logs(folder: PathLike) -> ScoreFormat | None:
    """Return the format of the logs in a folder, and in the folders in it, if there are any."""
    names = [path for path in walk(folder) if plain_path(path).lower().endswith((".json", ".jsonl", ".eval"))]
    found: dict[str, PathLike] = {}
    for path in names[:_MOST_LOGS]:
        sample = Sample(path)
        known = next((format for format in LOG_FORMATS.values() if format.fits(sample)), None)
        if known is not None:
            found.setdefault(known.name, path)
    if len(found) > 1:
        shown = " and ".join(f"{name} ({file_name(path)})" for name, path in found.items())
        raise DataError(f"the folder holds logs of several formats: {shown}", file=folder, hint="name a folder in it")
    return LOG_FORMATS[next(iter(found))] if found else None


_MOST_LOGS = 50
"""Logs of a folder by which their format is told."""


def _find_common(
    files: list[PathLike], columns: Mapping[str, str] | None, folder: PathLike | None = None
) -> ScoreFormat:
    """Return the format that all files have."""
    formats: dict[str, PathLike] = {}
    for path in files:
        formats.setdefault(_find_format(Sample(path, columns)).name, path)
    if list(formats) == ["tidy"]:  # scores of several tidy files could contradict each other
        hint = f"read {file_name(files[0])}" if len(files) == 1 else "join them into one"
        raise DataError("a tidy score matrix is one file, not a folder or a list", file=folder or files[0], hint=hint)
    if len(formats) > 1:
        shown = " and ".join(f"{name} ({file_name(path)})" for name, path in formats.items())
        raise DataError(f"the files are of several formats: {shown}", file=folder or files[0], hint=_state_format())
    return READ_FORMATS[next(iter(formats))]


def _find_format(sample: Sample) -> ScoreFormat:
    """Return the only format that a file fits, the sure ones first."""
    for format in reversed([*READ_FORMATS.values()]):  # keys and names of files tell more than columns do
        if format.sure and format.fits(sample):
            return format
    if sample.kind != "text":
        if sample.refusal is not None:
            raise _refuse(sample.refusal)
        return SCORE_FORMATS[str(sample.layout)]
    possible = [format for format in SCORE_FORMATS.values() if not format.sure and format.fits(sample)]
    if len(possible) == 1:
        return possible[0]
    if possible:
        names = " or ".join(format.name for format in possible)
        raise FormatError(f"it could be {names}", file=sample.path, hint=_state_format())
    if trec_eval.has_scores(sample.lines):
        raise FormatError(
            "lines of three columns may be measure, topic, value (trec_eval) or topic, measure, value (ir_measures), and "
            "their names do not tell which",
            file=sample.path,
            hint=f"say which: {format_option('format', 'trec_eval')} or ir_measures; if these are run, topic and score, "
            "put a first line with these names into the file",
        )
    refusal = sample.refusal
    if refusal is not None and sample.is_table:
        raise _refuse(refusal)
    first = sample.lines[:1] and sample.lines[0].split()
    ranks = first[1:2] == ["Q0"]  # as a run of TREC does
    hint = "if runs are ranked in it, not documents, " if ranks else f"{hint_columns()}; else "
    problem = f"its format cannot be detected from the first line ({format_list(first)})"
    raise FormatError(problem, file=sample.path, hint=f"{hint}{_state_format()}")


def _refuse(refusal: DataError) -> DataError:
    return refusal if isinstance(refusal, ColumnsError) else refusal.changed(FormatError)


def _state_format() -> str:
    return f"state its format: {format_option('format', ', '.join(SCORE_FORMATS))}"
