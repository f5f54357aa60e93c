"""How does a newly proposed measure behave against the established ones? Everything that applies, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_inputs import list_for_each
from metaeval.analyses.grades import (
    LIMIT,
    RULES,
    THRESHOLD,
    grade,
    grade_power_results,
    grade_reference_results,
    group_results,
    hold_power,
    rate_consistency_results,
)
from metaeval.analyses.pooled_discriminative_power import PooledDiscriminativePower, pooled_discriminative_power
from metaeval.analyses.properties import properties
from metaeval.analyses.study import QUESTIONS, Study, study_collection
from metaeval.comparison.looks import LOOKS, MANY_RUNS, NOT_TRIED, QUICK_TEST, Looks, look_again, study_all
from metaeval.comparison.report import Figures
from metaeval.comparison.scoring import (
    Say,
    check_measure,
    name_reference,
    refuse_reference,
    score_collection,
    split_reference,
    take_from_matrices,
)
from metaeval.data.policies import MissingPolicy, check_policy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.scores import Scores, state_directions
from metaeval.datasets.open import open_data
from metaeval.errors import MetaevalError
from metaeval.io.strict_json import parse_once
from metaeval.measures.base import Measure
from metaeval.measures.directions import Names, turn
from metaeval.measures.established import established_measures
from metaeval.measures.isolation import TIME_LIMIT, use_time_limit
from metaeval.measures.properties import PropertyCheck
from metaeval.measures.resolve import Wanted, resolve_measures
from metaeval.show.signature import Signature, sign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.style import Size

_ROBUST_RULE = f"As power, with pairs of runs tested by {QUICK_TEST}, which lets runs differ in spread."

ROBUST = f"power by {QUICK_TEST}"
"""The column of the summary that rests on the second test."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A newly proposed measure beside the established ones.

    Parameters
    ----------
    new : tuple of str
        The measures in question.
    collections : tuple of Study
    pooled : PooledDiscriminativePower or None
        None for a single collection.
    traits : dict of str to dict of str to PropertyCheck
        By measure, its formal properties (see `metaeval.properties`).
    notes : tuple of str
        What its author may want to know.
    looks : mapping of str to tuple of Study, or str
        By what was changed (another test, other seeds, …), the studies of all collections again; "not tried" where a
        thorough comparison would have tried it, and why there is nothing to try where there is not.
    signature : Signature
    """

    new: tuple[str, ...]
    collections: tuple[Study, ...]
    pooled: PooledDiscriminativePower | None
    traits: dict[str, dict[str, PropertyCheck]]
    notes: tuple[str, ...]
    looks: Looks
    signature: Signature

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.collections)
        return f"Comparison: {', '.join(self.new)} with {len(self.measures) - len(self.new)} measures on {names}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All measures, the new ones first."""
        return self.collections[0].scores.measures

    @property
    def reference(self) -> Measure | None:
        """What the others are held against; None if nothing was named."""
        held = self.collections[0].reference
        return None if held is None else held.reference

    @property
    def thorough(self) -> bool:
        """Whether other tests, other seeds and other choices of runs were tried."""
        return NOT_TRIED not in self.looks.values()

    @property
    def threshold(self) -> float:
        """From which mean τ on measures are put in one group: 0.8 for every kind."""
        return THRESHOLD

    def verdict(self, measure: str | None = None) -> str:
        """Return in a paragraph what came out for a new measure, by the rules of `metaeval.comparison.verdicts`.

        Parameters
        ----------
        measure : str, optional
            One of `new`; the first by default.

        Returns
        -------
        str
        """
        from metaeval.comparison.verdicts import find_title, find_verdicts, write_verdict

        name = self.find_new(measure)
        return write_verdict(find_title(self.measures, name), find_verdicts(self, name))

    def find_new(self, measure: str | None = None) -> str:
        """Return the name of a new measure, the first by default; refuse any other."""
        name = self.new[0] if measure is None else measure
        if name not in self.new:
            raise MetaevalError(f"{name!r} is no new measure of this comparison (there are {', '.join(self.new)})")
        return name

    def summary(self, measure: str | None = None) -> pd.DataFrame:
        """Return the numbers of every measure beside a new one, with intervals.

        Parameters
        ----------
        measure : str, optional
            One of `new`; the first by default.

        Returns
        -------
        DataFrame, shape (measure, …)
            See `metaeval.comparison.summary.summarise`.
        """
        from metaeval.comparison.summary import summarise

        return summarise(self, measure)

    def plot(self, measure: str | None = None, *, size: Size = None, signature: bool = True) -> Figure:
        """Draw what came out for a new measure: a panel for each sentence of the verdict, a row for each other measure.

        Parameters
        ----------
        measure : str, optional
            One of `new`; the first by default.
        size : {"column", "page"} or (float, float), optional
        signature : bool, optional

        Returns
        -------
        matplotlib.figure.Figure
        """
        from metaeval.comparison.picture import draw_answer

        return draw_answer(self, measure, size=size, signature=signature)

    def to_frame(self) -> pd.DataFrame:
        """Return the summary as marks: one row per measure, each mark by a stated rule (`rules`), like ACL21, Tables 4 and 7.

        Returns
        -------
        DataFrame, shape (measure, …)
            Columns: the traits, ``similarity`` (group), ``consistency`` and ``power`` (good, fair, poor;
            for power "cannot tell" where its interval does not carry the word). Held against a reference, power can
            be "contradicts the reference", and there is a column ``reference``.
        """
        names = [str(one) for one in self.measures]
        columns: dict[str, list[str]] = {
            trait: [self.traits[name][trait].mark if trait in self.traits[name] else "–" for name in names]
            for trait in self._trait_names()
        }
        splits = [one for study in self.collections for one in (study.consistency, study.small_consistency) if one]
        similarities = [study.similarity for study in self.collections if study.similarity]
        powers = [study.power for study in self.collections if study.power]
        robust_powers = [study.robust_power for study in self.collections if study.robust_power]
        columns["similarity"] = group_results(similarities, self.threshold)
        columns["consistency"] = [grade(net) for net in rate_consistency_results(splits)]
        columns["power"] = grade_power_results(powers)
        if robust_powers:
            columns[ROBUST] = grade_power_results(robust_powers)
        references = [study.reference for study in self.collections if study.reference]
        robust_references = [study.robust_reference for study in self.collections if study.robust_reference]
        for column, held in (("power", references), (ROBUST, robust_references)):
            if held:
                columns[column] = [*map(hold_power, columns[column], grade_reference_results(held))]
        if references:
            contradicted, decided = (
                np.sum([getattr(one, name) for one in references], axis=0) for name in ("contradicted", "decided")
            )
            words = zip(grade_reference_results(references), contradicted, decided, strict=True)
            columns["reference"] = [f"{word} ({k:,} of {n:,})" for word, k, n in words]
        return pd.DataFrame(columns, index=pd.Index(names, name="measure"))

    def rules(self) -> dict[str, str]:
        """Return, for every column of the summary, how its marks are reached."""
        described = {name: check.property for found in self.traits.values() for name, check in found.items()}
        shown = {
            name: f"✓: {described[name].description}{f' ({described[name].source}.)' * bool(described[name].source)} In "
            "brackets: how many cases were tried; ✗: in how many of them it is not so."
            for name in self._trait_names()
        }
        numbers = {"threshold": self.threshold, "limit": 100 * LIMIT, "reference": self.reference}
        rules = {name: rule.format(**numbers) for name, rule in RULES.items()}
        held = "no reference" if self.reference is None else "power held against a reference"
        return {
            **shown,
            "similarity": rules["similarity"],
            "consistency": rules["consistency"],
            "power": f"{rules['power']} {rules[held]}",
            **({ROBUST: _ROBUST_RULE} if any(one.robust_power for one in self.collections) else {}),
            **({} if self.reference is None else {"reference": rules["reference"]}),
        }

    def _trait_names(self) -> list[str]:
        return list(dict.fromkeys(name for found in self.traits.values() for name in found))

    def write(self, folder: str | Path, *, figures: Figures = "page", p_values: bool = False) -> Path:
        """Write the report: ``index.html``, its tables and figures beside it, and ``report.json``.

        Parameters
        ----------
        folder : path
            Made if need be. Whatever stops the writer, ``index.html`` is there whole or not at all.
        figures : {"page", "all"}, optional
            Draw figures in the page and as SVG, or every result as PDF and PNG too, which takes several times as long.
        p_values : bool, optional
            Write every p-value, and every contradicting pair of runs, split and topic too: files that grow with the
            number of pairs.

        Returns
        -------
        Path
            Of ``index.html``.
        """
        from metaeval.comparison.report import write_report

        return write_report(self, Path(folder), figures=figures, p_values=p_values)


