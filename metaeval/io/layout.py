"""What the columns of a table of scores hold: their names tell; what their content contradicts or leaves open is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NoReturn

import numpy as np
import pandas as pd

from metaeval.data.columns import (
    CLUSTER,
    COLLECTION,
    CUTOFF_NAMES,
    DIRECTION,
    JUDGE,
    LABEL_NAMES,
    MEASURE_NAMES,
    NO_TOPICS,
    PEOPLE_NAMES,
    REPEAT,
    REPEAT_NAMES,
    RUN_NAMES,
    SCORE_NAMES,
    SURE_NAMES,
    TASK_NAMES,
    TIME_NAMES,
    TOPIC_NAMES,
    format_columns,
    is_index,
    names_topics,
    names_trait,
    plain_name,
)
from metaeval.data.rows import number
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import plain_path
from metaeval.io.table import Table, list_different
from metaeval.measures.resolve import measure_of_label
from metaeval.stats.oddities import names_statistic

LAYOUTS = ("tidy", "measures", "wide", "transposed")

ROLES: Mapping[str, frozenset[str]] = {
    "run": RUN_NAMES,
    "topic": TOPIC_NAMES,
    "measure": MEASURE_NAMES,
    "score": SCORE_NAMES,
    COLLECTION: frozenset({COLLECTION}),
    DIRECTION: frozenset({DIRECTION, "greater_is_better"}),
    "time": TIME_NAMES,
}
"""What a column can hold, and the names that say so."""

IGNORE = "ignore"  # what columns are called that the user wants left out

_PREDICTED = re.compile(r"pred|predictions?|(predicted|forecast)(_.*)?").fullmatch
NEEDED = "columns run, topic, measure, score are needed, or a row per topic and a column per run"


class FormatError(DataError):
    """What a file holds, or what the columns of a table do, cannot be told."""


@dataclass(frozen=True)
class Layout:
    """What the columns of a table hold: their names by what they hold, and those of scores."""

    kind: str
    table: Table
    roles: Mapping[str, str]
    scores: tuple[str, ...]
    unused: tuple[str, ...] = ()


def _ask(table: Table, question: str, *hints: str, **answers: str | Mapping[str, str]) -> NoReturn:
    """Refuse a table that may mean several things, and spell out what to type for each of them."""
    said = {what: answer if isinstance(answer, str) else format_columns(answer) for what, answer in answers.items()}
    shown = [*hints, *(f"{what.replace('_', ' ')}: {answer}" for what, answer in said.items())]
    raise FormatError(question, file=table.file, line=1 if table.lines else None, hint="; ".join(shown))


def _list(table: Table) -> str:
    return f"(columns: {format_list(table.header)})"


def find_layout(table: Table, columns: Mapping[str, str] | None = None, kind: str | None = None) -> Layout:
    """Return what the columns of a table hold; `columns` is what the user says, and `kind` one of the `LAYOUTS`."""
    table, stated = _find_stated(table, dict(columns or {}))
    roles = _find_roles(table, stated) if kind not in ("wide", "transposed") else stated
    if kind is None:
        labels = [name for name in table.columns if plain_name(name) in LABEL_NAMES]
        if len(labels) > 1 and "score" not in roles:
            score_them = f"{format_option('read_runs')} with the layout labels and all classes"
            _ask(table, f"{format_list(labels)} hold labels, not scores", score_them_first=score_them)
        plain = {*map(plain_name, table.columns)}
        if {"rank", "score"} < plain and plain & {"docno", "docid", "doc_id"} and plain & {"qid", "query_id"}:
            hint = "score them by trec_eval, and read what it prints"
            _ask(table, "it holds ranked documents of runs, not scores", hint)
        if predicted := [name for name in table.columns if _PREDICTED(plain_name(name)) and table.holds_numbers(name)]:
            hint = f"compute scores of them first; else {format_columns({IGNORE: '+'.join(predicted)})} leaves them out"
            _ask(table, f"{format_list(predicted)} hold predictions, not scores", hint)
        run = stated.get("run", "")
        if run and "topic" not in roles and not table.holds_numbers(run) and table.count_doubled([run]):
            _refuse_lack(table, "topic", roles)
        lacking = not {"run", "topic"} <= roles.keys() and not {"score", "measure"} & stated.keys()
        # What the user calls a run may be a column of topics × runs that looked like none.
        is_run = {*stated} == {"run"} and "score" not in roles and table.holds_numbers(stated["run"])
        if lacking or (is_run and not table.count_doubled([roles["topic"]])):
            return _find_matrix(table, stated, None, roles)
    if kind in ("wide", "transposed"):
        return _find_matrix(table, stated, kind, roles)
    return _find_long(table, roles, stated, kind)


def _find_stated(table: Table, columns: dict[str, str]) -> tuple[Table, dict[str, str]]:
    """Return the columns that the user names, by what they hold; a+b is a column that joins two."""
    ignored = columns.pop(IGNORE, None)
    if ignored is not None:
        names = [ignored] if ignored in table.columns else ignored.split("+")
        for name in names:
            table.resolve({IGNORE: name})
        table = table.select(name for name in table.columns if name not in names)
        if not table.columns:
            raise DataError("no column is left", file=table.file)
    run = columns.get("run", "")
    parts = run.split("+")
    together = run not in table.columns and len(parts) > 1 and {*parts} <= {*table.columns}
    if together and all(map(table.holds_numbers, parts)):
        columns["run"] = parts[0]  # columns of scores, which are known to be runs
    return table.resolve(columns), columns


def _find_roles(table: Table, stated: Mapping[str, str]) -> dict[str, str]:
    """Return the columns whose names tell what they hold; of several runs, or topics, those that leave fewest doubles."""
    roles = dict(stated)
    several: dict[str, list[str]] = {}
    for role, usual in ROLES.items():
        if role in roles:
            continue
        free = [name for name in table.columns if name not in roles.values()]
        exact = [name for name in free if plain_name(name) == role]
        found = [name for name in free if plain_name(name) in usual]
        found = exact or found if role != "run" else found  # a run may be a repeat of what another column names
        found = [name for name in found if role != "score" or table.holds_numbers(name)] or found
        if role in ("run", "topic") and not found:  # prompt_id, before rater_id
            found = [name for name in free if plain_name(name).removesuffix("_id") in usual]
        if role == "topic" and found and SURE_NAMES.isdisjoint(map(plain_name, found)):  # as samples of tasks
            found += [name for name in free if names_topics(name) and not is_index(name) and name not in found]
        if role == "measure" and not exact:
            found = _find_telling(table, [name for name in found if not table.holds_numbers(name)])
        if role == "topic" and not found:
            found = [name for name in free if names_topics(name) and not is_index(name)] or [
                name for name in free if is_index(name) and name and table.count_doubled([name])
            ]
        if not found:
            continue
        if len(found) == 1 or role not in ("run", "topic", "score"):
            roles[role] = found[0]
        elif role != "score":
            several[role] = found
    named = [name for name in table.columns if plain_name(name) == "name" and name not in roles.values()]
    if named and "run" not in {*roles, *several} and {"topic", "measure", "score"} <= {*roles}:
        roles["run"] = named[0]  # as PyTerrier calls it
    return {**roles, **_choose_of_several(table, several, roles)} if several else roles


def _choose_of_several(table: Table, several: Mapping[str, list[str]], roles: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of runs, and of topics, that leave fewest doubles; ask where that does not tell the runs."""
    fixed = [roles[role] for role in ("run", "topic", "measure", COLLECTION) if role in roles]
    if "run" in roles and table.count_doubled([roles["run"]]) < table.n_rows - 1:  # what numbers the rows tells nothing
        several = {
            role: [name for name in names if table.count_doubled([name])] or names for role, names in several.items()
        }
    left = {choice: table.count_doubled([*fixed, *choice]) for choice in product(*several.values())}
    best = min(left, key=left.__getitem__)
    for run, other in ((best[0], choice[0]) for choice in left if "run" in several):
        # If as many rows are alike in both as in one of them, it is a part of the other: a team and its runs.
        if table.count_doubled([run, other]) not in map(table.count_doubled, ([run], [other])):
            answers = {"or": {"run": other}, "together": {"run": f"{run}+{other}"}}
            _ask(table, f"{run!r} and {other!r} are called as runs are", say_which={"run": run}, **answers)
    return dict(zip(several, best, strict=True))


