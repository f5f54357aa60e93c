"""The blog on CEM: its pairs of data sets, with every filling of what its text leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.old.outcome import read_toml
from metaeval.measures.ordinal_cases import all_counts

HERE = Path(__file__).parent
BLOG = read_toml(HERE / "blog.toml")
FIGURE1 = read_toml(HERE / "printed.toml")["figure1"]
MEASURES: Mapping[str, str] = read_toml(HERE / "study.toml")["properties"]
CLASSES: list[str] = BLOG["classes"]
FILLED = "none empty", "classes may be empty"
Pairs = tuple[np.ndarray, np.ndarray]
"""Confusion counts of the first and of the second data set, shape (filling, K, K) each."""


def split_ends() -> np.ndarray:
    """Return the right distribution of Figure 1 with every split of its two outer classes, shape (split, K)."""
    ends = np.arange(1, FIGURE1["ends"])
    middle = np.broadcast_to(FIGURE1["middle"], (len(ends), len(FIGURE1["middle"])))
    return np.column_stack([ends, middle, FIGURE1["ends"] - ends])


def fill_invariance() -> Pairs:
    """Return the two data sets of Fig. 2 with every prediction in the classes that have items.

    The first pair is the blog's own: right throughout. Items of a class cannot be distinguished, so that matrices of three
    classes stand for all predictions.
    """
    used = [np.flatnonzero(BLOG["invariance"][which]) for which in ("first", "second")]
    sizes = np.array(BLOG["invariance"]["first"])[used[0]]
    rows = [all_counts(int(size), len(sizes)) for size in sizes]
    picks = np.indices([len(one) for one in rows]).reshape(len(rows), -1)
    small = np.stack([one[pick] for one, pick in zip(rows, picks, strict=True)], axis=1)
    right = (small == np.diag(sizes)).all(axis=(1, 2))
    small = np.concatenate([small[right], small[~right]])
    pair = []
    for places in used:
        counts = np.zeros((len(small), len(CLASSES), len(CLASSES)), dtype=np.int64)
        counts[:, places[:, None], places] = small
        pair.append(counts)
    return pair[0], pair[1]


def fill_gold(*, empty: bool) -> np.ndarray:
    """Return every gold of as many items as Fig. 2 has, shape (gold, K)."""
    gold = all_counts(BLOG["items"], len(CLASSES))
    return gold if empty else gold[(gold > 0).all(axis=1)]


def fill_monotonicity(*, empty: bool) -> Pairs:
    """Return the two data sets of Fig. 3 for every gold: one item, taken for a nearer and for a farther class."""
    first, second = BLOG["monotonicity"]["first"], BLOG["monotonicity"]["second"]
    gold = fill_gold(empty=empty)
    gold = gold[gold[:, first[0]] > 0]
    return _mistake(gold, *first), _mistake(gold, *second)


def fill_imbalance(taken_for: tuple[int, int], *, empty: bool) -> Pairs:
    """Return the two data sets of Fig. 4 for every gold: one item of the larger, one of the smaller class."""
    large, small = BLOG["imbalance"]["first"], BLOG["imbalance"]["second"]
    gold = fill_gold(empty=empty)
    gold = gold[(gold[:, large] > gold[:, small]) & (gold[:, small] > 0)]
    return _mistake(gold, large, taken_for[0]), _mistake(gold, small, taken_for[1])


def _mistake(gold: np.ndarray, g: int, p: int) -> np.ndarray:
    counts = gold[:, :, np.newaxis] * np.eye(gold.shape[1], dtype=np.int64)
    counts[:, g, g] -= 1
    counts[:, g, p] += 1
    return counts


def compare_pairs(pairs: Pairs, name: str = "CEM_ORD") -> np.ndarray:
    """Return 1 where the first data set is better, 0 where both are equal, −1 where it is worse, shape (filling,)."""
    measure = metaeval.measure(name)
    gap = measure.sign * (measure.evaluate(pairs[0])[0] - measure.evaluate(pairs[1])[0])
    return np.where(np.abs(gap) < 1e-9, 0, np.sign(gap)).astype(np.int64)


def list_pairs() -> list[tuple[str, str, str, Pairs]]:
    """Return the pairs of data sets: figure and property, what is printed, what is assumed, and all fillings."""
    taken = {name: (one[0], one[1]) for name, one in BLOG["imbalance"]["taken_for"].items()}
    invariance, printed = fill_invariance(), {name: BLOG[name]["printed"] for name in ("monotonicity", "imbalance")}
    rows: list[tuple[str, str, str, Pairs]] = [
        ("invariance", BLOG["invariance"]["printed"], "", (invariance[0][:1], invariance[1][:1])),
        ("invariance", "sizes", "every prediction in the same three classes", invariance),
    ]
    for empty, words in zip((False, True), FILLED, strict=True):
        rest = f"{BLOG['items']} items, {words}, else right"
        rows.append(("monotonicity", printed["monotonicity"], rest, fill_monotonicity(empty=empty)))
    for empty, words in zip((False, True), FILLED, strict=True):
        for name, classes in taken.items():
            rest = f"taken for {name}; {BLOG['items']} items, {words}, else right"
            rows.append(("imbalance", printed["imbalance"], rest, fill_imbalance(classes, empty=empty)))
    return rows


def make_tables(signature: str) -> dict[str, metaeval.Table]:
    """Return the tables of the blog: its pairs of data sets, and the same for all measures."""
    return {"figure2": tabulate_figure2(signature), "blog": tabulate_blog(signature)}


def tabulate_blog(signature: str) -> metaeval.Table:
    """Return in how many fillings CEM_ORD of the first data set is higher, equal, lower, beside what the blog says."""
    rows = []
    for name, printed, assumed, pairs in list_pairs():
        found = compare_pairs(pairs)
        counts = [int((found == one).sum()) for one in (1, 0, -1)]
        rows.append((name, BLOG[name]["says"], printed, assumed or "–", *counts))
    names = ["property", "the blog says", "printed", "assumed", "first > second", "first = second", "first < second"]
    caption = (
        "The blog's Figures 2 to 4, by CEM_ORD: what its text gives, what it leaves open (assumed), and in how many of all "
        "fillings of that the first data set scores higher, the same, or lower."
    )
    return metaeval.Table(pd.DataFrame(rows, columns=names).set_index("property"), caption, signature)


def tabulate_figure2(signature: str) -> metaeval.Table:
    """Return for all measures of Table 2 how often the relations that Figure 2 draws come out, in the blog's data sets."""
    imbalance = next(iter(BLOG["imbalance"]["taken_for"].values()))
    wanted = {
        "invariance: =": (fill_invariance(), 0),
        "monotonicity: >": (fill_monotonicity(empty=False), 1),
        "imbalance: >": (fill_imbalance((imbalance[0], imbalance[1]), empty=False), 1),
    }
    columns = {
        f"{name} (% of {len(pairs[0]):,})": [
            100 * float((compare_pairs(pairs, measure) == sign).mean()) for measure in MEASURES.values()
        ]
        for name, (pairs, sign) in wanted.items()
    }
    frame = pd.DataFrame(columns, index=pd.Index(list(MEASURES), name="measure"))
    caption = (
        "Figure 2 draws pairs of outputs between which a measure should find = or >; its bins cannot be read from the text. "
        f"In how many percent of the blog's data sets of {BLOG['items']} items, with every filling of what is assumed and no "
        "class empty, each measure finds so."
    )
    return metaeval.Table(frame, caption, signature, digits=1)
