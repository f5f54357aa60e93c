"""Scores read from, and written to, files of every format; and of frames."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from metaeval.data.columns import CLUSTER, COLLECTION, COLUMNS, DIRECTION, format_columns
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.rows import DoubledPolicy
from metaeval.data.scores import (
    Scores,
    only_collection,
    read_collections as arrange_collections,
    refuse_gaps,
    state_directions,
)
from metaeval.errors import DataError, MetaevalError, format_list, format_option, refusing
from metaeval.files import PathLike, Sources, open_once, write_file
from metaeval.io import tables
from metaeval.io.detect import find_format
from metaeval.io.formats import READ_FORMATS, choose_format
from metaeval.io.layout import IGNORE, LAYOUTS
from metaeval.io.table import PARQUET, TABLES, is_path, write_table
from metaeval.measures.base import Measure
from metaeval.measures.directions import Names
from metaeval.measures.resolve import Choose, is_untold
from metaeval.show.frames import defuse_frame, defuse_label
from metaeval.stats.oddities import is_total


class Reading(TypedDict, total=False):
    """How scores are read, whatever they are read from.

    Parameters
    ----------
    format : str, optional
        One of the `SCORE_FORMATS` or `LOG_FORMATS`; by default, it is detected.
    measure : str or Measure, optional
        That of a source that does not say it, or the only one to read of several.
    collection : str, optional
        The only one to read of several, or a name for all as one; by default a column, or the name of the source, says it.
    missing : {"raise", "drop-topic", "drop-run", "keep"}, optional
        What to do if a run has no score for a topic and measure. Gaps that are kept are for `metaeval.board_ranks`.
    columns : mapping of str to str, optional
        What a table calls columns whose names do not tell: ``{"run": "entry", "topic": "doc+line"}``, which joins two.
    doubled : {"raise", "mean", "latest"}, optional
        What to do if a run has several scores for a topic and measure: their mean, or the latest by a column of times.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of which higher scores, or lower ones, are better; ``higher_is_better=True`` for all not named otherwise.
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
        ``"-"`` is standard input. Frames are of pandas or what Arrow can read; an index is columns, or topics of a wide one.
    **options
        See `Reading`.

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
    """
    return only_collection(read_collections(source, **options), source if isinstance(source, str | Path) else None)


from_frame = read_scores


def read_collections(
    source: Sources | Any, *, choose: Choose | None = None, **options: Unpack[Reading]
) -> list[Scores]:
    r"""Read the score matrices of every collection that a source holds: of several benchmarks in one table, or of tasks.

    It takes what `read_scores` takes; the column ``collection`` names them. `choose` is given the names of a collection's
    measures and returns those to read; gaps of the others do not matter.

    Examples
    --------
    >>> board = {"run": ["a", "b"], "topic": [1, 1], "score": [0.5, 1], "benchmark": ["gsm", "arc"]}
    >>> [scores.collection for scores in read_collections(board, columns={"collection": "benchmark"})]
    ['gsm', 'arc']
    """
    format, measure, columns = options.get("format"), options.get("measure"), options.get("columns")
    missing, collection = options.get("missing", "raise"), options.get("collection")
    own: dict[str, Any] = {"measure": measure, "collection": collection, "missing": missing, "choose": choose}
    own["doubled"] = options.get("doubled", "raise")
    with open_once():
        if not is_path(source):
            if format not in (None, *LAYOUTS):
                raise MetaevalError(f"a frame is not in the format {format}")
            rows = tables.rows(source, kind=format, columns=columns, measure=measure, collection=collection)
            found = arrange_collections(rows, **own)
        else:
            chosen = find_format(source, columns) if format is None else choose_format(format, READ_FORMATS)
            found = chosen.read_collections(source, columns=columns or None, **own)
    found = state_directions(found, options.get("higher_is_better", ()), options.get("lower_is_better", ()))
    if is_path(source) and not (columns and "run" in columns and chosen.name == "wide"):
        _name_columns(chosen.name, found[0], source if isinstance(source, str | Path) else None)
    for scores in found:
        n = len(scores.runs)
        ranked = (np.sort(scores.values, axis=0) == np.arange(1, n + 1).reshape(-1, 1, 1)).all(axis=(0, 1))
        for measure in compress(scores.measures, ranked & (min(scores.values.shape[:2]) > 2)):
            if measure.direction_is_assumed:
                say = format_option("lower_is_better", str(measure))
                report_policy(f"{measure} is 1 to {n} on every topic: if these are ranks and 1 is the best, say {say}")
    return found


def _name_columns(format: str, scores: Scores, file: object) -> None:
    """Name the columns of a file that are runs, topics, or measures of which nothing is known, by their place alone."""
    measures = tuple(map(str, scores.measures)) if any(one.direction_is_assumed for one in scores.measures) else ()
    known = {"wide": ("runs", scores.runs), "transposed": ("topics", scores.topics), "measures": ("measures", measures)}
    what, names = known.get(format, ("", ()))
    if names and (what == "runs" or max(len(names), len(scores.measures)) > 1):
        names = names if len(names) <= 40 else (*names[:20], "…", *names[-10:])
        shown, ignore = format_list(names, most=40), format_columns({IGNORE: "NAME"})
        sure = [one for one in scores.measures if what != "measures" and not one.direction_is_assumed]
        of = "".join(f", with scores of {one}, of which {one.direction} is better" for one in sure[:1])
        report_policy(f"columns are read as {what}: {shown}{of}; {ignore} leaves out what is none", file)


def write_scores(scores: Scores, path: PathLike, *, defuse_formulas: bool = False) -> None:
    """Write a score matrix as a tidy table, without loss of precision.

    Parameters
    ----------
    scores : Scores
    path : path
        A file with the suffix ``.csv``, ``.tsv``, ``.parquet`` or ``.pq``, which is written completely or not at all.
    defuse_formulas : bool, optional
        Put an apostrophe before names that a spreadsheet would run as a formula, such as ``=cmd()``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pilot.parquet"
    >>> write_scores(Scores([[[0.1]]], runs=["a"], topics=["007"], measures=["AP"]), path)
    >>> read_scores(path)
    Scores: 1 run × 1 topic × 1 measure, pilot
    """
    if not str(path).lower().endswith((*PARQUET, *TABLES)):
        hint = "end it in .csv, .tsv or .parquet"
        raise DataError("the format cannot be detected from this name", file=path, hint=hint)
    refuse_gaps(scores)
    totals = [topic for topic in scores.topics if is_total(topic)]
    if totals and len(totals) < len(scores.topics):
        problem = "a topic cannot have this name in a file: its scores would be read as means over the other topics"
        raise DataError(problem, file=path, topic=totals[0], hint="rename it")
    labels = {*scores.runs, *scores.topics, *map(str, scores.measures), scores.collection, *scores.clusters}
    for label in labels:
        with refusing(f"the label {label!r} is not text that a file can hold", path, UnicodeEncodeError):
            label.encode()
    frame = scores.to_frame()
    if any(map(is_untold, scores.measures)):  # otherwise the names tell all directions
        words = {True: "true", False: "false", None: ""}
        cells = len(scores.runs) * len(scores.topics)
        frame[DIRECTION] = [words[one.higher_is_better] for one in scores.measures] * cells
    if scores.collection:
        frame[COLLECTION] = scores.collection
    frame = frame[[*COLUMNS, *(name for name in (DIRECTION, COLLECTION, CLUSTER) if name in frame)]]
    if defuse_formulas and (changed := {*map(defuse_label, labels)} - labels):
        frame = defuse_frame(frame)
        report_policy(f"names that begin like a formula got an apostrophe: {format_list(sorted(changed))}")
    if str(path).lower().endswith(TABLES):
        write_table(path, list(map(str, frame)), zip(*(frame[name].tolist() for name in frame), strict=True))
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema({name: pa.float64() if name == "score" else pa.string() for name in frame})
    table = pa.Table.from_pandas(frame, schema, preserve_index=False).replace_schema_metadata()
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True)
    write_file(path, bytes(sink.getvalue()))
