"""What all logs are read into: scores by task, run, sample and measure, held in a few bytes each."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metaeval import files
from metaeval.data.columns import COLLECTION, COLUMNS, DIRECTION, REPEAT, format_columns
from metaeval.data.policies import report_policy
from metaeval.data.rows import ONCE, Rows, read_cell
from metaeval.errors import DataError, format_count, format_list, format_option, refusing

MOST_FILES = 200_000  # of a folder that are looked at


class Cell(NamedTuple):
    """A score of a run on a sample of a task; `epoch` counts repeats of the same sample, None a score that is not there."""

    task: str
    run: str
    topic: str
    measure: str
    score: float | None
    epoch: int = 1
    higher_is_better: bool | None = None


@dataclass(frozen=True)
class Log:
    """One file, or the files of one evaluation, and what it says; `shared`: other logs may be of the same run and task."""

    path: files.PathLike
    cells: Callable[[], Iterable[Cell]]
    shared: bool = False


@dataclass(frozen=True)
class LogFormat:
    """What a harness writes.

    `find` returns the logs among the files of a folder, given their paths, `fits` says whether a single file is one.
    """

    find: Callable[[Sequence[files.PathLike]], Iterable[Log]]
    fits: Callable[[Any], bool]
    name: str

    def rows(self, sources: files.Sources, *, columns: Mapping[str, str] | None = None, **_: Any) -> Rows:
        """Read the scores of every task, which are collections; with columns run=file, a run is named after its file too."""
        if isinstance(sources, Mapping):
            sources = list(sources.values())
        listed = [sources] if isinstance(sources, str | Path) else sources
        paths = [path for one in listed for path in (walk(one) if files.is_folder(one) else [one])]
        where = files.describe_files(paths[:3])
        with self._guard(paths[0] if len(paths) == 1 else None):
            logs = list(self.find(paths))
        if not logs:
            raise DataError(f"there is no log of the format {self.name}", file=where)
        if columns and {**columns} != {"run": "file"}:
            raise DataError("logs have no columns to name", file=where, hint=f"only {format_columns({'run': 'file'})}")
        parts, owners, empty = [], dict[tuple[str, str], files.PathLike](), []
        for log in logs:
            with self._guard(log.path):
                part = pd.DataFrame(log.cells(), columns=[COLLECTION, *COLUMNS, REPEAT, DIRECTION], dtype=object)
            for what in (COLLECTION, *COLUMNS[:3]):
                if not part[what].str.strip().all():
                    raise DataError(f"a {what} has no name", file=log.path)
            part["run"] += f" ({files.stem(log.path)})" if columns else ""
            for task, run in dict.fromkeys(zip(part[COLLECTION], part["run"], strict=True)):
                first = owners.setdefault((task, run), log.path)
                if first != log.path and not log.shared:
                    tell = format_columns({"run": "file"})
                    same = f"{files.file_name(first)} is of the same run on the task {task}"
                    hint = f"name one of them only; or tell them apart by the names of their files: {tell}"
                    raise DataError(same, file=log.path, run=run, hint=hint)
            empty += [files.file_name(log.path)] * bool(part["score"].isna().all())
            parts.append(part)
        if empty:
            report_policy(f"{format_count(len(empty), 'log')} without scores left out: {format_list(empty)}")
        return _join(parts, files.describe_files([log.path for log in logs]))

    def _guard(self, path: files.PathLike | None) -> AbstractContextManager[None]:
        """Refuse what has another structure than this harness writes, wherever that shows."""
        faults = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError, zlib.error)
        return refusing(f"it is not as {self.name} writes it", path, *faults)


def has_keys(*keys: str) -> Callable[[Any], bool]:
    """Return what says whether the first record of a file has these keys."""
    return lambda sample: isinstance(sample.first_record, dict) and {*keys} <= {*sample.first_record}


def walk(folder: files.PathLike) -> list[files.PathLike]:
    """Return the files in a folder and in the folders in it; hidden ones, and links to elsewhere, are left out."""
    found: list[files.PathLike] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(place, name) for name in sorted(names) if not name.startswith(".")]
        if len(found) > MOST_FILES:
            raise DataError(f"there are more than {MOST_FILES:,} files in it", file=folder, hint="name a folder in it")
    return found


def _join(parts: Sequence[pd.DataFrame], where: str) -> Rows:
    frame = pd.concat(parts, ignore_index=True)
    known = frame.groupby([COLLECTION, "measure"], sort=False)[DIRECTION].transform("first")
    frame[DIRECTION] = frame[DIRECTION].where(frame[DIRECTION].notna(), known)
    frame = frame[frame["score"].notna()].reset_index(drop=True)
    if frame.empty:
        raise DataError("there are no scores in it", file=where)
    epochs = frame.groupby(COLLECTION, sort=False)[REPEAT].nunique()
    for task, count in epochs[epochs > 1].items():
        report_policy(f"{count} epochs of {task}: their mean was taken")
    repeated = frame[COLLECTION].map(epochs).astype(int) > 1
    frame[REPEAT] = frame[REPEAT].map(str).astype(object).where(repeated, ONCE)
    frame = frame.assign(score=frame["score"].astype(float)).drop(columns=[] if repeated.any() else REPEAT)
    return replace(Rows.of(frame, where), explain=lambda *_: f"{format_option('doubled', 'mean')} takes their mean")


def as_score(value: Any, **where: Any) -> float | None:
    """Return a value as a score; None where it says that there is none."""
    score = read_cell(value)
    if math.isinf(score):
        raise DataError(f"the score is no number: {value!r} is no finite number", **where)
    return None if math.isnan(score) else score


def need(record: Any, key: str, path: files.PathLike, line: int | None = None) -> Any:
    """Return what an object says under a key that it must have."""
    if not isinstance(record, dict) or key not in record:
        raise DataError(f"there is no {key!r} where a log has it", file=path, line=line)
    return record[key]


def need_text(record: Any, key: str, path: files.PathLike, line: int | None = None) -> str:
    """Return the name, which may be a number, that an object must have under a key."""
    value = need(record, key, path, line)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise DataError(f"the {key} is {value!r}, neither text nor whole number", file=path, line=line)
    return str(value)
