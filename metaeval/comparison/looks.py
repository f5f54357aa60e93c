"""Does a verdict stand with another test, another seed, without baselines, or on distinct runs?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from metaeval.analyses.study import BASELINES, Study
from metaeval.stats.paired_tests import PairedTest
from metaeval.stats.parallel import run_tasks

QUICK_TEST: PairedTest = "max-t"
"""The second test of every comparison: it lets runs differ in spread, and takes a moment."""

SLOW_TEST: PairedTest = "bootstrap-t"
"""The test of thorough comparisons: it lets runs differ in spread and skewness."""

MANY_RUNS = 300
"""With more runs than this only a thorough comparison makes the second test and draws the curves over numbers of topics."""

SEEDS = 2
"""Further seeds of a thorough comparison."""

NOT_TRIED = "not tried"

LOOKS = (
    SLOW_TEST,
    *(f"another seed ({number})" for number in range(1, SEEDS + 1)),
    "without baselines",
    "distinct runs",
)
"""What a thorough comparison tries."""

Looks = Mapping[str, tuple[Study, ...] | str]
"""By what is changed, the studies of all collections; or in words why there are none."""

_ASKED = ("similarity", "consistency", "small_consistency", "power", "contradictions", "reference")
"""What verdicts rest on."""


def study_all(asks: Sequence[Callable[[], Study]], n_jobs: int) -> list[Study]:
    """Ask several collections at once, in threads: kernels compute without holding the interpreter.

    Parameters
    ----------
    asks : sequence of callable
        One per collection.
    n_jobs : int
        Threads.

    Returns
    -------
    list of Study
    """
    import joblib

    if n_jobs == 1 or len(asks) == 1:
        return [ask() for ask in asks]
    return run_tasks([joblib.delayed(ask)() for ask in asks], n_jobs=n_jobs, prefer="threads")


def look_again(studies: Sequence[Study], asks: Sequence[partial[Study]], seed: int, n_jobs: int) -> Looks:
    """Study every collection again, with one thing changed at a time.

    Parameters
    ----------
    studies : sequence of Study
        Of every collection, as it is.
    asks : sequence of partial
        What gave them.
    seed : int
    n_jobs : int
        Threads.

    Returns
    -------
    Looks
        By each of `LOOKS`.
    """
    looks: dict[str, tuple[Study, ...] | str] = {}
    tests = [partial(ask, questions=("robust_power", "robust_reference"), robust_test=SLOW_TEST) for ask in asks]
    found = study_all(tests, n_jobs)
    looks[SLOW_TEST] = tuple(
        replace(one, robust_power=other.robust_power, robust_reference=other.robust_reference).by_robust_test()
        for one, other in zip(studies, found, strict=True)
    )
    for number in range(1, SEEDS + 1):
        again = [partial(ask, questions=_ASKED, seed=seed + number) for ask in asks]
        looks[LOOKS[number]] = tuple(study_all(again, n_jobs))
    fewer = [[run for run in one.scores.runs if run not in BASELINES] for one in studies]
    if all(len(runs) == len(one.scores.runs) for runs, one in zip(fewer, studies, strict=True)):
        looks["without baselines"] = "there are none"
    elif any(len(runs) < 2 for runs in fewer):
        looks["without baselines"] = "too few runs are left"
    else:
        again = [
            partial(ask.func, one.scores.sel(runs=runs), **(ask.keywords | {"questions": _ASKED}))
            for ask, one, runs in zip(asks, studies, fewer, strict=True)
        ]
        looks["without baselines"] = tuple(study_all(again, n_jobs))
    if not any(one.diagnostics.identical for one in studies):
        looks["distinct runs"] = "all runs differ"
    elif studies[0].diagnostics.distinct:
        looks["distinct runs"] = "as it is"
    elif any(len(one.scores.runs) - sum(len(g) - 1 for g in one.diagnostics.identical) < 2 for one in studies):
        looks["distinct runs"] = "too few runs are left"
    else:
        looks["distinct runs"] = tuple(
            study_all([partial(ask, questions=_ASKED, distinct_runs=True) for ask in asks], n_jobs)
        )
    return looks
