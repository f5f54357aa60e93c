"""Slips in print: what the paper says at one place and what contradicts it, each with the computation that shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.spatial.distance import minkowski
from scipy.stats import norm

import metaeval
from experiments.old.audits import rounds_to
from experiments.cardoso2011 import enumeration
from experiments.cardoso2011.expectations import MATRICES, SHARES, name_oci, score_matrix
from experiments.cardoso2011.matrices import PRINTED, STUDY, compute_coefficients
from experiments.cardoso2011.synthetic import BORDERS, N_POINTS, NOISE, height
from metaeval.measures.ordinal_index import OCI, dispersion


@dataclass(frozen=True)
class Slip:
    """One place of the paper that does not agree with another, or with what follows from it."""

    where: str
    text: str
    found: str
    shown: bool


def list_slips() -> list[Slip]:
    """Return the slips in the order of the paper."""
    return [
        _find_gamma(),
        _find_two_dispersions(),
        _find_single_item(),
        _find_truncation(),
        _find_other_row(),
        _find_synthetic_rule(),
        _find_largest(),
        _find_never_losing(),
        _find_lemma(),
    ]


def tabulate_slips(slips: Sequence[Slip]) -> metaeval.Table:
    """Return slips with what shows them."""
    rows = [(one.where, one.text, one.found, "shown" if one.shown else "not shown") for one in slips]
    frame = pd.DataFrame(rows, columns=["where", "printed, and how it is read", "computed", "check"]).set_index("where")
    caption = "Slips in print, each with the computation that shows it."
    return metaeval.Table(frame, caption, f"cardoso2011 | print against itself | metaeval {metaeval.__version__}")


def _find_gamma() -> Slip:
    printed = [
        (name, share, text)
        for table, rows in PRINTED.items()
        if table not in ("figure5", "table6")
        for name, texts in rows.items()
        for share, text in zip(SHARES.values(), texts[-2:], strict=True)
        if name not in {one["of"] for one in STUDY["other_readings"].values()}
    ]
    same = {
        gamma: sum(
            rounds_to(score_matrix(name_oci(share, gamma), name), float(text), len(text.partition(".")[2]))
            for name, share, text in printed
            if name != "A"
        )
        for gamma in (1.0, 2.0)
    }
    n = sum(name != "A" for name, _, _ in printed)
    zero = sum(
        int(((OCI(counts, beta=share) <= enumeration.CLOSE) != enumeration.is_diagonal(counts)).sum())
        for counts in enumeration.iterate_matrices()
        for share in SHARES.values()
    )
    return Slip(
        "Eq. 6, §3.3",
        "“γ > 1”, while §4 and Listing 1 have γ = 1. Read: γ ≥ 1.",
        f"{same[1.0]} of {n} printed OC (without A and CM5) are those with γ = 1, {same[2.0]} those with γ = 2; "
        f"with γ = 1, OC is 0 for matrices without errors and for no others ({zero} exceptions).",
        same[1.0] == n > same[2.0] and zero == 0,
    )


def _find_two_dispersions() -> Slip:
    gaps: dict[str, list[float]] = {"before": [], "in": []}
    for counts in MATRICES.values():
        pairs = np.repeat(np.argwhere(counts >= 0), counts.astype(int).ravel(), axis=0)
        wanted = float(minkowski(pairs[:, 0], pairs[:, 1], p=2))
        gaps["before"].append(abs(float(dispersion(counts, 1)) ** 2 - wanted))
        gaps["in"].append(abs(float(dispersion(counts, 2)) - wanted))
    return Slip(
        "§3, before Eq. 7",
        "M is (Σ n |r − c|)^γ in the text and (Σ n |r − c|^γ)^(1/γ) in Eq. 7, and “can be interpreted as the Minkowski "
        "distance”. Read: as in Eq. 7.",
        f"For γ = 2 the latter is the Minkowski distance for {sum(gap < 1e-9 for gap in gaps['in'])} of {len(MATRICES)} "
        f"matrices, the former for {sum(gap < 1e-9 for gap in gaps['before'])} (up to {max(gaps['before']):,.0f} off).",
        max(gaps["in"]) < 1e-9 < max(gaps["before"]),
    )


def _find_single_item() -> Slip:
    one = np.array([[0.0, 0, 1], [0, 0, 0], [0, 0, 0]])
    beta, distance = 0.05, 2
    value = {gamma: float(OCI(one, beta=beta, gamma=gamma, absolute=True)) for gamma in (1.0, 2.0)}
    printed = min(1, 1 - 1 / (1 + distance) + beta * distance)
    powered = min(1, 1 - 1 / (1 + distance) + beta * distance**2)
    return Slip(
        "§3.2",
        "OC of one item, for any γ, has the term β |r − c|. Read: β |r − c|^γ.",
        f"One item {distance} classes off, β = {beta:g}: the formula gives {printed:.3f}; Eq. 7 gives {value[1.0]:.3f} for "
        f"γ = 1 and {value[2.0]:.3f} for γ = 2.",
        math.isclose(value[1.0], printed) and math.isclose(value[2.0], powered) and not math.isclose(powered, printed),
    )


def _find_truncation() -> Slip:
    value, text = score_matrix("MAE_mu", "CM4"), PRINTED["table3"]["CM4"][1]
    return Slip(
        "Table 3, CM4",
        f"MAE is {text}. Read: truncated, not rounded.",
        f"MAE is {value:.4f}.",
        not rounds_to(value, float(text), 2) and math.floor(100 * value) / 100 == float(text),
    )


def _find_other_row() -> Slip:
    ((reading, other),) = STUDY["other_readings"].items()
    texts = PRINTED["table4"][other["of"]]

    def count(name: str) -> int:
        values = compute_coefficients(MATRICES[name]).values()
        return sum(rounds_to(float(value), float(text), 2) for value, text in zip(values, texts, strict=True))

    printed, read = count(other["of"]), count(reading)
    return Slip(
        "Table 4, CM5",
        f"The second row of the matrix is {STUDY['matrices'][other['of']][1]}. Read: {other['counts'][1]}.",
        f"{printed} of {len(texts)} printed coefficients follow from the matrix as printed, {read} from the other reading.",
        printed == 0 and read == len(texts),
    )


def expect_sizes(literal: bool, n_points: float) -> np.ndarray:
    """Return how many of that many points of §4.3 are expected in each class, by either reading of its rule."""
    middles = (np.arange(500) + 0.5) / 500
    points = np.stack(np.meshgrid(middles, middles), axis=-1)
    heights = 10 * (points.prod(axis=-1) - 0.5) if literal else height(points)
    below = [norm.cdf((border - heights) / NOISE).mean() for border in BORDERS]
    return n_points * np.diff([0.0, *below, 1.0])


def _find_synthetic_rule() -> Slip:
    gold = np.sum(STUDY["matrices"]["CM10"], axis=1)
    n = int(gold.sum())
    as_printed, read = (expect_sizes(literal, n) for literal in (True, False))

    def agrees(expected: np.ndarray) -> bool:
        return bool((np.abs(gold - expected) < 3 * np.sqrt(expected * (1 - expected / n))).all())

    def show(sizes: np.ndarray) -> str:
        return ", ".join(f"{one:.0f}" for one in sizes)

    return Slip(
        "§4.3",
        "Classes are by 10 (∏ xᵢ − 0.5) + ε. Read: 10 ∏ (xᵢ − 0.5) + ε, the rule of Herbrich et al. 1999.",
        f"Gold sizes of CM10 are {show(gold)}; of {n} of {N_POINTS} points, {show(as_printed)} are expected by the rule as "
        f"printed and {show(read)} as read (three standard errors decide).",
        not agrees(as_printed) and agrees(read),
    )


def _find_largest() -> Slip:
    perfect, wrong = (float(OCI(np.array(counts))) for counts in ([[1, 0], [0, 1]], [[0, 1], [1, 0]]))
    return Slip(
        "Algorithm 1",
        "It keeps the parameters with the largest value, and is used with OCI. Read: the smallest.",
        f"OCI is {perfect:g} for a run without errors and {wrong:g} for one with nothing but errors.",
        perfect < wrong and not metaeval.measure("OCI").higher_is_better,
    )


def _find_never_losing() -> Slip:
    lost = [
        f"{STUDY['table6']['shown'][name]} {row[0][0]} ({row[0][1]}) against {row[1][0]} ({row[1][1]})"
        for name, row in PRINTED["table6"].items()
        if float(row[0][0]) > float(row[1][0]) and float(row[0][1]) > float(row[1][1])
    ]
    return Slip(
        "§4.4, on Table 6",
        "oSVM is “never losing for Frank and Hall method, both in average and in variance”.",
        f"In Table 6 it does in both on {'; '.join(lost) or 'no set'}.",
        bool(lost),
    )


def _find_lemma() -> Slip:
    example, share = enumeration.find_lemma_counterexample(), enumeration.find_share_counterexample()
    if share is None:
        applied = "no counterexample in its own use"
    else:
        n_classes, n_items, (a, b, c) = share
        applied = (
            f"H/(N + M), to which the appendix applies it, is no metric from K = {n_classes}, N = {n_items} on "
            f"(a = {a}, b = {b}, c = {c})".replace(",)", ")")
        )
    return Slip(
        "Appendix A, lemma (2)",
        "If d₁ ≤ d₂ are metrics, d₁/(1 + d₂) is one. It is not, so that the proof has a gap; no triple tried contradicts "
        "what it should prove (conclusions, Appendix A).",
        f"{describe_lemma(example)}; {applied}.",
        example is not None and share is not None,
    )


def describe_lemma(example: tuple[tuple[int, int, int], tuple[int, int, int]] | None) -> str:
    """Say what the smallest counterexample to lemma (2) is."""
    if example is None:
        return "no counterexample"
    one, two = example
    shares = [f"{x}/{1 + y}" for x, y in zip(one, two, strict=True)]
    return f"d1 = {one} and d2 = {two} for (ab, bc, ac): {shares[0]} + {shares[1]} < {shares[2]}"
