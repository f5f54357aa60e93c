"""From a function, its signature and docstring, to its command: what it takes, what is called, and what is shown."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from importlib import import_module
from pathlib import Path
from types import NoneType, SimpleNamespace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from metaeval.cli.analyses import ANALYSES, GROUPS, Analysis
from metaeval.cli.opening import SUBJECTS, join_runs, names_file, open_partial, open_run_scores, open_sources
from metaeval.cli.options import GAPS, HELP, NAMES, OPTIONS, PHRASES, SHARED, Option, Options, argument, spell, take
from metaeval.cli.output import show_results, working
from metaeval.errors import OPTION_NAMES, MetaevalError
from metaeval.files import check_folder

SETTINGS = {"help_option_names": ["-h", "--help"]}

IN_PYTHON = ("p_add_one", "variance_offset", "gaps")
"""Arguments of functions that are no options; `gaps` is what ``--missing`` says of boards."""


def parse_docstring(function: Callable[..., Any]) -> tuple[str, str, dict[str, str]]:
    """Return a docstring's first line, its paragraphs before the first section, and a phrase on every parameter."""
    head, *sections = re.split(r"\n\n(?=[A-Z]\w+\n-{3,}\n)", _plain(inspect.getdoc(function) or ""))
    question, _, details = head.partition("\n\n")
    listed = next((section for section in sections if section.startswith("Parameters\n")), "")
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in listed.splitlines()[2:]:
        if line[:1].strip():  # "first, second : str" at the margin begins a parameter; what is indented describes it
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        texts |= {name: f"{texts[name]} {line.strip()}" if name in texts else "" for name in names}
    for name, text in texts.items():
        first = re.split(r"(?<=\.) (?=[^a-z])", text.strip())[0]
        texts[name] = (text if len(text.strip()) <= 180 else first).strip().removesuffix(".")
    # A terminal joins the lines of a paragraph: each bullet is a paragraph of its own.
    return " ".join(question.split()), re.sub(r"\n(?=- )", "\n\n", details), texts


def find_question(reference: str) -> str:
    """Return the first line of a docstring from the source of "module:function", without the time of an import."""
    module, _, name = reference.partition(":")
    source = (Path(__file__).parent.parent / "analyses" / f"{module}.py").read_text("utf-8")
    match = re.search(rf'^def {name}\(.*?"""(.*?)(?:\n\n|""")', source, re.MULTILINE | re.DOTALL)
    return "" if match is None else " ".join(_plain(match[1]).split())


def _plain(text: str) -> str:
    return text.replace('``"', "").replace('"``', "").replace("`", "")


def read_parameters(function: Callable[..., Any]) -> Options:
    """Return the parameters of an analysis after its first one, as the command line takes them."""
    hints, (_, _, texts) = get_type_hints(function), parse_docstring(function)
    options: Options = {}
    for one in list(inspect.signature(function).parameters.values())[1:]:
        if one.kind is one.VAR_KEYWORD:  # options of tests
            from metaeval.analyses.power import discriminative_power

            known = read_parameters(discriminative_power)
            names = get_type_hints(*get_args(hints[one.name]))
            options |= {name: known[name] for name in names if name in known}
        elif one.name not in IN_PYTHON:
            text = texts.get(one.name) or HELP.get(one.name, "")
            options[one.name] = _read_parameter(one, hints[one.name], text)
    return options


