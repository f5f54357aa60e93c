"""Scores in rows, whatever they were read from, become an array: labels are never merged, numbers never guessed.

Every format of scores is read into `Rows`, and every policy is applied here: of several scores in a cell, of repeats, of
totals, of what is missing. A format therefore knows its layout and nothing else.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from metaeval.data.clusters import Repeats, find_clusters
from metaeval.data.columns import CLUSTER, COLLECTION, COLUMNS, DIRECTION, REPEAT
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy, check_policy, hint_missing, report_policy
from metaeval.errors import DataError, format_count, format_list, format_option
from metaeval.files import PathLike, describe_files
from metaeval.measures.base import Measure
from metaeval.measures.directions import turn
from metaeval.measures.resolve import measure_of_label
from metaeval.stats.arrays import average

DoubledPolicy = Literal["raise", "mean", "latest"]
"""What to do where a run has several scores for a topic and measure."""

TOTALS = ("all", "mean", "amean", "average", "avg", "overall", "total", "macro")
"""What a row that sums up a run has instead of a topic, and a column that sums up a topic instead of a run, in lower case."""

LONGEST_LABEL = 100_000
"""Letters of a label: a small file may hold one that fills the memory wherever it is shown."""

MOST_CELLS, MOST_CELLS_A_ROW = 100_000, 50
"""Cells without a score that may be filled: so many, or so many for every row there is; more is a mistake in the labels."""

SENTINELS, FEWEST_OTHERS = (-1, -9, -99, -999, -9999), 5
"""Numbers that stand for no score in many files, and how many different other scores must be there to say so."""

ONCE = "once"
"""The label of the only repeat, in a collection beside others that have several."""

_NO_GUESS = "what number is meant would be a guess"


class DoubledError(DataError):
    """A run has several scores for a topic and measure; `gaps` says whether other cells have none."""

    gaps = False


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


def is_total(label: str) -> bool:
    """Say whether this is the name of a total, in upper or lower case."""
    return label.strip().lower() in TOTALS


@dataclass(frozen=True, eq=False)
class Rows:
    """Scores of one or several sources, one in a row.

    `frame` has the columns run, topic, measure and score, perhaps others; scores may be texts. Its index numbers the rows
    of all sources and stays when some are left out. `sources` holds of each source how many rows it has, its name, and on
    which line each of them begins, if that is known. `name` is that of the collection where no row says it, and `measures` are
    those of known directions. `explain` returns what can be done about several scores in a cell. Where rows of totals are
    `sums`, they need not be means.
    """

    frame: pd.DataFrame
    sources: tuple[tuple[int, Any, Sequence[int] | None], ...]
    name: str = ""
    measures: Sequence[Measure] = ()
    explain: Callable[[DoubledError, str], str] | None = None
    sums: bool = False

    @classmethod
    def of(
        cls, columns: Mapping[str, Any] | pd.DataFrame, file: object = None, lines: Sequence[int] | None = None
    ) -> Rows:
        """Return the rows of one source, of columns of the same length."""
        frame = pd.DataFrame(columns)
        return cls(frame, ((len(frame), file, lines or None),))

    @classmethod
    def join(cls, parts: Sequence[Rows], **said: Any) -> Rows:
        """Return the rows of several sources, with what is `said` of them all."""
        if len(parts) == 1:
            return replace(parts[0], **said)
        frame = pd.concat([part.frame.astype(object) for part in parts], ignore_index=True)
        return cls(frame, tuple(source for part in parts for source in part.sources), **said)

    def keep(self, chosen: Any) -> Rows:
        """Return some of the rows."""
        return replace(self, frame=self.frame[chosen])

    def find_file(self, rows: Any) -> Any:
        """Return the name of the source of some rows, or of all of their sources; None for a frame."""
        ends = np.cumsum([length for length, _, _ in self.sources])
        parts = np.unique(np.searchsorted(ends, self.frame.index[rows], side="right"))
        files = list(dict.fromkeys(self.sources[part][1] for part in parts))
        return files[0] if len(files) == 1 else describe_files([file for file in files if file is not None]) or None

    @property
    def file(self) -> Any:
        """The name of all sources, for a message about no row in particular."""
        return self.find_file(slice(None))

    def locate(self, row: int, labels: Sequence[str] = COLUMNS[:3]) -> dict[str, Any]:
        """Return where a row stands and what it is about, for a message."""
        start, place = 0, int(self.frame.index[row])
        for length, file, lines in self.sources:
            if place < start + length:
                named = {name: str(self.frame[name].iloc[row]) for name in labels}
                return {"file": file, "line": None if lines is None else lines[place - start], **named}
            start += length
        raise IndexError(row)

    def encode(self, name: str) -> tuple[np.ndarray, list[str]]:
        """Return for every row the position of its label, and the labels as text in the order in which they appear."""
        column = self.frame[name]
        codes, labels = pd.factorize(column)
        if getattr(labels, "categories", labels).dtype == object:
            held = labels if isinstance(column.dtype, pd.CategoricalDtype) else column.array[codes >= 0]
            kinds = {_name_kind(kind) for kind in {*map(type, held)}}
            if len(kinds) > 1 or not kinds <= {*_KINDS}:  # 1, 1.0 and True are equal, and would become one label
                problem = f"the {name}s are of several types, or of one that no label has: {format_list(sorted(kinds))}"
                raise DataError(problem, file=self.file, hint="make them text")
        if column.dtype.kind in "fcmMb":
            labels = labels.astype(str)
        texts = [str(label) for label in labels]
        if (longest := max(map(len, texts), default=0)) > LONGEST_LABEL:
            problem = f"there is a {name} of {longest:,} letters; up to {LONGEST_LABEL:,} can be read"
            raise DataError(problem, file=self.file)
        blank = [code for code, text in enumerate(texts) if not text.strip()]
        for row in np.flatnonzero((codes < 0) | np.isin(codes, blank))[:1].tolist():
            raise DataError(f"the {name} is missing", **self.locate(row, () if name in COLUMNS else COLUMNS[:3]))
        return codes.astype(np.int32), texts

    def read_scores(self) -> np.ndarray:
        """Return the scores as numbers, NaN where a row says that there is none; a word, a date or ∞ is refused."""
        column = self.frame["score"]
        if column.dtype.kind in "mMcSV":
            raise DataError(f"scores are numbers, not {column.dtype}", hint=_NO_GUESS, **self.locate(0))
        if column.dtype.kind in "fiub":
            scores = column.to_numpy(dtype=np.float64, na_value=np.nan)
            wrong = np.isinf(scores)
        else:
            codes, cells = np.arange(len(column)), column.array
            if isinstance(column.dtype, pd.CategoricalDtype):
                codes, cells = column.array.codes, column.array.categories
            read, bad = _read_cells(list(cells), lambda cell: self.locate(int(np.argmax(codes == cell))))
            scores, wrong = np.append(read, np.nan)[codes], np.append(bad, False)[codes]
        for row in np.flatnonzero(wrong)[:1].tolist():
            shown = column.iloc[row]
            shown = shown.item() if isinstance(shown, np.generic) else shown
            comma = isinstance(shown, str) and not math.isnan(number(shown.replace(",", ".")))
            raise DataError(
                f"the score {shown!r} is not a finite number{_count_more(int(wrong.sum()), 'such rows')}",
                value=shown, hint="write decimals with a point" if comma else None, **self.locate(row),
            )  # fmt: skip
        return scores


def _read_cells(cells: list[Any], locate: Callable[[int], dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return cells as numbers, NaN where one says that there is none, and which are no finite numbers."""
    if all(type(cell) is str and "_" not in cell for cell in cells):
        try:
            scores = np.array([float(cell) for cell in cells])
            if np.isfinite(scores).all():
                return scores, np.zeros(len(cells), dtype=bool)
        except ValueError:
            pass
    scores, wrong = np.full(len(cells), np.nan), np.zeros(len(cells), dtype=bool)
    for at, cell in enumerate(cells):
        if isinstance(cell, str):
            scores[at] = number(cell)
            wrong[at] = not (math.isfinite(scores[at]) or is_missing(cell))
        elif cell is not None and cell is not pd.NA:
            real = isinstance(cell, numbers.Real | decimal.Decimal | np.bool_)
            if not real or isinstance(cell, datetime.timedelta | np.timedelta64):
                problem = f"scores are numbers, not {type(cell).__name__}"
                raise DataError(problem, value=cell, hint=_NO_GUESS, **locate(at))
            try:
                scores[at] = float(cell)
            except (OverflowError, ValueError):
                scores[at] = math.inf
            wrong[at] = not math.isfinite(scores[at]) and cell == cell
    return scores, wrong


