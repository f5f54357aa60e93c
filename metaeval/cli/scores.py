"""Commands about measures and scores: measures, score, convert."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaeval.cli.output import Style, check_output, check_target, show, version_line, working, write_scores

if TYPE_CHECKING:
    from metaeval.data.scores import Scores
    from metaeval.measures.base import Measure

Missing = Annotated[
    str, typer.Option(help="Where a score or an answer is missing: raise, drop-topic, drop-run or worst")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("measures")(list_measures)
    app.command("score")(score)
    app.command("convert")(convert)


def list_measures(
    kind: Annotated[str | None, typer.Option(help="classification or quantification")] = None,
    style: Style = "text",
) -> None:
    """List the measures: direction, range, what each answers, and where it is defined.

    \b
    Examples:
      metaeval measures
      metaeval measures --kind quantification --format md
    """
    import pandas as pd

    from metaeval.errors import MeasureError
    from metaeval.measures import measures
    from metaeval.show.table import Table

    if kind not in (None, "classification", "quantification"):
        raise MeasureError(f"there is no kind {kind!r}: use classification or quantification")
    found = [one for one in measures() if kind in (None, one.kind)]
    rows = [
        {
            "kind": one.kind,
            "better": "higher" if one.higher_is_better else "lower",
            "range": f"{one.range[0]:g} to {one.range[1]:g}",
            "source": one.source,
            "what it answers": one.description.rstrip("."),
        }
        for one in found
    ]
    frame = pd.DataFrame(rows, index=pd.Index([str(one) for one in found], name="measure"))
    show(Table(frame, "Registered measures.", version_line()), style)


def score(
    gold: Annotated[str, typer.Argument(help="The gold file; or, without runs, the name of a data set")],
    runs: Annotated[list[str] | None, typer.Argument(help="Run files, or a folder of them")] = None,
    layout: Annotated[str | None, typer.Option("--layout", "-l", help="How the files are laid out, see above")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="A name, or FILE.py:FUNCTION; the papers' by default, or all"),
    ] = None,
    classes: Annotated[str | None, typer.Option(help="All classes in order, with commas: 0,1,2,3")] = None,
    aspect: Annotated[str | None, typer.Option(help="A, E or S, for dialogue-quality")] = None,
    normalise: Annotated[bool, typer.Option("--normalise", help="Rescale distributions that do not sum to 1")] = False,
    as_quantification: Annotated[
        bool, typer.Option("--as-quantification", help="Score the class distributions of classification runs")
    ] = False,
    missing: Missing = "raise",
    invalid: Annotated[
        str, typer.Option(help="A label that is no class: raise, drop-topic, drop-run, clip or worst")
    ] = "raise",
    collection: Annotated[
        str | None, typer.Option(help="Name of the collection [default: the gold file's name]")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write every score: a .csv, .tsv or .parquet file, or add to a store that is there"
        ),
    ] = None,
    style: Style = "text",
) -> None:
    """Score runs against gold: mean scores to stdout, every score to --out.

    Layouts: semeval-c and semeval-e (Task 4), dialogue-quality (NTCIR gold and run JSON), judgements
    (qid 0 docid label), labels (CSV of topic, item, label), probabilities (CSV of topic and one column
    a class), polarity (RepLab 2013, SemEval-2014 Task 9 and 2015 Task 10).

    \b
    Examples:
      metaeval score stc3-dq-a -m NMD -m RNOD
      metaeval score gold.json runs/ -l dialogue-quality --aspect S --normalise -o scores.csv
      metaeval score qrels.txt run1.txt run2.txt -l judgements --classes 0,1,2,3 --invalid clip
      metaeval score stc3-dq-a -m my_measure.py:my_measure
    """
    from metaeval.comparison import established
    from metaeval.data.runs import ClassificationRuns
    from metaeval.data.score import score as scored
    from metaeval.data.scores import Scores
    from metaeval.errors import format_count
    from metaeval.show.signature import sign
    from metaeval.show.table import Table

    check_output(style, None)
    if out is not None:
        check_target(out)
    wanted = None if measure == ["all"] else wanted_measures(measure)
    with working("reading and scoring"):
        data = _runs(gold, runs, layout, classes, aspect, normalise, missing, invalid, collection)
        if as_quantification and isinstance(data, ClassificationRuns):
            data = data.to_quantification()
        if isinstance(data, Scores):
            result = data if wanted is None else data.sel(measures=wanted)
        else:
            if measure is None:
                wanted = established(data)
            result = scored(data, wanted)  # type: ignore[arg-type]
    caption = f"Mean scores over topics: {format_count(len(result.runs), 'run')}, {format_count(len(result.topics), 'topic')}."
    show(Table(result.means(), caption, sign("score", result), digits=4), style)
    if out is not None:
        write_scores(result, out)


def convert(
    source: Annotated[str, typer.Argument(help="A score file or folder, a store, or a data set's name")],
    target: Annotated[Path, typer.Argument(help="Where to write it")],
    from_format: Annotated[
        str | None, typer.Option("--from", help="Format of the source, where it cannot be seen")
    ] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format of the target, where its name does not tell")
    ] = None,
    measure: Annotated[str | None, typer.Option(help="The measure of a file that holds one without its name")] = None,
    collection: Annotated[str | None, typer.Option(help="Name of the collection")] = None,
    missing: Missing = "raise",
) -> None:
    """Turn scores from one format into another.

    Formats: tidy (CSV or Parquet of run, topic, measure, score), wide (topics × runs CSV, one file a
    measure), sakai (text matrices with a file of run names), trec_eval (-q output), store.

    \b
    Examples:
      metaeval convert scores.csv scores.parquet
      metaeval convert web2013_ndcg20.csv tidy.csv
      metaeval convert scores.csv folder --to sakai
      metaeval convert scores.csv mystore --to store --collection web2013
    """
    from metaeval.datasets.open import open_scores

    with working("converting"):
        scores = open_scores(
            source, format=from_format, measure=measure, collection=collection, missing=missing  # type: ignore[arg-type]
        )  # fmt: skip
        write_scores(scores, target, to_format)


def wanted_measures(names: list[str] | None) -> list[Measure] | None:
    """Return the measures named on the command line: registered ones, labels, or FILE.py:FUNCTION, which is run."""
    from metaeval.measures.resolve import resolve_measures

    return list(resolve_measures(names, labels=())) if names else None


def _runs(
    gold: str,
    runs: list[str] | None,
    layout: str | None,
    classes: str | None,
    aspect: str | None,
    normalise: bool,
    missing: str,
    invalid: str,
    collection: str | None,
) -> object | Scores:
    from metaeval.errors import MetaevalError

    if not runs and layout is None:
        from metaeval.datasets import load_dataset

        if Path(gold).exists():
            raise MetaevalError(f"{gold} is a file: name the runs after it, and their layout with --layout")
        return load_dataset(gold)
    return read_gold_and_runs(gold, runs, layout, classes, aspect, normalise, missing, invalid, collection)


def read_gold_and_runs(
    gold: str,
    runs: list[str] | None,
    layout: str | None,
    classes: str | None = None,
    aspect: str | None = None,
    normalise: bool = False,
    missing: str = "raise",
    invalid: str = "raise",
    collection: str | None = None,
) -> object:
    """Read a gold file and run files as the options of the command line say."""
    from metaeval.errors import MetaevalError
    from metaeval.io import read_runs

    if layout is None:
        raise MetaevalError("say how the files are laid out: --layout semeval-c, judgements, … (metaeval score --help)")
    if not runs:
        raise MetaevalError("name at least one run file, or a folder of them, besides the gold file")
    return read_runs(
        gold,
        runs if len(runs) > 1 else runs[0],
        format=layout,
        classes=None if classes is None else [label.strip() for label in classes.split(",")],
        aspect=aspect,
        missing=missing,  # type: ignore[arg-type]
        invalid=invalid,  # type: ignore[arg-type]
        rescale=normalise,
        **({} if collection is None else {"collection": collection}),
    )
