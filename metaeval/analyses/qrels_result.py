"""The result of `compare_qrels`: its answer, tables and figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from math import comb

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_result import Agreement
from metaeval.analyses.disagreement import tabulate_disagreement
from metaeval.analyses.result import FormerResult
from metaeval.errors import format_count
from metaeval.measures.base import Measure
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.signature import Signature
from metaeval.show.table import Table


@dataclass(frozen=True, eq=False)
class QrelsComparison(FormerResult):
    """What other judgements change, compared with those of the reference.

    Parameters
    ----------
    sets : tuple of str
        Sets of judgements; the first is the reference, the others are judges.
    measures : tuple of Measure
        By which runs are scored.
    agreements : tuple of Agreement
        By each measure, how judges rank runs: values with intervals over topics.
    pairs : ndarray of int, shape (measure, judge, 4)
        Pairs of runs that a judge finds significant and the reference too, or the opposite, or not; and that only the reference
        finds.
    flips : DataFrame
        Pairs of runs whose conclusion changes: measure, judge, flip (reversed, lost or new), run_1, which is ahead by the
        reference, or if that is not significant, by the judge, and run_2; their difference by_reference, by_judge and its
        change, each with low and high of simultaneous intervals, and clear: whether that of the change leaves 0 out.
    unjudged : DataFrame
        By measure and set: share of documents down to the measure's cut without a grade, mean cost (what runs would score more
        without such documents), and the run that this changes most.
    grades : DataFrame
        By judge: see `metaeval.analyses.qrels_judges.compare_grades`.
    favours : DataFrame
        By measure, judge and model: see `metaeval.analyses.qrels_judges.find_favours`.
    no_interval : str
        Why there is no interval, if one was asked for.
    """

    collection: str
    sets: tuple[str, ...]
    measures: tuple[Measure, ...]
    agreements: tuple[Agreement, ...]
    pairs: np.ndarray
    flips: pd.DataFrame
    unjudged: pd.DataFrame
    grades: pd.DataFrame
    favours: pd.DataFrame
    alpha: float
    confidence: float
    signature: Signature
    no_interval: str = ""

    def __repr__(self) -> str:
        judges = format_count(len(self.sets) - 1, "judge")
        return f"QrelsComparison: {judges} compared with {self.sets[0]}, {format_count(len(self.measures), 'measure')}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure and judge.

        Shape (measure · judge, 11): columns measure, judge, tau with low and high, ceiling (what the reference
        reaches on topics drawn anew), and of the pairs of runs that the reference finds significant how many the
        judge finds too (kept), reverses and loses; new: only the judge finds them; clear: flips of which the change
        itself is significant.
        """
        clear = self.flips.groupby(["measure", "judge"])["clear"].sum()
        parts = []
        for measure, found, pairs in zip(self.measures, self.agreements, self.pairs, strict=True):
            result, judges = found.results[0], [str(judge) for judge in found.measures]
            part = pd.DataFrame({"measure": str(measure), "judge": judges, "tau": result.values, "low": result.low})
            part = part.assign(high=result.high, ceiling=result.ceiling)
            part[["kept", "reversed", "new", "lost"]] = pairs
            parts.append(part.assign(clear=[int(clear.get((str(measure), judge), 0)) for judge in judges]))
        return pd.concat(parts, ignore_index=True)

    def _take(self, m: int) -> pd.DataFrame:
        """Return the rows of one measure, the judge that ranks runs most like the reference first."""
        frame = self.to_frame()
        return frame[frame["measure"] == str(self.measures[m])].iloc[self.agreements[m].results[0].rank()]

    @property
    def _symbol(self) -> str:
        return self.agreements[0].results[0].title.partition(",")[0]

    def answer(self) -> str:
        """Say which judge ranks runs most like the reference, and whether it reverses conclusions."""
        best, several = self._take(0).iloc[0], len(self.sets) > 2
        if np.isnan(best["tau"]):
            return f"The ranking of runs by {self.sets[0]} cannot be compared with any other."
        middle = (1 + self.agreements[0].results[0].chance) / 2
        how = "most like" if several else "like" if best["tau"] >= middle else "unlike"
        ranks = f"{best['judge']} ranks runs {how} {self.sets[0]} ({self._symbol} {best['tau']:.2f})"
        frame = self.to_frame()
        turned = int(frame.loc[frame["judge"] == best["judge"], "reversed"].sum())  # by any measure
        if not turned:
            return f"{ranks} and reverses no conclusion."
        return f"{ranks} {'and' if how == 'unlike' else 'but'} reverses {format_count(turned, 'conclusion')}."

    def to_table(self) -> Table:
        """Return all measures and judges with intervals and counts."""
        frame = self.to_frame().set_index("judge").rename(columns={"tau": self._symbol})
        legend = (
            f"{self._symbol}: of the rankings of runs, low and high its {100 * self.confidence:g} % interval over topics; "
            f"ceiling: what {self.sets[0]} reaches on topics drawn anew. Of the pairs of runs that {self.sets[0]} finds "
            f"significant (bootstrap-t, α = {self.alpha:g}), the judge finds the same (kept), the opposite (reversed), or "
            f"nothing (lost); new: only the judge finds it. Clear: flips whose change is significant itself. {self.no_interval}"
        )
        caption = f"Conclusions about runs, compared with those of {self.sets[0]}."
        return Table(frame, caption, self.signature, legend=legend.strip())

    def to_summary(self) -> Table:
        """Return the first measure's rank correlations and flips."""
        return self._sum_up(0)

    def short_tables(self) -> list[Table]:
        """Return rank correlations and flips by each measure, then families if they were asked for."""
        return [*map(self._sum_up, range(len(self.measures))), *self._tabulate_favours()]

    def _sum_up(self, m: int) -> Table:
        rows = self._take(m).set_index("judge")
        shown = rows[["tau", "reversed", "lost", "new"]].rename(columns={"tau": self._symbol})
        if rows["low"].notna().any():
            ends = zip(rows["low"], rows["high"], strict=True)
            shown.insert(1, "interval", [f"{low:.2f} – {high:.2f}" for low, high in ends])
        found = rows.iloc[0][["kept", "reversed", "lost"]].sum()
        n_pairs = comb(len(self.agreements[m].disagreements[0].runs), 2)
        caption = (
            f"{self.measures[m]}: {self.sets[0]} finds {found:,} of {n_pairs:,} pairs of runs significant; what judges reverse "
            "or lose of them, and find besides (new)."
        )
        return Table(shown, caption, self.signature)

    def _tabulate_favours(self) -> list[Table]:
        if self.favours.empty:
            return []
        own = self.favours[self.favours["own"]].set_index("judge")
        shown = own[["measure", "model"]] if len(self.measures) > 1 else own[["model"]]
        for name in ("favour", "at_same_score"):
            numbers = own[[name, f"{name}_low", f"{name}_high"]].to_numpy()
            shown = shown.assign(**{name.replace("_", " "): list(starmap(_write_interval, numbers))})
        caption = (
            "How much judges favour runs of their own model: difference in differences, then at the reference's score."
        )
        return [Table(shown, caption, self.signature)]

    def detail_tables(self) -> list[Table]:
        """Return grades, unjudged documents, families, and the runs and topics that move most by the first measure."""
        found, judges = self.agreements[0], self._take(0)["judge"].tolist()
        grades = self.grades.set_index("judge").filter(regex="^(?!.*_(low|high)$)")
        return [
            Table(grades, f"Grades of documents, compared with those of {self.sets[0]}.", self.signature),
            Table(
                self.unjudged.set_index("judge"), "Documents without a grade, and what they cost runs.", self.signature
            ),
            *self._tabulate_favours(),
            *tabulate_disagreement(found.runs(), found.topics(), judges, self.sets[0], self.signature),
        ]

    def details(self) -> dict[str, pd.DataFrame]:
        """Return flips, grades, unjudged documents, differences of judges, runs and topics, and families if any."""
        frames = {"flips": self.flips, "grades": self.grades, "unjudged": self.unjudged}
        frames |= {name: self._join(name) for name in ("differences", "runs", "topics")}
        return frames | ({"family": self.favours} if len(self.favours) else {})

    def _join(self, name: str) -> pd.DataFrame:
        """Return a detail of the agreements by every measure; their measures are judges, and they made no exchange tests."""
        parts = [
            getattr(found, name)()
            .rename(columns=lambda column: column.replace("measure", "judge"))
            .assign(measure=str(measure))
            for measure, found in zip(self.measures, self.agreements, strict=True)
        ]
        return pd.concat(parts, ignore_index=True).drop(columns=["p_first", "p_second"], errors="ignore")

    def notes(self, *, short: bool = False) -> list[str]:
        """Return what judgements lack, and then what every result has to say."""
        notes, own = super().notes(short=short), len(self.remarks)
        return notes[len(notes) - own :] + notes[: len(notes) - own]

    def charts(self) -> Sequence[IntervalChart]:
        """Return, by the first measure, the rank correlation of every judge, and which conclusions it loses and adds."""
        rows, level = self._take(0), self.agreements[0].results[0].ceiling
        names = rows["judge"].tolist()
        ends = [None if np.isnan(low) else (low, high) for low, high in rows[["low", "high"]].to_numpy().tolist()]
        points = [Row(name, name, *rest) for name, *rest in zip(names, rows["tau"].tolist(), ends, strict=True)]
        levels = [(level, "--")] if np.isfinite(level) else []
        charts = [IntervalChart(points, f"{self._symbol} with {self.sets[0]}", str(self.measures[0]), levels=levels)]
        lost, both = rows["lost"] + rows["reversed"], rows["kept"] + rows["reversed"]
        for label, part, whole in (
            ("% lost or reversed", lost, both + rows["lost"]),
            ("% the judge's alone", rows["new"], both + rows["new"]),
        ):
            share = 100 * part / whole.clip(lower=1)
            bars = [Row(name, name, number) for name, number in zip(names, share.tolist(), strict=True)]
            charts.append(IntervalChart(bars, label, filled=True, limits=(0.0, max(5.0, 1.2 * share.max()))))
        return charts


def _write_interval(value: float, low: float, high: float) -> str:
    if np.isnan(low):
        return "–" if np.isnan(value) else f"{value:+.3f}"
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"
