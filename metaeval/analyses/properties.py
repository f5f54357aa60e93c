"""Which formal properties does a measure have? A search for counterexamples (Amigó et al. 2020, §4 and Table 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.checks import check_count, check_seed
from metaeval.analyses.result import FormerResult
from metaeval.errors import MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.measures.properties import (
    CLASSES,
    RANDOM_SIZES,
    Property,
    PropertyCheck,
    Search,
    check_properties,
    find_properties,
    format_arrays,
)
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.show.signature import Signature, describe_measures
from metaeval.show.table import Table

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size

ORDINAL, ORDINAL_MIXED = "ordinal", "ordinal with mixed gold"
INVARIANCE, MONOTONICITY, IMBALANCE = PROPERTIES = ("ordinal invariance", "ordinal monotonicity", "imbalance")
"""The three of Amigó et al. (2020), Table 2."""
CONSTANT, SYMMETRIC = "constant", "symmetric"


@dataclass(frozen=True, eq=False)
class Properties(FormerResult):
    """Which properties measures have, as far as a search can tell.

    Parameters
    ----------
    measures : tuple of Measure
    checks : tuple of PropertyCheck
        Measure by measure, each with the properties of its kind.
    signature : Signature
    """

    measures: tuple[Measure, ...]
    checks: tuple[PropertyCheck, ...]
    signature: Signature

    def __repr__(self) -> str:
        return f"Properties: {len(self.measures)} measures, {sum(each.cases for each in self.checks):,} cases"

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that were tried, as columns are named; some may be of one kind of measures only."""
        known = dict.fromkeys(each.name for each in find_properties())
        present = {check.property.name for check in self.checks}
        return tuple(name for name in known if name in present)

    def get_check(self, measure: str | Measure, name: str) -> PropertyCheck | None:
        """Return what was found for one measure and property; None if the property is of the other kind.

        Parameters
        ----------
        measure : str or Measure
        name : str

        Returns
        -------
        PropertyCheck or None

        Raises
        ------
        MetaevalError
            If that measure or property was not tried.
        """
        if str(measure) not in map(str, self.measures) or name not in self.names:
            raise MetaevalError(f"{name} of {measure} was not tried")
        result = (check for check in self.checks if str(check.measure) == str(measure) and check.property.name == name)
        return next(result, None)

    def holds(self) -> np.ndarray:
        """Return whether each measure has each property, shape (measure, property).

        Columns as in `names`; False also where a property is of the other kind or only scores are known.
        """
        result = {(str(check.measure), check.property.name): bool(check.holds) for check in self.checks}
        return np.array([[result.get((str(measure), name), False) for name in self.names] for measure in self.measures])

    def to_frame(self) -> pd.DataFrame:
        """Return one row for every measure and property of its kind.

        Columns measure, property, holds (missing if only scores are known), cases, failed, first and second (the runs
        of the smallest counterexample: counts[gold][predicted] as nested lists, or an estimated and a gold
        distribution; empty without one), and the scores of both.
        """
        rows = [
            {
                "measure": str(check.measure),
                "property": check.property.name,
                "holds": check.holds,
                "cases": check.cases,
                "failed": check.failed,
                "first": "" if check.counterexample is None else format_arrays(check.counterexample[0]),
                "second": "" if check.counterexample is None else format_arrays(check.counterexample[1]),
                "score_1": check.scores[0],
                "score_2": check.scores[1],
            }
            for check in self.checks
        ]
        return pd.DataFrame(rows)

    def answer(self) -> str:
        """Say which measure fails which properties."""
        failed = {
            str(measure): [check.property.name for check in self.checks if check.measure == measure and check.failed]
            for measure in self.measures
        }
        failing = [f"{name} ({format_list(names, 3)})" for name, names in failed.items() if names]
        if len(self.measures) == 1:
            ((name, names),) = failed.items()
            return f"{name} fails {format_list(names, 3)}." if names else f"{name} fails none of the properties tried."
        if not failing:
            return f"None of the {len(self.measures)} measures fails a property that was tried."
        who = (
            " and ".join(failing[:2]) if len(failing) <= 2 else f"{', '.join(failing[:2])} and {len(failing) - 2} more"
        )
        return f"{len(failing)} of {len(self.measures)} measures fail a property: {who}."

    def to_table(self) -> Table:
        """Return one row per measure and one column per property, with the cases tried (Amigó et al. 2020, Table 2)."""
        marks = {(str(check.measure), check.property.name): check.mark for check in self.checks}
        names = [str(measure) for measure in self.measures]
        rows = [[marks.get((measure, name), "–") for name in self.names] for measure in names]
        frame = pd.DataFrame(rows, index=pd.Index(names, name="measure"), columns=list(self.names))
        caption = "Formal properties. ✓ (n): no counterexample in n cases, which is no proof; ✗ (k of n): it fails in k cases."
        dash = "–: a property of the other kind of measures, or only scores are known."
        return Table(frame, caption, self.signature, legend=dash if (frame == "–").to_numpy().any() else "")

    def short_tables(self) -> list[Table]:
        """Return the table alone: counterexamples are as wide as their counts."""
        table = self.to_table()
        more = " The smallest counterexamples: --explain." * any(check.failed for check in self.checks)
        return [replace(table, caption=f"{table.caption}{more}")]

    def detail_tables(self) -> list[Table]:
        """Return the smallest counterexample of every property that fails, one row each."""
        failed = [(each, each.counterexample) for each in self.checks if each.counterexample is not None]
        if not failed:
            return []
        rows = [
            (
                each.property.name, format_arrays(first), f"should {each.expected}", format_arrays(second),
                "{:.4g} and {:.4g}".format(*each.scores),
            )
            for each, (first, second) in failed
        ]  # fmt: skip
        index = pd.Index([str(each.measure) for each, _ in failed], name="measure")
        frame = pd.DataFrame(rows, index=index, columns=["property", "first run", "", "second run", "scores"])
        caption, legend = "Counterexamples, the smallest that were found.", "Confusion counts: one row per gold class."
        return [Table(frame, caption, self.signature, legend=legend)]

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw which measure has which property: a dot where no counterexample was found, else the share of failures."""
        from metaeval.show.canvas import open_canvas, typeset_ticks

        rows = {str(measure): row for row, measure in enumerate(self.measures)}
        columns = {name: column for column, name in enumerate(self.names)}
        across, down = max(5.6, 1.1 * len(columns) + 2.3), 0.27 * len(rows) + (2.8 if size == "column" else 1.5)
        with open_canvas(ax, size, self.signature if signature else None, width=across, height=down) as canvas:
            axes = canvas.panels[0]
            for each in self.checks:
                if each.holds is not None:
                    marker, colour = ("o", "#0064B0") if each.holds else ("x", "#BF4A00")
                    position = columns[each.property.name], rows[str(each.measure)]
                    axes.plot(*position, marker=marker, color=colour, markersize=6 if size is None else 4, linestyle="")
            upright = canvas.is_narrow and len(columns) > 3
            labels = list(columns) if upright else [name.replace(" ", "\n", 1) for name in columns]
            axes.set_xticks(range(len(columns)), labels, rotation=90 if upright else 0)
            typeset_ticks(axes, "y", [measure.title for measure in self.measures])
            axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
            gap = "\n" if canvas.is_narrow else "   "
            axes.set_xlabel(f"● no counterexample found{gap}× counterexample", fontsize=8)
            axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
            axes.spines["bottom"].set_visible(False)
        return canvas.figure


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
    `metaeval.measures.properties.PROPERTIES` describes every property in one sentence; three are those of Amigó et al.:

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
        Whether classes may be without gold items, except for invariance and symmetry, which they do not affect. The
        paper excludes that (Appendix A.2, C).
    n_random : int, optional
        Random cases of every size; 0 for none.
    seed : int, optional

    Returns
    -------
    Properties

    Raises
    ------
    MetaevalError
        If there is no such measure or property, or a measure cannot be computed.

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
    check_count("n_random", n_random, 0)
    check_seed(seed)
    asked = choose_properties(chosen, only)
    checks = check_properties(chosen, asked, Search(empty_classes, n_random, seed))
    return Properties(chosen, checks, _sign(chosen, asked, empty_classes, n_random, seed))


def choose_properties(measures: Iterable[Measure], only: Iterable[str] | None = None) -> tuple[Property, ...]:
    """Return the properties of the kinds of these measures."""
    kinds = {measure.kind for measure in measures if measure.formula is not None} or {"quantification"}
    result = tuple(each for each in find_properties(only) if each.kind in kinds)
    if not result:
        raise MetaevalError(f"none of these properties is one of {' and '.join(sorted(map(str, kinds)))} measures")
    return result


def _sign(
    measures: tuple[Measure, ...], asked: tuple[Property, ...], empty_classes: bool, n_random: int, seed: int
) -> Signature:
    kinds = {each.kind for each in asked}
    data, exhaustive, random = [], [], []
    if "classification" in kinds:
        data.append("confusion matrices")
        exhaustive.append("N ≤ 5, K ≤ 4 and N ≤ 3, K = 5")
        random.append(f"{n_random} of {len(RANDOM_SIZES)} sizes")
    if "quantification" in kinds:
        data.append("distributions")
        exhaustive.append(f"K = {CLASSES[0]} to {CLASSES[-1]}")
        random.append(f"{n_random} of {len(CLASSES)} numbers of classes")
    settings = {
        **describe_measures(measures),
        "exhaustive": "; ".join(exhaustive),
        "random": "; ".join(random),
        "empty gold classes": "yes" if empty_classes else "no",
        "seed": str(seed),
    }
    return Signature("properties", tuple(data), tuple(settings.items()), metaeval.__version__)