def _find_telling(table: Table, names: list[str]) -> list[str]:
    """Return the only column that tells measures apart, of several called as such columns are; ask where two may."""
    telling = [name for name in names if len(np.unique(table.codes(name))) > 1] or names
    if len(telling) > 1:
        answers = {"say_so": {"measure": telling[0]}, "if_they_do_together": {"measure": "+".join(telling)}}
        _ask(table, f"which column names the measures: {format_list(list(map(repr, telling)))}?", **answers)
    return telling


def _find_long(table: Table, roles: dict[str, str], stated: Mapping[str, str], kind: str | None) -> Layout:
    for role in ("run", "topic"):
        if role not in roles:
            _refuse_lack(table, role, roles)
    parts = {part for name in stated.values() for part in name.split("+")}
    named = {*roles.values(), *parts}
    rest = [name for name in table.columns if name not in named]
    scores = _find_numbers(table, rest, roles)
    if kind == "measures" and "score" in roles:
        scores = [*scores, roles.pop("score")]
        scores = [name for name in table.columns if name in scores]
    elif "score" not in roles and ("measure" in roles or kind == "tidy"):
        usual = [name for name in scores if plain_name(name) in SCORE_NAMES] or scores
        if len(usual) != 1:
            question = f"which column holds the scores: {format_list(usual)}?"
            question = question if usual else f"there is no column 'score' {_list(table)}"
            _ask(table, question, **({"say_so": {"score": usual[0]}} if usual else {}))
        roles["score"] = usual[0]
    elif "score" in roles and "measure" not in roles and "score" not in stated and kind is None and scores:
        shown = format_list([name for name in table.columns if name in (*scores, roles["score"])])
        each = format_option("format", "measures")
        question = f"scores of one measure, or of several? Numbers are in {shown}"
        _ask(table, question, one={"score": roles["score"]}, a_measure_in_each=each)
    elif len(scores) > 1 and {plain_name(name).strip("_0123456789") for name in scores} <= REPEAT_NAMES:
        question = f"{format_list(scores)} are called as repeats are, not as measures"
        _ask(table, question, f"give a row per score, with a column of repeats: {format_columns({REPEAT: 'NAME'})}")
    if "score" in roles:
        scores = [roles["score"]]
    if not scores:
        marked = [f": {name!r} holds {table.columns[name][0]!r}" for name in rest if _may_hold_scores(table, name)]
        question = f"there is no column of scores beside {roles['run']!r} and {roles['topic']!r} {_list(table)}"
        say = {"if_it_is_time": {"score": roles["time"]}} if "time" in roles else {}
        _ask(table, question + "".join(marked[:1]), needed=NEEDED, **say)
    # Where no score has to be the latest, a time is not used.
    keys = [name for role, name in roles.items() if role not in ("score", "time", DIRECTION)]
    took = "time" in roles and not table.count_doubled(keys)
    used = {*scores, *(name for role, name in roles.items() if role != "time" or not took)}
    free = [name for name in table.columns if name not in used and name not in parts]
    bare = ("", "level_0")  # an index of pandas without a name
    unused = tuple(name for name in free if not is_index(name) or (name not in bare and not counts_rows(table, name)))
    return Layout("tidy" if "score" in roles else "measures", table, roles, tuple(scores), unused)


