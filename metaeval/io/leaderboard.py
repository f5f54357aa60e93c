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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from metaeval.data.cells import COLUMNS, arrange_cells, is_missing, number
from metaeval.data.policies import MissingPolicy, report_policy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, Sources, describe_files, file_name, find_paths, read_lines, stem, write_file
from metaeval.io.strict_json import parse_json
from metaeval.io.table import check_plain

ALL = "all"
"""The topic of rows that sum up a run."""

KEYS = ("run_id", "topic_id", "measure", "value")
"""What an object on a line of JSON holds: run, topic, measure and score."""

Level = Literal["topics", "runs"]
"""Whether to read the scores of topics, or the rows that sum up a run."""

_FAR = 1e-3  # beyond what a mean is off that is printed with three or four digits
_TITLES = ("value", "score")
_ROWS = 200  # of which a format must be told

Row = tuple[str, str, str, str]
"""Run, topic, measure and score, as they are written."""


@dataclass(frozen=True)
class Leaderboard:
    """One of the formats.

    Parameters
    ----------
    name : str
    columns : tuple of str
        What stands on a line, "" for what is not read; none for JSON.
    """

    name: str
    columns: tuple[str, ...] = ()

    @property
    def layout(self) -> str:
        """What a line looks like, for messages."""
        return " ".join(one or two for one, two in zip(self.columns, ("", "Q0", "", "rank", "", ""), strict=False))

    def read(
        self,
        paths: Sources,
        *,
        measure: str | None = None,
        collection: str | None = None,
        missing: MissingPolicy = "raise",
        level: Level = "topics",
    ) -> Scores:
        r"""Read a leaderboard.

        Parameters
        ----------
        paths : path, list of paths, mapping to path, or folder
            Several files are parts of one leaderboard, such as one for each run.
        measure : str, optional
            The only measure to read.
        collection : str, optional
            By default, the name of the folder or of the single file.
        missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
            What to do if a run has no score for a topic and measure.
        level : {"topics", "runs"}, optional
            Read the scores of topics, or only the rows of the topic ``all``, which sum up a run.

        Returns
        -------
        Scores

        Raises
        ------
        DataError
            If a line has another layout, a score is not a finite number, occurs twice or is missing, or there is no
            row of that level.

        Warns
        -----
        PolicyWarning
            If rows of the topic ``all`` are not the means over topics: analyses use the means.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "judge.txt"
        >>> _ = path.write_text("bm25 quality t1 0.5\nbm25 quality t2 0.25\nbm25 quality all 0.375\n")
        >>> LEADERBOARDS["tot"].read(path)
        Scores: 1 run × 2 topics × 1 measure, judge
        >>> LEADERBOARDS["tot"].read(path, level="runs").values.item()
        0.375
        """
        files = list(paths.values()) if isinstance(paths, Mapping) else find_paths(paths)
        named = stem(paths) if isinstance(paths, str | Path) else ""
        parts = [self._read_file(path, measure) for path in files]
        sums = [_choose(part, lambda topic: topic == ALL) for part in parts]
        if level == "topics":
            parts = [_choose(part, lambda topic: topic != ALL) for part in parts]
            if not any(part.lines for part in parts):
                hint = "analyses look at how scores vary over topics"
                raise DataError("it has rows of the topic all, but none of any topic", file=files[0], hint=hint)
        else:
            parts = sums
            if not any(part.lines for part in parts):
                raise DataError(f"it has no row of the topic {ALL}", file=files[0])
        scores = _arrange(parts, named if collection is None else collection, missing)
        if level == "topics":
            _compare_sums(scores, [row for part in sums for row in part.rows], describe_files(files))
        return scores

    def write(self, scores: Scores, path: PathLike) -> None:
        """Write a leaderboard into one file, without loss of precision, with a row of the mean of every run.

        Parameters
        ----------
        scores : Scores
        path : path

        Raises
        ------
        DataError
            If a name cannot be written in this format, or the file cannot be written.
        """
        measures = [str(one) for one in scores.measures]
        for what, labels in (("run", scores.runs), ("topic", scores.topics), ("measure", measures)):
            for label in labels:
                if what == "topic" and label == ALL and len(scores.topics) > 1:
                    raise DataError("a topic cannot have this name here: it is that of the means", topic=label)
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

    def fits(self, lines: Sequence[str]) -> bool:
        """Say whether the lines of a file could be of this format.

        Parameters
        ----------
        lines : sequence of str

        Returns
        -------
        bool
        """
        if not self.columns:
            return lines[0].lstrip().startswith("{")
        rows = [line.split() for line in lines[:_ROWS]]
        if any(len(row) != len(self.columns) for row in rows):
            return False
        if self.name == "ranking":  # runs of documents have the same layout, but never a topic "all"
            return rows[0][1] == "Q0" and any(line.split()[0] == ALL for line in lines)
        place, other = self.columns.index("topic"), self.columns.index("measure")
        below = rows[1:] if rows[0][-1].lower() in _TITLES else rows
        if not below or not all(np.isfinite(number(row[-1])) for row in below):
            return False
        # Either has a topic "all" in its column, or a text where the other has numbers.
        all_rows = [line.split() for line in lines]
        topics, measures = ({row[at] for row in all_rows if len(row) == 4} for at in (place, other))
        return ALL not in measures and not (ALL not in topics and _are_numbers(measures))

    def _format(self, run: str, topic: str, measure: str, value: float) -> str:
        cells = {"run": run, "topic": topic, "measure": measure, "value": repr(value)}
        if not self.columns:
            return json.dumps(dict(zip(KEYS, (run, topic, measure, value), strict=True)), ensure_ascii=False)
        fixed = ("", "Q0", "", "0", "", "")
        return "\t".join(cells[one] if one else fixed[place] for place, one in enumerate(self.columns))

    def _read_file(self, path: PathLike, wanted: str | None) -> _Part:
        rows: list[Row] = []
        lines: list[int] = []
        for line, text in read_lines(path):
            row = self._parse(text, path, line)
            if not lines and self.columns and row[3].lower() in _TITLES:  # the names of the columns
                continue
            if wanted is None or row[2] == wanted:
                rows.append(row)
                lines.append(line)
        if not rows:
            problem = "there are no scores in it" if wanted is None else f"there is no measure {wanted!r}"
            raise DataError(problem, file=path)
        return _Part(path, rows, lines)

    def _parse(self, text: str, path: PathLike, line: int) -> Row:
        if not self.columns:
            return _parse_object(text, path, line)
        cells = text.split()
        if len(cells) != len(self.columns):
            raise DataError(f"the line has {len(cells)} columns, not {self.layout}", file=path, line=line)
        found = dict(zip(self.columns, cells, strict=True))
        return found["run"], found["topic"], found["measure"], found["value"]


