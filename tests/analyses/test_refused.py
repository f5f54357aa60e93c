"""What an analysis cannot compute it refuses in a sentence that names it; see also `VALUES` of tests/cli/test_messages.py."""

from dataclasses import replace

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from tests.analyses.made import label

NAMES = ["Accuracy", "NMD", "RNOD"]
SCORES = label(np.random.default_rng(5).random((8, 40, 3)), NAMES, "c")
ONE, FEW = SCORES.sel(measures="NMD"), {"n_permutations": 50, "n_bootstrap": 0}
TASKS = [replace(ONE, collection=f"task{number}") for number in range(3)]
ONE_RUN = [*TASKS[:2], TASKS[2].sel(runs=["r00"])]
EQUAL = label(np.repeat(SCORES.values[:1], 3, axis=0), NAMES)
POWER = me.discriminative_power(SCORES, **FEW)


def agree(scores=SCORES, **options):
    return me.agreement(scores, **{"reference": "NMD", **FEW, **options})


def pool(*alphas):
    """Power of the same scores under other names, each with its α, together."""
    each = [replace(SCORES, collection=f"{alpha}") for alpha in alphas]
    powers = [me.discriminative_power(one, alpha=alpha, **FEW) for one, alpha in zip(each, alphas, strict=True)]
    return me.pooled_discriminative_power(powers)


