"""What the columns of a table of scores hold: names and content tell; where they do not, the user is asked.

========== ====================================================================
tidy       a row per score: run, topic, measure, score
measures   a row per run and topic, a column per measure
wide       a row per topic, a column per run
transposed a row per run, a column per topic
========== ====================================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from metaeval.data.cells import number
from metaeval.data.columns import (
    CLUSTER,
    COLLECTION,
    DIRECTION,
    JUDGE,
    LABEL_NAMES,
    MEASURE_NAMES,
    REPEAT,
    RUN_NAMES,
    SCORE_NAMES,
    TIME_NAMES,
    TOPIC_NAMES,
    find_topics,
    format_columns,
    is_index,
    names_topics,
    names_trait,
    numbers_rows,
    plain_name,
)
from metaeval.data.totals import is_total
from metaeval.errors import DataError, format_count, format_list, format_option
from metaeval.files import plain_path
from metaeval.io.table import ColumnsError, Table, numbers
from metaeval.measures.resolve import measure_of_label

LAYOUTS = ("tidy", "measures", "wide", "transposed")

ROLES: Mapping[str, frozenset[str]] = {
    "run": RUN_NAMES,
    "topic": TOPIC_NAMES,
    "measure": MEASURE_NAMES,
    "score": SCORE_NAMES,
    COLLECTION: frozenset({COLLECTION}),
    DIRECTION: frozenset({DIRECTION}),
    "time": TIME_NAMES,
}
"""What a column can hold, and the names that say so."""


class LayoutError(DataError):
    """The columns of a table do not tell what they hold."""


@dataclass(frozen=True)
class Layout:
    """What the columns of a table hold: positions of columns by what they hold, and of those of scores."""

    kind: str
    table: Table
    roles: Mapping[str, int]
    scores: tuple[int, ...]
    unused: tuple[int, ...] = ()

    def cells(self, role: str) -> Any:
        """Return the cells of the column that holds this, or None."""
        return self.table.columns[self.roles[role]] if role in self.roles else None

    def name(self, role: str) -> str | None:
        """Return what the table calls the column that holds this."""
        return self.table.header[self.roles[role]] if role in self.roles else None


def find_layout(table: Table, columns: Mapping[str, str] | None = None, kind: str | None = None) -> Layout:
    """Return what the columns of a table hold; `columns` is what the user says, and `kind` one of the `LAYOUTS`.

    Raises
    ------
    LayoutError
        If names and content leave several possibilities; the message spells out how to choose.
    """
    table, stated = _find_stated(table, columns)
    if kind in ("wide", "transposed"):
        return _find_matrix(table, stated, kind)
    roles = _find_roles(table, stated)
    if kind is None:
        lacking = not {"run", "topic"} <= set(roles)
        if (lacking and not {"score", "measure"} & set(stated)) or _is_named_run(table, roles, stated):
            return _find_matrix(table, stated, None, roles)
        _refuse_doubtful_run(table, roles, stated)
    return _find_long(table, roles, stated, kind)


def _find_stated(table: Table, columns: Mapping[str, str] | None) -> tuple[Table, dict[str, int]]:
    """Return positions of the columns that the user names; a+b is a column that joins two."""
    stated: dict[str, int] = {}
    columns = dict(columns or {})
    ignored = columns.pop(IGNORE, None)
    if ignored is not None:
        table = _leave_out(table, [ignored] if ignored in table.header else ignored.split("+"))
    if columns.get(CLUSTER) == table.header[0] and len(table.header) > 1:
        # A first column would be taken for topics or runs.
        cells, table = table.columns[0], _leave_out(table, [table.header[0]])
        table = replace(table, header=(*table.header, columns[CLUSTER]), columns=(*table.columns, cells))
    for role, name in columns.items():
        parts = name.split("+")
        if name not in table.header and len(parts) > 1 and set(parts) <= set(table.header):
            if role == "run" and all(table.holds_numbers(table.header.index(part)) for part in parts):
                name = parts[0]  # columns of scores, which are known to be runs
            else:
                table = _join_columns(table, name, parts)
        if name not in table.header:
            problem = f"there is no column {name!r} to be the {role} (columns: {format_list(table.header)})"
            raise ColumnsError(problem, file=table.file)
        stated[role] = table.header.index(name)
    if len(set(stated.values())) < len(stated):
        raise DataError("one column cannot stand for two", file=table.file, hint=format_option("columns"))
    return table, stated


IGNORE = "ignore"
"""What columns are called that the user wants left out."""


def _leave_out(table: Table, names: Sequence[str]) -> Table:
    for name in names:
        if name not in table.header:
            problem = f"there is no column {name!r} to be ignored (columns: {format_list(table.header)})"
            raise ColumnsError(problem, file=table.file)
    kept = [j for j, name in enumerate(table.header) if name not in names]
    if not kept:
        raise DataError("no column is left", file=table.file)
    columns = table.columns.keep(kept) if hasattr(table.columns, "keep") else tuple(table.columns[j] for j in kept)
    return replace(table, header=tuple(table.header[j] for j in kept), columns=columns)


def _join_columns(table: Table, name: str, parts: Sequence[str]) -> Table:
    cells = [map(str, table.column(part)) for part in parts]
    joined = np.array(["/".join(row) for row in zip(*cells, strict=True)], dtype=object)
    return replace(table, header=(*table.header, name), columns=(*table.columns, joined))


def _find_roles(table: Table, stated: Mapping[str, int]) -> dict[str, int]:
    """Return the position of what names tell; of several columns of runs, or of topics, those that leave fewest doubles."""
    roles = dict(stated)
    several: dict[str, list[int]] = {}
    for role in ROLES:
        if role in roles:
            continue
        found = _find_candidates(table, role, [j for j in range(len(table.header)) if j not in roles.values()])
        if len(found) == 1 or (found and role not in ("run", "topic", "score")):
            roles[role] = found[0]
        elif found and role != "score":
            several[role] = found
    if "run" not in {*roles, *several} and {"topic", "measure", "score"} <= set(roles):
        named = [j for j, name in enumerate(table.header) if plain_name(name) == "name" and j not in roles.values()]
        if named:
            roles["run"] = named[0]  # as PyTerrier calls it
    if several:
        fixed = [roles[role] for role in ("run", "topic", "measure", COLLECTION) if role in roles]
        choices = list(product(*several.values()))
        doubles = [_count_doubled(table, [*fixed, *choice]) for choice in choices]
        roles.update(zip(several, choices[int(np.argmin(doubles))], strict=True))
    return roles


def _find_candidates(table: Table, role: str, free: Sequence[int]) -> list[int]:
    """Return the columns whose names say that they hold this: those that are called so, else those that usually do."""
    exact = [j for j in free if plain_name(table.header[j]) == role]
    found = exact or [j for j in free if plain_name(table.header[j]) in ROLES[role]]
    if role == "measure" and not exact:
        found = _find_telling(table, [j for j in found if not table.holds_numbers(j)])
    return _find_ids(table, free) if role == "topic" and not found else found


def _find_telling(table: Table, positions: list[int]) -> list[int]:
    """Return the only column that tells measures apart, of several called as such columns are; ask where two may."""
    telling = [j for j in positions if len(np.unique(table.codes(j))) > 1] or positions
    names = [table.header[j] for j in telling]
    if len(names) > 1:
        raise LayoutError(
            f"which column names the measures: {format_list(list(map(repr, names)))}?",
            file=table.file,
            hint=f"say so: {format_columns({'measure': names[0]})}; if they do together, "
            f"{format_columns({'measure': '+'.join(names)})}",
        )
    return telling


def _find_ids(table: Table, free: Sequence[int]) -> list[int]:
    """Return columns whose names end as those of topics do, or are that of an index, but do not count the rows."""
    names = [plain_name(name) for name in table.header]
    ids = [j for j in free if names[j].endswith("_id") and names[j] not in RUN_NAMES]
    return ids or [j for j in free if is_index(names[j]) and names[j] and not _is_unique(table, j)]


def _is_unique(table: Table, position: int) -> bool:
    return _count_doubled(table, [position]) == 0


def _count_doubled(table: Table, positions: Sequence[int]) -> int:
    """Return how many rows have the cells of another in these columns."""
    if not table.n_rows:
        return 0
    return int(pd.DataFrame({j: table.codes(j) for j in positions}).duplicated().sum())


def _is_named_run(table: Table, roles: Mapping[str, int], stated: Mapping[str, int]) -> bool:
    """Say whether what the user calls a run is a column of scores in a table of topics × runs."""
    named = set(stated) == {"run"} and "topic" in roles and "score" not in roles
    return named and table.holds_numbers(stated["run"]) and _is_unique(table, roles["topic"])


def _refuse_doubtful_run(table: Table, roles: Mapping[str, int], stated: Mapping[str, int]) -> None:
    """Refuse what may be topics × runs: the column of runs holds numbers, and every topic has one row."""
    run, topic = table.header[roles["run"]], table.header[roles["topic"]]
    if {"run", "topic"} & set(stated) or (run == "run" and "score" in roles) or not table.holds_numbers(roles["run"]):
        return
    if _is_unique(table, roles["topic"]):
        raise LayoutError(
            f"{run!r} may name the runs or hold the scores of one (columns: {format_list(table.header)})",
            file=table.file,
            hint=f"say so: {format_columns({'run': run, 'topic': topic})}, or {format_option('format', 'wide')}",
        )


def _find_long(table: Table, roles: dict[str, int], stated: Mapping[str, int], kind: str | None) -> Layout:
    """Return the columns of a table with a row per run and topic."""
    for role in ("run", "topic"):
        if role not in roles:
            _refuse_lack(table, role, roles)
    joined = {part for j in stated.values() for part in table.header[j].split("+")}
    rest = [j for j, name in enumerate(table.header) if j not in roles.values() and name not in joined]
    numeric = _find_numbers(table, rest, roles)
    scores = _find_scores(table, roles, numeric, kind, asked="score" in stated or kind is not None)
    unused = tuple(j for j in rest if j not in (*scores, roles.get("score")) and not is_index(table.header[j]))
    return Layout("tidy" if "score" in roles else "measures", table, roles, scores, unused)


def _find_scores(
    table: Table, roles: dict[str, int], numeric: list[int], kind: str | None, *, asked: bool
) -> tuple[int, ...]:
    """Return the column of scores, or the columns of measures; `asked`: the user has said which of both it is."""
    if kind == "measures" and "score" in roles:
        numeric = sorted([*numeric, roles.pop("score")])
    if "score" not in roles and ("measure" in roles or kind == "tidy"):
        usual = [j for j in numeric if plain_name(table.header[j]) in SCORE_NAMES] or numeric
        if len(usual) != 1:
            _refuse_score(table, usual)
        roles["score"] = usual[0]
    if "score" not in roles and kind is None:
        _refuse_labels(table)
    if "score" in roles:
        if "measure" not in roles and not asked and set(numeric) - {roles["score"]}:
            _refuse_several(table, sorted({*numeric, roles["score"]}), roles["score"])
        return (roles["score"],)
    measures = tuple(j for j in numeric if not _describes_topics(table, j, roles))
    if not measures:
        raise LayoutError(
            f"there is no column of scores beside {table.header[roles['run']]!r} and {table.header[roles['topic']]!r} "
            f"(columns: {format_list(table.header)})",
            file=table.file,
        )
    return measures


def _refuse_several(table: Table, positions: Sequence[int], score: int) -> NoReturn:
    raise LayoutError(
        f"scores of one measure, or of several? Numbers are in {format_list([table.header[j] for j in positions])}",
        file=table.file,
        hint=f"one: {format_columns({'score': table.header[score]})}; "
        f"a measure in each: {format_option('format', 'measures')}",
    )


_MOST_COUNTED = 1_000_000  # rows; a small file of Parquet can hold any number of them


def _find_numbers(table: Table, free: Sequence[int], roles: Mapping[str, int]) -> list[int]:
    """Return the columns that may hold scores: numbers that describe no topics and do not number parts of them."""
    numeric = [j for j in free if table.holds_numbers(j) and not _is_trait(table, j)]
    keys = [roles[role] for role in ("run", "topic", "measure", COLLECTION, REPEAT, JUDGE) if role in roles]
    if table.n_rows > _MOST_COUNTED or not any(holds_integers(table.columns[j]) for j in numeric):
        return numeric
    if not _count_doubled(table, keys):
        return numeric
    return [j for j in numeric if not _numbers_parts(table, j, keys)]


def _is_trait(table: Table, position: int) -> bool:
    name = plain_name(table.header[position])
    return is_index(name) or names_trait(name) or names_topics(name) or name in RUN_NAMES


def _numbers_parts(table: Table, position: int, keys: Sequence[int]) -> bool:
    """Say whether whole numbers, the same for several runs, tell apart all rows of a run and topic: such as paragraphs."""
    if not holds_integers(table.columns[position]) or _count_doubled(table, [*keys, position]):
        return False
    return 2 * _count_doubled(table, [*keys[1:], position]) >= table.n_rows


def holds_integers(cells: Any) -> bool:
    """Say whether all cells are whole numbers, written without a point."""
    kind = getattr(getattr(cells, "dtype", None), "kind", "O")
    return kind in "iub" if kind != "O" else all(map(_is_integer, cells))


def _is_integer(cell: Any) -> bool:
    return cell.strip().lstrip("+-").isdecimal() if isinstance(cell, str) else isinstance(cell, int | np.integer)


def _describes_topics(table: Table, position: int, roles: Mapping[str, int]) -> bool:
    """Say whether a column holds whole numbers that are the same for all runs of a topic, and not only 0 and 1."""
    values = _as_numbers(table, position)
    if not np.isfinite(values).all() or (values % 1).any() or np.isin(values, (0, 1)).all():
        return False
    per_topic = pd.Series(values).groupby(table.codes(roles["topic"])).nunique()
    return bool(len(per_topic) < table.n_rows and (per_topic == 1).all() and len(np.unique(values)) > 1)


def _refuse_lack(table: Table, role: str, roles: Mapping[str, int]) -> NoReturn:
    """Refuse a table without a column of runs, or of topics, and name the columns that may hold them."""
    _refuse_labels(table)
    names = [table.header[j] for j in range(len(table.header)) if j not in roles.values()]
    texts = [name for name in names if not table.holds_numbers(table.header.index(name))]
    other = "topic" if role == "run" else "run"
    known = {what: table.header[j] for what, j in roles.items() if what == other != table.header[j]}
    problem = f"no column is called as {role}s are (columns: {format_list(table.header)})"
    if role == "topic":
        if not _count_doubled(table, [roles[what] for what in ("run", "measure", COLLECTION) if what in roles]):
            refuse_means(table)
        _, sizes = np.unique(table.codes(roles["run"]), return_counts=True)
        problem = f"each run has up to {sizes.max():,} rows, but {problem}"
    may = next(iter([name for name in (texts or names) if plain_name(name) not in ROLES["score"]]), "NAME")
    raise LayoutError(
        problem,
        file=table.file,
        hint=f"say which is: {format_columns({role: may, **known})}; two that are it together: A+B",
    )


def refuse_means(table: Table) -> NoReturn:
    """Refuse a table of runs without topics, one number a run, and say what can be done."""
    raise LayoutError(
        f"it holds one number a run and no topics (columns: {format_list(table.header)}), "
        "but the analyses look at how scores vary over topics",
        file=table.file,
        hint="give the scores of every topic (segment, query, document), of which such numbers are means; if the columns "
        f"are topics, {format_option('format', 'transposed')}; metaeval.stats.rank_correlation.tau compares two lists "
        "of such numbers",
    )


def _refuse_labels(table: Table) -> None:
    """Refuse predictions beside true labels: they are not scores yet."""
    named = [name for name in table.header if plain_name(name) in LABEL_NAMES]
    if len(named) > 1:
        raise LayoutError(
            f"{format_list(named)} hold labels, not scores",
            file=table.file,
            hint=f"score them first: {format_option('read_runs')} with the layout labels and all classes",
        )


def _refuse_score(table: Table, numeric: Sequence[int]) -> NoReturn:
    names = [table.header[j] for j in numeric]
    line = None if not table.lines else 1
    if not names:
        problem = f"there is no column 'score' (columns: {format_list(table.header)})"
        raise LayoutError(problem, file=table.file, line=line)
    raise LayoutError(
        f"which column holds the scores: {format_list(names)}?",
        file=table.file,
        hint=f"say so: {format_columns({'score': names[0]})}",
    )


def _find_matrix(
    table: Table, stated: Mapping[str, int], kind: str | None, roles: Mapping[str, int] | None = None
) -> Layout:
    """Return the columns of topics × runs, or runs × topics."""
    header, roles = table.header, dict(roles or {})
    if kind is None:
        _refuse_labels(table)
    stated = dict(stated)
    cluster = stated.pop(CLUSTER, None)
    odd = sorted(set(stated) - {"run", "topic"})
    if odd:
        problem = f"in a table of topics × runs no column is the {odd[0]}: one is the topic, all others are runs"
        hint = f"name the topic only: {format_columns({'topic': header[0]})}"
        raise DataError(problem, file=table.file, hint=hint)
    first = stated.get("run", stated.get("topic", 0))
    if not stated and len(header) > 2 and counts_rows(table, 0) and not table.holds_numbers(1):
        first = 1
    if kind == "transposed" or (kind is None and _holds_runs_in_rows(table, first, stated, roles)):
        return _lay_out_runs(table, first, stated, cluster)
    topic, runs = find_topics(header, lambda j: counts_rows(table, j), _name_topics(table, stated, first))
    if kind is None:
        if "run" not in stated:
            _refuse_measures_in_names(table, [header[j] for j in runs if j not in roles.values()])
        _refuse_what_is_no_matrix(table, topic, runs, roles)
        if first and not stated and not names_topics(header[1]):
            _ask_for_rows(table, header[1])
    return _lay_out_topics(table, topic, runs, stated, cluster)


def _lay_out_topics(
    table: Table, topic: int | None, runs: Sequence[int], stated: Mapping[str, int], cluster: int | None
) -> Layout:
    """Return the columns of topics × runs."""
    runs = [j for j in runs if j != cluster]
    kept = _leave_out_traits(table, runs if topic is None else _leave_out_texts(table, runs), topic, stated)
    found = {"topic": topic, CLUSTER: cluster}
    return _matrix("wide", table, {role: j for role, j in found.items() if j is not None}, kept)


def _lay_out_runs(table: Table, first: int, stated: Mapping[str, int], cluster: int | None) -> Layout:
    """Return the columns of runs × topics."""
    if cluster is not None:
        raise DataError("in a table of runs × topics no column holds clusters", file=table.file)
    if "run" not in stated and table.holds_numbers(first) and not holds_integers(table.columns[first]):
        problem = f"the first column, {table.header[first]!r}, holds fractions, not names of runs"
        raise LayoutError(problem, file=table.file, hint="put a column run before the topics")
    topics = [j for j in range(len(table.header)) if j != first and not counts_rows(table, j)]
    return _matrix("transposed", table, {"run": first}, _leave_out_texts(table, topics))


def _name_topics(table: Table, stated: Mapping[str, int], first: int) -> dict[str, str]:
    """Return what is known of the column of topics besides its name: what the user says, or what stands in it."""
    header = table.header
    if stated:
        return {role: header[j] for role, j in stated.items()}
    if first:
        return {"topic": header[first]}
    total = not names_topics(header[0]) and len(header) > 1 and _ends_in_total(table)
    return {"topic": header[0]} if total else {}


def _leave_out_traits(table: Table, runs: Sequence[int], topic: int | None, stated: Mapping[str, int]) -> Sequence[int]:
    """Return those columns that are not called as traits of topics are and hold whole numbers; a first one may be topics."""
    traits = [j for j in runs if names_trait(table.header[j]) and holds_integers(table.columns[j])]
    numbered = topic is None or counts_rows(table, topic)
    first = runs[0] if runs and numbered and (topic is None or _is_unique(table, runs[0])) else None
    kept = [j for j in runs if j not in traits or j in stated.values() or j == first]
    return kept or runs


def _matrix(kind: str, table: Table, roles: Mapping[str, int], scores: Sequence[int]) -> Layout:
    other = "topic" if kind == "transposed" else "run"
    if not scores:
        which = {"wide": "topics", "transposed": "runs"}[kind]
        line = None if not table.lines else 1
        raise DataError(f"there are {which}, but no column of a {other}", file=table.file, line=line)
    taken = {*roles.values(), *scores}
    left = tuple(j for j in range(len(table.header)) if j not in taken and not counts_rows(table, j))
    return Layout(kind, table, roles, tuple(scores), left)


def _ends_in_total(table: Table) -> bool:
    """Say whether the first column holds numbers, and the name of a total: only topics have one."""
    cells = [str(cell) for cell in table.columns[0]]
    totals = sum(map(is_total, cells))
    return 0 < totals < len(cells) and np.isfinite(_as_numbers(table, 0)).sum() + totals == len(cells)


def _leave_out_texts(table: Table, positions: Sequence[int]) -> list[int]:
    """Return those columns in which something begins like a number: others describe what the rows are about."""
    return [j for j in positions if table.holds_numbers(j) or _has_digits(table, j) or table.is_empty(j)]


def _has_digits(table: Table, position: int) -> bool:
    return any(not isinstance(cell, str) or re.match(r"\s*[+-]?\.?\d", cell) for cell in table.columns[position])


def counts_rows(table: Table, position: int) -> bool:
    """Say whether a column has the name of an index and counts the rows."""
    name = table.header[position]
    return is_index(name) and table.holds_numbers(position) and numbers_rows(_as_numbers(table, position))


def _as_numbers(table: Table, position: int) -> np.ndarray:
    cells = table.columns[position]
    kind = getattr(getattr(cells, "dtype", None), "kind", "O")
    if kind in "fiub":
        return np.asarray(cells, dtype=np.float64)
    return numbers("" if cell is None else str(cell).replace(",", ".") for cell in cells)


def _holds_runs_in_rows(table: Table, first: int, stated: Mapping[str, int], roles: Mapping[str, int]) -> bool:
    """Say whether a first column names runs and all others are topics, by their names; refuse what may be measures."""
    others = [j for j in range(len(table.header)) if j != first and not counts_rows(table, j)]
    if "topic" in {*stated, *roles} or not others or plain_name(table.header[first]) not in RUN_NAMES:
        return False
    if not _is_unique(table, first):
        _refuse_lack(table, "topic", {"run": first, **roles})
    if table.holds_numbers(first) or not all(table.holds_numbers(j) or table.is_empty(j) for j in others):
        return False
    names = [table.header[j] for j in others]
    if len(others) > 1 and _are_numbered(names):
        return True
    if len(others) == 1 or any(map(_names_score, names)):
        refuse_means(table)
    raise LayoutError(
        f"each row is a run; are {format_list(names)} topics, or measures of which these are the means?",
        file=table.file,
        hint=f"topics: {format_option('format', 'transposed')}; of means there is no way back to the scores of topics, "
        "which the analyses need",
    )


def _names_score(name: str) -> bool:
    return plain_name(name) in SCORE_NAMES or measure_of_label(name).higher_is_better is not None


def _are_numbered(names: Sequence[str]) -> bool:
    """Say whether names are numbers, or one word and a number."""
    # From behind, where the number stands: no pattern has to try where it may begin.
    ends = [re.match(r"\d+[\s_-]*", name[::-1]) for name in names]
    words = {name[: len(name) - end.end()].lower() for name, end in zip(names, ends, strict=True) if end}
    return all(ends) and len(words) == 1 and not any(map(_names_score, names))


def _refuse_what_is_no_matrix(table: Table, topic: int | None, runs: Sequence[int], roles: Mapping[str, int]) -> None:
    """Refuse what is not topics × runs, or may be runs × topics."""
    header = table.header
    named = [header[j] for j in runs if _names_a_role(header[j]) and table.holds_numbers(j)]
    if "topic" in roles and named:
        _refuse_lack(table, "run", roles)
    if "run" in roles and named:
        _refuse_lack(table, "topic", roles)
    if topic is None and not named and not table.holds_numbers(0) and len(header) > 1:
        rest = sum(map(table.holds_numbers, range(1, len(header))))
        if 2 * rest > len(header) - 1 and not np.isfinite(_as_numbers(table, 0)).any():
            _ask_for_rows(table, header[0])
    if named or _holds_no_scores(table, topic, runs):
        raise LayoutError(
            f"its columns do not tell what they hold ({format_list(header)})",
            file=table.file,
            line=1 if table.lines else None,
            hint=hint_columns(),
        )
    if topic is not None and is_index(header[topic]) and len(runs) > 1:
        _refuse_numbered_runs(table, topic, runs)
        _refuse_square(table, topic, runs)


def _refuse_measures_in_names(table: Table, names: Sequence[str]) -> None:
    """Refuse columns for every two of some runs and some measures, by their names: System 1 acc, System 1 BLEU, …."""
    pairs, measures = _split_names(names)
    if not measures:
        return
    mine = [name for name, pair in zip(names, pairs, strict=True) if measures[0] in pair]
    ignored = format_columns({IGNORE: "+".join(name for name in names if name not in mine)})
    runs = format_option("format", "wide") if table.file else format_columns({"run": names[0]})
    short = len(ignored) < _LONGEST_HINT and not any("," in name for name in names)
    raise LayoutError(
        f"are these {len(names)} columns as many runs, or {len(mine)} runs by {len(measures)} measures "
        f"({format_list(measures)})?",
        file=table.file,
        hint=f"runs: {runs}; else keep those of one measure, {ignored if short else format_list(mine)}",
    )


_LONGEST_HINT = 600


def _split_names(names: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return names in two parts and the measures among these; no measures where names are not each run with each measure.

    What follows a run, or stands before it, is a measure if one of them is known, or if all runs are called System, Model, ….
    """
    tokens = [re.split(r"([\W_]+)", name) for name in names]  # every second one separates two others
    for cut in (-1, 1, -3, 3, -5, 5):
        if len(names) < 4 or min(map(len, tokens)) <= abs(cut):
            break
        pairs = [(_strip("".join(parts[:cut])), _strip("".join(parts[cut:]))) for parts in tokens]
        first, last = (list(dict.fromkeys(side)) for side in zip(*pairs, strict=True))
        if min(len(first), len(last)) < 2 or not len(first) * len(last) == len(names) == len(set(pairs)):
            continue
        for measures in (last, first):
            if any(map(_names_score, measures)):
                return pairs, measures
        if all(plain_name(run).split("_")[0] in RUN_NAMES for run in first):
            return pairs, last
    return [], []


