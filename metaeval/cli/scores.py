"""Commands about gold, runs and scores: score, convert."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from metaeval.cli.generate import Values
from metaeval.cli.opening import find_directions, read_gold, read_opening
from metaeval.cli.options import DIRECTIONS, NAMES, NOISE, OPENING, WRITTEN_FORMATS, Option, argument, take
from metaeval.cli.output import print_answer, print_status, show, working
from metaeval.errors import MetaevalError, format_count, format_option, option_names_in_use, use_option_names

if TYPE_CHECKING:
    from metaeval.data.scores import Scores

SCORE = {
    "gold": argument("The gold file; or, without runs, the name of a data set"),
    "runs": argument("Run files, or a folder of them", NAMES, None),
    "measure": Option("A name, or FILE.py:FUNCTION; may be repeated; by default the papers'; or all", NAMES),
    "as_quantification": Option("Score the class distributions of classification runs", bool, False),
    "parts": Option("Random parts of the items in place of topics: how many", int | None),
    "seed": Option("Seed of --parts", int, 0),
    "out": Option("Write every score to a .csv, .tsv or .parquet file, or add them to an existing store", Path | None),
    **take("layout", "classes", "aspect", "rescale", "collection", "missing", "invalid", "columns"),
    **(DIRECTIONS | take("style", "defuse_formulas")),
}

CONVERT = {
    **take("source"),
    "target": argument("Where to write it", Path),
    "to_format": Option(f"Format of the target: {', '.join(WRITTEN_FORMATS)}; by its name", choices=WRITTEN_FORMATS),
    "measure": Option("The measure of a file that holds one without its name"),
    **(OPENING | NOISE | DIRECTIONS | take("defuse_formulas")),
}


def score(values: Values) -> None:
    """Score runs against gold: mean scores to stdout, every score to --out.

    `metaeval help reading` explains the layouts of --layout.

    \b
    Examples:
      metaeval score stc3-dq-a -m NMD -m RNOD
      metaeval score gold.json runs/ -l dialogue-quality --aspect S --normalise -o scores.csv
      metaeval score qrels.txt run1.txt run2.txt -l judgements --classes 0,1,2,3 --invalid clip
      metaeval score panel.csv -l labels --classes 0,1,2,3 --parts 10
      metaeval score stc3-dq-a -m my_measure.py:my_measure
    """
    from metaeval.data.scores import state_directions
    from metaeval.datasets.open import is_store
    from metaeval.show.signature import sign
    from metaeval.show.table import Table

    target: Path | None = values.out
    if target is not None and not is_store(target):
        if target.suffix.lower() not in (".csv", ".tsv", ".parquet", ".pq"):
            raise MetaevalError(f"{target}: write a .csv, .tsv or .parquet file, or add to an existing store")
        if not target.absolute().parent.is_dir():
            raise MetaevalError(f"{target}: there is no folder {target.parent}")
    with working("reading and scoring"):
        scores = _compute_scores(values)
    (scores,) = state_directions([scores], **find_directions(values), missing=values.missing)
    size = f"{format_count(len(scores.runs), 'run')}, {format_count(len(scores.topics), 'topic')}"
    if values.style == "text":
        print_answer(_say_best(scores))
    show([Table(scores.means(), f"Mean scores over topics: {size}.", sign("score", scores), digits=4)], values.style)
    if target is not None:
        _write(scores, target, None, values.defuse_formulas)


def _compute_scores(values: Values) -> Scores:
    """Return the scores of gold and runs, of files or of a data set, which may hold scores itself."""
    from metaeval.data.runs import ClassificationRuns
    from metaeval.data.score import score as score_runs
    from metaeval.data.scores import Scores
    from metaeval.datasets import load_dataset
    from metaeval.datasets.open import refuse_annotations
    from metaeval.measures.resolve import established_measures

    selected = None if not values.measure or values.measure == ["all"] else values.measure
    data: Any
    if values.runs or values.layout is not None:
        data = read_gold(values, parts=values.parts, seed=values.seed)
    elif Path(values.gold).exists():
        raise MetaevalError(f"{values.gold} is a file: name the runs after it, and their layout with --layout")
    else:
        data = refuse_annotations(load_dataset(values.gold))
    if values.as_quantification and isinstance(data, ClassificationRuns):
        data = data.to_quantification()
    if isinstance(data, Scores):
        return data if selected is None else data.sel(measures=selected)
    return score_runs(data, selected if values.measure else established_measures(data.kind))


def _say_best(scores: Scores) -> str:
    """Say which run has the best mean score by each measure."""
    from metaeval.measures.base import find_signs

    means, named = scores.means() * find_signs(scores.measures), []
    for measure in scores.measures[:3]:
        column = means[str(measure)]
        best = column.index[column == column.max()]
        named.append(f"{best[0] if len(best) == 1 else format_count(len(best), 'run')} by {measure.title}")
    return f"Best mean score: {', '.join(named)}{'; the table has the others' * (len(scores.measures) > 3)}."


def convert(values: Values) -> None:
    """Convert scores from one format to another.

    \b
    Examples:
      metaeval convert scores.csv scores.parquet

      metaeval convert scores.csv folder --to sakai
      metaeval convert mt.csv scores.csv --columns run=entry,topic=doc+line --lower-is-better edits
      metaeval convert board.parquet mystore --to store --columns collection=task --doubled latest --missing drop-run
      zcat scores.csv.gz | metaeval convert - scores.parquet

    """
    from metaeval.data.scores import only_collection
    from metaeval.datasets.open import open_collections

    with working("converting"):
        options = read_opening(values) | find_directions(values)
        found = open_collections(values.source, measure=values.measure, **options)
        if values.to_format != "store":
            found = [only_collection(found, values.source)]
        use_option_names(option_names_in_use() | {"format": "--to"})
        for scores in found:
            _write(scores, values.target, values.to_format, values.defuse_formulas)


def _write(scores: Scores, target: Path, to_format: str | None, defuse_formulas: bool) -> None:
    """Write scores to a file or folder, or add them to a store."""
    from metaeval.data.store import ScoreStore
    from metaeval.datasets.open import is_store
    from metaeval.io import write_scores

    if to_format == "store" or (to_format is None and is_store(target)):
        if defuse_formulas:
            raise MetaevalError(f"a store holds no text, so that {format_option('defuse_formulas', True)} does nothing")
        ScoreStore(target).add(scores)
    else:
        write_scores(scores, target, format=to_format, defuse_formulas=defuse_formulas)
    print_status(f"wrote {scores!r} to {target}")
