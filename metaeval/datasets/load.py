"""Load a named data set as runs or scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metaeval.data.annotations import Annotations
from metaeval.data.runs import ClassificationRuns, QuantificationRuns, Runs
from metaeval.datasets.baselines import constant_class, constant_class_counts, popularity, uniform
from metaeval.datasets.download import fetch
from metaeval.datasets.ordinal import READER, load as load_ordinal
from metaeval.datasets.registry import Dataset, dataset
from metaeval.errors import DatasetError
from metaeval.files import PathLike

if TYPE_CHECKING:
    from metaeval.data.scores import Scores
    from metaeval.measures.base import Measure

_GOLD = "gold as a run"
"""A placeholder run for a data set without published runs, until its baselines are added."""


def load_dataset(
    wanted: str | Dataset, *, folder: PathLike | None = None, progress: bool = True
) -> ClassificationRuns | QuantificationRuns | Scores | Annotations:
    """Return the runs and gold of a data set, or its scores; download them if necessary.

    Parameters
    ----------
    wanted : str or Dataset
        A registered name (`metaeval.datasets.datasets` lists them), or a data set of your own.
    folder : path, optional
        The folder for downloads; METAEVAL_DATA or the user's cache folder by default.
    progress : bool, optional
        Show a progress bar on stderr while downloading.

    Returns
    -------
    ClassificationRuns, QuantificationRuns, Scores or Annotations
        Depending on the kind of the data set. `collection` is its name, `provenance` the origin of its files.

    Raises
    ------
    DatasetError
        If there is no such data set, or its files cannot be downloaded; the message says what to do.
    DataError
        If a file that the user has put in place does not have the expected layout.

    Warns
    -----
    PolicyWarning
        If the data set has a policy that changes data, such as the clipping of labels in llmjudge.

    Examples
    --------
    >>> load_dataset("stc3-dq-a")                                    # doctest: +SKIP
    QuantificationRuns: 22 runs × 390 topics, 5 classes, stc3-dq-a
    """
    data_set = wanted if isinstance(wanted, Dataset) else dataset(wanted)
    if data_set.kind == "features":
        raise DatasetError(f"{data_set.name} has neither runs nor scores: {data_set.where}. {data_set.note}")
    if data_set.reader == READER:
        return load_ordinal(data_set, folder=folder, progress=progress)
    files = fetch(data_set, folder=folder, progress=progress)
    if data_set.kind == "scores":
        return _read_scores(data_set, files)
    if data_set.reader == "annotations":
        return _read_annotations(data_set, files)
    runs = _add_baselines(_read_runs(data_set, files), data_set.baselines)
    return replace(runs, provenance=data_set.provenance)


def _read_runs(data_set: Dataset, files: Mapping[str, Path]) -> Runs:
    gold = files[data_set.gold]
    named = _name_runs(data_set, files) or {_GOLD: gold}
    if data_set.second_gold:
        data_set = replace(data_set, options={**data_set.options, "polarity": files[data_set.second_gold]})
    module, _, name = _READERS[data_set.reader].partition(":")
    read = getattr(import_module(f"metaeval.io.{module}"), name)
    classes = {} if data_set.reader == "dialogue_quality" else {"classes": data_set.classes}
    runs: Runs = read(gold, named, collection=data_set.name, **classes, **data_set.options)
    if data_set.kind == "quantification" and isinstance(runs, ClassificationRuns):
        return runs.to_quantification()
    return runs


def _name_runs(data_set: Dataset, files: Mapping[str, Path]) -> dict[str, Path]:
    """Return the run files by run name: the file name up to the first dot, PotTS for PotTS.SubtaskC.res.official.txt."""
    names = sorted(name for name in files if fnmatchcase(name, data_set.runs))
    return {Path(name).name.partition(".")[0]: files[name] for name in names}


_READERS = {
    "dialogue_quality": "dialogue_quality:read",
    "evall": "evall:read",
    "judgements": "judgements:read",
    "polarity": "sentiment:read",
    "semeval_classification": "semeval:read_classification",
    "semeval_joined": "semeval_joined:read",
    "semeval_quantification": "semeval:read_quantification",
}
"""The function of `metaeval.io` that reads a layout."""


def _read_annotations(data_set: Dataset, files: Mapping[str, Path]) -> Annotations | Runs:
    """Return labels of people and judges, or the runs that follow from them: "parts" is the only option of these."""
    from metaeval.io import read_annotations

    options = dict(data_set.options)
    parts = options.pop("parts", None)
    people, judges = files[data_set.gold], files[data_set.runs]
    annotations = read_annotations(people, judges, classes=data_set.classes, collection=data_set.name, **options)
    annotations = replace(annotations, provenance=data_set.provenance)
    if data_set.kind == "annotations":
        return annotations
    return (
        annotations.to_quantification()
        if data_set.kind == "quantification"
        else annotations.to_classification(parts=parts)
    )


def _add_baselines(runs: Runs, names: tuple[str, ...]) -> Runs:
    if not names:
        return runs
    real = [run for run in runs.runs if run != _GOLD]
    if isinstance(runs, ClassificationRuns):
        constant = {f"always-{label}": k for k, label in enumerate(runs.classes)}
        counts = [constant_class_counts(runs.gold, k) for k in constant.values()]
        both = np.concatenate([runs.counts, counts])
        more = replace(runs, counts=both, runs=(*runs.runs, *constant))
        return more.sel(runs=[*real, *constant])
    added: dict[str, np.ndarray] = {}
    for name in names:
        if name == "constant":
            added |= {f"always-{label}": constant_class(runs.gold, k) for k, label in enumerate(runs.classes)}
        else:
            added[f"BL-{name}"] = {"popularity": popularity, "uniform": uniform}[name](runs.gold)
    return runs.with_runs(added).sel(runs=[*real, *added])


def _read_scores(data_set: Dataset, files: Mapping[str, Path]) -> Scores:
    from metaeval.data.scores import state_directions
    from metaeval.io import read_scores, sakai, wide, wmt

    if data_set.reader == "wmt":
        read = wmt.read([files[name] for name in sorted(files)], collection=data_set.name, **data_set.options)
        # As the task publishes them, higher scores are better, of errors too.
        (read,) = state_directions([read], higher_is_better=True)
        return replace(read, provenance=data_set.provenance)
    if data_set.reader == "table":
        read = read_scores(next(iter(files.values())), **{"collection": data_set.name, **data_set.options})
        return replace(read, collection=data_set.name, provenance=data_set.provenance)
    if data_set.reader == "sakai":
        read = sakai.read(next(iter(files.values())).parent, collection=data_set.name)
    else:
        read = wide.read([files[name] for name in sorted(files)], collection=data_set.name)
    measures = tuple(_state_direction(measure, data_set.options) for measure in read.measures)
    return replace(read, measures=measures, provenance=data_set.provenance)


def _state_direction(measure: Measure, options: Mapping[str, Any]) -> Measure:
    """State the direction and range of a measure that is not registered."""
    if measure.higher_is_better is not None or not options:
        return measure
    low, high = options["range"]
    return replace(measure, higher_is_better=options["higher_is_better"], range=(low, high))
