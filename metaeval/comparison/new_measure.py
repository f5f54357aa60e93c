"""How does a newly proposed measure behave against the established ones? Everything that applies, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from metaeval.analyses.agreement import agreement
from metaeval.analyses.power import PAPERS_TEST, pooled_discriminative_power
from metaeval.analyses.prepare import Within, check_options
from metaeval.analyses.properties import properties
from metaeval.analyses.references import list_for_each
from metaeval.analyses.study import QUESTIONS, Study, study_collection
from metaeval.comparison.findings import RULES, find_answer, find_facts
from metaeval.comparison.report import write_report
from metaeval.comparison.results import ComparisonResults
from metaeval.comparison.scoring import Say, add_references, name_reference, open_sources, score_sources
from metaeval.comparison.summary import draw_answer
from metaeval.data.policies import MissingPolicy, check_policy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.scores import Scores, state_directions
from metaeval.errors import MetaevalError, format_option
from metaeval.measures.base import Measure
from metaeval.measures.directions import Names
from metaeval.measures.properties import PropertyCheck
from metaeval.measures.resolve import MeasureLike
from metaeval.show.signature import sign
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.style import Size


MANY_RUNS = 300
"""With more runs than this there is one test, and no curve over numbers of topics: both would take very long."""


@dataclass(frozen=True, eq=False)
class Comparison(ComparisonResults):
    """A newly proposed measure beside the established ones.

    Parameters
    ----------
    new : tuple of str
        The measures in question; where no `measure` is named, the first is meant.
    collections : tuple of Study
    pooled : PooledDiscriminativePower or None
        None for a single collection.
    traits : dict of str to dict of str to PropertyCheck
        By measure, its formal properties (see `metaeval.properties`).
    notes : tuple of str
        What its author may want to know.
    signature : Signature
    agreement : Agreement or None
        Pairwise accuracy of all measures with the reference, if there is one.
    """

    def __repr__(self) -> str:
        names = ", ".join(study.name for study in self.collections)
        return f"Comparison: {', '.join(self.new)} with {len(self.measures) - len(self.new)} measures on {names}"

    def verdict(self, measure: str | None = None) -> str:
        """Return what to leave with about a new measure: a headline, findings with their numbers, and what to know before."""
        return find_answer(self, measure, named=True).to_text()

    def summary(self, measure: str | None = None) -> pd.DataFrame:
        """Return the numbers of every measure beside a new one, with intervals, shape (measure, …)."""
        return find_facts(self, self.find_new(measure)).frame.copy()

    def plot(self, measure: str | None = None, *, size: Size = None, signature: bool = True) -> Figure:
        """Draw what came out for a new measure: a panel for each sentence of the verdict, a row for each other measure.

        Parameters
        ----------
        measure : str, optional
        size : {"column", "page"} or (float, float), optional
            Width of a column or page of a paper, or width and height in inches.
        signature : bool, optional
            Whether the signature stands below.
        """
        return draw_answer(self, self.find_new(measure), size=size, signature=signature)

    def rules(self) -> dict[str, str]:
        """Return, for every finding of the verdict, how it is reached."""
        return dict(RULES)

    def write(self, folder: str | Path) -> Path:
        """Write the report: ``index.html``, which is returned, its tables and figures beside it, and ``report.json``.

        Parameters
        ----------
        folder : path
            Made if need be. Whatever stops the writer, ``index.html`` is there whole or not at all.
        """
        return write_report(self, Path(folder))


def compare(
    measures: MeasureLike | Iterable[MeasureLike],
    data: str | Scores | ClassificationRuns | QuantificationRuns | Iterable[object],
    *,
    against: Iterable[MeasureLike] | None = None,
    reference: MeasureLike | Scores | Sequence[Scores] | None = None,
    missing: MissingPolicy = "raise",
    n_trials: int = 1000,
    n_permutations: int = 5000,
    test: PairedTest | None = None,
    alpha: float = 0.05,
    distinct_runs: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    store: str | Path | None = None,
    say: Say | None = None,
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
) -> Comparison:
    """How does a newly proposed measure behave against the established ones?

    Parameters
    ----------
    measures : name, "file.py:function", Measure, function, or several
        The new ones (see `metaeval.measure`). Where data are score matrices, names of their measures.
    data : source, or several
        Names of data sets, paths of stores or score files, frames, `Scores`, or runs.
    against : iterable of the same, optional
        By default Sakai's nine classification or six quantification measures; for score matrices, every measure
        that all of them have.
    reference : name, Measure, Scores or sequence of Scores, optional
        What tells which measures are right: one more measure of the same data, such as human scores, or scores of one
        measure on their own for each collection. It is not among the measures that are compared.
    missing : {"raise", "drop-topic", "drop-run"}, optional
        What to do with topics, or runs, of which scores of their own of the reference have none: leave them out of the
        comparison, or raise.
    n_trials : int, optional
        Splits of the topics.
    n_permutations : int, optional
        B of the tests of all pairs of runs.
    test : str, optional
        Which test verdicts rest on, as for `discriminative_power`: by default bootstrap-t, and beside it the papers' randomised
        Tukey HSD; of more than 300 runs the latter alone. Beside another test stands bootstrap-t.
    alpha : float, optional
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    seed : int, optional
    n_jobs : int, optional
        Threads, each for a collection; the numbers are the same for any.
    store : path, optional
        A score store that keeps the established measures' scores, so that only a new measure is computed.
    say : callable, optional
        Called with a line of progress.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of which higher scores, or lower ones, are better, whatever their names or files tell;
        ``higher_is_better=True`` for all that are not named otherwise. A `Measure` that is known by its scores only
        states its direction itself.

    Returns
    -------
    Comparison

    Raises
    ------
    MeasureError
        If a new measure does not satisfy its declaration (see `metaeval.conformance`).
    MetaevalError
        If the data cannot be obtained, or do not go together, or a stated direction changes nothing.

    Examples
    --------
    >>> import numpy as np, metaeval
    >>> rng = np.random.default_rng(0)
    >>> gold, noise = rng.dirichlet(np.ones(4), 30), rng.dirichlet(np.ones(4), (5, 30))
    >>> weight = np.linspace(0.2, 0.9, 5)[:, None, None]
    >>> runs = metaeval.QuantificationRuns(weight * gold + (1 - weight) * noise, gold, runs=list("abcde"),
    ...                                    topics=range(30), classes=range(4), collection="tiny")
    >>> result = compare("RNADW", runs, n_trials=50, n_permutations=200)
    >>> result
    Comparison: RNADW with 6 measures on tiny
    >>> {name: trait.mark for name, trait in result.traits["RNADW"].items() if name in ("ordinal", "symmetric")}
    {'ordinal': '✗ (32 of 140)', 'symmetric': '✓ (904)'}
    """
    from joblib import Parallel, delayed

    tell = say or (lambda _: None)
    requested, sources = _list_given(measures), _list_given(data)
    rivals = None if against is None else _list_given(against)
    if not requested or not sources:
        raise MetaevalError("name at least one measure and at least one collection")
    check_policy(missing, MissingPolicy)
    given = None if reference is None else list_for_each(reference, sources, "reference")
    opened = open_sources(sources)
    reference_name = name_reference(given, opened)
    scored = score_sources(opened, requested, rivals, reference_name, store=store, say=tell)
    scored = add_references(scored, opened, given, missing)
    turned = state_directions([*scored.scores, *scored.references], higher_is_better, lower_is_better)
    n = len(scored.scores)
    scored = replace(scored, scores=turned[:n], references=tuple(turned[n:]))
    many = max(len(scores.runs) for scores in scored.scores) > MANY_RUNS
    left_out = ("second_power", "second_reference", "sample_size") if many else ()
    chosen = test or (PAPERS_TEST if many else RECOMMENDED)
    check_options(test=Within(chosen, PairedTest))
    second: PairedTest = PAPERS_TEST if chosen == RECOMMENDED else RECOMMENDED
    options: dict[str, Any] = {
        "n_trials": n_trials, "n_permutations": n_permutations, "alpha": alpha, "test": chosen, "second_test": second,
        "questions": [question for question in QUESTIONS if question not in left_out],
        "distinct_runs": distinct_runs, "seed": seed, "n_jobs": 1 if len(sources) > 1 else n_jobs, "say": tell,
    }  # fmt: skip
    asks = [
        delayed(copy_context().run)(  # messages of threads call options as this one does
            study_collection,
            scores,
            # A reference may lack some of the runs and topics.
            runs=None if isinstance(source, Scores) else source.sel(runs=scores.runs, topics=scores.topics),
            reference=scored.references[number] if scored.references else None,
            **options,
        )
        for number, (source, scores) in enumerate(zip(opened, scored.scores, strict=True))
    ]
    # Threads, since kernels compute without holding the interpreter.
    studies: list[Study] = Parallel(n_jobs=n_jobs, prefer="threads")(asks)
    if many:
        why = f"not tried with more than {MANY_RUNS} runs"
        reasons = {
            "second_power": f"Power by {second}: {why}; choose it by {format_option('test', second)}.",
            "sample_size": f"Number of topics: {why}; ask metaeval sample-size.",
        }
        studies = [replace(study, skipped={**study.skipped, **reasons}) for study in studies]
    pooled = agreed = None
    if len(studies) > 1:
        tell("pooling")
        pooled = pooled_discriminative_power([study.power for study in studies if study.power])
    tell("trying properties")
    tried = properties(scored.scores[0].measures, n_random=100)
    traits: dict[str, dict[str, PropertyCheck]] = {str(measure): {} for measure in tried.measures}
    for check in tried.checks:
        traits[str(check.measure)][check.property.name] = check
    if scored.references:
        agreed = agreement(
            scored.scores, reference=list(scored.references), statistics=["pairwise_accuracy"], n_permutations=100,
            alpha=alpha, distinct_runs=distinct_runs, seed=seed,
        )  # fmt: skip
    sums = "; ".join(f"{scores.collection or 'scores'}@{scores.fingerprint}" for scores in scored.references)
    compared = {} if reference_name is None else {"reference": f"{reference_name} of {sums}"}
    signature = sign(
        "compare", [study.scores for study in studies], trials=n_trials, tests=chosen if many else f"{chosen}, {second}",
        B=n_permutations, alpha=alpha, seed=seed, **studies[0].diagnostics.settings, **compared,
    )  # fmt: skip
    return Comparison(scored.new, tuple(studies), pooled, traits, scored.notes, signature, agreed)


def _list_given(given: Any) -> list[Any]:
    """Return what was given as a list, in which something single is alone."""
    single = isinstance(given, str | Path | Measure | Scores | ClassificationRuns | QuantificationRuns | pd.DataFrame)
    return [given] if single or callable(given) else list(given)
