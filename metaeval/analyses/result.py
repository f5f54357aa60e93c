"""What every result can do besides holding its numbers: answer, and show itself as tables, figures, files, or plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import Diagnostics
from metaeval.errors import one_line
from metaeval.files import write_atomically
from metaeval.measures.base import Measure
from metaeval.show.charts import HeatMap, IntervalChart, Row
from metaeval.show.frames import format_csv, to_plain, to_records
from metaeval.show.latex import Width
from metaeval.show.signature import Signature
from metaeval.show.table import MANY, Level, Table, arrange_pairs, join_latex, sum_up_matrix
from metaeval.stats.intervals import LIKE, NO_BETTER, NO_WORSE

if TYPE_CHECKING:
    from metaeval.show.canvas import Figure, Size
    from metaeval.show.charts import Chart

MOST_CONCLUSIONS = 45
"""Rows of a table of conclusions: all pairs of ten measures."""

COMMON = ("diagnostics", "remarks", "no_interval")
"""Fields of every result, which exports describe in their own way."""


@dataclass(frozen=True, eq=False)
class Result(ABC):
    """Base of the results of analyses: small, frozen, with a signature. A result overrides five methods at most.

    `answer` says in a sentence what came out, `tables` shows it, `charts` draws it, `frames` holds every number, and `beside`
    is what a report shows of one measure. Everything else is made of these. The `signature` says exactly what was computed;
    `diagnostics`, for each collection, what is irregular about its runs; `remarks` what else a reader has to know, a note each;
    and `no_interval` why there is no interval, if one was asked for.
    """

    _: KW_ONLY
    signature: Signature
    diagnostics: tuple[Diagnostics, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)
    no_interval: str = field(default="", repr=False)

    called: ClassVar[Mapping[str, str]] = {}
    """What frames are called, where it is not as the field is."""

    def __init_subclass__(cls) -> None:
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # a dataclass would write out every array

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {one_line(self.answer() or str(self.signature))}"

    def answer(self) -> str:
        """Return in one sentence what came out; the command line prints it first."""
        return ""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the tables of every level, the most important first; `Table.at` says where each is shown."""

    def charts(self) -> Sequence[Chart]:
        """Return what the figure shows, panel by panel: `plot` draws it on paper, reports on the screen."""
        return ()

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return every number by name: first the rows that CSV and JSON hold, then details, each a file of its own."""
        held = {name: each for name, each in vars(self).items() if isinstance(each, pd.DataFrame)}
        return {self.called.get(name, name): frame for name, frame in held.items() if len(frame.columns)}

    def beside(self, measure: Measure) -> Table | None:
        """Return what is known of a measure and each of the others, the nearest ones first, where measures are compared."""
        return None

    def at(self, level: Level) -> list[Table]:
        """Return the tables of a level: "short" (the first screen), "paper", or "all" (``--explain`` and pages)."""
        return [table for table in self.tables() if level in table.at]

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers as a frame; every analysis says which columns."""
        return next(iter(self.frames().values()))

    def to_table(self) -> Table:
        """Return the result as the table a paper would print, with caption and signature."""
        return self.at("paper")[0]

    def to_text(self) -> str:
        """Return the table for a terminal."""
        return self.to_table().to_text()

    def to_latex(self, *, width: Width = "column", label: str = "") -> str:
        """Return the table as LaTeX with booktabs rules, see `metaeval.Table.to_latex`."""
        return self.to_table().to_latex(width=width, label=label)

    def plot(self, *, size: Size = None, signature: bool = True) -> Figure:
        """Return the figure, which is not known to pyplot: a notebook shows it by its name, and `Figure.savefig` saves it.

        Parameters
        ----------
        size : {"column", "page"} or (float, float), optional
            Width of a column or of the text of a two-column paper (7.7 and 16 cm), or width and height in inches, with
            letters that can be read at that size.
        signature : bool, optional
            Whether the signature stands below.
        """
        from metaeval.show.drawing import draw_charts

        return draw_charts(self.charts(), self.signature if signature else None, size=size)

    def notes(self, *, short: bool = False) -> list[str]:
        """Return what a reader has to know about runs and method, for this test; if `short`, the first line if it has words."""
        about = [dict(self.signature.settings).get(name, "") for name in ("test", "tau")]
        notes = [*(note for diagnostic in self.diagnostics for note in diagnostic.describe(*about)), *self.remarks]
        if short:  # a table says in its legend why it has no intervals, which is not printed then
            first = self.no_interval[:1].lower() + self.no_interval[1:]
            return [*filter(None, [first, *(note.partition("\n")[0] for note in notes)])]
        return [note.lstrip("\n").replace("\n", ". ") for note in notes]

    def write_tables(self, folder: Path, name: str, width: Width = "column") -> None:
        """Write into a folder NAME.tex of that width, the rows as NAME.csv, and every detail as NAME-DETAIL.csv."""
        folder.mkdir(parents=True, exist_ok=True)
        (rows, *details) = self.frames().items()
        written = {
            f"{name}.tex": join_latex(self.at("paper"), width),
            f"{name}.csv": format_csv(rows[1]),
            **{f"{name}-{detail.replace('_', '-')}.csv": format_csv(frame) for detail, frame in details},
        }
        for file, text in written.items():
            write_atomically(folder / file, text)

    def list_measures(self) -> list[Measure]:
        """Return the measures that the result is about, those that they are compared with among them."""
        named = [getattr(self, name, ()) for name in ("measures", "reference")]
        listed = [each for some in named for each in (some if isinstance(some, tuple) else (some,))]
        return [each for each in listed if isinstance(each, Measure)]

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return self.to_table()._repr_html_(self.notes())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data that JSON can hold: kind, signature, directions, settings, rows, details, notes."""
        settings = {}
        for name, value in vars(self).items():
            parts = value if isinstance(value, tuple) else (value,)
            if name not in COMMON and all(isinstance(part, str | int | float) for part in parts):
                settings[name] = [*map(to_plain, parts)] if isinstance(value, tuple) else to_plain(value)
        rows, *details = self.frames().items()
        return {
            "result": type(self).__name__,
            "signature": str(self.signature),
            "directions": {str(measure): measure.direction for measure in self.list_measures()},
            "settings": settings,
            "rows": to_records(rows[1]),
            **({"details": {name: to_records(frame) for name, frame in details}} if details else {}),
            "notes": self.notes(),
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasureRows(Result):
    """A row for each measure, whose numbers may have intervals.

    `rows` have a column measure, then numbers: low and high are the ends of the interval of `number`, by which measures are
    compared, and q1 and q3 the quartiles around it, NaN where there are none. `differences`, of every two measures, have
    columns measure_1, measure_2, difference, low, high, and what is known of it; they are empty where measures are not
    compared. The figure says `label` of the numbers, and the table has the `caption`.
    """

    measures: tuple[Measure, ...]
    rows: pd.DataFrame
    differences: pd.DataFrame = field(default_factory=pd.DataFrame)

    number: ClassVar[str] = "mean"
    label: ClassVar[str] = ""
    caption: ClassVar[str] = ""

    def tables(self) -> list[Table]:
        """Return the rows without columns that are not known of any measure."""
        shown = self.rows.set_index("measure").dropna(axis="columns", how="all")
        return [Table(shown, self.caption, self.signature, joined=True)]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the number of every measure with its interval, or hollow with its quartiles, the largest on top."""
        ordered = self.rows.sort_values(self.number, ascending=False, kind="stable", na_position="last")
        titles = {str(measure): measure.title for measure in self.measures}
        return [IntervalChart(list_rows(ordered, self.number, titles), self.label)]


