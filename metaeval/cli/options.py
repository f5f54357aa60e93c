"""Options that several commands share, and how the command line spells the arguments of functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from metaeval.cli.complete import complete_choice, complete_measure, complete_source

FLAGS: dict[str, tuple[str, ...]] = {
    "n_permutations": ("-B", "--permutations"),
    "n_trials": ("--trials",),
    "n_bootstrap": ("--bootstrap",),
    "n_samples": ("--samples",),
    "n_random": ("--random",),
    "reference": ("--reference", "-r"),
    "candidates": ("--reference", "-r"),
    "statistics": ("--statistic",),
}
"""Arguments whose options are not simply called ``--name-of-the-argument``; messages use the first spelling."""

HELP = {
    "seed": "Seed of everything random",
    "alpha": "Significance level",
    "n_jobs": "Threads; the numbers are the same for any",
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
    "rounding": "metaeval score --rounding",
    "parts": "metaeval score --parts",
    "invalid": "metaeval score --invalid",
    "higher_is_better=True": "--all-higher-is-better",
}
"""What messages call otherwise on the command line, besides the options of the command itself."""

MISSING = ("raise", "drop-topic", "drop-run", "worst")
INVALID = ("raise", "drop-topic", "drop-run", "clip", "worst")
STYLES = ("text", "csv", "md", "latex", "json")
LAYOUTS = (
    "semeval-c", "semeval-e", "dialogue-quality", "judgements", "labels", "probabilities", "votes", "polarity",
)  # fmt: skip
SCORE_FORMATS = ("tidy", "wide", "sakai", "trec_eval", "wmt", "tot", "ir_measures", "ranking", "jsonl", "store")


def choose(choices: Sequence[str]) -> dict[str, Any]:
    """Return how an option shows its choices, and how a shell completes them; the function refuses another one itself.

    Parameters
    ----------
    choices : sequence of str

    Returns
    -------
    dict
        Arguments of `typer.Option`.

    Examples
    --------
    >>> choose(["all", "shared"])["metavar"]
    '[all|shared]'
    """
    return {"metavar": f"[{'|'.join(choices)}]", "autocompletion": complete_choice(choices)}


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A score file or folder, a store, a data set's name, or - for standard input",
        autocompletion=complete_source,
    ),
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Score files or folders, stores, or data sets' names, one or several; - for standard input",
        autocompletion=complete_source,
    ),
]
MeasureArguments = Annotated[
    list[str],
    typer.Argument(metavar="MEASURE", help="Names of measures, or FILE.py:FUNCTION", autocompletion=complete_measure),
]
MeasureNames = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="NAME",
        help="Which measure: a name, or FILE.py:FUNCTION; may be repeated; by default all",
        autocompletion=complete_measure,
    ),
]
Collection = Annotated[str | None, typer.Option(help="Which collection of a store, or what to call that of a file")]
FromFormat = Annotated[
    str | None,
    typer.Option(
        "--from",
        help=f"Format of the source: {', '.join(SCORE_FORMATS)}; by default what its name and first line tell",
        metavar="FORMAT",
        autocompletion=complete_choice(SCORE_FORMATS),
    ),
]
Missing = Annotated[str, typer.Option(help="What to do where a score or answer is missing", **choose(MISSING))]
Invalid = Annotated[str, typer.Option(help="What to do with a label that is no class", **choose(INVALID))]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="WHAT=NAME,...",
        help="What a file calls the columns run, topic, measure, score, item, label: run=system,score=value",
    ),
]
LowerIsBetter = Annotated[
    list[str] | None,
    typer.Option(
        "--lower-is-better", metavar="NAME", help="State that lower scores of this measure are better; may be repeated"
    ),
]
HigherIsBetter = Annotated[
    list[str] | None,
    typer.Option(
        "--higher-is-better",
        metavar="NAME",
        help="State that higher scores of this measure are better; may be repeated",
    ),
]
AllHigherIsBetter = Annotated[
    bool,
    typer.Option("--all-higher-is-better", help="State that higher scores are better, but for --lower-is-better ones"),
]
Rounding = Annotated[
    str | None,
    typer.Option(help="Which class a real number between two becomes", **choose(("nearest", "down", "up"))),
]
Parts = Annotated[int | None, typer.Option(help="Random parts of the items in place of topics: how many")]
Layout = Annotated[
    str | None,
    typer.Option(
        "--layout",
        "-l",
        metavar="LAYOUT",
        help=f"Layout of gold and run files: {', '.join(LAYOUTS)}; metaeval score --help explains them",
        autocompletion=complete_choice(LAYOUTS),
    ),
]
Classes = Annotated[str | None, typer.Option(metavar="A,B,...", help="All classes in order, with commas: 0,1,2,3")]
Aspect = Annotated[
    str | None, typer.Option(help="Of the layout dialogue-quality: which aspect", **choose(("A", "E", "S")))
]
Rescale = Annotated[bool, typer.Option("--normalise", help="Rescale distributions that do not sum to 1")]
Trials = Annotated[int, typer.Option("--trials", help="Random splits of the topics")]
Permutations = Annotated[int, typer.Option("-B", "--permutations", help=HELP["n_permutations"])]
Alpha = Annotated[float, typer.Option(help=HELP["alpha"])]
DistinctRuns = Annotated[
    bool, typer.Option("--distinct-runs", help="Keep one of several runs with the same scores on every topic")
]
Seed = Annotated[int, typer.Option(help=HELP["seed"])]
Jobs = Annotated[int, typer.Option(help=HELP["n_jobs"])]
Resume = Annotated[
    Path | None,
    typer.Option(help="Keep finished trials in this folder, and go on from there if the command was killed"),
]
Cluster = Annotated[str | None, typer.Option(help="Work on a Dask cluster: its scheduler's address, tcp://HOST:PORT")]
Style = Annotated[str, typer.Option("--format", "-f", help="How the table is printed", **choose(STYLES))]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for table, rows and figure")]

PAIRS = {
    "p_values": Annotated[
        Path | None,
        typer.Option("--p-values", help="Write every p-value, a row for every two runs, to a .csv or .parquet file"),
    ],
    "run_pairs": Annotated[
        Path | None, typer.Option("--run-pairs", help="Write every contradiction to a .csv or .parquet file")
    ],
}
"""What grows with the number of pairs of runs is written only to a file that is named for it."""

OPENING: dict[str, tuple[Any, object]] = {
    "collection": (Collection, None),
    "format": (FromFormat, None),
    "missing": (Missing, "raise"),
    "columns": (Columns, None),
}
"""How a source is opened: arguments of `open_scores` with their options and defaults."""

DIRECTIONS: dict[str, tuple[Any, object]] = {
    "lower_is_better": (LowerIsBetter, None),
    "higher_is_better": (HigherIsBetter, None),
    "all_higher_is_better": (AllHigherIsBetter, False),
}
"""How directions are stated: see `parse_directions`."""


def spell(argument: str) -> tuple[str, ...]:
    """Return how the command line spells an argument, as messages do first.

    Examples
    --------
    >>> spell("n_permutations"), spell("empty_classes")
    (('-B', '--permutations'), ('--empty-classes',))
    """
    return FLAGS.get(argument, (f"--{argument.replace('_', '-')}",))


SECTIONS = {
    "Reading": ("layout", "classes", "aspect", "rescale", "collection", "format", "missing", "invalid", "rounding",
                "parts", "columns", "separator"),
    "Directions of measures": tuple(DIRECTIONS),
    "Output": ("style", "out", "overwrite", "to_format", "defuse_formulas"),
}  # fmt: skip
"""Options that many commands share stand below those of the command, under these headings."""


class Command(TyperCommand):
    """A command whose messages speak of its own options: its parameters have the names of functions' arguments."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, the command's own options, and then those that it shares with others, by subject."""
        rows: dict[str, list[Any]] = {"Arguments": [], "Options": [], **{title: [] for title in SECTIONS}}
        for one in self.get_params(ctx):
            own = "Arguments" if one.param_type_name == "argument" else "Options"
            title = next((title for title, names in SECTIONS.items() if one.name in names), own)
            record = one.get_help_record(ctx)
            if record is not None:
                rows[own if own == "Arguments" else title].append(record)
        for title, some in rows.items():
            if some:
                with formatter.section(title):
                    formatter.write_dl(some)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        own = {one.name: one.opts[0] for one in self.params if one.name and one.param_type_name == "option"}
        with option_names(own):
            return super().invoke(ctx)


@contextmanager
def option_names(names: dict[str, str]) -> Iterator[None]:
    """Let messages call these arguments by these names while the context lasts.

    Parameters
    ----------
    names : dict of str to str
        Options by argument, added to those in use.
    """
    from metaeval.errors import option_names_in_use, use_option_names

    before = option_names_in_use()
    use_option_names({**PHRASES, **before, **names})
    # An error is shown after the command has ended, but its message was made while it ran.
    try:
        yield
    finally:
        use_option_names(before)


def parse_columns(said: str | None) -> dict[str, str] | None:
    """Return what ``--columns`` says: names of columns by what they stand for.

    Parameters
    ----------
    said : str or None

    Returns
    -------
    dict of str to str, or None

    Raises
    ------
    MetaevalError
        If it is not of that form.

    Examples
    --------
    >>> parse_columns("run=system, score=value")
    {'run': 'system', 'score': 'value'}
    """
    from metaeval.errors import MetaevalError

    if said is None:
        return None
    pairs = [[part.strip() for part in pair.partition("=")[::2]] for pair in said.split(",")]
    columns = {pair[0]: pair[1] for pair in pairs}
    if len(columns) < len(pairs) or not all(name in _COLUMNS and theirs for name, theirs in pairs):
        raise MetaevalError(
            f"--columns {said}: say what is called how, with {', '.join(_COLUMNS)}: run=system,score=value"
        )
    return columns


def parse_directions(lower: list[str] | None, higher: list[str] | None, every: bool) -> dict[str, Any]:
    """Return the directions that options state as `Scores` and functions that read them take them.

    Parameters
    ----------
    lower, higher : list of str or None
        Names of measures.
    every : bool
        Whether higher scores are better of all others.

    Returns
    -------
    dict

    Raises
    ------
    MetaevalError
        If one option leaves nothing to another.

    Examples
    --------
    >>> parse_directions(["cost"], None, True)
    {'lower_is_better': ['cost'], 'higher_is_better': True}
    """
    from metaeval.errors import MetaevalError

    if every and higher:
        raise MetaevalError(f"--higher-is-better {higher[0]} changes nothing beside --all-higher-is-better")
    return {"lower_is_better": lower or (), "higher_is_better": every or higher or ()}


_COLUMNS = ("run", "topic", "measure", "score", "item", "gold", "label", "annotator")
"""What a column can stand for, in scores, in labels and in votes."""


def format_name(name: str) -> str:
    """Return a collection's name, which may hold anything, as part of a file's name, which may not."""
    return "".join(character if character.isalnum() or character in "-_" else "-" for character in name)
