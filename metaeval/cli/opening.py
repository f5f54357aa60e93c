"""Opening what the options of a command name: sources with some of their measures, and references."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metaeval.cli.command import Values
from metaeval.cli.options import DIRECTIONS, OPENING, parse_classes, parse_directions
from metaeval.cli.output import working
from metaeval.errors import DataError, MetaevalError
from metaeval.io.formats import parse_columns

if TYPE_CHECKING:
    from metaeval.data.ratings import Ratings
    from metaeval.data.runs import Runs
    from metaeval.data.scores import Scores


def open_sources(sources: list[str], values: Values, *, reference_opens: bool, several: bool) -> list[Scores]:
    """Open sources, which may hold `several` collections each, with the measures that are asked for and stated directions."""
    from metaeval.data.scores import only_collection
    from metaeval.datasets.open import open_collections
    from metaeval.files import open_once

    texts = _list_texts(getattr(values, "reference", None))
    files = [text for text in texts if reference_opens and names_file(text)]
    named = [text for text in texts if text not in files]
    selected = [*dict.fromkeys([*values.measure, *named])] if values.measure else None
    opening = {name: getattr(values, name) for name in OPENING} | {"columns": read_columns(values)}
    opened: list[Scores] = []
    lacking: dict[str, DataError] = {}
    with open_once():
        for source in sources:
            with working(f"reading {source}"):
                # A reference that names a file may be one of the labels nevertheless.
                further = files if names_file(source) else ()
                read = partial(open_collections, source, selected, optional=further)
                found = _read_by_columns(read, opening, lacking if files else None)
                opened += found if several else [only_collection(found, source)]
    if texts and reference_opens:
        labels = {str(measure) for scores in opened for measure in scores.measures}
        measure = getattr(values, "reference_measure", None)
        if getattr(values, "annotators", False) and opening["missing"] == "raise":
            opening["missing"] = "keep"  # the mean is of those who scored
        values.reference = open_references(values.reference, opening, labels=labels, measure=measure, lacking=lacking)
    return _state_directions(opened, values)


def _read_by_columns(
    read: Callable[..., Any], opening: Mapping[str, Any], lacking: dict[str, DataError] | None = None
) -> Any:
    """Read a file by those of the stated columns that it has; of others, `lacking` takes the error, unless there is none."""
    from metaeval.io.table import ColumnsError

    columns = dict(opening["columns"] or {})
    while True:
        try:
            return read(**{**opening, "columns": columns or None})
        except ColumnsError as error:
            without = {what: name for what, name in columns.items() if name != error.value}
            if lacking is None or without == columns:
                raise
            lacking.setdefault(str(error.value), error)
            columns = without


def join_runs(opened: list[Scores], sources: list[str]) -> list[Scores]:
    """Join sources that score other runs on the same topics to one collection, such as the logs of two models.

    Where two logs of one task are of one model, runs are called after their files too.
    """
    import numpy as np

    from metaeval.data.scores import Scores, hold_scores

    if len(opened) < 2 or len(opened) > len(sources):
        return opened
    stems = [Path(source).stem for source in sources]
    (column,), measures = opened[0].runs[:1], [list(map(str, scores.measures)) for scores in opened]
    if measures == [[stem] for stem in stems] and all(scores.runs == (column,) for scores in opened):
        # Tables of items with one column of scores name no run: each file is one, and the column is the measure.
        opened = [
            Scores(scores.values, runs=[stem], topics=scores.topics, measures=[column], clusters=scores.clusters)
            for scores, stem in zip(opened, stems, strict=True)
        ]
    groups: dict[object, list[tuple[Scores, str]]] = {}
    for scores, source in zip(opened, sources, strict=True):
        key = frozenset(scores.topics), frozenset(map(str, scores.measures))
        groups.setdefault(key, []).append((scores, Path(source).stem))
    joined: list[Scores] = []
    for parts in groups.values():
        runs = [run for scores, _ in parts for run in scores.runs]
        names = {scores.collection: None for scores, _ in parts}
        if len(names) == 1:
            twice = {run for run in runs if runs.count(run) > 1}
            runs = [f"{run} ({stem})" if run in twice else run for scores, stem in parts for run in scores.runs]
        if len(parts) == 1 or len(set(runs)) < len(runs):
            joined += [scores for scores, _ in parts]
            continue
        first = parts[0][0]
        values = [scores.sel(topics=first.topics, measures=first.measures).values for scores, _ in parts]
        joined.append(
            hold_scores(
                np.concatenate(values), runs=runs, topics=first.topics, measures=first.measures,
                collection=" + ".join(names), provenance=first.provenance, clusters=first.clusters, repeats=first.repeats,
            )
        )  # fmt: skip
    return joined


def read_columns(values: Values) -> dict[str, str] | None:
    """Return what the command line says of columns, those of clusters and repeats among them."""
    from metaeval.errors import MetaevalError

    columns = parse_columns(values.columns) or {}
    for what in ("cluster", "repeat", "judge", "task"):
        name = getattr(values, f"{what}s", None)
        if name is not None and columns.setdefault(what, name) != name:
            raise MetaevalError(
                f"--columns {what}={columns[what]} and --{what}s {name} name two columns; leave out one"
            )
    return columns or None


def open_ratings(values: Values) -> Ratings:
    """Return the ratings in a table, gaps and all, or the scores of a data set, a store or a file of another format."""
    from metaeval.data.scores import only_collection
    from metaeval.datasets.open import open_collections
    from metaeval.io.ratings import holds_table, read_ratings, refuse_columns
    from metaeval.measures.directions import turn_measures

    source, columns, chosen = values.source, read_columns(values), values.measure or None
    if values.format is None and holds_table(source, columns):
        if chosen and len(chosen) > 1:
            raise MetaevalError("name one --measure of a table, or none for all")
        measure = chosen[0] if chosen else None
        ratings = read_ratings(source, columns=columns, measure=measure, doubled=values.doubled)
    else:
        own = {what: name for what, name in (columns or {}).items() if what not in ("repeat", "judge", "task")} or None
        options = {"format": values.format, "collection": values.collection, "doubled": values.doubled}
        found = open_collections(source, chosen, columns=own, missing=values.missing, **options)
        ratings = refuse_columns(only_collection(found, source), columns)
    if not values.stated & {*DIRECTIONS, "collection"}:
        return ratings
    measures = turn_measures([ratings.measures], **find_directions(values))[0]
    return replace(ratings, measures=measures, collection=values.collection or ratings.collection)


def _state_directions(opened: list[Scores], values: Values) -> list[Scores]:
    """Return scores with stated directions; references of their own have them too."""
    from metaeval.data.scores import Scores, state_directions

    people = getattr(values, "people", None)
    if people is not None:  # its measure may have the direction that is stated
        *opened, labels = state_directions([*opened, people.scores], **find_directions(values), missing=values.missing)
        values.people = people._replace(scores=labels)
        return opened
    given = getattr(values, "reference", None)
    references = [scores for scores in (given if isinstance(given, list) else [given]) if isinstance(scores, Scores)]
    turned = state_directions([*opened, *references], **find_directions(values), missing=values.missing)
    if references:
        references = turned[len(opened) :]
        values.reference = references if isinstance(given, list) else references[0]
    return turned[: len(opened)]


def _list_texts(given: Any) -> list[str]:
    """Return what an option was given that may be given once or several times."""
    listed = given if isinstance(given, list | tuple) else [given]
    return [text for text in listed if isinstance(text, str)]


def names_file(text: str) -> bool:
    """Say whether a text names a file or standard input, where that or a measure of the data may be named."""
    from metaeval.files import is_standard_input
    from metaeval.measures.user_file import labels_only

    return not labels_only() and (is_standard_input(text) or os.path.exists(os.path.expanduser(text)))


def looks_like_file(text: str) -> bool:
    """Say whether a text has the form of a file's name rather than of a measure's.

    >>> looks_like_file("human.csv"), looks_like_file("nDCG@0.5"), looks_like_file("OCI(beta=0.75)")
    (True, False, False)
    """
    return re.search(r"\.[a-zA-Z]{2,8}(\.gz)?$", text) is not None and ":" not in text


def open_references(
    given: str | list[str] | None,
    opening: Mapping[str, Any],
    *,
    names: bool = True,
    labels: Collection[str] = (),
    measure: str | None = None,
    lacking: Mapping[str, DataError] | None = None,
) -> Any:
    """Return the scores that an option names, perhaps of one `measure` of a file; what is no file stays as it is.

    `opening` is how sources are read: a reference is read alike, but for columns that it does not have; those that sources
    are `lacking` it has to have.
    """
    if not given:
        return None
    texts = [given] if isinstance(given, str) else given
    opens = [not names or (text not in labels and names_file(text)) for text in texts]
    if any(opens) and not all(opens):
        problem = "several references are a file for each collection, in their order"
        raise DataError(f"there is no file {texts[opens.index(False)]}: {problem}")
    for text in texts:
        gone = looks_like_file(text) and not os.path.exists(os.path.expanduser(text))
        if labels and not any(opens) and text not in labels and gone:
            raise DataError("there is no such file, and no measure of that name", file=text)
    opened: list[Any] = []
    absent = dict[str, DataError]()
    for text in texts:
        opened.append(_open_reference(text, measure, opening, absent) if all(opens) else text)
    for column, error in (lacking or {}).items():
        if not all(opens) or column in absent:
            raise error
    return opened[0] if isinstance(given, str) else opened


def _open_reference(
    name: str, measure: str | None, opening: Mapping[str, Any], lacking: dict[str, DataError]
) -> Scores:
    from metaeval.datasets.open import open_scores
    from metaeval.io.detect import FormatError

    options = {what: value for what, value in opening.items() if what not in ("format", "collection")}
    try:
        return _read_by_columns(partial(open_scores, name, measure), options, lacking)
    except FormatError:  # what is said of the sources holds for a file that does not tell its format itself
        if opening.get("format") is None:
            raise
        return open_scores(name, measure, format=opening["format"], **options)


def open_partial(name: str, values: Values) -> Any:
    """Return the scores of people that an option names, of which some are missing."""
    from metaeval.io.partial_scores import read_partial
    from metaeval.io.table import ColumnsError

    if not names_file(name):
        raise DataError("there is no such file", file=name)
    try:
        return read_partial(name, columns=parse_columns(values.columns), doubled=values.doubled)
    except ColumnsError:  # its columns may have their usual names
        return read_partial(name, doubled=values.doubled)


def find_directions(values: Values) -> dict[str, Any]:
    """Return the directions that the command line states, as functions take them."""
    return parse_directions(*(getattr(values, name) for name in DIRECTIONS))


def read_gold(gold: str, values: Values, **others: Any) -> Runs:
    """Read a gold file, and the run files or the folder beside it."""
    from metaeval.io import read_runs
    from metaeval.io.formats import RUN_FORMATS

    runs, layout = values.runs, values.layout
    for path in (gold, *(runs or ())):
        if not names_file(path):
            raise DataError("there is no such file or folder", file=path)
    if layout is None:
        raise MetaevalError("say how the files are laid out: --layout semeval-c, judgements, … (metaeval score --help)")
    # The gold of some formats may have a column for every judge.
    if not runs and not (layout in RUN_FORMATS and RUN_FORMATS[layout].alone):
        raise MetaevalError("name at least one run file, or a folder of them, besides the gold file")
    return read_runs(
        gold,
        None if not runs else runs if len(runs) > 1 else runs[0],
        format=layout,
        classes=parse_classes(values.classes),
        aspect=values.aspect,
        missing=values.missing,
        invalid=values.invalid,
        rescale=values.rescale,
        columns=parse_columns(values.columns),
        **others,
    )


def open_annotations(values: Values) -> Any:
    """Return the labels of people and judges, of two files or of a data set."""
    from metaeval.data.annotations import Annotations
    from metaeval.datasets import load_dataset
    from metaeval.io import read_annotations

    people, columns, separator, missing = values.people, values.columns, values.separator, values.missing
    if values.answers is None:
        if Path(people).exists():
            raise MetaevalError(f"{people} is a file: name the file of the judges after it, and --classes")
        if values.classes or columns or separator is not None or missing != "raise":
            raise MetaevalError("--classes, --columns, --separator and --missing are for files; a data set has its own")
        annotations = load_dataset(people)
        if not isinstance(annotations, Annotations):
            raise MetaevalError(f"{people} does not hold the labels of several people (metaeval data list)")
        return annotations
    classes = parse_classes(values.classes)
    if classes is None:
        raise MetaevalError("two files need --classes: all of them, in their order")
    return read_annotations(
        people, values.answers, classes=classes, columns=parse_columns(columns), separator=separator, missing=missing
    )


def open_judged_runs(values: Values) -> Any:
    """Return runs with several sets of judgements, of files."""
    from metaeval.io import read_judged_runs

    return read_judged_runs(values.judgements, values.runs, missing=values.missing, collection=values.collection)
