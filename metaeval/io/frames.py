"""Frames of every kind as tables: pandas, polars, Arrow, xarray; tidy, wide, with several index levels, or records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from metaeval.data.columns import (
    COLLECTION,
    COLUMNS,
    MEASURE_NAMES,
    RUN_NAMES,
    TASK_NAMES,
    TOPIC_NAMES,
    format_columns,
    names_trait,
    plain_name,
)
from metaeval.data.scores import ATTRS
from metaeval.errors import DataError, format_list
from metaeval.files import describe_files, find_named_files, stem
from metaeval.io.layout import refuse_means
from metaeval.io.table import FRAME, Table
from metaeval.measures.base import Measure
from metaeval.measures.directions import turn
from metaeval.measures.resolve import measure_of_label


def table_of_frame(frame: Any, columns: Mapping[str, str] | None = None) -> Table:
    """Return a frame as a table: levels of its index are columns, and an index with names is that of the topics."""
    given = _flatten(_to_pandas(frame), columns)
    if given.index.hasnans:
        raise DataError("a topic has no name")
    if _names_rows(given):
        name = str(given.index.name or "").strip() or "topic"
        given.insert(0, name, pd.Series([str(label) for label in given.index], index=given.index, dtype=object))
    if given.columns.hasnans:
        raise DataError("a run has no name")
    header = tuple(str(name) for name in given.columns)
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"the column {twice!r} occurs twice")
    if not len(given):
        raise DataError("there are no rows in the frame")
    columns_of = tuple(given.iloc[:, j].reset_index(drop=True) for j in range(given.shape[1]))
    return Table("", header, columns_of, (), len(given))


def _names_rows(frame: pd.DataFrame) -> bool:
    """Say whether the index says what the rows are about: it has a name, or stands beside nothing but numbers."""
    if isinstance(frame.index, pd.RangeIndex) and frame.index.name is None:
        return False
    columns = tuple(frame.iloc[:, j] for j in range(frame.shape[1]))
    table = Table("", ("",) * len(columns), columns, (), len(frame))
    scores = all(map(table.holds_numbers, range(len(columns))))
    return (scores and not ROLE_NAMES & set(map(plain_name, frame.columns))) or (
        frame.index.name not in (None, *frame.columns) and not (scores and "topic" in frame.columns)
    )


ROLE_NAMES = RUN_NAMES | TOPIC_NAMES


def read_attributes(frame: Any) -> list[Measure]:
    """Return measures with the directions that the attributes of an xarray object, or of a part of it, state."""
    if find_library(frame) != "xarray":
        return []
    parts = [frame, *getattr(frame, "data_vars", {}).values()]
    pairs = [
        (name, ATTRS[attribute])
        for part in parts
        for attribute in ATTRS
        for name in np.atleast_1d(part.attrs.get(attribute, ()))
    ]
    return [turn(measure_of_label(str(name)), direction) for name, direction in dict(pairs).items()]


def is_table(given: object) -> bool:
    """Tell whether an object is a frame, or a mapping of columns of whatever names."""
    return isinstance(given, Mapping) or is_frame(given)


def name_sources(runs: Any, gold: Any) -> dict[str, Any]:
    """Return run files, or frames, by run name, as `metaeval.files.find_named_files` does for files."""
    if any(map(_is_column, runs.values())) if isinstance(runs, Mapping) else is_frame(runs):
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


def refuse_numbers(given: Mapping[Any, Any]) -> None:
    """Refuse a mapping of runs to single numbers."""
    if all(isinstance(part, int | float) for part in given.values()):
        refuse_means(Table("", ("run", "score"), (tuple(given), tuple(given.values())), (), len(given)))
    for name, part in given.items():
        if not is_frame(part):
            raise DataError(f"topics × runs is a frame, not {type(part).__name__}", measure=name)


def is_frame(given: object) -> bool:
    """Tell whether an object is a frame that `from_frame` takes, and no path, list of paths or mapping of paths."""
    if isinstance(given, Mapping) and find_library(given) != "xarray":
        return any(not isinstance(value, Mapping) and is_frame(value) for value in given.values()) or are_columns(given)
    if isinstance(given, list | tuple):
        return bool(given) and isinstance(given[0], Mapping)
    return isinstance(given, pd.DataFrame | pd.Series) or find_library(given) in ("polars", "pyarrow", "xarray")


def are_columns(given: Mapping[Any, Any], columns: Mapping[str, str] | None = None) -> bool:
    """Tell whether a mapping holds the columns of one table, not frames by measure or files by name."""
    named = not {"run", "topic", *(columns or {}).values()}.isdisjoint(given)
    return named and all(map(_is_column, given.values()))


def _is_column(given: object) -> bool:
    """Tell whether this can be a column of a table: something with a length, and neither text, nor a table."""
    return hasattr(given, "__len__") and not isinstance(given, str | bytes | Path | Mapping | pd.DataFrame)


def find_library(given: object) -> str:
    """Return the package of which an object is."""
    return type(given).__module__.partition(".")[0]


def _to_pandas(given: Any) -> pd.DataFrame:
    """Return any tabular object as a pandas frame; what it holds is not looked at."""
    library = find_library(given)
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


def _stack(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return a frame with a row per score for one whose columns have several levels, one of them that of the measures."""
    heads = [label for label in frame.columns if not any(map(str, label[1:]))]
    if 0 < len(heads) < frame.shape[1]:  # what `reset_index` has put beside the scores
        frame = frame.set_index(heads, append=not isinstance(frame.index, pd.RangeIndex))
        frame.index.names = [name[0] if isinstance(name, tuple) else name for name in frame.index.names]
    if frame.index.names == [None]:
        frame = frame.rename_axis(index="topic")
    levels: list[Any] = list(frame.columns.names)
    stated = [part for name in columns.values() for part in (name, *name.split("+"))]
    has_measure = any(
        name is not None and (name == columns.get("measure") or plain_name(name) in MEASURE_NAMES)
        for name in (*frame.index.names, *levels)
    )
    if levels.count(None) == 1 and not has_measure:  # as `pivot` has it, of several columns of values
        levels[levels.index(None)] = "measure"
        has_measure = True
    for level, name in enumerate(levels):
        if name is not None and (name in stated or plain_name(name) in ROLE_NAMES | MEASURE_NAMES):
            continue
        role = "run" if has_measure and "run" not in frame.index.names else "measure"
        role = COLLECTION if plain_name(name) in TASK_NAMES else "repeat" if names_trait(name) else role
        _ask_for_level(name, frame.columns.unique(level), {**columns, role: str(name)})
    names = [*frame.index.names, *levels]
    twice = [name for name in levels if names.count(name) > 1]
    if twice:
        raise DataError(
            f"two levels of the index and the columns are called {twice[0]!r}", hint="give each a name of its own"
        )
    frame = frame.set_axis(frame.columns.set_names(levels), axis=1)
    stacked: Any = frame.stack(list(range(len(levels))), future_stack=True)
    return pd.DataFrame(stacked.rename(columns.get("score", "score")).reset_index())


