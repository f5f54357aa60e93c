"""Scores in tables: a row per score, a row per run and topic with a column per measure, topics × runs, or runs × topics.

Labels are text: ``007``, ``NA`` and ``null`` are read as they are. Several matrices are joined by the names of runs and topics.
The name of a file tells its collection and its measure: ``web2013_ndcg20.csv`` is nDCG@20 of web2013.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaeval import files
from metaeval.data.columns import (
    CLUSTER,
    COLLECTION,
    COLUMNS,
    CUTOFF_NAMES,
    DIRECTION,
    JUDGE,
    PEOPLE_NAMES,
    REPEAT,
    REPEAT_NAMES,
    SURE_NAMES,
    TASK,
    TASK_NAMES,
    format_columns,
    is_index,
    names_topics,
    names_trait,
    plain_name,
)  # fmt: skip
from metaeval.data.policies import report_policy
from metaeval.data.rows import DoubledError, Rows, categorical
from metaeval.errors import DataError, format_count, format_list, format_option
from metaeval.io.layout import ROLES, Layout, counts_rows, find_layout, is_line_of_scores
from metaeval.io.line_formats import rows_of_matrix
from metaeval.io.table import (
    PARQUET,
    TABLES,
    TRUTH,
    WORKBOOKS,
    Table,
    Texts,
    add_once,
    are_columns,
    is_gap,
    is_path,
    list_different,
    list_sheets,
    open_cells,
)
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label, split_stem
from metaeval.stats.oddities import mark_unlike_scores, numbers_rows

EXTRA = (DIRECTION, COLLECTION, "time", CLUSTER, REPEAT, TASK, JUDGE)  # besides run, topic, measure and score


def rows_of_table(
    table: Table,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    measure: str | Measure | None = None,
    note: bool = True,
) -> tuple[Layout, Rows]:
    """Return what the columns of a table hold, and its scores in rows; `measure` is that of a table that does not say it."""
    layout = find_layout(table, columns, kind)
    if note:
        _say_roles(layout, {*(columns or {}).values()})
    cells = read_numbers(layout.table, layout.scores)
    if layout.kind in ("wide", "transposed"):
        return layout, _rows_of_matrix(layout, cells, str(measure or "score"), columns or {})
    labels = [str(measure)] if layout.kind == "tidy" and measure is not None else list(layout.scores)
    shared = {role: _as_labels(layout.table.columns[layout.roles[role]])
              for role in (*COLUMNS[:3], *EXTRA) if role in layout.roles}  # fmt: skip
    parts = []
    for name, scores in zip(labels, cells, strict=True):
        label = {} if "measure" in shared else {"measure": categorical(np.zeros(table.n_rows, dtype=int), [name])}
        parts.append(pd.DataFrame({**shared, **label, "score": scores}, copy=False))
    frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    lines = table.lines if len(parts) == 1 else [*table.lines] * len(parts)
    return layout, replace(Rows.of(frame, table.file or None, lines), called=layout.roles)


def _say_roles(layout: Layout, stated: Collection[str]) -> None:
    """Say which columns are not used, and which of several, or of names that other things have too, were taken."""
    unused, file = layout.unused, layout.table.file or None
    if unused:
        tasks = [name for name in unused if plain_name(name) in TASK_NAMES and {"run", "topic"} <= {*layout.roles}]
        say = "".join(f"; if {name!r} names collections: {format_columns({COLLECTION: name})}" for name in tasks[:1])
        unknown = any(measure_of_label(name).higher_is_better is None for name in layout.scores)
        say += f"; scores are those of {format_list(layout.scores)}" if layout.kind == "measures" and unknown else ""
        report_policy(f"{format_count(len(unused), 'column')} not used: {format_list(unused)}{say}", file)
    for what in COLUMNS[:3]:
        name = layout.roles.get(what, "")
        like = [one for one in unused if plain_name(one) in ROLES[what] or (what == "topic" and names_topics(one))]
        others = [repr(one) for one in like if not is_index(one) and np.ptp(layout.table.codes(one))]
        sure = what == "run" or is_index(name) or plain_name(name).removesuffix("_id") in SURE_NAMES
        if name and name not in stated and (others or not sure):
            than, say = f", not {format_list(others)}" if others else "", format_columns({what: "NAME"})
            report_policy(f"{what}s are read from the column {name!r}{than}; {say} says another", file)


def _as_labels(cells: Any) -> Any:
    """Return labels as a frame can hold them: texts as objects, which pandas does not interpret."""
    if isinstance(cells, Texts):
        return cells.coded
    if isinstance(cells, pd.Series) and cells.dtype != object:
        return cells.array
    listed = list(cells)
    is_mixed = {*map(type, listed)} == {int, str}  # workbooks hold 401 beside "all"
    if is_mixed and len({*listed}) == len({*map(str, listed)}):
        listed = list(map(str, listed))
    return pd.Series(listed, dtype=object)


def read_numbers(table: Table, names: Sequence[str]) -> list[Any]:
    """Return the columns of scores, with points for commas of decimals, and 1 and 0 where all cells are true or false.

    Commas are those of decimals if no point is in any number, and some number would be none with commas for thousands.
    """
    columns = [table.columns[name] for name in names]
    if not table.lines:
        return [column.array if isinstance(column, pd.Series) else column for column in columns]
    # Where commas are for decimals, 1.234 may be more than a thousand; semicolons separate columns there.
    others = [str(cell) for column in table.columns.values() for cell in column[:20]]
    european = table.separator == ";" or any(re.fullmatch(r"-?\d+,\d+", cell) for cell in others)
    some = [str(cell).strip() for column in columns for cell in list_different(column)[:1000]] if european else []
    if "." in "".join(some) and all(re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})?", cell) for cell in some):
        problem = f"{format_list(names)}: read with points for decimals; if they separate thousands, leave them out"
        report_policy(problem, table.file)
    parsed = [column.parse() if isinstance(column, Texts) else None for column in columns]
    if all(column is not None for column in parsed):
        return parsed
    texts = [list(list_different(column)) for column in columns]
    with_comma = [text.strip() for column in texts for text in column if "," in text]
    decimal = bool(with_comma) and all(re.fullmatch(r"[+-]?\d+,\d+", text) for text in with_comma)
    decimal = decimal and any(re.fullmatch(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))", text) for text in with_comma)
    if decimal and not any("." in text for column in texts for text in column):
        texts = [[text.replace(",", ".") for text in column] for column in texts]
    read: list[Any] = []
    for column, given in zip(texts, columns, strict=True):
        words = [text.strip().lower() for text in column] if column[0].strip().lower() in (*TRUTH, "") else [""]
        truth = any(words) and all(word in TRUTH or is_gap(word) for word in words)
        made: Any = np.array([TRUTH.get(word, np.nan) for word in words]) if truth else column
        if isinstance(given, Texts):
            made = made[given.coded.codes] if truth else categorical(given.coded.codes, made)
        read.append(made)
    return read


def _rows_of_matrix(layout: Layout, columns: list[Any], measure: str, stated: Mapping[str, str]) -> Rows:
    """Return topics × runs, or runs × topics, in rows, empty cells too."""
    table, turned = layout.table, layout.kind == "transposed"
    what = "run" if turned else "topic"
    heads, lines = list(layout.scores), table.lines or None
    if what in layout.roles:
        given = table.columns[layout.roles[what]]
        names = ["" if is_gap(cell) and not isinstance(cell, str) else str(cell) for cell in given]
        if "" in map(str.strip, names):
            line = None if lines is None else lines[list(map(str.strip, names)).index("")]
            raise DataError(f"the {what} is missing", file=table.file or None, line=line, measure=measure)
    else:
        first = 1 if table.file else 0  # the rows of a frame have numbers of their own
        names = [str(number) for number in range(first, first + table.n_rows)]
    numeric = all(getattr(column, "dtype", None) == np.float64 for column in columns)
    cells = np.empty((table.n_rows, len(heads)), dtype=np.float64 if numeric else object)
    for j, column in enumerate(columns):
        cells[:, j] = column
    if turned:
        return rows_of_matrix(cells.T, names, heads, measure, table.file or None, None)
    rows = rows_of_matrix(cells, heads, names, measure, table.file or None, lines)
    try:
        scores = rows.read_scores()
    except DataError as error:
        hint = error.hint
        if hint is None and "topic" not in layout.roles and len(heads) > 1:
            hint = f"if {heads[0]!r} is the column of topics, say so: {format_columns({'topic': heads[0]})}"
        words = [name for name in heads if not (table.holds_numbers(name) or table.is_empty(name))]
        if 0 < len(words) < len(heads) and "topic" in layout.roles:
            left = format_columns({"ignore": "+".join(words)})
            hint = f"{hint or ''}; {left} leaves out what holds no scores".lstrip("; ")
        raise error.changed(hint=hint) from None
    _refuse_doubtful_columns(layout, scores.reshape(cells.shape), measure, stated)
    return replace(rows, frame=rows.frame.assign(score=scores))


def _refuse_doubtful_columns(layout: Layout, values: np.ndarray, measure: str, stated: Mapping[str, str]) -> None:
    """Refuse a first line of scores, a first column that may number topics, and whole or large numbers among fractions.

    `values` has shape (topic, run).
    """
    table, heads, topic = layout.table, list(layout.scores), layout.roles.get("topic")
    where: dict[str, Any] = {"file": table.file or None, "measure": measure}
    where |= {"line": 1} if table.file else {}
    largest = max(1.0, float(np.nanmax(np.abs(values), initial=0)))
    fractions = np.nansum(values % 1) > 0
    numeric = topic is None and all(re.fullmatch(r"[-+.\de]+", head) for head in heads)
    if numeric and (is_line_of_scores(heads) or not fractions or not max(map(float, heads)) > largest):
        problem = f"the first line holds numbers ({format_list(heads)}), which may hold names of runs or the scores of a topic"
        hint = "a first line names the runs, such as run1,run2; a column topic before them names the topics"
        raise DataError(problem, **where, hint=hint)
    run = stated.get("run", "")
    known = [run] if run in heads else run.split("+")
    named = "topic" in stated or (topic is not None and not counts_rows(table, topic))
    first = not named and heads[0] not in known and numbers_rows(values)
    # If the first cell is true or false, all are, as scores were read.
    truths = [str(table.columns[name][0]).strip().lower() in TRUTH for name in heads]
    written = [truth or table.holds_integers(name) for truth, name in zip(truths, heads, strict=True)]
    odd = mark_unlike_scores(values, np.array(written)) & [name not in known for name in heads]
    doubtful = heads[:1] if first else [name for name, is_odd in zip(heads, odd, strict=True) if is_odd]
    if doubtful:
        names, runs = "+".join(doubtful), "+".join([*(name for name in known if name in heads), *doubtful])
        shown = ", ".join(f"{value:g}" for value in values[:3, heads.index(doubtful[0])])
        other = {"topic": names} if first else {"ignore": names}
        problem = "unlike the other columns, name or describe the topics, or hold scores of runs?"
        what = f"{format_columns(other)} {'names the topics' if first else 'leaves out'}"
        hint = f"{what}, {format_columns({'run': runs})} says that these are runs"
        raise DataError(f"does {names!r} ({shown}, …), {problem}", **where, hint=hint)


def rows(
    sources: Any,
    *,
    kind: str | None,
    columns: Mapping[str, str] | None = None,
    measure: Any = None,
    collection: str | None = None,
    named: bool = False,
) -> Rows:
    """Read a table, a frame, or several matrices: files, sheets, or frames by measure; `named` says that they are measures."""
    if not is_path(sources):
        return _read_frames(sources, kind, columns, measure, collection)
    if isinstance(sources, str | Path) and len(sheets := list_sheets(sources)) > 1:
        if str(measure) in sheets:
            sheets = {str(measure): sheets[str(measure)]}
        elif measure is not None or not (
            named or all(measure_of_label(name).higher_is_better is not None for name in sheets)
        ):
            problem = f"it has sheets that hold tables: {format_list([*sheets])}; are they measures, or other data?"
            hint = f"name one that is a measure: {format_option('measure', shlex.quote(next(iter(sheets))))}"
            raise DataError(problem, file=sources, hint=hint)
        parts = [rows_of_table(table, kind=kind, columns=columns, measure=name) for name, table in sheets.items()]
        return _join_matrices(parts, files.stem(sources), sheets)
    if kind in ("wide", "transposed"):
        matrices, name = _find_files(sources, measure, collection)
        opened = {one: open_cells(path) for one, path in matrices.items()}
        parts = [rows_of_table(table, kind=kind, columns=columns, measure=one) for one, table in opened.items()]
        return _join_matrices(parts, name, matrices)
    if not isinstance(sources, str | Path):
        raise DataError(f"the format {kind} needs a single path", hint="several files can be wide, trec_eval, wmt, …")
    layout, rows = rows_of_table(open_cells(sources), kind=kind, columns=columns, measure=measure)
    return replace(rows, name=files.stem(sources), explain=_explain_doubled(layout, columns))


def _read_frames(frame: Any, kind: str | None, columns: Any, measure: Any, collection: str | None) -> Rows:
    """Return the scores in a frame, or in frames by measure."""
    if isinstance(frame, Mapping) and not are_columns(frame, columns):
        if not frame:
            raise DataError("no frames were given")
        opened = {name: open_cells(part) for name, part in frame.items()}
        parts = [rows_of_table(one, kind=kind or "wide", columns=columns, measure=name) for name, one in opened.items()]
        return _join_matrices(parts, collection or "", frame)
    layout, rows = rows_of_table(open_cells(frame, columns), kind=kind, columns=columns, measure=measure)
    if layout.kind in ("wide", "transposed") and measure is None:
        say = f"{format_option('measure', 'NAME')}; or say which are run, topic and score: {format_option('columns')}"
        raise DataError(f"the frame is taken for {layout.kind}, and its measure is not named", hint=f"name it: {say}")
    known = [measure] if isinstance(measure, Measure) else []
    return replace(rows, measures=known, explain=_explain_doubled(layout, columns))


def _join_matrices(parts: Sequence[tuple[Layout, Rows]], name: str, measures: Iterable[Any]) -> Rows:
    """Join matrices by the names of runs and topics; numbers "1" to "n" are only safe to match with topics of these names."""
    bare = [rows for layout, rows in parts if layout.kind == "wide" and "topic" not in layout.roles]
    named = [rows for layout, rows in parts if layout.kind == "transposed" or "topic" in layout.roles]
    for rows in bare if named else ():
        if [*rows.frame["topic"].unique()] != [*named[0].frame["topic"].unique()]:
            first = files.file_name(named[0].file) if named[0].file else "the first frame"
            problem = f"{first} names its topics, this table does not, so their lines cannot be matched"
            raise DataError(problem, file=rows.file, hint="add a first column topic")
    known = [measure_of_label(measure) for measure in measures]
    return Rows.join([rows for _, rows in parts], name=name, measures=known)


def _find_files(
    sources: files.Sources, measure: str | None, collection: str | None
) -> tuple[dict[str, files.PathLike], str]:
    if isinstance(sources, Mapping):
        names = {split_stem(files.stem(path))[0] for path in sources.values()}
        return {str(name): path for name, path in sources.items()}, names.pop() if len(names) == 1 else ""
    if isinstance(sources, str | Path) and not files.is_folder(sources):
        named, name, known = split_stem(files.stem(sources), collection)
        # Where the ending is no measure, the whole name is the collection.
        return {str(measure or name): sources}, files.stem(sources) if measure is not None and not known else named
    listed = files.find_paths(sources)
    if isinstance(sources, str | Path):
        endings = (*TABLES, *PARQUET, *WORKBOOKS)
        listed = [path for path in files.list_files(sources) if files.plain_path(path).lower().endswith(endings)]
        if not listed:
            raise DataError("there is no CSV or TSV file in this folder", file=sources)
        listed = [path for path in listed if collection and files.stem(path).startswith(f"{collection}_")] or listed
    matrices: dict[str, files.PathLike] = {}
    collections = set()
    for path in listed:
        named, name, _ = split_stem(files.stem(path), collection)
        collections.add(named)
        if len(collections) == 1:
            add_once(matrices, "measure", name, path)
    if len(collections) > 1:
        hint = f"say which: {format_option('collection', shlex.quote(min(collections)))}"
        problem = f"the files are of several collections: {format_list(sorted(collections))}"
        raise DataError(problem, file=sources, hint=hint)
    return {measure: matrices[measure]} if measure in matrices else matrices, collections.pop()


def _explain_doubled(layout: Layout, columns: Mapping[str, str] | None) -> Callable[[DoubledError, str], str]:
    """Return what spells out the options where a cell has several scores, all of them at once."""

    def explain(error: DoubledError, missing: str) -> str:
        table, roles, stated = layout.table, layout.roles, dict(columns or {})
        if layout.kind in ("wide", "transposed"):
            return f"their mean: {format_option('doubled', 'mean')}"
        keys = [roles[role] for role in (*COLUMNS[:3], COLLECTION) if role in roles]
        if told := find_part(layout, keys):
            return _name_column(told, layout, stated)
        n_topics = len(np.unique(table.codes(roles["topic"])))
        groups = {name: len(np.unique(table.codes(name))) for name in layout.unused if plain_name(name) in TASK_NAMES}
        few = [name for name, count in groups.items() if 1 < count <= n_topics / 4 and COLLECTION not in roles]
        tasks = [name for name in few if table.n_rows - table.count_doubled([roles["topic"], name]) == n_topics]
        options = [format_columns({**stated, COLLECTION: max(tasks, key=groups.__getitem__)})] if tasks else []
        options.append(format_option("doubled", "latest" if "time" in roles else "mean"))
        options += [format_option("missing", "drop-run")] if error.gaps and missing == "raise" else []
        what = "the latest, by " + repr(roles["time"]) if "time" in roles else "their mean"
        return f"{what}: {(' ' if options[-1].startswith('-') else ', ').join(options)}"

    return explain


def find_part(layout: Layout, keys: Sequence[str]) -> str | None:
    """Return the column that tells apart rows with the same keys, or names parts of topics: no mean is taken then."""
    table = layout.table
    others = (*layout.unused, *(layout.scores if len(layout.scores) > 1 else ()))
    few = [name for name in others if 2 * len(np.unique(table.codes(name))) <= table.n_rows]
    left = {name: table.count_doubled([*keys, name]) for name in few}
    telling = [name for name, doubles in left.items() if not doubles]
    parts = [name for name in left if names_topics(name) and left[name] < table.count_doubled(keys)]
    telling.sort(key=lambda name: (name in layout.scores, names_trait(name)))
    return telling[0] if telling else min(parts, key=left.__getitem__) if parts else None


def _name_column(told: str, layout: Layout, stated: Mapping[str, str]) -> str:
    """Say what a column that tells rows apart may hold, and how to say so."""
    parts = {
        role: {role: f"{layout.roles[role]}+{told}"} for role in ("run", "topic", "measure") if role in layout.roles
    }
    meanings = {
        "collections": {COLLECTION: told}, "measures": parts.get("measure", {"measure": told}),
        "parts of a run": parts["run"], "parts of a topic": parts["topic"], "repeats": {REPEAT: told},
    }  # fmt: skip
    plain = plain_name(told)
    if plain in CUTOFF_NAMES:
        return f"{told!r} is a part of a measure: {format_columns({**stated, **meanings['measures']})}"
    described = names_trait(told) or layout.table.holds_numbers(told)
    n = {"fold": 2}.get(plain, 1) if plain in REPEAT_NAMES else 2 if names_topics(told) else 3 if described else 5
    part = next((f"parts of a {role}" for role in ("run", "topic") if plain in ROLES[role]), None)
    likely = [part] if part and plain in SURE_NAMES else [part, "repeats"] if part else [*meanings][-n:]
    shown = ", ".join(format_columns({**stated, **meanings[what]}) for what in likely)
    mean = f"; of people their mean: {format_option('doubled', 'mean')}" if plain in PEOPLE_NAMES else ""
    return f"{told!r} tells them apart: if it holds {' or '.join(likely)}, say so: {shown}{mean}"
