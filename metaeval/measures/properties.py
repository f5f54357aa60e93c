"""Which formal properties does a measure have? One engine: it compares many cases and keeps the smallest that fails.

A property is a relation between runs: the first must score worse than the second, say. Its cases are made of arrays,
smallest first and the same for every measure, and a check counts in how many of them the relation does not hold.
Adding a property means adding one entry to `PROPERTIES`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.base import Kind, Measure, find_signs
from metaeval.measures.ordinal_cases import (
    all_counts,
    all_matrices,
    draw_majority_gold,
    draw_matrices,
    make_constant_runs,
    make_even_gold,
    make_one_class_estimates,
    make_one_mistake,
    misplaced_in_the_middle,
    no_empty_gold,
    one_step_closer,
    stretch_scale,
    swap_roles,
    swap_shares,
)
from metaeval.stats.streams import generator

Relation = Literal["equal", "worse", "better", "different"]

Cases = tuple[np.ndarray, ...]
"""The arrays that a measure takes, each of shape (case, run, …): the runs of a case are compared with each other."""

SMALL = tuple((n, k) for n in range(1, 6) for k in (2, 3, 4, 5) if k < 5 or n < 4)
"""Items and classes for which every confusion matrix is tried, fewest items first."""

GOLD_ITEMS = 12
"""One mistake, imbalance and constant runs are tried on every gold of up to that many items in 3 or 4 classes."""

RANDOM_SIZES = tuple((n, k) for n in (8, 20, 60) for k in (3, 4, 5, 7))
"""Items and classes of the random confusion matrices."""

CLASSES = (3, 4, 5, 6, 7)
"""Numbers of classes of the distributions."""

FAVOURED = 0.6
"""Share of the favoured class where every class has some gold and the others have equal shares of the rest."""

_TOLERANCE = 1e-9  # scores no farther apart are equal
_DRAWN_AT_ONCE = 500
_CELLS_AT_ONCE = 2**19  # of the arrays that a measure gets in one call, which bounds memory


@dataclass(frozen=True)
class Search:
    """What cases are made of."""

    empty_classes: bool = False  # gold classes without items, in properties other than invariance and symmetry
    n_random: int = 300  # of every size
    seed: int = 0

    def keep(self, counts: np.ndarray) -> np.ndarray:
        """Return the matrices that may be tried."""
        return counts if self.empty_classes else no_empty_gold(counts)

    def draw_matrices(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield batches of random confusion matrices."""
        for n, k in RANDOM_SIZES:
            for size in self.batches():
                yield draw_matrices(rng, size, n, k)

    def batches(self) -> Iterator[int]:
        """Yield how many random cases to draw, a few at a time."""
        for start in range(0, self.n_random, _DRAWN_AT_ONCE):
            yield min(_DRAWN_AT_ONCE, self.n_random - start)


@dataclass(frozen=True)
class Property:
    """A formal property of measures: how the scores of the runs of every case must relate."""

    name: str
    kind: Kind
    description: str
    source: str
    relation: Relation  # of the first run's score to the second's; "different": not all runs have the same score
    make_cases: Callable[[Search, np.random.Generator], Iterator[Cases]]


@dataclass(frozen=True, eq=False)
class PropertyCheck:
    """In how many of how many cases a measure fails a property.

    Parameters
    ----------
    measure : Measure
    property : Property
    cases : int
        Cases tried; 0 if the measure is known by its scores only.
    failed : int
        Cases in which the relation does not hold.
    counterexample : tuple of (tuple of ndarray), or None
        Of the smallest failed case two runs: the arrays that the measure takes for each.
    scores : (float, float)
        Of both.
    """

    measure: Measure
    property: Property
    cases: int = 0
    failed: int = 0
    counterexample: tuple[Cases, Cases] | None = None
    scores: tuple[float, float] = (float("nan"), float("nan"))

    @builtins.property  # the plain name is a field of this class
    def holds(self) -> bool | None:
        """Whether no case failed; None if nothing could be tried."""
        return None if not self.cases else not self.failed

    @builtins.property
    def mark(self) -> str:
        """``"✓ (12,345)"``, ``"✗ (40 of 200)"``, or a dash if nothing could be tried."""
        if not self.cases:
            return "–"
        return f"✗ ({self.failed:,} of {self.cases:,})" if self.failed else f"✓ ({self.cases:,})"

    @builtins.property
    def evidence(self) -> str:
        """How many cases were tried, or in how many the measure fails with the smallest of them."""
        if self.counterexample is None:
            return f"{self.cases:,} cases" if self.cases else "only scores are known"
        first, second = (format_arrays(run) for run in self.counterexample)
        scores = f"{self.scores[0]:.4g} and {self.scores[1]:.4g}"
        return f"{self.failed:,} of {self.cases:,} cases: {first} should {self.expected} {second}: {scores}"

    @builtins.property
    def expected(self) -> str:
        """How the first of two runs should score: ``"score worse than"``, say."""
        return {
            "equal": "score the same as",
            "worse": "score worse than",
            "better": "score better than",
            "different": "not score the same as",
        }[self.property.relation]

    def __str__(self) -> str:
        return f"{self.mark[0]} {self.evidence}"


