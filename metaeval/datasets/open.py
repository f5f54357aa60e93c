"""Whatever a user names is opened here: a data set, a store, a file or folder, standard input, a frame."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from metaeval.data.annotations import Annotations
from metaeval.data.labels import choose_measures
from metaeval.data.policies import MissingPolicy
from metaeval.data.rows import DoubledPolicy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.score import score
from metaeval.data.scores import Scores, only_collection, state_directions
from metaeval.data.store import MANIFEST, ScoreStore
from metaeval.errors import DatasetError, MetaevalError, StoreError, format_list, format_option
from metaeval.files import is_remote, is_standard_input
from metaeval.measures.directions import Names
from metaeval.measures.resolve import MeasureLike, list_measures, measure as measure_of


def open_scores(
    source: Any,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    format: str | None = None,
    collection: str | None = None,
    measure: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    doubled: DoubledPolicy = "raise",
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
) -> Scores:
    """Return the scores that a user names or hands over: of a data set, a store, a file or folder, or a frame.

    Parameters
    ----------
    source : str, path, frame, Scores or runs
        A path that exists comes before a data set of the same name; ``"-"`` is standard input; frames are those of
        `metaeval.io.from_frame`. Runs, of a data set too, are scored.
    measures : name, "file.py:function", Measure, function, or several of them, optional
        Which; for a data set of runs every measure of its kind by default, otherwise all there are. They are chosen first:
        what others lack does not matter.
    format : str, optional
        Of a file, where its name and header do not tell; ``"store"`` for a store.
    collection : str, optional
        Which collection of a store, or how to name what a file holds.
    measure : str, optional
        The measure of a file that holds one and does not name it.
    missing : str, optional
        What to do where a file has no score for a run and topic.
    columns : mapping of str to str, optional
        What a table calls columns whose names do not tell what they hold: ``{"run": "entry"}``. A ``"cluster"`` names a
        column of documents or conversations, whose topics are drawn together; a ``"repeat"`` one of epochs or seeds, over
        which scores are averaged.
    doubled : {"raise", "mean", "latest"}, optional
        What to do where a file has several scores for a run and topic.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of which higher scores, or lower ones, are better, whatever their names or the file tell;
        ``higher_is_better=True`` for all that are not named otherwise.

    Returns
    -------
    Scores

    Raises
    ------
    MetaevalError
        If there is no such thing, or it cannot be read; or if a direction is stated of a measure that is not there.
    """
    found = open_collections(
        source, measures, format=format, collection=collection, measure=measure, missing=missing, columns=columns,
        doubled=doubled, higher_is_better=higher_is_better, lower_is_better=lower_is_better,
    )  # fmt: skip
    return only_collection(found, source)


def open_collections(
    source: Any,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    optional: Sequence[str] = (),
    missing: MissingPolicy = "raise",
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
    **options: Any,
) -> list[Scores]:
    """Return the scores of every collection that a source holds; a file may hold several. Options: see `open_scores`.

    Besides chosen `measures`, scores keep those of the `optional` ones that they have; gaps of others do not matter.
    """
    # A text is resolved where the labels of the data are known: only runs are scored by a function of a file.
    chosen: list[MeasureLike] | None = None
    if measures is not None:
        chosen = [name if isinstance(name, str) else measure_of(name) for name in list_measures(measures)]
    found = []
    for opened in _open(source, chosen, optional, missing=missing, **options):
        if not isinstance(opened, Scores):
            found.append(score(opened, chosen))
        else:
            labels = [str(measure) for measure in opened.measures]
            found.append(opened if chosen is None else opened.sel(measures=choose_measures(chosen, labels, optional)))
    return state_directions(found, higher_is_better, lower_is_better, missing)


def open_source(
    source: Any, measures: Sequence[MeasureLike] | None = None, **options: Any
) -> Scores | ClassificationRuns | QuantificationRuns:
    """Return what a source holds, runs as runs; scores and runs themselves stay as they are. Options: see `open_scores`.

    Of a store only `measures` are read.
    """
    opened = _open(source, measures, **options)
    if len(opened) == 1:
        return opened[0]
    return only_collection([scores for scores in opened if isinstance(scores, Scores)], source)


def _open(
    source: Any,
    measures: Sequence[MeasureLike] | None,
    optional: Sequence[str] = (),
    *,
    format: str | None = None,
    collection: str | None = None,
    columns: Mapping[str, str] | None = None,
    **options: Any,
) -> Sequence[Scores | ClassificationRuns | QuantificationRuns]:
    from metaeval.io.frames import is_frame
    from metaeval.io.scores import read_collections

    if isinstance(source, Scores | ClassificationRuns | QuantificationRuns):
        return [source]
    if not isinstance(source, str | Path | Mapping | list | tuple) and not is_frame(source):
        raise MetaevalError(f"{source!r} is no data: give a data set's name, a path, a frame, Scores, or runs")
    if isinstance(source, str | Path):
        name = str(source)
        if not name.strip():
            raise MetaevalError("the source has an empty name")
        stored = format == "store" or (format is None and is_store(name))
        file = format is not None or is_remote(name) or is_standard_input(name)
        file = file or os.path.exists(os.path.expanduser(name))
        if columns and (stored or not file):
            raise MetaevalError(f"{name} has no columns that {format_option('columns')} could name")
        if stored:
            return [_load_stored(name, collection, None if optional else measures)]
        if not file:
            return [_load_named(name)]
        source = name
    choose = None if measures is None else partial(choose_measures, measures, optional=optional)
    return read_collections(source, format=format, collection=collection, columns=columns, choose=choose, **options)


def _load_named(name: str) -> Scores | ClassificationRuns | QuantificationRuns:
    """Return a data set."""
    from metaeval.datasets import load_dataset

    try:
        loaded: Scores | ClassificationRuns | QuantificationRuns = refuse_annotations(load_dataset(name))
    except DatasetError as error:
        if Path(name).suffix or "/" in name:
            raise MetaevalError(f"{name}: there is no such file or folder") from None
        raise MetaevalError(f"{error}") from None
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
        raise MetaevalError(
            f"{loaded.collection} holds labels of several people: {loaded.collection}-oc has one gold label for each item, "
            f"{loaded.collection}-oq the distribution of them"
        )
    return loaded


def _load_stored(source: str, collection: str | None, measures: Sequence[MeasureLike] | None) -> Scores:
    store = ScoreStore(source)
    names = store.collections()
    if collection is None and len(names) != 1:
        listed = f" ({format_list(names)})" if names else ""
        raise MetaevalError(
            f"{source} holds {len(names)} collections{listed}: choose one with {format_option('collection', 'NAME')}"
        )
    return store.load(collection if collection is not None else names[0], measures)
