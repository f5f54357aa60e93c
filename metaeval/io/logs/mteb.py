"""MTEB: one JSON file a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from metaeval.errors import DataError
from metaeval.files import PathLike, read_text
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, has_keys, need, need_text
from metaeval.io.strict_json import parse_json


def _find_mteb(paths: Sequence[PathLike]) -> Iterator[Log]:
    found = []
    for path in paths:
        if str(path).endswith(".json") and Path(path).name != "model_meta.json":
            content = read_text(path)
            if '"task_name"' in content and '"main_score"' in content:
                found.append(path)
    revisions: dict[str, set[str]] = {}
    for path in found:
        model, revision = _name_model(path)
        revisions.setdefault(model, set()).add(revision)
    for path in found:
        model, revision = _name_model(path)
        run = model if len(revisions[model]) == 1 else f"{model}@{revision}"
        yield Log(path, partial(_read_mteb, path, run), shared=True)


def _name_model(path: PathLike) -> tuple[str, str]:
    """Return model and revision, which are folders: model/revision/task.json."""
    revision = Path(path).resolve().parent
    return revision.parent.name.replace("__", "/"), revision.name


def _read_mteb(path: PathLike, model: str) -> Iterator[Cell]:
    """Yield the main score of a task, the mean over its subsets; tasks are the topics of a model."""
    content = parse_json(read_text(path), path, with_nan=True)
    task = need_text(content, "task_name", path)
    splits = need(content, "scores", path)
    if not isinstance(splits, dict):
        raise DataError("the scores are not as MTEB writes them", file=path)
    for split, subsets in splits.items():
        found = [as_score(need(subset, "main_score", path), file=path) for subset in subsets]
        known = [score for score in found if score is not None]
        mean = sum(known) / len(known) if known and len(known) == len(found) else None
        yield Cell("mteb", model, task if len(splits) == 1 else f"{task} {split}", "main_score", mean)


def _fits_mteb(sample: Any) -> bool:
    return has_keys("task_name", "scores")(sample) and isinstance(sample.first_record["scores"], dict)


MTEB = LogFormat(_find_mteb, _fits_mteb, "mteb")
