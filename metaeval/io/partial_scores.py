"""Scores of one measure of which only some are there, labels of people: a row per score, or topics × runs with empty cells.

A table with a row per score may have a column ``probability``: how probable it was that the score was asked for. Rows with an
empty score are left out, so that a list of what to label can be filled in step by step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from metaeval.data.cells import DoubledError, DoubledPolicy, arrange_cells
from metaeval.data.columns import plain_name
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import is_folder
from metaeval.io.frames import is_frame
from metaeval.io.layout import IGNORE, find_layout
from metaeval.io.scores import read_scores
from metaeval.io.table import Table, numbers
from metaeval.io.tables import LINES, PARQUET, TABLES, WORKBOOKS, open_cells
from metaeval.io.tidy import make_rows
from metaeval.io.wide import find_matrix
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label

PROBABILITY = "probability"


class PeopleScores(NamedTuple):
    """Scores of one measure, and how probable it was that each was asked for, shape (run, topic); NaN where there is none."""

    values: np.ndarray
    probabilities: np.ndarray | None
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measure: Measure

    @property
    def fingerprint(self) -> str:
        """What a signature calls these data: the start of a checksum."""
        digest = hashlib.sha256("\0".join((*self.runs, "", *self.topics)).encode("utf-8", "surrogatepass"))
        for part in (self.values, self.probabilities):
            digest.update(b"" if part is None else np.round(part, 8).astype("<f8").tobytes())
        return digest.hexdigest()[:12]

    def align(self, runs: tuple[str, ...], topics: tuple[str, ...]) -> PeopleScores:
        """Return the same for these runs and topics; that a labelled one is not among them is refused."""
        known = ~np.isnan(self.values)
        rows = _find_places(self.runs, known.any(axis=1), runs, "run")
        columns = _find_places(self.topics, known.any(axis=0), topics, "topic")
        parts: list[np.ndarray | None] = []
        for part in (self.values, self.probabilities):
            whole = None if part is None else np.full((len(runs), len(topics)), np.nan)
            if part is not None and whole is not None:
                whole[np.ix_(rows[rows >= 0], columns[columns >= 0])] = part[np.ix_(rows >= 0, columns >= 0)]
            parts.append(whole)
        return PeopleScores(np.asarray(parts[0]), parts[1], runs, topics, self.measure)


def _find_places(mine: tuple[str, ...], labelled: np.ndarray, theirs: tuple[str, ...], what: str) -> np.ndarray:
    """Return where each label stands among theirs, −1 if it is not there."""
    place = {label: position for position, label in enumerate(theirs)}
    strange = [label for label, has in zip(mine, labelled, strict=True) if has and label not in place]
    if len(strange) == labelled.sum():
        shown = f"people: {format_list(mine)}; judge: {format_list(theirs)}"
        raise DataError(f"no {what} has both a judge's score and a label of people ({shown})")
    if strange:
        more = f" ({len(strange):,} such {what}s in all)" if len(strange) > 1 else ""
        problem = f"the {what} {strange[0]} has labels of people and no score of the judge{more}"
        raise DataError(problem, hint=f"leave out its labels, or give the judge's score of every {what}")
    return np.array([place.get(label, -1) for label in mine])


def read_partial(
    source: Any, *, columns: Mapping[str, str] | None = None, doubled: DoubledPolicy = "raise"
) -> PeopleScores:
    """Read scores of one measure, of which some may be missing.

    Parameters
    ----------
    source : path, frame, Scores or PeopleScores
        A table (.csv, .tsv, .jsonl, .parquet, .xlsx) with columns run, topic, score and perhaps probability; or with a row per
        topic and a column per run. Files of other formats are read as `read_scores` does.
    columns, doubled : optional
        As for `read_scores`.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"run": ["a", "b", "a"], "topic": [1, 1, 2], "score": [0.5, 0.25, 1], "probability": [0.1, 0.1, 0.5]}
    >>> read_partial(pd.DataFrame(rows)).probabilities
    array([[0.1, 0.5],
           [0.1, nan]])
    """
    if isinstance(source, PeopleScores):
        return source
    if isinstance(source, Scores):
        return _take_scores(source)
    suffixes = (*TABLES, *LINES, *PARQUET, *WORKBOOKS)
    if not is_frame(source) and (is_folder(source) or not str(source).lower().endswith(suffixes)):
        return _take_scores(read_scores(source, missing="drop-topic", columns=columns, doubled=doubled))
    table = open_cells(source)
    given = next((j for j, name in enumerate(table.header) if plain_name(name) == PROBABILITY), None)
    stated = dict(columns or {})
    if given is not None:
        stated[IGNORE] = "+".join([*([stated[IGNORE]] if IGNORE in stated else []), table.header[given]])
    layout = find_layout(table, stated)
    if layout.kind in ("wide", "transposed"):
        if given is not None:
            raise DataError(f"a column {PROBABILITY} needs one row per score: run, topic, score", file=table.file)
        matrix = find_matrix(layout, "score", stated)
        return _check(PeopleScores(matrix.values.T, None, matrix.runs, matrix.topics, measure_of_label("score")), table)
    frame, texts = make_rows(layout, None)
    options: dict[str, Any] = {"file": table.file, "lines": table.lines * len(layout.scores) or None, "missing": "keep"}
    try:
        values, runs, topics, measures = arrange_cells(frame, given=texts, doubled=doubled, **options)
    except DoubledError as error:
        raise error.changed(hint=f"{format_option('doubled', 'mean')} takes the mean of them") from None
    _refuse_several(measures, table.file)
    probabilities = None
    if given is not None:
        frame = frame.assign(score=_read_probabilities(table, given))
        probabilities = arrange_cells(frame, doubled="mean", **options)[0][..., 0]
    return _check(PeopleScores(values[..., 0], probabilities, tuple(runs), tuple(topics), measures[0]), table)


def _take_scores(scores: Scores) -> PeopleScores:
    _refuse_several(scores.measures)
    return PeopleScores(scores.values[..., 0], None, scores.runs, scores.topics, scores.measures[0])


def _refuse_several(measures: Any, file: object = None) -> None:
    if len(measures) != 1:
        names = format_list([str(measure) for measure in measures])
        raise DataError(f"labels of people are of one measure; there are {len(measures)} ({names})", file=file)


def _check(partial: PeopleScores, table: Table) -> PeopleScores:
    known = ~np.isnan(partial.values)
    if not known.any():
        raise DataError("nothing is labelled: every score is missing", file=table.file)
    if partial.probabilities is not None and (known & np.isnan(partial.probabilities)).any():
        r, t = np.argwhere(known & np.isnan(partial.probabilities))[0]
        raise DataError("a label has no probability", file=table.file, run=partial.runs[r], topic=partial.topics[t])
    return partial


def _read_probabilities(table: Table, column: int) -> np.ndarray:
    """Return the probabilities, each above 0 and at most 1, or NaN where a cell is empty."""
    cells = table.columns[column]
    found = numbers(cells) if table.lines else np.asarray(cells, dtype=np.float64)
    wrong = np.flatnonzero(~((found > 0) & (found <= 1)) & ~np.isnan(found))
    if len(wrong):
        problem = f"the probability is {found[wrong[0]]:g}; it lies above 0 and is at most 1"
        raise DataError(problem, file=table.file, line=table.lines[wrong[0]] if table.lines else None)
    return found
