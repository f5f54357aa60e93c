"""Whether the conclusions of §5.4 come out, on the printed table and on collections of another kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from experiments.amigo2020.verdicts import agree, conclude, judge_all
from experiments.bounds import BOUNDS
from experiments.outcome import read_toml
from experiments.verdicts import PRINT, Found
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

MEASURES: Mapping[str, str] = read_toml(Path(__file__).parent / "study.toml")["measures"]
OWN, FLAT = "CEM_ORD", "CEM_ORD flat"
REFERENCE = ("Accuracy", "Kendall", "MI")
HIGHEST = ("CEM_ORD", "Accuracy", "F-measure")
LOWEST = ("Acc with 1", "MAE_m")
MINIMAL = 0.01
"""The difference that the paper calls minimal."""

NEAR_TOP = 3
"""Measures with a high coverage on a collection, for the rule on consistency."""

SAME = 1e-9
TABLE = f"{PRINT}: Table 3 (right)"
UNTRIED = "the outputs of their systems, which it would take, are not public"

Judge = Callable[[np.ndarray, Sequence[str]], Found]
"""From the coverage of every measure, shape (measure,) or (measure, collection), and their names, to what came out."""


@dataclass(frozen=True, eq=False)
class Look:
    """One collection: coverage and robustness of every measure, shape (measure,) each.

    Parameters
    ----------
    coverage : mapping of int to ndarray
        By the seed that items were dealt to parts with.
    others : mapping of str to (ndarray or str)
        Coverage with other runs, or in words why there is nothing to try.
    robustness : mapping of int to ndarray
    gaps : DataFrame or None
        Differences of coverage with intervals over topics, where the topics are the collection's own.
    """

    coverage: Mapping[int, np.ndarray]
    others: Mapping[str, np.ndarray | str]
    robustness: Mapping[int, np.ndarray]
    gaps: pd.DataFrame | None


def judge_collections(looks: Mapping[str, Look], rows: Sequence[str], together: str) -> list[Verdict]:
    """Return the verdicts on every collection, and on all of them together.

    Parameters
    ----------
    looks : mapping of str to Look
    rows : sequence of str
        Measures of the paper: the first of those that a look has.
    together : str
        What all of them are called.

    Returns
    -------
    list of Verdict
    """
    single: dict[str, Judge] = {"best_real": judge_best, "reference_real": judge_reference, "flat_real": judge_flat}
    found = [
        _judge_one(name, judge, label, look, rows) for name, judge in single.items() for label, look in looks.items()
    ]
    labels = list(looks)
    several: dict[str, Judge] = {
        "inconsistent": judge_consistency,
        "dataset_varies": partial(judge_orders, labels=labels),
    }
    for name, judge in several.items():
        found.append(_judge_all_seeds(name, judge, [one.coverage for one in looks.values()], rows, together))
    leaving: dict[str, Judge] = {
        "robust_highest": partial(judge_ends, wanted=HIGHEST, top=True),
        "robust_lowest": partial(judge_ends, wanted=LOWEST, top=False),
        "robust_flat": judge_robust_flat,
        "robust_as_best": judge_robust_best,
    }
    for name, judge in leaving.items():
        judge = partial(leave_one_out, judge=judge)
        found.append(_judge_all_seeds(name, judge, [one.robustness for one in looks.values()], rows, together))
    return found


def judge_print(printed: Mapping[str, Sequence[float]]) -> list[Verdict]:
    """Return what the rules say of the printed table: whether the sentences follow from it.

    Parameters
    ----------
    printed : mapping of str to sequence of float
        Coverage on the six collections, by measure.

    Returns
    -------
    list of Verdict
    """
    rows, table = list(printed), np.array(list(printed.values()))
    by_column = {
        name: [judge(column, rows)[0] for column in table.T]
        for name, judge in (("best", judge_best), ("flat", judge_flat))
    }
    best, second = (by_column["best"].count(word) for word in ("holds", "holds in part"))
    own, flat = (table[rows.index(row)] for row in (OWN, FLAT))
    above, same = int((own > flat + SAME).sum()), int((np.abs(own - flat) <= SAME).sum())
    columns = table.shape[1]
    found: dict[str, Found] = {
        "best_real": (
            judge_all([best == 4, second == 2]),
            (Evidence("columns on top", best), Evidence(f"second by {MINIMAL:g}", second), Evidence("of", columns)),
        ),
        "reference_real": judge_reference(table, rows),
        "flat_real": (
            judge_all([above == columns - 1 and same == 1]),
            (Evidence("columns with flat lower", above), Evidence("the same", same), Evidence("of", columns)),
        ),
        "inconsistent": judge_consistency(table, rows),
        "kappa_swings": judge_kappa(table, rows),
        "dataset_varies": judge_orders(table, rows, labels=[f"column {c + 1}" for c in range(columns)]),
    }
    return [conclude(name, TABLE, one, [("numbers", "as printed")]) for name, one in found.items()]


def judge_printed_robustness(printed: Mapping[str, float]) -> list[Verdict]:
    """Return what the rules say of the robustness that §5.4 prints: that of six measures, the ends and CEM_ORD's flat version.

    Parameters
    ----------
    printed : mapping of str to float
        The mean over the six collections, by measure.

    Returns
    -------
    list of Verdict
        That no other measure lies beyond the ends is the text's word: it prints no other numbers.
    """
    rows, values = list(printed), np.array(list(printed.values()))
    found: dict[str, Found] = {
        "robust_highest": judge_ends(values, rows, HIGHEST, top=True),
        "robust_lowest": judge_ends(values, rows, LOWEST, top=False),
        "robust_flat": judge_robust_flat(values, rows),
        "robust_as_best": judge_robust_best(values, rows),
    }
    conditions = [("numbers", "as printed, of six measures"), ("that none lies beyond them", "the text's word")]
    return [conclude(name, f"{PRINT}: §5.4", one, conditions) for name, one in found.items()]


def list_untried() -> list[Verdict]:
    """Return "cannot tell" for the paper's own collections: what would be needed is not public."""
    names = [
        *("best_real", "reference_real", "flat_real", "inconsistent", "kappa_swings", "dataset_varies"),
        *("robust_highest", "robust_lowest", "robust_flat", "robust_as_best"),
    ]
    return [conclude(name, "the paper's six collections", ("cannot tell", ()), [], UNTRIED) for name in names]


