"""Columns by their names: which hold runs, topics, measures and scores, and what a user is told where none says so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from metaeval.errors import format_option

COLUMNS = ("run", "topic", "measure", "score")

# Optional columns: true or false where a measure's name does not tell its direction, and the collection's name.
DIRECTION, COLLECTION = "higher_is_better", "collection"
# What columns hold that the user alone names: which topics belong together, which scores repeat others, and whose they are.
CLUSTER, REPEAT, TASK, JUDGE = "cluster", "repeat", "task", "judge"

# What columns are called, as `plain_name` returns it.
RUN_NAMES = frozenset({
    "run", "run_id", "runid", "runtag", "system", "system_id", "sys", "sysid", "model", "model_id", "model_name", "team",
    "method", "submission", "candidate", "agent", "algorithm", "approach", "classifier", "clf",
    "solver", "parser", "predictor", "learner", "policy",
})  # fmt: skip
TOPIC_NAMES = frozenset({
    "topic", "topics", "topic_id", "topicid", "query", "query_id", "queryid", "qid", "q", "segment", "segment_id", "seg",
    "seg_id", "question", "question_id", "document", "document_id", "doc", "doc_id", "docid", "item", "item_id",
    "instance", "instance_id", "dialogue", "dialogue_id", "example", "example_id", "prompt", "sample", "sentence", "passage",
    "conversation", "tweet", "paragraph", "utterance", "image", "image_id", "case", "case_id", "problem", "problem_id",
    "user_id", "utt_id", "utterance_id",
})  # fmt: skip
INDEX_NAMES = frozenset({"", "id", "index", "idx", "nr", "no.", "s.no", "s.no.", "row", "#"})
MEASURE_NAMES = frozenset({"measure", "metric", "metric_name", "evaluator", "scorer"})
# Columns of topics and of measures that nothing else is called as.
SURE_NAMES = (TOPIC_NAMES | MEASURE_NAMES | INDEX_NAMES) - {"q", "prompt", "sample", "evaluator", "scorer"}
SCORE_NAMES = frozenset({"score", "value", "result", "rating"})
LABEL_NAMES = frozenset({"label", "gold", "predicted", "y_true", "y_pred", "truth", "true_label", "prediction"})
# What divides topics into collections; documents and domains do not.
TASK_NAMES = frozenset({
    "task", "tasks", "benchmark", "dataset", "data_set", "subset", "suite", "testset", "test_set", "lp", "language_pair",
    "lang", "language", "subtask", "corpus", "edition", "direction", "round", "year",
})  # fmt: skip
REPEAT_NAMES = frozenset({
    "seed", "fold", "epoch", "repeat", "repetition", "trial", "attempt", "sample_id", "step", "iteration", "bootstrap",
    "random_state", "replicate",
})  # fmt: skip
PEOPLE_NAMES = {"annotator", "rater", "judge", "worker", "participant", "listener", "reader", "observer", "expert"}
CUTOFF_NAMES = {"k", "cutoff", "top_k", "depth"}  # of ranked documents, parts of measures
NO_TOPICS = RUN_NAMES | REPEAT_NAMES | PEOPLE_NAMES | {"gpu", "config", "split"}
TIME_NAMES = frozenset({"time", "tstamp", "timestamp", "datetime", "created_at", "evaluated_at"})
# What describes a topic or a repeat by whole numbers, and holds no scores.
TRAIT_NAMES = frozenset({
    "seed", "fold", "year", "length", "len", "n", "cluster", "epoch", "repeat", "tstamp", "timestamp", "date", "turn", "turns",
    "step", "steps", "iteration", "bootstrap",
})  # fmt: skip


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
    return is_index(name) or plain in TOPIC_NAMES or (plain.endswith("_id") and plain[:-3] not in NO_TOPICS)


def format_columns(names: Mapping[str, str]) -> str:
    """Return the names of columns as the user would state them, in Python or on the command line."""
    option = format_option("columns")
    if not option.startswith("-"):
        return f"{option}={dict(names)}"
    own = {what: format_option(f"{what}s") for what in (CLUSTER, REPEAT, TASK, JUDGE) if what in names}
    words = [f"{flag} {shlex.quote(names[what])}" for what, flag in own.items() if flag.startswith("-")]
    others = [f"{what}={name}" for what, name in names.items() if not own.get(what, "").startswith("-")]
    return " ".join([f"{option} {shlex.quote(','.join(others))}"] * bool(others) + words)
