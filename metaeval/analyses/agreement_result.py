"""The result of `agreement`: statistics pooled over collections, where measures and reference disagree, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from metaeval.analyses.result import Result, tabulate_conclusions, tabulate_differences
from metaeval.data.scores import Scores
from metaeval.errors import format_count, format_list
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.signature import Signature
from metaeval.show.table import Table, cross
from metaeval.stats.agreement import Estimate, Statistic
from metaeval.stats.intervals import ELSEWHERE, Ends, Over, centre_interval, judge_difference, pool
from metaeval.stats.letters import find_clusters, swap_p_values
from metaeval.stats.run_agreement import settle_ties

_MOST_ROWS, _MOST_COLUMNS = 5, 8  # of what is printed about runs and topics; exports hold everything


@dataclass(frozen=True, eq=False)
class StatisticAgreement:
    """How measures agree with a reference by one statistic, pooled over collections; what there is not is NaN.

    `values`, `low`, `high` and `clusters`, shape (measure,): the value, its interval over topics, and the significance
    cluster by the exchange tests, from 1. `observed` is what exchanges are compared with: `values`, but for rounding and the
    noise of the flips of spa. A measure that knows nothing reaches `chance`, the reference on topics drawn anew `ceiling`, and
    half of the annotators `halves` against the others. ``p_values[i, j]``, one-sided: how often exchanging measures i and j at
    random gives i as large a lead, by `exchanged`, shape (trial, measure pair). `gap_ends`, shape (2, measure pair), is the
    interval of the first less the second measure's value, paired, and `conclusions` say whether they agree with the
    reference alike. `by_collection` has shape (collection, measure).
    """

    name: str
    title: str
    values: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    chance: float
    ceiling: float
    halves: float
    p_values: np.ndarray
    clusters: np.ndarray
    exchanged: np.ndarray
    gap_ends: np.ndarray
    conclusions: tuple[str, ...]
    by_collection: np.ndarray

    @property
    def better(self) -> np.ndarray:
        """Whether measure i is better than measure j by the interval of their difference, shape (i, j)."""
        first, second = np.triu_indices(len(self.values), 1)
        better = np.zeros((len(self.values),) * 2, dtype=bool)
        better[first, second], better[second, first] = self.gap_ends[0] > 0, self.gap_ends[1] < 0
        return better

    @property
    def beaten(self) -> np.ndarray:
        """How many measures are better than each, shape (measure,); NaN where that is not known."""
        unknown = np.isnan(self.values)
        if len(self.values) > 1:
            known = np.isfinite(self.gap_ends).all(axis=0)
            of_pairs = np.stack(np.triu_indices(len(self.values), 1))[:, known]
            unknown |= np.bincount(of_pairs.ravel(), minlength=len(unknown)) == 0
        return np.where(unknown, np.nan, self.better.sum(axis=0))

    @property
    def without_signal(self) -> bool:
        """Whether there are intervals, and by them no measure is better than chance."""
        return not np.isnan(self.low).all() and not (self.low > self.chance).any()

    @property
    def leading(self) -> np.ndarray:
        """Whether no measure is better, shape (measure,): the best alone where none is better than any, none at chance."""
        best = (self.beaten > 0).any() | (self.values == self.values[self.rank()[0]])
        return (self.beaten == 0) & best & (not self.without_signal)

    def rank(self) -> list[int]:
        """Return the measures, best first; those for which the statistic is not defined come last."""
        return np.argsort(-np.nan_to_num(self.values, nan=-2.0), kind="stable").tolist()


def pool_estimates(
    statistic: Statistic, estimates: Sequence[Estimate], n_topics: int,
    *, alpha: float, confidence: float, simultaneous: bool, margin: float, over: Over,
) -> StatisticAgreement:  # fmt: skip
    """Pool one statistic over collections: pairs of runs are added, others averaged.

    Intervals are for `n_topics`, of the smallest collection, and there are some only if every collection was resampled.
    """
    share = np.array([each.n_pairs if statistic.kind == "pairwise_accuracy" else 1.0 for each in estimates])
    n_trials = min(len(each.drawn) for each in estimates)
    columns = zip(*(each._replace(drawn=each.drawn[:n_trials]) for each in estimates), strict=True)
    mean = Estimate._make(pool(list(column), share) for column in columns)
    # A correlation r is a share (r + 1)/2, whose ends next to 1 stay near it; others are shares.
    is_share = statistic.of in ("certainty", "pairs") or statistic.kind == "pairwise_accuracy"
    base, size = (0.0, 1.0) if is_share else (-1.0, 2.0)
    step = float((share / share.sum() * [each.step for each in estimates]).min()) / size
    options: dict[str, Any] = {"step": step, "student": False}
    value, values = ((numbers - base) / size for numbers in (mean.value, mean.drawn))
    low, high = base + size * np.array(
        centre_interval(value, values, n_topics, confidence=confidence, scale="share", **options)
    )
    first, second = np.triu_indices(len(value), 1)
    gap, gaps = ((numbers[..., first] - numbers[..., second]) / size for numbers in (mean.value, mean.drawn))
    # A difference that never moves is at least a step away from the ends.
    options |= {"least": step, "simultaneous": simultaneous}
    two_sided, one_sided = (
        size * np.array(centre_interval(gap, gaps, n_topics, confidence=level, **options))
        for level in (confidence, max(2 * confidence - 1, 0.0))
    )
    gap, margin = size * gap, size * margin
    words = judge_difference(gap, Ends(*two_sided), Ends(*one_sided), margin, n_topics, over)
    p_values = swap_p_values(mean.observed, mean.exchanged)
    return StatisticAgreement(
        statistic.name, statistic.title, mean.value, mean.observed, low, high,
        float(mean.chance), float(mean.ceiling), float(mean.halves),
        p_values, find_clusters(mean.value, p_values, alpha), mean.exchanged, two_sided, tuple(words),
        by_collection=np.array([each.value for each in estimates]),
    )  # fmt: skip


def _stack(name: str, axis: int = 0) -> Any:
    """Return a property: what every statistic's result calls so, as one array with the statistics on an axis."""
    return property(lambda agreement: np.stack([getattr(result, name) for result in agreement.results], axis=axis))


