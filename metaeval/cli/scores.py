"""Commands that score, convert and compare."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metaeval.cli.generate import Values
from metaeval.cli.opening import find_directions, names_file, open_references, read_gold, read_opening
from metaeval.cli.options import DIRECTIONS, HELP, NAMES, SCORES, Option, argument, take
from metaeval.cli.output import FEW_NOTES, NOTED, print_answer, print_notes, print_status, print_text, show, working
from metaeval.errors import MetaevalError, format_count, format_list

if TYPE_CHECKING:
    from metaeval.data.scores import Scores

SCORE = {
    "gold": argument("The gold file; or, without runs, the name of a data set"),
    "runs": argument("Run files, or a folder of them", NAMES, None),
    "measure": Option("A name, FILE.py:FUNCTION, or all; may be repeated; by default those of metaeval compare", NAMES),
    "as_quantification": Option("Score the class distributions of classification runs", bool, False),
    "parts": Option("Random parts of the items in place of topics: how many", int | None),
    "seed": Option("Seed of --parts", int, 0),
    "out": Option("Write every score to a .csv, .tsv or .parquet file, or a store", Path | None),
    **take("layout", "classes", "aspect", "rescale", "collection", "missing", "invalid", "columns"),
    **(DIRECTIONS | take("style", "explain", "defuse_formulas")),
}

CONVERT = {
    **take("source"),
    "target": argument("Where to write it", Path),
    "to_format": Option("What the target is, where its name does not tell: store", choices=("store",)),
    "measure": Option("The measure of a file that does not name it"),
    **(SCORES | take("defuse_formulas")),
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
    """
    from metaeval.data.scores import state_directions
    from metaeval.datasets.open import is_store
    from metaeval.measures.base import find_signs
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
    (scores,) = state_directions([scores], **find_directions(values))
    means = scores.means()
    oriented = means * find_signs(scores.measures)
    if values.style == "text":
        leaders: dict[str, list[str]] = {}
        for measure in scores.measures:
            first = means.index[oriented[str(measure)] == oriented[str(measure)].max()]
            leaders.setdefault(first[0] if len(first) == 1 else f"{len(first):,} runs", []).append(str(measure))
        best = [f"{who} by {format_list(by)}" for who, by in leaders.items()]
        print_answer(f"Best mean score: {'; '.join(best[:3])}{'; the table has the others' * (len(best) > 3)}.")
    by, n_topics = str(scores.measures[0]), format_count(len(scores.topics), "topic")
    caption = f"Mean scores over {n_topics}, the best run by {by} first; which differences are real: metaeval ranks."
    ordered = means.loc[oriented[by].sort_values(ascending=False, kind="stable").index]
    show([Table(ordered, caption, sign("score", scores), digits=4)], values.style, explain=values.explain)
    if target is not None:
        _write(scores, target, None, values.defuse_formulas)


def _compute_scores(values: Values) -> Scores:
    """Return the scores of gold and runs, of files or of a data set, which may hold scores itself."""
    from metaeval.data.runs import ClassificationRuns
    from metaeval.data.scores import Scores, score as score_runs
    from metaeval.datasets import load_dataset
    from metaeval.datasets.open import refuse_annotations
    from metaeval.measures.resolve import established_measures

    selected = None if not values.measure or values.measure == ["all"] else values.measure
    data: Any
    if values.runs or values.layout is not None:
        data = read_gold(values, parts=values.parts, seed=values.seed)
    elif Path(values.gold).exists():
        raise MetaevalError(f"{values.gold} is a file: name runs behind it, and --layout; scores are for `inspect`")
    else:
        data = refuse_annotations(load_dataset(values.gold))
    if values.as_quantification and isinstance(data, ClassificationRuns):
        data = data.to_quantification()
    if isinstance(data, Scores):
        return data if selected is None else data.sel(measures=selected)
    return score_runs(data, selected if values.measure else established_measures(data.kind))


def convert(values: Values) -> None:
    """Convert scores of any format to a tidy table, or to a store.

    \b
    Examples:
      metaeval convert scores.csv scores.parquet
      metaeval convert mt.csv scores.csv --columns run=entry,topic=doc+line --lower-is-better edits
      metaeval convert board.parquet mystore --to store --columns collection=task --doubled latest --missing drop-run
      zcat scores.csv.gz | metaeval convert - scores.parquet
    """
    from metaeval.data.scores import only_collection
    from metaeval.datasets.open import open_collections

    if Path(values.source).resolve() == values.target.resolve():
        raise MetaevalError(f"{values.target} is the source itself: give the target another name")
    with working("converting"):
        options = read_opening(values) | find_directions(values)
        found = open_collections(values.source, measure=values.measure, **options)
        found = found if values.to_format == "store" else [only_collection(found, values.source)]
        for scores in found:
            _write(scores, values.target, values.to_format, values.defuse_formulas)


def _write(scores: Scores, target: Path, to_format: str | None, defuse_formulas: bool) -> None:
    """Write scores to a file or folder, or add them to a store."""
    from metaeval.data.store import ScoreStore
    from metaeval.datasets.open import is_store
    from metaeval.io import write_scores

    if to_format == "store" or (to_format is None and is_store(target)):
        if defuse_formulas:
            raise MetaevalError("a store holds no text, so that --defuse-formulas does nothing")
        ScoreStore(target).add(scores)
    else:
        write_scores(scores, target, defuse_formulas=defuse_formulas)
    size = f"{repr(scores).removeprefix('Scores: ')}{', means of repeats' * bool(scores.repeats)}"
    print_status(f"wrote {target}: {size}")


