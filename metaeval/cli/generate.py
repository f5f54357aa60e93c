"""From a function to its command: what it takes, what is called, and what is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

from metaeval.cli.analyses import ANALYSES, Analysis
from metaeval.cli.command import Values, make_command, option_names
from metaeval.cli.complete import complete_source
from metaeval.cli.docstrings import find_question, parse_docstring
from metaeval.cli.opening import (
    join_runs,
    open_annotations,
    open_judged_runs,
    open_partial,
    open_ratings,
    open_references,
    open_sources,
    read_columns,
)
from metaeval.cli.options import (
    DIRECTIONS,
    GAPS,
    MISSING,
    NOISE,
    OPENING,
    OPTIONS,
    RATINGS,
    Options,
    argument,
    format_name,
    option,
    spell,
    take,
)
from metaeval.cli.output import check_output, check_width, print_status, show_results, working
from metaeval.cli.parameters import Function, Parameter, find_input, read_parameters
from metaeval.errors import MetaevalError

if TYPE_CHECKING:
    from metaeval.data.scores import Scores

GROUPS = {
    "Start here": ("compare", "agreement", "ranks", "judges", "inspect", "data", "score"),
    "How a measure behaves on runs": (
        "similarity", "consistency", "power", "overlap", "contradictions", "calibrate", "baselines", "robustness",
        "coverage",
    ),
    "Whether judges are right": ("qrels", "correct"),
    "What its formula does": ("measures", "properties", "app"),
    "How many topics it needs": ("variance", "sample-size", "topic-set-size"),
    "Files and references": ("convert", "cite", "help"),
}  # fmt: skip
"""The commands by subject, as ``metaeval --help`` shows them; others follow under a heading of their own."""

IN_PYTHON = ("p_add_one", "variance_offset", "gaps")
"""Arguments of functions that are no options; `gaps` is what ``--missing`` says of boards."""

_MISSING_OF_BOARDS = option(
    str,
    "What to do where a score is missing; a board can compare what is present, or the runs that are complete",
    choices=(*MISSING, *GAPS),
    default="raise",
)

_LABELS = {
    "people": argument(
        str,
        "A table of people's labels; or, without JUDGES, the name of a data set",
        metavar="PEOPLE",
        complete=complete_source,
    ),
    "answers": argument(str | None, "A table of judges' labels", metavar="[JUDGES]", default=None),
    **take("classes"),
}
_READING_LABELS = {
    "missing": option(
        str,
        "What to do if a judge has no answer; drop-topic leaves out the item",
        choices=("raise", "drop-topic", "drop-run"),
        default="raise",
    ),
    **take("columns"),
    "separator": option(
        str | None, "Where the topic ends in an item's name: with __ the topic of doc7__fluency is doc7"
    ),
}

_JUDGED = {
    "judgements": argument(
        list[str],
        "Files of judgements, topic 0 document grade: those of people first, then judges'",
        metavar="QRELS...",
    ),
    "runs": option(
        list[str],
        "A folder of runs, or a run, topic Q0 document rank score name; may be repeated",
        default=...,
        metavar="FOLDER",
    ),
}
_READING_JUDGED = take("collection") | {
    "missing": option(
        str,
        "What to do where a run has no document on a topic, or judgements lack one; worst lets the run find nothing",
        choices=("raise", "drop-topic", "drop-run", "worst"),
        default="raise",
    )
}


@dataclass(frozen=True)
class _Subject:
    """What a command is about where that is no scores: options that name it and that say how it is read, and what opens it."""

    what: str
    named: Options
    reading: Options
    open: Callable[[Values], Any]


_SUBJECTS = {
    "measures": _Subject("measures", take("measures"), {}, lambda values: values.measures),
    "annotations": _Subject("labels", _LABELS, _READING_LABELS, open_annotations),
    "judged": _Subject("runs", _JUDGED, _READING_JUDGED, open_judged_runs),
    "ratings": _Subject("ratings", take("source"), RATINGS, open_ratings),
}
"""By what `find_input` says that a function takes; of scores, all else is about them."""


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


def generate_command(name: str, analysis: Analysis) -> Any:
    """Make the command of an analysis."""
    plan = Plan.of(name, analysis)
    return make_command(plan.run, plan.declare(), _write_help(plan.main, analysis))


@dataclass(frozen=True)
class Plan:
    """What a command calls: `main`, or `board` for several tasks."""

    name: str
    main: Function
    takes: str
    board: Function | None
    pairs: str

    @classmethod
    def of(cls, name: str, analysis: Analysis) -> Plan:
        """Import the functions of an analysis."""
        main = _load(analysis.function)
        board = _load(analysis.board) if analysis.board else None
        return cls(name, main, find_input(main), board, analysis.pairs)

    @property
    def several(self) -> bool:
        """Whether the command takes several sources."""
        return self.takes == "several" or self.board is not None

    def parameters(self) -> dict[tuple[str, ...], Parameter]:
        """Return the parameters of all functions; those that are spelled alike are one."""
        parameters: dict[tuple[str, ...], Parameter] = {}
        for function in (self.main, self.board):
            for parameter in self._read(function) if function else ():
                parameters.setdefault(parameter.spelling, parameter)
        return parameters

    def _read(self, function: Function) -> list[Parameter]:
        """Return the parameters of a function that are options."""
        return [parameter for parameter in read_parameters(function) if parameter.name not in IN_PYTHON]

    def declare(self) -> Options:
        """Return the options of the command, in the order of its help."""
        subject, parameters = _SUBJECTS.get(self.takes), self.parameters().values()
        sources = {"source": OPTIONS["sources" if self.several else "source"]}
        declared = dict(subject.named if subject else sources)
        declared |= {parameter.name: parameter.declare() for parameter in parameters if not parameter.flags}
        if subject is None or self.takes == "ratings":
            declared |= take("measure")
        for parameter in parameters:
            if parameter.flags:
                declared[parameter.name] = parameter.declare()
        declared |= subject.reading if subject else OPENING | NOISE | DIRECTIONS
        if self.board is not None:
            declared["missing"] = _MISSING_OF_BOARDS
        if self.pairs:
            declared |= take(self.pairs)
        return declared | take("style", "explain", "width", "out")

    def call(self, function: Function, subject: object, values: Values) -> Any:
        """Call a function with what the command line says of its parameters."""
        known = self.parameters()
        arguments = {
            parameter.name: getattr(values, known[parameter.spelling].name) for parameter in self._read(function)
        }
        if function is self.board:
            arguments["gaps"] = values.gaps
        with working(function.__name__.replace("_", " ")):
            return function(subject, **arguments)

    def run(self, values: Values) -> None:
        """Open what the command is about, call its functions, and show their results."""
        values.gaps = None
        with option_names({"gaps": "--missing"} if self.board else {}):
            self._run(values)

    def _run(self, values: Values) -> None:
        check_output(values.style, values.out, getattr(values, self.pairs, None) if self.pairs else None)
        check_width(values.width, values.style, values.out)
        self._convert(values)
        if self.takes in _SUBJECTS:
            subject = _SUBJECTS[self.takes]
            with working(f"reading {subject.what}"):
                opened = subject.open(values)
            results = {self.name: self.call(self.main, opened, values)}
        else:
            sources = values.source if self.several else [values.source]
            function = self.main
            if self.board is not None and values.missing in GAPS:
                values.gaps, values.missing = values.missing, "keep"
            reference_opens = any(parameter.opens == "files or names" for parameter in self.parameters().values())
            scores = open_sources(sources, values, reference_opens=reference_opens, several=self.several)
            if self.board is not None:
                scores = join_runs(scores, sources)
                function, when = self._choose_board(self.board, scores, values)
                self._refuse_unused(values.stated, function, when)
            results = self._analyse(function, scores, values)
        show_results(results, values.style, values.out, explain=values.explain, width=values.width)

    def _convert(self, values: Values) -> None:
        """Make the arguments of functions of what was typed."""
        for parameter in self.parameters().values():
            value = getattr(values, parameter.name)
            if parameter.convert is not None:
                value = parameter.convert(value)
            if parameter.opens == "files":
                columns = read_columns(values)
                opening = {name: getattr(values, name, None) for name in OPENING} | {"columns": columns}
                value = open_references(value, opening, names=False)
            if parameter.opens == "partial scores":
                value = open_partial(value, values)
            setattr(values, parameter.name, value)

    def _choose_board(self, board: Function, scores: list[Scores], values: Values) -> tuple[Function, str]:
        """Return the function of the board where there are several tasks, or options that only it takes; and when that is."""
        ordinary = {parameter.spelling for parameter in self._read(self.main)}
        own = {parameter.name for parameter in self._read(board) if parameter.spelling not in ordinary}
        if len(scores) > 1 or own & values.stated or values.gaps:
            return board, "for a board of tasks"
        return self.main, "for a single task"

    def _refuse_unused(self, stated: set[str], called: Function, when: str) -> None:
        """Refuse an option that stands on the command line although the function that is called does not take it."""
        used = {parameter.spelling for parameter in self._read(called)}
        for spelling, parameter in self.parameters().items():
            if parameter.name in stated and spelling not in used:
                raise MetaevalError(f"{spelling[0]} does nothing {when}")

    def _analyse(self, function: Function, scores: list[Scores], values: Values) -> dict[str, Any]:
        """Return the results by the names of their files."""
        pairs = getattr(values, self.pairs) if self.pairs else None
        if pairs is not None and len(scores) > 1:
            raise MetaevalError(f"{spell(self.pairs)[0]} is for a single source: a file for each needs a call for each")
        result = self.call(function, scores if len(scores) > 1 else scores[0], values)
        if pairs is not None:
            from metaeval.show.frames import write_frames

            with working(f"writing {pairs}"):
                write_frames(pairs, [result.run_pairs()])
            print_status(f"wrote {pairs}")
        parts = getattr(result, "parts", ())
        if not parts:
            return {self.name: result}
        # The pooled result answers what several sources were named for, so that it comes first.
        named: dict[str, Any] = {f"pooled-{self.name}": result}
        for number, part in enumerate(parts, start=1):
            file = f"{self.name}-{format_name(part.collection) or number}"
            named[f"{file}-{number}" if file in named else file] = part
        return named


def _write_help(function: Function, analysis: Analysis) -> str:
    docstring = parse_docstring(function)
    examples = "\n".join(f"  metaeval {example}" for example in analysis.examples)
    # \b keeps the lines of the next paragraph as they are.
    parts = (docstring.question, docstring.details, analysis.remarks, f"\b\nExamples:\n{examples}")
    return "\n\n".join(part for part in parts if part)


def _load(reference: str) -> Function:
    module, _, name = reference.partition(":")
    function: Function = getattr(import_module(f"metaeval.{module}"), name)
    return function
