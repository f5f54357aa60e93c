"""The command that compares a newly proposed measure with the established ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from metaeval.cli.generate import Values
from metaeval.cli.opening import find_directions, names_file, open_references, read_gold, read_opening
from metaeval.cli.options import DIRECTIONS, HELP, NAMES, NOISE, OPENING, Option, argument, take
from metaeval.cli.output import FEW_NOTES, print_answer, print_notes, print_status, print_text, show, working
from metaeval.errors import MetaevalError, format_list

SCORES = "scores"
"""The folder inside a report's that holds the established measures' scores."""

COMPARE = {
    "data": argument("Data sets, stores or score files, one or several; none with --gold", NAMES, None),
    "measure": Option("The new measure: FILE.py:FUNCTION, or a name; may be repeated", list[str], ...),
    "gold": Option("A gold file, with --runs and --layout"),
    "runs": Option("Run files, or a folder of them", NAMES),
    **take("layout", "classes", "aspect", "rescale", "invalid"),
    **(OPENING | NOISE | DIRECTIONS),
    "against": Option("Compare with this measure, not with the established ones; may be repeated", NAMES),
    "reference": Option("What you trust: a measure of the data, or a file of scores for each source, in order", NAMES),
    "out": Option("Folder for the report", Path, Path("report")),
    "overwrite": Option("Replace the report that is there", bool, False),
    "n_trials": Option("Random splits of the topics", int, 1000),
    "n_permutations": Option("Trials of the tests of all pairs of runs", int, 5000),
    "test": Option("Test of all pairs of runs that verdicts rest on, as metaeval power takes it"),
    "alpha": Option(HELP["alpha"], float, 0.05),
    "distinct_runs": Option("Keep one of several runs with the same scores on every topic", bool, False),
    "thorough": Option("Repeat the comparison with other seeds, without baselines and on distinct runs", bool, False),
    "figures": Option("all: as PDF and PNG too, which takes longer", Literal["page", "all"], "page"),
    "p_values": Option("Write every p-value, contradiction and split too, which may be large", bool, False),
    "seed": Option(HELP["seed"], int, 0),
    "n_jobs": Option(HELP["n_jobs"], int, -1),
    **take("explain"),
}

_PASSED = ("missing", "n_trials", "n_permutations", "test", "alpha", "distinct_runs", "thorough", "seed", "n_jobs")
"""Options that are arguments of the function that compares."""


def compare(values: Values) -> None:
    """How does a new measure behave against the established ones? One command, one report.

    The established measures' scores are kept in OUT/scores, so that the next run computes only what is new; with
    --overwrite its report takes the place of the former one.

    \b
    Examples:
      metaeval compare stc3-dq-a stc3-dq-e --measure my_measure.py:my_measure -o report/
      metaeval compare --gold gold.txt --runs runs/ -l judgements --classes 0,1,2 -m my_measure.py:my_measure
      metaeval compare trec-web-2013 -m nDCG@20 -o report/
      metaeval compare mt.csv -m TER --columns run=entry,topic=doc+line --lower-is-better edits -o report/
      metaeval compare wmt23-en-de -m BLEU --reference mqm -o report/
      metaeval compare stc3-dq-a -m my_measure.py:my_measure --thorough --figures all -o report/
      metaeval compare one.csv two.csv -m mine --reference people1.csv --reference people2.csv -o report/
    """
    from metaeval.comparison.new_measure import compare as compare_measures
    from metaeval.comparison.summary import show_short
    from metaeval.data.scores import Scores
    from metaeval.show.table import Table

    _check_folder(values.out, values.overwrite)
    opening = read_opening(values)
    with working("comparing"):
        sources = _open_data(values, opening)
        labels = {str(measure) for source in sources if isinstance(source, Scores) for measure in source.measures}
        references = open_references(values.reference or [], opening, labels=labels)
        result = compare_measures(
            values.measure,
            sources,
            against=values.against or None,
            reference=references if len(references) > 1 else next(iter(references), None),
            store=values.out / SCORES,
            say=print_status,
            **{name: getattr(values, name) for name in _PASSED},
            **find_directions(values),
        )
        print_status("writing the report")
        index = result.write(values.out, figures=values.figures, p_values=values.p_values)
    for name in result.new:
        print_text(f"{result.verdict(name)}\n")
        tables = [show_short(result, name)]
        if values.explain:
            tables.append(Table(result.summary(name), f"Every number of the measures beside {name}.", result.signature))
        show(tables, "text", explain=values.explain)
    if values.explain:
        print_answer(" ".join(["How findings are reached.", *result.rules().values()]))
        print_notes([*result.notes, *(note for study in result.collections for note in study.notes())])
    else:
        print_notes(result.notes, FEW_NOTES)
    print_text(f"report: {index}")


def _check_folder(out: Path, overwrite: bool) -> None:
    """Refuse a folder for a report that cannot be written, or that holds something, before anything is computed."""
    from metaeval.files import check_folder

    check_folder(out)
    # Scores that an earlier call stored are what this one goes on with.
    names = sorted(path.name for path in out.iterdir()) if out.exists() else []
    names = [name for name in names if name != SCORES and not name.startswith(".")]
    if names and not overwrite:
        raise MetaevalError(
            f"{out}: there is something already ({format_list(names, 3)}): name another folder, or --overwrite the "
            f"report there; {out / SCORES} is kept, and so is what is no part of a report"
        )


def _open_data(values: Values, opening: dict[str, Any]) -> list[Any]:
    """Return what the new measure is compared on: every collection of a file, and what data sets hold."""
    from metaeval.datasets.open import open_collections, open_source
    from metaeval.measures.user_file import is_reference

    if not values.data and values.gold is None:
        raise MetaevalError("name the data: metaeval compare scores.csv -m MEASURE, or --gold with --runs and --layout")
    chosen = None  # a function of a file is refused later: scores have none
    if values.against and not any(map(is_reference, values.measure)):
        chosen = list(dict.fromkeys([*values.measure, *values.against]))
    # A reference that is a label of the data is that measure, though a file may be called so too.
    stated = (values.reference, values.lower_is_better, values.higher_is_better)
    further, sources = [label for labels in stated for label in labels or ()], list[Any]()
    for name in values.data or ():
        if names_file(name):
            sources += open_collections(name, chosen, optional=further, **opening)
        else:
            sources.append(open_source(name, **opening))
    if values.gold is not None:
        if values.clusters or values.repeats:
            raise MetaevalError("--clusters and --repeats name columns of score files, and gold and runs have none")
        sources.append(read_gold(values))
    return sources
