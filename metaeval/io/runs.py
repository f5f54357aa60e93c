"""Gold and runs read from files of every format; and the formats of plain lines: judgements, and SemEval Task 4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metaeval.data.labels import unique_labels
from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.data.rows import number
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.errors import DataError, MetaevalError, format_list, format_option
from metaeval.files import PathLike, Sources, describe_files, find_named_files, stem
from metaeval.io.answers import (
    LabelRuns,
    Labels,
    ShareRuns,
    Shares,
    classification_runs,
    quantification_runs,
    shares_from_text,
)
from metaeval.io.formats import RUN_FORMATS, choose_format
from metaeval.io.table import FRAME, is_column, is_frame, read_fields


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
    rescale: bool = False,
    collection: str | None = None,
    parts: int | None = None,
    seed: int = 0,
) -> ClassificationRuns | QuantificationRuns:
    r"""Read gold and runs in one of the `RUN_FORMATS`.

    Parameters
    ----------
    gold : path or frame
        The formats labels and probabilities take frames.
    runs : path, list of paths, mapping of run name to path or frame, or folder
        A run is named after its file unless a mapping names it. Labels need none if the gold has a column for every judge.
    format : {"semeval-c", "semeval-e", "dialogue-quality", "judgements", "labels", "probabilities"}
    classes : iterable of str, optional
        All classes in order; judgements and labels need them.
    columns : mapping of str to str, optional
        What tables of labels or probabilities call some of the columns: ``{"item": "sentence"}``.
    aspect : {"A", "E", "S"}, optional
        Which aspect of dialogue quality; that format needs it.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no answer.
    invalid : {"raise", "drop-topic", "drop-run", "clip", "worst"}, optional
        What to do with a label outside the classes.
    rescale : bool, optional
        Divide every distribution by its sum, which otherwise must be 1.
    collection : str, optional
        By default, the name of the gold file (and the aspect).
    parts, seed : int, optional
        Divide the items of judgements or labels at random, by this seed, into so many parts, which replace the topics.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "gold.csv").write_text("topic,item,label\nt1,1,no\nt1,2,yes\n")
    >>> _ = (folder / "team.csv").write_text("topic,item,label\nt1,2,yes\nt1,1,yes\n")
    >>> read_runs(folder / "gold.csv", folder, format="labels", classes=["no", "yes"])
    ClassificationRuns: 1 run × 1 topic, 2 classes, gold
    """
    chosen = choose_format(format, RUN_FORMATS)
    if is_table(gold) and not chosen.frames:
        frames = [format.name for format in RUN_FORMATS.values() if format.frames]
        raise MetaevalError(f"a frame is not in the format {format}: use {', '.join(frames)}")
    if missing == "keep":
        raise MetaevalError(f"{format_option('missing', 'keep')} is for scores; runs without an answer have none")
    if seed != 0 and parts is None:
        raise MetaevalError(f"{format_option('seed')} is for {format_option('parts')}: nothing else is random here")
    reading = {"classes": classes, "columns": columns, "aspect": aspect}
    reading = {name: value for name, value in reading.items() if value is not None}
    building = {"invalid": invalid != "raise", "rescale": rescale, "parts": parts is not None}
    chosen.check([*reading, *(name for name, stated in building.items() if stated)], runs)
    files = {} if runs is None else name_sources(runs, gold)
    truth, answers, names = chosen.load()(gold, files, **reading)
    if collection is None:
        collection = name_collection(gold, None) + (f"-{aspect}" if aspect else "")
    shared: dict[str, Any] = {"collection": collection, "provenance": describe_sources(gold, files), "missing": missing}
    if isinstance(truth, Labels):
        return classification_runs(truth, answers, names, invalid=invalid, parts=parts, seed=seed, **shared)
    return quantification_runs(truth, answers, names, rescale=rescale, **shared)


def is_table(given: object) -> bool:
    """Tell whether an object is a frame, or a mapping of columns of whatever names."""
    return isinstance(given, Mapping) or is_frame(given)


def name_sources(runs: Any, gold: Any) -> dict[str, Any]:
    """Return run files, or frames, by run name, as `metaeval.files.find_named_files` does for files."""
    if any(map(is_column, runs.values())) if isinstance(runs, Mapping) else is_frame(runs):
        raise DataError("the frame of a run has no name", hint='give it one: {"name": frame}')
    if isinstance(runs, Mapping) and any(is_table(source) for source in runs.values()):
        return {str(name): source for name, source in runs.items()}
    return dict(find_named_files(runs, gold=None if is_table(gold) else gold))


def describe_sources(gold: Any, runs: Mapping[str, Any]) -> str:
    """Return the names of files and frames as one short line, for provenance."""
    return describe_files([FRAME if is_table(source) else source for source in (gold, *runs.values())])


def name_collection(gold: Any, collection: str | None) -> str:
    """Return the name of a collection: what the user says, or the name of the gold file; a frame has none."""
    return collection if collection is not None else "" if is_table(gold) else stem(gold)


def judgements(gold: PathLike, runs: Mapping[str, PathLike], *, classes: Iterable[object]) -> LabelRuns:
    """Read TREC-style judgements, lines ``qid 0 docid label``: graded relevance as ordinal classification."""
    answers = {run: read_judgements(path) for run, path in runs.items()}
    return read_judgements(gold), answers, classes


def read_judgements(path: PathLike) -> Labels:
    """Return the labels in a file of judgements."""
    rows, lines = read_fields(path, separator=None, least=4, most=4, layout="qid 0 docid label")
    topics, _, items, labels = zip(*rows, strict=True)
    return Labels(str(path), topics, items, labels, lines)


SEMEVAL_CLASSES = ("-2", "-1", "0", "1", "2")


def semeval_c(
    gold: PathLike, runs: Mapping[str, PathLike], *, classes: Iterable[object] = SEMEVAL_CLASSES
) -> LabelRuns:
    """Read subtask C of SemEval Task 4, a label for each tweet of a topic: ``id<TAB>topic<TAB>label[<TAB>text]``."""
    true = read_semeval_labels(gold)
    given = {run: read_semeval_labels(path, run) for run, path in runs.items()}
    return true, {run: _match_line_numbers(labels, true, run) for run, labels in given.items()}, classes


def read_semeval_labels(path: PathLike, run: str | None = None) -> Labels:
    """Return the labels in a file of subtask C."""
    layout = "id<TAB>topic<TAB>label[<TAB>text]"
    rows, lines = read_fields(path, separator="\t", least=3, most=4, layout=layout, rest=True)
    items, topics, labels = ([row[column] for row in rows] for column in range(3))
    for row, line in zip(rows, lines, strict=True):
        if not row[0] or not row[1]:
            raise DataError(f"the {'topic' if row[0] else 'id'} is missing", file=path, line=line, run=run)
    return Labels(str(path), topics, items, labels, lines)


def _match_line_numbers(given: Labels, gold: Labels, run: str) -> Labels:
    """Replace line numbers, which some submissions have instead of ids, by the ids of the gold."""
    n_lines = len(given.items)
    if {*gold.keys} >= {*given.keys} or list(given.items) != [str(line) for line in range(1, n_lines + 1)]:
        return given  # of unknown ids the first one is reported with its line, when they are counted
    if n_lines != len(gold.items):
        problem = f"its ids are line numbers, but it has {n_lines:,} lines and the gold {len(gold.items):,}"
        raise DataError(problem, file=given.file, run=run)
    for row, (mine, theirs) in enumerate(zip(given.topics, gold.topics, strict=True)):
        if mine != theirs:
            problem = f"its ids are line numbers, but the topic of this line in the gold is {theirs!r}"
            raise DataError(problem, **given.locate(row, run))
    return replace(given, items=gold.items)


def semeval_e(
    gold: PathLike, runs: Mapping[str, PathLike], *, classes: Iterable[object] = SEMEVAL_CLASSES
) -> ShareRuns:
    """Read subtask E, a distribution for each topic: ``topic<TAB>p1…pK``; the gold may be the labels of subtask C."""
    names = unique_labels(classes, "class")
    first = read_fields(gold, separator="\t", least=1, most=1 << 20, layout="")[0][0]
    has_shares = len(first) == len(names) + 1 and not any(np.isnan([number(text) for text in first[1:]]))
    read_gold = _count_labels if len(first) in (3, 4) and not has_shares else _read_shares
    estimates = {run: _read_shares(path, names, run) for run, path in runs.items()}
    return read_gold(gold, names), estimates, names


def _read_shares(path: PathLike, classes: Sequence[str], run: str | None = None) -> Shares:
    width, layout = len(classes) + 1, f"topic<TAB>p1…p{len(classes)}"
    rows, lines = read_fields(path, separator="\t", least=width, most=width, layout=layout)
    topics, *columns = zip(*rows, strict=True)
    return shares_from_text(columns, classes, file=str(path), topics=topics, lines=lines, run=run)


def _count_labels(path: PathLike, classes: Sequence[str]) -> Shares:
    gold = read_semeval_labels(path)
    position = {topic: t for t, topic in enumerate(dict.fromkeys(gold.topics))}
    counts = np.zeros((len(position), len(classes)))
    for row, (topic, label) in enumerate(zip(gold.topics, gold.labels, strict=True)):
        if label not in classes:
            problem = f"the label {label!r} is not one of the classes {format_list(classes, most=12)}"
            raise DataError(problem, **gold.locate(row))
        counts[position[topic], classes.index(label)] += 1
    return Shares(str(path), list(position), counts / counts.sum(axis=1, keepdims=True))
