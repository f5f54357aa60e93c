"""Every Eval Ever: samples ``{uuid}_samples.jsonl``, and an aggregate ``{uuid}.json`` that names measures and directions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from metaeval.data.policies import report_policy
from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, file_name, open_regular, plain_path, read_text, stream_lines
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, need, need_text
from metaeval.io.strict_json import parse_json

ENDING = "_samples.jsonl"
KEYS = {"evaluation_id", "model_id", "sample_id", "evaluation"}


def find(paths: Sequence[PathLike]) -> Iterator[Log]:
    """Yield the files of samples; aggregates without one are listed."""
    ending = ".jsonl" if len(paths) == 1 else ENDING
    samples = [path for path in paths if plain_path(path).endswith(ending)]
    known = {str(path) for path in samples}
    listed: dict[str, list[Path]] = {}
    for path in paths:
        listed.setdefault(file_name(path), []).append(Path(path))
    alone = []
    for path in paths:
        if str(path) in known or not str(path).endswith(".json"):
            continue
        found = _find_samples(path, listed)
        if found is None:
            alone.append(file_name(path))
        elif str(found) not in known:
            known.add(str(found))
            samples.append(found)
    if alone:
        report_policy(f"no samples lie beside {format_list(alone)}: left out")
    for path in samples:
        yield Log(path, partial(_read, path))


def _find_samples(path: PathLike, listed: Mapping[str, Sequence[Path]]) -> Path | None:
    """Return the file that an aggregate names, relative to the root of its archive.

    Whoever wrote the aggregate may name any file: only one beside or below it, or that the user named too, is read.
    """
    content = parse_json(read_text(path), path, with_nan=True)
    details = content.get("detailed_evaluation_results") if isinstance(content, dict) else None
    named = details.get("file_path") if isinstance(details, dict) else None
    if not isinstance(named, str):
        return None
    inner = PurePosixPath(named)
    if inner.is_absolute() or ".." in inner.parts or "\\" in named:
        raise DataError(f"file_path {named!r} leaves the archive", file=path)
    folder = Path(path).parent
    of_user = [other for other in listed.get(inner.name, ()) if other.parts[-len(inner.parts) :] == inner.parts]
    for found in (folder / inner.name, folder / inner, *of_user):
        if found.is_file():
            root = found.parent if found in of_user else folder
            if not found.resolve().is_relative_to(root.resolve()):  # a link
                raise DataError(f"file_path {named!r} leaves the archive", file=path)
            return found
    return None


def _read(path: PathLike) -> Iterator[Cell]:
    measures, stated = _read_aggregate(path)
    rows = 0
    for line, content in stream_lines(path):
        rows += 1
        record = parse_json(content, path, line, with_nan=True)
        evaluation = need(record, "evaluation", path, line)
        task = need_text(record, "evaluation_name", path, line)
        key = record.get("evaluation_result_id") or task
        name, lower = measures.get(key, ("score", None))
        graded = evaluation if isinstance(evaluation, dict) else {}
        score = graded.get("score", graded.get("is_correct"))  # a score that is null is none
        yield Cell(
            task,
            need_text(record, "model_id", path, line),
            need_text(record, "sample_id", path, line),
            name,
            as_score(score, file=path, line=line),
            higher_is_better=None if lower is None else not lower,
        )
    if stated is not None and stated != rows:
        raise DataError(f"it has {rows:,} samples, its aggregate says {stated:,}", file=path)


Measures = dict[Any, tuple[str, bool | None]]
"""Names of measures by result, and whether lower scores are better."""


def _read_aggregate(path: PathLike) -> tuple[Measures, int | None]:
    """Return the measures of results, and how many samples the aggregate counts; without one beside them, neither."""
    beside = Path(plain_path(path).removesuffix(ENDING) + ".json")
    if not beside.is_file():
        return {}, None
    content = parse_json(read_text(beside), beside, with_nan=True)
    results = need(content, "evaluation_results", beside)
    details = content.get("detailed_evaluation_results") or {}
    stated = details.get("total_rows") if isinstance(details, Mapping) else None
    if isinstance(details, Mapping):
        _check_sum(path, details)
    measures: Measures = {}
    for result in results if isinstance(results, list) else []:
        config = result.get("metric_config") or {}
        name = config.get("metric_name") or config.get("metric_id") or "score"
        lower = config.get("lower_is_better")
        for key in ("evaluation_result_id", "evaluation_name"):
            if result.get(key):
                measures.setdefault(result[key], (str(name), lower if isinstance(lower, bool) else None))
    return measures, stated if isinstance(stated, int) else None


def _check_sum(path: PathLike, details: Mapping[str, Any]) -> None:
    if details.get("hash_algorithm") != "sha256" or not details.get("checksum"):
        return
    digest = hashlib.sha256()
    with open_regular(path) as (stream, _):
        while piece := stream.read(1 << 22):
            digest.update(piece)
    if digest.hexdigest() != details["checksum"]:
        raise DataError("its sha256 is not the one that its aggregate states: it was changed or cut off", file=path)


def _claims(sample: Any) -> bool:
    record = sample.first_record
    return isinstance(record, dict) and (
        set(record) >= KEYS or {"evaluation_results", "evaluation_id", "model_info"} <= set(record)
    )


EVERY_EVAL_EVER = LogFormat(find, _claims, "every-eval-ever")
