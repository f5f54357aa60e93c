"""Tables 1 to 5, Figure 5 and the paper's expectations, which need no data; and Table 6, which needs trained classifiers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import t as student

import metaeval
from experiments.claims import bound
from experiments.page import Folder
from experiments.paper import Results, Settings, cell, read_study
from metaeval.measures.ordinal import OCI
from metaeval.show.drawing import sign_figure
from metaeval.show.looks import choose_looks
from metaeval.show.style import house_style

STUDY = read_study("cardoso2011")
PRINTED, ALGORITHM = STUDY["printed"], STUDY["table6"]
MATRICES = {name: np.array(counts, dtype=float) for name, counts in STUDY["matrices"].items()}
COEFFICIENTS: Mapping[str, str] = STUDY["coefficients"] | {"MSE": "MSE"}
"""The paper's seven, and MSE, of which it says that it behaves as MAE."""

METHODS = ("oSVM", "Frank and Hall", "Conventional")
LARGEST = 200
"""Classes of the largest tridiagonal matrix."""

SMALL = ((2, 6), (3, 4), (4, 2))
"""All matrices of that many classes and up to that many items."""

TRIPLES = ((2, 5), (3, 3), (3, 4), (4, 2), (5, 1), (5, 2))
"""All triples of label vectors of that many classes and items."""

SHARES, GAMMAS = {"β₁": 0.25, "β₂": 0.75}, (1.0, 2.0, math.inf)
CLOSE = 1e-9


def run(settings: Settings) -> Results:
    """Compute what print decides, and with ``--full`` what trained classifiers do."""
    results = Results("cardoso2011")
    coefficients = pd.DataFrame(
        {name: [score(measure, m) for m in MATRICES.values()] for name, measure in COEFFICIENTS.items()},
        index=pd.Index(MATRICES, name="matrix"),
    )
    results.add(
        "coefficients",
        coefficients,
        "Coefficients of the matrices in print, and of CM5 in the reading from which its printed row follows.",
        how="β₁ = 0.25 / (N (K − 1)), β₂ = 0.75 / (N (K − 1)), γ = 1",
    )
    curves = compute_curves()
    results.add("figure5", curves, "Figure 5. Coefficients of tridiagonal matrices of K classes.")
    results.compare("comparison", [*compare_tables(coefficients), *compare_limits(curves)])
    results.add(
        "expectations", check_expectations(curves), "The paper's expectations, and which coefficient meets them."
    )
    results.add("small_cases", try_small_cases(), "What the paper says of all matrices, tried on all small ones.")
    if settings.full:
        from experiments.cardoso2011 import algorithm1  # needs scikit-learn

        found = {name: algorithm1.repeat(name, settings) for name in ALGORITHM["sets"]}
        results.compare("comparison_table6", compare_table6(found), tolerance=ALGORITHM["tolerance"])
        results.add(
            "differences",
            compare_methods(found),
            "OCI of one method less that of another on the same splits, with 95 % intervals corrected for overlapping "
            "training parts (Nadeau and Bengio 2003).",
            how=f"{ALGORITHM['repetitions']} splits | seed {settings.seed}",
            tolerance=ALGORITHM["tolerance"],
        )
    else:
        results.left_out = dict.fromkeys(
            ("comparison_table6", "differences"), "trains classifiers for minutes; --full does"
        )
    return results


def score(measure: str, counts: np.ndarray) -> float:
    """Return a measure of one matrix."""
    return float(metaeval.measure(measure).score(counts))


def compare_tables(coefficients: pd.DataFrame) -> list[dict[str, object]]:
    """Return Tables 1 to 5 beside ours."""
    return [
        cell(item, name, column, text, float(coefficients.loc[name, column]), data="print")
        for item in (f"Table {n}" for n in range(1, 6))
        for name, texts in PRINTED[item].items()
        for column, text in zip(STUDY["coefficients"], texts, strict=True)
    ]


