"""Scores from frames of every kind: pandas, polars, Arrow, xarray; tidy, wide, with several index levels, or records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from metaeval.data.cells import read_score_column
from metaeval.data.columns import (
    COLLECTION,
    COLUMNS,
    DIRECTION,
    find_topics,
    is_index,
    numbers_rows,
    refuse_columns_without_scores,
    refuse_leaderboard,
    refuse_other_names,
)
from metaeval.data.policies import MissingPolicy, mend_missing
from metaeval.data.scores import ATTRS, Scores, state_directions
from metaeval.errors import DataError, format_list
from metaeval.files import describe_files, find_named_files, stem
from metaeval.io.rows import select_collection, select_measure
from metaeval.io.table import Table, read_table, rename_columns
from metaeval.measures.base import Measure
from metaeval.measures.directions import Names, turn
from metaeval.measures.resolve import measure_of_label


def from_frame(
    frame: Any,
    *,
    measure: str | Measure | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
) -> Scores:
    """Convert a frame of any library and layout to scores.

    Parameters
    ----------
    frame : pandas, polars, Arrow or xarray object, list of records, or mapping
        Tidy: columns (or index levels, or dimensions) run, topic, measure, score. Without measure and score, every
        column besides run and topic is a measure. Wide: one column per run and one row per topic; the index, or a
        column ``topic``, names the topics. A mapping holds columns by name, or wide frames by measure, which are
        aligned by the names of runs and topics. Directions that a column higher_is_better states, or the attributes
        of an xarray object (see `Scores.to_xarray`), are taken from there.
    measure : str or Measure, optional
        The measure that a frame holds, if the frame does not say it.
    collection : str, optional
        By default, the name of an xarray object.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure, or it is NaN.
    columns : mapping of str to str, optional
        What the frame calls some of the columns: ``{"run": "system", "topic": "segment", "score": "value"}``.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of which higher scores, or lower ones, are better; ``higher_is_better=True`` for all others.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If the frame is none of these, a score occurs twice, is not a finite number or is missing.
    MetaevalError
        If a direction is stated of a measure that is not there.

    Examples
    --------
    >>> wide = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["t1", "t2"])
    >>> from_frame(wide, measure="nDCG@10")
    Scores: 2 runs × 2 topics × 1 measure
    >>> from_frame([{"system": "a", "topic": 1, "BLEU": 30.5}], columns={"run": "system"})
    Scores: 1 run × 1 topic × 1 measure
    """
    scores = _convert(frame, measure, collection, missing, columns)
    return state_directions([scores], higher_is_better, lower_is_better, missing)[0]


def _convert(
    frame: Any,
    measure: str | Measure | None,
    collection: str | None,
    missing: MissingPolicy,
    columns: Mapping[str, str] | None,
) -> Scores:
    if isinstance(frame, Mapping) and _library(frame) != "xarray" and not _are_columns(frame, columns):
        return _convert_wide(frame, collection or "", missing, columns)
    if collection is None:
        name = getattr(frame, "name", None) if _library(frame) == "xarray" else None
        collection = None if name in (None, "score") else str(name)
    given = _to_pandas(frame)
    table = _flatten(given, columns)
    if {"run", "topic"} <= set(table.columns) and "score" not in table and "measure" not in table:
        table = _melt_measures(table)
    if {"run", "topic", "score"} <= set(table.columns):
        rows, collection = select_collection(table, collection)
        table = table if rows is None else table[rows]
        if "measure" not in table and measure is not None:
            table = table.assign(measure=str(measure_of_label(measure)))
    if set(COLUMNS) <= set(table.columns):
        stated = [measure] if isinstance(measure, Measure) else _read_attributes(frame)
        if measure is not None:
            table = table[select_measure(table, str(measure_of_label(measure)))]
        return Scores.from_frame(table, collection=collection or "", missing=missing, measures=stated)
    known = measure_of_label(_check_measure(measure, list(table.columns)))
    return _stack_frames({known: _check_wide(given, measure, columns)}, collection or "", missing)


def _check_measure(measure: str | Measure | None, columns: Sequence[object]) -> str | Measure:
    """Return the measure of topics × runs; refuse a frame that is neither that nor, by its columns, tidy."""
    if measure is None or {"run", "score"} <= set(columns):
        refuse_other_names(columns)
        refuse_leaderboard(columns)
    if measure is None:
        raise DataError(
            f"the frame has no columns run, topic, measure, score (columns: {format_list(list(map(repr, columns)))})",
            hint="name them with columns=; for a frame of topics × runs, say which measure it holds with measure=",
        )
    return measure


def _convert_wide(
    frames: Mapping[Any, Any], collection: str, missing: MissingPolicy, columns: Mapping[str, str] | None
) -> Scores:
    """Return scores from frames of topics × runs by measure."""
    if not frames:
        raise DataError("no frames were given")
    if all(isinstance(part, int | float) for part in frames.values()):
        refuse_leaderboard(["run", "score"])
    checked = {measure_of_label(name): _check_wide(part, name, columns) for name, part in frames.items()}
    return _stack_frames(checked, collection, missing)


def _melt_measures(table: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of one row a score, of one with a column a measure."""
    known = [name for name in ("run", "topic", DIRECTION, COLLECTION) if name in table.columns]
    measures = [name for name in table.columns if name not in known and not is_index(name)]
    if not measures or table.empty:
        raise DataError("there is no column of scores beside run and topic")
    return table.melt(known, measures, var_name="measure", value_name="score")


