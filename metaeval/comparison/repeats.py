"""Does a verdict stand with another seed, without baselines, or on distinct runs?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from metaeval.analyses.study import BASELINES, Study
from metaeval.comparison.results import Repeats

SEEDS = 2
"""Further seeds of a thorough comparison."""

WITHOUT_BASELINES, ON_DISTINCT_RUNS = "without baselines", "distinct runs"

CHANGES = (*(f"another seed ({number})" for number in range(1, SEEDS + 1)), WITHOUT_BASELINES, ON_DISTINCT_RUNS)
"""What a thorough comparison tries."""

TOO_FEW_RUNS = "too few runs are left"

_ASKED = ("similarity", "consistency", "small_consistency", "power", "contradictions", "reference")
"""What verdicts rest on."""

T = TypeVar("T")


def study_collections(asks: Sequence[Callable[[], T]], n_jobs: int) -> list[T]:
    """Ask several collections at once, in threads: kernels compute without holding the interpreter."""
    import joblib

    found: list[T] = joblib.Parallel(n_jobs=n_jobs, prefer="threads")(joblib.delayed(ask)() for ask in asks)
    return found


def repeat_studies(studies: Sequence[Study], asks: Sequence[Callable[..., Study]], seed: int, n_jobs: int) -> Repeats:
    """Study every collection again, with one thing changed at a time; `asks` take scores and what is changed."""
    again = [
        partial(repeat_study, study, partial(ask, questions=_ASKED), seed=seed)
        for study, ask in zip(studies, asks, strict=True)
    ]
    repeats = study_collections(again, n_jobs)
    by_change: dict[str, tuple[Study, ...] | str] = {}
    for change in CHANGES:
        each = [repeated[change] for repeated in repeats]
        reasons = [reason for reason in each if isinstance(reason, str)]
        if TOO_FEW_RUNS in reasons or len(reasons) == len(each):
            by_change[change] = TOO_FEW_RUNS if TOO_FEW_RUNS in reasons else reasons[0]
        else:  # a collection in which there is nothing to change stays as it is
            pairs = zip(studies, each, strict=True)
            by_change[change] = tuple(study if isinstance(repeated, str) else repeated for study, repeated in pairs)
    return by_change


def repeat_study(study: Study, ask: Callable[..., Study], *, seed: int) -> dict[str, Study | str]:
    """Study a collection again, with one thing changed at a time; in words why not, where there is nothing to change.

    `ask` gave the study: it takes scores and the options of `study_collection` that are changed, ``seed`` or
    ``distinct_runs``.

    >>> import numpy as np
    >>> from functools import partial
    >>> from metaeval.analyses.study import study_collection
    >>> values = np.random.default_rng(0).normal(size=(5, 12, 2))
    >>> from metaeval.data.scores import Scores
    >>> scores = Scores(values, runs=["BL-uniform", *"abcd"], topics=range(12), measures=["AP", "RR"])
    >>> ask = partial(study_collection, questions=["power"], n_permutations=50, n_bootstrap=0)
    >>> repeats = repeat_study(ask(scores), ask, seed=0)
    >>> {change: study if isinstance(study, str) else len(study.scores.runs) for change, study in repeats.items()}
    {'another seed (1)': 5, 'another seed (2)': 5, 'without baselines': 4, 'distinct runs': 'all runs differ'}
    """
    scores = study.scores
    runs = [run for run in scores.runs if run not in BASELINES]
    copies = sum(len(group) - 1 for group in study.diagnostics.identical)
    without: Study | str
    distinct: Study | str
    if len(runs) == len(scores.runs):
        without = "there are none"
    else:
        without = TOO_FEW_RUNS if len(runs) < 2 else ask(scores.sel(runs=runs))
    if not copies or study.diagnostics.distinct:
        distinct = "as it is" if copies else "all runs differ"
    else:
        distinct = TOO_FEW_RUNS if len(scores.runs) - copies < 2 else ask(scores, distinct_runs=True)
    seeds = {change: ask(scores, seed=seed + number) for number, change in enumerate(CHANGES[:SEEDS], start=1)}
    return {**seeds, WITHOUT_BASELINES: without, ON_DISTINCT_RUNS: distinct}
