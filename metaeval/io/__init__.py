"""Reading and writing files: score matrices, and gold with runs; one module per format."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from metaeval.data.cells import number
from metaeval.data.policies import InvalidPolicy, MissingPolicy, report_policy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.scores import Scores, is_untold, state_directions
from metaeval.errors import DataError, DirectionWarning, MetaevalError, format_list, format_option
from metaeval.files import PathLike, Sources, file_name, is_folder
from metaeval.io import (
    dialogue_quality,
    judgements,
    labels,
    probabilities,
    sakai,
    semeval,
    sentiment,
    tidy,
    trec_eval,
    votes,
    wide,
    wmt,
)
from metaeval.io.classification import Rounding
from metaeval.io.detect import score_format
from metaeval.io.frames import from_frame, is_frame
from metaeval.io.judges import read as read_annotations
from metaeval.io.leaderboard import LEADERBOARDS, Leaderboard
from metaeval.io.objects import from_ir_measures, from_pytrec_eval, from_ranx
from metaeval.measures.directions import Names

SCORE_FORMATS: Mapping[str, ModuleType | Leaderboard] = MappingProxyType(
    {"tidy": tidy, "wide": wide, "sakai": sakai, "trec_eval": trec_eval, "wmt": wmt, **LEADERBOARDS}
)
"""The formats of score matrices; each has `read` and `write`."""

RUN_FORMATS: Mapping[str, Callable[..., ClassificationRuns | QuantificationRuns]] = MappingProxyType(
    {
        "semeval-c": semeval.read_classification,
        "semeval-e": semeval.read_quantification,
        "dialogue-quality": dialogue_quality.read,
        "judgements": judgements.read,
        "labels": labels.read,
        "probabilities": probabilities.read,
        "votes": votes.read,
        "polarity": sentiment.read,
    }
)
"""The formats of gold and runs, each with the function that reads it."""

__all__ = [
    "RUN_FORMATS",
    "SCORE_FORMATS",
    "from_frame",
    "from_ir_measures",
    "from_pytrec_eval",
    "from_ranx",
    "read_annotations",
    "read_runs",
    "read_scores",
    "write_scores",
]


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
        If a direction is stated of a measure that is not there, or that has it already.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "web2013_ap.csv"
    >>> _ = path.write_text("sys1,sys2\n0.1,0.2\n")
    >>> read_scores(path)
    Scores: 2 runs × 1 topic × 1 measure, web2013
    """
    scores = _read(path, format, measure, collection, missing, columns)
    return state_directions([scores], higher_is_better, lower_is_better, missing)[0]


def _read(
    path: Sources | Any,
    format: str | None,
    measure: str | None,
    collection: str | None,
    missing: MissingPolicy,
    columns: Mapping[str, str] | None,
) -> Scores:
    if is_frame(path) or (isinstance(path, Mapping) and not all(isinstance(one, str | Path) for one in path.values())):
        if format not in (None, "tidy", "wide"):
            raise MetaevalError(f"a frame is not in the format {format}")
        return from_frame(path, measure=measure, collection=collection, missing=missing, columns=columns)
    name = score_format(path, columns) if format is None else _check_format(format, SCORE_FORMATS)
    if columns and name not in ("tidy", "wide"):
        raise MetaevalError(f"the format {name} has no columns that {format_option('columns')} could name")
    if name == "wide":
        return wide.read(path, measure=measure, collection=collection, missing=missing, columns=columns)
    if name == "trec_eval":
        wanted = None if measure is None else [measure]
        return trec_eval.read(path, measures=wanted, collection=collection, missing=missing)
    if name == "wmt":
        return wmt.read(path, measure=measure, collection=collection, missing=missing)
    if name in LEADERBOARDS:
        return LEADERBOARDS[name].read(path, measure=measure, collection=collection, missing=missing)
    if not isinstance(path, str | Path):
        raise DataError(f"the format {name} needs a single path", hint="several files can be wide or trec_eval")
    if name == "tidy":
        return tidy.read(path, measure=measure, collection=collection, missing=missing, columns=columns)
    folder, files = path, None if measure is None else {measure: measure}
    if not is_folder(path):  # a single file: the run names are in the file `runs` next to it
        folder, files = Path(path).parent, {file_name(path): measure or file_name(path)}
    return sakai.read(folder, measures=files, collection=collection, missing=missing)


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
        if not str(path).lower().endswith((*tidy.PARQUET, ".csv", ".tsv")):
            raise DataError(
                "the format cannot be detected from this name",
                file=path,
                hint="end it in .csv, .tsv or .parquet, or for a folder state its format: "
                f"{format_option('format', 'wide')}, sakai, trec_eval or wmt; for a leaderboard tot, ir_measures, "
                "ranking or jsonl",
            )
        format = "tidy"
    scores = _defuse_formulas(scores) if defuse_formulas else scores
    writer = SCORE_FORMATS[_check_format(format, SCORE_FORMATS)]
    for label in (*scores.runs, *scores.topics, *map(str, scores.measures), scores.collection):
        try:
            label.encode()
        except UnicodeEncodeError:
            raise DataError(f"the label {label!r} is not text that a file can hold", file=path) from None
    writer.write(scores, path)
    untold = [str(one) for one in scores.measures if is_untold(one)]
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
        one if defuse(str(one)) == str(one) else replace(one, name=defuse(one.name)) for one in scores.measures
    )
    pairs = zip((*scores.runs, *scores.topics, *scores.measures), (*runs, *topics, *measures), strict=True)
    changed = [str(now) for before, now in pairs if str(before) != str(now)]
    if changed:
        report_policy(f"names that begin like a formula got an apostrophe: {format_list(changed)}")
    return replace(scores, runs=runs, topics=topics, measures=measures)