def _read_attributes(frame: Any) -> list[Measure]:
    """Return measures with the directions that the attributes of an xarray object, or of a part of it, state."""
    if _library(frame) != "xarray":
        return []
    parts = [frame, *getattr(frame, "data_vars", {}).values()]
    pairs = [
        (name, ATTRS[attribute])
        for part in parts
        for attribute in ATTRS
        for name in np.atleast_1d(part.attrs.get(attribute, ()))
    ]
    return [turn(measure_of_label(str(name)), direction) for name, direction in dict(pairs).items()]


def open_table(source: Any, columns: Mapping[str, str] | None = None, classes: Sequence[str] = ()) -> Table:
    """Return the cells of a file or a frame as text: of gold, of a run, or of several judges."""
    if not is_table(source):
        return read_table(source, columns)
    frame = _to_pandas(source)
    levels = [name for name in frame.index.names if name is not None]
    if frame.columns.nlevels > 1 or not set(levels).isdisjoint(frame.columns):
        raise DataError("the columns of the frame have several levels, or the name of an index level")
    frame = frame.reset_index(levels) if levels else frame
    header = rename_columns([str(name) for name in frame.columns], columns)
    if len(set(header)) < len(header):
        raise DataError(f"a column of the frame occurs twice (columns: {format_list(header)})")
    if not len(frame):
        raise DataError("there are no rows in the frame")
    cells = [tuple(_show_cell(cell, classes) for cell in frame.iloc[:, j].tolist()) for j in range(frame.shape[1])]
    return Table(FRAME, header, tuple(cells), tuple(range(1, len(frame) + 1)))


FRAME = "frame"
"""What messages call a frame, which has no name."""


def is_table(given: object) -> bool:
    """Tell whether an object is a frame, or a mapping of columns of whatever names."""
    return isinstance(given, Mapping) or is_frame(given)


def _show_cell(cell: Any, classes: Sequence[str]) -> str:
    if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell:
        return ""
    shown = str(cell)
    whole = isinstance(cell, float | np.floating) and math.isfinite(cell) and cell == int(cell)
    return str(int(cell)) if whole and shown not in classes else shown


def name_sources(runs: Any, gold: Any) -> dict[str, Any]:
    """Return run files, or frames, by run name, as `metaeval.files.find_named_files` does for files."""
    if (isinstance(runs, Mapping) and any(_is_column(source) for source in runs.values())) or _is_nameless(runs):
        raise DataError("the frame of a run has no name", hint='give it one: {"name": frame}')
    if isinstance(runs, Mapping) and any(is_table(source) for source in runs.values()):
        return {str(name): source for name, source in runs.items()}
    return dict(find_named_files(runs, gold=None if is_table(gold) else gold))


