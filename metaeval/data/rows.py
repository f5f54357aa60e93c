"""Scores in rows, whatever they were read from, become an array: labels are never merged, numbers never guessed.

Every format is read into `Rows`, and every policy is applied here, so that a format knows its layout and nothing else.
"""

from __future__ import annotations

import decimal
import math
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from metaeval.data.columns import CLUSTER, COLLECTION, COLUMNS, DIRECTION, REPEAT, format_columns
from metaeval.data.labels import Repeats, name_twins
from metaeval.data.policies import MissingPolicy, check_policy, find_complete, hint_missing, report_policy
from metaeval.errors import DataError, format_count, format_list, format_option, refusing
from metaeval.files import describe_files
from metaeval.measures.base import Measure
from metaeval.measures.directions import turn
from metaeval.measures.resolve import Choose, measure_of_label
from metaeval.stats.arrays import average
from metaeval.stats.oddities import ODDITIES, find_oddities, is_total, names_statistic, names_summary

DoubledPolicy = Literal["raise", "mean", "latest"]  # where a run has several scores for a topic and measure
LONGEST_LABEL = 100_000  # letters: a small file may hold one that fills the memory wherever it is shown
# So many cells without a score may be filled, or so many for every row there is; more is a mistake in the labels.
MOST_CELLS, MOST_CELLS_A_ROW = 100_000, 50
ONCE = "once"  # the label of the only repeat, in a collection beside others that have several
_LABEL_KINDS = ("string", "integer", "floating", "boolean", "empty")
_RELATIVE, _ABSOLUTE = 1e-3, 1e-4  # how far a total may be from the mean: it is printed with three or four digits
# A day, a month and a year without marks, of which no number is made; a year and a month with a point; no year.
_AMBIGUOUS_DATE = re.compile(
    r"(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])((19|20)\d\d|\d\d)|(19|20)\d\d\.(\d|1[0-2])|\d{1,2}[./-]\d{1,2}\.?"
)


class DoubledError(DataError):
    """A run has several scores for a topic and measure; `gaps` says whether other cells have none."""

    gaps = False


def is_missing(text: str) -> bool:
    """Say whether a cell states that there is no number: it is empty, NA, NaN, None or null, in any case."""
    return text.strip().lower().lstrip("+-") in ("", "na", "nan", "none", "null")


def number(text: str) -> float:
    """Convert a text to a number; NaN if it is not a number. ``1_000``, which Python accepts, is not a number here."""
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def read_cell(cell: Any) -> float:
    """Return a cell as a number: NaN where it says that there is none, ∞ where it is no finite one."""
    if isinstance(cell, str):
        read = number(cell)
        return math.inf if math.isnan(read) and not is_missing(cell) else read
    if cell is None or cell is pd.NA:
        return math.nan
    is_number = isinstance(cell, numbers.Real | decimal.Decimal | np.bool_) and not isinstance(cell, np.timedelta64)
    try:
        return float(cell) if is_number else math.inf
    except (OverflowError, ValueError):
        return math.inf


