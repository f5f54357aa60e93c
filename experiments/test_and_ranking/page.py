"""The page of the study: answers, rankings between tests, and what intervals over topics say."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.answers import write_answer
from experiments.outcome import Outcome
from experiments.page import show_picture, show_table
from experiments.test_and_ranking.steps import COLLECTIONS, SOURCES
from experiments.test_and_ranking.verdicts import STUDY

PICTURES = {"rankings": ("compared",)}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/test_and_ranking/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    by_source = {name: Outcome("test_and_ranking", name) for name in SOURCES} | {one.source: one for one in outcomes}
    rankings, intervals = (by_source[name] for name in SOURCES)
    parts = [
        "Rankings on two halves are less alike than rankings on two samples as large as all topics would be.",
        show_picture(
            rankings, "compared", "τ_b between two rankings of measures by discriminative power, by what differs"
        ),
        *(show_table(rankings, name) for name in rankings.tables),
        "### With intervals over topics",
        *(show_table(intervals, name) for name in intervals.tables),
    ]
    title = "Does discriminative power's ranking of measures depend on the test?"
    note = (
        "rankings are read from [results/calibration](../calibration/README.md); `--full` computes all intervals again"
    )
    return write_answer("test_and_ranking", title, STUDY, outcomes, parts, COLLECTIONS, note=note)
