"""The format of a source of scores, told by names of files, first lines and neighbours; an ambiguous one is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from metaeval import files
from metaeval.errors import DataError, format_list, format_option
from metaeval.io.formats import LOG_FORMATS, READ_FORMATS, SCORE_FORMATS, ScoreFormat
from metaeval.io.layout import FormatError, find_layout, hint_columns
from metaeval.io.line_formats import has_scores
from metaeval.io.logs.rows import walk
from metaeval.io.strict_json import parse_json
from metaeval.io.table import LINES, TABLES, ColumnsError, find_kind, list_sheets, open_cells
from metaeval.measures.resolve import split_stem

_FIRST, _MOST_LOGS = 20, 50  # lines, and logs of a folder, by which a format is told


class Sample:
    """What the format of a file is told by; everything is read when it is asked for."""

    def __init__(self, path: files.PathLike, columns: Mapping[str, str] | None = None) -> None:
        self.path, self.columns = path, columns

    @cached_property
    def kind(self) -> str:
        """What `find_kind` says."""
        return find_kind(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank; Parquet and workbooks have none."""
        text = files.read_text(self.path) if self.kind in ("text", "json") else ""
        lines = [line for line in text.split("\n") if line.strip()]
        for line in lines[:_FIRST] if self.kind == "text" else ():
            files.check_cells(sum(map(line.count, " \t,")), self.path)
        return lines

    @cached_property
    def first_record(self) -> Any:
        """The first value of JSON lines, or all that a JSON file holds; None for what is neither."""
        name = files.plain_path(self.path).lower()
        try:
            if name.endswith(LINES):
                line, text = next(files.stream_lines(self.path), (1, "null"))
                return parse_json(text, self.path, line, with_nan=True)
            return parse_json(files.read_text(self.path), self.path, with_nan=True) if name.endswith(".json") else None
        except DataError:
            return None

    @cached_property
    def layout(self) -> str | DataError:
        """The layout of the table that the file holds, or what is wrong with it as a table."""
        try:
            sheets = list_sheets(self.path)
            return find_layout(next(iter(sheets.values()), None) or open_cells(self.path), self.columns).kind
        except DataError as error:
            return error


def find_format(sources: files.Sources, columns: Mapping[str, str] | None = None) -> ScoreFormat:
    """Detect the format of a file, of several, or of a folder; `columns` are what a file calls some of its columns."""
    if isinstance(sources, str | Path) and not files.is_folder(sources):
        return _find_format(Sample(sources, columns))
    folder = sources if isinstance(sources, str | Path) else None
    if folder is not None and os.path.isfile(os.path.join(folder, "runs")):
        return SCORE_FORMATS["sakai"]
    formats = {} if folder is None else _find_logs(folder)
    listed = [] if formats else [*sources.values()] if isinstance(sources, Mapping) else files.find_paths(sources)
    for path in listed:
        formats.setdefault(_find_format(Sample(path, columns)).name, path)
    if list(formats) == ["tidy"]:  # scores of several tidy files could contradict each other
        hint = f"read {files.file_name(listed[0])}" if len(listed) == 1 else "join them into one"
        raise DataError("a tidy score matrix is one file, not a folder or a list", file=folder or listed[0], hint=hint)
    if len(formats) > 1:
        shown = " and ".join(f"{name} ({files.file_name(path)})" for name, path in formats.items())
        what, hint = ("the files are", _state_format()) if listed else ("the folder holds logs", "name a folder in it")
        raise DataError(f"{what} of several formats: {shown}", file=folder or listed[0], hint=hint)
    stems = [split_stem(files.stem(path)) for path in listed]
    by_measure = isinstance(sources, Mapping) or any(known or name for name, _, known in stems)
    if list(formats) == ["wide"] and len(listed) > 1 and not by_measure:
        problem = "is each file a measure, or a run with a column per measure? No file is called as a known measure"
        hint = f"measures: {format_option('format', 'wide')}; runs: join them into one table, with a column run"
        raise DataError(problem, file=folder or listed[0], hint=hint)
    return READ_FORMATS[next(iter(formats))]


def _find_logs(folder: files.PathLike) -> dict[str, files.PathLike]:
    logs = [path for path in walk(folder) if files.plain_path(path).lower().endswith((".json", ".jsonl", ".eval"))]
    formats: dict[str, files.PathLike] = {}
    for sample in map(Sample, logs[:_MOST_LOGS]):
        known = [format.name for format in LOG_FORMATS.values() if format.load().fits(sample)]
        formats |= {name: sample.path for name in known[:1] if name not in formats}
    return formats


def _find_format(sample: Sample) -> ScoreFormat:
    """Return the only format that a file fits, the sure ones first."""
    for format in reversed([*READ_FORMATS.values()]):  # keys and names of files tell more than columns do
        if format.sure and format.load().fits(sample):
            return format
    found = sample.layout
    rows = isinstance(found, str) and found in ("tidy", "measures")
    possible = [SCORE_FORMATS[str(found)]] if isinstance(found, str) else []
    if not rows and sample.kind == "text":
        lines = (format for format in SCORE_FORMATS.values() if format.source and not format.sure)
        possible += [format for format in lines if format.load().fits(sample)]
    if len(possible) == 1:
        return possible[0]
    if possible:
        names = " or ".join(format.name for format in possible)
        answers = " or ".join(format_option("format", format.name) for format in possible)
        raise FormatError(f"it could be {names}", file=sample.path, hint=f"state its format: {answers}")
    raise _explain(sample, found)


def _explain(sample: Sample, found: str | DataError) -> DataError:
    """Return what is asked where no format fits a file; `found` is what is wrong with it as a table."""
    if all(line.split()[1:2] in (["0"], ["Q0"]) for line in sample.lines) and sample.kind == "text":
        problem = "it holds documents, of a run or of judgements (qrels), not scores"
        raise FormatError(problem, file=sample.path, hint="score the run by trec_eval -q, and read what it prints")
    if has_scores(sample.lines[:20]) and sample.kind == "text":
        may = "lines of three columns may be measure, topic, value (trec_eval) or topic, measure, value (ir_measures)"
        ways = f"measures stand first: {format_option('format', 'trec_eval')}; topics: {format_option('format', 'ir_measures')}"
        hint = f"{ways}; if these are run, topic and score, put a first line with these names into the file"
        return FormatError(f"{may}, and their names do not tell which", file=sample.path, hint=hint)
    if isinstance(found, DataError) and (
        sample.kind != "text" or files.plain_path(sample.path).lower().endswith(TABLES)
    ):
        return found if isinstance(found, ColumnsError) else found.changed(FormatError)
    first, second = ([*map(str.split, sample.lines[:2]), [], []])[:2]
    problem = f"its format cannot be detected from the first line ({format_list(first)})"
    hint = f"{hint_columns()}; else {_state_format()}"
    if first and first[0].startswith(("|", "<", "\\")):
        hint = "tables of Markdown, HTML and LaTeX are for people: save it as CSV"
    elif len(second) == len(first) + 1 > 2 and first[0].startswith('"'):
        hint = "R has written it without a name above the row names: use write.csv(…, row.names = FALSE)"
    return FormatError(problem, file=sample.path, hint=hint)


def _state_format() -> str:
    return f"state its format with {format_option('format')}: {', '.join(SCORE_FORMATS)}"
