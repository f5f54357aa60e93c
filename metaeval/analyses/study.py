"""What do all analyses that apply say of one collection? For the report of a new measure and for every paper."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from metaeval.analyses.baseline_preference import BaselinePreference, baseline_preference
from metaeval.analyses.coverage import Coverage, coverage
from metaeval.analyses.diagnostics import Diagnostics, choose_runs
from metaeval.analyses.discriminative_power import discriminative_power
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.ranking_similarity import RankingSimilarity, ranking_similarity
from metaeval.analyses.reference_pairs import ReferencePairs, reference_pairs
from metaeval.analyses.result import Result
from metaeval.analyses.sample_size import SampleSize, sample_size
from metaeval.analyses.significance_contradictions import SignificanceContradictions, significance_contradictions
from metaeval.analyses.significance_overlap import SignificanceOverlap, significance_overlap
from metaeval.analyses.split_half_consistency import SplitHalfConsistency, split_half_consistency
from metaeval.data.runs import ClassificationRuns, Runs
from metaeval.data.score import score
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, whole_note
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest

REFERENCE = ("Accuracy", "tau_a", "MI")
"""Amigó et al. (2020), §5: what coverage is measured against, for measures of classification."""

BASELINES = ("BL-popularity", "BL-uniform")
"""The two runs that LQ 2021, §5.3, compares, as data sets name them."""

SMALL = 10
"""Topics in each of two sets of the papers' second consistency experiment (ACL 2021, §5.2)."""

LEAST_TOPICS = 10
"""Topics below which there is no curve over numbers of topics."""

PAPERS_TEST: PairedTest = "randomised-tukey-hsd"
"""The all-pairs test of ACL 2021 and LQ 2021."""

QUESTIONS = (
    "similarity",
    "consistency",
    "small_consistency",
    "power",
    "second_power",
    "reference",
    "second_reference",
    "overlap",
    "contradictions",
    "coverage",
    "sample_size",
    "preference",
)
"""What can be asked of a collection, in the order in which it is answered."""


@dataclass(frozen=True, eq=False)
class Study:
    """The results of one collection; None where a question was not asked, or does not apply, and `skipped` says why.

    Parameters
    ----------
    diagnostics : Diagnostics
        What is irregular about the runs.
    consistency : SplitHalfConsistency or None
        Over halves of the topics.
    small_consistency : SplitHalfConsistency or None
        Over two disjoint sets of a few topics.
    power : DiscriminativePower or None
        By the first test.
    second_power : DiscriminativePower or None
        By the second.
    reference : ReferencePairs or None
        Significant pairs of runs, by the first test, compared with those of a reference.
    reference_power : DiscriminativePower or None
        Of the reference itself, by the first test.
    second_reference : ReferencePairs or None
        By the second test.
    skipped : dict of str to str
        By question, in one sentence why it does not apply.
    """

    scores: Scores
    diagnostics: Diagnostics
    similarity: RankingSimilarity | None = None
    consistency: SplitHalfConsistency | None = None
    small_consistency: SplitHalfConsistency | None = None
    power: DiscriminativePower | None = None
    second_power: DiscriminativePower | None = None
    reference: ReferencePairs | None = None
    second_reference: ReferencePairs | None = None
    overlap: SignificanceOverlap | None = None
    contradictions: SignificanceContradictions | None = None
    coverage: Coverage | None = None
    sample_size: SampleSize | None = None
    preference: BaselinePreference | None = None
    skipped: dict[str, str] | None = None
    reference_power: DiscriminativePower | None = None

    def __repr__(self) -> str:
        answered = ", ".join(question for question, _ in self.results())
        return f"Study of {self.name}: {answered or 'nothing applies'}"

    @property
    def name(self) -> str:
        """Name of the collection."""
        return self.scores.collection or "scores"

    def results(self) -> Iterator[tuple[str, Result]]:
        """Yield every result that there is, with the question that it answers."""
        for question in QUESTIONS:
            result = getattr(self, question)
            if result is not None:
                yield question, result

    def notes(self) -> list[str]:
        """Return what is irregular about the runs, as it matters to the first test."""
        return [whole_note(note) for note in self.diagnostics.describe(self.power.test if self.power else "")]

    def by_second_test(self) -> Study:
        """Return the same study with what rests on a test of all pairs by the second one; None where not asked."""
        power = self.second_power
        overlap = None if power is None or self.overlap is None else significance_overlap(power)
        contradictions = None if power is None or self.contradictions is None else significance_contradictions(power)
        return replace(
            self, power=power, reference=self.second_reference, overlap=overlap, contradictions=contradictions
        )

    def require(self, question: str) -> Result:
        """Return the result of a question, or say why there is none."""
        result = getattr(self, question)
        if result is None:
            raise MetaevalError(f"{self.name}: {(self.skipped or {}).get(question, f'{question} was not asked')}")
        outcome: Result = result
        return outcome


