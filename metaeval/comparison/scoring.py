"""Where the scores of a comparison come from: matrices that are there, runs that are scored, a store that keeps some."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import metaeval
from metaeval.analyses.agreement_inputs import join_reference
from metaeval.data.policies import MissingPolicy
from metaeval.data.runs import ClassificationRuns, Runs
from metaeval.data.score import score
from metaeval.data.scores import Scores
from metaeval.data.store import ScoreStore
from metaeval.errors import MeasureError, MetaevalError, StoreError, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.measures.conformance import Conformance, conformance
from metaeval.measures.registry import is_shipped
from metaeval.measures.resolve import Wanted, resolve_measures

Say = Callable[[str], None]


def take_from_matrices(
    wanted: Sequence[Wanted], against: Iterable[Wanted] | None, opened: Sequence[Scores], reference: str | None
) -> tuple[list[Measure], list[Scores]]:
    """Take the new measures' scores, and those of what they are compared with, from score matrices."""
    shared = [m for m in opened[0].measures if all(str(m) in map(str, one.measures) for one in opened)]
    shared = [m for m in shared if str(m) != reference]
    known = {str(one): one for one in shared}
    names = [str(one) for one in resolve_measures(wanted, labels=known)]
    others = [str(one) for one in resolve_measures(known if against is None else against, labels=known)]
    others = [name for name in others if name not in names]
    refuse_reference([*names, *others], reference)
    for name in (*names, *others):
        if name not in known:
            raise MetaevalError(
                f"not every collection has scores of {name!r}; all of them have {format_list(list(known)) or 'none'}"
            )
    if not others:
        raise MetaevalError(f"there is no measure to compare {', '.join(names)} with")
    return [known[name] for name in names], [one.sel(measures=[*names, *others]) for one in opened]


def name_reference(reference: Sequence[Any] | None) -> str | None:
    """Return the name of the reference, which is one measure, and the same for every collection."""
    if reference is None:
        return None
    names = set()
    for one in reference:
        if not isinstance(one, Scores):
            names |= {str(known) for known in resolve_measures([one], labels=())}
        elif len(one.measures) != 1:
            raise MetaevalError(
                f"{format_option('reference')} holds {len(one.measures)} measures "
                f"({format_list([str(m) for m in one.measures])}); it is one: choose it with .sel(measures=…)"
            )
        else:
            names.add(str(one.measures[0]))
    if len(names) > 1:
        raise MetaevalError(f"the collections are held against different measures: {format_list(sorted(names))}")
    return names.pop()


def refuse_reference(names: Iterable[str], reference: str | None) -> None:
    """Refuse a measure that is named both to be compared and to be the reference."""
    if reference is not None and reference in names:
        raise MetaevalError(f"{reference} is the reference; it is not compared with itself")


def split_reference(
    scores: Scores, data: Scores | Runs, reference: Any, missing: MissingPolicy
) -> tuple[Scores, Scores]:
    """Return scores of the measures, and of the reference they are held against, of the same runs and topics.

    Parameters
    ----------
    scores : Scores
        Of the measures that are compared.
    data : Scores or runs
        Where they are from: a reference that is named is a measure of the same matrix, or is scored on the same runs.
    reference : name, Measure, or Scores of one measure
    missing : str
        As for `join_reference`.
    """
    if not isinstance(reference, Scores):
        return scores, data.sel(measures=reference) if isinstance(data, Scores) else score(data, [reference])
    joined, known = join_reference(scores, reference, missing)
    return joined.sel(measures=[str(one) for one in scores.measures]), joined.sel(measures=str(known))


def check_measure(measure: Measure, opened: Sequence[Runs], time_limit: float) -> Conformance:
    """Refuse a measure that does not satisfy its declaration for these classes, or would take too long on these data."""
    if measure.kind != opened[0].kind:
        raise MeasureError(f"{measure} is a {measure.kind} measure, the data are {opened[0].kind} runs")
    checked = conformance(measure, n_classes=len(opened[0].classes))
    cells = sum(len(one.runs) * len(one.topics) for one in opened)
    expected = checked.seconds * cells
    if expected > time_limit:
        raise MeasureError(
            f"{measure} takes {checked.seconds:.2g} s a topic, some {expected / 60:,.0f} minutes for these "
            f"{cells:,} runs × topics; the limit is {time_limit:g} s ({format_option('time_limit')})"
        )
    return checked


def score_collection(
    runs: Runs,
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
    return fresh.add_measures(_kept(runs, shipped, ScoreStore(store), tell))


def _kept(runs: Runs, rest: Sequence[Measure], store: ScoreStore, tell: Say) -> Scores:
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
    return replace(kept, collection=runs.collection, provenance=runs.provenance)
