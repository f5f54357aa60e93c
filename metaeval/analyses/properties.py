"""Which formal properties does a measure have? A search for counterexamples (Amigó et al. 2020, §4 and Table 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.prepare import check_options
from metaeval.analyses.result import Result
from metaeval.errors import MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.measures.properties import (
    CLASSES,
    RANDOM_SIZES,
    PropertyCheck,
    Search,
    check_properties,
    find_properties,
    format_arrays,
)
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.show.charts import HeatMap
from metaeval.show.signature import Signature, describe_measures
from metaeval.show.table import Table

ORDINAL, ORDINAL_MIXED = "ordinal", "ordinal with mixed gold"
INVARIANCE, MONOTONICITY, IMBALANCE = PROPERTIES = ("ordinal invariance", "ordinal monotonicity", "imbalance")
"""The three of Amigó et al. (2020), Table 2."""
CONSTANT, SYMMETRIC = "constant", "symmetric"

_CASES = {
    "classification": ("confusion matrices", "N ≤ 5, K ≤ 4 and N ≤ 3, K = 5", f"{len(RANDOM_SIZES)} sizes"),
    "quantification": ("distributions", f"K = {CLASSES[0]} to {CLASSES[-1]}", f"{len(CLASSES)} numbers of classes"),
}
"""What a signature says of each kind of measures: what is tried, which cases all are, and how random ones are drawn."""


@dataclass(frozen=True, eq=False)
class Properties(Result):
    """Which properties measures have, as far as a search can tell.

    `checks` are measure by measure, each with the properties of its kind.
    """

    measures: tuple[Measure, ...]
    checks: tuple[PropertyCheck, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that were tried, as columns are named; some may be of one kind of measures only."""
        present = {check.property.name for check in self.checks}
        return tuple(dict.fromkeys(each.name for each in find_properties() if each.name in present))

    def get_check(self, measure: str | Measure, name: str) -> PropertyCheck | None:
        """Return what was found for one measure and property; None if the property is of the other kind."""
        if str(measure) not in map(str, self.measures) or name not in self.names:
            raise MetaevalError(f"{name} of {measure} was not tried")
        found = (each for each in self.checks if (str(each.measure), each.property.name) == (str(measure), name))
        return next(found, None)

    def _arrange(self, say: Callable[[PropertyCheck | None], Any]) -> np.ndarray:
        """Return something of every check, shape (measure, property), columns as in `names`; None is of the other kind."""
        return np.array([[say(self.get_check(measure, name)) for name in self.names] for measure in self.measures])

    def holds(self) -> np.ndarray:
        """Return whether each measure has each property, shape (measure, property); False also where that is not known."""
        return self._arrange(lambda check: check is not None and bool(check.holds))

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return one row for every measure and property of its kind, with the runs of the smallest counterexample, if any."""
        columns = ["measure", "property", "holds", "cases", "failed", "first", "second", "score_1", "score_2"]
        rows = []
        for check in self.checks:
            runs = ("", "") if check.counterexample is None else map(format_arrays, check.counterexample)
            name = str(check.measure), check.property.name
            rows.append((*name, check.holds, check.cases, check.failed, *runs, *check.scores))
        return {"properties": pd.DataFrame(rows, columns=columns)}

    def answer(self) -> str:
        """Say which measure fails which properties."""
        failed: dict[str, list[str]] = {}
        for check in self.checks:
            failed.setdefault(str(check.measure), []).extend([check.property.name] * bool(check.failed))
        listed = [(name, format_list(names, 3)) for name, names in failed.items() if names]
        if len(self.measures) == 1:
            n, which = sum(map(bool, (check.failed for check in self.checks))), f": {listed[0][1]}" if listed else ""
            return f"{self.measures[0]} fails {n or 'none'} of {len(self.checks)} properties that were tried{which}."
        if not listed:
            return f"None of the {len(self.measures)} measures fails a property that was tried."
        failing = [f"{name} ({names})" for name, names in listed]
        who = f"{', '.join(failing[:2])} and {len(failing) - 2} more" if len(failing) > 2 else " and ".join(failing)
        return f"{len(failing)} of {len(self.measures)} measures fail a property: {who}."

    def tables(self) -> list[Table]:
        """Return one row per measure, one column per property (Amigó et al. 2020, Table 2), and the counterexamples."""
        index = pd.Index([str(measure) for measure in self.measures], name="measure")
        marks = self._arrange(lambda check: "–" if check is None else check.mark)
        caption = "Formal properties. ✓ (n): no counterexample in n cases, which is no proof; ✗ (k of n): it fails in k cases."
        dash = "–: a property of the other kind of measures, or only scores are known." if "–" in marks else ""
        told = dict.fromkeys(f"{each.property.name.capitalize()}: {each.property.description}" for each in self.checks)
        legend = " ".join([*told, dash]).strip()
        table = Table(pd.DataFrame(marks, index, list(self.names)), caption, self.signature, legend=legend)
        failed = [check for check in self.checks if check.counterexample is not None]
        if not failed:
            return [table]
        rows = self.to_frame().query("first != ''").set_index("measure")
        rows = rows.rename(columns={"first": "first run", "second": "second run"})
        rows[""] = [f"should {check.expected}" for check in failed]
        rows["scores"] = ["{:.4g} and {:.4g}".format(*check.scores) for check in failed]
        shown = rows[["property", "first run", "", "second run", "scores"]]
        short = f"{' '.join(told)} Counterexamples: " if len(told) < 4 else "What each means, with counterexamples: "
        found, legend = "Counterexamples, the smallest that were found.", "Confusion counts: one row per gold class."
        return [
            replace(table, caption=f"{caption} {short}--explain.", at=("short",)),
            replace(table, at=("paper", "all")),
            Table(shown, found, self.signature, legend=legend, at=("all",)),
        ]

    def charts(self) -> Sequence[HeatMap]:
        """Return in which share of the cases each measure has each property."""
        shares = self._arrange(lambda check: 1 - check.failed / check.cases if check and check.cases else np.nan)
        titles, label = [measure.title for measure in self.measures], "share of cases without a failure"
        return [
            HeatMap(shares, titles, self.names, label, lambda share: "✓" if share == 1 else "✗" if share >= 0 else "–")
        ]


def properties(
    measures: Iterable[MeasureLike] | MeasureLike,
    *,
    only: Iterable[str] | None = None,
    empty_classes: bool = False,
    n_random: int = 300,
    seed: int = 0,
) -> Properties:
    """Which formal properties does a measure have?

    Classification measures are tried on confusion matrices, quantification measures on distributions.
    Three of the properties are those of Amigó et al. (2020):

    - Ordinal invariance: stretching the scale by classes that nobody uses leaves the score as it is.
    - Ordinal monotonicity: predicting an item one class nearer to its gold class improves the score.
    - Imbalance: the same mistake costs more in a small gold class than in a large one.

    All small cases are tried, then random larger ones. ✓ means that none was a counterexample, which proves nothing
    beyond the cases tried; ✗ says in how many of them the measure fails, and comes with the smallest of these.

    Parameters
    ----------
    measures : names, Measures or functions
        As for `metaeval.measure`, of one kind or of both. Where a formula is 0/0, its documented value counts.
    only : iterable of str, optional
        Names of properties; by default all of the measures' kinds.
    empty_classes : bool, optional
        Try also cases in which a class has no gold items, which Amigó et al. (2020) leave out.
    n_random : int, optional
        Random cases of every size; 0 for none.
    seed : int, optional

    Examples
    --------
    >>> amigo = ("ordinal invariance", "ordinal monotonicity", "imbalance")
    >>> found = properties(["CEM_ORD", "MAE_mu", "Accuracy"], only=amigo, n_random=50)
    >>> found.holds().astype(int).tolist()
    [[1, 1, 1], [0, 1, 0], [1, 0, 0]]
    >>> properties(["NMD", "RNOD"], only=["ordinal", "ordinal with mixed gold"]).holds().tolist()
    [[True, True], [True, False]]
    """
    chosen = resolve_measures(measures)
    check_options(n_random=n_random, seed=seed)
    kinds = {measure.kind for measure in chosen if measure.formula is not None} or {"quantification"}
    tried = tuple(each for each in find_properties(only) if each.kind in kinds)
    if not tried:
        raise MetaevalError(f"none of these properties is one of {' and '.join(sorted(map(str, kinds)))} measures")
    checks = check_properties(chosen, tried, Search(empty_classes, n_random, seed))
    kinds = {each.kind for each in tried}
    data, exhaustive, random = zip(*(about for kind, about in _CASES.items() if kind in kinds), strict=True)
    settings = {
        **describe_measures(chosen), "exhaustive": "; ".join(exhaustive),
        "random": "; ".join(f"{n_random} of {sizes}" for sizes in random),
        "empty gold classes": "yes" if empty_classes else "no", "seed": str(seed),
    }  # fmt: skip
    signature = Signature("properties", data, tuple(settings.items()), metaeval.__version__)
    return Properties(chosen, checks, signature=signature)
