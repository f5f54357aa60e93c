"""What came of the paper's conclusions about all matrices: tried on all small ones, on single items, on label vectors."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.cardoso2011 import enumeration
from experiments.cardoso2011.expectations import CLOSE, COEFFICIENTS, format_gamma
from experiments.cardoso2011.judging import ORDER_ONLY, decide, grade, judge
from experiments.cardoso2011.matrices import SHOWN, STUDY
from metaeval.measures.ordinal_index import OCI, OC_prime, dispersion
from metaeval.show.table import Table
from metaeval.show.verdict import Evidence, Verdict

SMALL = "all small matrices"
SIZES = ("tried", enumeration.describe_sizes())


def judge_theory(tables: Mapping[str, Table]) -> list[Verdict]:
    """Return the verdicts on what the paper says of all matrices.

    Parameters
    ----------
    tables : mapping of str to Table
        With "properties" and "triples".

    Returns
    -------
    list of Verdict
    """
    return [
        *_judge_properties(tables["properties"].frame),
        _judge_tau_b(),
        _judge_size(),
        _judge_r_int(),
        _judge_perfect(),
        *_judge_growth(),
        *_judge_moves(),
        _judge_trade(),
        *_judge_single_items(),
        *_judge_appendix(tables["triples"].frame),
    ]


def _judge_properties(frame: pd.DataFrame) -> list[Verdict]:
    found = []
    for name, row in (
        ("range", "range"), ("identity", "identity"), ("symmetry", "symmetry"), ("prime_range", "prime_range"),
        ("prime_MER", "prime_MER"), ("diagonal", "diagonal"), ("every_entry", "every_entry"),
        ("monotone", "all_paths"), ("reverts", "all_paths"),
    ):  # fmt: skip
        tried, exceptions = int(frame.loc[row, "tried"]), int(frame.loc[row, "exceptions"])  # type: ignore[arg-type]
        evidence = Evidence("tried", tried), Evidence("exceptions", exceptions)
        found.append(judge(name, SMALL, decide(exceptions == 0), *evidence, conditions=[SIZES]))
    return found


def _judge_tau_b() -> Verdict:
    tried, met = Counter[str](), Counter[str]()
    for counts in enumeration.iterate_matrices():
        values = enumeration.score_defined("tau_b", counts)
        defined = ~np.isnan(values)
        for name, flipped, end in (("agree", counts, 1), ("disagree", counts[..., ::-1], -1)):
            chosen = enumeration.is_diagonal(flipped) & defined
            tried[name] += int(chosen.sum())
            met[name] += int((np.abs(values[chosen] - end) <= CLOSE).sum())
        tried["within"] += int(defined.sum())
        met["within"] += int((np.abs(values[defined]) <= 1 + CLOSE).sum())
    evidence = [
        Evidence("matrices that agree completely", tried["agree"]),
        Evidence("of these with 1", met["agree"]),
        Evidence("that totally disagree", tried["disagree"]),
        Evidence("of these with -1", met["disagree"]),
    ]
    return judge("tau_b_ends", SMALL, grade(met[name] == tried[name] for name in tried), *evidence, conditions=[SIZES])


def _judge_size() -> Verdict:
    tried, changed, by_gamma = 0, 0, Counter[float]()
    for counts in enumeration.iterate_matrices():
        tried += len(counts)
        one, two = (enumeration.score_quietly("MAE_mu", times * counts) for times in (1, 2))
        changed += int((np.abs(one - two) > CLOSE).sum())
        for gamma in enumeration.GAMMAS:
            gap = OCI(2 * counts, gamma=gamma) - OCI(counts, gamma=gamma)
            by_gamma[gamma] += int((np.abs(gap) > CLOSE).sum())
    evidence = [Evidence("matrices", tried), Evidence("MAE changes in", changed)]
    evidence += [Evidence(f"OC for γ of {format_gamma(gamma)} in", n) for gamma, n in by_gamma.items()]
    return judge("fair_size", SMALL, decide(changed == 0), *evidence, conditions=[SIZES])


def _judge_r_int() -> Verdict:
    values = np.concatenate([enumeration.score_defined("r_int", counts) for counts in enumeration.iterate_matrices()])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    inside, ends = max(-low, high) <= 1 + CLOSE, [low <= -1 + CLOSE, high >= 1 - CLOSE]
    evidence = Evidence("smallest", low), Evidence("largest", high)
    return judge("r_int_range", SMALL, grade(ends) if inside else "does not hold", *evidence, conditions=[SIZES])


def _judge_perfect() -> Verdict:
    found = {}
    for name in ORDER_ONLY:
        hits = [
            (enumeration.score_defined(COEFFICIENTS[name], counts) >= 1 - CLOSE) & ~enumeration.is_diagonal(counts)
            for counts in enumeration.iterate_matrices()
        ]
        found[name] = int(sum(one.sum() for one in hits))
    evidence = [Evidence(f"matrices with errors and a perfect {name}", n) for name, n in found.items()]
    return judge("not_metrics", SMALL, grade(n > 0 for n in found.values()), *evidence, conditions=[SIZES])


def _judge_growth() -> list[Verdict]:
    mae, oci, added = {}, {}, {}
    for k, _ in enumeration.SIZES["largest"]:
        counts = enumeration.list_matrices(k, 1)
        mae[k] = float(enumeration.score_quietly("MAE_mu", counts).max())
        oci[k] = float(OCI(counts).max())
        added[k] = float((OC_prime(counts) + dispersion(counts, 1)).max())

    def rises(values: Mapping[int, float]) -> bool:
        return all(one < two for one, two in itertools.pairwise(values.values()))

    return [
        judge("unbounded", SMALL, decide(rises(mae) and max(oci.values()) <= 1 + CLOSE),
              *(Evidence(f"largest MAE of {k} classes", value) for k, value in mae.items()),
              Evidence("largest OC", max(oci.values())), conditions=[("tried", "all matrices of one item")]),
        judge("added_term", SMALL, decide(rises(added) and max(added.values()) > 1),
              *(Evidence(f"largest of {k} classes", value) for k, value in added.items()),
              conditions=[("tried", "all matrices of one item")]),
    ]  # fmt: skip


def _judge_moves() -> list[Verdict]:
    moved = {"MER": 0, "MAE": 0, "MSE": 0}
    same = larger = at_one = n_pairs = 0
    for near, far in enumeration.move_items():
        for name in moved:
            one, two = (enumeration.score_quietly(COEFFICIENTS[name], counts) for counts in (near, far))
            moved[name] += int((two - one > CLOSE).sum())
        alike = np.abs(OC_prime(near) - OC_prime(far)) <= CLOSE
        before, after = OCI(near)[alike], OCI(far)[alike]
        same += int(alike.sum())
        larger += int((after > before + CLOSE).sum())
        at_one += int((np.minimum(before, after) >= 1 - CLOSE).sum())
        n_pairs += len(near)
    return [
        judge("farther", SMALL, grade([moved["MAE"] == n_pairs, moved["MSE"] == n_pairs, moved["MER"] == 0]),
              Evidence("pairs of matrices", n_pairs), *(Evidence(f"{m} rises in", n) for m, n in moved.items()),
              conditions=[SIZES]),
        judge("leftover", SMALL, "does not hold" if not larger else decide(True) if larger == same else "holds in part",
              Evidence("pairs with the same OC′ (β₂)", same), Evidence("of these with a larger OC", larger),
              Evidence("with OC 1 in both", at_one), conditions=[SIZES]),
    ]  # fmt: skip


def _judge_trade() -> Verdict:
    trade = enumeration.correlate_betas()
    as_said = [
        (row["β₁"] > row["β₂"]) == (name in ("r_int", "tau_b")) and row["β₁"] != row["β₂"]
        for name, row in trade.iterrows()
    ]
    evidence = [
        Evidence(f"τ_b of OC with {SHOWN.get(str(name), str(name).removesuffix('_mu'))}, {beta}", float(row[beta]))
        for name, row in trade.iterrows()
        for beta in trade
    ]
    n_classes, n_items = enumeration.SIZES["trade"]
    tried = ("tried", f"all matrices of {n_classes} classes and {n_items} items")
    return judge("beta_trade", SMALL, grade(as_said), *evidence, conditions=[tried])


def _judge_single_items() -> list[Verdict]:
    sizes = [k for k, _ in enumeration.SIZES["largest"]]
    singles = [one for k in sizes for one in enumeration.list_matrices(k, 1)]
    undefined = {name: sum(enumeration.is_undefined(COEFFICIENTS[name], one) for one in singles) for name in ORDER_ONLY}
    farthest, betas = STUDY["figure4"]["farthest"], STUDY["figure4"]["betas"]
    distance = np.arange(farthest + 1)
    items = np.zeros((farthest + 1, farthest + 1, farthest + 1))
    items[distance, 0, distance] = 1
    gaps = {}
    for gamma in (1.0, 2.0):
        values = np.array([OCI(items, beta=beta, gamma=gamma, absolute=True) for beta in betas])
        wanted = np.minimum(1, 1 - 1 / (1 + distance) + np.array(betas)[:, None] * distance)
        shape = bool((np.diff(values, axis=1) >= -1e-12).all() and np.allclose(values[:, 0], 0) and values.max() <= 1)
        gaps[gamma] = float(np.abs(values - wanted).max()) if shape else math.inf
    fits = [gap < 1e-12 for gap in gaps.values()]
    curves = {beta: OCI(items, beta=beta, absolute=True) for beta in betas}
    wrong = {beta: float(np.abs(curve - (distance > 0)).max()) for beta, curve in curves.items()}
    return [
        judge("single_undefined", f"one item of {sizes[0]} to {sizes[-1]} classes",
              grade(n == len(singles) for n in undefined.values()),
              Evidence("matrices", len(singles)), *(Evidence(f"{m} is 0/0", n) for m, n in undefined.items())),
        judge("single_formula", f"one item, up to {farthest} classes off",
              "does not hold" if not fits[0] else grade(fits),
              *(Evidence(f"largest deviation for γ of {g:g}", gap) for g, gap in gaps.items())),
        judge("single_MER", f"one item, up to {farthest} classes off",
              decide(wrong[0.5] < 1e-12 and all(gap > 1e-12 for beta, gap in wrong.items() if beta < 0.5)),
              *(Evidence(f"largest deviation from MER for β of {beta:g}", gap) for beta, gap in wrong.items())),
    ]  # fmt: skip


def _judge_appendix(triples: pd.DataFrame) -> list[Verdict]:
    sizes = ", ".join(f"{n} items of {k} classes" for k, n in enumeration.SIZES["triples"])
    data, conditions = "all triples of small label vectors", [("tried", sizes)]
    frame = triples.reset_index()
    broken = {name: int(frame[name].sum()) for name in ("1/(N + 1)", "β₁", "β₂")}
    at_one = {name: int(frame.loc[frame["γ"] == "1", name].sum()) for name in ("β₁", "β₂")}
    whole = [name for name, n in broken.items() if n == 0]
    found = f"with β of {', '.join(whole) or 'none of those tried'} no triple breaks it; this is a search, and no proof"
    evidence = [Evidence("triples, each γ counted", int(frame["triples"].sum()))]
    example = enumeration.find_lemma_counterexample()
    largest = enumeration.SIZES["largest_N"]
    bounds = [enumeration.check_appendix_bound(n) for n in range(2, largest + 1)]
    return [
        judge("triangle", data, decide(broken["1/(N + 1)"] == 0), *evidence,
              Evidence("that break the inequality", broken["1/(N + 1)"]), conditions=conditions),
        judge("some_beta", data, "holds" if whole else "cannot tell", *evidence,
              *(Evidence(f"that break the inequality with {name}", n) for name, n in broken.items()),
              *(Evidence(f"with {name} and γ of 1", n) for name, n in at_one.items()),
              conditions=conditions, reason=found),
        judge("lemma", f"metrics on three points with distances up to {enumeration.SIZES['largest_distance']}",
              decide(example is None), reason=describe_lemma(example)),
        judge("small_beta", f"N from 2 to {largest}", grade(one == (True, False) for one in bounds),
              Evidence("values of N", len(bounds)), Evidence("broken below", sum(one for one, _ in bounds)),
              Evidence("broken above", sum(two for _, two in bounds))),
    ]  # fmt: skip


def describe_lemma(example: tuple[tuple[int, int, int], tuple[int, int, int]] | None) -> str:
    """Say what the smallest counterexample to lemma (2) is."""
    if example is None:
        return "no counterexample"
    one, two = example
    shares = [f"{x}/{1 + y}" for x, y in zip(one, two, strict=True)]
    return f"d1 = {one} and d2 = {two} for (ab, bc, ac): {shares[0]} + {shares[1]} < {shares[2]}"
