"""MTEB: one JSON file a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from metaeval.files import PathLike, read_text
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, has_keys, need, need_text
from metaeval.io.strict_json import parse_json


def _find_mteb(paths: Sequence[PathLike]) -> Iterator[Log]:
    marks, revisions = ('"task_name"', '"main_score"'), dict[str, set[str]]()
    logs = [path for path in paths if str(path).endswith(".json") and all(mark in read_text(path) for mark in marks)]
    folders = [Path(path).resolve().parent for path in logs]  # model/revision
    models = [folder.parent.name.replace("__", "/") for folder in folders]
    for model, folder in zip(models, folders, strict=True):
        revisions.setdefault(model, set()).add(folder.name)
    for path, model, folder in zip(logs, models, folders, strict=True):
        run = model if len(revisions[model]) == 1 else f"{model}@{folder.name}"
        yield Log(path, partial(_read_mteb, path, run), shared=True)


def _read_mteb(path: PathLike, model: str) -> Iterator[Cell]:
    """Yield the main score of a task, the mean over its subsets; tasks are the topics of a model."""
    content = parse_json(read_text(path), path, with_nan=True)
    task = need_text(content, "task_name", path)
    splits = need(content, "scores", path)
    for split, subsets in splits.items():
        found = [as_score(need(subset, "main_score", path), file=path) for subset in subsets]
        known = [score for score in found if score is not None]
        mean = sum(known) / len(known) if known and len(known) == len(found) else None
        yield Cell("mteb", model, task if len(splits) == 1 else f"{task} {split}", "main_score", mean)


MTEB = LogFormat(_find_mteb, has_keys("task_name", "scores"), "mteb")