def _strip(name: str) -> str:
    return name.strip(" _.:/|,()'\"-")


def _holds_no_scores(table: Table, topic: int | None, runs: Sequence[int]) -> bool:
    """Say whether the columns of runs are of words, or the header holds scores, or the file may be no table at all."""
    header = table.header
    if len(header) == 1 and not plain_path(table.file or ".csv").lower().endswith((".csv", ".tsv", ".xlsx")):
        return True
    if topic is None and any(is_line_of_scores([name]) for name in header) and not is_line_of_scores(header):
        return True
    few = 2 * sum(map(table.holds_numbers, runs)) <= sum(not table.is_empty(j) for j in runs)
    return few and any(isinstance(cell, str) for j in runs for cell in table.columns[j][:1])


def _refuse_square(table: Table, topic: int, runs: Sequence[int]) -> None:
    """Refuse a table whose rows and columns have the same names: correlations, or one thing compared with another."""
    if [str(cell) for cell in table.columns[topic]] == [table.header[j] for j in runs]:
        raise LayoutError(
            "its rows and columns have the same names, as those of correlations or comparisons have",
            file=table.file,
            hint=f"if they are scores of runs on topics, {format_option('format', 'wide')}",
        )


def _refuse_numbered_runs(table: Table, topic: int, runs: Sequence[int]) -> None:
    """Refuse columns that have numbers for names beside rows that have none: they may be topics."""
    labels = [str(cell) for cell in table.columns[topic]]
    if all(table.header[j].isdecimal() for j in runs) and not any(label.isdecimal() for label in labels):
        _ask_for_rows(table, table.header[topic])


