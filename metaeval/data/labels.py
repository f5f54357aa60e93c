"""Labels of runs, topics and classes: text, unique, and never matched by position."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from metaeval.errors import DataError, format_list, suggest_names
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.stats.streams import generator

Item = TypeVar("Item", bound=tuple[str, ...])

Choose = Callable[[Sequence[str]], Sequence[str]]
"""What returns those measures of a collection that are wanted, given the names of all; gaps of others do not matter."""


class Labelled:
    """What holds arrays with labels, and cannot be changed."""

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def named(self, *names: str) -> dict[str, Any]:
        """Return some fields by name, for what is made of these data."""
        return {name: getattr(self, name) for name in names}


def unique_labels(given: Iterable[object], what: str) -> tuple[str, ...]:
    """Return labels as a tuple of text."""
    if isinstance(given, str):
        plural = f"{what}es" if what.endswith("s") else f"{what}s"
        raise DataError(f"{plural} are a list of labels, not the single text {given!r}")
    try:
        listed = list(given)
    except TypeError:
        raise DataError(f"labels are a list, not {given!r}") from None
    labels: dict[str, None] = {}
    for position, label in enumerate(listed):
        text, problem = str(label), ""
        if label is None or (isinstance(label, float) and label != label):
            problem = "has no name"
        elif not text.strip():
            problem = "has an empty name"
        elif not text.isascii() and text.encode(errors="replace").decode() != text:
            problem = f"has a name with half a letter: {text!r}"
        if problem or text in labels:
            raise DataError(
                f"{what} number {position + 1} {problem}" if problem else f"the {what} {text!r} occurs twice"
            )
        labels[text] = None
    return tuple(labels)


def find_labels(selected: Iterable[object] | str | None, known: Sequence[str], what: str) -> np.ndarray:
    """Return the positions of the wanted labels among the known ones, in the order wanted."""
    if selected is None:
        return np.arange(len(known))
    labels = unique_labels([selected] if isinstance(selected, str) else selected, what)
    position = {label: index for index, label in enumerate(known)}
    for label in labels:
        if label not in position:
            near = suggest_names(label, known, 0.6)
            raise DataError(f"there is no {what} {label!r} ({f'{near} ' * bool(near)}there are {format_list(known)})")
    return np.array([position[label] for label in labels], dtype=np.intp)


def choose_measures(
    measures: Iterable[MeasureLike] | MeasureLike, labels: Sequence[str], optional: Sequence[str] = ()
) -> list[str]:
    """Return which labels of scores some measures are, and behind them those of `optional` that are there."""
    names = [str(measure) for measure in resolve_measures(measures, labels=labels)]
    find_labels(names, labels, "measure")
    return [*names, *(label for label in optional if label in labels and label not in names)]


def choose_of_several(choose: Choose, known: Iterable[Iterable[object]]) -> Choose:
    """Return what chooses, of each of several collections with known measures, those that it has: at least one of them."""
    wanted = choose([*dict.fromkeys(str(measure) for measures in known for measure in measures)])
    return lambda labels: [label for label in wanted if label in labels] or choose(labels)


def code_labels(labels: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """Return the position of every label among the classes, −1 where it is none; 1.0 is the class 1, as frames write it.

    >>> code_labels(["no", "1.0", "1", "1.5"], ["no", "1"]).tolist()
    [0, 1, 1, -1]
    """
    code = {label: k for k, label in enumerate(classes)}
    for label in set(labels) - code.keys():
        whole = re.fullmatch(r"([+-]?\d+)\.0+", label)
        code[label] = code.get(whole[1], -1) if whole else -1
    return np.fromiter(map(code.__getitem__, labels), dtype=np.intp, count=len(labels))


def rank_labels(labels: Sequence[str]) -> np.ndarray:
    """Return the place of each label among the sorted ones: the order in which random draws are made.

    >>> rank_labels(["b", "a", "10", "2"]).tolist()  # as text, character by character
    [3, 2, 0, 1]
    """
    places = np.empty(len(labels), dtype=np.intp)
    places[sorted(range(len(labels)), key=labels.__getitem__)] = np.arange(len(labels))
    return places


def assign_parts(
    items: Iterable[Item], n_parts: int, *, seed: int = 0, collection: str = "", file: object = None
) -> dict[Item, str]:
    """Assign every item to a part at random; the sizes of the parts differ by one item at most.

    >>> sorted(assign_parts([("t", "1"), ("t", "2"), ("u", "1"), ("u", "2")], 2).values())
    ['part-1', 'part-1', 'part-2', 'part-2']
    """
    known = sorted(set(items))
    if isinstance(n_parts, bool) or int(n_parts) != n_parts or not 1 <= n_parts <= len(known):
        raise DataError(
            f"{len(known):,} items cannot be split into {n_parts} parts: from 1 to as many parts as items", file=file
        )
    part = generator(seed, collection, "parts").permutation(np.arange(len(known)) % n_parts)
    return {item: f"part-{number + 1}" for item, number in zip(known, part.tolist(), strict=True)}
