"""NTCIR Dialogue Quality (STC-3, DialEval): gold from annotators' votes, runs with one distribution per dialogue.

Both are JSON lists of dialogues. Gold: ``{"id": …, "annotations": [{"quality": {"A": 1, "E": 0, "S": -2}}, …]}``, where
all votes weigh the same; runs: ``{"id": …, "quality": {"A": {"-2": p, …, "2": p}, "E": {…}, "S": {…}}}``. Ids are topics.
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
        raise DataError("it is no list of dialogues, or an empty one", file=path, run=run)
    topics, values = [], []
    for position, dialogue in enumerate(content, start=1):
        place = f"dialogue number {position}"
        try:
            name = dialogue["id"]
            if type(name) not in (int, str) or not str(name).strip():
                raise ValueError(f"the id {name!r} is not a text")
            place = f"dialogue {name}"
            values.append(np.array(take(dialogue, aspect), dtype=np.float64))
        except (TypeError, AttributeError):
            raise DataError(f"{place} is broken: a part of it is no object or list", file=path, run=run) from None
        except (ValueError, LookupError, OverflowError) as error:
            problem = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{place} is broken: {problem}", file=path, run=run) from None
        topics.append(str(name))
    return Shares(str(path), topics, np.array(values))


def _count_votes(dialogue: dict[str, Any], aspect: str) -> list[float]:
    votes = [annotation["quality"][aspect] for annotation in dialogue["annotations"]]
    for vote in votes:
        if type(vote) is not int or str(vote) not in CLASSES:
            raise ValueError(f"the vote {vote!r} on aspect {aspect} is not a whole number from -2 to 2")
    if not votes:
        raise ValueError("there are no annotations")
    return [votes.count(int(name)) for name in CLASSES]


def _take_shares(dialogue: dict[str, Any], aspect: str) -> list[float]:
    given = dialogue["quality"][aspect]
    for name, value in given.items():
        if name not in CLASSES or type(value) not in (int, float):
            raise ValueError(f"the probability of class {name} is {value!r}; numbers of -2, -1, 0, 1 and 2 are needed")
    return [given[name] for name in CLASSES]
