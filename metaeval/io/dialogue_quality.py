"""NTCIR Dialogue Quality (STC-3, DialEval): gold from annotators' votes, runs with one distribution per dialogue.

Both are JSON lists of dialogues. Gold: ``{"id": …, "annotations": [{"quality": {"A": 1, "E": 0, "S": -2}}, …]}``, where
all votes weigh the same; runs: ``{"id": …, "quality": {"A": {"-2": p, …, "2": p}, "E": {…}, "S": {…}}}``. Topics are the
dialogues, matched by id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np

from metaeval.errors import DataError
from metaeval.files import PathLike, read_text, remember
from metaeval.io.answers import ShareRuns, Shares
from metaeval.io.strict_json import parse_json

Aspect = Literal["A", "E", "S"]
"""Task accomplishment (A), dialogue effectiveness (E), customer satisfaction (S)."""

CLASSES = ("-2", "-1", "0", "1", "2")


def read(gold: PathLike, runs: Mapping[str, PathLike], *, aspect: Aspect) -> ShareRuns:
    """Read gold and runs of one aspect of dialogue quality."""
    if aspect not in get_args(Aspect):
        raise DataError(f"there is no aspect {aspect!r}: use {', '.join(get_args(Aspect))}")
    votes = _read_dialogues(gold, None, aspect, _count_votes)
    shares = Shares(votes.file, votes.topics, votes.values / votes.values.sum(axis=1, keepdims=True))
    estimates = {run: _read_dialogues(path, run, aspect, _take_shares) for run, path in runs.items()}
    return shares, estimates, CLASSES


def _read_dialogues(path: PathLike, run: str | None, aspect: str, take: Callable[..., list[float]]) -> Shares:
    """Return what `take` makes of every dialogue of a file: five numbers."""
    text = read_text(path)
    content = remember(text, lambda: parse_json(text, path))  # the aspects are views of the same files
    if not isinstance(content, list) or not content:
        problem = f"it is not a list of dialogues but {_describe_kind(content)}"
        raise DataError("the list of dialogues is empty" if content == [] else problem, file=path, run=run)
    topics, values = [], []
    for position, dialogue in enumerate(content, start=1):
        name = dialogue.get("id") if isinstance(dialogue, dict) else None
        if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
            given = "has no id" if name is None else f"has the id {name!r}, not a text"
            given = given if isinstance(dialogue, dict) else f"is not an object but {_describe_kind(dialogue)}"
            raise DataError(f"dialogue number {position} {given}", file=path, run=run)
        topics.append(str(name))
        values.append(take(dialogue, aspect, {"file": path, "run": run, "topic": str(name)}))
    try:
        return Shares(str(path), topics, np.array(values, dtype=np.float64))
    except OverflowError:
        raise DataError("a probability is too large", file=path, run=run) from None


def _get_inside(where: Any, key: str, kind: type, place: dict[str, Any]) -> Any:
    """Return ``where[key]``, which must exist and be an object or a list, as `kind` says."""
    if not isinstance(where, dict) or key not in where:
        raise DataError(f"there is no {key!r}", **place)
    if not isinstance(where[key], kind):
        needed = "an object" if kind is dict else "a list"
        raise DataError(f"{key!r} is not {needed} but {_describe_kind(where[key])}", **place)
    return where[key]


def _count_votes(dialogue: dict[str, Any], aspect: str, place: dict[str, Any]) -> list[float]:
    """Return the number of votes for each class."""
    annotations = _get_inside(dialogue, "annotations", list, place)
    votes = [_get_inside(annotation, "quality", dict, place).get(aspect) for annotation in annotations]
    wrong = [] if annotations else ["there are no annotations"]
    for vote in votes:
        if type(vote) is not int or str(vote) not in CLASSES:
            is_there = f"the vote {vote!r} on aspect {aspect} is not a whole number from -2 to 2"
            wrong.append(f"there is no vote on aspect {aspect}" if vote is None else is_there)
    for problem in wrong[:1]:
        raise DataError(problem, **place)
    return [float(votes.count(int(name))) for name in CLASSES]


def _take_shares(dialogue: dict[str, Any], aspect: str, place: dict[str, Any]) -> list[float]:
    """Return the probabilities of the classes."""
    given = _get_inside(_get_inside(dialogue, "quality", dict, place), aspect, dict, place)
    wrong = [f"there is no probability of class {name} for aspect {aspect}" for name in CLASSES if name not in given]
    wrong += [f"{name!r} is not one of the classes -2 to 2" for name in given if name not in CLASSES]
    wrong += [
        f"the probability of class {name} is {value!r}, not a number from 0 to 1"
        for name, value in given.items()
        if type(value) not in (int, float)
    ]
    for problem in wrong[:1]:
        raise DataError(problem, **place)
    return [given[name] for name in CLASSES]


def _describe_kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
