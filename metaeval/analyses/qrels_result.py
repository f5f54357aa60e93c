"""The result of `compare_qrels`: its answer, tables and figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_result import Agreement
from metaeval.analyses.disagreement import tabulate_disagreement
from metaeval.analyses.result import Result
from metaeval.errors import format_count
from metaeval.measures.base import Measure
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.signature import Signature
from metaeval.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

MOST_GROUPS = 5
"""Groups that the command line prints."""


@dataclass(frozen=True, eq=False)
class QrelsComparison(Result):
    """What other judgements change, compared with those of the reference.

    Parameters
    ----------
    collection : str
    sets : tuple of str
        Sets of judgements; the first is the reference, the others are judges.
    measures : tuple of Measure
        By which runs are scored.
    agreements : tuple of Agreement
        By each measure, how judges rank runs, and what becomes of significant pairs of runs.
    flips : DataFrame
        Pairs of runs whose conclusion changes: measure, judge, flip (reversed, lost or new), run_1 and run_2 (run 1 is ahead by
        the reference, or if that is not significant, by the judge), their difference by_reference, by_judge and its change, each with
        low and high of simultaneous intervals, and clear: whether the interval of the change leaves 0 out.
    unjudged : DataFrame
        By measure and set: share of documents down to the measure's cut without a grade, mean cost (what runs would score more if
        such documents were taken out of them), and the run that this changes most.
    grades : DataFrame
        By judge: scale, documents that both judge, how many it lacks and has besides, τ_b of grades, share of equal grades and
        κ with intervals over topics.
    favours : DataFrame
        By measure, judge and model, whether runs of the model are favoured; see `metaeval.analyses.qrels_judges.find_favours`.
    pools : DataFrame
        By measure and group, what happens if it adds nothing to the pool: its unique documents, how many of them are relevant,
        the change of its runs' mean score, and the most ranks that one of them loses.
    alpha, confidence : float
    signature : Signature
    no_interval : str
        Why there is no interval, if one was asked for.
    """

    collection: str
    sets: tuple[str, ...]
    measures: tuple[Measure, ...]
    agreements: tuple[Agreement, ...]
    flips: pd.DataFrame
    unjudged: pd.DataFrame
    grades: pd.DataFrame
    favours: pd.DataFrame
    pools: pd.DataFrame
    alpha: float
    confidence: float
    signature: Signature
    no_interval: str = ""

    def __repr__(self) -> str:
        judges = format_count(len(self.sets) - 1, "judge")
        return f"QrelsComparison: {judges} compared with {self.sets[0]}, {format_count(len(self.measures), 'measure')}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure and judge.

        Returns
        -------
        DataFrame, shape (measure · judge, 12)
            Columns measure, judge, tau with low and high, ceiling (what the reference reaches on topics drawn anew), and of
            the pairs of runs that the reference finds significant how many the judge finds too (kept), reverses and
            loses; new are those that only the judge finds; clear are flips of which the change itself is significant; and pairs.
        """
        clear = self.flips.groupby(["measure", "judge"])["clear"].sum()
        parts = []
        for measure, found in zip(self.measures, self.agreements, strict=True):
            result, judges = found.results[0], [str(judge) for judge in found.measures]
            kept, turned, new, lost = found.pairs.T
            columns = {"measure": str(measure), "judge": judges, "tau": result.values, "low": result.low, "high": result.high}
            columns |= {"ceiling": result.ceiling, "kept": kept, "reversed": turned, "lost": lost, "new": new}
            counted = [int(clear.get((str(measure), judge), 0)) for judge in judges]
            parts.append(pd.DataFrame(columns).assign(clear=counted, pairs=found.n_pairs))
        return pd.concat(parts, ignore_index=True)

    def answer(self) -> str:
        """Say which judge ranks runs most like the reference, and whether it reverses conclusions."""
        found, reference = self.agreements[0], self.sets[0]
        result = found.results[0]
        best = result.rank()[0]
        if np.isnan(result.values[best]):
            return f"The ranking of runs by {reference} cannot be compared with any other."
        name, number = str(found.measures[best]), f"(τ {result.values[best]:.2f})"
        ranks = "ranks runs" if len(found.measures) == 1 else "ranks runs most"
        turned = int(found.pairs[best, 1])
        ending = f"but reverses {format_count(turned, 'conclusion')}" if turned else "and reverses no conclusion"
        if len(found.measures) == 1 and result.values[best] < 0.5:
            return f"{name} ranks runs unlike {reference} {number} {ending.replace('but', 'and')}."
        return f"{name} {ranks} like {reference} {number} {ending}."

    def to_table(self) -> Table:
        """Return all measures and judges with intervals and counts."""
        frame = self.to_frame()
        if len(self.measures) == 1:
            frame = frame.drop(columns="measure").set_index("judge")
        else:
            frame = frame.set_index("measure")
        symbol = self.agreements[0].results[0].title.partition(",")[0]
        frame = frame.rename(columns={"tau": symbol})
        legend = (
            f"{symbol}: of the rankings of runs, low and high its {100 * self.confidence:g} % interval over topics; ceiling: what "
            f"{self.sets[0]} reaches on topics drawn anew. Of the pairs of runs that {self.sets[0]} finds significant "
            f"(bootstrap-t, α = {self.alpha:g}), the judge finds the same (kept), the opposite (reversed), or nothing (lost); new: "
            f"only the judge finds it. Clear: flips whose change is significant itself. {self.no_interval}"
        )
        return Table(frame, f"Conclusions about runs, compared with those of {self.sets[0]}.", self.signature, legend=legend.strip())

    def short_tables(self) -> list[Table]:
        """Return by measure the rank correlation and the flips of every judge, then families and groups if they were asked for."""
        return [*map(self._sum_up, range(len(self.measures))), *self._tabulate_favours(), *self._tabulate_pools()]

    def to_summary(self) -> Table:
        """Return the first measure's rank correlations and flips."""
        return self._sum_up(0)

    def _sum_up(self, m: int) -> Table:
        found, frame = self.agreements[m], self.to_frame()
        rows = frame[frame["measure"] == str(self.measures[m])].iloc[found.results[0].rank()]
        symbol = found.results[0].title.partition(",")[0]
        shown = {symbol: rows["tau"]}
        if rows["low"].notna().any():
            shown["interval"] = [f"{low:.2f} – {high:.2f}" for low, high in zip(rows["low"], rows["high"], strict=True)]
        shown |= {name: rows[name] for name in ("reversed", "lost", "new")}
        significant = int(rows.iloc[0][["kept", "reversed", "lost"]].sum())
        caption = (
            f"{self.measures[m]}: {self.sets[0]} finds {significant:,} of {found.n_pairs:,} pairs of runs significant; "
            "what judges reverse or lose of them, and find besides (new)."
        )
        return Table(pd.DataFrame(shown).set_index(pd.Index(rows["judge"], name="judge")), caption, self.signature)

    def _tabulate_favours(self) -> list[Table]:
        if self.favours.empty:
            return []
        own = self.favours[self.favours["own"]]
        shown = pd.DataFrame(
            {
                "model": own["model"],
                **{
                    heading: [
                        f"{value:+.3f}" + ("" if np.isnan(low) else f" [{low:+.3f}, {high:+.3f}]")
                        for value, low, high in own[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
                    ]
                    for name, heading in (("favour", "favour"), ("at_same_score", "at the same score"))
                },
            }
        )
        if len(self.measures) > 1:
            shown.insert(0, "measure", own["measure"])
        caption = "How much judges favour runs of their own model: difference in differences, then at the reference's score."
        return [Table(shown.set_index(pd.Index(own["judge"], name="judge")), caption, self.signature)]

    def _tabulate_pools(self) -> list[Table]:
        if self.pools.empty:
            return []
        rows = self.pools[self.pools["measure"] == str(self.measures[0])]
        rows = rows.iloc[np.argsort(rows["change"].abs().to_numpy(), kind="stable")[::-1]].set_index("group")
        shown = rows[["unique", "relevant", "change", "ranks_lost"]].rename(columns={"ranks_lost": "ranks lost"})
        caption = f"{self.measures[0]} of a group's runs if it had added nothing to the pool; those that change most."
        return [Table(shown.head(MOST_GROUPS), caption, self.signature)]

    def detail_tables(self) -> list[Table]:
        """Return grades, unjudged documents, families, groups, and the runs and topics that move most by the first measure."""
        found = self.agreements[0]
        names = [str(found.measures[m]) for m in found.results[0].rank()]
        grades = self.grades.drop(columns=[name for name in self.grades if name.endswith(("_low", "_high"))])
        return [
            Table(grades.set_index("judge"), f"Grades of documents, compared with those of {self.sets[0]}.", self.signature),
            Table(self.unjudged.set_index("judge"), "Documents without a grade, and what they cost runs.", self.signature),
            *self._tabulate_favours(),
            *self._tabulate_pools(),
            *tabulate_disagreement(found.runs(), found.topics(), names, self.sets[0], self.signature),
        ]

    def details(self) -> dict[str, pd.DataFrame]:
        """Return flips, grades, unjudged documents, differences of judges, runs and topics, and families and groups if any."""
        frames = {"flips": self.flips, "grades": self.grades, "unjudged": self.unjudged}
        for name in ("differences", "runs", "topics"):
            parts = [getattr(found, name)() for found in self.agreements]
            named = [
                part.rename(columns={"measure": "judge", "measure_1": "judge_1", "measure_2": "judge_2"}).assign(measure=str(one))
                for one, part in zip(self.measures, parts, strict=True)
            ]
            frames[name] = pd.concat(named, ignore_index=True)
        frames |= {"family": self.favours} if len(self.favours) else {}
        return frames | ({"groups": self.pools} if len(self.pools) else {})

    def charts(self) -> Sequence[IntervalChart]:
        """Return, by the first measure, the rank correlation of every judge, and which conclusions it loses and adds."""
        return self._draw_measure(0)

    def _draw_measure(self, m: int) -> list[IntervalChart]:
        found, frame = self.agreements[m], self.to_frame()
        rows = frame[frame["measure"] == str(self.measures[m])].iloc[found.results[0].rank()]
        level = found.results[0].ceiling
        charts = [
            IntervalChart(
                [
                    Row(str(one.judge), str(one.judge), one.tau, line=None if np.isnan(one.low) else (one.low, one.high))
                    for one in rows.itertuples()
                ],
                f"{found.results[0].title.partition(',')[0]} with {self.sets[0]}",
                str(self.measures[m]),
                levels=[(level, "--")] if np.isfinite(level) else [],
            )
        ]
        shares = (
            ("lost or reversed", rows["lost"] + rows["reversed"], rows["kept"] + rows["lost"] + rows["reversed"]),
            ("new, of the judge's", rows["new"], rows["kept"] + rows["new"] + rows["reversed"]),
        )
        for label, part, whole in shares:
            share = (part / whole.where(whole > 0)).fillna(0.0)
            bars = [Row(str(name), str(name), one) for name, one in zip(rows["judge"], share, strict=True)]
            charts.append(IntervalChart(bars, f"share {label}", filled=True, limits=(0.0, max(0.05, 1.25 * share.max()))))
        return charts

    def more_figures(self) -> dict[str, Callable[..., Figure]]:
        """Return the same figure by each further measure."""
        return {
            re.sub(r"[^\w.-]", "-", str(measure)): partial(self._plot_measure, m)
            for m, measure in enumerate(self.measures)
            if m
        }

    def _plot_measure(self, m: int, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        from metaeval.show.drawing import draw_charts

        return draw_charts(self._draw_measure(m), self.signature if signature else None, ax=ax, size=size)
