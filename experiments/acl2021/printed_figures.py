"""The figures that the paper prints, in the form on which rules are decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

from experiments.acl2021.audit import LQ2021, LQ2021_MEASURES, PRINTED, STUDY, read_triangle
from experiments.acl2021.figures import HALVES, SMALL, Figures, Split

PRINTED_CONSTANT = {"Sem16T4C": 1, "Sem17T4C": 5}
"""Constant runs, as §5.2 counts them."""

PRINTED_POWER = {"Sem16T4E": "Sem16T4E", "Sem17T4E": "Sem17T4E", **{f"DQ-{x}": f"DialEval-1 DQ-{x}" for x in "AES"}}
"""Where LQ 2021, Table 3, has the significant pairs of the same collections: Figures 2 and 3 give most as curves only."""


@cache
def read_print() -> dict[str, Figures]:
    """Return the figures that the paper prints, by collection."""
    return {name: _read_printed(name, kind) for name, kind in STUDY["collections"].items()}


def _read_printed(name: str, kind: str) -> Figures:
    order = STUDY[f"{kind}_order"]
    similarity, consistency = next(
        (PRINTED[one], PRINTED[two])
        for one, two in (("table2", "table3"), ("table5", "table6"), ("table8", "table9"))
        if name in PRINTED[one]
    )
    tau = pd.DataFrame(np.eye(len(order)), index=order, columns=order)
    for (one, two), value in read_triangle(similarity[name], order).items():
        tau.loc[one, two] = tau.loc[two, one] = value
    splits = {label: read_printed_split(consistency[name][part]) for label, part in ((HALVES, "full"), (SMALL, "ten"))}
    found = finds_more = None
    if name in PRINTED_POWER:
        found = pd.Series(dict(zip(LQ2021_MEASURES, LQ2021["table3"][PRINTED_POWER[name]]["S_D"], strict=True)))
        # Print has no intervals: the numbers alone decide, as in the rules on LQ 2021.
        fewer = found.to_numpy() < found.to_numpy()[:, None]
        finds_more = pd.DataFrame(fewer, index=found.index, columns=found.index)
    return Figures(
        name, tuple(order), tau, splits=splits, found=found, finds_more=finds_more,
        n_constant=PRINTED_CONSTANT.get(name, 0),
    )  # fmt: skip


def read_printed_split(part: Mapping[str, Sequence[float]]) -> Split:
    """Return the mean τ's and marks of one part of Tables 3, 6 and 9.

    A mark says which of the worst measures are significantly less consistent. As the test has one critical difference
    for all pairs, it says of the others that they are not.

    Parameters
    ----------
    part : mapping of str to (mean τ, k)
        And V_E2.

    Returns
    -------
    Split
    """
    means = pd.Series({name: row[0] for name, row in part.items() if name != "V_E2"})
    worst_first = list(means.index[::-1])
    ahead = pd.DataFrame(False, index=means.index, columns=means.index)
    for name in means.index:
        # A mark that counts more measures than stand below is a slip; a measure is not ahead of itself.
        below = worst_first[: min(int(part[name][1]), worst_first.index(name))]
        ahead.loc[name, below] = True
    return Split(means, float(part["V_E2"]), STUDY["n_trials"], ahead)  # type: ignore[arg-type]
