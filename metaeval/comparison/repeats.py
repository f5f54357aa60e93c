"""Does a verdict stand with another test, another seed, without baselines, or on distinct runs?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from metaeval.analyses.repeated_study import (
    ON_DISTINCT_RUNS,
    TOO_FEW_RUNS,
    WITHOUT_BASELINES,
    name_seed,
    repeat_study,
)
from metaeval.analyses.study import Study
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

CHANGES = (SLOW_TEST, *map(name_seed, range(1, SEEDS + 1)), WITHOUT_BASELINES, ON_DISTINCT_RUNS)
"""What a thorough comparison tries."""

Repeats = Mapping[str, tuple[Study, ...] | str]
"""By what is changed, the studies of all collections; or in words why there are none."""

_ASKED = ("similarity", "consistency", "small_consistency", "power", "contradictions", "reference")
"""What verdicts rest on."""

T = TypeVar("T")


def study_collections(asks: Sequence[Callable[[], T]], n_jobs: int) -> list[T]:
    """Ask several collections at once, in threads: kernels compute without holding the interpreter."""
    import joblib

    if n_jobs == 1 or len(asks) == 1:
        return [ask() for ask in asks]
    return run_tasks([joblib.delayed(ask)() for ask in asks], n_jobs=n_jobs, prefer="threads")


def repeat_studies(studies: Sequence[Study], asks: Sequence[Callable[..., Study]], seed: int, n_jobs: int) -> Repeats:
    """Study every collection again, with one thing changed at a time; `asks` take scores and what is changed."""
    again = [
        partial(repeat_study, study, partial(ask, questions=_ASKED), seed=seed, n_seeds=SEEDS, test=SLOW_TEST)
        for study, ask in zip(studies, asks, strict=True)
    ]
    repeats = study_collections(again, n_jobs)
    by_change: dict[str, tuple[Study, ...] | str] = {}
    for change in CHANGES:
        each = [repeated[change] for repeated in repeats]
        reasons = [reason for reason in each if isinstance(reason, str)]
        if TOO_FEW_RUNS in reasons:
            by_change[change] = TOO_FEW_RUNS
        elif len(reasons) == len(each):
            by_change[change] = reasons[0]
        else:
            # A collection in which there is nothing to change stays as it is.
            pairs = zip(studies, each, strict=True)
            by_change[change] = tuple(study if isinstance(repeated, str) else repeated for study, repeated in pairs)
    return by_change
