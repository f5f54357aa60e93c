"""Do the intervals of agreement hold what they claim? Topics of a collection are drawn anew, and the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.old.outcome import Settings
from metaeval.stats.streams import generator


def measure_coverage(scores: metaeval.Scores, study: Mapping[str, Any], settings: Settings) -> metaeval.Table:
    """Draw topics with replacement many times, and count how often an interval holds the mean of all draws."""
    rng = generator(settings.seed, scores.collection, "coverage of agreement")
    chosen = scores.sel(measures=[study["reference"], *study["metrics"]])
    values, low, high = [], [], []
    for number in range(study["studies"]):
        drawn = chosen.values[:, rng.integers(0, len(chosen.topics), study["topics"])]
        sample = metaeval.Scores(
            drawn, runs=chosen.runs, topics=range(study["topics"]), measures=chosen.measures, collection=str(number)
        )
        agreement = metaeval.agreement(
            sample, reference=study["reference"], n_permutations=study["trials"], n_bootstrap=study["trials"],
            seed=settings.seed,
        )  # fmt: skip
        values.append(agreement.values)
        low.append(agreement.low)
        high.append(agreement.high)
    truth = np.mean(values, axis=0)
    held_in = ((np.array(low) <= truth + 1e-12) & (truth - 1e-12 <= np.array(high))).mean(axis=0)
    frame = pd.DataFrame(
        {
            "population": scores.collection,
            "runs": len(chosen.runs),
            "topics": study["topics"],
            "studies": study["studies"],
            "nominal": agreement.confidence,
            "coverage": held_in.mean(axis=1),
            "least": held_in.min(axis=1),
            "most": held_in.max(axis=1),
        },
        index=pd.Index(agreement.statistics, name="statistic"),
    )
    caption = (
        f"Share of {study['studies']} studies of {study['topics']} topics, drawn from {scores.collection}, in which the "
        f"interval held the mean over all studies: over {len(study['metrics'])} metrics, the least, and the most."
    )
    settings_of = {"metrics": ", ".join(study["metrics"]), "trials": study["trials"], "seed": settings.seed}
    return metaeval.Table(
        frame, caption, metaeval.sign("agreement", scores.sel(measures=study["metrics"]), **settings_of)
    )
