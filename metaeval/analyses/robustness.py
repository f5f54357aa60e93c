"""How alike are the rankings of runs from topic to topic, or collection to collection? (Amigó et al. 2020, §5.4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import check_options, check_scores, list_collections, prepare, warn_of_same_data
from metaeval.analyses.result import MeasureRows, join_names, write_range
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, PolicyWarning, format_list
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.arrays import scale_scores
from metaeval.stats.irregular_runs import find_identical_runs
from metaeval.stats.rank_correlation import spearman_matrix


@dataclass(frozen=True, eq=False, kw_only=True)
class Robustness(MeasureRows):
    """Spearman's correlation between the rankings of runs on every pair of topics, or of collections.

    Its rows (`to_frame`) have columns measure; mean, Spearman's ρ averaged over pairs of units, and sd; q1, median and q3, the
    quartiles; pairs (that could be compared) and undefined (pairs left out because a unit gives all runs one score). `units`
    are the topics or collections, and `runs` those that are ranked; of several collections, the ones that all have.
    """

    units: tuple[str, ...]
    runs: tuple[str, ...]
    over: str

    label: ClassVar[str] = "Spearman's ρ between the rankings on two of them: mean and middle half"

    def answer(self) -> str:
        """Say with which measures rankings are most alike, as far as digits tell, and between which ends the others are."""
        means = self.rows.set_index("measure")["mean"].dropna()
        if means.empty:
            return "No measure ranks runs on two of them."
        is_best, unit = means.map("{:.2f}".format) == f"{means.max():.2f}", self.over.removesuffix("s")
        best, others = means[is_best], means[~is_best]
        ranks = f"{join_names([*best.index])} {'ranks' if len(best) == 1 else 'rank'} runs"
        how, values = f"from {unit} to {unit}", f"mean ρ {means.max():.2f}"
        if others.empty:
            return f"{ranks} {'equally alike ' * (len(best) > 1)}{how} ({values})."
        if len(means) == 2:
            return f"{ranks} more alike {how} than {others.index[0]} ({values} and {others.iloc[0]:.2f})."
        rest = "the other" if len(others) == 1 else "the others"
        return f"{ranks} most alike {how} ({values}; {rest} {write_range(others.to_numpy())})."

    def tables(self) -> list[Table]:
        """Return how well rankings agree; on the first screen the measure whose rankings are most alike comes first."""
        frame = self.rows.set_index("measure")[["mean", "sd", "pairs", "undefined"]]
        caption = f"Robustness: Spearman's ρ between rankings of runs on every two of {len(self.units)} {self.over}, untested."
        legend = f"Undefined: pairs that are left out, since on one of both {self.over} all runs have the same score."
        whole = Table(frame, caption, self.signature, legend=legend, at=("paper",))
        by_mean = frame.sort_values("mean", ascending=False, kind="stable")
        short = by_mean if frame["undefined"].any() else by_mean[["mean", "sd"]]
        return [replace(whole, frame=short, at=("short",)), whole, replace(whole, frame=by_mean, at=("all",))]


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

    Warns
    -----
    PolicyWarning
        Which runs are left out, since not every collection has them.
    MetaevalWarning
        If two collections have the same scores.

    Examples
    --------
    >>> values = np.add.outer([0.1, 0.2, 0.4], [0.0, 0.1])[..., None]
    >>> scores = Scores(values, runs="a b c".split(), topics=["t", "u"], measures=["NMD"])
    >>> robustness(scores).to_frame()[["measure", "mean", "sd", "pairs", "undefined"]]
      measure  mean   sd  pairs  undefined
    0     NMD   1.0  0.0      1          0
    """
    if isinstance(scores, Scores):
        parts = [prepare(scores, "robustness", distinct_runs=distinct_runs, runs=3)]
        given, over, units, values = [scores], "topics", parts[0].scores.topics, parts[0].values
    else:
        check_options(distinct_runs=distinct_runs)
        given, over = list_collections(scores), "collections"
        shared = _take_shared(given)
        same = find_identical_runs(shared[0].runs, *(each.values for each in shared)) if distinct_runs else False
        parts = [prepare(each, "robustness", distinct_runs=same, runs=3, topics=1, clusters="pool") for each in shared]
        units = tuple(each.collection or f"collection {number}" for number, each in enumerate(given, start=1))
        warn_of_same_data(units, [part.values for part in parts])
        values = np.stack([part.values.mean(axis=1) for part in parts], axis=1)
    chosen, used = parts[0].scores, [part.scores for part in parts] if distinct_runs else given
    scaled, rows = parts[0].restore(scale_scores(values), "measure"), []
    for m, measure in enumerate(chosen.measures):
        rhos = spearman_matrix(scaled[..., m])
        known = rhos[~np.isnan(rhos)]
        about = (known.mean(), known.std(), *np.quantile(known, [0.25, 0.5, 0.75])) if len(known) else [np.nan] * 5
        rows.append((str(measure), *about, len(known), len(rhos) - len(known)))
    return Robustness(
        measures=chosen.measures, units=units, runs=chosen.runs, over=over,
        rows=pd.DataFrame(rows, columns=["measure", "mean", "sd", "q1", "median", "q3", "pairs", "undefined"]),
        signature=sign("robustness", used, over=over, **parts[0].diagnostics.settings),
        diagnostics=tuple(part.diagnostics for part in parts),
    )  # fmt: skip


def _take_shared(collections: Sequence[Scores]) -> list[Scores]:
    """Return the scores of the runs and measures that all collections have."""
    if len(collections) < 2:
        raise MetaevalError("robustness over collections needs at least two of them")
    for each in collections:
        check_scores(each, runs=1, topics=1)
    runs = [run for run in collections[0].runs if all(run in each.runs for each in collections)]
    measures = [list(map(str, each.measures)) for each in collections]
    names = [name for name in measures[0] if all(name in each for each in measures)]
    if len(runs) < 3 or not names:
        raise MetaevalError(
            f"the collections share {len(runs)} runs ({format_list(runs)}) and {len(names)} measures; "
            "at least three runs and one measure are needed"
        )
    left_out = sorted({run for each in collections for run in each.runs} - set(runs))
    if left_out:
        what = f"{len(runs)} runs that all collections have are compared; left out: {format_list(left_out)}"
        warnings.warn(what, PolicyWarning, stacklevel=3)
    return [each.sel(runs=runs, measures=names) for each in collections]