def describe_sources(gold: Any, runs: Mapping[str, Any]) -> str:
    """Return the names of files and frames as one short line, for provenance."""
    return describe_files([FRAME if is_table(source) else source for source in (gold, *runs.values())])


def name_collection(gold: Any, collection: str | None) -> str:
    """Return the name of a collection: what the user says, or the name of the gold file; a frame has none."""
    if collection is not None:
        return collection
    return "" if is_table(gold) else stem(gold)


def is_frame(given: object) -> bool:
    """Tell whether an object is a frame that `from_frame` takes, and no path, list of paths or mapping of paths."""
    if isinstance(given, Mapping) and _library(given) != "xarray":
        return any(not isinstance(value, Mapping) and is_frame(value) for value in given.values()) or _are_columns(
            given
        )
    if isinstance(given, list | tuple):
        return bool(given) and isinstance(given[0], Mapping)
    return isinstance(given, pd.DataFrame | pd.Series) or _library(given) in ("polars", "pyarrow", "xarray")


def _are_columns(given: Mapping[Any, Any], columns: Mapping[str, str] | None = None) -> bool:
    """Tell whether a mapping holds the columns of one table, not frames by measure or files by name."""
    named = not {"run", "topic", *(columns or {}).values()}.isdisjoint(given)
    return named and all(map(_is_column, given.values()))


def _is_column(given: object) -> bool:
    """Tell whether this can be a column of a table: something with a length, and neither text, nor a table."""
    return hasattr(given, "__len__") and not isinstance(given, str | bytes | Path | Mapping | pd.DataFrame)


def _is_nameless(given: object) -> bool:
    return not isinstance(given, Mapping) and is_frame(given)


def _library(given: object) -> str:
    return type(given).__module__.partition(".")[0]


def _to_pandas(given: Any) -> pd.DataFrame:
    """Return any tabular object as a pandas frame; what it holds is not looked at."""
    library = _library(given)
    if library == "polars":
        given = given.collect() if hasattr(given, "collect") else given
        given = given.to_frame() if not hasattr(given, "to_dict") or not hasattr(given, "columns") else given
        # Through lists: needs no further package, keeps whole numbers whole, and missing ones None.
        return pd.DataFrame(
            {name: pd.Series(cells, dtype=object) for name, cells in given.to_dict(as_series=False).items()}
        )
    if library == "pyarrow":
        given = given.read_all() if hasattr(given, "read_all") else given
        table: pd.DataFrame = given.to_pandas(integer_object_nulls=True)
        return table
    if library == "xarray":
        array = given.to_array("measure") if hasattr(given, "data_vars") else given
        if array.ndim < 2:
            raise DataError(f"the array has the dimensions {', '.join(map(str, array.dims))}, not run and topic")
        given = array.to_series()
        given.name = "score"
    if isinstance(given, pd.Series):
        return given.to_frame(given.name if given.name is not None else "score")
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, Mapping) or (isinstance(given, list | tuple) and given and isinstance(given[0], Mapping)):
        try:
            return pd.DataFrame(given)
        except (ValueError, TypeError) as error:
            raise DataError(f"these are not the columns of one table: {error}") from None
    raise DataError(f"scores come as a frame, an array with names, or records, not as {type(given).__name__}")


def _flatten(frame: pd.DataFrame, columns: Mapping[str, str] | None) -> pd.DataFrame:
    """Return a frame whose columns have one level, and are called as the user says."""
    if frame.columns.nlevels > 1:
        stacked: Any = frame.stack(list(range(frame.columns.nlevels)), future_stack=True)
        frame = stacked.to_frame("score")
    named = {*COLUMNS, *(columns or {}).values()}
    levels = [name for name in frame.index.names if name in named]
    if frame.index.nlevels > 1 and len(levels) < frame.index.nlevels and set(levels) - {"topic"}:
        names = format_list(list(map(repr, frame.index.names)))
        raise DataError(f"the index has the levels {names}, of which not all are run, topic or measure")
    taken = [name for name in levels if name in frame.columns]
    if taken:
        raise DataError(f"there is a column and an index level {taken[0]!r}")
    if levels:
        frame = frame.reset_index(levels)
    if columns:
        frame = frame.set_axis(list(rename_columns(list(frame.columns), columns)), axis=1)
    return frame