def study_collection(
    scores: Scores,
    *,
    runs: Runs | None = None,
    reference: Scores | None = None,
    questions: Collection[str] = QUESTIONS,
    n_trials: int = 1000,
    n_permutations: int = 5000,
    n_bootstrap: int = 1000,
    alpha: float = 0.05,
    small: int = SMALL,
    baselines: tuple[str, str] = BASELINES,
    test: PairedTest = PAPERS_TEST,
    second_test: PairedTest = RECOMMENDED,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    say: Callable[[str], None] | None = None,
) -> Study:
    """Ask one collection every question that applies.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> values = np.linspace(0.2, 0.8, 5)[:, None, None] + rng.normal(0, 0.3, (5, 12, 2))
    >>> scores = Scores(values, runs=list("abcde"), topics=range(12), measures=["AP", "RR"], collection="tiny")
    >>> study = study_collection(scores, questions=["similarity", "small_consistency"])
    >>> study
    Study of tiny: similarity
    >>> study.skipped["small_consistency"]
    'Consistency of 10 against 10 topics needs 20 topics; there are 12.'
    """
    unknown = [question for question in questions if question not in QUESTIONS]
    if unknown:
        raise MetaevalError(f"there is no question {unknown[0]!r}: choose among {', '.join(QUESTIONS)}")
    tell = say or (lambda _: None)
    _, diagnostics = choose_runs(scores, distinct_runs, clusters="pool")
    study = Study(scores, diagnostics, skipped=_find_inapplicable(scores, runs, reference, small, baselines))
    name, asked = study.name, set(questions) - set(study.skipped or {})
    common = {"n_permutations": n_permutations, "alpha": alpha, "seed": seed, "n_jobs": n_jobs}
    common |= {"distinct_runs": distinct_runs}
    if reference is None:
        asked -= {"reference", "second_reference"}
    if "similarity" in asked:
        tell(f"{name}: ranking similarity")
        similarity = ranking_similarity(scores, n_bootstrap=n_bootstrap, distinct_runs=distinct_runs, seed=seed)
        study = replace(study, similarity=similarity)
    if asked & {"consistency", "small_consistency"}:
        study = _split_topics(study, asked, small, common | {"n_trials": n_trials}, tell)
    study = _test_runs(study, asked, reference, common | {"n_bootstrap": n_bootstrap}, (test, second_test), tell)
    if "coverage" in asked:
        tell(f"{name}: coverage")
        shares = coverage(
            _with_reference(scores, runs), reference=REFERENCE, n_bootstrap=n_bootstrap, distinct_runs=distinct_runs,
            seed=seed,
        )  # fmt: skip
        study = replace(study, coverage=shares)
    if "sample_size" in asked:
        tell(f"{name}: number of topics")
        # Each size is sampled anew, so that a fifth of the trials says as much.
        sizes = sample_size(
            scores, n_trials=min(n_trials, 200), n_samples=5, n_permutations=min(n_permutations, 1000),
            alpha=alpha, distinct_runs=distinct_runs, seed=seed, n_jobs=n_jobs,
        )  # fmt: skip
        study = replace(study, sample_size=sizes)
    if "preference" in asked:
        study = replace(study, preference=baseline_preference(scores, *baselines))
    return study


