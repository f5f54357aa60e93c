"""The printed numbers of ACL 2021 against the identities that they must satisfy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import studentized_range

from experiments.acl2021.study import LQ2021, LQ2021_MEASURES, PRINTED, STUDY, label_table, read_triangle
from experiments.acl2021.words import grade_printed_consistency, name_groups
from experiments.old.audits import Check, rounds_to, tabulate_audit, whole_pairs
from experiments.old.outcome import Outcome

SIMILARITY = {"table2": "classification", "table5": "quantification", "table8": "quantification"}
CONSISTENCY = ("table3", "table6", "table9")
ROUNDING = 0.001
"""How far rounding may move the difference of two printed mean τ's."""

TOO_MANY = "a measure outperforms no more measures than stand below it"


def compute_audit() -> Outcome:
    """Return the audit: one row per item and identity, results/acl2021/audit.csv."""
    table = tabulate_audit("ACL 2021", find_checks(), "audit of acl2021/printed.toml")
    return Outcome("acl2021", "", {"audit": table})


def find_checks() -> Iterator[Check]:
    """Yield every check of the printed numbers."""
    for table, kind in SIMILARITY.items():
        for collection, rows in PRINTED[table].items():
            yield from _similarity(label_table(table), collection, read_triangle(rows, STUDY[f"{kind}_order"]))
    for table in CONSISTENCY:
        for collection, parts in PRINTED[table].items():
            for split, part in parts.items():
                yield from _consistency(label_table(table), f"{collection}, {split}", part)
    for table, collection, split, better, worse, printed in PRINTED["effect_sizes"]["examples"]:
        part = PRINTED[table][collection][split]
        effect = (part[better][0] - part[worse][0]) / math.sqrt(part["V_E2"])
        where = f"{collection}, {split}, {better} − {worse}"
        identity = "effect size = difference of mean τ's / √V_E2"
        yield Check(
            label_table(table), identity, rounds_to(effect, printed, 2), where, f"{effect:.3f}, printed {printed}"
        )
    significant = dict(zip(LQ2021_MEASURES, LQ2021["table3"]["DialEval-1 DQ-E"]["S_D"], strict=True))
    for measure, number in PRINTED["figure2"]["DQ-E"].items():
        identity = "significant pairs are those of LQ 2021, Table 3"
        yield Check(
            "Figure 2 (II)",
            identity,
            significant[measure] == number,
            measure,
            f"{number}, there {significant[measure]}",
        )
    yield from _check_averages(
        "Table 3", average_taus("table3"), ("alpha_ORD", "alpha_INT", "kappa"), ("CEM_ORD", "Accuracy")
    )
    yield from _check_averages("Table 6", average_taus("table6"), (), ("NMD", "RSNOD"))


def _similarity(item: str, collection: str, tau: dict[tuple[str, str], float]) -> Iterator[Check]:
    n = PRINTED["table1"][collection][2]
    pairs = n * (n - 1) // 2
    whole = {key: whole_pairs(value, pairs) for key, value in tau.items()}
    for (first, second), k in whole.items():
        where = f"{collection}, {first} and {second}"
        value = tau[(first, second)]
        yield Check(item, "τ = k / (n(n − 1)/2), k whole", k is not None, where, f"{value} × {pairs} is not whole")
        if k is not None:
            even = "k has the parity of n(n − 1)/2 (an even number of tied pairs, if any)"
            yield Check(item, even, (pairs - k) % 2 == 0, where, f"{value} is {k}/{pairs}")
    distance = {frozenset(key): (pairs - k) / 2 for key, k in whole.items() if k is not None}
    measures = list(dict.fromkeys(name for key in tau for name in key))
    for three in itertools.combinations(measures, 3):
        sides = sorted(distance[frozenset(pair)] for pair in itertools.combinations(three, 2))
        identity = "Kendall distances of three measures satisfy the triangle inequality"
        yield Check(item, identity, sides[2] <= sides[0] + sides[1], f"{collection}, {three}", f"distances {sides}")


def _consistency(item: str, where: str, part: dict[str, Any]) -> Iterator[Check]:
    rows = [(name, *part[name]) for name in part if name != "V_E2"]
    for below, (upper, lower) in zip(range(len(rows) - 1, 0, -1), itertools.pairwise(rows), strict=True):
        names = f"{where}, {upper[0]} and {lower[0]}"
        yield Check(
            item, "mean τ's stand in descending order", upper[1] >= lower[1], names, f"{upper[1]}, then {lower[1]}"
        )
        yield Check(
            item, "marks do not rise where mean τ falls", upper[2] >= lower[2], names, f"{upper[2]}, then {lower[2]}"
        )
        yield Check(
            item, TOO_MANY, upper[2] <= below, f"{where}, {upper[0]}", f"the mark reads {upper[2]}, there are {below}"
        )
    name, _, last = rows[-1]
    yield Check(item, TOO_MANY, last == 0, f"{where}, {name}", str(last))


def average_taus(table: str) -> dict[str, dict[str, float]]:
    """Return the mean τ of every measure averaged over a printed table's collections, by split."""
    collections = list(PRINTED[table].values())
    return {
        split: {
            name: sum(part[split][name][0] for part in collections) / len(collections)
            for name in collections[0][split] if name != "V_E2"
        }
        for split in ("full", "ten")
    }  # fmt: skip


def _check_averages(
    item: str, by_split: dict[str, dict[str, float]], best: tuple[str, ...], worst: tuple[str, ...]
) -> Iterator[Check]:
    for split, mean in by_split.items():
        order = sorted(mean, key=lambda name: -mean[name])
        if best:
            identity = "the averages put on top the measures that the text names"
            yield Check(item, identity, set(order[: len(best)]) == set(best), split, ", ".join(order[: len(best)]))
        identity = "the averages put last the measures that the text names"
        yield Check(item, identity, set(order[-len(worst) :]) == set(worst), split, ", ".join(order[-len(worst) :]))


