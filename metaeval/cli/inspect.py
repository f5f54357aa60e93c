"""The command that says what a file is taken for and what can be asked of it: inspect."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from metaeval.cli.command import Values
from metaeval.cli.options import argument, option, take
from metaeval.cli.output import print_text, working
from metaeval.errors import format_count, format_list
from metaeval.io.formats import parse_columns

if TYPE_CHECKING:
    from metaeval.io.inspection import CollectionFacts, Inspection

READING = ("collection", "format", "missing", "columns", "doubled")
"""Options with which a file is inspected, that commands have too."""

INSPECT = {
    "sources": argument(list[str], "Score files or folders, one or several", metavar="FILE"),
    "measure": option(str | None, "The measure of a file that holds one without its name"),
    **take(*READING),
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
    from metaeval.io.inspection import inspect_scores

    blocks = []
    for source in values.sources:
        with working(f"reading {source}"):
            found = inspect_scores(
                source,
                format=values.format,
                measure=values.measure,
                collection=values.collection,
                missing=values.missing,
                columns=parse_columns(values.columns),
                doubled=values.doubled,
            )
        blocks.append("\n".join(_describe(found, values)))
    print_text("\n\n".join(blocks))


def _describe(found: Inspection, values: Values) -> list[str]:
    lines = [f"{found.source}: {_say_format(found)}"]
    if found.columns:
        lines.append(f"  {_say_columns(found)}")
    if found.unused:
        lines.append(f"  not used: {', '.join(map(repr, found.unused))}")
    for facts in found.collections[:MOST_SHOWN]:
        lines += [f"  {line}" for line in _describe_collection(facts, len(found.collections) > 1)]
    if len(found.collections) > MOST_SHOWN:
        lines.append(f"  … and {len(found.collections) - MOST_SHOWN} collections more")
    if found.refusal is not None:
        lines += ["", "It cannot be read as it is:", f"  {found.refusal.removeprefix(f'{found.source}: ')}"]
        return lines
    answers, lacks = _list_questions(found, values)
    width = max((len(question) for question, _ in answers), default=0)
    shown = [f"  {question:<{width}}  {command}" for question, command in answers]
    lines += ["", "It can answer:", *shown] if answers else []
    return lines + (
        ["", "It cannot answer:", *(f"  {question}: needs {lack}" for question, lack in lacks)] if lacks else []
    )


def _say_columns(found: Inspection) -> str:
    """Return which columns hold what, in one line."""
    names: dict[str, list[str]] = {}
    for what, name in found.columns:
        names.setdefault(what, []).append(name if name.startswith("… ") else repr(name))
    return "; ".join(f"{what}: {', '.join(listed)}" for what, listed in names.items())


def _say_format(found: Inspection) -> str:
    return f"taken for {found.format}, {found.layout}" if found.format else "no format that is known"


def _describe_collection(facts: CollectionFacts, named: bool) -> list[str]:
    sizes = [format_count(facts.runs, "run"), format_count(facts.topics, "topic")]
    sizes.append(format_count(len(facts.measures), "measure"))
    lines = [f"{f'{facts.name}: ' if named else ''}{' × '.join(sizes)}"]
    if facts.directions:
        shown = [f"{name} ({way})" for name, way in zip(facts.measures, facts.directions, strict=True)]
        lines.append(f"  measures: {format_list(shown, most=6)}")
    if facts.missing:
        share = facts.missing / facts.cells
        lines.append(
            f"  cells without a score: {facts.missing:,} of {facts.cells:,} ({share:.1%}); {facts.complete[0]:,} of "
            f"{facts.runs:,} runs and {facts.complete[1]:,} of {facts.topics:,} topics are complete"
        )
    if facts.doubled:
        lines.append(f"  cells with several scores: {facts.doubled:,}, which differ in {facts.unlike:,} of them")
    ties = [f"{name} {count}" for name, count in zip(facts.measures, facts.tied, strict=False) if count]
    if ties:
        pairs = facts.runs * (facts.runs - 1) // 2
        lines.append(f"  pairs of runs with the same mean, of {pairs:,}: {format_list(ties, most=6)}")
    if facts.constant:
        lines.append(f"  the same for all runs and topics: {format_list(list(facts.constant))}")
    if facts.identical:
        groups = [" = ".join(group[:4]) + " = …" * (len(group) > 4) for group in facts.identical]
        lines.append(f"  the same scores on every topic: {format_list(groups)}")
    return lines


def _list_questions(found: Inspection, values: Values) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return questions with the command that answers each, and those that cannot be answered with what they lack."""
    facts = max(found.collections, key=lambda one: one.cells)
    several = len(found.collections) > 1
    one = _spell([found.source], values, READING, **({"collection": facts.name} if several else {}))
    every = _spell([found.source], values, READING)
    compared = _spell([found.source], values, ("columns", "doubled", "missing"))
    runs, topics, measures = facts.runs, facts.topics, len(facts.measures)
    answers: list[tuple[str, str]] = []
    lacks: list[tuple[str, str]] = []

    def ask(question: str, command: str, *needs: tuple[bool, str]) -> None:
        lacking = [what for met, what in needs if not met]
        lacks.append((question, "; ".join(lacking))) if lacking else answers.append((question, command))

    if several or values.missing == "keep":
        board = _spell([found.source], values, ("format", "columns", "doubled"))
        board += f" -m {shlex.quote(facts.measures[0])}" * (measures > 1) + " --missing present" * bool(facts.missing)
        ask("which run may be the best over all tasks?" if several else "which run may be the best?",
            f"metaeval ranks {board}", (runs >= 2, "at least 2 runs"))  # fmt: skip
    if values.missing == "keep" and any(each.missing for each in found.collections):
        lacks.append(("all else", "a score of every run on every topic: --missing drop-topic or drop-run"))
        return answers, lacks
    pairs, splits = (runs >= 2, "at least 2 runs"), (topics >= 4, "at least 4 topics")
    tested, others = (topics >= 2, "at least 2 topics"), (measures >= 2, "a second measure of the same runs and topics")
    ask("which runs differ significantly?", f"metaeval power {every}", pairs, tested)
    ask("which run may be the best?", f"metaeval ranks {one}", pairs, tested)
    ask(
        "is the ranking the same on other topics?",
        f"metaeval consistency {one}",
        (runs >= 3, "at least 3 runs"),
        splits,
    )
    ask("do two measures rank runs alike?", f"metaeval similarity {one}", (runs >= 3, "at least 3 runs"), others)
    ask("do measures agree on what is significant?", f"metaeval overlap {one}", pairs, tested, others)
    ask("how does one measure behave beside the others?",
        f"metaeval compare {compared} -m {shlex.quote(facts.measures[0])} -o report", others,
        (runs >= 3, "at least 3 runs"), splits)  # fmt: skip
    reference = next((name for name in facts.measures if name.lower() in REFERENCES), None)
    held = (reference is not None and measures > 1, "what people said: --reference MEASURE, or a FILE of their scores")
    ask("which measure agrees with people?", f"metaeval agreement {every} --reference {shlex.quote(str(reference))}",
        held, (runs >= 3, "at least 3 runs"), splits)  # fmt: skip
    return answers, lacks


def _spell(words: list[str], values: Values, names: Sequence[str], **others: str) -> str:
    """Return words with the options with which a source was inspected, as a shell takes them."""
    given = {name: getattr(values, name) for name in names} | others
    for name, text in given.items():
        if text not in (None, "raise"):
            words = [*words, "--from" if name == "format" else f"--{name}", str(text)]
    return shlex.join(words)
