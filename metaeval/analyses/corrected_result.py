"""The result of `corrected_scores`: what follows from judges alone, from people alone, and from both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from metaeval.analyses.rank_result import LETTERS, RunRanks, draw_ranks, find_ranks
from metaeval.analyses.reference_pairs import name_flips
from metaeval.analyses.result import FormerResult
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.prediction_powered import Corrected, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size


class Labelled(NamedTuple):
    """How many topics of a run are labelled, at least, and how many topics there are."""

    topics: int
    of: int


@dataclass(frozen=True, eq=False)
class CorrectedScores(FormerResult):
    """Means of runs by a judge's scores, corrected by people's.

    Parameters
    ----------
    runs : tuple of str
        In the order of their labels.
    measure : Measure
        People's.
    alone : tuple of Corrected
        What follows from each judge alone; larger values are better.
    people, both : Corrected
        What follows from people alone, and from both.
    bias : ndarray, shape (judge, run)
        How much higher a judge scores a run than people do; NaN where they use different scales.
    confidence : float
        Of all intervals together.
    """

    collection: str
    runs: tuple[str, ...]
    judges: tuple[Measure, ...]
    measure: Measure
    alone: tuple[Corrected, ...]
    people: Corrected
    both: Corrected
    labelled: Labelled
    bias: np.ndarray
    target: Target
    confidence: float
    signature: Signature

    def __repr__(self) -> str:
        return f"CorrectedScores: {len(self.runs)} runs, {self.labelled.topics} of {self.labelled.of} topics labelled"

    @cached_property
    def ranks(self) -> RunRanks:
        """The corrected ranks of runs."""
        return self.rank(self.both, self.measure)

    def rank(self, found: Corrected, measure: Measure) -> RunRanks:
        """Return the ranks of runs that follow from one kind of evidence.

        Parameters
        ----------
        found : Corrected
            One of `alone`, `people` and `both`.
        measure : Measure

        Returns
        -------
        RunRanks
        """
        first, second = np.triu_indices(len(self.runs), 1)
        differ, better = np.zeros((2, 1, len(self.runs), len(self.runs)), dtype=bool)
        differ[0, first, second] = differ[0, second, first] = found.signs != 0
        better[0, first, second], better[0, second, first] = found.differences > 0, found.differences < 0
        tested = SimpleNamespace(
            collection=self.collection, runs=self.runs, measures=(measure,), test="bootstrap-t", signature=self.signature,
            means=found.means[:, np.newaxis] * find_signs((measure,)), alpha=1 - self.confidence, diagnostics=(), remarks=(),
        )  # fmt: skip
        return find_ranks(tested, better, differ)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """What is concluded about every pair of runs, a row each.

        Columns first, second, difference, low, high; judge, people and both, which are 1 where the first run is better, −1
        where the second is and 0 where it is open; flips: whether people reverse the first judge's conclusion, or one is
        lost or new; and with how many labelled topics an open pair would be decided (missing where all would not do).
        """
        first, second = np.triu_indices(len(self.runs), 1)
        names, signs = np.array(self.runs, dtype=object), find_signs((self.measure,))[0]
        ends = np.sort([signs * self.both.differences + side * self.both.reach for side in (-1, 1)], axis=0)
        return pd.DataFrame(
            {
                "first": names[first],
                "second": names[second],
                "difference": signs * self.both.differences,
                "low": ends[0],
                "high": ends[1],
                "judge": self.alone[0].signs,
                "people": self.people.signs,
                "both": self.both.signs,
                "flips": name_flips(self.alone[0].signs, self.both.signs),
                "topics_needed": self._find_needed(),
            }
        )

    def _find_needed(self) -> np.ndarray:
        """Return with how many labelled topics each open pair would be decided: the variance falls as 1/n − 1/N."""
        (n, of), both = self.labelled, self.both
        # What remains of the variance when every topic is labelled.
        rest = np.maximum(both.variances - both.residual, 0.0) if self.target == "population" else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            aim = both.variances * (both.differences / both.reach) ** 2 - rest
            needed = np.ceil(1 / (aim / both.residual * (1 / n - 1 / of) + 1 / of))
        return np.where((both.signs == 0) & (needed > n) & (needed <= of), needed, np.nan)

    @cached_property
    def worth(self) -> float:
        """How many labels of people one score of the judge is worth, by the median pair of runs; 0 if all are labelled.

        An estimate without an interval: it is far too high where the judge happens not to err on the labelled topics.
        """
        n, of = self.labelled
        some = self.people.residual > 0
        if n >= of or not some.any():
            return 0.0
        ratio = float(np.median(self.both.residual[some] / self.people.residual[some]))
        return (1 / (1 / of + (1 / n - 1 / of) * ratio) - n) / (of - n)

    def find_topics_for_first(self) -> float:
        """Return with how many labelled topics the first place would be decided; 0 where it is, NaN where all would not do."""
        leader = self.runs[int(self.ranks.order(0)[0])]
        rivals = self.pairs[(self.pairs[["first", "second"]] == leader).any(axis=1) & (self.pairs["both"] == 0)]
        return float(rivals["topics_needed"].max(skipna=False)) if len(rivals) else 0.0

    def answer(self) -> str:
        """Say who is first, and how many other runs may be as good."""
        return self.ranks.answer()

    def _judge_judge(self) -> str:
        """Say what becomes of the first judge's conclusions."""
        flips = self.pairs["flips"].tolist()
        if reversals := flips.count("reversed"):
            return f"people reverse {reversals} of the judge's conclusions"
        if lost := flips.count("lost"):
            return f"people leave {lost} of the judge's conclusions open"
        return (
            "people confirm all of the judge's conclusions"
            if self.alone[0].signs.any()
            else "the judge alone decides nothing"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run, by rank.

        Shape (run, 9): columns run, mean (corrected), error (its standard error), rank, low and high (between which
        ranks it stands), letters, judge_rank and bias (both by the first judge).
        """
        frame = self.ranks.to_frame().drop(columns=["measure", "near_first"])
        order = self.ranks.order(0)
        frame.insert(2, "error", self.both.errors[order])
        judge_rank = self.rank(self.alone[0], self.judges[0]).ranks[0][order]
        return frame.assign(judge_rank=judge_rank, bias=self.bias[0][order])

    def summary(self) -> pd.DataFrame:
        """Return what is concluded from each judge alone, from people alone and from both.

        Shape (judge + 2, 5): columns evidence; decided (pairs of runs); reversed and open (how many of these both
        together reverse, or leave open); first (which run is in the first place, or how many may be).
        """
        named = [(f"{judge} alone", found, judge) for judge, found in zip(self.judges, self.alone, strict=True)]
        named += [("people alone", self.people, self.measure), ("both", self.both, self.measure)]
        rows = []
        for name, found, measure in named:
            flips = name_flips(found.signs, self.both.signs).tolist()
            firsts = self.rank(found, measure).to_frame().query("near_first")["run"].tolist()
            first = firsts[0] if len(firsts) == 1 else f"one of {len(firsts)}"
            rows.append((name, np.count_nonzero(found.signs), flips.count("reversed"), flips.count("lost"), first))
        return pd.DataFrame(rows, columns=["evidence", "decided", "reversed", "open", "first"])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return conclusions and every pair."""
        return {"summary": self.summary(), "pairs": self.pairs}

    def to_table(self) -> Table:
        """Return the runs by corrected rank, with the ranks they may have, their letters, and their ranks by the judge."""
        rows, board = self.to_frame(), self.ranks.leaderboard(self.measure).frame
        shown = board[["may be", "mean", "letters"]].assign(**{"judge's rank": rows["judge_rank"].to_numpy()})
        what = "these topics" if self.target == "topics" else "the population that the topics are from"
        caption = f"Runs by corrected mean of {self.measure}, of {what}."
        legend = (
            f"May be: the ranks that the intervals of all pairs, together {self.confidence:.0%} sure, leave. "
            f"Letters: {LETTERS}."
        )
        return Table(shown, caption, self.signature, legend=legend)

    def detail_tables(self) -> list[Table]:
        """Return what is concluded from each kind of evidence."""
        shown = self.summary().set_index("evidence").rename(columns={"decided": "pairs decided", "open": "left open"})
        caption = f"Conclusions about {len(self.pairs):,} pairs of runs: {self._judge_judge()}."
        return [Table(shown, caption, self.signature)]

    def notes(self, *, short: bool = False) -> list[str]:
        """Return what a reader has to know: what is doubtful first, then what the judge is worth and how biased it is."""
        return [*super().notes(short=short), *self._describe_labels(), *self._describe_bias()]

    def _describe_labels(self) -> list[str]:
        (n, of), need = self.labelled, self.find_topics_for_first()
        if n >= of:
            return []
        worth = round(self.worth, 2) + 0.0  # which is never −0
        equal = n + self.worth * (of - n)
        lines = [
            f"the judge makes {n} labelled topics worth {equal:,.0f}: its score is worth {worth:.2f} labels, an estimate "
            "without an interval"
        ]
        if np.isnan(need):
            lines.append("labelling all topics would probably not decide the first place")
        elif need:
            lines.append(f"about {need:,.0f} labelled topics would decide the first place")
        return lines

    def _describe_bias(self) -> list[str]:
        known, judge = self.bias[0][np.isfinite(self.bias[0])], self.judges[0]
        if not len(known):
            scale = f"{judge} uses another scale than people: its scores were rescaled, and its bias is not stated"
            return [scale] if self.alone[0].differences.any() else []
        if not known.any():
            return []
        mean, ends = float(known.mean()), f"{known.min():+.3g} to {known.max():+.3g} by run"
        way = "higher" if mean > 0 else "lower"
        return [f"the scores of {judge} are {abs(mean):.3g} {way} than people's on average, {ends}"]

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the ranks that runs may have by the first judge alone, people alone and both; in a column by both."""
        boards = {"corrected": self.ranks.to_frame()}
        if size != "column":
            judge, people = self.rank(self.alone[0], self.judges[0]), self.rank(self.people, self.measure)
            boards = {"judge alone": judge.to_frame(), "people alone": people.to_frame(), **boards}
        return draw_ranks(boards, self.signature if signature else None, ax=ax, size=size)