def hint_columns() -> str:
    """Return what a table should look like, for a message."""
    return (
        "columns run, topic, measure, score are needed, or a row per topic and a column per run; say what they are "
        f"called: {format_columns({'run': 'A', 'topic': 'B', 'score': 'C'})}; gold and runs are for "
        f"{format_option('read_runs')}"
    )


def is_line_of_scores(header: Sequence[str]) -> bool:
    """Tell whether a header is a line of scores, ``0.12,-1``; ``1,2,3`` may be names of runs."""
    return all(math.isfinite(number(cell)) for cell in header) and not all(cell.isdecimal() for cell in header)


def _ask_for_rows(table: Table, name: str) -> NoReturn:
    topics = format_columns({"topic": name}) if name.strip() else format_option("format", "wide")
    raise LayoutError(
        f"does the first column, {name!r}, name topics or runs?",
        file=table.file,
        hint=f"topics: {topics}; runs, so that the other columns are topics: {format_option('format', 'transposed')}",
    )


def _names_a_role(name: str) -> bool:
    """Say whether a column with this name shows that a table is not topics × runs."""
    others = RUN_NAMES | MEASURE_NAMES | SCORE_NAMES | LABEL_NAMES
    return plain_name(name) in others or (names_topics(name) and not is_index(name))


def describe_unused(layout: Layout) -> str | None:
    """Return a note about the columns that are not read, if there are any."""
    names = [layout.table.header[j] for j in layout.unused]
    return f"{format_count(len(names), 'column')} not used: {format_list(names)}" if names else None
