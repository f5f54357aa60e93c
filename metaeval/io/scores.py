"""Score matrices read from, and written to, files of every format."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from metaeval.data.cells import DoubledPolicy, number
from metaeval.data.labels import Choose, choose_measures
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import Scores, is_untold, only_collection, refuse_gaps, state_directions
from metaeval.errors import DataError, DirectionWarning, MetaevalError, format_list, format_option
from metaeval.files import PathLike, Sources
from metaeval.io import tidy, wide
from metaeval.io.detect import find_format
from metaeval.io.formats import READ_FORMATS, choose_format
from metaeval.io.frames import are_columns, find_library, is_frame, read_attributes, refuse_numbers, table_of_frame
from metaeval.io.layout import LAYOUTS, find_layout
from metaeval.io.rows import keep_wanted
from metaeval.io.tables import PARQUET, TABLES, open_once
from metaeval.measures.base import Measure
from metaeval.measures.directions import Names
from metaeval.measures.resolve import measure_of_label


def from_frame(
    frame: Any,
    *,
    measure: str | Measure | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    doubled: DoubledPolicy = "raise",
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
) -> Scores:
    """Convert a frame of any library and layout to scores.

    Parameters
    ----------
    frame : pandas, polars, Arrow or xarray object, list of records, or mapping
        Tidy: columns (or index levels, or dimensions) run, topic, measure, score. Without measure and score, every
        column besides run and topic is a measure. Wide: one column per run and one row per topic; the index, or a
        column ``topic``, names the topics. Levels of the columns have names like columns; a single one without a name, as
        after ``pivot``, holds the measures. A mapping holds columns by name, or wide frames by measure, which are
        aligned by the names of runs and topics. Directions that a column higher_is_better states, or the attributes
        of an xarray object (see `Scores.to_xarray`), are taken from there.
    measure : str or Measure, optional
        The measure that a frame holds, if the frame does not say it.
    collection : str, optional
        By default, the name of an xarray object.
    missing, columns, doubled, higher_is_better, lower_is_better
        As for `read_scores`.

    Raises
    ------
    DataError
        If the frame is none of these, a score occurs twice, is not a finite number or is missing.
    MetaevalError
        If a direction is stated of a measure that is not there.

    Examples
    --------
    >>> import pandas as pd
    >>> wide = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["t1", "t2"])
    >>> from_frame(wide, measure="nDCG@10")
    Scores: 2 runs × 2 topics × 1 measure
    >>> from_frame([{"system": "a", "topic": 1, "BLEU": 30.5}], columns={"run": "system"})
    Scores: 1 run × 1 topic × 1 measure
    """
    with open_once():
        found = _convert(frame, None, measure, columns, collection=collection, missing=missing, doubled=doubled)
    return state_directions([only_collection(found)], higher_is_better, lower_is_better, missing)[0]


def _convert(
    frame: Any,
    kind: str | None,
    measure: str | Measure | None,
    columns: Mapping[str, str] | None,
    *,
    collection: str | None,
    missing: MissingPolicy,
    doubled: DoubledPolicy,
    choose: Choose | None = None,
) -> list[Scores]:
    """Return the scores of every collection in a frame, or in frames by measure."""
    if isinstance(frame, Mapping) and find_library(frame) != "xarray" and not are_columns(frame, columns):
        if not frame:
            raise DataError("no frames were given")
        refuse_numbers(frame)
        if measure is not None:
            choose = partial(choose_measures, measure)
        _refuse_doubled(kind or "wide", doubled)
        layouts = {
            measure_of_label(name): find_layout(table_of_frame(part), columns, kind or "wide")
            for name, part in keep_wanted(frame, choose).items()
        }
        return [wide.arrange(layouts, missing=missing, collection=collection or "", columns=columns)]
    if collection is None and find_library(frame) == "xarray":
        name = getattr(frame, "name", None)
        collection = None if name in (None, "score") else str(name)
    layout = find_layout(table_of_frame(frame, columns), columns, kind)
    if layout.kind not in ("tidy", "measures"):
        if measure is None:
            raise DataError(
                f"the frame is taken for {layout.kind}, and its measure is not named",
                hint=f"name it: {format_option('measure', 'NAME')}; or say which columns are run, topic and score with "
                f"{format_option('columns')}",
            )
        _refuse_doubled(layout.kind, doubled)
        known = keep_wanted({measure_of_label(measure): layout}, choose)
        return [wide.arrange(known, missing=missing, collection=collection or "", columns=columns)]
    stated = [measure] if isinstance(measure, Measure) else read_attributes(frame)
    return tidy.arrange(
        layout, measure=measure, collection=collection, missing=missing, doubled=doubled, columns=columns,
        measures=stated, choose=choose,
    )  # fmt: skip


def _refuse_doubled(kind: str, doubled: DoubledPolicy) -> None:
    """Refuse a policy for doubled scores where a table has one cell for each, as for files."""
    if doubled != "raise":
        raise MetaevalError(f"the format {kind} has no use for {format_option('doubled')}")


def read_scores(
    path: Sources | Any,
    *,
    format: str | None = None,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    doubled: DoubledPolicy = "raise",
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
) -> Scores:
    r"""Read a score matrix in any of the `SCORE_FORMATS`.

    Parameters
    ----------
    path : path, list of paths, mapping of measure or run to path, or folder
        What a format accepts; see its module. ``"-"`` is standard input; a frame, an array with names or records are
        accepted as `from_frame` accepts them.
    format : str, optional
        One of the `SCORE_FORMATS`: tidy, measures, wide, transposed, sakai, trec_eval, wmt, tot, ir_measures, ….
        By default, it is detected from the suffix, the header, or the files in a folder.
    measure : str, optional
        The measure that a wide file holds, or the only measure to read from a file or folder with several.
    collection : str, optional
        By default, what a tidy file states in its column collection, else the name of the file or folder; for a wide
        file, the part of its name before the measure.
    missing : {"raise", "drop-topic", "drop-run", "worst", "keep"}, optional
        What to do if a run has no score for a topic and measure; in every format, NaN is no score. Gaps that are kept are
        for `metaeval.board_ranks`.
    columns : mapping of str to str, optional
        What a table calls columns whose names do not tell: ``{"run": "entry", "topic": "doc+line"}``; ``a+b`` joins
        two. Besides run, topic, measure and score there are collection, higher_is_better and time.
    doubled : {"raise", "mean", "latest"}, optional
        What to do if a run has several scores for a topic and measure: their mean, or the latest by a column of times.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of which higher scores, or lower ones, are better, whatever their names or the file tell;
        ``higher_is_better=True`` for all that are not named otherwise.

    Raises
    ------
    DataError
        If the format cannot be detected, or the data are wrong; the message says where.
    MetaevalError
        If a direction is stated of a measure that is not there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "web2013_ap.csv"
    >>> _ = path.write_text("sys1,sys2\n0.1,0.2\n")
    >>> read_scores(path)
    Scores: 2 runs × 1 topic × 1 measure, web2013
    """
    found = read_collections(
        path, format=format, measure=measure, collection=collection, missing=missing, columns=columns, doubled=doubled,
        higher_is_better=higher_is_better, lower_is_better=lower_is_better,
    )  # fmt: skip
    return only_collection(found, path if isinstance(path, str | Path) else None)


def read_collections(
    path: Sources | Any,
    *,
    format: str | None = None,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    doubled: DoubledPolicy = "raise",
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
    choose: Choose | None = None,
) -> list[Scores]:
    r"""Read the score matrices of every collection that a source holds: of several benchmarks in one table, or of tasks.

    Parameters
    ----------
    path, format, measure, missing, columns, doubled, higher_is_better, lower_is_better
        As for `read_scores`. The column ``collection``, or the one that `columns` calls so, names the collections; each
        has topics, runs and measures of its own.
    collection : str, optional
        The only one to read; a name that none of them has reads all as one, of this name.
    choose : function, optional
        Is given the names of a collection's measures and returns those to read; gaps of the others do not matter.

    Returns
    -------
    list of Scores
        One for each collection, in the order in which they appear.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "board.csv"
    >>> _ = path.write_text("model,benchmark,item,score\na,gsm,1,0.5\nb,gsm,1,1\na,arc,1,0\nb,arc,1,1\n")
    >>> [scores.collection for scores in read_collections(path, columns={"collection": "benchmark"})]
    ['gsm', 'arc']
    """
    with open_once():
        if is_frame(path) or (
            isinstance(path, Mapping) and not all(isinstance(file, str | Path) for file in path.values())
        ):
            if format not in (None, *LAYOUTS):
                raise MetaevalError(f"a frame is not in the format {format}")
            found = _convert(
                path, format, measure, columns, collection=collection, missing=missing, doubled=doubled, choose=choose
            )
        else:
            chosen = find_format(path, columns) if format is None else choose_format(format, READ_FORMATS)
            found = chosen.read_collections(
                path, measure=measure, collection=collection, missing=missing, columns=columns or None,
                doubled=None if doubled == "raise" else doubled, choose=choose,
            )  # fmt: skip
    return state_directions(found, higher_is_better, lower_is_better, missing)


def write_scores(scores: Scores, path: PathLike, *, format: str | None = None, defuse_formulas: bool = False) -> None:
    """Write a score matrix without loss of precision.

    Parameters
    ----------
    scores : Scores
    path : path
        Every file is written completely or not at all.
    format : str, optional
        One of the `SCORE_FORMATS`: tidy, measures, wide, transposed, sakai, trec_eval, wmt, tot, ir_measures, ….
        By default tidy, for the suffixes ``.csv``, ``.tsv``, ``.parquet`` and ``.pq``. For any other path the format
        must be stated: wide, sakai, trec_eval and wmt write a folder.
    defuse_formulas : bool, optional
        Put an apostrophe before names that a spreadsheet would run as a formula, such as ``=cmd()``: it is then part of
        the name. By default names are written as they are.

    Raises
    ------
    DataError
        If it cannot be written, or the format cannot hold a label.

    Warns
    -----
    DirectionWarning
        If a measure has a direction that neither its name nor the format tells.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pilot.parquet"
    >>> write_scores(Scores([[[0.1]]], runs=["a"], topics=["007"], measures=["AP"]), path)
    >>> read_scores(path)
    Scores: 1 run × 1 topic × 1 measure, pilot
    """
    if format is None:
        if not str(path).lower().endswith((*PARQUET, *TABLES)):
            others = ", ".join(name for name in READ_FORMATS if READ_FORMATS[name].written and name != "tidy")
            hint = f"end it in .csv, .tsv or .parquet, or state its format: {format_option('format', others)}"
            raise DataError("the format cannot be detected from this name", file=path, hint=hint)
        format = "tidy"
    refuse_gaps(scores)
    scores = _defuse_formulas(scores) if defuse_formulas else scores
    chosen = choose_format(format, READ_FORMATS)
    for label in (*scores.runs, *scores.topics, *map(str, scores.measures), scores.collection):
        try:
            label.encode()
        except UnicodeEncodeError:
            raise DataError(f"the label {label!r} is not text that a file can hold", file=path) from None
    chosen.write(scores, path)
    untold = [str(measure) for measure in scores.measures if is_untold(measure)]
    if untold and format != "tidy":
        warnings.warn(
            f"files of the format {format} hold no directions: state that of {format_list(untold)} when you read them",
            DirectionWarning,
            stacklevel=2,
        )


def _defuse_formulas(scores: Scores) -> Scores:
    """Return the scores with an apostrophe before all names that begin like a formula and are no number."""

    def defuse(label: str) -> str:
        return (
            f"'{label}" if label.startswith(("=", "+", "-", "@", "\t", "\r")) and math.isnan(number(label)) else label
        )

    runs, topics = tuple(map(defuse, scores.runs)), tuple(map(defuse, scores.topics))
    measures = tuple(
        measure if defuse(str(measure)) == str(measure) else replace(measure, name=defuse(measure.name))
        for measure in scores.measures
    )
    pairs = zip((*scores.runs, *scores.topics, *scores.measures), (*runs, *topics, *measures), strict=True)
    changed = [str(now) for before, now in pairs if str(before) != str(now)]
    if changed:
        report_policy(f"names that begin like a formula got an apostrophe: {format_list(changed)}")
    return replace(scores, runs=runs, topics=topics, measures=measures)
