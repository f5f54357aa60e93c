"""Tidy scores: one row per score, columns run, topic, measure, score; or one row per run and topic, and a column per measure.

Optional columns are higher_is_better (true or false), which states the direction of a measure, and collection; a note names
those that are not used. Labels are text and are not interpreted: ``007``, ``NA`` and ``null`` are read as they are. A table
without a column measure holds one measure, with the name that its column of scores has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import DoubledError, DoubledPolicy, Texts, arrange_cells, keep_rows
from metaeval.data.clusters import UNEQUAL, Repeats, average_repeats, find_clusters, refuse_spanning
from metaeval.data.columns import (
    CLUSTER,
    COLLECTION,
    COLUMNS,
    DIRECTION,
    JUDGE,
    REPEAT,
    REPEAT_NAMES,
    TASK,
    TASK_NAMES,
    format_columns,
    is_index,
    names_topics,
    names_trait,
    plain_name,
)
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import Scores, hold_scores, is_untold, only_collection
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import PathLike, describe_files, plain_path, stem, write_file
from metaeval.io.layout import ROLES, Layout, describe_unused, find_layout, holds_integers
from metaeval.io.parquet import refuse_nested, refuse_repeated_rows
from metaeval.io.table import TRUTH, Table, check_text, is_gap, numbers, write_table
from metaeval.io.tables import PARQUET, open_cells
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label


def read(path: PathLike, **options: Any) -> Scores:
    """Read the scores of the only collection; options as those of `read_collections`."""
    return only_collection(read_collections(path, **options), path)


def read_collections(
    path: PathLike, *, columns: Mapping[str, str] | None = None, kind: str = "tidy", **options: Any
) -> list[Scores]:
    """Read the scores of every collection in a table; options as those of `arrange`."""
    layout = find_layout(open_cells(path), columns, kind)
    return arrange(layout, columns=columns, name=stem(path), provenance=describe_files([path]), **options)


def arrange(
    layout: Layout,
    *,
    measure: str | Measure | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    doubled: DoubledPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    name: str = "",
    provenance: str = "",
    measures: Sequence[Measure] = (),
    choose: Choose | None = None,
) -> list[Scores]:
    """Return the scores in a table with a row per run and topic, of each of its collections.

    `name` is what a table is called that does not say its collection; `measures` have known directions; `choose` says which
    measures of a collection are wanted.
    """
    table = layout.table
    labels = [layout.roles[role] for role in (*COLUMNS[:3], COLLECTION, REPEAT) if role in layout.roles]
    refuse_nested(table, layout.scores)
    refuse_repeated_rows(table, labels)
    note = describe_unused(layout)
    if note:
        report_policy(note, table.file)
    frame, given = make_rows(layout, measure)
    lines: Sequence[int] | None = table.lines * len(layout.scores) if table.lines else None
    if "measure" in layout.roles and measure is not None:
        frame, given, lines = keep_rows(frame, given, lines, select_measure(frame, str(measure), table.file))
    frame, repeats = _join_repeats(frame)
    parts = split_collections(frame, layout, collection, name)
    found = []
    for label, rows in parts:
        part, texts, where = (frame, given, lines) if rows is None else keep_rows(frame, given, lines, rows)
        file = table.file if len(parts) == 1 else f"{table.file}, collection {label}" if table.file else label
        try:
            values, runs, topics, known = arrange_cells(
                part, missing=missing, file=file, lines=where, given=texts, measures=measures, doubled=doubled,
                choose=choose,
            )  # fmt: skip
        except DoubledError as error:  # all options at once
            raise error.changed(hint=_spell_out(layout, frame, error, columns, missing)) from None
        except DataError as error:
            raise (error.changed(hint=UNEQUAL) if repeats and error.value is None else error) from None
        noise: dict[str, Repeats] = {}
        if repeats:
            values, topics, each = average_repeats(values, topics, repeats, file)
            noise = dict(zip(map(str, known), each, strict=True))
        clusters = _list_clusters(part, topics, repeats, file)
        found.append(
            hold_scores(
                values, runs=runs, topics=topics, measures=known, collection=label, provenance=provenance,
                clusters=clusters, repeats=noise,
            )
        )  # fmt: skip
    refuse_spanning([(scores.collection, scores.clusters) for scores in found], table.file)
    return found


def _list_clusters(
    frame: pd.DataFrame, topics: Sequence[str], repeats: Mapping[str, tuple[str, str]], file: object
) -> list[str]:
    """Return the cluster of each topic, none without clusters; with repeats, rows are of a topic and a repeat."""
    if CLUSTER not in frame:
        return []
    of_rows = [repeats[str(row)][0] if repeats else row for row in frame["topic"]]
    by_topic = find_clusters(of_rows, list(frame[CLUSTER]), file)
    return [by_topic[topic] for topic in topics]


def _join_repeats(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, tuple[str, str]]]:
    """Make each repeat of a topic a row label of its own, and return topic and repeat by label; none without repeats."""
    if REPEAT not in frame:
        return frame, {}
    pairs = [(str(topic), str(repeat)) for topic, repeat in zip(frame["topic"], frame[REPEAT], strict=True)]
    labels = {pair: f"{pair[0]}, {REPEAT} {pair[1]}" for pair in dict.fromkeys(pairs)}
    joined = _labels(tuple(labels[pair] for pair in pairs))
    return frame.assign(topic=joined), {label: pair for pair, label in labels.items()}


def make_rows(layout: Layout, measure: str | Measure | None) -> tuple[pd.DataFrame, Texts]:
    """Return a frame with a row per score, and the scores as they are written in a text."""
    table = layout.table
    chosen = layout.scores
    names = [table.header[j] for j in chosen]
    if layout.kind == "measures" and measure is not None:
        known = [name for name in names if str(measure) in (name, str(measure_of_label(name)))]
        if not known:
            raise DataError(f"there is no measure {str(measure)!r} (there are {format_list(names)})", file=table.file)
        chosen, names = (table.header.index(known[0]),), known
    elif layout.kind == "tidy" and measure is not None:
        names = [str(measure)]
    roles = (*COLUMNS[:3], DIRECTION, COLLECTION, "time", CLUSTER, REPEAT, TASK, JUDGE)
    shared = {role: _labels(layout.cells(role)) for role in roles}
    scores = read_numbers(table, chosen)
    parts = [
        pd.DataFrame(
            {role: cells for role, cells in shared.items() if cells is not None}
            | {"score": values}
            | ({} if "measure" in layout.roles else {"measure": np.full(table.n_rows, label, dtype=object)}),
        )
        for (values, _), label in zip(scores, names, strict=True)
    ]
    frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    texts = [given for _, given in scores if given is not None]
    return frame, [text for part in texts for text in part] if texts else None


def _labels(cells: Any) -> Any:
    """Return labels as a frame can hold them: texts as objects, which pandas does not interpret."""
    if isinstance(cells, tuple):
        column = np.empty(len(cells), dtype=object)
        column[:] = cells
        return column
    if getattr(getattr(cells, "dtype", None), "kind", "") == "O":  # a workbook and JSON hold 401 beside "all"
        kinds = {type(cell) for cell in cells}
        if kinds == {int, str} and len(set(cells)) == len(set(map(str, cells))):
            cells = _labels(tuple(map(str, cells)))
    return cells.array if isinstance(cells, pd.Series) else cells


_COMMA = re.compile(r"[+-]?\d+,\d+")
_SURE_COMMA = re.compile(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))")


def read_numbers(table: Table, positions: Sequence[int]) -> list[tuple[Any, Texts]]:
    """Return columns of scores as numbers, or as they are where they are no texts, and the texts that they were.

    Commas are those of decimals if no point is in any number, and some number would be none with commas for thousands.
    """
    columns = [table.columns[j] for j in positions]
    if not table.lines:
        return [(column.array if isinstance(column, pd.Series) else column, None) for column in columns]
    decimal = _has_decimal_commas(columns)
    return [(_read_texts(column, decimal), column) for column in columns]


def _has_decimal_commas(columns: Sequence[Sequence[str]]) -> bool:
    with_comma = [text.strip() for column in columns for text in column if "," in text]
    if not with_comma or not all(map(_COMMA.fullmatch, with_comma)) or not any(map(_SURE_COMMA.fullmatch, with_comma)):
        return False
    return not any("." in text for column in columns for text in column)


def _read_texts(column: Sequence[str], decimal: bool) -> np.ndarray:
    """Return texts as numbers, NaN for what is none; a column of nothing but true and false holds 1 and 0."""
    found = numbers(text.replace(",", ".") for text in column) if decimal else numbers(column)
    if len(column) and np.isnan(found).all():
        words = [text.strip().lower() for text in column]
        if all(word in TRUTH or is_gap(word) for word in words):
            return np.array([TRUTH.get(word, np.nan) for word in words])
    return found


def select_measure(frame: pd.DataFrame, measure: str, file: object) -> np.ndarray:
    """Return which rows are of a measure; an error that names all if none is."""
    rows: np.ndarray = (frame["measure"].map(str) == measure).to_numpy()
    if not rows.any():
        names = [str(name) for name in frame["measure"].unique()]
        raise DataError(f"there is no measure {measure!r} (there are {format_list(names)})", file=file)
    return rows


def split_collections(
    frame: pd.DataFrame, layout: Layout, collection: str | None, name: str
) -> list[tuple[str, np.ndarray | None]]:
    """Return the name of every collection, and which rows are its, None for all."""
    if COLLECTION not in layout.roles:
        return [(name if collection is None else collection, None)]
    labels = ["" if label is None or label != label else str(label) for label in frame[COLLECTION].tolist()]
    codes, names = pd.factorize(np.array(labels, dtype=object))
    if len(names) == 1 or (collection is not None and collection not in names):
        return [((names[0] or name) if collection is None else collection, None)]
    chosen = range(len(names)) if collection is None else [list(names).index(collection)]
    return [(names[code], codes == code) for code in chosen]


def _spell_out(
    layout: Layout, frame: pd.DataFrame, error: DoubledError, columns: Mapping[str, str] | None, missing: str
) -> str:
    """Return the options with which a table with several scores in a cell can be read, all of them at once."""
    table, roles = layout.table, layout.roles
    keys = [role for role in (*COLUMNS[:3], COLLECTION) if role in frame]
    codes = pd.DataFrame({role: pd.factorize(frame[role].map(str))[0] for role in keys}).head(table.n_rows)
    stated = dict(columns or {})
    told = find_part(layout, codes)
    if told is not None:
        return _name_column(told, layout, stated)
    if len(codes) == table.n_rows and (pair := _find_pair(table, layout.unused, codes)):
        collection, repeat = sorted(pair, key=names_trait)
        shown = format_columns({**stated, COLLECTION: collection, REPEAT: repeat})
        return f"{collection!r} and {repeat!r} tell them apart: if they hold tasks and repeats, say so: {shown}"
    task = _find_tasks(layout)
    options = [format_columns({**stated, COLLECTION: task})] if task else []
    options.append(format_option("doubled", "latest" if "time" in roles else "mean"))
    options += [format_option("missing", "drop-run")] if error.gaps and missing == "raise" else []
    what = "the latest, by " + repr(layout.name("time")) if "time" in roles else "their mean"
    return f"{what}: {' '.join(options) if options[-1].startswith('-') else ', '.join(options)}"


def find_part(layout: Layout, codes: pd.DataFrame) -> str | None:
    """Return the column that tells apart rows of the same `codes`, or names parts of topics in them: no mean is taken then.

    Times and numbers of rows, which hardly have a value twice, are none.
    """
    table = layout.table
    if len(codes) != table.n_rows:
        return None
    few = [j for j in layout.unused if 2 * len(np.unique(table.codes(j))) <= table.n_rows]
    left = {table.header[j]: int(codes.assign(more=table.codes(j)).duplicated().sum()) for j in few}
    telling = [name for name, doubles in left.items() if not doubles]
    parts = [name for name in left if names_topics(name) and left[name] < codes.duplicated().sum()]
    return min(telling, key=names_trait) if telling else min(parts, key=left.__getitem__) if parts else None


def _name_column(told: str, layout: Layout, stated: Mapping[str, str]) -> str:
    """Say what a column that tells rows apart may hold, and how to say so."""
    topic, repeat = {"topic": f"{layout.name('topic')}+{told}"}, {REPEAT: told}
    whats = "collections, measures, parts of the name of a topic, or repeats"
    examples = [{"collection": told}, {"measure": told}, topic, repeat]
    if plain_name(told) in REPEAT_NAMES:
        whats, examples = "repeats", [repeat]
    elif names_topics(told):
        whats, examples = "parts of the name of a topic", [topic]
    elif names_trait(told) or holds_integers(layout.table.columns[layout.table.header.index(told)]):
        whats, examples = "parts of the name of a topic, or repeats", [topic, repeat]
    shown = ", ".join(format_columns({**stated, **example}) for example in examples)
    return f"{told!r} tells them apart: if it holds {whats}, say so: {shown}"


def _find_pair(table: Table, unused: Sequence[int], codes: pd.DataFrame) -> tuple[str, str] | None:
    """Return two columns that together tell rows of the same `codes` apart, and that have each value twice on average."""
    few = [j for j in unused if 2 * len(np.unique(table.codes(j))) <= table.n_rows]
    for one, two in combinations(few, 2):
        if not codes.assign(one=table.codes(one), two=table.codes(two)).duplicated().any():
            return table.header[one], table.header[two]
    return None


def _find_tasks(layout: Layout) -> str | None:
    """Return the column of tasks, by its name, that divides the topics into the most groups."""
    table = layout.table
    if COLLECTION in layout.roles or table.n_rows < 2:
        return None
    topics = table.codes(layout.roles["topic"])
    n_topics = int(topics.max()) + 1
    best: tuple[int, str | None] = (1, None)
    for j in layout.unused:
        codes = table.codes(j)
        groups = int(codes.max()) + 1
        if plain_name(table.header[j]) not in TASK_NAMES or not best[0] < groups <= n_topics / 4:
            continue
        if len(np.unique(topics * groups + codes)) == n_topics:
            best = (groups, table.header[j])
    return best[1]


def write(scores: Scores, path: PathLike, kind: str = "tidy") -> None:
    """Write one row per score, or one per run and topic with a column per measure, without loss of precision."""
    names = [str(measure) for measure in scores.measures]
    labels = {"run": scores.runs, "topic": scores.topics, "measure": names}
    if kind == "measures":
        for position in range(len(names)):
            _refuse_as_column(scores, position, path)
        check_text(labels, path)
        keys = product(scores.runs, scores.topics)
        rows = scores.values.reshape(-1, len(names)).tolist()
        write_table(path, ["run", "topic", *names], ([*key, *row] for key, row in zip(keys, rows, strict=True)))
        return
    frame = scores.to_frame()
    if any(map(is_untold, scores.measures)):  # otherwise the names tell all directions
        words = {True: "true", False: "false", None: ""}
        frame[DIRECTION] = [words[measure.higher_is_better] for measure in scores.measures] * (len(frame) // len(names))
    if scores.collection:
        frame[COLLECTION] = scores.collection
    header = [*COLUMNS, *(name for name in (DIRECTION, COLLECTION, CLUSTER) if name in frame)]
    if plain_path(path).lower().endswith(PARQUET):
        write_file(path, _to_parquet(frame[header]))
        return
    check_text({**labels, COLLECTION: (scores.collection,), CLUSTER: scores.clusters}, path)
    write_table(path, header, zip(*(frame[name].tolist() for name in header), strict=True))


def _refuse_as_column(scores: Scores, position: int, path: PathLike) -> None:
    """Refuse a measure whose column would not be read as one: by its name, or since it holds what describes topics."""
    name, values = str(scores.measures[position]), scores.values[:, :, position]
    plain = plain_name(name)
    taken = is_index(name) or names_trait(plain) or any(plain in names for names in ROLES.values())
    same = len(scores.runs) > 1 and (values == values[0]).all() and not (values % 1).any()
    if taken or name.endswith("_id") or name != name.strip() or (same and not np.isin(values, (0, 1)).all()):
        problem = "a column of this name, or of such numbers, would not be read as a measure"
        raise DataError(problem, file=path, measure=name, hint=f"write {format_option('format', 'tidy')}")


def _to_parquet(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema({name: pa.float64() if name == "score" else pa.string() for name in frame})
    table = pa.Table.from_pandas(frame, schema, preserve_index=False).replace_schema_metadata()
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True)
    return bytes(sink.getvalue())