COMPARE = {
    "data": argument("Data sets, stores or score files; none with --gold", NAMES, None),
    "measure": Option("The new measure: FILE.py:FUNCTION, or a name; may be repeated", list[str], ...),
    "gold": Option("A gold file, with --runs and --layout"),
    "runs": Option("Run files, or a folder of them", NAMES),
    **take("layout", "classes", "aspect", "rescale", "invalid"),
    **SCORES,
    "against": Option("Compare with this measure only; may be repeated", NAMES),
    "reference": Option("What you trust: a measure, or a file of scores for each source", NAMES),
    "out": Option("Folder for the report", Path, Path("report")),
    "overwrite": Option("Replace the report that is there", bool, False),
    "n_trials": Option("Random splits of the topics", int, 1000),
    "n_permutations": Option("Trials of the tests of all pairs of runs", int, 5000),
    "test": Option("Test of pairs of runs for the verdict; by default bootstrap-t, of many runs randomised-tukey-hsd"),
    "alpha": Option(HELP["alpha"], float, 0.05),
    "distinct_runs": Option("Keep one of several runs with the same scores", bool, False),
    "seed": Option(HELP["seed"], int, 0),
    "n_jobs": Option(HELP["n_jobs"], int, -1),
    **take("explain"),
}
_PASSED = ("missing", "n_trials", "n_permutations", "test", "alpha", "distinct_runs", "seed", "n_jobs")


def compare(values: Values) -> None:
    """How does a new measure behave against the established ones? One command, one report.

    The established measures' scores are kept in OUT/scores, so that the next run computes only what is new; with
    --overwrite its report takes the place of the former one.

    \b
    Examples:
      metaeval compare stc3-dq-a stc3-dq-e --measure my_measure.py:my_measure -o report/
      metaeval compare --gold gold.txt --runs runs/ -l judgements --classes 0,1,2 -m my_measure.py:my_measure
      metaeval compare mt.csv -m TER --columns run=entry,topic=doc+line --lower-is-better edits -o report/
      metaeval compare wmt23-en-de -m BLEU --reference mqm -o report/
      metaeval compare one.csv two.csv -m mine --reference people1.csv --reference people2.csv -o report/
    """
    # Each collection has a thread, which would wait for those of BLAS.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from metaeval.comparison.new_measure import compare as compare_measures
    from metaeval.comparison.summary import show_short, show_whole
    from metaeval.data.scores import Scores

    _check_folder(values.out, values.overwrite)
    opening = read_opening(values)
    warnings.filterwarnings("ignore", "higher scores of .* are assumed")  # the answer says so
    with working("comparing", told=True):
        sources = _open_data(values, opening)
        labels = {str(measure) for source in sources if isinstance(source, Scores) for measure in source.measures}
        references = open_references(values.reference or [], opening, labels=labels)
        result = compare_measures(
            values.measure,
            sources,
            against=values.against or None,
            reference=references if len(references) > 1 else next(iter(references), None),
            store=values.out / "scores",
            say=print_status,
            **{name: getattr(values, name) for name in _PASSED},
            **find_directions(values),
        )
        result = replace(result, notes=(*NOTED, *result.notes))
        print_status("writing the report")
        index = result.write(values.out)
    for name in result.new:
        print_answer(result.verdict(name))
        tables = [show_short(result, name), *([show_whole(result, name)] if values.explain else [])]
        show(tables, "text", explain=values.explain)
    if values.explain:
        print_answer(" ".join(["How findings are reached.", *result.rules().values()]))
        print_notes([*result.notes, *(note for study in result.collections for note in study.notes())])
    else:
        print_notes([note for note in result.notes if note not in NOTED], FEW_NOTES)
    print_text(f"report: {index}")


def _check_folder(out: Path, overwrite: bool) -> None:
    """Refuse a folder for a report that cannot be written, or that holds something, before anything is computed."""
    from metaeval.files import check_folder

    check_folder(out)
    # Scores that an earlier call stored are what this one goes on with.
    names = sorted(path.name for path in out.glob("[!.]*") if path.name != "scores")
    if names and not overwrite:
        there = f"there is something already ({format_list(names, 3)})"
        raise MetaevalError(f"{out}: {there}: name another folder, or --overwrite the report there, and nothing else")


def _open_data(values: Values, opening: dict[str, Any]) -> list[Any]:
    """Return what the new measure is compared on: every collection of a file, and what data sets hold."""
    from metaeval.datasets.open import open_collections, open_source
    from metaeval.files import open_once
    from metaeval.measures.user_file import is_reference

    if not values.data and values.gold is None:
        raise MetaevalError("name the data: metaeval compare scores.csv -m MEASURE, or --gold with --runs and --layout")
    chosen = None  # a function of a file is refused later: scores have none
    if values.against and not any(map(is_reference, values.measure)):
        chosen = list(dict.fromkeys([*values.measure, *values.against]))
    # A reference that is a label of the data is that measure, though a file may be called so too.
    stated = (values.reference, values.lower_is_better, values.higher_is_better)
    further, sources = [label for labels in stated for label in labels or ()], list[Any]()
    with open_once():
        for name in values.data or ():
            if names_file(name):
                sources += open_collections(name, chosen, optional=further, **opening)
            else:
                sources.append(open_source(name, **opening))
    if values.gold is not None:
        if values.clusters or values.repeats:
            raise MetaevalError("--clusters and --repeats name columns of score files")
        sources.append(read_gold(values))
    return sources
