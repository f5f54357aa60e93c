"""How does a newly proposed measure behave against the established ones? Everything that applies, in one call."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.baseline_preference import BaselinePreference, baseline_preference
from metaeval.analyses.coverage import Coverage, coverage
from metaeval.analyses.discriminative_power import DiscriminativePower, discriminative_power
from metaeval.analyses.grades import (
    RULES,
    THRESHOLD,
    grade,
    group_results,
    rate_consistency_results,
    rate_power_results,
)
from metaeval.analyses.pooled_discriminative_power import PooledDiscriminativePower, pooled_discriminative_power
from metaeval.analyses.properties import properties
from metaeval.analyses.ranking_similarity import RankingSimilarity, ranking_similarity
from metaeval.analyses.sample_size import SampleSize, sample_size
from metaeval.analyses.significance import (
    SignificanceContradictions,
    SignificanceOverlap,
    significance_contradictions,
    significance_overlap,
)
from metaeval.analyses.split_half_consistency import SplitHalfConsistency, split_half_consistency
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.score import score
from metaeval.data.scores import Scores
from metaeval.data.store import ScoreStore
from metaeval.datasets.open import open_data
from metaeval.errors import MeasureError, MetaevalError, StoreError, format_list
from metaeval.measures.base import Measure
from metaeval.measures.conformance import Conformance, conformance
from metaeval.measures.properties import PropertyCheck
from metaeval.measures.registry import is_shipped
from metaeval.measures.resolve import Wanted, resolve_measures
from metaeval.show.signature import Signature, sign

ESTABLISHED = {
    "classification": ("CEM_ORD", "kappa", "alpha_ORD", "alpha_INT", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR"),
    "quantification": ("NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD"),
}
"""What a new measure is compared with by default: the nine and the six of Sakai (ACL 2021)."""

REFERENCE = ("Accuracy", "tau_a", "MI")
"""Amigó et al. (2020), §5: what coverage is measured against, for measures of classification."""

BASELINES = ("BL-popularity", "BL-uniform")
SMALL = 10
TIME_LIMIT = 120.0

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class CollectionStudy:
    """What was found on one collection; None where an analysis does not apply, and `skipped` says why.

    Parameters
    ----------
    scores : Scores
    similarity, consistency, small_consistency, power, overlap, contradictions, sample_size, preference, coverage
        The results of the analyses; `small_consistency` is 10 against 10 topics.
    skipped : tuple of str
        One sentence each.
    """

    scores: Scores
    similarity: RankingSimilarity
    consistency: SplitHalfConsistency
    small_consistency: SplitHalfConsistency | None
    power: DiscriminativePower
    overlap: SignificanceOverlap
    contradictions: SignificanceContradictions
    sample_size: SampleSize | None
    preference: BaselinePreference | None
    coverage: Coverage | None = None
    skipped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the collection."""
        return self.scores.collection or "scores"


@dataclass(frozen=True, eq=False)
class Comparison:
    """A newly proposed measure beside the established ones.

    Parameters
    ----------
    new : tuple of str
        The measures in question.
    collections : tuple of CollectionStudy
    pooled : PooledDiscriminativePower or None
        None for a single collection.
    traits : dict of str to dict of str to PropertyCheck
        By measure, its formal properties (see `metaeval.properties`).
    notes : tuple of str
        What its author may want to know.
    signature : Signature
    """

    new: tuple[str, ...]
    collections: tuple[CollectionStudy, ...]
    pooled: PooledDiscriminativePower | None
    traits: dict[str, dict[str, PropertyCheck]]
    notes: tuple[str, ...]
    signature: Signature

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.collections)
        return f"Comparison: {', '.join(self.new)} with {len(self.measures) - len(self.new)} measures on {names}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All measures, the new ones first."""
        return self.collections[0].scores.measures

    @property
    def threshold(self) -> float:
        """From which mean τ on measures are put in one group: 0.8 for every kind."""
        return THRESHOLD

    def to_frame(self) -> pd.DataFrame:
        """Return the summary: one row a measure, each mark by a stated rule (`rules`), like ACL21, Tables 4 and 7.

        Returns
        -------
        DataFrame, shape (measure, …)
            Columns: the traits, ``similarity`` (group), ``consistency`` and ``power`` (good, fair, poor).
        """
        names = [str(one) for one in self.measures]
        columns: dict[str, list[str]] = {
            trait: [self.traits[name][trait].mark if trait in self.traits[name] else "–" for name in names]
            for trait in self._trait_names()
        }
        splits = [one.consistency for one in self.collections]
        splits += [one.small_consistency for one in self.collections if one.small_consistency is not None]
        columns["similarity"] = group_results([one.similarity for one in self.collections], self.threshold)
        columns["consistency"] = [grade(net) for net in rate_consistency_results(splits)]
        columns["power"] = [grade(net) for net in rate_power_results([one.power for one in self.collections])]
        return pd.DataFrame(columns, index=pd.Index(names, name="measure"))

    def rules(self) -> dict[str, str]:
        """Return, for every column of the summary, how its marks are reached."""
        described = {name: check.property for found in self.traits.values() for name, check in found.items()}
        shown = {
            name: f"✓: {described[name].description}{f' ({described[name].source}.)' * bool(described[name].source)} In "
            "brackets: how many cases were tried; ✗: in how many of them it is not so."
            for name in self._trait_names()
        }
        return {**shown, **{name: rule.format(threshold=self.threshold) for name, rule in RULES.items()}}

    def _trait_names(self) -> list[str]:
        return list(dict.fromkeys(name for found in self.traits.values() for name in found))

    def write(self, folder: str | Path) -> Path:
        """Write the report: ``index.html``, every table and figure beside it, and ``report.json``.

        Parameters
        ----------
        folder : path
            Made if need be. Whatever stops the writer, ``index.html`` is there whole or not at all.

        Returns
        -------
        Path
            Of ``index.html``.
        """
        from metaeval.comparison.report import write_report

        return write_report(self, Path(folder))


