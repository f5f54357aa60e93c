"""HELM: folders with ``run_spec.json``, which names the model, and ``per_instance_stats.json``, which holds the scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from metaeval.errors import DataError
from metaeval.files import PathLike, file_name, read_text
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, need, need_text
from metaeval.io.strict_json import parse_json

SPEC, STATS = "run_spec.json", "per_instance_stats.json"

NO_MEASURE = re.compile(
    r"num_.*|finish_reason_.*|training_.*_cost|inference_.*|batch_size|prompt_truncated|logprob|max_prob|predicted_index"
)
"""Statistics that count, time or describe what was done, and measure no quality."""


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
    task = _name_task(need_text(spec, "name", folder / SPEC))
    instances = parse_json(read_text(path), path, with_nan=True)
    if not isinstance(instances, list):
        raise DataError("it is no list of instances", file=path)
    splits = {stat["name"].get("split") for one in instances for stat in _list_stats(one, path)}
    for instance in instances:
        topic = need_text(instance, "instance_id", path)
        trial = instance.get("train_trial_index", 0)
        for stat in _list_stats(instance, path):
            named = stat["name"]
            measure = need_text(named, "name", path)
            if NO_MEASURE.fullmatch(measure):
                continue
            count = stat.get("count", 0)
            changed = named.get("perturbation") or instance.get("perturbation")
            parts = [task]
            parts += [str(named.get("split"))] if len(splits) > 1 else []
            parts += [_name_perturbation(changed)] if changed else []
            try:
                # HELM adds up what it was told of an instance; nothing at all is no score.
                score = None if not count else as_score(need(stat, "sum", path)) / count
            except (ValueError, TypeError):
                raise DataError("the sum is no number", file=path, topic=topic, measure=measure) from None
            if isinstance(count, bool) or count != count or count < 0 or count != int(count):
                raise DataError(f"the count is {count!r}, no whole number", file=path, topic=topic, measure=measure)
            yield Cell(" ".join(parts), model, topic, measure, score, int(trial) + 1)


def _list_stats(instance: Any, path: str) -> list[dict[str, Any]]:
    stats = need(instance, "stats", path)
    if not isinstance(stats, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), dict) for one in stats
    ):
        raise DataError("the statistics are not as HELM writes them", file=path)
    return stats


def _name_task(name: str) -> str:
    """Return the name of a run without the model in it."""
    scenario, colon, rest = name.partition(":")
    kept = [part for part in rest.split(",") if part and not part.startswith(("model=", "model_deployment="))]
    return f"{scenario}{colon}{','.join(kept)}" if kept else scenario


def _name_perturbation(changed: Any) -> str:
    if not isinstance(changed, dict):
        return str(changed)
    rest = [
        f"{key}={value}"
        for key, value in sorted(changed.items())
        if key not in ("name", "fairness", "robustness", "computed_on")
    ]
    on = changed.get("computed_on")
    return "/".join([str(changed.get("name", "perturbed")), *rest, *([str(on)] if on else [])])


def _claims(sample: Any) -> bool:
    return file_name(sample.path) in (SPEC, STATS)


HELM = LogFormat(find, _claims, "helm")