def _find_numbers(table: Table, free: Iterable[str], roles: Mapping[str, str]) -> list[str]:
    """Return the columns that may hold scores: numbers that describe no runs or topics and do not number parts of them.

    Whole numbers that are the same for several runs and tell apart all rows of a run and topic number parts, as paragraphs.
    """
    free = [name for name in free if not (names_trait(name) or names_topics(name) or plain_name(name) in RUN_NAMES)]
    numeric = [name for name in free if table.holds_numbers(name) and not _sums_up(name, table.columns)]
    if table.n_rows > 1_000_000:  # a small file of Parquet can hold any number of rows
        return numeric
    if len(numeric) > 1:
        numeric = [name for name in numeric if _names_score(name) or not _describes(table, name, roles)] or numeric
    keys = [roles[role] for role in ("run", "topic", "measure", COLLECTION, REPEAT, JUDGE) if role in roles]
    whole = [name for name in numeric if table.holds_integers(name)]
    if not whole or not table.count_doubled(keys):
        return numeric
    telling = [name for name in whole if not table.count_doubled([*keys, name])]
    parts = [name for name in telling if 2 * table.count_doubled([*keys[1:], name]) >= table.n_rows]
    return [name for name in numeric if name not in parts]


def _describes(table: Table, name: str, roles: Mapping[str, str]) -> bool:
    """Say whether a column is the same in all rows of each run, or of each topic, of which there are several."""
    doubled = {role: table.count_doubled([roles[role]]) for role in ("run", "topic")}
    several = all(0 < n < table.n_rows - 1 for n in doubled.values())
    return several and any(table.count_doubled([roles[role], name]) == n for role, n in doubled.items())