def find_implications() -> Iterator[str]:
    """Yield what the printed numbers imply: the variant of τ, where marks come from, and Tables 4 and 7 by stated rules."""
    yield from _variant("table2", "Sem17T4C", "classification", ("kappa",), 10, "the constant runs tied by κ")
    for collection in PRINTED["table5"]:
        every = tuple(STUDY["quantification_order"])
        yield from _variant("table5", collection, "quantification", every, 2, "duplicate baselines tied by all")
    for table, summary, similarity, consistency, kind in (
        ("table4", "IV, V", "table2", "table3", "classification"),
        ("table7", "III, IV", "table5", "table6", "quantification"),
    ):
        yield _by_rule(table, summary, similarity, consistency, kind)
    yield from (_explain_marks(table) for table in CONSISTENCY)


def _variant(table: str, collection: str, kind: str, tied: tuple[str, ...], ties: int, why: str) -> Iterator[str]:
    """Try τ_b's denominators where ties are known, beside τ_a's."""
    n = PRINTED["table1"][collection][2]
    pairs = n * (n - 1) // 2
    tau = read_triangle(PRINTED[table][collection], STUDY[f"{kind}_order"])
    cells = {key: value for key, value in tau.items() if set(key) & set(tied)}
    fit_a = fit_b = 0
    for (first, second), value in cells.items():
        both = (first in tied) + (second in tied)
        denominator = math.sqrt((pairs - ties * (first in tied)) * (pairs - ties * (second in tied)))
        fit_a += whole_pairs(value, pairs) is not None
        fit_b += both > 0 and whole_pairs(value, denominator) is not None
    fits = {"τ_a, or one with ties broken": fit_a == len(cells), "τ_b": fit_b == len(cells)}
    fitting = [name for name, fit in fits.items() if fit]
    yield (
        f"{label_table(table)}, {collection}: with {why} ({ties} tied pairs), τ_b would be a whole number over "
        f"{math.sqrt(pairs * (pairs - ties)) if len(tied) == 1 else pairs - ties:.4g}. {fit_a} of {len(cells)} cells fit "
        f"n(n − 1)/2 = {pairs}, {fit_b} fit τ_b: the τ {f'is {fitting[0]}' if len(fitting) == 1 else 'cannot be identified'}."
    )


def _by_rule(table: str, columns: str, similarity: str, consistency: str, kind: str) -> str:
    order = STUDY[f"{kind}_order"]
    taus = [read_triangle(collection, order) for collection in PRINTED[similarity].values()]
    mean = np.eye(len(order))
    for i, j in itertools.combinations(range(len(order)), 2):
        mean[i, j] = mean[j, i] = np.mean([tau[order[i], order[j]] for tau in taus])
    group = name_groups(mean, order, STUDY["group_tau"], STUDY["group_names"][kind])
    grades = grade_printed_consistency(
        [part for collection in PRINTED[consistency].values() for part in collection.values()], order
    )
    position = {"classification": (3, 4), "quantification": (2, 3)}[kind]
    wrong = [
        f"{name}: {derived[name]} by the rule, {printed} in print"
        for name in order
        for derived, printed in (
            (group, PRINTED[table][name][position[0]]),
            (grades, PRINTED[table][name][position[1]]),
        )
        if derived[name] != printed
    ]
    agree = 2 * len(order) - len(wrong)
    return (
        f"{label_table(table)}, columns {columns}, from the printed numbers by the rules of `metaeval compare`, whose "
        f"thresholds were chosen with these tables in view (post hoc): {agree} of {2 * len(order)} entries come out as "
        f"printed{'' if not wrong else '; not ' + '; '.join(wrong)}."
    )


def find_critical_difference(means: np.ndarray, variance: float, n_trials: int) -> float:
    """Return from which difference of mean τ the randomised Tukey HSD test finds two measures to differ.

    The test deals the τ's of a trial anew among the measures: their variance within a trial is V_E2 and that of the mean
    τ's together. With hundreds of trials the means of what is dealt are normal.

    Examples
    --------
    >>> print(f"{find_critical_difference(np.array([0.9, 0.8, 0.7]), 0.002, 1000):.4f}")
    0.0115
    """
    dealt = variance + float(np.var(means, ddof=1))
    return float(studentized_range.ppf(1 - STUDY["alpha"], len(means), np.inf)) * math.sqrt(dealt / n_trials)


def _explain_marks(table: str) -> str:
    """Say how many marks follow from the mean τ's and V_E2 beside them."""
    n, wrong = 0, []
    for collection, parts in PRINTED[table].items():
        for part, rows in parts.items():
            means = {name: rows[name][0] for name in rows if name != "V_E2"}
            values = np.array(list(means.values()))
            gap = find_critical_difference(values, rows["V_E2"], STUDY["n_trials"])
            for name, mean in means.items():
                n += 1
                # Two mean τ's are printed to half a unit of the third digit each.
                fewest, mark, most = (int((mean - values >= gap + slack).sum()) for slack in (ROUNDING, 0, -ROUNDING))
                if not fewest <= rows[name][1] <= most:
                    wrong.append(f"{collection}, {part}, {name}: {rows[name][1]} in print, {mark} by the difference")
    rest = f" Not: {'; '.join(wrong)}." if wrong else ""
    return (
        f"{label_table(table)}: {n - len(wrong)} of {n} marks follow from the mean τ's and V_E2 by the critical difference of "
        f"the randomised Tukey HSD test for many splits, within their rounding.{rest}"
    )
