"""Coverage under every reference set, collection by collection, and whether one measure covers more than another."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from functools import partial

import pandas as pd

import metaeval
from experiments.answers import load_collections
from experiments.bounds import BOUNDS
from experiments.coverage_references.picture import draw_differences
from experiments.coverage_references.sets import SetCoverage, cover_sets
from experiments.coverage_references.verdicts import CANDIDATES, STUDY, WHOLE, count_sides, judge
from experiments.outcome import Outcome, Settings
from experiments.verdicts import FEWEST_RUNS
from metaeval.data.distinct import distinct_runs
from metaeval.errors import MetaevalWarning

SOURCES = list(STUDY["sources"])
SWEEP = (
    f"Coverage of all measures under all non-empty reference sets made of {', '.join(CANDIDATES)}: the share of sets under "
    "which a measure has the best coverage (of all, and of those that it is not part of), and its coverage over sets."
)


def run(settings: Settings) -> list[Outcome]:
    """Sweep the reference sets on every collection that can be had.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    return [compute_source(source, names, settings) for source, names in STUDY["sources"].items()]


def compute_source(source: str, names: list[str], settings: Settings) -> Outcome:
    """Sweep the reference sets on the collections of one source.

    Parameters
    ----------
    source : str
    names : list of str
    settings : Settings

    Returns
    -------
    Outcome
    """
    trained = any(name.startswith("ordinal-") for name in names)
    outcome = Outcome("coverage_references", source, tolerance=STUDY["tolerance"] if trained else 1e-9)
    swept: dict[str, dict[str, SetCoverage]] = {}
    again: dict[str, list[SetCoverage]] = {}
    context: dict[str, pd.DataFrame] = {}
    collections = load_collections(names, settings, outcome.lacks)
    for name, runs in collections.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MetaevalWarning)  # documented values of constant runs
            scores = metaeval.score(runs, [*STUDY["targets"], *CANDIDATES, *STUDY["context"]])
        if len(scores.runs) < FEWEST_RUNS:
            outcome.notes.append(f"{name} has {len(scores.runs)} runs and is left out")
            continue
        settings.say(f"coverage under all reference sets: {name}")
        swept[name] = {view: _cover(one, settings.seed) for view, one in list_views(scores).items()}
        seeds = range(settings.seed + 1, settings.seed + int(BOUNDS["seeds"].value))
        again[name] = [_cover(scores, seed) for seed in seeds]
        context[name] = metaeval.coverage_sweep(scores, candidates=CANDIDATES).to_frame().set_index("measure")
        if swept[name][WHOLE].no_interval:
            outcome.notes.append(f"{name}: {swept[name][WHOLE].no_interval}")
    if swept:
        signed = f"coverage_references | {', '.join(swept)} | bootstrap {STUDY['n_bootstrap']:,} | seed {settings.seed}"
        outcome.tables = {
            "pairs": tabulate_pairs(swept, signed),
            "candidates": tabulate_candidates(swept, signed),
            "sweep": metaeval.Table(pd.concat(context, names=["collection"]), SWEEP, signed),
            "sets": tabulate_sets(swept, signed),
        }
        outcome.figures["differences"] = partial(
            draw_differences, {name: views[WHOLE] for name, views in swept.items()}, signed
        )
        outcome.verdicts = [
            judge(claim, name, views, again[name], settings.seed)
            for claim in STUDY["claims"]
            for name, views in swept.items()
        ]
    return outcome


def list_views(scores: metaeval.Scores) -> dict[str, metaeval.Scores]:
    """Return the scores as they are, and without runs that repeat others or never looked at an item, if there are any.

    Parameters
    ----------
    scores : Scores

    Returns
    -------
    dict of str to Scores
    """
    informed = [run for run in scores.runs if not run.startswith(tuple(STUDY["baselines"]))]
    views = {WHOLE: scores, "on distinct runs": distinct_runs(scores), "without baselines": scores.sel(runs=informed)}
    n_runs = len(scores.runs)
    return {name: one for name, one in views.items() if name == WHOLE or FEWEST_RUNS <= len(one.runs) < n_runs}


def _cover(scores: metaeval.Scores, seed: int) -> SetCoverage:
    return cover_sets(
        scores, STUDY["targets"], CANDIDATES, smallest=STUDY["smallest"], n_bootstrap=STUDY["n_bootstrap"], seed=seed
    )


def tabulate_pairs(swept: Mapping[str, Mapping[str, SetCoverage]], signature: str) -> metaeval.Table:
    """Return, for every two target measures, under how many reference sets which covers more.

    Parameters
    ----------
    swept : mapping of str to mapping of str to SetCoverage
        By collection and view.
    signature : str

    Returns
    -------
    Table
    """
    rows = [
        {"collection": name, "runs": view, "first": first, "second": second, **count_sides(one, first, second)}
        for name, views in swept.items()
        for view, one in views.items()
        for first, second in itertools.combinations(STUDY["targets"], 2)
    ]
    caption = (
        f"Under how many of the reference sets of {STUDY['smallest']} to {len(CANDIDATES)} of {', '.join(CANDIDATES)} the "
        "first measure covers more than the second; under how many the 95 % interval of the difference over topics lies "
        "above 0, below 0, or includes it; and the mean difference over all sets with its interval."
    )
    return metaeval.Table(pd.DataFrame(rows).set_index(["collection", "runs", "first", "second"]), caption, signature)


def tabulate_candidates(swept: Mapping[str, Mapping[str, SetCoverage]], signature: str) -> metaeval.Table:
    """Return which reference measures the difference that is drawn hangs on.

    Parameters
    ----------
    swept : mapping of str to mapping of str to SetCoverage
        By collection and view.
    signature : str

    Returns
    -------
    Table
    """
    rows = []
    for name, views in swept.items():
        found = views[WHOLE]
        for place, candidate in enumerate(found.candidates):
            inside = found.members[:, place]
            means = {
                word: found.compare_mean(*STUDY["shown"], among)
                for word, among in (("with", inside), ("without", ~inside))
            }
            rows.append({"collection": name, "candidate": candidate} | {
                f"{word}{end}": value
                for word, values in means.items()
                for end, value in zip(("", ", low", ", high"), values, strict=True)
            })  # fmt: skip
    first, second = STUDY["shown"]
    caption = (
        f"Mean difference of coverage, {first} less {second}, over reference sets with a candidate and without it."
    )
    return metaeval.Table(pd.DataFrame(rows).set_index(["collection", "candidate"]), caption, signature)


def tabulate_sets(swept: Mapping[str, Mapping[str, SetCoverage]], signature: str) -> metaeval.Table:
    """Return the coverage of the target measures under every set, and the difference that is drawn.

    Parameters
    ----------
    swept : mapping of str to mapping of str to SetCoverage
        By collection and view.
    signature : str

    Returns
    -------
    Table
    """
    first, second = STUDY["shown"]
    frames = {}
    for name, views in swept.items():
        found = views[WHOLE]
        gap, low, high = found.compare(first, second)
        sets = pd.Index(found.name_sets(), name="reference")
        frame = pd.DataFrame(found.coverage, columns=list(found.targets), index=sets)
        frames[name] = frame.assign(difference=gap, low=low, high=high)
    caption = (
        f"Coverage under every reference set, and the difference {first} less {second} with its interval over topics."
    )
    return metaeval.Table(pd.concat(frames, names=["collection"]), caption, signature)
