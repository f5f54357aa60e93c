"""Preferences between Popularity and Uniform by the flatness of the gold, on STC-3 and on all gold of 19 votes."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import metaeval
from experiments.bounds import BOUNDS
from experiments.claims import Answer, NotGiven, Number, claim, every, list_claims, tabulate_claims, try_claims
from experiments.outcome import Outcome, Settings, read_toml
from experiments.studies.new_measure import POPULARITY, UNIFORM, make_baselines
from experiments.studies.shared import load_collections

STUDY = read_toml(Path(__file__).with_suffix(".toml"))
MEASURES = list(STUDY["measures"])
ASKED = STUDY["asked"]
OTHERS = [name for name in MEASURES if name != ASKED]
CONFIDENCE = STUDY["confidence"]
SOURCES = ["", "stc3", "map"]
CLASSES = 5
MODES = ("at an end", "next to an end", "in the middle")
STEPS = 40  # of Newton's method
TINY = 1e-9  # a step this small is no longer shortened
RIDGE = 1e-6  # keeps the curve finite where one point separates all topics


def find_flatness(gold: np.ndarray) -> np.ndarray:
    """Return the entropy of gold distributions over its largest value: 0 for one class only, 1 for Uniform."""
    logs = np.log(gold, where=gold > 0, out=np.zeros_like(gold))
    return np.abs((gold * logs).sum(axis=1)) / np.log(gold.shape[1])


def prefer(runs: metaeval.QuantificationRuns, measures: list[str]) -> np.ndarray:
    """Return which baseline each measure prefers, shape (topic, measure): 1 Popularity, −1 Uniform, 0 neither."""
    scores = metaeval.score(make_baselines(runs), measures)
    return np.sign(metaeval.baseline_preference(scores, POPULARITY, UNIFORM).gains).astype(int)


def list_gold(votes: int, classes: int) -> np.ndarray:
    """Return all ways to give votes to classes, as shares, shape (way, class)."""
    bars = np.array(list(itertools.combinations(range(votes + classes - 1), classes - 1)))
    edges = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), votes + classes - 1)], axis=1)
    return (np.diff(edges, axis=1) - 1) / votes


class Estimate(NamedTuple):
    """A number computed from topics, and how far each topic moves it."""

    value: float
    influence: np.ndarray

    def less(self, other: Estimate) -> Estimate:
        """Return the difference of two numbers of the same topics."""
        return Estimate(self.value - other.value, self.influence - other.influence)

    def find_ends(self, confidence: float) -> tuple[float, float]:
        """Return both ends of the Student's t interval over topics."""
        from scipy.stats import t

        n = len(self.influence)
        error = np.sqrt(n / (n - 1) * (self.influence**2).sum())
        reach = float(t.ppf((1 + confidence) / 2, n - 1) * error)
        return self.value - reach, self.value + reach


def find_mean(values: np.ndarray, among: np.ndarray | None = None) -> Estimate:
    """Return a mean over topics, or over some of them."""
    inside = np.ones(len(values), dtype=bool) if among is None else among
    mean = float(values[inside].mean())
    return Estimate(mean, inside * (values - mean) / inside.sum())


def fit_curve(flatness: np.ndarray, chosen: np.ndarray) -> tuple[Estimate, Estimate]:
    """Fit the logistic curve P(chosen) = 1 / (1 + exp(−slope · (flatness − crossing))) by Newton's method."""
    design = np.stack([np.ones_like(flatness), flatness - flatness.mean()], axis=1)
    turned = np.where(chosen, 1.0, -1.0)

    def find_loss(beta: np.ndarray) -> float:
        return float(np.logaddexp(0, -turned * (design @ beta)).sum() + RIDGE / 2 * beta @ beta)

    beta = np.zeros(2)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -500, 500)))
        curvature = (design * (p * (1 - p))[:, None]).T @ design + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, design.T @ (chosen - p) - RIDGE * beta)
        while np.abs(step).max() > TINY and find_loss(beta + step) > find_loss(beta):
            step = step / 2
        beta = beta + step
    moved = np.linalg.solve(curvature, (design * (chosen - p)[:, None]).T)
    level, slope = beta
    crossing = flatness.mean() - level / slope
    return Estimate(float(slope), moved[1]), Estimate(float(crossing), -moved[0] / slope + level * moved[1] / slope**2)


