"""Synthetic gold and runs with five kinds of mistakes, after Amigó et al. 2020, §5.3.

The paper leaves many steps open. Every choice is a parameter here; its default belongs to the one reading that the
experiment amigo2020 is about, and the docstring says where a default goes beyond the text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.data.runs import ClassificationRuns
from metaeval.errors import MetaevalError
from metaeval.stats.streams import generator

MISTAKES = ("maj", "rand", "tdisp", "odisp", "prox")
"""Majority class, random class, tag displacement, ordinal displacement, proximity: the paper's order."""

RATIOS = tuple(round(0.1 * step, 1) for step in range(1, 11))

COLLECTION = "synthetic-amigo2020"


def synthetic_runs(
    seed: int = 0,
    *,
    n_topics: int = 100,
    n_items: int = 200,
    n_classes: int = 11,
    centre: float = 4.0,
    spread: tuple[float, float] = (1.0, 3.0),
    ratios: Sequence[float] = RATIOS,
    kinds: Sequence[str] = MISTAKES,
    mistakes: str = "independent",
    majority: str = "centre",
    random_class: str = "any",
    displacement: float = 0.1,
    last_items: str = "keep",
    position: str = "nearest",
) -> ClassificationRuns:
    """Simulate gold labels and runs that make known kinds of mistakes at known rates."""
    for name, value, known in (
        ("mistakes", mistakes, ("independent", "exact")),
        ("majority", majority, ("centre", "topic")),
        ("random_class", random_class, ("any", "wrong")),
        ("last_items", last_items, ("keep", "last")),
        ("position", position, ("nearest", "down")),
        *(("kinds", kind, MISTAKES) for kind in kinds),
    ):
        if value not in known:
            raise MetaevalError(f"{name} is {value!r}; it is one of {', '.join(known)}")
    if min(n_topics, n_items) < 1 or n_classes < 2 or not kinds or not ratios:
        raise MetaevalError("a synthetic study needs at least one topic, item, kind and ratio, and two classes")
    if not all(0 <= r <= 1 for r in ratios) or not 0 <= displacement <= 1:
        raise MetaevalError("ratios of mistakes and the displacement are shares, from 0 to 1")
    gold = _gold(generator(seed, COLLECTION, "gold"), n_topics, n_items, n_classes, centre, spread)
    wrong = {
        "maj": lambda: _majority(gold, centre if majority == "centre" else None, n_classes),
        "rand": lambda: _random(generator(seed, COLLECTION, "rand"), gold, len(ratios), n_classes, random_class),
        "tdisp": lambda: np.minimum(gold + 1, n_classes - 1),
        "odisp": lambda: _displaced(gold, round(displacement * n_items), keep=last_items == "keep"),
        "prox": lambda: _nearer(generator(seed, COLLECTION, "prox"), gold, len(ratios), down=position == "down"),
    }
    counts = np.empty((len(kinds), len(ratios), n_topics, n_classes, n_classes), dtype=np.int64)
    cell = (np.arange(n_topics)[:, None] * n_classes + gold) * n_classes
    for k, kind in enumerate(kinds):
        # A stream a kind: leaving one out leaves the others as they are.
        made = _mistaken(
            generator(seed, COLLECTION, "mistakes", kind), gold.shape, np.asarray(ratios), mistakes == "exact"
        )
        predicted = np.where(made, wrong[kind](), gold)
        for r, each in enumerate(predicted):
            counted = np.bincount((cell + each).ravel(), minlength=n_topics * n_classes**2)
            counts[k, r] = counted.reshape(n_topics, n_classes, n_classes)
    return ClassificationRuns(
        counts.reshape(-1, n_topics, n_classes, n_classes),
        runs=[f"{kind}-{ratio:g}" for kind in kinds for ratio in ratios],
        topics=[f"t{t + 1}" for t in range(n_topics)],
        classes=[str(k + 1) for k in range(n_classes)],
        collection=COLLECTION,
        provenance=f"simulated, seed {seed}",
    )


def _gold(
    rng: np.random.Generator, n_topics: int, n_items: int, n_classes: int, centre: float, spread: tuple[float, float]
) -> np.ndarray:
    """Return gold classes from 0, shape (topic, item), in ascending order."""
    deviation = np.linspace(*spread, n_topics)[:, None]
    values = np.rint(rng.normal(centre, deviation, size=(n_topics, n_items)))
    return np.sort(np.clip(values, 1, n_classes).astype(np.int64) - 1, axis=1)


def _mistaken(rng: np.random.Generator, shape: tuple[int, ...], ratios: np.ndarray, exact: bool) -> np.ndarray:
    """Return which items are mistakes, shape (ratio, topic, item)."""
    drawn = rng.random((len(ratios), *shape))
    if exact:
        rank = drawn.argsort(axis=-1).argsort(axis=-1)
        return np.asarray(rank < np.rint(ratios * shape[-1])[:, None, None])
    return np.asarray(drawn < ratios[:, None, None])


def _majority(gold: np.ndarray, centre: float | None, n_classes: int) -> np.ndarray:
    if centre is not None:
        return np.full_like(gold, int(np.clip(np.rint(centre), 1, n_classes)) - 1)
    sizes = np.stack([np.bincount(topic, minlength=n_classes) for topic in gold])
    return np.broadcast_to(sizes.argmax(axis=1)[:, None], gold.shape)


def _random(rng: np.random.Generator, gold: np.ndarray, n_runs: int, n_classes: int, which: str) -> np.ndarray:
    if which == "any":
        return rng.integers(n_classes, size=(n_runs, *gold.shape))
    return (gold + rng.integers(1, n_classes, size=(n_runs, *gold.shape))) % n_classes


def _displaced(gold: np.ndarray, by: int, *, keep: bool) -> np.ndarray:
    n_items = gold.shape[1]
    target = np.arange(n_items) + by
    reached = gold[:, np.minimum(target, n_items - 1)]
    return np.where(target < n_items, reached, gold) if keep else reached


def _nearer(rng: np.random.Generator, gold: np.ndarray, n_runs: int, *, down: bool) -> np.ndarray:
    n_topics, n_items = gold.shape
    position = np.arange(1, n_items + 1)
    half_way = (position + rng.integers(1, n_items + 1, size=(n_runs, n_topics, n_items))) / 2
    source = (np.floor(half_way) if down else np.rint(half_way)).astype(np.int64) - 1
    return gold[np.arange(n_topics)[:, None], source]
