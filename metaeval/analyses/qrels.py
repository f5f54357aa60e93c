"""Which conclusions about runs change when other judgements take the place of people's?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from metaeval.analyses.agreement import agreement
from metaeval.analyses.agreement_estimates import remark_coverage
from metaeval.analyses.agreement_result import Agreement
from metaeval.analyses.checks import check_count, check_jobs, check_seed, check_share
from metaeval.analyses.diagnostics import choose_common_runs
from metaeval.analyses.qrels_judges import compare_grades, find_favours, map_grades
from metaeval.analyses.qrels_result import QrelsComparison
from metaeval.analyses.qrels_scores import (
    RetrievalMeasure,
    label_scores,
    measure_gaps,
    parse_measures,
    score_judged,
)
from metaeval.analyses.reference_pairs import count_conclusions, name_flips
from metaeval.data.judged import Grades, JudgedRuns
from metaeval.data.labels import find_labels
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_option
from metaeval.measures.base import find_signs
from metaeval.show.signature import sign
from metaeval.stats.agreement_statistics import parse_statistic
from metaeval.stats.pair_tests import all_pairs_test, simultaneous_reach
from metaeval.stats.significant_counts import trials_needed
from metaeval.stats.streams import stream_key


def compare_qrels(
    judged: JudgedRuns,
    *,
    measures: Sequence[str] = ("nDCG@10",),
    statistic: str = "tau_b",
    scales: Mapping[str, Sequence[int]] | None = None,
    family: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    n_permutations: int = 2000,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
) -> QrelsComparison:
    """Which conclusions about runs change when models judge in place of people?

    Runs are scored under each set of judgements, of which the first is the reference. Needs pip install "metaeval[ir]".

    Parameters
    ----------
    judged : JudgedRuns
        Two runs and two topics or more, with two sets of judgements or more.
    measures : sequence of str, optional
        As ir_measures writes them: nDCG@10, AP(rel=2), RR@10; may be repeated. A document without a grade is not relevant.
    statistic : str, optional
        How rankings of runs are compared: tau_b, tau_a, tau_ap_b, tau_b@15 and others of runs, as for `agreement`.
    scales : mapping of str to sequence of int, optional
        What the grades 0, 1, 2, … of a judge are on the reference's scale: judge=0,0,1,3. Scores and κ use it; otherwise grades
        are taken as they are.
    family : mapping of str to str, optional
        Which runs are made with which model: run=model, or a file of both. A judge is of the model that its name, or a part of
        it between - and _, names.
    alpha : float, optional
        Significance level of the test of all pairs of runs, bootstrap-t.
    n_permutations : int, optional
        B, the trials of the test of all pairs of runs.
    n_bootstrap : int, optional
        Resamples of the topics for the intervals; 0 for none.
    confidence : float, optional
        Level of the intervals of rank correlations, grades and favours. Those of differences of runs are at 1 − alpha.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional
    n_jobs : int, optional
        Threads; the result is the same for any number.

    Returns
    -------
    QrelsComparison

    Raises
    ------
    MetaevalError
        If ir_measures is not installed or knows no such measure, a run or judge that is named does not exist, or an option
        is out of range.
    DataError
        If a set of judgements gives every run the score 0.

    Examples
    --------
    >>> people = {f"q{t}": {"a": 1, "b": t % 2, "c": 0} for t in range(6)}
    >>> model = {topic: {"a": 1, "b": 1, "c": 0} for topic in people}
    >>> runs = {run: {topic: {d: -i for i, d in enumerate(run)} for topic in people} for run in ("abc", "bac", "cba")}
    >>> compare_qrels(JudgedRuns({"people": people, "model": model}, runs), n_permutations=100).to_frame()[["judge", "tau"]]
       judge       tau
    0  model  0.816497
    """
    if not isinstance(judged, JudgedRuns):
        raise MetaevalError(f"this takes JudgedRuns, not {type(judged).__name__}: see metaeval.io.read_judged_runs")
    check_share("alpha", alpha)
    check_share("confidence", confidence)
    check_count("n_permutations", n_permutations, trials_needed(1, alpha))
    check_count("n_bootstrap", n_bootstrap, 0)
    check_seed(seed)
    check_jobs(n_jobs)
    family = family or {}
    which = parse_statistic(statistic)
    if which.run_statistic is None:
        others = "use tau_b, tau_a, tau_ap_b, tau_gap, spearman, pearson or pairwise_accuracy"
        raise MetaevalError(f"{format_option('statistic', statistic)} does not compare rankings of runs: {others}")
    known, names = parse_measures(measures), tuple(judged.runs)
    find_labels(family, names, "run")
    sets = map_grades(judged, scales or {})
    values, condensed = (score_judged(judged, known, sets, condensed=each) for each in (False, True))
    labelled = [label_scores(judged, each, array) for each, array in zip(known, values, strict=True)]
    scored, diagnostics = choose_common_runs(labelled, distinct_runs)
    compared = [_compare(scores, statistic, n_bootstrap, confidence, seed) for scores in scored]
    flips, pairs = zip(*(list_flips(each, n_permutations, alpha, seed, n_jobs) for each in scored), strict=True)
    key = stream_key(seed, judged.collection, "compare_qrels")
    gaps = measure_gaps(judged, known, values, condensed)
    grades = compare_grades(sets, scales or {}, key, n_bootstrap, confidence)
    chosen = {run: model for run, model in family.items() if run in scored[0].runs}
    favours = [find_favours(each, chosen, confidence) for each in scored] if chosen else []
    settings = {"measures": ", ".join(str(each.measure) for each in known), "judgements": ", ".join(judged.sets)}
    settings |= _describe_settings(scales, family) | {"statistic": statistic, "test": "bootstrap-t"}
    numbers = {"B": n_permutations, "alpha": alpha, "bootstrap": n_bootstrap, "seed": seed}
    return QrelsComparison(
        judged.collection,
        judged.sets,
        tuple(each.measure for each in known),
        tuple(compared),
        np.array(pairs),
        _stack(known, flips),
        gaps,
        grades,
        _stack(known, favours),
        alpha,
        confidence,
        sign("compare_qrels", scored, **settings, **numbers, **diagnostics[0].settings),
        compared[0].no_interval,
        diagnostics=diagnostics,
        remarks=(
            *_remark_judges(sets, grades),
            *_remark_favours(favours),
            *_remark_gaps(gaps),
            *_remark_grades(grades, judged.sets[0]),
            *_remark_empty(sets),
            *(remark_coverage([which], len(judged.topics)) if n_bootstrap and not compared[0].no_interval else ()),
        ),
    )


def _compare(scores: Scores, statistic: str, n_bootstrap: int, confidence: float, seed: int) -> Agreement:
    """Compare the rankings of runs; no judges are exchanged."""
    return agreement(
        scores, reference=scores.measures[0], statistics=[statistic], n_permutations=1,
        n_bootstrap=n_bootstrap, confidence=confidence, seed=seed,
    )  # fmt: skip


def _describe_settings(scales: Mapping[str, Sequence[int]] | None, family: Mapping[str, str]) -> dict[str, str]:
    """Return what the signature says of what was stated about judges and runs."""
    settings = {"scale": "; ".join(f"{name} {list(each)}" for name, each in (scales or {}).items())}
    settings["family"] = f"{format_count(len(family), 'run')} of {len(set(family.values()))}" if family else ""
    return {name: text for name, text in settings.items() if text}


def _stack(measures: Sequence[RetrievalMeasure], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the frames of all measures as one, with the measure in front."""
    named = [frame.assign(measure=str(one.measure)) for one, frame in zip(measures, frames, strict=False)]
    return pd.concat(named, ignore_index=True)[["measure", *frames[0]]] if named else pd.DataFrame()