@dataclass(frozen=True, eq=False)
class Rows:
    """Scores of one or several sources, one in a row.

    `frame` has the columns run, topic, measure and score, perhaps others; scores may be texts. Its index numbers the rows of
    all sources and stays when some are left out. `sources` holds of each source how many rows it has, its name, and on which
    line each of them begins, if known.
    """

    frame: pd.DataFrame
    sources: tuple[tuple[int, Any, Sequence[int] | None], ...]
    name: str = ""  # of the collection where no row says it
    measures: Sequence[Measure] = ()  # of known directions
    explain: Callable[[DoubledError, str], str] | None = None  # returns what to do about several scores in a cell
    called: Mapping[str, str] = field(default_factory=dict)  # what the source calls the columns
    sums: bool = False  # whether totals need not be means

    @classmethod
    def of(cls, columns: Any, file: object = None, lines: Sequence[int] | None = None) -> Rows:
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
        """Return some of the rows, by a mask or by their positions."""
        return replace(self, frame=self.frame.iloc[chosen])

    def _find_sources(self, rows: Any) -> Any:
        ends = np.cumsum([length for length, _, _ in self.sources])
        return np.searchsorted(ends, self.frame.index[rows], side="right")

    @property
    def file(self) -> Any:
        """The name of the source of these rows, or of all of their sources; None for a frame."""
        parts = np.unique(self._find_sources(slice(None))) if len(self.sources) > 1 else range(len(self.sources))
        named = [*dict.fromkeys(self.sources[part][1] for part in parts)]
        return named[0] if len(named) == 1 else describe_files([file for file in named if file is not None]) or None

    def locate(self, row: int, labels: Sequence[str] = COLUMNS[:3]) -> dict[str, Any]:
        """Return where a row stands and what it is about, for a message."""
        part = int(self._find_sources(row))
        _, file, lines = self.sources[part]
        before = sum(length for length, _, _ in self.sources[:part])
        line = None if lines is None else lines[int(self.frame.index[row]) - before]
        return {"file": file, "line": line, **{name: str(self.frame[name].iloc[row]) for name in labels}}

    def encode(self, name: str) -> tuple[np.ndarray, list[str]]:
        """Return for every row the position of its label, and the labels as text in the order in which they appear."""
        column, where = cast(Any, self.frame[name]), {"file": self.file, "hint": "make them text"}
        coded = isinstance(column.dtype, pd.CategoricalDtype)
        codes, labels = (column.array.codes, column.array.categories) if coded else (np.zeros(0), pd.Index([]))
        # To number labels again that are numbered as they appear would take most of the memory of reading.
        if not coded or not np.array_equal(np.unique(np.maximum.accumulate(codes)), range(len(labels))):
            with refusing(f"column {name} holds lists or records, not one {name} a row", self.file, TypeError):
                codes, labels = pd.factorize(column)
            labels = labels.astype(column.array.categories.dtype) if coded else labels
            codes = codes.astype(np.int32)
        if labels.dtype == object:
            held = labels if coded else column.array[codes >= 0]
            kind = infer_dtype(np.array(held, dtype=object))  # 1, 1.0 and True are equal, and would become one label
            if kind not in _LABEL_KINDS and not all(isinstance(label, Measure) for label in held):
                raise DataError(f"the {name}s are of several types, or of one that no label has: {kind}", **where)
        texts = [str(label) for label in (labels.astype(str) if column.dtype.kind in "fcmMb" else labels)]
        if (longest := max(map(len, texts), default=0)) > LONGEST_LABEL:
            raise DataError(f"a {name} has {longest:,} letters; up to {LONGEST_LABEL:,} are read", file=self.file)
        blank = [-1, *(code for code, text in enumerate(texts) if not text.strip())]
        for row in np.flatnonzero(np.isin(codes, blank))[:1].tolist():
            hint = f"write the {name} into every row"  # a merged cell holds it once
            where = self.locate(row, () if name in COLUMNS else COLUMNS[:3])
            raise DataError(f"the {name} is missing", hint=hint, **where)
        return codes, texts

    def read_scores(self) -> np.ndarray:
        """Return the scores as numbers, NaN where a row says that there is none; a word, a date or ∞ is refused."""
        column = self.frame["score"]
        if column.dtype.kind in "fiub":
            is_plain = column.dtype == np.float64  # which would be copied for the sake of gaps that it marks already
            scores = np.asarray(column) if is_plain else column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            coded = isinstance(column.dtype, pd.CategoricalDtype)
            cells = column.array.categories if coded else column
            read = np.array([*map(read_cell, cells), np.nan])  # the last one is that of no cell at all
            scores = read[column.array.codes] if coded else read[:-1]
        wrong = np.flatnonzero(np.isinf(scores))
        for row in wrong[:1].tolist():
            shown = column.iloc[row]
            shown = shown.item() if isinstance(shown, np.generic) else shown
            more = f" ({len(wrong):,} such rows in all)" if len(wrong) > 1 else ""
            hint = "leave the cell empty" if re.fullmatch(r"(?i)\W*(n\W?a)?\W*", str(shown)) else None
            if isinstance(shown, str) and re.match(r"\W*(\w+\{\W*)?\d", shown):
                hint = "write decimals with a point, and leave out percent signs, what separates thousands, and other marks"
            problem = f"the score {shown!r} is not a finite number{more}"
            raise DataError(problem, value=shown, hint=hint, **self.locate(row))
        return scores


