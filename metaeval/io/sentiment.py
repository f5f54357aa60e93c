"""Polarity of tweets: gold and submissions of RepLab 2013, SemEval-2014 Task 9 and SemEval-2015 Task 10."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from metaeval.data.policies import report_policy
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError, format_count
from metaeval.files import PathLike, Sources, is_folder, list_files, stem
from metaeval.io import judgements
from metaeval.io.classification import Labels, classification_runs
from metaeval.io.frames import name_origins
from metaeval.io.table import read_fields, read_table

Layout = Literal["judgements", "replab", "semeval"]

CLASSES = ("-1", "0", "1")
"""Negative, neutral, positive."""

_NAMES = {"negative": "-1", "neutral": "0", "objective": "0", "positive": "1"}
_ONE_TOPIC = "all"
_SEMEVAL = "id1<TAB>id2<TAB>[start<TAB>end<TAB>]label[<TAB>topic][<TAB>text]"


def read(
    gold: PathLike,
    runs: Sources,
    *,
    classes: Iterable[object] = CLASSES,
    collection: str | None = None,
    topics: bool = False,
    **options: Any,
) -> ClassificationRuns:
    """Read polarities in any of the layouts in which they are published; the layout of each file is detected.

    SemEval: lines ``id1<TAB>id2<TAB>label[<TAB>text]`` for messages (subtask B),
    ``id1<TAB>id2<TAB>start<TAB>end<TAB>label[<TAB>text]`` for phrases (A). In subtask C of 2015
    the topic follows the label; set `topics` for it. Items are matched by id2, and by start and end or by topic, because
    id1 is NA in submissions.

    RepLab: a table with the columns entity_id, tweet_id and polarity, or a folder of such tables without entity_id,
    one per entity and named after it. Entities are the topics. Tweets that are not about the entity have no polarity in
    the gold (it is empty or NULL) and are left out, with a `PolicyWarning`.

    Judgements: lines ``topic 0 item label``, see `metaeval.io.judgements`. Options as `classification_runs` takes them.
    """
    files, origin = name_origins(gold, runs, collection)
    whole = _read_labels(gold, topics)
    # In the other layouts an item without a label is a defect, which is refused when the labels are counted.
    truth = _drop_unrelated(whole) if find_layout(gold) == "replab" else whole
    unrelated = _item_keys(whole) - _item_keys(truth)
    answers = {run: _drop_items(_read_labels(path, topics), unrelated) for run, path in files.items()}
    return classification_runs(truth, answers, classes, **origin, **options)


def find_layout(path: PathLike) -> Layout:
    """Detect the layout of a file from its first line; a folder is in RepLab's layout."""
    if is_folder(path):
        return "replab"
    rows, _ = read_fields(path, separator="\t", least=1, most=1 << 20, layout="")
    first = [field.strip('"') for field in rows[0]]
    if "tweet_id" in first:
        return "replab"
    if len(first) >= 3:
        return "semeval"
    if len(rows[0][0].split()) == 4:
        return "judgements"
    raise DataError(
        "its layout is none of those of polarities",
        file=path,
        line=1,
        hint=f"SemEval: {_SEMEVAL}; RepLab: a table with tweet_id and polarity; or topic 0 item label",
    )


def _read_labels(path: PathLike, topics: bool) -> Labels:
    layout = find_layout(path)
    if layout == "judgements":
        return judgements.read_labels(path)
    return _read_replab(path) if layout == "replab" else _read_semeval(path, topics)


def _read_semeval(path: PathLike, topics: bool) -> Labels:
    rows, lines = read_fields(path, separator="\t", least=3, most=1 << 20, layout=_SEMEVAL)
    items, labels, topic = [], [], []
    for row, line in zip(rows, lines, strict=True):
        # Lines of subtask A have the start and the end of a phrase before the label.
        phrase = len(row) >= 5 and row[2].isdigit() and row[3].isdigit()
        if topics and len(row) < 4:
            raise DataError("there is no topic after the label", file=path, line=line)
        items.append("/".join((row[1], row[2], row[3])) if phrase else row[1])
        labels.append(_code_polarity(row[4] if phrase else row[2]))
        topic.append(row[3] if topics else _ONE_TOPIC)
    return Labels(str(path), topic, items, labels, lines)


def _read_replab(path: PathLike) -> Labels:
    tables = (
        [(stem(file), read_table(file)) for file in list_files(path)] if is_folder(path) else [("", read_table(path))]
    )
    topics: list[str] = []
    items: list[str] = []
    labels: list[str] = []
    lines: list[int] = []
    for entity, table in tables:
        if "entity_id" not in table.header and not entity:
            raise DataError("there is no column 'entity_id'", file=path, line=1)
        tweets = table.column("tweet_id")
        topics += table.column("entity_id") if "entity_id" in table.header else [entity] * len(tweets)
        items += tweets
        labels += [_code_polarity(label) for label in table.column("polarity")]
        lines += table.lines
    return Labels(str(path), topics, items, labels, lines)


def _code_polarity(label: str) -> str:
    return _NAMES.get(label.strip().lower(), label.strip())


def _item_keys(labels: Labels) -> set[tuple[str, str]]:
    return set(zip(labels.topics, labels.items, strict=True))


def _drop_unrelated(labels: Labels) -> Labels:
    """Leave out items without a polarity: in RepLab's gold, the tweets that are not about the entity."""
    keep = [row for row, label in enumerate(labels.labels) if label not in ("", "NULL", "null")]
    if not keep:
        raise DataError("none of its items has a polarity", file=labels.file)
    if len(keep) < len(labels.items):
        count = format_count(len(labels.items) - len(keep), "item")
        report_policy(f"left out {count} of {len(labels.items):,} without a polarity", labels.file)
    return labels.take(keep)


def _drop_items(labels: Labels, unrelated: set[tuple[str, str]]) -> Labels:
    if not unrelated:
        return labels
    keys = zip(labels.topics, labels.items, strict=True)
    return labels.take([row for row, key in enumerate(keys) if key not in unrelated])
