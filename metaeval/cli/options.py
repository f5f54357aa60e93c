"""The options that several commands share, and how the command line spells the arguments of functions."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from metaeval.cli.complete import Completer, complete_choice, complete_measure, complete_source
from metaeval.io import formats

Declared = tuple[Any, object]
"""The annotation of an option or argument, as typer takes it, and its default."""

Options = dict[str, Declared]

FLAGS: dict[str, tuple[str, ...]] = {
    "n_permutations": ("-B", "--permutations"),
    "n_trials": ("--trials",),
    "n_bootstrap": ("--bootstrap",),
    "n_random": ("--random",),
    "reference": ("--reference", "-r"),
    "candidates": ("--reference", "-r"),
    "statistics": ("--statistic",),
    "tests": ("--test",),
    "n_studies": ("--studies",),
    "n_topics": ("--topics",),
    "measures": ("--measure", "-m"),
    "prices": ("--price",),
}
"""Arguments whose options are not simply called ``--name-of-the-argument``; messages use the first spelling."""

HELP = {
    "seed": "Seed of everything random",
    "alpha": "Significance level",
    "n_jobs": "Threads; any number gives the same results",
    "n_permutations": "Trials of the randomised test",
    "tau": "Which rank correlation",
}
"""What options say where a docstring has nothing to add."""

PHRASES = {
    "runs.to_quantification()": "metaeval score --as-quantification",
    "name those that are with measures=…": "move it to another folder",
    "read_runs": "metaeval score",
    "format": "metaeval convert --from",
    "collection": "metaeval convert --collection",
    "rescale": "metaeval score --normalise",
    "parts": "metaeval score --parts",
    "invalid": "metaeval score --invalid",
    "higher_is_better=True": "--all-higher-is-better",
}
"""What messages call otherwise on the command line, besides the options of the command itself."""

MISSING = ("raise", "drop-topic", "drop-run", "worst", "keep")
GAPS = ("present", "complete")
"""What a board can do about missing scores, besides."""
DOUBLED = ("raise", "mean", "latest")
INVALID = ("raise", "drop-topic", "drop-run", "clip", "worst")
STYLES = ("text", "csv", "md", "latex", "json")
LAYOUTS = (*formats.RUN_FORMATS,)
SCORE_FORMATS = (*formats.SCORE_FORMATS, "store")
READ_FORMATS = (*formats.READ_FORMATS, "store")


def choose(choices: Sequence[str]) -> dict[str, Any]:
    """Return how an option shows its choices, and how a shell completes them; the function refuses another one itself.

    >>> choose(["all", "shared"])["metavar"]
    '[all|shared]'
    """
    return {"metavar": f"[{'|'.join(choices)}]", "autocompletion": complete_choice(choices)}


def option(
    kind: Any,
    help: str,
    *flags: str,
    default: object = None,
    metavar: str | None = None,
    choices: Sequence[str] = (),
    complete: Completer | None = None,
) -> Declared:
    """Declare an option; without flags it is called as its argument."""
    shown: dict[str, Any] = {"autocompletion": complete} | (choose(choices) if choices else {})
    if metavar is not None:
        shown["metavar"] = metavar
    return Annotated[kind, typer.Option(*flags, help=help, **shown)], default


def argument(
    kind: Any,
    help: str,
    *,
    metavar: str | None = None,
    complete: Completer | None = None,
    default: object = inspect.Parameter.empty,
) -> Declared:
    """Declare an argument, which must be given unless it has a default."""
    return Annotated[kind, typer.Argument(help=help, metavar=metavar, autocompletion=complete)], default


def switch(help: str, flag: str) -> Declared:
    """Declare an option without a value."""
    return option(bool, help, flag, default=False)


def name_measures(help: str, kind: Any = list[str] | None, default: object = None) -> Declared:
    """Declare the option that names measures."""
    return option(kind, help, "--measure", "-m", metavar="NAME", complete=complete_measure, default=default)


OPTIONS: Options = {
    "source": argument(
        str,
        "A score file or folder, a store, a data set's name, or - for standard input",
        metavar="SOURCE",
        complete=complete_source,
    ),
    "sources": argument(
        list[str],
        "Score files or folders, stores, or data sets' names, one or several; - for standard input",
        metavar="SOURCE",
        complete=complete_source,
    ),
    "measures": argument(
        list[str], "Names of measures, or FILE.py:FUNCTION", metavar="MEASURE", complete=complete_measure
    ),
    "measure": name_measures("A measure: its name, or FILE.py:FUNCTION; may be repeated; by default all"),
    "collection": option(str | None, "The collection to read from a store, or a name for the collection of a file"),
    "format": option(
        str | None,
        f"Format of the source: {', '.join(READ_FORMATS)}; by default what its name and first line tell",
        "--from",
        metavar="FORMAT",
        choices=READ_FORMATS,
    ),
    "missing": option(
        str,
        "What to do where a score or answer is missing",
        choices=MISSING,
        default="raise",
    ),
    "doubled": option(
        str,
        "What to do where a run has several scores on a topic: their mean, or the latest by a column of times",
        choices=DOUBLED,
        default="raise",
    ),
    "invalid": option(str, "What to do with a label that is not among the classes", choices=INVALID, default="raise"),
    "columns": option(
        list[str] | None,
        "Names of your columns, if metaeval does not know them: run=entry,topic=doc+line (a+b joins two columns). "
        "Possible: run, topic, measure, score, collection, cluster, repeat, time, item, label, ignore",
        metavar="WHAT=NAME,...",
    ),
    "clusters": option(
        str | None,
        "Column whose values tell which topics belong together (document, passage, conversation): they are drawn together",
        metavar="COLUMN",
    ),
    "repeats": option(
        str | None,
        "Column that numbers repeats of a run on a topic (epoch, seed): scores are averaged over it",
        metavar="COLUMN",
    ),
    "judges": option(str | None, "Column that names the judge or annotator of a score", metavar="COLUMN"),
    "tasks": option(str | None, "Column that names the task or category of a topic", metavar="COLUMN"),
    "lower_is_better": option(
        list[str] | None, "Lower scores of this measure are better; may be repeated", metavar="NAME"
    ),
    "higher_is_better": option(
        list[str] | None, "Higher scores of this measure are better; may be repeated", metavar="NAME"
    ),
    "all_higher_is_better": switch(
        "Higher scores are better for all measures except those of --lower-is-better", "--all-higher-is-better"
    ),
    "layout": option(
        str | None,
        f"Layout of gold and run files: {', '.join(LAYOUTS)}; metaeval score --help explains them",
        "--layout",
        "-l",
        metavar="LAYOUT",
        choices=LAYOUTS,
    ),
    "classes": option(str | None, "All classes in order, with commas: 0,1,2,3", metavar="A,B,..."),
    "aspect": option(str | None, "Of the layout dialogue-quality: which aspect", choices=("A", "E", "S")),
    "rescale": switch("Rescale distributions that do not sum to 1", "--normalise"),
    "seed": option(int, HELP["seed"], default=0),
    "p_values": option(Path | None, "Write every p-value, a row for every two runs, to a .csv or .parquet file"),
    "run_pairs": option(Path | None, "Write every contradiction to a .csv or .parquet file"),
    "style": option(str, "How the table is printed", "--format", "-f", choices=STYLES, default="text"),
    "explain": switch("Print all columns, how to read them, and every note with its reason", "--explain"),
    "defuse_formulas": switch("Put ' before names that a spreadsheet would run: =cmd()", "--defuse-formulas"),
    "width": option(
        str | None,
        "Width in a paper, of tables as LaTeX and of figures: of a column or of a page",
        choices=("column", "page"),
    ),
    "out": option(Path | None, "Folder for table, rows and figure", "--out", "-o", metavar="FOLDER"),
}
"""What commands share; `p_values` and `run_pairs` are files for what grows with the number of pairs of runs."""


def take(*names: str, **others: Declared) -> Options:
    """Return shared options by name, and behind them others."""
    return {name: OPTIONS[name] for name in names} | others


OPENING = take("collection", "format", "missing", "columns", "doubled")
"""How a source is opened: arguments of `open_scores`."""

NOISE = take("clusters", "repeats")
"""Columns that say which topics belong together, and which scores repeat each other: see `read_columns`."""

DIRECTIONS = take("lower_is_better", "higher_is_better", "all_higher_is_better")
"""How directions are stated: see `parse_directions`."""

RATINGS = take("collection", "format", "columns", "doubled", "repeats", "judges", "tasks") | DIRECTIONS
"""How ratings are opened: gaps are kept."""

METAVARS = {
    "reference": "SOURCE", "candidates": "MEASURE", "run_scores": "SOURCE", "sizes": "N,...",
    "task_weights": "TASK=W,...",
    "separator": "TEXT", "out": "FOLDER", "gold": "FILE", "runs": "FILE",
    "new_scores": "FILE", "people": "FILE", "family": "RUN=MODEL",
    "prices": "WHAT=PRICE",
}  # fmt: skip
"""What help calls the values of options whose type does not tell."""


def find_metavar(name: str, kind: Any) -> str:
    """Return what help calls the value of an option.

    >>> find_metavar("n_jobs", int), find_metavar("p_values", Path | None), find_metavar("statistics", list[str])
    ('N', 'FILE', 'NAME')
    """
    if name in METAVARS:
        return METAVARS[name]
    kinds = {kind, *get_args(kind)}
    for each, metavar in ((Path, "FILE"), (int, "N"), (float, "X")):
        if each in kinds:
            return metavar
    return "NAME"


SHARED = {
    "reading": ("format", "layout", "classes", "aspect", "rescale", "collection", "missing", "doubled", "invalid", "columns",
                "clusters", "repeats", "judges", "tasks", *DIRECTIONS),
    "output": ("style", "explain", "width", "out", "defuse_formulas"),
}  # fmt: skip
"""Options that many commands take, by the topic of ``metaeval help`` that explains them."""


def spell(argument: str) -> tuple[str, ...]:
    """Return how the command line spells an argument, as messages do first.

    >>> spell("n_permutations"), spell("empty_classes")
    (('-B', '--permutations'), ('--empty-classes',))
    """
    return FLAGS.get(argument, (f"--{argument.replace('_', '-')}",))


def parse_classes(text: str | None) -> list[str] | None:
    """Return the classes that ``--classes`` lists."""
    return None if text is None else [label.strip() for label in text.split(",")]


def parse_directions(lower: list[str] | None, higher: list[str] | None, every: bool) -> dict[str, Any]:
    """Return the directions of named measures, and of every other one, as functions take them.

    >>> parse_directions(["cost"], None, True)
    {'lower_is_better': ['cost'], 'higher_is_better': True}
    """
    return {"lower_is_better": lower or (), "higher_is_better": every or higher or ()}


def format_name(name: str) -> str:
    """Return a collection's name, which may hold anything, as part of a file's name, which may not."""
    return "".join(character if character.isalnum() or character in "-_" else "-" for character in name)
