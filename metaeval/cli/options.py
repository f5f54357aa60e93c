"""The options that several commands share, and how the command line spells the arguments of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import typer

from metaeval.io import formats

FLAGS = {
    "against": "--against -a", "format": "--from", "layout": "--layout -l", "measure": "--measure -m",
    "measures": "--measure -m", "n_bootstrap": "--bootstrap", "n_permutations": "-B --permutations", "n_random": "--random",
    "n_studies": "--studies", "n_topics": "--topics", "n_trials": "--trials", "out": "--out -o",
    "reference": "--reference -r", "rescale": "--normalise", "statistics": "--statistic", "style": "--format -f",
    "tests": "--test", "to_format": "--to",
}  # fmt: skip
"""Arguments whose options are not simply called ``--name-of-the-argument``; messages use the first spelling."""

HELP = {
    "seed": "Seed of everything random",
    "alpha": "Significance level",
    "n_jobs": "Threads; any number gives the same results",
    "n_bootstrap": "Resamples of the topics for the intervals; 0 for none",
    "confidence": "Level of the intervals",
    "distinct_runs": "Keep one of several runs with the same scores on every topic",
    "tau": "Which rank correlation",
    "test": "Test of all pairs of runs",
}
"""What options say where a docstring has nothing to add."""

PHRASES = {
    "runs.to_quantification()": "metaeval score --as-quantification",
    "read_runs": "metaeval score",
    "parts": "metaeval score --parts",
    "higher_is_better=True": "--all-higher-is-better",
}
"""What messages call otherwise on the command line, besides the options of the command itself."""

MISSING = ("raise", "drop-topic", "drop-run", "worst", "keep")
GAPS = ("present", "complete")  # what a board can do about missing scores, besides
INVALID = ("raise", "drop-topic", "drop-run", "clip", "worst")
READ_FORMATS = (*formats.READ_FORMATS, "store")
_LAYOUTS = [f"{each.name} ({each.layout.replace('`', '')})" for each in formats.RUN_FORMATS.values()]


class Option(NamedTuple):
    """An option, or `by_place` an argument; `convert` makes what the function takes of what was typed, given all that was."""

    help: str
    kind: Any = str | None
    default: object = None
    choices: Sequence[str] = ()  # the function itself refuses another one, in its words
    by_place: bool = False
    convert: Callable[[Any, Any], Any] | None = None

    def annotate(self, name: str) -> Any:
        """Return the annotation of which typer makes the option that is called so."""

        def offer(incomplete: str) -> list[str]:
            from metaeval.measures import measures

            known = self.choices or [measure.name for measure in measures()]
            return [word for word in known if word.startswith(incomplete)]

        flags, help = spell(name), self.help
        if self.default is True:  # what is done by default needs a word to switch it off
            flags = (f"{flags[0]}/--no-{flags[0][2:]}",)
        if not all(choice in help for choice in self.choices):
            help = f"{help} ({', '.join(self.choices)})"
        offers = self.choices or name in ("measure", "measures", "against", "names")
        shown: dict[str, Any] = {"help": help, "autocompletion": offer if offers else None}
        if self.by_place:
            return Annotated[self.kind, typer.Argument(**shown, metavar=name.upper())]
        kinds = {bool: None, Literal: None, Path: "FILE", int: "N", float: "X"}
        inner = [get_origin(one) or one for one in (self.kind, *get_args(self.kind))]
        metavar = next((kinds[one] for one in inner if one in kinds), "NAME")
        return Annotated[self.kind, typer.Option(*flags, **shown, metavar=metavar)]


Options = dict[str, Option]


def argument(help: str, kind: Any = str, default: object = ...) -> Option:
    """Return an argument, which must be given unless it has a default."""
    return Option(help, kind, default, by_place=True)


NAMES = list[str] | None

READING: Options = {
    "format": Option(f"Format of the source: {', '.join(READ_FORMATS)}; detected by default", choices=READ_FORMATS),
    "layout": Option(f"Layout of gold and run files: {'; '.join(_LAYOUTS)}", choices=(*formats.RUN_FORMATS,)),
    "classes": Option("All classes in order, with commas: 0,1,2,3"),
    "aspect": Option("Of the layout dialogue-quality: which aspect", choices=("A", "E", "S")),
    "rescale": Option("Rescale distributions that do not sum to 1", bool, False),
    "collection": Option("The collection of a store, or a name for that of a file"),
    "missing": Option("What to do where a score or answer is missing", str, "raise", MISSING),
    "doubled": Option("Where a run has several scores on a topic", str, "raise", ("raise", "mean", "latest")),
    "invalid": Option("What to do with labels of no class", str, "raise", INVALID),
    "columns": Option(
        "What your columns hold: run=entry,topic=doc+line (a+b joins two). Possible: run, topic, measure, score, "
        "collection, cluster, repeat, time, item, label, ignore",
        NAMES,
    ),
    "clusters": Option("Column of clusters of topics (document), which are drawn together"),
    "repeats": Option("Column of repeats (epoch, seed), over which scores are averaged"),
    "judges": Option("Column of judges or annotators"),
    "tasks": Option("Column of tasks or categories"),
    "lower_is_better": Option("Lower is better for this measure; may be repeated", NAMES),
    "higher_is_better": Option("Higher is better for this measure; may be repeated", NAMES),
    "all_higher_is_better": Option("Higher is better but for --lower-is-better", bool, False),
}
OUTPUT: Options = {
    "style": Option("How the table is printed", Literal["text", "csv", "md", "latex", "json"], "text"),
    "explain": Option("Print all columns, how to read them, and every note", bool, False),
    "width": Option("Width of LaTeX tables and figures in a paper", Literal["column", "page"] | None),
    "out": Option("Folder for table, rows and figure", Path | None),
    "defuse_formulas": Option("Put ' before names that a spreadsheet would run: =cmd()", bool, False),
}
SHARED = {"reading": READING, "output": OUTPUT}
"""Options that many commands take, by the topic of ``metaeval help`` that explains them."""

OPTIONS: Options = (
    READING
    | OUTPUT
    | {
        "source": argument("A score file, folder, store or data set; - is standard input"),
        "sources": argument("Score files, folders, stores or data sets; - is standard input", list[str]),
        "measures": argument("Names of measures, or FILE.py:FUNCTION", list[str]),
        "measure": Option("A measure, or FILE.py:FUNCTION; may be repeated; by default all", NAMES),
    }
)
"""What commands share."""


def take(*names: str) -> Options:
    """Return shared options by name."""
    return {name: OPTIONS[name] for name in names}


OPENING = take("collection", "format", "missing", "columns", "doubled")
"""How a source is opened: arguments of `open_scores`."""

DIRECTIONS = take("lower_is_better", "higher_is_better", "all_higher_is_better")
"""How directions are stated: see `find_directions`."""

SCORES = OPENING | take("clusters", "repeats") | DIRECTIONS
"""How scores are read."""


def spell(argument: str) -> tuple[str, ...]:
    """Return how the command line spells an argument, as messages do first: ('-B', '--permutations')."""
    return tuple(FLAGS.get(argument, f"--{argument.replace('_', '-')}").split())
