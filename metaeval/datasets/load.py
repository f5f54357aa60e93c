"""From a data set's name to runs or scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metaeval.data.runs import ClassificationRuns, QuantificationRuns, Runs
from metaeval.datasets import baselines, ordinal
from metaeval.datasets.download import fetch
from metaeval.datasets.registry import Dataset, dataset
from metaeval.errors import DatasetError
from metaeval.files import PathLike

if TYPE_CHECKING:
    from metaeval.data.scores import Scores
    from metaeval.measures.base import Measure

_GOLD = "gold as a run"
"""Stands in where a data set has no run of its own, until the baselines are there."""


def load_dataset(
    wanted: str | Dataset, *, folder: PathLike | None = None, progress: bool = True
) -> ClassificationRuns | QuantificationRuns | Scores:
    """Return the runs and gold of a data set, or its scores, downloaded when they are not there yet.

    Parameters
    ----------
    wanted : str or Dataset
        A registered name (`metaeval.datasets.datasets` lists them), or a data set of your own.
    folder : path, optional
        The cache folder; METAEVAL_DATA or the user's cache folder by default.
    progress : bool, optional
        Show a progress bar on stderr while downloading.

    Returns
    -------
    ClassificationRuns, QuantificationRuns or Scores
        As the data set's kind says. `collection` is its name, `provenance` where its files are from.

    Raises
    ------
    DatasetError
        If there is no such data set, or its files cannot be had; the message says what to do.
    DataError
        If a file that was put in place by hand is not in its layout.

    Warns
    -----
    PolicyWarning
        If the data set states a policy that changes data, such as the clipping of labels in llmjudge.

    Examples
    --------
    >>> load_dataset("stc3-dq-a")                                    # doctest: +SKIP
    QuantificationRuns: 22 runs × 390 topics, 5 classes, stc3-dq-a
    """
    chosen = wanted if isinstance(wanted, Dataset) else dataset(wanted)
    if chosen.kind == "features":
        raise DatasetError(f"{chosen.name} has neither runs nor scores: {chosen.where}. {chosen.note}")
    if chosen.reader == ordinal.READER:
        return ordinal.load(chosen, folder=folder, progress=progress)
    files = fetch(chosen, folder=folder, progress=progress)
    if chosen.kind == "scores":
        return _scores(chosen, files)
    runs = _with_baselines(_runs(chosen, files), chosen.baselines)
    return replace(runs, provenance=chosen.provenance)


def _runs(chosen: Dataset, files: Mapping[str, Path]) -> Runs:
    gold = files[chosen.gold]
    named = _named(chosen, files) or {_GOLD: gold}
    runs = _READERS[chosen.reader](chosen, gold, named)
    if chosen.kind == "quantification" and isinstance(runs, ClassificationRuns):
        return runs.to_quantification()
    return runs


def _named(chosen: Dataset, files: Mapping[str, Path]) -> dict[str, Path]:
    """Return the run files by run name: up to the first dot, so that PotTS.SubtaskC.res.official.txt is PotTS."""
    found = sorted(name for name in files if fnmatchcase(name, chosen.runs))
    return {Path(name).name.partition(".")[0]: files[name] for name in found}


def _dialogue_quality(chosen: Dataset, gold: Path, named: Mapping[str, Path]) -> Runs:
    from metaeval.io import dialogue_quality

    return dialogue_quality.read(gold, named, collection=chosen.name, **chosen.options)


def _judgements(chosen: Dataset, gold: Path, named: Mapping[str, Path]) -> Runs:
    from metaeval.io import judgements

    return judgements.read(gold, named, classes=chosen.classes, collection=chosen.name, **chosen.options)


def _polarity(chosen: Dataset, gold: Path, named: Mapping[str, Path]) -> Runs:
    from metaeval.io import sentiment

    return sentiment.read(gold, named, classes=chosen.classes, collection=chosen.name, **chosen.options)


def _semeval_classification(chosen: Dataset, gold: Path, named: Mapping[str, Path]) -> Runs:
    from metaeval.io import semeval

    return semeval.read_classification(gold, named, classes=chosen.classes, collection=chosen.name, **chosen.options)


def _semeval_quantification(chosen: Dataset, gold: Path, named: Mapping[str, Path]) -> Runs:
    from metaeval.io import semeval

    return semeval.read_quantification(gold, named, classes=chosen.classes, collection=chosen.name, **chosen.options)


_READERS: dict[str, Callable[[Dataset, Path, Mapping[str, Path]], Runs]] = {
    "dialogue_quality": _dialogue_quality,
    "judgements": _judgements,
    "polarity": _polarity,
    "semeval_classification": _semeval_classification,
    "semeval_quantification": _semeval_quantification,
}


def _with_baselines(runs: Runs, names: tuple[str, ...]) -> Runs:
    if not names:
        return runs
    kept = [run for run in runs.runs if run != _GOLD]
    if isinstance(runs, ClassificationRuns):
        constant = {f"always-{label}": k for k, label in enumerate(runs.classes)}
        counts = [baselines.constant_class_counts(runs.gold, k) for k in constant.values()]
        both = np.concatenate([runs.counts, counts])
        more = replace(runs, counts=both, runs=(*runs.runs, *constant))
        return more.sel(runs=[*kept, *constant])
    added: dict[str, np.ndarray] = {}
    for name in names:
        if name == "constant":
            added |= {f"always-{label}": baselines.constant_class(runs.gold, k) for k, label in enumerate(runs.classes)}
        else:
            added[f"BL-{name}"] = {"popularity": baselines.popularity, "uniform": baselines.uniform}[name](runs.gold)
    return runs.with_runs(added).sel(runs=[*kept, *added])


def _scores(chosen: Dataset, files: Mapping[str, Path]) -> Scores:
    from metaeval.io import sakai, wide

    if chosen.reader == "sakai":
        read = sakai.read(next(iter(files.values())).parent, collection=chosen.name)
    else:
        read = wide.read([files[name] for name in sorted(files)], collection=chosen.name)
    measures = tuple(_directed(one, chosen.options) for one in read.measures)
    return replace(read, measures=measures, provenance=chosen.provenance)


def _directed(measure: Measure, options: Mapping[str, Any]) -> Measure:
    """State direction and range of a measure that the registry of measures does not know."""
    if measure.higher_is_better is not None or not options:
        return measure
    low, high = options["range"]
    return replace(measure, higher_is_better=options["higher_is_better"], range=(low, high))
