"""Table 6 and §4.3: what Algorithm 1 gives on the real sets and on the synthetic one, and what can be concluded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

import metaeval
from experiments.old.bounds import BOUNDS
from experiments.cardoso2011.matrices import METHODS, PRINTED, SHOWN, STUDY, compute_coefficients
from experiments.old.comparison import Cell, cell
from metaeval.measures.ordinal_index import OCI

SETTINGS = STUDY["table6"]
PAIRS = ((METHODS[0], METHODS[2]), (METHODS[1], METHODS[2]), (METHODS[0], METHODS[1]))
"""Which methods are compared on real sets: the ordinal ones with the conventional one, and with each other."""

SYNTHETIC_PAIRS = (("oSVM", "Frank and Hall"), ("Frank and Hall", "oNN"))
SYNTHETIC_METHODS = {"oSVM": "CM10", "oNN": "CM11", "Frank and Hall": "CM12"}
"""Methods of §4.3, and which matrix of Table 5 the paper shows for each."""

Done = list[dict[str, Any]]


def counts_on_test(done: Done, method: str, beta: float) -> np.ndarray:
    """Return the confusion matrices of the test parts, shape (repetition, K, K), parameters chosen by OCI with β."""
    return np.array([next(one["counts"] for one in each[method] if one["beta"] == beta) for each in done], dtype=float)


def indices(done: Done, method: str, beta: float) -> np.ndarray:
    """Return OCI on the test part of every repetition, shape (repetition,), by the β that chose the parameters."""
    return OCI(counts_on_test(done, method, beta), beta=beta)


def tabulate_table6(found: Mapping[str, Done], beta: float, seed: int) -> metaeval.Table:
    """Return mean and standard deviation of OCI for every set and method, and the printed ones beside them."""
    columns = pd.MultiIndex.from_product([METHODS, ["mean", "sd", "printed", "sd printed"]])
    rows = {}
    for name, shown in SETTINGS["shown"].items():
        row: list[float] = []
        for m, method in enumerate(METHODS):
            values = indices(found[name], method, beta) if name in found else None
            row += [math.nan, math.nan] if values is None else [float(values.mean()), float(values.std(ddof=1))]
            row += [float(text) for text in PRINTED["table6"][name][m]] if name in PRINTED["table6"] else [math.nan] * 2
        rows[shown] = row
    frame = pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name="set"), columns=columns)
    caption = (
        f"Table 6. OCI on the test part, β = {beta:g} / (N (K − 1)): mean and standard deviation over "
        f"{_repetitions(found)} splits, beside the printed ones. BCCT is not public; ERA is not in the paper."
    )
    return metaeval.Table(frame, caption, sign(found, seed))


def compare_table6(found: Mapping[str, Done], beta: float) -> list[Cell]:
    """Compare Table 6 number by number; splits are random, and the paper's parameter grids are not known.

    The Monte Carlo tolerance is so many standard errors (experiments/bounds.toml) of the difference between two means,
    or two standard deviations, each over its own splits: both studies split the same finite set again and again.
    """
    cells = []
    wide, n_printed = BOUNDS["same Monte Carlo"].value, SETTINGS["repetitions"]
    for name, row in PRINTED["table6"].items():
        for m, method in enumerate(METHODS):
            printed, spread = (float(text) for text in row[m])
            mean = deviation = None
            errors = [0.0, 0.0]
            if name in found:
                values = indices(found[name], method, beta)
                mean, deviation, n = float(values.mean()), float(values.std(ddof=1)), len(values)
                errors = [
                    math.hypot(deviation / math.sqrt(n), spread / math.sqrt(n_printed)),
                    math.hypot(deviation / math.sqrt(2 * (n - 1)), spread / math.sqrt(2 * (n_printed - 1))),
                ]
            for column, shown, value, error in (
                (method, printed, mean, errors[0]),
                (f"{method} sd", spread, deviation, errors[1]),
            ):
                cells.append(
                    cell("Table 6", SETTINGS["shown"][name], column, shown, value, data=f"skordinal {name}", digits=2,
                         monte_carlo=wide * error)
                )  # fmt: skip
    return cells


def tabulate_betas(found: Mapping[str, Done], seed: int) -> metaeval.Table:
    """Say which β the printed means of Table 6 have: how far are they from those computed with either?"""
    betas = SETTINGS["betas"]
    cells = [(name, m) for name in PRINTED["table6"] if name in found for m in range(len(METHODS))]
    printed = np.array([float(PRINTED["table6"][name][m][0]) for name, m in cells])
    computed = np.array([[indices(found[name], METHODS[m], beta).mean() for name, m in cells] for beta in betas])
    gaps = computed - printed
    nearest = np.abs(gaps).argmin(axis=0)
    frame = pd.DataFrame(
        {
            "root mean square": np.sqrt((gaps**2).mean(axis=1)),
            "mean": gaps.mean(axis=1),
            "nearest for": [int((nearest == b).sum()) for b in range(len(betas))],
            "matches": [sum(one.verdict == "matches" for one in compare_table6(found, beta)) for beta in betas],
        },
        index=pd.Index([f"{beta:g}" for beta in betas], name="β"),
    )
    caption = (
        f"Which β has Table 6? Deviation of the means from the {len(cells)} printed ones that can be computed, how many of "
        f"them are nearer to this β than to the other, and how many of {2 * len(cells)} means and standard deviations match."
    )
    return metaeval.Table(frame, caption, sign(found, seed))


def describe_betas(frame: pd.DataFrame) -> str:
    """Say which β the printed means are nearer to, from `tabulate_betas`."""
    best = frame["root mean square"].idxmin()
    return (
        f"The printed means of Table 6 are nearer to β = {best} / (N (K − 1)) for {frame.loc[best, 'nearest for']} of "
        f"{frame['nearest for'].sum()} cells (root mean square deviation {frame['root mean square'].min():.3f}, against "
        f"{frame['root mean square'].max():.3f})."
    )


def compare_methods(
    found: Mapping[str, Done], pairs: Sequence[tuple[str, str]], betas: Sequence[float], seed: int
) -> metaeval.Table:
    """Return the difference in OCI between two methods on the same splits, with its interval.

    Training parts of different splits overlap, and differences are not independent: the interval of the t-test has the
    variance that Nadeau and Bengio (2003) correct for it, (1/J + n_test/n_train) s².
    """
    share = SETTINGS["training_share"]
    rows = []
    for beta in betas:
        for name, done in found.items():
            for one, two in pairs:
                difference = indices(done, one, beta) - indices(done, two, beta)
                error = math.sqrt((1 / len(done) + (1 - share) / share) * difference.var(ddof=1))
                mean, half = float(difference.mean()), float(student.ppf(0.975, len(done) - 1)) * error
                rows.append(
                    (f"{beta:g}", SETTINGS["shown"].get(name, name), one, two, mean, error, mean - half, mean + half)
                )
    head = ["β", "set", "method", "less", "difference", "standard error", "low", "high"]
    frame = pd.DataFrame(rows, columns=head).set_index(head[:4])
    caption = (
        "OCI of one method less that of another on the same splits, with the interval of 95 % of a t-test corrected for "
        "overlapping training parts."
    )
    return metaeval.Table(frame, caption, sign(found, seed))


def describe_methods(frame: pd.DataFrame) -> str:
    """Say how often an ordinal method is significantly better or worse than the conventional one, from `compare_methods`."""
    frame = frame.reset_index()
    frame = frame[frame["less"] == METHODS[2]]
    worse, better = frame[frame["low"] > 0], frame[frame["high"] < 0]
    named = ", ".join(f"{row.method} on {row.set} with β {row.β}" for row in worse.itertuples())
    return (
        f"Of {len(frame)} comparisons of an ordinal method with the conventional one, {len(better)} are significantly "
        f"better and {len(worse)} significantly worse{f' ({named})' if named else ''}; "
        f"{int((frame['difference'] > 0).sum())} means are worse."
    )


def tabulate_sizes(sizes: Mapping[str, tuple[int, int]]) -> metaeval.Table:
    """Return how many weights and thresholds the linear models of each method have."""
    rows = [
        (d, k, d + k - 1, (k - 1) * (d + 1), k * (k - 1) // 2 * (d + 1)) for d, k in sizes.values()
    ]  # fmt: skip
    index = pd.Index([SETTINGS["shown"][name] for name in sizes], name="set")
    frame = pd.DataFrame(rows, index=index, columns=["features", "classes", *METHODS])
    caption = (
        "Weights and thresholds of linear models: one direction, one for each border, one for each pair of classes."
    )
    return metaeval.Table(frame, caption, f"cardoso2011 | sets as in skordinal | metaeval {metaeval.__version__}")


def tabulate_synthetic(done: Done, seed: int) -> metaeval.Table:
    """Return the mean coefficients of the classifiers of §4.3 on the synthetic set.

    They are not counted beside Table 5, which prints coefficients of three matrices that are in print themselves.
    """
    beta = max(SETTINGS["betas"])
    rows = {
        method: {
            name: float(value.mean())
            for name, value in compute_coefficients(counts_on_test(done, method, beta)).items()
        }
        for method in SYNTHETIC_METHODS
    }
    frame = pd.DataFrame.from_dict(rows, orient="index").rename(columns=SHOWN)
    frame.index.name = "method"
    caption = (
        f"Classifiers on the synthetic set of §4.3: mean coefficients over {len(done)} splits of 400 points drawn here."
    )
    return metaeval.Table(frame, caption, sign({"synthetic": done}, seed))


def sign(found: Mapping[str, Done], seed: int) -> str:
    """Return the line that stands under a table of what Algorithm 1 gave."""
    grid = ", ".join(f"{cost:g}" for cost in SETTINGS["costs"])
    return (
        f"cardoso2011 | Algorithm 1 on {', '.join(found)} | {_repetitions(found)} splits, 40 % for training | "
        f"C of {grid} by OCI in 5 folds | seed {seed} | metaeval {metaeval.__version__}"
    )


def _repetitions(found: Mapping[str, Done]) -> int:
    return min(len(done) for done in found.values())
