"""Rows of run, topic, measure and score from several files, made into scores; what is wrong is told with its file and line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import arrange_cells
from metaeval.data.columns import COLUMNS
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import Scores, hold_scores
from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, describe_files
from metaeval.measures.resolve import measure_of_label

Row = tuple[str, str, str, str]
"""Run, topic, measure and score, as they are written."""


@dataclass(frozen=True)
class Rows:
    """The rows of one file, and on which lines they stand."""

    path: PathLike
    rows: list[Row]
    lines: list[int]

    def choose(self, condition: Callable[[str], bool]) -> Rows:
        """Return the rows whose topic meets a condition."""
        chosen = [position for position, row in enumerate(self.rows) if condition(row[1])]
        return Rows(self.path, [self.rows[row] for row in chosen], [self.lines[row] for row in chosen])


def arrange_rows(
    parts: Sequence[Rows], collection: str, missing: MissingPolicy, choose: Choose | None = None
) -> Scores:
    """Return the scores in the rows of one or several files."""
    rows = [row for part in parts for row in part.rows]
    positions = [(part.path, line) for part in parts for line in part.lines]
    files = [part.path for part in parts]
    columns = (np.array(column, dtype=object) for column in zip(*rows, strict=True))
    frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    try:
        values, runs, topics, measures = arrange_cells(
            frame, missing=missing, file=describe_files(files) if len(files) > 1 else files[0],
            lines=range(len(rows)), given=[row[3] for row in rows], choose=choose,
        )  # fmt: skip
    except DataError as error:
        file, line = _find_position(error, parts, positions)
        raise error.changed(file=file, line=line) from None
    return hold_scores(
        values, runs=runs, topics=topics, measures=measures, collection=collection, provenance=describe_files(files)
    )


def _find_position(
    error: DataError, parts: Sequence[Rows], positions: Sequence[tuple[PathLike, int]]
) -> tuple[object, int | None]:
    """Return the file and the line of an error: rows are counted over all files; a run may stand in one of them only."""
    if error.line is not None:
        return positions[error.line]
    files = [part.path for part in parts if any(row[0] == error.run for row in part.rows)]
    return (files[0] if len(files) == 1 else error.file), None


def choose_files(files: Mapping[str, PathLike], measure: str | None) -> dict[str, PathLike]:
    """Return the files of a measure, or all, of files by measure."""
    if not files:
        raise DataError("no files were named")
    chosen = {str(name): path for name, path in files.items() if measure is None or str(name) == measure}
    if not chosen:
        raise DataError(f"there is no measure {measure!r} (there are {format_list(list(map(str, files)))})")
    return chosen


def keep_wanted(found: Mapping[Any, Any], choose: Choose | None) -> dict[Any, Any]:
    """Return what belongs to the wanted measures, of things by measure."""
    if choose is None:
        return dict(found)
    wanted = choose([str(measure_of_label(name)) for name in found])
    return {name: one for name, one in found.items() if str(measure_of_label(name)) in wanted}
