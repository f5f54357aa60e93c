"""Figure 3: gold, Popularity and Uniform on the topics where NMD speaks for Popularity most, next to RNOD."""

from __future__ import annotations

from typing import TYPE_CHECKING

import metaeval
from experiments.sakai import run_called
from metaeval.report.figures import topic_distributions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(runs: metaeval.QuantificationRuns, popularity: str, uniform: str, n_topics: int) -> Figure | None:
    """Draw the topics with the smallest d = ΔNMD − ΔRNOD, Δ being Popularity's score minus Uniform's.

    Parameters
    ----------
    runs : QuantificationRuns
    popularity, uniform : str
        Parts of the names of both runs.
    n_topics : int

    Returns
    -------
    matplotlib.figure.Figure or None
        None where there are no such runs.
    """
    named = {"Popularity": run_called(runs.runs, popularity), "Uniform": run_called(runs.runs, uniform)}
    first, second = named["Popularity"], named["Uniform"]
    if first is None or second is None:
        return None
    preference = metaeval.baseline_preference(metaeval.score(runs, ["NMD", "RNOD"]), first, second)
    rows = preference.divergent_topics("NMD", "RNOD", n_topics).to_dict("records")
    chosen = [row["number"] - 1 for row in rows]
    return topic_distributions(
        runs.gold[chosen],
        {name: runs.estimated[runs.runs.index(run)][chosen] for name, run in named.items() if run is not None},
        list(runs.classes),
        [f"{runs.collection}, topic {row['topic']}, d = {row['d']:+.3f}" for row in rows],
        [{name: row[name] for name in ("NMD", "RNOD")} for row in rows],
        preference.signature,
    )
