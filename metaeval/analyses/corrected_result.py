"""The result of `corrected_scores`: what follows from the judge alone, from people alone, and from both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from metaeval.analyses.rank_figures import draw_ranks
from metaeval.analyses.rank_result import LETTERS, RunRanks
from metaeval.analyses.result import Result
from metaeval.errors import format_count
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.prediction_powered import Corrected, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

SHOWN = 10
"""Topics of a plan that the table shows."""


class Labelled(NamedTuple):
    """How many topics of a run are labelled, at least; how many topics there are; and how many cells are labelled."""

    topics: int
    of: int
    cells: int


@dataclass(frozen=True, eq=False)
class CorrectedScores(Result):
    """Means of runs by a judge's scores, corrected by people's.

    Parameters
    ----------
    collection : str
    runs : tuple of str
        In the order of their labels.
    found : dict of str to Corrected
        What follows from each judge alone ("0", "1", …), from "people" alone, and from "both"; larger values are better.
    boards : dict of str to RunRanks
        The ranks of runs that follow from each.
    labelled : Labelled
    bias : ndarray, shape (judge, run)
        How much higher a judge scores a run than people do; NaN where they use different scales.
    target : {"population", "topics"}
    confidence : float
        Of all intervals together.
    pair : tuple of str
        Two runs about which a note is asked for, or none.
    signature : Signature
    plan : DataFrame, optional
        What is labelled and what to label next: columns run, topic, a score that is to be filled in, and probability.
    """

    collection: str
    runs: tuple[str, ...]
    found: dict[str, Corrected]
    boards: dict[str, RunRanks]
    labelled: Labelled
    bias: np.ndarray
    target: Target
    confidence: float
    pair: tuple[str, ...]
    signature: Signature
    plan: pd.DataFrame | None = None

    def __repr__(self) -> str:
        return f"CorrectedScores: {len(self.runs)} runs, {self.labelled.topics} of {self.labelled.of} topics labelled"

    @property
    def both(self) -> Corrected:
        """What follows from the judges and people together."""
        return self.found["both"]

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """What is concluded about every pair of runs.

        One row per pair: columns first, second, difference, low, high; judge, people and both, which are 1 where the first run is
        better, −1 where the second is and 0 where it is open; flips, what becomes of the first judge's conclusion (reversed, lost,
        found or nothing); and topics_needed, with how many labelled topics it would be decided (missing: never, or it is).
        """
        first, second = np.triu_indices(len(self.runs), 1)
        both, names = self.both, np.array(self.runs, dtype=object)
        judge = self.found["0"].signs
        return pd.DataFrame(
            {
                "first": names[first],
                "second": names[second],
                "difference": both.differences,
                "low": both.differences - both.reach,
                "high": both.differences + both.reach,
                "judge": judge,
                "people": self.found["people"].signs,
                "both": both.signs,
                "flips": find_flips(judge, both.signs),
                "topics_needed": self._find_needed(),
            }
        )

    def _find_needed(self) -> np.ndarray:
        """Return with how many labelled topics each open pair would be decided; NaN where all of them would not do."""
        n, of, both = self.labelled.topics, self.labelled.of, self.both
        with np.errstate(divide="ignore", invalid="ignore"):
            aim = both.variances * (both.differences / both.reach) ** 2
            unit = both.residual / (1 / n - 1 / of)
            needed = np.ceil(1 / ((aim - self._rest()) / unit + 1 / of))
        return np.where((both.signs == 0) & (needed > n) & (needed <= of), needed, np.nan)

    def _rest(self) -> np.ndarray:
        """Return the variance that remains when every topic is labelled, shape (pair,)."""
        return np.maximum(self.both.variances - self.both.residual, 0.0) if self.target == "population" else np.array(0.0)

    def expect_decided(self, more: int) -> int:
        """Return how many of the open pairs would probably be decided with so many more labelled topics."""
        n, of, both = self.labelled.topics, self.labelled.of, self.both
        if n >= of:
            return 0
        share = max(1 / min(n + more, of) - 1 / of, 0.0) / (1 / n - 1 / of)
        later = self._rest() + (both.variances - self._rest()) * share
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = both.reach * np.sqrt(later / both.variances)
        return int(((both.signs == 0) & (np.abs(both.differences) > reach)).sum())

    @cached_property
    def worth(self) -> float:
        """How many labels of people one score of the judge is worth, by the median pair of runs; 0 if all are labelled."""
        n, of = self.labelled.topics, self.labelled.of
        alone = self.found["people"].residual
        some = alone > 0
        if n >= of or not some.any():
            return 0.0
        ratio = float(np.median(self.both.residual[some] / alone[some]))
        return (1 / (1 / of + (1 / n - 1 / of) * ratio) - n) / (of - n)

    @cached_property
    def needed_for_first(self) -> float:
        """With how many labelled topics the first place would be decided; NaN where all would not do, 0 where it is."""
        leader = self.runs[int(self.boards["both"].order(0)[0])]
        pairs = self.pairs
        rivals = pairs[((pairs["first"] == leader) | (pairs["second"] == leader)) & (pairs["both"] == 0)]
        return float(rivals["topics_needed"].max(skipna=False)) if len(rivals) else 0.0

    def answer(self) -> str:
        """Say who is first, and what becomes of the judge's conclusions; or with a plan, what it would decide."""
        if self.plan is not None:
            more = self.count_planned()
            decided, still = self.expect_decided(more), int((self.both.signs == 0).sum())
            return f"{more} more labelled topics may decide {decided} of {still} open pairs."
        board = self.boards["both"]
        firsts = int(board.summary()["near_first"].iloc[0])
        first = f"{self.runs[int(board.order(0)[0])]} is first" if firsts == 1 else f"{firsts} runs tie for first"
        flips = self.pairs["flips"].value_counts()
        reversed_, lost = int(flips.get("reversed", 0)), int(flips.get("lost", 0))
        if reversed_:
            return f"{first}; people reverse {reversed_} of the judge's conclusions."
        return f"{first}; people {f'leave {lost} of' if lost else 'confirm all'} the judge's conclusions{' open' * bool(lost)}."

    def count_planned(self) -> int:
        """Return how many topics the plan adds."""
        if self.plan is None:
            return 0
        return int(self.plan.loc[self.plan.iloc[:, 2].isna(), "topic"].nunique())

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run, by rank.

        Returns
        -------
        DataFrame, shape (run, 9)
            Columns run, mean (corrected), error (its standard error), rank, low and high (between which ranks it stands),
            letters, judge_rank and bias (by the first judge).
        """
        board, place = self.boards["both"], {run: number for number, run in enumerate(self.runs)}
        frame = board.to_frame().drop(columns=["measure", "near_first"])
        order = [place[run] for run in frame["run"]]
        frame.insert(2, "error", self.both.errors[order])
        return frame.assign(judge_rank=self.boards["0"].ranks[0][order], bias=self.bias[0][order])

    def summary(self) -> pd.DataFrame:
        """Return what is concluded from each judge alone, from people alone and from both.

        Returns
        -------
        DataFrame, shape (judge + 2, 5)
            Columns evidence; decided (pairs of runs); reversed and open (of these, how many both together reverse, and leave
            open); first (the run in the first place, or how many tie).
        """
        rows = []
        for name, found in self.found.items():
            board = self.boards[name]
            firsts = int(board.summary()["near_first"].iloc[0])
            evidence = "both" if name == "both" else f"{'people' if name == 'people' else board.measures[0]} alone"
            flips = find_flips(found.signs, self.both.signs)
            first = self.runs[int(board.order(0)[0])] if firsts == 1 else f"{firsts} tie"
            rows.append(
                (evidence, int((found.signs != 0).sum()), int((flips == "reversed").sum()), int((flips == "lost").sum()), first)
            )
        return pd.DataFrame(rows, columns=["evidence", "decided", "reversed", "open", "first"])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return conclusions, every pair, and the plan."""
        plan = {} if self.plan is None else {"plan": self.plan}
        return {"summary": self.summary(), "pairs": self.pairs, **plan}

    def to_table(self) -> Table:
        """Return the runs by corrected rank, with the ranks they may have, their letters, and their ranks by the judge."""
        rows = self.to_frame()
        may = [f"{low}–{high}" if low < high else f"{low}" for low, high in zip(rows.low, rows.high, strict=True)]
        shown = pd.DataFrame(
            {
                "may be": may,
                "mean": rows["mean"],
                "letters": rows["letters"].fillna("too many"),
                "judge's rank": rows["judge_rank"],
            }
        ).set_index(rows["run"])
        what = "these topics" if self.target == "topics" else "the population that the topics are from"
        caption = f"Runs by corrected mean of {self.boards['both'].measures[0]}, of {what}."
        legend = f"May be: the ranks that intervals of all pairs leave, together {self.confidence:.0%} sure. Letters: {LETTERS}."
        return Table(shown, caption, self.signature, legend=legend)

    def detail_tables(self) -> list[Table]:
        """Return what is concluded from each kind of evidence, and which topics to label next."""
        shown = self.summary().set_index("evidence").rename(columns={"decided": "pairs decided", "open": "left open"})
        caption = f"Conclusions about {len(self.pairs):,} pairs of runs; both together reverse some or leave them open."
        return [Table(shown, caption, self.signature), *self._show_plan()]

    def _show_plan(self) -> list[Table]:
        if self.plan is None:
            return []
        new = self.plan[self.plan.iloc[:, 2].isna()].drop_duplicates("topic").set_index("topic")[["probability"]]
        more = f", the first {SHOWN} of {len(new):,}" * (len(new) > SHOWN)
        return [Table(new.head(SHOWN), f"Topics to label next{more}; --out writes all as a list to fill in.", self.signature)]

    def notes(self, *, short: bool = False) -> list[str]:
        """Return what a reader has to know: what is doubtful first, then what the judge is worth and how biased it is."""
        return [*super().notes(short=short), *self._describe(short)]

    def _describe(self, short: bool) -> list[str]:
        n, of = self.labelled.topics, self.labelled.of
        lines = []
        if n < of:
            equal = n + self.worth * (of - n)
            lines.append(
                f"{n} labelled topics with the judge are worth {equal:,.0f} without it: a judge's score is {self.worth:.2f} labels"
            )
        lines.append(self._describe_need())
        if self.pair:
            lines.append(self._describe_pair())
        lines.append(self._describe_bias())
        return [line for line in lines if line]

    def _describe_need(self) -> str:
        need, n = self.needed_for_first, self.labelled.topics
        if need == 0:
            return ""
        if np.isnan(need):
            return "labelling all topics would probably not decide the first place"
        return f"about {need:,.0f} labelled topics would decide the first place; {n:,} are labelled"

    def _describe_pair(self) -> str:
        rows = self.pairs[self.pairs["first"].isin(self.pair) & self.pairs["second"].isin(self.pair)].iloc[0]
        ends = f"{abs(rows.difference):.3g} [{rows.low:.3g}, {rows.high:.3g}]"
        if rows.both:
            best, other = (rows["first"], rows["second"])[:: int(rows.both)]
            return f"{best} is better than {other}: {ends}"
        needed = "no number of labelled topics" if np.isnan(rows.topics_needed) else f"about {rows.topics_needed:,.0f} labelled topics"
        return f"{rows['first']} or {rows['second']} is open, {ends}: {needed} would decide"

    def _describe_bias(self) -> str:
        known = self.bias[0][np.isfinite(self.bias[0])]
        if not len(known):
            return "judge and people use different scales: the judge's scores were rescaled, and its bias is not a number"
        least, most = known.min(), known.max()
        return f"the judge scores runs {known.mean():+.3g} from people on average, from {least:+.3g} to {most:+.3g} by run"

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the ranks that runs may have by the judge alone, people alone and both; in a column by both."""
        named = {"0": "judge alone", "people": "people alone", "both": "corrected"}
        shown = ["both"] if size == "column" else list(named)
        boards = {named[name]: self.boards[name].to_frame() for name in shown}
        return draw_ranks(boards, self.signature if signature else None, ax=ax, size=size)


def find_flips(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return what becomes of conclusions, 1, −1 or 0 where it is open: reversed, lost, found, or nothing.

    >>> find_flips(np.array([1, 1, 0, 1]), np.array([-1, 0, 1, 1])).tolist()
    ['reversed', 'lost', 'found', '']
    """
    words = np.full(len(before), "", dtype=object)
    words[before * after < 0] = "reversed"
    words[(before != 0) & (after == 0)] = "lost"
    words[(before == 0) & (after != 0)] = "found"
    return words
