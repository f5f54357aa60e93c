"""Load a named data set as runs or scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metaeval.data.annotations import Annotations
from metaeval.data.runs import ClassificationRuns, QuantificationRuns, Runs
from metaeval.datasets.baselines import popularity, uniform
from metaeval.datasets.download import fetch
from metaeval.datasets.registry import Dataset, dataset
from metaeval.errors import DatasetError
from metaeval.files import PathLike

if TYPE_CHECKING:
    from metaeval.data.scores import Scores

_GOLD = "gold as a run"
"""What the gold is called where it is read as the run of a data set without published ones; baselines take its place."""

_READERS = {"evall": "evall", "replab": "replab", "semeval-joined": "semeval_joined"}
"""Modules beside this one that read layouts of runs that no other data have; other readers are formats of `metaeval.io`."""


def load_dataset(
    wanted: str | Dataset, *, folder: PathLike | None = None
) -> ClassificationRuns | QuantificationRuns | Scores | Annotations:
    """Return the runs and gold of a data set, or its scores or labels; download them if necessary.

    Policies that change data, such as the clipping of labels in llmjudge, are said in warnings.

    Parameters
    ----------
    wanted : str or Dataset
        A registered name (`metaeval.datasets.datasets` lists them), or a data set of your own.
    folder : path, optional
        The folder for downloads; METAEVAL_DATA or the user's cache folder by default.

    Examples
    --------
    >>> load_dataset("stc3-dq-a")                                    # doctest: +SKIP
    QuantificationRuns: 22 runs × 390 topics, 5 classes, stc3-dq-a
    """
    data_set = wanted if isinstance(wanted, Dataset) else dataset(wanted)
    files = fetch(data_set, folder=folder)
    if data_set.kind == "scores":
        return replace(_read_scores(data_set, files), provenance=data_set.provenance)
    if data_set.reader == "annotations":
        return _read_annotations(data_set, files)
    runs = _add_baselines(_read_runs(data_set, files), data_set.baselines)
    return replace(runs, provenance=data_set.provenance)


def _read_runs(data_set: Dataset, files: Mapping[str, Path]) -> Runs:
    from metaeval.io import RUN_FORMATS, read_runs
    from metaeval.io.formats import choose_format

    gold, options = files[data_set.gold], {"collection": data_set.name, **data_set.options}
    names = sorted(name for name in files if fnmatchcase(name, data_set.runs))
    # A run is called as its file up to the first dot: PotTS for PotTS.SubtaskC.res.official.txt.
    named = {Path(name).name.partition(".")[0]: files[name] for name in names} or {_GOLD: gold}
    if data_set.second_gold:
        options["polarity"] = files[data_set.second_gold]
    if data_set.reader in _READERS:
        module = import_module(f"metaeval.datasets.{_READERS[data_set.reader]}")
        runs: Runs = module.read(gold, named, classes=data_set.classes, **options)
    else:
        format = choose_format(data_set.reader, RUN_FORMATS)
        classes = data_set.classes if "classes" in (*format.options, *format.needs) else None
        runs = read_runs(gold, named, format=format.name, classes=classes, **options)
    if data_set.kind == "quantification" and isinstance(runs, ClassificationRuns):
        return runs.to_quantification()
    return runs


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
    as_shares = data_set.kind == "quantification"
    return annotations.to_quantification() if as_shares else annotations.to_classification(parts=parts)


def _add_baselines(runs: Runs, names: tuple[str, ...]) -> Runs:
    """Add the stated baselines; those that always predict one class are of SemEval Task 4 (LQ 2021, footnote 3)."""
    if not names:
        return runs
    real = [run for run in runs.runs if run != _GOLD]
    n_classes = len(runs.classes)
    always = {f"always-{label}": row for label, row in zip(runs.classes, np.eye(n_classes, dtype=int), strict=True)}
    if isinstance(runs, ClassificationRuns):
        counts = np.concatenate([runs.counts, [runs.gold[..., np.newaxis] * row for row in always.values()]])
        return replace(runs, counts=counts, runs=(*runs.runs, *always)).sel(runs=[*real, *always])
    added: dict[str, np.ndarray] = {}
    for name in names:
        if name == "constant":
            added |= {run: np.tile(row, (len(runs.topics), 1)) for run, row in always.items()}
        else:
            added[f"BL-{name}"] = {"popularity": popularity, "uniform": uniform}[name](runs.gold)
    return runs.with_runs(added).sel(runs=[*real, *added])


def _read_scores(data_set: Dataset, files: Mapping[str, Path]) -> Scores:
    from metaeval.data.scores import state_directions
    from metaeval.io import read_scores, sakai, wide, wmt

    paths, name, options = [files[key] for key in sorted(files)], data_set.name, data_set.options
    if data_set.reader == "wmt":
        (scores,) = wmt.read_collections(paths, collection=name, **options)
        # As the task publishes them, higher scores are better, of errors too.
        return state_directions([scores], higher_is_better=True)[0]
    if data_set.reader == "table":
        return replace(read_scores(paths[0], **{"collection": name, **options}), collection=name)
    if data_set.reader == "sakai":
        return sakai.read_collections(paths[0].parent, collection=name)[0]
    if data_set.reader != "wide":
        known = "wide, table, sakai or wmt"
        raise DatasetError(f"{name}: scores have no reader {data_set.reader!r}: use {known}")
    (scores,) = wide.read_collections(paths, collection=name)
    stated: dict[str, Any] = {
        "higher_is_better": options.get("higher_is_better"),
        "range": tuple(options.get("range", (-inf, inf))),
    }
    measures = [m if m.higher_is_better is not None else replace(m, **stated) for m in scores.measures]
    return replace(scores, measures=tuple(measures))
