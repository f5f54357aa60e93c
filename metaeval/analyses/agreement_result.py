"""The result of `agreement`: its tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_estimates import StatisticAgreement, write_ends
from metaeval.analyses.disagreement import Disagreement, tabulate_disagreement
from metaeval.analyses.result import FormerResult
from metaeval.analyses.variation import tabulate_conclusions, tabulate_differences
from metaeval.errors import MetaevalError, format_count, format_list
from metaeval.measures.base import Measure
from metaeval.show.charts import HeatMap, IntervalChart, Row
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.other_runs import ELSEWHERE, Over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

_LARGEST_MAP = 16  # measures of which a heat map can show the numbers


def _stack(name: str, axis: int = 0) -> Any:
    """Return a property: what every statistic's result calls so, as one array with the statistics on an axis."""
    return property(lambda agreement: np.stack([getattr(result, name) for result in agreement.results], axis=axis))


@dataclass(frozen=True, eq=False)
class Agreement(FormerResult):
    """How measures agree with a reference.

    What each of `results` holds is an array over statistics too, first axis first: ``values[s, m]``, ``low``, ``high``,
    ``chance``, ``ceiling``, ``p_values``, ``clusters``, ``exchanged``, ``gap_ends``; ``by_collection[c, s, m]``.

    Parameters
    ----------
    measures : tuple of Measure
        All but the reference.
    results : tuple of StatisticAgreement
        Of every statistic.
    disagreements : tuple of Disagreement
        Of every collection, where measures and reference differ.
    no_interval : str
        Why there is no interval, or which ones are missing, if they were asked for.
    over : {"topics", "runs and topics"}
        What intervals speak of.
    is_noise : bool
        Whether the randomised Tukey HSD test finds no two runs that the reference tells apart.
    """

    collections: tuple[str, ...]
    measures: tuple[Measure, ...]
    reference: Measure
    results: tuple[StatisticAgreement, ...]
    alpha: float
    confidence: float
    signature: Signature
    disagreements: tuple[Disagreement, ...]
    no_interval: str = ""
    over: Over = "topics"
    is_noise: bool = False

    def __repr__(self) -> str:
        where = ", ".join(filter(None, self.collections)) or "scores"
        return f"Agreement: {len(self.measures)} measures with {self.reference}, {where}"

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics, as they were asked for."""
        return tuple(result.name for result in self.results)

    @property
    def _names(self) -> list[str]:
        return [str(measure) for measure in self.measures]

    values = _stack("values")
    low, high, gap_ends = _stack("low"), _stack("high"), _stack("gap_ends")
    chance, ceiling = _stack("chance"), _stack("ceiling")
    p_values, clusters, exchanged = _stack("p_values"), _stack("clusters"), _stack("exchanged")
    by_collection = _stack("by_collection", axis=1)

    def to_frame(self) -> pd.DataFrame:
        """Return every statistic of every measure.

        Shape (statistic · measure, 9): columns statistic, measure, value, low, high, chance, ceiling, cluster,
        better_than: how many of the other measures, by the intervals of `differences`.
        """
        parts = [
            pd.DataFrame(
                {
                    "statistic": result.name,
                    "measure": self._names,
                    "value": result.values,
                    **{name: getattr(result, name) for name in ("low", "high", "chance", "ceiling")},
                    "cluster": result.clusters,
                    "better_than": result.better.sum(axis=1),
                }
            )
            for result in self.results
        ]
        return pd.concat(parts, ignore_index=True)

    def differences(self) -> pd.DataFrame:
        """Is one measure better than another? The difference of every two, with its interval and the exchange test's p.

        The interval is paired: both measures on the same resampled topics. Overlapping intervals of the two say less.

        Shape (statistic · pair of measures, 10): columns statistic, measure_1, measure_2, difference, low, high,
        better (the measure that is if the interval leaves 0 out, and "cannot tell" otherwise), p_first (one-sided,
        for the first measure being no better), p_second and conclusion: whether both agree alike, up to the margin.
        Of several collections also collections_low and collections_high, the interval where collections might be
        others.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        parts = []
        for result in self.results:
            gap, p = result.values[first] - result.values[second], result.p_values
            frame = tabulate_differences(self.measures, gap, result.gap_ends[0], result.gap_ends[1], "better")
            frame.insert(0, "statistic", result.name)
            frame = frame.assign(
                p_first=p[first, second], p_second=p[second, first], conclusion=list(result.conclusions)
            )
            if len(self.collections) > 1:
                low, high = result.collection_gap_ends
                frame = frame.assign(collections_low=low, collections_high=high)
            parts.append(frame)
        return pd.concat(parts, ignore_index=True)

    def answer(self) -> str:
        """Say which measure agrees best with the reference, and how many may be as good."""
        result, reference = self.results[0], str(self.reference)
        best = result.rank()[0]
        if np.isnan(result.values[best]):
            return f"Agreement with {reference} is not defined."
        found = f"{self.measures[best]} agrees best with {reference} ({result.title} {result.values[best]:.2f})"
        if self.is_noise:
            return f"{reference} tells no two runs apart: agreement with it may be chance. {found.replace(' best', ' most')}."
        if result.without_signal and not (result.high < result.chance).all():
            most = f"{self.measures[best]} {result.values[best]:.2f}, chance {result.chance:.2f}"
            return f"No measure is shown to agree with {reference} better than chance ({result.title}: {most})."
        if len(self.measures) == 1:
            return f"{found.replace(' best', '')}."
        if np.isnan(result.low[~np.isnan(result.values)]).any():
            return f"{found}; without intervals it is unknown whether others are as good."
        if (result.high < result.chance).all():
            return f"Every measure agrees with {reference} less than chance: is its direction right?"
        rivals = int((result.beaten == 0).sum()) - 1
        others = f"{format_count(rivals, 'other')} may be as good" if rivals > 0 else "no other is as good"
        return f"{found}; {others}."

    def annotators(self) -> pd.DataFrame:
        """How well do annotators agree with each other, if the reference is their mean?

        Shape (statistic, 2): columns statistic and halves, what half of the annotators reach against the other half.
        Without annotators it has no rows.
        """
        rows = [(result.name, result.halves) for result in self.results]
        return pd.DataFrame(rows, columns=["statistic", "halves"]).dropna()

    def over_collections(self) -> pd.DataFrame:
        """Where do the values lie if collections might be others, too?

        Shape (statistic · measure, 5): columns statistic, measure, value, low and high; NaN of few collections.
        """
        columns = ["statistic", "measure", "value", "low", "high"]
        parts = [
            (each.name, *row)
            for each in self.results
            for row in zip(self._names, each.values, *each.collection_ends, strict=True)
        ]
        return pd.DataFrame(parts, columns=columns)

    def runs(self) -> pd.DataFrame:
        """Which runs do measures and reference rank differently?

        Shape (run · measure, 8): columns collection, run, measure, score, reference_score, rank (from 1, the best),
        reference_rank and difference (above 0: the measure ranks the run worse), the largest differences of a
        collection first.
        """
        return self._join(Disagreement.list_runs)

    def topics(self) -> pd.DataFrame:
        """On which topics do measures rank the runs otherwise than the reference does?

        Shape (topic · measure, 4): columns collection, topic, measure and tau_b of the runs' scores on that topic,
        the lowest of a collection first; NaN, where the measure or the reference ties all runs, last.
        """
        return self._join(Disagreement.list_topics)

    def _join(self, tabulate: Callable[[Disagreement, Sequence[str]], pd.DataFrame]) -> pd.DataFrame:
        frames = [tabulate(disagreement, self._names) for disagreement in self.disagreements]
        for frame, collection in zip(frames, self.collections, strict=True):
            frame.insert(0, "collection", collection)
        return pd.concat(frames)

    def details(self) -> dict[str, pd.DataFrame]:
        """Return differences between measures, runs, topics, and each of several collections."""
        frames = {"differences": self.differences(), "runs": self.runs(), "topics": self.topics()}
        if len(self.collections) > 1:
            labels = [self.collections, self.statistics, self._names]
            index = pd.MultiIndex.from_product(labels, names=["collection", "statistic", "measure"])
            frames["collections"] = index.to_frame(index=False).assign(value=self.by_collection.ravel())
            frames["over_collections"] = self.over_collections()
        if len(self.annotators()):
            frames["annotators"] = self.annotators()
        return frames

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data that JSON can hold, as every result does."""
        plain = super().to_dict()
        plain["settings"]["statistics"] = list(self.statistics)
        return plain

    def to_table(self) -> Table:
        """Return all statistics of all measures, in bold those than which none is better, with chance and ceiling below.

        Better is judged by the intervals of `differences`; without intervals nothing is bold, where no measure is better than
        any other only the best, and where none is better than chance none.
        """
        rows, columns = self.results[0].rank(), [result.title for result in self.results]
        index = [self._names[m] for m in rows]
        frame = pd.DataFrame(self.values.T[rows], index=index, columns=columns)
        below = pd.DataFrame([self.chance, self.ceiling], index=["(chance)", "(ceiling)"], columns=columns)
        frame = pd.concat([frame, below]).rename_axis("measure")
        marks = frame.astype(str).map(lambda _: "")
        leading = np.array([result.leading & (not self.is_noise) for result in self.results])
        marks.iloc[: len(rows), : len(columns)] = np.where(leading.T[rows], "bold", "")
        legend = f"{self._explain_bold()} {self.no_interval}"
        caption = f"Agreement with {self.reference}."
        return Table(frame, caption, self.signature, marks=lambda _: marks, legend=legend.strip())

    def short_tables(self) -> list[Table]:
        """Return the first statistic with its interval, who is better, and what papers report over topics."""
        first, rows = self.results[0], self.results[0].rank()
        shown: dict[str, Sequence[object]] = {first.title: [float(first.values[m]) for m in rows]}
        if np.isfinite(first.low).any():
            shown["interval"] = write_ends((first.low, first.high), rows)
            beaten = [first.beaten[m] for m in rows]
            shown["clearly better"] = [
                "" if np.isnan(n) else format_count(int(n), "other") if n else "none" for n in beaten
            ]
        for result in self.results[1:]:
            if result.name == "topic_tau_b":
                shown[result.title] = [float(result.values[m]) for m in rows]
        return [self._list(shown, f"Agreement with {self.reference}.")]

    def _list(self, columns: Mapping[str, Sequence[object]], caption: str, legend: str = "") -> Table:
        """Return a table with a row for each measure, the best first."""
        names = [self._names[m] for m in self.results[0].rank()]
        frame = pd.DataFrame(columns, index=pd.Index(names, name="measure"))
        return Table(frame, caption, self.signature, legend=legend)

    def _explain_bold(self) -> str:
        if len(self.measures) > 1 and not np.isfinite(self.gap_ends).any():
            return "Which measure is better is not said, as there are no intervals."
        level = f"{100 * self.confidence:g} % intervals"
        return (
            f"Bold: no other measure is better {self._where}, by {level} of the paired difference; where none is better than "
            "any other, only the best."
        )

    @property
    def _where(self) -> str:
        return "on these runs" if self.over == "topics" else "on runs of this kind"

    def to_summary(self) -> Table:
        """Return up to four statistics: the first three, which compare runs, and the last one."""
        titles = [result.title for result in self.results]
        table = self.to_table().take(titles if len(titles) <= 4 else [*titles[:3], titles[-1]])
        return replace(table, legend=f"{self._explain_bold()} {self.no_interval}".strip())

    def detail_tables(self) -> list[Table]:
        """Return what the command line prints below: the intervals, and which runs and topics disagree most."""
        tables = [*self._tabulate_intervals(), *self._tabulate_annotators(), *self._tabulate_collections()]
        if len(self.collections) == 1:
            names = [self._names[m] for m in self.results[0].rank()]
            tables += tabulate_disagreement(self.runs(), self.topics(), names, str(self.reference), self.signature)
        return tables

    def _tabulate_intervals(self) -> list[Table]:
        if np.isnan(self.low).all():
            return []
        rows = self.results[0].rank()
        ends = {each.title: write_ends((each.low, each.high), rows) for each in self.results}
        gaps = {each.title: each.write_gaps(rows) for each in self.results}
        level = f"{100 * self.confidence:g} % intervals"
        best = f"How far each measure is from the best one of a column, with {level}, both on the same topics."
        legend = (
            f"Better, {self._where}, is the measure whose interval leaves 0 out. That the best was chosen by these numbers "
            "favours it a little."
        )
        speaks = "over topics, for the same runs" if self.over == "topics" else ELSEWHERE[self.over]
        return [
            self._list(ends, f"{level} {speaks}."),
            self._list(gaps, best, legend),
        ]

    def explained_tables(self) -> list[Table]:
        """Return further whether measures agree as the best one does, by the first statistic."""
        first = self.results[0]
        if len(self.measures) == 1 or np.isnan(first.gap_ends).all():
            return super().explained_tables()
        caption = f"Differences of {first.title} {ELSEWHERE[self.over]}, and what is known of them."
        pairs = self.differences().query("statistic == @first.name").dropna(subset="low")
        best = str(self.measures[first.rank()[0]])
        listed = tabulate_conclusions(pairs, "difference", "difference", caption, self.signature, best)
        return [*super().explained_tables(), listed]

    def _tabulate_annotators(self) -> list[Table]:
        found = self.annotators()
        if not len(found):
            return []
        caption = "What half of the annotators reach against the other half."
        return [Table(found.set_index("statistic"), caption, self.signature)]

    def _tabulate_collections(self) -> list[Table]:
        if np.isnan(self.results[0].collection_ends).all():
            return []
        level = f"{100 * self.confidence:g} % intervals for other collections of the same kind"
        caption = f"{level}: these {len(self.collections)} are taken for a sample."
        ends = {each.title: write_ends(each.collection_ends, self.results[0].rank()) for each in self.results}
        return [self._list(ends, caption)]

    def count_beaten(self) -> np.ndarray:
        """Return how many measures are better than each, by the intervals of `differences`.

        Shape (statistic, measure): NaN where that is not known: the measure is not defined, or there are several and
        no interval.
        """
        return np.array([result.beaten for result in self.results])

    def plot(
        self, statistic: str | None = None, *, ax: Axis = None, size: Size = None, signature: bool = True
    ) -> Figure:
        """Draw the measures in the order of one statistic, with intervals; lines show chance and ceiling.

        Parameters
        ----------
        statistic : str, optional
            By default the first one.
        ax, size, signature
            As for every result.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from metaeval.show.drawing import draw_charts

        result = self._find(statistic)
        rows = []
        for m in np.argsort(np.nan_to_num(result.values, nan=-2.0), kind="stable").tolist():
            ends = None if np.isnan(result.low[m]) else (result.low[m], result.high[m])
            beaten = f" ({result.beaten[m]:.0f})" if np.isfinite(result.beaten[m]) else ""
            title = self.measures[m].title + beaten
            rows.append(Row(str(self.measures[m]), title, result.values[m], line=ends))
        label = f"{result.title} with {self.reference.title}"
        label += "; in brackets how many measures are better" if np.isfinite(result.beaten).any() else ""
        levels = ((result.chance, ":"), (result.ceiling, "--"))
        chart = IntervalChart(
            rows[::-1], label, levels=[(level, style) for level, style in levels if np.isfinite(level)],
            row_height=0.26 if len(rows) > 12 else 0.42,
        )  # fmt: skip
        return draw_charts(chart, self.signature if signature else None, ax=ax, size=size)

    def plot_differences(
        self, statistic: str | None = None, *, ax: Axis = None, size: Size = None, signature: bool = True
    ) -> Figure:
        """Draw a heat map of p-values: is the measure of the row better than that of the column?

        Parameters
        ----------
        statistic : str, optional
            By default the first one.
        ax, size, signature
            As for every result.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from metaeval.show.drawing import draw_charts

        result = self._find(statistic)
        rows, few = result.rank(), len(self.measures) <= _LARGEST_MAP
        names = [self.measures[m].title for m in rows]
        chart = HeatMap(
            result.p_values[np.ix_(rows, rows)], names, names, f"p of the exchange test, {result.title}",
            lambda p: f"{p:.3f}" if few and not np.isnan(p) else "", falling=True, diagonal=False,
        )  # fmt: skip
        return draw_charts(chart, self.signature if signature else None, ax=ax, size=size)

    def more_figures(self) -> dict[str, Callable[..., Figure]]:
        """Return the heat map of p-values by the first statistic."""
        return {"differences": self.plot_differences} if len(self.measures) > 1 else {}

    def _find(self, statistic: str | None) -> StatisticAgreement:
        if statistic is not None and statistic not in self.statistics:
            raise MetaevalError(f"{statistic!r} was not computed; there are {format_list(list(self.statistics))}")
        return self.results[0 if statistic is None else self.statistics.index(statistic)]
