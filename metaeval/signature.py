"""The signature: one line that says exactly what was computed; it stands under every table and figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import metaeval
from metaeval.labels import counted
from metaeval.scores import Scores


@dataclass(frozen=True)
class Signature:
    """What a number was computed with, so that it can be computed again.

    Parameters
    ----------
    analysis : str
        The analysis, as its function is named.
    data : tuple of str
        One entry a collection: its name, the first digits of its sha256 and its size.
    settings : tuple of (str, str)
        Names and values, in the order in which they are printed.
    version : str
        Of metaeval.

    Examples
    --------
    >>> scores = Scores([[[0.5]]], runs=["a"], topics=["t"], measures=["NMD"], collection="tiny")
    >>> print(sign("ranking_similarity", scores, tau="tau_a"))
    ranking_similarity | tiny@... 1 run × 1 topic | measures NMD | tau tau_a | metaeval ...
    """

    analysis: str
    data: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    version: str = ""

    def __str__(self) -> str:
        settings = [f"{name} {value}" for name, value in self.settings]
        return " | ".join([self.analysis, "; ".join(self.data), *settings, f"metaeval {self.version}"])


def sign(analysis: str, scores: Scores | Iterable[Scores], **settings: object) -> Signature:
    """Return the signature of an analysis of one or several collections.

    Parameters
    ----------
    analysis : str
    scores : Scores or iterable of Scores
    **settings : object
        What else the numbers depend on: the seed, the number of trials, …

    Returns
    -------
    Signature
    """
    collections = [scores] if isinstance(scores, Scores) else list(scores)
    measures = list(dict.fromkeys(str(measure) for one in collections for measure in one.measures))
    shown = {"measures": ", ".join(measures), **settings}
    return Signature(
        analysis,
        tuple(_described(one) for one in collections),
        tuple((name.replace("_", " "), _printed(value)) for name, value in shown.items()),
        metaeval.__version__,
    )


def _described(scores: Scores) -> str:
    n_runs, n_topics, _ = scores.values.shape
    size = f"{counted(n_runs, 'run')} × {counted(n_topics, 'topic')}"
    return f"{scores.collection or 'scores'}@{scores.sha256[:12]} {size}"


def _printed(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) and value >= 1000 else str(value)
