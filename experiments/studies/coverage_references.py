"""Coverage of some measures under every reference set, on all topics and on resampled ones, and its differences."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.claims import Answer, Number, claim, list_claims, tabulate_claims, try_claims
from experiments.outcome import Outcome, Settings, read_toml
from experiments.studies.shared import FEWEST_RUNS, describe_sources, load_collections, take_committed
from metaeval.analyses.label_order import sort_labels
from metaeval.data.distinct import distinct_runs
from metaeval.errors import MetaevalWarning
from metaeval.measures.base import find_signs
from metaeval.stats.blocks import Scaled, round_scaled
from metaeval.stats.intervals import centre_interval, explain_no_interval
from metaeval.stats.resampling import resampled_topics
from metaeval.stats.streams import stream_key
from metaeval.stats.uir import all_subsets, coverage_of_sets, signed_ranks

STUDY = read_toml(Path(__file__).with_suffix(".toml"))
CANDIDATES = list(STUDY["candidates"])
SOURCES = ["", *STUDY["sources"]]
WHOLE = "all runs"
TRIALS_AT_ONCE = 20


@dataclass(frozen=True)
class SetCoverage:
    """Coverage of the target measures under every reference set: members (set, candidate), coverage (set, target)."""

    targets: tuple[str, ...]
    candidates: tuple[str, ...]
    members: np.ndarray
    coverage: np.ndarray
    resampled: np.ndarray
    n_topics: int
    no_interval: str

    def name_sets(self) -> list[str]:
        """Return what each set is called."""
        names = np.array(self.candidates, dtype=object)
        return [" + ".join(names[inside]) for inside in self.members]

    def compare(self, first: str, second: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the first's coverage less the second's, and both ends of its interval, each of shape (set,)."""
        gap, gaps = (self._subtract(values, first, second) for values in (self.coverage, self.resampled))
        return self._find_ends(gap, gaps)

    def compare_mean(self, first: str, second: str, among: np.ndarray | None = None) -> tuple[float, float, float]:
        """Return the mean difference over sets, all or some, with its interval over topics."""
        chosen = slice(None) if among is None else among
        gap, gaps = (
            self._subtract(values, first, second)[..., chosen].mean(axis=-1)
            for values in (self.coverage, self.resampled)
        )
        middle, low, high = self._find_ends(gap, gaps)
        return float(middle), float(low), float(high)

    def _subtract(self, values: np.ndarray, first: str, second: str) -> np.ndarray:
        gap: np.ndarray = values[..., self.targets.index(first)] - values[..., self.targets.index(second)]
        return gap

    def _find_ends(self, gap: np.ndarray, gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # As in metaeval.Coverage: a difference of two numbers from −1 to 1, halved to be one of them.
        low, high = centre_interval(gap / 2, gaps / 2, self.n_topics)
        return gap, 2 * low, 2 * high


def cover_sets(
    scores: metaeval.Scores,
    targets: Sequence[str],
    candidates: Sequence[str],
    *,
    smallest: int,
    n_bootstrap: int,
    seed: int,
) -> SetCoverage:
    """Compute the coverage of measures under every set of at least so many reference measures."""
    order = sort_labels(scores, signs=find_signs(scores.measures))
    columns = {str(measure): column for measure, column in zip(scores.measures, order.measures, strict=True)}
    values, base = (order.values[..., [columns[name] for name in names]] for names in (targets, candidates))
    members = all_subsets(len(candidates))
    members = members[members.sum(axis=1) >= smallest]
    members = members[np.argsort(members.sum(axis=1), kind="stable")]
    n_runs, n_topics = values.shape[:2]
    no_interval = explain_no_interval(n_runs, n_topics)
    n_trials = 0 if no_interval else n_bootstrap
    weights = resampled_topics(stream_key(seed, scores.collection, "coverage"), np.arange(n_trials), n_topics)
    resampled = np.empty((n_trials, len(members), len(targets)))
    improved = find_improvements(base, members)
    for begin in range(0, n_trials, TRIALS_AT_ONCE):
        part = slice(begin, begin + TRIALS_AT_ONCE)
        resampled[part] = _cover_resampled(values, improved, weights[part])
    return SetCoverage(
        tuple(targets), tuple(candidates), members, coverage_of_sets(Scaled(values), Scaled(base), members), resampled,
        n_topics, no_interval,
    )  # fmt: skip


def find_improvements(base: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Tell on which topics a run is at least as good as another by all measures of a set, shape (set, pair, topic)."""
    first, second = np.triu_indices(len(base), 1)
    gap = round_scaled(base[first] - base[second])
    better, worse = gap >= 0, gap <= 0
    improved = np.empty((len(members), *gap.shape[:2]))
    for row, inside in enumerate(members):
        improved[row] = better[..., inside].all(axis=-1).astype(float) - worse[..., inside].all(axis=-1)
    return improved


def _cover_resampled(values: np.ndarray, improved: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the coverage on some resampled topics, shape (trial, set, target)."""
    n_topics = values.shape[1]
    first, second = np.triu_indices(len(values), 1)
    counted = weights.astype(np.float64)
    means = np.einsum("bt,rtm->bmr", counted, values, optimize=True) / n_topics
    ours = signed_ranks(means[..., first] - means[..., second])  # trial × target × pair
    counts = np.rint(counted @ improved.reshape(-1, n_topics).T).reshape(len(weights), *improved.shape[:2])
    theirs = rank_counts(counts.astype(np.int64), n_topics)
    product = theirs @ np.swapaxes(ours, -1, -2)
    lengths = (theirs**2).sum(axis=-1)[..., :, None] * (ours**2).sum(axis=-1)[..., None, :]
    return np.divide(product, np.sqrt(lengths), out=np.full(product.shape, np.nan), where=lengths > 0)


def rank_counts(counts: np.ndarray, most: int) -> np.ndarray:
    """Rank counts together with their negatives, as `metaeval.stats.uir.signed_ranks` does, but without sorting."""
    size = np.abs(counts).reshape(-1, counts.shape[-1])
    offset = (most + 1) * np.arange(len(size))[:, None]
    equal = np.bincount((size + offset).ravel(), minlength=(most + 1) * len(size)).reshape(len(size), -1)
    rank = np.cumsum(equal, axis=1) - equal / 2
    ranks: np.ndarray = np.sign(counts) * rank.ravel()[size + offset].reshape(counts.shape)
    return ranks


@dataclass(frozen=True)
class Facts:
    """The differences of coverage on one collection, by pair of measures: rows of pairs.csv."""

    pairs: pd.DataFrame

    def lead(self, first: str, second: str) -> Number:
        """Return the mean difference of coverage over all reference sets, with its interval over topics."""
        turned = (first, second) not in self.pairs.index
        row = self.pairs.loc[(second, first) if turned else (first, second)]
        mean, *ends = (float(-row[name] if turned else row[name]) for name in ("mean", "low", "high"))
        name = f"mean difference over {int(row['sets'])} sets"
        return Number(name, mean, min(ends), max(ends)) if np.isfinite(ends).all() else Number.unsure(name, mean)


@claim("seen on LLMJudge under Accuracy, τ_a and MI (reworded)", "Linear weighted κ covers more than CEM^ORD.")
def linear_kappa_leads(facts: Facts) -> Answer:
    """The mean difference of coverage over all reference sets has an interval over topics above 0."""
    return facts.lead("kappa", "CEM_ORD") > 0


@claim("seen on LLMJudge under Accuracy, τ_a and MI (reworded)", "Quadratic weighted κ covers more than CEM^ORD.")
def quadratic_kappa_leads(facts: Facts) -> Answer:
    """The same."""
    return facts.lead("kappa(weights=quadratic)", "CEM_ORD") > 0


@claim("seen on LLMJudge under Accuracy, τ_a and MI (reworded)", "CEM^ORD covers more than OCI (β = 0.75).")
def cem_leads(facts: Facts) -> Answer:
    """The same."""
    return facts.lead("CEM_ORD", "OCI(beta=0.75, gamma=1)") > 0


def run(settings: Settings) -> list[Outcome]:
    """Sweep the reference sets on every collection that can be loaded."""
    outcomes = [compute_source(source, names, settings) for source, names in STUDY["sources"].items()]
    return [try_all(outcomes), *outcomes]


def try_all(outcomes: Sequence[Outcome]) -> Outcome:
    """Try the claims on every collection, with all runs and without some."""
    whole = Outcome("coverage_references", "", lacks=[name for outcome in outcomes for name in outcome.lacks])
    frames = [outcome.tables["pairs"].frame for outcome in take_committed(outcomes) if outcome.tables]
    facts = {
        f"{name}{f', {view}' if view != WHOLE else ''}": Facts(rows.droplevel(["collection", "runs"]))
        for frame in frames
        for (name, view), rows in frame.groupby(level=["collection", "runs"], sort=False)
    }
    if facts:
        findings = try_claims(list_claims(sys.modules[__name__]), facts)
        whole.tables["claims"] = tabulate_claims(findings, "What came of the claims.", "coverage_references")
    return whole


def compute_source(source: str, names: Iterable[str], settings: Settings) -> Outcome:
    """Sweep the reference sets on the collections of one source."""
    trained = any(name.startswith("ordinal-") for name in names)
    outcome = Outcome("coverage_references", source, tolerance=STUDY["tolerance"] if trained else 1e-9)
    swept: dict[str, dict[str, SetCoverage]] = {}
    for name, runs in load_collections(names, settings, outcome.lacks).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MetaevalWarning)  # documented values of constant runs
            scores = metaeval.score(runs, [*STUDY["targets"], *CANDIDATES])
        if len(scores.runs) < FEWEST_RUNS:
            outcome.notes.append(f"{name} has {len(scores.runs)} runs and is left out")
            continue
        settings.say(f"coverage under all reference sets: {name}")
        swept[name] = {view: _cover(some, settings.seed) for view, some in list_views(scores).items()}
        if swept[name][WHOLE].no_interval:
            outcome.notes.append(f"{name}: {swept[name][WHOLE].no_interval}")
    if swept:
        signed = f"coverage_references | {', '.join(swept)} | bootstrap {STUDY['n_bootstrap']:,} | seed {settings.seed}"
        outcome.tables = {"pairs": tabulate_pairs(swept, signed), "candidates": tabulate_candidates(swept, signed)}
    return outcome


def list_views(scores: metaeval.Scores) -> dict[str, metaeval.Scores]:
    """Return the scores as they are, without runs that repeat others, and without baselines."""
    informed = [run for run in scores.runs if not run.startswith(tuple(STUDY["baselines"]))]
    views = {WHOLE: scores, "on distinct runs": distinct_runs(scores), "without baselines": scores.sel(runs=informed)}
    n_runs = len(scores.runs)
    return {name: view for name, view in views.items() if name == WHOLE or FEWEST_RUNS <= len(view.runs) < n_runs}


def _cover(scores: metaeval.Scores, seed: int) -> SetCoverage:
    return cover_sets(
        scores, STUDY["targets"], CANDIDATES, smallest=STUDY["smallest"], n_bootstrap=STUDY["n_bootstrap"], seed=seed
    )


def count_sides(swept: SetCoverage, first: str, second: str) -> dict[str, float | int]:
    """Count under how many sets the first measure covers more, and under how many the interval says which does."""
    gap, low, high = swept.compare(first, second)
    mean, mean_low, mean_high = swept.compare_mean(first, second)
    return {
        "sets": len(gap), "ahead": int((gap > 0).sum()), "above 0": int((low > 0).sum()),
        "below 0": int((high < 0).sum()), "cannot tell": int((~(low > 0) & ~(high < 0)).sum()),
        "mean": mean, "low": mean_low, "high": mean_high,
    }  # fmt: skip


def tabulate_pairs(swept: Mapping[str, Mapping[str, SetCoverage]], signature: str) -> metaeval.Table:
    """Return, for every two target measures, under how many reference sets which covers more."""
    rows = [
        {"collection": name, "runs": view, "first": first, "second": second, **count_sides(some, first, second)}
        for name, views in swept.items()
        for view, some in views.items()
        for first, second in itertools.combinations(STUDY["targets"], 2)
    ]
    caption = (
        f"Under how many of the reference sets of {STUDY['smallest']} to {len(CANDIDATES)} of {', '.join(CANDIDATES)} the "
        "first measure covers more than the second; under how many the 95 % interval of the difference over topics lies "
        "above 0, below 0, or includes it; and the mean difference over all sets with its interval."
    )
    return metaeval.Table(pd.DataFrame(rows).set_index(["collection", "runs", "first", "second"]), caption, signature)


def tabulate_candidates(swept: Mapping[str, Mapping[str, SetCoverage]], signature: str) -> metaeval.Table:
    """Return which reference measures the difference of the first claim hangs on."""
    first, second = STUDY["shown"]
    rows = []
    for name, views in swept.items():
        coverage = views[WHOLE]
        for column, candidate in enumerate(coverage.candidates):
            row: dict[str, Any] = {"collection": name, "candidate": candidate}
            inside = coverage.members[:, column]
            for word, among in (("with", inside), ("without", ~inside)):
                means = coverage.compare_mean(first, second, among)
                row |= {f"{word}{end}": mean for end, mean in zip(("", ", low", ", high"), means, strict=True)}
            rows.append(row)
    caption = (
        f"Mean difference of coverage, {first} less {second}, over reference sets with a candidate and without it."
    )
    return metaeval.Table(pd.DataFrame(rows).set_index(["collection", "candidate"]), caption, signature)


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    return describe_sources(STUDY["sources"], outcomes) | {"candidates": STUDY["candidates"]}
