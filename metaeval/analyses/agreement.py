"""Which measures are right? Agreement with a reference, such as human scores, an expert's labels, or a trusted measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_inputs import Share, find_run_scores, join_reference, list_measures, match_references
from metaeval.analyses.agreement_result import Agreement, pool_estimates
from metaeval.analyses.checks import (
    check_choice,
    check_count,
    check_positive,
    check_seed,
    check_share,
    remark_shared_topics,
    warn_of_same_data,
)
from metaeval.analyses.diagnostics import remark_copies
from metaeval.analyses.disagreement import list_disagreement
from metaeval.analyses.power import discriminative_power
from metaeval.analyses.prepare import Prepared, prepare
from metaeval.analyses.variation import list_intervals
from metaeval.data.clusters import order_clusters
from metaeval.data.policies import MissingPolicy, check_policy
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import sign
from metaeval.stats.agreement import BY_DEFAULT, STATISTICS, Estimate, Sides, Statistic, compare_halves, parse_statistic
from metaeval.stats.arrays import average, scale_scores
from metaeval.stats.intervals import Over, explain_no_interval, pool
from metaeval.stats.streams import generator, stream_key

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
    weights: Sequence[float] | None = None,
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
        At least two runs and two topics. Several collections with the same measures are pooled. Several collections with
        one separate reference are judges of the same runs: each becomes a measure named after its collection.
    reference : str, Measure, Scores or sequence of Scores
        The name of a measure in the scores, or separate scores of one measure, which may have further runs and topics;
        with several collections, one for each, in the same order.
    run_scores : Scores or sequence of Scores, optional
        Scores of whole runs, with one topic, for measures whose run score is not the mean over topics. They replace the
        mean in statistics of runs; measures that are not in them keep it. With several collections, or judges, one for
        each, in the same order.
    reference_measure : str, optional
        The measure of a separate reference to use, if it has several.
    annotators : bool, optional
        Take the measures of a separate reference as annotators, who scored the same runs and topics on one scale: their
        mean is the reference.
    statistics : sequence of str, optional
        By default pairwise_accuracy, spa, pearson, spearman, tau_a and tau_b of runs; topic_pearson, over all scores;
        topic_tau_b and topic_spearman, means over topics (summary-level or segment-level correlation); and acc_t. Others
        are tau_ap_b and tau_gap, which weigh the head of the ranking. Statistics of runs can be limited to the runs that
        the reference puts first: tau_b@15.
    weights : sequence of float, optional
        Weights of the collections; 1 each by default. Pairwise accuracy adds pairs of runs, other statistics are
        averaged.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with topics, or runs, without a score in a separate reference: leave them out, or raise. No worst value
        can stand for a reference.
    runs : {"all", "shared"}, optional
        all: every run needs a reference score. shared: keep only the runs found in every file.
    topics : {"all", "shared"}, optional
        all: every topic needs a reference score. shared: keep only the topics found in every file.
    n_permutations : int, optional
        Trials of the exchange tests between measures, and of the sign flips of spa.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none. With fewer than 10 runs or 25 topics there is none.
    alpha : float, optional
        Significance level.
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

    Raises
    ------
    MetaevalError
        If there is no such reference or statistic, the reference has no score where it must have one, or an option is
        out of range.

    Warns
    -----
    PolicyWarning
        Which runs and topics are left out.

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
    check_seed(seed)
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_count("n_permutations", n_permutations, 1)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_policy(missing, MissingPolicy)
    asked = [parse_statistic(name) for name in dict.fromkeys(BY_DEFAULT if statistics is None else statistics)]
    if not asked:
        raise MetaevalError(f"no statistic was asked for: use {', '.join(STATISTICS)}")
    given, references, people, whole = match_references(
        scores, reference, run_scores, annotators, reference_measure, runs, topics
    )
    share = np.ones(len(given)) if weights is None else np.array(weights, dtype=np.float64)
    if share.shape != (len(given),) or not (np.isfinite(share).all() and (share > 0).all()):
        raise MetaevalError(
            f"{format_option('weights')} are {len(given)} positive numbers, one for each collection, not {weights}"
        )
    joined = [join_reference(*pair, missing, shares=True) for pair in zip(given, references, strict=True)]
    standard = joined[0][1]
    if len(unlike := sorted({str(known) for _, known in joined})) > 1:
        raise MetaevalError(f"the collections are compared with different measures: {format_list(unlike)}")
    options: dict[str, Any] = {"seed": seed, "distinct_runs": distinct_runs, "measures": 2, "clusters": "keep"}
    ready = [prepare(each, "agreement", oriented=True, **options) for each, _ in joined]
    collections, diagnostics = [each.scores for each in ready], tuple(each.diagnostics for each in ready)
    measures = list_measures(collections, standard)
    titles = [each.collection or str(number) for number, each in enumerate(collections, start=1)]
    warn_of_same_data(titles, [each.values for each in collections])
    sizes = [len(set(each.clusters) or each.topics) for each in collections]
    gaps = [explain_no_interval(len(each.runs), n, over) for each, n in zip(collections, sizes, strict=True)]
    compared = [
        _compare(each, run_level, raters, [*measures, standard], asked, n_permutations, 0 if gap else n_bootstrap, over)
        for each, run_level, raters, gap in zip(ready, whole, people, gaps, strict=True)
    ]
    sides, estimates, disagreements = zip(*compared, strict=True)
    n_topics, names = min(sizes), sorted(each.collection for each in collections)
    pooled = [
        pool_estimates(
            statistic, each, share, n_topics, generator(seed, *names, "agreement", "collections"),
            alpha=alpha, confidence=confidence, simultaneous=simultaneous, margin=margin, over=over,
        )
        for statistic, *each in zip(asked, *estimates, strict=True)
    ]  # fmt: skip
    no_interval = next(filter(None, gaps), "") if n_bootstrap else ""
    intervals = bool(n_bootstrap and not no_interval)
    settings: dict[str, object] = {"reference": standard, "statistics": ", ".join(each.name for each in asked)}
    settings |= {"B": n_permutations, "seed": seed, "alpha": alpha}
    settings |= {"bootstrap": n_bootstrap} if n_bootstrap else {}
    settings |= ({"over": over} if over != "topics" else {}) | list_intervals(simultaneous, margin, 0.05)
    settings |= {"weights": ", ".join(f"{weight:g}" for weight in share)} if len(share) > 1 else {}
    labels = [f"{each.collection or 'scores'}@{each.fingerprint}" for some in whole for each in some]
    settings |= {"run scores": "; ".join(labels)} if labels else {}
    return Agreement(
        collections=tuple(each.collection for each in collections),
        measures=measures,
        reference=standard,
        statistics=tuple(each.name for each in asked),
        results=tuple(pooled),
        alpha=alpha,
        confidence=confidence,
        disagreements=disagreements,
        over=over,
        is_noise=_is_noise(collections, standard, n_permutations, alpha, seed),
        no_interval=_explain_given(asked, [*measures, standard], sides) if intervals else no_interval,
        signature=sign("agreement", collections, **settings, **diagnostics[0].settings),
        diagnostics=diagnostics,
        remarks=(
            *(remark_coverage(asked, n_topics) if intervals else ()),
            *(remark_levels(asked, intervals, over) if len(measures) > 1 else ()),
            *_remark_ties(asked, measures, sides, share),
            *remark_copies(*collections),
            *remark_shared_topics(titles, [each.topics for each in collections]),
        ),
    )


def _compare(
    ready: Prepared, whole: Sequence[Scores], people: Scores | None, measures: Sequence[Measure], asked: Sequence[Statistic],
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
    stated = find_run_scores(scores, whole, labels)
    run_scores = np.where(np.isnan(stated), means, stated)  # run by run they are shown on the measures' own scales
    given = ~np.isclose(run_scores, means, rtol=1e-9, atol=1e-9 * np.abs(means).max(axis=0)).all(axis=0)
    scaled_runs = np.where(np.isnan(stated), scaled.mean(axis=1), stated)
    sides = Sides(scaled, scaled_runs, key, n_permutations, tuple(asked), clusters, given)
    estimates = []
    for statistic in asked:
        # Collections of the same runs have the same ones drawn.
        others = generator(seed, *runs, "agreement", "other runs") if over != "topics" else None
        estimates.append(statistic.estimate(sides, n_bootstrap, others))
    if people is not None:
        by_person = people.sel(runs=runs, topics=topics)
        labelled = by_person.values * find_signs(by_person.measures)
        halves = compare_halves(asked, sides, labelled, ready.generator("annotators"))
        estimates = [each._replace(halves=half) for each, half in zip(estimates, halves, strict=True)]
    return sides, estimates, list_disagreement(scores, measures, run_scores, sides.by_topic["tau_b"])


def _is_noise(collections: Sequence[Scores], reference: Measure, n_permutations: int, alpha: float, seed: int) -> bool:
    """Return whether the reference tells no two runs of any collection apart, by the papers' test."""
    options: dict[str, Any] = {"n_bootstrap": 0, "n_permutations": n_permutations, "alpha": alpha, "seed": seed}
    by_reference = [each.sel(measures=str(reference)) for each in collections]
    return not any(discriminative_power(each, **options).significant.any() for each in by_reference)


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


def _remark_ties(
    asked: Sequence[Statistic], measures: Sequence[Measure], sides: Sequence[Sides], share: np.ndarray
) -> tuple[str, ...]:
    """Return on how many topics a measure ties all runs, which counts as 0, and what its mean over the others is."""
    names = [each.name for each in asked if each.of == "topics"]
    by_topic = [each.by_topic["tau_b"] for each in sides]
    tied = sum((np.isnan(tau_b) & each.known).sum(axis=1) for tau_b, each in zip(by_topic, sides, strict=True))
    if not names or not np.any(tied):
        return ()
    others = pool([average(tau_b) for tau_b in by_topic], share)
    n_topics = sum(int(each.known.sum()) for each in sides)
    counted = []
    for m in np.argsort(-tied, kind="stable")[: np.count_nonzero(tied)]:
        rest = "" if np.isnan(others[m]) else f" (τ_b {others[m]:.3f} over the others)"
        counted.append(f"{measures[m]} on {tied[m]:,} of {n_topics:,}{rest}")
    return (
        f"{format_list(names)} count topics on which a measure ties all runs as 0: {format_list(counted, 3)}\n"
        "The topics are those on which the reference orders runs, the same for all measures.",
    )
