"""Reading scores of which only some are there: a table with a row per score, or of topics × runs with empty cells.

A table with a row per score may have a column ``probability``: how probable it was that the score was asked for. Rows with an
empty score are left out, so that a list of what to label can be filled in step by step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from metaeval.data.cells import DoubledPolicy, arrange_cells
from metaeval.data.columns import plain_name
from metaeval.data.partial_scores import PartialScores
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_list
from metaeval.files import is_folder, stem
from metaeval.io.frames import is_frame
from metaeval.io.layout import IGNORE, find_layout
from metaeval.io.scores import read_scores
from metaeval.io.table import Table, numbers
from metaeval.io.tables import LINES, PARQUET, TABLES, WORKBOOKS, open_cells
from metaeval.io.tidy import make_rows
from metaeval.io.wide import find_matrix

PROBABILITY = "probability"


def read_partial(
    source: Any, *, columns: Mapping[str, str] | None = None, doubled: DoubledPolicy = "raise"
) -> PartialScores:
    """Read scores of one measure, of which some may be missing.

    Parameters
    ----------
    source : path, frame, Scores or PartialScores
        A table (.csv, .tsv, .jsonl, .parquet, .xlsx) with columns run, topic, score and perhaps probability; or with a row per
        topic and a column per run, cells without a score empty. Files of other formats are read as `read_scores` does.
    columns : mapping of str to str, optional
        What a table calls columns whose names do not tell.
    doubled : {"raise", "mean", "latest"}, optional
        What to do where a run has several scores on a topic.

    Returns
    -------
    PartialScores

    Raises
    ------
    DataError
        If the data are wrong; the message says where.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"run": ["a", "b", "a"], "topic": [1, 1, 2], "score": [0.5, 0.25, 1], "probability": [0.1, 0.1, 0.5]}
    >>> read_partial(pd.DataFrame(rows)).probabilities
    array([[0.1, 0.5],
           [0.1, nan]])
    """
    if isinstance(source, PartialScores):
        return source
    if isinstance(source, Scores):
        return PartialScores.of_scores(source)
    named = not is_frame(source)
    if named and (is_folder(source) or not str(source).lower().endswith((*TABLES, *LINES, *PARQUET, *WORKBOOKS))):
        return PartialScores.of_scores(read_scores(source, missing="drop-topic", columns=columns, doubled=doubled))
    table, name = open_cells(source), stem(source) if named else ""
    given = _find_probabilities(table)
    stated = {**(columns or {})}
    if given is not None:
        ignored = [stated[IGNORE]] if IGNORE in stated else []
        stated[IGNORE] = "+".join([*ignored, table.header[given]])
    layout = find_layout(table, stated)
    if layout.kind in ("wide", "transposed"):
        if given is not None:
            raise DataError(f"a column {PROBABILITY} needs one row per score: run, topic, score", file=table.file)
        matrix = find_matrix(layout, "score", stated)
        return PartialScores(matrix.values.T, runs=matrix.runs, topics=matrix.topics, measure="score", collection=name)
    frame, texts = make_rows(layout, None)
    lines = table.lines * len(layout.scores) if table.lines else None
    options: dict[str, Any] = {"file": table.file, "lines": lines, "doubled": doubled, "keep_gaps": True}
    values, runs, topics, measures = arrange_cells(frame, given=texts, **options)
    if len(measures) != 1:
        names = format_list([str(measure) for measure in measures])
        raise DataError(f"labels of people are of one measure; there are {len(measures)} ({names})", file=table.file)
    probabilities = None
    if given is not None:
        frame = frame.assign(score=_read_probabilities(table, given))
        probabilities = arrange_cells(frame, **{**options, "doubled": "mean"})[0][..., 0]
    return PartialScores(
        values[..., 0], runs=runs, topics=topics, measure=measures[0], probabilities=probabilities, collection=name
    )


def _find_probabilities(table: Table) -> int | None:
    found = [j for j, name in enumerate(table.header) if plain_name(name) == PROBABILITY]
    return found[0] if found else None


def _read_probabilities(table: Table, column: int) -> np.ndarray:
    """Return the probabilities, each above 0 and at most 1, or NaN where a cell is empty."""
    cells = table.columns[column]
    found = numbers(cells) if table.lines else np.asarray(cells, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~((found > 0) & (found <= 1)) & ~np.isnan(found))
    if len(wrong):
        line = table.lines[wrong[0]] if table.lines else None
        problem = f"the probability is {found[wrong[0]]:g}; it lies above 0 and is at most 1"
        raise DataError(problem, file=table.file, line=line)
    return found