LEADERBOARDS: Mapping[str, Leaderboard] = {
    one.name: one
    for one in (
        Leaderboard("tot", ("run", "measure", "topic", "value")),
        Leaderboard("ir_measures", ("run", "topic", "measure", "value")),
        Leaderboard("ranking", ("topic", "", "run", "", "value", "measure")),
        Leaderboard("jsonl"),
    )
}
"""The formats by name."""


@dataclass(frozen=True)
class _Part:
    """The rows of one file, and on which lines they stand."""

    path: PathLike
    rows: list[Row]
    lines: list[int]


def _parse_object(text: str, path: PathLike, line: int) -> Row:
    """Return what an object of JSON says."""
    found = parse_json(text, path, line, with_nan=True)  # Python writes NaN where there is no score
    if not isinstance(found, dict) or not set(KEYS) <= set(found):
        raise DataError(f"the line is no object with {format_list(list(KEYS))}", file=path, line=line)
    run, topic, measure, value = (found[key] for key in KEYS)
    # 7 and "7" would become one label; a number among texts is a mistake that is seen here only.
    for key, label in zip(KEYS, (run, topic, measure), strict=False):
        if not isinstance(label, str):
            raise DataError(f"{key} is a text in quotation marks, not {json.dumps(label)}", file=path, line=line)
    if isinstance(value, bool | list | dict):
        raise DataError(f"the value {json.dumps(value)} is no number", file=path, line=line)
    return run, topic, measure, "" if value is None else value if isinstance(value, str) else repr(value)


def _choose(part: _Part, wanted: Callable[[str], bool]) -> _Part:
    kept = [place for place, row in enumerate(part.rows) if wanted(row[1])]
    return _Part(part.path, [part.rows[place] for place in kept], [part.lines[place] for place in kept])


def _arrange(parts: Sequence[_Part], collection: str, missing: MissingPolicy) -> Scores:
    rows = [row for part in parts for row in part.rows]
    places = [(part.path, line) for part in parts for line in part.lines]
    files = [part.path for part in parts]
    columns = (np.array(one, dtype=object) for one in zip(*rows, strict=True))
    frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    try:
        values, runs, topics, measures = arrange_cells(
            frame, missing=missing, file=describe_files(files) if len(files) > 1 else files[0],
            lines=range(len(rows)), given=[row[3] for row in rows],
        )  # fmt: skip
    except DataError as error:
        if error.line is None:
            raise
        file, line = places[error.line]  # rows are counted over all files
        raise DataError(
            error.problem, file=file, line=line, run=error.run, topic=error.topic, measure=error.measure,
            value=error.value, hint=error.hint,
        ) from None  # fmt: skip
    return Scores(
        values, runs=runs, topics=topics, measures=measures, collection=collection, provenance=describe_files(files)
    )


def _compare_sums(scores: Scores, sums: Sequence[Row], files: str) -> None:
    """Say it if a row that sums up a run is not the mean over its topics."""
    means = scores.values.mean(axis=1)
    places = {run: place for place, run in enumerate(scores.runs)}
    columns = {str(measure): place for place, measure in enumerate(scores.measures)}
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


def _are_numbers(texts: set[str]) -> bool:
    return all(np.isfinite(number(text)) for text in texts)
