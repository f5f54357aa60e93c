"""From a function to its command: what it takes, what is called, and what is shown."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from metaeval.cli.analyses import ANALYSES, GROUPS, Analysis
from metaeval.cli.opening import join_runs, open_annotations, open_judged_runs, open_ratings, open_sources
from metaeval.cli.options import (
    DIRECTIONS,
    GAPS,
    MISSING,
    NOISE,
    OPENING,
    OPTIONS,
    PHRASES,
    SHARED,
    Option,
    Options,
    argument,
    complete_source,
    spell,
    take,
)
from metaeval.cli.output import check_output, print_status, show_results, working
from metaeval.cli.signatures import Function, Parameter, find_question, parse_docstring, read_parameters
from metaeval.errors import OPTION_NAMES, MetaevalError

SETTINGS = {"help_option_names": ["-h", "--help"]}


class Values(SimpleNamespace):
    """What the command line says: every option's value, in `stated` the names of those that stand there, and the `context`."""


def make_function(run: Callable[[Any], None], options: Options, help: str) -> Callable[..., None]:
    """Return a function with the signature of which typer makes a command: it calls another one with the values."""

    def call(context: typer.Context, **values: Any) -> None:
        sources = {name: context.get_parameter_source(name) for name in values}
        stated = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
        if values.get("columns"):  # given twice, it is one list
            values["columns"] = ",".join(values["columns"])
        given = {name: None if value == [] else value for name, value in values.items()}
        run(Values(**given, stated=stated, context=context))

    call.__doc__ = help
    call.shared = {name for name, option in options.items() if option is OPTIONS.get(name)}  # type: ignore[attr-defined]
    parameters = [inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    for name, option in options.items():
        kind, annotation = inspect.Parameter.KEYWORD_ONLY, option.annotate(name)
        parameters.append(inspect.Parameter(name, kind, annotation=annotation, default=option.default))
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def add_commands(app: Any, commands: Mapping[str, tuple[Callable[[Any], None], Options]]) -> None:
    """Add commands by their names: what runs, whose docstring is the help, and its options."""
    for name, (run, options) in commands.items():
        app.command(name, cls=Command)(make_function(run, options, run.__doc__ or ""))


def make_command(run: Callable[[Any], None], options: Options, help: str) -> Any:
    """Return a command on its own."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=SETTINGS)
    app.command(cls=Command)(make_function(run, options, help))
    return typer.main.get_command(app)


class Command(TyperCommand):
    """A command whose messages speak of its own options: its parameters have the names of functions' arguments."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and the command's own options, and name those that ``metaeval help`` explains."""
        shared = getattr(self.callback, "shared", ())
        topics = {name: topic for topic, names in SHARED.items() for name in names if name in shared}
        explained: dict[str, list[str]] = {topic: [] for topic in SHARED}
        rows: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                rows["Arguments"].append((getattr(parameter, "metavar", None) or parameter.name, record[1]))
            elif parameter.name in topics:
                explained[topics[parameter.name]].append(parameter.opts[0])
            else:
                rows["Options"].append(record)
        rows["Explained by"] = [
            (f"metaeval help {topic}", ", ".join(names)) for topic, names in explained.items() if names
        ]
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with option_names({one.name: one.opts[0] for one in self.params if one.param_type_name == "option"}):
            return super().invoke(ctx)


@contextmanager
def option_names(names: dict[str, str]) -> Iterator[None]:
    """Let messages call these arguments by these options, besides those in use, while the context lasts."""
    before = OPTION_NAMES.set({**PHRASES, **OPTION_NAMES.get(), **names})
    # An error is shown after the command has ended, but its message was made while it ran.
    try:
        yield
    finally:
        OPTION_NAMES.reset(before)


class LazyGroup(TyperGroup):
    """The commands written by hand, and those made of analyses, which are imported when their command is used."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, analysis in ANALYSES.items():
            self.add_command(_LazyCommand(name, analysis))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by subject, with the whole question that each answers, which may need two lines."""
        grouped = {name for names in GROUPS.values() for name in names}
        others = tuple(name for name in self.commands if name not in grouped)
        width = max(map(len, self.commands))
        for title, names in {**GROUPS, "More": others}.items():
            commands = [self.commands[name] for name in names if name in self.commands]
            rows = [((command.name or "").ljust(width), command.get_short_help_str(limit=1000)) for command in commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class _LazyCommand(TyperCommand):
    """Stands for a command until it is used: its first line is known without importing its function."""

    def __init__(self, name: str, analysis: Analysis) -> None:
        super().__init__(name, short_help=find_question(analysis.function))
        self.analysis = analysis

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        command = generate_command(self.name or "", self.analysis)
        return command.make_context(info_name, args, parent, **extra)


_POLICIES = ("raise", "drop-topic", "drop-run")
_SUBJECTS: dict[str, tuple[Options, Options, Callable[[Any], Any] | None]] = {
    "scores": (take("source"), OPENING | NOISE | DIRECTIONS, None),
    "several": ({"source": OPTIONS["sources"]}, OPENING | NOISE | DIRECTIONS, None),
    "measures": (take("measures"), {}, lambda values: values.measures),
    "ratings": (
        take("source"),
        take("collection", "format", "columns", "doubled", "repeats", "judges", "tasks") | DIRECTIONS,
        open_ratings,
    ),
    "labels": (
        {
            "people": argument(
                "A table of people's labels; or, without JUDGES, the name of a data set", "PEOPLE", complete_source
            ),
            "answers": argument("A table of judges' labels", "[JUDGES]", kind=str | None, default=None),
            **take("classes"),
        },
        {
            "missing": Option(
                "What to do if a judge has no answer; drop-topic leaves out the item", str, "raise", _POLICIES
            ),
            **take("columns"),
            "separator": Option("Where the topic ends in an item's name: with __ the topic of doc7__fluency is doc7"),
        },
        open_annotations,
    ),
    "runs": (
        {
            "judgements": argument(
                "Files of judgements, topic 0 document grade: those of people first, then judges'",
                "QRELS...",
                kind=list[str],
            ),
            "runs": Option(
                "A folder of runs, or a run, topic Q0 document rank score name; may be repeated",
                list[str],
                ...,
                metavar="FOLDER",
            ),
        },
        take("collection")
        | {
            "missing": Option(
                "What to do where a run has no document on a topic, or judgements lack one; worst lets the run find nothing",
                str,
                "raise",
                (*_POLICIES, "worst"),
            )
        },
        open_judged_runs,
    ),
}
"""By what a command takes: options that name it, those that say how it is read, and what opens that which is no scores."""

_MISSING_OF_BOARDS = Option(
    "What to do where a score is missing; a board can compare what is present, or the runs that are complete",
    str,
    "raise",
    (*MISSING, *GAPS),
)


def generate_command(name: str, analysis: Analysis) -> Any:
    """Make the command of an analysis: its options are those of its functions, and those that say how its input is read."""
    functions = [_load(reference) for reference in (analysis.function, analysis.board) if reference]
    called = {function: read_parameters(function) for function in functions}
    parameters: dict[str, Parameter] = {}
    for read in called.values():
        parameters |= {each: parameter for each, parameter in read.items() if each not in parameters}
    named, reading, _ = _SUBJECTS[analysis.takes]
    first = {each: parameter.option for each, parameter in parameters.items() if parameter.option.by_place}
    others = {each: parameter.option for each, parameter in parameters.items()}
    measure = take("measure") if analysis.takes in ("scores", "several", "ratings") else {}
    options = named | first | measure | others | reading
    if analysis.board:
        options["missing"] = _MISSING_OF_BOARDS
    options |= take(*filter(None, [analysis.pairs]), "style", "explain", "width", "out")

    def run(values: Values) -> None:
        with option_names({"gaps": "--missing"} if analysis.board else {}):
            rows = getattr(values, analysis.pairs) if analysis.pairs else None
            check_output(values.style, values.out, values.width, rows)
            for each, parameter in parameters.items():
                if parameter.convert is not None:
                    setattr(values, each, parameter.convert(getattr(values, each), values))
            results = _answer(name, analysis, called, values)
            show_results(results, values.style, values.out, explain=values.explain, width=values.width)

    docstring = parse_docstring(functions[0])
    examples = "\n".join(f"  metaeval {example}" for example in analysis.examples)
    # \b keeps the lines of the next paragraph as they are.
    parts = (docstring.question, docstring.details, analysis.remarks, f"\b\nExamples:\n{examples}")
    return make_command(run, options, "\n\n".join(part for part in parts if part))


def _load(reference: str) -> Function:
    module, _, name = reference.partition(":")
    function: Function = getattr(import_module(f"metaeval.{module}"), name)
    return function


def _answer(
    name: str, analysis: Analysis, called: dict[Function, dict[str, Parameter]], values: Values
) -> dict[str, Any]:
    """Open what a command is about, call its function, or that of boards, and return the results by the names of files."""
    function, *boards = called
    more: dict[str, Any] = {}
    if (opener := _SUBJECTS[analysis.takes][2]) is not None:
        with working(f"reading {analysis.takes}"):
            subject = opener(values)
    else:
        several = isinstance(values.source, list)
        sources = values.source if several else [values.source]
        gaps = values.missing if boards and values.missing in GAPS else None
        values.missing = "keep" if gaps else values.missing
        opens = any(parameter.opens for parameter in called[function].values())
        scores = open_sources(sources, values, opens=opens, several=several)
        for board in boards:
            scores, ordinary = join_runs(scores, sources), called[function].keys()
            on_board = len(scores) > 1 or gaps or (called[board].keys() - ordinary) & values.stated
            function, other, more = (board, function, {"gaps": gaps}) if on_board else (function, board, {})
            for each in called[other]:
                if each in values.stated and each not in called[function]:
                    when = "for a board of tasks" if on_board else "for a single task"
                    raise MetaevalError(f"{spell(each)[0]} does nothing {when}")
        subject = scores if len(scores) > 1 else scores[0]
        if analysis.pairs and getattr(values, analysis.pairs) and len(scores) > 1:
            option = spell(analysis.pairs)[0]
            raise MetaevalError(f"{option} is for a single source: a file for each needs a call for each")
    with working(function.__name__.replace("_", " ")):
        result = function(subject, **{each: getattr(values, each) for each in called[function]}, **more)
    if analysis.pairs and (rows := getattr(values, analysis.pairs)):
        from metaeval.show.frames import write_frame

        with working(f"writing {rows}"):
            write_frame(rows, result.run_pairs())
        print_status(f"wrote {rows}")
    parts = getattr(result, "parts", ())
    # The pooled result answers what several sources were named for, so that it comes first.
    results = {f"pooled-{name}" if parts else name: result}
    for number, part in enumerate(parts, start=1):
        # A collection's name may hold anything, a file's may not.
        label = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in part.collection)
        file = f"{name}-{label or number}"
        results[f"{file}-{number}" if file in results else file] = part
    return results