def categorical(codes: np.ndarray, labels: Iterable[object]) -> Any:
    """Return a column of labels at these positions, of which each is held once."""
    return pd.Categorical.from_codes(codes, pd.Index([*labels], dtype=object))


def split_collections(rows: Rows, collection: str | None) -> Iterator[tuple[str, Rows]]:
    """Yield every collection, or the one that is asked for, with its rows."""
    stated = rows.frame.get(COLLECTION, pd.Series(dtype=object)).astype(object).fillna("").map(str)
    names = list(stated.unique())
    if len(names) < 2 or (collection is not None and collection not in names):
        yield next(filter(None, names), rows.name) if collection is None else collection, rows
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
    """Return what `Scores` are made of. Measures are chosen first: no other one decides which runs and topics are left."""
    check_policy(missing, MissingPolicy)
    check_policy(doubled, DoubledPolicy)
    rows = rows if choose is None else _choose_rows(rows, choose)
    cells = Cells(rows, [*COLUMNS[:3], *([REPEAT] if REPEAT in rows.frame else [])])
    known, home = _find_measures(cells), dict[str, str]()
    if CLUSTER in rows.frame:
        both = "+".join(rows.called.get(role, role) for role in (CLUSTER, "topic"))
        hint = f"if these are two topics, join both columns: {format_columns({'topic': both})}"
        home = place_topics(cells, CLUSTER, hint)
    cells.settle_doubled(doubled)
    cells.drop_totals()
    values = cells.fill(missing)
    for twins in filter(None, (name_twins(cells.labels[what], what) for what in COLUMNS[:3])):
        report_policy(twins, rows.file)
    for m, measure in enumerate(known):
        _remark_oddities(str(measure), values[:, :, m].reshape(len(values), -1), cells.labels, rows.file)
    noise = {}
    if len(repeats := cells.labels.get(REPEAT, [ONCE])) > 1:
        within = average(values.var(axis=3, ddof=1).reshape(-1, len(known)).T)
        noise = {str(one): Repeats(len(repeats), float(each)) for one, each in zip(known, within, strict=True)}
    elif repeats != [ONCE]:
        raise DataError(f"the only repeat is {repeats[0]!r}; at least two tell how much repeats differ", file=rows.file)
    values = values.mean(axis=3) if values.ndim > 3 else values
    return {
        "values": values,
        "runs": cells.labels["run"],
        "topics": cells.labels["topic"],
        "measures": known,
        "collection": collection,
        "provenance": provenance,
        "clusters": [home[topic] for topic in cells.labels["topic"] if home],
        "repeats": noise,
    }


def place_topics(cells: Cells, what: str, hint: str) -> dict[str, str]:
    """Return in which cluster, or task, each topic is by that column of all rows; refuse a topic in two."""
    codes, names = cells.rows.encode(what)
    _, first = np.unique(cells.codes["topic"], return_index=True)  # topics are numbered as they appear
    for row in np.flatnonzero(codes != codes[first][cells.codes["topic"]])[:1].tolist():
        other = names[codes[first[cells.codes["topic"][row]]]]
        problem = f"it lies in two {what}s, {other!r} and {names[codes[row]]!r}"
        raise DataError(problem, **cells.rows.locate(row, COLUMNS[:2]), hint=hint)
    return {topic: names[code] for topic, code in zip(cells.labels["topic"], codes[first], strict=True)}