def format_arrays(arrays: Cases) -> str:
    """Return the arrays of one run in short: its counts, or ``"estimated … for gold …"``.

    >>> format_arrays((np.array([[1, 0], [2, 3]]),))
    '[[1,0],[2,3]]'
    >>> format_arrays((np.array([0.0, 1.0]), np.array([0.25, 0.75])))
    '[0,1] for gold [0.25,0.75]'
    """
    if len(arrays) == 1:
        return str(arrays[0].astype(int).tolist()).replace(" ", "")
    estimated, gold = (f"[{','.join(f'{share:.4g}' for share in shares)}]" for shares in arrays)
    return f"{estimated} for gold {gold}"


def check_properties(
    measures: Sequence[Measure], properties: Iterable[Property] | None = None, search: Search | None = None
) -> tuple[PropertyCheck, ...]:
    """Return what was found for every measure and every property of its kind.

    >>> import metaeval
    >>> [str(one) for one in check_properties([metaeval.measure("RNOD")], find_properties()[1:2])]
    ['✓ 140 cases']
    """
    listed = PROPERTIES if properties is None else tuple(properties)
    signs = find_signs(measures)
    checks: dict[tuple[int, int], PropertyCheck] = {}
    for p, property in enumerate(listed):
        able = [
            m for m, measure in enumerate(measures) if measure.formula is not None and measure.kind == property.kind
        ]
        checked = _check(property, [measures[m] for m in able], signs[able], search or Search())
        checks |= {(m, p): check for m, check in zip(able, checked, strict=True)}
        checks |= {
            (m, p): PropertyCheck(measure, property) for m, measure in enumerate(measures) if measure.formula is None
        }
    return tuple(checks[position] for position in sorted(checks))


def find_properties(names: Iterable[str] | None = None) -> tuple[Property, ...]:
    """Return all properties, or those of some names."""
    if names is None:
        return PROPERTIES
    listed = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in listed if name not in {property.name for property in PROPERTIES}]
    if unknown:
        known = ", ".join(dict.fromkeys(property.name for property in PROPERTIES))
        raise MeasureError(f"there is no property {unknown[0]!r}: choose among {known}")
    return tuple(property for property in PROPERTIES if property.name in listed)


def _check(
    property: Property, measures: Sequence[Measure], signs: np.ndarray, search: Search
) -> Iterator[PropertyCheck]:
    """Yield the check of every measure; cases are made once for all of them."""
    tried, failed = 0, [0] * len(measures)
    smallest: list[tuple[tuple[Cases, Cases], tuple[float, float]] | None] = [None] * len(measures)
    rng = generator(search.seed, "confusion matrices", "properties", property.name)
    for cases in _divide(property.make_cases(search, rng)) if measures else ():
        tried += len(cases[0])
        for m, measure in enumerate(measures):
            scores = _evaluate(measure, cases)
            holds = _holds(property.relation, scores * signs[m])
            failed[m] += int((~holds).sum())
            if smallest[m] is None and not holds.all():
                at = int(np.argmin(holds))
                runs = tuple(array[at, 0] for array in cases), tuple(array[at, 1] for array in cases)
                smallest[m] = runs, (float(scores[at, 0]), float(scores[at, 1]))
    for m, measure in enumerate(measures):
        example, two = smallest[m] or (None, (float("nan"), float("nan")))
        yield PropertyCheck(measure, property, tried, failed[m], example, two)


