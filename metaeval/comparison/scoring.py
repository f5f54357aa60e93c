"""Where the scores of a comparison come from: matrices that are there, runs that are scored, a store that keeps some."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import metaeval
from metaeval.analyses.references import join_reference
from metaeval.data.policies import MissingPolicy
from metaeval.data.runs import ClassificationRuns, Runs
from metaeval.data.scores import Scores, score
from metaeval.data.store import ScoreStore
from metaeval.datasets.open import open_source
from metaeval.errors import MetaevalError, StoreError, format_list, format_option
from metaeval.files import open_once
from metaeval.measures.base import Measure
from metaeval.measures.conformance import conformance
from metaeval.measures.directions import turn
from metaeval.measures.registry import is_shipped, suggest_measures
from metaeval.measures.resolve import MeasureLike, established_measures, resolve_measures

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class ScoredSources:
    """Scores of the new measures and the others by collection, those of a reference, and what authors may want to know."""

    new: tuple[str, ...]
    scores: list[Scores]
    notes: tuple[str, ...] = ()
    references: tuple[Scores, ...] = ()


def open_sources(sources: Sequence[Any]) -> list[Any]:
    """Open the data of a comparison, which are all of one kind: score matrices, or runs of one task."""
    with open_once():
        opened: list[Any] = [open_source(source) for source in sources]
    kinds = {"scores" if isinstance(data, Scores) else data.kind for data in opened}
    if len(kinds) > 1:
        raise MetaevalError(f"the collections are of different kinds ({', '.join(sorted(kinds))}): compare them apart")
    return opened


def score_sources(
    opened: Sequence[Any],
    requested: Sequence[MeasureLike],
    rivals: Sequence[MeasureLike] | None,
    reference: str | None,
    *,
    store: str | Path | None,
    say: Say,
) -> ScoredSources:
    """Take scores from matrices, or compute them on runs, once the new measures have passed their checks."""
    if isinstance(opened[0], Scores):
        return _take_from_matrices(opened, requested, rivals, reference)
    new: list[Measure] = []
    notes: list[str] = []
    for measure in resolve_measures(requested):
        say(f"checking {measure}")
        check = conformance(measure, n_classes=len(opened[0].classes))
        new.append(check.measure)
        notes += check.notes
    names = [str(measure) for measure in new]
    established = established_measures(opened[0].kind) if rivals is None else resolve_measures(rivals)
    _refuse_reference([*names, *(() if rivals is None else map(str, established))], reference)
    rest = [measure for measure in established if str(measure) not in {*names, reference}]
    kept = [measure for measure in rest if is_shipped(measure)] if store is not None else []
    scored = []
    for runs in opened:
        say(f"{runs.collection}: scoring {', '.join(names)}")
        fresh = score(runs, [*new, *(measure for measure in rest if measure not in kept)])
        scored.append(
            fresh.add_measures(_load_established(runs, kept, ScoreStore(store), say)) if kept and store else fresh
        )
    return ScoredSources(tuple(names), scored, tuple(notes))


def _take_from_matrices(
    opened: Sequence[Scores],
    requested: Sequence[MeasureLike],
    rivals: Sequence[MeasureLike] | None,
    reference: str | None,
) -> ScoredSources:
    """Take the new measures' scores, and those of what they are compared with, from score matrices."""
    shared = [m for m in opened[0].measures if all(str(m) in map(str, data.measures) for data in opened)]
    known = [str(measure) for measure in shared if str(measure) != reference]
    names = [str(measure) for measure in resolve_measures(requested, labels=known)]
    compared = map(str, resolve_measures(known if rivals is None else rivals, labels=known))
    others = [name for name in compared if name not in names]
    _refuse_reference([*names, *others], reference)
    for asked, name in zip(requested, names, strict=False):
        if name not in known and not (isinstance(asked, str) and asked == name):
            who = asked if isinstance(asked, str) else name
            problem = f"{who} is a function of gold labels and runs, and the data are scores"
            gold, runs, own = map(format_option, ("gold", "runs", "new_scores"))
            raise MetaevalError(f"{problem}: name gold and runs ({gold}, {runs}), or the measure's own scores ({own})")
    if lacking := [name for name in (*names, *others) if name not in known]:
        where, held = ("not every collection has", "all have") if len(opened) > 1 else ("the data have no", "there are")
        near = f"{suggest_measures(lacking[0], known)} {held}".lstrip()
        raise MetaevalError(f"{where} scores of {lacking[0]!r} ({near} {format_list(known) or 'none'})")
    if not others:
        besides = f" besides the reference {reference}" * (reference is not None)
        raise MetaevalError(f"there is no measure{besides} to compare {', '.join(names)} with")
    given = [*requested, *(rivals or ())]
    taken = [take_stated_directions(data.sel(measures=[*names, *others]), given) for data in opened]
    return ScoredSources(tuple(names), taken)


