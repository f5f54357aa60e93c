"""MTEB, MT-Bench, DeepEval and promptfoo: one JSON file a task, a judge, or a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metaeval.errors import DataError
from metaeval.files import PathLike, plain_path, read_text, stem, stream_lines
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, has_keys, need, need_text, text
from metaeval.io.strict_json import parse_json

if TYPE_CHECKING:
    from metaeval.io.line_formats import Sample


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
    task = need_text(content, "task_name", path)
    splits = need(content, "scores", path)
    if not isinstance(splits, dict):
        raise DataError("the scores are not as MTEB writes them", file=path)
    for split, subsets in splits.items():
        found = [as_score(need(subset, "main_score", path), file=path) for subset in subsets]
        known = [score for score in found if score is not None]
        mean = sum(known) / len(known) if known and len(known) == len(found) else None
        yield Cell("mteb", model, task if len(splits) == 1 else f"{task} {split}", "main_score", mean)


def _read_mt_bench(path: PathLike) -> Iterator[Cell]:
    """Yield the score of every turn of a question, which is a topic of its own; a judge is a measure."""
    for line, content in stream_lines(path):
        record = parse_json(content, path, line, with_nan=True)
        judge = need(record, "judge", path, line)
        named = "/".join(map(str, judge)) if isinstance(judge, list) else str(judge)
        turn = need_text(record, "turn", path, line)
        score = as_score(need(record, "score", path, line), file=path, line=line)
        question = need_text(record, "question_id", path, line)
        model = need_text(record, "model", path, line)
        # The name of the prompt, behind the slash, differs between turns and kinds of questions.
        # A judge whose answer held no score is written as −1.
        yield Cell("mt-bench", model, f"{question}/{turn}", named.partition("/")[0], None if score == -1 else score)


def _read_deepeval(path: PathLike) -> Iterator[Cell]:
    """Yield the scores of test cases; the run is named after the file."""
    cases = need(_open(path), "testCases", path)
    for case in cases if isinstance(cases, list) else []:
        topic = need_text(case, "name", path)
        for metric in case.get("metricsData") or []:
            name = need_text(metric, "name", path)
            yield Cell("deepeval", stem(path), topic, name, as_score(metric.get("score"), file=path))


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
        topic = need_text(result, "testIdx", path)
        scores = {"score": result.get("score"), **(result.get("namedScores") or {})}
        for name, value in scores.items():
            yield Cell("promptfoo", run, topic, str(name), as_score(value, file=path))


def _find_files(ending: str, mark: str, read: Callable[[PathLike], Iterator[Cell]]) -> Any:
    """Return what yields the files with this ending in which a text stands, each of them a log."""

    def find(paths: Sequence[PathLike]) -> Iterator[Log]:
        for path in paths:
            if plain_path(path).endswith(ending) and (not mark or mark in read_text(path)):
                yield Log(path, partial(read, path))

    return find


def _fits_promptfoo(sample: Sample) -> bool:
    record = sample.first_record
    inner = record.get("results") if isinstance(record, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("results"), list)


def _fits_mteb(sample: Sample) -> bool:
    return has_keys("task_name", "scores")(sample) and isinstance(sample.first_record["scores"], dict)


MTEB = LogFormat(_find_mteb, _fits_mteb, "mteb")
MT_BENCH = LogFormat(
    _find_files(".jsonl", "", _read_mt_bench), has_keys("question_id", "model", "judge", "score", "turn"), "mt-bench"
)
DEEPEVAL = LogFormat(_find_files(".json", '"testCases"', _read_deepeval), has_keys("testCases"), "deepeval")
PROMPTFOO = LogFormat(_find_files(".json", '"promptIdx"', _read_promptfoo), _fits_promptfoo, "promptfoo")
