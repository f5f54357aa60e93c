"""Rows of run, topic, measure and score, checked and put into an array: labels are never merged, numbers never guessed."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers as abstract
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from metaeval.data.columns import COLUMNS, DIRECTION
from metaeval.data.labels import Choose
from metaeval.data.policies import (
    MissingPolicy,
    check_policy,
    drop_sparse,
    hint_missing,
    mend_missing,
    refuse_gap,
    report_policy,
)
from metaeval.errors import DataError, format_count, format_list
from metaeval.measures.base import Measure
from metaeval.measures.directions import turn
from metaeval.measures.resolve import measure_of_label

if TYPE_CHECKING:
    import pandas as pd

MOST_CELLS, MOST_CELLS_A_ROW = 100_000, 50
"""Cells that "worst" may fill: so many, or so many for every row there is; more is a mistake in the labels."""

LONGEST_LABEL = 100_000
"""Letters of a label, one copy of which would be made for each of its rows."""

DoubledPolicy = Literal["raise", "mean", "latest"]
"""What to do where a run has several scores for a topic and measure."""


class DoubledError(DataError):
    """A run has several scores for a topic and measure; `gaps` says whether other cells have none."""

    gaps = False


Arranged = tuple[np.ndarray, list[str], list[str], list[Measure]]
"""Values of shape (run, topic, measure), and the labels of its axes."""


def is_missing(text: str) -> bool:
    """Say whether a cell states that there is no number: it is empty, NA, NaN, None or null, in any case.

    >>> [is_missing(text) for text in ("", " NA ", "nan", "-NaN", "n/a", "0")]
    [True, True, True, True, False, False]
    """
    return text.strip().lower().lstrip("+-") in ("", "na", "nan", "none", "null")


def number(text: str) -> float:
    """Convert a text to a number; NaN if it is not a number. ``1_000``, which Python accepts, is not a number here."""
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def arrange_cells(
    frame: pd.DataFrame,
    *,
    missing: MissingPolicy = "raise",
    measures: Sequence[Measure] = (),
    file: object = None,
    lines: Sequence[int] | None = None,
    given: Sequence[str] | None = None,
    doubled: DoubledPolicy = "raise",
    choose: Choose | None = None,
) -> Arranged:
    """Put the rows of a tidy frame, with a column time for the latest of several scores, into an array.

    Measures are chosen before anything else, so that no other one decides which runs and topics are left.
    """
    check_policy(missing, MissingPolicy)
    check_policy(doubled, DoubledPolicy)
    if choose is not None:
        frame, given, lines = _choose_rows(frame, given, lines, choose, file)
    encoded = [_encode(frame[name], name, file, lines) for name in COLUMNS[:3]]
    codes, labels = [code for code, _ in encoded], [names for _, names in encoded]

    def where(row: int) -> dict[str, Any]:
        named = {name: labels[axis][codes[axis][row]] for axis, name in enumerate(COLUMNS[:3])}
        return {"file": file, "line": None if lines is None else lines[row], **named}

    score, gaps = read_score_column(frame["score"], given, missing, where)
    shape = tuple(map(len, labels))
    n_cells = math.prod(shape)
    if n_cells >= 1 << 62:
        raise DataError(f"{len(score):,} scores cannot fill {n_cells:,} cells of runs, topics and measures", file=file)
    cell = np.ravel_multi_index(tuple(codes), shape)
    sparse = n_cells > 4 * len(cell) + 1000
    known = _find_measures(frame, codes[2], labels[2], measures, file)
    if doubled != "raise":
        score, gaps = score.copy(), gaps.copy()  # which the mean changes; those of Parquet are read-only
        rows = settle_doubled(cell, score, gaps, frame, doubled, file, where)
        codes, cell, score, gaps = [code[rows] for code in codes], cell[rows], score[rows], gaps[rows]
    refuse_second(cell, n_cells, sparse, score, where)
    runs, topics = labels[0], labels[1]
    if sparse:  # an array of all cells might not fit into memory
        filled = ~gaps
        if missing == "raise":
            _refuse_first_gap(np.sort(cell[filled]), shape, runs, topics, known, file)
        if missing in ("worst", "keep"):
            if n_cells > max(MOST_CELLS, MOST_CELLS_A_ROW * len(cell)):
                problem = f"of {n_cells:,} cells of runs, topics and measures only {len(cell):,} have a score"
                raise DataError(problem, file=file, hint="are the columns those that were meant?")
        else:
            axis = 0 if missing == "drop-run" else 1
            keep = np.bincount(codes[axis][filled], minlength=shape[axis]) == n_cells // shape[axis]
            remaining = drop_sparse(keep, labels[axis], axis, missing, file)
            kept = keep[codes[axis]]
            codes = [code[kept] for code in codes]
            codes[axis] = (np.cumsum(keep) - 1)[codes[axis]]
            runs, topics = (remaining, topics) if axis == 0 else (runs, remaining)
            shape, score = (len(runs), len(topics), len(known)), score[kept]
            cell = np.ravel_multi_index(tuple(codes), shape)
    values = np.full(shape, np.nan)
    values.ravel()[cell] = score
    values, runs, topics = mend_missing(values, runs, topics, known, missing, file=file)
    return values, runs, topics, known


Texts = Sequence[str] | None


def keep_rows(
    frame: pd.DataFrame, given: Texts, lines: Sequence[int] | None, rows: np.ndarray
) -> tuple[pd.DataFrame, Texts, Sequence[int] | None]:
    """Return some rows of a frame, with the scores as they are written and the lines where they stand."""
    positions = np.flatnonzero(rows).tolist()
    given = None if given is None else [given[row] for row in positions]
    lines = None if lines is None else [lines[row] for row in positions]
    return frame[rows].reset_index(drop=True), given, lines


def _choose_rows(
    frame: pd.DataFrame, given: Texts, lines: Sequence[int] | None, choose: Choose, file: object
) -> tuple[pd.DataFrame, Texts, Sequence[int] | None]:
    """Return the rows of the wanted measures, and say which runs and topics have none."""
    code, labels = _encode(frame["measure"], "measure", file, lines)
    names = [str(measure_of_label(label)) for label in labels]
    wanted = choose(names)
    kept = keep_rows(frame, given, lines, np.isin(code, [m for m, name in enumerate(names) if name in wanted]))
    for what in COLUMNS[:2]:
        lost = set(frame[what].map(str)) - set(kept[0][what].map(str))
        if lost:
            report_policy(
                f"left out {format_count(len(lost), what)} without any score of {format_list(wanted)}: "
                f"{format_list(sorted(lost))}",
                file,
            )
    return kept


def _find_measures(
    frame: pd.DataFrame, code: np.ndarray, labels: Sequence[str], measures: Sequence[Measure], file: object
) -> list[Measure]:
    """Return the measures of these names, with the directions that the frame states."""
    stated = {str(measure): measure for measure in measures}
    directions = _read_directions(frame, code, labels, file)
    known = [stated.get(name) or measure_of_label(name) for name in labels]
    return [turn(measure, directions[str(measure)]) if str(measure) in directions else measure for measure in known]


def _read_directions(frame: pd.DataFrame, code: np.ndarray, labels: Sequence[str], file: object) -> dict[str, bool]:
    """Return the directions that a column of the frame states, by measure."""
    if DIRECTION not in frame.columns:
        return {}
    column = frame[DIRECTION].astype(object).where(frame[DIRECTION].notna(), "")
    words = column.groupby(code).unique()
    stated = {}
    for position, spellings in zip(words.index.tolist(), words, strict=True):
        name, spelled = labels[position], {str(text).strip().lower() for text in spellings}
        if len(spelled) > 1 or not spelled <= {"true", "false", ""}:
            shown = format_list(sorted(spelled))
            problem = f"{DIRECTION} is {shown}; it is true or false, the same in every row of a measure"
            raise DataError(problem, file=file, measure=name)
        if spelled != {""}:
            stated[name] = spelled == {"true"}
    return stated


def _encode(column: pd.Series, what: str, file: object, lines: Sequence[int] | None) -> tuple[np.ndarray, list[str]]:
    """Return for every row the position of its label, and the labels as text in the order in which they appear."""
    import pandas as pd  # here, so that scores without frames need not wait for it

    gone = column.isna().to_numpy()
    if gone.any():
        line = None if lines is None else lines[int(np.argmax(gone))]
        raise DataError(f"the {what} is missing", file=file, line=line)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype == object:
        kinds = {_kind(kind) for kind in set(map(type, column.array))}
        if len(kinds) > 1 or not kinds <= _LABELS:
            # 1, 1.0 and True are equal, and would become one label.
            raise DataError(
                f"the {what}s are of several types, or of one that no label has: {format_list(sorted(kinds))}",
                file=file,
                hint="make them text",
            )
        if kinds != {"text"}:
            column = column.map(str)
    elif column.dtype.kind in "fcmMb":
        column = column.astype(str)
    codes, uniques = pd.factorize(column)
    labels = [str(label) for label in uniques]
    for position, label in enumerate(labels):
        if not label.strip():
            row = int(np.argmax(codes == position))
            raise DataError(f"the {what} is missing", file=file, line=None if lines is None else lines[row])
    return codes, labels


_LABELS = {"text", "whole number", "float", "bool", "Measure"}


def _kind(kind: type) -> str:
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, bool | np.bool_):
        return "bool"
    if issubclass(kind, int | np.integer):
        return "whole number"
    if issubclass(kind, float | np.floating):
        return "float"
    return "Measure" if issubclass(kind, Measure) else kind.__name__


def read_score_column(
    column: pd.Series, given: Sequence[str] | None, missing: str, where: Callable[[int], dict[str, Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return a column of scores as numbers, without guessing what dates, complex numbers or words may mean."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype.kind in "mMcSV":
        raise DataError(f"scores are numbers, not {column.dtype}", **where(0), hint=_NO_GUESS)
    if column.dtype.kind in "fiub":
        score = column.to_numpy(dtype=np.float64, na_value=np.nan)
        gaps = np.isnan(score)
        if given is not None:
            gaps[gaps] = [is_missing(given[row]) for row in np.flatnonzero(gaps).tolist()]
    else:
        cells = column.tolist()
        score = np.empty(len(cells))
        gaps = np.zeros(len(cells), dtype=bool)
        for row, cell in enumerate(cells):
            score[row], gaps[row] = _read_score(cell, row, where)
    wrong = np.flatnonzero(~np.isfinite(score) & ~gaps) if missing != "raise" else np.flatnonzero(~np.isfinite(score))
    if len(wrong):
        words = wrong[~gaps[wrong]]  # to be mended, whatever is done about what is missing
        wrong = words if len(words) else wrong
        row = int(wrong[0])
        shown = column.iloc[row] if given is None else given[row]
        shown = shown.item() if isinstance(shown, np.generic) else shown
        more = f" ({len(wrong):,} such rows in all)" if len(wrong) > 1 else ""
        comma = isinstance(shown, str) and _DECIMAL_COMMA.fullmatch(shown.strip())
        hint = hint_missing() if gaps[row] else "write decimals with a point" if comma else None
        raise DataError(f"the score {shown!r} is not a finite number{more}", value=shown, hint=hint, **where(row))
    return score, gaps


_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")

_NO_GUESS = "what number is meant would be a guess"


def _read_score(cell: Any, row: int, where: Callable[[int], dict[str, Any]]) -> tuple[float, bool]:
    """Return what one cell says, NaN and True where it says that there is no score."""
    import pandas as pd

    if cell is None or cell is pd.NA:
        return math.nan, True
    if isinstance(cell, str):
        return number(cell), is_missing(cell)
    real = isinstance(cell, abstract.Real | decimal.Decimal | np.bool_)
    if not real or isinstance(cell, datetime.timedelta | np.timedelta64):
        raise DataError(f"scores are numbers, not {type(cell).__name__}", value=cell, hint=_NO_GUESS, **where(row))
    try:
        value = float(cell)
    except (OverflowError, ValueError):
        value = math.inf
    return value, math.isnan(value)


def refuse_second(
    cell: np.ndarray, n_cells: int, sparse: bool, score: np.ndarray, where: Callable[[int], dict[str, Any]]
) -> None:
    """Refuse cells with a second score, and say how many there are and whether scores differ."""
    if not sparse and not (np.bincount(cell, minlength=n_cells) > 1).any():
        return
    _, first = np.unique(cell, return_index=True)
    if len(first) == len(cell):
        return
    again = np.ones(len(cell), dtype=bool)
    again[first] = False
    row = int(np.argmax(again))
    count = len(cell) - len(first)
    twice = np.flatnonzero(np.isin(cell, cell[again]))
    order = twice[np.argsort(cell[twice], kind="stable")]
    begins = np.flatnonzero(np.diff(cell[order], prepend=-1))
    low, high = np.minimum.reduceat(score[order], begins), np.maximum.reduceat(score[order], begins)
    other = int((low != high).sum())  # cells without a number differ from every one
    more = f" ({count:,} such rows in all; the scores of {other:,} cells differ)" if count > 1 else ""
    error = DoubledError(f"there is a second score, {score[row]:g}{more}", value=score[row], **where(row))
    error.gaps = len(first) < n_cells
    raise error


def settle_doubled(
    cell: np.ndarray,
    score: np.ndarray,
    gaps: np.ndarray,
    frame: pd.DataFrame,
    policy: str,
    file: object,
    where: Callable[[int], dict[str, Any]],
) -> np.ndarray:
    """Return one row for every cell, whose score becomes the mean, or is the latest."""
    first, group, sizes = np.unique(cell, return_index=True, return_inverse=True, return_counts=True)[1:]
    if (sizes == 1).all():
        return np.arange(len(cell))
    done = f"{format_count(int((sizes > 1).sum()), 'cell')} had several scores: the {policy} was taken"
    if policy == "mean":
        known = np.bincount(group, weights=~gaps)
        total = np.bincount(group, weights=np.where(gaps, 0.0, score))
        single = sizes == 1
        with np.errstate(invalid="ignore"):
            means = np.where(single, score[first], total / known)
        score[first], gaps[first] = means, np.isnan(means)
        report_policy(done, file)
        rows: np.ndarray = np.sort(first)
        return rows
    if "time" not in frame:
        raise DataError(
            "no column says when scores were computed, so that none is the latest", file=file, hint=_STATE_TIME
        )
    times = _read_times(frame["time"], file)
    order = np.lexsort((times, group))
    last = np.append(np.diff(group[order]) > 0, True)
    rows = order[last]
    latest = times[rows][group]
    tie = np.flatnonzero((times == latest) & (score != score[rows][group]) & ~(gaps & gaps[rows][group]))
    if len(tie):
        raise DataError("two scores are the latest", value=score[tie[0]], **where(int(tie[0])))
    report_policy(done, file)
    return np.sort(rows)


_STATE_TIME = "name the column: columns time=NAME"


def _read_times(column: pd.Series, file: object) -> np.ndarray:
    """Return times as numbers: dates, or seconds."""
    import pandas as pd

    times = pd.to_numeric(column, errors="coerce") if column.dtype.kind != "M" else column.astype("int64")
    texts = column.map(str)
    if any(texts.map(form.fullmatch).notna().all() for form in (_DATE_AS_NUMBER, _NO_YEAR)):
        raise DataError(f"dates such as {texts.iloc[0]!r} can be read in several ways", file=file, hint=_WRITE_DATES)
    if times.isna().any():
        times = _read_dates(texts, file)
    numbers: np.ndarray = times.to_numpy(dtype=np.float64)
    return numbers


_WRITE_DATES = "write dates as 2024-12-31"

_DATE_AS_NUMBER = re.compile(r"(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])((19|20)\d\d|\d\d)|(19|20)\d\d\.(\d|1[0-2])")
"""A day, a month and a year without marks, of which no number is made; or a year and a month with a point between them."""

_NO_YEAR = re.compile(r"\d{1,2}[./-]\d{1,2}\.?")

_NUMBERED_DAY = re.compile(r"(?<!\d)(\d{1,2})([./ -])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
"""A date of three numbers that does not begin with the year of four digits."""


def _read_dates(texts: pd.Series, file: object) -> pd.Series:
    """Return dates as numbers: the day comes before the month in all of them or in none, and which it is is no guess."""
    import pandas as pd

    readings = []
    for month, day in ((3, 1), (1, 3)):
        # A year of two digits may be the year, the month or the day.
        write = lambda found, m=month, d=day: f"{found[4]}-{found[m]}-{found[d]}" * (len(found[4]) == 4)  # noqa: E731
        written = texts.map(lambda text, write=write: _NUMBERED_DAY.sub(write, text))
        readings.append(pd.to_datetime(written, errors="coerce", utc=True, format="mixed"))
    unread = min((times.isna().to_numpy() for times in readings), key=np.sum)
    if unread.any():
        problem = f"{texts.iloc[int(np.argmax(unread))]!r} is no time, or not written as the others are"
        raise DataError(problem, file=file, hint=_WRITE_DATES)
    known = [times.astype("int64") for times in readings if not times.isna().any()]
    orders = [np.unique(times, return_inverse=True)[1] for times in known]
    unlike = orders[0] != orders[-1]
    if unlike.any():
        shown = texts.iloc[int(np.argmax(unlike))]
        problem = f"dates such as {shown!r} may begin with the day or with the month, and what is latest depends on it"
        raise DataError(problem, file=file, hint=_WRITE_DATES)
    return known[0]


def _refuse_first_gap(
    cell: np.ndarray,
    shape: tuple[int, ...],
    runs: Sequence[str],
    topics: Sequence[str],
    measures: Sequence[Measure],
    file: object,
) -> None:
    """Refuse the first cell that is not among the sorted ones; there is one."""
    odd = np.flatnonzero(cell != np.arange(len(cell)))
    r, t, m = map(int, np.unravel_index(int(odd[0]) if len(odd) else len(cell), shape))
    refuse_gap(runs[r], topics[t], measures[m], math.prod(shape) - len(cell), file)
