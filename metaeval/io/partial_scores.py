"""Scores of which only some are there: labels of people, perhaps chosen at random, and ratings with repeats, judges and tasks.

A label may have a ``probability``: how probable it was that it was asked for. Rows with an empty score are left out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metaeval.data.columns import format_columns, plain_name
from metaeval.data.policies import check_policy, report_policy
from metaeval.data.ratings import Ratings, refuse_two_tasks
from metaeval.data.rows import Cells, DoubledError, DoubledPolicy
from metaeval.data.scores import Scores, choose_measure, only_collection, read_collections
from metaeval.errors import DataError, format_count, format_list, format_option
from metaeval.files import is_folder, is_standard_input, open_once, plain_path, stem
from metaeval.io.detect import Sample
from metaeval.io.layout import IGNORE
from metaeval.io.scores import read_scores
from metaeval.io.table import LINES, PARQUET, TABLES, WORKBOOKS, ColumnsError, is_frame, open_cells
from metaeval.io.tables import find_part, read_numbers, rows_of_table
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label, split_stem
from metaeval.stats.variance_components import FACETS

PROBABILITY = "probability"


class PeopleScores(NamedTuple):
    """Scores of one measure, perhaps with gaps, and how probable it was that each was asked for, shape (run, topic)."""

    scores: Scores
    probabilities: np.ndarray | None = None

    @property
    def measure(self) -> Measure:
        """The measure that people's labels are of."""
        return self.scores.measures[0]

    @property
    def values(self) -> np.ndarray:
        """The labels, shape (run, topic); NaN where there is none."""
        return self.scores.values[..., 0]

    @property
    def fingerprint(self) -> str:
        """What a signature calls these data."""
        if self.probabilities is None:
            return self.scores.fingerprint
        stated = np.round(self.probabilities, 8).astype("<f8").tobytes()
        return hashlib.sha256(self.scores.fingerprint.encode() + stated).hexdigest()[:12]

    def align(self, runs: tuple[str, ...], topics: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        """Return labels and probabilities of these runs and topics; that a labelled one is not among them is refused."""
        known = ~np.isnan(self.values)
        sides = (
            ("run", self.scores.runs, known.any(axis=1), runs),
            ("topic", self.scores.topics, known.any(axis=0), topics),
        )
        for what, mine, labelled, theirs in sides:
            judged = {*theirs}
            strange = [label for label, has in zip(mine, labelled, strict=True) if has and label not in judged]
            if len(strange) == labelled.sum():
                shown = f"people: {format_list(mine)}; judge: {format_list(theirs)}"
                raise DataError(f"no {what} has both a judge's score and a label of people ({shown})")
            if strange:
                count = format_count(len(strange), what)
                problem = f"the judge has no score of {count} with labels of people: {format_list(strange)}"
                raise DataError(problem, hint=f"leave out its labels, or give the judge's score of every {what}")
        parts = (self.values,) if self.probabilities is None else (self.values, self.probabilities)
        frames = [pd.DataFrame(part, self.scores.runs, self.scores.topics) for part in parts]
        aligned = [frame.reindex(runs, columns=topics).to_numpy() for frame in frames]
        return aligned[0], aligned[1] if len(aligned) > 1 else None


def read_partial(
    source: Any, *, columns: Mapping[str, str] | None = None, doubled: DoubledPolicy = "raise"
) -> PeopleScores:
    """Read scores of one measure, of which some may be missing.

    Parameters
    ----------
    source : path, frame, Scores or PeopleScores
        Of columns run, topic, score and perhaps probability, or topics × runs; other formats as for `read_scores`.
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
        return _check(PeopleScores(source))
    suffixes = (*TABLES, *LINES, *PARQUET, *WORKBOOKS)
    if not is_frame(source) and (is_folder(source) or not plain_path(source).lower().endswith(suffixes)):
        return _check(PeopleScores(read_scores(source, missing="keep", columns=columns, doubled=doubled)))
    table, stated = open_cells(source), dict(columns or {})
    given = next((name for name in table.columns if plain_name(name) == PROBABILITY), None)
    if given is not None:
        stated[IGNORE] = "+".join([*([stated[IGNORE]] if IGNORE in stated else []), given])
    layout, rows = rows_of_table(table, columns=stated)
    if layout.kind == "wide" and "topic" not in layout.roles:
        report_policy("its topics have no names, and are taken for the first ones, in their order", table.file or None)
    scores, beside = read_collections(rows, missing="keep", doubled=doubled), None
    if given is not None:
        if layout.kind in ("wide", "transposed"):
            raise DataError(f"a column {PROBABILITY} needs one row per score: run, topic, score", file=table.file)
        rows = replace(rows, frame=rows.frame.assign(score=read_numbers(table, [given])[0]))
        found = rows.read_scores()
        for row in np.flatnonzero(~np.isnan(found) & ~((found > 0) & (found <= 1)))[:1]:
            problem = f"the probability is {found[row]:g}; it lies above 0 and is at most 1"
            raise DataError(problem, **rows.locate(int(row), ()))
        unlike = rows.frame.assign(score=found).groupby(["run", "topic"])["score"].nunique(dropna=False) > 1
        if doubled == "mean" and unlike.any():
            run, topic = unlike.index[int(unlike.to_numpy().argmax())]
            hint = "give the probability with which the run and topic were chosen, the same for all its labels"
            raise DataError("its labels have several probabilities", file=table.file, run=run, topic=topic, hint=hint)
        beside = only_collection(read_collections(rows, missing="keep", doubled=doubled)).values[..., 0]
    return _check(PeopleScores(only_collection(scores, table.file), beside), table.file)


def _check(people: PeopleScores, file: object = None) -> PeopleScores:
    scores, known = people.scores, ~np.isnan(people.values)
    if len(scores.measures) != 1:
        names = format_list([str(measure) for measure in scores.measures])
        raise DataError(f"labels of people are of one measure; there are {len(scores.measures)} ({names})", file=file)
    if not known.any():
        raise DataError("nothing is labelled: every score is missing", file=file)
    if people.probabilities is not None and (lacking := known & np.isnan(people.probabilities)).any():
        r, t = np.argwhere(lacking)[0]
        raise DataError("a label has no probability", file=file, run=scores.runs[r], topic=scores.topics[t])
    return people


def read_ratings(
    path: Any,
    *,
    columns: Mapping[str, str] | None = None,
    measure: str | Sequence[str] | None = None,
    doubled: DoubledPolicy = "raise",
) -> Ratings:
    """Read a table with a row per score, a column per measure, or topics × runs; empty cells are gaps.

    Parameters
    ----------
    path : path
    columns : mapping of str to str, optional
        What the table calls its columns: ``{"repeat": "seed", "judge": "annotator", "task": "category"}``, and others.
    measure : str or sequence of str, optional
        Some of several measures, or the measure of a table that does not name it.
    doubled : {"raise", "mean", "latest"}, optional
        What to do where a run has several scores on a topic, by one judge and in one repeat.
    """
    check_policy(doubled, DoubledPolicy)
    with open_once():
        table = open_cells(path)
        wanted = [measure] if isinstance(measure, str) else list(measure or ())
        layout, rows = rows_of_table(table, columns=columns, measure=wanted[0] if len(wanted) == 1 else None)
        if layout.kind in ("wide", "transposed") and len(wanted) != 1:
            rows = replace(rows, frame=rows.frame.assign(measure=split_stem(stem(path))[1]))
        if wanted:  # before anything is said of the rows of others
            rows = choose_measure(rows, *wanted)
        keys = [name for name in (*FACETS, "measure") if name in rows.frame]
        cells = Cells(rows, keys)
        refuse_two_tasks(cells, [layout.roles[role] for role in ("task", "topic") if role in layout.roles])
        gaps = np.isnan(cells.score)
        cells.select(~gaps)
        try:
            cells.settle_doubled(doubled)
        except DoubledError as error:
            told = find_part(layout, [layout.roles[key] for key in keys if key in layout.roles])
            tells = " or ".join(format_columns({what: told or "COLUMN"}) for what in ("repeat", "judge"))
            topic = format_columns({"topic": f"{layout.roles.get('topic')}+{told}"})
            hint = f"{told!r} tells them apart: repeats, judges or parts of topics? {tells} or {topic}"
            mean = f"{tells}, if a column tells them apart; their mean: {format_option('doubled', 'mean')}"
            raise error.changed(hint=hint if told else mean) from None
        cells.drop_totals()
        if gaps.any():
            report_policy(f"{format_count(int(gaps.sum()), 'cell')} without a score", table.file)
        return Ratings(cells, tuple(map(measure_of_label, cells.labels["measure"])), stem(path))


def holds_table(source: str, columns: Mapping[str, str] | None) -> bool:
    """Say whether a source is a file with a table that ratings are read of row by row, and not a data set or a store."""
    if is_standard_input(source) or not os.path.isfile(os.path.expanduser(source)):
        return False
    sample = Sample(source, columns)
    # A column that is not there is refused where the table is read.
    is_table = sample.kind != "text" or plain_path(source).lower().endswith(TABLES)
    return is_table and isinstance(sample.layout, str | ColumnsError)


def refuse_columns(scores: Scores, columns: Mapping[str, str] | None) -> Ratings:
    """Return ratings of a score matrix that no columns describe."""
    named = [what for what in (columns or {}) if what in ("task", "judge", "repeat")]
    if named:
        option = {"task": "tasks", "judge": "judges", "repeat": "repeats"}[named[0]]
        raise DataError(f"{scores.collection or 'the source'} has no columns that {format_option(option)} could name")
    return Ratings(scores.to_frame(), scores.measures, scores.collection)
