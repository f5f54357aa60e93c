"""Output of ``trec_eval -q``: lines ``measure<TAB>topic<TAB>value``, one file per run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import is_missing, number
from metaeval.data.policies import MissingPolicy, hint_missing
from metaeval.data.scores import Scores
from metaeval.errors import DataError
from metaeval.files import (
    PathLike,
    Sources,
    describe_files,
    find_paths,
    join_path,
    read_lines,
    stem,
    write_file,
    write_together,
)
from metaeval.io.table import check_plain

ALL = "all"
"""The topic of the rows that summarise all topics."""
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
"""Rows that are counts of topics and documents, not measures."""
TEXTS = ("runid", "relstring")
"""Beginnings of the names of rows that hold text."""


def read(
    paths: Sources,
    *,
    measures: Iterable[str] | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
) -> Scores:
    r"""Read the output of ``trec_eval -q``, one file per run.

    Parameters
    ----------
    paths : path, list of paths, mapping of run to path, or folder
        The row ``runid all NAME`` gives the name of the run; without it, the run is named after the file, without
        suffix. The other rows of the topic ``all`` are ignored, and so are ``num_q``, ``num_ret``, ``num_rel``,
        ``num_rel_ret`` and ``relstring``. Measures keep the names that trec_eval gives them (``map``,
        ``ndcg_cut_10``).
    measures : iterable of str, optional
        The measures to read; all by default.
    collection : str, optional
        By default, the name of the folder or of the single file.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If a line does not have three columns, a score is not a finite number or occurs twice, a file has no row for
        any topic, two files belong to the same run, or a score is missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bm25.eval"
    >>> _ = path.write_text("map                   \t301\t0.25\nmap                   \tall\t0.25\n")
    >>> read(path)
    Scores: 1 run × 1 topic × 1 measure, bm25
    """
    named = isinstance(paths, Mapping)
    files = list(paths.items()) if isinstance(paths, Mapping) else [(stem(path), path) for path in find_paths(paths)]
    wanted = None if measures is None else {str(one) for one in measures}
    rows: list[tuple[str, str, str, float]] = []
    from_file: dict[str, PathLike] = {}
    for given, path in files:
        said, cells = _read_file(path, wanted, missing)
        # A name given by the caller has priority over the one in the file, and that over the name of the file.
        run = said if said is not None and not named else str(given)
        if run in from_file:
            raise DataError(f"{from_file[run]} is of the same run", file=path, run=run)
        from_file[run] = path
        rows.extend((run, topic, measure, value) for (measure, topic), value in cells.items())
    columns = zip(("run", "topic", "measure", "score"), zip(*rows, strict=True), strict=True)
    frame = pd.DataFrame(
        {name: np.array(column, dtype=None if name == "score" else object) for name, column in columns}
    )
    try:
        return Scores.from_frame(
            frame,
            collection=_name_collection(paths) if collection is None else collection,
            provenance=describe_files([path for _, path in files]),
            missing=missing,
        )
    except DataError as error:
        # `from_frame` knows the run only; the message should name its file too.
        if not isinstance(error.run, str) or error.run not in from_file:
            raise
        raise DataError(
            error.problem,
            file=from_file[error.run],
            run=error.run,
            topic=error.topic,
            measure=error.measure,
            hint=error.hint,
        ) from None


def write(scores: Scores, folder: PathLike) -> None:
    """Write scores in the format of ``trec_eval -q``, one file per run, without loss of precision.

    Parameters
    ----------
    scores : Scores
    folder : path
        Created if it does not exist. Every file ends with the means and the name of the run.

    Raises
    ------
    DataError
        If a name contains a tab or a line break, a topic is called "all", or a file cannot be written.
    """
    for topic in scores.topics:
        if topic == ALL:
            raise DataError(
                "a topic cannot have this name in this format: its rows would be read as means", topic=topic
            )
        check_plain(topic, "topic")
    measures = [check_plain(str(measure), "measure") for measure in scores.measures]
    for measure in measures:
        if not _is_measure(measure):
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
            write_file(join_path(aside, f"{file}.eval"), "".join(f"{m:<22}\t{t}\t{v}\n" for m, t, v in rows))


def _read_file(
    path: PathLike, wanted: set[str] | None, missing: MissingPolicy
) -> tuple[str | None, dict[tuple[str, str], float]]:
    """Return the name of the run that a file states, if any, and its scores by (measure, topic)."""
    run: str | None = None
    cells: dict[tuple[str, str], float] = {}
    averages = False
    for line, text in read_lines(path):
        # Names may contain spaces, so tabs separate the columns wherever there are any.
        fields = text.split("\t") if text.count("\t") >= 2 else text.split()
        if len(fields) != 3:
            layout = "measure<TAB>topic<TAB>value"
            raise DataError(f"the line has {len(fields)} columns, not {layout}", file=path, line=line)
        measure, topic, value = (field.strip() for field in fields)
        if topic == ALL:
            run = value if measure == "runid" else run
            averages = True
            continue
        if not measure:
            raise DataError("the name of the measure is missing", file=path, line=line, topic=topic)
        if not _is_measure(measure) or (wanted is not None and measure not in wanted):
            continue
        where: dict[str, Any] = {"file": path, "line": line, "run": stem(path), "topic": topic, "measure": measure}
        score = number(value)
        if not np.isfinite(score) and not (missing != "raise" and is_missing(value)):
            hint = hint_missing() if is_missing(value) else None
            raise DataError(f"the score {value!r} is not a finite number", hint=hint, **where)
        if (measure, topic) in cells:
            raise DataError("there is a second score", **where)
        cells[measure, topic] = score
    if not cells:
        hint = "run trec_eval with -q" if averages else None
        raise DataError("there is no score for any topic", file=path, run=run or stem(path), hint=hint)
    return run, cells


def _is_measure(name: str) -> bool:
    return name not in COUNTS and not name.startswith(TEXTS)


def _find_free_name(run: str, taken: set[str]) -> str:
    """Return a safe, unused name for the file of a run; the file itself states the real name of the run."""
    safe = re.sub(r"[^\w.@+=-]", "_", run).lstrip(".")[:100] or "run"
    name, count = safe, 1
    while name.lower() in taken:  # some file systems do not distinguish upper and lower case
        count += 1
        name = f"{safe}-{count}"
    taken.add(name.lower())
    return name


def _name_collection(paths: Sources) -> str:
    return stem(paths) if isinstance(paths, str | Path) else ""
