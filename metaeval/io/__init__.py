"""Reading and writing: score matrices, and gold with runs, one module a format."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_option
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
    wide,
)
from metaeval.io.detect import score_format
from metaeval.io.frames import from_frame, is_frame
from metaeval.io.objects import from_ir_measures, from_pytrec_eval, from_ranx

SCORE_FORMATS: Mapping[str, ModuleType] = MappingProxyType(
    {"tidy": tidy, "wide": wide, "sakai": sakai, "trec_eval": trec_eval}
)
"""The formats of score matrices; each module has `read` and `write`."""

RUN_FORMATS: Mapping[str, Callable[..., ClassificationRuns | QuantificationRuns]] = MappingProxyType(
    {
        "semeval-c": semeval.read_classification,
        "semeval-e": semeval.read_quantification,
        "dialogue-quality": dialogue_quality.read,
        "judgements": judgements.read,
        "labels": labels.read,
        "probabilities": probabilities.read,
        "polarity": sentiment.read,
    }
)
"""The formats of gold and runs, and the function that reads each."""

__all__ = [
    "RUN_FORMATS",
    "SCORE_FORMATS",
    "from_frame",
    "from_ir_measures",
    "from_pytrec_eval",
    "from_ranx",
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
) -> Scores:
    r"""Read a score matrix, in whichever format it is.

    Parameters
    ----------
    path : path, or what the format takes: a list of paths, a mapping, a folder
        ``"-"`` is standard input; a frame, an array with names or records are taken as `from_frame` takes them.
    format : {"tidy", "wide", "sakai", "trec_eval"}, optional
        By default seen from the suffix, the header, or the files of a folder.
    measure : str, optional
        The measure of a wide file; of a file or folder with several measures, the one to take.
    collection : str, optional
        By default the name of the file or folder; what a wide file's name says.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do where a run has no score for a topic and measure; in every format NaN is no score.
    columns : mapping of str to str, optional
        What a tidy source calls some of its columns: ``{"run": "system", "topic": "segment", "score": "value"}``.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If the format cannot be told, or the data are wrong; the message says where.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "web2013_ap.csv"
    >>> _ = path.write_text("sys1,sys2\n0.1,0.2\n")
    >>> read_scores(path)
    Scores: 2 runs × 1 topic × 1 measure, web2013
    """
    if is_frame(path):
        if format not in (None, "tidy", "wide"):
            raise MetaevalError(f"a frame is not in the format {format}")
        return from_frame(path, measure=measure, collection=collection, missing=missing, columns=columns)
    chosen = score_format(path, columns) if format is None else _known(format, SCORE_FORMATS)
    if columns and chosen != "tidy":
        raise MetaevalError(f"the format {chosen} has no columns that {format_option('columns')} could name")
    if chosen == "wide":
        return wide.read(path, measure=measure, collection=collection, missing=missing)
    if chosen == "trec_eval":
        wanted = None if measure is None else [measure]
        return trec_eval.read(path, measures=wanted, collection=collection, missing=missing)
    if not isinstance(path, str | Path):
        raise DataError(f"the format {chosen} is read from one path", hint="several files can be wide or trec_eval")
    if chosen == "tidy":
        return tidy.read(path, measure=measure, collection=collection, missing=missing, columns=columns)
    folder, files = path, None if measure is None else {measure: measure}
    if not is_folder(path):  # one file of such a folder
        folder, files = Path(path).parent, {file_name(path): measure or file_name(path)}
    return sakai.read(folder, measures=files, collection=collection, missing=missing)


def write_scores(scores: Scores, path: PathLike, *, format: str | None = None) -> None:
    """Write a score matrix, every bit of it.

    Parameters
    ----------
    scores : Scores
    path : path
        Every file is there whole or not at all.
    format : {"tidy", "wide", "sakai", "trec_eval"}, optional
        By default tidy, for the suffixes ``.csv``, ``.tsv``, ``.parquet`` and ``.pq``; another path is a
        folder, of which the format must be said.

    Raises
    ------
    DataError
        If it cannot be written, or the format cannot hold a label.

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
                "the format cannot be told from this name",
                file=path,
                hint="end it in .csv, .tsv or .parquet, or for a folder state its format: "
                f"{format_option('format', 'wide')}, sakai or trec_eval",
            )
        format = "tidy"
    chosen = SCORE_FORMATS[_known(format, SCORE_FORMATS)]
    for label in (*scores.runs, *scores.topics, *map(str, scores.measures)):
        try:
            label.encode()
        except UnicodeEncodeError:
            raise DataError(f"the label {label!r} is no text that a file can hold", file=path) from None
    chosen.write(scores, path)