def _read_parameter(parameter: inspect.Parameter, hint: Any, text: str) -> Option:
    if parameter.kind is not parameter.KEYWORD_ONLY:
        return argument(text, hint)
    inner = [kind for kind in get_args(hint) if kind is not NoneType]
    kinds = {getattr(kind, "__name__", "") for kind in inner}  # without importing pandas
    kind, flag = hint, spell(parameter.name)[0]
    choices: tuple[str, ...] = ()
    convert: Callable[..., Any] | None = None
    if "DataFrame" in kinds:
        kind, convert = str, open_partial
    elif "Scores" in kinds:
        # A text may also be the name of a measure, which stands for itself.
        kind, convert = (list[str], None) if str in inner else (NAMES, open_run_scores)
    elif get_origin(hint) is Literal:
        kind, choices = str, get_args(hint)  # the function itself refuses another one, in its words
    elif Sequence[int] in inner:
        kind, convert = str | None, partial(_read_numbers, flag)
    elif inner and get_origin(inner[0]) is Mapping:
        kind, convert = NAMES, partial(_read_pairs, flag)
    elif "Measure" in kinds or {get_origin(each) for each in (hint, *inner)} & {Iterable, Sequence}:
        kind = NAMES if NoneType in get_args(hint) else list[str]
    default = ... if parameter.default is parameter.empty else parameter.default
    return Option(text, kind, default, choices, convert=convert)


def _read_numbers(flag: str, text: str | None, _: Any) -> list[int] | None:
    try:
        return None if text is None else [int(number) for number in text.split(",")]
    except ValueError:
        raise MetaevalError(f"{flag} {text}: whole numbers with commas, such as 10,25,50") from None


def _read_pairs(flag: str, given: list[str] | None, _: Any) -> dict[str, str] | None:
    """Return what a repeated option says of each name, which may stand twice if the same is said of it."""
    pairs: dict[str, str] = {}
    for part in [part for text in given or () for part in text.split(",")]:
        name, _, meant = part.rpartition("=")
        if not name.strip():
            raise MetaevalError(f"{flag} {part}: two names each, such as a=b")
        if name in pairs and pairs[name] != meant:
            raise MetaevalError(f"{flag}: {name} stands twice, with {pairs[name]} and {meant}; leave out one")
        pairs[name] = meant
    return pairs or None


Values = SimpleNamespace
"""What the command line says: every option's value, and the `context`."""


def make_function(run: Callable[[Any], None], options: Options, help: str) -> Callable[..., None]:
    """Return a function with the signature of which typer makes a command: it calls another one with the values."""

    def call(context: typer.Context, **values: Any) -> None:
        if values.get("columns"):  # given twice, it is one list
            values["columns"] = ",".join(values["columns"])
        given = Values(**{name: None if value == [] else value for name, value in values.items()}, context=context)
        for name, option in options.items():
            if option.convert is not None:
                setattr(given, name, option.convert(getattr(given, name), given))
        run(given)

    call.__doc__ = help
    topics = {name: topic for topic, names in SHARED.items() for name in names if options.get(name) is OPTIONS[name]}
    call.explained = topics  # type: ignore[attr-defined]
    kind, first = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("context", first, annotation=typer.Context)]
    for name, option in options.items():
        parameters.append(inspect.Parameter(name, kind, annotation=option.annotate(name), default=option.default))
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def make_command(run: Callable[[Any], None], options: Options, help: str) -> Any:
    """Return a command on its own."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=SETTINGS)
    app.command(cls=Command)(make_function(run, options, help))
    return typer.main.get_command(app)


class Command(TyperCommand):
    """A command whose messages speak of its own options: its parameters have the names of functions' arguments."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and the command's own options, and name those that ``metaeval help`` explains."""
        topics = getattr(self.callback, "explained", {})
        rows: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        explained: dict[str, list[str]] = {topic: [] for topic in SHARED}
        for one in self.get_params(ctx):
            name, record = str(one.name), one.get_help_record(ctx)
            if name in topics:
                explained[topics[name]].append(one.opts[0])
            elif record is not None and one.param_type_name == "argument":
                rows["Arguments"].append((name.upper(), record[1]))
            elif record is not None:
                rows["Options"].append(record)
        rows["Explained by"] = [
            (f"metaeval help {topic}", ", ".join(flags)) for topic, flags in explained.items() if flags
        ]
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; what is no number, and arguments that are too many, are refused with an example."""
        numbers = {"N": "a whole number, such as 100", "X": "a number, such as 0.1"}
        ctx.allow_extra_args = True
        try:
            extra = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if error.param is None or error.param.metavar not in numbers:
                raise
            ctx.fail(f"{error.param.opts[0]} takes {numbers[error.param.metavar]}")
        if extra and not ctx.resilient_parsing:
            taken = [str(one.name) for one in self.params if one.param_type_name == "argument"]
            problem = f"{ctx.info_name} takes {', '.join(taken).upper() or 'options'} only, not {shlex.join(extra)} too"
            if any("-m" in one.opts for one in self.params) and not any(map(names_file, extra)):
                typed = [*(str(ctx.params[name]) for name in taken), *(word for text in extra for word in ("-m", text))]
                problem += f"; measures are options: {ctx.command_path} {shlex.join(typed)}"
            ctx.fail(problem)
        return extra

    def invoke(self, ctx: Any) -> Any:
        """Run the command in a context of its own, in which messages call arguments by its options."""
        context = copy_context()
        options = {str(one.name): one.opts[0] for one in self.params if one.param_type_name == "option"}
        context.run(OPTION_NAMES.set, PHRASES | options)
        return context.run(super().invoke, ctx)


