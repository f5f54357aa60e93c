"""How alike are the rankings of runs from topic to topic, or collection to collection? (Amigó et al. 2020, §5.4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.checks import warn_of_same_data
from metaeval.analyses.diagnostics import Diagnostics, choose_common_runs, choose_runs
from metaeval.analyses.result import FormerResult
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, PolicyWarning, format_list
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.blocks import round_scaled, scale_scores


@dataclass(frozen=True, eq=False)
class Robustness(FormerResult):
    """Spearman's correlation between the rankings of runs on every pair of topics, or of collections.

    Parameters
    ----------
    units : tuple of str
        The topics, or the collections.
    runs : tuple of str
        Those that are ranked; of several collections, the ones that all have.
    over : {"topics", "collections"}
    correlations : tuple of ndarray
        For every measure the correlation of each pair of units, NaN where a unit ranks no run above another.
    """

    measures: tuple[Measure, ...]
    units: tuple[str, ...]
    runs: tuple[str, ...]
    over: str
    correlations: tuple[np.ndarray, ...]
    signature: Signature

    def __repr__(self) -> str:
        return f"Robustness: {len(self.measures)} measures over {len(self.units)} {self.over}"

    def to_frame(self) -> pd.DataFrame:
        """Return how well rankings agree, one row per measure.

        Columns measure, mean (Spearman's ρ averaged over pairs of units), sd, pairs (that could be compared) and
        undefined (pairs left out because a unit gives all runs one score).
        """
        rows = []
        for measure, values in zip(self.measures, self.correlations, strict=True):
            known = values[~np.isnan(values)]
            mean, sd = (known.mean(), known.std()) if len(known) else (np.nan, np.nan)
            rows.append((str(measure), mean, sd, len(known), len(values) - len(known)))
        return pd.DataFrame(rows, columns=["measure", "mean", "sd", "pairs", "undefined"])

    def answer(self) -> str:
        """Say with which measure rankings are most alike, and with which least."""
        means = self.to_frame()["mean"]
        if means.isna().all():
            return "No measure ranks runs on two of them."
        best, worst = int(means.argmax()), int(means.argmin())
        unit = "topic to topic" if self.over == "topics" else "collection to collection"
        found = f"{self.measures[best]} ranks runs most alike from {unit} (mean ρ {means.iloc[best]:.2f})"
        if len(means) == 1:
            return f"{found.replace(' most alike', '')}."
        return f"{found}, {self.measures[worst]} least ({means.iloc[worst]:.2f})."

    def middle(self) -> pd.DataFrame:
        """Return between which values the middle half of the correlations lies, as the figure draws it.

        Columns measure, low, median, high (quartiles; NaN without any correlation), runs (how many are ranked) and
        units (how many topics or collections).
        """
        known = [values[~np.isnan(values)] for values in self.correlations]
        quartiles = [np.quantile(each, [0.25, 0.5, 0.75]) if len(each) else [np.nan] * 3 for each in known]
        frame = pd.DataFrame(np.array(quartiles).reshape(-1, 3), columns=["low", "median", "high"])
        frame.insert(0, "measure", [str(measure) for measure in self.measures])
        return frame.assign(runs=len(self.runs), units=len(self.units))

    def unit_pairs(self) -> pd.DataFrame:
        """Return the correlation of every two topics, or collections.

        Columns unit_1, unit_2, and one for each measure.
        """
        first, second = np.triu_indices(len(self.units), 1)
        names = np.array(self.units, dtype=object)
        columns = {str(measure): values for measure, values in zip(self.measures, self.correlations, strict=True)}
        labels = pd.DataFrame({"unit_1": names[first], "unit_2": names[second]})
        return pd.concat([labels, pd.DataFrame(columns)], axis=1)

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the middle half of the correlations; of collections, whose pairs are few, all of them."""
        pairs = {"collection_pairs": self.unit_pairs()} if self.over == "collections" else {}
        return {"middle": self.middle(), **pairs}

    def to_table(self) -> Table:
        """Return how well rankings agree between topics, or collections."""
        units = f"{len(self.units)} {self.over}"
        caption = f"Robustness: Spearman's ρ between rankings of runs on every two of {units}."
        return Table(self.to_frame().set_index("measure"), caption, self.signature)

    def short_tables(self) -> list[Table]:
        """Return the table with the measure whose rankings are most alike first."""
        table = self.to_table()
        return [replace(table, frame=table.frame[["mean", "sd"]].sort_values("mean", ascending=False, kind="stable"))]

    def charts(self) -> Sequence[Chart]:
        """Return the distribution of Spearman's ρ between topics, or collections, for every measure."""
        rows = []
        means = self.to_frame()["mean"].to_numpy()
        ends = self.middle()[["low", "high"]].to_numpy()
        for m in np.argsort(np.nan_to_num(means, nan=-2.0), kind="stable")[::-1]:
            bar = None if np.isnan(means[m]) else (ends[m, 0], ends[m, 1])
            rows.append(Row(str(self.measures[m]), self.measures[m].title, means[m], bar=bar, hollow=True))
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
        scores, result = choose_runs(scores, distinct_runs, runs=3)
        diagnostics: tuple[Diagnostics, ...] = (result,)
        over, units, values, measures = "topics", scores.topics, scores.values, scores.measures
        collections, runs = [scores], scores.runs
    else:
        collections = list(scores)
        over = "collections"
        parts, diagnostics = choose_common_runs(_take_shared(collections), distinct_runs, "pool")
        if len(parts[0].runs) < 3:
            raise MetaevalError(f"the collections share {len(parts[0].runs)} distinct runs; at least three are needed")
        units = tuple(
            collection.collection or f"collection {number}" for number, collection in enumerate(collections, start=1)
        )
        warn_of_same_data(units, [part.values for part in parts])
        values, measures = np.stack([part.values.mean(axis=1) for part in parts], axis=1), parts[0].measures
        runs = parts[0].runs
    scaled = scale_scores(values)
    correlations = tuple(_spearman(scaled[..., m]) for m in range(len(measures)))
    signature = sign("robustness", collections, over=over, **diagnostics[0].settings)
    return Robustness(measures, units, runs, over, correlations, signature, diagnostics=diagnostics)


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
