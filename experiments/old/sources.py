"""What the studies of ACL 2021 and LQ 2021 share: where collections come from, how they are scored, the walk over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

import metaeval
from experiments.old.comparison import Cell, Relation, cell
from experiments.old.outcome import SIMULATED, Outcome, Settings
from experiments.simulate.campaigns import campaign
from metaeval.errors import DatasetError

ORIGINAL = "original"
"""The source whose data are the paper's own; with it alone is agreement claimed."""

SOURCES_ARE = {
    ORIGINAL: "the published score matrices, which cannot be downloaded by a program; with them every number is compared "
    "with print. The path is tested with simulated matrices written in that layout.",
    "stc3": "dialogues of NTCIR-14 STC-3 with 22 runs, two of them baselines: the gold is the paper's own, the "
    "baselines are made from it, the other runs are one team's.",
    "llmjudge": "33 runs on 25 topics, as classification and, by shares of classes, as quantification.",
    "semeval2017-runs": "half of the tweets of SemEval-2017 Task 4 C (topics of one word) with the runs of 14 of its 15 "
    "teams and the five constant baselines: 19 of the paper's 20 runs.",
    "semeval": "SemEval's gold with runs that always answer one class, in 2016 with PotTS: six and five runs.",
    "stand-in": "simulated campaigns of the papers' shapes: what holds there says what measures do with such data, nothing "
    "about the real campaigns.",
}
"""What each source of data is."""

RELATIONS: dict[str, Relation] = {ORIGINAL: "the paper's", "semeval2017-runs": "subset", "stand-in": "stand-in"}
"""How the data of a source are related to those of the paper; in kind where it does not say."""

QUICK_SOURCES = (ORIGINAL, "stc3")

Compute = Callable[[str, dict[str, metaeval.Scores], Settings], Outcome]
"""From a source and its scores, by the paper's name of the collection in whose place they stand, to its outcome."""


def find_relation(source: str) -> Relation:
    """Return how the data of a source are related to those of the paper.

    Examples
    --------
    >>> find_relation("original"), find_relation("llmjudge"), find_relation("stand-in")
    ("the paper's", 'in kind', 'stand-in')
    """
    return RELATIONS.get(source, "in kind")


def compute_sources(
    paper: str, study: Mapping[str, Any], measures: Mapping[str, Sequence[str]], compute: Compute, settings: Settings
) -> tuple[list[Outcome], list[str]]:
    """Compute every source of a paper that can be loaded."""
    outcomes, notes = [], []
    for source, collections in study["sources"].items():
        if settings.quick and source not in QUICK_SOURCES:
            continue
        settings.say(f"{paper}: {source}")
        outcome = compute_source(source, collections, measures, compute, settings)
        if outcome is None:
            notes.append(f"{source}: none of its collections could be loaded")
        else:
            outcomes.append(outcome)
    return outcomes, notes


def compute_source(
    source: str,
    collections: Mapping[str, str | Sequence[str]],
    measures: Mapping[str, Sequence[str]],
    compute: Compute,
    settings: Settings,
) -> Outcome | None:
    """Compute what one source has the data for."""
    scores, missing = gather_scores(collections, measures, settings)
    if not scores:
        return None
    outcome = compute(source, scores, settings)
    if source != ORIGINAL:
        standing = ", ".join(f"{name} = {each.collection}" for name, each in scores.items())
        outcome.notes.insert(0, f"in place of the paper's: {standing}")
    if missing:
        outcome.lacks = list(missing)
        outcome.notes.append(f"{', '.join(missing)} could not be loaded ({next(iter(missing.values()))})")
    return outcome


def list_given(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the collections of the paper's own data that were given, as the paper calls them."""
    cells = [one for outcome in outcomes if outcome.source == ORIGINAL for one in outcome.cells]
    return [one.row for one in cells if one.column == "runs" and one.reproduced is not None]


def describe_given(outcomes: Sequence[Outcome]) -> str:
    """Say how the printed numbers came out on the paper's own data that were given; empty where none were."""
    cells = [one for outcome in outcomes if outcome.source == ORIGINAL for one in outcome.cells]
    counts = Counter(one.verdict for one in cells if one.reproduced is not None)
    if not counts:
        return ""
    return (
        f"Compared on the data given for {', '.join(list_given(outcomes))}: of {sum(counts.values())} printed numbers that "
        f"they decide {counts['exact']} are exact, {counts['matches']} match within their error and {counts['differs']} differ"
    )


def load_scores(names: str | Sequence[str], measures: Sequence[str], settings: Settings) -> metaeval.Scores:
    """Return the scores of the first data set of a list that can be loaded, simulated where its name says so."""
    loaded = load_runs_or_scores(names, settings)
    return (
        loaded.sel(measures=list(measures)) if isinstance(loaded, metaeval.Scores) else metaeval.score(loaded, measures)
    )


def load_runs_or_scores(names: str | Sequence[str], settings: Settings) -> Any:
    """Return the first data set of a list that can be loaded, as it is: runs with gold, or scores."""
    tried = [names] if isinstance(names, str) else list(names)
    for number, name in enumerate(tried, start=1):
        try:
            simulated = name.startswith(SIMULATED)
            return campaign(name.removeprefix(SIMULATED), settings.seed) if simulated else settings.load(name)
        except DatasetError:
            if number == len(tried):
                raise
    raise metaeval.MetaevalError("no data set was named")


def gather_scores(
    sources: Mapping[str, str | Sequence[str]], measures: Mapping[str, Sequence[str]], settings: Settings
) -> tuple[dict[str, metaeval.Scores], dict[str, str]]:
    """Return the scores of every collection of a source that can be loaded, and why the others cannot."""
    scores: dict[str, metaeval.Scores] = {}
    missing: dict[str, str] = {}
    for name, data in sources.items():
        try:
            scores[name] = load_scores(data, measures[name], settings)
        except DatasetError as error:
            missing[name] = str(error)
    return scores, missing


def tabulate_collections(
    number: int, scores: Mapping[str, metaeval.Scores], printed: Mapping[str, Sequence[int]]
) -> metaeval.Table:
    """Return which collections stand in the places of the paper's, and how large either is."""
    rows = {
        name: [each.collection, len(each.topics), len(each.runs), *printed[name][1:]] for name, each in scores.items()
    }
    columns = ["data here", "topics", "runs", "topics in print", "runs in print"]
    frame = pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="collection"), columns=columns)
    caption = f"Table {number}. The paper's collections and the data that stand in their places here."
    data = ", ".join(f"{each.collection}@{each.fingerprint}" for each in scores.values())
    return metaeval.Table(frame, caption, f"collections | {data} | metaeval {metaeval.__version__}")


def compare_collections(
    number: int, scores: Mapping[str, metaeval.Scores], printed: Mapping[str, Sequence[int]], relation: Relation
) -> list[Cell]:
    """Return the numbers of topics and runs beside those printed."""
    cells = []
    for name, (_, topics, runs) in printed.items():
        stand_in = scores.get(name)
        for column, size, value in (
            ("topics", topics, stand_in and len(stand_in.topics)),
            ("runs", runs, stand_in and len(stand_in.runs)),
        ):
            data = "" if stand_in is None else stand_in.collection
            cells.append(cell(f"Table {number}", name, column, size, value, data=data, relation=relation))
    return cells


def find_run(runs: Iterable[str], part: str) -> str | None:
    """Return the first run whose name holds a part.

    Examples
    --------
    >>> find_run(["x", "A_BL-uniform-C"], "BL-uniform"), find_run(["x"], "BL-uniform")
    ('A_BL-uniform-C', None)
    """
    return next((run for run in runs if part in run), None)