def _divide(batches: Iterator[Cases]) -> Iterator[Cases]:
    """Yield parts of the batches that are small enough for one call of a measure."""
    for batch in batches:
        size = max(1, _CELLS_AT_ONCE // int(np.prod(batch[0].shape[1:])))
        for start in range(0, len(batch[0]), size):
            yield tuple(array[start : start + size] for array in batch)


def _evaluate(measure: Measure, cases: Cases) -> np.ndarray:
    """Return the scores of all runs, shape (case, run)."""
    scores, _ = measure.evaluate(*cases)
    shape = cases[0].shape[:2]
    if scores.shape != shape:
        raise MeasureError(f"{measure} returned shape {scores.shape} for {shape[0]} × {shape[1]} runs, not {shape}")
    return scores


def _holds(relation: Relation, gains: np.ndarray) -> np.ndarray:
    """Return in which cases the runs relate as they should; a score that is not a number satisfies nothing."""
    if relation in ("equal", "different"):
        apart = np.ptp(gains, axis=1)
        return apart <= _TOLERANCE if relation == "equal" else apart > _TOLERANCE
    rise = gains[:, 1] - gains[:, 0]
    return rise > _TOLERANCE if relation == "worse" else rise < -_TOLERANCE


def _pair(first: np.ndarray, second: np.ndarray) -> Cases:
    return (np.stack([first, second], axis=1),)


def _invariance_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for n, k in SMALL:
        yield _pair(*stretch_scale(all_matrices(n, k)))
    for counts in search.draw_matrices(rng):
        # Classes are taken out of use at random: a random matrix seldom has an unused one.
        unused = rng.random(counts.shape[:2]) < 0.4
        counts[unused] = 0
        counts.swapaxes(1, 2)[unused] = 0
        yield _pair(*stretch_scale(counts[counts.sum(axis=(1, 2)) > 0]))


def _monotonicity_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for n, k in SMALL:
        yield _pair(*one_step_closer(search.keep(all_matrices(n, k))))
    for counts in search.draw_matrices(rng):
        yield _pair(*one_step_closer(search.keep(counts)))


def _gold_cases(search: Search, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for n in range(2, GOLD_ITEMS + 1):
        for k in (3, 4):
            gold = all_counts(n, k)
            yield gold if search.empty_classes else gold[(gold > 0).all(axis=1)]
    for counts in search.draw_matrices(rng):
        yield search.keep(counts).sum(axis=2)


def _one_mistake_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for gold in _gold_cases(search, rng):
        yield _pair(*make_one_mistake(gold))


def _imbalance_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for gold in _gold_cases(search, rng):
        yield _pair(*misplaced_in_the_middle(gold))


def _constant_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for gold in _gold_cases(search, rng):
        yield (make_constant_runs(gold),)


def _swap_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for n, k in SMALL:
        yield _pair(*swap_roles(all_matrices(n, k)))
    for counts in search.draw_matrices(rng):
        yield _pair(*swap_roles(counts))


def _one_class_gold_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for k in CLASSES:
        yield make_one_class_estimates(np.eye(k))


def _mixed_gold_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for k in CLASSES:
        yield make_one_class_estimates(make_even_gold(k, FAVOURED))
    for k in CLASSES:
        for size in search.batches():
            yield make_one_class_estimates(draw_majority_gold(rng, size, k))


def _swap_shares_cases(search: Search, rng: np.random.Generator) -> Iterator[Cases]:
    for n, k in ((1, 2), (2, 2), (2, 3), (3, 3), (4, 3), (2, 4), (3, 4)):
        shares = all_counts(n, k) / n
        first, second = np.triu_indices(len(shares), 1)
        yield swap_shares(shares[first], shares[second])
    for k in CLASSES:
        for size in search.batches():
            first, second = rng.dirichlet(np.full(k, 0.6), size=(2, size))
            # Asymmetry often shows only where a class is empty on one side.
            empty = rng.random(size) < 0.5
            second[empty, 0] = 0
            yield swap_shares(first, second / second.sum(axis=1, keepdims=True))


_AMIGO = "Amigó et al. 2020, §4.1"

PROPERTIES = (
    Property(
        "ordinal",
        "classification",
        "In a run that is right but for one item, predicting a more distant class for it scores worse.",
        "Sakai (ACL 2021), Table 4",
        "better",
        _one_mistake_cases,
    ),
    Property(
        "ordinal",
        "quantification",
        "When all gold items are in one class, predicting a more distant class scores worse.",
        "Sakai (ACL 2021), Table 7",
        "better",
        _one_class_gold_cases,
    ),
    Property(
        "ordinal with mixed gold",
        "quantification",
        "When most gold items are in one class and every class has some, predicting a more distant class scores worse.",
        "",
        "better",
        _mixed_gold_cases,
    ),
    Property(
        "ordinal invariance",
        "classification",
        "Stretching the scale by classes that nobody uses leaves the score as it is.",
        f"{_AMIGO}, Property 1",
        "equal",
        _invariance_cases,
    ),
    Property(
        "ordinal monotonicity",
        "classification",
        "Predicting an item one class nearer to its gold class improves the score.",
        f"{_AMIGO}, Property 2",
        "worse",
        _monotonicity_cases,
    ),
    Property(
        "imbalance",
        "classification",
        "The same mistake costs more in a small gold class than in a large one.",
        f"{_AMIGO}, Property 3",
        "better",
        _imbalance_cases,
    ),
    Property(
        "constant",
        "classification",
        "Runs that always return one class do not all get the same score, when gold classes differ in size.",
        "Sakai (ACL 2021), Table 4",
        "different",
        _constant_cases,
    ),
    Property(
        "symmetric",
        "classification",
        "Swapping prediction and gold gives the same score.",
        "Sakai (ACL 2021), Table 7",
        "equal",
        _swap_cases,
    ),
    Property(
        "symmetric",
        "quantification",
        "Swapping prediction and gold gives the same score.",
        "Sakai (ACL 2021), Table 7",
        "equal",
        _swap_shares_cases,
    ),
)
"""Every property that is tried, in the order in which they are listed."""