def _refuse_lack(table: Table, role: str, roles: Mapping[str, str]) -> NoReturn:
    """Refuse a table without a column of runs, or of topics, and name the columns that may hold them."""
    known = {other: roles[other] for other in ("run", "topic") if other in roles}
    keys = [roles[other] for other in ("run", "measure", COLLECTION) if other in roles]
    if role == "topic" and not table.count_doubled(keys):
        refuse_means(table)
    question = f"no column is called as {role}s are {_list(table)}"
    _ask(table, question, say_which_is=_guess_labels(table, known) or {role: "NAME"}, two_that_are_it_together="A+B")


def refuse_means(table: Table) -> NoReturn:
    """Refuse a table of runs without topics, one number a run, and say what can be done."""
    means = f"it seems to hold one number a run and no topics {_list(table)}"
    hint = "give the scores of every topic (segment, query, document), of which such numbers are means"
    problem = f"{means}, but the analyses look at how scores vary over topics"
    _ask(table, problem, hint, if_the_columns_are_topics=format_option("format", "transposed"))


def _find_matrix(table: Table, stated: Mapping[str, str], kind: str | None, roles: Mapping[str, str]) -> Layout:
    odd = sorted({*stated} - {"run", "topic"})
    if odd:
        problem = f"in a table of topics × runs no column is the {odd[0]}: one is the topic, all others are runs"
        hint = f"name the topic only: {format_columns({'topic': table.header[0]})}"
        hint = "give a row per score, as melt of pandas makes them" if odd[0] in (CLUSTER, REPEAT, JUDGE) else hint
        raise DataError(problem, file=table.file, hint=hint)
    names = list(table.columns)
    counts = [name for name in names if counts_rows(table, name) or _sums_up(name, names)]
    counts += [name for name in names if counts and plain_name(name) == "p"]  # beside delta, a p-value
    labels = [name for name in names if name not in counts or len(names) < 3] or names
    # What rows are about stands first, or behind a count of them, unless another column is called so.
    first = labels[0] if names_topics(labels[0]) or not table.holds_numbers(labels[0]) else names[0]
    topical = [name for name in names if names_topics(name) and not (is_index(name) or table.count_doubled([name]))]
    unlike = not names_topics(first) or table.count_doubled([first]) or (is_index(first) and plain_name(first) != "id")
    if topical and unlike:
        first = topical[0]
    first = stated.get("run", stated.get("topic", first))
    if kind is None and _holds_runs_in_rows(table, first, names, stated, roles):
        kind = "transposed"
    rest = [name for name in names if name != first and name not in counts]
    if kind == "transposed":
        if table.holds_numbers(first) and not table.holds_integers(first) and "run" not in stated:
            question = f"the first column, {first!r}, holds fractions, not names of runs"
            _ask(table, question, needed="a column run before them")
        return _matrix(table, kind, {"run": first}, [name for name in rest if _may_hold_scores(table, name)])
    topic = stated.get("topic", first if names_topics(first) and "run" not in stated else None)
    if "run" in stated and topic is None:
        topic = next((name for name in (labels[0], names[0]) if names_topics(name) and name != stated["run"]), None)
    if kind is None and "run" not in stated:
        taken = {topic, *counts, *roles.values()}
        _refuse_measures_in_names(table, [name for name in names if name not in taken])
    if kind is None and not stated:
        _refuse_what_is_no_matrix(table, first, topic, [name for name in names if name not in counts], roles)
    known = [stated["run"]] if stated.get("run") in names else []
    parts = {*(topic or "").split("+")} - {topic}
    parts = parts if "run" not in stated and parts <= {*names} else set()
    runs = [name for name in names if name not in (topic, *parts) and (name not in counts or name in known)]
    runs = [name for name in runs if not is_index(name) or plain_name(name) == "id" or topic is None] or runs
    runs = runs or [name for name in counts if name != topic]  # fusions called min, max and sum
    runs = [name for name in runs if topic is None or _may_hold_scores(table, name)]
    unsure = topic is None or topic in counts
    traits = [name for name in runs if names_trait(name) and table.holds_integers(name) and name not in known]
    kept = [name for name in runs if name not in traits or (unsure and name == runs[0])] or runs
    return _matrix(table, "wide", {"topic": topic}, kept)


