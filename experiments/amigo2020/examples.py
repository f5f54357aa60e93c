"""Worked examples: Appendix B, Figure 1 as two journals, and the pairs of data sets that the blog on CEM draws."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import metaeval
from experiments.comparison import Cell, cell
from experiments.outcome import Outcome, Settings, read_toml
from metaeval.measures.closeness import proximity
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style

EXAMPLES = read_toml(Path(__file__).parent / "examples.toml")
CLASSES = EXAMPLES["journals"]["classes"]
JOURNALS = ("F", "S")
SHOWN = 5
"""How many of the closest and of the farthest pairs of classes are shown."""


def compute_examples(settings: Settings) -> Outcome:
    """Compute the examples; nothing of it is random and no data is needed.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Outcome
    """
    settings.say("worked examples: Appendix B, two journals")
    found = Outcome("amigo2020", "examples", cells=compare_appendix_b())
    signature = f"worked examples | inputs as printed | metaeval {metaeval.__version__}"
    rows = [(one.column, one.row, one.printed, one.reproduced, one.verdict) for one in found.cells]
    frame = pd.DataFrame(rows, columns=["measure", "output", "printed", "computed", "verdict"]).set_index("measure")
    caption = "Appendix B, imbalance: two outputs with one mistake each. The printed cosines are cut off, not rounded."
    found.tables["appendix_b"] = metaeval.Table(frame, caption, signature)
    found.tables["blog"] = tabulate_blog(signature)
    found.tables["closeness"] = tabulate_closeness(signature)
    found.figures["closeness"] = partial(draw_closeness, signature)
    found.notes = [
        "Appendix B: the printed cosines are truncated (0.9737 and 0.9798)",
        "journal S: print gives its three middle classes and the sum; the rest is split evenly here",
        "imbalance: the blog wants the mistake in the small class to matter less; CEM_ORD, as the paper's Property 3, "
        "does the opposite",
    ]
    return found


def count_pairs(predicted: list[int], gold: list[int], n_classes: int) -> np.ndarray:
    """Return confusion counts of labels from 1, shape (K, K)."""
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(counts, (np.asarray(gold) - 1, np.asarray(predicted) - 1), 1)
    return counts


def compare_appendix_b() -> list[Cell]:
    """Return the printed scores of both outputs of Appendix B beside the computed ones."""
    example = EXAMPLES["appendix_b"]
    cells = []
    for value in example["values"]:
        measure = metaeval.measure(value["measure"])
        # Errors are printed with a minus, so that higher is better.
        sign = 1 if measure.higher_is_better else -1
        for output, printed in zip(example["outputs"], value["printed"], strict=True):
            counts = count_pairs(output, example["gold"], 3)
            computed = sign * float(measure.score(counts))
            row = f"({', '.join(map(str, output))})"
            cells.append(cell("Appendix B", row, str(measure), printed, computed, data="print", digits=value["digits"]))
    return cells


def tabulate_blog(signature: str) -> metaeval.Table:
    """Return the score of both data sets of each of the blog's pictures, and whether it is as the blog says."""
    rows = []
    for example in EXAMPLES["blog"]:
        first, second = (_with_mistakes(example, which) for which in ("first", "second"))
        scores = [float(metaeval.measure("CEM_ORD").score(counts)) for counts in (first, second)]
        gap = scores[0] - scores[1]
        relation = "=" if abs(gap) < 1e-12 else ">" if gap > 0 else "<"
        rows.append((example["property"], example["says"], *scores, relation))
    names = ["property", "the blog says", "first", "second", "CEM_ORD"]
    frame = pd.DataFrame(rows, columns=names).set_index("property")
    caption = (
        "The pairs of data sets by which the blog explains the properties: CEM_ORD of the first and of the second."
    )
    return metaeval.Table(frame, caption, signature, digits=4)


def _with_mistakes(example: dict[str, list[list[int]]], which: str) -> np.ndarray:
    gold = example.get(f"gold_{which}") or example["gold"]
    counts = np.diag(gold).astype(np.int64)
    for g, p in example.get(which, []):
        counts[g, g] -= 1
        counts[g, p] += 1
    return counts


def rank_pairs() -> dict[str, list[tuple[float, int, int]]]:
    """Return (closeness, predicted, gold) of every two classes in both journals, the closest first."""
    ranked = {}
    for name in JOURNALS:
        gold = EXAMPLES["journals"][name]
        closeness = proximity(gold)
        pairs = [(closeness[g, p], p, g) for g in range(len(gold)) for p in range(len(gold)) if p != g]
        ranked[name] = sorted(pairs, reverse=True)
    return ranked


def tabulate_closeness(signature: str) -> metaeval.Table:
    """Return informational closeness of every two classes in two journals."""
    rows = [(name, CLASSES[p], CLASSES[g], value) for name, pairs in rank_pairs().items() for value, p, g in pairs]
    frame = pd.DataFrame(rows, columns=["journal", "predicted", "gold", "closeness"]).set_index("journal")
    caption = "Informational closeness, in bits, of a predicted to a gold class (Eq. 1), the closest pairs first."
    return metaeval.Table(frame, caption, signature, digits=2)


def draw_closeness(signature: str) -> Figure:
    """Draw the sizes of classes in two journals, and below the pairs of classes that are closest and farthest."""
    with house_style():
        figure = Figure(figsize=(9.6, 6.2), layout="constrained")
        grid = figure.subplots(2, 2, height_ratios=(2, 3))
        for column, (name, pairs) in enumerate(rank_pairs().items()):
            top, below = grid[:, column]
            gold, extremes = EXAMPLES["journals"][name], pairs[:SHOWN] + pairs[-SHOWN:]
            top.bar(range(len(gold)), gold, color="#56B4E9")
            top.set_xticks(range(len(gold)), CLASSES, fontsize=7)
            top.set(title=EXAMPLES["journals"]["titles"][column], ylabel="papers" if column == 0 else "")
            top.grid(axis="x", visible=False)
            values = [value for value, _, _ in extremes]
            colours = ["#009E73"] * SHOWN + ["#D55E00"] * SHOWN
            below.barh(range(2 * SHOWN), values, color=colours, height=0.7)
            below.set_yticks(range(2 * SHOWN), [f"{CLASSES[p]} for {CLASSES[g]}" for _, p, g in extremes], fontsize=7)
            below.invert_yaxis()
            below.set_xlabel("closeness in bits: the closest and farthest pairs")
            below.grid(axis="y", visible=False)
            for row, value in enumerate(values):
                below.annotate(
                    f"{value:.2f}", (value, row), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7
                )
            below.set_xlim(right=1.15 * max(values))
        return sign_figure(figure, signature)
