"""Whatever a user names is opened here: a data set, a store, a file or folder, standard input, a frame."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from metaeval.data.annotations import Annotations
from metaeval.data.labels import choose_measures
from metaeval.data.policies import report_policy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.scores import Scores, only_collection, score, state_directions
from metaeval.data.store import MANIFEST, ScoreStore
from metaeval.errors import DatasetError, MetaevalError, StoreError, format_list, format_option
from metaeval.files import is_standard_input
from metaeval.measures.resolve import MeasureLike, choose_of_several, list_measures, measure as measure_of

if TYPE_CHECKING:
    from metaeval.io.scores import Reading

Opened = Scores | ClassificationRuns | QuantificationRuns


def open_scores(
    source: Any, measures: Iterable[MeasureLike] | MeasureLike | None = None, **options: Unpack[Reading]
) -> Scores:
    """Return the scores that a user names or hands over: of a data set, a store, a file or folder, or a frame.

    Parameters
    ----------
    source : str, path, frame, Scores or runs
        A path that exists comes before a data set of the same name; ``"-"`` is standard input. Runs, of a data set too, are
        scored.
    measures : name, "file.py:function", Measure, function, or several of them, optional
        Which; by default all there are, or all of the kind of runs. They are chosen first: what others lack does not matter.
    **options
        Those of `metaeval.io.read_scores`. ``format="store"`` is for a store, of which `collection` chooses one. Of `columns`
        a ``"cluster"`` names documents or conversations, whose topics are drawn together, a ``"repeat"`` epochs or seeds,
        over which scores are averaged.
    """
    return only_collection(open_collections(source, measures, **options), source)


def open_collections(
    source: Any,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    optional: Sequence[str] = (),
    **options: Unpack[Reading],
) -> list[Scores]:
    """Return the scores of every collection that a source holds; a file may hold several. Options: see `open_scores`.

    Besides chosen `measures`, scores keep those of the `optional` ones that they have; gaps of others do not matter.
    """
    # A text is resolved where the labels of the data are known: only runs are scored by a function of a file.
    chosen: list[MeasureLike] | None = None
    if measures is not None:
        chosen = [name if isinstance(name, str) else measure_of(name) for name in list_measures(measures)]
    higher, lower = options.pop("higher_is_better", ()), options.pop("lower_is_better", ())
    opened = _open(source, chosen, optional, **options)
    found = [one if isinstance(one, Scores) else score(one, chosen) for one in opened]
    if chosen is not None:
        choose = choose_of_several(
            partial(choose_measures, chosen, optional=optional), [scores.measures for scores in found]
        )
        found = [scores.sel(measures=choose([str(measure) for measure in scores.measures])) for scores in found]
    return state_directions(found, higher, lower)


def open_source(source: Any, **options: Unpack[Reading]) -> Opened:
    """Return what a source holds, runs as runs; scores and runs themselves stay as they are. Options: see `open_scores`."""
    opened = _open(source, None, **options)
    if len(opened) == 1:
        return opened[0]
    return only_collection([scores for scores in opened if isinstance(scores, Scores)], source)


def _open(
    source: Any, measures: Sequence[MeasureLike] | None, optional: Sequence[str] = (), **options: Unpack[Reading]
) -> Sequence[Opened]:
    from metaeval.io.scores import read_collections
    from metaeval.io.table import is_frame

    if isinstance(source, Scores | ClassificationRuns | QuantificationRuns):
        return [source]
    if isinstance(source, str | Path):
        source, format = str(source), options.get("format")
        stored = format == "store" or (format is None and is_store(source))
        file = format is not None or "://" in source or is_standard_input(source)
        file = file or os.path.exists(os.path.expanduser(source))
        if options.get("columns") and (stored or not file):
            raise MetaevalError(f"{source} has no columns that {format_option('columns')} could name")
        if stored:
            return [_load_stored(source, options.get("collection"), None if optional else measures)]
        if not file:
            for policy in ("missing", "doubled"):
                if options.get(policy, "raise") not in ("raise", "keep"):
                    report_policy(f"{format_option(policy)} does nothing here: the data set is read as it says", source)
            return [_load_named(source)]
    elif not isinstance(source, Mapping | list | tuple) and not is_frame(source):
        raise MetaevalError(f"{source!r} is no data: give a data set's name, a path, a frame, Scores, or runs")
    choose = None if measures is None else partial(choose_measures, measures, optional=optional)
    return read_collections(source, choose=choose, **options)


def _load_named(name: str) -> Opened:
    """Return a data set."""
    from metaeval.datasets import load_dataset

    try:
        loaded: Opened = refuse_annotations(load_dataset(name))
    except DatasetError as error:
        is_path = Path(name).suffix or "/" in name
        raise MetaevalError(f"{name}: there is no such file or folder" if is_path else str(error)) from None
    return loaded


def is_store(path: str | Path) -> bool:
    """Say whether a path is the folder of a score store."""
    try:
        return (ScoreStore(path).path / MANIFEST).is_file()
    except (StoreError, OSError):
        return False


def refuse_annotations(loaded: Any) -> Any:
    """Return what was loaded, but refuse labels of several people: there is no single gold to score runs against."""
    if isinstance(loaded, Annotations):
        name = loaded.collection
        other = f"{name}-oc has one gold label for each item, {name}-oq the distribution of them"
        raise MetaevalError(f"{name} holds labels of several people: {other}")
    return loaded


def _load_stored(source: str, collection: str | None, measures: Sequence[MeasureLike] | None) -> Scores:
    store = ScoreStore(source)
    names = store.collections()
    if collection is None and len(names) != 1:
        listed = f" ({format_list(names)})" if names else ""
        choose = f"choose one: {format_option('collection', shlex.quote(min(names, default='NAME')))}"
        raise MetaevalError(f"{source} holds {len(names)} collections{listed}: {choose}")
    return store.load(collection if collection is not None else names[0], measures)
