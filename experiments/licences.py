"""What data a paper's reproduction reads, where they are published, and under which licence."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.page import SIMULATED
from metaeval.datasets import dataset


def show_data(names: Iterable[str]) -> str:
    """Return the data sets that were read, with licence and citation, as a table in Markdown.

    Parameters
    ----------
    names : iterable of str
        Of the registry; those of simulated collections begin with ``simulated: ``.

    Returns
    -------
    str

    Examples
    --------
    >>> print(show_data(["llmjudge"]).splitlines()[-1])
    Only result tables and figures computed from these data are kept here: no item, text or label of them.
    """
    lines = ["| data set | content | licence stated | published | to cite |", "| :-- | :-- | :-- | :-- | :-- |"]
    chosen = list(dict.fromkeys(names))
    for name in (one for one in chosen if not one.startswith(SIMULATED)):
        found = dataset(name)
        licences = ", ".join(dict.fromkeys(one.licence for one in found.files)) or "none stated"
        origins = ", ".join(dict.fromkeys(one.origin for one in found.files)) or found.where
        lines.append(f"| {name} | {found.title}: {found.rows} | {licences} | {origins} | {found.citation} |")
    simulated = [one for one in chosen if one.startswith(SIMULATED)]
    if simulated:
        text = f"{len(simulated)} simulated collections are made by experiments/simulate/campaigns.py from the seed."
        lines += ["", text]
    lines += [
        "",
        "Only result tables and figures computed from these data are kept here: no item, text or label of them.",
    ]
    return "\n".join(lines)