LACKING = {"reference": ["NMD", "kappa"]}
OPTIONS = [
    (me.ranking_similarity, {"seed": None}, "seed is None"),
    (me.discriminative_power, {"n_permutations": 10.5}, "n_permutations is 10.5"),
    (me.discriminative_power, {"alpha": 0}, "alpha is 0"),
    (me.topic_set_size, {"target": 2}, "target is 2"),
    (me.board_ranks, {"n_bootstrap": 10}, "n_bootstrap is 10"),
    (agree, {"distinct_runs": 3}, "distinct_runs is 3"),
    (me.ranking_similarity, {"tau": "tau_b@9"}, "tau=tau_b@9: c holds 8 runs; use at most tau_b@8"),
    (me.discriminative_power, {"seed": "a"}, "the seed is 'a'"),
    (me.calibrate_tests, {"tests": ["t-test"]}, "there is no test 't-test'"),
    (me.calibrate_tests, {"tests": []}, "name at least one test"),
    (me.calibrate_tests, {"n_studies": 5}, "at least 20"),
    (me.calibrate_tests, {"difference": -1.0}, "above 0"),
    (me.calibrate_tests, {"alpha": 0.0}, "between 0 and 1"),
    (me.coverage, {"reference": []}, "at least one reference measure"),
    (me.coverage, LACKING, "reference kappa is not among the scores of Accuracy"),
    (me.coverage, {"reference": ["NMD,RNOD"]}, "NMD,RNOD is not among .*did you mean .'NMD', 'RNOD'"),
    (agree, {"reference": "nobody"}, "there is no measure 'nobody'"),
    (agree, {"statistics": ["tau"]}, "there is no statistic 'tau'"),
    (agree, {"statistics": ["spa@3"]}, "have a form such as tau_b@15"),
    (agree, {"statistics": ["tau_b@04"]}, "have a form such as tau_b@15"),
    (agree, {"statistics": ["tau_b@" + "9" * 5000]}, "have a form such as tau_b@15"),
    (agree, {"statistics": ["tau_b@99"]}, "tau_b@99 needs 99 runs, there are 8"),
    (agree, {"statistics": []}, "no statistic was asked for"),
    (agree, {"run_scores": [None, None]}, "there are 2 for 1 collection"),
    (agree, {"run_scores": 3}, "analyses take Scores, not int"),
    (agree, {"reference_measure": "x"}, "reference_measure chooses from scores"),
    (me.board_ranks, {"aggregate": "median"}, "there is no aggregate 'median'"),
    (me.board_ranks, {"gaps": "drop"}, "there is no policy for gaps 'drop'"),
]
CALLS = [
    (lambda: me.robustness(SCORES.values), "take Scores, not ndarray"),
    (lambda: me.discriminative_power(SCORES.values), "take Scores, not"),
    (lambda: me.baseline_preference(None, "a", "b"), "take Scores, not NoneType"),
    (lambda: me.board_ranks(None), "take Scores, not NoneType"),
    (lambda: me.board_ranks([5]), "take Scores, not int"),
    (lambda: agree(None), "take Scores, not NoneType"),
    (lambda: agree([SCORES, None]), "take Scores, not NoneType"),
    (lambda: me.run_ranks([SCORES]), "take Scores, not list"),
    (lambda: me.significance_overlap([SCORES]), "take Scores, not list"),
    (lambda: me.significance_contradictions([SCORES]), "take Scores, not list"),
    (lambda: me.compare_qrels({}), "takes JudgedRuns, not dict"),
    (lambda: me.robustness([SCORES]), "at least two"),
    (lambda: me.robustness([SCORES, SCORES], distinct_runs=3), "distinct_runs is 3; it is True or False"),
    (lambda: me.discriminative_power(EQUAL, distinct_runs=True), "holds 1 run; at least 2"),
    (lambda: me.robustness(SCORES.sel(runs=["r00", "r01"])), "holds 2 runs; at least 3 are needed"),
    (
        lambda: me.discriminative_power(SCORES.sel(runs=["r00"])),
        "holds 1 run; at least 2 are needed to compare anything",
    ),
    (lambda: me.discriminative_power(SCORES.sel(topics=["0"])), "holds 1 topic; at least 2"),
    (lambda: me.coverage(SCORES.sel(runs=["r00"]), reference="NMD"), "1 run; at least 2"),
    (lambda: me.discriminative_power([SCORES, SCORES]), "the collection c is there twice: it would count double"),
    (lambda: me.discriminative_power([SCORES, ONE]), "only like is pooled with like"),
    (lambda: pool(0.05, 0.01), "has alpha 0.01, the first collection 0.05"),
    (lambda: pool(), "at least one"),
    (lambda: me.significance_overlap(ONE), "two measures or more"),
    (lambda: me.significance_contradictions(ONE), "two measures or more"),
    (lambda: me.run_ranks(POWER, test="max-t"), "^test: nothing is tested again"),
    (lambda: me.significance_overlap(POWER, alpha=0.1), "^alpha: nothing is tested again"),
    (lambda: me.split_half_consistency(EQUAL, tau="tau_b", n_trials=10), "τ_b is not defined where all"),
    (lambda: agree([SCORES, replace(SCORES.sel(measures=NAMES[:2]), collection="b")]), "not all have RNOD"),
    (lambda: agree([SCORES, SCORES], reference=[ONE, SCORES.sel(measures="RNOD")]), "different measures: NMD, RNOD"),
    (lambda: me.board_ranks(ONE_RUN, gaps="present"), "task2 has scores of r00 only"),
    (lambda: me.board_ranks(ONE_RUN), "7 of 8 runs lack scores: choose what to do with gaps=present or complete"),
    (lambda: me.board_ranks(ONE_RUN, gaps="complete"), "too few runs are complete: 1 of 8"),
    (lambda: me.board_ranks([*TASKS, TASKS[0]]), "task0 is there twice"),
    (lambda: me.board_ranks([]), "at least one task"),
    (lambda: me.board_ranks(TASKS[0].sel(topics=["0"])), "task0 has one topic"),
    (lambda: me.board_ranks([TASKS[0], SCORES.sel(measures="RNOD")]), "which have no mean: use aggregate=win-rate"),
]
REFUSED = [*OPTIONS, *((lambda _, call=call: call(), {}, message) for call, message in CALLS)]


@pytest.mark.parametrize(("ask", "options", "message"), REFUSED)
def test_what_cannot_be_computed_is_refused_by_name(ask, options, message):
    with pytest.raises(MetaevalError, match=message):
        ask(ONE if ask in (me.calibrate_tests, me.board_ranks) else SCORES, **options)
