"""The formulas of the shipped measures as people write them, in one line."""

from __future__ import annotations

from metaeval.measures.base import Kind, Measure
from metaeval.measures.registry import is_shipped

SYMBOLS: dict[Kind, str] = {
    "classification": (
        "n_gp: items of gold class g that the run puts into class p; n_g, m_p: items of gold class g, of "
        "predicted class p; N: all items; K: classes; C⁺: classes that have gold items"
    ),
    "quantification": "p_i, p*_i: estimated and gold share of class i; K: classes; C*: classes with p*_i > 0",
}
"""What the letters of the formulas of a kind stand for."""

_PROXIMITY = "prox(p, g) = −log₂(max{½, n_p/2 + Σ_k n_k} / N), k from the class after p up to g"
_SQUARES = "DW_i = Σ_j |i − j| (p_j − p*_j)²"
_F1 = "f(a, b) = 2ab / (a + b)"
_ORDER = "C and D: pairs of items that run and gold order alike and oppositely"

WRITTEN: dict[str, str] = {
    "CEM_ORD": f"Σ_gp n_gp prox(p, g) / Σ_g n_g prox(g, g); {_PROXIMITY}",
    "kappa": "1 − N Σ_gp w_gp n_gp / Σ_gp w_gp n_g m_p; w_gp = |g − p|, or its square, or 1 for g ≠ p",
    "alpha_ORD": (
        "1 − (2N − 1) Σ_gp δ_gp² n_gp / Σ_{i<j} δ_ij² l_i l_j; l_i = n_i + m_i; δ_ij = Σ_k l_k − (l_i + l_j) "
        "/ 2, k from i to j"
    ),
    "alpha_INT": "1 − (2N − 1) Σ_gp (g − p)² n_gp / Σ_{i<j} (i − j)² l_i l_j; l_i = n_i + m_i",
    "MAE_M": "1/|C⁺| Σ_{g in C⁺} 1/n_g Σ_p |g − p| n_gp",
    "MAE_mu": "1/N Σ_gp |g − p| n_gp",
    "Accuracy": "1/N Σ_g n_gg",
    "F1_M": f"1/|C⁺| Σ_{{g in C⁺}} f(n_gg / m_g, n_gg / n_g); {_F1}",
    "HMPR": f"f(1/|C⁺| Σ_{{g in C⁺}} n_gg / m_g, 1/|C⁺| Σ_{{g in C⁺}} n_gg / n_g); {_F1}",
    "NMD": "1/(K − 1) Σ_{i<K} |Σ_{j≤i} (p_j − p*_j)|",
    "RNOD": f"√(1/(K − 1) · 1/|C*| Σ_{{i in C*}} DW_i); {_SQUARES}",
    "RSNOD": (
        "√((OD(p‖p*) + OD(p*‖p)) / (2 (K − 1))); OD(p‖p*) = 1/|C*| Σ_{i in C*} DW_i, OD(p*‖p) over the "
        f"classes with p_i > 0; {_SQUARES}"
    ),
    "RNADW": f"√(1/(K − 1) · 1/K Σ_i DW_i); {_SQUARES}",
    "NVD": "½ Σ_i |p_i − p*_i|",
    "RNSS": "√(½ Σ_i (p_i − p*_i)²)",
    "JSD": "½ Σ_i p_i log₂(p_i / a_i) + ½ Σ_i p*_i log₂(p*_i / a_i); a_i = (p_i + p*_i) / 2",
    "Pearson": "cov(g, p) / (sd(g) sd(p)), over items, with classes as the numbers 1 to K",
    "R_s": (
        "cov(r, s) / (sd(r) sd(s)), over items; r, s: ranks of their gold and predicted classes, ties at their average"
    ),
    "tau_a": f"(C − D) / (N (N − 1) / 2); {_ORDER}",
    "tau_b": f"(C − D) / √(U_g U_p); {_ORDER}; U_g, U_p: pairs that the gold, the run, does not tie",
    "Reliability_Sensitivity": (
        "f(R, S); R: mean over the items x of the share of those y that the run does not tie with x which "
        f"the gold orders in the same way; S: the same with run and gold exchanged; {_F1}"
    ),
    "MI": "1/N Σ_gp n_gp log₂(N n_gp / (n_g m_p))",
    "Purity": "1/N Σ_p max_g n_gp",
    "Inverse_Purity": "1/N Σ_g max_p n_gp",
    "MSE": "1/N Σ_gp (g − p)² n_gp",
    "MSE_M": "1/|C⁺| Σ_{g in C⁺} 1/n_g Σ_p (g − p)² n_gp",
    "Accuracy_within": "1/N Σ_{|g−p| ≤ n} n_gp",
    "MAAC": "1/|C⁺| Σ_{g in C⁺} n_gg / n_g",
    "Rennie_Srebro": "1/N Σ_gp d (d + 1) n_gp, d = |g − p|; 2d in place of d (d + 1) with thresholds=immediate",
    "Cosine": "Σ_gp g p n_gp / √(Σ_g g² n_g · Σ_p p² m_p)",
    "CEM": (
        "Σ_gp n_gp c(p, g) / Σ_g n_g c(g, g); c(p, g) = −log₂(max{½, M_pg} / N), M_pg: gold items that are "
        "no farther from g than class p is; 1 − max{½, M_pg} / N with flat"
    ),
    "OCI": (
        "min over paths P of 1 − Σ_{(g,p) in P} n_gp / (N + M) + Σ_{(g,p) in P} β/N · (|g − p| / (K − 1))^γ "
        "n_gp; M = (Σ_gp n_gp |g − p|^γ)^(1/γ); P goes from (1, 1) to (K, K) and never back"
    ),
    "r_int": (
        "−1 + 2 |R_g ∩ R_p| / √(|R_g| |R_p|); R: ordered pairs of items (u, v) of which u is not above v in "
        "the gold, in the run"
    ),
    "MER": "1 − 1/N Σ_g n_gg",
}
"""By the name of the family, without parameters."""


def find_written(measure: Measure) -> str | None:
    """Return the formula of a shipped measure as people write it; None for a measure of one's own.

    >>> import metaeval
    >>> find_written(metaeval.measure("NVD"))
    '½ Σ_i |p_i − p*_i|'
    """
    return WRITTEN.get(measure.name) if is_shipped(measure.with_parameters({})) else None
