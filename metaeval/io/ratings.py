"""Reading ratings: tables of scores with gaps, repeats, judges and tasks, and whatever else holds scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import DoubledPolicy, keep_rows, read_score_column, refuse_second, settle_doubled
from metaeval.data.columns import COLUMNS, format_columns
from metaeval.data.policies import check_policy, report_policy
from metaeval.data.ratings import Ratings, refuse_empty, refuse_two_tasks
from metaeval.data.scores import Scores
from metaeval.data.totals import find_totals
from metaeval.errors import DataError, format_count, format_option
from metaeval.files import is_standard_input, stem
from metaeval.io.layout import LAYOUTS, Layout, describe_unused, find_layout
from metaeval.io.sample import Sample
from metaeval.io.table import ColumnsError
from metaeval.io.tables import open_cells, open_once
from metaeval.io.tidy import find_part, make_rows, select_measure
from metaeval.io.wide import list_rows, split_stem
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
        layout = find_layout(open_cells(path), columns)
        note = describe_unused(layout)
        if note:
            report_policy(note, layout.table.file)
        if layout.kind in ("wide", "transposed"):
            frame, given = list_rows(layout, measure or split_stem(stem(path))[1]), None
        else:
            frame, given = make_rows(layout, measure)
        lines: Sequence[int] | None = None
        if layout.table.lines and given is not None:
            lines = layout.table.lines * max(1, len(layout.scores))
        whole = frame
        if measure is not None:  # before anything is said of the rows of others
            frame, given, lines = keep_rows(frame, given, lines, select_measure(frame, measure, layout.table.file))

        def where(row: int) -> dict[str, Any]:
            labels = {name: frame[name].iloc[row] for name in COLUMNS[:3]}
            return {"file": layout.table.file, "line": None if lines is None else lines[row], **labels}

        score, gaps = read_score_column(frame["score"], given, "worst", where)
        columns_of = [name for name in (*FACETS, "measure") if name in frame]
        refuse_empty(frame, columns_of, where)
        frame = frame.assign(score=score)
        refuse_two_tasks(frame, where, [str(layout.name(role)) for role in ("task", "topic") if "task" in frame])
        cell = frame.groupby(columns_of, sort=False).ngroup().to_numpy()
        if doubled == "raise":
            known = np.flatnonzero(~gaps)
            try:
                refuse_second(cell[known], len(frame), False, score[known], lambda row: where(known[row]))
            except DataError as error:
                raise error.changed(hint=_spell_out(layout, whole[columns_of])) from None
        else:
            score, gaps = score.copy(), gaps.copy()  # which the mean changes
            rows = settle_doubled(cell, score, gaps, frame, doubled, layout.table.file, where)
            frame, gaps = frame.assign(score=score).iloc[rows], gaps[rows]
        totals = find_totals(frame[columns_of], frame["score"].to_numpy(), layout.table.file)
        frame, gaps = frame[~totals], gaps[~totals]
        if gaps.any():
            report_policy(f"{format_count(int(gaps.sum()), 'cell')} without a score", layout.table.file)
        names = dict.fromkeys(map(str, frame["measure"]))
        return Ratings(frame[~gaps], tuple(map(measure_of_label, names)), stem(path))


def _spell_out(layout: Layout, labels: pd.DataFrame) -> str:
    """Return the options with which a table with several scores in a cell can be read."""
    told = find_part(layout, labels.apply(lambda column: pd.factorize(column.map(str))[0]).head(layout.table.n_rows))
    tells = " or ".join(format_columns({what: told or "COLUMN"}) for what in ("repeat", "judge"))
    if told is None:
        return f"{tells}, if a column tells them apart; their mean: {format_option('doubled', 'mean')}"
    topic = format_columns({"topic": f"{layout.name('topic')}+{told}"})
    return f"{told!r} tells them apart: repeats, judges or parts of topics? {tells} or {topic}"


def holds_table(source: str, columns: Mapping[str, str] | None) -> bool:
    """Say whether a source is a file with a table that ratings are read of row by row, and not a data set or a store."""
    if is_standard_input(source) or not os.path.isfile(os.path.expanduser(source)):
        return False
    sample = Sample(source, columns)
    # A column that is not there is refused where the table is read.
    return sample.is_table and (sample.layout in LAYOUTS or isinstance(sample.refusal, ColumnsError))


def refuse_columns(scores: Scores, columns: Mapping[str, str] | None) -> Ratings:
    """Return ratings of a score matrix that no columns describe."""
    named = [what for what in (columns or {}) if what in ("task", "judge", "repeat")]
    if named:
        option = {"task": "tasks", "judge": "judges", "repeat": "repeats"}[named[0]]
        raise DataError(f"{scores.collection or 'the source'} has no columns that {format_option(option)} could name")
    return Ratings.from_scores(scores)
