"""Rankings of measures by discriminative power: between tests, beside other seeds and halves of topics; surely or not."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

import metaeval
from experiments.answers import load_collections
from experiments.calibration.reliability import TESTS
from experiments.calibration.simulation import KEPT
from experiments.calibration.study import STUDY as CALIBRATION
from experiments.outcome import Outcome, Settings
from experiments.test_and_ranking.informed import find_powers, judge_baselines, tabulate_informed
from experiments.test_and_ranking.picture import draw_compared
from experiments.test_and_ranking.verdicts import STUDY, judge_collections, judge_contradictions, judge_over_collections
from metaeval.errors import MetaevalWarning
from metaeval.stats.rank_correlation import tau

SOURCES = ["rankings", "intervals"]
RESULTS = KEPT.parents[2]
RELIABILITY = KEPT.parents[1] / "reliability"
COLLECTIONS: Mapping[str, list[str]] = CALIBRATION["reliability"]["measures"]
REFERENCE = STUDY["reference"]
PAIRS = list(itertools.combinations(STUDY["tests"], 2))


def run(settings: Settings) -> list[Outcome]:
    """Put together what the study of calibration found, and add intervals over topics.

    Parameters
    ----------
    settings : Settings
        Unless ``full``, the intervals of most collections come from what is kept.

    Returns
    -------
    list of Outcome
    """
    changes, powers = (pd.read_csv(RELIABILITY / f"{name}.csv") for name in ("changes", "powers"))
    return [study_rankings(changes, powers), study_intervals(powers, settings)]


def study_rankings(changes: pd.DataFrame, powers: pd.DataFrame) -> Outcome:
    """Return how alike rankings are by different tests, and how alike by one test on other seeds and topics.

    Parameters
    ----------
    changes, powers : DataFrame
        Tables of the study of calibration.

    Returns
    -------
    Outcome
    """
    outcome = Outcome("test_and_ranking", "rankings")
    between, compared = correlate_tests(powers), compare_changes(changes)
    signed = f"test_and_ranking | from results/calibration/reliability | {', '.join(compared.index)}"
    caption = (
        f"Mean τ_b between two rankings of measures by discriminative power: by {REFERENCE} with two seeds and on two halves "
        f"of the topics; by {REFERENCE} and by another test; and the mean of these."
    )
    outcome.tables["compared"] = metaeval.Table(compared, caption, signed)
    outcome.tables["between"] = metaeval.Table(
        between, "τ_b between the rankings by any two tests, with seed 0.", signed
    )
    outcome.figures["compared"] = partial(draw_compared, compared, signed)
    outcome.verdicts = [*judge_collections(compared), *judge_over_collections(compared, between)]
    return outcome


def compare_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """Return τ_b between rankings by what differs between them, one row a collection.

    Parameters
    ----------
    changes : DataFrame
        As `experiments.calibration.reliability.measure_reliability` returns it.

    Returns
    -------
    DataFrame
        Columns: another seed, the other half of the topics, each other test, and the mean of these.
    """
    rows: dict[str, dict[str, float]] = {}
    for name, own in changes.groupby("collection", sort=False):
        by = own.set_index(["changed", "test"])["tau"]
        others = {
            test: float(by[f"another test than {REFERENCE}", test]) for test in STUDY["tests"] if test != REFERENCE
        }
        same = {what: float(by[STUDY[key], REFERENCE]) for key, what in (("seed_change", "seeds"), ("half", "halves"))}
        rows[str(name)] = {**same, **others, "tests": float(np.nanmean(list(others.values())))}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def correlate_tests(powers: pd.DataFrame) -> pd.DataFrame:
    """Return τ_b between the rankings of measures by any two tests, one row a collection.

    Parameters
    ----------
    powers : DataFrame
        One row for a collection and a measure, one column a test.

    Returns
    -------
    DataFrame
        Columns are two tests, as ``"max-t / bootstrap-t"``.
    """
    rows = {
        name: {f"{one} / {two}": float(tau(own[one], own[two], variant="tau_b")) for one, two in PAIRS}
        for name, own in powers.groupby("collection", sort=False)
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def study_intervals(powers: pd.DataFrame, settings: Settings) -> Outcome:
    """Return which measure surely has more power by each test, and what tests say without baselines.

    Parameters
    ----------
    powers : DataFrame
        With baselines, of the study of calibration.
    settings : Settings

    Returns
    -------
    Outcome
    """
    outcome = Outcome("test_and_ranking", "intervals", tolerance=STUDY["tolerance"])
    kept = {name: read_kept(outcome.name, name) for name in ("differences", "powers")}
    there = set(kept["differences"]["collection"])
    wanted = [name for name in COLLECTIONS if settings.full or name in STUDY["quick"] or name not in there]
    fresh: dict[str, list[pd.DataFrame]] = {"differences": [], "powers": []}
    computed = load_collections(wanted, settings, outcome.lacks)
    for name, loaded in computed.items():
        settings.say(f"power by {len(TESTS)} tests: {name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MetaevalWarning)
            measures = COLLECTIONS[name]
            scores = (
                loaded.sel(measures=measures)
                if isinstance(loaded, metaeval.Scores)
                else metaeval.score(loaded, measures)
            )
        fresh["differences"].append(compare_powers(name, scores, settings.seed))
        fresh["powers"].append(find_powers(name, scores, settings.seed))
    frame, informed = (join_kept(kept[name], frames, list(computed)) for name, frames in fresh.items())
    if frame.empty:
        return outcome
    signed = (
        f"test_and_ranking | B {STUDY['n_permutations']:,} | bootstrap {STUDY['n_bootstrap']:,} | seed {settings.seed} | "
        f"{', '.join(dict.fromkeys(frame['collection']))}"
    )
    counted = count_agreements(frame)
    caption = (
        "Pairs of measures by what two tests say of their discriminative power: the same one has more by both (its interval "
        "over topics leaves 0 out); different ones; one test only can tell; neither."
    )
    outcome.tables["agreement"] = metaeval.Table(counted.set_index(["collection", "test 1", "test 2"]), caption, signed)
    caption = "The first measure's discriminative power less the second's by each test, with its interval over topics."
    index = ["collection", "test", "measure_1", "measure_2"]
    outcome.tables["differences"] = metaeval.Table(frame.set_index(index), caption, signed)
    outcome.verdicts = judge_contradictions(counted, settings.seed)
    if not informed.empty:
        caption = (
            f"Mean τ_b between the rankings by {REFERENCE} and by the other tests, with baselines and without them."
        )
        table = tabulate_informed(powers, informed)
        outcome.tables["informed"] = metaeval.Table(table, caption, signed)
        caption = "Discriminative power by each test without baselines."
        outcome.tables["powers"] = metaeval.Table(informed.set_index(["collection", "measure"]), caption, signed)
        outcome.verdicts.append(judge_baselines(table))
    return outcome


def read_kept(folder: str, name: str) -> pd.DataFrame:
    """Return a table of the committed results, without rows where there is none.

    Parameters
    ----------
    folder, name : str

    Returns
    -------
    DataFrame
    """
    path = RESULTS / folder / f"{name}.csv"
    return pd.read_csv(path) if path.exists() else pd.DataFrame({"collection": []})


def join_kept(kept: pd.DataFrame, fresh: list[pd.DataFrame], computed: list[str]) -> pd.DataFrame:
    """Return what is kept with the rows of some collections as they come out now, in the study's order.

    Parameters
    ----------
    kept : DataFrame
    fresh : list of DataFrame
    computed : list of str
        Collections.

    Returns
    -------
    DataFrame
    """
    frames = [one for one in [kept[~kept["collection"].isin(computed)], *fresh] if len(one)]
    if not frames:
        return kept
    order = list(COLLECTIONS)
    joined = pd.concat(frames, ignore_index=True)
    return joined.sort_values("collection", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def compare_powers(name: str, scores: metaeval.Scores, seed: int) -> pd.DataFrame:
    """Return the differences of power of every two measures by every test, with intervals over topics.

    Parameters
    ----------
    name : str
        Of the collection.
    scores : Scores
    seed : int

    Returns
    -------
    DataFrame
        Columns collection, test, measure_1, measure_2, difference, low, high.
    """
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
    """Count, for any two tests, the pairs of measures on which they agree, contradict each other, or cannot tell.

    Parameters
    ----------
    differences : DataFrame
        As `compare_powers` returns it, of several collections.

    Returns
    -------
    DataFrame
        One row for a collection and two tests.
    """
    sure = (differences["low"] > 0).astype(int) - (differences["high"] < 0)
    wide = differences.assign(sure=sure).pivot_table(
        index=["collection", "measure_1", "measure_2"], columns="test", values="sure", sort=False
    )
    known = differences.groupby("collection")["low"].count() > 0
    rows = []
    for name, own in wide.groupby(level="collection", sort=False):
        for one, two in PAIRS:
            product, either = own[one] * own[two], (own[one] != 0) | (own[two] != 0)
            rows.append({
                "collection": name, "test 1": one, "test 2": two, "pairs": len(own), "intervals": bool(known[name]),
                "same": int((product > 0).sum()), "contradict": int((product < 0).sum()),
                "one only": int((either & (product == 0)).sum()), "neither": int((~either).sum()),
            })  # fmt: skip
    return pd.DataFrame(rows)
