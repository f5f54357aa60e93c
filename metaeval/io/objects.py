"""Scores from Python objects: results of ir_measures, pytrec_eval and ranx, and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.policies import MissingPolicy, mend_missing
from metaeval.data.scores import COLUMNS, Scores
from metaeval.errors import DataError
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label

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

    Returns
    -------
    Scores

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
    collection : str, optional
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If something else is given, or a score is missing or not a finite number.

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
    collection : str, optional
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If a run has no name or no scores, two have the same name, or a score is missing or not a finite
        number.

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
    names = [name for name, _ in pairs]
    for position, name in enumerate(names):
        if name is None:
            raise DataError(f"run number {position + 1} has no name", hint="give a mapping of run names to runs")
        if name in names[:position]:
            raise DataError("two runs have this name", run=name, hint="give a mapping of run names to runs")

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


def from_frame(
    frame: pd.DataFrame | Mapping[str, pd.DataFrame],
    *,
    measure: str | Measure | None = None,
    collection: str = "",
    missing: MissingPolicy = "raise",
) -> Scores:
    """Convert a tidy frame, or one wide frame per measure, to scores.

    Parameters
    ----------
    frame : DataFrame or mapping of measure to DataFrame
        Tidy: columns run, topic, measure, score. Wide: one column per run and one row per topic; the index, or a
        column ``topic``, names the topics. Several wide frames are aligned by the names of runs and topics.
    measure : str or Measure, optional
        The measure that a single wide frame holds.
    collection : str, optional
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If the frame is neither, or a score occurs twice, is infinite or is missing.

    Examples
    --------
    >>> wide = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]}, index=["t1", "t2"])
    >>> from_frame(wide, measure="nDCG@10")
    Scores: 2 runs × 2 topics × 1 measure
    """
    if isinstance(frame, Mapping):
        if not frame:
            raise DataError("no frames were given")
        return _stack_frames(
            {measure_of_label(name): _check_wide(one, name) for name, one in frame.items()}, collection, missing
        )
    if all(name in frame.columns for name in COLUMNS):
        return Scores.from_frame(frame, collection=collection, missing=missing)
    if measure is None:
        there = ", ".join(map(repr, list(frame.columns)[:5]))
        raise DataError(
            f"the frame has no columns run, topic, measure, score (columns: {there})",
            hint="for a frame of topics × runs, say which measure it holds with measure=",
        )
    return _stack_frames({measure_of_label(measure): _check_wide(frame, measure)}, collection, missing)


def _check_wide(frame: pd.DataFrame, measure: object) -> pd.DataFrame:
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"topics × runs is a frame, not {type(frame).__name__}", measure=measure)
    if "topic" in frame.columns:
        frame = frame.set_index("topic")
    frame = frame.set_axis([str(label) for label in frame.index], axis=0)
    frame = frame.set_axis([str(label) for label in frame.columns], axis=1)
    for what, labels in (("topic", frame.index), ("run", frame.columns)):
        if labels.has_duplicates:
            raise DataError(f"the {what} {labels[labels.duplicated()][0]!r} occurs twice", measure=measure)
    return frame


def _stack_frames(frames: dict[Measure, pd.DataFrame], collection: str, missing: MissingPolicy) -> Scores:
    first = next(iter(frames.values()))
    layers = []
    for measure, frame in frames.items():
        for what, mine, theirs in (("topic", frame.index, first.index), ("run", frame.columns, first.columns)):
            odd = mine.symmetric_difference(theirs)
            if len(odd):
                raise DataError(f"the {what} {odd[0]!r} is not in every frame", measure=measure)
        aligned = frame.loc[first.index, first.columns]
        try:
            values = aligned.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise DataError(f"the scores are not all numbers ({error})", measure=measure) from None
        for t, r in np.argwhere(np.isinf(values))[:1]:
            raise DataError(f"the score is {values[t, r]}", run=first.columns[r], topic=first.index[t], measure=measure)
        layers.append(values.T)
    runs, topics = [str(run) for run in first.columns], [str(topic) for topic in first.index]
    values, runs, topics = mend_missing(np.stack(layers, axis=-1), runs, topics, list(frames), missing)
    return Scores(values, runs=runs, topics=topics, measures=list(frames), collection=collection)


def _assemble(cells: Iterable[Cell], collection: str, missing: MissingPolicy) -> Scores:
    rows = [(str(run), str(topic), str(measure), score) for run, topic, measure, score in cells]
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    frame = {name: np.array(column, dtype=object) for name, column in zip(COLUMNS, columns, strict=True)}
    return Scores.from_frame(pd.DataFrame(frame), collection=collection, missing=missing)


def _check_mapping(given: Any, what: str, **where: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise DataError(f"the {what} are a {type(given).__name__}, not a mapping", **where)  # type: ignore[arg-type]
    return given