def _load_established(runs: Runs, rest: Sequence[Measure], store: ScoreStore, say: Say) -> Scores:
    """Return the established measures' scores; the store's name for them holds a checksum of the data."""
    arrays = (runs.counts,) if isinstance(runs, ClassificationRuns) else (runs.estimated, runs.gold)
    digest = hashlib.sha256(metaeval.__version__.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    for labels in (runs.runs, runs.topics, runs.classes):
        digest.update("\0".join((*labels, "")).encode())
    name = f"{runs.collection or 'runs'}@{digest.hexdigest()[:16]}"
    stored = [str(measure) for measure in store.load(name).measures] if name in store.collections() else []
    lacking = [measure for measure in rest if str(measure) not in stored]
    if lacking:
        say(f"{runs.collection}: scoring {len(lacking)} established measures")
        try:
            store.add(score(runs, lacking), collection=name)
        except StoreError:
            store.add(score(runs, rest), collection=name, replace=True)
    loaded = store.load(name, [str(measure) for measure in rest])
    return replace(loaded, collection=runs.collection, provenance=runs.provenance)


def name_reference(reference: Sequence[Any] | None, opened: Sequence[Scores | Runs]) -> str | None:
    """Return the name of the reference, which is one measure, and the same for every collection.

    In score matrices it is one of their labels; only where runs are scored may a text name a function of a file.
    """
    if reference is None:
        return None
    names = set()
    for measure, data in zip(reference, opened, strict=True):
        if not isinstance(measure, Scores):
            labels = [str(label) for label in data.measures] if isinstance(data, Scores) else None
            names |= {str(known) for known in resolve_measures([measure], labels=labels)}
        elif len(measure.measures) != 1:
            held = f"{len(measure.measures)} measures ({format_list([str(label) for label in measure.measures])})"
            raise MetaevalError(f"{format_option('reference')} holds {held}; it is one: choose by .sel(measures=…)")
        else:
            names.add(str(measure.measures[0]))
    if len(names) > 1:
        raise MetaevalError(f"the collections are compared with different measures: {format_list(sorted(names))}")
    return names.pop()


def _refuse_reference(names: Iterable[str], reference: str | None) -> None:
    """Refuse a measure that is named both to be compared and to be the reference."""
    if reference is not None and reference in names:
        raise MetaevalError(f"{reference} is the reference; it is not compared with itself")


def add_references(
    scored: ScoredSources, opened: Sequence[Any], given: Sequence[Any] | None, missing: MissingPolicy
) -> ScoredSources:
    """Return scores of the runs and topics that the reference of each collection has too, with those of the reference."""
    if given is None:
        return scored
    shared, references = [], []
    for scores, data, reference in zip(scored.scores, opened, given, strict=True):
        if isinstance(reference, Scores):
            joined, known = join_reference(scores, reference, missing)
            shared.append(joined.sel(measures=[str(measure) for measure in scores.measures]))
            references.append(joined.sel(measures=str(known)))
        else:
            shared.append(scores)
            references.append(data.sel(measures=reference) if isinstance(data, Scores) else score(data, [reference]))
    turned = tuple(take_stated_directions(reference, given) for reference in references)
    return replace(scored, scores=shared, references=turned)


def take_stated_directions(scores: Scores, given: Iterable[Any]) -> Scores:
    """Return scores whose measures have the directions of those that were handed over as measures without a formula."""
    stated = {
        str(measure): measure.higher_is_better
        for measure in given
        if isinstance(measure, Measure) and measure.formula is None and measure.higher_is_better is not None
    }
    measures = tuple(turn(each, stated[str(each)]) if str(each) in stated else each for each in scores.measures)
    return replace(scores, measures=measures)
