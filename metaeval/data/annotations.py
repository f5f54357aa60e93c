"""Labels that several people and several judges gave to the same items."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from metaeval.data.labels import assign_parts, unique_labels
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.errors import DataError, MetaevalError, format_count, format_option

GoldRule = Literal["majority", "median"]
"""How the labels of several people become the gold class of an item."""

NONE = -1
"""Stands where a person gave no label."""


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """Labels of people and of judges on the same items.

    Parameters
    ----------
    labels : array_like of int, shape (annotator, item)
        Class that a person gave an item, from 0; −1 where there is none.
    answers : array_like of int, shape (judge, item, class)
        How often a judge answered each class: a judge may be asked repeatedly, and answers every item.
    annotators, judges, items, classes : iterable of str
        Unique labels; all K classes in order.
    topics : iterable of str, optional
        The topic of every item; by default every item is one by itself.
    collection, provenance : str, optional
        Name of the collection, and where the data come from.

    Raises
    ------
    DataError
        If a shape does not fit its labels, a label is no class, nobody labelled an item, or a judge did not answer.

    Examples
    --------
    >>> Annotations([[0, 1], [1, -1]], [[[1, 0], [0, 1]]], annotators=["a", "b"], judges=["j"], items=[1, 2], classes=[0, 1])
    Annotations: 2 annotators and 1 judge × 2 items, 2 classes
    """

    labels: np.ndarray
    answers: np.ndarray
    annotators: tuple[str, ...]
    judges: tuple[str, ...]
    items: tuple[str, ...]
    classes: tuple[str, ...]
    topics: tuple[str, ...]
    collection: str = ""
    provenance: str = ""

    def __init__(
        self,
        labels: Any,
        answers: Any,
        *,
        annotators: Iterable[object],
        judges: Iterable[object],
        items: Iterable[object],
        classes: Iterable[object],
        topics: Iterable[object] | None = None,
        collection: str = "",
        provenance: str = "",
    ) -> None:
        named = {
            "annotators": unique_labels(annotators, "annotator"),
            "judges": unique_labels(judges, "judge"),
            "items": unique_labels(items, "item"),
            "classes": unique_labels(classes, "class"),
        }
        for what, names in named.items():
            if len(names) < (2 if what == "classes" else 1):
                raise DataError(f"there are {len(names) or 'no'} {what}{'; at least two are needed' if names else ''}")
        grouped = named["items"] if topics is None else tuple(map(str, topics))
        given, counts = np.array(labels), np.array(answers)
        n_items, n_classes = len(named["items"]), len(named["classes"])
        shapes = (len(named["annotators"]), n_items), (len(named["judges"]), n_items, n_classes)
        if (given.shape, counts.shape, len(grouped)) != (*shapes, n_items):
            raise DataError(
                f"labels and answers have shapes {given.shape} and {counts.shape}, not {shapes[0]} and {shapes[1]}"
            )
        if given.dtype.kind not in "iu" or counts.dtype.kind not in "iu" or (counts < 0).any():
            raise DataError("labels are positions of classes, and answers are counts: whole numbers")
        if ((given < NONE) | (given >= n_classes)).any():
            raise DataError(f"a label is the position of a class, from 0 to {n_classes - 1}, or {NONE} for none")
        for i in np.flatnonzero((given == NONE).all(axis=0))[:1]:
            raise DataError("nobody labelled it", item=named["items"][i])
        for j, i in np.argwhere(counts.sum(axis=-1) == 0)[:1]:
            raise DataError("there is no answer", run=named["judges"][j], item=named["items"][i])
        arrays = {"labels": given.astype(np.int64), "answers": counts.astype(np.int64)}
        for array in arrays.values():
            array.flags.writeable = False
        described = {"topics": grouped, "collection": str(collection), "provenance": str(provenance)}
        for name, value in {**arrays, **named, **described}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        named = f", {self.collection}" if self.collection else ""
        return f"Annotations: {_describe_size(self)}, {len(self.classes)} classes{named}"

    @property
    def votes(self) -> np.ndarray:
        """Number of people that gave an item each class, shape (item, class)."""
        return (self.labels[..., np.newaxis] == np.arange(len(self.classes))).sum(axis=0)

    @property
    def sha256(self) -> str:
        """Checksum of labels, answers and their names, in hexadecimal."""
        digest = hashlib.sha256()
        for names in (self.annotators, self.judges, self.items, self.classes, self.topics):
            digest.update("".join(f"{len(name)}:{name}" for name in (str(len(names)), *names)).encode())
        for array in (self.labels, self.answers):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return digest.hexdigest()

    def to_quantification(self) -> QuantificationRuns:
        """Convert to class distributions: gold is the share of people, a run the share of a judge's answers.

        Returns
        -------
        QuantificationRuns
            The topics are the items.

        Examples
        --------
        >>> given = Annotations([[0], [1]], [[[3, 1]]], annotators=["a", "b"], judges=["j"], items=["i"], classes=[0, 1])
        >>> runs = given.to_quantification()
        >>> runs.gold.tolist(), runs.estimated.tolist()
        ([[0.5, 0.5]], [[[0.75, 0.25]]])
        """
        votes = self.votes
        return QuantificationRuns(
            self.answers / self.answers.sum(axis=-1, keepdims=True),
            votes / votes.sum(axis=-1, keepdims=True),
            runs=self.judges,
            topics=self.items,
            classes=self.classes,
            collection=self.collection,
            provenance=self.provenance,
        )

    def to_classification(
        self, gold: GoldRule = "majority", *, parts: int | None = None, seed: int = 0
    ) -> ClassificationRuns:
        """Convert to confusion counts, with one gold class for each item.

        Parameters
        ----------
        gold : {"majority", "median"}, optional
            The class that most people gave (see `choose_class`), or the lower median of theirs. Of several answers of
            a judge the most frequent one counts in either case.
        parts : int, optional
            Divide the items at random into this many parts, which replace the topics; 1 pools them all.
        seed : int, optional
            Seed of that split.

        Raises
        ------
        MetaevalError
            If every topic is a single item, and `parts` is not given: with one item a measure only says whether it is
            right.
        """
        if gold not in get_args(GoldRule):
            raise MetaevalError(f"there is no {format_option('gold', gold)}: use {' or '.join(get_args(GoldRule))}")
        if parts is None and len(set(self.topics)) == len(self.items) > 1:
            raise MetaevalError(
                "every item is a topic of its own, on which all measures of classes only say whether it is right: pool the "
                f"items with {format_option('parts', '1')}, or divide them at random: {format_option('parts', '20')}"
            )
        truth = choose_class(self.votes) if gold == "majority" else find_median(self.votes)
        topics = self.topics
        if parts is not None:
            keys = list(zip(self.topics, self.items, strict=True))
            assigned = assign_parts(keys, parts, seed=seed, collection=self.collection)
            topics = tuple(assigned[key] for key in keys)
        names = list(dict.fromkeys(topics))
        position = {name: t for t, name in enumerate(names)}
        topic = np.array([position[name] for name in topics])
        k = len(self.classes)
        counts = np.zeros((len(self.judges), len(names), k, k), dtype=np.int64)
        judge = np.arange(len(self.judges))[:, np.newaxis]
        np.add.at(counts, (judge, topic, truth, choose_class(self.answers)), 1)
        return ClassificationRuns(
            counts,
            runs=self.judges,
            topics=names,
            classes=self.classes,
            collection=self.collection,
            provenance=self.provenance,
        )


def describe_annotations(annotations: Annotations) -> str:
    """Return what a signature says of annotations: their collection, the first digits of the checksum, and their size."""
    n_topics = len(set(annotations.topics))
    grouped = f" in {format_count(n_topics, 'topic')}" if n_topics < len(annotations.items) else ""
    name = annotations.collection or "annotations"
    return f"{name}@{annotations.sha256[:12]} {_describe_size(annotations)}{grouped}"


def _describe_size(annotations: Annotations) -> str:
    people = format_count(len(annotations.annotators), "annotator")
    judges = format_count(len(annotations.judges), "judge")
    return f"{people} and {judges} × {format_count(len(annotations.items), 'item')}"


def remark_few_labels(annotations: Annotations) -> list[str]:
    """Return what a reader has to know where people cannot be compared with each other, or against one other only."""
    remarks = []
    single = int(((annotations.labels >= 0).sum(axis=0) == 1).sum())
    if single:
        remarks.append(f"{format_count(single, 'item')} with the label of one person only: left out")
    if len(annotations.annotators) == 2:
        remarks.append("with two annotators each is compared with the other alone: three or more are advised")
    return remarks


def find_median(counts: np.ndarray) -> np.ndarray:
    """Return the lower median of labels that are counted by class.

    >>> find_median(np.array([[1, 0, 2], [1, 1, 0]])).tolist()
    [2, 0]
    """
    return np.asarray((2 * counts.cumsum(axis=-1) >= counts.sum(axis=-1, keepdims=True)).argmax(axis=-1))


def choose_class(counts: np.ndarray) -> np.ndarray:
    """Return the most frequent class; of several, the one nearest to the lower median, and of two as near the lower.

    >>> choose_class(np.array([[0, 2, 1], [2, 1, 2], [1, 0, 1]])).tolist()
    [1, 0, 0]
    """
    k = counts.shape[-1]
    distance = np.abs(np.arange(k) - find_median(counts)[..., np.newaxis])
    return np.asarray((counts * 2 * k - distance).argmax(axis=-1))
