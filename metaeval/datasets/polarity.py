"""Polarity of tweets: gold and submissions of RepLab 2013, SemEval-2014 Task 9 and SemEval-2015 Task 10.

SemEval: lines ``id1<TAB>id2<TAB>label[<TAB>text]`` for messages (subtask B), with start and end before the label for phrases
(A), and with the topic after it in subtask C of 2015. Items are matched by id2, and by start and end or by topic, because id1
is NA in submissions. RepLab: a table with the columns entity_id, tweet_id and polarity, or a folder of such tables without
entity_id, one per entity and named after it; entities are the topics. Or lines ``topic 0 item label``, as judgements are.
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
_SEMEVAL = "id1<TAB>id2<TAB>[start<TAB>end<TAB>]label[<TAB>topic][<TAB>text]"


def read(gold: PathLike, runs: Mapping[str, PathLike], *, topics: bool = False, **options: Any) -> ClassificationRuns:
    """Read polarities in any of the layouts; that of each file is told by its first line, `topics` is stated.

    Tweets that are not about RepLab's entity have no polarity in its gold (it is empty or NULL) and are left out, with a
    `PolicyWarning`. In the other layouts an item without a label is a defect.
    """
    truth, is_replab = _read_labels(gold, topics)
    nothing = ("", "NULL", "null") if is_replab else ()
    related = [row for row, label in enumerate(truth.labels) if label not in nothing]
    if not related:
        raise DataError("none of its items has a polarity", file=truth.file)
    keys, unrelated = truth.keys, set[tuple[str, str]]()
    if len(related) < len(keys):
        count = format_count(len(keys) - len(related), "item")
        report_policy(f"left out {count} of {len(keys):,} without a polarity", truth.file)
        unrelated = set(keys) - {keys[row] for row in related}
    answers = {}
    for run, path in runs.items():
        given = _read_labels(path, topics)[0]
        answers[run] = given.take([row for row, key in enumerate(given.keys) if key not in unrelated])
    return classification_runs(truth.take(related), answers, **options)


def _read_labels(path: PathLike, topics: bool) -> tuple[Labels, bool]:
    """Return the labels of a file or folder, and whether it is in RepLab's layout."""
    if is_folder(path):
        return _read_replab(path), True
    rows, lines = read_fields(path, separator="\t", least=1, most=1 << 20, layout="")
    if "tweet_id" in [field.strip('"') for field in rows[0]]:
        return _read_replab(path), True
    if len(rows[0]) < 3 and len(rows[0][0].split()) == 4:
        return read_judgements(path), False
    if len(rows[0]) < 3:
        hint = f"SemEval: {_SEMEVAL}; RepLab: a table with tweet_id and polarity; or topic 0 item label"
        raise DataError("its layout is none of those of polarities", file=path, line=1, hint=hint)
    items, labels, names = [], [], []
    for row, line in zip(rows, lines, strict=True):
        # Lines of subtask A have the start and the end of a phrase before the label.
        phrase = len(row) >= 5 and row[2].isdigit() and row[3].isdigit()
        if len(row) < 3 or (topics and len(row) < 4):
            problem = f"the line has {format_count(len(row), 'column')}, not {_SEMEVAL}"
            raise DataError("there is no topic after the label" if topics else problem, file=path, line=line)
        items.append("/".join((row[1], row[2], row[3])) if phrase else row[1])
        labels.append(_code_polarity(row[4] if phrase else row[2]))
        names.append(row[3] if topics else "all")
    return Labels(str(path), names, items, labels, lines), False


def _read_replab(path: PathLike) -> Labels:
    files = [(stem(file), file) for file in list_files(path)] if is_folder(path) else [("", path)]
    parts: tuple[list[Any], ...] = ([], [], [], [])
    for entity, file in files:
        table = read_table(file)
        if "entity_id" not in table.header and not entity:
            raise DataError("there is no column 'entity_id'", file=path, line=1)
        tweets = table.column("tweet_id")
        named = table.column("entity_id") if "entity_id" in table.header else [entity] * len(tweets)
        polarities = map(_code_polarity, table.column("polarity"))
        for part, more in zip(parts, (named, tweets, polarities, table.lines), strict=True):
            part.extend(more)
    return Labels(str(path), *parts)


def _code_polarity(label: str) -> str:
    return _NAMES.get(label.strip().lower(), label.strip())
