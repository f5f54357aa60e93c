"""RepLab 2013: the polarity of tweets about entities, which are the topics.

A table with the columns entity_id, tweet_id and polarity, or a folder of such tables without entity_id, one per entity and
named after it; or lines ``entity 0 tweet polarity``, as judgements are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metaeval.data.policies import report_policy
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError, format_count
from metaeval.files import PathLike, is_folder, list_files, stem
from metaeval.io.answers import Labels, classification_runs
from metaeval.io.runs import read_judgements
from metaeval.io.table import read_fields, read_table

_NAMES = {"negative": "-1", "neutral": "0", "objective": "0", "positive": "1"}


def read(gold: PathLike, runs: Mapping[str, PathLike], **options: Any) -> ClassificationRuns:
    """Read polarities; tweets that are not about the entity, empty or NULL in the gold, are left out with a warning."""
    truth = _read_labels(gold)
    about = {key for key, label in zip(truth.keys, truth.labels, strict=True) if label not in ("", "NULL", "null")}
    if not about:
        raise DataError("none of its items has a polarity", file=truth.file)
    if unrelated := set(truth.keys) - about:
        left = f"left out {format_count(len(unrelated), 'item')} of {len(truth.keys):,} without a polarity"
        report_policy(left, truth.file)
    answers = {}
    for run, path in runs.items():
        given = _read_labels(path)
        answers[run] = given.take([row for row, key in enumerate(given.keys) if key not in unrelated])
    kept = truth.take([row for row, key in enumerate(truth.keys) if key in about])
    return classification_runs(kept, answers, **options)


def _read_labels(path: PathLike) -> Labels:
    if not is_folder(path):
        rows, _ = read_fields(path, separator="\t", least=1, most=1 << 20, layout="")
        if len(rows[0]) < 3:
            return read_judgements(path)
    files = [(stem(file), file) for file in list_files(path)] if is_folder(path) else [("", path)]
    parts: tuple[list[Any], ...] = ([], [], [], [])
    for entity, file in files:
        table = read_table(file)
        if "entity_id" not in table.header and not entity:
            raise DataError("there is no column 'entity_id'", file=path, line=1)
        tweets = table.column("tweet_id")
        named = table.column("entity_id") if "entity_id" in table.header else [entity] * len(tweets)
        polarities = [_NAMES.get(label.strip().lower(), label.strip()) for label in table.column("polarity")]
        for part, more in zip(parts, (named, tweets, polarities, table.lines), strict=True):
            part.extend(more)
    return Labels(str(path), *parts)
