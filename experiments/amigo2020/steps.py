"""The steps of the study: the synthetic half of Table 3, the real half in kind, Table 2, worked examples, the claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import metaeval
from experiments.amigo2020 import audit, claims, examples, real, replab, synthetic, table2
from experiments.old.audits import list_failures
from experiments.old.claims import FORMULAS, PRINT, list_claims, tabulate_claims, try_claims
from experiments.old.outcome import Outcome, Settings

STUDY, PRINTED = synthetic.STUDY, synthetic.PRINTED
SOURCES = ["", "synthetic", "properties", "original", "replab2013", "in_kind", "examples"]
PICTURES = {"synthetic": ("table3",)}


def run(settings: Settings) -> list[Outcome]:
    """Run the study part by part, and try the claims on print and on what came out."""
    simulated, coverages = synthetic.compute_synthetic(settings)
    properties, found, with_empty_classes = table2.compute_table2(settings)
    collections, gaps = real.compute_real(settings)
    facts = list_print() | {
        "simulated: §5.3": claims.Coverages(claims.SIMULATED, coverages, synthetic.ROWS, synthetic.COLUMNS),
        f"{FORMULAS}: the search": claims.Search(found, with_empty_classes),
        f"{FORMULAS}: all small cases": claims.Enumeration(),
    }
    if gaps is not None:
        facts["llmjudge"] = claims.Differences(gaps, STUDY["measures"])
    together = Outcome("amigo2020", "", lacks=[] if gaps is not None else ["llmjudge"])
    together.tables["claims"] = tabulate_claims(
        try_claims(list_claims(claims), facts),
        "Claims, by what they were tried on.",
        f"claims | seeds {settings.seed} to {settings.seed + STUDY['seeds'] - 1} | metaeval {metaeval.__version__}",
    )
    parts = [replab.compute_replab(settings), examples.compute_examples(settings)]
    return [together, simulated, properties, *collections, *parts]


def list_print() -> dict[str, Any]:
    """Return what the paper prints as facts."""
    tables = {
        "Table 3, left": (claims.SIMULATED, synthetic.AS_LABELLED, synthetic.COLUMNS),
        "Table 3, right": (claims.REAL, np.array(list(PRINTED["real"].values())), list(STUDY["collections"])),
    }
    facts: dict[str, Any] = {
        f"{PRINT}: {name}": claims.Coverages(about, values[None], synthetic.ROWS, columns)
        for name, (about, values, columns) in tables.items()
    }
    facts[f"{PRINT}: §5.4"] = claims.Robustness(PRINTED["robustness"])
    facts[f"{PRINT}: Table 2"] = claims.PrintedMarks(PRINTED["properties"])
    return facts


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page names: data sets, readings that were tried, slips, and notes by source."""
    came_out = {
        outcome.source: f"{sum(cell.verdict in ('exact', 'matches') for cell in outcome.cells)} of {len(outcome.cells)}"
        for outcome in outcomes
    }
    return {
        "came_out": came_out,
        "names": [*STUDY["in_kind"]["pooled"], replab.NAME, *STUDY["collections"].values()],
        "readings": len(STUDY["readings"]) + 1,
        "slips": list_failures(audit.find_checks()),
        "exchanged": " and ".join(STUDY["exchanged"]),
        "notes_of": {outcome.source: outcome.notes for outcome in outcomes},
    }
