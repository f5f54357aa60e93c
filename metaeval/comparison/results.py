"""What a comparison computed, before anything is said of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from metaeval.analyses.agreement import Agreement
from metaeval.analyses.power import PAPERS_TEST, PooledDiscriminativePower
from metaeval.analyses.study import Study
from metaeval.errors import MetaevalError
from metaeval.measures.base import Measure
from metaeval.measures.properties import PropertyCheck
from metaeval.show.signature import Signature
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest


@dataclass(frozen=True, eq=False)
class ComparisonResults:
    """Studies of all collections, power pooled over them, and properties of formulas."""

    new: tuple[str, ...]
    collections: tuple[Study, ...]
    pooled: PooledDiscriminativePower | None
    traits: dict[str, dict[str, PropertyCheck]]
    notes: tuple[str, ...]
    signature: Signature
    agreement: Agreement | None
    kept: dict[tuple[str, str], Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All measures, the new ones first."""
        return self.collections[0].scores.measures

    @property
    def reference(self) -> Measure | None:
        """What the others are compared with; None if nothing was named."""
        pairs = self.collections[0].reference
        return None if pairs is None else pairs.reference

    @property
    def all_measures(self) -> list[Measure]:
        """All measures, and what they are compared with."""
        return [*self.measures, *([] if self.reference is None else [self.reference])]

    @property
    def lacks_intervals(self) -> bool:
        """Whether a collection has too few runs or topics for intervals."""
        return any(power.no_interval for power in list_results(self.collections, "power"))

    @property
    def test(self) -> PairedTest:
        """The test of all pairs of runs that everything rests on."""
        power = self.collections[0].power
        return PAPERS_TEST if power is None else power.test

    @property
    def second_test(self) -> PairedTest:
        """The test that stands beside it."""
        return PAPERS_TEST if self.test == RECOMMENDED else RECOMMENDED

    def name_part(self, part: str, measure: str) -> str:
        """Return what the file of a part of the report is called that is about one new measure."""
        number = self.new.index(measure) + 1
        return part if number == 1 else f"{part}-{number}"

    def find_new(self, measure: str | None = None) -> str:
        """Return the name of a new measure, the first by default; refuse any other."""
        name = self.new[0] if measure is None else measure
        if name not in self.new:
            raise MetaevalError(f"{name!r} is no new measure of this comparison (there are {', '.join(self.new)})")
        return name


T = TypeVar("T")


def find_once(find: Callable[[ComparisonResults, str], T]) -> Callable[[ComparisonResults, str], T]:
    """Keep what is found of a new measure: verdict, picture, page and JSON all ask for it."""

    @wraps(find)
    def ask(comparison: ComparisonResults, name: str) -> T:
        key = find.__name__, name
        if key not in comparison.kept:
            comparison.kept[key] = find(comparison, name)
        found: T = comparison.kept[key]
        return found

    return ask


def list_results(studies: Sequence[Study], *questions: str) -> list[Any]:
    """Return the results of these questions, collection by collection, without those that there are not."""
    results = [getattr(study, question) for study in studies for question in questions]
    return [result for result in results if result is not None]


def find_position(result: Any, name: str) -> int:
    """Return where a measure stands among those of a result, by its name."""
    return [str(measure) for measure in result.measures].index(name)
