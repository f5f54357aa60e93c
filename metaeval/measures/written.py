r"""The formulas of the shipped measures as people write them: in one line for a terminal, and in LaTeX for a page."""

from __future__ import annotations

from typing import NamedTuple

from metaeval.measures.base import Kind, Measure
from metaeval.measures.registry import is_shipped


class Written(NamedTuple):
    """A formula as text and as LaTeX."""

    text: str
    latex: str


SYMBOLS: dict[Kind, Written] = {
    "classification": Written(
        "n_gp: items of gold class g that the run puts into class p; n_g, m_p: items of gold class g, of predicted "
        "class p; N: all items; K: classes; C⁺: classes that have gold items",
        r"$n_{gp}$: items of gold class $g$ that the run puts into class $p$; $n_g$, $m_p$: items of gold class $g$, of "
        r"predicted class $p$; $N$: all items; $K$: classes; $C^+$: classes that have gold items",
    ),
    "quantification": Written(
        "p_i, p*_i: estimated and gold share of class i; K: classes; C*: classes with p*_i > 0",
        r"$p_i$, $p^*_i$: estimated and gold share of class $i$; $K$: classes; $C^*$: classes with $p^*_i > 0$",
    ),
}
"""What the letters of the formulas of a kind stand for."""

_PROXIMITY = (
    "prox(p, g) = −log₂(max{½, n_p/2 + Σ_k n_k} / N), k from the class after p up to g",
    r"\mathrm{prox}(p,g)=-\log_2\frac{\max\{\frac{1}{2},\ \frac{n_p}{2}+\sum_k n_k\}}{N},\ "
    r"k\text{ from the class after }p\text{ up to }g",
)
_SQUARES = ("DW_i = Σ_j |i − j| (p_j − p*_j)²", r"\mathrm{DW}_i=\sum_j |i-j|\,(p_j-p^*_j)^2")
_F1 = ("f(a, b) = 2ab / (a + b)", r"f(a,b)=\frac{2ab}{a+b}")
_ORDER = (
    "C and D: pairs of items that run and gold order alike and oppositely",
    r"C,\,D:\text{ pairs of items that run and gold order alike and oppositely}",
)