@dataclass(frozen=True, eq=False, kw_only=True)
class Agreement(Result):
    """How measures agree with a reference.

    Its rows (`to_frame`) have columns statistic, measure, value, low, high, chance, ceiling, cluster, and better_than: how many
    of the other measures, by the intervals of `differences`. What each of `results` holds is an array over statistics too,
    first axis first: ``values[s, m]``, ``low``, ``high``, ``chance``, ``ceiling``, ``p_values``, ``clusters``, ``exchanged``,
    ``gap_ends``; ``by_collection[c, s, m]``.

    Parameters
    ----------
    measures : tuple of Measure
        All but the reference.
    disagreements : tuple of dict of str to DataFrame
        Of every collection, the runs and the topics where measures and reference differ.
    is_noise : bool
        Whether the randomised Tukey HSD test finds no two runs that the reference tells apart.
    """

    collections: tuple[str, ...]
    measures: tuple[Measure, ...]
    reference: Measure
    statistics: tuple[str, ...]
    results: tuple[StatisticAgreement, ...]
    alpha: float
    confidence: float
    disagreements: tuple[dict[str, pd.DataFrame], ...]
    over: Over = "topics"
    is_noise: bool = False

    values, low, high, gap_ends = _stack("values"), _stack("low"), _stack("high"), _stack("gap_ends")
    chance, ceiling, clusters = _stack("chance"), _stack("ceiling"), _stack("clusters")
    p_values, exchanged, beaten = _stack("p_values"), _stack("exchanged"), _stack("beaten")
    by_collection = _stack("by_collection", axis=1)

    def answer(self) -> str:
        """Say which measure agrees best with the reference, how many may be as good, and which are not better than chance.

        That no other is as good is known for these runs, unless intervals are of other runs too.
        """
        result, reference = self.results[0], str(self.reference)
        best = result.rank()[0]
        if np.isnan(result.values[best]):
            return f"Agreement with {reference} is not defined."
        most = f"{self.measures[best]} agrees best with {reference} ({result.title} {result.values[best]:.2f})"
        if self.is_noise:
            return f"{reference} tells no two runs apart: agreement with it may be chance. {most.replace(' best', ' most')}."
        if result.without_signal and not (result.high < result.chance).all():
            best_value = f"{self.measures[best]} {result.values[best]:.2f}, chance {result.chance:.2f}"
            return f"No measure is shown to agree with {reference} better than chance ({result.title}: {best_value})."
        if len(self.measures) == 1:
            return f"{most.replace(' best', '')}."
        if np.isnan(result.low[~np.isnan(result.values)]).any():
            return f"{most}; without intervals it is unknown whether others are as good."
        if (result.high < result.chance).all():
            return f"Every measure agrees with {reference} less than chance: is its direction right?"
        rivals = int((result.beaten == 0).sum()) - 1
        others = f"{format_count(rivals, 'other')} may be as good" if rivals > 0 else "no other is as good"
        where = " on these runs" if self.over == "topics" else ""
        chancy = [str(measure) for measure, low in zip(self.measures, result.low, strict=True) if low <= result.chance]
        if not chancy or result.without_signal:
            return f"{most}; {others}{where}."
        verb = "is" if len(chancy) == 1 else "are"
        return f"{most}; {others}{where}. {format_list(chancy, 3)} {verb} not shown to be better than chance."

    def differences(self) -> pd.DataFrame:
        """Is one measure better than another? The difference of every two, with its paired interval and the exchange test's p.

        Columns statistic, measure_1, measure_2, difference, low, high, better (the measure that is if the interval leaves 0
        out, or "cannot tell"), p_first (one-sided, for the first measure being no better), p_second and conclusion: whether
        both agree alike, up to the margin.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        parts = []
        for each in self.results:
            gap, p, (low, high) = each.values[first] - each.values[second], each.p_values, each.gap_ends
            frame = tabulate_differences(self.measures, gap, low, high, "better").assign(
                p_first=p[first, second], p_second=p[second, first], conclusion=list(each.conclusions)
            )
            frame.insert(0, "statistic", each.name)
            parts.append(frame)
        return pd.concat(parts, ignore_index=True)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return every statistic of every measure, then `differences`, and where measures and reference disagree.

        runs and topics are those of `list_disagreement`, collection by collection. Of several collections there are also
        collections, the values of each; of a reference that is a mean also annotators: what half reach against the others.
        """
        names = [str(measure) for measure in self.measures]
        labels = {"statistic": self.statistics, "measure": names}
        rows = cross(
            labels, value=self.values, low=self.low, high=self.high, chance=self.chance[:, np.newaxis],
            ceiling=self.ceiling[:, np.newaxis], cluster=self.clusters,
            better_than=[each.better.sum(axis=1) for each in self.results],
        )  # fmt: skip
        frames = {"rows": rows, "differences": self.differences()}
        for what in ("runs", "topics"):
            frames[what] = pd.concat([disagreement[what] for disagreement in self.disagreements])
        if len(self.collections) > 1:
            frames["collections"] = cross({"collection": self.collections, **labels}, value=self.by_collection)
        halves = [(each.name, each.halves) for each in self.results]
        annotators = pd.DataFrame(halves, columns=["statistic", "halves"]).dropna()
        return frames | ({"annotators": annotators} if len(annotators) else {})

    def tables(self) -> list[Table]:
        """Return the first statistic with its interval, then all of them, and what is known of measures, runs and topics.

        Bold is the measure than which none is better, by the intervals of `differences`; without intervals nothing is bold,
        where no measure is better than any other only the best, and where none is better than chance none. Papers have room
        for four statistics: the first three, which compare runs, and the last one.
        """
        first, rows, frames = self.results[0], self.results[0].rank(), self.frames()
        names, level = [str(self.measures[m]) for m in rows], f"{100 * self.confidence:g} % intervals"
        here = self.over == "topics"

        def tabulate(columns: Mapping[str, Any], caption: str) -> Table:
            return Table(pd.DataFrame(columns, index=pd.Index(names, name="measure")), caption, self.signature)

        def write_ends(low: np.ndarray, high: np.ndarray) -> list[str]:
            return ["–" if np.isnan(low[m]) else f"{low[m]:.3f} – {high[m]:.3f}" for m in rows]

        shown: dict[str, Any] = {first.title: first.values[rows]}
        if np.isfinite(first.low).any():
            beaten = first.beaten[rows]
            counted = [format_count(int(n), "other") if n else "none" for n in np.nan_to_num(beaten)]
            shown["interval"] = write_ends(first.low, first.high)
            shown["clearly better"] = np.where(np.isnan(beaten), "", counted)
        shown |= {each.title: each.values[rows] for each in self.results[1:] if each.name == "topic_tau_b"}
        brief = tabulate(shown, f"Agreement with {self.reference}.")
        where = "these runs" if here else "runs of this kind"
        whole = self._tabulate_values(rows, f"on {where}, by {level} of the paired difference")
        titles = list(whole.frame.columns)
        paper = whole.take(titles if len(titles) <= 4 else [*titles[:3], titles[-1]])

        tables = [whole]
        if not np.isnan(self.low).all():
            ends = {each.title: write_ends(each.low, each.high) for each in self.results}
            speaks = "over topics, for the same runs" if here else ELSEWHERE[self.over]
            tables.append(tabulate(ends, f"{level} {speaks}."))
        if "annotators" in frames:
            caption = "What half of the annotators reach against the other half."
            tables.append(Table(frames["annotators"].set_index("statistic"), caption, self.signature))
        if len(self.collections) == 1:
            of_runs, of_topics, reference = frames["runs"], frames["topics"], str(self.reference)
            tables += tabulate_disagreement(of_runs, of_topics, names, reference, self.signature)
        if len(names) > 1 and not np.isnan(first.gap_ends).all():
            caption = f"Differences of {first.title} {ELSEWHERE[self.over]}, and what is known of them."
            pairs = frames["differences"].query("statistic == @first.name").dropna(subset="low")
            tables.append(tabulate_conclusions(pairs, "difference", "difference", caption, self.signature, names[0]))
        levels = [replace(brief, at=("short",)), replace(paper, at=("paper",))]
        return [*levels, *(replace(table, at=("all",)) for table in tables)]

    def _tabulate_values(self, rows: Sequence[int], better: str) -> Table:
        """Return all statistics of all measures, with chance and ceiling below."""
        titles = [result.title for result in self.results]
        frame = pd.DataFrame(self.values.T[rows], index=[str(self.measures[m]) for m in rows], columns=titles)
        below = pd.DataFrame([self.chance, self.ceiling], index=["(chance)", "(ceiling)"], columns=titles)
        frame = pd.concat([frame, below]).rename_axis("measure")
        marks = pd.DataFrame("", index=frame.index, columns=titles)
        leading = np.array([each.leading & (not self.is_noise) for each in self.results])
        marks.iloc[: len(rows)] = np.where(leading.T[rows], "bold", "")
        legend = f"Bold: no other measure is better {better}; where none is better than any other, only the best."
        if len(rows) > 1 and not np.isfinite(self.gap_ends).any():
            legend = "Which measure is better is not said, as there are no intervals."
        legend = f"{legend} {self.no_interval}".strip()
        return Table(frame, f"Agreement with {self.reference}.", self.signature, marks=lambda _: marks, legend=legend)

    def charts(self) -> Sequence[IntervalChart]:
        """Return the measures in the order of the first statistic, with chance and ceiling as lines."""
        result, rows = self.results[0], []
        for m in result.rank():
            ends = None if np.isnan(result.low[m]) else (result.low[m], result.high[m])
            beaten = f" ({result.beaten[m]:.0f})" if np.isfinite(result.beaten[m]) else ""
            rows.append(Row(str(self.measures[m]), self.measures[m].title + beaten, result.values[m], line=ends))
        label = f"{result.title} with {self.reference.title}"
        label += "; in brackets how many measures are better" if np.isfinite(result.beaten).any() else ""
        levels = [
            (level, style) for level, style in ((result.chance, ":"), (result.ceiling, "--")) if np.isfinite(level)
        ]
        return [IntervalChart(rows, label, levels=levels, row_height=0.26 if len(rows) > 12 else 0.42)]