def count_peaks(gold: np.ndarray) -> np.ndarray:
    """Count peaks of distributions: classes, or runs of equal neighbours, with less gold on both sides."""
    outside = np.full((len(gold), 1), -1.0)
    steps = np.sign(np.round(np.diff(np.concatenate([outside, gold, outside], axis=1), axis=1), 9))
    for k in range(1, steps.shape[1]):  # a level stretch goes on as it began
        level = steps[:, k] == 0
        steps[level, k] = steps[level, k - 1]
    return ((steps[:, :-1] > 0) & (steps[:, 1:] < 0)).sum(axis=1)


def find_switch(flatness: np.ndarray, preferred: np.ndarray) -> tuple[float, float]:
    """Return the flatness that best separates topics that prefer Popularity (below), and the share it separates."""
    decided = preferred != 0
    order = np.argsort(flatness[decided], kind="stable")
    x, popular = flatness[decided][order], preferred[decided][order] > 0
    right = np.concatenate([[0], np.cumsum(popular)]) + np.concatenate([np.cumsum(~popular[::-1])[::-1], [0]])
    between = np.concatenate([[True], np.diff(x) > 1e-12, [True]])  # no point lies between equal flatness
    best = int(np.argmax(np.where(between, right, -1)))
    ends = np.concatenate([[0.0], x, [1.0]])
    middle = float(ends[best] + ends[best + 1]) / 2
    return middle, float(right[best] / len(x))


@dataclass(frozen=True)
class Facts:
    """How preferences depend on flatness in one collection: preferred (topic, measure); estimates by measure."""

    flatness: np.ndarray
    preferred: np.ndarray
    peaks: np.ndarray
    share: dict[str, Estimate]
    slope: dict[str, Estimate]
    crossing: dict[str, Estimate]

    def leads(self, what: str) -> list[Number]:
        """Return NMD's share of topics, or its crossing, less that of each other measure."""
        numbers = getattr(self, what)
        return [show_estimate(f"{ASKED} less {other}", numbers[ASKED].less(numbers[other])) for other in OTHERS]

    def curve(self) -> tuple[Number, float]:
        """Return the slope of NMD's curve, and the flatness at which it crosses one half."""
        return show_estimate("slope", self.slope[ASKED]), self.crossing[ASKED].value

    def share_separated(self) -> Number:
        """Return the smallest share of topics that one switch point tells right, of all measures."""
        shares = {name: find_switch(self.flatness, self.preferred[:, m])[1] for m, name in enumerate(MEASURES)}
        least = min(shares, key=shares.__getitem__)
        return Number(f"share told by one switch point, least ({least})", shares[least])

    def leads_by_peaks(self) -> list[Number]:
        """Return how much farther NMD is ahead of each other measure where the gold has one peak than where several."""
        popular, single = (self.preferred > 0).astype(float), self.peaks == 1
        numbers = []
        for other in OTHERS:
            lead = popular[:, MEASURES.index(ASKED)] - popular[:, MEASURES.index(other)]
            gap = find_mean(lead, single).less(find_mean(lead, ~single))
            numbers.append(show_estimate(f"lead over {other}, one peak less several", gap))
        return numbers


@dataclass(frozen=True)
class MapFacts:
    """The same of all possible gold, each once: shares without intervals."""

    mapped: pd.DataFrame

    def leads(self, what: str) -> list[Number]:
        """Return NMD's share less that of each other measure."""
        if what != "share":
            self.refuse()
        shares = (self.mapped[MEASURES] > 0).mean()
        return [Number(f"{ASKED} less {other}", float(shares[ASKED] - shares[other])) for other in OTHERS]

    def refuse(self) -> Any:
        """Say that curves and intervals are those of topics."""
        raise NotGiven("all possible gold is no sample of topics")

    curve = share_separated = leads_by_peaks = refuse


