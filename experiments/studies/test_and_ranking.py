"""Rankings of measures by discriminative power: between tests, beside other seeds and halves of topics; surely or not."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import metaeval
from experiments.claims import Answer, NotGiven, Number, claim, list_claims, tabulate_claims, try_claims
from experiments.outcome import Outcome, Settings, read_toml
from experiments.studies.calibration import STUDY as CALIBRATION
from experiments.studies.calibration.reliability import TESTS, find_power, is_baseline
from experiments.studies.calibration.simulation import KEPT
from experiments.studies.shared import find_interval, load_collections
from metaeval.errors import MetaevalWarning
from metaeval.stats.rank_correlation import tau

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = read_toml(Path(__file__).with_suffix(".toml"))
SOURCES = ["", "rankings", "intervals"]
PICTURES = {"rankings": ("compared",)}
RESULTS = KEPT.parents[2]
RELIABILITY = KEPT.parents[1] / "reliability"
COLLECTIONS: Mapping[str, list[str]] = CALIBRATION["reliability"]["measures"]
REFERENCE = STUDY["reference"]
PAIRS = list(itertools.combinations(STUDY["tests"], 2))


@dataclass(frozen=True)
class Facts:
    """What the tables say, of one collection (one row each) or of all together."""

    compared: pd.DataFrame
    between: pd.DataFrame | None = None
    informed: pd.DataFrame | None = None
    agreement: pd.DataFrame = field(default_factory=pd.DataFrame)

    def halves_less_tests(self) -> Number:
        """Return how much more alike rankings on two halves of the topics are than rankings by two tests, as τ_b."""
        gaps = (self.compared["halves"] - self.compared["tests"]).to_numpy()
        return show_mean("τ_b between halves of the topics less that between tests", gaps)

    def studentised_less_reference(self) -> Number:
        """Return how much more alike the other tests rank measures than each of them and the reference, as τ_b."""
        if self.between is None:
            raise NotGiven("it is about all collections together")
        with_reference = [column for column in self.between if REFERENCE in column.split(" / ")]
        others = [column for column in self.between if column not in with_reference]
        alike, apart = (self.between[columns].mean(axis=1).to_numpy() for columns in (others, with_reference))
        return show_mean(f"τ_b between two of them less that of each with {REFERENCE}", alike - apart)

    def without_less_with_baselines(self) -> Number:
        """Return how much more alike rankings by different tests are without baselines, as τ_b."""
        if self.informed is None:
            raise NotGiven("it is about all collections together")
        gaps = (self.informed["without"] - self.informed["with baselines"]).to_numpy()
        return show_mean("τ_b between tests without baselines less that with them", gaps)

    def contradictions(self) -> Number:
        """Return of how many pairs of measures two tests say that each surely has more power, at most."""
        if self.agreement.empty:
            raise NotGiven("it is about one collection")
        name = f"most contradictions of {int(self.agreement['pairs'].max())} pairs of measures"
        if not self.agreement["intervals"].all():
            return Number.unsure(name)
        return Number(name, int(self.agreement["contradict"].max()))


def show_mean(name: str, values: np.ndarray) -> Number:
    """Return a mean over collections with its interval; the value of one collection."""
    if len(values) == 1:
        return Number(name, float(values[0]))
    mean, low, high = find_interval(values)
    return Number(f"mean {name}, {len(values)} collections", mean, low, high)


@claim("asked here", "The ranking of measures by discriminative power depends on the test.")
def ranking_depends_on_the_test(facts: Facts) -> Answer:
    """Rankings by the randomised Tukey HSD on two halves of the topics are more alike than rankings by two tests."""
    return facts.halves_less_tests() > 0


@claim(
    "asked here",
    "The tests that take each pair's own error (max-t, bootstrap-t, paired t with Holm) rank measures alike.",
)
def studentised_tests_agree(facts: Facts) -> Answer:
    """They rank more alike than each of them and the randomised Tukey HSD."""
    return facts.studentised_less_reference() > 0


@claim("asked here", "Two tests contradict each other about which of two measures has more power.")
def two_tests_contradict_each_other(facts: Facts) -> Answer:
    """For some pair of measures the intervals over topics lie above 0 by one test, and below 0 by another."""
    return facts.contradictions() > 0


@claim(
    "asked here, after the other claims had been tried",
    "It is the baselines that make the ranking of measures depend on the test.",
)
def baselines_make_the_difference(facts: Facts) -> Answer:
    """Without runs that never look at an item, rankings by different tests are more alike than with them."""
    return facts.without_less_with_baselines() > 0


def run(settings: Settings) -> list[Outcome]:
    """Put together what the study of calibration found, and add intervals over topics."""
    changes, powers = (pd.read_csv(RELIABILITY / f"{name}.csv") for name in ("changes", "powers"))
    rankings, intervals = study_rankings(changes, powers), study_intervals(powers, settings)
    return [try_all(rankings, intervals), rankings, intervals]


def try_all(rankings: Outcome, intervals: Outcome) -> Outcome:
    """Try the claims on all collections together, and on each."""
    tables = {name: table.frame for outcome in (rankings, intervals) for name, table in outcome.tables.items()}
    compared = tables["compared"]
    facts = {"all collections": Facts(compared, tables["between"], tables.get("informed"))}
    agreement = tables.get("agreement")
    if agreement is not None:
        facts |= {
            str(name): Facts(compared.loc[[name]], agreement=agreement.loc[[name]])
            for name in agreement.index.get_level_values("collection").unique()
        }
    findings = (finding for finding in try_claims(list_claims(sys.modules[__name__]), facts) if not finding.reason)
    whole = Outcome("test_and_ranking", "", lacks=list(intervals.lacks))
    whole.tables["claims"] = tabulate_claims(findings, "What came of the claims.", "test_and_ranking")
    return whole


def study_rankings(changes: pd.DataFrame, powers: pd.DataFrame) -> Outcome:
    """Return how alike rankings are by different tests, and how alike by one test on other seeds and topics."""
    outcome = Outcome("test_and_ranking", "rankings")
    between, compared = correlate_tests(powers), compare_changes(changes)
    signed = f"test_and_ranking | from the study of calibration | {', '.join(compared.index)}"
    caption = (
        f"Mean τ_b between two rankings of measures by discriminative power: by {REFERENCE} with two seeds and on two halves "
        f"of the topics; by {REFERENCE} and by another test; and the mean of these."
    )
    outcome.tables["compared"] = metaeval.Table(compared, caption, signed)
    caption = "τ_b between the rankings by any two tests, with seed 0."
    outcome.tables["between"] = metaeval.Table(between, caption, signed)
    outcome.figures["compared"] = partial(draw_compared, compared, signed)
    return outcome


def compare_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """Return τ_b between rankings by what differs between them, one row a collection."""
    rows: dict[str, dict[str, float]] = {}
    for name, group in changes.groupby("collection", sort=False):
        by = group.set_index(["changed", "test"])["tau"]
        others = {
            test: float(by[f"another test than {REFERENCE}", test]) for test in STUDY["tests"] if test != REFERENCE
        }
        same = {what: float(by[STUDY[key], REFERENCE]) for key, what in (("seed_change", "seeds"), ("half", "halves"))}
        rows[str(name)] = {**same, **others, "tests": float(np.nanmean(list(others.values())))}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def correlate_tests(powers: pd.DataFrame) -> pd.DataFrame:
    """Return τ_b between the rankings of measures by any two tests, one row a collection."""
    rows = {
        name: {f"{a} / {b}": float(tau(group[a], group[b], variant="tau_b")) for a, b in PAIRS}
        for name, group in powers.groupby("collection", sort=False)
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def study_intervals(powers: pd.DataFrame, settings: Settings) -> Outcome:
    """Return which measure surely has more power by each test, and what tests say without baselines."""
    outcome = Outcome("test_and_ranking", "intervals", tolerance=STUDY["tolerance"])
    committed = {name: read_committed(outcome.name, name) for name in ("agreement", "powers")}
    known = set(committed["agreement"]["collection"])
    chosen = [name for name in COLLECTIONS if settings.full or name in STUDY["quick"] or name not in known]
    fresh: dict[str, list[pd.DataFrame]] = {"agreement": [], "powers": []}
    computed = load_collections(chosen, settings, outcome.lacks)
    for name, data in computed.items():
        settings.say(f"power by {len(TESTS)} tests: {name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MetaevalWarning)
            measures = COLLECTIONS[name]
            is_scored = isinstance(data, metaeval.Scores)
            scores = data.sel(measures=measures) if is_scored else metaeval.score(data, measures)
        fresh["agreement"].append(count_agreements(compare_powers(name, scores, settings.seed)))
        fresh["powers"].append(find_powers(name, scores, settings.seed))
    counted, informed = (join_committed(committed[name], frames, list(computed)) for name, frames in fresh.items())
    if counted.empty:
        return outcome
    signed = (
        f"test_and_ranking | B {STUDY['n_permutations']:,} | bootstrap {STUDY['n_bootstrap']:,} | seed {settings.seed} | "
        f"{', '.join(dict.fromkeys(counted['collection']))}"
    )
    caption = (
        "Pairs of measures by what two tests say of their discriminative power: the same one has more by both (its interval "
        "over topics leaves 0 out); different ones; one test only can tell; neither."
    )
    outcome.tables["agreement"] = metaeval.Table(counted.set_index(["collection", "test 1", "test 2"]), caption, signed)
    if not informed.empty:
        caption = (
            f"Mean τ_b between the rankings by {REFERENCE} and by the other tests, with baselines and without them."
        )
        outcome.tables["informed"] = metaeval.Table(tabulate_informed(powers, informed), caption, signed)
        caption = "Discriminative power by each test without baselines."
        outcome.tables["powers"] = metaeval.Table(informed.set_index(["collection", "measure"]), caption, signed)
    return outcome


def read_committed(folder: str, name: str) -> pd.DataFrame:
    """Return a table of the committed results, without rows where there is none."""
    path = RESULTS / folder / f"{name}.csv"
    return pd.read_csv(path) if path.exists() else pd.DataFrame({"collection": []})


def join_committed(committed: pd.DataFrame, fresh: list[pd.DataFrame], computed: list[str]) -> pd.DataFrame:
    """Return what is committed with the rows of some collections as they come out now, in the study's order."""
    frames = [frame for frame in [committed[~committed["collection"].isin(computed)], *fresh] if len(frame)]
    if not frames:
        return committed
    order = list(COLLECTIONS)
    joined = pd.concat(frames, ignore_index=True)
    return joined.sort_values("collection", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def compare_powers(name: str, scores: metaeval.Scores, seed: int) -> pd.DataFrame:
    """Return the differences of power of every two measures by every test, with intervals over topics."""
    frames = []
    for test in STUDY["tests"]:
        power = metaeval.discriminative_power(
            scores, n_permutations=STUDY["n_permutations"], n_bootstrap=STUDY["n_bootstrap"],
            alpha=CALIBRATION["alpha"], seed=seed, **TESTS[test],
        )  # fmt: skip
        columns = ["measure_1", "measure_2", "difference", "low", "high"]
        frames.append(power.compare_power()[columns].assign(collection=name, test=test))
    frame = pd.concat(frames, ignore_index=True)
    return frame[["collection", "test", *columns]]


def count_agreements(differences: pd.DataFrame) -> pd.DataFrame:
    """Count, for any two tests, the pairs of measures on which they agree, contradict each other, or cannot tell."""
    sure = (differences["low"] > 0).astype(int) - (differences["high"] < 0)
    wide = differences.assign(sure=sure).pivot_table(
        index=["collection", "measure_1", "measure_2"], columns="test", values="sure", sort=False
    )
    known = differences.groupby("collection")["low"].count() > 0
    rows = []
    for name, group in wide.groupby(level="collection", sort=False):
        for a, b in PAIRS:
            product, either = group[a] * group[b], (group[a] != 0) | (group[b] != 0)
            rows.append({
                "collection": name, "test 1": a, "test 2": b, "pairs": len(group), "intervals": bool(known[name]),
                "same": int((product > 0).sum()), "contradict": int((product < 0).sum()),
                "one only": int((either & (product == 0)).sum()), "neither": int((~either).sum()),
            })  # fmt: skip
    return pd.DataFrame(rows)


def find_powers(name: str, scores: metaeval.Scores, seed: int) -> pd.DataFrame:
    """Return the power of every measure by every test without baselines; no row where there are none."""
    informed = [run for run in scores.runs if not is_baseline(run)]
    if len(informed) == len(scores.runs):
        return pd.DataFrame({"collection": [], "measure": []})
    fewer = scores.sel(runs=informed)
    powers = {test: find_power(fewer, test, seed) for test in STUDY["tests"]}
    return pd.DataFrame({"collection": name, "measure": [str(measure) for measure in scores.measures], **powers})


def compare_with_reference(powers: pd.DataFrame) -> dict[str, float]:
    """Return the mean τ_b between the ranking by the reference test and those by the others, by collection."""
    others = [test for test in STUDY["tests"] if test != REFERENCE]
    return {
        str(name): float(np.nanmean([tau(group[REFERENCE], group[test], variant="tau_b") for test in others]))
        for name, group in powers.groupby("collection", sort=False)
    }


def tabulate_informed(with_baselines: pd.DataFrame, without: pd.DataFrame) -> pd.DataFrame:
    """Return the mean τ_b between tests with baselines and without them, of collections that have some."""
    whole, fewer = compare_with_reference(with_baselines), compare_with_reference(without)
    rows = {name: {"with baselines": whole[name], "without": value} for name, value in fewer.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def draw_compared(compared: pd.DataFrame, signature: str) -> Figure:
    """Draw τ_b between rankings by what differs, one row a collection."""
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import house_style

    looks = {"seeds": ("|", "#7F7F7F"), "halves": ("s", "#009E73")}
    looks |= {
        test: (mark, "#D55E00") for test, mark in zip(TESTS, ("", "o", "^", "D"), strict=True) if test != REFERENCE
    }
    labels = {"seeds": "same test, two seeds", "halves": "same test, two halves of the topics"}
    with house_style():
        figure = Figure(figsize=(7.6, 0.36 * len(compared) + 1.3), layout="constrained")
        axes = figure.subplots()
        rows = np.arange(len(compared))[::-1]
        for column, (mark, colour) in looks.items():
            style = {"markersize": 9, "markeredgewidth": 2} if mark == "|" else {"markersize": 5}
            label = labels.get(column, f"{REFERENCE} and {column}")
            axes.plot(compared[column], rows, mark, color=colour, label=label, alpha=0.85, **style)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(rows, list(compared.index))
        axes.set_xlabel("τ_b between two rankings of measures by discriminative power")
        figure.legend(loc="outside right upper", fontsize=7)
        return sign_figure(figure, signature)


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    return {"names": list(COLLECTIONS)}
