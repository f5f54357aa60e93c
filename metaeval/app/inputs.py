"""What people type on a page: items of classes, confusion matrices, shares and labels, as text that a link can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError, shorten

T = TypeVar("T")

MOST_CLASSES = 12
MOST_ITEMS = 1_000_000
MOST_SHARE = 1e12
MOST_ROWS = 20_000
"""Lines of pasted labels."""

_NUMBER = re.compile(r"[^\s,;|\[\]]+")


def parse_numbers(text: str, what: str = "the line") -> list[float]:
    """Return the numbers of a text, separated by spaces, commas or semicolons.

    >>> parse_numbers("7, 90 193;105")
    [7.0, 90.0, 193.0, 105.0]
    """
    numbers = []
    for number_text in _NUMBER.findall(text):
        try:
            number = float(number_text)
        except ValueError:
            raise MetaevalError(f"{what}: {shorten(number_text)!r} is not a number") from None
        if not math.isfinite(number) or number < 0:
            raise MetaevalError(f"{what}: {shorten(number_text)} is not a number of 0 or more")
        numbers.append(number)
    return numbers


def parse_items(text: str, what: str = "items of each class") -> npt.NDArray[np.int64]:
    """Return how many items each class has."""
    return _check_whole(_check_classes(parse_numbers(text, what), what), what)


def parse_matrix(text: str, what: str = "the matrix") -> npt.NDArray[np.int64]:
    """Return a confusion matrix: a line for each gold class, in it the items of each predicted class.

    >>> parse_matrix("5 1 / 2 7").tolist()
    [[5, 1], [2, 7]]
    """
    lines = [line for line in re.split(r"[\n/]", text) if line.strip()]
    rows = [parse_numbers(line, f"{what}, line {number}") for number, line in enumerate(lines, start=1)]
    _check_classes(rows, what)
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows):
            raise MetaevalError(
                f"{what}, line {number}: there are {len(row)} numbers and {len(rows)} lines; a confusion matrix has as many "
                "columns as lines"
            )
    return _check_whole([number for row in rows for number in row], what).reshape(len(rows), len(rows))


def parse_shares(text: str, what: str = "the distribution") -> npt.NDArray[np.float64]:
    """Return a distribution over the classes; what does not sum to 1 is divided by its sum."""
    numbers = np.array(_check_classes(parse_numbers(text, what), what))
    total = float(math.fsum(numbers)) if numbers.max() < MOST_SHARE else math.inf
    if not 0 < total < math.inf:
        raise MetaevalError(f"{what}: the numbers sum to {total:g}; shares need a finite sum above 0")
    shares: npt.NDArray[np.float64] = numbers / total
    return shares


def parse_labels(text: str) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    r"""Return two confusion matrices from pasted labels: on each line the gold class, and what either run predicts.

    >>> classes, first, second = parse_labels("1 1 2\n2 2 2")
    >>> first.tolist(), second.tolist()
    ([[1, 0], [0, 1]], [[0, 1], [0, 1]])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    stated: list[str] = []
    if lines and lines[0].lower().startswith("classes:"):
        stated = [name.strip() for name in lines.pop(0).partition(":")[2].split(",") if name.strip()]
        if len(set(stated)) < len(stated):
            raise MetaevalError("a class is named twice")
    if len(lines) > MOST_ROWS:
        raise MetaevalError(f"there are {len(lines):,} lines; up to {MOST_ROWS:,} can be pasted")
    rows = [_split_labels(line, number) for number, line in enumerate(lines, start=1)]
    if not rows:
        raise MetaevalError("there are no labels yet: on each line write gold, first run, second run")
    classes = stated or _sort_labels({label for row in rows for label in row})
    _check_classes(classes, "classes")
    positions = {label: position for position, label in enumerate(classes)}
    matrices = np.zeros((2, len(classes), len(classes)), dtype=np.int64)
    for number, row in enumerate(rows, start=1):
        unknown = [label for label in row if label not in positions]
        if unknown:
            raise MetaevalError(f"line {number}: {shorten(unknown[0])!r} is none of the classes {', '.join(classes)}")
        gold, *predicted = (positions[label] for label in row)
        matrices[[0, 1], gold, predicted] += 1
    return classes, matrices[0], matrices[1]


def _split_labels(line: str, number: int) -> list[str]:
    """Return the three labels of a line; labels may hold spaces where something else separates them."""
    labels = [label.strip() for label in re.split(r"[,;\t]", line)] if re.search(r"[,;\t]", line) else line.split()
    if len(labels) != 3:
        raise MetaevalError(f"line {number} has {len(labels)} labels; write gold, first run, second run")
    return labels


def parse_classes(text: str, n_classes: int) -> list[str]:
    """Return the names of the classes: those that are given, numbers for those that are not.

    >>> parse_classes("neg, neu, pos", 3), parse_classes("", 2)
    (['neg', 'neu', 'pos'], ['1', '2'])
    """
    names = [shorten(name.strip()) for name in text.split(",") if name.strip()][:n_classes]
    names += [str(position) for position in range(len(names) + 1, n_classes + 1)]
    return [f"{name} ({names[:position].count(name) + 1})" if name in names[:position] else name
            for position, name in enumerate(names)]  # fmt: skip


def clean_name(name: str) -> str:
    """Return a name that a file in the visitor's folder may have.

    >>> clean_name("../../-x.csv"), clean_name("scores (1), ours.csv")
    ('x.csv', 'scores (1), ours.csv')
    """
    stem, dot, suffix = re.split(r"[/\\]", name)[-1].rpartition(".")
    stem = "".join(
        letter if letter.isprintable() and letter not in '<>:"|?*' else "_" for letter in stem if dot
    ).lstrip("-. ")
    return f"{stem.encode()[:150].decode(errors='ignore') or 'scores'}{dot}{re.sub(r'[^0-9A-Za-z]', '', suffix)[:12]}"


def format_numbers(numbers: Iterable[float]) -> str:
    """Write numbers in a line, whole ones without a point."""
    return " ".join(f"{number:.12g}" for number in numbers)


def format_matrix(counts: npt.ArrayLike) -> str:
    """Write a matrix as `parse_matrix` reads it, a line for each row."""
    return "\n".join(format_numbers(row) for row in np.asarray(counts).tolist())


def _sort_labels(labels: Iterable[str]) -> list[str]:
    listed = list(labels)
    try:
        return sorted(listed, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(listed)


def _check_classes(rows: list[T], what: str) -> list[T]:
    if not 2 <= len(rows) <= MOST_CLASSES:
        raise MetaevalError(f"{what}: there are {len(rows)} classes; the page takes 2 to {MOST_CLASSES}")
    return rows


def _check_whole(numbers: Sequence[float], what: str) -> npt.NDArray[np.int64]:
    for number in numbers:
        if number % 1 or number > MOST_ITEMS:
            raise MetaevalError(f"{what}: {number:g} is not a whole number of items up to {MOST_ITEMS:,}")
    if not any(numbers):
        raise MetaevalError(f"{what}: there are no items")
    return np.array(numbers, dtype=np.int64)
