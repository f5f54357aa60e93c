"""Commands that look something up: measures, cite, data, help; and the one that starts the playground: app."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from metaeval.cli.generate import Values, add_commands, make_command
from metaeval.cli.options import NAMES, OPTIONS, SHARED, Option, argument, complete_data_set, complete_measure, take
from metaeval.cli.output import check_output, print_problem, print_status, print_text, show_texts, terminal_width
from metaeval.cli.signatures import parse_docstring
from metaeval.errors import DatasetError, MeasureError, MetaevalError, format_count
from metaeval.show.cells import wrap_text

if TYPE_CHECKING:
    from metaeval.measures import Measure

KINDS = {"classification": "confusion counts", "quantification": "estimated and gold shares"}
"""What measures of each kind take."""

MEASURES = {
    "names": argument("Measures to explain; none: list all", "NAME", complete_measure, kind=NAMES, default=None),
    "kind": Option("Only those of one kind", choices=(*KINDS,)),
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

    kind, style = values.kind, values.style
    check_output(style)
    if kind not in (None, *KINDS):
        raise MeasureError(f"there is no kind {kind!r}: use {' or '.join(KINDS)}")
    if values.names:
        for number, measure in enumerate(resolve_measures(values.names)):
            print(end="\n" * (number > 0))
            _explain(measure, style)
        return
    head = ("measure", "better", "range", "what it answers")
    rows = {
        measure: (str(measure), measure.direction, _range(measure), measure.description.rstrip("."))
        for measure in measures() if kind in (None, measure.kind)
    }  # fmt: skip
    if style != "text":
        described = [(row[0], str(one.kind), *row[1:3], one.source, row[3]) for one, row in rows.items()]
        show_texts(("measure", "kind", *head[1:3], "source", head[3]), described, "Registered measures.", style)
        return
    for number, listed in enumerate(dict.fromkeys(measure.kind for measure in rows)):  # of what fits beside each other
        print(end="\n" * (number > 0))
        caption = f"Registered {listed} measures; metaeval measures NAME explains one."
        show_texts(head, [row for measure, row in rows.items() if measure.kind == listed], caption, style)


def _explain(measure: Measure, style: str) -> None:
    """Print everything about one measure."""
    from metaeval.show.bibliography import bibliography, find_labels

    described = list(_describe(measure))
    cited = [bibliography()[label].to_bibtex() for label in find_labels(measure.source)]
    if style != "text":
        rows = [*described, *(("BibTeX", entry) for entry in cited)]
        show_texts(("what", str(measure)), rows, measure.description, style)
        return
    width = terminal_width(sys.stdout) or 100
    print("\n".join(wrap_text(f"{measure}: {measure.description}", width)), end="\n\n")
    for label, text in described:
        first, *others = wrap_text(text, max(width - 14, 20))
        print(f"  {label:10}  {first}", *(f"{'':14}{line}" for line in others), sep="\n")
    print(*("\n" + entry for entry in cited), sep="", end="")


def _describe(measure: Measure) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a measure, with its subject."""
    from metaeval.measures.base import parameters_of
    from metaeval.measures.registry import SYMBOLS

    assert measure.kind is not None and measure.formula is not None  # noqa: PT018, S101  (registered ones have both)
    docstring = parse_docstring(measure.formula)
    if measure.written:
        yield "formula", measure.written
        yield "where", SYMBOLS[measure.kind]
    yield "takes", KINDS[measure.kind]
    yield "better", measure.direction
    yield "range", f"{_range(measure)}; the best score is {_number(measure.best)}"
    for name, default in parameters_of(measure.formula).items():
        value, text = measure.parameters.get(name, default), docstring.parameters.get(name, "")
        yield "parameter", f"{name}={value}{f', by default {default}' * (value != default)}{f': {text}' * bool(text)}"
    if measure.undefined is not None:
        yield "0/0", f"{_number(measure.undefined)} stands for it, with a warning that says where"
    elif measure.written:
        yield "0/0", "the formula is never 0/0"
    else:
        yield "0/0", "not declared: where the formula is 0/0 is an error"
    yield "symmetric", "yes: run and gold can be exchanged" if measure.symmetric else "no"
    if docstring.details:
        yield "remarks", " ".join(docstring.details.split())
    if measure.source:
        yield "source", measure.source


def _range(measure: Measure) -> str:
    return " to ".join(map(_number, measure.range))


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−").replace("inf", "∞")


CITE = {"names": argument("Measures, analyses, tests, data sets; none: metaeval", kind=NAMES, default=None)}


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
    "reading": "How files are read. Every command that reads scores takes these options, and they hold for the file of "
    "a --reference too; the help of a command names those that it takes. `metaeval inspect FILE` says how a file is "
    "read and what it lacks.",
    "output": "What is printed and written. The answer and its tables go to stdout, notes and progress to stderr.",
}
"""What stands above the options of each topic."""

