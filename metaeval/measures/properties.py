"""Which formal properties does a measure have? Many cases are compared, and the smallest that fails is kept.

A property is a relation between runs: the first must score worse than the second, say. Its cases are made of arrays,
smallest first and the same for every measure, and a check counts in how many of them the relation does not hold. Items in
the same cell of a confusion matrix are exchangeable, so all matrices of N items represent all pairs of a run and a gold with
N items. Adding a property means adding one entry to `PROPERTIES`.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from metaeval.errors import MeasureError
from metaeval.measures.base import Kind, Measure, find_signs
from metaeval.stats.streams import generator

Relation = Literal["equal", "worse", "better", "different"]
Counts = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]

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

_TOLERANCE = 1e-9  # scores no farther apart are equal
_DRAWN_AT_ONCE = 500
_CELLS_AT_ONCE = 2**19  # of the arrays that a measure gets in one call, which bounds memory


@dataclass(frozen=True)
class Search:
    """What cases are made of."""

    empty_classes: bool = False  # gold classes without items, in properties other than invariance and symmetry
    n_random: int = 300  # of every size
    seed: int = 0

    def keep(self, counts: Counts) -> Counts:
        """Return the matrices that may be tried."""
        return counts if self.empty_classes else no_empty_gold(counts)

    def batches(self) -> Iterator[int]:
        """Yield how many random cases to draw, a few at a time."""
        for start in range(0, self.n_random, _DRAWN_AT_ONCE):
            yield min(_DRAWN_AT_ONCE, self.n_random - start)


@dataclass(frozen=True)
class Property:
    """A formal property of measures: how the scores of the runs of every case must relate."""

    name: str
    kind: Kind
    relation: Relation  # of the first run's score to the second's; "different": not all runs have the same score
    source: str
    draw: Callable[[Search, np.random.Generator], Iterator[Any]]  # what cases are made of, in batches
    compare: Callable[[Any], Cases]  # the cases of a batch
    description: str


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
    """Return what was found for every measure and every property of its kind, or a dash where only scores are known.

    >>> import metaeval
    >>> [str(one) for one in check_properties([metaeval.measure("RNOD")], find_properties()[1:2])]
    ['✓ 140 cases']
    """
    listed = PROPERTIES if properties is None else tuple(properties)
    signs = find_signs(measures)
    checks: dict[tuple[int, int], PropertyCheck] = {}
    for p, property in enumerate(listed):
        for m, measure in enumerate(measures):
            if measure.formula is None:
                checks[m, p] = PropertyCheck(measure, property)
        able = [m for m, one in enumerate(measures) if one.formula is not None and one.kind == property.kind]
        checked = _check(property, [measures[m] for m in able], signs[able], search or Search())
        checks |= {(m, p): check for m, check in zip(able, checked, strict=True)}
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
    for cases in _divide(map(property.compare, property.draw(search, rng))) if measures else ():
        tried += len(cases[0])
        for m, measure in enumerate(measures):
            scores, _ = measure.evaluate(*cases)
            if scores.shape != cases[0].shape[:2]:
                n_cases, n_runs = cases[0].shape[:2]
                raise MeasureError(f"{measure} returned shape {scores.shape} for {n_cases} × {n_runs} runs")
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


def _holds(relation: Relation, gains: np.ndarray) -> np.ndarray:
    """Return in which cases the runs relate as they should; a score that is not a number satisfies nothing."""
    if relation in ("equal", "different"):
        apart = np.ptp(gains, axis=1)
        return apart <= _TOLERANCE if relation == "equal" else apart > _TOLERANCE
    rise = gains[:, 1] - gains[:, 0]
    return rise > _TOLERANCE if relation == "worse" else rise < -_TOLERANCE


def all_counts(n_items: int, n_cells: int) -> Counts:
    """Return every distribution of indistinguishable items over cells, shape (way, cell)."""
    cells = np.array(list(itertools.combinations_with_replacement(range(n_cells), n_items)), dtype=np.int64)
    offset = np.arange(len(cells))[:, np.newaxis] * n_cells
    return np.bincount((cells + offset).ravel(), minlength=len(cells) * n_cells).reshape(len(cells), n_cells)


def all_matrices(n_items: int, n_classes: int) -> Counts:
    """Return every confusion matrix with this number of items and classes, shape (matrix, K, K)."""
    return all_counts(n_items, n_classes**2).reshape(-1, n_classes, n_classes)


def no_empty_gold(counts: Counts) -> Counts:
    """Keep the matrices in which every class has gold items."""
    return counts[(counts.sum(axis=2) > 0).all(axis=1)]


def _small_matrices(search: Search, rng: np.random.Generator) -> Iterator[Counts]:
    """Yield every small confusion matrix, then random ones of very different quality."""
    for n, k in SMALL:
        yield all_matrices(n, k)
    yield from _random_matrices(search, rng)


def _random_matrices(search: Search, rng: np.random.Generator) -> Iterator[Counts]:
    for n, k in RANDOM_SIZES:
        for size in search.batches():
            shares = rng.dirichlet(np.full(k**2, 0.3), size=size).reshape(-1, k, k)
            right = rng.dirichlet(np.ones(k), size=size)[:, :, np.newaxis] * np.eye(k)
            part = rng.random(size)[:, np.newaxis, np.newaxis]
            mixed = (part * right + (1 - part) * shares).reshape(size, -1)
            yield rng.multinomial(n, mixed).reshape(-1, k, k)


def _partly_unused(search: Search, rng: np.random.Generator) -> Iterator[Counts]:
    """Yield matrices of which classes were taken out of use at random: a random matrix seldom has an unused one."""
    for n, k in SMALL:
        yield all_matrices(n, k)
    for counts in _random_matrices(search, rng):
        unused = rng.random(counts.shape[:2]) < 0.4
        counts[unused] = 0
        counts.swapaxes(1, 2)[unused] = 0
        yield counts[counts.sum(axis=(1, 2)) > 0]


def _golds(search: Search, rng: np.random.Generator) -> Iterator[Counts]:
    """Yield the items of gold classes, shape (gold, K)."""
    for n in range(2, GOLD_ITEMS + 1):
        for k in (3, 4):
            gold = all_counts(n, k)
            yield gold if search.empty_classes else gold[(gold > 0).all(axis=1)]
    for counts in _random_matrices(search, rng):
        yield search.keep(counts).sum(axis=2)


def _mixed_golds(search: Search, rng: np.random.Generator) -> Iterator[Shares]:
    """Yield distributions, shape (..., K, K), whose row k favours class k: first with 60 % and equal shares of the rest."""
    for k in CLASSES:
        yield np.where(np.eye(k) > 0, 0.6, (1 - 0.6) / (k - 1))
    for k in CLASSES:
        for size in search.batches():
            yield draw_majority_gold(rng, size, k)


def _share_pairs(search: Search, rng: np.random.Generator) -> Iterator[tuple[Shares, Shares]]:
    """Yield two distributions for every case, shape (case, K)."""
    for n, k in ((1, 2), (2, 2), (2, 3), (3, 3), (4, 3), (2, 4), (3, 4)):
        shares = all_counts(n, k) / n
        first, second = np.triu_indices(len(shares), 1)
        yield shares[first], shares[second]
    for k in CLASSES:
        for size in search.batches():
            one, two = rng.dirichlet(np.full(k, 0.6), size=(2, size))
            # Asymmetry often shows only where a class is empty on one side.
            two[rng.random(size) < 0.5, 0] = 0
            yield one, two / two.sum(axis=1, keepdims=True)


def draw_majority_gold(rng: np.random.Generator, n_gold: int, n_classes: int) -> Shares:
    """Draw distributions, shape (gold, K, K), that give class k from 55 to 95 %, and the others random shares of the rest."""
    share = rng.uniform(0.55, 0.95, size=(n_gold, 1))
    rest = (1 - share) * rng.dirichlet(np.ones(n_classes - 1), size=n_gold)
    gold = np.empty((n_gold, n_classes, n_classes))
    for k in range(n_classes):
        gold[:, k] = np.insert(rest, [k], share, axis=1)
    return gold


def stretch_scale(counts: Counts) -> tuple[Counts, Counts]:
    """Return matrices that differ only in where their unused classes are (Property 1).

    In the first matrix the classes that neither gold nor run uses are at the end of the scale; in the second they lie
    between used classes, as after a strictly increasing function of the classes. Both have the same number of classes,
    so a normalisation by that number has no effect.
    """
    unused = (counts.sum(axis=1) == 0) & (counts.sum(axis=2) == 0)
    order = np.argsort(unused, axis=1, kind="stable")
    before = np.take_along_axis(np.take_along_axis(counts, order[:, :, np.newaxis], 1), order[:, np.newaxis, :], 2)
    moved = (before != counts).any(axis=(1, 2))
    return before[moved], counts[moved]


def one_step_closer(counts: Counts) -> tuple[Counts, Counts]:
    """Return matrices with an error, and the same with one item predicted one class closer to its gold class.

    Every improvement of Property 2 is a chain of such steps, so a measure that increases with each step has the
    property.
    """
    far, near = [], []
    n_classes = counts.shape[1]
    for g, p in itertools.permutations(range(n_classes), 2):
        there = counts[counts[:, g, p] > 0]
        moved = there.copy()
        moved[:, g, p] -= 1
        moved[:, g, p + (1 if p < g else -1)] += 1
        far.append(there)
        near.append(moved)
    return np.concatenate(far), np.concatenate(near)


def misplaced_in_the_middle(gold: Counts) -> tuple[Counts, Counts]:
    """Return runs that are correct except for one item of a larger class, and the same for a smaller class (Property 3).

    Both items are predicted in the class between the two classes. `gold`, shape (gold, K), counts the items of each class.
    """
    n_classes = gold.shape[1]
    large = [np.empty((0, n_classes, n_classes), dtype=np.int64)]
    small = list(large)
    for middle, side in itertools.product(range(1, n_classes - 1), (-1, 1)):
        one, three = middle + side, middle - side
        there = gold[(gold[:, one] > gold[:, three]) & (gold[:, three] > 0)]
        large.append(_misplace(there, one, middle))
        small.append(_misplace(there, three, middle))
    return np.concatenate(large), np.concatenate(small)


def _misplace(gold: Counts, source: int, predicted: int) -> Counts:
    """Return runs that are right but for one item of a class, which is predicted as another."""
    counts: Counts = gold[:, :, np.newaxis] * np.eye(gold.shape[1], dtype=np.int64)
    counts[:, source, source] -= 1
    counts[:, source, predicted] += 1
    return counts


def make_one_mistake(gold: Counts) -> tuple[Counts, Counts]:
    """Return runs that are right but for one item, and the same with that item in a more distant class on the same side."""
    wrong = [(gold[gold[:, g] > 0], g, *both) for g, *both in list_wrong_classes(gold.shape[1])]
    near = [_misplace(there, g, nearer) for there, g, nearer, _ in wrong]
    far = [_misplace(there, g, farther) for there, g, _, farther in wrong]
    return np.concatenate(near), np.concatenate(far)


def list_wrong_classes(n_classes: int) -> npt.NDArray[np.int64]:
    """Return every gold class with every two other classes on the same side of it: columns gold, nearer, farther."""
    found = [
        (gold, nearer, farther)
        for gold in range(n_classes)
        for side in (range(gold + 1, n_classes), range(gold - 1, -1, -1))
        for nearer, farther in itertools.combinations(side, 2)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def make_constant_runs(gold: Counts) -> Counts:
    """Return, for every gold whose classes are not all of one size, the runs that always return one class.

    ``[c, p]``, of shape (K, K), holds the counts of the run that returns class p for every item.
    """
    unlike = gold[np.ptp(gold, axis=1) > 0]
    n_classes = gold.shape[1]
    counts = np.zeros((len(unlike), n_classes, n_classes, n_classes), dtype=np.int64)
    for p in range(n_classes):
        counts[:, p, :, p] = unlike
    return counts


def swap_roles(counts: Counts) -> tuple[Counts, Counts]:
    """Return matrices, and the same with prediction and gold swapped; of two that are each other's swap, one case.

    Matrices that the swap leaves as they are would show nothing and are left out.
    """
    turned = counts.swapaxes(1, 2)
    gaps = (counts - turned).reshape(len(counts), -1)
    first = np.take_along_axis(gaps, np.argmax(gaps != 0, axis=1)[:, np.newaxis], axis=1)[:, 0]
    return counts[first > 0], turned[first > 0]


def make_one_class_estimates(gold: Shares) -> tuple[Shares, Shares]:
    """Return two estimates that are all in one wrong class, the nearer first, and their gold, shapes (case, 2, K).

    `gold`, shape (..., K, K), favours class k in ``[..., k, :]``.
    """
    n_classes = gold.shape[-1]
    wrong = list_wrong_classes(n_classes)
    favoured = gold.reshape(-1, n_classes, n_classes)[:, wrong[:, 0]]
    shape = (*favoured.shape[:2], 2, n_classes)
    estimated = np.broadcast_to(np.eye(n_classes)[wrong[:, 1:]], shape)
    there = np.broadcast_to(favoured[:, :, np.newaxis], shape)
    return estimated.reshape(-1, 2, n_classes), there.reshape(-1, 2, n_classes)


def _pair(make: Callable[[Counts], tuple[Counts, Counts]]) -> Callable[[Counts], Cases]:
    """Return what makes cases of two runs, from what makes the first and the second run of each."""
    return lambda given: (np.stack(make(given), axis=1),)


_AMIGO = "Amigó et al. 2020, §4.1"

PROPERTIES = (
    Property(
        "ordinal", "classification", "better", "Sakai (ACL 2021), Table 4", _golds, _pair(make_one_mistake),
        "In a run that is right but for one item, predicting a more distant class for it scores worse.",
    ),
    Property(
        "ordinal", "quantification", "better", "Sakai (ACL 2021), Table 7",
        lambda search, rng: map(np.eye, CLASSES), make_one_class_estimates,
        "When all gold items are in one class, predicting a more distant class scores worse.",
    ),
    Property(
        "ordinal with mixed gold", "quantification", "better", "", _mixed_golds, make_one_class_estimates,
        "When most gold items are in one class and every class has some, predicting a more distant class scores worse.",
    ),
    Property(
        "ordinal invariance", "classification", "equal", f"{_AMIGO}, Property 1", _partly_unused, _pair(stretch_scale),
        "Stretching the scale by classes that nobody uses leaves the score as it is.",
    ),
    Property(
        "ordinal monotonicity", "classification", "worse", f"{_AMIGO}, Property 2",
        lambda search, rng: map(search.keep, _small_matrices(search, rng)), _pair(one_step_closer),
        "Predicting an item one class nearer to its gold class improves the score.",
    ),
    Property(
        "imbalance", "classification", "better", f"{_AMIGO}, Property 3", _golds, _pair(misplaced_in_the_middle),
        "The same mistake costs more in a small gold class than in a large one.",
    ),
    Property(
        "constant", "classification", "different", "Sakai (ACL 2021), Table 4",
        _golds, lambda gold: (make_constant_runs(gold),),
        "Runs that always return one class do not all get the same score, when gold classes differ in size.",
    ),
    Property(
        "symmetric", "classification", "equal", "Sakai (ACL 2021), Table 7", _small_matrices, _pair(swap_roles),
        "Swapping prediction and gold gives the same score.",
    ),
    Property(
        "symmetric", "quantification", "equal", "Sakai (ACL 2021), Table 7",
        _share_pairs, lambda pair: (np.stack(pair, axis=1), np.stack(pair[::-1], axis=1)),
        "Swapping prediction and gold gives the same score.",
    ),
)  # fmt: skip
"""Every property that is tried, in the order in which they are listed."""
