"""Leaderboards with a row per run, topic and measure: the tables of TREC's judging tracks, in one file or one for each run.

======================= =====================================
tot                     run measure topic value
ir_measures             run topic measure value
ranking                 topic Q0 run rank value measure
jsonl                   ``{"run_id", "topic_id", "measure", "value"}``
======================= =====================================

Rows of the topic ``all`` sum up a run. Most files of the first two formats differ in nothing but where they have it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from metaeval.data.cells import is_missing, number
from metaeval.data.columns import MEASURE_NAMES, RUN_NAMES, SCORE_NAMES, TOPIC_NAMES, plain_name
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, Sources, describe_files, file_name, find_paths, read_lines, stem, write_file
from metaeval.io import trec_eval
from metaeval.io.roles import ALL, MEASURE_FIRST, TOPIC_FIRST, find_order, names_measures
from metaeval.io.rows import Row, Rows, arrange_rows
from metaeval.io.sample import Sample
from metaeval.io.strict_json import parse_json
from metaeval.io.table import check_plain

KEYS = ("run_id", "topic_id", "measure", "value")
"""What an object on a line of JSON holds: run, topic, measure and score."""

Level = Literal["topics", "runs"]
"""Whether to read the scores of topics, or the rows that sum up a run."""

_FAR = 1e-3  # beyond what a mean is off that is printed with three or four digits
_TITLES = ("value", "score")
_ROWS = 200  # of which a format must be told


@dataclass(frozen=True)
class Leaderboard:
    """One of the formats."""

    name: str
    columns: tuple[str, ...] = ()

    @property
    def layout(self) -> str:
        """What a line looks like, for messages."""
        return " ".join(
            column or filler for column, filler in zip(self.columns, ("", "Q0", "", "rank", "", ""), strict=False)
        )

    def read(
        self,
        paths: Sources,
        *,
        measure: str | None = None,
        collection: str | None = None,
        missing: MissingPolicy = "raise",
        level: Level = "topics",
        choose: Choose | None = None,
    ) -> Scores:
        """Read a leaderboard."""
        if self.columns[1:3] == TOPIC_FIRST and trec_eval.has_three_columns(paths):  # a file for each run, as -q prints
            options: dict[str, Any] = {"collection": collection, "missing": missing, "choose": choose}
            return trec_eval.read(paths, measure=measure, order=TOPIC_FIRST, **options)
        files = list(paths.values()) if isinstance(paths, Mapping) else find_paths(paths)
        named = stem(paths) if isinstance(paths, str | Path) else ""
        parts = [self._read_file(path, measure) for path in files]
        sums = [part.choose(lambda topic: topic == ALL) for part in parts]
        if level == "topics":
            parts = [part.choose(lambda topic: topic != ALL) for part in parts]
            if not any(part.lines for part in parts):
                hint = "analyses look at how scores vary over topics"
                raise DataError("it has rows of the topic all, but none of any topic", file=files[0], hint=hint)
        else:
            parts = sums
            if not any(part.lines for part in parts):
                raise DataError(f"it has no row of the topic {ALL}", file=files[0])
        scores = arrange_rows(parts, named if collection is None else collection, missing, choose)
        if level == "topics":
            _compare_sums(scores, [row for part in sums for row in part.rows], describe_files(files))
        return scores

    def write(self, scores: Scores, path: PathLike) -> None:
        """Write a leaderboard into one file, without loss of precision, with a row of the mean of every run."""
        measures = [str(measure) for measure in scores.measures]
        for what, labels in (("run", scores.runs), ("topic", scores.topics), ("measure", measures)):
            for label in labels:
                if self.columns:
                    check_plain(label, what, separator=None)
        means = [] if scores.topics == (ALL,) else [(ALL, scores.values.mean(axis=1))]
        topics = [(topic, scores.values[:, t]) for t, topic in enumerate(scores.topics)]
        lines = [
            self._format(run, topic, measure, float(values[r, m]))
            for r, run in enumerate(scores.runs)
            for topic, values in (*topics, *means)
            for m, measure in enumerate(measures)
        ]
        write_file(path, "".join(f"{line}\n" for line in lines))

    def fits(self, sample: Sample) -> bool:
        """Say whether the lines of a file could be of this format."""
        if not self.columns:
            first = "".join(sample.lines[:1])
            return first.lstrip().startswith("{") and all(f'"{key}"' in first for key in KEYS)
        lines = sample.all_lines
        rows = [line.split() for line in lines[:_ROWS]]
        if any(len(row) != len(self.columns) for row in rows):
            return False
        if self.name == "ranking":  # runs of documents have the same layout, but never a topic "all"
            return rows[0][1] == "Q0" and any(line.split()[0] == ALL for line in lines)
        return self._fits_columns(rows) and self._fits_labels(rows, lines)

    def _fits_columns(self, rows: Sequence[Sequence[str]]) -> bool:
        """Say whether the names of the columns, if there are any, are those of this format above numbers."""
        header = _read_header(rows[0])
        if header is None and rows[0][-1].lower() in _TITLES:
            return False  # names of columns, not all of which are known
        below = rows[1:] if header else rows
        return bool(below) and header in (None, self.columns) and all(np.isfinite(number(row[-1])) for row in below)

    def _fits_labels(self, rows: Sequence[Sequence[str]], lines: Sequence[str]) -> bool:
        """Say whether runs, topics and measures may stand in the columns of this format."""
        if _read_header(rows[0]) is not None:
            return True
        if {row[1] for row in rows} <= {"0", "Q0"}:
            return False  # judgements of documents
        at = self.columns.index("measure")
        if names_measures(row[0] for row in rows) and not names_measures(row[at] for row in rows):
            return False  # measures stand where runs should be
        order = find_order((row[1], row[2]) for row in map(str.split, lines) if len(row) == len(self.columns))
        return order is None or order == self.columns[1:3]

    def _format(self, run: str, topic: str, measure: str, value: float) -> str:
        cells = {"run": run, "topic": topic, "measure": measure, "value": repr(value)}
        if not self.columns:
            return json.dumps(dict(zip(KEYS, (run, topic, measure, value), strict=True)), ensure_ascii=False)
        fixed = ("", "Q0", "", "0", "", "")
        return "\t".join(cells[role] if role else fixed[position] for position, role in enumerate(self.columns))

    def _read_file(self, path: PathLike, measure: str | None) -> Rows:
        rows: list[Row] = []
        lines: list[int] = []
        texts = list(read_lines(path))
        layout = self._check_roles([text.split() for _, text in texts], path)
        for position, (line, text) in enumerate(texts):
            if position == 0 and self.columns and text.split()[-1].lower() in _TITLES:  # the names of the columns
                continue
            row = layout._parse(text, path, line)
            if measure is None or row[2] == measure:
                rows.append(row)
                lines.append(line)
        if not rows:
            problem = "there are no scores in it" if measure is None else f"there is no measure {measure!r}"
            raise DataError(problem, file=path)
        return Rows(path, rows, lines)

    def _check_roles(self, rows: Sequence[Sequence[str]], path: PathLike) -> Leaderboard:
        """Return the layout that the names of the columns state, else this one, if the labels do not contradict it."""
        if self.columns[1:3] not in (MEASURE_FIRST, TOPIC_FIRST):
            return self
        whole = [row for row in rows if len(row) == len(self.columns)]
        header = _read_header(whole[0]) if whole else None
        if header is not None:
            return Leaderboard(self.name, header)
        order = find_order((row[1], row[2]) for row in whole)
        if order not in (None, self.columns[1:3]):
            other = next(name for name, format in LEADERBOARDS.items() if format.columns[1:3] == order)
            problem = (
                f"its second column holds {order[0]}s and its third {order[1]}s: the format {other}, not {self.name}"
            )
            raise DataError(problem, file=path, hint=f"if it is {self.name}, put a first line into it: {self.layout}")
        return self

    def _parse(self, text: str, path: PathLike, line: int) -> Row:
        if not self.columns:
            return _parse_object(text, path, line)
        cells = text.split()
        if len(cells) != len(self.columns):
            raise DataError(f"the line has {len(cells)} columns, not {self.layout}", file=path, line=line)
        roles = dict(zip(self.columns, cells, strict=True))
        return roles["run"], roles["topic"], roles["measure"], roles["value"]


TOT = Leaderboard("tot", ("run", "measure", "topic", "value"))
IR_MEASURES = Leaderboard("ir_measures", ("run", "topic", "measure", "value"))
RANKING = Leaderboard("ranking", ("topic", "", "run", "", "value", "measure"))
JSONL = Leaderboard("jsonl")

LEADERBOARDS: Mapping[str, Leaderboard] = {format.name: format for format in (TOT, IR_MEASURES, RANKING, JSONL)}
"""The formats by name."""


def _read_header(row: Sequence[str]) -> tuple[str, ...] | None:
    """Return what the columns hold if this is a line of their names."""
    known = {"run": RUN_NAMES, "topic": TOPIC_NAMES, "measure": MEASURE_NAMES, "value": SCORE_NAMES}
    roles = [next((role for role, names in known.items() if plain_name(cell) in names), "") for cell in row]
    return tuple(roles) if sorted(roles) == sorted(known) else None


def _parse_object(text: str, path: PathLike, line: int) -> Row:
    """Return what an object of JSON says."""
    content = parse_json(text, path, line, with_nan=True)  # Python writes NaN where there is no score
    if not isinstance(content, dict) or not set(KEYS) <= set(content):
        raise DataError(f"the line is no object with {format_list(list(KEYS))}", file=path, line=line)
    run, topic, measure, value = (content[key] for key in KEYS)
    # 7 and "7" would become one label; a number among texts is a mistake that is seen here only.
    for key, label in zip(KEYS, (run, topic, measure), strict=False):
        if not isinstance(label, str):
            raise DataError(f"{key} is a text in quotation marks, not {json.dumps(label)}", file=path, line=line)
    if isinstance(value, bool | list | dict):
        raise DataError(f"the value {json.dumps(value)} is no number", file=path, line=line)
    return run, topic, measure, "" if value is None else value if isinstance(value, str) else repr(value)


def _compare_sums(scores: Scores, sums: Sequence[Row], files: str) -> None:
    """Say it if a row that sums up a run is not the mean over its topics."""
    means = scores.values.mean(axis=1)
    places = {run: position for position, run in enumerate(scores.runs)}
    columns = {str(measure): position for position, measure in enumerate(scores.measures)}
    off = []
    for run, _, measure, text in sums:
        if run in places and measure in columns:
            gap = abs(number(text) - float(means[places[run], columns[measure]]))
            # What is no number, or the mean of scores near the largest one, is infinitely far off.
            off += [(gap if gap >= 0 else np.inf, run, measure)] if not gap <= _FAR and not is_missing(text) else []
    if off:
        gap, run, measure = max(off)
        report_policy(
            f"{len(off)} of {len(sums)} rows of the topic {ALL} are not the means over topics, which are used "
            f"({run}, {measure}: {gap:.3g} off)",
            file_name(files),
        )
