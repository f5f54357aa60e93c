"""Which formal properties does a measure have? A search for counterexamples (Amigó et al. 2020, §4 and Table 2)."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import metaeval
from metaeval.analyses.checks import at_least
from metaeval.analyses.result import Result
from metaeval.errors import MeasureError
from metaeval.measures.base import Measure
from metaeval.measures.registry import resolve
from metaeval.show.signature import Signature
from metaeval.show.table import Table
from metaeval.stats.ordinal_cases import (
    all_counts,
    all_matrices,
    misplaced_in_the_middle,
    no_empty_gold,
    one_step_closer,
    random_matrices,
    stretched,
)
from metaeval.stats.streams import generator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INVARIANCE, MONOTONICITY, IMBALANCE = PROPERTIES = ("ordinal invariance", "ordinal monotonicity", "imbalance")

SMALL = tuple((n, k) for n in range(1, 6) for k in (2, 3, 4)) + tuple((n, 5) for n in range(1, 4))
"""Items and classes for which every confusion matrix is tried, small ones first."""

GOLD_ITEMS = 12
"""Imbalance compares runs that are right but for one item: every gold of up to so many items in 3 or 4 classes."""

RANDOM_SIZES = tuple((n, k) for n in (8, 20, 60) for k in (3, 4, 5, 7))

_TOLERANCE = 1e-9  # scores no farther apart are equal


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the search found for one measure and one property.

    Parameters
    ----------
    measure : Measure
    property : str
    cases : int
        Pairs of matrices compared; where a counterexample was found, up to and including its batch.
    counterexample : tuple of ndarray of int, shape (K, K), or None
        Before and after stretching; farther and nearer; mistake in the large and in the small class.
    scores : tuple of float
        Of both matrices.
    """

    measure: Measure
    property: str
    cases: int
    counterexample: tuple[np.ndarray, np.ndarray] | None = None
    scores: tuple[float, float] = (float("nan"), float("nan"))

    @builtins.property  # the plain name is a field of this class
    def holds(self) -> bool:
        """Whether no counterexample was found."""
        return self.counterexample is None

    def __str__(self) -> str:
        if self.counterexample is None:
            return f"✓ {self.cases:,} cases"
        wanted = {INVARIANCE: "=", MONOTONICITY: "worse than", IMBALANCE: "better than"}[self.property]
        first, second = (_printed(one) for one in self.counterexample)
        return f"✗ {first} should be {wanted} {second}: {self.scores[0]:.4g} and {self.scores[1]:.4g}"