def read_runs(
    gold: PathLike,
    runs: Sources | None = None,
    *,
    format: str,
    classes: Iterable[object] | None = None,
    columns: Mapping[str, str] | None = None,
    aspect: str | None = None,
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    rescale: bool = False,
    collection: str | None = None,
) -> ClassificationRuns | QuantificationRuns:
    r"""Read gold and runs, in one of the `RUN_FORMATS`.

    Parameters
    ----------
    gold : path
    runs : path, list of paths, mapping of run name to path, or folder
        A run is named after its file, without suffix, unless a mapping names it. The format labels needs none
        where the gold file has a column for every judge: item, gold, judge1, judge2, …
    format : {"semeval-c", "semeval-e", "dialogue-quality", "judgements", "labels", "probabilities"}
    classes : iterable of str, optional
        All classes in their order; judgements and labels need them.
    columns : mapping of str to str, optional
        What files of labels call some of the columns: ``{"item": "sentence"}``.
    aspect : {"A", "E", "S"}, optional
        Which aspect of dialogue quality; that format needs it.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do where a run has no answer.
    invalid : {"raise", "drop-topic", "drop-run", "clip", "worst"}, optional
        What to do with a label outside the classes.
    rescale : bool, optional
        Divide every distribution by its sum; without it a sum further than 1e-6 from 1 is an error.
    collection : str, optional
        By default the name of the gold file without suffix (and the aspect).

    Returns
    -------
    ClassificationRuns or QuantificationRuns

    Raises
    ------
    DataError
        If the data are wrong; the message says where.
    MetaevalError
        If the format is not known, lacks an option it needs, or has no use for one that was given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "gold.csv").write_text("topic,item,label\nt1,1,no\nt1,2,yes\n")
    >>> _ = (folder / "team.csv").write_text("topic,item,label\nt1,2,yes\nt1,1,yes\n")
    >>> read_runs(folder / "gold.csv", folder, format="labels", classes=["no", "yes"])
    ClassificationRuns: 1 run × 1 topic, 2 classes, gold
    """
    reader = RUN_FORMATS[_known(format, RUN_FORMATS)]
    takes = inspect.signature(reader).parameters
    given: dict[str, Any] = {"classes": classes, "aspect": aspect, "columns": columns}
    given = {name: value for name, value in given.items() if value is not None}
    if invalid != "raise":
        given["invalid"] = invalid
    if rescale:
        given["rescale"] = rescale
    for name in given:
        if name not in takes:
            raise MetaevalError(f"the format {format} has no use for {format_option(name)}")
    for name in ("classes", "aspect"):
        if name in takes and takes[name].default is inspect.Parameter.empty and name not in given:
            raise MetaevalError(f"the format {format} needs {format_option(name)}: {_EXAMPLES[name]}")
    if runs is None and takes["runs"].default is inspect.Parameter.empty:
        raise MetaevalError(f"the format {format} needs runs besides the gold")
    return reader(gold, runs, missing=missing, collection=collection, **given)


_EXAMPLES = {"classes": "all of them, in their order", "aspect": "A, E or S"}


def _known(format: str, formats: Mapping[str, object]) -> str:
    if format not in formats:
        raise MetaevalError(f"there is no format {format!r}: use {', '.join(formats)}")
    return format
