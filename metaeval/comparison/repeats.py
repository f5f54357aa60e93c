"""Does a verdict stand with another seed, without baselines, or on distinct runs?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from metaeval.analyses.study import BASELINES, Study

MANY_RUNS = 300
"""With more runs than this only a thorough comparison makes the recommended test and draws curves over numbers of topics."""

SEEDS = 2
"""Further seeds of a thorough comparison."""

NOT_TRIED = "not tried"

WITHOUT_BASELINES, ON_DISTINCT_RUNS = "without baselines", "distinct runs"

NO_BASELINES, ALL_DISTINCT, ALREADY_DISTINCT = "there are none", "all runs differ", "as it is"
"""Why a study is not repeated."""

TOO_FEW_RUNS = "too few runs are left"


def name_seed(number: int) -> str:
    """Return what the repeat with a further seed is called, from 1."""
    return f"another seed ({number})"


CHANGES = (*map(name_seed, range(1, SEEDS + 1)), WITHOUT_BASELINES, ON_DISTINCT_RUNS)
"""What a thorough comparison tries."""

Repeats = Mapping[str, tuple[Study, ...] | str]
"""By what is changed, the studies of all collections; or in words why there are none."""

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
        if TOO_FEW_RUNS in reasons:
            by_change[change] = TOO_FEW_RUNS
        elif len(reasons) == len(each):
            by_change[change] = reasons[0]
        else:
            # A collection in which there is nothing to change stays as it is.
            pairs = zip(studies, each, strict=True)
            by_change[change] = tuple(study if isinstance(repeated, str) else repeated for study, repeated in pairs)
    return by_change


def repeat_study(study: Study, ask: Callable[..., Study], *, seed: int) -> dict[str, Study | str]:
    """Study a collection again, with one thing changed at a time.

    `ask` gave the study: it takes scores and the options of `study_collection` that are changed, ``seed`` or
    ``distinct_runs``.

    Examples
    --------
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
    repeats: dict[str, Study | str] = {
        name_seed(number): ask(study.scores, seed=seed + number) for number in range(1, SEEDS + 1)
    }
    runs = [run for run in study.scores.runs if run not in BASELINES]
    if len(runs) == len(study.scores.runs):
        repeats[WITHOUT_BASELINES] = NO_BASELINES
    elif len(runs) < 2:
        repeats[WITHOUT_BASELINES] = TOO_FEW_RUNS
    else:
        repeats[WITHOUT_BASELINES] = ask(study.scores.sel(runs=runs))
    repeats[ON_DISTINCT_RUNS] = _keep_distinct(study, ask)
    return repeats


def _keep_distinct(study: Study, ask: Callable[..., Study]) -> Study | str:
    copies = sum(len(group) - 1 for group in study.diagnostics.identical)
    if not copies:
        return ALL_DISTINCT
    if study.diagnostics.distinct:
        return ALREADY_DISTINCT
    if len(study.scores.runs) - copies < 2:
        return TOO_FEW_RUNS
    return ask(study.scores, distinct_runs=True)