def read_runs(
    gold: PathLike | Any,
    runs: Sources | Mapping[str, Any] | None = None,
    *,
    format: str,
    classes: Iterable[object] | None = None,
    columns: Mapping[str, str] | None = None,
    aspect: str | None = None,
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    rounding: Rounding | None = None,
    rescale: bool = False,
    collection: str | None = None,
    parts: int | None = None,
    seed: int = 0,
) -> ClassificationRuns | QuantificationRuns:
    r"""Read gold and runs in one of the `RUN_FORMATS`.

    Parameters
    ----------
    gold : path or frame
        The formats labels, probabilities and votes take frames, as `from_frame` does.
    runs : path, list of paths, mapping of run name to path or frame, or folder
        A run is named after its file, without suffix, unless a mapping gives its name. The format labels needs no
        runs if the gold has a column for every judge: item, gold, judge1, judge2, …; nor does votes.
    format : {"semeval-c", "semeval-e", "dialogue-quality", "judgements", "labels", "probabilities", "votes", "polarity"}
    classes : iterable of str, optional
        All classes in order; judgements, labels and votes need them.
    columns : mapping of str to str, optional
        What tables of labels, probabilities or votes call some of the columns: ``{"item": "sentence"}``.
    aspect : {"A", "E", "S"}, optional
        Which aspect of dialogue quality; that format needs it.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no answer.
    invalid : {"raise", "drop-topic", "drop-run", "clip", "worst"}, optional
        What to do with a label outside the classes.
    rounding : {"nearest", "down", "up"}, optional
        Which class a real number between two classes becomes: in judgements, labels and votes.
    rescale : bool, optional
        Divide every distribution by its sum. Without it, a sum further than 1e-6 from 1 is an error.
    collection : str, optional
        By default, the name of the gold file without suffix (and the aspect).
    parts : int, optional
        Divide the items at random into this many parts, which replace the topics: for a task without topics, in
        judgements, labels and polarity.
    seed : int, optional
        Seed of that split.

    Returns
    -------
    ClassificationRuns or QuantificationRuns

    Raises
    ------
    DataError
        If the data are wrong; the message says where.
    MetaevalError
        If there is no such format, an option that it needs is missing, or it does not use an option that was given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "gold.csv").write_text("topic,item,label\nt1,1,no\nt1,2,yes\n")
    >>> _ = (folder / "team.csv").write_text("topic,item,label\nt1,2,yes\nt1,1,yes\n")
    >>> read_runs(folder / "gold.csv", folder, format="labels", classes=["no", "yes"])
    ClassificationRuns: 1 run × 1 topic, 2 classes, gold
    """
    reader = RUN_FORMATS[_check_format(format, RUN_FORMATS)]
    # Readers state by their signatures which options they use; an option without effect would mislead the user.
    takes = inspect.signature(reader).parameters
    given: dict[str, Any] = {
        "classes": classes,
        "aspect": aspect,
        "columns": columns,
        "rounding": rounding,
        "parts": parts,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if invalid != "raise":
        given["invalid"] = invalid
    if rescale:
        given["rescale"] = rescale
    if seed != 0 and parts is None:
        raise MetaevalError(f"{format_option('seed')} is for {format_option('parts')}: nothing else is random here")
    for name in given:
        if name not in takes:
            raise MetaevalError(f"the format {format} has no use for {format_option(name)}")
    for name in ("classes", "aspect"):
        if name in takes and takes[name].default is inspect.Parameter.empty and name not in given:
            raise MetaevalError(f"the format {format} needs {format_option(name)}: {_EXAMPLES[name]}")
    if runs is None and takes["runs"].default is inspect.Parameter.empty:
        raise MetaevalError(f"the format {format} needs runs besides the gold")
    if is_frame(gold) and "columns" not in takes:
        raise MetaevalError(f"a frame is not in the format {format}: use labels, probabilities or votes")
    if parts is not None:
        given["seed"] = seed
    return reader(gold, runs, missing=missing, collection=collection, **given)


_EXAMPLES = {"classes": "all of them, in their order", "aspect": "A, E or S"}


def _check_format(format: str, formats: Mapping[str, object]) -> str:
    if format not in formats:
        raise MetaevalError(f"there is no format {format!r}: use {', '.join(formats)}")
    return format