def compare(
    measures: Wanted | Iterable[Wanted],
    data: str | Scores | ClassificationRuns | QuantificationRuns | Iterable[object],
    *,
    against: Iterable[Wanted] | None = None,
    n_trials: int = 1000,
    n_permutations: int = 5000,
    alpha: float = 0.05,
    seed: int = 0,
    n_jobs: int = 1,
    store: str | Path | None = None,
    time_limit: float = TIME_LIMIT,
    say: Say | None = None,
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
    n_trials : int, optional
        Splits of the topics.
    n_permutations : int, optional
        B of the randomised Tukey HSD test.
    alpha : float, optional
    seed : int, optional
    n_jobs : int, optional
        Threads.
    store : path, optional
        A score store that keeps the established measures' scores, so that only a new measure is computed.
    time_limit : float, optional
        Seconds that computing a new measure may be expected to take; more is refused.
    say : callable, optional
        Called with a line of progress.

    Returns
    -------
    Comparison

    Raises
    ------
    MeasureError
        If a new measure does not satisfy its declaration (see `metaeval.conformance`), or would take too long.
    MetaevalError
        If the data cannot be had, or do not go together.

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
    sources = _listed(data)
    if not wanted or not sources:
        raise MetaevalError("name at least one measure and at least one collection")
    opened: list[Any] = []
    for one in sources:
        tell(f"reading {one}")
        opened.append(open_data(one))
    kinds = {_kind(one) for one in opened}
    if len(kinds) > 1:
        raise MetaevalError(f"the collections are of different kinds ({', '.join(sorted(kinds))}): compare them apart")
    kind = kinds.pop()
    notes: list[str] = []
    if kind == "scores":
        new, scored = _from_matrices(wanted, against, opened)
    else:
        checked = []
        for one in resolve_measures(wanted):
            tell(f"checking {one}")
            checked.append(_checked(one, kind, opened, time_limit))
        new = [one.measure for one in checked]
        notes = [note for one in checked for note in one.notes]
        established = resolve_measures(ESTABLISHED[kind] if against is None else against)
        new_names = {str(one) for one in new}
        rest = [one for one in established if str(one) not in new_names]
        scored = [_scored(one, new, rest, store, tell) for one in opened]
    names = [str(one) for one in new]
    studies = []
    for data_set, scores in zip(opened, scored, strict=True):
        found_here = _study(scores, n_trials, n_permutations, alpha, seed, n_jobs, tell)
        studies.append(_with_coverage(found_here, data_set, seed, tell))
    pooled = None
    if len(studies) > 1:
        tell("pooling")
        pooled = pooled_discriminative_power([one.power for one in studies], seed=seed)
    tell("trying properties")
    tried = properties([*new, *(one for one in scored[0].measures if str(one) not in names)], n_random=100)
    found: dict[str, dict[str, PropertyCheck]] = {str(one): {} for one in tried.measures}
    for check in tried.checks:
        found[str(check.measure)][check.property.name] = check
    signature = sign(
        "compare", scored, trials=n_trials, test="randomised Tukey HSD", B=n_permutations, alpha=alpha, seed=seed
    )
    return Comparison(tuple(names), tuple(studies), pooled, found, tuple(notes), signature)


def established(runs: object) -> list[Measure]:
    """Return the papers' measures for runs of a kind.

    Parameters
    ----------
    runs : ClassificationRuns or QuantificationRuns

    Returns
    -------
    list of Measure
    """
    return list(resolve_measures(ESTABLISHED[_kind(runs)]))


def _listed(given: Any) -> list[Any]:
    single = isinstance(given, str | Path | Measure | Scores | ClassificationRuns | QuantificationRuns)
    return [given] if single or callable(given) else list(given)


def _kind(data: object) -> str:
    if isinstance(data, Scores):
        return "scores"
    return "classification" if isinstance(data, ClassificationRuns) else "quantification"


def _from_matrices(
    wanted: Sequence[Wanted], against: Iterable[Wanted] | None, opened: Sequence[Scores]
) -> tuple[list[Measure], list[Scores]]:
    """Take the new measures' scores, and those of what they are compared with, from score matrices."""
    shared = [m for m in opened[0].measures if all(str(m) in map(str, one.measures) for one in opened)]
    known = {str(one): one for one in shared}
    names = [str(one) for one in resolve_measures(wanted, labels=known)]
    others = [str(one) for one in resolve_measures(known if against is None else against, labels=known)]
    others = [name for name in others if name not in names]
    for name in (*names, *others):
        if name not in known:
            raise MetaevalError(
                f"not every collection has scores of {name!r}; all of them have {format_list(list(known)) or 'none'}"
            )
    if not others:
        raise MetaevalError(f"there is no measure to compare {', '.join(names)} with")
    return [known[name] for name in names], [one.sel(measures=[*names, *others]) for one in opened]


def _checked(
    measure: Measure, kind: str, opened: Sequence[ClassificationRuns | QuantificationRuns], time_limit: float
) -> Conformance:
    """Refuse a measure that does not satisfy its declaration for these classes, or would take too long on these data."""
    if measure.kind != kind:
        raise MeasureError(f"{measure} is a {measure.kind} measure, the data are {kind} runs")
    checked = conformance(measure, n_classes=len(opened[0].classes))
    cells = sum(len(one.runs) * len(one.topics) for one in opened)
    expected = checked.seconds * cells
    if expected > time_limit:
        raise MeasureError(
            f"{measure} takes {checked.seconds:.2g} s a topic, some {expected / 60:,.0f} minutes for these "
            f"{cells:,} runs × topics; the limit is {time_limit:g} s (--time-limit)"
        )
    return checked


def _scored(
    runs: ClassificationRuns | QuantificationRuns,
    new: Sequence[Measure],
    rest: Sequence[Measure],
    store: str | Path | None,
    tell: Say,
) -> Scores:
    """Score the new measures, and the established ones unless the store has them for these very data."""
    names = ", ".join(str(one) for one in new)
    tell(f"{runs.collection}: scoring {names}")
    shipped = [one for one in rest if is_shipped(one)] if store is not None else []
    fresh = score(runs, [*new, *(one for one in rest if one not in shipped)])
    if not shipped or store is None:
        return fresh
    return _side_by_side(fresh, _kept(runs, shipped, ScoreStore(store), tell))


def _kept(
    runs: ClassificationRuns | QuantificationRuns, rest: Sequence[Measure], store: ScoreStore, tell: Say
) -> Scores:
    """Return the established measures' scores; the store's name for them holds a checksum of the data."""
    arrays = (runs.counts,) if isinstance(runs, ClassificationRuns) else (runs.estimated, runs.gold)
    digest = hashlib.sha256(metaeval.__version__.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    for labels in (runs.runs, runs.topics, runs.classes):
        digest.update("\0".join((*labels, "")).encode())
    name = f"{runs.collection or 'runs'}@{digest.hexdigest()[:16]}"
    there = [entry["name"] for entry in store.info(name)["measures"]] if name in store.collections() else []
    lacking = [one for one in rest if str(one) not in there]
    if lacking:
        tell(f"{runs.collection}: scoring {len(lacking)} established measures")
        try:
            store.add(score(runs, lacking), collection=name)
        except StoreError:
            store.add(score(runs, rest), collection=name, replace=True)
    kept = store.load(name, [str(one) for one in rest])
    return Scores(
        kept.values,
        runs=runs.runs,
        topics=runs.topics,
        measures=kept.measures,
        collection=runs.collection,
        provenance=runs.provenance,
    )


def _study(
    scores: Scores, n_trials: int, n_permutations: int, alpha: float, seed: int, n_jobs: int, tell: Say
) -> CollectionStudy:
    """Run every analysis that applies to one collection."""
    name = scores.collection or "scores"
    n_topics = len(scores.topics)
    skipped = []
    split = {"n_trials": n_trials, "n_permutations": n_permutations, "alpha": alpha, "seed": seed, "n_jobs": n_jobs}
    tell(f"{name}: ranking similarity")
    similarity = ranking_similarity(scores, seed=seed)
    tell(f"{name}: split-half consistency")
    consistency = split_half_consistency(scores, **split)  # type: ignore[arg-type]
    small = None
    if n_topics >= 2 * SMALL:
        small = split_half_consistency(scores, size=SMALL, **split)  # type: ignore[arg-type]
    else:
        skipped.append(f"Consistency of {SMALL} against {SMALL} topics needs {2 * SMALL} topics; there are {n_topics}.")
    tell(f"{name}: discriminative power")
    power = discriminative_power(scores, n_permutations=n_permutations, alpha=alpha, seed=seed, n_jobs=n_jobs)
    sizes = None
    if n_topics >= 10:
        tell(f"{name}: number of topics")
        sizes = sample_size(
            scores, n_trials=min(n_trials, 200), n_samples=5, n_permutations=min(n_permutations, 1000),
            alpha=alpha, seed=seed, n_jobs=n_jobs,
        )  # fmt: skip
    else:
        skipped.append(f"The curve over numbers of topics needs 10 topics; there are {n_topics}.")
    preference = None
    if set(BASELINES) <= set(scores.runs):
        preference = baseline_preference(scores, *BASELINES)
    else:
        skipped.append(f"Baseline preference needs the runs {' and '.join(BASELINES)}.")
    return CollectionStudy(
        scores,
        similarity,
        consistency,
        small,
        power,
        significance_overlap(power),
        significance_contradictions(power),
        sizes,
        preference,
        skipped=tuple(skipped),
    )


def _with_coverage(study: CollectionStudy, data: object, seed: int, tell: Say) -> CollectionStudy:
    """Add coverage where there are runs to score with Amigó's reference measures."""
    if not isinstance(data, ClassificationRuns):
        why = "Coverage is defined against reference measures of classification; there are no such runs."
        return replace(study, skipped=(*study.skipped, why))
    if len(data.runs) < 3:
        return replace(study, skipped=(*study.skipped, "Coverage needs three runs."))
    tell(f"{study.name}: coverage")
    there = {str(one) for one in study.scores.measures}
    lacking = [name for name in REFERENCE if name not in there]
    scores = _side_by_side(study.scores, score(data, lacking)) if lacking else study.scores
    found = coverage(scores, reference=REFERENCE, seed=seed)
    return replace(study, coverage=found)


def from_scores(new: Scores, collection: Scores, *, higher_is_better: bool) -> Scores:
    """Put a measure that comes only as scores beside those of a collection.

    Parameters
    ----------
    new : Scores
        Of the new measure alone; its runs and topics are those of the collection, in any order.
    collection : Scores
    higher_is_better : bool
        Direction of the new measure.

    Returns
    -------
    Scores
        The collection with the new measure first.

    Raises
    ------
    MetaevalError
        If runs or topics are not those of the collection, or it has a measure of that name.

    Examples
    --------
    >>> labels = {"runs": ["a", "b"], "topics": ["t"]}
    >>> new = Scores([[[1.0]], [[2.0]]], measures=["mine"], **labels)
    >>> old = Scores([[[3.0]], [[4.0]]], measures=["AP"], **labels)
    >>> [str(one) for one in from_scores(new, old, higher_is_better=True).measures]
    ['mine', 'AP']
    """
    (name,) = (str(one) for one in new.measures)
    for what, mine, theirs in (("run", new.runs, collection.runs), ("topic", new.topics, collection.topics)):
        unlike = sorted(set(mine) ^ set(theirs))
        if unlike:
            raise MetaevalError(
                f"the scores of {name} and the collection {collection.collection} do not have the same {what}s: "
                f"{format_list(unlike)} {'is' if len(unlike) == 1 else 'are'} in one of them only"
            )
    if name in {str(one) for one in collection.measures}:
        raise MetaevalError(f"the collection {collection.collection} has a measure {name} already")
    aligned = new.sel(runs=collection.runs, topics=collection.topics)
    stated = [Measure(name, higher_is_better)]
    return _side_by_side(Scores(aligned.values, runs=aligned.runs, topics=aligned.topics, measures=stated), collection)


def _side_by_side(first: Scores, second: Scores) -> Scores:
    """Return the measures of both, which have the same runs and topics in the same order, as the second collection."""
    return Scores(
        np.concatenate([first.values, second.values], axis=-1),
        runs=second.runs,
        topics=second.topics,
        measures=[*first.measures, *second.measures],
        collection=second.collection,
        provenance=second.provenance,
    )
