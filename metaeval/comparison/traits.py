"""What kind of measure is it? Ordinal, symmetric, sensitive to imbalance: seen by trying, with a counterexample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.analyses.properties import IMBALANCE, INVARIANCE, MONOTONICITY, PROPERTIES, properties
from metaeval.measures.base import Measure
from metaeval.stats.streams import generator

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Trait:
    """Whether a measure has a trait, and what shows it.

    Parameters
    ----------
    holds : bool or None
        None: it cannot be tried, because only scores are known.
    evidence : str
        How many cases were tried, or the case that speaks against it.
    """

    holds: bool | None
    evidence: str

    @property
    def mark(self) -> str:
        """A tick, a cross or a dash."""
        return "–" if self.holds is None else "✓" if self.holds else "✗"


DESCRIPTIONS = {
    "ordinal": "all gold in one class: an estimate with all in another class is the worse the further that class is",
    "symmetric": "exchanging estimate and gold changes nothing",
    "constant": "tells apart runs that always return one class",
    INVARIANCE: "only the order of classes counts, not how far apart they are (Amigó et al. 2020, Property 1)",
    MONOTONICITY: "an item predicted nearer to its gold class raises the score (Amigó et al. 2020, Property 2)",
    IMBALANCE: "the same mistake costs more in a small class than in a large one (Amigó et al. 2020, Property 3)",
}
"""What each trait means, for the reader."""


def traits(measures: Sequence[Measure], n_classes: int = 5) -> dict[str, dict[str, Trait]]:
    """What kind of measures are they?

    Parameters
    ----------
    measures : sequence of Measure
        All of classification, all of quantification, or known by their scores only.
    n_classes : int, optional
        Of the cases that are tried.

    Returns
    -------
    dict of str to dict of str to Trait
        By measure. For measures of classification Amigó's three properties, of which exhaustive search says more
        than the other traits; for all others ``"ordinal"``. For both ``"symmetric"``, for the former ``"constant"``.

    Examples
    --------
    >>> import metaeval
    >>> {name: trait.mark for name, trait in traits([metaeval.measure("RNOD")])["RNOD"].items()}
    {'ordinal': '✓', 'symmetric': '✗'}
    """
    kinds = {one.kind for one in measures if one.formula is not None}
    if kinds == {"classification"}:
        found = _formal_properties([one for one in measures if one.formula is not None])
        tried = {"symmetric": _symmetric, "constant": _constant_runs}
        names = [*PROPERTIES, *tried]
    else:
        found, tried = {}, {"ordinal": _ordinal, "symmetric": _symmetric}
        names = list(tried)
    unknown = Trait(None, "only scores are known")
    return {
        str(one): dict.fromkeys(names, unknown)
        if one.formula is None
        else {**found.get(str(one), {}), **{name: trial(one, n_classes) for name, trial in tried.items()}}
        for one in measures
    }


def _formal_properties(measures: Sequence[Measure]) -> dict[str, dict[str, Trait]]:
    found: dict[str, dict[str, Trait]] = {str(one): {} for one in measures}
    for verdict in properties(measures, n_random=100).verdicts:
        evidence = str(verdict).removeprefix("✓ ").removeprefix("✗ ")
        found[str(verdict.measure)][verdict.property] = Trait(verdict.holds, evidence)
    return found


def _gain(measure: Measure, *arrays: np.ndarray) -> np.ndarray:
    return measure.evaluate(*arrays)[0] * (1 if measure.higher_is_better else -1)


def _ordinal(measure: Measure, n_classes: int) -> Trait:
    """All gold in one class, all of the estimate in another one: the further, the worse."""
    certain = np.eye(n_classes)
    tried = 0
    for gold in range(n_classes):
        gains = _gain(measure, certain, np.broadcast_to(certain[gold], certain.shape))
        for step in (1, -1):
            reached = gains[gold::step] if step == 1 else gains[gold::-1]
            falls = np.diff(reached)
            tried += len(falls)
            if (falls >= -_TOLERANCE).any():
                k = int(np.argmax(falls >= -_TOLERANCE))
                near, far = gold + step * k, gold + step * (k + 1)
                return Trait(
                    False,
                    f"all gold in class {gold + 1}: all of the estimate in class {far + 1} is no worse than in class "
                    f"{near + 1}",
                )
    return Trait(True, f"{tried} pairs of estimates, all gold in one class")


def _symmetric(measure: Measure, n_classes: int) -> Trait:
    rng = generator(1, "traits")
    if measure.kind == "classification":
        counts = rng.multinomial(30, rng.dirichlet(np.full(n_classes**2, 0.5), size=50)).reshape(
            -1, n_classes, n_classes
        )
        gaps = np.abs(_gain(measure, counts) - _gain(measure, counts.swapaxes(1, 2)))
    else:
        estimated, gold = rng.dirichlet(np.full(n_classes, 0.6), size=(2, 50))
        # An empty class on one side only is where asymmetry shows.
        gold[:, 0] = 0
        gold /= gold.sum(axis=1, keepdims=True)
        gaps = np.abs(_gain(measure, estimated, gold) - _gain(measure, gold, estimated))
    if gaps.max() <= _TOLERANCE:
        return Trait(True, f"{len(gaps)} random cases")
    return Trait(False, f"exchanging them changes the score by up to {gaps.max():.3g} in {len(gaps)} random cases")


def _constant_runs(measure: Measure, n_classes: int) -> Trait:
    sizes = np.arange(2, n_classes + 2)
    counts = np.zeros((n_classes, n_classes, n_classes))
    counts[np.arange(n_classes), :, np.arange(n_classes)] = sizes
    scores = measure.evaluate(counts)[0]
    if np.ptp(scores) > _TOLERANCE:
        return Trait(
            True, f"scores from {scores.min():.3g} to {scores.max():.3g} for gold classes of {sizes.tolist()} items"
        )
    return Trait(False, f"all runs that always return one class get {scores[0]:.3g}")