def _split_topics(
    study: Study, asked: Collection[str], small: int, options: Mapping[str, Any], tell: Callable[[str], None]
) -> Study:
    """Answer what rests on splits of the topics: how consistent measures are over halves, and over small sets."""
    if "consistency" in asked:
        tell(f"{study.name}: split-half consistency")
        study = replace(study, consistency=split_half_consistency(study.scores, **options))
    if "small_consistency" in asked:
        tell(f"{study.name}: split-half consistency, {small} topics")
        study = replace(study, small_consistency=split_half_consistency(study.scores, size=small, **options))
    return study


def _test_runs(
    study: Study,
    asked: Collection[str],
    reference: Scores | None,
    options: Mapping[str, Any],
    tests: tuple[PairedTest, PairedTest],
    tell: Callable[[str], None],
) -> Study:
    """Answer what rests on tests of all pairs of runs: by the first test, then by the second."""
    asked = set(asked)
    if asked & {"power", "overlap", "contradictions", "reference"}:
        tell(f"{study.name}: discriminative power by {tests[0]}")
        power = discriminative_power(study.scores, test=tests[0], **options)
        study = replace(study, power=power)
        if "overlap" in asked:
            study = replace(study, overlap=significance_overlap(power))
        if "contradictions" in asked:
            study = replace(study, contradictions=significance_contradictions(power))
        if reference is not None and "reference" in asked:
            pairs, reference_power = _test_reference(power, reference, options)
            study = replace(study, reference=pairs, reference_power=reference_power)
    if asked & {"second_power", "second_reference"}:
        tell(f"{study.name}: discriminative power by {tests[1]}")
        second = discriminative_power(study.scores, test=tests[1], **options)
        study = replace(study, second_power=second)
        if reference is not None and "second_reference" in asked:
            study = replace(study, second_reference=_test_reference(second, reference, options)[0])
    return study


def _test_reference(
    power: DiscriminativePower, reference: Scores, options: Mapping[str, Any]
) -> tuple[ReferencePairs, DiscriminativePower]:
    """Test the reference as the measures were, by the same trials, and compare them with it."""
    # Which runs are the same was decided by the measures.
    known = reference.sel(runs=power.runs)
    tested = discriminative_power(known, **{**options, "distinct_runs": False, "n_bootstrap": 0, "test": power.test})
    return reference_pairs(power, tested), tested


def _find_inapplicable(
    scores: Scores, runs: Runs | None, reference: Scores | None, small: int, baselines: tuple[str, str]
) -> dict[str, str]:
    """Return the questions that do not apply, and why in one sentence each."""
    n_topics, n_measures = len(set(scores.clusters) or scores.topics), len(scores.measures)
    why: dict[str, str] = {}
    if n_measures < 2:
        only = f"There is one measure only, {scores.measures[0]}"
        why |= {
            "similarity": f"{only}: ranking similarity compares two or more.",
            "overlap": f"{only}: significance overlap compares two or more.",
            "contradictions": f"{only}: contradictions are between two or more.",
        }
    if n_topics < 2 * small:
        why["small_consistency"] = (
            f"Consistency of {small} against {small} topics needs {2 * small} topics; there are {n_topics}."
        )
    if n_topics < LEAST_TOPICS:
        why["sample_size"] = f"The curve over numbers of topics needs {LEAST_TOPICS} topics; there are {n_topics}."
    if reference is None:
        why["reference"] = "No reference was given: power says nothing about which measures are right."
    if not set(baselines) <= set(scores.runs):
        why["preference"] = f"Baseline preference needs the runs {' and '.join(baselines)}."
    lacking = set(REFERENCE) - {str(measure) for measure in scores.measures}
    if lacking and not isinstance(runs, ClassificationRuns):
        why["coverage"] = "Coverage was skipped: it needs classification runs."
    elif len(scores.runs) < 3:
        why["coverage"] = "Coverage needs three runs."
    if scores.clusters:
        each = "takes topics one by one, and these come in clusters."
        why["sample_size"] = f"The curve over numbers of topics {each}"
        why |= {"preference": f"Baseline preference {each}", "coverage": f"Coverage {each}"}
    return why


def _with_reference(scores: Scores, runs: Runs | None) -> Scores:
    """Return the scores with the reference measures that they lack, scored from the runs."""
    present = {str(measure) for measure in scores.measures}
    lacking = [name for name in REFERENCE if name not in present]
    return scores.add_measures(score(runs, lacking)) if lacking and runs is not None else scores
