"""Scores in plain lines: what trec_eval and ir_measures print, leaderboards of TREC's judging tracks, WMT, Sakai's folders.

Rows of the topic ``all`` sum up a run.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from metaeval import files
from metaeval.data.columns import COLUMNS, MEASURE_NAMES, RUN_NAMES, SCORE_NAMES, TOPIC_NAMES, plain_name
from metaeval.data.labels import unique_labels
from metaeval.data.policies import report_policy
from metaeval.data.rows import Rows, categorical, is_missing, number
from metaeval.errors import DataError, format_count, format_list
from metaeval.io.table import add_once, read_fields
from metaeval.measures.resolve import measure_of_label

ALL = "all"  # the topic of rows that sum up a run
COUNTS, TEXTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"), ("runid", "relstring")
"""Rows that count topics and documents; and beginnings of the names of rows that hold text. Neither are measures."""


def name_collection(sources: files.Sources) -> str:
    """Return what the scores in a file or a folder are called."""
    if not isinstance(sources, str | Path):
        return ""
    return files.stem(sources) or Path(sources).resolve().name  # the folder "." has the name that it has elsewhere


# Lines with a run, a topic, a measure and a score.


def holds_scores(measure: str) -> bool:
    """Say whether rows of this name hold the scores of a measure, not counts or texts."""
    return measure not in COUNTS and not measure.startswith(TEXTS)


def names_measure(label: str) -> bool:
    """Say whether this is the name of a known measure, or of what trec_eval prints beside measures."""
    return not holds_scores(label) or measure_of_label(label).higher_is_better is not None


def find_order(pairs: Iterable[Sequence[str]], *, known: bool = False) -> tuple[str, str] | None:
    """Return which of two columns holds measures and which topics, or None where the names in them do not tell.

    A measure is called neither ``all`` nor by a number, which topics may be; with `known` only names of known measures count.
    """
    columns = [{name.strip() for name in column} for column in zip(*{tuple(pair) for pair in pairs}, strict=True)]
    likely: list[tuple[tuple[str, str], bool]] = []
    for order in (("measure", "topic"), ("topic", "measure")) if columns else ():
        measures, topics = columns[order.index("measure")], columns[order.index("topic")]
        if ALL in measures or any(map(_is_finite, measures)):
            continue
        sure = ALL in topics or all(map(_is_finite, topics))
        if any(map(names_measure, measures)) or (sure and not known):
            likely.append((order, sure))
    if len(likely) > 1:
        likely = [(order, sure) for order, sure in likely if sure]
    return likely[0][0] if len(likely) == 1 else None


def _is_finite(text: str) -> bool:
    return math.isfinite(number(text))


_ROLES = {"run": RUN_NAMES, "topic": TOPIC_NAMES, "measure": MEASURE_NAMES, "value": SCORE_NAMES}


def _read_names(row: Sequence[str]) -> list[str] | None:
    """Return what the columns hold if this is a line of their names."""
    roles = [next((role for role, names in _ROLES.items() if plain_name(cell) in names), "") for cell in row]
    return roles if sorted(roles) == sorted(_ROLES) else None


@dataclass(frozen=True)
class LineFormat:
    """Lines with these columns; without a column of runs, a file holds one run."""

    columns: tuple[str, ...]

    def rows(self, sources: files.Sources, **_: Any) -> Rows:
        """Read a file, or several."""
        runs: dict[str, files.PathLike] = {}
        parts = []
        for name, path in files.find_named_files(sources).items():
            columns, rows, lines = self._read_file(path)
            stated = next((row["value"] for row in rows if row["topic"] == ALL and row["measure"] == "runid"), name)
            if "run" not in columns:
                run = name if isinstance(sources, Mapping) else stated
                add_once(runs, "run", run, path)
                rows = [{"run": run, **row} for row in rows]
            kept = [row for row, cells in enumerate(rows) if holds_scores(cells["measure"])]
            frame = pd.DataFrame([rows[row] for row in kept], columns=[*COLUMNS[:3], "value"], dtype=object)
            frame, lines = frame.rename(columns={"value": "score"}), [lines[row] for row in kept]
            part = Rows.of(frame, path, lines)
            by_topic = frame["topic"] != ALL
            if not by_topic.any():
                hint = "run trec_eval with -q" if rows else None
                of = None if "run" in columns else stated
                raise DataError("there is no score for any topic", file=path, run=of, hint=hint)
            if "run" in columns:  # sums of measures that have scores are compared with these
                by_topic = by_topic | frame["measure"].isin(frame["measure"][by_topic])
            parts.append(part.keep(by_topic))
        return Rows.join(parts, name=name_collection(sources), sums=True)

    def _read_file(self, path: files.PathLike) -> tuple[Sequence[str], list[dict[str, str]], list[int]]:
        """Return what the columns of a file hold, its rows, and on which lines these are."""
        lines, texts = zip(*files.read_lines(path), strict=True)
        columns: Sequence[str] = self.columns
        if len(_split(texts[0])) == 3 and columns[1:3] == ("topic", "measure"):  # a file for each run
            columns = [role for role in columns if role != "run"]
        cells = [text.split() if "run" in columns else _split(text) for text in texts]
        names = _read_names(cells[0])
        if names is not None:
            columns = names
        if names is None and len(columns) == 4:
            labels = [{row[i] for row in cells if len(row) == 4} for i in (0, 1)]
            numbered = [all(re.fullmatch(r"(?i)(q|query|topic)?\d+", label) for label in each) for each in labels]
            if numbered == [True, False] and len(labels[0]) > len(labels[1]):
                hint = f"put a first line into it that names them: {' '.join(self.columns)}"
                raise DataError("its first column holds numbers, as topics do, not names of runs", file=path, hint=hint)
            read = f"columns are read as {', '.join(columns)}"
            report_policy(f"{read}; a first line that names them says otherwise", path)
        at = columns.index("topic") + (columns.index("measure") < columns.index("topic")) * -1
        pairs = [row[at : at + 2] for row in cells[names is not None :] if len(row) == len(columns)]
        order = find_order(pairs, known=len(columns) == 3) if {*columns[at : at + 2]} == {"topic", "measure"} else None
        if names is None and order is not None and order != tuple(columns[at : at + 2]):
            if len(columns) == 4:
                mine, other = ("ir_measures", "tot") if order[0] == "measure" else ("tot", "ir_measures")
                held = f"its second column holds {order[0]}s and its third {order[1]}s"
                hint = f"if it is {mine}, put a first line into it: {' '.join(self.columns)}"
                raise DataError(f"{held}: the format {other}, not {mine}", file=path, hint=hint)
            columns = [*order, "value"]
        topics = {row[columns.index("topic")] for row in cells if len(row) == len(columns) == 3}
        if names is None and topics and ALL not in topics and not all(re.search(r"\d", topic) for topic in topics):
            report_policy(f"columns are read as {', '.join(columns)} of one run, which is called as the file is", path)
        first = names is not None or cells[0][-1].lower() in ("value", "score")
        rows = []
        for line, row in zip(lines[first:], cells[first:], strict=True):
            if len(row) != len(columns):
                raise DataError(f"the line has {len(row)} columns, not {' '.join(columns)}", file=path, line=line)
            rows.append(dict(zip(columns, row, strict=True)))
            if not rows[-1]["measure"]:
                raise DataError("the name of the measure is missing", file=path, line=line)
        return columns, rows, list(lines[first:])

    def fits(self, sample: Any) -> bool:
        """Say whether the lines of a file are of this format, and no other may be meant by the names in them."""
        cells = [line.split() if "run" in self.columns else _split(line) for line in sample.lines]
        if "run" not in self.columns:  # as trec_eval and ir_measures print it
            order = find_order((row[:2] for row in cells if len(row) == 3), known=True)
            return has_scores(sample.lines) and order is not None
        if not cells or any(len(row) != len(self.columns) for row in cells[:200]):
            return False
        names = _read_names(cells[0])
        below = cells[names is not None :]
        if names not in (None, [*self.columns]) or not below or not all(_is_finite(row[-1]) for row in below[:200]):
            return False
        at = self.columns.index("measure")
        first, stated = ({row[column] for row in below} for column in (0, at))
        odd = all(map(names_measure, first)) and not all(map(names_measure, stated))
        if names is None and (odd or {row[1] for row in below} <= {"0", "Q0"} or _is_finite(below[0][at])):
            return False  # measures stand where runs should be, or these are judgements of documents, or only scores
        order = find_order(row[1:3] for row in below if len(row) == len(self.columns))
        return names is not None or order in (None, self.columns[1:3])


def _split(line: str) -> list[str]:
    """Return the cells of a line of trec_eval: names may contain spaces where tabs separate the columns."""
    return [cell.strip() for cell in line.split("\t")] if line.count("\t") >= 2 else line.split()


def has_scores(lines: Sequence[str]) -> bool:
    """Say whether lines have two names and a number, but for those that hold a text."""
    rows = list(map(_split, lines))
    if not rows or any(len(row) != 3 for row in rows):
        return False
    values = [row[2] for row in rows if not any(name.startswith(TEXTS) for name in row[:2])]
    return bool(values) and all(_is_finite(value) or is_missing(value) for value in values)


TREC_EVAL = LineFormat(("measure", "topic", "value"))
IR_MEASURES = LineFormat(("run", "topic", "measure", "value"))
TOT = LineFormat(("run", "measure", "topic", "value"))


# Matrices without names of topics.


def rows_of_matrix(
    cells: np.ndarray,
    runs: Sequence[str],
    topics: Sequence[str],
    measure: str,
    file: object,
    lines: Sequence[int] | None,
) -> Rows:
    """Return a matrix of topics × runs in rows; its topics are on these lines."""
    (r, runs_once), (t, topics_once) = (pd.factorize(np.array([*labels], dtype=object)) for labels in (runs, topics))
    columns = {
        "run": categorical(np.tile(r, len(topics)), runs_once),
        "topic": categorical(np.repeat(t, len(runs)), topics_once),
        "measure": categorical(np.zeros(cells.size, dtype=int), [measure]),
    }
    where = None if lines is None else np.repeat(np.asarray(lines), len(runs)).tolist()
    return Rows.of({**columns, "score": cells.ravel()}, file, where)


class Sakai:
    """A folder with one text file per measure, topics × runs, and a file ``runs`` with the run names.

    Topics are numbered "1" to "n", unless a file ``topics`` names them.
    """

    runs, topics = "runs", "topics"

    def rows(self, folder: files.PathLike, *, measure: str | None = None, **_: Any) -> Rows:
        """Read a folder, or a single file of it, which holds the measure of its name."""
        chosen = {}
        if not files.is_folder(folder):
            chosen = {files.file_name(folder): measure or files.file_name(folder)}
            folder = Path(folder).parent
        elif measure is not None:
            chosen = {measure: measure}
        if not os.path.isfile(os.path.join(folder, self.runs)):
            problem = "there is no such file: it should hold one run name per line"
            raise DataError(problem, file=os.path.join(folder, self.runs))
        runs = self._read_labels(os.path.join(folder, self.runs), "run")
        path = os.path.join(folder, self.topics)
        topics = self._read_labels(path, "topic") if os.path.isfile(path) else None
        listed = (files.file_name(path) for path in files.list_files(folder))
        chosen = chosen or {name: name for name in listed if name not in (self.runs, self.topics)}
        parts: list[Rows] = []
        n, layout = len(runs), f"a score of each of {len(runs)} runs"
        for name, called in chosen.items():
            path = os.path.join(folder, name)
            cells, lines = read_fields(path, separator=None, least=n, most=n, layout=layout)
            expected = len(topics) if topics is not None else len(parts[0].frame) // len(runs) if parts else len(cells)
            if len(cells) != expected:
                problem = f"it has {len(cells)} topics, but there are {expected} in the other files"
                raise DataError(problem, file=path, measure=called)
            labels = topics or [str(number + 1) for number in range(expected)]
            parts.append(rows_of_matrix(np.array(cells, dtype=object), runs, labels, called, path, lines))
        if not parts:
            raise DataError("there is no file of a measure in this folder", file=folder)
        return Rows.join(parts, name=Path(folder).resolve().name)

    def _read_labels(self, path: files.PathLike, what: str) -> list[str]:
        try:
            return [*unique_labels((text.strip() for _, text in files.read_lines(path)), what)]
        except DataError as error:
            raise error.changed(file=path) from None

    def fits(self, sample: Any) -> bool:
        """Say whether a file begins with numbers only, and a file of run names is beside it."""
        if not sample.lines or not Path(sample.path).with_name(self.runs).is_file():
            return False
        return all(_is_finite(field) or is_missing(field) for field in sample.lines[0].split())


class Wmt:
    """One file per measure, ``run<TAB>score`` on every line, None if not rated, as shared tasks on metrics keep them.

    The lines of a run are in the order of the topics, which have no names and are called "1" to "n".
    """

    suffixes: Mapping[str, str] = {"topics": ".seg.score", "runs": ".sys.score"}
    prefix = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?-[a-z]{2,3}(_[A-Z]{2})?\.")
    variant = re.compile(r"-(src|ref[A-Za-z]?)$")

    def rows(
        self, sources: files.Sources, *, level: str | None = None, runs: Literal["all", "shared"] = "all", **_: Any
    ) -> Rows:
        """Read ``*.seg.score`` files, or ``*.sys.score`` files of whole runs; ``"shared"`` are runs that all files hold."""
        listed = list(sources.values()) if isinstance(sources, Mapping) else files.find_paths(sources)
        names = [files.file_name(path) for path in listed]
        ends = [one for one, suffix in self.suffixes.items() if any(name.endswith(suffix) for name in names)]
        suffix = self.suffixes[level or (ends[0] if ends else "topics")]
        if isinstance(sources, Mapping):
            named = {str(name): path for name, path in sources.items()}
        else:
            if len(listed) > 1 or files.is_folder(listed[0]) or listed[0] is not sources:
                listed = [path for path in listed if files.file_name(path).endswith(suffix)]
            if not listed:
                problem = f"there is no file whose name ends in {suffix}"
                raise DataError(problem, file=files.describe_files(files.find_paths(sources)))
            named = self._name_files(listed, suffix)
        parts, n_topics = [], 0
        for name, path in named.items():
            cells, lines = read_fields(path, separator="\t", least=2, most=2, layout="run<TAB>score")
            frame = pd.DataFrame(cells, columns=["run", "score"]).assign(measure=name)
            frame["topic"] = (frame.groupby("run").cumcount() + 1).astype(str)
            for run, lines_of_run in frame["run"].value_counts(sort=False).items():
                n_topics = n_topics or lines_of_run
                if lines_of_run != n_topics:
                    problem = f"it has {lines_of_run} lines, but other runs have {n_topics}"
                    raise DataError(problem, file=path, run=run, measure=name)
            parts.append(Rows.of(frame, path, lines))
        if suffix == self.suffixes["runs"] and n_topics == 1:
            parts = [replace(part, frame=part.frame.assign(topic=ALL)) for part in parts]
        rows = Rows.join(parts, name=name_collection(sources))
        held = rows.frame.groupby("run", sort=False)["measure"].nunique()
        shared = held == rows.frame["measure"].nunique()
        if runs == "all" or shared.all():
            return rows
        if not shared.any():
            raise DataError("the files have no run in common", file=rows.file)
        left = [str(run) for run in held.index[~shared]]
        report_policy(f"left out {format_count(len(left), 'run')} that not all files hold: {format_list(left)}")
        return rows.keep(rows.frame["run"].map(shared).to_numpy(dtype=bool))

    def _name_files(self, paths: Sequence[files.PathLike], suffix: str) -> dict[str, files.PathLike]:
        """Return files by measure, with what follows the hyphen where two would have one name."""
        bare = [self.prefix.sub("", files.file_name(path).removesuffix(suffix)) for path in paths]
        short = [self.variant.sub("", name) or name for name in bare]
        named: dict[str, files.PathLike] = {}
        for path, name, long in zip(paths, short, bare, strict=True):
            measure = long if short.count(name) > 1 else name
            add_once(named, "measure", measure, path)
        return named

    def fits(self, sample: Any) -> bool:
        """Say whether a file has the name of one that this format has."""
        return files.file_name(sample.path).endswith(tuple(self.suffixes.values()))


SAKAI, WMT = Sakai(), Wmt()