def _judge_one(name: str, judge: Judge, label: str, look: Look, rows: Sequence[str]) -> Verdict:
    (word, evidence), counts, reason = agree(
        lambda one: judge(one[: len(rows)], rows), list(look.coverage.values()), of="dealings"
    )
    seeds = list(look.coverage)
    conditions = [(f"dealt to parts with seeds {seeds[0]} to {seeds[-1]}", counts)]
    if look.gaps is not None:
        conditions = [("topics", "its own")]
        # The second figure of every rule is that of the measure which CEM_ORD is held against.
        gap = find_gap(look.gaps, evidence[1].name.removeprefix("of "))
        if gap.interval is not None:
            evidence = (*evidence, gap)
            if gap.interval[0] <= 0 <= gap.interval[1]:
                word, reason = "cannot tell", f"by the means: {word}; the interval over topics holds 0"
    for view, other in look.others.items():
        if isinstance(other, str):
            conditions.append((view, other))
        else:
            words, figures = judge(other[: len(rows)], rows)
            conditions.append((view, f"{words} ({', '.join(map(str, figures))})"))
    return conclude(name, label, (word, evidence), conditions, reason)


def find_gap(gaps: pd.DataFrame, row: str) -> Evidence:
    """Return the coverage of CEM_ORD less that of another row, with its interval over topics.

    Parameters
    ----------
    gaps : DataFrame
        Of `metaeval.analyses.coverage.Coverage.compare_coverage`.
    row : str
    """
    own, other = (MEASURES[name] for name in (OWN, row))
    pair = gaps[gaps["measure_1"].isin((own, other)) & gaps["measure_2"].isin((own, other))].iloc[0]
    turn = 1 if pair["measure_1"] == own else -1
    low, high = sorted((float(turn * pair["low"]), float(turn * pair["high"])))
    interval = (low, high) if low <= high else None
    return Evidence(f"{OWN} less {row}", float(turn * pair["difference"]), interval)


def _judge_all_seeds(
    name: str, judge: Judge, values: Sequence[Mapping[int, np.ndarray]], rows: Sequence[str], together: str
) -> Verdict:
    """Judge all collections together, once for each seed that items are dealt with."""
    seeds = sorted({seed for one in values for seed in one})
    # A collection with topics of its own is the same whatever the seed.
    tables = [np.stack([one.get(seed, next(iter(one.values()))) for one in values], axis=1) for seed in seeds]
    found, counts, reason = agree(lambda table: judge(table[: len(rows)], rows), tables, of="dealings")
    return conclude(name, together, found, [(f"dealt to parts with seeds {seeds[0]} to {seeds[-1]}", counts)], reason)


def _others(values: np.ndarray, rows: Sequence[str], names: Sequence[str]) -> Evidence:
    best = max(names, key=lambda row: values[rows.index(row)])
    return Evidence(f"of {best}", float(values[rows.index(best)]))


def judge_best(values: np.ndarray, rows: Sequence[str]) -> Found:
    """Is CEM_ORD on top, or no more than 0.01 below it?"""
    own = float(values[rows.index(OWN)])
    others = [row for row in rows if row != OWN]
    above = [row for row in others if values[rows.index(row)] > own + SAME]
    best = _others(values, rows, others)
    near = best.value - own <= MINIMAL + SAME
    word: OutcomeWord = "does not hold" if above and not near else "holds in part" if above else "holds"
    return word, (Evidence(f"coverage of {OWN}", own), best, Evidence("measures above it", len(above)))


