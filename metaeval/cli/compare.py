"""The command that compares a newly proposed measure with the established ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from metaeval.cli.complete import complete_measure, complete_source
from metaeval.cli.options import (
    AllHigherIsBetter,
    Alpha,
    Aspect,
    Classes,
    Columns,
    Command,
    DistinctRuns,
    HigherIsBetter,
    Invalid,
    Jobs,
    LowerIsBetter,
    Missing,
    Permutations,
    Rescale,
    Seed,
    Trials,
    parse_columns,
    parse_directions,
)
from metaeval.cli.output import SCORES, check_report, print_notes
from metaeval.cli.scores import GoldAndRuns

Figures = Literal["page", "all"]


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("compare", cls=Command)(compare)


def compare(
    measure: Annotated[
        list[str],
        typer.Option(
            "--measure",
            "-m",
            metavar="NAME",
            help="The new measure: FILE.py:FUNCTION, or a name; may be repeated",
            autocompletion=complete_measure,
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            "-d",
            metavar="SOURCE",
            help="A data set, a store or a score file; may be repeated",
            autocompletion=complete_source,
        ),
    ] = None,
    gold: Annotated[str | None, typer.Option(help="A gold file, with --runs and --layout")] = None,
    runs: Annotated[list[str] | None, typer.Option(help="Run files, or a folder of them")] = None,
    layout: Annotated[
        str | None, typer.Option("--layout", "-l", help="Layout of gold and run files; see metaeval score --help")
    ] = None,
    classes: Classes = None,
    aspect: Aspect = None,
    rescale: Rescale = False,
    missing: Missing = "raise",
    invalid: Invalid = "raise",
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores",
            "-s",
            metavar="SOURCE",
            help="Like --data, of score matrices: --measure names one of their measures",
            autocompletion=complete_source,
        ),
    ] = None,
    new_scores: Annotated[
        list[str] | None,
        typer.Option(help="The new measure comes only as scores: a CSV of run, topic, score for each --data"),
    ] = None,
    columns: Columns = None,
    lower_is_better: LowerIsBetter = None,
    higher_is_better: HigherIsBetter = None,
    all_higher_is_better: AllHigherIsBetter = False,
    against: Annotated[
        list[str] | None, typer.Option("--against", "-a", help="Compare with this measure instead; may be repeated")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            "-r",
            help="What tells which measures are right: a measure of the same data, or a file of scores of one measure; "
            "repeated, one for each --data, in their order",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report")] = Path("report"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the report that is there")] = False,
    n_trials: Trials = 1000,
    n_permutations: Permutations = 5000,
    alpha: Alpha = 0.05,
    distinct_runs: DistinctRuns = False,
    thorough: Annotated[
        bool,
        typer.Option(
            "--thorough", help="Try verdicts by bootstrap-t, other seeds, without baselines and distinct runs"
        ),
    ] = False,
    figures: Annotated[
        Figures, typer.Option(help="page: in the page and as SVG; all: as PDF and PNG too, which takes longer")
    ] = "page",
    p_values: Annotated[
        bool, typer.Option("--p-values", help="Write every p-value, contradiction and split too, which may be large")
    ] = False,
    seed: Seed = 0,
    n_jobs: Jobs = -1,
    time_limit: Annotated[float, typer.Option(help="Seconds that computing a new measure may take")] = 120.0,
) -> None:
    """How does a new measure behave against the established ones? One command, one report.

    The established measures' scores are kept in OUT/scores, so that the next run computes only what is new; with
    --overwrite its report takes the place of the former one.

    \b
    Examples:
      metaeval compare --measure my_measure.py:my_measure --data stc3-dq-a --data stc3-dq-e -o report/
      metaeval compare -m my_measure.py:my_measure --gold gold.txt --runs runs/ -l judgements --classes 0,1,2
      metaeval compare -m nDCG@20 --scores trec-web-2013 -o report/
      metaeval compare -m TER --scores mt.csv --columns run=system,topic=segment --lower-is-better edits -o report/
      metaeval compare -m BLEU --scores wmt23-en-de --reference mqm -o report/
      metaeval compare -m my_measure.py:my_measure --data stc3-dq-a --thorough --figures all -o report/
      metaeval compare -m mine -d one.csv -d two.csv --reference people1.csv --reference people2.csv -o report/
      metaeval compare -m mine --new-scores mine.csv --data scores.csv --lower-is-better mine -o report/
    """
    from metaeval.cli.generate import open_named
    from metaeval.comparison.new_measure import compare as compare_measures
    from metaeval.comparison.summary import list_warnings, show_summary
    from metaeval.datasets.open import open_data
    from metaeval.errors import MetaevalError

    check_report(out, overwrite)
    named = [*(data or []), *(scores or [])]
    sources: list[object] = [*named]
    names = parse_columns(columns)
    if (missing != "raise" or names) and not new_scores:
        sources = [open_data(one, missing=missing, columns=names) for one in named]  # type: ignore[arg-type]
    if gold is not None:
        sources.append(GoldAndRuns(gold, runs, layout, classes, aspect, rescale, missing, invalid).read())
    if not sources:
        raise MetaevalError("name the data: --data, --scores, or --gold with --runs and --layout")
    if new_scores:
        if gold is not None:
            raise MetaevalError("--new-scores goes with --data or --scores, not with --gold: score the runs first")
        sources = _join_scores(measure, new_scores, named, missing, names)
    held = open_named(reference[0] if reference and len(reference) == 1 else reference, missing)
    with _report_progress() as say:
        result = compare_measures(
            measure, sources, against=against or None, reference=held, missing=missing,  # type: ignore[arg-type]
            n_trials=n_trials, n_permutations=n_permutations, alpha=alpha, distinct_runs=distinct_runs,
            thorough=thorough, seed=seed, n_jobs=n_jobs, time_limit=time_limit, say=say,
            store=None if scores or new_scores else out / SCORES,
            **parse_directions(lower_is_better, higher_is_better, all_higher_is_better),
        )  # fmt: skip
        say("writing the report")
        index = result.write(out, figures=figures, p_values=p_values)
    paragraphs = [result.verdict(name) for name in result.new]
    print("\n\n".join([*paragraphs, *(show_summary(result, name).to_text() for name in result.new)]))
    print_notes([*result.notes, *list_warnings(result)])
    print(f"\nreport: {index}")


def _join_scores(
    names: list[str], files: list[str], sources: list[str], missing: str, columns: dict[str, str] | None
) -> list[object]:
    """Put the scores of each file beside those of the collection that was named in the same place."""
    from metaeval.datasets.open import open_scores
    from metaeval.errors import MetaevalError
    from metaeval.io import tidy

    if len(names) != 1 or len(files) != len(sources):
        raise MetaevalError("--new-scores goes with one --measure, its name, and there is one file for each --data")
    opened = [open_scores(source, missing=missing, columns=columns) for source in sources]  # type: ignore[arg-type]
    return [
        scores.add_measures(tidy.read(file, measure=names[0], columns=columns), first=True)
        for file, scores in zip(files, opened, strict=True)
    ]


@contextmanager
def _report_progress() -> Iterator[Callable[[str], None]]:
    """Show what is being done: one changing line where somebody watches, one line each otherwise."""
    from rich.console import Console
    from rich.status import Status

    from metaeval.errors import one_line

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda line: print(f"metaeval: {one_line(line)}", file=sys.stderr)
        return
    with Status("starting", console=console) as status:
        yield lambda line: status.update(one_line(line).replace("[", r"\["))