def list_flips(
    scores: Scores, n_permutations: int, alpha: float, seed: int, n_jobs: int = 1
) -> tuple[pd.DataFrame, np.ndarray]:
    """Which pairs of runs differ significantly by one of two sets of judgements only, or the other way round?

    Intervals of all pairs hold together, those by each set and those of the change from one to the other; a flip is clear if
    the change is. `scores` have runs and topics sorted by label, and the reference first. Of every judge's pairs it is counted,
    shape (judge, 4), how many the reference confirms, contradicts, does not find, and finds alone.
    """
    signed = scores.values * find_signs(scores.measures)
    values = np.concatenate([signed, signed[..., 1:] - signed[..., :1]], axis=-1)
    key = stream_key(seed, scores.collection, "discriminative_power")  # the same trials, and p-values, as there
    result = all_pairs_test(values, test="bootstrap-t", n_permutations=n_permutations, key=key, n_jobs=n_jobs)
    reach = simultaneous_reach(result, alpha)
    first, second = np.triu_indices(len(scores.runs), 1)
    means, n_sets = values.mean(axis=1).T, len(scores.measures)
    gaps = means[:, first] - means[:, second]
    verdicts = np.where(result.p <= alpha, np.sign(gaps), 0)
    runs, frames = np.array(scores.runs, dtype=object), []
    for j in range(1, n_sets):
        people, judge = verdicts[0], verdicts[j]
        kinds = name_flips(people, judge)
        at = np.flatnonzero(kinds)
        ahead = np.where(people[at] != 0, people[at], judge[at])
        columns = {
            "judge": str(scores.measures[j]), "flip": kinds[at],
            "run_1": np.where(ahead > 0, runs[first[at]], runs[second[at]]),
            "run_2": np.where(ahead > 0, runs[second[at]], runs[first[at]]),
        }  # fmt: skip
        for name, column in (("by_reference", 0), ("by_judge", j), ("change", n_sets - 1 + j)):
            middle, wide = ahead * gaps[column, at], reach[column, at]
            columns |= {name: middle, f"{name}_low": middle - wide, f"{name}_high": middle + wide}
        frames.append(pd.DataFrame(columns).assign(clear=np.abs(middle) > wide))
    return pd.concat(frames, ignore_index=True), count_conclusions(verdicts[1:n_sets], verdicts[0])