@dataclass(frozen=True, eq=False)
class MeasurePairs(Result):
    """A number for every two measures.

    `numbers` are symmetric, of shape (measure, measure); `pairs`, in the order (0, 1), (0, 2), …, have columns measure_1,
    measure_2, then all numbers. A subclass says in its `heading` what a number is, in few words, what the triangle shows in
    `caption`, which may name settings, and `legend`, and whether numbers are `whole`: counts, which can be added up. Otherwise
    they are shares from 0 to 1, shown in percent.
    """

    collection: str
    measures: tuple[Measure, ...]
    numbers: np.ndarray
    pairs: pd.DataFrame

    heading: ClassVar[str] = ""
    caption: ClassVar[str] = ""
    legend: ClassVar[str] = ""
    whole: ClassVar[bool] = False

    def write(self, number: float) -> str:
        """Return a number as a cell shows it."""
        if np.isnan(number):
            return "–"
        return f"{number:.0f}" if self.whole else f"{100 * number:.1f}"

    def take_pairs(self, measure: Measure) -> tuple[pd.DataFrame, np.ndarray]:
        """Return the pairs of a measure by the name of the other one, and in which of them it is the first."""
        first = (self.pairs["measure_1"] == str(measure)).to_numpy()
        mine = first | (self.pairs["measure_2"] == str(measure)).to_numpy()
        other = self.pairs["measure_2"].where(first, self.pairs["measure_1"]).rename("measure")
        return self.pairs[mine].set_index(other[mine]), first[mine]

    def tables(self) -> list[Table]:
        """Return the triangle, or of many measures the largest numbers of each, and the triangle with all."""
        names = [str(measure) for measure in self.measures]
        cells = [self.write(number) for number in self.numbers[np.triu_indices(len(names), 1)]]
        caption = self.caption.format(**dict(self.signature.settings))
        triangle = Table(arrange_pairs(names, cells, "–"), caption, self.signature, legend=self.legend)
        if len(names) <= MANY:
            return [triangle]
        numbers = self.numbers if self.whole else 100 * self.numbers
        summed = sum_up_matrix(names, numbers, self.heading, total=self.whole)
        brief = replace(triangle, frame=summed, legend="", at=("short", "paper"))
        return [replace(brief, digits=1), replace(triangle, at=("all",))]

    def charts(self) -> Sequence[HeatMap]:
        """Return the numbers as a heat map."""
        names = [measure.title for measure in self.measures]
        highest = max(1.0, float(np.nanmax(self.numbers))) if self.whole else 1.0
        return [
            HeatMap(
                self.numbers, names, names, self.heading, self.write, highest=highest, whole=self.whole, opposed=self.whole,
                diagonal=False, clustered=True,
            )
        ]  # fmt: skip


