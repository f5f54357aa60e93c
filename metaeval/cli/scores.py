"""Commands about gold, runs and scores: score, convert."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaeval.cli.complete import complete_choice, complete_measure, complete_source
from metaeval.cli.options import (
    SCORE_FORMATS,
    AllHigherIsBetter,
    Aspect,
    Classes,
    Collection,
    Columns,
    Command,
    FromFormat,
    HigherIsBetter,
    Invalid,
    Layout,
    LowerIsBetter,
    Missing,
    Parts,
    Rescale,
    Rounding,
    Source,
    Style,
    option_names,
    parse_columns,
    parse_directions,
)
from metaeval.cli.output import check_output, check_target, show, working, write_scores

if TYPE_CHECKING:
    from metaeval.data.runs import Runs


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("score", cls=Command)(score)
    app.command("convert", cls=Command)(convert)


@dataclass(frozen=True)
class GoldAndRuns:
    """A gold file and run files, and how to read them, as the options of score and compare say.

    Parameters
    ----------
    gold : str
    runs : list of str, optional
        Files, or one folder.
    layout : str, optional
        The format of all of them.
    classes : str, optional
        All classes in order, with commas.
    aspect, rescale, missing, invalid, collection, rounding, parts, seed : optional
        As `metaeval.io.read_runs` takes them.
    columns : str, optional
        As `parse_columns` takes them.
    """

    gold: str
    runs: list[str] | None
    layout: str | None
    classes: str | None = None
    aspect: str | None = None
    rescale: bool = False
    missing: str = "raise"
    invalid: str = "raise"
    collection: str | None = None
    columns: str | None = None
    rounding: str | None = None
    parts: int | None = None
    seed: int = 0

    def read(self) -> Runs:
        """Return the runs.

        Returns
        -------
        ClassificationRuns or QuantificationRuns

        Raises
        ------
        MetaevalError
            If something that is needed was not named, or the files cannot be read.
        """
        from metaeval.errors import MetaevalError
        from metaeval.io import read_runs

        if self.layout is None:
            raise MetaevalError(
                "say how the files are laid out: --layout semeval-c, judgements, … (metaeval score --help)"
            )
        if not self.runs and self.layout not in ("labels", "votes"):  # whose gold may have a column for every judge
            raise MetaevalError("name at least one run file, or a folder of them, besides the gold file")
        return read_runs(
            self.gold,
            None if not self.runs else self.runs if len(self.runs) > 1 else self.runs[0],
            format=self.layout,
            classes=None if self.classes is None else [label.strip() for label in self.classes.split(",")],
            aspect=self.aspect,
            missing=self.missing,  # type: ignore[arg-type]
            invalid=self.invalid,  # type: ignore[arg-type]
            rescale=self.rescale,
            collection=self.collection,
            columns=parse_columns(self.columns),
            rounding=self.rounding,  # type: ignore[arg-type]
            parts=self.parts,
            seed=self.seed,
        )


def score(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD",
            help="The gold file; or, without runs, the name of a data set",
            autocompletion=complete_source,
        ),
    ],
    runs: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="Run files, or a folder of them")] = None,
    layout: Layout = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="NAME",
            help="A name, or FILE.py:FUNCTION; may be repeated; by default the papers'; or all",
            autocompletion=complete_measure,
        ),
    ] = None,
    classes: Classes = None,
    aspect: Aspect = None,
    rescale: Rescale = False,
    as_quantification: Annotated[
        bool, typer.Option("--as-quantification", help="Score the class distributions of classification runs")
    ] = False,
    missing: Missing = "raise",
    invalid: Invalid = "raise",
    rounding: Rounding = None,
    columns: Columns = None,
    parts: Parts = None,
    seed: Annotated[int, typer.Option(help="Seed of --parts")] = 0,
    collection: Annotated[
        str | None, typer.Option(help="Name of the collection [default: the gold file's name]")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write every score to a .csv, .tsv or .parquet file, or add them to an existing store"
        ),
    ] = None,
    lower_is_better: LowerIsBetter = None,
    higher_is_better: HigherIsBetter = None,
    all_higher_is_better: AllHigherIsBetter = False,
    time_limit: Annotated[float, typer.Option(help="Seconds that each measure of a file may take")] = 120.0,
    style: Style = "text",
) -> None:
    """Score runs against gold: mean scores to stdout, every score to --out.

    Layouts: semeval-c and semeval-e (Task 4), dialogue-quality (NTCIR gold and run JSON), judgements
    (qid 0 docid label), labels (CSV of topic, item, label, or of item, gold and one column per judge),
    probabilities (CSV of topic and one column per class), votes (CSV of topic and one column per
    annotator), polarity (RepLab 2013, SemEval-2014 Task 9 and 2015 Task 10).

    \b
    Examples:
      metaeval score stc3-dq-a -m NMD -m RNOD
      metaeval score gold.json runs/ -l dialogue-quality --aspect S --normalise -o scores.csv
      metaeval score qrels.txt run1.txt run2.txt -l judgements --classes 0,1,2,3 --invalid clip
      metaeval score panel.csv -l labels --classes 0,1,2,3 --rounding nearest --parts 10
      metaeval score stc3-dq-a -m my_measure.py:my_measure
    """
    from metaeval.data.runs import ClassificationRuns
    from metaeval.data.score import score as score_runs
    from metaeval.data.scores import Scores, state_directions
    from metaeval.datasets import load_dataset
    from metaeval.datasets.open import refuse_annotations
    from metaeval.errors import MetaevalError, format_count
    from metaeval.measures.established import established_measures
    from metaeval.measures.isolation import use_time_limit
    from metaeval.measures.resolve import resolve_measures
    from metaeval.show.signature import sign
    from metaeval.show.table import Table

    check_output(style, None)
    if out is not None:
        check_target(out)
    with use_time_limit(time_limit):
        wanted = None if not measure or measure == ["all"] else resolve_measures(measure, labels=())
    with working("reading and scoring"):
        if runs or layout is not None:
            data: Runs | Scores = GoldAndRuns(
                gold,
                runs,
                layout,
                classes,
                aspect,
                rescale,
                missing,
                invalid,
                collection,
                columns,
                rounding,
                parts,
                seed,
            ).read()
        elif Path(gold).exists():
            raise MetaevalError(f"{gold} is a file: name the runs after it, and their layout with --layout")
        else:
            data = refuse_annotations(load_dataset(gold))
        if as_quantification and isinstance(data, ClassificationRuns):
            data = data.to_quantification()
        if isinstance(data, Scores):
            scores = data if wanted is None else data.sel(measures=wanted)
        else:
            scores = score_runs(
                data, established_measures(data.kind) if measure is None else wanted, time_limit=time_limit
            )
    stated = parse_directions(lower_is_better, higher_is_better, all_higher_is_better)
    (scores,) = state_directions([scores], **stated, missing=missing)  # type: ignore[arg-type]
    size = f"{format_count(len(scores.runs), 'run')}, {format_count(len(scores.topics), 'topic')}"
    show(Table(scores.means(), f"Mean scores over topics: {size}.", sign("score", scores), digits=4), style)
    if out is not None:
        write_scores(scores, out)


def convert(
    source: Source,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Where to write it")],
    format: FromFormat = None,
    to_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"Format of the target, where its name does not tell: {', '.join(SCORE_FORMATS)}",
            autocompletion=complete_choice(SCORE_FORMATS),
        ),
    ] = None,
    measure: Annotated[str | None, typer.Option(help="The measure of a file that holds one without its name")] = None,
    collection: Collection = None,
    missing: Missing = "raise",
    columns: Columns = None,
    lower_is_better: LowerIsBetter = None,
    higher_is_better: HigherIsBetter = None,
    all_higher_is_better: AllHigherIsBetter = False,
    defuse_formulas: Annotated[
        bool, typer.Option("--defuse-formulas", help="Put ' before names that a spreadsheet would run: =cmd()")
    ] = False,
) -> None:
    """Convert scores from one format to another.

    Formats: tidy (CSV or Parquet of run, topic, measure, score), wide (topics × runs CSV, one file per
    measure), sakai (text matrices with a file of run names), trec_eval (-q output),
    tot, ir_measures, ranking and jsonl (leaderboards), store.

    \b
    Examples:
      metaeval convert scores.csv scores.parquet
      metaeval convert web2013_ndcg20.csv tidy.csv
      metaeval convert scores.csv folder --to sakai
      metaeval convert mt.csv scores.csv --columns run=system,topic=segment,score=value --lower-is-better edits
      zcat scores.csv.gz | metaeval convert - scores.parquet
      metaeval convert scores.csv mystore --to store --collection web2013
    """
    from metaeval.datasets.open import open_scores

    with working("converting"):
        scores = open_scores(
            source,
            format=format,
            measure=measure,
            collection=collection,
            missing=missing,  # type: ignore[arg-type]
            columns=parse_columns(columns),
            **parse_directions(lower_is_better, higher_is_better, all_higher_is_better),
        )
        with option_names({"format": "--to"}):
            write_scores(scores, target, to_format, defuse_formulas=defuse_formulas)