def _matrix(table: Table, kind: str, roles: Mapping[str, str | None], scores: list[str]) -> Layout:
    if not scores:
        rows, column = ("topics", "run") if kind == "wide" else ("runs", "topic")
        line = 1 if table.lines else None
        raise DataError(f"there are {rows}, but no column of a {column}", file=table.file, line=line)
    named = {role: name for role, name in roles.items() if name is not None}
    used = {*scores, *named.values(), *(part for name in named.values() for part in name.split("+"))}
    unused = (name for name in table.columns if name not in used and not counts_rows(table, name))
    return Layout(kind, table, named, tuple(scores), tuple(unused))


def counts_rows(table: Table, name: str) -> bool:
    """Say whether a column has the name of an index and counts the rows, from 0 or from 1."""
    if not is_index(name) or not table.holds_numbers(name):
        return False
    values = table.numbers(name)
    return values[0] in (0, 1) and bool((np.diff(values) == 1).all())


def _may_hold_scores(table: Table, name: str) -> bool:
    """Say whether something in a column begins like a number, **0.5** too: others describe what the rows are about."""
    cells = table.columns[name]
    score = re.compile(r"\W*(\w+\{\W*)?\d(?!\d*[a-z]\d\w)").match  # and no hash, as 4f7e2
    begins = any(not isinstance(cell, str) or score(cell) for cell in cells)
    return table.holds_numbers(name) or begins or table.is_empty(name)


def _sums_up(name: str, names: Iterable[str]) -> bool:
    """Say whether a column is called as what sums up or compares others, as Std is, and BM25_rank beside BM25."""
    beside = any(plain_name(name).startswith(f"{plain_name(other)}_") for other in names)
    return names_statistic(name) and not _names_score(name) and (beside or not plain_name(name).endswith("_rank"))


def _names_score(name: str) -> bool:
    return plain_name(name) in SCORE_NAMES or measure_of_label(name).higher_is_better is not None


def _holds_runs_in_rows(
    table: Table, first: str, names: list[str], stated: Mapping[str, str], roles: Mapping[str, str]
) -> bool:
    """Say whether a first column names runs and all others are numbered topics; ask what others are that may be measures."""
    others = [name for name in names if name != first and not counts_rows(table, name)]
    if "topic" in {*stated, *roles} or not others or plain_name(first) not in RUN_NAMES:
        return False
    if table.count_doubled([first]):
        _refuse_lack(table, "topic", {"run": first, **roles})
    if table.holds_numbers(first) or not all(table.holds_numbers(name) or table.is_empty(name) for name in others):
        return False
    if len(others) > 1 and _number_topics(others):
        return True
    refuse_means(table)


