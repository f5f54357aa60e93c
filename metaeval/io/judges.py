"""Labels of people and of judges on the same items: CSV, TSV, frames, or JSON by annotator and item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.annotations import NONE, Annotations
from metaeval.data.labels import code_labels, unique_labels
from metaeval.data.policies import MissingPolicy, check_policy, find_complete
from metaeval.data.rows import is_missing
from metaeval.errors import DataError, MetaevalError, format_list, format_option
from metaeval.files import is_standard_input, read_text
from metaeval.io.runs import describe_sources, name_collection, refuse_blank, refuse_index_columns
from metaeval.io.strict_json import parse_json
from metaeval.io.table import open_table


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
        One column per annotator or judge besides a column item, and perhaps topic; or rows of item, annotator and label, of
        which a judge may have several for an item. JSON is ``{"annotator": {"item": label, …}, …}``.
    classes : iterable of str
        All classes in order.
    columns : mapping of str to str, optional
        What the tables call some of the columns: ``{"item": "sentence", "annotator": "worker"}``.
    separator : str, optional
        The topic of an item is its name up to the first of these: with ``"__"``, doc7 of doc7__M1__fluency.
    missing : {"raise", "drop-topic", "drop-run"}, optional
        What to do if a judge has no answer for an item: leave out the item, or the judge.
    collection : str, optional
        By default, the name of the file of people's labels.

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
    (annotators, given), (judging, answered) = (_open(source, columns, names) for source in (people, judges))
    if both := sorted({*annotators} & {*judging}):
        raise DataError(f"people and judges have the same names, {format_list(both)}", hint="leave out one of each")
    keys = list(dict.fromkeys(zip(given["topic"], given["item"], strict=True)))
    if not keys:
        raise DataError("people label no item in it", file=describe_sources(people, {}))
    labels = np.full((len(annotators), len(keys)), NONE, dtype=np.int64)
    answers = np.zeros((len(judging), len(keys), len(names)), dtype=np.int64)
    known = pd.MultiIndex.from_tuples(keys)
    for given_by, frame, once in ((annotators, given, True), (judging, answered, False)):
        codes, rows = _code(frame, names, once=once), pd.MultiIndex.from_frame(frame[["topic", "item"]])
        at, voted = known.get_indexer(rows), codes >= 0
        for row in np.flatnonzero((at < 0) & voted)[:1]:
            hint = "both tables must have a column topic, with the same topics, or neither"
            said = frame.iloc[row]
            where = {"file": said["file"], "run": said["annotator"], "item": _join((said["topic"], said["item"]))}
            raise DataError("nobody labelled this item", **where, hint=hint)
        who = pd.Index(given_by).get_indexer(pd.Index(frame["annotator"]))[voted]
        if once:
            labels[who, at[voted]] = codes[voted]
        else:
            np.add.at(answers, (who, at[voted], codes[voted]), 1)
    # An item is called by its own name, and with its topic where items of several topics have the same one.
    items = [item or topic for topic, item in keys]
    items = items if len(set(items)) == len(items) else list(map(_join, keys))
    gaps = answers.sum(axis=-1) == 0
    for j, i in np.argwhere(gaps)[:1] if missing == "raise" else ():
        hint = f"{format_option('missing', 'drop-topic')} leaves the item out, drop-run the judge"
        raise DataError("there is no answer", run=judging[j], item=items[i], hint=hint)
    keep_judges, keep_items = find_complete(gaps, judging, items, missing)
    topics = _find_topics(keys, separator)
    return Annotations(
        labels[:, keep_items],
        answers[np.ix_(keep_judges, keep_items)],
        annotators=annotators,
        judges=[judge for judge, keep in zip(judging, keep_judges, strict=True) if keep],
        items=[items[i] for i in np.flatnonzero(keep_items)],
        classes=names,
        topics=[topics[i] for i in np.flatnonzero(keep_items)],
        collection=name_collection(people, collection),
        provenance=describe_sources(people, {"judges": judges}),
    )


def _open(source: Any, columns: Mapping[str, str] | None, classes: tuple[str, ...]) -> tuple[list[str], pd.DataFrame]:
    """Return annotators, and their labels in rows: topic, item, annotator, label, file and line, each annotator's together."""
    if isinstance(source, str) and is_standard_input(source):
        raise MetaevalError("two files are read, of which none can be standard input")
    if not hasattr(source, "columns") and str(source).lower().endswith(".json"):
        return _open_json(source)
    table = open_table(source, columns, classes)
    items, lines = table.column("item"), table.lines
    keys = {"topic": table.column("topic", "item"), "item": items if "topic" in table.header else ("",) * len(items)}
    shared = {**keys, "file": table.file, "line": lines}
    if "annotator" in table.header:
        frame = pd.DataFrame({**shared, "annotator": table.column("annotator"), "label": table.column("label")})
        refuse_blank(table, {"annotator": table.column("annotator")})
        annotators = [*dict.fromkeys(frame["annotator"])]
        frame = frame.iloc[np.argsort(pd.Index(annotators).get_indexer(pd.Index(frame["annotator"])), kind="stable")]
    else:
        annotators = [name for name in table.header if name not in ("topic", "item")]
        refuse_index_columns(annotators, table.file)
        if not annotators:
            raise DataError("there is no column of an annotator beside the item", file=table.file, line=1)
        parts = [{**shared, "annotator": name, "label": table.column(name)} for name in annotators]
        frame = pd.concat(map(pd.DataFrame, parts), ignore_index=True)
    refuse_blank(table, {"topic" if "topic" in table.header else "item": keys["topic"]})
    return annotators, frame