def list_disagreement(
    scores: Scores, measures: Sequence[Measure], run_scores: np.ndarray, tau_b: np.ndarray
) -> dict[str, pd.DataFrame]:
    """Compare measures of one collection with their reference, the last of them: what disagrees most comes first.

    Runs and topics are in the order of their labels. Higher is better in `run_scores`, shape (run, measure), and listed are the
    measures' own scores. Ranks begin with 1, the best, and ties have their average; a difference is above 0 where a measure
    ranks the run worse than the reference does. `tau_b`, shape (measure, topic), is that of the runs' scores with the
    reference's; NaN, where one of them ties all runs, comes last.
    """
    names = [str(measure) for measure in measures[:-1]]
    ranks = pd.DataFrame(-settle_ties(run_scores)).rank(method="average").to_numpy()
    shown = run_scores * find_signs(measures)
    of_runs = cross(
        {"collection": [scores.collection], "run": sorted(scores.runs), "measure": names},
        score=shown[:, :-1], reference_score=shown[:, -1:], rank=ranks[:, :-1], reference_rank=ranks[:, -1:],
    )  # fmt: skip
    of_runs["difference"] = of_runs["rank"] - of_runs["reference_rank"]
    of_topics = cross(
        {"collection": [scores.collection], "topic": sorted(scores.topics), "measure": names}, tau_b=tau_b.T
    )
    far = np.argsort(-of_runs["difference"].abs().to_numpy(), kind="stable")
    low = np.argsort(of_topics["tau_b"].to_numpy(), kind="stable")
    frames = {"runs": of_runs.iloc[far], "topics": of_topics.iloc[low]}
    return {what: frame.reset_index(drop=True) for what, frame in frames.items()}


def tabulate_disagreement(
    runs: pd.DataFrame, topics: pd.DataFrame, measures: Sequence[str], reference: str, signature: Signature
) -> list[Table]:
    """Return the runs and the topics of one collection that disagree most, by the first of the measures named."""
    names = list(measures[:_MOST_COLUMNS])
    best = f", the {_MOST_COLUMNS} best measures" if len(names) < len(measures) else ""
    differences = runs.pivot(index="run", columns="measure", values="difference")[names]
    far = np.argsort(-differences.abs().max(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
    tau = topics.pivot(index="topic", columns="measure", values="tau_b")[names]
    low = np.argsort(tau.mean(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
    farthest = f"Runs that disagree most: rank by the measure less rank by {reference}{best}."
    lowest = f"Topics that disagree most: τ_b of the runs' scores with those of {reference}{best}."
    return [Table(differences.iloc[far], farthest, signature, digits=1), Table(tau.iloc[low], lowest, signature)]
