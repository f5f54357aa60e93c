"""lm-evaluation-harness: ``samples_{task}_{date}.jsonl``, and ``results_{date}.json`` with the model and directions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from metaeval.data.policies import report_policy
from metaeval.errors import format_list
from metaeval.files import PathLike, file_name, plain_path, read_text, stream_lines
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, has_keys, need, need_text
from metaeval.io.strict_json import parse_json

_NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl")


def find(paths: Sequence[PathLike]) -> Iterator[Log]:
    """Yield the files of samples."""
    for path in paths:
        match = _NAME.fullmatch(file_name(plain_path(path)))
        if match or len(paths) == 1:
            task, date = (match["task"], match["date"]) if match else (Path(plain_path(path)).stem, None)
            yield Log(path, partial(_read, path, task, date))


def _read(path: PathLike, task: str, date: str | None) -> Iterator[Cell]:
    model, directions = _read_results(path, task, date)
    odd: set[str] = set()
    for line, content in stream_lines(path):
        record = parse_json(content, path, line, with_nan=True)
        topic = need_text(record, "doc_id", path, line)
        names = need(record, "metrics", path, line)
        filtered = record.get("filter", "none")
        for name in names if isinstance(names, list) else []:
            value = need(record, str(name), path, line)
            measure = f"{name},{filtered}"
            try:
                score = as_score(value)
            except ValueError:  # what a task needs to compute a measure of the whole, such as counts of words
                odd.add(measure)
                continue
            yield Cell(task, model, topic, measure, score, higher_is_better=directions.get(str(name)))
    if odd:
        report_policy(f"no number a sample, left out: {format_list(sorted(odd))}", path)


def _read_results(path: PathLike, task: str, date: str | None) -> tuple[str, dict[str, bool]]:
    folder = Path(path).resolve().parent
    beside = sorted(folder.glob("results_*.json")) if date is None else [folder / f"results_{date}.json"]
    if len(beside) != 1 or not beside[0].is_file():
        return folder.name or "model", {}
    content = parse_json(read_text(beside[0]), beside[0], with_nan=True)
    model = content.get("model_name") or (content.get("config") or {}).get("model") or folder.name
    known = (content.get("higher_is_better") or {}).get(task) or {}
    # The perplexity of a task; what samples have under this name is a log-likelihood.
    return str(model), {str(name): up for name, up in known.items() if isinstance(up, bool) and name != "perplexity"}


LM_EVAL = LogFormat(find, has_keys("doc_id", "metrics", "filter"), "lm-eval")
