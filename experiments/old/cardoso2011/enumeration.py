"""What the paper says of all matrices, on all small ones: ranges, identity, symmetry, paths, triangular inequality."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd

import metaeval
from experiments.cardoso2011.matrices import STUDY, sign
from metaeval.errors import UndefinedValueWarning
from metaeval.measures.ordinal_index import OCI, OC_prime, dispersion, general_index, items

SIZES = STUDY["enumeration"]
GAMMAS = STUDY["gamma"]["named"]
SHARES = (0.25, 0.75)
CLOSE = 1e-12
"""Up to this, values are the same: they are computed in floating point."""

BELOW_ONE = float(np.nextafter(1, 0))
"""The largest β₂ for which paths are searched: from 1 on the general index takes the paper's word that it is OC."""


@cache
def list_matrices(n_classes: int, n_items: int) -> np.ndarray:
    """Return all matrices of that many classes and items, shape (matrix, K, K).

    Examples
    --------
    >>> list_matrices(2, 3).shape
    (20, 2, 2)
    """
    cells = n_classes**2
    places = np.array(list(itertools.combinations_with_replacement(range(cells), n_items)))
    counts = np.stack([(places == cell).sum(axis=1) for cell in range(cells)], axis=1)
    return counts.reshape(-1, n_classes, n_classes).astype(np.float64)


def iterate_matrices() -> Iterator[np.ndarray]:
    """Yield all matrices of the study by classes and items, shape (matrix, K, K)."""
    for n_classes, largest in SIZES["largest"]:
        for n_items in range(1, largest + 1):
            yield list_matrices(n_classes, n_items)


def describe_sizes() -> str:
    """Say which matrices these are."""
    sizes = ", ".join(f"{n_classes} classes with up to {largest} items" for n_classes, largest in SIZES["largest"])
    return f"all matrices of {sizes}"


def score_quietly(measure: str, counts: np.ndarray) -> np.ndarray:
    """Return a measure of many matrices, shape (...), with its documented value where it is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedValueWarning)
        return np.asarray(metaeval.measure(measure).score(counts))


def score_defined(measure: str, counts: np.ndarray) -> np.ndarray:
    """Return a measure of many matrices, shape (...), and NaN where it is 0/0: a documented value is nobody's finding."""
    values, undefined = metaeval.measure(measure).evaluate(counts)
    return np.where(undefined, np.nan, values)


def is_diagonal(counts: np.ndarray) -> np.ndarray:
    """Tell which matrices have no item off the diagonal, shape (...)."""
    return np.trace(counts, axis1=-2, axis2=-1) == counts.sum(axis=(-2, -1))


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.abs(one - other) > CLOSE


def _outside(values: np.ndarray) -> np.ndarray:
    return (values < -CLOSE) | (values > 1 + CLOSE)


def _misses_diagonal(counts: np.ndarray, gamma: float) -> np.ndarray:
    n = items(counts)
    wanted = 1 - np.trace(counts, axis1=-2, axis2=-1) / (n + dispersion(counts, gamma))
    return _differ(OCI(counts, beta=1 / (n + 1), gamma=gamma, absolute=True), wanted)


def _is_no_normalised_error(counts: np.ndarray) -> np.ndarray:
    error = score_quietly("MAE_mu", counts)
    return _differ(general_index(counts, beta1=0, beta2=float(np.finfo(float).tiny)), error / (1 + error))


Exceptions = Callable[[np.ndarray, float, float], np.ndarray]
"""From matrices (matrix, K, K), β as a share, and γ to which of them are exceptions."""

PROPERTIES: dict[str, tuple[str, Exceptions]] = {
    "range": ("OC is within 0 and 1", lambda c, b, g: _outside(OCI(c, beta=b, gamma=g))),
    "identity": (
        "OC is 0 for diagonal matrices and for no others",
        lambda c, b, g: (np.abs(OCI(c, beta=b, gamma=g)) <= CLOSE) != is_diagonal(c),
    ),
    "symmetry": (
        "OC of the transpose is the same",
        lambda c, b, g: _differ(OCI(c, beta=b, gamma=g), OCI(c.swapaxes(-1, -2), beta=b, gamma=g)),
    ),
    "prime_range": ("OC′ is within 0 and 1", lambda c, b, g: _outside(OC_prime(c, beta=b, gamma=g))),
    "prime_MER": (
        "OC′ with absolute β of 1 and 2 is MER",
        lambda c, b, g: (
            _differ(OC_prime(c, beta=1, gamma=g, absolute=True), score_quietly("MER", c))
            | _differ(OC_prime(c, beta=2, gamma=g, absolute=True), score_quietly("MER", c))
        ),
    ),
    "diagonal": ("with β = 1/(N + 1) the best path is the diagonal", lambda c, b, g: _misses_diagonal(c, g)),
    "every_entry": ("OC_{0;0} is MAE / (1 + MAE)", lambda c, b, g: _is_no_normalised_error(c)),
    "all_paths": (
        "the general index with β₂ just below 1, over all paths, is OC by dynamic programming",
        lambda c, b, g: _differ(general_index(c, beta1=b, beta2=BELOW_ONE, gamma=g), OCI(c, beta=b, gamma=g)),
    ),
}
"""By name: the statement, and what would be an exception."""

_WITHOUT_BETA, _WITHOUT_GAMMA = ("prime_MER", "diagonal", "every_entry"), ("every_entry",)


