"""Which measures are right? Agreement with a reference, such as human scores, an expert's labels, or a trusted measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import remark_copies
from metaeval.analyses.power import discriminative_power
from metaeval.analyses.prepare import Prepared, Within, check_options, list_collections, prepare, warn_of_same_data
from metaeval.analyses.references import match_references
from metaeval.analyses.result import Result, join_names, tabulate_conclusions, tabulate_differences, write_ends
from metaeval.data.policies import MissingPolicy, check_policy
from metaeval.data.scores import PartialScores, Scores
from metaeval.errors import DataError, MetaevalError, format_count, format_list, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.signature import sign
from metaeval.show.table import Table, cross
from metaeval.stats.agreement import (
    BY_DEFAULT,
    STATISTICS,
    Estimate,
    Sides,
    Statistic,
    StatisticAgreement,
    compare_halves,
    parse_statistic,
    pool_estimates,
)
from metaeval.stats.arrays import scale_scores
from metaeval.stats.intervals import ELSEWHERE, Over, explain_no_interval
from metaeval.stats.resampling import code_clusters
from metaeval.stats.streams import generator, rank_labels, stream_key

ENOUGH_TOPICS = 60
"""With fewer, a result says that intervals of statistics of runs may be too narrow: docs/concepts/agreement.md."""

ERRING_TESTS = ("spa", "pearson", "topic_pearson", "topic_tau_b", "topic_spearman", "acc_t", "tau_ap_b")
"""Statistics whose exchange tests call one of two equally good measures better too often: docs/concepts/agreement.md."""


def _stack(name: str) -> Any:
    """Return a property: what every statistic's result calls so, as one array with the statistics on the first axis."""
    return property(lambda agreement: np.stack([getattr(result, name) for result in agreement.results]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Agreement(Result):
    """How measures agree with a reference.

    Its rows (`to_frame`) have columns statistic, measure, value, low, high, chance, ceiling, cluster, and better_than: how many
    of the other measures, by the intervals of `differences`. What each of `results` holds is an array over statistics too, as
    ``values[s, m]``. `is_noise` says that the randomised Tukey HSD test finds no two runs that the reference tells apart.
    """

    collections: tuple[str, ...]
    measures: tuple[Measure, ...]
    reference: Measure
    statistics: tuple[str, ...]
    results: tuple[StatisticAgreement, ...]
    alpha: float
    confidence: float
    margin: float
    over: Over = "topics"
    is_noise: bool = False

    values, low, high, gap_ends = _stack("values"), _stack("low"), _stack("high"), _stack("gap_ends")
    chance, ceiling, clusters = _stack("chance"), _stack("ceiling"), _stack("clusters")
    p_values, exchanged, beaten = _stack("p_values"), _stack("exchanged"), _stack("beaten")

    @property
    def lead(self) -> StatisticAgreement:
        """The first statistic, or soft pairwise accuracy where only that has intervals, as run scores are given."""
        known = [each for each in self.results if each.name == "spa" and np.isfinite(each.low).any()]
        return known[0] if known and np.isnan(self.results[0].low).all() else self.results[0]

    def answer(self) -> str:
        """Say which measure agrees best with the reference, how many may be as good, and which are not better than chance."""
        result, reference = self.lead, str(self.reference)
        best = result.rank()[0]
        if np.isnan(result.values[best]):
            return f"Agreement with {reference} is not defined."
        names = np.array([str(measure) for measure in self.measures])
        tied = names[result.values == result.values[best]].tolist()
        who = f"{join_names(tied)} agree{'s' * (len(tied) == 1)}"
        most = f"{who} best with {reference} ({result.title} {result.values[best]:.2f})"
        if self.is_noise:
            return f"{reference} tells no two runs apart: agreement with it may be chance. {most.replace(' best', ' most')}."
        if result.without_signal and not (result.high < result.chance).all():
            best_value = f"{self.measures[best]} {result.values[best]:.2f}, chance {result.chance:.2f}"
            return f"No measure is shown to agree with {reference} better than chance ({result.title}: {best_value})."
        worse = result.high < result.chance
        turned = ~np.any([each.above_chance for each in self.results], axis=0)  # perhaps: nothing speaks against it
        if len(self.measures) == 1 and result.values[best] < result.chance:
            value = f"{result.title} {result.values[best]:.2f}"
            other = "lower" if self.measures[best].sign > 0 else "higher"
            asked = f": is {other} better?" if turned[best] else ", but not by every statistic."
            return f"{self.measures[best]} agrees with {reference} less than chance ({value}){asked}"
        if len(self.measures) == 1:
            return f"{most.replace(' best', '')}."
        if np.isnan(result.low[~np.isnan(result.values)]).any():
            return f"{most}; without intervals it is unknown whether others are as good."
        if worse.all():
            asked = ": is its direction right?" if turned.all() else f" by {result.title}, but not by every statistic."
            return f"Every measure agrees with {reference} less than chance{asked}"
        rivals = int((result.beaten == 0).sum()) - len(tied)
        others = f"{format_count(rivals, 'other')} may be as good" if rivals > 0 else "no other is as good"
        where = " on these runs" if self.over == "topics" else ""
        sentences = [f"{most}; {others}{where}."]
        if chancy := names[(result.low <= result.chance) & (result.chance <= result.high)].tolist():
            verb = "is" if len(chancy) == 1 else "are"
            sentences.append(f"{format_list(chancy, 3)} {verb} not shown to be better than chance.")
        if asked := names[worse & turned].tolist():
            one, several = "agrees less than chance: is its direction", "agree less than chance: are their directions"
            sentences.append(f"{format_list(asked, 3)} {several if len(asked) > 1 else one} right?")
        if opposite := names[worse & ~turned].tolist():
            of_runs = parse_statistic(result.name).of in ("runs", "certainty")
            verb, how = "agree", "less than chance"
            if of_runs:
                verb, how = "order", f"most pairs of runs opposite to {reference}"
            sentences.append(f"{format_list(opposite, 3)} {verb}{'s' * (len(opposite) == 1)} {how}.")
        return " ".join(sentences)

    def differences(self) -> pd.DataFrame:
        """Return by statistic the difference of every two measures, which is better, and p of exchanges, one-sided for each."""
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
        """Return every statistic of every measure, differences, and what halves of annotators reach, if there are any."""
        rows = cross(
            {"statistic": self.statistics, "measure": list(map(str, self.measures))},
            value=self.values, low=self.low, high=self.high, chance=self.chance[:, np.newaxis],
            ceiling=self.ceiling[:, np.newaxis], cluster=self.clusters,
            better_than=[each.better.sum(axis=1) for each in self.results],
        )  # fmt: skip
        frames = {"rows": rows, "differences": self.differences()}
        halves = {"statistic": self.statistics, "halves": [each.halves for each in self.results]}
        annotators = pd.DataFrame(halves).dropna()
        return frames | ({"annotators": annotators} if len(annotators) else {})

    def tables(self) -> list[Table]:
        """Return the first statistic with its interval, then all; papers have room for four: the first three, and the last.

        Bold is a measure than which none is better, but only the best where none is better than any other, and none at chance.
        """
        first, rows, frames = self.lead, self.lead.rank(), self.frames()
        index, titles = pd.Index([str(self.measures[m]) for m in rows], name="measure"), [r.title for r in self.results]
        here, level = self.over == "topics", f"{100 * self.confidence:g} % intervals"
        ends = {each.title: list(map(write_ends, each.low[rows], each.high[rows])) for each in self.results}
        shown: dict[str, Any] = {first.title: first.values[rows]}
        if np.isfinite(first.low).any():
            shown["interval"] = ends[first.title]
            beaten = first.beaten[rows]
            shown["others better than it"] = ["" if np.isnan(n) else f"{n:.0f}" if n else "none" for n in beaten]
        shown |= {each.title: each.values[rows] for each in self.results[1:] if each.name == "topic_tau_b"}
        below = pd.DataFrame([self.chance, self.ceiling], ["(chance)", "(ceiling)"], titles)
        frame = pd.concat([pd.DataFrame(self.values.T[rows], index, titles), below]).rename_axis("measure")
        marks = pd.DataFrame("", index=frame.index, columns=titles)
        for each in self.results:
            best = (each.beaten > 0).any() | (each.values == each.values[each.rank()[0]])
            bold = (each.beaten == 0) & best & (not each.without_signal and not self.is_noise)
            marks.loc[index, each.title] = np.where(bold[rows], "bold", "")
        marked = f"Bold: no other measure is better, by {level}; where none is better than any other, only the best."
        legend = (
            "Chance: what a measure that knows nothing reaches. Ceiling: the mean of the reference itself on new topics, "
            f"which a measure may exceed by luck. {self.no_interval}".strip()
        )
        caption = f"Agreement with {self.reference}."
        whole = Table(frame, caption, self.signature, marks=lambda _: marks, legend=legend, marked=marked, at=("all",))
        paper = replace(whole.take(titles if len(titles) <= 4 else [*titles[:3], titles[-1]]), at=("paper",))
        told = " Pairwise accuracy: share of pairs of runs in its order." * (first.name == "pairwise_accuracy")
        told += f" {level} are each by itself; others better than it: by paired differences." * ("interval" in shown)
        tables = [Table(pd.DataFrame(shown, index), caption + told, self.signature, at=("short",)), paper, whole]
        if not np.isnan(self.low).all():
            speaks = "over topics, for the same runs" if here else ELSEWHERE[self.over]
            tables.append(Table(pd.DataFrame(ends, index), f"{level} {speaks}.", self.signature, at=("all",)))
        if "annotators" in frames:
            caption = "What half of the annotators reach against the other half."
            tables.append(Table(frames["annotators"].set_index("statistic"), caption, self.signature, at=("all",)))
        if len(rows) > 1 and not np.isnan(first.gap_ends).all():
            known = f"what is known of them (margin: {100 * self.margin:g} % of its range)"
            caption = f"Differences of {first.title} {ELSEWHERE[self.over]}, and {known}."
            pairs = frames["differences"].query("statistic == @first.name").dropna(subset="low")
            about = "difference", "difference", caption, self.confidence, self.signature, index[0]
            tables.append(tabulate_conclusions(pairs, *about))
        return tables

    def charts(self) -> Sequence[IntervalChart]:
        """Return the measures in the order of the first statistic, with chance and ceiling as lines."""
        result, rows = self.lead, []
        for m in result.rank():
            measure, ends = self.measures[m], (result.low[m], result.high[m])
            beaten = f" ({result.beaten[m]:.0f})" if np.isfinite(result.beaten[m]) else ""
            line = None if np.isnan(ends[0]) else ends
            rows.append(Row(str(measure), measure.title + beaten, result.values[m], line=line))
        label = f"{result.title} with {self.reference.title}"
        label += "; in brackets how many measures are better" if np.isfinite(result.beaten).any() else ""
        lines = ((result.chance, ":", "dotted: chance"), (result.ceiling, "--", "dashed: ceiling"))
        levels = [(level, style) for level, style, _ in lines if np.isfinite(level)]
        label = "; ".join([label, *(name for level, _, name in lines if np.isfinite(level))])
        return [IntervalChart(rows, label, levels=levels, row_height=0.26 if len(rows) > 12 else 0.42)]


def agreement(
    scores: Scores | Sequence[Scores],
    *,
    reference: str | Measure | Scores | Sequence[Scores],
    run_scores: Scores | Sequence[Scores] | None = None,
    reference_measure: str | None = None,
    annotators: bool = False,
    statistics: Sequence[str] | None = None,
    missing: MissingPolicy = "raise",
    n_permutations: int = 1000,
    n_bootstrap: int = 1000,
    alpha: float = 0.05,
    confidence: float = 0.95,
    margin: float = 0.05,
    over: Over = "topics",
    distinct_runs: bool = False,
    seed: int = 0,
) -> Agreement:
    """Which measures agree best with a reference?

    Parameters
    ----------
    scores : Scores or sequence of Scores
        At least two runs and two topics. Several collections with the same measures are pooled: pairwise accuracy adds
        pairs of runs, other statistics are averaged.
    reference : str, Measure, Scores or sequence of Scores
        The name of a measure in the scores, or separate scores of one measure, which may have further runs and topics;
        with several collections, one for each, in the same order.
    run_scores : Scores or sequence of Scores, optional
        Scores of whole runs, with one topic, for measures whose run score is not the mean over topics: they replace it in
        statistics of runs. With several collections one for each.
    reference_measure : str, optional
        The measure of a separate reference to use, if it has several.
    annotators : bool, optional
        Take the measures of a separate reference as annotators, who scored on one scale: the reference is the mean of those
        who gave a score. Halves of them are compared where all scored everything.
    statistics : sequence of str, optional
        By default pairwise_accuracy, spa (how alike p-values of pairs of runs are), pearson, spearman, tau_a and tau_b of runs;
        topic_pearson, over all scores; topic_tau_b and topic_spearman, means over topics (summary-level or segment-level
        correlation); and acc_t (pairs of runs ordered or tied alike on a topic); on request tau_ap_b and tau_gap, which weigh
        the best runs most, tau_gap also by how far scores differ. tau_b@15 is of the reference's first 15 runs.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with topics, or runs, without a score in a separate reference: leave them out, or raise.
    n_permutations : int, optional
        Random trials of the tests that compare measures, and of spa.
    margin : float, optional
        Two measures agree with the reference alike if they differ by at most this share of the statistic's range.
    over : {"topics", "runs and topics"}, optional
        Make intervals for the same runs on other topics, or also for other runs of the same kind (at least 12 runs).
    n_bootstrap, alpha, confidence, distinct_runs, seed : as for `discriminative_power`

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(12, 1)) + rng.normal(size=(12, 40))
    >>> values = np.stack([people, people + rng.normal(size=(12, 40)), rng.normal(size=(12, 40))], axis=-1)
    >>> labels = {"runs": range(12), "topics": range(40), "measures": ["MQM", "good", "bad"]}
    >>> scores = Scores(values, **labels, higher_is_better=True)
    >>> agreed = agreement(scores, reference="MQM", statistics=["tau_a", "acc_t"], n_permutations=200, n_bootstrap=0)
    >>> agreed.to_frame()[["statistic", "measure", "value", "cluster"]].round(2)
      statistic measure  value  cluster
    0     tau_a    good   0.88        1
    1     tau_a     bad  -0.39        2
    2     acc_t    good   0.80        1
    3     acc_t     bad   0.48        2
    """
    check_options(margin=margin, over=Within(over, Over), alpha=alpha, confidence=confidence)
    check_options(n_permutations=n_permutations, n_bootstrap=n_bootstrap)
    check_policy(missing, MissingPolicy)
    asked = [parse_statistic(name) for name in dict.fromkeys(BY_DEFAULT if statistics is None else statistics)]
    if not asked:
        raise MetaevalError(f"no statistic was asked for: use {', '.join(STATISTICS)}")
    joined, (standard, *others), whole, people = match_references(
        scores, reference, run_scores,
        annotators=annotators, reference_measure=reference_measure, missing=missing,
    )  # fmt: skip
    if unlike := {str(each) for each in others} - {str(standard)}:
        names = format_list(sorted({*unlike, str(standard)}))
        raise MetaevalError(f"the collections are compared with different measures: {names}")
    options: dict[str, Any] = {"seed": seed, "distinct_runs": distinct_runs, "measures": 2, "clusters": "keep"}
    ready = [prepare(each, "agreement", oriented=True, **options) for each in joined]
    collections, diagnostics = [each.scores for each in ready], tuple(each.diagnostics for each in ready)
    measures = tuple(measure for measure in collections[0].measures if str(measure) != str(standard))
    held: list[set[Any]] = [{str(measure) for measure in each.measures} for each in collections]
    if lacking := sorted(set.union(*held) - set.intersection(*held)):
        raise MetaevalError(f"pooled collections have the same measures; not all have {format_list(lacking)}")
    titles = [each.collection or str(number) for number, each in enumerate(collections, start=1)]
    warn_of_same_data(titles, [each.values for each in collections])
    sizes = [len(set(each.clusters) or each.topics) for each in collections]
    gaps = [explain_no_interval(len(each.runs), n, over) for each, n in zip(collections, sizes, strict=True)]
    compared = [
        _compare(each, run_level, raters, [*measures, standard], asked, n_permutations, 0 if gap else n_bootstrap, over)
        for each, run_level, raters, gap in zip(ready, whole, people, gaps, strict=True)
    ]
    sides, estimates = zip(*compared, strict=True)
    pooled = [
        pool_estimates(statistic, each, min(sizes), alpha=alpha, confidence=confidence, margin=margin)
        for statistic, *each in zip(asked, *estimates, strict=True)
    ]
    test: dict[str, Any] = {"n_bootstrap": 0, "n_permutations": n_permutations, "alpha": alpha, "seed": seed}
    by_reference = [discriminative_power(each.sel(measures=str(standard)), **test) for each in collections]
    no_interval = next(filter(None, gaps), "") if n_bootstrap else ""
    intervals = bool(n_bootstrap and not no_interval)
    given = [f"{each.collection or 'scores'}@{each.fingerprint}" for each in whole if each is not None]
    settings: dict[str, object] = {"bootstrap": n_bootstrap} if n_bootstrap else {}
    settings |= ({"over": over} if over != "topics" else {}) | ({"margin": margin} if margin != 0.05 else {})
    settings |= {"run scores": "; ".join(given)} if given else {}
    remarks = (
        *(remark_coverage(asked, min(sizes)) if intervals else ()),
        *(remark_levels(asked, intervals, over) if len(measures) > 1 else ()),
        *_remark_ties(asked, measures, sides),
        *remark_copies(*collections),
    )
    return Agreement(
        collections=tuple(each.collection for each in collections), measures=measures, reference=standard,
        statistics=tuple(each.name for each in asked), results=tuple(pooled), alpha=alpha, confidence=confidence,
        margin=margin, over=over, is_noise=not any(each.significant.any() for each in by_reference),
        no_interval=_explain_given(asked, [*measures, standard], sides) if intervals else no_interval,
        signature=sign(
            "agreement", collections, reference=standard, statistics=", ".join(each.name for each in asked),
            B=n_permutations, seed=seed, alpha=alpha, **settings, **diagnostics[0].settings,
        ),
        diagnostics=diagnostics, remarks=remarks,
    )  # fmt: skip


def _find_run_scores(scores: Scores, whole: Scores | None, names: Sequence[str]) -> np.ndarray:
    """Return scores of whole runs by their labels, shape (run, measure), higher being better; NaN where a measure has none."""
    run_scores = np.full((len(scores.runs), len(names)), np.nan)
    if whole is None:
        return run_scores
    list_collections([whole])
    known = [str(measure) for measure in whole.measures]
    shared, lacking = [name for name in names if name in known], [run for run in scores.runs if run not in whole.runs]
    problem = f"the scores of whole runs {whole.collection} lack {format_list(lacking)}" if lacking else ""
    if not shared:
        problem = f"the scores of whole runs {whole.collection} hold none of the measures ({format_list(known)})"
    if len(whole.topics) != 1:
        problem = f"scores of whole runs have one topic; {whole.collection or 'these'} have {len(whole.topics)}"
    if problem:
        raise DataError(problem)
    # A direction that the scores of whole runs state themselves is theirs; otherwise a measure has one direction.
    signs = {str(measure): measure.sign for measure in scores.measures}
    signs |= {str(measure): measure.sign for measure in whole.measures if measure.higher_is_better is not None}
    aligned = whole.sel(runs=sorted(scores.runs), measures=shared)
    columns = [names.index(name) for name in shared]
    run_scores[:, columns] = aligned.values[:, 0] * [signs[name] for name in shared]
    return run_scores


def _compare(
    ready: Prepared, whole: Scores | None, people: Scores | None, measures: Sequence[Measure], asked: Sequence[Statistic],
    n_permutations: int, n_bootstrap: int, over: Over,
) -> tuple[Sides, list[Estimate]]:  # fmt: skip
    """Return every statistic of one collection, whose reference is the last measure.

    Measures stay in the order given: nothing is drawn for them, and the same pairs of them are pooled.
    """
    scores, seed = ready.scores, ready.seed
    if deep := next((each for each in asked if each.first is not None and each.first > len(scores.runs)), None):
        raise MetaevalError(f"{deep.name} needs {deep.first} runs, there are {len(scores.runs)}")
    names, labels = [str(measure) for measure in scores.measures], [str(measure) for measure in measures]
    columns = [ready.places[2][names.index(label)] for label in labels]
    # The order of the axes in memory decides in which order NumPy adds.
    scaled = np.ascontiguousarray(scale_scores(ready.values[..., columns]))
    runs, topics = sorted(scores.runs), sorted(scores.topics)
    by_label = np.argsort(rank_labels(scores.topics))
    clusters = code_clusters(scores.clusters)[1][by_label] if scores.clusters else None
    drawn = topics if clusters is None else sorted(set(scores.clusters))

    def key(purpose: str) -> int:
        # Collections that share their topics have the same ones drawn.
        return stream_key(seed, *drawn, "agreement", purpose) if purpose == "topics" else ready.key(purpose)

    means = ready.values.mean(axis=1)[:, columns]
    stated = _find_run_scores(scores, whole, labels)
    run_scores = np.where(np.isnan(stated), means, stated)
    given = ~np.isclose(run_scores, means, rtol=1e-9, atol=1e-9 * np.abs(means).max(axis=0)).all(axis=0)
    scaled_runs = np.where(np.isnan(stated), scaled.mean(axis=1), stated)
    sides = Sides(scaled, scaled_runs, key, n_permutations, tuple(asked), clusters, given)
    # Collections of the same runs have the same ones drawn, and so have statistics.
    others = [generator(seed, *runs, "agreement", "other runs") if over != "topics" else None for _ in asked]
    estimates = [each.estimate(sides, n_bootstrap, rng) for each, rng in zip(asked, others, strict=True)]
    if people is not None and not isinstance(people, PartialScores):
        by_person = people.sel(runs=runs, topics=topics)
        labelled = by_person.values * find_signs(by_person.measures)
        halves = compare_halves(asked, sides, labelled, ready.generator("annotators"))
        estimates = [each._replace(halves=half) for each, half in zip(estimates, halves, strict=True)]
    return sides, estimates


def remark_coverage(statistics: Sequence[Statistic], n_topics: int) -> tuple[str, ...]:
    """Return what a reader has to know about the intervals of so few topics, if simulations found them too short."""
    loose = [each.name for each in statistics if each.of in ("runs", "certainty")]
    if not loose or n_topics >= ENOUGH_TOPICS:
        return ()
    return (
        f"{n_topics} topics are few for intervals of {format_list(loose, 2)}: a measure that is barely better may not be\n"
        f"With fewer than {ENOUGH_TOPICS} topics, intervals of {format_list(loose)} and of their differences may be too "
        "narrow: docs/concepts/agreement.md.",
    )


def remark_levels(statistics: Sequence[Statistic], intervals: bool, over: Over = "topics") -> tuple[str, ...]:
    """Return what a reader has to know about exchange tests, and intervals if there are any, that err more than α."""
    remarks = []
    erring = [each.name for each in statistics if (each.kind if each.of == "runs" else each.name) in ERRING_TESTS]
    if erring:
        remarks.append(
            # Without a short form: the first screen shows neither.
            f"\np-values and clusters, in CSV and JSON only, often call one of two equally good measures better by "
            f"{format_list(erring)}, if errors are independent or measures favour some runs: docs/concepts/agreement.md"
        )
    if intervals:
        remarks.append(
            f"“better” speaks of these runs only; {format_option('over', 'runs and topics')} speaks of other runs too\n"
            "Measures that are equally good over all runs are often unlike on those of a study: docs/concepts/agreement.md."
            if over == "topics"
            else "intervals, and what is called better, speak of other runs of the same kind as well as of other topics"
        )
    return tuple(remarks)


def _explain_given(asked: Sequence[Statistic], measures: Sequence[Measure], sides: Sequence[Sides]) -> str:
    """Return which statistics have no interval because run scores are given."""
    of_runs = [each.name for each in asked if each.of == "runs"]
    given = np.any([np.asarray(each.given) for each in sides], axis=0)
    if not of_runs or not given.any():
        return ""
    names = [str(measure) for measure, stated in zip(measures, given, strict=True) if stated]
    return (
        f"No interval for {format_list(of_runs)} of {format_list(names, 3)}: their run scores are given, and resampled topics "
        "do not tell how they vary."
    )


def _remark_ties(asked: Sequence[Statistic], measures: Sequence[Measure], sides: Sequence[Sides]) -> tuple[str, ...]:
    """Return on how many topics a measure ties all runs, which counts as 0."""
    names = [each.name for each in asked if each.of == "topics"]
    tied = sum((np.isnan(each.by_topic["tau_b"]) & each.known).sum(axis=1) for each in sides)
    if not names or not np.any(tied):
        return ()
    n_topics, most = sum(int(each.known.sum()) for each in sides), np.argsort(-tied, kind="stable")
    counted = [f"{measures[m]} on {tied[m]:,} of {n_topics:,}" for m in most if tied[m]]
    return (
        f"topics on which a measure ties all runs count as 0 in {format_list(names)}: {format_list(counted, 3)}\n"
        "The topics are those on which the reference orders runs, the same for all measures.",
    )
