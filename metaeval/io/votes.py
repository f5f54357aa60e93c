"""Votes of several annotators, in CSV or TSV files with a header or in frames: their shares are the gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from metaeval.data.cells import is_missing
from metaeval.data.labels import unique_labels
from metaeval.data.policies import MissingPolicy
from metaeval.data.runs import QuantificationRuns
from metaeval.errors import DataError, format_list
from metaeval.files import Sources
from metaeval.io.classification import Labels, Rounding, round_labels
from metaeval.io.frames import describe_sources, name_collection, name_sources, open_table
from metaeval.io.probabilities import read_shares
from metaeval.io.quantification import Shares, quantification_runs
from metaeval.io.table import Table


def read(
    gold: Any,
    runs: Sources | Mapping[str, Any] | None = None,
    *,
    classes: Iterable[object],
    columns: Mapping[str, str] | None = None,
    rounding: Rounding | None = None,
    rescale: bool = False,
    missing: MissingPolicy = "raise",
    collection: str | None = None,
) -> QuantificationRuns:
    r"""Read votes: the gold distribution of a topic is the share of all its votes that each class has.

    Parameters
    ----------
    gold : path or frame
        One column per annotator, besides a column topic; or one row per vote, with columns topic, annotator and label.
        A column item tells several votes of one annotator on one topic apart. An empty cell, NA or NaN is no vote.
    runs : path, list of paths, mapping of run name to path or frame, or folder, optional
        Distributions, as `metaeval.io.probabilities` reads them. Without them every annotator is kept as a run, whose
        distribution is that of its own votes; the gold counts these too.
    classes : iterable of str
        All classes in order.
    columns : mapping of str to str, optional
        What the files call some of the columns: ``{"topic": "dialogue", "annotator": "worker"}``.
    rounding : {"nearest", "down", "up"}, optional
        Which class a real number between two classes becomes; by default it is an error.
    rescale : bool, optional
        Divide every distribution of the runs by its sum. Without it, a sum further than 1e-6 from 1 is an error.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no distribution for a topic, or an annotator no vote.
    collection : str, optional
        By default, the name of the gold file without suffix.

    Returns
    -------
    QuantificationRuns

    Raises
    ------
    DataError
        If a column is missing, a vote is not one of the classes or occurs twice, or a topic has no votes.

    Examples
    --------
    >>> votes = {"topic": ["t1", "t2"], "ann": [0, 1], "bo": [0, 0], "cy": [1, 0], "di": [1, 0]}
    >>> found = read(votes, classes=[0, 1])
    >>> found, found.gold.tolist()
    (QuantificationRuns: 4 runs × 2 topics, 2 classes, [[0.5, 0.5], [0.75, 0.25]])
    """
    names = unique_labels(classes, "class")
    votes = read_votes(open_table(gold, columns, names))
    if rounding is not None:
        votes = dict(zip(votes, round_labels(list(votes.values()), names, rounding), strict=True))
    topics, counts = _count_votes(votes, names)
    total = counts.sum(axis=0)
    file = next(iter(votes.values())).file
    files = {} if runs is None else name_sources(runs, gold)
    given = {run: read_shares(open_table(one, columns), names, run) for run, one in files.items()}
    if runs is None:
        for annotator, own in zip(votes, counts, strict=True):
            there = np.flatnonzero(own.sum(axis=-1))
            shares = own[there] / own[there].sum(axis=-1, keepdims=True)
            given[annotator] = Shares(file, [topics[t] for t in there], shares)
    return quantification_runs(
        Shares(file, topics, total / total.sum(axis=-1, keepdims=True)),
        given,
        names,
        rescale=rescale,
        missing=missing,
        collection=name_collection(gold, collection),
        provenance=describe_sources(gold, files),
    )


def read_votes(table: Table) -> dict[str, Labels]:
    """Return by annotator what was voted; rows without a vote stay, so that their topic is known.

    Parameters
    ----------
    table : Table
        One column per annotator besides topic, or columns topic, annotator and label; with or without a column item.

    Returns
    -------
    dict of str to Labels

    Raises
    ------
    DataError
        If a column, a topic or the name of an annotator is missing.
    """
    topics = table.column("topic")
    items = table.column("item") if "item" in table.header else ("",) * len(topics)
    for topic, line in zip(topics, table.lines, strict=True):
        if not topic.strip():
            raise DataError("the topic is missing", file=table.file, line=line)
    if "annotator" not in table.header:
        names = [name for name in table.header if name not in ("topic", "item")]
        if not names:
            raise DataError("there is no column of an annotator beside the topic", file=table.file, line=1)
        return {name: Labels(table.file, topics, items, table.column(name), table.lines) for name in names}
    annotators, labels = table.column("annotator"), table.column("label")
    rows: dict[str, list[int]] = {}
    for row, annotator in enumerate(annotators):
        if not annotator.strip():
            raise DataError("the annotator is missing", file=table.file, line=table.lines[row], topic=topics[row])
        rows.setdefault(annotator, []).append(row)
    found = {}
    for annotator, own in rows.items():
        own_topics, own_items, own_labels = ([column[row] for row in own] for column in (topics, items, labels))
        found[annotator] = Labels(table.file, own_topics, own_items, own_labels, [table.lines[row] for row in own])
    return found


def code_votes(
    votes: Mapping[str, Labels], classes: tuple[str, ...], *, repeated: bool = False
) -> Iterator[tuple[int, tuple[str, str], int]]:
    """Yield the number of the annotator, topic and item, and the number of the class of every vote.

    Parameters
    ----------
    votes : mapping of str to Labels
        By annotator.
    classes : tuple of str
    repeated : bool, optional
        Whether an annotator may vote more than once on an item.

    Yields
    ------
    (int, (str, str), int)

    Raises
    ------
    DataError
        If a vote is not one of the classes, or occurs twice.
    """
    code = {label: k for k, label in enumerate(classes)}
    for a, (annotator, given) in enumerate(votes.items()):
        seen: set[tuple[str, str]] = set()
        for row, key in enumerate(zip(given.topics, given.items, strict=True)):
            label = given.labels[row].strip()
            place: dict[str, Any] = {"file": given.file, "line": given.lines[row] or None, "topic": key[0]}
            if key in seen and not repeated:
                hint = "a column item tells the votes of an annotator on one topic apart"
                raise DataError(f"there is a second vote of {annotator}", **place, hint=hint)
            seen.add(key)
            if label in code:
                yield a, key, code[label]
            elif not is_missing(label):
                problem = f"the vote {label!r} of {annotator} is not one of the classes {format_list(classes, most=12)}"
                raise DataError(problem, **place)


def _count_votes(votes: Mapping[str, Labels], classes: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
    """Return the topics, and the number of votes, shape (annotator, topic, class)."""
    topics = list(dict.fromkeys(topic for one in votes.values() for topic in one.topics))
    position = {topic: t for t, topic in enumerate(topics)}
    counts = np.zeros((len(votes), len(topics), len(classes)), dtype=np.int64)
    for a, (topic, _), k in code_votes(votes, classes):
        counts[a, position[topic], k] += 1
    for t in np.flatnonzero(counts.sum(axis=(0, 2)) == 0)[:1]:
        raise DataError("there are no votes", file=next(iter(votes.values())).file, topic=topics[t])
    return topics, counts
