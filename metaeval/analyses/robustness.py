"""How alike are the rankings of runs from topic to topic, or collection to collection? (Amigó et al. 2020, §5.4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.checks import warn_of_same_data
from metaeval.analyses.diagnostics import choose_common_runs, choose_runs
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, PolicyWarning, format_list
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.blocks import round_scaled, scale_scores


@dataclass(frozen=True, eq=False, kw_only=True)
class Robustness(Result):
    """Spearman's correlation between the rankings of runs on every pair of topics, or of collections.

    Parameters
    ----------
    units : tuple of str
        The topics, or the collections.
    runs : tuple of str
        Those that are ranked; of several collections, the ones that all have.
    over : {"topics", "collections"}
    correlations : ndarray, shape (measure, pair)
        Of each pair of units; NaN where a unit ranks no run above another.
    """

    measures: tuple[Measure, ...]
    units: tuple[str, ...]
    runs: tuple[str, ...]
    over: str
    correlations: np.ndarray

    def __repr__(self) -> str:
        return f"Robustness: {len(self.measures)} measures over {len(self.units)} {self.over}"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return how well rankings agree, one row per measure, and what the figure and the mean sum up.

        Rows: mean (Spearman's ρ averaged over pairs of units), sd, pairs (that could be compared) and undefined (pairs left
        out because a unit gives all runs one score). Of the middle half of the correlations low, median and high (NaN without
        any), runs (how many are ranked) and units. Of collections, whose pairs are few, the correlation of every two.
        """
        rows, middle = [], []
        for measure, values in zip(map(str, self.measures), self.correlations, strict=True):
            known = values[~np.isnan(values)]
            mean, sd = (known.mean(), known.std()) if len(known) else (np.nan, np.nan)
            quartiles = np.quantile(known, [0.25, 0.5, 0.75]) if len(known) else [np.nan] * 3
            rows.append((measure, mean, sd, len(known), len(values) - len(known)))
            middle.append((measure, *quartiles, len(self.runs), len(self.units)))
        frames = {
            "robustness": pd.DataFrame(rows, columns=["measure", "mean", "sd", "pairs", "undefined"]),
            "middle": pd.DataFrame(middle, columns=["measure", "low", "median", "high", "runs", "units"]),
        }
        if self.over == "collections":
            names = np.array(self.units, dtype=object)[np.array(np.triu_indices(len(self.units), 1))]
            columns = zip(map(str, self.measures), self.correlations, strict=True)
            frames["collection_pairs"] = pd.DataFrame({"unit_1": names[0], "unit_2": names[1], **dict(columns)})
        return frames

    def answer(self) -> str:
        """Say with which measure rankings are most alike, and with which least."""
        means = self.to_frame()["mean"]
        if means.isna().all():
            return "No measure ranks runs on two of them."
        best, worst = int(means.argmax()), int(means.argmin())
        name, rho = self.measures[best], f"(mean ρ {means.iloc[best]:.2f})"
        unit = "topic to topic" if self.over == "topics" else "collection to collection"
        if len(means) == 1:
            return f"{name} ranks runs from {unit} {rho}."
        return (
            f"{name} ranks runs most alike from {unit} {rho}, {self.measures[worst]} least ({means.iloc[worst]:.2f})."
        )

    def tables(self) -> list[Table]:
        """Return how well rankings agree; on the first screen the measure whose rankings are most alike comes first."""
        frame = self.to_frame().set_index("measure")
        caption = f"Robustness: Spearman's ρ between rankings of runs on every two of {len(self.units)} {self.over}."
        short = frame[["mean", "sd"]].sort_values("mean", ascending=False, kind="stable")
        return [
            Table(short, caption, self.signature, at=("short",)),
            Table(frame, caption, self.signature, at=("paper", "all")),
        ]

    def charts(self) -> Sequence[Chart]:
        """Return the distribution of Spearman's ρ between topics, or collections, for every measure."""
        means = self.to_frame()["mean"].to_numpy()
        ends = self.frames()["middle"][["low", "high"]].to_numpy()
        rows = [
            Row(str(self.measures[m]), self.measures[m].title, means[m], hollow=True,
                bar=None if np.isnan(means[m]) else (ends[m, 0], ends[m, 1]))
            for m in np.argsort(np.nan_to_num(means, nan=-2.0), kind="stable")[::-1]
        ]  # fmt: skip
        return [IntervalChart(rows, f"Spearman's ρ between the rankings of two {self.over}: mean and middle half")]


