"""The steps of the study: the synthetic half of Table 3, the real half in kind, Table 2, worked examples."""

from __future__ import annotations

from experiments.amigo2020 import axioms, examples, real, synthetic
from experiments.study import Outcome, Settings


def run(settings: Settings) -> list[Outcome]:
    """Run the study part by part.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    return [synthetic.study(settings), axioms.table2(settings), *real.study(settings), examples.outcome(settings)]
