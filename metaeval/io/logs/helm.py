"""HELM: folders with ``run_spec.json``, which names the model, and ``per_instance_stats.json``, which holds the scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from metaeval.data.policies import report_policy
from metaeval.errors import DataError, format_count
from metaeval.files import PathLike, file_name, read_text
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, need, need_text
from metaeval.io.strict_json import parse_json

SPEC, STATS = "run_spec.json", "per_instance_stats.json"

# Statistics that count, time or describe what was done, and measure no quality.
NO_MEASURE = re.compile(
    r"num_.*|finish_reason_.*|.*_cost|inference_.*|batch_size|prompt_truncated|logprob|max_prob|predicted_index"
)


def find(paths: Sequence[PathLike]) -> Iterator[Log]:
    """Yield the folders, each by its file of scores."""
    chosen = dict.fromkeys(Path(path).parent for path in paths if file_name(path) in (SPEC, STATS))
    for folder in chosen:
        if (folder / STATS).is_file():
            yield Log(str(folder / STATS), partial(_read, folder))


def _read(folder: Path) -> Iterator[Cell]:
    path = str(folder / STATS)
    spec = parse_json(read_text(str(folder / SPEC)), folder / SPEC, with_nan=True)
    adapter = need(spec, "adapter_spec", folder / SPEC)
    model = need_text(adapter, "model", folder / SPEC)
    scenario, colon, rest = need_text(spec, "name", folder / SPEC).partition(":")
    kept = [part for part in rest.split(",") if part and not part.startswith(("model=", "model_deployment="))]
    task = f"{scenario}{colon}{','.join(kept)}" if kept else scenario
    instances = parse_json(read_text(path), path, with_nan=True)
    splits = {stat["name"].get("split") for instance in instances for stat in need(instance, "stats", path)}
    perturbed = 0
    for instance in instances:
        topic = need_text(instance, "instance_id", path)
        trial = int(instance.get("train_trial_index", 0))
        for stat in instance["stats"]:
            named, count = stat["name"], stat.get("count", 0)
            measure = need_text(named, "name", path)
            if NO_MEASURE.fullmatch(measure):
                continue
            where: dict[str, Any] = {"file": path, "topic": topic, "measure": measure}
            if isinstance(count, bool) or count < 0 or count % 1 != 0:
                raise DataError(f"the count is {count!r}, no whole number", **where)
            if named.get("perturbation") or instance.get("perturbation"):
                perturbed += 1
                continue
            part = f"{task} {named.get('split')}" if len(splits) > 1 else task
            # HELM adds up what it was told of an instance; nothing at all is no score.
            total = as_score(need(stat, "sum", path), **where) if count else None
            score = None if total is None else total / count
            yield Cell(part, model, topic, measure, score, trial + 1)
    if perturbed:
        report_policy(f"{format_count(perturbed, 'score')} of perturbed instances left out", path)


def _claims(sample: Any) -> bool:
    return file_name(sample.path) in (SPEC, STATS)


HELM = LogFormat(find, _claims, "helm")