def _open_json(source: Any) -> tuple[list[str], pd.DataFrame]:
    content = parse_json(read_text(source), source)
    if not isinstance(content, dict) or not content or not all(isinstance(value, dict) for value in content.values()):
        raise DataError('it is not of the form {"annotator": {"item": label, …}, …}', file=source)
    rows = []
    for annotator, given in content.items():
        for item, label in given.items():
            if isinstance(label, bool | list | dict):
                raise DataError(f"the label {label!r} of {annotator} is no text or number", file=source, item=item)
            # The json module does not say on which line a value stands.
            rows.append((item, "", annotator, "" if label is None else str(label), str(source), 0))
    return [*content], pd.DataFrame(rows, columns=["topic", "item", "annotator", "label", "file", "line"])


def _code(given: pd.DataFrame, classes: tuple[str, ...], *, once: bool) -> np.ndarray:
    """Return the number of the class of every label, −1 where there is none; `once`: nobody labels an item twice."""
    labels = [label.strip() for label in given["label"]]
    codes = code_labels(labels, classes)
    twice = given.duplicated(["annotator", "topic", "item"]).to_numpy() & once
    for row in np.flatnonzero(twice | ((codes < 0) & ~np.array(list(map(is_missing, labels)), dtype=bool)))[:1]:
        said = given.iloc[row]
        vote = f"the vote {labels[row]!r} of {said['annotator']}"
        problem = f"{vote} is not one of the classes {format_list(classes, most=12)}"
        problem = f"there is a second vote of {said['annotator']}" if twice[row] else problem
        raise DataError(problem, file=said["file"], line=said["line"] or None, topic=said["topic"])
    return codes


def _join(key: tuple[str, str]) -> str:
    return "/".join(part for part in key if part)


def _find_topics(keys: list[tuple[str, str]], separator: str | None) -> list[str]:
    """Return the topic of every item: that of its column, what stands before the separator, or the item itself."""
    if separator is None:
        return [topic for topic, _ in keys]
    stated = format_option("separator", separator)
    if any(item for _, item in keys):
        raise MetaevalError(f"{stated} is for tables without a column topic, which says which items belong together")
    if not separator or not any(separator in name for name, _ in keys):
        raise MetaevalError(f"{stated}: no name of an item has it, such as {keys[0][0]!r}")
    return [name.partition(separator)[0] for name, _ in keys]
