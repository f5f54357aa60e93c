"""Votes of several annotators, in CSV or TSV files with a header or in frames: their shares are the gold.

One column per annotator, besides a column topic; or one row per vote, with columns topic, annotator and label. A column
item tells several votes of one annotator on one topic apart. Runs are distributions, as `metaeval.io.probabilities` reads
them; without any, every annotator is a run, and the gold counts its votes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from metaeval.data.columns import refuse_index_columns
from metaeval.data.labels import code_labels, unique_labels
from metaeval.data.rows import is_missing
from metaeval.errors import DataError, format_list
from metaeval.io.classification import Labels
from metaeval.io.probabilities import read_shares
from metaeval.io.quantification import ShareRuns, Shares
from metaeval.io.table import Table, open_table


def read(
    gold: Any,
    runs: Mapping[str, Any],
    *,
    classes: Iterable[object],
    columns: Mapping[str, str] | None = None,
) -> ShareRuns:
    """Read votes: the gold distribution of a topic is the share of all its votes that each class has.

    >>> votes = {"topic": ["t1", "t2"], "ann": [0, 1], "bo": [0, 0], "cy": [1, 0], "di": [1, 0]}
    >>> gold, annotators, _ = read(votes, {}, classes=[0, 1])
    >>> list(annotators), gold.values.tolist()
    (['ann', 'bo', 'cy', 'di'], [[0.5, 0.5], [0.75, 0.25]])
    """
    names = unique_labels(classes, "class")
    votes = read_votes(open_table(gold, columns, names))
    topics, counts = _count_votes(votes, names)
    total = counts.sum(axis=0)
    file = next(iter(votes.values())).file
    given = {run: read_shares(open_table(source, columns), names, run) for run, source in runs.items()}
    if not runs:
        for annotator, cast in zip(votes, counts, strict=True):
            voted = np.flatnonzero(cast.sum(axis=-1))
            shares = cast[voted] / cast[voted].sum(axis=-1, keepdims=True)
            given[annotator] = Shares(file, [topics[t] for t in voted], shares)
    return Shares(file, topics, total / total.sum(axis=-1, keepdims=True)), given, names


def read_votes(table: Table) -> dict[str, Labels]:
    """Return by annotator what was voted; rows without a vote stay, so that their topic is known."""
    topics = table.column("topic")
    items = table.column("item") if "item" in table.header else ("",) * len(topics)
    for topic, line in zip(topics, table.lines, strict=True):
        if not topic.strip():
            raise DataError("the topic is missing", file=table.file, line=line)
    if "annotator" not in table.header:
        names = [name for name in table.header if name not in ("topic", "item")]
        refuse_index_columns(names, table.file)
        if not names:
            raise DataError("there is no column of an annotator beside the topic", file=table.file, line=1)
        return {name: Labels(table.file, topics, items, table.column(name), table.lines) for name in names}
    annotators, votes = table.column("annotator"), Labels(table.file, topics, items, table.column("label"), table.lines)
    rows: dict[str, list[int]] = {}
    for row, annotator in enumerate(annotators):
        if not annotator.strip():
            raise DataError("the annotator is missing", file=table.file, line=table.lines[row], topic=topics[row])
        rows.setdefault(annotator, []).append(row)
    return {annotator: votes.take(positions) for annotator, positions in rows.items()}


def code_votes(
    votes: Mapping[str, Labels], classes: tuple[str, ...], *, repeated: bool = False
) -> Iterator[tuple[int, tuple[str, str], int]]:
    """Yield the number of the annotator, topic and item, and the number of the class of every vote."""
    for a, (annotator, given) in enumerate(votes.items()):
        seen: set[tuple[str, str]] = set()
        codes = code_labels([label.strip() for label in given.labels], classes).tolist()
        for row, key in enumerate(zip(given.topics, given.items, strict=True)):
            label = given.labels[row].strip()
            location: dict[str, Any] = {"file": given.file, "line": given.lines[row] or None, "topic": key[0]}
            if key in seen and not repeated:
                hint = "a column item tells the votes of an annotator on one topic apart"
                raise DataError(f"there is a second vote of {annotator}", **location, hint=hint)
            seen.add(key)
            if codes[row] >= 0:
                yield a, key, codes[row]
            elif not is_missing(label):
                problem = f"the vote {label!r} of {annotator} is not one of the classes {format_list(classes, most=12)}"
                raise DataError(problem, **location)


def _count_votes(votes: Mapping[str, Labels], classes: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
    """Return the topics, and the number of votes, shape (annotator, topic, class)."""
    topics = list(dict.fromkeys(topic for given in votes.values() for topic in given.topics))
    position = {topic: t for t, topic in enumerate(topics)}
    counts = np.zeros((len(votes), len(topics), len(classes)), dtype=np.int64)
    for a, (topic, _), k in code_votes(votes, classes):
        counts[a, position[topic], k] += 1
    for t in np.flatnonzero(counts.sum(axis=(0, 2)) == 0)[:1]:
        raise DataError("there are no votes", file=next(iter(votes.values())).file, topic=topics[t])
    return topics, counts