class LazyGroup(TyperGroup):
    """The commands written by hand, and those made of analyses, which are imported when their command is used."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, analysis in ANALYSES.items():
            self.add_command(_LazyCommand(name, analysis))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by subject, with the whole question that each answers, which may need two lines."""
        others = sorted(self.commands.keys() - {name for names in GROUPS.values() for name in names})
        width = max(map(len, self.commands))
        for title, names in {**GROUPS, "More": others}.items():
            rows = [(name.ljust(width), self.commands[name].get_short_help_str(limit=1000)) for name in names]
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


def generate_command(name: str, analysis: Analysis) -> Any:
    """Make the command of an analysis: its options are those of its functions, and those that say how its input is read."""
    places = [place.partition(":") for place in (analysis.function, analysis.board) if place]
    functions = [getattr(import_module(f"metaeval.analyses.{module}"), function) for module, _, function in places]
    called = {function: read_parameters(function) for function in functions}
    own = called[functions[0]] | called[functions[-1]] | called[functions[0]]
    first = str(next(iter(inspect.signature(functions[0]).parameters.values())).annotation)
    takes = "Sequence" if analysis.board else next(kind for kind in SUBJECTS if kind in first)
    named, reading, opener = SUBJECTS[takes]
    options = named | own | reading | take("style", "explain", "width", "out")
    if analysis.board:
        options["missing"] = OPTIONS["missing"]._replace(choices=(*OPTIONS["missing"].choices, *GAPS))

    def run(values: Values) -> None:
        if values.out is not None:
            check_folder(values.out)
        elif values.width is not None and values.style != "latex":
            raise MetaevalError("--width does nothing without --format latex or --out")
        function, subject, more = functions[0], None, {}
        if opener is not None:
            with working("reading"):
                subject = opener(values)
        else:
            if analysis.board:
                OPTION_NAMES.set({**OPTION_NAMES.get(), "gaps": "--missing"})
                if values.missing in GAPS:
                    more, values.missing = {"gaps": values.missing}, "keep"
            subject = open_sources(values)
            if analysis.board:
                subject = join_runs(subject, values.source)
                stated = {each for each, option in own.items() if getattr(values, each) != option.default}
                if len(subject) > 1 or more or stated - called[function].keys():
                    function = functions[1]
                    for flag, *_ in map(spell, stated - called[function].keys()):
                        raise MetaevalError(f"{flag} does nothing for several tasks: --bootstrap resamples topics")
            subject = subject if len(subject) > 1 else subject[0]
        with working(function.__name__.replace("_", " ")):
            result = function(subject, **{each: getattr(values, each) for each in called[function]}, **more)
        show_results(name, result, values.style, values.out, explain=values.explain, width=values.width)

    question, details, _ = parse_docstring(functions[0])
    examples = "\n".join(f"  metaeval {name} {example}" for example in analysis.examples)
    # \b keeps the lines of the next paragraph as they are.
    parts = (question, details, analysis.remarks, f"\b\nExamples:\n{examples}")
    return make_command(run, options, "\n\n".join(part for part in parts if part))