def show_estimate(name: str, estimate: Estimate) -> Number:
    """Return a number with its interval over topics."""
    return Number(name, estimate.value, *estimate.find_ends(CONFIDENCE))


@claim("LQ 2021, §5.3", "NMD tends to prefer Popularity over Uniform compared to the other measures.")
def nmd_prefers_popularity_more_often(facts: Facts | MapFacts) -> Answer:
    """The share of topics on which NMD prefers Popularity is larger than that of each of the other five."""
    return every(number > 0 for number in facts.leads("share"))


@claim(
    "LQ 2021, §5.3, of any measure; tried on NMD (reworded)",
    "If the gold distribution is almost flat, the measure prefers Uniform over Popularity.",
)
def nmd_prefers_uniform_for_flat_gold(facts: Facts) -> Answer:
    """NMD's logistic curve falls with flatness, and crosses one half below flatness 1."""
    slope, crossing = facts.curve()
    return (slope < 0) & (Number("crosses one half at", crossing) < 1)


@claim(
    "asked by LQ 2021, §6: “Is it almost flat?”",
    "NMD's preference for Popularity is explained by the flatness of the gold.",
)
def flatness_explains(facts: Facts) -> Answer:
    """One point tells {one switch decides} of all preferences, and NMD's curve crosses one half later than the others."""
    crosses_later = every(number > 0 for number in facts.leads("crossing"))
    return (facts.share_separated() >= BOUNDS["one switch decides"].value) & crosses_later


@claim(
    "asked here, after the map had been seen",
    "NMD's lead in preferring Popularity is larger where the gold has one peak than where it has several.",
)
def one_peak_explains(facts: Facts) -> Answer:
    """Its lead over each of the other five is, with an interval over topics."""
    return every(number > 0 for number in facts.leads_by_peaks())


def run(settings: Settings) -> list[Outcome]:
    """Look at every topic of STC-3 that can be loaded, and at all gold."""
    mapped = map_gold()
    real, outcome = study_topics(settings)
    facts: dict[str, Any] = real | {name: MapFacts(some) for name, some in split_map(mapped).items()}
    whole = Outcome("flat_gold", "", lacks=list(outcome.lacks))
    caption = "What came of the claims."
    findings = [
        finding
        for finding in try_claims(list_claims(sys.modules[__name__]), facts)
        if not finding.reason  # all possible gold is asked one claim
    ]
    whole.tables["claims"] = tabulate_claims(findings, caption, "flat_gold")
    return [whole, outcome, study_map(mapped)]


def look_at(runs: metaeval.QuantificationRuns) -> Facts:
    """Return how preferences depend on the flatness of the gold."""
    flatness, preferred = find_flatness(runs.gold), prefer(runs, MEASURES)
    popular = {name: preferred[:, m] > 0 for m, name in enumerate(MEASURES)}
    curves = {name: fit_curve(flatness, chosen) for name, chosen in popular.items()}
    return Facts(
        flatness, preferred, count_peaks(runs.gold), {name: find_mean(chosen) for name, chosen in popular.items()},
        {name: slope for name, (slope, _) in curves.items()}, {name: crossing for name, (_, crossing) in curves.items()},
    )  # fmt: skip


def study_topics(settings: Settings) -> tuple[dict[str, Facts], Outcome]:
    """Return what depends on flatness in real gold."""
    outcome = Outcome("flat_gold", "stc3")
    collections = load_collections(STUDY["collections"], settings, outcome.lacks)
    facts = {name: look_at(runs) for name, runs in collections.items()}
    if facts:
        signed = f"flat_gold | {', '.join(facts)} | interval {100 * CONFIDENCE:g} % over topics"
        caption = (
            "Share of topics on which each measure prefers Popularity; its logistic curve over flatness, with intervals "
            "over topics: slope, and flatness at which it crosses one half; and the one switch point that tells its "
            "preference best, with the share of topics that it tells right, ties left out."
        )
        outcome.tables["curves"] = metaeval.Table(tabulate_curves(facts), caption, signed)
    return facts, outcome


