"""Score matrices read from, and written to, files of every format."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from metaeval.data.cells import number
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import Scores, is_untold, state_directions
from metaeval.errors import DataError, DirectionWarning, MetaevalError, format_list, format_option
from metaeval.files import PathLike, Sources
from metaeval.io.detect import find_format
from metaeval.io.formats import SCORE_FORMATS, choose_format
from metaeval.io.frames import from_frame, is_frame
from metaeval.io.sample import PARQUET
from metaeval.measures.directions import Names


def read_scores(
    path: Sources | Any,
    *,
    format: str | None = None,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
) -> Scores:
    r"""Read a score matrix in any of the `SCORE_FORMATS`.

    Parameters
    ----------
    path : path, list of paths, mapping of measure or run to path, or folder
        What a format accepts; see its module. ``"-"`` is standard input; a frame, an array with names or records are
        accepted as `from_frame` accepts them.
    format : {"tidy", "wide", "sakai", "trec_eval", "wmt", "tot", "ir_measures", "ranking", "jsonl"}, optional
        By default, it is detected from the suffix, the header, or the files in a folder.
    measure : str, optional
        The measure that a wide file holds, or the only measure to read from a file or folder with several.
    collection : str, optional
        By default, what a tidy file states in its column collection, else the name of the file or folder; for a wide
        file, the part of its name before the measure.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure; in every format, NaN is no score.
    columns : mapping of str to str, optional
        What a tidy source calls some of its columns: ``{"run": "system", "topic": "segment", "score": "value"}``; or
        what a wide one calls its column of topics.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of which higher scores, or lower ones, are better, whatever their names or the file tell;
        ``higher_is_better=True`` for all that are not named otherwise.

    Returns
    -------
    Scores

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
    if is_frame(path) or (
        isinstance(path, Mapping) and not all(isinstance(file, str | Path) for file in path.values())
    ):
        if format not in (None, "tidy", "wide"):
            raise MetaevalError(f"a frame is not in the format {format}")
        scores = from_frame(path, measure=measure, collection=collection, missing=missing, columns=columns)
    else:
        chosen = find_format(path, columns) if format is None else choose_format(format, SCORE_FORMATS)
        scores = chosen.read(path, measure=measure, collection=collection, missing=missing, columns=columns or None)
    return state_directions([scores], higher_is_better, lower_is_better, missing)[0]


def write_scores(scores: Scores, path: PathLike, *, format: str | None = None, defuse_formulas: bool = False) -> None:
    """Write a score matrix without loss of precision.

    Parameters
    ----------
    scores : Scores
    path : path
        Every file is written completely or not at all.
    format : {"tidy", "wide", "sakai", "trec_eval", "wmt", "tot", "ir_measures", "ranking", "jsonl"}, optional
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
        if not str(path).lower().endswith((*PARQUET, ".csv", ".tsv")):
            others = ", ".join(name for name in SCORE_FORMATS if name != "tidy")
            hint = f"end it in .csv, .tsv or .parquet, or state its format: {format_option('format', others)}"
            raise DataError("the format cannot be detected from this name", file=path, hint=hint)
        format = "tidy"
    scores = _defuse_formulas(scores) if defuse_formulas else scores
    chosen = choose_format(format, SCORE_FORMATS)
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
