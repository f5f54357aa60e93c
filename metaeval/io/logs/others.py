"""MTEB, MT-Bench, DeepEval and promptfoo: one JSON file a task, a judge, or a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from metaeval.errors import DataError
from metaeval.files import PathLike, plain_path, read_text, stem, stream_lines
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, need, text
from metaeval.io.sample import Sample
from metaeval.io.strict_json import parse_json

MTEB_KEYS, MT_BENCH_KEYS = {"task_name", "scores"}, {"question_id", "model", "judge", "score", "turn"}


def _score(value: Any, path: PathLike, line: int | None = None) -> float | None:
    try:
        return as_score(value)
    except ValueError as error:
        raise DataError(f"the score is no number: {error}", file=path, line=line) from None


def _open(path: PathLike) -> Any:
    return parse_json(read_text(path), path, with_nan=True)


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
    content = _open(path)
    task = text(need(content, "task_name", path), "task_name", path)
    splits = need(content, "scores", path)
    if not isinstance(splits, dict):
        raise DataError("the scores are not as MTEB writes them", file=path)
    for split, subsets in splits.items():
        found = [_score(need(subset, "main_score", path), path) for subset in subsets]
        known = [score for score in found if score is not None]
        mean = sum(known) / len(known) if known and len(known) == len(found) else None
        yield Cell("mteb", model, task if len(splits) == 1 else f"{task} {split}", "main_score", mean)


def _find_mt_bench(paths: Sequence[PathLike]) -> Iterator[Log]:
    for path in paths:
        if plain_path(path).endswith(".jsonl"):
            yield Log(path, partial(_read_mt_bench, path))


def _read_mt_bench(path: PathLike) -> Iterator[Cell]:
    """Yield the score of every turn of a question, which is a topic of its own; a judge is a measure."""
    for line, content in stream_lines(path):
        record = parse_json(content, path, line, with_nan=True)
        judge = need(record, "judge", path, line)
        named = "/".join(map(str, judge)) if isinstance(judge, list) else str(judge)
        turn = text(need(record, "turn", path, line), "turn", path, line)
        score = _score(need(record, "score", path, line), path, line)
        question = text(need(record, "question_id", path, line), "question_id", path, line)
        model = text(need(record, "model", path, line), "model", path, line)
        # A judge whose answer held no score is written as −1.
        yield Cell("mt-bench", model, f"{question}/{turn}", _short(named), None if score == -1 else score)


def _short(judge: str) -> str:
    """Return the name of a judge without that of its prompt, which differs between turns and kinds of questions."""
    return judge.partition("/")[0]


def _find_deepeval(paths: Sequence[PathLike]) -> Iterator[Log]:
    for path in paths:
        if str(path).endswith(".json") and '"testCases"' in read_text(path):
            yield Log(path, partial(_read_deepeval, path))


def _read_deepeval(path: PathLike) -> Iterator[Cell]:
    """Yield the scores of test cases; the run is named after the file."""
    cases = need(_open(path), "testCases", path)
    for case in cases if isinstance(cases, list) else []:
        topic = text(need(case, "name", path), "name", path)
        for metric in case.get("metricsData") or []:
            name = text(need(metric, "name", path), "name", path)
            yield Cell("deepeval", stem(path), topic, name, _score(metric.get("score"), path))


def _find_promptfoo(paths: Sequence[PathLike]) -> Iterator[Log]:
    for path in paths:
        if str(path).endswith(".json") and '"promptIdx"' in read_text(path):
            yield Log(path, partial(_read_promptfoo, path))


def _read_promptfoo(path: PathLike) -> Iterator[Cell]:
    """Yield the scores of tests; a run is a provider, with the number of the prompt where there are several."""
    outer = need(_open(path), "results", path)
    results = need(outer, "results", path)
    if not isinstance(results, list):
        raise DataError("the results are not as promptfoo writes them", file=path)
    prompts = {need(result, "promptIdx", path) for result in results}
    for result in results:
        given = need(result, "provider", path)
        provider = (given.get("label") or given.get("id")) if isinstance(given, dict) else given
        run = text(provider, "provider", path)
        run += f" prompt {result['promptIdx']}" if len(prompts) > 1 else ""
        topic = text(need(result, "testIdx", path), "testIdx", path)
        scores = {"score": result.get("score"), **(result.get("namedScores") or {})}
        for name, value in scores.items():
            yield Cell("promptfoo", run, topic, str(name), _score(value, path))


def _has(*keys: str) -> Any:
    def claims(sample: Sample) -> bool:
        record = sample.first_record
        return isinstance(record, dict) and set(keys) <= set(record)

    return claims


def _claims_promptfoo(sample: Sample) -> bool:
    record = sample.first_record
    inner = record.get("results") if isinstance(record, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("results"), list)


def _claims_mteb(sample: Sample) -> bool:
    record = sample.first_record
    return isinstance(record, dict) and set(record) >= MTEB_KEYS and isinstance(record["scores"], dict)


MTEB = LogFormat(_find_mteb, _claims_mteb, "mteb")
MT_BENCH = LogFormat(_find_mt_bench, _has(*MT_BENCH_KEYS), "mt-bench")
DEEPEVAL = LogFormat(_find_deepeval, _has("testCases"), "deepeval")
PROMPTFOO = LogFormat(_find_promptfoo, _claims_promptfoo, "promptfoo")
