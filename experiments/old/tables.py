"""What tables of several papers share: marks in bold, signatures of several collections."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

import metaeval


def bold_larger(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark the larger number of each pair of columns ``(…, "uni")`` and ``(…, "pop")``, as LQ 2021, Table 7, does.

    Examples
    --------
    >>> frame = pd.DataFrame([[3, 5], [2, 2]], columns=pd.MultiIndex.from_product([["NMD"], ["uni", "pop"]]))
    >>> bold_larger(frame).to_numpy().tolist()
    [['', 'bold'], ['', '']]
    """
    words = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for name in dict.fromkeys(frame.columns.get_level_values(0)):
        uni, pop = frame[name, "uni"], frame[name, "pop"]
        words.loc[uni > pop, (name, "uni")] = "bold"
        words.loc[pop > uni, (name, "pop")] = "bold"
    return words


def sign_alike(first: metaeval.Signature | str, others: Sequence[str], between: str = ", ") -> str:
    """Return the signature of a table that was computed for several collections in the same way.

    Examples
    --------
    >>> sign_alike("power | a | seed 0", ["b", "c"]), sign_alike("power | a", [])
    ('power | a | seed 0; the same for b, c', 'power | a')
    """
    return f"{first}; the same for {between.join(others)}" if others else str(first)
