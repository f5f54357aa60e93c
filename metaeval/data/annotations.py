"""Labels that several people and several judges gave to the same items."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaeval.data.labels import Labelled, check_shape, refuse_first
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.errors import DataError, MetaevalError, format_count, format_option
from metaeval.stats.annotator_wins import choose_class
from metaeval.stats.streams import assign_parts

NONE = -1  # where a person gave no label


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(Labelled):
    """Labels of people and of judges on the same items, each of which somebody labelled and every judge answered.

    Parameters
    ----------
    labels : array_like of int, shape (annotator, item)
        Class that a person gave an item, from 0; −1 where there is none.
    answers : array_like of int, shape (judge, item, class)
        How often a judge, who may be asked repeatedly, answered each class.
    annotators, judges, items, classes : iterable of str
        Unique labels; all K classes in order.
    topics : iterable of str, optional
        The topic of every item; by default every item is one by itself.
    collection, provenance : str, optional
        Name of the collection, and where the data come from.

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
        axes: dict[str, Any] = {"annotators": annotators, "judges": judges, "items": items, "classes": classes}
        n_annotators, n_judges, n_items, n_classes = self._label(collection, provenance, **axes)
        people, counts = np.array(labels), np.array(answers)
        check_shape(people, (n_annotators, n_items), "labels", "annotator × item")
        check_shape(counts, (n_judges, n_items, n_classes), "answers", "judge × item × class")
        named = self.items if topics is None else tuple(map(str, topics))
        check_shape(np.array(named, dtype=object), (n_items,), "topics", "item")
        are_whole = people.dtype.kind in "iu" and counts.dtype.kind in "iu"
        if not are_whole or (counts < 0).any() or ((people < NONE) | (people >= n_classes)).any():
            of_labels = f"labels are positions of classes, from 0 to {n_classes - 1}, or {NONE} for none"
            raise DataError(f"{of_labels}, and answers are counts: whole numbers")
        refuse_first((people == NONE).all(axis=0), {"item": self.items}, "nobody labelled it")
        refuse_first(counts.sum(axis=-1) == 0, {"run": self.judges, "item": self.items}, "there is no answer")
        self._set(labels=people.astype(np.int64), answers=counts.astype(np.int64), topics=named)

    @property
    def size(self) -> str:
        """How many annotators, judges and items there are, in words."""
        people = format_count(len(self.annotators), "annotator")
        return f"{people} and {format_count(len(self.judges), 'judge')} × {format_count(len(self.items), 'item')}"

    def __repr__(self) -> str:
        return f"Annotations: {self.size}, {len(self.classes)} classes{', ' * bool(self.collection)}{self.collection}"

    @property
    def votes(self) -> np.ndarray:
        """Number of people that gave an item each class, shape (item, class)."""
        return (self.labels[..., np.newaxis] == np.arange(len(self.classes))).sum(axis=0)

    @property
    def fingerprint(self) -> str:
        """What signatures call these data: the first digits of a checksum of labels, answers and their names."""
        digest = hashlib.sha256()
        for names in (self.annotators, self.judges, self.items, self.classes, self.topics):
            digest.update("".join(f"{len(name)}:{name}" for name in (str(len(names)), *names)).encode())
        for array in (self.labels, self.answers):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return digest.hexdigest()[:12]

    def to_quantification(self) -> QuantificationRuns:
        """Convert to class distributions by item: gold is the share of people, a run the share of a judge's answers."""
        estimated, gold = (given / given.sum(axis=-1, keepdims=True) for given in (self.answers, self.votes))
        labels = self.named("classes", "collection", "provenance")
        return QuantificationRuns(estimated, gold, runs=self.judges, topics=self.items, **labels)

    def to_classification(self, *, parts: int | None = None) -> ClassificationRuns:
        """Convert to confusion counts: gold is the class that most people gave an item, as `choose_class` has it.

        With `parts`, as many random parts of the items replace the topics; 1 pools them all.
        """
        if parts is None and len(set(self.topics)) == len(self.items) > 1:
            problem = "every item is a topic of its own, on which measures of classes only say whether it is right"
            parts_of_them = format_option("parts", "20")
            raise MetaevalError(f"{problem}: divide them at random, or pool them with 1: {parts_of_them}")
        topics: Sequence[str] = self.topics
        if parts is not None:
            keys = list(zip(self.topics, self.items, strict=True))
            assigned = assign_parts(keys, parts, collection=self.collection)
            topics = [assigned[key] for key in keys]
        position = {name: t for t, name in enumerate(dict.fromkeys(topics))}
        topic, k = np.array([position[name] for name in topics]), len(self.classes)
        judge = np.arange(len(self.judges))[:, np.newaxis]
        counts = np.zeros((len(self.judges), len(position), k, k), dtype=np.int64)
        np.add.at(counts, (judge, topic, choose_class(self.votes), choose_class(self.answers)), 1)
        labels = self.named("classes", "collection", "provenance")
        return ClassificationRuns(counts, runs=self.judges, topics=position, **labels)