def _remark_judges(sets: Mapping[str, Grades], grades: pd.DataFrame) -> Iterator[str]:
    """Yield which judges give all documents one grade, are copies of the reference, or grade the other way round."""
    reference, *judges = sets
    for name, high in zip(judges, grades["tau_b_high"], strict=True):
        given = {grade for some in sets[name].values() for grade in some.values()}
        if len(given) == 1:
            yield f"{name} gives every document the grade {given.pop()}: it only tells which documents it judged"
        elif sets[name] == sets[reference]:
            yield f"{name} gives every document the grade of {reference}: was it copied?"
        elif high < 0:
            yield f"{name} grades low what {reference} grades high: check its grades"


def _remark_favours(favours: Sequence[pd.DataFrame]) -> tuple[str, ...]:
    """Say which judges favour runs of their own model, or the opposite, by the first measure."""
    if not favours:
        return ()
    own = favours[0][favours[0]["own"]]
    clear = own[(own["at_same_score_low"] > 0) | (own["at_same_score_high"] < 0)]
    listed = [
        f"{judge} scores runs of {model} {value:+.3f}"
        for judge, model, value in zip(clear["judge"], clear["model"], clear["at_same_score"], strict=True)
    ]
    said = f"{'; '.join(listed)}, compared with other runs of the same score" if listed else ""
    return (said or "no judge clearly favours runs of its own model, compared with other runs of the same score",)


def _remark_gaps(gaps: pd.DataFrame) -> tuple[str, ...]:
    worst = gaps.iloc[int(gaps["unjudged"].to_numpy().argmax())]
    if worst["unjudged"] == 0:
        return ()
    return (
        f"{worst['judge']} leaves {100 * worst['unjudged']:.1f} % of the documents that {worst['measure']} looks at unjudged\n"
        f"Without them runs would score {worst['cost']:+.3f} on average, {worst['run']} {worst['cost_of_run']:+.3f}",
    )


def _remark_grades(grades: pd.DataFrame, reference: str) -> tuple[str, ...]:
    lacking = [f"{name} {count:,}" for name, count in zip(grades["judge"], grades["lacking"], strict=True) if count]
    return (f"lines of {reference} that a judge lacks count as unjudged: {', '.join(lacking)}",) if lacking else ()


def _remark_empty(sets: Mapping[str, Grades]) -> tuple[str, ...]:
    empty = {name: sum(max(some.values(), default=0) <= 0 for some in grades.values()) for name, grades in sets.items()}
    listed = [f"{name} {format_count(count, 'topic')}" for name, count in empty.items() if count]
    return (f"topics without a relevant document, on which all runs tie: {', '.join(listed)}",) if listed else ()
