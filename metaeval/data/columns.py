"""Columns by their names: which hold runs, topics, measures and scores, and what a user is told where none says so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from metaeval.errors import DataError, format_list, format_option
from metaeval.measures.resolve import measure_of_label

COLUMNS = ("run", "topic", "measure", "score")

DIRECTION = "higher_is_better"
"""An optional column, true or false, written if the direction of a measure is not known from its name."""

COLLECTION = "collection"
"""An optional column with the name of the collection, which decides random draws."""

RUN_NAMES = frozenset({"run", "run_id", "runid", "system", "model", "team", "method", "submission", "participant"})
"""What a column of runs is called, as `plain_name` returns it."""

TOPIC_NAMES = frozenset({
    "topic", "topics", "topic_id", "topicid", "query", "query_id", "queryid", "qid", "segment", "segment_id", "seg",
    "seg_id", "question", "question_id", "document", "document_id", "doc", "doc_id", "docid", "item", "item_id",
    "instance", "instance_id", "dialogue", "dialogue_id", "example", "example_id",
})  # fmt: skip
"""What a column of topics is called."""

INDEX_NAMES = frozenset({"", "id", "index"})
"""What a column is called that numbers or names the rows: R and pandas write an empty name, or Unnamed: 0."""

MEASURE_NAMES, SCORE_NAMES = frozenset({"measure", "metric"}), frozenset({"score", "value"})


def plain_name(name: object) -> str:
    """Return the name of a column in lower case, with underscores for spaces and hyphens."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def is_index(name: object) -> bool:
    """Say whether a column with this name numbers or names the rows."""
    return plain_name(name) in INDEX_NAMES or re.fullmatch(r"unnamed:_?\d+", plain_name(name)) is not None


def names_topics(name: object) -> bool:
    """Say whether the first column of topics × runs holds topics, by its name."""
    return is_index(name) or plain_name(name) in TOPIC_NAMES


def format_columns(names: Mapping[str, str]) -> str:
    """Return the names of columns as the user would state them, in Python or on the command line."""
    option = format_option("columns")
    if option.startswith("-"):
        return f"{option} {shlex.quote(','.join(f'{what}={name}' for what, name in names.items()))}"
    return f"{option}={dict(names)}"


def refuse_other_names(columns: Sequence[object], file: object = None, given: Mapping[str, str] | None = None) -> None:
    """Refuse a table of one score a row whose columns have other names, and say how to state them besides those given."""
    names = [str(name).strip() for name in columns]
    known = {"run": RUN_NAMES, "topic": TOPIC_NAMES, "measure": MEASURE_NAMES, "score": SCORE_NAMES}
    roles = {role: next((name for name in names if plain_name(name) in usual), None) for role, usual in known.items()}
    rest = [name for name in names if name not in roles.values() and not is_index(name)]
    if roles["score"] is None and len(rest) == 1:
        roles["score"] = rest[0]
    stated = {role: name for role, name in roles.items() if name is not None and name != role}
    if None in (roles["run"], roles["topic"], roles["score"]) or not stated:
        return
    raise DataError(
        f"its columns are called {format_list(names)}, not run, topic and score",
        file=file,
        hint=f"if each row holds one score of a run on a topic, say so: {format_columns({**(given or {}), **stated})}",
    )


def refuse_leaderboard(columns: Sequence[object], file: object = None) -> None:
    """Refuse a table of runs without topics, one number a run, and say what can be done."""
    names = [plain_name(name) for name in columns]
    if "topic" not in names and ("run" in names or (names and names[0] in RUN_NAMES)):
        raise DataError(
            f"it holds one number a run and no topics (columns: {format_list(list(map(str, columns)))}), "
            "but the analyses look at how scores vary over topics",
            file=file,
            hint="give the scores of every topic (segment, query, document), of which such numbers are means, or say "
            f"which column is the topic with {format_option('columns')}; "
            "metaeval.stats.rank_correlation.tau compares two lists of such numbers",
        )


def refuse_index_columns(people: Sequence[str], file: object) -> None:
    """Refuse columns of annotators or judges whose name is that of an index or of topics: they hold no labels."""
    for name in people:
        if names_topics(name):
            raise DataError(
                f"the column {name!r} is called as an index or as topics are, not as a person or judge",
                file=file,
                hint=f"leave it out, or say what it is: {format_columns({'topic': name})} or {format_columns({'item': name})}",
            )


def refuse_topics_as_run(values: np.ndarray, runs: Sequence[str], measure: object, file: object = None) -> None:
    """Refuse a first column of `values`, shape (topic, run), that may number the topics instead of scoring a run."""
    first, others = values[:, 0], values[:, 1:]
    if not others.size or not np.isfinite(first).all():
        return
    low, high = measure_of_label(str(measure)).range
    inside = (values >= low - 1e-9) & (values <= high + 1e-9)
    whole = np.all(values == np.floor(values), axis=0)
    distinct = np.array([len(np.unique(column)) == len(column) for column in values.T])
    numbers = whole & distinct & (np.nanmax(values, axis=0, initial=-np.inf) > 1)
    finite = np.abs(others[np.isfinite(others)])
    if not inside[:, 0].any() and inside[:, 1:].all():
        reason = f"values such as {first[0]:g}, outside the measure's range [{low:g}, {high:g}]"
    elif len(first) > 1 and numbers[0] and not numbers[1:].any():
        reason = f"a different whole number on each line, such as {first[0]:g}"
    elif len(first) > 1 and finite.size and np.abs(first).min() > 10 * finite.max():
        reason = f"values such as {first[0]:g}, on another scale than all other columns"
    elif len(first) > 2 and (np.diff(first) == 1).all() and not (np.diff(others, axis=0) == 1).all(axis=0).any():
        reason = f"the numbers from {first[0]:g} to {first[-1]:g} in their order"
    else:
        return
    name = runs[0]
    raise DataError(
        f"the first column, {name!r}, holds {reason}: are these topics, or the scores of a run?",
        file=file,
        line=None if file is None else 1,
        measure=measure,
        hint=f"say so: {format_columns({'topic': name})}, or {format_columns({'run': name})}",
    )
