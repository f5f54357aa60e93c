"""What do all analyses that apply say of one collection? For the report of a new measure and for every paper."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from metaeval.analyses.baseline_preference import BaselinePreference, baseline_preference
from metaeval.analyses.coverage import Coverage, coverage
from metaeval.analyses.diagnostics import Diagnostics, take_distinct_runs
from metaeval.analyses.power import PAPERS_TEST, DiscriminativePower, discriminative_power
from metaeval.analyses.power_pairs import (
    SignificanceContradictions,
    SignificanceOverlap,
    significance_contradictions,
    significance_overlap,
)
from metaeval.analyses.prepare import prepare
from metaeval.analyses.ranking_similarity import RankingSimilarity, ranking_similarity
from metaeval.analyses.reference_pairs import ReferencePairs, reference_pairs
from metaeval.analyses.result import Result
from metaeval.analyses.sample_size import SampleSize, sample_size
from metaeval.analyses.split_half_consistency import SplitHalfConsistency, split_half_consistency
from metaeval.data.runs import ClassificationRuns, Runs
from metaeval.data.scores import Scores, score
from metaeval.errors import MetaevalError
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest

REFERENCE = ("Accuracy", "tau_a", "MI")
"""Amigó et al. (2020), §5: what coverage is measured against, for measures of classification."""

BASELINES = ("BL-popularity", "BL-uniform")
"""The two runs that LQ 2021, §5.3, compares, as data sets name them."""

SMALL = LEAST_TOPICS = 10
"""Topics in each of two sets of the papers' second consistency experiment (ACL 2021, §5.2), and those that a curve needs."""


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """The results of one collection; None where a question was not asked, or does not apply, and `skipped` says why.

    Consistency is over halves of the topics, `small_consistency` over two disjoint sets of a few; what begins with
    `second` is by the second test of all pairs of runs. `reference` compares the significant pairs of runs with those of
    a reference.
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
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the collection."""
        return self.scores.collection or "scores"

    def results(self) -> Iterator[tuple[str, Result]]:
        """Return every result that there is, with the question that it answers."""
        results = ((question, getattr(self, question)) for question in QUESTIONS)
        return ((question, result) for question, result in results if result is not None)

    def notes(self) -> list[str]:
        """Return what is irregular about the runs, as it matters to the first test."""
        test = self.power.test if self.power else ""
        return [note.replace("\n", ". ") for note in self.diagnostics.describe(test, "tau_a")]

    def by_second_test(self) -> Study:
        """Return the same study with what rests on a test of all pairs by the second one; None where not asked."""
        power = self.second_power
        overlap = None if power is None or self.overlap is None else significance_overlap(power)
        opposed = None if power is None or self.contradictions is None else significance_contradictions(power)
        return replace(self, power=power, reference=self.second_reference, overlap=overlap, contradictions=opposed)