def list_rows(
    frame: pd.DataFrame, number: str, titles: Mapping[str, str] | None = None, name: str = "measure"
) -> list[Row]:
    """Return a row of a chart for each of a frame: its number with low and high, or hollow with its quartiles."""
    rows, hollow = [], "q1" in frame
    for label, *numbers in frame.reindex(columns=[name, number, "low", "high", "q1", "q3"]).to_numpy().tolist():
        centre, *ends = map(float, numbers)
        line, bar = (None if np.isnan(low) else (low, high) for low, high in (ends[:2], ends[2:]))
        rows.append(Row(label, (titles or {}).get(label, label), centre, line=line, bar=bar, hollow=hollow))
    return rows


def write_ends(low: float, high: float, digits: int = 3) -> str:
    """Return both ends of an interval as a cell shows them, a dash where there is none."""
    return "–" if np.isnan(low) else f"{low:.{digits}f} – {high:.{digits}f}"


def join_names(names: Sequence[str]) -> str:
    """Return names as a sentence has them: all of up to three, else two and how many others."""
    *first, last = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} others"]
    return f"{', '.join(first)} and {last}" if first else last


def write_range(numbers: Sequence[float] | np.ndarray) -> str:
    """Return the smallest and the largest of some numbers, or one where both read the same."""
    return " to ".join(dict.fromkeys(f"{number:.2f}" for number in (min(numbers), max(numbers))))


def tabulate_conclusions(
    pairs: pd.DataFrame, value: str, heading: str, caption: str, confidence: float, signature: Signature, best: str = ""
) -> Table:
    """Return a table of what is known of pairs of measures: those with the best one, or else those of the largest value.

    `confidence` is the level of their intervals, which are two-sided.
    """
    shown = pairs[(pairs["measure_1"] == best) | (pairs["measure_2"] == best)] if best else pairs
    shown = shown.sort_values(value, ascending=False, kind="stable")[:MOST_CONCLUSIONS]
    if len(shown) < len(pairs):
        caption = f"{caption} {len(shown):,} of {len(pairs):,} pairs: --out and --format json have all."
    ends = list(map(write_ends, shown["low"], shown["high"]))
    columns = {"and": shown["measure_2"], heading: shown[value], "interval": ends, "conclusion": shown["conclusion"]}
    frame = pd.DataFrame(columns).set_index(shown["measure_1"].rename("measure"))
    by_margin = [word for word in (LIKE, NO_WORSE, NO_BETTER) if (shown["conclusion"] == word).any()]
    bounds = f"one-sided {100 * confidence:g} % bounds, which lie inside the intervals shown"
    legend = f"{', '.join(by_margin).capitalize()}: decided by {bounds}." if by_margin else ""
    return Table(frame, caption, signature, legend=legend, at=("all",))


def tabulate_differences(
    measures: Sequence[Measure | str], difference: np.ndarray, low: np.ndarray, high: np.ndarray, more: str
) -> pd.DataFrame:
    """Return the difference of every two measures, and in the column `more` which has more if the interval leaves 0 out."""
    pairs = name_pairs(measures)
    larger = np.where(low > 0, pairs["measure_1"], np.where(high < 0, pairs["measure_2"], "cannot tell"))
    return pd.DataFrame({**pairs, "difference": difference, "low": low, "high": high, more: larger})


def name_pairs(measures: Sequence[Measure | str]) -> dict[str, np.ndarray]:
    """Return the names of every two measures, the columns measure_1 and measure_2 of a table of pairs."""
    names = np.array([str(measure) for measure in measures], dtype=object)
    return dict(zip(("measure_1", "measure_2"), names[np.array(np.triu_indices(len(names), 1))], strict=True))
