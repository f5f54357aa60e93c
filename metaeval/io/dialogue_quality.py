"""NTCIR Dialogue Quality (STC-3, DialEval): gold from annotators' votes, runs with one distribution per dialogue.

Both are JSON lists of dialogues. Gold: ``{"id": …, "annotations": [{"quality": {"A": 1, "E": 0, "S": -2}}, …]}``, where
all votes weigh the same; runs: ``{"id": …, "quality": {"A": {"-2": p, …, "2": p}, "E": {…}, "S": {…}}}``. Topics are the
dialogues, matched by id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np

from metaeval.data.runs import QuantificationRuns
from metaeval.errors import DataError
from metaeval.files import PathLike, Sources, read_text, remember, stem
from metaeval.io.frames import name_origins
from metaeval.io.quantification import Shares, quantification_runs
from metaeval.io.strict_json import parse_json

Aspect = Literal["A", "E", "S"]
"""Task accomplishment (A), dialogue effectiveness (E), customer satisfaction (S)."""

CLASSES = ("-2", "-1", "0", "1", "2")

_NUMBERS = frozenset((int, float))
"""What JSON makes of numbers; its true and false are integers to isinstance."""


def read(
    gold: PathLike, runs: Sources, *, aspect: Aspect, collection: str | None = None, **options: Any
) -> QuantificationRuns:
    """Read gold and runs of one aspect of dialogue quality; options as `quantification_runs` takes them."""
    if aspect not in get_args(Aspect):
        raise DataError(f"there is no aspect {aspect!r}: use {', '.join(get_args(Aspect))}")
    files, origin = name_origins(gold, runs, f"{stem(gold)}-{aspect}" if collection is None else collection)
    estimates = {run: _read_run(path, run, aspect) for run, path in files.items()}
    return quantification_runs(_read_gold(gold, aspect), estimates, CLASSES, **origin, **options)


def _read_dialogues(path: PathLike, run: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    text = read_text(path)
    content = remember(text, lambda: parse_json(text, path))  # the aspects are views of the same files
    if not isinstance(content, list):
        raise DataError(f"it is not a list of dialogues but {_describe_kind(content)}", file=path, run=run)
    if not content:
        raise DataError("the list of dialogues is empty", file=path, run=run)
    for position, dialogue in enumerate(content, start=1):
        if not isinstance(dialogue, dict):
            raise DataError(
                f"dialogue number {position} is not an object but {_describe_kind(dialogue)}", file=path, run=run
            )
        name = dialogue.get("id")
        if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
            given = "has no id" if name is None else f"has the id {name!r}, not a text"
            raise DataError(f"dialogue number {position} {given}", file=path, run=run)
        yield str(name), dialogue


def _get_inside(where: Any, key: str, kind: type, location: dict[str, Any]) -> Any:
    """Return ``where[key]``, which must exist and be an object or a list, as `kind` says."""
    if not isinstance(where, dict) or key not in where:
        raise DataError(f"there is no {key!r}", **location)
    if not isinstance(where[key], kind):
        raise DataError(
            f"{key!r} is not {'an object' if kind is dict else 'a list'} but {_describe_kind(where[key])}", **location
        )
    return where[key]


def _read_gold(path: PathLike, aspect: str) -> Shares:
    topics, votes = [], []
    for topic, dialogue in _read_dialogues(path, None):
        location: dict[str, Any] = {"file": path, "topic": topic}
        annotations = _get_inside(dialogue, "annotations", list, location)
        if not annotations:
            raise DataError("there are no annotations", **location)
        counts = [0] * len(CLASSES)
        for annotation in annotations:
            quality = _get_inside(annotation, "quality", dict, location)
            if aspect not in quality:
                raise DataError(f"there is no vote on aspect {aspect}", **location)
            vote = quality[aspect]
            if isinstance(vote, bool) or not isinstance(vote, int) or str(vote) not in CLASSES:
                raise DataError(f"the vote {vote!r} on aspect {aspect} is not a whole number from -2 to 2", **location)
            counts[CLASSES.index(str(vote))] += 1
        topics.append(topic)
        votes.append(counts)
    shares = np.array(votes, dtype=np.float64)
    return Shares(str(path), topics, shares / shares.sum(axis=1, keepdims=True))


def _read_run(path: PathLike, run: str, aspect: str) -> Shares:
    topics, values = [], []
    for topic, dialogue in _read_dialogues(path, run):
        try:  # as nearly all are
            given = dialogue["quality"][aspect]
            shares = [given[name] for name in CLASSES]
            fine = len(given) == len(CLASSES) and _NUMBERS.issuperset(map(type, shares))
        except (KeyError, TypeError):
            fine = False
        if not fine:
            shares = _check_shares(dialogue, aspect, {"file": path, "run": run, "topic": topic})
        topics.append(topic)
        values.append(shares)
    try:
        return Shares(str(path), topics, np.array(values, dtype=np.float64))
    except OverflowError:
        raise DataError("a probability is too large", file=path, run=run) from None


def _check_shares(dialogue: dict[str, Any], aspect: str, location: dict[str, Any]) -> list[float]:
    """Return the probabilities of the classes, or say what is wrong with them."""
    given = _get_inside(_get_inside(dialogue, "quality", dict, location), aspect, dict, location)
    for name in (*CLASSES, *given):
        if name not in given:
            raise DataError(f"there is no probability of class {name} for aspect {aspect}", **location)
        if name not in CLASSES:
            raise DataError(f"{name!r} is not one of the classes -2 to 2", **location)
        share = given[name]
        if isinstance(share, bool) or not isinstance(share, int | float):
            raise DataError(f"the probability of class {name} is {share!r}, not a number from 0 to 1", **location)
    return [given[name] for name in CLASSES]


def _describe_kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