QUESTIONS = tuple(result.name for result in fields(Study) if result.default is None)
"""What can be asked of a collection, in the order in which it is answered."""


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
    say: Callable[[str], None] = lambda _: None,
) -> Study:
    """Ask one collection every question that applies, and tell by `say` which is asked."""
    unknown = [question for question in questions if question not in QUESTIONS]
    if unknown:
        raise MetaevalError(f"there is no question {unknown[0]!r}: choose among {', '.join(QUESTIONS)}")
    common: dict[str, Any] = {"distinct_runs": distinct_runs, "seed": seed}
    trials = common | {"n_permutations": n_permutations, "alpha": alpha, "n_jobs": n_jobs}
    diagnostics = prepare(scores, "study", distinct_runs=distinct_runs, clusters="pool").diagnostics
    skipped = _find_inapplicable(scores, runs, reference, small, baselines)
    asked = set(questions) - set(skipped) - ({"second_reference"} if reference is None else set())
    name, results = scores.collection or "scores", dict[str, Any]()

    def ask(question: str, title: str, analysis: Callable[..., Result], **options: Any) -> None:
        if question in asked:
            say(f"{name}: {title}")
            results[question] = analysis(scores, **options)

    ask("similarity", "ranking similarity", ranking_similarity, n_bootstrap=n_bootstrap, **common)
    ask("consistency", "split-half consistency", split_half_consistency, n_trials=n_trials, **trials)
    title = f"split-half consistency, {small} topics"
    ask("small_consistency", title, split_half_consistency, n_trials=n_trials, size=small, **trials)
    for prefix, chosen in (("", test), ("second_", second_test)):
        resting = {f"{prefix}power", f"{prefix}reference"} | (set() if prefix else {"overlap", "contradictions"})
        if not asked & resting:
            continue
        say(f"{name}: discriminative power by {chosen}")
        power = discriminative_power(scores, n_bootstrap=n_bootstrap, test=chosen, **trials)
        results[f"{prefix}power"] = power
        for question, compare in (("overlap", significance_overlap), ("contradictions", significance_contradictions)):
            if question in asked & resting:
                results[question] = compare(power)
        if reference is not None and f"{prefix}reference" in asked:
            # By the same trials as the measures, which decide which runs are the same.
            options = trials | {"distinct_runs": False, "n_bootstrap": 0, "test": chosen}
            tested = discriminative_power(reference.sel(runs=power.runs), **options)
            results[f"{prefix}reference"] = reference_pairs(power, tested)
    if "coverage" in asked:
        lacking = [name for name in REFERENCE if name not in map(str, scores.measures)]
        covered = scores.add_measures(score(runs, lacking)) if lacking and runs is not None else scores
        say(f"{name}: coverage")
        results["coverage"] = coverage(covered, reference=REFERENCE, n_bootstrap=n_bootstrap, **common)
    # Each size is split anew, so that a fifth of the trials says as much.
    ask("sample_size", "number of topics", sample_size, n_trials=min(n_trials, 200), **common)
    ask("preference", "baseline preference", baseline_preference, first=baselines[0], second=baselines[1])
    kept = take_distinct_runs(scores, diagnostics.identical) if distinct_runs else scores
    return Study(kept, diagnostics, **results, skipped=skipped)


def _find_inapplicable(
    scores: Scores, runs: Runs | None, reference: Scores | None, small: int, baselines: tuple[str, str]
) -> dict[str, str]:
    """Return the questions that do not apply, and why in one sentence each."""
    n_topics, single = len(set(scores.clusters) or scores.topics), len(scores.measures) < 2
    only = f"There is one measure only, {scores.measures[0]}"
    scored = set(REFERENCE) <= set(map(str, scores.measures)) or isinstance(runs, ClassificationRuns)
    clustered, each = bool(scores.clusters), "takes topics one by one, and these come in clusters."
    rules = [
        ("similarity", single, f"{only}: ranking similarity compares two or more."),
        ("overlap", single, f"{only}: significance overlap compares two or more."),
        ("contradictions", single, f"{only}: contradictions are between two or more."),
        ("small_consistency", n_topics < 2 * small,
         f"Consistency of {small} against {small} topics needs {2 * small} topics; there are {n_topics}."),
        ("sample_size", n_topics < LEAST_TOPICS,
         f"The curve over numbers of topics needs {LEAST_TOPICS} topics; there are {n_topics}."),
        ("reference", reference is None,
         "No reference was given: power says nothing about which measures are right."),
        ("preference", not set(baselines) <= set(scores.runs),
         f"Baseline preference needs the runs {' and '.join(baselines)}."),
        ("preference", clustered, f"Baseline preference {each}"),
        ("coverage", len(scores.runs) < 3, "Coverage needs three runs."),
        ("coverage", not scored, "Coverage was skipped: it needs classification runs."),
        ("coverage", clustered, f"Coverage {each}"),
    ]  # fmt: skip
    return {question: why for question, lacking, why in rules if lacking}
