"""Scores from whatever a user names: a data set, a store, a score file or folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from metaeval.data.annotations import Annotations
from metaeval.data.policies import MissingPolicy
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.data.score import score
from metaeval.data.scores import Scores, state_directions
from metaeval.data.store import ScoreStore
from metaeval.data.store_folder import find_folder
from metaeval.errors import DatasetError, MetaevalError, StoreError, format_list, format_option
from metaeval.files import is_remote, is_standard_input
from metaeval.measures.base import Measure
from metaeval.measures.directions import Names
from metaeval.measures.resolve import Wanted, resolve_measures


def open_scores(
    source: str,
    measures: Iterable[Wanted] | Wanted | None = None,
    *,
    format: str | None = None,
    collection: str | None = None,
    measure: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    higher_is_better: Names | bool = (),
    lower_is_better: Names = (),
) -> Scores:
    """Return the scores that a data set's name, a store, or a score file or folder stands for.

    Parameters
    ----------
    source : str
        A path that exists comes before a data set of the same name. Runs of a data set are scored.
    measures : name, "file.py:function", Measure, function, or several of them, optional
        Which; for a data set of runs every measure of its kind by default, otherwise all there are.
    format : str, optional
        Of a file, where its name and header do not tell; ``"store"`` for a store.
    collection : str, optional
        Which collection of a store, or how to name what a file holds.
    measure : str, optional
        The measure of a file that holds one and does not name it.
    missing : str, optional
        What to do where a file has no score for a run and topic.
    columns : mapping of str to str, optional
        What a tidy file calls some of its columns: ``{"run": "system"}``.
    higher_is_better, lower_is_better : str or iterable of str, optional
        Measures of which higher scores, or lower ones, are better, whatever their names or the file tell;
        ``higher_is_better=True`` for all that are not named otherwise.

    Returns
    -------
    Scores

    Raises
    ------
    MetaevalError
        If there is no such thing, or it cannot be read; or if a direction is stated of a measure that is not there, or
        that has it already.
    """
    from metaeval.datasets import load_dataset
    from metaeval.io import read_scores

    if not source.strip():
        raise MetaevalError("the source has an empty name")
    wanted = None if measures is None else resolve_measures(measures, labels=())
    stored = format == "store" or (format is None and is_store(source))
    file = (
        format is not None
        or is_remote(source)
        or is_standard_input(source)
        or os.path.exists(os.path.expanduser(source))
    )
    if columns and (stored or not file):
        raise MetaevalError(f"{source} has no columns that {format_option('columns')} could name")
    if stored:
        scores = _stored(source, collection, wanted)
    elif file:
        scores = read_scores(
            source, format=format, measure=measure, collection=collection, missing=missing, columns=columns
        )
    else:
        try:
            loaded: Any = load_dataset(source)
        except DatasetError as error:
            if Path(source).suffix or "/" in source:
                raise MetaevalError(f"{source}: there is no such file or folder") from None
            raise MetaevalError(f"{error}") from None
        scores = loaded if isinstance(loaded, Scores) else score(refuse_annotations(loaded), wanted)
    scores = scores if wanted is None else scores.sel(measures=wanted)
    return state_directions([scores], higher_is_better, lower_is_better, missing)[0]


def open_data(
    source: object, *, missing: MissingPolicy = "raise", columns: Mapping[str, str] | None = None
) -> Scores | ClassificationRuns | QuantificationRuns:
    """Return what a source holds, runs as runs: a data set's name, a store, a file, or such an object itself.

    Parameters
    ----------
    source : str, Path, Scores, ClassificationRuns or QuantificationRuns
    missing : str, optional
        What to do where a file has no score for a run and topic.
    columns : mapping of str to str, optional
        What a tidy file calls some of its columns.

    Returns
    -------
    Scores, ClassificationRuns or QuantificationRuns

    Raises
    ------
    MetaevalError
        If there is no such thing, or it cannot be read.
    """
    if isinstance(source, Scores | ClassificationRuns | QuantificationRuns):
        return source
    if not isinstance(source, str | Path):
        raise MetaevalError(f"{source!r} is no data: give a data set's name, a path, Scores, or runs")
    if isinstance(source, str) and not columns and not is_remote(source) and not Path(source).expanduser().exists():
        from metaeval.datasets import load_dataset

        if not Path(source).suffix and "/" not in source and not is_standard_input(source):
            return refuse_annotations(load_dataset(source))
    return open_scores(str(source), missing=missing, columns=columns)


def is_store(path: str | Path) -> bool:
    """Say whether a path is the folder of a score store."""
    try:
        folder = find_folder(path)
    except StoreError:
        return False
    return not is_remote(folder) and os.path.isfile(os.path.join(folder, "manifest.json"))


def refuse_annotations(loaded: Any) -> Any:
    """Return what was loaded, but refuse labels of several people: there is no single gold to score runs against.

    Parameters
    ----------
    loaded : Scores, ClassificationRuns, QuantificationRuns or Annotations

    Returns
    -------
    Scores, ClassificationRuns or QuantificationRuns

    Raises
    ------
    MetaevalError
        If these are Annotations; the message says which data sets have a gold.
    """
    if isinstance(loaded, Annotations):
        raise MetaevalError(
            f"{loaded.collection} holds labels of several people: {loaded.collection}-oc has one gold label for each item, "
            f"{loaded.collection}-oq the distribution of them"
        )
    return loaded


def _stored(source: str, collection: str | None, measures: Sequence[Measure] | None) -> Scores:
    store = ScoreStore(source)
    names = store.collections()
    if collection is None and len(names) != 1:
        there = f" ({format_list(names)})" if names else ""
        raise MetaevalError(
            f"{source} holds {len(names)} collections{there}: choose one with {format_option('collection', 'NAME')}"
        )
    return store.load(collection if collection is not None else names[0], measures)