WRITTEN: dict[str, Written] = {
    "CEM_ORD": Written(
        f"Σ_gp n_gp prox(p, g) / Σ_g n_g prox(g, g); {_PROXIMITY[0]}",
        r"\frac{\sum_{g,p} n_{gp}\,\mathrm{prox}(p,g)}{\sum_g n_g\,\mathrm{prox}(g,g)},\qquad " + _PROXIMITY[1],
    ),
    "kappa": Written(
        "1 − N Σ_gp w_gp n_gp / Σ_gp w_gp n_g m_p; w_gp = |g − p|, or its square, or 1 for g ≠ p",
        r"1-\frac{N\sum_{g,p} w_{gp}\,n_{gp}}{\sum_{g,p} w_{gp}\,n_g m_p},\qquad w_{gp}=|g-p|,\ |g-p|^2\text{ or }[g\neq p]",
    ),
    "alpha_ORD": Written(
        "1 − (2N − 1) Σ_gp δ_gp² n_gp / Σ_{i<j} δ_ij² l_i l_j; l_i = n_i + m_i; "
        "δ_ij = Σ_k l_k − (l_i + l_j) / 2, k from i to j",
        r"1-(2N-1)\frac{\sum_{g,p}\delta_{gp}^2\,n_{gp}}{\sum_{i<j}\delta_{ij}^2\,l_i l_j},\qquad "
        r"l_i=n_i+m_i,\ \delta_{ij}=\sum_{k=i}^{j} l_k-\frac{l_i+l_j}{2}",
    ),
    "alpha_INT": Written(
        "1 − (2N − 1) Σ_gp (g − p)² n_gp / Σ_{i<j} (i − j)² l_i l_j; l_i = n_i + m_i",
        r"1-(2N-1)\frac{\sum_{g,p}(g-p)^2\,n_{gp}}{\sum_{i<j}(i-j)^2\,l_i l_j},\qquad l_i=n_i+m_i",
    ),
    "MAE_M": Written(
        "1/|C⁺| Σ_{g in C⁺} 1/n_g Σ_p |g − p| n_gp",
        r"\frac{1}{|C^+|}\sum_{g\in C^+}\frac{1}{n_g}\sum_p |g-p|\,n_{gp}",
    ),
    "MAE_mu": Written("1/N Σ_gp |g − p| n_gp", r"\frac{1}{N}\sum_{g,p}|g-p|\,n_{gp}"),
    "Accuracy": Written("1/N Σ_g n_gg", r"\frac{1}{N}\sum_g n_{gg}"),
    "F1_M": Written(
        f"1/|C⁺| Σ_{{g in C⁺}} f(n_gg / m_g, n_gg / n_g); {_F1[0]}",
        r"\frac{1}{|C^+|}\sum_{g\in C^+} f\!\left(\frac{n_{gg}}{m_g},\frac{n_{gg}}{n_g}\right),\qquad " + _F1[1],
    ),
    "HMPR": Written(
        f"f(1/|C⁺| Σ_{{g in C⁺}} n_gg / m_g, 1/|C⁺| Σ_{{g in C⁺}} n_gg / n_g); {_F1[0]}",
        r"f\!\left(\frac{1}{|C^+|}\sum_{g\in C^+}\frac{n_{gg}}{m_g},\ "
        r"\frac{1}{|C^+|}\sum_{g\in C^+}\frac{n_{gg}}{n_g}\right),\qquad " + _F1[1],
    ),
    "NMD": Written(
        "1/(K − 1) Σ_{i<K} |Σ_{j≤i} (p_j − p*_j)|",
        r"\frac{1}{K-1}\sum_{i=1}^{K-1}\left|\sum_{j\leq i}(p_j-p^*_j)\right|",
    ),
    "RNOD": Written(
        f"√(1/(K − 1) · 1/|C*| Σ_{{i in C*}} DW_i); {_SQUARES[0]}",
        r"\sqrt{\frac{1}{K-1}\cdot\frac{1}{|C^*|}\sum_{i\in C^*}\mathrm{DW}_i},\qquad " + _SQUARES[1],
    ),
    "RSNOD": Written(
        "√((OD(p‖p*) + OD(p*‖p)) / (2 (K − 1))); OD(p‖p*) = 1/|C*| Σ_{i in C*} DW_i, OD(p*‖p) over the classes "
        f"with p_i > 0; {_SQUARES[0]}",
        r"\sqrt{\frac{\mathrm{OD}(p\,\|\,p^*)+\mathrm{OD}(p^*\|\,p)}{2(K-1)}},\qquad "
        r"\mathrm{OD}(p\,\|\,p^*)=\frac{1}{|C^*|}\sum_{i\in C^*}\mathrm{DW}_i,\ " + _SQUARES[1],
    ),
    "RNADW": Written(
        f"√(1/(K − 1) · 1/K Σ_i DW_i); {_SQUARES[0]}",
        r"\sqrt{\frac{1}{K-1}\cdot\frac{1}{K}\sum_i\mathrm{DW}_i},\qquad " + _SQUARES[1],
    ),
    "NVD": Written("½ Σ_i |p_i − p*_i|", r"\frac{1}{2}\sum_i |p_i-p^*_i|"),
    "RNSS": Written("√(½ Σ_i (p_i − p*_i)²)", r"\sqrt{\frac{1}{2}\sum_i (p_i-p^*_i)^2}"),
    "JSD": Written(
        "½ Σ_i p_i log₂(p_i / a_i) + ½ Σ_i p*_i log₂(p*_i / a_i); a_i = (p_i + p*_i) / 2",
        r"\frac{1}{2}\sum_i p_i\log_2\frac{p_i}{a_i}+\frac{1}{2}\sum_i p^*_i\log_2\frac{p^*_i}{a_i},\qquad "
        r"a_i=\frac{p_i+p^*_i}{2}",
    ),
    "Pearson": Written(
        "cov(g, p) / (sd(g) sd(p)), over items, with classes as the numbers 1 to K",
        r"\frac{\mathrm{cov}(g,p)}{\mathrm{sd}(g)\,\mathrm{sd}(p)},\text{ over items, classes being the numbers }1\text{ to }K",
    ),
    "R_s": Written(
        "cov(r, s) / (sd(r) sd(s)), over items; r, s: ranks of their gold and predicted classes, ties at their average",
        r"\frac{\mathrm{cov}(r,s)}{\mathrm{sd}(r)\,\mathrm{sd}(s)},\text{ over items; }r,s:"
        r"\text{ ranks of their gold and predicted classes, ties at their average}",
    ),
    "tau_a": Written(f"(C − D) / (N (N − 1) / 2); {_ORDER[0]}", r"\frac{C-D}{N(N-1)/2},\qquad " + _ORDER[1]),
    "tau_b": Written(
        f"(C − D) / √(U_g U_p); {_ORDER[0]}; U_g, U_p: pairs that the gold, the run, does not tie",
        r"\frac{C-D}{\sqrt{U_g U_p}},\qquad " + _ORDER[1] + r";\ U_g,\,U_p:\text{ pairs that the gold, the run, does not tie}",
    ),
    "Reliability_Sensitivity": Written(
        "f(R, S); R: mean over the items x of the share of those y that the run does not tie with x which the gold "
        f"orders in the same way; S: the same with run and gold exchanged; {_F1[0]}",
        r"f(R,S),\ R=\operatorname{mean}_x\frac{|\{y:\ x,y\text{ ordered alike by run and gold}\}|}"
        r"{|\{y:\ x,y\text{ not tied by the run}\}|},\ S\text{ with run and gold exchanged},\qquad " + _F1[1],
    ),
    "MI": Written(
        "1/N Σ_gp n_gp log₂(N n_gp / (n_g m_p))", r"\frac{1}{N}\sum_{g,p} n_{gp}\log_2\frac{N\,n_{gp}}{n_g m_p}"
    ),
    "Purity": Written("1/N Σ_p max_g n_gp", r"\frac{1}{N}\sum_p\max_g n_{gp}"),
    "Inverse_Purity": Written("1/N Σ_g max_p n_gp", r"\frac{1}{N}\sum_g\max_p n_{gp}"),
    "MSE": Written("1/N Σ_gp (g − p)² n_gp", r"\frac{1}{N}\sum_{g,p}(g-p)^2\,n_{gp}"),
    "MSE_M": Written(
        "1/|C⁺| Σ_{g in C⁺} 1/n_g Σ_p (g − p)² n_gp",
        r"\frac{1}{|C^+|}\sum_{g\in C^+}\frac{1}{n_g}\sum_p (g-p)^2\,n_{gp}",
    ),
    "Accuracy_within": Written("1/N Σ_{|g−p| ≤ n} n_gp", r"\frac{1}{N}\sum_{|g-p|\leq n} n_{gp}"),
    "MAAC": Written("1/|C⁺| Σ_{g in C⁺} n_gg / n_g", r"\frac{1}{|C^+|}\sum_{g\in C^+}\frac{n_{gg}}{n_g}"),
    "Rennie_Srebro": Written(
        "1/N Σ_gp d (d + 1) n_gp, d = |g − p|; 2d in place of d (d + 1) with thresholds=immediate",
        r"\frac{1}{N}\sum_{g,p} d\,(d+1)\,n_{gp},\ d=|g-p|;\quad 2d\text{ in place of }d(d+1)\text{ with thresholds=immediate}",
    ),
    "Cosine": Written(
        "Σ_gp g p n_gp / √(Σ_g g² n_g · Σ_p p² m_p)",
        r"\frac{\sum_{g,p} g\,p\,n_{gp}}{\sqrt{\sum_g g^2 n_g\cdot\sum_p p^2 m_p}}",
    ),
    "CEM": Written(
        "Σ_gp n_gp c(p, g) / Σ_g n_g c(g, g); c(p, g) = −log₂(max{½, M_pg} / N), M_pg: gold items that are no farther "
        "from g than class p is; 1 − max{½, M_pg} / N with flat",
        r"\frac{\sum_{g,p} n_{gp}\,c(p,g)}{\sum_g n_g\,c(g,g)},\qquad c(p,g)=-\log_2\frac{\max\{\frac{1}{2},M_{pg}\}}{N},\ "
        r"M_{pg}:\text{ gold items no farther from }g\text{ than class }p\text{ is}",
    ),
    "OCI": Written(
        "min over paths P of 1 − Σ_{(g,p) in P} n_gp / (N + M) + Σ_{(g,p) in P} β/N · (|g − p| / (K − 1))^γ n_gp; "
        "M = (Σ_gp n_gp |g − p|^γ)^(1/γ); P goes from (1, 1) to (K, K) and never back",
        r"\min_P\ 1-\frac{\sum_{(g,p)\in P} n_{gp}}{N+M}+\frac{\beta}{N}\sum_{(g,p)\in P} "
        r"\left(\frac{|g-p|}{K-1}\right)^{\gamma} n_{gp},\qquad M=\left(\sum_{g,p} n_{gp}|g-p|^{\gamma}\right)^{1/\gamma},\ "
        r"P\text{ from }(1,1)\text{ to }(K,K)\text{, never back}",
    ),
    "r_int": Written(
        "−1 + 2 |R_g ∩ R_p| / √(|R_g| |R_p|); R: ordered pairs of items (u, v) of which u is not above v in the gold, "
        "in the run",
        r"-1+\frac{2\,|R_g\cap R_p|}{\sqrt{|R_g|\,|R_p|}},\qquad R=\{(u,v): u\neq v,\ x_u\leq x_v\}"
        r"\text{ of gold and of predicted classes}",
    ),
    "MER": Written("1 − 1/N Σ_g n_gg", r"1-\frac{1}{N}\sum_g n_{gg}"),
}  # fmt: skip
"""By the name of the family, without parameters."""


def find_written(measure: Measure) -> Written | None:
    """Return the formula of a shipped measure as people write it; None for a measure of one's own.

    >>> import metaeval
    >>> find_written(metaeval.measure("NVD")).text
    '½ Σ_i |p_i − p*_i|'
    """
    return WRITTEN.get(measure.name) if is_shipped(measure.with_parameters({})) else None
