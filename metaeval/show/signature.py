"""The signature: one line that states exactly what was computed, shown under every table and figure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import metaeval
from metaeval.errors import format_count, visible


@dataclass(frozen=True)
class Signature:
    """Everything that a number depends on, so that it can be computed again.

    Parameters
    ----------
    analysis : str
        The name of the function of the analysis.
    data : tuple of str
        One entry per collection: its name, its fingerprint and its size.
    settings : tuple of (str, str)
        Names and values, in the order of printing.
    version : str
        The version of metaeval.

    Examples
    --------
    >>> scores = metaeval.Scores([[[0.5]]], runs=["a"], topics=["t"], measures=["NMD"], collection="tiny")
    >>> print(sign("ranking_similarity", scores, tau="tau_a"))
    ranking_similarity | tiny@... 1 run × 1 topic | measures NMD | lower is better NMD | tau tau_a | metaeval ...
    """

    analysis: str
    data: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    version: str = ""

    def __str__(self) -> str:
        settings = [f"{name} {value}" for name, value in self.settings]
        return visible(" | ".join([self.analysis, "; ".join(self.data), *settings, f"metaeval {self.version}"]))

    @property
    def short(self) -> str:
        """The size of the data, and the settings that a reader changes: one line of a terminal.

        >>> Signature("power", ("web@ab12 34 runs × 50 topics",), (("test", "max-t"), ("B", "500"), ("seed", "0"))).short
        '34 runs × 50 topics, test max-t, B (test trials) 500, seed 0'
        """
        first, *others = (re.sub(r"^.*@\w+ ", "", data) for data in self.data) if self.data else [self.analysis]
        stated = [
            f"{'B (test trials)' if name == 'B' else name} {value}"
            for name, value in self.settings
            if name in ("test", "B", "trials", "bootstrap", "seed")
        ]
        more = [f"and {format_count(len(others), 'more collection')}"] if others else []
        return visible(", ".join([first, *more, *stated]))

    def follow(self, analysis: str, **settings: str) -> Signature:
        """Return the signature of an analysis that follows from this one, and from what further settings say."""
        return replace(self, analysis=analysis, settings=(*self.settings, *settings.items()))


def sign(analysis: str, scores: Any, **settings: object) -> Signature:
    """Return the signature of an analysis of scores, or several; settings are what else numbers depend on, such as the seed."""
    collections = list(scores) if isinstance(scores, Iterable) else [scores]
    shown = {**describe_measures([measure for study in collections for measure in study.measures]), **settings}
    data = []
    for study in collections:
        n_runs, n_topics, _ = study.values.shape
        size = f"{format_count(n_runs, 'run')} × {format_count(n_topics, 'topic')}"
        data.append(f"{study.collection or 'scores'}@{study.fingerprint} {size}")
    settled = []
    for name, value in shown.items():
        large = isinstance(value, int) and not isinstance(value, bool) and value >= 1000
        settled.append((name.replace("_", " "), f"{value:,}" if large else str(value)))
    return Signature(analysis, tuple(data), tuple(settled), metaeval.__version__)


def describe_measures(measures: Sequence[object]) -> dict[str, str]:
    """Return what a signature says of measures: their names, which directions are assumed, and of which lower is better."""
    names = {"measures": [str(getattr(measure, "full_name", measure)) for measure in measures]}
    if lower := [str(measure) for measure in measures if getattr(measure, "higher_is_better", None) is False]:
        names["lower is better"] = lower
    return {direction: ", ".join(dict.fromkeys(listed)) for direction, listed in names.items()}