def _check_wide(frame: Any, measure: object, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    if not isinstance(frame, pd.DataFrame) and _library(frame) not in ("polars", "pyarrow"):
        raise DataError(f"topics × runs is a frame, not {type(frame).__name__}", measure=measure)
    frame = _name_topics(frame, measure, columns)
    for what, labels in (("topic", frame.index), ("run", frame.columns)):
        if labels.hasnans:
            raise DataError(f"a {what} has no name", measure=measure)
    frame = frame.set_axis([str(label) for label in frame.index], axis=0)
    frame = frame.set_axis([str(label) for label in frame.columns], axis=1)
    for what, labels in (("topic", frame.index), ("run", frame.columns)):
        if labels.has_duplicates:
            raise DataError(f"the {what} {labels[labels.duplicated()][0]!r} occurs twice", measure=measure)
    return frame


def _name_topics(given: Any, measure: object, columns: Mapping[str, str] | None) -> pd.DataFrame:
    """Return a frame of topics × runs whose index names the topics, as a column may do."""
    known = (columns or {}).get("run")
    frame = _flatten(_to_pandas(given), None if known else columns)
    numbered = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
    if "topic" not in frame.columns and (not numbered or len(frame.columns) < 2):
        return frame
    names = [str(name) for name in frame.columns]
    stated = {"topic": "topic"} if "topic" in names else {"run": known} if known else None
    topic, runs = find_topics(names, lambda column: _numbers_rows(frame.iloc[:, column]), stated)
    scores = frame.iloc[:, runs]
    if all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in scores.dtypes):
        values = scores.to_numpy(dtype=np.float64)
        shown = [names[column] for column in runs]
        named = topic is not None and not is_index(names[topic])
        integers = np.array([kind.kind != "f" for kind in scores.dtypes])
        refuse_columns_without_scores(values, shown, integers, measure, labelled=named, known=known)
    return scores if topic is None else scores.set_axis(frame.iloc[:, topic], axis=0)


def _numbers_rows(column: pd.Series) -> bool:
    return is_numeric_dtype(column.dtype) and numbers_rows(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _stack_frames(frames: dict[Measure, pd.DataFrame], collection: str, missing: MissingPolicy) -> Scores:
    first = next(iter(frames.values()))
    layers = []
    for measure, frame in frames.items():
        for what, mine, theirs in (("topic", frame.index, first.index), ("run", frame.columns, first.columns)):
            odd = mine.symmetric_difference(theirs)
            if len(odd):
                raise DataError(f"the {what} {odd[0]!r} is not in every frame", measure=measure)
        aligned = frame.loc[first.index, first.columns]
        layers.append([_one_run(aligned, position, measure) for position in range(aligned.shape[1])])
    runs, topics = [str(run) for run in first.columns], [str(topic) for topic in first.index]
    values = np.moveaxis(np.array(layers, dtype=np.float64).reshape(len(frames), len(runs), len(topics)), 0, -1)
    values, runs, topics = mend_missing(values, runs, topics, list(frames), missing)
    return Scores(values, runs=runs, topics=topics, measures=list(frames), collection=collection)


def _one_run(frame: pd.DataFrame, position: int, measure: Measure) -> np.ndarray:
    def where(row: int) -> dict[str, Any]:
        location = {"run": frame.columns[position], "measure": measure}
        return {**location, "topic": frame.index[row]} if len(frame) else location

    # Gaps are for the policy, which sees them all at once.
    return read_score_column(frame.iloc[:, position], None, "worst", where)[0]
