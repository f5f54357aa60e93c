"""Scores as shared tasks on metrics keep them: one file per measure, ``run<TAB>score`` on every line, None if not rated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.data.cells import is_missing, number
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy, check_policy, hint_missing, mend_missing, report_policy
from metaeval.data.scores import Scores, hold_scores
from metaeval.errors import DataError, format_count, format_list, format_option
from metaeval.files import (
    PathLike,
    Sources,
    check_file_name,
    describe_files,
    file_name,
    find_paths,
    read_text,
    write_file,
    write_together,
)
from metaeval.io.rows import choose_files, keep_wanted
from metaeval.io.sample import Sample
from metaeval.io.table import check_plain
from metaeval.measures.resolve import measure_of_label

Level = Literal["topics", "runs"]
"""Whether files hold a score for every topic of a run, or one for the whole run."""

Share = Literal["all", "shared"]
"""Whether to read all runs, or those that all files hold."""

SUFFIXES: Mapping[Level, str] = {"topics": ".seg.score", "runs": ".sys.score"}
"""How the names of files end, by level."""

WHOLE_RUN = "all"
"""The one topic of scores of whole runs."""

_PREFIX = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?-[a-z]{2,3}(_[A-Z]{2})?\.")
_VARIANT = re.compile(r"-(src|ref[A-Za-z]?)$")


def fits(sample: Sample) -> bool:
    """Say whether a file has the name of one that this module reads."""
    return file_name(sample.path).endswith(tuple(SUFFIXES.values()))


def read(
    paths: Sources,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    level: Level | None = None,
    choose: Choose | None = None,
    runs: Share = "all",
) -> Scores:
    """Read ``*.seg.score`` files, which hold the scores of runs topic by topic, or ``*.sys.score`` files, of whole runs.

    The lines of a run are in the order of the topics, which have no names and are called "1" to "n". A run that not all files
    hold lacks scores, about which `missing` decides; ``runs="shared"`` leaves it out before.
    """
    check_policy(missing, MissingPolicy)
    files, chosen = _find_files(paths, measure, level)
    files = keep_wanted(files, choose)
    matrices = {name: _read_file(path, name, missing) for name, path in files.items()}
    topics = _name_topics(matrices, files, chosen)
    kept = _choose_runs(matrices, files, missing, runs)
    nothing = np.full(len(topics), np.nan)
    values = np.stack([np.stack([matrix.get(run, nothing) for run in kept]) for matrix in matrices.values()], axis=-1)
    known = [measure_of_label(name) for name in files]
    where = next(iter(files.values())) if len(files) == 1 else None
    values, kept, topics = mend_missing(values, kept, topics, known, missing, file=where)
    if collection is None:
        collection = file_name(paths).removesuffix(SUFFIXES[chosen]) if isinstance(paths, str | Path) else ""
    described = describe_files(list(files.values()))
    return hold_scores(values, runs=kept, topics=topics, measures=known, collection=collection, provenance=described)


def write(scores: Scores, folder: PathLike) -> None:
    """Write one ``.seg.score`` file per measure, or ``.sys.score`` files if the only topic is "all"."""
    whole = scores.topics == (WHOLE_RUN,)
    if not whole and scores.topics != tuple(str(number) for number in range(1, len(scores.topics) + 1)):
        raise DataError('these files hold no names of topics, which would be called "1" to "n"', file=folder)
    runs = [check_plain(run, "run") for run in scores.runs]
    suffix = SUFFIXES["runs" if whole else "topics"]
    names = [check_file_name(f"{measure}{suffix}") for measure in scores.measures]
    for measure, name in zip(scores.measures, names, strict=True):
        if _name_measure(name, suffix) != str(measure):
            raise DataError("it cannot be read back from the name of a file", measure=measure)
    with write_together(folder) as aside:
        for position, name in enumerate(names):
            rows = scores.values[:, :, position].tolist()
            lines = [f"{run}\t{value!r}\n" for run, row in zip(runs, rows, strict=True) for value in row]
            write_file(Path(aside) / name, "".join(lines))


def _find_files(paths: Sources, measure: str | None, level: Level | None) -> tuple[dict[str, PathLike], Level]:
    """Return the files by measure, and of which level they are."""
    listed = list(paths.values()) if isinstance(paths, Mapping) else find_paths(paths)
    if not listed:
        raise DataError("no files were named")
    endings = [ending for ending in SUFFIXES if any(file_name(path).endswith(SUFFIXES[ending]) for path in listed)]
    chosen = level or (endings[0] if endings else "topics")
    if isinstance(paths, Mapping):
        return choose_files(paths, measure), chosen
    if len(listed) > 1 or listed[0] is not paths:  # of a folder, or a list, the files of that level
        listed = [path for path in listed if file_name(path).endswith(SUFFIXES[chosen])]
    if not listed:
        raise DataError(
            f"there is no file whose name ends in {SUFFIXES[chosen]}", file=describe_files(find_paths(paths))
        )
    return choose_files(_name_files(listed, SUFFIXES[chosen]), measure), chosen


def _name_files(paths: Sequence[PathLike], suffix: str) -> dict[str, PathLike]:
    """Return files by measure, with what follows the hyphen where two would have one name."""
    short = [_name_measure(file_name(path), suffix) for path in paths]
    full = [_PREFIX.sub("", file_name(path).removesuffix(suffix)) for path in paths]
    named: dict[str, PathLike] = {}
    for path, name, whole in zip(paths, short, full, strict=True):
        measure = whole if short.count(name) > 1 else name
        if measure in named:
            raise DataError(f"it is of the same measure as {file_name(named[measure])}", file=path, measure=measure)
        named[measure] = path
    return named


def _name_measure(name: str, suffix: str) -> str:
    bare = _PREFIX.sub("", name.removesuffix(suffix))
    return _VARIANT.sub("", bare) or bare


def _read_file(path: PathLike, measure: str, missing: MissingPolicy) -> dict[str, npt.NDArray[np.float64]]:
    """Return the scores of every run in the order of its lines, NaN where there is none."""
    rows = [(line, text.split("\t")) for line, text in enumerate(read_text(path).split("\n"), start=1) if text]
    for line, row in rows:
        if len(row) != 2:
            raise DataError(f"the line has {len(row)} columns, not run<TAB>score", file=path, line=line)
        if not row[0].strip():
            raise DataError("the run has no name", file=path, line=line)
    values = np.array([number(text) for _, (_, text) in rows])
    positions: dict[str, list[int]] = {}
    for position, (_, (run, _)) in enumerate(rows):
        positions.setdefault(run, []).append(position)
    for position in np.flatnonzero(~np.isfinite(values)).tolist():
        line, (run, text) = rows[position]
        gap = is_missing(text)
        if gap and missing != "raise":
            continue
        raise DataError(
            "there is no score" if gap else f"the score {text!r} is not a finite number",
            file=path, line=line, run=run, topic=str(positions[run].index(position) + 1), measure=measure, value=text,
            hint=hint_missing() if gap else None,
        )  # fmt: skip
    lengths = {run: len(lines) for run, lines in positions.items()}
    first = next(iter(lengths))
    for run, length in lengths.items():
        if length != lengths[first]:
            problem = f"it has {length} lines, but {first} has {lengths[first]}"
            raise DataError(problem, file=path, run=run, measure=measure)
    return {run: values[lines] for run, lines in positions.items()}


def _choose_runs(
    matrices: Mapping[str, Mapping[str, np.ndarray]],
    files: Mapping[str, PathLike],
    missing: MissingPolicy,
    share: Share,
) -> list[str]:
    """Return all runs, or those that all files hold, in the order of the first file."""
    every = list(dict.fromkeys(run for matrix in matrices.values() for run in matrix))
    common = [run for run in every if all(run in matrix for matrix in matrices.values())]
    left_out = [run for run in every if run not in common]
    if share == "all":
        if left_out and missing in ("raise", "drop-topic"):  # which would leave no topic
            name = next(name for name, matrix in matrices.items() if left_out[0] not in matrix)
            raise DataError(
                "there is no score of this run on any topic",
                file=files[name], run=left_out[0], measure=name,
                hint=f"{format_option('missing', 'drop-run')} leaves out such runs; where runs have gaps on some topics too, "
                "take the lines of such a run out of the other files",
            )  # fmt: skip
        return every
    if not common:
        raise DataError("the files have no run in common", file=describe_files(list(files.values())))
    if left_out:
        report_policy(f"left out {format_count(len(left_out), 'run')} that not all files hold: {format_list(left_out)}")
    return common


def _name_topics(
    matrices: Mapping[str, Mapping[str, np.ndarray]], files: Mapping[str, PathLike], level: Level
) -> list[str]:
    lengths = {name: len(next(iter(matrix.values()))) for name, matrix in matrices.items()}
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            problem = f"a run has {length} scores, but {lengths[first]} in {file_name(files[first])}"
            raise DataError(problem, file=files[name], measure=name)
    if level == "runs" and lengths[first] == 1:
        return [WHOLE_RUN]
    return [str(number) for number in range(1, lengths[first] + 1)]
