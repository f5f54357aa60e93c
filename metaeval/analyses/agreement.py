"""Which measures are right? Agreement with a reference, such as human scores, an expert's labels, or a trusted measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.analyses.agreement_inputs import (
    check_weights,
    find_run_scores,
    join_reference,
    list_for_each,
    list_measures,
)
from metaeval.analyses.agreement_judges import Share, choose_measure, join_judges, join_run_scores, take_shared
from metaeval.analyses.agreement_levels import remark_levels
from metaeval.analyses.agreement_pooling import find_difference_ends, find_ends, pool_statistics, remark_coverage
from metaeval.analyses.agreement_result import Agreement
from metaeval.analyses.agreement_statistics import BY_DEFAULT, TITLES, Held, find_statistics, split_statistic
from metaeval.analyses.checks import check_count, check_seed, check_share, warn_of_same_data
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.disagreement import Disagreement, find_disagreement
from metaeval.analyses.discriminative_power import discriminative_power
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.reference_counts import count_confirmed
from metaeval.data.policies import MissingPolicy, check_policy
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import sign
from metaeval.stats.blocks import mean_over_topics
from metaeval.stats.intervals import explain_no_interval
from metaeval.stats.paired_tests import PairedTest
from metaeval.stats.scale import Scaled
from metaeval.stats.streams import stream_key
from metaeval.stats.swapping import find_clusters, swap_p_values


def agreement(
    scores: Scores | Sequence[Scores],
    *,
    reference: str | Measure | Scores | Sequence[Scores],
    run_scores: Scores | Sequence[Scores] | None = None,
    reference_measure: str | None = None,
    statistics: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
    missing: MissingPolicy = "raise",
    runs: Share = "all",
    topics: Share = "all",
    test: PairedTest = "randomised-tukey-hsd",
    n_permutations: int = 1000,
    n_bootstrap: int = 1000,
    alpha: float = 0.05,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
) -> Agreement:
    """Which measures agree best with a reference?

    Parameters
    ----------
    scores : Scores or sequence of Scores
        At least two runs and two topics; several collections with the same measures are pooled. Several with one
        reference of its own are judges of the same runs instead, which become measures called as their collections.
    reference : str, Measure, Scores or sequence of Scores
        A measure of the scores, or scores of one measure on their own, which may have further runs and topics; of several
        collections, one for each, in their order.
    run_scores : Scores or sequence of Scores, optional
        Scores of whole runs, with one topic, for measures that do not sum up a run by the mean over its topics. They
        replace the mean in statistics of runs; measures that are not in them keep it. Of several collections, or judges,
        one for each, in their order.
    reference_measure : str, optional
        Which measure of a reference of its own, if it has several.
    statistics : sequence of str, optional
        By default pairwise_accuracy, spa, pearson, spearman, tau_a, tau_b, topic_pearson and acc_t; besides there are
        tau_ap_b and tau_gap, which weigh the head of the ranking, and acc_t_cells, acc-t over the pairs of all cells.
        Those of runs can be of the runs that the reference puts first: tau_b@15.
    weights : sequence of float, optional
        Weights of the collections; 1 each by default. Pairwise accuracy adds pairs of runs, other statistics are
        averaged.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with topics, or runs, of which scores of their own of the reference have none: leave them out, or
        raise. No worst value can stand for a reference.
    runs, topics : {"all", "shared"}, optional
        Whether all runs, or topics, of the scores need a reference, or only those count that all judges and a
        reference of its own share; what is left out is said.
    test : str, optional
        Which pairs of runs are significant: as for `discriminative_power`.
    n_permutations : int, optional
        Trials of the exchange tests between measures, of the sign flips of spa, and of the test of pairs of runs.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none. With fewer than 10 runs or 25 topics there is none.
    alpha : float, optional
        Significance level.
    confidence : float, optional
        Level of the intervals.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional
    n_jobs : int, optional
        Threads; the result is the same for any number.

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
    >>> found = agreement(scores, reference="MQM", statistics=["tau_a", "acc_t"], n_permutations=200, n_bootstrap=0)
    >>> found.to_frame()[["statistic", "measure", "value", "cluster"]].round(2)
      statistic measure  value  cluster
    0     tau_a    good   0.88        1
    1     tau_a     bad  -0.39        2
    2     acc_t    good   0.80        1
    3     acc_t     bad   0.48        2
    """
    check_seed(seed)
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_count("n_permutations", n_permutations, 1)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_policy(missing, MissingPolicy)
    wanted = tuple(dict.fromkeys(BY_DEFAULT if statistics is None else statistics))
    if not wanted:
        raise MetaevalError(f"no statistic was asked for: use {', '.join(TITLES)}")
    for statistic in wanted:
        split_statistic(statistic)
    given = [scores] if isinstance(scores, Scores) else list(scores)
    if not given:
        raise MetaevalError("there are no scores")
    reference = choose_measure(reference, reference_measure)
    if isinstance(reference, Scores):
        *given, reference = take_shared([*given, reference], runs, topics)
        if len(given) > 1:
            run_scores = join_run_scores(run_scores, given) if isinstance(run_scores, list | tuple) else run_scores
            given = [join_judges(given, reference)]
    elif isinstance(reference, list | tuple) and all(isinstance(one, Scores) for one in reference):
        pairs = zip(given, list_for_each(reference, given, "reference"), strict=True)
        given, reference = map(list, zip(*(take_shared(pair, runs, topics) for pair in pairs), strict=True))
    elif "shared" in (runs, topics):
        option = format_option("runs" if runs == "shared" else "topics", "shared")
        raise MetaevalError(f"{option} is for a reference of its own: a measure has the runs and topics of the others")
    references = list_for_each(reference, given, "reference")
    whole = list_for_each(run_scores, given, "run_scores")
    share = check_weights(weights, len(given))
    joined = [join_reference(*pair, missing, shares=True) for pair in zip(given, references, strict=True)]
    held_against = joined[0][1]
    if any(str(one) != str(held_against) for _, one in joined):
        names = sorted({str(one) for _, one in joined})
        raise MetaevalError(f"the collections are held against different measures: {format_list(names)}")
    chosen = [choose_runs(one, distinct_runs, measures=2) for one, _ in joined]
    collections = [one for one, _ in chosen]
    measures = list_measures(collections, held_against)
    titles = [one.collection or str(number) for number, one in enumerate(collections, start=1)]
    warn_of_same_data(titles, [one.values for one in collections])
    found, powers, disagreements, no_interval = [], [], [], ""
    for one, own in zip(collections, whole, strict=True):
        why = explain_no_interval(len(one.runs), len(one.topics)) if n_bootstrap else ""
        no_interval = no_interval or why
        trials = (n_permutations, 0 if why else n_bootstrap)
        held = _hold(one, own, held_against, measures, trials, seed)
        found.append(find_statistics(held, wanted))
        disagreements.append(_disagree(one, own, held, [*measures, held_against]))
        powers.append(
            discriminative_power(
                one, test=test, n_permutations=n_permutations, n_bootstrap=0, alpha=alpha, seed=seed, n_jobs=n_jobs
            )
        )
    pooled = pool_statistics(found, share)
    n_topics = min(len(one.topics) for one in collections)
    ends, gap_ends = (
        np.array([find(name, one, n_topics, confidence) for name, one in pooled.items()])
        for find in (find_ends, find_difference_ends)
    )
    p_values = np.array([swap_p_values(one.observed, one.exchanged) for one in pooled.values()])
    values = np.array([one.value for one in pooled.values()])
    intervals = bool(n_bootstrap and not no_interval)
    settings: dict[str, object] = {"reference": held_against, "statistics": ", ".join(wanted), "test": test}
    settings |= {"B": n_permutations, "seed": seed, "alpha": alpha}
    settings |= {"bootstrap": n_bootstrap} if n_bootstrap else {}
    settings |= {"weights": ", ".join(f"{one:g}" for one in share)} if len(share) > 1 else {}
    own_scores = [f"{one.collection or 'scores'}@{one.sha256[:12]}" for one in whole if one is not None]
    settings |= {"run scores": "; ".join(own_scores)} if own_scores else {}
    return Agreement(
        tuple(one.collection for one in collections),
        measures,
        held_against,
        wanted,
        values,
        ends[:, 0],
        ends[:, 1],
        np.array([one.chance for one in pooled.values()]),
        np.array([one.ceiling for one in pooled.values()]),
        p_values,
        np.array([find_clusters(*pair, alpha) for pair in zip(values, p_values, strict=True)]),
        np.array([one.exchanged for one in pooled.values()]),
        gap_ends,
        np.array([[one.value for one in each.values()] for each in found]),
        np.sum([count_confirmed(power, held_against, measures) for power in powers], axis=0),
        sum(power.p_values.shape[1] for power in powers),
        alpha,
        confidence,
        sign("agreement", collections, **settings, **chosen[0][1].settings),
        tuple(disagreements),
        no_interval,
        diagnostics=tuple(diagnostics for _, diagnostics in chosen),
        remarks=(remark_coverage(wanted, n_topics) if intervals else ())
        + (remark_levels(wanted, intervals) if len(measures) > 1 else ()),
    )


def _disagree(scores: Scores, own: Scores | None, held: Held, measures: Sequence[Measure]) -> Disagreement:
    """Compare run by run and topic by topic, with run scores as the measures give them; the last is the reference."""
    runs, topics = tuple(sorted(scores.runs)), tuple(sorted(scores.topics))
    names, signs = [str(one) for one in measures], find_signs(measures)
    means = held.means
    if means is None:
        means = (scores.sel(runs=runs, topics=topics, measures=names).values * signs).mean(axis=1)
    run_scores = find_run_scores(means, scores, own, names)
    return find_disagreement(runs, topics, held.scores, run_scores, signs)


def _hold(
    scores: Scores, own: Scores | None, reference: Measure, measures: Sequence[Measure], trials: tuple[int, int],
    seed: int,
) -> Held:  # fmt: skip
    """Return one collection in the order of labels, with the measures in the order given."""
    order = sort_labels(scores, signs=find_signs(scores.measures))
    names = [str(one) for one in scores.measures]
    # Measures stay in their order: nothing is drawn for them, and the same pairs of them are pooled.
    places = [order.measures[names.index(str(one))] for one in (*measures, reference)]
    scaled = Scaled(order.values, places)
    run_scores = find_run_scores(scaled.means(), scores, own, [str(one) for one in (*measures, reference)])

    def key(purpose: str) -> int:
        return stream_key(seed, scores.collection, "agreement", purpose)

    # Scores that are a file are not sorted once more for the means that the measures give.
    means = mean_over_topics(order.values)[:, places] if scaled.large else None
    return Held(scaled, run_scores, key, *trials, means)
