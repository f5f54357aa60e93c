"""Rows of run, topic, measure and score, checked and put into an array: labels are never merged, numbers never guessed."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers as abstract
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metaeval.data.policies import MissingPolicy, check_policy, drop_sparse, hint_missing, mend_missing, refuse_gap
from metaeval.errors import DataError, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.measures.directions import turn
from metaeval.measures.resolve import measure_of_label

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("run", "topic", "measure", "score")

DIRECTION = "higher_is_better"
"""An optional fifth column, true or false, written if the direction of a measure is not known from its name."""

MOST_CELLS, MOST_CELLS_A_ROW = 100_000, 50
"""Cells that "worst" may fill: so many, or so many for every row there is; more is a mistake in the labels."""

Arranged = tuple[np.ndarray, list[str], list[str], list[Measure]]
"""Values of shape (run, topic, measure), and the labels of its axes."""


def is_missing(text: str) -> bool:
    """Say whether a cell states that there is no number: it is empty, NA or NaN, in any case.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_missing(text) for text in ("", " NA ", "nan", "-NaN", "n/a", "0")]
    [True, True, True, True, False, False]
    """
    return text.strip().lower().lstrip("+-") in ("", "na", "nan")


def number(text: str) -> float:
    """Convert a text to a number; NaN if it is not a number. ``1_000``, which Python accepts, is not a number here."""
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


RUN_COLUMNS = ("run", "system", "model", "team", "method", "submission", "participant")
"""What a first column of runs is called, in lower case."""


TOPIC_NAMES = (
    "topic", "topic_id", "query", "query_id", "qid", "segment", "segment_id", "question", "question_id", "document", "doc",
    "doc_id", "item", "instance", "dialogue",
)  # fmt: skip
"""What a column of topics is called, in lower case."""


def refuse_other_names(columns: Sequence[object], file: object = None, given: Mapping[str, str] | None = None) -> None:
    """Refuse a table of one score a row whose columns have other names, and say how to state them.

    Parameters
    ----------
    columns : sequence
        Names of its columns, those that are stated already replaced.
    file : path, optional
        For the message.
    given : mapping of str to str, optional
        What is stated already.

    Raises
    ------
    DataError
        If there is a column of runs, one of topics, and one that must be the scores.
    """
    names = [str(one).strip() for one in columns]
    known = {
        "run": RUN_COLUMNS, "topic": TOPIC_NAMES, "measure": ("measure", "metric"), "score": ("score", "value"),
    }  # fmt: skip
    found = {
        what: next((name for name in names if name.lower() in words), None)  # the first one
        for what, words in known.items()
    }
    rest = [name for name in names if name not in found.values()]
    if found["score"] is None and len(rest) == 1:
        found["score"] = rest[0]
    stated = {what: name for what, name in found.items() if name is not None and name != what}
    if None in (found["run"], found["topic"], found["score"]) or not stated:
        return
    raise DataError(
        f"its columns are called {format_list(names)}, not run, topic and score",
        file=file,
        hint=f"if each row holds one score of a run on a topic, say so: {format_columns({**(given or {}), **stated})}",
    )


def format_columns(names: Mapping[str, str]) -> str:
    """Return the names of columns as the user would state them, in Python or on the command line."""
    option = format_option("columns")
    if option.startswith("-"):
        return f"{option} {shlex.quote(','.join(f'{what}={name}' for what, name in names.items()))}"
    return f"{option}={dict(names)}"


def refuse_leaderboard(columns: Sequence[object], file: object = None) -> None:
    """Refuse a table of runs without topics, one number a run, and say what can be done.

    Parameters
    ----------
    columns : sequence
        Names of its columns.
    file : path, optional
        For the message.

    Raises
    ------
    DataError
        If one of them is that of runs, and none that of topics.
    """
    names = [str(one).strip().lower() for one in columns]
    if "topic" not in names and ("run" in names or (names and names[0] in RUN_COLUMNS)):
        raise DataError(
            f"it holds one number a run and no topics (columns: {format_list([str(one) for one in columns])}), "
            "but the analyses look at how scores vary over topics",
            file=file,
            hint="give the scores of every topic (segment, query, document), of which such numbers are means, or say "
            f"which column is the topic with {format_option('columns')}; "
            "metaeval.stats.rank_correlation.tau compares two lists of such numbers",
        )


def arrange_cells(
    frame: pd.DataFrame,
    *,
    missing: MissingPolicy = "raise",
    measures: Sequence[Measure] = (),
    file: object = None,
    lines: Sequence[int] | None = None,
    given: Sequence[str] | None = None,
) -> Arranged:
    """Put the rows of a tidy frame into an array.

    Parameters
    ----------
    frame : DataFrame
        Columns run, topic, measure and score, and maybe higher_is_better.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with a cell that has no row, or whose score is NaN, None or NA.
    measures : sequence of Measure, optional
        Directions and ranges for names that are not registered.
    file : path, optional
        Where the frame is from, for messages.
    lines : sequence of int, optional
        The line of every row in that file.
    given : sequence of str, optional
        The scores as they are written there, where the frame holds them as numbers already.

    Returns
    -------
    values : ndarray, shape (run, topic, measure)
    runs, topics : list of str
    measures : list of Measure

    Raises
    ------
    DataError
        If a label is missing or of another type than the others, a score is not a finite number, a cell is there
        twice, or one is missing and the policy is to raise, or a direction is stated in several ways.
    """
    check_policy(missing, MissingPolicy)
    encoded = [_encode(frame[name], name, file, lines) for name in COLUMNS[:3]]
    codes, labels = [code for code, _ in encoded], [found for _, found in encoded]

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
    _refuse_second(cell, n_cells, sparse, score, where)
    stated = {str(one): one for one in measures}
    directions = _read_directions(frame, codes[2], labels[2], file)
    known = [stated.get(name) or measure_of_label(name) for name in labels[2]]
    known = [turn(one, directions[str(one)]) if str(one) in directions else one for one in known]
    runs, topics = labels[0], labels[1]
    if sparse:  # an array of all cells might not fit into memory
        there = ~gaps
        if missing == "raise":
            _refuse_first_gap(np.sort(cell[there]), shape, runs, topics, known, file)
        if missing == "worst":
            if n_cells > max(MOST_CELLS, MOST_CELLS_A_ROW * len(cell)):
                problem = f"of {n_cells:,} cells of runs, topics and measures only {len(cell):,} have a score"
                raise DataError(problem, file=file, hint="are the columns those that were meant?")
        else:
            axis = 0 if missing == "drop-run" else 1
            keep = np.bincount(codes[axis][there], minlength=shape[axis]) == n_cells // shape[axis]
            kept = drop_sparse(keep, labels[axis], axis, missing, file)
            rows = keep[codes[axis]]
            codes = [code[rows] for code in codes]
            codes[axis] = (np.cumsum(keep) - 1)[codes[axis]]
            runs, topics = (kept, topics) if axis == 0 else (runs, kept)
            shape, score = (len(runs), len(topics), len(known)), score[rows]
            cell = np.ravel_multi_index(tuple(codes), shape)
    values = np.full(shape, np.nan)
    values.ravel()[cell] = score
    values, runs, topics = mend_missing(values, runs, topics, known, missing, file=file)
    return values, runs, topics, known


def _read_directions(frame: pd.DataFrame, code: np.ndarray, labels: Sequence[str], file: object) -> dict[str, bool]:
    """Return the directions that a column of the frame states, by measure."""
    if DIRECTION not in frame.columns:
        return {}
    said = frame[DIRECTION].astype(object).where(frame[DIRECTION].notna(), "")
    words = said.groupby(code).unique()
    stated = {}
    for position, found in zip(words.index.tolist(), words, strict=True):
        name, spelled = labels[position], {str(word).strip().lower() for word in found}
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
    codes, found = pd.factorize(column)
    labels = [str(label) for label in found]
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
    """Return a column of scores as numbers, without guessing what dates, complex numbers or words may mean.

    Parameters
    ----------
    column : Series
    given : sequence of str or None
        The same scores as a file holds them, for messages.
    missing : str
        Whether NaN, None and NA are refused: with ``"raise"``.
    where : callable
        Makes of a row's number what a message says of its place.

    Returns
    -------
    scores : ndarray of float64, shape (row,)
        NaN where there is none.
    gaps : ndarray of bool, shape (row,)
        Where that is.

    Raises
    ------
    DataError
        If one is no finite number.
    """
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
        for row, one in enumerate(cells):
            score[row], gaps[row] = _read_score(one, row, where)
    wrong = np.flatnonzero(~np.isfinite(score) & ~gaps) if missing != "raise" else np.flatnonzero(~np.isfinite(score))
    if len(wrong):
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


def _read_score(one: Any, row: int, where: Callable[[int], dict[str, Any]]) -> tuple[float, bool]:
    """Return what one cell says, NaN and True where it says that there is no score."""
    import pandas as pd

    if one is None or one is pd.NA:
        return math.nan, True
    if isinstance(one, str):
        return number(one), is_missing(one)
    real = isinstance(one, abstract.Real | decimal.Decimal | np.bool_)
    if not real or isinstance(one, datetime.timedelta | np.timedelta64):
        raise DataError(f"scores are numbers, not {type(one).__name__}", value=one, hint=_NO_GUESS, **where(row))
    try:
        value = float(one)
    except (OverflowError, ValueError):
        value = math.inf
    return value, math.isnan(value)


def _refuse_second(
    cell: np.ndarray, n_cells: int, sparse: bool, score: np.ndarray, where: Callable[[int], dict[str, Any]]
) -> None:
    if not sparse and not (np.bincount(cell, minlength=n_cells) > 1).any():
        return
    _, first = np.unique(cell, return_index=True)
    if len(first) == len(cell):
        return
    again = np.ones(len(cell), dtype=bool)
    again[first] = False
    row = int(np.argmax(again))
    count = len(cell) - len(first)
    more = f" ({count:,} such rows in all)" if count > 1 else ""
    raise DataError(f"there is a second score, {score[row]:g}{more}", value=score[row], **where(row))


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