_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,), "bool": (bool, np.bool_), "whole number": (int, np.integer), "float": (float, np.floating),
    "Measure": (Measure,),
}  # fmt: skip


def _name_kind(kind: type) -> str:
    return next((name for name, kinds in _KINDS.items() if issubclass(kind, kinds)), kind.__name__)


def _count_more(count: int, what: str) -> str:
    return f" ({count:,} {what} in all)" if count > 1 else ""


def categorical(codes: np.ndarray, labels: Iterable[object]) -> Any:
    """Return a column of labels at these positions, of which each is held once."""
    return pd.Categorical.from_codes(codes, pd.Index([*labels], dtype=object))


def split_collections(rows: Rows, collection: str | None) -> Iterator[tuple[str, Rows]]:
    """Yield every collection, or the one that is asked for, with its rows."""
    stated = (
        rows.frame[COLLECTION].astype(object).fillna("").map(str)
        if COLLECTION in rows.frame
        else pd.Series(dtype=object)
    )
    names = list(stated.unique())
    if len(names) < 2 or (collection is not None and collection not in names):
        yield ([*names, rows.name][0] or rows.name) if collection is None else collection, rows
        return
    for label in names if collection is None else [collection]:
        yield label, rows.keep((stated == label).to_numpy())


def arrange(
    rows: Rows,
    *,
    missing: MissingPolicy = "raise",
    doubled: DoubledPolicy = "raise",
    collection: str = "",
    provenance: str = "",
    choose: Choose | None = None,
) -> dict[str, Any]:
    """Return what `Scores` are made of: labels are in the order in which they appear.

    Measures are chosen before anything else, so that no other one decides which runs and topics are left.
    """
    check_policy(missing, MissingPolicy)
    check_policy(doubled, DoubledPolicy)
    rows = rows if choose is None else _choose_rows(rows, choose)
    cells = Cells(rows, [*COLUMNS[:3], *([REPEAT] if REPEAT in rows.frame else [])])
    known = _find_measures(cells)
    cells.settle_doubled(doubled)
    cells.drop_totals()
    values = cells.fill(missing, known)
    for measure, scores in zip(known, np.moveaxis(values, 2, 0), strict=True):
        _remark_sentinel(str(measure), scores, rows.file)
    topics, noise = cells.labels["topic"], {}
    if REPEAT in cells.labels:
        repeats = cells.labels[REPEAT]
        if len(repeats) < 2 and repeats != [ONCE]:
            problem = f"the only repeat is {repeats[0]!r}; at least two tell how much repeats differ"
            raise DataError(problem, file=rows.file)
        if len(repeats) > 1:
            within = average(values.var(axis=3, ddof=1).reshape(-1, len(known)).T)
            noise = {str(one): Repeats(len(repeats), float(each)) for one, each in zip(known, within, strict=True)}
        values = values.mean(axis=3)
    clusters = []
    if CLUSTER in rows.frame:
        by_topic = find_clusters(list(rows.frame["topic"]), list(rows.frame[CLUSTER]), rows.file)
        clusters = [by_topic[topic] for topic in topics]
    return {
        "values": values, "runs": cells.labels["run"], "topics": topics, "measures": known, "collection": collection,
        "provenance": provenance, "clusters": clusters, "repeats": noise,
    }  # fmt: skip


