"""What data a paper's reproduction reads, where they are published, and under which licence."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.old.outcome import SIMULATED
from metaeval.datasets import dataset


def show_data(names: Iterable[str]) -> str:
    """Return the data sets that were read, with licence and citation, as a table in Markdown.

    Examples
    --------
    >>> print(show_data(["llmjudge"]).splitlines()[-1])
    Only result tables and figures computed from these data are kept here: no item, text or label of them.
    """
    lines = ["| data set | content | licence stated | published | to cite |", "| :-- | :-- | :-- | :-- | :-- |"]
    chosen = list(dict.fromkeys(names))
    for name in (entry for entry in chosen if not entry.startswith(SIMULATED)):
        data = dataset(name)
        licences = ", ".join(dict.fromkeys(entry.licence for entry in data.files)) or "none stated"
        origins = ", ".join(dict.fromkeys(entry.origin for entry in data.files)) or data.where
        lines.append(f"| {name} | {data.title}: {data.rows} | {licences} | {origins} | {data.citation} |")
    simulated = [entry for entry in chosen if entry.startswith(SIMULATED)]
    if simulated:
        text = f"{len(simulated)} simulated collections are made by experiments/simulate/campaigns.py from the seed."
        lines += ["", text]
    lines += [
        "",
        "Only result tables and figures computed from these data are kept here: no item, text or label of them.",
    ]
    return "\n".join(lines)
