"""Columns by their names: which hold runs, topics, measures and scores, and what a user is told where none says so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from metaeval.errors import DataError, format_option
from metaeval.measures.resolve import measure_of_label

COLUMNS = ("run", "topic", "measure", "score")

DIRECTION = "higher_is_better"
"""An optional column, true or false, written if the direction of a measure is not known from its name."""

COLLECTION = "collection"
"""An optional column with the name of the collection, which decides random draws."""

CLUSTER, REPEAT, TASK, JUDGE = "cluster", "repeat", "task", "judge"
"""What columns hold that the user alone names: which topics belong together, which scores repeat others, and whose they are."""

RUN_NAMES = frozenset({
    "run", "run_id", "runid", "runtag", "system", "system_id", "sys", "sysid", "model", "model_id", "model_name", "team",
    "method", "submission", "participant",
})  # fmt: skip
"""What a column of runs is called, as `plain_name` returns it."""

TOPIC_NAMES = frozenset({
    "topic", "topics", "topic_id", "topicid", "query", "query_id", "queryid", "qid", "q", "segment", "segment_id", "seg",
    "seg_id", "question", "question_id", "document", "document_id", "doc", "doc_id", "docid", "item", "item_id",
    "instance", "instance_id", "dialogue", "dialogue_id", "example", "example_id", "prompt", "sample", "sentence", "passage",
    "conversation", "tweet", "paragraph", "utterance",
})  # fmt: skip
"""What a column of topics is called."""

INDEX_NAMES = frozenset({"", "id", "index", "idx", "nr", "row", "#"})
"""What a column is called that numbers or names the rows: R and pandas write an empty name, or Unnamed: 0."""

MEASURE_NAMES = frozenset({"measure", "metric", "metric_name", "evaluator", "scorer"})
SCORE_NAMES = frozenset({"score", "value", "result", "rating"})
LABEL_NAMES = frozenset({"label", "gold", "predicted", "y_true", "y_pred", "truth", "true_label", "prediction"})
TASK_NAMES = frozenset({"task", "tasks", "benchmark", "dataset", "data_set", "subset", "suite", "testset", "test_set"})
"""What a column is called that divides topics into collections; documents and domains do not."""

REPEAT_NAMES = frozenset({"seed", "fold", "epoch", "repeat", "repetition", "trial"})
TIME_NAMES = frozenset({"time", "tstamp", "timestamp", "datetime", "created_at", "evaluated_at"})
"""What a column is called that says when a score was computed: of two scores of one cell, which is the latest."""

TRAIT_NAMES = frozenset({
    "seed", "fold", "year", "length", "len", "n", "cluster", "epoch", "repeat", "tstamp", "timestamp", "date", "turn", "turns",
})  # fmt: skip
"""What a column is called that describes a topic or a repeat by whole numbers, and holds no scores."""


def names_trait(name: object) -> bool:
    """Say whether a column of whole numbers with this name describes topics or repeats, and holds no scores."""
    plain = plain_name(name)
    return plain in TRAIT_NAMES or re.fullmatch(r"(num|n|nr)_.+|.+_(count|length|len|year)", plain) is not None


def plain_name(name: object) -> str:
    """Return the name of a column in lower case, with underscores for spaces and hyphens."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def is_index(name: object) -> bool:
    """Say whether a column with this name numbers or names the rows."""
    return plain_name(name) in INDEX_NAMES or re.fullmatch(r"unnamed:_?\d+|level_\d+", plain_name(name)) is not None


def names_topics(name: object) -> bool:
    """Say whether the first column of topics × runs holds topics, by its name."""
    plain = plain_name(name)
    return is_index(name) or plain in TOPIC_NAMES or (plain.endswith("_id") and plain not in RUN_NAMES)


def numbers_rows(values: np.ndarray) -> bool:
    """Say whether a column counts the rows, from 0 or from 1."""
    return len(values) > 0 and values[0] in (0, 1) and bool((np.diff(values) == 1).all())


def find_topics(
    header: Sequence[object], numbers_rows: Callable[[int], bool], columns: Mapping[str, str] | None = None
) -> tuple[int | None, list[int]]:
    """Return which column of topics × runs names the topics, if one does, and which columns are runs.

    `columns` is what the user says of one of them. A column that numbers the rows before that of the topics is no run.
    """
    names = [str(name) for name in header]
    topic, run = (columns or {}).get("topic"), (columns or {}).get("run")
    if run is not None and run not in names:
        run = run.split("+")[0]
    if topic is not None:
        position: int | None = names.index(topic)
    else:
        position = 0 if names_topics(names[0]) and names[0] != run else None
    index = []
    if is_index(names[0]) and len(names) > 2 and names[0] not in (run, topic) and numbers_rows(0):
        if topic is None and names_topics(names[1]) and names[1] != run:
            position = 1
        index = [0] if position else []
    return position, [column for column in range(len(names)) if column != position and column not in index]


