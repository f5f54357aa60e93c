"""Compute every example that the papers print in full, and compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings, read_toml
from metaeval.measures.order_aware import distance_weighted_squares, order_aware_divergence

STUDY = read_toml(Path(__file__).parent / "study.toml")
PRINTED = read_toml(Path(__file__).parent / "printed.toml")
SOURCES = ["print"]


def run(settings: Settings) -> list[Outcome]:
    """Compute the examples; nothing of it is random and no data is needed."""
    cells = [*_compare_confusions(), *_compare_divergences()]
    frame = pd.DataFrame(
        {
            "printed": [c.printed for c in cells],
            "computed": [c.reproduced for c in cells],
            "verdict": [c.verdict for c in cells],
        },
        index=pd.MultiIndex.from_tuples(
            [(c.item, c.row, c.column) for c in cells], names=["example", "case", "quantity"]
        ),
    )
    caption = "Examples that the papers work out, and what metaeval computes for them."
    table = metaeval.Table(frame, caption, f"worked_examples | inputs as printed | metaeval {metaeval.__version__}")
    return [Outcome("worked_examples", "print", {"examples": table}, cells)]


def _compare_confusions() -> list[Cell]:
    return [
        cell(
            example["item"],
            example["row"],
            value["column"],
            value["printed"],
            float(metaeval.measure(value["column"]).score(example["counts"])),
            data="print",
            digits=value["digits"],
        )
        for example in PRINTED["confusion"]
        for value in example["values"]
    ]


def _compare_divergences() -> Iterator[Cell]:
    """Yield DW of every class, OD, and whether two examples score the same by another measure."""
    for example in PRINTED["divergence"]:
        estimated, gold = np.array(example["estimated"]), np.array(example["gold"])
        weights = distance_weighted_squares(estimated, gold)
        for number, (printed, value) in enumerate(zip(example["DW"], weights.tolist(), strict=True), start=1):
            yield cell(example["item"], example["row"], f"DW_{number}", printed, value, data="print", digits=2)
        value = float(order_aware_divergence(estimated, gold))
        yield cell(example["item"], example["row"], "OD", example["OD"], value, data="print", digits=3)
    examples = {example["row"]: example for example in PRINTED["divergence"]}
    for equal in PRINTED["equal"]:
        score = metaeval.measure(equal["measure"]).score
        first, second = (
            float(score(np.array(examples[row]["estimated"]), np.array(examples[row]["gold"]))) for row in equal["rows"]
        )
        yield cell(equal["item"], equal["row"], equal["measure"], 0.0, first - second, data="print")


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    return {"kinds": list(STUDY["kinds"].values())}
