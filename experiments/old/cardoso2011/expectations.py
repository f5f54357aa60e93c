"""What the paper expects of a coefficient, matrix against matrix; and whether OC orders matrices alike for every γ."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pandas as pd

import metaeval
from experiments.cardoso2011.matrices import PRINTED, SHOWN, STUDY, make_tridiagonal, sign
from metaeval.measures.ordinal_index import OCI, OC_prime, general_index

SHARES = {"β₁": 0.25, "β₂": 0.75}
COEFFICIENTS = {
    name: measure
    for old, measure in STUDY["coefficients"].items()
    for name, measure in [(SHOWN.get(old, old), measure), *([("MSE", "MSE")] if old == "MAE" else [])]
}
"""The paper's seven in its order, and MSE, of which it says that it behaves as MAE."""

MET, EQUAL, NOT_MET = "met", "equal", "not met"
LIMIT = "§4.1: not perfect as K → ∞"
CLOSE = 1e-9
"""Up to this, two coefficients are equal."""

MATRICES: dict[str, np.ndarray] = {
    name: np.array(counts, dtype=np.float64)
    for name, counts in [
        *STUDY["matrices"].items(),
        *((name, other["counts"]) for name, other in STUDY["other_readings"].items()),
    ]
}
"""All matrices in print, and other readings of them."""


@cache
def score_matrix(measure: str, name: str) -> float:
    """Return a measure of one of the matrices in print."""
    return float(metaeval.measure(measure).score(MATRICES[name]))


def find_margin(measure: str, better: str, worse: str) -> float:
    """Return by how much the first matrix is better than the second by a measure; below 0 where it is worse."""
    gap = score_matrix(measure, better) - score_matrix(measure, worse)
    gap = gap if metaeval.measure(measure).higher_is_better else -gap
    return 0.0 if abs(gap) <= CLOSE else gap


