"""Tables 1 to 5, and the tridiagonal matrices of Figure 5: coefficients of matrices that stand in print."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import read_toml

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")
SHOWN = {"R_s": "R_s", "tau_b": "τ_b", "r_int": "r_int", "OC beta1": "OC β₁", "OC beta2": "OC β₂"}
"""How columns are written, where it is not as in study.toml."""

CAPTIONS = {
    "table1": "Table 1. Coefficients of the classifiers of §2.",
    "table2": "Table 2. Coefficients of dispersed examples, first pair.",
    "table3": "Table 3. Coefficients of dispersed examples, second pair.",
    "table4": "Table 4. Coefficients of dispersed examples, third pair; CM5 as printed, and in another reading.",
    "table5": "Table 5. Coefficients of classifiers on the synthetic set: oSVM, oNN, Frank and Hall.",
}

METHODS = ("oSVM", "Frank and Hall", "Conventional")
"""The columns of Table 6."""


def sign(what: str) -> str:
    """Return the line that stands under a table or figure of this study which no data enter."""
    betas = "β₁ = 0.25 / (N (K − 1)), β₂ = 0.75 / (N (K − 1)), γ = 1"
    return f"cardoso2011 | {what} | {betas} | metaeval {metaeval.__version__}"


def compute_coefficients(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return the seven coefficients of one matrix or of many."""
    return {name: metaeval.measure(measure).score(counts) for name, measure in STUDY["coefficients"].items()}


def compute_tables() -> tuple[dict[str, metaeval.Table], list[Cell]]:
    """Return Tables 1 to 5 as they come out, and every printed value beside that of the printed matrix.

    A matrix in another reading has a row in the table, but is not in print, so that nothing printed is counted with it.
    """
    made, cells = {}, []
    for name, caption in CAPTIONS.items():
        rows = {}
        for row, printed in PRINTED[name].items():
            readings = {row: STUDY["matrices"][row]} | {
                label: other["counts"] for label, other in STUDY["other_readings"].items() if other["of"] == row
            }
            for label, counts in readings.items():
                rows[label] = {column: float(value) for column, value in compute_coefficients(counts).items()}
            cells += [
                compare_text(f"Table {name[-1]}", row, column, text, rows[row][column])
                for column, text in zip(rows[row], printed, strict=True)
            ]
        frame = pd.DataFrame.from_dict(rows, orient="index").rename(columns=SHOWN)
        frame.index.name = "matrix"
        made[name] = metaeval.Table(frame, caption, sign("matrices as printed"))
    return made, cells


def compare_text(item: str, row: str, column: str, text: str, value: float | None) -> Cell:
    """Compare a value with a number as it is printed, to its digits."""
    digits = len(text.partition(".")[2])
    return cell(item, row, column, float(text), value, data="print", digits=digits)


def make_tridiagonal(n_classes: int) -> np.ndarray:
    """Return the matrix of §4.1 with ones on the diagonal and next to it, shape (K, K)."""
    return sum(np.eye(n_classes, k=k) for k in (-1, 0, 1))  # type: ignore[return-value]


@cache
def compute_tridiagonal_curves(largest: int) -> pd.DataFrame:
    """Return the coefficients of the tridiagonal matrices of 2 to `largest` classes (Figure 5)."""
    sizes = range(2, largest + 1)
    rows = [{name: float(value) for name, value in compute_coefficients(make_tridiagonal(k)).items()} for k in sizes]
    return pd.DataFrame(rows, index=pd.Index(sizes, name="K"))


def extrapolate_limits(curves: pd.DataFrame) -> dict[str, float]:
    """Return where the curves go as K → ∞, extrapolated from the largest K and half of it.

    All of them approach their limit as a + b/K + O(1/K²), so that 2 f(K) − f(K/2) is a up to O(1/K²).
    """
    largest = int(curves.index[-1])
    return {str(name): float(2 * curve[largest] - curve[largest // 2]) for name, curve in curves.items()}