_TOPIC = f"{', '.join(INTRODUCTIONS)}, or the name of a command"
HELP = {"topic": Option(_TOPIC, choices=(*INTRODUCTIONS,), metavar="[TOPIC]", by_place=True)}


def explain(values: Values) -> None:
    """How are files read, and what is printed: the options that commands share.

    \b
    Examples:
      metaeval help reading
      metaeval help output
      metaeval help power
    """
    context = values.context.find_root()
    if values.topic in INTRODUCTIONS:
        print_text(explain_topic(values.topic, context), end="")
        return
    command = context.command if values.topic is None else context.command.get_command(context, values.topic)
    if command is None:
        raise MetaevalError(f"there is no topic or command {values.topic!r}: metaeval help lists the commands")
    if values.topic is not None:
        context = command.make_context(values.topic, [], context, resilient_parsing=True)
    print_text(context.get_help())


def explain_topic(topic: str, context: Any) -> str:
    """Return what the options of a topic do."""
    command = make_command(explain, {name: OPTIONS[name] for name in SHARED[topic]}, "")
    formatter = context.make_formatter()
    formatter.write_text(INTRODUCTIONS[topic])
    with formatter.section("Options"):
        own = typer.Context(command)
        formatter.write_dl([one.get_help_record(own) for one in command.params if one.name in SHARED[topic]])
    return str(formatter.getvalue())


APP = {
    "port": Option("By default the first free one from 8501 on", int | None, limits=[("min", 1), ("max", 65535)]),
    "browser": Option("Open the page in a browser", bool, True),
    "host": Option("Address to listen on; 0.0.0.0 lets other machines in, as in a container", str, "127.0.0.1"),
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

    launch(values.port, browser=values.browser, host=values.host)


data = typer.Typer(help="Named public data sets: which there are, where they are from, and their files.")


@data.callback(invoke_without_command=True)
def require_command(ctx: typer.Context) -> None:
    """Show the help where a command is missing."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help(), file=sys.stderr)
        raise typer.Exit(2)


def list_data(values: Values) -> None:
    """List the data sets: what each is, and whether its files have been downloaded.

    \b
    Examples:
      metaeval data list
    """
    from metaeval.datasets import cache_folder, datasets

    check_output(values.style)
    folder, rows = cache_folder(), []
    for dataset in datasets():
        # Whether files are whole, loading finds out.
        here, all_of_them = sum((folder / file.name).is_file() for file in dataset.files), len(dataset.files)
        state = "by hand" if not all_of_them else "all" if here == all_of_them else f"{here} of {all_of_them}"
        rows.append((dataset.name, state, dataset.kind, dataset.title))
    caption = f"Data sets; files are looked for in {folder}."
    show_texts(("data set", "files here", "kind", "what"), rows, caption, values.style)


def describe_data(values: Values) -> None:
    """Describe a data set: what it is, its licence and citation, and its files.

    \b
    Examples:
      metaeval data info stc3-dq-a
    """
    from metaeval.datasets import cache_folder, dataset

    found, folder = dataset(values.name), cache_folder()
    labelled = {
        "rows": found.rows,
        "classes": ", ".join(found.classes),
        "note": found.note,
        "licence": found.licence,
        "citation": found.citation,
        "from": found.provenance if found.files else "",
        "where": "" if found.files else found.where,
        "layout": found.layout,
        "folder": str(folder),
        "files": f"{len(found.files)}, {found.bytes / 1e6:.1f} MB" if found.files else "",
    }
    print(f"{found.name}: {found.title}")
    print(*(f"  {label + ':':10} {text}" for label, text in labelled.items() if text), sep="\n")
    for file in found.files:
        mark = "here" if (folder / file.name).is_file() else "not here"
        print(f"    {file.name} ({mark})\n      {file.url}\n      sha256 {file.sha256}")


def fetch_data(values: Values) -> None:
    """Download data sets into METAEVAL_DATA, or the cache folder; every file is checked by sha256.

    \b
    Examples:
      metaeval data fetch stc3-dq-a llmjudge
    """
    from metaeval.datasets import fetch

    failed = 0
    for name in values.names:
        try:
            files = fetch(name)
        except DatasetError as error:  # the other data sets may be somewhere else
            failed = print_problem(str(error))
        else:
            print_status(f"{name}: {format_count(len(files), 'file')} downloaded and checked")
    if failed:
        raise typer.Exit(failed)


def print_paths(values: Values) -> None:
    """Print where the files of a data set are, one per line; missing ones are downloaded first.

    \b
    Examples:
      metaeval data path trec-web-2013
    """
    from metaeval.datasets import fetch

    for file in fetch(values.name).values():
        print(file)


_DATA_SET = argument("The data set", complete=complete_data_set)
add_commands(
    data,
    {
        "list": (list_data, take("style")),
        "info": (describe_data, {"name": _DATA_SET}),
        "fetch": (fetch_data, {"names": argument("Data sets", complete=complete_data_set, kind=list[str])}),
        "path": (print_paths, {"name": _DATA_SET}),
    },
)
