"""The command that says what a file is taken for and what can be asked of it: inspect."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metaeval.cli.generate import Values
from metaeval.cli.options import OPENING, Option, argument
from metaeval.cli.output import print_notes, print_text, working
from metaeval.errors import format_count, format_list
from metaeval.io.formats import parse_columns

if TYPE_CHECKING:
    from metaeval.io.inspection import CollectionFacts, Inspection

INSPECT = {
    "sources": argument("Score files or folders, one or several", "FILE", kind=list[str]),
    "measure": Option("The measure of a file that holds one without its name"),
    **OPENING,
}

MOST_SHOWN = 5

REFERENCES = ("human", "mqm", "gold", "da", "people", "esa", "rating", "annotator")
"""Names of measures that are probably what people said."""


def inspect(values: Values) -> None:
    """How is a file read, what is missing in it, and which commands can use it?

    \b
    Examples:
      metaeval inspect scores.csv
      metaeval inspect board.parquet --columns collection=task --doubled latest --missing drop-run
      metaeval inspect logs/
    """
    from metaeval.datasets import datasets
    from metaeval.io.inspection import inspect_scores

    named = {dataset.name for dataset in datasets()}
    options = {name: getattr(values, name) for name in (*OPENING, "measure")}
    blocks = []
    for source in values.sources:
        if source in named and not Path(source).exists():
            blocks.append(f"{source}: a named data set, not a file; what it is: metaeval data info {source}")
            continue
        with working(f"reading {source}"):
            found = inspect_scores(source, **{**options, "columns": parse_columns(values.columns)})
        blocks.append("\n".join(_describe(found, values)))
        print_notes(found.notes)
    print_text("\n\n".join(blocks))


def _describe(found: Inspection, values: Values) -> Iterator[str]:
    taken = f"taken for {found.format}, {found.layout}" if found.format else "no format that is known"
    yield f"{found.source}: {taken}"
    columns: dict[str, list[str]] = {}
    for what, name in found.columns:
        columns.setdefault(what, []).append(name if name.startswith("… ") else repr(name))
    if columns:
        yield "  " + "; ".join(f"{what}: {', '.join(listed)}" for what, listed in columns.items())
    if found.unused:
        yield f"  not used: {', '.join(map(repr, found.unused))}"
    for facts in found.collections[:MOST_SHOWN]:
        yield from _describe_collection(facts, f"{facts.name}: " if len(found.collections) > 1 else "")
    if len(found.collections) > MOST_SHOWN:
        yield f"  … and {len(found.collections) - MOST_SHOWN} collections more"
    if found.refusal is not None:
        yield f"\nIt cannot be read as it is:\n  {found.refusal.removeprefix(f'{found.source}: ')}"
        return
    answers, lacks = _list_questions(found, values)
    if answers:
        width = max(len(question) for question, _ in answers)
        yield "\nIt can answer:"
        yield from (f"  {question:<{width}}  {command}" for question, command in answers)
    if lacks:
        yield "\nIt cannot answer:"
        yield from (f"  {question}: needs {lack}" for question, lack in lacks)


def _describe_collection(facts: CollectionFacts, name: str) -> Iterator[str]:
    sizes = ((facts.runs, "run"), (facts.topics, "topic"), (len(facts.measures), "measure"))
    yield f"  {name}{' × '.join(format_count(number, what) for number, what in sizes)}"
    if facts.directions:
        shown = [f"{measure} ({way})" for measure, way in zip(facts.measures, facts.directions, strict=True)]
        yield f"    measures: {format_list(shown, most=6)}"
    if facts.missing:
        share = f"{facts.missing / facts.cells:.1%}"
        yield f"    cells without a score: {facts.missing:,} of {facts.cells:,} ({share})"
    if facts.doubled:
        yield f"    cells with several scores: {facts.doubled:,}"


def _list_questions(found: Inspection, values: Values) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return questions with the command that answers each, and those that cannot be answered with what they lack."""
    facts, several = max(found.collections, key=lambda one: one.cells), len(found.collections) > 1
    first = shlex.quote(facts.measures[0])

    def spell(*names: str, **others: str) -> str:
        """Return the source with the options with which it was inspected, as a shell takes them."""
        words = [found.source]
        for name, text in ({name: getattr(values, name) for name in names} | others).items():
            if text not in (None, "raise"):
                words += ["--from" if name == "format" else f"--{name}", str(text)]
        return shlex.join(words)

    every, board = spell(*OPENING), spell("format", "columns", "doubled")
    one = spell(*OPENING, **({"collection": facts.name} if several else {}))
    compared = spell("columns", "doubled", "missing")
    two_runs, three_runs = (facts.runs >= 2, "at least 2 runs"), (facts.runs >= 3, "at least 3 runs")
    two_topics, four_topics = (facts.topics >= 2, "at least 2 topics"), (facts.topics >= 4, "at least 4 topics")
    others = (len(facts.measures) >= 2, "a second measure of the same runs and topics")
    reference = next((name for name in facts.measures if name.lower() in REFERENCES), None)
    people = (reference is not None and others[0], "what people said: --reference MEASURE, or a FILE of their scores")
    kept = values.missing == "keep" and any(each.missing for each in found.collections)
    tasks = several or values.missing == "keep"
    board += f" -m {first}" * (len(facts.measures) > 1) + " --missing present" * bool(facts.missing)
    scale = " over all tasks" * several
    asked: list[tuple[str, str, tuple[Any, ...]]] = []
    if tasks:
        asked.append((f"which run may be the best{scale}?", f"ranks {board}", (two_runs,)))
    if not kept:
        compare = f"compare {compared} -m {first} -o report"
        agreement = f"agreement {every} --reference {shlex.quote(str(reference))}"
        asked += [
            ("which runs differ significantly?", f"power {every}", (two_runs, two_topics)),
            ("which run may be the best?", f"ranks {one}", (two_runs, two_topics)),
            ("is the ranking the same on other topics?", f"consistency {one}", (three_runs, four_topics)),
            ("do two measures rank runs alike?", f"similarity {one}", (three_runs, others)),
            ("do measures agree on what is significant?", f"overlap {one}", (two_runs, two_topics, others)),
            ("how does one measure behave beside the others?", compare, (others, three_runs, four_topics)),
            ("which measure agrees with people?", agreement, (people, three_runs, four_topics)),
        ]
    answers: list[tuple[str, str]] = []
    lacks: list[tuple[str, str]] = []
    for question, command, needs in asked:
        if lacking := "; ".join(what for met, what in needs if not met):
            lacks.append((question, lacking))
        else:
            answers.append((question, f"metaeval {command}"))
    if kept:
        lacks.append(("all else", "a score of every run on every topic: --missing drop-topic or drop-run"))
    return answers, lacks
