"""What needs gold only: how much of it lies between classes, and whether measures prefer Popularity or Uniform."""

from __future__ import annotations

import numpy as np
import pandas as pd

import metaeval
from experiments.tables import bold_larger, sign_alike
from metaeval.datasets import baselines
from metaeval.measures.order_aware import gold_distance

POPULARITY, UNIFORM = "Popularity", "Uniform"


def make_baselines(runs: metaeval.QuantificationRuns) -> metaeval.QuantificationRuns:
    """Return the two baselines of LQ 2021, §5.2, made from the gold of a collection.

    Parameters
    ----------
    runs : QuantificationRuns
        Only its gold is used.

    Returns
    -------
    QuantificationRuns

    Examples
    --------
    >>> classes = ["no", "yes"]
    >>> runs = metaeval.QuantificationRuns([[[0.5, 0.5]]], [[0.2, 0.8]], runs=["a"], topics=["t"], classes=classes)
    >>> make_baselines(runs).estimated.tolist()
    [[[0.0, 1.0]], [[0.5, 0.5]]]
    """
    return metaeval.QuantificationRuns(
        np.stack([baselines.popularity(runs.gold), baselines.uniform(runs.gold)]),
        runs.gold,
        runs=[POPULARITY, UNIFORM],
        topics=runs.topics,
        classes=runs.classes,
        collection=runs.collection,
        provenance=runs.provenance,
    )


def tabulate_preferences(preferences: dict[str, metaeval.BaselinePreference]) -> metaeval.Table:
    """Show on how many topics each measure prefers Uniform, and on how many Popularity (LQ 2021, Table 7).

    Parameters
    ----------
    preferences : dict of str to BaselinePreference
        By collection.

    Returns
    -------
    Table
    """
    columns = {}
    for name, preference in preferences.items():
        frame = preference.to_frame()
        columns[name, "uni"], columns[name, "pop"] = frame[UNIFORM], frame[POPULARITY]
    shown = pd.DataFrame(columns)
    for side in ("uni", "pop"):
        shown["TOTAL", side] = sum(shown[name, side] for name in preferences)
    shown.index.name = "measure"
    first, *others = preferences.values()
    caption = (
        "Topics on which each measure prefers the Uniform baseline (uni) and the Popularity baseline (pop), both made "
        "from the gold; the larger number of the two in bold, ties counted for neither."
    )
    signature = sign_alike(first.signature, [one.signature.data[0] for one in others])
    return metaeval.Table(shown, caption, signature, marks=bold_larger)


def describe_gold(collections: dict[str, metaeval.QuantificationRuns]) -> pd.DataFrame:
    """Describe the gold of collections by what the new measures depend on.

    Parameters
    ----------
    collections : dict of str to QuantificationRuns

    Returns
    -------
    DataFrame
        A row a collection. Columns topics, classes; shares of topics in percent: ``empty`` (with a class
        without gold), ``merged`` (with two such classes side by side, between which the gold distance is 0),
        ``one class`` (with gold in one class only); and the mean gold distance between the lowest and the
        highest class, ``ends``.
    """
    rows = {}
    for name, runs in collections.items():
        empty = runs.gold <= 0
        rows[name] = {
            "topics": len(runs.topics),
            "classes": len(runs.classes),
            "empty": 100 * empty.any(axis=-1).mean(),
            "merged": 100 * (empty[:, 1:] & empty[:, :-1]).any(axis=-1).mean(),
            "one class": 100 * (np.sum(~empty, axis=-1) == 1).mean(),
            "ends": float(gold_distance(runs.gold)[:, 0, -1].mean()),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("collection")


def tabulate_gold(collections: dict[str, metaeval.QuantificationRuns]) -> metaeval.Table:
    """Show `describe_gold` with a caption.

    Parameters
    ----------
    collections : dict of str to QuantificationRuns

    Returns
    -------
    Table
    """
    frame = describe_gold(collections).astype({"topics": int, "classes": int})
    caption = (
        "The gold: percentage of topics with an empty gold class (elsewhere RNADW is RNOD), with two empty classes "
        "side by side (gold distance 0), with gold in one class only (the gold distance knows no order); and the mean "
        "gold distance between the lowest and the highest class."
    )
    data = "; ".join(f"{runs.collection} {len(runs.topics)} topics" for runs in collections.values())
    signature = f"new_measure, gold | {data} | metaeval {metaeval.__version__}"
    digits: dict[object, int] = {"empty": 1, "merged": 1, "one class": 1, "ends": 3}
    return metaeval.Table(frame, caption, signature, digits=digits)