def _remark_sentinel(measure: str, scores: np.ndarray, file: PathLike | None) -> None:
    """Warn of a number that may stand for no score: −1, −9, −99, … in some cells, where no other score is below 0."""
    finite = scores[np.isfinite(scores)]
    lowest = finite.min(initial=np.inf)
    if lowest not in SENTINELS:
        return
    others = finite[finite != lowest]
    n = finite.size - others.size
    if others.size and others.min() >= 0 and len(np.unique(others)) >= FEWEST_OTHERS and n <= others.size / 4:
        report_policy(
            f"{measure} is {lowest:g} in {n:,} of {scores.size:,} cells, and nowhere else below 0; "
            "if it stands for no score, leave these cells empty",
            None if file is None else describe_files([file]),
        )


def _choose_rows(rows: Rows, choose: Choose) -> Rows:
    """Return the rows of the wanted measures, and say which runs and topics have none."""
    codes, labels = rows.encode("measure")
    names = [str(measure_of_label(label)) for label in labels]
    wanted = choose(names)
    kept = rows.keep(np.isin(codes, [m for m, name in enumerate(names) if name in wanted]))
    for what in COLUMNS[:2]:
        lost = sorted({*map(str, rows.frame[what].unique())} - {*map(str, kept.frame[what].unique())})
        if lost:
            without = f"without any score of {format_list(wanted)}: {format_list(lost)}"
            report_policy(f"left out {format_count(len(lost), what)} {without}", rows.file)
    return kept


