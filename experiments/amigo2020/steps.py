"""The steps of the study: the synthetic half of Table 3, the real half in kind, Table 2, worked examples."""

from __future__ import annotations

from experiments.amigo2020 import axioms, examples, real, replab, synthetic
from experiments.outcome import Outcome, Settings

SOURCES = ["synthetic", "properties", "original", "replab2013", "in_kind", "examples"]


def run(settings: Settings) -> list[Outcome]:
    """Run the study part by part.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    return [
        synthetic.compute_synthetic(settings),
        axioms.compute_table2(settings),
        *real.compute_real(settings),
        replab.compute_replab(settings),
        examples.compute_examples(settings),
    ]