def _number_topics(names: Sequence[str]) -> bool:
    """Say whether names are numbers behind one word that names topics, as q1, q2, …, or behind none."""
    # From behind, where the number stands: no pattern has to try where it may begin.
    ends = [re.match(r"\d+[\s_-]*", name[::-1]) for name in names]
    words = {plain_name(name[: len(name) - end.end()]) for name, end in zip(names, ends, strict=True) if end}
    return all(ends) and len(words) == 1 and words <= {*TOPIC_NAMES, "", "t"}


def _refuse_what_is_no_matrix(
    table: Table, first: str, topic: str | None, names: list[str], roles: Mapping[str, str]
) -> None:
    """Refuse what is not topics × runs, or may be runs × topics."""
    runs = [name for name in names if name != topic]
    others = RUN_NAMES | MEASURE_NAMES | SCORE_NAMES | LABEL_NAMES
    odd = [name for name in runs if plain_name(name) in others or (names_topics(name) and not is_index(name))]
    odd = [name for name in odd if table.holds_numbers(name)]
    for role, lack in (("topic", "run"), ("run", "topic")):
        if role in roles and odd:
            _refuse_lack(table, lack, roles)
    numeric = [name for name in runs if table.holds_numbers(name)]
    again = not table.holds_numbers(first) and first in list_different(table.columns[first])
    some = again or (any(map(_is_score, table.header)) and not is_line_of_scores(table.header))
    if some and topic is None and table.lines:
        hint = "put a first line into the file that names the columns: run,topic,measure,score"
        _ask(table, f"its first line holds scores, not names of columns ({format_list(table.header)})", hint)
    words = not table.holds_numbers(first) and not np.isfinite(table.numbers(first)).any()
    labelled = topic is None and words and not odd and len(runs) > 1 and 2 * len(numeric) > len(runs) - 1
    single = topic is None and bool(numeric) and table.n_rows == 1  # {"exact": 80.1, "f1": 83.2}
    if (single and table.file and not table.lines) or (labelled and all(map(_names_score, numeric))):
        refuse_means(table)
    numbered = topic is not None and plain_name(topic) not in TOPIC_NAMES and len(runs) > 1 and _number_topics(runs)
    if labelled and table.count_doubled([first]):
        _ask(table, f"what names the topics? {first!r} is the same in several rows", hint_columns(table))
    if labelled or (numbered and not (runs[0].isdecimal() and table.holds_integers(first))):
        topics = {"topic": first} if first.strip() else format_option("format", "wide")
        turned = format_option("format", "transposed")
        question = f"does the first column, {first!r}, name topics or runs?"
        _ask(table, question, topics=topics, **{"runs, so that the other columns are topics": turned})
    if topic is not None and is_index(topic) and {str(cell) for cell in table.columns[topic]} == {*runs}:
        problem = "its rows and columns have the same names, as those of correlations or comparisons have"
        _ask(table, problem, if_they_are_scores_of_runs_on_topics=format_option("format", "wide"))
    no_table = len(names) == 1 and not plain_path(table.file or ".csv").lower().endswith((".csv", ".tsv", ".xlsx"))
    few = 2 * len(numeric) <= sum(not table.is_empty(name) for name in runs)
    plain = [name for name in runs if topic is None or not _may_hold_scores(table, name)]  # unlike 0.5 (1), **0.5**
    texts = few and any(isinstance(cell, str) for name in plain for cell in table.columns[name][:1])
    if odd or no_table or texts:
        _ask(table, f"its columns do not tell what they hold ({format_list(table.header)})", hint_columns(table))
    doubled = table.count_doubled([str(topic)]) if topic in table.columns else 0
    labels = [name for name in runs if not _may_hold_scores(table, name)] if doubled else []
    left = {name: table.count_doubled([str(topic), name]) for name in labels}
    told = min(left, key=left.__getitem__, default="")
    if told and left[told] < doubled:
        answers = {} if _holds_measures(table, told) else {"runs": {"run": told}}
        answers |= {"parts of topics": {"topic": f"{topic}+{told}"}}
        melt = "measures: give a row per score, as melt of pandas makes them"
        _ask(table, f"{topic!r} is the same in several rows, which {told!r} tells apart", melt, **answers)