def compare(
    measures: Wanted | Iterable[Wanted],
    data: str | Scores | ClassificationRuns | QuantificationRuns | Iterable[object],
    *,
    against: Iterable[Wanted] | None = None,
    reference: Wanted | Scores | Sequence[Scores] | None = None,
    missing: MissingPolicy = "raise",
    n_trials: int = 1000,
    n_permutations: int = 5000,
    alpha: float = 0.05,
    distinct_runs: bool = False,
    thorough: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    store: str | Path | None = None,
    time_limit: float = TIME_LIMIT,
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
        Names of data sets, paths of stores or score files, `Scores`, or runs.
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
        B of the randomised Tukey HSD test.
    alpha : float, optional
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    thorough : bool, optional
        Try too whether verdicts stand by the bootstrap-t test, with other seeds, without baselines and on distinct runs,
        which takes several times as long; otherwise they say that this was not tried.
    seed : int, optional
    n_jobs : int, optional
        Threads, each for a collection; the numbers are the same for any.
    store : path, optional
        A score store that keeps the established measures' scores, so that only a new measure is computed.
    time_limit : float, optional
        Seconds that computing a new measure may take, or be expected to take; more is refused.
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
        If a new measure does not satisfy its declaration (see `metaeval.conformance`), or would take too long.
    MetaevalError
        If the data cannot be had, or do not go together, or a stated direction changes nothing.

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
    >>> result.to_frame().loc["RNADW", ["ordinal", "symmetric"]].tolist()
    ['✗ (32 of 140)', '✓ (904)']
    """
    tell = say or (lambda _: None)
    wanted = _listed(measures)
    against = None if against is None else _listed(against)
    sources = _listed(data)
    if not wanted or not sources:
        raise MetaevalError("name at least one measure and at least one collection")
    check_policy(missing, MissingPolicy)
    held = None if reference is None else list_for_each(reference, sources, "reference")
    held_against = name_reference(held)
    opened: list[Any] = []
    with parse_once():
        for one in sources:
            tell(f"reading {one}")
            opened.append(open_data(one))
    kinds = {"scores" if isinstance(one, Scores) else one.kind for one in opened}
    if len(kinds) > 1:
        raise MetaevalError(f"the collections are of different kinds ({', '.join(sorted(kinds))}): compare them apart")
    notes: list[str] = []
    if kinds == {"scores"}:
        given = [*wanted, *(against or ())]
        new, scored = take_from_matrices(wanted, against, opened, held_against)
        scored = [_take_own_directions(one, given) for one in scored]
    else:
        with use_time_limit(time_limit):
            checked = []
            for one in resolve_measures(wanted):
                tell(f"checking {one}")
                checked.append(check_measure(one, opened, time_limit))
            new = [one.measure for one in checked]
            notes = [note for one in checked for note in one.notes]
            established = established_measures(opened[0].kind) if against is None else resolve_measures(against)
            new_names = {str(one) for one in new}
            refuse_reference([*new_names, *(() if against is None else map(str, established))], held_against)
            rest = [one for one in established if str(one) not in {*new_names, held_against}]
            scored = [score_collection(one, new, rest, store, tell) for one in opened]
    references: list[Scores] = []
    if held is not None:
        pairs = [split_reference(*one, missing) for one in zip(scored, opened, held, strict=True)]
        scored, references = [scores for scores, _ in pairs], [_take_own_directions(one, held) for _, one in pairs]
    turned = state_directions([*scored, *references], higher_is_better, lower_is_better)
    scored, references = turned[: len(scored)], turned[len(scored) :]
    names = [str(one) for one in new]
    many = not thorough and max(len(one.runs) for one in scored) > MANY_RUNS
    left_out = ("robust_power", "robust_reference", "sample_size") if many else ()
    asks = [
        partial(
            study_collection,
            one,
            # A reference may lack some of the runs and topics.
            runs=None if isinstance(data_set, Scores) else data_set.sel(runs=one.runs, topics=one.topics),
            reference=references[number] if references else None,
            n_trials=n_trials,
            n_permutations=n_permutations,
            alpha=alpha,
            questions=[question for question in QUESTIONS if question not in left_out],
            robust_test=QUICK_TEST,
            distinct_runs=distinct_runs,
            seed=seed,
            n_jobs=1 if len(scored) > 1 else n_jobs,
            say=tell,
        )
        for number, (data_set, one) in enumerate(zip(opened, scored, strict=True))
    ]
    studies = [_say_what_was_left_out(one, left_out) for one in study_all(asks, n_jobs)]
    pooled = None
    if len(studies) > 1:
        tell("pooling")
        pooled = pooled_discriminative_power([one.power for one in studies if one.power], seed=seed)
    looks: Looks = dict.fromkeys(LOOKS, NOT_TRIED)
    if thorough:
        looks = look_again(studies, asks, seed, n_jobs)
    tell("trying properties")
    with use_time_limit(time_limit):
        tried = properties(scored[0].measures, n_random=100)
    found: dict[str, dict[str, PropertyCheck]] = {str(one): {} for one in tried.measures}
    for check in tried.checks:
        found[str(check.measure)][check.property.name] = check
    signature = sign(
        "compare", scored, trials=n_trials, tests="randomised-tukey-hsd" + (not many) * f", {QUICK_TEST}", B=n_permutations,
        alpha=alpha, seed=seed, **studies[0].diagnostics.settings, **_describe_references(held_against, references),
    )  # fmt: skip
    return Comparison(tuple(names), tuple(studies), pooled, found, tuple(notes), looks, signature)


def _say_what_was_left_out(study: Study, questions: Sequence[str]) -> Study:
    why = f"not tried with more than {MANY_RUNS} runs; a thorough comparison tries it."
    said = {"robust_power": f"Power by {QUICK_TEST}: {why}", "sample_size": f"Number of topics: {why}"}
    return replace(study, skipped={**(study.skipped or {}), **{one: said[one] for one in questions if one in said}})


def _describe_references(name: str | None, references: Sequence[Scores]) -> dict[str, str]:
    """Return what the signature says of the reference: its name, and checksums of its scores."""
    sums = "; ".join(f"{one.collection or 'scores'}@{one.sha256[:12]}" for one in references)
    return {} if name is None else {"reference": f"{name} of {sums}"}


def _take_own_directions(scores: Scores, given: Iterable[Any]) -> Scores:
    """Return scores whose measures have the directions of those that were handed over as measures without a formula."""
    own = {
        str(one): one.higher_is_better
        for one in given
        if isinstance(one, Measure) and one.formula is None and one.higher_is_better is not None
    }
    measures = tuple(turn(one, own[str(one)]) if str(one) in own else one for one in scores.measures)
    return replace(scores, measures=measures)


def _listed(given: Any) -> list[Any]:
    single = isinstance(given, str | Path | Measure | Scores | ClassificationRuns | QuantificationRuns)
    return [given] if single or callable(given) else list(given)
