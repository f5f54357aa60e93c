"""Coverage under every reference set, collection by collection, and whether one measure covers more than another."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import metaeval
from experiments.answers import load_collections
from experiments.bounds import BOUNDS
from experiments.coverage_references.sets import SetCoverage, cover_sets
from experiments.outcome import Outcome, Settings, read_toml
from experiments.verdicts import FEWEST_RUNS
from metaeval.data.distinct import distinct_runs
from metaeval.errors import MetaevalWarning
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STUDY = read_toml(Path(__file__).parent / "study.toml")
SOURCES = list(STUDY["sources"])
CANDIDATES = list(STUDY["candidates"])
WHOLE = "all runs"
VIEWS = ("on distinct runs", "without baselines")


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
        outcome.tables[f"sweep-{name}"] = metaeval.coverage_sweep(scores, candidates=CANDIDATES).to_table()
        outcome.tables[f"sets-{name}"] = tabulate_sets(name, swept[name][WHOLE])
        if swept[name][WHOLE].no_interval:
            outcome.notes.append(f"{name}: {swept[name][WHOLE].no_interval}")
    if swept:
        signed = f"coverage_references | {', '.join(swept)} | bootstrap {STUDY['n_bootstrap']:,} | seed {settings.seed}"
        shared = {"pairs": tabulate_pairs(swept, signed), "candidates": tabulate_candidates(swept, signed)}
        outcome.tables = shared | outcome.tables
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


def count_sides(found: SetCoverage, first: str, second: str) -> dict[str, float | int]:
    """Count under how many sets the first measure covers more, and under how many the interval says which does.

    Parameters
    ----------
    found : SetCoverage
    first, second : str

    Returns
    -------
    dict of str to number
        Columns of the table "pairs".
    """
    gap, low, high = found.compare(first, second)
    mean, mean_low, mean_high = found.compare_mean(first, second)
    return {
        "sets": len(gap), "ahead": int((gap > 0).sum()), "above 0": int((low > 0).sum()),
        "below 0": int((high < 0).sum()), "cannot tell": int((~(low > 0) & ~(high < 0)).sum()),
        "mean": mean, "low": mean_low, "high": mean_high,
    }  # fmt: skip


def decide(counts: Mapping[str, float | int]) -> OutcomeWord:
    """Apply the rule of the study to the counts of `count_sides`.

    Parameters
    ----------
    counts : mapping of str to number

    Returns
    -------
    {"holds", "holds in part", "does not hold", "cannot tell"}

    Examples
    --------
    >>> decide({"sets": 9, "above 0": 5, "below 0": 0}), decide({"sets": 9, "above 0": 4, "below 0": 3})
    ('holds', 'holds in part')
    >>> decide({"sets": 9, "above 0": 1, "below 0": 1}), decide({"sets": 9, "above 0": 0, "below 0": 0})
    ('does not hold', 'cannot tell')
    """
    above, below = counts["above 0"], counts["below 0"]
    if not above and not below:
        return "cannot tell"
    if above <= below:
        return "does not hold"
    return "holds" if above > counts["sets"] / 2 and not below else "holds in part"


def judge(
    claim: Mapping[str, Any], name: str, views: Mapping[str, SetCoverage], again: Sequence[SetCoverage], seed: int
) -> Verdict:
    """Return the verdict of one claim on one collection; what other runs and seeds say are its conditions.

    Parameters
    ----------
    claim : mapping
        Of study.toml.
    name : str
    views : mapping of str to SetCoverage
    again : sequence of SetCoverage
        With the next seeds.
    seed : int

    Returns
    -------
    Verdict
    """
    counts = {view: count_sides(one, claim["first"], claim["second"]) for view, one in views.items()}
    found = counts[WHOLE]
    word, reason = decide(found), views[WHOLE].no_interval
    tried = Counter([word, *(decide(count_sides(one, claim["first"], claim["second"])) for one in again)])
    seeds = ", ".join(f"{one} {n}" for one, n in tried.items())
    if len(tried) > 1:
        word, reason = "cannot tell", f"seeds disagree: {seeds}"
    evidence = (
        Evidence("reference sets", found["sets"]),
        Evidence("ahead", found["ahead"]),
        Evidence("interval above 0", found["above 0"]),
        Evidence("below 0", found["below 0"]),
        Evidence("mean difference over sets", found["mean"], _pair(found["low"], found["high"])),
    )
    conditions = [(f"seeds {seed} to {seed + len(again)}", seeds)]
    conditions += [(view, decide(counts[view]) if view in counts else "the same runs") for view in VIEWS]
    return Verdict(
        claim["claim"], claim["where"], STUDY["rule"]["text"], name, word, evidence, tuple(conditions), reason
    )


def _pair(low: float, high: float) -> tuple[float, float] | None:
    return (low, high) if np.isfinite(low) else None


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


def tabulate_sets(name: str, found: SetCoverage) -> metaeval.Table:
    """Return the coverage of the target measures under every set, and the difference that is drawn.

    Parameters
    ----------
    name : str
    found : SetCoverage

    Returns
    -------
    Table
    """
    first, second = STUDY["shown"]
    frame = pd.DataFrame(
        found.coverage, columns=list(found.targets), index=pd.Index(found.name_sets(), name="reference")
    )
    gap, low, high = found.compare(first, second)
    frame = frame.assign(difference=gap, low=low, high=high)
    caption = f"{name}: coverage under every reference set, and the difference {first} less {second} with its interval."
    return metaeval.Table(frame, caption, f"coverage_references | {name} | bootstrap {STUDY['n_bootstrap']:,}")


def draw_differences(swept: Mapping[str, SetCoverage], signature: str) -> Figure:
    """Draw the difference of two measures' coverage under every reference set, sorted, with intervals.

    Parameters
    ----------
    swept : mapping of str to SetCoverage
        By collection.
    signature : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import house_style

    columns = min(3, len(swept))
    rows = -(-len(swept) // columns)
    with house_style():
        figure = Figure(figsize=(6.5 if columns == 1 else 3.3 * columns, 2.9 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (name, found) in zip(grid, swept.items(), strict=False):
            _draw_one(axes, name, found)
        for axes in grid[len(swept) :]:
            axes.set_visible(False)
        first, second = (metaeval.measure(name).title for name in STUDY["shown"])
        figure.supylabel(f"coverage of {first} less that of {second}", fontsize=9)
        figure.supxlabel("reference sets, sorted by the difference", fontsize=9)
        return sign_figure(figure, signature)


def _draw_one(axes: Axes, name: str, found: SetCoverage) -> None:
    gap, low, high = found.compare(*STUDY["shown"])
    order = np.argsort(gap, kind="stable")
    place = np.arange(len(gap))
    if np.isfinite(low).any():
        axes.vlines(place, low[order], high[order], color="#56B4E9", linewidth=1)
    axes.plot(place, gap[order], ".", color="#0072B2", markersize=3)
    axes.axhline(0, color="black", linewidth=0.8)
    amigo = found.name_sets().index("Accuracy + tau_a + MI")
    spot = int(np.flatnonzero(order == amigo)[0])
    axes.plot(spot, gap[amigo], "D", color="#D55E00", markersize=4, label="Accuracy, τ_a, MI")
    axes.set_title(f"{name}{': no interval' * bool(found.no_interval)}", fontsize=9)
    axes.set_xticks([])
    axes.legend(loc="lower right", fontsize=7)
