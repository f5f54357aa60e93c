"""What the studies of ACL 2021 and LQ 2021 share: where collections come from, and how they are scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.simulate.campaigns import campaign
from experiments.study import Settings
from metaeval.errors import DatasetError

SIMULATED = "simulated: "


def scores_of(names: str | Sequence[str], measures: Sequence[str], settings: Settings) -> metaeval.Scores:
    """Return the scores of the first data set of a list that can be had, simulated where its name says so.

    Parameters
    ----------
    names : str or sequence of str
    measures : sequence of str
    settings : Settings

    Returns
    -------
    Scores

    Raises
    ------
    MetaevalError
        If none can be had, or one that is there cannot be read.
    """
    found = runs_or_scores(names, settings)
    return found.sel(measures=list(measures)) if isinstance(found, metaeval.Scores) else metaeval.score(found, measures)


def runs_or_scores(names: str | Sequence[str], settings: Settings) -> Any:
    """Return the first data set of a list that can be had, as it is: runs with gold, or scores.

    Parameters
    ----------
    names : str or sequence of str
    settings : Settings

    Returns
    -------
    ClassificationRuns, QuantificationRuns or Scores

    Raises
    ------
    MetaevalError
        If none can be had, or one that is there cannot be read.
    """
    tried = [names] if isinstance(names, str) else list(names)
    for number, name in enumerate(tried, start=1):
        try:
            simulated = name.startswith(SIMULATED)
            return campaign(name.removeprefix(SIMULATED), settings.seed) if simulated else settings.load(name)
        except DatasetError:
            if number == len(tried):
                raise
    raise metaeval.MetaevalError("no data set was named")


def gathered(
    sources: Mapping[str, str | Sequence[str]], measures: Mapping[str, Sequence[str]], settings: Settings
) -> tuple[dict[str, metaeval.Scores], dict[str, str]]:
    """Return the scores of every collection of a source that can be had, and why the others cannot.

    Parameters
    ----------
    sources : mapping of str to str or sequence of str
        Data sets by the paper's name of the collection.
    measures : mapping of str to sequence of str
        By the paper's name of the collection.
    settings : Settings

    Returns
    -------
    scores : dict of str to Scores
    missing : dict of str to str

    Raises
    ------
    MetaevalError
        If a collection is there but cannot be read: that is to be put right, not passed over.
    """
    scores: dict[str, metaeval.Scores] = {}
    missing: dict[str, str] = {}
    for name, data in sources.items():
        try:
            scores[name] = scores_of(data, measures[name], settings)
        except DatasetError as error:
            missing[name] = str(error)
    return scores, missing


def collections_table(
    number: int, scores: Mapping[str, metaeval.Scores], printed: Mapping[str, Sequence[int]]
) -> metaeval.Table:
    """Return which collections stand in the places of the paper's, and how large either is.

    Parameters
    ----------
    number : int
        The table's number in the paper.
    scores : mapping of str to Scores
        By the paper's name of the collection.
    printed : mapping of str to sequence of int
        Classes, topics and runs as printed.

    Returns
    -------
    Table
    """
    rows = {name: [one.collection, len(one.topics), len(one.runs), *printed[name][1:]] for name, one in scores.items()}
    columns = ["data here", "topics", "runs", "topics in print", "runs in print"]
    frame = pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="collection"), columns=columns)
    caption = f"Table {number}. The paper's collections and the data that stand in their places here."
    data = ", ".join(f"{one.collection}@{one.sha256[:12]}" for one in scores.values())
    return metaeval.Table(frame, caption, f"collections | {data} | metaeval {metaeval.__version__}")


def collections_cells(
    number: int, scores: Mapping[str, metaeval.Scores], printed: Mapping[str, Sequence[int]], *, same_data: bool
) -> list[Cell]:
    """Return the numbers of topics and runs beside those printed.

    Parameters
    ----------
    number : int
        The table's number in the paper.
    scores : mapping of str to Scores
    printed : mapping of str to sequence of int
    same_data : bool

    Returns
    -------
    list of Cell
    """
    cells = []
    for name, (_, topics, runs) in printed.items():
        one = scores.get(name)
        for column, said, value in (
            ("topics", topics, one and len(one.topics)),
            ("runs", runs, one and len(one.runs)),
        ):
            data = "" if one is None else one.collection
            cells.append(cell(f"Table {number}", name, column, said, value, data=data, same_data=same_data))
    return cells


def run_called(runs: Iterable[str], part: str) -> str | None:
    """Return the first run whose name holds a part.

    Examples
    --------
    >>> run_called(["x", "A_BL-uniform-C"], "BL-uniform"), run_called(["x"], "BL-uniform")
    ('A_BL-uniform-C', None)
    """
    return next((run for run in runs if part in run), None)
