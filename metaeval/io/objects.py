"""Scores from results of ir_measures, pytrec_eval and ranx; frames are in `metaeval.io.frames`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.columns import COLUMNS
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import Scores
from metaeval.errors import DataError

Cell = tuple[str, str, str, Any]
"""A score with its run, topic and measure."""


def from_ir_measures(
    results: Mapping[str, Iterable[Any]], *, collection: str = "", missing: MissingPolicy = "raise"
) -> Scores:
    """Convert the results of ``ir_measures.iter_calc`` for several runs to scores.

    Parameters
    ----------
    results : mapping of run to iterable of Metric
        A Metric has `query_id`, `measure` and `value`.
    collection : str, optional
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure.

    Raises
    ------
    DataError
        If something else is given, or a score occurs twice, is missing or is not a finite number.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Metric = namedtuple("Metric", "query_id measure value")
    >>> from_ir_measures({"bm25": [Metric("q1", "nDCG@10", 0.5), Metric("q2", "nDCG@10", 0.25)]})
    Scores: 1 run × 2 topics × 1 measure
    """

    def cells() -> Iterator[Cell]:
        for run, metrics in _check_mapping(results, "results").items():
            if isinstance(metrics, Mapping):
                raise DataError(
                    "these are means over topics", run=run, hint="give what ir_measures.iter_calc returns for the run"
                )
            for metric in metrics:
                try:
                    yield run, metric.query_id, str(metric.measure), metric.value
                except AttributeError:
                    raise DataError(f"{metric!r} is not a Metric(query_id, measure, value)", run=run) from None

    return _assemble(cells(), collection, missing)


def from_pytrec_eval(
    results: Mapping[str, Mapping[str, Mapping[str, float]]], *, collection: str = "", missing: MissingPolicy = "raise"
) -> Scores:
    """Convert the results of ``RelevanceEvaluator.evaluate`` of pytrec_eval for several runs to scores.

    Parameters
    ----------
    results : mapping of run to mapping of topic to mapping of measure to score
    collection, missing
        As for `from_ir_measures`, as is what is raised.

    Examples
    --------
    >>> from_pytrec_eval({"bm25": {"q1": {"map": 0.5}, "q2": {"map": 0.25}}})
    Scores: 1 run × 2 topics × 1 measure
    """

    def cells() -> Iterator[Cell]:
        for run, topics in _check_mapping(results, "results").items():
            for topic, scores in _check_mapping(topics, "topics", run=run).items():
                for measure, score in _check_mapping(scores, "scores", run=run, topic=topic).items():
                    yield run, topic, measure, score

    return _assemble(cells(), collection, missing)


def from_ranx(runs: Any, *, collection: str = "", missing: MissingPolicy = "raise") -> Scores:
    """Convert ranx runs that ``ranx.evaluate`` or ``ranx.compare`` has scored to scores.

    Parameters
    ----------
    runs : ranx.Run, iterable of ranx.Run, or mapping of run name to ranx.Run
        After ``evaluate(qrels, run, measures)`` (with its default ``save_results_in_run=True``) or ``compare(qrels,
        runs, measures)``, the attribute ``scores`` of a run holds the score of every topic, by measure. A ``Report``
        holds only means and is refused.
    collection, missing
        As for `from_ir_measures`.

    Raises
    ------
    DataError
        As `from_ir_measures`; if a run has no name or no scores, or two have the same name.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> run = SimpleNamespace(name="bm25", scores={"mrr": {"q1": 1.0, "q2": 0.5}})
    >>> from_ranx([run])
    Scores: 1 run × 2 topics × 1 measure
    """
    if hasattr(runs, "model_names"):
        raise DataError(
            "a ranx Report holds means only",
            hint="give the list of runs that was compared: they hold every topic's scores",
        )
    if isinstance(runs, Mapping):
        pairs = list(runs.items())
    else:
        listed = [runs] if hasattr(runs, "scores") else list(runs)
        pairs = [(getattr(run, "name", None), run) for run in listed]
    seen: set[object] = set()
    for position, (name, _) in enumerate(pairs):
        if name is None:
            raise DataError(f"run number {position + 1} has no name", hint="give a mapping of run names to runs")
        if name in seen:
            raise DataError("two runs have this name", run=name, hint="give a mapping of run names to runs")
        seen.add(name)

    def cells() -> Iterator[Cell]:
        for name, run in pairs:
            measures = getattr(run, "scores", None)
            if not isinstance(measures, Mapping) or not measures:
                raise DataError(
                    "it has no scores per topic", run=name, hint="first ranx.evaluate(qrels, run, measures)"
                )
            for measure, topics in measures.items():
                for topic, score in _check_mapping(topics, "topics", run=name, measure=measure).items():
                    yield name, topic, measure, score

    return _assemble(cells(), collection, missing)


def _assemble(cells: Iterable[Cell], collection: str, missing: MissingPolicy) -> Scores:
    rows = [(str(run), str(topic), str(measure), score) for run, topic, measure, score in cells]
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    frame = {name: np.array(column, dtype=object) for name, column in zip(COLUMNS, columns, strict=True)}
    return Scores.from_frame(pd.DataFrame(frame), collection=collection, missing=missing)


def _check_mapping(given: Any, what: str, **where: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise DataError(f"the {what} are a {type(given).__name__}, not a mapping", **where)  # type: ignore[arg-type]
    return given
