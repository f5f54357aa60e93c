"""How many significant differences between runs does a measure find? (Sakai 2006; ACL 2021, §5.3; LQ 2021, §5.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from metaeval.analyses.checks import (
    check_choice,
    check_count,
    check_jobs,
    check_positive,
    check_share,
    check_trials,
    warn_of_constant_measures,
)
from metaeval.analyses.diagnostics import remark_copies
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.prepare import prepare
from metaeval.analyses.variation import list_intervals, measure_variation
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.stats.pair_tests import (
    FAMILYWISE,
    FLIPPING,
    LEAST_VARIANCE,
    MAX_T,
    VARIANCE_OFFSET,
    Correction,
    PairedTest,
    all_pairs_test,
    simultaneous_reach,
)
from metaeval.stats.significant_counts import significant_count_error


def discriminative_power(
    scores: Scores,
    *,
    n_permutations: int = 5000,
    alpha: float = 0.05,
    seed: int = 0,
    test: PairedTest = "randomised-tukey-hsd",
    correction: Correction = "auto",
    p_add_one: bool = False,
    variance_offset: float | None = None,
    distinct_runs: bool = False,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    simultaneous: bool = True,
    margin: float = 0.05,
    n_jobs: int = 1,
) -> DiscriminativePower:
    """How many significant differences between runs does a measure find?

    Parameters
    ----------
    scores : Scores
        At least two runs and two topics.
    n_permutations : int, optional
        B, the trials of a randomised or bootstrap test, shared by all measures.
    alpha : float, optional
        Significance level.
    seed : int, optional
    test : str, optional
        ``"randomised-tukey-hsd"``, the papers' test; ``"bootstrap-t"`` or ``"max-t"``, which allow runs to differ
        in spread; or for comparison ``"tukey-hsd"``, ``"paired-t"``, ``"paired-randomisation"``,
        ``"paired-bootstrap"``.
    correction : {"auto", "none", "holm", "bonferroni", "benjamini-hochberg"}, optional
        Correction of the p-values for the number of pairs. By default Holm's for the paired tests, and none for the
        others, which allow for all pairs by themselves.
    p_add_one : bool, optional
        Compute p-values as (count + 1)/(B + 1) in place of the papers' count/B. Bootstrap-t, max-t and tests whose
        p-values are corrected always do, since a p of 0 would survive any correction.
    variance_offset : float, optional
        Variance added to that of every pair, as a share of the median pair's; for bootstrap-t, 0.25 by default.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals of power; 0 for none. The test is not repeated on them.
    confidence : float, optional
        Level of all intervals.
    simultaneous : bool, optional
        Make the intervals of the differences of all pairs of measures correct at once, so that one of many equally good
        measures is rarely said to find more; otherwise each is for its pair alone.
    margin : float, optional
        Two measures are alike if their shares of significant pairs differ by at most this.
    n_jobs : int, optional
        Threads; any number gives the same results.

    Returns
    -------
    DiscriminativePower

    Raises
    ------
    MetaevalError
        If there are too few runs or topics, an option is out of range, or B is so small that no pair could be
        significant after the correction.

    Warns
    -----
    MetaevalWarning
        If a measure is constant: its p-values are 1.

    Examples
    --------
    >>> values = np.add.outer([0.1, 0.15, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["NMD"])
    >>> discriminative_power(scores, n_permutations=1000).summary()
      measure  significant  pairs     power  mc_se
    0     NMD            2      3  0.666667    0.0
    """
    check_positive("margin", margin)
    check_share("alpha", alpha)
    check_jobs(n_jobs)
    check_count("n_permutations", n_permutations, 1)
    check_count("n_bootstrap", n_bootstrap, 0)
    check_share("confidence", confidence)
    correction = _choose_correction(test, correction, p_add_one)
    ready = prepare(
        scores, "discriminative_power", seed=seed, distinct_runs=distinct_runs,
        clusters="sum" if test in FLIPPING else "pool",
    )  # fmt: skip
    scores, values = ready.scores, ready.values
    n_pairs = len(scores.runs) * (len(scores.runs) - 1) // 2
    remarks = check_trials(test, correction, n_pairs, n_permutations, alpha) + remark_copies(scores)
    # A p of 0 would survive any correction.
    add_one = p_add_one or correction != "none"
    constant = warn_of_constant_measures(scores)
    result = all_pairs_test(
        values, test=test, correction=correction, n_permutations=n_permutations, key=ready.key(),
        add_one=add_one, variance_offset=variance_offset, n_jobs=n_jobs,
    )  # fmt: skip
    p_values = np.where(constant[:, np.newaxis], 1.0, ready.restore(result.p, "measure", "run pair"))
    counts = None if result.counts is None else ready.restore(result.counts, "measure", "run pair")
    reach = simultaneous_reach(result, alpha) if test == "bootstrap-t" else None
    exact = bool(result.exact and result.n_trials)
    add_one = add_one or test in MAX_T
    if exact:
        errors = np.zeros(len(p_values))
    elif counts is None:
        errors = np.full(len(p_values), np.nan)
    else:
        errors = significant_count_error(counts, n_permutations, alpha, correction=correction, add_one=add_one)
    over_topics = measure_variation(
        ready, result, test=test, alpha=alpha, n_bootstrap=n_bootstrap, confidence=confidence, simultaneous=simultaneous
    )
    significant = (p_values <= alpha).sum(axis=1)
    low, high = over_topics.find_power_ends(significant / n_pairs)
    rows = pd.DataFrame(
        {
            "measure": [str(measure) for measure in scores.measures], "significant": significant, "pairs": n_pairs,
            "power": significant / n_pairs, "mc_se": errors, "low": low, "high": high,
        }
    )  # fmt: skip
    settings: dict[str, object] = {"test": test}
    settings |= {} if test in FAMILYWISE else {"correction": correction}
    if test == "bootstrap-t":
        settings["variance_offset"] = VARIANCE_OFFSET if variance_offset is None else variance_offset
        settings["least_variance"] = LEAST_VARIANCE
    settings |= {"sign vectors": f"all {result.n_trials}"} if exact else {}
    settings |= {"B": n_permutations, "seed": seed} if counts is not None and not exact else {}
    settings["alpha"] = alpha
    if counts is not None and not result.exact and add_one:
        settings["p"] = "(count + 1)/(B + 1)"
    if len(over_topics.shares):
        settings |= {"bootstrap": n_bootstrap, "seed": seed} | list_intervals(simultaneous, margin, 0.05)
    return DiscriminativePower(
        measures=scores.measures,
        rows=rows,
        differences=over_topics.compare(scores.measures, significant / n_pairs, margin),
        over_topics=over_topics,
        margin=margin,
        collection=scores.collection,
        runs=scores.runs,
        topics=tuple(sorted(scores.topics)),
        means=ready.restore(values.mean(axis=1), "run", "measure"),
        p_values=p_values,
        counts=counts,
        deviations=ready.restore(_deviate(values), "measure", "run pair"),
        reach=reach if reach is None else ready.restore(reach, "measure", "run pair"),
        n_permutations=result.n_trials or n_permutations,
        alpha=alpha,
        test=test,
        signature=ready.sign(**settings),
        diagnostics=(ready.diagnostics,),
        remarks=remarks,
        no_interval=over_topics.no_interval,
    )


def _choose_correction(test: PairedTest, correction: Correction, p_add_one: bool) -> Correction:
    """Return the correction that is meant, after checks of the options that choose a test."""
    check_choice("test", test, PairedTest)
    check_choice("correction", correction, Correction)
    if test in FAMILYWISE and correction not in ("auto", "none"):
        raise MetaevalError(f"{test} allows for all pairs by itself; a correction is for the paired tests")
    if not isinstance(p_add_one, bool | np.bool_):
        raise MetaevalError(f"{format_option('p_add_one')} is {p_add_one!r}; it is True or False")
    if correction != "auto":
        return correction
    return "none" if test in FAMILYWISE else "holm"


def _deviate(values: np.ndarray) -> np.ndarray:
    """Return the standard deviation over topics of the difference of every two runs, shape (measure, pair)."""
    n_runs, _, n_measures = values.shape
    deviations = np.empty((n_measures, n_runs * (n_runs - 1) // 2))
    for scores, spread in zip(np.ascontiguousarray(np.moveaxis(values, -1, 0)), deviations, strict=True):
        # Squares of huge scores are more than a float holds; in units of a power of two of the larger run they are exact.
        sizes, start = np.frexp(np.abs(scores).max(axis=1))[1], 0
        for run in range(n_runs - 1):
            units = np.maximum(np.maximum(sizes[run], sizes[run + 1 :]), -1000)
            gaps = (scores[run + 1 :] - scores[run]) * np.ldexp(1.0, -units)[:, np.newaxis]
            spread[start : start + len(gaps)] = np.ldexp(gaps.std(axis=1, ddof=1), units)
            start += len(gaps)
    return deviations
