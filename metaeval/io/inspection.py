"""What a file of scores is taken for, what is in it, and what is odd about it: facts that are told before any analysis."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.data.cells import DoubledPolicy
from metaeval.data.columns import COLUMNS
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import PartialScores, Scores, find_identical_runs
from metaeval.data.totals import is_total
from metaeval.errors import DataError, MetaevalWarning
from metaeval.files import PathLike, is_folder, stem
from metaeval.io.detect import find_format
from metaeval.io.formats import READ_FORMATS, choose_format
from metaeval.io.layout import LAYOUTS, Layout, find_layout
from metaeval.io.table import is_gap
from metaeval.io.tables import open_cells, open_once
from metaeval.io.tidy import make_rows, split_collections
from metaeval.stats.arrays import average


@dataclass(frozen=True)
class CollectionFacts:
    """What one collection of a source holds.

    `missing` of `cells` combinations of run, topic and measure have no score, `doubled` ones several, and the scores of
    `unlike` of these differ. `complete` says how many runs and how many topics have all scores. Of a source that could
    not be read, nothing is known of `tied` means, of `constant` measures and of `identical` runs.
    """

    name: str
    runs: int
    topics: int
    measures: tuple[str, ...]
    cells: int
    missing: int = 0
    doubled: int = 0
    unlike: int = 0
    complete: tuple[int, int] = (0, 0)
    directions: tuple[str, ...] = ()
    tied: tuple[int, ...] = ()
    constant: tuple[str, ...] = ()
    identical: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Inspection:
    """What a source is taken for, and what is in it; `refusal` is why it cannot be read as it is.

    `columns` holds what columns hold, with their names; `notes` are what reading it said.
    """

    source: str
    format: str = ""
    layout: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()
    collections: tuple[CollectionFacts, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str | None = None


def inspect_scores(
    source: PathLike,
    *,
    format: str | None = None,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    doubled: DoubledPolicy = "raise",
) -> Inspection:
    r"""What is a file of scores taken for, and what is in it?

    Parameters
    ----------
    source : path
        A file or folder in any of the `READ_FORMATS`.
    format, measure, collection, missing, columns, doubled
        As for `metaeval.io.read_scores`.

    Returns
    -------
    Inspection
        Its `refusal` is what `read_scores` would raise.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mt.csv"
    >>> _ = path.write_text("system,segment,BLEU,TER\na,1,30.5,40\nb,1,28,45\na,2,20,60\n")
    >>> found = inspect_scores(path)
    >>> found.format, found.columns
    ('measures', (('run', 'system'), ('topic', 'segment'), ('scores', 'BLEU'), ('scores', 'TER')))
    >>> found.collections[0].missing, found.refusal.partition(": ")[2][:60]
    (2, 'run b, topic 2, measure BLEU: there is no score; 2 are missi')
    """
    layout, chosen, refusal = None, None, None
    read: list[Scores] = []
    with open_once(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MetaevalWarning)
        try:
            chosen = find_format(source, columns) if format is None else choose_format(format, READ_FORMATS)
            if chosen.name in LAYOUTS and not is_folder(source):
                layout = find_layout(open_cells(source), columns, chosen.name)
            read = chosen.read_collections(
                source,
                measure=measure,
                collection=collection,
                missing=missing,
                columns=columns or None,
                doubled=None if doubled == "raise" else doubled,
            )
        except DataError as error:
            refusal = str(error)
        facts = _count(layout, source, measure, collection) if layout is not None else {}
    return Inspection(
        source=str(source),
        format="" if chosen is None else chosen.name,
        layout="" if chosen is None else chosen.layout.replace("`", ""),
        columns=() if layout is None else _list_columns(layout),
        unused=() if layout is None else tuple(layout.table.header[j] for j in layout.unused),
        collections=_join(read, facts),
        notes=tuple(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, MetaevalWarning))),
        refusal=refusal,
    )


def _list_columns(layout: Layout) -> tuple[tuple[str, str], ...]:
    header = layout.table.header
    named = [(role, header[j]) for role, j in layout.roles.items() if role != "score"]
    what = {"wide": "runs", "transposed": "topics"}.get(layout.kind, "scores")
    shown = [header[j] for j in layout.scores]
    if len(shown) > 6:
        shown = [*shown[:4], f"… {len(shown) - 5} more", shown[-1]]
    return (*named, *((what, name) for name in shown))


def _count(layout: Layout, source: PathLike, measure: str | None, collection: str | None) -> dict[str, CollectionFacts]:
    """Return what a table holds, also where it cannot be read as it is."""
    table = layout.table
    if layout.kind in ("wide", "transposed"):
        gaps = np.array([[is_gap(cell) for cell in table.columns[j]] for j in layout.scores])
        gaps = gaps if layout.kind == "wide" else gaps.T
        complete = int((~gaps.any(axis=1)).sum()), int((~gaps.any(axis=0)).sum())
        runs, topics = gaps.shape
        name = (measure or stem(source),)
        return {"": CollectionFacts("", runs, topics, name, gaps.size, int(gaps.sum()), complete=complete)}
    frame, _ = make_rows(layout, measure)
    parts = split_collections(frame, layout, collection, stem(source))
    return {name: _count_rows(name, frame if rows is None else frame[rows]) for name, rows in parts}


def _count_rows(name: str, frame: pd.DataFrame) -> CollectionFacts:
    totals = frame["topic"].map(str).map(is_total).to_numpy()
    frame = frame if totals.all() else frame[~totals]
    codes, labels = zip(*(pd.factorize(frame[role].map(str)) for role in COLUMNS[:3]), strict=True)
    shape = tuple(map(len, labels))
    cells = int(np.prod(shape, dtype=object))
    there = ~np.array([is_gap(cell) for cell in frame["score"]])
    keys = pd.DataFrame(dict(zip(COLUMNS[:3], codes, strict=True)))[there]
    several = keys.assign(score=[str(cell) for cell in frame["score"][there]]).groupby(list(COLUMNS[:3]))["score"]
    sizes, kinds = several.size().to_numpy(), several.nunique().to_numpy()
    once = keys.drop_duplicates()
    complete = tuple(
        int((np.bincount(once[role], minlength=shape[axis]) == cells // shape[axis]).sum())
        for axis, role in enumerate(COLUMNS[:2])
    )
    return CollectionFacts(
        name, shape[0], shape[1], tuple(map(str, labels[2])), cells, missing=cells - len(once),
        doubled=int((sizes > 1).sum()), unlike=int((kinds > 1).sum()), complete=(complete[0], complete[1]),
    )  # fmt: skip


def _join(read: list[Scores], facts: dict[str, CollectionFacts]) -> tuple[CollectionFacts, ...]:
    """Return what is known of every collection: counts of the table, and what only scores tell."""
    if not read:
        return tuple(facts.values())
    return tuple(_describe(scores, facts.get(scores.collection) or facts.get("")) for scores in read)


def _describe(scores: Scores, counted: CollectionFacts | None) -> CollectionFacts:
    gaps = isinstance(scores, PartialScores)
    means = average(np.moveaxis(scores.values, 1, -1)) if gaps else scores.values.mean(axis=1)
    runs, topics = scores.values.shape[:2]
    known = counted or CollectionFacts(scores.collection, runs, topics, (), scores.values.size, complete=(runs, topics))
    names = tuple(str(measure) for measure in scores.measures)
    constant = tuple(name for m, name in enumerate(names) if (scores.values[..., m] == scores.values[0, 0, m]).all())
    return replace(
        known,
        name=scores.collection,
        measures=names,
        directions=tuple(f"{measure.direction} is better" for measure in scores.measures),
        tied=tuple(_count_ties(means[:, m]) for m in range(len(names))),
        constant=constant,
        identical=find_identical_runs(scores),
    )


def _count_ties(means: np.ndarray) -> int:
    """Return how many pairs of runs have the same mean."""
    sizes = np.unique(means[~np.isnan(means)], return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())
