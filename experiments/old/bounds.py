"""What the words of conclusions count as: one table for all papers, experiments/bounds.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.old.outcome import read_toml
from metaeval.errors import MetaevalError

REASONS = ("the paper", "fixed", "post hoc")


@dataclass(frozen=True)
class Bound:
    """A number by which a word of a conclusion is decided."""

    value: float
    words: str
    reason: str
    where: str

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise MetaevalError(f"a bound is there by {self.reason!r}: use {', '.join(REASONS)}")


BOUNDS: Mapping[str, Bound] = {
    name: Bound(**entry) for name, entry in read_toml(Path(__file__).parents[1] / "bounds.toml").items()
}


def show_bounds() -> str:
    """Return the table of bounds in Markdown."""
    rows = [
        f"| {name} | {entry.words} | {entry.value:g} | {entry.reason} | {entry.where} |"
        for name, entry in BOUNDS.items()
    ]
    return "\n".join(
        ["| word | counts as | value | chosen by | where, or why |", "| :-- | :-- | --: | :-- | :-- |", *rows]
    )
