"""Scores read from, and written to, files of every format, frames, and results of ir_measures, pytrec_eval and ranx."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import pandas as pd

from metaeval.data.columns import COLUMNS
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.rows import DoubledPolicy, number
from metaeval.data.scores import (
    Scores,
    is_untold,
    only_collection,
    read_collections as arrange_collections,
    refuse_gaps,
    state_directions,
)
from metaeval.errors import DataError, DirectionWarning, MetaevalError, format_list, format_option
from metaeval.files import PathLike, Sources, open_once
from metaeval.io import tables
from metaeval.io.detect import find_format
from metaeval.io.formats import READ_FORMATS, choose_format
from metaeval.io.layout import LAYOUTS
from metaeval.io.table import PARQUET, TABLES, is_path
from metaeval.measures.base import Measure
from metaeval.measures.directions import Names


class Reading(TypedDict, total=False):
    """How scores are read, whatever they are read from.

    Parameters
    ----------
    format : str, optional
        One of the `SCORE_FORMATS`: tidy, measures, wide, transposed, sakai, trec_eval, wmt, tot, ir_measures, ….
        By default, it is detected from the suffix, the header, or the files in a folder.
    measure : str or Measure, optional
        The measure of a file or frame that does not say it, or the only measure to read of several.
    collection : str, optional
        By default, what a tidy file states in its column collection, else the name of the file, folder or xarray object;
        for a wide file, the part of its name before the measure. Of several it is the only one to read; a name that none of
        them has reads all as one, of this name.
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
    """

    format: str | None
    measure: str | Measure | None
    collection: str | None
    missing: MissingPolicy
    columns: Mapping[str, str] | None
    doubled: DoubledPolicy
    higher_is_better: Names | bool
    lower_is_better: Names


def read_scores(source: Sources | Any, **options: Unpack[Reading]) -> Scores:
    r"""Read a score matrix in any of the `SCORE_FORMATS`, or convert a frame.

    Parameters
    ----------
    source : path, list of paths, mapping of measure or run to path, folder, frame, records, or mapping of measure to frame
        What a format accepts; see its module. ``"-"`` is standard input. Frames are those of pandas and xarray, and all that
        Arrow can read, tidy or wide: columns, index levels or dimensions are named as the columns of a file; the index of a
        wide one names the topics. Frames by measure are aligned by the names of runs and topics.
    **options
        See `Reading`.

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
    >>> import tempfile, pathlib, pandas as pd
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "web2013_ap.csv"
    >>> _ = path.write_text("sys1,sys2\n0.1,0.2\n")
    >>> read_scores(path)
    Scores: 2 runs × 1 topic × 1 measure, web2013
    >>> wide = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["t1", "t2"])
    >>> read_scores(wide, measure="nDCG@10")
    Scores: 2 runs × 2 topics × 1 measure
    >>> read_scores([{"system": "a", "topic": 1, "BLEU": 30.5}], columns={"run": "system"})
    Scores: 1 run × 1 topic × 1 measure
    """
    return only_collection(read_collections(source, **options), source if isinstance(source, str | Path) else None)


from_frame = read_scores


def read_collections(
    source: Sources | Any, *, choose: Choose | None = None, **options: Unpack[Reading]
) -> list[Scores]:
    r"""Read the score matrices of every collection that a source holds: of several benchmarks in one table, or of tasks.

    It takes what `read_scores` takes. The column ``collection``, or the one that `columns` calls so, names the collections,
    which are returned in the order in which they appear; each has topics, runs and measures of its own. `choose` is given the
    names of a collection's measures and returns those to read; gaps of the others do not matter.

    Examples
    --------
    >>> board = {"run": ["a", "b"], "topic": [1, 1], "score": [0.5, 1], "benchmark": ["gsm", "arc"]}
    >>> [scores.collection for scores in read_collections(board, columns={"collection": "benchmark"})]
    ['gsm', 'arc']
    """
    format, measure, columns = options.get("format"), options.get("measure"), options.get("columns")
    missing = options.get("missing", "raise")
    own: dict[str, Any] = {
        "collection": options.get("collection"),
        "missing": missing,
        "doubled": options.get("doubled", "raise"),
        "choose": choose,
    }
    with open_once():
        if not is_path(source):
            if format not in (None, *LAYOUTS):
                raise MetaevalError(f"a frame is not in the format {format}")
            found = tables.rows(source, kind=format, columns=columns, measure=measure, collection=own["collection"])
            found = arrange_collections(found.rows, measure=measure, name=found.name, measures=found.measures, **own)
        else:
            chosen = find_format(source, columns) if format is None else choose_format(format, READ_FORMATS)
            found = chosen.read_collections(source, measure=measure, columns=columns or None, **own)
    return state_directions(found, options.get("higher_is_better", ()), options.get("lower_is_better", ()), missing)


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


def from_ir_measures(
    results: Mapping[str, Iterable[Any]], *, collection: str = "", missing: MissingPolicy = "raise"
) -> Scores:
    """Convert the results of ``ir_measures.iter_calc`` for several runs to scores.

    Parameters
    ----------
    results : mapping of run to iterable of Metric
        A Metric has `query_id`, `measure` and `value`.
    collection : str, optional
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure.

    Raises
    ------
    DataError
        If something else is given, or a score occurs twice, is missing or is not a finite number.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Metric = namedtuple("Metric", "query_id measure value")
    >>> from_ir_measures({"bm25": [Metric("q1", "nDCG@10", 0.5), Metric("q2", "nDCG@10", 0.25)]})
    Scores: 1 run × 2 topics × 1 measure
    """

    def cells() -> Iterator[tuple[Any, ...]]:
        for run, metrics in _check_mapping(results, "results").items():
            if isinstance(metrics, Mapping):
                raise DataError(
                    "these are means over topics", run=run, hint="give what ir_measures.iter_calc returns for the run"
                )
            for metric in metrics:
                try:
                    yield run, metric.query_id, str(metric.measure), metric.value
                except AttributeError:
                    raise DataError(f"{metric!r} is not a Metric(query_id, measure, value)", run=run) from None

    return _assemble(cells(), collection, missing)


def from_pytrec_eval(
    results: Mapping[str, Mapping[str, Mapping[str, float]]], *, collection: str = "", missing: MissingPolicy = "raise"
) -> Scores:
    """Convert the results of ``RelevanceEvaluator.evaluate`` of pytrec_eval for several runs to scores.

    Parameters
    ----------
    results : mapping of run to mapping of topic to mapping of measure to score
    collection, missing
        As for `from_ir_measures`, as is what is raised.

    Examples
    --------
    >>> from_pytrec_eval({"bm25": {"q1": {"map": 0.5}, "q2": {"map": 0.25}}})
    Scores: 1 run × 2 topics × 1 measure
    """

    def cells() -> Iterator[tuple[Any, ...]]:
        for run, topics in _check_mapping(results, "results").items():
            for topic, scores in _check_mapping(topics, "topics", run=run).items():
                for measure, score in _check_mapping(scores, "scores", run=run, topic=topic).items():
                    yield run, topic, measure, score

    return _assemble(cells(), collection, missing)


def from_ranx(runs: Any, *, collection: str = "", missing: MissingPolicy = "raise") -> Scores:
    """Convert ranx runs that ``ranx.evaluate`` or ``ranx.compare`` has scored to scores.

    Parameters
    ----------
    runs : ranx.Run, iterable of ranx.Run, or mapping of run name to ranx.Run
        After ``evaluate(qrels, run, measures)`` (with its default ``save_results_in_run=True``) or ``compare(qrels,
        runs, measures)``, the attribute ``scores`` of a run holds the score of every topic, by measure. A ``Report``
        holds only means and is refused.
    collection, missing
        As for `from_ir_measures`.

    Raises
    ------
    DataError
        As `from_ir_measures`; if a run has no name or no scores, or two have the same name.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> run = SimpleNamespace(name="bm25", scores={"mrr": {"q1": 1.0, "q2": 0.5}})
    >>> from_ranx([run])
    Scores: 1 run × 2 topics × 1 measure
    """
    if hasattr(runs, "model_names"):
        raise DataError(
            "a ranx Report holds means only",
            hint="give the list of runs that was compared: they hold every topic's scores",
        )
    if isinstance(runs, Mapping):
        pairs = list(runs.items())
    else:
        listed = [runs] if hasattr(runs, "scores") else list(runs)
        pairs = [(getattr(run, "name", None), run) for run in listed]
    seen: set[object] = set()
    for position, (name, _) in enumerate(pairs):
        if name is None:
            raise DataError(f"run number {position + 1} has no name", hint="give a mapping of run names to runs")
        if name in seen:
            raise DataError("two runs have this name", run=name, hint="give a mapping of run names to runs")
        seen.add(name)

    def cells() -> Iterator[tuple[Any, ...]]:
        for name, run in pairs:
            measures = getattr(run, "scores", None)
            if not isinstance(measures, Mapping) or not measures:
                raise DataError(
                    "it has no scores per topic", run=name, hint="first ranx.evaluate(qrels, run, measures)"
                )
            for measure, topics in measures.items():
                for topic, score in _check_mapping(topics, "topics", run=name, measure=measure).items():
                    yield name, topic, measure, score

    return _assemble(cells(), collection, missing)


def _assemble(cells: Iterable[tuple[Any, ...]], collection: str, missing: MissingPolicy) -> Scores:
    rows = [(str(run), str(topic), str(measure), score) for run, topic, measure, score in cells]
    if not rows:
        raise DataError("there are no scores in it")
    columns = zip(COLUMNS, zip(*rows, strict=True), strict=True)
    frame = pd.DataFrame({name: np.array(cells, dtype=object) for name, cells in columns})
    return Scores.from_frame(frame, collection=collection, missing=missing)


def _check_mapping(given: Any, what: str, **where: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise DataError(f"the {what} are a {type(given).__name__}, not a mapping", **where)
    return given
