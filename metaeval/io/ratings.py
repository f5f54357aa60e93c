"""Reading ratings: tables of scores with gaps, repeats, judges and tasks, and whatever else holds scores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.columns import format_columns
from metaeval.data.policies import check_policy, report_policy
from metaeval.data.ratings import Ratings, refuse_two_tasks
from metaeval.data.rows import DoubledPolicy, settle_doubled
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_count, format_option
from metaeval.files import is_standard_input, open_once, plain_path, stem
from metaeval.io.detect import Sample
from metaeval.io.table import TABLES, ColumnsError, open_cells
from metaeval.io.tables import rows_of_table, split_stem
from metaeval.measures.resolve import measure_of_label
from metaeval.stats.variance_components import FACETS


def read_ratings(
    path: Any,
    *,
    columns: Mapping[str, str] | None = None,
    measure: str | None = None,
    doubled: DoubledPolicy = "raise",
) -> Ratings:
    """Read a table with a row per score, a column per measure, or topics × runs; empty cells are gaps.

    Parameters
    ----------
    path : path
    columns : mapping of str to str, optional
        What the table calls its columns: ``{"repeat": "seed", "judge": "annotator", "task": "category"}``, and run, topic,
        measure and score where names do not tell.
    measure : str, optional
        One of several measures, or the measure of a table that does not name it.
    doubled : {"raise", "mean", "latest"}, optional
        What to do where a run has several scores on a topic, by one judge and in one repeat.

    Returns
    -------
    Ratings

    Raises
    ------
    DataError
        If the columns do not tell what they hold, or a score is no number.
    """
    check_policy(doubled, DoubledPolicy)
    with open_once():
        table = open_cells(path)
        layout, rows = rows_of_table(table, columns=columns, measure=measure)
        if layout.kind in ("wide", "transposed") and measure is None:
            rows = replace(rows, frame=rows.frame.assign(measure=split_stem(stem(path))[1]))
        score, gaps = rows.read_scores()
        keys = [name for name in (*FACETS, "measure") if name in rows.frame]
        codes = {name: rows.encode(name)[0] for name in keys}
        names = [layout.roles[role] for role in ("task", "topic") if "task" in rows.frame]
        refuse_two_tasks(rows.frame, rows.locate, names)
        known = rows.keep(~gaps)
        again = pd.DataFrame(codes)[~gaps].duplicated()
        frame = known.frame.assign(score=score[~gaps])
        if again.any() and doubled == "raise":
            row = int(np.argmax(again))
            tells = " or ".join(format_columns({what: "COLUMN"}) for what in ("repeat", "judge"))
            hint = f"{tells}, if a column tells them apart; their mean: {format_option('doubled', 'mean')}"
            problem = f"there is a second score, {frame['score'].iloc[row]:g}"
            raise DataError(problem, **known.locate(row), hint=hint)
        if again.any():
            frame = settle_doubled(known, frame, keys, doubled)
        if measure is not None:
            frame = frame[frame["measure"].map(str) == measure]
            if frame.empty:
                raise DataError(f"there is no measure {measure!r}", file=table.file)
        if gaps.any():
            report_policy(f"{format_count(int(gaps.sum()), 'cell')} without a score", table.file)
        measures = dict.fromkeys(map(str, rows.frame["measure"] if measure is None else frame["measure"]))
        return Ratings(frame, tuple(map(measure_of_label, measures)), stem(path))


def holds_table(source: str, columns: Mapping[str, str] | None) -> bool:
    """Say whether a source is a file with a table that ratings are read of row by row, and not a data set or a store."""
    if is_standard_input(source) or not os.path.isfile(os.path.expanduser(source)):
        return False
    sample = Sample(source, columns)
    # A column that is not there is refused where the table is read.
    is_table = sample.kind != "text" or plain_path(source).lower().endswith(TABLES)
    return is_table and isinstance(sample.layout, str | ColumnsError)


def refuse_columns(scores: Scores, columns: Mapping[str, str] | None) -> Ratings:
    """Return ratings of a score matrix that no columns describe."""
    named = [what for what in (columns or {}) if what in ("task", "judge", "repeat")]
    if named:
        option = {"task": "tasks", "judge": "judges", "repeat": "repeats"}[named[0]]
        raise DataError(f"{scores.collection or 'the source'} has no columns that {format_option(option)} could name")
    return Ratings.from_scores(scores)
