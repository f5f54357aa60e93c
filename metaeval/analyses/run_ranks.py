"""Which ranks are real? Runs by rank with what the significant differences say of it: intervals and letters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.result import Result
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.letters import compact_letters, letter_groups
from metaeval.stats.rank_intervals import rank_intervals

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

MOST_NAMES = 150
"""Runs that a critical-difference diagram, written beside other results, names, and that a figure draws all of."""

MOST_ROWS = 100
"""Runs that a figure draws of more: half of them the first ones, half evenly spaced ones of the others."""

_LONGEST = 24
"""Characters of a run's letters in a figure."""

MOST_PANELS = 6
"""Measures that a figure shows side by side."""

LETTERS = (
    "two runs share a letter if and only if they do not differ significantly; letters are not transitive, and sharing one "
    "does not show that two runs are equal"
)


@dataclass(frozen=True, eq=False)
class RunRanks(Result):
    """The rank of every run according to every measure, and between which ranks it stands.

    Parameters
    ----------
    collection : str
    runs : tuple of str
    measures : tuple of Measure
    means : ndarray, shape (run, measure)
    ranks : ndarray of int, shape (measure, run)
        1 + the number of runs with a better mean.
    ends : ndarray of int, shape (measure, run, 2)
        1 + the number of significantly better runs, and the number of runs less that of significantly worse ones.
    differ : ndarray of bool, shape (measure, run, run)
        Whether two runs differ significantly.
    letters : tuple of (tuple of str, or None)
        Of every run by measure; None where a measure would take too many.
    test : str
    alpha : float
    signature : Signature
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    means: np.ndarray
    ranks: np.ndarray
    ends: np.ndarray
    differ: np.ndarray
    letters: tuple[tuple[str, ...] | None, ...]
    test: str
    alpha: float
    signature: Signature

    def __repr__(self) -> str:
        return f"RunRanks: {len(self.runs)} runs × {len(self.measures)} measures, {self.collection or 'scores'}"

    def order(self, measure: int) -> np.ndarray:
        """Return the positions of the runs by rank; those of one rank in the order of their labels.

        Parameters
        ----------
        measure : int
            Position of the measure.

        Returns
        -------
        ndarray of int, shape (run,)
        """
        return _order(self.ranks[measure], self.runs)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure and run, by rank.

        Returns
        -------
        DataFrame, shape (measure · run, 8)
            Columns measure, run, mean, rank, low and high (between which ranks it stands), letters (missing where
            it would take too many), and near_first: whether it does not differ significantly from a run of rank 1.
        """
        parts = []
        for m, measure in enumerate(self.measures):
            order = self.order(m)
            differ = self.differ[m][np.ix_(order, order)]
            letters = self.letters[m]
            first = self.ranks[m][order] == 1
            parts.append(
                pd.DataFrame(
                    {
                        "measure": str(measure),
                        "run": [self.runs[r] for r in order],
                        "mean": self.means[order, m],
                        "rank": self.ranks[m][order],
                        "low": self.ends[m, order, 0],
                        "high": self.ends[m, order, 1],
                        "letters": [pd.NA if letters is None else letters[r] for r in order],
                        "near_first": (~differ[first]).any(axis=0),
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def summary(self) -> pd.DataFrame:
        """Return how far each measure tells the ranks of runs apart.

        Returns
        -------
        DataFrame, shape (measure, 5)
            Columns measure, near_first (runs that do not differ significantly from one of rank 1, itself included),
            adjacent (neighbours by rank that differ significantly), neighbours (of how many), width (the number of ranks
            that a run may have, on average).
        """
        rows = []
        for m, measure in enumerate(self.measures):
            order = self.order(m)
            differ = self.differ[m][np.ix_(order, order)]
            first = self.ranks[m][order] == 1
            rows.append(
                (
                    str(measure),
                    int((~differ[first]).any(axis=0).sum()),
                    int(np.diagonal(differ, 1).sum()),
                    len(order) - 1,
                    float((self.ends[m, :, 1] - self.ends[m, :, 0] + 1).mean()),
                )
            )
        return pd.DataFrame(rows, columns=["measure", "near_first", "adjacent", "neighbours", "width"])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the summary beside the ranks."""
        return {"summary": self.summary()}

    def to_table(self) -> Table:
        """Return how far each measure tells the ranks of runs apart; leaderboards are `detail_tables`."""
        names = {
            "near_first": "not separable from the first",
            "adjacent": "neighbours separated",
            "neighbours": "of",
            "width": "ranks a run may have",
        }
        caption = (
            f"How far ranks of {len(self.runs)} runs are real, by {self.test} at α = {self.alpha:g}: the runs that do not "
            "differ significantly from the first (itself included), neighbours by rank that do, and how many ranks a run "
            "may have on average."
        )
        return Table(self.summary().set_index("measure").rename(columns=names), caption, self.signature, digits=1)

    def detail_tables(self) -> list[Table]:
        """Return the leaderboard of every measure."""
        return [self.leaderboard(measure) for measure in self.measures]

    def leaderboard(self, measure: Measure | str) -> Table:
        """Return the runs by rank according to one measure, with the ranks they may have and their letters.

        Parameters
        ----------
        measure : Measure or str
            One of those that were tested.

        Returns
        -------
        Table
        """
        frame = self.to_frame()
        own = frame[frame["measure"] == str(measure)]
        letters = own["letters"].fillna("too many")
        shown = pd.DataFrame(
            {
                "rank": own["rank"],
                "may be": [
                    f"{low}–{high}" if low < high else f"{low}" for low, high in zip(own.low, own.high, strict=True)
                ],
                "mean": own["mean"],
                "letters": letters,
            }
        ).set_index(own["run"])
        caption = f"Runs by {measure}, with the ranks they may have by {self.test} at α = {self.alpha:g}: {LETTERS}."
        return Table(shown, caption, self.signature)

    def write_tables(self, folder: Path, name: str) -> None:
        """Write what every result writes, the leaderboards before the summary, and both as a page, NAME.html."""
        from metaeval.files import write_atomically
        from metaeval.show.html import write_page

        super().write_tables(folder, name)
        tables = [*self.detail_tables(), self.to_table()]
        write_atomically(folder / f"{name}.md", "\n".join(one.to_markdown() for one in tables))
        labelled = enumerate(tables, start=1)
        latex = [one.to_latex(label=f"tab:run-ranks-{self.collection}-{number}") for number, one in labelled]
        write_atomically(folder / f"{name}.tex", "\n".join(latex))
        title = f"Leaderboard: {self.collection or 'scores'}"
        write_atomically(folder / f"{name}.html", write_page(title, tables))

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the runs by rank, each with the ranks it may have and its letters.

        The first six measures are drawn, in a page of print three, in a column one. Of more than 150 runs, the first 50
        are drawn and 50 of the others, evenly spaced over their ranks; the figure says so.
        """
        from metaeval.show.canvas import open_canvas

        frame = self.to_frame()
        shown = self.measures[:MOST_PANELS]
        shown = shown[:1] if size == "column" else shown[:3] if size == "page" else shown
        kept = _choose_rows(len(self.runs))
        across, down = 1.2 + 3.1 * len(shown), max(2.4, 1.4 + 0.17 * len(kept))
        said = self.signature if signature else None
        with open_canvas(ax, size, said, width=across, height=down, shape=(1, len(shown))) as canvas:
            for axes, measure in zip(canvas.panels, shown, strict=False):
                _draw_ranks(axes, frame[frame["measure"] == str(measure)], measure.title, kept)
        return canvas.figure

    def more_figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the critical-difference diagrams of the first six measures; none of more runs than one can read."""
        if len(self.runs) > MOST_NAMES:
            return {}
        names = [re.sub(r"[^\w.]+", "-", str(one)).strip("-.") or "measure" for one in self.measures[:MOST_PANELS]]
        named = {name if names.count(name) == 1 else f"{name}-{number}": number for number, name in enumerate(names)}
        return {f"groups-{name}": partial(self.plot_groups, self.measures[number]) for name, number in named.items()}

    def plot_groups(
        self, measure: Measure | str, *, ax: Axis = None, size: Size = None, signature: bool = True
    ) -> Figure:
        """Draw the critical-difference diagram of one measure: runs at their means, a bar for each letter.

        Parameters
        ----------
        measure : Measure or str
        ax, size, signature
            As for `plot`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from metaeval.show.canvas import open_canvas, typeset

        position = [str(one) for one in self.measures].index(str(measure))
        order = self.order(position)
        means = self.means[order, position]
        table = letter_groups(self.differ[position][np.ix_(order, order)])
        groups = [np.flatnonzero(column) for column in table.T if column.sum() > 1]
        down = 1.6 + 0.13 * (len(order) + len(groups))
        with open_canvas(ax, size, self.signature if signature else None, width=6.4, height=down) as canvas:
            axes = canvas.panels[0]
            half = (len(order) + 1) // 2
            # Names stand left and right of the axis of means, the best outermost, each tied to its mean by a line.
            for place, (run, mean) in enumerate(zip(order, means, strict=True)):
                left = place < half
                height = -(1 + (place if left else len(order) - 1 - place)) - len(groups)
                edge = 0.0 if left else 1.0
                axes.plot([mean, mean], [0, height], color="#BBBBBB", linewidth=0.6)
                axes.annotate(
                    f"{self.runs[run]}", (mean, height), (edge, height), xycoords="data",
                    textcoords=axes.get_yaxis_transform(), ha="right" if left else "left", va="center", fontsize=6,
                    arrowprops={"arrowstyle": "-", "color": "#BBBBBB", "linewidth": 0.6},
                )  # fmt: skip
            for number, group in enumerate(groups):
                axes.plot(
                    means[group], [-0.5 - number] * len(group), "|-", color="#0064B0", linewidth=1.6, markersize=5
                )
            axes.plot(means, np.zeros(len(means)), "o", color="black", markersize=3)
            note = "a bar joins the runs that it marks, no two of which differ"
            axes.set(xlabel=f"mean {self.measures[position].title}\n{note}", yticks=[])
            typeset(axes.xaxis.label)
            if self.measures[position].sign > 0:
                axes.invert_xaxis()  # the best stands left, as its name does
            axes.spines["left"].set_visible(False)
            axes.grid(visible=False)
        return canvas.figure


def run_ranks(power: DiscriminativePower) -> RunRanks:
    """Which ranks of runs are real, by the significant differences between them?

    Parameters
    ----------
    power : DiscriminativePower
        Nothing is tested again.

    Returns
    -------
    RunRanks

    Examples
    --------
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> from metaeval.data.scores import Scores
    >>> values = np.add.outer([0.1, 0.12, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> values[1] += np.tile([0.1, -0.1], 6)[:, None]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["AP"])
    >>> ranks = run_ranks(discriminative_power(scores, n_permutations=500))
    >>> ranks.to_frame()[["run", "rank", "low", "high", "letters", "near_first"]]
      run  rank  low  high letters  near_first
    0   c     1    1     1       a        True
    1   b     2    2     3       b       False
    2   a     3    2     3       b       False
    """
    first, second = power.pairs
    n = len(power.runs)
    differ = np.zeros((len(power.measures), n, n), dtype=bool)
    better = np.zeros_like(differ)
    differ[:, first, second] = differ[:, second, first] = power.significant
    better[:, first, second], better[:, second, first] = power.winners > 0, power.winners < 0
    found = [rank_intervals(*one) for one in zip(better, differ, strict=True)]
    ranks, ends = (np.stack(one) for one in zip(*found, strict=True))
    letters: list[tuple[str, ...] | None] = []
    remarks = list(power.remarks)
    for measure, own, differs in zip(power.measures, ranks, differ, strict=True):
        try:
            letters.append(_spell_letters(own, power.runs, differs))
        except MetaevalError as error:
            letters.append(None)
            remarks.append(f"{measure}: no letters. {error}")
    return RunRanks(
        power.collection, power.runs, power.measures, power.means, ranks, ends, differ, tuple(letters), power.test,
        power.alpha, power.signature.follow("run_ranks"), diagnostics=power.diagnostics, remarks=tuple(remarks),
    )  # fmt: skip


def _order(ranks: np.ndarray, runs: tuple[str, ...]) -> np.ndarray:
    return np.lexsort((np.array(runs, dtype=str), ranks))


def _spell_letters(ranks: np.ndarray, runs: tuple[str, ...], differ: np.ndarray) -> tuple[str, ...]:
    """Return the letters of every run, a being that of the best."""
    order = _order(ranks, runs)
    spelled = compact_letters(differ[np.ix_(order, order)])
    return tuple(one for _, one in sorted(zip(order.tolist(), spelled, strict=True)))


def _choose_rows(n: int) -> np.ndarray:
    """Return which of n runs are drawn, by their places: all, or the first ones and evenly spaced ones of the others."""
    if n <= MOST_NAMES:
        return np.arange(n)
    half = MOST_ROWS // 2
    return np.concatenate([np.arange(half), np.linspace(half, n - 1, MOST_ROWS - half).round().astype(int)])


def _draw_ranks(axes: Axes, frame: pd.DataFrame, title: str, kept: np.ndarray) -> None:
    from metaeval.show.canvas import typeset
    from metaeval.show.names import shorten_name
    from metaeval.show.style import GREY

    n, frame = len(frame), frame.iloc[kept]
    places = np.arange(len(frame))
    axes.hlines(places, frame["low"], frame["high"], color="#8FC3F2", linewidth=3)
    axes.plot(frame["rank"], places, "o", color="black", markersize=3.5)
    small = 7 if len(frame) <= 60 else 5
    axes.set_yticks(places, frame["run"].tolist(), fontsize=small)
    for place, letters in zip(places, frame["letters"].fillna(""), strict=True):
        axes.annotate(
            shorten_name(letters, _LONGEST), (1, place), xycoords=("axes fraction", "data"), xytext=(3, 0),
            textcoords="offset points", va="center", fontsize=small,
        )  # fmt: skip
    label = "rank"
    if len(frame) < n:
        half = MOST_ROWS // 2
        axes.axhline(half - 0.5, color=GREY, linewidth=0.9, linestyle="--")
        others = f"{len(frame) - half}\nof the other {n - half:,}, evenly spaced."
        label += f"\nThe first {half} of {n:,} runs; below the line, {others}"
    axes.set(title=title, xlabel=label, xlim=(0.4 - 0.01 * (n - len(frame)), n + 0.6), ylim=(len(frame) - 0.4, -0.6))
    axes.grid(axis="y", visible=False)
    typeset(axes.title)
