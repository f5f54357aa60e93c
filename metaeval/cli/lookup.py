"""Commands that look something up: inspect, measures, cite, data, help; and the one that starts the playground: app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import typer

from metaeval.cli.generate import Values, make_command, parse_docstring
from metaeval.cli.options import NAMES, OPENING, SHARED, Option, argument, take
from metaeval.cli.output import print_notes, print_status, print_text, show_texts, working
from metaeval.errors import DatasetError, MetaevalError, format_count, format_list
from metaeval.io.formats import parse_columns

if TYPE_CHECKING:
    from metaeval.io.inspection import Inspection
    from metaeval.measures import Measure

INSPECT = {
    "sources": argument("Score files or folders, one or several", list[str]),
    "measure": Option("The measure of a file that does not name it"),
    **OPENING,
}


def inspect(values: Values) -> None:
    """How is a file read, and what is missing in it?

    \b
    Examples:
      metaeval inspect scores.csv
      metaeval inspect board.parquet --columns collection=task --doubled latest --missing drop-run
      metaeval inspect logs/
    """
    from metaeval.io.inspection import inspect_scores

    options = {name: getattr(values, name) for name in (*OPENING, "measure")}
    for source in values.sources:
        with working(f"reading {source}"):
            found = inspect_scores(source, **{**options, "columns": parse_columns(values.columns)})
        if not found.format and str(found.refusal).endswith("there is no such file"):
            raise DatasetError(f"{source}: there is no such file; of a data set, `metaeval data info {source}` tells")
        print_text("\n".join([*_describe_file(found), ""]))
        print_notes(found.notes)


def _describe_file(found: Inspection) -> Iterator[str]:
    taken = f"taken for {found.format}, {found.layout}" if found.format else "no format that is known"
    yield f"{found.source}: {taken}"
    columns: dict[str, list[str]] = {}
    for what, name in found.columns:
        columns.setdefault(what, []).append(name if name.startswith("… ") else repr(name))
    if columns:
        yield "  " + "; ".join(f"{what}: {', '.join(listed)}" for what, listed in columns.items())
    if found.unused:
        yield f"  not used: {', '.join(map(repr, found.unused))}"
    for facts in found.collections:
        name, measures = f"{facts.name}: " * (len(found.collections) > 1), format_count(len(facts.measures), "measure")
        yield f"  {name}{format_count(facts.runs, 'run')} × {format_count(facts.topics, 'topic')} × {measures}"
        if facts.directions:
            shown = [f"{measure} ({way})" for measure, way in zip(facts.measures, facts.directions, strict=True)]
            yield f"    measures: {format_list(shown, most=6)}"
        if facts.missing:
            yield f"    cells without a score: {facts.missing:,} of {facts.cells:,} ({facts.missing / facts.cells:.1%})"
        if facts.doubled:
            yield f"    cells with several scores: {facts.doubled:,}"
    if found.refusal is not None:
        yield f"\nIt cannot be read as it is:\n  {found.refusal.removeprefix(f'{found.source}: ')}"


KINDS = {"classification": "confusion counts", "quantification": "estimated and gold shares"}

MEASURES = {
    "names": argument("Measures to explain; none: list all", NAMES, None),
    "kind": Option("Only those of one kind", Literal["classification", "quantification"] | None),
    **take("style"),
}


def show_measures(values: Values) -> None:
    """Which measures are there, and what is one: formula, range, direction, source, BibTeX?

    \b
    Examples:
      metaeval measures
      metaeval measures NMD "OCI(beta=0.25)"
      metaeval measures --kind quantification --format md
    """
    from metaeval.measures import measures, resolve_measures

    for measure in resolve_measures(values.names or ()):
        _explain(measure, values.style)
    if values.names:
        return
    rows = [
        (str(measure), str(measure.kind), measure.direction, _range(measure), measure.description.rstrip("."))
        for measure in measures() if values.kind in (None, measure.kind)
    ]  # fmt: skip
    caption = "Registered measures; metaeval measures NAME explains one."
    show_texts(("measure", "kind", "better", "range", "what it answers"), rows, caption, values.style)


def _explain(measure: Measure, style: str) -> None:
    """Print everything about one measure, and what to cite."""
    from metaeval.measures.base import parameters_of
    from metaeval.measures.registry import SYMBOLS
    from metaeval.show.bibliography import bibliography, find_labels

    assert measure.kind is not None and measure.formula is not None  # noqa: PT018, S101
    _, details, texts = parse_docstring(measure.formula)
    zero = "the formula is never 0/0" if measure.written else "not declared: where the formula is 0/0 is an error"
    if measure.undefined is not None:
        zero = f"{_number(measure.undefined)} stands for it, with a warning that says where"
    parameters = []
    for name, default in parameters_of(measure.formula).items():
        value = measure.parameters.get(name, default)
        other, text = f", by default {default}" * (value != default), f": {texts.get(name, '')}".rstrip(": ")
        parameters.append(("parameter", f"{name}={value}{other}{text}"))
    cited = [bibliography()[label].to_bibtex() for label in find_labels(measure.source)]
    rows = [
        ("formula", measure.written),
        ("where", SYMBOLS[measure.kind] if measure.written else ""),
        ("takes", KINDS[measure.kind]),
        ("better", measure.direction),
        ("range", f"{_range(measure)}; the best score is {_number(measure.best)}"),
        *parameters,
        ("0/0", zero),
        ("symmetric", "yes: run and gold can be exchanged" if measure.symmetric else "no"),
        ("remarks", " ".join(details.split())),
        ("source", measure.source),
        *(("BibTeX", entry) for entry in cited if style != "text"),
    ]
    caption = f"{measure}: {measure.description}"
    show_texts(("what", str(measure)), [(what, text) for what, text in rows if text], caption, style)
    if style == "text":
        print(*("\n" + entry for entry in cited), sep="")


def _range(measure: Measure) -> str:
    return " to ".join(map(_number, measure.range))


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−").replace("inf", "∞")


CITE = {"names": argument("Measures, analyses, tests, data sets; none: metaeval", NAMES, None)}


def print_citations(values: Values) -> None:
    """Print what to cite for measures, analyses, tests and data sets, as BibTeX.

    \b
    Examples:
      metaeval cite NMD "OCI(beta=0.25)" power stc3-dq-a
      metaeval cite max-t > references.bib
    """
    from metaeval.analyses.citation import cite
    from metaeval.cli.analyses import ANALYSES

    functions = {command: analysis.function.rpartition(":")[2] for command, analysis in ANALYSES.items()}
    print_text(cite(*(functions.get(name, name) for name in values.names or [])), end="", data=True)


INTRODUCTIONS = {
    "reading": "How files are read, that of a --reference too; the help of a command names those options that it takes. "
    "`metaeval inspect FILE` says how a file is read and what it lacks.",
    "output": "What is printed and written. The answer and its tables go to stdout, notes and progress to stderr.",
}
HELP = {"topic": argument("What to explain; nothing: the list of commands", Literal["reading", "output"] | None, None)}


def explain(values: Values) -> None:
    """How are files read, and what is printed: the options that commands share.

    \b
    Examples:
      metaeval help reading
      metaeval help output
    """
    context = values.context.find_root()
    print_text(context.get_help() if values.topic is None else explain_topic(values.topic, context))


def explain_topic(topic: str, context: Any) -> str:
    """Return what the options of a topic do."""
    command = make_command(explain, SHARED[topic], "")
    formatter = context.make_formatter()
    formatter.write_text(INTRODUCTIONS[topic])
    with formatter.section("Options"):
        own = typer.Context(command)
        formatter.write_dl([one.get_help_record(own) for one in command.params if one.name in SHARED[topic]])
    return str(formatter.getvalue())


APP = {
    "port": Option("By default the first free one from 8501 on", int | None),
    "browser": Option("Open the page in a browser", bool, True),
    "host": Option("Address to listen on; 0.0.0.0 lets other machines in", str, "127.0.0.1"),
}


def start(values: Values) -> None:
    """See measures disagree: pages in a browser for classes, runs, distributions and your own scores.

    Needs pip install "metaeval[app]". Nothing leaves this machine, and no code of yours is run.

    \b
    Examples:
      metaeval app
      metaeval app --port 8600 --no-browser
    """
    from metaeval.app.launch import launch

    if values.port is not None and not 0 < values.port < 1 << 16:
        raise MetaevalError(f"--port is {values.port}; it is a number from 1 to 65535")
    launch(values.port, browser=values.browser, host=values.host)


DATA = {
    "action": argument("list all, info: tell about some, or fetch: download them", Literal["list", "info", "fetch"]),
    "sets": argument("Data sets", NAMES, None),
    **take("style"),
}


def show_data(values: Values) -> None:
    """Which named public data sets are there, where are they from, and are their files here?

    They are downloaded into METAEVAL_DATA, or the cache folder, and every file is checked by sha256.

    \b
    Examples:
      metaeval data list
      metaeval data info stc3-dq-a
      metaeval data fetch stc3-dq-a llmjudge
    """
    from metaeval.datasets import cache_folder, dataset, datasets, fetch

    if values.action != "list" and not values.sets:
        raise MetaevalError("name at least one data set; metaeval data list lists them")
    folder, failed, rows = cache_folder(), 0, []
    for name in values.sets or [each.name for each in datasets()]:
        try:
            found = dataset(name)
            if values.action == "fetch":
                print_status(f"{name}: {format_count(len(fetch(name)), 'file')} downloaded and checked")
        except DatasetError as error:  # the other data sets may be somewhere else
            print_status(str(error))
            failed = 2
            continue
        here = [(folder / file.name).is_file() for file in found.files]
        rows.append((name, f"{sum(here)} of {len(here)}" if here else "by hand", found.kind, found.title))
        if values.action == "info":
            told = {label: getattr(found, label) for label in ("rows", "note", "licence", "citation", "layout")}
            told |= {"classes": ", ".join(found.classes), "from": found.provenance, "folder": str(folder)}
            print_text(f"{name}: {found.title}")
            print_text("\n".join(f"  {label + ':':10} {text}" for label, text in told.items() if text))
            for file, there in zip(found.files, here, strict=True):
                state = "here" if there else f"not here, {file.bytes / 1e6:.1f} MB"
                print_text(f"    {file.name} ({state})\n      {file.url}\n      sha256 {file.sha256}")
    if values.action == "list":
        caption = f"Data sets; files are looked for in {folder}."
        show_texts(("data set", "files here", "kind", "what"), rows, caption, values.style)
    if failed:
        raise typer.Exit(failed)