def tabulate_properties() -> metaeval.Table:
    """Return how many matrices were tried for each property, and how many are exceptions."""
    rows = []
    for name, (statement, find) in PROPERTIES.items():
        betas = SHARES[:1] if name in _WITHOUT_BETA else SHARES
        gammas = [1.0] if name in _WITHOUT_GAMMA else GAMMAS
        found = [find(counts, b, g) for counts in iterate_matrices() for b in betas for g in gammas]
        rows.append((name, statement, sum(map(len, found)), int(sum(one.sum() for one in found))))
    frame = pd.DataFrame(rows, columns=["property", "statement", "tried", "exceptions"]).set_index("property")
    caption = f"Properties, tried on {describe_sizes()}, each β and γ that matters for it of β₁, β₂ and of 1, 2, ∞."
    return metaeval.Table(frame, caption, sign("all small matrices").replace(", γ = 1", ""))


def find_distances(n_classes: int, n_items: int, beta: float | None, gamma: float) -> np.ndarray:
    """Return OC between all vectors of labels, shape (vector, vector)."""
    vectors = list_vectors(n_classes, n_items)
    places = vectors[:, None, :] * n_classes + vectors[None, :, :]
    counts = np.stack([(places == cell).sum(axis=-1) for cell in range(n_classes**2)], axis=-1).astype(np.float64)
    counts = counts.reshape(*counts.shape[:2], n_classes, n_classes)
    if beta is None:
        return np.asarray(OCI(counts, beta=1 / (n_items + 1), gamma=gamma, absolute=True))
    return np.asarray(OCI(counts, beta=beta, gamma=gamma))


def list_vectors(n_classes: int, n_items: int) -> np.ndarray:
    """Return all vectors of labels, shape (vector, item)."""
    return np.array(list(itertools.product(range(n_classes), repeat=n_items)))


def count_broken(distances: np.ndarray) -> int:
    """Count triples a, b, c for which d(a, b) + d(b, c) < d(a, c)."""
    detours = distances[:, :, None] + distances[None, :, :]
    return int((detours < distances[:, None, :] - CLOSE).sum())


def tabulate_triples() -> metaeval.Table:
    """Return how many triples of label vectors break the triangular inequality, by size, β and γ."""
    named = {"1/(N + 1)": None, "β₁": SHARES[0], "β₂": SHARES[1]}
    rows = [
        (
            n_classes,
            n_items,
            f"{gamma:g}".replace("inf", "∞"),
            n_classes ** (3 * n_items),
            *(count_broken(find_distances(n_classes, n_items, beta, gamma)) for beta in named.values()),
        )
        for n_classes, n_items in SIZES["triples"]
        for gamma in GAMMAS
    ]
    frame = pd.DataFrame(rows, columns=["K", "N", "γ", "triples", *named]).set_index(["K", "N", "γ"])
    caption = "Triples of label vectors that break the triangular inequality, by β; 1/(N + 1) is absolute."
    return metaeval.Table(frame, caption, sign("all triples of label vectors").replace(", γ = 1", ""))


def find_lemma_counterexample() -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """Return the smallest metrics d₁ ≤ d₂ on three points for which d₁ / (1 + d₂) is no metric, or None."""
    whole = range(1, SIZES["largest_distance"] + 1)
    metrics = [(ab, bc, ac) for ab, bc, ac in itertools.product(whole, repeat=3) if 2 * max(ab, bc, ac) <= ab + bc + ac]
    pairs = [(one, two) for one in metrics for two in metrics if all(x <= y for x, y in zip(one, two, strict=True))]
    for one, two in sorted(pairs, key=lambda pair: (max(pair[1]), sum(pair[0] + pair[1]), pair)):
        ab, bc, ac = (Fraction(x, 1 + y) for x, y in zip(one, two, strict=True))
        if ab + bc < ac:
            return one, two
    return None


def find_share_counterexample() -> tuple[int, int, list[tuple[int, ...]]] | None:
    """Return the smallest label vectors for which H / (N + M), to which the paper applies its lemma, is no metric."""
    for n_classes, n_items in sorted(itertools.product(range(2, 7), range(1, 4)), key=lambda size: size[0] ** size[1]):
        if n_classes**n_items > 256:
            continue
        vectors = list_vectors(n_classes, n_items)
        gaps = np.abs(vectors[:, None] - vectors[None])
        share = (gaps > 0).sum(axis=-1) / (n_items + gaps.sum(axis=-1))
        broken = np.argwhere(share[:, :, None] + share[None] < share[:, None, :] - CLOSE)
        if len(broken):
            return n_classes, n_items, [tuple((vectors[v] + 1).tolist()) for v in broken[0]]
    return None


def check_appendix_bound(n_items: int, step: float = 1e-9) -> tuple[bool, bool]:
    """Tell whether the vectors of Appendix A break the triangular inequality just below its β, and just above it."""
    n = n_items
    bound = (n - 1) / ((n + 1) * (n + 2))
    ab, bc, ac = (np.array(one, dtype=np.float64) for one in (
        [[n - 1, 0], [1, 0]], [[n - 1, 1], [0, 0]], [[n - 2, 1], [1, 0]]))  # fmt: skip

    def breaks(beta: float) -> bool:
        one, two, direct = (float(OCI(counts, beta=beta, absolute=True)) for counts in (ab, bc, ac))
        return direct - one - two > step / 10

    return breaks(bound - step), breaks(bound + step)