@dataclass(frozen=True, eq=False)
class Properties(Result):
    """Which properties measures have, as far as a search can tell.

    Parameters
    ----------
    measures : tuple of Measure
    verdicts : tuple of Verdict
        Measure by measure, the properties in the order of the paper.
    signature : Signature
    """

    measures: tuple[Measure, ...]
    verdicts: tuple[Verdict, ...]
    signature: Signature

    def __repr__(self) -> str:
        return f"Properties: {len(self.measures)} measures, {sum(one.cases for one in self.verdicts):,} cases"

    def holds(self) -> np.ndarray:
        """Return whether each measure has each property, shape (measure, property)."""
        return np.array([one.holds for one in self.verdicts]).reshape(len(self.measures), len(PROPERTIES))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a measure and property.

        Returns
        -------
        DataFrame
            Columns measure, property, holds, cases, first and second (the counterexample as nested lists of
            counts[gold][predicted], empty without one), and the scores of both.
        """
        rows = [
            {
                "measure": str(one.measure),
                "property": one.property,
                "holds": one.holds,
                "cases": one.cases,
                "first": "" if one.counterexample is None else _printed(one.counterexample[0]),
                "second": "" if one.counterexample is None else _printed(one.counterexample[1]),
                "score_1": one.scores[0],
                "score_2": one.scores[1],
            }
            for one in self.verdicts
        ]
        return pd.DataFrame(rows)

    def to_table(self) -> Table:
        """Return which properties were not refuted, with the cases tried (Amigó et al. 2020, Table 2)."""
        cells = [f"✓ ({one.cases:,})" if one.holds else "✗" for one in self.verdicts]
        rows = [cells[start : start + len(PROPERTIES)] for start in range(0, len(cells), len(PROPERTIES))]
        names = pd.Index([str(one) for one in self.measures], name="measure")
        frame = pd.DataFrame(rows, index=names, columns=list(PROPERTIES))
        caption = "Formal properties. ✓: no counterexample in so many cases, which is no proof; ✗: there is one."
        return Table(frame, caption, self.signature)

    def detail_tables(self) -> list[Table]:
        """Return the counterexamples, if there are any."""
        found = [one for one in self.verdicts if not one.holds]
        frame = pd.DataFrame(
            {"property": [one.property for one in found], "counterexample": [str(one) for one in found]},
            index=pd.Index([str(one.measure) for one in found], name="measure"),
        )
        caption = "The smallest counterexamples found; confusion matrices have one row per gold class."
        return [Table(frame, caption, self.signature)] if found else []

    def plot(self) -> Figure:
        """Draw which measure has which property: a filled mark where no counterexample was found."""
        from matplotlib.figure import Figure

        from metaeval.show.drawing import sign_figure
        from metaeval.show.style import house_style

        holds = self.holds()
        names = [one.title for one in self.measures]
        with house_style():
            figure = Figure(figsize=(5.6, 0.27 * len(names) + 1.5), layout="constrained")
            axes = figure.subplots()
            for m, p in np.ndindex(holds.shape):
                marker, colour = ("o", "#0072B2") if holds[m, p] else ("x", "#D55E00")
                axes.plot(p, m, marker=marker, color=colour, markersize=6, linestyle="")
            axes.set_xticks(range(len(PROPERTIES)), [name.replace(" ", "\n") for name in PROPERTIES])
            axes.set_yticks(range(len(names)), names)
            axes.set(xlim=(-0.5, len(PROPERTIES) - 0.5), ylim=(len(names) - 0.5, -0.5))
            axes.set_xlabel("● no counterexample found   × counterexample", fontsize=8)
            axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
            axes.spines["bottom"].set_visible(False)
            return sign_figure(figure, self.signature)


def properties(
    measures: Iterable[Any] | str | Measure,
    *,
    empty_classes: bool = False,
    n_random: int = 300,
    seed: int = 0,
) -> Properties:
    """Which of three formal properties does a measure of ordinal classification have?

    Ordinal invariance: only the order of the classes counts, so that stretching the scale by classes that nobody
    uses leaves the score as it is. Ordinal monotonicity: an item predicted nearer to its gold class raises the
    score. Imbalance: in a run that is right but for one item in a neighbouring class, the mistake costs more when the
    item's own class is the smaller one.

    Every pair of small cases is compared, then random larger ones. ✓ means that none was a counterexample, which
    proves nothing beyond the cases tried; ✗ comes with the smallest counterexample found.

    Parameters
    ----------
    measures : names, Measures or decorated functions
        Of classification. Where a formula is 0/0, its documented value counts.
    empty_classes : bool, optional
        Whether classes may be without gold items where monotonicity and imbalance are looked at. The paper excludes
        that (Appendix A.2, C). Invariance is about classes that nobody uses, and is not affected.
    n_random : int, optional
        Random matrices of every size; 0 for none.
    seed : int, optional

    Returns
    -------
    Properties

    Raises
    ------
    MeasureError
        If a measure is not one of classification, or cannot be computed.

    Examples
    --------
    >>> found = properties(["CEM_ORD", "MAE_mu", "Accuracy"], n_random=50)
    >>> found.holds().astype(int).tolist()
    [[1, 1, 1], [0, 1, 0], [1, 0, 0]]
    """
    chosen = resolve(measures)
    at_least("n_random", n_random, 0)
    for one in chosen:
        if one.formula is None or one.kind != "classification":
            raise MeasureError(f"{one} is not a measure of classification: properties compares confusion matrices")
    verdicts = tuple(
        _search(measure, which, _cases(which, empty_classes, n_random, seed))
        for measure in chosen
        for which in PROPERTIES
    )
    settings = {
        "measures": ", ".join(map(str, chosen)),
        "exhaustive": "N ≤ 5, K ≤ 4 and N ≤ 3, K = 5",
        "random": f"{n_random} of {len(RANDOM_SIZES)} sizes",
        "empty gold classes": "yes" if empty_classes else "no",
        "seed": str(seed),
    }
    signature = Signature("properties", ("confusion matrices",), tuple(settings.items()), metaeval.__version__)
    return Properties(chosen, verdicts, signature)


Pair = tuple[np.ndarray, np.ndarray]


def _cases(which: str, empty: bool, n_random: int, seed: int) -> Iterator[Pair]:
    """Yield batches of pairs, smaller matrices first; the same ones whatever the measure."""
    keep: Callable[[np.ndarray], np.ndarray] = (lambda counts: counts) if empty else no_empty_gold
    rng = generator(seed, "confusion matrices", "properties", which)
    drawn = (random_matrices(rng, n_random, n, k) for n, k in RANDOM_SIZES if n_random)
    if which == INVARIANCE:
        for n, k in SMALL:
            yield stretched(all_matrices(n, k))
        for counts in drawn:
            # Classes are taken out of use at random: a random matrix seldom has an unused one.
            unused = rng.random(counts.shape[:2]) < 0.4
            counts[unused] = 0
            counts.swapaxes(1, 2)[unused] = 0
            yield stretched(counts[counts.sum(axis=(1, 2)) > 0])
    elif which == MONOTONICITY:
        for n, k in SMALL:
            yield one_step_closer(keep(all_matrices(n, k)))
        for counts in drawn:
            yield one_step_closer(keep(counts))
    else:
        for n in range(2, GOLD_ITEMS + 1):
            for k in (3, 4):
                gold = all_counts(n, k)
                yield misplaced_in_the_middle(gold if empty else gold[(gold > 0).all(axis=1)])
        for counts in drawn:
            yield misplaced_in_the_middle(keep(counts).sum(axis=2))


def _search(measure: Measure, which: str, batches: Iterable[Pair]) -> Verdict:
    cases = 0
    sense = 1.0 if measure.higher_is_better else -1.0
    for first, second in batches:
        if not len(first):
            continue
        cases += len(first)
        one, two = measure.evaluate(first)[0], measure.evaluate(second)[0]
        gap = sense * (two - one)
        # A score that is not a number satisfies nothing.
        fine = {
            INVARIANCE: np.abs(gap) <= _TOLERANCE,
            MONOTONICITY: gap > _TOLERANCE,
            IMBALANCE: gap < -_TOLERANCE,
        }[which]
        if not fine.all():
            at = int(np.argmin(fine))
            return Verdict(measure, which, cases, (first[at], second[at]), (float(one[at]), float(two[at])))
    return Verdict(measure, which, cases)


def _printed(counts: np.ndarray) -> str:
    return str(counts.tolist()).replace(" ", "")