def judge_reference(values: np.ndarray, rows: Sequence[str]) -> Found:
    """Is CEM_ORD above each of the three reference measures, on every collection given?"""
    own = values[rows.index(OWN)]
    met = np.array([own > values[rows.index(row)] + SAME for row in REFERENCE])
    if values.ndim == 1:
        return judge_all(met), (Evidence(f"coverage of {OWN}", float(own)), _others(values, rows, REFERENCE))
    return judge_all(met.ravel()), (Evidence("higher", int(met.sum())), Evidence("of", int(met.size)))


def judge_flat(values: np.ndarray, rows: Sequence[str]) -> Found:
    """Is the flat version below CEM_ORD?"""
    own, flat = (float(values[rows.index(row)]) for row in (OWN, FLAT))
    return judge_all([flat < own - SAME]), (Evidence(f"coverage of {OWN}", own), Evidence(f"of {FLAT}", flat))


def judge_consistency(table: np.ndarray, rows: Sequence[str]) -> Found:
    """Is a measure near the top on one collection and in the lower half on another?"""
    above = (table[:, None, :] < table[None, :, :] - SAME).sum(axis=1)  # measures above each
    swings = (above.min(axis=1) < NEAR_TOP) & (above.max(axis=1) >= len(rows) // 2)
    names = [row for row, one in zip(rows, swings, strict=True) if one]
    evidence = [Evidence(f"lowest rank of {row}", int(above[rows.index(row)].max()) + 1) for row in names]
    return judge_all([bool(names)]), (Evidence("such measures", len(names)), *evidence)


def judge_kappa(table: np.ndarray, rows: Sequence[str]) -> Found:
    """Is Kappa on top in the last collection and extremely low in the first, RepLab?"""
    kappa = table[rows.index("Kappa")]
    first, last = table[:, 0], table[:, -1]
    met = [kappa[-1] >= last.max() - SAME, kappa[0] <= BOUNDS["extremely low"].value * first.max() + SAME]
    return judge_all(met), (
        Evidence("coverage of Kappa on the last collection", float(kappa[-1]), digits=2),
        Evidence("highest there", float(last.max()), digits=2),
        Evidence("of Kappa on RepLab", float(kappa[0]), digits=2),
        Evidence("highest there", float(first.max()), digits=2),
    )


def judge_orders(table: np.ndarray, rows: Sequence[str], labels: Sequence[str]) -> Found:
    """Do two collections order the measures differently?"""
    first, second = np.triu_indices(table.shape[1], 1)
    taus = np.array([kendalltau(table[:, a], table[:, b]).statistic for a, b in zip(first, second, strict=True)])
    low = int(taus.argmin())
    word: OutcomeWord = "holds" if taus[low] < BOUNDS["similar"].value else "does not hold"
    if word != "holds" and (taus < 1 - SAME).all():
        word = "holds in part"
    pair = f"{labels[first[low]]} and {labels[second[low]]}"
    return word, (Evidence(f"lowest τ: {pair}", float(taus[low])), Evidence("highest τ", float(taus.max())))


def leave_one_out(table: np.ndarray, rows: Sequence[str], judge: Judge) -> Found:
    """Judge the mean over collections; where leaving out one changes the outcome, it cannot be told."""
    word, evidence = judge(table.mean(axis=1), rows)
    words = [judge(np.delete(table, c, axis=1).mean(axis=1), rows)[0] for c in range(table.shape[1])]
    changed = sum(one != word for one in words)
    return "cannot tell" if changed else word, (*evidence, Evidence("changed by leaving out one collection", changed))


def judge_ends(values: np.ndarray, rows: Sequence[str], wanted: Sequence[str], top: bool) -> Found:
    """Are these the measures with the highest, or the lowest, mean robustness?"""
    order = sorted(rows, key=lambda row: values[rows.index(row)], reverse=top)
    ends = order[: len(wanted)]
    evidence = [Evidence(f"{'highest' if top else 'lowest'}: {row}", float(values[rows.index(row)])) for row in ends]
    return judge_all([row in ends for row in wanted]), tuple(evidence)


def judge_robust_flat(values: np.ndarray, rows: Sequence[str]) -> Found:
    """Is CEM_ORD more robust than its flat version?"""
    own, flat = (float(values[rows.index(row)]) for row in (OWN, FLAT))
    return judge_all([own > flat + SAME]), (Evidence(f"robustness of {OWN}", own), Evidence(f"of {FLAT}", flat))


def judge_robust_best(values: np.ndarray, rows: Sequence[str]) -> Found:
    """Is no other measure more robust than CEM_ORD, to two decimals?"""
    own = float(values[rows.index(OWN)])
    best = _others(values, rows, [row for row in rows if row != OWN])
    return judge_all([round(own, 2) >= round(best.value, 2)]), (Evidence(f"robustness of {OWN}", own), best)