def tabulate_curves(facts: Mapping[str, Facts]) -> pd.DataFrame:
    """Return shares, curves and switch points, indexed by collection and measure."""
    rows = []
    for name, fact in facts.items():
        for m, measure in enumerate(MEASURES):
            switch, separated = find_switch(fact.flatness, fact.preferred[:, m])
            slope, crossing = fact.slope[measure], fact.crossing[measure]
            slopes, crossings = slope.find_ends(CONFIDENCE), crossing.find_ends(CONFIDENCE)
            rows.append({
                "collection": name, "measure": measure, "Popularity": fact.share[measure].value,
                "tied": (fact.preferred[:, m] == 0).mean(),
                "slope": slope.value, "slope, low": slopes[0], "slope, high": slopes[1],
                "crossing": crossing.value, "crossing, low": crossings[0], "crossing, high": crossings[1],
                "switch": switch, "told right": separated,
            })  # fmt: skip
    return pd.DataFrame(rows).set_index(["collection", "measure"])


def map_gold() -> pd.DataFrame:
    """Return the preference of every measure for every way to give the votes to five classes."""
    gold = list_gold(STUDY["votes"], CLASSES)
    runs = metaeval.QuantificationRuns(gold[None], gold, runs=["gold"], topics=range(len(gold)), classes=list("abcde"))
    modes = np.isclose(gold, gold.max(axis=1, keepdims=True))
    where = np.array(MODES, dtype=object)[2 - np.abs(modes.argmax(axis=1) - 2)]
    frame = pd.DataFrame(prefer(runs, MEASURES), columns=MEASURES)
    return frame.assign(
        flatness=find_flatness(gold), peaks=count_peaks(gold), mode=np.where(modes.sum(axis=1) == 1, where, "")
    )


def split_map(mapped: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return all gold, and that with one peak and with several."""
    single = mapped["peaks"] == 1
    return {"all gold": mapped, "gold with one peak": mapped[single], "gold with several peaks": mapped[~single]}


def study_map(mapped: pd.DataFrame) -> Outcome:
    """Return where each measure switches when all gold is looked at, by where the most frequent class lies."""
    outcome = Outcome("flat_gold", "map")
    rows = []
    by_mode = {f"most frequent class {where}": mapped[mapped["mode"] == where] for where in MODES}
    for where, some in {**split_map(mapped), **by_mode}.items():
        for measure in MEASURES:
            preferred, flatness = some[measure].to_numpy(), some["flatness"].to_numpy()
            switch, separated = find_switch(flatness, preferred)
            rows.append({
                "which": where, "measure": measure, "gold": len(some),
                "Popularity": (preferred > 0).mean(), "tied": (preferred == 0).mean(),
                "Uniform from": flatness[preferred < 0].min(), "Popularity up to": flatness[preferred > 0].max(),
                "switch": switch, "told right": separated,
            })  # fmt: skip
    caption = (
        f"All {len(mapped):,} ways to give {STUDY['votes']} votes to five classes, by the number of peaks and by where the "
        "most frequent class lies: share on which each measure prefers Popularity; the smallest flatness at which it prefers "
        "Uniform and the largest at which it prefers Popularity, between which flatness alone does not tell; and the one "
        "switch point that tells best, with the share that it tells right, ties left out."
    )
    signed = f"flat_gold | {STUDY['votes']} votes, {CLASSES} classes | exact | metaeval {metaeval.__version__}"
    outcome.tables["map"] = metaeval.Table(pd.DataFrame(rows).set_index(["which", "measure"]), caption, signed)
    return outcome


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    return {"names": STUDY["collections"]}
