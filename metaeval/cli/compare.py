"""The command that compares a newly proposed measure with the established ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("compare")(compare)


def compare(
    measure: Annotated[
        list[str], typer.Option("--measure", "-m", help="The new measure: FILE.py:FUNCTION, or a name; may be repeated")
    ],
    data: Annotated[
        list[str] | None, typer.Option("--data", "-d", help="A data set, a store or a score file; may be repeated")
    ] = None,
    gold: Annotated[str | None, typer.Option(help="A gold file, with --runs and --layout")] = None,
    runs: Annotated[list[str] | None, typer.Option(help="Run files, or a folder of them")] = None,
    layout: Annotated[str | None, typer.Option("--layout", "-l", help="As for metaeval score")] = None,
    classes: Annotated[str | None, typer.Option(help="All classes in order, with commas: 0,1,2,3")] = None,
    aspect: Annotated[str | None, typer.Option(help="A, E or S, for dialogue-quality")] = None,
    normalise: Annotated[bool, typer.Option("--normalise", help="Rescale distributions that do not sum to 1")] = False,
    scores: Annotated[
        list[str] | None,
        typer.Option("--scores", "-s", help="Like --data, of score matrices: --measure names one of their measures"),
    ] = None,
    new_scores: Annotated[
        list[str] | None,
        typer.Option(help="The new measure comes only as scores: a CSV of run, topic, score for each --data"),
    ] = None,
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="With --new-scores")] = False,
    against: Annotated[
        list[str] | None, typer.Option("--against", "-a", help="Compare with these instead; may be repeated")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report")] = Path("report"),
    trials: Annotated[int, typer.Option(help="Random splits of the topics")] = 1000,
    permutations: Annotated[int, typer.Option("--permutations", "-B", help="Trials of the randomised test")] = 5000,
    alpha: Annotated[float, typer.Option(help="Significance level")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of everything random")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; the numbers are the same for any")] = 1,
    time_limit: Annotated[float, typer.Option(help="Seconds that computing a new measure may take")] = 120.0,
) -> None:
    """How does a new measure behave against the established ones? One command, one report.

    The established measures' scores are kept in OUT/scores, so that the next run computes only what is new.

    \b
    Examples:
      metaeval compare --measure my_measure.py:my_measure --data stc3-dq-a --data stc3-dq-e -o report/
      metaeval compare -m my_measure.py:my_measure --gold gold.txt --runs runs/ -l judgements --classes 0,1,2
      metaeval compare -m nDCG@20 --scores trec-web-2013 -o report/
      metaeval compare -m mine --new-scores mine.csv --data scores.csv -o report/
    """
    from metaeval.comparison import compare as compared
    from metaeval.errors import MetaevalError

    sources: list[object] = [*(data or []), *(scores or [])]
    if gold is not None:
        from metaeval.cli.scores import read_gold_and_runs

        sources.append(read_gold_and_runs(gold, runs, layout, classes, aspect, normalise))
    if not sources:
        raise MetaevalError("name the data: --data, --scores, or --gold with --runs and --layout")
    if new_scores:
        sources = _with_new(measure, new_scores, sources, not lower_is_better)
    with _told() as say:
        result = compared(
            measure, sources, against=against or None, n_trials=trials, n_permutations=permutations,
            alpha=alpha, seed=seed, n_jobs=n_jobs, store=None if scores or new_scores else out / "scores",
            time_limit=time_limit, say=say,
        )  # fmt: skip
        say("writing the report")
        index = result.write(out)
    print(result.to_frame().to_string())
    for note in result.notes:
        print(f"metaeval: note: {note}", file=sys.stderr)
    print(f"\nreport: {index}")


def _with_new(names: list[str], files: list[str], sources: list[object], higher_is_better: bool) -> list[object]:
    """Put the scores of each file beside those of the collection that was named in the same place."""
    from metaeval.comparison import from_scores
    from metaeval.datasets.open import open_scores
    from metaeval.errors import MetaevalError
    from metaeval.io import tidy

    if len(names) != 1 or len(files) != len(sources):
        raise MetaevalError("--new-scores goes with one --measure, its name, and there is one file for each --data")
    return [
        from_scores(tidy.read(file, measure=names[0]), open_scores(str(source)), higher_is_better=higher_is_better)
        for file, source in zip(files, sources, strict=True)
    ]


@contextmanager
def _told() -> Iterator[Callable[[str], None]]:
    """Show what is being done: one changing line where somebody watches, one line each otherwise."""
    from rich.console import Console
    from rich.status import Status

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda line: print(f"metaeval: {line}", file=sys.stderr)
        return
    with Status("starting", console=console) as status:
        yield lambda line: status.update(line.replace("[", r"\["))
