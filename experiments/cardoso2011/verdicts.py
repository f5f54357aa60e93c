"""What came of the paper's conclusions by the rules of claims.toml: on its matrices, and on trained classifiers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.bounds import BOUNDS
from experiments.cardoso2011.expectations import (
    COEFFICIENTS,
    MATRICES,
    MET,
    SHARES,
    find_lost,
    find_margin,
    find_turned,
    format_gamma,
    score_matrix,
)
from experiments.cardoso2011.judging import INDICES, ORDER_ONLY, decide, grade, judge, sort_claims
from experiments.cardoso2011.matrices import PRINTED, SHOWN, STUDY, compute_tridiagonal_curves
from experiments.cardoso2011.theory import judge_theory
from experiments.comparison import Cell
from experiments.verdicts import PRINT
from metaeval.show.table import Table
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict, judge_differences

IN_PRINT = "matrices in print"
PRINTED_TABLE = f"{PRINT}: Table 6"
NOT_IN_PAPER = {STUDY["table6"]["shown"][name] for name in STUDY["table6"]["sets"] if name not in PRINTED["table6"]}


def judge_print(tables: Mapping[str, Table], cells: Sequence[Cell]) -> list[Verdict]:
    """Return the verdicts on all that needs no trained classifier.

    Parameters
    ----------
    tables : mapping of str to Table
        With "expectations", "properties" and "triples".
    cells : sequence of Cell
        With the limits of §4.1.

    Returns
    -------
    list of Verdict
        In the order of the paper.
    """
    return sort_claims(
        [
            *_judge_expectations(tables["expectations"].frame),
            *_judge_table1(),
            *_judge_examples(),
            *_judge_tridiagonal(cells),
            *_judge_gammas(),
            *judge_theory(tables),
            *_judge_printed_table6(),
            judge("figure_2", IN_PRINT, "cannot tell", reason="it needs the matrices of Figure 2"),
            judge("complexity", IN_PRINT, "cannot tell", reason="it needs timings of the authors' implementations"),
            judge(
                "fair", IN_PRINT, "cannot tell", reason="it needs Algorithm 1 with other measures in its lines 7 and 16"
            ),
        ]
    )


def _judge_expectations(frame: pd.DataFrame) -> list[Verdict]:
    failed = {str(name): int((frame[name] != MET).sum()) for name in frame}
    known = [name for name in failed if name not in INDICES]

    def count(name: str) -> Evidence:
        return Evidence(f"of {len(frame)} expectations {name} fails", failed[name])

    return [
        judge("shortcomings", IN_PRINT, grade(failed[name] > 0 for name in known), *map(count, known)),
        judge("usefulness", IN_PRINT, grade(failed[name] == 0 for name in INDICES), *map(count, INDICES)),
    ]


def _score(name: str, matrix: str) -> Evidence:
    return Evidence(f"{name} of {matrix}", score_matrix(COEFFICIENTS[name], matrix))


def _ties(names: Sequence[str], one: str, two: str) -> tuple[OutcomeWord, list[Evidence]]:
    """Tell whether coefficients are the same for two matrices."""
    return (
        grade(find_margin(COEFFICIENTS[name], one, two) == 0 for name in names),
        [_score(name, matrix) for name in names for matrix in (one, two)],
    )


def _judge_table1() -> list[Verdict]:
    ties = {
        "blind_to_B": _ties(ORDER_ONLY, "A", "B"),
        "MER_blind": _ties(["MER"], "B", "C"),
        "MAE_blind": _ties(["MAE", "MSE"], "B", "D"),
    }
    valid = [score_matrix(COEFFICIENTS[name], "A") == 0 and _falls(name, "ABC") for name in INDICES]
    turned = [
        "".join(pair)
        for pair in itertools.combinations("ABCD", 2)
        if len({np.sign(find_margin(COEFFICIENTS[name], *pair)) for name in INDICES}) > 1
    ]
    low, high = (find_margin(COEFFICIENTS[name], "C", "D") for name in INDICES)
    as_said = low > 0 > high
    return [
        *(judge(name, IN_PRINT, word, *evidence) for name, (word, evidence) in ties.items()),
        judge("valid_measure", IN_PRINT, grade(valid), *(_score(name, m) for name in INDICES for m in "ABC")),
        judge(
            "only_difference",
            IN_PRINT,
            decide(as_said) if turned == ["CD"] else "holds in part" if as_said else "does not hold",
            Evidence("pairs that β₁ and β₂ order differently", len(turned)),
            *(_score(name, m) for name in INDICES for m in "CD"),
        ),
    ]


def _falls(name: str, matrices: Iterable[str]) -> bool:
    """Tell whether matrices come from the best to the worst by a coefficient."""
    return all(find_margin(COEFFICIENTS[name], one, two) > 0 for one, two in itertools.pairwise(matrices))


def _judge_examples() -> list[Verdict]:
    found = []
    for name, better, worse, but in (
        ("pair_1", "CM2", "CM1", ("R_s", "τ_b")),
        ("pair_2", "CM4", "CM3", ("r_int",)),
    ):
        agree = {one: find_margin(COEFFICIENTS[one], better, worse) > 0 for one in COEFFICIENTS if one != "MSE"}
        evidence = [Evidence(f"{better} better than {worse} by {one}", find_margin(COEFFICIENTS[one], better, worse))
                    for one in agree]  # fmt: skip
        found.append(judge(name, IN_PRINT, grade(yes != (one in but) for one, yes in agree.items()), *evidence))
    for reading in ("CM5", *STUDY["other_readings"]):
        data = "the matrix as printed" if reading == "CM5" else reading
        margins = {one: find_margin(COEFFICIENTS[one], reading, "CM6") for one in ("MER", "MAE")}
        evidence = [Evidence(f"{one}: CM6 worse by", margin) for one, margin in margins.items()]
        found.append(judge("pair_3", data, grade(margin <= 0 for margin in margins.values()), *evidence))
    counts = MATRICES["CM6"]
    chance = float((counts.sum(axis=0) * counts.sum(axis=1)).sum() / counts.sum())
    right = int(np.trace(counts))
    evidence = [Evidence("items on the diagonal", right), Evidence("by chance", chance)]
    found.append(judge("random", "CM6", decide(right <= chance + BOUNDS["almost random"].value), *evidence))
    ranked = [_falls(one, ["CM10", "CM12", "CM11"]) for one in COEFFICIENTS]
    gaps = {one: find_margin(COEFFICIENTS[one], "CM12", "CM11") for one in (*ORDER_ONLY, *INDICES)}
    alike, apart = BOUNDS["almost alike"].value, BOUNDS["clearly apart"].value
    return [
        *found,
        judge("best_and_bottom", IN_PRINT, grade(ranked),
              Evidence(f"of {len(ranked)} coefficients, with MSE, so many do", sum(ranked))),
        judge("almost_alike", IN_PRINT,
              grade([all(gaps[one] < alike for one in ORDER_ONLY), all(gaps[one] >= apart for one in INDICES)]),
              *(Evidence(f"{one}: CM12 better by", gap) for one, gap in gaps.items())),
    ]  # fmt: skip


def _judge_tridiagonal(cells: Sequence[Cell]) -> list[Verdict]:
    limits = [one for one in cells if one.item == "§4.1"]
    largest = STUDY["figure5"]["largest"]
    curves = compute_tridiagonal_curves(largest).rename(columns=SHOWN)
    gains = curves.diff().iloc[1:]
    better = {
        str(name): bool((gain > 0).all() if name in ORDER_ONLY else (gain < 0).all()) for name, gain in gains.items()
    }
    also = ", ".join(name for name, yes in better.items() if yes and name != INDICES[1])
    return [
        judge(
            "limits",
            f"tridiagonal matrices of 2 to {largest} classes",
            grade(one.verdict == "exact" for one in limits),
            *(Evidence(f"limit of {SHOWN.get(one.column, one.column)}", float(one.reproduced or 0)) for one in limits),
        ),
        judge(
            "gets_better",
            f"tridiagonal matrices of 2 to {largest} classes",
            decide(better[INDICES[1]]),
            Evidence("other coefficients that improve with every class", sum(better.values()) - better[INDICES[1]]),
            reason=f"these are {also}" if also else "",
        ),
    ]


def _judge_gammas() -> list[Verdict]:
    evidence, lost, turned = [], [], []
    for (name, share), gamma in itertools.product(SHARES.items(), STUDY["gamma"]["named"]):
        if gamma != 1:
            here, gone = find_turned(share, gamma), find_lost(share, gamma)
            evidence.append(Evidence(f"pairs turned by γ of {format_gamma(gamma)} with {name}", len(here)))
            turned += here
            lost += gone
    outcome: OutcomeWord = "does not hold" if lost else "holds in part" if turned else "holds"
    reasons = [
        f"{what}: {', '.join(dict.fromkeys(names))}"
        for what, names in (("turned", turned), ("expectations lost", lost))
        if names
    ]
    return [judge("gamma", IN_PRINT, outcome, *evidence, reason="; ".join(reasons))]


def _judge_printed_table6() -> list[Verdict]:
    table = {name: [[float(text) for text in cell] for cell in row] for name, row in PRINTED["table6"].items()}
    means = {name: [cell[0] for cell in row] for name, row in table.items()}
    spreads = {name: [cell[1] for cell in row] for name, row in table.items()}
    worse = sum(max(osvm, frank_hall) > other for osvm, frank_hall, other in means.values())
    better = sum(max(osvm, frank_hall) < other for osvm, frank_hall, other in means.values())
    shown = [STUDY["table6"]["shown"][name] for name in table]
    lost = [name for name, (osvm, other, _) in zip(shown, means.values(), strict=True) if osvm > other]
    wider = [name for name, (osvm, other, _) in zip(shown, spreads.values(), strict=True) if osvm > other]
    robust = [(other > frank_hall) - (other < frank_hall) for _, frank_hall, other in spreads.values()]
    sets = Evidence("sets", len(table))
    return [
        judge("superiority", PRINTED_TABLE,
              decide(True) if better == len(table) else "holds in part" if not worse else "does not hold",
              sets, Evidence("both means lower", better), Evidence("a mean higher", worse)),
        judge("never_losing", PRINTED_TABLE, decide(not lost and not wider), sets,
              Evidence("mean of oSVM larger", len(lost)), Evidence("its standard deviation larger", len(wider)),
              *(Evidence(f"{method} on {name}", value, digits=2)
                for name, row in zip(shown, means.values(), strict=True) if name in lost
                for method, value in zip(("oSVM", "Frank and Hall"), row, strict=False)),
              reason=f"larger on {', '.join(dict.fromkeys(lost + wider))}" if lost + wider else ""),
        judge("robust", PRINTED_TABLE, decide(min(robust) >= 0 < max(robust)), sets,
              Evidence("smaller", sum(one > 0 for one in robust)), Evidence("larger", sum(one < 0 for one in robust))),
    ]  # fmt: skip


def judge_trained(tables: Mapping[str, Table], *, seed: int, n_splits: int) -> list[Verdict]:
    """Return the verdicts on trained classifiers, from tables alone.

    Parameters
    ----------
    tables : mapping of str to Table
        With "table6-differences" and "model-sizes"; "synthetic-differences" where the synthetic set was done.
    seed, n_splits : int
        What the tables were made with.

    Returns
    -------
    list of Verdict
    """
    once = (f"seed {seed}", f"{n_splits} splits, other seeds not tried")
    frame = tables["table6-differences"].frame.reset_index()
    chosen, *others = sorted(frame["β"].unique(), reverse=True)
    found = []
    for name in frame["set"].unique():
        for claim, pairs in (
            ("superiority", (("oSVM", "Conventional"), ("Frank and Hall", "Conventional"))),
            ("never_losing", (("oSVM", "Frank and Hall"),)),
        ):
            word, evidence = _judge_rows(frame, name, chosen, pairs)
            other = [(f"β {beta}", _judge_rows(frame, name, beta, pairs)[0]) for beta in others]
            title = f"{name}{' (not in the paper)' * (name in NOT_IN_PAPER)}, β {chosen}"
            found.append(judge(claim, title, word, *evidence, conditions=[once, *other]))
    if "synthetic-differences" in tables:
        synthetic = tables["synthetic-differences"].frame.reset_index()
        (name,) = synthetic["set"].unique()
        pairs = ("oSVM", "Frank and Hall"), ("Frank and Hall", "oNN")
        word, evidence = _judge_rows(synthetic, name, chosen, pairs)
        found.append(judge("methods_synthetic", "the synthetic set, drawn here", word, *evidence, conditions=[once]))
    sizes = tables["model-sizes"].frame
    ordered = (sizes["oSVM"] < sizes["Frank and Hall"]) & (sizes["Frank and Hall"] < sizes["Conventional"])
    evidence = [Evidence("sets", len(sizes)), Evidence("in this order", int(ordered.sum()))]
    return sort_claims([*found, judge("simpler", "sets of skordinal", decide(bool(ordered.all())), *evidence)])


def _judge_rows(
    frame: pd.DataFrame, name: str, beta: str, pairs: Iterable[tuple[str, str]]
) -> tuple[OutcomeWord, list[Evidence]]:
    """Tell whether the first method of each pair has a lower OCI than the second, by the interval of the difference."""
    evidence = []
    for one, two in pairs:
        row = frame[(frame["set"] == name) & (frame["β"] == beta) & (frame["method"] == one) & (frame["less"] == two)]
        value, low, high = row[["difference", "low", "high"]].to_numpy(dtype=float)[0]
        evidence.append(Evidence(f"OCI of {one} less that of {two}", float(value), (float(low), float(high))))
    ends = [one.interval for one in evidence if one.interval is not None]
    return judge_differences((-high, -low) for low, high in ends), evidence
