"""Detect the format of a score matrix from suffix, header and neighbouring files; an ambiguous format is an error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from metaeval.data.cells import COLUMNS, is_missing, number, refuse_leaderboard, refuse_other_names
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import (
    PathLike,
    Sources,
    file_name,
    find_paths,
    is_file,
    is_folder,
    is_remote,
    join_path,
    list_files,
    read_bytes,
    read_text,
)
from metaeval.io import sakai, tidy, trec_eval, wide, wmt
from metaeval.io.leaderboard import LEADERBOARDS
from metaeval.io.table import find_delimiter, rename_columns, split_line

_LENGTHS = {len(one.columns) for one in LEADERBOARDS.values() if one.columns}

OTHER_COLUMNS = frozenset({"run", "measure", "score", "item", "label", "gold", "predicted"})
"""Column names that show that a table is not topics × runs."""


class FormatError(DataError):
    """The format of a file cannot be detected."""


def _state_format() -> str:
    return f"state its format: {format_option('format', 'tidy')}, wide, sakai, trec_eval, wmt, tot, …"


def score_format(sources: Sources, columns: Mapping[str, str] | None = None) -> str:
    """Detect the format of a score matrix.

    Parameters
    ----------
    sources : path, list of paths, mapping or folder
    columns : mapping of str to str, optional
        What a single file calls the columns of a tidy one.

    Returns
    -------
    str
        One of `metaeval.io.SCORE_FORMATS`.

    Raises
    ------
    DataError
        If the file fits several formats or none; the message says which, and how to state the format.
    """
    if isinstance(sources, Mapping):
        return _detect_files(list(sources.values()), columns)
    if isinstance(sources, str | Path):
        return _detect_folder(sources, columns) if is_folder(sources) else _detect_file(sources, columns)
    return _detect_files(find_paths(sources), columns)


def _detect_folder(folder: PathLike, columns: Mapping[str, str] | None) -> str:
    files = list_files(folder)
    if is_file(join_path(folder, sakai.RUNS)):
        return "sakai"
    return _detect_files(files, columns, folder)


def _detect_files(
    files: list[PathLike], columns: Mapping[str, str] | None = None, folder: PathLike | None = None
) -> str:
    formats: dict[str, PathLike] = {}
    for path in files:
        formats.setdefault(_detect_file(path, columns), path)
    if list(formats) == ["tidy"]:  # scores of several tidy files could contradict each other
        hint = f"read {file_name(files[0])}" if len(files) == 1 else "join them into one"
        raise DataError("a tidy score matrix is one file, not a folder or a list", file=folder or files[0], hint=hint)
    if len(formats) == 1:
        return next(iter(formats))
    said = " and ".join(f"{name} ({file_name(path)})" for name, path in formats.items())
    raise DataError(f"the files are of several formats: {said}", file=folder or files[0], hint=_state_format())


def _detect_file(path: PathLike, columns: Mapping[str, str] | None = None) -> str:
    if tidy.is_parquet(path) or read_bytes(path).startswith(tidy.PARQUET_MAGIC):
        return "tidy"
    if wmt.is_segment_file(path):
        return "wmt"
    text = read_text(path).lstrip("\n")
    first, _, rest = text.partition("\n")
    if LEADERBOARDS["jsonl"].fits([first]):
        return "jsonl"
    delimiter = find_delimiter(path, text)
    header = [cell.strip() for cell in split_line(first, delimiter, path)]
    if columns:
        header = list(rename_columns(header, columns, path))
    if set(COLUMNS) <= set(header) or {"run", "topic", "score"} <= set(header):
        return "tidy"
    lines = [first, *(line for line in rest.split("\n", 20)[:20] if line.strip())]
    could = [
        name
        for name, fits in (
            ("trec_eval", _is_trec_eval(lines)),
            ("wide", _is_wide(header, lines[1:], delimiter, path)),
            ("sakai", _is_sakai(lines, path)),
        )
        if fits
    ]
    if len(first.split()) in _LENGTHS:
        whole = [line for line in text.split("\n") if line.strip()]
        could += [name for name, one in LEADERBOARDS.items() if one.columns and one.fits(whole)]
    if len(could) == 1:
        return could[0]
    refuse_other_names(header, path, columns)
    refuse_leaderboard(header, path)
    if could:
        raise FormatError(f"it could be {' or '.join(could)}", file=path, hint=_state_format())
    below = split_line(lines[1], delimiter, path) if len(lines) > 1 else []
    if len(below) == len(header) > 2 and header[0] not in COLUMNS and all(map(_is_number, below[1:])):
        topics = f"{wide.hint_topics(header[0])}; "
    else:
        topics = ""
    ranks = first.split()[1:2] == ["Q0"]  # of documents, of which this package knows nothing, or of runs
    of_runs = f"if runs are ranked in it, not documents, {format_option('format', 'ranking')}; " * ranks
    raise FormatError(
        f"its format cannot be detected from the first line ({format_list(header)})",
        file=path,
        hint=f"{of_runs}{topics}a tidy file has columns {', '.join(COLUMNS)}; else {_state_format()}; "
        f"gold and runs are for {format_option('read_runs')}",
    )


def _is_trec_eval(lines: list[str]) -> bool:
    rows = [line.split("\t") if line.count("\t") >= 2 else line.split() for line in lines]
    if any(len(row) != 3 for row in rows):
        return False
    values = [row for row in rows if not row[0].startswith(trec_eval.TEXTS)]
    return bool(values) and all(_is_number(row[2]) and not _is_number(row[0]) for row in values)


def _is_wide(header: list[str], below: list[str], delimiter: str, path: PathLike) -> bool:
    """Tell whether there are lines of numbers below a header of names."""
    table = str(path).lower().endswith(wide.SUFFIXES) or len(header) > 1
    if not table or not below or OTHER_COLUMNS & set(header) or wide.is_line_of_scores(header):
        return False
    cells = split_line(below[0], delimiter, path)[header[0].lower() in wide.TOPIC_COLUMNS :]
    # A truncated line or a wrong score does not change the format; the reader of the format reports it with its line.
    scores = [_is_number(cell) or is_missing(cell) for cell in cells]
    return bool(scores) and scores[0] and 2 * sum(scores) > len(scores)


def _is_sakai(lines: list[str], path: PathLike) -> bool:
    """Tell whether the file holds only numbers and a file of run names is next to it."""
    if is_remote(path) or not Path(path).with_name(sakai.RUNS).is_file():
        return False
    return all(_is_number(field) for field in lines[0].split())


def _is_number(text: str) -> bool:
    return not math.isnan(number(text)) or text.strip().lower() == "nan"