def _refuse_measures_in_names(table: Table, names: Sequence[str]) -> None:
    """Refuse columns that are called like measures, or by a run and a measure each: System 1 acc, System 1 BLEU, …."""
    correlated = [str(cell) for cell in table.columns[table.header[0]]] == list(names)
    bases = {re.sub(r"\.\d+$", "", name) for name in names}
    if 1 < len(bases) <= len(names) / 2 and bases <= {*names} and len(names) % len(bases) == 0:
        problem = f"every name stands there several times ({format_list(names)}): a line above them is lost"
        _ask(table, problem, needed=NEEDED)
    names = [name for name in names if name in table.levels] if table.levels else names
    runs = format_option("format", "wide") if table.file else format_columns({"run": names[0] if names else "NAME"})
    known = [measure_of_label(name).higher_is_better is not None for name in names]
    some = table.n_rows > 1 and all(map(table.holds_numbers, names)) and not is_line_of_scores(names)
    if names and not correlated and (any(known) if some and len(names) > 1 else all(known)):
        question = f"are its columns runs, or measures of a single run ({format_list(names)})?"
        _ask(table, question, "of measures, add a column run that names it", runs=runs)
    if table.levels:
        upper, lower = zip(*table.levels.values(), strict=True)
        level = 0 if any(map(_names_score, upper)) and not any(map(_names_score, lower)) else 1
        pairs = [table.levels.get(name, (name, name)) for name in names]
        measures = list(dict.fromkeys(pair[level] for pair in pairs))
    else:
        pairs, measures = _split_names(names)
    if len(measures) < 2:
        return
    held = {one: [name for name, pair in zip(names, pairs, strict=True) if one in pair] for one in measures}
    mine = max(held.values(), key=len)
    ignored = format_columns({IGNORE: "+".join(name for name in names if name not in mine)})
    short = len(ignored) < 600 and not re.search("[,+]", "".join(names))
    several = f"{len(mine)} runs by {len(measures)} measures ({format_list(measures)})"
    hint = f"runs: {runs}; else keep those of one measure, {ignored if short else format_list(mine)}"
    raise FormatError(f"are these {len(names)} columns as many runs, or {several}?", file=table.file, hint=hint)


_MARKS = " _.:/|,()'\"-"


