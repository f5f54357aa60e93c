"""Figure 3: gold, Popularity and Uniform on the topics where NMD speaks for Popularity most, next to RNOD."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style


def find_divergent_topics(preference: BaselinePreference, n: int) -> pd.DataFrame:
    """Return the topics with the smallest d = ΔNMD − ΔRNOD: topic, number (from 1, as in the collection), d, and every Δ."""
    deltas = pd.DataFrame(preference.deltas, columns=[str(measure) for measure in preference.measures])
    deltas.insert(0, "topic", preference.topics)
    deltas.insert(1, "number", np.arange(1, len(deltas) + 1))
    deltas.insert(2, "d", deltas["NMD"] - deltas["RNOD"])
    return deltas.sort_values("d", kind="stable")[:n]


def draw_divergent_topics(runs: metaeval.QuantificationRuns, popularity: str, uniform: str, *, n_topics: int) -> Figure:
    """Draw the topics with the smallest d = ΔNMD − ΔRNOD, Δ being Popularity's score minus Uniform's."""
    named = {"Popularity": popularity, "Uniform": uniform}
    preference = metaeval.baseline_preference(metaeval.score(runs, ["NMD", "RNOD"]), popularity, uniform)
    rows = find_divergent_topics(preference, n_topics).to_dict("records")
    chosen = [row["number"] - 1 for row in rows]
    return draw_topics(
        runs.gold[chosen],
        {name: runs.estimated[runs.runs.index(run)][chosen] for name, run in named.items()},
        list(runs.classes),
        [f"{runs.collection}, topic {row['topic']}, d = {row['d']:+.3f}" for row in rows],
        [{name: row[name] for name in ("NMD", "RNOD")} for row in rows],
        preference.signature,
    )


def draw_topics(
    gold: np.ndarray,
    estimated: dict[str, np.ndarray],
    classes: Sequence[str],
    titles: Sequence[str],
    deltas: Sequence[dict[str, float]],
    signature: metaeval.Signature | str,
) -> Figure:
    """Draw the gold and the estimated distributions of chosen topics, with score deltas (LQ21, Figure 3)."""
    hatches = ("", "///", "...")
    colours = ("#333333", "#D55E00", "#56B4E9")
    with house_style():
        figure = Figure(figsize=(4.6 * len(titles), 3.4), layout="constrained")
        shown = {"gold": gold, **estimated}
        width = 0.8 / len(shown)
        for t, axes in enumerate(figure.subplots(1, len(titles), squeeze=False)[0]):
            for position, (name, shares) in enumerate(shown.items()):
                offsets = np.arange(len(classes)) + (position - (len(shown) - 1) / 2) * width
                look = {"color": colours[position % 3], "hatch": hatches[position % 3], "edgecolor": "white"}
                axes.bar(offsets, shares[t], width, label=name, **look)
            axes.set_xticks(range(len(classes)), classes)
            axes.set(ylim=(0, 1.02), ylabel="probability", xlabel="class")
            text = ", ".join(f"Δ{name} = {value:+.3f}" for name, value in deltas[t].items())
            axes.set_title(f"{titles[t]}\n{text}", fontsize=8)
            axes.grid(axis="x", visible=False)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(shown))
        return sign_figure(figure, signature)
