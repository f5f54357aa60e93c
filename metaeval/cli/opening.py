"""Opening what the options of a command name: sources with some of their measures, and references."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metaeval.cli.options import DIRECTIONS, OPENING, OPTIONS, SCORES, Option, Options, argument, take
from metaeval.cli.output import working
from metaeval.errors import DataError, MetaevalError
from metaeval.io.formats import parse_columns

if TYPE_CHECKING:
    from metaeval.data.ratings import Ratings
    from metaeval.data.runs import Runs
    from metaeval.data.scores import Scores


def names_file(text: str) -> bool:
    """Say whether a text names a file or standard input, where that or a measure of the data may be named."""
    from metaeval.files import is_standard_input
    from metaeval.measures.user_file import labels_only

    return not labels_only() and (is_standard_input(text) or os.path.exists(os.path.expanduser(text)))


def read_columns(values: Any) -> dict[str, str] | None:
    """Return what the command line says of columns, those of clusters and repeats among them."""
    columns = parse_columns(values.columns) or {}
    for what in ("cluster", "repeat", "judge", "task"):
        name = getattr(values, f"{what}s", None)
        if name is not None and columns.setdefault(what, name) != name:
            raise MetaevalError(f"--columns {what}={columns[what]} and --{what}s {name} name two columns: name one")
    return columns or None


def read_opening(values: Any) -> dict[str, Any]:
    """Return how sources are opened, as `open_scores` takes it."""
    return {name: getattr(values, name, None) for name in OPENING} | {"columns": read_columns(values)}


def find_directions(values: Any) -> dict[str, Any]:
    """Return the directions of named measures, and of every other one, as functions take them."""
    lower, higher, every = (getattr(values, name) for name in DIRECTIONS)
    return {"lower_is_better": lower or (), "higher_is_better": every or higher or ()}


def open_sources(values: Any) -> list[Scores]:
    """Open sources with chosen measures and stated directions, and the reference, which takes the place of its name."""
    from metaeval.data.scores import Scores, only_collection, state_directions
    from metaeval.datasets.open import open_collections
    from metaeval.files import open_once

    references, opens = getattr(values, "reference", None) or [], hasattr(values, "reference_measure")
    files = [text for text in references if opens and names_file(text)]
    wanted = dict.fromkeys([*(values.measure or ()), *(text for text in references if text not in files)])
    opening, absent, opened = read_opening(values), dict[str, list[DataError]](), list[Scores]()
    several = isinstance(values.source, list)
    sources = values.source if several else [values.source]
    with open_once():
        for source in sources:
            with working(f"reading {source}"):
                # A reference that names a file may be one of the labels nevertheless.
                optional = files if names_file(source) else ()
                read = partial(open_collections, source, [*wanted] if values.measure else None, optional=optional)
                found = _read_by_columns(read, opening, absent if files else None)
                opened += found if several else [only_collection(found, source)]
    if opens and references:
        labels = {str(measure) for scores in opened for measure in scores.measures}
        if values.annotators and opening["missing"] == "raise":
            opening["missing"] = "keep"  # the mean is of those who scored
        measure = values.reference_measure
        references = open_references(references, opening, labels=labels, measure=measure, absent=absent)
    n_files = len(sources) + sum(isinstance(each, Scores) for each in references)
    for errors in absent.values():
        if len(errors) == n_files:  # no file has the column
            raise errors[0]
    # References of their own have the stated directions too, and so have people's labels.
    people = getattr(values, "people", None)
    further = [people.scores] if people else [each for each in references if isinstance(each, Scores)]
    turned = state_directions([*opened, *further], **find_directions(values))
    opened, further = turned[: len(opened)], turned[len(opened) :]
    if people:
        values.people = people._replace(scores=further[0])
    elif opens and references:
        references = further or references
        values.reference = references if len(references) > 1 else references[0]
    return opened


def _read_by_columns(
    read: Callable[..., Any], opening: Mapping[str, Any], absent: dict[str, list[DataError]] | None
) -> Any:
    """Read a file by those of the stated columns that it has; `absent` takes the errors about others, unless there is none."""
    from metaeval.io.table import ColumnsError

    columns = dict(opening["columns"] or {})
    while True:
        try:
            return read(**{**opening, "columns": columns or None})
        except ColumnsError as error:
            without = {what: name for what, name in columns.items() if name != error.value}
            if absent is None or without == columns:
                raise
            absent.setdefault(str(error.value), []).append(error)
            columns = without


def join_runs(opened: list[Scores], sources: list[str]) -> list[Scores]:
    """Join sources that score other runs on the same topics to one collection, such as the logs of two models."""
    import numpy as np

    from metaeval.data.scores import Scores, hold_scores

    if len(opened) < 2 or len(opened) != len(sources):
        return opened
    named = list(zip(opened, [Path(source).stem for source in sources], strict=True))
    run = opened[0].runs[0]
    if all(scores.runs == (run,) and [*map(str, scores.measures)] == [stem] for scores, stem in named):
        # Tables of items with one column of scores name no run: each file is one, and the column is the measure.
        named = [
            (Scores(scores.values, runs=[stem], measures=[run], **scores.named("topics", "clusters")), stem)
            for scores, stem in named
        ]
    groups: dict[object, list[tuple[Scores, str]]] = {}
    for scores, stem in named:
        groups.setdefault((frozenset(scores.topics), frozenset(map(str, scores.measures))), []).append((scores, stem))
    joined: list[Scores] = []
    for parts in groups.values():
        runs = [run for scores, _ in parts for run in scores.runs]
        names = dict.fromkeys(scores.collection for scores, _ in parts)
        if len(names) == 1:  # of two logs of one model, runs are called after their files too
            runs = [f"{run} ({stem})" if runs.count(run) > 1 else run for scores, stem in parts for run in scores.runs]
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


def open_references(
    texts: list[str],
    opening: Mapping[str, Any],
    *,
    labels: Collection[str] | None = None,
    measure: str | None = None,
    absent: dict[str, list[DataError]] | None = None,
) -> list[Any]:
    """Open the files that an option names, alike but for columns that they lack; `labels` and what is no file stay names."""
    from metaeval.datasets.open import open_scores
    from metaeval.io.layout import FormatError

    opens = [labels is None or (text not in labels and names_file(text)) for text in texts]
    if not any(opens):
        return texts
    if not all(opens):
        problem = "several references are a file for each collection, in their order"
        raise DataError(f"there is no file {texts[opens.index(False)]}: {problem}")
    options = {what: value for what, value in opening.items() if what not in ("format", "collection")}
    opened: list[Any] = []
    for text in texts:
        try:
            opened.append(
                _read_by_columns(partial(open_scores, text, measure), options, {} if absent is None else absent)
            )
        except FormatError:  # what is said of the sources holds for a file that does not tell its format itself
            if opening.get("format") is None:
                raise
            opened.append(open_scores(text, measure, format=opening["format"], **options))
    return opened


def open_run_scores(given: list[str] | None, values: Any) -> list[Any] | None:
    """Return the scores in the files that an option names."""
    return open_references(given, read_opening(values)) if given else None


def open_partial(name: str, values: Any) -> Any:
    """Return the scores of people that an option names, of which some are missing, by the stated columns that it has."""
    from metaeval.io.partial_scores import read_partial

    if not names_file(name):
        raise DataError("there is no such file", file=name)
    stated = {"columns": parse_columns(values.columns), "doubled": values.doubled}
    return _read_by_columns(partial(read_partial, name), stated, {})


def open_ratings(values: Any) -> Ratings:
    """Return the ratings in a table, gaps and all, or the scores of a data set, a store or a file of another format."""
    from metaeval.data.scores import only_collection
    from metaeval.datasets.open import open_collections
    from metaeval.io.partial_scores import holds_table, read_ratings, refuse_columns
    from metaeval.measures.directions import turn_measures

    source, columns, chosen = values.source, read_columns(values), values.measure
    if values.format is None and holds_table(source, columns):
        ratings = read_ratings(source, columns=columns, measure=chosen, doubled=values.doubled)
    else:
        opening = read_opening(values)
        own = {what: name for what, name in (columns or {}).items() if what not in ("repeat", "judge", "task")}
        found = open_collections(source, chosen or None, **{**opening, "columns": own or None})
        ratings = refuse_columns(only_collection(found, source), columns)
    measures = turn_measures([ratings.measures], **find_directions(values))[0]
    return replace(ratings, measures=measures, collection=values.collection or ratings.collection)


def read_gold(values: Any, **others: Any) -> Runs:
    """Read a gold file, and the run files or the folder beside it."""
    from metaeval.io import read_runs

    runs, layout = values.runs, values.layout
    if layout is None:
        raise MetaevalError("say how the files are laid out: --layout labels, probabilities, … (metaeval help reading)")
    options = {name: getattr(values, name) for name in ("aspect", "missing", "invalid", "rescale", "collection")}
    options |= {"classes": _parse_classes(values.classes), "columns": parse_columns(values.columns)}
    return read_runs(values.gold, runs[0] if runs and len(runs) == 1 else runs, format=layout, **options, **others)


def _parse_classes(text: str | None) -> list[str] | None:
    return None if text is None else [label.strip() for label in text.split(",")]


def open_annotations(values: Any) -> Any:
    """Return the labels of people and judges, of two files or of a data set."""
    from metaeval.data.annotations import Annotations
    from metaeval.datasets import load_dataset
    from metaeval.io import read_annotations

    people, classes = values.people, _parse_classes(values.classes)
    options = {"columns": parse_columns(values.columns), "separator": values.separator, "missing": values.missing}
    if values.judges is None and not Path(people).exists():
        if [classes, *options.values()] != [None, None, None, "raise"]:
            raise MetaevalError("--classes, --columns, --separator and --missing are for files; a data set has its own")
        annotations = load_dataset(people)
        if not isinstance(annotations, Annotations):
            raise MetaevalError(f"{people} does not hold the labels of several people (metaeval data list)")
        return annotations
    if values.judges is None or classes is None:
        raise MetaevalError("name a file of people, one of judges after it, and --classes: all of them, in their order")
    return read_annotations(people, values.judges, classes=classes, **options)


def open_judged_runs(values: Any) -> Any:
    """Return runs with several sets of judgements, of files."""
    from metaeval.io import read_judged_runs

    return read_judged_runs(values.judgements, values.runs, missing=values.missing, collection=values.collection)


SUBJECTS: dict[str, tuple[Options, Options, Callable[[Any], Any] | None]] = {
    "Sequence": ({"source": OPTIONS["sources"]} | take("measure"), SCORES, None),
    "MeasureLike": (take("measures"), {}, lambda values: values.measures),
    "Ratings": (
        take("source", "measure"),
        take("collection", "format", "columns", "doubled", "repeats", "judges", "tasks") | DIRECTIONS,
        open_ratings,
    ),
    "Annotations": (
        {
            "people": argument("A table of people's labels; or, without JUDGES, the name of a data set"),
            "judges": argument("A table of judges' labels", str | None, None),
            "separator": Option("What stands between topic and item in names of items: __ in doc7__fluency"),
        },
        take("classes", "missing", "columns"),
        open_annotations,
    ),
    "JudgedRuns": (
        {
            "judgements": argument("Judgements, topic 0 document grade: people's file first, then judges'", list[str]),
            "runs": Option("A folder of runs, or a run; may be repeated", list[str], ...),
        },
        take("collection", "missing"),
        open_judged_runs,
    ),
    "Scores": (take("source", "measure"), SCORES, None),
}
"""By the first type that a function takes: options that name it, those of its reading, and what opens it if it is no scores."""