def _split_names(names: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return names in two parts and the measures among these; no measures where names are not each run with each measure.

    What follows a run, or stands before it, is a measure if one of them is known, or if all runs are called System, Model, ….
    """
    tokens = [re.split(r"([\W_]+)", name) for name in names]  # every second one separates two others
    for cut in (-1, 1, -3, 3, -5, 5):
        if len(names) < 4 or min(map(len, tokens)) <= abs(cut):
            break
        sides = [("".join(parts[:cut]), "".join(parts[cut:])) for parts in tokens]
        pairs = [(run.strip(_MARKS), measure.strip(_MARKS)) for run, measure in sides]
        first, last = (list(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
        if min(len(first), len(last)) < 2 or not len(first) * len(last) == len(names) == len(set(pairs)):
            continue
        for measures in (last, first):
            if any(map(_names_score, measures)):
                return pairs, measures
        if all(plain_name(run).split("_")[0] in RUN_NAMES for run in first):
            return pairs, last
    return [], []


def hint_columns(table: Table | None = None) -> str:
    """Return what a table should look like, for a message, and which of its columns may name the runs and the topics."""
    say = format_columns({"run": "NAME", "topic": "NAME", "score": "NAME"})
    if table and (found := _guess_labels(table)):
        say = f"{format_columns(found)}, or whichever do"
    return f"{NEEDED}; say what they are called: {say}; gold and runs are for {format_option('read_runs')}"


def _guess_labels(table: Table, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return columns that may name runs and topics: together they tell the first rows apart, and have fewest values."""
    found = dict(known or {})
    names = [name for name in table.columns if not re.search("[,=+]", name) and not is_index(name)]
    telling = [name for name in names if name not in found.values() and _holds_measures(table, name)][:1]
    fixed = [*found.values(), *telling]
    codes = pd.DataFrame({name: table.codes(name)[:100_000] for name in (*fixed, *names)})
    n, values = len(codes), {name: codes[name].nunique() for name in codes}
    scored = {name for name in names if table.holds_numbers(name)}
    labels = [name for name in names if name not in fixed and 1 < values[name] < n]
    labels = [name for name in labels if name not in scored or (2 * values[name] <= n and table.holds_integers(name))]
    beside = [name for name in labels if plain_name(name) in REPEAT_NAMES | PEOPLE_NAMES | CUTOFF_NAMES]
    repeats = [name for name in beside if plain_name(name) not in PEOPLE_NAMES]
    labels = [name for name in labels if not (_names_score(name) or names_trait(name) or name in repeats)][:6]
    more = [size - len(found) for size in (2, 3) if size > len(found)]
    groups = [(*fixed, *group) for size in more for group in combinations(labels, size)]
    apart = [group for group in groups if {*group}.isdisjoint(beside)]
    groups = [*apart, *((*group, other) for group in apart for other in beside), *groups]
    groups = [group for group in groups if scored - {*group} and not codes[[*group]].duplicated().any()]
    if not groups and not known:
        topics = [name for name in names if values[name] == n and name not in scored and len(scored) > 1]
        return {"topic": topics[0]} if topics else {}
    ratings = scored - {*fixed, *beside}  # whole numbers, which may be scores
    group = min(groups, key=lambda each: (len(ratings & {*each}), math.prod(values[one] for one in each)), default=())
    other = group[-1] if group and group[-1] in beside and len(group) > len(fixed) + 1 else ""
    free = [name for name in group if name not in (*fixed, other)]
    no_runs = [name for name in free if names_topics(name) or plain_name(name) in TASK_NAMES]
    if "run" not in found and len(free) > len(no_runs):
        usual = NO_TOPICS | TOPIC_NAMES | TASK_NAMES
        free.sort(key=lambda one: (plain_name(one) not in RUN_NAMES, plain_name(one) in usual, values[one]))
        found["run"] = free.pop(0)
    wide = len(scored - {*group}) > 1 and not telling  # columns of scores may be runs themselves
    if "run" not in found and "topic" in found and free:
        found["topic"] = "+".join(sorted([found["topic"], *free], key=names.index))
    found = {"run": "run" if wide else "NAME", "topic": "+".join(sorted(free, key=names.index)) or "NAME", **found}
    telling += [other] if plain_name(other) in CUTOFF_NAMES else []  # recall at k
    found |= {"measure": "+".join(telling)} if telling else {}
    found |= {REPEAT: other} if other and other not in telling else {}
    return {what: name for what, name in found.items() if what != name}


def _holds_measures(table: Table, name: str) -> bool:
    """Say whether a column is called as those of measures are, or most of what it holds is."""
    held = [] if table.holds_numbers(name) else [*dict.fromkeys(map(str, list_different(table.columns[name])))][:100]
    return plain_name(name) in MEASURE_NAMES or 2 * sum(map(_names_score, held)) > len(held)


def _is_score(name: str) -> bool:
    return bool(np.isfinite(number(name))) and not name.isdecimal()


def is_line_of_scores(header: Iterable[str]) -> bool:
    """Tell whether a header is a line of scores, ``0.12,-1``; ``1,2,3`` may be names of runs."""
    names = list(header)
    return any(map(_is_score, names)) and all(np.isfinite(number(name)) for name in names)
