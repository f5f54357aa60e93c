"""Labels of runs, topics and classes: text, unique, and never matched by position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaeval.errors import DataError, format_list, suggest_names
from metaeval.measures.registry import suggest_measures
from metaeval.measures.resolve import MeasureLike, resolve_measures


@dataclass(frozen=True)
class Repeats:
    """How many repeats the scores of a measure are means of, and the variance of one repeat of a run on a topic."""

    count: int
    variance: float


class Labelled:
    """What holds arrays with labels, and cannot be changed."""

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def _label(self, collection: object, provenance: object, **axes: Iterable[object]) -> tuple[int, ...]:
        """Set name, origin and labels, such as ``runs=["a", "b"]``, and return how many there are on each axis."""
        self._set(collection=str(collection or ""), provenance=str(provenance or ""))
        for name, given in axes.items():
            labels = unique_labels(given, "class" if name == "classes" else name[:-1])
            if len(labels) < (least := 2 if name == "classes" else 1):
                raise DataError(f"there are {len(labels) or 'no'} {name}: at least {least} must be there")
            self._set(**{name: labels})
        return tuple(len(getattr(self, name)) for name in axes)

    def named(self, *names: str) -> dict[str, Any]:
        """Return some fields by name, for what is made of these data."""
        return {name: getattr(self, name) for name in names}


def check_shape(array: np.ndarray, expected: tuple[int, ...], what: str, axes: str) -> None:
    """Refuse an array that does not fit its labels."""
    if array.shape != expected:
        raise DataError(f"the {what} have shape {array.shape}, not {expected} ({axes})")


def refuse_first(wrong: Any, axes: Mapping[str, Sequence[Any]], problem: Any, **more: Any) -> None:
    """Refuse the first marked cell of an array by the labels of its axes; what is wrong may be told of its positions."""
    for place in np.argwhere(wrong)[:1].tolist():
        where = {what: labels[i] for (what, labels), i in zip(axes.items(), place, strict=False)}
        raise DataError(problem if isinstance(problem, str) else problem(*place), **where, **more)


def unique_labels(given: Iterable[object], what: str) -> tuple[str, ...]:
    """Return labels as a tuple of text."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        plural = f"{what}es" if what.endswith("s") else f"{what}s"
        raise DataError(f"{plural} are a list of labels, not {given!r}")
    labels: dict[str, None] = {}
    for position, label in enumerate(given, start=1):
        text, problem = str(label), ""
        if label is None or (isinstance(label, float) and label != label) or not text.strip():
            problem = f"{what} number {position} has no name"
        elif not text.isascii() and text.encode(errors="replace").decode() != text:
            problem = f"{what} number {position} has a name with half a letter: {text!r}"
        elif text in labels:
            problem = f"the {what} {text!r} occurs twice"
        if problem:
            raise DataError(problem)
        labels[text] = None
    return tuple(labels)


def name_twins(labels: Iterable[str], what: str) -> str:
    """Return what to say of the first two labels that are the same but for blanks or case, an empty text if none are."""
    known: dict[str, str] = {}
    for label in labels:
        other = known.setdefault(" ".join(label.lower().split()), label)
        if other != label:
            return f"the {what}s {other!r} and {label!r} differ in blanks or case only: if they are one, write one name"
    return ""


def find_labels(selected: Iterable[object] | str | None, known: Sequence[str], what: str) -> np.ndarray:
    """Return the positions of the wanted labels among the known ones, in the order wanted."""
    if selected is None:
        return np.arange(len(known))
    labels = unique_labels([selected] if isinstance(selected, str) else selected, what)
    position = {label: index for index, label in enumerate(known)}
    for label in [label for label in labels if label not in position][:1]:
        near = suggest_measures(label, known) if what == "measure" else suggest_names(label, known, 0.6)
        raise DataError(f"there is no {what} {label!r} ({f'{near} ' * bool(near)}there are {format_list(known)})")
    return np.array([position[label] for label in labels], dtype=np.intp)


def choose_measures(
    measures: Iterable[MeasureLike] | MeasureLike, labels: Sequence[str], optional: Sequence[str] = ()
) -> list[str]:
    """Return which labels of scores some measures are, and behind them those of `optional` that are there."""
    names = [str(measure) for measure in resolve_measures(measures, labels=labels)]
    find_labels(names, labels, "measure")
    return [*names, *(label for label in optional if label in labels and label not in names)]


def code_labels(labels: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """Return the position of every label among the classes, −1 where it is none; 1.0 is the class 1, as frames write it."""
    code = {label: k for k, label in enumerate(classes)}
    for label in set(labels) - code.keys():
        whole = re.fullmatch(r"([+-]?\d+)\.0+", label)
        code[label] = code.get(whole[1], -1) if whole else -1
    return np.array([code[label] for label in labels], dtype=np.intp)