def compute_curves() -> pd.DataFrame:
    """Return the coefficients of matrices with ones on the diagonal and next to it, of 2 to `LARGEST` classes."""
    sizes = range(2, LARGEST + 1)
    rows = [sum(np.eye(k, k=side) for side in (-1, 0, 1)) for k in sizes]
    values = {name: [score(measure, m) for m in rows] for name, measure in COEFFICIENTS.items()}
    return pd.DataFrame(values, index=pd.Index(sizes, name="K"))


def find_limit(curve: pd.Series) -> float:
    """Return where a curve of Figure 5 goes: it is a + b/K + O(1/K²), so that 2 f(K) − f(K/2) is a up to O(1/K²)."""
    return float(2 * curve[LARGEST] - curve[LARGEST // 2])


def compare_limits(curves: pd.DataFrame) -> list[dict[str, object]]:
    """Return the limits that §4.1 states beside ours."""
    ((row, texts),) = PRINTED["§4.1"].items()
    return [
        cell("§4.1", row, name, text, find_limit(curves[name]), data="print")
        for name, text in zip(STUDY["coefficients"], texts, strict=True)
    ]


def check_expectations(curves: pd.DataFrame) -> pd.DataFrame:
    """Return met, equal or not met for every expectation and coefficient, and for OC with other γ."""
    measures = dict(COEFFICIENTS)
    for (name, share), gamma in itertools.product(SHARES.items(), GAMMAS[1:]):
        measures[f"OC {name}, γ = {gamma:g}"] = f"OCI(beta={share:g}, gamma={gamma:g})"
    columns = {}
    for name, measure in measures.items():
        sign = 1 if metaeval.measure(measure).higher_is_better else -1
        margins = {
            text: sign * (score(measure, MATRICES[better]) - score(measure, MATRICES[worse]))
            for text, (better, worse) in STUDY["expectations"].items()
        }
        words = {
            text: "equal" if abs(gap) <= CLOSE else "met" if gap > 0 else "not met" for text, gap in margins.items()
        }
        if name in curves:
            perfect = float(sign > 0)
            far = abs(find_limit(curves[name]) - perfect) >= 5e-4
            words["tridiagonal (§4.1: not perfect as K → ∞)"] = "met" if far else "not met"
        columns[name] = words
    return pd.DataFrame(columns).rename_axis("expectation")


def try_small_cases() -> pd.DataFrame:
    """Return in how many of all small cases OC breaks what §3.3 and Appendix A say of it."""
    tried, broken = (
        dict.fromkeys(("range", "identity", "symmetry"), 0),
        dict.fromkeys(("range", "identity", "symmetry"), 0),
    )
    for counts, share, gamma in itertools.product(list_matrices(), SHARES.values(), GAMMAS):
        values, turned = (OCI(one, beta=share, gamma=gamma) for one in (counts, counts.swapaxes(-1, -2)))
        diagonal = np.trace(counts, axis1=-2, axis2=-1) == counts.sum(axis=(-2, -1))
        exceptions = {
            "range": (values < -CLOSE) | (values > 1 + CLOSE),
            "identity": (np.abs(values) <= CLOSE) != diagonal,
            "symmetry": np.abs(values - turned) > CLOSE,
        }
        for name, found in exceptions.items():
            tried[name], broken[name] = tried[name] + found.size, broken[name] + int(found.sum())
    name = "triangular inequality, β = 1/(N + 1)"
    tried[name] = broken[name] = 0
    for (n_classes, n_items), gamma in itertools.product(TRIPLES, GAMMAS):
        distances = find_distances(n_classes, n_items, gamma)
        detours = distances[:, :, None] + distances[None]
        tried[name] += detours.size
        broken[name] += int((detours < distances[:, None] - CLOSE).sum())
    return pd.DataFrame({"tried": tried, "exceptions": broken}).rename_axis("property")


def list_matrices() -> list[np.ndarray]:
    """Return all small matrices, one array of shape (matrix, K, K) for each number of classes and items."""
    found = []
    for n_classes, most in SMALL:
        for n_items in range(1, most + 1):
            places = np.array(list(itertools.combinations_with_replacement(range(n_classes**2), n_items)))
            counts = np.stack([(places == place).sum(axis=1) for place in range(n_classes**2)], axis=1)
            found.append(counts.reshape(-1, n_classes, n_classes).astype(float))
    return found


def find_distances(n_classes: int, n_items: int, gamma: float) -> np.ndarray:
    """Return OC with absolute β = 1/(N + 1) between all vectors of labels, shape (vector, vector)."""
    vectors = np.array(list(itertools.product(range(n_classes), repeat=n_items)))
    places = vectors[:, None, :] * n_classes + vectors[None, :, :]
    counts = np.stack([(places == place).sum(axis=-1) for place in range(n_classes**2)], axis=-1).astype(float)
    shape = (*counts.shape[:2], n_classes, n_classes)
    return np.asarray(OCI(counts.reshape(shape), beta=1 / (n_items + 1), gamma=gamma, absolute=True))


def compare_table6(found: Mapping[str, Mapping[tuple[str, float], np.ndarray]]) -> list[dict[str, object]]:
    """Return Table 6 beside ours; splits are random, so that so many standard errors of the difference are allowed."""
    cells = []
    beta, theirs, wide = ALGORITHM["fitted_beta"], ALGORITHM["repetitions"], bound("same Monte Carlo")
    for name, row in PRINTED["Table 6"].items():
        for method, (printed, spread) in zip(METHODS, row, strict=True):
            mean = deviation = None
            data = f"skordinal {ALGORITHM['sets'][name]}" if name in ALGORITHM["sets"] else f"{name} is not public"
            errors = [0.0, 0.0]
            if name in found:
                values = found[name][method, beta]
                mean, deviation, n = float(values.mean()), float(values.std(ddof=1)), len(values)
                errors = [
                    math.hypot(deviation / math.sqrt(n), float(spread) / math.sqrt(theirs)),
                    math.hypot(deviation / math.sqrt(2 * (n - 1)), float(spread) / math.sqrt(2 * (theirs - 1))),
                ]
            for column, text, ours, error in (
                (method, printed, mean, errors[0]),
                (f"{method} sd", spread, deviation, errors[1]),
            ):
                cells.append(cell("Table 6", name, column, text, ours, data=data, monte_carlo=wide * error))
    return cells


def compare_methods(found: Mapping[str, Mapping[tuple[str, float], np.ndarray]]) -> pd.DataFrame:
    """Return differences in OCI between methods on the same splits: their variance is (1/J + n_test/n_train) s²."""
    share, rows = ALGORITHM["training_share"], []
    for beta, (name, values), (one, other) in itertools.product(
        ALGORITHM["betas"],
        found.items(),
        ((METHODS[0], METHODS[2]), (METHODS[1], METHODS[2]), (METHODS[0], METHODS[1])),
    ):
        gaps = values[one, beta] - values[other, beta]
        error = math.sqrt((1 / len(gaps) + (1 - share) / share) * gaps.var(ddof=1))
        mean, reach = float(gaps.mean()), float(student.ppf(0.975, len(gaps) - 1)) * error
        rows.append((f"{beta:g}", name, one, other, mean, error, mean - reach, mean + reach))
    head = ["β", "set", "method", "less", "difference", "standard error", "low", "high"]
    return pd.DataFrame(rows, columns=head).set_index("β")


def draw_figure5(kept: Folder) -> Figure:
    """Draw coefficients of tridiagonal matrices against the number of classes."""
    curves = kept.read("figure5").set_index("K")[list(STUDY["coefficients"])]
    looks = choose_looks(["kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu", "Accuracy"]).values()
    with house_style():
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        for column, look in zip(curves, looks, strict=True):
            # MAE is MER here: shown over it.
            own = {"linestyle": (0, (1, 3)), "linewidth": 3} if column == "MAE" else {}
            axes.plot(curves.index, curves[column], markevery=0.1, markersize=4, label=column, **{**look, **own})
        axes.set(xscale="log", xlabel="number of classes K", ylabel="coefficient", ylim=(-0.03, 1.03))
        figure.legend(loc="outside right upper")
        return sign_figure(figure, kept.tables["figure5"]["signature"])


PICTURES = {"figure5": draw_figure5}