def _find_measures(cells: Cells) -> list[Measure]:
    """Return the measures, with the directions that are stated beside their names or in a column."""
    given = {str(measure): measure for measure in cells.rows.measures}
    known = [given.get(name) or measure_of_label(name) for name in cells.labels["measure"]]
    if DIRECTION not in cells.rows.frame:
        return known
    words = cells.rows.frame[DIRECTION].astype(object).fillna("").map(lambda word: str(word).strip().lower())
    by_measure: Any = words.groupby(cells.codes["measure"]).unique()
    for m, spelled in by_measure.items():
        if len(spelled) > 1 or not {*spelled} <= {"true", "false", ""}:
            problem = (
                f"{DIRECTION} is {format_list(sorted(spelled))}; it is true or false, the same in all rows of a measure"
            )
            raise DataError(problem, file=cells.rows.file, measure=cells.labels["measure"][m])
        if spelled[0]:
            known[m] = turn(known[m], spelled[0] == "true")
    return known


class Cells:
    """Rows on their way into an array: by axis labels and their positions, and scores, NaN where a row states that it has none.

    `at` says which of the rows each one is.
    """

    def __init__(self, rows: Rows, axes: Sequence[str]) -> None:
        self.rows, encoded = rows, {axis: rows.encode(axis) for axis in axes}
        self.codes = {axis: codes for axis, (codes, _) in encoded.items()}
        self.labels = {axis: labels for axis, (_, labels) in encoded.items()}
        self.score, self.at = rows.read_scores(), np.arange(len(rows.frame))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many labels each axis has."""
        return tuple(map(len, self.labels.values()))

    def number(self) -> np.ndarray:
        """Return for each row the number of its cell in the array."""
        if math.prod(self.shape) >= 1 << 62:
            problem = (
                f"{len(self.at):,} scores cannot fill {math.prod(self.shape):,} cells of runs, topics and measures"
            )
            raise DataError(problem, file=self.rows.file)
        return np.ravel_multi_index(tuple(self.codes.values()), self.shape)

    def select(self, kept: np.ndarray) -> None:
        """Leave out the other rows."""
        self.codes = {axis: codes[kept] for axis, codes in self.codes.items()}
        self.score, self.at = self.score[kept], self.at[kept]

    def drop(self, axis: str, keep: np.ndarray) -> list[str]:
        """Leave out some labels of an axis with their rows, and return them."""
        labels, self.labels[axis] = self.labels[axis], [*np.array(self.labels[axis], dtype=object)[keep]]
        self.select(keep[self.codes[axis]])
        self.codes[axis] = (np.cumsum(keep) - 1)[self.codes[axis]]
        return [label for label, stays in zip(labels, keep, strict=True) if not stays]

    def settle_doubled(self, policy: DoubledPolicy) -> None:
        """Keep one row of each cell, whose score is the mean, or the latest; refuse several where no policy is stated."""
        cell = pd.Series(self.number())
        again = cell.duplicated().to_numpy()
        if not again.any():
            return
        several = np.flatnonzero(cell.duplicated(keep=False))
        groups = pd.Series(self.score[several]).groupby(cell.to_numpy()[several], sort=False)
        if policy == "raise":
            first, count = int(np.argmax(again)), int(again.sum())
            unlike = int((groups.nunique(dropna=False) > 1).sum())
            more = f" ({count:,} such rows in all; the scores of {unlike:,} cells differ)" if count > 1 else ""
            score, where = self.score[first], self.rows.locate(self.at[first])
            error = DoubledError(f"there is a second score, {score:g}{more}", value=score, **where)
            error.gaps = len(cell) - count < math.prod(self.shape)
            raise error
        kept = ~again
        if policy == "mean":  # of those that are there
            self.score = self.score.copy()
            self.score[several] = groups.transform("mean")
        else:
            times = pd.Series(_read_times(self.rows)[self.at[several]])
            late = several[times == times.groupby(cell.to_numpy()[several]).transform("max")]
            latest = pd.Series(self.score[late]).groupby(cell.to_numpy()[late])
            other = latest.transform(lambda scores: scores.nunique(dropna=False)) > 1
            for row in late[other][:1]:
                where = self.rows.locate(self.at[row])
                raise DataError("two scores are the latest", value=self.score[row], **where)
            kept[several] = False
            kept[late[~cell[late].duplicated()]] = True
        self.select(kept)
        report_policy(
            f"{format_count(groups.ngroups, 'cell')} had several scores: the {policy} was taken", self.rows.file
        )

    def drop_totals(self) -> None:
        """Leave out topics called as totals that are the means of the others, and a run that is the mean of the others.

        Another topic of such a name is refused, and another run is one. Without any other topic a total stays: scores of
        whole runs have the one topic "all". Where a run lacks a topic, its total may be a mean of anything, and goes.
        """
        for axis in ("run", "topic"):
            totals = np.array([is_total(label) for label in self.labels[axis]], dtype=bool)
            if not totals.any() or totals.all() or (axis == "run" and (totals.sum() > 1 or len(totals) < 3)):
                continue
            is_sum = totals[self.codes[axis]]
            cells = pd.DataFrame({**self.codes, "score": self.score, "at": self.at})
            parts, sums = (cells[side & ~np.isnan(self.score)] for side in (~is_sum, is_sum))
            by = [other for other in self.codes if other not in (axis, "task")]
            means = sums.join(parts.groupby(by)["score"].agg(["mean", "count"]), on=by)
            largest = parts["score"].abs().groupby(parts["measure"]).max()
            tolerance = np.maximum(_RELATIVE * means["measure"].map(largest), _ABSOLUTE)
            unlike = means[(means["score"] - means["mean"]).abs() > tolerance]
            if axis == "run" and (len(unlike) or sums.empty):
                continue  # a run of that name
            unlike = unlike[unlike["count"] == (~totals).sum()]
            if len(unlike) and not self.rows.sums:
                first = unlike.iloc[0]
                raise DataError(
                    f"it has the name of a total, but its score {first['score']:g} is not the mean of the topics, "
                    f"{first['mean']:g}", **self.rows.locate(int(first["at"])) | {"line": None},
                    hint="remove such rows, or rename the topic if it is one",
                )  # fmt: skip
            if len(unlike):
                off = (unlike["score"] - unlike["mean"]).abs()
                run, measure = (self.labels[name][unlike.loc[off.idxmax(), name]] for name in ("run", "measure"))
                what = f"{len(unlike)} of {len(sums)} rows of the topic {self.labels['topic'][int(np.argmax(totals))]}"
                used = f"are not the means over topics, which are used ({run}, {measure}: {off.max():.3g} off)"
                report_policy(f"{what} {used}", self.rows.file)
            named = self.drop(axis, ~totals)
            if not self.rows.sums:
                what = f"the means over topics, which are called {format_list(named)}"
                what = what if axis == "topic" else f"{named[0]!r}, the means over runs"
                report_policy(f"left out {what}", self.rows.file)
        words = [topic for topic in self.labels["topic"] if not topic.isdecimal()]
        letters = sum(map(str.isalpha, words[0])) if len(words) == 1 and len(self.labels["topic"]) > 3 else 0
        if letters > 1 and not any(map(str.isdigit, words[0])):  # std, Sum, median, …
            problem = "it is the only topic that is no number, as a row that sums up the others is"
            hint = "remove it, or give the topic a number"
            raise DataError(problem, file=self.rows.file, topic=words[0], hint=hint)

    def fill(self, missing: MissingPolicy, measures: Sequence[Measure]) -> np.ndarray:
        """Return the array, (run, topic, measure) or with a last axis of repeats, once a policy has left no gap in it."""
        filled = ~np.isnan(self.score)
        lacking = math.prod(self.shape) - int(filled.sum())
        if lacking and missing == "raise":
            self._refuse_gap(lacking)
        if lacking and missing in ("drop-topic", "drop-run"):
            axis = missing.removeprefix("drop-")
            n = len(self.labels[axis])
            keep = np.bincount(self.codes[axis][filled], minlength=n) == math.prod(self.shape) // n
            if not keep.any():
                if axis == "topic":
                    self._refuse_lacking_run(filled)
                raise DataError(f"every {axis} has a missing score: {missing} would leave nothing", file=self.rows.file)
            if not keep.all():
                dropped = self.drop(axis, keep)
                what = f"left out {len(dropped)} of {n} {axis}s with missing scores: {format_list(dropped)}"
                report_policy(f"{format_option('missing', missing)}: {what}", self.rows.file)
        elif lacking and math.prod(self.shape) > max(MOST_CELLS, MOST_CELLS_A_ROW * len(self.at)):
            size = math.prod(self.shape)
            problem = f"of {size:,} cells of runs, topics and measures only {len(self.at):,} have a score"
            raise DataError(problem, file=self.rows.file, hint="are the columns those that were meant?")
        values = np.full(self.shape, np.nan)
        values.ravel()[self.number()] = self.score
        if lacking and missing == "worst":
            for m, measure in enumerate(measures):
                gaps = np.isnan(values[:, :, m])
                if gaps.any() and (measure.higher_is_better is None or not np.isfinite(measure.worst)):
                    problem = "its worst value is not known, so it cannot stand for a missing score"
                    raise DataError(problem, measure=measure)
                values[:, :, m][gaps] = measure.worst
            report_policy(f"{lacking:,} missing scores given the measure's worst value", self.rows.file)
        return values

    def _refuse_lacking_run(self, filled: np.ndarray) -> None:
        """Refuse a run without any score by a measure, because of which no topic is complete."""
        run, measure = self.labels["run"], self.labels["measure"]
        has = np.zeros((len(run), len(measure)), dtype=bool)
        has[self.codes["run"][filled], self.codes["measure"][filled]] = True
        if has.all() or not has.all(axis=1).any():
            return
        r, m = np.argwhere(~has)[0].tolist()
        hint = f"{format_option('missing', 'drop-run')} leaves out such runs; where runs have gaps on some topics too, "
        raise DataError(
            "there is no score of this run on any topic", file=self.rows.file, run=run[r], measure=measure[m],
            hint=f"{hint}take such a run out first",
        )  # fmt: skip

    def _refuse_gap(self, lacking: int) -> None:
        """Refuse the first row without a score, else the first cell without a row."""
        gaps = np.flatnonzero(np.isnan(self.score))
        if len(gaps):
            where, at = self.rows.locate(self.at[gaps[0]]), tuple(codes[gaps[0]] for codes in self.codes.values())
        else:
            there = np.sort(self.number())
            odd = np.flatnonzero(there != np.arange(len(there)))
            at = np.unravel_index(int(odd[0]) if len(odd) else len(there), self.shape)
            r, m = at[0], at[2]
            of_run = self.at[(self.codes["run"] == r) & (self.codes["measure"] == m)]
            where = {axis: self.labels[axis][i] for axis, i in zip(COLUMNS[:3], at, strict=False)}
            where["file"] = self.rows.find_file(of_run) if len(of_run) else self.rows.file
        hint = hint_missing()
        if REPEAT in self.labels:
            where["topic"] = f"{where['topic']}, {REPEAT} {self.labels[REPEAT][at[3]]}"
            hint = (
                f"repeats are unequal: {format_option('missing', 'drop-topic')} or drop-run keeps what has all of them"
            )
        raise DataError(f"there is no score{f'; {lacking:,} are missing in all' * (lacking > 1)}", **where, hint=hint)


def _read_times(rows: Rows) -> np.ndarray:
    """Return times as numbers: seconds, or dates that begin with the year; the order of others would be a guess."""
    if "time" not in rows.frame:
        problem = "no column says when scores were computed, so that none is the latest"
        raise DataError(problem, file=rows.file, hint="name the column: columns time=NAME")
    column = rows.frame["time"].astype(object) if rows.frame["time"].dtype == "category" else rows.frame["time"]
    texts, times = column.map(str), pd.to_numeric(column, errors="coerce") if column.dtype.kind != "M" else column
    if any(texts.map(form.fullmatch).notna().all() for form in (_DATE_AS_NUMBER, _NO_YEAR)):
        problem = f"dates such as {texts.iloc[0]!r} can be read in several ways"
        raise DataError(problem, file=rows.file, hint=_WRITE_DATES)
    if times.isna().any():
        times = pd.to_datetime(texts, errors="coerce", utc=True, format="ISO8601")
    for row in np.flatnonzero(times.isna())[:1]:
        problem = f"{texts.iloc[row]!r} is no time, or not written as ISO 8601 has it"
        raise DataError(problem, file=rows.file, hint=_WRITE_DATES)
    return times.astype("int64" if times.dtype.kind == "M" else "float64").to_numpy(dtype=np.float64)


_WRITE_DATES = "write dates as 2024-12-31"

_DATE_AS_NUMBER = re.compile(r"(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])((19|20)\d\d|\d\d)|(19|20)\d\d\.(\d|1[0-2])")
"""A day, a month and a year without marks, of which no number is made; or a year and a month with a point between them."""

_NO_YEAR = re.compile(r"\d{1,2}[./-]\d{1,2}\.?")

_RELATIVE, _ABSOLUTE = 1e-3, 1e-4
"""How far a total may be from the mean: it is printed with three or four digits."""


def refuse_totals(topics: Sequence[str], file: object) -> None:
    """Refuse to write a topic that would be read back as a total."""
    totals = [topic for topic in topics if is_total(topic)]
    if totals and len(totals) < len(topics):
        problem = "a topic cannot have this name in a file: its scores would be read as means over the other topics"
        raise DataError(problem, file=file, topic=totals[0], hint="rename it")