def find_limit(measure: str) -> float:
    """Return where a measure of tridiagonal matrices goes as K → ∞, extrapolated from the largest K and half of it."""
    largest = STUDY["figure5"]["largest"]
    end, half = (float(metaeval.measure(measure).score(make_tridiagonal(k))) for k in (largest, largest // 2))
    return 2 * end - half


def check_expectations(measure: str) -> dict[str, str]:
    """Return which of the paper's expectations a measure meets, by expectation."""
    found = {}
    for one in STUDY["expectations"]:
        margin = find_margin(measure, one["better"], one["worse"])
        found[f"{one['better']} before {one['worse']} ({one['where']})"] = (
            MET if margin > 0 else EQUAL if margin == 0 else NOT_MET
        )
    perfect = 1.0 if metaeval.measure(measure).higher_is_better else 0.0
    found[f"tridiagonal ({LIMIT})"] = NOT_MET if abs(find_limit(measure) - perfect) < 5e-4 else MET
    return found


def tabulate_expectations() -> metaeval.Table:
    """Return the paper's expectations, and which coefficient meets them."""
    frame = pd.DataFrame({name: check_expectations(measure) for name, measure in COEFFICIENTS.items()})
    frame.index.name = "expectation"
    caption = (
        "The paper's expectations of a coefficient, and which coefficient meets them; equal: it cannot tell them apart."
    )
    return metaeval.Table(frame, caption, sign("matrices as printed, and CM5 in another reading"))


def name_oci(share: float, gamma: float) -> str:
    """Return the measure OC with β as a share and γ, as text that parses."""
    return f"OCI(beta={share:g}, gamma={gamma:g})"


def format_gamma(gamma: float) -> str:
    """Return γ as it is written."""
    return "∞" if np.isinf(gamma) else f"{gamma:g}"


def list_pairs() -> list[tuple[str, str]]:
    """Return all pairs of matrices of one table, readings of one matrix not against each other."""
    pairs = []
    for table, rows in PRINTED.items():
        if table not in ("figure5", "table6"):
            others = {name: one["of"] for name, one in STUDY["other_readings"].items() if one["of"] in rows}
            names = [*rows, *others]
            pairs += [pair for pair in itertools.combinations(names, 2) if pair[0] != others.get(pair[1])]
    return pairs


def find_turned(share: float, gamma: float) -> list[str]:
    """Return the pairs of matrices that OC orders otherwise than with γ = 1, as "CM1 and CM2"."""
    return [
        f"{one} and {two}"
        for one, two in list_pairs()
        if np.sign(find_margin(name_oci(share, 1), one, two)) != np.sign(find_margin(name_oci(share, gamma), one, two))
    ]


def find_lost(share: float, gamma: float) -> list[str]:
    """Return the expectations that OC meets with γ = 1 and does not meet with another."""
    before, now = (check_expectations(name_oci(share, one)) for one in (1.0, gamma))
    return [name for name, word in now.items() if before[name] == MET != word]


def tabulate_gammas() -> metaeval.Table:
    """Return OC of every matrix in print for several γ and both β."""
    columns = pd.MultiIndex.from_product([list(SHARES), [f"γ = {format_gamma(g)}" for g in STUDY["gamma"]["grid"]]])
    rows = [
        [score_matrix(name_oci(share, gamma), name) for share in SHARES.values() for gamma in STUDY["gamma"]["grid"]]
        for name in MATRICES
    ]
    frame = pd.DataFrame(rows, index=pd.Index(list(MATRICES), name="matrix"), columns=columns)
    return metaeval.Table(frame, "OC of the matrices in print by γ.", _sign_gammas())


def tabulate_turned() -> metaeval.Table:
    """Return which pairs of matrices of one table OC orders otherwise than with γ = 1, by γ and β."""
    rows = []
    for (name, share), gamma in itertools.product(SHARES.items(), STUDY["gamma"]["grid"]):
        turned, lost = find_turned(share, gamma), find_lost(share, gamma)
        largest = float(OCI(make_tridiagonal(STUDY["figure5"]["largest"]), beta=share, gamma=gamma))
        rows.append((name, format_gamma(gamma), len(turned), ", ".join(turned), len(lost), ", ".join(lost), largest))
    head = ["β", "γ", "turned", "pairs turned", "lost", "expectations lost", "tridiagonal"]
    caption = (
        f"Of {len(list_pairs())} pairs of matrices that stand in one table, those that OC orders otherwise than with γ = 1; "
        f"expectations that it no longer meets; and OC of the tridiagonal matrix of {STUDY['figure5']['largest']} classes."
    )
    return metaeval.Table(pd.DataFrame(rows, columns=head).set_index(["β", "γ"]), caption, _sign_gammas())


def tabulate_general_index() -> metaeval.Table:
    """Return what the general index of Eq. 8 is for the β that the paper names, beside what it says that it is."""
    rows = {}
    for name, counts in MATRICES.items():
        n, errors = counts.sum(), {one: score_matrix(COEFFICIENTS[one], name) for one in ("MER", "MAE")}
        rows[name] = {
            "β₁ = β₂ = 0": float(general_index(counts, beta1=0, beta2=0)),
            "MAE / (1 + MAE)": errors["MAE"] / (1 + errors["MAE"]),
            "absolute β₁ = 1/(N + 1), β₂ = 1": float(general_index(counts, beta1=1 / (n + 1), beta2=1, absolute=True)),
            "(MAE + MER) / (1 + MAE)": (errors["MAE"] + errors["MER"]) / (1 + errors["MAE"]),
            "β₁ = 0.75, β₂ = 0.05": float(general_index(counts, beta1=0.75, beta2=0.05)) if len(counts) < 5 else np.nan,
            "β₁ = 0.75, β₂ = 1": float(general_index(counts, beta1=0.75, beta2=1)),
            "OC β₂": score_matrix(COEFFICIENTS["OC β₂"], name),
            "OC′, absolute β = 1": float(OC_prime(counts, beta=1, absolute=True)),
            "MER": errors["MER"],
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "matrix"
    caption = (
        "Eq. 8, the index over all paths, and OC′ (Eq. 6): with no price at all, with a price that keeps to the diagonal, "
        "with a low and with the full price of a broken pair; each beside what it should be. Five classes are not searched."
    )
    signature = f"cardoso2011 | general index | shares of 1 / (N (K − 1)), γ = 1 | metaeval {metaeval.__version__}"
    return metaeval.Table(frame, caption, signature)


def _sign_gammas() -> str:
    return sign("matrices as printed").replace("(K − 1)", "(K − 1)^γ").replace(", γ = 1", "")
