"""Compute every example that the papers print in full, and compare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.outcome import Outcome, Settings, read_toml
from metaeval.measures.order_aware import order_aware_divergence

STUDY = read_toml(Path(__file__).parent / "study.toml")
PRINTED = read_toml(Path(__file__).parent / "printed.toml")
SOURCES = ["print"]


def run(settings: Settings) -> list[Outcome]:
    """Compute the examples; nothing of it is random and no data is needed.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
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


def _compare_divergences() -> list[Cell]:
    return [
        cell(
            example["item"],
            example["row"],
            example["column"],
            example["printed"],
            float(order_aware_divergence(np.array(example["estimated"]), np.array(example["gold"]))),
            data="print",
            digits=example["digits"],
        )
        for example in PRINTED["divergence"]
    ]