def _ask_for_level(name: Any, labels: Iterable[object], columns: Mapping[str, str]) -> NoReturn:
    """Refuse columns with a level that may be that of the measures, or of anything else."""
    shown = format_list(list(map(str, labels)))
    if name is None:
        problem = f"the columns have several levels, and that of {shown} has no name"
        raise DataError(problem, hint='name all of them: frame.columns.names = ["measure", "run", …]')
    problem = f"what the level {name!r} of the columns holds ({shown}) is not plain"
    raise DataError(problem, hint=f"say so: {format_columns(columns)}")


def _flatten(frame: pd.DataFrame, columns: Mapping[str, str] | None) -> pd.DataFrame:
    """Return a frame whose columns and index have one level."""
    if frame.columns.nlevels > 1:
        return _stack(frame, columns or {})
    named = {*COLUMNS, *(columns or {}).values()}
    levels: list[Any] = [name for name in frame.index.names if name in named]
    if frame.index.nlevels > 1 and len(levels) < frame.index.nlevels and set(levels) - {"topic"}:
        names = format_list(list(map(repr, frame.index.names)))
        raise DataError(f"the index has the levels {names}, of which not all are run, topic or measure")
    if frame.index.nlevels > 1 and not levels:
        levels = [name for name in frame.index.names if name is not None]
    taken = [name for name in levels if name in frame.columns]
    if taken:
        raise DataError(f"there is a column and an index level {taken[0]!r}")
    return frame.reset_index(levels) if levels else frame.copy(deep=False)
