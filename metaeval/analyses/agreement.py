"""Which measures are right? Agreement with a reference, such as human scores, an expert's labels, or a trusted measure."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_result import Agreement, list_disagreement, pool_estimates
from metaeval.analyses.checks import check_choice, check_count, check_positive, check_share, warn_of_same_data
from metaeval.analyses.diagnostics import remark_copies
from metaeval.analyses.power import discriminative_power
from metaeval.analyses.prepare import Prepared, prepare
from metaeval.analyses.result import list_intervals
from metaeval.data.clusters import order_clusters
from metaeval.data.policies import MissingPolicy, check_policy, report_policy
from metaeval.data.scores import PartialScores, Scores
from metaeval.errors import DataError, MetaevalError, PolicyWarning, format_count, format_list, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import sign
from metaeval.stats.agreement import BY_DEFAULT, STATISTICS, Estimate, Sides, Statistic, compare_halves, parse_statistic
from metaeval.stats.arrays import average, scale_scores
from metaeval.stats.intervals import Over, explain_no_interval, pool
from metaeval.stats.streams import generator, stream_key

Share: TypeAlias = Literal["all", "shared"]
"""Whether all runs or topics count, or those that scores and their reference share."""

ENOUGH_TOPICS = 60
"""With fewer, a result says that intervals of statistics of runs may be too narrow: docs/concepts/agreement.md."""

ERRING_TESTS = ("spa", "pearson", "topic_pearson", "topic_tau_b", "topic_spearman", "acc_t", "tau_ap_b")
"""Statistics whose exchange tests call one of two equally good measures better too often: docs/concepts/agreement.md."""


def agreement(
    scores: Scores | Sequence[Scores],
    *,
    reference: str | Measure | Scores | Sequence[Scores],
    run_scores: Scores | Sequence[Scores] | None = None,
    reference_measure: str | None = None,
    annotators: bool = False,
    statistics: Sequence[str] | None = None,
    missing: MissingPolicy = "raise",
    runs: Share = "all",
    topics: Share = "all",
    n_permutations: int = 1000,
    n_bootstrap: int = 1000,
    alpha: float = 0.05,
    confidence: float = 0.95,
    simultaneous: bool = True,
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
        pairs of runs, other statistics are averaged. Several collections with one separate reference are judges of the
        same runs: each becomes a measure named after its collection.
    reference : str, Measure, Scores or sequence of Scores
        The name of a measure in the scores, or separate scores of one measure, which may have further runs and topics;
        with several collections, one for each, in the same order.
    run_scores : Scores or sequence of Scores, optional
        Scores of whole runs, with one topic, for measures whose run score is not the mean over topics: they replace it in
        statistics of runs. With several collections one for each; of several judges a measure called as each.
    reference_measure : str, optional
        The measure of a separate reference to use, if it has several.
    annotators : bool, optional
        Take the measures of a separate reference as annotators, who scored on one scale: the reference is the mean of those
        who gave a score. Halves of them are compared where all scored everything.
    statistics : sequence of str, optional
        By default pairwise_accuracy, spa, pearson, spearman, tau_a and tau_b of runs; topic_pearson, over all scores;
        topic_tau_b and topic_spearman, means over topics (summary-level or segment-level correlation); and acc_t. Others
        are tau_ap_b and tau_gap, which weigh the head of the ranking; tau_b@15 is of the 15 runs that the reference puts
        first.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with topics, or runs, without a score in a separate reference: leave them out, or raise.
    runs : {"all", "shared"}, optional
        all: every run needs a reference score. shared: keep only the runs found in every file.
    topics : {"all", "shared"}, optional
        all: every topic needs a reference score. shared: keep only the topics found in every file.
    n_permutations : int, optional
        Trials of the exchange tests between measures, and of the sign flips of spa.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none. With fewer than 10 runs or 25 topics there is none.
    alpha : float, optional
    confidence : float, optional
        Level of the intervals.
    simultaneous : bool, optional
        Make the intervals of the differences of all pairs of measures correct at once, so that one of many equally good
        measures is rarely called better; otherwise each is for its pair alone.
    margin : float, optional
        Two measures agree with the reference alike if they differ by at most this share of the statistic's range.
    over : {"topics", "runs and topics"}, optional
        Make intervals for the same runs on other topics, or also for other runs of the same kind (at least 12 runs).
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional

    Returns
    -------
    Agreement

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
    check_positive("margin", margin)
    check_choice("over", over, Over)
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_count("n_permutations", n_permutations, 1)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_policy(missing, MissingPolicy)
    asked = [parse_statistic(name) for name in dict.fromkeys(BY_DEFAULT if statistics is None else statistics)]
    if not asked:
        raise MetaevalError(f"no statistic was asked for: use {', '.join(STATISTICS)}")
    given, references, people, whole = _match_references(
        scores, reference, run_scores, annotators, reference_measure, runs, topics
    )
    joined = [join_reference(*pair, missing, shares=True) for pair in zip(given, references, strict=True)]
    standard = joined[0][1]
    if len(unlike := sorted({str(known) for _, known in joined})) > 1:
        raise MetaevalError(f"the collections are compared with different measures: {format_list(unlike)}")
    options: dict[str, Any] = {"seed": seed, "distinct_runs": distinct_runs, "measures": 2, "clusters": "keep"}
    ready = [prepare(each, "agreement", oriented=True, **options) for each, _ in joined]
    collections, diagnostics = [each.scores for each in ready], tuple(each.diagnostics for each in ready)
    measures = _list_measures(collections, standard)
    titles = [each.collection or str(number) for number, each in enumerate(collections, start=1)]
    warn_of_same_data(titles, [each.values for each in collections])
    sizes = [len(set(each.clusters) or each.topics) for each in collections]
    gaps = [explain_no_interval(len(each.runs), n, over) for each, n in zip(collections, sizes, strict=True)]
    compared = [
        _compare(each, run_level, raters, [*measures, standard], asked, n_permutations, 0 if gap else n_bootstrap, over)
        for each, run_level, raters, gap in zip(ready, whole, people, gaps, strict=True)
    ]
    sides, estimates, disagreements = zip(*compared, strict=True)
    n_topics = min(sizes)
    pooled = [
        pool_estimates(
            statistic, each, n_topics, alpha=alpha, confidence=confidence, simultaneous=simultaneous, margin=margin, over=over
        )
        for statistic, *each in zip(asked, *estimates, strict=True)
    ]  # fmt: skip
    test: dict[str, Any] = {"n_bootstrap": 0, "n_permutations": n_permutations, "alpha": alpha, "seed": seed}
    by_reference = [discriminative_power(each.sel(measures=str(standard)), **test) for each in collections]
    no_interval = next(filter(None, gaps), "") if n_bootstrap else ""
    intervals = bool(n_bootstrap and not no_interval)
    settings: dict[str, object] = {"reference": standard, "statistics": ", ".join(each.name for each in asked)}
    settings |= {"B": n_permutations, "seed": seed, "alpha": alpha}
    settings |= {"bootstrap": n_bootstrap} if n_bootstrap else {}
    settings |= ({"over": over} if over != "topics" else {}) | list_intervals(simultaneous, margin, 0.05)
    labels = [f"{each.collection or 'scores'}@{each.fingerprint}" for each in whole if each is not None]
    settings |= {"run scores": "; ".join(labels)} if labels else {}
    remarks = (
        *(remark_coverage(asked, n_topics) if intervals else ()),
        *(remark_levels(asked, intervals, over) if len(measures) > 1 else ()),
        *_remark_ties(asked, measures, sides),
        *remark_copies(*collections),
    )
    return Agreement(
        collections=tuple(each.collection for each in collections), measures=measures, reference=standard,
        statistics=tuple(each.name for each in asked), results=tuple(pooled), alpha=alpha, confidence=confidence,
        disagreements=disagreements, over=over, is_noise=not any(each.significant.any() for each in by_reference),
        no_interval=_explain_given(asked, [*measures, standard], sides) if intervals else no_interval,
        signature=sign("agreement", collections, **settings, **diagnostics[0].settings),
        diagnostics=diagnostics, remarks=remarks,
    )  # fmt: skip


def _match_references(
    scores: Scores | Sequence[Scores], reference: Any, run_scores: Any, annotators: bool, reference_measure: str | None,
    runs: Share, topics: Share,
) -> tuple[list[Scores], list[Any], list[Any], list[Any]]:  # fmt: skip
    """Return collections, and for each its reference, perhaps the annotators whose mean that is, and scores of whole runs.

    Several collections with one reference of its own are judges of the same runs, which become one collection.
    """
    collections = [scores] if isinstance(scores, Scores) else list(scores)
    if not collections:
        raise MetaevalError("there are no scores")
    people = list(reference) if isinstance(reference, list | tuple) else [reference]
    references = [_average_annotators(each) for each in people] if annotators else people
    if reference_measure is not None:
        for each in references:
            if not isinstance(each, Scores):
                raise MetaevalError(f"{format_option('reference_measure')} chooses from scores, not from {each}")
        references = [each.sel(measures=reference_measure) for each in references]
    if isinstance(reference, Scores):
        *collections, references[0] = _take_shared([*collections, *references], runs, topics)
        if len(collections) > 1:
            if isinstance(run_scores, list | tuple) and len(run_scores) > 1:
                raise MetaevalError(
                    f"{format_option('run_scores')} of several judges is one table, with a measure called as each judge; "
                    f"there are {len(run_scores)}"
                )
            collections = [replace(_join_judges(collections), collection=references[0].collection)]
    elif all(isinstance(each, Scores) for each in references):
        pairs = zip(collections, list_for_each(references, collections, "reference"), strict=True)
        shared = [_take_shared(pair, runs, topics) for pair in pairs]
        collections, references = [pair[0] for pair in shared], [pair[1] for pair in shared]
    elif "shared" in (runs, topics):
        option = format_option("runs" if runs == "shared" else "topics", "shared")
        raise MetaevalError(f"{option} is for a reference of its own: a measure has the runs and topics of the others")
    references = list_for_each(references if len(references) > 1 else references[0], collections, "reference")
    whole = list_for_each(run_scores, collections, "run_scores")
    return collections, references, people if annotators else [None] * len(collections), whole


def list_for_each(given: Any, collections: Sequence[Any], option: str) -> list[Any]:
    """Return one object for each collection: a single one that is not of Scores stands for all."""
    several = len(collections) if not isinstance(given, Scores) else 1
    objects = list(given) if isinstance(given, list | tuple) else [given] * several
    if len(objects) != len(collections):
        raise MetaevalError(
            f"{format_option(option)}: there {'is' if len(objects) == 1 else 'are'} {len(objects)} for "
            f"{format_count(len(collections), 'collection')}; give one each, in the order of the collections"
        )
    return objects


def _average_annotators(people: Any) -> Scores:
    """Return the mean of the measures of a reference, which are annotators: of each score, of those who gave one."""
    if not isinstance(people, Scores) or len(people.measures) < 2:
        raise MetaevalError(
            f"{format_option('annotators')} takes {format_option('reference')} to be scores of its own with a measure for "
            "each of several annotators"
        )
    directions = {measure.higher_is_better for measure in people.measures}
    if len(directions) > 1:
        raise MetaevalError("annotators score on one scale, but higher is better for some and not for others")
    mean = Measure("mean of annotators", directions.pop())
    values = people.values.mean(axis=-1, keepdims=True)
    if isinstance(people, PartialScores):
        for r, t in np.argwhere(np.isnan(people.values).all(axis=-1))[:1]:
            raise DataError(
                "no annotator scored it", file=people.collection, run=people.runs[r], topic=people.topics[t]
            )
        values = np.nanmean(people.values, axis=-1, keepdims=True)
    return Scores(values, measures=(mean,), **people.named("runs", "topics", "collection", "provenance", "clusters"))


def _take_shared(collections: Sequence[Scores], runs: Share, topics: Share) -> list[Scores]:
    """Return scores with the runs, or topics, that all of them have, and say which of each are left out."""
    chosen = list(collections)
    for axis, choice in (("runs", runs), ("topics", topics)):
        if choice not in get_args(Share):
            raise MetaevalError(f"{format_option(axis)} is {' or '.join(get_args(Share))}, not {choice!r}")
        if choice == "all":
            continue
        common = set.intersection(*(set(getattr(scores, axis)) for scores in chosen))
        if not common:
            raise DataError(f"the scores and their reference have no {axis} in common")
        for number, scores in enumerate(chosen):
            labels = getattr(scores, axis)
            left_out = [label for label in labels if label not in common]
            if left_out:
                name = scores.collection or format_list([str(measure) for measure in scores.measures])
                report_policy(
                    f"{format_option(axis, 'shared')}: left out {len(left_out)} of "
                    f"{format_count(len(labels), axis[:-1])} of {name}: {format_list(left_out)}"
                )
                chosen[number] = scores.sel(**{axis: [label for label in labels if label in common]})
    return chosen


def _join_judges(judges: Sequence[Scores]) -> Scores:
    """Return what several judges say of the same runs as the measures of one collection."""
    names = [judge.collection or f"judge {number}" for number, judge in enumerate(judges, start=1)]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"two judges are called {name}: a judge is called as its collection, by default its file")
    try:
        return reduce(Scores.add_measures, map(_name_judge, judges, names))
    except DataError as error:
        hint = f"{format_option('runs', 'shared')} and {format_option('topics', 'shared')} take those that all have"
        raise DataError(error.problem, hint=hint) from None


def _name_judge(judge: Scores, name: str) -> Scores:
    """Return scores whose only measure is called as the judge; one of several is called ``judge measure``."""
    single = len(judge.measures) == 1
    measures = [
        Measure(name if single else f"{name} {each}", each.higher_is_better, each.range) for each in judge.measures
    ]
    return replace(judge, measures=tuple(measures))


def join_reference(
    scores: Scores, reference: object, missing: MissingPolicy, *, shares: bool = False
) -> tuple[Scores, Measure]:
    """Return scores that have the reference among their measures, and which it is.

    The reference is a measure, its name, or scores of one measure, which may lack runs or topics as `missing` says;
    `shares` says whether the caller could take those that both have, which the message then offers.
    """
    if not isinstance(reference, Scores):
        named = [measure for measure in scores.measures if str(measure) == str(reference)]
        (known,) = named or scores.sel(measures=str(reference)).measures
        return scores, known
    if len(reference.measures) != 1:
        raise MetaevalError(
            f"{format_option('reference')} holds {len(reference.measures)} measures "
            f"({format_list([str(measure) for measure in reference.measures])}); "
            f"it is one: choose it with {format_option('reference_measure', 'NAME')}"
        )
    (known,) = reference.measures
    labels = {}
    for axis in ("runs", "topics"):
        common = set(getattr(scores, axis)) & set(getattr(reference, axis))
        lacking, further = (
            [label for label in getattr(each, axis) if label not in common] for each in (scores, reference)
        )
        if lacking and missing != f"drop-{axis[:-1]}":
            ways = [format_option("missing", f"drop-{axis[:-1]}")] + [format_option(axis, "shared")] * shares
            raise DataError(
                f"the reference {known} has no score of {format_count(len(lacking), axis[:-1])}: {format_list(lacking)}",
                hint=f"{' or '.join(ways)} leaves them out",
            )
        if not common:
            raise DataError(f"the reference {known} has none of the {axis}")
        labels[axis] = [label for label in getattr(scores, axis) if label in common]
        left_out = [f"{format_list(lacking)} without a reference"] * bool(lacking)
        left_out += [f"{format_list(further)} with a reference alone"] * bool(further)
        if left_out:
            warnings.warn(f"{axis} left out: {'; '.join(left_out)}", PolicyWarning, stacklevel=4)
    scores, reference = scores.sel(**labels), reference.sel(**labels)
    names = [str(measure) for measure in scores.measures]
    if str(known) in names:  # other scores of its name are a judge's, and are called as it
        judge = scores.collection or "judge"
        if len(names) == 1:
            scores = _name_judge(scores, judge)
        elif np.array_equal(scores.sel(measures=str(known)).values, reference.values):
            scores = scores.sel(measures=[name for name in names if name != str(known)])
        else:
            (own,) = _name_judge(scores.sel(measures=str(known)), f"{judge} {known}").measures
            scores = replace(
                scores, measures=tuple(own if str(each) == str(known) else each for each in scores.measures)
            )
    return scores.add_measures(reference, first=True), known


def _list_measures(collections: Sequence[Scores], reference: Measure) -> tuple[Measure, ...]:
    """Return the measures to hold against the reference: all others, which must be the same in every collection."""
    measures = tuple(measure for measure in collections[0].measures if str(measure) != str(reference))
    names = {str(measure) for measure in measures}
    for scores in collections[1:]:
        unlike = names ^ {str(measure) for measure in scores.measures if str(measure) != str(reference)}
        if unlike:
            raise MetaevalError(
                f"pooled collections have the same measures, but {format_list(sorted(unlike))} "
                f"{'is' if len(unlike) == 1 else 'are'} not in all of them"
            )
    return measures


def _find_run_scores(scores: Scores, whole: Scores | None, names: Sequence[str]) -> np.ndarray:
    """Return scores of whole runs, shape (run, measure), where a measure has some, and NaN elsewhere; higher is better.

    Runs are in the order of their labels, and measures as `names` has them.
    """
    run_scores = np.full((len(scores.runs), len(names)), np.nan)
    if whole is None:
        return run_scores
    if len(whole.topics) != 1:
        raise DataError(f"scores of whole runs have one topic; {whole.collection or 'these'} have {len(whole.topics)}")
    known = [str(measure) for measure in whole.measures]
    shared = [name for name in names if name in known]
    if not shared:
        raise DataError(f"the scores of whole runs {whole.collection} hold none of the measures ({format_list(known)})")
    lacking = [run for run in scores.runs if run not in whole.runs]
    if lacking:
        raise DataError(f"the scores of whole runs {whole.collection} lack {format_list(lacking)}")
    # A direction that the scores of whole runs state themselves is theirs; otherwise a measure has one direction.
    signs = {str(measure): measure.sign for measure in scores.measures}
    signs |= {str(measure): measure.sign for measure in whole.measures if measure.higher_is_better is not None}
    aligned = whole.sel(runs=sorted(scores.runs), measures=shared)
    for column, name in enumerate(shared):
        run_scores[:, names.index(name)] = aligned.values[:, 0, column] * signs[name]
    return run_scores


def _compare(
    ready: Prepared, whole: Scores | None, people: Scores | None, measures: Sequence[Measure], asked: Sequence[Statistic],
    n_permutations: int, n_bootstrap: int, over: Over,
) -> tuple[Sides, list[Estimate], dict[str, pd.DataFrame]]:  # fmt: skip
    """Return every statistic of one collection, and where its measures disagree with the reference, the last one.

    Measures stay in the order given: nothing is drawn for them, and the same pairs of them are pooled.
    """
    scores, seed = ready.scores, ready.seed
    for statistic in asked:
        if statistic.first is not None and statistic.first > len(scores.runs):
            raise MetaevalError(f"{statistic.name} needs {statistic.first} runs, there are {len(scores.runs)}")
    names, labels = [str(measure) for measure in scores.measures], [str(measure) for measure in measures]
    columns = [ready.places[2][names.index(label)] for label in labels]
    # The order of the axes in memory decides in which order NumPy adds.
    scaled = np.ascontiguousarray(scale_scores(ready.values[..., columns]))
    runs, topics = sorted(scores.runs), sorted(scores.topics)
    clusters = order_clusters(scores.clusters, scores.topics)
    drawn = topics if clusters is None else sorted(set(scores.clusters))

    def key(purpose: str) -> int:
        # Collections that share their topics have the same ones drawn.
        return stream_key(seed, *drawn, "agreement", purpose) if purpose == "topics" else ready.key(purpose)

    means = ready.values.mean(axis=1)[:, columns]
    stated = _find_run_scores(scores, whole, labels)
    run_scores = np.where(np.isnan(stated), means, stated)  # run by run they are shown on the measures' own scales
    given = ~np.isclose(run_scores, means, rtol=1e-9, atol=1e-9 * np.abs(means).max(axis=0)).all(axis=0)
    scaled_runs = np.where(np.isnan(stated), scaled.mean(axis=1), stated)
    sides = Sides(scaled, scaled_runs, key, n_permutations, tuple(asked), clusters, given)
    estimates = []
    for statistic in asked:
        # Collections of the same runs have the same ones drawn.
        others = generator(seed, *runs, "agreement", "other runs") if over != "topics" else None
        estimates.append(statistic.estimate(sides, n_bootstrap, others))
    if people is not None and not isinstance(people, PartialScores):
        by_person = people.sel(runs=runs, topics=topics)
        labelled = by_person.values * find_signs(by_person.measures)
        halves = compare_halves(asked, sides, labelled, ready.generator("annotators"))
        estimates = [each._replace(halves=half) for each, half in zip(estimates, halves, strict=True)]
    return sides, estimates, list_disagreement(scores, measures, run_scores, sides.by_topic["tau_b"])


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
            "exchange tests, and the clusters made by them, err too often\n"
            f"Those of {format_list(erring)} do, for independent errors or where measures favour some runs: "
            "docs/concepts/agreement.md."
        )
    if intervals and over != "topics":
        remarks.append(
            "intervals, and what is called better, speak of other runs of the same kind as well as of other topics"
        )
    elif intervals:
        remarks.append(
            f"“better” speaks of these runs only; {format_option('over', 'runs and topics')} speaks of other runs too\n"
            "Measures that are equally good over all runs are often unlike on those of a study: docs/concepts/agreement.md."
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
    """Return on how many topics a measure ties all runs, which counts as 0, and what its mean over the others is."""
    names = [each.name for each in asked if each.of == "topics"]
    by_topic = [each.by_topic["tau_b"] for each in sides]
    tied = sum((np.isnan(tau_b) & each.known).sum(axis=1) for tau_b, each in zip(by_topic, sides, strict=True))
    if not names or not np.any(tied):
        return ()
    others = pool([average(tau_b) for tau_b in by_topic], np.ones(len(sides)))
    n_topics = sum(int(each.known.sum()) for each in sides)
    counted = []
    for m in np.argsort(-tied, kind="stable")[: np.count_nonzero(tied)]:
        rest = "" if np.isnan(others[m]) else f" (τ_b {others[m]:.3f} over the others)"
        counted.append(f"{measures[m]} on {tied[m]:,} of {n_topics:,}{rest}")
    return (
        f"{format_list(names)} count topics on which a measure ties all runs as 0: {format_list(counted, 3)}\n"
        "The topics are those on which the reference orders runs, the same for all measures.",
    )
