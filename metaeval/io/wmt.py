"""Scores as shared tasks on metrics keep them: one file per measure, ``run<TAB>score`` on every line, None if not rated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.data.cells import is_missing, number
from metaeval.data.policies import MissingPolicy, check_policy, hint_missing, mend_missing, report_policy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_count, format_list
from metaeval.files import (
    PathLike,
    Sources,
    check_file_name,
    describe_files,
    file_name,
    find_paths,
    join_path,
    read_text,
    write_file,
    write_together,
)
from metaeval.io.table import check_plain
from metaeval.measures.resolve import measure_of_label

Level = Literal["topics", "runs"]
"""Whether files hold a score for every topic of a run, or one for the whole run."""

SUFFIXES: Mapping[Level, str] = {"topics": ".seg.score", "runs": ".sys.score"}
"""How the names of files end, by level."""

WHOLE_RUN = "all"
"""The one topic of scores of whole runs."""

_NOT_RATED = "none"
_PREFIX = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?-[a-z]{2,3}(_[A-Z]{2})?\.")
_VARIANT = re.compile(r"-(src|ref[A-Za-z]?)$")


def is_segment_file(path: PathLike) -> bool:
    """Say whether a file has the name of one that this module reads.

    Parameters
    ----------
    path : path

    Returns
    -------
    bool
    """
    return file_name(path).endswith(tuple(SUFFIXES.values()))


def read(
    paths: Sources,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    level: Level | None = None,
) -> Scores:
    r"""Read ``*.seg.score`` files, which hold the scores of runs topic by topic, or ``*.sys.score`` files, of whole runs.

    The lines of a run are in the order of the topics, which have no names and are called "1" to "n".

    Parameters
    ----------
    paths : path, list of paths, mapping of measure to path, or folder
        A measure is named after its file: ``BLEU-refA.seg.score`` and ``en-de.BLEU.seg.score`` hold BLEU. If two files
        would have one name, it includes what follows the hyphen.
    measure : str, optional
        The only measure to read.
    collection : str, optional
        By default, the name of the folder.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with a score of ``None`` (not rated). With any policy but to raise, a run that one of the files does
        not hold at all is left out.
    level : {"topics", "runs"}, optional
        Which files of a folder to read: by default those of topics if there are any.

    Returns
    -------
    Scores
        Scores of whole runs have one topic, "all".

    Raises
    ------
    DataError
        If a line is not of this form, the files do not have the same numbers of topics, or the policy is to raise and
        a score or a run is missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "en-de.mqm.seg.score"
    >>> _ = path.write_text("ONLINE-A\t-1.0\nONLINE-A\t0.0\nONLINE-B\t-5.0\nONLINE-B\t-1.0\n")
    >>> read(path).matrix("mqm")
    topic       1    2
    run
    ONLINE-A -1.0  0.0
    ONLINE-B -5.0 -1.0
    """
    check_policy(missing, MissingPolicy)
    files, found = _find_files(paths, measure, level)
    matrices = {name: _read_file(path, name, missing) for name, path in files.items()}
    runs = _choose_runs(matrices, files, missing)
    topics = _name_topics(matrices, files, found)
    values = np.stack([np.stack([one[run] for run in runs]) for one in matrices.values()], axis=-1)
    known = [measure_of_label(name) for name in files]
    where = next(iter(files.values())) if len(files) == 1 else None
    values, runs, topics = mend_missing(values, runs, topics, known, missing, file=where)
    if collection is None:
        collection = file_name(paths).removesuffix(SUFFIXES[found]) if isinstance(paths, str | Path) else ""
    described = describe_files(list(files.values()))
    return Scores(values, runs=runs, topics=topics, measures=known, collection=collection, provenance=described)


def write(scores: Scores, folder: PathLike) -> None:
    """Write one ``.seg.score`` file per measure, or ``.sys.score`` files if the only topic is "all".

    Parameters
    ----------
    scores : Scores
    folder : path
        Created if it does not exist.

    Raises
    ------
    DataError
        If topics are not called "1" to "n", since the files cannot hold their names, or a name is not possible.
    """
    whole = scores.topics == (WHOLE_RUN,)
    if not whole and scores.topics != tuple(str(number) for number in range(1, len(scores.topics) + 1)):
        raise DataError('these files hold no names of topics, which would be called "1" to "n"', file=folder)
    runs = [check_plain(run, "run") for run in scores.runs]
    suffix = SUFFIXES["runs" if whole else "topics"]
    names = [check_file_name(f"{one}{suffix}", "measure") for one in scores.measures]
    for one, name in zip(scores.measures, names, strict=True):
        if _name_measure(name, suffix) != str(one):
            raise DataError("it cannot be read back from the name of a file", measure=one)
    with write_together(folder) as aside:
        for position, name in enumerate(names):
            rows = scores.values[:, :, position].tolist()
            lines = [f"{run}\t{value!r}\n" for run, row in zip(runs, rows, strict=True) for value in row]
            write_file(join_path(aside, name), "".join(lines))


def _find_files(paths: Sources, measure: str | None, level: Level | None) -> tuple[dict[str, PathLike], Level]:
    """Return the files by measure, and of which level they are."""
    named = dict(paths) if isinstance(paths, Mapping) else None
    listed = list(named.values()) if named is not None else find_paths(paths)  # type: ignore[arg-type]
    if not listed:
        raise DataError("no files were named")
    there = [one for one, suffix in SUFFIXES.items() if any(file_name(path).endswith(suffix) for path in listed)]
    found = level or (there[0] if there else "topics")
    suffix = SUFFIXES[found]
    if named is None:
        folder = len(listed) > 1 or listed[0] is not paths
        kept = [path for path in listed if file_name(path).endswith(suffix)] if folder else listed
        if not kept:
            raise DataError(f"there is no file whose name ends in {suffix}", file=describe_files(listed))
        short = [_name_measure(file_name(path), suffix) for path in kept]
        full = [_PREFIX.sub("", file_name(path).removesuffix(suffix)) for path in kept]
        names = [whole if short.count(name) > 1 else name for name, whole in zip(short, full, strict=True)]
        named = {}
        for name, path in zip(names, kept, strict=True):
            if name in named:
                raise DataError(f"it is of the same measure as {file_name(named[name])}", file=path, measure=name)
            named[name] = path
    wanted = {str(name): path for name, path in named.items() if measure is None or str(name) == measure}
    if not wanted:
        raise DataError(f"there is no measure {measure!r} (there are {format_list(list(named))})")
    return wanted, found


def _name_measure(name: str, suffix: str) -> str:
    bare = _PREFIX.sub("", name.removesuffix(suffix))
    return _VARIANT.sub("", bare) or bare


def _read_file(path: PathLike, measure: str, missing: MissingPolicy) -> dict[str, npt.NDArray[np.float64]]:
    """Return the scores of every run in the order of its lines, NaN where there is none."""
    lines = read_text(path).split("\n")
    rows = [line.split("\t") for line in lines if line]
    if any(len(row) != 2 for row in rows):
        at = next(place for place, line in enumerate(lines, start=1) if line and line.count("\t") != 1)
        found = len(lines[at - 1].split("\t"))
        raise DataError(f"the line has {found} columns, not run<TAB>score", file=path, line=at)
    values = np.array([number(text) for _, text in rows])
    positions: dict[str, list[int]] = {}
    for place, (run, _) in enumerate(rows):
        positions.setdefault(run, []).append(place)
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        run, text = rows[place]
        gap = is_missing(text) or text.strip().lower() == _NOT_RATED
        if gap and missing != "raise":
            continue
        numbers = (place for place, line in enumerate(lines, start=1) if line)
        line = next(number for index, number in enumerate(numbers) if index == place)
        raise DataError(
            "there is no score" if gap else f"the score {text!r} is not a finite number",
            file=path, line=line, run=run, topic=str(positions[run].index(place) + 1), measure=measure, value=text,
            hint=hint_missing() if gap else None,
        )  # fmt: skip
    lengths = {run: len(places) for run, places in positions.items()}
    first = next(iter(lengths))
    for run, length in lengths.items():
        if not run.strip():
            at = next(
                place for place, line in enumerate(lines, start=1) if line and not line.partition("\t")[0].strip()
            )
            raise DataError("the run has no name", file=path, line=at)
        if length != lengths[first]:
            raise DataError(
                f"it has {length} lines, but {first} has {lengths[first]}", file=path, run=run, measure=measure
            )
    return {run: values[places] for run, places in positions.items()}


def _choose_runs(
    matrices: Mapping[str, Mapping[str, np.ndarray]], files: Mapping[str, PathLike], missing: MissingPolicy
) -> list[str]:
    """Return the runs that all files hold, in the order of the first file."""
    every = dict.fromkeys(run for one in matrices.values() for run in one)
    common = [run for run in every if all(run in one for one in matrices.values())]
    left_out = [run for run in every if run not in common]
    if left_out and missing == "raise":
        name = next(name for name, one in matrices.items() if left_out[0] not in one)
        raise DataError("there is no score", file=files[name], run=left_out[0], measure=name, hint=hint_missing())
    if not common:
        raise DataError("the files have no run in common", file=describe_files(list(files.values())))
    if left_out:
        report_policy(f"left out {format_count(len(left_out), 'run')} that not all files hold: {format_list(left_out)}")
    return common


def _name_topics(
    matrices: Mapping[str, Mapping[str, np.ndarray]], files: Mapping[str, PathLike], level: Level
) -> list[str]:
    lengths = {name: len(next(iter(one.values()))) for name, one in matrices.items()}
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            problem = f"a run has {length} scores, but {lengths[first]} in {file_name(files[first])}"
            raise DataError(problem, file=files[name], measure=name)
    if level == "runs" and lengths[first] == 1:
        return [WHOLE_RUN]
    return [str(number) for number in range(1, lengths[first] + 1)]
