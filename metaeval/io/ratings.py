"""Reading ratings: tables of scores with gaps, repeats, judges and tasks, and whatever else holds scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metaeval.data.columns import format_columns
from metaeval.data.policies import check_policy, report_policy
from metaeval.data.ratings import Ratings, refuse_two_tasks
from metaeval.data.rows import Cells, DoubledError, DoubledPolicy
from metaeval.data.scores import Scores, choose_measure
from metaeval.errors import DataError, format_count, format_option
from metaeval.files import is_standard_input, open_once, plain_path, stem
from metaeval.io.detect import Sample
from metaeval.io.layout import Layout
from metaeval.io.table import TABLES, ColumnsError, open_cells
from metaeval.io.tables import find_part, rows_of_table
from metaeval.measures.resolve import measure_of_label, split_stem
from metaeval.stats.variance_components import FACETS


def read_ratings(
    path: Any,
    *,
    columns: Mapping[str, str] | None = None,
    measure: str | Sequence[str] | None = None,
    doubled: DoubledPolicy = "raise",
) -> Ratings:
    """Read a table with a row per score, a column per measure, or topics × runs; empty cells are gaps.

    Parameters
    ----------
    path : path
    columns : mapping of str to str, optional
        What the table calls its columns: ``{"repeat": "seed", "judge": "annotator", "task": "category"}``, and others.
    measure : str or sequence of str, optional
        Some of several measures, or the measure of a table that does not name it.
    doubled : {"raise", "mean", "latest"}, optional
        What to do where a run has several scores on a topic, by one judge and in one repeat.
    """
    check_policy(doubled, DoubledPolicy)
    with open_once():
        table = open_cells(path)
        wanted = [measure] if isinstance(measure, str) else list(measure or ())
        layout, rows = rows_of_table(table, columns=columns, measure=wanted[0] if len(wanted) == 1 else None)
        if layout.kind in ("wide", "transposed") and len(wanted) != 1:
            rows = replace(rows, frame=rows.frame.assign(measure=split_stem(stem(path))[1]))
        if wanted:  # before anything is said of the rows of others
            rows = choose_measure(rows, *wanted)
        keys = [name for name in (*FACETS, "measure") if name in rows.frame]
        cells = Cells(rows, keys)
        refuse_two_tasks(cells, [layout.roles[role] for role in ("task", "topic") if role in layout.roles])
        gaps = np.isnan(cells.score)
        cells.select(~gaps)
        try:
            cells.settle_doubled(doubled)
        except DoubledError as error:
            raise error.changed(hint=_spell_out(layout, keys)) from None
        cells.drop_totals()
        if gaps.any():
            report_policy(f"{format_count(int(gaps.sum()), 'cell')} without a score", table.file)
        return Ratings(cells, tuple(map(measure_of_label, cells.labels["measure"])), stem(path))


def _spell_out(layout: Layout, keys: Sequence[str]) -> str:
    told = find_part(layout, [layout.roles[key] for key in keys if key in layout.roles])
    tells = " or ".join(format_columns({what: told or "COLUMN"}) for what in ("repeat", "judge"))
    if told is None:
        return f"{tells}, if a column tells them apart; their mean: {format_option('doubled', 'mean')}"
    topic = format_columns({"topic": f"{layout.roles['topic']}+{told}"})
    return f"{told!r} tells them apart: repeats, judges or parts of topics? {tells} or {topic}"


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
    return Ratings(scores.to_frame(), scores.measures, scores.collection)
