"""Does an answer stand when it is asked for again: by another test, with other seeds, without baselines, on distinct runs?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from metaeval.analyses.study import BASELINES, Study
from metaeval.stats.paired_tests import PairedTest

WITHOUT_BASELINES, ON_DISTINCT_RUNS = "without baselines", "distinct runs"

NO_BASELINES, ALL_DISTINCT, ALREADY_DISTINCT = "there are none", "all runs differ", "as it is"
"""Why a study is not repeated."""

TOO_FEW_RUNS = "too few runs are left"

Repeats = dict[str, Study | str]
"""By what is changed, the study repeated with that change; or in words why it is not."""


def repeat_study(
    study: Study,
    ask: Callable[..., Study],
    *,
    seed: int,
    n_seeds: int,
    test: PairedTest | None = None,
    is_baseline: Callable[[str], bool] = BASELINES.__contains__,
) -> Repeats:
    """Study a collection again, with one thing changed at a time.

    `ask` gave the study: it takes scores and the options of `study_collection` that are changed, namely ``seed``,
    ``distinct_runs``, or ``questions`` with ``robust_test``.

    Examples
    --------
    >>> import numpy as np
    >>> from functools import partial
    >>> from metaeval.analyses.study import study_collection
    >>> values = np.random.default_rng(0).normal(size=(5, 12, 2))
    >>> from metaeval.data.scores import Scores
    >>> scores = Scores(values, runs=["BL-uniform", *"abcd"], topics=range(12), measures=["AP", "RR"])
    >>> ask = partial(study_collection, questions=["power"], n_permutations=50, n_bootstrap=0)
    >>> repeats = repeat_study(ask(scores), ask, seed=0, n_seeds=1)
    >>> {change: study if isinstance(study, str) else len(study.scores.runs) for change, study in repeats.items()}
    {'another seed (1)': 5, 'without baselines': 4, 'distinct runs': 'all runs differ'}
    """
    repeats: Repeats = {}
    if test is not None:
        repeats[test] = _use_test(study, ask, test)
    for number in range(1, n_seeds + 1):
        repeats[name_seed(number)] = ask(study.scores, seed=seed + number)
    runs = [run for run in study.scores.runs if not is_baseline(run)]
    if len(runs) == len(study.scores.runs):
        repeats[WITHOUT_BASELINES] = NO_BASELINES
    elif len(runs) < 2:
        repeats[WITHOUT_BASELINES] = TOO_FEW_RUNS
    else:
        repeats[WITHOUT_BASELINES] = ask(study.scores.sel(runs=runs))
    repeats[ON_DISTINCT_RUNS] = _keep_distinct(study, ask)
    return repeats


def name_seed(number: int) -> str:
    """Return what the repeat with a further seed is called, from 1."""
    return f"another seed ({number})"


def _use_test(study: Study, ask: Callable[..., Study], test: PairedTest) -> Study:
    """Return the study with what rests on a test of all pairs of runs by another test, which it may have used already."""
    if study.robust_power is None or study.robust_power.test != test:
        other = ask(study.scores, questions=("robust_power", "robust_reference"), robust_test=test)
        study = replace(study, robust_power=other.robust_power, robust_reference=other.robust_reference)
    return study.by_robust_test()


def _keep_distinct(study: Study, ask: Callable[..., Study]) -> Study | str:
    copies = sum(len(group) - 1 for group in study.diagnostics.identical)
    if not copies:
        return ALL_DISTINCT
    if study.diagnostics.distinct:
        return ALREADY_DISTINCT
    if len(study.scores.runs) - copies < 2:
        return TOO_FEW_RUNS
    return ask(study.scores, distinct_runs=True)