def _remark_oddities(measure: str, scores: np.ndarray, labels: Mapping[str, Sequence[str]], file: Any) -> None:
    """Warn of what looks like no score, as a total of others, or as what describes runs or topics."""
    for odd in find_oddities(scores):
        what, n = COLUMNS[odd.axis], scores.shape[odd.axis]  # topics, perhaps with their repeats
        named = [labels[what][place * len(labels[what]) // n] for place in odd.places]
        report_policy(ODDITIES[odd.kind].format(*named, measure=measure, what=what, told=odd.told), file)


def _choose_rows(rows: Rows, choose: Choose) -> Rows:
    codes, labels = rows.encode("measure")
    names = [str(measure_of_label(label)) for label in labels]
    wanted = choose(names)
    kept = rows.keep(np.isin(codes, [m for m, name in enumerate(names) if name in wanted]))
    for what in COLUMNS[:2]:
        if lost := sorted({*map(str, rows.frame[what].unique())} - {*map(str, kept.frame[what].unique())}):
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
        if len(spelled) > 1 or spelled[0] not in ("true", "false", ""):
            problem = f"{DIRECTION} is {format_list(sorted(spelled))}; it is true or false, the same in all rows"
            raise DataError(problem, file=cells.rows.file, measure=known[m])
        if spelled[0]:
            known[m] = turn(known[m], spelled[0] == "true")
    return known


class Cells:
    """Rows on their way into an array: labels and positions by axis, scores, NaN for none, and `at`, which row each is."""

    def __init__(self, rows: Rows, axes: Sequence[str]) -> None:
        self.rows, encoded = rows, {axis: rows.encode(axis) for axis in axes}
        self.codes = {axis: codes for axis, (codes, _) in encoded.items()}
        self.labels = {axis: labels for axis, (_, labels) in encoded.items()}
        self.shape = tuple(map(len, self.labels.values()))
        self.score, self.at = rows.read_scores(), cast(Any, pd.RangeIndex(len(rows.frame)))

    def number(self, most: int = 1 << 62) -> np.ndarray:
        """Return for each row the number of its cell in the array, which has no more than `most`."""
        if (size := math.prod(self.shape)) > most:
            problem = f"of {size:,} cells of runs, topics and measures only {len(self.at):,} have a score"
            raise DataError(problem, file=self.rows.file, hint="are the columns those that were meant?")
        return np.ravel_multi_index(tuple(self.codes.values()), self.shape)

    def select(self, kept: np.ndarray) -> None:
        """Leave out the other rows."""
        self.codes = {axis: codes[kept] for axis, codes in self.codes.items()}
        self.score, self.at = self.score[kept], self.at[kept]

    def settle_doubled(self, policy: DoubledPolicy) -> None:
        """Keep one row of each cell, whose score is the mean, or the latest; refuse several where no policy is stated."""
        ordered = self.number()
        ordered.sort()  # takes less memory than a table of numbers
        if not (ordered[1:] == ordered[:-1]).any():
            return
        number = self.number()
        again = pd.Series(number).duplicated().to_numpy()
        row = np.flatnonzero(pd.Series(number).duplicated(keep=False))
        several = pd.DataFrame({"row": row, "cell": number[row], "score": self.score[row]})
        if policy == "raise":
            first, count = int(np.argmax(again)), int(again.sum())
            differ = (several.groupby("cell")["score"].nunique(dropna=False) > 1).sum()
            more = f" ({count:,} such rows in all; the scores of {differ:,} cells differ)" if count > 1 else ""
            score, where = self.score[first], self.rows.locate(self.at[first])
            error = DoubledError(f"there is a second score, {score:g}{more}", value=score, **where)
            error.gaps = len(number) - count < math.prod(self.shape)
            raise error
        kept = ~again
        if policy == "mean":  # of those that are there
            self.score = self.score.copy()
            self.score[row] = several.groupby("cell")["score"].transform("mean")
        else:
            several["time"] = _read_times(self.rows)[self.at[row]]
            is_last = several["time"] == several.groupby("cell")["time"].transform("max")
            latest = several[is_last].drop_duplicates(["cell", "score"])
            for tie in latest["row"][latest["cell"].duplicated(keep=False)][:1]:
                raise DataError("two scores are the latest", value=self.score[tie], **self.rows.locate(self.at[tie]))
            kept[row] = np.isin(row, latest["row"])
        self.select(kept)
        taken = f"{format_count(several['cell'].nunique(), 'cell')} had several scores: the {policy} was taken"
        report_policy(taken, self.rows.file)

    def drop_totals(self) -> None:
        """Leave out topics, and a run, that are called as totals and are means of the others; refuse such topics that are not.

        Where a run lacks a topic, its total may be a mean of anything, and goes.
        """
        for axis in ("run", "topic"):
            totals = np.array([is_total(label) for label in self.labels[axis]], dtype=bool)
            named = [*compress(self.labels[axis], totals)]
            if not named or totals.all() or (axis == "run" and len(totals) < 3):
                if len(named) > 1 and axis == "topic":
                    report_policy(f"all {axis}s are called as totals are: {format_list(named)}", self.rows.file)
                continue
            cells = pd.DataFrame({**self.codes, "score": self.score, "at": self.at}).dropna(subset="score")
            is_sum = totals[cells[axis]]
            parts, by = cells[~is_sum], [other for other in self.codes if other not in (axis, "task")]
            means = cells[is_sum].join(parts.groupby(by)["score"].agg(["mean", "count"]), on=by)
            largest = parts["score"].abs().groupby(parts["measure"]).max()
            near = np.maximum(_RELATIVE * means["measure"].map(largest), _ABSOLUTE)
            unlike = means[(means["score"] - means["mean"]).abs() > near]
            if axis == "run" and (len(named) > 1 or len(unlike) or means.empty):
                problem = f"called as what sums up runs: {format_list(named)}; leave out what does"
                report_policy(problem, self.rows.file)
                continue
            for _, first in unlike[unlike["count"] == (~totals).sum()][:1].iterrows():
                problem = f"its score {first['score']:g} is not the mean of the topics, {first['mean']:g}"
                where = self.rows.locate(int(first["at"])) | {"line": None}
                if not self.rows.sums:
                    hint = "remove such rows, or rename the topic if it is one"
                    raise DataError(f"it has the name of a total, but {problem}", **where, hint=hint)
                report_policy(str(DataError(f"{problem}; the means over topics are used", **where)))
            self.labels[axis] = [*compress(self.labels[axis], ~totals)]
            self.select(~totals[self.codes[axis]])
            self.codes[axis] = (np.cumsum(~totals) - 1)[self.codes[axis]]
            self.shape = tuple(map(len, self.labels.values()))
            if not self.rows.sums:
                report_policy(f"left out the means over {axis}s, which are called {format_list(named)}", self.rows.file)
        self.remark_names()

    def remark_names(self) -> None:
        """Say which topics and measures are called as what they hardly are; refuse the only topic that is no number."""
        topics = self.labels["topic"]
        words = [topic for topic in topics if not re.search(r"\d", topic) and len(re.findall(r"[^\W_]", topic)) > 1]
        shapes = {re.sub(r"\d+", "", topic) for topic in topics}  # of q301, q302, …, Gesamt
        if len(words) == 1 and len(shapes) == 2 and len(topics) > 3:
            problem = "it is the only topic without a number, as a row that sums up the others is"  # std, median, …
            odd = DataError(problem, file=self.rows.file, topic=words[0], hint="remove it, or give the topic a number")
            if "" in shapes:
                raise odd
            report_policy(str(odd))
        short = [topic for topic in dict.fromkeys((*topics[:99], *topics[-99:])) if 1 < len(topic) < 24]
        short = [topic for topic in short if not is_total(topic) and not re.fullmatch(r"\w_?\d+", topic)]
        known = [topic for topic in short if measure_of_label(topic).higher_is_better is not None]
        averages = [run for run in self.labels["run"] if re.match(r"(?i)(ave|avg|average|mean of)\b", run)]
        odd_names = {
            "totals or measures are": [*averages, *(one for one in short if one in known or names_summary(one))]
        }
        if len(measures := self.labels["measure"]) > 1:
            first = {name: name.partition(",")[0] for name in measures}
            beside = [
                name for name in measures if names_statistic(first[name]) or first[name].startswith(("n_", "num_"))
            ]
            odd_names["what describes scores or runs is"] = beside
        for what, called in odd_names.items():
            if called:
                report_policy(f"called as {what}: {format_list(called)}; leave out what is none", self.rows.file)

    def fill(self, missing: MissingPolicy) -> np.ndarray:
        """Return the array, (run, topic, measure) or with a last axis of repeats, once a policy has left no gap in it."""
        number = self.number(max(MOST_CELLS, MOST_CELLS_A_ROW * len(self.at)))
        values = np.full(self.shape, np.nan)
        values.ravel()[number] = self.score
        gaps = np.isnan(values)
        if gaps.any() and missing in ("raise", "worst"):  # an answer may count as the worst one, but no score
            self._refuse_gap(gaps, number)
        if gaps.any() and missing in ("drop-topic", "drop-run"):
            gaps = gaps.reshape(*self.shape[:2], -1).any(axis=2)
            keep = find_complete(gaps, self.labels["run"], self.labels["topic"], missing)
            for axis, kept in zip(("run", "topic"), keep, strict=True):
                self.labels[axis] = [*compress(self.labels[axis], kept)]
            values = values[np.ix_(*keep)]
        return values

    def _refuse_gap(self, gaps: np.ndarray, number: np.ndarray) -> None:
        """Refuse the first row without a score, else the first cell without a row."""
        stated = np.flatnonzero(np.isnan(self.score))[:1]
        at = np.unravel_index(number[stated[0]] if len(stated) else int(np.argmax(gaps)), self.shape)
        where: dict[str, Any] = {axis: labels[i] for (axis, labels), i in zip(self.labels.items(), at, strict=True)}
        of_run = self.at[(self.codes["run"] == at[0]) & (self.codes["measure"] == at[2])]
        where["file"] = (self.rows.keep(of_run) if len(of_run) else self.rows).file
        for row in stated:
            where |= self.rows.locate(self.at[row])
        twins = (name_twins(self.labels[what], what) for what in COLUMNS[:3])
        bare: Any = gaps.reshape(*self.shape[:2], -1).any(axis=2)
        left = [policy for policy, axis in (("drop-topic", 0), ("drop-run", 1)) if not bare.any(axis=axis).all()]
        parts = zip(self.labels["measure"], np.moveaxis(gaps, 2, 0), strict=True)
        whole = [name for name, part in parts if (part.all(axis=0) == part.any(axis=0)).all() and not part.all()]
        hint = "; otherwise ".join([*filter(None, twins), hint_missing(left)])
        if whole and not left:  # each topic has a measure of its own
            hint = f"no topic has all measures; one alone has its topics: {format_option('measure', whole[0])}"
        if (repeat := where.pop(REPEAT, None)) is not None:
            where["topic"] = f"{where['topic']}, {REPEAT} {repeat}"
            hint = f"repeats are unequal: {format_option('missing', 'drop-topic')} or drop-run keeps what has them all"
        more = f"; {gaps.sum():,} are missing in all" if gaps.sum() > 1 else ""
        raise DataError(f"there is no score{more}", **where, hint=hint)


def _read_times(rows: Rows) -> np.ndarray:
    """Return times as numbers: seconds, or dates that begin with the year; the order of others would be a guess."""
    if "time" not in rows.frame:
        problem = "no column says when scores were computed, so that none is the latest"
        raise DataError(problem, file=rows.file, hint="name the column: columns time=NAME")
    texts = rows.frame["time"].astype(object).map(str)
    times: Any = pd.to_numeric(texts, errors="coerce")
    what = "is no time, or not written as ISO 8601 has it"
    if texts.map(_AMBIGUOUS_DATE.fullmatch).notna().all():
        times, what = times * np.nan, "can be read in several ways"
    elif times.isna().any():
        times = pd.to_datetime(texts, errors="coerce", utc=True, format="ISO8601")
    for first in texts[times.isna()][:1]:
        raise DataError(f"{first!r} {what}", file=rows.file, hint="write dates as 2024-12-31")
    return times.astype("int64" if times.dtype.kind == "M" else "float64").to_numpy(dtype=np.float64)