def format_columns(names: Mapping[str, str]) -> str:
    """Return the names of columns as the user would state them, in Python or on the command line."""
    option = format_option("columns")
    if not option.startswith("-"):
        return f"{option}={dict(names)}"
    own = {what: format_option(f"{what}s") for what in (CLUSTER, REPEAT, TASK, JUDGE) if what in names}
    words = [f"{flag} {shlex.quote(names[what])}" for what, flag in own.items() if flag.startswith("-")]
    others = [f"{what}={name}" for what, name in names.items() if not own.get(what, "").startswith("-")]
    return " ".join([f"{option} {shlex.quote(','.join(others))}"] * bool(others) + words)


def refuse_index_columns(people: Sequence[str], file: object) -> None:
    """Refuse columns of annotators or judges whose name is that of an index or of topics: they hold no labels."""
    for name in people:
        if names_topics(name):
            raise DataError(
                f"the column {name!r} is called as an index or as topics are, not as a person or judge",
                file=file,
                hint=f"leave it out, or say what it is: {format_columns({'topic': name})} or {format_columns({'item': name})}",
            )


def refuse_columns_without_scores(
    values: np.ndarray,
    runs: Sequence[str],
    integers: np.ndarray,
    measure: object,
    file: object = None,
    *,
    labelled: bool = False,
    known: Sequence[str] = (),
) -> None:
    """Refuse columns of `values`, shape (topic, run), that may hold something else than the scores of a run.

    A first column may number the topics, unless a column before it names them (`labelled`); any other may hold years,
    lengths or clusters of the topics, if it is one of few whose numbers are written without a point (`integers`). Of
    `known` the user says that they are runs.
    """
    if values.shape[1] < 2 or not len(values):
        return
    problem, hint = None, ""
    reason = None if labelled or runs[0] in known else _doubt_first(values, measure)
    if reason is not None:
        problem = f"the first column, {runs[0]!r}, holds {reason}: are these topics, or the scores of a run?"
        hint = f"say so: {format_columns({'topic': runs[0]})}, or {format_columns({'run': runs[0]})}"
    traits = [column for column in _find_traits(values, runs, integers) if runs[column] not in known]
    if problem is None and traits:
        numbers = values[:, traits[0]].tolist()
        shown = next(number for number in numbers if number not in _PLAIN_SCORES)
        what = "+".join([*(name for name in known if name in runs), *(runs[column] for column in traits)])
        alike = f" and {len(traits) - 1} more hold" if len(traits) > 1 else " holds"
        problem = (
            f"the column {runs[traits[0]]!r}{alike} whole numbers such as {shown:g}, unlike most other columns: do they "
            "describe the topics, or are these scores of runs?"
        )
        left_out = "+".join(runs[column] for column in traits)
        hint = f"{format_columns({'ignore': left_out})} leaves out, {format_columns({'run': what})} says that these are runs"
    if problem is not None:
        raise DataError(problem, file=file, line=None if file is None else 1, measure=measure, hint=hint)


_PLAIN_SCORES = (0, 1, 100)
"""Whole numbers that are scores in many measures."""


def _doubt_first(values: np.ndarray, measure: object) -> str | None:
    """Return why a first column may number the topics: in what it differs from all others as no scores do."""
    first, others = values[:, 0], values[:, 1:]
    if not np.isfinite(first).all():
        return None
    low, high = measure_of_label(str(measure)).range
    inside = (values >= low - 1e-9) & (values <= high + 1e-9)
    if not inside[:, 0].any() and (inside[:, 1:] | np.isnan(others)).all():
        return f"values such as {first[0]:g}, outside the measure's range [{low:g}, {high:g}]"
    whole = (values == np.floor(values)).all(axis=0)
    numbering = whole & _have_distinct(values, whole) & (values.max(axis=0) > 1)
    fractions = 2 * (~whole).sum() >= len(whole)  # most runs have scores between whole numbers
    if len(first) > 1 and numbering[0] and (numbering.sum() == 1 or fractions):
        return f"a different whole number on each line, such as {first[0]:g}"
    finite = np.abs(others[np.isfinite(others)])
    if len(first) > 1 and finite.any() and np.abs(first).min() / 10 > finite.max():
        return f"values such as {first[0]:g}, on another scale than all other columns"
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(values, axis=0)
    in_order = (steps == 1).all(axis=0) | (whole & (steps > 0).all(axis=0) & (len(first) > 3))
    if len(first) > 2 and in_order[0] and in_order.sum() == 1:
        return f"whole numbers in their order, from {first[0]:g} to {first[-1]:g}"
    return None


def _find_traits(values: np.ndarray, runs: Sequence[str], integers: np.ndarray) -> list[int]:
    """Return the columns of whole numbers that have the name of a trait, or stand among columns of fractions."""
    counts = integers & np.isfinite(values).all(axis=0) & ~np.isin(values, _PLAIN_SCORES).all(axis=0)
    few = len(values) > 3 and 2 * (~integers).sum() >= len(runs)
    return [column for column in np.flatnonzero(counts).tolist() if few or names_trait(runs[column])]


def _have_distinct(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Say of the columns to look at whether they hold a different number on each line."""
    distinct = np.zeros(values.shape[1], dtype=bool)
    for column in np.flatnonzero(columns).tolist():
        distinct[column] = len(np.unique(values[:, column])) == len(values)
    return distinct
