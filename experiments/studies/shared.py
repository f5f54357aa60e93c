"""What studies share: loading collections, intervals of means, what has to be known of a source of data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.bounds import BOUNDS
from experiments.check import adopt_committed
from experiments.classifiers import is_kept
from experiments.outcome import Outcome, Settings
from experiments.sources import SOURCES_ARE, load_runs_or_scores
from experiments.studies.calibration import RESULTS
from metaeval.errors import MetaevalError, MetaevalWarning

FEWEST_RUNS = int(BOUNDS["fewest runs"].value)
"""With fewer runs than this, rankings and significant pairs of runs say too little."""

CAVEATS = {
    "skordinal": "classifiers trained here; topics are random groups of items, and numbers depend on the processor as those "
    "of [ordinal_sets](../ordinal_sets/README.md) do.",
    "semeval2017-runs": SOURCES_ARE["semeval2017-runs"],
    "stand-in": SOURCES_ARE["stand-in"],
}
"""What has to be known of a source, whatever is asked of it."""


def load_collections(names: Iterable[str], settings: Settings, lacks: list[str]) -> dict[str, Any]:
    """Return the collections that can be loaded; `lacks` takes the others. Classifiers not yet trained need ``full``."""
    collections = {}
    for name in names:
        if name.startswith("ordinal-") and not settings.full and (settings.quick or not is_kept(name)):
            lacks.append(f"{name} (its classifiers are trained with --full)")
            continue
        settings.say(f"loading {name}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MetaevalWarning)  # what loading does with odd labels is said elsewhere
                collections[name] = load_runs_or_scores(name, settings)
        except MetaevalError as error:
            lacks.append(f"{name} ({error})")
    return collections


def take_committed(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return outcomes with the committed numbers where these are as near as they must be: claims are tried on those."""
    return [adopt_committed(outcome, RESULTS) for outcome in outcomes]


def find_interval(values: np.ndarray, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the mean of independent values, and the ends of its Student's t interval.

    Examples
    --------
    >>> [round(value, 2) for value in find_interval(np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.48, 4.48]
    """
    from scipy.stats import t

    mean = float(values.mean())
    reach = float(t.ppf((1 + confidence) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - reach, mean + reach


def describe_sources(sources: Mapping[str, Sequence[str]], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the names that the pages share: the sources that were computed, their caveats and data sets."""
    computed = [outcome.source for outcome in outcomes if not outcome.is_empty and outcome.source in sources]
    return {
        "sources": computed,
        "caveats": [f"{source}: {CAVEATS[source]}" for source in computed if source in CAVEATS],
        "names": [name for source in computed for name in sources[source]],
    }
