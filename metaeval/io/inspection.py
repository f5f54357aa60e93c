"""What a file of scores is taken for, what is in it, and what is odd about it: facts that are told before any analysis."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from metaeval.data.columns import COLUMNS
from metaeval.data.rows import Rows, split_collections
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalWarning, PolicyWarning
from metaeval.files import PathLike, is_folder, open_once, stem
from metaeval.io.detect import find_format
from metaeval.io.formats import READ_FORMATS, choose_format
from metaeval.io.layout import LAYOUTS
from metaeval.io.scores import Reading, read_collections
from metaeval.io.table import is_gap, list_sheets, open_cells
from metaeval.io.tables import rows_of_table
from metaeval.measures.resolve import split_stem
from metaeval.stats.oddities import is_total


@dataclass(frozen=True)
class CollectionFacts:
    """What one collection of a source holds: `missing` of its `cells` have no score, `doubled` ones several."""

    name: str
    runs: int
    topics: int
    measures: tuple[str, ...]
    cells: int
    missing: int
    doubled: int = 0
    directions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """What a source is taken for, and what is in it; `refusal` is why it cannot be read, `notes` what reading it said."""

    source: str
    format: str = ""
    layout: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()
    collections: tuple[CollectionFacts, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str | None = None


def inspect_scores(source: PathLike, **options: Unpack[Reading]) -> Inspection:
    r"""What is a file of scores taken for, and what is in it?

    Parameters
    ----------
    source : path
    **options
        As for `metaeval.io.read_scores`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mt.csv"
    >>> _ = path.write_text("system,segment,BLEU,TER\na,1,30.5,40\nb,1,28,45\na,2,20,60\n")
    >>> inspect_scores(path).refusal.partition(": ")[2][:60]
    'run b, topic 2, measure BLEU: there is no score; 2 are missi'
    """
    found, chosen, refusal = None, None, None
    read: list[Scores] = []
    columns, measure = options.get("columns"), options.get("measure")
    with open_once(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MetaevalWarning)
        try:
            format = options.get("format")
            chosen = find_format(source, columns) if format is None else choose_format(format, READ_FORMATS)
            if chosen.name in LAYOUTS and not is_folder(source) and len(list_sheets(source)) < 2:
                named = measure or (split_stem(stem(source))[1] if chosen.name in ("wide", "transposed") else None)
                found = rows_of_table(open_cells(source), kind=chosen.name, columns=columns, measure=named, note=False)
            options["format"] = chosen.name
            read = read_collections(source, **options)
        except DataError as error:
            refusal = str(error)
    layout, rows = found or (None, Rows.of({}))
    parts = split_collections(replace(rows, name=stem(source)), options.get("collection")) if layout else ()
    facts = {name: _count_rows(name, part) for name, part in parts}
    listed: list[tuple[str, str]] = []
    if layout is not None:
        what, shown = {"wide": "runs", "transposed": "topics"}.get(layout.kind, "scores"), list(layout.scores)
        shown = [*shown[:4], f"… {len(shown) - 5} more", shown[-1]] if len(shown) > 6 else shown
        listed = [
            *((role, name) for role, name in layout.roles.items() if role != "score"),
            *((what, name) for name in shown),
        ]
    return Inspection(
        source=str(source),
        format=chosen.name if chosen else "",
        layout=chosen.layout.replace("`", "") if chosen else "",
        columns=tuple(listed),
        unused=layout.unused if layout else (),
        collections=tuple(_describe(scores, facts.get(scores.collection) or facts.get("")) for scores in read)
        or tuple(facts.values()),
        notes=tuple(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, PolicyWarning))),
        refusal=refusal,
    )


def _count_rows(name: str, rows: Rows) -> CollectionFacts:
    keys = list(COLUMNS[:3])
    frame = rows.frame.assign(**{role: rows.frame[role].astype(str) for role in keys})
    totals = frame["topic"].map(is_total)
    frame = frame if totals.all() else frame[~totals]
    runs, topics, measures = (tuple(frame[role].unique()) for role in keys)
    cells = len(runs) * len(topics) * len(measures)
    counts = frame[[not is_gap(cell) for cell in frame["score"]]].value_counts(keys)
    doubled = int((counts > 1).sum())
    return CollectionFacts(name, len(runs), len(topics), measures, cells, cells - len(counts), doubled)


def _describe(scores: Scores, counted: CollectionFacts | None) -> CollectionFacts:
    runs, topics, _ = scores.values.shape
    known = counted or CollectionFacts("", runs, topics, (), scores.values.size, int(np.isnan(scores.values).sum()))
    return replace(
        known,
        name=scores.collection,
        measures=tuple(map(str, scores.measures)),
        directions=tuple(f"{measure.direction} is better" for measure in scores.measures),
    )
