"""What came of the conclusions of a paper, counted from its verdicts: on its own numbers, and on other real data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from experiments.outcome import VERDICTS
from experiments.page import SIMULATED
from experiments.verdicts import PRINT
from metaeval.datasets import datasets

Kind = Literal["own", "real", "simulated"]

KINDS: dict[Kind, str] = {
    "own": "on the paper's own numbers, formulas and examples",
    "real": "on other real data",
    "simulated": "on simulated data",
}
"""On what a conclusion can be tried."""

OWN = ("", "print", "properties", "examples", "map")
"""Sources that hold no data but a paper's own numbers, or all small cases of a formula."""

MADE = ("synthetic", "stand-in")
"""Sources whose data are simulated."""

WORDS = ("hold", "in part", "do not hold", "cannot tell")

SPEAKS = "the sentence speaks of these data"
"""The condition of a verdict that says whether the sentence is about the data; where it is not, it is not counted."""

BLOG = "CEM blog"
"""What the place of a sentence begins with that is not the paper's own."""


class Tried(NamedTuple):
    """One conclusion, and what came out where.

    Attributes
    ----------
    paper : str
        The folder of results.
    where, claim : str
    outcomes : DataFrame
        Columns kind, data and outcome.
    """

    paper: str
    where: str
    claim: str
    outcomes: pd.DataFrame

    def summarise(self, kind: Kind) -> str | None:
        """Return one of `WORDS` over all data of a kind on which it can be told; None where it was not tried on any."""
        tried = self.outcomes.loc[self.outcomes["kind"] == kind, "outcome"]
        if not len(tried):
            return None
        told = set(tried) - {"cannot tell"}
        if not told:
            return "cannot tell"
        if len(told) > 1:
            return "in part"
        return {"holds": "hold", "does not hold": "do not hold"}.get(told.pop(), "in part")


def list_conclusions(folder: Path) -> Iterator[Tried]:
    """Yield the conclusions of a paper with what came out.

    Where a source has a verdict on several collections together, it speaks for that source.

    Parameters
    ----------
    folder : Path
        Of the results.

    Yields
    ------
    Tried
    """
    frames = []
    for path in sorted(folder.rglob(f"{VERDICTS}.csv")):
        source = path.parent.name if path.parent != folder else ""
        frame = pd.read_csv(path, keep_default_na=False)
        frame = frame[~frame["conditions"].str.contains(f"{SPEAKS} no", regex=False)]
        frame["kind"] = [find_kind(source, data) for data in frame["data"]]
        frame["several"] = frame["data"].map(covers_several)
        together = frame.groupby(["where", "claim", "kind"])["several"].transform("any")
        frames.append(frame[~together | frame["several"]])
    if frames:
        for (where, claim), tried in pd.concat(frames).groupby(["where", "claim"], sort=False):
            yield Tried(folder.name, str(where), str(claim), tried[["kind", "data", "outcome"]])


def find_kind(source: str, data: str) -> Kind:
    """Return on what a verdict rests.

    Parameters
    ----------
    source : str
        Its folder.
    data : str
        As the verdict names it.

    Returns
    -------
    {"own", "real", "simulated"}

    Examples
    --------
    >>> find_kind("", "stc3-dq-a"), find_kind("", "print: DQ-A"), find_kind("synthetic", "synthetic, this reading")
    ('real', 'own', 'simulated')
    """
    if data in {one.name for one in datasets()}:
        return "real"
    if data.startswith(PRINT) or source in OWN:
        return "own"
    return "simulated" if source in MADE or data.startswith((SIMULATED, "the synthetic set")) else "real"


def covers_several(data: str) -> bool:
    """Tell whether a verdict is about several collections at once.

    Examples
    --------
    >>> covers_several("3 collections of stc3 together"), covers_several("stc3-dq-a")
    (True, False)
    """
    return " together" in data or data.startswith(("all ", "sets of ")) or ", " in data.removeprefix(f"{PRINT}: ")


def count_conclusions(folder: Path, *, blog: bool = False) -> dict[Kind, Counter[str]]:
    """Return how many conclusions of a paper came out how, by the kind of data.

    Parameters
    ----------
    folder : Path
        Of the results.
    blog : bool, optional
        Those of the blog on the paper in place of its own.

    Returns
    -------
    dict of str to Counter
        By word of `WORDS`, for the paper's own numbers and for other real data.
    """
    found: dict[Kind, Counter[str]] = {"own": Counter(), "real": Counter()}
    for one in list_conclusions(folder):
        if one.where.startswith(BLOG) == blog:
            for kind, counts in found.items():
                if word := one.summarise(kind):
                    counts[word] += 1
    return found


def explain_words() -> str:
    """Return what the counts of conclusions mean, in sentences."""
    return (
        "Conclusions are tried by rule. One is counted as *hold* or *do not hold* if that came out on all data of a kind on "
        "which it can be told, as *in part* otherwise, and as *cannot tell* if it can be told on none; where collections were "
        "judged together too, that speaks for them. What other data say is no judgement of a paper: its sentences are about "
        "its own."
    )
