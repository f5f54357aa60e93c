"""Output of ``trec_eval -q`` and ``ir_measures -q``, one file per run.

trec_eval prints lines ``measure topic value``, ir_measures ``topic measure value``; which it is, is told by the names of
measures and by where the topic ``all`` stands, since both print a summary under it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from metaeval.data.cells import is_missing, number
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import Scores
from metaeval.errors import DataError
from metaeval.files import PathLike, Sources, find_paths, read_lines, stem, write_file, write_together
from metaeval.io.roles import ALL, MEASURE_FIRST, TOPIC_FIRST, Order, find_order, holds_scores
from metaeval.io.rows import Row, Rows, arrange_rows
from metaeval.io.sample import Sample
from metaeval.io.table import check_plain


def read(
    paths: Sources,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    order: Order = MEASURE_FIRST,
    choose: Choose | None = None,
) -> Scores:
    """Read one file per run; `order` is that of columns whose names do not tell it.

    The row ``runid all NAME`` gives the name of the run; without it, the run is named after the file. A name given by the
    caller, in a mapping, comes first. The other rows of the topic ``all`` are ignored, and counts and texts.
    """
    named = isinstance(paths, Mapping)
    files = list(paths.items()) if isinstance(paths, Mapping) else [(stem(path), path) for path in find_paths(paths)]
    parts: dict[str, Rows] = {}
    for name, path in files:
        stated, part = _read_file(path, measure, order)
        run = stated if stated is not None and not named else str(name)
        if run in parts:
            raise DataError(f"{parts[run].path} is of the same run", file=path, run=run)
        parts[run] = Rows(path, [(run, *row[1:]) for row in part.rows], part.lines)
    if collection is None:
        collection = stem(paths) if isinstance(paths, str | Path) else ""
    return arrange_rows(list(parts.values()), collection, missing, choose)


def write(scores: Scores, folder: PathLike) -> None:
    """Write scores in the format of ``trec_eval -q``, one file per run, without loss of precision."""
    for topic in scores.topics:
        if topic == ALL:
            problem = "a topic cannot have this name in this format: its rows would be read as means"
            raise DataError(problem, topic=topic)
        check_plain(topic, "topic")
    measures = [check_plain(str(measure), "measure") for measure in scores.measures]
    for measure in measures:
        if not holds_scores(measure):
            raise DataError(
                "a measure cannot have this name in this format: its rows would be skipped", measure=measure
            )
    taken: set[str] = set()
    files = {check_plain(run, "run"): _find_free_name(run, taken) for run in scores.runs}
    means = scores.values.mean(axis=1)
    with write_together(folder) as aside:
        for r, (run, file) in enumerate(files.items()):
            rows = []
            for topic, row in zip(scores.topics, scores.values[r].tolist(), strict=True):
                rows += [(measure, topic, repr(value)) for measure, value in zip(measures, row, strict=True)]
            rows += [("runid", ALL, run), ("num_q", ALL, str(len(scores.topics)))]
            rows += [(measure, ALL, repr(mean)) for measure, mean in zip(measures, means[r].tolist(), strict=True)]
            write_file(Path(aside) / f"{file}.eval", "".join(f"{m:<22}\t{t}\t{v}\n" for m, t, v in rows))


def fits(sample: Sample) -> bool:
    """Say whether lines have three columns, whose names tell which of them are measures and topics."""
    return has_scores(sample.lines) and find_columns(sample.all_lines) is not None


def has_scores(lines: Sequence[str]) -> bool:
    """Say whether lines have two names and a number."""
    rows = [_split(line) for line in lines]
    if not rows or any(len(row) != 3 for row in rows):
        return False
    values = [row[2] for row in rows if not _holds_text(*map(str.strip, row[:2]))]
    return bool(values) and all(math.isfinite(number(value)) or is_missing(value) for value in values)


def _holds_text(one: str, two: str) -> bool:
    """Say whether a row holds the name of the run, of the topic all, or what was retrieved; `runid topic score` does not."""
    return {one, two} == {"runid", ALL} or one.startswith("relstring") or two.startswith("relstring")


def find_columns(lines: Iterable[str]) -> Order | None:
    """Return what the first two columns of these lines hold; None where the names in them do not tell."""
    rows = (_split(line) for line in lines)
    return find_order(((row[0], row[1]) for row in rows if len(row) == 3), known=True)


def has_three_columns(paths: Sources) -> bool:
    """Say whether the first line of the first file has three columns."""
    path = next(iter(paths.values())) if isinstance(paths, Mapping) else find_paths(paths)[0]
    return len(_split(next(read_lines(path))[1])) == 3


def _split(line: str) -> list[str]:
    # Names may contain spaces, so tabs separate the columns wherever there are any.
    return line.split("\t") if line.count("\t") >= 2 else line.split()


def _read_file(path: PathLike, measure: str | None, order: Order) -> tuple[str | None, Rows]:
    """Return the name of the run that a file states, if any, and its scores."""
    run: str | None = None
    rows: list[Row] = []
    numbers: list[int] = []
    averages = False
    lines = list(read_lines(path))
    order = find_columns(text for _, text in lines) or order
    for line, text in lines:
        fields = [field.strip() for field in _split(text)]
        if len(fields) != 3:
            layout = f"{order[0]}<TAB>{order[1]}<TAB>value"
            raise DataError(f"the line has {len(fields)} columns, not {layout}", file=path, line=line)
        name, topic = reversed(fields[:2]) if order == TOPIC_FIRST else fields[:2]
        if topic == ALL:
            run = fields[2] if name == "runid" else run
            averages = True
        elif not name:
            raise DataError("the name of the measure is missing", file=path, line=line, topic=topic)
        elif holds_scores(name) and measure in (None, name):
            rows.append((stem(path), topic, name, fields[2]))
            numbers.append(line)
    if not rows:
        hint = "run trec_eval with -q" if averages else None
        raise DataError("there is no score for any topic", file=path, run=run or stem(path), hint=hint)
    return run, Rows(path, rows, numbers)


def _find_free_name(run: str, taken: set[str]) -> str:
    """Return a safe, unused name for the file of a run; the file itself states the real name of the run."""
    safe = re.sub(r"[^\w.@+=-]", "_", run).lstrip(".")[:100] or "run"
    name, count = safe, 1
    while name.lower() in taken:  # some file systems do not distinguish upper and lower case
        count += 1
        name = f"{safe}-{count}"
    taken.add(name.lower())
    return name