def robustness(scores: Scores | Sequence[Scores], *, distinct_runs: bool = False) -> Robustness:
    """How alike are the rankings of runs from topic to topic, or from collection to collection?

    Parameters
    ----------
    scores : Scores or sequence of Scores
        One collection: its topics are compared. Several: their rankings by mean score over topics are
        compared, for the runs and measures that all of them have.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic, of all collections: the first in the order of
        labels.

    Returns
    -------
    Robustness

    Raises
    ------
    MetaevalError
        If fewer than three runs can be compared, or fewer than two topics or collections.

    Warns
    -----
    PolicyWarning
        Which runs are left out, since not every collection has them.
    MetaevalWarning
        If two collections have the same scores.

    Examples
    --------
    >>> values = np.add.outer([0.1, 0.2, 0.4], [0.0, 0.1])[..., None]
    >>> robustness(Scores(values, runs="a b c".split(), topics=["t", "u"], measures=["NMD"])).to_frame()
      measure  mean   sd  pairs  undefined
    0     NMD   1.0  0.0      1          0
    """
    if isinstance(scores, Scores):
        chosen, *diagnostics = choose_runs(scores, distinct_runs, runs=3)
        collections, parts = [scores], [chosen]
        over, units, values = "topics", chosen.topics, chosen.values
    else:
        collections, over = list(scores), "collections"
        parts, (*diagnostics,) = choose_common_runs(_take_shared(collections), distinct_runs, "pool")
        if len(parts[0].runs) < 3:
            raise MetaevalError(f"the collections share {len(parts[0].runs)} distinct runs; at least three are needed")
        units = tuple(scores.collection or f"collection {number}" for number, scores in enumerate(collections, start=1))
        warn_of_same_data(units, [part.values for part in parts])
        values = np.stack([part.values.mean(axis=1) for part in parts], axis=1)
    scaled = scale_scores(values)
    correlations = np.array([_spearman(scaled[..., m]) for m in range(scaled.shape[2])])
    return Robustness(
        measures=parts[0].measures, units=units, runs=parts[0].runs, over=over, correlations=correlations,
        signature=sign("robustness", collections, over=over, **diagnostics[0].settings), diagnostics=tuple(diagnostics),
    )  # fmt: skip


def _take_shared(collections: Sequence[Scores]) -> list[Scores]:
    """Return the scores of the runs and measures that all collections have."""
    if len(collections) < 2:
        raise MetaevalError("robustness over collections needs at least two of them")
    first = collections[0]
    runs = [run for run in first.runs if all(run in each.runs for each in collections)]
    names = [str(m) for m in first.measures if all(str(m) in map(str, each.measures) for each in collections)]
    if len(runs) < 3 or not names:
        raise MetaevalError(
            f"the collections share {len(runs)} runs ({format_list(runs)}) and {len(names)} measures; "
            "at least three runs and one measure are needed"
        )
    left_out = sorted({run for collection in collections for run in collection.runs} - set(runs))
    if left_out:
        warnings.warn(
            f"{len(runs)} runs that all collections have are compared; left out: {format_list(left_out)}",
            PolicyWarning,
            stacklevel=3,
        )
    return [collection.sel(runs=runs, measures=names) for collection in collections]


def _spearman(values: np.ndarray) -> np.ndarray:
    """Return Spearman's ρ between every two columns of run × unit scores, ties given average ranks."""
    from scipy.stats import rankdata  # half a second that other analyses need not wait for

    ranks = rankdata(round_scaled(values), axis=0)
    ranks -= ranks.mean(axis=0)
    length = np.sqrt((ranks**2).sum(axis=0))
    unit = np.divide(ranks, length, out=np.full(ranks.shape, np.nan), where=length > 0)
    return np.clip((unit.T @ unit)[np.triu_indices(values.shape[1], 1)], -1, 1)
