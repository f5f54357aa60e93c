"""Labels of people and of judges on the same items: CSV, TSV, frames, or JSON by annotator and item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from metaeval.data.annotations import NONE, Annotations
from metaeval.data.labels import unique_labels
from metaeval.data.policies import MissingPolicy, check_policy, find_complete
from metaeval.errors import DataError, MetaevalError, format_option
from metaeval.files import is_standard_input, read_text
from metaeval.io.answer_tables import code_votes, read_votes
from metaeval.io.answers import Labels
from metaeval.io.runs import describe_sources, name_collection
from metaeval.io.strict_json import parse_json
from metaeval.io.table import open_table

Key = tuple[str, str]
"""Topic and item; an item without a topic stands in the place of the topic."""


def read_annotations(
    people: Any,
    judges: Any,
    *,
    classes: Iterable[object],
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    missing: MissingPolicy = "raise",
    collection: str | None = None,
) -> Annotations:
    r"""Read what people and judges said of the same items.

    Parameters
    ----------
    people, judges : path or frame
        One column per annotator or judge besides a column item; or one row per label, with columns item, annotator and
        label, of which a judge may have several for an item. A column topic says which items belong together. JSON is
        ``{"annotator": {"item": label, …}, …}``.
    classes : iterable of str
        All classes in order.
    columns : mapping of str to str, optional
        What the tables call some of the columns: ``{"item": "sentence", "annotator": "worker"}``; ``a+b`` joins two.
    separator : str, optional
        The topic of an item is its name up to the first of these: with ``"__"``, doc7 of doc7__M1__fluency.
    missing : {"raise", "drop-topic", "drop-run"}, optional
        What to do if a judge has no answer for an item: leave out the item, or the judge.
    collection : str, optional
        By default, the name of the file of people's labels.

    Raises
    ------
    DataError
        If a column or an answer is missing, a label is no class, or a judge answers what nobody labelled.

    Examples
    --------
    >>> people = {"item": ["i1", "i2"], "ann": [0, 1], "bo": [0, ""]}
    >>> read_annotations(people, {"item": ["i2", "i1", "i2"], "annotator": ["j"] * 3, "label": [1, 0, 0]}, classes=[0, 1])
    Annotations: 2 annotators and 1 judge × 2 items, 2 classes
    """
    check_policy(missing, MissingPolicy)
    if missing == "worst":
        raise MetaevalError(f"{format_option('missing', 'worst')}: of the answers of judges there is no worst one")
    names = unique_labels(classes, "class")
    given, answered = _open(people, columns, names), _open(judges, columns, names)
    keys = list(
        dict.fromkeys(key for person in given.values() for key in zip(person.topics, person.items, strict=True))
    )
    if not keys:
        raise DataError("people label no item in it", file=next(iter(given.values())).file)
    position = {key: i for i, key in enumerate(keys)}
    labels = np.full((len(given), len(keys)), NONE, dtype=np.int64)
    for a, key, k in code_votes(given, names):
        labels[a, position[key]] = k
    answers = np.zeros((len(answered), len(keys), len(names)), dtype=np.int64)
    for j, key, k in code_votes(answered, names, repeated=True):
        if key not in position:
            judge, hint = list(answered)[j], "both tables must have a column topic, with the same topics, or neither"
            problem = "nobody labelled this item"
            raise DataError(problem, file=answered[judge].file, run=judge, item=_join(key), hint=hint)
        answers[j, position[key], k] += 1
    # An item is called by its own name, and with its topic where items of several topics have the same one.
    items = [item or topic for topic, item in keys]
    items = items if len(set(items)) == len(items) else list(map(_join, keys))
    gaps = answers.sum(axis=-1) == 0
    for j, i in np.argwhere(gaps)[:1] if missing == "raise" else ():
        hint = f"{format_option('missing', 'drop-topic')} leaves the item out, drop-run the judge"
        raise DataError("there is no answer", run=list(answered)[j], item=items[i], hint=hint)
    keep_judges, keep_items = find_complete(gaps, list(answered), items, missing)
    topics = _find_topics(keys, separator)
    return Annotations(
        labels[:, keep_items],
        answers[np.ix_(keep_judges, keep_items)],
        annotators=given,
        judges=[judge for judge, keep in zip(answered, keep_judges, strict=True) if keep],
        items=[items[i] for i in np.flatnonzero(keep_items)],
        classes=names,
        topics=[topics[i] for i in np.flatnonzero(keep_items)],
        collection=name_collection(people, collection),
        provenance=describe_sources(people, {"judges": judges}),
    )


def _open(source: Any, columns: Mapping[str, str] | None, classes: tuple[str, ...]) -> dict[str, Labels]:
    if isinstance(source, str) and is_standard_input(source):
        raise MetaevalError("two files are read, of which none can be standard input")
    if hasattr(source, "columns") or not str(source).lower().endswith(".json"):
        table = open_table(source, columns, classes)
        if "topic" not in table.header:
            if "item" not in table.header:
                raise DataError("there is no column 'item'", file=table.file, line=1)
            table = table.rename({"topic": "item"})
        return read_votes(table)
    content = parse_json(read_text(source), source)
    if not isinstance(content, dict) or not content or not all(isinstance(value, dict) for value in content.values()):
        raise DataError('it is not of the form {"annotator": {"item": label, …}, …}', file=source)
    found = {}
    for annotator, given in content.items():
        for item, label in given.items():
            if isinstance(label, bool | list | dict):
                raise DataError(f"the label {label!r} of {annotator} is no text or number", file=source, item=item)
        labels = ["" if label is None else str(label) for label in given.values()]
        # The json module does not say on which line a value stands.
        found[annotator] = Labels(str(source), list(given), [""] * len(given), labels, [0] * len(given))
    return found


def _join(key: Key) -> str:
    return "/".join(part for part in key if part)


def _find_topics(keys: list[Key], separator: str | None) -> list[str]:
    """Return the topic of every item: that of its column, what stands before the separator, or the item itself."""
    if separator is None:
        return [topic for topic, _ in keys]
    stated = format_option("separator", separator)
    if any(item for _, item in keys):
        raise MetaevalError(f"{stated} is for tables without a column topic, which says which items belong together")
    if not separator or not any(separator in name for name, _ in keys):
        raise MetaevalError(f"{stated}: no name of an item has it, such as {keys[0][0]!r}")
    return [name.partition(separator)[0] for name, _ in keys]
